//! A search for programs: every call of a table on everything that is known already, the cheapest
//! first, until a program gives the outputs of all train pairs. Then what was made on the way is
//! [painted over each other](paint), which comes to programs that are far longer.
//!
//! `cargo run --release --package mega-batch --example search -- TASKS [CALLS [GIB]] [--show] [--replay]`
//!
//! TASKS is a folder of tasks as JSON, or one file, CALLS how many are tried for each, 400,000 where
//! nothing is said, and GIB how much memory that may take, 1 where nothing is said. `--show` prints what
//! solves a task, `--replay` makes [all calls once more](replay) without a batt. All that is tried for a
//! task is one batt: what one candidate has in common with another is computed once.

mod paint;
mod replay;
mod table;

use std::error::Error;
use std::time::{Duration, Instant};

use arc_dsl::{Interpreter, Primitive, Program, Task, Value};
use mega_batch::batt::{Batt, Bounds, Counts, Full, NodeId, Pushed};
use mega_batch::inputs::read_tasks;
use replay::{Replay, Tried};
use table::{TABLE, lines};

/// The dearest call that is tried.
const MOST_COST: usize = 20;

/// How many different answers are given for a task.
const ATTEMPTS: usize = 3;

/// Calls that cost the same and take the same.
struct Row {
    cost: usize,
    commutes: bool,
    takes: Vec<usize>,
    gives: usize,
    primitives: Vec<Primitive>,
}

/// What has been made for a task.
struct Search {
    batt: Batt,
    rows: Vec<Row>,
    /// The kinds that there are, and the nodes of each by cost.
    kinds: Vec<&'static str>,
    nodes: Vec<[Vec<NodeId>; MOST_COST + 1]>,
    /// What is right on all train pairs.
    found: Vec<NodeId>,
    /// How many calls the batt will have made at the end.
    last: u64,
    /// The nodes that it began with, and all calls since, if they are to be made once more.
    seeds: usize,
    tried: Option<Vec<Tried>>,
}

/// A search ends: it has tried what it may, or there is no more room.
struct End;

impl From<Full> for End {
    fn from(_: Full) -> Self {
        End
    }
}

impl Search {
    fn new(mut batt: Batt, task: &Task, calls: u64) -> Result<Self, Box<dyn Error>> {
        let pairs = || task.train.iter();
        let inputs: Vec<_> = pairs().map(|pair| (*pair.input).clone()).collect();
        let targets: Vec<_> = pairs().map(|pair| pair.output.clone()).collect();
        batt.restart(&inputs, &targets);
        let mut search = Self {
            last: batt.counts().calls + calls,
            batt,
            rows: Vec::new(),
            kinds: Vec::new(),
            nodes: Vec::new(),
            found: Vec::new(),
            seeds: 0,
            tried: None,
        };
        let mut parts = TABLE.split("\n\n");
        let mut next = || parts.next().ok_or("a table has three parts");
        for (cost, commutes, kinds, names) in lines(next()?)? {
            let mut takes: Vec<_> = kinds.iter().map(|kind| search.kind(kind)).collect();
            let gives = takes.pop().ok_or("expected a kind")?;
            let primitives = names.iter().map(|name| Primitive::from_name(name));
            search.rows.push(Row {
                cost,
                commutes,
                takes,
                gives,
                primitives: primitives.collect::<Option<_>>().ok_or("no primitive")?,
            });
        }
        search.seed(next()?, 0)?;
        let of_colours = next()?;
        for colour in 0..10 {
            let has = |pair: &&arc_dsl::Pair| {
                let mut grids = pair.output.iter().chain([&*pair.input]);
                grids.any(|grid| grid.cells().contains(&colour))
            };
            if 2 * pairs().filter(has).count() > task.train.len() {
                search.seed(of_colours, colour)?;
            }
        }
        search.seeds = search.batt.len();
        Ok(search)
    }

    /// What every program may begin with; COLOUR stands for the colour.
    fn seed(&mut self, table: &'static str, colour: i8) -> Result<(), Box<dyn Error>> {
        for (cost, _, kinds, expressions) in lines(table)? {
            let kind = self.kind(kinds[0]);
            for expression in expressions {
                let expression = expression.replace("COLOUR", &colour.to_string());
                let text = format!("def seed(I):\n    return {expression}\n");
                let program = arc_dsl::parse_programs(&text).remove(0)?;
                self.nodes[kind][cost].extend(self.batt.add(&program)?.output());
            }
        }
        Ok(())
    }

    /// The number of a kind.
    fn kind(&mut self, name: &'static str) -> usize {
        let known = self.kinds.iter().position(|kind| *kind == name);
        known.unwrap_or_else(|| {
            self.kinds.push(name);
            self.nodes.push(Default::default());
            self.kinds.len() - 1
        })
    }

