// What follows of how elements of lists compare: ascending sets, sorting, what occurs how often.
#pragma once

#include "comparing.cuh"

namespace ops {

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
// to be told, ALREADY_THERE where it is.
const uint32_t ALREADY_THERE = NOWHERE - 1;
DEVICE uint32_t place_among(Warp warp, uint32_t kind, uint32_t start, uint32_t count, uint32_t word) {
    // Most come in order: the last is looked at first.
    uint32_t low = start, high = start + count, middle = high - 1;
#pragma unroll 1
    while (low < high) {
        int32_t order = compared(warp.arena(), kind, warp.arena()[middle], word);
        if (order == UNCLEAR) return NOWHERE;
        if (order == 0) return ALREADY_THERE;
        if (order < 0) {
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
    if (warp.leads) warp.arena()[place] = word;
    __syncwarp();
}

// The words of a list in the order of their keys, which compare as numbers once `flipped` is; those of
// equal keys as they come. Each lane counts the keys that come before its own.
DEVICE void sorted_by(Warp warp, uint32_t* to, List list, List keys, uint32_t flipped) {
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
    sorted_by(warp, warp.arena() + start, list, list, ordinal(kind, 0));
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
// Others in the order of their leading numbers, so that only those that share one are compared. To count
// takes more than to compare where there are so many, which are mostly the same over and over.
const uint32_t COUNTED_AT_MOST = 512;
DEVICE BailOut set_of_list(Warp warp, ListOut out, List list, Immediate immediate) {
    uint32_t start, numbers, kept = 0, kind = immediate.key();
    if (!taken(warp, list.count, start)) return ARENA_FULL;
    if (is_scalar(kind)) return set_of_scalars(warp, out, kind, list, start);
    List sorted = list;
    bool counted = list.count <= COUNTED_AT_MOST;
    if (counted) {
        if (!taken(warp, list.count, numbers)) return ARENA_FULL;
        List keys = {warp.arena(), numbers, list.count};
#pragma unroll 1
        for (uint32_t number = warp.lane; number < list.count; number += 32) {
            warp.arena()[numbers + number] = leading_number(warp.arena(), kind, list.at(number));
        }
        // They are not kept.
        if (warp.leads) *word_at(warp, 0) = numbers;
        __syncwarp();
        sorted_by(warp, warp.arena() + start, list, keys, 0);
        sorted.start = start;
    }
    // The first of those that share the last number. What is read again need not be kept meanwhile: no
    // place is written to before it was read, but with another one that shares its number.
    uint32_t group = 0;
#pragma unroll 1
    for (uint32_t first = 0; first < list.count; first += 32) {
        uint32_t number = first + warp.lane, word = 0;
        bool own = number < list.count, sharing = own && !counted;
        if (own) word = sorted.at(number);
        if (own && counted && number != 0) {
            sharing = leading_number(warp.arena(), kind, word) == leading_number(warp.arena(), kind, sorted.at(number - 1));
        }
        uint32_t shared = lanes_with(sharing);
        __syncwarp();
        if (shared == 0) {
            append(warp, start, kept, word, own);
            group = kept - 1;
            __syncwarp();
            continue;
        }
        uint32_t end = min(first + 32, list.count);
#pragma unroll 1
        for (uint32_t at = first; at < end; ++at) {
            uint32_t element = sorted.at(at), place = start + kept;
            __syncwarp();
            if (shared >> (at & 31) & 1) {
                place = place_among(warp, kind, start + group, kept - group, element);
                if (place == NOWHERE) return PATCH_TOO_LARGE;
                if (place == ALREADY_THERE) continue;
            } else {
                group = kept;
            }
            inserted(warp, start, kept, place, element);
            ++kept;
        }
    }
    return out.set(warp, start, kept);
}

// How many of so many elements of a list are the lane's own, a scalar.
DEVICE uint32_t times_of_own(List list, uint32_t count, uint32_t word) {
    uint32_t times = 0;
#pragma unroll 4
    for (uint32_t number = 0; number < count; ++number) times += list.at(number) == word;
    return times;
}

// The elements in the order of their keys, which are scalars; those of equal ones as they come. With the flag they are of a
// set, so that it is not known how these come.
DEVICE BailOut order(Warp warp, ListOut out, List list, List keys, Immediate immediate) {
    uint32_t start, kind = immediate.key();
    bool missing = false, tied = false;
    if (!taken(warp, list.count, start)) return ARENA_FULL;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < list.count; number += 32) {
        uint32_t key = keys.at(number);
        missing |= key == (uint32_t)MISSING;
        tied |= immediate.flag() && times_of_own(keys, number, key) != 0;
    }
    if (kind == INTEGER_ELEMENTS && list.count > 1 && any_lane(missing)) return NOT_DEFINED;
    if (any_lane(tied)) return SET_ORDER;
    sorted_by(warp, warp.arena() + start, list, keys, ordinal(kind, 0));
    return out.set(warp, start, list.count);
}

// ---------------------------------------------------------------------------------------------
// What occurs how often
// ---------------------------------------------------------------------------------------------

const uint32_t NOT_TOLD = 0xffffffff;

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

// The most common element, or with the flag the least common one. Of several it is the first in the set of all elements,
// which is not known here.
DEVICE BailOut commonest_scalar(Warp warp, WordOut out, List list, bool least_common) {
    uint32_t best = 0, best_times = FULL;
    bool tied = false;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < list.count; number += 32) {
        uint32_t own = list.at(number), times = times_of_own(list, list.count, own);
        times = least_common ? times : ~times;
        tied = times < best_times ? false : tied || (times == best_times && own != best);
        best = times < best_times ? own : best;
        best_times = min(best_times, times);
    }
    bool is_best = best_times == least(best_times);
    uint32_t found = from_lane(best, (uint32_t)lowest(lanes_with(is_best)));
    return any_lane(is_best && (tied || best != found)) ? SET_ORDER : out.set(warp, found);
}
DEVICE BailOut commonest(Warp warp, WordOut out, List list, Immediate immediate) {
    if (list.count == 0) return NOT_DEFINED;
    uint32_t kind = immediate.key(), best = 0, best_count = 0;
    bool tied = false;
    if (is_scalar(kind)) return commonest_scalar(warp, out, list, immediate.flag());
#pragma unroll 1
    for (uint32_t number = 0; number < list.count; ++number) {
        uint32_t word = list.at(number), count = times(warp, kind, list, word);
        if (count == NOT_TOLD) return PATCH_TOO_LARGE;
        bool better = best_count == 0 || (immediate.flag() ? count < best_count : count > best_count);
        if (!better && count == best_count) {
            int32_t order = compared(warp.arena(), kind, word, best);
            if (order == UNCLEAR) return PATCH_TOO_LARGE;
            tied |= order != 0;
        }
        if (better) {
            best = word;
            best_count = count;
            tied = false;
        }
    }
    return tied ? SET_ORDER : out.set(warp, best);
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
        if (warp.leads) warp.arena()[start + kept] = word;
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
        if (warp.leads) warp.arena()[start + kept] = element;
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
        if (warp.leads) warp.arena()[start + kept] = element;
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
