"""The site of a benchmark run in a real browser, opened from a folder."""

import re
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from benchmarks.generated_run import write_run
from dqeval.bench.bounds import BOUNDS
from dqeval.bench.ranking import rank
from dqeval.bench.ranking_result import ABOUT_BOUNDS
from dqeval.bench.store import Store
from dqeval.core.registry import METRICS
from dqeval.render.site import bench_site
from site_runs import DATASETS, ODD, SERIES, content_of, data_of, fail, write_odd_run

VIEWS = (
    *("#view=detector&name=good", "#view=series", "#view=series&name=A", "#view=failures"),
    *("#view=numbers", "#metric=auc_roc"),
)
LABELS = {"dqe": "DQE", "vus_pr": "VUS-PR", "auc_roc": "AUC-ROC"}
PARTS = {"dqe": "DQE", "capture": "capture", "near_miss": "near miss", "false_alarm": "false alarm"}
COLOURS = {"light": ["rgb(255, 255, 255)", "rgb(28, 31, 38)"], "dark": ["rgb(21, 23, 28)", "rgb(232, 234, 238)"]}
STYLE = "() => { const own = getComputedStyle(document.body); return [own.backgroundColor, own.color]; }"
STATUS = "text => document.getElementById('status').textContent === text"
LOADED = "() => [...document.head.querySelectorAll('script')].map(each => each.getAttribute('src'))"
# What a screen reader could not name, tables that do not say what their columns are, and ids that are used twice.
UNNAMED = """() => [...document.querySelectorAll('a, button, select, input, [tabindex="0"]')]
  .filter(each => each.checkVisibility())
  .filter(each => !(each.textContent.trim() || each.labels?.length || each.getAttribute('aria-label')))
  .map(each => each.outerHTML)"""
WITHOUT_HEADS = """() => [...document.querySelectorAll('table')]
  .filter(each => !each.caption || !each.querySelector('th[scope=col]')).length"""
