//! [`Normalisation`]: colours that play the same part in every pair get the same name.
//!
//! If pairs differ in their colours, a program that names colours fits only one of them. So the colours of each input
//! are renamed by what the input shows: the free colours are ordered by their number of cells, most first. A colour
//! keeps its name if it plays the same part in all train pairs: if all outputs have it and no input; if all inputs
//! have it and no output; if only outputs have it; or if all outputs have the same colours and it is one of them. 0,
//! which operations take for the background, keeps its name if an input has it.
//!
//! If the most common colour of an input is not 0, the two can be [swapped](Normalisation::on_ground) first.
//!
//! The renaming is undone in the output of a program, by the same input; both are [written as
//! steps](Normalisation::around) of the program.

use std::cmp::Reverse;
use std::sync::LazyLock;

use arc_dsl::{BuildError, Grid, Operand, Program, ProgramBuilder, Value};
use arc_tasks::{Pair, Task};
use arc_text::parse_functions;

/// The steps of renaming: the free colours, in ascending order, become pairs of new and old names. Among equally
/// common colours the smallest is the ground.
const STEPS: &str = "
def ground(g):
    return first(order((0, 1, 2, 3, 4, 5, 6, 7, 8, 9), compose(invert, lbind(colorcount, g))))

def swapped(g, c):
    return switch(g, 0, c)

def ordered(g, free):
    return pair(free, order(free, compose(invert, lbind(colorcount, g))))

def renamed(g, names):
    cells = compose(lbind(ofcolor, g), last)
    return paint(g, mapply(fork(recolor, first, cells), names))

def restored(g, names):
    cells = compose(lbind(ofcolor, g), first)
    return paint(g, mapply(fork(recolor, last, cells), names))
";

/// The functions of [`STEPS`].
static FUNCTIONS: LazyLock<Vec<Program>> =
    LazyLock::new(|| parse_functions(STEPS).into_iter().flatten().collect());

/// How many colours there are.
pub(crate) const COLOURS: usize = 10;

/// New names of colours, indexed by the old ones.
pub(crate) type Names = [u8; COLOURS];

const IDENTITY: Names = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/// The colours that are renamed; see the [module](self).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Normalisation {
    /// In ascending order.
    free: Vec<u8>,
    /// Whether 0 and the most common colour are swapped first.
    swaps: bool,
}

/// How many cells have each colour.
fn counts(grid: &Grid) -> [usize; 16] {
    let mut counts = [0; 16];
    for colour in grid.cells() {
        counts[(*colour & 15) as usize] += 1;
    }
    counts
}

/// The names that swap 0 and the most common colour of a grid.
fn swap(grid: &Grid) -> Names {
    let mut names = IDENTITY;
    let counts = counts(grid);
    let ground = (0..COLOURS).rev().max_by_key(|colour| counts[*colour]);
    names.swap(0, ground.unwrap_or(0));
    names
}

/// A bit for each colour that a grid has.
fn colours(grid: &Grid) -> u16 {
    grid.cells()
        .iter()
        .fold(0, |all, colour| all | 1 << (*colour & 15))
}

impl Normalisation {
    /// The normalisation of a task.
    pub fn of(task: &Task) -> Self {
        let (mut in_any, mut in_all, mut out_any, mut out_all) = (0, !0, 0, !0);
        for Pair { input, output } in &task.train {
            let input = colours(input);
            (in_any, in_all) = (in_any | input, in_all & input);
            let output = output.as_ref().map_or(0, colours);
            (out_any, out_all) = (out_any | output, out_all & output);
        }
        let mut kept = (out_all & !in_any) | (in_all & !out_any) | (out_any & !in_any);
        if out_any == out_all {
            kept |= out_all;
        }
        let inputs = task.train.iter().chain(&task.test).map(|pair| &pair.input);
        if inputs.clone().any(|input| colours(input) & 1 != 0) {
            kept |= 1;
        }
        let free: Vec<u8> = (0..COLOURS as u8)
            .filter(|colour| kept >> colour & 1 == 0)
            .collect();
        let normalisation = Self { free, swaps: false };
        if inputs
            .clone()
            .all(|input| normalisation.names(input) == IDENTITY)
        {
            return Self::default();
        }
        normalisation
    }

    /// The normalisation of a task that swaps 0 and the most common colour of each input: the identity if 0 is the
    /// most common one of all inputs.
    pub fn on_ground(task: &Task) -> Self {
        let swaps = Self {
            free: Vec::new(),
            swaps: true,
        };
        let mut inputs = task.train.iter().chain(&task.test).map(|pair| &pair.input);
        if inputs.all(|input| swap(input) == IDENTITY) {
            return Self::default();
        }
        let free = Self::of(&swaps.task(task)).free;
        Self { free, swaps: true }
    }

