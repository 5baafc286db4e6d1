//! Executes one instruction in the lanes of a warp.

use super::compute::{
    Lanes, WARP, Word, both, each, extended, first_of, funnel, half, lanes, logic, permute, put,
    table, three,
};
use super::counts::Counts;
use super::error::Violation;
use super::memory::{Memory, SHARED};
use super::module::{Binary, Comparison, File, Op, Register, Shift, Shuffle, Type, Vote, Width};
use super::warp::{ALL, Machine, Step};

/// A violation, with the first lane in which it occurred.
pub(super) type LaneViolation = (u32, Violation);

impl Machine {
    pub(super) fn execute(
        &mut self,
        step: Step<'_>,
        memory: &mut Memory,
        counts: &mut Counts,
    ) -> Result<(), LaneViolation> {
        let Step {
            instruction, mask, ..
        } = step;
        let [a, b, c, ..] = instruction.from.map(|index| index as usize);
        match instruction.op {
            Op::Binary(binary, ty) => self.binary(step, binary, ty)?,
            Op::Unary(unary, ty) => match ty.width {
                Width::Long => self.put_long(step, &u64::unary(unary, &self.longs[a])),
                Width::Word => self.put_word(step, &u32::unary(unary, &self.words[a])),
                Width::Half => self.put_half(step, &u32::unary(unary, &half(ty, &self.words[a]))),
            },
            Op::Measure(measure, ty) => {
                let to = match ty.width {
                    Width::Long => u64::measure(measure, ty.signed, &self.longs[a]),
                    Width::Half | Width::Word => u32::measure(measure, ty.signed, &self.words[a]),
                };
                self.put_word(step, &to);
            }
            Op::Shift(shift, ty) => self.shift(step, shift, ty),
            Op::Mad(ty) => self.multiply_add(step, ty),
            Op::MulWide(ty) | Op::MadWide(ty) => self.multiply_wide(step, ty),
            Op::BitField(_) | Op::Insert(_) | Op::Permute | Op::Funnel(..) | Op::Table => {
                self.bits(step);
            }
            Op::Select(width) => self.select(step, width)?,
            Op::Compare(comparison, ty) => {
                let bits = self.compare(step, comparison, ty);
                self.put_predicate(step, 0, bits);
            }
            Op::CompareAnd(comparison, ty, with) => {
                let bits = self.compare(step, comparison, ty);
                self.put_predicate(step, 0, logic(with, bits, self.predicates[c]));
            }
            Op::Logic(with) => {
                let bits = logic(with, self.predicates[a], self.predicates[b]);
                self.put_predicate(step, 0, bits);
            }
            Op::Convert {
                from_bits,
                from,
                to,
            } => self.convert(step, u32::from(from_bits), from, to),
            Op::Pack | Op::Unpack | Op::GenericOfShared | Op::SharedOfGeneric => self.halves(step),
            Op::ActiveMask => self.put_word(step, &[step.group; WARP]),
            Op::Load(access) => self.load(step, access, memory, counts)?,
            Op::Store(access) => self.store(step, access, memory, counts)?,
            Op::Atomic(atomic, access, given) => {
                self.atomic(step, atomic, access, given, memory, counts)?;
            }
            Op::Shuffle(shuffle) => self.shuffle(step, shuffle)?,
            Op::Vote(vote) => self.vote(step, vote)?,
            Op::BarrierOfWarp => {
                self.check_mask(step, a)?;
                self.time.now += 1;
            }
            Op::BarrierOfBlock => self.barrier(step)?,
            Op::Trap => return Err((first_of(mask), Violation::Trap)),
            // A fence only orders the accesses of one lane; the warp executes the others itself.
            Op::Fence | Op::Branch | Op::IndexedBranch(_) | Op::Call | Op::Return | Op::Mark(_) => {
            }
        }
        Ok(())
    }

    fn multiply_add(&mut self, step: Step<'_>, ty: Type) {
        let [a, b, c, ..] = step.instruction.from.map(|index| index as usize);
        match ty.width {
            Width::Long => {
                let to = u64::multiply_add(&self.longs[a], &self.longs[b], &self.longs[c]);
                self.put_long(step, &to);
            }
            Width::Word => {
                let to = u32::multiply_add(&self.words[a], &self.words[b], &self.words[c]);
                self.put_word(step, &to);
            }
            Width::Half => {
                let to = u32::multiply_add(&self.words[a], &self.words[b], &self.words[c]);
                self.put_half(step, &to);
            }
        }
    }

