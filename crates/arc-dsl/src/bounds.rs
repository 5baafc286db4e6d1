//! Checks the results of primitives against the [`Limits`](crate::Limits) of the evaluation.

use crate::budget::Context;
use crate::error::{ErrorKind, EvalResult, Limit};
use crate::grid::Grid;
use crate::patch::{Indices, Loc, Object};
use crate::value::{CONTAINER_WEIGHT, MAX_INT, Value};

impl Context<'_> {
    /// Checks the result of a primitive against the limits and charges for it.
    #[inline]
    pub(crate) fn check(&mut self, value: &impl Bounded) -> EvalResult<()> {
        value.within(self)
    }

    /// Checks a value that did not come from a primitive against the limits and charges for it.
    pub fn check_value(&mut self, value: &Value) -> Result<(), ErrorKind> {
        self.check(value)
    }

    /// Checks a container or function of this weight, without what is kept to find orders.
    fn check_weight(&mut self, weight: usize) -> EvalResult<()> {
        if weight as u64
            > self
                .limits
                .max_elements
                .saturating_add(CONTAINER_WEIGHT.into())
        {
            return Err(Limit::Elements.into());
        }
        self.work(weight as u64)
    }
}

/// A result of a primitive that is checked against the [`Limits`](crate::Limits) of the evaluation.
pub(crate) trait Bounded {
    /// Fails if it exceeds a limit.
    fn within(&self, cx: &mut Context<'_>) -> EvalResult<()>;
}

impl Bounded for bool {
    #[inline]
    fn within(&self, _: &mut Context<'_>) -> EvalResult<()> {
        Ok(())
    }
}

impl Bounded for i32 {
    #[inline]
    fn within(&self, _: &mut Context<'_>) -> EvalResult<()> {
        if self.unsigned_abs() > MAX_INT as u32 {
            return Err(out_of_range());
        }
        Ok(())
    }
}

/// A separate function, so that the check of an integer is a single branch that is almost never taken.
#[cold]
fn out_of_range() -> ErrorKind {
    Limit::Integer.into()
}

impl Bounded for Loc {
    #[inline]
    fn within(&self, cx: &mut Context<'_>) -> EvalResult<()> {
        self.i.within(cx)?;
        self.j.within(cx)
    }
}

impl Bounded for Grid {
    fn within(&self, cx: &mut Context<'_>) -> EvalResult<()> {
        if self.cells().len() as u64 > cx.limits.max_cells {
            return Err(Limit::Cells.into());
        }
        cx.work(self.cells().len() as u64)
    }
}

impl Bounded for Indices {
    fn within(&self, cx: &mut Context<'_>) -> EvalResult<()> {
        cx.check_weight(self.len())
    }
}

impl Bounded for Object {
    fn within(&self, cx: &mut Context<'_>) -> EvalResult<()> {
        cx.check_weight(self.len())
    }
}

impl Bounded for Value {
    #[inline]
    fn within(&self, cx: &mut Context<'_>) -> EvalResult<()> {
        match self {
            Value::Nothing | Value::Bool(_) | Value::Primitive(_) | Value::Foreign(_) => Ok(()),
            Value::Int(n) => n.within(cx),
            Value::Loc(loc) => loc.within(cx),
            _ => within_limits(self, cx),
        }
    }
}

/// A separate function, so that the check of numbers and pairs is inlined.
fn within_limits(value: &Value, cx: &mut Context<'_>) -> EvalResult<()> {
    match value {
        Value::Cell(cell) => {
            cell.colour.within(cx)?;
            cell.loc.within(cx)
        }
        Value::Grid(grid) => grid.within(cx),
        Value::Indices(indices) => indices.within(cx),
        Value::Object(object) => object.within(cx),
        _ => {
            if value.depth() > cx.limits.max_nesting {
                return Err(Limit::Nesting.into());
            }
            cx.check_weight(value.own_weight() as usize)
        }
    }
}
