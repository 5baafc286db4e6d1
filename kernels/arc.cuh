// What all kernels stand on: a warp is a grid.
//
// Lane r of a warp holds row r. A grid is four planes of at most 32 rows of 32 bits: bit j of plane
// k of row i is bit k of the code of the cell (i, j), and past its size all is zero. A set of
// locations is one bit a location in a window of 32 x 32, whose origin may be anywhere; an object is
// both, with planes that are zero outside its locations.
//
// Between operations values lie in the pool of the evaluation, in shared memory; interface.cuh, and
// docs/device-interface.md, say how. An operation reads its operands there, where any lane sees any
// row, and writes its result to places that no operand has; the launch loop synchronises the warp
// after each. Whatever an operation cannot hold exactly is a bail-out (`BailOut`).
//
// Control flow is uniform over the warp wherever a collective stands: sm_60 has it no other way.
// No system header is included: NVRTC brings none.
#pragma once

typedef signed int int32_t;
typedef signed short int16_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;

// The shared memory of a block: where it begins, and what lies at an address in it. Such addresses have
// 32 bits, and the compiler knows of what they point to where it lies, which it does not of pointers that
// went through a structure. kernels/host/cuda.hpp has its own.
#ifdef __CUDACC__
extern __shared__ uint4 arc_shared[];
#define ARC_SHARED_BEGIN ((uint32_t)__cvta_generic_to_shared(arc_shared))
#define ARC_AT_SHARED(ADDRESS) __cvta_shared_to_generic(ADDRESS)
// The address of a place in global memory as it is loaded from.
#define ARC_AS_GLOBAL(PLACE) (uint64_t)__cvta_generic_to_global(PLACE)
#define ARC_AT_GLOBAL(ADDRESS) __cvta_global_to_generic(ADDRESS)
#else
#define ARC_AS_GLOBAL(PLACE) (uint64_t)(PLACE)
#define ARC_AT_GLOBAL(ADDRESS) (void*)(ADDRESS)
#endif

// Says in the PTX which part of the kernel follows, for who counts instructions; it is none itself.
#ifdef __CUDACC__
#define ARC_PART(NAME) asm volatile("// arc part " #NAME)
#else
#define ARC_PART(NAME)
#endif

// Stands before the switch over a number less than COUNT, which `cargo xtask ptx` makes a table of
// branches: the compiler makes a tree of comparisons.
//
// ARC_OPAQUE hides from the compiler what a variable is.
#ifdef __CUDACC__
#define ARC_SWITCH(NUMBER, COUNT) asm volatile("// arc switch %0 of %1" : "+r"(NUMBER) : "n"(COUNT))
#define ARC_OPAQUE(VARIABLE) asm volatile("" : "+r"(VARIABLE))
#define ARC_OPAQUE_ADDRESS(VARIABLE) asm volatile("" : "+l"(VARIABLE))
#else
#define ARC_SWITCH(NUMBER, COUNT)
#define ARC_OPAQUE(VARIABLE)
#define ARC_OPAQUE_ADDRESS(VARIABLE)
#endif

// All that the host must agree on.
#include "interface.cuh"

// Inlined wherever it is called: a call would keep live registers in memory.
#define DEVICE static __device__ __forceinline__

// Single instructions that the compiler does not make of anything in C++. kernels/host/cuda.hpp has its own.
#ifdef __CUDACC__
#define ARC_INSTRUCTION(NAME, PARAMETERS, TEXT, ...)  \
    DEVICE uint32_t NAME PARAMETERS {                 \
        uint32_t to;                                  \
        asm(TEXT : "=r"(to) : __VA_ARGS__);           \
        return to;                                    \
    }
// Shifts by any number, from 32 on for no bit to be left.
ARC_INSTRUCTION(shifted_up, (uint32_t bits, uint32_t by), "shl.b32 %0, %1, %2;", "r"(bits), "r"(by))
ARC_INSTRUCTION(shifted_down, (uint32_t bits, uint32_t by), "shr.u32 %0, %1, %2;", "r"(bits), "r"(by))
// Bit number BIT everywhere.
template <uint32_t BIT>
ARC_INSTRUCTION(all_of, (uint32_t bits), "bfe.s32 %0, %1, %2, 1;", "r"(bits), "n"(BIT))
// The lower halves of two words, side by side.
ARC_INSTRUCTION(halves, (uint32_t upper, uint32_t lower), "prmt.b32 %0, %1, %2, 0x5410;", "r"(lower), "r"(upper))
// The address of a word so many words before another one. The compiler would multiply first, and add later.
ARC_INSTRUCTION(words_before, (uint32_t address, uint32_t count), "mad.lo.u32 %0, %1, -4, %2;", "r"(count), "r"(address))
// The place of the highest bit, -1 where there is none.
ARC_INSTRUCTION(highest_place, (uint32_t bits), "bfind.u32 %0, %1;", "r"(bits))
// Any function of the bits of three words: TABLE is what it makes of 0xf0, 0xcc and 0xaa.
template <uint32_t TABLE>
ARC_INSTRUCTION(by_table, (uint32_t a, uint32_t b, uint32_t c), "lop3.b32 %0, %1, %2, %3, %4;", "r"(a), "r"(b), "r"(c), "n"(TABLE))
#undef ARC_INSTRUCTION
#endif
// But for what is long and several operations share.
#define CALLED static __device__ __noinline__

