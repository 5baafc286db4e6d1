"""Runs: results, streaming, ends, threads, checkpoints."""

import _thread
import functools
import json
import math
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mega_batch as mb

PROGRAMS = [
    "O = vmirror(I)",
    "O = hmirror(I)",
    "O = height(I)",
    "x1 = objects(I, T, F, T)\nx2 = extract(x1, hline)\nO = first(x2)",
    "x1 = palette(I)\nO = argmax(x1, first)",
]


def test_results_are_flat_arrays(task: mb.Task) -> None:
    report = mb.run(PROGRAMS, task, jobs="all", outputs=True, scores=True)
    results = report.results
    n = len(PROGRAMS) * 3
    assert len(report) == len(results) == report.evaluations == report.planned == n
    assert results.programs.tolist() == [at // 3 for at in range(n)]
    assert results.splits.tolist() == [0, 0, 1] * len(PROGRAMS)
    assert results.pairs.tolist() == [0, 1, 0] * len(PROGRAMS)
    assert results.verdicts.dtype == np.uint8 and results.tasks.dtype == np.uint32
    assert results.verdicts[:6].tolist() == [mb.Verdict.MATCH] * 3 + [mb.Verdict.MISMATCH] * 3
    assert results.cells is not None and results.offsets is not None and results.shapes is not None
    assert results.offsets[:4].tolist() == [0, 2, 4, 6] and len(results.offsets) == n + 1
    assert results.cells[:6].tolist() == [2, 1, 4, 3, 6, 5]
    assert results.shapes[0].tolist() == [1, 2] and results.shapes[6].tolist() == [-1, -1]
    assert results.cells_right is not None and results.cells_right[:6].tolist() == [2, 2, 2, 0, 0, 0]
    assert results.hashes is not None and results.hashes.shape == (n, 2)
    assert (report.right, report.tasks_solved, report.complete) == (3, 1, True)
    assert report.task_states == [("67a3c6ac", "solved")]
    assert report.right + report.wrong + report.no_expected + report.errors + report.limits == n


def test_results_are_typed_objects(task: mb.Task) -> None:
    report = mb.run(PROGRAMS, task, jobs="all", outputs=True, scores=True)
    first, failed = report[0], report[-1]
    assert (first.verdict, first.split, first.pair, first.error) == ("match", "train", 0, None)
    assert first.output is not None and first.output.tolist() == [[2, 1]]
    hashes = report.results.hashes
    assert hashes is not None and first.hash == int(hashes[0, 0]) << 64 | int(hashes[0, 1])
    assert failed.verdict == "error" and failed.error is not None and failed.output is None
    assert (failed.error.kind, failed.error.line, failed.error.primitive) == ("type", 2, "first")
    kinds = report.results.error_kinds
    assert mb.ERROR_KINDS[kinds[-1]] == "type" and kinds[0] == 0
    assert mb.PRIMITIVES[report.results.error_primitives[-1]] == "first"
    assert report.results.error_lines[-1] == 2 and report.results.error(0) is None
    with pytest.raises(IndexError):
        report[len(report)]
    assert mb.run("O = I", task, jobs="all")[0].hash is None


def test_results_are_sliced(task: mb.Task) -> None:
    report = mb.run(PROGRAMS, task, jobs="all", outputs=True, scores=True)
    each = list(report)
    bare = mb.run(PROGRAMS, task, jobs="all")
    for part in [slice(None), slice(3, 11), slice(-4, None), slice(None, None, -1), slice(1, 14, 3), slice(9, 2), slice(5, 6)]:
        sliced = report[part]
        assert isinstance(sliced, mb.Results) and list(sliced) == each[part] and len(sliced) == len(each[part])
        assert [sliced.error(at) for at in range(len(sliced))] == [result.error for result in each[part]]
        assert sliced.offsets is not None and sliced.cells is not None and sliced.offsets[-1] == len(sliced.cells)
        assert list(bare.results[part]) == list(bare)[part] and bare.results[part].cells is None
    assert report[:] == report.results and report[2:9][1:3] == report[3:5] != report[4:6]
    # They have arrays of their own.
    sliced = report[:3]
    sliced.verdicts[0] = 4
    assert report.results.verdicts[0] == 0
    for bad in ("a", 1.5, None):
        with pytest.raises(TypeError, match="index: expected an integer, found "):
            report[bad]  # type: ignore[call-overload]
    assert report[np.int64(-1)] == each[-1]
    for bad in (len(each), -len(each) - 1, 10**30):
        with pytest.raises(IndexError, match=f"result {bad} of {len(each)}"):
            report[bad]


def test_outputs_are_padded_with_a_mask(task: mb.Task) -> None:
    wide = mb.Task("b", [mb.Pair([[1] * 4] * 2, [[1]])])
    results = mb.run([*PROGRAMS, "O = hconcat(I, I)"], [task, wide], jobs="all", outputs=True).results
    cells, mask = results.padded(4, fill=-1)
    assert cells.shape == mask.shape == (24, 4, 4) and [str(cells.dtype), str(mask.dtype)] == ["int8", "bool"]
    for result, square, of_square in zip(results, cells, mask, strict=True):
        expected = np.full((4, 4), -1)
        if result.output is not None and max(result.output.shape) <= 4:
            rows, columns = result.output.shape
            expected[:rows, :columns] = result.output
        assert square.tolist() == expected.tolist() and of_square.tolist() == (expected >= 0).tolist()
    # 2 by 8 exceeds the side, and a number is not a grid.
    assert results[-1].output is not None and not mask[-1].any() and not mask[8].any() and mask[0].sum() == 2
    assert results.padded()[0].shape == (24, 30, 30) and results[:0].padded()[0].shape == (0, 30, 30)
    for side in (0, 2**40):
        with pytest.raises(ValueError, match="side: "):
            results.padded(side)
    with pytest.raises(ValueError, match="outputs=True"):
        mb.run(PROGRAMS, task, jobs="all").results.padded()


def test_a_run_equals_single_calls(task: mb.Task) -> None:
    programs = mb.read_programs(PROGRAMS)
    programs += mb.mutate(programs[3], 3, count=200)
    report = mb.run(programs, task, jobs="all", outputs=True)
    inputs = [pair.input for pair in task.train + task.test]
    for at, result in enumerate(report.results):
        single = programs[at // 3](inputs[at % 3])
        if isinstance(single, mb.EvalError):
            assert result.error == single
        elif isinstance(single, np.ndarray):
            assert result.output is not None and result.output.tolist() == single.tolist()
        else:
            assert result.output is None and result.error is None


@pytest.mark.parametrize("mode", ["sequential", "parallel"])
@pytest.mark.parametrize("backend", ["reference", "compiled", "auto"])
def test_results_depend_on_no_mode(task: mb.Task, mode: Any, backend: Any) -> None:
    expected = mb.run(PROGRAMS, task, jobs="all", scores=True)
    found = mb.run(PROGRAMS, task, jobs="all", scores=True, mode=mode, backend=backend, workers=2)
    assert found.results.verdicts.tolist() == expected.results.verdicts.tolist()
    np.testing.assert_array_equal(found.results.hashes, expected.results.hashes)
    assert found.backends["name"] == backend


def test_programs_meet_their_own_tasks(task: mb.Task) -> None:
    report = mb.run({"67a3c6ac": "O = vmirror(I)", "other000": "O = I"}, task)
    assert report.evaluations == 3 and report.tasks_solved == 1
    with pytest.raises(ValueError, match="no program belongs to a task"):
        mb.run("O = vmirror(I)", task)
    listed = mb.run(PROGRAMS, task, jobs=[(1, 0), (0, 0)])
    assert listed.results.programs.tolist() == [1] * 3 + [0] * 3
    bad: list[tuple[Any, type[Exception]]] = [
        ([(9, 0)], ValueError), ("some", ValueError), (3, TypeError), ([(0,)], TypeError), ([(-1, 0)], TypeError),
    ]
    for jobs, error in bad:
        with pytest.raises(error, match="jobs"):
            mb.run(PROGRAMS, task, jobs=jobs)
    assert mb.run([], task).evaluations == 0 and mb.run(PROGRAMS, [], jobs="all").evaluations == 0


def test_options_say_how(task: mb.Task) -> None:
    assert mb.run(PROGRAMS, task, jobs="all", train_only=True).evaluations == 2 * len(PROGRAMS)
    stopped = mb.run(PROGRAMS, task, jobs="all", stop_after_wrong=True)
    assert stopped.skipped == 2 * (len(PROGRAMS) - 1) and stopped.complete
    limited = mb.run("x1 = objects(I, T, F, T)\nO = fill(I, ONE, x1)", task, jobs="all", max_steps=1)
    assert limited.limits == 3
    bad: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"mode": "fast"}, ValueError, "mode: expected one of"),
        ({"mode": 3}, TypeError, "mode: expected a string"),
        ({"workers": 0}, ValueError, "workers: expected 1 to"),
        ({"workers": 10**9}, ValueError, "workers: expected 1 to"),
        ({"workers": -1}, ValueError, "workers"),
        ({"workers": 1.5}, TypeError, "workers"),
        ({"workers": True}, TypeError, "workers"),
        ({"timeout": -1.0}, ValueError, "timeout"),
        ({"time_limit": float("nan")}, ValueError, "time_limit"),
        ({"max_steps": -1}, ValueError, "max_steps"),
        ({"batch_size": 0}, ValueError, "batch_size"),
        ({"scores": "yes"}, TypeError, "scores"),
        ({"speed": 1}, TypeError, "unexpected keyword"),
        ({"chunk": 0}, ValueError, "chunk"),
        ({"progress": 3}, TypeError, "progress"),
    ]
    for options, error, message in bad:
        with pytest.raises(error, match=message):
            mb.run(PROGRAMS, task, jobs="all", **options)


