//! [`Synthesis`]: tasks made of programs.
//!
//! A candidate is a program, made of one or two of those that are given, and inputs, generated or those of
//! tasks. What the program gives for them is a task, unless a filter drops it. Candidate `n` of a seed is the
//! same whoever makes it: what is drawn for it depends on the seed and on its number alone, and tasks are
//! compared with those before them in the order of the numbers. So a synthesis gives the same for any number of
//! workers.

use std::collections::{HashMap, HashSet, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use arc_dsl::builtin::{self, BuiltIn};
use arc_dsl::generate::{Generator, composition, without_unused};
use arc_dsl::{Dialect, Grid, Interpreter, Limits, MAX_SIDE, Pair, Program, Task};
use arc_search::{Language, Searcher};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::score::digest;

mod augment;
mod draws;

pub use augment::{
    AS_THEY_ARE, AugmentError, Augmentation, COLOURS, Changes, Recolouring, Symmetry,
    drawn_colours, recoloured,
};
use draws::Draws;

/// How the program of a candidate is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Recipe {
    /// One of the given programs as it is.
    Program,
    /// One of them with changes, as [`Generator::mutant`] makes them.
    Mutant,
    /// One of them with changes that keep types, as [`Generator::variation`] makes them.
    Variation,
    /// One of them on what another one gives.
    Composition,
    /// One of them with a grid of another one in the place of one of its own.
    Crossover,
}

impl Recipe {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Program,
        Self::Mutant,
        Self::Variation,
        Self::Composition,
        Self::Crossover,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Mutant => "mutant",
            Self::Variation => "variation",
            Self::Composition => "composition",
            Self::Crossover => "crossover",
        }
    }
}

/// Where inputs come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Inputs {
    /// Half of the candidates have those of tasks, where tasks are given.
    #[default]
    Both,
    /// Generated scenes, as the [built-in programs](builtin) have them: of a program that is one of these, its own.
    Scenes,
    /// Those of the task to which the program belongs, or of any where it belongs to none, now and then turned
    /// and mirrored.
    Tasks,
}

/// What is not wanted.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is a filter of its own")]
pub struct Filters {
    /// Tasks of which half of the outputs, or more, are their inputs. Default true.
    pub identity: bool,
    /// Tasks whose outputs are all the same. Default true.
    pub constant: bool,
    /// The most rows and columns of inputs and outputs. Default 30.
    pub max_side: Option<usize>,
    /// Outputs with colours other than 0 to 9. Default true.
    pub foreign: bool,
    /// Programs that behave as one before them. Default true.
    pub duplicates: bool,
    /// Tasks that a search of so many nodes solves, in one pass and by grids alone, without rules; 0, the default,
    /// searches none.
    pub easy_nodes: usize,
}

impl Default for Filters {
    fn default() -> Self {
        Self {
            identity: true,
            constant: true,
            max_side: Some(MAX_SIDE),
            foreign: true,
            duplicates: true,
            easy_nodes: 0,
        }
    }
}

/// How tasks are made.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The programs that others are made of, of the public dialect. Default the [built-in ones](builtin).
    pub programs: Vec<Program>,
    /// Tasks whose inputs are used.
    pub tasks: Vec<Task>,
    /// Other seeds give other tasks.
    pub seed: u64,
    /// Train pairs of a task. Default 3.
    pub train: usize,
    /// Test pairs of a task. Default 1.
    pub test: usize,
    /// How programs are made, each as likely as the others.
    pub recipes: Vec<Recipe>,
    /// Where inputs come from.
    pub inputs: Inputs,
    /// The most rows and columns of generated scenes; some have more, since their programs need it. Default 20.
    pub scene_side: usize,
    /// What is dropped.
    pub filters: Filters,
    /// The steps that an evaluation may take, see [`Limits::max_steps`]. Default 100,000.
    pub max_steps: u64,
    /// The part of the candidates that is made: `(part, of)`. Default all of them.
    pub shard: (u64, u64),
    /// How many threads; one for each core by default.
    pub workers: Option<NonZeroUsize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            programs: builtin::all()
                .iter()
                .map(|one| one.program().clone())
                .collect(),
            tasks: Vec::new(),
            seed: 0,
            train: 3,
            test: 1,
            recipes: Recipe::ALL[1..].to_vec(),
            inputs: Inputs::default(),
            scene_side: 20,
            filters: Filters::default(),
            max_steps: 100_000,
            shard: (0, 1),
            workers: None,
        }
    }
}

