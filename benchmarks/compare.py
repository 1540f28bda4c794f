"""Which ratios got worse: ``python -m benchmarks.compare BEFORE AFTER``, of two files with a table of benchmarks.all.

Prints the ratios that are 1.5 times as large as before, or more, and exits with 1 if there are any. The files may be
pages of the documentation.
"""

import re
import sys
from pathlib import Path

HEAD = "| what | beside | ratio |"
RULE = "|---|---|---:|"
TOLERATED = 1.5


def ratios(text: str) -> dict[tuple[str, str], float]:
    """Return the ratios of the table in a text, by what was measured and beside what."""
    _, found, after = text.partition(f"{HEAD}\n{RULE}\n")
    if not found:
        raise ValueError(f"there is no table of ratios: no line {HEAD!r}")
    table, _, _ = f"\n{after}\n\n".partition("\n\n")
    cells = re.findall(r"^\| (.+?) \| (.+?) \| ([0-9.e+-]+) × \|$", table, flags=re.MULTILINE)
    if not cells:
        raise ValueError("the table of ratios is empty")
    return {(what, beside): float(value) for what, beside, value in cells}


def worse(before: dict[tuple[str, str], float], after: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Return how many times as large as before those ratios are that got worse, the worst first."""
    changes = {key: after[key] / before[key] for key in before.keys() & after.keys()}
    found = sorted(changes.items(), key=lambda item: (-item[1], item[0]))
    return {key: change for key, change in found if change >= TOLERATED}


def main(arguments: list[str]) -> int:
    """Print what got worse, and what only one of the tables has."""
    if len(arguments) != 2:
        print("usage: python -m benchmarks.compare BEFORE AFTER", file=sys.stderr)
        return 2
    before, after = (ratios(Path(path).read_text(encoding="utf-8")) for path in arguments)
    found, both = worse(before, after), before.keys() & after.keys()
    print(f"{len(found)} of {len(both)} ratios are {TOLERATED} times as large as before, or more\n")
    if found:
        print("| what | beside | before | after | change |\n|---|---|---:|---:|---:|")
    for (what, beside), change in found.items():
        old, new = before[what, beside], after[what, beside]
        print(f"| {what} | {beside} | {old:.3g} × | {new:.3g} × | {change:.2f} × |")
    for title, keys in (("no longer measured", before.keys() - both), ("new", after.keys() - both)):
        if keys:
            print(f"\n{title}: {', '.join(sorted(what for what, _ in keys))}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
