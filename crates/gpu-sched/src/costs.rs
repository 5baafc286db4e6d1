//! [`Costs`]: what programs cost on devices and on the host, in proportion to each other.
//!
//! A device's time cannot be measured by program, since it computes many at once and a launch lasts as long as its longest
//! item. What it executes for an item follows from the program's length and the rounds of its loops, which are counted
//! for some items. Before anything is counted or measured, the program tells.

use std::time::Duration;

use crate::scheduler::Keep;

/// The instructions of a device for a step of a program, and for a round of a loop. By these the costs of 384 public
/// programs are estimated with a correlation of 0.96 of the logarithms.
const STEP: f64 = 60.0;
const ROUND: f64 = 600.0;

/// The seconds of an instruction of a device, which executes those of an item one after the other: 4.4e-9 by the times of
/// an H200.
const SECONDS: f64 = 4.4e-9;

/// The rounds of a loop in an item, until they are counted.
const ROUNDS: f64 = 12.0;

/// The items whose rounds are counted for each program.
const COUNTED: usize = 8;

/// Devices leave a program to the host if they bail out of most of its items, of which there are at least this many.
const LEAST_TRIED: u64 = 16;

/// The costs of the programs of a batch, which are named by their numbers.
#[derive(Debug)]
pub struct Costs {
    programs: Vec<Program>,
    /// The seconds of all items that the host has evaluated, and how many times those of a program without loops they
    /// were expected to take.
    seconds: f64,
    expected: f64,
}

#[derive(Debug, Clone, Default)]
struct Program {
    /// How many items of it there are.
    items: u64,
    /// Its steps and loops; 0 as long as they are not known.
    steps: u32,
    loops: u32,
    /// How many items devices have tried, and how many of them they bailed out of.
    tried: u64,
    bailed_out: u64,
    /// Of how many items devices were asked for the rounds, how many they have counted, and the rounds of these.
    asked: usize,
    counted: u64,
    rounds: u64,
    /// The seconds that the host has taken, and for how many items.
    seconds: f64,
    evaluated: u64,
}

impl Program {
    /// The instructions of a device for an item.
    fn on_device(&self) -> f64 {
        let rounds = if self.counted > 0 {
            self.rounds as f64 / self.counted as f64
        } else {
            f64::from(self.loops) * ROUNDS
        };
        f64::from(self.steps) * STEP + rounds * ROUND
    }

    /// The expected cost of an item on the host, of which one of a program without loops has 1.
    fn expected(&self) -> f64 {
        1.0 + f64::from(self.loops)
    }
}

impl Costs {
    /// Programs with these numbers of items.
    pub fn new(items: impl IntoIterator<Item = u64>) -> Self {
        let program = |items| Program {
            items,
            ..Program::default()
        };
        Self {
            programs: items.into_iter().map(program).collect(),
            seconds: 0.0,
            expected: 0.0,
        }
    }

    fn of(&mut self, program: u32) -> &mut Program {
        &mut self.programs[program as usize]
    }

    /// Describes a program that devices can run: its steps, and its loops, each counted again for each loop around it.
    pub fn describe(&mut self, program: u32, steps: usize, loops: u32) {
        let program = self.of(program);
        (program.steps, program.loops) = (steps.max(1) as u32, loops);
    }

    /// Of how many more items of a program the rounds should be counted.
    pub fn uncounted(&self, program: u32) -> usize {
        let program = &self.programs[program as usize];
        if program.loops > 0 {
            COUNTED.saturating_sub(program.asked)
        } else {
            0
        }
    }

    /// Records that a device is asked for the rounds of so many items of a program.
    pub fn asked(&mut self, program: u32, items: usize) {
        self.of(program).asked += items;
    }

    /// Records the rounds of an item.
    pub fn count(&mut self, program: u32, rounds: u64) {
        let program = self.of(program);
        program.rounds += rounds;
        program.counted += 1;
    }

    /// Records how many items of a program devices have tried, and how many of them they bailed out of.
    pub fn tried(&mut self, program: u32, tried: u64, bailed_out: u64) {
        let program = self.of(program);
        program.tried += tried;
        program.bailed_out += bailed_out;
    }

