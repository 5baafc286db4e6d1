//! [`Machine`]: executes a warp in lockstep.
//!
//! When lanes diverge at a branch, one side runs after the other, and they reconverge at the branch's immediate
//! postdominator, as they do in the code that the driver's compiler generates.

use super::branches::{Group, IndexedTargets, branch, fault};
use super::compute::{Lanes, WARP, put};
use super::counts::InstructionCounts;
use super::error::{LaneFault, Violation};
use super::memory::{Interval, Memory, SHARED_REGION};
use super::module::{File, Instruction, Module, NO_PC, Op, Pc, Register, SPECIAL};

/// All lanes.
pub(super) const ALL: u32 = u32::MAX;

/// One launch of an entry.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    pub(super) entry: usize,
    pub(super) blocks: u32,
    pub(super) threads: u32,
    /// Numbers, and addresses of buffers.
    pub(super) arguments: &'a [u64],
    /// The most instructions that a warp may execute.
    pub(super) steps: u64,
}

/// The frame of a called function.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// The call instruction; the caller resumes after it.
    call: Pc,
    /// The caller's group.
    caller: Group,
    /// The lanes that have returned.
    returned: u32,
    /// How many groups were waiting at the call.
    base: usize,
}

/// Registers and parameters; the warps use them one after the other.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) words: Vec<Lanes<u32>>,
    pub(super) longs: Vec<Lanes<u64>>,
    pub(super) predicates: Vec<u32>,
    /// The lanes in which each register has been written, and those in which it is written when a warp begins.
    pub(super) written: Vec<u32>,
    written_at_first: Vec<u32>,
    /// The bytes of the parameter space, and the lanes in which each has been written.
    pub(super) parameters: Vec<[u8; WARP]>,
    pub(super) parameters_written: Vec<u32>,
    /// The current interval between barriers; a launch numbers its intervals consecutively.
    pub(super) time: Interval,
}

/// A register whose value is a function of the lane's number.
fn lane_numbers(f: impl Fn(u32) -> u32) -> Lanes<u32> {
    let mut all = [0; WARP];
    for (lane, value) in (0..).zip(&mut all) {
        *value = f(lane);
    }
    all
}

/// An instruction, the lanes that reached it together, and those of them whose guard is true.
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
        };
        for ((file, value), register) in &module.constants {
            let at = *register as usize;
            match file {
                File::Word => machine.words[at] = [*value as u32; WARP],
                File::Long => machine.longs[at] = [*value; WARP],
                File::Predicate => machine.predicates[at] = if *value == 0 { 0 } else { ALL },
            }
            machine.mark_written_at_begin(*file, *register);
        }
        for special in 0..SPECIAL.len() as u32 {
            machine.mark_written_at_begin(File::Word, special);
        }
        machine.words[4] = lane_numbers(|lane| lane);
        machine.words[5] = lane_numbers(|lane| 1 << lane);
        machine.words[6] = lane_numbers(|lane| (1 << lane) - 1);
        machine.words[7] = lane_numbers(|lane| (2u64 << lane).wrapping_sub(1) as u32);
        machine.words[8] = lane_numbers(|lane| !((2u64 << lane).wrapping_sub(1) as u32));
        machine.words[9] = lane_numbers(|lane| !((1 << lane) - 1));
        machine
    }

    fn mark_written_at_begin(&mut self, file: File, index: u32) {
        self.written_at_first[Register { file, index }.number() as usize] = ALL;
    }

    /// Runs all blocks, and all warps of each, one after the other: no warp waits for another, as no instruction that is
    /// decoded does.
    pub(super) fn launch(
        &mut self,
        module: &Module,
        launch: &Launch<'_>,
        memory: &mut Memory,
        counts: &mut InstructionCounts,
    ) -> Result<(), LaneFault> {
        let warps = launch.threads / WARP as u32;
        self.time = Interval { now: 0, warp: 0 };
        for block in 0..launch.blocks {
            memory.regions[SHARED_REGION].mark_unwritten();
            for warp in 0..warps {
                let shared = &mut memory.regions[SHARED_REGION];
                // In this library's kernels, the warps of a block share no memory.
                let part = shared.content.bytes.len() / warps as usize;
                shared.allowed = (part * warp as usize, part * (warp as usize + 1));
                self.begin(module, launch, [warp, block]);
                let first = module.functions[launch.entry].first;
                WarpRun {
                    module,
                    machine: self,
                    memory,
                    counts,
                    steps: launch.steps,
                }
                .run(first)?;
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
    }
}

/// The execution of a kernel by one warp.
struct WarpRun<'a> {
    module: &'a Module,
    machine: &'a mut Machine,
    memory: &'a mut Memory,
    counts: &'a mut InstructionCounts,
    steps: u64,
}

