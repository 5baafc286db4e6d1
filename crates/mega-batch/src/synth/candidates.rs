//! [`Shared`]: generates candidates: programs, inputs and outputs, and applies the filters.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arc_dsl::generate::{Generator, composition, without_unused};
use arc_dsl::{Grid, Interpreter, Limits, Program};
use arc_search::{Language, Searcher};
use arc_tasks::builtin::{self, BuiltIn};
use arc_tasks::{Pair, Task};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::draws::Draws;
use super::{COLOURS, Dropped, Inputs, Made, Recipe, Settings, Symmetry};
use crate::results::score::digest;

/// How many candidates share a generator: creating one takes as long as some candidates.
const CHUNK: usize = 16;

/// On how many scenes programs are compared; and on how many of a program's own inputs, if most scenes reveal nothing
/// about it.
const PROBES: usize = 24;
const OWN_PROBES: usize = 8;

/// The most rows and columns of these scenes.
const PROBE_SIDE: usize = 12;

pub(super) type CandidateResult = Result<Box<Made>, Dropped>;

/// The data shared by all workers.
pub(super) struct Shared {
    /// With unused steps removed from the programs.
    pub(super) settings: Settings,
    /// The inputs of each task that has any.
    inputs: Vec<Vec<Arc<Grid>>>,
    /// For each program: the index into `inputs` for its task, and the built-in program that it is.
    tasks: Vec<Option<usize>>,
    scenes: Vec<Option<&'static BuiltIn>>,
    probes: Vec<Arc<Grid>>,
}

/// The state of one thread.
pub(super) struct Worker {
    interpreter: Interpreter,
    searcher: Option<Searcher>,
}

/// Where the inputs of a candidate come from.
#[derive(Clone, Copy)]
enum Source<'a> {
    Scenes(&'static BuiltIn),
    Task(&'a [Arc<Grid>]),
}

impl Source<'_> {
    /// An input.
    fn draw(self, draws: &mut Draws, side: usize) -> Arc<Grid> {
        match self {
            Source::Scenes(scenes) => {
                let number = draws.below(u32::MAX as usize);
                Arc::new(scenes.input(draws.next(), number, side))
            }
            Source::Task(inputs) => {
                let input = &inputs[draws.below(inputs.len())];
                if draws.below(2) == 0 {
                    return Arc::clone(input);
                }
                Arc::new(Symmetry::ALL[draws.below(Symmetry::ALL.len())].of(input))
            }
        }
    }

    /// Fixed inputs for comparing programs.
    fn probes(self) -> Vec<Arc<Grid>> {
        match self {
            Source::Scenes(scenes) => (0..OWN_PROBES)
                .map(|number| Arc::new(scenes.input(0, number, PROBE_SIDE)))
                .collect(),
            Source::Task(inputs) => inputs.iter().take(OWN_PROBES).cloned().collect(),
        }
    }
}

impl Worker {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            interpreter: Interpreter::new(limits),
            searcher: None,
        }
    }

    /// The output of a program for an input, or why it is of no use.
    fn run(&mut self, program: &Program, input: &Arc<Grid>) -> Result<Grid, Dropped> {
        let value = self.interpreter.run(program, Arc::clone(input));
        let value = value.map_err(|_| Dropped::Failed)?;
        let grid = value.as_grid().filter(|grid| !grid.cells().is_empty());
        grid.map(Cow::into_owned).ok_or(Dropped::NoGrid)
    }
}

impl Shared {
    pub(super) fn new(mut settings: Settings) -> Self {
        let (mut inputs, mut by_id) = (Vec::new(), HashMap::new());
        for task in &settings.tasks {
            let of_task: Vec<_> = task
                .pairs()
                .map(|(_, pair)| Arc::clone(&pair.input))
                .collect();
            if !of_task.is_empty() {
                by_id.insert(&*task.id, inputs.len());
                inputs.push(of_task);
            }
        }
        let programs = settings.programs.iter();
        let tasks = programs.map(|program| by_id.get(program.task_id()).copied());
        let tasks = tasks.collect();
        let programs = settings.programs.iter();
        let scenes = programs.map(|program| builtin::get(program.task_id()));
        let scenes = scenes.collect();
        for program in &mut settings.programs {
            if let Ok(without) = without_unused(program) {
                *program = without;
            }
        }
        let all = builtin::all();
        let probe = |number: usize| {
            let scenes = &all[number * all.len() / PROBES];
            Arc::new(scenes.input(1, number, PROBE_SIDE))
        };
        Self {
            tasks,
            scenes,
            inputs,
            probes: (0..PROBES).map(probe).collect(),
            settings,
        }
    }

