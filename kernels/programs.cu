// The kernels of the image: programs on batches of arguments, and a copy to measure them against.

#include "arc.cuh"

#include "ops/arithmetic.cuh"
#include "ops/colours.cuh"
#include "ops/components.cuh"
#include "ops/extents.cuh"
#include "ops/mirrors.cuh"
#include "ops/ordering.cuh"
#include "ops/outlines.cuh"
#include "ops/painting.cuh"
#include "ops/patterns.cuh"
#include "ops/relations.cuh"
#include "ops/scaling.cuh"
#include "ops/sets.cuh"
#include "ops/transforms.cuh"

// A work, found again wherever it is needed, so that no register holds where it lies meanwhile.
DEVICE const WorkRecord* work_at(const WorkRecord* works, uint32_t number) {
    ARC_OPAQUE(number);
    return works + number;
}

// Bytes of a pool's words: behind them units are read as rows.
DEVICE uint32_t padded(uint32_t words) { return (words * (uint32_t)sizeof(uint32_t) + ROW_BYTES - 1) / ROW_BYTES * ROW_BYTES; }

// The first pool of a warp, whose words are so many.
DEVICE uint32_t first_pool(uint32_t words, uint32_t side_by_side, uint32_t pool_bytes) {
    // Made again like that.
    uint32_t block = 0;
    ARC_OPAQUE(block);
    uint32_t begin = ARC_SHARED_BEGIN + (block + (threadIdx.x >> 5)) * side_by_side * pool_bytes;
    return begin + padded(words);
}

// Copies rows, 32 at a time; each lane gives where its own first one lies.
DEVICE void copy_rows(Warp warp, Shared<uint4> to, const uint4* from, uint32_t count) {
    if (warp.lane < count) *to = *from;
    // There are seldom more.
    if (count <= 32) return;
#pragma unroll 1
    for (uint32_t at = 32; at + warp.lane < count; at += 32) to[at] = from[at];
}

// A place in global memory from which others are counted in one step: the compiler would take what it is made of together
// with each number.
template <class T>
struct Base {
    uint64_t address;
    __device__ __forceinline__ explicit Base(const T* place) : address(ARC_AS_GLOBAL(place)) { ARC_OPAQUE_ADDRESS(address); }
    __device__ __forceinline__ const T* at(uint32_t number, uint32_t bytes) const {
        return (const T*)ARC_AT_GLOBAL(address + (uint64_t)number * bytes);
    }
};

// The next work that no warp has taken. All warps together count as often as there are works: one by one what they take
// beside their first ones, and once each in vain. So the counter is 0 again when the last of them is told.
DEVICE uint32_t next_turn(Warp warp, uint32_t* taken, uint32_t work_count) {
    uint32_t before = 0;
    if (warp.leads) before = atomicInc(taken, work_count - 1);
    return gridDim.x * (blockDim.x >> 5) + from_lane(before, 0);
}

// Copies constants and arguments of the evaluations of a work into pools, from the warp's on, words in reverse.
DEVICE void fill_pools(Warp warp, ProgramRecord program, WorkRecord work, const PairRecord* pairs, const uint32_t* constant_words,
                       const uint4* constant_units, const uint32_t* words, const uint4* units, uint32_t pool_bytes) {
    uint32_t constant_rows = program.constant_units * ROWS_OF_UNIT, parameter_rows = program.parameter_units * ROWS_OF_UNIT;
    uint32_t constant_count = program.constant_words, count = constant_count + program.parameter_words;
    const uint4* constants = constant_units + program.constant_unit * ROWS_OF_UNIT + warp.lane;
    Base<uint4> arguments(units + warp.lane);
    Base<uint32_t> constant(constant_words + program.constant_word + warp.lane), argument(words - constant_count + warp.lane);
    const PairRecord* pair = pairs + work.first;
    uint32_t end = warp.pool + work.count * pool_bytes;
#pragma unroll 1
    do {
        uint32_t first_word = pair->words, first_unit = pair->units;
        Shared<uint4> rows = {warp.pool + warp.lane * ROW_BYTES};
        if (constant_rows != 0) {
            copy_rows(warp, rows, constants, constant_rows);
            rows.address += constant_rows * ROW_BYTES;
        }
        copy_rows(warp, rows, arguments.at(first_unit, UNIT_BYTES), parameter_rows);
        const uint32_t* own = argument.at(first_word, sizeof(uint32_t));
        if (warp.lane < count) *word_at(warp, warp.lane) = *(warp.lane < constant_count ? constant.at(0, 0) : own);
        if (count > 32) {
#pragma unroll 1
            for (uint32_t at = 32; at + warp.lane < count; at += 32) {
                *word_at(warp, at + warp.lane) = (at + warp.lane < constant_count ? constant.at(0, 0) : own)[at];
            }
        }
        ++pair;
        warp.pool += pool_bytes;
    } while (warp.pool != end);
}

