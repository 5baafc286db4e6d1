// Grids with patches painted on them. What lies off the grid is left out; a location has one colour,
// so that the order of cells does not matter.
#pragma once

#include "../arc.cuh"
#include "counting.cuh"

namespace ops {

DEVICE BailOut fill(Warp warp, GridOut out, Grid grid, int32_t value, Patch patch) {
    if (grid.height == 0) return NOT_DEFINED;
    if (!is_colour(value)) return NO_SUCH_COLOUR;
    uint4 row = choose(patch.row_on(warp, grid), spread((uint32_t)value), grid.row(warp.lane));
    return out.set(warp, row, grid);
}

DEVICE BailOut paint(Warp warp, GridOut out, Grid grid, Object object) {
    if (grid.height == 0) return NOT_DEFINED;
    Cells cells = object.cells_on(warp, grid);
    return out.set(warp, choose(cells.row, cells.colour, grid.row(warp.lane)), grid);
}

DEVICE BailOut underfill(Warp warp, GridOut out, Grid grid, int32_t value, Patch patch) {
    if (!is_colour(value)) return NO_SUCH_COLOUR;
    uint32_t background = background_of(warp, grid);
    if (background >= NO_CODE) return without_code(background);
    uint4 row = grid.row(warp.lane);
    uint32_t cells = same(row, spread(background), patch.row_on(warp, grid));
    return out.set(warp, choose(cells, spread((uint32_t)value), row), grid);
}

DEVICE BailOut underpaint(Warp warp, GridOut out, Grid grid, Object object) {
    uint32_t background = background_of(warp, grid);
    if (background >= NO_CODE) return without_code(background);
    uint4 row = grid.row(warp.lane);
    Cells cells = object.cells_on(warp, grid);
    return out.set(warp, choose(same(row, spread(background), cells.row), cells.colour, row), grid);
}

DEVICE BailOut cover(Warp warp, GridOut out, Grid grid, Patch patch) {
    uint32_t background = background_of(warp, grid);
    if (background >= NO_CODE) return without_code(background);
    uint4 row = choose(patch.row_on(warp, grid), spread(background), grid.row(warp.lane));
    return out.set(warp, row, grid);
}

DEVICE BailOut move(Warp warp, GridOut out, Grid grid, Object object, Pair offset) {
    if (is_missing(offset)) return NOT_DEFINED;
    uint32_t background = background_of(warp, grid);
    if (background >= NO_CODE) return without_code(background);
    uint4 row = choose(object.row_on(warp, grid), spread(background), grid.row(warp.lane));
    Cells cells = object.cells_from(warp, -offset.i, -offset.j);
    return out.set(warp, choose(grid.on(warp, cells.row), cells.colour, row), grid);
}

}  // namespace ops
