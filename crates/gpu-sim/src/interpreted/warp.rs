//! [`Machine`]: a warp in lockstep.
//!
//! Lanes that part at a branch run one side after the other and meet again at the branch's immediate
//! postdominator, which is where the driver's compiler lets them meet.

use super::branches::{Chosen, Group, branch, fault};
use super::compute::{Lanes, WARP, put};
use super::counts::{Counts, Kind};
use super::error::{Fault, Violation};
use super::memory::{Interval, Memory, SHARED_REGION};
use super::module::{File, Instruction, Module, NOWHERE, Op, Place, Register, SPECIAL};

/// All lanes.
pub(super) const ALL: u32 = u32::MAX;

/// How many barriers a block has.
pub(super) const BARRIERS: usize = 16;

/// One launch of an entry.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    pub(super) entry: usize,
    pub(super) blocks: u32,
    pub(super) threads: u32,
    /// Numbers, and addresses of buffers.
    pub(super) arguments: &'a [u64],
    /// The most instructions of a warp.
    pub(super) steps: u64,
}

/// A function that was called.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// The call, which is gone on behind.
    call: Place,
    /// The caller's group.
    caller: Group,
    returned: u32,
    /// How many groups waited when it was called.
    base: usize,
}

/// Registers and parameters, used by one warp after the other.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) words: Vec<Lanes<u32>>,
    pub(super) longs: Vec<Lanes<u64>>,
    pub(super) predicates: Vec<u32>,
    /// Lanes in which each register was written, and in which it is when a warp begins.
    pub(super) written: Vec<u32>,
    written_at_first: Vec<u32>,
    /// Bytes of the parameter space, and the lanes in which they were written.
    pub(super) parameters: Vec<[u8; WARP]>,
    pub(super) parameters_written: Vec<u32>,
    /// Intervals between barriers are numbered through a launch.
    pub(super) time: Interval,
    /// How often the warp came to each barrier of its block.
    pub(super) barriers: [u32; BARRIERS],
}

/// Lanes of a special register that is the same in every launch.
fn lane_numbers(f: impl Fn(u32) -> u32) -> Lanes<u32> {
    let mut all = [0; WARP];
    for (lane, value) in (0..).zip(&mut all) {
        *value = f(lane);
    }
    all
}

/// An instruction, the lanes that came to it together, and those that its guard lets execute it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) instruction: &'a Instruction,
    pub(super) group: u32,
    pub(super) mask: u32,
}

impl Machine {
    pub(super) fn new(module: &Module) -> Self {
        let [words, longs, predicates] = module.sizes.map(|count| count as usize);
        let most = words.max(longs).max(predicates);
        let mut machine = Machine {
            words: vec![[0; WARP]; words],
            longs: vec![[0; WARP]; longs],
            predicates: vec![0; predicates],
            written: vec![0; most * 3],
            written_at_first: vec![0; most * 3],
            parameters: vec![[0; WARP]; module.parameter_bytes as usize],
            parameters_written: vec![0; module.parameter_bytes as usize],
            time: Interval { now: 0, warp: 0 },
            barriers: [0; BARRIERS],
        };
        for (value, register) in &module.words {
            machine.words[*register as usize] = [*value; WARP];
            machine.is_written_at_first(File::Word, *register);
        }
        for (value, register) in &module.longs {
            machine.longs[*register as usize] = [*value; WARP];
            machine.is_written_at_first(File::Long, *register);
        }
        for (value, register) in &module.predicates {
            machine.predicates[*register as usize] = if *value { ALL } else { 0 };
            machine.is_written_at_first(File::Predicate, *register);
        }
        for special in 0..SPECIAL.len() as u32 {
            machine.is_written_at_first(File::Word, special);
        }
        machine.words[4] = lane_numbers(|lane| lane);
        machine.words[5] = lane_numbers(|lane| 1 << lane);
        machine.words[6] = lane_numbers(|lane| (1 << lane) - 1);
        machine.words[7] = lane_numbers(|lane| (2u64 << lane).wrapping_sub(1) as u32);
        machine.words[8] = lane_numbers(|lane| !((2u64 << lane).wrapping_sub(1) as u32));
        machine.words[9] = lane_numbers(|lane| !((1 << lane) - 1));
        machine
    }

    fn is_written_at_first(&mut self, file: File, index: u32) {
        self.written_at_first[Register { file, index }.number() as usize] = ALL;
    }

