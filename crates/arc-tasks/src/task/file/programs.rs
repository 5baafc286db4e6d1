//! Programs in rows and in lists: the keys that they are under, and the answers of models in what services return.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::task::error::TaskError;
use crate::task::structure::{Entries, elements_of, entries_of, has_key, place_in};
use crate::task::text::{JsonKind, Text, first_entries, kind_of, shortened};

/// The words with which a key for the text of a program ends, in order of preference: `code`, `generated_code`, `codes`.
const PROGRAM_WORDS: &str = "program source code function solver script dsl solution response completion generation \
     prediction answer output text content result choice candidate sample assistant chosen target message conversation \
     attempt body implementation resp";

/// From which of them on it is what a language model has answered.
pub(super) const FIRST_ANSWER: usize = 7;

/// The words of keys for what the model was asked or thought.
const NO_ANSWER: &str = "prompt system user input instruction question rejected reasoning";

/// The keys under which answers of models are in what services return, and in conversations.
const ANSWER_PARTS: &str = "message content text parts value body choices candidates outputs output response result completion tool_calls \
     function arguments program code source";

/// The program in an object.
pub(super) struct NamedProgram<'a> {
    pub(super) key: String,
    /// Its text; several, if there is a list of them.
    pub(super) texts: Vec<String>,
    /// How many texts of the list hold no program.
    pub(super) without_program: usize,
    pub(super) value: &'a RawValue,
    /// Other keys with programs.
    pub(super) others: Vec<String>,
}

impl NamedProgram<'_> {
    /// Whether it is not just the name of one.
    pub(super) fn has_text(&self) -> bool {
        self.texts.iter().any(|text| is_program(text))
    }
}

/// The place in the order of preference of a key for the text of a program: of the word that it ends with.
pub(super) fn rank_of(key: &str) -> Option<usize> {
    let mut words = key.rsplit(['_', '-', ' ']);
    if words
        .clone()
        .any(|word| place_in(NO_ANSWER, word).is_some())
    {
        return None;
    }
    let last = words.next()?;
    let last = last.strip_suffix(['s', 'S']).unwrap_or(last);
    place_in(PROGRAM_WORDS, last)
}

/// The program in an object, under the first key that has one. A part of a conversation is none, unless it names a task.
pub(super) fn program<'a>(entries: &Entries<'a>) -> Option<NamedProgram<'a>> {
    let is_other = |(key, of): &(String, &RawValue)| {
        let is_model = matches!(of.get(), "\"assistant\"" | "\"model\"" | "\"gpt\"");
        matches!(key.as_str(), "role" | "from") && !(is_model && has_key(entries, "task_id"))
    };
    if entries.iter().any(is_other) {
        return None;
    }
    let found = entries.iter().filter_map(|(key, value)| {
        let rank = rank_of(key)?;
        let (mut texts, without_program) = texts_under(rank, value.get());
        if key == "program" && texts.is_empty() {
            texts.extend(serde_json::from_str::<String>(value.get()).ok());
        }
        texts.retain(|text| !text.trim().is_empty());
        let (key, others) = (key.clone(), Vec::new());
        (!texts.is_empty()).then_some((
            rank,
            NamedProgram {
                key,
                texts,
                without_program,
                value,
                others,
            },
        ))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(rank, _)| *rank);
    // `program` may be the name of one, beside its text.
    if found.len() > 1 && !found[0].1.has_text() {
        found.remove(0);
    }
    let mut found = found.into_iter().map(|(_, named)| named);
    let first = found.next()?;
    let others = found.map(|it| it.key).collect();
    Some(NamedProgram { others, ..first })
}

/// The text of a program: a string, or the answer in a conversation.
pub(super) fn text_of_program(json: &str) -> Option<String> {
    let text = match kind_of(json) {
        JsonKind::Other => serde_json::from_str(json).ok(),
        JsonKind::List if is_program(json) && has_key(&first_entries(json), "role") => {
            answers(&serde_json::from_str(json).ok()?).pop()
        }
        _ => None,
    };
    text.filter(|text: &String| is_program(text))
}

pub(super) fn is_program(text: &str) -> bool {
    let mut words = ["def ", "O =", "O=", "= lambda ", "=lambda "].iter();
    words.any(|word| text.contains(word))
}

/// Whether a text under a key of this rank has a program: in an answer that may be a call alone, such as `vmirror(I)`.
fn has_program(text: &str, rank: usize) -> bool {
    let mut calls = text.match_indices("(I").map(|(at, _)| text.split_at(at));
    let is_call = |(before, behind): (&str, &str)| {
        before.ends_with(|c: char| c == '_' || c.is_ascii_alphanumeric())
            && behind[2..].starts_with([',', ')'])
    };
    is_program(text) || rank >= FIRST_ANSWER && calls.any(is_call)
}