// How far an operand lets a program jump, in bytes.
DEVICE uint64_t jumped(uint32_t operand) { return (uint64_t)(long long)((int16_t)operand * (int32_t)sizeof(InstructionRecord)); }

// The head of a loop: whether there is another round, whose element lies in its place then. How many
// rounds are left to the evaluation stands in the second word of its pool.
DEVICE BailOut has_next(Warp warp, InstructionRecord at, bool& next) {
    bool counted = immediate_of(at).flag();
    WordPlace number = word_of(warp, at.operands<1>());
    WordPlace left = word_at(warp, 1);
    uint32_t list = *word_of(warp, at.operands<0>()), round = *number, rounds = *left;
    uint32_t count = counted ? (uint32_t)max((int32_t)list, 0) : ListWord::count(list);
    next = round < count;
    if (!next) return FITS;
    if (rounds == 0) return TOO_MANY_ROUNDS;
    uint32_t element = counted ? 0 : warp.arena()[ListWord::start(list) + round];
    __syncwarp();
    if (warp.leads) {
        *left = rounds - 1;
        *number = round + 1;
        if (!counted) *word_of(warp, at.result()) = element;
    }
    return FITS;
}

// The same for the next elements, one a lane; lanes past the last have the first of them.
DEVICE BailOut has_next_block(Warp warp, InstructionRecord at, bool& next) {
    WordPlace number = word_of(warp, at.operands<1>());
    WordPlace left = word_at(warp, 1);
    uint32_t list = *word_of(warp, at.operands<0>()), round = *number, rounds = *left;
    uint32_t count = ListWord::count(list);
    next = round < count;
    if (!next) return FITS;
    if (rounds == 0) return TOO_MANY_ROUNDS;
    uint32_t own = round + warp.lane;
    uint32_t element = warp.arena()[ListWord::start(list) + (own < count ? own : round)];
    Column column = Bind<Column>::of(warp, at.result());
    __syncwarp();
    column.words[warp.lane] = element;
    if (warp.leads) {
        *left = rounds - 1;
        *number = round + SIDE;
        *column.count = min(count - round, (uint32_t)SIDE);
    }
    return FITS;
}

// Whether a grid is the expected one, whose row each lane gives a place of in global memory.
DEVICE bool is_right(Warp warp, Grid result, uint32_t size, const uint4* expected) {
    if (size != GridSize::packed((uint32_t)result.height, (uint32_t)result.width)) return false;
    return !any_lane(differing(result.row(warp.lane), *expected) != 0);
}

// Gives the verdict on an evaluation that has a result.
DEVICE void tell(Warp warp, ProgramRecord program, PairRecord pair, const uint32_t* words, Base<uint4> expected, uint8_t* verdict) {
    bool right = false;
    if (program.result_is_grid && pair.expected_word != NOWHERE) {
        Grid result = Bind<Grid>::of(warp, program.result);
        right = is_right(warp, result, words[pair.expected_word], expected.at(pair.expected_unit, UNIT_BYTES));
    }
    if (warp.leads) *verdict = (uint8_t)VerdictByte::packed(FITS, right);
}

// Copies a result to where it is wanted.
DEVICE void fetch(Warp warp, ProgramRecord program, uint32_t* word, uint4* units) {
    if (warp.leads) *word = *word_of(warp, program.result);
#pragma unroll 1
    for (uint32_t at = warp.lane; at < program.result_units * ROWS_OF_UNIT; at += 32) {
        units[at] = units_of<const uint4>(warp, program.result)[at];
    }
}

// What stands in the pool of an evaluation that has bailed out: the instruction that those behind it have still to make, and
// where the last of them ends.
struct Rest {
    uint64_t next;
    uint32_t end;
};
DEVICE Shared<Rest> rest_at(uint32_t pool, uint32_t words) {
    Shared<Rest> rest = {pool - padded(words)};
    return rest;
}

