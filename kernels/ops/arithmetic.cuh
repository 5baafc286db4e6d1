// Integers, pairs of integers and truth values; equality, and values handed on as they are.
#pragma once

#include "../arc.cuh"

namespace ops {

// --- By component ---
//
// Each function makes one component. Integers lie within `MAX_INTEGER`, so that sums of two fit 32
// bits; what lies past the bound for good is found when the result is set.

DEVICE BailOut component_added(int32_t a, int32_t b, int32_t& to) {
    to = a + b;
    return FITS;
}
DEVICE BailOut component_subtracted(int32_t a, int32_t b, int32_t& to) {
    to = a - b;
    return FITS;
}
DEVICE BailOut component_multiplied(int32_t a, int32_t b, int32_t& to) {
    long long product = (long long)a * b;
    to = (int32_t)product;
    return product > MAX_INTEGER || product < -MAX_INTEGER ? INTEGER_TOO_LARGE : FITS;
}
// Rounds down, as Python does.
DEVICE BailOut component_divided(int32_t a, int32_t b, int32_t& to) {
    if (b == 0) return NOT_DEFINED;
    int32_t quotient = a / b;
    to = quotient - (quotient * b != a && (a < 0) != (b < 0) ? 1 : 0);
    return FITS;
}

DEVICE int32_t component_inverted(int32_t n) { return -n; }
DEVICE int32_t component_doubled(int32_t n) { return 2 * n; }
DEVICE int32_t component_halved(int32_t n) { return n >> 1; }
DEVICE int32_t component_incremented(int32_t n) { return n + 1; }
DEVICE int32_t component_decremented(int32_t n) { return n - 1; }
DEVICE int32_t component_sign(int32_t n) { return (n > 0 ? 1 : 0) - (n < 0 ? 1 : 0); }
DEVICE int32_t component_cremented(int32_t n) { return n + component_sign(n); }

// The operation NAME for two integers, two pairs, and one of each: the integer counts for both
// components of the pair. SET says how an integer is set.
#define ARC_BINARY(NAME, COMPONENT, SET)                                           \
    DEVICE BailOut NAME(Warp warp, IntOut out, int32_t a, int32_t b) {                \
        if (a == MISSING || b == MISSING) return NOT_DEFINED;                      \
        int32_t value = 0;                                                         \
        BailOut bail_out = COMPONENT(a, b, value);                                        \
        return bail_out == FITS ? out.SET(warp, value) : bail_out;                         \
    }                                                                              \
    DEVICE BailOut NAME##_components(Warp warp, PairOut out, Pair a, Pair b) {        \
        int32_t i = 0, j = 0;                                                      \
        BailOut bail_out = COMPONENT(a.i, b.i, i);                                        \
        if (bail_out == FITS) bail_out = COMPONENT(a.j, b.j, j);                           \
        return bail_out == FITS ? out.set(warp, i, j) : bail_out;                          \
    }                                                                              \
    DEVICE BailOut NAME##_pair(Warp warp, PairOut out, Pair a, Pair b) {              \
        if (is_missing(a) || is_missing(b)) return NOT_DEFINED;                    \
        return NAME##_components(warp, out, a, b);                                 \
    }                                                                              \
    DEVICE BailOut NAME##_pair_int(Warp warp, PairOut out, Pair a, int32_t b) {       \
        if (is_missing(a) || b == MISSING) return NOT_DEFINED;                     \
        Pair twice = {b, b};                                                       \
        return NAME##_components(warp, out, a, twice);                             \
    }                                                                              \
    DEVICE BailOut NAME##_int_pair(Warp warp, PairOut out, int32_t a, Pair b) {       \
        if (a == MISSING || is_missing(b)) return NOT_DEFINED;                     \
        Pair twice = {a, a};                                                       \
        return NAME##_components(warp, out, twice, b);                             \
    }
ARC_BINARY(add, component_added, set)
ARC_BINARY(subtract, component_subtracted, set)
ARC_BINARY(multiply, component_multiplied, set_within)
ARC_BINARY(divide, component_divided, set_within)
#undef ARC_BINARY

// The operation NAME for an integer and for a pair. SET says how both are set: what grows no number
// needs no look at how large it is.
#define ARC_UNARY(NAME, COMPONENT, SET)                                                 \
    DEVICE BailOut NAME(Warp warp, IntOut out, int32_t n) {                           \
        return n == MISSING ? NOT_DEFINED : out.SET(warp, COMPONENT(n));           \
    }                                                                              \
    DEVICE BailOut NAME##_pair(Warp warp, PairOut out, Pair n) {                      \
        return is_missing(n) ? NOT_DEFINED : out.SET(warp, COMPONENT(n.i), COMPONENT(n.j)); \
    }
ARC_UNARY(invert, component_inverted, set_within)
// `double`, which is a word of the language.
ARC_UNARY(doubled, component_doubled, set)
ARC_UNARY(halve, component_halved, set_within)
ARC_UNARY(increment, component_incremented, set)
ARC_UNARY(decrement, component_decremented, set)
ARC_UNARY(crement, component_cremented, set)
ARC_UNARY(sign, component_sign, set_within)
#undef ARC_UNARY

// --- Questions about integers, and truth values ---

DEVICE BailOut even(Warp warp, IntOut out, int32_t n) {
    return n == MISSING ? NOT_DEFINED : out.set(warp, (n & 1) == 0);
}
DEVICE BailOut positive(Warp warp, IntOut out, int32_t x) {
    return x == MISSING ? NOT_DEFINED : out.set(warp, x > 0);
}
DEVICE BailOut greater(Warp warp, IntOut out, int32_t a, int32_t b) {
    return a == MISSING || b == MISSING ? NOT_DEFINED : out.set(warp, a > b);
}

