//! How many test pairs of a folder of tasks the search answers correctly, and how long each part takes.
//!
//! `cargo run --release --package arc-search --example solved -- TASKS [NODES] [--off PART]... [--show] [--list]`
//!
//! TASKS is a folder of tasks as JSON with their test outputs, NODES the number of values kept for a task. `--off`
//! switches a part off: `colours` (renaming), `repeats` (a second search without renaming), `ground` (another search
//! with 0 for the most common colour), `pairs` (stacks that fit only some train pairs), `layers` (stacks of more than
//! one layer), `derived` (operations other than primitives), `patches` (pieces other than grids), `costs` (of
//! primitives called on each other), `invariants` (in the ranking of answers), and proposers by their names. `--show`
//! prints the programs that are right, `--list` a line for each task. `--learn` prints the table of the language with
//! costs by the operations in right answers, `--estimate` the weights that rank answers.

use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arc_search::compose::Greedy;
use arc_search::language::{Kind, LanguagePart};
use arc_search::propose::Proposal;
use arc_search::rank::{Answers, ByFit, ESTIMATES, Known, Ranker, estimate_of, known};
use arc_search::{Attempt, Found, Language, Options, Searcher};
use arc_tasks::Task;

/// How many answers are considered.
const ATTEMPTS: usize = 20;

/// How many uses the old bits of the table count for when they are learned again.
const OLD_USES: f64 = 300.0;

/// About how many colours a task has: a colour seed stands for this many values.
const COLOURS: f64 = 4.0;

/// Ranks as if no answer broke an invariant.
struct WithoutInvariants;

impl Ranker for WithoutInvariants {
    fn score(&self, proposal: &Proposal) -> f64 {
        ByFit.score(proposal)
    }

    fn of_answers(&self, score: f64, answers: &Answers<'_>) -> f64 {
        let broken = &[];
        ByFit.of_answers(score, &Answers { broken, ..*answers })
    }
}

/// The command line.
struct Asked {
    arguments: Vec<String>,
}

impl Asked {
    fn has(&self, option: &str) -> bool {
        self.arguments.iter().any(|argument| argument == option)
    }

    fn is_off(&self, part: &str) -> bool {
        let mut two = self.arguments.windows(2);
        two.any(|two| two[0] == "--off" && two[1] == part)
    }

    /// All parts that are switched off. Names that are no proposer's have no effect as such.
    fn off(&self) -> Vec<String> {
        let two = self.arguments.windows(2).filter(|two| two[0] == "--off");
        two.map(|two| two[1].clone()).collect()
    }

    fn tasks(&self) -> Result<Vec<Task>, Box<dyn Error>> {
        let folder = self.arguments.first().ok_or("expected a folder of tasks")?;
        let paths = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
        let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
        paths.sort();
        let task = |path: PathBuf| {
            let id = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .unwrap_or_default();
            Ok(Task::from_json(id, &std::fs::read(&path)?)?)
        };
        paths.into_iter().map(task).collect()
    }

    fn language(&self) -> Language {
        let mut language = Language::default();
        if self.is_off("derived") {
            language = language.of_primitives();
        }
        if self.is_off("costs") {
            language = language.with_costs(None);
        }
        language
    }

    fn searcher(&self) -> Searcher {
        let nodes = self.arguments.get(1).and_then(|nodes| nodes.parse().ok());
        let mut options = nodes.map_or_else(Options::default, Options::of_nodes);
        options.attempts = ATTEMPTS;
        options.renames = !self.is_off("colours");
        options.repeats = !self.is_off("repeats");
        options.grounds = !self.is_off("ground");
        options.patches = !self.is_off("patches");
        options.off = self.off();
        let composer = Greedy {
            all_pairs: self.is_off("pairs"),
            layers: if self.is_off("layers") {
                1
            } else {
                Greedy::default().layers
            },
            ..Greedy::default()
        };
        let searcher = Searcher::new(self.language(), options).with_composer(composer);
        if self.is_off("invariants") {
            searcher.with_ranker(WithoutInvariants)
        } else {
            searcher
        }
    }
}

/// A task, the result of its search, and the time that it took.
type Searched<'t> = (&'t Task, Found, Duration);

/// Searches all tasks, on as many threads as there are cores.
fn search<'t>(asked: &Asked, tasks: &'t [Task]) -> Result<Vec<Searched<'t>>, Box<dyn Error>> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut searcher = asked.searcher();
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begin = Instant::now();
                    let found = searcher.search(task, &mut || false);
                    if let Ok(mut results) = results.lock() {
                        results.push((task, found, begin.elapsed()));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().map_err(|_| "a worker has failed")?;
    results.sort_by(|a, b| a.0.id.cmp(&b.0.id));
    Ok(results)
}

/// The features of an attempt.
fn known_of(attempt: &Attempt, train: usize) -> Known {
    let broken: usize = attempt.broken.iter().map(Vec::len).sum();
    let broken = broken as f64 / attempt.broken.len().max(1) as f64;
    known(
        attempt.fits,
        attempt.total,
        attempt.layers.len(),
        broken,
        train,
    )
}

