"""The command line: parses, calls the library, prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dqeval.tables import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dqeval.types import DQEResult, FloatArray, Numbers, Series

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

BLOCKS = "▁▂▃▄▅▆▇█"


def main() -> None:
    """Run the command line: errors are one sentence on standard error, exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets a question mark, not a traceback.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    try:
        app()
    except (ValueError, OSError) as error:
        print(f"dqeval: {error}", file=sys.stderr)
        sys.exit(2)


def _print_version(wanted: bool) -> None:
    if wanted:
        import dqeval

        form = "compiled" if dqeval.kernels.compiled else "interpreted"
        typer.echo(f"dqeval {dqeval.__version__} (kernels {form})")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """How good a time-series anomaly detector is, event by event, and why."""


@app.command()
def score(
    file: Annotated[Path, typer.Argument(help="CSV with the columns label, value (optional) and one a detector.")],
    near: Annotated[float | None, typer.Option(help="Near-miss range around an event, in points.")] = None,
    period: Annotated[
        float | None, typer.Option(help="Period of the series; the near-miss range is half of it.")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Integrate over all thresholds instead of 100.")] = False,
    per_event: Annotated[bool, typer.Option("--per-event", help="Show every event too.")] = False,
) -> None:
    """Score every detector in a file with DQE."""
    from dqeval.datasets import read_columns

    series = read_columns(file)
    results = _evaluated(series, source=str(file), near=near, period=period, exact=exact)
    how = (
        ""
        if near is not None
        else ", half the period"
        if period is not None or series.values is not None
        else " by default"
    )
    _print_scores(series, results, source=str(file), near_from=how, per_event=per_event)


@app.command()
def demo() -> None:
    """Show what dqeval tells about three detectors on a generated series."""
    from dqeval.datasets import demo as demo_series

    series = demo_series()
    results = _evaluated(series, source="demo")
    console = _console()
    _print_pictures(console, {"values": series.values, "labels": series.labels, **series.scores})
    _print_scores(series, results, source="demo", near_from=", half the period", per_event=True)
    console.print("\nOver all events and thresholds, an event is")
    console.print(_outcome_table(results))
    console.print("\nsharp is clean but blind to one event; late answers too late; jumpy cries wolf.")
    console.print("Your own data: [bold]dqeval score FILE.csv[/], columns label, value, one a detector.")


def _evaluated(
    series: Series, *, source: str, near: float | None = None, period: float | None = None, exact: bool = False
) -> dict[str, DQEResult]:
    """Evaluate every detector; an error says whether the file, its labels or which detector it is about."""
    import dqeval

    values = series.values if near is None and period is None else None
    try:
        regions = dqeval.partition(series.labels, near=near, period=period, values=values)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    if not len(regions.events):
        raise ValueError(f"{source}: no label is 1, so there is no event to score the detectors on")
    results = {}
    for name, scores in series.scores.items():
        try:
            thresholds: Literal["exact"] | int = "exact" if exact else 100
            results[name] = dqeval.evaluate(series.labels, scores, near=regions.near, thresholds=thresholds)
        except ValueError as error:
            raise ValueError(f"{source}, column {name}: {error}") from error
    return results


def _console() -> Console:
    from rich.console import Console

    # So wide that no table is squeezed until its numbers are cut: a line too long for the terminal wraps there.
    return Console(highlight=False, soft_wrap=True, width=10_000)


def _print_scores(
    series: Series, results: dict[str, DQEResult], *, source: str, near_from: str, per_event: bool
) -> None:
    console = _console()
    first = next(iter(results.values()))
    swept = "all thresholds" if first.thresholds == "exact" else f"{first.thresholds} thresholds"
    size = f"{counted(len(series.labels), 'point')}, {counted(len(first.per_event), 'event')}"
    console.print(f"{source}: {size}, near {first.near:g}{near_from}, {swept}", markup=False)
    console.print()
    console.print(_summary_table(results))
    if per_event:
        console.print()
        console.print(_event_table(results))


def _summary_table(results: dict[str, DQEResult]) -> Table:
    from rich.markup import escape

    from dqeval.types import COLUMNS

    table = _table("detector", *COLUMNS)
    best = max(result.dqe for result in results.values())
    for name, r in sorted(results.items(), key=lambda item: -item[1].dqe):
        cells = (f"{value:.3f}" for value in (r.dqe, r.capture, r.near_miss, r.false_alarm))
        table.add_row(escape(name), *cells, style="bold" if r.dqe == best else "")
    return table


def _event_table(results: dict[str, DQEResult]) -> Table:
    table = _table("DQE of event", *results)
    for rows in zip(*(result.per_event for result in results.values()), strict=True):
        best = max(row.dqe for row in rows)
        cells = (f"[bold]{row.dqe:.3f}[/]" if row.dqe == best else f"{row.dqe:.3f}" for row in rows)
        table.add_row(f"\\[{rows[0].start}, {rows[0].stop})", *cells)
    return table


def _outcome_table(results: dict[str, DQEResult]) -> Table:
    from dqeval.report.outcomes import OUTCOMES, outcome_shares

    shares = [outcome_shares(result) for result in results.values()]
    table = _table("", *results)
    for outcome in OUTCOMES:
        table.add_row(outcome, *(f"{share[outcome]:.0%}" for share in shares))
    return table


def _table(first: str, *others: str) -> Table:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(first, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in others:
        table.add_column(escape(name), justify="right")
    return table


def _print_pictures(console: Console, columns: dict[str, Numbers]) -> None:
    """Print each column as one line of blocks."""
    import shutil

    import numpy as np

    width = max(20, min(shutil.get_terminal_size().columns, 100) - 9)
    for name, column in columns.items():
        style = {"values": "dim", "labels": "blue"}.get(name, "red")
        console.print(f"{name:<8} [{style}]{_blocks(np.asarray(column, dtype=float), width)}[/]")
    console.print()


def _blocks(column: FloatArray, width: int) -> str:
    """Return the column as a line of blocks, each as high as the largest value it stands for."""
    import numpy as np

    starts = np.linspace(0, len(column), width, endpoint=False).astype(int)
    heights = np.maximum.reduceat(column, starts)
    low, high = column.min(), heights.max()
    steps = np.rint((heights - low) / (high - low) * len(BLOCKS)).astype(int)
    return "".join(" " if step == 0 else BLOCKS[step - 1] for step in steps)
