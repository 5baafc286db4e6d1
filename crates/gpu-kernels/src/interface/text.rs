//! The text of definitions in `kernels/interface.cuh`.

use std::fmt::Write as _;

/// A code of an enumeration: its name in the kernels, its number, and its documentation.
pub(super) type Code = (&'static str, u32, String);

/// Documentation, by lines.
pub(super) type About<'a> = &'a [&'a str];

/// A field of a structure in device memory.
pub(super) struct RecordField {
    pub(super) name: &'static str,
    /// Its type in the kernels, or that of its elements.
    pub(super) ty: &'static str,
    /// How many elements it has, if it is an array.
    pub(super) elements: Option<usize>,
    /// Its first byte.
    pub(super) offset: usize,
    /// Bytes of an element.
    pub(super) bytes: usize,
    pub(super) about: About<'static>,
}

/// A comment in lines of up to 100 characters.
pub(super) fn comment(indent: &str, about: About<'_>) -> String {
    let mut text = String::new();
    let mut line = String::new();
    for word in about.iter().flat_map(|line| line.split_whitespace()) {
        if !line.is_empty() && indent.len() + 3 + line.len() + 1 + word.len() > 100 {
            let _ = writeln!(text, "{indent}// {line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(text, "{indent}// {line}");
    text
}

pub(super) fn constant(name: &str, ty: &str, value: i64, about: About<'_>) -> String {
    let (ty, value) = match (ty, value) {
        // The literal of the least integer would be of a larger type.
        ("i32", value) if value == i64::from(i32::MIN) => ("int32_t", format!("{} - 1", value + 1)),
        ("i32", value) => ("int32_t", value.to_string()),
        (_, value) if value > 0xffff => ("uint32_t", format!("{value:#010x}u")),
        (_, value) => ("uint32_t", format!("{value}u")),
    };
    format!("{}const {ty} {name} = {value};\n", comment("", about))
}

pub(super) fn enumeration(name: &str, about: About<'_>, codes: &[Code]) -> String {
    let mut text = comment("", about);
    let _ = writeln!(text, "enum {name} : uint32_t {{");
    for (name, number, about) in codes {
        text += &comment("    ", &[about]);
        let _ = writeln!(text, "    {name} = {number},");
    }
    text + "};\n"
}

/// A structure around its definition, which is checked to have this size and alignment.
pub(super) fn record(
    name: &str,
    [bytes, alignment]: [usize; 2],
    about: About<'_>,
    of: &str,
) -> String {
    format!(
        "{}{of}static_assert(sizeof({name}) == {bytes} && alignof({name}) == {alignment}, \"{name} has another size\");\n",
        comment("", about)
    )
}

/// A structure that a lane reads as one vector, and its fields with shifts.
pub(super) fn vector(name: &str, fields: &[RecordField]) -> String {
    let mut text = format!("struct {name} {{\n    uint4 bits;\n");
    for field in fields {
        text += &comment("    ", field.about);
        let at = |number: usize| part_of_vector(field.offset + number * field.bytes, field.bytes);
        let Some(count) = field.elements else {
            let (field, value) = (field.name, at(0));
            let _ = writeln!(
                text,
                "    __device__ uint32_t {field}() const {{ return {value}; }}"
            );
            continue;
        };
        let _ = writeln!(
            text,
            "    template <int N>\n    __device__ uint32_t {}() const {{\n        \
             static_assert(N < {count}, \"there are {count}\");",
            field.name
        );
        for number in 0..count - 1 {
            let _ = writeln!(text, "        if (N == {number}) return {};", at(number));
        }
        let _ = writeln!(text, "        return {};\n    }}", at(count - 1));
    }
    text + "};\n"
}

/// A structure with its fields, each of which is checked to lie where it does on the host.
pub(super) fn structure(name: &str, alignment: usize, fields: &[RecordField]) -> String {
    let alignment = match alignment {
        4 => String::new(),
        more => format!("alignas({more}) "),
    };
    let mut text = format!("struct {alignment}{name} {{\n");
    for field in fields {
        text += &comment("    ", field.about);
        let elements = field.elements.map(|count| format!("[{count}]"));
        let elements = elements.unwrap_or_default();
        let _ = writeln!(text, "    {} {}{elements};", field.ty, field.name);
    }
    text += "};\n";
    for field in fields {
        let _ = writeln!(
            text,
            "static_assert(ARC_OFFSET({name}, {field}) == {}, \"{name}::{field} lies elsewhere\");",
            field.offset,
            field = field.name,
        );
    }
    text
}

/// Some bytes of a vector of four words.
fn part_of_vector(offset: usize, bytes: usize) -> String {
    let component = ["x", "y", "z", "w"].get(offset / 4).unwrap_or(&"w");
    let (shift, width) = (offset % 4 * 8, bytes * 8);
    let moved = match shift {
        0 => format!("bits.{component}"),
        _ => format!("bits.{component} >> {shift}"),
    };
    if shift + width == 32 {
        moved
    } else {
        format!("{moved} & {:#x}", u32::MAX >> (32 - width))
    }
}
