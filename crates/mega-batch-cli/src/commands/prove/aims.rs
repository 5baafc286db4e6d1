//! The target figures for a GPU, and which of them are reached.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::table;

/// A target figure.
pub(super) struct Aim {
    pub(super) name: &'static str,
    pub(super) wanted: Wanted,
    pub(super) unit: &'static str,
    /// Computes the figure from the documents of stages; otherwise says why there is none.
    figure: fn(&Results) -> Result<Figure, String>,
}

/// Whether a figure is to be at least or at most a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Wanted {
    AtLeast(f64),
    AtMost(f64),
}

/// A figure, and what it was measured on.
#[derive(Debug, Clone, PartialEq)]
struct Figure {
    value: f64,
    of: String,
}

/// Operations that do little besides reading a grid and writing one.
const BOUND_BY_MEMORY: [&str; 5] = ["identity", "rot90", "hmirror", "dmirror", "replace"];

/// The targets, for an H100 or H200.
pub(super) const AIMS: &[Aim] = &[
    Aim {
        name: "operations bound by memory, the slowest of identity, rot90, hmirror, dmirror, replace",
        wanted: Wanted::AtLeast(0.8),
        unit: "of the measured copy",
        figure: share_of_copy,
    },
    Aim {
        name: "a fused pipeline of ten operations beside one of one, kernel time",
        wanted: Wanted::AtMost(1.5),
        unit: "times",
        figure: ten_beside_one,
    },
    Aim {
        name: "fused operations x grids a second, first aim",
        wanted: Wanted::AtLeast(5e9),
        unit: "a second",
        figure: fused,
    },
    Aim {
        name: "fused operations x grids a second, second aim",
        wanted: Wanted::AtLeast(1e10),
        unit: "a second",
        figure: fused,
    },
    Aim {
        name: "the pipeline of ten beside CuPy's on padded tensors, kernel time",
        wanted: Wanted::AtLeast(20.0),
        unit: "times as fast",
        figure: beside_cupy,
    },
    Aim {
        name: "whole public programs, evaluations to verdicts on the host",
        wanted: Wanted::AtLeast(2e7),
        unit: "a second",
        figure: |results| Ok(public_programs(results)?.0),
    },
    Aim {
        name: "whole public programs beside all cores",
        wanted: Wanted::AtLeast(5.0),
        unit: "times as fast",
        figure: |results| Ok(public_programs(results)?.1),
    },
    Aim {
        name: "batts of a search, steps x inputs to verdicts on the host",
        wanted: Wanted::AtLeast(1e8),
        unit: "a second",
        figure: batts,
    },
    Aim {
        name: "one grid to its verdict on the host, beyond an empty launch",
        wanted: Wanted::AtMost(20.0),
        unit: "us",
        figure: small_batch,
    },
];

/// Whether a target is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    Reached,
    Below,
    NotMeasured,
}

/// A target with the measured figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Judged {
    pub(super) name: String,
    wanted: Wanted,
    unit: String,
    measured: Option<f64>,
    /// What the figure was measured on, or why there is none.
    remark: String,
    pub(super) verdict: Verdict,
}

impl Judged {
    /// The target, in words.
    pub(super) fn wanted(&self) -> String {
        let (word, number) = match self.wanted {
            Wanted::AtLeast(number) => ("at least", number),
            Wanted::AtMost(number) => ("at most", number),
        };
        format!("{word} {} {}", short(number), self.unit)
    }

    /// The measured figure, in words.
    pub(super) fn found(&self) -> String {
        match self.measured {
            Some(measured) => format!("{} {} ({})", short(measured), self.unit, self.remark),
            None => self.remark.clone(),
        }
    }
}

/// Three digits, with a unit of thousands.
fn short(number: f64) -> String {
    let units = [(1e9, " billion"), (1e6, " million"), (1e3, " thousand")];
    let unit = units.iter().find(|(size, _)| number.abs() >= *size);
    let (size, name) = unit.copied().unwrap_or((1.0, ""));
    let scaled = number / size;
    let digits = match scaled.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{}{name}", table::short(scaled, digits))
}

/// The results of stages, by name.
#[derive(Debug, Default)]
pub(super) struct Results(pub(super) BTreeMap<String, Value>);

/// Judges all targets. The figures of a fake driver do not count.
pub(super) fn judge(results: &Results, is_fake_driver: bool) -> Vec<Judged> {
    let judged = |aim: &Aim| {
        let figure = (aim.figure)(results);
        let (measured, remark, verdict) = match figure {
            Err(why) => (None, why, Verdict::NotMeasured),
            Ok(figure) if is_fake_driver => {
                let of = format!("{} {}, {}", short(figure.value), aim.unit, figure.of);
                let why = format!("on the fake driver, which is no GPU: {of}");
                (None, why, Verdict::NotMeasured)
            }
            Ok(Figure { value, of }) => {
                let is_reached = match aim.wanted {
                    Wanted::AtLeast(least) => value >= least,
                    Wanted::AtMost(most) => value <= most,
                };
                let verdict = if is_reached {
                    Verdict::Reached
                } else {
                    Verdict::Below
                };
                (Some(value), of, verdict)
            }
        };
        Judged {
            name: aim.name.to_owned(),
            wanted: aim.wanted,
            unit: aim.unit.to_owned(),
            measured,
            remark,
            verdict,
        }
    };
    AIMS.iter().map(judged).collect()
}

