"""The report on a benchmark run, read as text and used in a real browser."""

import re
import shutil
import sqlite3
import sys
from dataclasses import replace

import numpy as np
import pytest

import dqeval
from dqeval.bench import run
from dqeval.bench.ranking import rank, rank_rows
from dqeval.bench.store import Store
from dqeval.core.registry import METRICS
from dqeval.datasets.door import prepare
from dqeval.render import bench_page as bench_module
from dqeval.render import drilldown
from dqeval.render.bench_page import bench_report
from dqeval.render.blocks import number_cell
from dqeval.render.drilldown import cases_of
from dqeval.render.tables import in_words

DATA = """
metrics = ["dqe", "auc_roc", "auc_pr"]
[[data]]
generator = "synthetic"
name = "slow"
n = 600
period = 24
events = 3
count = 2
[[data]]
generator = "synthetic"
name = "quick & <odd>"
n = 500
period = 10
events = 4
count = 2
"""
ONE_SERIES = """
metrics = ["dqe"]
[[data]]
generator = "synthetic"
n = 500
period = 10
events = 3
"""
FFT = """
[[detector]]
name = "fft"
"""
TOO_MANY = """
[[detector]]
name = "kmeans_ad"
label = "too <many>"
clusters = 9999
"""
DETECTORS = f"""
{FFT}
[[detector]]
name = "sr"
[[detector]]
name = "sub_lof"
neighbours = 5
{TOO_MANY}
"""


def made(folder, plan, **options):
    (folder / "mine.toml").write_text(plan, encoding="utf-8")
    run(folder / "mine.toml", folder / "out")
    bench_report(folder / "out", folder / "bench.html", **options)
    return (folder / "bench.html").read_text(encoding="utf-8")


def body(text):
    return text.partition("<body>")[2]


def section(text, name):
    return body(text).partition(f'<section aria-labelledby="{name}">')[2].partition("</section>")[0]


