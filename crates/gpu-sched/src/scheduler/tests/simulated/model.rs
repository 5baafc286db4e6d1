//! A model of an NVIDIA H200, fed with counted instructions: what budgets and placement can be expected to bring. It gives
//! the times that one has measured.

use std::collections::BTreeMap;

use super::tests::description;
use super::*;
use crate::scheduler::{DeviceDescription, Policy};

/// Public programs, a line each, in up to three parts.
///
/// 1. The class of its launch, and the warp instructions of its evaluations on the pairs of its own task, counted by the
///    interpreted device with the kernels of commit 053aaf39, near those that the H200 ran.
/// 2. If today's encoder takes it: its class, steps and loops; the nanoseconds of an evaluation on one core, and the
///    rounds of one; and instructions as before.
/// 3. The nanoseconds and rounds on the evaluation tasks of ARC-AGI-1, and instructions on eight of their pairs.
///
/// `b` marks what the device bails out of, and `X<Y` what it bails out of after X instructions because of its rounds,
/// where it would execute Y without a budget. Classes with `s` are evaluated four side by side.
const COUNTS: &str = include_str!("counts.txt");

/// The seconds of a warp instruction, if it waits for the one before, and if all warps are busy. Both are fitted.
const LATENCY: f64 = 4.4e-9;
const THROUGHPUT: f64 = 2.1e-12;

/// The cores beside it, and the seconds of preparing an evaluation on one of them, as measured.
const CORES: f64 = 16.0;
const PREPARE: f64 = 46e-9;

#[derive(Debug, Clone, Copy)]
struct Evaluation {
    instructions: f64,
    bails_out: bool,
}

#[derive(Debug, Clone)]
struct Program {
    class: &'static str,
    steps: usize,
    loops: u32,
    /// The rounds of an evaluation, if it has loops and is not always bailed out of.
    rounds: Option<u64>,
    /// Seconds of an evaluation on all cores.
    host: f64,
    /// The evaluations, of which a batch has as many as it needs.
    evaluations: Vec<Evaluation>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Pairs {
    /// Of the programs' own tasks, with the kernels of the time.
    Measured,
    /// The same with today's.
    Own,
    /// Of other tasks.
    Others,
}

impl Program {
    fn new(line: &'static str, pairs: Pairs, has_budget: bool) -> Option<Self> {
        let mut parts = line.split(';').map(str::split_whitespace);
        let mut of_pairs = parts.next()?;
        let mut program = Self {
            class: of_pairs.next()?,
            steps: 0,
            loops: 0,
            rounds: None,
            host: 0.0,
            evaluations: Vec::new(),
        };
        if pairs != Pairs::Measured {
            of_pairs = parts.next()?;
            program.class = of_pairs.next()?;
            program.steps = of_pairs.next()?.parse().unwrap();
            program.loops = of_pairs.next()?.parse().unwrap();
            if pairs == Pairs::Others {
                of_pairs = parts.next()?;
            }
            program.host = of_pairs.next()?.parse::<f64>().unwrap() * 1e-9 / CORES;
            program.rounds = of_pairs.next()?.parse().ok();
        }
        let evaluation = |count: &str| {
            let (count, marked) = match count.strip_suffix('b') {
                Some(count) => (count, true),
                None => (count, false),
            };
            let (count, is_past) = match count.split_once('<') {
                Some((cut, _)) if has_budget => (cut, true),
                Some((_, whole)) => (whole, false),
                None => (count, false),
            };
            Evaluation {
                instructions: count.parse().unwrap(),
                bails_out: marked || is_past,
            }
        };
        program.evaluations = of_pairs.map(evaluation).collect();
        (!program.evaluations.is_empty()).then_some(program)
    }
}

/// A batch in which each program has as many evaluations, or one more, one program after the other.
#[derive(Debug, Clone)]
struct Batch {
    programs: Vec<Program>,
    count: u64,
    /// Mean seconds of an evaluation on all cores.
    mean: f64,
}

impl Batch {
    /// The programs are in the order of their collection, or in another one for each other `order` than 0.
    fn new(pairs: Pairs, has_budget: bool, count: u64, order: u64) -> Self {
        let mut lines: Vec<_> = COUNTS.lines().zip(order << 32..).collect();
        if order > 0 {
            lines.sort_by_key(|(_, number)| random_of(*number));
        }
        let lines = lines.into_iter();
        let programs = lines.filter_map(|(line, _)| Program::new(line, pairs, has_budget));
        let programs: Vec<_> = programs.collect();
        let mean = programs.iter().map(|program| program.host).sum::<f64>() / programs.len() as f64;
        Self {
            programs,
            count,
            mean,
        }
    }

    /// How many evaluations each program has, and how many programs have one more, which are the first ones.
    fn each(&self) -> (u64, u64) {
        let programs = self.programs.len() as u64;
        (self.count / programs, self.count % programs)
    }

    fn number(&self, item: u64) -> u64 {
        let (each, more) = self.each();
        let of_more = more * (each + 1);
        if item < of_more {
            item / (each + 1)
        } else {
            more + (item - of_more) / each
        }
    }

    fn evaluation(&self, item: u64) -> (&Program, Evaluation) {
        let (each, more) = self.each();
        let number = self.number(item);
        let program = &self.programs[number as usize];
        let place = (item - number * each - number.min(more)) as usize;
        (
            program,
            program.evaluations[place % program.evaluations.len()],
        )
    }

