//! [`CostFile`]: the costs of executors, kept between runs in the user's cache folder.
//!
//! It is a cache: a file that cannot be read is reported and rewritten, and no run fails without one. It is replaced
//! by renaming, and read again right before that to include what others have written meanwhile; concurrent runs lose
//! at most each other's last figures.

mod format;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use etcetera::BaseStrategy;
use gpu_kernels::device::{self, Information};
use gpu_kernels::{LaunchConfig, interface};
use gpu_sched::{Cost, Costs, FallbackShares, Kind, Remembered};
use serde::{Deserialize, Serialize};

use crate::VERSION;
use crate::devices::Host;
use crate::escape::escaped;
use crate::files;

/// Identifies an executor: a machine's CPU or device, with everything else that its costs depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorId {
    /// The device's name; for the host the name of its CPU, and the number of threads.
    pub device: String,
    /// The version of CUDA that the device's driver supports, like `12.2`.
    pub driver: Option<String>,
    /// The version of this engine, and whether it is a debug build, which is slow.
    pub engine: String,
    /// The fingerprint of the device's kernels.
    pub kernels: Option<String>,
}

impl ExecutorId {
    /// The host with this many threads.
    pub fn host(host: &Host, threads: usize) -> Self {
        let plural = if threads == 1 { "" } else { "s" };
        Self {
            device: format!("{}, {threads} thread{plural}", host.cpu),
            driver: None,
            engine: engine(),
            kernels: None,
        }
    }

    /// A device. The costs of a simulated device depend on the CPU.
    pub fn device(device: &Information, host: &Host) -> Self {
        let name = &device.name;
        Self {
            device: match device.kind {
                device::Kind::Cuda => name.clone(),
                device::Kind::Emulated | device::Kind::Interpreted => {
                    format!("{name} on {}", host.cpu)
                }
            },
            driver: device
                .driver
                .map(|(major, minor)| format!("{major}.{minor}")),
            engine: engine(),
            kernels: Some(format!("{:#018x}", interface::fingerprint())),
        }
    }
}

fn engine() -> String {
    let build = if cfg!(debug_assertions) { " debug" } else { "" };
    format!("{VERSION}{build}")
}

/// The costs of a kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KindCost {
    /// What batches of it cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// The part of its items that falls back to the host; `None` if that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<FallbackShares>,
    /// The number of batches behind the measurement, in all runs.
    pub batches: u64,
}

/// The measurements of an executor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Learned {
    /// By kind of work.
    pub kinds: BTreeMap<Kind, KindCost>,
    /// The fastest launch configuration, if several were tried.
    pub tuning: Option<LaunchConfig>,
}

impl Learned {
    /// The measurements of this run.
    pub fn of(costs: &Costs) -> Self {
        let Remembered(kinds) = costs.remember();
        let kinds = kinds.into_iter().map(|(kind, (cost, left))| {
            let known = KindCost {
                cost,
                left: Some(left),
                batches: costs.batches(kind),
            };
            (kind, known)
        });
        Self {
            // Recalled costs that were not measured again are not new.
            kinds: kinds.filter(|(_, known)| known.batches > 0).collect(),
            tuning: None,
        }
    }

    /// The costs for [`Costs::recall`].
    pub fn remembered(&self) -> Remembered {
        let known = |known: &KindCost| (known.cost, known.left.unwrap_or_default());
        let kinds = self.kinds.iter();
        let kinds = kinds.map(|(kind, of_kind)| (*kind, known(of_kind)));
        Remembered(kinds.collect())
    }

    fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.tuning.is_none()
    }

    /// Replaces known measurements by later ones.
    fn update(&mut self, later: &Learned) {
        for (kind, later) in &later.kinds {
            let before = self.kinds.get(kind);
            let known = KindCost {
                cost: later.cost,
                left: later.left.or(before.and_then(|known| known.left)),
                batches: before
                    .map_or(0, |known| known.batches)
                    .saturating_add(later.batches),
            };
            self.kinds.insert(*kind, known);
        }
        self.tuning = later.tuning.or(self.tuning);
    }

    /// Removes invalid costs and launch configurations.
    fn sound(mut self) -> Self {
        let fits = |tuning: &LaunchConfig| {
            (1..=MOST_IN_SHAPE).contains(&tuning.warps)
                && (1..=MOST_IN_SHAPE).contains(&tuning.side_by_side)
                && (1..=MOST_BLOCKS).contains(&tuning.blocks)
        };
        self.kinds.retain(|_, known| known.cost.is_sound());
        for known in self.kinds.values_mut() {
            known.left = known.left.filter(FallbackShares::is_sound);
        }
        while self.kinds.len() > MOST_KINDS {
            self.kinds.pop_last();
        }
        self.tuning = self.tuning.filter(fits);
        self
    }
}

/// An executor with its measurements, and their time in seconds since 1970.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    id: ExecutorId,
    learned: Learned,
    saved: u64,
}

/// The environment variable that names a folder to use instead of the user's cache folder.
pub const VARIABLE: &str = "MEGA_BATCH_CACHE";