    /// Executes bit fields, byte permutations, funnel shifts and `lop3`.
    fn bits(&mut self, step: Step<'_>) {
        let instruction = step.instruction;
        let [a, b, c, d, _] = instruction.from.map(|index| index as usize);
        match instruction.op {
            Op::BitField(ty) => {
                let (at, count) = (&self.words[b], &self.words[c]);
                if ty.width == Width::Long {
                    let to = u64::bit_field(ty.signed, &self.longs[a], at, count);
                    self.put_long(step, &to);
                } else {
                    let to = u32::bit_field(ty.signed, &self.words[a], at, count);
                    self.put_word(step, &to);
                }
            }
            Op::Insert(width) => {
                let (at, count) = (&self.words[c], &self.words[d]);
                if width == Width::Long {
                    let to = u64::insert(&self.longs[a], &self.longs[b], at, count);
                    self.put_long(step, &to);
                } else {
                    let to = u32::insert(&self.words[a], &self.words[b], at, count);
                    self.put_word(step, &to);
                }
            }
            Op::Permute => {
                let to = three(&self.words[a], &self.words[b], &self.words[c], permute);
                self.put_word(step, &to);
            }
            Op::Funnel(shift, clamped) => {
                let one = |a, b, c| funnel(shift, clamped, a, b, c);
                let to = three(&self.words[a], &self.words[b], &self.words[c], one);
                self.put_word(step, &to);
            }
            Op::Table => {
                let rows = instruction.offset as u8;
                let one = |a, b, c| table(rows, a, b, c);
                let to = three(&self.words[a], &self.words[b], &self.words[c], one);
                self.put_word(step, &to);
            }
            _ => {}
        }
    }

    /// Packs and unpacks 64-bit registers, and converts addresses.
    fn halves(&mut self, step: Step<'_>) {
        let Step {
            instruction, mask, ..
        } = step;
        let [a, b, ..] = instruction.from.map(|index| index as usize);
        match instruction.op {
            Op::Pack => {
                let two = |low, high| u64::from(high) << 32 | u64::from(low);
                let to: Lanes<u64> = both::<u32, u32, u64>(&self.words[a], &self.words[b], two);
                self.put_long(step, &to);
            }
            Op::Unpack => {
                let from = self.longs[a];
                let [low, high, ..] = instruction.to.map(|index| index as usize);
                put(
                    &mut self.words[low],
                    mask,
                    &each(&from, |value| value as u32),
                );
                put(
                    &mut self.words[high],
                    mask,
                    &each(&from, |value| (value >> 32) as u32),
                );
            }
            Op::GenericOfShared => {
                self.put_long(step, &each(&self.longs[a], |at| at.wrapping_add(SHARED)));
            }
            Op::SharedOfGeneric => {
                self.put_long(step, &each(&self.longs[a], |at| at.wrapping_sub(SHARED)));
            }
            _ => {}
        }
    }

    fn put_word(&mut self, step: Step<'_>, new: &Lanes<u32>) {
        put(
            &mut self.words[step.instruction.to[0] as usize],
            step.mask,
            new,
        );
    }

    fn put_half(&mut self, step: Step<'_>, new: &Lanes<u32>) {
        self.put_word(step, &each(new, |value| value & 0xffff));
    }

    fn put_long(&mut self, step: Step<'_>, new: &Lanes<u64>) {
        put(
            &mut self.longs[step.instruction.to[0] as usize],
            step.mask,
            new,
        );
    }

    fn put_predicate(&mut self, step: Step<'_>, number: usize, bits: u32) {
        let to = &mut self.predicates[step.instruction.to[number] as usize];
        *to = *to & !step.mask | bits & step.mask;
    }

    fn binary(&mut self, step: Step<'_>, binary: Binary, ty: Type) -> Result<(), LaneViolation> {
        let [a, b, ..] = step.instruction.from.map(|index| index as usize);
        if matches!(binary, Binary::Div | Binary::Rem) {
            let zero = |lane: usize| match ty.width {
                Width::Long => self.longs[b][lane] == 0,
                Width::Half | Width::Word => self.words[b][lane] == 0,
            };
            if let Some(lane) = lanes(step.mask).find(|lane| zero(*lane)) {
                return Err((lane as u32, Violation::DivisionByZero));
            }
        }
        match ty.width {
            Width::Long => {
                let to = u64::binary(binary, ty.signed, &self.longs[a], &self.longs[b]);
                self.put_long(step, &to);
            }
            Width::Word => {
                let to = u32::binary(binary, ty.signed, &self.words[a], &self.words[b]);
                self.put_word(step, &to);
            }
            Width::Half => {
                let (a, b) = (half(ty, &self.words[a]), half(ty, &self.words[b]));
                let to = match binary {
                    Binary::MulHigh => {
                        let product = u32::binary(Binary::Mul, ty.signed, &a, &b);
                        each(&product, |product| product >> 16)
                    }
                    binary => u32::binary(binary, ty.signed, &a, &b),
                };
                self.put_half(step, &to);
            }
        }
        Ok(())
    }

