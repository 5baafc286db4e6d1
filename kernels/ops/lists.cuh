// Lists: made of other containers, and other containers made of them; what is done to lists whatever
// their elements are. See arena.cuh for how elements lie.
#pragma once

#include "arena.cuh"
#include "arithmetic.cuh"
#include "transforms.cuh"

namespace ops {

// ---------------------------------------------------------------------------------------------
// Other containers as lists
// ---------------------------------------------------------------------------------------------

DEVICE int32_t abs_of(int32_t n) { return n < 0 ? -n : n; }

// The locations of a patch, row by row.
DEVICE BailOut list_of_patch(Warp warp, ListOut out, Patch patch) {
    uint32_t row = patch.row(warp), own = (uint32_t)__popc(row), start;
    uint32_t first = before(warp, own), count = sum(own);
    if (!taken(warp, count, start)) return ARENA_FULL;
    uint32_t* to = warp.arena() + start + first;
#pragma unroll 1
    for (; row != 0; row &= row - 1) {
        Pair at = {patch.i + (int32_t)warp.lane, patch.j + lowest(row)};
        *to++ = packed(at);
    }
    return out.set(warp, start, count);
}

// The cells of an object, a colour after the other.
DEVICE BailOut list_of_object(Warp warp, ListOut out, Object object) {
    uint32_t left = object.row(warp), start;
    Box bounds = bounds_of(warp, object);
    if (!bounds.empty && !(is_near(bounds.top, bounds.left) && is_near(bounds.bottom, bounds.right))) return COORDINATE_TOO_LARGE;
    uint32_t count = sum((uint32_t)__popc(left));
    if (!taken(warp, count, start)) return ARENA_FULL;
    uint32_t* to = warp.arena() + start;
    uint4 ranks = ranks_of(object.colour(warp));
#pragma unroll 1
    while (any_lane(left != 0)) {
        uint32_t coloured = left;
        uint32_t rank = keep_least(ranks, coloured);
        left &= ~coloured;
        uint32_t own = (uint32_t)__popc(coloured);
        uint32_t* next = to + before(warp, own);
        to += sum(own);
#pragma unroll 1
        for (; coloured != 0; coloured &= coloured - 1) {
            Cell cell = {(int32_t)rank + FIRST_COLOUR, object.i + (int32_t)warp.lane, object.j + lowest(coloured)};
            *next++ = packed(cell);
        }
    }
    return out.set(warp, start, count);
}

// The elements of a set of objects, ascending. They lie one after the other, so that going through them
// finds those again that are more than the lanes, who each keep where one lies.
DEVICE BailOut list_of_objects(Warp warp, ListOut out, Objects objects, Immediate immediate) {
    uint32_t structure = immediate.structure();
    uint32_t start, count = 0, own = 0, place = 0;
    Elements elements(objects.row(warp));
    // Colours are read again for each element: to keep them takes more registers than there are.
#pragma unroll 1
    while (elements.next(warp, structure, ranks_of(objects.colour(warp)))) {
        uint4 colour = objects.colour(warp) & elements.cells;
        uint32_t code = one_coloured(structure) ? code_of_rank(elements.starts.rank) : only_code(elements.cells, colour);
        place = store_cells(warp, elements.cells, colour, code, 0, 0);
        if (place == NOWHERE) return ARENA_FULL;
        if (warp.lane == count) own = place;
        ++count;
    }
    if (!taken(warp, count, start)) return ARENA_FULL;
    if (warp.lane < count) warp.arena()[start + warp.lane] = own;
    place = from_lane(own, 31);
#pragma unroll 1
    for (uint32_t number = 32; number < count; ++number) {
        place += object_words(warp, place);
        if (warp.leads) warp.arena()[start + number] = place;
    }
    return out.set(warp, start, count);
}

// The colours of a set, ascending.
DEVICE BailOut list_of_colours(Warp warp, ListOut out, Colours colours) {
    uint32_t ranks = by_rank(colours.codes), start, count = (uint32_t)__popc(ranks);
    if (!taken(warp, count, start)) return ARENA_FULL;
    if (ranks >> warp.lane & 1) {
        warp.arena()[start + __popc(ranks & low_bits((int32_t)warp.lane))] = (uint32_t)((int32_t)warp.lane + FIRST_COLOUR);
    }
    return out.set(warp, start, count);
}

// The rows of a grid, lists of colours.
DEVICE BailOut list_of_rows(Warp warp, ListOut out, Grid grid) {
    uint32_t start, height = (uint32_t)grid.height, width = (uint32_t)grid.width;
    if (!taken(warp, height + height * width, start)) return ARENA_FULL;
    uint4 row = grid.row(warp.lane);
    if (warp.lane < height) {
        uint32_t at = start + height + warp.lane * width;
        warp.arena()[start + warp.lane] = ListWord::packed(at, width);
#pragma unroll 1
        for (uint32_t column = 0; column < width; ++column) warp.arena()[at + column] = (uint32_t)colour_of(code_at(row, column));
    }
    return out.set(warp, start, height);
}

// So many parts of a grid: side by side with the flag, else one below the other.
DEVICE BailOut list_of_parts(Warp warp, ListOut out, Grid grid, int32_t n, Immediate immediate) {
    bool across = immediate.flag();
    // Fewer than one part there is in Python's own way.
    if (n < 1 || n > SIDE || !has_part(grid, n, 0)) return NOT_DEFINED;
    uint32_t start;
    if (!taken(warp, (uint32_t)n, start)) return ARENA_FULL;
#pragma unroll 1
    for (int32_t number = 0; number < n; ++number) {
        Slice part = part_of(across ? grid.width : grid.height, n, number);
        int32_t height = across ? grid.height : part.size, width = across ? part.size : grid.width;
        int32_t down = across ? 0 : part.start, right = across ? part.start : 0;
        uint4 row = moved(grid.row((int32_t)warp.lane + down), -right) & low_bits(width);
        uint32_t at;
        BailOut bail_out = store_rows(warp, at, row, height, width);
        if (bail_out != FITS) return bail_out;
        if (warp.leads) warp.arena()[start + (uint32_t)number] = at;
    }
    return out.set(warp, start, (uint32_t)n);
}

// The rows and the columns of one colour, each an object, in no order; one cell may be both.
DEVICE BailOut list_of_frontiers(Warp warp, ListOut out, Grid grid) {
    if (grid.height == 0 || grid.width == 0) return NOT_DEFINED;
    uint4 colour = grid.row(warp.lane);
    uint32_t valid = grid.valid(warp), start, count = 0;
    bool of_one_colour = (differing(colour, spread(code_at(colour, 0))) & valid) == 0;
    uint32_t rows = lanes_with(of_one_colour && (int32_t)warp.lane < grid.height);
    uint32_t columns = ~either(differing(colour, grid.row(0)) & valid) & low_bits(grid.width);
    if (!taken(warp, (uint32_t)(__popc(rows) + __popc(columns)), start)) return ARENA_FULL;
#pragma unroll 1
    while ((rows | columns) != 0) {
        uint32_t cells;
        if (rows != 0) {
            cells = warp.lane == (uint32_t)lowest(rows) ? valid : 0;
            rows &= rows - 1;
        } else {
            cells = valid & (columns & (0 - columns));
            columns &= columns - 1;
        }
        uint4 own = colour & cells;
        uint32_t at = store_cells(warp, cells, own, only_code(cells, own), 0, 0);
        if (at == NOWHERE) return ARENA_FULL;
        if (warp.leads) warp.arena()[start + count] = at;
        ++count;
    }
    return out.set(warp, start, count);
}

// The line from one location to another, or with the flag from a location in a direction, in order:
// no window has to hold it.
DEVICE BailOut list_of_line(Warp warp, ListOut out, Pair a, Pair b, Immediate immediate) {
    if (is_missing(a) || is_missing(b)) return NOT_DEFINED;
    if (immediate.flag()) {
        b.i = a.i + 42 * b.i;
        b.j = a.j + 42 * b.j;
        // So far away the reference may find the line too long.
        if (max(abs_of(b.i), abs_of(b.j)) > MAX_COORDINATE) return COORDINATE_TOO_LARGE;
    }
    int32_t down = b.i - a.i, right = b.j - a.j;
    uint32_t start, count = (uint32_t)max(abs_of(down), abs_of(right)) + 1;
    if (down != 0 && right != 0 && abs_of(down) != abs_of(right)) count = 0;
    if (count > MAX_COUNT || !taken(warp, count, start)) return ARENA_FULL;
    bool backwards = down < 0 || (down == 0 && right < 0);
    Pair first = backwards ? b : a;
    int32_t turn = backwards ? -1 : 1;
    int32_t step_i = component_sign(down) * turn, step_j = component_sign(right) * turn;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < count; number += 32) {
        Pair at = {first.i + (int32_t)number * step_i, first.j + (int32_t)number * step_j};
        warp.arena()[start + number] = packed(at);
    }
    return out.set(warp, start, count);
}

