//! Where diverged lanes reconverge: the immediate postdominators of a function's basic blocks.
//!
//! After Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the reversed
//! graph.

use super::error::ParseIssue;
use super::module::{Instruction, Module, Op, Pc};

/// Sets the reconvergence point of each branch at which lanes may diverge. The code is that of one function,
/// whose first instruction has the index `first`.
///
/// # Errors
/// A function that does not end with a return.
pub(super) fn set_reconvergence_points(
    code: &mut [Instruction],
    first: Pc,
    tables: &[Vec<Pc>],
) -> Result<(), ParseIssue> {
    let blocks = Blocks::of(code, first, tables)?;
    let postdominators = blocks.immediate_postdominators();
    for (block, postdominator) in postdominators.into_iter().enumerate() {
        let last = blocks.last_of(block);
        let may_diverge = match code[last].op {
            Op::Branch => code[last].guard.is_some(),
            Op::IndexedBranch(_) => true,
            _ => false,
        };
        if let (true, Some(postdominator)) = (may_diverge, postdominator) {
            code[last].reconvergence = blocks.starts[postdominator] as u32 + first;
        }
    }
    Ok(())
}

/// The basic blocks of a function and their successors. The index after the last block is the function's exit.
struct Blocks {
    starts: Vec<usize>,
    length: usize,
    next: Vec<Vec<usize>>,
}

impl Blocks {
    fn of(code: &[Instruction], first: Pc, tables: &[Vec<Pc>]) -> Result<Self, ParseIssue> {
        let targets = |at: usize| {
            let instruction: &Instruction = &code[at];
            let pcs = match instruction.op {
                Op::Branch => std::slice::from_ref(&instruction.target),
                Op::IndexedBranch(_) => &tables[instruction.target as usize],
                _ => &[],
            };
            pcs.iter().map(|pc| (pc - first) as usize)
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
                    // A label after the last instruction is the function's exit.
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
                return Err(ParseIssue::new(
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

    /// The block that begins at an instruction.
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

    /// The immediate postdominator of each block; `None` if that is the exit, or if the block cannot reach the exit.
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
                let postdominator =
                    first.map(|first| known.fold(first, |a, b| intersect(&immediate, &rank, a, b)));
                if immediate[block] != postdominator {
                    immediate[block] = postdominator;
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

    /// The reverse postorder of the reversed graph, starting at the exit.
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

/// The nearest common postdominator of two blocks.
fn intersect(immediate: &[Option<usize>], rank: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let later = if rank[a] > rank[b] { &mut a } else { &mut b };
        // Both reach the exit, which is first in the order.
        let Some(next) = immediate[*later] else {
            return *later;
        };
        *later = next;
    }
    a
}

/// Refuses recursion: a function's registers and parameters are allocated statically, and a recursive call would
/// overwrite them.
pub(super) fn no_recursion(module: &Module) -> Result<(), ParseIssue> {
    let count = module.functions.len();
    let calls_of = |function: usize| {
        let function = &module.functions[function];
        let code = &module.code[function.first as usize..function.end as usize];
        let calls = code.iter().filter(|instruction| instruction.op == Op::Call);
        calls.map(|call| (call.line, module.calls[call.target as usize].callee))
    };
    // Without recursion, calls are nested at most as deep as there are functions.
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
            return Err(ParseIssue::new(line, "recursion"));
        }
    }
    Err(ParseIssue::new(0, "recursion"))
}
