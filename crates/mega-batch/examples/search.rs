//! A search for programs, bottom up: every call of a table on everything that is known already, the
//! cheapest first, until a program gives the outputs of all train pairs.
//!
//! `cargo run --release --package mega-batch --example search -- TASKS [CANDIDATES] [--show]`
//!
//! TASKS is a folder of tasks as JSON, or one file, CANDIDATES how many are tried for each, a million
//! where nothing is said. `--show` prints what solves a task. What one candidate shares with another
//! is computed once, since all of them are one batt.

use std::collections::HashMap;
use std::error::Error;
use std::time::Instant;

use arc_dsl::{Grid, Interpreter, Loc, Primitive, Program, Task, Value};
use arc_form::Type;
use mega_batch::batt::{Batt, Bounds, Full, NodeId, Pushed};
use mega_batch::inputs::read_tasks;

/// What is called: a line says what one more such call costs, the kinds of what it takes, and the
/// primitives. Kinds are finer than types, which do not tell a colour from a number, nor what a
/// function is for. Behind an empty line the primitives that are passed as functions, with kinds.
const TABLE: &str = include_str!("search.txt");

/// The dearest program that is looked for.
const MOST_COST: usize = 20;

struct Row {
    cost: usize,
    kinds: Vec<&'static str>,
    primitives: Vec<Primitive>,
}

fn rows(table: &'static str) -> Result<Vec<Row>, String> {
    let row = |line: &'static str| {
        let (head, primitives) = line.split_once(": ")?;
        let (cost, kinds) = head.split_once(' ')?;
        let named = |name: &str| Primitive::ALL.iter().copied().find(|it| it.name() == name);
        Some(Row {
            cost: cost.parse().ok()?,
            kinds: kinds.split(' ').collect(),
            primitives: primitives.split(' ').map(named).collect::<Option<_>>()?,
        })
    };
    let lines = table.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| row(line).ok_or_else(|| format!("no row: {line}")))
        .collect()
}

/// The kind of what a primitive gave; nothing where the table has no use for it.
fn kind_of(primitive: Primitive, ty: &Type) -> Option<&'static str> {
    use Primitive as P;
    Some(match ty {
        Type::Grid => "grid",
        Type::Int | Type::MaybeInt => match primitive {
            P::Mostcolor | P::Leastcolor | P::Color | P::Other | P::First | P::Last => "colour",
            _ => "number",
        },
        Type::Bool => "truth",
        Type::Pair | Type::MaybePair => "pair",
        Type::Indices => "indices",
        Type::Object => "object",
        Type::Set(element) | Type::Tuple(element) => match **element {
            Type::Object => "objects",
            Type::Indices => "patches",
            Type::Int => "colours",
            Type::Grid => "grids",
            _ => return None,
        },
        _ => return None,
    })
}

struct Search {
    batt: Batt,
    calls: Vec<Row>,
    /// What calls may take, by kind and cost.
    nodes: HashMap<&'static str, [Vec<NodeId>; MOST_COST + 1]>,
    /// What is right on all train pairs.
    found: Vec<NodeId>,
    /// How many calls the batt may have made at the end.
    last: u64,
}

/// A search ends: it has tried what it may, or there is no more room.
struct End;

impl From<Full> for End {
    fn from(_: Full) -> Self {
        End
    }
}

impl Search {
    fn new(mut batt: Batt, task: &Task, candidates: u64) -> Result<Self, Box<dyn Error>> {
        let inputs: Vec<_> = task
            .train
            .iter()
            .map(|pair| (*pair.input).clone())
            .collect();
        let targets: Vec<_> = task.train.iter().map(|pair| pair.output.clone()).collect();
        batt.restart(&inputs, &targets);
        let mut search = Self {
            last: batt.counts().calls + candidates,
            batt,
            calls: Vec::new(),
            nodes: HashMap::new(),
            found: Vec::new(),
        };
        search.seed(task)?;
        Ok(search)
    }

    fn add(&mut self, kind: &'static str, cost: usize, node: NodeId) {
        self.nodes.entry(kind).or_default()[cost].push(node);
    }

    fn constant(
        &mut self,
        kind: &'static str,
        cost: usize,
        value: impl Into<Value>,
    ) -> Result<NodeId, Full> {
        let node = self.batt.constant(&value.into())?;
        self.add(kind, cost, node);
        Ok(node)
    }

