//! Addresses of shared memory with 32 bits.
//!
//! Such an address has 32 bits, and the PTX ISA lets a register of 32 bits be one. NVRTC makes 64 of
//! them first, which no machine code needs.

use std::collections::HashMap;
use std::fmt::Write as _;

/// The image without conversions that only widen addresses of shared memory.
pub(crate) fn narrow(image: &str) -> String {
    let lines: Vec<&str> = image.lines().collect();
    let mut text = String::new();
    let mut begin = 0;
    while begin < lines.len() {
        // Registers are of a function each.
        let length = lines[begin..].iter().position(|line| *line == "}");
        let end = length.map_or(lines.len(), |length| begin + length + 1);
        narrow_function(&lines[begin..end], &mut text);
        begin = end;
    }
    text
}

/// Where a register stands.
#[derive(Default)]
struct Uses<'a> {
    /// How often it is written.
    written: usize,
    /// The register of 32 bits that it is, where it is nothing else.
    widened: Option<&'a str>,
    /// How often it is read, and how often as an address of shared memory.
    read: usize,
    addresses: usize,
}

fn narrow_function(lines: &[&str], text: &mut String) {
    let mut uses: HashMap<&str, Uses<'_>> = HashMap::new();
    for line in lines {
        let Some(parts) = Parts::of(line) else {
            continue;
        };
        for register in parts.written() {
            let uses = uses.entry(register).or_default();
            uses.written += 1;
            uses.widened = parts.widened();
        }
        for register in parts.read() {
            let uses = uses.entry(register).or_default();
            uses.read += 1;
            uses.addresses += usize::from(parts.address() == Some(register));
        }
    }
    let narrowed: HashMap<&str, &str> = uses
        .iter()
        .filter(|(_, uses)| uses.written == 1 && uses.read == uses.addresses)
        .filter_map(|(register, uses)| Some((*register, uses.widened?)))
        // What is written once is the same wherever it is read.
        .filter(|(_, narrow)| uses.get(narrow).is_some_and(|uses| uses.written == 1))
        .collect();
    for line in lines {
        let parts = Parts::of(line);
        let is_conversion = parts.as_ref().is_some_and(|parts| {
            parts.widened().is_some()
                && parts
                    .written()
                    .any(|register| narrowed.contains_key(register))
        });
        if is_conversion {
            continue;
        }
        let address = parts.and_then(|parts| parts.address());
        let _ = match address.and_then(|wide| Some((wide, narrowed.get(wide)?))) {
            Some((wide, narrow)) => writeln!(text, "{}", line.replacen(wide, narrow, 1)),
            None => writeln!(text, "{line}"),
        };
    }
}

/// An instruction's opcode and the rest of its line.
struct Parts<'a> {
    opcode: &'a str,
    operands: &'a str,
    guard: &'a str,
}

impl<'a> Parts<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let line = line.trim();
        if line.starts_with(['/', '.', '$', '{', '}', '(', ')']) || line.is_empty() {
            return None;
        }
        let (guard, line) = match line.strip_prefix('@') {
            Some(guarded) => guarded.split_once(char::is_whitespace)?,
            None => ("", line),
        };
        let (opcode, operands) = line.trim().split_once(char::is_whitespace)?;
        Some(Self {
            opcode,
            operands,
            guard,
        })
    }

    /// The operands that are written: the first one, or all in its brackets. Stores and branches write
    /// none.
    fn written(&self) -> impl Iterator<Item = &'a str> {
        let writes = !["st.", "bra", "brx", "bar", "ret", "red"]
            .iter()
            .any(|opcode| self.opcode.starts_with(opcode));
        let first = match self.operands.strip_prefix('{') {
            Some(vector) => vector.split('}').next(),
            None => self.operands.split(',').next(),
        };
        // Two results stand with a bar between them.
        registers(first.filter(|_| writes).unwrap_or_default())
    }

    fn read(&self) -> impl Iterator<Item = &'a str> {
        let written = self.written().count();
        registers(self.operands)
            .skip(written)
            .chain(registers(self.guard))
    }

    /// The register that is an address of shared memory.
    fn address(&self) -> Option<&'a str> {
        let is_shared =
            self.opcode.starts_with("ld.shared") || self.opcode.starts_with("st.shared");
        let (_, address) = self.operands.split_once('[').filter(|_| is_shared)?;
        registers(address.split(']').next()?).next()
    }

    /// What `cvt.u64.u32` widens.
    fn widened(&self) -> Option<&'a str> {
        let is_it = self.opcode == "cvt.u64.u32";
        registers(self.operands).nth(1).filter(|_| is_it)
    }
}

fn registers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '%'))
        .filter(|word| word.starts_with('%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One function of these lines, narrowed.
    fn narrowed(lines: &str) -> String {
        narrow(&format!("{{\n{lines}}}\n"))
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
            // A number of another use.
            "\tmov.u32 \t%r2, 1;\n\tcvt.u64.u32 \t%rd1, %r2;\n\tadd.s64 \t%rd2, %rd1, 1;\n",
            // An address of device memory.
            "\tmov.u32 \t%r2, 1;\n\tcvt.u64.u32 \t%rd1, %r2;\n\tld.global.u32 \t%r3, [%rd1];\n",
            // What is stored is no address.
            "\tmov.u32 \t%r2, 1;\n\tcvt.u64.u32 \t%rd1, %r2;\n\tst.shared.u64 \t[%r2], %rd1;\n",
            // A register that is written again meanwhile.
            "\tmov.u32 \t%r2, 1;\n\tcvt.u64.u32 \t%rd1, %r2;\n\tadd.s32 \t%r2, %r2, 1;\n\
             \tld.shared.u32 \t%r3, [%rd1];\n",
            // One of two addresses.
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
        assert_eq!(narrow(&function.repeat(2)), made.repeat(2));
    }
}
