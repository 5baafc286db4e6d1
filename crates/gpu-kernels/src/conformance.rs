//! Whether a device gives what the reference gives: every operation on random operands, and whole
//! programs.
//!
//! The one suite for all devices: tests run it on the emulated one, `mega-batch selfcheck` on the
//! user's own. A device may hand a case back; it may not give another value, nor any value where
//! the reference fails.

use std::collections::BTreeMap;
use std::fmt;

use arc_dsl::generate::{Expression, Generator};
use arc_dsl::{Cell, Grid, Interpreter, Loc, Primitive, Program, Type, Value, form};

use crate::device::{Device, DeviceError};
use crate::encode::{HostOnly, encode};
use crate::engine::{Engine, Evaluation};
use crate::operations::{KEYS, Kind, OPERATIONS, Operation};
use crate::pool::{LANES, Pool, Structure};
use crate::program::{Builder, DeviceProgram, Immediate};
use crate::punt::Punt;
use crate::verdict::Verdict;

mod grids;

/// One operation on values that the device holds.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its place in [`OPERATIONS`].
    pub opcode: usize,
    /// What its instruction says beside the operands.
    pub immediate: Immediate,
    /// The primitive's arguments, flags and functions among them.
    pub arguments: Vec<Value>,
    /// How far the windows of patches go on before their locations, as far as they can: rows and
    /// columns.
    pub before: (usize, usize),
    /// What the reference gives; nothing where it fails.
    pub expected: Option<Value>,
}

impl Case {
    /// The operation.
    pub fn operation(&self) -> &'static Operation {
        &OPERATIONS[self.opcode]
    }

    /// Whether a value that the device gave is the expected one.
    fn agrees(&self, found: &Value) -> bool {
        let Some(expected) = &self.expected else {
            return false;
        };
        let kind = self.operation().gives;
        if kind == Kind::Objects {
            return found == expected;
        }
        let mut pool = Pool::default();
        // As the device would hold it: of what it does not hold there is no right value.
        let held = pool
            .push(kind, expected)
            .ok()
            .and_then(|place| pool.value(kind, place));
        match held {
            Some(held) if held == *found => true,
            // A truth value in a tuple or a set counts as an integer.
            None if expected == found => true,
            _ => self.immediate.clipped && seen(expected) == seen(found),
        }
    }
}

/// Of a patch, what lies in rows and columns 0 to 31, which is all that a clipped one has to have.
fn seen(value: &Value) -> Option<Value> {
    let sides = 0..LANES as i32;
    let inside = |loc: &Loc| sides.contains(&loc.i) && sides.contains(&loc.j);
    match value {
        Value::Indices(locs) => Some(Value::set(
            locs.as_slice()
                .iter()
                .copied()
                .filter(inside)
                .map(Value::from),
        )),
        Value::Object(cells) => {
            let cells = cells.as_slice().iter().copied();
            Some(Value::set(
                cells.filter(|cell| inside(&cell.loc)).map(Value::from),
            ))
        }
        Value::Set(_) => Some(value.clone()),
        _ => None,
    }
}

/// The call as program text.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.operation().primitive)?;
        for (number, argument) in self.arguments.iter().enumerate() {
            write!(f, "{}{argument}", if number == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}

/// A case in which the device does not give what the reference gives.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The case.
    pub case: Case,
    /// What the device gave.
    pub found: Value,
    /// Whether it is held as operations rely on, with nothing beside its cells.
    pub clean: bool,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { case, found, clean } = self;
        let operation = case.operation();
        writeln!(f, "{} differs on", operation.name)?;
        writeln!(f, "    {case}")?;
        if case.immediate != Immediate::default() {
            writeln!(f, "  with {:?}", case.immediate)?;
        }
        if case.before != (0, 0) {
            writeln!(f, "  in windows from {:?} before", case.before)?;
        }
        if operation.of_tuple {
            writeln!(f, "  of which it gives element {}", case.immediate.key)?;
        }
        match &case.expected {
            Some(expected) => writeln!(f, "  reference: {expected}")?,
            None => writeln!(f, "  reference: an error")?,
        }
        write!(f, "  device:    {found}")?;
        if !clean {
            f.write_str(", and bits beside its cells")?;
        }
        Ok(())
    }
}

