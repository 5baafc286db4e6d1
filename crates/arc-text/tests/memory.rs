//! Checks that no evaluation holds more memory than its limits allow.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic, its helpers too"
)]
#![allow(unsafe_code, reason = "only so are allocated bytes counted")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use arc_dsl::generate::Generator;
use arc_dsl::{EvalError, Grid, Interpreter, Limits, Program, Type, Value};
use arc_text::parse_programs;

/// The system's allocator, extended to count the bytes that each thread holds.
struct Counting;

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    // The allocations of a thread that is ending do not matter.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        PEAK.set(PEAK.get().max(held.get()));
    });
}

// SAFETY: all calls are forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // During the copy, both blocks exist.
        count(size as i64);
        // SAFETY: the caller upholds the contract of `realloc`.
        let new = unsafe { System.realloc(old, layout, size) };
        count(-(layout.size() as i64));
        new
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The maximum number of bytes that `run` holds at any time.
fn peak<R>(run: impl FnOnce() -> R) -> (u64, R) {
    let before = HELD.get();
    PEAK.set(before);
    let result = run();
    ((PEAK.get() - before) as u64, result)
}

#[test]
fn bytes_are_counted() {
    let (bytes, ()) = peak(|| {
        drop(black_box(vec![0u8; 1_000]));
        let mut numbers = vec![0u8; 500];
        numbers.reserve_exact(200);
        black_box(numbers);
    });
    assert_eq!(bytes, 1_200);
}

/// Limits with which the counted memory is far more than the uncounted memory.
fn limits() -> [Limits; 2] {
    let tight = Limits {
        max_steps: 300_000,
        max_cells: 50_000,
        max_elements: 100_000,
        max_memory: 300_000,
        max_nesting: 6,
        timeout: None,
    };
    let many_small_values = Limits {
        max_elements: 20_000,
        max_cells: 10_000,
        max_memory: 1_000_000,
        ..tight.clone()
    };
    [tight, many_small_values]
}

/// Runs a program and returns its result; checks that its memory stays within the limits.
fn check(limits: &Limits, program: &Program, input: &Value) -> Result<Value, EvalError> {
    let mut interpreter = Interpreter::new(limits.clone());
    let input = input.clone();
    let (bytes, result) = peak(|| interpreter.run(program, input));
    let most = limits.peak_bytes();
    assert!(bytes <= most, "{bytes} of {most} bytes: {program}");
    result
}

fn run(limits: &Limits, body: &str) -> Result<Value, EvalError> {
    let program = parse_programs(&format!("def f(I):\n{body}\n    return O"));
    let program = program[0].as_ref().unwrap_or_else(|e| panic!("{e}"));
    check(limits, program, &Grid::filled(3, 3, 0).into())
}

/// `p` is a variable that is always held; `always` is a function that returns it.
fn with(p: &str, rest: &str) -> String {
    format!("    p = {p}\n    b = lbind(branch, T)\n    always = lbind(b, p)\n    {rest}")
}

#[test]
fn what_calls_leave_behind_is_counted() {
    for limits in limits() {
        for p in [
            "asindices(canvas(0, (90, 90)))",
            "asobject(canvas(0, (90, 90)))",
            "interval(0, 9000, 1)",
            "interval(0, 90000, 1)",
            "repeat((1, 2), 9000)",
            "apply(initset, interval(0, 1500, 1))",
            "totuple(canvas(0, (1000, 1)))",
            "totuple(canvas(0, (1, 9000)))",
            "canvas(0, (10000, 0))",
            "canvas(0, (10000, 1))",
        ] {
            for function in [
                "merge",
                "totuple",
                "first",
                "initset",
                "dedupe",
                "mostcommon",
                "asindices",
                "asobject",
                "toindices",
                "delta",
                "frontiers",
                "partition",
                "rbind(objects, T)",
                "rbind(sfilter, rbind(contained, (1, 5)))",
                "rbind(remove, initset(1))",
                "rbind(order, identity)",
                "rbind(insert, p)",
                "lbind(apply, initset)",
                "lbind(apply, lbind(lbind, add))",
                "lbind(mapply, initset)",
                "fork(combine, identity, identity)",
                "fork(difference, identity, initset)",
                "fork(astuple, identity, identity)",
                "fork(product, identity, first)",
                "fork(pair, identity, identity)",
            ] {
                // Whether or not the limits are reached, the memory must stay bounded.
                let each = format!("O = apply(compose({function}, always), interval(0, 3000, 1))");
                let _ = run(&limits, &with(p, &each));
            }
        }
    }
}

