//! [`Checkpoint`]: the results of a run as they come, in a file from which a later run goes on.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use arc_dsl::{EvalError, Grid, Limits, Value};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::batch::Batch;
use crate::escape::escaped;
use crate::json::VERSION;
use crate::options::Options;
use crate::outcome::{Outcome, PairResult};
use crate::score::{Score, digest};

/// What the first line calls the file.
const FORMAT: &str = "mega-batch checkpoint";

/// The form of the blocks.
const FORM: u32 = 1;

/// A block is written when it has so many bytes, or so long after the one before.
const BLOCK: usize = 1 << 18;
const INTERVAL: Duration = Duration::from_millis(200);

/// How often what is written is brought to the disk. It survives the process all the same.
const SYNC: Duration = Duration::from_secs(5);

/// The most bytes of a block: one result may hold a grid as large as limits allow.
const MOST_BYTES: u32 = 1 << 30;

/// The most bytes of the first line.
const MOST_HEADER: u64 = 1 << 16;

/// What a run has to have in common with the one that it goes on with: all that its results depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    format: String,
    form: u32,
    engine_version: String,
    programs: String,
    tasks: String,
    jobs: String,
    options: String,
    evaluations: u64,
}

impl Identity {
    /// That of a run of this batch with these options. Mode, workers and backend are not in it, since
    /// results do not depend on them.
    pub fn of(batch: &Batch<'_>, options: &Options) -> Self {
        let Options {
            limits:
                Limits {
                    max_steps,
                    max_cells,
                    max_elements,
                    max_memory,
                    max_nesting,
                    timeout,
                },
            keep_outputs,
            scores,
            stop_after_wrong,
            ..
        } = options;
        let options = format!(
            "max_steps {max_steps}, max_cells {max_cells}, max_elements {max_elements}, \
             max_memory {max_memory}, max_nesting {max_nesting}, timeout {timeout:?}, \
             outputs {keep_outputs}, scores {scores}, stop_after_wrong {stop_after_wrong}"
        );
        Self {
            format: FORMAT.to_owned(),
            form: FORM,
            engine_version: VERSION.to_owned(),
            programs: of_programs(batch),
            tasks: of_tasks(batch),
            jobs: of_jobs(batch),
            options,
            evaluations: batch.evaluations(),
        }
    }

    /// What a run has otherwise that cannot go on with this one.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        let differences = [
            (self.format != other.format, "a file that is no checkpoint"),
            (
                (self.form, &self.engine_version) != (other.form, &other.engine_version),
                "a checkpoint of another version of the engine",
            ),
            (self.programs != other.programs, "other programs"),
            (self.tasks != other.tasks, "other tasks"),
            (
                (&self.jobs, self.evaluations) != (&other.jobs, other.evaluations),
                "other programs on other tasks",
            ),
            (self.options != other.options, "other options"),
        ];
        let mut differences = differences.into_iter();
        differences.find_map(|(differs, what)| differs.then_some(what))
    }
}

fn hex(hash: &Xxh3) -> String {
    format!("{:032x}", hash.digest128())
}