/// What came of an operation's or of programs' cases.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Cases in which the device gave the reference's value.
    pub same: u64,
    /// Cases in which the reference fails and the device handed back.
    pub failing: u64,
    /// Other cases that the device handed back, by reason.
    pub handed_back: BTreeMap<Punt, u64>,
    /// Cases that differ.
    pub different: u64,
    /// The first of them.
    pub first: Option<Box<Difference>>,
}

impl Tally {
    /// All cases.
    pub fn cases(&self) -> u64 {
        self.same + self.failing + self.different + self.handed_back.values().sum::<u64>()
    }

    /// Adds what came of other cases.
    pub fn add(&mut self, other: Tally) {
        self.same += other.same;
        self.failing += other.failing;
        self.different += other.different;
        for (reason, count) in other.handed_back {
            *self.handed_back.entry(reason).or_default() += count;
        }
        self.first = self.first.take().or(other.first);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>8} same {:>7} errors", self.same, self.failing)?;
        let back: u64 = self.handed_back.values().sum();
        write!(f, " {back:>7} handed back {:>5} different", self.different)
    }
}

/// Makes random cases of operations.
#[derive(Debug)]
pub struct Cases {
    generator: Generator,
    interpreter: Interpreter,
    /// A number that settles what the generator leaves open.
    state: u64,
}

impl Cases {
    /// The same cases for the same seed.
    pub fn new(seed: u64) -> Self {
        Self {
            generator: Generator::new(seed),
            interpreter: Interpreter::default(),
            state: seed ^ 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// A number below `bound`, by `SplitMix64` (Vigna).
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ x >> 31) % bound
    }

    /// A case of the operation, whose operands the device can hold; nothing where the dice made
    /// none.
    pub fn of(&mut self, opcode: usize) -> Option<Case> {
        let operation = &OPERATIONS[opcode];
        let structure = Structure::ALL[self.below(Structure::ALL.len() as u64) as usize];
        let mut immediate = Immediate {
            clipped: self.below(4) == 0,
            ..Immediate::default()
        };
        let mut arguments = self.arguments(operation, structure)?;
        for (argument, kind) in arguments.iter_mut().zip(operation.takes) {
            match kind {
                Kind::Key => {
                    immediate.key = self.below(KEYS.len() as u64) as u8;
                    *argument = Value::from(KEYS[usize::from(immediate.key)]);
                }
                Kind::Flag => *argument = Value::from(self.below(2) == 1),
                _ => {}
            }
        }
        immediate.structure = match operation.primitive {
            Primitive::objects => {
                immediate.flag = arguments.get(3).is_some_and(Value::is_truthy);
                Some(Structure::Connected {
                    univalued: arguments.get(1).is_some_and(Value::is_truthy),
                    diagonal: arguments.get(2).is_some_and(Value::is_truthy),
                })
            }
            Primitive::partition | Primitive::fgpartition => Some(Structure::ByColour),
            _ if operation.takes.contains(&Kind::Objects) => Some(structure),
            _ => None,
        };
        let borrowed: Vec<&Value> = arguments.iter().collect();
        let function = Value::from(operation.primitive);
        let mut expected = self.interpreter.call(&function, &borrowed).ok();
        if operation.of_tuple {
            let elements = match &expected {
                Some(Value::Tuple(elements)) => elements.as_slice().to_vec(),
                Some(_) => return None,
                None => Vec::new(),
            };
            immediate.key = self.below(elements.len() as u64 + 1) as u8;
            expected = elements.get(usize::from(immediate.key)).cloned();
        }
        let before = match self.below(2) {
            0 => (0, 0),
            _ => (self.below(32) as usize, self.below(32) as usize),
        };
        let mut pool = Pool::default();
        for (value, kind) in arguments.iter().zip(operation.takes) {
            if kind.is_operand() {
                pool.push(*kind, value).ok()?;
            }
        }
        Some(Case {
            opcode,
            immediate,
            arguments,
            before,
            expected,
        })
    }

