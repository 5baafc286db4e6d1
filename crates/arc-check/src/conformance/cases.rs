//! [`Cases`]: random operands for every operation, including large grids and far patches.

use std::borrow::Cow;

use arc_dsl::generate::{Expression, Generator};
use arc_dsl::{Cell, ContainerKind, ErrorKind, Grid, Interpreter, Loc, Primitive, Type, Value};

use super::Case;
use gpu_kernels::Immediate;
use gpu_kernels::Pool;
use gpu_kernels::interface::{Key, MAX_ORIGIN, Representation, Structure};
use gpu_kernels::operations::{OPERATIONS, Operation};

mod by_lanes;
mod grids;
mod lists;

/// Generates random cases of operations.
#[derive(Debug)]
pub struct Cases {
    generator: Generator,
    interpreter: Interpreter,
    /// The state of the random numbers for what the generator does not decide.
    state: u64,
}

impl Cases {
    /// A generator; the same seed gives the same cases.
    fn new(seed: u64) -> Self {
        Self {
            generator: Generator::new(seed),
            interpreter: Interpreter::default(),
            state: seed ^ 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// At most `count` cases of an operation, which `make` makes of a generator of their own.
    pub fn drawn<C>(
        seed: u64,
        opcode: u16,
        count: usize,
        make: impl Fn(&mut Cases) -> Option<C>,
    ) -> impl Iterator<Item = C> {
        let mut cases = Self::new(seed ^ u64::from(opcode) << 32);
        let drawn = (0..count * 8).filter_map(move |_| make(&mut cases));
        drawn.take(count)
    }

    /// A number below `bound`, by `SplitMix64` (Vigna).
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ x >> 31) % bound
    }

