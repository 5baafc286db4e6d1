use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_dsl::Program;
use arc_tasks::{Task, builtin};
use proptest::prelude::*;

use super::*;
use crate::batch::options::Backend;
use crate::batch::options::{Merging, Mode};
use crate::coordinator::block_log::{Blocks, CheckpointError};
use crate::results::json::JsonReport;
use crate::results::outcome::Outcome;
use crate::run::cancellation::Cancellation;

/// Some programs on some tasks, most of them wrong there.
fn inputs() -> (Vec<Program>, Vec<Task>) {
    let all = builtin::all().iter().step_by(9).take(8);
    let programs = all.clone().map(|it| it.program().clone()).collect();
    let tasks = all.map(|it| it.task(1, 2, 1, 12)).collect();
    (programs, tasks)
}

fn resume(file: &Path, identity: &Identity) -> Result<(BlockLog, Blocks), CheckpointError> {
    BlockLog::resume(file, identity, usize::MAX)
}

fn with(mode: Mode, backend: Backend) -> Options {
    Options {
        mode,
        backend,
        workers: std::num::NonZeroUsize::new(2),
        ..Options::default()
    }
}

/// Records what it receives, and cancels the batch at one of the results.
struct Notes {
    text: Vec<String>,
    notices: Vec<String>,
    cancels: Option<(u64, Cancellation)>,
    seen: AtomicU64,
}

impl Notes {
    fn new(cancels: Option<(u64, Cancellation)>) -> Self {
        Self {
            text: Vec::new(),
            notices: Vec::new(),
            cancels,
            seen: AtomicU64::new(0),
        }
    }
}

impl Sink for Notes {
    fn job(&mut self, job: Job) -> io::Result<()> {
        self.text.push(format!("{job:?}"));
        Ok(())
    }

    fn pair(&mut self, _: Job, result: PairResult) -> io::Result<()> {
        let PairResult {
            pair,
            outcome,
            output,
            score,
            ..
        } = result;
        self.text
            .push(format!("{pair} {outcome:?} {output:?} {score:?}"));
        let seen = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some((at, cancellation)) = &self.cancels
            && seen == *at
        {
            cancellation.cancel();
        }
        Ok(())
    }

    fn notice(&mut self, notice: Notice) {
        self.notices.push(format!("{notice:?}"));
    }
}

#[test]
fn a_resumed_run_gives_what_one_run_gives() {
    let (programs, tasks) = inputs();
    let batch = Batch::all_pairs(&programs, &tasks);
    let folder = tempfile::tempdir().unwrap();
    let mut number = 0;
    let kinds = [
        with(Mode::Sequential, Backend::Auto),
        with(Mode::Parallel, Backend::Auto),
        with(Mode::Auto, Backend::Auto),
        with(Mode::Gpu, Backend::Emulated),
        Options {
            merging: Merging::Always,
            ..with(Mode::Parallel, Backend::Auto)
        },
    ];
    for (stop_after_wrong, keep_outputs) in [(false, true), (true, false)] {
        let options = |kind: &Options| Options {
            keep_outputs,
            stop_after_wrong,
            ..kind.clone()
        };
        let mut whole = Notes::new(None);
        let expected = Coordinator::new(&batch, &options(&kinds[0])).attempts();
        let expected = expected.run(&mut whole).unwrap();
        let expected_attempts = Submission::of(expected.attempts.as_ref().unwrap());
        for (first, second) in kinds.iter().zip(kinds.iter().cycle().skip(1)) {
            for end in [1, 17, 60] {
                number += 1;
                let file = folder.path().join(format!("{number}.checkpoint"));
                let submission = folder.path().join("submission.json");
                let cancellation = Cancellation::default();
                let mut cut = Notes::new(Some((end, cancellation.clone())));
                let first = Options {
                    cancellation,
                    ..options(first)
                };
                let run = Coordinator::new(&batch, &first)
                    .checkpoint(&file)
                    .attempts();
                run.run(&mut cut).unwrap();

                let mut resumed = Notes::new(None);
                let run = Coordinator::new(&batch, &options(second))
                    .resume(&file)
                    .submission(&submission);
                let finished = run.run(&mut resumed).unwrap();
                let notice = format!("{:?}", resumed.notices);
                assert!(notice.contains("Resumed"), "{notice}");
                assert_eq!(resumed.text, whole.text);
                let totals = (finished.summary.totals, finished.summary.skipped);
                assert_eq!(totals, (expected.summary.totals, expected.summary.skipped));
                assert_eq!(finished.summary.by_task, expected.summary.by_task);
                assert_eq!(Submission::read(&submission).unwrap(), expected_attempts);
                // Nothing is left to be done, and the report is the same.
                let mut again = Notes::new(None);
                let run = Coordinator::new(&batch, &options(second)).resume(&file);
                run.attempts().run(&mut again).unwrap();
                assert_eq!(again.text, whole.text);
            }
        }
    }
}