// ---------------------------------------------------------------------------------------------
// Lists as other containers
// ---------------------------------------------------------------------------------------------

DEVICE uint32_t largest(uint32_t value) { return ~least(~value); }

// Sets bits of a row of planes, and clears some; other lanes may do so with the same row.
DEVICE void set_planes(uint4* row, uint4 bits) {
    atomicOr(&row->x, bits.x);
    atomicOr(&row->y, bits.y);
    atomicOr(&row->z, bits.z);
    atomicOr(&row->w, bits.w);
}
DEVICE void clear_planes(uint4* row, uint4 bits) {
    atomicAnd(&row->x, ~bits.x);
    atomicAnd(&row->y, ~bits.y);
    atomicAnd(&row->z, ~bits.z);
    atomicAnd(&row->w, ~bits.w);
}

// Of what the lanes add, the first and the last row and column.
struct Extent {
    int32_t top, bottom, left, right;
    __device__ __forceinline__ Extent() : top(MAX_COORDINATE), bottom(-MAX_COORDINATE), left(MAX_COORDINATE), right(-MAX_COORDINATE) {}
    __device__ __forceinline__ void add(Pair at) {
        top = min(top, at.i);
        bottom = max(bottom, at.i);
        left = min(left, at.j);
        right = max(right, at.j);
    }
    // There must be a location.
    __device__ __forceinline__ Box box() const {
        const uint32_t SIGN = 0x80000000;
        Box box = {false, (int32_t)(least((uint32_t)top ^ SIGN) ^ SIGN), (int32_t)(largest((uint32_t)bottom ^ SIGN) ^ SIGN),
                   (int32_t)(least((uint32_t)left ^ SIGN) ^ SIGN), (int32_t)(largest((uint32_t)right ^ SIGN) ^ SIGN)};
        return box;
    }
};

