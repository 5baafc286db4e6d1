//! [`judge`]: compares what was measured with what is expected, by the tuning guides and of the kernels, and says what
//! to look at if it is missed.

use std::fmt::{self, Display, Formatter, Write as _};

use arc_tasks::builtin::BuiltinKind;

use super::clock::{COPY, bytes_moved};
use super::document::{Cell, Document, Finding, Judgement};
use super::plan::BenchMode;
use super::statistics::geometric_mean;
use super::workload::{BOUND_BY_MEMORY, OF_GUIDES, PIPELINES, Workload, pipeline};
use crate::table::{short, thousands};

/// An expectation.
struct Target {
    name: &'static str,
    /// The wording of the guides; empty if the expectation is ours, of an H100 or H200 with 16 cores.
    wording: &'static str,
    /// What `from` and `to` are multiplied by.
    each: Each,
    from: Option<f64>,
    to: Option<f64>,
    unit: &'static str,
    figure: Figure,
}

enum Each {
    Run,
    /// Workers, at most as many as there are physical cores.
    Worker,
    Gpu,
}

/// How a figure follows from a document.
enum Figure {
    /// The speed-up of a mode over the sequential one on the largest batches: the geometric mean over the kinds of the
    /// guides, or of one of them.
    SpeedUp(BenchMode, Option<Workload<'static>>),
    /// How many times as fast a mode is as another on the largest batches of a kind that both ran, up to a size.
    Beside(&'static str, BenchMode, BenchMode, usize),
    /// The figure and what it is of, or what is missing for it.
    Of(fn(&Document) -> Result<(f64, String), String>),
}

/// What most expectations have in common.
const TARGET: Target = Target {
    name: "",
    wording: "",
    each: Each::Run,
    from: None,
    to: None,
    unit: "x",
    figure: Figure::SpeedUp(BenchMode::Gpu, None),
};

/// Any size.
const ANY: usize = usize::MAX;

/// The figures of the guides for 4 workers and 4 GPUs are scaled in proportion.
#[rustfmt::skip]
const TARGETS: &[Target] = &[
    Target { name: "sequential", wording: "1x: what speed-ups are over", from: Some(1.0), to: Some(1.0), figure: Figure::SpeedUp(BenchMode::Sequential, None), ..TARGET },
    Target { name: "parallel", wording: "3.5x to 4x with 4 workers", each: Each::Worker, from: Some(3.5 / 4.0), to: Some(1.0), figure: Figure::SpeedUp(BenchMode::Parallel, None), ..TARGET },
    Target { name: "GPU", wording: "7x to 12x", from: Some(7.0), to: Some(12.0), ..TARGET },
    Target { name: "GPU, pipelines", wording: "10x to 30x", from: Some(10.0), to: Some(30.0), figure: Figure::SpeedUp(BenchMode::Gpu, Some(Workload::Of(BuiltinKind::Pipeline))), ..TARGET },
    Target { name: "all GPUs", wording: "30x with 4 GPUs", each: Each::Gpu, from: Some(30.0 / 4.0), figure: Figure::SpeedUp(BenchMode::Gpus, None), ..TARGET },
    Target { name: "given programs, GPUs and cores beside all cores", from: Some(4.0), figure: Figure::Beside(GIVEN, BenchMode::Shared, BenchMode::Parallel, ANY), ..TARGET },
    Target { name: "given programs, GPU beside one core", from: Some(12.0), figure: Figure::Beside(GIVEN, BenchMode::Gpu, BenchMode::Sequential, 100_000), ..TARGET },
    Target { name: "whole programs, GPUs and cores beside all cores", from: Some(3.0), figure: Figure::Beside("whole programs", BenchMode::Shared, BenchMode::Parallel, ANY), ..TARGET },
    Target { name: "given programs, a batch of 10,000 on the GPU", to: Some(3.0), unit: "ms", figure: Figure::Of(small_batch), ..TARGET },
    Target { name: "single operations to verdicts, the slowest bound by memory", from: Some(1e8), unit: "a second", figure: Figure::Of(single_operations), ..TARGET },
    Target { name: "batt, steps x inputs to verdicts on the GPU", from: Some(1e8), unit: "a second", figure: Figure::Of(batt), ..TARGET },
    Target { name: "one grid to its verdict, beyond the kernel", to: Some(20.0), unit: "µs", figure: Figure::Of(one_grid), ..TARGET },
    Target { name: "kernel bound by memory, the slowest", from: Some(0.8), unit: "of the fastest copy", figure: Figure::Of(share_of_copy), ..TARGET },
    Target { name: "kernel of a pipeline of 10 beside that of 1", to: Some(1.5), figure: Figure::Of(ten_beside_one), ..TARGET },
    Target { name: "fused operations x grids", from: Some(1e10), unit: "a second", figure: Figure::Of(fused), ..TARGET },
    Target { name: "pipeline of 10 beside CuPy's on padded tensors", from: Some(20.0), figure: Figure::Beside("pipeline of 10", BenchMode::Kernel, BenchMode::CuPy, ANY), ..TARGET },
    Target { name: "pipeline of 10 beside JAX's, which is fused", from: Some(1.0), figure: Figure::Beside("pipeline of 10", BenchMode::Kernel, BenchMode::Jax, ANY), ..TARGET },
];

/// The name of [`Workload::Given`].
const GIVEN: &str = "given programs";

/// Below this speed-up a GPU's stage times are reported.
const SLOW_GPU: f64 = 5.0;

/// The fraction of a batch's instructions that only the calling thread executes: counted over all built-in programs,
/// each on tasks of its own (benches/notes/cores.md, "More cores").
const SERIAL: f64 = 0.0025;

/// The speed-up of this many workers by Amdahl's law, if each had a core and memory kept up.
fn predicted(workers: usize) -> f64 {
    1.0 / (SERIAL + (1.0 - SERIAL) / workers as f64)
}

/// From this load on, other running processes are mentioned.
const LOADED: f64 = 0.5;

/// Judges every expectation; those of ours only if there is a GPU.
pub(crate) fn judge(document: &Document) -> Vec<Judgement> {
    let has_gpu = !document.environment.gpus().is_empty();
    let targets = TARGETS.iter();
    let targets = targets.filter(|target| has_gpu || !target.wording.is_empty());
    targets.map(|target| target.judge(document)).collect()
}

impl Target {
    fn judge(&self, document: &Document) -> Judgement {
        let environment = &document.environment;
        let workers = document.plan.workers;
        let cores = workers.min(environment.usable_cores());
        let count = match self.each {
            Each::Run => 1,
            Each::Worker => cores,
            // Judged if there are several; otherwise stated for the guides' number.
            Each::Gpu => Some(environment.gpus().len())
                .filter(|gpus| *gpus > 1)
                .unwrap_or(4),
        };
        let [from, to] = [self.from, self.to].map(|bound| Some(bound? * count as f64));
        let mut remarks = Vec::new();
        let cells = self.cells(document);
        let figure = match &self.figure {
            Figure::SpeedUp(mode, _) => {
                mean(&cells).ok_or_else(|| why_not_measured(document, *mode))
            }
            Figure::Beside(kind, mode, other, most) => beside(document, kind, *mode, *other, *most),
            Figure::Of(figure) => figure(document),
        };
        let (measured, on, finding) = match figure {
            Err(why) => {
                remarks.push(why);
                (None, String::new(), Finding::NotMeasured)
            }
            Ok((value, on)) if environment.note.is_some() && self.is_of_gpus() => {
                let shown = shown(value, self.unit);
                remarks.push(format!(
                    "on the fake driver, which is no GPU: {shown} on {on}"
                ));
                (None, String::new(), Finding::NotMeasured)
            }
            Ok((value, on)) => {
                let finding = match (from, to) {
                    (Some(from), _) if value < from => Finding::Below,
                    // At most so much is a bound; a range may be exceeded.
                    (None, Some(to)) if value > to => Finding::Below,
                    (Some(_), Some(to)) if value > to => Finding::Above,
                    _ => Finding::Met,
                };
                (Some(value), on, finding)
            }
        };
        if matches!(self.each, Each::Worker) {
            if workers > cores {
                remarks.push(format!("{workers} workers share {cores} physical cores"));
            }
            if cores > 1 {
                remarks.push(format!(
                    "{:.2}x is predicted by the instructions that only one thread executes",
                    predicted(cores)
                ));
            }
            if finding == Finding::Below
                && let Some(load) = environment.load.filter(|load| *load >= LOADED)
            {
                remarks.push(format!(
                    "other processes ran too: the load was {load:.2} before"
                ));
            }
        }
        if self.is_of_gpus() {
            let slow = |cell: &&Cell| cell.speedup.is_none_or(|ratio| ratio.median < SLOW_GPU);
            let slow = cells.iter().copied().filter(slow);
            remarks.extend(slow.filter_map(what_to_look_at));
        }
        Judgement {
            target: self.name,
            wording: self.wording,
            from,
            to,
            unit: self.unit,
            measured,
            on,
            finding,
            remarks,
        }
    }

    fn is_of_gpus(&self) -> bool {
        match self.figure {
            Figure::SpeedUp(mode, _) => mode.uses_gpus(),
            Figure::Beside(..) | Figure::Of(_) => true,
        }
    }

    /// The cells that it is judged by: those of the largest batches.
    fn cells<'d>(&self, document: &'d Document) -> Vec<&'d Cell> {
        let Figure::SpeedUp(mode, kind) = self.figure else {
            return Vec::new();
        };
        let names: Vec<String> = match &kind {
            Some(kind) => vec![kind.name()],
            None => OF_GUIDES.iter().map(Workload::name).collect(),
        };
        let cells = document.found.cells.iter();
        let cells: Vec<&Cell> = cells
            .filter(|cell| cell.mode == mode && names.contains(&cell.kind))
            .collect();
        let largest = cells.iter().map(|cell| cell.size).max();
        let is_largest = |cell: &&Cell| Some(cell.size) == largest;
        cells.into_iter().filter(is_largest).collect()
    }
}