def rows(html):
    """Return the texts of the cells of the first table."""
    table = html.partition("<tbody>")[2].partition("</tbody>")[0]
    lines = re.findall(r"<tr>(.*?)</tr>", table)
    return [[re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", line)] for line in lines]


def score_files(folder, columns, count=3, n=60):
    """Write files of scores, and return a plan of them."""
    (folder / "scores").mkdir()
    random = np.random.RandomState(0)
    for i in range(count):
        labels = np.arange(n) % 30 > 24
        table = [labels, *(random.rand(n) + (j + 1) * 0.2 * labels for j in range(len(columns)))]
        lines = [
            ",".join(["label", *columns]),
            *(",".join(f"{float(x):.4g}" for x in row) for row in zip(*table, strict=True)),
        ]
        (folder / "scores" / f"s{i}.csv").write_text("\n".join(lines), encoding="utf-8")
    return 'metrics = ["dqe", "auc_roc"]\nnear = 3\n[[scores]]\npath = "scores"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    steps = []
    made(folder, DATA + DETECTORS, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(i, 4) for i in range(5)]
    return folder


@pytest.fixture(autouse=True)
def plain_pages(monkeypatch):
    """Have tests write nearly empty pages of series, which take long; those in the folder of the module are real."""
    monkeypatch.setattr(drilldown, "comparison_of", lambda *_, **__: None)
    monkeypatch.setattr(drilldown, "page", lambda *_, back: f"back to {back}")


@pytest.fixture(scope="module")
def text(folder):
    return (folder / "bench.html").read_text(encoding="utf-8")


@pytest.mark.unmeasured
def test_the_leaderboard_is_the_ranking(folder, text):
    ranking = rank(folder / "out")
    found = rows(section(text, "leaderboard"))
    assert [row[0] for row in found] == list(ranking.detectors)
    dqe, roc = ranking.standings["dqe"], ranking.standings["auc_roc"]
    assert [row[1] for row in found] == [f"{x:.3f} ({r:g})" for x, r in zip(dqe.mean, dqe.rank, strict=True)]
    assert [row[2] for row in found] == ["too few: 4 series"] * len(found)
    assert [row[3] for row in found] == [f"{x:.2f}" for x in dqe.average_rank]
    assert [row[4] for row in found] == [f"{x:.3f} ({r:g})" for x, r in zip(roc.mean, roc.rank, strict=True)]
    assert all(float(row[-1]) >= 0 for row in found)
    assert "Means over 4 series." in text
    assert "Without any value, and so not ranked: too &lt;many&gt;." in text
    assert text.count("Higher is better, by every metric") == 1
    assert f"{ranking.detectors[0]} is best by DQE: {dqe.mean[0]:.3f} on average over 4 series" in text
    assert "It is not told apart from" in text


def test_the_diagram_is_in_the_page_in_the_colour_of_its_text(folder, text):
    drawn = section(text, "critical-differences")
    assert drawn.count('<svg role="img" aria-label="Critical-difference diagram.') == 1
    assert all(f">{detector}\u2002" in drawn or f"\u2002{detector}<" in drawn for detector in ("fft", "sr", "sub_lof"))
    assert "currentColor" in drawn
    assert "#1a1a1a" not in drawn
    assert "Friedman" in drawn


def test_datasets_have_their_own_rankings(folder, text):
    found = section(text, "datasets")
    table = {row[0]: row[1:] for row in rows(found)}
    for name, shown in (("slow", "slow"), ("quick & <odd>", "quick &amp; &lt;odd&gt;")):
        ranking = rank(folder / "out", dataset=name)
        means = dict(zip(ranking.detectors, ranking.standings["dqe"].mean, strict=True))
        assert table[shown] == ["2", *(f"{means[detector]:.3f}" for detector in sorted(means))]
        assert ranking.table().html(most_rows=None) in found
        assert f"<summary>{shown}</summary>" in found


def test_events_count_once_each(folder, text):
    ranking = rank(folder / "out", by="event")
    assert ranking.table().html(most_rows=None) in section(text, "events")
    assert "Means over 14 events." in section(text, "events")


def test_agreement_is_tinted(folder, text):
    found = section(text, "agreement-of-metrics")
    tau = rank(folder / "out").agreement
    shown = [[f"{x:.2f}".replace("-", "−") for x in row] for row in tau.tolist()]
    assert [row[1:] for row in rows(found)] == shown
    assert found.count('style="background: rgba(') == 9


def test_series_are_sorted_by_disagreement_and_linked(folder, text):
    found = section(text, "series")
    table = rows(found)
    tau = [float(row[4].replace("−", "-")) for row in table]
    assert tau == sorted(tau)
    assert f"The metrics disagree most about the order of the detectors on {table[0][0]}, where DQE prefers" in found
    links = re.findall(r'<a href="([^"]*)">', found)
    assert len(links) == 4
    assert "bench_series/slow_0.html" in links
    for link in links:
        explorer = (folder / link).read_text(encoding="utf-8")
        assert all(f'"name": "{name}"' in explorer for name in ("fft", "sr", "sub_lof"))
        assert "too <many>" not in explorer
        assert '<nav><a href="../bench.html">' in explorer


def test_the_explorer_scores_as_the_run_did(folder):
    mean = rank(folder / "out", dataset="slow").standings["dqe"].mean
    pages = [(folder / f"bench_series/slow_{i}.html").read_text(encoding="utf-8") for i in (0, 1)]
    shown = [{row[0]: float(row[1]) for row in rows(page)} for page in pages]
    for detector, expected in zip(rank(folder / "out", dataset="slow").detectors, mean, strict=True):
        assert np.mean([table[detector] for table in shown]) == pytest.approx(expected, abs=0.001)


def test_failures_have_counts_and_reasons(text):
    found = section(text, "failures")
    assert "4 failed, 0 undefined. Neither is counted as 0." in found
    assert all(row[:2] == ["too &lt;many&gt;", "the detector"] and row[3] == "failed" for row in rows(found))
    assert sum(int(row[2]) for row in rows(found)) == 4
    assert "windows" in found
    assert "8 jobs done" not in text
    assert "12 jobs done, 4 failed" in text


def test_the_same_run_gives_the_same_page(folder, text, tmp_path):
    bench_report(folder / "out", tmp_path / "bench.html")
    assert (tmp_path / "bench.html").read_text(encoding="utf-8") == text
    assert "http-equiv" not in text
    assert not re.search(r'(src|href)="(?!#|bench_series/)', text)


def test_many_series_and_reasons_are_cut(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(bench_module, "MOST_PAGES", 2)
    monkeypatch.setattr(bench_module, "MOST_REASONS", 1)
    bench_report(folder / "out", tmp_path / "few.html")
    text = (tmp_path / "few.html").read_text(encoding="utf-8")
    assert "Shown are 2 of 4 series: those where the metrics disagree most." in text
    files = [path.name for path in (tmp_path / "few_series").iterdir()]
    assert sorted(path.rpartition(".")[2] for path in files) == ["html", "html", "js"]
    assert len(rows(section(text, "series"))) == 2
    assert "The 1 most common reasons of 2:" in text
    assert len(rows(section(text, "failures"))) == 1


def test_without_matplotlib(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    bench_report(folder / "out", tmp_path / "plain.html")
    text = (tmp_path / "plain.html").read_text(encoding="utf-8")
    told = section(text, "critical-differences")
    assert "There is no diagram: plots need matplotlib: pip install &#x27;matplotlib&gt;=3.8&#x27;." in told
    assert "Friedman" in told
    assert 'role="img"' not in told


def test_without_bokeh(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "bokeh.resources", None)
    bench_report(folder / "out", tmp_path / "plain.html")
    text = (tmp_path / "plain.html").read_text(encoding="utf-8")
    assert "The pages of the series could not be made: the report needs Bokeh" in text
    assert len(rows(section(text, "series"))) == 4
    assert not (tmp_path / "plain_series").exists()


def test_without_jinja(folder, tmp_path, monkeypatch):
    """Before anything is read or written."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ValueError, match=r"^HTML pages need Jinja2: pip install 'bokeh>=3.5' 'jinja2>=3.1'$"):
        bench_report(folder / "out", tmp_path / "none.html")
    assert list(tmp_path.iterdir()) == []


def test_scores_from_files(tmp_path):
    text = made(tmp_path, score_files(tmp_path, ["mine", "theirs"]))
    assert "theirs is best by DQE" in text
    assert "All series are of one dataset: scores." in text
    assert [row[-1] for row in rows(section(text, "leaderboard"))] == ["–", "–"]
    assert "Nothing failed, and every value is defined." in text
    assert (tmp_path / "bench_series" / "s0.html").exists()


def test_one_detector_and_one_metric(tmp_path):
    plan = score_files(tmp_path, ["mine"]).replace(', "auc_roc"', "").replace("dqe", "auc_roc")
    text = made(tmp_path, plan)
    assert re.search(
        r"mine is best by AUC-ROC: 0\.\d{3} on average over 3 series \(no interval, too few: 3 series\)\.", text
    )
    assert "There are no two detectors to compare." in text
    assert "That takes two metrics and two detectors." in text
    assert "No two metrics can be said to agree or disagree" in text
    assert "There is no ranking" in section(text, "events")
    assert "Events are scored by DQE." in section(text, "events")


def test_detectors_that_differ(tmp_path):
    plan = score_files(tmp_path, ["bad", "good"], count=12)
    assert "It differs from every other by more than chance" in made(tmp_path, plan)


def test_no_plan(tmp_path):
    plan = score_files(tmp_path, ["mine", "theirs"])
    made(tmp_path, plan)
    (tmp_path / "out" / "plan.json").unlink()
    bench_report(tmp_path / "out", tmp_path / "other.html")
    text = (tmp_path / "other.html").read_text(encoding="utf-8")
    assert "The pages of the series could not be made: no plan is stored here: merged runs," in text
    assert "theirs is best by DQE" in text


def test_data_that_is_gone(tmp_path):
    plan = score_files(tmp_path, ["mine", "theirs"])
    made(tmp_path, plan)
    (tmp_path / "scores" / "s1.csv").unlink()
    (tmp_path / "scores" / "s2.csv").write_text("value,label,mine\nno,thing,here\n", encoding="utf-8")
    bench_report(tmp_path / "out", tmp_path / "some.html")
    text = (tmp_path / "some.html").read_text(encoding="utf-8")
    assert "<summary>2 series without a page</summary>" in text
    assert "the series is not in the plan any more" in text
    assert sorted(path.name for path in (tmp_path / "some_series").iterdir()) == ["explorer.js", "s0.html"]
    shutil.rmtree(tmp_path / "scores")
    bench_report(tmp_path / "out", tmp_path / "none.html")
    text = (tmp_path / "none.html").read_text(encoding="utf-8")
    assert "The pages of the series could not be made: " in text
    assert len(rows(section(text, "series"))) == 3


def test_scores_that_are_gone(tmp_path):
    made(tmp_path, ONE_SERIES + FFT)
    shutil.rmtree(tmp_path / "out" / "scores")
    bench_report(tmp_path / "out", tmp_path / "bench.html")
    assert "its scores are not kept any more" in (tmp_path / "bench.html").read_text(encoding="utf-8")


@pytest.fixture
def known(monkeypatch):
    """What the page of each series was told of the values of metrics."""
    told = []
    monkeypatch.setattr(drilldown, "comparison_of", lambda *_, metrics, known: told.append(known))
    return told


def test_values_of_the_run_are_not_computed_again(folder, tmp_path, known):
    bench_report(folder / "out", tmp_path / "bench.html")
    with Store(folder / "out") as store:
        values = {(row["series"], row["detector"], row["metric"]): row["value"] for row in store.values()}
    names = [case.name for case in cases_of(stored_values(folder / "out"))]
    for series, of_series in zip(names, known, strict=True):
        assert list(of_series) == ["fft", "sr", "sub_lof"]
        for detector, of_detector in of_series.items():
            assert np.isnan(of_detector.pop("detect"))
            assert of_detector == {metric: values[series, detector, metric] for metric in ("dqe", "auc_roc", "auc_pr")}


def stored_values(folder):
    with Store(folder) as store:
        return [{**row, "unit": row["series"]} for row in store.values(planned=True)]


def test_values_of_other_data_are_computed_again(tmp_path, known):
    made(tmp_path, score_files(tmp_path, ["mine", "theirs"], count=1))
    path = tmp_path / "scores" / "s0.csv"
    path.write_text(path.read_text(encoding="utf-8") + "\n0,0.5,0.25", encoding="utf-8")
    bench_report(tmp_path / "out", tmp_path / "other.html")
    before, after = known
    assert {detector: set(values) for detector, values in before.items()} == {
        "mine": {"dqe", "auc_roc"},
        "theirs": {"dqe", "auc_roc"},
    }
    assert after is None


def test_values_that_are_not_all_there_are_computed_again(tmp_path, known):
    made(tmp_path, score_files(tmp_path, ["mine", "theirs"], count=1))
    with sqlite3.connect(tmp_path / "out" / "results.sqlite") as database:
        database.execute("DELETE FROM results WHERE detector = 'mine' AND metric = 'auc_roc'")
    database.close()
    bench_report(tmp_path / "out", tmp_path / "other.html")
    assert known[1:] == [None]


def test_only_dqe_of_the_run_is_compared_with_chance(folder):
    text = (folder / "bench_series" / "slow_0.html").read_text(encoding="utf-8")
    assert "All metrics of the run" in text
    panel = rows(text.partition("<details>")[2])
    assert [row[0].strip() for row in panel] == ["DQE", "capture", "near miss", "false alarm", "AUC-ROC", "AUC-PR"]
    assert [bool(row[-1]) for row in panel] == [True] + 5 * [False]


def test_a_page_without_its_neighbour_says_so(chromium, folder, tmp_path):
    shutil.copytree(folder / "bench_series", tmp_path / "moved")
    shutil.copy(folder / "bench_series" / "slow_0.html", tmp_path / "slow_0.html")
    page = chromium.new_page()
    page.goto((tmp_path / "slow_0.html").as_uri())
    assert "need the file explorer.js" in " ".join(page.locator("#alone").inner_text().split())
    assert page.locator("main input:visible, main button:visible, main select:visible").count() == 0
    assert page.locator("#time-plots, #events, #alarm-plot, #near-plot").first.is_hidden()
    assert page.locator("#summary").is_visible()
    page.goto((tmp_path / "moved" / "slow_0.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#alone").is_hidden()
    page.close()


def test_values_of_several_columns_are_not_drawn():
    series = dqeval.datasets.synthetic(n=300, period=10, events=3)
    scored = replace(series, scores={"mine": series.values})
    assert prepare(scored).line is series.values
    several = prepare(replace(scored, values=np.column_stack([series.values, series.values])))
    assert several.line is None
    assert list(several.scores) == ["mine"]


def test_nothing_to_rank(tmp_path):
    text = made(tmp_path, ONE_SERIES + TOO_MANY)
    assert "There is no ranking: " in section(text, "leaderboard")
    assert "No series has a result." in text
    assert "All series are of one dataset." in text


def test_detectors_that_share_no_series(tmp_path):
    plan = score_files(tmp_path, ["mine", "theirs"]) + DATA.partition("]\n")[2] + FFT
    text = made(tmp_path, plan)
    assert (
        "There is no ranking: no series has a value of every metric (DQE, AUC-ROC) for every detector "
        "(fft has them on 4, mine has them on 3, theirs has them on 3): there is nothing to compare." in text
    )
    assert [row[0] for row in rows(section(text, "leaderboard"))] == ["fft"]
    assert [row[0] for row in rows(section(text, "datasets"))] == ["quick &amp; &lt;odd&gt;", "scores", "slow"]
    assert rows(section(text, "datasets"))[1][2] == "–"


def test_no_dataset_can_be_ranked(tmp_path):
    plan = score_files(tmp_path, ["mine", "theirs"], count=2)
    for i, keep in ((0, 1), (1, 2)):
        path = tmp_path / "scores" / f"s{i}.csv"
        lines = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
        path.write_text("\n".join(f"{line[0]},{line[keep]}" for line in lines), encoding="utf-8")
    (tmp_path / "again").mkdir()
    for i in (0, 1):
        shutil.copy(tmp_path / "scores" / f"s{i}.csv", tmp_path / "again" / f"t{i}.csv")
    text = made(tmp_path, plan + '[[scores]]\npath = "again"\n')
    assert section(text, "datasets").count("There is no ranking: ") == 2
    assert "<tbody>" not in section(text, "datasets")


def test_detectors_that_are_the_same_and_a_series_left_out(tmp_path):
    plan = score_files(tmp_path, ["mine", "theirs"])
    for i, kept in enumerate(((0, 1, 1), (0, 1, 1), (0, 1))):
        path = tmp_path / "scores" / f"s{i}.csv"
        head, *lines = path.read_text(encoding="utf-8").splitlines()
        cells = [head.split(",")[: len(kept)], *([line.split(",")[j] for j in kept] for line in lines)]
        path.write_text("\n".join(map(",".join, cells)), encoding="utf-8")
    text = made(tmp_path, plan)
    assert "Means over 2 series; 1 left out, for which not every detector has a value." in text
    assert [row[1:] for row in rows(section(text, "agreement-of-metrics"))] == [["–", "–"], ["–", "–"]]
    assert "It is not told apart from theirs" in text


def case(values, metrics=("dqe", "auc_roc", "auc_pr")):
    cells = [
        {"unit": "s", "series": "s", "dataset": "d", "detector": detector, "metric": metric, "value": value}
        for detector, line in values.items()
        for metric, value in zip(metrics, line, strict=True)
        if value is not None
    ]
    (found,) = cases_of(cells)
    return found


def test_where_metrics_disagree():
    found = case({"a": (0.9, 0.1, 0.9), "b": (0.5, 0.5, 0.5), "c": (0.1, 0.9, 0.1)})
    assert (found.best, found.value) == ("a", 0.9)
    assert (found.other, found.other_best, found.other_tau) == ("auc_roc", "c", -1)
    assert found.tau == 0


def test_where_values_are_missing():
    found = case({"a": (0.9, 0.1, None), "b": (0.5, 0.5, 0.5), "c": (None, 0.9, 0.1)})
    assert (found.best, found.other, found.tau) == ("a", "auc_roc", -1)
    found = case({"a": (None, 0.1, 0.2), "b": (None, 0.5, 0.5)}, metrics=("dqe", "auc_roc", "auc_pr"))
    assert (found.metric, found.best) == ("auc_roc", "b")
    (empty, whole) = sorted(
        cases_of(
            [
                {"unit": s, "series": s, "dataset": "d", "detector": "a", "metric": m, "value": 0.5}
                for s, m in (("s", "auc_roc"), ("t", "dqe"), ("t", "auc_roc"))
            ]
        ),
        key=lambda found: found.name,
    )
    assert (empty.best, whole.best) == ("–", "a")
    assert np.isnan([empty.value, empty.tau, whole.tau]).all()


def test_where_all_are_alike():
    found = case({"a": (0.5, 0.1, 0.2), "b": (0.5, 0.5, 0.5)})
    assert (found.best, found.other) == ("all alike", "")
    assert np.isnan(found.tau)


def test_nothing_is_shown_as_minus_zero():
    assert bench_module._signed(-0.001) == "0.00"
    assert number_cell(-0.001, digits=2).text == "0.00"
    assert number_cell(-0.009, digits=2).text == "−0.01"


def test_names_in_words():
    assert in_words(["a"]) == "a"
    assert in_words(["a", "b", "c", "d"]) == "a, b, c and d"
    assert in_words(list("abcdef")) == "a, b, c and 3 others"


def test_in_a_browser(chromium, folder):
    trouble, requests = [], []
    page = chromium.new_page(viewport={"width": 390, "height": 800})
    page.on("console", lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto((folder / "bench.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    check_sorting(page)
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    page.emulate_media(media="screen")
    page.get_by_role("link", name="slow_1").click()
    page.wait_for_selector("html[data-ready]")
    assert page.get_by_role("heading", name="slow_1").count() == 1
    assert page.get_by_role("slider", name="Threshold").count() == 1
    assert trouble == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in requests)


def test_series_of_one_dataset(chromium, folder):
    page = chromium.new_page()
    page.goto((folder / "bench.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    names = page.get_by_role("group", name="Series").locator("tbody tr:visible td:first-child")
    every = sorted(names.all_inner_texts())
    odd = [name for name in every if name.startswith("quick")]
    assert len(every) == 4
    assert len(odd) == 2
    page.get_by_role("combobox", name="Dataset").select_option("quick & <odd>")
    assert sorted(names.all_inner_texts()) == odd
    assert page.get_by_text("2 of 4 series shown").is_visible()
    page.reload()
    assert sorted(names.all_inner_texts()) == odd
    page.get_by_role("link", name="Failures").click()  # which is no dataset
    assert sorted(names.all_inner_texts()) == odd
    page.go_back()
    page.go_back()
    page.wait_for_function("location.hash === ''")
    assert sorted(names.all_inner_texts()) == every
    page.evaluate("location.hash = 'dataset=nobody'")
    page.get_by_text("4 of 4 series shown").wait_for()
    page.close()


def check_sorting(page):
    board = page.get_by_role("group", name="Leaderboard")
    column = "rows => rows.map(row => Number.parseFloat(row.cells[{}].textContent))"
    lines = board.locator("tbody tr")
    for name, place, first in (("AUC-ROC", 4, "descending"), ("DQE, average rank", 3, "ascending")):
        head = board.get_by_role("button", name=name)
        head.focus()
        for direction in (first, "ascending" if first == "descending" else "descending"):
            page.keyboard.press("Enter")
            shown = lines.evaluate_all(column.format(place))
            assert shown == sorted(shown, reverse=direction == "descending")
            assert board.locator("th[aria-sort]").get_attribute("aria-sort") == direction
    board.get_by_role("button", name="detector").click()
    assert lines.evaluate_all("rows => rows.map(row => row.cells[0].textContent)") == ["fft", "sr", "sub_lof"]


def test_metrics_that_only_the_run_knew(tmp_path, monkeypatch):
    """Those that were registered in Python are called by their names where they are not known, as in a ranking."""
    for name in ("own_roc", "own_pr"):
        monkeypatch.setitem(METRICS._entries, name, replace(METRICS[name.replace("own", "auc")], name=name, label="X"))
    plan = ONE_SERIES.replace('["dqe"]', '["own_roc", "own_pr"]') + FFT + '[[detector]]\nname = "sr"\n'
    (tmp_path / "mine.toml").write_text(plan, encoding="utf-8")
    run(tmp_path / "mine.toml", tmp_path / "out")
    for name in ("own_roc", "own_pr"):
        monkeypatch.delitem(METRICS._entries, name)
    assert set(rank(tmp_path / "out").standings) == {"own_roc", "own_pr"}
    bench_report(tmp_path / "out", tmp_path / "bench.html")
    text = (tmp_path / "bench.html").read_text(encoding="utf-8")
    for name in ("leaderboard", "agreement-of-metrics", "series"):
        assert "own_roc" in section(text, name)
        assert "own_pr" in section(text, name)


def test_several_seeds_have_a_column():
    rows_by_seed = [
        {"unit": f"s{i}", "detector": name, "metric": "dqe", "seed": seed, "value": 0.5 + 0.01 * i + 0.02 * seed}
        for i in range(6)
        for name, seeds in (("a", 3), ("b", 1))
        for seed in range(seeds)
    ]
    grid, *_ = bench_module._leaderboard(rank_rows(rows_by_seed), {"a": 1.0, "b": 2.0})
    assert grid.header[:5] == ("detector", "DQE", "DQE, 95 % interval", "DQE, ± by seed", "DQE, average rank")
    assert [row[3].text for row in grid.rows] == ["0.020", "–"]
    assert "± 0.020 by seed" in grid.rows[0][1].title
