// A warp on the host: 32 fibers, each with a stack of its own, that are switched where they meet.
//
// The fiber of lane i runs on stack i of an arena that is aligned to its own size, so that the
// address of the stack tells lane and warp: there is no global state, and as many warps run at
// once as there are threads with an arena each. The fibers live as long as the arena; at the end
// of a kernel they wait for the next one.
#pragma once

#include <cstddef>
#include <cstdint>

// The fast switch, or one that any Unix has; -DEMULATION_UCONTEXT takes the latter for a test.
#if defined(__x86_64__) && defined(__ELF__) && !defined(EMULATION_UCONTEXT)
#define EMULATION_ASSEMBLY 1
#else
#define EMULATION_ASSEMBLY 0
#include <ucontext.h>
#endif

namespace emulation {

constexpr unsigned LANES = 32;
// Bytes of a stack. The lowest page is no part of it, except for lane 0, where the warp lies
// below that page.
constexpr size_t STACK = 256 << 10;
constexpr size_t ARENA = LANES * STACK;

#if EMULATION_ASSEMBLY
// A fiber that does not run: its stack pointer, with what the switch has saved below.
using Context = void*;
#else
using Context = ucontext_t;
#endif

// What the lanes gave to a collective.
struct Meeting {
    uint64_t values[LANES];
    // A bit for each lane whose value is not 0.
    uint32_t votes;
};

// In which order lanes run between two collectives.
enum class Order : uint32_t { Ascending, Descending, Random };

struct Warp {
    // Two of them: a lane may come to the next collective before others have read the last.
    Meeting meetings[2];
    unsigned meeting;
    // The order of lanes, and how many of them have come to the next collective or to the end.
    uint8_t order[LANES];
    unsigned come;
    // Where the first of those has come to. At the end of the kernel there is no name.
    const char* name;
    const char* file;
    int line;

    // Where threads are.
    uint32_t first_thread, threads, block, blocks;
    void* shared;

    // What runs: the function takes the arguments apart.
    void (*kernel)(void* const* arguments);
    void* const* arguments;
    // Collectives that it may still come to.
    uint64_t patience;
    Order kind;
    uint64_t random;

    // Set when a lane broke a rule; all fibers then have to start anew.
    bool failed;
    char* error;
    size_t error_bytes;

    Context host;
    Context lanes[LANES];
    // The host's stack, which the address sanitizer wants to know when a lane goes back to it.
    const void* host_stack;
    size_t host_stack_bytes;
};

// An address on the stack of the lane that runs.
inline uintptr_t stack_address() {
#if EMULATION_ASSEMBLY
    uintptr_t at;
    asm("movq %%rsp, %0" : "=r"(at));
    return at;
#else
    return reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
#endif
}

// The warp of the lane that runs.
inline Warp& warp() { return *reinterpret_cast<Warp*>(stack_address() & -ARENA); }

// The number of the lane that runs.
inline unsigned this_lane() { return unsigned(stack_address() / STACK % LANES); }

// Goes on when all lanes have come here.
const Meeting& meet(const char* name, uint32_t mask, uint64_t value, const char* file, int line);

// Ends the launch with this error.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace emulation