def test_results_are_streamed(task: mb.Task) -> None:
    programs = mb.mutate(mb.Program.parse(PROGRAMS[3]), 1, count=300)
    whole = mb.run(programs, task, jobs="all")
    chunks: list[mb.Results] = []
    told: list[tuple[int, int]] = []
    report = mb.run(
        programs, task, jobs="all", on_results=chunks.append, chunk=100,
        progress=lambda done, total: told.append((done, total)),
    )
    assert [len(chunk) for chunk in chunks] == [100] * 9 and len(report) == 0
    assert report.evaluations == 900
    joined = np.concatenate([chunk.verdicts for chunk in chunks])
    assert joined.tolist() == whole.results.verdicts.tolist()
    errors = [chunk.error(at) for chunk in chunks for at in range(len(chunk))]
    assert errors == [whole.results.error(at) for at in range(900)]
    assert all(0 <= done <= total == 900 for done, total in told)


def test_what_a_callback_raises_ends_the_run(task: mb.Task) -> None:
    def fail(_: mb.Results) -> None:
        raise KeyError("mine")

    engine = mb.Engine()
    with pytest.raises(KeyError, match="mine"):
        engine.run(PROGRAMS, task, jobs="all", on_results=fail, chunk=1)
    # The engine still works.
    assert engine.run(PROGRAMS, task, jobs="all").evaluations == 15


