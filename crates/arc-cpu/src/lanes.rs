//! Loops whose bodies are scalar, run for many elements at a time.
//!
//! A step of a loop's body takes a few nanoseconds to get to and less than one to do. Where the body
//! is arithmetic on integers, pairs and cells, [`build`] makes a second version of the loop: each
//! component of each value is a *column* of up to [`LANES`] numbers, one an element, and a step works
//! on columns ([`ops`]). Taking a pair apart or putting one together costs nothing then, steps that
//! are the same for all elements run once, and a loop inside, over elements that are the same for
//! all, goes through them once for all lanes ([`loops`]). This is how columnar databases evaluate
//! expressions (Boncz, Zukowski, Nes: "MonetDB/X100: Hyper-Pipelining Query Execution", CIDR 2005).
//!
//! Elements of later lanes are evaluated before those of earlier ones are through, so lanes cannot
//! tell which element fails first: whatever fails in them, the loop is run again element by element
//! ([`Machine::begin_lanes`]).

use super::bail_out::BailOut;
use super::elements::Cursor;
use super::kernel::Run;
use super::machine::Machine;
use super::memory::Mark;
use super::program::{At, Code, Region};
use super::slot::Slot;
use arc_form::Type;

pub(super) mod build;
pub(super) mod loops;
pub(super) mod ops;

/// How many elements go side by side.
pub(crate) const LANES: usize = 64;

/// How many elements pay for the way into the lanes.
const ENOUGH: usize = 4;

/// Numbers of the lanes, in the portions of wide vectors.
type Column = [[i32; 8]; LANES / 8];

/// What lies in the lanes of the loop that runs by lanes.
#[derive(Debug)]
pub(crate) struct Lanes {
    columns: Vec<Column>,
    /// The elements of the block.
    elements: Box<[Slot; LANES]>,
    /// How many there are. The portion of the last one is filled up with copies of the first.
    count: usize,
}

impl Lanes {
    pub(super) fn new() -> Self {
        Self {
            columns: Vec::new(),
            elements: Box::new([Slot::default(); LANES]),
            count: 0,
        }
    }

    /// Makes room for the columns of a program.
    pub(super) fn reserve(&mut self, columns: u32) {
        if self.columns.len() < columns as usize {
            let none = [[0; 8]; LANES / 8];
            self.columns.resize(columns as usize, none);
        }
    }

    /// The elements of the block.
    #[inline(always)]
    fn elements(&self) -> &[Slot] {
        &self.elements[..self.count]
    }

    /// The numbers of a column, one a lane.
    #[inline(always)]
    fn column(&self, at: At) -> &[i32] {
        &self.columns[usize::from(at)].as_flattened()[..self.count]
    }

    /// The lanes in which a column is not 0, as bits.
    #[inline(always)]
    fn holds(&self, at: At) -> u64 {
        let mut all = 0;
        let portions = &self.columns[usize::from(at)][..self.portions()];
        for (p, portion) in portions.iter().enumerate() {
            let mut bits = 0;
            for (k, &n) in portion.iter().enumerate() {
                bits |= u8::from(n != 0) << k;
            }
            all |= u64::from(bits) << (8 * p);
        }
        // Behind the last element are copies of the first.
        all & (u64::MAX >> (LANES - self.count))
    }

    /// How many portions are in use.
    #[inline(always)]
    fn portions(&self) -> usize {
        self.count.div_ceil(8)
    }
}

/// A number in a value that has one or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// An integer or a truth value itself.
    Int,
    /// The row of a pair.
    Row,
    /// The column of a pair.
    Column,
    /// The colour of a cell.
    Colour,
    /// The row of a cell.
    CellRow,
    /// The column of a cell.
    CellColumn,
}

impl Part {
    /// The parts of an integer, of a pair and of a cell.
    const INT: [Part; 1] = [Part::Int];
    const PAIR: [Part; 2] = [Part::Row, Part::Column];
    const CELL: [Part; 3] = [Part::Colour, Part::CellRow, Part::CellColumn];

    /// All of them, by their numbers.
    const ALL: [Part; 6] = [
        Part::Int,
        Part::Row,
        Part::Column,
        Part::Colour,
        Part::CellRow,
        Part::CellColumn,
    ];

    /// The part of the value in a slot.
    #[inline(always)]
    fn of(self, slot: Slot) -> i32 {
        match self {
            Part::Int => slot.int(),
            Part::Row => slot.loc().i,
            Part::Column => slot.loc().j,
            Part::Colour => slot.cell().colour,
            Part::CellRow => slot.cell().loc.i,
            Part::CellColumn => slot.cell().loc.j,
        }
    }
}