/// Weights that predict best from the features which answers are right: logistic regression with a little
/// regularisation towards 0.
fn weights(answers: &[(Known, bool)]) -> Known {
    let mut weights = [0.0; 4];
    for round in 0..4_000 {
        let mut slope = weights.map(|weight| -0.003 * weight);
        for (known, is_right) in answers {
            let both = weights.iter().zip(known);
            let odds: f64 = both.map(|(weight, known)| weight * known).sum();
            let error = f64::from(u8::from(*is_right)) - 1.0 / (1.0 + (-odds).exp());
            for (slope, known) in slope.iter_mut().zip(known) {
                *slope += error * known / answers.len() as f64;
            }
        }
        let rate = 2.0 / (1.0 + f64::from(round) / 400.0);
        for (weight, slope) in weights.iter_mut().zip(slope) {
            *weight += rate * slope;
        }
    }
    weights
}

/// A call or a seed in the table of a language.
struct Entry<'l> {
    title: &'static str,
    /// What stands between its bits and its name.
    kinds: String,
    name: &'l str,
    gives: Kind,
    bits: u8,
    /// How many values it stands for, and how often it was used.
    values: f64,
    uses: f64,
}

/// The table of a language with bits learned from uses: among the `n` uses of a kind, an operation that was used `c`
/// times and had the probability `p` now has `(c + s p) / (n + s)`, where `s` is the number of uses that the old bits
/// count for. Operations of the same bits and kinds share a line.
fn learned(language: &Language, uses: &HashMap<LanguagePart, f64>, s: f64) -> String {
    let count = |part| uses.get(&part).copied().unwrap_or_default();
    let name = |kind: &Kind| language.kinds()[kind.index()].as_str();
    let mut entries = Vec::new();
    for (number, row) in (0..).zip(language.rows()) {
        let takes: Vec<&str> = row.takes.iter().map(name).collect();
        let star = if row.commutes { "*" } else { "" };
        for (place, operation) in (0..).zip(&row.operations) {
            entries.push(Entry {
                title: "[calls]",
                kinds: format!("{star} {} -> {}", takes.join(" "), name(&row.gives)),
                name: language.name(*operation),
                gives: row.gives,
                bits: row.bits,
                values: 1.0,
                uses: count(LanguagePart::Call(number, place)),
            });
        }
    }
    let seeds = (0..).zip(language.seeds());
    let seeds = seeds.map(|(at, seed)| ("[seeds]", seed, 1.0, LanguagePart::Seed(at)));
    let colours = (0..).zip(language.colour_seeds());
    let colours =
        colours.map(|(at, seed)| ("[colours]", seed, COLOURS, LanguagePart::ColourSeed(at)));
    entries.extend(
        seeds
            .chain(colours)
            .map(|(title, seed, values, part)| Entry {
                title,
                kinds: format!(" {}", name(&seed.kind)),
                name: &seed.expression,
                gives: seed.kind,
                bits: seed.bits,
                values,
                uses: count(part),
            }),
    );
    // For each kind the sum of the old probabilities and of the uses.
    let old = |entry: &Entry<'_>| (-f64::from(entry.bits)).exp2() * entry.values;
    let mut kinds = vec![(0.0, 0.0); language.kinds().len()];
    for entry in &entries {
        let (probability, n) = &mut kinds[entry.gives.index()];
        *probability += old(entry);
        *n += entry.uses;
    }
    let table = language.table();
    let mut text = table.split("[calls]").next().unwrap_or_default().to_owned();
    for title in ["[calls]", "[seeds]", "[colours]"] {
        let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
        for entry in entries.iter().filter(|entry| entry.title == title) {
            let (probability, n) = kinds[entry.gives.index()];
            let share = (entry.uses + s * old(entry) / probability) / (n + s);
            // A colour seed's share is divided among its values.
            let bits = (-(share / entry.values).log2()).round().clamp(0.0, 60.0) as u8;
            let head = format!("{bits}{}", entry.kinds);
            let shares = |other: &&mut (String, _)| title == "[calls]" && other.0 == head;
            match lines.iter_mut().find(shares) {
                Some((_, names)) => names.push(entry.name),
                None => lines.push((head, vec![entry.name])),
            }
        }
        text.extend([title, "\n"]);
        let line = |(head, names): &(String, Vec<&str>)| format!("{head}: {}\n", names.join(" "));
        text.extend(lines.iter().map(line));
    }
    text
}

/// Statistics of the answers.
#[derive(Default)]
struct Tally {
    tests: usize,
    sized: usize,
    solved: [usize; ATTEMPTS],
    chains: usize,
    stacks: usize,
    partly: usize,
    uses: HashMap<LanguagePart, f64>,
    /// The features of each answer and whether it is right, by estimate.
    estimated: [Vec<(Known, bool)>; ESTIMATES.len()],
}

