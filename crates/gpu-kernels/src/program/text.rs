//! Device programs as text.

use std::fmt;

use super::DeviceProgram;
use crate::interface::constants::{JUMP, JUMP_UNLESS, NEXT, NEXT_BLOCK};
use crate::lane_operations;
use crate::list_operations::ListOperation;

impl fmt::Display for DeviceProgram {
    /// One line per instruction, with the places of its result and operands.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for number in 1..=self.len() as u16 {
            let opcode = self.code[usize::from(number) - 1].opcode;
            let (result, operands) = self.places(number);
            let to = |at: usize| {
                let distance = self.code[usize::from(number) - 1].operands[at] as i16;
                i32::from(number) + 1 + i32::from(distance)
            };
            match u32::from(opcode) {
                JUMP => write!(f, "to {}", to(0))?,
                JUMP_UNLESS => write!(f, "unless {} to {}", operands[0], to(1))?,
                head @ (NEXT | NEXT_BLOCK) => write!(
                    f,
                    "{result} = next{}({}, {}) or to {}",
                    if head == NEXT { "" } else { "_block" },
                    operands[0],
                    operands[1],
                    to(2)
                )?,
                _ => {
                    let of_each = lane_operations::of_each(opcode);
                    let on_lists = ListOperation::of(of_each.unwrap_or(opcode));
                    let (name, takes) = match (self.operation(number), on_lists) {
                        (Some(operation), _) => (operation.name, operation.takes),
                        (None, Some(operation)) => (operation.name(), operation.takes()),
                        (None, None) => continue,
                    };
                    let count = takes.iter().filter(|taken| taken.is_operand()).count();
                    let by_lanes = if of_each.is_some() { " by lanes" } else { "" };
                    write!(
                        f,
                        "{result} = {name}({}){by_lanes}",
                        operands[..count].join(", ")
                    )?;
                }
            }
            match self.line(number) {
                Some(line) => writeln!(f, " @{line}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}
