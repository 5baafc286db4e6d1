//! [`shrink`]: reduces a program and an input while a property still holds.

use std::borrow::Cow;
use std::iter;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_dsl::generate::Sketch;
use arc_dsl::{Cell, ContainerKind, Grid, Interpreter, Loc, Operand, Program, Slot, Value};

/// The maximum number of calls of `fails` and the maximum time: a slow case is reported before it is minimal.
const MOST_TRIALS: u32 = 10_000;
const MOST_TIME: Duration = Duration::from_secs(20);

/// The maximum number of smaller versions of one value that are tried.
const MOST_SMALLER: usize = 64;

/// The smallest program and input found for which `fails` still holds, as it must for the given ones.
///
/// Steps are removed from the end, and wherever something simpler can replace their result: their own arguments, the
/// input, or the value that they have in the reference. Then literals are reduced, rows and columns of the input are
/// removed, and its colours become 0. Lines are renumbered.
///
/// ```
/// use arc_check::shrink;
/// use arc_dsl::Grid;
/// use arc_text::parse_programs;
/// let text = "def f(I):\n    x1 = hmirror(I)\n    x2 = vmirror(x1)\n    x3 = size(x2)\n    return x3\n";
/// let program = parse_programs(text).remove(0)?;
/// let input = Grid::from_rows(&[[1, 2, 3], [4, 5, 6], [7, 8, 9]])?;
/// let (program, input) = shrink(&program, &input, |program, input| {
///     program.to_string().contains("vmirror") && input.cells().contains(&7)
/// });
/// assert_eq!(program.to_string(), "def f(I):\n    x1 = vmirror(I)\n    return I\n");
/// assert_eq!(input.to_string(), "((7,),)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn shrink(
    program: &Program,
    input: &Grid,
    fails: impl FnMut(&Program, &Grid) -> bool,
) -> (Program, Grid) {
    let mut shrinker = Shrinker {
        sketch: Sketch::new(program),
        program: program.clone(),
        input: input.clone(),
        fails,
        trials_left: MOST_TRIALS,
        began: Instant::now(),
    };
    loop {
        let left = shrinker.sketch.steps.len();
        let mut smaller = shrinker.cut();
        smaller |= shrinker.remove_steps();
        smaller |= shrinker.simplify_operands();
        smaller |= shrinker.shrink_input();
        if !smaller && shrinker.sketch.steps.len() == left {
            return (shrinker.program, shrinker.input);
        }
    }
}

/// The smallest program and input so far.
struct Shrinker<F> {
    sketch: Sketch,
    program: Program,
    input: Grid,
    fails: F,
    trials_left: u32,
    began: Instant,
}

impl<F: FnMut(&Program, &Grid) -> bool> Shrinker<F> {
    /// Keeps this program as the smallest if it still fails.
    fn try_sketch(&mut self, sketch: Sketch) -> bool {
        let Ok(program) = sketch.build() else {
            return false;
        };
        if !self.try_both(&program, &self.input.clone()) {
            return false;
        }
        (self.sketch, self.program) = (sketch, program);
        true
    }

    fn try_input(&mut self, input: Grid) -> bool {
        let fails = self.try_both(&self.program.clone(), &input);
        if fails {
            self.input = input;
        }
        fails
    }

    fn try_both(&mut self, program: &Program, input: &Grid) -> bool {
        let Some(left) = self.trials_left.checked_sub(1) else {
            return false;
        };
        self.trials_left = if self.began.elapsed() < MOST_TIME {
            left
        } else {
            0
        };
        (self.fails)(program, input)
    }

    /// Removes unneeded steps from the end.
    fn cut(&mut self) -> bool {
        (0..self.sketch.steps.len()).any(|steps| self.try_sketch(self.sketch.prefix(steps)))
    }

