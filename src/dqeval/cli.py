"""The command line: parses, calls the library, prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dqeval.tables import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dqeval.types import DQEResult, Evaluation, FloatArray, Partition, Series

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


@app.command(name="score")
def score_file(
    file: Annotated[
        Path,
        typer.Argument(help="Table with the columns label, value (optional), one per detector; - for CSV on stdin."),
    ],
    label: Annotated[str | None, typer.Option(help="Column of the labels, if not called label.")] = None,
    value: Annotated[str | None, typer.Option(help="Column of the values, if not called value.")] = None,
    score: Annotated[list[str] | None, typer.Option(help="Column of a detector; may be repeated.")] = None,
    near: Annotated[float | None, typer.Option(help="Near-miss range around an event, in points.")] = None,
    period: Annotated[
        float | None, typer.Option(help="Period of the series; the near-miss range is half of it.")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Integrate over all thresholds instead of 100.")] = False,
    metrics: Annotated[str | None, typer.Option(help="Metrics, comma-separated, or all; DQE if not given.")] = None,
    per_event: Annotated[bool, typer.Option("--per-event", help="Show every event too.")] = False,
) -> None:
    """Score every detector in a file with DQE."""
    from dqeval.datasets import read_columns

    names = None if metrics is None else _metric_names(metrics)
    if names is not None and (exact or per_event):
        raise ValueError("--exact and --per-event are of DQE alone: leave out --metrics")
    series = read_columns(file, label=label, value=value, scores=score)
    how = (
        ""
        if near is not None
        else ", half the period"
        if period is not None or series.values is not None
        else " by default"
    )
    if names is not None:
        _print_panel(series, _panels(series, names, source=str(file), near=near, period=period), str(file), how)
        return
    results = _evaluated(series, source=str(file), near=near, period=period, exact=exact)
    _print_scores(series, results, source=str(file), near_from=how, per_event=per_event)


@app.command(name="check")
def check_file(
    file: Annotated[Path, typer.Argument(help="Table as for score; - for CSV on stdin.")],
    label: Annotated[str | None, typer.Option(help="Column of the labels, if not called label.")] = None,
    value: Annotated[str | None, typer.Option(help="Column of the values, if not called value.")] = None,
    score: Annotated[list[str] | None, typer.Option(help="Column of a detector; may be repeated.")] = None,
) -> None:
    """Find trouble in labels and scores before trusting a number: exit code 1 if there is an error."""
    import dqeval

    found = dqeval.check(dqeval.datasets.read_columns(file, label=label, value=value, scores=score))
    console = _console()
    for finding in found:
        console.print(f"{finding.level}: {finding.column}: {finding.message}", markup=False)
    if not found:
        console.print(f"{file}: nothing to complain about", markup=False)
    if any(finding.level == "error" for finding in found):
        raise typer.Exit(1)


@app.command(name="metrics")
def list_metrics() -> None:
    """Say what each metric is, takes and follows."""
    from dqeval.registry import METRICS

    console = _console()
    for metric in METRICS:
        console.print(f"[bold]{metric.name}[/] ({metric.label}), takes {metric.takes}, {metric.citation}")
        console.print(f"    {metric.summary}", markup=False)
        console.print(f"    Parameters: {metric.signature or 'none'}. As in: {metric.same_as}.", markup=False)


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
    console.print("Your own data: [bold]dqeval score FILE.csv[/], columns label, value, one per detector.")


def _regions(series: Series, *, source: str, near: float | None, period: float | None) -> Partition:
    """Return the regions of a series; an error is about the file, its labels, its values or the options."""
    import dqeval

    values = series.values if near is None and period is None else None
    try:
        regions = dqeval.partition(series.labels, near=near, period=period, values=values)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    if not len(regions.events):
        raise ValueError(f"{source}: no label is 1, so there is no event to score the detectors on")
    return regions


def _evaluated(
    series: Series, *, source: str, near: float | None = None, period: float | None = None, exact: bool = False
) -> dict[str, DQEResult]:
    """Evaluate every detector; an error says whether the file, its labels or which detector it is about."""
    import dqeval

    regions = _regions(series, source=source, near=near, period=period)
    results = {}
    for name, scores in series.scores.items():
        try:
            thresholds: Literal["exact"] | int = "exact" if exact else 100
            results[name] = dqeval.evaluate(series.labels, scores, near=regions.near, thresholds=thresholds)
        except ValueError as error:
            raise ValueError(f"{source}, column {name}: {error}") from error
    return results


def _metric_names(given: str) -> list[str]:
    """Return the names in a list separated by commas, or all."""
    from dqeval.registry import METRICS

    names = [name.strip() for name in given.split(",") if name.strip()]
    return list(METRICS.names) if names == ["all"] else [METRICS[name].name for name in names]


def _panels(
    series: Series, metrics: list[str], *, source: str, near: float | None, period: float | None
) -> dict[str, Evaluation]:
    """Evaluate every detector with some metrics."""
    import dqeval

    regions = _regions(series, source=source, near=near, period=period)
    panels = {}
    for name, scores in series.scores.items():
        try:
            panels[name] = dqeval.panel(series.labels, scores, near=regions.near, metrics=metrics)
        except ValueError as error:
            raise ValueError(f"{source}, column {name}: {error}") from error
    return panels


def _print_panel(series: Series, panels: dict[str, Evaluation], source: str, near_from: str) -> None:
    console = _console()
    first = next(iter(panels.values()))
    console.print(f"{source}: {counted(len(series.labels), 'point')}, near {first.near:g}{near_from}", markup=False)
    console.print()
    table = _table("metric", columns=tuple(panels))
    for metric, label in first.labels.items():
        cells = [f"{panel[metric]:.3f}" for panel in panels.values()]
        table.add_row(label, *(f"[bold]{cell}[/]" if cell == max(cells) else cell for cell in cells))
    console.print(table)
    if any(panel.best for panel in panels.values()):
        console.print("Metrics of detections are at their best threshold.")
    if len({panel.binary for panel in panels.values()}) > 1:
        detections = ", ".join(name for name, panel in panels.items() if panel.binary)
        console.print(f"0/1 detections, with other windows and buffers than the scores: {detections}.", markup=False)
    for name, panel in panels.items():
        for metric, why in panel.failures.items():
            console.print(f"{name}, {metric}: {why}", markup=False)


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

    table = _table("detector", columns=COLUMNS)
    best = max(result.dqe for result in results.values())
    for name, r in sorted(results.items(), key=lambda item: -item[1].dqe):
        cells = (f"{value:.3f}" for value in (r.dqe, r.capture, r.near_miss, r.false_alarm))
        table.add_row(escape(name), *cells, style="bold" if r.dqe == best else "")
    return table


def _event_table(results: dict[str, DQEResult]) -> Table:
    table = _table("DQE of event", columns=tuple(results))
    for rows in zip(*(result.per_event for result in results.values()), strict=True):
        best = max(row.dqe for row in rows)
        cells = (f"[bold]{row.dqe:.3f}[/]" if row.dqe == best else f"{row.dqe:.3f}" for row in rows)
        table.add_row(f"\\[{rows[0].start}, {rows[0].stop})", *cells)
    return table


def _outcome_table(results: dict[str, DQEResult]) -> Table:
    from dqeval.report.outcomes import OUTCOMES, outcome_shares

    shares = [outcome_shares(result) for result in results.values()]
    table = _table("", columns=tuple(results))
    for outcome in OUTCOMES:
        table.add_row(outcome, *(f"{share[outcome]:.0%}" for share in shares))
    return table


def _table(first: str, *, columns: tuple[str, ...]) -> Table:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(first, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in columns:
        table.add_column(escape(name), justify="right")
    return table


def _print_pictures(console: Console, columns: dict[str, Any]) -> None:
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
