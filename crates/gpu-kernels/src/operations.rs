//! The operations of the kernels: one table, from which the opcode header derives.
//!
//! A row is one device function of `kernels/ops/` and says which primitive it is for operands of
//! which kinds. A primitive that takes a grid or a patch has a row for each, since they are held
//! in different ways; of the rows that fit, the first is taken. `cargo xtask docs` writes
//! `kernels/opcodes.cuh` of it, and a function whose parameters are of other kinds than its row
//! says does not compile.

use std::fmt::Write as _;

use arc_dsl::Primitive;

/// How the device holds a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An integer, a truth value or, as `i32::MIN`, nothing; one word.
    Int,
    /// A pair of integers of 16 bits each; one word.
    Pair,
    /// A set of colours, a bit each; one word.
    Colours,
    /// A grid of at most 32 x 32 cells; a word (its size) and four units.
    Grid,
    /// Locations within a window of 32 x 32; a word (the window's origin) and a unit.
    Patch,
    /// Coloured locations within such a window; a word and five units.
    Object,
    /// A set of objects of one grid that share no location, held as the object of them all.
    Objects,
    /// A truth value that the encoder knows; a bit of the instruction.
    Flag,
    /// A function that the encoder knows, by which elements are compared; a number in the
    /// instruction.
    Key,
}

impl Kind {
    /// Its name in the header; nothing for what is no operand.
    fn symbol(self) -> Option<&'static str> {
        Some(match self {
            Kind::Int => "KIND_INT",
            Kind::Pair => "KIND_PAIR",
            Kind::Colours => "KIND_COLOURS",
            Kind::Grid => "KIND_GRID",
            Kind::Patch => "KIND_PATCH",
            Kind::Object => "KIND_OBJECT",
            Kind::Objects => "KIND_OBJECTS",
            Kind::Flag | Kind::Key => return None,
        })
    }

    /// Whether a value of this kind lies in a word and units of the pool.
    pub fn is_operand(self) -> bool {
        self.symbol().is_some()
    }

    /// Units of 128 bytes that a value of the kind has beside its word.
    pub fn units(self) -> u32 {
        match self {
            Kind::Grid => 4,
            Kind::Patch => 1,
            Kind::Object | Kind::Objects => 5,
            Kind::Int | Kind::Pair | Kind::Colours | Kind::Flag | Kind::Key => 0,
        }
    }

    /// Whether a value of this kind can be taken as it lies for one of another: an object for its
    /// locations, and a set of objects for what they are merged to.
    pub fn serves_as(self, other: Kind) -> bool {
        self == other || (self == Kind::Object && other == Kind::Patch)
    }
}

/// One operation of the kernels.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// The device function, in `kernels/ops/`.
    pub name: &'static str,
    /// The primitive that it is.
    pub primitive: Primitive,
    /// The kinds of the primitive's arguments, in their order.
    pub takes: &'static [Kind],
    /// The kind of its result.
    pub gives: Kind,
    /// Whether the primitive gives a tuple of such values, of which the instruction names one.
    pub of_tuple: bool,
}

/// By what elements of a set of objects are compared; their numbers are those of `Key` in
/// `kernels/arc.cuh`.
pub const KEYS: [Primitive; 9] = [
    Primitive::size,
    Primitive::height,
    Primitive::width,
    Primitive::uppermost,
    Primitive::lowermost,
    Primitive::leftmost,
    Primitive::rightmost,
    Primitive::color,
    Primitive::numcolors,
];

const fn row(
    name: &'static str,
    primitive: Primitive,
    takes: &'static [Kind],
    gives: Kind,
) -> Operation {
    Operation {
        name,
        primitive,
        takes,
        gives,
        of_tuple: false,
    }
}