// Where the word of a pair or of a cell says that it lies.
DEVICE Pair place_at(Pair, uint32_t word) { return unpacked(word); }
DEVICE Pair place_at(Cell, uint32_t word) {
    Cell cell = cell_of(word);
    Pair at = {cell.i, cell.j};
    return at;
}
// Whether the window at (0, 0) has a location.
DEVICE bool in_window(Pair at) { return (uint32_t)at.i < SIDE && (uint32_t)at.j < SIDE; }

// The origin of a window for what a list of pairs or cells says; mostly all of it is on a grid.
template <class Placed>
DEVICE BailOut window_for(Warp warp, List list, Immediate immediate, Pair& origin) {
    Extent extent;
    bool beyond = false;
    origin.i = 0;
    origin.j = 0;
    if (immediate.clipped()) return FITS;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < list.count; number += 32) {
        Pair at = place_at(Placed(), list.at(number));
        beyond |= !in_window(at);
        extent.add(at);
    }
    return any_lane(beyond) ? window_for(extent.box(), immediate, origin) : FITS;
}

// The set of locations in a list. The lanes set bits of rows in shared memory, whoever's these are.
DEVICE BailOut patch_of_list(Warp warp, PatchOut out, List list, Immediate immediate) {
    bool missing = false;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < list.count; number += 32) missing |= list.at(number) == MISSING_PAIR;
    if (any_lane(missing)) return NOT_DEFINED;
    Pair origin;
    BailOut bail_out = window_for<Pair>(warp, list, immediate, origin);
    if (bail_out != FITS) return bail_out;
    out.rows[warp.lane] = 0;
    __syncwarp();
