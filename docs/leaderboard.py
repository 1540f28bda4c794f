"""Bring the numbers of a benchmark run into the page of the leaderboard: ``python docs/leaderboard.py RUN``.

RUN is the folder of ``dqeval bench run docs/leaderboard/plan.toml -o RUN``. Tables stand between two marks.
"""

import math
import re
import sys
from pathlib import Path

from dqeval.bench import Ranking, Store, rank
from dqeval.core.registry import label_of
from dqeval.render.tables import Table

PAGE = Path(__file__).parent / "leaderboard.md"
TABLE = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
METRICS = ("dqe_log_rank", "vus_pr", "auc_pr", "range_f1", "affiliation_f1", "point_adjusted_f1")
DATASETS = {"all": None, "wsd": "WSD", "ucr": "UCR"}


def standing_table(ranking: Ranking, seconds: dict[str, float]) -> Table:
    """Return the detectors, the best by DQE first, and below them the bounds."""
    dqe = ranking.standings["dqe"]
    rows = []
    for i in sorted(range(len(ranking.detectors)), key=lambda i: -dqe.mean[i]):
        name, interval = ranking.detectors[i], dqe.intervals[i]
        others = [f"{ranking.standings[metric].mean[i]:.2f}" for metric in METRICS]
        spread = dqe.seed_deviation[i]
        rows.append(
            (
                name,
                f"{dqe.mean[i]:.3f}",
                f"[{interval.low:.3f}, {interval.high:.3f}]",
                f"{spread:.3f}" if math.isfinite(spread) else "",
                *others,
                f"{seconds[name]:.2g}",
            )
        )
    for name, values in ranking.bounds.items():
        rows.append((f"({name})", f"{values['dqe']:.3f}", "", "", *(f"{values[m]:.2f}" for m in METRICS), ""))
    header = ("detector", "DQE", "95 % interval", "± by seed", *map(label_of, METRICS), "s per series")
    return Table(header, rows)


def main(folder: Path) -> None:
    """Write the tables."""
    with Store(folder) as store:
        seconds = store.seconds()
    rankings = {name: rank(folder, dataset=dataset) for name, dataset in DATASETS.items()}

    def table(match: re.Match[str]) -> str:
        found = rankings[match[2]]
        shown = standing_table(found, seconds).markdown()
        return f"{match[1]}\n{shown}\n\n{found.n} series. {found.sentence()}\n\n{match[3]}"

    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(table, page), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
