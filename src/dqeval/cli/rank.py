"""``dqeval rank``: which detectors of a table of results are told apart."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqeval.cli import output
from dqeval.cli.options import SEVERAL, Output, PlainForm, writable
from dqeval.cli.output_formats import OutputFormat

if TYPE_CHECKING:
    from dqeval.analysis.rank import Ranking

Columns = dict[str, Any]
_TSB_AD = re.compile(r"\d+_(.+?)_id_\d+_")  # how TSB-AD names files: the dataset stands between the numbers
_LEAST_HEIGHT, _ROW = 1.0, 0.19  # inches


def _figure_path(path: Path | None) -> Path | None:
    if path is not None:
        from dqeval.render.figure import ending

        ending(path)
    return writable(path)


def rank(
    table: Annotated[
        Path,
        typer.Argument(
            help="A table of results: a row per series and a column per detector, or the columns series, detector and "
            "value. CSV, TSV, JSON lines, Parquet or Feather; - for CSV on standard input.",
            metavar="TABLE",
        ),
    ],
    detectors: Annotated[
        list[str] | None,
        typer.Option(
            "--detector",
            help=f"Detectors to rank. {SEVERAL}",
            metavar="NAMES",
            show_default="every column of numbers that is not known to describe the series",
        ),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option("--metric", help=f"Metrics to rank by, of those in the column metric. {SEVERAL}", metavar="NAMES"),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="Column that says which series depend on each other, such as copies of one recording; or a file with "
            "the series and their groups.",
            metavar="COLUMN|FILE",
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Column of the datasets, each of which is ranked by itself too; names of TSB-AD's files tell theirs.",
            metavar="COLUMN",
            show_default="dataset",
        ),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(help="Column of the seeds of a detector's runs.", metavar="COLUMN", show_default="seed"),
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals and tests.", metavar="SHARE")] = 0.95,
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Lower values are better, such as of delays.")
    ] = False,
    figure: Annotated[
        Path | None,
        typer.Option("--figure", help="Also write the figure: png, svg or pdf.", callback=_figure_path, metavar="FILE"),
    ] = None,
    form: PlainForm = OutputFormat.TABLE,
    path: Output = None,
) -> None:
    """Say which detectors of a table of results are told apart: means with intervals, tests of all pairs together."""
    from dqeval.analysis.rank import rank as rank_table
    from dqeval.datasets.files import name_of, read_cells
    from dqeval.support.writing import note_input

    note_input(table)
    try:
        columns = read_cells(table)
        if metrics:
            columns = _rows_of(columns, "metric", metrics)
        if detectors:
            columns = _of_detectors(columns, detectors)
        if dataset is not None:
            columns = _with_dataset(columns, dataset)
        result = rank_table(
            columns,
            groups=group if group is None or group in columns else _groups(Path(group), list(columns)),
            seeds=seed,
            level=level,
            higher_is_better=not lower_is_better,
        )
    except ValueError as error:
        raise ValueError(f"{name_of(table)}: {error}") from None
    output.emit(result, form, path, result.numbers)
    if figure is not None:
        _save(result, figure)


def _rows_of(columns: Columns, column: str, wanted: list[str]) -> Columns:
    """Return the rows in which a column has one of some values."""
    import numpy as np

    from dqeval.analysis.rank import texts_of
    from dqeval.core.arguments import known_names
    from dqeval.core.registry import split_names

    known_names([column], list(columns), "the table")
    there = texts_of(columns[column])
    names = sorted(set(there.tolist()))
    asked = split_names(wanted, names)
    known_names(asked, names, f"the column {column}")
    kept = np.isin(there, asked)
    return {name: cells[kept] for name, cells in columns.items()}


def _of_detectors(columns: Columns, wanted: list[str]) -> Columns:
    """Return what a table has of some detectors."""
    from dqeval.analysis.rank import is_long, says_what_a_row_is
    from dqeval.core.arguments import known_names
    from dqeval.core.registry import split_names

    if is_long(columns):
        return _rows_of(columns, next(name for name in columns if name.lower() == "detector"), wanted)
    names = split_names(wanted, list(columns))
    known_names(names, list(columns), "the table")
    return {name: cells for name, cells in columns.items() if name in names or says_what_a_row_is(name)}


def _with_dataset(columns: Columns, dataset: str) -> Columns:
    """Return a table with its datasets in the column dataset."""
    import numpy as np

    from dqeval.analysis.rank import texts_of
    from dqeval.core.arguments import known_names

    known_names([dataset], list(columns), "the table")
    names = texts_of(columns[dataset]).tolist()
    told = [_TSB_AD.match(name) for name in names]
    datasets = [match[1] for match in told if match is not None]
    return {**columns, "dataset": np.array(datasets if len(datasets) == len(names) else names)}


def _groups(path: Path, names: list[str]) -> dict[str, str]:
    """Return the group of each series, from the first two columns of a file."""
    from dqeval.analysis.rank import texts_of
    from dqeval.datasets.files import read_cells

    if not path.is_file():
        raise ValueError(
            f"--group names a column or a file: there is no file {path}, and the columns are {', '.join(names)}"
        )
    columns = [texts_of(cells).tolist() for cells in read_cells(path).values()]
    if len(columns) < 2:
        raise ValueError(f"{path} must have two columns: the series, and their groups")
    return dict(zip(columns[0], columns[1], strict=True))


def _save(result: Ranking, path: Path) -> None:
    from dqeval.render.figure import save

    def drawn() -> Any:
        from matplotlib.figure import Figure

        made = Figure(figsize=(7, _LEAST_HEIGHT + _ROW * len(result.means)), layout="constrained")
        result.plot(made.subplots())
        return made

    save(drawn, path)
    output.tell(f"wrote {path}")