// What the interface is known by: an image built for another one is refused.
extern "C" __constant__ uint64_t arc_fingerprint = ARC_FINGERPRINT;

// ---------------------------------------------------------------------------------------------
// Warps
// ---------------------------------------------------------------------------------------------

// So many of one type that lie one after the other in shared memory.
template <class T>
struct Shared {
    uint32_t address;
    __device__ __forceinline__ T& operator[](uint32_t n) const { return *(T*)ARC_AT_SHARED(address + n * (uint32_t)sizeof(T)); }
    __device__ __forceinline__ T& operator*() const { return *(T*)ARC_AT_SHARED(address); }
    // As numbered from one of them on, which may lie before the first.
    __device__ __forceinline__ Shared from(int32_t n) const {
        Shared other = {address + (uint32_t)n * (uint32_t)sizeof(T)};
        return other;
    }
    template <class U>
    __device__ __forceinline__ Shared<U> as() const {
        Shared<U> other = {address};
        return other;
    }
};

// Of a word in a pool, where the one with the number before it lies.
struct WordPlace {
    uint32_t address;
    __device__ __forceinline__ uint32_t& operator*() const { return ((uint32_t*)ARC_AT_SHARED(address))[-1]; }
};

// The evaluation that a warp is at: its lane's row, and its pool, whose units lie from an address in
// shared memory upwards and whose words from there downwards.
struct Warp {
    uint32_t lane;
    // Whether it is the lane that writes what all have.
    bool leads;
    uint32_t pool;
    // The arenas of all warps of the launch, in device memory, each of so many words.
    uint32_t* arenas;
    uint32_t arena_words;
    // The warp's own: found where it is needed, so that no register holds it meanwhile.
    __device__ __forceinline__ uint32_t* arena() const {
        return arenas + (uint64_t)(blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)) * arena_words;
    }
};

// What follows is written for rows that are words, planes of which are the parts of a uint4.
static_assert(SIDE == 32 && PLANES == 4, "a lane holds a row of a grid as a uint4");

const uint32_t FULL = 0xffffffff;

DEVICE bool any_lane(bool condition) { return __any_sync(FULL, condition); }
DEVICE bool every_lane(bool condition) { return __all_sync(FULL, condition); }
// Bit r says what lane r says.
DEVICE uint32_t lanes_with(bool condition) { return __ballot_sync(FULL, condition); }
// The value of a lane, whose number is taken modulo 32.
DEVICE uint32_t from_lane(uint32_t value, uint32_t lane) { return __shfl_sync(FULL, value, (int)(lane & 31)); }
// The value of the lane above (of lane r - 1), and of the one below; 0 where there is none.
DEVICE uint32_t from_above(Warp warp, uint32_t value) {
    uint32_t above = __shfl_up_sync(FULL, value, 1);
    return warp.lane == 0 ? 0 : above;
}
DEVICE uint32_t from_below(Warp warp, uint32_t value) {
    uint32_t below = __shfl_down_sync(FULL, value, 1);
    return warp.lane == 31 ? 0 : below;
}

// Over all lanes; every lane gets the result.
DEVICE uint32_t sum(uint32_t value) {
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) value += __shfl_xor_sync(FULL, value, step);
    return value;
}
DEVICE uint32_t either(uint32_t value) {
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) value |= __shfl_xor_sync(FULL, value, step);
    return value;
}
DEVICE uint32_t least(uint32_t value) {
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) {
        uint32_t other = __shfl_xor_sync(FULL, value, step);
        value = other < value ? other : value;
    }
    return value;
}
// Lane r gets the sum of what the lanes before it have.
DEVICE uint32_t before(Warp warp, uint32_t count) {
    uint32_t total = count;
#pragma unroll
    for (uint32_t step = 1; step < 32; step <<= 1) {
        uint32_t other = __shfl_up_sync(FULL, total, step);
        if (warp.lane >= step) total += other;
    }
    return total - count;
}

// ---------------------------------------------------------------------------------------------
// Bits of a row
// ---------------------------------------------------------------------------------------------

