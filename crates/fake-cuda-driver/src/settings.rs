//! [`Settings`]: parses the environment variable that configures the driver.

use std::path::PathBuf;
use std::time::Duration;

/// The configuration of the driver, its GPUs, which are all alike, and their faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) devices: i32,
    /// Bytes of memory per GPU.
    pub(crate) bytes: u64,
    /// A `#` in it is replaced by the GPU's index.
    pub(crate) name: String,
    /// Such as 90 for 9.0.
    pub(crate) capability: i32,
    pub(crate) multiprocessors: i32,
    /// Resident threads per multiprocessor.
    pub(crate) threads: i32,
    /// Bytes of shared memory that a block may use.
    pub(crate) shared: u32,
    /// Bytes of it that a kernel uses statically.
    pub(crate) static_shared: u32,
    /// Such as 12020 for 12.2.
    pub(crate) version: i32,
    pub(crate) progress: Progress,
    /// Whether kernels are executed; otherwise every evaluation is done at once, and wrong.
    pub(crate) executes: bool,
    pub(crate) log: Option<PathBuf>,
    pub(crate) faults: Vec<InjectedFault>,
}

/// When asynchronous operations run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// When the host waits for them; only the stream that it waits for makes progress.
    Late,
    /// At once.
    Early,
    /// Some operations of any stream at each call, chosen by this seed.
    Random(u64),
}

/// A fault to inject, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InjectedFault {
    /// The GPU; `None` for all of them.
    pub(crate) gpu: Option<u32>,
    /// The function without its version; `any` for all calls, `kernel` for the execution of a kernel.
    pub(crate) call: String,
    /// The first of its calls on a GPU that fails, counted from 1.
    pub(crate) first: u64,
    /// The last call that fails.
    pub(crate) last: u64,
    pub(crate) kind: FaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// It fails with this `CUresult`.
    Code(i32),
    /// It never returns.
    Hang,
    /// It takes this much longer.
    Slow(Duration),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            devices: 1,
            bytes: 1 << 30,
            name: "fake #".to_owned(),
            capability: 90,
            multiprocessors: 132,
            threads: 2048,
            shared: 232_448,
            static_shared: 0,
            version: 12_020,
            progress: Progress::Late,
            executes: true,
            log: None,
            faults: Vec::new(),
        }
    }
}

impl Settings {
    /// Parses settings; an error names the setting and what was expected.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut settings = Self::default();
        let words = text.split(';').map(str::trim);
        for word in words.filter(|word| !word.is_empty()) {
            let expected = |what: &str| format!("`{word}`: expected {what}");
            let (name, value) = word
                .split_once('=')
                .ok_or_else(|| expected("a setting, `=` and its value"))?;
            let number = || {
                value
                    .parse::<i32>()
                    .map_err(|_| expected("a whole number after `=`"))
            };
            let size = || {
                bytes(value)
                    .ok_or_else(|| expected("a number of bytes after `=`, such as 400k, 20M or 1G"))
            };
            let small_size = || {
                let size = size()?;
                u32::try_from(size).map_err(|_| expected("fewer than 4G"))
            };
            match name {
                "devices" => settings.devices = number()?,
                "bytes" => settings.bytes = size()?,
                "name" => value.clone_into(&mut settings.name),
                "capability" => settings.capability = number()?,
                "multiprocessors" => settings.multiprocessors = number()?,
                "threads" => settings.threads = number()?,
                "shared" => settings.shared = small_size()?,
                "static-shared" => settings.static_shared = small_size()?,
                "version" => settings.version = number()?,
                "progress" => {
                    settings.progress = match value {
                        "late" => Progress::Late,
                        "early" => Progress::Early,
                        seed => Progress::Random(
                            seed.parse()
                                .map_err(|_| expected("`late`, `early` or a seed"))?,
                        ),
                    };
                }
                "kernels" => {
                    settings.executes = match value {
                        "executed" => true,
                        "none" => false,
                        _ => return Err(expected("`executed` or `none`")),
                    };
                }
                "log" => settings.log = Some(value.into()),
                "fault" => settings
                    .faults
                    .push(InjectedFault::parse(value).ok_or_else(|| {
                        expected(
                            "[GPU/]CALL:WHICH:WHAT, WHICH being N, N+ or N-M, \
                         WHAT a code, `hang` or a time such as 20ms",
                        )
                    })?),
                _ => return Err(expected("a setting that exists")),
            }
        }
        Ok(settings)
    }
}

