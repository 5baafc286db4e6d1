"""The training example, on small sizes: it learns, resumes from a checkpoint, and finds its batch size itself."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

EXAMPLE = Path(__file__).parent.parent / "examples" / "train.py"
SMALL = ["--tasks", "60", "--held-out", "30", "--side", "6", "--width", "8", "--batch", "10", "--threads", "1"]


def train(*arguments: str) -> str:
    command = [sys.executable, str(EXAMPLE), *SMALL, *arguments, "--device", "cpu"]
    made = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout


def test_a_training_that_is_resumed_comes_to_what_one_in_a_piece_does(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.pt", tmp_path / "parts.pt"
    # An epoch has three steps: the first run ends within the second one.
    common = ["--accumulate", "2", "--seconds", "1000"]
    train(*common, "--steps", "8", "--checkpoint", str(whole))
    train(*common, "--steps", "5", "--checkpoint", str(parts))
    told = train(*common, "--steps", "8", "--checkpoint", str(parts), "--resume")
    assert "resumed at step 5" in told
    one, two = (torch.load(path, weights_only=True) for path in (whole, parts))
    assert (one["step"], one["epoch"], one["at"]) == (two["step"], two["epoch"], two["at"]) == (8, 2, 4)
    assert all(torch.equal(one["network"][name], two["network"][name]) for name in one["network"])


def test_the_loss_falls_with_mixed_precision() -> None:
    told = train("--steps", "120", "--seconds", "1000", "--tell", "0.5", "--precision", "bfloat16")
    losses = [float(loss) for loss in re.findall(r"loss (\d\S*);", told)]
    assert len(losses) > 1 and losses[-1] < 0.8 * losses[0], told
    assert "parameters: " in told


def test_batch_and_workers_are_found() -> None:
    told = train("--steps", "2", "--seconds", "1000", "--batch", "auto", "--workers", "auto")
    assert re.search(r"batches of \d+ have room, \d+ are taken", told) and "best: " in told, told


def test_without_its_checkpoint_it_does_not_resume(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE), *SMALL, "--resume", "--checkpoint", str(tmp_path / "none.pt")]
    made = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert made.returncode == 1 and "there is no checkpoint" in made.stderr
