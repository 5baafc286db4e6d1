//! Sinks moves out of paths that do not need them.
//!
//! NVRTC moves what a block needs into a register before the branch to it, whether that is taken or not. Here such a
//! move is sunk to where it is needed: after the branch, or into a new block on the edge.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::code::{Instruction, Line};
use super::flow::{Flow, Liveness};

/// The prefix of new labels.
const LABEL: &str = "$L_arc_edge_";

/// Sinks moves to the edges that need them.
pub(crate) fn sink(lines: &mut Vec<Line>) {
    while let Some(made) = sunk(lines) {
        *lines = made;
    }
}

/// The lines with moves sunk past one branch; `None` if there are none to sink.
fn sunk(lines: &[Line]) -> Option<Vec<Line>> {
    let flow = Flow::of(lines);
    let liveness = Liveness::of(lines, &flow);
    let mut edits = Edits::default();
    let labels = lines
        .iter()
        .filter(|line| matches!(line, Line::Label(label) if label.starts_with(LABEL)));
    edits.labels = labels.count();
    for (block, range) in flow.blocks.iter().enumerate() {
        let Some((at, branch)) = range
            .clone()
            .next_back()
            .and_then(|at| Some((at, lines[at].instruction()?)))
        else {
            continue;
        };
        let (Some(label), Some(_)) = (branch.target(), &branch.guard) else {
            continue;
        };
        let Some(target) = flow.block_of(label) else {
            continue;
        };
        let is_read = |next: usize, register: &str| liveness.is_read_from(next, register);
        let (mut behind, mut aside) = (Vec::new(), Vec::new());
        for at in movable(lines, range.clone()) {
            let Some((to, _)) = lines[at].instruction().and_then(Instruction::moved) else {
                continue;
            };
            match (is_read(target, to), is_read(block + 1, to)) {
                (false, true) => behind.push(at),
                (true, false) => aside.push(at),
                _ => {}
            }
        }
        if flow.before[target] != [block] && !is_worthwhile(&flow, block, target) {
            aside.clear();
        }
        edits.dropped.extend(behind.iter().chain(&aside));
        let texts = |of: Vec<usize>| {
            of.into_iter()
                .rev()
                .map(|at| lines[at].clone())
                .collect::<Vec<_>>()
        };
        if !behind.is_empty() {
            edits.behind.insert(at, texts(behind));
        }
        if flow.before[target] == [block] {
            edits
                .behind
                .entry(label_line(lines, &flow, target, label))
                .or_default()
                .extend(texts(aside));
        } else if !aside.is_empty() {
            let made = edits.edge_block(label, texts(aside));
            let branch = Instruction {
                operands: vec![made],
                ..branch.clone()
            };
            edits.branches.insert(at, Line::Instruction(branch));
        }
    }
    (!edits.dropped.is_empty()).then(|| edits.applied(lines))
}

/// Whether sinking moves towards the target of a block's branch is worth an additional branch there: not for a loop's
/// branch, nor for one that skips a single block.
fn is_worthwhile(flow: &Flow, block: usize, target: usize) -> bool {
    target > block && flow.next[block + 1] != [target]
}

/// The moves of a block, the last one first, that may be moved past its end.
fn movable(lines: &[Line], block: Range<usize>) -> Vec<usize> {
    let (mut read, mut written) = (HashSet::new(), HashSet::new());
    let mut found = Vec::new();
    for at in block.rev() {
        let Some(instruction) = lines[at].instruction() else {
            continue;
        };
        if let Some((to, from)) = instruction.moved()
            && !read.contains(to)
            && !written.contains(to)
            && !written.contains(from)
        {
            found.push(at);
        }
        read.extend(instruction.read());
        written.extend(instruction.written());
    }
    found
}

/// The line of a label.
fn label_line(lines: &[Line], flow: &Flow, block: usize, label: &str) -> usize {
    let is_it = |at: &usize| matches!(&lines[*at], Line::Label(found) if found == label);
    let begin = flow.blocks[block].start;
    flow.blocks[block].clone().find(is_it).unwrap_or(begin)
}

/// The changes of lines.
#[derive(Default)]
struct Edits {
    dropped: HashSet<usize>,
    behind: HashMap<usize, Vec<Line>>,
    branches: HashMap<usize, Line>,
    /// The labels of new blocks, by their moves and target.
    edge_blocks: HashMap<String, String>,
    at_end: Vec<Line>,
    labels: usize,
}

impl Edits {
    /// The label of a new block with these moves on the edge to a label.
    fn edge_block(&mut self, to: &str, moves: Vec<Line>) -> String {
        let key: String = moves
            .iter()
            .map(|line| format!("{line}\n"))
            .chain([to.to_owned()])
            .collect();
        if let Some(label) = self.edge_blocks.get(&key) {
            return label.clone();
        }
        let label = format!("{LABEL}{}", self.labels);
        self.labels += 1;
        self.edge_blocks.insert(key, label.clone());
        self.at_end.push(Line::Other(String::new()));
        self.at_end.push(Line::Label(label.clone()));
        self.at_end.extend(moves);
        self.at_end
            .push(Line::Instruction(Instruction::new("bra.uni", [to])));
        label
    }

