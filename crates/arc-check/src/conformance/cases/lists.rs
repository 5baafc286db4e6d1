//! Operands and expected results of operations on lists: the specification of [`ListOperation`], in values of the
//! language.

use arc_dsl::{Cell, Container, Grid, Loc, Primitive, Value};
use gpu_kernels::interface::{BailOut, ElementKind, MAX_ORIGIN, Representation, Structure};
use gpu_kernels::list_operations::ListOperation;
use gpu_kernels::{Immediate, Pool};

use super::Cases;
use crate::conformance::lists::{Given, Item, ListCase, Outcome, Sort};
use crate::conformance::reasons::is_far;

/// Words in an arena.
const ARENA: usize = 1 << 14;

/// The maximum number of elements of a list that is built element by element.
const MOST: u64 = 6;

const KINDS: [ElementKind; 6] = [
    ElementKind::Integer,
    ElementKind::Pair,
    ElementKind::Cell,
    ElementKind::Grid,
    ElementKind::Patch,
    ElementKind::Object,
];

/// The operands and the expected result of an operation, before they become a case.
pub(super) struct Sketch {
    pub(super) immediate: Immediate,
    pub(super) given: Vec<Given>,
    pub(super) outcome: Outcome,
    pub(super) reasons: Vec<BailOut>,
}

impl Sketch {
    fn new(given: Vec<Given>, outcome: Outcome) -> Self {
        Sketch {
            immediate: Immediate::default(),
            given,
            outcome,
            reasons: Vec::new(),
        }
    }

    /// The operation has to bail out, for one of these reasons.
    fn failing(given: Vec<Given>, reasons: &[BailOut]) -> Self {
        let mut sketch = Sketch::new(given, Outcome::Failure);
        sketch.reasons = reasons.to_vec();
        sketch
    }

    fn with(mut self, immediate: Immediate) -> Self {
        self.immediate = immediate;
        self
    }

    /// It may also bail out for this reason.
    fn or(mut self, reason: BailOut) -> Self {
        self.reasons.push(reason);
        self
    }
}

/// A value that an operation computes, or the reason why the device cannot hold it.
fn held(given: Vec<Given>, representation: Representation, value: Value) -> Sketch {
    match Pool::default().push(representation, &value) {
        Ok(_) => Sketch::new(given, Outcome::Value(representation, value)),
        Err(reason) => Sketch::failing(given, &[reason]),
    }
}

fn int(value: i32) -> Outcome {
    Outcome::Value(Representation::Int, Value::Int(value))
}

fn one(value: impl Into<Value>) -> Item {
    Item::One(value.into())
}

fn ones<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Vec<Item> {
    values.into_iter().map(one).collect()
}

