// Grids turned, mirrored, cut and joined.
#pragma once

#include "../arc.cuh"

namespace ops {

// Rows are kept zero past the size, so that wrapping around is safe.
DEVICE Punt hmirror(Warp warp, GridOut out, Grid grid) {
    return out.set(warp, grid.row(grid.height - 1 - (int32_t)warp.lane), grid.height, grid.width);
}

DEVICE Punt hconcat(Warp warp, GridOut out, Grid a, Grid b) {
    if (a.width + b.width > 32) return GRID_TOO_LARGE;
    int32_t height = min(a.height, b.height);
    uint4 row = a.row(warp.lane) | moved(b.row(warp.lane), a.width);
    return out.set(warp, row & ((int32_t)warp.lane < height ? FULL : 0), height, a.width + b.width);
}

}  // namespace ops