    /// Runs all blocks, and all warps of each, one after the other.
    pub(super) fn launch(
        &mut self,
        module: &Module,
        launch: &Launch<'_>,
        memory: &mut Memory,
        counts: &mut Counts,
    ) -> Result<(), Fault> {
        let warps = launch.threads / WARP as u32;
        self.time = Interval { now: 0, warp: 0 };
        for block in 0..launch.blocks {
            memory.regions[SHARED_REGION].forget();
            let mut barriers = None;
            for warp in 0..warps {
                let shared = &mut memory.regions[SHARED_REGION];
                // Kernels of this library have no memory that warps of a block share.
                let part = shared.content.bytes.len() / warps as usize;
                shared.allowed = (part * warp as usize, part * (warp as usize + 1));
                self.begin(module, launch, [warp, block]);
                let first = module.functions[launch.entry].first;
                let end = Run {
                    module,
                    machine: self,
                    memory,
                    counts,
                    steps: launch.steps,
                }
                .warp(first)?;
                self.came_to(barriers.get_or_insert(self.barriers), end)?;
            }
        }
        Ok(())
    }

    /// Fails where others of the block would wait for a warp, or it for them. That warps run one after
    /// the other makes no difference else: none sees what another has written.
    fn came_to(&self, first: &[u32; BARRIERS], end: Place) -> Result<(), Fault> {
        for (number, (&first, times)) in (0..).zip(first.iter().zip(self.barriers)) {
            if times != first {
                return Err(Fault {
                    place: end,
                    lane: 0,
                    violation: Violation::BarrierMissed {
                        number,
                        times,
                        first,
                    },
                });
            }
        }
        Ok(())
    }

    fn begin(&mut self, module: &Module, launch: &Launch<'_>, [warp, block]: [u32; 2]) {
        self.written.copy_from_slice(&self.written_at_first);
        self.words[0] = lane_numbers(|lane| warp * WARP as u32 + lane);
        self.words[1] = [launch.threads; WARP];
        self.words[2] = [block; WARP];
        self.words[3] = [launch.blocks; WARP];
        self.parameters_written.fill(0);
        let parameters = &module.functions[launch.entry].parameters;
        for (extent, value) in parameters.iter().zip(launch.arguments) {
            for byte in 0..extent.bytes.min(8) {
                let at = (extent.at + byte) as usize;
                self.parameters[at] = [(value >> (8 * byte)) as u8; WARP];
                self.parameters_written[at] = ALL;
            }
        }
        self.time.now += 1;
        self.time.warp = self.time.now;
        self.barriers = [0; BARRIERS];
    }
}

/// A warp on its way through a kernel.
struct Run<'a> {
    module: &'a Module,
    machine: &'a mut Machine,
    memory: &'a mut Memory,
    counts: &'a mut Counts,
    steps: u64,
}

