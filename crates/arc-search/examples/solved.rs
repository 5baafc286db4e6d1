//! How many test pairs of a folder of tasks the search answers right, and what of it takes how long.
//!
//! `cargo run --release --package arc-search --example solved -- TASKS [NODES] [--off PART]... [--show] [--list]`
//!
//! TASKS is a folder of tasks as JSON with their test outputs, NODES how many values are kept for a task. `--off`
//! switches a part off: `colours` (renamed), `pairs` (stacks that fit some train pairs alone), `stacks` (more than
//! one layer), `derived` (operations that are no primitives), `patches` (pieces that are no grids), `bits` (by what
//! was used), `costs` (of primitives on each other). `--show` prints the programs that are right, `--list` a line for each
//! task. `--learn` prints the table of the language with bits by what was right.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arc_dsl::Task;
use arc_search::compose::Greedy;
use arc_search::language::Uses;
use arc_search::rank::ByFit;
use arc_search::{Found, Language, Options, Searcher};

/// How many answers are looked at.
const ATTEMPTS: usize = 20;

/// How many uses the bits of the table are worth where they are learned anew.
const OLD_USES: f64 = 300.0;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().ok_or("expected a folder of tasks")?;
    let nodes = arguments.get(1).and_then(|nodes| nodes.parse().ok());
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let off = |part: &str| {
        arguments
            .windows(2)
            .any(|two| two[0] == "--off" && two[1] == part)
    };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    let mut tasks = Vec::new();
    for path in paths {
        let id = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default()
            .to_owned();
        tasks.push(Task::from_json(id, &std::fs::read(path)?)?);
    }
    let mut options = Options {
        attempts: ATTEMPTS,
        renames: !off("colours"),
        patches: !off("patches"),
        ..Options::default()
    };
    options.nodes = nodes.unwrap_or(options.nodes);
    options.calls = 40 * options.nodes as u64;
    let composer = Greedy {
        all_pairs: off("pairs"),
        layers: if off("stacks") {
            1
        } else {
            Greedy::default().layers
        },
        ..Greedy::default()
    };
    let number = |option: &str, default: f64| {
        let place = arguments.iter().position(|argument| argument == option);
        place
            .and_then(|place| arguments.get(place + 1)?.parse().ok())
            .unwrap_or(default)
    };
    let ranker = ByFit {
        cost: number("--cost", ByFit::default().cost),
        piece: number("--piece", ByFit::default().piece),
        total: number("--total", ByFit::default().total),
    };
    let mut language = Language::default();
    if off("derived") {
        language = language.of_primitives();
    }
    if off("bits") {
        language = language.unweighted();
    }
    if off("costs") {
        language = language.with_costs(None);
    }
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let language = language.clone();
                let mut searcher = Searcher::new(language, options.clone())
                    .with_composer(composer.clone())
                    .with_ranker(ranker);
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begin = Instant::now();
                    let found = searcher.search(task, &mut || false);
                    let taken = begin.elapsed();
                    if let Ok(mut results) = results.lock() {
                        results.push((task, found, taken));
                    }
                }
            });
        }
    });
    let wall = start.elapsed();
    let mut results = results.into_inner().map_err(|_| "a worker has failed")?;
    results.sort_by(|a, b| a.0.id.cmp(&b.0.id));
    let (mut solved, mut tests, mut sized) = ([0; ATTEMPTS], 0, 0);
    let (mut calls, mut evaluations, mut kept, mut pieces, mut bytes) = (0, 0, 0, 0, 0);
    let (mut chains, mut stacks, mut partly) = (0, 0, 0);
    let mut uses = Uses::default();
    let mut times: Vec<Duration> = Vec::new();
    for (task, found, taken) in &results {
        let mut line = String::new();
        for (test, pair) in task.test.iter().enumerate() {
            tests += 1;
            let Some(expected) = &pair.output else {
                continue;
            };
            sized +=
                usize::from(found.sizes.get(test) == Some(&(expected.height(), expected.width())));
            let place = found.answers_of(test).position(|answer| answer == expected);
            line.push_str(&place.map_or("-".to_owned(), |place| (place + 1).to_string()));
            if let Some(place) = place {
                solved[place..].iter_mut().for_each(|solved| *solved += 1);
                let attempt = &found.attempts[found.answers[test][place]];
                if (attempt.fits as usize) < task.train.len() {
                    partly += 1;
                } else if attempt.layers.len() > 1 {
                    stacks += 1;
                } else {
                    chains += 1;
                }
                // A task counts once, however many test pairs it has and layers the answer.
                let weight = 1.0 / (attempt.layers.len() as f64).sqrt() / task.test.len() as f64;
                uses.add(&attempt.uses, weight);
                if has("--layers") {
                    for layer in &attempt.layers {
                        let colour = layer.colour.as_deref().unwrap_or_default();
                        println!("= {} {} {} {colour}", task.id, layer.part, layer.expression);
                    }
                }
                if has("--show") {
                    println!("{}", attempt.program);
                }
            }
        }
        let counts = found.counts;
        if has("--list") {
            println!(
                "{} {line} {:.2} s {counts:?} {:?}",
                task.id,
                taken.as_secs_f64(),
                found.stopped
            );
        }
        calls += counts.calls;
        evaluations += counts.evaluations;
        kept += counts.nodes;
        pieces += counts.pieces;
        bytes = bytes.max(counts.bytes);
        times.push(*taken);
    }
    times.sort();
    let total: Duration = times.iter().sum();
    println!(
        "{tests} tests, {sized} sizes right, solved {solved:?} ({chains} chains, {stacks} stacks, {partly} partly fitting)"
    );
    println!(
        "{:.1} s of work, {:.1} s; median {:.2} s, longest {:.2} s; {:.1} million calls, {:.1} million evaluations, {kept} nodes, {pieces} pieces, {} MB at most",
        total.as_secs_f64(),
        wall.as_secs_f64(),
        times[times.len() / 2].as_secs_f64(),
        times[times.len() - 1].as_secs_f64(),
        calls as f64 / 1e6,
        evaluations as f64 / 1e6,
        bytes >> 20,
    );
    if has("--learn") {
        println!("{}", language.by_uses(&uses, OLD_USES).table());
    }
    report_unused(&results);
    Ok(())
}

/// Says where nothing at all was found.
fn report_unused(results: &[(&Task, Found, Duration)]) {
    let none = results
        .iter()
        .filter(|(_, found, _)| found.attempts.is_empty());
    println!("{} tasks without an attempt", none.count());
}
