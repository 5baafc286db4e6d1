"""Checks of arguments, whose errors name the argument."""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, SupportsIndex, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

MOST = 2**64 - 1
"""The largest number that the engine takes."""


def whole(name: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """An integer from ``least`` to ``most``."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected a whole number, found {value!r}") from None
    if (least is not None and number < least) or (most is not None and number > most):
        end = "2**64 - 1" if most == MOST else most
        expected = f"{least} or more" if most is None else f"{least} to {end}"
        raise ValueError(f"{name}: expected {expected}, found {number}")
    return number


def truths(**values: object) -> None:
    """Checks that flags are True or False."""
    for name, value in values.items():
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name}: expected True or False, found {value!r}")


def integer(name: str, value: Any) -> int:
    """An index from 0 on."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected an integer, found {type(value).__name__}")
    return min(whole(name, value, 0), MOST)


def place(index: SupportsIndex, what: str, length: int) -> int:
    """The index of an element, counted from the end if it is negative; ``what`` names the elements."""
    try:
        return range(length)[operator.index(index)]
    except TypeError:
        raise TypeError(f"index: expected an integer, found {type(index).__name__}") from None
    except IndexError:
        raise IndexError(f"{what} {index} of {length}") from None


def same(array: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    """Whether arrays are equal, or both missing."""
    return np.array_equal(cast(Any, array), cast(Any, other))


def warn_of_old_name(old: str, new: str) -> None:
    """Warns whoever uses a name that will go with the next version."""
    warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=3)


P = ParamSpec("P")
R = TypeVar("R")


def renamed(old: str, function: Callable[P, R]) -> Callable[P, R]:
    """A function under its old name."""

    @functools.wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        warn_of_old_name(old, function.__name__)
        return function(*arguments, **keywords)

    return call
