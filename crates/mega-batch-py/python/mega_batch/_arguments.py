"""Checks of arguments, whose errors name the argument."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

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
