"""The entry point of the command line. It imports nothing that takes time, so that Ctrl-C is heard from the start."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130  # as shells have it for Ctrl-C; whoever else asks a command to end gets it too


def main() -> None:
    """Run the command line, and exit with its code."""
    try:
        _fill_closed_streams()
        from dqeval.cli.exit_codes import run

        code = run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED and sys.stderr is not None:
        print("dqeval: interrupted", file=sys.stderr)
    sys.exit(code)


def _fill_closed_streams() -> None:
    """Open the null device where a standard stream is closed, or the next file to be opened would stand for it."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