impl Tally {
    /// Counts the answers to a task; returns for each test pair the position of the right one.
    fn take(&mut self, asked: &Asked, task: &Task, found: &Found) -> String {
        let mut line = String::new();
        for (test, pair) in task.test.iter().enumerate() {
            self.tests += 1;
            let Some(expected) = &pair.output else {
                continue;
            };
            let size = (expected.height(), expected.width());
            self.sized += usize::from(found.sizes.get(test) == Some(&size));
            for (answer, attempt) in found.answers_of(test).zip(&found.answers[test]) {
                let attempt = &found.attempts[*attempt];
                let is_exact = attempt.fits as usize == task.train.len();
                let known = known_of(attempt, task.train.len());
                self.estimated[estimate_of(attempt.by, is_exact)].push((known, answer == expected));
            }
            let place = found.answers_of(test).position(|answer| answer == expected);
            line.push_str(&place.map_or("-".to_owned(), |place| (place + 1).to_string()));
            let Some(place) = place else { continue };
            self.solved[place..]
                .iter_mut()
                .for_each(|solved| *solved += 1);
            let attempt = &found.attempts[found.answers[test][place]];
            if (attempt.fits as usize) < task.train.len() {
                self.partly += 1;
            } else if attempt.layers.len() > 1 {
                self.stacks += 1;
            } else {
                self.chains += 1;
            }
            // A task counts about once, no matter how many test pairs it has and how many layers the answer has.
            let weight = 1.0 / (attempt.layers.len() as f64).sqrt() / task.test.len() as f64;
            for part in &attempt.uses {
                *self.uses.entry(*part).or_default() += weight;
            }
            if asked.has("--show") {
                let layers = attempt.layers.iter();
                for rule in layers.filter(|layer| layer.part == "rule") {
                    println!("# {}: {}", attempt.by, rule.expression);
                }
                println!("{}", attempt.program);
            }
        }
        line
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked = Asked {
        arguments: std::env::args().skip(1).collect(),
    };
    let tasks = asked.tasks()?;
    let start = Instant::now();
    let results = search(&asked, &tasks)?;
    let wall = start.elapsed();
    let mut tally = Tally::default();
    for (task, found, taken) in &results {
        let line = tally.take(&asked, task, found);
        if asked.has("--list") {
            let (seconds, counts) = (taken.as_secs_f64(), found.counts);
            println!(
                "{} {line} {seconds:.2} s {counts:?} {:?}",
                task.id, found.stopped
            );
        }
    }
    if asked.has("--learn") {
        println!("{}", learned(&asked.language(), &tally.uses, OLD_USES));
    }
    if asked.has("--estimate") {
        for ((name, _), answers) in ESTIMATES.iter().zip(&tally.estimated) {
            println!("    (\"{name}\", {:.2?}),", weights(answers));
        }
    }
    let Tally {
        tests,
        sized,
        solved,
        chains,
        stacks,
        partly,
        ..
    } = tally;
    let within: Vec<_> = solved.iter().map(usize::to_string).collect();
    println!(
        "{tests} tests, {sized} sizes right, within 1, 2 .. attempts {}",
        within.join(" ")
    );
    println!("{chains} chains, {stacks} stacks, {partly} fit some train pairs alone");
    let mut times: Vec<_> = results
        .iter()
        .map(|(.., taken)| taken.as_secs_f64())
        .collect();
    times.sort_by(f64::total_cmp);
    let sum = |count: fn(&Found) -> u64| -> u64 {
        results.iter().map(|(_, found, _)| count(found)).sum()
    };
    println!(
        "{:.1} s of work in {:.1} s; median {:.2} s, longest {:.2} s; {:.1} million calls, {:.1} million \
         evaluations, {} values, {} pieces",
        times.iter().sum::<f64>(),
        wall.as_secs_f64(),
        times.get(times.len() / 2).unwrap_or(&0.0),
        times.last().unwrap_or(&0.0),
        sum(|found| found.counts.calls) as f64 / 1e6,
        sum(|found| found.counts.evaluations) as f64 / 1e6,
        sum(|found| found.counts.nodes),
        sum(|found| found.counts.pieces),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_takes_fewer_bits() -> Result<(), Box<dyn Error>> {
        let table = "[kinds]\n3: object\n[calls]\n2 grid -> grid: rot90 trim\n5 grid -> object: asobject\n\
                     [seeds]\n1 grid: I\n[colours]\n2 colour: COLOUR\n";
        let language = Language::parse("", table)?;
        assert_eq!(language.table(), table);
        let uses = HashMap::from([(LanguagePart::Call(0, 1), 12.0)]);
        // (12 + 4 / 4) / 16, 1 / 16 and 2 / 16; the bits of a kind without uses stay as before.
        let expected = "[kinds]\n3: object\n[calls]\n4 grid -> grid: rot90\n0 grid -> grid: trim\n\
                        0 grid -> object: asobject\n[seeds]\n3 grid: I\n[colours]\n2 colour: COLOUR\n";
        assert_eq!(learned(&language, &uses, 4.0), expected);
        assert!(Language::parse("", expected).is_ok());
        Ok(())
    }
}