// Whether Python takes it for true: neither 0 nor nothing.
DEVICE bool is_true(int32_t value) { return value != 0 && value != MISSING; }
DEVICE BailOut flip(Warp warp, IntOut out, int32_t b) { return out.set(warp, !is_true(b)); }
// As Python's `and` and `or`, these give one of their operands.
DEVICE BailOut both(Warp warp, IntOut out, int32_t a, int32_t b) { return out.set(warp, is_true(a) ? b : a); }
// `either`, the name that combines the lanes of a warp.
DEVICE BailOut either_int(Warp warp, IntOut out, int32_t a, int32_t b) {
    return out.set(warp, is_true(a) ? a : b);
}

// --- Pairs ---

DEVICE BailOut toivec(Warp warp, PairOut out, int32_t i) {
    return i == MISSING ? NOT_DEFINED : out.set(warp, i, 0);
}
DEVICE BailOut tojvec(Warp warp, PairOut out, int32_t j) {
    return j == MISSING ? NOT_DEFINED : out.set(warp, 0, j);
}
// With nothing in it, it is no pair of integers.
DEVICE BailOut astuple(Warp warp, PairOut out, int32_t a, int32_t b) {
    return a == MISSING || b == MISSING ? NOT_DEFINED : out.set(warp, a, b);
}
DEVICE BailOut first_pair(Warp warp, IntOut out, Pair pair) {
    return is_missing(pair) ? NOT_DEFINED : out.set_within(warp, pair.i);
}
DEVICE BailOut last_pair(Warp warp, IntOut out, Pair pair) {
    return is_missing(pair) ? NOT_DEFINED : out.set_within(warp, pair.j);
}
// The corner of an empty patch is the empty tuple, whose maximum is 0.
DEVICE BailOut maximum_pair(Warp warp, IntOut out, Pair pair) {
    return out.set_within(warp, is_missing(pair) ? 0 : max(pair.i, pair.j));
}
DEVICE BailOut minimum_pair(Warp warp, IntOut out, Pair pair) {
    return out.set_within(warp, is_missing(pair) ? 0 : min(pair.i, pair.j));
}

// --- Equality ---

// What is missing equals only what is missing.
DEVICE BailOut equality(Warp warp, IntOut out, int32_t a, int32_t b) { return out.set(warp, a == b); }
DEVICE BailOut equality_pair(Warp warp, IntOut out, Pair a, Pair b) { return out.set(warp, a.i == b.i && a.j == b.j); }
DEVICE BailOut equality_grid(Warp warp, IntOut out, Grid a, Grid b) {
    bool unlike = any_lane(differing(a.row(warp.lane), b.row(warp.lane)) != 0);
    return out.set(warp, !unlike && a.height == b.height && a.width == b.width);
}

// --- Handed on as they are ---

DEVICE BailOut identity(Warp warp, GridOut out, Grid x) {
    return out.set(warp, x.row(warp.lane), x);
}
DEVICE BailOut identity_int(Warp warp, IntOut out, int32_t x) {
    return out.set_within(warp, x);
}
DEVICE BailOut identity_pair(Warp warp, PairOut out, Pair x) {
    return out.set_within(warp, x.i, x.j);
}
DEVICE BailOut identity_colours(Warp warp, ColoursOut out, Colours x) { return out.set(warp, x.codes); }
DEVICE BailOut identity_patch(Warp warp, PatchOut out, Patch x) { return out.set(warp, x.row(warp), x); }
DEVICE BailOut identity_object(Warp warp, ObjectOut out, Object x) {
    return out.set(warp, x.row(warp), x.colour(warp), x);
}

DEVICE BailOut branch(Warp warp, GridOut out, int32_t condition, Grid a, Grid b) {
    return identity(warp, out, is_true(condition) ? a : b);
}
DEVICE BailOut branch_int(Warp warp, IntOut out, int32_t condition, int32_t a, int32_t b) {
    return identity_int(warp, out, is_true(condition) ? a : b);
}
DEVICE BailOut branch_pair(Warp warp, PairOut out, int32_t condition, Pair a, Pair b) {
    return identity_pair(warp, out, is_true(condition) ? a : b);
}
DEVICE BailOut branch_colours(Warp warp, ColoursOut out, int32_t condition, Colours a, Colours b) {
    return identity_colours(warp, out, is_true(condition) ? a : b);
}
DEVICE BailOut branch_object(Warp warp, ObjectOut out, int32_t condition, Object a, Object b) {
    return identity_object(warp, out, is_true(condition) ? a : b);
}
// Of an object and a patch only the patch is one without its colours.
DEVICE BailOut branch_object_patch(Warp warp, PatchOut out, int32_t condition, Object, Patch b) {
    return is_true(condition) ? NOT_DEFINED : identity_patch(warp, out, b);
}
DEVICE BailOut branch_patch_object(Warp warp, PatchOut out, int32_t condition, Patch a, Object) {
    return is_true(condition) ? identity_patch(warp, out, a) : NOT_DEFINED;
}
DEVICE BailOut branch_patch(Warp warp, PatchOut out, int32_t condition, Patch a, Patch b) {
    return identity_patch(warp, out, is_true(condition) ? a : b);
}

}  // namespace ops