impl WarpRun<'_> {
    /// Runs the warp to its end.
    fn run(&mut self, first: Pc) -> Result<(), LaneFault> {
        let module = self.module;
        let mut waiting: Vec<Group> = Vec::new();
        let mut frames: Vec<Frame> = Vec::new();
        let mut group = Group {
            pc: first,
            reconvergence: NO_PC,
            mask: ALL,
        };
        let mut steps = self.steps;
        loop {
            if group.pc == group.reconvergence {
                group = waiting
                    .pop()
                    .ok_or(fault(group, Violation::Internal("no waiting group")))?;
                continue;
            }
            let pc = group.pc;
            let Some(instruction) = module.code.get(pc as usize) else {
                return Err(fault(group, Violation::Internal("no such instruction")));
            };
            let mask = match instruction.guard {
                None => group.mask,
                Some(guard) => {
                    let holds = self.machine.predicates[guard.index as usize];
                    group.mask & if guard.negated { !holds } else { holds }
                }
            };
            self.counts.issue(pc);
            if steps == 0 {
                return Err(fault(group, Violation::Steps(self.steps)));
            }
            steps -= 1;
            self.check_registers(instruction, group.mask, mask)
                .map_err(|lane| LaneFault(pc, lane, Violation::UnwrittenRegister))?;
            match instruction.op {
                Op::Branch => {
                    group = branch(group, instruction, mask, &mut waiting)?;
                }
                Op::IndexedBranch(uniform) => {
                    let index = &self.machine.words[instruction.from[0] as usize];
                    let table = &module.tables[instruction.target as usize];
                    let targets = IndexedTargets {
                        table,
                        index,
                        taken: mask,
                        uniform,
                    };
                    group = targets.branch(group, instruction, &mut waiting)?;
                }
                Op::Call => {
                    let callee = self.enter_call(instruction, mask);
                    let base = waiting.len();
                    frames.push(Frame {
                        call: pc,
                        caller: group,
                        returned: 0,
                        base,
                    });
                    group = Group {
                        pc: callee,
                        reconvergence: NO_PC,
                        mask,
                    };
                }
                Op::Return => match self.after_return(group, &mut waiting, &mut frames)? {
                    Some(next) => group = next,
                    None => return Ok(()),
                },
                _ => {
                    if mask != 0 {
                        let group = group.mask;
                        let step = Step {
                            instruction,
                            group,
                            mask,
                        };
                        self.step(pc, step)?;
                    }
                    group.pc += 1;
                }
            }
        }
    }

    /// Executes an instruction after which all lanes of the mask stay together.
    #[inline]
    fn step(&mut self, pc: Pc, step: Step<'_>) -> Result<(), LaneFault> {
        let done = self.machine.execute(step, self.memory);
        done.map_err(|(lane, violation)| LaneFault(pc, lane, violation))?;
        for register in &step.instruction.writes {
            self.machine.written[*register as usize] |= step.mask;
        }
        Ok(())
    }

    /// The group to run once the lanes of a group have returned; `None` at the end of the kernel.
    fn after_return(
        &mut self,
        group: Group,
        waiting: &mut Vec<Group>,
        frames: &mut Vec<Frame>,
    ) -> Result<Option<Group>, LaneFault> {
        if let Some(frame) = frames.last_mut() {
            frame.returned |= group.mask;
        }
        if waiting.len() > frames.last().map_or(0, |frame| frame.base) {
            // Other groups have not returned yet.
            return Ok(waiting.pop());
        }
        let Some(frame) = frames.pop() else {
            return Ok(None);
        };
        self.leave_call(&self.module.code[frame.call as usize], frame.returned);
        let mut caller = frame.caller;
        if frame.returned != caller.mask {
            return Err(fault(
                caller,
                Violation::Internal("lanes were lost in a call"),
            ));
        }
        caller.pc += 1;
        Ok(Some(caller))
    }

    /// Fails with the first lane that reads a register that it has not written.
    #[inline]
    fn check_registers(&self, instruction: &Instruction, group: u32, mask: u32) -> Result<(), u32> {
        let written = &self.machine.written;
        let mut missing = 0;
        let reads = instruction.reads.as_slice();
        let guards = usize::from(instruction.guard.is_some());
        for (number, register) in reads.iter().enumerate() {
            // All lanes of the group read the guard.
            let by = if number < guards { group } else { mask };
            missing |= by & !written[*register as usize];
        }
        if missing != 0 {
            return Err(missing.trailing_zeros());
        }
        Ok(())
    }

    /// Copies the arguments of a call; returns the callee's first instruction.
    fn enter_call(&mut self, call: &Instruction, mask: u32) -> Pc {
        let module = self.module;
        let site = &module.calls[call.target as usize];
        let callee = &module.functions[site.callee];
        for (from, to) in site.arguments.iter().zip(&callee.parameters) {
            self.copy_parameters(from.at, to.at, to.bytes, mask);
        }
        for &(file, first, count) in &callee.registers {
            for index in first..first + count {
                self.machine.written[Register { file, index }.number() as usize] &= !mask;
            }
        }
        callee.first
    }

    fn leave_call(&mut self, call: &Instruction, mask: u32) {
        let module = self.module;
        let site = &module.calls[call.target as usize];
        if let (Some(from), Some(to)) = (module.functions[site.callee].result, site.result) {
            self.copy_parameters(from.at, to.at, from.bytes, mask);
        }
    }

    /// Copies bytes of the parameter space.
    fn copy_parameters(&mut self, from: u32, to: u32, bytes: u32, mask: u32) {
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
