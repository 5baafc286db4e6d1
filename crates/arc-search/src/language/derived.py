# What is not 0 in a grid, as an object.
def shown(g):
    return difference(asobject(g), toobject(ofcolor(g, 0), g))

# Where a grid is not 0.
def shown_at(g):
    return difference(asindices(g), ofcolor(g, 0))

# All that is shown in one colour.
def silhouette(g, c):
    return fill(g, c, shown_at(g))

# One colour alone.
def only(g, c):
    return fill(g, 0, difference(asindices(g), ofcolor(g, c)))

# What is empty gets the most common shown colour, and what is shown becomes empty.
def inverted(g):
    return fill(canvas(mostcolor(shown(g)), shape(g)), 0, shown_at(g))

# The first, where it is empty the second.
def overlay(a, b):
    return paint(a, toobject(ofcolor(a, 0), b))

# The first, empty where the second is.
def masked(a, b):
    return fill(a, 0, ofcolor(b, 0))

# The first, empty where the second is not.
def masked_out(a, b):
    return fill(a, 0, shown_at(b))

# What is shown in one of the two but not in both.
def exclusive(a, b):
    return paint(masked_out(a, b), toobject(ofcolor(a, 0), b))

# Where both are empty, in this colour.
def neither(a, b, c):
    return fill(canvas(0, shape(a)), c, intersection(ofcolor(a, 0), ofcolor(b, 0)))

# The part that holds all that is shown.
def crop_shown(g):
    return subgrid(shown_at(g), g)

# The part that holds all cells of a colour.
def crop_color(g, c):
    return subgrid(ofcolor(g, c), g)

# The empty cells of a grid filled from another one moved by so many rows and columns.
def pulled(a, b, d):
    return paint(a, shift(toobject(shift(ofcolor(a, 0), invert(d)), b), d))

# The empty cells from each shown cell on in a direction, up to the next shown one, in its colour.
def smeared(g, d):
    d2 = double(d)
    d4 = double(d2)
    d8 = double(d4)
    g1 = pulled(g, g, d)
    g2 = pulled(g1, g1, d2)
    g4 = pulled(g2, g2, d4)
    g8 = pulled(g4, g4, d8)
    return pulled(g8, g8, double(d8))

# Smeared up.
def smeared_up(g):
    return smeared(g, UP)

# Smeared down.
def smeared_down(g):
    return smeared(g, DOWN)

# Smeared to the left.
def smeared_left(g):
    return smeared(g, LEFT)

# Smeared to the right.
def smeared_right(g):
    return smeared(g, RIGHT)

# Smeared to the right, then to the left.
def smeared_along_rows(g):
    return smeared(smeared(g, RIGHT), LEFT)

# Smeared down, then up.
def smeared_along_columns(g):
    return smeared(smeared(g, DOWN), UP)

# Smeared along rows and columns; where they meet, along columns.
def smeared_straight(g):
    return overlay(smeared_along_columns(g), smeared_along_rows(g))

# Smeared both ways along diagonals that go down to the right.
def smeared_along_diagonals(g):
    return smeared(smeared(g, UNITY), NEG_UNITY)

# Smeared both ways along diagonals that go up to the right.
def smeared_along_counterdiagonals(g):
    return smeared(smeared(g, UP_RIGHT), DOWN_LEFT)

# Smeared along all diagonals.
def smeared_diagonally(g):
    return overlay(smeared_along_diagonals(g), smeared_along_counterdiagonals(g))

# Smeared in all eight directions.
def smeared_all_ways(g):
    return overlay(smeared_straight(g), smeared_diagonally(g))

# Cells of one colour in a row joined where only empty cells lie between them.
def connected_in_rows(g):
    return cellwise(smeared(g, RIGHT), smeared(g, LEFT), 0)

# Cells of one colour in a column joined where only empty cells lie between them.
def connected_in_columns(g):
    return cellwise(smeared(g, DOWN), smeared(g, UP), 0)

