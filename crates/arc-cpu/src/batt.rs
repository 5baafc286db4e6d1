//! [`Batt`]: a program that grows call by call, evaluated on all inputs of a task as it grows.
//!
//! A search has millions of candidates, and each is a known program with one more call. A batt keeps
//! the value of every call on every input, packed as a [`Machine`] holds it, so that a candidate
//! costs the step that is new; one that gives what another gave is that one.
//!
//! ```
//! use arc_cpu::{Batt, Bounds, Pushed};
//! use arc_dsl::{Grid, Primitive};
//! let inputs = [Grid::from_rows(&[[1, 2], [3, 4]])?, Grid::from_rows(&[[5, 5, 6]])?];
//! let targets = [Some(Grid::from_rows(&[[2, 1], [4, 3]])?), None];
//! let mut batt = Batt::new(&inputs, &targets, Bounds::default());
//! let input = batt.input();
//! let Pushed::New(mirrored) = batt.push(Primitive::Vmirror, &[input])? else { panic!() };
//! assert!(batt.is_solution(mirrored));
//! // What turns it back is the input again.
//! assert_eq!(batt.push(Primitive::Vmirror, &[mirrored])?, Pushed::Same(input));
//! assert_eq!(batt.program(mirrored, "solve")?.to_string(), "\
//! def solve(I):
//!     O = vmirror(I)
//!     return O
//! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calls;
mod evaluate;
mod failing;
mod given;
mod grids;
mod hash;
mod nodes;
mod programs;
mod text;

#[cfg(test)]
mod tests;

use std::cell::RefCell;

use arc_dsl::{
    Dialect, ErrorKind, EvalError, Grid, Interpreter, Limit, Limits, Primitive, Program, Value,
};
use arc_form::Type;
use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use crate::bail_out::BailOut;
use crate::kernel;
use crate::machine::Machine;
use crate::memory::{Mark as InMemory, Room};
use crate::planes::Tile;
use crate::slot::Slot;
use calls::{Calls, GRID, GRIDS};
use failing::Errors;
use given::Given;
use grids::Grids;
pub use grids::Planes;
use programs::Steps;
pub use programs::{Merged, Refused};

/// A node of a [`Batt`]: a value on every input, or a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// Its number: nodes are numbered from 0 in the order in which they were made.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The bounds of a batt and of each of its calls.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Bytes of memory that the batt may hold. Default 1 GiB.
    pub max_bytes: usize,
    /// The bounds of one call on one input. The machine counts a step for each instruction that it
    /// goes through, and bails out at the bound; its grids have at most 1,024 cells whatever is said
    /// here. What the reference does then, unless it is the bound of steps, it does within these
    /// bounds, and ends in an [`ErrorKind::Limit`] where one is reached. Default: a million steps,
    /// 3,600 cells a grid, 100,000 elements a container and a million in all, no clock.
    pub call: Limits,
    /// Whether the reference does what the machine bails out of: grids past 32 rows or columns,
    /// values that are not of their call's type, operations without a kernel. Otherwise such a call
    /// fails with [`Why::BailOut`], so that none leaves the fast path. Default true.
    pub by_reference: bool,
    /// Whether a call that ends with an error on some inputs is a node, or on all of them: it has
    /// values on the others, and what takes it fails where it does. Otherwise such a call makes no
    /// node, and is evaluated up to the first input on which it fails. Default false.
    pub keeps_failing: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            max_bytes: 1 << 30,
            call: Limits {
                max_steps: 1_000_000,
                max_cells: 3_600,
                max_elements: 100_000,
                max_memory: 1_000_000,
                ..Limits::default()
            },
            by_reference: true,
            keeps_failing: false,
        }
    }
}

impl Bounds {
    /// Those of a search that tries what it can and has no time for what takes long: grids as large
    /// as those of tasks, 100,000 steps a call, and the machine alone.
    pub fn for_search() -> Self {
        let mut bounds = Self::default();
        bounds.call.max_steps = 100_000;
        bounds.call.max_cells = 900;
        bounds.by_reference = false;
        bounds
    }
}

