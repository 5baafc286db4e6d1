//! Arithmetic on 32 lanes at once.

use super::module::{Binary, Comparison, Logic, Measure, Shift, Unary};

/// Lanes of a warp.
pub(super) const WARP: usize = 32;

/// A register: one value per lane.
pub(super) type Lanes<T> = [T; WARP];

/// The integers that registers hold.
pub(super) trait Word: Copy {
    fn binary(binary: Binary, signed: bool, a: &Lanes<Self>, b: &Lanes<Self>) -> Lanes<Self>;
    fn unary(unary: Unary, a: &Lanes<Self>) -> Lanes<Self>;
    /// The low 16 bits, extended as operands of an instruction.
    fn half(signed: bool, a: &Lanes<Self>) -> Lanes<Self>;
    fn measure(measure: Measure, signed: bool, a: &Lanes<Self>) -> Lanes<u32>;
    fn shift(shift: Shift, signed: bool, a: &Lanes<Self>, by: &Lanes<u32>) -> Lanes<Self>;
    fn multiply_add(a: &Lanes<Self>, b: &Lanes<Self>, c: &Lanes<Self>) -> Lanes<Self>;
    fn compare(comparison: Comparison, signed: bool, a: &Lanes<Self>, b: &Lanes<Self>) -> u32;
    fn bit_field(signed: bool, a: &Lanes<Self>, at: &Lanes<u32>, count: &Lanes<u32>)
    -> Lanes<Self>;
    fn insert(
        a: &Lanes<Self>,
        into: &Lanes<Self>,
        at: &Lanes<u32>,
        count: &Lanes<u32>,
    ) -> Lanes<Self>;
}

#[inline]
pub(super) fn each<A: Copy, T>(a: &Lanes<A>, f: impl Fn(A) -> T) -> Lanes<T> {
    std::array::from_fn(|lane| f(a[lane]))
}

#[inline]
pub(super) fn both<A: Copy, B: Copy, T>(
    a: &Lanes<A>,
    b: &Lanes<B>,
    f: impl Fn(A, B) -> T,
) -> Lanes<T> {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

#[inline]
pub(super) fn three<A: Copy, B: Copy, C: Copy, T>(
    a: &Lanes<A>,
    b: &Lanes<B>,
    c: &Lanes<C>,
    f: impl Fn(A, B, C) -> T,
) -> Lanes<T> {
    std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]))
}

/// The mask of lanes in which a predicate is true.
#[inline]
fn where_<T: Copy>(a: &Lanes<T>, b: &Lanes<T>, f: impl Fn(T, T) -> bool) -> u32 {
    let mut bits = 0;
    for lane in 0..WARP {
        bits |= u32::from(f(a[lane], b[lane])) << lane;
    }
    bits
}

/// Assigns the new value in the lanes of the mask.
#[inline]
pub(super) fn put<T: Copy>(to: &mut Lanes<T>, mask: u32, new: &Lanes<T>) {
    if mask == u32::MAX {
        *to = *new;
    } else {
        for lane in 0..WARP {
            to[lane] = if mask >> lane & 1 == 1 {
                new[lane]
            } else {
                to[lane]
            };
        }
    }
}

/// The lanes of a mask.
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < WARP).then_some(lane)
    })
}

