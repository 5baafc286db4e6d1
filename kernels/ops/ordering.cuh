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

// Where a word belongs among other ascending ones: before the first that is greater. NOWHERE if that is not
// to be told.
DEVICE uint32_t place_among(Warp warp, uint32_t kind, uint32_t start, uint32_t count, uint32_t word) {
    // Most come in order: the last is looked at first.
    uint32_t low = start, high = start + count, middle = high - 1;
#pragma unroll 1
    while (low < high) {
        int32_t order = compared(warp.arena(), kind, warp.arena()[middle], word);
        if (order == UNCLEAR) return NOWHERE;
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

// Sorts words of the arena, which compare as numbers once `flipped` is: Batcher's bitonic sort, in the form in which the
// lesser of two words always comes first, so that what is missing up to a power of two is greater than all.
CALLED void sort_words(uint32_t* words, uint32_t count, uint32_t flipped) {
    uint32_t lane = threadIdx.x & 31;
#pragma unroll 1
    for (uint32_t whole = 2; whole < 2 * count; whole *= 2) {
#pragma unroll 1
        for (uint32_t half = whole / 2, across = whole - 1; half != 0; half /= 2, across = half) {
            uint32_t pairs = (count + 2 * half - 1 & (0 - 2 * half)) / 2;
#pragma unroll 1
            for (uint32_t pair = lane; pair < pairs; pair += 32) {
                uint32_t low = (pair & (0 - half)) * 2 + (pair & (half - 1)), high = low ^ across;
                if (high >= count) continue;
                uint32_t a = words[low], b = words[high];
                if ((a ^ flipped) > (b ^ flipped)) {
                    words[low] = b;
                    words[high] = a;
                }
            }
            __syncwarp();
        }
    }
}
// The elements ascending, each once.
DEVICE BailOut set_of_scalars(Warp warp, ListOut out, uint32_t kind, List list) {
    uint32_t start, kept = 0;
    if (!taken(warp, list.count, start)) return ARENA_FULL;
    uint32_t doublings = list.count == 0 ? 0 : 1 + highest_place(list.count);
    if (!spent_comparing(warp, list.count, doublings * doublings)) return TOO_MANY_ROUNDS;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < list.count; number += 32) warp.arena()[start + number] = list.at(number);
    __syncwarp();
    sort_words(warp.arena() + start, list.count, ordinal(kind, 0));
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

// Elements that are no scalars, each once, as they come: in the arena lie lists, of the words, of their fingerprints, and of
// how often each comes, each with so much room.
struct Distinct {
    uint32_t words, room, count;
    __device__ __forceinline__ uint32_t prints() const { return words + room; }
    __device__ __forceinline__ uint32_t times() const { return words + 2 * room; }
};
// The number of an element among them, or how many they are. A lane compares fingerprints, all compare the words
// of those that have the same.
DEVICE uint32_t number_among(Reader warp, uint32_t kind, Distinct all, uint32_t word, uint32_t print) {
#pragma unroll 1
    for (uint32_t first = 0; first < all.count; first += 32) {
        uint32_t number = first + warp.lane;
        uint32_t lanes = lanes_with(number < all.count && warp.arena[all.prints() + number] == print);
#pragma unroll 1
        for (; lanes != 0; lanes &= lanes - 1) {
            uint32_t found = first + (uint32_t)lowest(lanes);
            if (is_same(warp.arena, kind, warp.arena[all.words + found], word)) return found;
        }
    }
    return all.count;
}
// Adds up to 32 elements of a list, from `first` on; how many there are then.
CALLED uint32_t added(uint32_t* arena, uint32_t kind, List list, uint32_t first, Distinct all) {
    Reader warp = {threadIdx.x & 31, arena};
    uint32_t end = min(32u, list.count - first), print = 0;
    if (warp.lane < end) print = fingerprint(arena, kind, list.at(first + warp.lane));
#pragma unroll 1
    for (uint32_t at = 0; at < end; ++at) {
        uint32_t word = list.at(first + at), own = from_lane(print, at);
        uint32_t number = number_among(warp, kind, all, word, own);
        bool is_new = number == all.count;
        __syncwarp();
        if (warp.lane == 0) {
            uint32_t* times = arena + all.times() + number;
            *times = is_new ? 1 : *times + 1;
            if (is_new) {
                arena[all.words + number] = word;
                arena[all.prints() + number] = own;
            }
        }
        __syncwarp();
        all.count += is_new;
    }
    return all.count;
}
DEVICE BailOut distinct_of(Warp warp, uint32_t kind, List list, Distinct& all) {
    if (!taken(warp, 3 * list.count, all.words)) return ARENA_FULL;
    all.room = list.count;
    all.count = 0;
#pragma unroll 1
    for (uint32_t first = 0; first < list.count; first += 32) {
        if (!spent(warp, 1 + (all.count >> 5))) return TOO_MANY_ROUNDS;
        all.count = added(warp.arena(), kind, list, first, all);
    }
    return FITS;
}
// Keeps their words alone.
DEVICE void keep_words(Warp warp, Distinct all) {
    if (warp.leads) *word_at(warp, 0) = all.words + all.count;
    __syncwarp();
}

// In the order of their leading numbers, so that only those that share one are compared.
DEVICE BailOut set_of_list(Warp warp, ListOut out, List list, Immediate immediate) {
    uint32_t kind = immediate.key();
    if (is_scalar(kind)) return set_of_scalars(warp, out, kind, list);
    Distinct all;
    BailOut bail_out = distinct_of(warp, kind, list, all);
    if (bail_out != FITS) return bail_out;
    if (!spent_comparing(warp, all.count, all.count)) return TOO_MANY_ROUNDS;
    List words = {warp.arena(), all.words, all.count}, keys = {warp.arena(), all.prints(), all.count};
#pragma unroll 1
    for (uint32_t number = warp.lane; number < all.count; number += 32) {
        warp.arena()[all.prints() + number] = leading_number(warp.arena(), kind, words.at(number));
    }
    __syncwarp();
    // The sorted elements lie where it stood how often each comes, their sorted numbers where they lay before.
    sorted_by(warp, warp.arena() + all.times(), words, keys, 0);
    sorted_by(warp, warp.arena() + all.words, keys, keys, 0);
    uint32_t group = 0;
#pragma unroll 1
    for (uint32_t first = 0; first < all.count; first += 32) {
        uint32_t number = first + warp.lane;
        uint32_t shared = lanes_with(number < all.count && number != 0 && words.at(number) == words.at(number - 1));
#pragma unroll 1
        for (uint32_t left = shared; left != 0; left &= left - 1) {
            uint32_t lane = (uint32_t)lowest(left), at = all.times() + first + lane;
            // The last before it that begins a group.
            uint32_t begins = ~shared & low_bits((int32_t)lane);
            if (begins != 0) group = first + highest_place(begins);
            uint32_t element = warp.arena()[at];
            uint32_t place = place_among(warp, kind, all.times() + group, at - all.times() - group, element);
            if (place == NOWHERE) return PATCH_TOO_LARGE;
            __syncwarp();
            inserted(warp, all.times(), at - all.times(), place, element);
        }
        uint32_t begins = ~shared & low_bits((int32_t)min(32u, all.count - first));
        if (begins != 0) group = first + highest_place(begins);
    }
    __syncwarp();
#pragma unroll 1
    for (uint32_t number = warp.lane; number < all.count; number += 32) {
        warp.arena()[all.words + number] = warp.arena()[all.times() + number];
    }
    keep_words(warp, all);
    return out.set(warp, all.words, all.count);
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
    if (!spent_comparing(warp, list.count, list.count)) return TOO_MANY_ROUNDS;
    sorted_by(warp, warp.arena() + start, list, keys, ordinal(kind, 0));
    return out.set(warp, start, list.count);
}

// ---------------------------------------------------------------------------------------------
// What occurs how often
// ---------------------------------------------------------------------------------------------

// Which of up to 32 elements of a list from `first` on are this one: a bit for each.
DEVICE uint32_t same_from(Warp warp, uint32_t kind, List list, uint32_t first, uint32_t word) {
    uint32_t number = first + warp.lane, element = number < list.count ? list.at(number) : 0;
    if (is_scalar(kind)) return lanes_with(number < list.count && element == word);
    uint32_t print = fingerprint(warp.arena(), kind, word);
    uint32_t lanes = lanes_with(number < list.count && fingerprint(warp.arena(), kind, element) == print);
#pragma unroll 1
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)lowest(left);
        if (!is_same(warp.arena(), kind, from_lane(element, lane), word)) lanes &= ~(1u << lane);
    }
    return lanes;
}

