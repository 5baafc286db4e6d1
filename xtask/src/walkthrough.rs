//! `walkthrough`: follows the page that explains how to add something, literally.
//!
//! The project's files are copied below the target directory. Each code block of the page is inserted into the copy
//! at the place that the sentence before it names, and the commands for the reader are run there. So a page that no
//! longer fits the code fails the check.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo::{cargo, words};

mod document;

use document::{Action, BlockPlace, Step};

/// The page that is followed.
const PAGE: &str = "docs/extending.md";

/// The build settings of the copy: compiling takes longer than running.
const SETTINGS: [(&str, &str); 5] = [
    ("CARGO_PROFILE_DEV_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_TEST_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_DEV_DEBUG", "0"),
    ("CARGO_PROFILE_TEST_DEBUG", "0"),
    // A copy below the project would get the project's flags twice, which the compiler refuses.
    ("CARGO_ENCODED_RUSTFLAGS", ""),
];

/// Files by their path from the root.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Follows the page; stops at the first step that fails.
///
/// All blocks come first and then all commands, each once, so everything is compiled only once.
pub(crate) fn run(root: &Path) -> Result<()> {
    let text = std::fs::read_to_string(root.join(PAGE)).context(PAGE)?;
    let steps = document::steps(PAGE, &text)?;
    println!("{PAGE}: {} steps", steps.len());
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let folder = root.join(target).join("walkthrough");
    let mut copy = Copy {
        files: files(root)?,
        folder: folder.join("copy"),
        target: folder.join("target"),
    };
    put_all(&mut copy.files, &steps)?;
    copy.write()?;
    let mut done = BTreeSet::new();
    for step in &steps {
        match &step.action {
            Action::Run { command, skipped } if done.insert(command) => match skipped {
                Some(reason) => println!("  {command}: skipped: {reason}"),
                None => copy.run(command).with_context(|| location(step))?,
            },
            _ => {}
        }
    }
    Ok(())
}

/// Inserts the blocks of the page into the files.
fn put_all(files: &mut Files, steps: &[Step]) -> Result<()> {
    for step in steps {
        if let Action::Put { path, place, text } = &step.action {
            put(files, path, place, text).with_context(|| location(step))?;
        }
    }
    Ok(())
}

/// The location of a step.
fn location(step: &Step) -> String {
    format!("{PAGE}, line {}", step.line)
}

/// The project's files: those that Git tracks, and new ones that are not ignored.
fn files(root: &Path) -> Result<Files> {
    let output = Command::new("git")
        .args(words("ls-files -z --cached --others --exclude-standard"))
        .current_dir(root)
        .output()
        .context("git, which knows the project's files, cannot be run")?;
    ensure!(output.status.success(), "git knows no files here");
    let listed = String::from_utf8(output.stdout).context("a file's name is no text")?;
    let mut files = Files::new();
    for name in listed.split_terminator('\0') {
        // Deleted files are still listed until that is committed.
        if let Ok(content) = std::fs::read(root.join(name)) {
            files.insert(name.into(), content);
        }
    }
    Ok(files)
}

/// The project with the additions of the page.
struct Copy {
    files: Files,
    folder: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// Runs a command of cargo in the copy.
    fn run(&self, command: &str) -> Result<()> {
        let mut words = words(command);
        // The alias uses an optimised build, which takes minutes.
        if words.get(1) == Some(&"xtask") {
            words.splice(1..2, ["run", "--quiet", "--package", "xtask", "--"]);
        }
        let target = self.target.to_string_lossy();
        let mut settings = SETTINGS.to_vec();
        settings.push(("CARGO_TARGET_DIR", &target));
        let start = Instant::now();
        cargo(&self.folder, &words[1..], &settings)?;
        println!("  {command}: {:.0} s", start.elapsed().as_secs_f64());
        Ok(())
    }

