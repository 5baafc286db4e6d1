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

# A grid with a copy of itself on it, moved by this many rows and columns.
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

# A grid enlarged to the size of another one, as far as that is a multiple.
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

# The cells of a colour filled from the grid moved by this much, repeatedly, up to 15 times.
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

# The cells of a colour filled from the mirror images about axes up to 2 cells off the middle, if the other cells are
# symmetric about such an axis.
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

# The smallest part whose repetition gives the grid.
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
