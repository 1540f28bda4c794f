"""The command line as a function, for tests that need no process of their own."""

import subprocess
import sys
from dataclasses import dataclass
from functools import cache

import numpy as np
import typer.main

import dqeval
from dqeval.cli.entry import main

# To put all commands together takes longer than most of them: once per process is enough.
typer.main.get_command = cache(typer.main.get_command)


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def caller(monkeypatch, capsys):
    """Return a function that runs the command line in this process."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["dqeval", *map(str, arguments)])
        try:
            main()
        except SystemExit as stopped:
            return Done(stopped.code or 0, *capsys.readouterr())

    return call


def run(*arguments, **options):
    """Run the command line as people run it."""
    command = [sys.executable, "-m", "dqeval", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", **options)


def write_demo(path, length=1600):
    """Write the demo series as CSV."""
    series = dqeval.datasets.demo()
    columns = np.column_stack([series.values, series.labels, *series.scores.values()])[:length]
    header = ",".join(["value", "label", *series.scores])
    np.savetxt(path, columns, delimiter=",", header=header, comments="")
    return path


def write_clean(path):
    """Write a series of which there is nothing to tell: a detector far above its noise in each of six events."""
    rows = (f"{int(t % 50 == 30)},{t % 10},{1 - t / 9000 if t % 50 == 30 else t / 90000}" for t in range(300))
    path.write_text("\n".join(["label,value,mine", *rows]))
    return path
