//! The Python package `mega_batch`: the library of the same name for Python, without the command.
//!
//! This crate is the module `mega_batch._engine`; the Python code around it, stubs and tests are in `python/` and
//! `tests/`. Programs that fail are values here too; invalid arguments raise `TypeError` or `ValueError`, with the
//! place; a panic of the engine is a `RuntimeError`.
//!
//! Plain data, such as results, reports and what a search came to, are dataclasses in `python/`; this crate fills them.
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
mod _engine {
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    #[pymodule_export]
    use crate::{
        batt::{PyBatt, PyNode, PyPushed},
        behaviour::dedup_by_behaviour,
        builder::{PyBuilder, PyVariable},
        coordinator::PyCoordinator,
        devices::devices,
        engine::PyEngine,
        engine::completions::{PyEvaluated, extract_programs},
        enumerate::enumerate_programs,
        errors::{ProgramError, PyEvalError},
        feed::PyPool,
        grids::show::PyGrid,
        programs::{PyProgram, mutate, parse_programs, read_programs},
        python_pool::PyPythonPool,
        report::PySubject,
        results::{_padded, PyErrors},
        search::search,
        shards::PyPackedBatch,
        synth::{_augmented, _checked, _drawn, PySynthesis},
        tasks::{PyPair, PyTask, read_tasks},
        trace::trace,
        unpickle::_unpickled,
        values::PyFunction,
    };

    #[pymodule_init]
    fn constants(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        module.add("__version__", mega_batch::VERSION)?;
        module.add("ERROR_KINDS", PyTuple::new(py, crate::errors::KINDS)?)?;
        module.add("VERDICTS", PyTuple::new(py, crate::results::VERDICTS)?)?;
        module.add("PALETTE", PyTuple::new(py, arc_dsl::PALETTE)?)?;
        let primitives = arc_dsl::Primitive::ALL.iter();
        let names: Vec<_> = primitives
            .clone()
            .map(|primitive| primitive.name())
            .collect();
        module.add("PRIMITIVES", PyTuple::new(py, names)?)?;
        let table = primitives.map(|primitive| {
            let parameters = primitive.parameters().iter();
            let parameters: Vec<_> = parameters.map(|(name, ty)| (*name, ty.name())).collect();
            (
                primitive.name(),
                primitive.family(),
                primitive.doc(),
                parameters,
                primitive.returns().name(),
            )
        });
        module.add("_SIGNATURES", table.collect::<Vec<_>>())
    }
}