/// Why settings make no tasks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// There is nothing to make programs of.
    #[error("programs: expected one or more")]
    NoPrograms,
    /// A program of another dialect cannot be changed.
    #[error("programs: {0} is of the typed dialect: expected the public one")]
    Typed(String),
    /// There is nothing to take inputs from.
    #[error("inputs: \"tasks\" needs tasks with pairs")]
    NoTasks,
    /// There is no way to make programs.
    #[error("kinds: expected one or more")]
    NoRecipes,
    /// A task has too few or too many pairs.
    #[error(
        "train, test: expected 1 to {MOST_PAIRS} pairs together, one of them for training, found {0}"
    )]
    Pairs(usize),
    /// The part is none.
    #[error("shard: expected a part from 0 to before {of}, found {part}")]
    Shard {
        /// Which part.
        part: u64,
        /// Of how many.
        of: u64,
    },
    /// A bound of sides is none.
    #[error("{0}: expected 1 or more")]
    Side(&'static str),
}

/// The most pairs of a task.
const MOST_PAIRS: usize = 1000;

/// Why a candidate is no task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dropped {
    /// The changes to the program came to nothing.
    Unchanged,
    /// The program fails, or reaches a limit, on too many inputs.
    Failed,
    /// What it gives is no grid, or one without cells.
    NoGrid,
    /// A grid has too many rows or columns.
    TooLarge,
    /// An output has colours other than 0 to 9.
    Foreign,
    /// Half of the outputs, or more, are their inputs.
    Identity,
    /// All outputs are the same.
    Constant,
    /// There are too few different inputs.
    FewInputs,
    /// It behaves as a program before it.
    Duplicate,
    /// A search finds its test outputs.
    Easy,
}

impl Dropped {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Unchanged,
        Self::Failed,
        Self::NoGrid,
        Self::TooLarge,
        Self::Foreign,
        Self::Identity,
        Self::Constant,
        Self::FewInputs,
        Self::Duplicate,
        Self::Easy,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Failed => "failed",
            Self::NoGrid => "no_grid",
            Self::TooLarge => "too_large",
            Self::Foreign => "foreign",
            Self::Identity => "identity",
            Self::Constant => "constant",
            Self::FewInputs => "few_inputs",
            Self::Duplicate => "duplicate",
            Self::Easy => "easy",
        }
    }
}

/// A task with its program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The task. Its id is a hash of its pairs and its program.
    pub task: Task,
    /// The program, `solve_` and the task's id.
    pub program: Program,
    /// How the program was made.
    pub recipe: Recipe,
    /// The programs that it was made of, by their places.
    pub parents: Vec<usize>,
    /// A hash of what the program gives: equal for programs that are taken to behave alike.
    pub behaviour: u128,
    /// The number of the candidate.
    pub number: u64,
}

/// What became of the candidates so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// How many there were.
    pub candidates: u64,
    /// How many became tasks.
    pub made: u64,
    dropped: [u64; Dropped::ALL.len()],
}

impl Counts {
    /// How many were dropped for this reason.
    pub fn dropped(&self, reason: Dropped) -> u64 {
        self.dropped[reason as usize]
    }
}

/// Tasks are not made further: somebody said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// How many candidates share a generator: to make one takes as long as some candidates.
const CHUNK: usize = 16;

/// How many chunks are made at a time, at first and at most.
const FIRST_CHUNKS: usize = 4;
const MOST_CHUNKS: usize = 64;

/// After so many candidates without a task there are taken to be no others.
const PATIENCE: u64 = 20_000;

/// On so many scenes programs are compared, and where most of these say nothing of a program, on so many inputs
/// of its own.
const PROBES: usize = 24;
const OWN_PROBES: usize = 8;

