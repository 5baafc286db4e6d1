//! What an engine keeps on a device between launches: arguments, arenas, buffers.
#![cfg(emulated)]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, its helpers too"
)]

use arc_dsl::{Grid, Primitive, Program, ProgramBuilder};
use arc_tasks::builtin;
use gpu_kernels::device::Device;
use gpu_kernels::device::caching::CachingDevice;
use gpu_kernels::{
    Arguments, DeviceProgram, Engine, Evaluation, PairPlace, Pool, Programs, Representation,
    Verdict, encode,
};
use gpu_sim::emulated::{EmulatedDevice, Emulation};
use gpu_sim::open;

fn device(bytes: u64) -> CachingDevice<EmulatedDevice> {
    let emulation = Emulation {
        bytes,
        ..Emulation::default()
    };
    CachingDevice::new(open::emulated(0, &emulation).unwrap())
}

/// Built-in programs from grids to grids, with or without arenas, and an input for each.
fn programs(have_arena: bool) -> Vec<(DeviceProgram, Grid)> {
    let encoded = builtin::all().iter().filter_map(|builtin| {
        let encoded = encode(&arc_form::specialise(builtin.program()).ok()?).ok()?;
        let takes_a_grid = encoded.parameters() == [Representation::Grid];
        let is_meant = encoded.has_arena() == have_arena && takes_a_grid;
        is_meant.then(|| (encoded, builtin.input(3, 0, builtin.max_side().min(10))))
    });
    let encoded: Vec<_> = encoded.collect();
    assert!(encoded.len() > 3);
    encoded
}

/// This many evaluations, of these programs in turn, each with its input in the pool.
fn evaluations(of: &[(DeviceProgram, Grid)], count: usize, pool: &mut Pool) -> Vec<Evaluation> {
    let of = of.iter().enumerate().cycle().take(count);
    of.map(|(program, (_, input))| Evaluation {
        program: program as u32,
        arguments: pool.push_grid(input).unwrap(),
        expected: None,
        fetch: true,
    })
    .collect()
}

fn loaded<D: Device>(engine: &Engine<D>, of: &[(DeviceProgram, Grid)]) -> Programs<D> {
    let programs: Vec<_> = of.iter().map(|(program, _)| program.clone()).collect();
    engine.load(&programs).unwrap()
}

/// Uploads the evaluations' pairs.
fn upload<D: Device>(engine: &Engine<D>, pool: &Pool, of: &[Evaluation]) -> Arguments<D> {
    let (pairs, _) = Evaluation::spans(of);
    engine.upload(pool, &pairs).unwrap()
}

/// The results of the evaluations, whose pairs are the first of the arguments, each with its verdict.
fn results<D: Device>(
    engine: &Engine<D>,
    programs: &Programs<D>,
    arguments: &Arguments<D>,
    evaluations: &[Evaluation],
) -> Vec<(Verdict, Option<arc_dsl::Value>)> {
    let (_, spans) = Evaluation::spans(evaluations);
    let prepared = engine.prepare(programs, arguments, &spans).unwrap();
    engine.launch(programs, arguments, &prepared).unwrap();
    let verdicts = engine.verdicts(&prepared).unwrap();
    let results = engine.results(&prepared).unwrap();
    let all = verdicts.into_iter().enumerate();
    all.map(|(at, verdict)| {
        let value = verdict.is_done().then(|| results.value(at));
        (verdict, value.flatten())
    })
    .collect()
}

#[test]
fn arguments_that_come_in_parts_are_those_that_come_at_once() {
    let of = programs(false);
    let engine = Engine::new(device(1 << 30));
    let programs = loaded(&engine, &of);
    let mut pool = Pool::default();
    let all = evaluations(&of, 60, &mut pool);
    let at_once = upload(&engine, &pool, &all);
    let expected = results(&engine, &programs, &at_once, &all);
    for part in [1, 7, 59] {
        let mut arguments = engine.upload(&Pool::default(), &[]).unwrap();
        let mut so_far = Vec::new();
        for chunk in all.chunks(part) {
            let mut pool = Pool::default();
            let inputs = chunk.iter().map(|one| &of[one.program as usize].1);
            let pairs: Vec<_> = inputs
                .map(|input| PairPlace {
                    arguments: pool.push_grid(input).unwrap(),
                    expected: None,
                })
                .collect();
            let first = engine.append(&mut arguments, &pool, &pairs).unwrap();
            assert_eq!(first as usize, so_far.len());
            so_far.extend_from_slice(chunk);
            if so_far.len() % 3 == 0 {
                let found = results(&engine, &programs, &arguments, &so_far);
                assert_eq!(found, expected[..found.len()]);
            }
        }
        assert_eq!(
            results(&engine, &programs, &arguments, &so_far),
            expected,
            "in parts of {part}"
        );
        // Doubling allocates at most twice what is needed.
        assert!(arguments.bytes() <= 2 * at_once.bytes());
    }
}

