"""Fields and properties that are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast, overload

Value = TypeVar("Value")


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
    """A property that is made when it is first asked for, and kept.

    That of functools, up to Python 3.11, has one lock for all objects: two threads cannot sort two series at once.

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
        value = vars(instance)[self._name] = self._make(instance)
        return value
