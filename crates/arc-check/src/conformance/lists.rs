//! [`ListCase`]: one operation on lists, or on values in the arena, as a program that builds its operands on the
//! device and checks the result there.
//!
//! Lists do not leave the device. The program builds the expected list before the operation runs, and then compares
//! the elements one by one.

use std::fmt;

use arc_dsl::{Cell, Value};
use gpu_kernels::device::{Device, DeviceError};
use gpu_kernels::interface::{BailOut, ElementKind, Representation};
use gpu_kernels::list_operations::ListOperation;
use gpu_kernels::operations::OPERATIONS;
use gpu_kernels::{Builder, DeviceProgram, Engine, Evaluation, Immediate, Pool, ValueId};

use super::{Tally, unused_argument};

mod by_lanes;

/// Words in an arena.
const ARENA: u32 = 1 << 14;

/// How many elements are compared at each end of a list: a short one is compared completely.
const COMPARED: usize = 12;

/// The type of the elements of a list: values of a kind, or lists of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sort {
    pub(super) kind: ElementKind,
    pub(super) listed: bool,
}

impl Sort {
    pub(super) fn of(kind: ElementKind) -> Self {
        let listed = false;
        Sort { kind, listed }
    }

    /// Its encoding in instructions.
    pub(super) fn key(self) -> u8 {
        if self.listed {
            self.kind.of_lists()
        } else {
            self.kind as u8
        }
    }
}

/// An element. Elements of one sort have the order of the language.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    One(Value),
    Many(Vec<Value>),
}

impl Item {
    pub(super) fn values(&self) -> Vec<Value> {
        match self {
            Item::One(value) => vec![value.clone()],
            Item::Many(values) => values.clone(),
        }
    }

    pub(super) fn integers(&self) -> Vec<i32> {
        self.values().iter().filter_map(Value::as_int).collect()
    }

    pub(super) fn cell(&self) -> Option<Cell> {
        match self {
            Item::One(Value::Cell(cell)) => Some(*cell),
            _ => None,
        }
    }

    /// Whether it is a cell that does not fit into a word.
    pub(super) fn is_far(&self) -> bool {
        let word = |value: &Value| Pool::default().push(Representation::Cell, value);
        matches!(self, Item::One(value) if word(value).is_err())
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::One(value) => value.fmt(f),
            Item::Many(values) => write!(f, "{}", Listed(values)),
        }
    }
}

/// Elements as text.
struct Listed<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (number, one) in self.0.iter().enumerate() {
            write!(f, "{}{one}", if number == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

/// An operand.
#[derive(Debug, Clone)]
pub(super) enum Given {
    Value(Representation, Value),
    Word(Item),
    List(Vec<Item>),
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Value(_, value) => value.fmt(f),
            Given::Word(item) => item.fmt(f),
            Given::List(items) => Listed(items).fmt(f),
        }
    }
}

/// The expected result.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// This value.
    Value(Representation, Value),
    /// The operand, after a store to the arena and a load.
    Stored(Representation, Value),
    /// This element.
    Word(Sort, Item),
    /// This list.
    List(Sort, Vec<Item>),
    /// A list with these elements, each once, in any order.
    Unordered(Sort, Vec<Item>),
    /// An empty list with room for these elements.
    Room(Sort, Vec<Item>),
    /// The same arena mark as before, after an allocation and its release.
    Marks,
    /// A bail-out.
    Failure,
}

/// One operation on operands built for it.
#[derive(Debug, Clone)]
pub struct ListCase {
    program: DeviceProgram,
    /// The result of the program; `None` if it has to bail out.
    expected: Option<Value>,
    /// The reasons for which it may bail out.
    reasons: Vec<BailOut>,
    text: String,
}

impl fmt::Display for ListCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl ListCase {
    /// The case; `None` if it needs more room than an evaluation has. With `room`, at most this many words of the
    /// arena are left when the operation starts.
    pub(super) fn new(
        operation: ListOperation,
        immediate: Immediate,
        given: &[Given],
        outcome: &Outcome,
        mut reasons: Vec<BailOut>,
        room: Option<u32>,
    ) -> Option<ListCase> {
        let named = named(operation.name(), given);
        let room_left = room.map_or(String::new(), |room| format!("at most {room} words left,"));
        if is_unclear(given, outcome) {
            reasons.push(BailOut::Patch);
        }
        Self::build(
            format!("{named} with {immediate:?}, {room_left} has to give {outcome:?}"),
            reasons,
            |case_builder| case_builder.program(operation, immediate, given, outcome, room),
        )
    }

