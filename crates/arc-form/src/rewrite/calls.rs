//! Fuses calls whose values nothing else uses: `size(intersection(a, b))` counts the common elements and builds no set.

use super::pattern::{NAMED, Named, Pattern, instruction};
use super::{Fused, replace};
use crate::analysis::{Called, Index};
use crate::{Form, Id, Instruction, Operand, Region, Type};
use arc_dsl::Primitive as P;

/// The operations whose calls a form may have as they stand. Filters are found in more forms.
fn operations(called: &Called) -> impl Iterator<Item = &'static Named> {
    let named = NAMED.iter().filter(|one| one.last != P::Sfilter);
    named.filter(|one| called.has_all(&one.called))
}

/// Whether a form may have the calls of an operation.
pub(super) fn may(called: &Called) -> bool {
    operations(called).next().is_some()
}

/// Calls that one instruction replaces.
struct Found {
    instruction: Instruction,
    /// The call in whose place it stands.
    at: Id,
    calls: Vec<Id>,
}

/// The calls that an operation replaces of which this is the last. `rows` are known to be taken as grids.
fn find(
    last: &Instruction,
    fused: Fused,
    index: &Index<'_>,
    rows: &[Id],
    ids: &mut u32,
) -> Option<Found> {
    let maker = |value: &Operand| index.maker(value).ok_or_else(|| value.clone());
    let found = Pattern::of(fused)?.find(&Operand::Id(last.id), &maker)?;
    let region = |call: &Instruction| index.definition(call.id).region;
    let around: Vec<&Instruction> = found
        .calls
        .iter()
        .copied()
        .filter(|call| region(call) == region(last))
        .collect();
    let inside = around
        .iter()
        .map(|call| 1 + call.regions.iter().map(Region::len).sum::<usize>());
    let is_whole = inside.sum::<usize>() == found.calls.len();
    let is_free = |call: &&Instruction| call.id == last.id || index.only_user(call.id).is_some();
    if !is_whole || !around.iter().all(is_free) || found.calls.iter().any(|call| call.checked) {
        return None;
    }
    let first = around.first()?;
    let lines: Vec<u32> = found.calls.iter().map(|call| call.line).collect();
    let mut arguments = Vec::new();
    for (value, (_, ty)) in found.arguments(fused)?.into_iter().zip(fused.parameters()) {
        let fits = index.is(&value, ty)
            || *ty == Type::Bool && index.is(&value, &Type::Int)
            || *ty == Type::Grid && matches!(value, Operand::Id(id) if rows.contains(&id));
        let found = index.type_of(&value).filter(|_| fits)?;
        arguments.push((value, found));
    }
    let at = if fused.may_fail_first() { *first } else { last };
    let instruction = instruction(fused, arguments, &lines, ids)?;
    Some(Found {
        instruction: Instruction {
            id: last.id,
            line: at.line,
            ..instruction
        },
        at: at.id,
        calls: around.iter().map(|call| call.id).collect(),
    })
}

/// Fuses all such calls.
pub(super) fn rewrite(form: &mut Form) {
    let index = Index::new(form);
    let (mut found, mut rows, mut ids) = (Vec::new(), Vec::new(), form.ids);
    let operations: Vec<_> = operations(index.called()).collect();
    for last in index.instructions() {
        let ending = |one: &&&Named| Some(one.last) == last.primitive();
        let mut operations = operations.iter().filter(ending);
        let found_here = |one: &&Named| find(last, one.fused, &index, &rows, &mut ids);
        if let Some(one) = operations.find_map(found_here) {
            // The result of such an instruction may be used as a grid.
            rows.extend(one.instruction.op.gives_rows().then_some(last.id));
            found.push(one);
        }
    }
    for Found {
        instruction,
        at,
        calls,
    } in found
    {
        replace(&mut form.body, at, &calls, &mut vec![instruction]);
    }
    form.ids = ids;
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
