"""`PRIMITIVES`: the primitives with their signatures and descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ._engine import _SIGNATURES


class Primitive(str):
    """A primitive of the DSL: its name, with its signature.

    ``family`` is its group, such as "colours"; ``parameters`` are names and types in order, ``returns`` is the type
    of its result, and ``text`` says in a line what it does.
    """

    __slots__ = ("family", "parameters", "returns", "text")

    family: str
    parameters: tuple[tuple[str, str], ...]
    returns: str
    text: str

    def __new__(
        cls,
        name: str,
        family: str = "",
        text: str = "",
        parameters: Iterable[tuple[str, str]] = (),
        returns: str = "Any",
    ) -> Primitive:
        made = super().__new__(cls, name)
        made.family = family
        made.text = text
        made.parameters = tuple((name, type_) for name, type_ in parameters)
        made.returns = returns
        return made

    @property
    def signature(self) -> str:
        """The signature, such as ``vmirror(piece: Piece) -> Piece``."""
        parameters = ", ".join(f"{name}: {type_}" for name, type_ in self.parameters)
        return f"{self}({parameters}) -> {self.returns}"

    def __reduce__(self) -> tuple[type[Primitive], tuple[object, ...]]:
        return Primitive, (str(self), self.family, self.text, self.parameters, self.returns)


def _plain(text: str) -> str:
    # Removes links of the engine's own documentation.
    return re.sub(r"\[(`[^`]*`)\]\([^)]*\)", r"\1", text)


PRIMITIVES: tuple[Primitive, ...] = tuple(
    Primitive(name, family, _plain(text), parameters, returns)
    for name, family, text, parameters, returns in _SIGNATURES
)


def primitives_text(names: Iterable[str] | None = None) -> str:
    """A line for each primitive, its signature and what it does, for prompts. ``names`` are primitives or families to
    list; all by default.

    Raises ValueError for an unknown name, and TypeError for anything but a list of names, such as a ``str``.
    """
    wanted = PRIMITIVES
    if names is not None:
        if isinstance(names, str):
            raise TypeError(f"names: expected a list of names, found one text, {str(names)!r}")
        if not isinstance(names, Iterable):
            raise TypeError(f"names: expected a list of names, found {type(names).__name__}")
        chosen = list(names)
        known = {str(each) for each in PRIMITIVES} | {each.family for each in PRIMITIVES}
        for name in chosen:
            if not isinstance(name, str) or name not in known:
                raise ValueError(f"names: {name!r}: expected a primitive or a family")
        wanted = tuple(each for each in PRIMITIVES if str(each) in chosen or each.family in chosen)
    return "".join(f"{each.signature}: {each.text}\n" for each in wanted)
