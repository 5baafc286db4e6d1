"""Batches for PyTorch, and measurements for a training loop."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mega_batch as mb
from mega_batch import synth

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

import mega_batch.torch  # noqa: E402
from mega_batch.torch import (  # noqa: E402
    SynthDataset,
    TaskDataset,
    best_workers,
    find_max_batch,
    loader,
    memory_report,
)


@pytest.fixture(scope="module")
def tasks() -> list[mb.SynthTask]:
    return list(synth.tasks(count=40, easy_nodes=0))


def rows(batches: Any) -> list[tuple[bytes, ...]]:
    """Each example of some batches, to be compared."""
    found = []
    for batch in batches:
        names = ("inputs", "input_mask", "outputs", "output_mask", "task")
        arrays = [batch[name].numpy() for name in names]
        found += [tuple(array[at].tobytes() for array in arrays) for at in range(len(arrays[0]))]
    return found


def test_an_epoch_has_each_pair_once_as_it_is(tasks: list[mb.SynthTask]) -> None:
    data = TaskDataset(tasks, batch_size=7, symmetries=False, colours=False, fill=11)
    batches: Any = list(data)
    assert len(batches) == len(data) == data.batches == -(-160 // 7) and data.examples == 160
    seen = set()
    for batch in batches:
        size = len(batch["task"])
        for name, kind in [("inputs", torch.uint8), ("input_mask", torch.bool), ("outputs", torch.uint8)]:
            assert batch[name].shape == (size, 30, 30) and batch[name].dtype == kind
        for at in range(size):
            made = tasks[int(batch["task"][at])].task
            pairs = {(p.input.tobytes(), p.output.tobytes()): p for p in made.train + made.test if p.output is not None}
            grids = []
            for name in ("input", "output"):
                mask = batch[f"{name}_mask"][at].numpy()
                square = batch[f"{name}s"][at].numpy()
                height, width = mask.any(1).sum(), mask.any(0).sum()
                assert mask[:height, :width].all() and mask.sum() == height * width
                assert (square[~mask] == 11).all()
                grids.append(square[:height, :width].astype(np.int8))
            pair = pairs[grids[0].tobytes(), grids[1].tobytes()]
            assert pair.input.shape == grids[0].shape
            seen.add((made.id, grids[0].tobytes()))
    assert len(seen) == 160


def test_augmented_pairs_are_those_of_a_symmetry_and_a_permutation(tasks: list[mb.SynthTask]) -> None:
    data: Any = TaskDataset(tasks[:1], batch_size=4, fixed=(0, 3))
    pairs = [(np.asarray(pair.input), np.asarray(pair.output)) for pair in tasks[0].task.train + tasks[0].task.test]
    turns: Any = [lambda g, k=k, t=t: np.rot90(g.T if t else g, k) for k in range(4) for t in (False, True)]
    different = set()
    for epoch in range(20):
        data.set_epoch(epoch)
        for batch in data:
            for at in range(4):
                cut = []
                for name in ("input", "output"):
                    mask = batch[f"{name}_mask"][at].numpy()
                    cut.append(batch[f"{name}s"][at].numpy()[: mask.any(1).sum(), : mask.any(0).sum()])
                assert any(is_of(cut, (turn(a), turn(b))) for a, b in pairs for turn in turns)
                different.add(cut[0].tobytes())
    assert len(different) > 20


def is_of(changed: list[Any], pair: tuple[Any, Any]) -> bool:
    """Whether both grids are those of the pair with colours renamed, 0 and 3 unchanged."""
    if any(a.shape != b.shape for a, b in zip(changed, pair, strict=True)):
        return False
    new = np.concatenate([grid.ravel() for grid in changed])
    old = np.concatenate([grid.ravel() for grid in pair])
    table = dict(zip(old.tolist(), new.tolist(), strict=True))
    one_each = len(set(table.values())) == len(table) and all(table.get(colour, colour) == colour for colour in (0, 3))
    return one_each and [table[colour] for colour in old.tolist()] == new.tolist()


def test_tasks_are_augmented_as_a_whole(tasks: list[mb.SynthTask]) -> None:
    data = TaskDataset(tasks, batch_size=8, unit="task", pairs=4, symmetries=False, fixed=())
    assert data.examples == 40
    for batch in data:
        assert batch["inputs"].shape == (8, 4, 30, 30) and batch["output_mask"].shape == (8, 4, 30, 30)
        for at in range(8):
            made = tasks[int(batch["task"][at])].task
            # One permutation for all pairs, in any order.
            shapes = sorted(pair.input.shape for pair in made.train + made.test)
            masks = batch["input_mask"][at].numpy()
            assert sorted((int(m.any(1).sum()), int(m.any(0).sum())) for m in masks) == shapes
            counts = sorted(np.bincount(batch["inputs"][at].numpy()[masks], minlength=10).tolist())
            plain = np.concatenate([pair.input.ravel() for pair in made.train + made.test])
            assert counts == sorted(np.bincount(plain, minlength=10).tolist())
    in_order = TaskDataset(tasks[:3], batch_size=3, unit="task", pairs=3, shuffle=False, symmetries=False, colours=False, order=False)
    batch = next(iter(in_order))
    for at in range(3):
        made = tasks[at].task
        for place, pair in enumerate([*made.train[:2], made.test[0]]):
            height, width = pair.input.shape
            assert np.array_equal(batch["inputs"][at, place, :height, :width].numpy(), pair.input)


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_give_the_batches_of_one_process_in_their_order(tasks: list[mb.SynthTask], workers: int) -> None:
    data = TaskDataset(tasks, batch_size=9, seed=4)
    alone = rows(data)
    batches = loader(data, workers=workers, prefetch=2)
    assert rows(batches) == alone
    # Persistent workers learn of the epoch.
    data.set_epoch(1)
    second = rows(batches)
    assert second != alone and second == rows(data)
    # From a batch on, as when a training is resumed.
    data.set_epoch(1, start=3)
    assert rows(batches) == second[3 * 9 :]


def test_ranks_share_the_batches_of_the_whole_and_have_as_many(tasks: list[mb.SynthTask]) -> None:
    whole = list(TaskDataset(tasks, batch_size=8))
    ranks = [TaskDataset(tasks, batch_size=8, rank=rank, world=3) for rank in range(3)]
    parts = [list(data) for data in ranks]
    assert [len(part) for part in parts] == [6, 6, 6] and len(whole) == 20
    assert rows(parts[1][2:3]) == rows(whole[7:8])
    mixed = rows(batch for three in zip(*parts, strict=True) for batch in three)
    assert mixed == rows(whole[:18])


def test_the_group_of_torch_distributed_is_taken(tasks: list[mb.SynthTask], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in [("is_available", True), ("is_initialized", True), ("get_rank", 1), ("get_world_size", 2)]:
        monkeypatch.setattr(torch.distributed, name, lambda value=value: value)
    taken = TaskDataset(tasks, batch_size=8)
    assert rows(taken) == rows(TaskDataset(tasks, batch_size=8, rank=1, world=2))


def test_spawned_workers_give_the_same(tasks: list[mb.SynthTask]) -> None:
    data = TaskDataset(tasks, batch_size=16)
    assert rows(loader(data, workers=1, context="spawn", persistent=False)) == rows(data)


def test_made_tasks_come_without_end_and_are_fixed_by_the_seed() -> None:
    def some(count: int, **settings: Any) -> list[tuple[bytes, ...]]:
        data = SynthDataset(batch_size=16, first=8, pool=16, reuse=8, easy_nodes=0, **settings)
        batches = iter(loader(data, workers=0))
        return rows(next(batches) for _ in range(count))

    first = some(5, seed=3)
    assert len(first) == 80 and first == some(5, seed=3) and first != some(5, seed=4)
    assert len({row[0] for row in some(40)}) > 300, "tasks are replaced"
    data = SynthDataset(batch_size=4, unit="task", pairs=3, batches=5, first=4, easy_nodes=0)
    batches = list(loader(data, workers=2))
    assert len(batches) == 5 and batches[0]["inputs"].shape == (4, 3, 30, 30)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 0}, "batch_size: expected 1 or more"),
        ({"unit": "grid"}, 'unit: expected "pair" or "task"'),
        ({"pairs": 0, "unit": "task"}, "pairs: expected 1 or more"),
        ({"pairs": 9, "unit": "task"}, "too few for a batch"),
        ({"fixed": [10]}, "fixed: expected 0 to 9, found 10"),
        ({"fill": 300}, "fill: expected 0 to 255"),
        ({"side": 0}, "side: expected 1 to 1024, found 0"),
        ({"side": -1}, "side: expected 1 to 1024, found -1"),
        ({"rank": 0, "world": 0}, "world: expected 1 or more, found 0"),
        ({"rank": 1}, "rank, world: expected both"),
        ({"rank": 2, "world": 2}, "rank: expected 0 to before 2"),
    ],
)
def test_what_gives_no_batches_says_why(tasks: list[mb.SynthTask], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TaskDataset(tasks, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": "a"}, "batch_size: expected a whole number, found 'a'"),
        ({"batch_size": 2.0}, "batch_size: expected a whole number, found 2.0"),
        ({"pairs": "4"}, "pairs: expected a whole number, found '4'"),
        ({"seed": float("nan")}, "seed: expected a whole number, found nan"),
        ({"fixed": 5}, "fixed: expected colours from 0 to 9, found 5"),
        ({"fixed": "01"}, "fixed: expected a whole number, found '0'"),
        ({"side": "30"}, "side: expected a whole number, found '30'"),
        ({"fill": None}, "fill: expected a whole number, found None"),
        ({"symmetries": "no"}, "symmetries: expected True or False, found 'no'"),
        ({"colours": "0123456789"}, "colours: expected True or False, found '0123456789'"),
        ({"order": [1]}, r"order: expected True or False, found \[1\]"),
        ({"rank": 0, "world": "2"}, "world: expected a whole number, found '2'"),
    ],
)
def test_arguments_of_data_sets_are_told_by_name(
    tasks: list[mb.SynthTask], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        TaskDataset(tasks, **settings)
    with pytest.raises(TypeError, match=message):
        SynthDataset(**settings)


def test_arguments_of_one_of_them_are_told_too(tasks: list[mb.SynthTask]) -> None:
    makes: Any = SynthDataset
    data: Any = TaskDataset(tasks)
    read: Any = TaskDataset
    feeds: Any = loader
    model: Any = torch.nn.Linear(1, 1)
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: read(tasks, shuffle="no"), TypeError, "shuffle: expected True or False, found 'no'"),
        (lambda: read(tasks, drop_last=1), TypeError, "drop_last: expected True or False, found 1"),
        (lambda: read(tasks[0]), TypeError, "tasks: expected tasks, found SynthTask"),
        (lambda: data.set_epoch("1"), TypeError, "epoch: expected a whole number, found '1'"),
        (lambda: data.set_epoch(0, 1.5), TypeError, "start: expected a whole number, found 1.5"),
        (lambda: data.set_epoch(2**63), ValueError, "epoch: expected"),
        (lambda: makes().set_epoch(0.5), TypeError, "epoch: expected a whole number, found 0.5"),
        (lambda: makes(pool=1.5), TypeError, "pool: expected a whole number, found 1.5"),
        (lambda: makes(first=0), ValueError, "first: expected 1 or more, found 0"),
        (lambda: makes(reuse="a"), TypeError, "reuse: expected a number, found 'a'"),
        (lambda: makes(reuse=float("nan")), ValueError, "reuse: expected 1 or more, found nan"),
        (lambda: makes(batches=-1), ValueError, "batches: expected 0 or more, found -1"),
        (lambda: makes(train=-1), ValueError, "train: expected 0 to .*, found -1"),
        (lambda: makes(unit="task", test="1"), TypeError, "test: expected a whole number, found '1'"),
        (lambda: makes(keep_identity="x"), TypeError, "keep_identity: expected True or False, found 'x'"),
        (lambda: feeds(tasks), TypeError, "dataset: expected a TaskDataset or a SynthDataset, found list"),
        (lambda: feeds(data, workers="2"), TypeError, "workers: expected a whole number, found '2'"),
        (lambda: feeds(data, persistent="no"), TypeError, "persistent: expected True or False, found 'no'"),
        (lambda: feeds(data, pin_memory="no"), TypeError, "pin_memory: expected True or False, found 'no'"),
        (lambda: feeds(data, timeout=float("nan")), ValueError, "timeout: expected 0 or more seconds, found nan"),
        (lambda: find_max_batch(model, print, first="a"), TypeError, "first: expected a whole number, found 'a'"),  # type: ignore[arg-type]
        (lambda: find_max_batch(model, print, margin=float("nan")), ValueError, "margin: expected 0 to below 1"),
        (lambda: find_max_batch(model, print, bytes_=0.5), TypeError, "bytes_: expected a whole number"),  # type: ignore[arg-type]
        (lambda: find_max_batch(model, None), TypeError, "step: expected a function"),  # type: ignore[arg-type]
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()
    numbers: Any = {"batch_size": np.int64(4), "seed": np.uint8(3), "fixed": np.array([0]), "shuffle": np.True_}
    assert rows(TaskDataset(tasks, **numbers)) == rows(TaskDataset(tasks, batch_size=4, seed=3))


def test_settings_of_made_tasks_are_checked_where_they_are_given() -> None:
    with pytest.raises(ValueError, match="kinds"):
        SynthDataset(kinds=["clone"])
    with pytest.raises(TypeError, match="count: not to be set"):
        SynthDataset(count=3)
    with pytest.raises(ValueError, match="reuse: expected 1 or more"):
        SynthDataset(reuse=0)


def test_made_tasks_end_where_no_further_ones_are_found() -> None:
    one = "def f(I):\n    return vmirror(I)\n"
    settings: dict[str, Any] = {"kinds": ["program"], "easy_nodes": 0, "batch_size": 16}
    # Each draw of a task uses 1/reuse of it; at least one batch is drawn.
    assert len(list(SynthDataset(one, reuse=64, **settings))) == 4
    assert len(list(loader(SynthDataset(one, reuse=2, **settings), workers=0))) == 1


def test_programs_that_are_given_once_are_kept() -> None:
    settings: dict[str, Any] = {"easy_nodes": 0, "batch_size": 4, "first": 2, "batches": 1}
    programs = [mb.Program.parse(f"def solve_{at}(I):\n    return rot{at}(I)\n") for at in (90, 180)]
    data = SynthDataset(iter(programs), **settings)
    assert rows(data) == rows(SynthDataset(programs, **settings)) == rows(data)


def test_made_tasks_that_cannot_fit_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="pairs: expected 1 to 3, of train=2 and test=1, found 8"):
        SynthDataset(unit="task", pairs=8, train=2, batches=1, easy_nodes=0)
    assert SynthDataset(unit="task", pairs=3, train=2, easy_nodes=0) and SynthDataset(pairs=8, train=2, easy_nodes=0)
    # Hardly any grids of up to 30 rows fit into 1.
    monkeypatch.setattr(mega_batch.torch, "_PATIENCE", 300)
    data = SynthDataset(unit="task", side=1, max_side=30, pairs=4, easy_nodes=0, batches=1)
    with pytest.raises(RuntimeError, match="no task with 4 pairs within 1 rows and columns is made"):
        next(iter(data))


def test_workers_are_measured(tasks: list[mb.SynthTask]) -> None:
    steps: list[int] = []
    data = TaskDataset(tasks, batch_size=32)
    rates = best_workers(data, [0, 1], seconds=0.1, step=lambda batch: steps.append(len(batch["inputs"])))
    assert set(rates.rates) == {0, 1} and rates.best in (0, 1) and len(steps) > 10
    assert all(rate > 0 for rate in rates.rates.values()) and "best: " in str(rates)
    with pytest.raises(ValueError, match="candidates"):
        best_workers(data, [])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"seconds": float("nan")}, ValueError, "seconds: expected a number above 0, found nan"),
        ({"seconds": float("inf")}, ValueError, "seconds: expected a number above 0, found inf"),
        ({"seconds": 0}, ValueError, "seconds: expected a number above 0, found 0"),
        ({"seconds": "2"}, TypeError, "seconds: expected a number, found '2'"),
        ({"candidates": 2}, TypeError, "candidates: expected numbers of workers, found 2"),
        ({"candidates": [0, -1]}, ValueError, "candidates: expected 0 or more, found -1"),
        ({"candidates": "02"}, TypeError, "candidates: expected a whole number, found '0'"),
        ({"step": 3}, TypeError, "step: expected a function of a batch, found int"),
        ({"prefetch": 0}, ValueError, "prefetch: expected 1 or more, found 0"),
        ({"prefetch": 1.5}, TypeError, "prefetch: expected a whole number, found 1.5"),
    ],
)
def test_measuring_ends_or_says_why_not(
    tasks: list[mb.SynthTask], settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    arguments: dict[str, Any] = {"candidates": [0], "seconds": 0.01} | settings
    with pytest.raises(error, match=message):
        best_workers(TaskDataset(tasks), **arguments)


def test_measuring_ends_where_a_data_set_gives_nothing(tasks: list[mb.SynthTask]) -> None:
    data = TaskDataset(tasks, batch_size=32)
    data.set_epoch(0, 10**6)
    for workers in (0, 1):
        with pytest.raises(ValueError, match="dataset: expected batches, found none"):
            best_workers(data, [workers], seconds=0.01)
    with pytest.raises(ValueError, match="dataset: expected batches, found none"):
        best_workers(SynthDataset(batches=0), [0], seconds=0.01)
    # A data set with one batch per epoch is restarted again and again.
    assert best_workers(TaskDataset(tasks, batch_size=10**4), [0], seconds=0.01).best == 0


class Bounded:
    """A step that runs out of memory above a size."""

    def __init__(self, most: int, error: Exception | None = None) -> None:
        self.most, self.error = most, error or torch.OutOfMemoryError("CUDA out of memory.")
        self.sizes: list[int] = []

    def __call__(self, model: Any, size: int) -> None:
        self.sizes.append(size)
        loss = model(torch.rand(2, 3)).sum()
        loss.backward()
        if size > self.most:
            raise self.error


@pytest.mark.parametrize("most", [1, 2, 37, 64, 100, 1000])
def test_the_largest_batch_is_found_whatever_it_is(most: int) -> None:
    model = torch.nn.Linear(3, 2)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    model.eval()
    state = torch.random.get_rng_state()
    step = Bounded(most)
    found = find_max_batch(model, step, most=100)
    assert found.size == min(most, 100) and found.recommended == max(int(found.size * 0.9), 1)
    assert [size for size, *_ in found.tried] == step.sizes and len(step.sizes) < 20
    assert all(is_well == (size <= most) for size, is_well, _ in found.tried)
    assert not model.training and all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def test_other_errors_are_raised_and_those_of_allocators_are_not() -> None:
    model = torch.nn.Linear(3, 2)
    text = "[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"
    assert find_max_batch(model, Bounded(5, RuntimeError(text)), most=64).size == 5
    with pytest.raises(RuntimeError, match="shapes"):
        find_max_batch(model, Bounded(5, RuntimeError("shapes")))
    with pytest.raises(MemoryError, match="a batch of 8 is too large"):
        find_max_batch(model, Bounded(5), first=8)
    with pytest.raises(ValueError, match="first, most"):
        find_max_batch(model, Bounded(5), first=8, most=4)


def test_memory_is_told_by_what_holds_it() -> None:
    model = torch.nn.Linear(100, 50)
    optimiser = torch.optim.AdamW(model.parameters())
    model(torch.rand(2, 100)).sum().backward()
    optimiser.step()
    report = memory_report(model, optimiser)
    assert report.parameters == report.gradients == (100 * 50 + 50) * 4
    assert report.optimiser >= 2 * report.parameters
    assert (report.process > 0 or sys.platform == "win32") and "parameters: " in str(report)


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "mega_batch.torch")
    with pytest.raises(ImportError, match=r"mega-batch\[torch\]"):
        import mega_batch.torch  # noqa: F401


def test_the_example_of_the_page_runs(
    tasks: list[mb.SynthTask], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "training.md").read_text()
    monkeypatch.chdir(tmp_path)
    synth.write_jsonl("tasks.jsonl", tasks * 4)
    names: dict[str, Any] = {}
    exec(page.split("```python\n")[1].split("```")[0], names)
    assert names["epoch"] == 9 and names["batch"]["inputs"].shape == (640 - 512, 30, 30)
    for name in page.split("## Each idea")[1].split("`")[1::2]:
        called = name.split("(")[0]
        if called.isidentifier() and called.islower() and "(" in name and "." not in called:
            assert called in mega_batch.torch.__all__, name
