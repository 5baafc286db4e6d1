//! The identity of a search, which its checkpoint records.

use arc_dsl::Primitive;
use arc_search::Language;
use arc_search::language::Producer;
use arc_tasks::Task;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::SearchOptions;
use crate::coordinator::block_log;
use crate::coordinator::checkpoint::{hash_tasks, hash_text, hex};

/// What must agree for a search to be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
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
            language: language_hash(language),
            tasks: hash_tasks(tasks),
            options: format!("{search:?}, time per task {time_per_task:?}"),
        }
    }
}

impl block_log::Identity for Identity {
    const FORMAT: &str = "mega-batch search checkpoint";

    fn difference(&self, other: &Self) -> Option<String> {
        let found = if self.language != other.language {
            "another language"
        } else if self.tasks != other.tasks {
            "other tasks"
        } else if self.options != other.options {
            "other options: nodes, attempts or time"
        } else {
            return None;
        };
        Some(found.to_owned())
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
