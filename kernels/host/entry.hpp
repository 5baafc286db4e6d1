// What the Rust side calls: kernels by name, and their launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace emulation {

// A kernel and what it takes: for each parameter `p`, device memory, or `n`, a 32-bit number.
struct Kernel {
    const char* name;
    void (*run)(void* const* arguments);
    const char* parameters;
};

// How a kernel runs whose arguments lie where the pointers say, as cuLaunchKernel takes them.
template <auto kernel>
struct Entry;

template <typename... P, void (*kernel)(P...)>
struct Entry<kernel> {
    static constexpr char PARAMETERS[] = {(std::is_pointer_v<P> ? 'p' : 'n')..., '\0'};
    static_assert(((std::is_pointer_v<P> || std::is_same_v<P, unsigned>)&&...),
                  "a kernel takes pointers and unsigned 32-bit numbers");

    static void run(void* const* arguments) { run(arguments, std::index_sequence_for<P...>()); }

    template <size_t... I>
    static void run(void* const* arguments, std::index_sequence<I...>) {
        kernel(*static_cast<P*>(arguments[I])...);
    }
};

// The kernel of this name among those of a table; nothing where there is none.
template <size_t N>
inline const Kernel* find(const Kernel (&table)[N], const char* name) {
    for (const Kernel& kernel : table) {
        if (std::strcmp(kernel.name, name) == 0) {
            return &kernel;
        }
    }
    return nullptr;
}

#define EMULATION_KERNEL(kernel) \
    { #kernel, emulation::Entry<kernel>::run, emulation::Entry<kernel>::PARAMETERS }

}  // namespace emulation
