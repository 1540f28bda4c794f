"""The command: ``python -m tests.fuzz --seed 1 --inputs 100000``."""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from . import runs


def worker(seed, first, count, progress, found, kinds):
    runs.limit_memory()
    tally = runs.work(seed, int(first), int(count), progress, tuple(kinds.split(",")))
    Path(found).write_text(runs.dumped(tally))


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Try hostile inputs.")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--inputs", type=int, default=10_000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the number of the first, to look into one")
    parser.add_argument("--keep", default="fuzz-failures", help="the folder for files of inputs that failed")
    parser.add_argument("--only", choices=runs.KINDS, help="one kind of input, not all")
    given = parser.parse_args()
    kinds = (given.only,) if given.only else runs.KINDS
    began = time.monotonic()

    def tell(tally):
        count = sum(tally.outcomes.values())
        print(f"{count:,} inputs, {len(tally.failures)} failures, {time.monotonic() - began:.0f} s", flush=True)

    tally = runs.supervised(given.seed, given.first, given.inputs, kinds=kinds, tell=tell)
    codes = Counter()
    for (_, code), count in tally.outcomes.items():
        codes[code] += count
    for (kind, code), count in sorted(tally.outcomes.items(), key=str):
        print(f"{kind:24} {code!s:6} {count:10,}")
    for number, kind, wrong in tally.failures:
        print(f"\n{kind}, --seed {given.seed} --first {number} --inputs 1: {wrong}")
        print(f"    files in {runs.keep(given.seed, number, given.keep, kinds)}")
    print(f"\n{given.inputs:,} inputs with seed {given.seed}: {dict(codes)}; {len(tally.failures)} failures")
    return bool(tally.failures)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(*sys.argv[2:])
    else:
        sys.exit(main())
