//! The typing rules: what type a primitive's result has, by the types of its arguments.

use smallvec::SmallVec;

use super::types::Type;
use arc_dsl::{ContainerKind, Primitive, Type as Signature};

/// The type that a result has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Typing {
    /// The type.
    pub(super) ty: Type,
    /// Whether the primitive may give other values too, so that each has to be looked at.
    pub(super) checked: bool,
}

/// Two types that have none in common where one is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unlike(pub(super) Type, pub(super) Type);

#[allow(clippy::unnecessary_wraps, reason = "a rule gives a result")]
fn sure(ty: Type) -> Result<Typing, Unlike> {
    Ok(Typing { ty, checked: false })
}

#[allow(clippy::unnecessary_wraps, reason = "a rule gives a result")]
fn checked(ty: Type) -> Result<Typing, Unlike> {
    Ok(Typing { ty, checked: true })
}

/// It fails, whatever the values; were it not to, the value would be told apart.
fn fails() -> Result<Typing, Unlike> {
    checked(Type::Never)
}

impl Type {
    /// The type of what a call gives, by the types of its arguments, and whether that is certain:
    /// otherwise a value may be of another type, as fewer than one in fifty of random calls are.
    /// Nothing where the types say that the call fails, where the number of arguments is wrong, and
    /// where what it gives has no type in common.
    ///
    /// The primitive takes no functions ([`Primitive::is_first_order`]); of one that does,
    /// [`specialise_call`](crate::specialise_call) makes a form, whose result has a type.
    ///
    /// ```
    /// use arc_dsl::Primitive;
    /// use arc_form::Type;
    /// let objects = Type::set_of(Type::Object);
    /// assert_eq!(Type::of_call(Primitive::First, &[objects]), Some((Type::Object, true)));
    /// assert_eq!(Type::of_call(Primitive::Vmirror, &[Type::Int]), None);
    /// ```
    pub fn of_call(primitive: Primitive, arguments: &[Type]) -> Option<(Type, bool)> {
        if arguments.len() != primitive.parameters().len() || !primitive.is_first_order() {
            return None;
        }
        let typing = result(primitive, arguments).ok()?;
        let fails = typing.ty == Type::Never && typing.checked;
        (!fails).then_some((typing.ty, !typing.checked))
    }
}

fn join(a: &Type, b: &Type) -> Result<Type, Unlike> {
    a.join(b).ok_or_else(|| Unlike(a.clone(), b.clone()))
}

/// The type of elements; `Ok(None)` where it is no container.
pub(super) fn element(ty: &Type) -> Result<Option<Type>, Unlike> {
    match (ty, ty.items()) {
        (Type::Patch, _) => Err(Unlike(Type::Pair, Type::Cell)),
        (_, Some(items)) => items
            .iter()
            .try_fold(Type::Never, |joined, item| join(&joined, item))
            .map(Some),
        (_, None) => Ok(ty.element()),
    }
}

/// What `Numerical` makes of it.
fn number(ty: &Type) -> Option<Type> {
    match ty {
        Type::Bool | Type::Int | Type::MaybeInt => Some(Type::Int),
        _ if pair(ty) => Some(Type::Pair),
        _ => None,
    }
}

fn integer(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int | Type::MaybeInt)
}

/// Whether it may be taken for a pair of integers.
fn pair(ty: &Type) -> bool {
    match ty {
        Type::Pair | Type::MaybePair => true,
        Type::Tuple(element) => integer(element),
        Type::Fixed(items) => items.len() == 2 && items.iter().all(integer),
        _ => false,
    }
}

/// Whether it may be a cell.
fn cell(ty: &Type) -> bool {
    match ty {
        Type::Cell => true,
        Type::Fixed(items) => match &**items {
            [colour, location] => integer(colour) && pair(location),
            _ => false,
        },
        _ => false,
    }
}

/// The type of patch that it is as an argument; a set's or a tuple's elements tell.
fn patch(ty: &Type) -> Option<Type> {
    match ty {
        Type::Indices | Type::Object | Type::Patch => Some(ty.clone()),
        Type::Set(element) | Type::Tuple(element) if **element == Type::Never => {
            Some(Type::set_of(Type::Never))
        }
        Type::Set(_) | Type::Tuple(_) | Type::Fixed(_) => match ty.element()? {
            element if cell(&element) => Some(Type::Object),
            element if pair(&element) => Some(Type::Indices),
            _ => None,
        },
        _ => None,
    }
}

