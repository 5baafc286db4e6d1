"""Tasks generated from programs, to train on: generated, augmented, written and read.

>>> from mega_batch import synth
>>> made = list(synth.tasks(count=2, seed=7))
>>> len(made[0].task.train), len(made[0].task.test)
(3, 1)
>>> made[0].program(made[0].task.test[0].input).tolist() == made[0].task.test[0].output.tolist()
True
"""

from __future__ import annotations

import gzip
import itertools
import json
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Any, cast

import numpy as np

from ._arguments import MOST, truths, whole
from ._engine import Program, ProgramError, Synthesis, Task
from ._progress import Bar, Progress, callback
from ._values import SynthTask

__all__ = [
    "SynthTask",
    "Synthesis",
    "augment",
    "augmented",
    "read_arrow",
    "read_jsonl",
    "read_parquet",
    "tasks",
    "to_arrow",
    "write_arrow",
    "write_dataset",
    "write_jsonl",
    "write_parquet",
]

_GROUP = 1000
"""How many tasks are held at a time while files are written: a row group."""


tasks = Synthesis
"""Tasks generated from programs: see `Synthesis`."""


def augment(
    made: SynthTask,
    seed: int,
    *,
    count: int = 1,
    symmetries: bool = True,
    colours: bool = True,
    order: bool = True,
    fixed: Sequence[int] = (0,),
) -> list[SynthTask]:
    """Up to ``count`` augmentations of a task that differ from it and from each other, the same for the same seed.

    Each has one of the eight ``symmetries``, its ``colours`` permuted except those that are ``fixed``, and its pairs
    in another ``order``, in which train and test pairs may be swapped; pairs whose output is not known are of no use
    to train on, and stay in test. Its program undoes the changes, runs the task's program, and redoes them: it
    computes the augmented outputs from the augmented inputs.

    There are fewer than ``count`` if no others are found. Raises ValueError for a seed that is not from 0 to 2**64 -
    1, a count below 0, or a colour that is not from 0 to 9, and TypeError, with the name of the argument, for
    arguments of another type.
    """
    changes = _Changes(seed, count, symmetries, colours, order, fixed)
    if not isinstance(made, SynthTask):
        raise TypeError(f"made: expected a SynthTask, found {type(made).__name__}")
    return changes.of(made)


class _Changes:
    """The settings of augmentations."""

    def __init__(
        self, seed: int, count: int, symmetries: bool, colours: bool, order: bool, fixed: Sequence[int]
    ) -> None:
        self._seed, self._count = whole("seed", seed, 0, MOST), whole("count", count, 0)
        truths(symmetries=symmetries, colours=colours, order=order)
        self._changes = (symmetries, colours, order)
        if not isinstance(fixed, Iterable):
            raise TypeError(f"fixed: expected colours from 0 to 9, found {fixed!r}")
        self._fixed = [whole("fixed", colour, 0, 9) for colour in fixed]

    def of(self, made: SynthTask) -> list[SynthTask]:
        has_unknown = self._changes[2] and any(pair.output is None for pair in made.task.train + made.task.test)
        found: list[SynthTask] = []
        known = {_pairs(made)}
        for number in range(4 * self._count + 8):
            if len(found) == self._count:
                break
            drawn = made._drawn(self._seed, number, *self._changes, self._fixed)
            if has_unknown:
                drawn = _known_first(drawn)
            pairs = _pairs(drawn)
            if pairs not in known:
                known.add(pairs)
                found.append(drawn)
        return found


def _known_first(made: SynthTask) -> SynthTask:
    """The same with pairs of known output moved to train; otherwise their order stays."""
    task = made.task
    pairs = task.train + task.test
    count = len(task.train)
    train = sorted(range(len(pairs)), key=lambda at: pairs[at].output is None)[:count]
    test = sorted({*range(len(pairs))}.difference(train))
    return SynthTask(
        Task(task.id, [pairs[at] for at in train], [pairs[at] for at in test], task.others),
        made.program,
        kind=made.kind,
        parents=made.parents,
        behaviour=made.behaviour,
        candidate=made.candidate,
        augmented_from=made.augmented_from,
    )


