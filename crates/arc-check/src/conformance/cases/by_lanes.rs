//! Cases of operations by lanes and of operations on columns: the result must be that of a loop over the elements.

use arc_dsl::Value;
use gpu_kernels::Immediate;
use gpu_kernels::interface::{BailOut, ElementKind, Representation};
use gpu_kernels::lane_operations::of_each;
use gpu_kernels::list_operations::ListOperation;
use gpu_kernels::operations::{OPERATIONS, Operation};

use super::Cases;
use super::lists::Sketch;
use crate::conformance::lists::{Given, Item, ListCase, Outcome, Sort};
use crate::conformance::{Case, reasons};

/// The maximum number of elements: more than there are lanes.
const MOST: u64 = 40;

/// An operation on the operands of one element.
struct OfOne {
    given: Vec<Item>,
    /// Its expected result; `None` if it has to bail out.
    gives: Option<Item>,
    reasons: Vec<BailOut>,
}

fn sort_of(representation: Representation) -> Option<Sort> {
    let kind = match representation {
        Representation::Int => ElementKind::Integer,
        Representation::Pair => ElementKind::Pair,
        Representation::Cell => ElementKind::Cell,
        _ => return None,
    };
    Some(Sort::of(kind))
}

/// A truth value as an integer; in a pair it would stay a truth value.
fn as_number(value: Value) -> Value {
    match value {
        Value::Bool(truth) => Value::Int(truth.into()),
        other => other,
    }
}

/// The operand as an element of a list; `None` for lists of lists.
fn item(given: &Given) -> Option<Item> {
    Some(match given {
        Given::Value(_, value) => Item::One(value.clone()),
        Given::Word(item) => item.clone(),
        Given::List(items) => {
            let one = |item: &Item| match item {
                Item::One(value) => Some(value.clone()),
                Item::Many(_) => None,
            };
            Item::Many(items.iter().map(one).collect::<Option<_>>()?)
        }
    })
}

impl Cases {
    /// A case of an operation by lanes; `None` if this attempt produced none.
    pub fn by_lanes(&mut self, opcode: u16) -> Option<ListCase> {
        let of_each = of_each(opcode)?;
        match ListOperation::of(of_each) {
            Some(operation) => self.of_list_by_lanes(opcode, operation),
            None => self.of_operation_by_lanes(opcode, usize::from(of_each)),
        }
    }

    fn of_list_by_lanes(&mut self, opcode: u16, operation: ListOperation) -> Option<ListCase> {
        let count = 1 + self.below(MOST) as usize;
        let may_fail = self.below(3) == 0;
        let (mut wanted, mut sort) = (None, None);
        let mut all: Vec<OfOne> = Vec::new();
        for _ in 0..8 * MOST {
            let Sketch {
                immediate,
                given,
                outcome,
                reasons,
            } = self.sketch(operation)?;
            let gives = match outcome {
                Outcome::Value(representation, value) => {
                    sort_of(representation).map(|sort| (sort, Item::One(value)))
                }
                Outcome::Word(sort, item) => Some((sort, item)),
                _ => None,
            };
            let fits = match &gives {
                Some((of, _)) => sort.is_none_or(|sort| sort == *of),
                None => may_fail,
            };
            let given = given.iter().map(item).collect::<Option<Vec<Item>>>();
            let Some(given) = given.filter(|_| fits && wanted.is_none_or(|one| one == immediate))
            else {
                continue;
            };
            wanted = Some(immediate);
            sort = sort.or(gives.as_ref().map(|(sort, _)| *sort));
            all.push(OfOne {
                given,
                gives: gives.map(|(_, item)| item),
                reasons,
            });
            if all.len() == count {
                break;
            }
        }
        let immediate = wanted?;
        let uniform = vec![None; all.first()?.given.len()];
        let sort = sort.unwrap_or(Sort::of(ElementKind::Integer));
        Self::in_loop((operation.name(), opcode), immediate, &uniform, sort, all)
    }

