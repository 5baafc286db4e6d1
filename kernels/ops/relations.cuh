// How two patches lie to each other, and one on a grid.
#pragma once

#include "extents.cuh"

namespace ops {

DEVICE BailOut hmatching(Warp warp, IntOut out, Patch a, Patch b) {
    return out.set(warp, (rows_of(warp, a) & moved(rows_of(warp, b), b.i - a.i)) != 0);
}

DEVICE bool share_column(Warp warp, Patch a, Patch b) {
    return (columns_of(warp, a) & moved(columns_of(warp, b), b.j - a.j)) != 0;
}
DEVICE BailOut vmatching(Warp warp, IntOut out, Patch a, Patch b) { return out.set(warp, share_column(warp, a, b)); }

DEVICE BailOut bordering(Warp warp, IntOut out, Patch patch, Grid grid) {
    Box box = bounds_of(warp, patch);
    if (box.empty) return NOT_DEFINED;
    bool outer = box.top == 0 || box.left == 0 || box.bottom == grid.height - 1;
    if (!outer && grid.height == 0) return NOT_DEFINED;
    return out.set(warp, outer || box.right == grid.width - 1);
}

// How far the second of two spans lies ahead, from edge to edge: negative where it lies behind, 0
// where they share a place.
DEVICE int32_t gap(int32_t from, int32_t to, int32_t other_from, int32_t other_to) {
    return max(other_from - to, 0) + min(other_to - from, 0);
}

// Fewest steps between locations of two patches, for patches in windows however far apart: location
// by location of the second, the nearest column of each row of the first.
DEVICE int32_t nearest(Warp warp, Patch a, Patch b) {
    uint32_t row = a.row(warp);
    uint32_t best = FULL;
#pragma unroll 1
    for (int32_t r = 0; r < SIDE; ++r) {
        int32_t down = b.i + r - a.i - (int32_t)warp.lane;
        uint32_t down_or_up = (uint32_t)max(down, -down);
        uint32_t rest = b.rows[r];
#pragma unroll 1
        while (rest != 0) {
            int32_t column = b.j + lowest(rest) - a.j;
            rest &= rest - 1;
            // From columns of the window, the bits from the location on and those up to it.
            uint32_t after = row & ~low_bits(column);
            uint32_t before = row & low_bits(column + 1);
            uint32_t steps = FULL;
            if (after != 0) steps = (uint32_t)(lowest(after) - column);
            if (before != 0) steps = min(steps, (uint32_t)(column - highest(before)));
            if (row != 0) best = min(best, steps + down_or_up);
        }
    }
    return (int32_t)least(best);
}

// Across a gap between the boxes every path goes its full width: moved until the boxes share a row
// and a column, the first grows a step at a time in the box around both, which no shortest path
// leaves. Boxes that no window holds together are rare.
DEVICE BailOut distance(Warp warp, Patch a, Patch b, int32_t& steps) {
    Box from = bounds_of(warp, a);
    Box to = bounds_of(warp, b);
    if (from.empty | to.empty) return NOT_DEFINED;
    int32_t down = gap(from.top, from.bottom, to.top, to.bottom);
    int32_t right = gap(from.left, from.right, to.left, to.right);
    Box all = around(moved_box(from, down, right), to);
    if (all.height() > SIDE || all.width() > SIDE) {
        steps = nearest(warp, a, b);
        return FITS;
    }
    uint32_t row = a.row_from(warp, all.top - down, all.left - right);
    uint32_t goal = b.row_from(warp, all.top, all.left);
    steps = max(down, -down) + max(right, -right);
#pragma unroll 1
    while (!any_lane((row & goal) != 0)) {
        // The first and the last lane get their own row, which adds nothing.
        row |= __shfl_up_sync(FULL, row, 1) | __shfl_down_sync(FULL, row, 1) | row << 1 | row >> 1;
        ++steps;
    }
    return FITS;
}
DEVICE BailOut manhattan(Warp warp, IntOut out, Patch a, Patch b) {
    int32_t steps;
    BailOut bail_out = distance(warp, a, b, steps);
    return bail_out != FITS ? bail_out : out.set(warp, steps);
}

// Whether the fewest steps are one, of patches that are not empty.
DEVICE bool beside(Warp warp, Patch a, Patch b) {
    uint32_t row = a.row(warp);
    uint32_t near = b.row_from(warp, a.i - 1, a.j) | b.row_from(warp, a.i + 1, a.j) |
                    b.row_from(warp, a.i, a.j - 1) | b.row_from(warp, a.i, a.j + 1);
    return !any_lane((row & b.row_from(warp, a.i, a.j)) != 0) && any_lane((row & near) != 0);
}
DEVICE BailOut adjacent(Warp warp, IntOut out, Patch a, Patch b) {
    if (rows_of(warp, a) == 0 || rows_of(warp, b) == 0) return NOT_DEFINED;
    return out.set(warp, beside(warp, a, b));
}

// How far the places of the second of two masks, moved on by so many, lie ahead of the first's.
DEVICE int32_t gap(uint32_t bits, uint32_t other, int32_t by) {
    return gap(lowest(bits), highest(bits), lowest(other) + by, highest(other) + by);
}

// The source goes on until it is adjacent, 42 steps at most. Only where the boxes are at most one
// apart it can be: steps before and behind that are not looked at.
DEVICE BailOut gravitate(Warp warp, PairOut out, Patch source, Patch destination) {
    const int32_t MOST = 42;
    uint32_t along = rows_of(warp, source);
    uint32_t across = columns_of(warp, source);
    uint32_t along_to = rows_of(warp, destination);
    uint32_t across_to = columns_of(warp, destination);
    if ((along == 0) | (along_to == 0)) return NOT_DEFINED;
    int32_t by = destination.i - source.i;
    int32_t by_across = destination.j - source.j;
    bool vertical = (across & moved(across_to, by_across)) != 0;
    if (!vertical) {
        uint32_t bits = along;
        along = across;
        across = bits;
        bits = along_to;
        along_to = across_to;
        across_to = bits;
        int32_t rows = by;
        by = by_across;
        by_across = rows;
    }
    int32_t middle = (lowest(along) + highest(along) + 1) >> 1;
    int32_t middle_to = (lowest(along_to) + highest(along_to) + 1) >> 1;
    int32_t way = middle < middle_to + by ? 1 : -1;
    int32_t ahead = gap(along, along_to, by) * way;
    int32_t apart = gap(across, across_to, by_across);
    int32_t last = min(ahead + span(along) + span(along_to) + 1, MOST);
    if (apart < -1 || apart > 1) last = 0;
    int32_t steps = max(ahead - 1, 0);
#pragma unroll 1
    for (; steps < last; ++steps) {
        int32_t gone = way * steps;
        // Its word stays behind: `beside` looks at the numbers alone.
        Patch there = source;
        there.i += vertical ? gone : 0;
        there.j += vertical ? 0 : gone;
        if (beside(warp, there, destination)) break;
    }
    int32_t gone = way * (steps < last ? steps : MOST);
    return out.set(warp, vertical ? gone : 0, vertical ? 0 : gone);
}

}  // namespace ops