fn why_not_measured(document: &Document, mode: BenchMode) -> String {
    let mut reasons = document.found.not_measured.iter();
    let reason = reasons.find(|not| not.mode == mode && not.above.is_none());
    reason.map_or("it was not measured".to_owned(), |not| not.reason.clone())
}

/// The geometric mean of the speed-ups, and `100,000 evaluations, 1.80x pattern to 1.97x batt`.
fn mean(cells: &[&Cell]) -> Option<(f64, String)> {
    let speedup = |cell: &&Cell| Some((cell.speedup?.median, cell.kind.clone()));
    let mut speedups: Vec<(f64, String)> = cells.iter().filter_map(speedup).collect();
    speedups.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut on = evaluations(cells.first()?);
    let (least, greatest) = (speedups.first()?, speedups.last()?);
    if greatest.0 - least.0 >= 0.005 {
        // Writing into a string cannot fail.
        let _ = write!(
            on,
            ", {:.2}x {} to {:.2}x {}",
            least.0, least.1, greatest.0, greatest.1
        );
    }
    Some((
        geometric_mean(speedups.iter().map(|(speedup, _)| *speedup))?,
        on,
    ))
}

fn evaluations(cell: &Cell) -> String {
    format!("{} evaluations", thousands(cell.size as u64))
}