    /// A case of the operation with operands that the device can hold; `None` if this attempt produced none.
    pub fn of(&mut self, opcode: usize) -> Option<Case> {
        let operation = &OPERATIONS[opcode];
        let structure = Structure::ALL[self.below(Structure::ALL.len() as u64) as usize];
        let mut immediate = Immediate {
            clipped: self.below(4) == 0,
            ..Immediate::default()
        };
        let mut arguments = self.arguments(operation, structure)?;
        // Of several elements the device does not know the first.
        if matches!(operation.primitive, Primitive::First | Primitive::Last)
            && self.below(2) == 0
            && let Some(set) = arguments[0].as_container()
            && set.kind == ContainerKind::Set
        {
            arguments[0] = Value::set(set.iter().take(1).map(Cow::into_owned));
        }
        for (argument, representation) in arguments.iter_mut().zip(operation.takes) {
            match representation {
                Representation::Key => {
                    let key = Key::ALL[self.below(Key::ALL.len() as u64) as usize];
                    immediate.key = key as u8;
                    *argument = Value::from(key.function());
                }
                Representation::Flag => *argument = Value::from(self.below(2) == 1),
                _ => {}
            }
        }
        immediate.structure = match operation.primitive {
            Primitive::Objects => {
                immediate.flag = arguments.get(3).is_some_and(Value::is_truthy);
                Some(Structure::Connected {
                    univalued: arguments.get(1).is_some_and(Value::is_truthy),
                    diagonal: arguments.get(2).is_some_and(Value::is_truthy),
                })
            }
            Primitive::Partition | Primitive::Fgpartition => Some(Structure::ByColour),
            Primitive::Frontiers => Some(Structure::Frontiers),
            _ if operation.takes.contains(&Representation::Objects) => Some(structure),
            _ => None,
        };
        let borrowed: Vec<&Value> = arguments.iter().collect();
        let function = Value::from(operation.primitive);
        let called = self.interpreter.call(&function, &borrowed);
        let mut expected = called.map_err(|error| error.kind);
        if operation.of_tuple {
            let elements = match &expected {
                Ok(Value::Tuple(elements)) => elements.as_slice().to_vec(),
                Ok(_) => return None,
                Err(_) => Vec::new(),
            };
            immediate.key = self.below(elements.len() as u64 + 1) as u8;
            if expected.is_ok() {
                let element = elements.get(usize::from(immediate.key));
                expected = element.cloned().ok_or(ErrorKind::OutOfRange);
            }
        }
        let before = match self.below(2) {
            0 => (0, 0),
            _ => (self.below(32) as usize, self.below(32) as usize),
        };
        let mut pool = Pool::default();
        for (value, representation) in arguments.iter().zip(operation.takes) {
            if representation.is_operand() {
                pool.push(*representation, value).ok()?;
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

    /// Arguments in the representations that the operation takes: those of a suitable call of the primitive, or each
    /// by its representation alone.
    fn arguments(&mut self, operation: &Operation, structure: Structure) -> Option<Vec<Value>> {
        let takes_objects = operation.takes.contains(&Representation::Objects);
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
                    && pairs.all(|(value, representation)| {
                        let object = matches!(value, Value::Object(_));
                        !representation.is_operand()
                            || is_held_as(value, *representation)
                                && (!object
                                    || operation.admits(Representation::Object, *representation))
                    })
            });
            if suits.is_some() {
                return suits;
            }
        }
        let mut values: Vec<Value> = Vec::with_capacity(operation.takes.len());
        for representation in operation.takes {
            let similar = self.similar(*representation, values.last());
            values.push(match representation {
                Representation::Patch | Representation::Object if similar.is_some() => similar?,
                Representation::Int => self.number(),
                Representation::Pair => self.pair(),
                Representation::Grid if self.below(3) == 0 => Value::from(self.large_grid()),
                Representation::Grid if self.below(2) == 0 => Value::from(self.patterned_grid()),
                Representation::Grid => self.generator.value(Type::Grid),
                Representation::Patch
                    if operation.admits(Representation::Object, *representation)
                        && self.below(3) == 0 =>
                {
                    self.object()
                }
                Representation::Patch => self.patch(),
                Representation::Object if self.below(3) == 0 => {
                    let earlier = values.iter().rev().find_map(Value::as_grid);
                    let grid = earlier.map(Cow::into_owned);
                    let grid = grid.unwrap_or_else(|| self.patterned_grid());
                    self.part(&grid)
                }
                Representation::Object => self.object(),
                Representation::Colours => self.colours(),
                Representation::Objects => self.objects(
                    structure,
                    values
                        .iter()
                        .rev()
                        .find(|value| elements(value).is_some())
                        .cloned(),
                )?,
                Representation::Flag
                | Representation::Key
                | Representation::Column
                | Representation::Word
                | Representation::Cell
                | Representation::List => Value::Nothing,
            });
        }
        // An object to search for is mostly one of the objects.
        let place = |wanted| operation.takes.iter().position(|taken| *taken == wanted);
        if let Some(objects) = place(Representation::Objects)
            && let Some(object) = place(Representation::Object)
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

    /// An integer, occasionally `Nothing` or a large one.
    fn number(&mut self) -> Value {
        match self.below(16) {
            0 => Value::Nothing,
            1 => Value::Int(arc_dsl::MAX_INT - self.below(3) as i32),
            2 => Value::Int(self.below(3) as i32 - arc_dsl::MAX_INT),
            3..8 => Value::Int(self.below(12) as i32 - 1),
            _ => self.generator.value(Type::Integer),
        }
    }

    /// A pair, occasionally near the limits of the device.
    fn pair(&mut self) -> Value {
        match self.below(8) {
            0 => Value::from(Loc::new(self.far(), self.far())),
            1 => Value::tuple(Vec::new()),
            _ => self.generator.value(Type::IntegerTuple),
        }
    }

    fn far(&mut self) -> i32 {
        let near = self.below(80) as i32 - 40;
        match self.below(8) {
            0 => near.clamp(0, 39) + 31_970,
            1 => near.clamp(-39, 0) - 31_970,
            // At the limits of 16 bits and of origins, and next to them.
            2 => near.signum() + 32_767,
            3 => near.signum() - 32_767,
            4 => near.signum() + MAX_ORIGIN,
            5 => near.signum() - MAX_ORIGIN,
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
        if self.below(2) == 0 {
            return self.generator.value(Type::Object);
        }
        let locs = self.locations();
        self.coloured(&locs)
    }

    /// An object with any colours at these locations.
    fn coloured(&mut self, locs: &[Loc]) -> Value {
        let mut locs = locs.to_vec();
        locs.sort_unstable();
        locs.dedup();
        let cell = |loc| Value::from(Cell::new(self.below(16) as i32 - 1, loc));
        Value::set(locs.into_iter().map(cell))
    }

    /// If a patch precedes, often that patch or most of it, in place or moved a little; occasionally with a cell in
    /// another colour.
    fn similar(&mut self, representation: Representation, before: Option<&Value>) -> Option<Value> {
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
        if representation == Representation::Patch {
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

    /// Some locations, occasionally all, of a box of any size that the device can hold; on and around a grid, or
    /// occasionally far away.
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

    /// A grid of any size and any colours that the device can hold.
    fn large_grid(&mut self) -> Grid {
        let (height, width) = match self.below(16) {
            0 => (0, 0),
            1 => (1 + self.below(32), 0),
            2..6 => (32, 32),
            _ => (1 + self.below(32), 1 + self.below(32)),
        };
        // Few colours, so that several are equally common or all occur.
        let most = if self.below(2) == 0 { 3 } else { 16 };
        let colours = 1 + self.below(most);
        let first = self.below(16);
        let (height, width) = (height as usize, width as usize);
        let mut cells: Vec<i8> = (0..height * width)
            .map(|_| ((first + self.below(colours)) % 16) as i8 - 1)
            .collect();
        // Occasionally with lines of one colour and repeated rows.
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

    /// Some of the objects of a grid, with this structure; given a set of objects, occasionally some of these, or
    /// those of a grid that differs from theirs in a few cells.
    fn objects(&mut self, structure: Structure, like: Option<Value>) -> Option<Value> {
        let all = match like {
            Some(like) if self.below(3) == 0 => like,
            Some(like) if self.below(2) == 0 => {
                let mut pool = Pool::default();
                let place = pool.push(Representation::Objects, &like).ok()?;
                let all = pool.value(Representation::Objects, place)?;
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
                    // No operation takes these.
                    Structure::Frontiers => return None,
                    Structure::ByColour => self
                        .interpreter
                        .call(&Value::from(Primitive::Partition), &[&grid]),
                    Structure::Connected {
                        univalued,
                        diagonal,
                    } => {
                        let flags = [univalued, diagonal, self.below(2) == 0].map(Value::from);
                        let [a, b, c] = &flags;
                        self.interpreter
                            .call(&Value::from(Primitive::Objects), &[&grid, a, b, c])
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

fn elements(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Set(elements) => Some(elements.as_slice()),
        _ => None,
    }
}

/// Whether the device would hold the value in this representation.
fn is_held_as(value: &Value, representation: Representation) -> bool {
    Pool::default().push(representation, value).is_ok()
        && (representation != Representation::Int || !matches!(value, Value::Nothing))
}