/// A row of the benchmark of the device.
#[derive(Clone, Copy)]
struct Row<'r>(&'r Value);

impl Row<'_> {
    fn is(self, key: &str, value: &str) -> bool {
        self.0[key] == value
    }

    fn number(self, key: &str) -> Result<f64, String> {
        let number = self.0[key].as_f64();
        number.ok_or_else(|| format!("{} has no {key}", self.0["name"]))
    }

    fn seconds(self, key: &str) -> Result<f64, String> {
        let seconds = self.0[key]["seconds"].as_f64();
        let seconds = seconds.filter(|seconds| *seconds > 0.0);
        seconds.ok_or_else(|| format!("{} has no time {key}", self.0["name"]))
    }

    fn grids(self) -> u64 {
        self.0["grids"].as_u64().unwrap_or_default()
    }

    fn at(self) -> String {
        format!("{} grids", table::thousands(self.grids()))
    }
}

impl Results {
    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let rows = self.0.get("benchmark").and_then(|of| of["rows"].as_array());
        rows.into_iter().flatten().map(Row)
    }

    /// Among the rows that match, the one of the largest batch.
    fn largest(&self, what: &str, is_meant: impl Fn(Row<'_>) -> bool) -> Result<Row<'_>, String> {
        let meant = self.rows().filter(|row| is_meant(*row));
        let largest = meant.max_by_key(|row| row.grids());
        largest.ok_or_else(|| format!("the benchmark has no row of {what}"))
    }

    fn named(&self, name: &str) -> Result<Row<'_>, String> {
        self.largest(name, |row| row.is("name", name))
    }

    fn named_of(&self, name: &str, grids: u64) -> Result<Row<'_>, String> {
        let is_meant = |row: Row<'_>| row.is("name", name) && row.grids() == grids;
        self.largest(&format!("{name}, {grids} grids"), is_meant)
    }
}

fn share_of_copy(results: &Results) -> Result<Figure, String> {
    let mut slowest: Option<Figure> = None;
    for name in BOUND_BY_MEMORY {
        let row = results.named(name)?;
        let value = row.number("share_of_copy")?;
        if slowest.as_ref().is_none_or(|slowest| value < slowest.value) {
            let of = format!("{name}, {}", row.at());
            slowest = Some(Figure { value, of });
        }
    }
    slowest.ok_or_else(|| "no operation is bound by memory".to_owned())
}

fn ten_beside_one(results: &Results) -> Result<Figure, String> {
    let ten = results.named("pipeline of 10")?;
    let one = results.named_of("pipeline of 1", ten.grids())?;
    Ok(Figure {
        value: ten.seconds("kernel")? / one.seconds("kernel")?,
        of: ten.at(),
    })
}

fn fused(results: &Results) -> Result<Figure, String> {
    let mut fastest: Option<Figure> = None;
    for row in results.rows().filter(|row| row.is("section", "pipeline")) {
        let value = row.number("operations_per_second")?;
        if fastest.as_ref().is_none_or(|fastest| value > fastest.value) {
            let name = row.0["name"].as_str().unwrap_or_default();
            let of = format!("{name}, {}", row.at());
            fastest = Some(Figure { value, of });
        }
    }
    fastest.ok_or_else(|| "the benchmark has no row of a pipeline".to_owned())
}

fn beside_cupy(results: &Results) -> Result<Figure, String> {
    let cupy = results.0.get("cupy").and_then(|of| of["rows"].as_array());
    let cupy = cupy.ok_or("CuPy was not run")?;
    let of_ten = cupy.iter().map(Row);
    let of_ten = of_ten.filter(|row| row.0["operations"] == 10);
    let both = of_ten.filter_map(|cupy| {
        let ours = results.named_of("pipeline of 10", cupy.grids()).ok()?;
        Some((cupy, ours))
    });
    let both = both.max_by_key(|(cupy, _)| cupy.grids());
    let (cupy, ours) = both.ok_or("no size was measured of both")?;
    let seconds = cupy.number("seconds")?;
    Ok(Figure {
        value: seconds / ours.seconds("kernel")?,
        of: ours.at(),
    })
}

