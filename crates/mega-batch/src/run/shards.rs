//! Shards: consecutive jobs of a batch. Other processes evaluate them, and one process delivers all results.
//!
//! The delivering process packs the batch once ([`PackedBatch`]) and gives it to the others. Each of them evaluates
//! shards with its own [`Runner`] and returns bytes. The transport is up to the caller:
//! [`Coordinator::run_shards`](crate::Coordinator::run_shards) asks its [`Shards`] for one shard after another, in the
//! order of the batch, and delivers the results to the checkpoint, the attempts and the sink, as a local run would. A
//! shard counts when it is delivered, so it may be evaluated any number of times. A shard that exceeds its time ends
//! early, after some of its jobs; the rest becomes another shard.
//!
//! Results are encoded as in checkpoints.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use arc_tasks::PairId;
use serde::{Deserialize, Serialize};

use crate::batch::options::Options;
use crate::batch::{Batch, Job};
use crate::coordinator::checkpoint::{CheckpointEntry, Recorded};
use crate::results::outcome::{Known, PairResult};
use crate::results::sink::Sink;
use crate::results::summary::{Progress, Summary, Tally};
use crate::run::backend::{Backends, CountsByEvaluator, EvaluatedBy, OnDevice};
use crate::run::delivery::{BatchPosition, Delivery};
use crate::run::runner::Runner;

mod packed;

pub use packed::{PackedBatch, PackedBatchError};

/// Has shards evaluated, and returns their results.
pub trait Shards {
    /// The results of the shard that begins with the job of this index in the batch, as [`PackedBatch::evaluate`]
    /// returned them; `None` if they are not there yet, but no more than some times a second. An error ends the run.
    fn next(&mut self, first: usize) -> io::Result<Option<Vec<u8>>>;

    /// How many threads evaluate, for the [`Summary`].
    fn workers(&self) -> usize {
        1
    }
}

/// The beginning of the results of a shard.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// The indices of its jobs in the batch.
    jobs: Range<u64>,
    /// How many entries follow: the evaluations of the jobs.
    entries: u64,
    /// Its [`Backends`] as documents contain them, and what documents leave out.
    backends: String,
    bail_out_times: BTreeMap<String, Duration>,
    compile_time: Duration,
    merged_calls: (u64, u64),
}

impl Header {
    /// With these counts of evaluations in whole jobs: others were done, and will be done again in another shard.
    fn new(
        jobs: &Range<usize>,
        entries: u64,
        backends: Backends,
        evaluations: CountsByEvaluator,
    ) -> io::Result<Self> {
        let evaluated = |by: EvaluatedBy| evaluations[by as usize];
        let backends = Backends {
            compiled: evaluated(EvaluatedBy::Machine),
            merged: evaluated(EvaluatedBy::Batt),
            reference: evaluated(EvaluatedBy::Reference),
            device: backends.device.map(|device| OnDevice {
                evaluations: evaluated(EvaluatedBy::Device),
                ..device
            }),
            ..backends
        };
        Ok(Self {
            jobs: jobs.start as u64..jobs.end as u64,
            entries,
            backends: serde_json::to_string(&backends)?,
            bail_out_times: backends.bail_out_times,
            compile_time: backends.compile_time,
            merged_calls: backends.merged_calls,
        })
    }

    fn add_to(self, backends: &mut Backends) -> io::Result<()> {
        let from: Backends = serde_json::from_str(&self.backends)?;
        backends.compiled += from.compiled;
        backends.merged += from.merged;
        backends.reference += from.reference;
        add_counts(&mut backends.bail_outs, from.bail_outs);
        for (reason, time) in self.bail_out_times {
            *backends.bail_out_times.entry(reason).or_default() += time;
        }
        backends.programs_compiled += from.programs_compiled;
        let not_compiled = from.programs_not_compiled;
        add_counts(&mut backends.programs_not_compiled, not_compiled);
        if let Some(from) = from.device {
            let to = backends.device.get_or_insert_with(OnDevice::default);
            to.name = from.name;
            to.evaluations += from.evaluations;
            add_counts(&mut to.bail_outs, from.bail_outs);
            to.programs += from.programs;
            add_counts(&mut to.programs_host_only, from.programs_host_only);
            to.launches_halved += from.launches_halved;
            to.failure = from.failure.or(to.failure.take());
        }
        backends.no_device = from.no_device.or(backends.no_device.take());
        backends.compile_time += self.compile_time;
        backends.merged_calls.0 += self.merged_calls.0;
        backends.merged_calls.1 += self.merged_calls.1;
        Ok(())
    }
}

