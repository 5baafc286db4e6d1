//! A document as steps to follow: code blocks with their places, and commands.
//!
//! The sentence before a code block ends with its place: a file and a line of it, as in ``In `src/a.rs`, before the
//! line `fn b() {`:``, a test (``before the test `name` ``), or a new file (``In a new file `src/c.rs`:``). A block
//! without a language has commands, one per line, with a comment after `#`; commands whose comment says that they
//! need more than Rust are skipped. Blocks of the language `text` are only to be read.

use anyhow::{Result, bail};

/// A step of a document.
#[derive(Debug, PartialEq)]
pub(super) struct Step {
    /// The line on which it begins, counted from 1.
    pub(super) line: usize,
    pub(super) action: Action,
}

/// The action of a step.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Put this text into a file.
    Put {
        path: String,
        place: BlockPlace,
        text: String,
    },
    /// Run a command, or skip it for this reason.
    Run {
        command: String,
        skipped: Option<String>,
    },
}

/// The place of a block in a file.
#[derive(Debug, PartialEq)]
pub(super) enum BlockPlace {
    /// The block is the whole file.
    NewFile,
    /// Before this line.
    Before(String),
    /// After this line.
    After(String),
    /// In place of this line.
    InsteadOf(String),
    /// Before the test with this name.
    BeforeTest(String),
}

/// The steps of a document; an error names the line of the invalid block.
pub(super) fn steps(name: &str, text: &str) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    let mut paragraph = String::new();
    let mut ended = false;
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else {
            let begins = ended || line.trim_start().starts_with(['-', '#', '|']);
            ended = line.trim().is_empty();
            if begins && !ended {
                paragraph.clear();
            }
            paragraph.push_str(line.trim());
            paragraph.push(' ');
            continue;
        };
        let margin = line.len() - line.trim_start().len();
        let block: Vec<_> = lines
            .by_ref()
            .take_while(|(_, line)| line.trim() != "```")
            .map(|(at, line)| (at, line.get(margin..).unwrap_or_default()))
            .collect();
        match language {
            "text" => {}
            "" => {
                for (at, line) in &block {
                    steps.extend(command(name, *at, line)?);
                }
            }
            _ => {
                let Some((path, place)) = place(&paragraph) else {
                    bail!(
                        "{name}, line {}: expected a sentence before the block that ends with its \
                         place, as in \"In `src/a.rs`, before the line `fn b() {{`:\"",
                        at + 1
                    );
                };
                let text: Vec<_> = block.iter().map(|(_, line)| *line).collect();
                steps.push(Step {
                    line: at + 1,
                    action: Action::Put {
                        path,
                        place,
                        text: text.join("\n") + "\n",
                    },
                });
            }
        }
        paragraph.clear();
    }
    Ok(steps)
}

fn command(name: &str, at: usize, line: &str) -> Result<Option<Step>> {
    if line.trim().is_empty() {
        return Ok(None);
    }
    let (command, comment) = line.split_once(" #").unwrap_or((line, ""));
    if !command.starts_with("cargo ") {
        bail!(
            "{name}, line {}: expected a command of cargo, found `{line}`",
            at + 1
        );
    }
    let needs = comment.trim().strip_prefix("needs ");
    let command = command.trim().to_owned();
    let action = Action::Run {
        command,
        skipped: needs.map(|needs| format!("it needs {needs}")),
    };
    Ok(Some(Step {
        line: at + 1,
        action,
    }))
}

/// The place at the end of a paragraph.
fn place(paragraph: &str) -> Option<(String, BlockPlace)> {
    // The odd parts are inside backticks.
    let parts: Vec<_> = paragraph.trim().split('`').collect();
    let owned = |text: &str| text.trim().to_owned();
    match parts[..] {
        [.., before, path, ":"] if before.ends_with("In a new file ") => {
            Some((owned(path), BlockPlace::NewFile))
        }
        [.., before, path, between, line, ":"] if before.ends_with("In ") => {
            let place = match between.trim() {
                ", before the line" => BlockPlace::Before,
                ", after the line" => BlockPlace::After,
                ", in place of the line" => BlockPlace::InsteadOf,
                ", before the test" => BlockPlace::BeforeTest,
                _ => return None,
            };
            Some((owned(path), place(owned(line))))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Step> {
        steps("page.md", text).unwrap()
    }

    #[test]
    fn a_block_has_the_place_that_its_paragraph_ends_with() {
        let found = read(
            "# Page\n\nIt counts `x`. In\n`src/a.rs`, before the line\n`fn b() {`:\n\n```rust\nfn c() {\n    d();\n}\n```\n",
        );
        let action = Action::Put {
            path: "src/a.rs".into(),
            place: BlockPlace::Before("fn b() {".into()),
            text: "fn c() {\n    d();\n}\n".into(),
        };
        assert_eq!(found, [Step { line: 7, action }]);
        let places = [
            ("In `a`, after the line `b`:", BlockPlace::After("b".into())),
            (
                "In `a`, in place of the line `b`:",
                BlockPlace::InsteadOf("b".into()),
            ),
            (
                "In `a`, before the test `b`:",
                BlockPlace::BeforeTest("b".into()),
            ),
            ("In a new file `a`:", BlockPlace::NewFile),
        ];
        for (sentence, expected) in places {
            assert_eq!(place(sentence), Some(("a".into(), expected)));
        }
    }

    #[test]
    fn a_block_in_a_list_loses_the_margin() {
        let found = read("- In a new file `a`:\n\n  ```rust\n  x {\n    y\n  ```\n");
        assert!(
            matches!(&found[0].action, Action::Put { text, .. } if text == "x {\n  y\n"),
            "{found:?}"
        );
    }

    #[test]
    fn a_block_without_a_place_is_an_error() {
        for before in [
            "",
            "In `a`, before the line `b`.",
            "In `a`, near the line `b`:",
            "In `a`, before the line `b`:\n\nAnother paragraph:",
        ] {
            let error = steps("page.md", &format!("{before}\n\n```rust\nx\n```\n")).unwrap_err();
            let line = before.lines().count() + 2;
            let start = format!("page.md, line {}: expected", line.max(3));
            assert!(error.to_string().starts_with(&start), "{before}: {error}");
        }
    }

    #[test]
    fn a_block_of_commands_has_one_of_cargo_in_each_line() {
        let error = steps("page.md", "```\ncargo a # first\n--all cargo b\n```\n").unwrap_err();
        let expected = "page.md, line 3: expected a command of cargo, found `--all cargo b`";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn commands_are_run_unless_they_need_more_than_rust() {
        let found =
            read("```\ncargo a  # quick\n\ncargo b\ncargo c # needs a GPU\n```\n```text\nx\n```\n");
        let skipped: Vec<_> = found
            .iter()
            .map(|step| match &step.action {
                Action::Run { command, skipped } => {
                    (step.line, command.as_str(), skipped.as_deref())
                }
                Action::Put { .. } => (step.line, "", None),
            })
            .collect();
        let reason = Some("it needs a GPU");
        assert_eq!(
            skipped,
            [
                (2, "cargo a", None),
                (4, "cargo b", None),
                (5, "cargo c", reason)
            ]
        );
    }
}
