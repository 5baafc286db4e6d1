# The built-in programs: one a task, by the kind of operation. What each asks for stands in its
# first line; the table in table.rs says on which grids.

# transform: grids turned, cut, joined and scaled


def solve_mirrorpair(I):
    """Put the grid beside its reflection."""
    x1 = vmirror(I)
    O = hconcat(I, x1)
    return O


def solve_pinwheel(I):
    """Let the grid and its three turns go round a common corner."""
    x1 = rot90(I)
    x2 = rot270(I)
    x3 = rot180(I)
    x4 = hconcat(I, x1)
    x5 = hconcat(x2, x3)
    O = vconcat(x4, x5)
    return O


def solve_swapbands(I):
    """Exchange the upper and the lower half; a row between them goes."""
    x1 = vsplit(I, TWO)
    x2 = first(x1)
    x3 = last(x1)
    O = vconcat(x3, x2)
    return O


def solve_foldthirds(I):
    """Cut into three strips, stand each on its head and stack them."""
    x1 = hsplit(I, THREE)
    x2 = apply(hmirror, x1)
    O = merge(x2)
    return O


def solve_layflat(I):
    """Lay a high grid on its side, stand any other on its head."""
    x1 = portrait(I)
    x2 = branch(x1, rot90, hmirror)
    O = x2(I)
    return O


def solve_peel(I):
    """Take two rings off and show what is left twice as large."""
    x1 = power(trim, TWO)
    x2 = x1(I)
    O = upscale(x2, TWO)
    return O


def solve_turnstack(I):
    """Stack both quarter turns of a square grid."""
    x1 = astuple(rot90, rot270)
    x2 = rapply(x1, I)
    O = merge(x2)
    return O


def solve_richquarter(I):
    """Show the quarter of the grid that has the most colours."""
    x1 = vsplit(I, TWO)
    x2 = rbind(hsplit, TWO)
    x3 = mapply(x2, x1)
    O = argmax(x3, numcolors)
    return O


# colour: cells change their colour, not their place


def solve_fadeout(I):
    """Give the rarest colour's cells to the most common one."""
    x1 = leastcolor(I)
    x2 = mostcolor(I)
    O = replace(I, x1, x2)
    return O


def solve_negative(I):
    """Exchange background and ink where there is one ink."""
    x1 = palette(I)
    x2 = mostcolor(I)
    x3 = other(x1, x2)
    O = switch(I, x2, x3)
    return O


def solve_silhouette(I):
    """Show all that is not background in colour 5."""
    x1 = mostcolor(I)
    x2 = ofcolor(I, x1)
    x3 = asindices(I)
    x4 = difference(x3, x2)
    O = fill(I, FIVE, x4)
    return O


def solve_hueshift(I):
    """Count every colour up by one, 9 becoming 0."""
    x1 = asobject(I)
    x2 = compose(increment, first)
    x3 = fork(astuple, x2, last)
    x4 = apply(x3, x1)
    x5 = paint(I, x4)
    O = replace(x5, TEN, ZERO)
    return O


def solve_huelist(I):
    """List the colours in rows of three, the rarest at the top."""
    x1 = palette(I)
    x2 = lbind(colorcount, I)
    x3 = order(x1, x2)
    x4 = rbind(repeat, THREE)
    O = apply(x4, x3)
    return O


def solve_reversehues(I):
    """Exchange the smallest colour with the largest, the next with the last but one."""
    x1 = palette(I)
    x2 = order(x1, identity)
    x3 = order(x1, invert)
    x4 = lbind(ofcolor, I)
    x5 = apply(x4, x2)
    x6 = mpapply(recolor, x3, x5)
    O = paint(I, x6)
    return O


def solve_rankhues(I):
    """Number the colours from the rarest on and show the numbers as colours."""
    x1 = partition(I)
    x2 = fork(astuple, size, color)
    x3 = order(x1, x2)
    x4 = size(x3)
    x5 = increment(x4)
    x6 = interval(ONE, x5, ONE)
    x7 = mpapply(recolor, x6, x3)
    O = paint(I, x7)
    return O


def solve_cornerframe(I):
    """Frame the grid in the colour of its upper left corner."""
    x1 = index(I, ORIGIN)
    x2 = asindices(I)
    x3 = box(x2)
    O = fill(I, x1, x3)
    return O


# objects: connected cells found, measured, moved and painted


def solve_largest(I):
    """Cut out the largest object."""
    x1 = objects(I, T, T, T)
    x2 = argmax(x1, size)
    O = subgrid(x2, I)
    return O


def solve_sinkone(I):
    """Lower all objects by one row."""
    x1 = objects(I, T, F, T)
    x2 = rbind(shift, DOWN)
    x3 = mapply(x2, x1)
    x4 = merge(x1)
    x5 = cover(I, x4)
    O = paint(x5, x3)
    return O


def solve_halo(I):
    """Draw a line of colour 3 around every object."""
    x1 = objects(I, T, T, T)
    x2 = mapply(outbox, x1)
    O = underfill(I, THREE, x2)
    return O


def solve_plugholes(I):
    """Fill the gaps in the objects' bounding boxes with colour 4."""
    x1 = objects(I, T, F, T)
    x2 = mapply(delta, x1)
    O = fill(I, FOUR, x2)
    return O


