//! The text of a completion: a chat message, the last one of several, or the arguments of a tool call.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::grids::type_name;

/// The text of a model's completion: a `str`, a message with "content", or the assistant's last message in a list.
/// Otherwise why there is none.
pub(crate) fn completion(object: &Bound<'_, PyAny>) -> Result<String, String> {
    if let Ok(text) = object.cast::<PyString>() {
        // Half of a surrogate pair is not a character, and occurs in no program.
        return Ok(text.to_string_lossy().into_owned());
    }
    let expected = || {
        let found = type_name(object);
        format!("expected text, a message with \"content\", or a list of these, found {found}")
    };
    if let Ok(message) = object.cast::<PyDict>() {
        let content = message.get_item("content").ok().flatten();
        let is_empty = content
            .as_ref()
            .is_none_or(|it| !it.is_truthy().unwrap_or(true));
        if is_empty && let Some(arguments) = tool_call(message) {
            return Ok(arguments);
        }
        let content = content.ok_or_else(expected)?;
        let Ok(parts) = content.cast::<PyList>() else {
            return completion(&content);
        };
        // Content in parts, of which only text counts.
        let texts = parts.iter().filter_map(|part| {
            let text = match part.cast::<PyDict>() {
                Ok(part) => part.get_item("text").ok()??,
                Err(_) => part,
            };
            Some(text.cast::<PyString>().ok()?.to_string_lossy().into_owned())
        });
        let text: String = texts.collect();
        let calls = parts.iter().rev();
        let mut calls = calls.filter_map(|part| as_arguments(part.cast::<PyDict>().ok()?, "input"));
        return Ok(calls.next().unwrap_or(text));
    }
    let messages: Vec<_> = match (object.cast::<PyList>(), object.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().collect(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => return Err(expected()),
    };
    let is_assistants = |message: &Bound<'_, PyAny>| {
        let role = message.cast::<PyDict>().ok()?.get_item("role").ok()??;
        Some(role.cast::<PyString>().ok()?.to_string_lossy() == "assistant")
    };
    let last = messages
        .iter()
        .rfind(|message| is_assistants(message) == Some(true))
        .or(messages.last());
    match last {
        Some(last) if !last.is_instance_of::<PyList>() && !last.is_instance_of::<PyTuple>() => {
            completion(last)
        }
        _ => Err(expected()),
    }
}

/// Whether it may be a message or hold some, so that only its content is wrong.
pub(super) fn has_message(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyDict>()
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
}

/// The Python object of an element of an Arrow table; any other object as it is.
pub(super) fn of_table(object: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let is_known = object.is_instance_of::<PyString>() || has_message(&object);
    if !is_known && object.hasattr("as_py")? {
        return object.call_method0("as_py");
    }
    Ok(object)
}

/// The arguments of a message's last tool call, as JSON.
fn tool_call(message: &Bound<'_, PyDict>) -> Option<String> {
    let calls = message.get_item("tool_calls").ok()??;
    let call = calls.cast::<PyList>().ok()?.iter().next_back()?;
    let call = call.cast::<PyDict>().ok()?;
    let function = call.get_item("function").ok()?;
    let call = function
        .as_ref()
        .map_or(Some(call), |it| it.cast::<PyDict>().ok())?;
    as_arguments(call, "arguments")
}

/// The value under a key as JSON: non-empty text, or an object.
fn as_arguments(call: &Bound<'_, PyDict>, key: &str) -> Option<String> {
    let arguments = call.get_item(key).ok()??;
    if let Ok(text) = arguments.cast::<PyString>() {
        return Some(text.to_string_lossy().into_owned());
    }
    arguments.cast::<PyDict>().ok()?;
    let json = call.py().import("json").ok()?;
    json.call_method1("dumps", (arguments,))
        .ok()?
        .extract()
        .ok()
}