/// Takes text, of which it is known where it ends.
fn text(hash: &mut Xxh3, text: &str) {
    hash.update(&(text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}

fn of_programs(batch: &Batch<'_>) -> String {
    let mut hash = Xxh3::new();
    for program in batch.programs() {
        text(&mut hash, program.name());
        text(&mut hash, program.source().unwrap_or_default());
        text(&mut hash, &program.to_string());
        // Errors name the lines of the file.
        for step in program.steps() {
            hash.update(&step.line.to_le_bytes());
        }
    }
    hex(&hash)
}

fn of_tasks(batch: &Batch<'_>) -> String {
    let mut hash = Xxh3::new();
    for task in batch.tasks() {
        text(&mut hash, &task.id);
        for pairs in [&task.train, &task.test] {
            hash.update(&(pairs.len() as u64).to_le_bytes());
            for pair in pairs {
                hash.update(&digest(&pair.input).to_le_bytes());
                let output = pair.output.as_ref().map_or(0, digest);
                hash.update(&output.to_le_bytes());
            }
        }
    }
    hex(&hash)
}

fn of_jobs(batch: &Batch<'_>) -> String {
    let mut hash = Xxh3::new();
    for job in batch.jobs() {
        hash.update(&job.program.to_le_bytes());
        hash.update(&job.task.to_le_bytes());
    }
    let pairs = batch
        .tasks()
        .first()
        .map_or(0, |task| batch.pair_count(task));
    hash.update(&(pairs as u64).to_le_bytes());
    hex(&hash)
}

/// Why there is no checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// It cannot be read or written.
    #[error("{}: {error}", escaped(&path.to_string_lossy()))]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// There is one already, and nobody said that it is to be gone on with.
    #[error("{}: there is a checkpoint already: resume it, or remove it to begin anew", escaped(&.0.to_string_lossy()))]
    Exists(PathBuf),
    /// Another process writes to it.
    #[error("{}: another run is using this checkpoint", escaped(&.0.to_string_lossy()))]
    InUse(PathBuf),
    /// It is of another run.
    #[error("{}: expected the checkpoint of this run, found {found}", escaped(&path.to_string_lossy()))]
    Other {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: &'static str,
    },
}

/// One evaluation in a block; which one follows from its place.
#[derive(Debug, Serialize, Deserialize)]
enum Entry {
    /// The program had been wrong or had failed before: see
    /// [`Options::stop_after_wrong`](crate::Options::stop_after_wrong).
    LeftOut,
    Made(Made),
}

#[derive(Debug, Serialize, Deserialize)]
struct Made {
    became: Became,
    output: Option<Cells>,
    score: Option<Score>,
    nanoseconds: u64,
}

#[derive(Debug, Serialize, Deserialize)]
enum Became {
    Match,
    Mismatch,
    NoExpected,
    Error(EvalError),
    Limit(EvalError),
    Internal(String),
}

/// A grid by its height, its width and its cells.
#[derive(Debug, Serialize, Deserialize)]
struct Cells(u32, u32, Vec<i8>);

impl Made {
    fn of(result: &PairResult) -> Self {
        let became = match &result.outcome {
            Outcome::Match => Became::Match,
            Outcome::Mismatch => Became::Mismatch,
            Outcome::NoExpected => Became::NoExpected,
            Outcome::Error(error) => Became::Error(**error),
            Outcome::Limit(error) => Became::Limit(**error),
            Outcome::Internal(message) => Became::Internal(message.to_string()),
        };
        let grid = result.output.as_ref().and_then(Value::as_grid);
        Self {
            became,
            output: grid.map(|grid| {
                let (height, width) = (grid.height() as u32, grid.width() as u32);
                Cells(height, width, grid.cells().to_vec())
            }),
            score: result.score,
            nanoseconds: u64::try_from(result.time.as_nanos()).unwrap_or(u64::MAX),
        }
    }

    fn outcome(&mut self) -> Outcome {
        match std::mem::replace(&mut self.became, Became::NoExpected) {
            Became::Match => Outcome::Match,
            Became::Mismatch => Outcome::Mismatch,
            Became::NoExpected => Outcome::NoExpected,
            Became::Error(error) => Outcome::Error(error.into()),
            Became::Limit(error) => Outcome::Limit(error.into()),
            Became::Internal(message) => Outcome::Internal(message.into()),
        }
    }
}

impl Cells {
    fn grid(self) -> Option<Grid> {
        let Self(height, width, cells) = self;
        let (height, width) = (height as usize, width as usize);
        (cells.len() == height.checked_mul(width)?).then(|| Grid::from_cells(height, width, cells))
    }
}

/// The results of a run as they come, in a file from which a later run goes on.
///
/// The file begins with a line of JSON that says which run it is of ([`Identity`]). Blocks follow, each of the
/// results of evaluations that follow each other in the order of the batch. A block has the number of its
/// bytes, of its results, and a check of both (CRC-32); whatever ended the process, what is behind the
/// last whole block is dropped. Nothing that was written is changed.
///
/// A process that has a checkpoint open locks it, so that no two write to one. Who uses a
/// [`Coordinator`](crate::Coordinator) has nothing to do with this.
#[derive(Debug)]
pub struct Checkpoint {
    file: File,
    /// The block that is being made, and how many results it has.
    block: Vec<u8>,
    count: u32,
    written: Instant,
    synced: Instant,
}

/// What a checkpoint holds of a run that is gone on with.
#[derive(Debug)]
pub struct Recorded<'a> {
    batch: Batch<'a>,
    blocks: Option<BufReader<File>>,
    block: Vec<u8>,
    at: usize,
    /// The place of the next evaluation: its job and the pair in it.
    place: (usize, usize),
    left: usize,
    dropped: u64,
}

