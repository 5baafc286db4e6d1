// What a host wants to know of a result without fetching it. `verdict.rs` has the same functions
// for the host.
#pragma once

#include "arc.cuh"

struct Hash {
    uint32_t low, high;
};
struct Judgement {
    bool equal;
    uint32_t cells_right;
    Hash hash;
};

DEVICE uint32_t rotated(uint32_t x, uint32_t by) { return x << by | x >> (32 - by); }

// Two chains that share no constant: with one of them, planes that are swapped cancel out. Each
// lane mixes its row with its number; sums of the lanes are mixed with the size. The finish of a
// chain is that of MurmurHash3 (Appleby, public domain), whose constants are known to avalanche.
DEVICE uint32_t chain(uint32_t x, uint4 row, uint32_t multiplier, uint32_t by) {
    x = rotated(x ^ row.x, by) * multiplier;
    x = rotated(x ^ row.y, by) * multiplier;
    x = rotated(x ^ row.z, by) * multiplier;
    x = rotated(x ^ row.w, by) * multiplier;
    return x;
}
DEVICE uint32_t finished(uint32_t x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}
DEVICE Hash hash_of(Warp warp, Grid grid) {
    uint4 row = grid.row(warp.lane);
    uint32_t size = (uint32_t)grid.height << 16 | (uint32_t)grid.width;
    uint32_t number = warp.lane + 1;
    uint32_t low = finished(chain(number * 0x9e3779b9u, row, 0xcc9e2d51u, 15));
    uint32_t high = finished(chain(number * 0x7feb352du, row, 0x1b873593u, 13));
    Hash hash = {finished(sum(low) ^ size * 0x846ca68bu), finished(sum(high) + size * 0x2c1b3c6du)};
    return hash;
}

// Compares with the expected grid, which lies in global memory.
DEVICE void judge(Warp warp, Grid result, uint32_t size, const uint4* expected, Judgement& judgement) {
    bool same_size = size == ((uint32_t)result.height << 16 | (uint32_t)result.width);
    uint32_t wrong = differing(result.row(warp.lane), expected[warp.lane]);
    judgement.equal = same_size && !any_lane(wrong != 0);
    uint32_t right = sum(__popc(result.valid(warp) & ~wrong));
    judgement.cells_right = same_size ? right : 0;
}
