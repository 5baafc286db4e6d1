//! Two grids whose rows are paired, and the pairs' colours compared: one step on planes.

use super::{Lowering, Steps, Unsupported};
use crate::ops::rows::{LARGER_COLOURS, SMALLER_COLOURS};
use crate::uses::Held;
use arc_dsl::Primitive;
use arc_form::{Form, Id, Instruction, Op, Operand, Region, Type};

/// The one instruction of a region with so many parameters, whose value is the region's.
fn only(region: &Region, parameters: usize) -> Option<&Instruction> {
    match &region.instructions[..] {
        [one]
            if *region.result() == Operand::Id(one.id) && region.parameters.len() == parameters =>
        {
            Some(one)
        }
        _ => None,
    }
}

/// Whether the instruction pairs the rows of two containers, cell by cell.
fn pairs_rows(instruction: &Instruction) -> bool {
    let Op::Call(Primitive::papply) = instruction.op else {
        return false;
    };
    let region = &instruction.regions[0];
    only(region, 2).is_some_and(|one| {
        let rows = region.parameters.iter().map(|(id, _)| Operand::Id(*id));
        one.op == Op::Call(Primitive::pair) && one.arguments.iter().cloned().eq(rows)
    })
}

/// Which component an instruction takes of each pair in each row of its argument, the largest or
/// the smallest.
fn outer_component(instruction: &Instruction) -> Option<Primitive> {
    let of_each = |instruction: &Instruction| instruction.op == Op::Call(Primitive::apply);
    let region = instruction.regions.first()?;
    let row = only(region, 1).filter(|row| of_each(instruction) && of_each(row))?;
    let inside = row.regions.first()?;
    let one = only(inside, 1)?;
    let taken = [(row, region), (one, inside)];
    let whole = taken
        .iter()
        .all(|(one, region)| one.arguments == [Operand::Id(region.parameters[0].0)]);
    match one.op {
        Op::Call(primitive @ (Primitive::maximum | Primitive::minimum)) if whole => Some(primitive),
        _ => None,
    }
}

/// Finds the rows of two grids that are paired for nothing else, and the tuples of rows that are
/// only taken as grids.
pub(super) fn hold(form: &Form, held: &mut [Held]) {
    let mut rows = Rows {
        uses: vec![0; held.len()],
        components: vec![false; held.len()],
        only_grid: vec![true; held.len()],
    };
    rows.region(&form.body, false);
    rows.choose(&form.body, held);
}

struct Rows {
    /// How often each value is used.
    uses: Vec<u32>,
    /// Whether components are taken of its pairs.
    components: Vec<bool>,
    /// Whether it is only taken as a grid, or is the program's result.
    only_grid: Vec<bool>,
}

impl Rows {
    fn region(&mut self, region: &Region, inside: bool) {
        for instruction in &region.instructions {
            for (at, argument) in instruction.arguments.iter().enumerate() {
                let Operand::Id(id) = argument else { continue };
                self.uses[id.index()] += 1;
                self.components[id.index()] |= outer_component(instruction).is_some();
                self.only_grid[id.index()] &= takes_grid(instruction, at);
            }
            for region in &instruction.regions {
                self.region(region, true);
            }
        }
        for result in &region.results {
            if let Operand::Id(id) = result {
                self.uses[id.index()] += 1;
                // What a loop collects is of the type that the form says.
                self.only_grid[id.index()] &= !inside;
            }
        }
    }

    fn choose(&self, region: &Region, held: &mut [Held]) {
        for instruction in &region.instructions {
            let id = instruction.id.index();
            if pairs_rows(instruction) && self.components[id] && self.uses[id] == 1 {
                held[id] = Held::PairedRows;
            } else if outer_component(instruction).is_some() && self.only_grid[id] {
                held[id] = Held::Grid;
            }
            for region in &instruction.regions {
                self.choose(region, held);
            }
        }
    }
}

/// Whether an instruction takes an argument as a grid.
fn takes_grid(instruction: &Instruction, at: usize) -> bool {
    match instruction.op {
        Op::Call(primitive) if primitive.is_first_order() => {
            use arc_dsl::Type as T;
            // What takes a grid or a patch takes tuples as grids.
            let parameter = primitive.parameters().get(at);
            parameter.is_some_and(|(_, ty)| matches!(ty, T::Grid | T::Piece | T::Element))
        }
        _ => pairs_rows(instruction),
    }
}

impl Lowering {
    /// Makes one step of two loops that take components of the paired rows of two grids. Gives
    /// whether the instruction is one of the two.
    pub(crate) fn paired_rows(
        &mut self,
        steps: &mut Steps,
        instruction: &Instruction,
    ) -> Result<bool, Unsupported> {
        let id = instruction.id;
        let held = self.held[id.index()];
        if held == Held::PairedRows {
            let [a, b] = &instruction.arguments[..] else {
                return Ok(false);
            };
            let ((a, a_type), (b, b_type)) = (self.operand(a)?, self.operand(b)?);
            let grids = a_type == Type::Grid && b_type == Type::Grid;
            if grids {
                self.parts.insert(id.0, (Primitive::papply, [a, b]));
            }
            return Ok(grids);
        }
        let [Operand::Id(Id(pairs))] = instruction.arguments[..] else {
            return Ok(false);
        };
        let (Some(&(Primitive::papply, [a, b])), Some(component)) =
            (self.parts.get(&pairs), outer_component(instruction))
        else {
            return Ok(false);
        };
        let kernel = match component {
            Primitive::maximum => &LARGER_COLOURS,
            _ => &SMALLER_COLOURS,
        };
        let made = self.push(steps, kernel, |step| [step.a, step.b] = [a, b]);
        let ty = match held {
            Held::Grid => Type::Grid,
            _ => instruction.ty.clone(),
        };
        let made = self.convert(steps, made, &Type::Grid, &ty)?;
        self.types[id.index()] = ty;
        self.copy(steps, made, id);
        Ok(true)
    }
}