def solve_sweepdust(I):
    """Remove the objects of a single cell."""
    x1 = objects(I, T, T, T)
    x2 = sizefilter(x1, ONE)
    x3 = merge(x2)
    O = cover(I, x3)
    return O


def solve_edgecases(I):
    """Colour the objects that touch the edge of the grid with 2."""
    x1 = objects(I, T, T, T)
    x2 = rbind(bordering, I)
    x3 = mfilter(x1, x2)
    O = fill(I, TWO, x3)
    return O


def solve_sticks(I):
    """Colour upright lines 1, flat lines 2 and full squares 3."""
    x1 = objects(I, T, F, T)
    x2 = mfilter(x1, vline)
    x3 = mfilter(x1, hline)
    x4 = mfilter(x1, square)
    x5 = fill(I, ONE, x2)
    x6 = fill(x5, TWO, x3)
    O = fill(x6, THREE, x4)
    return O


def solve_toward(I):
    """From the object of colour 5 draw a line in the direction of that of colour 2."""
    x1 = ofcolor(I, FIVE)
    x2 = ofcolor(I, TWO)
    x3 = position(x1, x2)
    x4 = center(x1)
    x5 = shoot(x4, x3)
    O = underfill(I, THREE, x5)
    return O


def solve_magnet(I):
    """Let everything of colour 2 move to the wall of colour 5."""
    x1 = objects(I, T, T, T)
    x2 = colorfilter(x1, TWO)
    x3 = ofcolor(I, FIVE)
    x4 = rbind(gravitate, x3)
    x5 = fork(shift, identity, x4)
    x6 = mapply(x5, x2)
    x7 = merge(x2)
    x8 = cover(I, x7)
    O = paint(x8, x6)
    return O


def solve_upsidedown(I):
    """Turn every object upside down where it stands."""
    x1 = objects(I, F, T, T)
    x2 = mapply(hmirror, x1)
    x3 = merge(x1)
    x4 = cover(I, x3)
    O = paint(x4, x2)
    return O


# pattern: periods, symmetry, lattices, occurrences, lines and cells by rule


def solve_striplines(I):
    """Take all rows and columns of one colour out."""
    O = compress(I)
    return O


def solve_greylines(I):
    """Colour all rows and columns of one colour with 5."""
    x1 = frontiers(I)
    x2 = merge(x1)
    O = fill(I, FIVE, x2)
    return O


def solve_unittile(I):
    """Show the tile that the pattern is made of."""
    x1 = asobject(I)
    x2 = hperiod(x1)
    x3 = vperiod(x1)
    x4 = astuple(x3, x2)
    O = crop(I, ORIGIN, x4)
    return O


def solve_mendmirror(I):
    """Mend the black damage of a pattern whose halves mirror each other."""
    x1 = vmirror(I)
    x2 = ofcolor(I, ZERO)
    x3 = toobject(x2, x1)
    O = paint(I, x3)
    return O


def solve_mendtiles(I):
    """Mend the black damage of a pattern that repeats every three columns."""
    x1 = ofcolor(I, ZERO)
    x2 = asobject(I)
    x3 = matcher(first, ZERO)
    x4 = compose(flip, x3)
    x5 = sfilter(x2, x4)
    x6 = tojvec(THREE)
    x7 = shift(x5, x6)
    x8 = invert(x6)
    x9 = shift(x5, x8)
    x10 = combine(x7, x9)
    x11 = rbind(contained, x1)
    x12 = compose(x11, last)
    x13 = sfilter(x10, x12)
    O = paint(I, x13)
    return O


def solve_likecorner(I):
    """Mark wherever the two by two cells of the corner come back."""
    x1 = crop(I, ORIGIN, TWO_BY_TWO)
    x2 = asobject(x1)
    x3 = occurrences(I, x2)
    O = fill(I, FIVE, x3)
    return O


def solve_crosshairs(I):
    """Draw the row and the column of every cell of colour 2."""
    x1 = ofcolor(I, TWO)
    x2 = fork(combine, vfrontier, hfrontier)
    x3 = mapply(x2, x1)
    O = underfill(I, FOUR, x3)
    return O


def solve_crossings(I):
    """Mark where the rows of colour 1 cross the columns of colour 2."""
    x1 = ofcolor(I, ONE)
    x2 = apply(first, x1)
    x3 = ofcolor(I, TWO)
    x4 = apply(last, x3)
    x5 = product(x2, x4)
    O = fill(I, THREE, x5)
    return O


def solve_bothhalves(I):
    """Show the cells that both halves beside the line have, and what the left one has alone."""
    x1 = lefthalf(I)
    x2 = righthalf(I)
    x3 = ofcolor(x1, ONE)
    x4 = ofcolor(x2, TWO)
    x5 = intersection(x3, x4)
    x6 = difference(x3, x4)
    x7 = shape(x1)
    x8 = canvas(ZERO, x7)
    x9 = fill(x8, ONE, x6)
    O = fill(x9, THREE, x5)
    return O


def solve_starburst(I):
    """Let four diagonal rays go out from every cell of colour 2."""
    x1 = ineighbors(ORIGIN)
    x2 = lbind(lbind, shoot)
    x3 = rbind(mapply, x1)
    x4 = compose(x3, x2)
    x5 = ofcolor(I, TWO)
    x6 = mapply(x4, x5)
    O = underfill(I, SEVEN, x6)
    return O


