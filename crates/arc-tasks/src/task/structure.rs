//! What can be told of a JSON value without reading all of it: its entries and elements, whether it is a grid or a list of
//! pairs, and what an object seems to be.

use serde_json::value::RawValue;

use super::error::TaskError;
use super::text::{JsonKind, Text, first_entries, first_of, kind_of};

pub(super) const TASK: &str = "a task: an object with the keys `train` and `test`";

/// The maximum number of keys that an error names.
const KEYS_TOLD: usize = 6;

pub(super) type Entries<'a> = [(String, &'a RawValue)];

pub(super) fn entries_of(json: &str) -> (Vec<(String, &RawValue)>, Option<TaskError>) {
    Text::new(json.as_bytes()).map_or_else(|_| Default::default(), |text| text.entries(TASK))
}

pub(super) fn elements_of(json: &str) -> (Vec<&RawValue>, Option<TaskError>) {
    Text::new(json.as_bytes()).map_or_else(|_| Default::default(), |text| text.elements("programs"))
}

pub(super) fn has_key(entries: &Entries<'_>, wanted: &str) -> bool {
    entries.iter().any(|(key, _)| key == wanted)
}

pub(super) fn is_object(json: &RawValue) -> bool {
    kind_of(json.get()) == JsonKind::Object
}

/// Whether this is a list that begins with a string.
pub(super) fn is_strings(json: &str) -> bool {
    inside(json, '[').is_some_and(|first| inside(first, '"').is_some())
}

/// The place of a word in a list, in capitals or not.
pub(super) fn place_in(words: &str, wanted: &str) -> Option<usize> {
    words
        .split(' ')
        .position(|word| word.eq_ignore_ascii_case(wanted))
}

/// Whether it is a list whose first element is an object with a key of a pair.
pub(super) fn is_pairs(json: &str) -> bool {
    has_first(json, |key| key == "input" || key == "output")
}

/// Whether it is a list whose first element is an object of attempts.
pub(super) fn attempts(json: &str) -> bool {
    has_first(json, |key| key.starts_with("attempt_"))
}

fn has_first(json: &str, is_wanted: impl Fn(&str) -> bool) -> bool {
    let object = inside(json, '[').and_then(|first| inside(first, '{'));
    object.is_some_and(|object| {
        // Most objects begin with the key.
        let key = inside(object, '"').and_then(|key| key.split_once('"'));
        key.is_some_and(|(key, _)| is_wanted(key))
            || first_entries(json).iter().any(|(key, _)| is_wanted(key))
    })
}

/// What follows the character with which a value begins.
pub(super) fn inside(json: &str, begin: char) -> Option<&str> {
    json.trim_start().strip_prefix(begin)
}

/// Whether it is a list of lists of lists.
pub(super) fn is_list_of_grids(json: &str) -> bool {
    nesting(json) >= 3
}

/// Whether it is a list of lists of anything else.
pub(super) fn is_grid(json: &str) -> bool {
    nesting(json) == 2
}

/// How many lists begin a value, each as the first element of the one before; four at most.
pub(super) fn nesting(mut json: &str) -> usize {
    let mut depth = 0;
    while depth < 4 && kind_of(json) == JsonKind::List {
        depth += 1;
        match first_of(json) {
            Some(first) => json = first,
            None => break,
        }
    }
    depth
}

/// Describes an object: what it seems to be, and its keys.
pub(super) fn described(entries: &Entries<'_>) -> String {
    if entries.is_empty() {
        return "an empty object".to_owned();
    }
    match known_as(entries) {
        Some(seems) => format!("{seems}, with {}", keys(entries)),
        None => keys(entries),
    }
}

/// What an object seems to be, judging by its keys, if that is known.
pub(super) fn known_as(entries: &Entries<'_>) -> Option<&'static str> {
    let has = |key| has_key(entries, key);
    if has("input") && (has("output") || entries.len() == 1) {
        Some("a pair alone")
    } else if has("engine_version") && has("results") {
        Some("a document of a run")
    } else if has("nbformat") && has("cells") {
        Some("a notebook")
    } else if has("compilerOptions") {
        Some("a tsconfig.json")
    } else if has("version") && (has("name") || has("lockfileVersion")) {
        Some("a package.json")
    } else {
        None
    }
}

/// The keys of an object, as an error lists them.
pub(super) fn keys(entries: &Entries<'_>) -> String {
    let told: Vec<_> = entries
        .iter()
        .take(KEYS_TOLD)
        .map(|(key, _)| format!("`{}`", key.chars().take(40).collect::<String>()))
        .collect();
    let what = if entries.len() == 1 { "key" } else { "keys" };
    let more = match entries.len().saturating_sub(KEYS_TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if told.is_empty() {
        "no keys".to_owned()
    } else {
        format!("the {what} {}{more}", told.join(", "))
    }
}