/// A column that is filled from the elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// The item, where the elements are tuples.
    item: Option<u8>,
    part: Part,
    to: At,
}

/// The columns of what a body gives.
#[derive(Clone, Copy, Debug)]
enum Gives {
    Int([At; 1]),
    Pair([At; 2]),
    Cell([At; 3]),
}

/// A loop as it runs by lanes.
#[derive(Clone, Debug)]
pub(crate) struct LaneLoop {
    /// The kernel that runs it element by element.
    scalar: Run,
    /// The steps that are the same for all elements; its parameter, where it has one, is the
    /// element of the outer container of a product.
    same: Region,
    /// The steps on columns.
    lanes: Region,
    leaves: Vec<Leaf>,
    gives: Gives,
}

impl LaneLoop {
    /// Whether its body gives values of this type.
    pub(super) fn gives(&self, ty: &Type) -> bool {
        match self.gives {
            Gives::Int(_) => matches!(ty, Type::Int | Type::Bool),
            Gives::Pair(_) => *ty == Type::Pair,
            Gives::Cell(_) => *ty == Type::Cell,
        }
    }
}

/// How a machine was before a loop went by lanes.
#[derive(Debug)]
struct Before {
    fuel: u64,
    memory: Mark,
    stack: usize,
    keys: usize,
}

// Functions rather than closures: what a closure does is not compiled for wide vectors.
impl Machine {
    /// What to go back to should a loop over so many elements fail by lanes; nothing where they are
    /// too few to begin.
    #[inline(always)]
    fn begin_lanes(&self, elements: usize) -> Option<Before> {
        (elements >= ENOUGH).then(|| Before {
            fuel: self.fuel,
            memory: self.memory.mark(),
            stack: self.stack.len(),
            keys: self.keys.len(),
        })
    }

    /// Does as if the loop had never begun.
    #[cold]
    fn undo_lanes(&mut self, before: &Before) {
        self.fuel = before.fuel;
        self.failed = None;
        self.memory.release(before.memory);
        self.stack.truncate(before.stack);
        self.keys.truncate(before.keys);
    }

    /// Runs steps on columns. Eight lanes take about as long as one step of a scalar loop, and count
    /// as one.
    #[inline(always)]
    fn run_lanes(&mut self, code: &Code, region: &Region) -> Result<(), BailOut> {
        let steps = &code.steps[region.start as usize..region.end as usize];
        self.spend(steps.len() * self.lanes.portions())?;
        for step in steps {
            step.run.call(self, code, step)?;
        }
        Ok(())
    }

    /// Runs the body for the next elements, as many as there are lanes; false where there is none.
    #[inline(always)]
    fn next_block(
        &mut self,
        code: &Code,
        this: &LaneLoop,
        elements: &mut Cursor,
    ) -> Result<bool, BailOut> {
        let count = elements.fill(&mut self.memory, &mut self.lanes.elements[..])?;
        if count == 0 {
            return Ok(false);
        }
        self.load_lanes(this, count);
        self.run_lanes(code, &this.lanes)?;
        Ok(true)
    }

    /// Fills the columns that the body reads from so many elements.
    #[inline(always)]
    fn load_lanes(&mut self, this: &LaneLoop, count: usize) {
        self.lanes.count = count;
        let Lanes {
            columns, elements, ..
        } = &mut self.lanes;
        let filled = count.next_multiple_of(8);
        let first = elements[0];
        elements[count..filled].fill(first);
        for leaf in &this.leaves {
            let to = columns[usize::from(leaf.to)].as_flattened_mut();
            let lanes = to.iter_mut().zip(&elements[..filled]);
            match (leaf.item, leaf.part) {
                (None, Part::Int) => lanes.for_each(|(to, slot)| *to = slot.int()),
                (None, Part::Row) => lanes.for_each(|(to, slot)| *to = slot.loc().i),
                (None, Part::Column) => lanes.for_each(|(to, slot)| *to = slot.loc().j),
                (None, part) => lanes.for_each(|(to, slot)| *to = part.of(*slot)),
                (Some(item), part) => lanes.for_each(|(to, slot)| {
                    let (start, _) = slot.list();
                    *to = part.of(self.memory.lists.at(start + usize::from(item)));
                }),
            }
        }
    }
}

#[cfg(test)]
mod tests;
