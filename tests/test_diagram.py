"""The critical-difference diagram: its groups against a published example, and what is drawn."""

import sys

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from scipy import stats

from dqeval.bench.ranking import rank_rows
from dqeval.bench.ranking_result import Ranking
from dqeval.bench.statistics import Significance, Standing, groups, ranks_of
from dqeval.render.diagram import critical_difference, size_of

# Demšar (2006), JMLR 7, Table 6: AUC of C4.5 and of three variants of it on 14 data sets.
VARIANTS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
PUBLISHED = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],  # adult (sample)
        [0.599, 0.591, 0.590, 0.569],  # breast cancer
        [0.954, 0.971, 0.968, 0.967],  # breast cancer wisconsin
        [0.628, 0.661, 0.654, 0.657],  # cmc
        [0.882, 0.888, 0.886, 0.898],  # ionosphere
        [0.936, 0.931, 0.916, 0.931],  # iris
        [0.661, 0.668, 0.609, 0.685],  # liver disorders
        [0.583, 0.583, 0.563, 0.625],  # lung cancer
        [0.775, 0.838, 0.866, 0.875],  # lymphography
        [1.000, 1.000, 1.000, 1.000],  # mushroom
        [0.940, 0.962, 0.965, 0.962],  # primary tumor
        [0.619, 0.666, 0.614, 0.669],  # rheum
        # Printed as 0.975 twice, but ranked 2 and 3: the ranks are of values with more digits.
        [0.972, 0.981, 0.9751, 0.975],  # voting
        [0.957, 0.978, 0.946, 0.970],  # wine
    ]
)


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def ranking(average_rank, stretches=(), name="d{}"):
    names = tuple(name.format(i) for i in range(len(average_rank)))
    ranks = np.array(average_rank, dtype=float)
    found = tuple(tuple(names[i] for i in stretch) for stretch in stretches)
    standing = Standing("dqe", 1 / ranks, (), ranks, np.full(len(ranks), np.nan))
    significance = Significance(float("nan"), {}, found)
    return Ranking("series", names, {"dqe": standing}, 9, 0, significance, np.ones((1, 1)))


def drawn(ax, label):
    return [np.column_stack(line.get_data()) for line in ax.lines if line.get_label() == label]


def test_published_ranks():
    ranks = ranks_of(PUBLISHED)
    assert ranks[0].tolist() == [4, 3, 2, 1]
    assert ranks[5].tolist() == [1, 2.5, 4, 2.5]
    assert ranks[9].tolist() == [2.5, 2.5, 2.5, 2.5]
    assert ranks.mean(axis=0).round(3).tolist() == [3.143, 2.000, 2.893, 1.964]


def test_published_friedman_statistic():
    n, k = PUBLISHED.shape
    ranks = ranks_of(PUBLISHED)
    squares = (ranks.mean(axis=0) ** 2).sum()
    plain = 12 * n / (k * (k + 1)) * (squares - k * (k + 1) ** 2 / 4)
    assert round(plain, 2) == 9.28
    # SciPy corrects for ties, which the paper does not.
    sizes = [np.unique(row, return_counts=True)[1] for row in PUBLISHED]
    correction = 1 - sum((size**3 - size).sum() for size in sizes) / (n * (k**3 - k))
    assert stats.friedmanchisquare(*PUBLISHED.T).statistic == pytest.approx(plain / correction)


@pytest.mark.parametrize(
    ("level", "critical", "expected"),
    [
        (0.10, 1.12, (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))),
        (0.05, 1.25, (("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"),)),
    ],
)
def test_published_groups(level, critical, expected):
    """Nemenyi's test: two differ if their average ranks are further apart than the critical difference."""
    n, k = PUBLISHED.shape
    mean = dict(zip(VARIANTS, ranks_of(PUBLISHED).mean(axis=0), strict=True))
    difference = stats.studentized_range.ppf(1 - level, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n))
    assert round(difference, 2) == critical
    order = sorted(VARIANTS, key=mean.__getitem__)
    assert groups(order, lambda a, b: abs(mean[a] - mean[b]) >= difference) == expected


def test_a_ranking_of_the_published_table():
    rows = [
        {"unit": i, "detector": name, "metric": "dqe", "value": value}
        for i, row in enumerate(PUBLISHED.tolist())
        for name, value in zip(VARIANTS, row, strict=True)
    ]
    found = rank_rows(rows, repeats=10)
    ax = critical_difference(found)
    texts = [text.get_text().replace("\u2002", " ") for text in ax.texts]
    assert texts == ["C4.5+m+cf 1.96", "C4.5+m 2.00", "3.14 C4.5", "2.89 C4.5+cf"]
    assert ax.get_xlabel() == "average rank by DQE, 1 is best"
    assert ax.get_xlim() == (1, 4)
    joined = [group for group in found.significance.groups if len(group) > 1]
    assert len(drawn(ax, "group")) == len(joined)


def test_bars_join_the_groups_and_stay_apart():
    ax = critical_difference(ranking([1.2, 2.0, 2.6, 4.4, 4.8], [(0, 1), (1, 2), (3, 4)]))
    bars = drawn(ax, "group")
    ends = [(bar[0, 0], bar[1, 0]) for bar in bars]
    # The third has room beside the first.
    assert [bar[0, 1] for bar in bars] == pytest.approx([bars[0][0, 1], bars[0][0, 1], bars[2][0, 1]])
    assert bars[2][0, 1] > bars[0][0, 1]
    for (low, high), (first, last) in zip(ends, [(1.2, 2.0), (4.4, 4.8), (2.0, 2.6)], strict=True):
        assert first - 0.1 < low < first
        assert last < high < last + 0.1


def test_a_detector_alone_has_no_bar():
    assert drawn(critical_difference(ranking([1, 2], [(0,), (1,)])), "group") == []


@pytest.mark.parametrize("n", [2, 3, 8, 25, 40])
@pytest.mark.parametrize("name", ["d{}", "a long name, with $math and its parameters: window=100, seed={}"])
@pytest.mark.slow
@pytest.mark.unmeasured
def test_names_fit_and_lines_do_not_cross(n, name):
    average = np.linspace(1.3, n - 0.2, n)
    average[1] = average[0]  # a tie
    found = ranking(average, [range(i, min(n, i + 4)) for i in range(0, n, 2)], name)
    figure = Figure(figsize=size_of(found), layout="constrained", dpi=100)
    ax = critical_difference(found, figure.add_subplot())
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == n
    width, height = figure.bbox.size
    for box in boxes:
        assert box.x0 >= 0
        assert box.x1 <= width
        assert box.y0 >= 0
        assert box.y1 <= height
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert ax.get_window_extent().width > 0.2 * width
    assert [tick for tick in ax.get_xticks() if not 1 <= tick <= n or tick != int(tick)] == []
    assert ax.get_xticks()[0] == 1
    # On each side, who is nearer to the edge stands higher.
    lines = drawn(ax, "detector")
    half = (n + 1) // 2
    for side, sign in ((lines[:half], 1), (lines[half:], -1)):
        corners = np.array([line[1] for line in side])
        assert (np.diff(sign * corners[:, 0]) >= 0).all()
        assert (np.diff(corners[:, 1]) > 0).all()


def test_one_detector_is_not_enough():
    with pytest.raises(ValueError, match="needs at least two detectors: there is one"):
        critical_difference(ranking([1]))


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ValueError, match=r"plots need matplotlib: pip install 'matplotlib>=3.8'"):
        critical_difference(ranking([1, 2]))
