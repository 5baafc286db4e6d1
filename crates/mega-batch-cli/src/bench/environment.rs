//! [`Environment`]: the machine that a benchmark runs on, checked before anything is measured.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

use mega_batch::VERSION;
use serde::{Deserialize, Serialize};

use crate::machine::{DeviceReport, MachineReport, line};

/// The machine, the engine, and whether this is a Kaggle notebook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Environment {
    /// The version of the engine.
    pub(crate) engine_version: String,
    /// The commit that it was built from, if the caller knows it.
    pub(crate) commit: Option<String>,
    /// The operating system.
    pub(crate) os: String,
    /// The host and its GPUs, or why there is none.
    pub(crate) machine: MachineReport,
    /// Physical cores, if the system tells: two threads may share one.
    pub(crate) physical_cores: Option<usize>,
    /// The mean number of processes that ran or waited to run during the last minute, if the system tells.
    pub(crate) load: Option<f64>,
    /// Set if this is a Kaggle notebook.
    pub(crate) kaggle: Option<Kaggle>,
    /// A note that the figures are not those of a GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// The note on results of a driver other than NVIDIA's.
const FAKE: &str = "made with a fake driver, which executes the kernels on the CPU: nothing here is a measurement \
                    of a GPU";

/// The environment variable that configures the fake driver; without it its devices are called `fake 0` and so on.
const FAKE_DRIVER: &str = "FAKE_CUDA_DRIVER";

/// A Kaggle notebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kaggle {
    /// How it runs, in Kaggle's words: `Interactive` or `Batch`.
    pub(crate) run_type: Option<String>,
    /// Whether this is a rerun for scoring.
    pub(crate) is_rerun: bool,
}

/// Looks up an environment variable.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl Kaggle {
    /// `folder` says whether Kaggle's folder exists.
    fn of(variable: Lookup<'_>, folder: bool) -> Option<Self> {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let run_type = set("KAGGLE_KERNEL_RUN_TYPE");
        let is_kaggle = folder || run_type.is_some() || set("KAGGLE_URL_BASE").is_some();
        is_kaggle.then(|| Self {
            run_type: run_type.map(|value| value.to_string_lossy().into_owned()),
            is_rerun: set("KAGGLE_IS_COMPETITION_RERUN").is_some(),
        })
    }
}

impl Environment {
    /// The environment of this process. Opens the devices to see whether they can be used.
    pub(crate) fn here(emulated: bool, commit: Option<String>) -> Self {
        let (_, machine) = MachineReport::here(emulated, false);
        let is_fake = |name: &&str| name.starts_with("fake ");
        let is_fake =
            std::env::var_os(FAKE_DRIVER).is_some() || gpus(&machine).first().is_some_and(is_fake);
        let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            engine_version: VERSION.to_owned(),
            commit,
            os: std::env::consts::OS.to_owned(),
            machine,
            physical_cores: physical_cores(&cpus),
            load: load_of(&load),
            kaggle: Kaggle::of(
                &|name| std::env::var_os(name),
                Path::new("/kaggle").is_dir(),
            ),
            note: is_fake.then(|| FAKE.to_owned()),
        }
    }

    /// The names of the usable GPUs.
    pub(crate) fn gpus(&self) -> Vec<&str> {
        gpus(&self.machine)
    }

    /// Why there is no usable GPU.
    pub(crate) fn why_no_gpu(&self) -> String {
        let unusable = self.machine.gpus.iter().filter_map(|gpu| match gpu {
            DeviceReport::Unusable { unusable } => Some(unusable.as_str()),
            DeviceReport::Usable(_) => None,
        });
        let no_gpu = self.machine.no_gpu.as_deref();
        let reasons: Vec<&str> = no_gpu.into_iter().chain(unusable).collect();
        if reasons.is_empty() {
            "there is no GPU".to_owned()
        } else {
            reasons.join("; ")
        }
    }

    /// How many physical cores this process can keep busy, as far as the system tells.
    pub(crate) fn usable_cores(&self) -> usize {
        let threads = self.machine.host.threads;
        self.physical_cores
            .map_or(threads, |cores| cores.min(threads))
    }

    /// The machine's name in the form used for folders: `amd-epyc-2-cores`, with the GPUs if there are any:
    /// `intel-xeon-4-cores-2-tesla-t4`.
    pub(crate) fn folder(&self) -> String {
        let host = &self.machine.host;
        let mut name = format!("{}-{}-cores", folder_name(&host.cpu), host.threads);
        let gpus = self.gpus();
        if let Some(first) = gpus.first() {
            if gpus.len() > 1 {
                name = format!("{name}-{}", gpus.len());
            }
            name = format!("{name}-{}", folder_name(first));
        }
        name
    }
}

/// The lines printed for the check.
impl Display for Environment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let commit = self.commit.as_deref().unwrap_or("commit not known");
        line(
            f,
            "engine",
            format_args!("{}, {commit}", self.engine_version),
        )?;
        self.machine.fmt(f)?;
        if let Some(cores) = self.physical_cores {
            line(f, "physical cores", cores)?;
        }
        if let Some(load) = self.load {
            line(f, "load before", format_args!("{load:.2}"))?;
        }
        let kaggle = match &self.kaggle {
            None => "no".to_owned(),
            Some(kaggle) => {
                let run_type = kaggle.run_type.as_deref().unwrap_or("run type not told");
                let rerun = if kaggle.is_rerun {
                    "run again to be scored"
                } else {
                    "not run again to be scored"
                };
                format!("yes, {run_type}, {rerun}")
            }
        };
        line(f, "Kaggle", kaggle)?;
        match &self.note {
            Some(note) => line(f, "note", note),
            None => Ok(()),
        }
    }
}