/// The largest batch of a kind in this mode.
fn largest<'d>(document: &'d Document, kind: &str, mode: BenchMode) -> Result<&'d Cell, String> {
    let cell = document.largest(kind, mode);
    cell.ok_or_else(|| format!("{kind} was not measured in mode {mode}"))
}

/// How many times as fast a mode is as another on the largest batches that both ran, up to a size.
fn beside(
    document: &Document,
    kind: &str,
    mode: BenchMode,
    other: BenchMode,
    most: usize,
) -> Result<(f64, String), String> {
    let cells = document.found.cells.iter();
    let of_mode = cells.filter(|cell| cell.kind == kind && cell.mode == mode && cell.size <= most);
    let both = of_mode.filter_map(|cell| Some((cell, document.cell(kind, cell.size, other)?)));
    let both = both.max_by_key(|(cell, _)| cell.size);
    let (cell, base) =
        both.ok_or_else(|| format!("{kind} was not measured in modes {mode} and {other}"))?;
    Ok((base.seconds.median / cell.seconds.median, evaluations(cell)))
}

fn small_batch(document: &Document) -> Result<(f64, String), String> {
    let cell = document.cell(GIVEN, 10_000, BenchMode::Gpu);
    let cell = cell.ok_or_else(|| format!("no batch of 10,000 {GIVEN} was measured"))?;
    Ok((cell.seconds.median * 1e3, evaluations(cell)))
}