// The launch loop. A warp takes one work after the other, so that none waits for another's; shared memory has as many pools as a block
// has warps times evaluations side by side.
//
// An instruction is made for a run of evaluations, whose pools lie one after the other. Where one of them bails out, those
// before it go on to the end of the program, and then those behind it do.
//
// What is known of a work is read again where it is needed, which leaves its registers to the
// operations.
// With five blocks a multiprocessor ptxas takes 96 at most, and spills none.
extern "C" __global__ void __launch_bounds__(MAX_WARPS * SIDE, 5) arc_programs(ARC_PROGRAMS_PARAMETERS) {
    Warp warp = {threadIdx.x & 31, (threadIdx.x & 31) == 0, 0, arenas, arena_words};
#pragma unroll 1
    for (uint32_t turn = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); turn < work_count;
         turn = next_turn(warp, taken, work_count)) {
        ARC_PART(arguments);
        WorkRecord work = *work_at(works, first_work + turn);
        ProgramRecord program = programs[work.program];
        uint32_t begin = first_pool(program.words, side_by_side, pool_bytes), end = begin + work.count * pool_bytes;
        warp.pool = begin;
        fill_pools(warp, program, work, pairs, constant_words, constant_units, words, units, pool_bytes);
        uint64_t next = ARC_AS_GLOBAL(code + program.code);
        __syncwarp();

    running:
#pragma unroll 1
        while (true) {
            ARC_PART(dispatch);
            InstructionRecord at = *(const InstructionRecord*)ARC_AT_GLOBAL(next);
            uint32_t why = FITS;
            warp.pool = begin;
            // Or each instruction would be taken apart in all ways that any operation does, and what any makes of a
            // lane's number be kept.
            ARC_OPAQUE(at.bits.x);
            ARC_OPAQUE(at.bits.y);
            ARC_OPAQUE(at.bits.z);
            ARC_OPAQUE(warp.lane);
            uint32_t opcode = at.opcode() & (OPCODES - 1);
            ARC_SWITCH(opcode, OPCODES);
            switch (opcode) {
#define ARC_CASE(NUMBER, NAME, ...)                                                                    \
    case NUMBER:                                                                                       \
        static_assert(Same<Call<decltype(&ops::NAME), &ops::NAME>::represented, Represented<__VA_ARGS__>>::value,  \
                      #NAME " is represented otherwise than the table of operations says");          \
        _Pragma("unroll 1") do {                                                                       \
            ARC_PART(operation NAME);                                                                          \
            why = Call<decltype(&ops::NAME), &ops::NAME>::run(warp, at);                                  \
            if (why != FITS) goto bailed_out;                                                             \
            ARC_PART(loop);                                                                           \
            warp.pool += pool_bytes;                                                                           \
        } while (warp.pool != end);                                                                           \
        break;
                ARC_OPERATIONS(ARC_CASE)
#undef ARC_CASE
                // A program with loops has no evaluation beside it.
#define ARC_CASE(NUMBER, NAME, ...)                                                                    \
    case NUMBER:                                                                                       \
        ARC_PART(operation NAME by lanes);                                                                          \
        why = called_by_lanes<decltype(&ops::NAME), &ops::NAME>(warp, at);                                  \
        if (why != FITS) goto bailed_out;                                                             \
        break;
                ARC_LANE_OPERATIONS(ARC_CASE)
#undef ARC_CASE
                case JUMP:
                    next += jumped(at.operands<0>());
                    break;
                case JUMP_UNLESS:
                    if (!ops::is_true((int32_t)*word_of(warp, at.operands<0>()))) next += jumped(at.operands<1>());
                    break;
                case NEXT:
                case NEXT_BLOCK: {
                    bool there = false;
                    why = opcode == NEXT ? has_next(warp, at, there) : has_next_block(warp, at, there);
                    if (why != FITS) goto bailed_out;
                    if (!there) next += jumped(at.operands<2>());
                    break;
                }
                case END:
                    goto ended;
                default:
                    ARC_PART(dispatch);
                    why = NO_SUCH_OPERATION;
                bailed_out:
                    work = *work_at(works, first_work + turn);
                    program = programs[work.program];
                    uint32_t number = (warp.pool - first_pool(program.words, side_by_side, pool_bytes)) / pool_bytes;
                    if (warp.leads) verdicts[work.verdict + number] = (uint8_t)VerdictByte::packed(why, false);
                    // Others may still read what its pool is made of.
                    __syncwarp();
                    Rest rest = {next, end};
                    if (warp.leads) *rest_at(warp.pool, program.words) = rest;
                    end = warp.pool;
                    if (begin == end) goto ended;
            }
            next += sizeof(at);
            __syncwarp();
        }
    ended:

        ARC_PART(verdict);
        __syncwarp();
        work = *work_at(works, first_work + turn);
        program = programs[work.program];
        uint32_t first = first_pool(program.words, side_by_side, pool_bytes);
        uint32_t number = begin == first ? 0 : (begin - first) / pool_bytes;
        Base<uint4> expected(units + warp.lane);
#pragma unroll 1
        for (warp.pool = begin; warp.pool != end; warp.pool += pool_bytes) {
            tell(warp, program, pairs[work.first + number], words, expected, verdicts + work.verdict + number);
            if (work.result_word != NOWHERE) {
                uint32_t unit = work.result_unit + number * program.result_units;
                fetch(warp, program, result_words + work.result_word + number, result_units + unit * ROWS_OF_UNIT);
            }
            ++number;
        }
        if (end != first + work.count * pool_bytes) {
            Rest rest = *rest_at(end, program.words);
            begin = end + pool_bytes;
            end = rest.end;
            next = rest.next;
            if (begin == end) goto ended;
            goto running;
        }
        // The next work's arguments are written where others may still read.
        __syncwarp();
    }
}

extern "C" __global__ void arc_copy(ARC_COPY_PARAMETERS) {
    uint32_t threads = gridDim.x * blockDim.x;
    for (uint32_t at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += threads) {
        to[at] = from[at];
    }
}