def _pairs(made: SynthTask) -> tuple[Any, ...]:
    return (tuple(made.task.train), tuple(made.task.test))


def augmented(
    made: Iterable[SynthTask],
    seed: int,
    *,
    count: int = 1,
    symmetries: bool = True,
    colours: bool = True,
    order: bool = True,
    fixed: Sequence[int] = (0,),
) -> Iterator[SynthTask]:
    """Each task, followed by its augmentations as from `augment`, generated lazily."""
    return _augmented(_tasks(made), _Changes(seed, count, symmetries, colours, order, fixed))


def _augmented(made: Iterable[Any], changes: _Changes) -> Iterator[SynthTask]:
    for each in made:
        if not isinstance(each, SynthTask):
            raise TypeError(f"made: expected a SynthTask, found {type(each).__name__}")
        yield each
        yield from changes.of(each)


class _WriteProgress:
    """Progress of writing tasks whose total is unknown: the total is given as the number done."""

    def __init__(self, progress: Progress) -> None:
        self._call = callback(progress, "task")
        self.done = 0

    def tell(self, done: int) -> None:
        self.done = done
        if self._call is not None:
            self._call(done, done)

    def close(self) -> None:
        if isinstance(self._call, Bar):
            self._call.close()


def _path(path: Any, name: str = "path") -> Path:
    if not isinstance(path, (str, PathLike)):
        raise TypeError(f"{name}: expected a path, found {type(path).__name__}")
    return Path(path)


def _tasks(made: Any, name: str = "made") -> Iterable[Any]:
    if not isinstance(made, Iterable):
        raise TypeError(f"{name}: expected tasks, found {type(made).__name__}")
    return made


_FIELDS = ("id", "train", "test", "program", "kind", "parents", "behaviour", "augmented_from", "candidate")
"""The keys of a row, apart from those of a task's further pairs."""


def _row(made: Any) -> dict[str, Any]:
    if not isinstance(made, SynthTask):
        raise TypeError(f"made: expected a SynthTask, found {type(made).__name__}")
    row = made.to_dict() | {"candidate": made.candidate}
    others = made.task.others
    if len(row) != len(_FIELDS) + len(others):
        raise ValueError(f"made: task {made.id}: its pairs {[name for name, _ in others]} have names of other keys")
    return row


@contextmanager
def _written(path: Path, reporter: _WriteProgress) -> Iterator[Path]:
    """Yields the path to write to: the given one or, if a file exists there, a temporary one that replaces it at the
    end.

    So tasks that are read lazily from that file remain available until the last one, and an error leaves the old
    file.
    """
    if not path.is_file():
        yield path
        return
    old = path.resolve()
    # Renaming would not check whether the old file may be written.
    old.open("ab").close()
    new = old.with_name(f".{old.name[:50]}.{token_hex(4)}.partial")
    try:
        yield new
    except BaseException as error:
        if reporter.done:
            error.add_note(f"{path} is as it was, and what was written stands in {new}")
        else:
            new.unlink(missing_ok=True)
        raise
    shutil.copymode(old, new)
    new.replace(old)


def write_jsonl(path: str | PathLike[str], made: Iterable[SynthTask], *, progress: Progress = None) -> int:
    """Write tasks as they come, a line of JSON each, as from `SynthTask.to_dict`, with ``candidate``; returns their
    number.

    A path that ends in ``.gz`` is compressed. An existing file is replaced when all is written: ``made`` may be read
    from it. ``progress`` is True, or a function that is called with the number of tasks written, twice. Raises
    TypeError for anything but a path and SynthTasks.
    """
    path, made = _path(path), _tasks(made)
    count = 0
    with closing(_WriteProgress(progress)) as reporter:
        with _written(path, reporter) as new:
            with gzip.open(new, "wt") if path.suffix == ".gz" else new.open("w", encoding="utf-8") as file:
                for count, each in enumerate(made, 1):
                    file.write(json.dumps(_row(each), separators=(",", ":")))
                    file.write("\n")
                    reporter.tell(count)
    return count


def read_jsonl(path: str | PathLike[str]) -> Iterator[SynthTask]:
    """The tasks that `write_jsonl` wrote, read lazily.

    Raises ValueError with file and line for an invalid one.
    """
    return _lines(_path(path))


