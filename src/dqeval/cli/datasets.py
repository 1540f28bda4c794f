"""``dqeval datasets``: list labelled series of any format, or generate some."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqeval.cli import output
from dqeval.cli.help import App
from dqeval.cli.options import Output, OutputFolder, PlainForm, SeriesColumn, SeriesFiles
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.series_files import series_columns, sources_of, write_columns

if TYPE_CHECKING:
    from dqeval.datasets.loading import Source
    from dqeval.render.tables import Page

datasets = App(help="List labelled series of any format, or generate some.")


@dataclass(frozen=True, slots=True)
class SeriesRow:
    """A series in a listing."""

    series: str
    format: str
    points: int
    events: int
    share_anomalous: float
    train_stop: int | None
    period: int | None
    no_period: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A listing of series, to be shown."""

    rows: tuple[SeriesRow, ...]

    def page(self) -> Page:
        """Return a table, one row per series."""
        from dqeval.render.tables import Page, Table

        header = ("series", "format", "points", "events", "anomalous", "train_stop", "period")
        return Page([Table(header, [_cells(row) for row in self.rows], text_columns=2)])

    def records(self) -> list[dict[str, Any]]:
        """Return one row per series."""
        return [asdict(row) for row in self.rows]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {"series": self.records()}


@datasets.command("list")
def list_series(
    files: SeriesFiles,
    series: SeriesColumn = None,
    form: PlainForm = OutputFormat.TABLE,
    path: Output = None,
) -> None:
    """List series: points, events, end of training, period. Exit code 2 if one cannot be read."""
    from dqeval.datasets.loading import source_titles

    sources = sources_of(files, series=series)
    rows, failures = [], []
    with output.progress("datasets list") as tell:
        for done, (title, source) in enumerate(zip(source_titles(sources), sources, strict=True), start=1):
            try:
                rows.append(_row(title, source))
            except Exception as error:  # one bad file must not hide the others
                failures.append(output.sentence_of(error))
            tell(done, len(sources))
    listing = Listing(tuple(rows))
    output.emit(listing, form, path, listing.numbers)
    output.finish(failures)


@datasets.command()
def generate(
    folder: OutputFolder,
    count: Annotated[int, typer.Option(help="Number of series.", min=1, metavar="NUMBER")] = 6,
    points: Annotated[int, typer.Option(help="Points per series.", min=1, metavar="NUMBER")] = 2000,
    period: Annotated[int, typer.Option(help="Period of the series, at least 8.", metavar="POINTS")] = 48,
    events: Annotated[int, typer.Option(help="Anomalies per series.", min=1, metavar="NUMBER")] = 6,
    seed: Annotated[
        int,
        typer.Option(help="Seed of the first series; each further one uses the next seed.", min=0, metavar="NUMBER"),
    ] = 0,
) -> None:
    """Generate labelled sample series: one CSV file per series, with spikes, shifts and changed patterns.

    The names say where training ends, as in the TSB-AD benchmark. There are no scores: dqeval detect adds them.
    """
    from dqeval.datasets import synthetic
    from dqeval.render.tables import count_of

    made = [synthetic(n=points, period=period, events=events, seed=seed + i) for i in range(count)]
    folder.mkdir(parents=True, exist_ok=True)
    for i, series in enumerate(made, start=seed):
        name = f"synthetic_{i}_tr_{series.train_stop}_1st_{series.labels.argmax()}.csv"
        write_columns(folder / name, series_columns(series))
    output.tell(f"wrote {count_of(count, 'file')} to {folder}")


def _row(title: str, source: Source) -> SeriesRow:
    from dqeval.core.events import find_events

    series = source.read()
    labels = series.labels.astype(bool)
    return SeriesRow(
        title,
        source.format,
        len(labels),
        len(find_events(labels)),
        float(labels.mean()),
        series.train_stop,
        series.period,
        series.no_period,
    )


def _cells(row: SeriesRow) -> tuple[str, ...]:
    from dqeval.render.tables import percent

    train_stop, period = ("" if number is None else f"{number:,}" for number in (row.train_stop, row.period))
    first = (row.series, row.format, f"{row.points:,}", f"{row.events:,}", percent(row.share_anomalous, 2))
    return *first, train_stop, "none" if row.no_period else period
