//! Branches: which lanes go where, and who waits for them.

use super::compute::{Lanes, WARP, first_of, lanes};
use super::error::{Fault, Violation};
use super::module::{Instruction, NOWHERE, Place};

/// Lanes that run together, up to where they meet others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub(super) place: Place,
    pub(super) meet: Place,
    pub(super) mask: u32,
}

/// Where the lanes of a group go.
pub(super) fn branch(
    group: Group,
    branch: &Instruction,
    taken: u32,
    waiting: &mut Vec<Group>,
) -> Result<Group, Fault> {
    let to = |place| Group { place, ..group };
    if taken == group.mask {
        return Ok(to(branch.target));
    }
    if taken == 0 {
        return Ok(to(group.place + 1));
    }
    let sides = [
        (group.place + 1, group.mask & !taken),
        (branch.target, taken),
    ];
    part(group, branch.meet, sides.into_iter(), waiting)
}

/// Where the lanes of an indexed branch go.
pub(super) struct Chosen<'a> {
    pub(super) table: &'a [Place],
    pub(super) index: &'a Lanes<u32>,
    pub(super) taken: u32,
    pub(super) uniform: bool,
}

impl Chosen<'_> {
    pub(super) fn branch(
        &self,
        group: Group,
        branch: &Instruction,
        waiting: &mut Vec<Group>,
    ) -> Result<Group, Fault> {
        let broken = |lane: u32, violation| Fault {
            place: group.place,
            lane,
            violation,
        };
        let first = first_of(self.taken);
        let chosen = self.index[first as usize];
        if self.taken == group.mask && lanes(self.taken).all(|lane| self.index[lane] == chosen) {
            // Most do, and then nothing is to be gathered.
            let entries = self.table.len();
            let place = self.table.get(chosen as usize).copied();
            let none = Violation::NoTarget {
                index: chosen,
                entries,
            };
            let place = place.ok_or(broken(first, none))?;
            return Ok(Group { place, ..group });
        }
        let mut sides: Vec<(Place, u32)> = Vec::new();
        let mut go = |place: Place, mask: u32| match sides.iter_mut().find(|side| side.0 == place) {
            Some(side) => side.1 |= mask,
            None => sides.push((place, mask)),
        };
        let stay = group.mask & !self.taken;
        if stay != 0 {
            go(group.place + 1, stay);
            if self.uniform && self.taken != 0 {
                let other = first_of(stay);
                return Err(broken(first, Violation::NotUniform { other }));
            }
        }
        for lane in lanes(self.taken) {
            let index = self.index[lane];
            let Some(place) = self.table.get(index as usize) else {
                let entries = self.table.len();
                return Err(broken(lane as u32, Violation::NoTarget { index, entries }));
            };
            if self.uniform && index != chosen {
                let other = lane as u32;
                return Err(broken(first, Violation::NotUniform { other }));
            }
            go(*place, 1 << lane);
        }
        if let [(place, _)] = sides[..] {
            return Ok(Group { place, ..group });
        }
        part(group, branch.meet, sides.into_iter(), waiting)
    }
}

/// Lets the lanes of a group go different ways, one side of them after the other.
fn part(
    group: Group,
    meet: Place,
    sides: impl Iterator<Item = (Place, u32)>,
    waiting: &mut Vec<Group>,
) -> Result<Group, Fault> {
    if meet != group.meet && meet != NOWHERE {
        // All of them go on from there.
        waiting.push(Group {
            place: meet,
            ..group
        });
    }
    let mut sides = sides
        .filter(|(place, _)| *place != meet)
        .map(|(place, mask)| Group { place, meet, mask });
    let first = sides.next();
    let first = first.ok_or(fault(group, Violation::Internal("a branch to one place")))?;
    waiting.extend(sides);
    Ok(first)
}

pub(super) fn fault(group: Group, violation: Violation) -> Fault {
    Fault {
        place: group.place,
        lane: group.mask.trailing_zeros() % WARP as u32,
        violation,
    }
}
