//! Which cells are observed: finds the patches that may lose their cells outside the window of a target.
//!
//! `fill`, `underfill`, `paint`, `underpaint`, `cover` and `toobject` ignore cells off the grid. On a target
//! whose grids all fit a [window](crate::Target::window), a patch that reaches nothing but these, possibly
//! through other patches, may therefore lose its cells outside the window: neither the result nor the kind of
//! an error depends on them. Demands propagate backward from uses to definitions, and are the same for every
//! window.
//!
//! The analysis is exact about errors. `paint` accepts only objects, and accepts an empty patch as one, so a
//! value that may be locations stays whole. So does an argument of a checked instruction, whose result may then
//! be of another type. When patches in a set lose cells, their order changes and equal ones merge: the set
//! stays whole if anything depends on the order or the number, as does the error of a loop's body if its use of
//! an element may fail.
//!
//! Bounds on the number of elements apply to the values before they lose cells: an executor that gets near
//! [`Limit::Elements`](arc_dsl::Limit::Elements) has to count the cells that it drops.

use std::sync::LazyLock;

use super::{Called, Index};
use crate::{Form, Id, Instruction, Op, Operand, Region, Type};
use arc_dsl::{ContainerKind, Primitive};
use arc_isa::{Body, Facts, Use};

/// What the uses of a value observe, from nothing to everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Demand {
    /// Nothing uses it.
    None,
    /// Cells in the window. The number is the depth of the innermost such use, counted in regions around it:
    /// that use may fail, depending on the cells.
    Window(u32),
    /// Everything.
    Whole,
}

/// Which values may lose their cells outside the window, by id; for a container of patches, those of its
/// elements. Elements of a set may then merge.
pub(crate) fn clippable(form: &Form, index: &Index<'_>) -> Vec<bool> {
    // Clippable values are those that are painted: without such calls there are none.
    static ENDS: LazyLock<Called> = LazyLock::new(|| {
        let is_end = |of: Use| matches!(of, Use::Painted { .. } | Use::OnGrid);
        Called::all(|primitive| primitive.facts().arguments().any(is_end))
    });
    if !index.called().meets(&ENDS) {
        return vec![false; index.len()];
    }
    let mut demands = Demands {
        seen: vec![Demand::None; index.len()],
        index,
    };
    demands.region(&form.body, Demand::Whole, 0);
    let seen = demands.seen.iter().enumerate();
    seen.map(|(id, seen)| *seen < Demand::Whole && has_cells(index.definition(Id(id as u32)).ty))
        .collect()
}

/// Whether it is a patch: a set of locations or cells, or a tuple of them.
pub(crate) fn is_patch(ty: &Type) -> bool {
    match ty {
        Type::Indices | Type::Object | Type::Patch => true,
        Type::Tuple(element) => matches!(**element, Type::Pair | Type::Cell),
        _ => false,
    }
}

/// Whether it is a container of patches.
fn is_list(ty: &Type) -> bool {
    match ty {
        Type::Set(element) | Type::Tuple(element) => is_patch(element),
        Type::Fixed(items) => items.iter().all(is_patch),
        _ => false,
    }
}

/// Whether it has cells that may be dropped.
#[inline]
pub(crate) fn has_cells(ty: &Type) -> bool {
    match ty {
        Type::Indices | Type::Object | Type::Patch => true,
        Type::Set(_) | Type::Tuple(_) | Type::Fixed(_) => is_patch(ty) || is_list(ty),
        _ => false,
    }
}

/// What a call observes of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Cells in the window.
    Window,
    /// What is observed of the result.
    Result,
    /// Everything.
    Whole,
}

/// What a call observes of an argument, by the types of both.
fn look(of: Use, argument: &Type, result: &Type) -> Look {
    let is_object = || match argument {
        Type::Object => true,
        Type::Tuple(element) => **element == Type::Cell,
        _ => false,
    };
    let (from_patch, from_list) = (is_patch(argument), is_list(argument));
    let (to_patch, to_list) = (is_patch(result), is_list(result));
    let passes = match of {
        Use::OnGrid | Use::Painted { object: false, .. } if from_patch => return Look::Window,
        Use::Painted { object: true, .. } if is_object() => return Look::Window,
        Use::Passed => has_cells(argument) && has_cells(result),
        Use::Cells => from_patch && to_patch,
        // The empty tuple becomes a set.
        Use::CellsOfSet => from_patch && argument.container() == Some(ContainerKind::Set),
        Use::Joined => {
            let lists = from_list && to_list && argument.container() == result.container();
            from_patch && to_patch || lists
        }
        Use::Each => from_list && to_patch,
        _ => false,
    };
    if passes { Look::Result } else { Look::Whole }
}

