//! Propagation of constants and copies.
//!
//! NVRTC moves numbers into registers although most instructions accept them as operands, and copies registers. Moves
//! that are then never read are removed: ptxas issues none of them either.

use std::collections::{HashMap, HashSet};

use super::code::{Instruction, Line, instructions, is_number, is_register, registers, replaced};
use super::flow::{Flow, Liveness};

/// Replaces registers by the numbers or registers that were moved to them, and removes unread moves.
pub(crate) fn propagate(lines: &mut Vec<Line>) {
    while substitute(lines) | drop_unread(lines) {}
}

/// The values of registers by name: numbers, or other registers.
pub(crate) type KnownValues = HashMap<String, String>;

/// Substitutes operands; returns whether it changed anything.
fn substitute(lines: &mut [Line]) -> bool {
    let flow = Flow::of(lines);
    let once = written_once(lines);
    let mut after: Vec<KnownValues> = Vec::new();
    let mut changed = false;
    for (block, range) in flow.blocks.iter().enumerate() {
        let mut known = known_before(&flow, block, &after);
        for line in &mut lines[range.clone()] {
            let Some(instruction) = line.instruction_mut() else {
                continue;
            };
            let numbers = Numbers::of(&instruction.opcode);
            for operand in instruction.sources_mut() {
                let value = |register: &str| known.get(register).or_else(|| once.get(register));
                changed |= replace(operand, numbers, value);
            }
            follow(instruction, &mut known);
        }
        after.push(known);
    }
    changed
}

/// The values known at the beginning of a block: those at the end of its only predecessor.
pub(crate) fn known_before(flow: &Flow, block: usize, after: &[KnownValues]) -> KnownValues {
    match flow.before[block][..] {
        [before] if block > 0 => after.get(before).cloned().unwrap_or_default(),
        _ => KnownValues::new(),
    }
}

/// The values of registers that are written only once, if that is a number or another such register: they are the
/// same wherever they are read.
fn written_once(lines: &[Line]) -> KnownValues {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for register in instructions(lines).flat_map(Instruction::written) {
        *times.entry(register).or_default() += 1;
    }
    let is_once = |register: &str| times.get(register) == Some(&1);
    let moves = instructions(lines).filter_map(Instruction::moved);
    moves
        .filter(|(to, from)| is_once(to) && (is_number(from) || is_once(from)))
        .map(|(to, from)| (to.to_owned(), from.to_owned()))
        .collect()
}

/// Updates the known values after an instruction.
pub(crate) fn follow(instruction: &Instruction, known: &mut KnownValues) {
    for register in instruction.written() {
        known.retain(|to, from| to != register && from != register);
    }
    if let Some((to, from)) = instruction.moved().filter(|(to, from)| to != from) {
        known.insert(to.to_owned(), from.to_owned());
    }
}

/// Which operands of an instruction may be numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Nowhere,
    AsOperands,
    InVectorsToo,
}

impl Numbers {
    fn of(opcode: &str) -> Self {
        let is_one_of = |all: &[&str]| all.iter().any(|other| opcode.starts_with(other));
        if is_one_of(&["brx", "cvt"]) {
            Numbers::Nowhere
        } else if is_one_of(&["st."]) {
            Numbers::InVectorsToo
        } else {
            Numbers::AsOperands
        }
    }
}

/// Substitutes known values for the registers of an operand; returns whether it changed anything.
fn replace<'a>(
    operand: &mut String,
    numbers: Numbers,
    known: impl Fn(&str) -> Option<&'a String>,
) -> bool {
    let takes = match numbers {
        Numbers::Nowhere => false,
        Numbers::AsOperands => is_register(operand),
        Numbers::InVectorsToo => is_register(operand) || operand.starts_with('{'),
    };
    let find = |register| known(register).filter(|value| takes || is_register(value));
    let found: HashMap<String, &String> = registers(operand)
        .filter_map(|register| Some((register.to_owned(), find(register)?)))
        .collect();
    for (register, value) in &found {
        *operand = replaced(operand, register, value);
    }
    !found.is_empty()
}