    /// Removes each step that something else can replace, the last first.
    fn remove_steps(&mut self) -> bool {
        let mut any = false;
        for step in (0..self.sketch.steps.len()).rev() {
            any |= self
                .replacements(step)
                .iter()
                .filter_map(|replacement| self.sketch.without(step, replacement))
                .collect::<Vec<_>>()
                .into_iter()
                .any(|sketch| self.try_sketch(sketch));
        }
        any
    }

    /// What can replace the result of a step, the simplest first.
    fn replacements(&self, step: usize) -> Vec<Operand> {
        let mut replacement = vec![Operand::Slot(Slot::INPUT)];
        replacement.extend(self.sketch.steps[step].1.iter().cloned());
        let part = self.sketch.prefix(step + 1).build();
        let value = part.map(|part| Interpreter::default().run(&part, self.input.clone()));
        if let Ok(Ok(value)) = value
            && is_literal(&value)
        {
            replacement.push(value.into());
        }
        replacement.dedup();
        replacement
    }

    /// Replaces each operand by the input or something smaller.
    fn simplify_operands(&mut self) -> bool {
        let mut any = false;
        for number in 0..self.sketch.operands() {
            while self.simplify_operand(number) {
                any = true;
            }
        }
        any
    }

    fn simplify_operand(&mut self, number: usize) -> bool {
        let input = Operand::Slot(Slot::INPUT);
        let smaller: Vec<Operand> = match self.sketch.operand_mut(number) {
            None | Some(Operand::Slot(Slot::INPUT) | Operand::Primitive(_)) => return false,
            Some(Operand::Slot(_)) => vec![input],
            Some(Operand::Constant(constant)) => smaller(constant.value()),
            Some(Operand::Literal(value)) => smaller(value),
        };
        smaller.into_iter().any(|operand| {
            let mut sketch = self.sketch.clone();
            if let Some(old) = sketch.operand_mut(number) {
                *old = operand;
            }
            self.try_sketch(sketch)
        })
    }

    fn shrink_input(&mut self) -> bool {
        let mut any = false;
        loop {
            let input = self.input.clone();
            if !smaller_grids(&input).any(|grid| self.try_input(grid)) {
                return any;
            }
            any = true;
        }
    }
}

/// Whether the value can be a literal: a function belongs to the evaluation that created it.
fn is_literal(value: &Value) -> bool {
    match value {
        Value::Function(_) | Value::Foreign(_) => false,
        _ => value.values().iter().all(is_literal),
    }
}

fn smaller(value: &Value) -> Vec<Operand> {
    let values = smaller_values(value).take(MOST_SMALLER);
    values.map(Operand::Literal).collect()
}

/// Integers nearer to 0, of another sign only if positive.
fn smaller_integers(n: i32) -> impl Iterator<Item = i32> {
    let all = [0, 1, 2, n / 2, n - n.signum(), -n];
    all.into_iter().filter(move |&m| {
        m.unsigned_abs() < n.unsigned_abs()
            || (m > 0 && m.unsigned_abs() == n.unsigned_abs() && n < 0)
    })
}

fn smaller_locs(loc: Loc) -> impl Iterator<Item = Loc> {
    let i = smaller_integers(loc.i).map(move |i| Loc::new(i, loc.j));
    i.chain(smaller_integers(loc.j).map(move |j| Loc::new(loc.i, j)))
}

/// Values, computed lazily: a container or a grid has as many smaller versions as elements, each as large.
type Smaller<'v, T> = Box<dyn Iterator<Item = T> + 'v>;

/// Values of the same kind that are smaller, the smallest first.
fn smaller_values(value: &Value) -> Smaller<'_, Value> {
    match value {
        Value::Bool(true) => Box::new(iter::once(Value::Bool(false))),
        Value::Int(n) => Box::new(smaller_integers(*n).map(Value::Int)),
        Value::Loc(loc) => Box::new(smaller_locs(*loc).map(Value::Loc)),
        Value::Cell(cell) => {
            let colours = smaller_integers(cell.colour).map(|colour| Cell::new(colour, cell.loc));
            let locs = smaller_locs(cell.loc).map(|loc| Cell::new(cell.colour, loc));
            Box::new(colours.chain(locs).map(Value::Cell))
        }
        Value::Grid(grid) => Box::new(smaller_grids(grid).map(Value::from)),
        _ => smaller_containers(value),
    }
}

