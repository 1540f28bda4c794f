"""The interactive report, read as text and used in a real browser."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

import dqeval
from dqeval.core.events import find_events
from dqeval.core.pieces import PIECES, parts_in
from dqeval.core.scaling import min_max
from dqeval.datasets.door import prepare
from dqeval.render.drawing import COLOURS
from dqeval.render.series_page import page as html_of

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def demo():
    return dqeval.datasets.demo()


@pytest.fixture(scope="module")
def file(demo, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "demo.html"
    dqeval.report(demo, path, period=48)
    return path


@pytest.fixture(scope="module")
def chromium():
    if not dqeval.kernels.compiled:
        pytest.skip("the page is the same however the kernels run: one run in a browser is enough")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: install one of {', '.join(BROWSERS)}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=BROWSER_OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def tab(chromium):
    """Keep one tab for all tests that need no other: what its browser has compiled serves the next report, too."""
    return chromium.new_page()


@pytest.fixture
def opened(chromium, tab):
    """Open a report, and check at the end that nothing went wrong and nothing was asked of the network."""
    pages, trouble, requests = [], [], []
    listeners = {
        "console": lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None,
        "pageerror": lambda error: trouble.append(str(error)),
        "request": lambda request: requests.append(request.url),
    }

    def open_report(path, **options):
        page = chromium.new_page(**options) if pages or options else tab
        page.set_viewport_size({"width": 1200, "height": 900})
        for event, listener in listeners.items():
            page.on(event, listener)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        settle(page)
        pages.append(page)
        return page

    yield open_report
    for page in pages:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        if page is not tab:
            page.close()
    assert trouble == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in requests)
    assert sum(url.startswith("file:") for url in requests) == len(pages)


def settle(page):
    """Wait until what was asked for has been drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def set_step(page, step):
    page.get_by_label("Threshold", exact=True).fill(str(step))
    settle(page)


def shown_rows(page):
    lines = page.locator("#events tbody tr").all()
    return {line.locator("th").inner_text(): [cell.inner_text() for cell in line.locator("td").all()] for line in lines}


def expected_rows(series, detector, step):
    detections = min_max(series.scores[detector]) >= np.linspace(1, 0, 101)[100 - step]
    result = dqeval.evaluate_detections(series.labels, detections, near=24)
    rows = {
        f"[{e.start}, {e.stop})": [f"{x:.3f}" for x in (e.dqe, e.capture, e.near_miss, e.false_alarm)]
        for e in result.per_event
    }
    return rows, [f"{x:.3f}" for x in (result.dqe, result.capture, result.near_miss, result.false_alarm)]


def test_a_link_back_where_it_is_one_of_many(file, demo):
    made = html_of(prepare(demo, near=24), dqeval.compare(demo, near=24), back="../a&b.html")
    assert '<nav><a href="../a&amp;b.html">All series of the benchmark</a></nav>' in made
    assert "<nav>" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("detector", ["sharp", "late", "jumpy"])
@pytest.mark.unmeasured
def test_the_slider_shows_what_evaluate_detections_gives(opened, file, demo, detector):
    page = opened(file)
    page.get_by_role("radio", name=detector).check()
    for step in (8, 33, 71):
        set_step(page, step)
        rows, means = expected_rows(demo, detector, step)
        assert {event: cells[1:5] for event, cells in shown_rows(page).items()} == rows
        assert [cell.inner_text() for cell in page.locator("[data-mean]").all()] == means
        assert page.locator("#threshold-value").inner_text().startswith(f"{step / 100:.2f} (score ")


def test_the_table_of_events_is_that_of_the_chosen_detector(opened, file, demo):
    page = opened(file)
    for detector in ("sharp", "jumpy"):
        page.get_by_role("radio", name=detector).check()
        settle(page)
        found = dqeval.explain(demo.labels, demo.scores[detector], near=24)
        rows = shown_rows(page)
        assert [cells[0] for cells in rows.values()] == [f"{e.scores.dqe:.3f}" for e in found.events]
        assert [cells[5] for cells in rows.values()] == [e.sentence for e in found.events]


