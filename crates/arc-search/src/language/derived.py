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

# What is shown of the first over the second, as large as the second.
def overlay(a, b):
    return paint(b, shown(a))

# The first where the second is shown.
def masked(a, b):
    return paint(canvas(0, shape(a)), toobject(shown_at(b), a))

# The first where the second is empty.
def masked_out(a, b):
    return fill(a, 0, shown_at(b))

# What is shown in one of the two but not in both.
def exclusive(a, b):
    return paint(masked_out(a, b), shown(masked_out(b, a)))

# Where both are empty, in this colour.
def neither(a, b, c):
    return fill(canvas(0, shape(a)), c, intersection(ofcolor(a, 0), ofcolor(b, 0)))

# The part that holds all that is shown.
def crop_shown(g):
    return subgrid(shown_at(g), g)

# The part that holds all cells of a colour.
def crop_color(g, c):
    return subgrid(ofcolor(g, c), g)

# The empty cells from each shown cell on in a direction, up to the next shown one, in its colour.
def smeared(g, d):
    s1 = shown(g)
    g1 = paint(paint(g, shift(s1, d)), s1)
    d2 = double(d)
    s2 = shown(g1)
    g2 = paint(paint(g1, shift(s2, d2)), s2)
    d4 = double(d2)
    s4 = shown(g2)
    g4 = paint(paint(g2, shift(s4, d4)), s4)
    d8 = double(d4)
    s8 = shown(g4)
    g8 = paint(paint(g4, shift(s8, d8)), s8)
    s16 = shown(g8)
    return paint(paint(g8, shift(s16, double(d8))), s16)

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
    return paint(hmirror(g), shown(g))

# Each empty cell in the colour that it has with left and right exchanged.
def symmetric_left_right(g):
    return paint(vmirror(g), shown(g))

# Each empty cell in the colour that it has with rows and columns exchanged.
def symmetric_along_diagonal(g):
    return paint(paint(g, shown(dmirror(g))), shown(g))

# Each empty cell in the colour that it has after a half turn.
def symmetric_about_center(g):
    return paint(rot180(g), shown(g))

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

# What is shown, in components by all eight neighbours, of any colours.
def things(g):
    x = colorfilter(objects(silhouette(g, 1), T, T, F), 1)
    return apply(rbind(toobject, g), x)

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
    return subgrid(argmax(things(g), size), g)

# The thing of fewest cells, cut out.
def crop_smallest(g):
    return subgrid(argmin(things(g), size), g)

# A patch of a grid alone, what is around it empty.
def kept(g, x):
    return paint(canvas(0, shape(g)), toobject(x, g))
