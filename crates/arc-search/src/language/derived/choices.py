# The boxes of pieces as grids, the upper ones first.
def piece_boxes(g):
    return apply(rbind(subgrid, g), in_order(pieces(g)))

# The boxes of things whose neighbours are those along rows and columns as grids, the upper ones first.
def straight_boxes(g):
    return apply(rbind(subgrid, g), in_order(straight_things(g)))

# The boxes of the shown colours as grids, the upper ones first.
def color_boxes(g):
    x = partition(g)
    return apply(rbind(subgrid, g), in_order(difference(x, colorfilter(x, 0))))

# Each thing in a separate grid of its size, the upper ones first.
def things_apart(g):
    f = fork(paint, compose(lbind(canvas, 0), shape), normalize)
    return apply(f, in_order(things(g)))

# Each shown colour in a separate grid of its size, the upper ones first.
def colors_apart(g):
    x = partition(g)
    f = fork(paint, compose(lbind(canvas, 0), shape), normalize)
    return apply(f, in_order(difference(x, colorfilter(x, 0))))

# The grid of most cells.
def largest_grid(x):
    return argmax(x, compose(size, asindices))

# The grid of fewest cells.
def smallest_grid(x):
    return argmin(x, compose(size, asindices))

# The grid that shows most cells.
def most_shown(x):
    return argmax(x, fork(subtract, compose(size, asindices), rbind(colorcount, 0)))

# The grid that shows fewest cells.
def fewest_shown(x):
    return argmin(x, fork(subtract, compose(size, asindices), rbind(colorcount, 0)))

# The grid of most colours.
def most_colors(x):
    return argmax(x, numcolors)

# The grid of fewest colours.
def fewest_colors(x):
    return argmin(x, numcolors)

# The grid whose colours are the rarest among the grids.
def odd_palette(x):
    return extract(x, matcher(palette, leastcommon(apply(palette, x))))

# The grid whose size is the rarest among the grids.
def odd_size(x):
    return extract(x, matcher(shape, leastcommon(apply(shape, x))))

# The grid that shows a number of cells that is the rarest among the grids.
def odd_count(x):
    f = fork(subtract, compose(size, asindices), rbind(colorcount, 0))
    return extract(x, matcher(f, leastcommon(apply(f, x))))

# Grids side by side.
def side_by_side(x):
    return dmirror(merge(apply(dmirror, x)))

# Grids by how many cells they have, the smallest first.
def by_area(x):
    return order(x, compose(size, asindices))

# Grids by how many cells they show, the fewest first.
def by_shown(x):
    return order(x, fork(subtract, compose(size, asindices), rbind(colorcount, 0)))

# The objects of most cells.
def largest_ones(x):
    return sfilter(x, matcher(size, valmax(x, size)))

# The objects of fewest cells.
def smallest_ones(x):
    return sfilter(x, matcher(size, valmin(x, size)))

# The objects that have fewer cells than the largest one.
def smaller_ones(x):
    return difference(x, largest_ones(x))

# The objects that have more cells than the smallest one.
def larger_ones(x):
    return difference(x, smallest_ones(x))

# The objects that have a cell of a colour.
def with_color(x, c):
    return sfilter(x, compose(positive, rbind(colorcount, c)))

# The objects that have no cell of a colour.
def without_color(x, c):
    return difference(x, with_color(x, c))

# The objects of more than one cell.
def several_celled(x):
    return difference(x, sizefilter(x, 1))

# The objects of more than one colour.
def several_colored(x):
    return sfilter(x, compose(flip, matcher(numcolors, 1)))

# All objects in one colour.
def recolored(x, c):
    return recolor(c, merge(x))

# Smeared down to the right.
def smeared_down_right(g):
    return smeared(g, UNITY)

# Smeared up to the left.
def smeared_up_left(g):
    return smeared(g, NEG_UNITY)

# Smeared up to the right.
def smeared_up_right(g):
    return smeared(g, UP_RIGHT)

# Smeared down to the left.
def smeared_down_left(g):
    return smeared(g, DOWN_LEFT)

# The part of a grid that holds the object.
def crop_object(g, x):
    return subgrid(x, g)

# An object in a separate grid of its size.
def apart(x):
    return paint(canvas(0, shape(x)), normalize(x))

# A grid with a colour emptied.
def without(g, c):
    return replace(g, c, 0)

# A row with a cell for each shown cell, in the most common shown colour.
def cells_counted(g):
    return canvas(mostcolor(shown(g)), astuple(1, size(shown_at(g))))