    /// Generates the candidates of a chunk; fewer if stopped.
    pub(super) fn chunk(
        &self,
        worker: &mut Worker,
        chunk: u64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Vec<CandidateResult> {
        let mut draws = Draws::new(&[self.settings.seed, chunk]);
        let mut generator = Generator::with_scenes(draws.next(), 4);
        let mut outcomes = Vec::with_capacity(CHUNK);
        for at in 0..CHUNK as u64 {
            if stop() {
                break;
            }
            let number = chunk * CHUNK as u64 + at;
            outcomes.push(self.candidate(worker, &mut generator, &mut draws, number));
        }
        outcomes
    }

    fn candidate(
        &self,
        worker: &mut Worker,
        generator: &mut Generator,
        draws: &mut Draws,
        number: u64,
    ) -> CandidateResult {
        let recipe = draws
            .pick(&self.settings.recipes)
            .unwrap_or(Recipe::Program);
        let (program, parents) = self.program(recipe, generator, draws)?;
        // The parent that reads the inputs.
        let source = self.source(parents[0], draws);
        let pairs = self.pairs(worker, &program, source, draws)?;
        let behaviour = self.behaviour(worker, &program, source);
        let (task, program) = build_task(pairs, program, self.settings.train);
        Ok(Box::new(Made {
            task,
            program,
            recipe,
            parents,
            behaviour,
            number,
        }))
    }

    /// A program without unused steps, and its parents.
    fn program(
        &self,
        recipe: Recipe,
        generator: &mut Generator,
        draws: &mut Draws,
    ) -> Result<(Program, Vec<usize>), Dropped> {
        let programs = &self.settings.programs;
        let first = draws.below(programs.len());
        let mut parents = vec![first];
        let parent = &programs[first];
        let made = match recipe {
            Recipe::Program => parent.clone(),
            Recipe::Mutant => generator.mutant(parent),
            Recipe::Variation => generator.variation(parent),
            Recipe::Composition | Recipe::Crossover => {
                let second = draws.below(programs.len());
                parents.push(second);
                let other = &programs[second];
                let made = if recipe == Recipe::Composition {
                    composition(parent, other)
                } else {
                    generator.crossover(other, parent)
                };
                made.map_err(|_| Dropped::Failed)?
            }
        };
        let made = without_unused(&made).map_err(|_| Dropped::Failed)?;
        let is_changed = recipe == Recipe::Program || made != *parent;
        if !is_changed || made.steps().is_empty() {
            return Err(Dropped::Unchanged);
        }
        Ok((made, parents))
    }

    fn source(&self, program: usize, draws: &mut Draws) -> Source<'_> {
        let has_tasks = !self.inputs.is_empty();
        let of_task = match self.settings.inputs {
            Inputs::Tasks => has_tasks,
            Inputs::Scenes => false,
            Inputs::Both => has_tasks && draws.below(2) == 0,
        };
        let any = draws.next();
        if of_task {
            let any = any as usize % self.inputs.len();
            return Source::Task(&self.inputs[self.tasks[program].unwrap_or(any)]);
        }
        let all = builtin::all();
        Source::Scenes(self.scenes[program].unwrap_or(&all[any as usize % all.len()]))
    }

    /// The pairs of a candidate, unless a filter drops it.
    fn pairs(
        &self,
        worker: &mut Worker,
        program: &Program,
        source: Source<'_>,
        draws: &mut Draws,
    ) -> Result<Vec<Pair>, Dropped> {
        let Settings {
            train,
            test,
            filters,
            ..
        } = &self.settings;
        let count = train + test;
        let side = self
            .settings
            .scene_side
            .min(filters.max_side.unwrap_or(usize::MAX));
        let mut pairs: Vec<Pair> = Vec::with_capacity(count);
        let (mut wrong, mut same) = (None, 0);
        let mut unchanged = 0;
        // Tolerate as many unsuitable inputs as are wanted.
        let mut misses = 0;
        while pairs.len() < count {
            if misses > count {
                return Err(wrong.unwrap_or(Dropped::FewInputs));
            }
            let input = source.draw(draws, side);
            if pairs.iter().any(|pair| pair.input == input) {
                same += 1;
                misses += usize::from(same > 4 * count);
                continue;
            }
            match self.output(worker, program, &input) {
                Ok(output) => {
                    unchanged += usize::from(output == *input);
                    pairs.push(Pair::new(input, output));
                }
                Err(reason) => {
                    wrong.get_or_insert(reason);
                    misses += 1;
                }
            }
        }
        if filters.identity && unchanged * 2 >= count {
            return Err(Dropped::Identity);
        }
        let is_constant = pairs.iter().all(|pair| pair.output == pairs[0].output);
        if filters.constant && count > 1 && is_constant {
            return Err(Dropped::Constant);
        }
        Ok(pairs)
    }