@pytest.mark.parametrize("copies", [1, 2000])
@pytest.mark.parametrize("chunk", [1, 65536])
def test_a_callback_that_uses_its_engine_is_told_so(task: mb.Task, copies: int, chunk: int) -> None:
    engine = mb.Engine()
    others: list[int] = []

    def again(_: mb.Results) -> None:
        others.append(mb.run(PROGRAMS, task, jobs="all").evaluations)
        engine.run(PROGRAMS, task, jobs="all")

    with pytest.raises(RuntimeError, match="a callback needs an engine of its own"):
        engine.run(PROGRAMS * copies, task, jobs="all", chunk=chunk, on_results=again)
    assert others == [15] and engine.run(PROGRAMS, task, jobs="all").evaluations == 15


def slow_batch() -> tuple[list[mb.Program], list[mb.Task]]:
    """Minutes of work for the reference interpreter."""
    lines = ["x1 = asobject(I)", "x2 = order(x1, first)", "x3 = product(x2, x2)", "O = size(x3)"]
    program = mb.Program.parse("\n".join(lines))
    pair = mb.Pair(np.arange(900).reshape(30, 30) % 10, [[0]])
    return [program] * 2000, [mb.Task("a", [pair])]


def test_control_c_ends_a_run() -> None:
    programs, tasks = slow_batch()
    engine = mb.Engine(backend="reference", time_limit=60)
    # A shell starts background jobs with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.5, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            engine.run(programs * 50, tasks, jobs="all")
    finally:
        signal.signal(signal.SIGINT, before)
    assert engine.run("O = I", tasks, jobs="all").complete


