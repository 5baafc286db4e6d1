//! Vectorises the body of a loop: lowers it to steps on columns.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::{Lowering, Steps};
use crate::lanes::columns::Part;
use crate::lanes::{loops, ops as lane_ops};
use crate::program::{Kernel, KernelFn};
use crate::program::{LaneLoop, Leaf, Origin, ResultType, Step};
use crate::slot::At;
use arc_dsl::Primitive;
use arc_form::{Id, Instruction, Op, Operand, Type};

mod calls;

use calls::{item, tuple};

/// A number in a vectorised loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    /// A different one in each lane.
    Column(u32),
    /// The same in all lanes: a part of the value in a slot.
    Same(u32, Part),
}

/// A value in a vectorised loop.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Lane {
    /// An integer or a truth value.
    Int(Number),
    Pair([Number; 2]),
    Cell([Number; 3]),
    /// A tuple whose items are known one by one.
    Tuple(Vec<Lane>),
    /// The set of one location, or of one cell at it.
    Single([Number; 2]),
    /// The sign of a number, and the number.
    Sign(Number, Number),
    /// An element, of this type, of a container that is the same for all lanes.
    Element(u32, Type),
    /// A value that is the same for all lanes, in a slot.
    Whole(u32, Type),
    /// What an inner `apply` gives, a tuple of integers. It is found as the largest or the smallest of them.
    Results(Id),
}

/// The place of an instruction's value.
enum LaneResult {
    /// In the slot of its id.
    InSlot,
    /// In the lanes.
    Lane(Lane),
}

/// The steps of one loop of the nest that is vectorised.
#[derive(Debug, Default)]
struct Level {
    /// Those that are the same for all lanes (loop-invariant).
    same: Steps,
    /// The regions of these steps and of the steps on columns.
    regions: [u32; 2],
    parameter: u32,
    result: u32,
    /// How many primitives the reference calls at least for each element.
    calls: u32,
}

/// A step on columns.
#[derive(Debug)]
struct LaneStep {
    kernel: &'static Kernel,
    step: Step<u32>,
    origin: Origin,
    /// The columns that it reads.
    reads: SmallVec<[u32; 4]>,
    /// The last of the columns that it writes; the first is `step.to`.
    last: u32,
    /// Whether it has no effect but to write its columns.
    pure: bool,
    level: usize,
}

struct Builder<'l, 'f> {
    lowering: &'l mut Lowering,
    levels: Vec<Level>,
    /// The loops that enclose the current position, the innermost last.
    open: Vec<usize>,
    steps: Vec<LaneStep>,
    leaves: Vec<(Option<u8>, Part, u32)>,
    /// The values that do not simply lie in the slot of their id.
    lanes: FxHashMap<Id, Lane>,
    /// The level that computes the value of a slot, if it is not computed outside all of them.
    made_in: FxHashMap<u32, usize>,
    /// Columns with the same number in all lanes.
    spread: FxHashMap<(u32, Part), u32>,
    /// Loop-invariant sets of one location that nothing has needed so far.
    unmade: FxHashMap<Id, &'f Instruction>,
    /// The inner loops whose results are not found one by one.
    applied: FxHashMap<Id, &'f Instruction>,
    columns: u32,
}

/// The parts that the lanes keep of values of a type.
fn parts(ty: &Type) -> Option<&'static [Part]> {
    Some(match ty {
        Type::Int | Type::Bool => &Part::INT,
        Type::Pair => &Part::PAIR,
        Type::Cell => &Part::CELL,
        _ => return None,
    })
}

/// The value that consists of these numbers.
fn scalar(ty: &Type, numbers: &[Number]) -> Option<Lane> {
    Some(match (ty, numbers) {
        (Type::Int | Type::Bool, &[n]) => Lane::Int(n),
        (Type::Pair, &[i, j]) => Lane::Pair([i, j]),
        (Type::Cell, &[colour, i, j]) => Lane::Cell([colour, i, j]),
        _ => return None,
    })
}

