"""From files to what a command works on, series after series: each is read once and checked once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from dqeval.core.types import Progress, Series
from dqeval.core.validate import NoScoresError, NoSeriesError, errors_about
from dqeval.datasets.door import TABLE, Entry, Opened
from dqeval.datasets.loading import FORMATS
from dqeval.support.naming import TakenNames

Subject = TypeVar("Subject")

NUMBERED = "{} ({})"  # a name, and which of several it is


@dataclass(frozen=True, slots=True)
class Visit(Generic[Subject]):
    """A series that was read: where from, its place among all of them, and what the command works on."""

    opened: Opened
    place: int
    subject: Subject


class Walk(Generic[Subject]):
    """The series of some files, one after the other; those that cannot be used are named, and the others go on.

    Parameters
    ----------
    found : sequence of Entry
    names : sequence of str
        What to call them.
    subject : callable
        Series to what the command works on; its errors do not name the series.
    numbered : bool
        Whether those that can be used get numbers, where several have the same name: what was left out has none.
    progress : callable, optional
        All series count the same, and reading one as much as the work on it.

    Attributes
    ----------
    errors : list of Exception
        What is wrong with the series that cannot be used.
    without_scores : list of str
        The series in folders and packs, not named by themselves, that have no scores, where the command needs some: a
        folder may hold series beside files with their scores.
    no_series : list of str
        The files in folders that are tables of something else.

    Notes
    -----
    Where no series can be used at all, the first error is raised.
    """

    def __init__(
        self,
        found: Sequence[Entry],
        names: Sequence[str],
        subject: Callable[[Series], Subject],
        progress: Progress | None = None,
        *,
        numbered: bool = False,
    ) -> None:
        self._taken = TakenNames(NUMBERED) if numbered else None
        self._found, self._names, self._subject = found, names, subject
        self._progress = progress or (lambda done, total: None)
        self._read = 0
        self._share = 0.0
        self._said: set[str] = set()
        self.errors: list[Exception] = []
        self.without_scores: list[str] = []
        self.no_series: list[str] = []

    def __iter__(self) -> Iterator[Visit[Subject]]:
        unused: list[Exception] = []
        for place, (entry, name) in enumerate(zip(self._found, self._names, strict=True)):
            called = name if self._taken is None else self._taken.next(name)
            try:
                visit = self._visit(entry, called, place)
            except (NoScoresError, NoSeriesError) as error:
                unused.append(error)
                if entry.in_folder or not entry.alone:
                    (self.without_scores if isinstance(error, NoScoresError) else self.no_series).append(name)
                else:
                    self._keep(error)
            except (ValueError, OSError) as error:
                unused.append(error)
                self._keep(error)
            else:
                if self._taken is not None:
                    self._taken.take(name)
                yield visit
        if len(unused) == len(self._found):
            raise (self.errors or unused)[0]

    def _keep(self, error: Exception) -> None:
        """Keep what is wrong; once, where it is the same for all series of a table, such as a missing column."""
        if str(error) not in self._said:
            self._said.add(str(error))
            self.errors.append(error)

    def _visit(self, entry: Entry, name: str, place: int) -> Visit[Subject]:
        try:
            opened = entry.read(name=name, progress=self._reading)
        finally:
            self._read += 1
        try:
            return Visit(opened, place, self._subject(opened.series))
        except NoScoresError as error:  # which names the series
            raise NoScoresError(f"{error}{_advice(entry)}") from None
        except ValueError:
            with errors_about(name):
                raise

    def _reading(self, done: int, total: int) -> None:
        self._tell(2 * self._read * total + done, 2 * len(self._found) * total)

    def working(self, done: int, total: int) -> None:
        """Say how much of the work on the series that was read last is done."""
        self._tell((2 * self._read - 1) * total + done, 2 * len(self._found) * total)

    def _tell(self, done: int, total: int) -> None:
        """Say how much of everything is done; never less than before, where several series are worked on at once."""
        if total and done / total >= self._share:
            self._share = done / total
            self._progress(done, total)


def _advice(entry: Entry) -> str:
    """Return what else to do about a file without scores that is a table, or could be read as one."""
    if entry.source.format == TABLE:
        return "; in a table, each numeric column beside the labels and values is a detector's scores"
    if not FORMATS[TABLE].may_fit(entry.path):
        return ""
    return "; if some of its columns are scores, name them with --score"
