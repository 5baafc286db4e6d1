// Patches made of boxes, lines and single locations; patches moved.
#pragma once

#include "windows.cuh"

namespace ops {

// The locations around one: `beside` are the columns of its own row, and `above` those of the rows
// above and below it, from the column before it on.
DEVICE BailOut surroundings(Warp warp, PatchOut out, Pair at, uint32_t above, uint32_t beside, Immediate immediate) {
    if (is_missing(at)) return NOT_DEFINED;
    return set_in_window(warp, out, grown(box_at(at), 1), immediate, [=](Pair origin) {
        int32_t down = (int32_t)warp.lane + origin.i - at.i;
        uint32_t row = down == 0 ? beside : down == 1 || down == -1 ? above : 0;
        return moved(row, at.j - 1 - origin.j);
    });
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
    uint32_t sides = bit_in(box.left - origin.j) | bit_in(box.right - origin.j);
    return edge ? row : row & sides;
}

// Of nothing there is nothing, and its corners are none that a patch could have.
DEVICE BailOut box(Warp warp, PatchOut out, Patch patch) {
    Box box = box_of(patch.row(warp));
    bool edge = (int32_t)warp.lane == box.top || (int32_t)warp.lane == box.bottom;
    uint32_t row = filled(warp, box);
    return out.set(warp, edge ? row : row & (bit_in(box.left) | bit_in(box.right)), patch);
}
DEVICE BailOut backdrop(Warp warp, PatchOut out, Patch patch) {
    return out.set(warp, filled(warp, box_of(patch.row(warp))), patch);
}
DEVICE BailOut delta(Warp warp, PatchOut out, Patch patch) {
    uint32_t row = patch.row(warp);
    return out.set(warp, filled(warp, box_of(row)) & ~row, patch);
}
DEVICE BailOut corners(Warp warp, PatchOut out, Patch patch) {
    Box box = box_of(patch.row(warp));
    if (box.empty) return NOT_DEFINED;
    bool edge = (int32_t)warp.lane == box.top || (int32_t)warp.lane == box.bottom;
    return out.set(warp, edge ? bit_in(box.left) | bit_in(box.right) : 0, patch);
}

// The outline of the box grown to each side. What shrinks past its middle turns inside out: its
// edges change places.
DEVICE BailOut outline(Warp warp, PatchOut out, Patch patch, int32_t by, Immediate immediate) {
    Box from = bounds_of(warp, patch);
    if (from.empty) return NOT_DEFINED;
    from = grown(from, by);
    Box to = {false, min(from.top, from.bottom), max(from.top, from.bottom), min(from.left, from.right),
              max(from.left, from.right)};
    return set_in_window(warp, out, to, immediate, [=](Pair origin) { return outlined(warp, to, origin); });
}
DEVICE BailOut inbox(Warp warp, PatchOut out, Patch patch, Immediate immediate) {
    return outline(warp, out, patch, -1, immediate);
}
DEVICE BailOut outbox(Warp warp, PatchOut out, Patch patch, Immediate immediate) {
    return outline(warp, out, patch, 1, immediate);
}

// The line between two locations, where it is straight or diagonal: each row of it has one column, or all
// where there is one row.
DEVICE BailOut line(Warp warp, PatchOut out, Pair a, Pair b, Immediate immediate) {
    int32_t down = b.i - a.i, right = b.j - a.j;
    int32_t rows = max(down, -down), columns = max(right, -right);
    if (rows != columns && min(rows, columns) != 0) return out.set(warp, 0);
    Box box = around(box_at(a), box_at(b));
    return set_in_window(warp, out, box, immediate, [=](Pair origin) {
        if (rows == 0) return filled_in(warp, box, origin);
        int32_t at = (int32_t)warp.lane + origin.i;
        int32_t step = right == 0 ? 0 : right == down ? 1 : -1;
        uint32_t row = bit_in(a.j - origin.j + step * (at - a.i));
        return (uint32_t)(at - box.top) <= (uint32_t)rows ? row : 0;
    });
}
DEVICE BailOut connect(Warp warp, PatchOut out, Pair a, Pair b, Immediate immediate) {
    if (is_missing(a) || is_missing(b)) return NOT_DEFINED;
    return line(warp, out, a, b, immediate);
}
DEVICE BailOut shoot(Warp warp, PatchOut out, Pair start, Pair direction, Immediate immediate) {
    if (is_missing(start) || is_missing(direction)) return NOT_DEFINED;
    Pair end = {start.i + 42 * direction.i, start.j + 42 * direction.j};
    // So far away the reference may find the line too long.
    if (is_beyond(end, MAX_COORDINATE)) return COORDINATE_TOO_LARGE;
    return line(warp, out, start, end, immediate);
}

// A frontier spans 30 rows or columns, whatever the grid.
DEVICE BailOut frontier(Warp warp, PatchOut out, Box box, Immediate immediate) {
    return set_in_window(warp, out, box, immediate, [=](Pair origin) { return filled_in(warp, box, origin); });
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
    return out.set(warp, patch.row_from(warp, box.top, box.left));
}
DEVICE BailOut normalize_object(Warp warp, ObjectOut out, Object object) {
    Box box = bounds_of(warp, object);
    Cells cells = object.cells_from(warp, box.top, box.left);
    return out.set(warp, cells.row, cells.colour);
}

}  // namespace ops
