# The cells of a grid that are not 0, as an object.
def shown(g):
    return difference(asobject(g), toobject(ofcolor(g, 0), g))

# The locations of a grid that are not 0.
def shown_at(g):
    return difference(asindices(g), ofcolor(g, 0))

# All shown cells in one colour.
def silhouette(g, c):
    return fill(g, c, shown_at(g))

# Only one colour.
def only(g, c):
    return fill(g, 0, difference(asindices(g), ofcolor(g, c)))

# The empty cells in the most common shown colour, and the shown cells empty.
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

# The cells shown in exactly one of the two.
def exclusive(a, b):
    return paint(masked_out(a, b), toobject(ofcolor(a, 0), b))

# The cells that are empty in both, in this colour.
def neither(a, b, c):
    return fill(canvas(0, shape(a)), c, intersection(ofcolor(a, 0), ofcolor(b, 0)))

# The part with all shown cells.
def crop_shown(g):
    return subgrid(shown_at(g), g)

# The part with all cells of a colour.
def crop_color(g, c):
    return subgrid(ofcolor(g, c), g)

# Only a patch of a grid, the rest empty.
def kept(g, x):
    return paint(canvas(0, shape(g)), toobject(x, g))

# The cells that another grid adds to a grid, in this colour.
def added(g, x, c):
    return fill(g, c, difference(ofcolor(g, 0), ofcolor(x, 0)))

# One row of this many cells of a colour.
def bar(n, c):
    return canvas(c, astuple(1, n))

# One cell of the most common shown colour.
def main_color(g):
    return canvas(mostcolor(shown(g)), UNITY)

# One cell of the least common shown colour.
def rare_color(g):
    return canvas(leastcolor(shown(g)), UNITY)

# The cells of a colour counted, as a row of that colour.
def color_counted(g, c):
    return bar(size(ofcolor(g, c)), c)

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

# Only the most common shown colour.
def main_alone(g):
    return only(g, mostcolor(shown(g)))

# Only the least common shown colour.
def rare_alone(g):
    return only(g, leastcolor(shown(g)))

# The outermost rows and columns in this colour.
def framed(g, c):
    return fill(g, c, box(asindices(g)))

# A grid with a frame of this colour around it.
def surrounded(g, c):
    return paint(canvas(c, add(shape(g), 2)), shift(asobject(g), UNITY))

# A grid enlarged by the number of its shown colours.
def enlarged_by_colors(g):
    return upscale(g, size(remove(0, palette(g))))
