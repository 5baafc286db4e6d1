#!/bin/sh
# CPython 3.8 and CPython 3.9 or later iterate in different orders over the set that a display of constants makes.
#
# CPython 3.8 adds the elements in the order of the text. Since 3.9 the compiler makes one constant of three or more
# literals, a frozen set, and the display is filled from that. The order of a set depends on how it was built, so it
# changes if elements fall on the same slots of the table. Moreover, equal constants of a module are one: the second of
# two displays of the same elements has the order of the first one, in whatever function that is.
#
# Usage: cpython-3.8-set-displays.sh PYTHON3.8 PYTHON...
# The first argument is a CPython 3.8, the others are CPythons from 3.9 on. Fails if one of them answers otherwise.
set -eu
[ $# -ge 2 ] || { sed -n 's/^# Usage: /usage: /p' "$0" >&2; exit 2; }
expect() {
    version=$("$1" -c 'import platform; print(platform.python_implementation(), platform.python_version())')
    alone=$("$1" -c 'print(list({48, 0, 16, 2, 32}))')
    both=$("$1" -c 'print(list({32, 2, 16, 0, 48}), list({48, 0, 16, 2, 32}))')
    echo "$version: $alone; $both"
    [ "$alone; $both" = "$2" ] || { echo "expected $2" >&2; exit 1; }
}
expect "$1" "[0, 32, 2, 48, 16]; [32, 0, 2, 16, 48] [0, 32, 2, 48, 16]"
shift
for python in "$@"; do
    expect "$python" "[0, 32, 2, 48, 16]; [32, 0, 2, 48, 16] [32, 0, 2, 48, 16]"
done
