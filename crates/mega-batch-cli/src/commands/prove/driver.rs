//! The driver: whether it is NVIDIA's, and what its tools report.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The environment variable of the fake driver, which occurs in its library.
const FAKE_DRIVER: &str = "FAKE_CUDA_DRIVER";

/// How long to wait for `nvidia-smi`.
const TOOL: Duration = Duration::from_secs(10);

/// The fields queried from `nvidia-smi`.
const ASKED: &str = "name,driver_version,pstate,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,\
                     power.draw,power.limit,temperature.gpu,ecc.mode.current,mig.mode.current";

/// Whether the driver library that this process has opened is the fake driver of the tests.
pub(super) fn is_fake_driver() -> bool {
    if std::env::var_os(FAKE_DRIVER).is_some() {
        return true;
    }
    // Only Linux tells, and the fake driver is used only there.
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let is_driver = |path: &&str| {
        path.rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with("libcuda.so"))
    };
    let mut paths: Vec<&str> = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .filter(is_driver)
        .collect();
    paths.dedup();
    let has_name = |path: &str| {
        let library = std::fs::read(path).unwrap_or_default();
        let mut parts = library.windows(FAKE_DRIVER.len());
        parts.any(|part| part == FAKE_DRIVER.as_bytes())
    };
    paths.into_iter().any(has_name)
}

/// What `nvidia-smi` reports of the first GPU, by name, or why it reports nothing.
pub(super) fn query_tool() -> Result<Vec<(String, String)>, String> {
    let mut command = Command::new("nvidia-smi");
    command.args([
        &format!("--query-gpu={ASKED}"),
        "--format=csv,noheader",
        "--id=0",
    ]);
    let text = answer(command, TOOL)?;
    let values = text.lines().next().unwrap_or_default().split(',');
    let named = ASKED.split(',').zip(values);
    Ok(named
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect())
}

/// The output of a short program, or why it failed.
pub(super) fn answer(mut command: Command, limit: Duration) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| format!("{name} cannot be run: {error}"))?;
    let until = Instant::now() + limit;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() >= until {
            // It may have ended in the meantime.
            let _ = child.kill();
            return Err(format!(
                "{name} gave no answer within {} s",
                limit.as_secs()
            ));
        }
        thread::sleep(Duration::from_millis(10));
    }
    let output = child
        .wait_with_output()
        .map_err(|error| format!("{name}: {error}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(said(&output.stdout));
    }
    let stderr = said(&output.stderr);
    let last = stderr.lines().last().unwrap_or("no message");
    Err(format!("{name} failed ({}): {last}", output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fake_driver_is_known_by_its_variable() {
        assert_eq!(FAKE_DRIVER, fake_cuda_driver::VARIABLE);
    }

    #[test]
    #[cfg(unix)]
    fn a_tool_answers_or_says_why_not() {
        let shell = |text: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", text]);
            answer(command, TOOL)
        };
        assert_eq!(shell("echo one; echo two").unwrap(), "one\ntwo");
        let why = shell("echo no GPU >&2; exit 9").unwrap_err();
        assert!(
            why.starts_with("sh failed") && why.ends_with(": no GPU"),
            "{why}"
        );
        let none = answer(Command::new("/no/such/tool"), TOOL).unwrap_err();
        assert!(none.contains("cannot be run"), "{none}");
    }
}
