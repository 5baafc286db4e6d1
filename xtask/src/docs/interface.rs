//! `docs/device-interface.md`: the device's interface as tables, with prose in between.

use std::fmt::Write as _;

use gpu_kernels::interface::{
    Bits, Constant, Description, Enumeration, KernelSignature, Number, PackedWord, Passed, Record,
};
use gpu_kernels::operations::OPERATIONS;

use super::plain;

const BEGINNING: &str = "\
# The device's interface

What the host and the kernels must agree on: how values lie in memory, what a launch takes and what it
gives. All of it is described once, in `crates/gpu-kernels/src/interface.rs` and the modules below it.
`cargo xtask docs` generates this page and `kernels/interface.cuh` from it; the kernels are compiled with
that header, which asserts that every structure has the size and the offsets that it has on the host.

The description is known by a *fingerprint*, 64 bits of FNV-1a over the header's text. An image carries
the fingerprint of the header that it was compiled with, and opening a device with an image of another
one fails. So a change of anything on this page takes `cargo xtask docs`, then `cargo xtask ptx`.

All numbers are little-endian; a word is 32 bits, and sizes and offsets are in bytes where nothing else
is said. [Devices](devices.md) says what all this is for.
";

const VALUES: &str = "\
A value lies in a *pool*: words and *units*, numbered apart. It has one word and as many units, one
after the other, as its `Representation` says. There are pools of many values in device memory
(the arguments and expected grids of a launch, its results, the constants of its programs), two buffers
each: one of words, one of units. During an evaluation its values lie in a pool of its own, in the
shared memory of the block: units from an address on upwards, and words from there downwards, so that word
`n` is the `n + 1`-th before the first unit.

A unit is `UNIT_BYTES`: one word a lane, lane `r` being row `r` of a window of `SIDE` x `SIDE`. Bit `j` of
the word is column `j`. The rows of planes of a grid, and of an object's colours, are `ROW_BYTES` each,
one after the other: row 0 with its planes, then row 1. Past a grid's size all is zero, and beside an
object's locations all its planes are.
";

const WORDS: &str = "\
Some words are more than one thing. A word of 16 bits stands alone in 32 with the upper half zero.
";

const LAUNCH: &str = "\
A launch makes works, each of them up to `MAX_SIDE_BY_SIDE` evaluations of one program. It has any
number of blocks of up to `MAX_WARPS` warps; a warp takes one work after the other until none is left.
The shared memory of a block is `pool_bytes` times `side_by_side` times its warps.

Of an evaluation a warp copies constants and arguments into the pool, runs the program's instructions,
compares the result with the expected grid where there is one, copies the result to where it is to go,
and writes a verdict. An evaluation that bails out has a verdict and no result.
";

const OPCODES: &str = "\
An opcode is an index into the table of operations. The names of representations are those of above
without `AS_`; `flag` and `key` are no operands but parts of the immediate. Of operations that give a
part of a tuple the immediate says which.
";

/// The page.
pub(super) fn page() -> String {
    let description = Description::new();
    let mut page = BEGINNING.to_owned();
    page += "\n## Constants\n\n| Constant | Value | What it is |\n|---|---|---|\n";
    for constant in &description.constants {
        of_constant(&mut page, constant);
    }
    page += "\n## Values\n\n";
    page += VALUES;
    page += "\n## Codes\n";
    for enumeration in &description.enumerations {
        of_enumeration(&mut page, enumeration);
    }
    page += "\n## Packed words\n\n";
    page += WORDS;
    for word in &description.words {
        of_word(&mut page, word);
    }
    page += "\n## Launches\n\n";
    page += LAUNCH;
    for kernel in &description.kernels {
        of_kernel(&mut page, kernel);
    }
    page += "\n## Structures in device memory\n";
    for record in &description.records {
        of_record(&mut page, record);
    }
    page += "\n## Opcodes\n\n";
    page += OPCODES;
    opcodes(&mut page);
    page
}

