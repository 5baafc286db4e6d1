// The kernels compiled for the host, and the warps that run them.

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "cuda.hpp"
#include "entry.hpp"

// 1 where the build is for the address sanitizer, which is told of the stacks.
#ifndef EMULATION_SANITIZE
#define EMULATION_SANITIZE 0
#endif
#if EMULATION_SANITIZE
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace kernels {

#include "../programs.cu"

static const emulation::Kernel TABLE[] = {
    EMULATION_KERNEL(arc_programs),
    EMULATION_KERNEL(arc_copy),
};

}  // namespace kernels

#if EMULATION_ASSEMBLY
// Saves what a function has to keep, stores the stack pointer at the first argument, takes the
// second for the stack pointer and restores what lies there.
extern "C" void arc_emulation_switch(void** from, void* to);
asm(R"(
.text
.globl arc_emulation_switch
.hidden arc_emulation_switch
.type arc_emulation_switch, @function
arc_emulation_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size arc_emulation_switch, .-arc_emulation_switch
)");
#endif

namespace emulation {
namespace {

// Where a stack starts, from its lowest address on.
size_t lowest(unsigned lane) {
    static_assert(sizeof(Warp) < STACK / 4, "the warp leaves no room for the stack of lane 0");
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    const size_t warp = lane == 0 ? (sizeof(Warp) + page - 1) / page * page : 0;
    return lane * STACK + warp + page;
}

// Goes from one context of the warp to another one.
inline void jump(Warp& warp, Context& from, Context& to) {
#if EMULATION_SANITIZE
    const void* bottom = warp.host_stack;
    size_t bytes = warp.host_stack_bytes;
    if (&to != &warp.host) {
        const unsigned lane = unsigned(&to - warp.lanes);
        bottom = reinterpret_cast<const char*>(&warp) + lowest(lane);
        bytes = (lane + 1) * STACK - lowest(lane);
    }
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, bottom, bytes);
#else
    (void)warp;
#endif
#if EMULATION_ASSEMBLY
    arc_emulation_switch(&from, to);
#else
    swapcontext(&from, &to);
#endif
#if EMULATION_SANITIZE
    __sanitizer_finish_switch_fiber(fake, &bottom, &bytes);
    if (warp.host_stack == nullptr && &from != &warp.host) {
        warp.host_stack = bottom;
        warp.host_stack_bytes = bytes;
    }
#endif
}

// A number from 0 to below `bound`.
uint32_t draw(uint64_t& state, uint32_t bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return uint32_t((state >> 32) * bound >> 32);
}

void shuffle_order(Warp& warp) {
    for (unsigned i = LANES - 1; i > 0; --i) {
        const unsigned j = draw(warp.random, i + 1);
        const uint8_t lane = warp.order[i];
        warp.order[i] = warp.order[j];
        warp.order[j] = lane;
    }
}

void start_order(Warp& warp, Order kind, uint64_t seed) {
    warp.kind = kind;
    // A seed of 0 would stay 0.
    warp.random = (seed + 1) * 0x9e3779b97f4a7c15 | 1;
    for (unsigned i = 0; i < LANES; ++i) {
        warp.order[i] = uint8_t(kind == Order::Descending ? LANES - 1 - i : i);
    }
    if (kind == Order::Random) {
        shuffle_order(warp);
    }
}

// The lane has come to where the others come too: goes on with the next one. The last one has the
// first go on.
inline __attribute__((always_inline)) void step(Warp& warp, unsigned lane) {
    if (++warp.come == LANES) {
        warp.come = 0;
        warp.meeting ^= 1;
        if (warp.kind == Order::Random) {
            shuffle_order(warp);
        }
        if (warp.name == nullptr) {
            jump(warp, warp.lanes[lane], warp.host);
            return;
        }
        if (warp.patience-- == 0) {
            fail("the warp does not end: it still comes to %s at %s:%d", warp.name, warp.file,
                 warp.line);
        }
    }
    const unsigned next = warp.order[warp.come];
    if (next != lane) {
        jump(warp, warp.lanes[lane], warp.lanes[next]);
    }
}

// The kernel has returned.
void leave(Warp& warp, unsigned lane) {
    if (warp.come == 0) {
        warp.name = nullptr;
    } else if (warp.name != nullptr) {
        fail("deadlock: lane %u waits in %s at %s:%d for lane %u, which has left the kernel",
             unsigned(warp.order[0]), warp.name, warp.file, warp.line, lane);
    }
    step(warp, lane);
}

// What a fiber does.
void live() {
    Warp& warp = emulation::warp();
    const unsigned lane = this_lane();
#if EMULATION_SANITIZE
    const void* bottom = nullptr;
    size_t bytes = 0;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
    if (warp.host_stack == nullptr) {
        warp.host_stack = bottom;
        warp.host_stack_bytes = bytes;
    }
#endif
    for (;;) {
        warp.kernel(warp.arguments);
        leave(warp, lane);
    }
}

// Lets all lanes start anew.
void restart(Warp& warp) {
    char* const arena = reinterpret_cast<char*>(&warp);
    for (unsigned lane = 0; lane < LANES; ++lane) {
        char* const end = arena + (lane + 1) * STACK;
#if EMULATION_SANITIZE
        __asan_unpoison_memory_region(arena + lowest(lane), (lane + 1) * STACK - lowest(lane));
#endif
        // Stacks that all ended at the same offset would lie in one set of the caches.
        char* const top = end - lane * 128;
#if EMULATION_ASSEMBLY
        // As the switch would have left it: six registers, where to go, where that returns to.
        void** const frame = reinterpret_cast<void**>(top) - 8;
        std::memset(frame, 0, 8 * sizeof(void*));
        frame[6] = reinterpret_cast<void*>(&live);
        warp.lanes[lane] = frame;
#else
        char* const low = arena + lowest(lane);
        getcontext(&warp.lanes[lane]);
        warp.lanes[lane].uc_stack.ss_sp = low;
        warp.lanes[lane].uc_stack.ss_size = size_t(top - low);
        warp.lanes[lane].uc_link = nullptr;
        makecontext(&warp.lanes[lane], live, 0);
#endif
    }
    warp.come = 0;
    warp.failed = false;
}

}  // namespace

