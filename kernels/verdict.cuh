// What a host wants to know of a result without fetching it. `verdict.rs` has the same functions
// for the host.
#pragma once

#include "arc.cuh"

struct Hash {
    uint32_t low, high;
};
DEVICE uint32_t rotated(uint32_t x, uint32_t by) { return x << by | x >> (32 - by); }

// Two chains: each lane mixes its row with its number; sums of the lanes are mixed with the size.
DEVICE uint32_t chain(uint32_t x, uint4 row, uint32_t multiplier, uint32_t by) {
    x = rotated(x ^ row.x, by) * multiplier;
    x = rotated(x ^ row.y, by) * multiplier;
    x = rotated(x ^ row.z, by) * multiplier;
    x = rotated(x ^ row.w, by) * multiplier;
    return x;
}
DEVICE uint32_t finished(uint32_t x) {
    x = (x ^ x >> HASH_FINISH_OUTER) * HASH_FINISH_FIRST;
    x = (x ^ x >> HASH_FINISH_INNER) * HASH_FINISH_SECOND;
    return x ^ x >> HASH_FINISH_OUTER;
}
DEVICE Hash hash_of(Warp warp, Grid grid) {
    uint4 row = grid.row(warp.lane);
    uint32_t size = GridSize::packed((uint32_t)grid.height, (uint32_t)grid.width);
    uint32_t number = warp.lane + 1;
    uint32_t low = finished(chain(number * HASH_LOW_BEGIN, row, HASH_LOW_MULTIPLIER, HASH_LOW_ROTATION));
    uint32_t high = finished(chain(number * HASH_HIGH_BEGIN, row, HASH_HIGH_MULTIPLIER, HASH_HIGH_ROTATION));
    Hash hash = {finished(sum(low) ^ size * HASH_LOW_SIZE), finished(sum(high) + size * HASH_HIGH_SIZE)};
    return hash;
}

// Whether a grid is the expected one, whose row each lane gives a place of in global memory, and how many of its cells are as
// expected: none where the sizes differ.
DEVICE bool is_right(Warp warp, Grid result, uint32_t size, const uint4* expected, uint32_t& cells_right) {
    if (size != GridSize::packed((uint32_t)result.height, (uint32_t)result.width)) return false;
    uint32_t wrong = differing(result.row(warp.lane), *expected);
    bool equal = !any_lane(wrong != 0);
    cells_right = (uint32_t)(result.height * result.width);
    if (!equal) cells_right -= sum((uint32_t)__popc(wrong));
    return equal;
}
