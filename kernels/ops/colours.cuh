// Colours of grids and objects, and sets of colours.
#pragma once

#include "../arc.cuh"
#include "counting.cuh"

namespace ops {

// --- Colours of grids ---

DEVICE BailOut replace(Warp warp, GridOut out, Grid grid, int32_t replacee, int32_t replacer) {
    if (!is_colour(replacer)) return replacee == MISSING ? NOT_DEFINED : NO_SUCH_COLOUR;
    uint4 row = grid.row(warp.lane);
    if (is_colour(replacee)) {
        uint32_t cells = same(row, spread((uint32_t)replacee), grid.valid(warp));
        row = choose(cells, spread((uint32_t)replacer), row);
    } else if (replacee == MISSING) {
        return NOT_DEFINED;
    }
    return out.set(warp, row, grid);
}

// `switch`, which is a word of the language.
DEVICE BailOut exchange(Warp warp, GridOut out, Grid grid, int32_t a, int32_t b) {
    if (!is_colour(a) || !is_colour(b)) return NO_SUCH_COLOUR;
    uint4 row = grid.row(warp.lane);
    uint32_t valid = grid.valid(warp);
    uint4 first = spread((uint32_t)a), second = spread((uint32_t)b);
    uint4 exchanged = choose(same(row, first, valid), second, row);
    return out.set(warp, choose(same(row, second, valid), first, exchanged), grid);
}

DEVICE BailOut ofcolor(Warp warp, PatchOut out, Grid grid, int32_t value) {
    uint32_t cells = 0;
    if (is_colour(value)) cells = same(grid.row(warp.lane), spread((uint32_t)value), grid.valid(warp));
    else if (value == MISSING) return NOT_DEFINED;
    return out.set(warp, cells);
}

// Rows of no cells ask for nothing of the second grid.
DEVICE BailOut cellwise(Warp warp, GridOut out, Grid a, Grid b, int32_t fallback) {
    if (a.height == 0) return NOT_DEFINED;
    if (a.width > 0 && (a.height > b.height || a.width > b.width)) return NOT_DEFINED;
    if (!is_colour(fallback)) return NO_SUCH_COLOUR;
    uint4 row = a.row(warp.lane);
    uint32_t unlike = differing(row, b.row(warp.lane)) & a.valid(warp);
    return out.set(warp, choose(unlike, spread((uint32_t)fallback), row), a);
}

// --- Colours of grids and objects ---

DEVICE BailOut counted_colour(Warp warp, IntOut out, uint4 row, uint32_t cells, int32_t value) {
    if (value == MISSING) return NOT_DEFINED;
    if (!is_colour(value)) return out.set(warp, 0);
    return out.set(warp, (int32_t)sum((uint32_t)__popc(same(row, spread((uint32_t)value), cells))));
}
DEVICE BailOut colorcount(Warp warp, IntOut out, Grid grid, int32_t value) {
    return counted_colour(warp, out, grid.row(warp.lane), grid.valid(warp), value);
}
DEVICE BailOut colorcount_object(Warp warp, IntOut out, Object object, int32_t value) {
    return counted_colour(warp, out, object.colour(warp), object.row(warp), value);
}

DEVICE BailOut found_colour(Warp warp, IntOut out, uint32_t code) {
    return code >= NO_CODE ? without_code(code) : out.set(warp, colour_of(code));
}
DEVICE BailOut mostcolor(Warp warp, IntOut out, Grid grid) { return found_colour(warp, out, background_of(warp, grid)); }
DEVICE BailOut mostcolor_object(Warp warp, IntOut out, Object object) {
    return found_colour(warp, out, most_common(warp, object.colour(warp), object.row(warp)));
}
DEVICE BailOut leastcolor(Warp warp, IntOut out, Grid grid) {
    return found_colour(warp, out, least_common(warp, grid.row(warp.lane), grid.valid(warp)));
}
DEVICE BailOut leastcolor_object(Warp warp, IntOut out, Object object) {
    return found_colour(warp, out, least_common(warp, object.colour(warp), object.row(warp)));
}

DEVICE BailOut palette(Warp warp, ColoursOut out, Grid grid) {
    return out.set(warp, codes_of(grid.row(warp.lane), grid.valid(warp)));
}
DEVICE BailOut palette_object(Warp warp, ColoursOut out, Object object) {
    return out.set(warp, codes_of(object.colour(warp), object.row(warp)));
}
DEVICE BailOut numcolors(Warp warp, IntOut out, Grid grid) {
    return out.set(warp, __popc(codes_of(grid.row(warp.lane), grid.valid(warp))));
}
DEVICE BailOut numcolors_object(Warp warp, IntOut out, Object object) {
    return out.set(warp, __popc(codes_of(object.colour(warp), object.row(warp))));
}

// That of the first cell.
DEVICE BailOut color(Warp warp, IntOut out, Object object) {
    uint32_t cells = object.row(warp), code = only_code(cells, object.colour(warp));
    if (!any_lane(cells != 0)) return NOT_DEFINED;
    return code == NO_CODE ? SET_ORDER : out.set(warp, colour_of(code));
}

// --- Objects of patches ---

DEVICE BailOut recolor(Warp warp, ObjectOut out, int32_t value, Patch patch) {
    if (!is_colour(value)) return NO_SUCH_COLOUR;
    uint32_t row = patch.row(warp);
    return out.set(warp, row, spread((uint32_t)value) & row, patch);
}

DEVICE BailOut toobject(Warp warp, ObjectOut out, Patch patch, Grid grid) {
    if (grid.height == 0) return NOT_DEFINED;
    uint32_t row = patch.row_on(warp, grid);
    return out.set(warp, row, grid.row(warp.lane) & row);
}

// --- Sets of colours ---

DEVICE uint32_t bit_of(int32_t colour) { return is_colour(colour) ? 1u << code_of(colour) : 0; }
// There must be one.
DEVICE int32_t smallest_of(uint32_t codes) { return lowest(by_rank(codes)) + FIRST_COLOUR; }
DEVICE int32_t largest_of(uint32_t codes) { return highest(by_rank(codes)) + FIRST_COLOUR; }

DEVICE BailOut first_colours(Warp warp, IntOut out, Colours colours) {
    return found_colour(warp, out, first_in_set(colours.codes, colours.codes));
}
DEVICE BailOut last_colours(Warp warp, IntOut out, Colours colours) {
    return found_colour(warp, out, first_in_set(colours.codes, colours.codes, true));
}
// The primitives give 0 for what is empty.
DEVICE BailOut minimum_colours(Warp warp, IntOut out, Colours colours) {
    return out.set(warp, colours.codes == 0 ? 0 : smallest_of(colours.codes));
}
DEVICE BailOut maximum_colours(Warp warp, IntOut out, Colours colours) {
    return out.set(warp, colours.codes == 0 ? 0 : largest_of(colours.codes));
}
DEVICE BailOut size_colours(Warp warp, IntOut out, Colours colours) { return out.set(warp, __popc(colours.codes)); }
DEVICE BailOut contained_colours(Warp warp, IntOut out, int32_t value, Colours colours) {
    return out.set(warp, (colours.codes & bit_of(value)) != 0);
}
DEVICE BailOut equality_colours(Warp warp, IntOut out, Colours a, Colours b) {
    return out.set(warp, a.codes == b.codes);
}

DEVICE BailOut combine_colours(Warp warp, ColoursOut out, Colours a, Colours b) {
    return out.set(warp, a.codes | b.codes);
}
DEVICE BailOut intersection_colours(Warp warp, ColoursOut out, Colours a, Colours b) {
    return out.set(warp, a.codes & b.codes);
}
DEVICE BailOut difference_colours(Warp warp, ColoursOut out, Colours a, Colours b) {
    return out.set(warp, a.codes & ~b.codes);
}
DEVICE BailOut initset_colours(Warp warp, ColoursOut out, int32_t value) {
    return is_colour(value) ? out.set(warp, bit_of(value)) : NO_SUCH_COLOUR;
}
// Python makes room for a fifth colour before it finds it there: no other set of four has such a table.
DEVICE BailOut insert_colours(Warp warp, ColoursOut out, int32_t value, Colours colours) {
    if (!is_colour(value)) return NO_SUCH_COLOUR;
    uint32_t codes = colours.codes | bit_of(value);
    return codes == colours.codes && __popc(codes) == 4 ? SET_ORDER : out.set(warp, codes);
}
DEVICE BailOut remove_colours(Warp warp, ColoursOut out, int32_t value, Colours colours) {
    return out.set(warp, colours.codes & ~bit_of(value));
}

}  // namespace ops