macro_rules! word {
    ($unsigned:ty, $signed:ty, $double:ty, $signed_double:ty) => {
        impl Word for $unsigned {
            fn binary(
                binary: Binary,
                signed: bool,
                a: &Lanes<Self>,
                b: &Lanes<Self>,
            ) -> Lanes<Self> {
                type U = $unsigned;
                type S = $signed;
                match (binary, signed) {
                    (Binary::Add, _) => both(a, b, U::wrapping_add),
                    (Binary::Sub, _) => both(a, b, U::wrapping_sub),
                    (Binary::Mul, _) => both(a, b, U::wrapping_mul),
                    (Binary::MulHigh, false) => both(a, b, |a, b| {
                        ((<$double>::from(a) * <$double>::from(b)) >> U::BITS) as U
                    }),
                    (Binary::MulHigh, true) => both(a, b, |a, b| {
                        ((<$signed_double>::from(a as S) * <$signed_double>::from(b as S))
                            >> U::BITS) as U
                    }),
                    // The caller has checked the active lanes for division by zero.
                    (Binary::Div, false) => both(a, b, |a, b| a.checked_div(b).unwrap_or(U::MAX)),
                    (Binary::Div, true) => both(a, b, |a, b| match b {
                        0 => U::MAX,
                        _ => (a as S).wrapping_div(b as S) as U,
                    }),
                    (Binary::Rem, false) => both(a, b, |a, b| a.checked_rem(b).unwrap_or(a)),
                    (Binary::Rem, true) => both(a, b, |a, b| match b {
                        0 => a,
                        _ => (a as S).wrapping_rem(b as S) as U,
                    }),
                    (Binary::And, _) => both(a, b, |a, b| a & b),
                    (Binary::Or, _) => both(a, b, |a, b| a | b),
                    (Binary::Xor, _) => both(a, b, |a, b| a ^ b),
                    (Binary::Min, false) => both(a, b, U::min),
                    (Binary::Max, false) => both(a, b, U::max),
                    (Binary::Min, true) => both(a, b, |a, b| (a as S).min(b as S) as U),
                    (Binary::Max, true) => both(a, b, |a, b| (a as S).max(b as S) as U),
                }
            }

            fn unary(unary: Unary, a: &Lanes<Self>) -> Lanes<Self> {
                match unary {
                    Unary::Mov => *a,
                    Unary::Not => each(a, |a| !a),
                    Unary::Neg => each(a, |a| a.wrapping_neg()),
                    Unary::Abs => each(a, |a| (a as $signed).wrapping_abs() as Self),
                    Unary::Brev => each(a, Self::reverse_bits),
                }
            }

            fn half(signed: bool, a: &Lanes<Self>) -> Lanes<Self> {
                if signed {
                    each(a, |a| a as i16 as $signed as Self)
                } else {
                    each(a, |a| a & 0xffff)
                }
            }

            fn measure(measure: Measure, signed: bool, a: &Lanes<Self>) -> Lanes<u32> {
                // For a negative number, `bfind` finds the highest bit that differs from its sign.
                let seen = |a: Self| if signed && (a as $signed) < 0 { !a } else { a };
                match measure {
                    Measure::Popc => each(a, Self::count_ones),
                    Measure::Clz => each(a, Self::leading_zeros),
                    Measure::Bfind => each(a, |a| match seen(a) {
                        0 => u32::MAX,
                        a => <$unsigned>::BITS - 1 - a.leading_zeros(),
                    }),
                    Measure::BfindShift => each(a, |a| match seen(a) {
                        0 => u32::MAX,
                        a => a.leading_zeros(),
                    }),
                }
            }

            fn shift(shift: Shift, signed: bool, a: &Lanes<Self>, by: &Lanes<u32>) -> Lanes<Self> {
                const MOST: u32 = <$unsigned>::BITS - 1;
                match (shift, signed) {
                    (Shift::Left, _) => both(a, by, |a, by| match by {
                        0..=MOST => a << by,
                        _ => 0,
                    }),
                    (Shift::Right, false) => both(a, by, |a, by| match by {
                        0..=MOST => a >> by,
                        _ => 0,
                    }),
                    (Shift::Right, true) => {
                        both(a, by, |a, by| ((a as $signed) >> by.min(MOST)) as Self)
                    }
                }
            }

            fn multiply_add(a: &Lanes<Self>, b: &Lanes<Self>, c: &Lanes<Self>) -> Lanes<Self> {
                three(a, b, c, |a, b, c| a.wrapping_mul(b).wrapping_add(c))
            }

            fn compare(
                comparison: Comparison,
                signed: bool,
                a: &Lanes<Self>,
                b: &Lanes<Self>,
            ) -> u32 {
                // With their highest bits flipped, signed numbers are in the order of unsigned ones.
                let flip = Self::from(signed) << (Self::BITS - 1);
                match comparison {
                    Comparison::Eq => where_(a, b, |a, b| a == b),
                    Comparison::Ne => where_(a, b, |a, b| a != b),
                    Comparison::Lt => where_(a, b, |a, b| a ^ flip < b ^ flip),
                    Comparison::Le => where_(a, b, |a, b| a ^ flip <= b ^ flip),
                    Comparison::Gt => where_(a, b, |a, b| a ^ flip > b ^ flip),
                    Comparison::Ge => where_(a, b, |a, b| a ^ flip >= b ^ flip),
                }
            }

            fn bit_field(
                signed: bool,
                a: &Lanes<Self>,
                at: &Lanes<u32>,
                count: &Lanes<u32>,
            ) -> Lanes<Self> {
                three(a, at, count, |a, at, count| {
                    let (at, count) = (at & 0xff, count & 0xff);
                    let most = <$unsigned>::BITS - 1;
                    let sign = signed && count > 0 && a >> (at + count - 1).min(most) & 1 == 1;
                    let field = if at > most { 0 } else { a >> at };
                    // How many bits of the number the field covers.
                    let within = count.min(<$unsigned>::BITS.saturating_sub(at));
                    let mask = low::<$double>(within) as Self;
                    field & mask | if sign { !mask } else { 0 }
                })
            }

            fn insert(
                a: &Lanes<Self>,
                into: &Lanes<Self>,
                at: &Lanes<u32>,
                count: &Lanes<u32>,
            ) -> Lanes<Self> {
                let mut to = *into;
                for lane in 0..WARP {
                    let (at, count) = (at[lane] & 0xff, count[lane] & 0xff);
                    if at < <$unsigned>::BITS {
                        let mask = (low::<$double>(count.min(<$unsigned>::BITS)) as Self) << at;
                        to[lane] = into[lane] & !mask | a[lane] << at & mask;
                    }
                }
                to
            }
        }
    };
}

