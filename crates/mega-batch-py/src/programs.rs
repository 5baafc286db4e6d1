//! Programs: read from text and files, built, printed, called, traced and changed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_dsl::generate::Generator;
use arc_dsl::{
    BuildError, Callee, Dialect, Grid, Interpreter, Limits, Operand, Program, ProgramBuilder,
    Sample, Value, parse_file,
};
use mega_batch::inputs;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use xxhash_rust::xxh3::xxh3_128;

use crate::call::Callable;
use crate::errors::{Fault, PyEvalError, program_error, told};
use crate::grids::{self, Place};
use crate::{guard, values};

/// A program of the ARC DSL: a straight line of calls from an input grid to an output.
///
/// Made by `Program.parse`, `parse_programs`, `read_programs` or a `ProgramBuilder`. It has a hash,
/// equals programs that do the same in the same steps under the same names, and can be pickled.
/// Threads may share it.
#[pyclass(frozen, name = "Program", module = "mega_batch")]
#[derive(Debug, Clone)]
pub(crate) struct PyProgram(Arc<Callable>);

impl PyProgram {
    pub(crate) fn new(program: Program) -> Self {
        Self(Arc::new(Callable::new(program)))
    }

    pub(crate) fn program(&self) -> &Program {
        self.0.program()
    }

    /// The one program of a text.
    pub(crate) fn of_text(py: Python<'_>, text: &str) -> PyResult<Self> {
        Self::parse(py, text, "solve", None)
    }
}

#[pymethods]
impl PyProgram {
    /// The one program that a text is: `def NAME(I):`, `def NAME(S, I, C):`, or bare lines that end in
    /// `O = ...`, which are called `name`. Raises ProgramError, a ValueError, with line and column.
    #[staticmethod]
    #[pyo3(signature = (text, *, name = "solve", dialect = None))]
    fn parse(py: Python<'_>, text: &str, name: &str, dialect: Option<&str>) -> PyResult<Self> {
        let dialect = dialect_of(dialect)?;
        let mut programs = parsed(text, dialect, |_| name.to_owned());
        match (programs.pop(), programs.len()) {
            (None, _) => Err(nothing(py, text)),
            (Some(Ok(program)), 0) => Ok(Self::new(program)),
            (Some(Err(_)), 0) if is_path(text) => Err(nothing(py, text)),
            (Some(Err(error)), 0) => Err(program_error(py, &error, "")),
            (Some(_), others) => {
                let message = format!("{} programs: expected one, or parse_programs", others + 1);
                Err(told(py, message, 1, 1, "expected one program"))
            }
        }
    }

    /// The name after `def`.
    #[getter]
    fn name(&self) -> &str {
        self.program().name()
    }

    /// The id of the task that it belongs to: what follows the last underscore of its name.
    #[getter]
    fn task_id(&self) -> &str {
        self.program().task_id()
    }

    /// The file that it was read from, or None.
    #[getter]
    fn source(&self) -> Option<&str> {
        self.program().source()
    }

    /// The line of its `def` in its text, counted from 1; 0 where it was built.
    #[getter]
    fn line(&self) -> u32 {
        self.program().line()
    }

