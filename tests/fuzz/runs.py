"""What came of an input: calls what the command line calls, in the same way, and judges how it ended."""

import contextlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import typer

import dqeval
from dqeval.cli import exit_code
from dqeval.cli.detection import list_series
from dqeval.cli.options import Format
from dqeval.cli.work import Chosen, show
from dqeval.registry import METRICS

from . import arguments, inputs

PATIENCE = 30  # seconds: far more than any of these small inputs should take
LONGEST = 4000  # characters of what is said about an input

NEAR = {"near": None, "period": None}
SCORE = {**NEAR, "thresholds": 100, "per_event": False}
COMMANDS = {
    "check": {},
    "score": {**SCORE, "metrics": ["dqe"]},
    "panel": {**SCORE, "metrics": None},
    "compare": NEAR,
    "explain": NEAR,
}
HOW_OFTEN = {"check": 700, "score": 150, "explain": 60, "compare": 30, "panel": 50, "report": 1, "plot": 1}
PLAN = """
seeds = [0]
metrics = ["dqe", "auc_roc"]
near = 5
timeout = 60
[[data]]
generator = "synthetic"
n = 400
period = 20
events = 2
count = 2
seed = 3
name = "made"
[[scores]]
path = "good.csv"
format = "table"
[[detector]]
name = "fft"
label = "mine"
"""


class HangError(BaseException):
    """It took too long; not an Exception, which the command line would tell of."""


@dataclass
class Tally:
    """How many inputs there were, by kind and outcome, and what was wrong with some: number, kind and sentence."""

    outcomes: Counter = field(default_factory=Counter)
    failures: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, other):
        self.outcomes += other.outcomes
        self.failures += other.failures


def make(seed, number):
    """Return an input, and the random numbers that choose what is done with it."""
    rng = random.Random(f"{seed}/{number}")
    kind = rng.choice(
        ("a.csv",) * 3 + ("a.jsonl",) * 3 + ("a.npz",) * 3 + (*inputs.ARROW, "list", "list", "receipt", "plan", "call")
    )
    if kind in inputs.WRITERS:
        return inputs.table_file(rng, kind), rng
    return (inputs.archive_file(rng) if kind == "list" else inputs.Input(kind)), rng


def try_one(seed, number, folder, tally):
    """Make an input, give it to a command, and note what came of it."""
    made, rng = make(seed, number)
    for name, data in made.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    said, began = io.StringIO(), time.perf_counter()
    code, wrong = None, ""
    signal.alarm(PATIENCE)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said), warnings.catch_warnings():
            warnings.simplefilter("error")
            command, code = _done(made, rng, folder)
    except HangError:
        command, wrong = "", f"took more than {PATIENCE} s"
    finally:
        signal.alarm(0)
    wrong = wrong or _wrong(code, said.getvalue())
    tally.outcomes[f"{made.kind} {command}", "wrong" if wrong else code] += 1
    if wrong:
        tally.failures.append((number, made.kind, f"{command}: {wrong} ({time.perf_counter() - began:.1f} s)"))
    for name in {name.partition("/")[0] for name in made.files}:
        shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink()


def _wrong(code, said):
    """Return what is wrong with how an input ended; nothing if it is as it should be."""
    if code not in (0, 1, 2) or "this is a bug" in said or "Traceback" in said:
        return f"exit code {code}: {said[:500]}"
    if (code == 2) != bool(said.strip()) or len(said) > LONGEST:
        return f"exit code {code}, and {len(said)} characters were said: {said[:500]}"
    return ""


def _done(made, rng, folder):
    if made.kind == "receipt":
        return "verify", exit_code(lambda: _verified(rng, folder))
    if made.kind == "plan":
        return "plan", exit_code(lambda: _planned(rng, folder))
    if made.kind == "call":
        return "call", exit_code(lambda: arguments.call(rng))
    first = folder / next(iter(made.files))
    if made.kind.startswith("list"):
        place = first if len(made.files) == 1 else folder / first.relative_to(folder).parts[0]
        return "list", exit_code(lambda: _exit(lambda: list_series([place], Format.CSV, None)))
    command = rng.choices(list(HOW_OFTEN), list(HOW_OFTEN.values()))[0]
    return command, exit_code(lambda: _exit(lambda: _shown(command, first, folder)))


def _exit(work):
    try:
        work()
    except typer.Exit as stopped:
        return stopped.exit_code


