//! The basic blocks of a function, its control flow, and the liveness of registers.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::code::{Instruction, Line};

/// The blocks of a function, in their order.
pub(crate) struct Flow {
    /// The lines of each: labels and comments first, a branch last.
    pub(crate) blocks: Vec<Range<usize>>,
    /// The successors of each block.
    pub(crate) next: Vec<Vec<usize>>,
    /// The predecessors of each block.
    pub(crate) before: Vec<Vec<usize>>,
    labels: HashMap<String, usize>,
}

impl Flow {
    pub(crate) fn of(lines: &[Line]) -> Self {
        let mut blocks = Vec::new();
        let mut labels = HashMap::new();
        let mut tables: HashMap<&str, &[String]> = HashMap::new();
        let (mut begin, mut has_code) = (0, false);
        for (at, line) in lines.iter().enumerate() {
            match line {
                Line::Label(label) => {
                    if has_code {
                        blocks.push(begin..at);
                        (begin, has_code) = (at, false);
                    }
                    labels.insert(label.clone(), blocks.len());
                }
                Line::Table(name, targets) => {
                    tables.insert(name, targets);
                }
                Line::Instruction(instruction) if instruction.ends_block() => {
                    blocks.push(begin..at + 1);
                    (begin, has_code) = (at + 1, false);
                }
                _ => has_code |= line.is_code(),
            }
        }
        blocks.push(begin..lines.len());
        let mut next = vec![Vec::new(); blocks.len()];
        let mut before = vec![Vec::new(); blocks.len()];
        for (block, of_block) in blocks.iter().enumerate() {
            let last = of_block
                .clone()
                .next_back()
                .and_then(|at| lines[at].instruction());
            let last = last.filter(|last| last.ends_block());
            let table = last.and_then(|last| tables.get(last.operands.get(1)?.as_str()));
            let targets = table.into_iter().copied().flatten().map(String::as_str);
            let targets = targets.chain(last.and_then(|last| last.target()));
            let falls = (!last.is_some_and(Instruction::ends)).then_some(block + 1);
            let all = falls
                .into_iter()
                .chain(targets.filter_map(|target| labels.get(target).copied()));
            for to in all.filter(|to| *to < blocks.len()) {
                if !next[block].contains(&to) {
                    next[block].push(to);
                    before[to].push(block);
                }
            }
        }
        Self {
            blocks,
            next,
            before,
            labels,
        }
    }

    /// The block of a label.
    pub(crate) fn block_of(&self, label: &str) -> Option<usize> {
        self.labels.get(label).copied()
    }
}

/// Which registers are live.
pub(crate) struct Liveness {
    /// The registers that some block reads from another one.
    numbers: HashMap<String, usize>,
    /// By block: the registers that are live at its beginning.
    begin: Vec<Vec<u64>>,
}

impl Liveness {
    pub(crate) fn of(lines: &[Line], flow: &Flow) -> Self {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut reads = Vec::new();
        let mut writes = Vec::new();
        for block in &flow.blocks {
            let mut written: HashSet<&str> = HashSet::new();
            let mut read: Vec<usize> = Vec::new();
            for instruction in lines[block.clone()].iter().filter_map(Line::instruction) {
                for register in instruction
                    .read()
                    .filter(|register| !written.contains(register))
                {
                    let count = numbers.len();
                    let number = match numbers.get(register) {
                        Some(number) => *number,
                        None => *numbers.entry(register.to_owned()).or_insert(count),
                    };
                    read.push(number);
                }
                written.extend(instruction.written());
            }
            reads.push(read);
            writes.push(written);
        }
        let words = numbers.len().div_ceil(64);
        let row = |numbers: &mut dyn Iterator<Item = usize>| {
            let mut row = vec![0_u64; words];
            for number in numbers {
                row[number / 64] |= 1 << (number % 64);
            }
            row
        };
        let mut begin: Vec<Vec<u64>> = reads
            .iter()
            .map(|read| row(&mut read.iter().copied()))
            .collect();
        let kept: Vec<Vec<u64>> = writes
            .iter()
            .map(|written| {
                row(&mut written
                    .iter()
                    .filter_map(|register| numbers.get(*register).copied()))
            })
            .collect();
        let mut waiting: Vec<usize> = (0..flow.blocks.len()).collect();
        let mut waits = vec![true; flow.blocks.len()];
        while let Some(block) = waiting.pop() {
            waits[block] = false;
            let mut row = begin[block].clone();
            for next in &flow.next[block] {
                for ((row, next), kept) in row.iter_mut().zip(&begin[*next]).zip(&kept[block]) {
                    *row |= next & !kept;
                }
            }
            if row != begin[block] {
                begin[block] = row;
                for &before in &flow.before[block] {
                    if !std::mem::replace(&mut waits[before], true) {
                        waiting.push(before);
                    }
                }
            }
        }
        Self { numbers, begin }
    }

    /// Whether a register is live at the beginning of a block.
    pub(crate) fn is_read_from(&self, block: usize, register: &str) -> bool {
        let number = self.numbers.get(register);
        number.is_some_and(|number| self.begin[block][number / 64] >> (number % 64) & 1 != 0)
    }
}
