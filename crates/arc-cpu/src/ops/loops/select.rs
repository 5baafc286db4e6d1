//! Selects the loop of a primitive by the types of its containers.

use smallvec::{SmallVec, smallvec};

use super::{
    APPLY, APPLY_PAIRS, APPLY_PRODUCT, ARGMAX, ARGMIN, EXTRACT, FILTER_INDICES, FILTER_LIST,
    FILTER_MERGE, FILTER_OBJECT, GATHER, ORDER, VALMAX, VALMIN,
};
use crate::ops::basics;
use crate::ops::endings::Finish;
use crate::program::Kernel;
use arc_dsl::Primitive;
use arc_form::Type;

/// The types of a loop's containers, one or two.
pub(crate) type Containers = SmallVec<[Type; 2]>;

/// The loop of an instruction.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) kernel: &'static Kernel,
    /// The type that each container is converted to.
    pub(crate) containers: Containers,
    /// The type that the region's result is converted to, if that matters.
    pub(crate) result: Option<Type>,
    pub(crate) finish: Option<Finish>,
    /// The type of the second container, or of the keys.
    pub(crate) second: Option<Type>,
    /// The type of its result, if it is not the instruction's.
    pub(crate) gives: Option<Type>,
    /// The type of the parts, if its result is a patch in parts.
    pub(crate) layers: Option<Type>,
}

impl Loop {
    /// A loop of this kernel, with the result of the instruction and no other settings.
    fn plain(kernel: &'static Kernel) -> Self {
        Self {
            kernel,
            containers: Containers::new(),
            result: None,
            finish: None,
            second: None,
            gives: None,
            layers: None,
        }
    }
}

/// The type in which a loop iterates over a container: one that a cursor supports, or a list.
fn traversed(ty: &Type) -> Option<Type> {
    Some(match ty {
        Type::Indices | Type::Object | Type::Grid | Type::Set(_) | Type::Tuple(_) => ty.clone(),
        _ => Type::tuple_of(ty.element()?),
    })
}

/// How results of one type become a container of another: the type that each is converted to, and the ending
/// that builds the container.
fn collected(result: &Type) -> Option<(Type, Finish)> {
    Some(match result {
        Type::Pair => (Type::Int, Finish::Pair),
        Type::Indices => (Type::Pair, Finish::Indices),
        Type::Object => (Type::Cell, Finish::Object),
        Type::Set(element) => ((**element).clone(), Finish::Set((**element).clone())),
        Type::Tuple(element) => ((**element).clone(), Finish::List),
        Type::Fixed(_) => (result.element()?, Finish::List),
        _ => return None,
    })
}

/// The same for results that are containers, whose elements become one container.
fn merged(inner: &Type, result: &Type, clipped: bool) -> Option<(Type, Finish)> {
    Some(match result {
        Type::Indices | Type::Object | Type::Patch => {
            let finish = if clipped {
                Finish::ClippedUnion
            } else {
                Finish::Union
            };
            (result.clone(), finish)
        }
        Type::Grid => (Type::Grid, Finish::Stack),
        Type::Tuple(element) | Type::Set(element) => {
            let same = inner.element().is_some_and(|inner| inner == **element);
            let inner = match inner {
                Type::Indices | Type::Object | Type::Set(_) | Type::Tuple(_) | Type::Grid
                    if same =>
                {
                    inner.clone()
                }
                _ => Type::tuple_of((**element).clone()),
            };
            let finish = match result {
                Type::Tuple(_) => Finish::Concat(inner.clone()),
                _ => Finish::ConcatSet(inner.clone(), (**element).clone()),
            };
            (inner, finish)
        }
        _ => return None,
    })
}