/// Whether it may be taken for a grid.
fn grid(ty: &Type) -> bool {
    let row = |ty: &Type| {
        pair(ty)
            || matches!(ty, Type::Tuple(element) if **element == Type::Never || integer(element))
            || matches!(ty, Type::Fixed(items) if items.iter().all(integer))
    };
    match ty {
        Type::Grid => true,
        Type::Tuple(element) => **element == Type::Never || row(element),
        Type::Fixed(items) => items.iter().all(row),
        _ => false,
    }
}

/// The grid or patch that it is as an argument.
fn piece(ty: &Type) -> Option<Type> {
    match ty.container()? {
        ContainerKind::Tuple => grid(ty).then_some(Type::Grid),
        ContainerKind::Set => patch(ty),
    }
}

/// Whether a value of the type may be passed where the signature asks for that.
pub(super) fn accepts(signature: Signature, ty: &Type) -> bool {
    match signature {
        Signature::Any | Signature::Boolean => true,
        Signature::Integer => integer(ty),
        Signature::IntegerTuple => pair(ty),
        Signature::Numerical => number(ty).is_some(),
        Signature::IntegerSet
        | Signature::Objects
        | Signature::Container
        | Signature::ContainerContainer => ty.container().is_some(),
        Signature::Grid => grid(ty),
        Signature::Object => matches!(patch(ty), Some(Type::Object | Type::Patch | Type::Set(_))),
        Signature::Indices | Signature::Patch => patch(ty).is_some(),
        Signature::Element | Signature::Piece => piece(ty).is_some(),
        Signature::Tuple | Signature::TupleTuple => ty.container() == Some(ContainerKind::Tuple),
        Signature::FrozenSet => ty.container() == Some(ContainerKind::Set),
        Signature::Callable => false,
    }
}

/// Whether every value of the type is taken where the signature asks for that. Of what is not, Python
/// may make a value of another type than of what is.
fn surely_accepts(signature: Signature, ty: &Type) -> bool {
    let integer = |ty: &Type| matches!(ty, Type::Int | Type::Bool);
    let pair = |ty: &Type| match ty {
        Type::Pair => true,
        Type::Fixed(items) => items.len() == 2 && items.iter().all(integer),
        _ => false,
    };
    let no_elements = |ty: &Type| matches!(ty, Type::Set(element) if **element == Type::Never);
    match signature {
        Signature::Integer => integer(ty),
        Signature::IntegerTuple => pair(ty),
        Signature::Numerical => integer(ty) || pair(ty),
        Signature::Grid => *ty == Type::Grid,
        Signature::Object => *ty == Type::Object || no_elements(ty),
        Signature::Indices | Signature::Patch => {
            matches!(ty, Type::Indices | Type::Object | Type::Patch) || no_elements(ty)
        }
        Signature::Element | Signature::Piece => {
            matches!(ty, Type::Grid | Type::Indices | Type::Object | Type::Patch) || no_elements(ty)
        }
        _ => accepts(signature, ty),
    }
}

/// The type of a container some of whose elements are left out.
fn some_of(ty: &Type) -> Result<Type, Unlike> {
    Ok(match ty {
        Type::Pair | Type::MaybePair | Type::Cell | Type::Fixed(_) => {
            Type::tuple_of(element(ty)?.unwrap_or(Type::Never))
        }
        _ => ty.clone(),
    })
}

/// The type of a container of results; an empty corner has no place in a container.
pub(super) fn collected(kind: ContainerKind, element: &Type) -> Typing {
    match element {
        Type::MaybePair => Typing {
            ty: Type::container_of(kind, Type::Pair),
            checked: true,
        },
        _ => Typing {
            ty: Type::container_of(kind, element.clone()),
            checked: false,
        },
    }
}

/// The type of what merging a container of such elements gives.
pub(super) fn merged(kind: ContainerKind, inner: &Type) -> Result<Typing, Unlike> {
    Ok(match (kind, inner) {
        (_, Type::Never) => collected(kind, &Type::Never),
        (ContainerKind::Tuple, Type::Grid) => Typing {
            ty: Type::Grid,
            checked: true,
        },
        (ContainerKind::Set, Type::Patch) => Typing {
            ty: Type::Patch,
            checked: true,
        },
        _ => match element(inner)? {
            Some(element) => collected(kind, &element),
            None => Typing {
                ty: Type::Never,
                checked: true,
            },
        },
    })
}