    /// Whether no colour is renamed.
    pub fn is_identity(&self) -> bool {
        self.free.is_empty() && !self.swaps
    }

    /// Whether 0 and the most common colour are swapped.
    pub(crate) fn is_on_ground(&self) -> bool {
        self.swaps
    }

    /// A task with the colours of each pair renamed by its input, without test outputs.
    pub(crate) fn task(&self, task: &Task) -> Task {
        let rename_pair = |pair: &Pair| {
            let names = self.names(&pair.input);
            let output = pair.output.as_ref().map(|output| rename(output, &names));
            Pair::new(rename(&pair.input, &names), output)
        };
        let tests = task.test.iter();
        Task {
            id: task.id.clone(),
            train: task.train.iter().map(rename_pair).collect(),
            test: tests
                .map(|pair| Pair::new(rename_pair(pair).input, None))
                .collect(),
            ..Task::default()
        }
    }

    /// The new names of colours for an input.
    pub(crate) fn names(&self, input: &Grid) -> Names {
        let first = if self.swaps { swap(input) } else { IDENTITY };
        let counts = counts(input);
        let mut ordered = self.free.clone();
        // A swap is its own inverse.
        ordered.sort_by_key(|colour| Reverse(counts[usize::from(first[usize::from(*colour)])]));
        let mut names = IDENTITY;
        for (from, to) in ordered.iter().zip(&self.free) {
            names[usize::from(*from)] = *to;
        }
        first.map(|name| names[usize::from(name)])
    }

    /// The program that runs another one on the renamed input and renames its result back.
    ///
    /// ```
    /// use arc_dsl::{Grid, Interpreter};
    /// use arc_tasks::{Pair, Task};
    /// use arc_text::parse_programs;
    /// use arc_search::colours::Normalisation;
    /// let grid = |rows: &[[i32; 3]]| Grid::from_rows(rows);
    /// let pair = |from, to| Ok::<_, arc_dsl::GridError>(Pair::new(grid(from)?, grid(to)?));
    /// let train = vec![pair(&[[0, 3, 3]], &[[3, 3, 0]])?, pair(&[[0, 4, 4]], &[[4, 4, 0]])?];
    /// let task = Task { id: "example".to_owned(), train, test: Vec::new(), ..Task::default() };
    /// let program = parse_programs("def solve(I): return fill(I, 1, ofcolor(I, 2))").remove(0)?;
    /// // The most common of the free colours is named 1.
    /// let program = Normalisation::of(&task).around(&program)?;
    /// let output = Interpreter::default().run(&program, grid(&[[5, 5, 0]])?)?;
    /// assert_eq!(output.to_string(), "((5, 5, 0),)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn around(&self, program: &Program) -> Result<Program, BuildError> {
        if self.is_identity() {
            return Ok(program.clone());
        }
        let [ground, swapped, ordered, renamed, restored] = FUNCTIONS.as_slice() else {
            return Err(BuildError::UnknownSlot);
        };
        let mut builder = ProgramBuilder::new(program.name());
        let mut input = builder.input();
        let colour = if self.swaps {
            let colour = builder.inline(ground, &[input.clone()])?;
            input = builder.inline(swapped, &[input, colour.clone()])?;
            Some(colour)
        } else {
            None
        };
        let pairs = if self.free.is_empty() {
            None
        } else {
            let free = self.free.iter().map(|colour| Value::Int((*colour).into()));
            let free = Operand::from(Value::tuple(free.collect()));
            let pairs = builder.inline(ordered, &[input.clone(), free])?;
            input = builder.inline(renamed, &[input, pairs.clone()])?;
            Some(pairs)
        };
        let mut output = builder.inline(program, &[input])?;
        if let Some(pairs) = pairs {
            output = builder.inline(restored, &[output, pairs])?;
        }
        if let Some(colour) = colour {
            output = builder.inline(swapped, &[output, colour])?;
        }
        builder.finish(output)
    }
}

/// A grid with its colours renamed.
pub(crate) fn rename(grid: &Grid, names: &Names) -> Grid {
    let mut renamed = grid.clone();
    for colour in renamed.cells_mut() {
        // Values that are no colours stay.
        if let Some(name) = usize::try_from(*colour)
            .ok()
            .and_then(|colour| names.get(colour))
        {
            *colour = *name as i8;
        }
    }
    renamed
}