impl Lane {
    /// Whether it is the same in all lanes (loop-invariant).
    fn is_same(&self) -> bool {
        let same = |numbers: &[Number]| numbers.iter().all(|n| matches!(n, Number::Same(..)));
        match self {
            Lane::Int(n) => same(&[*n]),
            Lane::Pair(numbers) | Lane::Single(numbers) => same(numbers),
            Lane::Cell(numbers) => same(numbers),
            Lane::Sign(sign, number) => same(&[*sign, *number]),
            Lane::Tuple(items) => items.iter().all(Lane::is_same),
            Lane::Element(..) | Lane::Results(_) => false,
            Lane::Whole(..) => true,
        }
    }
}

/// Whether a loop over such elements with this body may be vectorised: a cheap check before trying.
pub(crate) fn is_promising(element: &Type, body: &arc_form::Region) -> bool {
    let known = match element {
        Type::Fixed(items) => items.iter().all(|item| parts(item).is_some()),
        _ => parts(element).is_some(),
    };
    known && !body.instructions.is_empty()
}

/// Vectorises a loop over a container of such elements; `None` if its body is not scalar.
pub(crate) fn build(
    lowering: &mut Lowering,
    body: &arc_form::Region,
    element: &Type,
    scalar_kernel: &'static Kernel,
) -> Option<LaneLoop> {
    let origin = lowering.origin;
    let mut builder = Builder {
        lowering,
        levels: Vec::new(),
        open: Vec::new(),
        steps: Vec::new(),
        leaves: Vec::new(),
        lanes: FxHashMap::default(),
        made_in: FxHashMap::default(),
        spread: FxHashMap::default(),
        unmade: FxHashMap::default(),
        applied: FxHashMap::default(),
        columns: 0,
    };
    let made = builder.build(body, element, scalar_kernel);
    lowering.origin = origin;
    made
}

