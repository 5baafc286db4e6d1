// The objects of a grid, and sets of them. See elements.cuh for how a set is held.
#pragma once

#include "descents.cuh"

namespace ops {

// ---------------------------------------------------------------------------------------------
// Sets of a grid
// ---------------------------------------------------------------------------------------------

// The cells of a grid as a set; without those of the background, if that is wanted. A grid without
// cells has no background.
DEVICE BailOut set_of(Warp warp, ObjectsOut out, Grid grid, bool without_background) {
    uint4 colour = grid.row(warp.lane);
    if (!without_background) return out.set(warp, grid.valid(warp), colour);
    if (is_mostly_black(grid, colour)) return out.set(warp, not_black(colour), colour);
    uint32_t background = coloured_background_of(warp, grid, colour);
    if (background >= NO_CODE) return without_code(background);
    uint32_t cells = grid.valid(warp) & differing(colour, spread(background));
    return out.set(warp, cells, colour & cells);
}
// Whether elements are univalued and whether corners connect is in the structure.
DEVICE BailOut objects(Warp warp, ObjectsOut out, Grid grid, Immediate immediate) {
    if (grid.height == 0) return NOT_DEFINED;
    return set_of(warp, out, grid, immediate.flag());
}
DEVICE BailOut partition(Warp warp, ObjectsOut out, Grid grid) { return set_of(warp, out, grid, false); }
DEVICE BailOut fgpartition(Warp warp, ObjectsOut out, Grid grid) { return set_of(warp, out, grid, true); }

// The rows and columns of one colour, as the object of them all.
DEVICE BailOut frontiers(Warp warp, ObjectsOut out, Grid grid) {
    if (grid.height == 0 || grid.width == 0) return NOT_DEFINED;
    uint4 colour = grid.row(warp.lane);
    uint32_t valid = grid.valid(warp);
    bool of_one_colour = (differing(colour, spread(code_at(colour, 0))) & valid) == 0;
    uint32_t changing = either(differing(colour, grid.row(0)) & valid);
    uint32_t cells = of_one_colour ? valid : valid & ~changing;
    return out.set(warp, cells, colour & cells);
}

// ---------------------------------------------------------------------------------------------
// From a set to an object
// ---------------------------------------------------------------------------------------------

// Some of a set's cells, as a set and as an object.
DEVICE BailOut give(Warp warp, ObjectsOut out, Objects objects, uint32_t cells) {
    return out.set(warp, cells, objects.colour(warp) & cells);
}
DEVICE BailOut give(Warp warp, ObjectOut out, Objects objects, uint32_t cells) {
    return out.set(warp, cells, objects.colour(warp) & cells, 0, 0);
}

DEVICE BailOut merge_of_objects(Warp warp, ObjectOut out, Objects objects) {
    return give(warp, out, objects, objects.row(warp));
}

// The element that has the first of some cells, if it has them all; else nothing. Which of several elements Python
// iterates over first is not known.
DEVICE uint32_t only_element_with(Warp warp, Objects objects, Joints joints, uint32_t structure, uint32_t cells) {
    uint32_t from, element = element_with(warp, objects, joints, structure, cells, from);
    return any_lane((cells & ~element) != 0) ? 0 : element;
}
DEVICE BailOut first_of_objects(Warp warp, ObjectOut out, Objects objects, Immediate immediate) {
    uint32_t cells = objects.row(warp), structure = immediate.structure();
    if (!any_lane(cells != 0)) return NOT_DEFINED;
    uint32_t element = only_element_with(warp, objects, joints_of(rows_of(warp, objects), structure), structure, cells);
    return any_lane(element != 0) ? give(warp, out, objects, element) : SET_ORDER;
}
DEVICE BailOut last_of_objects(Warp warp, ObjectOut out, Objects objects, Immediate immediate) {
    return first_of_objects(warp, out, objects, immediate);
}

// ---------------------------------------------------------------------------------------------
// Elements by what they measure
// ---------------------------------------------------------------------------------------------

// How many elements there are.
DEVICE uint32_t count_of(Warp warp, Objects objects, uint32_t structure) {
    uint32_t left = objects.row(warp), count = 0;
    Joints joints = {0, 0, 0, 0};
    if (!(structure & BY_COLOUR)) {
        joints = joints_of(rows_of(warp, objects), structure);
        uint32_t singles = single_cells(warp, objects, joints);
        count = sum((uint32_t)__popc(singles));
        left = beginnings_of(left & ~singles, joints);
        if (are_many(left)) {
            Descents descents(warp, joints, left);
#pragma unroll 1
            while (descents.next(warp, structure)) count += (uint32_t)__popc(lanes_with(descents.own.whole));
            left = descents.torn;
        }
    }
#pragma unroll 1
    for (uint32_t from; any_lane(left != 0); ++count) left &= ~element_with(warp, objects, joints, structure, left, from);
    return count;
}
DEVICE BailOut size_of_objects(Warp warp, IntOut out, Objects objects, Immediate immediate) {
    return out.set(warp, (int32_t)count_of(warp, objects, immediate.structure()));
}

// The elements of a size.
DEVICE uint32_t those_of_size(Warp warp, Objects objects, uint32_t structure, int32_t size) {
    uint32_t left = objects.row(warp), kept = 0;
    Joints joints = {0, 0, 0, 0};
    if (!(structure & BY_COLOUR)) {
        joints = joints_of(rows_of(warp, objects), structure);
        uint32_t singles = single_cells(warp, objects, joints);
        if (size <= 1) return size == 1 ? singles : 0;
        left = beginnings_of(left & ~singles, joints);
        if (are_many(left)) {
            uint32_t begun = 0;
            Descents descents(warp, joints, left);
#pragma unroll 1
            while (descents.next(warp, structure)) {
                begun |= descents.beginnings_of(descents.own.whole && descents.own.size == (uint32_t)size);
            }
            kept = elements_with(warp, objects, joints, structure, begun);
            left = descents.torn;
        }
    }
#pragma unroll 1
    while (any_lane(left != 0)) {
        uint32_t from, element = element_with(warp, objects, joints, structure, left, from);
        if (sum(__popc(element)) == (uint32_t)size) kept |= element;
        left &= ~element;
    }
    return kept;
}
DEVICE BailOut sizefilter(Warp warp, ObjectsOut out, Objects objects, int32_t size, Immediate immediate) {
    if (size == MISSING) return NOT_DEFINED;
    return give(warp, out, objects, those_of_size(warp, objects, immediate.structure(), size));
}

// An element counts as of the colour of its first cell.
DEVICE BailOut colorfilter(Warp warp, ObjectsOut out, Objects objects, int32_t colour, Immediate immediate) {
    if (colour == MISSING) return NOT_DEFINED;
    if (!is_colour(colour)) return give(warp, out, objects, 0);
    uint32_t structure = immediate.structure(), cells = objects.row(warp);
    uint32_t coloured = same(objects.colour(warp), spread(code_of(colour)), cells);
    if (!one_coloured(structure) && any_lane(flood(coloured, cells, corners_of(structure)) != coloured)) return SET_ORDER;
    return give(warp, out, objects, coloured);
}

// Whether a key is measured along columns; else along rows.
DEVICE bool is_across(uint32_t key) { return key == BY_WIDTH || key == BY_LEFTMOST || key == BY_RIGHTMOST; }
// A key of what lies between two rows, or two columns.
DEVICE uint32_t extent(uint32_t key, uint32_t low, uint32_t high) {
    if (key == BY_UPPERMOST || key == BY_LEFTMOST) return low;
    return key == BY_LOWERMOST || key == BY_RIGHTMOST ? high : high - low + 1;
}
DEVICE uint32_t extent(uint32_t key, uint32_t bits) { return extent(key, (uint32_t)lowest(bits), (uint32_t)highest(bits)); }
// A key of an element, but for its colour.
DEVICE uint32_t measured(uint32_t key, uint4 colour, uint32_t cells) {
    if (key == BY_SIZE) return sum(__popc(cells));
    if (key == BY_NUMCOLORS) return (uint32_t)__popc(codes_of(colour, cells));
    return extent(key, is_across(key) ? either(cells) : lanes_with(cells != 0));
}
// The same of one that the lane has gone down, but for its colours.
DEVICE uint32_t measured(uint32_t key, Descent element) {
    if (key == BY_SIZE) return element.size;
    return is_across(key) ? extent(key, element.columns) : extent(key, element.top, element.bottom);
}

// An element with its key.
struct Keyed {
    int32_t key;
    uint32_t cells;
};
// The elements with the best key: that key, so that less is better, cells of each of them, and the element if there is
// one and its cells are known.
struct Best {
    uint32_t key, cells, element;
    __device__ __forceinline__ void offer(uint32_t other, uint32_t by, uint32_t all) {
        if (other > key) return;
        bool better = other < key;
        cells = better ? by : cells | by;
        element = better ? all : 0;
        key = other;
    }
};
// Whether all cells of each element have the same colour.
DEVICE bool are_one_coloured(Warp warp, Objects objects, uint32_t structure) {
    if (one_coloured(structure)) return true;
    Rows rows = rows_of(warp, objects);
    Joints all = joints_of(rows, structure), alike = joints_of(rows, structure | UNIVALUED);
    return !any_lane(((all.left ^ alike.left) | (all.above ^ alike.above) | (all.above_left ^ alike.above_left) |
                      (all.above_right ^ alike.above_right)) != 0);
}
// The only element of the greatest or the least key, of a set that is not empty; only the key if no more is wanted, or if
// there are several.
DEVICE Keyed outermost(Warp warp, Objects objects, Immediate immediate, bool greatest, bool key_only) {
    uint32_t key = immediate.key(), structure = immediate.structure();
    uint32_t left = objects.row(warp);
    // No key is so great, and turned around none is less.
    const uint32_t NONE = 2047;
    uint32_t flipped = greatest ? NONE : 0;
    Best best = {NONE, 0, 0};
    // No element is greater than all cells that are left.
    bool bounded = key == BY_SIZE && greatest;
    Joints joints = joints_of(rows_of(warp, objects), structure);
    if (key == BY_COLOR) {
        uint4 ranks = ranks_of(objects.colour(warp));
        best.key = (greatest ? keep_greatest(ranks, left) : keep_least(ranks, left)) ^ flipped;
        best.cells = left;
        left = 0;
    } else if (key == BY_NUMCOLORS && one_coloured(structure)) {
        best.offer(1 ^ flipped, left, 0);
        left = 0;
    } else if (!(structure & BY_COLOUR)) {
        uint32_t singles = single_cells(warp, objects, joints);
        left &= ~singles;
        if (any_lane(singles != 0)) {
            uint32_t measure = 1, of_it = singles;
            if (key >= BY_UPPERMOST && key <= BY_RIGHTMOST) {
                bool across = is_across(key);
                uint32_t bits = across ? either(singles) : lanes_with(singles != 0);
                measure = (uint32_t)(greatest ? highest(bits) : lowest(bits));
                of_it &= across ? 1u << measure : where(warp.lane == measure);
            }
            best.offer(measure ^ flipped, of_it, 0);
        }
        // Nothing is less than a single cell.
        if (key == BY_SIZE && !greatest && best.key != NONE) {
            left = 0;
        } else if (key != BY_NUMCOLORS) {
            uint32_t beginnings = beginnings_of(left, joints);
            if (are_many(beginnings)) {
                Descents descents(warp, joints, beginnings);
#pragma unroll 1
                while (descents.next(warp, structure)) {
                    uint32_t number = descents.own.whole ? measured(key, descents.own) ^ flipped : FULL;
                    uint32_t first = least(number);
                    if (first <= best.key) best.offer(first, descents.beginnings_of(number == first), 0);
                }
                left = descents.torn;
                bounded = false;
            }
        }
    }
    uint32_t bound = bounded ? sum(__popc(left)) : 0;
#pragma unroll 1
    while (any_lane(left != 0) && !(bounded && bound < (best.key ^ flipped))) {
        uint32_t from, element = element_with(warp, objects, joints, structure, left, from);
        uint32_t measure = measured(key, objects.colour(warp), element);
        best.offer(measure ^ flipped, from, element);
        bound -= measure;
        left &= ~element;
    }
    if (!key_only && !any_lane(best.element != 0)) best.element = only_element_with(warp, objects, joints, structure, best.cells);
    Keyed found = {(int32_t)(best.key ^ flipped) + (key == BY_COLOR ? FIRST_COLOUR : 0), best.element};
    return found;
}
// Why there is no best key, or it is not known.
DEVICE BailOut without_key(Warp warp, Objects objects, Immediate immediate) {
    if (!any_lane(objects.row(warp) != 0) || immediate.key() > BY_NUMCOLORS) return NOT_DEFINED;
    return immediate.key() == BY_COLOR && !are_one_coloured(warp, objects, immediate.structure()) ? SET_ORDER : FITS;
}
DEVICE BailOut outermost_element(Warp warp, ObjectOut out, Objects objects, Immediate immediate, bool greatest) {
    BailOut bail_out = without_key(warp, objects, immediate);
    if (bail_out != FITS) return bail_out;
    uint32_t element = outermost(warp, objects, immediate, greatest, false).cells;
    return any_lane(element != 0) ? give(warp, out, objects, element) : SET_ORDER;
}
// That is called: it is long, and few ask for it.
CALLED int32_t best_key(Warp warp, Objects objects, Immediate immediate, bool greatest) {
    return outermost(warp, objects, immediate, greatest, true).key;
}
// Of no elements it is the key of the number 0, which none of the keys has.
DEVICE BailOut outermost_key(Warp warp, IntOut out, Objects objects, Immediate immediate, bool greatest) {
    BailOut bail_out = without_key(warp, objects, immediate);
    return bail_out != FITS ? bail_out : out.set(warp, best_key(warp, objects, immediate, greatest));
}
DEVICE BailOut argmax(Warp warp, ObjectOut out, Objects objects, Immediate immediate) {
    return outermost_element(warp, out, objects, immediate, true);
}
DEVICE BailOut argmin(Warp warp, ObjectOut out, Objects objects, Immediate immediate) {
    return outermost_element(warp, out, objects, immediate, false);
}
DEVICE BailOut valmax(Warp warp, IntOut out, Objects objects, Immediate immediate) {
    return outermost_key(warp, out, objects, immediate, true);
}
DEVICE BailOut valmin(Warp warp, IntOut out, Objects objects, Immediate immediate) {
    return outermost_key(warp, out, objects, immediate, false);
}

// ---------------------------------------------------------------------------------------------
// Sets and their elements
// ---------------------------------------------------------------------------------------------

// The lane's row of an object that is an element of the set, where it is one; else nothing. A
// set has no empty element.
DEVICE uint32_t as_element(Warp warp, Object object, Objects objects, uint32_t structure) {
    uint32_t cells = object.row_from(warp, 0, 0);
    uint4 colour = objects.colour(warp);
    // What lies outside of the set's window, and what the set has not.
    uint32_t own = object.row(warp);
    int32_t r = (int32_t)warp.lane + object.i;
    uint32_t missed = r < 0 || r >= SIDE ? own : own ^ moved(moved(own, object.j), -object.j);
    missed |= cells & (~objects.row(warp) | differing(object.colour_from(warp, 0, 0), colour));
    if (any_lane(missed != 0) || !any_lane(cells != 0)) return 0;
    Starts starts = {cells, objects.row(warp), 0};
    if (one_coloured(structure)) {
        starts.rank = keep_least(ranks_of(colour), starts.cells);
        starts.domain = coloured_in(warp, objects, starts.rank);
    }
    // By colour it is all of them.
    uint32_t element = structure & BY_COLOUR ? starts.domain : first_element(warp, structure, starts);
    return any_lane(element != cells) ? 0 : cells;
}
DEVICE BailOut contained_of_objects(Warp warp, IntOut out, Object object, Objects objects, Immediate immediate) {
    return out.set(warp, any_lane(as_element(warp, object, objects, immediate.structure()) != 0));
}
DEVICE BailOut remove_of_objects(Warp warp, ObjectsOut out, Object object, Objects objects, Immediate immediate) {
    uint32_t element = as_element(warp, object, objects, immediate.structure());
    return give(warp, out, objects, objects.row(warp) & ~element);
}

// An element is in both sets if they have the same colours on it and neither joins it to other
// cells. So what is left of the first set are the elements with a cell of which that is not true.
DEVICE BailOut difference_of_objects(Warp warp, ObjectsOut out, Objects a, Objects b, Immediate immediate) {
    uint32_t structure = immediate.structure();
    uint32_t cells = a.row(warp), kept = 0;
    uint4 ranks = ranks_of(a.colour(warp));
    if (structure & BY_COLOUR) {
        uint32_t left = cells;
#pragma unroll 1
        while (any_lane(left != 0)) {
            uint32_t coloured = left;
            uint32_t rank = keep_least(ranks, coloured);
            if (any_lane(coloured != coloured_in(warp, b, rank))) kept |= coloured;
            left &= ~coloured;
        }
        return give(warp, out, a, kept);
    }
    Joints here = joints_of(rows_of(warp, a), structure), there = joints_of(rows_of(warp, b), structure);
    Joints only_there = {there.left & ~here.left, there.above & ~here.above, there.above_left & ~here.above_left,
                         there.above_right & ~here.above_right};
    uint32_t differs = ~b.row(warp) | differing(a.colour(warp), b.colour(warp)) | joined(warp, only_there);
    return give(warp, out, a, elements_with(warp, a, here, structure, cells & differs));
}

// The two sets are one if they agree where both have cells, and no joint leads from a cell that one
// of them has to a cell that it has not.
DEVICE BailOut combine_of_objects(Warp warp, ObjectsOut out, Objects a, Objects b, Immediate immediate) {
    uint32_t structure = immediate.structure();
    Rows in_a = rows_of(warp, a), in_b = rows_of(warp, b);
    uint32_t torn = in_a.cells & in_b.cells & differing(in_a.colour, in_b.colour);
    Rows both = {in_a.cells | in_b.cells, in_a.above | in_b.above, in_a.colour | in_b.colour,
                 in_a.colour_above | in_b.colour_above};
    if (structure & BY_COLOUR) {
        uint4 ranks = ranks_of(in_a.colour);
        uint32_t left = in_a.cells;
#pragma unroll 1
        while (any_lane(left != 0)) {
            uint32_t coloured = left;
            uint32_t other = coloured_in(warp, b, keep_least(ranks, coloured));
            if (any_lane(other != 0)) torn |= coloured ^ other;
            left &= ~coloured;
        }
    } else {
        Joints joints = joints_of(both, structure);
        torn |= joints.left & ((in_a.cells ^ in_a.cells << 1) | (in_b.cells ^ in_b.cells << 1));
        torn |= joints.above & ((in_a.cells ^ in_a.above) | (in_b.cells ^ in_b.above));
        torn |= joints.above_left & ((in_a.cells ^ in_a.above << 1) | (in_b.cells ^ in_b.above << 1));
        torn |= joints.above_right & ((in_a.cells ^ in_a.above >> 1) | (in_b.cells ^ in_b.above >> 1));
    }
    if (any_lane(torn != 0)) return NOT_DEFINED;
    return out.set(warp, both.cells, both.colour);
}

}  // namespace ops
