# A grid moved by this many rows and columns, with 10 in the cells that nothing moves to.
def from_there(g, d):
    return paint(canvas(10, shape(g)), shift(asobject(g), d))

# The first shown cell in a direction from each cell, or 10 for the border.
def first_seen(g, d):
    return smeared(from_there(g, d), d)

# The number of these locations that are neighbours along rows and columns.
def straight_neighbors(g, x):
    f = fork(astuple, compose(size, compose(lbind(intersection, x), dneighbors)), identity)
    return paint(canvas(0, shape(g)), apply(f, asindices(g)))

# The number of these locations that are neighbours.
def all_neighbors(g, x):
    f = fork(astuple, compose(size, compose(lbind(intersection, x), neighbors)), identity)
    return paint(canvas(0, shape(g)), apply(f, asindices(g)))

# Where these locations are.
def marked(g, x):
    return fill(canvas(0, shape(g)), 1, x)

# Locations of rows that are odd, counted from 0.
def odd_rows(g):
    return marked(g, sfilter(asindices(g), compose(fork(greater, identity, compose(double, halve)), first)))

# Locations of columns that are odd, counted from 0.
def odd_columns(g):
    return marked(g, sfilter(asindices(g), compose(fork(greater, identity, compose(double, halve)), last)))

# The number of these locations in the row, nine at most.
def in_row(g, x):
    n = compose(size, compose(lbind(intersection, x), hfrontier))
    f = compose(minimum, compose(lbind(insert, 9), compose(initset, n)))
    return paint(canvas(0, shape(g)), apply(fork(astuple, f, identity), asindices(g)))

# The number of these locations in the column, nine at most.
def in_column(g, x):
    n = compose(size, compose(lbind(intersection, x), vfrontier))
    f = compose(minimum, compose(lbind(insert, 9), compose(initset, n)))
    return paint(canvas(0, shape(g)), apply(fork(astuple, f, identity), asindices(g)))

# The components of one colour by all eight neighbours, and those of empty cells by four.
def regions(g):
    return combine(pieces(g), gaps(g))

# The components of one colour by four neighbours, empty or not.
def straight_regions(g):
    return objects(g, T, F, F)

# Components painted in the value of a function, nine at most.
def painted_by(g, x, f):
    n = compose(minimum, compose(lbind(insert, 9), compose(initset, f)))
    return paint(canvas(0, shape(g)), mapply(fork(recolor, n, identity), x))

# The number of the four neighbours with the colour of the cell.
def same_neighbors(g):
    own = compose(lbind(ofcolor, g), lbind(index, g))
    f = fork(astuple, compose(size, fork(intersection, dneighbors, own)), identity)
    return paint(canvas(0, shape(g)), apply(f, asindices(g)))

# The number of neighbours with the colour of the cell.
def all_same_neighbors(g):
    own = compose(lbind(ofcolor, g), lbind(index, g))
    f = fork(astuple, compose(size, fork(intersection, neighbors, own)), identity)
    return paint(canvas(0, shape(g)), apply(f, asindices(g)))

# The locations from the cells of an object in a direction, up to the border.
def rays(g, d):
    return compose(lbind(mapply, rbind(shoot, d)), toindices)

# The same, only the empty cells.
def rays_below(g, d):
    return compose(lbind(intersection, ofcolor(g, 0)), compose(lbind(mapply, rbind(shoot, d)), toindices))

# The same up to the next shown cell.
def rays_until(g, d):
    far = lbind(mapply, rbind(shoot, d))
    met = compose(lbind(intersection, shown_at(g)), fork(difference, compose(far, toindices), toindices))
    rays = fork(difference, compose(far, toindices), fork(combine, toindices, compose(far, met)))
    return compose(lbind(intersection, asindices(g)), rays)

# The cells next to an object.
def around_object(f):
    return fork(difference, compose(lbind(mapply, f), toindices), toindices)

# The cells of an object at locations that satisfy this relative to the corner of its box.
def part_of_object(p):
    return fork(shift, compose(rbind(sfilter, p), compose(toindices, normalize)), ulcorner)

# An object moved so that its upper left corner is that of another one.
def at_the_place_of(x):
    return compose(lbind(shift, normalize(x)), ulcorner)

# The empty cells between an object and the next cells in its rows and columns where these have a colour.
def joined_to(g, c):
    up = compose(lbind(intersection, ofcolor(first_seen(g, UP), c)), rays_until(g, DOWN))
    down = compose(lbind(intersection, ofcolor(first_seen(g, DOWN), c)), rays_until(g, UP))
    left = compose(lbind(intersection, ofcolor(first_seen(g, LEFT), c)), rays_until(g, RIGHT))
    right = compose(lbind(intersection, ofcolor(first_seen(g, RIGHT), c)), rays_until(g, LEFT))
    return fork(combine, fork(combine, up, down), fork(combine, left, right))

# The parts of a grid between its full lines, as objects.
def parts_as_objects(g):
    x = objects(marked(g, separators(g)), T, F, F)
    return apply(rbind(toobject, g), colorfilter(x, 0))

# The locations from a cell of an object's box in a direction, up to the next shown cell that is not its own.
def ray_from(g, f, d):
    ray = compose(rbind(shoot, d), f)
    met = compose(lbind(intersection, shown_at(g)), fork(difference, ray, toindices))
    behind = compose(lbind(mapply, rbind(shoot, d)), met)
    return compose(lbind(intersection, asindices(g)), fork(difference, ray, fork(combine, toindices, behind)))

# Such rays up and down from the middle.
def rays_in_column(g):
    return fork(combine, ray_from(g, center, UP), ray_from(g, center, DOWN))

# Such rays left and right from the middle.
def rays_in_row(g):
    return fork(combine, ray_from(g, center, LEFT), ray_from(g, center, RIGHT))

# Such rays from the corner below on the right and the one above on the left.
def rays_falling(g):
    return fork(combine, ray_from(g, lrcorner, UNITY), ray_from(g, ulcorner, NEG_UNITY))

# Such rays from the corner above on the right and the one below on the left.
def rays_rising(g):
    return fork(combine, ray_from(g, urcorner, UP_RIGHT), ray_from(g, llcorner, DOWN_LEFT))

# From the openings in the border of an object's box, out of the box to the border of the grid.
def rays_out(g, d):
    first = fork(difference, compose(rbind(shift, d), delta), backdrop)
    return compose(lbind(intersection, asindices(g)), compose(lbind(mapply, rbind(shoot, d)), first))

# The cells of an object's box outside the object, and rays out of it.
def flood(g):
    out = fork(combine, fork(combine, rays_out(g, UP), rays_out(g, DOWN)), fork(combine, rays_out(g, LEFT), rays_out(g, RIGHT)))
    return fork(combine, delta, out)

# An object moved so that its middle is that of another one.
def around_the_middle_of(x):
    return compose(lbind(shift, x), compose(rbind(subtract, center(x)), center))