/// Evaluations per second, and how many times as many as on all cores.
fn public_programs(results: &Results) -> Result<(Figure, Figure), String> {
    let row = results
        .named("given programs")
        .map_err(|_| "no programs were given and run: --programs FILE --tasks DIR".to_owned())?;
    let verdicts = row.seconds("verdicts")?;
    let programs = row.number("programs")?;
    let of = format!("{programs} programs, {}", row.at());
    let per_second = Figure {
        value: row.grids() as f64 / verdicts,
        of: of.clone(),
    };
    let workers = results.0.get("benchmark").map(|of| &of["workers"]);
    let workers = workers.and_then(Value::as_u64);
    let cores = workers.map_or(String::new(), |workers| format!(", {workers} threads"));
    let beside = Figure {
        value: row.seconds("all_cores")? / verdicts,
        of: format!("{of}{cores}"),
    };
    Ok((per_second, beside))
}

fn batts(results: &Results) -> Result<Figure, String> {
    let row = results.largest("batts", |row| row.is("section", "batts"))?;
    let steps = row.number("operations")? * row.grids() as f64;
    Ok(Figure {
        value: steps / row.seconds("verdicts")?,
        of: row.at(),
    })
}

fn small_batch(results: &Results) -> Result<Figure, String> {
    let row = results.named_of("identity", 1)?;
    let limits = results.0.get("benchmark").map(|of| &of["limits"]);
    let launch = limits.and_then(|limits| limits["launch_wall"]["seconds"].as_f64());
    let launch = launch.ok_or("no launch was measured")?;
    let verdict = row.seconds("verdicts")?;
    Ok(Figure {
        value: (verdict - launch) * 1e6,
        of: format!(
            "{:.1} us of which a launch is {:.1}",
            verdict * 1e6,
            launch * 1e6
        ),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(section: &str, name: &str, grids: u64, kernel: f64) -> Value {
        let timing = |seconds: f64| json!({ "seconds": seconds });
        json!({
            "section": section, "name": name, "grids": grids, "operations": 10.0, "programs": 3,
            "kernel": timing(kernel), "verdicts": timing(2.0 * kernel),
            "all_cores": timing(12.0 * kernel),
            "operations_per_second": grids as f64 * 10.0 / kernel, "share_of_copy": 0.9,
        })
    }

    fn results() -> Results {
        let mut rows: Vec<Value> = BOUND_BY_MEMORY
            .iter()
            .flat_map(|name| [1, 1000].map(|grids| row("operation", name, grids, 1e-5)))
            .collect();
        rows[3]["share_of_copy"] = 0.7.into();
        rows.push(row("pipeline", "pipeline of 1", 1000, 1e-6));
        rows.push(row("pipeline", "pipeline of 10", 1000, 1.4e-6));
        rows.push(row("programs", "given programs", 1000, 1e-5));
        rows.push(row("batts", "batts", 1000, 1e-5));
        let limits = json!({ "launch_wall": { "seconds": 5e-6 } });
        let benchmark = json!({ "rows": rows, "limits": limits, "workers": 16 });
        let cupy = json!({ "rows": [
            { "operations": 10, "grids": 1000, "seconds": 4.2e-5 },
            { "operations": 10, "grids": 100_000, "seconds": 1.0 },
        ] });
        let named = [("benchmark", benchmark), ("cupy", cupy)];
        Results(named.map(|(name, value)| (name.to_owned(), value)).into())
    }

    #[test]
    fn aims_are_judged_by_what_was_measured() {
        let judged = judge(&results(), false);
        let figures: Vec<f64> = judged.iter().map(|aim| aim.measured.unwrap()).collect();
        let wanted = [0.7, 1.4, 1e10, 1e10, 30.0, 5e7, 6.0, 5e8, 15.0];
        for (found, wanted) in figures.iter().zip(wanted) {
            assert!((found / wanted - 1.0).abs() < 1e-9, "{figures:?}");
        }
        let verdicts: Vec<Verdict> = judged.iter().map(|aim| aim.verdict).collect();
        assert_eq!(verdicts[0], Verdict::Below);
        assert!(verdicts[1..].iter().all(|one| *one == Verdict::Reached));
        let told = format!("{}; {}", judged[0].wanted(), judged[0].found());
        let expected = "at least 0.8 of the measured copy; \
                        0.7 of the measured copy (rot90, 1,000 grids)";
        assert_eq!(told, expected);
    }

    #[test]
    fn what_is_missing_is_not_measured() {
        let judged = judge(&Results::default(), false);
        assert_eq!(judged.len(), AIMS.len());
        for aim in judged {
            assert_eq!((aim.verdict, aim.measured), (Verdict::NotMeasured, None));
            assert!(!aim.found().is_empty());
        }
    }

    #[test]
    fn a_fake_driver_reaches_nothing() {
        for aim in judge(&results(), true) {
            assert_eq!((aim.verdict, aim.measured), (Verdict::NotMeasured, None));
            assert!(aim.found().starts_with("on the fake driver"), "{aim:?}");
        }
    }

    #[test]
    fn numbers_are_short() {
        let all = [0.8, 1.5, 5e9, 1.234e10, 20.0, 123.4, 0.0, 2e7];
        let expected = [
            "0.8",
            "1.5",
            "5 billion",
            "12.3 billion",
            "20",
            "123",
            "0",
            "20 million",
        ];
        assert_eq!(all.map(short), expected);
    }
}
