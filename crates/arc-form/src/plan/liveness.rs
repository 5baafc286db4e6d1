//! The pass that gives every value a place in the arena, from where it is made to its last use.
//!
//! The input lies at the start. Values that live at the same time share no byte, and a value's
//! place is free again behind its last use; what a region makes lies where nothing does that lives
//! around it. A view needs its label map as long as it is used itself, a static tuple its items; a
//! loop that is fused runs when the instruction does that takes it, so what it uses lives until
//! then.
//!
//! Beside its value an instruction may need a place to work: for the elements that a loop hands to
//! its region, for the keys of `order`, the best key of `argmax` and kin, and for the locations
//! that `size` counts of what is fused into it.

use super::representation::plain;
use super::sizes::{ELEMENTS, GRID, MASK, bytes, holding};
use super::{find, for_each_mut, types};
use crate::{Fault, Form, Holding, Id, Instruction, Op, Operand, Place, Region, Type};
use arc_dsl::Primitive as P;

/// Notes where every value lies.
pub(super) fn place(form: &mut Form) {
    let mut places = vec![(None, None); form.ids as usize];
    let mut arena = Arena::new(form);
    // Nothing goes wrong where places are chosen.
    let _ = arena.form(&mut |live, _, instruction, bytes, work| {
        let place = first_free(live, bytes);
        let entry = &mut places[instruction.id.index()];
        let (value, working) = (&mut entry.0, &mut entry.1);
        *(if work { working } else { value }) = Some(place);
        Ok(Some(place))
    });
    for_each_mut(&mut form.body, &mut |instruction| {
        let (value, work) = places[instruction.id.index()];
        instruction.notes.place = value;
        instruction.notes.work = work;
    });
}

/// Whether places that are noted are large enough, and no two of values that live at the same time
/// share a byte.
pub(super) fn check(form: &Form) -> Result<(), Fault> {
    let noted = |one: &Instruction| one.notes.place.is_some() || one.notes.work.is_some();
    if find(&form.body, &noted).is_none() {
        return Ok(());
    }
    Arena::new(form).form(&mut |live, of, instruction, bytes, work| {
        let id = instruction.id;
        let fault = |message: String| Err(Fault { id, message });
        let noted = if work {
            instruction.notes.work
        } else {
            instruction.notes.place
        };
        let Some(place) = noted else {
            return Ok(None);
        };
        if place.bytes < bytes {
            return fault(format!("{} bytes where {bytes} are needed", place.bytes));
        }
        match live.iter().position(|other| other.overlaps(place)) {
            Some(at) => fault(format!(
                "lies at {place}, where v{} does at {}",
                of[at].0, live[at]
            )),
            None => Ok(Some(place)),
        }
    })
}

/// The first place of so many bytes that overlaps none of those, which are sorted.
fn first_free(live: &[Place], bytes: u32) -> Place {
    let mut at = 0;
    for place in live {
        if place.at >= at + bytes {
            break;
        }
        at = at.max(place.end());
    }
    Place { at, bytes }
}

/// Gives a place of at least so many bytes to an instruction's value, or for its work, beside those
/// of the values that live, which are given with their ids.
type Choose<'c> =
    dyn FnMut(&[Place], &[Id], &Instruction, u32, bool) -> Result<Option<Place>, Fault> + 'c;

struct Arena<'f> {
    form: &'f Form,
    types: Vec<&'f Type>,
    /// How many regions stand around the one in which each value is made.
    home: Vec<usize>,
    /// The last instruction of that region that needs the value, by its number in it.
    last: Vec<Option<usize>>,
    /// Fused instructions: they run when another does.
    fused: Vec<Option<&'f Instruction>>,
    /// The places in use, sorted, and of which values they are.
    live: Vec<Place>,
    of: Vec<Id>,
}

impl<'f> Arena<'f> {
    fn new(form: &'f Form) -> Self {
        let ids = form.ids as usize;
        let mut arena = Arena {
            form,
            types: types(form),
            home: vec![0; ids],
            last: vec![None; ids],
            fused: vec![None; ids],
            live: Vec::new(),
            of: Vec::new(),
        };
        arena.homes(&form.body, 0);
        arena.lasts(&form.body, &mut Vec::new());
        arena
    }

