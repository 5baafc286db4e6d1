use std::collections::HashMap;
use std::num::NonZeroUsize;

use arc_dsl::Program;
use arc_tasks::{Task, builtin};
use arc_text::parse_programs;
use proptest::prelude::*;

use super::*;
use crate::batch::options::Mode;
use crate::coordinator::keeper::CoordinatorError;
use crate::coordinator::{Coordinator, Finished};
use crate::results::submission::Submission;
use crate::run::cancellation::Cancellation;

/// Some programs on some tasks: right, wrong, failing far from their first line, and of both dialects.
fn inputs() -> (Vec<Program>, Vec<Task>) {
    let all = builtin::all().iter().step_by(9).take(6);
    let mut programs: Vec<_> = all.clone().map(|it| it.program().clone()).collect();
    let text = "
def solve_x(I):

    # A line that is no step.
    x1 = palette(I)
    x2 = argmax(x1, first)
    return x2


def solve_y(S, I, C):
    t1 = hmirror_t(I)
    return t1
";
    programs.extend(parse_programs(text).into_iter().map(Result::unwrap));
    let mut tasks: Vec<_> = all.map(|it| it.task(1, 3, 1, 12)).collect();
    for (task, pairs) in tasks.iter_mut().zip([3, 1, 0, 2, 3]) {
        task.train.truncate(pairs);
    }
    tasks[1].test.clear();
    tasks[2].test.clear();
    (programs, tasks)
}

/// Records what it receives without times, and cancels the run at one of the results.
#[derive(Debug, Default)]
struct Notes {
    text: Vec<String>,
    cancels: Option<(usize, Cancellation)>,
}

impl Sink for Notes {
    fn job(&mut self, job: Job) -> io::Result<()> {
        self.text.push(format!("{job:?}"));
        Ok(())
    }

    fn pair(&mut self, _: Job, result: PairResult) -> io::Result<()> {
        let result = PairResult {
            time: Duration::ZERO,
            evaluated_by: None,
            ..result
        };
        self.text.push(format!("{result:?}"));
        if let Some((at, cancellation)) = &self.cancels
            && self.text.len() >= *at
        {
            cancellation.cancel();
        }
        Ok(())
    }

    fn skipped(&mut self, job: Job) -> io::Result<()> {
        self.text.push(format!("{job:?} is left out"));
        Ok(())
    }
}

/// Evaluates shards of these sizes, a few ahead, the later ones first.
struct Elsewhere<'a> {
    batch: &'a Batch<'a>,
    packed: PackedBatch,
    runner: Runner,
    sizes: Vec<u64>,
    made: HashMap<usize, Vec<u8>>,
    asked: usize,
    /// How long shards may take.
    time: Option<Duration>,
}

impl<'a> Elsewhere<'a> {
    fn new(batch: &'a Batch<'a>, options: &Options, sizes: &[u64]) -> Self {
        let bytes = PackedBatch::of(batch).unwrap().to_bytes();
        Self {
            batch,
            packed: PackedBatch::from_bytes(&bytes).unwrap(),
            runner: Runner::new(options).unwrap(),
            sizes: sizes.to_vec(),
            made: HashMap::new(),
            asked: 0,
            time: None,
        }
    }
}

impl Shards for Elsewhere<'_> {
    fn next(&mut self, first: usize) -> io::Result<Option<Vec<u8>>> {
        self.asked += 1;
        if self.asked.is_multiple_of(3) {
            return Ok(None);
        }
        if !self.made.contains_key(&first) {
            let mut begin = first;
            let mut shards = Vec::new();
            for at in 0..3 {
                if begin < self.batch.job_count() {
                    let size = self.sizes[(self.asked + at) % self.sizes.len()];
                    let (end, evaluations) = self.packed.shard(begin, size);
                    assert!(evaluations >= size || end == self.batch.job_count());
                    shards.push(begin..end);
                    begin = end;
                }
            }
            for jobs in shards.into_iter().rev() {
                let results = self
                    .packed
                    .evaluate(jobs.clone(), &mut self.runner, self.time)?;
                assert!(jobs.start < results.jobs.end && results.jobs.end <= jobs.end);
                self.made.insert(jobs.start, results.bytes);
            }
        }
        Ok(self.made.remove(&first))
    }

    fn workers(&self) -> usize {
        7
    }
}

