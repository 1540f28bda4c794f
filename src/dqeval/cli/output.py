"""Where everything that commands show goes: to the terminal, or to a file."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dqeval.cli.output_formats import WRITERS, OutputFormat, ToWrite
from dqeval.render.tables import printable, wrap
from dqeval.support.writing import atomic_write

if TYPE_CHECKING:
    from dqeval.analysis.result import Shown

READER_GONE = 141  # as shells have it for a broken pipe
PATIENCE = 0.5  # seconds of work before a progress bar appears
INTERVAL = 60.0  # seconds between two lines on how far long work is, where there is no terminal
WIDEST = 120  # characters of a sentence, where there is a terminal: longer lines are hard to read
REFRESH = 0.2  # seconds between two pictures of it, where there is one

Tell = Callable[[int, int], None]

# What commands put into their text themselves: lines, bold and colours.
_OWN = re.compile("(\n|\x1b\\[(?:[01]|[39][0-7])m)")


def say(text: str) -> None:
    """Print to standard output; bold and colours are left out where there is no terminal, or NO_COLOR is set."""
    if sys.stdout is None:
        raise ValueError("standard output is closed, and there is nowhere to write: name a file with -o")
    try:
        typer.echo(_safe(text), color=False if os.environ.get("NO_COLOR") else None)
    except OSError as error:
        if not is_reader_gone(error):
            raise
        raise typer.Exit(reader_gone()) from None


def say_version() -> None:
    """Print the version, and how the kernels run."""
    import dqeval

    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    say(f"dqeval {dqeval.__version__} (kernels {form})")


def say_sentences(text: str) -> None:
    """Print sentences to standard output, no wider than a terminal."""
    say(wrap(text, width_of(sys.stdout)))


def tell(sentence: str) -> None:
    """Say on standard error what is being done."""
    typer.echo(wrap(f"dqeval: {printable(sentence)}", width_of(sys.stderr)), err=True)


def sentence_of(error: BaseException) -> str:
    """Return what an error says, in one line."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    said = " ".join(str(error).split())
    return said if isinstance(error, (ValueError, ImportError, OSError)) else f"{type(error).__name__}: {said}"


def finish(failures: Sequence[str]) -> None:
    """Say what went wrong, and exit with code 2 if anything did: 1 is for verdicts."""
    for failure in failures:
        tell(failure)
    if failures:
        raise typer.Exit(2)


def width_of(stream: Any) -> int | None:
    """Return how wide sentences may be: as wide as a terminal; anywhere else a line is a sentence, for programs."""
    return min(shutil.get_terminal_size().columns, WIDEST) if on_terminal(stream) else None


def on_terminal(stream: Any) -> bool:
    """Return whether a stream is a terminal; one that is closed, which Python has as None, is not."""
    return stream is not None and stream.isatty()


def is_reader_gone(error: OSError) -> bool:
    """Return whether an error means that nobody reads any more. Windows says that the pipe is an invalid argument."""
    on_windows = sys.platform == "win32" and error.errno == errno.EINVAL and error.filename is None
    return isinstance(error, BrokenPipeError) or on_windows


def reader_gone() -> int:
    """Send what is left nowhere, as its reader has gone, as head does; return the exit code for it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return READER_GONE


def bold(text: str) -> str:
    """Return text that stands out on a terminal."""
    return typer.style(text, bold=True)


def emit(result: Shown, form: OutputFormat, path: Path | None, make_receipt: Callable[[], dict[str, Any]]) -> None:
    """Show a result in one of the formats, on standard output or in a file."""
    if path is None:
        say(WRITERS[form](ToWrite(result, make_receipt, bold, width_of(sys.stdout))))
        return
    text = WRITERS[form](ToWrite(result, make_receipt))
    with write_and_say(path) as place:
        place.write_text(f"{text}\n", encoding="utf-8", newline="\n")


@contextmanager
def write_and_say(path: Path) -> Iterator[Path]:
    """Give a place to write to as `atomic_write` does, and say what was written."""
    with atomic_write(path) as place:
        yield place
    tell(f"wrote {path}")


@contextmanager
def progress(what: str) -> Iterator[Tell]:
    """Show how far the work is, on a terminal, once it has taken a while."""
    if not on_terminal(sys.stderr):
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn(what), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(file=sys.stderr), transient=True)
    task = bar.add_task(what, total=None)
    timer = threading.Timer(PATIENCE, bar.start)
    timer.start()
    try:
        yield partial(_move, bar, task)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


@contextmanager
def sentences(first: str) -> Iterator[Callable[[str], None]]:
    """Show the newest of many sentences on how far the work is: on a terminal at once, otherwise once a minute."""
    newest = first

    def take(sentence: str) -> None:
        nonlocal newest
        newest = sentence

    if not on_terminal(sys.stderr):
        with repeat_every(INTERVAL, lambda: tell(newest)):
            yield take
        return
    from rich.console import Console

    with Console(file=sys.stderr).status(newest) as status, repeat_every(REFRESH, lambda: status.update(newest)):
        yield take


@contextmanager
def repeat_every(seconds: float, show: Callable[[], None]) -> Iterator[None]:
    """Call a function again and again meanwhile; by the clock, as a job may take hours."""
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(seconds):
            show()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _safe(text: str) -> str:
    """Return text that does nothing on a terminal but stand there, in lines and colours."""
    return "".join(part if _OWN.fullmatch(part) else printable(part) for part in _OWN.split(text))


def _move(bar: Any, task: Any, done: int, total: int) -> None:
    bar.update(task, completed=done, total=total)
