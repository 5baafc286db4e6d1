use std::collections::BTreeMap;
use std::ops::Range;

use arc_dsl::{Grid, Interpreter, Limits, Primitive, Program, ProgramBuilder};
use gpu_kernels::device::Device as _;
use gpu_kernels::{PoolPlace, encode};
use gpu_sim::emulated::{EmulatedDevice, Emulation};
use gpu_sim::faulty::{Call, Effect, FaultPlan, Faulty, Handle, InjectedFault, Outage};
use gpu_sim::open;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::resident::MAX_ENTRIES;
use super::*;
use crate::fleet::{Finished, Fleet};
use crate::order::Order;
use crate::scheduler::tests::HOST;
use crate::scheduler::{DeviceDescription, Placement, Policy};

/// Programs and the grids that they are tried on: item `i` is program `i % 5` on grid `i % 7`.
struct Work {
    programs: Vec<(Program, Arc<DeviceProgram>)>,
    grids: Vec<Grid>,
    expected: Vec<Grid>,
}

impl Work {
    fn new() -> Self {
        let programs = [
            [Primitive::Vmirror, Primitive::Rot90],
            [Primitive::Hmirror, Primitive::Dmirror],
            [Primitive::Rot180, Primitive::Tophalf],
            [Primitive::Trim, Primitive::Vmirror],
            [Primitive::Cmirror, Primitive::Lefthalf],
        ];
        let programs: Vec<_> = programs
            .into_iter()
            .map(|primitives| {
                let mut builder = ProgramBuilder::new("solve");
                let mut value = builder.input();
                for primitive in primitives {
                    value = builder.call(primitive, [value]).unwrap();
                }
                let program = builder.finish(value).unwrap();
                let encoded = encode(&arc_form::specialise(&program).unwrap()).unwrap();
                (program, Arc::new(encoded))
            })
            .collect();
        let grids: Vec<_> = (3..10)
            .map(|side| {
                let cell = |at: usize| (at * at % 10) as i32;
                let row = |row: usize| (0..side).map(|column| cell(row * side + column)).collect();
                let rows: Vec<Vec<i32>> = (0..side).map(row).collect();
                Grid::from_rows(&rows).unwrap()
            })
            .collect();
        let mut interpreter = Interpreter::new(Limits::default());
        let expected = (0..35)
            .map(|item| {
                let input = grids[item % 7].clone();
                let value = interpreter.run(&programs[item % 5].0, input);
                value.unwrap().as_grid().unwrap().into_owned()
            })
            .collect();
        Self {
            programs,
            grids,
            expected,
        }
    }

    fn prepare(&self, items: Range<u64>) -> Evaluations {
        let mut batch = Evaluations::default();
        let numbered = self.programs.iter().zip(100..);
        batch.programs = numbered
            .map(|((_, program), number)| (number, Arc::clone(program)))
            .collect();
        let mut places = BTreeMap::new();
        batch.others = (items.end - items.start) as u32;
        for (verdict, item) in items.enumerate() {
            let item = item as usize;
            let groups = &mut batch.pairs;
            let group = *places.entry(item % 35).or_insert_with(|| {
                let mut pool = Pool::default();
                let pair = PairPlace {
                    arguments: pool.push_grid(&self.grids[item % 7]).unwrap(),
                    expected: Some(pool.push_grid(&self.expected[item % 35]).unwrap()),
                };
                let places = vec![pair];
                groups.push((item as u64 % 35, Arc::new(Pairs { pool, places })));
                groups.len() as u32 - 1
            });
            let span = Span {
                program: (item % 5) as u32,
                pairs: 0..1,
                verdict: verdict as u32,
                fetch: true,
            };
            batch.spans.push((group, span));
        }
        batch
    }

    fn check(&self, items: Range<u64>, answers: &Answers) {
        assert_eq!(answers.verdicts.len() as u64, items.end - items.start);
        for (at, item) in items.enumerate() {
            assert_eq!(answers.verdicts[at].ended(), Ok(true));
            let grid = answers.results.grid(at).unwrap();
            assert_eq!(grid, self.expected[item as usize % 35], "item {item}");
        }
    }
}

type Device = Faulty<EmulatedDevice>;
type Emulated = Fleet<Evaluations, Answers>;