#[test]
fn what_follows_a_gap_is_made_again() {
    let (programs, tasks) = inputs();
    let batch = Batch::all_pairs(&programs, &tasks);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.checkpoint");
    let identity = Identity::of(&batch, &Options::default());
    let log = BlockLog::create(&file, &identity).unwrap();
    let mut sink = CoordinatingSink {
        sink: &mut (),
        keeps_outputs: false,
        batch: batch.clone(),
        keeper: Keeper::new(Some((file.clone(), log)), None).unwrap(),
        before: 0,
        place: BatchPosition::default(),
        has_gap: false,
        attempts: None,
    };
    let report = crate::run(&batch, &Options::default()).unwrap();
    let results = report.results.iter();
    let results = results.flat_map(|job| job.pairs.iter().map(|pair| (job.job, pair)));
    for (at, (job, result)) in results.enumerate() {
        if at != 40 {
            sink.record(job, Some(result));
        }
    }
    assert!(sink.finish().is_none());
    let (_, blocks) = resume(&file, &identity).unwrap();
    assert_eq!(blocks.left(), 40);
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let (programs, tasks) = inputs();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.checkpoint");
    let batch = Batch::all_pairs(&programs, &tasks);
    let options = Options::default();
    let run = |batch: &Batch<'_>, options: &Options| {
        let run = Coordinator::new(batch, options).resume(&file);
        run.run(&mut ())
            .map(drop)
            .map_err(|error| error.to_string())
    };
    run(&batch, &options).unwrap();
    // The entries of an earlier version would be mixed with those of this one.
    let whole = fs::read(&file).unwrap();
    let line = whole.iter().position(|byte| *byte == b'\n').unwrap();
    let header = String::from_utf8(whole[..line].to_vec()).unwrap();
    let earlier = header.replace(&format!("\"{}\"", crate::VERSION), "\"0.0.9\"");
    fs::write(&file, [earlier.as_bytes(), &whole[line..]].concat()).unwrap();
    let error = run(&batch, &options).unwrap_err();
    assert!(
        error.contains("found one of version 0.0.9 of the engine"),
        "{error}"
    );
    assert!(error.contains("remove it to begin anew"), "{error}");
    fs::write(&file, whole).unwrap();

    let again = Coordinator::new(&batch, &options).checkpoint(&file);
    let error = again.run(&mut ()).unwrap_err().to_string();
    assert!(error.contains("there is a checkpoint already"), "{error}");

    let mut others = tasks.clone();
    others[3].test[0].output = None;
    let stops = Options {
        stop_after_wrong: true,
        ..options.clone()
    };
    let own = Batch::own_tasks(&programs, &tasks);
    for (batch, options, found) in [
        (
            &Batch::all_pairs(&programs[1..], &tasks),
            &options,
            "other programs",
        ),
        (
            &Batch::all_pairs(&programs, &others),
            &options,
            "other tasks",
        ),
        (&own, &options, "other programs on other tasks"),
        (
            &batch.clone().train_only(),
            &options,
            "other programs on other tasks",
        ),
        (
            &batch,
            &stops,
            "other options: stop_after_wrong false, here true",
        ),
    ] {
        let error = run(batch, options).unwrap_err();
        assert!(error.ends_with(&format!("found {found}")), "{error}");
    }
    // Results do not depend on mode, workers and backend.
    run(&batch, &with(Mode::Sequential, Backend::Reference)).unwrap();
    fs::write(&file, "{}\n").unwrap();
    let error = run(&batch, &options).unwrap_err();
    assert!(error.contains("no checkpoint"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}\n");
}

