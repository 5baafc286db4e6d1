//! Integers, pairs of integers and truth values.

use crate::kernel::kernels;
use crate::machine::int;
use crate::program::Kernel;
use crate::selection::{Constraint, Selection};
use arc_dsl::{Loc, Primitive};
use arc_form::Type;

/// The kernels of an operation on two numbers: for two integers, two pairs, and one of each.
macro_rules! binary {
    ($($doc:literal $ints:ident $pairs:ident $pair_int:ident $int_pair:ident = |$a:ident, $b:ident| $value:expr;)+) => {
        kernels! {
            $(
                #[doc = concat!($doc, " of integers.")]
                $ints |m, _, step| {
                    let ($a, $b) = (i64::from(m.int(step.a)), i64::from(m.int(step.b)));
                    Ok(Slot::of_int(int($value)?))
                }
                #[doc = concat!($doc, " of pairs.")]
                $pairs |m, _, step| {
                    let (x, y) = (m.loc(step.a), m.loc(step.b));
                    let f = |$a: i64, $b: i64| -> Result<i32, BailOut> { int($value) };
                    Ok(Slot::of_loc(Loc::new(f(x.i.into(), y.i.into())?, f(x.j.into(), y.j.into())?)))
                }
                #[doc = concat!($doc, " of a pair and an integer.")]
                $pair_int |m, _, step| {
                    let (x, y) = (m.loc(step.a), i64::from(m.int(step.b)));
                    let f = |$a: i64, $b: i64| -> Result<i32, BailOut> { int($value) };
                    Ok(Slot::of_loc(Loc::new(f(x.i.into(), y)?, f(x.j.into(), y)?)))
                }
                #[doc = concat!($doc, " of an integer and a pair.")]
                $int_pair |m, _, step| {
                    let (x, y) = (i64::from(m.int(step.a)), m.loc(step.b));
                    let f = |$a: i64, $b: i64| -> Result<i32, BailOut> { int($value) };
                    Ok(Slot::of_loc(Loc::new(f(x, y.i.into())?, f(x, y.j.into())?)))
                }
            )+
        }
    };
}

binary! {
    "Sum" ADD_INTS ADD_PAIRS ADD_PAIR_INT ADD_INT_PAIR = |a, b| a + b;
    "Difference" SUBTRACT_INTS SUBTRACT_PAIRS SUBTRACT_PAIR_INT SUBTRACT_INT_PAIR = |a, b| a - b;
    "Product" MULTIPLY_INTS MULTIPLY_PAIRS MULTIPLY_PAIR_INT MULTIPLY_INT_PAIR = |a, b| a * b;
    "Quotient" DIVIDE_INTS DIVIDE_PAIRS DIVIDE_PAIR_INT DIVIDE_INT_PAIR = |a, b| {
        if b == 0 {
            return Err(BailOut::DivisionByZero);
        }
        let quotient = a / b;
        if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
    };
}

/// The kernels of an operation on one number: for integers and for pairs.
macro_rules! unary {
    ($($doc:literal $ints:ident $pairs:ident = |$a:ident| $value:expr;)+) => {
        kernels! {
            $(
                #[doc = concat!($doc, " an integer.")]
                $ints |m, _, step| {
                    let $a = i64::from(m.int(step.a));
                    Ok(Slot::of_int(int($value)?))
                }
                #[doc = concat!($doc, " a pair.")]
                $pairs |m, _, step| {
                    let x = m.loc(step.a);
                    let f = |$a: i64| -> Result<i32, BailOut> { int($value) };
                    Ok(Slot::of_loc(Loc::new(f(x.i.into())?, f(x.j.into())?)))
                }
            )+
        }
    };
}

