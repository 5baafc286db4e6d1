//! [`Batt`]: a program that grows call by call, evaluated on all inputs of a task as it grows.
//!
//! A search has millions of candidates, and each is a known program with one more call. A batt keeps the value
//! of every call on every input, packed as a [`Machine`] holds it, so a candidate costs only its new step. A
//! call with the same values as an existing node becomes that node.
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
//! // Mirrored back, it is the input again.
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
mod grids;
mod hash;
mod nodes;
mod programs;
mod reference_values;
mod text;

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};

use arc_dsl::{
    Dialect, ErrorKind, EvalError, Grid, Interpreter, Limit, Limits, Primitive, Program, Value,
};
use arc_form::Type;
use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use crate::bail_out::BailOut;
use crate::exact::slot_has_one_order;
use crate::kernel;
use crate::machine::Machine;
use crate::memory::{Mark as InMemory, Paint, Room};
use crate::planes::{SIDE, Tile};
use crate::slot::Slot;
use calls::{Calls, GRID, GRIDS};
use failing::Errors;
use grids::Grids;
pub use grids::Planes;
use programs::Steps;
pub use programs::{Merged, Refused};
use reference_values::ReferenceValues;

/// A node of a [`Batt`]: a value on every input, or a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// Its number: nodes are numbered from 0 in the order of their creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The bounds of a batt and of each of its calls.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Bytes of memory that the batt may hold. Default 1 GiB.
    pub max_bytes: usize,
    /// The bounds of one call on one input. The machine counts a step for each instruction that it runs, and
    /// bails out at the bound; its grids have at most 1,024 cells regardless. The reference then evaluates the
    /// call within these bounds, unless the machine ran out of steps, and ends in an [`ErrorKind::Limit`] if it
    /// reaches one. Default: a million steps, 3,600 cells a grid, 100,000 elements a container and a million in
    /// all, no time limit.
    pub call: Limits,
    /// Whether the reference evaluates what the machine bails out of: grids past 32 rows or columns, values that are
    /// not of their call's type, operations without a kernel, orders of sets that decide. Otherwise such a call
    /// fails with [`Why::BailOut`], so that none leaves the fast path. Default true.
    pub by_reference: bool,
    /// Whether a call that fails on some inputs, or on all, becomes a node: it has values on the other inputs,
    /// and calls that take it fail where it fails. Otherwise such a call creates no node, and is evaluated only
    /// up to the first input on which it fails. Default false.
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
    /// Bounds for a search that skips whatever takes long: grids as large as those of tasks, 100,000 steps a
    /// call, and the machine alone.
    pub fn for_search() -> Self {
        let mut bounds = Self::default();
        bounds.call.max_steps = 100_000;
        bounds.call.max_cells = 900;
        bounds.by_reference = false;
        bounds
    }
}

/// A batt is out of memory: [`Bounds::max_bytes`] is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the batt is full: {bytes} bytes of {most}")]
pub struct Full {
    /// The bytes that it holds.
    pub bytes: usize,
    /// The bytes that it may hold.
    pub most: usize,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// A new node. If [failing calls are kept](Bounds::keeps_failing), it may fail on some inputs; see
    /// [`Batt::error`].
    New(NodeId),
    /// It has the values of this node on every input, and fails as that does.
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
    /// The machine bails out, and the reference is [not used](Bounds::by_reference): [`Batt::by_reference`]
    /// returns the value or error that the call has.
    BailOut(BailOut),
}

/// How far a value is from the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// This many cells differ; 0 if it is the target.
    Cells(u32),
    /// It has another size, is not a grid, or has no value.
    Size,
}

/// The callee of a call: a primitive or a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Called {
    /// A primitive.
    Primitive(Primitive),
    /// The function that is this node.
    Function(NodeId),
    /// A function that was [defined](Batt::define) in the batt.
    Defined(Defined),
}

/// A function that was [defined](Batt::define) in a [`Batt`].
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

/// Counts of a batt's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BattCounts {
    /// Calls that were pushed or tried.
    pub calls: u64,
    /// Calls on an input.
    pub evaluations: u64,
    /// Those of them that the reference evaluated, since the machine cannot.
    pub by_reference: u64,
}

/// A state of a batt to return to: how many nodes it has, and how much of its memory is in use.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    nodes: u32,
    memory: InMemory,
    words: usize,
}