fn add_counts(to: &mut BTreeMap<String, u64>, from: BTreeMap<String, u64>) {
    for (reason, count) in from {
        *to.entry(reason).or_default() += count;
    }
}

/// The results of a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardResults {
    /// The results, for [`Shards`].
    pub bytes: Vec<u8>,
    /// The jobs that were evaluated; fewer than requested if time ran out.
    pub jobs: Range<usize>,
    /// The number of their evaluations.
    pub evaluations: u64,
}

/// Encodes the results of a shard, up to the first that is missing.
#[derive(Debug)]
struct ShardWriter<'b> {
    batch: &'b Batch<'b>,
    place: BatchPosition,
    has_gap: bool,
    entries: Vec<u8>,
    all: Written,
    /// The part that consists of whole jobs.
    whole: Written,
}

/// How much was written.
#[derive(Debug, Default, Clone, Copy)]
struct Written {
    jobs: usize,
    bytes: usize,
    count: u64,
    by: CountsByEvaluator,
}

impl<'b> ShardWriter<'b> {
    fn new(batch: &'b Batch<'b>) -> Self {
        Self {
            batch,
            place: BatchPosition::default(),
            has_gap: false,
            entries: Vec::new(),
            all: Written::default(),
            whole: Written::default(),
        }
    }

    fn add(&mut self, job: Job, result: Option<&PairResult>) -> io::Result<()> {
        let next = self.place.next_is(self.batch, job, result);
        let Some((at, pair)) = next.filter(|_| !self.has_gap) else {
            self.has_gap = true;
            return Ok(());
        };
        let entries = std::mem::take(&mut self.entries);
        self.entries =
            postcard::to_extend(&CheckpointEntry::of(result), entries).map_err(io::Error::other)?;
        self.all.bytes = self.entries.len();
        self.all.count += 1;
        if let Some(by) = result.and_then(|result| result.evaluated_by) {
            self.all.by[by as usize] += 1;
        }
        if pair + 1 == self.batch.pairs_of(job) {
            self.all.jobs = at + 1;
            self.whole = self.all;
        }
        Ok(())
    }
}

impl Sink for ShardWriter<'_> {
    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()> {
        self.add(job, Some(&result))
    }

    fn skipped(&mut self, job: Job) -> io::Result<()> {
        self.add(job, None)
    }
}

/// Evaluates as many jobs of a batch as this time allows, but at least one, and returns the results as bytes. `first`
/// is the index of its first job in the larger batch.
fn evaluate(
    batch: &Batch<'_>,
    first: usize,
    runner: &mut Runner,
    time: Option<Duration>,
) -> io::Result<ShardResults> {
    runner.set_time_limit(time);
    let mut writer = ShardWriter::new(batch);
    let summary = runner.run_into(batch, &mut writer);
    runner.set_time_limit(None);
    let (summary, mut whole) = (summary?, writer.whole);
    if summary.is_complete() {
        // Jobs without pairs may follow the last result.
        whole.jobs = batch.job_count();
    } else if whole.jobs == 0 {
        let job = batch.jobs().take(1).collect();
        let (programs, tasks) = (batch.programs(), batch.tasks());
        let one = Batch::of(programs, tasks, Some(job), batch.is_train_only());
        return match time {
            Some(_) => evaluate(&one, first, runner, None),
            None => Err(io::Error::other("the shard was stopped before its end")),
        };
    }
    let jobs = first..first + whole.jobs;
    let header = Header::new(&jobs, whole.count, summary.backends, whole.by)?;
    let mut bytes = postcard::to_allocvec(&header).map_err(io::Error::other)?;
    bytes.extend_from_slice(&writer.entries[..whole.bytes]);
    Ok(ShardResults {
        bytes,
        jobs,
        evaluations: whole.count,
    })
}

/// Decodes the results of a shard.
#[derive(Debug, Default)]
struct Reader {
    bytes: Vec<u8>,
    at: usize,
    left: u64,
}

impl Reader {
    /// Decodes the header of a shard that must begin with this job.
    fn new(bytes: Vec<u8>, first: usize, batch: &Batch<'_>) -> io::Result<(Self, Header)> {
        let (header, rest) = postcard::take_from_bytes::<Header>(&bytes)
            .map_err(|_| damaged(first, "no header can be read"))?;
        let jobs = &header.jobs;
        let in_batch = jobs.start == first as u64
            && jobs.start < jobs.end
            && jobs.end <= batch.job_count() as u64;
        if !in_batch {
            let found = format!("found jobs {} to {}", jobs.start, jobs.end);
            return Err(damaged(first, &found));
        }
        let evaluations =
            (jobs.start..jobs.end).map(|at| batch.pairs_of(batch.job(at as usize)) as u64);
        if header.entries != evaluations.sum::<u64>() {
            let found = format!("found {} results", header.entries);
            return Err(damaged(first, &found));
        }
        let at = bytes.len() - rest.len();
        let left = header.entries;
        Ok((Self { bytes, at, left }, header))
    }