/// The most rows and columns of a scene on which programs are compared.
const PROBE_SIDE: usize = 12;

/// Makes tasks, one after the other.
pub struct Synthesis {
    shared: Shared,
    workers: Vec<Worker>,
    /// The chunk that is made next, counted within the shard, and how many then.
    next_chunk: u64,
    chunks: usize,
    known: HashSet<u128>,
    waiting: VecDeque<Outcome>,
    counts: Counts,
    in_row: u64,
}

type Outcome = Result<Box<Made>, Dropped>;

/// What all workers look at.
struct Shared {
    /// Its programs have no steps that nothing needs.
    settings: Settings,
    /// By task that has any: its inputs.
    inputs: Vec<Vec<Arc<Grid>>>,
    /// By program: which inputs are those of its task, and the built-in program that it is.
    tasks: Vec<Option<usize>>,
    scenes: Vec<Option<&'static BuiltIn>>,
    probes: Vec<Arc<Grid>>,
}

/// What one thread needs.
struct Worker {
    interpreter: Interpreter,
    searcher: Option<Searcher>,
}

impl Synthesis {
    /// A synthesis with these settings.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        check(&settings)?;
        let threads = settings.workers.map_or_else(
            || thread::available_parallelism().map_or(1, NonZeroUsize::get),
            NonZeroUsize::get,
        );
        let limits = Limits {
            max_steps: settings.max_steps,
            ..Limits::default()
        };
        let worker = || Worker {
            interpreter: Interpreter::new(limits.clone()),
            searcher: None,
        };
        Ok(Self {
            workers: (0..threads).map(|_| worker()).collect(),
            shared: Shared::new(settings),
            next_chunk: 0,
            chunks: FIRST_CHUNKS,
            known: HashSet::new(),
            waiting: VecDeque::new(),
            counts: Counts::default(),
            in_row: 0,
        })
    }

    /// What became of the candidates so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The next task; nothing where there seem to be no others. `interrupted` is asked on this thread all the
    /// while; after it has said so it can be gone on as if nothing had been.
    pub fn next_task(
        &mut self,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Box<Made>>, Interrupted> {
        loop {
            while let Some(outcome) = self.waiting.pop_front() {
                self.counts.candidates += 1;
                match outcome {
                    Ok(made) => {
                        self.in_row = 0;
                        self.counts.made += 1;
                        return Ok(Some(made));
                    }
                    Err(reason) => {
                        self.in_row += 1;
                        self.counts.dropped[reason as usize] += 1;
                        if self.in_row == PATIENCE {
                            self.waiting.clear();
                            return Ok(None);
                        }
                    }
                }
            }
            if self.in_row >= PATIENCE {
                return Ok(None);
            }
            self.make(interrupted)?;
        }
    }

    /// Makes the next chunks.
    fn make(&mut self, interrupted: &mut dyn FnMut() -> bool) -> Result<(), Interrupted> {
        let (part, of) = self.shared.settings.shard;
        let first = self.next_chunk;
        let shared = &self.shared;
        let chunks = in_parallel(
            &mut self.workers,
            self.chunks,
            interrupted,
            |worker, at, stop| shared.chunk(worker, part + (first + at as u64) * of, stop),
        )?;
        let mut outcomes: Vec<Outcome> = chunks.into_iter().flatten().collect();

        let mut known = HashSet::new();
        if shared.settings.filters.duplicates {
            for outcome in &mut outcomes {
                if let Ok(made) = outcome
                    && (self.known.contains(&made.behaviour) || !known.insert(made.behaviour))
                {
                    *outcome = Err(Dropped::Duplicate);
                }
            }
        }
        if shared.settings.filters.easy_nodes > 0 {
            let to_search: Vec<(usize, &Task)> = outcomes
                .iter()
                .enumerate()
                .filter_map(|(at, outcome)| Some((at, &outcome.as_ref().ok()?.task)))
                .collect();
            let easy = in_parallel(
                &mut self.workers,
                to_search.len(),
                interrupted,
                |worker, at, stop| shared.is_easy(worker, to_search[at].1, stop),
            )?;
            let places: Vec<usize> = to_search.iter().map(|(at, _)| *at).collect();
            for (at, is_easy) in places.into_iter().zip(easy) {
                if is_easy {
                    outcomes[at] = Err(Dropped::Easy);
                }
            }
        }
        self.known.extend(known);
        self.next_chunk += self.chunks as u64;
        self.chunks = (self.chunks * 2).min(MOST_CHUNKS);
        self.waiting.extend(outcomes);
        Ok(())
    }
}