struct Demands<'f, 'i> {
    index: &'i Index<'f>,
    seen: Vec<Demand>,
}

impl<'f> Demands<'f, '_> {
    fn see(&mut self, operand: &Operand, demand: Demand) {
        if let Operand::Id(id) = operand {
            let seen = &mut self.seen[id.index()];
            *seen = demand.max(*seen);
        }
    }

    /// The type of a value; that of a constant does not matter, since constants lose no cells.
    fn ty(&self, operand: &Operand) -> &'f Type {
        match operand {
            Operand::Id(id) => self.index.definition(*id).ty,
            Operand::Constant(_) => &Type::Never,
        }
    }

    /// Propagates demands backward through a region at nesting depth `depth`.
    fn region(&mut self, region: &Region, result: Demand, depth: u32) {
        self.see(&region.result, result);
        for instruction in region.instructions.iter().rev() {
            self.instruction(instruction, depth);
        }
    }

    /// What is observed of an instruction's own value.
    fn own(&self, instruction: &Instruction) -> Demand {
        // The type check has to see the value before it loses cells.
        if has_cells(&instruction.ty) && !instruction.checked {
            self.seen[instruction.id.index()]
        } else {
            Demand::Whole
        }
    }

    /// A call of a first-order primitive.
    fn call(&mut self, instruction: &Instruction, primitive: Primitive, depth: u32) {
        for (at, argument) in instruction.arguments.iter().enumerate() {
            // The demand on a value without cells is never queried.
            let Operand::Id(id) = argument else { continue };
            let ty = self.index.definition(*id).ty;
            if !has_cells(ty) || self.seen[id.index()] == Demand::Whole {
                continue;
            }
            let of = primitive.facts().of_argument(at);
            let demand = match look(of, ty, &instruction.ty) {
                Look::Window => Demand::Window(depth),
                Look::Result => self.own(instruction),
                Look::Whole => Demand::Whole,
            };
            self.see(argument, demand);
        }
    }

    fn instruction(&mut self, instruction: &Instruction, depth: u32) {
        let arguments = &instruction.arguments;
        if let Op::Call(primitive) = instruction.op
            && primitive.is_first_order()
        {
            return self.call(instruction, primitive, depth);
        }
        let own = self.own(instruction);
        match instruction.op {
            Op::Call(primitive) => self.run_loop(instruction, primitive.facts(), own, depth),
            Op::Tuple | Op::Set => {
                for argument in arguments {
                    self.see(argument, own);
                }
            }
            Op::Item(_) => {
                for argument in arguments {
                    let list = is_list(self.ty(argument));
                    self.see(argument, if list { own } else { Demand::Whole });
                }
            }
            Op::If | Op::Choose => {
                for region in &instruction.regions {
                    self.region(region, own, depth + 1);
                }
                self.see_all(arguments);
            }
            Op::Fused(_) => {
                for region in &instruction.regions {
                    self.region(region, own, depth);
                    for (at, argument) in arguments.iter().enumerate() {
                        self.see(argument, self.parameter(region, at));
                    }
                }
            }
            Op::Iterate => self.iterate(instruction, own, depth),
            Op::Count | Op::Absent | Op::Fail(..) => self.see_all(arguments),
        }
    }

    fn see_all(&mut self, operands: &[Operand]) {
        for operand in operands {
            self.see(operand, Demand::Whole);
        }
    }

    /// The result of a round is the input of the next round: what either use observes counts.
    fn iterate(&mut self, instruction: &Instruction, own: Demand, depth: u32) {
        let mut demand = own;
        for region in &instruction.regions {
            loop {
                self.region(region, demand, depth + 1);
                let given = self.parameter(region, 0);
                if given <= demand {
                    break;
                }
                demand = given;
            }
        }
        if let [rounds, start] = instruction.arguments.as_slice() {
            self.see(rounds, Demand::Whole);
            self.see(start, demand);
        }
    }

    /// What a region observes of a parameter.
    fn parameter(&self, region: &Region, at: usize) -> Demand {
        let id = region.parameters.get(at).map(|(id, _)| *id);
        id.map_or(Demand::Whole, |id: Id| self.seen[id.index()])
    }

    /// Whether no cell makes a region fail, except by integers that exceed their bound: the sums and
    /// differences allowed here exceed it only for components that are near the bound already.
    fn is_harmless(&self, region: &Region) -> bool {
        region.instructions.len() <= 16
            && region.instructions.iter().all(|instruction| {
                let Some(facts) = instruction.facts() else {
                    return false;
                };
                let arguments = instruction.arguments.iter();
                let types: Vec<_> = arguments
                    .map(|argument| self.ty(argument).clone())
                    .collect();
                let sums =
                    facts.is_near && types.iter().all(|ty| matches!(ty, Type::Int | Type::Pair));
                !instruction.checked && (sums || (facts.is_total)(&types))
            })
    }

    fn run_loop(&mut self, instruction: &Instruction, facts: &Facts, own: Demand, depth: u32) {
        let (to_patch, to_list) = (is_patch(&instruction.ty), is_list(&instruction.ty));
        for (at, region) in instruction.regions.iter().enumerate() {
            let made = self.ty(&region.result);
            let passes = match facts.body {
                _ if at > 0 => false,
                Some(Body::Collected) => to_list && is_patch(made),
                // A tuple of the elements of sets would change their order.
                Some(Body::Merged) => {
                    let same_kind = made.container() == instruction.ty.container();
                    to_patch && is_patch(made) || to_list && is_list(made) && same_kind
                }
                _ => false,
            };
            self.region(region, if passes { own } else { Demand::Whole }, depth + 1);
        }
        for (at, argument) in instruction.arguments.iter().enumerate() {
            let ty = self.ty(argument);
            let given = match instruction.regions.first() {
                Some(region) if is_list(ty) => self.parameter(region, at),
                _ => Demand::Whole,
            };
            let set = ty.container() == Some(ContainerKind::Set);
            // In a different order, another element may be the first to fail.
            let element = match given {
                Demand::Window(inside) if set && inside > depth => Demand::Whole,
                given => given,
            };
            let one = instruction.arguments.len() == 1;
            let demand = match (facts.body, facts.of_argument(at)) {
                (Some(Body::Collected | Body::Merged), _) if one => element,
                (Some(Body::Collected | Body::Merged), Use::Whole) if !set => element,
                (_, Use::Some) if to_list => element.max(own),
                (_, Use::Some)
                    if matches!(ty, Type::Indices | Type::Object)
                        && instruction
                            .regions
                            .iter()
                            .all(|body| self.is_harmless(body)) =>
                {
                    own
                }
                (Some(Body::Tested), Use::Each) if to_patch => element.max(own),
                _ => Demand::Whole,
            };
            self.see(argument, demand);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell as Counter, RefCell};

    use super::*;
    use crate::{Evaluator, Stop, Target, parse, plan, specialise};
    use arc_dsl::generate::Generator;
    use arc_dsl::{Grid, Program, Value};
    use arc_tasks::builtin;
    use arc_text::parse_programs;

    const NONE: [u32; 0] = [];

    fn clipped(form: &Form) -> Vec<bool> {
        clippable(form, &Index::new(form))
    }

    /// The ids of the values that may lose cells.
    fn ids(steps: &str) -> Vec<u32> {
        let form = parse(&format!("form f(v0: grid):\n{steps}\n")).unwrap();
        let index = Index::new(&form);
        let clipped = clippable(&form, &index);
        let made = index.instructions().iter().map(|made| made.id);
        made.filter(|id| clipped[id.index()])
            .map(|id| id.0)
            .collect()
    }

    #[test]
    fn what_is_only_painted_is_not_seen_whole() {
        let steps = "\
  v1: set<object> = objects(v0, True, False, True) @2
  v2: object = mapply(v1) @4 {v3: object ->
    v4: int = color(v3) @4
    v5: pair = center(v3) @4
    v6: indices = shoot(v5, (0, 1)) @4
    v7: object = recolor(v4, v6) @4
    yield v7
  }
  v8: grid = paint(v0, v2) @5
  return v8";
        assert_eq!(ids(steps), [2, 6, 7]);
    }

    #[test]
    fn what_is_looked_at_otherwise_stays_whole() {
        let shoot = "  v1: indices = shoot((0, 0), (1, 1)) @2\n";
        let with = |rest: &str| ids(&format!("{shoot}{rest}"));
        let fill = "v2: grid = fill(v0, 1, v1) @3";
        assert_eq!(with(&format!("  {fill}\n  return v2")), [1]);
        // Uses of the result of `fill` do not matter.
        let mirror = "v3: grid = rot90(v2) @4";
        assert_eq!(with(&format!("  {fill}\n  {mirror}\n  return v3")), [1]);
        let size = "v3: int = size(v1) @4\n  v4: grid = fill(v2, v3, v1) @5";
        assert_eq!(with(&format!("  {fill}\n  {size}\n  return v4")), NONE);
        assert_eq!(
            with("  v2: indices = shift(v1, (1, 1)) @3\n  return v2"),
            NONE
        );
        // `paint` fails for locations, but not for an empty patch.
        let paint = "v2: grid! = paint(v0, v1) @3";
        assert_eq!(
            with(&format!(
                "  {}\n  return v2",
                paint.replace("grid!", "never!")
            )),
            NONE
        );
        // A mix of locations and cells bails out; once either has lost its cells, it would not.
        assert_eq!(
            with(
                "  v2: object = asobject(v0) @3\n  v3: patch! = combine(v2, v1) @4\n  \
                 v4: grid = fill(v0, 1, v3) @5\n  return v4"
            ),
            [3]
        );
        // Whether a patch is empty decides which arm is taken.
        assert_eq!(
            with(
                "  v2: indices = branch(v1, v1, v1) @3\n  v3: grid = fill(v0, 1, v2) @4\n  \
                 return v3"
            ),
            [2]
        );
    }

    #[test]
    fn patches_pass_through_patches_and_choices() {
        let steps = "\
  v1: indices = shoot((0, 0), (1, 1)) @2
  v2: indices = shoot((0, 0), (1, 0)) @3
  v3: indices = combine(v1, v2) @4
  v4: indices = difference(v3, v1) @4
  v5: bool = portrait(v0) @4
  v6: patch = if(v5) @4 {
    v7: object = recolor(2, v4) @4
    yield v7
  } {
    v8: indices = intersection(v4, v1) @4
    yield v8
  }
  v9: object = toobject(v6, v0) @5
  v10: int = size(v9) @6
  return v10";
        assert_eq!(ids(steps), [1, 2, 3, 4, 6, 7, 8]);
        // The result of a round is the input of the next.
        let rounds = |step: &str| {
            ids(&format!(
                "  v1: indices = shoot((0, 0), (1, 1)) @2\n  v2: indices = iterate(3, v1) @3 \
                 {{v3: indices ->\n    {step} @3\n    yield v4\n  }}\n  \
                 v5: grid = cover(v0, v2) @4\n  return v5"
            ))
        };
        assert_eq!(rounds("v4: indices = toindices(v3)"), [1, 2, 4]);
        assert_eq!(rounds("v4: indices = outbox(v3)"), [2]);
    }

    #[test]
    fn sets_of_patches_keep_their_order_where_it_matters() {
        let text = "  v1: indices = ofcolor(v0, 1) @2\n  v2: set<indices> = apply(v1) @3 \
                    {v3: pair ->\n    v4: indices = shoot(v3, (1, 1)) @3\n    yield v4\n  }\n";
        let merged = "v5: indices = mapply(v2) @4 {v6: indices ->\n    yield v6\n  }\n  \
                      v7: grid = fill(v0, 1, v5) @5\n  return v7";
        assert_eq!(ids(&format!("{text}  {merged}")), [2, 4, 5]);
        // The colour may be one that no cell can hold: the first location on the grid reveals that.
        let filled = "v5: set<grid> = apply(v2) @4 {v6: indices ->\n    \
                      v7: grid = fill(v0, 1, v6) @4\n    yield v7\n  }\n  return v5";
        assert_eq!(ids(&format!("{text}  {filled}")), NONE);
        // A tuple keeps its order.
        let tuple = "  v1: indices = ofcolor(v0, 1) @2\n  v2: tuple<pair> = totuple(v1) @2\n  \
                     v3: tuple<indices> = apply(v2) @3 {v4: pair ->\n    \
                     v5: indices = shoot(v4, (1, 1)) @3\n    yield v5\n  }\n  \
                     v6: tuple<grid> = apply(v3) @4 {v7: indices ->\n    \
                     v8: grid = fill(v0, 1, v7) @4\n    yield v8\n  }\n  return v6";
        assert_eq!(ids(tuple), [3, 5]);
    }

    #[test]
    fn a_target_without_a_window_clips_nothing() {
        let form = "form f(v0: grid):\n  v1: indices = shoot((0, 0), (1, 1)) @2\n  \
                    v2: grid = fill(v0, 1, v1) @3\n  return v2\n";
        let form = parse(form).unwrap();
        let whole = Target {
            name: "a machine",
            representations: &[],
            window: None,
        };
        let windowed = Target {
            window: Some(32),
            ..whole
        };
        let clipped = plan(&form, &windowed);
        assert!(clipped.is_clipped(Id(1)) && !plan(&form, &whole).is_clipped(Id(1)));
        assert_eq!(clipped.verify(&form, &windowed), Ok(()));
        let fault = clipped.verify(&form, &whole).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "v1: clipped, and a machine has no window"
        );
    }

    thread_local! {
        static WINDOW: Counter<i32> = const { Counter::new(0) };
        static LARGE: Counter<bool> = const { Counter::new(false) };
        static LOST: Counter<u32> = const { Counter::new(0) };
        static CLIPPED: RefCell<Vec<bool>> = const { RefCell::new(Vec::new()) };
    }

    /// The value without its cells outside the window.
    fn without(ty: &Type, value: &Value) -> Value {
        let container = value.as_container().unwrap();
        let inside = |item: &Value| {
            let loc = match item {
                Value::Loc(loc) => *loc,
                Value::Cell(cell) => cell.loc,
                other => panic!("{other} in {ty}"),
            };
            let window = 0..WINDOW.get();
            let inside = window.contains(&loc.i) && window.contains(&loc.j);
            LOST.set(LOST.get() + u32::from(!inside));
            inside
        };
        let items = container.iter().map(std::borrow::Cow::into_owned);
        let items: Vec<_> = match ty {
            _ if is_patch(ty) => items.filter(inside).collect(),
            Type::Fixed(types) => items.zip(&**types).map(|(v, ty)| without(ty, &v)).collect(),
            _ => {
                let element = ty.element().unwrap();
                items.map(|value| without(&element, &value)).collect()
            }
        };
        match container.kind {
            ContainerKind::Set => Value::set(items),
            ContainerKind::Tuple => Value::tuple(items),
        }
    }

    fn lose(instruction: &Instruction, value: Value) -> Value {
        let large = |value: &Value| {
            let side = value.as_grid().map(|grid| grid.height().max(grid.width()));
            side.is_some_and(|side| side as i32 > WINDOW.get())
        };
        let constants = instruction.arguments.iter().any(|operand| match operand {
            Operand::Constant(value) => large(value),
            Operand::Id(_) => false,
        });
        if constants || large(&value) {
            LARGE.set(true);
        }
        if CLIPPED.with_borrow(|clipped| clipped[instruction.id.index()]) {
            without(&instruction.ty, &value)
        } else {
            value
        }
    }

    /// Runs the program unchanged and with cells dropped; returns whether all grids fit the window.
    fn compare(program: &Program, input: &Grid, window: i32) -> bool {
        let Ok(form) = specialise(program) else {
            return false;
        };
        CLIPPED.set(clipped(&form));
        WINDOW.set(window);
        LARGE.set(input.height().max(input.width()) as i32 > window);
        let mut losing = Evaluator::default();
        losing.after = Some(lose);
        let (found, expected) = (
            losing.run(&form, input),
            Evaluator::default().run(&form, input),
        );
        if LARGE.get() {
            return false;
        }
        let show = || format!("{program}\n{form}\n{input}\n{found:?}\n{expected:?}");
        match (&found, &expected) {
            (Ok(a), Ok(b)) => assert_eq!(a.to_string(), b.to_string(), "{}", show()),
            (Err(Stop::Error(a)), Err(Stop::Error(b))) => {
                assert_eq!((a.kind, a.line), (b.kind, b.line), "{}", show());
            }
            (Err(a), Err(b)) => assert_eq!(a, b, "{}", show()),
            _ => panic!("{}", show()),
        }
        true
    }

    #[test]
    fn built_in_programs_miss_no_cell() {
        LOST.set(0);
        let mut compared = 0;
        for built_in in builtin::all() {
            for at in 0..4 {
                let input = built_in.input(17, at, 12);
                let side = input.height().max(input.width()) as i32;
                for window in [side, 32] {
                    compared += u32::from(compare(built_in.program(), &input, window));
                }
            }
        }
        assert!(
            compared > 300 && LOST.get() > 100,
            "{compared} {}",
            LOST.get()
        );
    }

    #[test]
    fn random_programs_miss_no_cell() {
        LOST.set(0);
        let mut generator = Generator::with_scenes(23, 100);
        let mut compared = 0;
        for _ in 0..1_000 {
            let program = generator.program(12).unwrap();
            let Value::Grid(input) = generator.value(arc_dsl::Type::Grid) else {
                continue;
            };
            let side = input.height().max(input.width()) as i32;
            compared += u32::from(compare(&program, &input, side));
        }
        assert!(
            compared > 300 && LOST.get() > 20,
            "{compared} {}",
            LOST.get()
        );
    }

    /// Programs that use patches in ways that random programs hardly ever do.
    #[test]
    fn patches_off_the_grid_are_missed_by_nothing() {
        LOST.set(0);
        let ways = [
            "mapply(shooting, cells)",
            "merge(apply(shooting, cells))",
            "merge(totuple(apply(shooting, cells)))",
            "mfilter(apply(shooting, cells), hline)",
            "merge(sfilter(apply(shooting, cells), hline))",
            "mapply(lbind(toobject, I), apply(shooting, cells))",
            "mpapply(shoot, totuple(cells), totuple(cells))",
            "merge(papply(connect, totuple(cells), totuple(cells)))",
            "merge(prapply(connect, cells, cells))",
            "combine(mapply(shooting, cells), shoot(ORIGIN, UNITY))",
            "difference(mapply(shooting, cells), shoot(ORIGIN, UNITY))",
            "intersection(mapply(shooting, cells), backdrop(outbox(cells)))",
            "insert(NEG_UNITY, mapply(shooting, cells))",
            "remove(NEG_UNITY, mapply(shooting, cells))",
            "branch(portrait(I), mapply(shooting, cells), outbox(cells))",
            "power(outbox, 3)(cells)",
            "mapply(neighbors, cells)",
            "merge(insert(outbox(cells), initset(shift(cells, NEG_TWO))))",
            "shift(outbox(cells), NEG_TWO)",
        ];
        let ends = [
            "fill(I, 3, patch)",
            "underfill(I, 3, toindices(patch))",
            "cover(I, patch)",
            "paint(I, recolor(4, patch))",
            "underpaint(I, recolor(4, toindices(patch)))",
            "subgrid(toobject(patch, I), I)",
            "fill(I, size(patch), patch)",
            "fill(I, 3, outbox(patch))",
            "paint(fill(I, 3, patch), shift(recolor(4, patch), RIGHT))",
        ];
        let mut compared = 0;
        for way in ways {
            for end in ends {
                let text = format!(
                    "def solve_test(I):\n    cells = ofcolor(I, 2)\n    \
                     shooting = rbind(shoot, UNITY)\n    patch = {way}\n    O = {end}\n    \
                     return O\n"
                );
                let program = parse_programs(&text).remove(0);
                let program = program.unwrap_or_else(|error| panic!("{error}\n{text}"));
                for rows in [
                    [[2, 0, 0], [0, 0, 2], [1, 0, 0]],
                    [[0, 0, 1], [0, 0, 2], [0, 0, 0]],
                ] {
                    let input = Grid::from_rows(&rows).unwrap();
                    compared += u32::from(compare(&program, &input, 3));
                }
            }
        }
        assert!(
            compared > 300 && LOST.get() > 1_000,
            "{compared} {}",
            LOST.get()
        );
    }
}
