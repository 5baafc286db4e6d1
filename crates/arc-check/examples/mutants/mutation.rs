//! Mutation testing of the suite: PTX with one instruction changed is run through it.
//!
//! A mutant is killed if a result differs, a bail-out has another reason, or the interpreted device reports a broken
//! rule. If it survives, either the change makes no difference or the suite does not cover it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use gpu_kernels::Engine;
use gpu_kernels::device::Unavailable;
use gpu_sim::interpreted::{Interpretation, InterpretedDevice, Module};
use gpu_sim::open;

use arc_check::conformance::suite::{Extent, Failure, Test};

/// How an instruction is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Two operands of the same kind are swapped.
    Swap,
    /// Another opcode for the same operands.
    Opcode,
    /// A number is incremented or decremented by one.
    Number,
    /// A predicate is negated.
    Predicate,
    /// A barrier is removed, or a lane reads its own value instead of another's.
    Dropped,
}

const CHANGES: [Change; 5] = [
    Change::Swap,
    Change::Opcode,
    Change::Number,
    Change::Predicate,
    Change::Dropped,
];

/// Pairs of opcodes that take the same operands.
const OTHERS: &[(&str, &str)] = &[
    ("add.s32", "sub.s32"),
    ("add.s64", "sub.s64"),
    ("and.b32", "or.b32"),
    ("or.b32", "xor.b32"),
    ("xor.b32", "and.b32"),
    ("shl.b32", "shr.u32"),
    ("shr.u32", "shr.s32"),
    ("shl.b64", "shr.u64"),
    ("min.", "max."),
    ("setp.eq", "setp.ne"),
    ("setp.lt", "setp.le"),
    ("setp.gt", "setp.ge"),
    ("clz.b32", "popc.b32"),
    ("not.b32", "neg.s32"),
    ("and.pred", "or.pred"),
    ("vote.sync.any", "vote.sync.all"),
    ("shfl.sync.up", "shfl.sync.down"),
    ("cvt.s32.s16", "cvt.u32.u16"),
    ("bfe.u32", "bfe.s32"),
    ("mul.wide.u32", "mul.wide.s32"),
];

/// Opcodes for which the order of operands makes no difference.
const COMMUTATIVE: &[&str] = &[
    "add.", "and.", "or.", "xor.", "mul.", "min.", "max.", "setp.eq", "setp.ne",
];

/// PTX that differs from the embedded one in one instruction.
#[derive(Debug, Clone)]
pub(crate) struct Mutant {
    /// The line, from 1 on.
    pub(crate) line: u32,
    /// The original instruction.
    pub(crate) before: String,
    /// The changed instruction.
    pub(crate) after: String,
    module: Arc<Module>,
}

/// The fate of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Killed by this test, for this reason.
    Killed(String, String),
    /// No test that executes the instruction detected it.
    Survived,
    /// No test executes it.
    NotExecuted,
}

/// Random numbers by `SplitMix64` (Vigna).
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ x >> 31) % bound.max(1) as u64) as usize
    }
}

/// The first `count` mutants of a PTX, the same for the same seed.
pub(crate) fn mutants(text: &str, seed: u64, count: usize) -> Vec<Mutant> {
    let Ok(module) = Module::parse(text) else {
        return Vec::new();
    };
    let places: Vec<u32> = module.instruction_lines().collect();
    let lines: Vec<&str> = text.lines().collect();
    let mut dice = Dice(seed);
    let mut made: Vec<Mutant> = Vec::new();
    // A change that does not apply, or gives invalid PTX, is drawn again.
    for _ in 0..count.saturating_mul(200) {
        if made.len() == count {
            break;
        }
        let line = places[dice.below(places.len())];
        let change = CHANGES[dice.below(CHANGES.len())];
        let before = lines[line as usize - 1];
        let Some(after) = changed(before, change, &mut dice) else {
            continue;
        };
        let mut all = lines.clone();
        all[line as usize - 1] = &after;
        if let Ok(module) = Module::parse(&all.join("\n")) {
            made.push(Mutant {
                line,
                before: before.trim().to_owned(),
                after: after.trim().to_owned(),
                module: Arc::new(module),
            });
        }
    }
    made
}

