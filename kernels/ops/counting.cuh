// How many cells have each colour, and which colours occur: what several families ask of a row of
// planes and the columns in which it has cells.
#pragma once

#include "../arc.cuh"

namespace ops {

// Where a colour stands among the others, -1 first, and the code of what stands there.
DEVICE uint32_t rank_of(uint32_t code) { return (code - (uint32_t)FIRST_COLOUR) & (COLOURS - 1); }
DEVICE uint32_t code_of_rank(uint32_t rank) { return (rank + (uint32_t)FIRST_COLOUR) & (COLOURS - 1); }
// A set of codes with its bits in the order of ranks, so that the lowest bit is the smallest colour.
DEVICE uint32_t by_rank(uint32_t codes) { return (codes << 1 | codes >> 15) & 0xffff; }

// Of the columns `part`, those of the four codes that planes x and y tell apart, a byte each: bit 0
// of the byte's number is y, bit 1 is x.
DEVICE uint32_t counted(uint4 row, uint32_t part) {
    return (uint32_t)__popc(part & ~row.x & ~row.y) | (uint32_t)__popc(part & ~row.x & row.y) << 8 |
           (uint32_t)__popc(part & row.x & ~row.y) << 16 | (uint32_t)__popc(part & row.x & row.y) << 24;
}
// Half of what a lane has goes to its partner `step` lanes away, who keeps that half for both.
DEVICE uint32_t dealt(bool upper, uint32_t lower_part, uint32_t upper_part, int step) {
    uint32_t given = upper ? lower_part : upper_part;
    return (upper ? upper_part : lower_part) + __shfl_xor_sync(FULL, given, step);
}
// Lane c, and lane 16 + c, get the number of cells with code c.
//
// Sums are formed while they are dealt out: with every step a lane has half as many codes, for
// twice as many rows. That takes 6 shuffles. A row has at most 32 cells of a code and four rows
// 128, so that bytes hold them; after that 16 bits are needed.
DEVICE uint32_t counts(Warp warp, uint4 row, uint32_t cells) {
    uint32_t low = cells & ~row.w, high = cells & row.w;
    uint32_t a = counted(row, low & ~row.z), b = counted(row, low & row.z);
    uint32_t c = 0, d = 0;
    // Most grids have no colours past 7.
    if (any_lane(high != 0)) {
        c = counted(row, high & ~row.z);
        d = counted(row, high & row.z);
    }
    bool upper = warp.lane & 8;
    a = dealt(upper, a, c, 8);
    b = dealt(upper, b, d, 8);
    a = dealt(warp.lane & 4, a, b, 4);
    a = dealt(warp.lane & 2, a & 0x00ff00ff, a >> 8 & 0x00ff00ff, 2);
    a = dealt(warp.lane & 1, a & 0xffff, a >> 16, 1);
    return a + __shfl_xor_sync(FULL, a, 16);
}

// No code: of nothing, and where it depends on how Python built a set.
const uint32_t NO_CODE = COLOURS, UNORDERED = COLOURS + 1;
DEVICE BailOut without_code(uint32_t code) { return code == NO_CODE ? NOT_DEFINED : SET_ORDER; }

// Of some codes of a set the one whose colour Python iterates over first, or last.
//
// Its table has 8 slots for up to four colours, and 16 or more for others. Colours are their own hashes but for -1, whose
// hash is -2. Where two have the same slot, the one that was added first has it.
DEVICE uint32_t first_in_set(uint32_t all, uint32_t some, bool from_last = false) {
    uint32_t slots = __popc(all) > 4 ? 16 : 8, taken = 0, best = slots, found = NO_CODE;
#pragma unroll 1
    for (; all != 0; all &= all - 1) {
        uint32_t code = (uint32_t)lowest(all), slot = (code == code_of(-1) ? 14 : code) & (slots - 1);
        if (taken >> slot & 1) return UNORDERED;
        taken |= 1u << slot;
        if (from_last) slot = slots - 1 - slot;
        if ((some >> code & 1) && slot < best) {
            best = slot;
            found = code;
        }
    }
    return found;
}

// The code of the colour whose key is least; a lane's key is for the code of its number modulo 16,
// and `none` or more where there is no such cell. Of equal keys the first in the set of all colours counts.
DEVICE uint32_t code_of_least(uint32_t key, uint32_t none) {
    uint32_t best = key;
#pragma unroll
    for (int step = 8; step > 0; step >>= 1) best = min(best, __shfl_xor_sync(FULL, best, step));
    uint32_t tied = lanes_with(key == best) & 0xffff;
    if (best >= none) return NO_CODE;
    return (tied & (tied - 1)) == 0 ? (uint32_t)lowest(tied) : first_in_set(lanes_with(key < none) & 0xffff, tied);
}
// The code of the most and of the least common colour; `NO_CODE` where there is no cell.
DEVICE uint32_t most_common(Warp warp, uint4 row, uint32_t cells) {
    return code_of_least(1024 - counts(warp, row, cells), 1024);
}
DEVICE uint32_t least_common(Warp warp, uint4 row, uint32_t cells) {
    uint32_t count = counts(warp, row, cells);
    return code_of_least(count == 0 ? 1025 : count, 1025);
}
// The cells of a row whose code is not 0, which is black.
DEVICE uint32_t not_black(uint4 row) { return row.x | row.y | row.z | row.w; }
// Whether more than half of a grid's cells are black, as of most grids they are.
DEVICE bool is_mostly_black(Grid grid, uint4 row) {
    return 2 * sum((uint32_t)__popc(not_black(row))) < (uint32_t)(grid.height * grid.width);
}
// The most common colour of a grid that is not mostly black.
//
// Of most of these too more than half of the cells are of one colour, and so many that it is enough to count
// planes: its code has the bits that most cells have, and no more cells differ from it than the planes'
// other bits.
DEVICE uint32_t coloured_background_of(Warp warp, Grid grid, uint4 row) {
    uint32_t all = (uint32_t)(grid.height * grid.width);
    uint32_t xy = (uint32_t)__popc(row.x) | (uint32_t)__popc(row.y) << 16;
    uint32_t zw = (uint32_t)__popc(row.z) | (uint32_t)__popc(row.w) << 16;
    // Lanes up to 15 sum up planes x and y, the others z and w.
    uint32_t own = dealt(warp.lane & 16, xy, zw, 16);
#pragma unroll
    for (int step = 8; step > 0; step >>= 1) own += __shfl_xor_sync(FULL, own, step);
    uint32_t low = own & 0xffff, high = own >> 16;
    uint32_t others = min(low, all - low) + min(high, all - high);
    others += __shfl_xor_sync(FULL, others, 16);
    if (2 * others < all) {
        uint32_t bits = (2 * low > all ? 1 : 0) | (2 * high > all ? 2 : 0);
        return from_lane(bits, 0) | from_lane(bits, 16) << 2;
    }
    return most_common(warp, row, grid.valid(warp));
}
// The most common colour of a grid: what `underfill`, `cover` and others take for its background.
DEVICE uint32_t background_of(Warp warp, Grid grid) {
    uint4 row = grid.row(warp.lane);
    return is_mostly_black(grid, row) ? 0 : coloured_background_of(warp, grid, row);
}

// Which of the eight codes that planes x, y and z tell apart occur in the columns `part`. A vote is
// cheaper than to count.
DEVICE uint32_t codes_in(uint4 row, uint32_t part) {
    uint32_t codes = 0;
#pragma unroll
    for (uint32_t code = 0; code < 8; ++code) {
        uint32_t cells = part & (code & 1 ? row.x : ~row.x) & (code & 2 ? row.y : ~row.y) & (code & 4 ? row.z : ~row.z);
        codes |= any_lane(cells != 0) ? 1u << code : 0;
    }
    return codes;
}
// The set of the codes that occur.
DEVICE uint32_t codes_of(uint4 row, uint32_t cells) {
    uint32_t low = cells & ~row.w, high = cells & row.w;
    uint32_t codes = codes_in(row, low);
    if (any_lane(high != 0)) codes |= codes_in(row, high) << 8;
    return codes;
}

// Of some columns those without a bit in a plane, where there are any in the whole warp; else all,
// and `bit` is set in the code.
DEVICE uint32_t without(uint32_t cells, uint32_t plane, uint32_t bit, uint32_t& code) {
    bool found = any_lane((cells & ~plane) != 0);
    code |= found ? 0 : bit;
    return found ? cells & ~plane : cells;
}
// The code that all cells have, or `NO_CODE` where they have several. Planes are zero outside the cells.
DEVICE uint32_t only_code(uint32_t cells, uint4 colour) {
    uint32_t ones = (uint32_t)any_lane(colour.x != 0) | (uint32_t)any_lane(colour.y != 0) << 1 |
                    (uint32_t)any_lane(colour.z != 0) << 2 | (uint32_t)any_lane(colour.w != 0) << 3;
    return any_lane((differing(colour, spread(ones)) & cells) != 0) ? NO_CODE : ones;
}

}  // namespace ops
