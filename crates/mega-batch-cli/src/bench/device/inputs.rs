//! [`Inputs`]: the grids that everything is measured on, and [`Load`]: a number of them in the form that the device
//! takes.

use std::sync::Arc;

use arc_dsl::builtin::{self, BuiltIn};
use arc_dsl::{Grid, Interpreter, MAX_SIDE, Program};
use gpu_kernels::{Evaluation, Place, Pool};
use mega_batch::devices::Host;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::work::ProgramInputs;

/// The inputs are the same in every run.
const SEED: u64 = 1;

/// Bytes of host memory that an evaluation needs at most: arguments, an expected grid and a fetched result of half a
/// kilobyte each, the first two in vectors that double as they grow; its verdict and its description.
const HOST_BYTES: u64 = 4_000;

/// One input of one program.
#[derive(Debug, Clone)]
pub(super) struct Input {
    /// The index of the program in the work.
    pub(super) program: u32,
    pub(super) grid: Arc<Grid>,
    /// The expected output, if it is known.
    pub(super) expected: Option<Grid>,
}

/// Distinct inputs.
#[derive(Debug)]
pub(super) struct Inputs(Vec<Input>);

impl Inputs {
    /// Inputs of the built-in tasks, of all sizes from 1 x 1 on, taken from the tasks in turn; for one program.
    pub(super) fn grids(count: usize) -> Self {
        let tasks = builtin::all();
        let input = |at: usize| Input {
            program: 0,
            grid: Arc::new(tasks[at % tasks.len()].input(SEED, at / tasks.len(), MAX_SIDE)),
            expected: None,
        };
        Self((0..count).into_par_iter().map(input).collect())
    }

    /// Pairs of the tasks of these programs, taken in turn.
    pub(super) fn pairs(programs: &[&BuiltIn], count: usize) -> Self {
        let input = |at: usize| {
            let program = at % programs.len();
            let pair = programs[program].pair(SEED, at / programs.len(), MAX_SIDE);
            Input {
                program: program as u32,
                grid: pair.input,
                expected: pair.output,
            }
        };
        let count = if programs.is_empty() { 0 } else { count };
        Self((0..count).into_par_iter().map(input).collect())
    }

    /// Inputs of programs, taken in turn, with the reference's results; at most `most` of them.
    pub(super) fn of(programs: &[Program], inputs: &ProgramInputs, most: usize) -> Self {
        let rounds = inputs.iter().map(Vec::len).max().unwrap_or_default();
        let turns = (0..rounds).flat_map(|round| {
            let all = inputs.iter().enumerate();
            all.filter_map(move |(program, inputs)| Some((program, inputs.get(round)?)))
        });
        let turns: Vec<_> = turns.take(most).collect();
        let input = |&(program, grid): &(usize, &Arc<Grid>)| {
            let found = Interpreter::default().run(&programs[program], Arc::clone(grid));
            Input {
                program: program as u32,
                grid: Arc::clone(grid),
                expected: found
                    .ok()
                    .and_then(|value| value.as_grid().map(|grid| (*grid).clone())),
            }
        };
        Self(turns.par_iter().map(input).collect())
    }

    /// The first `count` grids.
    pub(super) fn first(&self, count: usize) -> impl Iterator<Item = &Grid> {
        self.0.iter().take(count).map(|input| &*input.grid)
    }
}

/// Evaluations, prepared for device and CPU, in the same order.
#[derive(Debug)]
pub(super) struct Load<'i> {
    /// The inputs, grouped by program.
    pub(super) inputs: Vec<&'i Input>,
    /// The same for the device, each in memory of its own.
    pub(super) pool: Pool,
    pub(super) evaluations: Vec<Evaluation>,
}

