#!/bin/sh
# Which accelerator `kaggle kernels push` asks for: --accelerator, else `machine_shape` of kernel-metadata.json.
#
# Both become one field of one request, so neither counts more for Kaggle. Notes that only the flag counts are true for
# kaggle up to 1.8.3, which has no flag and does not read the field when it pushes. From 1.8.4 on it does. From 2.2.5 on
# it warns of accelerators that Kaggle replaces, as the P100 by two T4, and sends them nevertheless. No version knows
# which names there are.
#
# Usage: kaggle-machine-shape.sh PYTHON
# The argument is a Python of 3.11 or later. Installs three versions of kaggle from PyPI into a temporary folder, and
# pushes a notebook with each to a server that only keeps the request. Fails if one of them asks for something else.
set -eu
[ $# -eq 1 ] || { sed -n 's/^# Usage: /usage: /p' "$0" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -m venv "$folder/python"
mkdir "$folder/notebook"
echo '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}' > "$folder/notebook/runs.ipynb"
cat > "$folder/push.py" <<'PYTHON'
import contextlib, io, json, os, pathlib, sys
from unittest import mock

folder = pathlib.Path(sys.argv[1])
# Importing the package looks for an account. Nothing is sent.
os.environ.update(KAGGLE_USERNAME="somebody", KAGGLE_KEY="0" * 32, KAGGLE_CONFIG_DIR=str(folder))
from kaggle.api.kaggle_api_extended import KaggleApi


def asked(shape, accelerator):
    """What a push asks for, and what it says."""
    metadata = {
        "id": "somebody/some-runs", "title": "Some runs", "code_file": "runs.ipynb", "language": "python",
        "kernel_type": "notebook", "enable_gpu": True,
    }
    if shape:
        metadata["machine_shape"] = shape
    (folder / "kernel-metadata.json").write_text(json.dumps(metadata))
    api, client = KaggleApi(), mock.MagicMock()
    said = io.StringIO()
    with mock.patch.object(api, "build_kaggle_client", return_value=client), contextlib.redirect_stderr(said):
        try:
            api.kernels_push(str(folder), None, accelerator) if accelerator else api.kernels_push(str(folder))
        except TypeError:
            return "no such flag"
    request = client.__enter__().kernels.kernels_api_client.save_kernel.call_args[0][0]
    return (request.machine_shape or "nothing") + (", warned" if "retired" in said.getvalue() else "")


print("; ".join([
    asked("NvidiaL4", None), asked(None, "NvidiaL4"), asked("NvidiaL4", "NvidiaTeslaT4"),
    asked("NvidiaTeslaP100", None), asked("NoSuchMachine", None),
]))
PYTHON
expect() {
    "$folder/python/bin/pip" install --quiet --disable-pip-version-check "kaggle==$1" kagglesdk==0.1.38
    found=$("$folder/python/bin/python" "$folder/push.py" "$folder/notebook")
    echo "kaggle $1: $found"
    [ "$found" = "$2" ] || { echo "expected $2" >&2; exit 1; }
}
# The field alone; the flag alone; another flag than the field; a retired one; one that there is not.
expect 1.8.3 "nothing; no such flag; no such flag; nothing; nothing"
expect 1.8.4 "NvidiaL4; NvidiaL4; NvidiaTeslaT4; NvidiaTeslaP100; NoSuchMachine"
expect 2.2.5 "NvidiaL4; NvidiaL4; NvidiaTeslaT4; NvidiaTeslaP100, warned; NoSuchMachine"
