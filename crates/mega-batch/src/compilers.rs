//! [`Compilers`]: what compiles programs, and the programs that it has compiled, kept from batch to batch.
//!
//! A team's loop gives a runner the same programs again, on other tasks or pairs. A program is known by
//! its steps with their lines, which errors name, whatever it is called.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use arc_cpu::Compiled;
use arc_dsl::{Callee, Operand, Program};
use rustc_hash::FxBuildHasher;

use crate::panics::{PANIC, lock};

/// How many programs a generation has: those that were last asked for stay, so many at least and
/// twice as many at most.
const GENERATION: usize = 4096;

/// What compiles programs, while no worker does so with it: each has memory that it keeps, and there
/// are as many as have compiled at a time.
#[derive(Debug, Default)]
pub(crate) struct Compilers {
    waiting: Mutex<Vec<Compiler>>,
    kept: Mutex<Kept>,
    /// Whether programs are kept: a runner of one batch would be given none of them again.
    keeps: bool,
}

/// A program as machines run it, or why there is none.
type Result = std::result::Result<Arc<Compiled>, Arc<str>>;

/// What compiles one program after the other.
#[derive(Debug, Default)]
struct Compiler {
    form: arc_form::Specialiser,
    steps: arc_cpu::Compiler,
}

/// The programs by what they are. When there are as many young ones as a generation has, they become
/// the old ones.
#[derive(Debug, Default)]
struct Kept {
    young: HashMap<Box<[u8]>, Result, FxBuildHasher>,
    old: HashMap<Box<[u8]>, Result, FxBuildHasher>,
}

impl Compilers {
    /// From now on programs are kept.
    pub(crate) fn keep(&mut self) {
        self.keeps = true;
    }

    /// The program, where it was compiled in an earlier batch, or why it was not.
    pub(crate) fn kept(&self, program: &Program) -> Option<Result> {
        if !self.keeps {
            return None;
        }
        lock(&self.kept).get(&key(program))
    }

    /// The program as machines run it, or why there is none. What compiling costs at worst, a breach
    /// of its promise not to panic too, is the speed.
    pub(crate) fn compile(&self, program: &Program) -> Result {
        let waiting = lock(&self.waiting).pop();
        let mut compiler = waiting.unwrap_or_default();
        let result = catch_unwind(AssertUnwindSafe(|| compiler.compile(program)));
        let result = match result {
            Ok(result) => {
                lock(&self.waiting).push(compiler);
                result.map(Arc::new).map_err(Arc::from)
            }
            // What has panicked does not come back.
            Err(_) => Err(Arc::from(PANIC)),
        };
        if self.keeps {
            lock(&self.kept).insert(key(program), result.clone());
        }
        result
    }
}

impl Compiler {
    fn compile(&mut self, program: &Program) -> std::result::Result<Compiled, String> {
        let form = self.form.specialise(program);
        let form = form.map_err(|error| error.reason.to_string())?;
        self.steps.compile(&form).map_err(|error| error.reason)
    }
}

impl Kept {
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

/// All of a program that its evaluation depends on.
fn key(program: &Program) -> Box<[u8]> {
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
    key.extend([program.dialect() as u8, program.inputs().len() as u8]);
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
    use arc_dsl::parse_programs;

    use super::*;

    fn program(text: &str) -> Program {
        parse_programs(text).remove(0).unwrap()
    }

    #[test]
    fn a_program_is_known_by_its_steps_and_their_lines() {
        let a = program("def f(I):\n    O = fill(I, 3, frozenset({(0, 1)}))\n    return O\n");
        let renamed = program("def g(x):\n    y = fill(x, 3, frozenset({(0, 1)}))\n    return y\n");
        assert_eq!(key(&a), key(&renamed));
        for other in [
            "def f(I):\n\n    O = fill(I, 3, frozenset({(0, 1)}))\n    return O\n",
            "def f(I):\n    O = fill(I, 3, frozenset({(1, 1)}))\n    return O\n",
            "def f(I):\n    O = fill(I, THREE, frozenset({(0, 1)}))\n    return O\n",
            "def f(I):\n    O = underfill(I, 3, frozenset({(0, 1)}))\n    return O\n",
            "def f(I):\n    O = fill(I, 3, frozenset({(0, 1)}))\n    return I\n",
        ] {
            assert_ne!(key(&a), key(&program(other)), "{other}");
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
        compilers.compile(&numbered(0)).unwrap();
        assert!(compilers.kept(&numbered(0)).is_none());
        compilers.keep();
        let first = compilers.compile(&numbered(0)).unwrap();
        for at in 1..3 * GENERATION {
            // One that is asked for stays.
            let again = compilers.kept(&numbered(0)).unwrap().unwrap();
            assert!(Arc::ptr_eq(&again, &first));
            if at < 20 || at % 64 == 0 {
                compilers.compile(&numbered(at)).unwrap();
            } else {
                let result = Err(Arc::from("not tried"));
                lock(&compilers.kept).insert(key(&numbered(at)), result);
            }
        }
        assert!(compilers.kept(&numbered(1)).is_none());
        let kept = lock(&compilers.kept);
        assert!(kept.young.len() + kept.old.len() <= 2 * GENERATION);
    }
}