// Moved towards higher and towards lower columns by any number, 32 and more for no bit to be left.
DEVICE uint32_t up(uint32_t row, uint32_t by) { return shifted_up(row, by); }
DEVICE uint32_t down(uint32_t row, uint32_t by) { return shifted_down(row, by); }
// The lowest `count` bits, all of them from 32 on, and of a row only those. GPUs since sm_70 make several instructions of
// `bfe` and `bfi` by numbers that are not known.
DEVICE uint32_t first_ones(uint32_t count) { return ~up(FULL, count); }
DEVICE uint32_t first_bits(uint32_t row, uint32_t count) { return row & ~up(FULL, count); }
// The same for a number that may be negative.
DEVICE uint32_t low_bits(int32_t count) { return first_ones((uint32_t)max(count, 0)); }
// Moved towards higher columns by any number, negative ones too. A negative number is a large one in
// the other direction, so that one of the two has no bit.
DEVICE uint32_t moved(uint32_t row, int32_t by) { return up(row, (uint32_t)by) | down(row, 0u - (uint32_t)by); }
// The place of the lowest and of the highest bit; where there is none 32 and -1.
DEVICE int32_t lowest(uint32_t bits) { return __clz((int)__brev(bits)); }
DEVICE int32_t highest(uint32_t bits) { return (int32_t)highest_place(bits); }

// ---------------------------------------------------------------------------------------------
// Colours
// ---------------------------------------------------------------------------------------------

DEVICE bool is_colour(int32_t colour) { return (uint32_t)(colour - FIRST_COLOUR) < COLOURS; }
// The code of a colour that there is, and the colour of a code.
DEVICE uint32_t code_of(int32_t colour) { return (uint32_t)colour & (COLOURS - 1); }
DEVICE int32_t colour_of(uint32_t code) {
    return (int32_t)((code - (uint32_t)FIRST_COLOUR) & (COLOURS - 1)) + FIRST_COLOUR;
}

DEVICE uint4 operator&(uint4 a, uint32_t b) { return make_uint4(a.x & b, a.y & b, a.z & b, a.w & b); }
DEVICE uint4 operator&(uint4 a, uint4 b) { return make_uint4(a.x & b.x, a.y & b.y, a.z & b.z, a.w & b.w); }
DEVICE uint4 operator|(uint4 a, uint4 b) { return make_uint4(a.x | b.x, a.y | b.y, a.z | b.z, a.w | b.w); }
DEVICE uint4 operator^(uint4 a, uint4 b) { return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w); }
// The same rows moved: the way is mostly the same for all lanes, and one branch costs less than to go both.
DEVICE uint4 up(uint4 row, uint32_t by) { return make_uint4(up(row.x, by), up(row.y, by), up(row.z, by), up(row.w, by)); }
DEVICE uint4 down(uint4 row, uint32_t by) {
    return make_uint4(down(row.x, by), down(row.y, by), down(row.z, by), down(row.w, by));
}
DEVICE uint4 moved(uint4 row, int32_t by) { return by < 0 ? down(row, 0u - (uint32_t)by) : up(row, (uint32_t)by); }
DEVICE uint4 first_columns(uint4 row, uint32_t count) {
    return row & first_ones(count);
}
// A code on every column; of a larger number, or of a colour, its code.
DEVICE uint4 spread(uint32_t code) { return make_uint4(all_of<0>(code), all_of<1>(code), all_of<2>(code), all_of<3>(code)); }
// The rows a, b and c as `by_table` takes them.
const uint32_t OF_A = 0xf0, OF_B = 0xcc, OF_C = 0xaa;
// Where two rows differ in any plane; where a row has the code that `colour` is spread of, for the
// columns of `valid`.
DEVICE uint32_t or_differing(uint32_t others, uint32_t a, uint32_t b) { return by_table<OF_A | (OF_B ^ OF_C)>(others, a, b); }
DEVICE uint32_t differing(uint4 a, uint4 b) {
    return or_differing(or_differing(or_differing(a.x ^ b.x, a.y, b.y), a.z, b.z), a.w, b.w);
}
DEVICE uint32_t and_same(uint32_t others, uint32_t a, uint32_t b) { return by_table<OF_A & ~(OF_B ^ OF_C)>(others, a, b); }
DEVICE uint32_t same(uint4 row, uint4 colour, uint32_t valid) {
    return and_same(and_same(and_same(and_same(valid, row.x, colour.x), row.y, colour.y), row.z, colour.z), row.w, colour.w);
}
// `a` where `mask` has bits, else `b`.
DEVICE uint32_t choose(uint32_t mask, uint32_t a, uint32_t b) { return by_table<(OF_A & OF_B) | (OF_C & ~OF_A)>(mask, a, b); }
DEVICE uint4 choose(uint32_t mask, uint4 a, uint4 b) {
    return make_uint4(choose(mask, a.x, b.x), choose(mask, a.y, b.y), choose(mask, a.z, b.z), choose(mask, a.w, b.w));
}
// The code in a column of a row.
DEVICE uint32_t code_at(uint4 row, uint32_t column) {
    return (row.x >> column & 1) | (row.y >> column & 1) << 1 | (row.z >> column & 1) << 2 | (row.w >> column & 1) << 3;
}

