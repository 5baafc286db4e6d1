//! [`compare`]: compares a benchmark with an earlier one, taking the noise of both into account.
//!
//! A cell is faster or slower if the middle halves of its times in the two documents do not overlap; otherwise the
//! difference is within the noise. This is the noise within each run: on a shared machine, runs on different days may
//! differ by more.

use std::path::Path;

use anyhow::{anyhow, bail};
use mega_batch::escaped;
use mega_batch::inputs::read_text;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::report::in_our_words;

use super::document::{Change, Compared, Comparison, Document, SCHEMA};
use super::plan::BenchMode;
use super::statistics::geometric_mean;

/// By what a document is known.
#[derive(Deserialize)]
struct Head {
    schema: Option<u32>,
    /// In the documents of `prove`, which was another command once.
    #[serde(alias = "stage", alias = "rows", alias = "settings")]
    prove: Option<IgnoredAny>,
}

/// Reads an earlier document. An error says the file, the place in it, and what was expected.
pub(crate) fn read(file: &Path) -> anyhow::Result<Document> {
    let name = escaped(&file.to_string_lossy()).into_owned();
    let text = read_text(file)?;
    let Head { schema, prove } = parsed(text.as_bytes(), &name)?;
    if prove.is_some() {
        bail!(
            "{name}: expected the bench.json of a benchmark, found a document of an earlier version's `prove` or \
             `bench --backend`, which is not compared"
        );
    }
    match schema {
        Some(SCHEMA) => {}
        Some(found) => bail!("{name}: schema: expected {SCHEMA}, found {found}"),
        None => bail!("{name}: expected the bench.json of a benchmark: `schema` is missing"),
    }
    parsed(text.as_bytes(), &name)
}

fn parsed<'t, T: Deserialize<'t>>(text: &'t [u8], name: &str) -> anyhow::Result<T> {
    serde_json::from_slice(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = in_our_words(&error);
        anyhow!("{name}:{line}:{column}: expected the document of a benchmark: {message}")
    })
}

/// Compares this benchmark with an earlier one.
pub(crate) fn compare(here: &Document, kept: &Document, file: &Path) -> Comparison {
    let mut cells = Vec::new();
    for cell in &here.found.cells {
        let Some(other) = kept.cell(&cell.kind, cell.size, cell.mode) else {
            continue;
        };
        let (new, old) = (cell.seconds, other.seconds);
        let times = [
            new.lower_quartile,
            new.median,
            new.upper_quartile,
            old.lower_quartile,
        ];
        if !times.iter().all(|seconds| *seconds > 0.0) {
            continue;
        }
        let least = old.lower_quartile / new.upper_quartile;
        let greatest = old.upper_quartile / new.lower_quartile;
        cells.push(Compared {
            kind: cell.kind.clone(),
            size: cell.size,
            mode: cell.mode,
            ratio: old.median / new.median,
            least,
            greatest,
            change: if least > 1.0 {
                Change::Faster
            } else if greatest < 1.0 {
                Change::Slower
            } else {
                Change::WithinNoise
            },
        });
    }
    Comparison {
        file: file.to_string_lossy().into_owned(),
        remarks: remarks(here, kept, cells.len()),
        cells,
    }
}

/// What differs between the two, apart from the times.
fn remarks(here: &Document, kept: &Document, common: usize) -> Vec<String> {
    let mut remarks = Vec::new();
    let mut differs = |what: &str, here: String, kept: String| {
        if here != kept {
            remarks.push(format!("another {what}: {here} here, {kept} there"));
        }
    };
    let machine = |document: &Document| document.environment.folder();
    differs("machine", machine(here), machine(kept));
    let workers = |document: &Document| document.plan.workers.to_string();
    differs("number of workers", workers(here), workers(kept));
    let time = |document: &Document| {
        let plan = &document.plan;
        format!("{} s a cell", plan.seconds_per_cell)
    };
    differs("plan", time(here), time(kept));
    for (name, count) in [
        ("here", here.found.cells.len()),
        ("there", kept.found.cells.len()),
    ] {
        if count > common {
            remarks.push(format!(
                "{} of {count} cells were measured {name} alone",
                count - common
            ));
        }
    }
    remarks
}

