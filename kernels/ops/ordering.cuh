// How elements of lists compare, and what follows of it: sets in canonical order, sorting, what
// occurs how often.
//
// What elements are is in the instruction (`ElementKind`): scalars compare by their words, values of
// the arena as the language's sets do, by their first difference in order. Lists of one kind compare
// element by element.
#pragma once

#include "lists.cuh"

namespace ops {

DEVICE bool is_scalar(uint32_t kind) { return kind <= CELL_ELEMENTS; }
// A scalar's word as a number that compares like it; nothing comes before all others.
DEVICE uint32_t ordinal(uint32_t kind, uint32_t word) {
    return kind == INTEGER_ELEMENTS ? word ^ 0x80000000 : kind == PAIR_ELEMENTS ? word ^ 0x80008000 : word;
}

// Less, the same, more; or not to be told here.
const int32_t UNCLEAR = 2;
DEVICE int32_t by_number(uint32_t a, uint32_t b) { return a < b ? -1 : a > b ? 1 : 0; }

// What comparing needs of a warp: calls with less leave more registers to those who make them.
struct Reader {
    uint32_t lane;
    const uint32_t* arena;
};

// A patch or an object of the arena, of which the lane has the row of a window that begins at `top`.
DEVICE Stored stored_at(Reader warp, uint32_t start, uint32_t kind, int32_t top) {
    const uint32_t* from = warp.arena + start;
    uint32_t head = from[1];
    Stored stored;
    stored.corner = unpacked(from[0]);
    stored.height = head & ROW_COUNT;
    stored.row = 0;
    stored.colour = make_uint4(0, 0, 0, 0);
    uint32_t row = warp.lane + (uint32_t)(top - stored.corner.i);
    if (row < stored.height) {
        stored.row = from[PATCH_HEAD + row];
        if (kind == OBJECT_ELEMENTS) {
            stored.colour = head >> CODE_SHIFT != 0 ? spread((head >> CODE_SHIFT) - 1) & stored.row
                                                    : planes_at(from + PATCH_HEAD + stored.height + row * PLANES);
        }
    }
    return stored;
}
DEVICE uint32_t columns_of(Stored stored) { return 32 - (uint32_t)__clz((int)either(stored.row)); }

// Two sets of locations or of cells. The first location that only one of them has decides, and whether
// the other one has any behind it.
DEVICE int32_t compared_patches(Reader warp, uint32_t kind, uint32_t at, uint32_t other) {
    Pair corner = unpacked(warp.arena[at]), corner_of_other = unpacked(warp.arena[other]);
    int32_t top = min(corner.i, corner_of_other.i);
    Stored a = stored_at(warp, at, kind, top), b = stored_at(warp, other, kind, top);
    if (a.height == 0 || b.height == 0) return by_number(a.height, b.height);
    int32_t left = min(corner.j, corner_of_other.j);
    uint32_t down_a = (uint32_t)(corner.i - top), down_b = (uint32_t)(corner_of_other.i - top);
    uint32_t right_a = (uint32_t)(corner.j - left), right_b = (uint32_t)(corner_of_other.j - left);
    // No window holds both where they lie far from each other.
    if (max(down_a + a.height, down_b + b.height) > SIDE ||
        max(right_a + columns_of(a), right_b + columns_of(b)) > 2 * SIDE) {
        return kind == PATCH_ELEMENTS && corner.i != corner_of_other.i ? (corner.i < corner_of_other.i ? -1 : 1) : UNCLEAR;
    }
    uint32_t left_in_a = a.row, left_in_b = b.row;
#pragma unroll 1
    for (uint32_t rank = 0; rank < COLOURS; ++rank) {
        uint32_t in_a = left_in_a, in_b = left_in_b;
        if (kind == OBJECT_ELEMENTS) {
            uint4 code = spread(code_of_rank(rank));
            in_a = same(a.colour, code, in_a);
            in_b = same(b.colour, code, in_b);
        }
        left_in_a &= ~in_a;
        left_in_b &= ~in_b;
        uint64_t wide_a = (uint64_t)in_a << right_a, wide_b = (uint64_t)in_b << right_b;
        uint64_t unlike = wide_a ^ wide_b;
        uint32_t lanes = lanes_with(unlike != 0);
        if (lanes == 0) continue;
        uint32_t row = (uint32_t)lowest(lanes);
        uint64_t first = unlike & (0 - unlike);
        bool only_in_a = from_lane((wide_a & first) != 0, row) != 0;
        uint64_t rest = only_in_a ? wide_b : wide_a;
        uint64_t behind = warp.lane > row ? rest : warp.lane == row ? rest & ~(first | (first - 1)) : 0;
        bool more = any_lane(behind != 0 || (only_in_a ? left_in_b : left_in_a) != 0);
        return only_in_a == more ? -1 : 1;
    }
    return 0;
}

// Two grids: by the first row that differs, then by their number of rows.
DEVICE int32_t compared_grids(Reader warp, uint32_t at, uint32_t other) {
    const uint32_t *a = warp.arena + at, *b = warp.arena + other;
    uint32_t rows_a = GridSize::height(a[0]), rows_b = GridSize::height(b[0]);
    uint32_t width_a = GridSize::width(a[0]), width_b = GridSize::width(b[0]);
    uint32_t unlike = 0;
    uint4 ranks_a = make_uint4(0, 0, 0, 0), ranks_b = ranks_a;
    bool both = warp.lane < min(rows_a, rows_b);
    if (both) {
        ranks_a = ranks_of(planes_at(a + 1 + warp.lane * PLANES));
        ranks_b = ranks_of(planes_at(b + 1 + warp.lane * PLANES));
        unlike = differing(ranks_a, ranks_b) & low_bits((int32_t)min(width_a, width_b));
    }
    uint32_t lanes = lanes_with(unlike != 0 || (both && width_a != width_b));
    if (lanes == 0) return by_number(rows_a, rows_b);
    uint32_t column = unlike == 0 ? 0 : (uint32_t)lowest(unlike);
    int32_t order = unlike == 0 ? by_number(width_a, width_b) : by_number(code_at(ranks_a, column), code_at(ranks_b, column));
    return (int32_t)from_lane((uint32_t)order, (uint32_t)lowest(lanes));
}

// How two elements compare in canonical order.
CALLED int32_t compared(const uint32_t* arena, uint32_t kind, uint32_t a, uint32_t b) {
    Reader warp = {threadIdx.x & 31, arena};
    bool listed = (kind & LISTED_ELEMENTS) != 0;
    kind &= LISTED_ELEMENTS - 1;
    List list = {arena, ListWord::start(a), ListWord::count(a)}, other = {arena, ListWord::start(b), ListWord::count(b)};
    uint32_t count = listed ? min(list.count, other.count) : 1;
#pragma unroll 1
    for (uint32_t number = 0; number < count; ++number) {
        uint32_t at = listed ? list.at(number) : a, at_other = listed ? other.at(number) : b;
        int32_t order;
        if (is_scalar(kind)) {
            order = by_number(ordinal(kind, at), ordinal(kind, at_other));
        } else if (kind == GRID_ELEMENTS) {
            order = compared_grids(warp, at, at_other);
        } else {
            order = compared_patches(warp, kind, at, at_other);
        }
        if (order != 0) return order;
    }
    return listed ? by_number(list.count, other.count) : 0;
}

DEVICE BailOut equality_of_elements(Warp warp, IntOut out, Word a, Word b, Immediate immediate) {
    int32_t order = compared(warp.arena(), immediate.key(), a.bits, b.bits);
    return order == UNCLEAR ? PATCH_TOO_LARGE : out.set(warp, order == 0);
}
// Whether a key is less, or with the flag greater, than the best one so far.
DEVICE BailOut improves(Warp warp, IntOut out, Word key, Word best, Immediate immediate) {
    uint32_t kind = immediate.key();
    if (kind == INTEGER_ELEMENTS && (key.bits == (uint32_t)MISSING || best.bits == (uint32_t)MISSING)) return NOT_DEFINED;
    int32_t order = compared(warp.arena(), kind, key.bits, best.bits);
    return order == UNCLEAR ? PATCH_TOO_LARGE : out.set(warp, order == (immediate.flag() ? 1 : -1));
}

// ---------------------------------------------------------------------------------------------
// Sets and sorting
// ---------------------------------------------------------------------------------------------

// Makes place for a word before the words from `at` on, of which there are `count` in all.
DEVICE void moved_up(Warp warp, uint32_t start, uint32_t at, uint32_t count) {
#pragma unroll 1
    while (count > at) {
        uint32_t from = count - at > 32 ? count - 32 : at;
        bool own = from + warp.lane < count;
        uint32_t* words = warp.arena() + start + from + warp.lane;
        uint32_t word = own ? words[0] : 0;
        __syncwarp();
        if (own) words[1] = word;
        __syncwarp();
        count = from;
    }
}

// Where a word belongs among ascending ones: before the first that is greater. NOWHERE if that is not
// to be told, ALREADY_THERE where it is to be there once and is.
const uint32_t ALREADY_THERE = NOWHERE - 1;
DEVICE uint32_t place_among(Warp warp, uint32_t kind, uint32_t start, uint32_t count, uint32_t word, bool once) {
    // Most come in order: the last is looked at first.
    uint32_t low = start, high = start + count, middle = high - 1;
#pragma unroll 1
    while (low < high) {
        int32_t order = compared(warp.arena(), kind, warp.arena()[middle], word);
        if (order == UNCLEAR) return NOWHERE;
        if (order == 0 && once) return ALREADY_THERE;
        if (order <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
        middle = (low + high) >> 1;
    }
    return low;
}
// Makes place there for a word, of `count` words.
DEVICE void inserted(Warp warp, uint32_t start, uint32_t count, uint32_t place, uint32_t word) {
    moved_up(warp, start, place - start, count);
    if (warp.lane == 0) warp.arena()[place] = word;
    __syncwarp();
}

// The words of a list of scalars in the order of their keys, those of equal keys as they come: each lane
// counts the keys that come before its own.
DEVICE void sorted_scalars(Warp warp, uint32_t kind, uint32_t* to, List list, List keys) {
    uint32_t flipped = ordinal(kind, 0);
#pragma unroll 1
    for (uint32_t number = warp.lane; any_lane(number < keys.count); number += 32) {
        uint32_t own = number < keys.count ? keys.at(number) ^ flipped : 0, place = 0;
#pragma unroll 4
        for (uint32_t other = 0; other < keys.count; ++other) {
            uint32_t key = keys.at(other) ^ flipped;
            place += key < own || (key == own && other < number) ? 1 : 0;
        }
        if (number < keys.count) to[place] = list.at(number);
    }
    __syncwarp();
}

// Appends what some lanes have to a list that has room for it.
DEVICE void append(Warp warp, uint32_t start, uint32_t& count, uint32_t word, bool own) {
    uint32_t lanes = lanes_with(own);
    if (own) warp.arena()[start + count + (uint32_t)__popc(lanes & low_bits((int32_t)warp.lane))] = word;
    count += (uint32_t)__popc(lanes);
}

// The elements ascending, each once.
DEVICE BailOut set_of_scalars(Warp warp, ListOut out, uint32_t kind, List list, uint32_t start) {
    uint32_t kept = 0;
    sorted_scalars(warp, kind, warp.arena() + start, list, list);
    List sorted = {warp.arena(), start, list.count};
#pragma unroll 1
    for (uint32_t number = warp.lane; any_lane(number < list.count); number += 32) {
        bool own = number < list.count;
        uint32_t word = own ? sorted.at(number) : 0;
        own = own && (number == 0 || sorted.at(number - 1) != word);
        __syncwarp();
        // What is overwritten has been read, and where the one before the next is, it stays as it is.
        append(warp, start, kept, word, own);
        __syncwarp();
    }
    return out.set(warp, start, kept);
}
DEVICE BailOut set_of_list(Warp warp, ListOut out, List list, Immediate immediate) {
    uint32_t start, kept = 0;
    if (!taken(warp, list.count, start)) return ARENA_FULL;
    if (is_scalar(immediate.key())) return set_of_scalars(warp, out, immediate.key(), list, start);
#pragma unroll 1
    for (uint32_t number = 0; number < list.count; ++number) {
        uint32_t place = place_among(warp, immediate.key(), start, kept, list.at(number), true);
        if (place == NOWHERE) return PATCH_TOO_LARGE;
        if (place == ALREADY_THERE) continue;
        inserted(warp, start, kept, place, list.at(number));
        ++kept;
    }
    return out.set(warp, start, kept);
}

// The elements in the order of their keys; those of equal ones as they come.
DEVICE BailOut order(Warp warp, ListOut out, List list, List keys, Immediate immediate) {
    uint32_t start, kind = immediate.key();
    if (!taken(warp, 2 * list.count, start)) return ARENA_FULL;
    out.set(warp, start, list.count);
    if (is_scalar(kind)) {
        bool missing = false;
#pragma unroll 1
        for (uint32_t number = warp.lane; number < list.count; number += 32) missing |= keys.at(number) == (uint32_t)MISSING;
        if (kind == INTEGER_ELEMENTS && list.count > 1 && any_lane(missing)) return NOT_DEFINED;
        sorted_scalars(warp, kind, warp.arena() + start, list, keys);
        return FITS;
    }
    // The keys lie behind the elements.
    start += list.count;
#pragma unroll 1
    for (uint32_t number = 0; number < list.count; ++number) {
        uint32_t place = place_among(warp, kind, start, number, keys.at(number), false);
        if (place == NOWHERE) return PATCH_TOO_LARGE;
        inserted(warp, start, number, place, keys.at(number));
        inserted(warp, start - list.count, number, place - list.count, list.at(number));
    }
    return FITS;
}

// ---------------------------------------------------------------------------------------------
// What occurs how often
// ---------------------------------------------------------------------------------------------

const uint32_t NOT_TOLD = 0xffffffff;

// How many of so many elements of a list are the lane's own, a scalar.
DEVICE uint32_t times_of_own(List list, uint32_t count, uint32_t word) {
    uint32_t times = 0;
#pragma unroll 4
    for (uint32_t number = 0; number < count; ++number) times += list.at(number) == word;
    return times;
}
// How many elements of a list are this one.
DEVICE uint32_t times(Warp warp, uint32_t kind, List list, uint32_t word) {
    uint32_t own = 0;
    if (is_scalar(kind)) {
#pragma unroll 1
        for (uint32_t number = warp.lane; number < list.count; number += 32) own += list.at(number) == word;
        return sum(own);
    }
#pragma unroll 1
    for (uint32_t number = 0; number < list.count; ++number) {
        int32_t order = compared(warp.arena(), kind, list.at(number), word);
        if (order == UNCLEAR) return NOT_TOLD;
        own += order == 0;
    }
    return own;
}

DEVICE BailOut contained_in_list(Warp warp, IntOut out, Word word, List list, Immediate immediate) {
    uint32_t count = times(warp, immediate.key(), list, word.bits);
    return count == NOT_TOLD ? PATCH_TOO_LARGE : out.set(warp, count != 0);
}

// The most common element, or with the flag the least common one; of several the least.
DEVICE BailOut commonest_scalar(Warp warp, WordOut out, List list, uint32_t kind, bool least_common) {
    uint32_t flipped = ordinal(kind, 0), best = FULL, best_times = FULL;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < list.count; number += 32) {
        uint32_t own = list.at(number), times = times_of_own(list, list.count, own);
        times = least_common ? times : ~times;
        own ^= flipped;
        if (times < best_times || (times == best_times && own < best)) {
            best = own;
            best_times = times;
        }
    }
    uint32_t least_times = least(best_times);
    return out.set(warp, least(best_times == least_times ? best : FULL) ^ flipped);
}
DEVICE BailOut commonest(Warp warp, WordOut out, List list, Immediate immediate) {
    if (list.count == 0) return NOT_DEFINED;
    uint32_t kind = immediate.key(), best = 0, best_count = 0;
    if (is_scalar(kind)) return commonest_scalar(warp, out, list, kind, immediate.flag());
#pragma unroll 1
    for (uint32_t number = 0; number < list.count; ++number) {
        uint32_t word = list.at(number), count = times(warp, kind, list, word);
        if (count == NOT_TOLD) return PATCH_TOO_LARGE;
        bool better = best_count == 0 || (immediate.flag() ? count < best_count : count > best_count);
        if (!better && count == best_count) {
            int32_t order = compared(warp.arena(), kind, word, best);
            if (order == UNCLEAR) return PATCH_TOO_LARGE;
            better = order < 0;
        }
        if (better) {
            best = word;
            best_count = count;
        }
    }
    return out.set(warp, best);
}

// The elements of a list that another list has, or with the flag those that it has not.
DEVICE BailOut among(Warp warp, ListOut out, List a, List b, Immediate immediate) {
    uint32_t start, kept = 0, kind = immediate.key();
    if (!taken(warp, a.count, start)) return ARENA_FULL;
    if (is_scalar(kind)) {
#pragma unroll 1
        for (uint32_t number = warp.lane; any_lane(number < a.count); number += 32) {
            uint32_t word = number < a.count ? a.at(number) : 0;
            bool found = times_of_own(b, b.count, word) != 0;
            append(warp, start, kept, word, number < a.count && found != immediate.flag());
        }
        return out.set(warp, start, kept);
    }
#pragma unroll 1
    for (uint32_t number = 0; number < a.count; ++number) {
        uint32_t word = a.at(number), count = times(warp, kind, b, word);
        if (count == NOT_TOLD) return PATCH_TOO_LARGE;
        if ((count != 0) == immediate.flag()) continue;
        if (warp.lane == 0) warp.arena()[start + kept] = word;
        ++kept;
    }
    return out.set(warp, start, kept);
}
// All elements but those that are this one.
DEVICE BailOut remove_from_list(Warp warp, ListOut out, Word word, List list, Immediate immediate) {
    uint32_t start, kept = 0, kind = immediate.key();
    if (!taken(warp, list.count, start)) return ARENA_FULL;
    if (is_scalar(kind)) {
#pragma unroll 1
        for (uint32_t number = warp.lane; any_lane(number < list.count); number += 32) {
            uint32_t element = number < list.count ? list.at(number) : word.bits;
            append(warp, start, kept, element, element != word.bits);
        }
        return out.set(warp, start, kept);
    }
#pragma unroll 1
    for (uint32_t number = 0; number < list.count; ++number) {
        uint32_t element = list.at(number);
        int32_t order = compared(warp.arena(), kind, element, word.bits);
        if (order == UNCLEAR) return PATCH_TOO_LARGE;
        if (order == 0) continue;
        if (warp.lane == 0) warp.arena()[start + kept] = element;
        ++kept;
    }
    return out.set(warp, start, kept);
}
// Each element once, where it comes first.
DEVICE BailOut dedupe_list(Warp warp, ListOut out, List list, Immediate immediate) {
    uint32_t start, kept = 0, kind = immediate.key();
    if (!taken(warp, list.count, start)) return ARENA_FULL;
    if (is_scalar(kind)) {
#pragma unroll 1
        for (uint32_t number = warp.lane; any_lane(number < list.count); number += 32) {
            uint32_t element = number < list.count ? list.at(number) : 0;
            bool first = number < list.count && times_of_own(list, number, element) == 0;
            append(warp, start, kept, element, first);
        }
        return out.set(warp, start, kept);
    }
#pragma unroll 1
    for (uint32_t number = 0; number < list.count; ++number) {
        uint32_t element = list.at(number);
        List found = {warp.arena(), start, kept};
        uint32_t count = times(warp, kind, found, element);
        if (count == NOT_TOLD) return PATCH_TOO_LARGE;
        if (count != 0) continue;
        if (warp.lane == 0) warp.arena()[start + kept] = element;
        __syncwarp();
        ++kept;
    }
    return out.set(warp, start, kept);
}

// The greatest integer, or with the flag the least; of none it is 0.
DEVICE BailOut outermost_integer(Warp warp, IntOut out, List list, Immediate immediate) {
    uint32_t flipped = immediate.flag() ? 0 : FULL, best = FULL;
    bool missing = false;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < list.count; number += 32) {
        uint32_t word = list.at(number);
        missing |= word == (uint32_t)MISSING;
        best = min(best, (word ^ 0x80000000) ^ flipped);
    }
    if (any_lane(missing)) return NOT_DEFINED;
    best = least(best);
    return out.set(warp, list.count == 0 ? 0 : (int32_t)((best ^ flipped) ^ 0x80000000));
}

}  // namespace ops
