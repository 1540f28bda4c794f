"""The options that several commands have, each declared once."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Format(StrEnum):
    """How results are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


def _writable(path: Path | None) -> Path | None:
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


def _page(path: Path) -> Path:
    if path.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(f"the report is a page: {path} should end with .html")
    _writable(path)
    return path


def _output(text: str) -> Any:
    return typer.Option("-o", "--output", help=text, callback=_writable, metavar="FILE")


FILE_HELP = "CSV, TSV, Parquet, Feather, JSON lines or npz, packed with gzip or not; - for CSV on standard input."

File = Annotated[Path, typer.Argument(help=FILE_HELP, metavar="FILE")]
Files = Annotated[list[Path], typer.Argument(help=f"One file a series. {FILE_HELP}", metavar="FILE")]
Label = Annotated[str | None, typer.Option(help="Column of the labels, if not called label or is_anomaly.")]
Value = Annotated[str | None, typer.Option(help="Column of the values, if not called value or Data.")]
Score = Annotated[
    list[str] | None, typer.Option(help="Column of a detector's scores; may be repeated. If not given, all others.")
]
NearRange = Annotated[float | None, typer.Option("--near", help="Near-miss range around an event, in points.")]
Period = Annotated[float | None, typer.Option(help="Period of the series; the near-miss range is half of it.")]
Form = Annotated[Format, typer.Option("--format", help="How to write the results; JSON is a receipt.")]
Output = Annotated[Path | None, _output("Write to this file, not to standard output.")]
Page = Annotated[Path, typer.Option("-o", "--output", help="The HTML file to write.", callback=_page, metavar="FILE")]
Figure = Annotated[Path, _output("The file to write: png, svg or pdf by its ending.")]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        help="Exit with code 1 if a detector is below, such as dqe=0.6,capture=0.5; may be repeated.",
        metavar="NAME=NUMBER",
    ),
]
