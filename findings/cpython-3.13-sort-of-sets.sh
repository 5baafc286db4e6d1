#!/bin/sh
# CPython 3.13 sorts keys that are sets otherwise than CPython 3.8 to 3.12.
#
# Sets compare as subsets, so most have no order, and what `sorted` makes of them depends on which pairs it compares.
# That has changed in 3.13, also for lists of three keys and for `reverse=True`. A program of the DSL whose `order`,
# or `sorted`, has objects or other sets as keys gives another output there.
#
# Usage: cpython-3.13-sort-of-sets.sh PYTHON3.13 PYTHON...
# The first argument is a CPython from 3.13 on, the others are CPythons up to 3.12. Fails if one of them answers otherwise.
set -eu
[ $# -ge 2 ] || { sed -n 's/^# Usage: /usage: /p' "$0" >&2; exit 2; }
expect() {
    version=$("$1" -c 'import platform; print(platform.python_implementation(), platform.python_version())')
    found=$("$1" -c 'print(*map(sorted, sorted([frozenset({3}), frozenset({1}), frozenset({1, 2, 4})], reverse=True)))')
    echo "$version: $found"
    [ "$found" = "$2" ] || { echo "expected $2" >&2; exit 1; }
}
expect "$1" "[1, 2, 4] [3] [1]"
shift
for python in "$@"; do
    expect "$python" "[3] [1, 2, 4] [1]"
done
