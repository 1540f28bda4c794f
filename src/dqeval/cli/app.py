"""The commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqeval.cli import bench as benching
from dqeval.cli import detect as detection
from dqeval.cli import gate, output
from dqeval.cli import reproduce as reproducing
from dqeval.cli.help import App
from dqeval.cli.options import (
    FailUnder,
    FigureFormat,
    Figures,
    Files,
    Form,
    Format,
    Label,
    Metrics,
    NearRange,
    Output,
    Pages,
    Period,
    PlainForm,
    Score,
    Value,
    check_page,
    writable,
)
from dqeval.cli.results import Chosen, each_written, expanded, places_for, show

app = App(pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        import dqeval

        form = "compiled" if dqeval.kernels.compiled else "interpreted"
        output.say(f"dqeval {dqeval.__version__} (kernels {form})")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """How good a time-series anomaly detector is, event by event, and why."""
    if context.invoked_subcommand is None:
        output.say(context.get_help())


@app.command()
def demo(
    path: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Write the series and the scores of its detectors to this CSV file, and show nothing.",
            callback=writable,
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Show what dqeval tells about three detectors on a generated series."""
    from dqeval.cli.demo import columns, screen
    from dqeval.cli.detect import write_columns

    if path is None:
        output.say(screen())
        return
    write_columns(path, columns())
    output.tell(f"wrote {path}")


@app.command()
def score(
    files: Files,
    metrics: Metrics = None,
    near: NearRange = None,
    period: Period = None,
    exact: Annotated[bool, typer.Option("--exact", help="Integrate DQE over all thresholds, not 100.")] = False,
    per_event: Annotated[bool, typer.Option("--per-event", help="Show every event too.")] = False,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    form: Form = Format.TABLE,
    path: Output = None,
    fail_under: FailUnder = None,
) -> None:
    """Score every detector with every metric; of several files, show the means too."""
    names = _metric_names(metrics)
    limits = gate.limits(fail_under, gate.names_with(names))
    parameters = {
        "metrics": names,
        "near": near,
        "period": period,
        "thresholds": "exact" if exact else 100,
        "per_event": per_event,
    }
    result = show("score", files, Chosen(label, value, score), parameters, form=form, output=path)
    for sentence in getattr(result, "warnings", ()):
        output.tell(f"warning: {sentence}")
    gate.enforce(limits, gate.values_of(result))


@app.command()
def compare(
    files: Files,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    form: Form = Format.TABLE,
    path: Output = None,
    fail_under: FailUnder = None,
) -> None:
    """Compare the detectors of a series: every metric, every event, chance, and where the metrics disagree."""
    limits = gate.limits(fail_under, _all_names())
    parameters = {"near": near, "period": period}
    result = show("compare", files, Chosen(label, value, score), parameters, form=form, output=path)
    gate.enforce(limits, gate.values_of(result))


@app.command()
def explain(
    files: Files,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    form: Form = Format.TABLE,
    path: Output = None,
    fail_under: FailUnder = None,
) -> None:
    """Explain each detector in plain words: what it does at each event, what costs most, what to improve."""
    limits = gate.limits(fail_under, gate.names_with(["dqe"]))
    parameters = {"near": near, "period": period}
    result = show("explain", files, Chosen(label, value, score), parameters, form=form, output=path)
    gate.enforce(limits, gate.values_of(result))


@app.command()
def report(
    files: Files,
    path: Pages,
    opened: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    fail_under: FailUnder = None,
) -> None:
    """Write an interactive report: one HTML file per series that needs no server and no network."""
    from dqeval.analysis.several import Several
    from dqeval.render.series_page import report

    limits = gate.limits(fail_under, _all_names())
    inputs = expanded(files)
    places = places_for(inputs, path, "html", check_page)
    found = each_written(
        "report",
        inputs,
        places,
        Chosen(label, value, score),
        lambda series, place, tell: report(series, place, near=near, period=period, progress=tell),
    )
    if opened:
        import webbrowser

        webbrowser.open(places[0].resolve().as_uri())
    gate.enforce(limits, Several(tuple(found)).means)


@app.command()
def plot(
    files: Files,
    path: Figures,
    kind: Annotated[
        FigureFormat,
        typer.Option("--format", help="The format of figures in a folder.", metavar="|".join(FigureFormat)),
    ] = FigureFormat.PDF,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    fail_under: FailUnder = None,
) -> None:
    """Draw the figure for a paper: series, labels, regions, scores, DQE against the threshold."""
    from dqeval.analysis.score import named_values
    from dqeval.analysis.several import means
    from dqeval.render.figure import draw, ending

    limits = gate.limits(fail_under, gate.names_with(["dqe"]))
    inputs = expanded(files)
    found = each_written(
        "plot",
        inputs,
        places_for(inputs, path, kind, ending),
        Chosen(label, value, score),
        lambda series, place, _: draw(series, place, near=near, period=period),
    )
    panels = [{name: named_values(panel) for name, panel in drawn.items()} for _, drawn in found]
    gate.enforce(limits, means(panels))


@app.command()
def check(
    files: Files,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    form: Form = Format.TABLE,
    path: Output = None,
) -> None:
    """Find trouble in labels and scores before anyone trusts a number: exit code 1 if there is an error."""
    from dqeval.analysis.check import Checked
    from dqeval.analysis.several import Several

    result = show("check", files, Chosen(label, value, score), {}, form=form, output=path)
    assert isinstance(result, (Checked, Several))
    if result.failed:
        raise typer.Exit(1)


@app.command()
def verify(
    receipt: Annotated[Path, typer.Argument(help="What a command wrote with --format json.", metavar="RECEIPT")],
    files: Annotated[
        list[Path],
        typer.Argument(help="The files or folders it was made from, in the same order.", metavar="FILE"),
    ],
    form: PlainForm = Format.TABLE,
    path: Output = None,
) -> None:
    """Compute the numbers of a receipt again and compare: exit code 1 if they, or the files, are not the same."""
    from dqeval.analysis.receipts import read_receipt, verify

    content = read_receipt(receipt)
    with output.progress("verify") as tell:
        found = verify(content, expanded(files), progress=tell)
    output.emit(found, form, path, found.numbers)
    if not found.holds:
        raise typer.Exit(1)


@app.command()
def metrics(form: PlainForm = Format.TABLE, path: Output = None) -> None:
    """List the metrics: input, parameters, reference, cost."""
    from dqeval.cli.listing import Metrics

    found = Metrics()
    output.emit(found, form, path, found.numbers)


app.command()(detection.detect)
app.command()(detection.detectors)
app.add_typer(detection.datasets, name="datasets")
app.add_typer(benching.bench, name="bench")
app.command()(reproducing.reproduce)


def _metric_names(given: list[str] | None) -> list[str]:
    """Return the names of the metrics that were asked for; all if none were."""
    from dqeval.core.registry import ALL, METRICS

    return [metric.name for metric in METRICS.chosen(given or [ALL])]


def _all_names() -> list[str]:
    return gate.names_with(_metric_names(None))
