"""``dqeval demo``: the results of three detectors on a generated series."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqeval.cli import output
from dqeval.cli.options import writable
from dqeval.cli.series_files import write_columns


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
    """Show the results of three detectors on a generated series."""
    from dqeval.cli.demo_screen import columns, screen

    if path is None:
        output.say(screen())
        return
    write_columns(path, columns())
    output.tell(f"wrote {path}")