impl<'f> Builder<'_, 'f> {
    fn build(
        &mut self,
        body: &'f arc_form::Region,
        element: &Type,
        scalar_kernel: &'static Kernel,
    ) -> Option<LaneLoop> {
        let &[(parameter, _)] = &body.parameters[..] else {
            return None;
        };
        self.enter(body);
        let lane = match element.items() {
            Some(items) if matches!(element, Type::Fixed(_)) => {
                let items = items.iter().enumerate();
                let lanes = items.map(|(at, item)| self.leaf(Some(at as u8), item));
                Lane::Tuple(lanes.collect::<Option<_>>()?)
            }
            _ => self.leaf(None, element)?,
        };
        self.lanes.insert(parameter, lane);
        let result = self.region(body)?;
        let columns = match result {
            Lane::Int(n) => smallvec![self.column(n)?],
            Lane::Pair(numbers) => self.columns(&numbers)?,
            Lane::Cell(numbers) => self.columns(&numbers)?,
            _ => return None,
        };
        self.levels[0].result = columns[0];
        self.open.pop();
        self.finish(&columns, scalar_kernel)
    }

    /// Enters a loop with this body.
    fn enter(&mut self, body: &arc_form::Region) -> usize {
        let first = self.lowering.regions(2);
        self.levels.push(Level {
            regions: [first, first + 1],
            // Finding the element is a call, if its body is none.
            calls: body.calls.max(1),
            ..Level::default()
        });
        self.open.push(self.levels.len() - 1);
        self.levels.len() - 1
    }

    fn level(&self) -> usize {
        self.open.last().copied().unwrap_or_default()
    }

    fn new_columns(&mut self, count: u32) -> u32 {
        self.columns += count;
        self.columns - count
    }

    /// The value of the elements, or of one of their items.
    fn leaf(&mut self, item: Option<u8>, ty: &Type) -> Option<Lane> {
        let mut numbers: SmallVec<[_; 3]> = SmallVec::new();
        for &part in parts(ty)? {
            let column = self.new_columns(1);
            self.leaves.push((item, part, column));
            numbers.push(Number::Column(column));
        }
        scalar(ty, &numbers)
    }

    /// A value that is in a slot.
    fn whole(&mut self, slot: u32, ty: &Type) -> Option<Lane> {
        let strict = match ty {
            Type::MaybeInt => Type::Int,
            Type::MaybePair => Type::Pair,
            _ => ty.clone(),
        };
        let mut from = slot;
        if strict != *ty {
            let level = self.level_of(slot).unwrap_or(self.open[0]);
            let mut same = std::mem::take(&mut self.levels[level].same);
            let made = self.lowering.convert(&mut same, slot, ty, &strict);
            self.levels[level].same = same;
            from = made.ok()?;
            self.made_in.insert(from, level);
        }
        Some(match parts(&strict) {
            Some(parts) => {
                let numbers: SmallVec<[_; 3]> =
                    parts.iter().map(|&part| Number::Same(from, part)).collect();
                scalar(&strict, &numbers)?
            }
            None => Lane::Whole(from, strict),
        })
    }

    /// The level that computes the value of a slot.
    fn level_of(&self, slot: u32) -> Option<usize> {
        self.made_in.get(&slot).copied()
    }

    fn operand(&mut self, operand: &Operand) -> Option<Lane> {
        match operand {
            Operand::Id(id) if self.lanes.contains_key(id) => self.lanes.get(id).cloned(),
            _ => {
                let (slot, ty) = self.lowering.operand(operand).ok()?;
                self.whole(slot, &ty)
            }
        }
    }

    /// The column of a number; broadcasts one that is the same for all lanes.
    fn column(&mut self, number: Number) -> Option<u32> {
        let (slot, part) = match number {
            Number::Column(column) => return Some(column),
            Number::Same(slot, part) => (slot, part),
        };
        if let Some(&column) = self.spread.get(&(slot, part)) {
            return Some(column);
        }
        let column = self.new_columns(1);
        let number = Part::ALL.iter().position(|&other| other == part)? as u32;
        // In the outermost level in which the value is known.
        let level = self.level_of(slot).unwrap_or(self.open[0]);
        self.push_at(level, &lane_ops::SPREAD, &[], column, true, |step| {
            step.a = slot;
            step.immediate = number;
        });
        self.spread.insert((slot, part), column);
        Some(column)
    }

    fn columns(&mut self, numbers: &[Number]) -> Option<SmallVec<[u32; 4]>> {
        numbers.iter().map(|&number| self.column(number)).collect()
    }

    fn push_at(
        &mut self,
        level: usize,
        kernel: &'static Kernel,
        reads: &[u32],
        to: u32,
        pure: bool,
        set: impl FnOnce(&mut Step<u32>),
    ) {
        let (step, origin) = self.lowering.step(to, kernel, set);
        self.steps.push(LaneStep {
            kernel,
            step,
            origin,
            reads: reads.into(),
            last: to,
            pure,
            level,
        });
    }

    /// Adds a step from numbers to a number.
    fn step(&mut self, kernel: &'static Kernel, numbers: &[Number]) -> Option<Number> {
        self.step_with(kernel, numbers, 0)
    }

    fn step_with(
        &mut self,
        kernel: &'static Kernel,
        numbers: &[Number],
        immediate: u32,
    ) -> Option<Number> {
        let reads = self.columns(numbers)?;
        let to = self.new_columns(1);
        let level = self.level();
        self.push_at(level, kernel, &reads, to, false, |step| {
            let mut slots = [0; 4];
            slots[..reads.len()].copy_from_slice(&reads);
            [step.a, step.b, step.c, step.d] = slots;
            step.immediate = immediate;
        });
        Some(Number::Column(to))
    }

    /// Adds a step on a value in a slot and numbers.
    fn step_on(&mut self, kernel: &'static Kernel, slot: u32, numbers: &[Number]) -> Option<Lane> {
        let reads = self.columns(numbers)?;
        let to = self.new_columns(1);
        let level = self.level();
        self.push_at(level, kernel, &reads, to, false, |step| {
            step.a = slot;
            step.b = reads[0];
            step.c = reads.get(1).copied().unwrap_or_default();
        });
        Some(Lane::Int(Number::Column(to)))
    }

    /// Lowers a region and returns its value.
    fn region(&mut self, region: &'f arc_form::Region) -> Option<Lane> {
        for instruction in &region.instructions {
            self.lowering.at(instruction);
            if let LaneResult::Lane(lane) = self.instruction(instruction)? {
                self.lanes.insert(instruction.id, lane);
            }
        }
        self.operand(&region.result)
    }

    /// Lowers an instruction and returns its value; `None` if it cannot be vectorised.
    fn instruction(&mut self, instruction: &'f Instruction) -> Option<LaneResult> {
        if instruction.checked || instruction.ty == Type::Never {
            return None;
        }
        let arguments: Option<SmallVec<[Lane; 2]>> = instruction
            .arguments
            .iter()
            .map(|argument| self.operand(argument))
            .collect();
        if let Op::Call(Primitive::Initset) = instruction.op
            && let Some([argument]) = arguments.as_deref()
            && let Lane::Pair([i, j]) | Lane::Cell([_, i, j]) = *argument
        {
            if argument.is_same() {
                self.unmade.insert(instruction.id, instruction);
            }
            return Some(LaneResult::Lane(Lane::Single([i, j])));
        }
        if self.is_same(instruction) && self.is_in_slots(instruction) {
            return self.make(instruction).map(|()| LaneResult::InSlot);
        }
        let arguments = arguments?;
        match instruction.op {
            Op::Call(Primitive::Apply) if instruction.ty == Type::tuple_of(Type::Int) => {
                self.applied.insert(instruction.id, instruction);
                Some(Lane::Results(instruction.id))
            }
            Op::Call(primitive) if !instruction.regions.is_empty() => {
                self.inner_loop(instruction, primitive, &arguments)
            }
            Op::Call(Primitive::Equality) => self.equality(instruction, &arguments),
            Op::Call(primitive) => self.call(primitive, &instruction.ty, &arguments),
            Op::Tuple => tuple(&instruction.ty, &arguments),
            Op::Item(at) => item(&arguments[0], at.into()),
            Op::Fused(_) => {
                let region = &instruction.regions[0];
                let parameters = region.parameters.iter().map(|(id, _)| *id);
                self.lanes.extend(parameters.zip(arguments));
                self.region(region)
            }
            _ => None,
        }
        .map(LaneResult::Lane)
    }

    /// Whether an instruction is loop-invariant: all that it and its regions read is.
    fn is_same(&self, instruction: &Instruction) -> bool {
        let operand = |operand: &Operand| match operand {
            Operand::Id(id) => self.lanes.get(id).is_none_or(Lane::is_same),
            Operand::Constant(_) => true,
        };
        let region = |region: &arc_form::Region| {
            operand(&region.result) && region.instructions.iter().all(|one| self.is_same(one))
        };
        instruction.arguments.iter().all(operand) && instruction.regions.iter().all(region)
    }

    /// Whether all that an instruction and its regions read is in slots, or can be put there.
    fn is_in_slots(&self, instruction: &Instruction) -> bool {
        let operand = |operand: &Operand| match operand {
            Operand::Id(id) => {
                !self.lanes.contains_key(id)
                    || self.made_in.contains_key(&id.0)
                    || self.unmade.contains_key(id)
            }
            Operand::Constant(_) => true,
        };
        let region = |region: &arc_form::Region| {
            operand(&region.result) && region.instructions.iter().all(|one| self.is_in_slots(one))
        };
        instruction.arguments.iter().all(operand) && instruction.regions.iter().all(region)
    }

    /// Lowers a loop-invariant instruction, in the innermost level that it depends on. If it fails where the
    /// scalar loop would not have reached it, the loop runs element by element.
    fn make(&mut self, instruction: &'f Instruction) -> Option<()> {
        let mut level = self.open[0];
        self.prepare(instruction, &mut level)?;
        let mut same = std::mem::take(&mut self.levels[level].same);
        let made = self.lowering.instruction(&mut same, instruction);
        self.levels[level].same = same;
        made.ok()?;
        self.made_in.insert(instruction.id.0, level);
        Some(())
    }

    /// Lowers invariant operands of an instruction that nothing has needed so far, and finds its level.
    fn prepare(&mut self, instruction: &'f Instruction, level: &mut usize) -> Option<()> {
        let results = instruction.regions.iter().map(|region| &region.result);
        for operand in instruction.arguments.iter().chain(results) {
            let Operand::Id(id) = operand else { continue };
            if let Some(unmade) = self.unmade.remove(id) {
                self.make(unmade)?;
            }
            if let Some(&made_in) = self.made_in.get(&id.0) {
                *level = made_in.max(*level);
            }
        }
        let inside = instruction
            .regions
            .iter()
            .flat_map(|region| &region.instructions);
        for instruction in inside {
            self.prepare(instruction, level)?;
        }
        Some(())
    }

    /// Vectorises an inner loop over elements that are the same for all lanes. Of `apply`, for the outermost result.
    fn inner_loop(
        &mut self,
        instruction: &'f Instruction,
        primitive: Primitive,
        arguments: &[Lane],
    ) -> Option<Lane> {
        use Primitive as P;
        let kernel = match primitive {
            P::Argmax | P::Valmax => &loops::GREATEST,
            P::Argmin | P::Valmin => &loops::LEAST,
            _ => return None,
        };
        let [Lane::Whole(container, ty)] = arguments else {
            return None;
        };
        let element = match ty {
            Type::Indices | Type::Object | Type::Set(_) | Type::Tuple(_) => ty.element()?,
            _ => return None,
        };
        let body = &instruction.regions[0];
        let &[(parameter, _)] = &body.parameters[..] else {
            return None;
        };
        let number = self.lowering.number_of(ty);
        let origin = self.lowering.origin;
        let level = self.enter(body);
        self.levels[level].parameter = parameter.0;
        self.made_in.insert(parameter.0, level);
        self.lowering.set_type(parameter, element.clone());
        let Lane::Int(key) = self.region(body)? else {
            return None;
        };
        let key = self.column(key)?;
        self.levels[level].result = key;
        self.open.pop();
        self.lowering.origin = origin;
        let gives_key = matches!(primitive, P::Valmax | P::Valmin);
        let kept = if gives_key {
            &[]
        } else {
            loops::kept_parts(&element)?
        };
        let from = kept
            .first()
            .and_then(|part| Part::ALL.iter().position(|other| other == part));
        let to = self.new_columns(1 + kept.len() as u32);
        let [region, _] = self.levels[level].regions;
        let outer = self.level();
        self.push_at(outer, kernel, &[key], to, false, |step| {
            step.a = *container;
            step.c = from.unwrap_or_default() as u32;
            step.d = kept.len() as u32;
            step.region = region;
            step.immediate = number;
        });
        if let Some(step) = self.steps.last_mut() {
            step.last = to + kept.len() as u32;
        }
        if gives_key {
            return Some(Lane::Int(Number::Column(to)));
        }
        let numbers: Vec<_> = (1..=kept.len() as u32)
            .map(|at| Number::Column(to + at))
            .collect();
        scalar(&element, &numbers).or(Some(Lane::Element(to + 1, element)))
    }

    /// Removes dead steps, and writes the others to their regions.
    fn finish(&mut self, gives: &[u32], scalar_kernel: &'static Kernel) -> Option<LaneLoop> {
        let regions = self.levels[0].regions;
        let mut used = vec![false; self.columns as usize];
        for level in &self.levels {
            used[level.result as usize] = true;
        }
        for &column in gives {
            used[column as usize] = true;
        }
        let mut levels: Vec<Steps> = self.levels.iter().map(|_| Steps::new()).collect();
        for step in self.steps.drain(..).rev() {
            let written = step.step.to as usize..=step.last as usize;
            if !step.pure || used[written].contains(&true) {
                for &column in &step.reads {
                    used[column as usize] = true;
                }
                levels[step.level].push((step.step, step.origin));
            }
        }
        for (level, mut lanes) in std::mem::take(&mut self.levels).into_iter().zip(levels) {
            lanes.reverse();
            let [same, on_columns] = level.regions;
            let parameters = [level.parameter, 0];
            let lowering = &mut *self.lowering;
            lowering
                .finish_region(level.same, same, 0, parameters)
                .ok()?;
            lowering
                .finish_region(lanes, on_columns, level.result, [0, 0])
                .ok()?;
            lowering.code.regions[on_columns as usize].calls = level.calls;
        }
        let narrow = |column: u32| At::try_from(column).ok();
        let mut leaves = Vec::new();
        for &(item, part, to) in &self.leaves {
            if used[to as usize] {
                let to = narrow(to)?;
                leaves.push(Leaf { item, part, to });
            }
        }
        let code = &mut self.lowering.code;
        let [same, lanes] = regions.map(|number| code.regions[number as usize]);
        code.columns = code.columns.max(self.columns);
        Some(LaneLoop {
            scalar: KernelFn::new(scalar_kernel, self.lowering.vectors),
            same,
            lanes,
            leaves,
            gives: match *gives {
                [n] => ResultType::Int([narrow(n)?]),
                [i, j] => ResultType::Pair([narrow(i)?, narrow(j)?]),
                [colour, i, j] => ResultType::Cell([narrow(colour)?, narrow(i)?, narrow(j)?]),
                _ => return None,
            },
        })
    }
}