// ---------------------------------------------------------------------------------------------
// Values in the pool: what operations take and give
// ---------------------------------------------------------------------------------------------

// A pair of integers, its word unpacked.
struct Pair {
    int32_t i, j;
};
DEVICE uint32_t packed(Pair pair) { return halves((uint32_t)pair.i, (uint32_t)pair.j); }
DEVICE Pair unpacked(uint32_t word) {
    Pair pair = {PairWord::i(word), PairWord::j(word)};
    return pair;
}
// No pair that there is has a component of that value.
DEVICE bool is_missing(Pair pair) { return pair.i == PairWord::i(MISSING_PAIR); }

// Whether a component is larger than this by its absolute value.
DEVICE bool is_beyond(Pair pair, int32_t most) {
    return max((uint32_t)(pair.i + most), (uint32_t)(pair.j + most)) > 2 * (uint32_t)most;
}

struct Grid {
    Shared<const uint4> rows;
    int32_t height, width;
    // The word that says both.
    uint32_t size;
    __device__ uint4 row(int32_t r) const { return rows[r & (SIDE - 1)]; }
    // How many columns lane r has cells in.
    __device__ uint32_t columns(Warp warp) const { return (uint32_t)((int32_t)warp.lane < height ? width : 0); }
    // Those columns, and of a row only those.
    __device__ uint32_t valid(Warp warp) const { return first_ones(columns(warp)); }
    __device__ uint32_t on(Warp warp, uint32_t row) const { return first_bits(row, columns(warp)); }
};
struct GridOut {
    Shared<uint4> rows;
    WordPlace size;
    // Each lane gives its row, which is zero past the size; all lanes give the same size, at most
    // that of a window. Without rows there are no columns.
    __device__ BailOut set(Warp warp, uint4 row, int32_t height, int32_t width) const {
        return set_sized(warp, row, halves((uint32_t)height, (uint32_t)(height == 0 ? 0 : width)));
    }
    // The same with the word of a size, and with the size of another grid.
    __device__ BailOut set_sized(Warp warp, uint4 row, uint32_t word) const {
        rows[warp.lane] = row;
        if (warp.leads) *size = word;
        return FITS;
    }
    __device__ BailOut set(Warp warp, uint4 row, Grid like) const { return set_sized(warp, row, like.size); }
    // The same where each lane says how many columns it has: lane 0 has none without rows.
    __device__ BailOut set_cut(Warp warp, uint4 row, int32_t height, uint32_t columns) const {
        return set_sized(warp, row, halves((uint32_t)height, columns));
    }
};

struct Patch {
    Shared<const uint32_t> rows;
    // The location of bit 0 of row 0, and the word that says it.
    int32_t i, j;
    uint32_t origin;
    __device__ bool is_at_zero() const { return origin == 0; }
    // The lane's row of the window itself.
    __device__ uint32_t row(Warp warp) const { return rows[warp.lane]; }
    // The lane's row in a window with another origin; what lies outside of it is left out.
    __device__ uint32_t row_from(Warp warp, int32_t origin_i, int32_t origin_j) const {
        uint32_t r = warp.lane + (uint32_t)(origin_i - i);
        return r < (uint32_t)SIDE ? moved(rows[r], j - origin_j) : 0;
    }
    // The same in the window of another patch.
    __device__ uint32_t row_beside(Warp warp, Patch other) const {
        return origin == other.origin ? rows[warp.lane] : row_from(warp, other.i, other.j);
    }
    // The lane's row where the patch lies on a grid.
    __device__ uint32_t row_on(Warp warp, Grid grid) const {
        return grid.on(warp, is_at_zero() ? row(warp) : row_from(warp, 0, 0));
    }
};
DEVICE Patch patch_at(Shared<const uint32_t> rows, uint32_t origin) {
    Patch patch = {rows, PairWord::i(origin), PairWord::j(origin), origin};
    return patch;
}
struct PatchOut {
    Shared<uint32_t> rows;
    WordPlace origin;
    // Each lane gives its row of the window, all the same origin.
    __device__ BailOut set(Warp warp, uint32_t row, int32_t i, int32_t j) const {
        rows[warp.lane] = row;
        return set_origin(warp, i, j);
    }
    // The same with the word of an origin, with the window of another patch, and with the one at (0, 0).
    __device__ BailOut set_at(Warp warp, uint32_t row, uint32_t word) const {
        rows[warp.lane] = row;
        if (warp.leads) *origin = word;
        return FITS;
    }
    __device__ BailOut set(Warp warp, uint32_t row, Patch like) const { return set_at(warp, row, like.origin); }
    __device__ BailOut set(Warp warp, uint32_t row) const { return set_at(warp, row, 0); }
    // Of a window whose rows are there already.
    __device__ BailOut set_origin(Warp warp, int32_t i, int32_t j) const {
        Pair at = {i, j};
        if (warp.leads) *origin = packed(at);
        return is_beyond(at, MAX_ORIGIN) ? COORDINATE_TOO_LARGE : FITS;
    }
};

