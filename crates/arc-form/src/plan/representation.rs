//! The pass that settles how each value is held.
//!
//! Most follow from the type. Two things save what programs would mostly make for nothing:
//!
//! - Objects of a grid share no cell, so all of them are one map of labels, and some of them a view
//!   of it, as long as whatever uses them goes through them one after the other. A container of
//!   objects is made only where something keeps them.
//! - What is made only to be merged or painted is fused into the one instruction that does so, in
//!   the same region. That instruction runs the loop of what it takes, piece by piece, so that the
//!   error of a later instruction may come before one of the loop's: an executor that meets an
//!   error leaves the evaluation to the reference.

use smallvec::SmallVec;

use super::{find, for_each, for_each_mut};
use crate::{Fault, Form, Holding, Id, Instruction, Op, Operand, Region, Type};
use arc_dsl::Primitive as P;

/// Notes how each value is held.
pub(super) fn hold(form: &mut Form) {
    let special = Held::of(form).special;
    for_each_mut(&mut form.body, &mut |instruction| {
        let found = special[instruction.id.index()];
        instruction.notes.holding = Some(found.unwrap_or_else(|| plain(&instruction.ty)));
        let mut arguments = instruction.arguments.iter();
        let fused = |operand: &Operand| match operand {
            Operand::Id(id) => special[id.index()] == Some(Holding::Fused),
            Operand::Constant(_) => false,
        };
        let at = arguments.position(fused);
        instruction.notes.takes = at.and_then(|at| u8::try_from(at).ok());
    });
}

/// Whether every value may be held as it is noted.
pub(super) fn check(form: &Form) -> Result<(), Fault> {
    let noted = |instruction: &Instruction| {
        instruction.notes.holding.is_some() || instruction.notes.takes.is_some()
    };
    if find(&form.body, &noted).is_none() {
        return Ok(());
    }
    let held = Held::of(form);
    let mut taken = vec![false; form.ids as usize];
    let mut notes = vec![None; form.ids as usize];
    let mut faults = None;
    for_each(&form.body, &mut |instruction| {
        notes[instruction.id.index()] = instruction.notes.holding;
        if let Some(id) = instruction.taken() {
            taken[id.index()] = true;
        }
    });
    for_each(&form.body, &mut |instruction| {
        if faults.is_none()
            && let Some(message) = contradiction(instruction, &held, &taken, &notes)
        {
            let id = instruction.id;
            faults = Some(Fault { id, message });
        }
    });
    faults.map_or(Ok(()), Err)
}

/// What is wrong with how the value is noted to be held.
fn contradiction(
    instruction: &Instruction,
    held: &Held,
    taken: &[bool],
    notes: &[Option<Holding>],
) -> Option<String> {
    let id = instruction.id.index();
    let fused = |id: Id| notes[id.index()] == Some(Holding::Fused);
    let viewed = |operand: &Operand| match operand {
        Operand::Id(id) => matches!(notes[id.index()], Some(Holding::LabelMap | Holding::View)),
        Operand::Constant(_) => false,
    };
    if instruction.taken().is_some_and(|id| !fused(id)) {
        return Some("takes what is not fused".to_owned());
    }
    let noted = instruction.notes.holding?;
    if noted != held.holding(instruction) && noted != plain(&instruction.ty) {
        let found = held.holding(instruction).name();
        return Some(format!(
            "expected to be held as {found}, found {}",
            noted.name()
        ));
    }
    match noted {
        Holding::Fused if !taken[id] => Some("fused, but nothing takes it".to_owned()),
        Holding::View if !instruction.arguments.iter().any(viewed) => {
            Some("a view of what is no label map".to_owned())
        }
        _ => None,
    }
}

/// How a value of the type is held where nothing is known of its uses.
pub(super) fn plain(ty: &Type) -> Holding {
    match ty {
        Type::Never
        | Type::Bool
        | Type::Int
        | Type::MaybeInt
        | Type::Pair
        | Type::MaybePair
        | Type::Cell => Holding::Scalar,
        Type::Grid => Holding::Grid,
        Type::Indices => Holding::Mask,
        Type::Object | Type::Patch => Holding::Object,
        Type::Set(_) | Type::Tuple(_) | Type::Fixed(_) => Holding::List,
    }
}

