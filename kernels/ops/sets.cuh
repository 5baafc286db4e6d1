// Patches as sets of locations, and objects as sets of cells: joined, cut, compared, counted.
#pragma once

#include "windows.cuh"

namespace ops {

DEVICE BailOut combine(Warp warp, PatchOut out, Patch a, Patch b, Immediate immediate) {
    // As most pairs of patches lie.
    if (a.origin == b.origin) return out.set(warp, a.row(warp) | b.row(warp), a);
    Pair origin;
    BailOut bail_out = window_for(warp, a, b, immediate, origin);
    if (bail_out != FITS) return bail_out;
    uint32_t row = a.row_from(warp, origin.i, origin.j) | b.row_from(warp, origin.i, origin.j);
    return out.set(warp, row, origin.i, origin.j);
}

DEVICE BailOut combine_object(Warp warp, ObjectOut out, Object a, Object b, Immediate immediate) {
    Pair origin;
    BailOut bail_out = window_for(warp, a, b, immediate, origin);
    if (bail_out != FITS) return bail_out;
    Cells cells = a.cells_from(warp, origin.i, origin.j), others = b.cells_from(warp, origin.i, origin.j);
    if (any_lane((cells.row & others.row & differing(cells.colour, others.colour)) != 0)) return TWO_COLOURS;
    return out.set(warp, cells.row | others.row, cells.colour | others.colour, origin.i, origin.j);
}

// What both have, and what `b` lacks, lies where `a` does.
DEVICE BailOut intersection(Warp warp, PatchOut out, Patch a, Patch b) {
    return out.set(warp, a.row(warp) & b.row_beside(warp, a), a);
}
DEVICE BailOut difference(Warp warp, PatchOut out, Patch a, Patch b) {
    return out.set(warp, a.row(warp) & ~b.row_beside(warp, a), a);
}

// The columns of the lane's row of `a` whose cells `b` has too.
DEVICE uint32_t common_cells(Warp warp, Object a, Object b) {
    Cells others = b.cells_beside(warp, a);
    return same(a.colour(warp), others.colour, a.row(warp) & others.row);
}
DEVICE BailOut intersection_object(Warp warp, ObjectOut out, Object a, Object b) {
    uint32_t row = common_cells(warp, a, b);
    return out.set(warp, row, a.colour(warp) & row, a);
}
DEVICE BailOut difference_object(Warp warp, ObjectOut out, Object a, Object b) {
    uint32_t row = a.row(warp) & ~common_cells(warp, a, b);
    return out.set(warp, row, a.colour(warp) & row, a);
}

// Each is what the other one has in its window.
DEVICE BailOut equality_patch(Warp warp, IntOut out, Patch a, Patch b) {
    uint32_t unlike = a.row(warp) ^ b.row_from(warp, a.i, a.j);
    unlike |= b.row(warp) ^ a.row_from(warp, b.i, b.j);
    return out.set(warp, every_lane(unlike == 0));
}
// Where the locations are the same, the planes of one are enough.
DEVICE BailOut equality_object(Warp warp, IntOut out, Object a, Object b) {
    Cells others = b.cells_beside(warp, a);
    uint32_t unlike = a.row(warp) ^ others.row;
    unlike |= b.row(warp) ^ a.row_from(warp, b.i, b.j);
    unlike |= differing(a.colour(warp), others.colour);
    return out.set(warp, every_lane(unlike == 0));
}

// A pair that there is not lies in no window.
DEVICE BailOut contained(Warp warp, IntOut out, Pair value, Patch container) {
    Pair origin = {container.i, container.j};
    bool inside = holds(origin, box_at(value));
    uint32_t row = inside ? container.rows[value.i - origin.i] : 0;
    return out.set(warp, inside ? (int32_t)(row >> (value.j - origin.j) & 1) : 0);
}

DEVICE BailOut insert(Warp warp, PatchOut out, Pair value, Patch container, Immediate immediate) {
    if (is_missing(value)) return NOT_DEFINED;
    Pair origin = {container.i, container.j};
    if (!holds(origin, box_at(value))) {
        BailOut bail_out = window_for(around(box_at(value), bounds_of(warp, container)), immediate, origin);
        if (bail_out != FITS) return bail_out;
    }
    uint32_t row = container.row_from(warp, origin.i, origin.j) | one_at(warp, value, origin);
    return out.set(warp, row, origin.i, origin.j);
}

DEVICE BailOut remove(Warp warp, PatchOut out, Pair value, Patch container) {
    Pair origin = {container.i, container.j};
    return out.set(warp, container.row(warp) & ~one_at(warp, value, origin), container);
}

DEVICE BailOut initset(Warp warp, PatchOut out, Pair value, Immediate immediate) {
    if (is_missing(value)) return NOT_DEFINED;
    return set_in_window(warp, out, box_at(value), immediate, [=](Pair origin) { return one_at(warp, value, origin); });
}

DEVICE BailOut size(Warp warp, IntOut out, Patch container) {
    return out.set_within(warp, (int32_t)sum(__popc(container.row(warp))));
}

DEVICE BailOut size_object(Warp warp, IntOut out, Object container) { return size(warp, out, container); }

// The only location.
DEVICE BailOut first(Warp warp, PairOut out, Patch container) {
    uint32_t row = container.row(warp), rows = lanes_with(row != 0);
    if (rows == 0) return NOT_DEFINED;
    if ((rows & (rows - 1)) != 0 || any_lane((row & (row - 1)) != 0)) return SET_ORDER;
    int32_t r = lowest(rows);
    return out.set_within(warp, container.i + r, container.j + lowest(container.rows[r]));
}
DEVICE BailOut last(Warp warp, PairOut out, Patch container) { return first(warp, out, container); }

DEVICE BailOut toindices(Warp warp, PatchOut out, Patch patch) {
    return out.set(warp, patch.row(warp), patch);
}

}  // namespace ops
