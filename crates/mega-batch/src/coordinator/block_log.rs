//! [`BlockLog`]: an append-only file of entries that a later process can resume.
//!
//! The file begins with a line of JSON, the [`Header`], with the [`Identity`] of its contents. Blocks follow: 32 bits each,
//! little-endian, for the number of bytes, the number of entries and a CRC-32 of that number and the encoded entries; then the entries, encoded with
//! postcard. An incomplete block at the end is dropped when the log is resumed. If complete blocks follow a broken
//! one, the file was damaged, and is left unchanged.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::VERSION;
use crate::files::{folder_of, of_folder};
use crate::results::escape::escaped;

/// A block is written when it has this many bytes, or this long after the one before.
const BLOCK: usize = 1 << 18;
const INTERVAL: Duration = Duration::from_millis(200);

/// How often the file is synced to the disk. Data survives the end of the process even before that.
const SYNC: Duration = Duration::from_secs(5);

/// The most bytes of a block: one entry may hold a grid as large as limits allow.
const MOST_BYTES: u32 = 1 << 30;

/// The most bytes of the first line.
const MOST_HEADER: u64 = 1 << 16;

/// The version of the block format.
const FORM: u32 = 2;

/// What must agree for a log to be resumed: everything that its entries depend on.
pub(crate) trait Identity: Serialize + DeserializeOwned {
    /// The file format as the first line names it.
    const FORMAT: &str;

    /// What a log has that does not agree, if its identity is the other one.
    fn difference(&self, other: &Self) -> Option<String>;
}

/// The first line of a log.
#[derive(Serialize, Deserialize)]
struct Header<I> {
    format: String,
    form: u32,
    engine_version: String,
    #[serde(flatten)]
    identity: I,
}

impl<I: Identity> Header<I> {
    /// How the log with this header differs from those that this engine writes with this identity.
    fn difference(&self, identity: &I) -> Option<String> {
        if self.format != I::FORMAT {
            Some(NO_CHECKPOINT.to_owned())
        } else if (self.form, &*self.engine_version) != (FORM, VERSION) {
            Some(format!(
                "one of version {} of the engine, whose results may differ from those of version {VERSION}: remove it \
                 to begin anew, or resume it with that version",
                self.engine_version
            ))
        } else {
            identity.difference(&self.identity)
        }
    }
}

const NO_CHECKPOINT: &str = "a file that is no checkpoint";

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// It cannot be read or written.
    #[error("{}: {error}", escaped(&path.to_string_lossy()))]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file exists, and resuming was not asked for.
    #[error("{}: there is a checkpoint already: resume it, or remove it to begin anew", escaped(&.0.to_string_lossy()))]
    Exists(PathBuf),
    /// Another process writes to it.
    #[error("{}: another run is using this checkpoint", escaped(&.0.to_string_lossy()))]
    InUse(PathBuf),
    /// It belongs to another run.
    #[error("{}: expected the checkpoint of this run, found {found}", escaped(&path.to_string_lossy()))]
    Other {
        /// The file.
        path: PathBuf,
        /// What it contains instead.
        found: String,
    },
    /// A part of it is damaged.
    #[error(
        "{}: damaged at byte {at}, with complete entries behind it: the file is unchanged; a copy that is cut there \
         (`truncate -s {at} COPY`) can be resumed", escaped(&path.to_string_lossy())
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damaged part begins.
        at: u64,
    },
}

/// A log that is open for writing; the file is locked.
#[derive(Debug)]
pub(crate) struct BlockLog {
    file: File,
    /// The current block, and its number of entries.
    block: Vec<u8>,
    count: u32,
    written: Instant,
    synced: Instant,
}

impl BlockLog {
    /// Begins a log; the file must not exist or be empty.
    pub(crate) fn create(path: &Path, identity: &impl Identity) -> Result<Self, CheckpointError> {
        let file = open(path)?;
        let length = file
            .metadata()
            .map_err(|error| file_error(path, error))?
            .len();
        if length > 0 {
            return Err(CheckpointError::Exists(path.to_owned()));
        }
        Self::begin(file, identity).map_err(|error| file_error(path, error))
    }