/// The slowest of the operations bound by memory, by a figure of its cell.
fn slowest(
    document: &Document,
    mode: BenchMode,
    figure: impl Fn(&Cell) -> f64,
) -> Result<(f64, String), String> {
    let mut slowest: Option<(f64, String)> = None;
    for name in BOUND_BY_MEMORY {
        let cell = largest(document, name, mode)?;
        let value = figure(cell);
        if slowest.as_ref().is_none_or(|(least, _)| value < *least) {
            slowest = Some((value, format!("{name}, {}", evaluations(cell))));
        }
    }
    slowest.ok_or_else(|| "no operation is bound by memory".to_owned())
}

fn single_operations(document: &Document) -> Result<(f64, String), String> {
    slowest(document, BenchMode::Gpu, |cell| cell.evaluations_per_second)
}

fn share_of_copy(document: &Document) -> Result<(f64, String), String> {
    let copy = document.figure(COPY).ok_or("no copy was measured")?;
    slowest(document, BenchMode::Kernel, |cell| {
        cell.evaluations_per_second * f64::from(bytes_moved()) / copy
    })
}

fn batt(document: &Document) -> Result<(f64, String), String> {
    let cell = largest(document, &Workload::Batt.name(), BenchMode::Gpu)?;
    Ok((cell.evaluations_per_second * cell.steps, evaluations(cell)))
}

fn one_grid(document: &Document) -> Result<(f64, String), String> {
    let seconds = |mode| {
        let cell = document.cell("identity", 1, mode);
        let cell = cell.ok_or_else(|| format!("one identity was not measured in mode {mode}"));
        Ok::<_, String>(cell?.seconds.median * 1e6)
    };
    let (whole, kernel) = (seconds(BenchMode::Gpu)?, seconds(BenchMode::Kernel)?);
    let on = format!("{whole:.1} µs, of which the kernel takes {kernel:.1}");
    Ok((whole - kernel, on))
}

fn ten_beside_one(document: &Document) -> Result<(f64, String), String> {
    let ten = largest(document, &pipeline(10), BenchMode::Kernel)?;
    let one = document.cell(&pipeline(1), ten.size, BenchMode::Kernel);
    let one = one.ok_or("a pipeline of 1 was not measured")?;
    Ok((ten.seconds.median / one.seconds.median, evaluations(ten)))
}

fn fused(document: &Document) -> Result<(f64, String), String> {
    let cells = PIPELINES.map(|length| document.largest(&pipeline(length), BenchMode::Kernel));
    let rates = cells.into_iter().flatten().map(|cell| {
        let on = format!("{}, {}", cell.kind, evaluations(cell));
        (cell.evaluations_per_second * cell.steps, on)
    });
    let fastest = rates.max_by(|one, other| one.0.total_cmp(&other.0));
    fastest.ok_or_else(|| "no pipeline was measured".to_owned())
}

/// Where the time of a slow cell on a device goes.
fn what_to_look_at(cell: &Cell) -> Option<String> {
    let share = cell.on_device.as_ref()?;
    let percent = share.evaluations * 100.0;
    let made = format!(
        "{}: devices made {percent:.0}% of the evaluations",
        cell.kind
    );
    let failure = share
        .failure
        .iter()
        .map(|failure| format!("failed: {failure}"));
    let parts: Vec<String> = [made]
        .into_iter()
        .chain(failure)
        .chain(share.remarks.iter().cloned())
        .collect();
    Some(parts.join("; "))
}