#[test]
fn launches_share_their_arenas() {
    let of = programs(true);
    let engine = Engine::new(device(1 << 30));
    let programs = loaded(&engine, &of);
    let mut pool = Pool::default();
    let all = evaluations(&of, 100, &mut pool);
    let arguments = upload(&engine, &pool, &all);
    let expected = results(&engine, &programs, &arguments, &all);
    let usage = engine.device().memory_usage();
    for count in [1, 30, 100, 7] {
        let found = results(&engine, &programs, &arguments, &all[..count]);
        assert_eq!(found, expected[..count]);
    }
    let now = engine.device().memory_usage();
    assert_eq!(now.in_use, usage.in_use);
    engine.drop_arenas();
    let without = engine.device().memory_usage().in_use;
    assert!(without < now.in_use);
    // They are allocated again when needed.
    let found = results(&engine, &programs, &arguments, &all);
    assert_eq!(found, expected);
}

#[test]
fn with_little_memory_warps_take_turns_with_arenas() {
    let of = programs(true);
    let plenty = Engine::new(device(1 << 30));
    let mut pool = Pool::default();
    let all = evaluations(&of, 40, &mut pool);
    let expected = {
        let programs = loaded(&plenty, &of);
        let arguments = upload(&plenty, &pool, &all);
        results(&plenty, &programs, &arguments, &all)
    };
    for bytes in [400_000, 1_000_000, 4_000_000] {
        let engine = Engine::new(device(bytes));
        let programs = loaded(&engine, &of);
        let arguments = upload(&engine, &pool, &all);
        let found = results(&engine, &programs, &arguments, &all);
        assert_eq!(found, expected, "in {bytes} bytes");
    }
}

fn program_of(primitive: Primitive) -> Program {
    let mut builder = ProgramBuilder::new("solve_a");
    let output = builder.call(primitive, [builder.input()]).unwrap();
    builder.finish(output).unwrap()
}

#[test]
fn ten_thousand_launches_of_programs_show_no_growth() {
    let device = open::emulated(0, &Emulation::default()).unwrap();
    let engine = Engine::new(CachingDevice::new(device));
    let primitives = [Primitive::Vmirror, Primitive::Rot90];
    let encoded = primitives.map(|primitive| {
        let form = arc_form::specialise(&program_of(primitive)).unwrap();
        encode(&form).unwrap()
    });
    let programs = engine.load(&encoded).unwrap();
    let mut after_first = None;
    for number in 0..10_000_usize {
        let side = 1 + number % 30;
        let grid = Grid::filled(side, 31 - side, (number % 10) as i8);
        let mut pool = Pool::default();
        let evaluation = Evaluation {
            program: (number % 2) as u32,
            arguments: pool.push_grid(&grid).unwrap(),
            expected: None,
            fetch: true,
        };
        let (_, results) = engine.run(&programs, &pool, &[evaluation]).unwrap();
        let (height, width) = match number % 2 {
            0 => (side, 31 - side),
            _ => (31 - side, side),
        };
        let expected = Grid::filled(height, width, (number % 10) as i8);
        assert_eq!(results.grid(0), Some(expected));
        let usage = engine.device().memory_usage();
        let now = (usage.allocations, usage.reserved, usage.in_use);
        assert_eq!(*after_first.get_or_insert(now), now, "{number}");
    }
}

#[test]
fn unwritten_memory_is_noise_each_time() {
    let device = open::emulated(0, &Emulation::default()).unwrap();
    let device = CachingDevice::new(device);
    let mut seen = Vec::new();
    for _ in 0..10 {
        let mut buffer = device.allocate(4096).unwrap();
        let mut found = vec![0; 4096];
        device.download(&buffer, 0, &mut found).unwrap();
        assert!(!seen.contains(&found));
        seen.push(found);
        device.clear(&mut buffer).unwrap();
    }
    let usage = device.memory_usage();
    assert_eq!((usage.allocations, usage.reuses), (1, 9));
}
