//! [`run`]: runs a process, and kills it if it takes too long or is cancelled.

use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mega_batch::Cancellation;

/// How often to check whether a process has ended.
const INTERVAL: Duration = Duration::from_millis(20);

/// How long to wait for a process that was killed: one inside a call of a driver that hangs may never end.
const KILLED: Duration = Duration::from_secs(5);

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Without being killed, with this status.
    Alone(ExitStatus),
    /// It was killed because it took longer than allowed.
    TooLong,
    /// It was killed because the benchmark was cancelled.
    Cancelled,
}

/// Runs a process. Its standard input is a pipe that closes when this process ends.
pub(crate) fn run(
    mut command: Command,
    until: Instant,
    cancellation: &Cancellation,
) -> io::Result<Ended> {
    let mut process = Process(command.stdin(Stdio::piped()).spawn()?);
    loop {
        if let Some(status) = process.0.try_wait()? {
            return Ok(Ended::Alone(status));
        }
        if cancellation.is_cancelled() {
            return Ok(Ended::Cancelled);
        }
        if Instant::now() >= until {
            return Ok(Ended::TooLong);
        }
        thread::sleep(INTERVAL);
    }
}

/// A process, which is killed on drop if it has not ended.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended in the meantime.
        let _ = self.0.kill();
        let killed = Instant::now();
        while killed.elapsed() < KILLED && matches!(self.0.try_wait(), Ok(None)) {
            thread::sleep(INTERVAL);
        }
    }
}

/// Ends this process when its parent is gone: the pipe that is its standard input closes then.
pub(crate) fn end_with_parent() -> io::Result<()> {
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

/// What a program prints, or why it failed.
pub(super) fn answer(mut command: Command, until: Instant) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let run = || {
        let mut files = [tempfile::tempfile()?, tempfile::tempfile()?];
        let [out, err] = &files;
        command.stdout(out.try_clone()?).stderr(err.try_clone()?);
        let ended = run(command, until, &Cancellation::default())?;
        let mut said = [String::new(), String::new()];
        for (file, text) in files.iter_mut().zip(&mut said) {
            let mut bytes = Vec::new();
            file.rewind()?;
            file.read_to_end(&mut bytes)?;
            String::from_utf8_lossy(&bytes).trim().clone_into(text);
        }
        Ok::<_, io::Error>((ended, said))
    };
    match run().map_err(|error| format!("{name} cannot be run: {error}"))? {
        (Ended::Alone(status), [out, _]) if status.success() => Ok(out),
        (Ended::Alone(status), [out, err]) => {
            let last = err.lines().last().unwrap_or(&out);
            Err(format!("{name} failed ({status}): {last}"))
        }
        _ => Err(format!("{name} gave no answer in time")),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    fn shell(text: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    }

    #[test]
    fn processes_end_by_themselves_or_are_ended() {
        let none = Cancellation::default();
        let ran = |command, limit| run(command, Instant::now() + limit, &none).unwrap();
        let Ended::Alone(status) = ran(shell("exit 3"), LONG) else {
            panic!("one that ends");
        };
        assert_eq!(status.code(), Some(3));
        let one = || shell("exec sleep 600");
        assert_eq!(ran(one(), Duration::ZERO), Ended::TooLong);
        none.cancel();
        assert_eq!(ran(one(), LONG), Ended::Cancelled);
    }

    #[test]
    fn a_program_answers_or_says_why_not() {
        let until = Instant::now() + LONG;
        let answer = |text| answer(shell(text), until);
        assert_eq!(answer("echo one; echo two").unwrap(), "one\ntwo");
        let why = answer("echo no GPU >&2; exit 9").unwrap_err();
        assert!(
            why.starts_with("sh failed") && why.ends_with(": no GPU"),
            "{why}"
        );
        let none = super::answer(Command::new("/no/such/tool"), until).unwrap_err();
        assert!(none.contains("cannot be run"), "{none}");
        let late = super::answer(shell("sleep 600"), Instant::now()).unwrap_err();
        assert_eq!(late, "sh gave no answer in time");
    }
}
