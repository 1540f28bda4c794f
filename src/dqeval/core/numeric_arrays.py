"""What callers give, as arrays of numbers: any sequence goes in, and an error says what is wrong in it, and where."""

from __future__ import annotations

import math
import numbers
import sys
from decimal import Decimal
from typing import Any

import numpy as np

from dqeval.core.arguments import as_float
from dqeval.core.scaling import AT_ONCE, extremes
from dqeval.core.types import BoolArray, FloatArray, Numbers


def as_array(name: str, given: Any) -> np.ndarray[Any, Any]:
    """Return what was given as an array of any shape."""
    masked = sys.modules.get("numpy.ma")  # loaded by whoever has a masked array, and it takes long to load
    if masked is not None and isinstance(given, masked.MaskedArray) and masked.is_masked(given):
        raise ValueError(f"{name} has masked values: remove or fill them first")
    if hasattr(given, "detach"):
        given = _without_gradient(given)
    try:
        return np.asarray(given)
    except (ValueError, TypeError, RuntimeError, UserWarning) as error:  # a warning of masked values may be an error
        advice = "convert it to an array of floats first"
        raise ValueError(f"{name} cannot be read as an array of numbers: {error}; {advice}") from None


def _without_gradient(tensor: Any) -> Any:
    """Return the numbers of a tensor of PyTorch, wherever it is; in bfloat16, which NumPy does not know, as floats."""
    found = tensor.detach().cpu()
    return found.float() if str(found.dtype) == "torch.bfloat16" else found


def array_of(name: str, given: Numbers, *, one_column: bool = False) -> np.ndarray[Any, Any]:
    """Return what was given as a one-dimensional array of numbers or booleans."""
    array = as_array(name, given)
    if one_column and array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 0:
        raise ValueError(f"{name} must be a one-dimensional array: got {type(given).__name__}")
    if array.ndim > 1:
        raise ValueError(f"{name} must be one-dimensional: its shape is {array.shape}; pass one column")
    if array.size == 0:
        raise ValueError(f"{name} is empty: at least one point is needed")
    if array.dtype == object:
        array = _from_objects(name, array)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numeric or boolean: its dtype is {array.dtype}")
    return array


def _from_objects(name: str, array: np.ndarray[Any, Any]) -> FloatArray:
    """Return an array of Python objects, all of them numbers, as floats."""
    for index, item in enumerate(array):
        if not isinstance(item, (numbers.Real, Decimal, np.bool_)):
            what = "is missing" if item is None or type(item).__name__ == "NAType" else f"is {item!r}"
            raise ValueError(f"{name} must be numeric: the value at index {index} {what}")
    return np.array([as_float(item) for item in array])


def float_array(name: str, given: Numbers, *, one_column: bool = False) -> FloatArray:
    """Return what was given as a one-dimensional array of floats, which may be infinite or NaN."""
    return np.ascontiguousarray(array_of(name, given, one_column=one_column), dtype=np.float64)


def finite_array(name: str, given: Numbers, *, one_column: bool = False) -> FloatArray:
    """Return what was given as a one-dimensional array of finite floats."""
    found = float_array(name, given, one_column=one_column)
    # If the sum is finite, so is every value. If it is not, it may be too large, and the extremes tell. Neither of them
    # needs a temporary array.
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(found.sum())
    if not math.isfinite(total) and not all(map(math.isfinite, extremes(found))):
        raise ValueError(f"{name} must be finite: {bad_values(found, ~np.isfinite(found))}; remove or fill them first")
    return found


def binary_array(
    name: str,
    given: Numbers,
    *,
    beside: tuple[str, Numbers] | None = None,
    first: str = "",
    advice: str = "1 marks an anomaly, 0 a normal point",
) -> BoolArray:
    """Return what was given as booleans; ``beside`` is what it may have been swapped with, and its name."""
    array = array_of(name, given)
    if (found := _from_bits(array)) is not None:
        return found
    if (bad := _not_binary(array)).any():
        if beside is not None and _is_binary(beside[1]):
            advice = f"{beside[0]} is binary, so the two look swapped: {first} comes first"
        raise ValueError(f"{name} must contain only 0 and 1: {bad_values(array, bad)}; {advice}")
    return np.ascontiguousarray(array, dtype=np.bool_)


def _from_bits(array: np.ndarray[Any, Any]) -> BoolArray | None:
    """Return booleans or whole numbers that are binary, as booleans; None for anything else. Memory is read once."""
    if array.dtype == np.bool_:
        return np.ascontiguousarray(array)
    if array.dtype.kind not in "iu":
        return None
    found = np.empty(len(array), dtype=np.bool_)
    for begin in range(0, len(array), AT_ONCE):
        some = array[begin : begin + AT_ONCE]
        if np.bitwise_or.reduce(some) not in (0, 1):
            return None
        found[begin : begin + AT_ONCE] = some
    return found


def _not_binary(array: np.ndarray[Any, Any]) -> BoolArray:
    return np.asarray((array != 0) & (array != 1))


def _is_binary(given: Numbers) -> bool:
    try:
        return not _not_binary(array_of("", given)).any()
    except ValueError:
        return False


def bad_values(array: np.ndarray[Any, Any], bad: BoolArray) -> str:
    """Say how many values are bad, where the first one is, and what it is."""
    count, index = int(np.count_nonzero(bad)), int(np.argmax(bad))
    verb = "is" if count == 1 else "are"
    return f"{count:,} of {len(array):,} values {verb} not (first at index {index}: {array[index]})"


def same_length(name: str, one: np.ndarray[Any, Any], other_name: str, other: np.ndarray[Any, Any]) -> None:
    """Check that two arrays have a value for the same points."""
    if len(one) != len(other):
        raise ValueError(f"{name} and {other_name} must have the same length: got {len(one):,} and {len(other):,}")