unary! {
    "Negates" INVERT_INT INVERT_PAIR = |a| -a;
    "Doubles" DOUBLE_INT DOUBLE_PAIR = |a| 2 * a;
    "Halves, rounding down," HALVE_INT HALVE_PAIR = |a| a >> 1;
    "Adds one to" INCREMENT_INT INCREMENT_PAIR = |a| a + 1;
    "Takes one from" DECREMENT_INT DECREMENT_PAIR = |a| a - 1;
    "Takes one step away from zero with" CREMENT_INT CREMENT_PAIR = |a| a + a.signum();
    "The sign of" SIGN_INT SIGN_PAIR = |a| a.signum();
}

kernels! {
    fn by_row;

    /// Whether the integer is a multiple of two.
    EVEN for Even(Int) |m, _, step| { Ok(Slot::of_bool(m.int(step.a) % 2 == 0)) }
    /// Whether the integer is greater than zero.
    POSITIVE for Positive(Int) |m, _, step| { Ok(Slot::of_bool(m.int(step.a) > 0)) }
    /// Whether the first integer is greater.
    GREATER for Greater(Int, Int) |m, _, step| { Ok(Slot::of_bool(m.int(step.a) > m.int(step.b))) }
    /// Not.
    FLIP |m, _, step| { Ok(Slot::of_bool(!m.get(step.a).bool())) }
    /// The second if the first is true, otherwise the first.
    BOTH |m, _, step| { Ok(m.get(if m.get(step.a).bool() { step.b } else { step.a })) }
    /// The first if it is true, otherwise the second.
    EITHER |m, _, step| { Ok(m.get(if m.get(step.a).bool() { step.a } else { step.b })) }
    /// The pair of a row and column 0.
    TOIVEC for Toivec(Int) |m, _, step| { Ok(Slot::of_loc(Loc::new(m.int(step.a), 0))) }
    /// The pair of row 0 and a column.
    TOJVEC for Tojvec(Int) |m, _, step| { Ok(Slot::of_loc(Loc::new(0, m.int(step.a)))) }
    /// The larger component of a pair.
    MAXIMUM_OF_PAIR |m, _, step| {
        let loc = m.loc(step.a);
        Ok(Slot::of_int(loc.i.max(loc.j)))
    }
    /// The smaller component of a pair.
    MINIMUM_OF_PAIR |m, _, step| {
        let loc = m.loc(step.a);
        Ok(Slot::of_int(loc.i.min(loc.j)))
    }
    /// The largest of a list of integers, 0 if it is empty.
    MAXIMUM_OF_LIST |m, _, step| {
        Ok(m.list(step.a).iter().copied().max().unwrap_or_default())
    }
    /// The smallest of a list of integers, 0 if it is empty.
    MINIMUM_OF_LIST |m, _, step| {
        Ok(m.list(step.a).iter().copied().min().unwrap_or_default())
    }
}

/// Whether the argument counts as an integer.
fn is_int(ty: &Type) -> bool {
    matches!(ty, Type::Int | Type::Bool | Type::MaybeInt)
}

