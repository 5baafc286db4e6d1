//! [`Augmentation`]: a task transformed by a symmetry and a permutation of colours, with its program.

use std::sync::Arc;

use arc_dsl::{BuildError, Constant, Grid, Operand, Primitive, Program, ProgramBuilder, Value};
use arc_tasks::{Pair, Task};

use xxhash_rust::xxh3::xxh3_64;

use super::draws::Draws;

/// One of the eight symmetries of a grid: that of a primitive, or the identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Symmetry(Option<Primitive>);

impl Symmetry {
    /// Unchanged.
    pub const IDENTITY: Self = Self(None);

    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::IDENTITY,
        Self(Some(Primitive::Rot90)),
        Self(Some(Primitive::Rot180)),
        Self(Some(Primitive::Rot270)),
        Self(Some(Primitive::Hmirror)),
        Self(Some(Primitive::Vmirror)),
        Self(Some(Primitive::Dmirror)),
        Self(Some(Primitive::Cmirror)),
    ];

    /// The primitive that applies it; `None` for the identity.
    pub fn primitive(self) -> Option<Primitive> {
        self.0
    }

    /// Its name: that of its primitive, or `identity`.
    pub fn name(self) -> &'static str {
        self.primitive().map_or("identity", Primitive::name)
    }

    /// The symmetry with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The inverse.
    #[must_use]
    pub fn inverse(self) -> Self {
        match self.0 {
            Some(Primitive::Rot90) => Self(Some(Primitive::Rot270)),
            Some(Primitive::Rot270) => Self(Some(Primitive::Rot90)),
            _ => self,
        }
    }

    /// Whether it exchanges rows and columns.
    pub fn turns(self) -> bool {
        use Primitive as P;
        matches!(self.0, Some(P::Rot90 | P::Rot270 | P::Dmirror | P::Cmirror))
    }

    /// The source cell, in a grid of this height and width, of the cell at row `i` and column `j` of the result.
    #[inline]
    pub fn source(self, (height, width): (usize, usize), i: usize, j: usize) -> (usize, usize) {
        use Primitive as P;
        match self.0 {
            Some(P::Rot90) => (height - 1 - j, i),
            Some(P::Rot180) => (height - 1 - i, width - 1 - j),
            Some(P::Rot270) => (j, width - 1 - i),
            Some(P::Hmirror) => (height - 1 - i, j),
            Some(P::Vmirror) => (i, width - 1 - j),
            Some(P::Dmirror) => (j, i),
            Some(P::Cmirror) => (height - 1 - j, width - 1 - i),
            _ => (i, j),
        }
    }

    /// The transformed grid.
    #[must_use]
    pub fn of(self, grid: &Grid) -> Grid {
        let sides = (grid.height(), grid.width());
        let (height, width) = if self.turns() {
            (sides.1, sides.0)
        } else {
            sides
        };
        let mut cells = Vec::with_capacity(height * width);
        for i in 0..height {
            for j in 0..width {
                let (row, column) = self.source(sides, i, j);
                cells.push(grid.cells()[row * sides.1 + column]);
            }
        }
        Grid::from_cells(height, width, cells)
    }
}

/// How many colours there are.
pub const COLOURS: usize = 10;

/// The new colour of each colour.
pub type Recolouring = [i8; COLOURS];

/// The identity.
pub const AS_THEY_ARE: Recolouring = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/// The new colour; other numbers than the ten colours are unchanged.
#[inline]
pub fn recoloured(colours: &Recolouring, colour: i8) -> i8 {
    usize::try_from(colour)
        .ok()
        .and_then(|at| colours.get(at))
        .copied()
        .unwrap_or(colour)
}

/// A transformation of a task, applied to inputs and outputs alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Augmentation {
    /// The symmetry of grids.
    pub symmetry: Symmetry,
    /// The new colours, a permutation of the ten.
    pub colours: Recolouring,
    /// The new order of pairs, as indices: those of `train` first, then those of `test`. The first ones become the
    /// train pairs, as many as before. Empty if the order is unchanged.
    pub order: Vec<usize>,
}

/// What an augmentation may change.
#[derive(Debug, Clone, Copy)]
pub struct Changes<'a> {
    /// Whether grids are turned and mirrored.
    pub symmetries: bool,
    /// Whether colours are permuted, except `fixed`.
    pub colours: bool,
    /// Whether pairs are reordered.
    pub order: bool,
    /// Colours that are unchanged.
    pub fixed: &'a [i8],
}

/// Why a task cannot be augmented.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AugmentError {
    /// The colours are not a permutation.
    #[error("colours: expected each of 0 to 9 exactly once")]
    Colours,
    /// The order is not a permutation of the pairs.
    #[error("order: expected each of 0 to {} exactly once, one for each pair", pairs.saturating_sub(1))]
    Order {
        /// How many pairs there are.
        pairs: usize,
    },
    /// The program cannot be inlined between other steps.
    #[error("program: {0}")]
    Program(BuildError),
}