    /// "public" or "typed".
    #[getter]
    fn dialect(&self) -> &'static str {
        self.program().dialect().name()
    }

    /// The type of what it returns, as `grid` or `set<object>`; None where it is not known before it runs.
    #[getter]
    fn r#type(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let program = self.program();
        guard::engine(py, || {
            let form = arc_form::specialise(program).ok()?;
            let compiled = arc_cpu::Compiled::new(&form).ok()?;
            Some(compiled.output().to_string())
        })
    }

    /// 32 hexadecimal digits: the XXH3 hash of its steps, the same whatever the program and its variables
    /// are called, in every run.
    #[getter]
    fn digest(&self) -> PyResult<String> {
        let text = structure(self.program()).map_err(built)?;
        Ok(format!("{:032x}", xxh3_128(text.as_bytes())))
    }

    /// The same program under another name.
    fn with_name(&self, name: &str) -> Self {
        Self::new(self.program().clone().with_name(name))
    }

    /// The number of its steps.
    fn __len__(&self) -> usize {
        self.program().steps().len()
    }

    fn __str__(&self) -> String {
        self.program().to_string()
    }

    fn __repr__(&self) -> String {
        let program = self.program();
        format!(
            "<Program {} of {} steps>",
            program.name(),
            program.steps().len()
        )
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.program().to_string().hash(&mut hasher);
        hasher.finish()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<Self>();
        other.is_ok_and(|other| other.get().program() == self.program())
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String, &'static str))> {
        let read = py
            .import("mega_batch._engine")?
            .getattr("_unpickled_program")?;
        let program = self.program();
        Ok((
            read.unbind(),
            (program.to_string(), program.dialect().name()),
        ))
    }

    /// What it returns for a grid, as a value: an array of int8 for a grid, otherwise None, bool, int,
    /// tuple, frozenset or Function; an EvalError where it fails or reaches a limit.
    ///
    /// The grid is a list of rows, a tuple of rows or an array of integers, 1 to 30 rows and columns of
    /// colours 0 to 9; what is none raises TypeError or ValueError. With `max_steps` or `timeout`
    /// (seconds) the reference interpreter makes the evaluation within these bounds. A program of the
    /// typed dialect gets no train pairs.
    #[pyo3(signature = (grid, *, max_steps = None, timeout = None))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        grid: &Bound<'py, PyAny>,
        max_steps: Option<u64>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let input = grids::grid(grid, &Place::Named("grid"))?;
        let made = if max_steps.is_none() && timeout.is_none() {
            py.detach(|| self.0.evaluate(&input))?
        } else {
            let limits = limits(max_steps, timeout)?;
            py.detach(|| self.0.by_reference(&input, limits))?
        };
        match made {
            Ok(value) => values::to_python(py, &value),
            Err(error) => fault(py, Fault::from(&error)),
        }
    }
}

/// A fault as Python has it.
pub(crate) fn fault(py: Python<'_>, fault: Fault) -> PyResult<Bound<'_, PyAny>> {
    Ok(PyEvalError(fault).into_pyobject(py)?.into_any())
}

/// The default limits but for these.
pub(crate) fn limits(max_steps: Option<u64>, timeout: Option<f64>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    if let Some(max_steps) = max_steps {
        limits.max_steps = max_steps;
    }
    limits.timeout = timeout.map(|it| seconds(it, "timeout")).transpose()?;
    Ok(limits)
}

/// A time in seconds.
pub(crate) fn seconds(seconds: f64, name: &str) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        PyValueError::new_err(format!("{name}: expected a number of seconds, 0 or more"))
    })
}

/// Reads a pickled program; it is in the module's namespace for `pickle` alone.
#[pyfunction]
pub(crate) fn _unpickled_program(py: Python<'_>, text: &str, dialect: &str) -> PyResult<PyProgram> {
    PyProgram::parse(py, text, "solve", Some(dialect))
}

/// The text of a program whose names say nothing.
fn structure(program: &Program) -> Result<String, BuildError> {
    let names: Vec<_> = (0..program.inputs().len())
        .map(|at| format!("i{at}"))
        .collect();
    let mut builder = ProgramBuilder::in_dialect(program.dialect(), "p", names.clone(), 0);
    let inputs = names.iter().filter_map(|name| builder.variable(name));
    let inputs: Vec<_> = inputs.map(Operand::Slot).collect();
    let output = builder.inline(program, &inputs)?;
    Ok(builder.finish(output)?.to_string())
}