    /// Arguments of the kinds that the operation takes: those of a call that suits the primitive,
    /// or each by its kind alone.
    fn arguments(&mut self, operation: &Operation, structure: Structure) -> Option<Vec<Value>> {
        let takes_objects = operation.takes.contains(&Kind::Objects);
        let by_kind = takes_objects || self.below(3) == 0;
        for _ in 0..if by_kind { 0 } else { 8 } {
            let call = self.generator.arguments(operation.primitive);
            let values: Option<Vec<Value>> = call
                .into_iter()
                .map(|argument| match argument {
                    Expression::Value(value) => Some(value),
                    Expression::Call(..) => Some(Value::Nothing),
                })
                .collect();
            let suits = values.filter(|values| {
                let mut pairs = values.iter().zip(operation.takes);
                values.len() == operation.takes.len()
                    && pairs.all(|(value, kind)| {
                        let object = matches!(value, Value::Object(_));
                        !kind.is_operand()
                            || is_of(value, *kind)
                                && (!object || operation.admits(Kind::Object, *kind))
                    })
            });
            if suits.is_some() {
                return suits;
            }
        }
        let mut values: Vec<Value> = Vec::with_capacity(operation.takes.len());
        for kind in operation.takes {
            let similar = self.similar(*kind, values.last());
            values.push(match kind {
                Kind::Patch | Kind::Object if similar.is_some() => similar?,
                Kind::Int => self.number(),
                Kind::Pair => self.pair(),
                Kind::Grid if self.below(3) == 0 => Value::from(self.large_grid()),
                Kind::Grid if self.below(2) == 0 => Value::from(self.patterned_grid()),
                Kind::Grid => self.generator.value(Type::Grid),
                Kind::Patch if operation.admits(Kind::Object, *kind) && self.below(3) == 0 => {
                    self.object()
                }
                Kind::Patch => self.patch(),
                Kind::Object if self.below(3) == 0 => {
                    let grid = values.iter().rev().find_map(Value::as_grid);
                    match grid.map(|grid| grid.clone()) {
                        Some(grid) => self.part(&grid),
                        None => {
                            let grid = self.patterned_grid();
                            self.part(&grid)
                        }
                    }
                }
                Kind::Object => self.object(),
                Kind::Colours => self.colours(),
                Kind::Objects => self.objects(
                    structure,
                    values.iter().rev().find(|value| is_set(value)).cloned(),
                )?,
                Kind::Flag | Kind::Key => Value::Nothing,
            });
        }
        // An object that is looked for among objects is mostly one of them.
        let objects = operation
            .takes
            .iter()
            .position(|kind| *kind == Kind::Objects);
        let object = operation
            .takes
            .iter()
            .position(|kind| *kind == Kind::Object);
        if let (Some(objects), Some(object)) = (objects, object)
            && self.below(4) > 0
            && let Some(elements) = elements(&values[objects])
            && !elements.is_empty()
        {
            let element = elements[self.below(elements.len() as u64) as usize].clone();
            values[object] = match self.below(3) {
                0 => self.changed(&element, false),
                _ => element,
            };
        }
        Some(values)
    }

    /// An integer, now and then nothing or a large one.
    fn number(&mut self) -> Value {
        match self.below(16) {
            0 => Value::Nothing,
            1 => Value::Int(arc_dsl::MAX_INT - self.below(3) as i32),
            2 => Value::Int(self.below(3) as i32 - arc_dsl::MAX_INT),
            3..8 => Value::Int(self.below(12) as i32 - 1),
            _ => self.generator.value(Type::Integer),
        }
    }

