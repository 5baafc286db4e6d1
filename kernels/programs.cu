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

// Why each of the evaluations that a warp makes side by side bailed out, one code above the other;
// nothing more runs for one that did.
static_assert(MAX_SIDE_BY_SIDE * BAIL_OUT_BITS <= 32, "a word has no room for so many codes");
struct Progress {
    uint32_t bail_outs;
    __device__ uint32_t of(uint32_t evaluation) const { return bail_outs >> BAIL_OUT_BITS * evaluation & ((1u << BAIL_OUT_BITS) - 1); }
    __device__ void bail_out(uint32_t evaluation, uint32_t why) { bail_outs |= why << BAIL_OUT_BITS * evaluation; }
};

// The pools of a warp: its shared memory has as many as it makes evaluations side by side, each of
// so many times `ROW_BYTES`.
struct Pools {
    uint32_t rows;
    uint32_t side_by_side;
    uint32_t* arenas;
    uint32_t arena_words;
    __device__ Warp first() const {
        ARC_SHARED(shared);
        uint4* units = shared + (threadIdx.x >> 5) * side_by_side * rows;
        return Warp{threadIdx.x & 31, (uint32_t*)(units + rows) - 1, units, arenas, arena_words};
    }
    __device__ Warp after(Warp warp) const {
        return Warp{warp.lane, warp.words + rows * (ROW_BYTES / 4), warp.units + rows, arenas, arena_words};
    }
};

// Runs an instruction for the evaluations that a warp makes side by side.
template <class Function, Function F>
DEVICE void for_each_evaluation(Pools pools, uint32_t count, InstructionRecord at, Progress& progress) {
    ARC_PART(loop);
    Warp warp = pools.first();
#pragma unroll 1
    for (uint32_t evaluation = 0; evaluation < count; ++evaluation) {
        if (progress.of(evaluation) == FITS) {
            ARC_PART(operation);
            uint32_t why = Call<Function, F>::run(warp, at);
            ARC_PART(loop);
            progress.bail_out(evaluation, why);
        }
        warp = pools.after(warp);
    }
}

// Runs an instruction on lists: programs that have such are made one evaluation at a time, and no
// further once that has bailed out.
template <class Function, Function F>
DEVICE void for_the_evaluation(Pools pools, InstructionRecord at, Progress& progress) {
    ARC_PART(operation);
    uint32_t why = Call<Function, F>::run(pools.first(), at);
    ARC_PART(loop);
    progress.bail_out(0, why);
}

// The head of a loop: whether there is another round, whose element lies in its place then. How many
// rounds are left to the evaluation stands in the second word of its pool.
DEVICE bool has_next(Warp warp, InstructionRecord at, Progress& progress) {
    bool counted = immediate_of(at).flag();
    uint32_t* number = word_of(warp, at.operands<1>());
    uint32_t* left = word_of(warp, 1);
    uint32_t list = *word_of(warp, at.operands<0>()), round = *number, rounds = *left;
    uint32_t count = counted ? (uint32_t)max((int32_t)list, 0) : ListWord::count(list);
    if (round >= count) return false;
    if (rounds == 0) progress.bail_out(0, TOO_MANY_ROUNDS);
    uint32_t element = counted ? 0 : warp.arena()[ListWord::start(list) + round];
    __syncwarp();
    if (warp.lane == 0) {
        *left = rounds - 1;
        *number = round + 1;
        if (!counted) *word_of(warp, at.result()) = element;
    }
    return true;
}

// The launch loop. A warp takes one work after the other; shared memory has as many pools as a block
// has warps times evaluations side by side.
//
// What is known of a work is read again where it is needed, which leaves its registers to the
// operations. With five blocks a multiprocessor ptxas takes 96 at most; with six, for 80, operations
// that compare elements of lists spill.
extern "C" __global__ void __launch_bounds__(MAX_WARPS * SIDE, 5) arc_programs(ARC_PROGRAMS_PARAMETERS) {
    Pools pools = {pool_bytes / ROW_BYTES, side_by_side, arenas, arena_words};
    uint32_t lane = threadIdx.x & 31;
#pragma unroll 1
    for (uint32_t turn = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); turn < work_count;
         turn += gridDim.x * (blockDim.x >> 5)) {
        ARC_PART(arguments);
        const WorkRecord* work = works + first_work + turn;
        const ProgramRecord* program = programs + work->program;
        const EvaluationRecord* record = evaluations + work->first;
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
                warp.units[rows + at] = units[record->units * ROWS_OF_UNIT + at];
            }