fn binary(kernels: [&'static Kernel; 4], arguments: &[Type]) -> Selection {
    let [ints, pairs, pair_int, int_pair] = kernels;
    match (is_int(&arguments[0]), is_int(&arguments[1])) {
        (true, true) => Selection::new(ints, &[Constraint::Int, Constraint::Int]),
        (false, false) => Selection::new(pairs, &[Constraint::Pair, Constraint::Pair]),
        (false, true) => Selection::new(pair_int, &[Constraint::Pair, Constraint::Int]),
        (true, false) => Selection::new(int_pair, &[Constraint::Int, Constraint::Pair]),
    }
}

fn unary(kernels: [&'static Kernel; 2], arguments: &[Type]) -> Selection {
    let [of_int, of_pair] = kernels;
    if is_int(&arguments[0]) {
        Selection::new(of_int, &[Constraint::Int])
    } else {
        Selection::new(of_pair, &[Constraint::Pair])
    }
}

/// Whether a slot of this type holds its truth value.
fn is_truth(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int)
}

pub(super) fn select(primitive: Primitive, arguments: &[Type]) -> Option<Selection> {
    use Constraint as C;
    use Primitive as P;
    Some(match primitive {
        P::Add => binary(
            [&ADD_INTS, &ADD_PAIRS, &ADD_PAIR_INT, &ADD_INT_PAIR],
            arguments,
        ),
        P::Subtract => binary(
            [
                &SUBTRACT_INTS,
                &SUBTRACT_PAIRS,
                &SUBTRACT_PAIR_INT,
                &SUBTRACT_INT_PAIR,
            ],
            arguments,
        ),
        P::Multiply => binary(
            [
                &MULTIPLY_INTS,
                &MULTIPLY_PAIRS,
                &MULTIPLY_PAIR_INT,
                &MULTIPLY_INT_PAIR,
            ],
            arguments,
        ),
        P::Divide => binary(
            [
                &DIVIDE_INTS,
                &DIVIDE_PAIRS,
                &DIVIDE_PAIR_INT,
                &DIVIDE_INT_PAIR,
            ],
            arguments,
        ),
        P::Invert => unary([&INVERT_INT, &INVERT_PAIR], arguments),
        P::Double => unary([&DOUBLE_INT, &DOUBLE_PAIR], arguments),
        P::Halve => unary([&HALVE_INT, &HALVE_PAIR], arguments),
        P::Increment => unary([&INCREMENT_INT, &INCREMENT_PAIR], arguments),
        P::Decrement => unary([&DECREMENT_INT, &DECREMENT_PAIR], arguments),
        P::Crement => unary([&CREMENT_INT, &CREMENT_PAIR], arguments),
        P::Sign => unary([&SIGN_INT, &SIGN_PAIR], arguments),
        P::Flip if is_truth(&arguments[0]) => Selection::new(&FLIP, &[C::AsIs]),
        P::Both if arguments.iter().all(is_truth) => Selection::new(&BOTH, &[C::AsIs, C::AsIs]),
        P::Either if arguments.iter().all(is_truth) => Selection::new(&EITHER, &[C::AsIs, C::AsIs]),
        P::Maximum | P::Minimum => {
            let most = primitive == P::Maximum;
            match &arguments[0] {
                Type::Pair | Type::MaybePair => {
                    let kernel = if most {
                        &MAXIMUM_OF_PAIR
                    } else {
                        &MINIMUM_OF_PAIR
                    };
                    Selection::new(kernel, &[C::Pair])
                }
                Type::Tuple(element) | Type::Set(element) if **element == Type::Int => {
                    let kernel = if most {
                        &MAXIMUM_OF_LIST
                    } else {
                        &MINIMUM_OF_LIST
                    };
                    Selection::new(kernel, &[C::AsIs])
                }
                _ => return None,
            }
        }
        _ => return by_row(primitive),
    })
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    /// With integers and with pairs, with other uses of the sign, and with values that may not be pairs.
    #[test]
    fn numbers_multiplied_by_their_sign_agree_with_the_reference() {
        for body in [
            "x1 = objects(I, T, T, F)\n    x2 = fork(subtract, height, size)\n    x3 = fork(multiply, sign, identity)\n    x4 = compose(x3, x2)\n    O = apply(x4, x1)",
            "x1 = objects(I, T, T, F)\n    x2 = lbind(subtract, THREE_BY_THREE)\n    x3 = fork(multiply, identity, sign)\n    x4 = chain(x3, x2, center)\n    O = apply(x4, x1)",
            "x1 = height(I)\n    x2 = subtract(FIVE, x1)\n    x3 = sign(x2)\n    x4 = multiply(x2, x3)\n    x5 = multiply(x3, FOUR)\n    O = astuple(x4, x5)",
            "x1 = asindices(I)\n    x2 = lrcorner(x1)\n    x3 = sign(x2)\n    O = multiply(x3, x2)",
        ] {
            let text = format!("def f(I):\n    {body}\n    return O\n");
            let answered = check_text(&text, 5, 60);
            assert!(answered > 30, "{text}{answered}");
        }
    }
}
