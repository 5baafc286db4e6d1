// How a set of objects falls into its elements.
//
// A set is held as the object of them all, so that each operation finds its elements again, by
// flood from a first cell. Most elements of real grids are single cells: which those are is found
// for all at once, and what can be said of all elements at once floods from many cells.
//
// Python iterates over them in an order of its own, which is not known here. Where sets have to lie alike to be compared,
// elements come as their first cells compare: by colour, -1 first, then by row, then by column.
#pragma once

#include "counting.cuh"

namespace ops {

// Whether all cells of an element have the same colour.
DEVICE bool one_coloured(uint32_t structure) { return (structure & (UNIVALUED | BY_COLOUR)) != 0; }

// All columns if that is so, else none.
DEVICE uint32_t where(bool condition) { return condition ? FULL : 0; }

// ---------------------------------------------------------------------------------------------
// Colours in order
// ---------------------------------------------------------------------------------------------

// Planes of the colours' ranks: 0 for -1, one more than the colour for the others.
DEVICE uint4 ranks_of(uint4 colour) {
    uint32_t xy = colour.x & colour.y;
    return make_uint4(~colour.x, colour.x ^ colour.y, colour.z ^ xy, colour.w ^ (xy & colour.z));
}
// Leaves the cells of the least rank, and says which that is; there must be cells.
DEVICE uint32_t keep_least(uint4 ranks, uint32_t& cells) {
    uint32_t rank = 0;
    cells = without(cells, ranks.w, 8, rank);
    cells = without(cells, ranks.z, 4, rank);
    cells = without(cells, ranks.y, 2, rank);
    cells = without(cells, ranks.x, 1, rank);
    return rank;
}
DEVICE uint32_t keep_greatest(uint4 ranks, uint32_t& cells) { return 15 - keep_least(ranks ^ spread(15), cells); }

// ---------------------------------------------------------------------------------------------
// Floods
// ---------------------------------------------------------------------------------------------

// The runs of a row's cells that have a seed; seeds are cells. The carry of the sum goes up from
// the lowest seed of a run; mirrored, it goes down from the highest.
DEVICE uint32_t runs(uint32_t seeds, uint32_t cells) {
    uint32_t up = ((cells + seeds) ^ cells) | seeds;
    uint32_t back = __brev(cells);
    uint32_t down = (back + __brev(seeds)) ^ back;
    return (up | __brev(down)) & cells;
}
// Of those runs the part from the lowest seed upwards.
DEVICE uint32_t runs_up(uint32_t seeds, uint32_t cells) { return (((cells + seeds) ^ cells) | seeds) & cells; }
// What lies above, below or at a corner of what is found. The outermost lanes get their own row.
template <bool CORNERS>
DEVICE uint32_t beside(uint32_t found) {
    uint32_t rows = __shfl_up_sync(FULL, found, 1) | __shfl_down_sync(FULL, found, 1);
    return CORNERS ? rows | rows << 1 | rows >> 1 : rows;
}
// The cells that are connected with a seed; seeds are cells.
//
// A round goes two rows further, up along the runs of the one and, mirrored, down along those of the
// other and of all that was found: what may be missing of a run then is above what is found of it.
template <bool CORNERS>
DEVICE uint32_t flooded(uint32_t seeds, uint32_t cells) {
    uint32_t found = seeds, back = __brev(cells), fresh = beside<CORNERS>(found) & cells;
    do {
        uint32_t mirrored = __brev(runs_up(found | fresh, cells));
        mirrored |= beside<CORNERS>(mirrored) & back;
        found = __brev(runs_up(mirrored, back));
        fresh = (beside<CORNERS>(found) | found << 1) & (cells ^ found);
    } while (any_lane(fresh != 0));
    return found;
}
// `corners` is whether corners connect, on every column.
DEVICE uint32_t flood(uint32_t seeds, uint32_t cells, uint32_t corners) {
    return corners != 0 ? flooded<true>(seeds, cells) : flooded<false>(seeds, cells);
}
DEVICE uint32_t corners_of(uint32_t structure) { return where(structure & DIAGONAL); }

// The lane's bit of the first location in reading order, of which there must be one.
DEVICE uint32_t first_bit(Warp warp, uint32_t row) {
    return warp.lane == (uint32_t)lowest(lanes_with(row != 0)) ? row & (0 - row) : 0;
}

// ---------------------------------------------------------------------------------------------
// Joints: which neighbours are in one element
// ---------------------------------------------------------------------------------------------

// A row of a set, and the row above it.
struct Rows {
    uint32_t cells, above;
    uint4 colour, colour_above;
};
DEVICE Rows rows_of(Warp warp, Objects objects) {
    uint32_t upper = (warp.lane - 1) & 31;
    Rows rows = {objects.row(warp), warp.leads ? 0 : objects.rows[upper], objects.colour(warp),
                 objects.colours[upper]};
    return rows;
}

// The cells of a row that are joined with the one to the left, above, above to the left and above
// to the right of them.
struct Joints {
    uint32_t left, above, above_left, above_right;
};
DEVICE uint4 one_right(uint4 row) { return make_uint4(row.x << 1, row.y << 1, row.z << 1, row.w << 1); }
DEVICE uint4 one_left(uint4 row) { return make_uint4(row.x >> 1, row.y >> 1, row.z >> 1, row.w >> 1); }
// Most sets need no colours, or no corners: what they do not need is not computed.
DEVICE Joints joints_of(Rows rows, uint32_t structure) {
    Joints joints = {rows.cells & rows.cells << 1, rows.cells & rows.above, 0, 0};
    if (structure & UNIVALUED) {
        joints.left &= ~differing(rows.colour, one_right(rows.colour));
        joints.above &= ~differing(rows.colour, rows.colour_above);
    }
    if (structure & DIAGONAL) {
        joints.above_left = rows.cells & rows.above << 1;
        joints.above_right = rows.cells & rows.above >> 1;
        if (structure & UNIVALUED) {
            joints.above_left &= ~differing(rows.colour, one_right(rows.colour_above));
            joints.above_right &= ~differing(rows.colour, one_left(rows.colour_above));
        }
    }
    return joints;
}
// The cells at either end of joints.
DEVICE uint32_t joined(Warp warp, Joints joints) {
    uint32_t there = joints.above | joints.above_left >> 1 | joints.above_right << 1;
    uint32_t here = joints.left | joints.above | joints.above_left | joints.above_right;
    return here | joints.left >> 1 | from_below(warp, there);
}

// The cells that are elements by themselves, of a set that falls into elements by joints.
DEVICE uint32_t single_cells(Warp warp, Objects objects, Joints joints) { return objects.row(warp) & ~joined(warp, joints); }

// As `runs` and `runs_up`, of runs of cells that are joined; `right` has those that are joined with the one
// to the right.
DEVICE uint32_t joined_runs_up(uint32_t seeds, uint32_t right) { return ((right + (seeds & right)) ^ right) | seeds; }
DEVICE uint32_t joined_runs(uint32_t seeds, uint32_t left) {
    return __brev(joined_runs_up(__brev(joined_runs_up(seeds, left >> 1)), __brev(left)));
}
// As `flooded`, of joints without corners.
DEVICE uint32_t beside(uint32_t found, uint32_t above) {
    return (__shfl_up_sync(FULL, found, 1) & above) | __shfl_down_sync(FULL, found & above, 1);
}
DEVICE uint32_t joined_flood(uint32_t seeds, Joints joints) {
    uint32_t right = joints.left >> 1, back = __brev(joints.left), above_back = __brev(joints.above);
    uint32_t found = seeds, fresh = beside(found, joints.above);
    do {
        uint32_t mirrored = __brev(joined_runs_up(found | fresh, right));
        found = __brev(joined_runs_up(mirrored | beside(mirrored, above_back), back));
        fresh = (beside(found, joints.above) | (found << 1 & joints.left)) & ~found;
    } while (any_lane(fresh != 0));
    return found;
}

// ---------------------------------------------------------------------------------------------
// One element after the other
// ---------------------------------------------------------------------------------------------

// Cells of one colour at which the next elements start, and where these may have cells.
struct Starts {
    uint32_t cells, domain, rank;
};
// Those of the first elements of some cells, of which there must be one.
DEVICE Starts first_starts(uint32_t structure, uint4 ranks, uint32_t cells) {
    Starts starts = {cells, cells, 0};
    starts.rank = keep_least(ranks, starts.cells);
    if (one_coloured(structure)) starts.domain = starts.cells;
    return starts;
}
// The element of the first of the starts.
DEVICE uint32_t first_element(Warp warp, uint32_t structure, Starts starts) {
    if (structure & BY_COLOUR) return starts.cells;
    return flood(first_bit(warp, starts.cells), starts.domain, corners_of(structure));
}

// The lane's cells of a colour that a set has.
DEVICE uint32_t coloured_in(Warp warp, Objects objects, uint32_t rank) {
    return same(objects.colour(warp), spread(code_of_rank(rank)), objects.row(warp));
}

// The elements of a set that have some of these cells. Joints are asked for only where there are some.
DEVICE uint32_t elements_with(Warp warp, Objects objects, Joints joints, uint32_t structure, uint32_t cells) {
    if (structure == UNIVALUED) return joined_flood(cells, joints);
    uint32_t found = 0;
#pragma unroll 1
    while (any_lane(cells != 0)) {
        uint32_t from = cells, domain = objects.row(warp);
        if (one_coloured(structure)) domain = coloured_in(warp, objects, keep_least(ranks_of(objects.colour(warp)), from));
        found |= structure & BY_COLOUR ? domain : flood(from, domain, corners_of(structure));
        cells &= ~found;
    }
    return found;
}
// One of them: that of the first of the cells, which `first` is then. There must be one.
DEVICE uint32_t element_with(Warp warp, Objects objects, Joints joints, uint32_t structure, uint32_t cells, uint32_t& first) {
    uint32_t row = (uint32_t)lowest(lanes_with(cells != 0)), domain = objects.row(warp);
    first = warp.lane == row ? cells & (0 - cells) : 0;
    if (structure == UNIVALUED) return joined_flood(first, joints);
    if (one_coloured(structure)) {
        uint32_t column = from_lane(first, row);
        uint4 colour = objects.colours[row];
        uint4 wanted = make_uint4(where(colour.x & column), where(colour.y & column), where(colour.z & column), where(colour.w & column));
        domain = same(objects.colour(warp), wanted, domain);
    }
    return structure & BY_COLOUR ? domain : flood(first, domain, corners_of(structure));
}
// Goes through the elements of some cells.
struct Elements {
    // Cells of elements that are still to come.
    uint32_t left;
    Starts starts;
    // The element that it is at, and of this the cell that it was found from; by colour all of them.
    uint32_t cells, first;

    __device__ __forceinline__ explicit Elements(uint32_t all) : left(all), starts{0, 0, 0}, cells(0), first(0) {}
    // Goes on to the next element, if there is one.
    __device__ __forceinline__ bool next(Warp warp, uint32_t structure, uint4 ranks) {
        if (!any_lane(starts.cells != 0)) {
            if (!any_lane(left != 0)) return false;
            starts = first_starts(structure, ranks, left);
        }
        bool by_colour = (structure & BY_COLOUR) != 0;
        first = by_colour ? starts.cells : first_bit(warp, starts.cells);
        cells = by_colour ? first : flood(first, starts.domain, corners_of(structure));
        starts.cells &= ~cells;
        left &= ~cells;
        return true;
    }
};

}  // namespace ops
