#!/bin/sh
# A grid that pandas 2.3.3 writes to Parquet and reads again is an array of arrays, which NumPy does not take for a grid.
#
# A column of grids as lists of lists is written as nested lists. It comes back as one-dimensional arrays of objects, one
# for each grid, with an array for each row: `np.array(grid)` has the shape (2,) instead of (2, 2), no type makes integers
# of it, and `json.dumps(grid.tolist())` refuses it. A column of grids as arrays of two dimensions cannot be written at
# all, neither by pandas nor by polars 1.34.0, whose message is about the type of elements. datasets 4.3.0 takes these.
#
# Usage: pandas-grids-in-parquet.sh PYTHON
# The argument is a Python of 3.11 or later. Installs pandas, pyarrow, polars and datasets from PyPI into a temporary
# folder. Fails if one of them does something else.
set -eu
[ $# -eq 1 ] || { sed -n 's/^# Usage: /usage: /p' "$0" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check \
    pandas==2.3.3 pyarrow==21.0.0 polars==1.34.0 datasets==4.3.0 numpy==2.4.6
cat > "$folder/grids.py" <<'PYTHON'
import io, json

import datasets, numpy as np, pandas as pd, polars as pl


def said(work):
    try:
        return str(work())
    except Exception as error:
        return f"{type(error).__name__}: {error.args[0]}"


grid = [[1, 2], [3, 4]]
file = io.BytesIO()
pd.DataFrame({"grid": [grid]}).to_parquet(file)
back = pd.read_parquet(file).grid[0]
print("back:", back.dtype, np.array(back).shape, type(back[0]).__name__)
print("as integers:", said(lambda: np.asarray(back, dtype=int)))
print("as JSON:", said(lambda: json.dumps(back.tolist())))
arrays = {"grid": [np.array(grid), np.array([[1, 2, 3]])]}
print("pandas:", said(lambda: pd.DataFrame(arrays).to_parquet(io.BytesIO())))
print("polars:", said(lambda: pl.DataFrame(arrays)))
print("datasets:", said(lambda: datasets.Dataset.from_dict(arrays)[0]["grid"]))
PYTHON
found=$("$folder/python/bin/python" "$folder/grids.py" 2>/dev/null)
echo "$found"
expected="back: object (2,) ndarray
as integers: ValueError: setting an array element with a sequence.
as JSON: TypeError: Object of type ndarray is not JSON serializable
pandas: ArrowInvalid: Can only convert 1-dimensional array values
polars: ValueError: cannot parse numpy data type dtype('O') into Polars data type
datasets: [[1, 2], [3, 4]]"
[ "$found" = "$expected" ] || { echo "expected $expected" >&2; exit 1; }