    /// Resumes a log of at most `most` entries, or begins one if there is none.
    pub(crate) fn resume<I: Identity>(
        path: &Path,
        identity: &I,
        most: usize,
    ) -> Result<(Self, Blocks), CheckpointError> {
        let file = open(path)?;
        let mut blocks = Blocks::default();
        let io = |error| file_error(path, error);
        let mut reader = BufReader::new(File::open(path).map_err(io)?);
        let mut line = Vec::new();
        (&mut reader)
            .take(MOST_HEADER)
            .read_until(b'\n', &mut line)
            .map_err(io)?;
        if line.last() != Some(&b'\n') && (line.len() as u64) < MOST_HEADER {
            // The first line is incomplete.
            let own = first_line(identity).map_err(io)?;
            if own.starts_with(&line) {
                file.set_len(0).map_err(io)?;
                return Ok((Self::begin(file, identity).map_err(io)?, blocks));
            }
        }
        let found: Option<Header<I>> = serde_json::from_slice(&line).ok();
        let difference = match &found {
            Some(found) => found.difference(identity),
            None => Some(NO_CHECKPOINT.to_owned()),
        };
        if let Some(found) = difference {
            let path = path.to_owned();
            return Err(CheckpointError::Other { path, found });
        }
        let start = line.len() as u64;
        let mut end = start;
        let mut block = Vec::new();
        // All blocks are checked before any is used.
        let mut has_too_many = false;
        while let Some(count) = read_block(&mut reader, &mut block).map_err(io)? {
            has_too_many = blocks.left + count as usize > most;
            if has_too_many {
                break;
            }
            blocks.left += count as usize;
            end += (HEAD + block.len()) as u64;
        }
        let length = file.metadata().map_err(io)?.len();
        blocks.dropped = length.saturating_sub(end);
        if blocks.dropped > 0 && !has_too_many {
            reader.seek(SeekFrom::Start(end + 1)).map_err(io)?;
            if has_block(&mut reader).map_err(io)? {
                let path = path.to_owned();
                return Err(CheckpointError::Damaged { path, at: end });
            }
        }
        file.set_len(end).map_err(io)?;
        reader.seek(SeekFrom::Start(start)).map_err(io)?;
        blocks.reader = Some(reader);
        Ok((Self::of(file), blocks))
    }

    fn begin(mut file: File, identity: &impl Identity) -> io::Result<Self> {
        file.write_all(&first_line(identity)?)?;
        file.sync_all()?;
        Ok(Self::of(file))
    }

    fn of(file: File) -> Self {
        Self {
            file,
            block: Vec::new(),
            count: 0,
            written: Instant::now(),
            synced: Instant::now(),
        }
    }

    /// Adds an entry.
    pub(crate) fn push(&mut self, entry: &impl Serialize) -> io::Result<()> {
        self.block = postcard::to_extend(entry, std::mem::take(&mut self.block))
            .map_err(io::Error::other)?;
        self.count += 1;
        if self.block.len() >= BLOCK {
            self.write()?;
        }
        Ok(())
    }

    /// [Writes](Self::write) the added entries, unless that was done a moment ago.
    pub(crate) fn tick(&mut self) -> io::Result<()> {
        if self.written.elapsed() >= INTERVAL {
            self.write()?;
        }
        if self.synced.elapsed() >= SYNC {
            self.synced = Instant::now();
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// Writes all added entries and syncs the file.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.write()?;
        self.file.sync_all()
    }

    /// Writes the added entries.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        self.written = Instant::now();
        if self.count == 0 {
            return Ok(());
        }
        // A single call, so that an interruption can only cut off the end.
        let mut bytes = Vec::with_capacity(HEAD + self.block.len());
        bytes.extend((self.block.len() as u32).to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(check(self.count, &self.block).to_le_bytes());
        bytes.append(&mut self.block);
        self.count = 0;
        self.file.write_all(&bytes)
    }
}

/// The entries that a log had when it was opened.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    reader: Option<BufReader<File>>,
    block: Vec<u8>,
    at: usize,
    left: usize,
    dropped: u64,
}