#pragma unroll 1
    for (uint32_t number = warp.lane; number < list.count; number += 32) {
        Pair at = unpacked(list.at(number));
        at.i -= origin.i;
        at.j -= origin.j;
        if (in_window(at)) atomicOr(&out.rows[at.i], 1u << at.j);
    }
    return out.set_origin(warp, origin.i, origin.j);
}

// The set of cells in a list. Of two colours at one location there is a mixture, which is another one
// than one of them at least.
DEVICE BailOut object_of_list(Warp warp, ObjectOut out, List list, Immediate immediate) {
    Pair origin;
    BailOut bail_out = window_for<Cell>(warp, list, immediate, origin);
    if (bail_out != FITS) return bail_out;
    out.rows[warp.lane] = 0;
    out.colours[warp.lane] = make_uint4(0, 0, 0, 0);
    __syncwarp();
#pragma unroll 1
    for (uint32_t number = warp.lane; number < list.count; number += 32) {
        Cell cell = cell_of(list.at(number));
        Pair at = {cell.i - origin.i, cell.j - origin.j};
        if (in_window(at)) {
            uint32_t bit = 1u << at.j;
            atomicOr(&out.rows[at.i], bit);
            set_planes(&out.colours[at.i], spread(code_of(cell.colour)) & bit);
        }
    }
    __syncwarp();
    bool torn = false;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < list.count; number += 32) {
        Cell cell = cell_of(list.at(number));
        Pair at = {cell.i - origin.i, cell.j - origin.j};
        if (in_window(at)) torn |= code_at(out.colours[at.i], (uint32_t)at.j) != code_of(cell.colour);
    }
    if (any_lane(torn)) return TWO_COLOURS;
    PatchOut patch = {out.rows, out.origin};
    return patch.set_origin(warp, origin.i, origin.j);
}

// A grid of as many rows.
DEVICE BailOut grid_of_list(Warp warp, GridOut out, List rows) {
    if (rows.count == 0) return NOT_DEFINED;
    if (rows.count > SIDE) return GRID_TOO_LARGE;
    uint32_t width = ListWord::count(rows.at(0));
    List own = list_of(warp, rows.at(warp.lane < rows.count ? warp.lane : 0));
    if (width == 0 || any_lane(own.count != width)) return NOT_DEFINED;
    if (width > SIDE) return GRID_TOO_LARGE;
    uint4 row = make_uint4(0, 0, 0, 0);
    bool coloured = true;
    if (warp.lane < rows.count) {
#pragma unroll 1
        for (uint32_t column = 0; column < width; ++column) {
            int32_t colour = (int32_t)own.at(column);
            coloured &= is_colour(colour);
            row = row | (spread(code_of(colour)) & 1u << column);
        }
    }
    if (any_lane(!coloured)) return NO_SUCH_COLOUR;
    return out.set(warp, row, (int32_t)rows.count, (int32_t)width);
}

// Cells in the order of a list, each over those before it: 32 at a time, and those of them one after the
// other of which two have one location and different colours. Their mixture shows these.
DEVICE BailOut paint_list(Warp warp, GridOut out, Grid grid, List cells) {
    if (grid.height == 0) return NOT_DEFINED;
    out.rows[warp.lane] = grid.row(warp.lane);
    __syncwarp();
#pragma unroll 1
    for (uint32_t first = 0; first < cells.count; first += 32) {
        uint32_t number = first + warp.lane;
        Cell cell = cell_of(number < cells.count ? cells.at(number) : 0);
        uint32_t code = code_of(cell.colour), bit = 1u << (cell.j & (SIDE - 1));
        uint4* row = &out.rows[cell.i & (SIDE - 1)];
        bool on = number < cells.count && (uint32_t)cell.i < (uint32_t)grid.height && (uint32_t)cell.j < (uint32_t)grid.width;
        if (on) {
            clear_planes(row, spread(~code) & bit);
            set_planes(row, spread(code) & bit);
        }
        __syncwarp();
        bool torn = any_lane(on && code_at(*row, (uint32_t)cell.j) != code);
        __syncwarp();
        if (!torn) continue;
#pragma unroll 1
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if (on && warp.lane == lane) *row = choose(bit, spread(code), *row);
            __syncwarp();
        }
    }
    return out.set(warp, out.rows[warp.lane], grid.height, grid.width);
}