def solve_checkers(I):
    """Black out every second cell, as on a chessboard."""
    x1 = asindices(I)
    x2 = fork(add, first, last)
    x3 = compose(even, x2)
    x4 = sfilter(x1, x3)
    O = fill(I, ZERO, x4)
    return O


def solve_newlines(I):
    """Leave out the rows and columns that stood there before."""
    x1 = dedupe(I)
    x2 = dmirror(x1)
    x3 = dedupe(x2)
    O = dmirror(x3)
    return O


# pipeline: grid to grid to grid, without a function value


def solve_tenturns(I):
    """Ten turns, reflections and changes of colour in a row."""
    x1 = rot90(I)
    x2 = hmirror(x1)
    x3 = switch(x2, ONE, TWO)
    x4 = dmirror(x3)
    x5 = replace(x4, THREE, FOUR)
    x6 = vmirror(x5)
    x7 = rot180(x6)
    x8 = cmirror(x7)
    x9 = switch(x8, FIVE, SIX)
    O = rot270(x9)
    return O


def solve_fourfold(I):
    """Make the upper left quarter symmetric both ways."""
    x1 = lefthalf(I)
    x2 = tophalf(x1)
    x3 = vmirror(x2)
    x4 = hconcat(x2, x3)
    x5 = hmirror(x4)
    O = vconcat(x4, x5)
    return O


def solve_coarsen(I):
    """Black out the cells that differ from the corner of their two by two block."""
    x1 = downscale(I, TWO)
    x2 = upscale(x1, TWO)
    O = cellwise(I, x2, ZERO)
    return O


def solve_repaint(I):
    """Move every colour from 1 to 8 on to the next, the last one first."""
    x1 = replace(I, EIGHT, NINE)
    x2 = replace(x1, SEVEN, EIGHT)
    x3 = replace(x2, SIX, SEVEN)
    x4 = replace(x3, FIVE, SIX)
    x5 = replace(x4, FOUR, FIVE)
    x6 = replace(x5, THREE, FOUR)
    x7 = replace(x6, TWO, THREE)
    O = replace(x7, ONE, TWO)
    return O


def solve_trimquilt(I):
    """Trim, mirror four ways, recolour and thin out again."""
    x1 = trim(I)
    x2 = vmirror(x1)
    x3 = hconcat(x1, x2)
    x4 = hmirror(x3)
    x5 = vconcat(x3, x4)
    x6 = switch(x5, ZERO, THREE)
    x7 = downscale(x6, TWO)
    x8 = rot90(x7)
    x9 = replace(x8, ONE, EIGHT)
    O = vupscale(x9, TWO)
    return O


def solve_cleanlines(I):
    """Take the lines of the lattice out, mirror and enlarge what is left."""
    x1 = compress(I)
    x2 = cmirror(x1)
    x3 = switch(x2, ONE, THREE)
    x4 = hupscale(x3, TWO)
    O = vupscale(x4, TWO)
    return O


def solve_windowpane(I):
    """Lay the upper over the lower half, both ways, and put the results together."""
    x1 = tophalf(I)
    x2 = bottomhalf(I)
    x3 = hmirror(x2)
    x4 = cellwise(x1, x2, ZERO)
    x5 = cellwise(x1, x3, ZERO)
    x6 = vconcat(x4, x5)
    x7 = switch(x6, ZERO, FOUR)
    x8 = rot270(x7)
    x9 = hmirror(x8)
    x10 = replace(x9, TWO, SIX)
    x11 = dmirror(x10)
    O = rot180(x11)
    return O


# whole: programs as solvers write them, with function values and loops


def solve_linkdots(I):
    """Join the cells of each colour that share a row, a column or a diagonal."""
    x1 = fgpartition(I)
    x2 = lbind(prapply, connect)
    x3 = fork(x2, toindices, toindices)
    x4 = compose(merge, x3)
    x5 = mapply(x4, x1)
    O = underfill(I, EIGHT, x5)
    return O


def solve_births(I):
    """Colour the empty cells that have three neighbours of colour 1."""
    x1 = asindices(I)
    x2 = rbind(toobject, I)
    x3 = rbind(colorcount, ONE)
    x4 = chain(x3, x2, neighbors)
    x5 = matcher(x4, THREE)
    x6 = sfilter(x1, x5)
    x7 = ofcolor(I, ZERO)
    x8 = intersection(x6, x7)
    O = fill(I, TWO, x8)
    return O


def solve_cores(I):
    """Colour the cells of 1 that are surrounded on four sides by their like."""
    x1 = ofcolor(I, ONE)
    x2 = rbind(difference, x1)
    x3 = chain(size, x2, dneighbors)
    x4 = matcher(x3, ZERO)
    x5 = sfilter(x1, x4)
    O = fill(I, FOUR, x5)
    return O


def solve_baseline(I):
    """Underline every object."""
    x1 = objects(I, T, T, T)
    x2 = fork(connect, llcorner, lrcorner)
    x3 = rbind(shift, DOWN)
    x4 = compose(x3, x2)
    x5 = mapply(x4, x1)
    O = underfill(I, FIVE, x5)
    return O


def solve_sizeclasses(I):
    """Colour the largest objects 1, the smallest 2 and the others 3."""
    x1 = objects(I, T, F, T)
    x2 = valmax(x1, size)
    x3 = valmin(x1, size)
    x4 = sizefilter(x1, x2)
    x5 = sizefilter(x1, x3)
    x6 = merge(x1)
    x7 = merge(x4)
    x8 = merge(x5)
    x9 = fill(I, THREE, x6)
    x10 = fill(x9, TWO, x8)
    O = fill(x10, ONE, x7)
    return O