void fail(const char* format, ...) {
    Warp& warp = emulation::warp();
    const unsigned lane = this_lane();
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(warp.error, warp.error_bytes, format, arguments);
    va_end(arguments);
    warp.failed = true;
    jump(warp, warp.lanes[lane], warp.host);
    // Nobody comes back to a fiber that failed.
    std::abort();
}

// The lane is elsewhere than those before it, unless only the addresses of names differ.
__attribute__((noinline)) static void compare(const Warp& warp, unsigned lane, const char* name,
                                              const char* file, int line) {
    if (warp.name == nullptr) {
        fail("lane %u is in %s at %s:%d with a mask that names lane %u, which has left the kernel",
             lane, name, file, line, unsigned(warp.order[0]));
    }
    if (warp.line != line || std::strcmp(warp.name, name) != 0 ||
        std::strcmp(warp.file, file) != 0) {
        fail("lanes have diverged: lane %u is in %s at %s:%d, lane %u in %s at %s:%d",
             unsigned(warp.order[0]), warp.name, warp.file, warp.line, lane, name, file, line);
    }
}

__attribute__((noinline)) const Meeting& meet(const char* name, uint32_t mask, uint64_t value,
                                              const char* file, int line) {
    Warp& warp = emulation::warp();
    const unsigned lane = this_lane();
    if (mask != ~uint32_t(0)) {
        fail("lane %u is in %s at %s:%d with the mask %#010x, which is not the whole warp", lane,
             name, file, line, mask);
    }
    Meeting& meeting = warp.meetings[warp.meeting];
    if (warp.come == 0) {
        warp.name = name;
        warp.file = file;
        warp.line = line;
        meeting.votes = 0;
    } else if (warp.line != line || warp.name != name || warp.file != file) {
        compare(warp, lane, name, file, line);
    }
    meeting.values[lane] = value;
    meeting.votes |= uint32_t(value != 0) << lane;
    step(warp, lane);
    return meeting;
}

}  // namespace emulation

using namespace emulation;

// One launch; the same struct is in crates/gpu-kernels/src/device/emulated/image.rs.
struct Launch {
    const Kernel* kernel;
    void* const* arguments;
    // Null or what the arguments are, to be compared with what the kernel takes.
    const char* parameters;
    uint32_t blocks, threads, shared_bytes, most_shared_bytes;
    uint32_t order;
    uint64_t seed;
    // What shared memory is filled with at first.
    uint64_t fill;
    uint64_t patience;
    char* error;
    size_t error_bytes;
};

