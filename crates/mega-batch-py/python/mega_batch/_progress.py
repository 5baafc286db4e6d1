"""Progress bars, where tqdm is installed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

Progress = bool | Callable[[int, int], object]


class Bar:
    """A tqdm bar as a callback."""

    def __init__(self, unit: str) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError(
                "progress=True needs tqdm: pip install tqdm, or give a function of done and total"
            ) from error
        self._bar: Any = tqdm(unit=unit, unit_scale=True)

    def __call__(self, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def __enter__(self) -> Callable[[int, int], object]:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()


def callback(
    progress: Progress, unit: str
) -> AbstractContextManager[Callable[[int, int], object] | None]:
    """What a run calls with what is done and what there is to do; nothing where none is asked for."""
    if progress is True:
        return Bar(unit)
    return nullcontext(progress or None)