    /// An operation by lanes on the elements of lists and on uniform values; `None` if it needs more room than an
    /// evaluation has.
    pub(super) fn by_lanes(
        (name, opcode): (&str, u16),
        immediate: Immediate,
        given: &[Given],
        outcome: &Outcome,
        reasons: Vec<BailOut>,
    ) -> Option<ListCase> {
        let named = named(name, given);
        Self::build(
            format!("{named} by lanes with {immediate:?} has to give {outcome:?}"),
            reasons,
            |case_builder| case_builder.program_by_lanes(opcode, immediate, given, outcome),
        )
    }

    fn build(
        text: String,
        reasons: Vec<BailOut>,
        program: impl FnOnce(&mut CaseBuilder) -> Option<BuiltCase>,
    ) -> Option<ListCase> {
        let mut case_builder = CaseBuilder {
            builder: Builder::default(),
        };
        // No operand lies at the beginning of the pool.
        case_builder.builder.parameter(Representation::Object);
        let (result, representation, expected) = program(&mut case_builder)?;
        let program = case_builder
            .builder
            .finish(result, representation, None)
            .ok()?;
        Some(ListCase {
            program,
            expected,
            reasons,
            text,
        })
    }
}

/// A call as text.
fn named(name: &str, given: &[Given]) -> String {
    let operands: Vec<String> = given.iter().map(Given::to_string).collect();
    format!("{name}({})", operands.join(", "))
}

/// Builds the program of a case.
pub(super) struct CaseBuilder {
    builder: Builder,
}

type BuiltCase = (ValueId, Representation, Option<Value>);

impl CaseBuilder {
    fn program(
        &mut self,
        operation: ListOperation,
        immediate: Immediate,
        given: &[Given],
        outcome: &Outcome,
        room: Option<u32>,
    ) -> Option<BuiltCase> {
        use ListOperation as L;
        let operands = self.operands(given)?;
        // Before the arena is filled.
        let words = self.words(outcome)?;
        if let Some(room) = room {
            self.fill(ARENA - room)?;
        }
        let result = match outcome {
            Outcome::Stored(representation, _) => {
                let (store, load) = match representation {
                    Representation::Patch => (L::StorePatch, L::LoadPatch),
                    Representation::Object => (L::StoreObject, L::LoadObject),
                    _ => (L::StoreGrid, L::LoadGrid),
                };
                let word = self.step(store, immediate, &operands);
                self.step(load, immediate, &[word])
            }
            Outcome::Room(..) => {
                let operation = match operation {
                    L::Push => L::Room,
                    other => other,
                };
                let result = self.step(operation, immediate, &operands);
                for word in &words {
                    self.builder.push(result, *word, 0);
                }
                result
            }
            Outcome::Marks => {
                let first = self.step(L::Mark, Immediate::default(), &[]);
                self.step(L::Room, Immediate::keyed(9), &[]);
                if operation == L::Release {
                    self.step(L::Release, Immediate::default(), &[first]);
                }
                let second = self.step(L::Mark, Immediate::default(), &[]);
                let same = self.same(Sort::of(ElementKind::Integer), first, second);
                let given_back = i32::from(operation == L::Release);
                return Some((same, Representation::Int, Some(Value::Int(given_back))));
            }
            _ => self.step(operation, immediate, &operands),
        };
        self.compared(operation.gives(), result, outcome, &words)
    }