def test_control_c_ends_a_search_within_a_task() -> None:
    random = np.random.default_rng(0)
    pairs = [mb.Pair(random.integers(0, 10, (30, 30)), random.integers(0, 10, (30, 30))) for _ in range(5)]
    tasks = [mb.Task("a", pairs[:4], pairs[4:])] * 200
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    at: list[float] = []

    def interrupt() -> None:
        at.append(time.monotonic())
        _thread.interrupt_main()

    try:
        for delay in (0.5, 2.5):
            threading.Timer(delay, interrupt).start()
            with pytest.raises(KeyboardInterrupt):
                mb.search(tasks, workers=2)
            assert time.monotonic() - at[-1] < 2
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_engine_is_cancelled_and_has_a_time_limit() -> None:
    programs, tasks = slow_batch()
    engine = mb.Engine(backend="reference")
    begun = threading.Event()

    def cancel() -> None:
        # A run that is not begun would not hear of it.
        assert begun.wait(30)
        engine.cancel()

    threading.Thread(target=cancel).start()
    report = engine.run(programs * 50, tasks, jobs="all", progress=lambda *_: begun.set())
    assert not report.complete and len(report) == report.evaluations < report.planned
    assert not mb.run(programs * 50, tasks, jobs="all", backend="reference", time_limit=0.2).complete


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_a_python_without_gil_gets_none_by_the_import() -> None:
    code = "import sys, mega_batch; sys.exit(sys._is_gil_enabled())"
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0


def test_threads_share_an_engine(task: mb.Task) -> None:
    engine = mb.Engine(workers=2)
    counts: list[int] = []

    def work() -> None:
        for _ in range(20):
            counts.append(engine.run(PROGRAMS, task, jobs="all").right)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [3] * 120


def test_who_waits_for_an_engine_can_be_interrupted() -> None:
    programs, tasks = slow_batch()
    engine = mb.Engine(backend="reference", time_limit=30)
    begun = threading.Event()
    thread = threading.Thread(
        target=lambda: engine.run(programs * 50, tasks, jobs="all", progress=lambda *_: begun.set())
    )
    thread.start()
    assert begun.wait(30)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.5, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            engine.run("O = I", tasks, jobs="all")
    finally:
        signal.signal(signal.SIGINT, before)
    engine.cancel()
    thread.join()
    assert engine.run("O = I", tasks, jobs="all").complete


def test_a_callback_is_told_what_runs(task: mb.Task, tmp_path: Path) -> None:
    engine = mb.Engine(workers=2)
    told: list[object] = []
    engine.run(PROGRAMS, task, jobs="all", progress=lambda *_: told.append((engine.workers, engine.devices)))
    assert told and set(map(str, told)) == {"(2, [])"}
    with pytest.raises(RuntimeError, match="a callback needs an engine of its own"):
        engine.run(PROGRAMS, task, jobs="all", progress=lambda *_: engine.run(PROGRAMS, task, jobs="all"))
    coordinator = mb.Coordinator(PROGRAMS, task, jobs="all")
    with pytest.raises(RuntimeError, match="this coordinator is running"):
        coordinator.run(progress=lambda *_: coordinator.to_submission())
    assert coordinator.run().complete and coordinator.to_submission()


def test_the_gil_is_free_while_the_engine_works() -> None:
    programs, tasks = slow_batch()
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    mb.run(programs * 50, tasks, jobs="all", backend="reference", time_limit=0.5)
    done.set()
    thread.join()
    assert ticks > 20


