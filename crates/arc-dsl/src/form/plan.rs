//! The passes that annotate a form for executors with fixed sizes.

use super::{Fault, Form, Instruction, Region, Type};

mod clip;

/// Which passes a plan is made of. The results of a form do not depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOptions {
    /// Find the patches that may lose their cells outside rows and columns 0 to 31.
    pub clip: bool,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { clip: true }
    }
}

/// The form with [`Notes`](super::Notes) about its instructions.
pub fn plan(form: &Form, options: &PlanOptions) -> Form {
    let mut form = form.clone();
    if options.clip {
        clip::clip(&mut form);
        debug_assert_eq!(form.verify(), Ok(()), "{form}");
    }
    form
}

/// Whether no note contradicts the form.
pub(super) fn check(form: &Form) -> Result<(), Fault> {
    clip::check(form)
}

/// The type of each id.
fn types(form: &Form) -> Vec<&Type> {
    fn enter<'f>(region: &'f Region, types: &mut Vec<&'f Type>) {
        for (id, ty) in &region.parameters {
            types[id.index()] = ty;
        }
        for instruction in &region.instructions {
            types[instruction.id.index()] = &instruction.ty;
            for region in &instruction.regions {
                enter(region, types);
            }
        }
    }
    let mut types = vec![&Type::Never; form.ids as usize];
    enter(&form.body, &mut types);
    types
}

/// Calls `visit` with every instruction, those around others first.
fn for_each_mut(region: &mut Region, visit: &mut impl FnMut(&mut Instruction)) {
    for instruction in &mut region.instructions {
        visit(instruction);
        for region in &mut instruction.regions {
            for_each_mut(region, visit);
        }
    }
}

/// The first instruction of which `test` holds.
fn find<'f>(region: &'f Region, test: &impl Fn(&Instruction) -> bool) -> Option<&'f Instruction> {
    region.instructions.iter().find_map(|instruction| {
        if test(instruction) {
            return Some(instruction);
        }
        let mut regions = instruction.regions.iter();
        regions.find_map(|region| find(region, test))
    })
}