    /// A pair, now and then near the bounds of what the device holds.
    fn pair(&mut self) -> Value {
        match self.below(8) {
            0 => Value::from(Loc::new(self.far(), self.far())),
            1 => Value::tuple(Vec::new()),
            _ => self.generator.value(Type::IntegerTuple),
        }
    }

    fn far(&mut self) -> i32 {
        let near = self.below(80) as i32 - 40;
        match self.below(4) {
            0 => near.clamp(0, 39) + 31_970,
            1 => near.clamp(-39, 0) - 31_970,
            _ => near,
        }
    }

    fn patch(&mut self) -> Value {
        match self.below(2) {
            0 => self.generator.value(Type::Indices),
            _ => Value::set(self.locations().into_iter().map(Value::from)),
        }
    }

    fn object(&mut self) -> Value {
        match self.below(2) {
            0 => self.generator.value(Type::Object),
            _ => {
                let locs = self.locations();
                self.coloured(&locs)
            }
        }
    }

    /// An object with any colours at these locations.
    fn coloured(&mut self, locs: &[Loc]) -> Value {
        let mut locs = locs.to_vec();
        locs.sort_unstable();
        locs.dedup();
        let cell = |loc| Value::from(Cell::new(self.below(16) as i32 - 1, loc));
        Value::set(locs.into_iter().map(cell))
    }

    /// Often, where a patch stands before: that patch, or most of it, as it is or moved a little;
    /// a cell of it in another colour now and then.
    fn similar(&mut self, kind: Kind, before: Option<&Value>) -> Option<Value> {
        if self.below(2) == 0 {
            return None;
        }
        let way = match self.below(2) {
            0 => Loc::default(),
            _ => Loc::new(self.below(7) as i32 - 3, self.below(7) as i32 - 3),
        };
        let moved = |loc: Loc| Loc::new(loc.i + way.i, loc.j + way.j);
        let part = self.below(2) == 0;
        let mut kept = || !part || self.below(4) > 0;
        let (locs, cells): (Vec<Loc>, Vec<Cell>) = match before? {
            Value::Indices(locs) => {
                let locs = locs.as_slice().iter().filter(|_| kept());
                (locs.map(|loc| moved(*loc)).collect(), Vec::new())
            }
            Value::Object(cells) => {
                let cells = cells.as_slice().iter().filter(|_| kept());
                let cells = cells.map(|cell| Cell::new(cell.colour, moved(cell.loc)));
                let cells: Vec<Cell> = cells.collect();
                (cells.iter().map(|cell| cell.loc).collect(), cells)
            }
            _ => return None,
        };
        if kind == Kind::Patch {
            return Some(Value::set(locs.into_iter().map(Value::from)));
        }
        if cells.is_empty() {
            return Some(self.coloured(&locs));
        }
        let cells = cells.into_iter().map(|cell| match self.below(32) {
            0 => Value::from(Cell::new(self.below(16) as i32 - 1, cell.loc)),
            _ => Value::from(cell),
        });
        Some(Value::set(cells))
    }

    /// Some locations of a box of any size that the device holds, and now and then all of them; on
    /// and about a grid, or now and then far off.
    fn locations(&mut self) -> Vec<Loc> {
        let bound = if self.below(2) == 0 { 32 } else { 6 };
        let (height, width) = (self.below(bound) + 1, self.below(bound) + 1);
        let (i, j) = match self.below(8) {
            0 => (self.far(), self.far()),
            _ => (self.below(70) as i32 - 35, self.below(70) as i32 - 35),
        };
        let count = match self.below(4) {
            0 => {
                let all = (0..height).flat_map(|r| (0..width).map(move |c| (r, c)));
                return all
                    .map(|(r, c)| Loc::new(i + r as i32, j + c as i32))
                    .collect();
            }
            1 => self.below(40),
            2 => self.below(12),
            _ => self.below(5),
        };
        (0..count)
            .map(|_| {
                let (r, c) = (self.below(height), self.below(width));
                Loc::new(i + r as i32, j + c as i32)
            })
            .collect()
    }

