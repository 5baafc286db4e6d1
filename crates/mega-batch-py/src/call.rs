//! Calls of one program on one grid: by the reference the first time, compiled from the second call on.

use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_cpu::{Compiled, Machine, Stop};
use arc_dsl::{EvalError, Grid, Interpreter, Limits, Program, Value};
use pyo3::prelude::*;

use crate::guard;

/// A program that can be called, compiled if possible.
#[derive(Debug)]
pub(crate) struct Callable {
    program: Program,
    was_called: AtomicBool,
    compiled: OnceLock<Option<Compiled>>,
}

thread_local! {
    /// The machine of this thread, whose memory is reused.
    static MACHINE: RefCell<Option<Machine>> = const { RefCell::new(None) };
}

impl Callable {
    pub(crate) fn new(program: Program) -> Self {
        Self {
            program,
            was_called: AtomicBool::new(false),
            compiled: OnceLock::new(),
        }
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    fn compiled(&self) -> Option<&Compiled> {
        let compile = || Compiled::new(&arc_form::specialise(&self.program).ok()?).ok();
        if self.compiled.get().is_none() {
            // If the compiler panics, the program stays uncompiled. No thread waits for another one to compile it: in
            // a process forked in the meantime that would block for ever.
            let _ = self.compiled.set(guard::caught(compile).ok().flatten());
        }
        self.compiled.get()?.as_ref()
    }

    /// The program's result for this input within the default limits. If the reference reaches a limit, a machine is
    /// tried, as in a run, so that the first call gives the same as later ones.
    pub(crate) fn evaluate(&self, input: &Grid) -> PyResult<Result<Value, EvalError>> {
        let is_first = !self.was_called.swap(true, Ordering::Relaxed);
        if !is_first && let Some(result) = self.by_machine(input) {
            return Ok(result);
        }
        let result = self.by_reference(input, Limits::default())?;
        match result {
            Err(error) if is_first && error.limit().is_some() => {
                Ok(self.by_machine(input).unwrap_or(Err(error)))
            }
            result => Ok(result),
        }
    }

    /// The result of the reference within these limits.
    pub(crate) fn by_reference(
        &self,
        input: &Grid,
        limits: Limits,
    ) -> PyResult<Result<Value, EvalError>> {
        guard::caught(|| Interpreter::new(limits).run(&self.program, input.clone()))
    }

    /// The result of a machine, unless it bails out to the reference.
    fn by_machine(&self, input: &Grid) -> Option<Result<Value, EvalError>> {
        let compiled = self.compiled()?;
        // A machine that has panicked is not reused.
        let mut machine = MACHINE.take().unwrap_or_default();
        let result = guard::caught(|| {
            match machine
                .run(compiled, input)
                .and_then(arc_cpu::Output::value)
            {
                Ok(value) => Some(Ok(value)),
                Err(Stop::Error(error)) => Some(Err(error)),
                Err(Stop::BailOut(_)) => None,
            }
        });
        let result = result.ok()?;
        MACHINE.set(Some(machine));
        result
    }
}
