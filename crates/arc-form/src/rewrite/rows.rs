//! Fuses the cellwise maximum or minimum of two grids, written as pairs of rows, into one instruction.

use super::fuse::{CallPair, Position, fuse};
use super::{Fused, only};
use crate::analysis::{Called, Index};
use crate::{Form, Instruction, Op, Operand, Region, Type};
use arc_dsl::Primitive as P;

/// Whether the instruction pairs the rows of two containers, cell by cell.
fn pairs_rows(instruction: &Instruction) -> bool {
    instruction.op == Op::Call(P::Papply)
        && only(&instruction.regions[0], 2).is_some_and(|one| {
            let rows = instruction.regions[0].parameters.iter();
            let rows = rows.map(|(id, _)| Operand::Id(*id));
            one.op == Op::Call(P::Pair) && one.arguments.iter().cloned().eq(rows)
        })
}

/// Whether an instruction takes the larger or the smaller of each pair in each row of its argument.
fn taken(instruction: &Instruction) -> Option<Fused> {
    let of_each = |instruction: &Instruction| instruction.op == Op::Call(P::Apply);
    let region = instruction.regions.first()?;
    let row = only(region, 1).filter(|row| of_each(instruction) && of_each(row))?;
    let inside = row.regions.first()?;
    let one = only(inside, 1)?;
    let whole = [(row, region), (one, inside)]
        .iter()
        .all(|(one, region)| one.arguments == [Operand::Id(region.parameters[0].0)]);
    match one.op {
        Op::Call(P::Maximum) if whole => Some(Fused::LargerCells),
        Op::Call(P::Minimum) if whole => Some(Fused::SmallerCells),
        _ => None,
    }
}

/// Whether the region has the calls that this replaces.
pub(super) fn is_of(fused: Fused, region: &Region) -> bool {
    let [pairs, outer] = &region.instructions[..] else {
        return false;
    };
    let parameters = region.parameters.iter().map(|(id, _)| Operand::Id(*id));
    pairs_rows(pairs)
        && taken(outer) == Some(fused)
        && region.result == Operand::Id(outer.id)
        && outer.arguments == [Operand::Id(pairs.id)]
        && pairs.arguments.iter().cloned().eq(parameters)
}

/// Fuses paired rows that are only used for the larger or smaller colours.
pub(super) fn rewrite(form: &mut Form) {
    let index = Index::new(form);
    let rows = Type::tuple_of(Type::tuple_of(Type::Int));
    let (mut found, mut made) = (Vec::new(), Vec::new());
    for pairs in index.instructions().iter().filter(|one| pairs_rows(one)) {
        // The result of such an instruction may be used as a grid.
        let is_grid = |operand: &Operand| match operand {
            Operand::Id(id) if made.contains(id) => true,
            _ => index.is(operand, &Type::Grid),
        };
        let Some(user) = index.only_user(pairs.id) else {
            continue;
        };
        let Some((outer, 0)) = user.argument() else {
            continue;
        };
        if user.region == index.definition(pairs.id).region
            && outer.ty == rows
            && !outer.checked
            && !pairs.checked
            && pairs.arguments.iter().all(is_grid)
            && let Some(fused) = taken(outer)
        {
            made.push(outer.id);
            found.extend(CallPair::new(fused, pairs, outer, Position::Second, &index));
        }
    }
    fuse(form, found);
}

/// Whether a form has the calls that this rewrite needs.
pub(super) fn may(called: &Called) -> bool {
    [P::Papply, P::Pair, P::Apply]
        .iter()
        .all(|one| called.has(*one))
}

#[cfg(test)]
mod tests {
    use crate::rewrite::tests::expect;

    #[test]
    fn rows_of_two_grids_are_compared_at_once() {
        expect(
            "\
form f(v0: grid):
  v1: grid = vmirror(v0) @2
  v2: tuple<tuple<(int, int)>> = papply(v0, v1) @3 {v3: tuple<int>, v4: tuple<int> ->
    v5: tuple<(int, int)> = pair(v3, v4) @3
    yield v5
  }
  v6: tuple<tuple<int>> = apply(v2) @4 {v7: tuple<(int, int)> ->
    v8: tuple<int> = apply(v7) @4 {v9: (int, int) ->
      v10: int = maximum(v9) @4
      yield v10
    }
    yield v8
  }
  return v6
",
            "\
form f(v0: grid):
  v1: grid = vmirror(v0) @2
  v2: tuple<tuple<int>> = larger_cells(v0, v1) @4 {v3: grid, v4: grid ->
    v5: tuple<tuple<pair>> = papply(v3, v4) @3 {v6: tuple<int>, v7: tuple<int> ->
      v8: tuple<pair> = pair(v6, v7) @3
      yield v8
    }
    v9: tuple<tuple<int>> = apply(v5) @4 {v10: tuple<pair> ->
      v11: tuple<int> = apply(v10) @4 {v12: pair ->
        v13: int = maximum(v12) @4
        yield v13
      }
      yield v11
    }
    yield v9
  }
  return v2
",
        );
    }
}