    /// Updates the folder to the files. Those that are the same keep their time, so that nothing is compiled again.
    fn write(&self) -> Result<()> {
        remove_others(&self.folder, &self.folder, &self.files)?;
        for (name, content) in &self.files {
            let path = self.folder.join(name);
            if std::fs::read(&path).is_ok_and(|found| found == *content) {
                continue;
            }
            let folder = path.parent().unwrap_or(&self.folder);
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            std::fs::write(&path, content).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}

/// Removes files that a folder of the copy should not have.
fn remove_others(root: &Path, folder: &Path, files: &Files) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(());
    };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(root, &path, files)?;
        } else if path
            .strip_prefix(root)
            .is_ok_and(|name| !files.contains_key(name))
        {
            std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

/// Inserts the text of a block into a file.
fn put(files: &mut Files, path: &str, place: &BlockPlace, text: &str) -> Result<()> {
    if *place == BlockPlace::NewFile {
        let old = files.insert(path.into(), text.as_bytes().to_vec());
        ensure!(old.is_none(), "expected no file `{path}`, which is there");
        return Ok(());
    }
    let Some(content) = files.get_mut(Path::new(path)) else {
        bail!("expected a file `{path}`, which is not there");
    };
    let old = std::str::from_utf8(content).with_context(|| path.to_owned())?;
    let new = with_block(old, place, text).with_context(|| path.to_owned())?;
    *content = new.into_bytes();
    Ok(())
}

/// The file with the block inserted, indented like its surroundings. If an empty line separates the surroundings from
/// the block's place, one also separates the block.
fn with_block(file: &str, place: &BlockPlace, block: &str) -> Result<String> {
    let lines: Vec<&str> = file.lines().collect();
    let mut at = only_line(&lines, place)?;
    let is_empty = |line: Option<&&str>| line.is_some_and(|line| line.trim().is_empty());
    let (mut before, mut behind) = (false, false);
    let mut replaced = 0;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let depth = indent(lines[at]);
    match place {
        BlockPlace::After(_) => {
            at += 1;
            before = is_empty(lines.get(at));
        }
        BlockPlace::Before(_) => behind = is_empty(at.checked_sub(1).and_then(|at| lines.get(at))),
        BlockPlace::BeforeTest(_) => {
            while at > 0 && lines[at - 1].trim().starts_with("#[") {
                at -= 1;
            }
            behind = true;
        }
        BlockPlace::InsteadOf(_) => replaced = 1,
        BlockPlace::NewFile => {}
    }
    // A block whose first line is indented already has its own depth.
    let own = block.lines().next().map_or(0, indent);
    let pad = " ".repeat(depth.saturating_sub(own));
    let owned = |line: &&str| (*line).to_owned();
    let mut made: Vec<String> = lines[..at].iter().map(owned).collect();
    made.extend(before.then(String::new));
    made.extend(block.lines().map(|line| match line {
        "" => String::new(),
        line => format!("{pad}{line}"),
    }));
    made.extend(behind.then(String::new));
    made.extend(lines[at + replaced..].iter().map(owned));
    Ok(made.join("\n") + "\n")
}

/// The index of the only line that a place names.
fn only_line(lines: &[&str], place: &BlockPlace) -> Result<usize> {
    let wanted = match place {
        BlockPlace::Before(line) | BlockPlace::After(line) | BlockPlace::InsteadOf(line) => {
            line.clone()
        }
        BlockPlace::BeforeTest(name) => format!("fn {name}() {{"),
        BlockPlace::NewFile => String::new(),
    };
    let found: Vec<usize> = (0..lines.len())
        .filter(|at| lines[*at].trim() == wanted)
        .collect();
    match found[..] {
        [at] => Ok(at),
        _ => bail!(
            "expected the line `{wanted}` once, found it {} times",
            found.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_put_where_the_sentence_says() {
        let file = "fn a() {\n    one();\n    two();\n}\n\n#[test]\nfn b() {\n}\n";
        let put = |place: BlockPlace, block: &str| with_block(file, &place, block).unwrap();
        assert_eq!(
            put(BlockPlace::After("one();".into()), "more();\n"),
            file.replace("one();", "one();\n    more();")
        );
        assert_eq!(
            put(BlockPlace::Before("two();".into()), "more();\n"),
            file.replace("one();", "one();\n    more();")
        );
        assert_eq!(
            put(BlockPlace::InsteadOf("two();".into()), "three();\n"),
            file.replace("two", "three")
        );
        assert_eq!(
            put(BlockPlace::BeforeTest("b".into()), "#[test]\nfn c() {\n}\n"),
            file.replace("#[test]", "#[test]\nfn c() {\n}\n\n#[test]")
        );
        // An empty line at the place is repeated.
        let parted = with_block("a\n\nb\n", &BlockPlace::Before("b".into()), "c\n").unwrap();
        assert_eq!(parted, "a\n\nc\n\nb\n");
        let parted = with_block("a\n\nb\n", &BlockPlace::After("a".into()), "c\n").unwrap();
        assert_eq!(parted, "a\n\nc\n\nb\n");
    }

    #[test]
    fn a_line_that_is_not_there_once_is_an_error() {
        let error = |line: &str| {
            let place = BlockPlace::Before(line.into());
            with_block("a\nb\na\n", &place, "c\n")
                .unwrap_err()
                .to_string()
        };
        assert_eq!(error("a"), "expected the line `a` once, found it 2 times");
        assert_eq!(error("d"), "expected the line `d` once, found it 0 times");
    }

    /// Everything but the commands, so that the tests find a line that has changed.
    #[test]
    fn every_block_of_the_page_has_its_place() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let Ok(mut files) = files(root) else {
            // Outside a checkout the files are unknown.
            return;
        };
        let text = std::fs::read_to_string(root.join(PAGE)).unwrap();
        let steps = document::steps(PAGE, &text).unwrap();
        let is_block = |step: &&Step| matches!(step.action, Action::Put { .. });
        let blocks = steps.iter().filter(is_block).count();
        assert!(blocks > 10 && blocks < steps.len(), "{blocks}");
        put_all(&mut files, &steps).unwrap();
    }
}
