"""The interactive report, read as text and used in a real browser."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dqeval
from browsing import set_step, settle
from dqeval import Series
from dqeval.analysis.compare import comparison_of
from dqeval.core.events import find_events
from dqeval.core.levels import grid
from dqeval.core.pieces import PIECES, parts_in
from dqeval.core.sampling import Clock
from dqeval.core.scaling import min_max
from dqeval.datasets.door import prepare
from dqeval.render import explorer, plots
from dqeval.render.drawing import COLOURS, UNOBSERVED
from dqeval.render.packing import MOST_EXACT
from dqeval.render.series_page import page as html_of
from dqeval.render.time_scale import scale_of


@pytest.fixture(scope="module")
def demo():
    return dqeval.datasets.demo()


@pytest.fixture(scope="module")
def file(demo, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "demo.html"
    dqeval.report(demo, path, period=48)
    return path


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


@pytest.mark.unmeasured
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
        assert [cells[-1] for cells in rows.values()] == [e.sentence for e in found.events]


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
    page.locator("#curve-plot").scroll_into_view_if_needed()
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


@pytest.mark.unmeasured
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


def test_detections_of_a_very_long_series_are_exact(opened, tmp_path):
    n = MOST_EXACT + 4000
    labels = np.arange(n) % 2000 < 40
    scores = np.round(np.random.RandomState(0).rand(n), 2)  # many of them are thresholds
    path = tmp_path / "very_long.html"
    dqeval.report({"label": labels, "mine": scores}, path, near=50, metrics="dqe")
    page = opened(path)
    page.get_by_role("button", name="[66000, 66040)").click()
    set_step(page, 57)
    low, high = page.evaluate("dqevalReport.view()")
    drawn = page.evaluate("() => { const d = dqevalReport.detections(); return [[...d.left], [...d.right]] }")
    detections = find_events(min_max(scores) >= grid(100)[56])
    parts = parts_in(detections, dqeval.partition(labels, near=50))
    inside = (parts.starts >= low) & (parts.stops <= high)
    expected = list(zip(parts.starts[inside].tolist(), parts.stops[inside].tolist(), strict=True))
    assert len(expected) > 20
    assert [bar for bar in zip(*drawn, strict=True) if low <= bar[0] and bar[1] <= high] == expected
    hovered = source_of(page, "scores-0")
    shown = np.round(np.array(hovered["y"], dtype=float), 4)
    assert shown.tolist() == scores[np.array(hovered["point"], dtype=int)].tolist()


def test_rows_out_of_view_follow(opened, tmp_path):
    n = 6000
    labels = np.arange(n) % 20 < 4
    one, two = np.random.RandomState(0).rand(2, n)
    path = tmp_path / "many.html"
    dqeval.report({"label": labels, "one": one, "two": two}, path, near=3, metrics="dqe")
    page = opened(path)
    cells = "row => [...row.cells].map(cell => cell.textContent)"
    last = f"({cells})(document.querySelector('#events tbody').lastChild)"
    before = page.evaluate(last)
    set_step(page, 40)
    page.wait_for_function(f"before => String({last}) !== before", arg=",".join(before))
    page.get_by_role("radio", name="two").check()
    page.locator("#events tbody tr").last.scroll_into_view_if_needed()
    page.wait_for_function(f"before => ({last})[8] !== before[8]", arg=before)
    found = dqeval.explain(labels, two, near=3)
    assert page.evaluate(last)[8] == found.events[-1].sentence
    set_step(page, 60)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    shown = page.evaluate(f"[...document.querySelectorAll('#events tbody tr')].map({cells})")
    rows = dqeval.evaluate_detections(labels, min_max(two) >= grid(100)[59], near=3).per_event
    assert [row[2:6] for row in shown] == [
        [f"{x:.3f}" for x in (event.dqe, event.capture, event.near_miss, event.false_alarm)] for event in rows
    ]


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
        if set(columns["mine"]) == {0, 1}:  # detections alone need no threshold
            assert page.get_by_label("Threshold", exact=True).is_hidden()
        else:
            set_step(page, 50)
        assert page.get_by_text(name).count() > 0


def test_an_old_browser_is_told_so(chromium, file):
    page = chromium.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(file.as_uri())
    assert page.get_by_text("need a browser of 2023 or later").is_visible()
    page.close()


@pytest.mark.unmeasured
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
@pytest.mark.unmeasured
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
    assert data["times"] == ["2026-01-01 00:02 – 00:04"]


def times_on_the_page(data, tmp_path):
    dqeval.report(data, tmp_path / "times.html", near=1)
    text = (tmp_path / "times.html").read_text(encoding="utf-8")
    return json.loads(text.split('id="data">')[1].partition("</script>")[0])["times"]


def test_an_index_of_times_is_used(tmp_path):
    frame = pd.DataFrame(small(), index=pd.date_range("2026-01-01", periods=8, freq="min"))
    assert times_on_the_page(frame, tmp_path) == ["2026-01-01 00:02 – 00:04"]
    zoned = frame.tz_localize("Europe/Paris")
    assert times_on_the_page(zoned, tmp_path) == ["2026-01-01 00:02 – 00:04 +01:00"]
    uneven = frame.set_index(frame.index.union([pd.Timestamp("2026-01-02")]).delete(0))
    assert times_on_the_page(uneven, tmp_path) == ["2026-01-01 00:03 – 00:04"]  # no clock: the timestamps
    assert times_on_the_page(uneven.tz_localize("UTC"), tmp_path) == ["2026-01-01 00:03 – 00:04 UTC"]
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


def data_on(html):
    return json.loads(html.split('id="data">')[1].partition("</script>")[0])


def models(item, kind):
    """Return the attributes of the models of a kind in what Bokeh embeds."""
    found = []

    def search(node):
        if isinstance(node, dict):
            if node.get("name") == kind and "attributes" in node:
                found.append(node["attributes"])
            for each in node.values():
                search(each)
        elif isinstance(node, list):
            for each in node:
                search(each)

    search(item)
    return found


def columns_of(source):
    return {name: column for name, column in source["data"]["entries"] if isinstance(column, list)}


def timed(*, near="5min", names=()):
    """Return two hours by the minute with three events and three gaps; behind the last gap there is no event."""
    missing = np.r_[40:50, 80:90, 110:116]
    kept = np.delete(np.arange(120), missing)
    labels = np.isin(np.arange(120), np.r_[20:26, 60:70, 100:104])
    scores = labels + 0.5 * np.isin(np.arange(120), np.r_[28:30, 38:40, 50:53, 117:119]) + 0.01 * (np.arange(120) % 7)
    times = np.datetime64("2026-03-01T12:00") + kept * np.timedelta64(1, "m")
    series = Series("timed", labels[kept], {"mine": scores[kept]}, np.sin(np.arange(120.0))[kept], timestamps=times)
    found = prepare(series, near=near, period=None, clock=Clock(None, "1min", None), name="timed")
    return replace(found, labelled=replace(found.labelled, names=tuple(names)))


@pytest.fixture(scope="module")
def clock_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("clock") / "timed.html"
    prepared = timed(names=["INC-1: disk full", "INC-2: <b>&", "INC-3"])
    path.write_text(html_of(prepared, comparison_of(prepared)), encoding="utf-8")
    return path


def source_of(page, name):
    script = (
        f"Object.entries(Bokeh.documents[0].get_model_by_name('{name}').data).map(([k, v]) => [k, [...v].map(String)])"
    )
    return dict(page.evaluate(script))


def test_time_is_to_scale_and_gaps_are_shaded(opened, clock_file):
    page = opened(clock_file)
    scale = scale_of(timed())
    low, high = page.evaluate("dqevalReport.view()")
    assert (low, high) == scale.limits
    assert high - low == 120 * 60_000
    for name in ("values-gaps", "scores-gaps"):
        gaps = source_of(page, name)
        drawn = np.array([gaps["x0"], gaps["x1"]], dtype=float).T
        assert ((drawn - low) / 60_000).tolist() == [[40, 50], [80, 90], [110, 116]]
        assert gaps["lasting"] == ["10 min", "10 min", "6 min"]
    prepared = timed()
    for name, values in (("values", prepared.line), ("scores-0", min_max(prepared.scores["mine"]))):
        drawn = source_of(page, name)
        x, y = scale.line(np.arange(scale.length), values)
        np.testing.assert_allclose(np.array(drawn["y"], dtype=float), y, rtol=1e-6)
        there = ~np.isnan(x)
        np.testing.assert_allclose(np.array(drawn["x"], dtype=float)[there], x[there])
    assert page.locator(".key.unobserved").inner_text() == "not observed"
    assert page.get_by_text("detected where there is no event").count() == 1


def test_hover_texts_have_times_and_durations(opened, clock_file):
    page = opened(clock_file)
    drawn = source_of(page, "scores-0")
    at = {int(point): i for i, point in enumerate(drawn["point"]) if drawn["y"][i] != "NaN"}

    def place(position):
        return drawn["place"][at[position]]

    assert float(drawn["at"][at[40]]) == scale_of(timed()).starts(np.array([40]))[0]
    assert place(18) == "1 min early for event 1, INC-1: disk full (near miss)"
    assert place(19) == "right before event 1, INC-1: disk full (near miss)"
    assert place(22) == "2 min after the start of event 1, INC-1: disk full"
    assert place(26) == "right after event 1, INC-1: disk full (near miss)"
    assert place(38) == "12 min late for event 1, INC-1: disk full (false alarm)"
    assert place(91) == "in no region of an event"


def test_detections_on_a_clock(opened, clock_file):
    page = opened(clock_file)
    set_step(page, 40)
    drawn = page.evaluate(
        "() => { const d = dqevalReport.detections(); return [[...d.left], [...d.right], [...d.colour]] }"
    )
    prepared = timed()
    scale, regions = scale_of(prepared), prepared.regions
    runs = prepared.labelled.runs(min_max(prepared.scores["mine"]) >= 0.4)
    parts = parts_in(runs, regions)
    expected = {
        (scale.starts(np.array([start]))[0], scale.ends(np.array([stop]))[0], COLOURS[PIECES[piece]])
        for start, stop, piece in zip(parts.starts, parts.stops, parts.piece, strict=True)
    }
    (alone,) = (run for run in runs if run[0] >= 90)  # behind the last gap
    expected.add((scale.starts(np.array([alone[0]]))[0], scale.ends(np.array([alone[1]]))[0], UNOBSERVED))
    assert set(zip(*drawn, strict=True)) == expected
    # What is detected before a gap, and behind it, is not one.
    assert {(start, stop) for start, stop in runs} >= {(38, 40), (40, 43)}


def test_events_have_names_times_and_lengths(opened, clock_file):
    page = opened(clock_file)
    rows = shown_rows(page)
    assert list(rows) == [
        "INC-1: disk full\n2026-03-01 12:20 – 12:26\n6 min, cells [20, 26)",
        "INC-2: <b>&\n2026-03-01 13:00 – 13:10\n10 min, cells [50, 60)",
        "INC-3\n2026-03-01 13:40 – 13:44\n4 min, cells [80, 84)",
    ]
    page.get_by_role("button", name="INC-2").click()
    settle(page)
    low, high = page.evaluate("dqevalReport.view()")
    start = scale_of(timed()).origin
    assert [(low - start) / 60_000, (high - start) / 60_000] == [50, 80]  # from gap to gap
    found = page.locator("#announcement").inner_text()
    assert found.startswith("Event 2 of 3, INC-2: <b>&, 2026-03-01 13:00 – 13:10. Captured")
    page.get_by_role("button", name="All", exact=True).click()
    settle(page)
    assert page.evaluate("dqevalReport.view()") == list(scale_of(timed()).limits)


def test_zooming_into_a_gap(opened, clock_file):
    page = opened(clock_file)
    start = scale_of(timed()).origin
    page.evaluate(
        f"Bokeh.documents[0].get_model_by_name('view').setv({{start: {start + 42 * 6e4}, end: {start + 52 * 6e4}}})"
    )
    settle(page)
    drawn = source_of(page, "values")
    assert [point for point, y in zip(drawn["point"], drawn["y"], strict=True) if y != "NaN"] == [
        "39",
        "40",
        "41",
        "42",
    ]


@pytest.mark.unmeasured
def test_events_without_names_are_named_by_their_time(opened, tmp_path):
    prepared = timed()
    path = tmp_path / "unnamed.html"
    path.write_text(html_of(prepared, comparison_of(prepared)), encoding="utf-8")
    page = opened(path)
    assert next(iter(shown_rows(page))) == "2026-03-01 12:20 – 12:26\n6 min, cells [20, 26)"
    page.keyboard.press("n")
    settle(page)
    assert "Event 1 of 3, 2026-03-01 12:20 – 12:26." in page.locator("#announcement").inner_text()


def test_what_the_page_says_on_a_clock(clock_file):
    text = clock_file.read_text(encoding="utf-8")
    assert (
        "94 cells of 1 min, 3 events; near 5 (5 min), as given; 26 min (21.7 %) not observed, in 3 gaps, left out;"
        in text
    )
    assert "near range of this page, near 5 (5 min), as given." in text
    data = data_on(text)
    assert models(data["timePlots"], "DatetimeAxis")
    assert "near range, in cells of 1 min" in [axis["axis_label"] for axis in models(data["nearPlot"], "LinearAxis")]


@pytest.mark.parametrize(
    ("times", "tip", "axis"),
    [
        (np.datetime64("2026-01-01") + np.arange(8), "@at{%F}", "DatetimeAxis"),
        (np.datetime64("2026-01-01T00:00") + 5 * np.arange(8), "@at{%F %H:%M}", "DatetimeAxis"),
        (np.datetime64("2026-01-01T00:00:07") + 60 * np.arange(8), "@at{%F %T}", "DatetimeAxis"),
        (np.datetime64("2026-01-01T00:00:00.5") + 500 * np.arange(8), "@at{%F %T.%3N}", "DatetimeAxis"),
        (np.datetime64("2026-01-01T00:00:00.000001") + np.arange(8), "@at{0,0}", "LinearAxis"),
    ],
)
@pytest.mark.unmeasured
def test_times_have_the_digits_they_need(tmp_path, times, tip, axis):
    dqeval.report(small(timestamp=times), tmp_path / "page.html", near=1)
    item = data_on((tmp_path / "page.html").read_text(encoding="utf-8"))["timePlots"]
    assert {tool["tooltips"][0][1] for tool in models(item, "HoverTool")} == {tip}
    assert models(item, axis)


def test_a_clock_of_numbers(tmp_path):
    columns = small(timestamp=[10, 20, 30, 40, 50, 60, 120, 130])
    dqeval.report(columns, tmp_path / "page.html", near=1, resolution=10)
    data = data_on((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert data["times"] == ["30 – 50"]
    assert (data["scale"]["unit"], data["scale"]["resolution"]) == ("cell", None)
    assert (data["scale"]["origin"], data["scale"]["width"]) == (10, 10)
    labels = [axis["axis_label"] for axis in models(data["nearPlot"], "LinearAxis")]
    assert "near range, in cells" in labels


@pytest.mark.unmeasured
def test_the_numbers_that_operators_ask_for(demo, file, tmp_path):
    text = file.read_text(encoding="utf-8")
    threshold = dqeval.explain(demo.labels, demo.scores["late"], near=24).threshold
    alarms = dqeval.alarms(demo.labels, demo.scores["late"] >= threshold, early=24)
    row = f"<td>late</td><td>4 of 6</td><td>{alarms.median_delay:g} points</td>"
    table = text.split('id="alarms">')[1].partition("</table>")[0]
    assert row in table.replace("\n", "").replace(' style="text-align: right"', "")
    assert "(1.25 per 1,000 points)" in table
    timed = replace(demo, timestamps=np.datetime64("2026-01-01T00:00") + np.arange(1600))
    dqeval.report(timed, tmp_path / "page.html", period=48)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    table = text.split('id="alarms">')[1].partition("</table>")[0]
    assert "15 min" in table
    assert "(1.8 per day)" in table
    sentences = " ".join(sentence for detector in data_on(text)["detectors"] for sentence in detector["sentences"])
    assert "one near miss, 11 min late" in sentences
    assert " point" not in sentences


def test_the_plot_of_alarms(demo, file):
    data = data_on(file.read_text(encoding="utf-8"))["alarmPlot"]
    sources = [columns_of(source) for source in models(data, "ColumnDataSource")]
    marks = {}
    for source in sources:
        for i, name in enumerate(source.get("detector", ())):
            marks.setdefault(name, []).append((source["threshold"][i], source["events"][i], source["rate"][i]))
    for name, scores in demo.scores.items():
        curve = dqeval.alarm_curve(demo.labels, scores, early=24)
        rates = curve.false_alarms_per_1000
        expected = [
            (str(curve.rounded_threshold(k)), f"{curve.detected[k]} of 6", f"{rates[k]:.3g}")
            for k in curve.drawn.tolist()
        ]
        *gains, (shown, events, rate) = marks[name]
        assert gains == expected
        threshold = dqeval.explain(demo.labels, scores, near=24).threshold
        alarms = dqeval.alarms(demo.labels, scores >= threshold, early=24)
        assert shown == f"{threshold} (suggested)"
        assert events == f"{alarms.detected.sum()} of 6"
        assert rate == f"{1000 * alarms.false_alarm_rate:.3g}"
    labels = {axis["axis_label"] for axis in models(data, "LinearAxis")}
    assert labels == {"false alarms per 1,000 points, at most", "share of events detected"}
    assert len(models(data, "FixedTicker")) == 1


def test_a_plot_is_made_once_and_filled_often(demo):
    first = prepare(demo, near=24)
    other = prepare({**small(), "two": np.arange(8.0), "three": [0, 0, 1, 5, 2, 0, 0, 0]}, near=1)
    comparisons = {prepared: comparison_of(prepared, metrics="dqe", repeats=1) for prepared in (first, other)}
    made = plots._template.cache_info().misses
    pages = [data_on(html_of(prepared, comparisons[prepared])) for prepared in (first, other, first)]
    assert pages[0] == pages[2]
    assert plots._template.cache_info().misses <= made + 5  # only the plot of alarms may have another unit or scale
    for item in ("timePlots", "alarmPlot", "nearPlot"):
        assert pages[0][item] != pages[1][item]
    with pytest.raises(AssertionError, match="no models have these names: other"):
        plots.embedded(explorer._curve_plot, 260, models={"other": {}})


@pytest.mark.unmeasured
def test_the_plot_of_alarms_with_little_to_show(tmp_path):
    dqeval.report(small(same=np.full(8, 5.0), mine=[0, 0, 3, 2, 0, 1, 0, 0]), tmp_path / "page.html", near=1)
    data = data_on((tmp_path / "page.html").read_text(encoding="utf-8"))["alarmPlot"]
    names = [columns_of(source).get("detector", []) for source in models(data, "ColumnDataSource")]
    assert ["same"] not in names  # nothing is ever detected
    assert names.count(["mine"]) == 2
    assert not models(data, "FixedTicker")  # a single false alarm needs no wide axis


def test_many_detectors_have_colours_of_their_own():
    names = [f"d{i}" for i in range(30)]
    found = explorer.colours_of(names)
    assert list(found) == names
    assert len(set(found.values())) == 30
    assert all(len(colour) == 7 and colour.startswith("#") for colour in found.values())