/// The type of the first component of a tuple.
fn first_of(ty: &Type) -> Result<Option<Type>, Unlike> {
    match ty.items() {
        Some(items) => Ok(items.first().cloned()),
        None => element(ty),
    }
}

/// What is known of the results of first-order primitives for arguments of
/// [common](Type::common) types: the rules are gone through once for each, and not for every call.
#[derive(Debug)]
pub(super) struct Typings {
    common: [Type; 15],
    /// By a part of the key; empty before the first one.
    known: Vec<Known>,
}

/// The result of a primitive for arguments of common types, where it is of one itself.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// The primitive and the arguments' types: 0 where there is none.
    key: u32,
    ty: u8,
    checked: bool,
}

impl Default for Typings {
    fn default() -> Self {
        Self {
            common: Type::common(),
            known: Vec::new(),
        }
    }
}

impl Typings {
    /// How many are kept, a power of two.
    const PLACES: usize = 512;

    /// The same as [`result`]; an error says why there is no type.
    pub(super) fn of<'t>(
        &mut self,
        primitive: Primitive,
        types: impl Iterator<Item = &'t Type> + Clone,
    ) -> Result<Typing, String> {
        let rule = |types: SmallVec<[Type; 4]>| {
            result(primitive, &types).map_err(|Unlike(a, b)| unlike(&a, &b))
        };
        // The highest bit tells how many types follow.
        let mut key = 1 << 8 | primitive as u32;
        for ty in types.clone() {
            match ty.common_number() {
                Some(number) if key < 1 << 28 => key = key << 4 | (u32::from(number) + 1),
                _ => return rule(types.cloned().collect()),
            }
        }
        if self.known.is_empty() {
            let none = Known {
                key: 0,
                ty: 0,
                checked: false,
            };
            self.known.resize(Self::PLACES, none);
        }
        let hash = key.wrapping_mul(0x9E37_79B1) >> 16;
        let place = &mut self.known[hash as usize % Self::PLACES];
        if place.key != key {
            let typing = rule(types.cloned().collect())?;
            let Some(ty) = typing.ty.common_number() else {
                return Ok(typing);
            };
            *place = Known {
                key,
                ty,
                checked: typing.checked,
            };
        }
        Ok(Typing {
            ty: self.common[usize::from(place.ty)].clone(),
            checked: place.checked,
        })
    }
}

/// The message for types that have none in common.
pub(super) fn unlike(a: &Type, b: &Type) -> String {
    format!("no type has both the values of {a} and those of {b}")
}

/// The type of the result of a first-order primitive for arguments of these types.
pub(super) fn result(primitive: Primitive, arguments: &[Type]) -> Result<Typing, Unlike> {
    if arguments.iter().any(|ty| matches!(ty, Type::Never)) {
        return sure(Type::Never);
    }
    let mut sure = true;
    for (at, (_, signature)) in primitive.parameters().iter().enumerate() {
        if surely_accepts(*signature, &arguments[at]) {
            continue;
        }
        if !accepts(*signature, &arguments[at]) {
            return fails();
        }
        sure = false;
    }
    let typing = result_of_accepted(primitive, arguments)?;
    Ok(Typing {
        checked: typing.checked || !sure,
        ..typing
    })
}

