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

# The cells shown in exactly one of the left and the right half.
def left_or_right_alone(g):
    return exclusive(lefthalf(g), righthalf(g))

# The cells shown in neither the left nor the right half, in this colour.
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

# The cells shown in exactly one of the upper and the lower half.
def top_or_bottom_alone(g):
    return exclusive(tophalf(g), bottomhalf(g))

# The cells shown in neither the upper nor the lower half, in this colour.
def neither_top_nor_bottom(g, c):
    return neither(tophalf(g), bottomhalf(g), c)

# The four quarters, row by row.
def quarters(g):
    x = astuple(lefthalf(tophalf(g)), righthalf(tophalf(g)))
    y = astuple(lefthalf(bottomhalf(g)), righthalf(bottomhalf(g)))
    return combine(x, y)

# The rows and columns of a single colour other than 0, as indices.
def separators(g):
    return toindices(mfilter(frontiers(g), compose(positive, color)))

# The grids between rows and columns of a single colour, row by row.
def parts(g):
    x = fill(canvas(0, shape(g)), 1, separators(g))
    y = colorfilter(objects(x, T, F, F), 0)
    return apply(rbind(subgrid, g), order(y, ulcorner))

# A grid without the rows that are empty.
def without_empty_rows(g):
    return of_rows(sfilter(g, compose(positive, maximum)))

# A grid without the columns that are empty.
def without_empty_columns(g):
    return dmirror(without_empty_rows(dmirror(g)))

# A grid without the rows and columns that are empty.
def without_empty_lines(g):
    return without_empty_columns(without_empty_rows(g))

# A grid without the rows that equal the one above.
def without_equal_rows(g):
    x = vconcat(canvas(-1, astuple(1, width(g))), g)
    y = sfilter(pair(x, g), compose(flip, fork(equality, first, last)))
    return of_rows(apply(last, y))

# A grid without the rows and columns that equal the one before.
def without_equal_lines(g):
    return dmirror(without_equal_rows(dmirror(without_equal_rows(g))))

# The rows of a grid, sorted by the number of their shown cells.
def rows_sorted(g):
    return of_rows(order(g, compose(size, rbind(sfilter, positive))))

# The columns of a grid, sorted by the number of their shown cells.
def columns_sorted(g):
    return dmirror(rows_sorted(dmirror(g)))

# The grid with fewest empty cells.
def fullest(x):
    return argmin(x, rbind(colorcount, 0))

# The grid with most empty cells.
def emptiest(x):
    return argmax(x, rbind(colorcount, 0))

# The grid that occurs least often.
def odd_grid(x):
    return leastcommon(x)

# The grid that is symmetric left to right.
def symmetric_grid(x):
    return extract(x, fork(equality, identity, vmirror))

# The most common colour of each block, where the grid is divided into as many blocks as another grid has cells.
def summarized(g, t):
    f = compose(lbind(apply, mostcolor), rbind(hsplit, width(t)))
    return of_rows(apply(f, vsplit(g, height(t))))

# The largest colour of each block, where the grid is divided into as many blocks as another grid has cells.
def peaks(g, t):
    f = compose(lbind(apply, compose(maximum, palette)), rbind(hsplit, width(t)))
    return of_rows(apply(f, vsplit(g, height(t))))

# The shown colours, one below the other, the most common one first.
def colors_ranked(g):
    x = sfilter(partition(g), compose(positive, color))
    y = apply(color, order(in_order(x), compose(invert, size)))
    return of_rows(apply(rbind(repeat, 1), y))
