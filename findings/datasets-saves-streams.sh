#!/bin/sh
# The `.arrow` files that datasets 4.3.0 writes are Arrow streams, which readers of Arrow files refuse.
#
# Arrow recommends `.arrow` for its IPC file format, which has a footer and is the same as Feather of version 2, and
# `.arrows` for streams. `Dataset.save_to_disk` writes streams as `.arrow`. `open_file` and Feather in pyarrow 21.0.0,
# Feather in pandas 2.3.3 and `read_ipc` in polars 1.34.0 refuse them, with messages about a broken file; `open_stream`
# and `read_ipc_stream` read them.
#
# Usage: datasets-saves-streams.sh PYTHON
# The argument is a Python of 3.11 or later. Installs datasets, pyarrow, pandas and polars from PyPI into a temporary
# folder. Fails if one of them does something else.
set -eu
[ $# -eq 1 ] || { sed -n 's/^# Usage: /usage: /p' "$0" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check \
    datasets==4.3.0 pyarrow==21.0.0 pandas==2.3.3 polars==1.34.0 numpy==2.4.6
cat > "$folder/read.py" <<'PYTHON'
import pathlib, sys

import datasets, pandas as pd, polars as pl, pyarrow.feather, pyarrow.ipc

folder = pathlib.Path(sys.argv[1])
datasets.Dataset.from_dict({"grid": [[[1, 2], [3, 4]]]}).save_to_disk(folder)
(file,) = map(str, folder.glob("*.arrow"))
for name, read in {
    "pyarrow.ipc.open_file": pyarrow.ipc.open_file,
    "pyarrow.feather.read_table": pyarrow.feather.read_table,
    "pandas.read_feather": pd.read_feather,
    "polars.read_ipc": pl.read_ipc,
    "pyarrow.ipc.open_stream": lambda file: pyarrow.ipc.open_stream(file).read_all().to_pylist(),
    "polars.read_ipc_stream": lambda file: pl.read_ipc_stream(file).to_dicts(),
}.items():
    try:
        print(f"{name}: {read(file)}")
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}")
PYTHON
found=$("$folder/python/bin/python" "$folder/read.py" "$folder/saved" 2>/dev/null)
echo "$found"
expected="pyarrow.ipc.open_file: ArrowInvalid: Not an Arrow file
pyarrow.feather.read_table: ArrowInvalid: Not a Feather V1 or Arrow IPC file
pandas.read_feather: ArrowInvalid: Not a Feather V1 or Arrow IPC file
polars.read_ipc: ComputeError: out-of-spec: InvalidFooter
pyarrow.ipc.open_stream: [{'grid': [[1, 2], [3, 4]]}]
polars.read_ipc_stream: [{'grid': [[1, 2], [3, 4]]}]"
[ "$found" = "$expected" ] || { echo "expected $expected" >&2; exit 1; }