fn gpus(machine: &MachineReport) -> Vec<&str> {
    let gpus = machine.gpus.iter().filter_map(|gpu| match gpu {
        DeviceReport::Usable(gpu) => Some(gpu.name.as_str()),
        DeviceReport::Unusable { .. } => None,
    });
    gpus.collect()
}

/// A processor or device name in the form used for folders: `nvidia-h200`.
fn folder_name(name: &str) -> String {
    let words = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty());
    let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
    words.join("-")
}

/// The number of cores in `/proc/cpuinfo`, counted by socket and core numbers.
fn physical_cores(info: &str) -> Option<usize> {
    let mut cores = BTreeSet::new();
    for processor in info.split("\n\n") {
        let value = |name: &str| {
            let mut lines = processor.lines();
            lines.find_map(|line| {
                let (key, value) = line.split_once(':')?;
                (key.trim() == name).then(|| value.trim())
            })
        };
        if let (Some(socket), Some(core)) = (value("physical id"), value("core id")) {
            cores.insert((socket.to_owned(), core.to_owned()));
        }
    }
    (!cores.is_empty()).then_some(cores.len())
}

fn load_of(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::machine::{HostReport, Usable};

    use super::*;

    /// A machine with this many threads and GPUs.
    pub(in crate::bench) fn environment(threads: usize, gpus: usize) -> Environment {
        let gpu = DeviceReport::Usable(Box::new(Usable {
            name: "Tesla T4".into(),
            capability: (7, 5),
            multiprocessors: 40,
            warps: 32,
            driver: Some((12, 2)),
            memory: None,
            suggested_batch: (1, 2),
        }));
        Environment {
            engine_version: VERSION.into(),
            commit: None,
            os: "linux".into(),
            machine: MachineReport {
                host: HostReport {
                    cpu: "AMD EPYC(tm) 7R13".into(),
                    threads,
                    memory: None,
                },
                gpus: vec![gpu; gpus],
                no_gpu: (gpus == 0).then(|| "no driver".into()),
                emulated: None,
                interpreted: None,
            },
            physical_cores: Some(threads),
            load: None,
            kaggle: None,
            note: None,
        }
    }

    #[test]
    fn machines_have_names_for_folders() {
        let folders = [0, 1, 2].map(|gpus| environment(2, gpus).folder());
        assert_eq!(
            folders,
            [
                "amd-epyc-tm-7r13-2-cores",
                "amd-epyc-tm-7r13-2-cores-tesla-t4",
                "amd-epyc-tm-7r13-2-cores-2-tesla-t4",
            ]
        );
    }

    #[test]
    fn kaggle_is_known_by_its_variables_or_its_folder() {
        let kaggle = |set: &[(&str, &str)], folder| {
            let variable = |name: &str| {
                let mut set = set.iter();
                set.find_map(|(known, value)| (*known == name).then(|| (*value).into()))
            };
            Kaggle::of(&variable, folder)
        };
        let found = |run_type: Option<&str>, is_rerun| {
            let run_type = run_type.map(str::to_owned);
            Some(Kaggle { run_type, is_rerun })
        };
        assert_eq!(kaggle(&[("KAGGLE_URL_BASE", "")], false), None);
        assert_eq!(kaggle(&[], true), found(None, false));
        assert_eq!(
            kaggle(&[("KAGGLE_URL_BASE", "x")], false),
            found(None, false)
        );
        let batch = ("KAGGLE_KERNEL_RUN_TYPE", "Batch");
        assert_eq!(kaggle(&[batch], false), found(Some("Batch"), false));
        let rerun = ("KAGGLE_IS_COMPETITION_RERUN", "1");
        assert_eq!(kaggle(&[batch, rerun], true), found(Some("Batch"), true));
    }

    #[test]
    fn threads_of_one_core_are_one_core() {
        let processor = |socket, core| format!("physical id\t: {socket}\ncore id\t\t: {core}\n");
        let info = [(0, 0), (0, 0), (0, 1), (1, 0)].map(|(socket, core)| processor(socket, core));
        assert_eq!(physical_cores(&info.join("\n")), Some(3));
        assert_eq!(physical_cores("processor: 0\n"), None);
        assert_eq!(load_of("0.76 0.84 1.07 3/101 16957\n"), Some(0.76));
        assert_eq!(load_of(""), None);
    }

    #[test]
    fn the_check_says_why_there_is_no_gpu() {
        let here = environment(4, 0);
        assert_eq!(here.why_no_gpu(), "no driver");
        let text = here.to_string();
        for part in [
            "GPUs              none: no driver",
            "4 threads",
            "Kaggle            no",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let mut here = environment(4, 1);
        here.machine.gpus.push(DeviceReport::Unusable {
            unusable: "too old".into(),
        });
        assert_eq!(
            (here.gpus(), here.why_no_gpu().as_str()),
            (vec!["Tesla T4"], "too old")
        );
    }

    #[test]
    fn the_fake_driver_is_known_by_its_variable() {
        assert_eq!(FAKE_DRIVER, fake_cuda_driver::VARIABLE);
    }

    #[test]
    fn this_machine_is_checked() {
        let here = Environment::here(true, Some("abc".into()));
        assert!(here.machine.host.threads > 0 && here.usable_cores() > 0);
        assert!(here.machine.emulated.is_some());
        let text = serde_json::to_string(&here).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), here);
    }
}
