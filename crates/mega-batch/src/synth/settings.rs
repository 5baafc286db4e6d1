//! [`Settings`]: which tasks are generated, and how.

use std::num::NonZeroUsize;

use arc_dsl::{Dialect, Program};
use arc_tasks::builtin;
use arc_tasks::{MAX_SIDE, Task};

/// How the program of a candidate is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Recipe {
    /// One of the given programs, unchanged.
    Program,
    /// One of them with random changes: see [`Generator::mutant`](arc_dsl::generate::Generator::mutant).
    Mutant,
    /// One of them with changes that keep types: see
    /// [`Generator::variation`](arc_dsl::generate::Generator::variation).
    Variation,
    /// One of them applied to the output of another.
    Composition,
    /// One of them, in which a grid of another one replaces one of its grids.
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
    /// Half of the candidates have inputs of tasks, if tasks are given.
    #[default]
    Both,
    /// Generated scenes, as for the [built-in programs](builtin): a program that is one of these uses its own scenes.
    Scenes,
    /// Inputs of the program's task, or of any task if it has none, sometimes turned and mirrored.
    Tasks,
}

/// Which candidates are dropped.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is a filter of its own")]
pub struct Filters {
    /// Tasks of which at least half of the outputs equal their inputs. Default true.
    pub identity: bool,
    /// Tasks whose outputs are all the same. Default true.
    pub constant: bool,
    /// The most rows and columns of inputs and outputs. Default 30.
    pub max_side: Option<usize>,
    /// Outputs with colours other than 0 to 9. Default true.
    pub foreign: bool,
    /// Programs that behave like an earlier one. Default true.
    pub duplicates: bool,
    /// Tasks that a search with this many nodes solves, in one pass, with grids only and without rules; 0, the
    /// default, disables the search.
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

/// Settings for generating tasks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The programs to derive others from, in the public dialect. Default: the [built-in ones](builtin).
    pub programs: Vec<Program>,
    /// Tasks whose inputs are used.
    pub tasks: Vec<Task>,
    /// The random seed.
    pub seed: u64,
    /// Train pairs of a task. Default 3.
    pub train: usize,
    /// Test pairs of a task. Default 1.
    pub test: usize,
    /// How programs are derived, with equal probability.
    pub recipes: Vec<Recipe>,
    /// Where inputs come from.
    pub inputs: Inputs,
    /// The most rows and columns of generated scenes; some have more if their program needs it. Default 20.
    pub scene_side: usize,
    /// What is dropped.
    pub filters: Filters,
    /// The steps that an evaluation may take, see [`Limits::max_steps`](arc_dsl::Limits::max_steps). Default 100,000.
    pub max_steps: u64,
    /// The shard of the candidates to generate: `(part, of)`. Default: all of them.
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

/// Why settings are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// No programs are given.
    #[error("programs: expected one or more")]
    NoPrograms,
    /// A program of another dialect cannot be changed.
    #[error("programs: {0} is of the typed dialect: expected the public one")]
    Typed(String),
    /// No inputs are given.
    #[error("inputs: \"tasks\" needs tasks with pairs")]
    NoTasks,
    /// No recipes are given.
    #[error("kinds: expected one or more")]
    NoRecipes,
    /// A task has too few or too many pairs.
    #[error(
        "train, test: expected 1 to {MOST_PAIRS} pairs together, one of them for training, found {0}"
    )]
    Pairs(usize),
    /// The part is not below the number of parts.
    #[error("shard: expected a part from 0 to before {of}, found {part}")]
    Shard {
        /// Which part.
        part: u64,
        /// Of how many.
        of: u64,
    },
    /// A side limit is 0.
    #[error("{0}: expected 1 or more")]
    Side(&'static str),
}

/// The most pairs of a task.
const MOST_PAIRS: usize = 1000;

impl Settings {
    /// Checks the settings.
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let Settings {
            programs,
            tasks,
            train,
            test,
            recipes,
            shard: (part, of),
            ..
        } = self;
        if programs.is_empty() {
            return Err(SettingsError::NoPrograms);
        }
        if let Some(typed) = programs
            .iter()
            .find(|program| program.dialect() != Dialect::Public)
        {
            return Err(SettingsError::Typed(typed.name().to_owned()));
        }
        if self.inputs == Inputs::Tasks && tasks.iter().all(|task| task.pair_count() == 0) {
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
        if self.scene_side == 0 {
            return Err(SettingsError::Side("scene_side"));
        }
        if self.filters.max_side == Some(0) {
            return Err(SettingsError::Side("max_side"));
        }
        Ok(())
    }
}