def test_detections_are_drawn_in_the_part_they_fall_into(opened, file, demo):
    page = opened(file)
    page.get_by_role("radio", name="jumpy").check()
    page.get_by_role("button", name="[430, 452)").click()
    set_step(page, 45)
    low, high = page.evaluate("dqevalReport.view()")
    drawn = page.evaluate(
        "() => { const d = dqevalReport.detections(); return [[...d.left], [...d.right], [...d.colour]] }"
    )
    detections = find_events(min_max(demo.scores["jumpy"]) >= 0.45)
    parts = parts_in(detections, dqeval.partition(demo.labels, near=24))
    expected = [
        (start, stop, COLOURS[PIECES[piece]])
        for start, stop, piece in zip(parts.starts, parts.stops, parts.piece, strict=True)
        if start >= low and stop <= high
    ]
    assert len(expected) > 2
    assert [bar for bar in zip(*drawn, strict=True) if low <= bar[0] and bar[1] <= high] == expected


def test_an_event_row_zooms_to_its_event(opened, file):
    page = opened(file)
    assert page.evaluate("dqevalReport.view()") == [0, 1600]
    page.get_by_role("button", name="[700, 748)").click()
    settle(page)
    low, high = page.evaluate("dqevalReport.view()")
    assert 562 <= low < 700 < 748 < high <= 879  # within the event's region
    assert page.locator("tr[aria-current=true] th").inner_text() == "[700, 748)"
    assert "Event 3 of 6, points 700 to 747. Captured" in page.locator("#announcement").inner_text()


def test_keys_go_from_event_to_event(opened, file):
    page = opened(file)
    visited = []
    for key in "nnnpa":
        page.keyboard.press(key)
        settle(page)
        visited.append(page.evaluate("document.querySelector('tr[aria-current=true] th')?.innerText ?? null"))
    assert visited == ["[214, 218)", "[430, 452)", "[700, 748)", "[430, 452)", None]
    assert page.evaluate("dqevalReport.view()") == [0, 1600]
    page.get_by_role("button", name="Previous").click()
    assert page.locator("tr[aria-current=true] th").inner_text() == "[1440, 1476)"


def test_columns_sort(opened, file):
    page = opened(file)
    page.get_by_role("button", name="DQE", exact=True).click()
    dqe = [float(cells[0]) for cells in shown_rows(page).values()]
    assert dqe == sorted(dqe)
    page.get_by_role("button", name="DQE", exact=True).click()
    assert [float(cells[0]) for cells in shown_rows(page).values()] == sorted(dqe, reverse=True)
    set_step(page, 12)
    page.get_by_role("button", name="Sfa").click()
    alarms = [float(cells[4]) for cells in shown_rows(page).values()]
    assert alarms == sorted(alarms)
    assert page.locator("[aria-sort=ascending]").inner_text().startswith("S")


def test_the_slider_by_keyboard_and_the_curve_by_click(opened, file):
    page = opened(file)
    slider = page.get_by_role("slider", name="Threshold")
    set_step(page, 50)
    slider.press("ArrowRight")
    settle(page)
    assert slider.input_value() == "51"
    assert slider.get_attribute("aria-valuetext").startswith("0.51 (score")
    box = page.locator("#curve-plot").bounding_box()
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.5 * box["height"])
    settle(page)
    assert 5 < int(slider.input_value()) < 45


def test_other_detectors_are_overlaid(opened, file):
    page = opened(file)
    visible = "[0, 1, 2].map(i => Bokeh.documents[0].get_model_by_name(`scores-${i}-line`).visible)"
    assert page.evaluate(visible) == [True, False, False]
    page.get_by_role("checkbox", name="jumpy").check()
    settle(page)
    assert page.evaluate(visible) == [True, False, True]


