// Kernels that test the emulation itself. They are in no image: only the tests of gpu-kernels link
// them.

#include "cuda.hpp"
#include "entry.hpp"

namespace tests {

// The sum of all numbers up to each lane's, 32 of them a warp.
extern "C" __global__ void test_scan(const unsigned* from, unsigned* to) {
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = from[at];
    for (unsigned by = 1; by < 32; by *= 2) {
        const unsigned before = __shfl_up_sync(0xffffffff, sum, by);
        if ((threadIdx.x & 31) >= by) {
            sum += before;
        }
    }
    to[at] = sum;
}

// All shuffles of a value and a lane or distance, by parts of `width` lanes; and all votes.
extern "C" __global__ void test_collectives(const unsigned* values, const unsigned* others,
                                            unsigned* to, unsigned width) {
    const unsigned lane = threadIdx.x;
    const unsigned value = values[lane];
    const unsigned other = others[lane];
    to[lane] = __shfl_sync(0xffffffff, value, int(other), int(width));
    to[32 + lane] = __shfl_up_sync(0xffffffff, value, other, int(width));
    to[64 + lane] = __shfl_down_sync(0xffffffff, value, other, int(width));
    to[96 + lane] = __shfl_xor_sync(0xffffffff, value, int(other), int(width));
    to[128 + lane] = __ballot_sync(0xffffffff, int(value & 1));
    to[160 + lane] = unsigned(__any_sync(0xffffffff, int(value & 2)));
    to[192 + lane] = unsigned(__all_sync(0xffffffff, int(value & 4)));
    const unsigned long long wide = (unsigned long long)value << 32 | other;
    to[224 + lane] = unsigned(__shfl_sync(0xffffffff, wide, 5) >> 32);
}

// What is no collective.
extern "C" __global__ void test_functions(const unsigned* xs, const unsigned* ys, unsigned* to) {
    const unsigned lane = threadIdx.x;
    const unsigned x = xs[lane];
    const unsigned y = ys[lane];
    unsigned* const out = to + 16 * lane;
    out[0] = unsigned(__popc(x));
    out[1] = unsigned(__clz(int(x)));
    out[2] = unsigned(__ffs(int(x)));
    out[3] = __brev(x);
    out[4] = __umulhi(x, y);
    out[5] = __funnelshift_l(x, y, lane * 2);
    out[6] = __funnelshift_r(x, y, lane * 2);
    out[7] = __funnelshift_lc(x, y, lane * 2);
    out[8] = __funnelshift_rc(x, y, lane * 2);
    out[9] = min(x, y);
    out[10] = max(x, y);
    out[11] = unsigned(min(int(x), int(y)));
    out[12] = unsigned(max(int(x), int(y)));
    const uint4 four = make_uint4(x, y, lane, warpSize);
    const uint2 two = make_uint2(four.w, four.x);
    out[13] = two.x;
    out[14] = two.y;
    out[15] = gridDim.x;
}

// Each lane's number by way of shared memory, read by the lane before it.
extern "C" __global__ void test_neighbour(unsigned* to, unsigned wait) {
    uint4* const shared = static_cast<uint4*>(ARC_AT_SHARED(0));
    const unsigned lane = threadIdx.x;
    shared[lane].x = lane;
    if (wait != 0) {
        __syncwarp();
    }
    to[lane] = shared[(lane + 1) & 31].x;
}

// What shared memory holds that nobody has written.
extern "C" __global__ void test_unwritten(unsigned* to) {
    uint4* const shared = static_cast<uint4*>(ARC_AT_SHARED(0));
    to[threadIdx.x] = shared[threadIdx.x].x;
}

// So many shuffles.
extern "C" __global__ void test_shuffles(unsigned* to, unsigned count) {
    unsigned value = threadIdx.x;
    for (unsigned i = 0; i < count; ++i) {
        value = __shfl_xor_sync(0xffffffff, value, int(i & 31)) + 1;
    }
    to[threadIdx.x] = value;
}

// Breaks a rule.
extern "C" __global__ void test_broken(unsigned* to, unsigned rule) {
    uint4* const shared = static_cast<uint4*>(ARC_AT_SHARED(0));
    const unsigned lane = threadIdx.x & 31;
    unsigned value = lane;
    switch (rule) {
        case 0:  // Lanes meet at different collectives.
            value = lane < 16 ? __shfl_sync(0xffffffff, value, 0) : __ballot_sync(0xffffffff, 1);
            break;
        case 1:  // Lanes meet at the same one, called in different places.
            if (lane < 16) {
                value = __shfl_sync(0xffffffff, value, 0);
            } else {
                value = __shfl_sync(0xffffffff, value, 1);
            }
            break;
        case 2:  // The first lane leaves, the others do not know.
            if (lane == 0) {
                return;
            }
            value = __ballot_sync(0xffffffff, 1);
            break;
        case 3:  // The last lane leaves while the others wait.
            if (lane == 31) {
                return;
            }
            __syncwarp();
            break;
        case 4:  // Half a warp.
            if (lane < 16) {
                value = __shfl_sync(0x0000ffff, value, 0);
            }
            break;
        case 5:  // Different masks.
            value = __shfl_sync(lane < 16 ? 0xffffffff : 0xffff0000, value, 0);
            break;
        case 6:  // No end.
            while (__any_sync(0xffffffff, 1)) {
            }
            break;
        case 7:  // A write past the end of shared memory.
            shared[32 + lane / 16].x = value;
            break;
        case 8:  // Warps that wait for each other.
            __syncthreads();
            break;
        case 9:  // A width that is none.
            value = __shfl_sync(0xffffffff, value, 0, 12);
            break;
        default:
            break;
    }
    to[threadIdx.x] = value;
}

static const emulation::Kernel TABLE[] = {
    EMULATION_KERNEL(test_scan),      EMULATION_KERNEL(test_collectives),
    EMULATION_KERNEL(test_functions), EMULATION_KERNEL(test_neighbour),
    EMULATION_KERNEL(test_unwritten), EMULATION_KERNEL(test_shuffles),
    EMULATION_KERNEL(test_broken),
};

}  // namespace tests

extern "C" const emulation::Kernel* arc_test_kernel(const char* name) {
    return emulation::find(tests::TABLE, name);
}