# Cells of one colour joined along rows and columns; where both meet, along columns.
def connected_straight(g):
    return overlay(connected_in_columns(g), connected_in_rows(g))

# Cells of one colour joined along diagonals where only empty cells lie between them; where both meet,
# along the one that goes down to the right.
def connected_diagonally(g):
    a = cellwise(smeared(g, UNITY), smeared(g, NEG_UNITY), 0)
    b = cellwise(smeared(g, UP_RIGHT), smeared(g, DOWN_LEFT), 0)
    return overlay(a, b)

# The components of what is empty, neighbours along rows and columns.
def gaps(g):
    return colorfilter(objects(silhouette(g, 1), T, F, F), 0)

# The empty cells from which no way along rows and columns leads to the border.
def enclosed(g):
    x = mfilter(gaps(g), compose(flip, rbind(bordering, g)))
    return toindices(x)

# The empty cells from which a way along rows and columns leads to the border.
def outside(g):
    x = mfilter(gaps(g), rbind(bordering, g))
    return toindices(x)

# What is enclosed, in this colour.
def filled(g, c):
    return fill(g, c, enclosed(g))

# What is enclosed, in the colour of what encloses it on the left.
def filled_alike(g):
    return paint(g, toobject(enclosed(g), smeared(g, RIGHT)))

# Each empty cell in the colour that it has upside down.
def symmetric_upside_down(g):
    return overlay(g, hmirror(g))

# Each empty cell in the colour that it has with left and right exchanged.
def symmetric_left_right(g):
    return overlay(g, vmirror(g))

# Each empty cell in the colour that it has with rows and columns exchanged.
def symmetric_along_diagonal(g):
    return overlay(g, dmirror(g))

# Each empty cell in the colour that it has after a half turn.
def symmetric_about_center(g):
    return overlay(g, rot180(g))

# Symmetric upside down and left and right.
def symmetric_both_ways(g):
    return symmetric_left_right(symmetric_upside_down(g))

# Symmetric upside down, left and right and along both diagonals.
def symmetric_all_ways(g):
    return symmetric_along_diagonal(symmetric_both_ways(g))

# The cells of a colour filled from the mirror images of the grid.
def restored(g, c):
    a = paint(g, toobject(ofcolor(g, c), hmirror(g)))
    b = paint(a, toobject(ofcolor(a, c), vmirror(a)))
    d = paint(b, toobject(ofcolor(b, c), dmirror(b)))
    return paint(d, toobject(ofcolor(d, c), rot180(d)))

# Where something is shown, in components by all eight neighbours, as objects of colour 1.
def blobs(g):
    return colorfilter(objects(silhouette(g, 1), T, T, F), 1)

# What is shown, in components by all eight neighbours, of any colours.
def things(g):
    return apply(rbind(toobject, g), blobs(g))

# What is shown, in components by the neighbours along rows and columns, of any colours.
def straight_things(g):
    x = colorfilter(objects(silhouette(g, 1), T, F, F), 1)
    return apply(rbind(toobject, g), x)

# What is shown, in components of one colour by all eight neighbours.
def pieces(g):
    x = objects(g, T, T, F)
    return difference(x, colorfilter(x, 0))

# What is shown, in components of one colour by the neighbours along rows and columns.
def straight_pieces(g):
    x = objects(g, T, F, F)
    return difference(x, colorfilter(x, 0))

# The object of most cells.
def largest(x):
    return argmax(x, size)

# The object of fewest cells.
def smallest(x):
    return argmin(x, size)

# The thing of most cells, cut out.
def crop_largest(g):
    return subgrid(argmax(blobs(g), size), g)

# The thing of fewest cells, cut out.
def crop_smallest(g):
    return subgrid(argmin(blobs(g), size), g)

# A patch of a grid alone, what is around it empty.
def kept(g, x):
    return paint(canvas(0, shape(g)), toobject(x, g))

