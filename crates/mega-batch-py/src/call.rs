//! One program on one grid: by the reference the first time, compiled from the second call on.

use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_cpu::{Compiled, Machine, Stop};
use arc_dsl::{EvalError, Grid, Interpreter, Limits, Program, Value};
use pyo3::prelude::*;

use crate::guard;

/// A program that is called, compiled where that is possible.
#[derive(Debug)]
pub(crate) struct Callable {
    program: Program,
    was_called: AtomicBool,
    compiled: OnceLock<Option<Compiled>>,
}

thread_local! {
    /// The memory of machines and interpreters, from call to call of a thread.
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
            // A panic of the compiler is a program that is not compiled. Nobody waits for another thread that
            // compiles: in a process that was forked meanwhile it would be for ever.
            let _ = self.compiled.set(guard::caught(compile).ok().flatten());
        }
        self.compiled.get()?.as_ref()
    }

    /// What the program returns for this input within the default limits. What ends at a limit of the
    /// reference is asked of a machine, as a run does, so that it does not matter which call it is.
    pub(crate) fn evaluate(&self, input: &Grid) -> PyResult<Result<Value, EvalError>> {
        let is_first = !self.was_called.swap(true, Ordering::Relaxed);
        if !is_first && let Some(made) = self.by_machine(input) {
            return Ok(made);
        }
        let made = self.by_reference(input, Limits::default())?;
        match made {
            Err(error) if is_first && error.limit().is_some() => {
                Ok(self.by_machine(input).unwrap_or(Err(error)))
            }
            made => Ok(made),
        }
    }

    /// What the reference gives within these limits.
    pub(crate) fn by_reference(
        &self,
        input: &Grid,
        limits: Limits,
    ) -> PyResult<Result<Value, EvalError>> {
        guard::caught(|| Interpreter::new(limits).run(&self.program, input.clone()))
    }

    /// What a machine gives, unless it leaves it to the reference.
    fn by_machine(&self, input: &Grid) -> Option<Result<Value, EvalError>> {
        let compiled = self.compiled()?;
        // A machine that has panicked is not given back.
        let mut machine = MACHINE.take().unwrap_or_default();
        let made = guard::caught(|| match machine.run(compiled, input) {
            Ok(output) => Some(Ok(output.value())),
            Err(Stop::Error(error)) => Some(Err(error)),
            Err(Stop::BailOut(_)) => None,
        });
        let made = made.ok()?;
        MACHINE.set(Some(machine));
        made
    }
}
