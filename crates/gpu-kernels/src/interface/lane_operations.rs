//! Operations by lanes: those that a loop runs on up to 32 elements at once, one per lane.
//!
//! Their operands are *columns*, with one scalar per lane, and values shared by all lanes. The device function is that
//! of the operation itself: only where scalars are read and written differs. The opcodes follow those of
//! [`ListOperation`].

use super::list_operations::ListOperation;
use super::operations::OPERATIONS;

/// The operations on lists that need nothing from other lanes.
const ON_LISTS: &[ListOperation] = &[
    ListOperation::Cell,
    ListOperation::ColourOfCell,
    ListOperation::PlaceOfCell,
    ListOperation::PositiveCount,
    ListOperation::AtMostOne,
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

/// The opcode after the last operation by lanes.
pub(crate) const END: u32 = FIRST + COUNT as u32;

/// The opcodes of the plain operations, in the order of their by-lanes opcodes.
pub(super) const ALL: [u16; COUNT] = {
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

/// The by-lanes opcode of an operation; `None` if the operation cannot run by lanes.
pub fn by_lanes(opcode: u16) -> Option<u16> {
    let at = ALL.iter().position(|one| *one == opcode)?;
    u16::try_from(FIRST as usize + at).ok()
}

/// The plain opcode of a by-lanes opcode; `None` for other opcodes.
pub fn of_each(opcode: u16) -> Option<u16> {
    let at = u32::from(opcode).checked_sub(FIRST)?;
    ALL.get(at as usize).copied()
}

/// All by-lanes opcodes.
pub fn all() -> impl Iterator<Item = u16> {
    (FIRST..END).filter_map(|opcode| u16::try_from(opcode).ok())
}

/// The device function of a by-lanes opcode, in `kernels/ops/`.
pub fn name(opcode: u16) -> &'static str {
    let of_each = usize::from(of_each(opcode).unwrap_or(opcode));
    let on_lists = || ListOperation::of(of_each as u16).map(ListOperation::name);
    let name = OPERATIONS.get(of_each).map(|operation| operation.name);
    name.or_else(on_lists).unwrap_or("none")
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
