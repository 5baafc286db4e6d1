# The shown locations, in components by all eight neighbours, as objects of colour 1.
def blobs(g):
    return colorfilter(objects(silhouette(g, 1), T, T, F), 1)

# The shown cells, in components by all eight neighbours, of any colours.
def things(g):
    return apply(rbind(toobject, g), blobs(g))

# The shown cells, in components by the neighbours along rows and columns, of any colours.
def straight_things(g):
    x = colorfilter(objects(silhouette(g, 1), T, F, F), 1)
    return apply(rbind(toobject, g), x)

# The shown cells, in components of one colour by all eight neighbours.
def pieces(g):
    x = objects(g, T, T, F)
    return difference(x, colorfilter(x, 0))

# The shown cells, in components of one colour by the neighbours along rows and columns.
def straight_pieces(g):
    x = objects(g, T, F, F)
    return difference(x, colorfilter(x, 0))

# Objects by their first cells in reading order, so that of several alike the first one is chosen.
def in_order(x):
    return order(x, compose(rbind(argmin, identity), toindices))

# The object of most cells.
def largest(x):
    return argmax(in_order(x), size)

# The object of fewest cells.
def smallest(x):
    return argmin(in_order(x), size)

# The thing of most cells, cut out.
def crop_largest(g):
    return subgrid(argmax(in_order(blobs(g)), size), g)

# The thing of fewest cells, cut out.
def crop_smallest(g):
    return subgrid(argmin(in_order(blobs(g)), size), g)

# The empty cells in the bounding boxes of things, in this colour.
def boxes_filled(g, c):
    return fill(g, c, intersection(mapply(backdrop, blobs(g)), ofcolor(g, 0)))

# The empty cells in the bounding boxes of pieces, in the colour of the piece.
def boxes_filled_alike(g):
    x = mapply(fork(recolor, color, backdrop), pieces(g))
    return overlay(g, paint(g, x))

# The empty cells on the outlines of the boxes of things, in this colour.
def boxes_outlined(g, c):
    return fill(g, c, intersection(mapply(outbox, blobs(g)), ofcolor(g, 0)))

# The boxes of things as grids, the upper ones first.
def boxes(g):
    return apply(rbind(subgrid, g), in_order(blobs(g)))

# The object of most colours.
def most_colored(x):
    return argmax(in_order(x), numcolors)

# The object of fewest colours.
def least_colored(x):
    return argmin(in_order(x), numcolors)

# The object with the largest bounding box.
def widest_spread(x):
    return argmax(in_order(x), compose(size, backdrop))

# The tallest object.
def tallest(x):
    return argmax(in_order(x), height)

# The widest object.
def widest(x):
    return argmax(in_order(x), width)

# The object whose top is the highest.
def topmost(x):
    return argmin(in_order(x), uppermost)

# The object whose bottom is the lowest.
def bottommost(x):
    return argmax(in_order(x), lowermost)

# The object whose left end is leftmost.
def leftmost_of(x):
    return argmin(in_order(x), leftmost)

# The object whose right end is rightmost.
def rightmost_of(x):
    return argmax(in_order(x), rightmost)

# The object whose colour is the rarest among the objects.
def odd_colored(x):
    y = in_order(x)
    return extract(y, matcher(color, leastcommon(apply(color, y))))

# The object whose number of cells is the rarest among the objects.
def odd_sized(x):
    y = in_order(x)
    return extract(y, matcher(size, leastcommon(apply(size, y))))

# The object whose shape, without its colours, is the rarest among the objects.
def odd_shaped(x):
    f = compose(toindices, normalize)
    y = in_order(x)
    return extract(y, matcher(f, leastcommon(apply(f, y))))

# The objects that reach an edge of the grid.
def at_edge(x, g):
    return sfilter(x, rbind(bordering, g))

# The objects that reach no edge of the grid.
def off_edge(x, g):
    return sfilter(x, compose(flip, rbind(bordering, g)))

# The objects that are symmetric left to right.
def symmetric_ones(x):
    return sfilter(x, fork(equality, identity, vmirror))

# The largest things in this colour.
def largest_colored(g, c):
    x = blobs(g)
    return fill(g, c, mfilter(x, matcher(size, maximum(apply(size, x)))))