impl Augmentation {
    /// The identity.
    pub fn none() -> Self {
        Self {
            symmetry: Symmetry::IDENTITY,
            colours: AS_THEY_ARE,
            order: Vec::new(),
        }
    }

    /// A random augmentation with these changes, for a task of this many pairs: determined by seed and number.
    pub fn drawn(seed: u64, number: u64, changes: &Changes<'_>, pairs: usize) -> Self {
        let mut draws = Draws::new(&[seed, number]);
        let mut drawn = Self::none();
        if changes.symmetries {
            drawn.symmetry = Symmetry::ALL[draws.below(Symmetry::ALL.len())];
        }
        if changes.colours {
            drawn.colours = drawn_colours(changes.fixed, |end| draws.below(end));
        }
        if changes.order {
            drawn.order = (0..pairs).collect();
            draws.shuffle(&mut drawn.order);
        }
        drawn
    }

    /// An id for the changed task.
    pub fn id(&self, id: &str) -> String {
        let Self {
            symmetry,
            colours,
            order,
        } = self;
        let all = format!("{id} {} {colours:?} {order:?}", symmetry.name());
        format!("{:016x}", xxh3_64(all.as_bytes()))
    }

    /// The changed grid.
    pub fn grid(&self, grid: &Grid) -> Grid {
        let mut grid = self.symmetry.of(grid);
        if self.colours != AS_THEY_ARE {
            for cell in grid.cells_mut() {
                *cell = recoloured(&self.colours, *cell);
            }
        }
        grid
    }

    /// The changed task, with this id.
    pub fn task(&self, task: &Task, id: &str) -> Result<Task, AugmentError> {
        if !is_permutation(self.colours.iter().map(|colour| *colour as usize), COLOURS) {
            return Err(AugmentError::Colours);
        }
        let pairs: Vec<&Pair> = task.train.iter().chain(&task.test).collect();
        let in_order: Vec<&Pair> = if self.order.is_empty() {
            pairs
        } else if is_permutation(self.order.iter().copied(), pairs.len()) {
            self.order.iter().map(|at| pairs[*at]).collect()
        } else {
            return Err(AugmentError::Order { pairs: pairs.len() });
        };
        let changed = |pair: &Pair| Pair {
            input: Arc::new(self.grid(&pair.input)),
            output: pair.output.as_ref().map(|output| self.grid(output)),
        };
        let mut train: Vec<Pair> = in_order.into_iter().map(changed).collect();
        let test = train.split_off(task.train.len());
        let mut others = task.others.clone();
        for split in &mut others {
            split.pairs = split.pairs.iter().map(changed).collect();
        }
        Ok(Task {
            id: id.to_owned(),
            train,
            test,
            others,
            tests_left_out: Vec::new(),
        })
    }

    /// The program of the changed task, with this name: it reverts the changes, runs the program, and applies the
    /// changes again.
    pub fn program(&self, program: &Program, name: &str) -> Result<Program, AugmentError> {
        let made = || -> Result<Program, BuildError> {
            let mut builder = ProgramBuilder::new(name);
            let input = builder.input();
            let input = recolour(&mut builder, input, &inverse(&self.colours))?;
            let input = apply_symmetry(&mut builder, input, self.symmetry.inverse())?;
            let output = builder.inline(program, &[input])?;
            let output = apply_symmetry(&mut builder, output, self.symmetry)?;
            let output = recolour(&mut builder, output, &self.colours)?;
            builder.finish(output)
        };
        made().map_err(AugmentError::Program)
    }
}

/// A random permutation of colours that keeps the fixed ones; `below(n)` draws a number below `n`.
pub fn drawn_colours(fixed: &[i8], mut below: impl FnMut(usize) -> usize) -> Recolouring {
    let mut colours = AS_THEY_ARE;
    let mut free = [0; COLOURS];
    let mut count = 0;
    for colour in AS_THEY_ARE {
        if !fixed.contains(&colour) {
            free[count] = colour as usize;
            count += 1;
        }
    }
    for at in (1..count).rev() {
        colours.swap(free[at], free[below(at + 1)]);
    }
    colours
}

/// Whether the numbers are a permutation of those below `count`.
fn is_permutation(numbers: impl Iterator<Item = usize>, count: usize) -> bool {
    let mut numbers: Vec<usize> = numbers.collect();
    numbers.sort_unstable();
    numbers.into_iter().eq(0..count)
}

fn inverse(colours: &Recolouring) -> Recolouring {
    let mut inverse = AS_THEY_ARE;
    for (from, to) in (0..).zip(colours) {
        if let Some(place) = inverse.get_mut(*to as usize) {
            *place = from;
        }
    }
    inverse
}