/// The subfolder of the user's cache folder, and the file in it.
const FOLDER: &str = "mega-batch";
const FILE: &str = "costs.json";

/// The most executors that are kept: those that were measured last.
const MOST_ENTRIES: usize = 64;

/// The most kinds per executor.
const MOST_KINDS: usize = 32;

/// The largest file that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Bounds of launch configurations.
const MOST_IN_SHAPE: u32 = 4;
const MOST_BLOCKS: u32 = 1024;

/// The costs of executors, kept between runs; see the [module](self).
#[derive(Debug)]
pub struct CostFile {
    path: Option<PathBuf>,
    entries: Vec<Entry>,
    /// The measurements since the file was read.
    learned: Vec<(ExecutorId, Learned)>,
    notice: Option<String>,
}

impl CostFile {
    /// The file in the folder that [`VARIABLE`] names, or else in the user's cache folder.
    pub fn open() -> Self {
        let asked = std::env::var_os(VARIABLE);
        let own = || Some(etcetera::choose_base_strategy().ok()?.cache_dir());
        Self::at(folder(asked, own))
    }

    /// The file in this folder; `None` keeps nothing.
    pub fn at(folder: Option<PathBuf>) -> Self {
        let Some(folder) = folder else {
            return Self {
                path: None,
                entries: Vec::new(),
                learned: Vec::new(),
                notice: Some(format!(
                    "no cache folder is known, so that measured costs are not kept: set {VARIABLE}"
                )),
            };
        };
        let path = folder.join(FILE);
        let (entries, notice) = match read(&path) {
            Ok(entries) => (entries, None),
            Err(reason) => {
                let path = path.to_string_lossy();
                let reason = format!("{}: {reason}: costs are learned anew", escaped(&path));
                (Vec::new(), Some(reason))
            }
        };
        Self {
            path: Some(path),
            entries,
            learned: Vec::new(),
            notice,
        }
    }

    /// The path of the file, which may not exist; `None` if no folder is known.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Why nothing could be read, if the file is unusable or no folder is known.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// All known executors with their measurements.
    pub fn executors(&self) -> impl Iterator<Item = (&ExecutorId, &Learned)> {
        self.entries.iter().map(|entry| (&entry.id, &entry.learned))
    }

    /// The known measurements of an executor.
    pub fn recall(&self, id: &ExecutorId) -> Option<&Learned> {
        let mut executors = self.executors();
        executors.find_map(|(known, learned)| (known == id).then_some(learned))
    }

    /// Adds measurements of an executor, to be [saved](Self::save).
    pub fn remember(&mut self, id: &ExecutorId, learned: Learned) {
        let learned = learned.sound();
        if !learned.is_empty() {
            update(&mut self.entries, id, &learned, now());
            self.learned.push((id.clone(), learned));
        }
    }

    /// Writes the new measurements, merged with what others have written meanwhile. Returns whether there were any.
    ///
    /// # Errors
    /// The file cannot be written; it is unchanged then.
    pub fn save(&mut self) -> io::Result<bool> {
        let Some(path) = self.path.as_deref() else {
            return Ok(false);
        };
        if self.learned.is_empty() {
            return Ok(false);
        }
        let mut entries = read(path).unwrap_or_default();
        for (id, learned) in &self.learned {
            update(&mut entries, id, learned, now());
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.saved));
        entries.truncate(MOST_ENTRIES);
        let text = format::text(&entries)?;
        files::replace(path, |out| out.write_all(text.as_bytes()))?;
        self.learned.clear();
        self.entries = entries;
        self.notice = None;
        Ok(true)
    }

    /// Removes the file, whatever it contains, and all measurements. Returns whether there was a file.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn reset(&mut self) -> io::Result<bool> {
        let removed = match self.path.as_deref().map(fs::remove_file) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Some(Ok(())) => true,
            None | Some(Err(_)) => false,
        };
        self.entries.clear();
        self.learned.clear();
        if self.path.is_some() {
            self.notice = None;
        }
        Ok(removed)
    }
}

fn folder(asked: Option<OsString>, own: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
    match asked.filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(folder.into()),
        None => own().map(|folder| folder.join(FOLDER)),
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.map_or(0, |time| time.as_secs())
}

fn update(entries: &mut Vec<Entry>, id: &ExecutorId, learned: &Learned, saved: u64) {
    if let Some(entry) = entries.iter_mut().find(|entry| entry.id == *id) {
        entry.learned.update(learned);
        entry.saved = saved;
    } else {
        entries.push(Entry {
            id: id.clone(),
            learned: learned.clone(),
            saved,
        });
    }
}

/// The entries of the file, none if there is no file, or why it cannot be read.
fn read(path: &Path) -> Result<Vec<Entry>, String> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
    };
    // Opening a pipe would wait for its writer.
    if !metadata.is_file() {
        return Err("expected a regular file, found something else".to_owned());
    }
    let mut text = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    let read = file.take(MOST_BYTES + 1).read_to_end(&mut text);
    read.map_err(|error| error.to_string())?;
    if text.len() as u64 > MOST_BYTES {
        return Err(format!("expected at most {MOST_BYTES} bytes, found more"));
    }
    format::entries(&text)
}