fn description(launcher: &Launcher<Device>) -> DeviceDescription {
    DeviceDescription {
        name: launcher.information().name.clone(),
        unit: 1e-5,
        most: 200,
        in_flight: LANES + 1,
        free: None,
    }
}

/// A fleet of emulated devices with this memory, each with its own injected faults.
fn fleet(plans: Vec<FaultPlan>, bytes: u64) -> (Emulated, Vec<Handle>) {
    let mut handles = Vec::new();
    let policy = Policy {
        placement: Placement::Devices,
        time_limit: Duration::from_millis(300),
        recovery: Duration::from_millis(2),
        ..Policy::default()
    };
    let mut fleet = Fleet::new(policy);
    for plan in plans {
        let emulation = Emulation {
            bytes,
            ..Emulation::default()
        };
        let emulated = open::emulated(0, &emulation).unwrap();
        let faulty = Faulty::new(emulated, plan);
        handles.push(faulty.handle());
        let open = {
            let mut first = Some(faulty.new_stream().unwrap());
            let again = move || faulty.new_stream().map_err(|_| Unavailable::NoDevice);
            move || first.take().map_or_else(&again, Ok)
        };
        let launcher = Launcher::<_, ()>::new(Box::new(open)).unwrap();
        fleet.add(description(&launcher), launcher).unwrap();
    }
    (fleet, handles)
}

/// Runs items with everything checked; returns how many of them devices evaluated.
fn drive(fleet: &mut Emulated, work: &Work, count: u64) -> u64 {
    fleet.scheduler_mut().begin(0..count);
    let (mut order, mut by_devices) = (Order::default(), 0);
    while order.next() < count {
        let changes = fleet.signal().changes();
        if let Some(Finished { items, answer, .. }) = fleet.receive() {
            let [items] = items.try_into().unwrap();
            work.check(items.clone(), &answer);
            by_devices += items.end - items.start;
            order.put(items, ());
        } else if let Some(window) = fleet.claim(HOST) {
            let batch = work.prepare(window.items.clone());
            assert!(fleet.hand_over(&window, batch, &[], Duration::from_micros(10)));
        } else if let Some(items) = fleet.scheduler().for_host() {
            fleet.scheduler_mut().take(items.start, items.end);
            order.put(items, ());
        } else {
            let signal = Arc::clone(fleet.signal());
            signal.wait(changes, Duration::from_millis(5));
        }
        while order.take().is_some() {}
    }
    by_devices
}

/// A launcher on an emulated device with this memory.
fn launcher(bytes: u64) -> Launcher<EmulatedDevice> {
    let emulation = Emulation {
        bytes,
        ..Emulation::default()
    };
    let open = move || open::emulated(0, &emulation);
    Launcher::new(Box::new(open)).unwrap()
}

/// Runs a batch.
fn made(launcher: &mut Launcher<EmulatedDevice>, batch: Evaluations) -> (Answers, Made) {
    let begun = launcher.begin(batch).unwrap();
    launcher.finish(begun).unwrap()
}

/// Without a compiler for the kernels there is no device to test.
fn is_there() -> bool {
    EmulatedDevice::fingerprint().is_some()
}

#[test]
fn devices_give_what_the_reference_gives() {
    if !is_there() {
        return;
    }
    let work = Work::new();
    let (mut fleet, _handles) = fleet(vec![FaultPlan::default(); 2], 1 << 30);
    for count in [1, 35, 500] {
        assert_eq!(drive(&mut fleet, &work, count), count);
    }
    let mut activities = fleet.scheduler().activities();
    let (_, activity) = activities.next().unwrap();
    assert!(activity.stages.compute > Duration::ZERO, "{activity:?}");
    assert!(activity.items > 0);
}

#[test]
fn what_is_too_large_for_memory_is_split() {
    if !is_there() {
        return;
    }
    let work = Work::new();
    // The first window, of 32 items because nothing is known, needs more.
    let (mut fleet, _handles) = fleet(vec![FaultPlan::default()], 60_000);
    let by_devices = drive(&mut fleet, &work, 600);
    assert_eq!(by_devices, 600);
    let mut activities = fleet.scheduler().activities();
    assert!(activities.all(|(_, activity)| activity.split > 0));
}

