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
#include "verdict.cuh"

// Which of the evaluations that a warp makes side by side go on, a bit each, and the run of them that an instruction is made
// for: pools one after the other. There is one run where none has bailed out.
struct Progress {
    uint32_t live;
    // Of them those behind the first run: there are some only where one has bailed out.
    uint32_t further;
    // Where the first run begins, and where the one ends that the instruction is made for.
    uint32_t begin, end;

    __device__ __forceinline__ Progress(uint32_t count, uint32_t first, uint32_t pool_bytes)
        : live((1u << count) - 1), further(0), begin(first), end(first + count * pool_bytes) {}
    // The first run from this number on, which begins at a pool; the first one of all, where there is none.
    __device__ __forceinline__ bool next_run(uint32_t number, uint32_t first, uint32_t pool_bytes, uint32_t& pool) {
        uint32_t others = live & 0u - (1u << number);
        uint32_t bits = others == 0 ? live : others;
        uint32_t start = (uint32_t)lowest(bits);
        pool = first + start * pool_bytes;
        end = pool + (uint32_t)lowest(~(bits >> start)) * pool_bytes;
        return others != 0;
    }
    // None of what is in the places of its values is to be followed.
    __device__ __forceinline__ void bail_out(uint32_t number, uint32_t first, uint32_t pool_bytes) {
        live &= ~(1u << number);
        uint32_t start = (uint32_t)lowest(live);
        further = live & live + (1u << start);
        begin = first + start * pool_bytes;
    }
};

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

// Copies constants and arguments of evaluations into pools, one after the other, words in reverse.
DEVICE void fill_pools(Warp warp, ProgramRecord program, WorkRecord work, const EvaluationRecord* evaluations, const uint32_t* constant_words,
                       const uint4* constant_units, const uint32_t* words, const uint4* units, uint32_t pool_bytes) {
    uint32_t constant_rows = program.constant_units * ROWS_OF_UNIT, parameter_rows = program.parameter_units * ROWS_OF_UNIT;
    uint32_t word_count = program.constant_words + program.parameter_words;
    // What a lane copies first is the same place for all evaluations, and a constant the same word.
    const uint4* constants = constant_units + program.constant_unit * ROWS_OF_UNIT + warp.lane;
    const uint4* arguments = units + warp.lane;
    const uint32_t* own = words + (int32_t)(warp.lane - program.constant_words);
    bool is_argument = warp.lane >= program.constant_words && warp.lane < word_count;
    uint32_t constant = 0;
    if (warp.lane < program.constant_words) constant = constant_words[program.constant_word + warp.lane];
#pragma unroll 1
    for (uint32_t evaluation = work.first; evaluation < work.first + work.count; ++evaluation) {
        uint32_t first_word = evaluations[evaluation].words, first_unit = evaluations[evaluation].units;
        Shared<uint4> rows = units_of<uint4>(warp, 0);
        rows.address += warp.lane * ROW_BYTES;
#pragma unroll 1
        for (uint32_t at = 0; at + warp.lane < constant_rows; at += 32) rows[at] = constants[at];
        rows.address += constant_rows * ROW_BYTES;
#pragma unroll 1
        for (uint32_t at = 0; at + warp.lane < parameter_rows; at += 32) rows[at] = arguments[first_unit * ROWS_OF_UNIT + at];
        uint32_t word = constant;
        if (is_argument) word = own[first_word];
        if (warp.lane < word_count) *word_of(warp, warp.lane) = word;
#pragma unroll 1
        for (uint32_t at = warp.lane + 32; at < word_count; at += 32) {
            *word_of(warp, at) = at < program.constant_words ? constant_words[program.constant_word + at] : words[first_word + at - program.constant_words];
        }
        warp.pool += pool_bytes;
    }
}

// The head of a loop: whether there is another round, whose element lies in its place then. How many
// rounds are left to the evaluation stands in the second word of its pool.
DEVICE BailOut has_next(Warp warp, InstructionRecord at, bool& next) {
    bool counted = immediate_of(at).flag();
    Shared<uint32_t> number = word_of(warp, at.operands<1>());
    Shared<uint32_t> left = word_of(warp, 1);
    uint32_t list = *word_of(warp, at.operands<0>()), round = *number, rounds = *left;
    uint32_t count = counted ? (uint32_t)max((int32_t)list, 0) : ListWord::count(list);
    next = round < count;
    if (!next) return FITS;
    if (rounds == 0) return TOO_MANY_ROUNDS;
    uint32_t element = counted ? 0 : warp.arena()[ListWord::start(list) + round];
    __syncwarp();
    if (warp.lane == 0) {
        *left = rounds - 1;
        *number = round + 1;
        if (!counted) *word_of(warp, at.result()) = element;
    }
    return FITS;
}