fn of_constant(page: &mut String, constant: &Constant) {
    let value = match constant.value {
        Number::Signed(value) => value.to_string(),
        Number::Unsigned(value) if value > 0xffff => format!("{value:#010x}"),
        Number::Unsigned(value) => value.to_string(),
    };
    let about = plain(&constant.about);
    let _ = writeln!(page, "| `{}` | {value} | {about} |", constant.name);
}

fn of_enumeration(page: &mut String, enumeration: &Enumeration) {
    let (name, about) = (enumeration.name, plain(&enumeration.about));
    let _ = writeln!(
        page,
        "\n### `{name}`\n\n{about}\n\n| Number | Name | What it stands for |\n|---|---|---|"
    );
    for code in &enumeration.codes {
        let about = plain(&code.about);
        let _ = writeln!(page, "| {} | `{}` | {about} |", code.number, code.name);
    }
}

fn of_word(page: &mut String, word: &PackedWord) {
    let (name, about) = (word.name, plain(&word.about));
    let _ = writeln!(
        page,
        "\n### `{name}`, {} bits\n\n{about}\n\n| Bits | Field | Type | What it says |\n|---|---|---|---|",
        word.bits
    );
    for field in &word.fields {
        let (first, last) = (field.bits.shift, field.bits.shift + field.bits.width - 1);
        let bits = if first == last {
            first.to_string()
        } else {
            format!("{first} to {last}")
        };
        let ty = match field.bits.what {
            Bits::Number => "number",
            Bits::Signed => "signed number",
            Bits::Flag => "flag",
        };
        let about = plain(&field.about);
        let _ = writeln!(page, "| {bits} | `{}` | {ty} | {about} |", field.name);
    }
}

fn of_kernel(page: &mut String, kernel: &KernelSignature) {
    let (name, about) = (kernel.name, plain(&kernel.about));
    let _ = writeln!(
        page,
        "\n### `{name}`\n\n{about}\n\n| Parameter | Type | Bytes | What it is |\n|---|---|---|---|"
    );
    for parameter in &kernel.parameters {
        let ty = match parameter.passed {
            Passed::From(ty) => format!("reads `{ty}`"),
            Passed::To(ty) => format!("writes `{ty}`"),
            Passed::Number => "number".to_owned(),
        };
        let (bytes, about) = (parameter.passed.bytes(), plain(&parameter.about));
        let _ = writeln!(page, "| `{}` | {ty} | {bytes} | {about} |", parameter.name);
    }
}

fn of_record(page: &mut String, record: &Record) {
    let (name, about) = (record.name, plain(&record.about));
    let _ = writeln!(
        page,
        "\n### `{name}`, {} bytes\n\n{about} Aligned to {} bytes.\n\n\
         | Offset | Field | Type | What it says |\n|---|---|---|---|",
        record.bytes, record.alignment
    );
    for field in &record.fields {
        let elements = field.elements.map(|count| format!("[{count}]"));
        let (ty, about) = (field.ty, plain(&field.about));
        let _ = writeln!(
            page,
            "| {} | `{}` | `{ty}{}` | {about} |",
            field.offset,
            field.name,
            elements.unwrap_or_default()
        );
    }
}

fn opcodes(page: &mut String) {
    page.push_str("\n| Opcode | Function | Primitive | Takes | Gives |\n|---|---|---|---|---|\n");
    for (opcode, operation) in OPERATIONS.iter().enumerate() {
        let name = |symbol: &str| symbol.trim_start_matches("AS_").to_lowercase();
        let takes = operation.takes.iter().map(|taken| name(taken.symbol()));
        let takes: Vec<_> = takes.collect();
        let part = if operation.of_tuple { ", a part" } else { "" };
        let _ = writeln!(
            page,
            "| {opcode} | `{}` | `{}` | {} | {}{part} |",
            operation.name,
            operation.primitive,
            takes.join(", "),
            name(operation.gives.symbol()),
        );
    }
}