# The smallest things in this colour.
def smallest_colored(g, c):
    x = blobs(g)
    return fill(g, c, mfilter(x, matcher(size, minimum(apply(size, x)))))

# The things that reach an edge in this colour.
def edge_colored(g, c):
    return fill(g, c, mfilter(blobs(g), rbind(bordering, g)))

# The things that fill a square in this colour.
def squares_colored(g, c):
    return fill(g, c, mfilter(blobs(g), square))

# The things that fill their bounding box in this colour.
def rectangles_colored(g, c):
    return fill(g, c, mfilter(blobs(g), compose(flip, compose(positive, compose(size, delta)))))

# The things that enclose something in this colour.
def rings_colored(g, c):
    # With a location far away, so that the set is not empty.
    x = insert((-9, -9), enclosed(g))
    return fill(g, c, mfilter(blobs(g), rbind(adjacent, x)))

# Things of fewer than this many cells removed.
def without_small(g, n):
    x = mfilter(blobs(g), compose(lbind(greater, n), size))
    return fill(g, 0, x)

# The things in colours from 1 to 9, the largest first; all further ones in 9.
def ranked(g):
    x = blobs(g)
    y = order(in_order(x), compose(invert, size))
    z = combine(interval(1, 10, 1), repeat(9, size(x)))
    return paint(g, mpapply(recolor, z, y))

# A row with a cell for each thing, in the most common shown colour.
def things_counted(g):
    return bar(size(blobs(g)), mostcolor(shown(g)))

# Each thing with left and right exchanged in its box.
def things_mirrored_left_right(g):
    return paint(canvas(0, shape(g)), mapply(vmirror, things(g)))

# Each thing upside down in its box.
def things_mirrored_upside_down(g):
    return paint(canvas(0, shape(g)), mapply(hmirror, things(g)))

# Each thing in the colour of most of its cells.
def things_in_main_color(g):
    return paint(g, mapply(fork(recolor, mostcolor, identity), things(g)))

# Each thing in the colour of fewest of its cells.
def things_in_rare_color(g):
    return paint(g, mapply(fork(recolor, leastcolor, identity), things(g)))

# The middles of things in this colour.
def centers_colored(g, c):
    return fill(g, c, apply(center, blobs(g)))

# The corners of the boxes of things in this colour.
def corners_colored(g, c):
    return fill(g, c, mapply(corners, blobs(g)))

# The pieces of one colour each moved down to the edge.
def pushed_down(g):
    f = compose(toivec, compose(lbind(subtract, decrement(height(g))), lowermost))
    return paint(canvas(0, shape(g)), mapply(fork(shift, identity, f), pieces(g)))

# The pieces of one colour each moved up to the edge.
def pushed_up(g):
    f = compose(toivec, compose(invert, uppermost))
    return paint(canvas(0, shape(g)), mapply(fork(shift, identity, f), pieces(g)))

# The pieces of one colour each moved right to the edge.
def pushed_right(g):
    f = compose(tojvec, compose(lbind(subtract, decrement(width(g))), rightmost))
    return paint(canvas(0, shape(g)), mapply(fork(shift, identity, f), pieces(g)))

# The pieces of one colour each moved left to the edge.
def pushed_left(g):
    f = compose(tojvec, compose(invert, leftmost))
    return paint(canvas(0, shape(g)), mapply(fork(shift, identity, f), pieces(g)))

# The pieces of other colours each moved until they touch the cells of a colour.
def attracted(g, c):
    x = ofcolor(g, c)
    y = sfilter(pieces(g), compose(flip, matcher(color, c)))
    return paint(only(g, c), mapply(fork(shift, identity, rbind(gravitate, x)), y))

# A grid with only the largest thing.
def largest_alone(g):
    return kept(g, argmax(in_order(blobs(g)), size))

# A grid with only the smallest thing.
def smallest_alone(g):
    return kept(g, argmin(in_order(blobs(g)), size))

# A grid without the largest thing.
def without_largest(g):
    return fill(g, 0, argmax(in_order(blobs(g)), size))

# A grid without the smallest thing.
def without_smallest(g):
    return fill(g, 0, argmin(in_order(blobs(g)), size))

# The grid with most cells of a colour.
def richest(x, c):
    return argmax(x, rbind(colorcount, c))

# The object with most cells of a colour.
def richest_object(x, c):
    return argmax(in_order(x), rbind(colorcount, c))