fn jobs_of<'a>(programs: &'a [Program], tasks: &'a [Task], kind: usize) -> Batch<'a> {
    match kind {
        0 => Batch::all_pairs(programs, tasks),
        1 => Batch::all_pairs(programs, tasks).train_only(),
        2 => Batch::own_tasks(programs, tasks),
        _ => {
            let job = |at: u32| Job {
                program: at * 5 % programs.len() as u32,
                task: at * 3 % tasks.len() as u32,
            };
            Batch::listed(programs, tasks, (0..23).map(job).collect()).unwrap()
        }
    }
}

fn options(flags: [bool; 3]) -> Options {
    let [scores, keep_outputs, stop_after_wrong] = flags;
    Options {
        mode: Mode::Parallel,
        workers: NonZeroUsize::new(2),
        scores,
        keep_outputs,
        stop_after_wrong,
        ..Options::default()
    }
}

/// The results of a run without times and executors.
fn told(finished: &Finished<'_>) -> String {
    let summary = &finished.summary;
    let programs = summary
        .by_program
        .iter()
        .map(|it| (it.evaluations, it.failures));
    let submission = finished.attempts.as_ref().map(|attempts| {
        let mut text = Vec::new();
        Submission::of(attempts).write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    });
    format!(
        "{:?} {} {} {} {} {} {:?} {:?} {:?} {submission:?}",
        summary.totals,
        summary.planned,
        summary.skipped,
        summary.tasks_solved,
        summary.pairs_right,
        summary.pairs_expected,
        programs.collect::<Vec<_>>(),
        summary.by_task,
        summary.failures,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn shards_give_what_one_run_gives_wherever_it_was_cut_and_resumed(
        kind in 0..4usize,
        flags: [bool; 3],
        sizes in prop::collection::vec(1..40u64, 1..5),
        cut in 1..120usize,
        shards_first: bool,
        microseconds in prop::option::of(0..400u64),
    ) {
        let (programs, tasks) = inputs();
        let batch = jobs_of(&programs, &tasks, kind);
        let options = options(flags);
        let mut expected = Notes::default();
        let whole = Coordinator::new(&batch, &options).run(&mut expected).unwrap();
        prop_assert!(!expected.text.is_empty());

        let mut found = Notes::default();
        let mut elsewhere = Elsewhere::new(&batch, &options, &sizes);
        elsewhere.time = microseconds.map(Duration::from_micros);
        let sharded = Coordinator::new(&batch, &options);
        let sharded = sharded.run_shards(&mut elsewhere, &mut found).unwrap();
        prop_assert_eq!(&found.text, &expected.text);
        prop_assert_eq!(told(&sharded), told(&whole));
        prop_assert_eq!(sharded.summary.workers, 7);
        // Some are evaluated in a shard that ends early, and again in the next one.
        let made = &sharded.summary.backends;
        prop_assert_eq!(
            made.compiled + made.merged + made.reference,
            sharded.summary.totals.evaluations
        );

        // One process evaluates the first part, another the rest.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.checkpoint");
        let cancellation = Cancellation::default();
        let cancelled = Options { cancellation: cancellation.clone(), ..options.clone() };
        let mut notes = Notes { cancels: Some((cut, cancellation)), ..Notes::default() };
        let first = Coordinator::new(&batch, &cancelled).checkpoint(&path);
        let mut elsewhere = Elsewhere::new(&batch, &options, &sizes);
        if shards_first {
            first.run_shards(&mut elsewhere, &mut notes).unwrap();
        } else {
            first.run(&mut notes).unwrap();
        }
        let mut found = Notes::default();
        let rest = Coordinator::new(&batch, &options).resume(&path);
        let resumed = if shards_first {
            rest.run(&mut found).unwrap()
        } else {
            rest.run_shards(&mut elsewhere, &mut found).unwrap()
        };
        prop_assert_eq!(&found.text, &expected.text);
        prop_assert_eq!(told(&resumed), told(&whole));
    }

    #[test]
    fn bytes_that_are_no_results_are_an_error(
        at in any::<prop::sample::Index>(),
        byte: u8,
        cut in any::<prop::sample::Index>(),
    ) {
        let (programs, tasks) = inputs();
        let batch = Batch::all_pairs(&programs, &tasks);
        let options = options([true, true, false]);
        let mut packed = PackedBatch::of(&batch).unwrap();
        let mut runner = Runner::new(&options).unwrap();
        let mut bytes = packed.evaluate(0..batch.job_count(), &mut runner, None).unwrap().bytes;
        let place = at.index(bytes.len());
        bytes[place] = byte;
        // Whatever it reads, it terminates.
        let _ = Coordinator::new(&batch, &options).run_shards(&mut Given(bytes.clone()), &mut ());
        bytes[place] = 0;
        bytes.truncate(cut.index(bytes.len()));
        let run = Coordinator::new(&batch, &options).run_shards(&mut Given(bytes), &mut ());
        prop_assert!(matches!(run, Err(CoordinatorError::Run(_))));

        let mut bytes = packed.to_bytes();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        if let Ok(read) = PackedBatch::from_bytes(&bytes) {
            packed = read;
            let jobs = packed.job_count();
            let _ = packed.evaluate(0..jobs, &mut runner, None);
        }
    }
}

/// Returns the same bytes for every request.
struct Given(Vec<u8>);

impl Shards for Given {
    fn next(&mut self, _: usize) -> io::Result<Option<Vec<u8>>> {
        Ok(Some(self.0.clone()))
    }
}

#[test]
fn another_shard_than_that_which_was_asked_for_is_an_error() {
    let (programs, tasks) = inputs();
    let batch = Batch::all_pairs(&programs, &tasks);
    let options = Options::default();
    let packed = PackedBatch::of(&batch).unwrap();
    let mut runner = Runner::new(&options).unwrap();
    let bytes = packed.evaluate(1..3, &mut runner, None).unwrap().bytes;
    let run = Coordinator::new(&batch, &options).run_shards(&mut Given(bytes), &mut ());
    assert_eq!(
        run.unwrap_err().to_string(),
        "the results of the shard from job 0 on are not what was evaluated: found jobs 1 to 3"
    );
    let refused = packed.evaluate(3..3, &mut runner, None);
    assert!(refused.unwrap_err().to_string().starts_with("jobs 3 to 3"));
}

#[test]
fn evaluations_of_whole_jobs_are_counted_by_executor() {
    let (programs, tasks) = inputs();
    let batch = Batch::all_pairs(&programs, &tasks[..1]);
    let pairs: Vec<_> = tasks[0].pairs().map(|(id, _)| id).collect();
    assert!(pairs.len() > 1);
    let evaluators = [
        Some(EvaluatedBy::Machine),
        Some(EvaluatedBy::Batt),
        Some(EvaluatedBy::Reference),
        Some(EvaluatedBy::Device),
    ];
    let mut writer = ShardWriter::new(&batch);
    let jobs: Vec<_> = batch.jobs().take(evaluators.len() + 1).collect();
    for (&job, evaluated_by) in jobs.iter().zip(evaluators) {
        for &pair in &pairs {
            writer.add(job, Some(&result(pair, evaluated_by))).unwrap();
        }
    }
    let last = jobs[evaluators.len()];
    let of_part = result(pairs[0], Some(EvaluatedBy::Machine));
    writer.add(last, Some(&of_part)).unwrap();
    assert_eq!(
        writer.all.by[EvaluatedBy::Machine as usize],
        pairs.len() as u64 + 1
    );
    let header = Header::new(&(0..1), 0, Backends::default(), writer.whole.by).unwrap();
    let mut counts = Backends::default();
    header.add_to(&mut counts).unwrap();
    let all = pairs.len() as u64;
    assert_eq!(
        (counts.compiled, counts.merged, counts.reference),
        (all, all, all)
    );
    assert_eq!(writer.whole.by[EvaluatedBy::Device as usize], all);
}

fn result(pair: PairId, evaluated_by: Option<EvaluatedBy>) -> PairResult {
    PairResult {
        pair,
        outcome: crate::results::outcome::Outcome::NoExpected,
        output: None,
        score: None,
        time: Duration::ZERO,
        evaluated_by,
    }
}

#[test]
fn another_version_is_refused() {
    let (programs, tasks) = inputs();
    let bytes = PackedBatch::of(&Batch::all_pairs(&programs, &tasks))
        .unwrap()
        .to_bytes();
    let (_, contents) = postcard::take_from_bytes::<(&str, &str)>(&bytes).unwrap();
    let mut other = postcard::to_allocvec(&("mega-batch packed batch", "0.0.0")).unwrap();
    other.extend(contents);
    let error = PackedBatch::from_bytes(&other).unwrap_err().to_string();
    assert!(
        error.starts_with("the batch was packed by version 0.0.0"),
        "{error}"
    );
    let error = PackedBatch::from_bytes(b"{}").unwrap_err();
    assert!(matches!(error, PackedBatchError::Bytes));
}