fn built(error: BuildError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

pub(crate) fn dialect_of(name: Option<&str>) -> PyResult<Option<Dialect>> {
    let parsed = name.map(str::parse).transpose();
    parsed.map_err(|error: String| PyValueError::new_err(format!("dialect: {error}")))
}

type Parsed = Result<Program, arc_dsl::ParseError>;

fn parsed(text: &str, dialect: Option<Dialect>, name: impl Fn(usize) -> String) -> Vec<Parsed> {
    parse_file(text, dialect, name)
}

/// The error for a text without programs.
fn nothing(py: Python<'_>, text: &str) -> PyErr {
    let expected = "expected `def NAME(I):`, or lines that end in `O = ...`";
    if is_path(text) {
        let message = format!("{text:?} is taken for text: a file is given as a pathlib.Path");
        return told(py, message, 1, 1, expected);
    }
    told(py, format!("no program: {expected}"), 1, 1, expected)
}

/// Whether a text is rather the path of a file.
fn is_path(text: &str) -> bool {
    let path = Path::new(text.trim_end());
    text.lines().count() == 1 && path.extension().is_some_and(|it| it == "py")
}

/// The programs of a text in its order; each that cannot be read is a ProgramError in its place, which is
/// returned and not raised.
///
/// A text without `def` is bare lines up to each `O = ...`; these programs are called `name`, the second
/// one `name2` and so on.
#[pyfunction]
#[pyo3(signature = (text, *, name = "solve", dialect = None))]
pub(crate) fn parse_programs<'py>(
    py: Python<'py>,
    text: &str,
    name: &str,
    dialect: Option<&str>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let dialect = dialect_of(dialect)?;
    let programs = parsed(text, dialect, |number| numbered(name, number));
    let programs = programs.into_iter().map(|program| match program {
        Ok(program) => Ok(PyProgram::new(program).into_pyobject(py)?.into_any()),
        Err(error) => Ok(program_error(py, &error, "")
            .into_value(py)
            .into_bound(py)
            .into_any()),
    });
    programs.collect()
}

fn numbered(name: &str, number: usize) -> String {
    match number {
        1 => name.to_owned(),
        _ => format!("{name}{number}"),
    }
}

/// The path that an object is, where it is one.
pub(crate) fn path(object: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    if object.is_instance_of::<PyString>() || !object.hasattr("__fspath__")? {
        return Ok(None);
    }
    object.extract().map(Some)
}

/// What is wrong with files, the first ten of it.
pub(crate) fn input_errors(errors: &[inputs::InputError]) -> PyErr {
    const SHOWN: usize = 10;
    let mut lines: Vec<_> = errors.iter().take(SHOWN).map(ToString::to_string).collect();
    if let Some(more @ 1..) = errors.len().checked_sub(SHOWN) {
        lines.push(format!("and {more} more"));
    }
    PyValueError::new_err(lines.join("\n"))
}

/// The programs that an object is: see `Programs` in the stubs.
pub(crate) fn all_programs(
    object: &Bound<'_, PyAny>,
    dialect: Option<Dialect>,
) -> PyResult<Vec<Program>> {
    let mut programs = Vec::new();
    add(
        object,
        dialect,
        &Place::Named("programs"),
        None,
        &mut programs,
    )?;
    Ok(programs)
}

const EXPECTED: &str =
    "programs: a Program, text, a pathlib.Path, a dict of text by task, or a list of these";

fn add(
    object: &Bound<'_, PyAny>,
    dialect: Option<Dialect>,
    place: &Place<'_>,
    id: Option<&str>,
    programs: &mut Vec<Program>,
) -> PyResult<()> {
    let py = object.py();
    if let Ok(program) = object.cast::<PyProgram>() {
        programs.push(program.get().program().clone());
        return Ok(());
    }
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_cow()?;
        let before = programs.len();
        let name = |number| match id {
            Some(id) if number == 1 => format!("solve_{id}"),
            Some(id) => format!("solve{number}_{id}"),
            None => numbered("solve", number),
        };
        for program in parsed(&text, dialect, name) {
            programs.push(program.map_err(|error| {
                if is_path(&text) {
                    return place.value_error(nothing(py, &text).value(py));
                }
                program_error(py, &error, &place.to_string())
            })?);
        }
        if programs.len() == before {
            return Err(place.value_error(nothing(py, &text).value(py)));
        }
        return Ok(());
    }
    if let Some(path) = path(object)? {
        let (read, errors) = py.detach(|| inputs::read_programs(&[path], dialect));
        if !errors.is_empty() {
            return Err(input_errors(&errors));
        }
        programs.extend(read);
        return Ok(());
    }
    if id.is_some() {
        return Err(place.expected("text, a Program or a path", object));
    }
    if let Ok(by_task) = object.cast::<PyDict>() {
        for (key, value) in by_task.iter() {
            let Ok(key) = key.cast::<PyString>() else {
                return Err(place.expected("the id of a task as key", &key));
            };
            let key = key.to_cow()?;
            add(
                &value,
                dialect,
                &Place::Key(place, &key),
                Some(&key),
                programs,
            )?;
        }
        return Ok(());
    }
    if matches!(place, Place::At(..)) || object.extract::<f64>().is_ok() {
        return Err(place.expected(EXPECTED, object));
    }
    let Ok(items) = object.try_iter() else {
        return Err(place.expected(EXPECTED, object));
    };
    for (at, item) in items.enumerate() {
        add(&item?, dialect, &place.at(at), None, programs)?;
    }
    Ok(())
}