def test_a_coordinator_goes_on_from_its_checkpoint(task: mb.Task, tmp_path: Path) -> None:
    checkpoint, submission = tmp_path / "run.ckpt", tmp_path / "submission.json"
    programs = mb.mutate(mb.Program.parse(PROGRAMS[0]), 1, count=200)
    programs.append(mb.Program.parse("O = vmirror(I)"))
    # A killed run is one that ended: its checkpoint is complete at any moment.
    mb.Coordinator(programs, task, jobs="all", checkpoint=checkpoint).run()
    size = checkpoint.stat().st_size
    checkpoint.write_bytes(checkpoint.read_bytes()[: size // 2])
    resumed = mb.Coordinator(
        programs, task, jobs="all", checkpoint=checkpoint, resume=True, submission=submission
    )
    report = resumed.run()
    whole = mb.run(programs, task, jobs="all", scores=True)
    assert report.results.verdicts.tolist() == whole.results.verdicts.tolist()
    np.testing.assert_array_equal(report.results.hashes, whole.results.hashes)
    made = resumed.to_submission(tmp_path / "again.json")
    assert made["67a3c6ac"][0]["attempt_1"] == [[6, 5]]
    assert json.loads(submission.read_text()) == made == json.loads((tmp_path / "again.json").read_text())
    with pytest.raises(ValueError, match="ckpt"):
        mb.Coordinator(programs[:3], task, jobs="all", checkpoint=checkpoint, resume=True).run()
    with pytest.raises(ValueError, match="checkpoint"):
        mb.Coordinator(programs, task, jobs="all", resume=True)
    with pytest.raises(RuntimeError, match="expected a run before"):
        mb.Coordinator(programs, task, jobs="all").to_submission()


def test_programs_that_give_the_same_are_one(task: mb.Task) -> None:
    same = mb.dedup_by_behaviour(
        ["O = vmirror(I)", "O = rot180(I)", "O = I", "O = hmirror(I)", "O = height(I)", *[PROGRAMS[4]] * 2], task
    )
    assert same.dtype == np.int64 and same.tolist() == [0, 0, 2, 2, 4, 5, 5]


def test_a_submission_needs_its_folder(task: mb.Task, tmp_path: Path) -> None:
    file = tmp_path / "nowhere" / "a" / "s.json"
    calls: list[Callable[[], object]] = [
        lambda: mb.Coordinator(PROGRAMS, task, jobs="all", checkpoint=file).run(),
        lambda: mb.Coordinator(PROGRAMS, task, jobs="all", submission=file).run(),
        lambda: mb.search(task, nodes=10, checkpoint=file),
        lambda: mb.search(task, nodes=10, submission=file),
    ]
    made = mb.Coordinator(PROGRAMS, task, jobs="all", submission=tmp_path / "s.json")
    made.run()
    calls.append(lambda: made.to_submission(file))
    for call in calls:
        with pytest.raises(ValueError, match=f"{file}: there is no folder {file.parent}"):
            call()
    assert [path.name for path in tmp_path.iterdir()] == ["s.json"]


def test_what_is_not_known_of_programs_is_not_the_same(task: mb.Task) -> None:
    programs = ["O = vmirror(I)", "O = rot180(I)", "x = vmirror(I)\nO = identity(x)", *[PROGRAMS[4]] * 2]
    assert mb.dedup_by_behaviour(programs, task, max_steps=0).tolist() == [0, 1, 2, 3, 4]
    assert mb.dedup_by_behaviour(programs, []).tolist() == [0, 1, 2, 3, 4]
    assert mb.dedup_by_behaviour(programs, {"train": []}).tolist() == [0, 1, 2, 3, 4]


def test_arguments_are_told_by_their_names(task: mb.Task) -> None:
    program = mb.Program.parse("O = I")
    outputs = mb.run("O = I", task, jobs="all", outputs=True).results
    run: Any = functools.partial(mb.run, "O = I", task)
    engine: Any = mb.Engine()
    any_mb: Any = mb
    calls: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: run(chunk=-1), ValueError, "chunk: expected 1 or more, found -1"),
        (lambda: run(chunk="x"), TypeError, "chunk: expected an integer, found str"),
        (lambda: run(chunk=True), TypeError, "chunk: expected an integer, found bool"),
        (lambda: run(chunk=2**200), ValueError, "chunk: expected 1 to 18446744073709551615"),
        (lambda: run(train_only="x"), TypeError, "train_only: expected True or False, found str"),
        (lambda: run(dialect=5), TypeError, "dialect: expected a string, found int"),
        (lambda: run(max_steps=-1), ValueError, "max_steps: expected 0 or more, found -1"),
        (lambda: run(max_steps=1.5), TypeError, "max_steps: expected an integer, found float"),
        (lambda: run(timeout=-1), ValueError, "timeout: expected a number of seconds, 0 or more, found -1"),
        (lambda: run(time_limit=math.nan), ValueError, "time_limit: expected a number of seconds"),
        (lambda: run(time_limit="1"), TypeError, "time_limit: expected a number of seconds, found str"),
        (lambda: run(workers=-1), ValueError, "workers: expected 1 to [0-9]+, found -1"),
        (lambda: run(batch_size=0), ValueError, "batch_size: expected 1 or more, found 0|batch_size: expected 1 to"),
        (lambda: engine.evaluate(["O = I"], task, train_only=3), TypeError, "train_only: expected True or False, found int"),
        (lambda: program([[1]], max_steps=-1), ValueError, "max_steps: expected 0 or more, found -1"),
        (lambda: mb.trace(program, [[1]], timeout=-1), ValueError, "timeout: expected a number"),
        (lambda: mb.mutate(program, -1), ValueError, "seed: expected 0 or more, found -1"),
        (lambda: mb.mutate(program, 1, count=-1), ValueError, "count: expected 0 to 10000000, found -1"),
        (lambda: any_mb.mutate(program, 1, kind=3), TypeError, "kind: expected a string, found int"),
        (lambda: any_mb.mutate(program, 1, unique="x"), TypeError, "unique: expected True or False"),
        (lambda: mb.enumerate(task, nodes=-1), ValueError, "nodes: expected 0 or more"),
        (lambda: mb.enumerate(task, calls=-1), ValueError, "calls: expected 0 or more"),
        (lambda: mb.enumerate(task, max_bytes=-1), ValueError, "max_bytes: expected 0 or more"),
        (lambda: any_mb.enumerate(task, by=3), TypeError, "by: expected a string"),
        (lambda: mb.search(task, nodes=-1), ValueError, "nodes: expected 0 or more"),
        (lambda: mb.search(task, attempts=-1), ValueError, "attempts: expected 0 or more"),
        (lambda: mb.search(task, time_per_task=-1), ValueError, "time_per_task: expected a number"),
        (lambda: mb.Batt(task, max_bytes=-1), ValueError, "max_bytes: expected 0 or more"),
        (lambda: mb.Batt(task).release(-1), ValueError, "mark: expected 0 or more"),
        (lambda: any_mb.Program.parse("O = I", name=3), TypeError, "name: expected a string"),
        (lambda: mb.stream(program, 1, of=0), ValueError, "of: expected 1 or more, found 0"),
        (lambda: mb.synth.tasks(count=-1), ValueError, "count: expected 0 or more, found -1"),
        (lambda: mb.synth.tasks(count=1, seed=-1), ValueError, "seed: expected 0 or more, found -1"),
        (lambda: mb.synth.tasks(count=1, train=-1), ValueError, "train: expected 0 or more, found -1"),
        (lambda: mb.synth.tasks(count=1, shard=(0, -1)), ValueError, r"shard\[1\]: expected 0 or more, found -1"),
        (lambda: any_mb.synth.tasks(count=1, inputs=3), TypeError, "inputs: expected a string, found int"),
        (lambda: outputs.padded(0), ValueError, "side: expected 1 to 1024, found 0"),
        (lambda: outputs.padded(-1), ValueError, "side: expected 1 to 1024, found -1"),
        (lambda: outputs.padded(10**9), ValueError, "side: expected 1 to 1024, found 1000000000"),
        (lambda: outputs.padded(10**40), ValueError, "side: expected 1 to 1024"),
        (lambda: outputs.padded(3, fill=300), ValueError, "fill: expected -128 to 127, found 300"),
        (lambda: outputs.error(-1), ValueError, "at: expected 0 or more"),
        (lambda: run(jobs=[(0, 0), (-1, 0)]), TypeError, r"jobs\[1\]: expected \(program, task\), .*, found \(-1, 0\)"),
        (lambda: run(jobs=["ab"]), TypeError, r"jobs\[0\]: expected \(program, task\), .*, found 'ab'"),
        (lambda: mb.run(b"O = I", task), TypeError, "programs: expected .*, found bytes"),  # type: ignore[arg-type]
        (lambda: mb.run("O = I", b"{}"), TypeError, "tasks: expected .*, found bytes"),  # type: ignore[arg-type]
        (lambda: mb.run("O = I", ' {"train": []}'), ValueError, "tasks: text is taken for the path of a file: JSON"),
        (lambda: any_mb.search(task, by=lambda todo: 5), TypeError, "by: expected that it gives an iterator .*, found int"),
        (lambda: any_mb.search(task, by=lambda todo: [5]), TypeError, "by: expected the place of a task .*, found int"),
        (lambda: any_mb.search(task, by=lambda todo: [(0, 5)]), TypeError, "by: expected a Searched, or a text .*, found int"),
        (lambda: any_mb.mutate("O = I", 1), TypeError, "program: expected a Program, as .* makes it of text, found str"),
        (lambda: any_mb.trace(None, [[1]]), TypeError, "program: expected a Program, .* found NoneType"),
        (lambda: any_mb.search(task, submission=3), TypeError, "submission: expected a path, found int"),
        (lambda: any_mb.search(task, checkpoint=3), TypeError, "checkpoint: expected a path, found int"),
        (lambda: any_mb.Coordinator("O = I", task, checkpoint=3), TypeError, "checkpoint: expected a path, found int"),
    ]
    for call, error, message in calls:
        with pytest.raises(error, match=message):
            call()


