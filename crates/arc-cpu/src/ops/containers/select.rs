//! Which kernel of containers does what for which types.

#[allow(clippy::wildcard_imports, reason = "all kernels of the family")]
use super::*;
use crate::ops::{Choice, Extra, Want, basics};
use crate::order::is_scalar;
use arc_dsl::{ContainerKind, Primitive};
use arc_form::Type;

/// The one type in which two values are compared, where there is one.
fn joined(a: &Type, b: &Type) -> Option<Type> {
    match (a, b) {
        (Type::Bool, Type::Int | Type::MaybeInt) | (Type::Int | Type::MaybeInt, Type::Bool) => {
            Some(Type::MaybeInt)
        }
        _ => a.join(b),
    }
}

/// Whether values of the two types can be told to be unequal from their types alone.
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
) -> Option<Choice> {
    read(primitive, arguments, result)
        .or_else(|| cut(primitive, arguments, result, clipped))
        .or_else(|| make(primitive, arguments, result))
}

/// Those that ask about containers or take an element.
fn read(primitive: Primitive, arguments: &[Type], result: &Type) -> Option<Choice> {
    use Primitive as P;
    use Want as W;
    let as_type = |ty: &Type| W::Type(ty.clone());
    let typed = |ty: &Type| Extra::Type(ty.clone());
    let a = &arguments[0];
    let b = arguments.get(1).unwrap_or(a);
    Some(match primitive {
        P::identity => Choice::new(&basics::COPY, &[W::AsIs]),
        P::equality => match joined(a, b) {
            Some(ty) if is_scalar(&ty) => {
                Choice::new(&EQUAL_SCALARS, &[as_type(&ty), as_type(&ty)])
            }
            Some(ty) => Choice::new(&EQUALITY, &[as_type(&ty), as_type(&ty)]).with(typed(&ty)),
            None if unlike(a, b) => Choice::new(&UNEQUAL, &[W::AsIs, W::AsIs]),
            None => return None,
        },
        P::branch if matches!(a, Type::Bool | Type::Int) => {
            Choice::new(&BRANCH, &[W::AsIs, as_type(result), as_type(result)])
        }
        P::contained => match b {
            Type::Cell if matches!(a, Type::Int | Type::Bool) => {
                Choice::new(&CONTAINED_IN_CELL, &[W::Int, W::AsIs])
            }
            Type::Indices if matches!(a, Type::Pair | Type::MaybePair) => {
                Choice::new(&CONTAINED_LOC, &[W::Pair, W::Patch])
            }
            _ => {
                let element = joined(a, &b.element()?)?;
                let list = Type::tuple_of(element.clone());
                Choice::new(&CONTAINED, &[as_type(&element), as_type(&list)]).with(typed(&element))
            }
        },
        P::size => match a {
            Type::Indices | Type::Object | Type::Patch => Choice::new(&SIZE_OF_PATCH, &[W::AsIs]),
            _ => {
                a.container()?;
                Choice::new(&SIZE, &[W::AsIs]).with(typed(a))
            }
        },
        P::first | P::last => {
            let first = primitive == P::first;
            match a {
                Type::Pair => {
                    let kernel = if first {
                        &basics::ROW_OF_PAIR
                    } else {
                        &basics::COLUMN_OF_PAIR
                    };
                    Choice::new(kernel, &[W::AsIs])
                }
                Type::MaybePair => {
                    let kernel = if first {
                        &basics::ROW_OF_PAIR
                    } else {
                        &basics::COLUMN_OF_PAIR
                    };
                    Choice::new(kernel, &[W::Pair])
                }
                Type::Cell => {
                    let kernel = if first {
                        &basics::COLOUR_OF_CELL
                    } else {
                        &basics::LOC_OF_CELL
                    };
                    Choice::new(kernel, &[W::AsIs])
                }
                Type::Fixed(items) => {
                    let at = if first { 0 } else { items.len() - 1 };
                    Choice::new(&basics::ITEM, &[W::AsIs]).with(Extra::Number(at as u32))
                }
                Type::Set(_) | Type::Tuple(_) if !first => Choice::new(&LAST_OF_LIST, &[W::AsIs]),
                Type::Object if !first => Choice::new(&LAST_CELL, &[W::AsIs]),
                Type::Indices | Type::Object | Type::Grid | Type::Set(_) | Type::Tuple(_) => {
                    let kernel = if first { &FIRST } else { &LAST };
                    Choice::new(kernel, &[W::AsIs]).with(typed(a))
                }
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// The elements of `a` that are in `b`, or that are not.
fn part_of(primitive: Primitive, a: &Type, b: &Type, result: &Type) -> Option<Choice> {
    use Primitive as P;
    use Want as W;
    let as_type = |ty: &Type| W::Type(ty.clone());
    let typed = |ty: &Type| Extra::Type(ty.clone());
    let is_patch = |ty: &Type| matches!(ty, Type::Indices | Type::Object | Type::Patch);
    let common = primitive == P::intersection;
    Some(match (a, b) {
        (Type::Indices, Type::Indices) => {
            let kernel = if common {
                &INTERSECTION_OF_INDICES
            } else {
                &DIFFERENCE_OF_INDICES
            };
            Choice::new(kernel, &[W::AsIs, W::AsIs])
        }
        (Type::Object, Type::Object) => {
            let kernel = if common {
                &INTERSECTION_OF_OBJECTS
            } else {
                &DIFFERENCE_OF_OBJECTS
            };
            Choice::new(kernel, &[W::AsIs, W::AsIs])
        }
        // No location is a cell.
        (Type::Indices, Type::Object) | (Type::Object, Type::Indices) => {
            let kernel = if common {
                &basics::ABSENT
            } else {
                &basics::COPY
            };
            Choice::new(kernel, &[W::AsIs, W::AsIs])
        }
        (Type::Indices | Type::Object | Type::Patch, Type::Set(never))
            if **never == Type::Never =>
        {
            let kernel = if common {
                &INTERSECTION_OF_INDICES
            } else {
                &DIFFERENCE_OF_INDICES
            };
            Choice::new(kernel, &[W::AsIs, W::Patch])
        }
        (Type::Set(_) | Type::Tuple(_) | Type::Fixed(_), _) if !is_patch(result) => {
            let element = joined(&a.element()?, &b.element()?)?;
            let list = Type::tuple_of(element.clone());
            let kernel = if common {
                &INTERSECTION_OF_LISTS
            } else {
                &DIFFERENCE_OF_LISTS
            };
            Choice::new(kernel, &[as_type(&list), as_type(&list)])
                .with(typed(&element))
                .giving(container_like(result, &element))
        }
        _ => return None,
    })
}

/// Those that join containers or leave elements out.
fn cut(primitive: Primitive, arguments: &[Type], result: &Type, clipped: bool) -> Option<Choice> {
    use Primitive as P;
    use Want as W;
    let as_type = |ty: &Type| W::Type(ty.clone());
    let typed = |ty: &Type| Extra::Type(ty.clone());
    let a = &arguments[0];
    let b = arguments.get(1).unwrap_or(a);
    Some(match primitive {
        P::combine => match result {
            Type::Indices | Type::Object | Type::Patch => {
                let kernel = if clipped {
                    &COMBINE_CLIPPED
                } else {
                    &COMBINE_PATCHES
                };
                Choice::new(kernel, &[as_type(result), as_type(result)])
            }
            Type::Set(element) => {
                Choice::new(&COMBINE_SETS, &[as_list(result), as_list(result)]).with(typed(element))
            }
            Type::Tuple(_) => Choice::new(&COMBINE_LISTS, &[as_list(result), as_list(result)]),
            _ => return None,
        },
        P::intersection | P::difference => return part_of(primitive, a, b, result),
        P::color => match a {
            Type::Tuple(cell) if **cell == Type::Cell => Choice::new(&COLOR_OF_LIST, &[W::AsIs]),
            Type::Fixed(items) if items.iter().all(|item| *item == Type::Cell) => {
                Choice::new(&COLOR_OF_LIST, &[W::AsIs])
            }
            _ => return None,
        },
        P::remove => match b {
            Type::Indices if matches!(a, Type::Pair | Type::MaybePair) => {
                Choice::new(&REMOVE_LOC, &[W::Pair, W::AsIs])
            }
            Type::Object if *a == Type::Cell => Choice::new(&REMOVE_CELL, &[W::AsIs, W::AsIs]),
            Type::Set(_) | Type::Tuple(_) | Type::Fixed(_) | Type::Grid => {
                let element = joined(a, &b.element()?)?;
                let list = Type::tuple_of(element.clone());
                Choice::new(&REMOVE, &[as_type(&element), as_type(&list)])
                    .with(typed(&element))
                    .giving(container_like(result, &element))
            }
            _ => return None,
        },
        P::other => match a {
            Type::Indices if matches!(b, Type::Pair | Type::MaybePair) => {
                Choice::new(&OTHER_LOC, &[W::AsIs, W::Pair])
            }
            Type::Set(_) | Type::Tuple(_) | Type::Fixed(_) => {
                let element = joined(&a.element()?, b)?;
                let list = Type::tuple_of(element.clone());
                Choice::new(&OTHER, &[as_type(&list), as_type(&element)])
                    .with(typed(&element))
                    .giving(element)
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// Those that make containers.
fn make(primitive: Primitive, arguments: &[Type], result: &Type) -> Option<Choice> {
    use Primitive as P;
    use Want as W;
    let as_type = |ty: &Type| W::Type(ty.clone());
    let typed = |ty: &Type| Extra::Type(ty.clone());
    let list_of = |ty: &Type| Some(Type::tuple_of(ty.element()?));
    let a = &arguments[0];
    let b = arguments.get(1).unwrap_or(a);
    Some(match primitive {
        P::initset => match result {
            Type::Indices => Choice::new(&INITSET_LOC, &[W::Pair]),
            Type::Object => Choice::new(&INITSET_CELL, &[as_type(&Type::Cell)]),
            _ => Choice::new(&INITSET, &[W::AsIs]),
        },
        P::insert => match result {
            Type::Indices => Choice::new(&INSERT_LOC, &[W::Pair, as_type(result)]),
            Type::Object => Choice::new(&INSERT_CELL, &[as_type(&Type::Cell), as_type(result)]),
            Type::Set(element) => {
                Choice::new(&INSERT, &[as_type(element), as_list(result)]).with(typed(element))
            }
            // A set in no order.
            Type::Tuple(element) => Choice::new(&APPEND, &[as_type(element), as_list(result)]),
            _ => return None,
        },
        P::interval => Choice::new(&INTERVAL, &[W::Int, W::Int, W::Int]),
        P::repeat => match result {
            Type::Tuple(element) => Choice::new(&REPEAT, &[as_type(element), W::Int]),
            _ => return None,
        },
        P::dedupe => {
            let list = list_of(a)?;
            Choice::new(&DEDUPE, &[as_type(&list)])
                .with(typed(&list.element()?))
                .giving(list)
        }
        P::mostcommon | P::leastcommon => {
            let list = list_of(a)?;
            let kernel = if primitive == P::mostcommon {
                &MOSTCOMMON
            } else {
                &LEASTCOMMON
            };
            Choice::new(kernel, &[as_type(&list)])
                .with(typed(&list.element()?))
                .giving(list.element()?)
        }
        P::totuple => match a.container()? {
            ContainerKind::Tuple => Choice::new(&basics::COPY, &[W::AsIs]),
            ContainerKind::Set => match a {
                Type::Set(_) => Choice::new(&basics::COPY, &[W::AsIs]),
                Type::Indices | Type::Object => {
                    Choice::new(&basics::LIST_OF_ELEMENTS, &[W::AsIs]).with(typed(a))
                }
                _ => return None,
            },
        },
        P::astuple => match result {
            Type::Pair => Choice::new(&basics::PAIR, &[W::Int, W::Int]),
            Type::Cell => Choice::new(&basics::CELL, &[W::Int, W::Pair]),
            _ => return None,
        },
        P::pair => {
            let (first, second) = (a.element()?, b.element()?);
            let lists = [
                as_type(&Type::tuple_of(first.clone())),
                as_type(&Type::tuple_of(second.clone())),
            ];
            match Type::fixed(vec![first, second]) {
                Type::Pair => Choice::new(&ZIP_INTS, &lists),
                Type::Cell => Choice::new(&ZIP_CELLS, &lists),
                _ => Choice::new(&ZIP_LISTS, &lists),
            }
        }
        P::product => {
            let (first, second) = (a.element()?, b.element()?);
            let lists = [
                as_type(&Type::tuple_of(first)),
                as_type(&Type::tuple_of(second)),
            ];
            let sets = [a.container(), b.container()] == [Some(ContainerKind::Set); 2];
            match result {
                Type::Indices => Choice::new(&PRODUCT_OF_INTS, &lists),
                Type::Set(pair) if **pair == Type::Pair => Choice::new(&PRODUCT_AS_LIST, &lists),
                Type::Set(_) if sets => Choice::new(&PRODUCT, &lists),
                _ => return None,
            }
        }
        P::sizefilter | P::colorfilter => match (a, result) {
            (Type::Set(element), Type::Set(_)) | (Type::Tuple(element), Type::Tuple(_)) => {
                if primitive == P::sizefilter {
                    element.container()?;
                    Choice::new(&SIZEFILTER, &[W::AsIs, W::Int]).with(typed(element))
                } else if **element == Type::Object {
                    Choice::new(&COLORFILTER, &[W::AsIs, W::Int])
                } else {
                    return None;
                }
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// A container of this type as a list, its elements of the type's own.
fn as_list(ty: &Type) -> Want {
    Want::Type(Type::tuple_of(ty.element().unwrap_or(Type::Never)))
}

/// The type of a container of elements of a type, of the kind that `ty` is.
fn container_like(ty: &Type, element: &Type) -> Type {
    match ty.container() {
        Some(ContainerKind::Set) => Type::Set(element.clone().into()),
        _ => Type::tuple_of(element.clone()),
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check;
    use arc_dsl::Primitive;

    #[test]
    fn sets_are_joined_and_cut_as_in_the_reference() {
        for primitive in [
            Primitive::combine,
            Primitive::intersection,
            Primitive::difference,
            Primitive::insert,
            Primitive::remove,
        ] {
            let (answered, run) = check(primitive, 1, 400);
            assert!(
                run > 250 && 4 * answered > 3 * run,
                "{primitive}: {answered} of {run}"
            );
        }
    }
}