impl<'i> Load<'i> {
    /// `count` evaluations; the inputs are repeated as needed.
    pub(super) fn new(inputs: &'i Inputs, count: usize) -> Self {
        let mut chosen: Vec<&Input> = inputs.0.iter().cycle().take(count).collect();
        chosen.sort_by_key(|input| input.program);
        let mut pool = Pool::default();
        let mut evaluations = Vec::with_capacity(count);
        let mut held = Vec::with_capacity(count);
        for input in chosen {
            // Built-in tasks have grids of at most 30 x 30, which fit the device's format.
            let Ok(arguments) = pool.push_grid(&input.grid) else {
                continue;
            };
            let expected: Option<Place> = input
                .expected
                .as_ref()
                .and_then(|grid| pool.push_grid(grid).ok());
            held.push(input);
            evaluations.push(Evaluation {
                program: input.program,
                arguments,
                expected,
                fetch: false,
                hash: false,
            });
        }
        Self {
            inputs: held,
            pool,
            evaluations,
        }
    }

    /// Number of evaluations.
    pub(super) fn len(&self) -> usize {
        self.evaluations.len()
    }

    /// The evaluations with their results fetched.
    pub(super) fn fetching(&self) -> Vec<Evaluation> {
        let fetch = |evaluation: &Evaluation| Evaluation {
            fetch: true,
            ..*evaluation
        };
        self.evaluations.iter().map(fetch).collect()
    }
}

/// Why this many evaluations do not fit into this machine's memory; `None` if they do, or if the system does not
/// tell.
pub(super) fn too_many_for_host(count: usize) -> Option<String> {
    let available = Host::this().memory?.free;
    let needed = count as u64 * HOST_BYTES;
    (needed > available)
        .then(|| format!("out of memory on the host: {needed} bytes needed, {available} available"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::device::work::Work;

    #[test]
    fn a_load_goes_on_with_the_first_input_in_memory_of_its_own() {
        let inputs = Inputs::grids(3);
        let load = Load::new(&inputs, 7);
        assert_eq!(load.len(), 7);
        for (input, evaluation) in load.inputs.iter().zip(&load.evaluations) {
            let held = load.pool.grid(evaluation.arguments).unwrap();
            assert_eq!(held, *input.grid);
        }
        let mut words: Vec<u32> = load.evaluations.iter().map(|e| e.arguments.word).collect();
        words.dedup();
        assert_eq!(words.len(), 7);
        assert!(load.fetching().iter().all(|evaluation| evaluation.fetch));
    }

    #[test]
    fn sizes_are_those_of_the_tasks() {
        let inputs = Inputs::grids(3_000);
        let sides = |side: fn(&Grid) -> usize| {
            let sides = inputs.first(3_000).map(side);
            sides.fold((MAX_SIDE, 0), |(least, most), side| {
                (least.min(side), most.max(side))
            })
        };
        assert_eq!(sides(Grid::height), (1, MAX_SIDE));
        assert_eq!(sides(Grid::width), (1, MAX_SIDE));
    }

    #[test]
    fn evaluations_of_one_program_stand_together() {
        let (_, programs, _) = Work::programs();
        let inputs = Inputs::pairs(&programs, 2 * programs.len());
        let load = Load::new(&inputs, 2 * programs.len());
        let order: Vec<u32> = load.evaluations.iter().map(|e| e.program).collect();
        assert!(order.is_sorted());
        assert_eq!(
            order.last().map(|last| *last as usize + 1),
            Some(programs.len())
        );
        for (input, evaluation) in load.inputs.iter().zip(&load.evaluations) {
            let expected = evaluation.expected.and_then(|place| load.pool.grid(place));
            assert_eq!(expected, input.expected);
        }
        assert_eq!(Load::new(&Inputs::pairs(&[], 5), 5).len(), 0);
    }

    #[test]
    fn programs_take_turns_on_inputs_of_their_own() {
        let program = |at: usize| builtin::all()[at].program().clone();
        let input = |at: usize, number| Arc::new(builtin::all()[at].input(SEED, number, 10));
        let programs = [program(0), program(1)];
        let given = vec![vec![input(0, 0), input(0, 1)], vec![input(1, 0)]];
        let inputs = Inputs::of(&programs, &given, 10);
        let order: Vec<u32> = inputs.0.iter().map(|input| input.program).collect();
        assert_eq!(order, [0, 1, 0]);
        assert!(inputs.0.iter().all(|input| input.expected.is_some()));
        assert_eq!(Inputs::of(&programs, &given, 2).0.len(), 2);
    }

    #[test]
    fn no_evaluation_always_fits() {
        assert!(too_many_for_host(0).is_none());
    }
}