def test_infinity_is_no_limit(task: mb.Task) -> None:
    for limit in (math.inf, 1e300, 10**400):
        assert mb.run("O = vmirror(I)", task, jobs="all", timeout=limit, time_limit=limit).right > 0
        assert isinstance(mb.Program.parse("O = I")([[1]], timeout=limit), np.ndarray)
        assert mb.search(task, nodes=100, time_per_task=limit)
        assert mb.enumerate(task, nodes=10, time_limit=limit)


def test_jobs_are_tuples_or_lists(task: mb.Task) -> None:
    jobs: Any = [[0, 0], (1, 0), np.array([1, 0])]
    assert mb.run(PROGRAMS[:2], task, jobs=jobs).results.programs.tolist() == [0] * 3 + [1] * 6


def test_reports_show_themselves(task: mb.Task) -> None:
    report = mb.run(PROGRAMS, task, jobs="all")
    assert "1 of 1 tasks solved" in str(report) and "<table>" in report._repr_html_()
    assert repr(report[0]) == "<Result of program 0 on task 0, train[0]: match>"


class Bar:
    """The part of tqdm that the engine uses."""

    bars: list["Bar"] = []

    def __init__(self, unit: str, unit_scale: bool) -> None:
        self.unit, self.n, self.total, self.is_closed = unit, 0, 0, False
        Bar.bars.append(self)

    def update(self, more: int) -> None:
        self.n += more

    def close(self) -> None:
        self.is_closed = True


