"""Options that several commands share, each declared once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dqeval.cli.output_formats import OutputFormat
from dqeval.core.metric_groups import ALL, DEFAULT, GROUP_NAMES


class FigureFormat(StrEnum):
    """What a figure is written as."""

    PDF = "pdf"
    SVG = "svg"
    PNG = "png"


class PartOfSeries(StrEnum):
    """Which part of a series that says where training ends."""

    ALL = "all"
    TEST = "test"


def writable(path: Path | None) -> Path | None:
    """Check before any work is done that a file can be written there."""
    if path is None:
        return None
    folder = path.resolve().parent
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a directory; name a file in it")
    if not folder.is_dir():
        raise typer.BadParameter(f"there is no directory {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise typer.BadParameter(f"no file can be written in {folder}; choose another directory")
    return path


def _folder(path: Path) -> Path:
    """Check before any work is done that this is, or can become, a folder."""
    if path.exists() and not path.is_dir():
        raise typer.BadParameter(f"{path} is a file; name a folder")
    return path


def page_path(path: Path | None) -> Path | None:
    """Check before any work is done that a page can be written there."""
    if path is not None:
        check_page(path)
    return writable(path)


def check_page(path: Path) -> None:
    """Check that a file is a page by its ending."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(f"the report is an HTML page: {path} should end with .html")


def _length(text: str) -> float | str:
    """Return a number of points, or what else there is, which is checked with the series."""
    if text.isdecimal() and len(text) < 16:
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def _cells(text: str) -> int | str:
    """Return a number of cells, or what else there is, which is checked with the series."""
    return int(text) if text.isdecimal() and len(text) < 20 else text


def _zone(timezone: str | None) -> str | None:
    """Check before any work is done that there is such a time zone."""
    from dqeval.core.zones import zone_of

    if timezone is not None:
        try:
            zone_of(timezone)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    return timezone


def _output(text: str) -> Any:
    return typer.Option("-o", "--output", help=text, callback=writable, metavar="FILE")


def _import_modules(modules: list[str] | None) -> list[str]:
    """Import modules before any name is looked up."""
    from dqeval.support.modules import import_all

    given = modules or []
    import_all(given, os.getcwd(), called="--module {}", hint="name a file, such as own.py, or install it")
    return given


