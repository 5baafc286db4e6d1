//! The pass that marks what may pass a fixed size: there an executor has to look, and nowhere else.
//!
//! It follows what is known of sizes from the input on: what a grid gives lies in the window, what
//! is moved keeps its extent, a container is as long as the one it was made from. Behind a guard a
//! value fits, since the evaluation ends there otherwise.

use super::sizes::{SIDE, capacity, holding};
use super::{find, for_each_mut};
use crate::{Fault, Form, Holding, Id, Instruction, Op, Operand, Overflow, Region, Type};
use arc_dsl::{Primitive as P, Value};

/// Notes what may pass a fixed size.
pub(super) fn guard(form: &mut Form) {
    let found = Guards::of(form);
    for_each_mut(&mut form.body, &mut |instruction| {
        instruction.notes.overflow = found[instruction.id.index()];
    });
}

/// Whether all that may pass a fixed size is noted, where anything is.
pub(super) fn check(form: &Form) -> Result<(), Fault> {
    if find(&form.body, &|one: &Instruction| {
        one.notes.overflow.is_some()
    })
    .is_none()
    {
        return Ok(());
    }
    let found = Guards::of(form);
    let wrong = |one: &Instruction| one.notes.overflow != found[one.id.index()];
    match find(&form.body, &wrong) {
        None => Ok(()),
        Some(one) => Err(Fault {
            id: one.id,
            message: match found[one.id.index()] {
                Some(overflow) => format!("may overflow {}, which is not noted", overflow.name()),
                None => "noted as too large, which it cannot be".to_owned(),
            },
        }),
    }
}

/// How far a patch reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    /// It lies in the window of a grid.
    Inside,
    /// Its bounding box is no larger than a grid.
    Boxed,
    /// It may be larger.
    Any,
}

/// What is known of a value: of the patches in it how far they reach, of a container the most
/// elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fact {
    extent: Extent,
    count: u32,
}

impl Fact {
    const NONE: Fact = Fact {
        extent: Extent::Any,
        count: u32::MAX,
    };

    fn join(self, other: Fact) -> Fact {
        Fact {
            extent: self.extent.max(other.extent),
            count: self.count.max(other.count),
        }
    }
}

struct Guards {
    facts: Vec<Fact>,
    overflows: Vec<Option<Overflow>>,
}

impl Guards {
    fn of(form: &Form) -> Vec<Option<Overflow>> {
        let mut guards = Guards {
            facts: vec![Fact::NONE; form.ids as usize],
            overflows: vec![None; form.ids as usize],
        };
        guards.facts[Id::INPUT.index()].count = SIDE as u32;
        guards.region(&form.body);
        guards.overflows
    }

    fn region(&mut self, region: &Region) -> Fact {
        for instruction in &region.instructions {
            let (made, grows) = self.make(instruction);
            let (fact, overflow) = settle(instruction, made, grows);
            self.facts[instruction.id.index()] = fact;
            self.overflows[instruction.id.index()] = overflow;
        }
        self.fact(region.result())
    }

    fn fact(&self, operand: &Operand) -> Fact {
        match operand {
            Operand::Id(id) => self.facts[id.index()],
            Operand::Constant(value) => Fact {
                extent: extent(value),
                count: value.as_container().map_or(0, |all| all.len() as u32),
            },
        }
    }

    /// The most elements of an element of the instruction's container.
    fn element(instruction: &Instruction) -> u32 {
        match instruction.arguments.first() {
            Some(Operand::Id(_)) => most(&instruction.ty),
            _ => u32::MAX,
        }
    }