def solve_oddeven(I):
    """Colour the objects with an even number of cells 8, the others 1."""
    x1 = objects(I, T, F, T)
    x2 = compose(even, size)
    x3 = sfilter(x1, x2)
    x4 = difference(x1, x3)
    x5 = merge(x3)
    x6 = merge(x4)
    x7 = fill(I, EIGHT, x5)
    O = fill(x7, ONE, x6)
    return O


def solve_nearest(I):
    """Give the objects nearest to the one of colour 2 its colour."""
    x1 = objects(I, T, T, T)
    x2 = ofcolor(I, TWO)
    x3 = matcher(color, TWO)
    x4 = compose(flip, x3)
    x5 = sfilter(x1, x4)
    x6 = rbind(manhattan, x2)
    x7 = valmin(x5, x6)
    x8 = matcher(x6, x7)
    x9 = mfilter(x5, x8)
    O = fill(I, TWO, x9)
    return O


def solve_neighbourhood(I):
    """Keep objects that share a row or a column with the one of colour 2, mark those that do both."""
    x1 = ofcolor(I, TWO)
    x2 = objects(I, T, T, T)
    x3 = lbind(hmatching, x1)
    x4 = lbind(vmatching, x1)
    x5 = fork(both, x3, x4)
    x6 = fork(either, x3, x4)
    x7 = compose(flip, x6)
    x8 = mfilter(x2, x7)
    x9 = cover(I, x8)
    x10 = mfilter(x2, x5)
    O = fill(x9, THREE, x10)
    return O


def solve_cornerposts(I):
    """Give the four corners of every object four colours."""
    x1 = objects(I, T, F, T)
    x2 = apply(ulcorner, x1)
    x3 = apply(urcorner, x1)
    x4 = apply(llcorner, x1)
    x5 = apply(lrcorner, x1)
    x6 = fill(I, ONE, x2)
    x7 = fill(x6, TWO, x3)
    x8 = fill(x7, THREE, x4)
    O = fill(x8, FOUR, x5)
    return O


def solve_hollowout(I):
    """Empty the objects that are more than two cells wide and high."""
    x1 = objects(I, T, F, T)
    x2 = rbind(greater, TWO)
    x3 = chain(x2, minimum, shape)
    x4 = sfilter(x1, x3)
    x5 = fork(difference, backdrop, box)
    x6 = mapply(x5, x4)
    x7 = mostcolor(I)
    O = fill(I, x7, x6)
    return O


def solve_frieze(I):
    """Repeat the object to the right until the edge, with a gap of one column."""
    x1 = objects(I, F, T, T)
    x2 = first(x1)
    x3 = width(x2)
    x4 = increment(x3)
    x5 = width(I)
    x6 = interval(ZERO, x5, x4)
    x7 = apply(tojvec, x6)
    x8 = lbind(shift, x2)
    x9 = mapply(x8, x7)
    O = paint(I, x9)
    return O


def solve_tower(I):
    """Stack copies of the object's reflection above it up to the edge."""
    x1 = objects(I, F, T, T)
    x2 = merge(x1)
    x3 = hmirror(x2)
    x4 = height(x2)
    x5 = height(I)
    x6 = invert(x5)
    x7 = invert(x4)
    x8 = interval(x7, x6, x7)
    x9 = apply(toivec, x8)
    x10 = lbind(shift, x3)
    x11 = mapply(x10, x9)
    O = paint(I, x11)
    return O


def solve_raycast(I):
    """Let high objects shoot up and the others to the right."""
    x1 = objects(I, T, T, T)
    x2 = rbind(branch, RIGHT)
    x3 = rbind(x2, UP)
    x4 = compose(x3, portrait)
    x5 = fork(shoot, center, x4)
    x6 = mapply(x5, x1)
    O = underfill(I, FOUR, x6)
    return O


def solve_roads(I):
    """Lay a road along the row and the column of each object's centre of mass."""
    x1 = objects(I, T, T, T)
    x2 = astuple(vfrontier, hfrontier)
    x3 = lbind(rapply, x2)
    x4 = chain(merge, x3, centerofmass)
    x5 = mapply(x4, x1)
    O = underfill(I, SIX, x5)
    return O


def solve_spotted(I):
    """Keep only the objects that have a cell of colour 2."""
    x1 = objects(I, F, T, T)
    x2 = lbind(contained, TWO)
    x3 = compose(x2, palette)
    x4 = sfilter(x1, x3)
    x5 = difference(x1, x4)
    x6 = merge(x5)
    O = cover(I, x6)
    return O


def solve_tallest(I):
    """Show the tallest object, twice as large, on black."""
    x1 = objects(I, T, T, T)
    x2 = fork(astuple, height, size)
    x3 = argmax(x1, x2)
    x4 = normalize(x3)
    x5 = upscale(x4, TWO)
    x6 = shape(x5)
    x7 = canvas(ZERO, x6)
    O = paint(x7, x5)
    return O


