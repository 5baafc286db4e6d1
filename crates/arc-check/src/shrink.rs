//! [`shrink`]: a program and an input made smaller while something still holds of them.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use arc_dsl::generate::Sketch;
use arc_dsl::{Cell, ContainerKind, Grid, Interpreter, Loc, Operand, Program, Slot, Value};

/// How often `fails` is asked at most, and for how long: what is slow is shown before it is as small as it could
/// be.
const MOST_TRIALS: u32 = 10_000;
const MOST_TIME: Duration = Duration::from_secs(20);

/// How many ways of making one value smaller are tried.
const MOST_SMALLER: usize = 64;

/// The smallest program and input found for which `fails` still holds, as it must for those given.
///
/// Steps are taken out from the end and wherever something simpler can stand for what they give:
/// their own arguments, the input, or the value that they have in the reference. Then literals are
/// made smaller, rows and columns of the input are taken away, and its colours become 0. Lines are
/// counted anew.
///
/// ```
/// use arc_check::shrink;
/// use arc_dsl::{Grid, parse_programs};
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
        smaller |= shrinker.take_steps_out();
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
    /// Takes this program for the smallest, if it still fails.
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

    /// Takes off the end what is not needed.
    fn cut(&mut self) -> bool {
        (0..self.sketch.steps.len()).any(|steps| self.try_sketch(self.sketch.prefix(steps)))
    }

    /// Takes out each step that something else can stand for, the last first.
    fn take_steps_out(&mut self) -> bool {
        let mut any = false;
        for step in (0..self.sketch.steps.len()).rev() {
            any |= self
                .instead_of(step)
                .iter()
                .filter_map(|instead| self.sketch.without(step, instead))
                .collect::<Vec<_>>()
                .into_iter()
                .any(|sketch| self.try_sketch(sketch));
        }
        any
    }

    /// What can stand for what a step gives, the simplest first.
    fn instead_of(&self, step: usize) -> Vec<Operand> {
        let mut instead = vec![Operand::Slot(Slot::INPUT)];
        instead.extend(self.sketch.steps[step].1.iter().cloned());
        let part = self.sketch.prefix(step + 1).build();
        let value = part.map(|part| Interpreter::default().run(&part, self.input.clone()));
        if let Ok(Ok(value)) = value
            && is_literal(&value)
        {
            instead.push(value.into());
        }
        instead.dedup();
        instead
    }

    /// Puts the input, or something smaller, in the place of each operand.
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
        while smaller_grids(&self.input)
            .into_iter()
            .any(|grid| self.try_input(grid))
        {
            any = true;
        }
        any
    }
}

/// Whether the value can be written out: a function belongs to the evaluation that made it.
fn is_literal(value: &Value) -> bool {
    match value {
        Value::Function(_) | Value::Foreign(_) => false,
        Value::Tuple(elements) | Value::Set(elements) => elements.as_slice().iter().all(is_literal),
        _ => true,
    }
}

fn smaller(value: &Value) -> Vec<Operand> {
    let mut values = smaller_values(value);
    values.truncate(MOST_SMALLER);
    values.into_iter().map(Operand::Literal).collect()
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

/// Values of the same kind that are smaller, the smallest first.
fn smaller_values(value: &Value) -> Vec<Value> {
    match value {
        Value::Bool(true) => vec![Value::Bool(false)],
        Value::Int(n) => smaller_integers(*n).map(Value::Int).collect(),
        Value::Loc(loc) => smaller_locs(*loc).map(Value::Loc).collect(),
        Value::Cell(cell) => {
            let colours = smaller_integers(cell.colour).map(|colour| Cell::new(colour, cell.loc));
            let locs = smaller_locs(cell.loc).map(|loc| Cell::new(cell.colour, loc));
            colours.chain(locs).map(Value::Cell).collect()
        }
        Value::Grid(grid) => smaller_grids(grid).into_iter().map(Value::from).collect(),
        _ => smaller_containers(value),
    }
}

fn smaller_containers(value: &Value) -> Vec<Value> {
    let Some(container) = value.as_container() else {
        return Vec::new();
    };
    let elements: Vec<Value> = container.iter().map(Cow::into_owned).collect();
    let make = |elements: Vec<Value>| match container.kind {
        ContainerKind::Tuple => Value::tuple(elements),
        ContainerKind::Set => Value::set(elements),
    };
    let count = elements.len();
    if count == 0 {
        return Vec::new();
    }
    let (front, back) = elements.split_at(count / 2);
    let mut all = vec![make(Vec::new()), make(front.to_vec()), make(back.to_vec())];
    for at in (0..count).take(MOST_SMALLER / 2) {
        let mut fewer = elements.clone();
        fewer.remove(at);
        all.push(make(fewer));
    }
    for (at, element) in elements.iter().enumerate() {
        for smaller in smaller_values(element).into_iter().take(4) {
            let mut other = elements.clone();
            other[at] = smaller;
            all.push(make(other));
        }
    }
    // A set of two becomes one of one where its elements become equal: never the same again.
    all.retain(|other| other != value);
    all
}

/// Grids with fewer rows or columns, or more cells of colour 0, the smallest first.
fn smaller_grids(grid: &Grid) -> Vec<Grid> {
    let (height, width) = (grid.height(), grid.width());
    let keep = |rows: &dyn Fn(usize) -> bool, columns: &dyn Fn(usize) -> bool| {
        let kept =
            |count: usize, keep: &dyn Fn(usize) -> bool| (0..count).filter(|&at| keep(at)).count();
        let cells = grid.enumerate();
        let cells = cells.filter(|(loc, _)| rows(loc.i as usize) && columns(loc.j as usize));
        let (height, width) = (kept(height, rows), kept(width, columns));
        Grid::from_cells(height, width, cells.map(|(_, colour)| colour).collect())
    };
    let all = |_| true;
    let mut grids = Vec::new();
    if height > 1 {
        grids.push(keep(&|i| i < height / 2, &all));
        grids.push(keep(&|i| i >= height / 2, &all));
    }
    if width > 1 {
        grids.push(keep(&all, &|j| j < width / 2));
        grids.push(keep(&all, &|j| j >= width / 2));
    }
    grids.extend((0..height).map(|row| keep(&|i| i != row, &all)));
    grids.extend((0..width).map(|column| keep(&all, &|j| j != column)));
    let with = |change: &dyn Fn(usize, i8) -> i8| {
        let cells = grid.cells().iter().enumerate();
        let cells = cells.map(|(at, &colour)| change(at, colour)).collect();
        Grid::from_cells(height, width, cells)
    };
    let mut colours = grid.cells().to_vec();
    colours.sort_unstable();
    colours.dedup();
    colours.retain(|&colour| colour != 0);
    for &colour in &colours {
        grids.push(with(&|_, old| if old == colour { 0 } else { old }));
    }
    for (at, &colour) in grid.cells().iter().enumerate() {
        if colour != 0 {
            grids.push(with(&|other, old| if other == at { 0 } else { old }));
        }
    }
    grids
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::generate::Generator;
    use arc_dsl::{Callee, Primitive, Type, parse_programs};

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
        // A patch written out is shorter than the steps that make one.
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
                match smaller_values(&value).pop() {
                    Some(smaller) => value = smaller,
                    None => break,
                }
            }
            assert!(smaller_values(&value).is_empty(), "{value}");
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
