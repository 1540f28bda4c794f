"""The command line: parses, calls the library, prints."""

from __future__ import annotations

import sys
from typing import Any

import typer

from dqeval.cli import output
from dqeval.cli.commands import app

INTERRUPTED = 130  # as shells have it for Ctrl-C

# Where this class lives differs between versions of typer; the base of a public one is the same in all.
UsageError: Any = typer.BadParameter.__base__


def main() -> None:
    """Run the command line: errors are one sentence on standard error."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets a question mark, not a traceback.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    try:
        code = app(standalone_mode=False)
    except UsageError as error:
        command = error.ctx.command_path if error.ctx else "dqeval"
        code = _failed(f"{error.format_message().rstrip('.')}; {command} --help says what there is")
    except BrokenPipeError:
        code = output.reader_gone()
    except OSError as error:
        code = _failed(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except ValueError as error:
        code = _failed(str(error))
    except typer.Abort:
        code = INTERRUPTED
    if code == INTERRUPTED:
        typer.echo("dqeval: interrupted", err=True)
    sys.exit(code)


def _failed(sentence: str) -> int:
    typer.echo(f"dqeval: {' '.join(sentence.splitlines())}", err=True)
    return 2