// A row of an object: its locations, and their colours.
struct Cells {
    uint32_t row;
    uint4 colour;
};

// A patch with colours; its planes have the window of its locations.
struct Object : Patch {
    Shared<const uint4> colours;
    __device__ uint4 colour(Warp warp) const { return colours[warp.lane]; }
    __device__ Cells cells(Warp warp) const {
        Cells cells = {rows[warp.lane], colours[warp.lane]};
        return cells;
    }
    // The lane's row in a window with another origin; what lies outside of it is left out.
    __device__ Cells cells_from(Warp warp, int32_t origin_i, int32_t origin_j) const {
        Cells cells = {0, make_uint4(0, 0, 0, 0)};
        uint32_t r = warp.lane + (uint32_t)(origin_i - i);
        if (r < (uint32_t)SIDE) {
            cells.row = moved(rows[r], j - origin_j);
            cells.colour = moved(colours[r], j - origin_j);
        }
        return cells;
    }
    // The same in the window of another patch.
    __device__ Cells cells_beside(Warp warp, Patch other) const {
        return origin == other.origin ? cells(warp) : cells_from(warp, other.i, other.j);
    }
    // The lane's row where the object lies on a grid; colours may be left beside it.
    __device__ Cells cells_on(Warp warp, Grid grid) const {
        Cells found = is_at_zero() ? cells(warp) : cells_from(warp, 0, 0);
        found.row = grid.on(warp, found.row);
        return found;
    }
    __device__ uint4 colour_from(Warp warp, int32_t origin_i, int32_t origin_j) const {
        return i == origin_i && j == origin_j ? colour(warp) : cells_from(warp, origin_i, origin_j).colour;
    }
};
struct ObjectOut {
    Shared<uint4> colours;
    Shared<uint32_t> rows;
    WordPlace origin;
    // Each lane gives its row of locations and of colours, which are zero elsewhere.
    __device__ BailOut set(Warp warp, uint32_t row, uint4 colour, int32_t i, int32_t j) const {
        colours[warp.lane] = colour;
        PatchOut patch = {rows, origin};
        return patch.set(warp, row, i, j);
    }
    // The same with the word of an origin, with the window of another patch, and with the one at (0, 0).
    __device__ BailOut set_at(Warp warp, uint32_t row, uint4 colour, uint32_t word) const {
        colours[warp.lane] = colour;
        PatchOut patch = {rows, origin};
        return patch.set_at(warp, row, word);
    }
    __device__ BailOut set(Warp warp, uint32_t row, uint4 colour, Patch like) const { return set_at(warp, row, colour, like.origin); }
    __device__ BailOut set(Warp warp, uint32_t row, uint4 colour) const { return set_at(warp, row, colour, 0); }
};

// A set of objects of one grid, as the object of them all with its origin at (0, 0); how it falls
// into elements is in the instruction.
struct Objects : Object {};
struct ObjectsOut : ObjectOut {};

// A set of colours: bit c is the code c.
struct Colours {
    uint32_t codes;
};

struct IntOut {
    WordPlace word;
    __device__ BailOut set(Warp warp, int32_t value) const {
        set_within(warp, value);
        return value > MAX_INTEGER || value < -MAX_INTEGER ? INTEGER_TOO_LARGE : FITS;
    }
    // What cannot be too large.
    __device__ BailOut set_within(Warp warp, int32_t value) const {
        if (warp.leads) *word = (uint32_t)value;
        return FITS;
    }
    __device__ BailOut set_missing(Warp warp) const {
        if (warp.leads) *word = (uint32_t)MISSING;
        return FITS;
    }
};
struct PairOut {
    WordPlace word;
    __device__ BailOut set(Warp warp, int32_t i, int32_t j) const {
        Pair pair = {i, j};
        set_within(warp, i, j);
        return is_beyond(pair, MAX_COORDINATE) ? COORDINATE_TOO_LARGE : FITS;
    }
    // What cannot be too large: of a location that there is.
    __device__ BailOut set_within(Warp warp, int32_t i, int32_t j) const {
        Pair pair = {i, j};
        if (warp.leads) *word = packed(pair);
        return FITS;
    }
    __device__ BailOut set_missing(Warp warp) const {
        if (warp.leads) *word = MISSING_PAIR;
        return FITS;
    }
};
// A cell, its word unpacked.
struct Cell {
    int32_t colour, i, j;
};
DEVICE uint32_t packed(Cell cell) {
    return CellWord::packed((uint32_t)(cell.colour - FIRST_COLOUR), (uint32_t)(cell.i + MAX_CELL), (uint32_t)(cell.j + MAX_CELL));
}
DEVICE Cell cell_of(uint32_t word) {
    Cell cell = {(int32_t)CellWord::rank(word) + FIRST_COLOUR, (int32_t)CellWord::i(word) - MAX_CELL,
                 (int32_t)CellWord::j(word) - MAX_CELL};
    return cell;
}
// Whether a cell may lie there.
DEVICE bool is_near(int32_t i, int32_t j) { return i >= -MAX_CELL && i < MAX_CELL && j >= -MAX_CELL && j < MAX_CELL; }