impl Blocks {
    /// How many entries remain to be read.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// How many bytes of an incomplete block at the end were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Reads the next entry; there must be one.
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        self.left = self.left.saturating_sub(1);
        if self.at == self.block.len() {
            let reader = self.reader.as_mut().ok_or_else(changed)?;
            read_block(reader, &mut self.block)?.ok_or_else(changed)?;
            self.at = 0;
        }
        let bytes = &self.block[self.at..];
        let (entry, rest) = postcard::take_from_bytes(bytes).map_err(io::Error::other)?;
        self.at = self.block.len() - rest.len();
        Ok(entry)
    }
}

fn file_error(path: &Path, error: io::Error) -> CheckpointError {
    let path = path.to_owned();
    CheckpointError::File { path, error }
}

/// Opens a checkpoint and locks it.
fn open(path: &Path) -> Result<File, CheckpointError> {
    // Opening a pipe would block, and a device keeps nothing.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let error = io::Error::other("expected a regular file");
        return Err(file_error(path, error));
    }
    let mut options = OpenOptions::new();
    let file = options.read(true).append(true).create(true).open(path);
    let file = file.map_err(|error| file_error(path, of_folder(error, folder_of(path))))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(CheckpointError::InUse(path.to_owned())),
        // Some file systems do not support locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

fn first_line<I: Identity>(identity: &I) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Header {
        format: I::FORMAT.to_owned(),
        form: FORM,
        engine_version: VERSION.to_owned(),
        identity,
    })?;
    line.push(b'\n');
    Ok(line)
}

/// The size of a block's header: the number of bytes, the number of entries, and the checksum.
const HEAD: usize = 12;

fn check(count: u32, block: &[u8]) -> u32 {
    let mut check = crc32fast::Hasher::new();
    check.update(&count.to_le_bytes());
    check.update(block);
    check.finalize()
}

/// The numbers in a block's header.
fn header_words(head: [u8; HEAD]) -> [u32; 3] {
    [0, 4, 8].map(|at| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]))
}

/// Reads a block and returns the number of its entries; `None` if no complete block follows.
fn read_block(reader: &mut impl Read, block: &mut Vec<u8>) -> io::Result<Option<u32>> {
    let mut head = [0; HEAD];
    if !is_read(reader.read_exact(&mut head))? {
        return Ok(None);
    }
    let [length, count, expected] = header_words(head);
    block.clear();
    let most = u64::from(length.min(MOST_BYTES));
    reader.take(most).read_to_end(block)?;
    let is_whole = block.len() == length as usize && check(count, block) == expected;
    Ok(is_whole.then_some(count))
}

/// How far behind a damaged block a complete one is searched, and how many bytes are checksummed in total.
const MAX_SCANNED: u64 = 1 << 26;
const MAX_CHECKED: usize = 1 << 30;

/// Whether a complete block begins anywhere in the rest: the length field of a damaged block is not reliable.
fn has_block(reader: &mut impl Read) -> io::Result<bool> {
    let mut bytes = Vec::new();
    reader.take(MAX_SCANNED).read_to_end(&mut bytes)?;
    let mut left = MAX_CHECKED;
    for at in 0..bytes.len() {
        let Some((head, rest)) = bytes[at..].split_first_chunk() else {
            break;
        };
        let [length, count, expected] = header_words(*head);
        // An entry has at least one byte.
        let Some(block) = rest
            .get(..length as usize)
            .filter(|_| (1..=length).contains(&count))
        else {
            continue;
        };
        if check(count, block) == expected {
            return Ok(true);
        }
        match left.checked_sub(block.len()) {
            Some(rest) => left = rest,
            None => break,
        }
    }
    Ok(false)
}

/// Whether the read was complete.
fn is_read(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The error for blocks that were complete when they were checked and are not any more.
pub(crate) fn changed() -> io::Error {
    io::Error::other("the checkpoint was changed while it was read")
}
