//! Arguments that are numbers, times, flags and words: an error names the argument and says what was expected.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use arc_dsl::{Dialect, Grid};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyString};

use crate::grids::{ArgumentPlace, grid};

/// The end of a range without an upper bound.
pub(crate) const ANY: i128 = u64::MAX as i128;

/// An integer in this range; a bool is not one.
pub(crate) fn whole<T: TryFrom<i128>>(
    name: &str,
    value: &Bound<'_, PyAny>,
    within: RangeInclusive<i128>,
) -> PyResult<T> {
    let place = ArgumentPlace::Named(name);
    let found = match value.extract::<i128>() {
        Ok(found) if !value.is_instance_of::<PyBool>() => Some(found),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => None,
        _ => return Err(place.expected("an integer", value)),
    };
    let known = found.filter(|found| within.contains(found));
    known
        .and_then(|known| T::try_from(known).ok())
        .ok_or_else(|| {
            let (least, most) = within.into_inner();
            let found = found.map_or_else(|| "one that is far off".to_owned(), |it| it.to_string());
            if most == ANY && found.starts_with('-') {
                return place.value_error(format_args!("expected {least} or more, found {found}"));
            }
            place.value_error(format_args!("expected {least} to {most}, found {found}"))
        })
}

/// A number of seconds; `None` for no limit, which includes infinity and times that nobody would wait for.
pub(crate) fn seconds(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
    /// A hundred years.
    const MOST: f64 = 3.2e9;
    let place = ArgumentPlace::Named(name);
    if value.is_none() {
        return Ok(None);
    }
    let found = match value.extract::<f64>() {
        Ok(found) if !value.is_instance_of::<PyBool>() => found,
        // An integer too large for a float.
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) && value.gt(0)? => {
            return Ok(None);
        }
        _ => return Err(place.expected("a number of seconds", value)),
    };
    if found >= MOST {
        return Ok(None);
    }
    Duration::try_from_secs_f64(found).map(Some).map_err(|_| {
        place.value_error(format_args!(
            "expected a number of seconds, 0 or more, found {found}"
        ))
    })
}

/// True or False.
pub(crate) fn flag(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let expected = |_| ArgumentPlace::Named(name).expected("True or False", value);
    value.extract().map_err(expected)
}

/// A text.
pub(crate) fn text<'a>(name: &str, value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    let place = ArgumentPlace::Named(name);
    let Ok(text) = value.cast::<PyString>() else {
        return Err(place.expected("a string", value));
    };
    text.to_str()
        .map_err(|_| place.value_error("half of a surrogate pair, which is no character"))
}

/// The elements of a list or of any other iterable; `what` describes it.
pub(crate) fn list<'py>(
    name: &str,
    what: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let is_text = value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>();
    match value.try_iter() {
        Ok(elements) if !is_text => elements.collect(),
        _ => Err(ArgumentPlace::Named(name).expected(what, value)),
    }
}