    /// A grid of any size and of any colours that the device holds.
    fn large_grid(&mut self) -> Grid {
        let (height, width) = match self.below(16) {
            0 => (0, 0),
            1 => (1 + self.below(32), 0),
            2..6 => (32, 32),
            _ => (1 + self.below(32), 1 + self.below(32)),
        };
        // Few colours, so that some occur as often as others, or all.
        let most = if self.below(2) == 0 { 3 } else { 16 };
        let colours = 1 + self.below(most);
        let first = self.below(16);
        let (height, width) = (height as usize, width as usize);
        let mut cells: Vec<i8> = (0..height * width)
            .map(|_| ((first + self.below(colours)) % 16) as i8 - 1)
            .collect();
        // Now and then with lines of one colour and rows that repeat.
        let lines = match self.below(4) {
            0 if !cells.is_empty() => self.below(40),
            _ => 0,
        };
        for _ in 0..lines {
            let (i, from) = (self.below(height as u64), self.below(height as u64));
            let (i, from, j) = (i as usize, from as usize, self.below(width as u64));
            match self.below(3) {
                0 => cells[i * width..][..width].fill(first as i8 - 1),
                1 => (cells.iter_mut().skip(j as usize).step_by(width))
                    .for_each(|cell| *cell = first as i8 - 1),
                _ => cells.copy_within(from * width..(from + 1) * width, i * width),
            }
        }
        Grid::from_cells(height, width, cells)
    }

    fn colours(&mut self) -> Value {
        let count = self.below(6);
        let colours: Vec<Value> = (0..count)
            .map(|_| Value::Int(self.below(16) as i32 - 1))
            .collect();
        Value::set(colours)
    }

    /// See [`grids::patterned`].
    fn patterned_grid(&mut self) -> Grid {
        grids::patterned(&mut |bound| self.below(bound))
    }

    /// See [`grids::part`].
    fn part(&mut self, grid: &Grid) -> Value {
        grids::part(&mut |bound| self.below(bound), grid)
    }

    /// See [`grids::changed`].
    fn changed(&mut self, cells: &Value, inside: bool) -> Value {
        grids::changed(&mut |bound| self.below(bound), cells, inside)
    }

    /// Some of the objects of a grid, so made as the structure says; or, given a set of objects,
    /// now and then some of these, or those of a grid that differs from theirs in a few cells.
    fn objects(&mut self, structure: Structure, like: Option<Value>) -> Option<Value> {
        let all = match like {
            Some(like) if self.below(3) == 0 => like,
            Some(like) if self.below(2) == 0 => {
                let mut pool = Pool::default();
                let place = pool.push(Kind::Objects, &like).ok()?;
                let all = pool.value(Kind::Objects, place)?;
                let changed = self.changed(&all, true);
                structure.elements(&changed)
            }
            _ => {
                let grid = match self.below(4) {
                    0 => self.generator.value(Type::Grid),
                    1 => Value::from(self.large_grid()),
                    _ => Value::from(self.patterned_grid()),
                };
                let result = match structure {
                    Structure::ByColour => self
                        .interpreter
                        .call(&Value::from(Primitive::partition), &[&grid]),
                    Structure::Connected {
                        univalued,
                        diagonal,
                    } => {
                        let flags = [univalued, diagonal, self.below(2) == 0].map(Value::from);
                        let [a, b, c] = &flags;
                        self.interpreter
                            .call(&Value::from(Primitive::objects), &[&grid, a, b, c])
                    }
                };
                result.ok()?
            }
        };
        if self.below(2) == 0 {
            return Some(all);
        }
        let elements = elements(&all)?.to_vec();
        let some: Vec<Value> = elements.into_iter().filter(|_| self.below(3) > 0).collect();
        Some(Value::set(some))
    }
}