def completer(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a function that completes the last of several names separated by commas."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return complete


def metrics_and_groups() -> list[str]:
    """Return the names that can be asked for."""
    from dqeval.core.registry import METRICS

    return [*METRICS.names, *GROUP_NAMES]


complete_metrics = completer(metrics_and_groups)


def metric_names(given: list[str] | None) -> list[str]:
    """Return the names of the metrics that were asked for, by name or by group; those of a panel if none were."""
    from dqeval.core.metric_choice import expanded
    from dqeval.core.registry import METRICS, split_names

    names = split_names(given or [DEFAULT], METRICS.names)
    if not names:
        raise ValueError("name at least one metric: dqeval metrics lists them")
    return expanded(names)


def compared_names(given: list[str] | None) -> list[str]:
    """Return the names of the metrics of a comparison: with DQE, which it is about."""
    from dqeval.analysis.compare import compared_metrics

    return compared_metrics(metric_names(given))


def _detector_names() -> list[str]:
    from dqeval.core.registry import DETECTORS

    return [*DETECTORS.names, ALL]


# The kinds of tables are those of dqeval.datasets.formats.TABLES.
FILES_HELP = (
    "Files with series of any format, or folders of them; with scores: CSV, TSV, JSON lines, npz, Parquet or Feather, "
    "also gzipped; - for CSV on standard input."
)
SEVERAL = "Separate several with commas, or repeat the option."
FORMATS = "|".join(OutputFormat)

Files = Annotated[list[Path], typer.Argument(help=FILES_HELP, metavar="FILE")]
FilesOrAlerts = Annotated[
    list[Path] | None, typer.Argument(help=f"{FILES_HELP} Not needed with --alerts.", metavar="FILE")
]
SeriesFiles = Annotated[
    list[Path], typer.Argument(help="Files with labelled series of any format, or folders of them.", metavar="FILE")
]
Label = Annotated[
    str | None, typer.Option(help="Column of the labels, if not called label or is_anomaly.", metavar="COLUMN")
]
Value = Annotated[str | None, typer.Option(help="Column of the values, if not called value or Data.", metavar="COLUMN")]
Score = Annotated[
    list[str] | None,
    typer.Option(
        help=f"Columns of the detectors' scores. {SEVERAL}",
        metavar="COLUMNS",
        show_default="every other column of numbers",
    ),
]
SeriesColumn = Annotated[
    str | None,
    typer.Option(
        "--series",
        help="Column that names the series of each row, in a table of several; COLUMN=NAMES for some of them.",
        metavar="COLUMN",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        help="Column of the timestamps.", metavar="COLUMN", show_default="timestamp, time, date, datetime or the like"
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        help=f"Metrics, or groups of them: {', '.join(GROUP_NAMES)}. dqeval metrics lists them. {SEVERAL}",
        metavar="NAMES",
        show_default="those of the paper and some more",
        autocompletion=complete_metrics,
    ),
]
Detectors = Annotated[
    list[str],
    typer.Option(
        help=f"Detectors: dqeval detectors lists them. {SEVERAL} all means every detector that can run here.",
        metavar="NAMES",
        autocompletion=completer(_detector_names),
    ),
]
# To be declared is enough: the modules are imported before the command starts.
Modules = Annotated[
    list[str] | None,
    typer.Option(
        "--module",
        help="Import this module or Python file first, for metrics and detectors of your own. Repeat it for several.",
        callback=_import_modules,
        metavar="MODULE",
    ),
]
NearRange = Annotated[
    str | None,
    typer.Option(
        "--near",
        help="Near-miss range around an event: points, median event lengths such as 2ev, or a duration such as 10min.",
        parser=_length,
        metavar="POINTS|2ev|10min",
    ),
]
Period = Annotated[
    str | None,
    typer.Option(
        help="Period of the series, in points or such as 24h; the near-miss range is half of it.",
        parser=_length,
        metavar="POINTS|24h",
    ),
]
Resolution = Annotated[
    str | None,
    typer.Option(
        help="Count time in cells of this length, such as 1min, by the timestamps.",
        parser=_length,
        metavar="1min",
        show_default="points; with incidents, the usual step",
    ),
]
MaxGap = Annotated[
    str | None,
    typer.Option(
        help="Carry a score forward over this many missing cells, or this long; what is longer was not observed.",
        parser=_cells,
        metavar="CELLS|10min",
        show_default="3 cells",
    ),
]
Incidents = Annotated[
    Path | None,
    typer.Option(
        help="File with incidents, each with a start and an end, in place of labels: CSV, or of NAB, Label Studio, "
        "Grafana, Prometheus, Alertmanager or ESA-ADB. If it has several series, --series may name one.",
        metavar="FILE",
    ),
]
Alerts = Annotated[
    list[Path] | None,
    typer.Option(
        help="File with the alerts of a detector, in place of scores; FILE=NAME for those of one alertname, tag, file "
        "or channel in it. Repeat it for several detectors.",
        metavar="FILE",
    ),
]
Span = Annotated[
    str | None,
    typer.Option(
        help="The time in which there may have been alerts, such as 2026-01-01..2026-02-01.",
        metavar="START..END",
        show_default="from the first to the last of all",
    ),
]
Timezone = Annotated[
    str | None,
    typer.Option(
        help="Time zone, such as Europe/Berlin, of dates without one, in all files, and of dates with one in results.",
        callback=_zone,
        metavar="ZONE",
    ),
]
Part = Annotated[
    PartOfSeries,
    typer.Option(
        help="The whole series, as TSB-AD does, or the test part of those that say where training ends.",
        metavar="all|test",
    ),
]
Form = Annotated[
    OutputFormat, typer.Option("--format", help="Output format; JSON is a receipt for dqeval verify.", metavar=FORMATS)
]
PlainForm = Annotated[OutputFormat, typer.Option("--format", help="Output format.", metavar=FORMATS)]
Output = Annotated[Path | None, _output("Write to this file instead of standard output.")]
OutputFolder = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        help="The folder to write to; it is created if it does not exist.",
        callback=_folder,
        metavar="DIR",
    ),
]
Page = Annotated[
    Path, typer.Option("-o", "--output", help="The HTML file to write.", callback=page_path, metavar="FILE")
]
Pages = Annotated[
    Path,
    typer.Option("-o", "--output", help="The HTML file to write; for several files a folder.", metavar="FILE"),
]
Figures = Annotated[
    Path,
    typer.Option(
        "-o", "--output", help="The figure to write, png, svg or pdf; for several files a folder.", metavar="FILE"
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--workers",
        help="Number of threads; the numbers do not depend on it.",
        min=1,
        show_default="one per CPU",
        metavar="NUMBER",
    ),
]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        help=f"Exit with code 1 if a detector is below a limit, such as dqe=0.6,capture=0.5. {SEVERAL}",
        metavar="NAME=NUMBER",
    ),
]