/// A mask of the `count` lowest bits, fewer than the type has.
fn low<T>(count: u32) -> T
where
    T: std::ops::Shl<u32, Output = T> + std::ops::Sub<Output = T> + From<u8>,
{
    (T::from(1) << count) - T::from(1)
}

word!(u32, i32, u64, i64);
word!(u64, i64, u128, i128);

/// Four bytes of two words, each selected by a hexadecimal digit.
pub(super) fn permute(a: u32, b: u32, digits: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let byte = |number: u32| {
        let digit = digits >> (4 * number) & 0xf;
        let byte = (bytes >> (8 * (digit & 7))) as u8;
        // The highest bit of a digit selects the byte's sign instead.
        let byte = if digit & 8 == 0 {
            byte
        } else {
            ((byte as i8) >> 7) as u8
        };
        u32::from(byte) << (8 * number)
    };
    byte(0) | byte(1) | byte(2) | byte(3)
}

/// A funnel shift: 32 bits of two words, `high` above `low`, shifted by a number of bits.
pub(super) fn funnel(shift: Shift, clamped: bool, low: u32, high: u32, by: u32) -> u32 {
    let by = if clamped { by.min(32) } else { by & 31 };
    let both = u64::from(high) << 32 | u64::from(low);
    match shift {
        Shift::Left => (both << by >> 32) as u32,
        Shift::Right => (both >> by) as u32,
    }
}

/// A bitwise function of three words, given by its truth table.
pub(super) fn table(table: u8, a: u32, b: u32, c: u32) -> u32 {
    let mut to = 0;
    for row in 0..8 {
        if table >> row & 1 == 1 {
            let side = |value: u32, bit: u32| if row >> bit & 1 == 1 { value } else { !value };
            to |= side(a, 2) & side(b, 1) & side(c, 0);
        }
    }
    to
}

pub(super) fn logic(logic: Logic, a: u32, b: u32) -> u32 {
    match logic {
        Logic::And => a & b,
        Logic::Or => a | b,
        Logic::Xor => a ^ b,
        Logic::Not => !a,
        Logic::Mov => a,
    }
}

/// The `bits` lowest bits (8, 16, 32 or 64), sign-extended or zero-extended.
pub(super) fn extended(value: u64, bits: u32, signed: bool) -> u64 {
    let unused = 64 - bits;
    if signed {
        ((value << unused).cast_signed() >> unused).cast_unsigned()
    } else {
        value << unused >> unused
    }
}

/// The first lane of a mask.
pub(super) fn first_of(mask: u32) -> u32 {
    mask.trailing_zeros() % WARP as u32
}