/// The line with its instruction changed; `None` if the change does not apply.
fn changed(line: &str, change: Change, dice: &mut Dice) -> Option<String> {
    let statement = line.trim().strip_suffix(';')?;
    let (guard, rest) = match statement.strip_prefix('@') {
        Some(rest) => {
            let (guard, rest) = rest.split_once(' ')?;
            (Some(guard), rest.trim())
        }
        None => (None, statement),
    };
    let (opcode, operands) = rest.split_once(|c: char| c.is_whitespace())?;
    let operands: Vec<&str> = parts(operands);
    let mut new: Vec<String> = operands
        .iter()
        .map(|operand| (*operand).to_owned())
        .collect();
    let mut new_opcode = opcode.to_owned();
    let mut new_guard = guard.map(str::to_owned);
    match change {
        Change::Swap if COMMUTATIVE.iter().any(|name| opcode.starts_with(name)) => return None,
        Change::Swap => {
            let registers: Vec<usize> = (1..operands.len())
                .filter(|at| operands[*at].starts_with('%'))
                .collect();
            let first = dice.below(registers.len());
            let (a, b) = (*registers.get(first)?, *registers.get(first + 1)?);
            if operands[a] == operands[b] {
                return None;
            }
            new.swap(a, b);
        }
        Change::Opcode => {
            let fits = |from: &str| opcode.starts_with(from);
            let (from, to) = OTHERS.iter().find(|(from, _)| fits(from))?;
            new_opcode = opcode.replacen(from, to, 1);
        }
        Change::Number => {
            let numbers: Vec<usize> = (0..operands.len())
                .filter(|at| operands[*at].parse::<i64>().is_ok())
                .collect();
            let at = *numbers.get(dice.below(numbers.len()))?;
            let number: i64 = operands[at].parse().ok()?;
            new[at] = (number + if dice.below(2) == 0 { 1 } else { -1 }).to_string();
        }
        Change::Predicate => {
            let guard = guard?;
            let negated = guard.strip_prefix('!').map(str::to_owned);
            new_guard = Some(negated.unwrap_or_else(|| format!("!{guard}")));
        }
        Change::Dropped => {
            if opcode.starts_with("bar.warp") {
                return Some(";".to_owned());
            }
            let (to, _) = operands.first()?.split_once('|')?;
            if !opcode.starts_with("shfl.") {
                return None;
            }
            return Some(format!("mov.u32 {to}, {};", operands.get(1)?));
        }
    }
    let guard = new_guard
        .map(|guard| format!("@{guard} "))
        .unwrap_or_default();
    Some(format!("\t{guard}{new_opcode} {};", new.join(", ")))
}