    fn output(
        &self,
        worker: &mut Worker,
        program: &Program,
        input: &Arc<Grid>,
    ) -> Result<Grid, Dropped> {
        let filters = &self.settings.filters;
        let is_large = |grid: &Grid| {
            let side = grid.height().max(grid.width());
            filters.max_side.is_some_and(|most| side > most)
        };
        if is_large(input) {
            return Err(Dropped::TooLarge);
        }
        let output = worker.run(program, input)?;
        if is_large(&output) {
            return Err(Dropped::TooLarge);
        }
        let is_foreign = |cell: &i8| !(0..COLOURS as i8).contains(cell);
        if filters.foreign && output.cells().iter().any(is_foreign) {
            return Err(Dropped::Foreign);
        }
        Ok(output)
    }

    /// A hash of the program's outputs: on scenes that are the same for all programs; if it fails on most of these,
    /// or leaves them unchanged, also on inputs from its source.
    fn behaviour(&self, worker: &mut Worker, program: &Program, source: Source<'_>) -> u128 {
        let mut all = Vec::new();
        let mut says = 0;
        let mut see = |input: &Arc<Grid>, of_input: bool| {
            let gave = match worker.run(program, input) {
                Ok(grid) => {
                    says += usize::from(grid != **input);
                    digest(&grid)
                }
                Err(Dropped::NoGrid) => 1,
                Err(_) => 0,
            };
            if of_input {
                all.extend(digest(input).to_le_bytes());
            }
            all.extend(gave.to_le_bytes());
            says
        };
        let mut of_scenes = 0;
        for probe in &self.probes {
            of_scenes = see(probe, false);
        }
        if of_scenes * 2 < self.probes.len() {
            for probe in source.probes() {
                see(&probe, true);
            }
        }
        xxh3_128(&all)
    }

    /// Whether a small search finds the test outputs; for a task without test pairs, a program that is right on all
    /// train pairs.
    pub(super) fn is_easy(
        &self,
        worker: &mut Worker,
        task: &Task,
        stop: &mut dyn FnMut() -> bool,
    ) -> bool {
        let nodes = self.settings.filters.easy_nodes;
        let searcher = worker.searcher.get_or_insert_with(|| {
            // These options find nearly as much in a fifth of the time.
            let mut options = arc_search::Options::of_nodes(nodes);
            options.repeats = false;
            options.patches = false;
            options.off = vec!["cells".to_owned(), "objects".to_owned()];
            Searcher::new(Language::default(), options)
        });
        let found = searcher.search(task, stop);
        if task.test.is_empty() {
            let fits = found.attempts.iter().map(|attempt| attempt.fits as usize);
            return fits.max() == Some(task.train.len());
        }
        task.test.iter().enumerate().all(|(test, pair)| {
            let mut answers = found.answers_of(test);
            answers.any(|answer| Some(answer) == pair.output.as_ref())
        })
    }
}

/// A task of these pairs and its program, named after the task's id.
fn build_task(mut pairs: Vec<Pair>, program: Program, train: usize) -> (Task, Program) {
    let id = id_of(&program, pairs.iter());
    let test = pairs.split_off(train);
    let program = program.with_name(format!("solve_{id}"));
    let task = Task {
        id,
        train: pairs,
        test,
        ..Task::default()
    };
    (task, program)
}

/// The id of a task: a hash of its program and its pairs.
fn id_of<'a>(program: &Program, pairs: impl Iterator<Item = &'a Pair>) -> String {
    let mut all = program.clone().with_name("solve").to_string().into_bytes();
    for pair in pairs {
        all.extend(digest(&pair.input).to_le_bytes());
        all.extend(pair.output.as_ref().map_or(0, digest).to_le_bytes());
    }
    format!("{:016x}", xxh3_64(&all))
}
