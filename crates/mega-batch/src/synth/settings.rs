//! [`Settings`]: which tasks are made, and of what.

use std::num::NonZeroUsize;

use arc_dsl::builtin;
use arc_dsl::{Dialect, MAX_SIDE, Program, Task};

/// How the program of a candidate is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Recipe {
    /// One of the given programs as it is.
    Program,
    /// One of them with changes, as [`Generator::mutant`](arc_dsl::generate::Generator::mutant) makes them.
    Mutant,
    /// One of them with changes that keep types, as [`Generator::variation`](arc_dsl::generate::Generator::variation) makes them.
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
#[non_exhaustive]
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
    /// The steps that an evaluation may take, see [`Limits::max_steps`](arc_dsl::Limits::max_steps). Default 100,000.
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
#[non_exhaustive]
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

impl Settings {
    /// Whether tasks can be made so.
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
