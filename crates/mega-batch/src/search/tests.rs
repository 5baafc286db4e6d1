use std::fs;

use arc_dsl::{Grid, Interpreter, Value};
use arc_tasks::{Pair, builtin};
use arc_text::parse_programs;

use super::workers::{Threads, Worker};
use super::*;

/// Tasks of built-in programs.
fn tasks() -> Vec<Task> {
    let all = builtin::all().iter().step_by(7).take(6);
    all.map(|it| it.task(1, 3, 1, 12.max(it.min_side())))
        .collect()
}

fn options(workers: usize) -> SearchOptions {
    let mut search = arc_search::Options::of_nodes(400);
    search.calls = 20_000;
    SearchOptions {
        search,
        workers: NonZeroUsize::new(workers),
        ..SearchOptions::default()
    }
}

/// Keeps what it receives, and cancels the search after this many tasks.
#[derive(Default)]
struct Kept {
    found: Vec<(usize, Searched)>,
    notices: Vec<String>,
    cancels: Option<(usize, Cancellation)>,
}

impl SearchSink for Kept {
    fn task(&mut self, task: usize, mut searched: Searched) -> io::Result<()> {
        (searched.seconds, searched.bytes) = (0.0, 0);
        self.found.push((task, searched));
        Ok(())
    }

    fn progress(&mut self, progress: SearchProgress) {
        if let Some((after, cancellation)) = &self.cancels
            && progress.done >= *after
        {
            cancellation.cancel();
        }
    }

    fn notice(&mut self, notice: Notice) {
        self.notices.push(format!("{notice:?}"));
    }
}

fn search(tasks: &[Task], options: &SearchOptions) -> (Vec<(usize, Searched)>, SearchSummary) {
    let mut kept = Kept::default();
    let search = Search::new(tasks, Language::default(), options);
    let summary = search.run(&mut kept).unwrap();
    (kept.found, summary)
}

#[test]
fn workers_change_nothing_and_come_in_the_order_of_the_tasks() {
    let tasks = tasks();
    let (one, summary) = search(&tasks, &options(1));
    let places: Vec<_> = one.iter().map(|(task, _)| *task).collect();
    assert_eq!(places, (0..tasks.len()).collect::<Vec<_>>());
    assert!(summary.totals.fitting > 1, "{summary:?}");
    assert_eq!(summary.totals.failed, 0, "{one:?}");
    let (three, again) = search(&tasks, &options(3));
    assert!(one == three);
    assert_eq!(summary.totals, again.totals);
}

#[test]
fn programs_give_the_outputs_of_their_attempts() {
    let tasks = tasks();
    let (found, _) = search(&tasks, &options(2));
    let mut attempts = 0;
    for (at, searched) in &found {
        for attempt in &searched.attempts {
            let program = parse_programs(&attempt.program).remove(0).unwrap();
            let ids = arc_tasks::TaskIds::new(tasks.iter().map(|task| &*task.id));
            assert_eq!(ids.of(&program), Some(&*tasks[*at].id));
            for (pair, output) in tasks[*at].test.iter().zip(&attempt.outputs) {
                let input = Value::from((*pair.input).clone());
                let value = Interpreter::default().run(&program, input).unwrap();
                assert_eq!(*value.as_grid().unwrap(), *output);
            }
            attempts += 1;
        }
    }
    assert!(attempts > 3);
}

#[test]
fn what_is_searched_survives_its_record() {
    let (found, _) = search(&tasks(), &options(2));
    let layers = found.iter().flat_map(|(_, it)| &it.attempts);
    assert!(layers.flat_map(|it| &it.layers).count() > 0);
    for (_, searched) in found {
        let bytes = postcard::to_allocvec(&searched).unwrap();
        assert!(postcard::from_bytes::<Searched>(&bytes).unwrap() == searched);
    }
}

#[test]
fn what_was_cancelled_is_gone_on_with() {
    let tasks = tasks();
    let folder = tempfile::tempdir().unwrap();
    let [checkpoint, submission] = ["a.ckpt", "sub.json"].map(|name| folder.path().join(name));
    let (whole, summary) = search(&tasks, &options(2));
    let mut cut = Kept {
        cancels: Some((2, Cancellation::default())),
        ..Kept::default()
    };
    let mut cancelled = options(2);
    cancelled.cancellation = cut.cancels.as_ref().unwrap().1.clone();
    let begin = Search::new(&tasks, Language::default(), &cancelled);
    let first = begin.checkpoint(&checkpoint).run(&mut cut).unwrap();
    assert!(!first.is_complete() && first.totals.tasks >= 2, "{first:?}");

    let mut rest = Kept::default();
    let go_on = Search::new(&tasks, Language::default(), &options(1));
    let last = go_on.resume(&checkpoint).submission(&submission);
    let last = last.run(&mut rest).unwrap();
    assert!(rest.found == whole);
    assert_eq!(last.totals, summary.totals);
    assert!(rest.notices[0].contains("Resumed"), "{:?}", rest.notices);
    let read = Submission::read(&submission).unwrap();
    let fresh = folder.path().join("fresh.json");
    let other = Search::new(&tasks, Language::default(), &options(2));
    other.submission(&fresh).run(&mut Kept::default()).unwrap();
    assert_eq!(
        fs::read(&submission).unwrap(),
        fs::read(&fresh).unwrap(),
        "{read:?}"
    );

    // If the last block is cut off, only that block is lost.
    let bytes = fs::read(&checkpoint).unwrap();
    fs::write(&checkpoint, &bytes[..bytes.len() - 3]).unwrap();
    let mut again = Kept::default();
    let go_on = Search::new(&tasks, Language::default(), &options(1));
    go_on.resume(&checkpoint).run(&mut again).unwrap();
    assert!(again.found == whole);
}

