// Grids and objects made larger, grids made smaller.
#pragma once

#include "../arc.cuh"

namespace ops {

// A side made so many times as long; past the longest where it is too long.
DEVICE int32_t scaled(int32_t length, int32_t factor) { return length * min(max(factor, 0), SIDE + 1); }

// Where `row` has a bit in `column`, all of `cells`, which have none yet, get it.
DEVICE void widen(uint32_t& to, uint32_t row, uint32_t column, uint32_t cells) { to += (row >> column & 1) * cells; }
DEVICE void widen(uint4& to, uint4 row, uint32_t column, uint32_t cells) {
    widen(to.x, row.x, column, cells);
    widen(to.y, row.y, column, cells);
    widen(to.z, row.z, column, cells);
    widen(to.w, row.w, column, cells);
}
// Each of so many columns `factor` times; the result has at most 32, and the factor is positive where there are any.
DEVICE uint4 widened(uint4 row, int32_t width, int32_t factor) {
    uint4 wide = make_uint4(0, 0, 0, 0);
    uint32_t cells = first_ones((uint32_t)factor);
#pragma unroll 1
    for (int32_t column = 0; column < width; ++column) {
        widen(wide, row, (uint32_t)column, cells);
        cells = up(cells, (uint32_t)factor);
    }
    return wide;
}

DEVICE BailOut hupscale(Warp warp, GridOut out, Grid grid, int32_t factor) {
    if (factor == MISSING) return NOT_DEFINED;
    int32_t width = scaled(grid.width, factor);
    if (width > SIDE) return GRID_TOO_LARGE;
    uint4 row = widened(grid.row((int32_t)warp.lane), width == 0 ? 0 : grid.width, factor);
    return out.set(warp, row, grid.height, width);
}

// The row that the lane's is a copy of; past the last one a row that is zero, where the factor is positive.
DEVICE uint4 source_row(Warp warp, Grid grid, int32_t factor) { return grid.rows[warp.lane / (uint32_t)max(factor, 1)]; }

DEVICE BailOut vupscale(Warp warp, GridOut out, Grid grid, int32_t factor) {
    if (factor == MISSING) return NOT_DEFINED;
    int32_t height = scaled(grid.height, factor);
    if (height > SIDE) return GRID_TOO_LARGE;
    return out.set(warp, source_row(warp, grid, factor) & (height == 0 ? 0 : FULL), height, grid.width);
}

DEVICE BailOut upscale(Warp warp, GridOut out, Grid grid, int32_t factor) {
    if (factor == MISSING) return NOT_DEFINED;
    int32_t height = scaled(grid.height, factor);
    int32_t width = scaled(grid.width, factor);
    if (max(height, width) > SIDE) return GRID_TOO_LARGE;
    uint4 row = source_row(warp, grid, factor);
    return out.set(warp, widened(row, width == 0 ? 0 : grid.width, factor), height, width);
}

// The upper left corner of the box stays.
DEVICE BailOut upscale_object(Warp warp, ObjectOut out, Object object, int32_t factor, Immediate immediate) {
    uint4 colour = make_uint4(0, 0, 0, 0);
    if (factor == MISSING) return NOT_DEFINED;
    Box box = box_of(object.row(warp));
    if (box.empty || factor <= 0) return out.set(warp, 0, colour, 0, 0);
    if (factor > SIDE) return PATCH_TOO_LARGE;
    // Where the large box starts in the window: the object's own if that holds it, else one that
    // starts with it.
    int32_t height = box.height() * factor;
    int32_t width = box.width() * factor;
    int32_t top = box.top + height <= SIDE ? box.top : 0;
    int32_t left = box.left + width <= SIDE ? box.left : 0;
    int32_t i = object.i + box.top - top;
    int32_t j = object.j + box.left - left;
    if (height > SIDE || width > SIDE) {
        if (!immediate.clipped()) return PATCH_TOO_LARGE;
        top = object.i + box.top;
        left = object.j + box.left;
        i = 0;
        j = 0;
    }
    int32_t from_top = (int32_t)warp.lane - top;
    int32_t r = box.top + (int32_t)((uint32_t)max(from_top, 0) / (uint32_t)factor);
    bool inside = from_top >= 0 && r <= box.bottom;
    uint32_t small = inside ? object.rows[r & (SIDE - 1)] : 0;
    uint4 small_colour = object.colours[r & (SIDE - 1)] & (inside ? FULL : 0);
    uint32_t row = 0;
#pragma unroll 1
    for (int32_t column = box.left; column <= box.right; ++column) {
        uint32_t cells = moved(first_ones((uint32_t)factor), left);
        widen(row, small, (uint32_t)column, cells);
        widen(colour, small_colour, (uint32_t)column, cells);
        left += factor;
    }
    return out.set(warp, row, colour, i, j);
}

// A negative factor counts as the positive one.
DEVICE BailOut downscale(Warp warp, GridOut out, Grid grid, int32_t factor) {
    if (factor == MISSING || factor == 0 || grid.height == 0) return NOT_DEFINED;
    // Past 32 there is nothing but the first cell either way.
    uint32_t by = (uint32_t)min(factor < 0 ? -factor : factor, SIDE);
    int32_t height = (int32_t)(((uint32_t)grid.height + by - 1) / by);
    int32_t width = (int32_t)(((uint32_t)grid.width + by - 1) / by);
    uint4 row = grid.row((int32_t)(warp.lane * by)) & ((int32_t)warp.lane < height ? FULL : 0);
    uint4 narrow = make_uint4(0, 0, 0, 0);
    uint32_t from = 0;
#pragma unroll 1
    for (uint32_t cell = 1; from < (uint32_t)grid.width; cell <<= 1) {
        widen(narrow, row, from, cell);
        from += by;
    }
    return out.set(warp, narrow, height, width);
}

}  // namespace ops
