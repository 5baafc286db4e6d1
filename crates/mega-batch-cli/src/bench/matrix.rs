//! The benchmark: modes by kinds by sizes, and scaling with workers and GPUs.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use super::BenchError;
use super::document::{Cell, DeviceShare, Document, NotMeasured, Resource, SCHEMA, Scale};
use super::environment::Environment;
use super::measure::{Contender, Load, Turns};
use super::plan::{BenchMode, Plan};
use super::statistics::{Ratio, Spread};
use super::targets;
use super::workload::{Pool, Workload};

/// In batches of up to this size outputs are compared too, not only outcomes; outputs take most of a result's memory.
const OUTPUTS_COMPARED: usize = 10_000;

/// The kinds for which scaling is measured: the shortest evaluations, whole programs, and programs that are merged.
const SCALED: &[Workload] = &[
    Workload::Of(arc_dsl::builtin::Kind::Transform),
    Workload::WholePrograms,
    Workload::Batt,
];

/// Progress reports while measuring.
pub(crate) enum Event<'e> {
    /// The cells of one kind and size.
    Cells(&'e [Cell]),
    /// One kind with every number of workers or GPUs.
    Scales(&'e [Scale]),
}

/// Measures everything, reporting what is finished.
pub(crate) fn measure(
    plan: &Plan,
    environment: Environment,
    mut tell: impl FnMut(Event<'_>),
) -> Result<Document, BenchError> {
    let (mut modes, not_measured) = modes(plan, &environment)?;
    let workers = modes.contenders.iter().map(|one| one.runner.workers());
    let workers = workers.max().unwrap_or(1);
    let gpus = environment.gpus().len();

    let mut cells = Vec::new();
    let mut scaling = Vec::new();
    let mut left_out = Vec::new();
    for &kind in Workload::ALL {
        if plan.is_over() {
            left_out.push(kind.to_string());
            continue;
        }
        let pool = Pool::new(kind, plan.largest());
        modes.compare_outputs(plan, kind, &pool)?;
        // A runner keeps the programs that it has compiled. So that every size is measured with all of them, the
        // largest batches run before the smallest.
        Load::new(&pool, kind, plan.largest()).check(&mut modes.contenders)?;
        for &size in &plan.sizes {
            if plan.is_over() {
                left_out.push(format!("{kind}, {size} evaluations a batch"));
                continue;
            }
            let row = modes.row(plan, &Load::new(&pool, kind, size))?;
            tell(Event::Cells(&row));
            cells.extend(row);
        }
        if SCALED.contains(&kind) {
            let load = Load::new(&pool, kind, plan.largest());
            for (resource, most) in [(Resource::Workers, workers), (Resource::Gpus, gpus)] {
                if most > 1 && plan.is_over() {
                    left_out.push(format!("{kind}, 1 to {}", resource.counted(most)));
                    continue;
                }
                let scales = scales(plan, &load, resource, most)?;
                if !scales.is_empty() {
                    tell(Event::Scales(&scales));
                }
                scaling.extend(scales);
            }
        }
    }
    let mut document = Document {
        schema: SCHEMA,
        plan: plan.note(workers),
        environment,
        cells,
        not_measured,
        left_out,
        scaling,
        verdict: Vec::new(),
        comparison: None,
    };
    document.verdict = targets::judge(&document);
    Ok(document)
}

/// The modes of the matrix, each with its runner.
struct Modes {
    modes: Vec<BenchMode>,
    /// In the same order.
    contenders: Vec<Contender>,
}

/// The modes that can be measured here, and why the others cannot.
fn modes(plan: &Plan, environment: &Environment) -> Result<(Modes, Vec<NotMeasured>), BenchError> {
    let mut found = Modes {
        modes: Vec::new(),
        contenders: Vec::new(),
    };
    let mut not_measured = Vec::new();
    let gpus = environment.gpus().len();
    for &mode in BenchMode::ALL {
        let reason = match mode {
            BenchMode::Emulated if !plan.emulated => continue,
            BenchMode::Gpu | BenchMode::Gpus if gpus == 0 => Some(environment.why_no_gpu()),
            BenchMode::Gpus if gpus == 1 => Some("there is one GPU".to_owned()),
            _ => None,
        };
        let most = plan.most(mode);
        let contender = match reason {
            Some(reason) => Err(reason),
            None => Contender::new(mode.name(), &mode.options(plan.workers), most)?,
        };
        match contender {
            Ok(contender) => {
                if plan.largest() > most {
                    not_measured.push(NotMeasured {
                        mode,
                        above: Some(most),
                        reason: "larger batches would take too long".to_owned(),
                    });
                }
                found.modes.push(mode);
                found.contenders.push(contender);
            }
            Err(reason) => not_measured.push(NotMeasured {
                mode,
                above: None,
                reason,
            }),
        }
    }
    Ok((found, not_measured))
}

impl Modes {
    /// Compares outcomes and outputs, with separate runners that keep outputs and are not measured.
    fn compare_outputs(&self, plan: &Plan, kind: Workload, pool: &Pool) -> Result<(), BenchError> {
        let mut contenders = Vec::new();
        for mode in &self.modes {
            let mut options = mode.options(plan.workers);
            options.keep_outputs = true;
            let most = plan.most(*mode).min(OUTPUTS_COMPARED);
            // If a device cannot be opened again, its outcomes are compared later all the same.
            contenders.extend(Contender::new(mode.name(), &options, most)?.ok());
        }
        for &size in &plan.sizes {
            if size <= OUTPUTS_COMPARED {
                Load::new(pool, kind, size).check(&mut contenders)?;
            }
        }
        Ok(())
    }

    /// The cells of one kind and size.
    fn row(&mut self, plan: &Plan, load: &Load<'_>) -> Result<Vec<Cell>, BenchError> {
        let turns = load.measure(&mut self.contenders, plan.effort)?;
        let sequential = self.modes.iter().zip(&turns);
        let mut sequential = sequential.filter(|(mode, _)| **mode == BenchMode::Sequential);
        let base: Vec<f64> = sequential
            .find_map(|(_, turns)| Some(turns.as_ref()?.seconds.clone()))
            .unwrap_or_default();
        let cells = self.modes.iter().zip(&turns).filter_map(|(&mode, turns)| {
            let Turns {
                seconds,
                batches,
                backends,
            } = turns.as_ref()?;
            let spread = Spread::of(seconds)?;
            let device = backends.device.as_ref();
            Some(Cell {
                kind: load.kind,
                size: load.size,
                mode,
                seconds: spread,
                batches: *batches,
                evaluations_per_second: load.size as f64 / spread.median,
                speedup: if mode == BenchMode::Emulated {
                    None
                } else {
                    Ratio::by_turns(&base, seconds)
                },
                on_device: device.map(|device| DeviceShare::of(device, load.size)),
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

/// One kind on 1 to `most` workers or GPUs, by turns. `None` if there are fewer than two.
fn scales(
    plan: &Plan,
    load: &Load<'_>,
    resource: Resource,
    most: usize,
) -> Result<Vec<Scale>, BenchError> {
    if most < 2 {
        return Ok(Vec::new());
    }
    let mut contenders = Vec::new();
    let mut taken = Vec::new();
    for count in counts(most) {
        let options = match resource {
            Resource::Workers => BenchMode::Parallel.options(NonZeroUsize::new(count)),
            Resource::Gpus => {
                let mut options = BenchMode::Gpus.options(plan.workers);
                options.gpus = Some(count);
                options
            }
        };
        let name = resource.counted(count);
        if let Ok(contender) = Contender::new(name, &options, usize::MAX)? {
            contenders.push(contender);
            taken.push(count);
        }
    }
    let turns = load.measure(&mut contenders, plan.effort)?;
    let base: &[f64] = match turns.first() {
        Some(Some(one)) => &one.seconds,
        _ => &[],
    };
    let scales = taken.iter().zip(&turns).filter_map(|(&count, turns)| {
        let seconds = &turns.as_ref()?.seconds;
        Some(Scale {
            kind: load.kind,
            size: load.size,
            resource,
            count,
            seconds: Spread::of(seconds)?,
            speedup: Ratio::by_turns(base, seconds)?,
        })
    });
    Ok(scales.collect())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::environment::tests::environment;
    use super::super::plan::Effort;
    use super::*;

    #[test]
    fn a_matrix_has_a_cell_a_kind_size_and_mode() {
        let plan = Plan {
            effort: Effort {
                time: Duration::ZERO,
                turn: Duration::ZERO,
                turns: 2,
            },
            workers: NonZeroUsize::new(2),
            ..Plan::quick().with_sizes(vec![1, 8])
        };
        let mut told = (0, 0);
        let document = measure(&plan, environment(2, 0), |event| match event {
            Event::Cells(cells) => told.0 += cells.len(),
            Event::Scales(scales) => told.1 += scales.len(),
        });
        let document = document.unwrap();
        let modes = [
            BenchMode::Reference,
            BenchMode::Sequential,
            BenchMode::Parallel,
        ];
        assert_eq!(document.modes(), modes);
        assert_eq!(document.kinds(), Workload::ALL);
        assert_eq!(document.sizes(), [1, 8]);
        assert_eq!(document.cells.len(), 3 * 2 * Workload::ALL.len());
        assert_eq!(told, (document.cells.len(), document.scaling.len()));
        for cell in &document.cells {
            assert!(
                cell.seconds.median > 0.0 && cell.seconds.samples == 2,
                "{cell:?}"
            );
            let speedup = cell.speedup.unwrap();
            assert!(speedup.least <= speedup.median && speedup.median <= speedup.greatest);
            assert!(cell.mode != BenchMode::Sequential || (speedup.median - 1.0).abs() < 1e-12);
        }
        let counts: Vec<usize> = document.scaling.iter().map(|scale| scale.count).collect();
        assert_eq!(counts, [1, 2].repeat(SCALED.len()));
        let missing: Vec<_> = document
            .not_measured
            .iter()
            .map(|not| (not.mode, &*not.reason))
            .collect();
        let why = "no driver";
        assert_eq!(missing, [(BenchMode::Gpu, why), (BenchMode::Gpus, why)]);
        assert!(!document.verdict.is_empty());
    }

    #[test]
    fn what_there_is_no_time_for_is_listed() {
        let plan = Plan {
            until: Some(Instant::now()),
            ..Plan::smallest()
        };
        let document = measure(&plan, environment(2, 0), |_| {}).unwrap();
        assert!(document.cells.is_empty() && document.scaling.is_empty());
        let kinds = Workload::ALL.iter().map(ToString::to_string);
        assert!(document.left_out.into_iter().eq(kinds));
    }

    #[test]
    fn workers_are_added_up_to_all_of_them() {
        let all = |most| counts(most).into_iter().collect::<Vec<_>>();
        assert_eq!(all(1), [1]);
        assert_eq!(all(4), [1, 2, 3, 4]);
        assert_eq!(all(20), [1, 2, 3, 4, 6, 8, 12, 16, 20]);
    }
}
