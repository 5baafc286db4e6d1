//! [`judge`]: compares the measured speed-ups with the targets of the tuning guides, and says what to look at if they
//! are missed.

use std::fmt::{self, Display, Formatter};

use arc_dsl::builtin::Kind;

use super::document::{Cell, DeviceShare, Document, Finding, Judgement, Measured};
use super::plan::BenchMode;
use super::statistics::geometric_mean;
use super::workload::Workload;
use crate::table::{short, thousands};

/// The target speed-up of a mode over the sequential mode.
struct Target {
    name: &'static str,
    mode: BenchMode,
    /// The kind that it is judged by; `None` for all.
    kind: Option<Workload>,
    /// What `from` and `to` are multiplied by.
    each: Each,
    from: f64,
    /// `None` if there is no upper bound.
    to: Option<f64>,
    /// The wording of the guides.
    wording: &'static str,
}

enum Each {
    Run,
    /// Workers, at most as many as there are physical cores.
    Worker,
    Gpu,
}

/// The targets of the tuning guides. Their figures for 4 workers and 4 GPUs are scaled in proportion.
const TARGETS: &[Target] = &[
    Target {
        name: "sequential",
        mode: BenchMode::Sequential,
        kind: None,
        each: Each::Run,
        from: 1.0,
        to: Some(1.0),
        wording: "1x: what speed-ups are over",
    },
    Target {
        name: "parallel",
        mode: BenchMode::Parallel,
        kind: None,
        each: Each::Worker,
        from: 3.5 / 4.0,
        to: Some(1.0),
        wording: "3.5x to 4x with 4 workers",
    },
    Target {
        name: "GPU",
        mode: BenchMode::Gpu,
        kind: None,
        each: Each::Run,
        from: 7.0,
        to: Some(12.0),
        wording: "7x to 12x",
    },
    Target {
        name: "GPU, pipelines",
        mode: BenchMode::Gpu,
        kind: Some(Workload::Of(Kind::Pipeline)),
        each: Each::Run,
        from: 10.0,
        to: Some(30.0),
        wording: "10x to 30x",
    },
    Target {
        name: "all GPUs",
        mode: BenchMode::Gpus,
        kind: None,
        each: Each::Gpu,
        from: 30.0 / 4.0,
        to: None,
        wording: "30x with 4 GPUs",
    },
];

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

/// Judges every target.
pub(crate) fn judge(document: &Document) -> Vec<Judgement> {
    let judge = |target: &Target| target.judge(document);
    TARGETS.iter().map(judge).collect()
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
        let (from, to) = (
            self.from * count as f64,
            self.to.map(|to| to * count as f64),
        );
        let mut remarks = Vec::new();

        let cells = self.cells(document);
        let measured = measured(&cells);
        let finding = match &measured {
            None => {
                remarks.push(self.why_not(document));
                Finding::NotMeasured
            }
            Some(measured) if measured.mean < from => Finding::Below,
            Some(measured) if to.is_some_and(|to| measured.mean > to) => Finding::Above,
            Some(_) => Finding::Met,
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
        if self.mode.uses_devices() {
            let slow = |cell: &&Cell| cell.speedup.is_none_or(|ratio| ratio.median < SLOW_GPU);
            let slow = cells.iter().copied().filter(slow);
            remarks.extend(slow.filter_map(what_to_look_at));
        }
        Judgement {
            target: self.name,
            wording: self.wording,
            from,
            to,
            measured,
            finding,
            remarks,
        }
    }

    /// The cells that it is judged by: those of the largest batches.
    fn cells<'d>(&self, document: &'d Document) -> Vec<&'d Cell> {
        let largest = document.largest(self.mode);
        let of_target = |cell: &&Cell| {
            cell.mode == self.mode
                && Some(cell.size) == largest
                && self.kind.is_none_or(|kind| kind == cell.kind)
        };
        document.cells.iter().filter(of_target).collect()
    }

    fn why_not(&self, document: &Document) -> String {
        let mut reasons = document.not_measured.iter();
        let reason = reasons.find(|not| not.mode == self.mode && not.above.is_none());
        reason.map_or("it was not asked for".to_owned(), |not| not.reason.clone())
    }
}

fn measured(cells: &[&Cell]) -> Option<Measured> {
    let speedup = |cell: &&Cell| Some((cell.kind, cell.speedup?.median));
    let speedups: Vec<(Workload, f64)> = cells.iter().filter_map(speedup).collect();
    let by_speed = |one: &&(Workload, f64), other: &&(Workload, f64)| one.1.total_cmp(&other.1);
    Some(Measured {
        size: cells.first()?.size,
        mean: geometric_mean(speedups.iter().map(|(_, speedup)| *speedup))?,
        least: *speedups.iter().min_by(by_speed)?,
        greatest: *speedups.iter().max_by(by_speed)?,
    })
}

/// Where the time of a slow cell on a device goes.
fn what_to_look_at(cell: &Cell) -> Option<String> {
    let share: &DeviceShare = cell.on_device.as_ref()?;
    let mut parts = vec![format!(
        "{}: devices made {:.0}% of the evaluations",
        cell.kind,
        share.evaluations * 100.0
    )];
    if let Some(failure) = &share.failure {
        parts.push(format!("failed: {failure}"));
    }
    if share.evaluations < 1.0 && !share.host_reasons.is_empty() {
        let reasons = share.host_reasons.iter();
        let reasons = reasons.map(|(reason, count)| format!("{reason} ({})", thousands(*count)));
        let reasons: Vec<String> = reasons.collect();
        parts.push(format!("the host the others: {}", reasons.join(", ")));
    }
    for device in &share.devices {
        let ms = |seconds: f64| seconds * 1e3;
        parts.push(format!(
            "{}: {}; of {:.2} ms it prepared {:.2}, uploaded {:.2}, computed {:.2}, downloaded {:.2}",
            device.name,
            device.bottleneck,
            ms(device.elapsed),
            ms(device.prepare),
            ms(device.upload),
            ms(device.compute),
            ms(device.download)
        ));
    }
    Some(parts.join("; "))
}