/// Removes instructions without effect; returns whether it changed anything.
pub(crate) fn drop_unread(lines: &mut Vec<Line>) -> bool {
    let flow = Flow::of(lines);
    let liveness = Liveness::of(lines, &flow);
    let mut dropped = HashSet::new();
    for (block, range) in flow.blocks.iter().enumerate() {
        // For each register, whether the rest of the block reads it before writing it.
        let mut read: HashMap<&str, bool> = HashMap::new();
        for (at, line) in range.clone().zip(&lines[range.clone()]).rev() {
            let Some(instruction) = line.instruction() else {
                continue;
            };
            let is_read = |register: &str| match read.get(register) {
                Some(read) => *read,
                None => flow.next[block]
                    .iter()
                    .any(|next| liveness.is_read_from(*next, register)),
            };
            if instruction.is_pure() && !instruction.written().any(is_read)
                || instruction.is_self_copy()
            {
                dropped.insert(at);
                continue;
            }
            read.extend(instruction.written().map(|register| (register, false)));
            read.extend(instruction.read().map(|register| (register, true)));
        }
    }
    let mut at = 0..;
    lines.retain(|_| !at.next().is_some_and(|at| dropped.contains(&at)));
    !dropped.is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::code::in_functions;
    use super::*;

    fn propagated(lines: &str) -> String {
        let made = in_functions(&format!("{{\n{lines}}}\n"), propagate);
        made["{\n".len()..made.len() - "}\n".len()].to_owned()
    }

    #[test]
    fn numbers_stand_where_they_are_read() {
        let made = propagated(
            "\tmov.u32 \t%r1, 31;\n\
             \tmov.u32 \t%r2, -1;\n\
             \tmov.u32 \t%r3, %r1;\n\
             \tshfl.sync.bfly.b32 \t%r4|%p1, %r5, 1, %r3, %r2;\n\
             \tst.shared.v2.u32 \t[%r6], {%r4, %r1};\n",
        );
        assert_eq!(
            made,
            "\tshfl.sync.bfly.b32 \t%r4|%p1, %r5, 1, 31, -1;\n\
             \tst.shared.v2.u32 \t[%r6], {%r4, 31};\n"
        );
    }

    #[test]
    fn copies_are_read_as_what_they_are_of() {
        let made = propagated(
            "\tld.shared.u32 \t%r1, [%r9];\n\
             \tmov.u32 \t%r2, %r1;\n\
             \tst.shared.u32 \t[%r2+4], %r2;\n",
        );
        let expected = "\tld.shared.u32 \t%r1, [%r9];\n\tst.shared.u32 \t[%r1+4], %r1;\n";
        assert_eq!(made, expected);
    }

    #[test]
    fn a_number_is_known_until_another_one_is_written() {
        let made = propagated(
            "\tmov.u32 \t%r1, 7;\n\
             \t@%p1 bra \t$L__BB0_1;\n\
             \tadd.s32 \t%r2, %r1, %r3;\n\
             \tst.shared.u32 \t[%r9], %r2;\n\
             \tld.shared.u32 \t%r1, [%r9+4];\n\
             $L__BB0_1:\n\
             \tst.shared.u32 \t[%r9], %r1;\n",
        );
        assert_eq!(
            made,
            "\tmov.u32 \t%r1, 7;\n\
             \t@%p1 bra \t$L__BB0_1;\n\
             \tadd.s32 \t%r2, 7, %r3;\n\
             \tst.shared.u32 \t[%r9], %r2;\n\
             \tld.shared.u32 \t%r1, [%r9+4];\n\
             $L__BB0_1:\n\
             \tst.shared.u32 \t[%r9], %r1;\n"
        );
    }

    #[test]
    fn others_stay() {
        for lines in [
            // Conversions and indices accept no numbers, and only moves read special registers.
            "\tmov.u32 \t%r1, 7;\n\tcvt.u64.u32 \t%rd1, %r1;\n\tst.global.u64 \t[%rd2], %rd1;\n",
            "\tmov.u32 \t%r1, %tid.x;\n\tadd.s32 \t%r2, %r1, 1;\n\tst.shared.u32 \t[%r3], %r2;\n",
            // The copied register has changed since.
            "\tld.shared.u32 \t%r2, [%r9];\n\tmov.u32 \t%r1, %r2;\n\tadd.s32 \t%r2, %r2, 1;\n\
             \tst.shared.u32 \t[%r2], %r1;\n",
            // It synchronises lanes.
            "\tshfl.sync.bfly.b32 \t%r1|%p1, %r2, 1, 31, -1;\n",
        ] {
            assert_eq!(propagated(lines), lines);
        }
    }
}
