//! Branches: where each lane goes, and which groups wait.

use super::compute::{Lanes, first_of, lanes};
use super::error::{LaneFault, Violation};
use super::module::{Instruction, NO_PC, Pc};

/// Lanes that run together until they reconverge with others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub(super) pc: Pc,
    pub(super) reconvergence: Pc,
    pub(super) mask: u32,
}

/// Executes a branch; returns the group to run next.
pub(super) fn branch(
    group: Group,
    branch: &Instruction,
    taken: u32,
    waiting: &mut Vec<Group>,
) -> Result<Group, LaneFault> {
    let to = |pc| Group { pc, ..group };
    if taken == group.mask {
        return Ok(to(branch.target));
    }
    if taken == 0 {
        return Ok(to(group.pc + 1));
    }
    let sides = [(group.pc + 1, group.mask & !taken), (branch.target, taken)];
    diverge(group, branch.reconvergence, sides.into_iter(), waiting)
}

/// The targets of an indexed branch and the index of each lane.
pub(super) struct IndexedTargets<'a> {
    pub(super) table: &'a [Pc],
    pub(super) index: &'a Lanes<u32>,
    pub(super) taken: u32,
    pub(super) uniform: bool,
}

impl IndexedTargets<'_> {
    pub(super) fn branch(
        &self,
        group: Group,
        branch: &Instruction,
        waiting: &mut Vec<Group>,
    ) -> Result<Group, LaneFault> {
        let broken = |lane: u32, violation| LaneFault(group.pc, lane, violation);
        let first = first_of(self.taken);
        let chosen = self.index[first as usize];
        if self.taken == group.mask && lanes(self.taken).all(|lane| self.index[lane] == chosen) {
            // The common case: all lanes go to one target, so there is nothing to group.
            let entries = self.table.len();
            let pc = self.table.get(chosen as usize).copied();
            let none = Violation::NoTarget {
                index: chosen,
                entries,
            };
            let pc = pc.ok_or(broken(first, none))?;
            return Ok(Group { pc, ..group });
        }
        let mut sides: Vec<(Pc, u32)> = Vec::new();
        let mut go = |pc: Pc, mask: u32| match sides.iter_mut().find(|side| side.0 == pc) {
            Some(side) => side.1 |= mask,
            None => sides.push((pc, mask)),
        };
        let stay = group.mask & !self.taken;
        if stay != 0 {
            go(group.pc + 1, stay);
            if self.uniform && self.taken != 0 {
                let other = first_of(stay);
                return Err(broken(first, Violation::NotUniform(other)));
            }
        }
        for lane in lanes(self.taken) {
            let index = self.index[lane];
            let Some(pc) = self.table.get(index as usize) else {
                let entries = self.table.len();
                return Err(broken(lane as u32, Violation::NoTarget { index, entries }));
            };
            if self.uniform && index != chosen {
                let other = lane as u32;
                return Err(broken(first, Violation::NotUniform(other)));
            }
            go(*pc, 1 << lane);
        }
        if let [(pc, _)] = sides[..] {
            return Ok(Group { pc, ..group });
        }
        diverge(group, branch.reconvergence, sides.into_iter(), waiting)
    }
}

/// Splits a group into sides that run one after the other; returns the first.
fn diverge(
    group: Group,
    reconvergence: Pc,
    sides: impl Iterator<Item = (Pc, u32)>,
    waiting: &mut Vec<Group>,
) -> Result<Group, LaneFault> {
    if reconvergence != group.reconvergence && reconvergence != NO_PC {
        // The whole group resumes there.
        waiting.push(Group {
            pc: reconvergence,
            ..group
        });
    }
    let mut sides = sides
        .filter(|(pc, _)| *pc != reconvergence)
        .map(|(pc, mask)| Group {
            pc,
            reconvergence,
            mask,
        });
    let first = sides.next();
    let first = first.ok_or(fault(group, Violation::Internal("a branch to one target")))?;
    waiting.extend(sides);
    Ok(first)
}

pub(super) fn fault(group: Group, violation: Violation) -> LaneFault {
    LaneFault(group.pc, first_of(group.mask), violation)
}