impl Run<'_> {
    /// Gives where it ended.
    fn warp(&mut self, first: Place) -> Result<Place, Fault> {
        let module = self.module;
        let mut waiting: Vec<Group> = Vec::new();
        let mut frames: Vec<Frame> = Vec::new();
        let mut group = Group {
            place: first,
            meet: NOWHERE,
            mask: ALL,
        };
        let mut steps = self.steps;
        self.counts.warp();
        loop {
            if group.place == group.meet {
                group = waiting
                    .pop()
                    .ok_or(fault(group, Violation::Internal("nobody waits")))?;
                continue;
            }
            let place = group.place;
            let Some(instruction) = module.code.get(place as usize) else {
                return Err(fault(group, Violation::Internal("no such instruction")));
            };
            if let Op::Mark(part) = instruction.op {
                self.counts.mark(part, instruction.line);
                group.place += 1;
                continue;
            }
            let mask = match instruction.guard {
                None => group.mask,
                Some(guard) => {
                    let holds = self.machine.predicates[guard.index as usize];
                    group.mask & if guard.negated { !holds } else { holds }
                }
            };
            let at_work = match instruction.op {
                Op::Branch | Op::IndexedBranch(_) => group.mask,
                _ => mask,
            };
            let full = at_work == ALL;
            self.counts.issue(place, Kind::of(instruction.op), full);
            if steps == 0 {
                return Err(fault(group, Violation::Steps { most: self.steps }));
            }
            steps -= 1;
            self.registers(instruction, group.mask, mask)
                .map_err(|lane| Fault {
                    place,
                    lane,
                    violation: Violation::UnwrittenRegister,
                })?;
            match instruction.op {
                Op::Branch => {
                    group = branch(group, instruction, mask, &mut waiting)?;
                }
                Op::IndexedBranch(uniform) => {
                    let index = &self.machine.words[instruction.from[0] as usize];
                    let table = &module.tables[instruction.target as usize];
                    let chosen = Chosen {
                        table,
                        index,
                        taken: mask,
                        uniform,
                    };
                    group = chosen.branch(group, instruction, &mut waiting)?;
                }
                Op::Call => {
                    let callee = self.enter(instruction, mask);
                    let base = waiting.len();
                    frames.push(Frame {
                        call: place,
                        caller: group,
                        returned: 0,
                        base,
                    });
                    group = Group {
                        place: callee,
                        meet: NOWHERE,
                        mask,
                    };
                }
                Op::Return => match self.give_back(group, &mut waiting, &mut frames)? {
                    Some(next) => group = next,
                    None => return Ok(place),
                },
                _ => {
                    if mask != 0 {
                        self.step(place, instruction, group.mask, mask)?;
                    }
                    group.place += 1;
                }
            }
        }
    }

    /// Executes an instruction that all lanes of the mask come behind together.
    #[inline]
    fn step(
        &mut self,
        place: Place,
        instruction: &Instruction,
        group: u32,
        mask: u32,
    ) -> Result<(), Fault> {
        let step = Step {
            instruction,
            group,
            mask,
        };
        let done = self.machine.execute(step, self.memory, self.counts);
        done.map_err(|(lane, violation)| Fault {
            place,
            lane,
            violation,
        })?;
        for register in instruction.writes.as_slice() {
            self.machine.written[*register as usize] |= mask;
        }
        Ok(())
    }

    /// Who goes on where the lanes of a group have returned; nobody at the end of the kernel.
    fn give_back(
        &mut self,
        group: Group,
        waiting: &mut Vec<Group>,
        frames: &mut Vec<Frame>,
    ) -> Result<Option<Group>, Fault> {
        if let Some(frame) = frames.last_mut() {
            frame.returned |= group.mask;
        }
        if waiting.len() > frames.last().map_or(0, |frame| frame.base) {
            // The others have not returned yet.
            return Ok(waiting.pop());
        }
        let Some(frame) = frames.pop() else {
            return Ok(None);
        };
        self.leave(&self.module.code[frame.call as usize], frame.returned);
        let mut caller = frame.caller;
        if frame.returned != caller.mask {
            return Err(fault(
                caller,
                Violation::Internal("lanes were lost in a call"),
            ));
        }
        caller.place += 1;
        Ok(Some(caller))
    }

    /// Fails with a lane that reads a register which it has not written.
    #[inline]
    fn registers(&self, instruction: &Instruction, group: u32, mask: u32) -> Result<(), u32> {
        let written = &self.machine.written;
        let mut missing = 0;
        let reads = instruction.reads.as_slice();
        let guards = usize::from(instruction.guard.is_some());
        for (number, register) in reads.iter().enumerate() {
            // The guard is read in all lanes.
            let by = if number < guards { group } else { mask };
            missing |= by & !written[*register as usize];
        }
        if missing != 0 {
            return Err(missing.trailing_zeros());
        }
        Ok(())
    }

    /// Copies the arguments of a call, and gives the first instruction of what is called.
    fn enter(&mut self, call: &Instruction, mask: u32) -> Place {
        let module = self.module;
        let site = &module.calls[call.target as usize];
        let callee = &module.functions[site.callee];
        for (from, to) in site.arguments.iter().zip(&callee.parameters) {
            self.pass(from.at, to.at, to.bytes, mask);
        }
        for &(file, first, count) in &callee.registers {
            for index in first..first + count {
                self.machine.written[Register { file, index }.number() as usize] &= !mask;
            }
        }
        callee.first
    }

    fn leave(&mut self, call: &Instruction, mask: u32) {
        let module = self.module;
        let site = &module.calls[call.target as usize];
        if let (Some(from), Some(to)) = (module.functions[site.callee].result, site.result) {
            self.pass(from.at, to.at, from.bytes, mask);
        }
    }

    /// Copies parameters.
    fn pass(&mut self, from: u32, to: u32, bytes: u32, mask: u32) {
        for byte in 0..bytes as usize {
            let (from, to) = (from as usize + byte, to as usize + byte);
            let value = self.machine.parameters[from];
            put(&mut self.machine.parameters[to], mask, &value);
            let written = self.machine.parameters_written[from] & mask;
            let before = self.machine.parameters_written[to] & !mask;
            self.machine.parameters_written[to] = before | written;
        }
    }
}
