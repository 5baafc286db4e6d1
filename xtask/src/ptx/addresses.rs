//! Narrows addresses of shared memory to 32 bits.
//!
//! Such an address has 32 bits, and the PTX ISA allows a 32-bit register as one. NVRTC widens it to 64 bits first,
//! which no machine code needs.

use std::collections::HashMap;

use super::code::{Instruction, Line, instructions, registers, replaced};

/// Removes conversions that only widen addresses of shared memory.
pub(crate) fn narrow(lines: &mut Vec<Line>) {
    let mut uses: HashMap<&str, Uses<'_>> = HashMap::new();
    for instruction in instructions(lines) {
        for register in instruction.written() {
            let uses = uses.entry(register).or_default();
            uses.written += 1;
            uses.widened = widened(instruction);
        }
        for register in instruction.read() {
            let uses = uses.entry(register).or_default();
            uses.read += 1;
            uses.addresses += usize::from(address(instruction) == Some(register));
        }
    }
    let narrowed: HashMap<String, String> = uses
        .iter()
        .filter(|(_, uses)| uses.written == 1 && uses.read == uses.addresses)
        .filter_map(|(register, uses)| Some((*register, uses.widened?)))
        // A register that is written once has the same value wherever it is read.
        .filter(|(_, narrow)| uses.get(narrow).is_some_and(|uses| uses.written == 1))
        .map(|(register, narrow)| (register.to_owned(), narrow.to_owned()))
        .collect();
    lines.retain(|line| {
        let result = line.instruction().and_then(Instruction::result);
        !result.is_some_and(|result| narrowed.contains_key(result))
    });
    for instruction in lines.iter_mut().filter_map(Line::instruction_mut) {
        let wide = address(instruction).unwrap_or_default().to_owned();
        let Some(narrow) = narrowed.get(&wide) else {
            continue;
        };
        for operand in instruction
            .operands
            .iter_mut()
            .filter(|operand| operand.starts_with('['))
        {
            *operand = replaced(operand, &wide, narrow);
        }
    }
}

/// The uses of a register.
#[derive(Default)]
struct Uses<'a> {
    /// How often it is written.
    written: usize,
    /// The 32-bit register that it widens, if it has no other value.
    widened: Option<&'a str>,
    /// How often it is read, and how often of these as an address of shared memory.
    read: usize,
    addresses: usize,
}

/// The register that is an address of shared memory.
fn address(instruction: &Instruction) -> Option<&str> {
    let is_shared = ["ld.shared", "st.shared"]
        .iter()
        .any(|opcode| instruction.opcode.starts_with(opcode));
    let mut operands = instruction.operands.iter().filter(|_| is_shared);
    registers(operands.find(|operand| operand.starts_with('['))?).next()
}

/// The operand that `cvt.u64.u32` widens.
fn widened(instruction: &Instruction) -> Option<&str> {
    let is_it = instruction.opcode == "cvt.u64.u32";
    registers(instruction.operands.get(1)?)
        .next()
        .filter(|_| is_it)
}

#[cfg(test)]
mod tests {
    use super::super::code::in_functions;
    use super::*;

    /// One function of these lines, narrowed.
    fn narrowed(lines: &str) -> String {
        in_functions(&format!("{{\n{lines}}}\n"), narrow)
    }

    #[test]
    fn addresses_alone_are_narrowed() {
        let made = narrowed(
            "\tadd.s32 \t%r2, %r1, 4;\n\
             \tcvt.u64.u32 \t%rd1, %r2;\n\
             \tld.shared.v4.u32 \t{%r3, %r4, %r5, %r6}, [%rd1];\n\
             \t@%p1 bra \t$L__BB0_1;\n\
             \tst.shared.u32 \t[%rd1+16], %r3;\n",
        );
        assert_eq!(
            made,
            "{\n\tadd.s32 \t%r2, %r1, 4;\n\
             \tld.shared.v4.u32 \t{%r3, %r4, %r5, %r6}, [%r2];\n\
             \t@%p1 bra \t$L__BB0_1;\n\
             \tst.shared.u32 \t[%r2+16], %r3;\n}\n"
        );
    }

    #[test]
    fn others_stay() {
        for lines in [
            // A number with another use.
            "\tmov.u32 \t%r2, 1;\n\tcvt.u64.u32 \t%rd1, %r2;\n\tadd.s64 \t%rd2, %rd1, 1;\n",
            // An address of device memory.
            "\tmov.u32 \t%r2, 1;\n\tcvt.u64.u32 \t%rd1, %r2;\n\tld.global.u32 \t%r3, [%rd1];\n",
            // A stored value is no address.
            "\tmov.u32 \t%r2, 1;\n\tcvt.u64.u32 \t%rd1, %r2;\n\tst.shared.u64 \t[%r2], %rd1;\n",
            // The 32-bit register is written again in between.
            "\tmov.u32 \t%r2, 1;\n\tcvt.u64.u32 \t%rd1, %r2;\n\tadd.s32 \t%r2, %r2, 1;\n\
             \tld.shared.u32 \t%r3, [%rd1];\n",
            // Either of two addresses.
            "\tmov.u32 \t%r2, 1;\n\tcvt.u64.u32 \t%rd1, %r2;\n\tcvt.u64.u32 \t%rd1, %r1;\n\
             \tld.shared.u32 \t%r3, [%rd1];\n",
        ] {
            assert_eq!(narrowed(lines), format!("{{\n{lines}}}\n"));
        }
    }

    #[test]
    fn functions_have_registers_of_their_own() {
        let function = "{\n\tmov.u32 \t%r2, 1;\n\tcvt.u64.u32 \t%rd1, %r2;\n\tld.shared.u32 \t%r3, [%rd1];\n}\n";
        let made = "{\n\tmov.u32 \t%r2, 1;\n\tld.shared.u32 \t%r3, [%r2];\n}\n";
        assert_eq!(in_functions(&function.repeat(2), narrow), made.repeat(2));
    }
}