fn is_set(value: &Value) -> bool {
    elements(value).is_some()
}

fn elements(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Set(elements) => Some(elements.as_slice()),
        _ => None,
    }
}

/// Whether the device would hold such a value in this way.
fn is_of(value: &Value, kind: Kind) -> bool {
    Pool::default().push(kind, value).is_ok()
        && (kind != Kind::Int || !matches!(value, Value::Nothing))
}

/// A program of the one instruction of a case.
fn program_of(case: &Case) -> Option<DeviceProgram> {
    let mut builder = Builder::default();
    let kinds = case
        .operation()
        .takes
        .iter()
        .filter(|kind| kind.is_operand());
    let operands: Vec<_> = kinds.map(|kind| builder.parameter(*kind)).collect();
    let result = builder.emit(case.opcode, case.immediate, &operands, 0);
    builder
        .finish(result, case.operation().gives, case.immediate.structure)
        .ok()
}

/// Runs cases in one launch, and compares.
pub fn check<D: Device>(
    engine: &Engine<D>,
    cases: Vec<Case>,
) -> Result<BTreeMap<usize, Tally>, DeviceError> {
    let mut programs: Vec<DeviceProgram> = Vec::new();
    let mut numbers: BTreeMap<(usize, u32), u32> = BTreeMap::new();
    let mut pool = Pool::default();
    let mut evaluations = Vec::with_capacity(cases.len());
    let mut launched = Vec::with_capacity(cases.len());
    for case in cases {
        let Some(program) = program_of(&case) else {
            continue;
        };
        let key = (case.opcode, u32::from(case.immediate.bits()));
        let number = *numbers.entry(key).or_insert_with(|| {
            programs.push(program);
            programs.len() as u32 - 1
        });
        let arguments = pool.end();
        for (value, kind) in case.arguments.iter().zip(case.operation().takes) {
            if kind.is_operand() {
                // Cases hold only what fits.
                if let Ok(place) = pool.push(*kind, value)
                    && matches!(kind, Kind::Patch | Kind::Object)
                {
                    pool.widen(*kind, place, case.before);
                }
            }
        }
        evaluations.push(Evaluation {
            program: number,
            arguments,
            expected: None,
            fetch: true,
        });
        launched.push(case);
    }
    let loaded = engine.load(&programs)?;
    let (verdicts, results) = engine.run(&loaded, &pool, &evaluations)?;
    let mut tallies: BTreeMap<usize, Tally> = BTreeMap::new();
    for (number, (case, verdict)) in launched.into_iter().zip(verdicts).enumerate() {
        let tally = tallies.entry(case.opcode).or_default();
        match verdict {
            Verdict::HandedBack { .. } if case.expected.is_none() => tally.failing += 1,
            Verdict::HandedBack { reason, .. } => {
                *tally.handed_back.entry(reason).or_default() += 1;
            }
            Verdict::Done { .. } => {
                let found = results.value(number).unwrap_or(Value::Nothing);
                let clean = results.is_clean(number);
                if clean && case.agrees(&found) {
                    tally.same += 1;
                } else {
                    tally.different += 1;
                    tally
                        .first
                        .get_or_insert_with(|| Box::new(Difference { case, found, clean }));
                }
            }
        }
    }
    Ok(tallies)
}

/// Runs so many random cases of every operation.
pub fn random<D: Device>(
    engine: &Engine<D>,
    seed: u64,
    cases: u64,
) -> Result<BTreeMap<usize, Tally>, DeviceError> {
    let mut all = BTreeMap::new();
    let mut generator = Cases::new(seed);
    for opcode in 0..OPERATIONS.len() {
        // What the dice refuse, they refuse at most seven times in eight.
        let made = (0..cases * 8)
            .filter_map(|_| generator.of(opcode))
            .take(cases as usize)
            .collect();
        for (opcode, tally) in check(engine, made)? {
            let sum: &mut Tally = all.entry(opcode).or_default();
            sum.add(tally);
        }
    }
    Ok(all)
}