def _shown(command, path, folder):
    if command in COMMANDS:
        parameters = dict(COMMANDS[command])
        if command == "panel":
            command, parameters["metrics"] = "score", list(METRICS.names)
        show(command, [path], Chosen(None, None, None), parameters, form=Format.TABLE, output=None)
        return
    series = Chosen(None, None, None).read_only(path, lambda done, total: None)
    if command == "report":
        dqeval.report(series, folder / "out.html")
    else:
        from dqeval.report.figure import draw

        draw(series, folder / "out.svg")


def _verified(rng, folder):
    from dqeval.receipts import verify

    receipt = inputs.changed_json(rng, json.loads((folder / "receipt.json").read_text()), rng.choice((1, 1, 3)))
    verify(receipt, [folder / "good.csv"])


def _planned(rng, folder):
    from dqeval.bench.plan import make_plan, read_plan

    if rng.random() < 0.5:
        import tomllib

        make_plan(inputs.changed_json(rng, tomllib.loads(PLAN), rng.choice((1, 1, 3))), folder=folder)
        return
    (folder / "plan.toml").write_bytes(inputs.mutated(rng, PLAN.encode()))
    read_plan(folder / "plan.toml")


def prepare(folder):
    """Write what receipts and plans are about."""
    rows = inputs.as_text(
        random.Random(1), *map(list, zip(*inputs.good_columns(random.Random(7), 40).items(), strict=True))
    )
    (folder / "good.csv").write_bytes(rows)
    parameters = {**SCORE, "metrics": ["dqe", "auc_roc"]}
    with contextlib.redirect_stderr(io.StringIO()):
        show(
            "score",
            [folder / "good.csv"],
            Chosen(None, None, None),
            parameters,
            form=Format.JSON,
            output=folder / "receipt.json",
        )


def work(seed, first, count, progress):
    """Try inputs in this process; the number of each is written down before, in case the process dies of it."""

    def hang(*_):
        raise HangError

    signal.signal(signal.SIGALRM, hang)
    tally = Tally()
    with tempfile.TemporaryDirectory() as place, open(progress, "wb", buffering=0) as told:
        folder = Path(place)
        prepare(folder)
        for number in range(first, first + count):
            told.seek(0)
            told.write(b"%20d" % number)
            try_one(seed, number, folder, tally)
    return tally


def supervised(seed, first, count, at_once=20_000, tell=lambda tally: None):
    """Try inputs in processes of their own, and go on after the number that one dies of."""
    tally, number, end = Tally(), first, first + count
    with tempfile.TemporaryDirectory() as place:
        progress, found = Path(place, "progress"), Path(place, "found.json")
        while number < end:
            todo = min(at_once, end - number)
            found.unlink(missing_ok=True)
            command = [
                sys.executable,
                "-m",
                __package__,
                "--worker",
                str(seed),
                str(number),
                str(todo),
                str(progress),
                str(found),
            ]
            done = subprocess.run(command, cwd=_start(), stderr=subprocess.PIPE, text=True, timeout=PATIENCE * todo)
            if found.exists():
                tally.add(_loaded(found.read_text()))
            if done.returncode:
                # What it found before it died is found again by whoever looks into it: the seed is the same.
                last = int(progress.read_text()) if progress.exists() else number
                tally.failures.append(
                    (last, make(seed, last)[0].kind, f"died with {done.returncode}: {done.stderr[-500:]}")
                )
                todo = last + 1 - number
            number += todo
            tell(tally)
    return tally


def _start():
    """Return the folder from which this package can be started by its name."""
    return Path(__file__).parents[__package__.count(".") + 1]


def dumped(tally):
    return json.dumps([[[*key, count] for key, count in tally.outcomes.items()], tally.failures])


def _loaded(text):
    outcomes, failures = json.loads(text)
    return Tally(Counter({(kind, code): count for kind, code, count in outcomes}), [tuple(f) for f in failures])


def keep(seed, number, folder):
    """Write the files of an input to a folder, to look into what is wrong."""
    place = Path(folder, f"{seed}-{number}")
    for name, data in make(seed, number)[0].files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    return place


def limit_memory(gigabytes=6):
    """Let this process take no more memory, so that what asks for too much is found without harm to the machine."""
    import resource

    os.environ.setdefault("DQEVAL_MAX_BYTES", str(2**28))
    resource.setrlimit(resource.RLIMIT_AS, (gigabytes * 2**30, gigabytes * 2**30))
