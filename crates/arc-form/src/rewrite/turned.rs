//! Patches and grids that are rotated or mirrored more than once: each of the eight orientations is evaluated
//! only once.

use super::Candidates;
use crate::analysis::Index;
use crate::analysis::order::Observed;
use crate::{Form, Id, Instruction, Operand, Region, Type};
use arc_isa::Symmetry;

/// A value that is another one rotated or mirrored.
#[derive(Debug, Clone, Copy)]
struct Turned {
    of: Id,
    lies: Symmetry,
    made: Id,
}

/// The state of the pass.
struct Pass<'t> {
    turned: Vec<Turned>,
    /// The value that replaces another one, by id.
    same: Vec<Option<Id>>,
    /// The types of values, by id.
    types: &'t [Type],
    /// The sets whose order is observed, by id: one that is mirrored twice is another one than the first.
    observed: Vec<bool>,
    any: bool,
}

/// Removes values with the same orientation as another value.
pub(super) fn rewrite(form: &mut Form, types: &[Type]) {
    let index = Index::new(form);
    let mut observed = Observed::new(&index, true);
    let is_observed = |id: Id| types.get(id.index()) != Some(&Type::Grid) && observed.of(id);
    let observed = (0..form.ids).map(Id).map(is_observed).collect();
    let mut pass = Pass {
        turned: Vec::new(),
        same: vec![None; form.ids as usize],
        types,
        observed,
        any: false,
    };
    pass.region(&mut form.body);
}

/// The value that an instruction rotates or mirrors, and how; `None` if it does something else.
fn turns(instruction: &Instruction) -> Option<(Id, Symmetry)> {
    let symmetry = instruction.primitive()?.facts().symmetry?;
    let [Operand::Id(of)] = instruction.arguments[..] else {
        return None;
    };
    let fits = match instruction.ty {
        // If a patch could be mirrored once, it has a box.
        Type::Indices | Type::Object => true,
        // A grid without columns has no rows where rows and columns change places.
        Type::Grid => !symmetry.is_across(),
        _ => false,
    };
    (fits && !instruction.checked).then_some((of, symmetry))
}

impl Pass<'_> {
    fn rename(&self, operand: &mut Operand) {
        if let Operand::Id(id) = operand
            && let Some(same) = self.same[id.index()]
        {
            *id = same;
        }
    }

    fn region(&mut self, region: &mut Region) {
        let before = self.turned.len();
        region.instructions.retain_mut(|instruction| {
            if self.any {
                for operand in &mut instruction.arguments {
                    self.rename(operand);
                }
            }
            for region in &mut instruction.regions {
                self.region(region);
            }
            // A value of another type becomes a different value, not the same one in another orientation.
            let keeps = |of: Id| self.types.get(of.index()) == Some(&instruction.ty);
            let turned = turns(instruction).filter(|(of, _)| keeps(*of));
            let Some((of, symmetry)) = turned else {
                return true;
            };
            let known = self.turned.iter().find(|one| one.made == of);
            let (of, lies) = known.map_or((of, Symmetry::IDENTITY), |one| (one.of, one.lies));
            let lies = lies.then(symmetry);
            let found = if self.observed[instruction.id.index()] {
                None
            } else if lies == Symmetry::IDENTITY {
                Some(of)
            } else {
                let mut turned = self.turned.iter();
                let found = turned.find(|one| (one.of, one.lies) == (of, lies));
                found.map(|one| one.made)
            };
            match found {
                Some(found) => {
                    self.same[instruction.id.index()] = Some(found);
                    self.any = true;
                }
                None => self.turned.push(Turned {
                    of,
                    lies,
                    made: instruction.id,
                }),
            }
            found.is_none()
        });
        self.rename(&mut region.result);
        // Values of a region do not exist after it.
        self.turned.truncate(before);
    }
}

/// Whether a form rotates or mirrors more than once; otherwise no orientation repeats.
pub(super) fn may(found: &Candidates) -> bool {
    found.turning > 1
}

#[cfg(test)]
mod tests {
    use crate::rewrite::tests::expect;

    #[test]
    fn what_is_mirrored_twice_is_made_once() {
        expect(
            "\
form f(v0: grid):
  v1: indices = ofcolor(v0, 1) @2
  v2: indices = hmirror(v1) @3
  v3: indices = vmirror(v2) @4
  v4: indices = vmirror(v1) @5
  v5: indices = hmirror(v4) @6
  v6: indices = vmirror(v5) @7
  v7: indices = combine(v5, v6) @8
  v8: grid = fill(v0, 3, v7) @9
  v9: grid = rot180(v8) @10
  v10: grid = rot180(v9) @11
  return v10
",
            "\
form f(v0: grid):
  v1: indices = ofcolor(v0, 1) @2
  v2: indices = hmirror(v1) @3
  v3: indices = vmirror(v2) @4
  v4: indices = vmirror(v1) @5
  v5: indices = combine(v3, v2) @8
  v6: grid = fill(v0, 3, v5) @9
  return v6
",
        );
    }

    #[test]
    fn what_a_region_makes_is_not_there_after_it() {
        let form = "\
form f(v0: grid):
  v1: set<object> = objects(v0, True, False, True) @2
  v2: object = argmax(v1) @3 {v3: object ->
    v4: int = size(v3) @3
    yield v4
  }
  v5: set<object> = sfilter(v1) @4 {v6: object ->
    v7: object = hmirror(v2) @4
    v8: bool = equality(v6, v7) @4
    yield v8
  }
  v9: object = hmirror(v2) @5
  v10: set<object> = insert(v9, v5) @6
  v11: object = mapply(v10) @7 {v12: object ->
    yield v12
  }
  v13: grid = paint(v0, v11) @8
  return v13
";
        expect(form, form);
    }
}
