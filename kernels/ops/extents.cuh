// Size and place of patches.
#pragma once

#include "windows.cuh"

namespace ops {

// Rows and columns of a window that have locations: bit r for row r. Rows cost less.
DEVICE uint32_t rows_of(Warp warp, Patch patch) { return lanes_with(patch.row(warp) != 0); }
DEVICE uint32_t columns_of(Warp warp, Patch patch) { return either(patch.row(warp)); }
// From the first bit to the last one.
DEVICE int32_t span(uint32_t bits) { return bits == 0 ? 0 : highest(bits) - lowest(bits) + 1; }

DEVICE BailOut height(Warp warp, IntOut out, Patch patch) { return out.set_within(warp, span(rows_of(warp, patch))); }
DEVICE BailOut width(Warp warp, IntOut out, Patch patch) { return out.set_within(warp, span(columns_of(warp, patch))); }
DEVICE BailOut shape(Warp warp, PairOut out, Patch patch) {
    return out.set_within(warp, span(rows_of(warp, patch)), span(columns_of(warp, patch)));
}
DEVICE BailOut portrait(Warp warp, IntOut out, Patch patch) {
    return out.set_within(warp, span(rows_of(warp, patch)) > span(columns_of(warp, patch)));
}

// Whether all locations of the box are there; of nothing they are.
DEVICE bool fills(Warp warp, Patch patch, Box box) { return every_lane(patch.row(warp) == filled(warp, box)); }
DEVICE BailOut square(Warp warp, IntOut out, Patch patch) {
    Box box = box_of(patch.row(warp));
    return out.set_within(warp, box.height() == box.width() && fills(warp, patch, box));
}
DEVICE BailOut vline(Warp warp, IntOut out, Patch patch) {
    Box box = box_of(patch.row(warp));
    return out.set_within(warp, box.width() == 1 && fills(warp, patch, box));
}
DEVICE BailOut hline(Warp warp, IntOut out, Patch patch) {
    Box box = box_of(patch.row(warp));
    return out.set_within(warp, box.height() == 1 && fills(warp, patch, box));
}

DEVICE BailOut uppermost(Warp warp, IntOut out, Patch patch) {
    uint32_t rows = rows_of(warp, patch);
    return rows == 0 ? NOT_DEFINED : out.set_within(warp, patch.i + lowest(rows));
}
DEVICE BailOut lowermost(Warp warp, IntOut out, Patch patch) {
    uint32_t rows = rows_of(warp, patch);
    return rows == 0 ? NOT_DEFINED : out.set_within(warp, patch.i + highest(rows));
}
DEVICE BailOut leftmost(Warp warp, IntOut out, Patch patch) {
    uint32_t columns = columns_of(warp, patch);
    return columns == 0 ? NOT_DEFINED : out.set_within(warp, patch.j + lowest(columns));
}
DEVICE BailOut rightmost(Warp warp, IntOut out, Patch patch) {
    uint32_t columns = columns_of(warp, patch);
    return columns == 0 ? NOT_DEFINED : out.set_within(warp, patch.j + highest(columns));
}

DEVICE BailOut ulcorner(Warp warp, PairOut out, Patch patch) {
    Box box = bounds_of(warp, patch);
    return box.empty ? out.set_missing(warp) : out.set_within(warp, box.top, box.left);
}
DEVICE BailOut urcorner(Warp warp, PairOut out, Patch patch) {
    Box box = bounds_of(warp, patch);
    return box.empty ? out.set_missing(warp) : out.set_within(warp, box.top, box.right);
}
DEVICE BailOut llcorner(Warp warp, PairOut out, Patch patch) {
    Box box = bounds_of(warp, patch);
    return box.empty ? out.set_missing(warp) : out.set_within(warp, box.bottom, box.left);
}
DEVICE BailOut lrcorner(Warp warp, PairOut out, Patch patch) {
    Box box = bounds_of(warp, patch);
    return box.empty ? out.set_missing(warp) : out.set_within(warp, box.bottom, box.right);
}

// The middle of a box that is not empty, the later one of two.
DEVICE Pair middle_of(Box box) {
    Pair middle = {(box.top + box.bottom + 1) >> 1, (box.left + box.right + 1) >> 1};
    return middle;
}
DEVICE BailOut center(Warp warp, PairOut out, Patch patch) {
    Box box = box_of(patch.row(warp));
    if (box.empty) return NOT_DEFINED;
    Pair middle = middle_of(box);
    return out.set_within(warp, patch.i + middle.i, patch.j + middle.j);
}

// Sums within the window, where they have 15 bits: the count and the sum of rows share a word. The
// sum of columns goes by the places of a column's number.
DEVICE BailOut centerofmass(Warp warp, PairOut out, Patch patch) {
    uint32_t row = patch.row(warp);
    uint32_t here = __popc(row);
    uint32_t rows = sum(here | warp.lane * here << 16);
    uint32_t count = rows & 0xffff;
    if (count == 0) return out.set_missing(warp);
    uint32_t columns = sum(__popc(row & 0xaaaaaaaa) + 2 * __popc(row & 0xcccccccc) + 4 * __popc(row & 0xf0f0f0f0) +
                           8 * __popc(row & 0xff00ff00) + 16 * __popc(row & 0xffff0000));
    return out.set_within(warp, patch.i + (int32_t)((rows >> 16) / count), patch.j + (int32_t)(columns / count));
}

// On one row the second counts as to the left where it is not to the right.
DEVICE BailOut position(Warp warp, PairOut out, Patch a, Patch b) {
    Box from = bounds_of(warp, a);
    Box to = bounds_of(warp, b);
    if (from.empty | to.empty) return NOT_DEFINED;
    Pair start = middle_of(from);
    Pair end = middle_of(to);
    int32_t down = (end.i > start.i) - (end.i < start.i);
    int32_t right = start.j < end.j ? 1 : -1;
    return out.set(warp, down, down != 0 && start.j == end.j ? 0 : right);
}

}  // namespace ops