#[test]
#[cfg(unix)]
fn what_a_run_writes_goes_through_links_to_files_that_keep_their_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (programs, tasks) = inputs();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["checkpoint", "submission"] {
        symlink(format!("{name}.file"), at(name)).unwrap();
    }
    fs::write(at("submission.file"), "{}").unwrap();
    fs::write(at("checkpoint.file"), "").unwrap();
    let private = fs::Permissions::from_mode(0o600);
    for name in ["checkpoint.file", "submission.file"] {
        fs::set_permissions(at(name), private.clone()).unwrap();
    }
    let batch = Batch::all_pairs(&programs, &tasks);
    Coordinator::new(&batch, &Options::default())
        .checkpoint(at("checkpoint"))
        .submission(at("submission"))
        .run(&mut ())
        .unwrap();
    for name in ["checkpoint", "submission"] {
        assert!(at(name).is_symlink());
        let written = fs::metadata(at(&format!("{name}.file"))).unwrap();
        assert_eq!(written.permissions().mode() & 0o777, 0o600, "{name}");
        assert!(written.len() > 2, "{name}");
    }
}

#[test]
fn two_runs_do_not_share_a_checkpoint() {
    let (programs, tasks) = inputs();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.checkpoint");
    let batch = Batch::all_pairs(&programs, &tasks);
    let identity = Identity::of(&batch, &Options::default());
    let first = BlockLog::create(&file, &identity).unwrap();
    for error in [
        BlockLog::create(&file, &identity).unwrap_err(),
        resume(&file, &identity).map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, CheckpointError::InUse(_)), "{error}");
    }
    drop(first);
    resume(&file, &identity).unwrap();
}

#[test]
fn a_checkpoint_that_is_damaged_before_its_end_is_refused_and_left_as_it_is() {
    let (programs, tasks) = inputs();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.checkpoint");
    let batch = Batch::all_pairs(&programs, &tasks);
    let options = Options::default();
    let identity = Identity::of(&batch, &options);
    let report = crate::run(&batch, &options).unwrap();
    let results: Vec<_> = report.results.iter().flat_map(|job| &job.pairs).collect();
    let mut checkpoint = BlockLog::create(&file, &identity).unwrap();
    let mut ends = vec![fs::metadata(&file).unwrap().len()];
    for block in results.chunks(results.len().div_ceil(3)) {
        for result in block {
            checkpoint
                .push(&CheckpointEntry::of(Some(*result)))
                .unwrap();
        }
        checkpoint.write().unwrap();
        ends.push(fs::metadata(&file).unwrap().len());
    }
    drop(checkpoint);
    let whole = fs::read(&file).unwrap();
    // The length, the number, the check and the entries of the second block.
    for place in [0, 4, 8, 20] {
        let mut bytes = whole.clone();
        bytes[ends[1] as usize + place] ^= 0x40;
        fs::write(&file, &bytes).unwrap();
        let error = resume(&file, &identity).map(drop).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("damaged at byte {}", ends[1])),
            "{error}"
        );
        assert_eq!(fs::read(&file).unwrap(), bytes);
        // Truncate as the message suggests.
        bytes.truncate(ends[1] as usize);
        fs::write(&file, &bytes).unwrap();
        let (_, blocks) = resume(&file, &identity).unwrap();
        assert_eq!(blocks.dropped(), 0);
    }
    // Damage at the end looks like an interrupted write.
    let mut bytes = whole;
    bytes[ends[2] as usize + 20] ^= 0x40;
    fs::write(&file, &bytes).unwrap();
    let (_, blocks) = resume(&file, &identity).unwrap();
    assert!(blocks.dropped() > 0);
}

