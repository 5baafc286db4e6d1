//! Operations by lanes: those that a loop makes for up to 32 elements at once, one a lane.
//!
//! Their operands are *columns*, each lane with a scalar of its own, and values that are the same for all
//! lanes. The device function is that of the operation itself: only where a scalar is read and written
//! differs. Opcodes go on where those of [`ListOperation`] end.

use crate::interface::OperationSignature;
use crate::list_operations::{self, ListOperation};
use crate::operations::OPERATIONS;

/// Of the operations on lists, those that ask nothing of other lanes.
const ON_LISTS: &[ListOperation] = &[
    ListOperation::Cell,
    ListOperation::ColourOfCell,
    ListOperation::PlaceOfCell,
    ListOperation::PositiveCount,
    ListOperation::SizeOfList,
    ListOperation::Element,
];

const FIRST: u32 = (OPERATIONS.len() + ListOperation::ALL.len()) as u32;

const COUNT: usize = {
    let (mut count, mut at) = (ON_LISTS.len(), 0);
    while at < OPERATIONS.len() {
        count += OPERATIONS[at].by_lanes as usize;
        at += 1;
    }
    count
};

/// The opcode behind that of the last of them.
pub(crate) const END: u32 = FIRST + COUNT as u32;

/// Opcodes of the operations, in the order of theirs by lanes.
const ALL: [u16; COUNT] = {
    let (mut all, mut count, mut at) = ([0; COUNT], 0, 0);
    while at < OPERATIONS.len() {
        if OPERATIONS[at].by_lanes {
            all[count] = at as u16;
            count += 1;
        }
        at += 1;
    }
    at = 0;
    while at < ON_LISTS.len() {
        all[count] = (OPERATIONS.len() + ON_LISTS[at] as usize) as u16;
        count += 1;
        at += 1;
    }
    all
};

/// The opcode by lanes of an operation; `None` if it is none that goes by lanes.
pub fn by_lanes(opcode: u16) -> Option<u16> {
    let at = ALL.iter().position(|one| *one == opcode)?;
    u16::try_from(FIRST as usize + at).ok()
}

/// The opcode of the operation that another one is by lanes; nothing of other opcodes.
pub fn of_each(opcode: u16) -> Option<u16> {
    let at = u32::from(opcode).checked_sub(FIRST)?;
    ALL.get(at as usize).copied()
}

/// The opcodes of all of them.
pub fn all() -> impl Iterator<Item = u16> {
    (FIRST..END).filter_map(|opcode| u16::try_from(opcode).ok())
}

/// The device function of one of them, in `kernels/ops/`.
pub fn name(opcode: u16) -> &'static str {
    let of_each = usize::from(of_each(opcode).unwrap_or(opcode));
    let on_lists = || ListOperation::of(of_each as u16).map(ListOperation::name);
    let name = OPERATIONS.get(of_each).map(|operation| operation.name);
    name.or_else(on_lists).unwrap_or("none")
}

/// What the kernels know of them.
pub(crate) fn signatures() -> Vec<OperationSignature> {
    let all = list_operations::signatures();
    ALL.map(|opcode| all[usize::from(opcode)].clone()).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_lead_there_and_back() {
        for (at, opcode) in ALL.iter().enumerate() {
            let by_lanes = by_lanes(*opcode).unwrap();
            assert_eq!(u32::from(by_lanes), FIRST + at as u32);
            assert_eq!(of_each(by_lanes), Some(*opcode));
            assert_eq!(of_each(*opcode), None);
        }
        assert_eq!(of_each(END as u16), None);
    }
}
