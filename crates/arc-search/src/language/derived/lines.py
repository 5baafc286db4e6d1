# The empty cells of a grid filled from another one moved by this many rows and columns.
def pulled(a, b, d):
    return paint(a, shift(toobject(shift(ofcolor(a, 0), invert(d)), b), d))

# The empty cells from each shown cell in a direction, up to the next shown cell, in its colour.
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

# Rays of a colour from its cells in a direction, over everything.
def rays_over(g, c, d):
    d2 = double(d)
    d4 = double(d2)
    d8 = double(d4)
    g1 = fill(g, c, shift(ofcolor(g, c), d))
    g2 = fill(g1, c, shift(ofcolor(g1, c), d2))
    g4 = fill(g2, c, shift(ofcolor(g2, c), d4))
    g8 = fill(g4, c, shift(ofcolor(g4, c), d8))
    return fill(g8, c, shift(ofcolor(g8, c), double(d8)))

# Rays of a colour from its cells in a direction, under the shown cells.
def rays_under(g, c, d):
    return overlay(g, rays_over(g, c, d))

# Rays of a colour from its cells in a direction, up to the next shown cell.
def rays_up_to(g, c, d):
    return fill(g, c, ofcolor(smeared(g, d), c))

# The empty cells in the rows of the cells of a colour, in that colour.
def rows_of(g, c):
    return fill(g, c, intersection(mapply(hfrontier, ofcolor(g, c)), ofcolor(g, 0)))

# The empty cells in the columns of the cells of a colour, in that colour.
def columns_of(g, c):
    return fill(g, c, intersection(mapply(vfrontier, ofcolor(g, c)), ofcolor(g, 0)))

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
