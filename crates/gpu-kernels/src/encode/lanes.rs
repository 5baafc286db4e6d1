//! Loops whose bodies are scalar, made for as many elements at once as a warp has lanes.
//!
//! A round takes a *column* of elements, and an operation of a column is made by lanes
//! ([`lane_operations`](crate::lane_operations)); what does not depend on the element is made once a
//! round. Whether all of a body goes so is known once it is encoded: where it does not, what was emitted
//! is taken back, and the loop goes element by element.
//!
//! Elements are looked at that a loop one by one would not come to: those behind the one that `extract`
//! finds, and of containers side by side the others of a longer one. Where one of these fails the
//! evaluation bails out, though the reference gives a value, which the host then makes.

use arc_form::Region;

use super::control::{Loop, Source};
use super::shapes::Shape;
use super::{Encoder, HostOnly, SymbolicValue};
use crate::interface::Representation;
use crate::list_operations::ListOperation;
use crate::program::ValueId;

/// The head of a loop by lanes, and what is at hand in a round.
struct Block {
    one: Loop,
    /// The elements, as they lie in their lists: a column each.
    columns: Vec<ValueId>,
    /// What they are.
    items: Vec<SymbolicValue>,
}

/// A column or a body that is none for lanes: the loop goes element by element.
const NOT_BY_LANES: HostOnly = HostOnly::Step("a loop by lanes");

impl Shape {
    /// Whether a word holds it.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self, Shape::Int | Shape::Pair | Shape::Cell)
    }

    /// Whether it is made of scalars that lanes can load.
    fn can_be_columns(&self) -> bool {
        match self {
            Shape::Tuple(items) => items.iter().all(Shape::can_be_columns),
            other => other.is_scalar(),
        }
    }
}

impl Encoder {
    /// A loop by lanes; `None` if it does not go so.
    fn by_lanes<T>(
        &mut self,
        region: &Region,
        sources: &[Source],
        make: impl FnOnce(&mut Self) -> Result<T, HostOnly>,
    ) -> Option<T> {
        let all_scalar = sources.iter().all(|one| one.element.can_be_columns());
        if !all_scalar
            || region
                .instructions
                .iter()
                .any(|one| !one.regions.is_empty())
        {
            return None;
        }
        let (before, frontiers) = (self.builder.progress(), self.frontiers.len());
        let wanted = (self.clipped, self.listed, self.painted, self.line);
        let made = make(self)
            .ok()
            .filter(|_| !self.builder.has_misused_column());
        if made.is_none() {
            self.builder.go_back(&before);
            self.frontiers.truncate(frontiers);
            (self.clipped, self.listed, self.painted, self.line) = wanted;
        }
        made
    }

    fn blocks(&mut self, sources: &[Source]) -> Result<Block, HostOnly> {
        let (one, rounds) = self.begin_loops(sources.len())?;
        let mut columns = Vec::new();
        for (source, round) in sources.iter().zip(rounds) {
            columns.push(self.builder.next_block(source.list, round, one.end));
        }
        let items = columns.iter().zip(sources);
        let items: Result<_, _> = items
            .map(|(column, source)| self.loaded(*column, &source.element))
            .collect();
        Ok(Block {
            one,
            columns,
            items: items?,
        })
    }

    /// The column of a scalar that a body gives.
    fn column(&mut self, held: &SymbolicValue, shape: &Shape) -> Result<ValueId, HostOnly> {
        let word = self.word(held, shape)?;
        let is_column = self.builder.representation(word) == Representation::Column;
        if is_column {
            Ok(word)
        } else {
            Err(NOT_BY_LANES)
        }
    }

    /// Puts what a region gives for each element into a list; in which shape it is.
    pub(super) fn collected_by_lanes(
        &mut self,
        region: &Region,
        sources: &[Source],
        further: &[SymbolicValue],
        made: ValueId,
        shape: Option<&Shape>,
    ) -> Option<Shape> {
        if shape.is_some_and(|shape| !shape.is_scalar()) {
            return None;
        }
        self.by_lanes(region, sources, |this| {
            let block = this.blocks(sources)?;
            let ([first, ..], [.., last]) = (&block.columns[..], &block.columns[..]) else {
                return Err(NOT_BY_LANES);
            };
            let items = [&block.items[..], further].concat();
            let held = this.region(region, items)?;
            let shape = match shape {
                Some(shape) => shape.clone(),
                None => Self::shape_of(&held)?,
            };
            if !shape.is_scalar() || block.columns.len() > 2 {
                return Err(NOT_BY_LANES);
            }
            let column = this.column(&held, &shape)?;
            this.push_of(ListOperation::PushColumn, made, &[column, *first, *last]);
            this.end_loop(&block.one);
            Ok(shape)
        })
    }

    /// Puts the elements into a list that a region says are kept; false where that does not go by lanes.
    pub(super) fn kept_by_lanes(
        &mut self,
        region: &Region,
        source: &Source,
        made: ValueId,
    ) -> bool {
        let sources = std::slice::from_ref(source);
        let kept = self.by_lanes(region, sources, |this| {
            let block = this.blocks(sources)?;
            let kept = this.region(region, block.items)?;
            let kept = this.column(&kept, &Shape::Int)?;
            this.push_of(ListOperation::PushKept, made, &[block.columns[0], kept]);
            this.end_loop(&block.one);
            Ok(())
        });
        kept.is_some()
    }

    /// The word of the first element for which a region gives what is true.
    pub(super) fn found_by_lanes(&mut self, region: &Region, source: &Source) -> Option<ValueId> {
        let sources = std::slice::from_ref(source);
        self.by_lanes(region, sources, |this| {
            let found = this.builder.declare(Representation::Word);
            let block = this.blocks(sources)?;
            let out = this.builder.label();
            let is_it = this.region(region, block.items)?;
            let operands = [block.columns[0], this.column(&is_it, &Shape::Int)?];
            let any = this.plain(ListOperation::AnyKept, &operands);
            this.builder.jump(Some(any), block.one.head);
            let first = this.plain(ListOperation::FirstKept, &operands);
            this.copy(found, Representation::Word, first)?;
            this.builder.jump(None, out);
            this.end_loop(&block.one);
            this.plain(ListOperation::Fail, &[]);
            this.builder.place(out);
            Ok(found)
        })
    }
}
