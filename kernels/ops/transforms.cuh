// Grids turned, mirrored, cut and joined, and what is made of a grid's size.
//
// Rows are kept zero past the size, so that a row's number may wrap around wherever what it wraps
// to lies past the size.
#pragma once

#include "../arc.cuh"

namespace ops {

// Moved towards lower columns, by 0 to 31.
DEVICE uint4 leftwards(uint4 row, uint32_t by) {
    return make_uint4(row.x >> by, row.y >> by, row.z >> by, row.w >> by);
}
DEVICE uint4 columns_from(uint4 row, uint32_t from, uint32_t count) {
    return first_columns(down(row, from), count);
}
DEVICE uint4 reversed(uint4 row) { return make_uint4(__brev(row.x), __brev(row.y), __brev(row.z), __brev(row.w)); }

// How many columns of the window lie beside a grid; of a grid without columns any number, since its
// rows are zero however far they are moved.
DEVICE uint32_t beside(Grid grid) { return (32u - (uint32_t)grid.width) & 31; }

// ---------------------------------------------------------------------------------------------
// Turned and mirrored
// ---------------------------------------------------------------------------------------------

DEVICE BailOut hmirror(Warp warp, GridOut out, Grid grid) {
    return out.set(warp, grid.row(grid.height - 1 - (int32_t)warp.lane), grid);
}

DEVICE BailOut vmirror(Warp warp, GridOut out, Grid grid) {
    return out.set(warp, leftwards(reversed(grid.row((int32_t)warp.lane)), beside(grid)), grid);
}

DEVICE BailOut rot180(Warp warp, GridOut out, Grid grid) {
    uint4 row = reversed(grid.row(grid.height - 1 - (int32_t)warp.lane));
    return out.set(warp, leftwards(row, beside(grid)), grid);
}

// Exchanges one bit of the row's number with that bit of the column's; done for each bit, it
// exchanges rows and columns (Hacker's Delight, 7-3). `low` has the columns without the bit.
DEVICE uint32_t bit_exchanged(Warp warp, uint32_t row, uint32_t bit, uint32_t low) {
    bool has = (warp.lane & bit) != 0;
    uint32_t other = __shfl_xor_sync(FULL, row, (int)bit);
    other = __funnelshift_l(other, other, has ? 32 - bit : bit);
    return choose(has ? ~low : low, row, other);
}
// The window's columns as its rows.
DEVICE uint32_t exchanged(Warp warp, uint32_t row) {
    row = bit_exchanged(warp, row, 16, 0x0000ffff);
    row = bit_exchanged(warp, row, 8, 0x00ff00ff);
    row = bit_exchanged(warp, row, 4, 0x0f0f0f0f);
    row = bit_exchanged(warp, row, 2, 0x33333333);
    return bit_exchanged(warp, row, 1, 0x55555555);
}
DEVICE uint4 exchanged(Warp warp, uint4 row) {
    row.x = exchanged(warp, row.x);
    row.y = exchanged(warp, row.y);
    row.z = exchanged(warp, row.z);
    row.w = exchanged(warp, row.w);
    return row;
}

// Rows and columns exchanged, after the grid was mirrored top to bottom, left to right, or both.
template <bool TOP_TO_BOTTOM, bool LEFT_TO_RIGHT>
DEVICE BailOut exchanged(Warp warp, GridOut out, Grid grid) {
    // Or what follows of the lane's bits would be kept in registers through the whole launch.
    ARC_OPAQUE(warp.lane);
    uint32_t by = beside(grid);
    if (grid.height <= 16 && grid.width <= 16) {
        // Most grids: two planes side by side in a word, the other two in the lanes from 16 on.
        bool upper = warp.lane >= 16;
        int32_t r = (int32_t)(warp.lane & 15);
        uint4 row = grid.row(TOP_TO_BOTTOM ? grid.height - 1 - r : r);
        uint32_t low = upper ? row.z : row.x;
        uint32_t high = upper ? row.w : row.y;
        if (LEFT_TO_RIGHT) {
            low = __brev(low) >> by;
            high = __brev(high) >> by;
        }
        uint32_t pair = low | high << 16;
        pair = bit_exchanged(warp, pair, 8, 0x00ff00ff);
        pair = bit_exchanged(warp, pair, 4, 0x0f0f0f0f);
        pair = bit_exchanged(warp, pair, 2, 0x33333333);
        pair = bit_exchanged(warp, pair, 1, 0x55555555);
        uint32_t other = __shfl_xor_sync(FULL, pair, 16);
        row = make_uint4(pair & 0xffff, pair >> 16, other & 0xffff, other >> 16);
        return out.set(warp, row & (upper ? 0 : FULL), grid.width, grid.height);
    }
    int32_t r = (int32_t)warp.lane;
    uint4 row = grid.row(TOP_TO_BOTTOM ? grid.height - 1 - r : r);
    if (LEFT_TO_RIGHT) row = leftwards(reversed(row), by);
    return out.set(warp, exchanged(warp, row), grid.width, grid.height);
}

DEVICE BailOut dmirror(Warp warp, GridOut out, Grid grid) { return exchanged<false, false>(warp, out, grid); }
DEVICE BailOut cmirror(Warp warp, GridOut out, Grid grid) { return exchanged<true, true>(warp, out, grid); }
DEVICE BailOut rot90(Warp warp, GridOut out, Grid grid) { return exchanged<true, false>(warp, out, grid); }
DEVICE BailOut rot270(Warp warp, GridOut out, Grid grid) { return exchanged<false, true>(warp, out, grid); }

// ---------------------------------------------------------------------------------------------
// Cut
// ---------------------------------------------------------------------------------------------

// So many rows and columns from row `i` and column `j` on, all of them on the grid.
DEVICE BailOut cut(Warp warp, GridOut out, Grid grid, int32_t i, int32_t j, int32_t height, int32_t width) {
    bool inside = (int32_t)warp.lane < height;
    uint32_t columns = (uint32_t)(inside ? width : 0);
    uint4 row = grid.rows.from((int32_t)warp.lane)[inside ? i : 0];
    return out.set_cut(warp, columns_from(row, (uint32_t)j, columns), height, columns);
}

// Where Python's `[start:start + size]` starts on a length, and how many it takes of it: a negative
// end of the slice counts from the end of the length.
struct Slice {
    int32_t start, size;
};
DEVICE int32_t place_of(int32_t length, int32_t at) { return at < 0 ? max(at + length, 0) : min(at, length); }
DEVICE Slice slice_of(int32_t length, int32_t start, int32_t size) {
    Slice slice = {place_of(length, start), place_of(length, start + size)};
    slice.size = max(slice.size - slice.start, 0);
    return slice;
}
// The same for both, from `start` to before `end`; `forwards` where neither starts at a negative place nor ends
// before it starts.
DEVICE BailOut cropped(Warp warp, GridOut out, Grid grid, Pair start, Pair end, bool forwards) {
    if (!forwards) {
        Slice rows = slice_of(grid.height, start.i, end.i - start.i), columns = slice_of(grid.width, start.j, end.j - start.j);
        start.i = rows.start;
        start.j = columns.start;
        end.i = rows.start + rows.size;
        end.j = columns.start + columns.size;
    }
    int32_t top = min(start.i, grid.height), left = min(start.j, grid.width);
    return cut(warp, out, grid, top, left, min(end.i, grid.height) - top, min(end.j, grid.width) - left);
}

DEVICE BailOut crop(Warp warp, GridOut out, Grid grid, Pair start, Pair dims) {
    if (is_missing(start) || is_missing(dims)) return NOT_DEFINED;
    Pair end = {start.i + dims.i, start.j + dims.j};
    return cropped(warp, out, grid, start, end, (start.i | start.j | dims.i | dims.j) >= 0);
}

DEVICE BailOut subgrid(Warp warp, GridOut out, Patch patch, Grid grid) {
    Box box = box_of(patch.row(warp));
    if (box.empty) return NOT_DEFINED;
    Pair start = {patch.i + box.top, patch.j + box.left};
    Pair end = {patch.i + box.bottom + 1, patch.j + box.right + 1};
    return cropped(warp, out, grid, start, end, (start.i | start.j) >= 0);
}

DEVICE BailOut trim(Warp warp, GridOut out, Grid grid) {
    return cut(warp, out, grid, 1, 1, max(grid.height - 2, 0), max(grid.width - 2, 0));
}

DEVICE BailOut tophalf(Warp warp, GridOut out, Grid grid) {
    return cut(warp, out, grid, 0, 0, grid.height / 2, grid.width);
}

DEVICE BailOut bottomhalf(Warp warp, GridOut out, Grid grid) {
    int32_t half = grid.height / 2;
    return cut(warp, out, grid, grid.height - half, 0, half, grid.width);
}

// Without columns there are no rows either, here and in the other half.
DEVICE BailOut lefthalf(Warp warp, GridOut out, Grid grid) {
    int32_t half = grid.width / 2;
    return cut(warp, out, grid, 0, 0, half == 0 ? 0 : grid.height, half);
}

DEVICE BailOut righthalf(Warp warp, GridOut out, Grid grid) {
    int32_t half = grid.width / 2;
    return cut(warp, out, grid, 0, grid.width - half, half == 0 ? 0 : grid.height, half);
}

// A part of a length that is split into `n`, with a line left out between parts where it does not
// divide evenly; there must be a part of this number. Past the length parts are empty.
DEVICE Slice part_of(int32_t length, int32_t n, int32_t number) {
    int32_t size = (int32_t)((uint32_t)length / (uint32_t)n);
    int32_t step = size + (size * n != length ? 1 : 0);
    return slice_of(length, step * number, size);
}
// Whether a grid can be split so and has the part that is asked for; an instruction names no more than `MAX_PARTS`.
DEVICE bool has_part(Grid grid, int32_t n, int32_t number) { return grid.height != 0 && number < n && n <= MAX_PARTS; }

DEVICE BailOut hsplit(Warp warp, GridOut out, Grid grid, int32_t n, Immediate immediate) {
    int32_t number = (int32_t)immediate.key();
    if (!has_part(grid, n, number)) return NOT_DEFINED;
    Slice part = part_of(grid.width, n, number);
    return cut(warp, out, grid, 0, part.start, grid.height, part.size);
}

DEVICE BailOut vsplit(Warp warp, GridOut out, Grid grid, int32_t n, Immediate immediate) {
    int32_t number = (int32_t)immediate.key();
    if (!has_part(grid, n, number)) return NOT_DEFINED;
    Slice part = part_of(grid.height, n, number);
    return cut(warp, out, grid, part.start, 0, part.size, grid.width);
}

// ---------------------------------------------------------------------------------------------
// Joined, and without some rows and columns
// ---------------------------------------------------------------------------------------------

DEVICE BailOut hconcat(Warp warp, GridOut out, Grid a, Grid b) {
    int32_t width = a.width + b.width;
    if (width > SIDE) return GRID_TOO_LARGE;
    uint4 row = a.row((int32_t)warp.lane) | up(b.row((int32_t)warp.lane), (uint32_t)a.width);
    int32_t height = a.height;
    if (height != b.height) {
        height = min(height, b.height);
        if (height == 0) width = 0;
        row = row & ((int32_t)warp.lane < height ? FULL : 0);
    }
    return out.set_sized(warp, row, halves((uint32_t)height, (uint32_t)width));
}

// Rows of different lengths make no grid.
DEVICE BailOut vconcat(Warp warp, GridOut out, Grid a, Grid b) {
    if (a.width != b.width && min(a.height, b.height) != 0) return NOT_DEFINED;
    int32_t height = a.height + b.height;
    if (height > SIDE) return GRID_TOO_LARGE;
    auto rows = (int32_t)warp.lane < a.height ? a.rows : b.rows.from(-a.height);
    return out.set_sized(warp, rows[warp.lane], halves((uint32_t)height, (uint32_t)max(a.width, b.width)));
}

// Only the lanes of `kept` give their rows, one below the other.
DEVICE BailOut set_kept(Warp warp, GridOut out, uint4 row, uint32_t kept, int32_t width) {
    uint32_t height = (uint32_t)__popc(kept);
    if (kept >> warp.lane & 1) out.rows[__popc(kept & ((1u << warp.lane) - 1))] = row;
    if (warp.lane >= height) out.rows[warp.lane] = make_uint4(0, 0, 0, 0);
    if (warp.leads) *out.size = halves(height, height == 0 ? 0 : (uint32_t)width);
    return FITS;
}

// A grid is the tuple of its rows; of equal ones the first is kept.
DEVICE BailOut dedupe(Warp warp, GridOut out, Grid grid) {
    uint4 row = grid.row((int32_t)warp.lane);
    // A bit for each row that is the same.
    uint32_t alike = 0;
#pragma unroll 1
    for (int32_t r = 0; r < grid.height - 1; ++r) {
        if (differing(row, grid.rows[(uint32_t)r]) == 0) alike |= 1u << r;
    }
    bool kept = (int32_t)warp.lane < grid.height && lowest(alike | 1u << warp.lane) == (int32_t)warp.lane;
    return set_kept(warp, out, row, lanes_with(kept), grid.width);
}

// Without the rows and columns of one colour, of which an empty row is none.
DEVICE BailOut compress(Warp warp, GridOut out, Grid grid) {
    uint32_t cells = grid.valid(warp);
    uint4 row = grid.row((int32_t)warp.lane);
    // A row varies where it differs from its own first cell, a column where some row differs from
    // the first one.
    uint32_t rows = lanes_with((differing(row, spread(code_at(row, 0))) & cells) != 0);
    uint32_t columns = either(differing(row, grid.row(0)) & cells);
    if (grid.width == 0) rows = low_bits(grid.height);
    // Runs of columns are taken away from the right on.
    uint32_t gone = low_bits(grid.width) & ~columns;
#pragma unroll 1
    while (gone != 0) {
        int32_t last = highest(gone);
        uint32_t before = low_bits(last) & ~gone;
        uint32_t left = before == 0 ? 0 : low_bits(highest(before) + 1);
        uint32_t run = (uint32_t)(last + 1 - __popc(left));
        // Where 32 columns go none is left.
        row = choose(left, row, leftwards(row, run & 31));
        gone &= left;
    }
    int32_t width = __popc(columns);
    return set_kept(warp, out, row & low_bits(width), rows, width);
}

// ---------------------------------------------------------------------------------------------
// Grids of no grid, and what a grid is made into
// ---------------------------------------------------------------------------------------------

DEVICE BailOut canvas(Warp warp, GridOut out, int32_t value, Pair dims) {
    if (is_missing(dims)) return NOT_DEFINED;
    if (!is_colour(value)) return value == MISSING ? NOT_DEFINED : NO_SUCH_COLOUR;
    if (max(dims.i, dims.j) > SIDE) return GRID_TOO_LARGE;
    int32_t height = max(dims.i, 0);
    int32_t width = max(dims.j, 0);
    uint32_t columns = (uint32_t)((int32_t)warp.lane < height ? width : 0);
    return out.set_cut(warp, first_columns(spread((uint32_t)value), columns), height, columns);
}

DEVICE BailOut asindices(Warp warp, PatchOut out, Grid grid) { return out.set(warp, grid.valid(warp)); }

DEVICE BailOut asobject(Warp warp, ObjectOut out, Grid grid) {
    return out.set(warp, grid.valid(warp), grid.row((int32_t)warp.lane));
}

// Negative coordinates are off the grid too.
DEVICE BailOut index(Warp warp, IntOut out, Grid grid, Pair loc) {
    if (grid.height == 0 || is_missing(loc)) return NOT_DEFINED;
    bool on = (uint32_t)loc.i < (uint32_t)grid.height && (uint32_t)loc.j < (uint32_t)grid.width;
    if (!on) return out.set_missing(warp);
    return out.set(warp, colour_of(code_at(grid.row(loc.i), (uint32_t)loc.j)));
}

DEVICE BailOut height_grid(Warp warp, IntOut out, Grid grid) { return out.set(warp, grid.height); }
DEVICE BailOut width_grid(Warp warp, IntOut out, Grid grid) { return out.set(warp, grid.width); }
DEVICE BailOut shape_grid(Warp warp, PairOut out, Grid grid) { return out.set(warp, grid.height, grid.width); }
DEVICE BailOut portrait_grid(Warp warp, IntOut out, Grid grid) { return out.set(warp, grid.height > grid.width); }

DEVICE BailOut square_grid(Warp warp, IntOut out, Grid grid) {
    if (grid.height == 0) return NOT_DEFINED;
    return out.set(warp, grid.height == grid.width);
}

// As a tuple it has its rows.
DEVICE BailOut size_grid(Warp warp, IntOut out, Grid grid) { return out.set(warp, grid.height); }

}  // namespace ops