PROGRESS: list[tuple[str, Callable[[Any, mb.Task], object]]] = [
    ("evaluation", lambda progress, task: mb.run(PROGRAMS, task, jobs="all", progress=progress)),
    ("evaluation", lambda progress, task: mb.Engine().run(PROGRAMS, task, jobs="all", progress=progress)),
    ("evaluation", lambda progress, task: mb.Coordinator(PROGRAMS, task, jobs="all").run(progress=progress)),
    ("evaluation", lambda progress, task: mb.evaluate(PROGRAMS, task, progress=progress)),
    ("evaluation", lambda progress, task: mb.dedup_by_behaviour(PROGRAMS, task, progress=progress)),
    ("task", lambda progress, task: mb.search(task, nodes=100, progress=progress)),
]


@pytest.mark.parametrize(("unit", "call"), PROGRESS)
def test_progress_is_a_bar_or_a_function_everywhere(
    task: mb.Task, monkeypatch: pytest.MonkeyPatch, unit: str, call: Callable[[Any, mb.Task], object]
) -> None:
    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    monkeypatch.setattr(Bar, "bars", [])
    call(True, task)
    (bar,) = Bar.bars
    assert bar.unit == unit and bar.is_closed and bar.n == bar.total > 0
    told: list[tuple[int, int]] = []
    call(lambda done, total: told.append((done, total)), task)
    assert told[-1] == (bar.total, bar.total)
    call(False, task)
    call(None, task)
    assert len(Bar.bars) == 1
    with pytest.raises(TypeError, match="progress: expected True, False, or a function"):
        call(3, task)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r'the extra "progress" has: pip install "mega-batch\[progress\]"'):
        call(True, task)


def test_the_end_of_a_run_is_logged(task: mb.Task, caplog: pytest.LogCaptureFixture) -> None:
    mb.run(PROGRAMS, task, jobs="all")
    assert not caplog.records
    with caplog.at_level("INFO", "mega_batch"):
        mb.run(PROGRAMS, task, jobs="all")
    (record,) = caplog.records
    assert record.name == "mega_batch" and "1 of 1 tasks solved" in record.getMessage()


def test_devices_are_told() -> None:
    cpu, *others = mb.devices()
    assert cpu.kind == "cpu" and cpu.units >= 1 and cpu.unavailable is None
    assert {device.kind for device in others} == {"gpu", "emulated", "interpreted"}
    if all(device.unavailable for device in others if device.kind == "gpu"):
        with pytest.warns(UserWarning, match="no device"):
            mb.run("O = I", {"train": [{"input": [[1]]}]}, jobs="all", backend="cuda")