    /// Goes through all programs by their costs, to the end of the first cost that has a right one.
    fn run(&mut self) -> Result<(), End> {
        for cost in 1..=MOST_COST {
            for row in 0..self.rows.len() {
                if let Some(left) = cost.checked_sub(self.rows[row].cost) {
                    self.extend(row, left, cost, &mut Vec::with_capacity(4))?;
                }
            }
            if !self.found.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Chooses the arguments that are left, which cost so much together.
    fn extend(
        &mut self,
        row: usize,
        left: usize,
        cost: usize,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), End> {
        let Row {
            takes, commutes, ..
        } = &self.rows[row];
        let Some(&kind) = takes.get(chosen.len()) else {
            return self.try_calls(row, cost, chosen);
        };
        let is_last = chosen.len() + 1 == takes.len();
        let first = chosen
            .first()
            .filter(|_| *commutes && chosen.len() == 1)
            .copied();
        for own in if is_last { left } else { 0 }..=left {
            // What costs less than the call is all there.
            for at in 0..self.nodes[kind][own].len() {
                let node = self.nodes[kind][own][at];
                if first.is_none_or(|first| first <= node) {
                    chosen.push(node);
                    self.extend(row, left - own, cost, chosen)?;
                    chosen.pop();
                }
            }
        }
        Ok(())
    }

    fn try_calls(&mut self, row: usize, cost: usize, arguments: &[NodeId]) -> Result<(), End> {
        for at in 0..self.rows[row].primitives.len() {
            if self.batt.counts().calls >= self.last {
                return Err(End);
            }
            let primitive = self.rows[row].primitives[at];
            let pushed = self.batt.push(primitive, arguments)?;
            if let Some(tried) = &mut self.tried {
                let arguments = arguments.to_vec();
                tried.push(Tried {
                    primitive,
                    arguments,
                    pushed,
                });
            }
            if let Pushed::New(node) = pushed {
                self.nodes[self.rows[row].gives][cost].push(node);
                if self.batt.is_solution(node) {
                    self.found.push(node);
                }
            }
        }
        Ok(())
    }
}

/// The program that is right on the test pairs, if one of the first different answers is; which
/// answers come first is the order of the programs.
fn right<'p>(programs: &'p [Program], task: &Task) -> Option<&'p Program> {
    let mut interpreter = Interpreter::default();
    let mut given: Vec<Vec<Value>> = Vec::new();
    for program in programs {
        let inputs = task.test.iter().map(|pair| pair.input.clone());
        let outputs = inputs.map(|input| interpreter.run(program, input));
        let Ok(outputs) = outputs.collect::<Result<Vec<_>, _>>() else {
            continue;
        };
        let mut pairs = outputs.iter().zip(&task.test);
        if pairs.all(|(output, pair)| output.as_grid().as_deref() == pair.output.as_ref()) {
            return Some(program);
        }
        if !given.contains(&outputs) {
            given.push(outputs);
        }
        if given.len() == ATTEMPTS {
            break;
        }
    }
    None
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("expected a folder of tasks")?;
    let mut numbers = arguments.iter().filter_map(|text| text.parse().ok());
    let (calls, gib) = (
        numbers.next().unwrap_or(400_000),
        numbers.next().unwrap_or(1),
    );
    let has = |option: &str| arguments.iter().any(|text| text == option);
    let read = read_tasks(&[path.into()], &[]);
    let (tasks, errors) = (read.tasks, read.errors);
    for error in errors {
        eprintln!("{error}");
    }
    let mut bounds = Bounds::for_search();
    bounds.max_bytes = usize::try_from(gib)? << 30;
    let mut batt = Batt::new(&[], &[], bounds);
    let (mut fitted, mut solved, mut nodes) = (0, 0, 0);
    let (start, mut calling) = (Instant::now(), Duration::ZERO);
    let (mut made, mut replay) = (Counts::default(), Replay::default());
    for task in &tasks {
        let mut search = Search::new(batt, task, calls)?;
        search.tried = has("--replay").then(Vec::new);
        let (begin, before) = (Instant::now(), search.batt.counts());
        // Whatever ends it, what was found stands.
        let _ = search.run();
        calling += begin.elapsed();
        made.calls += search.batt.counts().calls - before.calls;
        made.evaluations += search.batt.counts().evaluations - before.evaluations;
        nodes += search.batt.len();
        if let Some(tried) = &search.tried {
            replay.add(&search.batt, search.seeds, tried);
        }
        search.paint(task);
        let name = format!("solve_{}", task.id);
        let programs = search
            .found
            .iter()
            .map(|node| search.batt.program(*node, &name));
        let programs: Vec<Program> = programs.collect::<Result<_, _>>()?;
        fitted += usize::from(!programs.is_empty());
        if let Some(program) = right(&programs, task) {
            solved += 1;
            if has("--show") {
                println!("{program}");
            }
        }
        batt = search.batt;
    }
    let (count, total) = (tasks.len(), start.elapsed().as_secs_f64());
    println!("{count} tasks, {fitted} of them fitted, {solved} solved, in {total:.1} s");
    let seconds = calling.as_secs_f64();
    let rate = |count: u64| count as f64 / seconds / 1e6;
    println!(
        "{} calls ({:.2} million/s), {} evaluations ({:.2} million/s), {nodes} nodes, in {seconds:.1} s",
        made.calls,
        rate(made.calls),
        made.evaluations,
        rate(made.evaluations),
    );
    if has("--replay") {
        let seconds = replay.time.as_secs_f64();
        let rate = replay.calls as f64 / seconds / 1e6;
        println!("without a batt {rate:.2} million calls/s, in {seconds:.1} s; {replay}");
    }
    Ok(())
}