/// A batt has no more room: [`Bounds::max_bytes`] is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the batt is full: {bytes} bytes of {most}")]
pub struct Full {
    /// The bytes that it holds.
    pub bytes: usize,
    /// The bytes that it may hold.
    pub most: usize,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// A node of its own. Where [failing calls are kept](Bounds::keeps_failing), it may fail on some
    /// inputs, which [`Batt::failures`] tells.
    New(NodeId),
    /// It gives what this node gives, on every input, and fails as it does.
    Same(NodeId),
    /// It has no value on an input.
    Failed(Failed),
}

impl Pushed {
    /// The node that gives its value.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Pushed::New(node) | Pushed::Same(node) => Some(node),
            Pushed::Failed(_) => None,
        }
    }
}

/// The first input on which a call has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failed {
    /// The number of the input.
    pub input: usize,
    /// Why.
    pub why: Why,
}

/// Why a call has no value on an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It ends with this error.
    Error(ErrorKind),
    /// The machine bails out, and the reference was [not to be asked](Bounds::by_reference): it may
    /// have a value, which [`Batt::by_reference`] gives as well as an error.
    BailOut(BailOut),
}

/// What became of a call that was only [tried](Batt::attempt).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// It gives the target on every input that has one, and a grid on the others.
    Solves,
    /// This is the first input on which it does not.
    Wrong(usize),
    /// It has no value there.
    Failed(Failed),
}

/// How far a value is from the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// So many cells differ; none where it is the target.
    Cells(u32),
    /// It has another size, is no grid, or is not there.
    Size,
}

/// What is called: a primitive or a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Called {
    /// A primitive.
    Primitive(Primitive),
    /// The function that is this node.
    Function(NodeId),
    /// A function that the batt was [given](Batt::define).
    Defined(Defined),
}

/// A function that a [`Batt`] was [given](Batt::define).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Defined(u16);

impl From<Defined> for Called {
    fn from(function: Defined) -> Self {
        Called::Defined(function)
    }
}

impl From<Primitive> for Called {
    fn from(primitive: Primitive) -> Self {
        Called::Primitive(primitive)
    }
}

impl From<NodeId> for Called {
    fn from(function: NodeId) -> Self {
        Called::Function(function)
    }
}

/// What a batt has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Calls that were pushed or tried.
    pub calls: u64,
    /// Calls on an input.
    pub evaluations: u64,
    /// Those of them that the reference did, since the machine does not.
    pub by_reference: u64,
}

/// How much of a batt's memory is in use.
#[derive(Debug, Clone, Copy)]
struct Used {
    memory: InMemory,
    words: usize,
}

/// Where a batt stood, to go back there.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    nodes: u32,
    used: Used,
}

impl Mark {
    /// Where a batt stands before it has its inputs.
    const EMPTY: Self = Self {
        nodes: 0,
        used: Used {
            memory: InMemory::EMPTY,
            words: 0,
        },
    };
}

/// The most arguments that a call may have.
const MOST_ARGUMENTS: usize = 4;

/// What a node comes from.
#[derive(Debug, Clone)]
enum Source {
    Input,
    Constant(Value),
    Primitive(Primitive),
    Call {
        called: Called,
        count: u8,
        arguments: [u32; MOST_ARGUMENTS],
    },
}

impl Source {
    fn call(called: Called, arguments: &[NodeId]) -> Self {
        let mut numbers = [0; MOST_ARGUMENTS];
        for (to, from) in numbers.iter_mut().zip(arguments) {
            *to = from.0;
        }
        Source::Call {
            called,
            count: arguments.len() as u8,
            arguments: numbers,
        }
    }
}

