//! Conversion of the DSL's values to Python and back.

use std::hash::{Hash, Hasher};

use arc_dsl::{
    Constant, Container, FunctionKind, Grid, Interpreter, Limits, MAX_INT, Primitive, Value,
};
use arc_text::parse_programs;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};

use crate::grids::{self, ArgumentPlace};
use crate::guard;
use crate::pickle::{Reduced, reduced};

/// The depth to which nested containers are read.
const MOST_DEPTH: usize = 20;

/// A function of the DSL as a value: a primitive, or the result of `compose`, `fork` and the like.
///
/// `str(function)` is its text. It is hashable, equals functions with the same text, and can be pickled unless a grid
/// is bound in it.
#[pyclass(frozen, eq, hash, name = "Function", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyFunction(Value);

impl PartialEq for PyFunction {
    fn eq(&self, other: &Self) -> bool {
        // In the DSL, as in Python, a function equals only itself.
        self.0.to_string() == other.0.to_string()
    }
}

impl Hash for PyFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_string().hash(state);
    }
}

/// Whether a value contains a grid, whose text is that of a tuple.
fn has_grid(value: &Value) -> bool {
    match value {
        Value::Grid(_) => true,
        Value::Function(function) => match function.kind() {
            FunctionKind::Compose { outer, inner } => has_grid(outer) || has_grid(inner),
            FunctionKind::Chain { h, g, f } => [h, g, f].into_iter().any(has_grid),
            FunctionKind::Fork { outer, a, b } => [outer, a, b].into_iter().any(has_grid),
            FunctionKind::Matcher { function, target } => has_grid(function) || has_grid(target),
            FunctionKind::LBind {
                function, fixed, ..
            }
            | FunctionKind::RBind {
                function, fixed, ..
            } => has_grid(function) || has_grid(fixed),
            FunctionKind::Power { function, .. } => has_grid(function),
        },
        _ => value.values().iter().any(has_grid),
    }
}

impl PyFunction {
    /// The function with this text.
    pub(crate) fn unpickled(text: String) -> PyResult<Self> {
        let none = || PyValueError::new_err(format!("Function: {text:?}"));
        if let Some(primitive) = Primitive::from_name(&text) {
            return Ok(Self(Value::Primitive(primitive)));
        }
        let program = format!("def function(I):\n    return {text}\n");
        let Some(Ok(program)) = parse_programs(&program).pop() else {
            return Err(none());
        };
        let limits = Limits::default();
        let input = Grid::filled(1, 1, 0);
        let made = guard::caught(|| Interpreter::new(limits).run(&program, input))?;
        match made {
            Ok(made @ (Value::Primitive(_) | Value::Function(_))) => Ok(Self(made)),
            _ => Err(none()),
        }
    }
}

#[pymethods]
impl PyFunction {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let text = self.0.to_string();
        if has_grid(&self.0) || Self::unpickled(text.clone()).ok().as_ref() != Some(self) {
            let message =
                format!("{text}: a function that its text does not say cannot be pickled");
            return Err(PyTypeError::new_err(message));
        }
        reduced(py, "Function", text)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Function({:?})", self.0.to_string())
    }
}

/// Converts a value to Python: a grid to an array of `int8`, a location to `(row, column)`, a cell to `(colour, (row,
/// column))`, tuples to tuples, sets to frozensets, functions to [`PyFunction`].
///
/// The frozensets iterate as the program's sets do wherever a simple way to build them gives that; it is not promised.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Grid(grid) => Ok(grids::array(py, grid).into_any()),
        _ => inner(py, value),
    }
}

/// A value inside another, which must be hashable, so that a grid becomes a tuple of tuples.
fn inner<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Nothing => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::Loc(loc) => (loc.i, loc.j).into_pyobject(py)?.into_any(),
        Value::Cell(cell) => {
            let loc = (cell.loc.i, cell.loc.j);
            (cell.colour, loc).into_pyobject(py)?.into_any()
        }
        Value::Grid(grid) => rows(py, grid)?,
        Value::Tuple(elements) => PyTuple::new(py, all(py, elements.as_slice())?)?.into_any(),
        Value::Set(_) | Value::Indices(_) | Value::Object(_) => {
            let elements = value.as_container().into_iter().flat_map(Container::iter);
            let elements = elements.map(|element| inner(py, &element));
            let elements = elements.collect::<PyResult<Vec<_>>>()?;
            frozenset(py, &elements, value)?.into_any()
        }
        Value::Primitive(_) | Value::Function(_) | Value::Foreign(_) => {
            PyFunction(value.clone()).into_pyobject(py)?.into_any()
        }
    })
}

