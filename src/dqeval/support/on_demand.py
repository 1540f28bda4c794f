"""Fields and properties that are made when they are first asked for, and what threads share: made by one of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock, RLock
from typing import Any, Generic, TypeVar, cast, overload

Value = TypeVar("Value")

_guard = Lock()
# How many crews of threads are at work; where there are none, a lock would take longer than short work does.
_sharing = 0
_being_made: dict[tuple[int, Hashable], Any] = {}  # a lock for each thing that is being made


@contextmanager
def shared_by_threads() -> Iterator[None]:
    """Have what several threads ask for at the same time made by one of them."""
    global _sharing
    with _guard:
        _sharing += 1
    try:
        yield
    finally:
        with _guard:
            _sharing -= 1


def once(kept: dict[Any, Any], key: Hashable, make: Callable[[], Value]) -> Value:
    """Return what is kept under a key, or make it now.

    Of several threads that ask at the same time, one makes it, if they are `shared_by_threads`.

    Examples
    --------
    >>> kept = {}
    >>> once(kept, "sum", lambda: 1 + 2), once(kept, "sum", lambda: 4 + 5), kept
    (3, 3, {'sum': 3})
    """
    if not _sharing:
        if key not in kept:
            kept[key] = make()
        return cast(Value, kept[key])
    place = id(kept), key
    fresh = RLock()  # made outside of the guard: it may start a garbage collection, which may need the guard
    with _guard:
        lock = _being_made.setdefault(place, fresh)
    try:
        with lock:
            if key not in kept:
                kept[key] = make()
    finally:
        _being_made.pop(place, None)
    return cast(Value, kept[key])


class OnDemand(Generic[Value]):
    """A field that takes a value, or a function that makes it when it is first asked for.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Result:
    ...     rows: OnDemand[list[int]] = OnDemand()
    >>> Result(lambda: [1, 2]) == Result([1, 2])
    True
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    @overload
    def __get__(self, instance: None, owner: type) -> OnDemand[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            raise AttributeError(self._name)  # so that a data class takes it for a field without a default
        value = vars(instance)[self._name]
        if callable(value):  # looked up once: another thread may fill the field meanwhile
            value = vars(instance)[self._name] = value()
        return cast(Value, value)

    def __set__(self, instance: object, value: Value | Callable[[], Value]) -> None:
        vars(instance)[self._name] = value


class cached_property(Generic[Value]):  # noqa: N801 - it stands for that of functools
    """A property that is made when it is first asked for, once even if several threads ask, and kept.

    That of functools, up to Python 3.11, has one lock for all objects: two threads cannot sort two series at once. From
    Python 3.12 on it has none: two threads would sort the same series twice.

    Examples
    --------
    >>> class Numbers:
    ...     @cached_property
    ...     def made(self):
    ...         return [1, 2]
    >>> numbers = Numbers()
    >>> numbers.made is numbers.made
    True
    """

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        # From now on, the value is found before this is asked.
        return once(vars(instance), self._name, partial(self._make, instance))
