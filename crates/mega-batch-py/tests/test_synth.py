"""Generated tasks: generated, dropped, augmented, written and read."""

from __future__ import annotations

import json
import pickle
import signal
import sys
import threading
import _thread
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mega_batch as mb
from mega_batch import synth


def gives(made: mb.SynthTask) -> bool:
    """Whether the program computes all outputs of its task."""
    program = made.program
    assert program is not None
    pairs = made.task.train + made.task.test
    return all(np.array_equal(np.asarray(program(pair.input)), np.asarray(pair.output)) for pair in pairs)


def some(count: int = 12, **settings: Any) -> list[mb.SynthTask]:
    return list(synth.tasks(count=count, **({"easy_nodes": 0} | settings)))


def test_tasks_are_what_their_programs_give_and_are_solved_by_them() -> None:
    made = some(20, train=2, test=2)
    assert len(made) == 20 and all(gives(each) for each in made)
    assert {(len(each.task.train), len(each.task.test)) for each in made} == {(2, 2)}
    assert len({each.behaviour for each in made}) == 20
    programs = [each.program for each in made if each.program is not None]
    report = mb.run(programs, [each.task for each in made], jobs="own")
    assert report.tasks_solved == 20
    assert all(each.kind != "program" and each.parents for each in made)


def test_a_seed_fixes_the_tasks_for_any_number_of_workers() -> None:
    one = some(seed=5, workers=1, easy_nodes=30)
    assert one == some(seed=5, workers=3, easy_nodes=30)
    assert one[:4] == some(4, seed=5, easy_nodes=30)
    assert one != some(seed=6, easy_nodes=30)


def test_counts_say_what_was_dropped_and_why() -> None:
    text = "def f(I):\n    return rot90(I)\n\ndef g(I):\n    return I\n"
    made = synth.tasks(text, count=100, kinds=["program"])
    assert len(list(made)) <= 1
    counts = made.counts
    dropped = sum(count for name, count in counts.items() if name not in ("candidates", "made"))
    assert counts["candidates"] == counts["made"] + dropped
    assert counts["unchanged"] > 1000 and counts["duplicate"] + counts["easy"] > 1000
    kept = synth.tasks("def f(I):\n    return identity(I)\n", count=5, kinds=["program"], keep_identity=True,
                       keep_duplicates=True, easy_nodes=0)
    assert len(list(kept)) == 5 and kept.counts["identity"] == 0


def test_own_programs_and_the_inputs_of_own_tasks_are_used() -> None:
    task = {"train": [{"input": [[at, 1, 2], [0, 3, at]], "output": [[1]]} for at in range(6)], "test": []}
    text = "def solve_mine(I):\n    x1 = hconcat(I, I)\n    x2 = vconcat(x1, I)\n    return x1\n"
    made = some(3, programs=text, tasks={"mine": task}, inputs="tasks", kinds=["program"], keep_duplicates=True)
    assert len(made) == 3 and all(each.parents == ["solve_mine"] for each in made)
    shapes = {pair.input.shape for each in made for pair in each.task.train}
    assert shapes <= {(2, 3), (3, 2)}
    assert all("vconcat" not in str(each.program) for each in made), "unused steps are taken out"