/// A figure with its unit: `1.91x`, `20 million a second`.
fn shown(value: f64, unit: &str) -> String {
    if unit == "x" {
        return format!("{}x", short(value, 2));
    }
    let sizes = [(1e9, " billion"), (1e6, " million"), (1e3, " thousand")];
    let size = sizes.into_iter().find(|(size, _)| value.abs() >= *size);
    let (size, name) = size.unwrap_or((1.0, ""));
    let scaled = value / size;
    let decimals = match scaled.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{}{name} {unit}", short(scaled, decimals))
}

impl Judgement {
    /// The expectation: `1.75x to 2x`.
    pub(crate) fn expected(&self) -> String {
        let shown = |value| shown(value, self.unit);
        match (self.from, self.to) {
            (Some(from), Some(to)) if to > from => format!("{} to {}", shown(from), shown(to)),
            (Some(from), Some(_)) => shown(from),
            (Some(from), None) => format!("{} and more", shown(from)),
            (None, to) => format!("at most {}", shown(to.unwrap_or_default())),
        }
    }

    /// What was measured: `1.91x on 100,000 evaluations, 1.80x pattern to 1.97x batt`.
    pub(crate) fn found(&self) -> Option<String> {
        let measured = match self.unit {
            "x" => format!("{:.2}x", self.measured?),
            unit => shown(self.measured?, unit),
        };
        Some(format!("{measured} on {}", self.on))
    }
}