    /// What is known of its programs before anything is measured.
    fn costs(&self) -> Costs {
        let (each, _) = self.each();
        let mut costs = Costs::new(self.programs.iter().map(|_| each));
        for (number, program) in (0..).zip(&self.programs) {
            costs.describe(number, program.steps, program.loops);
        }
        costs
    }

    /// The milliseconds of the device alone.
    fn by_device(&self) -> f64 {
        let items: Vec<u64> = (0..self.count).collect();
        self.on_device(&items).iter().sum::<f64>() * 1e3
    }

    /// The milliseconds of the batch on the scheduler's device and all cores.
    fn run(&self, scheduler: &mut Scheduler, costs: Option<&mut Costs>) -> f64 {
        let fleet = Fleet {
            host: Machine::new(0.0, self.mean),
            devices: vec![Machine::new(0.0, 1.0)],
            preparers: CORES as usize,
            prepare: PREPARE,
        };
        let mut simulation = Simulation::new(&fleet, &[], scheduler, self, Duration::ZERO);
        if let Some(costs) = costs {
            simulation = simulation.placed(costs);
        }
        let trace = simulation.run(self.count, 1 << 19);
        assert!(trace.delivered.iter().copied().eq(0..self.count));
        trace.makespan.as_secs_f64() * 1e3
    }
}

impl Work for Batch {
    fn on_host(&self, item: u64) -> f64 {
        self.evaluation(item).0.host / self.mean
    }

    /// Programs of one class are launched together, one class after the other, and a launch lasts as long as its longest
    /// evaluation, or four side by side.
    fn on_device(&self, items: &[u64]) -> [f64; 2] {
        let (mut longest, mut all) = (BTreeMap::new(), 0.0);
        for item in items {
            let (Program { class, .. }, Evaluation { instructions, .. }) = self.evaluation(*item);
            let side_by_side = if class.starts_with('s') { 4.0 } else { 1.0 };
            let longest: &mut f64 = longest.entry(*class).or_default();
            *longest = longest.max(instructions * side_by_side);
            all += instructions;
        }
        [all * THROUGHPUT, longest.values().sum::<f64>() * LATENCY]
    }

    fn bails_out(&self, item: u64) -> bool {
        self.evaluation(item).1.bails_out
    }

    fn program(&self, item: u64) -> (u32, Option<u64>) {
        let number = self.number(item);
        (number as u32, self.programs[number as usize].rounds)
    }
}

/// A scheduler of an H200.
fn h200() -> Scheduler {
    let mut scheduler = Scheduler::new(Policy::default());
    scheduler.add(DeviceDescription {
        most: 1 << 16,
        ..description(2.4e-9, 3)
    });
    scheduler
}

#[test]
fn the_model_gives_the_times_that_were_measured() {
    for (count, measured) in [(1000, 8.15), (10_000, 26.1), (100_000, 30.9)] {
        let modelled = Batch::new(Pairs::Measured, false, count, 0).by_device();
        let is_near = (modelled / measured - 1.0f64).abs() < 0.03;
        assert!(is_near, "{count}: {modelled} ms of {measured}");
    }
}

/// Milliseconds of batches on own pairs, the mean over as many orders of their programs: on all cores alone, beside a
/// device without placement, with one learned on other tasks, and in the second batch.
fn times(count: u64, orders: u64) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for order in 1..=orders {
        let own = Batch::new(Pairs::Own, true, count, order);
        let unplaced = own.run(&mut h200(), None);
        let mut others = Batch::new(Pairs::Others, true, count, order);
        // What devices bail out of depends on the task.
        let evaluations = others.programs.iter_mut();
        let evaluations = evaluations.flat_map(|program| &mut program.evaluations);
        evaluations.for_each(|one| one.bails_out = false);
        let after = |batch: &Batch| {
            let mut costs = own.costs();
            batch.run(&mut h200(), Some(&mut costs));
            own.run(&mut h200(), Some(&mut costs))
        };
        let by_cores = own.mean * count as f64 * 1e3;
        let of_order = [by_cores, unplaced, after(&others), after(&own)];
        for (sum, time) in sums.iter_mut().zip(of_order) {
            *sum += time / orders as f64;
        }
    }
    sums
}

/// The documentation has these times as what is to be expected: nobody has measured them.
#[test]
fn a_placement_learned_on_other_tasks_pays() {
    for (count, orders, expected) in [
        (100_000, 12, [7.44, 7.42, 7.32, 5.89]),
        (1_000_000, 3, [74.44, 36.36, 35.94, 33.71]),
    ] {
        let found = times(count, orders);
        let is_near = |(one, other): (&f64, f64)| (one / other - 1.0).abs() < 0.02;
        assert!(
            found.iter().zip(expected).all(is_near),
            "{count}: {found:.2?} ms"
        );
        let [_, unplaced, on_others, on_own] = found;
        let pays = on_own < unplaced && on_others < unplaced;
        assert!(pays, "{count}: {found:.2?} ms");
    }
}

#[test]
fn a_budget_pays_on_other_tasks_and_costs_nothing_on_own_ones() {
    let device = |pairs, has_budget| Batch::new(pairs, has_budget, 100_000, 0).by_device();
    let [own, others] =
        [Pairs::Own, Pairs::Others].map(|pairs| [false, true].map(|budget| device(pairs, budget)));
    assert!((own[1] / own[0] - 1.0).abs() < 1e-9, "{own:?} ms");
    let is_near = (others[1] / others[0] - 0.66).abs() < 0.01;
    assert!(is_near, "{others:?} ms");
}