    /// The result of an operation, or its comparison with the words of the expected one.
    fn compared(
        &mut self,
        gives: Representation,
        result: ValueId,
        outcome: &Outcome,
        words: &[ValueId],
    ) -> Option<BuiltCase> {
        let same = match outcome {
            Outcome::Value(representation, value) | Outcome::Stored(representation, value) => {
                return Some((result, *representation, Some(value.clone())));
            }
            Outcome::Failure => {
                let gives = match gives {
                    Representation::Word | Representation::List => Representation::Int,
                    other => other,
                };
                return Some((result, gives, None));
            }
            Outcome::Word(sort, _) => self.same(*sort, result, words[0]),
            Outcome::List(sort, items) | Outcome::Room(sort, items) => {
                self.is_list(*sort, result, items.len(), words)?
            }
            Outcome::Unordered(sort, items) => {
                let mut all = self.has_size(result, items.len())?;
                for word in words {
                    let there = ListOperation::ContainedInList;
                    let there = self.step(there, Immediate::keyed(sort.key()), &[*word, result]);
                    all = self.both(all, there)?;
                }
                all
            }
            Outcome::Marks => return None,
        };
        Some((same, Representation::Int, Some(Value::Int(1))))
    }

    fn operands(&mut self, given: &[Given]) -> Option<Vec<ValueId>> {
        let operands = given.iter().map(|one| match one {
            Given::Value(representation, value) => {
                self.builder.constant(*representation, value).ok()
            }
            Given::Word(item) => self.word(item),
            Given::List(items) => self.list(items),
        });
        operands.collect()
    }

    /// The elements that a result is compared with.
    fn words(&mut self, outcome: &Outcome) -> Option<Vec<ValueId>> {
        match outcome {
            Outcome::Word(_, item) => Some(vec![self.word(item)?]),
            Outcome::List(_, items) | Outcome::Unordered(_, items) | Outcome::Room(_, items) => {
                let ends = ends(items.len());
                ends.map(|at| self.word(&items[at])).collect()
            }
            _ => Some(Vec::new()),
        }
    }

    fn step(
        &mut self,
        operation: ListOperation,
        immediate: Immediate,
        operands: &[ValueId],
    ) -> ValueId {
        self.builder.emit_list(operation, immediate, operands, 0)
    }

    fn int(&mut self, number: i32) -> Option<ValueId> {
        let number = Value::Int(number);
        self.builder.constant(Representation::Int, &number).ok()
    }

    /// Allocates from the arena until `words` words are taken.
    fn fill(&mut self, words: u32) -> Option<()> {
        let (zero, times) = (self.int(0)?, self.int(words as i32)?);
        // The mark says how much is already taken.
        let taken = self.step(ListOperation::Mark, Immediate::default(), &[]);
        let subtract = opcode("subtract")?;
        let times = self
            .builder
            .emit(subtract, Immediate::default(), &[times, taken], 0);
        self.step(ListOperation::Repeat, Immediate::default(), &[zero, times]);
        Some(())
    }

    fn word(&mut self, item: &Item) -> Option<ValueId> {
        let value = match item {
            Item::One(value) => value,
            Item::Many(values) => {
                let items: Vec<Item> = values.iter().cloned().map(Item::One).collect();
                return self.list(&items);
            }
        };
        let (representation, store) = match value {
            Value::Grid(_) => (Representation::Grid, Some(ListOperation::StoreGrid)),
            Value::Indices(_) => (Representation::Patch, Some(ListOperation::StorePatch)),
            // An object without cells may also be an empty patch.
            Value::Object(_) | Value::Set(_) => {
                (Representation::Object, Some(ListOperation::StoreObject))
            }
            Value::Cell(_) => (Representation::Cell, None),
            Value::Loc(_) | Value::Tuple(_) => (Representation::Pair, None),
            _ => (Representation::Int, None),
        };
        let held = self.builder.constant(representation, value).ok()?;
        Some(store.map_or(held, |store| {
            self.step(store, Immediate::default(), &[held])
        }))
    }

    fn list(&mut self, items: &[Item]) -> Option<ValueId> {
        let words = items.iter().map(|item| self.word(item));
        let words = words.collect::<Option<Vec<ValueId>>>()?;
        let room = u8::try_from(items.len()).ok()?;
        let list = self.step(ListOperation::Room, Immediate::keyed(room), &[]);
        for word in words {
            self.builder.push(list, word, 0);
        }
        Some(list)
    }