/// The grids in a list.
pub(crate) fn grids(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<Grid>> {
    let place = ArgumentPlace::Named(name);
    let grids = list(name, "a list of grids", value)?;
    let grids = grids.iter().enumerate();
    grids.map(|(at, it)| grid(it, &place.at(at))).collect()
}

/// What is read of a value, or None of None.
fn given<'a, 'py, T>(
    value: &'a Bound<'py, PyAny>,
    read: impl FnOnce(&'a Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Option<T>> {
    (!value.is_none()).then(|| read(value)).transpose()
}

/// A list of integers, or None.
fn integers(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<i64>>> {
    given(value, |value| {
        let place = ArgumentPlace::Named(name);
        let elements = list(name, "a list of integers", value)?;
        let elements = elements.iter().enumerate().map(|(at, element)| {
            let number = element.extract();
            number.map_err(|_| place.at(at).expected("an integer", element))
        });
        elements.collect()
    })
}

/// A path of a file, or None.
fn path_of(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    let expected = |_| ArgumentPlace::Named(name).expected("a path", value);
    given(value, |value| value.extract().map_err(expected))
}

/// The dialect of this name.
pub(crate) fn dialect(value: &Bound<'_, PyAny>) -> PyResult<Option<Dialect>> {
    given(value, |value| {
        let parsed = text("dialect", value)?.parse();
        parsed.map_err(|error: String| PyValueError::new_err(format!("dialect: {error}")))
    })
}

/// A function, or None.
fn function(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    given(value, |value| {
        let function = value.is_callable().then(|| value.clone().unbind());
        function.ok_or_else(|| PyTypeError::new_err(format!("{name}: expected a function")))
    })
}

/// `by` of `search`.
pub(crate) fn by_function(value: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    function("by", value)
}

/// Defines functions that read arguments of these names, each by the function before it.
macro_rules! arguments {
    ($($read:ident -> $type:ty: $($name:ident),+;)+) => {
        $($(pub(crate) fn $name(value: &Bound<'_, PyAny>) -> PyResult<$type> {
            $read(stringify!($name), value)
        })+)+
    };
}

arguments! {
    flag -> bool: by_reference, drop_foreign, keep_constant, keep_duplicates, keep_foreign, keep_identity, keeps_failing,
        primitives, resume, train_only, unique;
    seconds -> Option<Duration>: time, time_limit, time_per_task, timeout;
    function -> Option<Py<PyAny>>: on_results, on_task;
    integers -> Option<Vec<i64>>: colours, order;
    path_of -> Option<PathBuf>: checkpoint, path, submission;
}

/// Defines functions that read texts of these names.
macro_rules! texts {
    ($($name:ident),+) => {
        $(pub(crate) fn $name<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
            text(stringify!($name), value)
        })+
    };
}

texts!(by, functions, inputs, kind, name, symmetry);

/// Defines functions that read integers of these names, in a range.
macro_rules! integers {
    ($($name:ident: $type:ty = $within:expr),+;) => {
        $(pub(crate) fn $name(value: &Bound<'_, PyAny>) -> PyResult<$type> {
            whole(stringify!($name), value, $within)
        })+
    };
}

integers! {
    chunk: usize = 1..=ANY, count: usize = 0..=10_000_000, easy_nodes: usize = 0..=ANY, fill: i8 = -128..=127,
    mark: u64 = 0..=ANY, max_bytes: usize = 0..=ANY, max_steps: u64 = 0..=ANY, nodes: usize = 0..=ANY,
    scene_side: usize = 0..=ANY, seed: u64 = 0..=ANY, side: usize = 1..=1024, test: usize = 0..=ANY,
    train: usize = 0..=ANY;
}

/// A shard: its index, and how many there are.
pub(crate) fn shard(value: &Bound<'_, PyAny>) -> PyResult<(u64, u64)> {
    let expected = "a tuple of two numbers";
    let [number, of] = &list("shard", expected, value)?[..] else {
        return Err(ArgumentPlace::Named("shard").expected(expected, value));
    };
    let number = whole("shard[0]", number, 0..=ANY)?;
    Ok((number, whole("shard[1]", of, 0..=ANY)?))
}

/// Arguments for which None means a default.
pub(crate) mod optional {
    use pyo3::prelude::*;

    use super::{ANY, given, text, whole};

    macro_rules! arguments {
        (texts: $($text:ident),+; whole: $($whole:ident: $type:ty = $within:expr),+;) => {
            $(pub(crate) fn $text<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a str>> {
                given(value, |value| text(stringify!($text), value))
            })+
            $(pub(crate) fn $whole(value: &Bound<'_, PyAny>) -> PyResult<Option<$type>> {
                given(value, |value| whole(stringify!($whole), value, $within))
            })+
        };
    }

    arguments! {
        texts: language;
        whole: attempts: usize = 0..=ANY, calls: u64 = 0..=ANY, candidate: u64 = 0..=ANY, count: u64 = 0..=ANY,
            max_bytes: usize = 0..=ANY, max_side: usize = 0..=ANY, max_steps: u64 = 0..=ANY, nodes: usize = 0..=ANY;
    }
}

/// The path in an object, if it is one.
pub(crate) fn path_in(object: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    if object.is_instance_of::<PyString>() || !object.hasattr("__fspath__")? {
        return Ok(None);
    }
    object.extract().map(not_standard_input).map(Some)
}

/// The path of a file, even if its name means the standard input for the command.
pub(crate) fn not_standard_input(path: PathBuf) -> PathBuf {
    if path.as_os_str() == "-" {
        PathBuf::from("./-")
    } else {
        path
    }
}