/// How a node's values are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Storage {
    /// In the machine, as values of the type of this number.
    Typed(u16),
    /// As the reference has them: they have no type in common.
    Loose,
    /// Not at all: it is a function, made of its call where it is applied. It is made of functions
    /// so deeply.
    Function(u8),
}

impl Storage {
    fn is_function(self) -> bool {
        matches!(self, Storage::Function(_))
    }
}

#[derive(Debug, Clone)]
struct Node {
    hash: u128,
    source: Source,
    held: Storage,
    /// Whether on some input the machine has no room for the value.
    has_loose: bool,
    /// Whether it has no value on some input.
    fails: bool,
    /// The calls of its program, one that is used twice counted twice.
    length: u32,
}

#[derive(Debug)]
struct Target {
    grid: Grid,
    /// `None` if the machine has no room for it.
    tile: Option<Box<Tile>>,
}

/// A growing program over the inputs of one task; see the [module](self).
#[derive(Debug)]
pub struct Batt {
    machine: Machine,
    interpreter: Interpreter,
    bounds: Bounds,
    inputs: usize,
    targets: Vec<Option<Target>>,
    nodes: Vec<Node>,
    /// The values of the nodes, input by input.
    slots: Vec<Slot>,
    /// The values that are grids.
    grids: Grids,
    /// The values that the machine has no room for, by node and input, in the order of nodes.
    loose: FxHashMap<(u32, u32), Value>,
    loose_nodes: Vec<u32>,
    loose_bytes: usize,
    /// How nodes fail.
    errors: Errors,
    /// What programs were made of.
    steps: Steps,
    /// The functions that the reference was given, by node and input: each is equal to itself alone.
    functions: RefCell<FxHashMap<(u32, u32), Value>>,
    /// Values that the reference was given lately.
    given: RefCell<Given>,
    calls: Calls,
    /// The functions that it was given.
    defined: Vec<Program>,
    /// The nodes by what they give.
    known: HashTable<u32>,
    /// How many nodes there were when each mark was set, ascending.
    marks: Vec<u32>,
    /// What is known of the call at hand: where the values of what it takes begin, whether the
    /// machine has no room for one of them, and its own values of that sort.
    parameters: Vec<u32>,
    takes_loose: bool,
    made_loose: Vec<(u32, Value)>,
    /// The most steps that it took on an input.
    spent: u64,
    counts: Counts,
}

/// How deeply functions may be made of each other: what is deeper is left to the reference, which
/// has a bound for it.
const MOST_DEPTH: u8 = 50;

/// The room that there is before each call: few need more, for which the pools grow on the way.
const HEADROOM: Room = Room {
    tiles: 1 << 6,
    patches: 1 << 12,
    rows: 1 << 12,
    elements: 1 << 12,
};

/// How many nodes are made room for at least.
const MORE_NODES: usize = 1 << 10;

impl Batt {
    /// A batt over these inputs, with the outputs that are wanted where they are known: missing
    /// ones are taken for unknown, and more than there are inputs are not looked at.
    pub fn new(inputs: &[Grid], targets: &[Option<Grid>], bounds: Bounds) -> Self {
        let mut batt = Self {
            machine: Machine::weighing(bounds.call.max_memory),
            interpreter: Interpreter::new(bounds.call.clone()),
            bounds,
            inputs: 0,
            targets: Vec::new(),
            nodes: Vec::new(),
            slots: Vec::new(),
            grids: Grids::default(),
            loose: FxHashMap::default(),
            loose_nodes: Vec::new(),
            loose_bytes: 0,
            errors: Errors::default(),
            steps: Steps::default(),
            functions: RefCell::default(),
            given: RefCell::default(),
            calls: Calls::default(),
            defined: Vec::new(),
            known: HashTable::new(),
            marks: Vec::new(),
            parameters: Vec::new(),
            takes_loose: false,
            made_loose: Vec::new(),
            spent: 0,
            counts: Counts::default(),
        };
        batt.restart(inputs, targets);
        batt
    }

