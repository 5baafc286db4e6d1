// What all kernels stand on. No system header: NVRTC brings none.
#pragma once

typedef signed int int32_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;

// Names the shared memory of a block, within a function; kernels/host/cuda.hpp has its own.
#ifdef __CUDACC__
#define ARC_SHARED(name) extern __shared__ uint4 name[]
#endif

// What all operations are compared by: an image built from others is refused.
extern "C" __constant__ uint64_t arc_fingerprint = 0;
