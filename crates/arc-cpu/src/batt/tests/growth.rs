//! Random growth of batts: for any call on any nodes, a node has the value that the reference gives for its
//! last call, and for its whole program, read from text.

use std::collections::HashMap;
use std::fmt;
use std::time::Instant;

use arc_dsl::generate::Generator;
use arc_dsl::{
    Callee, ErrorKind, EvalError, Grid, Interpreter, Limits, Operand, Primitive as P, Program,
    Type, Value,
};
use arc_tasks::builtin;
use arc_text::parse_programs;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::super::{
    Batt, Bounds, Called, Distance, Failed, Full, Mark, NodeId, Pushed, Source, Why,
};
use super::{grids, is_function};

type Outcome = Result<Value, EvalError>;

/// Counts of what was done and compared.
#[derive(Debug, Default, Clone, Copy)]
struct GrowthCounts {
    batts: u64,
    calls: u64,
    new: u64,
    functions: u64,
    /// New nodes that fail on some input.
    failing: u64,
    same: u64,
    /// Calls that created no node.
    failed: u64,
    bailed_out: u64,
    /// Nodes that a release has removed.
    released: u64,
    /// Nodes that were compared again before their batt's end, by the call that they had then.
    again: u64,
    /// Nodes whose whole program was read from text and run.
    texts: u64,
    /// Those that have no text.
    without_text: u64,
    /// Values and errors that were compared.
    compared: u64,
    /// Those that were not, since one side reached its bounds.
    at_bounds: u64,
}

/// The bounds of a call, low enough for the reference to finish soon.
fn limits() -> Limits {
    Limits {
        max_steps: 20_000,
        max_cells: 2_000,
        max_elements: 10_000,
        max_memory: 50_000,
        ..Limits::default()
    }
}

/// Heavier nodes are not used as operands: computing them again and again would take all the time.
const MOST_WEIGHT: u32 = 1_000;

/// One of this many new nodes has its whole program run.
const NODES_A_TEXT: u32 = 40;

/// A batt that grows at random.
struct Growth {
    batt: Batt,
    inputs: Vec<Grid>,
    targets: Vec<Option<Grid>>,
    reference: Interpreter,
    whole: Interpreter,
    generator: Generator,
    random: Pcg64Mcg,
    /// The nodes that fit a parameter of each type.
    takers: HashMap<Type, Vec<NodeId>>,
    /// The marks, from early to late.
    marks: Vec<Mark>,
    programs: Vec<Program>,
    counts: GrowthCounts,
    differences: Vec<String>,
}

fn is_limit(outcome: &Outcome) -> bool {
    outcome.as_ref().is_err_and(|error| error.limit().is_some())
}

fn text_of(outcome: &Outcome) -> String {
    match outcome {
        Ok(value) => value.to_string(),
        Err(error) => format!("{error:?}"),
    }
}

/// Whether two values are identical: equal, and of the same kind throughout, except that a grid is the tuple of
/// its rows.
fn is_same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Grid(_), _) | (_, Value::Grid(_)) => a == b,
        (Value::Tuple(_), Value::Tuple(_)) | (Value::Set(_), Value::Set(_)) => {
            let (x, y) = (a.values(), b.values());
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| is_same_value(x, y))
        }
        _ => a.kind() == b.kind() && a == b,
    }
}

/// Whether two errors are the same, except for naming a grid or the tuple of its rows.
fn is_same_kind(a: ErrorKind, b: ErrorKind) -> bool {
    let without_kinds =
        |kind: ErrorKind| format!("{kind:?}").replace("found: Grid", "found: Tuple");
    a == b || without_kinds(a) == without_kinds(b)
}

/// Whether both outcomes are the same. The line of an error depends on the program, not on the call.
fn is_same(found: &Outcome, expected: &Outcome) -> bool {
    match (found, expected) {
        (Ok(found), Ok(expected)) if is_function(expected) => is_function(found),
        (Ok(found), Ok(expected)) => is_same_value(found, expected),
        (Err(found), Err(expected)) => {
            found.primitive == expected.primitive && is_same_kind(found.kind, expected.kind)
        }
        _ => false,
    }
}

