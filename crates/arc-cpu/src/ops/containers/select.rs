//! Selects the kernel of a container primitive by the types of its arguments.

#[allow(clippy::wildcard_imports, reason = "all kernels of the family")]
use super::*;
use crate::ops::basics;
use crate::order::is_scalar;
use crate::selection::{Constraint, Immediate, ResultType, Selection};
use arc_dsl::{ContainerKind, Primitive};
use arc_form::Type;

/// The one type in which two values are compared, if there is one.
fn joined(a: &Type, b: &Type) -> Option<Type> {
    match (a, b) {
        (Type::Bool, Type::Int | Type::MaybeInt) | (Type::Int | Type::MaybeInt, Type::Bool) => {
            Some(Type::MaybeInt)
        }
        _ => a.join(b),
    }
}

/// Whether the types alone tell that values are unequal.
fn unlike(a: &Type, b: &Type) -> bool {
    let class = |ty: &Type| match ty {
        Type::Bool | Type::Int => Some(0),
        Type::Pair | Type::Cell => Some(1),
        Type::Never => None,
        _ if ty.container() == Some(ContainerKind::Set) => Some(2),
        _ => None,
    };
    matches!((class(a), class(b)), (Some(a), Some(b)) if a != b)
}

/// The kernel of a primitive of this family.
pub(in crate::ops) fn select(
    primitive: Primitive,
    arguments: &[Type],
    result: &Type,
    clipped: bool,
) -> Option<Selection> {
    read(primitive, arguments)
        .or_else(|| cut(primitive, arguments, result, clipped))
        .or_else(|| make(primitive, arguments, result))
}

