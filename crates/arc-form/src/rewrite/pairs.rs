//! Fuses a call with the call whose value it reads: `size(intersection(a, b))` counts the common elements and
//! builds no set.

use super::Fused;
use super::fuse::{CallPair, Position, fuse};
use crate::analysis::{Called, Index, User};
use crate::{Form, Instruction, Op, Operand, Region, Type};
use arc_dsl::{Primitive, Primitive as P};

/// Two calls that can be fused.
struct PairRule {
    fused: Fused,
    inner: Primitive,
    outer: Primitive,
    /// Whether the types of the inner call's arguments and result suit the rule.
    fits: fn(&Instruction, &Index<'_>) -> bool,
    /// The position of the fused call: that of the call that may fail.
    at: Position,
}

macro_rules! pairs {
    ($($fused:ident: $outer:ident of $inner:ident, $fits:ident, $at:ident;)+) => {
        const PAIRS: &[PairRule] = &[$(PairRule {
            fused: Fused::$fused,
            inner: P::$inner,
            outer: P::$outer,
            fits: $fits,
            at: Position::$at,
        }),+];
    };
}

pairs! {
    SizeOfIntersection: Size of Intersection, of_locations, Second;
    SizeOfDifference: Size of Difference, of_locations, Second;
    MergedObjects: Merge of Objects, of_grid, First;
    MergedPartition: Merge of Partition, of_grid, First;
    MergedForeground: Merge of Fgpartition, of_grid, First;
}

fn of_locations(inner: &Instruction, index: &Index<'_>) -> bool {
    let locations = |operand: &Operand| index.is(operand, &Type::Indices);
    inner.ty == Type::Indices && inner.arguments.iter().all(locations)
}

fn of_grid(inner: &Instruction, index: &Index<'_>) -> bool {
    let flags = [Type::Bool, Type::Int];
    let flag = |operand: &Operand| flags.iter().any(|ty| index.is(operand, ty));
    inner.ty == Type::Set(Type::Object.into())
        && index.is(&inner.arguments[0], &Type::Grid)
        && inner.arguments[1..].iter().all(flag)
}

impl PairRule {
    /// Whether the outer call reads the inner one's value as this pair requires.
    fn takes(&self, outer: &Instruction, inner: &Instruction) -> bool {
        outer.op == Op::Call(self.outer)
            && !outer.checked
            && outer.arguments[..] == [Operand::Id(inner.id)]
    }
}

/// The rule whose inner call an instruction is, if only outer calls in its region use it.
fn pair_of(inner: &Instruction, index: &Index<'_>) -> Option<&'static PairRule> {
    let primitive = inner.primitive().filter(|_| !inner.checked)?;
    let region = index.definition(inner.id).region;
    let mut pairs = PAIRS.iter().filter(|pair| pair.inner == primitive);
    pairs.find(|pair| {
        let outer = |user: &User<'_>| {
            user.region == region
                && user
                    .argument()
                    .is_some_and(|(outer, _)| pair.takes(outer, inner))
        };
        (pair.fits)(inner, index)
            && index.users(inner.id).next().is_some()
            && index.users(inner.id).all(outer)
    })
}

/// Fuses all pairs of calls.
pub(super) fn rewrite(form: &mut Form) {
    let index = Index::new(form);
    let mut found = Vec::new();
    for inner in index.instructions() {
        if let Some(pair) = pair_of(inner, &index) {
            let outers = index.users(inner.id).filter_map(|user| user.by);
            found.extend(
                outers.filter_map(|outer| CallPair::new(pair.fused, inner, outer, pair.at, &index)),
            );
        }
    }
    fuse(form, found);
}

/// Whether a form has the calls of a rule.
pub(super) fn may(called: &Called) -> bool {
    let calls = |pair: &PairRule| called.has(pair.inner) && called.has(pair.outer);
    PAIRS.iter().any(calls)
}

/// Whether the region has the two calls that this replaces.
pub(super) fn is_of(fused: Fused, region: &Region) -> bool {
    let Some(pair) = PAIRS.iter().find(|pair| pair.fused == fused) else {
        return false;
    };
    let [inner, outer] = &region.instructions[..] else {
        return false;
    };
    let parameters = region.parameters.iter().map(|(id, _)| Operand::Id(*id));
    inner.op == Op::Call(pair.inner)
        && outer.op == Op::Call(pair.outer)
        && region.result == Operand::Id(outer.id)
        && outer.arguments.contains(&Operand::Id(inner.id))
        && inner
            .arguments
            .iter()
            .cloned()
            .eq(parameters.take(inner.arguments.len()))
}

#[cfg(test)]
mod tests {
    use crate::rewrite::tests::expect;

    #[test]
    fn what_two_sets_have_in_common_is_counted() {
        expect(
            "\
form f(v0: grid):
  v1: indices = ofcolor(v0, 1) @2
  v2: indices = ofcolor(v0, 2) @3
  v3: indices = intersection(v1, v2) @4
  v4: int = size(v3) @5
  v5: grid = fill(v0, v4, v1) @6
  return v5
",
            "\
form f(v0: grid):
  v1: indices = ofcolor(v0, 1) @2
  v2: indices = ofcolor(v0, 2) @3
  v3: int = size_of_intersection(v1, v2) @5 {v4: indices, v5: indices ->
    v6: indices = intersection(v4, v5) @4
    v7: int = size(v6) @5
    yield v7
  }
  v8: grid = fill(v0, v3, v1) @6
  return v8
",
        );
    }

    #[test]
    fn a_call_that_may_fail_stays_where_it_is() {
        expect(
            "\
form f(v0: grid):
  v1: set<object> = objects(v0, True, False, True) @2
  v2: object = argmax(v1) @3 {v3: object ->
    v4: int = size(v3) @3
    yield v4
  }
  v5: set<object> = partition(v0) @4
  v6: grid = subgrid(v2, v0) @5
  v7: object = merge(v5) @6
  v8: grid = paint(v6, v7) @7
  return v8
",
            "\
form f(v0: grid):
  v1: set<object> = objects(v0, True, False, True) @2
  v2: object = argmax(v1) @3 {v3: object ->
    v4: int = size(v3) @3
    yield v4
  }
  v5: object = merged_partition(v0) @4 {v6: grid ->
    v7: set<object> = partition(v6) @4
    v8: object = merge(v7) @6
    yield v8
  }
  v9: grid = subgrid(v2, v0) @5
  v10: grid = paint(v9, v5) @7
  return v10
",
        );
    }

    #[test]
    fn what_something_else_uses_is_made() {
        let form = "\
form f(v0: grid):
  v1: indices = ofcolor(v0, 1) @2
  v2: indices = asindices(v0) @3
  v3: indices = intersection(v1, v2) @4
  v4: int = size(v3) @5
  v5: grid = fill(v0, v4, v3) @6
  return v5
";
        expect(form, form);
    }
}