    /// Whether two elements are equal.
    fn same(&mut self, sort: Sort, a: ValueId, b: ValueId) -> ValueId {
        self.step(
            ListOperation::EqualityOfElements,
            Immediate::keyed(sort.key()),
            &[a, b],
        )
    }

    fn both(&mut self, a: ValueId, b: ValueId) -> Option<ValueId> {
        let both = opcode("both")?;
        Some(self.builder.emit(both, Immediate::default(), &[a, b], 0))
    }

    fn has_size(&mut self, list: ValueId, count: usize) -> Option<ValueId> {
        let count = self.int(count as i32)?;
        let size = self.step(ListOperation::SizeOfList, Immediate::default(), &[list]);
        Some(self.same(Sort::of(ElementKind::Integer), size, count))
    }

    /// Whether a list has this many elements, with these at its ends.
    fn is_list(
        &mut self,
        sort: Sort,
        list: ValueId,
        count: usize,
        words: &[ValueId],
    ) -> Option<ValueId> {
        let mut all = self.has_size(list, count)?;
        for (at, word) in ends(count).zip(words) {
            let from_last = at >= COMPARED;
            let number = if from_last { count - 1 - at } else { at };
            let immediate = Immediate {
                flag: from_last,
                ..Immediate::keyed(number as u8)
            };
            let element = self.step(ListOperation::Element, immediate, &[list]);
            let same = self.same(sort, element, *word);
            all = self.both(all, same)?;
        }
        Some(all)
    }
}

/// Whether compared elements may be too far apart for the comparison.
fn is_unclear(given: &[Given], outcome: &Outcome) -> bool {
    let is_window =
        |value: &Value| matches!(value, Value::Indices(_) | Value::Object(_) | Value::Set(_));
    let items = |items: &[Item]| {
        items
            .iter()
            .flat_map(Item::values)
            .any(|one| is_window(&one))
    };
    let compared = match outcome {
        Outcome::List(_, all) | Outcome::Unordered(_, all) | Outcome::Room(_, all) => items(all),
        _ => false,
    };
    let of_given = |one: &Given| match one {
        Given::Value(..) => false,
        Given::Word(item) => items(std::slice::from_ref(item)),
        Given::List(all) => items(all),
    };
    compared || given.iter().any(of_given)
}

/// The indices of the elements at the ends of a list.
fn ends(count: usize) -> impl Iterator<Item = usize> {
    let last = count.saturating_sub(COMPARED).max(COMPARED);
    (0..count.min(COMPARED)).chain(last..count.max(last))
}

fn opcode(name: &str) -> Option<usize> {
    OPERATIONS
        .iter()
        .position(|operation| operation.name == name)
}

/// Runs cases in one launch and compares.
pub fn check_lists<D: Device>(
    engine: &Engine<D>,
    cases: Vec<ListCase>,
) -> Result<Tally, DeviceError> {
    let mut pool = Pool::default();
    let mut tally = Tally::default();
    let Ok(arguments) = pool.push(Representation::Object, &unused_argument()) else {
        return Ok(tally);
    };
    let programs: Vec<DeviceProgram> = cases.iter().map(|case| case.program.clone()).collect();
    let evaluations: Vec<Evaluation> = (0..programs.len() as u32)
        .map(|program| Evaluation {
            program,
            arguments,
            expected: None,
            fetch: true,
        })
        .collect();
    let loaded = engine.load(&programs)?;
    let (verdicts, results) = engine.run(&loaded, &pool, &evaluations)?;
    for (number, (case, verdict)) in cases.into_iter().zip(verdicts).enumerate() {
        let found = match verdict.ended() {
            Err(reason) if case.reasons.contains(&reason) => {
                tally.bails_out(reason, case.expected.is_none());
                continue;
            }
            Err(reason) => format!("bails out: {reason}"),
            Ok(_) => {
                let found = results.value(number).unwrap_or(Value::Nothing);
                if case.expected.as_ref() == Some(&found) && results.is_clean(number) {
                    tally.same += 1;
                    continue;
                }
                format!("{found}")
            }
        };
        tally.differs(|| format!("{case}\n  device: {found}\n{}", case.program));
    }
    Ok(tally)
}
