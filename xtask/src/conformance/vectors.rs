//! The vectors that `crates/arc-tasks/tests/conformance.rs` checks without Python.
//!
//! `pool.txt` holds one expression per line. A file per family holds the cases: `[primitive]`, then one line per
//! case, `12 40=(3, 4)`: the indices of its arguments in the pool, after `/` those for a call of its result, and
//! Python's result. That is the literal, sets in their order, if it is short, otherwise `#` and the end of its FNV-1a
//! hash, with truth values replaced by the integers that they equal; `!` if Python raises, `~` if it continues but ours
//! is meant to fail. `builtin.txt` holds the built-in programs: `[id]`, then one line per input, `seed index max_side=digest`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use arc_dsl::Dialect;
use arc_text::definition_digests;

use super::compare::{Both, Verdict, numbers, verdict};
use super::python::Theirs;
use super::suite::{Call, Suite};

/// Where the vectors of a dialect are, from the root of the project.
fn folder(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Public => "crates/arc-tasks/tests/vectors",
        Dialect::Typed => "crates/arc-tasks/tests/vectors/typed",
    }
}

/// Longer literals are hashed.
const SHORT: usize = 7;

/// Writes the digests of the reference's functions, which identify copies of them in program text.
pub(crate) fn write_digests(root: &Path, reference: &Path) -> Result<()> {
    let text = std::fs::read_to_string(reference.join("dsl.py")).context("dsl.py")?;
    let mut digests = "[\n".to_owned();
    for (name, digest) in definition_digests(&text) {
        let _ = writeln!(digests, "    (\"{name}\", 0x{digest:016x}),");
    }
    let file = root.join("crates/arc-text/src/reference/digests.in");
    Ok(std::fs::write(file, digests + "]\n")?)
}

/// Writes all files.
pub(crate) fn write(
    root: &Path,
    suite: &Suite,
    results: &[Both],
    builtins: Option<String>,
) -> Result<()> {
    let folder = root.join(folder(suite.dialect));
    std::fs::create_dir_all(&folder)?;
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    files.insert("pool".to_owned(), suite.pool.texts.join("\n") + "\n");
    if let Some(builtins) = builtins {
        files.insert("builtin".to_owned(), builtins);
    }
    let mut last = None;
    for (call, (ours, theirs)) in suite.calls.iter().zip(results) {
        let primitive = call.primitive;
        let text = files.entry(primitive.family().to_owned()).or_default();
        if last.replace(primitive) != Some(primitive) {
            let _ = writeln!(text, "[{primitive}]");
        }
        let result = match (verdict(Some(primitive), ours, theirs), theirs.last()) {
            (Verdict::SameValue | Verdict::SameError, Some(theirs)) => digest(theirs),
            (Verdict::Limit, _) => "~".to_owned(),
            // What differs or is undefined is no vector.
            _ => continue,
        };
        let _ = writeln!(text, "{}={result}", places(call));
    }
    for (name, text) in files {
        let path = folder.join(name).with_extension("txt");
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The indices of a call's arguments.
fn places(call: &Call) -> String {
    let list = |places: &[usize]| {
        let texts: Vec<_> = places.iter().map(ToString::to_string).collect();
        texts.join(" ")
    };
    let arguments = list(&call.arguments);
    match call.applied_to.as_slice() {
        [] => arguments,
        applied_to => format!("{arguments}/{}", list(applied_to)),
    }
}

/// A result: the literal of a value, or its hash if it is long.
pub(crate) fn digest(theirs: &Theirs) -> String {
    let Theirs::Value(literal) = theirs else {
        return "!".to_owned();
    };
    let literal = numbers(literal);
    if literal.len() <= SHORT {
        literal
    } else {
        let hash = literal.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("#{:06x}", hash & 0xff_ffff)
    }
}