#[test]
fn random_faults_change_no_result() {
    if !is_there() {
        return;
    }
    let work = Work::new();
    for seed in 0..40 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let plan = |random: &mut Pcg64Mcg| {
            let faults = (0..random.random_range(0..5))
                .map(|_| InjectedFault {
                    call: [Call::Allocation, Call::Copy, Call::Launch, Call::Wait]
                        [random.random_range(0..4)],
                    number: random.random_range(0..60),
                    effect: match random.random_range(0..10) {
                        0..4 => Effect::OutOfMemory,
                        4..6 => Effect::Lost,
                        6..8 => Effect::Driver,
                        8 => Effect::Slow(5),
                        _ => Effect::Hang,
                    },
                })
                .collect();
            let outages = (0..random.random_range(0..2))
                .map(|_| Outage {
                    from: random.random_range(3..300),
                    calls: random.random_range(1..50),
                })
                .collect();
            FaultPlan { faults, outages }
        };
        let plans = (0..random.random_range(1..=3)).map(|_| plan(&mut random));
        let (mut fleet, handles) = fleet(plans.collect(), 1 << 20);
        for _ in 0..2 {
            drive(&mut fleet, &work, random.random_range(1..400));
        }
        handles.iter().for_each(Handle::release);
    }
}

#[test]
fn ten_thousand_batches_show_no_growth() {
    if !is_there() {
        return;
    }
    let work = Work::new();
    let mut launcher = launcher(Emulation::default().bytes);
    let mut usage = None;
    for round in 0..10_000 {
        let items = round % 7..round % 7 + 1 + round % 3;
        let (answers, _) = made(&mut launcher, work.prepare(items.clone()));
        work.check(items, &answers);
        let (_, now) = launcher.memory().unwrap();
        if round == 100 {
            usage = Some(now);
        } else if let Some(usage) = usage {
            assert_eq!(now.reserved, usage.reserved, "in round {round}");
            assert_eq!(now.allocations, usage.allocations, "in round {round}");
        }
    }
    launcher.clean_up();
    let (_, after) = launcher.memory().unwrap();
    assert_eq!(after.reserved, after.in_use);
}

#[test]
fn programs_are_loaded_anew_where_there_are_too_many() {
    if !is_there() {
        return;
    }
    let work = Work::new();
    let mut launcher = launcher(Emulation::default().bytes);
    for round in 0..8 {
        let mut batch = work.prepare(0..5);
        // Under other numbers they are other programs.
        for (number, _) in &mut batch.programs {
            *number += round * 20_000;
        }
        let more = (0..15_000).map(|more| {
            (
                round * 20_000 + 200 + more,
                Arc::clone(&batch.programs[0].1),
            )
        });
        let more: Vec<_> = more.collect();
        batch.programs.extend(more);
        let (answers, _) = made(&mut launcher, batch);
        work.check(0..5, &answers);
    }
    for lane in &launcher.lanes {
        assert!(lane.resident.counts().0 <= MAX_ENTRIES);
    }
}

/// A batch of evaluations of the first program, each on its own grid, numbered from `first` on.
fn of_own_grids(work: &Work, first: u64, count: u64) -> Evaluations {
    let mut batch = work.prepare(0..1);
    let (_, span) = batch.spans[0].clone();
    let pairs = Arc::clone(&batch.pairs[0].1);
    let spans = (0..count as u32).map(|verdict| {
        (
            verdict,
            Span {
                verdict,
                ..span.clone()
            },
        )
    });
    batch.spans = spans.collect();
    batch.others = count as u32;
    batch.pairs = (first..first + count)
        .map(|number| (number, Arc::clone(&pairs)))
        .collect();
    batch
}

#[test]
fn what_is_on_the_device_is_not_copied_again() {
    if !is_there() {
        return;
    }
    let work = Work::new();
    let mut launcher = launcher(Emulation::default().bytes);
    let mut footprints = Vec::new();
    // Each lane twice.
    for _ in 0..4 {
        let (answers, made) = made(&mut launcher, work.prepare(0..70));
        work.check(0..70, &answers);
        footprints.push(made.footprint);
    }
    // Values are not counted for items, so all batches have the same footprint.
    assert!(footprints.iter().all(|bytes| *bytes == footprints[0]));
    for lane in &launcher.lanes {
        assert_eq!(lane.resident.counts(), (5, 35));
    }
    launcher.clean_up();
    for lane in &launcher.lanes {
        assert_eq!(lane.resident.counts(), (0, 0));
    }
    let (_, usage) = launcher.memory().unwrap();
    assert_eq!((usage.in_use, usage.reserved), (0, 0));
    let (answers, _) = made(&mut launcher, work.prepare(0..70));
    work.check(0..70, &answers);
}