/// The set of these elements that iterates over them in this order, which is that of `value`, if a simple way to build
/// one gives that: they are added one by one, to a set or a dictionary that is copied if need be, or in another order.
fn frozenset<'py>(
    py: Python<'py>,
    elements: &[Bound<'py, PyAny>],
    value: &Value,
) -> PyResult<Bound<'py, PyFrozenSet>> {
    let is_in_order = |set: &Bound<'py, PyFrozenSet>| {
        let mut pairs = set.iter().zip(elements);
        pairs.all(|(found, wanted)| found.is(wanted))
    };
    let copied = |of: Bound<'py, PyAny>| {
        let set = py.get_type::<PyFrozenSet>().call1((of,))?;
        PyResult::Ok(set.cast_into::<PyFrozenSet>()?)
    };
    let ways: [&dyn Fn() -> PyResult<Bound<'py, PyFrozenSet>>; 3] = [
        &|| PyFrozenSet::new(py, elements),
        &|| copied(PySet::new(py, elements)?.into_any()),
        &|| {
            let keys = py.get_type::<PyDict>();
            copied(keys.call_method1("fromkeys", (elements.to_vec(),))?)
        },
    ];
    for way in ways {
        let set = way()?;
        if is_in_order(&set) {
            return Ok(set);
        }
    }
    let in_other_order = value.adding_order();
    PyFrozenSet::new(py, in_other_order.iter().map(|at| &elements[*at]))
}

fn all<'py>(py: Python<'py>, values: &[Value]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    values.iter().map(|value| inner(py, value)).collect()
}

fn rows<'py>(py: Python<'py>, grid: &Grid) -> PyResult<Bound<'py, PyAny>> {
    let rows: PyResult<Vec<_>> = grid.rows().map(|row| PyTuple::new(py, row)).collect();
    Ok(PyTuple::new(py, rows?)?.into_any())
}

/// Converts a Python object to a value: numbers, tuples, sets, grids as arrays, primitives and constants by name, and
/// functions. Sets are as a program reads them from the text of the value, since that is how they get into one.
pub(crate) fn from_python(object: &Bound<'_, PyAny>, place: &ArgumentPlace<'_>) -> PyResult<Value> {
    Ok(read(object, place, MOST_DEPTH)?.into_literal())
}

fn read(object: &Bound<'_, PyAny>, place: &ArgumentPlace<'_>, depth: usize) -> PyResult<Value> {
    let Some(depth) = depth.checked_sub(1) else {
        let message = format!("nested more than {MOST_DEPTH} deep");
        return Err(place.value_error(message));
    };
    if object.is_none() {
        return Ok(Value::Nothing);
    }
    if let Ok(truth) = object.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if let Ok(name) = object.cast::<PyString>() {
        return named(&name.to_cow()?).map_err(|message| place.value_error(message));
    }
    if let Ok(function) = object.cast::<PyFunction>() {
        return Ok(function.get().0.clone());
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        let values = tuple.iter().enumerate();
        let values = values.map(|(at, value)| read(&value, &place.at(at), depth));
        return Ok(Value::tuple(values.collect::<PyResult<_>>()?));
    }
    if object.is_instance_of::<PyFrozenSet>() || object.is_instance_of::<PySet>() {
        let values = object.try_iter()?;
        let values = values.map(|value| read(&value?, place, depth));
        return Ok(Value::set(values.collect::<PyResult<Vec<_>>>()?));
    }
    let is_integer = object.is_instance_of::<PyInt>()
        || !object.is_instance_of::<PyList>()
            && object.hasattr("__index__")?
            && !object.hasattr("__len__")?;
    if is_integer {
        let number = object.extract::<i64>().ok();
        let number = number.filter(|number| number.unsigned_abs() <= MAX_INT as u64);
        return match number {
            Some(number) => Ok(Value::Int(number as i32)),
            None => Err(place.value_error(format_args!(
                "integer out of range: expected -{MAX_INT} to {MAX_INT}"
            ))),
        };
    }
    if object.is_instance_of::<PyList>() || object.hasattr("__array__")? {
        return Ok(Value::from(grids::grid(object, place)?));
    }
    Err(place.expected(
        "a value: an integer, a tuple, a set, a grid, or the name of a primitive or a constant",
        object,
    ))
}

/// The primitive or constant with this name.
fn named(name: &str) -> Result<Value, String> {
    if let Some(primitive) = Primitive::from_name(name) {
        return Ok(Value::Primitive(primitive));
    }
    match Constant::from_name(name) {
        Some(constant) => Ok(constant.value().clone()),
        None => Err(format!("{name:?} is no primitive and no constant")),
    }
}

/// The primitive with this name.
pub(crate) fn primitive(name: &str) -> PyResult<Primitive> {
    Primitive::from_name(name)
        .ok_or_else(|| PyValueError::new_err(format!("{name:?} is no primitive")))
}
