// The kernels of the image: programs on batches of grids, and a copy to measure them against.

#include "arc.cuh"

// Copies `count` times 16 bytes.
extern "C" __global__ void arc_copy(const uint4* from, uint4* to, uint32_t count) {
    uint32_t threads = gridDim.x * blockDim.x;
    for (uint32_t at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += threads) {
        to[at] = from[at];
    }
}
