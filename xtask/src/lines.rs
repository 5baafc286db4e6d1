//! `lines`: how many lines of production code the command and the wheel link, by crate.
//!
//! Counted are lines of Rust that are neither blank nor a comment, outside of tests, benches and examples.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use walkdir::WalkDir;

use crate::cargo::{command, words};

/// The counts that no crate may exceed.
const FILE: &str = "xtask/lines.txt";

/// Prints the counts, and writes them to the file or fails if one has grown.
pub(crate) fn run(root: &Path, write: bool) -> Result<()> {
    let mut counts = BTreeMap::new();
    for (name, folder) in linked(root)? {
        counts.insert(name, count_folder(&folder)?);
    }
    counts.insert("sum".to_owned(), counts.values().sum());
    let lines = counts
        .iter()
        .map(|(name, count)| format!("{count:6} {name}\n"));
    let text: String = lines.collect();
    print!("{text}");
    let file = root.join(FILE);
    if write {
        return fs::write(file, text).context(FILE);
    }
    let grown = grown(&counts, &fs::read_to_string(file).context(FILE)?);
    ensure!(
        grown.is_empty(),
        "more lines of production code than in {FILE}, which `cargo xtask lines --write` updates: {}",
        grown.join(", ")
    );
    Ok(())
}

/// The names with a greater count than in this text, or without one there.
fn grown<'a>(counts: &'a BTreeMap<String, usize>, before: &str) -> Vec<&'a str> {
    let before = before.lines().filter_map(|line| {
        let (count, name) = line.trim().split_once(' ')?;
        Some((name, count.parse().ok()?))
    });
    let before: BTreeMap<&str, usize> = before.collect();
    let has_grown = |(name, count): &(&String, &usize)| before.get(name.as_str()) < Some(*count);
    let grown = counts.iter().filter(has_grown);
    grown.map(|(name, _)| name.as_str()).collect()
}

/// The project's crates that the command or the wheel links, with their folders.
fn linked(root: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let line = "tree --package mega-batch-cli --package mega-batch-py --edges normal --prefix none";
    let output = command().args(words(line)).current_dir(root).output()?;
    ensure!(output.status.success(), "`cargo {line}` failed");
    let text = String::from_utf8(output.stdout)?;
    // `NAME VERSION (FOLDER)`; those of a registry have no folder.
    let linked = text.lines().filter_map(|line| {
        let (name, rest) = line.split_once(" v")?;
        let folder = Path::new(rest.split_once(" (")?.1.split_once(')')?.0);
        let is_ours = folder.is_absolute();
        is_ours.then(|| (name.to_owned(), folder.to_owned()))
    });
    Ok(linked.collect())
}

fn count_folder(folder: &Path) -> Result<usize> {
    let mut count = 0;
    for entry in WalkDir::new(folder) {
        let entry = entry?;
        let path = entry.path().strip_prefix(folder)?;
        if path.extension().is_some_and(|extension| extension == "rs") && is_production(path) {
            count += count_lines(&fs::read_to_string(entry.path())?);
        }
    }
    Ok(count)
}

/// Whether a file of a crate is neither of its tests nor a bench or an example.
fn is_production(path: &Path) -> bool {
    let is_other = |part: &str| {
        let name = part.strip_suffix(".rs").unwrap_or(part);
        ["tests", "test", "testing", "benches", "examples"].contains(&name)
            || name.ends_with("_tests")
    };
    !path.iter().any(|part| part.to_str().is_some_and(is_other))
}

fn count_lines(text: &str) -> usize {
    let is_module = |line: &&str| {
        let line = line.trim_start().trim_start_matches("pub(crate) ");
        line.trim_start_matches("pub ").starts_with("mod ") && line.ends_with('{')
    };
    let (mut count, mut end_of_tests) = (0, None);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if code == "#[cfg(test)]" && lines.peek().is_some_and(is_module) {
            let indentation = &line[..line.len() - code.len()];
            end_of_tests.get_or_insert(format!("{indentation}}}"));
        }
        let is_counted = end_of_tests.is_none() && !code.is_empty() && !code.starts_with("//");
        count += usize::from(is_counted);
        end_of_tests.take_if(|end| end == line);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn production_is_code_outside_of_tests() {
        let text = "//! A module.\n\nuse std::fs;\n\nfn f() {\n    // Why.\n    g(\"//\");\n}\n\n#[cfg(test)]\nmod tests {\n    \
            #[cfg(test)]\n    mod inner {\n    }\n\n    fn f() {}\n}\n\n#[cfg(test)]\nfn h() {}\n";
        assert_eq!(count_lines(text), 6);
        for (path, expected) in [
            ("src/lib.rs", true),
            ("src/a/tests.rs", false),
            ("src/a/tests/b.rs", false),
            ("src/a/testing.rs", false),
            ("src/a_tests.rs", false),
            ("benches/a.rs", false),
            ("examples/a/main.rs", false),
        ] {
            assert_eq!(is_production(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn more_lines_or_another_crate_is_growth_and_fewer_are_none() {
        let counts = [("a", 10), ("b", 5), ("c", 7)].map(|(name, count)| (name.to_owned(), count));
        assert_eq!(grown(&counts.into(), "    9 a\n    5 b\n"), ["a", "c"]);
    }

    #[test]
    fn what_only_tests_and_checks_link_is_left_out() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let linked = linked(root).unwrap();
        assert!(linked.contains_key("arc-isa") && linked.contains_key("mega-batch-py"));
        for other in ["xtask", "fuzz", "gpu-sim", "fake-cuda-driver", "proptest"] {
            assert!(!linked.contains_key(other), "{other}");
        }
    }
}