    /// What every program may begin with.
    fn seed(&mut self, task: &Task) -> Result<(), Box<dyn Error>> {
        let input = self.batt.input();
        self.add("grid", 0, input);
        self.constant("flag", 0, false)?;
        self.constant("flag", 0, true)?;
        let one = self.constant("number", 1, 1)?;
        self.constant("number", 1, 2)?;
        self.constant("number", 1, 3)?;
        let steps = [0, 1, 0, -1, 1, 0, 2, 3].into_iter();
        for (i, j) in steps.zip([1, 0, -1, 0, 1, 0, 2, 3]) {
            self.constant("pair", 2, Loc::new(i, j))?;
        }
        let (calls, functions) = TABLE.split_once("\n\n").ok_or("no functions")?;
        self.calls = rows(calls)?;
        for row in rows(functions)? {
            for primitive in row.primitives {
                self.constant(row.kinds[0], row.cost, primitive)?;
            }
        }
        let touches = self.function(Primitive::Rbind, Primitive::Bordering, input)?;
        let is_small = self.function(Primitive::Matcher, Primitive::Size, one)?;
        let is_plain = self.function(Primitive::Matcher, Primitive::Numcolors, one)?;
        let is_square = self.batt.primitive(Primitive::Square)?;
        self.conditions(&[touches, is_small, is_plain, is_square])?;
        for colour in 0..10 {
            let has = |grid: &Grid| grid.cells().contains(&colour);
            let pairs = task.train.iter();
            let with =
                pairs.filter(|pair| has(&pair.input) || pair.output.as_ref().is_some_and(has));
            if 2 * with.count() <= task.train.len() {
                continue;
            }
            let node = self.constant("colour", 1, i32::from(colour))?;
            let is_colour = self.function(Primitive::Matcher, Primitive::Color, node)?;
            self.conditions(&[is_colour])?;
            let count = self.function(Primitive::Rbind, Primitive::Colorcount, node)?;
            self.add("object->number", 2, count);
            self.add("grid->number", 2, count);
        }
        Ok(())
    }

    fn function(&mut self, maker: Primitive, of: Primitive, with: NodeId) -> Result<NodeId, Full> {
        let of = self.batt.primitive(of)?;
        Ok(self.batt.push(maker, &[of, with])?.node().unwrap_or(of))
    }

    /// Conditions for objects, and their opposites.
    fn conditions(&mut self, conditions: &[NodeId]) -> Result<(), Full> {
        for &condition in conditions {
            let opposite = self.function(Primitive::Compose, Primitive::Flip, condition)?;
            self.add("object->truth", 2, condition);
            self.add("object->truth", 3, opposite);
        }
        Ok(())
    }

    /// Goes through all programs by their costs, to the end of the first cost that has a right one.
    fn run(&mut self) -> Result<(), End> {
        for cost in 1..=MOST_COST {
            for row in 0..self.calls.len() {
                if let Some(left) = cost.checked_sub(self.calls[row].cost) {
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
        let Some(&kind) = self.calls[row].kinds.get(chosen.len()) else {
            return self.try_calls(row, cost, chosen);
        };
        let is_last = chosen.len() + 1 == self.calls[row].kinds.len();
        for own in if is_last { left } else { 0 }..=left {
            let Some(nodes) = self.nodes.get(kind).map(|nodes| nodes[own].clone()) else {
                continue;
            };
            for node in nodes {
                chosen.push(node);
                self.extend(row, left - own, cost, chosen)?;
                chosen.pop();
            }
        }
        Ok(())
    }

    fn try_calls(&mut self, row: usize, cost: usize, arguments: &[NodeId]) -> Result<(), End> {
        for at in 0..self.calls[row].primitives.len() {
            let primitive = self.calls[row].primitives[at];
            if self.batt.counts().calls >= self.last {
                return Err(End);
            }
            let Pushed::New(node) = self.batt.push(primitive, arguments)? else {
                continue;
            };
            let kind = self.batt.ty(node).and_then(|ty| kind_of(primitive, ty));
            if let Some(kind) = kind {
                self.add(kind, cost, node);
            }
            if self.batt.is_solution(node) {
                self.found.push(node);
            }
        }
        Ok(())
    }
}

/// Whether it is right on the test pairs.
fn is_right(program: &Program, task: &Task) -> bool {
    let mut interpreter = Interpreter::default();
    task.test.iter().all(|pair| {
        let output = interpreter.run(program, pair.input.clone());
        let grid = output.as_ref().ok().and_then(Value::as_grid);
        grid.as_deref() == pair.output.as_ref()
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("expected a folder of tasks")?;
    let candidates = arguments.iter().find_map(|text| text.parse().ok());
    let (tasks, errors) = read_tasks(&[path.into()], None);
    for error in errors {
        eprintln!("{error}");
    }
    let mut batt = Batt::new(&[], &[], Bounds::for_search());
    let (mut solved, mut fitting, mut nodes) = (0, 0, 0);
    let start = Instant::now();
    for task in &tasks {
        let mut search = Search::new(batt, task, candidates.unwrap_or(1_000_000))?;
        // Whatever ends it, what was found stands.
        let _ = search.run();
        batt = search.batt;
        let name = format!("solve_{}", task.id);
        let found = search.found.iter().map(|node| batt.program(*node, &name));
        let programs: Vec<Program> = found.collect::<Result<_, _>>()?;
        fitting += usize::from(!programs.is_empty());
        nodes += batt.len();
        let mut attempts = programs.iter().take(3);
        if let Some(program) = attempts.find(|program| is_right(program, task)) {
            solved += 1;
            if arguments.iter().any(|text| text == "--show") {
                println!("{program}");
            }
        }
    }
    let (seconds, total) = (start.elapsed().as_secs_f64(), batt.counts());
    let count = tasks.len();
    println!("{count} tasks, {fitting} of them fitted, {solved} solved, in {seconds:.1} s");
    let rate = |count: u64| count as f64 / seconds / 1e6;
    println!(
        "{} candidates ({:.2} million/s), {} evaluations ({:.2} million/s), {nodes} nodes",
        total.calls,
        rate(total.calls),
        total.evaluations,
        rate(total.evaluations),
    );
    Ok(())
}