fn apply_symmetry(
    builder: &mut ProgramBuilder,
    grid: Operand,
    symmetry: Symmetry,
) -> Result<Operand, BuildError> {
    match symmetry.primitive() {
        Some(primitive) => builder.call(primitive, [grid]),
        None => Ok(grid),
    }
}

/// Adds calls that each exchange two colours until all colours are permuted.
fn recolour(
    builder: &mut ProgramBuilder,
    mut grid: Operand,
    colours: &Recolouring,
) -> Result<Operand, BuildError> {
    let mut is_done = [false; COLOURS];
    for begin in 0..COLOURS {
        // Along the cycle: `begin` always holds the colour to be placed next.
        let mut next = colours[begin] as usize;
        while next != begin && !is_done[begin] && !is_done[next] {
            is_done[next] = true;
            grid = builder.call(Primitive::Switch, [grid, colour(begin), colour(next)])?;
            next = colours[next] as usize;
        }
        is_done[begin] = true;
    }
    Ok(grid)
}

/// A colour as an operand.
fn colour(colour: usize) -> Operand {
    let value = Value::Int(colour as i32);
    let named = Constant::ALL.iter().find(|named| *named.value() == value);
    named.map_or(Operand::Literal(value), |named| Operand::Constant(*named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::Interpreter;
    use arc_tasks::builtin;

    #[test]
    fn symmetries_are_what_the_primitives_do_and_are_taken_back() {
        let grid = Grid::from_rows(&[[1, 2, 3], [4, 5, 6]]).unwrap();
        for symmetry in Symmetry::ALL {
            let laid = symmetry.of(&grid);
            if let Some(primitive) = symmetry.primitive() {
                let mut builder = ProgramBuilder::new("p");
                let output = builder.call(primitive, [builder.input()]).unwrap();
                let program = builder.finish(output).unwrap();
                let made = Interpreter::default().run(&program, grid.clone()).unwrap();
                assert_eq!(made.as_grid().unwrap().as_ref(), &laid, "{symmetry:?}");
            }
            assert_eq!(symmetry.inverse().of(&laid), grid);
            assert_eq!(Symmetry::from_name(symmetry.name()), Some(symmetry));
        }
    }

    #[test]
    fn the_program_of_an_augmented_task_gives_its_outputs() {
        let changes = Changes {
            symmetries: true,
            colours: true,
            order: true,
            fixed: &[],
        };
        let mut checked = 0;
        for (number, built_in) in builtin::all().iter().enumerate() {
            let task = built_in.task(5, 2, 1, 8);
            let augmentation = Augmentation::drawn(9, number as u64, &changes, 3);
            let augmented = augmentation.task(&task, "other").unwrap();
            let program = augmentation.program(built_in.program(), "solve_other");
            let program = program.unwrap();
            for (_, pair) in augmented.pairs() {
                let Some(expected) = &pair.output else {
                    continue;
                };
                let input = Arc::clone(&pair.input);
                let made = Interpreter::default().run(&program, input).unwrap();
                assert_eq!(made.as_grid().unwrap().as_ref(), expected, "{program}");
                checked += 1;
            }
        }
        assert!(checked > 200, "{checked}");
    }

    #[test]
    fn pairs_change_places_and_fixed_colours_stay() {
        let task = builtin::all()[0].task(5, 3, 1, 8);
        let augmentation = Augmentation {
            order: vec![3, 1, 2, 0],
            ..Augmentation::none()
        };
        let changed = augmentation.task(&task, "a").unwrap();
        assert_eq!(changed.train[0], task.test[0]);
        assert_eq!(changed.test[0], task.train[0]);
        let changes = Changes {
            symmetries: false,
            colours: true,
            order: false,
            fixed: &[0, 5],
        };
        for number in 0..50 {
            let drawn = Augmentation::drawn(1, number, &changes, 4);
            assert_eq!((drawn.colours[0], drawn.colours[5]), (0, 5));
            assert!(drawn.order.is_empty() && drawn.symmetry == Symmetry::IDENTITY);
        }
    }

    #[test]
    fn what_is_no_permutation_is_refused() {
        let task = builtin::all()[0].task(5, 3, 1, 8);
        let mut augmentation = Augmentation::none();
        augmentation.colours[3] = 4;
        assert_eq!(augmentation.task(&task, "a"), Err(AugmentError::Colours));
        augmentation.colours[3] = -1;
        assert_eq!(augmentation.task(&task, "a"), Err(AugmentError::Colours));
        let augmentation = Augmentation {
            order: vec![0, 1, 2, 4],
            ..Augmentation::none()
        };
        let error = augmentation.task(&task, "a").unwrap_err();
        assert_eq!(
            error.to_string(),
            "order: expected each of 0 to 3 exactly once, one for each pair"
        );
    }
}