#[test]
fn a_set_does_not_keep_the_room_in_which_it_was_made() {
    let [limits, _] = limits();
    // Of each 60,000 numbers, 300 remain.
    let body = with(
        "asindices(canvas(0, (90, 300)))",
        "O = apply(compose(merge, always), interval(0, 200, 1))",
    );
    let result = run(&limits, &body);
    assert!(result.is_ok() || result.unwrap_err().limit().is_some());
}

#[test]
fn variables_fill_the_memory_and_no_more() {
    for limits in limits() {
        for value in [
            "apply(initset, interval(K, 1500, 1))",
            "apply(lbind(lbind, add), interval(K, 1500, 1))",
            "pair(interval(K, 1500, 1), totuple(canvas(0, (1500, 1))))",
            "totuple(canvas(K, (1000, 0)))",
            "asindices(canvas(K, (90, 90)))",
            "asobject(canvas(K, (90, 90)))",
            "canvas(K, (90, 90))",
            "sfilter(interval(0, 9000, 1), lbind(greater, K))",
            "order(interval(0, 5000, 1), lbind(subtract, K))",
        ] {
            let lines: Vec<_> = (0..1_000)
                .map(|k| format!("    x{k} = {}\n", value.replace('K', &(k % 90).to_string())))
                .collect();
            let _ = run(&limits, &(lines.concat() + "    O = x0"));
        }
    }
}

/// Functions that hold a large value while the function inside them creates another.
#[test]
fn what_is_held_at_every_level_of_nesting_is_counted() {
    for limits in limits() {
        let limits = Limits {
            max_nesting: 100,
            ..limits
        };
        let light = Limits {
            max_memory: 0,
            max_elements: 0,
            max_cells: 0,
            ..limits.clone()
        };
        for (p, level) in [
            ("interval(0, 9000, 1)", "lbind(apply, fN)"),
            ("interval(0, 9000, 1)", "rbind(sfilter, fN)"),
            ("interval(0, 9000, 1)", "rbind(order, fN)"),
            ("interval(0, 9000, 1)", "rbind(argmax, fN)"),
            ("interval(0, 9000, 1)", "fork(combine, always, fN)"),
            ("canvas(0, (3, 3000))", "lbind(apply, fN)"),
            ("canvas(0, (3, 3000))", "rbind(argmin, fN)"),
            ("canvas(0, (3, 3000))", "rbind(extract, fN)"),
            ("asindices(canvas(0, (90, 90)))", "lbind(mapply, fN)"),
        ] {
            use std::fmt::Write as _;
            let mut body = with(p, "f0 = always\n");
            for n in 0..30 {
                let level = level.replace('N', &n.to_string());
                writeln!(body, "    g{n} = {level}").unwrap();
                writeln!(body, "    f{} = compose(g{n}, always)", n + 1).unwrap();
            }
            let result = run(&limits, &(body + "    O = f30(0)"));
            let error = result.unwrap_err();
            assert!(error.limit().is_some() || p.contains("canvas"), "{error}");
        }
        assert!(light.peak_bytes() * 3 < Limits::default().peak_bytes());
    }
}

#[test]
fn random_programs_stay_within_it() {
    let mut generator = Generator::with_scenes(5, 100);
    for limits in limits() {
        for _ in 0..500 {
            let program = generator.program(40).unwrap();
            let input = generator.value(Type::Grid);
            let _ = check(&limits, &program, &input);
        }
    }
}

/// The bound that is documented for the defaults.
#[test]
fn the_defaults_need_no_more_than_350_megabytes() {
    assert!(Limits::default().peak_bytes() <= 350_000_000);
}