// A word that is not looked into: an element of a list, as it lies there.
struct Word {
    uint32_t bits;
};
struct WordOut {
    WordPlace word;
    __device__ BailOut set(Warp warp, uint32_t bits) const {
        if (warp.leads) *word = bits;
        return FITS;
    }
};
struct CellOut {
    WordPlace word;
    __device__ BailOut set(Warp warp, int32_t colour, int32_t i, int32_t j) const {
        if (!is_colour(colour)) return NO_SUCH_COLOUR;
        if (!is_near(i, j)) return COORDINATE_TOO_LARGE;
        Cell cell = {colour, i, j};
        if (warp.leads) *word = packed(cell);
        return FITS;
    }
};

// A scalar a lane, each of another element, and how many lanes have one.
struct Column {
    Shared<uint32_t> words;
    WordPlace count;
    __device__ uint32_t own(Warp warp) const { return words[warp.lane]; }
};

// Words in the arena, one an element.
struct List {
    const uint32_t* arena;
    uint32_t start, count;
    __device__ uint32_t at(uint32_t number) const { return arena[start + number]; }
};
struct ListOut {
    WordPlace word;
    __device__ BailOut set(Warp warp, uint32_t start, uint32_t count) const {
        if (warp.leads) *word = ListWord::packed(start, count);
        return FITS;
    }
};
DEVICE List list_of(Warp warp, uint32_t word) {
    List list = {warp.arena(), ListWord::start(word), ListWord::count(word)};
    return list;
}

struct ColoursOut {
    WordPlace word;
    __device__ BailOut set(Warp warp, uint32_t codes) const {
        if (warp.leads) *word = codes;
        return FITS;
    }
};

// ---------------------------------------------------------------------------------------------
// Boxes
// ---------------------------------------------------------------------------------------------

// The bounding box of bits in a window: its first and last row and column, in the window's own
// coordinates. Of nothing it is empty, and ends before it begins.
struct Box {
    bool empty;
    int32_t top, bottom, left, right;
    __device__ int32_t height() const { return empty ? 0 : bottom - top + 1; }
    __device__ int32_t width() const { return empty ? 0 : right - left + 1; }
};
DEVICE Box box_of(uint32_t row) {
    uint32_t rows = lanes_with(row != 0);
    uint32_t columns = either(row);
    Box box;
    box.empty = rows == 0;
    box.top = lowest(rows);
    box.bottom = highest(rows);
    box.left = lowest(columns);
    box.right = highest(columns);
    return box;
}
// The lane's row of a box of the window, all of it filled.
DEVICE uint32_t filled(Warp warp, Box box) {
    bool inside = (int32_t)warp.lane >= box.top && (int32_t)warp.lane <= box.bottom;
    return inside ? up(FULL, (uint32_t)box.left) & ~up(FULL, (uint32_t)(box.right + 1)) : 0;
}

// ---------------------------------------------------------------------------------------------
// From operands of an instruction to an operation's arguments
// ---------------------------------------------------------------------------------------------

const uint32_t ROWS_OF_UNIT = UNIT_BYTES / ROW_BYTES;

// `Bind<T>::of` makes an argument of type T of the operand; `Bind<T>::representation` is how that is
// represented, by which the table of operations is checked against the functions.
template <class T>
struct Bind;

#define ARC_BIND(Type, REPRESENTATION)                                                   \
    template <>                                                                \
    struct Bind<Type> {                                                        \
        static const Representation representation = REPRESENTATION;                                      \
        static __device__ __forceinline__ Type of(Warp warp, uint32_t operand); \
    };                                                                         \
    __device__ __forceinline__ Type Bind<Type>::of(Warp warp, uint32_t operand)