#pragma unroll 1
            for (uint32_t at = lane; at < program->constant_words; at += 32) {
                *word_of(warp, at) = constant_words[program->constant_word + at];
            }
#pragma unroll 1
            for (uint32_t at = lane; at < program->parameter_words; at += 32) {
                *word_of(warp, program->constant_words + at) = words[record->words + at];
            }
            warp = pools.after(warp);
            ++record;
        }
        __syncwarp();

        ARC_PART(dispatch);
        const InstructionRecord* next = code + program->code;
        const InstructionRecord* end = next + program->instructions;
        uint32_t count = work->count;
        uint32_t bail_outs = 0;
        // The first instruction that bailed out, by its distance from the end.
        uint32_t culprit = 0;
#pragma unroll 1
        while (next != end) {
            InstructionRecord at = *next;
            uint32_t before = bail_outs;
            Progress progress = {bail_outs};
            switch (at.opcode()) {
#define ARC_CASE(NUMBER, NAME, ...)                                                                    \
    case NUMBER:                                                                                       \
        static_assert(Same<Call<decltype(&ops::NAME), &ops::NAME>::represented, Represented<__VA_ARGS__>>::value,  \
                      #NAME " is represented otherwise than the table of operations says");          \
        if (NUMBER >= FIRST_LIST_OPERATION) {                                                          \
            for_the_evaluation<decltype(&ops::NAME), &ops::NAME>(pools, at, progress);                 \
        } else {                                                                                       \
            for_each_evaluation<decltype(&ops::NAME), &ops::NAME>(pools, count, at, progress);         \
        }                                                                                              \
        break;
                ARC_OPERATIONS(ARC_CASE)
#undef ARC_CASE
                // A program that jumps has no evaluation beside it. The next instruction is added below.
                case JUMP:
                    next = end - at.operands<0>() - 1;
                    break;
                case JUMP_UNLESS:
                    if (!ops::is_true((int32_t)*word_of(pools.first(), at.operands<0>()))) next = end - at.operands<1>() - 1;
                    break;
                case NEXT:
                    if (!has_next(pools.first(), at, progress)) next = end - at.operands<2>() - 1;
                    break;
                default:
                    for (uint32_t evaluation = 0; evaluation < count; ++evaluation) {
                        if (progress.of(evaluation) == FITS) progress.bail_out(evaluation, NO_SUCH_OPERATION);
                    }
            }
            ARC_PART(dispatch);
            bail_outs = progress.bail_outs;
            // Named for all evaluations of the work that bail out.
            if (before == 0 && bail_outs != 0) {
                culprit = (uint32_t)(end - next);
                // What is in the places of values is not to be followed.
                if (count == 1) break;
            }
            ++next;
            __syncwarp();
        }

        ARC_PART(verdict);
        work = works + first_work + turn;
        program = programs + work->program;
        record = evaluations + work->first;
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
                if (record->expected_word != NOWHERE) {
                    judge(warp, result, words[record->expected_word], units + record->expected_unit * ROWS_OF_UNIT,
                          judgement);
                }
            }
            if (bail_out == FITS && record->result_word != NOWHERE) {
                if (lane == 0) result_words[record->result_word] = *word_of(warp, program->result);
#pragma unroll 1
                for (uint32_t at = lane; at < program->result_units * ROWS_OF_UNIT; at += 32) {
                    result_units[record->result_unit * ROWS_OF_UNIT + at] = units_of(warp, program->result)[at];
                }
            }
            if (lane == 0) {
                uint32_t number = program->instructions + 1 - culprit;
                uint32_t status = Status::packed(bail_out, judgement.equal, judged, bail_out == FITS ? 0 : number);
                VerdictRecord verdict = {status, judgement.cells_right, judgement.hash.low, judgement.hash.high};
                verdicts[record->verdict] = verdict;
            }
            warp = pools.after(warp);
            ++record;
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
