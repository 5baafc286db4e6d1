//! Functions that nothing has called yet, and containers with nothing to call them with.

use arc_isa::Primitive;

use super::{Refusal, Taken, empty_like, is_empty};
use crate::primitives::functions;
use crate::value::Value;

pub(super) fn take(primitive: Primitive, arguments: &[&Value]) -> Taken {
    use Primitive as P;
    match (primitive, arguments) {
        (P::Compose, &[outer, inner]) => Ok(functions::compose(outer, inner)),
        (P::Chain, &[h, g, f]) => Ok(functions::chain(h, g, f)),
        (P::Fork, &[outer, a, b]) => Ok(functions::fork(outer, a, b)),
        (P::Matcher, &[function, target]) => Ok(functions::matcher(function, target)),
        (P::Power, &[function, n]) => match n.as_int() {
            Some(n) => Ok(functions::power(function, n)?),
            None => Err(Refusal::Raises),
        },
        (P::Apply | P::Mapply, &[_, container]) | (P::Sfilter | P::Mfilter, &[container, _])
            if is_empty(container) =>
        {
            empty_like(container)
        }
        (P::Order, &[container, _]) if is_empty(container) => Ok(Value::tuple(Vec::new())),
        (P::Papply | P::Mpapply, &[_, a, b]) if either_is_empty(a, b) => {
            Ok(Value::tuple(Vec::new()))
        }
        (P::Prapply, &[_, a, b]) if no_pairs(a, b) => Ok(Value::empty_set()),
        _ => Err(Refusal::Raises),
    }
}

/// Whether nothing of `a` is gone through with an element of `b`. Where `b` has none, `a` may be
/// anything.
pub(super) fn no_pairs(a: &Value, b: &Value) -> bool {
    is_empty(b) || either_is_empty(a, b)
}

/// Whether both are containers and one has nothing in it.
fn either_is_empty(a: &Value, b: &Value) -> bool {
    (is_empty(a) && b.as_container().is_some()) || (is_empty(b) && a.as_container().is_some())
}
