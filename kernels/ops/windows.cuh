// Which window of 32 x 32 the locations of a result lie in, and rows of it.
//
// Boxes are in locations here, where those of `box_of` are in rows and columns of a window.
#pragma once

#include "../arc.cuh"

namespace ops {

// A box moved by so many rows and columns.
DEVICE Box moved_box(Box box, int32_t i, int32_t j) {
    Box to = {box.empty, box.top + i, box.bottom + i, box.left + j, box.right + j};
    return to;
}

// The bounding box of a patch. The patch tightened is `patch.row_from(warp, box.top, box.left)`.
DEVICE Box bounds_of(Warp warp, Patch patch) { return moved_box(box_of(patch.row(warp)), patch.i, patch.j); }

// The box of a single location.
DEVICE Box box_at(Pair at) {
    Box box = {false, at.i, at.i, at.j, at.j};
    return box;
}

// The box with so many more rows and columns to each side.
DEVICE Box grown(Box box, int32_t by) {
    Box to = {box.empty, box.top - by, box.bottom + by, box.left - by, box.right + by};
    return to;
}

// The smallest box around two, of which any may be empty.
DEVICE Box around(Box a, Box b) {
    if (a.empty) return b;
    if (b.empty) return a;
    Box both = {false, min(a.top, b.top), max(a.bottom, b.bottom), min(a.left, b.left), max(a.right, b.right)};
    return both;
}

// Whether a window with this origin holds the box.
DEVICE bool holds(Pair origin, Box box) {
    // Each place has a number below 32 there: none has other bits.
    int32_t places = (box.top - origin.i) | (box.bottom - origin.i) | (box.left - origin.j) | (box.right - origin.j);
    return box.empty || (uint32_t)places < (uint32_t)SIDE;
}

// Whether the window at (0, 0) will do for locations of a box. Where nobody sees other cells than those of
// rows and columns 0 to 31, it always will: the rest is to be left out.
DEVICE bool is_for_zero(Box box, Immediate immediate) {
    Pair zero = {0, 0};
    return immediate.clipped() || holds(zero, box);
}
// The origin of a window for locations of a box: (0, 0) wherever it will do, since patches of one
// origin are the quickest to join.
DEVICE BailOut window_for(Box box, Immediate immediate, Pair& origin) {
    bool at_zero = is_for_zero(box, immediate);
    origin.i = at_zero ? 0 : box.top;
    origin.j = at_zero ? 0 : box.left;
    return at_zero || holds(origin, box) ? FITS : PATCH_TOO_LARGE;
}
// A patch in such a window: `row_in` gives the lane's row of the window with an origin.
template <class RowIn>
DEVICE BailOut set_in_window(Warp warp, PatchOut out, Box box, Immediate immediate, RowIn row_in) {
    Pair zero = {0, 0}, corner = {box.top, box.left};
    uint32_t row, origin = 0;
    if (is_for_zero(box, immediate)) {
        row = row_in(zero);
    } else {
        if (!holds(corner, box)) return PATCH_TOO_LARGE;
        if (is_beyond(corner, MAX_ORIGIN)) return COORDINATE_TOO_LARGE;
        row = row_in(corner);
        origin = packed(corner);
    }
    return out.set_at(warp, row, origin);
}

// The origin of a window for the locations of two patches.
DEVICE BailOut window_for(Warp warp, Patch a, Patch b, Immediate immediate, Pair& origin) {
    origin.i = a.i;
    origin.j = a.j;
    if (a.origin == b.origin) return FITS;
    if (immediate.clipped()) {
        origin.i = 0;
        origin.j = 0;
        return FITS;
    }
    return window_for(around(bounds_of(warp, a), bounds_of(warp, b)), immediate, origin);
}

// The lane's row of a window, with all of a box filled that lies in it.
DEVICE uint32_t filled_in(Warp warp, Box box, Pair origin) {
    box.left = max(box.left - origin.j, 0);
    box.right = min(box.right - origin.j, SIDE - 1);
    box.right = max(box.right, box.left - 1);
    return filled(warp, moved_box(box, -origin.i, 0));
}

// The column of a row, where it has one of that number.
DEVICE uint32_t bit_in(int32_t column) { return up(1, (uint32_t)column); }
// The lane's row of a window, with one location where it lies in it.
DEVICE uint32_t one_at(Warp warp, Pair at, Pair origin) {
    return at.i - origin.i == (int32_t)warp.lane ? bit_in(at.j - origin.j) : 0;
}

}  // namespace ops
