//! [`TuningFile`]: the fastest launch configuration of each GPU, kept between runs in the user's cache folder.
//!
//! It is a cache: a file that cannot be read is reported and rewritten, and no run fails without one. It is replaced
//! by renaming, and read again right before that to include what others have written meanwhile; concurrent runs lose
//! at most each other's last figures.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use etcetera::BaseStrategy;
use gpu_kernels::device::Information;
use gpu_kernels::{LaunchConfig, interface};
use serde::{Deserialize, Serialize};

use crate::VERSION;
use crate::files;
use crate::results::escape::escaped;

/// Identifies a GPU, with everything else that its fastest configuration depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceIdentity {
    /// Its name: two GPUs of the same name share an entry.
    pub device: String,
    /// The version of CUDA that its driver supports, like `12.2`.
    pub driver: Option<String>,
    /// The version of this engine.
    pub engine: String,
    /// The fingerprint of its kernels.
    pub kernels: String,
}

impl DeviceIdentity {
    /// The identity of a GPU.
    pub fn of(device: &Information) -> Self {
        let driver = device.driver;
        Self {
            device: device.name.clone(),
            driver: driver.map(|(major, minor)| format!("{major}.{minor}")),
            engine: VERSION.to_owned(),
            kernels: format!("{:#018x}", interface::fingerprint()),
        }
    }
}

/// A GPU with its configuration, and when it was measured in seconds since 1970.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct DeviceShape {
    #[serde(flatten)]
    id: DeviceIdentity,
    saved: u64,
    #[serde(flatten, with = "Config")]
    config: LaunchConfig,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LaunchConfig")]
struct Config {
    warps: u32,
    side_by_side: u32,
    blocks: u32,
}

impl DeviceShape {
    /// Whether a device could be launched in this configuration.
    fn is_sound(&self) -> bool {
        let LaunchConfig {
            warps,
            side_by_side,
            blocks,
        } = self.config;
        let warps = [warps, side_by_side];
        warps.iter().all(|warps| (1..=MOST_WARPS).contains(warps))
            && (1..=MOST_BLOCKS).contains(&blocks)
    }
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    devices: Vec<DeviceShape>,
}

/// The member common to all versions.
#[derive(Deserialize)]
struct Head {
    version: u32,
}

/// The version of the format.
const FORMAT: u32 = 1;

/// The environment variable that names a folder to use instead of the user's cache folder.
pub const VARIABLE: &str = "MEGA_BATCH_CACHE";

/// The subfolder of the user's cache folder, and the file in it.
const FOLDER: &str = "mega-batch";
const FILE: &str = "tuning.json";

/// The most GPUs that are kept: those that were measured last.
const MOST_ENTRIES: usize = 64;

/// The largest file that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Bounds of launch configurations: of warps and of evaluations side by side, and of blocks.
const MOST_WARPS: u32 = 4;
const MOST_BLOCKS: u32 = 1024;

/// Launch configurations, kept between runs.
#[derive(Debug)]
pub struct TuningFile {
    path: Option<PathBuf>,
    entries: Vec<DeviceShape>,
    notice: Option<String>,
}

impl TuningFile {
    /// The file in the folder that [`VARIABLE`] names, or else in the user's cache folder.
    pub fn open() -> Self {
        let asked = std::env::var_os(VARIABLE);
        let own = || Some(etcetera::choose_base_strategy().ok()?.cache_dir());
        Self::at(folder(asked, own))
    }

    /// The file in this folder; `None` keeps nothing.
    pub fn at(folder: Option<PathBuf>) -> Self {
        let path = folder.map(|folder| folder.join(FILE));
        let (entries, notice) = match &path {
            None => {
                let told =
                    "no cache folder is known, so that launch configurations are not kept: set";
                (Vec::new(), Some(format!("{told} {VARIABLE}")))
            }
            Some(path) => match read(path) {
                Ok(entries) => (entries, None),
                Err(reason) => {
                    let path = path.to_string_lossy();
                    let reason = format!("{}: {reason}: GPUs are measured anew", escaped(&path));
                    (Vec::new(), Some(reason))
                }
            },
        };
        Self {
            path,
            entries,
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

    /// All known GPUs with their configurations.
    pub fn devices(&self) -> impl Iterator<Item = (&DeviceIdentity, LaunchConfig)> {
        self.entries.iter().map(|entry| (&entry.id, entry.config))
    }

    /// The known configuration of a GPU.
    pub fn recall(&self, id: &DeviceIdentity) -> Option<LaunchConfig> {
        let mut devices = self.devices();
        devices.find_map(|(known, config)| (known == id).then_some(config))
    }

    /// Keeps the configuration of a GPU, beside what others have written meanwhile.
    ///
    /// # Errors
    /// The file cannot be written; it is unchanged then, and the configuration is only known to this value.
    pub fn keep(&mut self, id: &DeviceIdentity, config: LaunchConfig) -> io::Result<()> {
        if let Some(written) = self.path.as_deref().and_then(|path| read(path).ok()) {
            self.entries = written;
        }
        self.entries.retain(|entry| entry.id != *id);
        let entry = DeviceShape {
            id: id.clone(),
            saved: now(),
            config,
        };
        // The latest come first.
        self.entries.insert(0, entry);
        self.entries.truncate(MOST_ENTRIES);
        let Some(path) = self.path.as_deref() else {
            return Ok(());
        };
        let document = Document {
            version: FORMAT,
            devices: self.entries.clone(),
        };
        let mut text = serde_json::to_string_pretty(&document)?;
        text.push('\n');
        files::replace(path, |out| out.write_all(text.as_bytes()))?;
        self.notice = None;
        Ok(())
    }

    /// Removes the file, whatever it contains, and all configurations. Returns whether there was a file.
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

/// The entries of the file, none if there is no file, or why it cannot be read.
fn read(path: &Path) -> Result<Vec<DeviceShape>, String> {
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
    let Head { version } = serde_json::from_slice(&text).map_err(|error| place(&error))?;
    if version != FORMAT {
        return Err(format!("expected version {FORMAT}, found {version}"));
    }
    let document: Document = serde_json::from_slice(&text).map_err(|error| place(&error))?;
    let entries = document.devices.into_iter();
    Ok(entries.filter(DeviceShape::is_sound).collect())
}

/// The place of an error, and what was expected there.
fn place(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let at = format!(" at line {line} column {column}");
    let message = message.strip_suffix(&at).unwrap_or(&message);
    format!("line {line}, column {column}: {message}")
}
