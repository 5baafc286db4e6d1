//! The lists in docs/conformance.md, between `<!-- begin NAME -->` and `<!-- end NAME -->`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use arc_dsl::Dialect;

use super::compare::{DEVIATIONS, Tally};
use super::solvers::Programs;
use crate::docs::replaced;

/// The page of a dialect.
fn page_of(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Public => "docs/conformance.md",
        Dialect::Typed => "docs/dialects.md",
    }
}

/// Updates the lists; that of the programs only if they were run.
pub(crate) fn write(
    root: &Path,
    dialect: Dialect,
    tallies: &[Tally],
    programs: Option<&Programs>,
) -> Result<()> {
    let name = page_of(dialect);
    let path = root.join(name);
    let mut page = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    page = replaced(name, &page, "primitives", &primitives(tallies))?;
    page = replaced(name, &page, "deviations", &deviations(tallies))?;
    if let Some(programs) = programs {
        page = replaced(name, &page, "programs", &ordered(programs))?;
    }
    std::fs::write(&path, page).with_context(|| path.display().to_string())
}

fn primitives(tallies: &[Tally]) -> String {
    let cases: usize = tallies.iter().map(|tally| tally.cases).sum();
    let ordered: Vec<_> = tallies.iter().filter(|tally| tally.ordered > 0).collect();
    let mut text = format!(
        "{cases} cases, {} a primitive. {} of {} primitives answer some of them otherwise in plain \
         Python:\n\n| Primitive | Cases |\n|---|---|\n",
        cases / tallies.len().max(1),
        ordered.len(),
        tallies.len()
    );
    for tally in ordered {
        let _ = writeln!(text, "| `{}` | {} |", tally.primitive, tally.ordered);
    }
    text
}

fn deviations(tallies: &[Tally]) -> String {
    let mut text = String::from("| Deviation | Why | Cases |\n|---|---|---|\n");
    for deviation in DEVIATIONS {
        let cases: usize = tallies
            .iter()
            .filter_map(|t| t.intended.get(deviation.what))
            .sum();
        let _ = writeln!(text, "| {} | {} | {cases} |", deviation.what, deviation.why);
    }
    text
}

fn ordered(programs: &Programs) -> String {
    let mut text = String::from(
        "| Program | Pairs | Right in plain Python | In canonical order | In its reverse |\n\
         |---|---|---|---|---|\n",
    );
    for (name, ordered) in &programs.ordered {
        let pairs: Vec<_> = ordered.pairs.iter().map(ToString::to_string).collect();
        let [plain, canonical, reversed] = ordered.right;
        let pairs = pairs.join(", ");
        let _ = writeln!(
            text,
            "| `{name}` | {pairs} | {plain} | {canonical} | {reversed} |"
        );
    }
    text
}
