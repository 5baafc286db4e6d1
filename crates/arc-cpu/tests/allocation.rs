//! A machine that has run a program before allocates nothing when it runs it again.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic, its helpers too"
)]
#![allow(unsafe_code, reason = "only so are allocations counted")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use arc_cpu::{Compiled, Machine};
use arc_tasks::{MAX_SIDE, builtin};

/// The system's allocator, counting allocations per thread.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends makes no more allocations of interest.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: all calls are forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often `run` allocates.
fn allocations(run: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    run();
    COUNT.get() - before
}

#[test]
fn allocations_are_counted() {
    assert_eq!(allocations(|| assert!(black_box(3) > 2)), 0);
    assert_eq!(allocations(|| assert!(*black_box(Box::new(3)) > 2)), 1);
    let grown = allocations(|| {
        let mut numbers = Vec::with_capacity(1);
        numbers.extend(0..black_box(1_000));
        black_box(numbers);
    });
    assert!(grown > 1, "{grown}");
}

#[test]
fn from_the_second_round_on_no_run_allocates_unless_it_needs_an_order() {
    let programs: Vec<_> = builtin::all()
        .iter()
        .filter_map(|built_in| {
            let form = arc_form::specialise(built_in.program()).ok()?;
            let inputs: Vec<_> = (0..4).map(|at| built_in.input(1, at, MAX_SIDE)).collect();
            Some((built_in.id(), Compiled::new(&form).ok()?, inputs))
        })
        .collect();
    assert!(
        programs.len() > builtin::all().len() / 2,
        "{}",
        programs.len()
    );
    let mut machine = Machine::default();
    let mut allocating = Vec::new();
    for round in 0..3 {
        for (id, program, inputs) in &programs {
            let mut count = 0;
            for input in inputs {
                // An evaluation that bails out does not allocate either.
                let run = allocations(|| {
                    black_box(machine.run(program, input).is_ok());
                });
                // The reference builds the sets whose order decides.
                if machine.orders_asked() == 0 {
                    count += run;
                }
            }
            if round > 0 && count > 0 {
                allocating.push(format!("{id}: {count} in round {round}"));
            }
        }
    }
    assert!(allocating.is_empty(), "{}", allocating.join("\n"));
}
