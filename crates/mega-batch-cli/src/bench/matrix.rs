//! Times by mode, kind and size, and scaling with workers and GPUs.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use mega_batch::Totals;

use super::clock::Clock;
use super::document::{Cell, DeviceShare, NotMeasured};
use super::measure::{Contender, Load, Turns};
use super::plan::{BenchMode, BenchPlan};
use super::sheet::{Context, Sheet};
use super::statistics::{Spread, ratios};
use super::table::{self, heading, line, row};
use super::workload::{Pool, Workload};

/// In batches of up to this size outputs are compared too, not only outcomes; outputs take most of a result's memory.
const OUTPUTS_COMPARED: usize = 10_000;

/// The kinds for which scaling is measured: the shortest evaluations, whole programs, and programs that are merged.
fn is_scaled(kind: &Workload<'_>) -> bool {
    matches!(
        kind,
        Workload::Of(arc_tasks::builtin::BuiltinKind::Transform)
            | Workload::WholePrograms
            | Workload::Batt
    )
}

/// Measures these kinds in these modes, as far as the machine has them.
pub(super) fn measure(
    stage: &Context<'_>,
    sheet: &mut Sheet,
    kinds: &[Workload<'_>],
    wanted: &[BenchMode],
) -> anyhow::Result<()> {
    let plan = &stage.plan;
    let mut modes = Modes::new(stage, sheet, kinds, wanted)?;
    let clock = wanted.contains(&BenchMode::Kernel).then(Clock::open);
    let clock = clock.transpose()?;
    sheet.print(line(&heading()));
    for kind in kinds {
        let (name, sizes) = (kind.name(), plan.sizes(kind));
        let largest = sizes.last().copied().unwrap_or(1);
        if plan.is_over() {
            sheet.part.found.left_out.push(name);
            continue;
        }
        let pool = Pool::new(kind, largest);
        let load = |size| Load::new(&pool, &name, kind, size);
        for &size in sizes.iter().filter(|size| **size <= OUTPUTS_COMPARED) {
            load(size).check(&mut modes.with_outputs)?;
        }
        // A runner keeps the programs that it has compiled. So that every size is measured with all of them, the
        // largest batches run before the smallest.
        let mut of_largest = Some(load(largest).check(&mut modes.contenders)?);
        for &size in &sizes {
            if plan.is_over() {
                let left = format!("{name}, {size} evaluations a batch");
                sheet.part.found.left_out.push(left);
                continue;
            }
            let load = load(size);
            let expected = of_largest.take_if(|_| size == largest);
            let mut cells = modes.row(plan, &load, expected)?;
            if let Some(clock) = &clock
                && size <= plan.most(BenchMode::Gpu, false)
            {
                match clock.cell(&load, plan.effort(kind).turns)? {
                    Ok(cell) => cells.push(cell),
                    Err(why) => sheet.part.found.left_out.push(why),
                }
            }
            for cell in &cells {
                sheet.print(line(&row(cell)));
            }
            sheet.part.failures.extend(cells.iter().filter_map(failure));
            sheet.part.found.cells.extend(cells);
            sheet.save_if_due()?;
        }
        if !is_scaled(kind) {
            continue;
        }
        let workers = modes.contenders.iter().map(|one| one.runner.workers());
        let gpus = stage.environment.gpus().len();
        let counted = [
            (BenchMode::Parallel, workers.max().unwrap_or(1)),
            (BenchMode::Gpus, gpus),
        ];
        for (mode, all) in counted {
            if all < 2 || largest > plan.most(mode, false) {
                continue;
            }
            if plan.is_over() {
                let left = format!("{name}, 1 to {}", table::counted(mode, all));
                sheet.part.found.left_out.push(left);
                continue;
            }
            let cells = Modes::counted(plan, mode, all)?.row(plan, &load(largest), None)?;
            for cell in &cells {
                sheet.print(line(&row(cell)));
            }
            sheet.part.found.by_count.extend(cells);
        }
    }
    Ok(())
}

/// How a GPU failed that was to run what it can.
fn failure(cell: &Cell) -> Option<String> {
    let device = cell.on_device.as_ref();
    let why = match device.and_then(|device| device.failure.as_deref()) {
        Some(failure) => failure,
        // A device that failed is given nothing for a while.
        None if matches!(cell.mode, BenchMode::Gpu | BenchMode::Gpus)
            && device.is_none_or(|device| device.evaluations == 0.0) =>
        {
            "the device made no evaluation"
        }
        None => return None,
    };
    let Cell {
        kind, size, mode, ..
    } = cell;
    Some(format!("{kind}, {size} evaluations a batch, {mode}: {why}"))
}

/// The modes that can be measured here, each with its runner.
#[derive(Default)]
struct Modes {
    contenders: Vec<Contender>,
    /// The one that speed-ups are over.
    base: Option<usize>,
    /// Runners that keep outputs, to compare them; they are not measured.
    with_outputs: Vec<Contender>,
}

impl Modes {
    fn new(
        stage: &Context<'_>,
        sheet: &mut Sheet,
        kinds: &[Workload<'_>],
        wanted: &[BenchMode],
    ) -> anyhow::Result<Self> {
        let plan = &stage.plan;
        let mut found = Self::default();
        let gpus = stage.environment.gpus().len();
        let is_given =
            |kind: &Workload<'_>| matches!(kind, Workload::Given(_) | Workload::Crossing(_));
        let is_of_given = kinds.iter().any(is_given);
        let sizes = kinds.iter().flat_map(|kind| plan.sizes(kind));
        let largest = sizes.max().unwrap_or_default();
        let wanted = wanted.iter();
        for &mode in wanted.filter(|mode| BenchMode::RUNNERS.contains(mode)) {
            let reason = match mode {
                BenchMode::Emulated if !plan.emulated => continue,
                mode if mode.uses_gpus() && gpus == 0 => Some(stage.environment.why_no_gpu()),
                BenchMode::Gpus if gpus == 1 => Some("there is one GPU".to_owned()),
                _ => None,
            };
            let most = plan.most(mode, is_of_given);
            let mut options = mode.options(plan.workers);
            let contender = match reason {
                Some(reason) => Err(reason),
                None => Contender::new(mode, None, &options, most)?,
            };
            let (above, reason) = match contender {
                Ok(contender) => {
                    if mode == BenchMode::Sequential {
                        found.base = Some(found.contenders.len());
                    }
                    found.contenders.push(contender);
                    options.keep_outputs = true;
                    // If a device cannot be opened again, its outcomes are compared all the same.
                    let with_outputs = Contender::new(mode, None, &options, most)?;
                    found.with_outputs.extend(with_outputs.ok());
                    let why = "larger batches would take too long";
                    (Some(most), why.to_owned())
                }
                Err(reason) => (None, reason),
            };
            if above.is_none_or(|above| largest > above) {
                let not = NotMeasured {
                    mode,
                    above,
                    reason,
                };
                sheet.part.found.not_measured.push(not);
            }
        }
        Ok(found)
    }

    /// One mode on 1 to all workers or GPUs.
    fn counted(plan: &BenchPlan, mode: BenchMode, all: usize) -> anyhow::Result<Self> {
        let mut found = Self {
            base: Some(0),
            ..Self::default()
        };
        for count in counts(all) {
            let mut options = mode.options(plan.workers);
            match mode {
                BenchMode::Parallel => options.workers = NonZeroUsize::new(count),
                _ => options.gpus = Some(count),
            }
            let contender = Contender::new(mode, Some(count), &options, usize::MAX)?;
            found.contenders.extend(contender.ok());
        }
        Ok(found)
    }

    /// The cells of one kind and size; the totals are expected if they are known from a check.
    fn row(
        &mut self,
        plan: &BenchPlan,
        load: &Load<'_>,
        expected: Option<Vec<Totals>>,
    ) -> anyhow::Result<Vec<Cell>> {
        let turns = load.measure(&mut self.contenders, plan, expected)?;
        let steps = load.steps()?;
        let base = self.base.and_then(|at| turns.get(at)?.as_ref());
        let base = base.map_or(&[][..], |turns| &turns.seconds);
        let cells = self.contenders.iter().zip(&turns);
        let cells = cells.filter_map(|(contender, turns)| {
            let Turns {
                seconds,
                batches,
                backends,
            } = turns.as_ref()?;
            let (mode, spread) = (contender.mode, Spread::of(seconds)?);
            let device = backends.device.as_ref();
            let speedup = ratios(base, seconds).filter(|_| mode != BenchMode::Emulated);
            Some(Cell {
                count: contender.count,
                batches: *batches,
                speedup,
                on_device: device.map(|device| DeviceShare::of(device, load.size)),
                ..Cell::new(load.kind, load.size, mode, steps, spread)
            })
        });
        Ok(cells.collect())
    }
}

/// The numbers of workers or GPUs to measure: 1, 2, 3, 4, 6, 8, 12, 16 and so on, and all.
fn counts(most: usize) -> BTreeSet<usize> {
    let powers = (0..usize::BITS - 1).map(|bit| 1_usize << bit);
    let both = powers.flat_map(|power| [power, power + power / 2]);
    both.take_while(|count| *count < most)
        .chain([most])
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::document::Part;
    use super::super::environment::tests::environment;
    use super::super::plan::tests::plan;
    use super::super::workload::{Given, OF_GUIDES};
    use super::*;

    /// What a stage of these kinds finds without a GPU.
    fn measured(plan: BenchPlan) -> Part {
        let folder = tempfile::tempdir().unwrap();
        let part = Part::new(environment(2, 0), Vec::new());
        let mut sheet = Sheet::new(folder.path().join("part.json"), part);
        let stage = Context {
            plan,
            given: &Given::default(),
            environment: environment(2, 0),
        };
        measure(&stage, &mut sheet, &OF_GUIDES, BenchMode::RUNNERS).unwrap();
        sheet.part
    }

    #[test]
    fn there_is_a_cell_a_kind_size_and_mode() {
        let part = measured(plan(&[1, 8]));
        let cells = &part.found.cells;
        assert_eq!(cells.len(), 3 * 2 * OF_GUIDES.len());
        for cell in cells {
            assert!(
                cell.seconds.median > 0.0 && cell.seconds.samples > 2,
                "{cell:?}"
            );
            assert!(cell.steps >= 1.0);
            let speedup = cell.speedup.unwrap();
            assert!(speedup.least <= speedup.median && speedup.median <= speedup.greatest);
            assert!(cell.mode != BenchMode::Sequential || (speedup.median - 1.0).abs() < 1e-12);
        }
        let counts = part.found.by_count.iter().filter_map(|cell| cell.count);
        assert_eq!(counts.collect::<Vec<_>>(), [1, 2].repeat(3));
        let missing = part.found.not_measured.iter();
        let missing: Vec<_> = missing.map(|not| (not.mode, &*not.reason)).collect();
        let modes = [BenchMode::Gpu, BenchMode::Gpus, BenchMode::Shared];
        assert_eq!(missing, modes.map(|mode| (mode, "no driver")));
    }

    #[test]
    fn what_there_is_no_time_for_is_listed() {
        let plan = BenchPlan {
            until: Instant::now(),
            ..plan(&[1])
        };
        let found = measured(plan).found;
        assert!(found.cells.is_empty() && found.by_count.is_empty());
        let kinds = OF_GUIDES.iter().map(Workload::name);
        assert!(found.left_out.into_iter().eq(kinds));
    }

    #[test]
    fn workers_are_added_up_to_all_of_them() {
        let all = |most| counts(most).into_iter().collect::<Vec<_>>();
        assert_eq!(all(1), [1]);
        assert_eq!(all(4), [1, 2, 3, 4]);
        assert_eq!(all(20), [1, 2, 3, 4, 6, 8, 12, 16, 20]);
    }
}
