"""Detectors that do what detectors must not, for the tests of benchmark runs."""

import itertools
import multiprocessing
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from dqeval.core.registry import detector


@detector(label="Quick", citation="none")
def quick(values, *, power=1.0, seed=0):
    """Score each point by how far it is from the mean."""
    return np.abs(values - values.mean()) ** power + 1e-6 * seed


@detector(label="Raises", citation="none")
def raises(values):
    """Raise an error."""
    raise RuntimeError("no such luck")


@detector(label="Hangs", citation="none")
def hangs(values):
    """Never come back."""
    time.sleep(3600)


@detector(label="NaN", citation="none")
def gives_nan(values):
    """Give a score that is no number."""
    scores = np.zeros(len(values))
    scores[3] = np.nan
    return scores


@detector(label="Short", citation="none")
def too_short(values):
    """Give too few scores."""
    return np.zeros(len(values) - 1)


@detector(label="Prints", citation="none")
def prints(values):
    """Print."""
    print("hello")
    return np.zeros(len(values))


@detector(label="Hungry", citation="none")
def hungry(values):
    """Ask for more memory than there may be."""
    return np.ones((len(values), 2_000_000_000)).sum(axis=1)


@detector(label="Dies", citation="none")
def dies(values):
    """End the process, as the system does when memory runs out."""
    os.kill(os.getpid(), 9)


@detector(label="Slow", citation="none")
def slow(values, *, seconds=0.02, seed=0):
    """Take a while."""
    time.sleep(seconds)
    return np.abs(values) + seed


@detector(label="Meets", citation="none")
def meets(values, *, folder="", count=1, seed=0):
    """Wait until so many are here at the same time."""
    (Path(folder) / f"{seed}").touch()
    until = time.monotonic() + 60
    while len(list(Path(folder).iterdir())) < count:
        if time.monotonic() > until:
            raise RuntimeError("the others did not come")
        time.sleep(0.02)
    return np.abs(values)


@detector(label="Chatters", citation="none")
def chatters(values, *, seed=0):
    """Leave a thread behind that prints."""
    begun = threading.Event()

    def chatter():
        for i in itertools.count():
            print(i)
            begun.set()
            time.sleep(0.0001)

    threading.Thread(target=chatter, daemon=True).start()
    begun.wait()
    return np.abs(values)


def _nap(folder):
    """Say who is here, and never come back."""
    (Path(folder) / f"{os.getpid()}").touch()
    time.sleep(3600)


@detector(label="Forks", citation="none")
def forks(values, *, folder=""):
    """Have other processes hang; each leaves a file that is called after its number."""
    with multiprocessing.Pool(2) as pool:
        pool.map(_nap, [folder] * 2)


@detector(label="Scribbles", citation="none")
def scribbles(values, *, seed=0):
    """Write into all descriptors that there are."""
    for descriptor in range(3, 64):
        with suppress(OSError):
            os.write(descriptor, b"1 of 3 done\n")
    return np.abs(values)


@detector(label="Interrupts", citation="none")
def interrupts(values):
    """Raise what Ctrl-C raises."""
    raise KeyboardInterrupt("enough")


def _gathered(values, options, *, at_once, fails="", folder=""):
    """Yield the scores of two series at a time; leave a file for each call."""
    if folder:
        (Path(folder) / f"{len(values)} {at_once} {len(list(Path(folder).iterdir()))}").touch()
    if fails == "memory" and at_once > 2:
        yield [(0, np.abs(values[0]) + options[0]["seed"])]
        raise MemoryError("out of memory")
    if fails == "all":
        raise RuntimeError("no group today")
    if fails == "dies":
        os.kill(os.getpid(), 9)
    for first in range(0, len(values), 2):
        some = range(first, min(first + 2, len(values)))
        yield [(i, ValueError("not this") if fails == "some" else np.abs(values[i]) + options[i]["seed"]) for i in some]
        if fails == "twice":
            yield [(first, np.abs(values[first]) + options[first]["seed"])]
        if fails == "hangs" and first >= 2:
            time.sleep(3600)


@detector(label="Gathered", citation="none", many=_gathered)
def gathered(values, *, seed=0, fails="", folder=""):
    """Work on many series at once."""
    if fails == "some":
        raise ValueError("not this")
    return np.abs(values) + seed
