//! [`Compilers`]: the compilers of a runner, and a cache of compiled programs that is kept between batches.
//!
//! A search loop often gives a runner the same programs again, on other tasks or pairs. The key of a program is its
//! steps with their lines, since errors name these; its name does not matter.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use arc_cpu::Compiled;
use arc_dsl::{Callee, Operand, Program};
use rustc_hash::FxBuildHasher;

use crate::run::panics::{PANIC, lock};

/// The size of a generation: the cache keeps at least this many of the programs that were asked for last, and at most
/// twice as many.
const GENERATION: usize = 4096;

/// Idle compilers, each with memory that it reuses, as many as have compiled at the same time; and the cache.
#[derive(Debug, Default)]
pub(crate) struct Compilers {
    waiting: Mutex<Vec<Compiler>>,
    cache: Mutex<Generations>,
    /// Whether programs are cached: a runner for one batch would never see them again.
    keeps: bool,
}

/// A program as machines run it, or why it cannot be compiled.
type Result = std::result::Result<Arc<Compiled>, Arc<str>>;

/// Compiles programs one after the other.
#[derive(Debug, Default)]
struct Compiler {
    form: arc_form::Specialiser,
    steps: arc_cpu::Compiler,
}

/// A cache of two generations. When the young one is full, it replaces the old one.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Box<[u8]>, Result, FxBuildHasher>,
    old: HashMap<Box<[u8]>, Result, FxBuildHasher>,
}

impl Compilers {
    /// Turns the cache on.
    pub(crate) fn keep(&mut self) {
        self.keeps = true;
    }

    /// The program if it was compiled in an earlier batch, or why it was not.
    pub(crate) fn kept(&self, program: &Program, with_verdict: bool) -> Option<Result> {
        if !self.keeps {
            return None;
        }
        lock(&self.cache).get(&key(program, with_verdict))
    }

    /// Compiles a program, with its [verdict](arc_cpu::Verdict) or without, or says why it cannot be compiled. A failure
    /// here, even a panic, costs only speed.
    pub(crate) fn compile(&self, program: &Program, with_verdict: bool) -> Result {
        let waiting = lock(&self.waiting).pop();
        let mut compiler = waiting.unwrap_or_default();
        let result = catch_unwind(AssertUnwindSafe(|| compiler.compile(program, with_verdict)));
        let result = match result {
            Ok(result) => {
                lock(&self.waiting).push(compiler);
                result.map(Arc::new).map_err(Arc::from)
            }
            // A compiler that has panicked is not reused.
            Err(_) => Err(Arc::from(PANIC)),
        };
        if self.keeps {
            lock(&self.cache).insert(key(program, with_verdict), result.clone());
        }
        result
    }
}

impl Compiler {
    fn compile(
        &mut self,
        program: &Program,
        with_verdict: bool,
    ) -> std::result::Result<Compiled, String> {
        let form = self.form.specialise(program);
        let form = form.map_err(|error| error.reason.to_string())?;
        let compiled = if with_verdict {
            self.steps.compile_with_verdict(&form)
        } else {
            self.steps.compile(&form)
        };
        compiled.map_err(|error| error.reason)
    }
}

impl Generations {
    fn get(&mut self, key: &[u8]) -> Option<Result> {
        if let Some(result) = self.young.get(key) {
            return Some(result.clone());
        }
        let (key, result) = self.old.remove_entry(key)?;
        self.insert(key, result.clone());
        Some(result)
    }

    fn insert(&mut self, key: Box<[u8]>, result: Result) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, result);
    }
}

/// Everything in a program that its evaluation depends on, and whether it has a verdict.
fn key(program: &Program, with_verdict: bool) -> Box<[u8]> {
    fn write(key: &mut Vec<u8>, operand: &Operand) {
        let (sort, number) = match operand {
            Operand::Slot(slot) => (0, slot.index() as u32),
            Operand::Primitive(primitive) => (1, *primitive as u32),
            Operand::Constant(constant) => (2, *constant as u32),
            Operand::Literal(value) => {
                let mut text = String::new();
                // Writing to a string does not fail.
                let _ = write!(text, "{value}");
                key.push(3);
                key.extend((text.len() as u32).to_le_bytes());
                key.extend(text.as_bytes());
                return;
            }
        };
        key.push(sort);
        key.extend(number.to_le_bytes());
    }
    let mut key = Vec::with_capacity(32 * (program.steps().len() + 1));
    key.extend([
        with_verdict.into(),
        program.dialect() as u8,
        program.inputs().len() as u8,
    ]);
    for step in program.steps() {
        key.extend(step.line.to_le_bytes());
        let (sort, number) = match step.callee {
            Callee::Primitive(primitive) => (0, primitive as u32),
            Callee::Slot(slot) => (1, slot.index() as u32),
            Callee::Typed(primitive) => (4, primitive as u32),
        };
        key.push(sort);
        key.extend(number.to_le_bytes());
        key.push(step.arguments.len() as u8);
        for operand in &step.arguments {
            write(&mut key, operand);
        }
    }
    key.push(u8::MAX);
    write(&mut key, program.output());
    key.into()
}

#[cfg(test)]
mod tests {
    use arc_text::parse_programs;

    use super::*;

    fn program(text: &str) -> Program {
        parse_programs(text).remove(0).unwrap()
    }

    #[test]
    fn a_program_is_known_by_its_steps_and_their_lines() {
        let a = program("def f(I):\n    O = fill(I, 3, frozenset({(0, 1)}))\n    return O\n");
        let renamed = program("def g(x):\n    y = fill(x, 3, frozenset({(0, 1)}))\n    return y\n");
        assert_eq!(key(&a, false), key(&renamed, false));
        for other in [
            "def f(I):\n\n    O = fill(I, 3, frozenset({(0, 1)}))\n    return O\n",
            "def f(I):\n    O = fill(I, 3, frozenset({(1, 1)}))\n    return O\n",
            "def f(I):\n    O = fill(I, THREE, frozenset({(0, 1)}))\n    return O\n",
            "def f(I):\n    O = underfill(I, 3, frozenset({(0, 1)}))\n    return O\n",
            "def f(I):\n    O = fill(I, 3, frozenset({(0, 1)}))\n    return I\n",
        ] {
            assert_ne!(key(&a, false), key(&program(other), false), "{other}");
        }
    }

    #[test]
    fn programs_are_kept_from_the_second_batch_on_and_not_without_bound() {
        let numbered = |at: usize| {
            program(&format!(
                "def f(I):\n    O = switch(I, {at}, 1)\n    return O\n"
            ))
        };
        let mut compilers = Compilers::default();
        compilers.compile(&numbered(0), false).unwrap();
        assert!(compilers.kept(&numbered(0), false).is_none());
        compilers.keep();
        let first = compilers.compile(&numbered(0), false).unwrap();
        assert!(compilers.kept(&numbered(0), true).is_none());
        for at in 1..3 * GENERATION {
            // A program that is used stays.
            let again = compilers.kept(&numbered(0), false).unwrap().unwrap();
            assert!(Arc::ptr_eq(&again, &first));
            if at < 20 || at % 64 == 0 {
                compilers.compile(&numbered(at), false).unwrap();
            } else {
                let result = Err(Arc::from("not tried"));
                lock(&compilers.cache).insert(key(&numbered(at), false), result);
            }
        }
        assert!(compilers.kept(&numbered(1), false).is_none());
        let kept = lock(&compilers.cache);
        assert!(kept.young.len() + kept.old.len() <= 2 * GENERATION);
    }
}
