"""The command line from its start to its exit code: errors become sentences on standard error."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from dqeval.cli import output
from dqeval.cli.entry import INTERRUPTED
from dqeval.support.writing import protected_inputs

_LONGEST = 300  # of what an error says that is no sentence

# Newer versions of typer pass on what pydantic says of an option, which speaks of programs.
_PLAIN_WORDS = {
    "Value error, ": "",
    "Input should be": "it should be",
    "a valid integer, unable to parse string as an integer": "a whole number",
    "a valid number, unable to parse string as a number": "a number",
    "greater than or equal to": "at least",
}

# Where this class lives differs between versions of typer; the base of a public one is the same in all.
UsageError: Any = typer.BadParameter.__base__


def run() -> int:
    """Run the command line, and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        getattr(stream, "reconfigure", lambda **_: None)(**_how_to_write(stream))
    with warnings.catch_warnings(), _ended_in_order():
        warnings.showwarning = _sentence_printer(warnings.showwarning)
        return exit_code(_run)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Have whatever asks the command to end do what Ctrl-C does, so that it leaves no process behind.

    What is ignored, as by nohup, stays so.
    """
    asking = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {each: signal.getsignal(each) for each in asking if signal.getsignal(each) is signal.SIG_DFL}
    for each in before:
        signal.signal(each, signal.default_int_handler)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _how_to_write(stream: Any) -> dict[str, str]:
    """Return how text is to be encoded: files and pipes are UTF-8 on every system, unless one asked for another."""
    # A terminal that cannot show a character gets a question mark, not a traceback.
    options = {"errors": "replace"}
    if sys.platform == "win32" and not output.on_terminal(stream) and "PYTHONIOENCODING" not in os.environ:
        options["encoding"] = "utf-8"
    return options


def _run() -> int | None:
    # To put all commands together takes longer than to say this.
    if sys.argv[1:] == ["--version"]:
        output.say_version()
        return 0
    from dqeval.cli.app import app

    found: int | None = app(standalone_mode=False)
    return found


def _sentence_printer(others: Callable[..., None]) -> Callable[..., None]:
    """Return a function that prints warnings: those about packages as a sentence, the others as before."""

    def show(message: Warning | str, category: type[Warning], *where: Any) -> None:
        from dqeval.core.registry import PluginWarning

        if issubclass(category, PluginWarning):
            output.tell(f"warning: {message}")
        else:
            others(message, category, *where)

    return show


def exit_code(work: Callable[[], int | None]) -> int:
    """Run a command and return its exit code; an error is printed as one sentence."""
    try:
        with protected_inputs():
            return work() or 0
    except UsageError as error:
        command = error.ctx.command_path if error.ctx else "dqeval"
        return _fail(f"{_plainly(error.format_message().rstrip('.'))}; see {command} --help")
    except OSError as error:
        if output.is_reader_gone(error):
            return output.reader_gone()
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except ValueError as error:
        return _fail(str(error))
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except RuntimeError as error:
        if "Symlink loop" not in str(error):  # as pathlib says it
            return _report_unexpected(error)
        return _fail(f"{error}: name a place that is no link to itself")
    except MemoryError:
        return _fail("there is not enough memory: try fewer detectors or fewer points")
    except Exception as error:
        return _report_unexpected(error)


def _plainly(message: str) -> str:
    """Return an option's error message in plain words."""
    for said, plain in _PLAIN_WORDS.items():
        message = message.replace(said, plain)
    return message


def _report_unexpected(error: Exception) -> int:
    """Report an unexpected error; not with the exit code of a verdict."""
    if os.environ.get("DQEVAL_DEBUG"):
        traceback.print_exception(error)
    return _fail(f"{_whose_fault(error)}; DQEVAL_DEBUG=1 shows the traceback")


def _whose_fault(error: Exception) -> str:
    """Say what failed: only what is part of dqeval, and found all that it needs, is to be reported."""
    from dqeval.analysis.panel_result import MetricError

    if isinstance(error, MetricError) and not _is_our_own(*error.args):
        return f"the metric {error.args[0]} failed: {error.reason[:_LONGEST]}"
    return f"this is a bug in dqeval: {type(error).__name__}: {str(error)[:_LONGEST]}; please report it"


def _is_our_own(metric: str, error: Exception) -> bool:
    from dqeval.core.registry import METRICS

    return METRICS[metric].function.__module__.startswith("dqeval.") and not isinstance(error, ImportError)


def _fail(sentence: str) -> int:
    output.tell(" ".join(sentence.splitlines()))
    return 2
