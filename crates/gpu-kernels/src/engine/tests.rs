use arc_dsl::{Grid, builtin};

use super::*;
use crate::device::emulated::{EmulatedDevice, Emulation};
use crate::device::reusing::Reusing;
use crate::encode;
use crate::program::DeviceProgram;

fn device(bytes: u64) -> Reusing<EmulatedDevice> {
    let emulation = Emulation {
        bytes,
        ..Emulation::default()
    };
    Reusing::new(EmulatedDevice::new(0, &emulation).unwrap())
}

/// Built-in programs from grids to grids, with or without arenas, and an input of each.
fn programs(have_arena: bool) -> Vec<(DeviceProgram, Grid)> {
    let encoded = builtin::all().iter().filter_map(|builtin| {
        let encoded = encode(&arc_form::specialise(builtin.program()).ok()?).ok()?;
        let takes_a_grid = encoded.parameters() == [Representation::Grid];
        let is_meant = encoded.has_arena == have_arena && takes_a_grid;
        is_meant.then(|| (encoded, builtin.input(3, 0, builtin.max_side().min(10))))
    });
    let encoded: Vec<_> = encoded.collect();
    assert!(encoded.len() > 3);
    encoded
}

/// So many evaluations of these programs by turns, each with its input in the pool.
fn evaluations(of: &[(DeviceProgram, Grid)], count: usize, pool: &mut Pool) -> Vec<Evaluation> {
    let of = of.iter().enumerate().cycle().take(count);
    of.map(|(program, (_, input))| Evaluation {
        program: program as u32,
        arguments: pool.push_grid(input).unwrap(),
        expected: None,
        fetch: true,
        hash: false,
    })
    .collect()
}

fn loaded<D: Device>(engine: &Engine<D>, of: &[(DeviceProgram, Grid)]) -> Programs<D> {
    let programs: Vec<_> = of.iter().map(|(program, _)| program.clone()).collect();
    engine.load(&programs).unwrap()
}

/// What they give, each with its verdict.
fn results<D: Device>(
    engine: &Engine<D>,
    programs: &Programs<D>,
    arguments: &Arguments<D>,
    evaluations: &[Evaluation],
) -> Vec<(Verdict, Option<arc_dsl::Value>)> {
    let prepared = engine.prepare(programs, arguments, evaluations).unwrap();
    engine.launch(programs, arguments, &prepared).unwrap();
    let verdicts = engine.verdicts(&prepared).unwrap();
    let results = engine.results(&prepared).unwrap();
    let all = verdicts.into_iter().enumerate();
    all.map(|(at, verdict)| {
        let is_done = matches!(verdict, Verdict::Done { .. });
        (verdict, is_done.then(|| results.value(at)).flatten())
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
    let at_once = engine.upload(&pool).unwrap();
    let expected = results(&engine, &programs, &at_once, &all);
    for part in [1, 7, 59] {
        let mut arguments = engine.upload(&Pool::default()).unwrap();
        let mut so_far = Vec::new();
        for chunk in all.chunks(part) {
            let mut pool = Pool::default();
            let inputs = chunk.iter().map(|one| &of[one.program as usize].1);
            let places: Vec<_> = inputs.map(|input| pool.push_grid(input).unwrap()).collect();
            let first = engine.append(&mut arguments, &pool).unwrap();
            let placed = chunk.iter().zip(places);
            so_far.extend(placed.map(|(one, place)| Evaluation {
                arguments: place.behind(first).unwrap(),
                ..*one
            }));
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
        // Doubled room is at most twice what is needed.
        assert!(arguments.bytes() <= 2 * at_once.bytes());
    }
}

#[test]
fn what_lies_past_the_last_place_is_nowhere() {
    let place = Place { word: 3, unit: 5 };
    assert_eq!(place.behind(Place { word: 1, unit: 2 }), {
        Some(Place { word: 4, unit: 7 })
    });
    let last = Place {
        word: u32::MAX,
        unit: 0,
    };
    assert_eq!(place.behind(last), None);
}

#[test]
fn launches_share_their_arenas() {
    let of = programs(true);
    let engine = Engine::new(device(1 << 30));
    let programs = loaded(&engine, &of);
    let mut pool = Pool::default();
    let all = evaluations(&of, 100, &mut pool);
    let arguments = engine.upload(&pool).unwrap();
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
    // They are made again where they are needed.
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
        let arguments = plenty.upload(&pool).unwrap();
        results(&plenty, &programs, &arguments, &all)
    };
    for bytes in [400_000, 1_000_000, 4_000_000] {
        let engine = Engine::new(device(bytes));
        let programs = loaded(&engine, &of);
        let arguments = engine.upload(&pool).unwrap();
        let found = results(&engine, &programs, &arguments, &all);
        assert_eq!(found, expected, "in {bytes} bytes");
    }
}