    /// Records that the host has evaluated items of a program in this time.
    pub fn evaluated(&mut self, program: u32, items: u64, time: Duration) {
        let program = self.of(program);
        program.seconds += time.as_secs_f64();
        program.evaluated += items;
        if program.steps > 0 {
            let expected = program.expected() * items as f64;
            self.seconds += time.as_secs_f64();
            self.expected += expected;
        }
    }

    /// The cost of an item on the host.
    fn on_host(&self, program: &Program) -> f64 {
        if program.evaluated > 0 && program.seconds > 0.0 {
            program.seconds / program.evaluated as f64
        } else if self.expected > 0.0 && self.seconds > 0.0 {
            program.expected() * self.seconds / self.expected
        } else {
            program.expected()
        }
    }

    /// Whether the host should keep the program of a window, if this is the [`mean`](Self::mean).
    pub fn keeps(&self, program: u32, mean: f64, keep: Keep) -> bool {
        self.ratio(program) / mean > keep.dear
            || self.programs[program as usize].on_device() * SECONDS > keep.long
    }

    /// How many times as dear an item of the program is on devices as on the host, in units that only
    /// [`mean`](Self::mean) shares; infinite if devices bail out of most of them, and no number if the program is not
    /// known.
    fn ratio(&self, program: u32) -> f64 {
        let program = &self.programs[program as usize];
        if program.steps == 0 {
            f64::NAN
        } else if program.tried >= LEAST_TRIED && program.bailed_out > program.tried / 2 {
            f64::INFINITY
        } else {
            program.on_device() / self.on_host(program)
        }
    }

    /// The same for all items of known programs.
    pub fn mean(&self) -> f64 {
        let known = || self.programs.iter().filter(|program| program.steps > 0);
        let on_device = known().map(|program| program.on_device() * program.items as f64);
        let on_host = known().map(|program| self.on_host(program) * program.items as f64);
        on_device.sum::<f64>() / on_host.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn before_anything_is_measured_the_program_tells() {
        let mut costs = Costs::new([100, 100, 100]);
        assert!(costs.ratio(0).is_nan() && costs.mean().is_nan());
        costs.describe(0, 10, 0);
        costs.describe(1, 10, 2);
        assert!(costs.ratio(0) < costs.mean() && costs.mean() < costs.ratio(1));
        assert!(costs.ratio(2).is_nan());
    }

    #[test]
    fn rounds_are_counted_for_some_items_of_programs_with_loops() {
        let mut costs = Costs::new([100, 100]);
        costs.describe(0, 10, 0);
        costs.describe(1, 10, 1);
        assert_eq!([0, 1].map(|program| costs.uncounted(program)), [0, COUNTED]);
        let before = costs.ratio(1);
        costs.asked(1, 3);
        assert_eq!(costs.uncounted(1), COUNTED - 3);
        costs.count(1, 500);
        assert!(costs.ratio(1) > 30.0 * before);
    }

    #[test]
    fn what_the_host_has_measured_tells_of_other_programs_too() {
        let mut costs = Costs::new([100; 4]);
        (0..3).for_each(|program| costs.describe(program, 10, program));
        costs.evaluated(0, 10, SECOND);
        costs.evaluated(1, 10, 8 * SECOND);
        // Nothing is known of its loops.
        costs.evaluated(3, 10, 1000 * SECOND);
        let per_second = |program: u32| {
            let of_program = &costs.programs[program as usize];
            of_program.on_device() / costs.ratio(program)
        };
        let seconds = [0, 1, 2].map(per_second);
        let expected = [0.1, 0.8, 0.9];
        let is_near = |(one, other): (&f64, f64)| (one - other).abs() < 1e-9;
        assert!(seconds.iter().zip(expected).all(is_near), "{seconds:?}");
    }

    #[test]
    fn what_devices_mostly_bail_out_of_is_the_hosts() {
        let mut costs = Costs::new([100]);
        costs.describe(0, 1, 0);
        costs.tried(0, 15, 15);
        assert!(costs.ratio(0).is_finite());
        costs.tried(0, 15, 0);
        assert!(costs.ratio(0).is_finite());
        costs.tried(0, 1, 1);
        assert!(costs.ratio(0).is_infinite());
    }
}
