// Where an object occurs on a grid, and how it repeats.
#pragma once

#include "elements.cuh"

namespace ops {

// Where in a row of cells the columns of a pattern are all set, by the column of the pattern's bit
// 0. Columns side by side are looked for together: runs twice as long begin where two runs meet.
DEVICE uint32_t starts_of(uint32_t cells, uint32_t pattern) {
    uint32_t starts = FULL;
#pragma unroll 1
    while (pattern != 0) {
        uint32_t first = (uint32_t)lowest(pattern);
        uint32_t beyond = ~(pattern >> first);
        uint32_t length = beyond == 0 ? 32 : (uint32_t)lowest(beyond);
        uint32_t run = cells >> first;
#pragma unroll 1
        for (uint32_t reached = 1; reached < length;) {
            uint32_t step = min(reached, length - reached);
            run &= run >> step;
            reached += step;
        }
        starts &= run;
        // The carry clears the run, and what it sets is no column.
        pattern &= pattern + (1u << first);
    }
    return starts;
}

// Nothing occurs everywhere, one past the last row and column included.
DEVICE BailOut occurrences(Warp warp, PatchOut out, Grid grid, Object object, Immediate immediate) {
    if (grid.height == 0) return NOT_DEFINED;
    uint32_t left = object.row(warp);
    Box box = box_of(left);
    int32_t rows = grid.height - box.height() + 1, columns = grid.width - box.width() + 1;
    if (box.empty && !immediate.clipped() && (rows > SIDE || columns > SIDE)) return PATCH_TOO_LARGE;
    uint32_t places = (int32_t)warp.lane < rows ? low_bits(columns) : 0;
    // One colour of the object after the other.
#pragma unroll 1
    while (any_lane(left != 0) && any_lane(places != 0)) {
        uint32_t pattern = left;
        uint32_t code = keep_least(object.colour(warp), pattern);
        left &= ~pattern;
        uint32_t coloured = same(grid.row((int32_t)warp.lane), spread(code), grid.valid(warp));
        uint32_t there = lanes_with(pattern != 0);
        uint32_t before = 0, starts = 0;
#pragma unroll 1
        while (there != 0) {
            uint32_t r = (uint32_t)lowest(there);
            there &= there - 1;
            // Rows of one pattern, as boxes have them, are looked for once.
            uint32_t wanted = down(from_lane(pattern, r), (uint32_t)box.left);
            if (wanted != before) {
                starts = starts_of(coloured, wanted);
                before = wanted;
            }
            // Places are not so low that this wraps around.
            places &= from_lane(starts, warp.lane + r - (uint32_t)box.top);
            if (!any_lane(places != 0)) there = 0;
        }
    }
    return out.set(warp, places, 0, 0);
}

// The fewest columns that put every cell onto one of its colour when the object goes so far to the
// left, as far as it stays in its box; the box's width where there are none.
DEVICE BailOut hperiod(Warp warp, IntOut out, Object object) {
    Box box = box_of(object.row(warp));
    uint32_t row = down(object.row(warp), (uint32_t)box.left);
    uint4 colour = down(object.colour(warp), (uint32_t)box.left);
    int32_t width = box.width(), period = min(1, width);
#pragma unroll 1
    for (; period < width; ++period) {
        uint32_t changed = ~row | differing(colour, down(colour, (uint32_t)period));
        if (!any_lane((row >> period & changed) != 0)) break;
    }
    return out.set(warp, period);
}

// The same of rows, when the object goes up.
DEVICE BailOut vperiod(Warp warp, IntOut out, Object object) {
    uint32_t row = object.row(warp);
    uint4 colour = object.colour(warp);
    Box box = box_of(row);
    int32_t lane = (int32_t)warp.lane, height = box.height(), period = min(1, height);
#pragma unroll 1
    for (; period < height; ++period) {
        int32_t from = (lane + period) & 31;
        uint32_t lower = lane >= box.top && lane + period <= box.bottom ? object.rows[from] : 0;
        uint32_t changed = ~row | differing(colour, object.colours[from]);
        if (!any_lane((lower & changed) != 0)) break;
    }
    return out.set(warp, period);
}

}  // namespace ops
