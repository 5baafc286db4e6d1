# The components of empty cells, with neighbours along rows and columns.
def gaps(g):
    return colorfilter(objects(silhouette(g, 1), T, F, F), 0)

# The empty cells with no path along empty rows and columns to the border.
def enclosed(g):
    x = mfilter(gaps(g), compose(flip, rbind(bordering, g)))
    return toindices(x)

# The empty cells with a path along empty rows and columns to the border.
def outside(g):
    x = mfilter(gaps(g), rbind(bordering, g))
    return toindices(x)

# The enclosed cells in this colour.
def filled(g, c):
    return fill(g, c, enclosed(g))

# The enclosed cells in the colour of the cell that encloses them on the left.
def filled_alike(g):
    return paint(g, toobject(enclosed(g), smeared(g, RIGHT)))

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

# The gaps that touch a cell of a colour, in that colour.
def flooded(g, c):
    # With a location far away, so that the set is not empty.
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

# The shown cells outlined in this colour, without the corners.
def outlined_straight(g, c):
    x = shown_at(g)
    return fill(g, c, difference(with_neighbors_straight(x), x))

# The shown cells outlined in this colour.
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

# The shown cells without the inside.
def hollowed(g):
    return fill(g, 0, inside(g))

# The shown cells without the inside, with thin corners.
def hollowed_straight(g):
    return fill(g, 0, inside_straight(g))

# The borders of the shown areas in this colour.
def bordered(g, c):
    return fill(g, c, difference(shown_at(g), inside(g)))

# The inside of the shown areas in this colour.
def inner_filled(g, c):
    return fill(g, c, inside(g))

# Shown cells without a shown neighbour removed.
def denoised(g):
    x = shown_at(g)
    a = combine(shift(x, UP), shift(x, DOWN))
    b = combine(x, a)
    c = combine(a, combine(shift(b, LEFT), shift(b, RIGHT)))
    return fill(g, 0, difference(x, c))

# The cells without this colour, in components of neighbours along rows and columns, each in the largest of its
# colours.
def rooms_colored(g, c):
    x = objects(fill(canvas(0, shape(g)), 1, ofcolor(g, c)), T, F, F)
    y = apply(rbind(toobject, g), colorfilter(x, 0))
    return paint(g, mapply(fork(recolor, compose(maximum, palette), identity), y))

# The gaps that are enclosed.
def holes(g):
    return sfilter(gaps(g), compose(flip, rbind(bordering, g)))

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

# The empty cells with no path to the border, not even through corners.
def enclosed_tightly(g):
    x = colorfilter(objects(silhouette(g, 1), T, T, F), 0)
    return toindices(mfilter(x, compose(flip, rbind(bordering, g))))

# A grid moved by this many rows and columns, with -1 in the cells that nothing moves to.
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

# A grid without the cells whose neighbours along rows and columns all have the cell's colour.
def hollowed_by_color(g):
    return fill(g, 0, shown_at(cellwise(around(g), g, 0)))
