"""``dqeval verify``: the numbers of a receipt, made again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqeval.cli import output
from dqeval.cli.options import Modules, Output, PlainForm
from dqeval.cli.output_formats import OutputFormat


def verify(
    receipt: Annotated[Path, typer.Argument(help="What a command wrote with --format json.", metavar="RECEIPT")],
    files: Annotated[
        list[Path],
        typer.Argument(help="The files or folders it was made from, in the same order.", metavar="FILE"),
    ],
    form: PlainForm = OutputFormat.TABLE,
    path: Output = None,
    module: Modules = None,
) -> None:
    """Compute the numbers of a receipt again and compare: exit code 1 if they, or the files, are not the same."""
    from dqeval.analysis.verify import read_receipt, verify

    content = read_receipt(receipt)
    with output.progress("verify") as tell:
        found = verify(content, files, progress=tell)
    output.emit(found, form, path, found.numbers)
    if not found.holds:
        raise typer.Exit(1)
