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

# A patch of a grid alone, what is around it empty.
def kept(g, x):
    return paint(canvas(0, shape(g)), toobject(x, g))

# What is added to a grid by another one, in this colour.
def added(g, x, c):
    return fill(g, c, difference(ofcolor(g, 0), ofcolor(x, 0)))

# One row of so many cells of a colour.
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