/// The operands, split at commas outside of braces and brackets.
fn parts(operands: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut all = Vec::new();
    let mut begin = 0;
    for (at, c) in operands.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                all.push(operands[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    all.push(operands[begin..].trim());
    all
}

/// Which tests execute which lines of the unchanged PTX.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reached {
    extent: Extent,
    tests: BTreeMap<u32, BTreeSet<Test>>,
    /// Warp instructions that the suite executes.
    pub(crate) instructions: u64,
    /// The time of its launches.
    pub(crate) time: Duration,
}

/// A warp that takes more steps is in an endless loop.
const STEPS: u64 = 1 << 24;

fn device(module: Option<Arc<Module>>) -> Result<InterpretedDevice, Unavailable> {
    let interpretation = Interpretation {
        module,
        steps: STEPS,
        ..Interpretation::default()
    };
    open::interpreted(0, &interpretation)
}

impl Reached {
    /// Runs the suite on the unchanged PTX, with `cases` cases of each operation.
    ///
    /// # Errors
    /// A test fails.
    pub(crate) fn new(cases: usize) -> Result<Self, String> {
        let extent = Extent {
            cases,
            programs: 400,
            batch: 1000,
            seed: 1,
        };
        let mut reached = Reached {
            extent,
            tests: BTreeMap::new(),
            instructions: 0,
            time: Duration::ZERO,
        };
        for test in Test::all() {
            let device = device(None).map_err(|error| error.to_string())?;
            let engine = Engine::new(device);
            let done = test.run(&engine, reached.extent);
            done.map_err(|failure| format!("{}: {failure}", test.name()))?;
            let counts = engine.device().take_counts();
            reached.instructions += counts.issued();
            reached.time += engine.device().time();
            for (line, _) in counts.lines(engine.device().module()) {
                reached.tests.entry(line).or_default().insert(test);
            }
        }
        Ok(reached)
    }

    /// The tests that execute a line, by name.
    pub(crate) fn tests(&self, line: u32) -> Vec<String> {
        let tests = self.tests.get(&line).into_iter().flatten();
        tests.map(|test| test.name()).collect()
    }

    /// Runs the tests that execute the changed line.
    ///
    /// # Errors
    /// A mutant cannot be run at all.
    pub(crate) fn outcome(&self, mutant: &Mutant) -> Result<Outcome, Unavailable> {
        let Some(tests) = self.tests.get(&mutant.line) else {
            return Ok(Outcome::NotExecuted);
        };
        for test in tests {
            let engine = Engine::new(device(Some(Arc::clone(&mutant.module)))?);
            // A mutant may return data of no valid form, over which the host panics.
            let ended = catch_unwind(AssertUnwindSafe(|| test.run(&engine, self.extent)));
            let panicked = |_| Err(Failure::Panicked("see above".to_owned()));
            match ended.unwrap_or_else(panicked) {
                Ok(_) => {}
                Err(failure) => {
                    let reason = match failure {
                        // If more cases fail, fewer are compared.
                        Failure::Few(tally) => format!("few are compared: {tally:?}"),
                        Failure::Different(tally) => tally.first.unwrap_or_default(),
                        other => other.to_string(),
                    };
                    let first = reason.lines().next().unwrap_or_default().to_owned();
                    return Ok(Outcome::Killed(test.name(), first));
                }
            }
        }
        Ok(Outcome::Survived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_changes_one_instruction() {
        let all = |line, change| {
            let mut found: Vec<Option<String>> = (0..20)
                .map(|seed| changed(line, change, &mut Dice(seed)))
                .collect();
            found.sort();
            found.dedup();
            // Some draws find nothing to change; others of the same line do.
            if found.len() > 1 {
                found.retain(Option::is_some);
            }
            found
        };
        let some = |text: &str| vec![Some(format!("\t{text}"))];
        let sub = "\tsub.s32 \t%r3, %r1, %r2;";
        assert_eq!(all(sub, Change::Swap), some("sub.s32 %r3, %r2, %r1;"));
        assert_eq!(all("\tsub.s32 %r3, %r1, 4;", Change::Swap), [None]);
        assert_eq!(all("\tadd.s32 %r3, %r1, %r2;", Change::Swap), [None]);
        let and = "\tand.b32  \t%r3, %r1, 7;";
        assert_eq!(all(and, Change::Opcode), some("or.b32 %r3, %r1, 7;"));
        let numbers = ["\tand.b32 %r3, %r1, 6;", "\tand.b32 %r3, %r1, 8;"];
        assert_eq!(
            all(and, Change::Number),
            numbers.map(|text| Some(text.to_owned()))
        );
        let guarded = "\t@%p1 bra $L__BB0_2;";
        assert_eq!(
            all(guarded, Change::Predicate),
            some("@!%p1 bra $L__BB0_2;")
        );
        assert_eq!(all(sub, Change::Predicate), [None]);
        let barrier = "\tbar.warp.sync \t%r7;";
        assert_eq!(all(barrier, Change::Dropped), [Some(";".to_owned())]);
        let shuffle = "\tshfl.sync.up.b32 \t%r6|%p6, %r2, %r3, %r4, %r5;";
        assert_eq!(
            all(shuffle, Change::Dropped),
            [Some("mov.u32 %r6, %r2;".to_owned())]
        );
        let load = "\tld.v4.u32 \t{%r1, %r2, %r3, %r4}, [%rd1];";
        assert_eq!(all(load, Change::Swap), [None]);
    }

    #[test]
    fn mutants_are_the_same_for_the_same_seed() {
        let text = gpu_kernels::device::image::PTX;
        let reason = |seed| {
            let all = mutants(text, seed, 3);
            all.iter()
                .map(|m| (m.line, m.after.clone()))
                .collect::<Vec<_>>()
        };
        let first = reason(5);
        assert_eq!((first.len(), &reason(5)), (3, &first));
        assert_ne!(reason(6), first);
    }
}
