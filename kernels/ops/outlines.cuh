// Patches made of boxes, lines and single locations; patches moved.
#pragma once

#include "windows.cuh"

namespace ops {

// The locations around one: `beside` are the columns of its own row, and `above` those of the rows
// above and below it, from the column before it on.
DEVICE BailOut surroundings(Warp warp, PatchOut out, Pair at, uint32_t above, uint32_t beside, Immediate immediate) {
    if (is_missing(at)) return NOT_DEFINED;
    Pair origin;
    BailOut bail_out = window_for(grown(box_at(at), 1), immediate, origin);
    if (bail_out != FITS) return bail_out;
    int32_t down = (int32_t)warp.lane + origin.i - at.i;
    uint32_t row = down == 0 ? beside : down == 1 || down == -1 ? above : 0;
    return out.set(warp, moved(row, at.j - 1 - origin.j), origin.i, origin.j);
}
DEVICE BailOut dneighbors(Warp warp, PatchOut out, Pair at, Immediate immediate) {
    return surroundings(warp, out, at, 2, 5, immediate);
}
DEVICE BailOut ineighbors(Warp warp, PatchOut out, Pair at, Immediate immediate) {
    return surroundings(warp, out, at, 5, 0, immediate);
}
DEVICE BailOut neighbors(Warp warp, PatchOut out, Pair at, Immediate immediate) {
    return surroundings(warp, out, at, 7, 5, immediate);
}

// The lane's row of a window, with the outline of a box as far as it lies in it.
DEVICE uint32_t outlined(Warp warp, Box box, Pair origin) {
    uint32_t row = filled_in(warp, box, origin);
    int32_t at = (int32_t)warp.lane + origin.i;
    bool edge = at == box.top || at == box.bottom;
    uint32_t sides = moved(1, box.left - origin.j) | moved(1, box.right - origin.j);
    return edge ? row : row & sides;
}

// Of nothing there is nothing, and its corners are none that a patch could have.
DEVICE BailOut box(Warp warp, PatchOut out, Patch patch) {
    Pair zero = {0, 0};
    return out.set(warp, outlined(warp, box_of(patch.row(warp)), zero), patch.i, patch.j);
}
DEVICE BailOut backdrop(Warp warp, PatchOut out, Patch patch) {
    return out.set(warp, filled(warp, box_of(patch.row(warp))), patch.i, patch.j);
}
DEVICE BailOut delta(Warp warp, PatchOut out, Patch patch) {
    uint32_t row = patch.row(warp);
    return out.set(warp, filled(warp, box_of(row)) & ~row, patch.i, patch.j);
}
DEVICE BailOut corners(Warp warp, PatchOut out, Patch patch) {
    Box box = box_of(patch.row(warp));
    if (box.empty) return NOT_DEFINED;
    bool edge = (int32_t)warp.lane == box.top || (int32_t)warp.lane == box.bottom;
    return out.set(warp, edge ? 1u << box.left | 1u << box.right : 0, patch.i, patch.j);
}

// The outline of the box grown to each side. What shrinks past its middle turns inside out: its
// edges change places.
DEVICE BailOut outline(Warp warp, PatchOut out, Patch patch, int32_t by, Immediate immediate) {
    Box from = bounds_of(warp, patch);
    if (from.empty) return NOT_DEFINED;
    from = grown(from, by);
    Box to = {false, min(from.top, from.bottom), max(from.top, from.bottom), min(from.left, from.right),
              max(from.left, from.right)};
    Pair origin;
    BailOut bail_out = window_for(to, immediate, origin);
    if (bail_out != FITS) return bail_out;
    return out.set(warp, outlined(warp, to, origin), origin.i, origin.j);
}
DEVICE BailOut inbox(Warp warp, PatchOut out, Patch patch, Immediate immediate) {
    return outline(warp, out, patch, -1, immediate);
}
DEVICE BailOut outbox(Warp warp, PatchOut out, Patch patch, Immediate immediate) {
    return outline(warp, out, patch, 1, immediate);
}

// The line between two locations, where it is straight or diagonal: from the upper one on, each row
// of it has one column, or all where there is one row.
DEVICE BailOut line(Warp warp, PatchOut out, Pair a, Pair b, Immediate immediate) {
    Pair origin = {0, 0};
    int32_t down = b.i - a.i;
    int32_t right = b.j - a.j;
    if (down != 0 && right != 0 && down != right && down != -right) return out.set(warp, 0, 0, 0);
    Box box = around(box_at(a), box_at(b));
    BailOut bail_out = window_for(box, immediate, origin);
    if (bail_out != FITS) return bail_out;
    uint32_t row = filled_in(warp, box, origin);
    if (down != 0 && right != 0) {
        int32_t n = (int32_t)warp.lane + origin.i - box.top;
        int32_t column = (down < 0) == (right < 0) ? box.left + n : box.right - n;
        row &= moved(1, column - origin.j);
    }
    return out.set(warp, row, origin.i, origin.j);
}
DEVICE BailOut connect(Warp warp, PatchOut out, Pair a, Pair b, Immediate immediate) {
    if (is_missing(a) || is_missing(b)) return NOT_DEFINED;
    return line(warp, out, a, b, immediate);
}
DEVICE BailOut shoot(Warp warp, PatchOut out, Pair start, Pair direction, Immediate immediate) {
    if (is_missing(start) || is_missing(direction)) return NOT_DEFINED;
    Pair end = {start.i + 42 * direction.i, start.j + 42 * direction.j};
    // So far away the reference may find the line too long.
    if (end.i < -MAX_COORDINATE || end.i > MAX_COORDINATE || end.j < -MAX_COORDINATE || end.j > MAX_COORDINATE) {
        return COORDINATE_TOO_LARGE;
    }
    return line(warp, out, start, end, immediate);
}

// A frontier spans 30 rows or columns, whatever the grid.
DEVICE BailOut frontier(Warp warp, PatchOut out, Box box, Immediate immediate) {
    Pair origin;
    BailOut bail_out = window_for(box, immediate, origin);
    if (bail_out != FITS) return bail_out;
    return out.set(warp, filled_in(warp, box, origin), origin.i, origin.j);
}
DEVICE BailOut hfrontier(Warp warp, PatchOut out, Pair at, Immediate immediate) {
    Box row = {false, at.i, at.i, 0, 29};
    return is_missing(at) ? NOT_DEFINED : frontier(warp, out, row, immediate);
}
DEVICE BailOut vfrontier(Warp warp, PatchOut out, Pair at, Immediate immediate) {
    Box column = {false, 0, 29, at.j, at.j};
    return is_missing(at) ? NOT_DEFINED : frontier(warp, out, column, immediate);
}

// Only the origin changes.
DEVICE BailOut shift(Warp warp, PatchOut out, Patch patch, Pair way) {
    if (is_missing(way)) return NOT_DEFINED;
    return out.set(warp, patch.row(warp), patch.i + way.i, patch.j + way.j);
}
DEVICE BailOut shift_object(Warp warp, ObjectOut out, Object object, Pair way) {
    if (is_missing(way)) return NOT_DEFINED;
    return out.set(warp, object.row(warp), object.colour(warp), object.i + way.i, object.j + way.j);
}

// To the window at (0, 0), that others are quick to join with.
DEVICE BailOut normalize(Warp warp, PatchOut out, Patch patch) {
    Box box = bounds_of(warp, patch);
    return out.set(warp, patch.row_from(warp, box.top, box.left), 0, 0);
}
DEVICE BailOut normalize_object(Warp warp, ObjectOut out, Object object) {
    Box box = bounds_of(warp, object);
    return out.set(warp, object.row_from(warp, box.top, box.left), object.colour_from(warp, box.top, box.left), 0, 0);
}

}  // namespace ops