// A word of the pool by its number.
DEVICE WordPlace word_at(Warp warp, uint32_t number) {
    WordPlace word = {warp.pool - number * (uint32_t)sizeof(uint32_t)};
    return word;
}
// Of an operand, whose bits are an `OperandPlace`.
DEVICE WordPlace word_of(Warp warp, uint32_t operand) {
    WordPlace word = {words_before(warp.pool, OperandPlace::word(operand))};
    return word;
}
template <class T>
DEVICE Shared<T> units_of(Warp warp, uint32_t operand, uint32_t further = 0) {
    Shared<T> units = {warp.pool + (OperandPlace::unit(operand) + further) * UNIT_BYTES};
    return units;
}

// The same for what is a word and nothing else, which may be the lane's own too.
#define ARC_BIND_WORD(Type, REPRESENTATION)                                                   \
    template <>                                                                \
    struct Bind<Type> {                                                        \
        static const Representation representation = REPRESENTATION;                                      \
        static __device__ __forceinline__ Type at(Warp warp, WordPlace word); \
        static __device__ __forceinline__ Type of(Warp warp, uint32_t operand) { return at(warp, word_of(warp, operand)); } \
    };                                                                         \
    template <>                                                                \
    struct OfLane<Type> {                                                        \
        static __device__ __forceinline__ Type of(Warp warp, uint32_t operand) { \
            return Bind<Type>::at(warp, word_of_lane(warp, operand)); \
        } \
    };                                                                         \
    __device__ __forceinline__ Type Bind<Type>::at(Warp warp, WordPlace word)

// What a lane has of an operand that may be a column. What is no word is the same for all lanes.
template <class T>
struct OfLane : Bind<T> {};
// No column lies in the first unit.
DEVICE WordPlace word_of_lane(Warp warp, uint32_t operand) {
    WordPlace word = word_of(warp, operand);
    if (OperandPlace::unit(operand) != 0) word.address = units_of<uint32_t>(warp, operand).address + ((threadIdx.x & 31) + 1) * (uint32_t)sizeof(uint32_t);
    return word;
}

ARC_BIND_WORD(int32_t, AS_INT) { return (int32_t)*word; }
ARC_BIND_WORD(Pair, AS_PAIR) { return unpacked(*word); }
ARC_BIND_WORD(Colours, AS_COLOURS) {
    Colours colours = {*word};
    return colours;
}
ARC_BIND_WORD(Word, AS_WORD) {
    Word bits = {*word};
    return bits;
}
ARC_BIND_WORD(Cell, AS_CELL) { return cell_of(*word); }
ARC_BIND_WORD(List, AS_LIST) { return list_of(warp, *word); }
ARC_BIND(Column, AS_COLUMN) {
    Column column = {units_of<uint32_t>(warp, operand), word_of(warp, operand)};
    return column;
}
ARC_BIND(Grid, AS_GRID) {
    uint32_t size = *word_of(warp, operand);
    Grid grid = {units_of<const uint4>(warp, operand), (int32_t)GridSize::height(size), (int32_t)GridSize::width(size), size};
    return grid;
}
ARC_BIND(Patch, AS_PATCH) {
    return patch_at(units_of<const uint32_t>(warp, operand), *word_of(warp, operand));
}
// An object's locations lie before its planes, so that an object can be taken for its patch.
DEVICE void bind_object(Object& object, Warp warp, uint32_t operand) {
    (Patch&)object = patch_at(units_of<const uint32_t>(warp, operand), *word_of(warp, operand));
    object.colours = units_of<const uint4>(warp, operand, COLOURS_UNIT);
}
ARC_BIND(Object, AS_OBJECT) {
    Object object;
    bind_object(object, warp, operand);
    return object;
}
ARC_BIND(Objects, AS_OBJECTS) {
    Objects objects;
    bind_object(objects, warp, operand);
    return objects;
}
ARC_BIND_WORD(IntOut, AS_INT) {
    IntOut out = {word};
    return out;
}
ARC_BIND_WORD(PairOut, AS_PAIR) {
    PairOut out = {word};
    return out;
}
ARC_BIND_WORD(ColoursOut, AS_COLOURS) {
    ColoursOut out = {word};
    return out;
}
ARC_BIND_WORD(WordOut, AS_WORD) {
    WordOut out = {word};
    return out;
}
ARC_BIND_WORD(CellOut, AS_CELL) {
    CellOut out = {word};
    return out;
}
ARC_BIND_WORD(ListOut, AS_LIST) {
    ListOut out = {word};
    return out;
}
ARC_BIND(GridOut, AS_GRID) {
    GridOut out = {units_of<uint4>(warp, operand), word_of(warp, operand)};
    return out;
}
ARC_BIND(PatchOut, AS_PATCH) {
    PatchOut out = {units_of<uint32_t>(warp, operand), word_of(warp, operand)};
    return out;
}
DEVICE void bind_object(ObjectOut& out, Warp warp, uint32_t operand) {
    out.colours = units_of<uint4>(warp, operand, COLOURS_UNIT);
    out.rows = units_of<uint32_t>(warp, operand);
    out.origin = word_of(warp, operand);
}
ARC_BIND(ObjectOut, AS_OBJECT) {
    ObjectOut out;
    bind_object(out, warp, operand);
    return out;
}
ARC_BIND(ObjectsOut, AS_OBJECTS) {
    ObjectsOut out;
    bind_object(out, warp, operand);
    return out;
}