// The same for the next elements, one a lane; lanes past the last have the first of them.
DEVICE BailOut has_next_block(Warp warp, InstructionRecord at, bool& next) {
    Shared<uint32_t> number = word_of(warp, at.operands<1>());
    Shared<uint32_t> left = word_of(warp, 1);
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
    if (warp.lane == 0) {
        *left = rounds - 1;
        *number = round + SIDE;
        *column.count = min(count - round, (uint32_t)SIDE);
    }
    return FITS;
}

// The launch loop. A warp takes one work after the other; shared memory has as many pools as a block
// has warps times evaluations side by side.
//
// What is known of a work is read again where it is needed, which leaves its registers to the
// operations.
// With five blocks a multiprocessor ptxas takes 96 at most, and spills none.
extern "C" __global__ void __launch_bounds__(MAX_WARPS * SIDE, 5) arc_programs(ARC_PROGRAMS_PARAMETERS) {
    Warp warp = {threadIdx.x & 31, 0, arenas, arena_words};
#pragma unroll 1
    for (uint32_t turn = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); turn < work_count;
         turn += gridDim.x * (blockDim.x >> 5)) {
        ARC_PART(arguments);
        WorkRecord work = *work_at(works, first_work + turn);
        ProgramRecord program = programs[work.program];
        uint32_t first = first_pool(program.words, side_by_side, pool_bytes);
        warp.pool = first;
        fill_pools(warp, program, work, evaluations, constant_words, constant_units, words, units, pool_bytes);
        Progress progress(work.count, first, pool_bytes);
        const InstructionRecord* next = code + program.code;
        __syncwarp();

#pragma unroll 1
        while (true) {
            ARC_PART(dispatch);
            InstructionRecord at = *next;
            uint32_t why = FITS;
            warp.pool = progress.begin;
#pragma unroll 1
            while (true) {
                // Or each instruction would be taken apart in all ways that any operation does.
                ARC_OPAQUE(at.bits.x);
                ARC_OPAQUE(at.bits.y);
                ARC_OPAQUE(at.bits.z);
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
        } while (warp.pool != progress.end);                                                                           \
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
                        next += (int16_t)at.operands<0>();
                        break;
                    case JUMP_UNLESS:
                        if (!ops::is_true((int32_t)*word_of(warp, at.operands<0>()))) next += (int16_t)at.operands<1>();
                        break;
                    case NEXT:
                    case NEXT_BLOCK: {
                        bool there = false;
                        why = opcode == NEXT ? has_next(warp, at, there) : has_next_block(warp, at, there);
                        if (why != FITS) goto bailed_out;
                        if (!there) next += (int16_t)at.operands<2>();
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
                        VerdictRecord verdict = {Status::packed(why, false, false, (uint32_t)(next - code) + 1 - program.code), 0, 0, 0};
                        if (warp.lane == 0) verdicts[evaluations[work.first + number].verdict] = verdict;
                        progress.bail_out(number, first_pool(program.words, side_by_side, pool_bytes), pool_bytes);
                        if (progress.live == 0) goto ended;
                        // Others may still read what it is made of.
                        __syncwarp();
                        if (progress.next_run(number, first_pool(program.words, side_by_side, pool_bytes), pool_bytes, warp.pool)) continue;
                        break;
                }
                if (progress.further == 0) break;
                program = programs[work_at(works, first_work + turn)->program];
                first = first_pool(program.words, side_by_side, pool_bytes);
                if (!progress.next_run((progress.end - first) / pool_bytes, first, pool_bytes, warp.pool)) break;
            }
            ++next;
            __syncwarp();
        }
    ended:

        ARC_PART(verdict);
        __syncwarp();
        work = *work_at(works, first_work + turn);
        program = programs[work.program];
        warp.pool = first_pool(program.words, side_by_side, pool_bytes);
#pragma unroll 1
        for (uint32_t evaluation = work.first; progress.live != 0; ++evaluation, progress.live >>= 1, warp.pool += pool_bytes) {
            if ((progress.live & 1) == 0) continue;
            EvaluationRecord record = evaluations[evaluation];
            VerdictRecord verdict = {0, 0, 0, 0};
            if (program.result_is_grid) {
                Grid result = Bind<Grid>::of(warp, program.result);
                bool equal = false;
                if (record.expected_word != NOWHERE) {
                    equal = is_right(warp, result, words[record.expected_word],
                                     units + record.expected_unit * ROWS_OF_UNIT, verdict.cells_right);
                }
                if (record.wants_hash) {
                    Hash hash = hash_of(warp, result);
                    verdict.hash_low = hash.low;
                    verdict.hash_high = hash.high;
                }
                verdict.status = Status::packed(FITS, equal, record.wants_hash, 0);
            }
            if (record.result_word != NOWHERE) {
                if (warp.lane == 0) result_words[record.result_word] = *word_of(warp, program.result);
#pragma unroll 1
                for (uint32_t at = warp.lane; at < program.result_units * ROWS_OF_UNIT; at += 32) {
                    result_units[record.result_unit * ROWS_OF_UNIT + at] = units_of<const uint4>(warp, program.result)[at];
                }
            }
            if (warp.lane == 0) verdicts[record.verdict] = verdict;
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