// ---------------------------------------------------------------------------------------------
// Lists whatever their elements are
// ---------------------------------------------------------------------------------------------

// An empty list with room for as many elements as a list has; or two lists have pairs.
DEVICE BailOut room_for(Warp warp, ListOut out, List list) {
    uint32_t start;
    return taken(warp, list.count, start) ? out.set(warp, start, 0) : ARENA_FULL;
}
DEVICE BailOut room_for_pairs(Warp warp, ListOut out, List a, List b) {
    uint32_t start;
    // Counts have 16 bits.
    uint32_t count = a.count * b.count;
    return count <= MAX_COUNT && taken(warp, count, start) ? out.set(warp, start, 0) : ARENA_FULL;
}
// Room for so many, which the instruction says.
DEVICE BailOut room(Warp warp, ListOut out, Immediate immediate) {
    uint32_t start;
    return taken(warp, immediate.key(), start) ? out.set(warp, start, 0) : ARENA_FULL;
}
// One more element of a list that has room for it. The list itself becomes longer.
DEVICE BailOut push(Warp warp, ListOut out, Word element) {
    uint32_t word = *out.word;
    __syncwarp();
    if (warp.leads) warp.arena()[ListWord::start(word) + ListWord::count(word)] = element.bits;
    return out.set(warp, ListWord::start(word), ListWord::count(word) + 1);
}

// Of columns that a loop gives, lanes past the last element have none.
DEVICE BailOut push_column(Warp warp, ListOut out, Column elements, Column a, Column b) {
    uint32_t word = *out.word, count = min(*a.count, *b.count);
    __syncwarp();
    if (warp.lane < count) warp.arena()[ListWord::start(word) + ListWord::count(word) + warp.lane] = elements.own(warp);
    return out.set(warp, ListWord::start(word), ListWord::count(word) + count);
}
DEVICE uint32_t kept_lanes(Warp warp, Column elements, Column condition) {
    return lanes_with(warp.lane < *elements.count && is_true((int32_t)condition.own(warp)));
}
DEVICE BailOut push_kept(Warp warp, ListOut out, Column elements, Column condition) {
    uint32_t word = *out.word, kept = kept_lanes(warp, elements, condition);
    __syncwarp();
    uint32_t place = ListWord::count(word) + (uint32_t)__popc(kept & low_bits((int32_t)warp.lane));
    if (kept >> warp.lane & 1) warp.arena()[ListWord::start(word) + place] = elements.own(warp);
    return out.set(warp, ListWord::start(word), ListWord::count(word) + (uint32_t)__popc(kept));
}
DEVICE BailOut any_kept(Warp warp, IntOut out, Column elements, Column condition) {
    return out.set(warp, kept_lanes(warp, elements, condition) != 0);
}
DEVICE BailOut first_kept(Warp warp, WordOut out, Column elements, Column condition) {
    uint32_t kept = kept_lanes(warp, elements, condition);
    return kept == 0 ? NOT_DEFINED : out.set(warp, elements.words[(uint32_t)lowest(kept)]);
}
DEVICE BailOut size_of_list(Warp warp, IntOut out, List list) { return out.set(warp, (int32_t)list.count); }
// The element of a number, counted from the first or, with the flag, from the last.
DEVICE BailOut element(Warp warp, WordOut out, List list, Immediate immediate) {
    uint32_t number = immediate.key();
    if (number >= list.count) return NOT_DEFINED;
    return out.set(warp, list.at(immediate.flag() ? list.count - 1 - number : number));
}

