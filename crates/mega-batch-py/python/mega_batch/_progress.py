"""Progress bars, if tqdm is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Progress = bool | Callable[[int, int], object] | None
"""True for a bar by tqdm, or a function that is called with the numbers done and in total."""


def callback(given: Any, unit: str) -> Callable[[int, int], object] | None:
    """The function to call; for True a bar that counts in ``unit``."""
    if given is None or given is False:
        return None
    if given is True:
        return Bar(unit)
    if callable(given):
        function: Callable[[int, int], object] = given
        return function
    raise TypeError(f"progress: expected True, False, or a function of what is done and of all there is, found {given!r}")


class Bar:
    """A tqdm bar as a callback."""

    def __init__(self, unit: str) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError(
                'progress=True needs tqdm, which the extra "progress" has: pip install "mega-batch[progress]", or '
                "pip install tqdm; or give a function of what is done and of all there is"
            ) from error
        self._bar: Any = tqdm(unit=unit, unit_scale=True)

    def __call__(self, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()
