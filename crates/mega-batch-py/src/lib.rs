//! The Python package `mega_batch`: the library of the same name for Python, without the command.
//!
//! This crate is the module `mega_batch._engine`; the Python code around it, stubs and tests are in `python/` and
//! `tests/`. Programs that fail are values here too; invalid arguments raise `TypeError` or `ValueError`, with the
//! place; a panic of the engine is a `RuntimeError`.
//!
//! Modules, by their role for Python:
//!
//! - input: `grids`, `values`, `tasks`, `programs`, `options`;
//! - a single program: `call`, `trace`, `builder`; runs: `engine` with `completions`, `python_pool`, `coordinator`, `shards`, `progress`;
//! - output: `results`, `report`, `errors`, `grids::show`;
//! - searches: `batt`, `search`, `enumerate`, `behaviour`; training: `synth`, `feed`;
//! - shared: `arguments`, `guard` (panics as exceptions), `pickle` and `unpickle`, `devices`.

#![allow(
    clippy::needless_pass_by_value,
    reason = "arguments of functions that Python calls are owned"
)]
#![allow(
    clippy::doc_markdown,
    reason = "these are docstrings, in which the names of Python stand as they are"
)]

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

mod arguments;
mod batt;
mod behaviour;
mod builder;
mod call;
mod callbacks;
mod coordinator;
mod devices;
mod engine;
mod enumerate;
mod errors;
mod feed;
mod grids;
mod guard;
mod options;
mod pickle;
mod programs;
mod progress;
mod python_pool;
mod report;
mod results;
mod search;
mod shards;
mod synth;
mod tasks;
mod trace;
mod unpickle;
mod values;

/// Evaluations allocate small things by the million, which this allocator does in half the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// An error that cannot happen, as an exception.
fn internal(message: &str) -> PyErr {
    PyRuntimeError::new_err(format!("internal error of the engine, a bug: {message}"))
}

/// A class of the package that is written in Python: plain data.
fn python<'py>(py: Python<'py>, class: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("mega_batch")?.getattr(class)
}

/// The module.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", mega_batch::VERSION)?;
    module.add("ERROR_KINDS", PyTuple::new(py, errors::KINDS)?)?;
    module.add("VERDICTS", PyTuple::new(py, results::VERDICTS)?)?;
    let primitives = arc_dsl::Primitive::ALL
        .iter()
        .map(|primitive| primitive.name());
    module.add(
        "PRIMITIVES",
        PyTuple::new(py, primitives.collect::<Vec<_>>())?,
    )?;
    let table = arc_dsl::Primitive::ALL.iter().map(|primitive| {
        let parameters = primitive.parameters().iter();
        let parameters: Vec<_> = parameters.map(|(name, ty)| (*name, ty.name())).collect();
        let (name, family) = (primitive.name(), primitive.family());
        (
            name,
            family,
            primitive.doc(),
            parameters,
            primitive.returns().name(),
        )
    });
    module.add("_SIGNATURES", table.collect::<Vec<_>>())?;
    module.add("PALETTE", PyTuple::new(py, arc_dsl::PALETTE)?)?;
    module.add("ProgramError", py.get_type::<errors::ProgramError>())?;
    module.add_class::<errors::PyEvalError>()?;
    module.add_class::<values::PyFunction>()?;
    module.add_class::<grids::show::PyGrid>()?;
    module.add_class::<tasks::PyPair>()?;
    module.add_class::<tasks::PyTask>()?;
    module.add_class::<programs::PyProgram>()?;
    module.add_class::<builder::PyBuilder>()?;
    module.add_class::<builder::PyVariable>()?;
    module.add_class::<report::PySubject>()?;
    module.add_class::<results::PyErrors>()?;
    module.add_class::<engine::PyEngine>()?;
    module.add_class::<engine::completions::PyEvaluated>()?;
    module.add_class::<python_pool::PyPythonPool>()?;
    module.add_class::<coordinator::PyCoordinator>()?;
    module.add_class::<shards::PyPackedBatch>()?;
    module.add_class::<batt::PyBatt>()?;
    module.add_class::<batt::PyNode>()?;
    module.add_class::<batt::PyPushed>()?;
    module.add_class::<synth::PySynthesis>()?;
    module.add_class::<feed::PyPool>()?;
    module.add_function(wrap_pyfunction!(programs::parse_programs, module)?)?;
    module.add_function(wrap_pyfunction!(programs::read_programs, module)?)?;
    module.add_function(wrap_pyfunction!(
        engine::completions::extract_programs,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(trace::trace, module)?)?;
    module.add_function(wrap_pyfunction!(programs::mutate, module)?)?;
    module.add_function(wrap_pyfunction!(unpickle::_unpickled, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::read_tasks, module)?)?;
    module.add_function(wrap_pyfunction!(behaviour::dedup_by_behaviour, module)?)?;
    module.add_function(wrap_pyfunction!(enumerate::enumerate, module)?)?;
    module.add_function(wrap_pyfunction!(devices::devices, module)?)?;
    module.add_function(wrap_pyfunction!(search::search, module)?)?;
    module.add_function(wrap_pyfunction!(results::_padded, module)?)?;
    module.add_function(wrap_pyfunction!(synth::_checked, module)?)?;
    module.add_function(wrap_pyfunction!(synth::_augmented, module)?)?;
    module.add_function(wrap_pyfunction!(synth::_drawn, module)?)?;
    Ok(())
}