impl Checkpoint {
    /// Begins a checkpoint; there must be no file of this name, or an empty one.
    pub fn create(path: &Path, identity: &Identity) -> Result<Self, CheckpointError> {
        let file = open(path)?;
        let length = file.metadata().map_err(|error| at(path, error))?.len();
        if length > 0 {
            return Err(CheckpointError::Exists(path.to_owned()));
        }
        Self::begin(file, identity).map_err(|error| at(path, error))
    }

    /// Goes on with the checkpoint of an earlier run of the batch, or begins one where there is none.
    pub fn resume<'a>(
        path: &Path,
        batch: &Batch<'a>,
        identity: &Identity,
    ) -> Result<(Self, Recorded<'a>), CheckpointError> {
        let file = open(path)?;
        let mut recorded = Recorded::none(batch);
        let io = |error| at(path, error);
        let mut reader = BufReader::new(File::open(path).map_err(io)?);
        let mut line = Vec::new();
        (&mut reader)
            .take(MOST_HEADER)
            .read_until(b'\n', &mut line)
            .map_err(io)?;
        if line.last() != Some(&b'\n') && (line.len() as u64) < MOST_HEADER {
            // Not even the first line came to its end.
            let own = header(identity).map_err(io)?;
            if own.starts_with(&line) {
                file.set_len(0).map_err(io)?;
                return Ok((Self::begin(file, identity).map_err(io)?, recorded));
            }
        }
        let found: Option<Identity> = serde_json::from_slice(&line).ok();
        let difference = match &found {
            Some(found) => identity.difference(found),
            None => Some("a file that is no checkpoint"),
        };
        if let Some(found) = difference {
            let path = path.to_owned();
            return Err(CheckpointError::Other { path, found });
        }
        let start = line.len() as u64;
        let most = usize::try_from(identity.evaluations).unwrap_or(usize::MAX);
        let mut end = start;
        let mut block = Vec::new();
        // All blocks are looked at before anything is done with one.
        while let Some(count) = read_block(&mut reader, &mut block).map_err(io)?
            && recorded.left + count as usize <= most
        {
            recorded.left += count as usize;
            end += (HEAD + block.len()) as u64;
        }
        let length = file.metadata().map_err(io)?.len();
        recorded.dropped = length.saturating_sub(end);
        file.set_len(end).map_err(io)?;
        reader.seek(SeekFrom::Start(start)).map_err(io)?;
        recorded.blocks = Some(reader);
        Ok((Self::of(file), recorded))
    }

    fn begin(mut file: File, identity: &Identity) -> io::Result<Self> {
        file.write_all(&header(identity)?)?;
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

    /// Adds the result of the next evaluation of the batch; nothing where it is left out.
    pub fn push(&mut self, result: Option<&PairResult>) -> io::Result<()> {
        let entry = match result {
            Some(result) => Entry::Made(Made::of(result)),
            None => Entry::LeftOut,
        };
        self.block = postcard::to_extend(&entry, std::mem::take(&mut self.block))
            .map_err(io::Error::other)?;
        self.count += 1;
        if self.block.len() >= BLOCK {
            self.write()?;
        }
        Ok(())
    }

    /// [Writes](Self::write) what was added, unless that was done a moment ago.
    pub fn tick(&mut self) -> io::Result<()> {
        if self.written.elapsed() >= INTERVAL {
            self.write()?;
        }
        if self.synced.elapsed() >= SYNC {
            self.synced = Instant::now();
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// Writes all that was added and brings it to the disk.
    pub fn finish(mut self) -> io::Result<()> {
        self.write()?;
        self.file.sync_all()
    }

    /// Writes what was added.
    pub fn write(&mut self) -> io::Result<()> {
        self.written = Instant::now();
        if self.count == 0 {
            return Ok(());
        }
        // One call, so that what is cut off is cut off at its end.
        let mut bytes = Vec::with_capacity(HEAD + self.block.len());
        bytes.extend((self.block.len() as u32).to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(check(self.count, &self.block).to_le_bytes());
        bytes.append(&mut self.block);
        self.count = 0;
        self.file.write_all(&bytes)
    }
}

fn at(path: &Path, error: io::Error) -> CheckpointError {
    let path = path.to_owned();
    CheckpointError::File { path, error }
}

/// Opens a checkpoint and locks it.
fn open(path: &Path) -> Result<File, CheckpointError> {
    // To open a pipe would be to wait, and a device keeps nothing.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let error = io::Error::other("expected a regular file");
        return Err(at(path, error));
    }
    let mut options = OpenOptions::new();
    let file = options.read(true).append(true).create(true).open(path);
    let file = file.map_err(|error| at(path, error))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(CheckpointError::InUse(path.to_owned())),
        // Some file systems know no locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

fn header(identity: &Identity) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(identity)?;
    line.push(b'\n');
    Ok(line)
}

/// Bytes before those of a block: their number, the number of results, and the check.
const HEAD: usize = 12;

fn check(count: u32, block: &[u8]) -> u32 {
    let mut check = crc32fast::Hasher::new();
    check.update(&count.to_le_bytes());
    check.update(block);
    check.finalize()
}

/// Reads a block and gives the number of its results; nothing where no whole one follows.
fn read_block(reader: &mut impl Read, block: &mut Vec<u8>) -> io::Result<Option<u32>> {
    let mut head = [0; HEAD];
    if !is_read(reader.read_exact(&mut head))? {
        return Ok(None);
    }
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (length, count, expected) = (word(0), word(4), word(8));
    block.clear();
    let most = u64::from(length.min(MOST_BYTES));
    reader.take(most).read_to_end(block)?;
    let is_whole = block.len() == length as usize && check(count, block) == expected;
    Ok(is_whole.then_some(count))
}

/// Whether all came that was to be read.
fn is_read(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

impl<'a> Recorded<'a> {
    /// Nothing of a batch.
    pub fn none(batch: &Batch<'a>) -> Self {
        Self {
            batch: batch.clone(),
            blocks: None,
            block: Vec::new(),
            at: 0,
            place: (0, 0),
            left: 0,
            dropped: 0,
        }
    }

    /// How many bytes at its end were no whole block and were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn read(&mut self) -> io::Result<Option<PairResult>> {
        if self.at == self.block.len() {
            let blocks = self.blocks.as_mut().ok_or_else(changed)?;
            read_block(blocks, &mut self.block)?.ok_or_else(changed)?;
            self.at = 0;
        }
        let bytes = &self.block[self.at..];
        let (entry, rest) = postcard::take_from_bytes(bytes).map_err(io::Error::other)?;
        self.at = self.block.len() - rest.len();
        let (mut job, mut pair) = self.place;
        let pairs = |job| self.batch.pair_count(self.batch.task(self.batch.job(job)));
        while job < self.batch.job_count() && pair == pairs(job) {
            (job, pair) = (job + 1, 0);
        }
        if job == self.batch.job_count() {
            return Err(changed());
        }
        self.place = (job, pair + 1);
        let Entry::Made(mut made) = entry else {
            return Ok(None);
        };
        let (id, _) = self.batch.task(self.batch.job(job)).pair_at(pair);
        Ok(Some(PairResult {
            pair: id,
            outcome: made.outcome(),
            output: match made.output {
                Some(cells) => Some(cells.grid().ok_or_else(changed)?.into()),
                None => None,
            },
            score: made.score,
            time: Duration::from_nanos(made.nanoseconds),
        }))
    }
}

/// What was whole a moment ago is not.
fn changed() -> io::Error {
    io::Error::other("the checkpoint was changed while it was read")
}

impl Iterator for Recorded<'_> {
    type Item = io::Result<Option<PairResult>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.read())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Recorded<'_> {}