/// The same for arguments that the primitive's signature takes.
#[allow(
    clippy::too_many_lines,
    reason = "one line a primitive that its signature does not tell"
)]
fn result_of_accepted(primitive: Primitive, arguments: &[Type]) -> Result<Typing, Unlike> {
    use Primitive as P;
    let kind = |at: usize| arguments[at].container().unwrap_or(ContainerKind::Tuple);
    let inner = |at: usize| Ok(element(&arguments[at])?.unwrap_or(Type::Never));
    match primitive {
        P::Add | P::Subtract | P::Multiply | P::Divide => {
            let both = (number(&arguments[0]), number(&arguments[1]));
            sure(if both == (Some(Type::Int), Some(Type::Int)) {
                Type::Int
            } else {
                Type::Pair
            })
        }
        P::Invert | P::Double | P::Halve | P::Increment | P::Decrement | P::Crement | P::Sign => {
            sure(number(&arguments[0]).unwrap_or(Type::Never))
        }
        P::Maximum | P::Minimum => {
            let element = inner(0)?;
            match element.join(&Type::Int) {
                Some(joined) => sure(joined),
                None => checked(element),
            }
        }
        P::Identity | P::Intersection => sure(arguments[0].clone()),
        P::Combine => match (&arguments[0], &arguments[1]) {
            (Type::Patch, b) if b.container().is_some() => checked(Type::Patch),
            (Type::Indices | Type::Object, Type::Patch) => checked(Type::Patch),
            (Type::Indices, b) if b.element() == Some(Type::Cell) => checked(Type::Patch),
            (Type::Object, b) if b.element() == Some(Type::Pair) => checked(Type::Patch),
            (Type::Set(element), Type::Patch) if **element == Type::Never => checked(Type::Patch),
            (Type::Grid, Type::Grid) => checked(Type::Grid),
            (a, b) => {
                if let (Some(a), Some(b)) = (a.items(), b.items()) {
                    return sure(Type::fixed([a, b].concat()));
                }
                let joined = join(&inner(0)?, &inner(1)?)?;
                Ok(collected(kind(0), &joined))
            }
        },
        P::Difference | P::Dedupe => sure(some_of(&arguments[0])?),
        P::Remove => sure(some_of(&arguments[1])?),
        P::Repeat => Ok(collected(ContainerKind::Tuple, &arguments[0])),
        P::Merge => match &arguments[0] {
            Type::Fixed(items) if items.iter().all(|item| *item == Type::Grid) => {
                checked(Type::Grid)
            }
            _ => merged(kind(0), &inner(0)?),
        },
        P::Mostcommon | P::Leastcommon | P::Other => sure(inner(0)?),
        P::Initset => Ok(collected(ContainerKind::Set, &arguments[0])),
        P::Totuple => match arguments[0].container() {
            Some(ContainerKind::Tuple) => sure(arguments[0].clone()),
            _ => sure(Type::tuple_of(inner(0)?)),
        },
        P::First => sure(first_of(&arguments[0])?.unwrap_or(Type::Never)),
        P::Last => match arguments[0].items() {
            Some(items) => sure(items.last().cloned().unwrap_or(Type::Never)),
            None => sure(inner(0)?),
        },
        P::Insert => match (&arguments[0], &arguments[1]) {
            (Type::Pair | Type::Cell, Type::Patch)
            | (Type::Pair, Type::Object)
            | (Type::Cell, Type::Indices) => checked(Type::Patch),
            (value, _) => Ok(collected(ContainerKind::Set, &join(&inner(1)?, value)?)),
        },
        P::Interval => sure(Type::tuple_of(Type::Int)),
        P::Astuple => sure(Type::fixed(arguments)),
        P::Product => sure(Type::set_of(Type::fixed([inner(0)?, inner(1)?]))),
        P::Pair => sure(Type::tuple_of(Type::fixed([inner(0)?, inner(1)?]))),
        P::Branch => sure(join(&arguments[1], &arguments[2])?),
        P::Both | P::Either => sure(join(&arguments[0], &arguments[1])?),
        P::Sizefilter | P::Colorfilter => Ok(collected(ContainerKind::Set, &inner(0)?)),
        P::Color => match &arguments[0] {
            Type::Patch => sure(Type::Int),
            ty => match element(ty)? {
                None | Some(Type::Never) => sure(Type::Never),
                Some(item) => match first_of(&item)? {
                    Some(ty) => sure(ty),
                    None => fails(),
                },
            },
        },
        P::Index => sure(Type::MaybeInt),
        P::Ulcorner | P::Urcorner | P::Llcorner | P::Lrcorner | P::Centerofmass => {
            sure(Type::MaybePair)
        }
        P::Toindices => match arguments[0].container() {
            // The empty tuple becomes the empty set.
            Some(ContainerKind::Tuple) if patch(&arguments[0]) == Some(Type::Indices) => {
                checked(some_of(&arguments[0])?)
            }
            // They stay what they are, where locations would have integers in their places.
            _ if arguments[0].has_boolean() => Err(Unlike(Type::Bool, Type::Int)),
            _ => sure(Type::Indices),
        },
        P::Shift | P::Normalize => {
            let made = patch(&arguments[0]).unwrap_or(Type::Never);
            match arguments[0].container() {
                Some(ContainerKind::Set) => sure(made),
                _ => checked(made),
            }
        }
        P::Hmirror | P::Vmirror | P::Dmirror | P::Cmirror | P::Upscale => {
            let made = piece(&arguments[0]).unwrap_or(Type::Never);
            match primitive {
                P::Upscale if made == Type::Indices => fails(),
                P::Upscale if made == Type::Patch => sure(Type::Object),
                _ => sure(made),
            }
        }
        P::Corners | P::Box => checked(Type::Indices),
        P::Vconcat => checked(Type::Grid),
        P::Hsplit | P::Vsplit => sure(Type::tuple_of(Type::Grid)),
        P::Palette => sure(Type::set_of(Type::Int)),
        _ => match primitive.returns() {
            Signature::Boolean => sure(Type::Bool),
            Signature::Integer => sure(Type::Int),
            Signature::IntegerTuple => sure(Type::Pair),
            Signature::Grid => sure(Type::Grid),
            Signature::Object => sure(Type::Object),
            Signature::Indices => sure(Type::Indices),
            Signature::Objects => sure(Type::set_of(Type::Object)),
            // No first-order primitive is left: the tests go through all of them.
            _ => fails(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::generate::Generator;
    use arc_dsl::{Interpreter, Value};

    /// The call's argument types by their values; nothing for arguments without a type.
    fn types(arguments: &[Value]) -> Option<Vec<Type>> {
        arguments.iter().map(Type::of).collect()
    }

    /// Calls every first-order primitive with arguments of the generator's, as its signature wants
    /// them or of any type, and gives what came of those whose result has a type.
    fn cases(mut visit: impl FnMut(Primitive, &[Value], &[Type], &Typing, Option<Value>)) {
        let mut generator = Generator::new(3);
        let first_order = || Primitive::ALL.iter().filter(|p| p.is_first_order());
        for round in 0..60 {
            for &primitive in first_order() {
                let parameters = primitive.parameters().iter().enumerate();
                let arguments: Vec<_> = parameters
                    .map(|(at, (_, signature))| match round % 4 {
                        3 => {
                            generator.value(Signature::ALL[(round + 7 * at) % Signature::ALL.len()])
                        }
                        _ => generator.value(*signature),
                    })
                    .collect();
                let Some(types) = types(&arguments) else {
                    continue;
                };
                let Ok(typing) = result(primitive, &types) else {
                    continue;
                };
                let borrowed: Vec<_> = arguments.iter().collect();
                let value = Interpreter::default()
                    .call(primitive.value(), &borrowed)
                    .ok();
                visit(primitive, &arguments, &types, &typing, value);
            }
        }
    }

    #[test]
    fn a_result_is_of_its_type_or_checked_and_mostly_of_it() {
        let (mut values, mut misses) = (0, 0);
        cases(|primitive, arguments, types, typing, value| {
            let Some(value) = value else {
                return;
            };
            let mut parameters = primitive.parameters().iter().zip(arguments);
            let taken = parameters.all(|((_, signature), value)| signature.takes(value));
            values += usize::from(taken);
            if !typing.ty.holds(&value) {
                misses += usize::from(taken);
                let show = format!("{primitive}{arguments:?} {types:?} = {value}, {typing:?}");
                assert!(typing.checked, "{show}");
            }
        });
        assert!(
            values > 4_000 && misses < values / 50,
            "{misses} of {values}"
        );
    }

    #[test]
    fn what_cannot_fail_does_not() {
        let mut total = 0;
        cases(|primitive, arguments, types, typing, value| {
            if !typing.checked && (crate::facts::facts(primitive).is_total)(types) {
                total += 1;
                assert!(value.is_some(), "{primitive}{arguments:?}");
            }
        });
        assert!(total > 300, "{total}");
    }

    #[test]
    fn every_first_order_primitive_has_a_type_for_what_its_signature_asks() {
        let mut typed = std::collections::HashSet::new();
        cases(|primitive, _, _, typing, _| {
            if typing.ty != Type::Never {
                typed.insert(primitive);
            }
        });
        let untyped: Vec<_> = Primitive::ALL
            .iter()
            .filter(|p| p.is_first_order() && !typed.contains(p))
            .collect();
        assert!(untyped.is_empty(), "{untyped:?}");
    }
}