fn smaller_containers(value: &Value) -> Smaller<'_, Value> {
    let Some(container) = value.as_container() else {
        return Box::new(iter::empty());
    };
    let elements: Arc<[Value]> = container.iter().map(Cow::into_owned).collect();
    let make = move |elements: Vec<Value>| match container.kind {
        ContainerKind::Tuple => Value::tuple(elements),
        ContainerKind::Set => Value::set(elements),
    };
    let count = elements.len();
    if count == 0 {
        return Box::new(iter::empty());
    }
    let of = Arc::clone(&elements);
    let halves = [0..0, 0..count / 2, count / 2..count].into_iter();
    let halves = halves.map(move |half| of[half].to_vec());
    let of = Arc::clone(&elements);
    let fewer = (0..count.min(MOST_SMALLER / 2)).map(move |without| {
        let mut fewer = of.to_vec();
        fewer.remove(without);
        fewer
    });
    let others = (0..count).flat_map(move |at| {
        let of = Arc::clone(&elements);
        let smaller: Vec<Value> = smaller_values(&of[at]).take(4).collect();
        smaller.into_iter().map(move |smaller| {
            let mut other = of.to_vec();
            other[at] = smaller;
            other
        })
    });
    let all = halves.chain(fewer).chain(others).map(make);
    // A set of two becomes a set of one if its elements become equal; it never becomes the same set.
    Box::new(all.filter(move |other| other != value))
}