# Texts whose contrast with what is behind them is below 4.5, the least that WCAG asks for.
PALE = r"""() => {
  const channels = (colour) => [...colour.match(/[\d.]+/g).map(Number), 1].slice(0, 4);
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const light = (colour) => colour.map((each) => each / 255)
    .map((each) => (each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
    .reduce((sum, each, i) => sum + each * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (each) => (each ? over(channels(getComputedStyle(each).backgroundColor), behind(each.parentElement))
    : [255, 255, 255]);
  const contrast = (each) => {
    const ground = behind(each);
    const both = [light(over(channels(getComputedStyle(each).color), ground)), light(ground)];
    return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
  };
  return [...document.querySelectorAll('body *')]
    .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
    .filter((each) => each.checkVisibility() && !each.closest('.visually-hidden, .skip, script, svg'))
    .filter((each) => contrast(each) < 4.5).map((each) => each.outerHTML);
}"""
TWICE = (
    "() => [...document.querySelectorAll('[id]')].map(each => each.id).filter((id, i, all) => all.indexOf(id) !== i)"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "my run"
    write_odd_run(folder)
    return folder


@pytest.fixture(scope="module")
def site(folder):
    bench_site(folder, folder.parent / "site")
    return folder.parent / "site"


@pytest.fixture
def visit(chromium):
    """Open a site and watch it: no error, no dialog, nothing from a network."""
    trouble, requests, pages = [], [], []

    def open_at(site, address="", *, width=1280, **options):
        page = chromium.new_page(viewport={"width": width, "height": 900}, **options)
        pages.append(page)
        page.on("console", lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"{(site / 'index.html').as_uri()}{address}")
        ready(page)
        return page

    yield open_at
    for page in pages:
        page.close()
    assert trouble == []
    assert all(url.startswith("file:") for url in requests)


def ready(page):
    page.wait_for_selector("html[data-ready]")


def go(page, address):
    """Follow a link within the site."""
    page.evaluate("hash => { delete document.documentElement.dataset.ready; location.hash = hash; }", address)
    ready(page)


def group(page, label):
    return page.get_by_role("group", name=label, exact=True)


def cells(page, label):
    """Return the texts of a table, by row."""
    rows = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    return group(page, label).locator("tbody tr").evaluate_all(rows)


def press(page, thing):
    """Press a button or a link with the keyboard."""
    thing.focus()
    page.keyboard.press("Enter")
    ready(page)


def shown_ranking(ranking, standing):
    """Return the cells of the leaderboard that a ranking must have."""
    return [
        [
            f"{standing.rank[i]:g}",
            ranking.detectors[i],
            f"{standing.mean[i]:.3f}",
            "",
            f"{standing.intervals[i].low:.3f} – {standing.intervals[i].high:.3f}",
            f"{standing.seed_deviation[i]:.3f}".replace("nan", "–"),
            f"{standing.average_rank[i]:.2f}",
        ]
        for i in np.argsort(-standing.mean, kind="stable")
    ]


def test_totals_in_view_are_those_of_bench_rank(visit, folder, site):
    page = visit(site)
    for dataset in (None, *DATASETS):
        page.get_by_label("Series", exact=True).select_option(dataset or "")
        ranking = rank(folder, dataset=dataset)
        for metric, standing in ranking.standings.items():
            page.get_by_label("Metric", exact=True).select_option(metric)
            where = f", {dataset}" if dataset else ""
            page.wait_for_function(STATUS, arg=f"Leaderboard, {LABELS[metric]}{where}")
            found = cells(page, f"Ranking by {LABELS[metric]}")
            assert [row[:7] for row in found[:4]] == shown_ranking(ranking, standing)
            assert found[0][7] == "best"
            # Bounds are shown below, without a rank.
            assert [row[:3] for row in found[4:]] == [["", "perfect", "1.000"], ["", "silent", "0.000"]]
    every = {row[0]: row[1:] for row in cells(page, "Means by every metric")}
    for i, name in enumerate(ranking.detectors):
        assert every[name] == [f"{s.mean[i]:.3f} {s.rank[i]:g}" for s in ranking.standings.values()]
    agreement = [row[1:] for row in cells(page, "Agreement of metrics")]
    assert agreement == [[f"{x:.2f}".replace("-", "−") for x in row] for row in ranking.agreement.tolist()]
    drawn = page.get_by_role("img", name=re.compile(r"^Critical-difference diagram\. Friedman's test"))
    texts = drawn.locator("text").evaluate_all("all => all.map(text => text.textContent)")
    assert {f"{x:.2f}" for x in standing.average_rank} <= {word for text in texts for word in text.split("\u2002")}


def test_links_hold(visit, site):
    page = visit(site)
    page.get_by_label("Metric", exact=True).select_option("vus_pr")
    page.get_by_label("Series", exact=True).select_option("two & <i>")
    page.wait_for_function(STATUS, arg="Leaderboard, VUS-PR, two & <i>")
    board = group(page, "Ranking by VUS-PR")
    press(page, board.get_by_role("button", name="Detector"))
    page.wait_for_selector("[aria-sort=ascending] #board-name")
    names = [row[1] for row in cells(page, "Ranking by VUS-PR")[:4]]
    assert names == ["</script><b>fair", "good", "poor", "random"]
    assert page.evaluate("document.activeElement.textContent") == "Detector"  # focus stays where one pressed
    press(page, board.get_by_role("button", name="Detector"))
    page.wait_for_selector("[aria-sort=descending] #board-name")
    assert [row[1] for row in cells(page, "Ranking by VUS-PR")[:4]] == names[::-1]
    page.get_by_label("Search").fill("gOO")
    page.wait_for_function("document.querySelectorAll('.board tbody:first-of-type tr').length === 1")
    assert [row[1] for row in cells(page, "Ranking by VUS-PR")] == ["good", *BOUNDS]
    assert page.evaluate("location.hash") == "#metric=vus_pr&data=two+%26+%3Ci%3E&sort=-name&q=gOO"
    before = page.locator("main").inner_html()
    page.reload()
    ready(page)
    assert page.locator("main").inner_html() == before
    page.get_by_role("link", name="good", exact=True).first.click()
    page.wait_for_selector("h2.title")
    assert page.locator("h2.title").text_content() == "good"
    assert page.title() == "good · my run · dqeval"
    assert page.evaluate("document.activeElement.id") == "main"
    page.go_back()
    page.wait_for_selector("#board-name")
    assert page.get_by_label("Search").input_value() == "gOO"
    assert page.get_by_label("Metric", exact=True).input_value() == "vus_pr"


def test_what_a_metric_and_the_bounds_are(visit, site):
    page = visit(site)
    hints = page.locator("main > p.hint").all_text_contents()
    assert f"DQE {METRICS['dqe'].summary}" in hints
    assert ABOUT_BOUNDS in hints
    go(page, "#by=event&metric=capture")
    page.wait_for_selector("#board-mean:text-is('capture')")
    assert not any(hint.startswith("capture") for hint in page.locator("main > p.hint").all_text_contents())


def test_events_count_once(visit, folder, site):
    page = visit(site, "#metric=vus_pr")
    page.get_by_label("Mean over").select_option("event")
    page.wait_for_selector("#board-mean:text-is('DQE')")
    standing = rank(folder, by="event").standings["dqe"]
    assert [row[2] for row in cells(page, "Ranking by DQE")[:4]] == [f"{x:.3f}" for x in standing.mean]
    options = page.get_by_label("Metric", exact=True).locator("option").all_text_contents()
    assert options == list(PARTS.values())
    page.get_by_label("Metric", exact=True).select_option("capture")
    page.wait_for_selector("#board-mean:text-is('capture')")
    page.get_by_label("Mean over").select_option("series")
    page.wait_for_selector("#board-mean:text-is('DQE')")


def test_a_link_to_what_is_not_there(visit, site):
    page = visit(site, "#view=detector&name=gone&metric=none&data=x&by=y")
    lacking = ", the ".join(["counting by “y”", "dataset “x”", "metric “none”", "detector “gone”"])
    assert page.get_by_role("alert").text_content() == f"This site does not have the {lacking} of the link."
    assert len(cells(page, "Ranking by DQE")) == 6
    for view in ("nothing", "toString"):
        go(page, f"#view={view}")
        assert page.get_by_role("alert").text_content() == f"This site does not have the view “{view}” of the link."
    go(page, "#view=series&name=gone")
    assert "the series “gone”" in page.get_by_role("alert").text_content()
    assert len(cells(page, "Series")) == len(SERIES)


def test_the_page_of_a_detector(visit, folder, site):
    page = visit(site, "#view=detector&name=random&metric=auc_roc")
    own = data_of(site, next(each["file"] for each in content_of(site)["detectors"] if each["name"] == "random"))
    facts = page.locator(".facts").text_content()
    assert "Rank by AUC-ROC" in facts
    assert "3 seeds" in facts
    assert f"{own['events']['captured']} of {sum(own['events'].values())}" in facts
    assert len(cells(page, "By every metric")) == 3
    parts = rank(folder, by="event")
    mine = parts.detectors.index("random")
    expected = [[label, f"{parts.standings[name].mean[mine]:.3f}"] for name, label in PARTS.items()]
    assert [row[:2] for row in cells(page, "Parts of DQE, over all events")] == expected
    assert [row[0] for row in cells(page, "By dataset")] == DATASETS
    worst = [float(row[2]) for row in cells(page, "Series by AUC-ROC")]
    assert worst == sorted(worst)
    assert len(worst) == 15
    press(page, group(page, "Series by AUC-ROC").get_by_role("button", name="Show all 16"))
    press(page, group(page, "Series by AUC-ROC").get_by_role("button", name="Behind the best"))
    behind = [float(row[5]) for row in cells(page, "Series by AUC-ROC")]
    assert behind == sorted(behind, reverse=True)
    assert len(behind) == 16
    assert len(cells(page, "Events that it misses")) == min(15, len(own["lost"]))
    page.get_by_label("Search").fill("plain 3")
    page.wait_for_function("document.querySelectorAll('[aria-label=\"Series by AUC-ROC\"] tbody tr').length === 1")


def test_bounds_and_detectors_that_failed_have_pages(visit, site):
    page = visit(site, "#view=detector&name=perfect")
    assert page.locator("h2.title").text_content() == "perfect a bound, not ranked"
    go(page, "#view=detector&name=broken+%5Cu202e")
    assert cells(page, "Without a value") == [["the detector", "failed", "16", "ValueError: <i>no</i>"]]


def test_series_are_found_and_loaded_when_asked_for(visit, site):
    page = visit(site)
    assert page.evaluate(LOADED) == []
    press(page, page.get_by_role("navigation").get_by_role("link", name="Series"))
    page.wait_for_selector("#series-series")
    assert page.evaluate(LOADED) == ["data/metrics/dqe.js"]
    assert len(cells(page, "Series")) == len(SERIES)
    page.get_by_label("Search").fill("SCRIPT")
    page.wait_for_function("document.querySelectorAll('main tbody tr').length === 1")
    page.get_by_role("link", name=ODD[0]).click()
    page.wait_for_selector("h2.title:has-text('alert')")
    assert page.locator("h2.title").text_content() == ODD[0]
    table = cells(page, "Every detector and metric")
    assert [row[0] for row in table[4:]] == list(BOUNDS)
    assert "±" in next(row for row in table if row[0] == "random")[1]
    assert cells(page, "DQE of every event")
    page.get_by_role("link", name="capture").click()
    page.wait_for_selector("[aria-label='capture of every event']")
    assert "part=capture" in page.evaluate("location.hash")
    failed = [["broken \\u202e", "the detector", "failed", "1", "ValueError: <i>no</i>"]]
    assert cells(page, "Without a value") == failed
    page.get_by_role("link", name="next series →").click()
    page.wait_for_selector("h2.title:text-is('A')")


def test_failures_and_numbers(visit, site):
    page = visit(site, "#view=failures")
    (row,) = cells(page, "Failures")
    assert row == ["broken \\u202e", sorted(SERIES)[0], "the detector", "failed", "16", "ValueError: <i>no</i>"]
    assert "16 values failed and 0 are undefined." in page.locator("main").text_content()
    press(page, page.get_by_role("navigation").get_by_role("link", name="Numbers"))
    page.wait_for_selector("[aria-label=Downloads]")
    names = [f"{name}.{ending}" for name in ("rankings", "results", "events") for ending in ("csv", "json")]
    assert [row[0] for row in cells(page, "Downloads")] == names


def test_a_run_of_which_everything_failed(visit, tmp_path):
    Store(tmp_path / "run", create=True).close()
    fail(tmp_path / "run", "one <b>", SERIES[:2])
    bench_site(tmp_path / "run", tmp_path / "site")
    page = visit(tmp_path / "site")
    assert "There is no ranking" in page.locator("main").text_content()
    go(page, "#view=series")
    assert len(cells(page, "Series")) == 2
    go(page, "#view=detector&name=one+%3Cb%3E")
    assert cells(page, "Without a value")[0][1] == "failed"


def test_a_file_of_scores_that_could_not_be_read(visit, tmp_path):
    write_run(tmp_path / "run", series=2, detectors=["a"], metrics=["dqe"], datasets=["x"], seeds=1)
    fail(tmp_path / "run", "", ["plain 0"])
    bench_site(tmp_path / "run", tmp_path / "site")
    page = visit(tmp_path / "site", "#view=failures&q=FILE")
    assert cells(page, "Failures")[0][:3] == ["all of a file", "plain 0", "the detector"]
    go(page, "#view=series&name=plain+0")
    assert cells(page, "Without a value")[0][0] == "all of a file"


def test_a_metric_that_a_detector_lacks(visit, tmp_path):
    write_run(tmp_path / "run", series=6, detectors=["a", "b"], metrics=["dqe", "nab_score"], datasets=["x"], seeds=1)
    with closing(sqlite3.connect(tmp_path / "run" / "results.sqlite")) as database, database:
        lacking = "status = 'undefined', value = NULL, reason = 'it is so'"
        database.execute(f"UPDATE results SET {lacking} WHERE detector = 'a' AND metric = 'nab_score'")
        database.execute("UPDATE results SET value = -7 WHERE detector = 'b' AND metric = 'nab_score'")
    bench_site(tmp_path / "run", tmp_path / "site")
    page = visit(tmp_path / "site", "#metric=nab_score")
    text = page.locator("main").text_content()
    assert "Not every detector has a value of NAB here, so there is no ranking by it." in text
    assert "Left out: NAB, which has no value for a." in text
    go(page, "#view=detector&name=b&metric=nab_score")
    assert cells(page, "Series by NAB")[0][1:] == ["x", "−7.000", "−7.000", "b", "0.000"]
    go(page, "#view=failures")
    assert cells(page, "Failures") == [["a", "series 000", "NAB", "undefined", "6", "it is so"]]


def test_one_detector_without_intervals(visit, tmp_path):
    write_run(tmp_path / "run", series=2, detectors=["only"], metrics=["dqe"], datasets=["x"], seeds=1)
    bench_site(tmp_path / "run", tmp_path / "site")
    page = visit(tmp_path / "site")
    assert cells(page, "Ranking by DQE")[0][4] == "too few series"
    assert page.get_by_role("img").count() == 0
    assert page.get_by_label("Series", exact=True).is_hidden()
    assert page.get_by_role("navigation").get_by_role("link", name="Failures").count() == 0


def test_a_file_that_is_missing_is_said(chromium, site, tmp_path):
    copy = shutil.copytree(site, tmp_path / "copy")
    shutil.rmtree(copy / "data" / "series")
    page = chromium.new_page()
    page.goto(f"{(copy / 'index.html').as_uri()}#view=series&name=A")
    ready(page)
    assert page.get_by_role("alert").text_content().startswith("The file data/series/A")
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_windows_dark_rooms_and_paper(visit, site, scheme):
    page = visit(site, width=320, color_scheme=scheme)
    for address in VIEWS:
        page.emulate_media(media="screen")
        go(page, address)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(STYLE) == COLOURS[scheme]
        assert page.evaluate(PALE) == []
        page.emulate_media(media="print")
        assert page.evaluate(STYLE) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
        assert page.locator("#controls").is_hidden()


def test_keyboard_and_screen_readers(visit, site):
    page = visit(site)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for address in VIEWS:
        go(page, address)
        assert page.evaluate(UNNAMED) == []
        assert page.evaluate(WITHOUT_HEADS) == 0
        assert page.evaluate(TWICE) == []
        levels = page.locator("h1, h2").evaluate_all("all => all.map(each => each.tagName)")
        assert levels[0] == "H1"
        assert levels.count("H1") == 1
