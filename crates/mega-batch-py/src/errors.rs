//! Errors as Python sees them: programs that fail are values, text that is not a program is an exception.

use std::hash::{Hash, Hasher};

use arc_dsl::{ErrorKind, EvalError, Primitive};
use arc_text::ParseError;
use mega_batch::inputs::InputError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use python_pool::{Failure, FailureKind};

use crate::pickle::{Reduced, reduced};

pyo3::create_exception!(
    mega_batch,
    ProgramError,
    PyValueError,
    "Text that is no program. `line` and `column` are counted from 1, `reason` says what was expected."
);

/// The names of the kinds of errors; the index of each is its code in `Results.error_kinds`, where 0 is no error.
pub(crate) const KINDS: [&str; 19] = [
    "none",
    "type",
    "element",
    "not_callable",
    "argument_count",
    "empty",
    "no_match",
    "out_of_range",
    "incomparable",
    "division_by_zero",
    "recursion",
    "zero_step",
    "limit",
    "internal",
    "bail_out",
    "exception",
    "not_a_grid",
    "forbidden",
    "crashed",
];

/// The code of a kind.
fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Type { .. } => 1,
        ErrorKind::Element { .. } => 2,
        ErrorKind::NotCallable { .. } => 3,
        ErrorKind::ArgumentCount { .. } => 4,
        ErrorKind::Empty => 5,
        ErrorKind::NoMatch => 6,
        ErrorKind::OutOfRange => 7,
        ErrorKind::Incomparable(..) => 8,
        ErrorKind::DivisionByZero => 9,
        ErrorKind::Recursion(_) => 10,
        ErrorKind::ZeroStep => 11,
        ErrorKind::Limit(_) => 12,
    }
}

/// The words for limits, by [`Limit`](arc_dsl::Limit), those of free Python last.
const LIMITS: [&str; 10] = [
    "steps", "cells", "elements", "memory", "nesting", "integer", "colour", "time", "cpu", "wall",
];

/// Kind, line, primitive, limit and message.
pub(crate) type PickledError = (String, u32, Option<String>, Option<String>, String);

/// Why a program returned no value: a value, not an exception.
///
/// `kind` is one of `ERROR_KINDS`; `line` is counted from 1 in the text of the program, 0 if the error has no line;
/// `primitive` is the innermost one that failed, or None; `limit` is the limit that was reached if `kind` is "limit":
/// "steps", "cells", "elements", "memory", "nesting", "integer", "colour" or "time", of free Python "cpu" or "wall".
#[pyclass(frozen, eq, hash, name = "EvalError", module = "mega_batch")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PyEvalError {
    code: u8,
    /// The line of the step that failed, counted from 1; 0 if there is none.
    #[pyo3(get)]
    pub(crate) line: u32,
    pub(crate) primitive: Option<Primitive>,
    /// The limit that was reached, if `kind` is "limit".
    #[pyo3(get)]
    limit: Option<&'static str>,
    /// Line, primitive and description, in one line.
    #[pyo3(get)]
    pub(crate) message: String,
}

impl Hash for PyEvalError {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The message covers all the rest.
        self.message.hash(state);
    }
}

impl From<&EvalError> for PyEvalError {
    fn from(error: &EvalError) -> Self {
        Self {
            code: code(error.kind),
            line: error.line,
            primitive: error.primitive,
            limit: error.limit().map(|limit| LIMITS[limit as usize]),
            message: error.to_string(),
        }
    }
}

impl PyEvalError {
    /// The engine itself failed.
    pub(crate) fn internal(message: &str) -> Self {
        Self::told(13, format!("internal error: {message}"))
    }

    /// A batt cannot evaluate the call, and use of the reference was not allowed.
    pub(crate) fn bail_out(message: &str) -> Self {
        Self::told(14, format!("bailed out: {message}"))
    }

    /// Why a program in free Python returned no grid.
    pub(crate) fn python(failure: &Failure) -> Self {
        let code = match failure.kind {
            FailureKind::Exception => 15,
            FailureKind::NotAGrid => 16,
            FailureKind::Forbidden => 17,
            FailureKind::Crashed | FailureKind::NoProgram => 18,
            FailureKind::Steps | FailureKind::Memory | FailureKind::Cpu | FailureKind::Wall => 12,
        };
        Self {
            line: failure.line,
            limit: failure.limit(),
            ..Self::told(code, failure.to_string())
        }
    }

    fn told(code: u8, message: String) -> Self {
        Self {
            code,
            line: 0,
            primitive: None,
            limit: None,
            message,
        }
    }

    pub(crate) fn unpickled(
        (kind, line, primitive, bound, message): PickledError,
    ) -> PyResult<Self> {
        let code = KINDS.iter().position(|known| *known == kind);
        let bound = bound.map(|bound| LIMITS.into_iter().find(|known| *known == bound));
        let primitive = primitive.map(|name| Primitive::from_name(&name));
        match (code, bound, primitive) {
            (Some(code), None | Some(Some(_)), None | Some(Some(_))) => Ok(Self {
                code: code as u8,
                line,
                primitive: primitive.flatten(),
                limit: bound.flatten(),
                message,
            }),
            _ => Err(PyValueError::new_err(
                "EvalError: another version of mega_batch pickled this",
            )),
        }
    }

    /// The code of its kind.
    pub(crate) fn code(&self) -> u8 {
        self.code
    }
}

#[pymethods]
impl PyEvalError {
    /// The kind of error: one of `ERROR_KINDS`.
    #[getter]
    fn kind(&self) -> &'static str {
        KINDS[usize::from(self.code)]
    }

    /// The innermost primitive that failed.
    #[getter]
    fn primitive(&self) -> Option<&'static str> {
        self.primitive.map(Primitive::name)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let state = (
            self.kind(),
            self.line,
            self.primitive(),
            self.limit,
            &self.message,
        );
        reduced(py, "EvalError", state)
    }

    fn __str__(&self) -> &str {
        &self.message
    }

    fn __repr__(&self) -> String {
        format!("EvalError({:?})", self.message)
    }
}

/// The exception for text that is not a program; `place` says which text it is if there are several.
pub(crate) fn program_error(py: Python<'_>, error: &ParseError, place: &str) -> PyErr {
    let colon = if place.is_empty() { "" } else { ": " };
    told(
        py,
        format!("{place}{colon}{error}"),
        error.line,
        error.column,
        &error.kind.to_string(),
    )
}

/// An exception with its attributes.
pub(crate) fn told(py: Python<'_>, message: String, line: u32, column: u32, reason: &str) -> PyErr {
    let error = ProgramError::new_err(message);
    let value = error.value(py);
    let set = value
        .setattr("line", line)
        .and_then(|()| value.setattr("column", column))
        .and_then(|()| value.setattr("reason", reason));
    set.err().unwrap_or(error)
}

/// The errors of files, at most the first ten.
pub(crate) fn input_errors(errors: &[InputError]) -> PyErr {
    const SHOWN: usize = 10;
    let mut lines: Vec<_> = errors.iter().take(SHOWN).map(ToString::to_string).collect();
    if let Some(more @ 1..) = errors.len().checked_sub(SHOWN) {
        lines.push(format!("and {more} more"));
    }
    PyValueError::new_err(lines.join("\n"))
}