# Rays of a colour from its cells on in a direction, over everything.
def rays_over(g, c, d):
    d2 = double(d)
    d4 = double(d2)
    d8 = double(d4)
    g1 = fill(g, c, shift(ofcolor(g, c), d))
    g2 = fill(g1, c, shift(ofcolor(g1, c), d2))
    g4 = fill(g2, c, shift(ofcolor(g2, c), d4))
    g8 = fill(g4, c, shift(ofcolor(g4, c), d8))
    return fill(g8, c, shift(ofcolor(g8, c), double(d8)))

# Rays of a colour from its cells on in a direction, under what is shown.
def rays_under(g, c, d):
    return overlay(g, rays_over(g, c, d))

# Rays of a colour from its cells on in a direction, up to what is shown.
def rays_up_to(g, c, d):
    return fill(g, c, ofcolor(smeared(g, d), c))

# Where the rows of the cells of a colour are empty, in that colour.
def rows_of(g, c):
    return fill(g, c, intersection(mapply(hfrontier, ofcolor(g, c)), ofcolor(g, 0)))

# Where the columns of the cells of a colour are empty, in that colour.
def columns_of(g, c):
    return fill(g, c, intersection(mapply(vfrontier, ofcolor(g, c)), ofcolor(g, 0)))

# What is added to a grid by another one, in this colour.
def added(g, x, c):
    return fill(g, c, difference(ofcolor(g, 0), ofcolor(x, 0)))

# Cells of one colour in a row joined in this colour.
def joined_in_rows(g, c):
    return added(g, connected_in_rows(g), c)

# Cells of one colour in a column joined in this colour.
def joined_in_columns(g, c):
    return added(g, connected_in_columns(g), c)

# Cells of one colour joined along rows and columns in this colour.
def joined_straight(g, c):
    return joined_in_columns(joined_in_rows(g, c), c)

# Cells of one colour joined along diagonals in this colour.
def joined_diagonally(g, c):
    return added(g, connected_diagonally(g), c)

# Empty cells beside shown ones in a row or column get their colour.
def dilated_straight(g):
    a = pulled(g, g, DOWN)
    b = pulled(a, g, UP)
    c = pulled(b, g, RIGHT)
    return pulled(c, g, LEFT)

# Empty cells next to shown ones, through corners too, get their colour.
def dilated(g):
    a = pulled(pulled(g, g, RIGHT), g, LEFT)
    return pulled(pulled(a, a, DOWN), a, UP)

# Dilated along rows and columns eight times.
def spread_straight(g):
    x = dilated_straight(dilated_straight(dilated_straight(dilated_straight(g))))
    return dilated_straight(dilated_straight(dilated_straight(dilated_straight(x))))

# Dilated in all directions six times.
def spread(g):
    x = dilated(dilated(dilated(g)))
    return dilated(dilated(dilated(x)))

# The empty gaps that have a cell of a colour beside them, in that colour.
def flooded(g, c):
    # With a location far away, so that there is one.
    x = insert((-9, -9), ofcolor(g, c))
    return fill(g, c, mfilter(gaps(g), rbind(adjacent, x)))

# Indices with their neighbours along rows and columns.
def with_neighbors_straight(x):
    a = combine(shift(x, UP), shift(x, DOWN))
    b = combine(shift(x, LEFT), shift(x, RIGHT))
    return combine(x, combine(a, b))

# Indices with all their neighbours.
def with_neighbors(x):
    a = combine(x, combine(shift(x, UP), shift(x, DOWN)))
    return combine(a, combine(shift(a, LEFT), shift(a, RIGHT)))

# What is shown outlined in this colour, without the corners.
def outlined_straight(g, c):
    x = shown_at(g)
    return fill(g, c, difference(with_neighbors_straight(x), x))

# What is shown outlined in this colour.
def outlined(g, c):
    x = shown_at(g)
    return fill(g, c, difference(with_neighbors(x), x))