/// The device program of a program, or why the host alone runs it.
pub fn compiled(program: &Program) -> Result<DeviceProgram, String> {
    let form =
        form::specialise(program).map_err(|error| format!("no first-order form: {error}"))?;
    encode(&form).map_err(|reason: HostOnly| reason.summary())
}

/// What came of programs.
#[derive(Debug, Clone, Default)]
pub struct ProgramTally {
    /// Programs that the device runs.
    pub device: u64,
    /// Programs that only the host runs, by reason.
    pub host_only: BTreeMap<String, u64>,
    /// Their evaluations.
    pub same: u64,
    /// Evaluations that fail in the reference and were handed back.
    pub failing: u64,
    /// Evaluations that the device handed back, by reason.
    pub handed_back: BTreeMap<Punt, u64>,
    /// Evaluations that differ.
    pub different: u64,
    /// The first of them, as text.
    pub first: Option<String>,
}

impl ProgramTally {
    /// Adds what came of other programs.
    pub fn add(&mut self, other: ProgramTally) {
        self.device += other.device;
        for (reason, count) in other.host_only {
            *self.host_only.entry(reason).or_default() += count;
        }
        self.same += other.same;
        self.failing += other.failing;
        for (reason, count) in other.handed_back {
            *self.handed_back.entry(reason).or_default() += count;
        }
        self.different += other.different;
        self.first = self.first.take().or(other.first);
    }
}

/// Runs each program on its inputs, all in one launch, and compares with the reference.
pub fn programs<D: Device>(
    engine: &Engine<D>,
    programs: &[(Program, Vec<Grid>)],
) -> Result<ProgramTally, DeviceError> {
    let mut tally = ProgramTally::default();
    let mut encoded = Vec::new();
    let mut pool = Pool::default();
    let mut evaluations = Vec::new();
    let mut launched = Vec::new();
    for (program, inputs) in programs {
        match compiled(program) {
            Err(reason) => *tally.host_only.entry(reason).or_default() += 1,
            Ok(on_device) => {
                tally.device += 1;
                encoded.push(on_device);
                for input in inputs {
                    match pool.push_grid(input) {
                        Err(punt) => *tally.handed_back.entry(punt).or_default() += 1,
                        Ok(arguments) => {
                            launched.push((program, input));
                            evaluations.push(Evaluation {
                                program: encoded.len() as u32 - 1,
                                arguments,
                                expected: None,
                                fetch: true,
                            });
                        }
                    }
                }
            }
        }
    }
    let loaded = engine.load(&encoded)?;
    let (verdicts, results) = engine.run(&loaded, &pool, &evaluations)?;
    let mut interpreter = Interpreter::default();
    for (number, ((program, input), verdict)) in launched.into_iter().zip(verdicts).enumerate() {
        let expected = interpreter.run(program, input.clone());
        match verdict {
            Verdict::HandedBack { .. } if expected.is_err() => tally.failing += 1,
            Verdict::HandedBack { reason, .. } => {
                *tally.handed_back.entry(reason).or_default() += 1;
            }
            Verdict::Done { .. } => {
                let found = results.value(number).unwrap_or(Value::Nothing);
                if expected.as_ref() == Ok(&found) {
                    tally.same += 1;
                } else {
                    tally.different += 1;
                    tally.first.get_or_insert_with(|| {
                        let reference = match expected {
                            Ok(value) => value.to_string(),
                            Err(error) => error.to_string(),
                        };
                        format!(
                            "{program}  on {}\n  reference: {reference}\n  device:    {found}",
                            Value::from(input.clone())
                        )
                    });
                }
            }
        }
    }
    Ok(tally)
}