def _lines(path: Path) -> Iterator[SynthTask]:
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        for number in itertools.count(1):
            try:
                line = file.readline().decode("utf-8-sig")
                if not line:
                    return
                made = _of_dict(json.loads(line)) if line.strip() else None
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
                raise ValueError(f"{path}:{number}: {_reason(error)}") from error
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise ValueError(f"{path}:{number}: cannot be unpacked: {error}") from error
            if made is not None:
                yield made


def _reason(error: Exception) -> str:
    return f"expected the key {error}" if isinstance(error, KeyError) else str(error)


def _of_dict(row: Any) -> SynthTask:
    if not isinstance(row, dict):
        raise ValueError(f"expected a task, found {type(row).__name__}")
    fields = cast(dict[str, Any], row)
    text = fields.get("program")
    if not isinstance(fields["id"], str):
        raise ValueError(f'id: expected text, found {type(fields["id"]).__name__}')
    return SynthTask(
        Task(fields["id"], fields["train"], fields["test"], _others(fields)),
        None if text is None else _program(text),
        kind=fields.get("kind"),
        parents=list(fields.get("parents") or ()),
        behaviour=fields.get("behaviour"),
        candidate=fields.get("candidate"),
        augmented_from=fields.get("augmented_from"),
    )


def _program(text: str) -> Program:
    try:
        return Program.parse(text)
    except ProgramError:
        # Without a hint, a typed program that takes only the grid is not recognised.
        with suppress(ProgramError):
            return Program.parse(text, dialect="typed")
        raise


def _others(fields: dict[str, Any]) -> list[tuple[str, list[Any]]]:
    """Pairs besides train and test: those values of unknown keys that look like pairs."""
    others: list[tuple[str, list[Any]]] = []
    for name, value in fields.items():
        if name not in _FIELDS and isinstance(value, list):
            pairs: list[Any] = value
            if all(isinstance(pair, dict) and "input" in pair for pair in pairs):
                others.append((name, pairs))
    return others


def _pyarrow(what: str) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            f'{what} needs pyarrow, which the extra "arrow" has: pip install "mega-batch[arrow]", or pip install pyarrow'
        ) from error
    return pyarrow


def _schema(pa: Any) -> Any:
    grid = pa.list_(pa.list_(pa.int8()))
    pairs = pa.list_(pa.struct([("input", grid), ("output", grid)]))
    return pa.schema(
        [
            ("id", pa.string()),
            ("train", pairs),
            ("test", pairs),
            ("program", pa.string()),
            ("kind", pa.string()),
            ("parents", pa.list_(pa.string())),
            ("behaviour", pa.string()),
            ("augmented_from", pa.string()),
            ("candidate", pa.uint64()),
        ]
    )


def _batches(pa: Any, made: Iterable[SynthTask], reporter: _WriteProgress) -> Iterator[Any]:
    """Record batches of rows; the last one may be shorter."""
    schema = _schema(pa)
    rows: list[dict[str, Any]] = []
    count = 0
    for count, each in enumerate(made, 1):
        row = _row(each)
        if len(row) > len(_FIELDS):
            names = sorted({*row}.difference(_FIELDS))
            raise ValueError(f"made: task {each.id}: columns have no place for its pairs {names}")
        rows.append(row)
        if len(rows) == _GROUP:
            yield pa.RecordBatch.from_pylist(rows, schema=schema)
            rows = []
        reporter.tell(count)
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def to_arrow(made: Iterable[SynthTask]) -> Any:
    """Tasks as a ``pyarrow.Table``, one per row, with the columns of `SynthTask.to_dict` and ``candidate``; grids are
    lists of lists of int8.

    Raises ImportError, which names the extra, without pyarrow, TypeError for anything but SynthTasks, and ValueError
    for tasks with pairs besides train and test.
    """
    pa, made = _pyarrow("to_arrow"), _tasks(made)
    with closing(_WriteProgress(None)) as reporter:
        return pa.Table.from_batches(list(_batches(pa, made, reporter)), schema=_schema(pa))