/// The loop of a primitive for containers of these types, a region with results of type `body`, and a result of
/// type `result`.
pub(crate) fn select(
    primitive: Primitive,
    containers: &[Type],
    body: &Type,
    result: &Type,
    clipped: bool,
) -> Option<Loop> {
    use Primitive as P;
    let types: Option<Containers> = containers.iter().map(traversed).collect();
    let types = types?;
    let one = &types[0];
    let finished = |kernel, (to, finish): (Type, Finish)| Loop {
        result: Some(to),
        finish: Some(finish),
        second: types.get(1).cloned(),
        ..Loop::plain(kernel)
    };
    let plain = Loop::plain;
    let truth = matches!(body, Type::Bool | Type::Int);
    let chosen = match primitive {
        P::Apply => finished(&APPLY, collected(result)?),
        P::Mapply => finished(&APPLY, merged(body, result, clipped)?),
        P::Papply => finished(&APPLY_PAIRS, collected(result)?),
        P::Mpapply => finished(&APPLY_PAIRS, merged(body, result, clipped)?),
        P::Prapply => finished(&APPLY_PRODUCT, collected(result)?),
        P::Sfilter if truth => match one {
            Type::Indices => plain(&FILTER_INDICES),
            Type::Object => plain(&FILTER_OBJECT),
            Type::Grid => Loop {
                gives: Some(Type::tuple_of(Type::tuple_of(Type::Int))),
                ..plain(&FILTER_LIST)
            },
            _ => Loop {
                gives: Some(one.clone()),
                ..plain(&FILTER_LIST)
            },
        },
        P::Mfilter if truth => {
            let inner = one.element()?;
            let (to, finish) = merged(&inner, result, clipped)?;
            if to != inner {
                return None;
            }
            Loop {
                finish: Some(finish),
                ..plain(&FILTER_MERGE)
            }
        }
        P::Extract if truth => Loop {
            gives: Some(one.element()?),
            ..plain(&EXTRACT)
        },
        P::Order => Loop {
            gives: Some(Type::tuple_of(one.element()?)),
            second: Some(body.clone()),
            ..plain(&ORDER)
        },
        P::Argmax | P::Argmin => Loop {
            gives: Some(one.element()?),
            second: Some(body.clone()),
            ..plain(if primitive == P::Argmax {
                &ARGMAX
            } else {
                &ARGMIN
            })
        },
        P::Valmax | P::Valmin => Loop {
            result: Some(result.clone()),
            second: Some(result.clone()),
            ..plain(if primitive == P::Valmax {
                &VALMAX
            } else {
                &VALMIN
            })
        },
        _ => return None,
    };
    Some(Loop {
        containers: types,
        ..chosen
    })
}

/// The loop of a primitive that merges patches which are only painted: its result is the parts, of type
/// `layers`.
pub(crate) fn select_layers(
    primitive: Primitive,
    containers: &[Type],
    body: &Type,
    layers: &Type,
) -> Option<Loop> {
    use Primitive as P;
    let types: Option<Containers> = containers.iter().map(traversed).collect();
    let types = types?;
    let kernel = match primitive {
        P::Mapply => &APPLY,
        P::Mpapply => &APPLY_PAIRS,
        P::Mfilter if matches!(body, Type::Bool | Type::Int) => &FILTER_LIST,
        _ => return None,
    };
    Some(Loop {
        finish: Some(Finish::List),
        second: types.get(1).cloned(),
        containers: types,
        layers: Some(layers.clone()),
        ..Loop::plain(kernel)
    })
}

/// The same for `merge`, which only converts its container to the list of parts.
pub(crate) fn select_merged_layers(container: &Type, layers: &Type) -> Option<Loop> {
    Some(Loop {
        containers: smallvec![traversed(container)?],
        layers: Some(layers.clone()),
        ..Loop::plain(&basics::COPY)
    })
}

/// `merge`, as a loop without a region.
pub(crate) fn select_merge(container: &Type, result: &Type, clipped: bool) -> Option<Loop> {
    let one = traversed(container)?;
    let (to, finish) = merged(&one.element()?, result, clipped)?;
    let container = match one.container()? {
        arc_dsl::ContainerKind::Set if to == one.element()? => one,
        _ => Type::tuple_of(to),
    };
    Some(Loop {
        containers: smallvec![container],
        finish: Some(finish),
        ..Loop::plain(&GATHER)
    })
}