// A copy of a list's words from this one on.
DEVICE void copied(Warp warp, uint32_t* to, List list) {
#pragma unroll 1
    for (uint32_t number = warp.lane; number < list.count; number += 32) to[number] = list.at(number);
}
// The elements of one list, then those of another.
DEVICE BailOut joined_lists(Warp warp, ListOut out, List a, List b) {
    uint32_t start, count = a.count + b.count;
    if (count > MAX_COUNT || !taken(warp, count, start)) return ARENA_FULL;
    copied(warp, warp.arena() + start, a);
    copied(warp, warp.arena() + start + a.count, b);
    return out.set(warp, start, count);
}
// The elements of a list's lists, one list after the other. With the flag these are sets, of which several elements have
// no order here.
DEVICE BailOut flattened(Warp warp, ListOut out, List lists, Immediate immediate) {
    uint32_t own = 0, start;
    bool unordered = false;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < lists.count; number += 32) {
        uint32_t count = ListWord::count(lists.at(number));
        own += count;
        unordered |= count > 1;
    }
    if (immediate.flag() && any_lane(unordered)) return SET_ORDER;
    uint32_t count = sum(own);
    if (count > MAX_COUNT || !taken(warp, count, start)) return ARENA_FULL;
    uint32_t* to = warp.arena() + start;
#pragma unroll 1
    for (uint32_t number = 0; number < lists.count; ++number) {
        List list = list_of(warp, lists.at(number));
        copied(warp, to, list);
        to += list.count;
    }
    return out.set(warp, start, count);
}

DEVICE BailOut interval(Warp warp, ListOut out, int32_t from, int32_t to, int32_t step) {
    if (from == MISSING || to == MISSING || step == MISSING || step == 0) return NOT_DEFINED;
    int32_t span = step > 0 ? to - from : from - to;
    uint32_t by = (uint32_t)(step > 0 ? step : -step), start;
    uint32_t count = span <= 0 ? 0 : ((uint32_t)span - 1) / by + 1;
    if (count > MAX_COUNT || !taken(warp, count, start)) return ARENA_FULL;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < count; number += 32) {
        warp.arena()[start + number] = (uint32_t)(from + (int32_t)number * step);
    }
    return out.set(warp, start, count);
}
DEVICE BailOut repeat(Warp warp, ListOut out, Word element, int32_t times) {
    if (times == MISSING) return NOT_DEFINED;
    uint32_t start, count = times < 0 ? 0 : (uint32_t)times;
    if (count > MAX_COUNT || !taken(warp, count, start)) return ARENA_FULL;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < count; number += 32) warp.arena()[start + number] = element.bits;
    return out.set(warp, start, count);
}

// Two elements as one: a pair, where both are integers that fit into it, else a list of the two that
// lies at `place`.
DEVICE bool paired(Warp warp, bool integers, uint32_t a, uint32_t b, uint32_t place, uint32_t& word) {
    if (integers) {
        Pair pair = {(int32_t)a, (int32_t)b};
        word = packed(pair);
        return pair.i <= MAX_COORDINATE && pair.i >= -MAX_COORDINATE && pair.j <= MAX_COORDINATE && pair.j >= -MAX_COORDINATE;
    }
    warp.arena()[place] = a;
    warp.arena()[place + 1] = b;
    word = ListWord::packed(place, 2);
    return true;
}
// The first of one list with the first of another, and so on; with the flag pairs of integers.
DEVICE BailOut zipped(Warp warp, ListOut out, List a, List b, Immediate immediate) {
    bool integers = immediate.flag(), fits = true;
    uint32_t start, count = min(a.count, b.count);
    if (!taken(warp, count * (integers ? 1 : 3), start)) return ARENA_FULL;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < count; number += 32) {
        uint32_t word;
        fits &= paired(warp, integers, a.at(number), b.at(number), start + count + 2 * number, word);
        warp.arena()[start + number] = word;
    }
    return any_lane(!fits) ? COORDINATE_TOO_LARGE : out.set(warp, start, count);
}
// Each of one list with each of another.
DEVICE BailOut product(Warp warp, ListOut out, List a, List b, Immediate immediate) {
    bool integers = immediate.flag(), fits = true;
    uint32_t start, count = a.count * b.count;
    if (count > MAX_COUNT || !taken(warp, count * (integers ? 1 : 3), start)) return ARENA_FULL;
#pragma unroll 1
    for (uint32_t number = warp.lane; number < count; number += 32) {
        uint32_t word;
        fits &= paired(warp, integers, a.at(number / b.count), b.at(number % b.count), start + count + 2 * number, word);
        warp.arena()[start + number] = word;
    }
    return any_lane(!fits) ? COORDINATE_TOO_LARGE : out.set(warp, start, count);
}

}  // namespace ops
