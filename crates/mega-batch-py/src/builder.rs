//! `ProgramBuilder`: builds a program step by step.

use std::sync::atomic::{AtomicUsize, Ordering};

use arc_dsl::{Callee, Constant, Operand, ProgramBuilder, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::arguments;
use crate::grids::ArgumentPlace;
use crate::programs::{PyProgram, built, check_name};
use crate::values;

/// The result of a step of a `ProgramBuilder`, to be passed to later ones.
#[pyclass(frozen, name = "Variable", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyVariable {
    operand: Operand,
    /// The builder that it belongs to.
    builder: usize,
}

/// Builds a program step by step.
///
/// ```python
/// builder = ProgramBuilder("solve_67a3c6ac")
/// mirrored = builder.call("vmirror", builder.input)
/// program = builder.finish(mirrored)
/// ```
#[pyclass(name = "ProgramBuilder", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyBuilder {
    builder: ProgramBuilder,
    number: usize,
}

#[pymethods]
impl PyBuilder {
    #[new]
    fn new(#[pyo3(from_py_with = arguments::name)] name: &str) -> PyResult<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        check_name(name, &ArgumentPlace::Named("name"))?;
        Ok(Self {
            builder: ProgramBuilder::new(name),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// The input grid.
    #[getter]
    fn input(&self) -> PyVariable {
        self.variable(self.builder.input())
    }

    /// Adds a call of a primitive, by name, or of a Variable that holds a function. Arguments are
    /// Variables, values, and primitives and constants by name.
    #[pyo3(signature = (function, *arguments))]
    fn call(
        &mut self,
        function: &Bound<'_, PyAny>,
        arguments: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<PyVariable> {
        let callee = if let Ok(name) = function.cast::<PyString>() {
            Callee::Primitive(values::primitive(&name.to_cow()?)?)
        } else {
            match self.operand(function, &ArgumentPlace::Named("function"))? {
                Operand::Slot(slot) => Callee::Slot(slot),
                _ => {
                    return Err(PyTypeError::new_err(
                        "function: expected a name or a Variable",
                    ));
                }
            }
        };
        let arguments = arguments.iter().enumerate().map(|(at, argument)| {
            self.operand(argument, &ArgumentPlace::Named("arguments").at(at))
        });
        let arguments: Vec<_> = arguments.collect::<PyResult<_>>()?;
        let made = self.builder.call(callee, arguments).map_err(built)?;
        Ok(self.variable(made))
    }

    /// The program that returns `output`; the builder can still be used.
    fn finish(&self, output: &Bound<'_, PyAny>) -> PyResult<PyProgram> {
        let output = self.operand(output, &ArgumentPlace::Named("output"))?;
        let program = self.builder.clone().finish(output).map_err(built)?;
        Ok(PyProgram::new(program))
    }
}

impl PyBuilder {
    fn variable(&self, operand: Operand) -> PyVariable {
        PyVariable {
            operand,
            builder: self.number,
        }
    }

    fn operand(&self, object: &Bound<'_, PyAny>, place: &ArgumentPlace<'_>) -> PyResult<Operand> {
        if let Ok(variable) = object.cast::<PyVariable>() {
            let variable = variable.get();
            if variable.builder != self.number {
                return Err(place.value_error("a Variable of another ProgramBuilder"));
            }
            return Ok(variable.operand.clone());
        }
        if let Ok(name) = object.cast::<PyString>() {
            let name = name.to_cow()?;
            if let Some(constant) = Constant::from_name(&name) {
                return Ok(Operand::Constant(constant));
            }
        }
        Ok(match values::from_python(object, place)? {
            Value::Primitive(primitive) => Operand::Primitive(primitive),
            value @ (Value::Function(_) | Value::Foreign(_)) => {
                return Err(
                    place.value_error(format_args!("{value} cannot be written in a program"))
                );
            }
            value => Operand::Literal(value),
        })
    }
}
