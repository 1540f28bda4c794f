"""Checks of the parameters of a detector, by name and by type, before it runs."""

from __future__ import annotations

import inspect
import numbers
import typing
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal

from dqeval.core import arguments
from dqeval.core.entries import Detector

_KINDS: dict[Any, tuple[Any, str]] = {
    bool: (bool, "true or false"),
    str: (str, "text"),
    float: (numbers.Real, "a number"),
    int: (numbers.Real, "a number"),
}


def check_parameters(detector: Detector, given: Mapping[str, Any]) -> None:
    """Check parameters given to a detector: their names, and values by its signature and what it says of them."""
    arguments.known_names(given, list(detector.parameters), f"the detector {detector.name}")
    hints = _hints(detector.function)
    for name, value in given.items():
        try:
            _check(name, value, _allowed_values(hints.get(name), detector.parameters[name]), detector.least.get(name))
        except ValueError as error:
            raise ValueError(f"the detector {detector.name}: {error}") from None


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(inspect.unwrap(function))
    except Exception:  # names that only a type checker knows
        return {}


def _allowed_values(hint: Any, default: Any) -> tuple[Any, ...]:
    """Return the types and literals that a parameter may be; nothing if that is not known."""
    if hint is None:
        return (type(default),) if type(default) in _KINDS else ()
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, UnionType) else (hint,)


def _check(name: str, value: Any, allowed: tuple[Any, ...], least: int | None) -> None:
    literals = [choice for kind in allowed if typing.get_origin(kind) is Literal for choice in typing.get_args(kind)]
    kinds = [kind for kind in allowed if typing.get_origin(kind) is not Literal]
    if value in literals or (value is None and NoneType in kinds):
        return
    if least is not None:
        arguments.whole_number(name, value, least=least)
        return
    known = [_KINDS[kind] for kind in kinds if kind in _KINDS]
    if len(known) < len([kind for kind in kinds if kind is not NoneType]) or not allowed:
        return  # of some other type, of which only the detector knows what it may be
    if any(isinstance(value, kind) and (kind is bool or not isinstance(value, bool)) for kind, _ in known):
        return
    choices = [*map(repr, literals), *dict.fromkeys(words for _, words in known)]
    raise ValueError(f"{name} must be {arguments.either(choices)}: got {value!r}")
