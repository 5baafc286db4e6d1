// Patches and objects mirrored within their bounding box. Of no location there is no box.
#pragma once

#include "../arc.cuh"
#include "transforms.cuh"

namespace ops {

// The rows of a window, and zero beside it.
DEVICE uint32_t row_at(Patch patch, int32_t r) { return (uint32_t)r < (uint32_t)SIDE ? patch.rows[r] : 0; }
DEVICE uint4 colour_at(Object object, int32_t r) {
    return object.colours[r & (SIDE - 1)] & ((uint32_t)r < (uint32_t)SIDE ? FULL : 0);
}

// The window stays with the straight mirrors: the box does.

DEVICE BailOut hmirror_patch(Warp warp, PatchOut out, Patch patch) {
    uint32_t rows = lanes_with(patch.row(warp) != 0);
    if (rows == 0) return NOT_DEFINED;
    int32_t r = lowest(rows) + highest(rows) - (int32_t)warp.lane;
    return out.set(warp, row_at(patch, r), patch);
}

DEVICE BailOut hmirror_object(Warp warp, ObjectOut out, Object object) {
    uint32_t rows = lanes_with(object.row(warp) != 0);
    if (rows == 0) return NOT_DEFINED;
    int32_t r = lowest(rows) + highest(rows) - (int32_t)warp.lane;
    return out.set(warp, row_at(object, r), colour_at(object, r), object);
}

DEVICE BailOut vmirror_patch(Warp warp, PatchOut out, Patch patch) {
    uint32_t row = patch.row(warp);
    uint32_t columns = either(row);
    if (columns == 0) return NOT_DEFINED;
    int32_t by = lowest(columns) + highest(columns) - (SIDE - 1);
    return out.set(warp, moved(__brev(row), by), patch);
}

DEVICE BailOut vmirror_object(Warp warp, ObjectOut out, Object object) {
    uint32_t row = object.row(warp);
    uint32_t columns = either(row);
    if (columns == 0) return NOT_DEFINED;
    int32_t by = lowest(columns) + highest(columns) - (SIDE - 1);
    return out.set(warp, moved(__brev(row), by), moved(reversed(object.colour(warp)), by), object);
}

// How a box is mirrored along a diagonal: what comes to lie where before rows and columns are
// exchanged, so that after it the box has its upper left corner again.
struct Diagonal {
    // The row of the window that the lane takes.
    int32_t row;
    // How far it moves, after it was reversed for the counterdiagonal.
    int32_t by;
    // The origin of the result's window: the same one if that holds the result, else the corner.
    int32_t i, j;
};
template <bool COUNTER>
DEVICE Diagonal diagonal_of(Warp warp, Patch patch, Box box) {
    // Where the mirrored box starts in its window.
    bool stays = box.top + box.width() <= SIDE && box.left + box.height() <= SIDE;
    int32_t top = stays ? box.top : 0;
    int32_t left = stays ? box.left : 0;
    Diagonal diagonal;
    diagonal.row = COUNTER ? left + box.bottom - (int32_t)warp.lane : (int32_t)warp.lane + box.top - left;
    diagonal.by = COUNTER ? top + box.right - (SIDE - 1) : top - box.left;
    diagonal.i = patch.i + box.top - top;
    diagonal.j = patch.j + box.left - left;
    return diagonal;
}

template <bool COUNTER>
DEVICE BailOut mirrored(Warp warp, PatchOut out, Patch patch) {
    // As in `exchanged`.
    ARC_OPAQUE(warp.lane);
    Box box = box_of(patch.row(warp));
    if (box.empty) return NOT_DEFINED;
    Diagonal to = diagonal_of<COUNTER>(warp, patch, box);
    uint32_t row = row_at(patch, to.row);
    row = moved(COUNTER ? __brev(row) : row, to.by);
    return out.set(warp, exchanged(warp, row), to.i, to.j);
}

template <bool COUNTER>
DEVICE BailOut mirrored(Warp warp, ObjectOut out, Object object) {
    // As in `exchanged`.
    ARC_OPAQUE(warp.lane);
    Box box = box_of(object.row(warp));
    if (box.empty) return NOT_DEFINED;
    Diagonal to = diagonal_of<COUNTER>(warp, object, box);
    uint32_t row = row_at(object, to.row);
    row = moved(COUNTER ? __brev(row) : row, to.by);
    uint4 colour = colour_at(object, to.row);
    colour = moved(COUNTER ? reversed(colour) : colour, to.by);
    return out.set(warp, exchanged(warp, row), exchanged(warp, colour), to.i, to.j);
}

DEVICE BailOut dmirror_patch(Warp warp, PatchOut out, Patch patch) { return mirrored<false>(warp, out, patch); }
DEVICE BailOut dmirror_object(Warp warp, ObjectOut out, Object object) { return mirrored<false>(warp, out, object); }
DEVICE BailOut cmirror_patch(Warp warp, PatchOut out, Patch patch) { return mirrored<true>(warp, out, patch); }
DEVICE BailOut cmirror_object(Warp warp, ObjectOut out, Object object) { return mirrored<true>(warp, out, object); }

}  // namespace ops