def write_arrow(path: str | PathLike[str], made: Iterable[SynthTask], *, progress: Progress = None) -> int:
    """Write tasks as an Arrow file (IPC, the format of Feather), as they come; returns their number. See
    `to_arrow`."""
    pa, path, made = _pyarrow("write_arrow"), _path(path), _tasks(made)
    count = 0
    with closing(_WriteProgress(progress)) as reporter, _written(path, reporter) as new, pa.OSFile(str(new), "wb") as file:
        with pa.ipc.new_file(file, _schema(pa)) as writer:
            for batch in _batches(pa, made, reporter):
                writer.write_batch(batch)
                count += batch.num_rows
    return count


def write_parquet(path: str | PathLike[str], made: Iterable[SynthTask], *, progress: Progress = None) -> int:
    """Write tasks as a Parquet file, as they come; returns their number. See `to_arrow`."""
    pa, path, made = _pyarrow("write_parquet"), _path(path), _tasks(made)
    count = 0
    with (
        closing(_WriteProgress(progress)) as reporter,
        _written(path, reporter) as new,
        pa.parquet.ParquetWriter(str(new), _schema(pa)) as writer,
    ):
        for batch in _batches(pa, made, reporter):
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def _of_batches(path: Path, batches: Iterable[Any]) -> Iterator[SynthTask]:
    number = 0
    for batch in batches:
        for row in batch.to_pylist():
            number += 1
            try:
                yield _of_dict(row)
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
                raise ValueError(f"{path}: row {number}: {_reason(error)}") from error


def read_arrow(path: str | PathLike[str]) -> Iterator[SynthTask]:
    """The tasks of an Arrow file, as `write_arrow` writes it, or of a stream, as ``save_to_disk`` of ``datasets`` does.
    Raises ValueError with file and row for an invalid one."""
    return _of_arrow(_pyarrow("read_arrow"), _path(path))


def _of_arrow(pa: Any, path: Path) -> Iterator[SynthTask]:
    with pa.memory_map(str(path)) as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        with _opened(pa, path):
            reader = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
        if is_file:
            yield from _of_batches(path, (reader.get_batch(at) for at in range(reader.num_record_batches)))
        else:
            yield from _of_batches(path, reader)


def read_parquet(path: str | PathLike[str]) -> Iterator[SynthTask]:
    """The tasks that `write_parquet` wrote. Raises ValueError with file and row for an invalid one."""
    return _of_parquet(_pyarrow("read_parquet"), _path(path))


def _of_parquet(pa: Any, path: Path) -> Iterator[SynthTask]:
    with _opened(pa, path):
        file = pa.parquet.ParquetFile(str(path))
    with file:
        yield from _of_batches(path, file.iter_batches(_GROUP))


@contextmanager
def _opened(pa: Any, path: Path) -> Iterator[None]:
    """Adds the path to the error for a file of another format."""
    try:
        yield
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: {error}") from error


_SIZES = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]
"""The bounds of the size categories of dataset cards."""


def _size(rows: int) -> str:
    names = ["n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M"]
    return names[sum(rows >= bound for bound in _SIZES)]


_FEATURES = """\
  - name: id
    dtype: string
{pairs}  - name: program
    dtype: string
  - name: kind
    dtype: string
  - name: parents
    list: string
  - name: behaviour
    dtype: string
  - name: augmented_from
    dtype: string
  - name: candidate
    dtype: uint64
"""

_PAIRS = """\
  - name: {name}
    list:
    - name: input
      list:
        list: int8
    - name: output
      list:
        list: int8
"""