DEVICE BailOut contained_in_list(Warp warp, IntOut out, Word word, List list, Immediate immediate) {
    uint32_t found = 0;
#pragma unroll 1
    for (uint32_t first = 0; first < list.count && found == 0; first += 32) {
        found = same_from(warp, immediate.key(), list, first, word.bits);
    }
    return out.set(warp, found != 0);
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
    uint32_t kind = immediate.key(), best = 0, best_times = FULL;
    if (is_scalar(kind)) {
        if (!spent_comparing(warp, list.count, list.count)) return TOO_MANY_ROUNDS;
        return commonest_scalar(warp, out, list, immediate.flag());
    }
    Distinct all;
    BailOut bail_out = distinct_of(warp, kind, list, all);
    if (bail_out != FITS) return bail_out;
    bool tied = false;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < all.count; number += 32) {
        uint32_t times = warp.arena()[all.times() + number] ^ (immediate.flag() ? 0 : FULL);
        tied = times < best_times ? false : tied || times == best_times;
        if (times < best_times) best = warp.arena()[all.words + number];
        best_times = min(best_times, times);
    }
    uint32_t lanes = lanes_with(best_times == least(best_times));
    bool alone = (lanes & (lanes - 1)) == 0 && from_lane(tied, (uint32_t)lowest(lanes)) == 0;
    return alone ? out.set(warp, from_lane(best, (uint32_t)lowest(lanes))) : SET_ORDER;
}

