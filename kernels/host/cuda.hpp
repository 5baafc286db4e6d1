// What stands in for CUDA where the kernels are compiled for the host: the part of it that they
// keep to. It comes before the kernels, which lie in a namespace of their own.
//
// A lane is a fiber (warp.hpp) that goes on until it meets the others in a collective.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warp.hpp"

struct alignas(8) uint2 {
    unsigned x, y;
};

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }

inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

namespace emulation {

// Blocks and threads have the one dimension x.
struct Index {
    unsigned x;
};

// Where in the source a collective is called: parameters that the caller leaves out.
#define EMULATION_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

// What lane `from(lane)` gave, for all lanes.
template <typename T, typename From>
inline T shuffle(const char* name, unsigned mask, T value, int width, From from, const char* file,
                 int line) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                  "a shuffle takes numbers of 4 or 8 bytes");
    if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
        fail("%s at %s:%d with a width of %d", name, file, line, width);
    }
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    const Meeting& meeting = meet(name, mask, bits, file, line);
    std::memcpy(&value, &meeting.values[from(int(this_lane()), width)], sizeof(T));
    return value;
}

}  // namespace emulation

template <typename T>
inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32, EMULATION_HERE) {
    auto from = [lane](int at, int width) { return (at & -width) | (lane & (width - 1)); };
    return emulation::shuffle("__shfl_sync", mask, value, width, from, file, line);
}

template <typename T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, EMULATION_HERE) {
    // The device looks at five bits of the distance, here and below.
    auto from = [delta = int(delta & 31)](int at, int width) {
        return (at & (width - 1)) < delta ? at : at - delta;
    };
    return emulation::shuffle("__shfl_up_sync", mask, value, width, from, file, line);
}

template <typename T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, EMULATION_HERE) {
    auto from = [delta = int(delta & 31)](int at, int width) {
        return (at & (width - 1)) + delta >= width ? at : at + delta;
    };
    return emulation::shuffle("__shfl_down_sync", mask, value, width, from, file, line);
}

template <typename T>
inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, EMULATION_HERE) {
    // A part may read from an earlier one, not from a later one.
    auto from = [lanes](int at, int width) {
        int other = at ^ (lanes & 31);
        return other <= (at | (width - 1)) ? other : at;
    };
    return emulation::shuffle("__shfl_xor_sync", mask, value, width, from, file, line);
}

inline unsigned __ballot_sync(unsigned mask, int vote, EMULATION_HERE) {
    return emulation::meet("__ballot_sync", mask, vote != 0, file, line).votes;
}

inline int __any_sync(unsigned mask, int vote, EMULATION_HERE) {
    return emulation::meet("__any_sync", mask, vote != 0, file, line).votes != 0;
}

inline int __all_sync(unsigned mask, int vote, EMULATION_HERE) {
    return emulation::meet("__all_sync", mask, vote != 0, file, line).votes == ~0u;
}

inline void __syncwarp(unsigned mask = ~0u, EMULATION_HERE) {
    emulation::meet("__syncwarp", mask, 0, file, line);
}

inline void __syncthreads(EMULATION_HERE) {
    if (emulation::warp().threads > 32) {
        emulation::fail("__syncthreads at %s:%d: warps are run in turn", file, line);
    }
    emulation::meet("__syncthreads", ~0u, 0, file, line);
}

// In plain arithmetic: the builtin is a call where the processor is not known to count.
inline int __popc(unsigned x) {
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    return int((x + (x >> 4) & 0x0f0f0f0f) * 0x01010101 >> 24);
}

inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }

inline int __ffs(int x) { return __builtin_ffs(x); }

inline unsigned __brev(unsigned x) {
    x = (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
    x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
    x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
    return __builtin_bswap32(x);
}

inline unsigned __umulhi(unsigned x, unsigned y) { return unsigned(uint64_t(x) * y >> 32); }

// The funnel shifts: of `high` and `low` side by side, the upper half of a shift to the left or
// the lower half of one to the right; by 31 at most, or (`c`) by what is clamped to 32.
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return unsigned(((uint64_t(high) << 32 | low) << (by & 31)) >> 32);
}

inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
    return by >= 32 ? low : __funnelshift_l(low, high, by);
}

inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return unsigned((uint64_t(high) << 32 | low) >> (by & 31));
}

inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
    return by >= 32 ? high : __funnelshift_r(low, high, by);
}

// The single instructions that kernels/arc.cuh names; what they do is said there.
inline unsigned shifted_up(unsigned bits, unsigned by) { return by >= 32 ? 0 : bits << by; }

inline unsigned shifted_down(unsigned bits, unsigned by) { return by >= 32 ? 0 : bits >> by; }

template <unsigned BIT>
inline unsigned all_of(unsigned bits) {
    return 0u - (bits >> BIT & 1);
}

inline unsigned halves(unsigned upper, unsigned lower) { return upper << 16 | (lower & 0xffff); }

inline unsigned words_before(unsigned address, unsigned count) { return address - 4 * count; }
inline unsigned highest_place(unsigned bits) { return 31 - unsigned(__clz(int(bits))); }

template <unsigned TABLE>
inline unsigned by_table(unsigned a, unsigned b, unsigned c) {
    unsigned to = 0;
    for (unsigned row = 0; row < 8; ++row) {
        if (TABLE >> row & 1) {
            to |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
        }
    }
    return to;
}

// Fibers change memory one after the other: what no other lane comes in between of.
inline unsigned atomicOr(unsigned* at, unsigned bits) {
    const unsigned found = *at;
    *at = found | bits;
    return found;
}

inline unsigned atomicAnd(unsigned* at, unsigned bits) {
    const unsigned found = *at;
    *at = found & bits;
    return found;
}

inline unsigned atomicInc(unsigned* at, unsigned most) {
    const unsigned found = *at;
    *at = found >= most ? 0 : found + 1;
    return found;
}

#define EMULATION_EXTREMES(result, a, b)                                                        \
    inline result min(a x, b y) { return (result)x < (result)y ? (result)x : (result)y; }       \
    inline result max(a x, b y) { return (result)x < (result)y ? (result)y : (result)x; }

EMULATION_EXTREMES(int, int, int)
EMULATION_EXTREMES(unsigned, unsigned, unsigned)
EMULATION_EXTREMES(unsigned, int, unsigned)
EMULATION_EXTREMES(unsigned, unsigned, int)
EMULATION_EXTREMES(long long, long long, long long)
EMULATION_EXTREMES(unsigned long long, unsigned long long, unsigned long long)

#define threadIdx (emulation::Index{emulation::warp().first_thread + emulation::this_lane()})
#define blockIdx (emulation::Index{emulation::warp().block})
#define blockDim (emulation::Index{emulation::warp().threads})
#define gridDim (emulation::Index{emulation::warp().blocks})
#define warpSize 32

// An address in the block's shared memory is counted from where that begins.
#define ARC_SHARED_BEGIN 0u
#define ARC_AT_SHARED(address) static_cast<void*>(static_cast<char*>(emulation::warp().shared) + (address))

#define __global__
#define __device__
#define __host__
#define __constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
