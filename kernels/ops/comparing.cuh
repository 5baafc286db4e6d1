// How elements of lists compare.
//
// What elements are is in the instruction (`ElementKind`): scalars compare by their words, values of
// the arena by their first difference. Lists of one kind compare element by element.
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

// How two elements compare. Sets lie ascending by that, wherever Python has their elements.
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

// ---------------------------------------------------------------------------------------------
// What a lane can say of an element of its own
// ---------------------------------------------------------------------------------------------

// A number for a cell that is no less than that of a cell before it; those far away share some.
DEVICE uint32_t leading_number(uint32_t rank, int32_t i, int32_t j) {
    const int32_t MOST = 2 * MAX_CELL - 1;
    i += MAX_CELL;
    j = i < 0 || i > MOST ? i : j + MAX_CELL;
    return CellWord::packed(rank, (uint32_t)min(max(i, 0), MOST), (uint32_t)min(max(j, 0), MOST));
}
// The cells of the least rank among some of a row, and that rank.
DEVICE uint32_t least_in_row(uint4 ranks, uint32_t& cells) {
    const uint32_t planes[PLANES] = {ranks.x, ranks.y, ranks.z, ranks.w};
    uint32_t rank = 0;
#pragma unroll
    for (int plane = PLANES - 1; plane >= 0; --plane) {
        uint32_t without_bit = cells & ~planes[plane];
        rank |= without_bit == 0 ? 1u << plane : 0;
        cells = without_bit == 0 ? cells : without_bit;
    }
    return rank;
}
// That of the first location or the first cell of a set. Of an empty one it is 0.
DEVICE uint32_t leading_number_of_set(uint32_t kind, const uint32_t* from) {
    Pair corner = unpacked(from[0]);
    uint32_t head = from[1], height = head & ROW_COUNT;
    if (height == 0) return 0;
    // The first row of a box has a location.
    int32_t first = corner.j + lowest(from[PATCH_HEAD]);
    if (kind == PATCH_ELEMENTS) {
        Pair at = {corner.i, first};
        return ordinal(PAIR_ELEMENTS, packed(at));
    }
    if (head >> CODE_SHIFT != 0) return leading_number(rank_of((head >> CODE_SHIFT) - 1), corner.i, first);
    uint32_t best = FULL;
#pragma unroll 1
    for (uint32_t row = 0; row < height; ++row) {
        uint32_t cells = from[PATCH_HEAD + row];
        uint32_t rank = least_in_row(ranks_of(planes_at(from + PATCH_HEAD + height + row * PLANES)), cells);
        if (cells != 0) best = min(best, leading_number(rank, corner.i + (int32_t)row, corner.j + lowest(cells)));
    }
    return best;
}
// That of the first cells of a grid's first row.
DEVICE uint32_t leading_number_of_grid(const uint32_t* from) {
    const uint32_t BITS = 5;
    if (GridSize::height(from[0]) == 0) return 0;
    uint32_t width = GridSize::width(from[0]), number = 0;
    uint4 ranks = ranks_of(planes_at(from + 1));
#pragma unroll 1
    for (uint32_t column = 0; column < 32 / BITS; ++column) {
        number = number << BITS | (column < width ? code_at(ranks, column) + 1 : 0);
    }
    return number;
}
// A number for an element that is no less than that of an element before it.
DEVICE uint32_t leading_number(const uint32_t* arena, uint32_t kind, uint32_t word) {
    if (kind & LISTED_ELEMENTS) {
        if (ListWord::count(word) == 0) return 0;
        word = arena[ListWord::start(word)];
        kind &= LISTED_ELEMENTS - 1;
    }
    if (is_scalar(kind)) return ordinal(kind, word);
    return kind == GRID_ELEMENTS ? leading_number_of_grid(arena + word) : leading_number_of_set(kind, arena + word);
}

// ---------------------------------------------------------------------------------------------
// Equal elements
// ---------------------------------------------------------------------------------------------

// How many words a grid, a patch or an object of the arena has.
DEVICE uint32_t words_of(uint32_t kind, const uint32_t* from) {
    if (kind == GRID_ELEMENTS) return 1 + PLANES * GridSize::height(from[0]);
    uint32_t several = kind == OBJECT_ELEMENTS && from[1] >> CODE_SHIFT == 0 ? 1 + PLANES : 1;
    return PATCH_HEAD + (from[1] & ROW_COUNT) * several;
}
// Multiplying moves bits up, shifting moves them down.
DEVICE uint32_t mixed(uint32_t print, uint32_t word) {
    print = (print ^ word) * 0x9e3779b1;
    return print ^ print >> 15;
}
// A number of the lane's own element: the same for equal elements, and seldom for others.
DEVICE uint32_t fingerprint(const uint32_t* arena, uint32_t kind, uint32_t word) {
    bool listed = (kind & LISTED_ELEMENTS) != 0;
    kind &= LISTED_ELEMENTS - 1;
    uint32_t print = listed ? ListWord::count(word) : 0, elements = listed ? print : 1;
#pragma unroll 1
    for (uint32_t number = 0; number < elements; ++number) {
        uint32_t element = listed ? arena[ListWord::start(word) + number] : word;
        if (is_scalar(kind)) {
            print = mixed(print, element);
            continue;
        }
        const uint32_t* from = arena + element;
        uint32_t words = words_of(kind, from);
#pragma unroll 1
        for (uint32_t at = 0; at < words; ++at) print = mixed(print, from[at]);
    }
    return print;
}
// Whether two elements are the same: where equal values have equal words.
CALLED bool is_same(const uint32_t* arena, uint32_t kind, uint32_t a, uint32_t b) {
    Reader warp = {threadIdx.x & 31, arena};
    bool listed = (kind & LISTED_ELEMENTS) != 0;
    kind &= LISTED_ELEMENTS - 1;
    List list = {arena, ListWord::start(a), ListWord::count(a)}, other = {arena, ListWord::start(b), ListWord::count(b)};
    if (listed && list.count != other.count) return false;
    uint32_t elements = listed ? list.count : 1;
#pragma unroll 1
    for (uint32_t number = 0; number < elements; ++number) {
        uint32_t at = listed ? list.at(number) : a, at_other = listed ? other.at(number) : b;
        if (is_scalar(kind)) {
            if (at != at_other) return false;
            continue;
        }
        const uint32_t *from = arena + at, *from_other = arena + at_other;
        uint32_t words = words_of(kind, from), unlike = words ^ words_of(kind, from_other);
#pragma unroll 1
        for (uint32_t word = warp.lane; unlike == 0 && word < words; word += 32) unlike = from[word] ^ from_other[word];
        if (any_lane(unlike != 0)) return false;
    }
    return true;
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

}  // namespace ops