    fn homes(&mut self, region: &'f Region, depth: usize) {
        for (id, _) in &region.parameters {
            self.home[id.index()] = depth;
        }
        for instruction in &region.instructions {
            self.home[instruction.id.index()] = depth;
            if instruction.notes.fused() {
                self.fused[instruction.id.index()] = Some(instruction);
            }
            for region in &instruction.regions {
                self.homes(region, depth + 1);
            }
        }
    }

    /// Finds last uses, going backward; `at` has the numbers of the instructions around.
    fn lasts(&mut self, region: &Region, at: &mut Vec<usize>) {
        at.push(region.instructions.len());
        for result in &region.results {
            self.needs(result, at);
        }
        let depth = at.len() - 1;
        for (number, instruction) in region.instructions.iter().enumerate().rev() {
            let borrows = matches!(
                holding(instruction),
                Holding::Fused | Holding::View | Holding::Static
            );
            let own = self.last[instruction.id.index()].filter(|_| borrows);
            at[depth] = own.unwrap_or(number).max(number);
            for argument in &instruction.arguments {
                self.needs(argument, at);
            }
            for region in &instruction.regions {
                self.lasts(region, at);
            }
        }
        at.pop();
    }

    fn needs(&mut self, operand: &Operand, at: &[usize]) {
        if let Operand::Id(id) = operand {
            let last = &mut self.last[id.index()];
            let now = at.get(self.home[id.index()]).copied();
            *last = now.max(*last);
        }
    }

    fn form(&mut self, choose: &mut Choose<'_>) -> Result<(), Fault> {
        let input = Place { at: 0, bytes: GRID };
        self.live.push(input);
        self.of.push(Id::INPUT);
        let form = self.form;
        self.region(&form.body, 0, choose)
    }

    fn region(
        &mut self,
        region: &'f Region,
        depth: usize,
        choose: &mut Choose<'_>,
    ) -> Result<(), Fault> {
        let before: Vec<Id> = if depth == 0 {
            Vec::new()
        } else {
            self.of.clone()
        };
        for (number, instruction) in region.instructions.iter().enumerate() {
            if instruction.notes.fused() {
                continue;
            }
            let id = instruction.id;
            let needed = bytes(holding(instruction), &instruction.ty);
            self.take(instruction, needed, false, choose)?;
            self.run(instruction, depth, choose)?;
            let kept = |of: Id, arena: &Self| {
                let last = arena.last[of.index()];
                arena.home[of.index()] != depth || last.is_some_and(|last| last > number)
            };
            let unused = self.last[id.index()].is_none();
            self.free(|arena, of| kept(of, arena) && !(unused && of == id));
        }
        if depth > 0 {
            self.free(|_, of| before.contains(&of));
        }
        Ok(())
    }

    /// What happens while an instruction is run, those that are fused into it included.
    fn run(
        &mut self,
        instruction: &'f Instruction,
        depth: usize,
        choose: &mut Choose<'_>,
    ) -> Result<(), Fault> {
        let needed = self.work(instruction);
        let place = self.take(instruction, needed, true, choose)?;
        if let Some(taken) = instruction.taken()
            && let Some(fused) = self.fused[taken.index()]
        {
            self.run(fused, depth, choose)?;
        }
        for region in &instruction.regions {
            self.region(region, depth + 1, choose)?;
        }
        if let Some(place) = place {
            let at = self.live.iter().position(|one| *one == place);
            if let Some(at) = at {
                self.live.remove(at);
                self.of.remove(at);
            }
        }
        Ok(())
    }

    /// The bytes that an instruction needs beside its value.
    fn work(&self, instruction: &Instruction) -> u32 {
        let parameters = instruction.regions.iter().flat_map(|one| &one.parameters);
        let used = parameters.filter(|(id, _)| self.last[id.index()].is_some());
        let elements: u32 = used
            .map(|(_, ty)| match plain(ty) {
                // An element of a list of lists is read where it lies.
                Holding::List => 16,
                holding => bytes(holding, ty),
            })
            .sum();
        let own = match instruction.op {
            Op::Call(P::order) => 16 * ELEMENTS,
            Op::Call(P::argmax | P::argmin | P::valmax | P::valmin) => {
                let results = instruction.regions.iter().map(Region::result);
                let key = results.map(|operand| match operand {
                    Operand::Id(id) => self.types[id.index()],
                    Operand::Constant(_) => &Type::Int,
                });
                16 + key.map(|ty| bytes(plain(ty), ty)).max().unwrap_or(0)
            }
            Op::Call(P::size) if instruction.notes.takes.is_some() => MASK,
            _ => 0,
        };
        elements + own
    }