# The shown cells whose neighbours along rows and columns are all shown.
def inside_straight(g):
    x = shown_at(g)
    a = intersection(shift(x, UP), shift(x, DOWN))
    b = intersection(shift(x, LEFT), shift(x, RIGHT))
    return intersection(x, intersection(a, b))

# The shown cells whose neighbours are all shown.
def inside(g):
    x = shown_at(g)
    a = intersection(x, intersection(shift(x, UP), shift(x, DOWN)))
    return intersection(a, intersection(shift(a, LEFT), shift(a, RIGHT)))

# What is shown without its inside.
def hollowed(g):
    return fill(g, 0, inside(g))

# What is shown without its inside, corners thin.
def hollowed_straight(g):
    return fill(g, 0, inside_straight(g))

# The borders of what is shown in this colour.
def bordered(g, c):
    return fill(g, c, difference(shown_at(g), inside(g)))

# The inside of what is shown in this colour.
def inner_filled(g, c):
    return fill(g, c, inside(g))

# Shown cells without a shown neighbour removed.
def denoised(g):
    x = shown_at(g)
    a = combine(shift(x, UP), shift(x, DOWN))
    b = combine(x, a)
    c = combine(a, combine(shift(b, LEFT), shift(b, RIGHT)))
    return fill(g, 0, difference(x, c))

# Where the bounding boxes of things are empty, in this colour.
def boxes_filled(g, c):
    return fill(g, c, intersection(mapply(backdrop, blobs(g)), ofcolor(g, 0)))

# Where the bounding boxes of pieces are empty, in the colour of the piece.
def boxes_filled_alike(g):
    x = mapply(fork(recolor, color, backdrop), pieces(g))
    return overlay(g, paint(g, x))

# The outlines of the boxes of things in this colour where they are empty.
def boxes_outlined(g, c):
    return fill(g, c, intersection(mapply(outbox, blobs(g)), ofcolor(g, 0)))

# Rows as a grid.
def of_rows(x):
    return replace(x, 0, 0)

# The shown cells of each row at its right end, in their order.
def fallen_right(g):
    return of_rows(apply(rbind(order, positive), g))

# The shown cells of each row at its left end, in their order.
def fallen_left(g):
    return vmirror(fallen_right(vmirror(g)))

# The shown cells of each column at its lower end, in their order.
def fallen_down(g):
    return dmirror(fallen_right(dmirror(g)))

# The shown cells of each column at its upper end, in their order.
def fallen_up(g):
    return hmirror(fallen_down(hmirror(g)))

# A grid with its mirror image to the right.
def mirrored_right(g):
    return hconcat(g, vmirror(g))

# A grid with its mirror image to the left.
def mirrored_left(g):
    return hconcat(vmirror(g), g)

# A grid with its mirror image below.
def mirrored_below(g):
    return vconcat(g, hmirror(g))

# A grid with its mirror image above.
def mirrored_above(g):
    return vconcat(hmirror(g), g)

# A grid with its mirror images to the right and below.
def mirrored_around(g):
    return mirrored_below(mirrored_right(g))

# A grid with its mirror images to the left and above.
def mirrored_before(g):
    return mirrored_above(mirrored_left(g))

# A grid with its quarter turns around a centre.
def turned_around(g):
    return vconcat(hconcat(g, rot90(g)), hconcat(rot270(g), rot180(g)))

# A grid with a copy of itself on it, so many rows and columns away.
def pasted(g, d):
    return paint(g, shift(asobject(g), d))

# A grid repeated to cover another one.
def tiled(g, t):
    h = toivec(height(g))
    w = tojvec(width(g))
    a0 = paint(canvas(0, shape(t)), asobject(g))
    a1 = pasted(a0, h)
    a2 = pasted(a1, double(h))
    a3 = pasted(a2, double(double(h)))
    a4 = pasted(a3, double(double(double(h))))
    a5 = pasted(a4, double(double(double(double(h)))))
    b1 = pasted(a5, w)
    b2 = pasted(b1, double(w))
    b3 = pasted(b2, double(double(w)))
    b4 = pasted(b3, double(double(double(w))))
    return pasted(b4, double(double(double(double(w)))))