/// Does so many things on all workers, of which the first is this thread's. Each thing is told of what says
/// that it need not be finished.
fn in_parallel<T: Send>(
    workers: &mut [Worker],
    count: usize,
    interrupted: &mut dyn FnMut() -> bool,
    work: impl Fn(&mut Worker, usize, &mut dyn FnMut() -> bool) -> T + Sync,
) -> Result<Vec<T>, Interrupted> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let run = |worker: &mut Worker, asked: &mut dyn FnMut() -> bool| {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count || asked() {
                return done;
            }
            done.push((at, work(worker, at, asked)));
        }
    };
    let Some((own, others)) = workers.split_first_mut() else {
        return Ok(Vec::new());
    };
    let mut done = thread::scope(|scope| {
        let mut others = others.iter_mut();
        let threads: Vec<_> = (1..count)
            .map_while(|_| {
                let other = others.next()?;
                let run = &run;
                let stop = &stop;
                // Where no thread can be had, the others do its work.
                thread::Builder::new()
                    .name("synthesis".to_owned())
                    .spawn_scoped(scope, move || {
                        run(other, &mut || stop.load(Ordering::Relaxed))
                    })
                    .ok()
            })
            .collect();
        let mut done = run(own, &mut || {
            if !stop.load(Ordering::Relaxed) && interrupted() {
                stop.store(true, Ordering::Relaxed);
            }
            stop.load(Ordering::Relaxed)
        });
        for thread in threads {
            while !thread.is_finished() && !stop.load(Ordering::Relaxed) {
                if interrupted() {
                    stop.store(true, Ordering::Relaxed);
                }
                thread::sleep(std::time::Duration::from_micros(50));
            }
            match thread.join() {
                Ok(of_thread) => done.extend(of_thread),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    if stop.load(Ordering::Relaxed) {
        return Err(Interrupted);
    }
    done.sort_unstable_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, made)| made).collect())
}

fn check(settings: &Settings) -> Result<(), SettingsError> {
    let Settings {
        programs,
        tasks,
        train,
        test,
        recipes,
        shard: (part, of),
        ..
    } = settings;
    if programs.is_empty() {
        return Err(SettingsError::NoPrograms);
    }
    if let Some(typed) = programs
        .iter()
        .find(|program| program.dialect() != Dialect::Public)
    {
        return Err(SettingsError::Typed(typed.name().to_owned()));
    }
    if settings.inputs == Inputs::Tasks && tasks.iter().all(|task| task.pair_count() == 0) {
        return Err(SettingsError::NoTasks);
    }
    if recipes.is_empty() {
        return Err(SettingsError::NoRecipes);
    }
    let pairs = train.saturating_add(*test);
    if *train == 0 || pairs > MOST_PAIRS {
        return Err(SettingsError::Pairs(pairs));
    }
    if part >= of {
        let (part, of) = (*part, *of);
        return Err(SettingsError::Shard { part, of });
    }
    if settings.scene_side == 0 {
        return Err(SettingsError::Side("scene_side"));
    }
    if settings.filters.max_side == Some(0) {
        return Err(SettingsError::Side("max_side"));
    }
    Ok(())
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

    /// Inputs that are always the same.
    fn probes(self) -> Vec<Arc<Grid>> {
        match self {
            Source::Scenes(scenes) => (0..OWN_PROBES)
                .map(|number| Arc::new(scenes.input(0, number, PROBE_SIDE)))
                .collect(),
            Source::Task(inputs) => inputs.iter().take(OWN_PROBES).cloned().collect(),
        }
    }
}

