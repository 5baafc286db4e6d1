//! [`watch`]: runs processes, and kills them if they take too long or are cancelled.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mega_batch::Cancellation;

/// How often to check whether processes have ended.
const INTERVAL: Duration = Duration::from_millis(20);

/// How long to wait for a process that was killed: one inside a call of a driver that hangs may never end.
const KILLED: Duration = Duration::from_secs(5);

/// The most bytes of a reason taken from a log.
const REASON: usize = 600;

/// How some processes ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum How {
    /// They ended without being killed, with these statuses.
    Ended(Vec<ExitStatus>),
    /// They were killed because they took longer than allowed.
    TooLong,
    /// They were killed because the proof was cancelled.
    Cancelled,
}

/// Runs processes concurrently, each with its output in a log. Their standard input is a pipe that closes when this
/// process ends.
pub(super) fn watch(
    commands: Vec<Command>,
    log: &Path,
    until: Instant,
    cancellation: &Cancellation,
) -> io::Result<How> {
    let log = File::create(log)?;
    let mut children = Children(Vec::with_capacity(commands.len()));
    for mut command in commands {
        command
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log.try_clone()?);
        children.0.push((command.spawn()?, None));
    }
    loop {
        let mut all = Vec::with_capacity(children.0.len());
        for (child, ended) in &mut children.0 {
            if ended.is_none() {
                *ended = child.try_wait()?;
            }
            all.extend(*ended);
        }
        if all.len() == children.0.len() {
            return Ok(How::Ended(all));
        }
        if cancellation.is_cancelled() {
            return Ok(How::Cancelled);
        }
        if Instant::now() >= until {
            return Ok(How::TooLong);
        }
        thread::sleep(INTERVAL);
    }
}

/// Processes, with the status of those that have ended; the others are killed on drop.
struct Children(Vec<(Child, Option<ExitStatus>)>);

impl Drop for Children {
    fn drop(&mut self) {
        for (child, ended) in &mut self.0 {
            if ended.is_none() {
                // It may have ended in the meantime.
                let _ = child.kill();
            }
        }
        let killed = Instant::now();
        for (child, ended) in &mut self.0 {
            while ended.is_none() && killed.elapsed() < KILLED {
                match child.try_wait() {
                    Ok(None) => thread::sleep(INTERVAL),
                    Ok(Some(status)) => *ended = Some(status),
                    Err(_) => break,
                }
            }
        }
    }
}

/// Ends this process when its parent is gone: the pipe that is its standard input closes then.
pub(super) fn end_with_parent() -> io::Result<()> {
    let wait = || {
        let mut nothing = [0; 64];
        // Input is ignored.
        while let Ok(1..) = io::stdin().lock().read(&mut nothing) {}
        std::process::exit(1);
    };
    thread::Builder::new()
        .name("ends with its parent".to_owned())
        .spawn(wait)?;
    Ok(())
}

/// Why a process failed, as its log says: its error, the place and message of its panic, or its last line.
pub(super) fn reason(log: &Path) -> Option<String> {
    let text = std::fs::read(log).ok()?;
    let text = String::from_utf8_lossy(&text);
    let error = text.rfind("mega-batch: ").map(|at| &text[at + 12..]);
    let panic = text.rfind("panicked at ").map(|at| &text[at..]);
    let last = || text.lines().rfind(|line| !line.trim().is_empty());
    let reason = error.or(panic).or_else(last)?.trim();
    let words: Vec<&str> = reason.split_whitespace().collect();
    Some(words.join(" ").chars().take(REASON).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn shell(text: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    }

    #[cfg(unix)]
    fn watched(commands: Vec<Command>, limit: Duration, cancellation: &Cancellation) -> How {
        let folder = tempfile::tempdir().unwrap();
        let until = Instant::now() + limit;
        watch(commands, &folder.path().join("log"), until, cancellation).unwrap()
    }

    #[test]
    #[cfg(unix)]
    fn processes_end_by_themselves_or_are_ended() {
        let long = Duration::from_secs(600);
        let none = Cancellation::default();
        let two = vec![shell("exit 3"), shell("exit 0")];
        let How::Ended(codes) = watched(two, long, &none) else {
            panic!("two that end");
        };
        let codes: Vec<_> = codes.iter().map(ExitStatus::code).collect();
        assert_eq!(codes, [Some(3), Some(0)]);
        let one = || vec![shell("exec sleep 600")];
        assert_eq!(watched(one(), Duration::ZERO, &none), How::TooLong);
        none.cancel();
        assert_eq!(watched(one(), long, &none), How::Cancelled);
    }

    #[test]
    fn a_log_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let said = |text: &str| {
            std::fs::write(&log, text).unwrap();
            reason(&log)
        };
        assert_eq!(said(" \n"), None);
        assert_eq!(said("one\ntwo\n\n").unwrap(), "two");
        assert_eq!(said("x\nmega-batch: a: b\n  c\n").unwrap(), "a: b c");
        let panic = "thread 'main' panicked at a.rs:1:2:\nno\nnote: run with";
        let why = said(panic).unwrap();
        assert!(why.starts_with("panicked at a.rs:1:2: no"), "{why}");
        assert_eq!(said(&"x".repeat(10_000)).unwrap().len(), REASON);
    }
}