# A grid enlarged to the size of another one, as far as that can be divided.
def scaled(g, t):
    return hupscale(vupscale(g, divide(height(t), height(g))), divide(width(t), width(g)))

# A grid at the upper left of an empty one of the size of another.
def embedded(g, t):
    return paint(canvas(0, shape(t)), asobject(g))

# A grid in the middle of an empty one of the size of another.
def centered(g, t):
    x = shift(asobject(g), halve(subtract(shape(t), shape(g))))
    return paint(canvas(0, shape(t)), x)

# Each shown cell of the first replaced by the second.
def outer(a, b):
    x = hupscale(vupscale(a, height(b)), width(b))
    return masked(tiled(b, x), x)

# Each shown cell of the first replaced by the second in the colour of the cell.
def outer_colored(a, b):
    x = hupscale(vupscale(a, height(b)), width(b))
    return masked(x, tiled(b, x))

# Each shown cell replaced by the grid.
def fractal(g):
    return outer(g, g)

# Each empty cell replaced by the grid.
def fractal_inverted(g):
    return outer(inverted(g), g)

# The left half of a grid, or the upper half of one that is higher than wide.
def first_half(g):
    return branch(portrait(g), tophalf(g), lefthalf(g))

# The right half of a grid, or the lower half of one that is higher than wide.
def second_half(g):
    return branch(portrait(g), bottomhalf(g), righthalf(g))

# The cells of the left half that are shown in both halves.
def left_and_right(g):
    return masked(lefthalf(g), righthalf(g))

# The left half over the right one.
def left_over_right(g):
    return overlay(lefthalf(g), righthalf(g))

# The right half over the left one.
def right_over_left(g):
    return overlay(righthalf(g), lefthalf(g))

# What one of the left and the right half shows.
def left_or_right_alone(g):
    return exclusive(lefthalf(g), righthalf(g))

# Where neither the left nor the right half shows anything, in this colour.
def neither_left_nor_right(g, c):
    return neither(lefthalf(g), righthalf(g), c)

# The cells of the upper half that are shown in both halves.
def top_and_bottom(g):
    return masked(tophalf(g), bottomhalf(g))

# The upper half over the lower one.
def top_over_bottom(g):
    return overlay(tophalf(g), bottomhalf(g))

# The lower half over the upper one.
def bottom_over_top(g):
    return overlay(bottomhalf(g), tophalf(g))

# What one of the upper and the lower half shows.
def top_or_bottom_alone(g):
    return exclusive(tophalf(g), bottomhalf(g))

# Where neither the upper nor the lower half shows anything, in this colour.
def neither_top_nor_bottom(g, c):
    return neither(tophalf(g), bottomhalf(g), c)

# The four quarters, row by row.
def quarters(g):
    x = astuple(lefthalf(tophalf(g)), righthalf(tophalf(g)))
    y = astuple(lefthalf(bottomhalf(g)), righthalf(bottomhalf(g)))
    return combine(x, y)

# The rows and columns of one colour that is not 0, as indices.
def separators(g):
    return toindices(mfilter(frontiers(g), compose(positive, color)))

# The grids between rows and columns of one colour, row by row.
def parts(g):
    x = fill(canvas(0, shape(g)), 1, separators(g))
    y = colorfilter(objects(x, T, F, F), 0)
    return apply(rbind(subgrid, g), order(y, ulcorner))

# The boxes of things as grids, the upper ones first.
def boxes(g):
    return apply(rbind(subgrid, g), order(blobs(g), ulcorner))

# A grid without the rows that are empty.
def without_empty_rows(g):
    return of_rows(sfilter(g, compose(positive, maximum)))

# A grid without the columns that are empty.
def without_empty_columns(g):
    return dmirror(without_empty_rows(dmirror(g)))

# A grid without the rows and columns that are empty.
def without_empty_lines(g):
    return without_empty_columns(without_empty_rows(g))

