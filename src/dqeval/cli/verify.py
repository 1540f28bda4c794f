"""``dqeval verify``: the numbers of a receipt, made again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqeval.cli import output
from dqeval.cli.options import Modules, Output, PlainForm
from dqeval.cli.output_formats import OutputFormat
from dqeval.support.writing import note_input


def verify(
    receipt: Annotated[
        Path,
        typer.Argument(help="What a command wrote with --format json, or receipt.json of a site.", metavar="RECEIPT"),
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="The files or folders it was made from, in the same order; of a site, its run, or nothing.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    form: PlainForm = OutputFormat.TABLE,
    path: Output = None,
    module: Modules = None,
) -> None:
    """Compute the numbers of a receipt again and compare: exit code 1 if they, or the files, are not the same."""
    from dqeval.analysis.verify import read_receipt, verify
    from dqeval.render.site_folder import is_site_receipt

    note_input(receipt)
    content = read_receipt(receipt)
    if is_site_receipt(content):
        from dqeval.analysis.verify_site import verify_site

        with output.progress("verify") as tell:
            found = verify_site(receipt, content, files or [], progress=tell)
    elif not files:
        raise ValueError(f"{receipt}: name the files that it was made from too: dqeval verify {receipt} FILE")
    else:
        with output.progress("verify") as tell:
            found = verify(content, files, progress=tell)
    output.emit(found, form, path, found.numbers)
    if not found.holds:
        raise typer.Exit(1)