def solve_oddoneout(I):
    """Cut out the only object whose form no other has."""
    x1 = objects(I, T, T, T)
    x2 = compose(toindices, normalize)
    x3 = totuple(x1)
    x4 = apply(x2, x3)
    x5 = leastcommon(x4)
    x6 = matcher(x2, x5)
    x7 = extract(x1, x6)
    O = subgrid(x7, I)
    return O


def solve_twins(I):
    """Colour the objects of the most common form 2 and link their middles."""
    x1 = objects(I, T, T, T)
    x2 = compose(toindices, normalize)
    x3 = totuple(x1)
    x4 = apply(x2, x3)
    x5 = mostcommon(x4)
    x6 = matcher(x2, x5)
    x7 = sfilter(x1, x6)
    x8 = merge(x7)
    x9 = fill(I, TWO, x8)
    x10 = apply(center, x7)
    x11 = prapply(connect, x10, x10)
    x12 = merge(x11)
    O = underfill(x9, THREE, x12)
    return O


def solve_approach(I):
    """Move the object of colour 2 two steps towards that of colour 5."""
    x1 = ofcolor(I, TWO)
    x2 = ofcolor(I, FIVE)
    x3 = center(x1)
    x4 = center(x2)
    x5 = subtract(x4, x3)
    x6 = sign(x5)
    x7 = crement(x6)
    x8 = recolor(TWO, x1)
    O = move(I, x8, x7)
    return O


def solve_objectbars(I):
    """Answer with a bar for each colour, as long as it has objects."""
    x1 = objects(I, T, T, T)
    x2 = apply(color, x1)
    x3 = order(x2, identity)
    x4 = lbind(colorfilter, x1)
    x5 = compose(size, x4)
    x6 = valmax(x3, x5)
    x7 = fork(repeat, identity, x5)
    x8 = lbind(subtract, x6)
    x9 = compose(x8, x5)
    x10 = lbind(repeat, ZERO)
    x11 = compose(x10, x9)
    x12 = fork(combine, x7, x11)
    O = apply(x12, x3)
    return O


def solve_swaprings(I):
    """Give the rings their colours in the opposite order."""
    x1 = partition(I)
    x2 = order(x1, height)
    x3 = apply(color, x2)
    x4 = compose(invert, height)
    x5 = order(x1, x4)
    x6 = papply(recolor, x3, x5)
    x7 = merge(x6)
    O = paint(I, x7)
    return O


def solve_butterfly(I):
    """Complete the drawing so that it mirrors itself both ways."""
    x1 = mostcolor(I)
    x2 = matcher(first, x1)
    x3 = compose(flip, x2)
    x4 = rbind(sfilter, x3)
    x5 = chain(x4, asobject, vmirror)
    x6 = x5(I)
    x7 = underpaint(I, x6)
    x8 = chain(x4, asobject, hmirror)
    x9 = x8(x7)
    O = underpaint(x7, x9)
    return O


def solve_lasers(I):
    """From cells at the left, right and upper edge draw beams across, in the cells' colours."""
    x1 = objects(I, T, F, T)
    x2 = sizefilter(x1, ONE)
    x3 = width(I)
    x4 = decrement(x3)
    x5 = matcher(leftmost, ZERO)
    x6 = matcher(rightmost, x4)
    x7 = matcher(uppermost, ZERO)
    x8 = sfilter(x2, x5)
    x9 = sfilter(x2, x6)
    x10 = sfilter(x2, x7)
    x11 = rbind(shoot, RIGHT)
    x12 = compose(x11, center)
    x13 = rbind(shoot, LEFT)
    x14 = compose(x13, center)
    x15 = rbind(shoot, DOWN)
    x16 = compose(x15, center)
    x17 = fork(recolor, color, x12)
    x18 = fork(recolor, color, x14)
    x19 = fork(recolor, color, x16)
    x20 = mapply(x19, x10)
    x21 = underpaint(I, x20)
    x22 = mapply(x17, x8)
    x23 = underpaint(x21, x22)
    x24 = mapply(x18, x9)
    O = underpaint(x23, x24)
    return O


def solve_wallpaper(I):
    """Rebuild the pattern from its tile, every second tile mirrored."""
    x1 = asobject(I)
    x2 = hperiod(x1)
    x3 = vperiod(x1)
    x4 = astuple(x3, x2)
    x5 = crop(I, ORIGIN, x4)
    x6 = vmirror(x5)
    x7 = hconcat(x5, x6)
    x8 = hmirror(x7)
    x9 = vconcat(x7, x8)
    x10 = width(I)
    x11 = divide(x10, x2)
    x12 = halve(x11)
    x13 = increment(x12)
    x14 = repeat(x9, x13)
    x15 = apply(dmirror, x14)
    x16 = merge(x15)
    x17 = dmirror(x16)
    x18 = height(I)
    x19 = divide(x18, x3)
    x20 = halve(x19)
    x21 = increment(x20)
    x22 = repeat(x17, x21)
    x23 = merge(x22)
    x24 = shape(I)
    O = crop(x23, ORIGIN, x24)
    return O


def solve_stairs(I):
    """From the lowest object lead stairs up to the right, two steps for every object."""
    x1 = objects(I, T, T, T)
    x2 = size(x1)
    x3 = fork(astuple, lowermost, size)
    x4 = order(x1, x3)
    x5 = last(x4)
    x6 = color(x5)
    x7 = urcorner(x5)
    x8 = double(x2)
    x9 = interval(ZERO, x8, ONE)
    x10 = rbind(multiply, UP_RIGHT)
    x11 = apply(x10, x9)
    x12 = lbind(add, x7)
    x13 = apply(x12, x11)
    x14 = mapply(dneighbors, x13)
    x15 = combine(x13, x14)
    x16 = dedupe(x15)
    O = underfill(I, x6, x16)
    return O