/// One line, and one for each remark.
impl Display for Judgement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (target, finding) = (self.target, self.finding);
        write!(f, "{target:<15} {finding:<14}expected {}", self.expected())?;
        if let Some(found) = self.found() {
            write!(f, ", measured {found}")?;
        }
        for remark in &self.remarks {
            write!(f, "\n{:16}{remark}", "")?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::document;
    use super::super::document::{DeviceShare, Found, NotMeasured, SCHEMA};
    use super::super::environment::tests::environment;
    use super::super::plan::tests::plan;
    use super::super::statistics::Spread;
    use super::*;

    /// A cell whose speed-up and seconds were the same in all turns.
    pub(in crate::bench) fn cell(kind: &str, size: usize, mode: BenchMode, speedup: f64) -> Cell {
        let seconds = size as f64 * 1e-6 / speedup;
        Cell {
            kind: kind.to_owned(),
            size,
            mode,
            count: None,
            seconds: Spread::of(&[seconds * 0.98, seconds, seconds * 1.02]).unwrap(),
            batches: 3,
            evaluations_per_second: size as f64 / seconds,
            steps: 10.0,
            speedup: Spread::of(&[speedup * 0.95, speedup, speedup * 1.05]),
            on_device: None,
        }
    }

    /// A document with these speed-ups on all kinds and sizes.
    pub(in crate::bench) fn document(
        threads: usize,
        gpus: usize,
        modes: &[(BenchMode, f64)],
    ) -> Document {
        let sizes = [1, 100, 10_000];
        let mut cells = Vec::new();
        for kind in OF_GUIDES {
            for size in sizes {
                let name = kind.name();
                let of_mode = |(mode, speedup): &(_, _)| cell(&name, size, *mode, *speedup);
                cells.extend(modes.iter().map(of_mode));
            }
        }
        let mut document = Document {
            schema: SCHEMA,
            environment: environment(threads, gpus),
            plan: plan(&[]).note(threads),
            stages: Vec::new(),
            found: Found {
                cells,
                ..Found::default()
            },
            verdict: Vec::new(),
            comparison: None,
        };
        document.verdict = judge(&document);
        document
    }

    fn findings(document: &Document) -> Vec<(&'static str, Finding)> {
        let verdict = judge(document);
        verdict
            .iter()
            .map(|judgement| (judgement.target, judgement.finding))
            .collect()
    }

    #[test]
    fn targets_are_those_of_this_many_workers() {
        let modes = |parallel| {
            [
                (BenchMode::Sequential, 1.0),
                (BenchMode::Parallel, parallel),
            ]
        };
        for (threads, speedup, finding) in [
            (2, 1.9, Finding::Met),
            (2, 1.7, Finding::Below),
            (2, 2.1, Finding::Above),
            (8, 7.5, Finding::Met),
            (8, 3.9, Finding::Below),
        ] {
            let document = document(threads, 0, &modes(speedup));
            let found = findings(&document);
            assert_eq!(
                found[..2],
                [("sequential", Finding::Met), ("parallel", finding)]
            );
            assert!(
                found[2..]
                    .iter()
                    .all(|(_, finding)| *finding == Finding::NotMeasured)
            );
        }
        let mut shared = document(4, 0, &modes(1.9));
        shared.environment.physical_cores = Some(2);
        shared.environment.load = Some(3.0);
        let parallel = &judge(&shared)[1];
        assert_eq!(
            (parallel.finding, parallel.expected().as_str()),
            (Finding::Met, "1.75x to 2x")
        );
        assert_eq!(
            parallel.remarks,
            [
                "4 workers share 2 physical cores",
                "2.00x is predicted by the instructions that only one thread executes"
            ]
        );
        let cells = &mut shared.found.cells;
        cells.retain(|cell| cell.kind != "batt" || cell.mode != BenchMode::Parallel);
        cells.push(cell("batt", 10_000, BenchMode::Parallel, 0.5));
        let parallel = &judge(&shared)[1];
        assert_eq!(parallel.finding, Finding::Below);
        assert!(
            parallel.remarks[2].contains("the load was 3.00"),
            "{:?}",
            parallel.remarks
        );
        let found = parallel.found().unwrap();
        assert!(
            found.starts_with("1.57x on 10,000 evaluations, 0.50x batt to 1.90x "),
            "{found}"
        );
    }

    #[test]
    fn what_is_not_measured_says_why() {
        let mut document = document(2, 0, &[(BenchMode::Sequential, 1.0)]);
        document.found.not_measured.push(NotMeasured {
            mode: BenchMode::Gpu,
            above: None,
            reason: "no driver".into(),
        });
        let verdict = judge(&document);
        let lines: Vec<String> = verdict.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines[2],
            "GPU             not measured  expected 7x to 12x\n                no driver"
        );
        assert!(lines[4].contains("expected 30x and more"), "{}", lines[4]);
    }

    #[test]
    fn a_slow_gpu_says_what_to_look_at() {
        let modes = [
            (BenchMode::Sequential, 1.0),
            (BenchMode::Gpu, 4.0),
            (BenchMode::Gpus, 16.0),
        ];
        let mut document = document(4, 2, &modes);
        let share = DeviceShare {
            evaluations: 0.4,
            failure: None,
            remarks: vec![
                "the host the others: loop (1,234)".into(),
                "T4: 20% busy".into(),
            ],
        };
        for cell in &mut document.found.cells {
            cell.on_device = cell.mode.uses_gpus().then(|| share.clone());
        }
        let verdict = judge(&document);
        let found: Vec<_> = verdict.iter().map(|judgement| judgement.finding).collect();
        let (met, below) = (Finding::Met, Finding::Below);
        assert_eq!(found[..5], [met, Finding::NotMeasured, below, below, met]);
        assert_eq!((verdict[4].from, verdict[4].to), (Some(15.0), None));
        assert!(verdict[4].remarks.is_empty());
        // One remark for each kind; pipelines are judged by one kind.
        assert_eq!(
            (verdict[2].remarks.len(), verdict[3].remarks.len()),
            (OF_GUIDES.len(), 1)
        );
        assert_eq!(
            verdict[3].remarks[0],
            "pipeline: devices made 40% of the evaluations; the host the others: loop (1,234); T4: 20% busy"
        );
    }

    /// A document of a GPU in which everything was measured.
    fn whole() -> Document {
        let mut document = document(
            16,
            1,
            &[(BenchMode::Sequential, 1.0), (BenchMode::Gpu, 8.0)],
        );
        let mut add = |kind: &str, size, mode, speedup| {
            document.found.cells.push(cell(kind, size, mode, speedup));
        };
        for (mode, speedup) in [
            (BenchMode::Sequential, 1.0),
            (BenchMode::Parallel, 10.0),
            (BenchMode::Gpu, 20.0),
            (BenchMode::Shared, 50.0),
        ] {
            for size in [10_000, 1_000_000] {
                add(GIVEN, size, mode, speedup);
            }
            add("whole programs", 1_000_000, mode, speedup);
        }
        for name in BOUND_BY_MEMORY {
            add(name, 1, BenchMode::Gpu, 0.1);
            add(name, 1_000_000, BenchMode::Gpu, 90.0);
            add(name, 1, BenchMode::Kernel, 1.0);
            add(name, 1_000_000, BenchMode::Kernel, 1000.0);
        }
        for (length, speedup) in [(1, 3000.0), (10, 1500.0), (30, 500.0)] {
            add(&pipeline(length), 1_000_000, BenchMode::Kernel, speedup);
        }
        add(&pipeline(10), 1_000_000, BenchMode::CuPy, 15.0);
        document.found.figures.push(document::Figure {
            name: COPY.to_owned(),
            value: 4e12,
            unit: "bytes a second".to_owned(),
        });
        document
    }

    #[test]
    fn our_expectations_are_judged_by_what_was_measured() {
        let judged = judge(&whole());
        let ours: Vec<_> = judged.iter().filter(|one| one.wording.is_empty()).collect();
        let share = 1e9 * f64::from(bytes_moved()) / 4e12;
        let expected = [
            (Some(5.0), Finding::Met),
            (Some(20.0), Finding::Met),
            (Some(5.0), Finding::Met),
            (Some(0.5), Finding::Met),
            (Some(9e7), Finding::Below),
            (Some(8e7), Finding::Below),
            (Some(9.0), Finding::Met),
            (Some(share), Finding::Below),
            (Some(2.0), Finding::Below),
            (Some(3e10), Finding::Met),
            (Some(100.0), Finding::Met),
            (None, Finding::NotMeasured),
        ];
        assert_eq!(ours.len(), expected.len());
        for (one, (value, finding)) in ours.iter().zip(expected) {
            assert_eq!(one.finding, finding, "{one}");
            let is_near = |(found, value): (f64, f64)| (found / value - 1.0).abs() < 1e-9;
            assert!(one.measured.zip(value).is_none_or(is_near), "{one}");
            assert_eq!(one.measured.is_some(), value.is_some(), "{one}");
        }
        let line = ours[4].to_string();
        let end = "expected 100 million a second and more, measured 90 million a second on identity, 1,000,000 evaluations";
        assert!(line.ends_with(end), "{line}");
        assert_eq!(ours[3].expected(), "at most 3 ms");
    }

    #[test]
    fn what_is_missing_is_not_measured_and_a_fake_driver_reaches_nothing() {
        let mut fake = whole();
        fake.environment.note = Some("fake".to_owned());
        for one in judge(&fake) {
            let is_of_host = ["sequential", "parallel"].contains(&one.target);
            assert!(is_of_host || one.measured.is_none(), "{one}");
            let told = one
                .remarks
                .iter()
                .any(|why| why.starts_with("on the fake driver"));
            let missing = ["all GPUs", "pipeline of 10 beside JAX's, which is fused"];
            assert_eq!(told, !is_of_host && !missing.contains(&one.target), "{one}");
        }
        let nothing = document(2, 1, &[]);
        for one in judge(&nothing) {
            assert_eq!(one.finding, Finding::NotMeasured, "{one}");
            assert!(!one.remarks[0].is_empty());
        }
    }

    #[test]
    fn numbers_are_short() {
        let all = [0.8, 1.5, 5e9, 1.234e10, 20.0, 123.4, 0.0, 2e7];
        let expected = [
            "0.8 s",
            "1.5 s",
            "5 billion s",
            "12.3 billion s",
            "20 s",
            "123 s",
            "0 s",
            "20 million s",
        ];
        assert_eq!(all.map(|number| shown(number, "s")), expected);
    }
}