    fn take(
        &mut self,
        instruction: &Instruction,
        bytes: u32,
        work: bool,
        choose: &mut Choose<'_>,
    ) -> Result<Option<Place>, Fault> {
        if bytes == 0 {
            return Ok(None);
        }
        let place = choose(&self.live, &self.of, instruction, bytes, work)?;
        if let Some(place) = place {
            let at = self.live.partition_point(|other| *other < place);
            self.live.insert(at, place);
            self.of.insert(at, instruction.id);
        }
        Ok(place)
    }

    /// Keeps the places of those values.
    fn free(&mut self, keep: impl Fn(&Self, Id) -> bool) {
        let kept: Vec<bool> = self.of.iter().map(|of| keep(self, *of)).collect();
        let mut at = kept.iter().copied();
        self.live.retain(|_| at.next().unwrap_or(true));
        let mut at = kept.iter().copied();
        self.of.retain(|_| at.next().unwrap_or(true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn placed(text: &str) -> Form {
        let mut form = parse(text).unwrap();
        super::super::representation::hold(&mut form);
        place(&mut form);
        form.verify().unwrap();
        assert_eq!(parse(&form.to_string()).as_ref(), Ok(&form));
        form
    }

    #[test]
    fn a_place_is_free_again_behind_the_last_use() {
        let form = placed(
            "form f(v0: grid):\n  v1: grid = rot90(v0) @2\n  v2: grid = rot180(v1) @3\n  \
             v3: grid = hconcat(v1, v2) @4\n  v4: grid! = vconcat(v3, v3) @5\n  return v4\n",
        );
        assert_eq!(
            form.to_string(),
            "form f(v0: grid):\n  v1: grid = rot90(v0) @2 [grid, at 512+512]\n  \
             v2: grid = rot180(v1) @3 [grid, at 0+512]\n  \
             v3: grid = hconcat(v1, v2) @4 [grid, at 1024+512]\n  \
             v4: grid! = vconcat(v3, v3) @5 [grid, at 0+512]\n  return v4\n"
        );
        assert_eq!(form.sizes().bytes, Some(1536));
    }

    #[test]
    fn what_a_region_makes_lies_beside_what_lives_around_it() {
        let text = "\
form f(v0: grid):
  v1: indices = ofcolor(v0, 1) @2
  v2: indices = mapply(v1) @3 {v3: pair ->
    v4: indices = neighbors(v3) @3
    v5: indices = outbox(v4) @3
    yield v5
  }
  v6: grid = fill(v0, 1, v2) @4
  return v6
";
        let expected = "\
form f(v0: grid):
  v1: indices = ofcolor(v0, 1) @2 [mask, at 512+144]
  v2: indices = mapply(v1) @3 [fused, work 1168+8] {v3: pair ->
    v4: indices = neighbors(v3) @3 [mask, at 1176+144]
    v5: indices = outbox(v4) @3 [mask, at 1320+144]
    yield v5
  }
  v6: grid = fill(v0, 1, v2) @4 [grid, takes v2, at 656+512]
  return v6
";
        assert_eq!(placed(text).to_string(), expected);
    }

    #[test]
    fn live_values_at_one_place_are_a_fault() {
        let text = "form f(v0: grid):\n  v1: grid = rot90(v0) @2 [at 512+512]\n  \
                    v2: grid = rot180(v1) @3 [at 1000+512]\n  return v2\n";
        let message = |text: &str| parse(text).map_err(|error| error.message);
        assert_eq!(
            message(text).unwrap_err(),
            "v2: lies at 1000+512, where v1 does at 512+512"
        );
        assert!(message(&text.replace("1000", "1024")).is_ok());
        // The input is not used any more.
        assert!(message(&text.replace("1000", "0")).is_ok());
        assert_eq!(
            message(&text.replace("1000+512", "1024+144")).unwrap_err(),
            "v2: 144 bytes where 512 are needed"
        );
    }
}