impl Cases {
    /// A case of an operation on lists; `None` if this attempt produced none.
    pub fn of_list(&mut self, operation: ListOperation) -> Option<ListCase> {
        if operation.takes().contains(&Representation::Column) {
            return self.of_columns(operation);
        }
        let sketch = self.sketch(operation)?;
        let Sketch {
            immediate,
            given,
            outcome,
            mut reasons,
        } = sketch;
        // Occasionally there is hardly any room.
        let room = (self.below(6) == 0).then(|| self.below(60) as u32);
        if room.is_some() {
            reasons.push(BailOut::Arena);
        }
        ListCase::new(operation, immediate, &given, &outcome, reasons, room)
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    /// The sort of elements: compared elements may be lists.
    fn sort(&mut self) -> Sort {
        Sort {
            kind: KINDS[self.below(6) as usize],
            listed: self.below(4) == 0,
        }
    }

    pub(super) fn scalar(&mut self) -> Sort {
        Sort::of(KINDS[self.below(3) as usize])
    }

    fn near(&mut self) -> Loc {
        Loc::new(self.below(12) as i32 - 3, self.below(12) as i32 - 3)
    }

    fn colour(&mut self) -> i32 {
        self.below(16) as i32 - 1
    }

    fn small_grid(&mut self) -> Grid {
        let (height, width) = (1 + self.below(4) as usize, 1 + self.below(4) as usize);
        let colours = 1 + self.below(3);
        let cells = (0..height * width).map(|_| self.below(colours) as i8);
        Grid::from_cells(height, width, cells.collect())
    }

    /// A value of a kind, mostly close to others so that comparisons matter.
    fn value_of(&mut self, kind: ElementKind) -> Value {
        let far = self.below(12) == 0;
        match kind {
            ElementKind::Integer if far => match self.number() {
                Value::Int(number) => Value::Int(number),
                _ => Value::Int(-7),
            },
            ElementKind::Integer => Value::Int(self.below(7) as i32 - 2),
            ElementKind::Pair if far => match self.pair() {
                Value::Loc(loc) if loc.i.abs() <= MAX_ORIGIN && loc.j.abs() <= MAX_ORIGIN => {
                    Value::from(loc)
                }
                _ => Value::from(Loc::new(0, 0)),
            },
            ElementKind::Pair => Value::from(self.near()),
            ElementKind::Cell => Value::from(Cell::new(self.colour(), self.near())),
            ElementKind::Grid => Value::from(self.small_grid()),
            ElementKind::Patch => {
                let count = self.below(6);
                let locs: Vec<Value> = (0..count).map(|_| Value::from(self.near())).collect();
                Value::set(locs)
            }
            ElementKind::Object => {
                let count = self.below(6);
                let locs: Vec<Loc> = (0..count).map(|_| self.near()).collect();
                self.coloured(&locs)
            }
        }
    }

    pub(super) fn item(&mut self, sort: Sort) -> Item {
        if sort.listed {
            let count = self.below(4);
            Item::Many((0..count).map(|_| self.value_of(sort.kind)).collect())
        } else {
            Item::One(self.value_of(sort.kind))
        }
    }

    /// Several items drawn from a few, so that some repeat.
    fn items(&mut self, sort: Sort) -> Vec<Item> {
        let different = 1 + self.below(4);
        let some: Vec<Item> = (0..different).map(|_| self.item(sort)).collect();
        self.of_some(&some)
    }

    fn of_some(&mut self, some: &[Item]) -> Vec<Item> {
        let count = self.below(MOST + 1);
        let pick = |_| some[self.below(some.len() as u64) as usize].clone();
        (0..count).map(pick).collect()
    }

    /// Two lists with common elements.
    fn two_lists(&mut self, sort: Sort) -> (Vec<Item>, Vec<Item>) {
        let some: Vec<Item> = (0..4).map(|_| self.item(sort)).collect();
        (self.of_some(&some), self.of_some(&some))
    }

    fn called(&self, primitive: Primitive, arguments: &[&Value]) -> Option<Value> {
        let function = Value::from(primitive);
        self.interpreter.call(&function, arguments).ok()
    }

    pub(super) fn sketch(&mut self, operation: ListOperation) -> Option<Sketch> {
        use ListOperation as L;
        Some(match operation {
            L::Mark | L::Release => Sketch::new(Vec::new(), Outcome::Marks),
            L::StorePatch | L::LoadPatch => {
                let value = self.patch();
                stored(Representation::Patch, value)?
            }
            L::StoreObject | L::LoadObject => {
                let value = self.object();
                stored(Representation::Object, value)?
            }
            L::StoreGrid | L::LoadGrid => {
                let value = Value::from(self.large_grid());
                stored(Representation::Grid, value)?
            }
            L::MoveWord => {
                let sort = self.scalar();
                let item = self.item(sort);
                Sketch::new(vec![Given::Word(item.clone())], Outcome::Word(sort, item))
            }
            L::Cell
            | L::ColourOfCell
            | L::PlaceOfCell
            | L::PositiveCount
            | L::AtMostOne
            | L::Fail => self.of_scalars(operation),
            L::ListOfPatch
            | L::ListOfObject
            | L::ListOfObjects
            | L::ListOfColours
            | L::ListOfRows
            | L::ListOfParts
            | L::ListOfFrontiers
            | L::ListOfLine => self.of_container(operation)?,
            L::PatchOfList | L::ObjectOfList | L::GridOfList | L::PaintList => {
                self.container_of(operation)?
            }
            L::EqualityOfElements
            | L::Improves
            | L::SetOfList
            | L::Order
            | L::ContainedInList
            | L::Commonest
            | L::Among
            | L::RemoveFromList
            | L::DedupeList => self.comparing(operation),
            L::OutermostInteger => self.outermost(),
            _ => self.plain(operation),
        })
    }

    fn of_scalars(&mut self, operation: ListOperation) -> Sketch {
        use ListOperation as L;
        let given = |representation, value: &Value| Given::Value(representation, value.clone());
        let cell = Cell::new(self.colour(), self.near());
        let of_cell = vec![Given::Value(Representation::Cell, Value::from(cell))];
        match operation {
            L::Cell => {
                let (colour, place) = (self.number(), self.pair());
                let operands = vec![
                    given(Representation::Int, &colour),
                    given(Representation::Pair, &place),
                ];
                let (Value::Int(number), Value::Loc(loc)) = (&colour, &place) else {
                    return Sketch::failing(operands, &[BailOut::Undefined]);
                };
                held(
                    operands,
                    Representation::Cell,
                    Value::from(Cell::new(*number, *loc)),
                )
            }
            L::ColourOfCell => Sketch::new(of_cell, int(cell.colour)),
            L::PlaceOfCell => {
                let place = Outcome::Value(Representation::Pair, Value::from(cell.loc));
                Sketch::new(of_cell, place)
            }
            L::PositiveCount => {
                let count = self.number();
                let operands = vec![given(Representation::Int, &count)];
                match count {
                    Value::Int(count) if count > 0 => Sketch::new(operands, int(count)),
                    _ => Sketch::failing(operands, &[BailOut::Undefined]),
                }
            }
            L::AtMostOne => {
                let count = self.below(5) as i32 - 1;
                let operands = vec![given(Representation::Int, &Value::Int(count))];
                if count > 1 {
                    Sketch::failing(operands, &[BailOut::Order])
                } else {
                    Sketch::new(operands, int(count))
                }
            }
            _ => Sketch::failing(Vec::new(), &[BailOut::Undefined]),
        }
    }

    /// Conversions of other containers to lists.
    fn of_container(&mut self, operation: ListOperation) -> Option<Sketch> {
        use ListOperation as L;
        let mut immediate = Immediate::default();
        let (representation, value, kind) = match operation {
            L::ListOfPatch => (Representation::Patch, self.patch(), ElementKind::Pair),
            L::ListOfObject => (Representation::Object, self.object(), ElementKind::Cell),
            L::ListOfObjects => {
                let structure = Structure::ALL[self.below(Structure::ALL.len() as u64) as usize];
                immediate.structure = Some(structure);
                let objects = self.objects(structure, None)?;
                (Representation::Objects, objects, ElementKind::Object)
            }
            L::ListOfColours => {
                let kind = ElementKind::Integer;
                (Representation::Colours, self.colours(), kind)
            }
            L::ListOfRows => return Some(self.rows()),
            L::ListOfParts => return self.parts(),
            L::ListOfFrontiers => return self.frontiers(),
            _ => return Some(self.line()),
        };
        // The generator also makes the empty tuple, which is no set.
        if matches!(value, Value::Tuple(_)) {
            return None;
        }
        let items = items_of(&value);
        let given = vec![Given::Value(representation, value)];
        Some(
            if kind == ElementKind::Cell && items.iter().any(Item::is_far) {
                Sketch::failing(given, &[BailOut::Coordinate])
            } else {
                Sketch::new(given, Outcome::List(Sort::of(kind), items)).with(immediate)
            },
        )
    }

    fn rows(&mut self) -> Sketch {
        let grid = self.small_grid();
        let row =
            |row: &[i8]| Item::Many(row.iter().map(|cell| Value::Int((*cell).into())).collect());
        let rows = grid.rows().map(row).collect();
        let given = vec![Given::Value(Representation::Grid, Value::from(grid))];
        let sort = Sort {
            kind: ElementKind::Integer,
            listed: true,
        };
        Sketch::new(given, Outcome::List(sort, rows))
    }

    fn frontiers(&mut self) -> Option<Sketch> {
        let grid = match self.below(12) {
            0 => Grid::default(),
            1..7 => self.small_grid(),
            _ => self.patterned_grid(),
        };
        let cells = grid.cells().len();
        let grid = Value::from(grid);
        let given = vec![Given::Value(Representation::Grid, grid.clone())];
        match self.called(Primitive::Frontiers, &[&grid]) {
            None => Some(Sketch::failing(given, &[BailOut::Undefined])),
            Some(_) if cells < 2 => None,
            Some(frontiers) => {
                let sort = Sort::of(ElementKind::Object);
                let outcome = Outcome::Unordered(sort, items_of(&frontiers));
                Some(Sketch::new(given, outcome))
            }
        }
    }

    fn parts(&mut self) -> Option<Sketch> {
        let grid = self.patterned_grid();
        let count = self.below(6) as i32 - 1;
        let across = self.chance();
        let primitive = if across {
            Primitive::Hsplit
        } else {
            Primitive::Vsplit
        };
        let side = if across { grid.width() } else { grid.height() };
        let grid = Value::from(grid);
        let given = vec![
            Given::Value(Representation::Grid, grid.clone()),
            Given::Value(Representation::Int, Value::Int(count)),
        ];
        let parts = self.called(primitive, &[&grid, &Value::Int(count)]);
        let flag = Immediate::flagged(across);
        Some(match parts {
            // More parts than rows or columns would be grids without any, which are not specified.
            Some(_) if count > 0 && count as usize > side => return None,
            Some(parts) if count > 0 => {
                let sort = Sort::of(ElementKind::Grid);
                Sketch::new(given, Outcome::List(sort, items_of(&parts))).with(flag)
            }
            _ => Sketch::failing(given, &[BailOut::Undefined]).with(flag),
        })
    }

    fn line(&mut self) -> Sketch {
        let flag = self.chance();
        let from = self.near();
        let way = Loc::new(self.below(3) as i32 - 1, self.below(3) as i32 - 1);
        let by = 1 + self.below(14) as i32;
        let (primitive, to) = match (flag, self.below(4)) {
            (true, _) => (Primitive::Shoot, way),
            (false, 0) => (Primitive::Connect, self.near()),
            (false, _) => {
                let to = Loc::new(from.i + by * way.i, from.j + by * way.j);
                (Primitive::Connect, to)
            }
        };
        let from = Value::from(from);
        let to = match self.below(10) {
            0 => Value::tuple(Vec::new()),
            _ => Value::from(to),
        };
        let given = [&from, &to].map(|value| Given::Value(Representation::Pair, value.clone()));
        let given = given.to_vec();
        let sketch = match (&to, self.called(primitive, &[&from, &to])) {
            (Value::Loc(_), Some(line)) => {
                let outcome = Outcome::List(Sort::of(ElementKind::Pair), items_of(&line));
                Sketch::new(given, outcome)
            }
            _ => Sketch::failing(given, &[BailOut::Undefined]),
        };
        sketch.with(Immediate::flagged(flag))
    }

    /// Conversions of lists to other containers.
    fn container_of(&mut self, operation: ListOperation) -> Option<Sketch> {
        use ListOperation as L;
        let list = |items: &[Item]| Given::List(items.to_vec());
        Some(match operation {
            L::PatchOfList => {
                let mut items = self.items(Sort::of(ElementKind::Pair));
                let missing = self.below(8) == 0;
                if missing {
                    items.push(one(Value::tuple(Vec::new())));
                }
                let given = vec![list(&items)];
                if missing {
                    return Some(Sketch::failing(given, &[BailOut::Undefined]));
                }
                held(given, Representation::Patch, set_of(&items)).or(BailOut::Coordinate)
            }
            L::ObjectOfList => {
                let items = self.items(Sort::of(ElementKind::Cell));
                held(vec![list(&items)], Representation::Object, set_of(&items))
            }
            L::GridOfList => {
                let (width, height) = (self.below(5), self.below(6));
                let odd = self.below(6) == 0;
                let rows: Vec<Item> = (0..height)
                    .map(|number| {
                        let more = u64::from(odd && number == 1);
                        let row = (0..width + more).map(|_| match self.below(40) {
                            0 => Value::Int(77),
                            _ => Value::Int(self.colour()),
                        });
                        Item::Many(row.collect())
                    })
                    .collect();
                let given = vec![list(&rows)];
                let torn = odd && height > 1;
                if height == 0 || width == 0 || torn {
                    return Some(Sketch::failing(given, &[BailOut::Undefined]));
                }
                let cells: Vec<i32> = rows.iter().flat_map(Item::integers).collect();
                if cells.contains(&77) {
                    return Some(Sketch::failing(given, &[BailOut::Colour]));
                }
                let cells = cells.into_iter().map(|cell| cell as i8).collect();
                let grid = Grid::from_cells(height as usize, width as usize, cells);
                held(given, Representation::Grid, Value::from(grid))
            }
            _ => {
                let grid = match self.below(8) {
                    0 => Grid::filled(0, 0, 0),
                    _ => self.patterned_grid(),
                };
                let (grid, items) = (Value::from(grid), self.items(Sort::of(ElementKind::Cell)));
                let cells = Value::tuple(
                    items
                        .iter()
                        .filter_map(Item::cell)
                        .map(Value::from)
                        .collect(),
                );
                let painted = self.called(Primitive::Paint, &[&grid, &cells]);
                let given = vec![Given::Value(Representation::Grid, grid), list(&items)];
                match painted {
                    Some(painted) => held(given, Representation::Grid, painted),
                    None => Sketch::failing(given, &[BailOut::Undefined]),
                }
            }
        })
    }

    /// Operations that compare elements.
    fn comparing(&mut self, operation: ListOperation) -> Sketch {
        use ListOperation as L;
        let (mut sort, flag) = (self.sort(), self.chance());
        if operation == L::Order {
            sort = self.scalar();
        }
        let (a, b) = self.two_lists(sort);
        let item = match (a.first(), self.below(3)) {
            (Some(first), 0..2) => first.clone(),
            _ => self.item(sort),
        };
        let word = || Given::Word(item.clone());
        let list = |items: &[Item]| Given::List(items.to_vec());
        let gives = |items| Outcome::List(sort, items);
        let immediate = Immediate {
            key: sort.key(),
            ..Immediate::flagged(flag)
        };
        let sketch = match operation {
            L::EqualityOfElements => {
                let other = b.first().unwrap_or(&item);
                let equal = i32::from(item == *other);
                Sketch::new(vec![word(), Given::Word(other.clone())], int(equal))
            }
            L::Improves => {
                let other = b.first().unwrap_or(&item);
                let better = if flag { item > *other } else { item < *other };
                let given = vec![word(), Given::Word(other.clone())];
                Sketch::new(given, int(better.into()))
            }
            L::SetOfList => {
                let mut all = a.clone();
                all.sort();
                all.dedup();
                Sketch::new(vec![list(&a)], gives(all))
            }
            L::Order => {
                // Keys of one sort, elements of another.
                let of = self.sort();
                let things: Vec<Item> = a.iter().map(|_| self.item(of)).collect();
                let mut pairs: Vec<_> = a.iter().zip(&things).collect();
                pairs.sort_by_key(|(key, _)| *key);
                let tied = pairs.windows(2).any(|two| two[0].0 == two[1].0);
                let ordered = pairs.into_iter().map(|(_, thing)| thing.clone()).collect();
                let given = vec![list(&things), list(&a)];
                if flag && tied {
                    Sketch::failing(given, &[BailOut::Order])
                } else {
                    Sketch::new(given, Outcome::List(of, ordered))
                }
            }
            L::ContainedInList => {
                let there = i32::from(b.contains(&item));
                Sketch::new(vec![word(), list(&b)], int(there))
            }
            L::Commonest if a.is_empty() => Sketch::failing(vec![list(&a)], &[BailOut::Undefined]),
            L::Commonest => {
                let count = |item: &Item| a.iter().filter(|other| *other == item).count() as i64;
                let rank = |item: &Item| if flag { count(item) } else { -count(item) };
                let best = a.iter().min_by_key(|item| rank(item)).unwrap_or(&item);
                if a.iter()
                    .any(|other| other != best && rank(other) == rank(best))
                {
                    Sketch::failing(vec![list(&a)], &[BailOut::Order])
                } else {
                    Sketch::new(vec![list(&a)], Outcome::Word(sort, best.clone()))
                }
            }
            L::Among => {
                let kept = a.iter().filter(|item| b.contains(item) != flag).cloned();
                Sketch::new(vec![list(&a), list(&b)], gives(kept.collect()))
            }
            L::RemoveFromList => {
                let kept = a.iter().filter(|other| **other != item).cloned();
                Sketch::new(vec![word(), list(&a)], gives(kept.collect()))
            }
            _ => {
                let mut kept: Vec<Item> = Vec::new();
                for item in &a {
                    if !kept.contains(item) {
                        kept.push(item.clone());
                    }
                }
                Sketch::new(vec![list(&a)], gives(kept))
            }
        };
        sketch.with(immediate)
    }

    fn outermost(&mut self) -> Sketch {
        let mut items = self.items(Sort::of(ElementKind::Integer));
        let flag = self.chance();
        let missing = self.below(8) == 0;
        if missing {
            items.push(one(Value::Nothing));
        }
        let immediate = Immediate::flagged(flag);
        let integers = items.iter().flat_map(Item::integers);
        let best = if flag { integers.min() } else { integers.max() };
        let given = vec![Given::List(items)];
        if missing {
            return Sketch::failing(given, &[BailOut::Undefined]).with(immediate);
        }
        Sketch::new(given, int(best.unwrap_or(0))).with(immediate)
    }

    /// Operations on lists that do not depend on the kind of elements.
    fn plain(&mut self, operation: ListOperation) -> Sketch {
        use ListOperation as L;
        let (sort, flag) = (self.sort(), self.chance());
        let (a, b) = self.two_lists(sort);
        let list = |items: &[Item]| Given::List(items.to_vec());
        match operation {
            L::RoomFor | L::RoomForPairs => {
                let room = if operation == L::RoomFor {
                    a.len()
                } else {
                    a.len() * b.len()
                };
                let some: Vec<Item> = a.iter().chain(&b).take(room).cloned().collect();
                let mut given = vec![list(&a)];
                if operation == L::RoomForPairs {
                    given.push(list(&b));
                }
                Sketch::new(given, Outcome::Room(sort, some))
            }
            L::Room | L::Push => {
                let room = Immediate::keyed(a.len() as u8 + self.below(3) as u8);
                Sketch::new(Vec::new(), Outcome::Room(sort, a)).with(room)
            }
            L::SizeOfList => Sketch::new(vec![list(&a)], int(a.len() as i32)),
            L::Element => {
                let number = self.below(MOST + 1) as usize;
                let from = if flag {
                    a.len().checked_sub(number + 1)
                } else {
                    Some(number)
                };
                let immediate = Immediate {
                    key: number as u8,
                    ..Immediate::flagged(flag)
                };
                match from.and_then(|at| a.get(at)) {
                    Some(item) => {
                        let outcome = Outcome::Word(sort, item.clone());
                        Sketch::new(vec![list(&a)], outcome).with(immediate)
                    }
                    None => Sketch::failing(vec![list(&a)], &[BailOut::Undefined]).with(immediate),
                }
            }
            L::JoinedLists => {
                let all = [a.clone(), b.clone()].concat();
                Sketch::new(vec![list(&a), list(&b)], Outcome::List(sort, all))
            }
            L::Flattened => {
                let of = Sort::of(sort.kind);
                let lists = self.items(Sort { listed: true, ..of });
                let all = lists.iter().flat_map(Item::values).map(Item::One).collect();
                let given = vec![list(&lists)];
                let sketch = if flag && lists.iter().any(|one| one.values().len() > 1) {
                    Sketch::failing(given, &[BailOut::Order])
                } else {
                    Sketch::new(given, Outcome::List(of, all))
                };
                sketch.with(Immediate::flagged(flag))
            }
            L::Interval => self.interval(),
            L::Repeat => {
                let item = a.first().cloned().unwrap_or_else(|| self.item(sort));
                let times = match self.below(8) {
                    0 => self.number(),
                    _ => Value::Int(self.below(40) as i32 - 2),
                };
                let given = vec![
                    Given::Word(item.clone()),
                    Given::Value(Representation::Int, times.clone()),
                ];
                match times {
                    Value::Int(times) if times.max(0) as usize > ARENA => {
                        Sketch::failing(given, &[BailOut::Arena])
                    }
                    Value::Int(times) => {
                        let all = vec![item; times.max(0) as usize];
                        Sketch::new(given, Outcome::List(sort, all))
                    }
                    _ => Sketch::failing(given, &[BailOut::Undefined]),
                }
            }
            _ => self.pairs(operation),
        }
    }

    fn interval(&mut self) -> Sketch {
        let mut bound = || match self.below(10) {
            0 => self.number(),
            _ => Value::Int(self.below(60) as i32 - 30),
        };
        let (from, to) = (bound(), bound());
        let step = match self.below(10) {
            0 => Value::Nothing,
            _ => Value::Int(self.below(9) as i32 - 4),
        };
        let given = [&from, &to, &step];
        let given = given.map(|value| Given::Value(Representation::Int, value.clone()));
        let given = given.to_vec();
        let (Value::Int(from), Value::Int(to), Value::Int(step)) = (from, to, step) else {
            return Sketch::failing(given, &[BailOut::Undefined]);
        };
        if step == 0 {
            return Sketch::failing(given, &[BailOut::Undefined]);
        }
        let all: Vec<i32> = std::iter::successors(Some(from), |at| Some(at + step))
            .take_while(|at| if step > 0 { *at < to } else { *at > to })
            .take(ARENA + 1)
            .collect();
        if all.len() > ARENA {
            return Sketch::failing(given, &[BailOut::Arena]);
        }
        let items = ones(all.into_iter().map(Value::Int));
        Sketch::new(given, Outcome::List(Sort::of(ElementKind::Integer), items))
    }

    /// Pairs of elements of two lists.
    fn pairs(&mut self, operation: ListOperation) -> Sketch {
        let integers = self.chance();
        let kind = if integers {
            ElementKind::Integer
        } else {
            KINDS[self.below(6) as usize]
        };
        let (a, b) = self.two_lists(Sort::of(kind));
        let both: Vec<(&Item, &Item)> = if operation == ListOperation::Zipped {
            a.iter().zip(&b).collect()
        } else {
            let with = |one| b.iter().map(move |other| (one, other));
            a.iter().flat_map(with).collect()
        };
        let values = |(a, b): &(&Item, &Item)| [a.values(), b.values()].concat();
        let given = vec![Given::List(a.clone()), Given::List(b.clone())];
        let immediate = Immediate::flagged(integers);
        if !integers {
            let items = both.iter().map(|two| Item::Many(values(two))).collect();
            let sort = Sort { kind, listed: true };
            return Sketch::new(given, Outcome::List(sort, items));
        }
        let items: Vec<Item> = both
            .iter()
            .map(|two| one(Value::tuple(values(two))))
            .collect();
        let fits = |item: &Item| Pool::default().push(Representation::Pair, &item.values()[0]);
        let refused = items.iter().find_map(|item| fits(item).err());
        let sketch = refused.map(|reason| Sketch::failing(given.clone(), &[reason]));
        let pairs = Outcome::List(Sort::of(ElementKind::Pair), items);
        sketch
            .unwrap_or_else(|| Sketch::new(given, pairs))
            .with(immediate)
    }
}

/// A value stored to the arena and loaded again.
fn stored(representation: Representation, value: Value) -> Option<Sketch> {
    Pool::default().push(representation, &value).ok()?;
    let given = vec![Given::Value(representation, value.clone())];
    let far = is_far(&value);
    let sketch = Sketch::new(given, Outcome::Stored(representation, value));
    // The origin of the window may exceed its limit.
    Some(if far {
        sketch.or(BailOut::Coordinate)
    } else {
        sketch
    })
}

/// The set of these items.
fn set_of(items: &[Item]) -> Value {
    Value::set(items.iter().flat_map(Item::values))
}

/// The elements of a container, those of a set ascending.
fn items_of(value: &Value) -> Vec<Item> {
    let elements = value.as_container().into_iter();
    let elements = elements.flat_map(Container::iter_stored);
    elements.map(|one| Item::One(one.into_owned())).collect()
}
