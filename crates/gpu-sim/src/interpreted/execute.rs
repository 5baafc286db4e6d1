//! Executes one instruction in the lanes of a warp.

use std::borrow::Cow;

use super::compute::{
    Lanes, WARP, Word, both, each, extended, first_of, funnel, lanes, logic, permute, put, table,
    three,
};
use super::error::Violation;
use super::memory::{Memory, SHARED};
use super::module::{
    Binary, Comparison, Instruction, Op, Register, Shift, Shuffle, Type, Vote, Width,
};
use super::warp::{ALL, Machine, Step};

/// A violation, with the first lane in which it occurred.
pub(super) type LaneViolation = (u32, Violation);

/// The file of registers that hold these integers.
trait Registers: Word + Default {
    fn of(machine: &Machine) -> &[Lanes<Self>];
    fn of_mut(machine: &mut Machine) -> &mut [Lanes<Self>];
}

impl Registers for u32 {
    fn of(machine: &Machine) -> &[Lanes<u32>] {
        &machine.words
    }

    fn of_mut(machine: &mut Machine) -> &mut [Lanes<u32>] {
        &mut machine.words
    }
}

impl Registers for u64 {
    fn of(machine: &Machine) -> &[Lanes<u64>] {
        &machine.longs
    }

    fn of_mut(machine: &mut Machine) -> &mut [Lanes<u64>] {
        &mut machine.longs
    }
}

impl Machine {
    pub(super) fn execute(
        &mut self,
        step: Step<'_>,
        memory: &mut Memory,
    ) -> Result<(), LaneViolation> {
        let Step {
            instruction, mask, ..
        } = step;
        let [a, b, c, ..] = instruction.from.map(|index| index as usize);
        match instruction.op {
            Op::Binary(Binary::Div | Binary::Rem, ty) => {
                self.check_divisors(step, ty)?;
                self.compute(step, ty);
            }
            Op::Binary(_, ty)
            | Op::Unary(_, ty)
            | Op::Shift(_, ty)
            | Op::Mad(ty)
            | Op::BitField(ty)
            | Op::Insert(ty) => self.compute(step, ty),
            Op::Select(ty) => {
                self.check_selected(step, ty)?;
                self.compute(step, ty);
            }
            Op::Measure(measure, ty) => {
                let to = match ty.width {
                    Width::Long => u64::measure(measure, ty.signed, &self.longs[a]),
                    Width::Half | Width::Word => u32::measure(measure, ty.signed, &self.words[a]),
                };
                self.put(step, &to);
            }
            Op::MulWide(ty) | Op::MadWide(ty) => self.multiply_wide(step, ty),
            Op::Permute => self.three(step, permute),
            Op::Funnel(shift, clamped) => {
                self.three(step, |a, b, c| funnel(shift, clamped, a, b, c));
            }
            Op::Table => {
                let rows = instruction.offset as u8;
                self.three(step, |a, b, c| table(rows, a, b, c));
            }
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
            Op::Pack => {
                let two = |low, high| u64::from(high) << 32 | u64::from(low);
                let to: Lanes<u64> = both::<u32, u32, _>(&self.words[a], &self.words[b], two);
                self.put(step, &to);
            }
            Op::Unpack => {
                let from = self.longs[a];
                let [low, high, ..] = instruction.to.map(|index| index as usize);
                let halves = [
                    each(&from, |at| at as u32),
                    each(&from, |at| (at >> 32) as u32),
                ];
                put(&mut self.words[low], mask, &halves[0]);
                put(&mut self.words[high], mask, &halves[1]);
            }
            Op::GenericOfShared => {
                self.put(step, &each(&self.longs[a], |at| at.wrapping_add(SHARED)));
            }
            Op::SharedOfGeneric => {
                self.put(step, &each(&self.longs[a], |at| at.wrapping_sub(SHARED)));
            }
            Op::ActiveMask => self.put(step, &[step.group; WARP]),
            Op::Load(access) => self.load(step, access, memory)?,
            Op::Store(access) => self.store(step, access, memory)?,
            Op::Atomic(atomic, access, given) => {
                self.atomic(step, atomic, access, given, memory)?;
            }
            Op::Shuffle(shuffle) => self.shuffle(step, shuffle)?,
            Op::Vote(vote) => self.vote(step, vote)?,
            Op::BarrierOfWarp => {
                self.check_mask(step, a)?;
                self.time.now += 1;
            }
            Op::Trap => return Err((first_of(mask), Violation::Trap)),
            // A fence only orders the accesses of one lane; the warp executes the others itself.
            Op::Fence | Op::Branch | Op::IndexedBranch(_) | Op::Call | Op::Return => {}
        }
        Ok(())
    }