extern "C" {

// 32 fibers; null where there is no memory for their stacks.
void* arc_emulation_arena() {
    char* const all = static_cast<char*>(mmap(nullptr, 2 * ARENA, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (all == MAP_FAILED) {
        return nullptr;
    }
    const size_t before = -reinterpret_cast<uintptr_t>(all) & (ARENA - 1);
    char* const arena = all + before;
    if (before > 0) {
        munmap(all, before);
    }
    munmap(arena + ARENA, ARENA - before);
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    for (unsigned lane = 0; lane < LANES; ++lane) {
        // A stack that overflows meets this page.
        if (mprotect(arena + lowest(lane) - page, page, PROT_NONE) != 0) {
            munmap(arena, ARENA);
            return nullptr;
        }
    }
    restart(*reinterpret_cast<Warp*>(arena));
    return arena;
}

void arc_emulation_free(void* arena) {
#if EMULATION_SANITIZE
    __asan_unpoison_memory_region(arena, ARENA);
#endif
    munmap(arena, ARENA);
}

uint64_t arc_emulation_fingerprint() { return kernels::arc_fingerprint; }

const Kernel* arc_emulation_kernel(const char* name) { return find(kernels::TABLE, name); }

// 0 when it is done, 1 when it cannot be launched, 2 when it failed.
int32_t arc_emulation_launch(void* arena, const Launch* launch) {
    const uint32_t shared_bytes = launch->shared_bytes;
    const auto refuse = [launch](const char* reason, uint32_t number) {
        std::snprintf(launch->error, launch->error_bytes, reason, number);
        return 1;
    };
    if (std::strcmp(launch->parameters, launch->kernel->parameters) != 0) {
        std::snprintf(launch->error, launch->error_bytes,
                      "it takes the arguments `%s` and was given `%s` (p: memory, n: a number)",
                      launch->kernel->parameters, launch->parameters);
        return 1;
    }
    if (launch->blocks == 0 || launch->blocks > 0x7fffffff) {
        return refuse("%u blocks", launch->blocks);
    }
    if (launch->threads == 0 || launch->threads % 32 != 0 || launch->threads > 1024) {
        return refuse("%u threads a block, no multiple of 32 to 1024", launch->threads);
    }
    if (shared_bytes % 16 != 0) {
        return refuse("%u bytes of shared memory, no multiple of 16", shared_bytes);
    }
    if (shared_bytes > launch->most_shared_bytes) {
        return refuse("%u bytes of shared memory are more than a block may have", shared_bytes);
    }

    // What stands behind shared memory, for writes past its end to show; the sanitizer knows more.
    const uint64_t GUARD = 0xa5b6c7d8e9faabbc;
    const size_t guard = EMULATION_SANITIZE ? 0 : 128;
    Warp& warp = *static_cast<Warp*>(arena);
    warp.kernel = launch->kernel->run;
    warp.arguments = launch->arguments;
    warp.threads = launch->threads;
    warp.blocks = launch->blocks;
    warp.error = launch->error;
    warp.error_bytes = launch->error_bytes;
    warp.host_stack = nullptr;
    start_order(warp, Order(launch->order), launch->seed);
    uint64_t fill = launch->fill | 1;
    const size_t bytes = shared_bytes + guard;
    for (uint32_t block = 0; block < launch->blocks; ++block) {
        void* shared = nullptr;
        if (posix_memalign(&shared, 128, bytes) != 0) {
            return refuse("no host memory for %u bytes of shared memory", shared_bytes);
        }
        for (size_t at = 0; at < bytes; at += 8) {
            draw(fill, 1);
            std::memcpy(static_cast<char*>(shared) + at, at < shared_bytes ? &fill : &GUARD, 8);
        }
        warp.block = block;
        warp.shared = shared;
        for (uint32_t first = 0; first < launch->threads && !warp.failed; first += LANES) {
            warp.first_thread = first;
            warp.patience = launch->patience;
            jump(warp, warp.host, warp.lanes[warp.order[0]]);
        }
        bool overrun = false;
        for (size_t at = shared_bytes; at < bytes; at += 8) {
            overrun |= std::memcmp(static_cast<char*>(shared) + at, &GUARD, 8) != 0;
        }
        std::free(shared);
        if (warp.failed) {
            restart(warp);
            return 2;
        }
        if (overrun) {
            refuse("it wrote past the end of its %u bytes of shared memory", shared_bytes);
            return 2;
        }
    }
    return 0;
}

}  // extern "C"