impl Judgement {
    /// The target speed-up: `1.75x to 2x`.
    pub(crate) fn expected(&self) -> String {
        let shown = |value: f64| format!("{}x", short(value, 2));
        match self.to {
            Some(to) if to > self.from => format!("{} to {}", shown(self.from), shown(to)),
            Some(_) => shown(self.from),
            None => format!("{} and more", shown(self.from)),
        }
    }

    /// What was measured: `1.91x (1.80x pattern to 1.97x batt) on 100,000 evaluations`.
    pub(crate) fn found(&self) -> Option<String> {
        let found = self.measured.as_ref()?;
        let size = thousands(found.size as u64);
        let (least, greatest) = (found.least, found.greatest);
        let between = if greatest.1 - least.1 < 0.005 {
            String::new()
        } else {
            format!(
                " ({:.2}x {} to {:.2}x {})",
                least.1, least.0, greatest.1, greatest.0
            )
        };
        Some(format!("{:.2}x{between} on {size} evaluations", found.mean))
    }
}

/// One line, and one for each remark.
impl Display for Judgement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (target, finding) = (self.target, self.finding);
        write!(f, "{target:<16}{finding:<14}expected {}", self.expected())?;
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
pub(super) mod tests {
    use super::super::document::{DeviceStages, NotMeasured, SCHEMA};
    use super::super::environment::tests::environment;
    use super::super::plan::Plan;
    use super::super::statistics::{Ratio, Spread};
    use super::*;

    /// A cell whose speed-up and seconds were the same in all turns.
    pub(in crate::bench) fn cell(
        kind: Workload,
        size: usize,
        mode: BenchMode,
        speedup: f64,
    ) -> Cell {
        let seconds = size as f64 * 1e-6 / speedup;
        Cell {
            kind,
            size,
            mode,
            seconds: Spread::of(&[seconds * 0.98, seconds, seconds * 1.02]).unwrap(),
            batches: 3,
            evaluations_per_second: size as f64 / seconds,
            speedup: Some(Ratio {
                median: speedup,
                lower_quartile: speedup * 0.98,
                upper_quartile: speedup * 1.02,
                least: speedup * 0.95,
                greatest: speedup * 1.05,
            }),
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
        for &kind in Workload::ALL {
            for size in sizes {
                cells.extend(
                    modes
                        .iter()
                        .map(|(mode, speedup)| cell(kind, size, *mode, *speedup)),
                );
            }
        }
        let mut document = Document {
            schema: SCHEMA,
            environment: environment(threads, gpus),
            plan: Plan::full().note(threads),
            cells,
            not_measured: Vec::new(),
            left_out: Vec::new(),
            scaling: Vec::new(),
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
        shared
            .cells
            .retain(|cell| cell.kind != Workload::Batt || cell.mode != BenchMode::Parallel);
        shared
            .cells
            .push(cell(Workload::Batt, 10_000, BenchMode::Parallel, 0.5));
        let parallel = &judge(&shared)[1];
        assert_eq!(parallel.finding, Finding::Below);
        assert!(
            parallel.remarks[2].contains("the load was 3.00"),
            "{:?}",
            parallel.remarks
        );
        let found = parallel.found().unwrap();
        assert!(found.starts_with("1.57x (0.50x batt to 1.90x "), "{found}");
    }

    #[test]
    fn what_is_not_measured_says_why() {
        let mut document = document(2, 0, &[(BenchMode::Sequential, 1.0)]);
        document.not_measured.push(NotMeasured {
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
            host_reasons: vec![("loop".into(), 1_234)],
            failure: None,
            devices: vec![DeviceStages {
                name: "Tesla T4".into(),
                batches: 3,
                prepare: 0.010,
                upload: 0.002,
                compute: 0.004,
                download: 0.001,
                elapsed: 0.020,
                bottleneck: "20% busy, waiting for preparation".into(),
            }],
        };
        for cell in &mut document.cells {
            cell.on_device = cell.mode.uses_devices().then(|| share.clone());
        }
        let verdict = judge(&document);
        let found: Vec<_> = verdict.iter().map(|judgement| judgement.finding).collect();
        let (met, below) = (Finding::Met, Finding::Below);
        assert_eq!(found, [met, Finding::NotMeasured, below, below, met]);
        assert_eq!((verdict[4].from, verdict[4].to), (15.0, None));
        assert!(verdict[4].remarks.is_empty());
        // One remark for each kind; pipelines are judged by one kind.
        assert_eq!(
            (verdict[2].remarks.len(), verdict[3].remarks.len()),
            (Workload::ALL.len(), 1)
        );
        assert_eq!(
            verdict[3].remarks[0],
            "pipeline: devices made 40% of the evaluations; the host the others: loop (1,234); Tesla \
             T4: 20% busy, waiting for preparation; of 20.00 ms it prepared 10.00, uploaded 2.00, \
             computed 4.00, downloaded 1.00"
        );
    }
}