/// Grids with fewer rows or columns, or more cells of colour 0, the smallest first.
fn smaller_grids(grid: &Grid) -> Smaller<'_, Grid> {
    let (height, width) = (grid.height(), grid.width());
    let kept = move |rows: &dyn Fn(usize) -> bool, columns: &dyn Fn(usize) -> bool| {
        let cells = grid.enumerate();
        let cells = cells.filter(|(loc, _)| rows(loc.i as usize) && columns(loc.j as usize));
        let height = (0..height).filter(|row| rows(*row)).count();
        let width = (0..width).filter(|column| columns(*column)).count();
        Grid::from_cells(height, width, cells.map(|(_, colour)| colour).collect())
    };
    let halves = |length: usize| {
        let halves = [0..length / 2, length / 2..length];
        halves.into_iter().filter(move |_| length > 1)
    };
    let half_rows = halves(height).map(move |rows| kept(&|i| rows.contains(&i), &|_| true));
    let half_columns = halves(width).map(move |columns| kept(&|_| true, &|j| columns.contains(&j)));
    let rows = (0..height).map(move |row| kept(&|i| i != row, &|_| true));
    let columns = (0..width).map(move |column| kept(&|_| true, &|j| j != column));
    let without = move |is_cleared: &dyn Fn(usize, i8) -> bool| {
        let cells = grid.cells().iter().enumerate();
        let cells = cells.map(|(at, &colour)| if is_cleared(at, colour) { 0 } else { colour });
        Grid::from_cells(height, width, cells.collect())
    };
    let mut colours = grid.cells().to_vec();
    colours.sort_unstable();
    colours.dedup();
    colours.retain(|&colour| colour != 0);
    let colours = colours.into_iter();
    let colours = colours.map(move |colour| without(&|_, old| old == colour));
    let cells = grid.cells().iter().enumerate();
    let cells = cells.filter(|(_, colour)| **colour != 0);
    let cells = cells.map(move |(at, _)| without(&|other, _| other == at));
    let parts = half_rows.chain(half_columns).chain(rows).chain(columns);
    Box::new(parts.chain(colours).chain(cells))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::generate::Generator;
    use arc_dsl::{Callee, Primitive, Type};
    use arc_text::parse_programs;

    fn calls(program: &Program, primitive: Primitive) -> bool {
        let mut steps = program.steps().iter();
        steps.any(|step| step.callee == Callee::Primitive(primitive))
    }

    #[test]
    fn of_a_random_program_the_faulty_call_is_left() {
        let mut generator = Generator::new(12);
        let mut found = 0;
        while found < 20 {
            let program = generator.program(20).unwrap();
            let Value::Grid(input) = generator.value(Type::Grid) else {
                panic!("a value of another type than asked for");
            };
            let faulty = |program: &Program, input: &Grid| {
                calls(program, Primitive::Vmirror) && input.cells().contains(&7)
            };
            if !faulty(&program, &input) {
                continue;
            }
            found += 1;
            let (small, input) = shrink(&program, &input, faulty);
            assert_eq!(input.to_string(), "((7,),)");
            let callees: Vec<_> = small.steps().iter().map(|step| step.callee).collect();
            assert_eq!(callees, [Callee::Primitive(Primitive::Vmirror)], "{small}");
            assert_eq!(*small.output(), Operand::Slot(Slot::INPUT), "{small}");
        }
    }

    #[test]
    fn what_depends_on_results_keeps_the_steps_that_make_them() {
        // The artificial fault is in `fill` on a patch of more than one location.
        let text = "def f(I):\n x1 = hmirror(I)\n x2 = ofcolor(x1, TWO)\n x3 = shift(x2, (2, 3))\n x4 = fill(x1, THREE, x3)\n x5 = trim(x4)\n x6 = rot90(x5)\n return x6";
        let program = parse_programs(text).remove(0).unwrap();
        let input = Grid::from_rows(&[[2, 0, 5, 2], [1, 2, 2, 4], [1, 1, 1, 1], [2, 3, 4, 5]]);
        let (small, input) = shrink(&program, &input.unwrap(), |program, input| {
            program.steps().iter().enumerate().any(|(at, step)| {
                if step.callee != Callee::Primitive(Primitive::Fill) {
                    return false;
                }
                let mut part = Sketch::new(program).prefix(at);
                part.output = step.arguments[2].clone();
                let patch = Interpreter::default().run(&part.build().unwrap(), input.clone());
                patch.is_ok_and(|patch| matches!(patch, Value::Indices(p) if p.len() > 1))
            })
        });
        // A literal patch is shorter than the steps that compute one.
        assert_eq!(
            (small.steps().len(), input.cells().len()),
            (1, 0),
            "{small}"
        );
        match &small.steps()[0].arguments[2] {
            Operand::Literal(Value::Indices(patch)) => {
                assert_eq!(patch.len(), 2, "{small}");
                let near = patch.as_slice().iter().all(|loc| loc.i.max(loc.j) <= 1);
                assert!(near, "{small}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn smaller_values_get_smaller_until_there_are_none() {
        let mut generator = Generator::new(5);
        for _ in 0..100 {
            let mut value = generator.value(Type::Container);
            for _ in 0..2_000 {
                let last = smaller_values(&value).last();
                match last {
                    Some(smaller) => value = smaller,
                    None => break,
                }
            }
            assert!(smaller_values(&value).next().is_none(), "{value}");
        }
    }

    #[test]
    fn a_large_value_is_not_copied_for_each_of_its_elements() {
        let locs = (0..100_000).map(|at| Value::Loc(Loc::new(at, -at)));
        let set = Value::set(locs);
        let grid = Value::from(Grid::filled(1000, 1000, 3));
        for value in [set, grid] {
            assert_eq!(smaller(&value).len(), MOST_SMALLER);
        }
    }

    #[test]
    fn nothing_is_shrunk_past_what_fails() {
        let program = parse_programs("def f(I): return vmirror(I)")
            .remove(0)
            .unwrap();
        let input = Grid::from_rows(&[[1, 2], [3, 4]]).unwrap();
        let (small, grid) = shrink(&program, &input, |_, _| false);
        assert_eq!((small, grid), (program, input));
    }
}