# A grid without the rows that are as the one above.
def without_equal_rows(g):
    x = vconcat(canvas(-1, astuple(1, width(g))), g)
    y = sfilter(pair(x, g), compose(flip, fork(equality, first, last)))
    return of_rows(apply(last, y))

# A grid without the rows and columns that are as the one before.
def without_equal_lines(g):
    return dmirror(without_equal_rows(dmirror(without_equal_rows(g))))

# The rows of a grid in the order of how many cells they show.
def rows_sorted(g):
    return of_rows(order(g, compose(size, rbind(sfilter, positive))))

# The columns of a grid in the order of how many cells they show.
def columns_sorted(g):
    return dmirror(rows_sorted(dmirror(g)))

# The object of most colours.
def most_colored(x):
    return argmax(x, numcolors)

# The object of fewest colours.
def least_colored(x):
    return argmin(x, numcolors)

# The object with the largest bounding box.
def widest_spread(x):
    return argmax(x, compose(size, backdrop))

# The highest object.
def tallest(x):
    return argmax(x, height)

# The widest object.
def widest(x):
    return argmax(x, width)

# The object that begins first from above.
def topmost(x):
    return argmin(x, uppermost)

# The object that ends last downwards.
def bottommost(x):
    return argmax(x, lowermost)

# The object that begins first from the left.
def leftmost_of(x):
    return argmin(x, leftmost)

# The object that ends last to the right.
def rightmost_of(x):
    return argmax(x, rightmost)

# The object whose colour is the rarest among the objects.
def odd_colored(x):
    return extract(x, matcher(color, leastcommon(apply(color, totuple(x)))))

# The object whose number of cells is the rarest among the objects.
def odd_sized(x):
    return extract(x, matcher(size, leastcommon(apply(size, totuple(x)))))

# The object whose shape, without its colours, is the rarest among the objects.
def odd_shaped(x):
    f = compose(toindices, normalize)
    return extract(x, matcher(f, leastcommon(apply(f, totuple(x)))))

# The objects that reach an edge of the grid.
def at_edge(x, g):
    return sfilter(x, rbind(bordering, g))

# The objects that reach no edge of the grid.
def off_edge(x, g):
    return sfilter(x, compose(flip, rbind(bordering, g)))

# The objects that are as they are with left and right exchanged.
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
    # With a location far away, so that there is one.
    x = insert((-9, -9), enclosed(g))
    return fill(g, c, mfilter(blobs(g), rbind(adjacent, x)))

# Things of fewer than so many cells removed.
def without_small(g, n):
    x = mfilter(blobs(g), compose(lbind(greater, n), size))
    return fill(g, 0, x)

# The things in colours from 1 on, the largest first.
def ranked(g):
    x = blobs(g)
    y = order(x, compose(invert, size))
    return paint(g, mpapply(recolor, interval(1, increment(size(x)), 1), y))

# One row of so many cells of a colour.
def bar(n, c):
    return canvas(c, astuple(1, n))

# A row with a cell for each thing, in the most common shown colour.
def things_counted(g):
    return bar(size(blobs(g)), mostcolor(shown(g)))

# One cell of the most common shown colour.
def main_color(g):
    return canvas(mostcolor(shown(g)), UNITY)

# One cell of the least common shown colour.
def rare_color(g):
    return canvas(leastcolor(shown(g)), UNITY)

# The cells of a colour filled from the grid moved so far, and as far again, up to 15 times.
def refilled(g, c, d):
    d2 = double(d)
    d4 = double(d2)
    d8 = double(d4)
    a = paint(g, shift(toobject(shift(ofcolor(g, c), invert(d)), g), d))
    b = paint(a, shift(toobject(shift(ofcolor(a, c), invert(d2)), a), d2))
    e = paint(b, shift(toobject(shift(ofcolor(b, c), invert(d4)), b), d4))
    return paint(e, shift(toobject(shift(ofcolor(e, c), invert(d8)), e), d8))

