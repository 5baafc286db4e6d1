# What Python's functions give, as functions of the DSL.


def len(x):
    return size(x)


def iter(x):
    return x


def times(t, n):
    return merge(repeat(t, n))


def abs(x):
    return branch(greater(0, x), invert(x), add(0, x))


def min(a, b):
    return branch(greater(a, b), b, a)


def max(a, b):
    return branch(greater(b, a), b, a)


# As many elements as the sum of those above zero, without as many as the sum of those below.
def sum(t):
    above = lbind(repeat, 0)
    below = compose(above, invert)
    return subtract(size(merge(apply(above, t))), size(merge(apply(below, t))))


def modulo(a, b):
    return subtract(a, multiply(b, divide(a, b)))


# The last pair stops at an element that is none.
def any(t, c, f):
    pairs = combine(pair(repeat(True, size(t)), t), initset((False, 0)))
    is_found = lambda x: f(x) if c(x) else False
    return first(extract(pairs, lambda p: is_found(last(p)) if first(p) else True))


def all(t, c, f):
    return flip(any(t, c, compose(flip, f)))


def enumerate(t, start):
    return pair(interval(start, add(start, size(t)), 1), t)


def any_of(t):
    return any(t, lambda x: True, identity)


def all_of(t):
    return all(t, lambda x: True, identity)


def next(t, c, f):
    return f(extract(t, c))


# The last pair stops at the default.
def next_or(t, c, f, default):
    pairs = combine(pair(repeat(True, size(t)), t), repeat(astuple(False, default), 1))
    found = extract(pairs, lambda p: c(last(p)) if first(p) else True)
    return f(last(found)) if first(found) else last(found)


# The set to which the elements are added one after the other.
def frozenset_of(t):
    return merge(initset(t))


# Before the elements with their places stand the same with those counted from the end.
def element(t, place):
    n = size(t)
    pairs = pair(interval(invert(n), n, 1), combine(t, t))
    return last(extract(pairs, matcher(first, place)))


def slice(t, start, stop):
    n = size(t)
    begin = branch(greater(0, start), add(n, start), start)
    end = branch(greater(0, stop), add(n, stop), stop)
    pairs = pair(interval(0, n, 1), t)
    is_within = fork(both, compose(lbind(greater, end), first), compose(flip, compose(lbind(greater, begin), first)))
    return apply(last, sfilter(pairs, is_within))


# Places are counted from the end of the tuple backwards.
def slice_back(t, start, stop):
    return slice(hmirror(t), subtract(-1, start), subtract(-1, stop))


def every(t, step):
    pairs = pair(interval(0, size(t), 1), t)
    return apply(last, sfilter(pairs, lambda p: modulo(first(p), step) == 0))