/// A use of a value.
#[derive(Clone, Copy)]
struct Use<'f> {
    /// By whom, as which argument; nothing where it is the result of a region.
    by: Option<(&'f Instruction, usize)>,
    /// The region in which it is used.
    region: u32,
}

struct Held<'f> {
    /// How values are held that are not held as their type says.
    special: Vec<Option<Holding>>,
    uses: Vec<SmallVec<[Use<'f>; 2]>>,
    /// The label map of which a value may be a view.
    base: Vec<Option<Id>>,
    /// The region in which each value is made.
    home: Vec<u32>,
    regions: u32,
}

impl<'f> Held<'f> {
    fn of(form: &'f Form) -> Self {
        let ids = form.ids as usize;
        let mut held = Held {
            special: vec![None; ids],
            uses: vec![SmallVec::new(); ids],
            base: vec![None; ids],
            home: vec![0; ids],
            regions: 0,
        };
        held.enter(&form.body);
        let mut specials = Vec::new();
        for_each(&form.body, &mut |instruction| specials.push(instruction));
        for instruction in specials {
            held.special[instruction.id.index()] = held.choose(instruction);
        }
        held
    }

    fn holding(&self, instruction: &Instruction) -> Holding {
        self.special[instruction.id.index()].unwrap_or_else(|| plain(&instruction.ty))
    }

    /// Collects uses and what may be a view.
    fn enter(&mut self, region: &'f Region) {
        let number = self.regions;
        self.regions += 1;
        for instruction in &region.instructions {
            self.home[instruction.id.index()] = number;
            for (at, argument) in instruction.arguments.iter().enumerate() {
                if let Operand::Id(id) = argument {
                    let by = Some((instruction, at));
                    self.uses[id.index()].push(Use { by, region: number });
                }
            }
            self.base[instruction.id.index()] = self.viewed(instruction);
            for region in &instruction.regions {
                self.enter(region);
            }
        }
        for result in &region.results {
            if let Operand::Id(id) = result {
                let by = None;
                self.uses[id.index()].push(Use { by, region: number });
            }
        }
    }

    fn base(&self, operand: Option<&Operand>) -> Option<Id> {
        match operand? {
            Operand::Id(id) => self.base[id.index()],
            Operand::Constant(_) => None,
        }
    }

    /// The label map that the instruction makes or leaves out components of.
    fn viewed(&self, instruction: &Instruction) -> Option<Id> {
        let Op::Call(primitive) = instruction.op else {
            return None;
        };
        let base = |at: usize| self.base(instruction.arguments.get(at));
        if instruction.checked {
            return None;
        }
        match primitive {
            P::objects | P::partition | P::fgpartition => Some(instruction.id),
            P::sfilter
            | P::order
            | P::totuple
            | P::dedupe
            | P::colorfilter
            | P::sizefilter
            | P::difference
            | P::intersection => base(0),
            P::remove => base(1),
            P::branch => base(1).filter(|one| base(2) == Some(*one)),
            _ => None,
        }
    }

    /// Whether the use goes through the components of a label map one after the other.
    fn streams(&self, of: Use<'_>) -> bool {
        let Some((instruction, at)) = of.by else {
            return false;
        };
        let Op::Call(primitive) = instruction.op else {
            return false;
        };
        if primitive.loop_function().is_some() {
            return true;
        }
        match (primitive, at) {
            (
                P::merge
                | P::size
                | P::totuple
                | P::first
                | P::last
                | P::dedupe
                | P::colorfilter
                | P::sizefilter
                | P::other,
                0,
            )
            | (P::remove | P::contained, 1)
            | (P::difference | P::intersection, 0 | 1) => true,
            (P::branch, 1 | 2) => self.base[instruction.id.index()].is_some(),
            _ => false,
        }
    }