# The cells of a colour filled from the grid moved by the periods, 10 at most, of the other cells.
def continued(g, c):
    k = difference(asobject(g), toobject(ofcolor(g, c), g))
    i = toindices(k)
    f = compose(lbind(toobject, i), compose(lbind(paint, g), lbind(shift, k)))
    m = extract(interval(1, 11, 1), matcher(compose(f, tojvec), k))
    n = extract(interval(1, 11, 1), matcher(compose(f, toivec), k))
    a = refilled(refilled(g, c, tojvec(m)), c, toivec(n))
    return refilled(refilled(a, c, tojvec(invert(m))), c, toivec(invert(n)))

# The cells of a colour filled from the mirror images about axes up to 2 cells off the middle, where
# the other cells are symmetric about such.
def mended(g, c):
    k = difference(asobject(g), toobject(ofcolor(g, c), g))
    i = toindices(k)
    s = combine(interval(0, 5, 1), interval(-4, 0, 1))
    x = toobject(difference(asindices(g), ofcolor(hmirror(g), c)), hmirror(g))
    y = toobject(difference(asindices(g), ofcolor(vmirror(g), c)), vmirror(g))
    f = compose(lbind(toobject, i), lbind(paint, g))
    m = extract(s, matcher(compose(f, compose(lbind(shift, x), toivec)), k))
    n = extract(s, matcher(compose(f, compose(lbind(shift, y), tojvec)), k))
    a = replace(g, c, -1)
    b = paint(a, toobject(ofcolor(a, -1), paint(a, shift(x, toivec(m)))))
    z = shift(difference(asobject(vmirror(b)), toobject(ofcolor(vmirror(b), -1), vmirror(b))), tojvec(n))
    return replace(paint(b, toobject(ofcolor(b, -1), paint(b, z))), -1, c)

# The smallest part of a grid of which it is made by repetition.
def repeated_part(g):
    x = asobject(g)
    return crop(g, ORIGIN, astuple(vperiod(x), hperiod(x)))

# Each empty cell in the colour that it has with what is shown upside down in its box.
def box_symmetric_upside_down(g):
    return overlay(g, paint(g, hmirror(shown(g))))

# Each empty cell in the colour that it has with what is shown left and right exchanged in its box.
def box_symmetric_left_right(g):
    return overlay(g, paint(g, vmirror(shown(g))))

# What is shown made symmetric in its box upside down, left and right and along the diagonal.
def box_symmetric_all_ways(g):
    x = box_symmetric_left_right(box_symmetric_upside_down(g))
    return overlay(x, paint(x, dmirror(shown(x))))

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

# The cells that do not have a colour, in components of neighbours along rows and columns, each in the
# largest of its colours.
def rooms_colored(g, c):
    x = objects(fill(canvas(0, shape(g)), 1, ofcolor(g, c)), T, F, F)
    y = apply(rbind(toobject, g), colorfilter(x, 0))
    return paint(g, mapply(fork(recolor, compose(maximum, palette), identity), y))

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

# A grid with the largest thing alone.
def largest_alone(g):
    return kept(g, argmax(blobs(g), size))

# A grid with the smallest thing alone.
def smallest_alone(g):
    return kept(g, argmin(blobs(g), size))

# A grid without the largest thing.
def without_largest(g):
    return fill(g, 0, argmax(blobs(g), size))

# A grid without the smallest thing.
def without_smallest(g):
    return fill(g, 0, argmin(blobs(g), size))

# The grid with fewest empty cells.
def fullest(x):
    return argmin(x, rbind(colorcount, 0))

# The grid with most empty cells.
def emptiest(x):
    return argmax(x, rbind(colorcount, 0))

# The grid that is there least often.
def odd_grid(x):
    return leastcommon(x)

# The grid that is as it is with left and right exchanged.
def symmetric_grid(x):
    return extract(x, fork(equality, identity, vmirror))

