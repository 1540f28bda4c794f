"""From files to a result that is shown, or to files: what the commands that read series have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dqeval.cli import gate, output
from dqeval.cli.options import writable
from dqeval.cli.output_formats import OutputFormat
from dqeval.support.naming import distinct, file_names, same_on_disk
from dqeval.support.writing import atomic_write, refuse_overwriting

if TYPE_CHECKING:
    from dqeval.analysis.result import Result, Values
    from dqeval.analysis.walk import Walk
    from dqeval.core.prepared import Prepared
    from dqeval.datasets.door import Asked, Entry

MOST_NAMED = 3  # series that were left out


def find_entries(
    files: Sequence[Path] | None,
    label: str | None = None,
    value: str | None = None,
    scores: Sequence[str] | None = None,
    series: str | None = None,
    incidents: Path | None = None,
    time: str | None = None,
    timezone: str | None = None,
) -> list[Entry]:
    """Return the series in files and folders, from the columns that were asked for; of a long table maybe only some."""
    from dqeval.datasets.door import entries

    if not files:
        raise typer.BadParameter("name a file; or give --incidents and --alerts")
    asked = asked_columns(label, value, scores, series, incidents, time, timezone)
    if asked.series is None:
        return list(entries(files, asked))
    with output.progress("reading") as tell:
        return list(entries(files, asked, progress=tell))


def asked_columns(
    label: str | None,
    value: str | None,
    scores: Sequence[str] | None,
    series: str | None,
    incidents: Path | None,
    time: str | None,
    timezone: str | None,
) -> Asked:
    """Return which columns of files to read, from the options about them."""
    from dqeval.datasets.door import Asked
    from dqeval.datasets.interval_files import IntervalSource

    if incidents is not None and label is not None:
        raise typer.BadParameter("--incidents stand in place of labels: leave out --label")
    column, chosen, names = (series or "").partition("=")
    found = None if incidents is None else IntervalSource(incidents, column or None, timezone)
    if found is not None and series is not None and found.choose(series):
        column, chosen = "", ""
    return Asked(label, value, scores, column or None, names if chosen else None, time, timezone, found)


@dataclass(frozen=True, slots=True)
class Intervals:
    """What was said of the clock, of incidents and alerts, and which part of series to take.

    Attributes
    ----------
    resolution, max_gap : optional
        How time is counted.
    incidents : Path, optional
    alerts : list of Path, optional
    span : str, optional
    time : str, optional
        The column of timestamps.
    timezone : str, optional
        Of dates that are written without one.
    part : "all" or "test"
        Of each series.
    """

    resolution: Any
    max_gap: Any
    incidents: Path | None
    alerts: list[Path] | None
    span: str | None
    time: str | None
    timezone: str | None
    part: str

    @property
    def parameters(self) -> dict[str, Any]:
        """What a receipt says of the clock and the part: only what was said; of alerts, it is a part of the input."""
        given = {"resolution": self.resolution, "max_gap": self.max_gap, "part": self.part}
        given = {} if self.alerts else given
        return {name: value for name, value in given.items() if value is not None}


def series_of(
    files: Sequence[Path] | None,
    label: str | None,
    value: str | None,
    scores: Sequence[str] | None,
    series: str | None,
    intervals: Intervals,
) -> list[Entry]:
    """Return the series in files and folders, with labels or incidents; or the one of incidents and alerts."""
    from dqeval.datasets.alerts import alert_file, alerts_entry

    if not intervals.alerts:
        if intervals.span is not None:
            raise typer.BadParameter("--span is for --alerts: files with scores say themselves when they begin and end")
        clock = (intervals.incidents, intervals.time, intervals.timezone)
        return find_entries(files, label, value, scores, series, *clock)
    if files:
        raise typer.BadParameter("--alerts stand in place of files with scores: give one or the other")
    columns = {
        "--label": label,
        "--value": value,
        "--score": scores,
        "--series": series,
        "--time": intervals.time,
        "--max-gap": intervals.max_gap,
        "--part": None if intervals.part == "all" else intervals.part,
    }
    for option, given in columns.items():
        if given is not None:
            raise typer.BadParameter(f"{option} is for files with scores, and says nothing of --alerts: leave it out")
    if intervals.incidents is None:
        raise typer.BadParameter("--alerts need --incidents to be compared with")
    span = None if intervals.span is None else _ends(intervals.span)
    alerts = [alert_file(file) for file in intervals.alerts]
    return [alerts_entry(intervals.incidents, alerts, span, intervals.resolution, intervals.timezone)]


def _ends(span: str) -> tuple[str, str]:
    start, between, end = span.partition("..")
    if not between:
        raise typer.BadParameter(f"--span must be two times, such as 2026-01-01..2026-02-01: got {span}")
    return start, end


def show(
    command: str,
    found: Sequence[Entry],
    parameters: Mapping[str, Any],
    *,
    form: OutputFormat,
    path: Path | None,
    limits: Mapping[str, float] | None = None,
    workers: int | None = None,
    also: Callable[[Any], None] = lambda result: None,
) -> None:
    """Read the series, do what the command does, show it, also in other ways, and exit with the code for it."""
    from dqeval.analysis.receipt_commands import COMMANDS

    if path is not None:
        refuse_overwriting(path)
    inputs = _Inputs(form.is_receipt)
    with output.progress(command) as tell:
        walk = _walk(command, found, inputs.names(found), parameters, tell, numbered=form.is_receipt)
        with _others_told(walk):
            result = COMMANDS[command].work(inputs.subjects(walk), parameters, walk.working, workers)
    output.emit(result, form, path, lambda: inputs.receipt(command, parameters, result))
    also(result)
    _warn(result.warnings)
    _finish(walk, gate.below_limits(limits or {}, result.by_detector), failed=result.failed)


class _Inputs:
    """The inputs of a command, and what a receipt says of them, if there is to be one."""

    def __init__(self, in_receipt: bool) -> None:
        self._in_receipt = in_receipt
        self._records: list[dict[str, Any]] = []

    def names(self, found: Sequence[Entry]) -> list[str]:
        """Return what to call the series."""
        if not self._in_receipt:
            return entry_titles(found)
        from dqeval.analysis.receipts import entry_names

        return entry_names(found)

    def subjects(self, walk: Walk[Any]) -> Iterator[Any]:
        """Yield what the command works on, and keep what a receipt says of it."""
        for visit in walk:
            if self._in_receipt:
                from dqeval.analysis.receipts import record_of

                self._records.append(record_of(visit))
            yield visit.subject

    def receipt(self, command: str, parameters: Mapping[str, Any], result: Result) -> dict[str, Any]:
        """Return the receipt."""
        from dqeval.analysis.receipts import receipt

        return receipt(command, self._records, parameters, result)


def write_each(
    command: str,
    found: Sequence[Entry],
    places: Sequence[Path],
    parameters: Mapping[str, Any],
    write: Callable[[Prepared, Path, output.Tell], Written],
    *,
    limits: Mapping[str, float],
    after: Callable[[Path], None] = lambda place: None,
) -> None:
    """Write a file for each of the series, do something with the first, and exit with the code for what came of it."""
    from dqeval.analysis.several import means

    with output.progress(command) as tell:
        walk = _walk("compare", found, entry_titles(found), parameters, tell)
        with _others_told(walk):
            written, left_out = _written(walk, places, write)
    first = next(iter(written))
    output.tell(f"wrote {first}" if len(places) == 1 else f"wrote {len(written):,} files to {first.parent}")
    if left_out:
        from dqeval.analysis.score_result import left_out_sentence

        output.tell(left_out_sentence(left_out))
    after(first)
    _warn([sentence for each in written.values() for sentence in each.warnings])
    _finish(walk, gate.below_limits(limits, means([each.values for each in written.values()])))


@dataclass(frozen=True, slots=True)
class Written:
    """What a file that was written says of every detector, and what may make that wrong."""

    values: Values
    warnings: Sequence[str] = ()


def _written(
    walk: Walk[Prepared], places: Sequence[Path], write: Callable[[Prepared, Path, output.Tell], Written]
) -> tuple[dict[Path, Written], list[str]]:
    """Return what was written, by place, and the names of the series that have no anomaly, if others have some."""
    from dqeval.core.validate import UndefinedError, errors_about

    written: dict[Path, Written] = {}
    undefined: dict[str, UndefinedError] = {}
    for visit in walk:
        prepared, place = visit.subject, places[visit.place]
        try:
            with errors_about(prepared.name), atomic_write(place) as beside:
                written[place] = write(prepared, beside, walk.working)
        except UndefinedError as error:
            undefined[prepared.name] = error
    if not written:
        raise next(iter(undefined.values()))
    return written, list(undefined)


def _walk(
    command: str,
    found: Sequence[Entry],
    names: Sequence[str],
    parameters: Mapping[str, Any],
    tell: output.Tell,
    *,
    numbered: bool = False,
) -> Walk[Any]:
    from dqeval.analysis.receipt_commands import COMMANDS
    from dqeval.analysis.walk import Walk
    from dqeval.core.near import check_options

    if len(found) > 1:  # or every series would be told to be at fault
        check_options(parameters.get("near"), parameters.get("period"))
    return Walk(found, names, lambda series: COMMANDS[command].subject(series, parameters), tell, numbered=numbered)


@contextmanager
def _others_told(walk: Walk[Any]) -> Iterator[None]:
    """Where an error ends the work, say first what else was wrong."""
    try:
        yield
    except Exception as error:
        for other in walk.errors:
            if other is not error:
                output.tell(output.sentence_of(other))
        raise


def _warn(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        output.tell(f"warning: {sentence}")


def _finish(walk: Walk[Any], below_limits: Sequence[str], *, failed: bool = False) -> None:
    """Say what was left out and what went wrong; exit with code 2 if a series could not be used, or 1 for a verdict."""
    for lacking, names in {"scores": walk.without_scores, "series": walk.no_series}.items():
        if names:
            more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
            output.tell(f"left out, because they hold no {lacking}: {', '.join(names[:MOST_NAMED])}{more}")
    for sentence in below_limits:
        output.tell(sentence)
    output.finish([output.sentence_of(error) for error in walk.errors])
    if below_limits or failed:
        raise typer.Exit(1)


def places_for(found: Sequence[Entry], path: Path, kind: str, check: Callable[[Path], Any]) -> list[Path]:
    """Return where to write a file for each of the series: the one that was asked for, or files in a folder.

    A place without an ending is a folder, which is created if it is missing.
    """
    if path.is_dir() or not path.suffix:
        path.mkdir(parents=True, exist_ok=True)
        stems = distinct([entry.stem for entry in found], "{}_{}", key=same_on_disk)
        places = [path / name for name in file_names(stems, kind)]
    elif len(found) == 1:
        check(path)
        places = [path]
    else:
        raise ValueError(f"-o {path} is one file, and there are {len(found):,} to write: name a folder, such as out")
    for place in places:
        writable(place)
        refuse_overwriting(place)
    return places


def tell_of_unknown_metrics(folder: Path) -> None:
    """Say which metrics of a run are shown by name alone, if any are."""
    from dqeval.bench.kept_plan import unknown_metrics

    if sentence := unknown_metrics(folder):
        output.tell(sentence)


def entry_titles(found: Sequence[Entry]) -> list[str]:
    """Return what to call the series: as their files, or by their own names where a file holds several.

    Where two files hold series of the same name, the files tell them apart.
    """
    files = series_names([entry.path for entry in found])
    names = [entry.source.name for entry in found]
    counts = Counter(name for name, entry in zip(names, found, strict=True) if not entry.alone)
    own = [name if counts[name] == 1 else f"{file}: {name}" for file, name in zip(files, names, strict=True)]
    return [file if entry.alone else name for file, name, entry in zip(files, own, found, strict=True)]


def series_names(files: Sequence[Path]) -> list[str]:
    """Return what to call the series: by their files' names, with as many folders as tell those of one name apart."""
    counts = Counter(tail for file in set(files) for tail in _tails(file))
    return [next((tail for tail in _tails(file) if counts[tail] == 1), _tails(file)[-1]) for file in files]


def _tails(file: Path) -> list[str]:
    """Return the name of a file, then with its folder, and so on."""
    if str(file) == "-":
        return ["standard input"]
    names = file.relative_to(file.anchor).parts
    return ["/".join(names[i:]) for i in reversed(range(len(names)))] or [str(file)]
