//! Programs loaded onto a device, all at once and in parts.
#![cfg(emulated)]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, its helpers too"
)]

use arc_dsl::Value;
use arc_tasks::builtin;
use gpu_kernels::device::{Device as _, DeviceError};
use gpu_kernels::{
    DeviceProgram, Engine, Evaluation, Pool, Programs, Representation, Verdict, encode,
};
use gpu_sim::emulated::{EmulatedDevice, Emulation};
use gpu_sim::open;

fn engine(bytes: u64) -> Engine<EmulatedDevice> {
    let emulation = Emulation {
        bytes,
        ..Emulation::default()
    };
    Engine::new(open::emulated(0, &emulation).unwrap())
}

/// Built-in programs that the device runs, with inputs for each.
fn encoded() -> Vec<(&'static builtin::BuiltIn, DeviceProgram)> {
    let encoded = builtin::all().iter().filter_map(|builtin| {
        let form = arc_form::specialise(builtin.program()).ok()?;
        let encoded = encode(&form).ok()?;
        let takes_a_grid = encoded.parameters() == [Representation::Grid];
        takes_a_grid.then_some((builtin, encoded))
    });
    let encoded: Vec<_> = encoded.collect();
    assert!(encoded.len() > 10);
    encoded
}

/// Every program on two of its inputs.
fn results(
    engine: &Engine<EmulatedDevice>,
    programs: &Programs<EmulatedDevice>,
    of: &[(&'static builtin::BuiltIn, DeviceProgram)],
) -> Vec<(Verdict, Option<Value>)> {
    let mut pool = Pool::default();
    let mut evaluations = Vec::new();
    for (program, (builtin, _)) in of.iter().enumerate() {
        for index in 0..2 {
            let input = builtin.input(5, index, builtin.max_side().min(12));
            evaluations.push(Evaluation {
                program: program as u32,
                arguments: pool.push_grid(&input).unwrap(),
                expected: None,
                fetch: true,
            });
        }
    }
    let (verdicts, results) = engine.run(programs, &pool, &evaluations).unwrap();
    let all = verdicts.into_iter().enumerate();
    all.map(|(number, verdict)| {
        let value = verdict.is_done().then(|| results.value(number));
        (verdict, value.flatten())
    })
    .collect()
}

fn programs_of(of: &[(&'static builtin::BuiltIn, DeviceProgram)]) -> Vec<DeviceProgram> {
    of.iter().map(|(_, program)| program.clone()).collect()
}

#[test]
fn programs_that_come_in_parts_give_what_they_give_at_once() {
    let of = encoded();
    let all = programs_of(&of);
    let engine = engine(1 << 30);
    let at_once = engine.load(&all).unwrap();
    let expected = results(&engine, &at_once, &of);
    let done = expected.iter().filter(|(_, value)| value.is_some()).count();
    assert!(done * 2 > expected.len(), "{done} of {}", expected.len());
    for part in [1, 2, 7, all.len()] {
        let mut programs = engine.load(&[]).unwrap();
        assert!(programs.is_empty());
        for (number, more) in all.chunks(part).enumerate() {
            let first = (number * part) as u32;
            let numbers = engine.extend(&mut programs, more).unwrap();
            assert_eq!(numbers, first..first + more.len() as u32);
            // They can be run between extensions too.
            let so_far = &of[..programs.len()];
            if number % 3 == 0 {
                let found = results(&engine, &programs, so_far);
                assert_eq!(found, expected[..found.len()]);
            }
        }
        assert_eq!(programs.len(), all.len());
        assert_eq!(results(&engine, &programs, &of), expected);
        // Doubling allocates at most twice what is needed.
        assert!(
            programs.bytes() <= 2 * at_once.bytes() + 4,
            "{}",
            programs.bytes()
        );
        assert_eq!(engine.extend(&mut programs, &[]).unwrap(), {
            let end = all.len() as u32;
            end..end
        });
    }
}

#[test]
fn what_was_loaded_stays_when_memory_runs_out() {
    let of = encoded();
    let all = programs_of(&of);
    // Enough memory for the arenas of a warp or two as well.
    let engine = engine(2_000_000);
    let mut programs = engine.load(&all).unwrap();
    let expected = results(&engine, &programs, &of);
    let room = engine.device().memory().unwrap().free;
    let mut failures = 0;
    // As the remaining memory varies, each of the tables is at some point the one that does not fit.
    for left in (0..programs.bytes() * 4).step_by(97) {
        let held = engine.device().allocate((room - left) as usize).unwrap();
        let before = (programs.len(), programs.bytes());
        let extended = engine.extend(&mut programs, &all);
        drop(held);
        match extended {
            Err(DeviceError::OutOfMemory { .. }) => {
                assert_eq!((programs.len(), programs.bytes()), before);
                failures += 1;
            }
            extended => {
                assert_eq!(extended.unwrap(), all.len() as u32..2 * all.len() as u32);
                break;
            }
        }
        if failures % 16 == 0 {
            assert_eq!(results(&engine, &programs, &of), expected);
        }
    }
    assert!(failures > 16, "{failures}");
    assert_eq!(programs.len(), 2 * all.len());
    let twice: Vec<_> = of.iter().chain(&of).cloned().collect();
    let found = results(&engine, &programs, &twice);
    assert_eq!(found[..expected.len()], expected);
    assert_eq!(found[expected.len()..], expected);
}
