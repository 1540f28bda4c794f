"""What every result of a command has: forms to be shown in, numbers by detector, warnings, a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from dqeval.render.tables import Page, Part

Values = Mapping[str, Mapping[str, float]]  # by detector, then by name of a metric or of a part of DQE


class Shown(Protocol):
    """A result in all the forms in which it is shown."""

    def page(self) -> Page:
        """Return it for people."""
        ...

    def records(self) -> list[dict[str, Any]]:
        """Return it as flat rows."""
        ...

    def numbers(self) -> dict[str, Any]:
        """Return all of it, ready for JSON but for NaN."""
        ...


class Result(Shown, Protocol):
    """What a command found in one series or several."""

    @property
    def by_detector(self) -> Values:
        """The numbers of every detector; for several series the means."""
        return {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may make the numbers wrong, in sentences."""
        return ()

    @property
    def failed(self) -> bool:
        """Whether something is wrong with the input that makes numbers wrong or undefined."""
        return False

    def titled(self, name: str) -> list[Part]:
        """Return the parts of the page as they stand among those of other series, under the name of this one."""
        return list(self.page().parts)