def write_dataset(
    folder: str | PathLike[str],
    splits: Iterable[SynthTask] | Mapping[str, Iterable[SynthTask]],
    *,
    rows: int = 10_000,
    name: str | None = None,
    licence: str = "unknown",
    text: str = "",
    progress: Progress = None,
) -> dict[str, int]:
    """Write tasks as a folder that ``datasets.load_dataset(folder)`` reads and the hub shows; returns the counts by
    split.

    ``splits`` are tasks, which become the split "train", or tasks by split. Each split is written as it comes, in
    Parquet files of ``rows`` rows, ``data/SPLIT-00000.parquet`` and so on, and ``README.md`` is the dataset card: its
    YAML has the files, the features, the number of rows, ``name`` (the folder's by default) and ``licence`` (an
    identifier of the hub); ``text`` follows below. The columns are those of `to_arrow`.

    Raises FileExistsError if the folder has such files, ValueError for invalid names of splits, and ImportError,
    which names the extra, without pyarrow.
    """
    pa = _pyarrow("write_dataset")
    folder, rows = _path(folder, "folder"), whole("rows", rows, 1)
    by_name = cast(Mapping[Any, Any], splits if isinstance(splits, Mapping) else {"train": splits})
    for split, made in by_name.items():
        if not isinstance(split, str) or not split.replace("_", "").replace(".", "").isalnum():
            raise ValueError(f"splits: {split!r}: expected letters, digits, `_` and `.`")
        _tasks(made, "splits" if by_name is not splits else f"splits: {split}")
    data = folder / "data"
    card = folder / "README.md"
    there = [card] if card.exists() else sorted(data.glob("*.parquet"))
    if there:
        raise FileExistsError(f"{there[0]}: a data set is there already")
    data.mkdir(parents=True, exist_ok=True)
    counts: dict[str, int] = {}
    sizes: dict[str, int] = {}
    try:
        with closing(_WriteProgress(progress)) as reporter:
            for split, made in by_name.items():
                counts[split], sizes[split] = _write_split(pa, data, split, made, rows, reporter)
        card.write_text(_card(folder, counts, sizes, name, licence, text), encoding="utf-8")
    except BaseException:
        # An incomplete data set is useless, and would be in the way of the next try.
        for part in data.glob("*.parquet"):
            part.unlink()
        raise
    return counts


def _write_split(
    pa: Any, data: Path, split: str, made: Iterable[SynthTask], rows: int, reporter: _WriteProgress
) -> tuple[int, int]:
    """Returns the number of rows and that of their bytes in memory."""
    count = size = 0
    waiting = iter(made)
    schema = _schema(pa)
    for number in itertools.count():
        part = _first(waiting, rows)
        first = next(part, None)
        if first is None and number > 0:
            break
        with pa.parquet.ParquetWriter(str(data / f"{split}-{number:05}.parquet"), schema) as writer:
            for batch in _batches(pa, _after(first, part), reporter):
                writer.write_batch(batch)
                count += batch.num_rows
                size += batch.nbytes
        if first is None:
            break
    return count, size


def _first(made: Iterator[SynthTask], most: int) -> Iterator[SynthTask]:
    for _ in range(most):
        try:
            yield next(made)
        except StopIteration:
            return


def _after(first: SynthTask | None, others: Iterator[SynthTask]) -> Iterator[SynthTask]:
    if first is not None:
        yield first
        yield from others


def _card(
    folder: Path, counts: Mapping[str, int], sizes: Mapping[str, int], name: str | None, licence: str, text: str
) -> str:
    pretty = name or folder.resolve().name
    files = "".join(f"  - split: {split}\n    path: data/{split}-*.parquet\n" for split in counts)
    splits = "".join(
        f"  - name: {split}\n    num_bytes: {sizes[split]}\n    num_examples: {count}\n" for split, count in counts.items()
    )
    pairs = "".join(_PAIRS.format(name=part) for part in ("train", "test"))
    table = "".join(f"| {split} | {count} |\n" for split, count in counts.items())
    return (
        "---\n"
        f"pretty_name: {json.dumps(pretty)}\n"
        f"license: {json.dumps(licence)}\n"
        f"size_categories:\n- {json.dumps(_size(sum(counts.values())))}\n"
        "tags:\n- arc-agi\n- program-synthesis\n- synthetic\n"
        "configs:\n- config_name: default\n  data_files:\n"
        f"{files}"
        "dataset_info:\n  features:\n"
        f"{_FEATURES.format(pairs=pairs)}"
        "  splits:\n"
        f"{splits}"
        "---\n\n"
        f"# {pretty}\n\n"
        f"{text}{chr(10) * 2 if text else ''}"
        "Tasks of the Abstraction and Reasoning Corpus's form, made of programs by `mega_batch.synth`. `train` and "
        "`test` are lists of pairs of grids, rows of colours from 0 to 9; `program` gives each output for its "
        "input.\n\n"
        "| Split | Tasks |\n|---|---|\n"
        f"{table}"
    )