def solve_shadows(I):
    """Let every object throw a shadow of colour 5, the longer the larger it is."""
    x1 = objects(I, T, T, T)
    x2 = lbind(interval, ONE)
    x3 = rbind(x2, ONE)
    x4 = rbind(multiply, UNITY)
    x5 = lbind(apply, x4)
    x6 = chain(increment, halve, size)
    x7 = compose(increment, x6)
    x8 = chain(x5, x3, x7)
    x9 = lbind(lbind, shift)
    x10 = compose(x9, toindices)
    x11 = fork(mapply, x10, x8)
    x12 = mapply(x11, x1)
    O = underfill(I, FIVE, x12)
    return O


def solve_gardens(I):
    """Plant the inner rings of the fields: colour 3 in wide fields, colour 6 in high ones."""
    x1 = objects(I, T, F, T)
    x2 = rbind(greater, TWO)
    x3 = chain(x2, minimum, shape)
    x4 = sfilter(x1, x3)
    x5 = sfilter(x4, portrait)
    x6 = difference(x4, x5)
    x7 = mapply(inbox, x5)
    x8 = mapply(inbox, x6)
    x9 = fill(I, SIX, x7)
    x10 = fill(x9, THREE, x8)
    x11 = sfilter(x4, square)
    x12 = apply(center, x11)
    x13 = compose(neighbors, center)
    x14 = mapply(x13, x11)
    x15 = fill(x10, ONE, x14)
    O = fill(x15, EIGHT, x12)
    return O


def solve_sightings(I):
    """Find the form of the object of colour 2 in other colours and box every find."""
    x1 = objects(I, T, T, T)
    x2 = matcher(color, TWO)
    x3 = extract(x1, x2)
    x4 = palette(I)
    x5 = mostcolor(I)
    x6 = remove(x5, x4)
    x7 = rbind(recolor, x3)
    x8 = apply(x7, x6)
    x9 = lbind(occurrences, I)
    x10 = mapply(x9, x8)
    x11 = normalize(x3)
    x12 = lbind(shift, x11)
    x13 = compose(outbox, x12)
    x14 = mapply(x13, x10)
    x15 = underfill(I, FIVE, x14)
    x16 = outbox(x3)
    x17 = intersection(x14, x16)
    O = fill(x15, EIGHT, x17)
    return O


def solve_measure(I):
    """Show height, width and number of colours of the widest object as three bars."""
    x1 = objects(I, F, T, T)
    x2 = fork(astuple, width, size)
    x3 = argmax(x1, x2)
    x4 = height(x3)
    x5 = width(x3)
    x6 = numcolors(x3)
    x7 = initset(x6)
    x8 = insert(x4, x7)
    x9 = insert(x5, x8)
    x10 = maximum(x9)
    x11 = repeat(ONE, x4)
    x12 = repeat(TWO, x5)
    x13 = repeat(THREE, x6)
    x14 = lbind(subtract, x10)
    x15 = lbind(repeat, ZERO)
    x16 = chain(x15, x14, size)
    x17 = fork(combine, identity, x16)
    x18 = repeat(x11, ONE)
    x19 = repeat(x12, ONE)
    x20 = repeat(x13, ONE)
    x21 = combine(x18, x19)
    x22 = combine(x21, x20)
    O = apply(x17, x22)
    return O


def solve_fencing(I):
    """Join facing objects of one colour by fences of colour 4, upright ones over flat ones."""
    x1 = objects(I, T, F, T)
    x2 = apply(center, x1)
    x3 = fork(equality, first, last)
    x4 = compose(flip, x3)
    x5 = product(x2, x2)
    x6 = sfilter(x5, x4)
    x7 = compose(first, first)
    x8 = compose(first, last)
    x9 = fork(equality, x7, x8)
    x10 = compose(last, first)
    x11 = compose(last, last)
    x12 = fork(equality, x10, x11)
    x13 = fork(connect, first, last)
    x14 = sfilter(x6, x9)
    x15 = sfilter(x6, x12)
    x16 = mapply(x13, x14)
    x17 = mapply(x13, x15)
    x18 = underfill(I, THREE, x16)
    x19 = combine(x17, x2)
    x20 = difference(x19, x2)
    O = fill(x18, FOUR, x20)
    return O


def solve_handshakes(I):
    """Link the largest object with the smallest, the next two likewise, by angled lines."""
    x1 = objects(I, T, T, T)
    x2 = order(x1, size)
    x3 = compose(invert, size)
    x4 = order(x1, x3)
    x5 = apply(center, x2)
    x6 = apply(center, x4)
    x7 = pair(x5, x6)
    x8 = compose(first, first)
    x9 = compose(last, last)
    x10 = fork(astuple, x8, x9)
    x11 = fork(connect, first, x10)
    x12 = fork(connect, x10, last)
    x13 = fork(combine, x11, x12)
    x14 = mapply(x13, x7)
    x15 = size(x1)
    x16 = even(x15)
    x17 = branch(x16, EIGHT, SIX)
    x18 = underfill(I, x17, x14)
    x19 = argmin(x1, size)
    x20 = outbox(x19)
    O = underfill(x18, THREE, x20)
    return O


