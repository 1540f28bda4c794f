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

from typer.main import get_command

from dqeval.cli.app import app
from dqeval.cli.exit_codes import exit_code

from . import arguments, inputs, texts

PATIENCE = 20  # seconds of work, not of waiting for others: far more than any of these small inputs should take
SILENCE = 120  # seconds by the clock without a new input: it waits for something that never comes
LONGEST = 4000  # characters of what is said about an input

COMMANDS = {
    "check": ["check"],
    "score": ["score", "--metrics", "dqe"],
    "panel": ["score"],
    "compare": ["compare"],
    "explain": ["explain"],
    "report": ["report", "-o", "out.html"],
    "plot": ["plot", "-o", "out.svg"],
    "list": ["datasets", "list"],
}
HOW_OFTEN = {"check": 900, "score": 60, "explain": 10, "compare": 5, "panel": 20, "report": 1, "plot": 1}
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


# What can be asked for alone; the files of all formats take turns.
KINDS = ("files", "receipt", "plan", "call")
FILES = ("a.csv",) * 3 + ("a.jsonl",) * 3 + ("a.npz",) * 3 + (*inputs.ARROW, "list", "list")
_command_line = get_command(app)  # made once, which takes longer than most inputs


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


def make(seed, number, kinds=KINDS):
    """Return an input, and the random numbers that choose what is done with it."""
    rng = random.Random(f"{seed}/{number}")
    kind = kinds[0] if rng.random() < 0.8 else rng.choice(kinds)
    kind = rng.choice(FILES) if kind == "files" else kind
    if kind in inputs.WRITERS:
        return inputs.table_file(rng, kind), rng
    return (inputs.archive_file(rng) if kind == "list" else inputs.Input(kind)), rng


def try_one(seed, number, folder, tally, kinds):
    """Make an input, give it to a command, and note what came of it."""
    made, rng = make(seed, number, kinds)
    for name, data in made.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    said, began = io.StringIO(), time.perf_counter()
    code, wrong = None, ""
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said), warnings.catch_warnings():
            warnings.simplefilter("error")
            command, code = _done(made, rng, folder)
            wrong = texts.difference(folder / made.kind) if made.kind.startswith("a.csv") else ""
    except HangError:
        command, wrong = "", f"took more than {PATIENCE} s"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
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
    allowed = ("dqeval: wrote out.", "dqeval: warning: ")
    lines = [line for line in said.splitlines() if not line.startswith(allowed)]
    if (code == 2) != bool(lines) or len(said) > LONGEST:
        return f"exit code {code}, and {len(said)} characters were said: {said[:500]}"
    return ""


def _done(made, rng, folder):
    """Return what was done, and the exit code for what came of it."""
    if made.kind == "plan":
        return "plan", exit_code(lambda: _planned(rng, folder))
    if made.kind == "call":
        return "call", exit_code(lambda: arguments.call(rng))
    if made.kind == "receipt":
        receipt = inputs.changed_json(rng, json.loads((folder / "receipt.json").read_text()), rng.choice((1, 1, 3)))
        (folder / "changed.json").write_text(json.dumps(receipt))
        return "verify", _called("verify", "changed.json", "good.csv")
    first = Path(next(iter(made.files)))
    if made.kind.startswith("list"):
        return "list", _called(*COMMANDS["list"], first if len(made.files) == 1 else first.parts[0])
    command = rng.choices(list(HOW_OFTEN), list(HOW_OFTEN.values()))[0]
    return command, _called(*COMMANDS[command], first)


def _called(*words):
    return exit_code(lambda: _command_line.main(args=list(map(str, words)), standalone_mode=False))


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
    good = inputs.good_columns(random.Random(7), 40)
    (folder / "good.csv").write_bytes(inputs.as_text(random.Random(1), list(good), list(good.values())))
    with contextlib.redirect_stderr(io.StringIO()):
        words = ("score", "good.csv", "--metrics", "dqe,auc_roc", "--format", "json", "-o", "receipt.json")
        assert _called(*words) == 0


