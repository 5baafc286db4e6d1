// The arena of an evaluation: room that is taken in turn, and values there.
//
// A list is as many words as it has elements. A scalar is its own word; a list inside a list is its
// word too. Of a grid, a patch or an object the word says where it lies in the arena, without the
// rows and columns around it that the pool has: equal values are equal words there.
//
// - A grid: its size, then its rows of planes.
// - A patch: the upper left corner of its box, how many rows that has, then the rows.
// - An object: the same, where above the number of rows stands one more than the code of its colour,
//   or 0 where it has several; then the rows of planes come last.
#pragma once

#include "elements.cuh"
#include "windows.cuh"

namespace ops {

// Takes so many words from the arena, if there are as many; they begin at `start`.
//
// How much is taken stands in the first word of the pool.
DEVICE bool taken(Warp warp, uint32_t count, uint32_t& start) {
    WordPlace top = word_at(warp, 0);
    start = *top;
    bool fits = count <= warp.arena_words - start;
    __syncwarp();
    if (fits && warp.leads) *top = start + count;
    __syncwarp();
    return fits;
}
// Takes so many rounds from those that are left to the evaluation, if there are as many. What takes the longer the more
// elements there are counts as rounds of a loop, in numbers that are the same on every device.
//
// How many are left stands in the second word of the pool.
DEVICE bool spent(Warp warp, uint32_t rounds) {
    WordPlace left = word_at(warp, 1);
    uint32_t before = *left;
    bool fits = rounds <= before;
    __syncwarp();
    if (fits && warp.leads) *left = before - rounds;
    __syncwarp();
    return fits;
}
// The same for comparing each of so many words with each of others, a word a lane.
DEVICE bool spent_comparing(Warp warp, uint32_t count, uint32_t others) {
    const uint32_t WORDS_OF_ROUND = 12;
    return spent(warp, count * others >> WORDS_OF_ROUND);
}
// How much is taken now, and giving back what was taken since.
DEVICE BailOut mark(Warp warp, WordOut out) { return out.set(warp, *word_at(warp, 0)); }
DEVICE BailOut release(Warp warp, WordOut out, Word mark) {
    (void)out;
    if (warp.leads) *word_at(warp, 0) = mark.bits;
    return FITS;
}

// ---------------------------------------------------------------------------------------------
// Into the arena
// ---------------------------------------------------------------------------------------------

const uint32_t PATCH_HEAD = 2, CODE_SHIFT = 8, ROW_COUNT = (1u << CODE_SHIFT) - 1;

DEVICE BailOut store_patch(Warp warp, WordOut out, Patch patch) {
    Box box = box_of(patch.row(warp));
    Pair corner = {0, 0};
    if (!box.empty) {
        corner.i = patch.i + box.top;
        corner.j = patch.j + box.left;
    }
    uint32_t height = (uint32_t)box.height(), start;
    if (!taken(warp, PATCH_HEAD + height, start)) return ARENA_FULL;
    uint32_t* to = warp.arena() + start;
    uint32_t row = patch.row_from(warp, corner.i, corner.j);
    if (warp.leads) {
        to[0] = packed(corner);
        to[1] = height;
    }
    if (warp.lane < height) to[PATCH_HEAD + warp.lane] = row;
    return out.set(warp, start);
}

// Cells of a window with this origin, and the only code that they have; where they lie then, or NOWHERE if
// there is no room.
DEVICE uint32_t store_cells(Warp warp, uint32_t cells, uint4 colour, uint32_t code, int32_t origin_i, int32_t origin_j) {
    Box box = box_of(cells);
    Pair corner = {0, 0};
    if (!box.empty) {
        corner.i = origin_i + box.top;
        corner.j = origin_j + box.left;
    }
    uint32_t height = (uint32_t)box.height();
    bool several = code == NO_CODE;
    uint32_t start;
    if (!taken(warp, PATCH_HEAD + height * (several ? 1 + PLANES : 1), start)) return NOWHERE;
    uint32_t* to = warp.arena() + start;
    if (warp.leads) {
        to[0] = packed(corner);
        to[1] = height | (several || height == 0 ? 0 : code + 1) << CODE_SHIFT;
    }
    // Rows go to where they lie from the box's first one on.
    uint32_t left = box.empty ? 0 : (uint32_t)box.left;
    uint32_t row = warp.lane - (box.empty ? 0 : (uint32_t)box.top);
    if (row < height) to[PATCH_HEAD + row] = cells >> left;
    if (several && row < height) {
        uint32_t* rows = to + PATCH_HEAD + height + row * PLANES;
        rows[0] = colour.x >> left;
        rows[1] = colour.y >> left;
        rows[2] = colour.z >> left;
        rows[3] = colour.w >> left;
    }
    return start;
}
DEVICE BailOut store_object(Warp warp, WordOut out, Object object) {
    uint32_t cells = object.row(warp);
    uint4 colour = object.colour(warp);
    uint32_t start = store_cells(warp, cells, colour, only_code(cells, colour), object.i, object.j);
    return start == NOWHERE ? ARENA_FULL : out.set(warp, start);
}

// Rows from lane 0 on, as a grid.
DEVICE BailOut store_rows(Warp warp, uint32_t& start, uint4 row, int32_t height, int32_t width) {
    if (!taken(warp, 1 + PLANES * (uint32_t)height, start)) return ARENA_FULL;
    uint32_t* to = warp.arena() + start;
    if (warp.leads) to[0] = GridSize::packed((uint32_t)height, (uint32_t)(height == 0 ? 0 : width));
    if ((int32_t)warp.lane < height) {
        uint32_t* rows = to + 1 + warp.lane * PLANES;
        rows[0] = row.x;
        rows[1] = row.y;
        rows[2] = row.z;
        rows[3] = row.w;
    }
    return FITS;
}
DEVICE BailOut store_grid(Warp warp, WordOut out, Grid grid) {
    uint32_t start = 0;
    BailOut bail_out = store_rows(warp, start, grid.row(warp.lane), grid.height, grid.width);
    return bail_out == FITS ? out.set(warp, start) : bail_out;
}

// ---------------------------------------------------------------------------------------------
// Out of the arena
// ---------------------------------------------------------------------------------------------

DEVICE uint4 planes_at(const uint32_t* rows) { return make_uint4(rows[0], rows[1], rows[2], rows[3]); }

DEVICE BailOut load_patch(Warp warp, PatchOut out, Word word) {
    const uint32_t* from = warp.arena() + word.bits;
    Pair corner = unpacked(from[0]);
    uint32_t row = warp.lane < from[1] ? from[PATCH_HEAD + warp.lane] : 0;
    return out.set(warp, row, corner.i, corner.j);
}

// An object of the arena: the lane's row of its window.
struct Stored {
    Pair corner;
    uint32_t height, row;
    uint4 colour;
};
DEVICE Stored stored_object(Warp warp, uint32_t start) {
    const uint32_t* from = warp.arena() + start;
    uint32_t head = from[1];
    Stored stored;
    stored.corner = unpacked(from[0]);
    stored.height = head & ROW_COUNT;
    stored.row = 0;
    stored.colour = make_uint4(0, 0, 0, 0);
    if (warp.lane < stored.height) {
        stored.row = from[PATCH_HEAD + warp.lane];
        stored.colour = head >> CODE_SHIFT != 0 ? spread((head >> CODE_SHIFT) - 1) & stored.row
                                                : planes_at(from + PATCH_HEAD + stored.height + warp.lane * PLANES);
    }
    return stored;
}
// How many words it has.
DEVICE uint32_t object_words(Warp warp, uint32_t start) {
    uint32_t head = warp.arena()[start + 1];
    return PATCH_HEAD + (head & ROW_COUNT) * (head >> CODE_SHIFT != 0 ? 1 : 1 + PLANES);
}
DEVICE BailOut load_object(Warp warp, ObjectOut out, Word word) {
    Stored stored = stored_object(warp, word.bits);
    return out.set(warp, stored.row, stored.colour, stored.corner.i, stored.corner.j);
}

DEVICE BailOut load_grid(Warp warp, GridOut out, Word word) {
    const uint32_t* from = warp.arena() + word.bits;
    uint32_t size = from[0], height = GridSize::height(size);
    uint4 row = make_uint4(0, 0, 0, 0);
    if (warp.lane < height) row = planes_at(from + 1 + warp.lane * PLANES);
    return out.set(warp, row, (int32_t)height, (int32_t)GridSize::width(size));
}

// ---------------------------------------------------------------------------------------------
// Words and cells
// ---------------------------------------------------------------------------------------------

DEVICE BailOut move_word(Warp warp, WordOut out, Word word) { return out.set(warp, word.bits); }

DEVICE BailOut cell(Warp warp, CellOut out, int32_t colour, Pair at) {
    return is_missing(at) || colour == MISSING ? NOT_DEFINED : out.set(warp, colour, at.i, at.j);
}
DEVICE BailOut colour_of_cell(Warp warp, IntOut out, Cell cell) { return out.set(warp, cell.colour); }
DEVICE BailOut place_of_cell(Warp warp, PairOut out, Cell cell) { return out.set(warp, cell.i, cell.j); }

// What is of no other kind: it has to be positive; sets of several have no order here; and what always fails.
DEVICE BailOut positive_count(Warp warp, IntOut out, int32_t n) { return n > 0 ? out.set(warp, n) : NOT_DEFINED; }
DEVICE BailOut at_most_one(Warp warp, IntOut out, int32_t n) { return n > 1 ? SET_ORDER : out.set(warp, n); }
DEVICE BailOut fail(Warp, WordOut) { return NOT_DEFINED; }

}  // namespace ops