// The elements of a list that another list has, or with the flag those that it has not.
DEVICE BailOut among(Warp warp, ListOut out, List a, List b, Immediate immediate) {
    uint32_t start, kept = 0, kind = immediate.key();
    if (!taken(warp, a.count, start)) return ARENA_FULL;
    if (is_scalar(kind)) {
        if (!spent_comparing(warp, a.count, b.count)) return TOO_MANY_ROUNDS;
#pragma unroll 1
        for (uint32_t number = warp.lane; any_lane(number < a.count); number += 32) {
            uint32_t word = number < a.count ? a.at(number) : 0;
            bool found = times_of_own(b, b.count, word) != 0;
            append(warp, start, kept, word, number < a.count && found != immediate.flag());
        }
        return out.set(warp, start, kept);
    }
    Distinct all;
    BailOut bail_out = distinct_of(warp, kind, b, all);
    if (bail_out != FITS) return bail_out;
    Reader reader = {warp.lane, warp.arena()};
#pragma unroll 1
    for (uint32_t first = 0; first < a.count; first += 32) {
        if (!spent(warp, 1 + (all.count >> 5))) return TOO_MANY_ROUNDS;
        uint32_t end = min(32u, a.count - first), print = 0;
        if (warp.lane < end) print = fingerprint(warp.arena(), kind, a.at(first + warp.lane));
#pragma unroll 1
        for (uint32_t at = 0; at < end; ++at) {
            uint32_t word = a.at(first + at);
            bool found = number_among(reader, kind, all, word, from_lane(print, at)) != all.count;
            if (found == immediate.flag()) continue;
            if (warp.leads) warp.arena()[start + kept] = word;
            ++kept;
        }
    }
    return out.set(warp, start, kept);
}
// All elements but those that are this one.
DEVICE BailOut remove_from_list(Warp warp, ListOut out, Word word, List list, Immediate immediate) {
    uint32_t start, kept = 0;
    if (!taken(warp, list.count, start)) return ARENA_FULL;
#pragma unroll 1
    for (uint32_t first = 0; first < list.count; first += 32) {
        uint32_t removed = same_from(warp, immediate.key(), list, first, word.bits), number = first + warp.lane;
        bool own = number < list.count && (removed >> warp.lane & 1) == 0;
        append(warp, start, kept, own ? list.at(number) : 0, own);
    }
    return out.set(warp, start, kept);
}
// Each element once, where it comes first.
DEVICE BailOut dedupe_list(Warp warp, ListOut out, List list, Immediate immediate) {
    uint32_t start, kept = 0, kind = immediate.key();
    if (!is_scalar(kind)) {
        Distinct all;
        BailOut bail_out = distinct_of(warp, kind, list, all);
        if (bail_out != FITS) return bail_out;
        keep_words(warp, all);
        return out.set(warp, all.words, all.count);
    }
    if (!taken(warp, list.count, start)) return ARENA_FULL;
    if (!spent_comparing(warp, list.count, list.count)) return TOO_MANY_ROUNDS;
#pragma unroll 1
    for (uint32_t number = warp.lane; any_lane(number < list.count); number += 32) {
        uint32_t element = number < list.count ? list.at(number) : 0;
        bool first = number < list.count && times_of_own(list, number, element) == 0;
        append(warp, start, kept, element, first);
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