/// What a program gives for an input.
enum Gave {
    Grid(Grid),
    Other,
    Failed,
}

impl Worker {
    fn run(&mut self, program: &Program, input: &Arc<Grid>) -> Gave {
        match self.interpreter.run(program, Arc::clone(input)) {
            Ok(value) => match value.as_grid() {
                Some(grid) if grid.height() > 0 && grid.width() > 0 => {
                    Gave::Grid(grid.into_owned())
                }
                _ => Gave::Other,
            },
            Err(_) => Gave::Failed,
        }
    }
}

impl Shared {
    fn new(mut settings: Settings) -> Self {
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

    /// Makes the candidates of a chunk, fewer where they are not wanted any more.
    fn chunk(
        &self,
        worker: &mut Worker,
        chunk: u64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Vec<Outcome> {
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
    ) -> Outcome {
        let recipe = draws
            .pick(&self.settings.recipes)
            .unwrap_or(Recipe::Program);
        let (program, parents) = self.program(recipe, generator, draws)?;
        // The one whose steps see the inputs.
        let source = self.source(parents[0], draws);
        let pairs = self.pairs(worker, &program, source, draws)?;
        let behaviour = self.behaviour(worker, &program, source);
        let (task, program) = named(pairs, program, self.settings.train);
        Ok(Box::new(Made {
            task,
            program,
            recipe,
            parents,
            behaviour,
            number,
        }))
    }

    /// A program, without steps that nothing needs, and what it is made of.
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
        // As many inputs may be unsuitable as are wanted.
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
        let output = match worker.run(program, input) {
            Gave::Grid(grid) => grid,
            Gave::Other => return Err(Dropped::NoGrid),
            Gave::Failed => return Err(Dropped::Failed),
        };
        if is_large(&output) {
            return Err(Dropped::TooLarge);
        }
        let is_foreign = |cell: &i8| !(0..COLOURS as i8).contains(cell);
        if filters.foreign && output.cells().iter().any(is_foreign) {
            return Err(Dropped::Foreign);
        }
        Ok(output)
    }

    /// A hash of what the program gives: on scenes that are the same for all, and where it fails on most of
    /// these, or leaves them as they are, on inputs of its source too.
    fn behaviour(&self, worker: &mut Worker, program: &Program, source: Source<'_>) -> u128 {
        let mut all = Vec::new();
        let mut says = 0;
        let mut see = |input: &Arc<Grid>, of_input: bool| {
            let gave = match worker.run(program, input) {
                Gave::Grid(grid) => {
                    says += usize::from(grid != **input);
                    digest(&grid)
                }
                Gave::Other => 1,
                Gave::Failed => 0,
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

    /// Whether a search of few nodes finds the test outputs; of a task without test pairs, a program that is
    /// right on all train pairs.
    fn is_easy(&self, worker: &mut Worker, task: &Task, stop: &mut dyn FnMut() -> bool) -> bool {
        let nodes = self.settings.filters.easy_nodes;
        let searcher = worker.searcher.get_or_insert_with(|| {
            // What finds nearly as many and takes a fifth of the time.
            let options = arc_search::Options {
                repeats: false,
                patches: false,
                off: vec!["cells".to_owned(), "objects".to_owned()],
                ..arc_search::Options::of_nodes(nodes)
            };
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

/// The task of these pairs and its program, each with the same id.
fn named(mut pairs: Vec<Pair>, program: Program, train: usize) -> (Task, Program) {
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

/// An id for a task: a hash of its program and its pairs.
fn id_of<'a>(program: &Program, pairs: impl Iterator<Item = &'a Pair>) -> String {
    let mut all = program.clone().with_name("solve").to_string().into_bytes();
    for pair in pairs {
        all.extend(digest(&pair.input).to_le_bytes());
        all.extend(pair.output.as_ref().map_or(0, digest).to_le_bytes());
    }
    format!("{:016x}", xxh3_64(&all))
}

#[cfg(test)]
mod tests;