# The most common colour of each of the blocks into which another grid's size divides the grid.
def summarized(g, t):
    f = compose(lbind(apply, mostcolor), rbind(hsplit, width(t)))
    return of_rows(apply(f, vsplit(g, height(t))))

# The largest colour of each of the blocks into which another grid's size divides the grid.
def peaks(g, t):
    f = compose(lbind(apply, compose(maximum, palette)), rbind(hsplit, width(t)))
    return of_rows(apply(f, vsplit(g, height(t))))

# The cells of a colour counted, as a row of that colour.
def color_counted(g, c):
    return bar(size(ofcolor(g, c)), c)

# The colours that are shown, one below the other, the most common one first.
def colors_ranked(g):
    x = sfilter(partition(g), compose(positive, color))
    y = apply(color, order(x, compose(invert, size)))
    return of_rows(apply(rbind(repeat, 1), y))

# A grid with its most common colour, whatever it is, emptied.
def ground_emptied(g):
    return replace(g, mostcolor(g), 0)

# A grid with its empty cells in the most common colour of another.
def ground_filled(g, s):
    return replace(g, 0, mostcolor(s))

# The most and the least common shown colour exchanged.
def colors_exchanged(g):
    x = shown(g)
    return switch(g, mostcolor(x), leastcolor(x))

# The most common shown colour replaced.
def main_replaced(g, c):
    return replace(g, mostcolor(shown(g)), c)

# The least common shown colour replaced.
def rare_replaced(g, c):
    return replace(g, leastcolor(shown(g)), c)

# The most common shown colour alone.
def main_alone(g):
    return only(g, mostcolor(shown(g)))

# The least common shown colour alone.
def rare_alone(g):
    return only(g, leastcolor(shown(g)))

# The outermost rows and columns in this colour.
def framed(g, c):
    return fill(g, c, box(asindices(g)))

# A grid with a frame of this colour around it.
def surrounded(g, c):
    return paint(canvas(c, add(shape(g), 2)), shift(asobject(g), UNITY))

# A grid enlarged by how many colours it shows.
def enlarged_by_colors(g):
    return upscale(g, size(remove(0, palette(g))))

# The object or grid with most cells of a colour.
def richest(x, c):
    return argmax(x, rbind(colorcount, c))

# The gaps that are enclosed.
def holes(g):
    return off_edge(gaps(g), g)

# The largest enclosed gaps in this colour.
def largest_holes_filled(g, c):
    x = holes(g)
    return fill(g, c, mfilter(x, matcher(size, maximum(apply(size, x)))))

# The smallest enclosed gaps in this colour.
def smallest_holes_filled(g, c):
    x = holes(g)
    return fill(g, c, mfilter(x, matcher(size, minimum(apply(size, x)))))

# The enclosed gaps that are squares in this colour.
def square_holes_filled(g, c):
    return fill(g, c, mfilter(holes(g), square))

# The empty cells from which no way, through corners neither, leads to the border.
def enclosed_tightly(g):
    x = colorfilter(objects(silhouette(g, 1), T, T, F), 0)
    return toindices(mfilter(x, compose(flip, rbind(bordering, g))))

# A grid moved so many rows and columns, with -1 where nothing comes from.
def moved(g, d):
    return paint(canvas(-1, shape(g)), shift(asobject(g), d))

# The colour that all neighbours along rows and columns have, elsewhere -1.
def around(g):
    a = cellwise(moved(g, UP), moved(g, DOWN), -1)
    b = cellwise(moved(g, LEFT), moved(g, RIGHT), -1)
    return cellwise(a, b, -1)

# Each cell in the colour of its neighbours along rows and columns where they have one in common.
def smoothed(g):
    x = around(g)
    return paint(g, toobject(difference(asindices(g), ofcolor(x, -1)), x))

# A grid without the cells whose neighbours along rows and columns have all their colour.
def hollowed_by_color(g):
    return fill(g, 0, shown_at(cellwise(around(g), g, 0)))