#[test]
fn what_stays_makes_room_for_what_is_needed() {
    if !is_there() {
        return;
    }
    let work = Work::new();
    let mut launcher = launcher(300_000);
    // 100 KB each: together they would take three times the memory.
    for round in 0..10 {
        let batch = of_own_grids(&work, round * 1000, 100);
        let (answers, _) = made(&mut launcher, batch);
        assert_eq!(answers.verdicts.len(), 100);
        let mut verdicts = answers.verdicts.iter();
        assert!(verdicts.all(|verdict| verdict.ended() == Ok(true)));
    }
    // What does not fit even alone is an error.
    let begun = launcher.begin(of_own_grids(&work, 0, 1000));
    assert!(matches!(begun, Err(Failure::OutOfMemory)));
    let (answers, _) = made(&mut launcher, work.prepare(0..70));
    work.check(0..70, &answers);
}

#[test]
fn values_are_loaded_anew_where_there_are_too_many() {
    if !is_there() {
        return;
    }
    let work = Work::new();
    let mut launcher = launcher(Emulation::default().bytes);
    for round in 0..6 {
        let mut batch = of_own_grids(&work, round * 30_000, 30_000);
        batch.spans.truncate(10);
        let (answers, _) = made(&mut launcher, batch);
        assert_eq!(answers.verdicts.len(), 10);
    }
    for lane in &launcher.lanes {
        let (programs, pools) = lane.resident.counts();
        assert!(programs == 5 && pools <= MAX_ENTRIES, "{programs} {pools}");
    }
    // Entries that are resident already do not count towards the limit.
    launcher.clean_up();
    for count in [40_000, 40_000, 30_000, 30_000] {
        let mut batch = of_own_grids(&work, 0, count);
        batch.spans.truncate(10);
        made(&mut launcher, batch);
    }
    for lane in &launcher.lanes {
        assert_eq!(lane.resident.counts(), (5, 40_000));
    }
}

#[test]
fn evaluations_of_what_is_not_there_are_refused() {
    if !is_there() {
        return;
    }
    let work = Work::new();
    let wrong: [fn(&mut Evaluations); 5] = [
        |batch| batch.spans[3].1.program = 9,
        |batch| batch.spans[3].0 = 9,
        |batch| batch.spans[3].1.pairs = 0..2,
        |batch| {
            Arc::make_mut(&mut batch.pairs[3].1).places[0]
                .arguments
                .unit = u32::MAX;
        },
        |batch| {
            Arc::make_mut(&mut batch.pairs[3].1).places[0].expected = Some(PoolPlace {
                word: u32::MAX,
                unit: 0,
            });
        },
    ];
    for wrong in wrong {
        let mut launcher = launcher(Emulation::default().bytes);
        let mut batch = work.prepare(0..5);
        wrong(&mut batch);
        let begun = launcher.begin(batch);
        assert!(matches!(begun, Err(Failure::Failed(_))));
    }
}

#[test]
fn a_program_on_pairs_that_follow_each_other_is_one_span() {
    if !is_there() {
        return;
    }
    let work = Work::new();
    let mut batch = of_own_grids(&work, 0, 40);
    // The second half is of another program, and one pair is left out of the first.
    for (_, span) in &mut batch.spans[20..] {
        span.program = 1;
    }
    batch.spans.remove(7);
    let mut launcher = launcher(Emulation::default().bytes);
    let Lane { resident, engine } = &mut launcher.lanes[0];
    let spans = resident.load(engine, &batch).unwrap();
    let whole = |span: &Span| (span.program, span.pairs.clone(), span.verdict);
    let expected = [(0, 0..7, 0), (0, 8..20, 8), (1, 20..40, 20)];
    assert!(spans.iter().map(whole).eq(expected));
}
