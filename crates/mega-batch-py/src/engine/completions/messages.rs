//! The text of a completion: a chat message, the last one of several, or the arguments of a tool call.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::grids::type_name;

/// The value under a key, if the object is a dict that has it.
fn get<'py>(object: &Bound<'py, PyAny>, key: &str) -> Option<Bound<'py, PyAny>> {
    object.cast::<PyDict>().ok()?.get_item(key).ok()?
}

/// The text of a `str`. Half of a surrogate pair is not a character, and occurs in no program.
fn text(object: &Bound<'_, PyAny>) -> Option<String> {
    let text = object.cast::<PyString>().ok()?;
    Some(text.to_string_lossy().into_owned())
}

/// The text of a model's completion: a `str`, a message with "content", or the assistant's last message in a list.
/// Otherwise why there is none.
pub(crate) fn completion(object: &Bound<'_, PyAny>) -> Result<String, String> {
    if let Some(text) = text(object) {
        return Ok(text);
    }
    let expected = || {
        let found = type_name(object);
        format!("expected text, a message with \"content\", or a list of these, found {found}")
    };
    if object.is_instance_of::<PyDict>() {
        let content = get(object, "content");
        let is_empty = content
            .as_ref()
            .is_none_or(|it| !it.is_truthy().unwrap_or(true));
        if is_empty && let Some(arguments) = tool_call(object) {
            return Ok(arguments);
        }
        let content = content.ok_or_else(expected)?;
        let Ok(parts) = content.cast::<PyList>() else {
            return completion(&content);
        };
        // Content in parts, of which only text counts.
        let texts = parts.iter().filter_map(|part| {
            let is_dict = part.is_instance_of::<PyDict>();
            text(&if is_dict { get(&part, "text")? } else { part })
        });
        let texts: String = texts.collect();
        let mut parts = parts.iter().rev();
        let call = parts.find_map(|part| as_arguments(&part, "input"));
        return Ok(call.unwrap_or(texts));
    }
    let messages: Vec<_> = match (object.cast::<PyList>(), object.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().collect(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => return Err(expected()),
    };
    let is_assistants = |message: &&Bound<'_, PyAny>| {
        get(message, "role").and_then(|role| text(&role)).as_deref() == Some("assistant")
    };
    let last = messages.iter().rfind(is_assistants).or(messages.last());
    match last {
        Some(last) if !is_list(last) => completion(last),
        _ => Err(expected()),
    }
}

/// Whether it is a message or a list of some, so that only its content is wrong.
pub(super) fn has_message(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    const PARTS: [&str; 4] = ["content", "role", "from", "tool_calls"];
    if let Ok(message) = object.cast::<PyDict>() {
        let mut parts = PARTS.iter();
        return Ok(parts.any(|part| message.contains(part).unwrap_or(false)));
    }
    let messages = match (object.cast::<PyList>(), object.cast::<PyTuple>()) {
        (Ok(list), _) => list.as_sequence(),
        (_, Ok(tuple)) => tuple.as_sequence(),
        _ => return Ok(false),
    };
    let Some(last) = messages.len()?.checked_sub(1) else {
        return Ok(true);
    };
    let last = messages.get_item(last)?;
    Ok(!is_list(&last) && has_message(&last)?)
}

fn is_list(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>()
}

/// The Python object of an element of an Arrow table; any other object as it is.
pub(super) fn of_table(object: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let is_known = object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyDict>()
        || is_list(&object);
    if !is_known && object.hasattr("as_py")? {
        return object.call_method0("as_py");
    }
    Ok(object)
}

/// The arguments of a message's last tool call, as JSON.
fn tool_call(message: &Bound<'_, PyAny>) -> Option<String> {
    let calls = get(message, "tool_calls")?;
    let call = calls.cast::<PyList>().ok()?.iter().next_back()?;
    as_arguments(&get(&call, "function").unwrap_or(call), "arguments")
}

/// The value under a key as JSON: text, or an object.
fn as_arguments(call: &Bound<'_, PyAny>, key: &str) -> Option<String> {
    let arguments = get(call, key)?;
    if !arguments.is_instance_of::<PyDict>() {
        return text(&arguments);
    }
    let json = call.py().import("json").ok()?;
    let json = json.call_method1("dumps", (arguments,)).ok()?;
    json.extract().ok()
}