/// The programs of files, folders and texts; raises ValueError where something cannot be read.
#[pyfunction]
#[pyo3(signature = (programs, *, dialect = None))]
pub(crate) fn read_programs(
    programs: &Bound<'_, PyAny>,
    dialect: Option<&str>,
) -> PyResult<Vec<PyProgram>> {
    let programs = all_programs(programs, dialect_of(dialect)?)?;
    Ok(programs.into_iter().map(PyProgram::new).collect())
}

/// A step of a trace: its line, the variable that it sets, the type of its value where that has one, and
/// the value or the EvalError with which the program ended there.
#[pyclass(frozen, get_all, name = "TraceStep", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyTraceStep {
    /// The line in the text of the program.
    line: u32,
    /// The variable.
    name: String,
    /// What is called, as text.
    call: String,
    /// The type of the value, or None.
    r#type: Option<String>,
    /// The value, or an EvalError.
    value: Py<PyAny>,
}

#[pymethods]
impl PyTraceStep {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let value = self.value.bind(py).repr()?;
        let ty = self.r#type.as_deref().unwrap_or("?");
        Ok(format!(
            "line {}: {} = {}: {ty} = {value}",
            self.line, self.name, self.call
        ))
    }
}

/// Each step of a program on a grid, by the reference interpreter: value and type, up to the step that
/// fails, whose value is an EvalError.
#[pyfunction]
#[pyo3(signature = (program, grid, *, max_steps = None, timeout = None))]
pub(crate) fn trace(
    py: Python<'_>,
    program: &PyProgram,
    grid: &Bound<'_, PyAny>,
    max_steps: Option<u64>,
    timeout: Option<f64>,
) -> PyResult<Vec<PyTraceStep>> {
    let input = grids::grid(grid, &Place::Named("grid"))?;
    let limits = limits(max_steps, timeout)?;
    let program = program.program();
    let traced = guard::engine(py, || {
        let mut interpreter = Interpreter::new(limits);
        interpreter.trace(program, inputs_of(program, input))
    });
    let (made, result) = traced?;
    let values = made.iter().skip(program.inputs().len());
    let mut traced = Vec::with_capacity(program.steps().len());
    for (step, value) in program.steps().iter().zip(values) {
        traced.push(traced_step(py, program, step, Ok(value))?);
    }
    if let Err(error) = result
        && let Some(step) = program.steps().get(traced.len())
    {
        traced.push(traced_step(py, program, step, Err(Fault::from(&error)))?);
    }
    Ok(traced)
}

fn inputs_of(program: &Program, input: Grid) -> Vec<Value> {
    match program.inputs() {
        [_] => vec![input.into()],
        _ => Sample::alone(input.into()).into_inputs().into(),
    }
}

