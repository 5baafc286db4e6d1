//! The id of a task: what an object says, and what the name of its file says.

use serde_json::Value;
use serde_json::value::RawValue;

use super::programs::text_of_program;
use crate::task::structure::{Entries, entries_of};
use crate::task::text::{JsonKind, kind_of};

/// The keys under which a task may give its id, in order of preference; the last two count only if its metadata have
/// none of the others.
pub(super) const ID_KEYS: [&str; 17] = [
    "task_id",
    "taskId",
    "task_key",
    "puzzle_id",
    "arc_id",
    "problem_id",
    // Beside the `id` of a request.
    "custom_id",
    "id",
    "task",
    "task_name",
    "name",
    "uid",
    "puzzle",
    // Of a request of vLLM, and of Gemini.
    "request_id",
    "key",
    "question_id",
    "index",
];

/// How many of them name a task; the last ones may be numbers of rows.
const OF_TASKS: usize = 13;

/// The name of a task that does not give its own id.
#[derive(Debug, Clone, Copy)]
pub(super) enum TaskName<'n> {
    /// The name of its file.
    OfFile(&'n str),
    /// The name of its file, of which it is one row.
    OfRow(&'n str),
    /// The name of its file with its index.
    Numbered(&'n str),
    /// Its key in an object.
    Key(&'n str),
}

impl<'n> TaskName<'n> {
    pub(super) fn name(self) -> &'n str {
        match self {
            TaskName::OfFile(name)
            | TaskName::OfRow(name)
            | TaskName::Numbered(name)
            | TaskName::Key(name) => name,
        }
    }
}

/// The id that an object gives, if it takes precedence over the name.
pub(super) fn own_id(entries: &Entries<'_>, id: TaskName<'_>) -> Option<String> {
    let counts = match id {
        TaskName::OfFile(name) | TaskName::Key(name) => says_little(name),
        TaskName::OfRow(_) | TaskName::Numbered(_) => true,
    };
    if !counts {
        return None;
    }
    id_in(entries)
}

/// The id of the task that a single program in a file gives, whatever the name of the file.
pub(super) fn said_id(entries: &Entries<'_>, id: TaskName<'_>) -> Option<String> {
    let TaskName::OfFile(name) = id else {
        return None;
    };
    // Other things may have a `name`, too.
    let is_said = |key: &str| is_metadata(key) || key != "name" && ID_KEYS.contains(&key);
    let mut said = entries.to_vec();
    said.retain(|(key, _)| is_said(key));
    own_id(&said, TaskName::Numbered(name))
}

/// The id that an object gives, itself or in its metadata.
pub(super) fn id_in(entries: &Entries<'_>) -> Option<String> {
    let (keys, of_rows) = ID_KEYS.split_at(OF_TASKS);
    let metadata = |keys: &[&str]| {
        let (_, metadata) = entries.iter().find(|(key, _)| is_metadata(key))?;
        id_under(keys, &entries_of(metadata.get()).0)
    };
    // The first ones name nothing but a task.
    let (precise, of_any) = keys.split_at(6);
    let own = id_under(precise, entries).or_else(|| metadata(precise));
    let own = own.or_else(|| id_under(of_any, entries).or_else(|| metadata(of_any)));
    own.or_else(|| metadata(of_rows).or_else(|| id_under(of_rows, entries)))
}

/// Whether a row names its task, rather than its place among other rows.
pub(super) fn names_task(entries: &Entries<'_>) -> bool {
    id_under(&ID_KEYS[..OF_TASKS], entries).is_some()
}

fn is_metadata(key: &str) -> bool {
    matches!(key, "metadata" | "extra_info" | "doc")
}

pub(super) fn id_under(keys: &[&str], entries: &Entries<'_>) -> Option<String> {
    keys.iter().find_map(|key| {
        let is_it = |(found, it): &&(String, &RawValue)| {
            found == key && kind_of(it.get()) == JsonKind::Other
        };
        let (_, value) = entries.iter().find(is_it)?;
        let id = match serde_json::from_str(value.get()).ok()? {
            Value::String(id) => id,
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        let id = bare_id(&id).to_owned();
        may_be_id(&id).then_some(id)
    })
}

/// Whether a text may be the id of a row, rather than its title.
#[must_use]
pub fn may_be_id(text: &str) -> bool {
    let is_id = |c: char| c.is_alphanumeric() || "_-./#:@+~=|".contains(c);
    !text.is_empty() && text.chars().all(is_id)
}

/// An id without the extension of a file, and one of the ARC data without its folders, as in `training/007bbfb7.json`.
#[must_use]
pub fn bare_id(id: &str) -> &str {
    let id = id.strip_suffix(".json").unwrap_or(id).trim();
    match id.rsplit_once('/') {
        Some((_, last)) if is_arc_id(last.split(['_', '-']).next().unwrap_or_default()) => last,
        _ => id,
    }
}

/// Whether it is an id of the ARC data: eight hexadecimal digits.
#[must_use]
pub fn is_arc_id(name: &str) -> bool {
    name.len() == 8 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the name of a file is less specific than an id in the task: a number with fewer digits than ids have, or a
/// word such as `task` or `data`, with or without a number.
pub(super) fn says_little(name: &str) -> bool {
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = name.len() - word.len();
    let word = word.trim_end_matches(['_', '-']).to_ascii_lowercase();
    match word.as_str() {
        "" => digits < 8,
        "task" | "tasks" | "data" | "example" | "sample" => true,
        _ => false,
    }
}

/// Whether an object has a key that gives the id of a task; then its other keys are not ids.
pub(super) fn says_id(entries: &Entries<'_>) -> bool {
    let is_id = |(key, value): &(String, &RawValue)| {
        ID_KEYS.contains(&key.as_str())
            && !matches!(kind_of(value.get()), JsonKind::List | JsonKind::Object)
            && text_of_program(value.get()).is_none()
    };
    entries.iter().any(is_id)
}
