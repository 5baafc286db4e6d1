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


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLE), *SMALL, *arguments, "--device", "cpu"]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def train(*arguments: str) -> str:
    made = run(*arguments)
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
    assert "a step on cpu: 10 tasks x 1 parts x 1 processes, in bfloat16" in told
    assert told.count("parameters: ") == 1


def test_scaled_gradients_of_float16_train_too() -> None:
    assert re.search(r"step 3, .* loss \d", train("--steps", "3", "--seconds", "1000", "--precision", "float16"))


def test_what_is_computed_again_gives_the_same_parameters(tmp_path: Path) -> None:
    kept, again = tmp_path / "kept.pt", tmp_path / "again.pt"
    common = ["--steps", "3", "--seconds", "1000"]
    train(*common, "--checkpoint", str(kept))
    train(*common, "--checkpoint", str(again), "--gradient-checkpointing")
    one, two = (torch.load(path, weights_only=True)["network"] for path in (kept, again))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_several_processes_come_to_what_as_many_parts_do(tmp_path: Path) -> None:
    # An epoch has six batches, and each step uses two, of one process or of two.
    parts, processes = tmp_path / "parts.pt", tmp_path / "processes.pt"
    common = ["--steps", "5", "--seconds", "1000"]
    train(*common, "--accumulate", "2", "--checkpoint", str(parts))
    told = train(*common, "--processes", "2", "--checkpoint", str(processes))
    assert "10 tasks x 1 parts x 2 processes" in told and told.count("held out, in") == 1, told
    one, two = (torch.load(path, weights_only=True) for path in (parts, processes))
    assert one["step"] == two["step"] == 5
    # Sums of another order: their rounding differs.
    assert all(torch.allclose(one["network"][name], two["network"][name], atol=1e-4) for name in one["network"])


def test_several_processes_end_and_save_together(tmp_path: Path) -> None:
    file = tmp_path / "file.pt"
    common = ["--processes", "2", "--accumulate", "3", "--batch", "auto", "--checkpoint", str(file)]
    train(*common, "--seconds", "2")
    kept = torch.load(file, weights_only=True)
    told = train(*common, "--seconds", "1000", "--steps", str(kept["step"] + 1), "--resume")
    assert f"resumed at step {kept['step']}" in told and f"step {kept['step'] + 1}," in told
    refused = run("--seconds", "2", "--batch", str(kept["batch_size"]), "--checkpoint", str(file), "--resume")
    assert "processes of the checkpoint is 2, found 1" in refused.stderr


def test_memory_is_reported_with_each_line() -> None:
    told = train("--steps", "2", "--seconds", "1000", "--memory")
    assert told.count("parameters: ") == told.count("\nstep ") > 1, told


def test_what_a_cpu_does_not_have_is_told() -> None:
    told = train("--steps", "1", "--seconds", "1000", "--pin-memory", "--cudnn-benchmark")
    assert "without effect on a CPU: --pin-memory, --cudnn-benchmark\n" in told
    assert "without effect" not in train("--steps", "1", "--seconds", "1000", "--no-pin-memory")


def test_less_than_one_process_or_part_is_refused() -> None:
    for option in ("--processes", "--accumulate"):
        assert f"argument {option}: expected 1 or more, found 0" in run(option, "0").stderr


def test_batch_and_workers_are_found() -> None:
    told = train("--steps", "2", "--seconds", "1000", "--batch", "auto", "--workers", "auto")
    assert re.search(r"batches of \d+ have room, \d+ are taken", told) and "best: " in told, told


def test_without_its_checkpoint_it_does_not_resume(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE), *SMALL, "--resume", "--checkpoint", str(tmp_path / "none.pt")]
    made = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert made.returncode == 1 and "there is no checkpoint" in made.stderr