// How result and operands are represented, as the generated table lists it.
template <Representation... REPRESENTATIONS>
struct Represented {};
template <class A, class B>
struct Same {
    static const bool value = false;
};
template <class A>
struct Same<A, A> {
    static const bool value = true;
};

DEVICE Immediate immediate_of(InstructionRecord at) {
    Immediate immediate = {at.immediate()};
    return immediate;
}

// Calls an operation `BailOut f(Warp, Result, Operands..., Immediate)`, the last where it wants it.
// The function's type stands before the function, since NVRTC knows no other way to take it apart.
template <class Function, Function F>
struct Call;

#define ARC_CALL(PARAMETERS, TYPES, REPRESENTATIONS, ARGUMENTS)                                       \
    template <ARC_LIST PARAMETERS, BailOut (*F)(Warp, ARC_LIST TYPES)>                         \
    struct Call<BailOut (*)(Warp, ARC_LIST TYPES), F> {                                        \
        typedef Represented<ARC_LIST REPRESENTATIONS> represented;                                                \
        static __device__ __forceinline__ BailOut run(Warp warp, InstructionRecord at) {             \
            return with<Bind>(warp, at);                                             \
        }                                                                                   \
        template <template <class> class Binding>                                                                   \
        static __device__ __forceinline__ BailOut with(Warp warp, InstructionRecord at) {             \
            return F(warp, ARC_LIST ARGUMENTS);                                             \
        }                                                                                   \
    }
#define ARC_LIST(...) __VA_ARGS__
#define ARC_RESULT Binding<R>::of(warp, at.result())
#define ARC_ARGUMENT(TYPE, N) Binding<TYPE>::of(warp, at.operands<N>())
#define ARC_IMMEDIATE immediate_of(at)

ARC_CALL((class R), (R), (Bind<R>::representation), (ARC_RESULT));
ARC_CALL((class R, class A), (R, A), (Bind<R>::representation, Bind<A>::representation), (ARC_RESULT, ARC_ARGUMENT(A, 0)));
ARC_CALL((class R, class A, class B), (R, A, B), (Bind<R>::representation, Bind<A>::representation, Bind<B>::representation),
         (ARC_RESULT, ARC_ARGUMENT(A, 0), ARC_ARGUMENT(B, 1)));
ARC_CALL((class R, class A, class B, class C), (R, A, B, C),
         (Bind<R>::representation, Bind<A>::representation, Bind<B>::representation, Bind<C>::representation),
         (ARC_RESULT, ARC_ARGUMENT(A, 0), ARC_ARGUMENT(B, 1), ARC_ARGUMENT(C, 2)));
// The same with an immediate, which is no operand.
ARC_CALL((class R), (R, Immediate), (Bind<R>::representation), (ARC_RESULT, ARC_IMMEDIATE));
ARC_CALL((class R, class A), (R, A, Immediate), (Bind<R>::representation, Bind<A>::representation),
         (ARC_RESULT, ARC_ARGUMENT(A, 0), ARC_IMMEDIATE));
ARC_CALL((class R, class A, class B), (R, A, B, Immediate), (Bind<R>::representation, Bind<A>::representation, Bind<B>::representation),
         (ARC_RESULT, ARC_ARGUMENT(A, 0), ARC_ARGUMENT(B, 1), ARC_IMMEDIATE));
ARC_CALL((class R, class A, class B, class C), (R, A, B, C, Immediate),
         (Bind<R>::representation, Bind<A>::representation, Bind<B>::representation, Bind<C>::representation),
         (ARC_RESULT, ARC_ARGUMENT(A, 0), ARC_ARGUMENT(B, 1), ARC_ARGUMENT(C, 2), ARC_IMMEDIATE));

// Calls one by lanes: each lane has operands of its own and is the one that writes, to a place of its own.
// Of several that bail out it is the first element's reason.
template <class Function, Function F>
DEVICE BailOut called_by_lanes(Warp warp, InstructionRecord at) {
    warp.lane = 0;
    warp.leads = true;
    uint32_t why = Call<Function, F>::template with<OfLane>(warp, at);
    uint32_t failing = lanes_with(why != FITS);
    return failing == 0 ? FITS : (BailOut)from_lane(why, (uint32_t)lowest(failing));
}
