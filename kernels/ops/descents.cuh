// Elements of a set side by side: each lane goes down an element of its own, row by row, so that all
// take as long as the highest of them, where one after the other each takes its flood.
//
// A lane takes up what is joined with what it has in the row above. Whatever else is joined with that
// from above belongs to the element too, though the lane has not been there: of such an element, of which
// real grids have few, nothing is known but that it is one of these.
#pragma once

#include "elements.cuh"

namespace ops {

// Where elements may begin, a bit each: the last cells of the runs of which no cell is joined with one
// above it. All else of an element lies below its first run.
DEVICE uint32_t beginnings_of(uint32_t cells, Joints joints) {
    uint32_t above = joints.above | joints.above_left | joints.above_right;
    // The cells that are joined with the one to the right. From the first cell of a run a carry goes up to
    // its last one, or stops short of a cell that is joined with one above.
    uint32_t right = joints.left >> 1;
    return ((right & ~(above >> 1)) + (cells & ~(joints.left | above))) & ~right;
}

// Cells of the lanes' rows, numbered in reading order.
struct Numbered {
    uint32_t cells;
    // The number of the lane's first cell.
    uint32_t first;

    __device__ __forceinline__ Numbered(Warp warp, uint32_t cells) : cells(cells), first(before(warp, (uint32_t)__popc(cells))) {}
    // How many there are.
    __device__ __forceinline__ uint32_t count() const { return from_lane(first + (uint32_t)__popc(cells), 31); }
    // The cell of a number of the lane's own, as a bit of a row; no bit where there is no such cell.
    __device__ __forceinline__ uint32_t at(uint32_t number, uint32_t& row) const {
        // The last row that begins with that number or a lesser one.
        row = 0;
#pragma unroll
        for (uint32_t step = 16; step > 0; step >>= 1) {
            if (__shfl_sync(FULL, first, (int)(row + step)) <= number) row += step;
        }
        uint32_t bits = __shfl_sync(FULL, cells, (int)row);
        number -= __shfl_sync(FULL, first, (int)row);
#pragma unroll 1
        for (; number != 0 && bits != 0; --number) bits &= bits - 1;
        return bits & (0 - bits);
    }
    // Of the cells with the 32 numbers from `number` on, those whose bits are set, in the lane's row.
    __device__ __forceinline__ uint32_t chosen(uint32_t number, uint32_t bits) const {
        uint32_t chosen = 0, rest = cells;
        bits = moved(bits, (int32_t)(number - first));
#pragma unroll 1
        for (; rest != 0 && bits != 0; rest &= rest - 1) {
            if (bits & 1) chosen |= rest & (0 - rest);
            bits >>= 1;
        }
        return chosen;
    }
};

// What a lane knows of its element.
struct Descent {
    // Whether all cells of the element are known; else that it has one, or that it has none.
    bool whole, torn;
    // Its first row and the one after its last, its cells, and the columns in which it has some.
    uint32_t top, end, size, columns;
};
template <bool CORNERS, bool UNIVALUED>
DEVICE Descent descent(Objects objects, uint32_t row, uint32_t beginning) {
    uint4 colour = objects.colours[row];
    uint4 wanted = make_uint4(where(colour.x & beginning), where(colour.y & beginning), where(colour.z & beginning),
                              where(colour.w & beginning));
    Descent descent = {false, false, row, row, 0, 0};
    uint32_t domain = objects.rows[row], rest_above = 0, missed = 0;
    if (UNIVALUED) domain = same(colour, wanted, domain);
#pragma unroll 1
    for (uint32_t found = beginning; found != 0;) {
        found = runs(found, domain);
        uint32_t beside = CORNERS ? found | found << 1 | found >> 1 : found;
        missed |= beside & rest_above;
        descent.size += (uint32_t)__popc(found);
        descent.columns |= found;
        rest_above = domain & ~found;
        ++row;
        if (row == SIDE) break;
        domain = objects.rows[row];
        if (UNIVALUED) domain = same(objects.colours[row], wanted, domain);
        found = beside & domain;
    }
    descent.end = row;
    descent.torn = missed != 0;
    descent.whole = beginning != 0 && missed == 0;
    return descent;
}
DEVICE Descent descent(Objects objects, uint32_t structure, uint32_t row, uint32_t beginning) {
    if (structure & UNIVALUED) {
        return structure & DIAGONAL ? descent<true, true>(objects, row, beginning) : descent<false, true>(objects, row, beginning);
    }
    return structure & DIAGONAL ? descent<true, false>(objects, row, beginning) : descent<false, false>(objects, row, beginning);
}

// Whether so many elements begin that to go down them pays; few take less one after the other.
DEVICE bool are_many(uint32_t beginnings) {
    const int32_t MANY = 4;
    uint32_t further = beginnings & (beginnings - 1);
    return __popc(lanes_with(beginnings != 0)) + __popc(lanes_with(further != 0)) >= MANY;
}

// Goes down the elements of a set but for its single cells, 32 at a time.
struct Descents {
    Numbered numbered;
    uint32_t count, next_number;
    // What elements that are torn begin with.
    uint32_t torn;
    // What the lane knows of its own.
    Descent own;

    __device__ __forceinline__ Descents(Warp warp, uint32_t beginnings) : numbered(warp, beginnings), next_number(0), torn(0) {
        count = numbered.count();
    }
    // Goes down the next ones, if there are any.
    __device__ __forceinline__ bool next(Warp warp, Objects objects, uint32_t structure) {
        if (next_number >= count) return false;
        uint32_t row, beginning = numbered.at(next_number + warp.lane, row);
        own = descent(objects, structure, row, beginning);
        next_number += 32;
        uint32_t lanes = lanes_with(own.torn);
        if (lanes != 0) torn |= beginnings_of(lanes);
        return true;
    }
    // Where the elements of these lanes begin.
    __device__ __forceinline__ uint32_t beginnings_of(uint32_t lanes) const { return numbered.chosen(next_number - 32, lanes); }
};
}  // namespace ops