#[test]
fn checkpoints_of_other_searches_are_refused() {
    let tasks = tasks();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ckpt");
    let cancelled = options(1);
    cancelled.cancellation.cancel();
    let begin = Search::new(&tasks, Language::default(), &cancelled);
    begin.checkpoint(&file).run(&mut Kept::default()).unwrap();
    let refused = |tasks: &[Task], language, options: &SearchOptions| {
        let search = Search::new(tasks, language, options).resume(&file);
        search.run(&mut Kept::default()).unwrap_err().to_string()
    };
    let small = Language::parse("", "[calls]\n2 grid -> grid: trim\n").unwrap();
    let error = refused(&tasks, small, &cancelled);
    assert!(error.ends_with("found another language"), "{error}");
    let error = refused(&tasks[1..], Language::default(), &cancelled);
    assert!(error.ends_with("found other tasks"), "{error}");
    let mut other = cancelled.clone();
    other.search.nodes += 1;
    let error = refused(&tasks, Language::default(), &other);
    assert!(
        error.ends_with("found other options: nodes, attempts or time"),
        "{error}"
    );
    let mut other = cancelled.clone();
    other.time_per_task = Some(Duration::from_secs(1));
    let error = refused(&tasks, Language::default(), &other);
    assert!(
        error.ends_with("found other options: nodes, attempts or time"),
        "{error}"
    );
}

#[test]
fn the_time_for_a_task_is_told() {
    let tasks = tasks();
    let mut late = options(2);
    late.search.nodes = 1_000_000;
    late.search.calls = u64::MAX;
    late.time_per_task = Some(Duration::ZERO);
    let (found, summary) = search(&tasks, &late);
    assert_eq!(found.len(), tasks.len());
    assert_eq!(summary.totals.interrupted, tasks.len());
    assert!(summary.is_complete());
}

#[test]
fn tasks_that_cannot_be_searched_stop_no_others() {
    let mut tasks = tasks();
    tasks[0].train.clear();
    tasks[1].train[0] = Pair::new(Grid::filled(2, 2, 1), None);
    let (found, summary) = search(&tasks, &options(2));
    let failures = found.iter().map(|(_, it)| it.failure.as_deref());
    let failures: Vec<_> = failures.collect();
    assert_eq!(failures[0], Some("no train pairs"));
    assert_eq!(failures[1], Some("a train pair without an output"));
    assert!(failures[2..].iter().all(Option::is_none), "{failures:?}");
    assert_eq!(summary.totals.failed, 2);
}

/// Panics at one of the tasks.
struct Panicking;

impl Worker for Panicking {
    #[allow(clippy::manual_assert, reason = "it is no assertion")]
    fn search(&mut self, task: &Task) -> Option<Searched> {
        if task.id == "bad" {
            panic!("this one");
        }
        Some(Searched::default())
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

fn threads(tasks: &[Task]) -> Threads<'_, impl Fn() -> Panicking> {
    Threads {
        tasks,
        workers: 2,
        worker: || Panicking,
    }
}

#[test]
fn a_panic_costs_its_task_alone() {
    let mut tasks = tasks();
    tasks[2].id = "bad".to_owned();
    let todo: Vec<_> = (0..tasks.len()).collect();
    let mut found = BTreeMap::new();
    let mut take = |it: Option<(usize, Searched)>| {
        found.extend(it);
        Ok(())
    };
    threads(&tasks).search(&todo, &mut take).unwrap();
    assert_eq!(found.len(), tasks.len());
    for (at, searched) in found {
        let failure = searched.failure.unwrap_or_default();
        assert_eq!(failure.ends_with(": this one"), at == 2, "{at}: {failure}");
    }
}

#[test]
fn a_sink_that_fails_ends_the_search() {
    let tasks = tasks();
    let todo: Vec<_> = (0..tasks.len()).collect();
    let mut take = |_: Option<(usize, Searched)>| Err(io::Error::other("full"));
    let error = threads(&tasks).search(&todo, &mut take).unwrap_err();
    assert_eq!(error.to_string(), "full");
}

/// Searches from the last task to the first, reports each twice, and one not at all.
struct Backwards<'t>(&'t [Task]);

impl SearchesTasks for Backwards<'_> {
    fn search(&mut self, todo: &[usize], take: &mut Take<'_>) -> io::Result<()> {
        for at in todo.iter().rev().filter(|at| **at != 1) {
            take(None)?;
            for _ in 0..2 {
                take(Some((*at, Searched::failed(&self.0[*at], "not today"))))?;
            }
        }
        Ok(())
    }
}

/// Reports a task that does not exist.
struct Elsewhere;

impl SearchesTasks for Elsewhere {
    fn search(&mut self, todo: &[usize], take: &mut Take<'_>) -> io::Result<()> {
        take(Some((todo.len(), Searched::default())))
    }
}

#[test]
fn what_others_find_counts_once_and_comes_in_the_order_of_the_tasks() {
    let tasks = tasks();
    let searching = || Search::new(&tasks, Language::default(), &SearchOptions::default());
    let mut kept = Kept::default();
    let summary = searching().run_by(&mut Backwards(&tasks), 2, &mut kept);
    let places: Vec<_> = kept.found.iter().map(|(at, _)| *at).collect();
    let expected: Vec<_> = (0..tasks.len()).filter(|at| *at != 1).collect();
    assert_eq!(places, expected);
    assert_eq!(summary.unwrap().totals.tasks, expected.len());

    let error = searching().run_by(&mut Elsewhere, 2, &mut Kept::default());
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("none of this search")
    );
}