def solve_rooms(I):
    """Paint each room of the lattice in its rarest colour and mark where lines cross."""
    x1 = frontiers(I)
    x2 = merge(x1)
    x3 = toindices(x2)
    x4 = sfilter(x1, hline)
    x5 = sfilter(x1, vline)
    x6 = prapply(intersection, x4, x5)
    x7 = merge(x6)
    x8 = asindices(I)
    x9 = difference(x8, x3)
    x10 = shape(I)
    x11 = canvas(ZERO, x10)
    x12 = fill(x11, ONE, x9)
    x13 = objects(x12, T, F, F)
    x14 = colorfilter(x13, ONE)
    x15 = rbind(toobject, I)
    x16 = compose(leastcolor, x15)
    x17 = fork(recolor, x16, identity)
    x18 = mapply(x17, x14)
    x19 = paint(I, x18)
    x20 = fill(x19, EIGHT, x7)
    x21 = sizefilter(x14, ONE)
    x22 = merge(x21)
    O = fill(x20, NINE, x22)
    return O


def solve_freefall(I):
    """Let what has colour 2 fall as one until it meets colour 5 or the ground."""
    x1 = ofcolor(I, TWO)
    x2 = ofcolor(I, FIVE)
    x3 = asindices(I)
    x4 = difference(x3, x2)
    x5 = rbind(shift, DOWN)
    x6 = rbind(difference, x4)
    x7 = chain(size, x6, x5)
    x8 = matcher(x7, ZERO)
    x9 = rbind(branch, identity)
    x10 = rbind(x9, x5)
    x11 = chain(initset, x10, x8)
    x12 = fork(rapply, x11, identity)
    x13 = compose(first, x12)
    x14 = height(I)
    x15 = power(x13, x14)
    x16 = x15(x1)
    x17 = cover(I, x1)
    O = fill(x17, TWO, x16)
    return O


def solve_sheet(I):
    """Set the objects side by side from small to large, each in a field of its own."""
    x1 = objects(I, T, T, T)
    x2 = order(x1, size)
    x3 = valmax(x1, height)
    x4 = valmax(x1, width)
    x5 = astuple(x3, x4)
    x6 = increment(x5)
    x7 = canvas(ZERO, x6)
    x8 = lbind(paint, x7)
    x9 = compose(x8, normalize)
    x10 = apply(x9, x2)
    x11 = apply(dmirror, x10)
    x12 = merge(x11)
    x13 = dmirror(x12)
    x14 = width(x13)
    x15 = decrement(x14)
    x16 = astuple(x3, x15)
    O = crop(x13, ORIGIN, x16)
    return O


def solve_beacon(I):
    """Send the colours at the emblem's corners out along the diagonals and box the emblem."""
    x1 = objects(I, F, T, T)
    x2 = argmax(x1, size)
    x3 = ulcorner(x2)
    x4 = urcorner(x2)
    x5 = llcorner(x2)
    x6 = lrcorner(x2)
    x7 = index(I, x3)
    x8 = index(I, x4)
    x9 = index(I, x5)
    x10 = index(I, x6)
    x11 = shoot(x3, NEG_UNITY)
    x12 = shoot(x4, UP_RIGHT)
    x13 = shoot(x5, DOWN_LEFT)
    x14 = shoot(x6, UNITY)
    x15 = recolor(x7, x11)
    x16 = recolor(x8, x12)
    x17 = recolor(x9, x13)
    x18 = recolor(x10, x14)
    x19 = combine(x15, x16)
    x20 = combine(x17, x18)
    x21 = underpaint(I, x19)
    x22 = underpaint(x21, x20)
    x23 = leastcolor(x2)
    x24 = outbox(x2)
    x25 = underfill(x22, x23, x24)
    x26 = remove(x2, x1)
    x27 = merge(x26)
    O = cover(x25, x27)
    return O


def solve_duel(I):
    """Of the objects of colours 2 and 5 the larger takes the other over, reaches for it and is fenced."""
    x1 = ofcolor(I, TWO)
    x2 = ofcolor(I, FIVE)
    x3 = size(x1)
    x4 = size(x2)
    x5 = greater(x3, x4)
    x6 = branch(x5, x1, x2)
    x7 = branch(x5, x2, x1)
    x8 = branch(x5, TWO, FIVE)
    x9 = center(x6)
    x10 = position(x6, x7)
    x11 = shoot(x9, x10)
    x12 = backdrop(x6)
    x13 = manhattan(x1, x2)
    x14 = greater(x13, THREE)
    x15 = branch(x14, x11, x12)
    x16 = underfill(I, x8, x15)
    x17 = fill(x16, x8, x7)
    x18 = hmatching(x1, x2)
    x19 = vmatching(x1, x2)
    x20 = either(x18, x19)
    x21 = flip(x20)
    x22 = branch(x21, neighbors, dneighbors)
    x23 = mapply(x22, x7)
    x24 = underfill(x17, THREE, x23)
    x25 = portrait(x6)
    x26 = branch(x25, leftmost, uppermost)
    x27 = x26(x6)
    x28 = branch(x25, tojvec, toivec)
    x29 = x28(x27)
    x30 = branch(x25, vfrontier, hfrontier)
    x31 = x30(x29)
    O = underfill(x24, EIGHT, x31)
    return O