/// Primitives that test containers or take an element.
fn read(primitive: Primitive, arguments: &[Type]) -> Option<Selection> {
    use Constraint as C;
    use Primitive as P;
    let a = &arguments[0];
    let b = arguments.get(1).unwrap_or(a);
    Some(match primitive {
        P::Identity => Selection::new(&basics::COPY, &[C::AsIs]),
        P::Equality if a == b => {
            if is_scalar(a) {
                Selection::new(&EQUAL_SCALARS, &[C::AsIs, C::AsIs])
            } else {
                Selection::new(&EQUALITY, &[C::AsIs, C::AsIs]).with(Immediate::First)
            }
        }
        P::Equality => match joined(a, b) {
            Some(ty) if is_scalar(&ty) => {
                Selection::new(&EQUAL_SCALARS, &[C::Own(0), C::Own(0)]).of([ty])
            }
            Some(ty) => Selection::new(&EQUALITY, &[C::Own(0), C::Own(0)])
                .with(Immediate::Own(0))
                .of([ty]),
            None if unlike(a, b) => Selection::new(&UNEQUAL, &[C::AsIs, C::AsIs]),
            None => return None,
        },
        P::Branch if matches!(a, Type::Bool | Type::Int) => {
            Selection::new(&BRANCH, &[C::AsIs, C::Result, C::Result])
        }
        P::Contained => match b {
            Type::Cell if matches!(a, Type::Int | Type::Bool) => {
                Selection::new(&CONTAINED_IN_CELL, &[C::Int, C::AsIs])
            }
            Type::Indices if matches!(a, Type::Pair | Type::MaybePair) => {
                Selection::new(&CONTAINED_LOC, &[C::Pair, C::Patch])
            }
            _ => {
                let element = joined(a, &b.element()?)?;
                let list = Type::tuple_of(element.clone());
                Selection::new(&CONTAINED, &[C::Own(0), C::Own(1)])
                    .with(Immediate::Own(0))
                    .of([element, list])
            }
        },
        P::Size => match a {
            Type::Indices | Type::Object | Type::Patch => {
                Selection::new(&SIZE_OF_PATCH, &[C::AsIs])
            }
            _ => {
                a.container()?;
                Selection::new(&SIZE, &[C::AsIs]).with(Immediate::First)
            }
        },
        P::First | P::Last => {
            let first = primitive == P::First;
            let pick = |of_first, of_last| if first { of_first } else { of_last };
            match a {
                Type::Pair | Type::MaybePair => {
                    let kernel = pick(&basics::ROW_OF_PAIR, &basics::COLUMN_OF_PAIR);
                    Selection::new(kernel, &[C::Pair])
                }
                Type::Cell => {
                    let kernel = pick(&basics::COLOUR_OF_CELL, &basics::LOC_OF_CELL);
                    Selection::new(kernel, &[C::AsIs])
                }
                Type::Fixed(items) => {
                    let at = if first { 0 } else { items.len() - 1 };
                    Selection::new(&basics::ITEM, &[C::AsIs]).with(Immediate::Number(at as u32))
                }
                Type::Tuple(_) if !first => Selection::new(&LAST_OF_LIST, &[C::AsIs]),
                Type::Grid | Type::Tuple(_) => {
                    Selection::new(pick(&FIRST, &LAST), &[C::AsIs]).with(Immediate::First)
                }
                Type::Indices | Type::Object | Type::Set(_) => {
                    let kernel = pick(&FIRST_OF_SET, &LAST_OF_SET);
                    Selection::new(kernel, &[C::AsIs]).with(Immediate::First)
                }
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// The elements of `a` that are in `b`, or those that are not.
fn part_of(primitive: Primitive, a: &Type, b: &Type, result: &Type) -> Option<Selection> {
    use Constraint as C;
    use Primitive as P;
    let is_patch = |ty: &Type| matches!(ty, Type::Indices | Type::Object | Type::Patch);
    let pick = |common, different| match primitive {
        P::Intersection => common,
        _ => different,
    };
    Some(match (a, b) {
        (Type::Indices, Type::Indices) => {
            let kernel = pick(&INTERSECTION_OF_INDICES, &DIFFERENCE_OF_INDICES);
            Selection::new(kernel, &[C::AsIs, C::AsIs])
        }
        (Type::Object, Type::Object) => {
            let kernel = pick(&INTERSECTION_OF_OBJECTS, &DIFFERENCE_OF_OBJECTS);
            Selection::new(kernel, &[C::AsIs, C::AsIs])
        }
        // A location never equals a cell.
        (Type::Indices, Type::Object) | (Type::Object, Type::Indices) => {
            Selection::new(pick(&basics::ABSENT, &basics::COPY), &[C::AsIs, C::AsIs])
        }
        (Type::Indices | Type::Object | Type::Patch, Type::Set(never))
            if **never == Type::Never =>
        {
            let kernel = pick(&INTERSECTION_OF_INDICES, &DIFFERENCE_OF_INDICES);
            Selection::new(kernel, &[C::AsIs, C::Patch])
        }
        (Type::Set(_) | Type::Tuple(_) | Type::Fixed(_), _) if !is_patch(result) => {
            let (a, b) = (a.element()?, b.element()?);
            // True is in common with 1, and may be that of either.
            let element = match primitive {
                P::Intersection => a.join(&b)?,
                _ => joined(&a, &b)?,
            };
            let list = Type::tuple_of(element.clone());
            let kernel = pick(&INTERSECTION_OF_LISTS, &DIFFERENCE_OF_LISTS);
            let made = container_like(result, &element);
            Selection::new(kernel, &[C::Own(0), C::Own(0)])
                .with(Immediate::Own(1))
                .giving(ResultType::Own(2))
                .of([list, element, made])
        }
        _ => return None,
    })
}

/// Primitives that join containers or drop elements.
fn cut(
    primitive: Primitive,
    arguments: &[Type],
    result: &Type,
    clipped: bool,
) -> Option<Selection> {
    use Constraint as C;
    use Primitive as P;
    let a = &arguments[0];
    let b = arguments.get(1).unwrap_or(a);
    Some(match primitive {
        P::Combine => match result {
            Type::Indices | Type::Object | Type::Patch => {
                let kernel = if clipped {
                    &COMBINE_CLIPPED
                } else {
                    &COMBINE_PATCHES
                };
                Selection::new(kernel, &[C::Result, C::Result])
            }
            Type::Set(element) => Selection::new(&COMBINE_SETS, &[C::Own(0), C::Own(0)])
                .with(Immediate::Own(1))
                .of([as_list(result), (**element).clone()]),
            Type::Tuple(_) => Selection::new(&COMBINE_LISTS, &[C::Result, C::Result]),
            _ => return None,
        },
        P::Intersection | P::Difference => return part_of(primitive, a, b, result),
        P::Color => match a {
            Type::Tuple(cell) if **cell == Type::Cell => Selection::new(&COLOR_OF_LIST, &[C::AsIs]),
            Type::Fixed(items) if items.iter().all(|item| *item == Type::Cell) => {
                Selection::new(&COLOR_OF_LIST, &[C::AsIs])
            }
            _ => return None,
        },
        P::Remove => match b {
            Type::Indices if matches!(a, Type::Pair | Type::MaybePair) => {
                Selection::new(&REMOVE_LOC, &[C::Pair, C::AsIs])
            }
            Type::Object if *a == Type::Cell => Selection::new(&REMOVE_CELL, &[C::AsIs, C::AsIs]),
            Type::Set(_) | Type::Tuple(_) | Type::Fixed(_) | Type::Grid => {
                let element = joined(a, &b.element()?)?;
                let list = Type::tuple_of(element.clone());
                let made = container_like(result, &element);
                Selection::new(&REMOVE, &[C::Own(0), C::Own(1)])
                    .with(Immediate::Own(0))
                    .giving(ResultType::Own(2))
                    .of([element, list, made])
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// Primitives that build containers.
#[allow(clippy::too_many_lines, reason = "an arm for every primitive")]
fn make(primitive: Primitive, arguments: &[Type], result: &Type) -> Option<Selection> {
    use Constraint as C;
    use Primitive as P;
    let list_of = |ty: &Type| Some(Type::tuple_of(ty.element()?));
    let a = &arguments[0];
    let b = arguments.get(1).unwrap_or(a);
    Some(match primitive {
        P::Initset => match result {
            Type::Indices => Selection::new(&INITSET_LOC, &[C::Pair]),
            Type::Object => Selection::new(&INITSET_CELL, &[C::Cell]),
            _ => Selection::new(&INITSET, &[C::AsIs]),
        },
        P::Insert => match result {
            Type::Indices => Selection::new(&INSERT_LOC, &[C::Pair, C::Result]),
            Type::Object => Selection::new(&INSERT_CELL, &[C::Cell, C::Result]),
            Type::Set(element) => Selection::new(&INSERT, &[C::Own(1), C::Own(0)])
                .with(Immediate::Own(1))
                .of([as_list(result), (**element).clone()]),
            // An unordered set.
            Type::Tuple(element) => {
                Selection::new(&APPEND, &[C::Own(0), C::Result]).of([(**element).clone()])
            }
            _ => return None,
        },
        P::Interval => Selection::new(&INTERVAL, &[C::Int, C::Int, C::Int]),
        P::Repeat => match result {
            Type::Tuple(element) => {
                Selection::new(&REPEAT, &[C::Own(0), C::Int]).of([(**element).clone()])
            }
            _ => return None,
        },
        P::Dedupe => {
            let list = list_of(a)?;
            let element = list.element()?;
            Selection::new(&DEDUPE, &[C::Own(0)])
                .with(Immediate::Own(1))
                .giving(ResultType::Own(0))
                .of([list, element])
        }
        P::Mostcommon | P::Leastcommon => {
            let list = list_of(a)?;
            let kernel = if primitive == P::Mostcommon {
                &MOSTCOMMON
            } else {
                &LEASTCOMMON
            };
            let element = list.element()?;
            Selection::new(kernel, &[C::Own(0)])
                .with(Immediate::Own(1))
                .giving(ResultType::Own(1))
                .of([list, element])
        }
        P::Totuple => match a.container()? {
            ContainerKind::Tuple => Selection::new(&basics::COPY, &[C::AsIs]),
            ContainerKind::Set => match a {
                Type::Set(_) => Selection::new(&basics::COPY, &[C::AsIs]),
                Type::Indices | Type::Object => {
                    Selection::new(&basics::LIST_OF_ELEMENTS, &[C::AsIs]).with(Immediate::First)
                }
                _ => return None,
            },
        },
        P::Astuple => match result {
            Type::Pair => Selection::new(&basics::PAIR, &[C::Int, C::Int]),
            Type::Cell => Selection::new(&basics::CELL, &[C::Int, C::Pair]),
            _ => return None,
        },
        P::Pair => {
            let (first, second) = (a.element()?, b.element()?);
            let kernel = match (&first, &second) {
                (Type::Int, Type::Int) => &ZIP_INTS,
                (Type::Int, Type::Pair) => &ZIP_CELLS,
                _ => &ZIP_LISTS,
            };
            let lists = [Type::tuple_of(first), Type::tuple_of(second)];
            Selection::new(kernel, &[C::Own(0), C::Own(1)]).of(lists)
        }
        P::Product => {
            let (first, second) = (a.element()?, b.element()?);
            let sets = [a.container(), b.container()] == [Some(ContainerKind::Set); 2];
            let kernel = match result {
                Type::Indices => &PRODUCT_OF_INTS,
                Type::Set(pair) if **pair == Type::Pair => &PRODUCT_AS_LIST,
                Type::Set(_) if sets => &PRODUCT,
                _ => return None,
            };
            let lists = [Type::tuple_of(first), Type::tuple_of(second)];
            Selection::new(kernel, &[C::Own(0), C::Own(1)]).of(lists)
        }
        P::Sizefilter | P::Colorfilter => match (a, result) {
            (Type::Set(element), Type::Set(_)) | (Type::Tuple(element), Type::Tuple(_)) => {
                if primitive == P::Sizefilter {
                    element.container()?;
                    Selection::new(&SIZEFILTER, &[C::AsIs, C::Int])
                        .with(Immediate::Own(0))
                        .of([(**element).clone()])
                } else if **element == Type::Object {
                    Selection::new(&COLORFILTER, &[C::AsIs, C::Int])
                } else {
                    return None;
                }
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// A container of this type as a list of the same elements.
fn as_list(ty: &Type) -> Type {
    Type::tuple_of(ty.element().unwrap_or(Type::Never))
}

/// The type of a container of the same kind as `ty` with elements of another type.
fn container_like(ty: &Type, element: &Type) -> Type {
    match ty.container() {
        Some(ContainerKind::Set) => Type::Set(element.clone().into()),
        _ => Type::tuple_of(element.clone()),
    }
}