    fn applied(mut self, lines: &[Line]) -> Vec<Line> {
        let mut made = Vec::with_capacity(lines.len());
        for (at, line) in lines.iter().enumerate() {
            if matches!(line, Line::Other(text) if text == "}") {
                made.append(&mut self.at_end);
            }
            if !self.dropped.contains(&at) {
                made.push(self.branches.remove(&at).unwrap_or_else(|| line.clone()));
            }
            made.extend(self.behind.remove(&at).into_iter().flatten());
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::in_functions;
    use super::*;

    fn sunk(lines: &str) -> String {
        let made = in_functions(&format!("{{\n{lines}}}\n"), sink);
        made["{\n".len()..made.len() - "}\n".len()].to_owned()
    }

    #[test]
    fn moves_stand_where_they_are_needed() {
        let made = sunk(
            "\tmov.u32 \t%r1, 7;\n\
             \tmov.u32 \t%r2, 1;\n\
             \tsetp.eq.s32 \t%p1, %r3, 0;\n\
             \t@%p1 bra \t$L__BB0_1;\n\
             \tmov.u32 \t%r1, 5;\n\
             \tsetp.eq.s32 \t%p2, %r2, %r3;\n\
             \t@%p2 bra \t$L__BB0_1;\n\
             \tret;\n\
             $L__BB0_1:\n\
             \tst.shared.u32 \t[%r9], %r1;\n\
             \tret;\n",
        );
        assert_eq!(
            made,
            "\tsetp.eq.s32 \t%p1, %r3, 0;\n\
             \t@%p1 bra \t$L_arc_edge_0;\n\
             \tmov.u32 \t%r2, 1;\n\
             \tsetp.eq.s32 \t%p2, %r2, %r3;\n\
             \t@%p2 bra \t$L_arc_edge_1;\n\
             \tret;\n\
             $L__BB0_1:\n\
             \tst.shared.u32 \t[%r9], %r1;\n\
             \tret;\n\
             \n\
             $L_arc_edge_0:\n\
             \tmov.u32 \t%r1, 7;\n\
             \tbra.uni \t$L__BB0_1;\n\
             \n\
             $L_arc_edge_1:\n\
             \tmov.u32 \t%r1, 5;\n\
             \tbra.uni \t$L__BB0_1;\n"
        );
    }

    #[test]
    fn moves_for_a_block_of_one_branch_stand_in_it() {
        let made = sunk(
            "\tmov.u32 \t%r1, 7;\n\
             \t@%p1 bra \t$L__BB0_1;\n\
             \tret;\n\
             $L__BB0_1:\n\
             \tst.shared.u32 \t[%r9], %r1;\n\
             \tret;\n",
        );
        assert_eq!(
            made,
            "\t@%p1 bra \t$L__BB0_1;\n\
             \tret;\n\
             $L__BB0_1:\n\
             \tmov.u32 \t%r1, 7;\n\
             \tst.shared.u32 \t[%r9], %r1;\n\
             \tret;\n"
        );
    }

    #[test]
    fn others_stay() {
        for lines in [
            // Both paths need it.
            "\tmov.u32 \t%r1, 7;\n\t@%p1 bra \t$L__BB0_1;\n\tst.shared.u32 \t[%r9], %r1;\n\
             $L__BB0_1:\n\tst.shared.u32 \t[%r8], %r1;\n\tret;\n",
            // A loop, whose iterations would have one more branch.
            "$L__BB0_1:\n\tst.shared.u32 \t[%r9], %r1;\n\tld.shared.u32 \t%r2, [%r9+4];\n\
             \tsetp.eq.s32 \t%p1, %r2, 0;\n\tmov.u32 \t%r1, %r2;\n\t@%p1 bra \t$L__BB0_1;\n\tret;\n",
            // It skips one block, taken or not about equally often.
            "\tmov.u32 \t%r1, 7;\n\t@%p1 bra \t$L__BB0_1;\n\tld.shared.u32 \t%r1, [%r9];\n\
             $L__BB0_1:\n\tst.shared.u32 \t[%r8], %r1;\n\tret;\n",
            // The copied register is written before the branch.
            "\tmov.u32 \t%r1, %r2;\n\tadd.s32 \t%r2, %r2, 1;\n\t@%p1 bra \t$L__BB0_1;\n\tret;\n\
             $L__BB0_1:\n\tst.shared.u32 \t[%r2], %r1;\n\tret;\n",
        ] {
            assert_eq!(sunk(lines), lines);
        }
    }
}