    /// What the instruction makes, and whether it may make a grid larger than those that it takes.
    fn make(&mut self, instruction: &Instruction) -> (Fact, bool) {
        let given: Vec<Fact> = instruction
            .arguments
            .iter()
            .map(|one| self.fact(one))
            .collect();
        for region in &instruction.regions {
            for ((id, ty), from) in region.parameters.iter().zip(&given) {
                let boxed = match instruction.op {
                    // What a round gives has passed the guards.
                    Op::Iterate => Extent::Boxed,
                    _ => from.extent,
                };
                self.facts[id.index()] = Fact {
                    extent: boxed,
                    count: most(ty),
                };
            }
        }
        let mut results = Vec::new();
        for region in &instruction.regions {
            results.push(self.region(region));
        }
        let joined = results.iter().copied().reduce(Fact::join);
        match instruction.op {
            Op::Call(primitive) if primitive.loop_function().is_some() => {
                let inner = joined.unwrap_or(Fact::NONE);
                looped(primitive, &given, inner, Self::element(instruction))
            }
            Op::Call(primitive) => {
                first_order(primitive, instruction, &given, Self::element(instruction))
            }
            Op::If | Op::Choose | Op::Iterate => (joined.unwrap_or(Fact::NONE), false),
            Op::Tuple | Op::Set => {
                let all = given
                    .iter()
                    .copied()
                    .reduce(Fact::join)
                    .unwrap_or(Fact::NONE);
                let count = given.len() as u32;
                (Fact { count, ..all }, false)
            }
            Op::Item(_) => {
                let all = given.first().copied().unwrap_or(Fact::NONE);
                let count = most(&instruction.ty);
                (Fact { count, ..all }, false)
            }
            Op::Count | Op::Absent | Op::Fail(..) => (Fact::NONE, false),
        }
    }
}

/// How far the locations of a value reach.
fn extent(value: &Value) -> Extent {
    fn locs(value: &Value, visit: &mut impl FnMut(arc_dsl::Loc)) {
        match value {
            Value::Loc(loc) => visit(*loc),
            Value::Cell(cell) => visit(cell.loc),
            Value::Grid(_) => {}
            _ => {
                if let Some(container) = value.as_container() {
                    container.iter().for_each(|item| locs(&item, visit));
                }
            }
        }
    }
    let (mut least, mut most) = ((i32::MAX, i32::MAX), (i32::MIN, i32::MIN));
    locs(value, &mut |loc| {
        least = (least.0.min(loc.i), least.1.min(loc.j));
        most = (most.0.max(loc.i), most.1.max(loc.j));
    });
    let span = |least: i32, most: i32| i64::from(most) - i64::from(least) < i64::from(SIDE);
    if most.0 < SIDE && most.1 < SIDE && least.0 >= 0 && least.1 >= 0 {
        Extent::Inside
    } else if span(least.0, most.0) && span(least.1, most.1) {
        Extent::Boxed
    } else {
        Extent::Any
    }
}

/// The most elements of a value of the type that has passed its guards.
fn most(ty: &Type) -> u32 {
    let side = SIDE as u32;
    match ty {
        Type::Grid => side,
        Type::Indices | Type::Object | Type::Patch => side * side,
        _ => match ty.items() {
            Some(items) => items.len() as u32,
            None => capacity(Holding::List, ty),
        },
    }
}

/// What the value is once it is held, and what has to be looked at for that.
fn settle(instruction: &Instruction, made: Fact, grows: bool) -> (Fact, Option<Overflow>) {
    let ty = &instruction.ty;
    let held = holding(instruction);
    let mut fact = made;
    if instruction.notes.clipped {
        fact.extent = Extent::Inside;
    }
    let overflow = match (held, ty) {
        (Holding::Static | Holding::View | Holding::Scalar, _) => None,
        (_, Type::Grid) => grows.then_some(Overflow::Grid),
        (_, Type::Indices | Type::Object | Type::Patch) => {
            (fact.extent == Extent::Any).then_some(Overflow::Patch)
        }
        (Holding::List | Holding::LabelMap, _) => {
            (fact.count > capacity(held, ty)).then_some(Overflow::Elements)
        }
        _ => None,
    };
    if matches!(ty, Type::Indices | Type::Object | Type::Patch) {
        fact.extent = fact.extent.min(Extent::Boxed);
    }
    fact.count = match held {
        // The elements of what is fused are counted where they end up.
        Holding::Fused => fact.count,
        _ => fact.count.min(capacity(held, ty)),
    };
    if plain_patch(ty) {
        fact.count = fact.count.min(most(ty));
    }
    (fact, overflow)
}

fn plain_patch(ty: &Type) -> bool {
    matches!(ty, Type::Grid | Type::Indices | Type::Object | Type::Patch)
}

/// A union lies in the window where all its parts do.
fn union(extent: Extent) -> Extent {
    match extent {
        Extent::Inside => Extent::Inside,
        _ => Extent::Any,
    }
}