def work(seed, first, count, progress, kinds=KINDS):
    """Try inputs in this process; the number of each is written down before, in case the process dies of it."""

    def hang(*_):
        raise HangError

    signal.signal(signal.SIGPROF, hang)
    tally = Tally()
    with tempfile.TemporaryDirectory() as place, open(progress, "wb", buffering=0) as told:
        folder = Path(place)
        os.chdir(folder)
        prepare(folder)
        for number in range(first, first + count):
            told.seek(0)
            told.write(b"%20d" % number)
            try_one(seed, number, folder, tally, kinds)
        os.chdir("/")
    return tally


def supervised(seed, first, count, *, kinds=KINDS, at_once=20_000, tell=lambda tally: None):
    """Try inputs in processes of their own, and go on after the number that one dies of."""
    tally, number, end = Tally(), first, first + count
    while number < end:
        todo = min(at_once, end - number)
        found, died_at, how = _in_a_process(seed, number, todo, kinds)
        if found is None:  # what it had found died with it; up to there it will live
            found = supervised(seed, number, died_at - number, kinds=kinds)
            todo = died_at + 1 - number
        tally.add(found)
        if how:
            tally.failures.append((died_at, make(seed, died_at, kinds)[0].kind, how))
        number += todo
        tell(tally)
    return tally


def _in_a_process(seed, first, count, kinds):
    """Return what a process found, if it came to its end, the number of its last input, and how it died, if it did."""
    with tempfile.TemporaryDirectory() as place:
        progress, found = Path(place, "progress"), Path(place, "found.json")
        words = ["--worker", seed, first, count, progress, found, ",".join(kinds)]
        command = [sys.executable, "-m", __package__, *map(str, words)]
        how = _watched(command, progress)
        tally = _loaded(found.read_text()) if found.exists() else None
        if not progress.exists():
            raise RuntimeError(f"the process {how}")
        return tally, int(progress.read_text()), how


def _watched(command, progress, silence=SILENCE):
    """Run a process as long as it makes progress, which is what it writes to a file; return how it died, if it did."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, cwd=_start(), stdin=subprocess.DEVNULL, stderr=said)
        try:
            waited = _waited(process, progress, silence)
        finally:
            process.kill()
            process.wait()
        said.seek(0)
        if waited:
            return f"waited for {silence} s, and was killed: {said.read()[-500:]}"
        return f"died with {process.returncode}: {said.read()[-500:]}" if process.returncode else ""


def _waited(process, progress, silence):
    """Wait for the end of a process; return whether it made no progress for so long instead."""
    last, since = None, time.monotonic()
    while time.monotonic() - since < silence:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=min(1, silence))
            return False
        if (now := progress.read_bytes() if progress.exists() else None) != last:
            last, since = now, time.monotonic()
    return True


def _start():
    """Return the folder from which this package can be started by its name."""
    return Path(__file__).parents[__package__.count(".") + 1]


def dumped(tally):
    return json.dumps([[[*key, count] for key, count in tally.outcomes.items()], tally.failures])


def _loaded(text):
    outcomes, failures = json.loads(text)
    return Tally(Counter({(kind, code): count for kind, code, count in outcomes}), [tuple(f) for f in failures])


def keep(seed, number, folder, kinds=KINDS):
    """Write the files of an input to a folder, to look into what is wrong."""
    place = Path(folder, f"{seed}-{number}")
    for name, data in make(seed, number, kinds)[0].files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    return place


def limit_memory(gigabytes=6):
    """Let this process take no more memory, so that what asks for too much is found without harm to the machine."""
    import resource

    os.environ.setdefault("DQEVAL_MAX_BYTES", str(2**28))
    resource.setrlimit(resource.RLIMIT_AS, (gigabytes * 2**30, gigabytes * 2**30))