    fn of_operation_by_lanes(&mut self, opcode: u16, of_each: usize) -> Option<ListCase> {
        let operation: &Operation = &OPERATIONS[of_each];
        let first = self.of(of_each)?;
        let taken = operation.takes.iter().zip(&first.arguments);
        // Operands that are no scalars are uniform, and occasionally scalars are too.
        let mut uniform: Vec<Option<Given>> = taken
            .map(|(representation, value)| {
                let is_one = sort_of(*representation).is_none() || self.below(5) == 0;
                is_one.then(|| Given::Value(*representation, as_number(value.clone())))
            })
            .collect();
        if uniform.iter().all(Option::is_some) {
            let scalar = |taken: &Representation| sort_of(*taken).is_some();
            uniform[operation.takes.iter().position(scalar)?] = None;
        }
        let count = 1 + self.below(MOST);
        let may_fail = self.below(3) == 0;
        let (mut all, mut next) = (Vec::new(), Some(first));
        for _ in 0..count {
            let case = next.take().or_else(|| self.of(of_each))?;
            let arguments: Vec<Value> = case
                .arguments
                .into_iter()
                .zip(&uniform)
                .map(|(own, uniform)| match uniform {
                    Some(Given::Value(_, value)) => value.clone(),
                    _ => as_number(own),
                })
                .collect();
            let borrowed: Vec<&Value> = arguments.iter().collect();
            let function = Value::from(operation.primitive);
            let called = self.interpreter.call(&function, &borrowed);
            let case = Case {
                opcode: of_each,
                immediate: Immediate::default(),
                arguments,
                before: (0, 0),
                expected: called.map_err(|error| error.kind),
            };
            let reasons = reasons::allowed(&case);
            let gives = case.held().map(Item::One);
            if gives.is_some() || may_fail {
                let given = case.arguments.into_iter().map(Item::One).collect();
                all.push(OfOne {
                    given,
                    gives,
                    reasons,
                });
            }
        }
        let sort = sort_of(operation.gives)?;
        let immediate = Immediate::default();
        Self::in_loop((operation.name, opcode), immediate, &uniform, sort, all)
    }

    fn in_loop(
        operation: (&str, u16),
        immediate: Immediate,
        uniform: &[Option<Given>],
        sort: Sort,
        all: Vec<OfOne>,
    ) -> Option<ListCase> {
        let given: Vec<Given> = uniform
            .iter()
            .enumerate()
            .map(|(at, uniform)| match uniform {
                Some(given) => given.clone(),
                None => Given::List(all.iter().map(|one| one.given[at].clone()).collect()),
            })
            .collect();
        let reasons = all.iter().flat_map(|one| one.reasons.clone()).collect();
        let outcome = match all.into_iter().map(|one| one.gives).collect() {
            Some(items) => Outcome::List(sort, items),
            None => Outcome::Failure,
        };
        ListCase::by_lanes(operation, immediate, &given, &outcome, reasons)
    }

    /// A case of an operation that reads columns.
    pub(super) fn of_columns(&mut self, operation: ListOperation) -> Option<ListCase> {
        use ListOperation as L;
        let sort = self.scalar();
        let count = match operation {
            L::PushColumn | L::PushKept => self.below(MOST),
            // They read one block.
            _ => 1 + self.below(32),
        };
        let items: Vec<Item> = (0..count).map(|_| self.item(sort)).collect();
        let others = match operation {
            L::PushColumn => self.below(MOST),
            _ => count,
        };
        let often = 1 + self.below(8);
        let truths: Vec<bool> = (0..others).map(|_| self.below(often) == 0).collect();
        let kept = items.iter().zip(&truths);
        let kept: Vec<Item> = kept
            .filter(|(_, kept)| **kept)
            .map(|(item, _)| item.clone())
            .collect();
        let outcome = match operation {
            L::PushColumn => {
                let least = items.len().min(truths.len());
                Outcome::List(sort, items[..least].to_vec())
            }
            L::PushKept => Outcome::List(sort, kept),
            L::AnyKept => {
                let any = i32::from(!kept.is_empty());
                Outcome::Value(Representation::Int, Value::Int(any))
            }
            _ => kept
                .into_iter()
                .next()
                .map_or(Outcome::Failure, |first| Outcome::Word(sort, first)),
        };
        let reasons = match outcome {
            Outcome::Failure => vec![BailOut::Undefined],
            _ => Vec::new(),
        };
        let truths = truths
            .into_iter()
            .map(|truth| Item::One(Value::from(truth)));
        let given = [Given::List(items), Given::List(truths.collect())];
        let named = (operation.name(), operation.opcode());
        ListCase::by_lanes(named, Immediate::default(), &given, &outcome, reasons)
    }
}