    /// Begins anew over other inputs, with the memory and the compiled calls that there are.
    pub fn restart(&mut self, inputs: &[Grid], targets: &[Option<Grid>]) {
        self.forget_nodes(Mark::EMPTY);
        self.inputs = inputs.len();
        let targets = targets.iter().take(inputs.len()).map(|target| {
            target.as_ref().map(|grid| {
                let mut tile = Box::<Tile>::default();
                let fits = kernel::pack(&mut tile, grid).is_ok();
                Target {
                    grid: grid.clone(),
                    tile: fits.then_some(tile),
                }
            })
        });
        self.targets = targets.collect();
        self.widen();
        let values: Vec<_> = inputs
            .iter()
            .map(|grid| Value::from(grid.clone()))
            .collect();
        self.put_all(Source::Input, Some(&Type::Grid), values.iter());
    }

    /// A batt over the inputs of a task, those of its train pairs first, which have targets.
    pub fn of_task(task: &arc_dsl::Task, bounds: Bounds) -> Self {
        let pairs = || task.train.iter().chain(&task.test);
        let inputs: Vec<_> = pairs().map(|pair| (*pair.input).clone()).collect();
        let outputs = task.train.iter().map(|pair| pair.output.clone());
        Self::new(&inputs, &outputs.collect::<Vec<_>>(), bounds)
    }

    /// The node of the inputs.
    pub fn input(&self) -> NodeId {
        NodeId(0)
    }

    /// How many inputs there are.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes, in the order in which they were made.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// Whether there is no node; there is always the input.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What it has done so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The bytes that the batt has asked for, values that the machine has no room for among them by
    /// their weight.
    pub fn bytes(&self) -> usize {
        self.machine.memory.bytes()
            + self.nodes.capacity() * size_of::<Node>()
            + self.slots.capacity() * size_of::<Slot>()
            + self.known.capacity() * (size_of::<u32>() + 1) * 8 / 7
            + self.grids.bytes()
            + self.errors.bytes()
            + self.steps.bytes()
            + self.loose_bytes
            + self.given.borrow().bytes()
    }

    /// A node that is this value on every input.
    pub fn constant(&mut self, value: &Value) -> Result<NodeId, Full> {
        self.make_room()?;
        if let Value::Primitive(primitive) = value {
            return Ok(self.function_node(Source::Primitive(*primitive), 0, 0));
        }
        let source = Source::Constant(value.clone());
        let values = std::iter::repeat_n(value, self.inputs);
        let pushed = self.put_all(source, value.value_type().as_ref(), values);
        // A constant fails on no input.
        Ok(pushed.node().unwrap_or(NodeId(0)))
    }

    /// A primitive as a value.
    pub fn primitive(&mut self, primitive: Primitive) -> Result<NodeId, Full> {
        self.constant(&Value::Primitive(primitive))
    }