    fn shift(&mut self, step: Step<'_>, shift: Shift, ty: Type) {
        let [a, b, ..] = step.instruction.from.map(|index| index as usize);
        let by = &self.words[b];
        match ty.width {
            Width::Long => {
                let to = u64::shift(shift, ty.signed, &self.longs[a], by);
                self.put_long(step, &to);
            }
            Width::Word => {
                let to = u32::shift(shift, ty.signed, &self.words[a], by);
                self.put_word(step, &to);
            }
            Width::Half => {
                let to = u32::shift(shift, ty.signed, &half(ty, &self.words[a]), by);
                self.put_half(step, &to);
            }
        }
    }

    fn multiply_wide(&mut self, step: Step<'_>, ty: Type) {
        let [a, b, c, ..] = step.instruction.from.map(|index| index as usize);
        let adds = matches!(step.instruction.op, Op::MadWide(_));
        if ty.width == Width::Half {
            let (x, y) = (half(ty, &self.words[a]), half(ty, &self.words[b]));
            let zero = [0; WARP];
            let more = if adds { &self.words[c] } else { &zero };
            let to = u32::multiply_add(&x, &y, more);
            self.put_word(step, &to);
            return;
        }
        let product = |a: u32, b: u32| {
            if ty.signed {
                (i64::from(a.cast_signed()) * i64::from(b.cast_signed())).cast_unsigned()
            } else {
                u64::from(a) * u64::from(b)
            }
        };
        let mut to = both(&self.words[a], &self.words[b], product);
        if adds {
            to = both(&to, &self.longs[c], u64::wrapping_add);
        }
        self.put_long(step, &to);
    }

    /// Executes `selp`. Only the operand that a lane selects must have been written.
    fn select(&mut self, step: Step<'_>, width: Width) -> Result<(), LaneViolation> {
        let [a, b, c, ..] = step.instruction.from.map(|index| index as usize);
        let holds = self.predicates[c];
        let file = width.file();
        let written = |index: usize| {
            let index = index as u32;
            self.written[Register { file, index }.number() as usize]
        };
        let missing = step.mask & (holds & !written(a) | !holds & !written(b));
        if missing != 0 {
            return Err((first_of(missing), Violation::UnwrittenRegister));
        }
        let chosen = |lane: usize| holds >> lane & 1 == 1;
        if file == File::Long {
            let (x, y) = (&self.longs[a], &self.longs[b]);
            let mut to = [0; WARP];
            for lane in 0..WARP {
                to[lane] = if chosen(lane) { x[lane] } else { y[lane] };
            }
            self.put_long(step, &to);
        } else {
            let (x, y) = (&self.words[a], &self.words[b]);
            let mut to = [0; WARP];
            for lane in 0..WARP {
                to[lane] = if chosen(lane) { x[lane] } else { y[lane] };
            }
            self.put_word(step, &to);
        }
        Ok(())
    }

    fn compare(&self, step: Step<'_>, comparison: Comparison, ty: Type) -> u32 {
        let [a, b, ..] = step.instruction.from.map(|index| index as usize);
        match ty.width {
            Width::Long => u64::compare(comparison, ty.signed, &self.longs[a], &self.longs[b]),
            Width::Word => u32::compare(comparison, ty.signed, &self.words[a], &self.words[b]),
            Width::Half => {
                let (a, b) = (half(ty, &self.words[a]), half(ty, &self.words[b]));
                u32::compare(comparison, ty.signed, &a, &b)
            }
        }
    }

    fn convert(&mut self, step: Step<'_>, from_bits: u32, from: Type, to: Type) {
        let a = step.instruction.from[0] as usize;
        let wide: Lanes<u64> = match from.width {
            Width::Long => self.longs[a],
            Width::Half | Width::Word => each(&self.words[a], |value| {
                extended(u64::from(value), from_bits, from.signed)
            }),
        };
        match to.width {
            Width::Long => self.put_long(step, &wide),
            Width::Word => self.put_word(step, &each(&wide, |value| value as u32)),
            Width::Half => self.put_half(step, &each(&wide, |value| value as u32)),
        }
    }

