// The kernels of the image: programs on batches of arguments, and a copy to measure them against.

#include "arc.cuh"

#include "ops/arithmetic.cuh"
#include "ops/colours.cuh"
#include "ops/components.cuh"
#include "ops/extents.cuh"
#include "ops/mirrors.cuh"
#include "ops/outlines.cuh"
#include "ops/painting.cuh"
#include "ops/patterns.cuh"
#include "ops/relations.cuh"
#include "ops/scaling.cuh"
#include "ops/sets.cuh"
#include "ops/transforms.cuh"
#include "verdict.cuh"

// Where a program's parts lie in the launch's buffers, and how large an evaluation's pool is.
struct Program {
    // First instruction, and how many.
    uint32_t code, instructions;
    // First constant word and unit, and how many; they are the first of the pool.
    uint32_t constant_word, constant_words, constant_unit, constant_units;
    // Words and units of the parameters, which follow the constants in the pool.
    uint32_t parameter_words, parameter_units;
    // Words and units of the pool.
    uint32_t words, units;
    // The result: its operand, its units, and whether it is a grid, that can be compared.
    uint32_t result, result_units, result_is_grid;
    uint32_t spare[3];
};

// One evaluation. `NOWHERE` stands for what is not there.
struct Item {
    // First word and unit of the arguments.
    uint32_t words, units;
    // Word and unit of the expected grid.
    uint32_t expected_word, expected_unit;
    // Word and unit where the result is to go.
    uint32_t result_word, result_unit;
    // Its place among the verdicts.
    uint32_t verdict;
    uint32_t spare;
};
const uint32_t NOWHERE = 0xffffffff;

// Evaluations of one program that a warp makes side by side, so that each instruction is decoded
// once for all of them: at most four, since each has 8 bits of a word (`Progress`).
struct Work {
    uint32_t program, first, count, spare;
};

// What came of an evaluation.
struct Verdict {
    // Bits 0 to 7: why it bailed out; 8: the result is the expected grid; 9: there is a hash;
    // from 16 on: the instruction that bailed out, counted from 1.
    uint32_t status;
    // Cells of the result that are as expected; none where the sizes differ.
    uint32_t cells_right;
    uint32_t hash_low, hash_high;
};

// Why each of the evaluations that a warp makes side by side bailed out, in 8 bits; nothing more
// runs for one that did.
struct Progress {
    uint32_t bail_outs;
    __device__ uint32_t of(uint32_t evaluation) const { return bail_outs >> 8 * evaluation & 255; }
    __device__ void bail_out(uint32_t evaluation, uint32_t why) { bail_outs |= why << 8 * evaluation; }
};

// The pools of a warp: its shared memory has as many as it makes evaluations side by side, each of
// so many rows of 16 bytes.
struct Pools {
    uint32_t rows;
    uint32_t side_by_side;
    __device__ Warp first() const {
        ARC_SHARED(shared);
        uint4* units = shared + (threadIdx.x >> 5) * side_by_side * rows;
        return Warp{threadIdx.x & 31, (uint32_t*)(units + rows) - 1, units};
    }
    __device__ Warp after(Warp warp) const { return Warp{warp.lane, warp.words + rows * 4, warp.units + rows}; }
};

// Runs an instruction for the evaluations that a warp makes side by side.
template <class Function, Function F>
DEVICE void for_each_evaluation(Pools pools, uint32_t count, Instruction at, Progress& progress) {
    Warp warp = pools.first();
#pragma unroll 1
    for (uint32_t evaluation = 0; evaluation < count; ++evaluation) {
        if (progress.of(evaluation) == FITS) {
            progress.bail_out(evaluation, Call<Function, F>::run(warp, at));
        }
        warp = pools.after(warp);
    }
}

