"""What the kernels need of the ``cython`` module when Cython is not installed.

A kernel is an ordinary Python file. Compiled, its ``import cython`` is resolved by the compiler. Interpreted, only what
stands here is ever evaluated (annotations are not), and but for the casts it changes nothing.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

Decorated = TypeVar("Decorated")

compiled = False


class _Number:
    """A type of numbers. Called, it converts as C does; with a size, it stands for arrays."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self.convert = convert

    def __call__(self, value: Any) -> Any:
        return self.convert(value)

    def __getitem__(self, size: int) -> Callable[[], list[Any]]:
        return lambda: [self.convert(0)] * size


# To a float, or to a whole number by cutting off what is behind the point.
double = _Number(float)
Py_ssize_t = longlong = ulonglong = int = _Number(int)


def declare(kind: Callable[..., Any], *value: Any) -> Any:
    """Return the value as one of the given kind, or an array of that kind."""
    return kind(*value)


cast = declare


def cfunc(decorated: Decorated) -> Decorated:
    """Return what was decorated, unchanged."""
    return decorated


cclass = final = inline = cfunc


def exceptval(*, check: bool) -> Callable[[Decorated], Decorated]:
    """Return a decorator that changes nothing."""
    return cfunc


class _NoGil(nullcontext[None]):
    """A context manager and a decorator that do nothing."""

    def __call__(self, decorated: Decorated) -> Decorated:
        return decorated


nogil = _NoGil()
