//! Vectorises loops with scalar bodies: each round processes one element per lane of the warp.
//!
//! A round takes a *column* of elements, and operations on a column run by lanes
//! ([`lane_operations`](crate::lane_operations)); steps that do not depend on the element run once per
//! round. Whether the whole body can run by lanes is known only once it is encoded: if not, the emitted instructions
//! are rolled back, and the loop runs element by element.
//!
//! A round may process elements that a loop one by one would not reach: those after the one that `extract`
//! finds, and the rest of the longer of two containers in parallel. If the body fails on one of these, the
//! evaluation bails out although the reference returns a value; the host then runs it.

use arc_form::Region;

use super::control::Source;
use super::shapes::Shape;
use super::{Encoder, HostOnly, SymbolicValue};
use crate::interface::Representation;
use crate::list_operations::ListOperation;
use crate::program::ValueId;

/// Not an error to report: the loop is encoded element by element instead.
const NOT_BY_LANES: HostOnly = HostOnly::Step("a loop by lanes");

impl Shape {
    /// Whether a word holds it.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self, Shape::Int | Shape::Pair | Shape::Cell)
    }

    /// Whether it consists of scalars, which lanes can load.
    fn can_be_columns(&self) -> bool {
        match self {
            Shape::Tuple(items) => items.iter().all(Shape::can_be_columns),
            other => other.is_scalar(),
        }
    }
}

impl Encoder {
    /// Encodes a loop by lanes; `None`, with nothing emitted, if that is not possible.
    fn by_lanes<T>(
        &mut self,
        region: &Region,
        sources: &[Source],
        encode: impl FnOnce(&mut Self) -> Result<T, HostOnly>,
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
        let (before, frontiers) = (self.builder.checkpoint(), self.frontiers.len());
        let flags = (self.clipped, self.listed, self.line);
        let encoded = encode(self)
            .ok()
            .filter(|_| !self.builder.has_misused_column());
        if encoded.is_none() {
            self.builder.roll_back(&before);
            self.frontiers.truncate(frontiers);
            (self.clipped, self.listed, self.line) = flags;
        }
        encoded
    }

    /// The result of a body as a column.
    fn column(&mut self, held: &SymbolicValue, shape: &Shape) -> Result<ValueId, HostOnly> {
        let word = self.word(held, shape)?;
        let is_column = self.builder.representation(word) == Representation::Column;
        if is_column {
            Ok(word)
        } else {
            Err(NOT_BY_LANES)
        }
    }

    /// Appends a region's result for each element to a list; returns its shape.
    pub(super) fn collected_by_lanes(
        &mut self,
        region: &Region,
        sources: &[Source],
        further: &[SymbolicValue],
        to: ValueId,
        shape: Option<&Shape>,
    ) -> Option<Shape> {
        if shape.is_some_and(|shape| !shape.is_scalar()) {
            return None;
        }
        self.by_lanes(region, sources, |this| {
            let (one, columns, items) = this.begin_round(sources, true)?;
            let ([first, ..], [.., last]) = (&columns[..], &columns[..]) else {
                return Err(NOT_BY_LANES);
            };
            let items = [&items[..], further].concat();
            let held = this.region(region, items)?;
            let shape = match shape {
                Some(shape) => shape.clone(),
                None => Self::shape_of(&held)?,
            };
            if !shape.is_scalar() || columns.len() > 2 {
                return Err(NOT_BY_LANES);
            }
            let column = this.column(&held, &shape)?;
            this.push_of(ListOperation::PushColumn, to, &[column, *first, *last]);
            this.end_loop(&one);
            Ok(shape)
        })
    }

    /// Appends the elements for which a region is true to a list; false if that cannot be encoded by lanes.
    pub(super) fn kept_by_lanes(&mut self, region: &Region, source: &Source, to: ValueId) -> bool {
        let sources = std::slice::from_ref(source);
        let kept = self.by_lanes(region, sources, |this| {
            let (one, columns, items) = this.begin_round(sources, true)?;
            let kept = this.region(region, items)?;
            let kept = this.column(&kept, &Shape::Int)?;
            this.push_of(ListOperation::PushKept, to, &[columns[0], kept]);
            this.end_loop(&one);
            Ok(())
        });
        kept.is_some()
    }

    /// The word of the first element for which a region is true; `None` if that cannot be encoded by lanes.
    pub(super) fn found_by_lanes(&mut self, region: &Region, source: &Source) -> Option<ValueId> {
        let sources = std::slice::from_ref(source);
        self.by_lanes(region, sources, |this| {
            let found = this.builder.declare(Representation::Word);
            let (one, columns, items) = this.begin_round(sources, true)?;
            let out = this.builder.label();
            let is_it = this.region(region, items)?;
            let operands = [columns[0], this.column(&is_it, &Shape::Int)?];
            let any = this.plain(ListOperation::AnyKept, &operands);
            this.builder.jump(Some(any), one.head);
            let first = this.plain(ListOperation::FirstKept, &operands);
            this.copy(found, Representation::Word, first)?;
            this.builder.jump(None, out);
            this.end_loop(&one);
            this.plain(ListOperation::Fail, &[]);
            this.builder.place(out);
            Ok(found)
        })
    }
}