fn traced_step(
    py: Python<'_>,
    program: &Program,
    step: &arc_dsl::Step,
    value: Result<&Value, Fault>,
) -> PyResult<PyTraceStep> {
    let variable = |at: usize| program.variables().get(at).map_or("?", String::as_str);
    let operand = |operand: &Operand| match operand {
        Operand::Slot(slot) => variable(slot.index()).to_owned(),
        Operand::Primitive(primitive) => primitive.to_string(),
        Operand::Constant(constant) => constant.to_string(),
        Operand::Literal(value) => value.to_string(),
    };
    let callee = match step.callee {
        Callee::Primitive(primitive) => primitive.name().to_owned(),
        Callee::Typed(primitive) => primitive.name().to_owned(),
        Callee::Slot(slot) => variable(slot.index()).to_owned(),
    };
    let arguments: Vec<_> = step.arguments.iter().map(operand).collect();
    let r#type = match value {
        Ok(value) => arc_form::Type::of(value).map(|ty| ty.to_string()),
        Err(_) => None,
    };
    Ok(PyTraceStep {
        line: step.line,
        name: variable(step.target.index()).to_owned(),
        call: format!("{callee}({})", arguments.join(", ")),
        r#type,
        value: match value {
            Ok(value) => values::to_python(py, value)?.unbind(),
            Err(error) => fault(py, error)?.unbind(),
        },
    })
}

/// Mutants of a program, the same for the same seed on every machine: programs with one to three changes
/// each. `kind` is "mutant", any change, or "variation", changes that keep types.
#[pyfunction]
#[pyo3(signature = (program, seed, *, count = 1, kind = "mutant"))]
pub(crate) fn mutate(
    py: Python<'_>,
    program: &PyProgram,
    seed: u64,
    count: usize,
    kind: &str,
) -> PyResult<Vec<PyProgram>> {
    const MOST: usize = 10_000_000;
    let is_mutant = match kind {
        "mutant" => true,
        "variation" => false,
        _ => {
            let message = format!("kind: expected \"mutant\" or \"variation\", found {kind:?}");
            return Err(PyValueError::new_err(message));
        }
    };
    let program = program.program();
    if program.dialect() != Dialect::Public {
        return Err(PyValueError::new_err(
            "program: mutants are made of the public dialect alone",
        ));
    }
    if count > MOST {
        return Err(PyValueError::new_err(format!(
            "count: expected {MOST} at most"
        )));
    }
    guard::engine(py, || {
        let mut generator = Generator::new(seed);
        let mutants = (0..count).map(|_| {
            PyProgram::new(if is_mutant {
                generator.mutant(program)
            } else {
                generator.variation(program)
            })
        });
        mutants.collect()
    })
}

/// What a step of a `ProgramBuilder` gives, to be passed to later ones.
#[pyclass(frozen, name = "Variable", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyVariable {
    operand: Operand,
    /// The builder that it is of.
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
    fn new(name: &str) -> Self {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        Self {
            builder: ProgramBuilder::new(name),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        }
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
            match self.operand(function, &Place::Named("function"))? {
                Operand::Slot(slot) => Callee::Slot(slot),
                _ => {
                    return Err(PyTypeError::new_err(
                        "function: expected a name or a Variable",
                    ));
                }
            }
        };
        let arguments = arguments
            .iter()
            .enumerate()
            .map(|(at, argument)| self.operand(argument, &Place::Named("arguments").at(at)));
        let arguments: Vec<_> = arguments.collect::<PyResult<_>>()?;
        let made = self.builder.call(callee, arguments).map_err(built)?;
        Ok(self.variable(made))
    }

    /// The program that returns `output`; the builder can go on.
    fn finish(&self, output: &Bound<'_, PyAny>) -> PyResult<PyProgram> {
        let output = self.operand(output, &Place::Named("output"))?;
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

    fn operand(&self, object: &Bound<'_, PyAny>, place: &Place<'_>) -> PyResult<Operand> {
        if let Ok(variable) = object.cast::<PyVariable>() {
            let variable = variable.get();
            if variable.builder != self.number {
                return Err(place.value_error("a Variable of another ProgramBuilder"));
            }
            return Ok(variable.operand.clone());
        }
        if let Ok(name) = object.cast::<PyString>() {
            let name = name.to_cow()?;
            if let Some(constant) = arc_dsl::Constant::from_name(&name) {
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