impl Comparison {
    /// For each mode the geometric mean of its cells' ratios, and how many cells are faster, slower and within the
    /// noise.
    pub(crate) fn by_mode(&self) -> Vec<(BenchMode, f64, [usize; 3])> {
        let of_mode = |mode: BenchMode| {
            let cells: Vec<&Compared> =
                self.cells.iter().filter(|cell| cell.mode == mode).collect();
            let mean = geometric_mean(cells.iter().map(|cell| cell.ratio))?;
            let changes = [Change::Faster, Change::Slower, Change::WithinNoise];
            let counts =
                changes.map(|change| cells.iter().filter(|cell| cell.change == change).count());
            Some((mode, mean, counts))
        };
        BenchMode::ALL.into_iter().filter_map(of_mode).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::targets::tests::{cell, document};
    use super::*;

    fn twice() -> [Document; 2] {
        let modes = [(BenchMode::Sequential, 1.0), (BenchMode::Parallel, 1.9)];
        [document(2, 0, &modes), document(2, 0, &modes)]
    }

    #[test]
    fn what_is_within_the_noise_is_said_to_be() {
        let [mut here, kept] = twice();
        let same = compare(&here, &kept, Path::new("kept.json"));
        assert_eq!(same.cells.len(), kept.found.cells.len());
        assert!(
            same.cells
                .iter()
                .all(|cell| cell.change == Change::WithinNoise)
        );
        assert!(same.remarks.is_empty(), "{:?}", same.remarks);

        let (kind, size) = ("batt", 100);
        here.found
            .cells
            .retain(|cell| (&*cell.kind, cell.size) != (kind, size));
        here.found
            .cells
            .push(cell(kind, size, BenchMode::Sequential, 1.5));
        here.found
            .cells
            .push(cell(kind, size, BenchMode::Parallel, 1.0));
        let found = compare(&here, &kept, Path::new("kept.json"));
        let of_kind = found
            .cells
            .iter()
            .filter(|cell| (&*cell.kind, cell.size) == (kind, size));
        let changes: Vec<_> = of_kind.map(|cell| cell.change).collect();
        assert_eq!(changes, [Change::Faster, Change::Slower]);
        let (mode, mean, counts) = found.by_mode()[0];
        assert_eq!(
            (mode, counts),
            (
                BenchMode::Sequential,
                [1, 0, kept.found.cells.len() / 2 - 1]
            )
        );
        assert!(mean > 1.0);
    }

    #[test]
    fn another_machine_and_another_plan_are_told() {
        let [mut here, kept] = twice();
        here.environment.machine.host.threads = 4;
        here.plan.workers = 4;
        here.plan.seconds_per_cell = 0.1;
        here.found.cells.retain(|cell| cell.size > 1);
        let found = compare(&here, &kept, Path::new("kept.json"));
        let alone = kept.found.cells.len() - here.found.cells.len();
        assert_eq!(
            found.remarks,
            [
                "another machine: amd-epyc-tm-7r13-4-cores here, amd-epyc-tm-7r13-2-cores there",
                "another number of workers: 4 here, 2 there",
                "another plan: 0.1 s a cell here, 0.03 s a cell there",
                &format!(
                    "{alone} of {} cells were measured there alone",
                    kept.found.cells.len()
                ),
            ]
        );
    }

    #[test]
    fn a_broken_file_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kept.json");
        let [document, _] = twice();
        let text = serde_json::to_string_pretty(&document).unwrap();
        let error = |text: &str| {
            std::fs::write(&file, text).unwrap();
            format!("{:#}", read(&file).map(|_| ()).unwrap_err())
        };
        std::fs::write(&file, &text).unwrap();
        let read_again = read(&file).unwrap();
        // Reading may change the last digit of a number.
        let found = compare(&read_again, &document, &file);
        assert_eq!(found.cells.len(), document.found.cells.len());
        let same = |cell: &Compared| (cell.ratio - 1.0).abs() < 1e-9;
        assert!(found.cells.iter().all(same) && found.remarks.is_empty());
        assert!(read_again.verdict.is_empty());

        for (broken, place) in [
            (
                String::new(),
                "kept.json:1:0: expected the document of a benchmark: empty",
            ),
            (
                "{\n \"schema\": x".to_owned(),
                "kept.json:2:12: expected the doc",
            ),
            (
                "{ \"schema\": 9 }".to_owned(),
                "kept.json: schema: expected 1, found 9",
            ),
            (
                r#"{ "schema": 1, "device": "a", "settings": {}, "stages": [] }"#.to_owned(),
                "found a document of an earlier version's `prove`",
            ),
            (
                r#"{ "stage": "modes", "result": {} }"#.to_owned(),
                "found a document of an earlier version's `prove`",
            ),
            (
                "{}".to_owned(),
                "kept.json: expected the bench.json of a benchmark",
            ),
            (
                "{ \"schema\": 1 }".to_owned(),
                "kept.json:1:15: expected the document of a benchmark",
            ),
        ] {
            let told = error(&broken);
            assert!(told.contains(place), "{told}");
        }
        let told = format!("{:#}", read(folder.path()).map(|_| ()).unwrap_err());
        assert!(told.contains("expected a file"), "{told}");
        let missing = format!(
            "{:#}",
            read(&folder.path().join("none")).map(|_| ()).unwrap_err()
        );
        assert!(
            missing.contains("none: no such file or folder"),
            "{missing}"
        );
    }
}