def test_dark_mode_and_paper(opened, file):
    page = opened(file, color_scheme="dark")
    colour = "[getComputedStyle(document.body).color, Bokeh.documents[0].get_model_by_name('scores-x').axis_line_color]"
    dark = page.evaluate(colour)
    page.emulate_media(color_scheme="light")
    settle(page)
    light = page.evaluate(colour)
    assert all(a != b for a, b in zip(dark, light, strict=True))
    page.emulate_media(color_scheme="dark", media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


def test_a_long_series_is_thinned_for_drawing_only(opened, tmp_path):
    n, spike = 8000, 5432
    labels = np.arange(n) % 2000 < 40
    scores = np.random.RandomState(0).rand(n)
    scores[spike] = 5
    path = tmp_path / "long.html"
    dqeval.report({"label": labels, "mine": scores}, path, near=50)
    page = opened(path)
    x, y = page.evaluate(
        "() => { const d = Bokeh.documents[0].get_model_by_name('scores-0').data; return [[...d.x], [...d.y]] }"
    )
    assert len(x) < 2000
    assert x[int(np.argmax(y))] == spike + 0.5
    assert x == sorted(x)


def test_a_gap_in_a_long_series_hides_no_other_value(opened, tmp_path):
    n, spike = 8000, 5432
    values = np.sin(np.arange(n) / 9)
    values[::2] = np.nan
    values[6000:7000] = np.nan
    values[spike + 1] = 5
    path = tmp_path / "gaps.html"
    dqeval.report({"label": np.arange(n) % 2000 < 40, "value": values, "mine": np.arange(n) % 7}, path, near=50)
    page = opened(path)
    x, y = page.evaluate(
        """() => {
            const { x, y } = Bokeh.documents[0].get_model_by_name("values").data;
            return [[...x], [...y].map(String)];
        }"""
    )
    shown = np.array([float(cell) for cell in y])
    assert x[int(np.nanargmax(shown))] == spike + 1.5
    beside = (np.array(x) < 5990) | (np.array(x) > 7010)
    assert not np.isnan(shown[beside]).any()
    assert np.isnan(shown[~beside]).any()


def small(**changes):
    columns = {"label": [0, 0, 1, 1, 0, 0, 0, 0], "value": np.arange(8.0), "mine": [0, 1, 3, 2, 0, 1, 0, 0.5]}
    return {name: column for name, column in {**columns, **changes}.items() if column is not None}


@pytest.mark.parametrize(
    "columns",
    [
        small(),
        small(value=None),
        small(value=np.ones(8)),
        small(mine=np.ones(8)),
        small(alarms=[0, 0, 1, 0, 0, 0, 1, 0]),
        small(label=[0, 1, 1, 1, 1, 1, 1, 1]),
        small(value=[np.nan, 1, 2, np.nan, np.nan, 3, 4, 5]),
        small(value=np.full(8, np.nan)),
        small(**{"</script><script>throw 1</script>&{{data}}": np.arange(8.0)}),
    ],
    ids=[
        "plain",
        "no values",
        "constant values",
        "constant scores",
        "detections",
        "nearly all",
        "gaps",
        "no value",
        "odd names",
    ],
)
@pytest.mark.unmeasured
def test_small_and_odd_input(opened, tmp_path, columns):
    path = tmp_path / "small.html"
    dqeval.report(columns, path, near=1)
    page = opened(path)
    for name in columns.keys() - {"label", "value"}:
        page.get_by_role("radio", name=name).check()
        set_step(page, 50)
        assert page.get_by_text(name).count() > 0


def test_long_names_do_not_widen_the_page(opened, tmp_path):
    path = tmp_path / "long.html"
    dqeval.report(small(**{300 * "x": np.arange(8.0), "a long name " * 25: np.arange(8.0)[::-1]}), path, near=1)
    page = opened(path)
    page.evaluate("document.querySelector('details').open = true")
    page.get_by_role("radio", name=300 * "x").check()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200


def test_the_page_says_who_wins_and_why(file, demo):
    text = file.read_text(encoding="utf-8")
    found = dqeval.compare(demo, period=48)
    assert found.verdict in text
    assert found.panel_table().html(most_rows=None) in text
    assert "1,600 points, 6 events; near 24, half the given period; 100 thresholds" in text
    assert "http-equiv" not in text
    data = json.loads(text.split('id="data">')[1].partition("</script>")[0])
    assert [detector["name"] for detector in data["detectors"]] == ["sharp", "late", "jumpy"]


@pytest.mark.skipif(not dqeval.kernels.compiled, reason="the size is the same, and scoring takes a minute")
def test_size_of_the_file(tmp_path):
    n = 20_000
    random = np.random.RandomState(0)
    labels = np.arange(n) % 500 < 10
    path = tmp_path / "report.html"
    dqeval.report({"label": labels, "value": random.rand(n), **{f"d{i}": random.rand(n) for i in range(3)}}, path)
    assert path.stat().st_size < 6_000_000


def test_without_bokeh(monkeypatch, demo, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "bokeh.resources", None)
    with pytest.raises(ValueError, match=r"the report needs Bokeh: pip install 'bokeh>=3.5'"):
        dqeval.report(demo, tmp_path / "no.html")


def test_times_of_events(tmp_path):
    times = [f"2026-01-01 00:0{t}" for t in range(8)]
    dqeval.report(small(timestamp=times), tmp_path / "times.html", near=1)
    text = (tmp_path / "times.html").read_text(encoding="utf-8")
    data = json.loads(text.split('id="data">')[1].partition("</script>")[0])
    assert data["times"] == ["2026-01-01T00:02 – 2026-01-01T00:03"]


def times_on_the_page(data, tmp_path):
    dqeval.report(data, tmp_path / "times.html", near=1)
    text = (tmp_path / "times.html").read_text(encoding="utf-8")
    return json.loads(text.split('id="data">')[1].partition("</script>")[0])["times"]


def test_an_index_of_times_is_used(tmp_path):
    frame = pd.DataFrame(small(), index=pd.date_range("2026-01-01", periods=8, freq="min"))
    assert times_on_the_page(frame, tmp_path) == ["2026-01-01T00:02 – 2026-01-01T00:03"]
    zoned = frame.tz_localize("Europe/Paris")
    assert times_on_the_page(zoned, tmp_path) == ["2025-12-31T23:02 – 2025-12-31T23:03"]
    assert times_on_the_page(frame.reset_index(drop=True), tmp_path) is None
    numbered = frame.reset_index(drop=True).rename_axis("epoch")
    assert times_on_the_page(numbered, tmp_path) == ["2 – 3"]
    assert times_on_the_page(frame.assign(t=np.arange(8) + 10), tmp_path) == ["12 – 13"]


def test_a_file_as_data(tmp_path):
    path = tmp_path / "series.csv"
    path.write_text("timestamp,label,mine\n10:00,0,1\n10:01,1,5\n10:02,0,2\n", encoding="utf-8")
    found = dqeval.report(path, tmp_path / "page.html", near=1)
    assert found.name == "series"
    assert dqeval.compare(path, near=1).panels == found.panels


def test_thresholds_in_the_units_of_the_scores(tmp_path):
    columns = {
        "label": [0, 1, 0, 0],
        "far": 100_000 + np.array([0, 0.03, 0.01, 0.02]),
        "same": np.full(4, 5.0),
        "alarms": [0, 1, 0, 1],
    }
    dqeval.report(columns, tmp_path / "page.html", near=1)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    data = json.loads(text.split('id="data">')[1].partition("</script>")[0])
    shown = {detector["name"]: detector["rawThresholds"] for detector in data["detectors"]}
    assert len(set(shown["far"])) == 100
    assert all(100_000 <= float(threshold) <= 100_000.03 for threshold in shown["far"])
    assert set(shown["same"]) == {"none"}
    assert shown["alarms"][49] == "0.5"
