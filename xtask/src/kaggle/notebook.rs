//! The notebook: converts its source, a Python file with marked cells, to Kaggle's format.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::metadata::Names;

/// The source. A cell begins with a line `# %%`, a Markdown cell with `# %% [markdown]`.
const SOURCE: &str = include_str!("notebook.py");

/// The notebook with the names of its data sources in its settings.
pub(super) fn notebook(names: &Names) -> Result<Value> {
    let source = with_settings(SOURCE, names)?;
    let cells = cells(&source)?;
    let cells: Vec<_> = cells.iter().enumerate().map(json_of).collect();
    Ok(json!({
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
        "cells": cells,
    }))
}

/// The source with these names as values of its settings.
fn with_settings(source: &str, names: &Names) -> Result<String> {
    let settings = [
        ("COMPETITION", &names.competition),
        ("OWNER", &names.owner),
        ("DATASET", &names.dataset),
    ];
    let mut lines: Vec<_> = source.lines().map(str::to_owned).collect();
    for (setting, value) in settings {
        let start = format!("{setting} = \"");
        let mut places = lines.iter_mut().filter(|line| line.starts_with(&start));
        let place = places.next();
        let place = place.with_context(|| format!("the notebook has no setting {setting}"))?;
        // Names consist of letters, digits, `-` and `_`.
        *place = format!("{setting} = \"{value}\"");
        ensure!(
            places.next().is_none(),
            "the notebook has two settings {setting}"
        );
    }
    Ok(lines.join("\n"))
}

/// A cell's text, and whether it is code.
#[derive(Debug, PartialEq, Eq)]
struct Cell {
    is_code: bool,
    text: String,
}

/// The cells of a source.
fn cells(source: &str) -> Result<Vec<Cell>> {
    let mut cells: Vec<(bool, Vec<&str>)> = Vec::new();
    for (number, line) in source.lines().enumerate() {
        match (line.strip_prefix("# %%").map(str::trim), cells.last_mut()) {
            (Some(""), _) => cells.push((true, Vec::new())),
            (Some("[markdown]"), _) => cells.push((false, Vec::new())),
            (Some(mark), _) => bail!(
                "the notebook, line {}: expected `# %%` or `# %% [markdown]`, found `{mark}`",
                number + 1
            ),
            (None, Some((true, lines))) => lines.push(line),
            (None, Some((false, lines))) => {
                let words = line.strip_prefix('#').or(line.is_empty().then_some(line));
                let words = words.with_context(|| {
                    let number = number + 1;
                    format!("the notebook, line {number}: expected a comment, found `{line}`")
                })?;
                lines.push(words.strip_prefix(' ').unwrap_or(words));
            }
            (None, None) => bail!(
                "the notebook, line {}: expected `# %%`, found `{line}`",
                number + 1
            ),
        }
    }
    let cells = cells.into_iter().map(|(is_code, lines)| Cell {
        is_code,
        text: lines.join("\n").trim_matches('\n').to_owned(),
    });
    Ok(cells.collect())
}

/// A cell of the notebook.
fn json_of((number, cell): (usize, &Cell)) -> Value {
    let lines: Vec<_> = cell.text.split_inclusive('\n').collect();
    let id = format!("cell-{number}");
    if cell.is_code {
        json!({
            "cell_type": "code", "id": id, "metadata": {}, "source": lines,
            "execution_count": null, "outputs": [],
        })
    } else {
        json!({"cell_type": "markdown", "id": id, "metadata": {}, "source": lines})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new("somebody", "Some runs", "some-competition").unwrap()
    }

    #[test]
    fn a_source_falls_into_its_cells() {
        let source = "# %% [markdown]\n# # Title\n#\n# Words.\n\n# %%\nx = 1\n\n\ny = 2\n\n";
        let expected = [(false, "# Title\n\nWords."), (true, "x = 1\n\n\ny = 2")];
        let expected = expected.map(|(is_code, text)| Cell {
            is_code,
            text: text.to_owned(),
        });
        assert_eq!(cells(source).unwrap(), expected);
    }

    #[test]
    fn an_error_says_the_line_and_what_was_expected() {
        let error = |source| cells(source).unwrap_err().to_string();
        assert_eq!(
            error("x = 1\n"),
            "the notebook, line 1: expected `# %%`, found `x = 1`"
        );
        assert_eq!(
            error("# %% [markdown]\nx = 1\n"),
            "the notebook, line 2: expected a comment, found `x = 1`"
        );
        assert_eq!(
            error("# %%\n# %% [raw]\n"),
            "the notebook, line 2: expected `# %%` or `# %% [markdown]`, found `[raw]`"
        );
    }

    #[test]
    fn the_settings_have_the_names_that_the_metadata_has() {
        let notebook = notebook(&names()).unwrap();
        let cells = notebook["cells"].as_array().unwrap();
        let lines: Vec<_> = cells
            .iter()
            .filter(|cell| cell["cell_type"] == "code")
            .flat_map(|cell| cell["source"].as_array().unwrap())
            .map(|line| line.as_str().unwrap().trim_end())
            .collect();
        for setting in [
            "COMPETITION = \"some-competition\"",
            "OWNER = \"somebody\"",
            "DATASET = \"some-runs-engine\"",
        ] {
            assert_eq!(
                lines.iter().filter(|line| **line == setting).count(),
                1,
                "{setting}"
            );
        }
    }

    #[test]
    fn a_source_without_a_setting_is_an_error() {
        let error = with_settings("COMPETITION = \"a\"\nDATASET = \"b\"", &names()).unwrap_err();
        assert_eq!(error.to_string(), "the notebook has no setting OWNER");
        let twice = "OWNER = \"a\"\nOWNER = \"b\"\nCOMPETITION = \"a\"\nDATASET = \"b\"";
        let error = with_settings(twice, &names()).unwrap_err();
        assert_eq!(error.to_string(), "the notebook has two settings OWNER");
    }
}