    /// Takes a function whose calls are one step each: what it makes on the way is no node. `None` if
    /// it has more inputs than a call has arguments, is of another dialect than the public one, or is one
    /// function too many. It is known until the batt ends, whatever that is [restarted](Self::restart) on.
    ///
    /// In the [program](Self::program) of a node stand the steps of the function.
    ///
    /// ```
    /// use arc_cpu::{Batt, Bounds};
    /// let text = "def beside(a, b): return hconcat(a, vmirror(b))";
    /// let function = arc_dsl::parse_functions(text).remove(0)?;
    /// let inputs = [arc_dsl::Grid::from_rows(&[[1, 2]])?];
    /// let mut batt = Batt::new(&inputs, &[], Bounds::default());
    /// let beside = batt.define(function).ok_or("not taken")?;
    /// let input = batt.input();
    /// let node = batt.push(beside, &[input, input])?.node().ok_or("failed")?;
    /// assert_eq!((batt.len(), batt.length(node)), (2, 2));
    /// assert_eq!(batt.value(node, 0)?.to_string(), "((1, 2, 2, 1),)");
    /// assert_eq!(batt.program(node, "solve")?.steps().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn define(&mut self, function: Program) -> Option<Defined> {
        let is_possible =
            function.inputs().len() <= MOST_ARGUMENTS && function.dialect() == Dialect::Public;
        let number = u16::try_from(self.defined.len()).ok()?;
        is_possible.then(|| {
            self.defined.push(function);
            Defined(number)
        })
    }

    /// Adds a call of a primitive or of a function.
    ///
    /// It is evaluated on one input after the other until one fails. A call that gives what a node
    /// gives is that node: values of one type that are equal on all inputs. Functions are the same
    /// where they are made by the same call.
    pub fn push(
        &mut self,
        called: impl Into<Called>,
        arguments: &[NodeId],
    ) -> Result<Pushed, Full> {
        let called = called.into();
        if arguments.len() > MOST_ARGUMENTS {
            return Ok(Pushed::Failed(self.takes_too_many(called, arguments)));
        }
        if let Called::Primitive(primitive) = called
            && let Some(function) = self.function(primitive, arguments)
        {
            return Ok(function);
        }
        self.make_room()?;
        let call = self.prepare(called, arguments);
        if let Some(call) = call {
            self.keep_tiles(call);
        }
        let used = self.used();
        let first = self.slots.len();
        let held = match call {
            Some(call) => self.evaluate(call, called, arguments),
            None => self.evaluate_by_reference(called, arguments),
        };
        match held {
            Ok(held) => {
                let source = Source::call(called, arguments);
                let length = self.length_of(called, arguments);
                Ok(self.intern(source, held, length, used))
            }
            Err(failed) => {
                self.forget(first, used);
                Ok(Pushed::Failed(failed))
            }
        }
    }

    /// Adds calls one after the other, and gives what becomes of each.
    pub fn push_many<'a>(
        &mut self,
        calls: impl IntoIterator<Item = (Primitive, &'a [NodeId])>,
    ) -> Result<Vec<Pushed>, Full> {
        let calls = calls.into_iter();
        calls
            .map(|(primitive, arguments)| self.push(primitive, arguments))
            .collect()
    }

    /// Tries a call that would be the last one: whether it gives the targets. It ends with the first
    /// input on which it does not, and leaves nothing behind.
    pub fn attempt(
        &mut self,
        called: impl Into<Called>,
        arguments: &[NodeId],
    ) -> Result<Attempt, Full> {
        let called = called.into();
        if arguments.len() > MOST_ARGUMENTS {
            return Ok(Attempt::Failed(self.takes_too_many(called, arguments)));
        }
        self.make_room()?;
        let used = self.used();
        let first = self.slots.len();
        let call = self.prepare(called, arguments);
        if let Some(call) = call {
            self.load(call);
        }
        let loaded = self.machine.memory.mark();
        let mut attempt = Attempt::Solves;
        for input in 0..self.inputs {
            let made = self.evaluate_on(call, called, arguments, input);
            attempt = match made {
                Err(stop) => Attempt::Failed(Failed::new(input, stop)),
                Ok(made) if !self.is_right(call, &made, input) => Attempt::Wrong(input),
                Ok(_) => attempt,
            };
            if attempt != Attempt::Solves {
                break;
            }
            self.machine.memory.release(loaded);
        }
        self.forget(first, used);
        Ok(attempt)
    }

    /// Why a call has no value on an input, or the value that it has: what the reference gives.
    pub fn by_reference(
        &self,
        called: impl Into<Called>,
        arguments: &[NodeId],
        input: usize,
    ) -> Result<Value, EvalError> {
        self.counted_by_reference(called.into(), arguments, input).0
    }

    /// The value of a node on an input, or the error with which its program ends there. Functions
    /// are made for that, which may reach a bound; so may what shares much within the batt and is more as
    /// a value.
    pub fn value(&self, node: NodeId, input: usize) -> Result<Value, EvalError> {
        if let Some(error) = self.error(node, input) {
            return Err(error);
        }
        let known = &self.nodes[node.index()];
        match (&known.source, known.held) {
            (Source::Constant(value), _) => return Ok(value.clone()),
            (Source::Primitive(primitive), _) => return Ok(Value::Primitive(*primitive)),
            (
                Source::Call {
                    called,
                    count,
                    arguments,
                },
                Storage::Function(_),
            ) => {
                let place = (node.0, input as u32);
                if let Some(function) = self.functions.borrow().get(&place) {
                    return Ok(function.clone());
                }
                let arguments = arguments.map(NodeId);
                let arguments = &arguments[..usize::from(*count)];
                let function = self.by_reference(*called, arguments, input)?;
                self.functions.borrow_mut().insert(place, function.clone());
                return Ok(function);
            }
            _ => {}
        }
        if let Some(value) = self.loose_value(node.0, input) {
            return Ok(value.clone());
        }
        let slot = self.slot(node.0, input);
        if known.held == Storage::Typed(GRID) {
            return Ok(Value::from(self.grids.grid(slot)));
        }
        if self.is_too_heavy(node, input) {
            return Err(EvalError {
                line: 0,
                primitive: None,
                kind: ErrorKind::Limit(Limit::Memory),
            });
        }
        if known.held == Storage::Typed(GRIDS) {
            let grids = self.grids.list(slot).map(|grid| self.grids.grid(grid));
            return Ok(Value::tuple(grids.map(Value::from).collect()));
        }
        let ty = self.ty(node).unwrap_or(&Type::Never);
        let value = self.machine.value(ty, slot);
        Ok(value.unwrap_or(Value::Nothing))
    }

    /// The planes of a node that is a grid on an input; `None` where it is none, or where the batt does not hold it as planes,
    /// which [`Batt::value`] tells apart.
    pub fn planes(&self, node: NodeId, input: usize) -> Option<Planes<'_>> {
        let is_held = self.nodes[node.index()].held == Storage::Typed(GRID)
            && self.error(node, input).is_none()
            && self.loose_value(node.0, input).is_none();
        is_held.then(|| self.grids.planes(self.slot(node.0, input)))
    }

    /// Whether what a node holds on an input is more, as a value, than a value may be.
    pub fn is_too_heavy(&self, node: NodeId, input: usize) -> bool {
        let known = &self.nodes[node.index()];
        let Storage::Typed(number) = known.held else {
            return false;
        };
        let is_elsewhere = number == GRID
            || self.error(node, input).is_some()
            || self.loose_value(node.0, input).is_some();
        if is_elsewhere {
            return false;
        }
        let slot = self.slot(node.0, input);
        if number == GRIDS {
            let grids = self.grids.list(slot);
            return self.machine.most_weight < grids.map(Grids::weight).sum();
        }
        self.machine.weighed(self.calls.ty(number), slot).is_err()
    }

    /// The type of a node's values: nothing for a function, and where they have none in common.
    pub fn ty(&self, node: NodeId) -> Option<&Type> {
        match self.nodes[node.index()].held {
            Storage::Typed(number) => Some(self.calls.ty(number)),
            Storage::Loose | Storage::Function(_) => None,
        }
    }

    /// A hash of a node's values on all inputs. Nodes of one type with the same values have the
    /// same, in every batt over the same inputs; of a function it is one of how it was made.
    pub fn hash(&self, node: NodeId) -> u128 {
        self.nodes[node.index()].hash
    }

    /// The calls of a node's program, one that is used twice counted twice.
    pub fn length(&self, node: NodeId) -> usize {
        self.nodes[node.index()].length as usize
    }

    /// Whether a node gives the target on every input that has one, and a grid on the others; where no input has one,
    /// nothing is a solution.
    pub fn is_solution(&self, node: NodeId) -> bool {
        let has_target = self.targets.iter().take(self.inputs).any(Option::is_some);
        has_target
            && (0..self.inputs).all(|input| match self.targets.get(input) {
                Some(Some(_)) => self.distance(node, input) == Some(Distance::Cells(0)),
                _ => self.is_grid(node, input),
            })
    }

    /// How far a node is from the target of an input; `None` if there is none.
    pub fn distance(&self, node: NodeId, input: usize) -> Option<Distance> {
        let target = self.targets.get(input)?.as_ref()?;
        if self.error(node, input).is_some() {
            return Some(Distance::Size);
        }
        if let (Some(Type::Grid), Some(tile), None) =
            (self.ty(node), &target.tile, self.loose_value(node.0, input))
        {
            let slot = self.slot(node.0, input);
            if Grids::size(slot) != Grids::size_of(tile) {
                return Some(Distance::Size);
            }
            let mut found = Tile::default();
            self.grids.unpack(slot, &mut found);
            return Some(match found.wrong_cells(tile) {
                Some(cells) => Distance::Cells(cells),
                None => Distance::Size,
            });
        }
        let may_be_rows = match self.ty(node) {
            Some(ty) => ty.may_be_grid() || self.loose_value(node.0, input).is_some(),
            None => !self.nodes[node.index()].held.is_function(),
        };
        if !may_be_rows {
            return Some(Distance::Size);
        }
        let value = self.value(node, input).ok()?;
        let grid = value.as_grid();
        Some(match grid {
            Some(grid)
                if (grid.height(), grid.width()) == (target.grid.height(), target.grid.width()) =>
            {
                let pairs = grid.cells().iter().zip(target.grid.cells());
                Distance::Cells(pairs.filter(|(a, b)| a != b).count() as u32)
            }
            _ => Distance::Size,
        })
    }

    /// Remembers where the batt stands.
    pub fn mark(&mut self) -> Mark {
        let nodes = self.nodes.len() as u32;
        if self.marks.last() != Some(&nodes) {
            self.marks.push(nodes);
        }
        Mark {
            nodes,
            used: self.used(),
        }
    }

    /// Forgets the nodes that were made since. A mark that was set later, or that was released
    /// already to an earlier one, must not be used.
    pub fn release(&mut self, mark: Mark) {
        if (mark.nodes as usize) < self.nodes.len() {
            self.forget_nodes(mark);
        }
    }

    /// Forgets the nodes behind the mark, and all that is kept of them or says which they are: a number
    /// is another node's from now on. Every field is named here, so that who adds one has to say what
    /// becomes of it.
    fn forget_nodes(&mut self, mark: Mark) {
        let Mark { nodes: first, used } = mark;
        let Self {
            nodes,
            slots,
            loose,
            loose_nodes,
            loose_bytes,
            errors,
            steps,
            functions,
            given,
            known,
            marks,
            // Of the call at hand.
            parameters: _,
            takes_loose: _,
            made_loose,
            spent: _,
            // Given back below, by how much of it was in use.
            grids: _,
            machine: _,
            // Of no node.
            interpreter: _,
            bounds: _,
            inputs,
            targets: _,
            calls: _,
            defined: _,
            counts: _,
        } = self;
        if first == 0 {
            known.clear();
        } else {
            for (number, node) in (first..).zip(&nodes[first as usize..]) {
                if let Ok(entry) = known.find_entry(node.hash as u64, |other| *other == number) {
                    entry.remove();
                }
            }
        }
        while let Some(node) = loose_nodes.pop_if(|node| *node >= first) {
            for input in 0..*inputs as u32 {
                let value = loose.remove(&(node, input));
                *loose_bytes -= value.map_or(0, |value| nodes::loose_bytes(&value));
            }
        }
        errors.release(first);
        steps.clear();
        functions.get_mut().retain(|(node, _), _| *node < first);
        given.get_mut().clear();
        made_loose.clear();
        marks.retain(|nodes| *nodes <= first);
        nodes.truncate(first as usize);
        slots.truncate(first as usize * *inputs);
        self.give_back(used);
    }
}