/// All operations; an opcode is a place in this list.
#[rustfmt::skip]
pub const OPERATIONS: &[Operation] = {
    use Kind::*;
    &[
    // ops/transforms.cuh
    row("hmirror", Primitive::hmirror, &[Grid], Grid),
    row("hconcat", Primitive::hconcat, &[Grid, Grid], Grid),
    // ops/components.cuh
    row("objects", Primitive::objects, &[Grid, Flag, Flag, Flag], Objects),
    row("partition", Primitive::partition, &[Grid], Objects),
    row("fgpartition", Primitive::fgpartition, &[Grid], Objects),
    row("merge_of_objects", Primitive::merge, &[Objects], Object),
    row("first_of_objects", Primitive::first, &[Objects], Object),
    row("last_of_objects", Primitive::last, &[Objects], Object),
    row("size_of_objects", Primitive::size, &[Objects], Int),
    row("sizefilter", Primitive::sizefilter, &[Objects, Int], Objects),
    row("colorfilter", Primitive::colorfilter, &[Objects, Int], Objects),
    row("argmax", Primitive::argmax, &[Objects, Key], Object),
    row("argmin", Primitive::argmin, &[Objects, Key], Object),
    row("valmax", Primitive::valmax, &[Objects, Key], Int),
    row("valmin", Primitive::valmin, &[Objects, Key], Int),
    row("contained_of_objects", Primitive::contained, &[Object, Objects], Int),
    row("remove_of_objects", Primitive::remove, &[Object, Objects], Objects),
    row("difference_of_objects", Primitive::difference, &[Objects, Objects], Objects),
    row("combine_of_objects", Primitive::combine, &[Objects, Objects], Objects),
    // ops/patterns.cuh
    row("occurrences", Primitive::occurrences, &[Grid, Object], Patch),
    row("hperiod", Primitive::hperiod, &[Object], Int),
    row("vperiod", Primitive::vperiod, &[Object], Int),
    ]
};

/// What the operations, their order and the layout of what kernels are given are known by. An image
/// that was built from others has another number.
pub fn fingerprint() -> u64 {
    // The layout of instructions, items and values; to be raised with a change of any of them.
    const LAYOUT: &str = "layout 1";
    let mut text = LAYOUT.to_owned();
    for operation in OPERATIONS {
        text.push('\n');
        text.push_str(&listed(operation));
    }
    // FNV-1a: short, the same everywhere, and good enough to tell versions apart.
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The name and the kinds of an operation, its result's first, as the header lists them.
fn listed(operation: &Operation) -> String {
    let mut text = format!(
        "{}, {}",
        operation.name,
        operation.gives.symbol().unwrap_or_default()
    );
    for symbol in operation.takes.iter().filter_map(|kind| kind.symbol()) {
        text.push_str(", ");
        text.push_str(symbol);
    }
    text
}

/// The text of `kernels/opcodes.cuh`.
pub fn header() -> String {
    let mut text = String::from(
        "// Generated by `cargo xtask docs` from crates/gpu-kernels/src/operations.rs.\n\
         #pragma once\n\n\
         enum ArcKind { KIND_INT, KIND_PAIR, KIND_COLOURS, KIND_GRID, KIND_PATCH, KIND_OBJECT, KIND_OBJECTS };\n\n",
    );
    let _ = writeln!(text, "#define ARC_FINGERPRINT {:#018x}ull\n", fingerprint());
    text.push_str("// Opcode, function, kinds of its result and its operands.\n");
    text.push_str("#define ARC_OPERATIONS(X)");
    for (opcode, operation) in OPERATIONS.iter().enumerate() {
        let _ = write!(text, " \\\n    X({opcode}, {})", listed(operation));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_operation_has_a_name_of_its_own_and_the_arguments_of_its_primitive() {
        let mut names = HashSet::new();
        for operation in OPERATIONS {
            assert!(
                names.insert(operation.name),
                "{} comes twice",
                operation.name
            );
            let parameters = operation.primitive.parameters().len();
            assert_eq!(operation.takes.len(), parameters, "{}", operation.name);
            assert!(operation.gives.is_operand(), "{}", operation.name);
            let operands = operation.takes.iter().filter(|kind| kind.is_operand());
            assert!(operands.count() <= 4, "{}", operation.name);
        }
    }

    #[test]
    fn of_two_rows_of_a_primitive_the_second_is_not_hidden_by_the_first() {
        for (at, operation) in OPERATIONS.iter().enumerate() {
            for earlier in &OPERATIONS[..at] {
                let hidden = earlier.primitive == operation.primitive
                    && operation
                        .takes
                        .iter()
                        .zip(earlier.takes)
                        .all(|(kind, as_kind)| kind.serves_as(*as_kind));
                assert!(
                    !hidden,
                    "{} is never reached: {} fits first",
                    operation.name, earlier.name
                );
            }
        }
    }
}