// The launch loop. A warp takes one work after the other; `pool_bytes` are those of the largest
// pool, a multiple of 128, and shared memory has as many pools as a block has warps times
// evaluations side by side.
//
// What is known of a work is read again where it is needed, which leaves its registers to the
// operations. With six blocks a multiprocessor ptxas takes some 78; unasked it takes 64 and spills.
extern "C" __global__ void __launch_bounds__(128, 6)
    arc_programs(const Program* programs, const uint4* code, const uint32_t* constant_words,
                 const uint4* constant_units, const uint32_t* words, const uint4* units, const Item* items,
                 const Work* works, uint32_t first_work, uint32_t work_count, uint32_t* result_words,
                 uint4* result_units, Verdict* verdicts, uint32_t pool_bytes, uint32_t side_by_side) {
    Pools pools = {pool_bytes >> 4, side_by_side};
    uint32_t lane = threadIdx.x & 31;
#pragma unroll 1
    for (uint32_t turn = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); turn < work_count;
         turn += gridDim.x * (blockDim.x >> 5)) {
        const Work* work = works + first_work + turn;
        const Program* program = programs + work->program;
        const Item* item = items + work->first;
        Warp warp = pools.first();
#pragma unroll 1
        for (uint32_t evaluation = 0; evaluation < work->count; ++evaluation) {
            uint32_t rows = program->constant_units * ROWS_OF_UNIT;
#pragma unroll 1
            for (uint32_t at = lane; at < rows; at += 32) {
                warp.units[at] = constant_units[program->constant_unit * ROWS_OF_UNIT + at];
            }
            uint32_t more = program->parameter_units * ROWS_OF_UNIT;
#pragma unroll 1
            for (uint32_t at = lane; at < more; at += 32) {
                warp.units[rows + at] = units[item->units * ROWS_OF_UNIT + at];
            }
#pragma unroll 1
            for (uint32_t at = lane; at < program->constant_words; at += 32) {
                *word_of(warp, at) = constant_words[program->constant_word + at];
            }
#pragma unroll 1
            for (uint32_t at = lane; at < program->parameter_words; at += 32) {
                *word_of(warp, program->constant_words + at) = words[item->words + at];
            }
            warp = pools.after(warp);
            ++item;
        }
        __syncwarp();

        const uint4* next = code + program->code;
        const uint4* end = next + program->instructions;
        uint32_t count = work->count;
        uint32_t bail_outs = 0;
        // The first instruction that bailed out, by its distance from the end.
        uint32_t culprit = 0;
#pragma unroll 1
        while (next != end) {
            Instruction at = {*next};
            uint32_t before = bail_outs;
            Progress progress = {bail_outs};
            switch (at.opcode()) {
#define ARC_CASE(NUMBER, NAME, ...)                                                                    \
    case NUMBER:                                                                                       \
        static_assert(Same<Call<decltype(&ops::NAME), &ops::NAME>::kinds, Kinds<__VA_ARGS__>>::value,  \
                      #NAME " takes or gives other kinds than the table of operations says");          \
        for_each_evaluation<decltype(&ops::NAME), &ops::NAME>(pools, count, at, progress);             \
        break;
                ARC_OPERATIONS(ARC_CASE)
#undef ARC_CASE
                default:
                    for (uint32_t evaluation = 0; evaluation < count; ++evaluation) {
                        if (progress.of(evaluation) == FITS) progress.bail_out(evaluation, NO_SUCH_OPERATION);
                    }
            }
            bail_outs = progress.bail_outs;
            // Named for all evaluations of the work that bail out.
            if (before == 0 && bail_outs != 0) culprit = (uint32_t)(end - next);
            ++next;
            __syncwarp();
        }

        work = works + first_work + turn;
        program = programs + work->program;
        item = items + work->first;
        warp = pools.first();
        Progress progress = {bail_outs};
#pragma unroll 1
        for (uint32_t evaluation = 0; evaluation < work->count; ++evaluation) {
            uint32_t bail_out = progress.of(evaluation);
            Judgement judgement = {false, 0, {0, 0}};
            bool judged = bail_out == FITS && program->result_is_grid;
            if (judged) {
                Grid result = Bind<Grid>::of(warp, program->result);
                judgement.hash = hash_of(warp, result);
                if (item->expected_word != NOWHERE) {
                    judge(warp, result, words[item->expected_word], units + item->expected_unit * ROWS_OF_UNIT,
                          judgement);
                }
            }
            if (bail_out == FITS && item->result_word != NOWHERE) {
                if (lane == 0) result_words[item->result_word] = *word_of(warp, program->result);
#pragma unroll 1
                for (uint32_t at = lane; at < program->result_units * ROWS_OF_UNIT; at += 32) {
                    result_units[item->result_unit * ROWS_OF_UNIT + at] = units_of(warp, program->result)[at];
                }
            }
            if (lane == 0) {
                uint32_t number = program->instructions + 1 - culprit;
                Verdict verdict = {bail_out | (uint32_t)judgement.equal << 8 | (uint32_t)judged << 9 |
                                       (bail_out == FITS ? 0 : number << 16),
                                   judgement.cells_right, judgement.hash.low, judgement.hash.high};
                verdicts[item->verdict] = verdict;
            }
            warp = pools.after(warp);
            ++item;
        }
        // The next work's arguments are written where others may still read.
        __syncwarp();
    }
}

// Copies `count` times 16 bytes.
extern "C" __global__ void arc_copy(const uint4* from, uint4* to, uint32_t count) {
    uint32_t threads = gridDim.x * blockDim.x;
    for (uint32_t at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += threads) {
        to[at] = from[at];
    }
}