    /// How the value is held where that does not follow from its type.
    fn choose(&self, instruction: &Instruction) -> Option<Holding> {
        let id = instruction.id;
        let uses = &self.uses[id.index()];
        if let Some(base) = self.base[id.index()]
            && uses.iter().all(|one| self.streams(*one))
        {
            if base == id {
                return Some(Holding::LabelMap);
            }
            if self.special[base.index()] == Some(Holding::LabelMap) && self.of_views(instruction) {
                return Some(Holding::View);
            }
        }
        if matches!(instruction.ty, Type::Fixed(_))
            && matches!(instruction.op, Op::Tuple | Op::Call(P::astuple))
        {
            let keeps = |one: &Use<'_>| {
                one.by.is_none_or(|(by, at)| {
                    matches!(
                        (by.op, at),
                        (Op::Tuple | Op::Set | Op::Call(P::astuple | P::initset), _)
                            | (Op::Call(P::insert | P::repeat), 0)
                            | (Op::Call(P::branch), 1 | 2)
                            | (Op::Iterate, 1)
                    )
                })
            };
            return (!uses.iter().any(keeps)).then_some(Holding::Static);
        }
        self.fuses(instruction).then_some(Holding::Fused)
    }

    /// Whether what a view is of is a label map or a view itself.
    fn of_views(&self, instruction: &Instruction) -> bool {
        let mut arguments = instruction.arguments.iter();
        arguments.any(|operand| match operand {
            Operand::Id(id) => matches!(
                self.special[id.index()],
                Some(Holding::LabelMap | Holding::View)
            ),
            Operand::Constant(_) => false,
        })
    }

    /// Whether it is gone through by the one instruction that uses it, and never made.
    fn fuses(&self, instruction: &Instruction) -> bool {
        let [one] = self.uses[instruction.id.index()].as_slice() else {
            return false;
        };
        let Some((by, at)) = one.by else {
            return false;
        };
        let (Op::Call(maker), Op::Call(taker)) = (instruction.op, by.op) else {
            return false;
        };
        if instruction.checked || one.region != self.home[instruction.id.index()] {
            return false;
        }
        // It can be used but once, as one argument.
        let fused = |operand: &Operand| match operand {
            Operand::Id(id) => self.special[id.index()] == Some(Holding::Fused),
            Operand::Constant(_) => false,
        };
        let merges = match maker {
            P::mapply | P::mpapply | P::mfilter | P::merge => true,
            P::recolor | P::toindices => instruction.arguments.iter().any(fused),
            _ => false,
        };
        let patch = match &instruction.ty {
            Type::Indices | Type::Object => true,
            Type::Tuple(element) => matches!(**element, Type::Pair | Type::Cell),
            _ => false,
        };
        let ends = matches!(
            (taker, at),
            (P::fill | P::underfill, 2)
                | (P::paint | P::underpaint | P::cover | P::recolor, 1)
                | (P::toobject | P::toindices | P::size, 0)
        );
        if merges && patch && ends {
            return true;
        }
        // The elements of a loop, merged or compared as they come.
        let lists = matches!(maker, P::apply | P::papply | P::prapply)
            || maker == P::sfilter && self.holding(instruction) == Holding::List;
        let element = instruction.ty.element();
        let number = matches!(element, Some(Type::Int));
        lists
            && match taker {
                P::merge => true,
                P::maximum | P::minimum => number && maker != P::sfilter,
                _ => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn held(text: &str) -> String {
        let mut form = parse(text).unwrap();
        hold(&mut form);
        form.verify().unwrap();
        assert_eq!(parse(&form.to_string()).as_ref(), Ok(&form));
        form.to_string()
    }

    /// Adds the notes to the text, a line each, and expects that this is what comes of it.
    fn expect(lines: &[(&str, &str)]) {
        let noted = |(line, notes): &(&str, &str)| match line.split_once(" {") {
            _ if notes.is_empty() => (*line).to_owned(),
            Some((head, rest)) => format!("{head} [{notes}] {{{rest}"),
            None => format!("{line} [{notes}]"),
        };
        let before: Vec<_> = lines.iter().map(|(line, _)| *line).collect();
        let after: Vec<_> = lines.iter().map(noted).collect();
        let (before, after) = (before.join("\n") + "\n", after.join("\n") + "\n");
        assert_eq!(held(&before), after);
    }

    #[test]
    fn objects_that_are_gone_through_are_a_label_map_and_its_views() {
        expect(&[
            ("form f(v0: grid):", ""),
            (
                "  v1: set<object> = objects(v0, True, False, True) @2",
                "label map",
            ),
            ("  v2: set<object> = colorfilter(v1, 3) @3", "view"),
            ("  v3: tuple<object> = order(v2) @4 {v4: object ->", "view"),
            ("    v5: int = size(v4) @4", "scalar"),
            ("    yield v5", ""),
            ("  }", ""),
            ("  v6: object = last(v3) @5", "object"),
            ("  v7: set<object> = remove(v6, v1) @6", "view"),
            ("  v8: object = merge(v7) @7", "fused"),
            ("  v9: grid = paint(v0, v8) @8", "grid, takes v8"),
            ("  return v9", ""),
        ]);
    }

    #[test]
    fn objects_that_something_keeps_are_a_list() {
        expect(&[
            ("form f(v0: grid):", ""),
            (
                "  v1: set<object> = objects(v0, True, False, True) @2",
                "list",
            ),
            ("  v2: object = asobject(v0) @3", "object"),
            ("  v3: set<object> = insert(v2, v1) @3", "list"),
            ("  v4: set<object> = sizefilter(v1, 3) @4", "list"),
            ("  v5: set<object> = combine(v3, v4) @5", "list"),
            ("  return v5", ""),
        ]);
    }

    #[test]
    fn what_is_only_merged_or_painted_is_fused() {
        expect(&[
            ("form f(v0: grid):", ""),
            ("  v1: indices = ofcolor(v0, 1) @2", "mask"),
            ("  v2: set<indices> = apply(v1) @3 {v3: pair ->", "fused"),
            ("    v4: indices = neighbors(v3) @3", "mask"),
            ("    yield v4", ""),
            ("  }", ""),
            ("  v5: indices = merge(v2) @4", "fused, takes v2"),
            ("  v6: object = recolor(3, v5) @5", "fused, takes v5"),
            ("  v7: grid = paint(v0, v6) @6", "grid, takes v6"),
            ("  v8: indices = mapply(v1) @7 {v9: pair ->", "mask"),
            ("    v10: indices = dneighbors(v9) @7", "mask"),
            ("    yield v10", ""),
            ("  }", ""),
            // Used twice.
            ("  v11: grid = fill(v7, 2, v8) @8", "grid"),
            ("  v12: grid = fill(v11, 2, v8) @9", "grid"),
            ("  v13: (grid, grid) = tuple(v11, v12) @9", "static"),
            ("  v14: grid = item.0(v13) @10", "grid"),
            ("  return v14", ""),
        ]);
    }

    #[test]
    fn what_a_loop_uses_in_each_round_is_made_once_before_it() {
        expect(&[
            ("form f(v0: grid):", ""),
            ("  v1: indices = ofcolor(v0, 1) @2", "mask"),
            ("  v2: indices = mapply(v1) @3 {v3: pair ->", "mask"),
            ("    v4: indices = neighbors(v3) @3", "mask"),
            ("    yield v4", ""),
            ("  }", ""),
            ("  v5: set<grid> = apply(v1) @4 {v6: pair ->", "list"),
            ("    v7: grid = fill(v0, 1, v2) @4", "grid"),
            ("    yield v7", ""),
            ("  }", ""),
            ("  return v5", ""),
        ]);
    }

    #[test]
    fn notes_that_contradict_the_uses_are_faults() {
        let fault = |from: &str, to: &str| {
            let text = held(
                "form f(v0: grid):\n  v1: set<object> = objects(v0, True, False, True) @2\n  \
                 v2: set<object> = colorfilter(v1, 3) @3\n  v3: object = merge(v2) @4\n  \
                 v4: grid = paint(v0, v3) @5\n  return v4\n",
            );
            assert!(text.contains(from));
            parse(&text.replacen(from, to, 1)).map_err(|error| error.message)
        };
        assert!(fault("label map", "label map").is_ok());
        assert_eq!(
            fault("[label map]", "[list]").unwrap_err(),
            "v2: a view of what is no label map"
        );
        assert_eq!(
            fault(", takes v3", "").unwrap_err(),
            "v3: fused, but nothing takes it"
        );
        assert_eq!(
            fault("[fused]", "[object]").unwrap_err(),
            "v4: takes what is not fused"
        );
        assert_eq!(
            fault("[grid, takes v3]", "[fused, takes v3]").unwrap_err(),
            "v4: expected to be held as grid, found fused"
        );
        // To be made all the same is no fault.
        let made = fault(
            "@4 [fused]\n  v4: grid = paint(v0, v3) @5 [grid, takes v3]",
            "@4 [object]\n  v4: grid = paint(v0, v3) @5 [grid]",
        );
        assert!(made.is_ok());
    }
}