/// The names that undo a renaming.
pub(crate) fn inverse(names: &Names) -> Names {
    let mut back = *names;
    for (from, to) in names.iter().enumerate() {
        back[usize::from(*to)] = from as u8;
    }
    back
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{given, grid, grids, program, task};

    #[test]
    fn the_steps_are_functions() {
        for function in parse_functions(STEPS) {
            assert!(function.is_ok(), "{}", function.unwrap_err());
        }
        assert_eq!(FUNCTIONS.len(), 5);
    }

    #[test]
    fn what_plays_the_same_part_in_all_pairs_is_kept() {
        // 8 is in all outputs and no input, 7 in all inputs and no output, 6 in an output alone; 0 is in an
        // input. 1 to 3 change from pair to pair.
        let task = task(
            &[
                (grid(&[[0, 1, 7]]), grid(&[[1, 8, 6]])),
                (grid(&[[2, 3, 7]]), grid(&[[3, 8, 2]])),
            ],
            &[grid(&[[3, 1, 7]])],
        );
        assert_eq!(Normalisation::of(&task).free, [1, 2, 3, 4, 5, 9]);
    }

    #[test]
    fn colours_that_are_those_of_every_output_are_kept() {
        let task = task(
            &[
                (grid(&[[1, 2, 3, 3]]), grid(&[[1, 2]])),
                (grid(&[[2, 1, 4, 4]]), grid(&[[2, 1]])),
            ],
            &[],
        );
        // Both inputs have 1 and 2, which would be ordered by their number of cells.
        assert_eq!(Normalisation::of(&task).free, [0, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn black_is_free_where_no_input_has_it() {
        let pairs = [
            (grid(&[[5, 5, 4]]), grid(&[[4]])),
            (grid(&[[3, 3, 6]]), grid(&[[6]])),
        ];
        let free = |test| Normalisation::of(&task(&pairs, &[test])).free;
        assert!(free(grid(&[[5, 5, 4]])).contains(&0));
        assert!(!free(grid(&[[5, 0, 4]])).contains(&0));
    }

    #[test]
    fn nothing_is_renamed_where_names_stay() {
        let pairs = [
            (grid(&[[1, 1, 2]]), grid(&[[1]])),
            (grid(&[[1, 1, 2]]), grid(&[[2]])),
        ];
        let of = |test| Normalisation::of(&task(&pairs, &[grid(&[test])]));
        // 0 is in an input, 1 is the most common of the others in all, 2 the next.
        assert!(of([1, 1, 2, 0]).is_identity());
        assert!(!of([2, 2, 1, 0]).is_identity());
    }

    #[test]
    fn free_colours_go_by_how_many_cells_they_have() {
        let normalisation = Normalisation {
            free: vec![1, 3, 5, 7],
            swaps: false,
        };
        let names = normalisation.names(&grid(&[[7, 7, 5], [2, 2, 2], [3, 7, 2]]));
        // 7 three times; 3 and 5 once each, in their order; 1 never. The others stay.
        assert_eq!(names, [0, 7, 2, 3, 4, 5, 6, 1, 8, 9]);
        let renamed = rename(&grid(&[[7, 3, 5], [1, 2, -1]]), &names);
        assert_eq!(renamed, grid(&[[1, 3, 5], [7, 2, -1]]));
    }

    #[test]
    fn the_ground_is_named_black() {
        let task = task(
            &[(grid(&[[8, 8, 0]]), grid(&[[8, 3, 0]]))],
            &[grid(&[[4, 4, 8]])],
        );
        let normalisation = Normalisation::on_ground(&task);
        let names: Vec<_> = [&task.train[0].input, &task.test[0].input]
            .map(|input| rename(input, &normalisation.names(input)).to_string())
            .into();
        assert_eq!(names, ["((0, 0, 8),)", "((0, 0, 8),)"]);
        let task = crate::testing::task(&[(grid(&[[0, 0, 8]]), grid(&[[0]]))], &[]);
        assert!(Normalisation::on_ground(&task).is_identity());
    }

    proptest! {
        /// The steps of a program do the same as the renaming functions, around any program, including one that names
        /// colours.
        #[test]
        fn the_steps_rename_and_rename_back(
            input in grids(4, 3, 0..10),
            free in prop::sample::subsequence((0..10_u8).collect::<Vec<_>>(), 0..=10),
            swaps: bool,
            which in 0..4_usize,
        ) {
            let program = program(
                ["I", "vmirror(I)", "replace(I, 1, 2)", "fill(I, mostcolor(I), ofcolor(I, 3))"][which],
            );
            let normalisation = Normalisation { free, swaps };
            let names = normalisation.names(&input);
            let there = rename(&input, &names);
            prop_assert_eq!(&rename(&there, &inverse(&names)), &input);
            let expected = rename(&given(&program, &there), &inverse(&names));
            let around = normalisation.around(&program).unwrap();
            prop_assert_eq!(given(&around, &input), expected, "{}", around);
        }
    }
}
