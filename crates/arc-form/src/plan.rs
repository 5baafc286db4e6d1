//! The passes that annotate a form for executors with fixed sizes.
//!
//! Each writes [`Notes`](super::Notes) of its own and can be left out; results stay the same. The
//! verifier checks notes as it checks types: it goes through what the pass does once more and
//! refuses a form that says what is not so.

use super::{Fault, Form, Instruction, Region, Type};

mod clip;
mod guards;
mod liveness;
mod representation;
mod sizes;

pub use sizes::{MayOverflow, Sizes};

/// Which passes a plan is made of. The results of a form do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each switches a pass of its own"
)]
pub struct PlanOptions {
    /// Settle how each value is held.
    pub representation: bool,
    /// Find the patches that may lose their cells outside rows and columns 0 to 31.
    pub clipping: bool,
    /// Give every value a place in the arena.
    pub liveness: bool,
    /// Mark what may pass a fixed size.
    pub guards: bool,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            representation: true,
            clipping: true,
            liveness: true,
            guards: true,
        }
    }
}

/// The form with [`Notes`](super::Notes) about its instructions.
///
/// ```
/// use arc_form::{self, PlanOptions};
/// let form = arc_form::parse("\
/// form solve_crosses(v0: grid):
///   v1: indices = ofcolor(v0, 1) @2
///   v2: indices = mapply(v1) @3 {v3: pair ->
///     v4: indices = vfrontier(v3) @3
///     yield v4
///   }
///   v5: grid = underfill(v0, 2, v2) @4
///   return v5
/// ")?;
/// assert_eq!(arc_form::plan(&form, &PlanOptions::default()).to_string(), "\
/// form solve_crosses(v0: grid):
///   v1: indices = ofcolor(v0, 1) @2 [mask, at 512+144]
///   v2: indices = mapply(v1) @3 [fused, clipped, work 1168+8] {v3: pair ->
///     v4: indices = vfrontier(v3) @3 [mask, clipped, at 1176+144]
///     yield v4
///   }
///   v5: grid = underfill(v0, 2, v2) @4 [grid, takes v2, at 656+512]
///   return v5
/// ");
/// # Ok::<(), arc_form::FormError>(())
/// ```
pub fn plan(form: &Form, options: &PlanOptions) -> Form {
    type Pass = fn(&mut Form);
    let mut form = form.clone();
    let passes: [(bool, Pass); 4] = [
        (options.representation, representation::hold),
        (options.clipping, clip::clip),
        (options.liveness, liveness::place),
        (options.guards, guards::guard),
    ];
    for (on, pass) in passes {
        if on {
            pass(&mut form);
            debug_assert_eq!(form.verify(), Ok(()), "{form}");
        }
    }
    form
}

/// Whether no note contradicts the form.
pub(super) fn check(form: &Form) -> Result<(), Fault> {
    representation::check(form)?;
    clip::check(form)?;
    liveness::check(form)?;
    guards::check(form)
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
fn for_each<'f>(region: &'f Region, visit: &mut impl FnMut(&'f Instruction)) {
    for instruction in &region.instructions {
        visit(instruction);
        for region in &instruction.regions {
            for_each(region, visit);
        }
    }
}

/// The same for instructions that are changed.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evaluator, parse, specialise};
    use arc_dsl::generate::Generator;

    #[test]
    fn plans_of_random_programs_are_sound_read_back_and_change_nothing() {
        let mut generator = Generator::with_scenes(41, 60);
        let mut planned = 0;
        for round in 0..400 {
            let program = generator.program(14).unwrap();
            let input = generator.value(arc_dsl::Type::Grid);
            let (Ok(form), Some(input)) = (specialise(&program), input.as_grid()) else {
                continue;
            };
            let options = PlanOptions {
                representation: round % 3 != 0,
                clipping: round % 5 != 0,
                ..PlanOptions::default()
            };
            let plan = plan(&form, &options);
            assert_eq!(plan.verify(), Ok(()), "{plan}");
            assert_eq!(parse(&plan.to_string()).as_ref(), Ok(&plan), "{plan}");
            let mut evaluator = Evaluator::default();
            assert_eq!(evaluator.run(&plan, &input), evaluator.run(&form, &input));
            planned += 1;
        }
        assert!(planned > 300, "{planned}");
    }
}