/// What a loop makes of what its arguments and its body give.
fn looped(primitive: P, given: &[Fact], inner: Fact, fits: u32) -> (Fact, bool) {
    let of = |at: usize| given.get(at).copied().unwrap_or(Fact::NONE);
    let count = match primitive {
        P::apply | P::sfilter | P::order => of(0).count,
        // An element of a container fits, as the container does.
        P::extract | P::argmax | P::argmin => fits,
        P::papply => of(0).count.min(of(1).count),
        P::prapply => of(0).count.saturating_mul(of(1).count),
        _ => u32::MAX,
    };
    let extent = match primitive {
        P::apply | P::papply | P::prapply | P::valmax | P::valmin => inner.extent,
        P::mapply | P::mpapply => union(inner.extent),
        P::mfilter => union(of(0).extent),
        _ => of(0).extent,
    };
    let grows = matches!(primitive, P::mapply | P::mpapply | P::mfilter | P::papply);
    (Fact { extent, count }, grows)
}

/// What a call makes of its arguments.
fn first_order(primitive: P, instruction: &Instruction, given: &[Fact], fits: u32) -> (Fact, bool) {
    let of = |at: usize| given.get(at).copied().unwrap_or(Fact::NONE);
    let number = |at: usize| match instruction.arguments.get(at) {
        Some(Operand::Constant(value)) => value.as_int(),
        _ => None,
    };
    let known = |n: Option<i32>| n.map_or(u32::MAX, |n| n.max(0).cast_unsigned());
    let count = match primitive {
        P::totuple
        | P::dedupe
        | P::difference
        | P::intersection
        | P::identity
        | P::colorfilter
        | P::sizefilter => of(0).count,
        P::remove => of(1).count,
        P::branch => of(1).count.max(of(2).count),
        P::combine => of(0).count.saturating_add(of(1).count),
        P::product => of(0).count.saturating_mul(of(1).count),
        P::pair => of(0).count.min(of(1).count),
        P::insert => of(1).count.saturating_add(1),
        P::first | P::last | P::other | P::mostcommon | P::leastcommon => fits,
        P::initset => 1,
        P::astuple => 2,
        // As many as there are colours, with one more for what is none.
        P::palette | P::partition | P::fgpartition => 16,
        P::frontiers => 2 * SIDE as u32,
        P::hsplit | P::vsplit | P::repeat => known(number(1)),
        _ => u32::MAX,
    };
    let both = of(0).extent.max(of(1).extent);
    let extent = match primitive {
        P::asindices
        | P::ofcolor
        | P::toobject
        | P::asobject
        | P::occurrences
        | P::objects
        | P::partition
        | P::fgpartition
        | P::frontiers => Extent::Inside,
        // The last of these stay in the bounding box.
        P::toindices
        | P::identity
        | P::totuple
        | P::dedupe
        | P::difference
        | P::colorfilter
        | P::sizefilter
        | P::first
        | P::last
        | P::other
        | P::mostcommon
        | P::leastcommon
        | P::repeat
        | P::backdrop
        | P::delta
        | P::r#box
        | P::corners
        | P::hmirror
        | P::vmirror => of(0).extent,
        P::recolor | P::remove => of(1).extent,
        P::branch => of(1).extent.max(of(2).extent),
        P::astuple => both,
        P::intersection => of(0).extent.min(of(1).extent),
        P::shift | P::dmirror | P::cmirror => of(0).extent.max(Extent::Boxed),
        P::normalize if of(0).extent < Extent::Any => Extent::Inside,
        P::neighbors | P::dneighbors | P::ineighbors | P::vfrontier | P::hfrontier => Extent::Boxed,
        P::initset => match instruction.ty {
            Type::Indices | Type::Object => Extent::Boxed,
            _ => of(0).extent,
        },
        P::combine => match &instruction.ty {
            Type::Set(_) | Type::Tuple(_) | Type::Fixed(_) => both,
            _ => union(both),
        },
        // A location's own place is not followed.
        P::insert => match &instruction.ty {
            Type::Set(_) => both,
            _ => Extent::Any,
        },
        P::merge => union(of(0).extent),
        _ => Extent::Any,
    };
    let grows = match primitive {
        P::hconcat
        | P::vconcat
        | P::hupscale
        | P::vupscale
        | P::upscale
        | P::merge
        | P::combine
        | P::repeat => true,
        P::canvas => match instruction.arguments.get(1) {
            Some(Operand::Constant(Value::Loc(size))) => size.i.max(size.j) > SIDE,
            _ => true,
        },
        _ => false,
    };
    (Fact { extent, count }, grows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlanOptions, Stop, parse, plan};
    use arc_dsl::Grid;
    use arc_dsl::generate::Generator;

    fn guarded(text: &str) -> String {
        let mut form = parse(text).unwrap();
        guard(&mut form);
        form.verify().unwrap();
        assert_eq!(parse(&form.to_string()).as_ref(), Ok(&form));
        form.to_string()
    }

    #[test]
    fn before_and_after() {
        let text = "\
form f(v0: grid):
  v1: set<object> = objects(v0, True, False, True) @2#
  v2: object = argmax(v1) @3 {v3: object ->
    v4: int = size(v3) @3
    yield v4
  }
  v5: object = shift(v2, (3, 3)) @4
  v6: indices = outbox(v5) @5*
  v7: indices = backdrop(v6) @6
  v8: indices = ofcolor(v0, 1) @6
  v9: indices = combine(v7, v8) @7*
  v10: indices = intersection(v9, v8) @7
  v11: grid = fill(v0, 1, v10) @8
  v12: grid! = vconcat(v11, v11) @9+
  v13: tuple<grid> = hsplit(v12, 3) @10
  v14: grid = first(v13) @11
  return v14
";
        let before = text.replace(['#', '*', '+'], "");
        let after = text
            .replace('#', " [may overflow elements]")
            .replace('*', " [may overflow patch]")
            .replace('+', " [may overflow grid]");
        assert_eq!(guarded(&before), after);
        // One that is missing is a fault.
        let missing = after.replacen(" [may overflow patch]", "", 1);
        assert_eq!(
            parse(&missing).unwrap_err().message,
            "v6: may overflow patch, which is not noted"
        );
    }

    thread_local! {
        static PASSED: std::cell::RefCell<Vec<String>> = const { std::cell::RefCell::new(Vec::new()) };
        static OVER: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    }

    /// Looks whether a value fits that is not guarded.
    fn look(instruction: &Instruction, value: Value) -> Value {
        let patch = matches!(instruction.ty, Type::Indices | Type::Object | Type::Patch);
        let over = match &instruction.ty {
            Type::Grid => value
                .as_grid()
                .is_some_and(|grid| grid.height().max(grid.width()) > SIDE as usize),
            _ if patch => extent(&value) == Extent::Any && !instruction.notes.clipped,
            Type::Set(_) | Type::Tuple(_) if holding(instruction) == Holding::List => {
                let count = value.as_container().map_or(0, |all| all.len() as u32);
                count > capacity(Holding::List, &instruction.ty)
            }
            _ => false,
        };
        // Behind the first that is too large nothing is promised.
        if over && !OVER.get() {
            OVER.set(true);
            if instruction.notes.overflow.is_none() {
                PASSED.with_borrow_mut(|all| all.push(format!("v{} = {value}", instruction.id.0)));
            }
        }
        value
    }

    #[test]
    fn what_is_not_guarded_fits() {
        let mut generator = Generator::with_scenes(31, 100);
        let (mut runs, mut over) = (0, 0);
        for _ in 0..1_200 {
            let program = generator.program(14).unwrap();
            let input = generator.value(arc_dsl::Type::Grid);
            let (Ok(form), Some(input)) = (crate::specialise(&program), input.as_grid()) else {
                continue;
            };
            let form = plan(&form, &PlanOptions::default());
            let input: Grid = input.into_owned();
            if input.height().max(input.width()) > SIDE as usize {
                continue;
            }
            OVER.set(false);
            let mut evaluator = crate::Evaluator::default();
            evaluator.after = Some(look);
            let found = evaluator.run(&form, &input);
            runs += u32::from(!matches!(found, Err(Stop::HandBack(_))));
            over += u32::from(OVER.get());
            PASSED.with_borrow(|all| assert!(all.is_empty(), "{all:?}\n{form}\n{input}"));
        }
        assert!(runs > 800 && over > 10, "{runs} {over}");
    }
}