def solve_garrison(I):
    """Arm the objects: those beside the largest, at the edge, alone in their colour or doubled."""
    x1 = objects(I, T, T, T)
    x2 = argmax(x1, size)
    x3 = remove(x2, x1)
    x4 = rbind(bordering, I)
    x5 = sfilter(x3, x4)
    x6 = difference(x3, x5)
    x7 = lbind(colorfilter, x1)
    x8 = chain(size, x7, color)
    x9 = matcher(x8, ONE)
    x10 = sfilter(x6, x9)
    x11 = difference(x6, x10)
    x12 = compose(corners, outbox)
    x13 = mapply(x12, x5)
    x14 = mapply(outbox, x10)
    x15 = compose(dneighbors, center)
    x16 = mapply(x15, x11)
    x17 = fork(connect, ulcorner, lrcorner)
    x18 = mapply(x17, x11)
    x19 = underfill(I, FOUR, x14)
    x20 = underfill(x19, TWO, x13)
    x21 = underfill(x20, SEVEN, x16)
    x22 = underfill(x21, ONE, x18)
    x23 = outbox(x2)
    x24 = rbind(adjacent, x23)
    x25 = mfilter(x3, x24)
    x26 = fill(x22, NINE, x25)
    O = underfill(x26, THREE, x23)
    return O


def solve_mosaic(I):
    """Order the quarters by how common their colours are and lay them out anew, with seams."""
    x1 = tophalf(I)
    x2 = bottomhalf(I)
    x3 = lefthalf(x1)
    x4 = righthalf(x1)
    x5 = lefthalf(x2)
    x6 = righthalf(x2)
    x7 = mostcolor(I)
    x8 = leastcolor(I)
    x9 = rbind(colorcount, x7)
    x10 = astuple(x3, x4)
    x11 = astuple(x5, x6)
    x12 = combine(x10, x11)
    x13 = order(x12, x9)
    x14 = first(x13)
    x15 = last(x13)
    x16 = remove(x14, x13)
    x17 = size(x16)
    x18 = positive(x17)
    x19 = branch(x18, x16, x13)
    x20 = first(x19)
    x21 = cellwise(x14, x15, x8)
    x22 = equality(x14, x15)
    x23 = branch(x22, hmirror, rot180)
    x24 = x23(x20)
    x25 = shape(x14)
    x26 = canvas(x7, x25)
    x27 = asindices(x26)
    x28 = fork(equality, first, last)
    x29 = sfilter(x27, x28)
    x30 = fill(x26, x8, x29)
    x31 = astuple(x14, x21)
    x32 = astuple(x24, x30)
    x33 = apply(dmirror, x31)
    x34 = merge(x33)
    x35 = dmirror(x34)
    x36 = apply(dmirror, x32)
    x37 = merge(x36)
    x38 = dmirror(x37)
    O = vconcat(x35, x38)
    return O


def solve_cityplan(I):
    """Plan a town around its largest object: roads, paths, yards, walls and trees."""
    x1 = objects(I, T, T, T)
    x2 = argmax(x1, size)
    x3 = argmin(x1, size)
    x4 = color(x2)
    x5 = color(x3)
    x6 = backdrop(x2)
    x7 = outbox(x2)
    x8 = center(x2)
    x9 = hfrontier(x8)
    x10 = vfrontier(x8)
    x11 = combine(x9, x10)
    x12 = underfill(I, FIVE, x11)
    x13 = astuple(ulcorner, lrcorner)
    x14 = rapply(x13, x3)
    x15 = first(x14)
    x16 = last(x14)
    x17 = shoot(x15, NEG_UNITY)
    x18 = shoot(x16, UNITY)
    x19 = combine(x17, x18)
    x20 = underfill(x12, SIX, x19)
    x21 = urcorner(x3)
    x22 = llcorner(x3)
    x23 = shoot(x21, UP_RIGHT)
    x24 = shoot(x22, DOWN_LEFT)
    x25 = combine(x23, x24)
    x26 = underfill(x20, SEVEN, x25)
    x27 = remove(x2, x1)
    x28 = remove(x3, x27)
    x29 = mapply(delta, x28)
    x30 = fill(x26, x5, x29)
    x31 = rbind(manhattan, x2)
    x32 = compose(even, x31)
    x33 = mfilter(x28, x32)
    x34 = fill(x30, EIGHT, x33)
    x35 = lbind(position, x2)
    x36 = fork(shoot, center, x35)
    x37 = mapply(x36, x28)
    x38 = underfill(x34, FOUR, x37)
    x39 = fill(x38, x4, x6)
    x40 = underfill(x39, THREE, x7)
    x41 = asindices(I)
    x42 = corners(x41)
    x43 = mapply(neighbors, x42)
    x44 = combine(x42, x43)
    x45 = underfill(x40, TWO, x44)
    x46 = ofcolor(x45, ZERO)
    x47 = rbind(toobject, x45)
    x48 = chain(numcolors, x47, dneighbors)
    x49 = matcher(x48, ONE)
    x50 = sfilter(x46, x49)
    x51 = fork(add, first, last)
    x52 = compose(even, x51)
    x53 = compose(even, first)
    x54 = fork(both, x52, x53)
    x55 = sfilter(x50, x54)
    O = fill(x45, NINE, x55)
    return O