    /// The next entry; `None` if all are read.
    fn entry(&mut self) -> Option<Result<CheckpointEntry, postcard::Error>> {
        self.left = self.left.checked_sub(1)?;
        let read = postcard::take_from_bytes(&self.bytes[self.at..]);
        Some(read.map(|(entry, rest)| {
            self.at = self.bytes.len() - rest.len();
            entry
        }))
    }
}

fn damaged(first: usize, what: &str) -> io::Error {
    let message =
        format!("the results of the shard from job {first} on are not what was evaluated: {what}");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Reads the results in a checkpoint, then those of one shard after another.
struct ResultSource<'s, 'a, H> {
    batch: &'s Batch<'a>,
    options: &'s Options,
    recorded: Recorded<'a>,
    shards: &'s mut H,
    reader: Reader,
    /// The first job of the next shard.
    first: usize,
    /// How many results of the next shard the checkpoint already contains.
    known: usize,
    done: u64,
    deadline: Option<Instant>,
    backends: Backends,
}

impl<H: Shards> ResultSource<'_, '_, H> {
    fn has_ended(&self) -> bool {
        self.options.cancellation.is_cancelled()
            || self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    fn progress(&self) -> Progress {
        Progress {
            done: self.done,
            total: self.batch.evaluations(),
            on_devices: self.backends.device.as_ref().map_or(0, |it| it.evaluations),
        }
    }

    fn read(&mut self, pair: PairId) -> io::Result<Option<Known>> {
        while let Some(entry) = self.reader.entry() {
            let entry = entry.map_err(|_| damaged(self.first, "a result cannot be read"))?;
            // The checkpoint ends within the first job.
            if self.known > 0 {
                self.known -= 1;
                continue;
            }
            self.done += 1;
            return Ok(Some(entry.result(pair)));
        }
        Ok(None)
    }

    /// The result of this pair of this job, which is the next one; `None` if there are no more.
    fn next(&mut self, at: usize, pair: usize, sink: &mut impl Sink) -> io::Result<Option<Known>> {
        if let Some(recorded) = self.recorded.next() {
            self.done += 1;
            return recorded.map(Some);
        }
        let (id, _) = self.batch.task(self.batch.job(at)).pair_at(pair);
        loop {
            if let Some(known) = self.read(id)? {
                return Ok(Some(known));
            }
            sink.progress(self.progress());
            if self.has_ended() {
                return Ok(None);
            }
            if let Some(bytes) = self.shards.next(self.first)? {
                let (reader, header) = Reader::new(bytes, self.first, self.batch)?;
                self.reader = reader;
                self.first = header.jobs.end as usize;
                header.add_to(&mut self.backends)?;
            }
        }
    }
}

/// Delivers a batch: first these recorded results, then those of shards.
pub(crate) fn run<'a, S: Sink>(
    batch: &Batch<'a>,
    options: &Options,
    recorded: Recorded<'a>,
    shards: &mut impl Shards,
    sink: &mut S,
) -> io::Result<Summary> {
    let began = Instant::now();
    let (first, known) = batch.evaluation(recorded.len() as u64);
    let time_limit = options.time_limit;
    let mut source = ResultSource {
        batch,
        options,
        recorded,
        shards,
        reader: Reader::default(),
        first,
        known,
        done: 0,
        deadline: time_limit.and_then(|time| began.checked_add(time)),
        backends: Backends {
            backend: options.backend,
            ..Backends::default()
        },
    };
    let tally = Tally::new(batch);
    let mut delivery = Delivery::new(batch, options.stop_after_wrong, &tally, sink);
    while let Some((at, pair)) = delivery.next()? {
        let Some(known) = source.next(at, pair, delivery.sink())? else {
            break;
        };
        delivery.deliver(&mut [known], false)?;
    }
    let (counts, sink) = delivery.finish();
    sink.progress(source.progress());
    let workers = source.shards.workers();
    let mut summary = tally.finish(options.mode, workers, counts, began.elapsed());
    summary.backends = source.backends;
    Ok(summary)
}

#[cfg(test)]
mod tests;
