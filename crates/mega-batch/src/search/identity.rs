//! The identity of a search, which its checkpoint records.

use arc_dsl::{Primitive, Task};
use arc_search::Language;
use arc_search::language::Producer;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::SearchOptions;
use crate::VERSION;
use crate::block_log::Header;
use crate::checkpoint::{hash_tasks, hash_text, hex};

/// The file format as the first line names it.
const FORMAT: &str = "mega-batch search checkpoint";

/// The version of the block format.
const FORM: u32 = 1;

/// What must agree for a search to be resumed: everything that its results depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    format: String,
    form: u32,
    engine_version: String,
    language: String,
    tasks: String,
    options: String,
}

impl Identity {
    pub(super) fn of(tasks: &[Task], language: &Language, options: &SearchOptions) -> Self {
        // The number of workers is not included, since results do not depend on it.
        let SearchOptions {
            search,
            time_per_task,
            ..
        } = options;
        Self {
            format: FORMAT.to_owned(),
            form: FORM,
            engine_version: VERSION.to_owned(),
            language: language_hash(language),
            tasks: hash_tasks(tasks),
            options: format!("{search:?}, time per task {time_per_task:?}"),
        }
    }
}

impl Header for Identity {
    fn difference(&self, other: &Self) -> Option<String> {
        let differences = [
            (self.format != other.format, "a file that is no checkpoint"),
            (
                (self.form, &self.engine_version) != (other.form, &other.engine_version),
                "a checkpoint of another version of the engine",
            ),
            (self.language != other.language, "another language"),
            (self.tasks != other.tasks, "other tasks"),
            (
                self.options != other.options,
                "other options: nodes, attempts or time",
            ),
        ];
        let mut differences = differences.into_iter();
        differences.find_map(|(differs, what)| differs.then(|| what.to_owned()))
    }
}

/// The hash of a language: its functions, their costs, and the values that programs begin with.
pub(super) fn language_hash(language: &Language) -> String {
    let mut hash = Xxh3::new();
    for function in language.functions() {
        hash_text(&mut hash, &function.to_string());
    }
    hash_text(&mut hash, &language.table());
    // Of these costs, an enumeration uses those of a primitive's result as an argument.
    for (costs, consumer) in language.costs().into_iter().flat_map(|costs| {
        Primitive::ALL
            .iter()
            .map(move |consumer| (costs, *consumer))
    }) {
        for place in 0..consumer.parameters().len() {
            hash.update(&costs.alone(consumer, place).to_le_bytes());
            for producer in Primitive::ALL {
                let bits = costs.bigram(consumer, place, Producer::Result(*producer));
                hash.update(&bits.to_le_bytes());
            }
        }
    }
    hex(&hash)
}
