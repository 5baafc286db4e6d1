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

    __device__ __forceinline__ explicit Numbered(uint32_t cells) : cells(cells), first(0) {}
    // Numbers them, and says how many there are. Before that only the cells are known.
    __device__ __forceinline__ uint32_t number(Warp warp) {
        first = before(warp, (uint32_t)__popc(cells));
        return from_lane(first + (uint32_t)__popc(cells), 31);
    }
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
    // Its first row and its last one, its cells, and the columns in which it has some.
    uint32_t top, bottom, size, columns;
};
// Of the element that begins there. All lanes go down as long as one of them finds cells.
template <bool CORNERS>
DEVICE Descent descent(Joints joints, uint32_t row, uint32_t beginning) {
    Descent own = {false, false, row, row, 0, 0};
    // What is found of the row, and what is joined with cells above that were not found.
    uint32_t found = beginning, unseen = 0, missed = 0, left = __shfl_sync(FULL, joints.left, (int)row);
#pragma unroll 1
    while (true) {
        found = joined_runs(found, left);
        own.size += (uint32_t)__popc(found);
        own.columns |= found;
        missed |= found & unseen;
        // Past the last row comes the first one, in which nothing is joined with cells above.
        ++row;
        left = __shfl_sync(FULL, joints.left, (int)row);
        unseen = __shfl_sync(FULL, joints.above, (int)row);
        uint32_t reached = found & unseen;
        unseen ^= reached;
        if (CORNERS) {
            uint32_t above_left = __shfl_sync(FULL, joints.above_left, (int)row);
            uint32_t above_right = __shfl_sync(FULL, joints.above_right, (int)row);
            uint32_t from_left = found << 1 & above_left, from_right = found >> 1 & above_right;
            reached |= from_left | from_right;
            unseen |= (above_left ^ from_left) | (above_right ^ from_right);
        }
        found = reached;
        if (!any_lane(found != 0)) break;
        if (found != 0) own.bottom = row;
    }
    own.torn = missed != 0;
    own.whole = beginning != 0 && missed == 0;
    return own;
}

// Whether so many elements begin that to go down them pays; few take less one after the other.
DEVICE bool are_many(uint32_t beginnings) {
    const int32_t MANY = 4;
    uint32_t further = beginnings & (beginnings - 1);
    return __popc(lanes_with(beginnings != 0)) + __popc(lanes_with(further != 0)) >= MANY;
}

// Goes down the elements of a set but for its single cells, 32 at a time.
struct Descents {
    Joints joints;
    Numbered numbered;
    // Whether elements are dealt out to the lanes by their numbers: where no row has two, its own lane takes its.
    bool dealt_out;
    uint32_t count, next_number;
    // What elements that are torn begin with.
    uint32_t torn;
    // What the lane knows of its own.
    Descent own;

    __device__ __forceinline__ Descents(Warp warp, Joints joints, uint32_t beginnings)
        : joints(joints), numbered(beginnings), count(1), next_number(0), torn(0) {
        dealt_out = any_lane((beginnings & (beginnings - 1)) != 0);
        if (dealt_out) count = numbered.number(warp);
    }
    // Goes down the next ones, if there are any.
    __device__ __forceinline__ bool next(Warp warp, uint32_t structure) {
        if (next_number >= count) return false;
        uint32_t row = warp.lane, beginning = numbered.cells;
        if (dealt_out) beginning = numbered.at(next_number + warp.lane, row);
        own = structure & DIAGONAL ? descent<true>(joints, row, beginning) : descent<false>(joints, row, beginning);
        next_number += 32;
        if (any_lane(own.torn)) torn |= beginnings_of(own.torn);
        return true;
    }
    // Where the elements of the lanes begin of which that is true.
    __device__ __forceinline__ uint32_t beginnings_of(bool condition) const {
        if (!dealt_out) return condition ? numbered.cells : 0;
        return numbered.chosen(next_number - 32, lanes_with(condition));
    }
};
}  // namespace ops