/// Parses a number of bytes with a suffix `k`, `M` or `G`, which are powers of 1024.
fn bytes(text: &str) -> Option<u64> {
    let units = ["k", "M", "G"];
    let unit = units.iter().position(|unit| text.ends_with(unit));
    let (digits, shift) = match unit {
        Some(unit) => (&text[..text.len() - 1], 10 * (unit + 1)),
        None => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

impl InjectedFault {
    fn parse(text: &str) -> Option<Self> {
        let (gpu, text) = match text.split_once('/') {
            Some((gpu, rest)) => (Some(gpu.parse().ok()?), rest),
            None => (None, text),
        };
        let mut parts = text.split(':');
        let (call, which, what) = (parts.next()?, parts.next()?, parts.next()?);
        let (first, last) = if let Some(first) = which.strip_suffix('+') {
            (first.parse().ok()?, u64::MAX)
        } else if let Some((first, last)) = which.split_once('-') {
            (first.parse().ok()?, last.parse().ok()?)
        } else {
            let only = which.parse().ok()?;
            (only, only)
        };
        let kind = if what == "hang" {
            FaultKind::Hang
        } else if let Some(time) = what.strip_suffix("ms") {
            FaultKind::Slow(Duration::from_millis(time.parse().ok()?))
        } else {
            FaultKind::Code(what.parse().ok()?)
        };
        (parts.next().is_none() && !call.is_empty()).then(|| Self {
            gpu,
            call: call.to_owned(),
            first,
            last,
            kind,
        })
    }

    /// Whether it applies to the call with this number.
    pub(crate) fn strikes(&self, gpu: u32, call: &str, number: u64) -> bool {
        self.gpu.is_none_or(|only| only == gpu)
            && self.call == call
            && (self.first..=self.last).contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_says_what_it_is_of() {
        let text = "devices=3; bytes=20M; name=Tesla T4; capability=75; multiprocessors=40; \
                    threads=1024; shared=64k; static-shared=16; version=11080; progress=5; \
                    kernels=none; log=a b; fault=2/cuMemAlloc:3-4:2;fault=kernel:7+:hang; fault=any:1:20ms";
        let fault = |gpu, call: &str, first, last, kind| InjectedFault {
            gpu,
            call: call.to_owned(),
            first,
            last,
            kind,
        };
        let expected = Settings {
            devices: 3,
            bytes: 20 << 20,
            name: "Tesla T4".to_owned(),
            capability: 75,
            multiprocessors: 40,
            threads: 1024,
            shared: 65_536,
            static_shared: 16,
            version: 11_080,
            progress: Progress::Random(5),
            executes: false,
            log: Some("a b".into()),
            faults: vec![
                fault(Some(2), "cuMemAlloc", 3, 4, FaultKind::Code(2)),
                fault(None, "kernel", 7, u64::MAX, FaultKind::Hang),
                fault(
                    None,
                    "any",
                    1,
                    1,
                    FaultKind::Slow(Duration::from_millis(20)),
                ),
            ],
        };
        assert_eq!(Settings::parse(text), Ok(expected));
        assert_eq!(Settings::parse(""), Ok(Settings::default()));
    }

    #[test]
    fn a_word_that_is_not_understood_is_named() {
        for word in [
            "devices",
            "devices=many",
            "device=1",
            "bytes=1T",
            "bytes=99999999999G",
            "shared=4G",
            "progress=soon",
            "kernels=some",
            "fault=cuInit",
            "fault=cuInit:1",
            "fault=cuInit:1:2:3",
            "fault=cuInit:x:2",
            "fault=a/cuInit:1:2",
            "fault=:1:2",
            "fault=cuInit:1:soon",
        ] {
            let error = Settings::parse(&format!("devices=1;{word}")).unwrap_err();
            assert!(
                error.starts_with(&format!("`{word}`: expected ")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_fault_strikes_where_it_is_meant_to() {
        let fault = InjectedFault::parse("1/cuMemAlloc:3-4:2").unwrap();
        assert!(fault.strikes(1, "cuMemAlloc", 3) && fault.strikes(1, "cuMemAlloc", 4));
        for (gpu, call, number) in [
            (0, "cuMemAlloc", 3),
            (1, "cuMemFree", 3),
            (1, "cuMemAlloc", 5),
        ] {
            assert!(!fault.strikes(gpu, call, number));
        }
        let everywhere = InjectedFault::parse("any:2+:999").unwrap();
        assert!(everywhere.strikes(7, "any", 1000) && !everywhere.strikes(0, "any", 1));
    }
}
