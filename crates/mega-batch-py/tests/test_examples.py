"""The examples, on small sizes: each works and prints how fast it was; the training is in `test_train.py`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

JOBS: list[tuple[list[str], list[str]]] = [
    (["self_consistency.py", "--tasks", "4", "--samples", "30"], [r"4 tasks of 30 completions: .* by votes \d+%", r"120 completions judged in .* a second of processors"]),
    (["reward.py", "--completions", "20", "--rounds", "1"], [r"1\.00  match .*rot180", r"0\.00  no_program  None", r"200 completions, 20 different ones at the limit: .* ms", r"20 copies of one at the limit"]),
    (["make_tasks.py", "--count", "10", "--easy-nodes", "30"], [r"10 tasks made, 10 written", r"tasks an hour"]),
    (["genetic_search.py", "--generations", "20"], [r"generation \d+: best 1\.000", r"on the test pair too: match", r"evaluations in .* a second of processors"]),
    (["trainer_loop.py", "--seconds", "0.1"], [r"evaluations a second"]),
]
if sys.platform == "linux":
    expected = [r"20 programs of four pairs: .* ms each", r"2 endless ones: ", r"200 texts, a hundredth in free Python"]
    JOBS.append((["free_python.py", "--programs", "20", "--rounds", "1"], expected))


@pytest.mark.parametrize(("command", "expected"), JOBS, ids=lambda value: str(value[0]))
def test_an_example_does_its_job_and_says_how_fast(command: list[str], expected: list[str], tmp_path: Path) -> None:
    script, *arguments = command
    made = subprocess.run(
        [sys.executable, str(EXAMPLES / script), *arguments], capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path
    )
    assert made.returncode == 0, made.stdout + made.stderr
    for pattern in expected:
        assert re.search(pattern, made.stdout), made.stdout
    assert not list(tmp_path.iterdir())
