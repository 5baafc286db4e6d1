"""The package's types under pyright's strictest rules; `cargo xtask wheel --check` runs mypy."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mega_batch as mb

USER = """
import numpy as np
import mega_batch as mb

task = mb.Task("a", [([[1, 2]], [[2, 1]])], [([[3, 4]], None)])
report = mb.run("O = vmirror(I)", task, jobs="all", outputs=True)
verdict: str = report[0].verdict
verdicts: np.ndarray[tuple[int, ...], np.dtype[np.uint8]] = report.results.verdicts
scores: list[float] = mb.reward(["O = I"], task)
states: list[str] = [found.state for found in mb.search([task], nodes=10)]
attempts = mb.majority_attempts(mb.evaluate(["O = I"], task, outputs=True))
first: np.ndarray[tuple[int, ...], np.dtype[np.int8]] = attempts[0][0]
"""


def test_pyright_has_no_complaint_about_the_stubs_and_who_uses_them(tmp_path: Path) -> None:
    pytest.importorskip("pyright", reason="pyright is not installed")
    (tmp_path / "user.py").write_text(USER)
    # The installed package is checked as far as it is used, a copy completely.
    shutil.copytree(Path(mb.__file__).parent, tmp_path / "mega_batch")
    include = ["user.py", "mega_batch/_engine.pyi", "mega_batch/typing.py"]
    settings = {"typeCheckingMode": "strict", "include": include}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(tmp_path)]
    made = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if made.stdout.strip() == "":
        pytest.skip("pyright cannot be run: it gets Node.js from the network where that is not installed")
    told = json.loads(made.stdout)
    errors = [of for of in told["generalDiagnostics"] if of["severity"] == "error"]
    assert not errors, errors
    assert told["summary"]["filesAnalyzed"] >= 3