impl Growth {
    fn new(seed: u64, programs: &[Program]) -> Self {
        let mut growth = Self {
            batt: Batt::new(&[], &[], Bounds::default()),
            inputs: Vec::new(),
            targets: Vec::new(),
            reference: Interpreter::new(limits()),
            whole: Interpreter::default(),
            generator: Generator::new(seed),
            random: Pcg64Mcg::seed_from_u64(seed),
            takers: HashMap::new(),
            marks: Vec::new(),
            programs: programs.to_vec(),
            counts: GrowthCounts::default(),
            differences: Vec::new(),
        };
        growth.restart(seed);
        growth
    }

    /// Starts over other inputs: with a new batt and other bounds, or with the same one.
    fn restart(&mut self, seed: u64) {
        self.counts.batts += 1;
        self.generator = Generator::new(seed);
        self.inputs = grids(self.random.random_range(1..=4), seed);
        let turned = self.inputs.iter().enumerate().map(|(at, input)| {
            let primitive = [P::Rot90, P::Hmirror, P::Lefthalf][seed as usize % 3];
            let value = Value::from(input.clone());
            let made = self
                .reference
                .call(Value::primitive(primitive), &[&value])
                .ok()?;
            (at != 2).then_some(made.as_grid()?.into_owned())
        });
        self.targets = turned.collect();
        if seed % 3 == 1 {
            self.batt.restart(&self.inputs, &self.targets);
        } else {
            let bounds = Bounds {
                max_bytes: 64 << 20,
                call: limits(),
                by_reference: seed % 5 != 4,
                keeps_failing: seed.is_multiple_of(2),
            };
            self.batt = Batt::new(&self.inputs, &self.targets, bounds);
        }
        self.takers.clear();
        self.marks.clear();
        self.register(self.batt.input());
        self.marks.push(self.batt.mark());
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    /// Records which parameters the node fits.
    fn register(&mut self, node: NodeId) {
        let inputs = 0..self.batt.inputs();
        let mut values = inputs.filter_map(|input| self.batt.value(node, input).ok());
        let Some(value) = values.next() else {
            // Its program fails, and so does every call that takes it.
            self.takers.entry(Type::Any).or_default().push(node);
            return;
        };
        if value.weight() > MOST_WEIGHT {
            return;
        }
        for ty in Type::ALL {
            let takes = match ty {
                // In Python anything counts as true or false.
                Type::Boolean => matches!(value, Value::Bool(_)),
                _ => value.fits(*ty),
            };
            if takes {
                self.takers.entry(*ty).or_default().push(node);
            }
        }
    }

    /// A node that fits a parameter of the type, if there is one.
    fn node(&mut self, ty: Type) -> Option<NodeId> {
        let nodes = self.takers.get(&ty).filter(|nodes| !nodes.is_empty())?;
        Some(nodes[self.random.random_range(0..nodes.len())])
    }

    fn constant(&mut self, value: &Value) -> Result<NodeId, Full> {
        let before = self.batt.len();
        let node = self.batt.constant(value)?;
        if self.batt.len() > before {
            self.register(node);
        }
        Ok(node)
    }

    fn argument(&mut self, ty: Type) -> Result<NodeId, Full> {
        let ty = if self.chance(5) { Type::Any } else { ty };
        let known = if self.chance(75) { self.node(ty) } else { None };
        if let Some(node) = known {
            return Ok(node);
        }
        let value = self.generator.value(ty);
        self.constant(&value)
    }

    /// The outcome of a call of these nodes on an input according to the reference.
    fn expected(&self, called: Called, arguments: &[NodeId], input: usize) -> Outcome {
        let function = match called {
            Called::Primitive(primitive) => Value::Primitive(primitive),
            Called::Function(node) => self.batt.value(node, input)?,
            Called::Defined(_) => panic!("what grows here calls none"),
        };
        let values = arguments.iter().map(|node| self.batt.value(*node, input));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        self.reference
            .call(&function, &values.iter().collect::<Vec<_>>())
    }

    /// A call and its operands on an input, as text.
    fn describe(&self, called: Called, arguments: &[NodeId], input: usize) -> String {
        let function = match called {
            Called::Primitive(_) | Called::Defined(_) => None,
            Called::Function(node) => Some(node),
        };
        let nodes = function.iter().chain(arguments).map(|node| {
            let program = self.batt.program(*node, "f");
            let program = program.map_or_else(|error| error.to_string(), |p| p.to_string());
            let value = text_of(&self.batt.value(*node, input));
            format!("\n{value} of type {:?} by\n{program}", self.batt.ty(*node))
        });
        format!("input {input} of {called:?}{}", nodes.collect::<String>())
    }

    fn differs(&mut self, what: impl fmt::Display) {
        if self.differences.len() < 20 {
            self.differences.push(what.to_string());
        }
    }

    /// Compares an outcome on an input with that of the reference.
    fn compare(&mut self, found: &Outcome, expected: &Outcome, what: impl Fn(&Self) -> String) {
        if is_limit(found) || is_limit(expected) {
            self.counts.at_bounds += 1;
            return;
        }
        self.counts.compared += 1;
        if !is_same(found, expected) {
            let (found, expected) = (text_of(found), text_of(expected));
            let what = what(self);
            self.differs(format!("found {found}, expected {expected}: {what}"));
        }
    }

    /// Compares a node with the reference on every input, by this call.
    fn compare_call(&mut self, node: NodeId, called: Called, arguments: &[NodeId]) {
        for input in 0..self.inputs.len() {
            let expected = self.expected(called, arguments, input);
            let found = self.batt.value(node, input);
            self.compare(&found, &expected, |growth| {
                growth.describe(called, arguments, input)
            });
        }
    }

    /// On how many inputs a node fails.
    fn failures(&self, node: NodeId) -> usize {
        let inputs = 0..self.inputs.len();
        let failing = inputs.filter(|&input| self.batt.error(node, input).is_some());
        failing.count()
    }

    /// Parses a node's program from its text, and compares its outcome with the node.
    fn compare_text(&mut self, node: NodeId) {
        self.counts.texts += 1;
        let text = match self.batt.program(node, "f") {
            Ok(program) => program.to_string(),
            // A call of a primitive with the wrong number of arguments has no text.
            Err(_) if self.failures(node) == self.inputs.len() => {
                self.counts.without_text += 1;
                return;
            }
            Err(error) => return self.differs(format!("{node:?} has no program: {error}")),
        };
        let program = match parse_programs(&text).pop() {
            Some(Ok(program)) => program,
            Some(Err(error)) => return self.differs(format!("{error}: {text}")),
            None => return self.differs(format!("no program: {text}")),
        };
        for input in 0..self.inputs.len() {
            let expected = self.whole.run(&program, self.inputs[input].clone());
            let found = self.batt.value(node, input);
            self.compare(&found, &expected, |_| format!("input {input} of {text}"));
            self.compare_distance(node, input, &found);
        }
    }

    fn compare_distance(&mut self, node: NodeId, input: usize, found: &Outcome) {
        let target = self.targets[input].as_ref();
        let grid = found.as_ref().ok().and_then(Value::as_grid);
        let expected = target.map(|target| match grid {
            Some(grid) if (grid.height(), grid.width()) == (target.height(), target.width()) => {
                let cells = grid.cells().iter().zip(target.cells());
                Distance::Cells(cells.filter(|(a, b)| a != b).count() as u32)
            }
            _ => Distance::Size,
        });
        let distance = self.batt.distance(node, input);
        if distance != expected {
            self.differs(format!("{distance:?} of {found:?}, expected {expected:?}"));
        }
    }

    /// Checks the failure of a call that created no node: it has values on the inputs before.
    fn compare_failed(&mut self, failed: Failed, called: Called, arguments: &[NodeId]) {
        self.counts.failed += 1;
        for input in 0..=failed.input {
            let expected = self.expected(called, arguments, input);
            let is_last = input == failed.input;
            let agrees = match (failed.why, &expected) {
                (Why::BailOut(_), _) if is_last => {
                    self.counts.bailed_out += 1;
                    return;
                }
                (Why::Error(ErrorKind::Limit(_)), _) if is_last => {
                    self.counts.at_bounds += 1;
                    return;
                }
                (_, Err(error)) if error.limit().is_some() => {
                    self.counts.at_bounds += 1;
                    return;
                }
                (Why::Error(kind), Err(error)) if is_last => is_same_kind(kind, error.kind),
                (_, Ok(_)) => !is_last,
                // The call may fail there and be kept: it created no node since the machine bails out on a
                // later input.
                (_, Err(_)) => self.batt.bounds.keeps_failing,
            };
            self.counts.compared += 1;
            if !agrees {
                let expected = text_of(&expected);
                let call = self.describe(called, arguments, input);
                self.differs(format!("{failed:?}, expected {expected}: {call}"));
            }
        }
    }

    /// Pushes a call and checks the outcome.
    fn push(&mut self, called: Called, arguments: &[NodeId]) -> Result<Option<NodeId>, Full> {
        self.counts.calls += 1;
        let pushed = self.batt.push(called, arguments)?;
        let node = match pushed {
            Pushed::New(node) => {
                self.counts.new += 1;
                let is_function = self.batt.nodes[node.index()].held.is_function();
                self.counts.functions += u64::from(is_function);
                self.counts.failing += u64::from(self.failures(node) > 0);
                self.register(node);
                node
            }
            Pushed::Same(node) => {
                self.counts.same += 1;
                node
            }
            Pushed::Failed(failed) => {
                self.compare_failed(failed, called, arguments);
                return Ok(None);
            }
        };
        self.compare_call(node, called, arguments);
        if self.random.random_range(0..NODES_A_TEXT) == 0 {
            self.compare_text(node);
        }
        Ok(Some(node))
    }

    /// Calls a primitive or a function on nodes that fit it.
    fn grow_by_a_call(&mut self) -> Result<(), Full> {
        let function = if self.chance(15) {
            self.node(Type::Callable)
        } else {
            None
        };
        let (called, types) = if let Some(node) = function {
            let count = if self.chance(70) { 1 } else { 2 };
            let types: Vec<_> = (0..count)
                .map(|_| Type::ALL[self.random.random_range(0..Type::ALL.len())])
                .collect();
            (Called::Function(node), types)
        } else {
            let primitive = P::ALL[self.random.random_range(0..P::ALL.len())];
            let parameters = primitive.parameters().iter();
            let types = parameters.map(|(_, ty)| *ty).collect();
            (Called::Primitive(primitive), types)
        };
        let arguments = types.into_iter().map(|ty| self.argument(ty));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        self.push(called, &arguments)?;
        Ok(())
    }

    /// A node that may replace a constant.
    fn instead(&mut self, value: &Value) -> Option<NodeId> {
        let mut types: Vec<_> = Type::ALL
            .iter()
            .filter(|ty| !matches!(ty, Type::Any | Type::Boolean) && value.fits(**ty))
            .collect();
        let ty = *types.pop()?;
        self.node(ty)
    }

    /// Adds the calls of a program, some of its constants replaced by nodes.
    fn grow_by_a_program(&mut self, program: &Program) -> Result<(), Full> {
        let input = self
            .node(Type::Grid)
            .filter(|_| self.random.random_bool(0.2));
        let mut nodes = vec![input.unwrap_or(self.batt.input())];
        for step in program.steps() {
            let mut arguments = Vec::new();
            for operand in &step.arguments {
                let value = match operand {
                    Operand::Slot(slot) => {
                        arguments.push(nodes[slot.index()]);
                        continue;
                    }
                    Operand::Primitive(primitive) => Value::Primitive(*primitive),
                    Operand::Constant(constant) => constant.value().clone(),
                    Operand::Literal(value) => value.clone(),
                };
                let other = if self.chance(15) {
                    self.instead(&value)
                } else {
                    None
                };
                arguments.push(match other {
                    Some(node) => node,
                    None => self.constant(&value)?,
                });
            }
            let called = match step.callee {
                Callee::Primitive(primitive) => Called::Primitive(primitive),
                Callee::Slot(slot) => Called::Function(nodes[slot.index()]),
                // In another dialect.
                Callee::Typed(_) => return Ok(()),
            };
            let Some(node) = self.push(called, &arguments)? else {
                return Ok(());
            };
            nodes.push(node);
        }
        Ok(())
    }

    fn grow(&mut self) -> Result<(), Full> {
        let program = match self.random.random_range(0..20) {
            0 => self.generator.program(8).ok(),
            1 => self.generator.ill_typed_program(6).ok(),
            2 => {
                let primitive = P::ALL[self.random.random_range(0..P::ALL.len())];
                self.generator.case(primitive).program().ok()
            }
            3 | 4 => {
                let at = self.random.random_range(0..self.programs.len());
                let program = &self.programs[at];
                let is_changed = self.random.random_bool(0.7);
                Some(if is_changed {
                    self.generator.mutant(program)
                } else {
                    program.clone()
                })
            }
            _ => None,
        };
        match program {
            Some(program) => self.grow_by_a_program(&program),
            None => (0..10).try_for_each(|_| self.grow_by_a_call()),
        }
    }

    /// Releases the mark of this number.
    fn release(&mut self, number: usize) {
        let before = self.batt.len();
        self.batt.release(self.marks[number]);
        self.marks.truncate(number + 1);
        let left = self.batt.len();
        self.counts.released += (before - left) as u64;
        for nodes in self.takers.values_mut() {
            nodes.retain(|node| node.index() < left);
        }
    }

    /// Compares every node again, with the call that it has now, which may be a shorter one; its values must
    /// not have changed while others came and went.
    fn compare_all(&mut self) {
        let nodes: Vec<_> = self.batt.nodes().collect();
        for node in nodes {
            let source = self.batt.nodes[node.index()].source.clone();
            let Source::Call {
                called,
                count,
                arguments,
            } = source
            else {
                continue;
            };
            self.counts.again += 1;
            let arguments = arguments.map(NodeId);
            self.compare_call(node, called, &arguments[..usize::from(count)]);
            if self.random.random_range(0..NODES_A_TEXT) == 0 {
                self.compare_text(node);
            }
        }
    }
}

/// Grows batts, with about `at_a_time` nodes in each, until there were this many nodes.
fn grow(nodes: u64, at_a_time: u64, programs: &[Program]) -> GrowthCounts {
    let mut growth = Growth::new(0, programs);
    let (mut seed, mut before) = (0, 0);
    while growth.counts.new < nodes && growth.differences.len() < 20 {
        let full = growth.grow().is_err();
        match growth.random.random_range(0..400) {
            0..6 => growth.marks.push(growth.batt.mark()),
            6 | 7 => {
                let number = growth.random.random_range(0..growth.marks.len());
                growth.release(number);
            }
            _ => {}
        }
        if full || growth.counts.new - before >= at_a_time {
            growth.compare_all();
            (seed, before) = (seed + 1, growth.counts.new);
            growth.restart(seed);
        }
    }
    growth.compare_all();
    assert!(
        growth.differences.is_empty(),
        "{:#?}\n{}",
        growth.counts,
        growth.differences.join("\n")
    );
    growth.counts
}

fn built_in() -> Vec<Program> {
    let all = builtin::all().iter();
    all.map(|built_in| built_in.program().clone()).collect()
}

/// Checks that enough was compared: not everything failed, reached its bounds or existed already.
fn check(counts: GrowthCounts) {
    let GrowthCounts {
        new,
        functions,
        failing,
        same,
        failed,
        released,
        texts,
        compared,
        at_bounds,
        ..
    } = counts;
    assert!(same > new / 10 && functions > new / 100, "{counts:?}");
    assert!(failing > new / 100 && failed > new / 20, "{counts:?}");
    assert!(released > new / 100, "{counts:?}");
    assert!(texts > new / 50 && compared > 3 * new, "{counts:?}");
    assert!(at_bounds < compared / 20, "{counts:?}");
}

/// `ARC_GROWTH` sets the number of nodes, 6,000 by default: a million of them take half a minute in an
/// optimised build (`cargo test --release --package arc-cpu --lib random_growth`). `ARC_SOLVERS` names a file
/// with programs to use beside the built-in ones.
#[test]
fn random_growth_equals_the_reference() {
    let mut programs = built_in();
    if let Some(file) = std::env::var_os("ARC_SOLVERS") {
        let text = std::fs::read_to_string(file).unwrap();
        programs.extend(parse_programs(&text).into_iter().flatten());
    }
    let nodes = std::env::var("ARC_GROWTH").map_or(6_000, |nodes| nodes.parse().unwrap());
    let start = Instant::now();
    // Batts of at most a tenth of the nodes, so that several are started.
    let counts = grow(nodes, (nodes / 10).min(10_000), &programs);
    println!(
        "{} programs, {:?}: {counts:#?}",
        programs.len(),
        start.elapsed()
    );
    check(counts);
}