    /// A source of an instruction of this type.
    fn value<W: Registers>(
        &self,
        from: &Instruction,
        number: usize,
        ty: Type,
    ) -> Cow<'_, Lanes<W>> {
        let value = &W::of(self)[from.from[number] as usize];
        match ty.width {
            Width::Half => Cow::Owned(W::half(ty.signed, value)),
            Width::Word | Width::Long => Cow::Borrowed(value),
        }
    }

    /// Executes an operation with a result of the type of its sources.
    fn compute(&mut self, step: Step<'_>, ty: Type) {
        match ty.width {
            Width::Long => self.put(step, &self.computed::<u64>(step.instruction, ty)),
            Width::Word => self.put(step, &self.computed::<u32>(step.instruction, ty)),
            Width::Half => self.put_half(step, &self.computed::<u32>(step.instruction, ty)),
        }
    }

    fn computed<W: Registers>(&self, from: &Instruction, ty: Type) -> Lanes<W> {
        let signed = ty.signed;
        let x = |number: usize| self.value::<W>(from, number, ty);
        let word = |number: usize| &self.words[from.from[number] as usize];
        match from.op {
            Op::Binary(Binary::MulHigh, _) if ty.width == Width::Half => {
                let product = W::binary(Binary::Mul, signed, &x(0), &x(1));
                W::shift(Shift::Right, false, &product, &[16; WARP])
            }
            Op::Binary(binary, _) => W::binary(binary, signed, &x(0), &x(1)),
            Op::Unary(unary, _) => W::unary(unary, &x(0)),
            Op::Shift(shift, _) => W::shift(shift, signed, &x(0), word(1)),
            Op::Mad(_) => W::multiply_add(&x(0), &x(1), &x(2)),
            Op::BitField(_) => W::bit_field(signed, &x(0), word(1), word(2)),
            Op::Insert(_) => W::insert(&x(0), &x(1), word(2), word(3)),
            _ => {
                let mut chosen = x(1).into_owned();
                put(&mut chosen, self.predicates[from.from[2] as usize], &x(0));
                chosen
            }
        }
    }

    fn three(&mut self, step: Step<'_>, one: impl Fn(u32, u32, u32) -> u32) {
        let [a, b, c, ..] = step.instruction.from.map(|index| index as usize);
        let to = three(&self.words[a], &self.words[b], &self.words[c], one);
        self.put(step, &to);
    }

    fn put<W: Registers>(&mut self, step: Step<'_>, new: &Lanes<W>) {
        let to = step.instruction.to[0] as usize;
        put(&mut W::of_mut(self)[to], step.mask, new);
    }

    fn put_half(&mut self, step: Step<'_>, new: &Lanes<u32>) {
        self.put(step, &each(new, |value| value & 0xffff));
    }

    fn put_predicate(&mut self, step: Step<'_>, number: usize, bits: u32) {
        let to = &mut self.predicates[step.instruction.to[number] as usize];
        *to = *to & !step.mask | bits & step.mask;
    }

    fn check_divisors(&self, step: Step<'_>, ty: Type) -> Result<(), LaneViolation> {
        let by = step.instruction.from[1] as usize;
        let zero = |lane: &usize| match ty.width {
            Width::Long => self.longs[by][*lane] == 0,
            Width::Half | Width::Word => self.words[by][*lane] == 0,
        };
        match lanes(step.mask).find(zero) {
            Some(lane) => Err((lane as u32, Violation::DivisionByZero)),
            None => Ok(()),
        }
    }

    fn multiply_wide(&mut self, step: Step<'_>, ty: Type) {
        let [a, b, c, ..] = step.instruction.from.map(|index| index as usize);
        let adds = matches!(step.instruction.op, Op::MadWide(_));
        if ty.width == Width::Half {
            let [x, y] = [0, 1].map(|number| self.value(step.instruction, number, ty));
            let zero = [0; WARP];
            let more = if adds { &self.words[c] } else { &zero };
            let to = u32::multiply_add(&x, &y, more);
            self.put(step, &to);
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
        self.put(step, &to);
    }

    /// Checks `selp`: only the operand that a lane selects must have been written.
    fn check_selected(&self, step: Step<'_>, ty: Type) -> Result<(), LaneViolation> {
        let [a, b, c, ..] = step.instruction.from.map(|index| index as usize);
        let holds = self.predicates[c];
        let file = ty.width.file();
        let written = |index: usize| {
            let index = index as u32;
            self.written[Register { file, index }.number() as usize]
        };
        let missing = step.mask & (holds & !written(a) | !holds & !written(b));
        if missing != 0 {
            return Err((first_of(missing), Violation::UnwrittenRegister));
        }
        Ok(())
    }

    fn compare(&self, step: Step<'_>, comparison: Comparison, ty: Type) -> u32 {
        let Type { width, signed } = ty;
        if width == Width::Long {
            let [a, b] = [0, 1].map(|number| self.value(step.instruction, number, ty));
            return u64::compare(comparison, signed, &a, &b);
        }
        let [a, b] = [0, 1].map(|number| self.value(step.instruction, number, ty));
        u32::compare(comparison, signed, &a, &b)
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
            Width::Long => self.put(step, &wide),
            Width::Word => self.put(step, &each(&wide, |value| value as u32)),
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
            let other = names[lane];
            return Err((first, Violation::OtherMask { named, other }));
        }
        if named == step.mask {
            return Ok(());
        }
        let active = step.mask;
        Err((first, Violation::Incomplete { named, active }))
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
            Vote::Ballot => self.put(step, &[holds; WARP]),
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
                let absent = Violation::ShuffleFromAbsent(from as u32);
                return Err((lane as u32, absent));
            }
            to[lane] = values[from];
        }
        self.put(step, &to);
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
