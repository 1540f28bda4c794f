"""Checks of single arguments: an error says what was wrong, and what to do."""

from __future__ import annotations

import difflib
import math
import numbers
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

LARGEST_SEED = 2**128 - 1  # as much as the state of a random generator of NumPy holds
_LONGEST_SHOWN = 80
_SHORT = 10**30
_HEAVIEST = 1000
# From the name of an argument and what was given for it, to what is computed with.
Check = Callable[[str, Any], Any]
_NO_NUMBERS = (bool, np.bool_, np.timedelta64)  # though Python and NumPy count them among the numbers


def known_names(given: Iterable[str], known: Sequence[str], what: str) -> None:
    """Check that something has all the names that were given."""
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known) or 'none'}"
            raise ValueError(f"{what} has no {name!r}: {hint}")


def checked(checks: Mapping[str, Check], **given: Any) -> dict[str, Any]:
    """Return arguments by name, each as its check returns it; those that have no check, as they are."""
    return {name: checks[name](name, value) if name in checks else value for name, value in given.items()}


def or_none(check: Check) -> Check:
    """Return a check that lets None through."""
    return lambda name, given: None if given is None else check(name, given)


def one_of(name: str, given: Any, choices: tuple[str, ...]) -> Any:
    """Return an option that is one of the choices."""
    if not (isinstance(given, str) and given in choices):
        raise ValueError(f"{name} must be {either([repr(choice) for choice in choices])}: got {quote(given)}")
    return given


def either(choices: Sequence[str]) -> str:
    """Return choices in words.

    Examples
    --------
    >>> either(["a", "b", "c"]), either(["a"])
    ('a, b or c', 'a')
    """
    return " or ".join([", ".join(choices[:-1]), choices[-1]] if len(choices) > 1 else choices)


def text(name: str, given: Any) -> str:
    """Return a text."""
    if not isinstance(given, str):
        raise ValueError(f"{name} must be a text: got {quote(given)}")
    return given


def path(name: str, given: Any) -> Path:
    """Return the path of a file."""
    if not isinstance(given, (str, PathLike)):
        raise ValueError(f"{name} must be the path of a file: got {quote(given)}")
    return Path(given)


def truth(name: str, given: Any) -> bool:
    """Return True or False, which nothing else stands for."""
    if not isinstance(given, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False: got {quote(given)}")
    return bool(given)


def callback(name: str, given: Any) -> Any:
    """Return a function to call, or None."""
    if given is not None and not callable(given):
        raise ValueError(f"{name} must be a function to call, or None: got {quote(given)}")
    return given


def seed(given: Any, *, name: str = "seed", most: int = LARGEST_SEED) -> int:
    """Return the seed of random numbers."""
    return whole_number(name, given, least=0, most=most)


def whole_number(name: str, given: Any, *, least: int, most: int | None = None) -> int:
    """Return a whole number; a float will do if it is one."""
    try:
        number = int(given) if isinstance(given, float) and given.is_integer() else operator.index(given)
    except TypeError:
        number = least - 1
    if number < least or isinstance(given, _NO_NUMBERS):
        raise ValueError(f"{name} must be a whole number of at least {least}: got {quote(given)}")
    return number if most is None else at_most(name, number, most)


def at_most(name: str, number: int, most: int, *, advice: str = "") -> int:
    """Return a number that is not too large."""
    if number > most:
        raise ValueError(f"{name} must be at most {most:,}: got {written_out(number)}{advice}")
    return number


def written_out(number: int) -> str:
    """Return a number as it stands in messages."""
    return f"{number:,}" if number < _SHORT else quote(number)


def share(name: str, given: Any) -> float:
    """Return a number from 0 to 1."""
    if not _is_real(given) or not 0 <= as_float(given) <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1: got {quote(given)}")
    return float(given)


def _is_real(given: Any) -> bool:
    return isinstance(given, numbers.Real) and not isinstance(given, _NO_NUMBERS)


def quote(given: Any) -> str:
    """Return what was given as it stands in messages: not longer than a line.

    Examples
    --------
    >>> quote("a"), quote(np.float64(5.5))
    ("'a'", '5.5')
    """
    try:
        is_number = isinstance(given, np.number) and not isinstance(given, np.timedelta64)
        text = str(given) if is_number else repr(given)  # NumPy's repr of a number has its type too
    except ValueError:  # Python refuses to write very long whole numbers
        text = f"a {type(given).__name__} too long to show"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def as_float(number: Any) -> float:
    """Return a number as a float; NaN for a signalling NaN, and infinity for what no float can hold."""
    try:
        return float(number)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


def real_number(name: str, given: Any, *, least: float, advice: str) -> float:
    """Return a finite number of at least 0, or above 0."""
    rule = "must be a finite number of at least 0" if least == 0 else "must be a finite number above 0"
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given.item()
    if not _is_real(given):
        raise ValueError(f"{name} {rule}: got {quote(given)}; {advice}")
    value = as_float(given)
    if not (math.isfinite(value) and value >= least):
        raise ValueError(f"{name} {rule}: got {value:g}; {advice}")
    return value


def weight(name: str, given: Any) -> float:
    """Return a number above 0 that can be squared, or be a power, without leaving the floats."""
    advice = f"it is at most {_HEAVIEST:,}"
    value = real_number(name, given, least=math.ulp(0.0), advice=advice)
    if value > _HEAVIEST:
        raise ValueError(f"{name} must be at most {_HEAVIEST:,}: got {value:g}")
    return value


def at_most_one(**options: object) -> None:
    """Check that no two of the options are given."""
    given = [name for name, value in options.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"give at most one of {', '.join(options)}: got {' and '.join(given)}")
