# What is not 0 in a grid, as an object.
def shown(g):
    return difference(asobject(g), toobject(ofcolor(g, 0), g))