impl Mark {
    /// The state of a batt without inputs.
    const EMPTY: Self = Self {
        nodes: 0,
        memory: InMemory::EMPTY,
        words: 0,
    };
}

/// The most arguments that a call may have.
const MOST_ARGUMENTS: usize = 4;

/// The origin of a node.
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

/// How a node's values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Storage {
    /// In the machine, as values of the type with this number.
    Typed(u16),
    /// As values of the reference: they have no type in common.
    Loose,
    /// Not stored: it is a function, rebuilt from its call where it is applied. The number is its nesting depth
    /// in other functions.
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
    /// Whether on some input the value does not fit the machine.
    has_loose: bool,
    /// What is known of the order of its values, if these are sets.
    is_copied: Option<bool>,
    /// Whether it has no value on some input.
    fails: bool,
    /// The number of calls in its program; a call that is used twice counts twice.
    length: u32,
}

#[derive(Debug)]
struct Target {
    grid: Grid,
    /// `None` if it does not fit the machine.
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
    /// The values that do not fit the machine, by node and input, in the order of nodes.
    loose: FxHashMap<(u32, u32), Value>,
    loose_nodes: Vec<u32>,
    loose_bytes: usize,
    /// The errors of nodes.
    errors: Errors,
    /// The calls of added programs.
    steps: Steps,
    /// The functions as values of the reference, by node and input: each is equal only to itself.
    functions: RefCell<FxHashMap<(u32, u32), Value>>,
    /// A cache of values converted for the reference.
    reference_values: RefCell<ReferenceValues>,
    /// How many calls are being evaluated again, each for the one before it, and how many were for the first of them.
    again: Cell<(u8, u16)>,
    calls: Calls,
    /// The functions that were defined.
    defined: Vec<Program>,
    /// The nodes by the hash of their values.
    known: HashTable<u32>,
    /// How many nodes there were when each mark was set, ascending.
    marks: Vec<u32>,
    /// State of the current call: where the values of its operands start, whether one of them does not fit the
    /// machine, and its own values that do not fit.
    parameters: Vec<u32>,
    takes_loose: bool,
    pending_loose: Vec<(u32, Value)>,
    /// The most steps that it took on an input.
    spent: u64,
    counts: BattCounts,
}

/// The maximum nesting depth of functions: the reference, which has a bound of its own, evaluates deeper ones. And how
/// many calls may be evaluated again, each for the one before it.
const MOST_DEPTH: u8 = 50;

/// How many calls may be evaluated again for one value.
const MOST_AGAIN: u16 = 1_000;

/// The room reserved before each call: few calls need more, for which the pools then grow.
const HEADROOM: Room = Room {
    tiles: 1 << 6,
    patches: 1 << 12,
    rows: 1 << 12,
    elements: 1 << 12,
};

/// The least number of nodes to reserve room for.
const MORE_NODES: usize = 1 << 10;