/// The programs under a key of this rank, and how many texts beside them are none: those in a string, in a list of
/// strings, or of the lines of one, and in answers.
fn texts_under(rank: usize, json: &str) -> (Vec<String>, usize) {
    if !has_program(json, rank) {
        return Default::default();
    }
    let is_object = kind_of(json) == JsonKind::Object;
    let texts = match kind_of(json) {
        JsonKind::Null => Vec::new(),
        // A list of lines may be JSON itself.
        JsonKind::Other => match serde_json::from_str::<String>(json) {
            Ok(text) => serde_json::from_str(&text).unwrap_or_else(|_| vec![text]),
            Err(_) => Vec::new(),
        },
        JsonKind::List | JsonKind::Object => match serde_json::from_str::<Vec<String>>(json) {
            Ok(texts) => texts,
            // Rows have tasks of their own.
            Err(_) if rank < FIRST_ANSWER && (is_object || json.contains("\"task_id\"")) => {
                Vec::new()
            }
            Err(_) => serde_json::from_str(json).map_or_else(|_| Vec::new(), |it| answers(&it)),
        },
    };
    if let Some(text) = of_lines(&texts) {
        return (vec![text], 0);
    }
    let count = texts.len();
    let programs = texts.into_iter().filter(|text| has_program(text, rank));
    let programs: Vec<_> = programs.collect();
    let without = count - programs.len();
    (programs, without)
}

/// The program whose lines these texts are.
pub(super) fn of_lines(texts: &[String]) -> Option<String> {
    let is_line = |text: &String| !text.trim_end_matches('\n').contains('\n');
    let is_part = |text: &String| text.trim_end().ends_with(':') || !is_program(text);
    let are_lines = texts.iter().all(is_line) && texts.iter().any(is_part);
    let lines: Vec<_> = texts
        .iter()
        .map(|line| line.trim_end_matches('\n'))
        .collect();
    Some(lines.join("\n")).filter(|text| are_lines && is_program(text))
}

/// The answers of a model in a value: a text, a list of them, a conversation, of which the model's last message counts, or
/// what services return, at any depth.
fn answers(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => {
            let role = |part: &Value| {
                let role = part.get("role").or_else(|| part.get("from"))?;
                role.as_str().map(ToOwned::to_owned)
            };
            let is_model = |part: &&Value| {
                matches!(role(part).as_deref(), Some("assistant" | "model" | "gpt"))
            };
            if parts.iter().any(|part| role(part).is_some()) {
                let last = parts.iter().rfind(is_model);
                return last.map(answers).unwrap_or_default();
            }
            parts.iter().flat_map(answers).collect()
        }
        Value::Object(_) => {
            let within = |key: &str| {
                let texts = answers(value.get(key)?);
                // One message may have several parts.
                let is_one = matches!(key, "content" | "parts") && texts.len() > 1;
                Some(if is_one {
                    vec![texts.join("\n")]
                } else {
                    texts
                })
            };
            let mut texts = ANSWER_PARTS.split(' ').filter_map(within);
            texts.find(|texts| !texts.is_empty()).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Whether it holds programs and nothing else (`only`), or a program among anything else, nested at most this deep.
pub(super) fn holds_programs(json: &str, only: bool, depth: usize) -> bool {
    if text_of_program(json).is_some() {
        return true;
    }
    let (values, error) = match kind_of(json) {
        JsonKind::Null | JsonKind::Other => return false,
        JsonKind::List => elements_of(json),
        JsonKind::Object => {
            let (entries, error) = entries_of(json);
            if program(&entries).is_some() {
                return true;
            }
            (entries.into_iter().map(|(_, it)| it).collect(), error)
        }
    };
    let mut inside = values.iter().map(|it| it.get());
    match depth.checked_sub(1) {
        None => false,
        Some(depth) if only => {
            error.is_none()
                && !values.is_empty()
                && inside.all(|it| holds_programs(it, true, depth))
        }
        Some(depth) => inside.any(|it| holds_programs(it, false, depth)),
    }
}

/// Whether a program is where files of programs have one, so that the file counts as such even if it holds other
/// values, too: as a string, in a list of strings, or under its key in an object in such a list or in an object with
/// any keys. Files that have programs elsewhere, such as a conversation or a notebook, are not files of programs.
pub(super) fn shows_program(json: &str) -> bool {
    let is_shown = |json: &str| program(&entries_of(json).0).is_some_and(|it| it.has_text());
    let is_text = |json: &str| text_of_program(json).is_some();
    is_text(json)
        || match kind_of(json) {
            JsonKind::List => {
                let (elements, _) = elements_of(json);
                let mut elements = elements.iter().map(|it| it.get());
                elements.any(|it| is_text(it) || is_shown(it))
            }
            JsonKind::Object => {
                let (entries, _) = entries_of(json);
                is_shown(json) || entries.iter().any(|(_, it)| is_shown(it.get()))
            }
            JsonKind::Null | JsonKind::Other => false,
        }
}

/// An error about the value of a key for the text of a program.
pub(super) fn no_text(text: &Text<'_>) -> TaskError {
    let found = match kind_of(text.json) {
        JsonKind::Null => "null",
        JsonKind::List => "a list",
        JsonKind::Object => "an object",
        JsonKind::Other => match serde_json::from_str::<String>(text.json) {
            Ok(text) if text.trim().is_empty() => "an empty text",
            Ok(text) if is_program(&text) => "a part of a conversation",
            Ok(_) => &format!("{} without `def` and `O =`", shortened(text.json)),
            Err(_) => &shortened(text.json),
        },
    };
    text.error(format!("expected the text of a program, found {found}"))
}
