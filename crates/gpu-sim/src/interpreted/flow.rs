//! Where lanes that part meet again: immediate postdominators of a function's blocks.
//!
//! After Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the reversed
//! graph.

use super::error::Refused;
use super::module::{Instruction, Module, Op, Place};

/// Notes at each branch that may part lanes where they meet again. The code is that of one function,
/// whose first instruction has the number `first`.
///
/// # Errors
/// A function that does not end with a return.
pub(super) fn meeting_places(
    code: &mut [Instruction],
    first: Place,
    tables: &[Vec<Place>],
) -> Result<(), Refused> {
    let blocks = Blocks::of(code, first, tables)?;
    let meets = blocks.immediate_postdominators();
    for (block, meet) in meets.into_iter().enumerate() {
        let last = blocks.last_of(block);
        let parts = match code[last].op {
            Op::Branch => code[last].guard.is_some(),
            Op::IndexedBranch(_) => true,
            _ => false,
        };
        if let (true, Some(meet)) = (parts, meet) {
            code[last].meet = blocks.starts[meet] as u32 + first;
        }
    }
    Ok(())
}

/// Instructions that are executed one after the other, and where each row of them goes on. The number
/// after the last block's stands for the end of the function.
struct Blocks {
    starts: Vec<usize>,
    length: usize,
    next: Vec<Vec<usize>>,
}

impl Blocks {
    fn of(code: &[Instruction], first: Place, tables: &[Vec<Place>]) -> Result<Self, Refused> {
        let targets = |at: usize| {
            let instruction: &Instruction = &code[at];
            let places = match instruction.op {
                Op::Branch => std::slice::from_ref(&instruction.target),
                Op::IndexedBranch(_) => &tables[instruction.target as usize],
                _ => &[],
            };
            places.iter().map(|place| (place - first) as usize)
        };
        let mut begins = vec![false; code.len() + 1];
        begins[0] = true;
        for (at, instruction) in code.iter().enumerate() {
            match instruction.op {
                Op::Branch | Op::IndexedBranch(_) => {
                    for target in targets(at) {
                        begins[target] = true;
                    }
                    begins[at + 1] = true;
                }
                Op::Return | Op::Trap => begins[at + 1] = true,
                _ => {}
            }
        }
        let starts: Vec<usize> = (0..code.len()).filter(|at| begins[*at]).collect();
        let end = starts.len();
        let mut blocks = Blocks {
            starts,
            length: code.len(),
            next: vec![Vec::new(); end],
        };
        for block in 0..end {
            let last = blocks.last_of(block);
            let instruction = &code[last];
            let falls_through = match instruction.op {
                Op::Return | Op::Trap => {
                    blocks.next[block].push(end);
                    false
                }
                Op::Branch | Op::IndexedBranch(_) => {
                    // A label at the very end leads out of the function.
                    let to = targets(last).map(|target| blocks.block_of(target));
                    blocks.next[block] = to.collect();
                    instruction.guard.is_some()
                }
                _ => true,
            };
            if falls_through && block + 1 == end
                || blocks.next[block].contains(&end)
                    && !matches!(instruction.op, Op::Return | Op::Trap)
            {
                return Err(Refused::new(
                    instruction.line,
                    "a function without a return at its end",
                ));
            }
            if falls_through {
                blocks.next[block].push(block + 1);
            }
        }
        Ok(blocks)
    }

    /// The block that begins there.
    fn block_of(&self, at: usize) -> usize {
        if at >= self.length {
            return self.starts.len();
        }
        self.starts.partition_point(|start| *start <= at) - 1
    }

    /// The last instruction of a block.
    fn last_of(&self, block: usize) -> usize {
        self.starts.get(block + 1).map_or(self.length, |next| *next) - 1
    }

    /// Of each block the one that all its ways come to first; `None` if that is the end, and
    /// where the end is not come to.
    fn immediate_postdominators(&self) -> Vec<Option<usize>> {
        let end = self.next.len();
        let order = self.reverse_postorder();
        let mut rank = vec![usize::MAX; end + 1];
        for (number, block) in order.iter().enumerate() {
            rank[*block] = number;
        }
        let mut immediate: Vec<Option<usize>> = vec![None; end + 1];
        immediate[end] = Some(end);
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().skip(1) {
                let known = self.next[block].iter().copied();
                let mut known = known.filter(|next| immediate[*next].is_some());
                let first = known.next();
                let meet =
                    first.map(|first| known.fold(first, |a, b| meet(&immediate, &rank, a, b)));
                if immediate[block] != meet {
                    immediate[block] = meet;
                    changed = true;
                }
            }
        }
        immediate.truncate(end);
        immediate
            .into_iter()
            .map(|block| block.filter(|block| *block != end))
            .collect()
    }

    /// Of the reversed graph, from the end on.
    fn reverse_postorder(&self) -> Vec<usize> {
        let end = self.next.len();
        let mut before = vec![Vec::new(); end + 1];
        for (block, next) in self.next.iter().enumerate() {
            for &to in next {
                before[to].push(block);
            }
        }
        let mut order = Vec::new();
        let mut seen = vec![false; end + 1];
        let mut stack = vec![(end, 0)];
        seen[end] = true;
        while let Some((block, number)) = stack.pop() {
            let Some(&from) = before[block].get(number) else {
                order.push(block);
                continue;
            };
            stack.push((block, number + 1));
            if !seen[from] {
                seen[from] = true;
                stack.push((from, 0));
            }
        }
        order.reverse();
        order
    }
}

/// The nearest that both lead to.
fn meet(immediate: &[Option<usize>], rank: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let later = if rank[a] > rank[b] { &mut a } else { &mut b };
        // Both lead to the end, which is the first of all.
        let Some(next) = immediate[*later] else {
            return *later;
        };
        *later = next;
    }
    a
}

/// Registers and parameters of a function have one place, which a call of itself would overwrite.
pub(super) fn no_recursion(module: &Module) -> Result<(), Refused> {
    let count = module.functions.len();
    let calls_of = |function: usize| {
        let function = &module.functions[function];
        let code = &module.code[function.first as usize..function.end as usize];
        let calls = code.iter().filter(|instruction| instruction.op == Op::Call);
        calls.map(|call| (call.line, module.calls[call.target as usize].callee))
    };
    // How deep calls go without recursion is at most the number of functions.
    let mut depth = vec![0; count];
    for _ in 0..=count {
        let mut deeper = None;
        for function in 0..count {
            for (line, callee) in calls_of(function) {
                if depth[callee] <= depth[function] {
                    depth[callee] = depth[function] + 1;
                    deeper = Some(line);
                }
            }
        }
        let Some(line) = deeper else {
            return Ok(());
        };
        if depth.iter().any(|depth| *depth > count) {
            return Err(Refused::new(line, "recursion"));
        }
    }
    Err(Refused::new(0, "recursion"))
}