impl Batt {
    /// A batt over these inputs, with the expected outputs as far as they are known: missing targets are
    /// unknown, and those without an input are ignored.
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
            reference_values: RefCell::default(),
            again: Cell::default(),
            calls: Calls::default(),
            defined: Vec::new(),
            known: HashTable::new(),
            marks: Vec::new(),
            parameters: Vec::new(),
            takes_loose: false,
            pending_loose: Vec::new(),
            spent: 0,
            counts: BattCounts::default(),
        };
        batt.restart(inputs, targets);
        batt
    }

    /// Starts again over other inputs, keeping its memory and the compiled calls.
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

    /// The nodes, in the order of their creation.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// Whether there is no node; there is always the input.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What it has done so far.
    pub fn counts(&self) -> BattCounts {
        self.counts
    }

    /// The bytes that the batt has allocated; values that do not fit the machine count by their weight.
    pub fn bytes(&self) -> usize {
        self.machine.memory.bytes()
            + self.nodes.capacity() * size_of::<Node>()
            + self.slots.capacity() * size_of::<Slot>()
            + self.known.capacity() * (size_of::<u32>() + 1) * 8 / 7
            + self.grids.bytes()
            + self.errors.bytes()
            + self.steps.bytes()
            + self.loose_bytes
            + self.reference_values.borrow().bytes()
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
        // A constant has a value on every input.
        Ok(pushed.node().unwrap_or(NodeId(0)))
    }

    /// A primitive as a value.
    pub fn primitive(&mut self, primitive: Primitive) -> Result<NodeId, Full> {
        self.constant(&Value::Primitive(primitive))
    }

    /// Defines a function whose calls are one step each: its intermediate values are no nodes. `None` if it has
    /// more inputs than a call may have arguments, is not in the public dialect, or if there are too many
    /// functions. It stays defined for the lifetime of the batt, across [restarts](Self::restart).
    ///
    /// The [program](Self::program) of a node contains the steps of the function.
    ///
    /// ```
    /// use arc_cpu::{Batt, Bounds};
    /// let text = "def beside(a, b): return hconcat(a, vmirror(b))";
    /// let function = arc_text::parse_functions(text).remove(0)?;
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
    /// It is evaluated on one input after the other until one fails. A call with the same values as a node, of
    /// one type and equal on all inputs, is that node. Functions are the same if they come from the same call, and so
    /// are sets of which another may be in another order, unless the [reference is not used](Bounds::by_reference): then
    /// equal sets are one node, which keeps the order of the call that came first.
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
        let before = self.state();
        let held = match call {
            Some(call) => self.evaluate(call, called, arguments),
            None => self.evaluate_by_reference(called, arguments),
        };
        match held {
            Ok(held) => {
                let source = Source::call(called, arguments);
                let length = self.length_of(called, arguments);
                let pushed = self.intern(source, held, length, before);
                if let (Pushed::New(node), Some(call)) = (&pushed, call) {
                    self.nodes[node.index()].is_copied = self.calls.get(call).is_copied;
                }
                Ok(pushed)
            }
            Err(failed) => {
                self.forget(before);
                Ok(Pushed::Failed(failed))
            }
        }
    }

    /// The value of a call on an input, or why it has none, according to the reference.
    pub fn by_reference(
        &self,
        called: impl Into<Called>,
        arguments: &[NodeId],
        input: usize,
    ) -> Result<Value, EvalError> {
        self.counted_by_reference(called.into(), arguments, input).0
    }

    /// The value of a node on an input, or the error with which its program ends there. Building a function for
    /// that may reach a bound; so may a value that shares much of its content within the batt.
    pub fn value(&self, node: NodeId, input: usize) -> Result<Value, EvalError> {
        self.find_value(node, input, true)
    }

    /// The same, its sets in any order: what reads their elements alone has it sooner.
    pub fn unordered_value(&self, node: NodeId, input: usize) -> Result<Value, EvalError> {
        self.find_value(node, input, false)
    }

    fn find_value(&self, node: NodeId, input: usize, is_ordered: bool) -> Result<Value, EvalError> {
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
        if let Source::Call {
            called,
            count,
            arguments,
        } = &known.source
            && is_ordered
            && !slot_has_one_order(&self.machine.memory, ty, slot)
        {
            // The reference knows in which order the call builds its sets.
            let arguments = arguments.map(NodeId);
            let arguments = &arguments[..usize::from(*count)];
            return self.once((node.0, input as u32), || {
                self.again(|| self.by_reference(*called, arguments, input))
            });
        }
        Ok(self.machine.value(ty, slot).unwrap_or(Value::Nothing))
    }

    /// Evaluates a call again, for the order of the sets in its value; that needs those of its arguments.
    fn again(
        &self,
        evaluate: impl FnOnce() -> Result<Value, EvalError>,
    ) -> Result<Value, EvalError> {
        let (depth, count) = match self.again.get() {
            (0, _) => (0, 0),
            again => again,
        };
        if depth == MOST_DEPTH || count == MOST_AGAIN {
            return Err(EvalError {
                line: 0,
                primitive: None,
                kind: ErrorKind::Limit(Limit::Memory),
            });
        }
        self.again.set((depth + 1, count + 1));
        let value = evaluate();
        let (_, count) = self.again.get();
        self.again.set((depth, count));
        value
    }

    /// The planes of a node's value on an input; `None` if it is not a grid, or if the batt does not hold it as
    /// planes ([`Batt::value`] tells which).
    pub fn planes(&self, node: NodeId, input: usize) -> Option<Planes<'_>> {
        let is_held = self.nodes[node.index()].held == Storage::Typed(GRID)
            && self.error(node, input).is_none()
            && self.loose_value(node.0, input).is_none();
        is_held.then(|| self.grids.planes(self.slot(node.0, input)))
    }

    /// Passes the rows of a node's patch on an input that lie on a grid of this size to `take`: the row, its columns
    /// and, unless the patch is a set of locations, the bits of value 1, 2, 4 and 8 of their colours, as
    /// [`Planes::rows`] has them. Returns whether the batt holds such a patch as planes ([`Batt::value`] tells which).
    pub fn rows_of_patch(
        &self,
        node: NodeId,
        input: usize,
        (height, width): (usize, usize),
        mut take: impl FnMut(usize, u32, Option<[u32; 4]>),
    ) -> bool {
        let is_held = matches!(
            self.ty(node),
            Some(Type::Indices | Type::Object | Type::Patch)
        ) && height.max(width) <= SIDE as usize
            && self.error(node, input).is_none()
            && self.loose_value(node.0, input).is_none();
        if is_held {
            let memory = &self.machine.memory;
            let patch = memory.patches.get(self.slot(node.0, input));
            let object = memory.object(&patch);
            let (height, width) = (height as u32, width as u32);
            object.shape.each_row_on(height, width, |i, columns| {
                let planes = (patch.paint != Paint::None).then(|| {
                    object
                        .colours
                        .row(i as i32, 0)
                        .map(|it| it as u32 & columns)
                });
                take(i, columns, planes);
            });
        }
        is_held
    }

    /// Whether a node's value on an input exceeds the bound on the weight of a value.
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
        self.machine
            .check_weight(self.calls.ty(number), slot)
            .is_err()
    }

    /// The type of a node's values; `None` for a function, and if they have no type in common.
    pub fn ty(&self, node: NodeId) -> Option<&Type> {
        match self.nodes[node.index()].held {
            Storage::Typed(number) => Some(self.calls.ty(number)),
            Storage::Loose | Storage::Function(_) => None,
        }
    }

    /// A hash of a node's values on all inputs. Nodes of one type with the same values have the same hash in
    /// every batt over the same inputs; the hash of a function is that of its call.
    pub fn hash(&self, node: NodeId) -> u128 {
        self.nodes[node.index()].hash
    }

    /// The number of calls in a node's program; a call that is used twice counts twice.
    pub fn length(&self, node: NodeId) -> usize {
        self.nodes[node.index()].length as usize
    }

    /// Whether a node gives the target on every input that has one, and a grid on the others; always false if
    /// no input has one.
    pub fn is_solution(&self, node: NodeId) -> bool {
        let has_target = self.targets.iter().take(self.inputs).any(Option::is_some);
        has_target
            && (0..self.inputs).all(|input| match self.targets.get(input) {
                Some(Some(_)) => self.distance(node, input) == Some(Distance::Cells(0)),
                _ => self.is_grid(node, input),
            })
    }

    /// The distance of a node's value from the target of an input; `None` if there is no target.
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

    /// Records the state of the batt, for [`release`](Self::release).
    pub fn mark(&mut self) -> Mark {
        let mark = self.state();
        if self.marks.last() != Some(&mark.nodes) {
            self.marks.push(mark.nodes);
        }
        mark
    }

    /// Removes the nodes created since. Releasing a mark invalidates all marks that were set later.
    pub fn release(&mut self, mark: Mark) {
        if (mark.nodes as usize) < self.nodes.len() {
            self.forget_nodes(mark);
        }
    }

    /// Removes the nodes behind the mark and all data about them, since their numbers will be reused. The
    /// pattern names every field, so that adding a field forces a decision about it.
    fn forget_nodes(&mut self, mark: Mark) {
        let first = mark.nodes;
        let Self {
            nodes,
            slots,
            loose,
            loose_nodes,
            loose_bytes,
            errors,
            steps,
            functions,
            reference_values,
            known,
            marks,
            // State of the current call.
            parameters: _,
            again: _,
            takes_loose: _,
            pending_loose,
            spent: _,
            // Released below, to the size they had.
            grids: _,
            machine: _,
            // Not specific to nodes.
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
        reference_values.get_mut().clear();
        pending_loose.clear();
        marks.retain(|nodes| *nodes <= first);
        nodes.truncate(first as usize);
        slots.truncate(first as usize * *inputs);
        self.give_back(mark);
    }
}