    /// Fails unless all active lanes name the same mask, and that is the mask of active lanes.
    fn check_mask(&self, step: Step<'_>, named: usize) -> Result<(), LaneViolation> {
        let names = &self.words[named];
        let first = first_of(step.mask);
        let named = names[first as usize];
        let mut active = lanes(step.mask);
        if let Some(lane) = active.find(|lane| names[*lane] != named) {
            let others = names[lane];
            return Err((first, Violation::OtherMask { named, others }));
        }
        if named == step.mask {
            return Ok(());
        }
        let active = step.mask;
        Err((first, Violation::Incomplete { named, active }))
    }

    /// Records a barrier of the block. Warps run one after the other, so their barriers are compared at the warp's end.
    /// All lanes must be active, which is stricter than `barrier.sync` without `aligned`.
    fn barrier(&mut self, step: Step<'_>) -> Result<(), LaneViolation> {
        let active = step.mask;
        let lane = first_of(active);
        if active != ALL {
            let named = ALL;
            return Err((lane, Violation::Incomplete { named, active }));
        }
        let [number, count, ..] = step.instruction.from.map(|index| index as usize);
        let threads = self.words[1][0];
        let waits = self.words[count];
        if step.instruction.offset != 0
            && let Some(lane) = waits.iter().position(|named| *named != threads)
        {
            let named = waits[lane];
            return Err((lane as u32, Violation::OtherThreads { named, threads }));
        }
        let numbers = self.words[number];
        let number = numbers[0];
        if let Some(other) = numbers.iter().position(|other| *other != number) {
            let others = numbers[other];
            return Err((0, Violation::OtherBarrier { number, others }));
        }
        let times = self.barriers.get_mut(number as usize);
        *times.ok_or((lane, Violation::NoBarrier { number }))? += 1;
        self.time.now += 1;
        Ok(())
    }

    fn vote(&mut self, step: Step<'_>, vote: Vote) -> Result<(), LaneViolation> {
        let [a, b, ..] = step.instruction.from.map(|index| index as usize);
        self.check_mask(step, b)?;
        let mask = step.mask;
        let flip = if step.instruction.offset == 0 { 0 } else { ALL };
        let holds = (self.predicates[a] ^ flip) & mask;
        let all = |holds: bool| if holds { ALL } else { 0 };
        match vote {
            Vote::Any => self.put_predicate(step, 0, all(holds != 0)),
            Vote::All => self.put_predicate(step, 0, all(holds == mask)),
            Vote::Uni => self.put_predicate(step, 0, all(holds == 0 || holds == mask)),
            Vote::Ballot => self.put_word(step, &[holds; WARP]),
        }
        Ok(())
    }

    fn shuffle(&mut self, step: Step<'_>, shuffle: Shuffle) -> Result<(), LaneViolation> {
        let [a, b, c, d, _] = step.instruction.from.map(|index| index as usize);
        self.check_mask(step, d)?;
        let (values, by, bounds) = (&self.words[a], &self.words[b], &self.words[c]);
        let mut to = [0; WARP];
        let mut inside = 0;
        for lane in lanes(step.mask) {
            let (source, within) = source_of(shuffle, lane as i32, by[lane], bounds[lane]);
            let from = if within { source as usize % WARP } else { lane };
            inside |= u32::from(within) << lane;
            if step.mask >> from & 1 == 0 {
                let from = from as u32;
                return Err((lane as u32, Violation::ShuffleFromAbsent { from }));
            }
            to[lane] = values[from];
        }
        self.put_word(step, &to);
        if step.instruction.offset != 0 {
            self.put_predicate(step, 1, inside);
        }
        Ok(())
    }
}

/// The lane whose value a lane gets, and whether it is within bounds: the PTX ISA on `shfl.sync`.
fn source_of(shuffle: Shuffle, lane: i32, by: u32, bounds: u32) -> (i32, bool) {
    let by = (by & 31) as i32;
    let clamp = (bounds & 31) as i32;
    let segment = (bounds >> 8 & 31) as i32;
    let most = lane & segment | clamp & !segment;
    let least = lane & segment;
    match shuffle {
        Shuffle::Up => (lane - by, lane - by >= most),
        Shuffle::Down => (lane + by, lane + by <= most),
        Shuffle::Bfly => (lane ^ by, lane ^ by <= most),
        Shuffle::Idx => {
            let source = least | by & !segment;
            (source, source <= most)
        }
    }
}