def test_shards_make_the_tasks_of_the_whole() -> None:
    whole = some(30, keep_duplicates=True)
    parts = some(30, keep_duplicates=True, shard=(0, 2)) + some(30, keep_duplicates=True, shard=(1, 2))
    parts.sort(key=lambda made: made.candidate or 0)
    assert parts[:30] == whole


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kinds": []}, "kinds: expected one or more"),
        ({"kinds": ["clone"]}, 'kinds: expected a list of .*, found "clone"'),
        ({"inputs": "tasks"}, 'inputs: "tasks" needs tasks'),
        ({"inputs": "none"}, 'inputs: expected "both"'),
        ({"train": 0}, "train, test: expected 1 to 1000 pairs"),
        ({"shard": (3, 3)}, "shard: expected a part from 0 to before 3, found 3"),
        ({"max_side": 0}, "max_side: expected 1 or more"),
        ({"workers": 0}, "workers: expected 1 to 1024, found 0"),
        ({"count": None, "progress": print}, "progress: expected a count"),
        ({"programs": "def f(I):\n    return nothing(I)"}, "nothing"),
    ],
)
def test_what_makes_no_tasks_says_why(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        synth.tasks(**({"count": 3} | settings))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"count": -1}, ValueError, "count: expected 0 or more, found -1"),
        ({"count": "3"}, TypeError, "count: expected an integer, found str"),
        ({"seed": float("nan")}, TypeError, "seed: expected an integer, found float"),
        ({"seed": 2**64}, ValueError, "seed: expected 0 to 18446744073709551615, found 18446744073709551616"),
        ({"train": -1}, ValueError, "train: expected 0 or more, found -1"),
        ({"test": 1.5}, TypeError, "test: expected an integer, found float"),
        ({"scene_side": -1}, ValueError, "scene_side: expected 0 or more, found -1"),
        ({"max_side": -1}, ValueError, "max_side: expected 0 or more, found -1"),
        ({"easy_nodes": "a"}, TypeError, "easy_nodes: expected an integer, found str"),
        ({"max_steps": None}, TypeError, "max_steps: expected an integer, found NoneType"),
        ({"keep_identity": "x"}, TypeError, "keep_identity: expected True or False, found str"),
        ({"keep_duplicates": 1}, TypeError, "keep_duplicates: expected True or False, found int"),
        ({"inputs": 3}, TypeError, "inputs: expected a string, found int"),
        ({"kinds": "mutant"}, TypeError, "kinds: expected a list of .*, found str"),
        ({"shard": 5}, TypeError, "shard: expected a tuple of two numbers, found int"),
        ({"shard": (0, 1, 2)}, TypeError, "shard: expected a tuple of two numbers, found tuple"),
        ({"shard": (-1, 2)}, ValueError, r"shard\[0\]: expected 0 or more, found -1"),
        ({"workers": "2"}, TypeError, "workers: expected an integer, found str"),
    ],
)
def test_arguments_are_told_by_name(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        synth.tasks(**settings)


def test_numbers_of_numpy_are_taken() -> None:
    made = some(2, seed=np.uint8(3), easy_nodes=np.int64(0), keep_identity=np.True_, shard=[0, 1], max_side=np.int32(9))
    assert made == some(2, seed=3, keep_identity=True, max_side=9)


def test_progress_is_told_and_its_exceptions_end_it() -> None:
    told: list[tuple[int, int]] = []
    list(synth.tasks(count=5, easy_nodes=0, progress=lambda done, total: told.append((done, total))))
    assert told[-1] == (5, 5)

    def angry(done: int, total: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(synth.tasks(count=5, easy_nodes=0, progress=angry))


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another thread")
def test_ctrl_c_is_heard() -> None:
    made = synth.tasks("def f(I):\n    return rot90(I)\n", kinds=["program"])
    next(made, None)
    endless = synth.tasks(count=10**9, easy_nodes=2000)
    # The signal may be ignored if the tests run in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.3, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            for _ in endless:
                pass
    finally:
        signal.signal(signal.SIGINT, before)
    assert next(endless).program is not None


def test_tasks_are_pickled_compared_and_shown() -> None:
    made = some(1)[0]
    again = pickle.loads(pickle.dumps(made))
    assert again == made and hash(again) == hash(made) and again.candidate == made.candidate
    assert made.id in repr(made) and "<table>" in made._repr_html_()


# Augmentation.


def test_augmented_programs_give_the_augmented_outputs() -> None:
    for each in some(10):
        changed = synth.augment(each, 3, count=4, fixed=())
        assert len(changed) == 4 and all(gives(one) for one in changed)
        assert len({one.id for one in changed} | {each.id}) == 5
        assert all(one.augmented_from == each.id for one in changed)
        assert changed == synth.augment(each, 3, count=4, fixed=())
        assert changed != synth.augment(each, 4, count=4, fixed=())


def test_each_symmetry_colours_and_order_do_what_they_say() -> None:
    program = mb.Program.parse("def solve_a(I):\n    return lefthalf(I)\n")
    pairs = [([[at, 2], [3, 4]], [[at], [3]]) for at in range(3)]
    made = mb.SynthTask(mb.Task("a", pairs[:2], pairs[2:]), program)
    grid = np.array(pairs[0][0])
    laid = {
        "identity": grid, "rot90": np.rot90(grid, -1), "rot180": np.rot90(grid, 2), "rot270": np.rot90(grid),
        "hmirror": grid[::-1], "vmirror": grid[:, ::-1], "dmirror": grid.T, "cmirror": np.rot90(grid, 2).T,
    }
    for symmetry, expected in laid.items():
        changed = made.augmented(symmetry=symmetry)
        assert np.array_equal(changed.task.train[0].input, expected), symmetry
        assert gives(changed)
    colours = [0, 2, 3, 1, 4, 5, 6, 7, 9, 8]
    changed = made.augmented(colours=colours)
    assert np.array_equal(changed.task.train[0].input, np.array(colours)[grid]) and gives(changed)
    changed = made.augmented(order=[2, 0, 1])
    assert np.array_equal(changed.task.train[0].input, np.array(pairs[2][0]))
    assert np.array_equal(changed.task.test[0].input, np.array(pairs[1][0]))
    plain = mb.SynthTask(made.task).augmented(symmetry="rot90")
    assert plain.program is None and plain.augmented_from == "a"


def test_pairs_without_an_output_stay_in_test() -> None:
    """As in test-time augmentation: pairs whose output is unknown are useless for training."""
    known = [([[at, 1, 2]], [[2, 1, at]]) for at in range(3, 6)]
    unknown: list[Any] = [([[at, 1, 2]],) for at in range(6, 9)]
    program = mb.Program.parse("def solve_a(I):\n    return vmirror(I)\n")
    for train, test in [(known[:1], unknown[:1]), (known[:2], [unknown[0], known[2], unknown[1]]), (known, unknown)]:
        made = mb.SynthTask(mb.Task("a", train, test, [("more", known)]), program, parents=["b"], candidate=4)
        changed = synth.augment(made, 0, count=20)
        assert len(changed) == 20 and changed[:5] == synth.augment(made, 0, count=5)
        for each in changed:
            assert all(pair.output is not None for pair in each.task.train)
            assert (len(each.task.train), len(each.task.test)) == (len(train), len(test))
            assert sum(pair.output is None for pair in each.task.test) == sum(len(pair) == 1 for pair in test)
            assert (each.augmented_from, each.parents, each.candidate) == ("a", ["b"], 4)
            assert len(each.task.others[0][1]) == 3 and each.program is not None and each.program.name == f"solve_{each.id}"
    # If more train pairs are unknown than there are others, at least one is known.
    odd = mb.SynthTask(mb.Task("a", [known[0], unknown[0]], unknown[1:]))
    assert all(each.task.train[0].output is not None for each in synth.augment(odd, 0, count=20))
    # Without another order pairs stay where they are; without known outputs there is nothing to preserve.
    asked = mb.SynthTask(mb.Task("a", [unknown[0], known[0]], known[1:]))
    assert all(each.task.train[0].output is None for each in synth.augment(asked, 0, count=9, order=False))
    none = mb.SynthTask(mb.Task("a", unknown[:1], unknown[1:]))
    assert len(synth.augment(none, 0, count=3)) == 3


def test_an_order_moves_no_pair_without_an_output_into_train() -> None:
    known = [([[at, 1, 2]], [[2, 1, at]]) for at in range(3, 6)]
    unknown: list[Any] = [([[6, 1, 2]],), ([[7, 1, 2]],)]
    made = mb.SynthTask(mb.Task("a", known[:2], [unknown[0], known[2], unknown[1]]))
    for order in ([2, 0, 1, 3, 4], [0, 4, 1, 2, 3]):
        message = f"order: the output of pair {max(order[:2])} is not known: expected it behind the 2 train pairs"
        with pytest.raises(ValueError, match=message):
            made.augmented(order=order)
    assert made.augmented(order=[3, 0, 2, 4, 1]).task.train[0] == made.task.test[1]
    # An existing one may stay.
    odd = mb.SynthTask(mb.Task("a", [unknown[0], known[0]], known[1:]))
    assert odd.augmented(order=[1, 0, 3, 2]).task.train[1].output is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"symmetry": "rot45"}, 'symmetry: expected one of .*, found "rot45"'),
        ({"colours": [0] * 10}, "colours: expected each of 0 to 9 exactly once"),
        ({"colours": [0, 1]}, "colours: expected 10 of them, found 2"),
        ({"order": [0, 0, 1, 2]}, "order: expected each of 0 to 3 exactly once"),
        ({"order": [0]}, "order: expected the places of the 4 pairs, found 1"),
    ],
)
def test_augmentations_that_are_none_say_why(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        some(1)[0].augmented(**change)
    with pytest.raises(ValueError, match="fixed: expected 0 to 9, found 12"):
        synth.augment(some(1)[0], 0, fixed=[12])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"count": -1}, ValueError, "count: expected 0 or more, found -1"),
        ({"count": 1.5}, TypeError, "count: expected a whole number, found 1.5"),
        ({"seed": -1}, ValueError, r"seed: expected 0 to 2\*\*64 - 1, found -1"),
        ({"seed": 2**64}, ValueError, r"seed: expected 0 to 2\*\*64 - 1, found 18446744073709551616"),
        ({"seed": float("nan")}, TypeError, "seed: expected a whole number, found nan"),
        ({"fixed": 5}, TypeError, "fixed: expected colours from 0 to 9, found 5"),
        ({"fixed": "01"}, TypeError, "fixed: expected a whole number, found '0'"),
        ({"colours": "0123456789"}, TypeError, "colours: expected True or False, found '0123456789'"),
        ({"symmetries": 1}, TypeError, "symmetries: expected True or False, found 1"),
        ({"order": [0]}, TypeError, r"order: expected True or False, found \[0\]"),
    ],
)
def test_arguments_of_augmentations_are_told_by_name(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    arguments: dict[str, Any] = {"seed": 0} | settings
    made = some(1)[0]
    assert synth.augment(made, 0, count=0) == []
    with pytest.raises(error, match=message):
        synth.augment(made, **arguments)
    # Raised before the first task is asked for.
    with pytest.raises(error, match=message):
        synth.augmented([made], **arguments)
    wrongs: list[tuple[Any, str]] = [(made.task, "Task"), (None, "NoneType")]
    for wrong, found in wrongs:
        with pytest.raises(TypeError, match=f"made: expected a SynthTask, found {found}"):
            synth.augment(wrong, 0)
        with pytest.raises(TypeError, match=f"made: expected a SynthTask, found {found}"):
            list(synth.augmented([wrong], 0))


def test_a_stream_is_augmented_as_it_comes() -> None:
    stream = synth.augmented(synth.tasks(easy_nodes=0), 1, count=2)
    first = [next(stream) for _ in range(6)]
    assert [each.augmented_from is None for each in first] == [True, False, False] * 2


# Files.


def all_kinds() -> list[mb.SynthTask]:
    """Generated, augmented, and given tasks: with every optional part, and with none."""
    made = some(4)
    pair, unknown = ([[1, 2]], [[2, 1]]), ([[3, 4]],)
    typed = mb.Program.parse("def solve_b(I):\n    return vmirror_t(I)\n", dialect="typed")
    own = [
        mb.SynthTask(mb.Task("a", [pair], [])),
        mb.SynthTask(mb.Task("b", [pair], [unknown, pair]), typed, kind="mutant", parents=["c", "d"], candidate=2**63),
    ]
    return made + synth.augment(made[0], 1, count=2) + own


@pytest.mark.parametrize("name", ["tasks.jsonl", "tasks.jsonl.gz", "tasks.arrow", "tasks.parquet", "set"])
def test_what_is_written_is_what_is_read(tmp_path: Path, name: str) -> None:
    if "jsonl" not in name:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    made = all_kinds()
    told: list[int] = []
    path = tmp_path / name
    if name == "set":
        assert synth.write_dataset(path, made, rows=100) == {"train": len(made)}
        read = list(synth.read_parquet(path / "data" / "train-00000.parquet"))
    else:
        writers = {".gz": "jsonl", ".jsonl": "jsonl", ".arrow": "arrow", ".parquet": "parquet"}
        kind = writers[path.suffix]
        write, reads = getattr(synth, f"write_{kind}"), getattr(synth, f"read_{kind}")
        assert write(str(path), iter(made), progress=lambda done, total: told.append(done)) == len(made)
        assert told == [*range(1, len(made) + 1)]
        read = list(reads(path))
    assert read == made and [each.candidate for each in read] == [each.candidate for each in made]


@pytest.mark.parametrize("name", ["tasks.jsonl", "tasks.jsonl.gz", "tasks.arrow", "tasks.parquet"])
def test_a_file_is_replaced_when_all_is_written(tmp_path: Path, name: str) -> None:
    if "jsonl" not in name:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    made, path = all_kinds(), tmp_path / name
    kind = {".gz": "jsonl", ".jsonl": "jsonl", ".arrow": "arrow", ".parquet": "parquet"}[path.suffix]
    write, read = getattr(synth, f"write_{kind}"), getattr(synth, f"read_{kind}")
    write(path, made)
    path.chmod(0o640)
    link = tmp_path / f"link-{name}"
    link.symlink_to(name)
    # A file that is read while it is being written stays until the end.
    for place in (path, link):
        assert write(place, read(path)) == len(made)
        assert list(read(path)) == made and link.is_symlink() and path.stat().st_mode & 0o777 == 0o640
    before = path.read_bytes()

    def broken() -> Any:
        yield from made[:2]
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more") as raised:
        write(path, broken())
    assert path.read_bytes() == before
    (partial,) = tmp_path.glob(f".{name}.*.partial")
    assert f"{path} is as it was, and what was written stands in {partial}" in raised.value.__notes__


def test_further_pairs_of_a_task_are_kept_or_refused(tmp_path: Path) -> None:
    pair = ([[1, 2]], [[2, 1]])
    path = tmp_path / "tasks.jsonl"
    made = mb.SynthTask(mb.Task("a", [pair], [pair], [("more", [pair, ([[3]],)]), ("none", [])]))
    synth.write_jsonl(path, [made])
    assert list(synth.read_jsonl(path)) == [made]
    # Unknown keys are ignored.
    path.write_text(json.dumps(mb.SynthTask(mb.Task("a", [pair])).to_dict() | {"level": 3, "tags": ["easy"]}))
    assert next(synth.read_jsonl(path)).task == mb.Task("a", [pair], [])
    for name in ("train", "id", "candidate"):
        clash = mb.SynthTask(mb.Task("a", [pair], [pair], [(name, [pair])]))
        with pytest.raises(ValueError, match=rf"made: task a: its pairs \['{name}'\] have names of other keys"):
            synth.write_jsonl(path, [clash])
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    with pytest.raises(ValueError, match=r"made: task a: columns have no place for its pairs \['more', 'none'\]"):
        synth.to_arrow([made])


def test_what_is_no_path_and_no_task_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made: Any = some(1)
    kinds = ["jsonl"]
    try:
        import pyarrow  # noqa: F401

        kinds += ["arrow", "parquet"]
    except ImportError:
        pass
    for kind in kinds:
        write, read = getattr(synth, f"write_{kind}"), getattr(synth, f"read_{kind}")
        for path in (None, 3, made):
            with pytest.raises(TypeError, match=f"path: expected a path, found {type(path).__name__}"):
                write(path, made)
            with pytest.raises(TypeError, match=f"path: expected a path, found {type(path).__name__}"):
                read(path)
        with pytest.raises(TypeError, match="progress: expected True, False, or a function of .*, found 5"):
            write("file", made, progress=5)
        for wrong in (None, made[0]):
            with pytest.raises(TypeError, match=f"made: expected tasks, found {type(wrong).__name__}"):
                write("file", wrong)
        assert not list(tmp_path.iterdir())
        for wrong, found in ([made[0].task], "Task"), (made[0].to_dict(), "str"), ([made[0].to_dict()], "dict"):
            with pytest.raises(TypeError, match=f"made: expected a SynthTask, found {found}"):
                write("file", wrong)
        assert [path.name for path in tmp_path.iterdir()] == ["file"]
        Path("file").unlink()
    if len(kinds) > 1:
        with pytest.raises(TypeError, match="made: expected a SynthTask, found Task"):
            synth.to_arrow([made[0].task])
        bad: list[tuple[Any, type[Exception], str]] = [
            ((None, made), TypeError, "folder: expected a path, found NoneType"),
            (("set", None), TypeError, "splits: expected tasks, found NoneType"),
            (("set", {"train": made[0]}), TypeError, "splits: train: expected tasks, found SynthTask"),
            (("set", {1: made}), ValueError, "splits: 1: expected letters"),
        ]
        for arguments, error, message in bad:
            with pytest.raises(error, match=message):
                synth.write_dataset(*arguments)
        with pytest.raises(TypeError, match="rows: expected a whole number, found '3'"):
            synth.write_dataset("set", made, rows="3")  # type: ignore[arg-type]
        assert not list(tmp_path.iterdir())


def test_bad_lines_are_told_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    good = json.dumps(some(1)[0].to_dict())
    for bad, message in [
        ("{", "Expecting"),
        ("[]", "expected a task, found list"),
        ('{"id": "a"}', "expected the key 'train'"),
        (good.replace("return", "retrun"), "line"),
        ('{"id": "a", "train": [{"input": [[300]]}], "test": []}', "colour 300"),
        ('{"id": "a", "train": [], "test": [], "candidate": -1}', "candidate: expected 0 or more, found -1"),
    ]:
        path.write_text(f"{good}\n{bad}\n")
        with pytest.raises(ValueError, match=f"tasks.jsonl:2: .*{message}"):
            list(synth.read_jsonl(path))


def test_a_table_has_the_rows(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    made = some(7)
    rows = [each.to_dict() | {"candidate": each.candidate} for each in made]
    assert synth.to_arrow(made).to_pylist() == rows
    synth.write_jsonl(tmp_path / "a.jsonl", made)
    assert [json.loads(line) for line in (tmp_path / "a.jsonl").open()] == rows


def test_a_data_set_is_what_hugging_face_reads(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    made = some(9)
    folder = tmp_path / "set"
    counts = synth.write_dataset(folder, {"train": made[:7], "test": iter(made[7:])}, rows=3, licence="mit", text="Mine.")
    assert counts == {"train": 7, "test": 2}
    files = sorted(path.name for path in (folder / "data").iterdir())
    assert files == ["test-00000.parquet", "train-00000.parquet", "train-00001.parquet", "train-00002.parquet"]
    card = (folder / "README.md").read_text()
    assert card.count("num_bytes: ") == 2
    assert card.startswith("---\n") and "num_examples: 7" in card and 'license: "mit"' in card and "Mine." in card
    with pytest.raises(FileExistsError, match="README.md: a data set is there already"):
        synth.write_dataset(folder, made)
    with pytest.raises(ValueError, match="expected letters"):
        synth.write_dataset(tmp_path / "other", {"../up": made})


def test_a_data_set_is_loaded_by_datasets(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    made = some(5)
    synth.write_dataset(tmp_path / "set", {"train": made[:4], "validation": made[4:]}, rows=3)
    caplog.clear()
    loaded = datasets.load_dataset(str(tmp_path / "set"), cache_dir=str(tmp_path / "cache"))
    assert not [each for each in caplog.records if "card" in each.getMessage()]
    assert {split: len(rows) for split, rows in loaded.items()} == {"train": 4, "validation": 1}
    assert loaded["train"][3] == made[3].to_dict() | {"candidate": made[3].candidate}
    loaded["train"].save_to_disk(str(tmp_path / "saved"))
    (saved,) = (tmp_path / "saved").glob("*.arrow")
    assert list(synth.read_arrow(saved)) == made[:4]


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for write in (synth.write_parquet, synth.write_arrow, synth.write_dataset):
        with pytest.raises(ImportError, match=r"mega-batch\[arrow\]"):
            write(tmp_path / "a", [])


def test_readers_name_the_file(tmp_path: Path) -> None:
    (made,) = synth.tasks(count=1)
    line = json.dumps(made.to_dict()).encode()
    good = tmp_path / "good.jsonl"
    good.write_bytes(b"\xef\xbb\xbf" + line + b"\n\n" + line)
    assert [each.id for each in synth.read_jsonl(good)] == [made.id] * 2
    for name, content in [
        ("a.jsonl", line + b"\n\xff\n"),
        ("b.jsonl.gz", b"no archive"),
        ("c.jsonl", json.dumps(made.to_dict() | {"id": 5}).encode()),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ValueError, match=name):
            list(synth.read_jsonl(path))


def test_readers_of_tables_name_the_file(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "d.table"
    path.write_bytes(b"no")
    for read in (synth.read_arrow, synth.read_parquet):
        with pytest.raises(ValueError, match=r"d\.table"):
            list(read(path))


def test_a_data_set_that_fails_is_not_in_the_way_of_the_next(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    made = list(synth.tasks(count=2))
    with pytest.raises(TypeError):
        synth.write_dataset(tmp_path / "d", [*made, 5])  # type: ignore[list-item]
    assert synth.write_dataset(tmp_path / "d", made) == {"train": 2}


def test_numbers_of_an_augmentation_are_named(tmp_path: Path) -> None:
    (made,) = synth.tasks(count=1)
    with pytest.raises(ValueError, match="order"):
        made.augmented(order=[-1, 0, 1, 2])
    for given in ("0123456789", [1.5] * 10):
        with pytest.raises(TypeError, match="colours"):
            made.augmented(colours=given)  # type: ignore[arg-type]