/// The text of a document without times and executors.
fn document(batch: &Batch<'_>, coordinator: Coordinator<'_>) -> String {
    let mut json = JsonReport::new(batch);
    let finished = coordinator.run(&mut json).unwrap();
    let mut text = Vec::new();
    json.write(&finished.summary, &[], &mut text).unwrap();
    let mut json: serde_json::Value = serde_json::from_slice(&text).unwrap();
    for member in [
        "mode",
        "workers",
        "seconds",
        "compile_seconds",
        "evaluation_seconds",
        "evaluations_per_second",
        "backend",
    ] {
        json.as_object_mut().unwrap().remove(member).unwrap();
    }
    json.to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A checkpoint may be cut anywhere, and any byte may be wrong: if complete blocks follow the damage, it is
    /// rejected and left unchanged.
    #[test]
    fn whatever_is_left_of_a_checkpoint_the_report_is_the_same(
        cut in 0.0..1.0_f64,
        wrong in prop::option::of(0.0..1.0_f64),
    ) {
        let (programs, tasks) = inputs();
        let batch = Batch::all_pairs(&programs, &tasks);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.checkpoint");
        let options = Options::default();
        let identity = Identity::of(&batch, &options);
        let mut checkpoint = BlockLog::create(&file, &identity).unwrap();
        let header = fs::metadata(&file).unwrap().len();
        let report = crate::run(&batch, &options).unwrap();
        // Blocks of seven results.
        for (at, result) in report.results.iter().flat_map(|job| &job.pairs).enumerate() {
            checkpoint.push(&CheckpointEntry::of(Some(result))).unwrap();
            if at % 7 == 6 {
                checkpoint.write().unwrap();
            }
        }
        checkpoint.finish().unwrap();
        let mut bytes = fs::read(&file).unwrap();
        bytes.truncate((cut * bytes.len() as f64) as usize);
        if let Some(at) = wrong {
            let blocks = (bytes.len() as u64).saturating_sub(header);
            let at = (header + (at * blocks as f64) as u64) as usize;
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 0x40;
            }
        }
        fs::write(&file, &bytes).unwrap();
        if let Err(error) = resume(&file, &identity) {
            let is_damaged = matches!(error, CheckpointError::Damaged { at, .. } if at < bytes.len() as u64);
            prop_assert!(wrong.is_some() && is_damaged, "{error}");
            prop_assert_eq!(fs::read(&file).unwrap(), bytes);
            return Ok(());
        }
        let expected = document(&batch, Coordinator::new(&batch, &options));
        let resumed = document(&batch, Coordinator::new(&batch, &options).resume(&file));
        prop_assert_eq!(resumed, expected);
    }
}

#[test]
fn outcomes_of_every_kind_come_back() {
    let (programs, tasks) = inputs();
    let batch = Batch::all_pairs(&programs[..1], &tasks[..1]);
    let options = Options::default();
    let identity = Identity::of(&batch, &options);
    let error = arc_dsl::EvalError {
        line: 7,
        primitive: Some(arc_dsl::Primitive::Hmirror),
        kind: arc_dsl::ErrorKind::Limit(arc_dsl::Limit::Memory),
    };
    let outcomes = [
        Outcome::Match,
        Outcome::Mismatch,
        Outcome::NoExpected,
        Outcome::Limit(error.into()),
        Outcome::Internal("a message".into()),
    ];
    for outcomes in outcomes.windows(3) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.checkpoint");
        let mut checkpoint = BlockLog::create(&file, &identity).unwrap();
        let pushed = outcomes.iter().zip(tasks[0].pairs());
        let pushed = pushed.map(|(outcome, (pair, _))| PairResult {
            pair,
            outcome: outcome.clone(),
            output: Some(arc_dsl::Grid::filled(2, 3, -1).into()),
            score: Some(crate::Score {
                digest: u128::MAX / 3,
                cells_right: 3,
            }),
            time: std::time::Duration::from_nanos(1_234_567),
            evaluated_by: None,
        });
        let pushed: Vec<_> = pushed.collect();
        for result in &pushed {
            checkpoint.push(&CheckpointEntry::of(Some(result))).unwrap();
        }
        checkpoint.finish().unwrap();
        let (_, blocks) = resume(&file, &identity).unwrap();
        let read: Vec<_> = Recorded::new(&batch, blocks)
            .map(|it| it.unwrap().unwrap())
            .collect();
        assert_eq!(format!("{read:?}"), format!("{pushed:?}"));
    }
}
