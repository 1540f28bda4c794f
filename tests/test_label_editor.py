"""Labels that are corrected in the report: the scores that the page computes, and the mode, in a real browser."""

import csv
import io
import json
import re
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import naive
import strategies as own
from browsing import settle
from commands import caller
from dqeval import Series
from dqeval.core.levels import grid
from dqeval.core.moments import shown
from dqeval.core.prepared import Labelled, prepare_series
from dqeval.core.scaling import min_max
from dqeval.core.timeline import TimeAxis
from dqeval.render.html import source_of
from dqeval.render.page_clock import clock_of
from dqeval.render.tables import in_csv
from test_page_use import serious

COLUMNS = ("dqe", "capture", "near_miss", "false_alarm")


@pytest.fixture(scope="module")
def blank(chromium):
    """Open an empty page that has what knows nothing of pages, and nothing else."""
    page = chromium.new_page()
    for name in ("ascending.js", "event_scores.js", "label_edits.js", "label_files.js"):
        page.add_script_tag(content=source_of(name))
    yield page
    page.close()


def scores_in_page(page, labels, detections, near, breaks=()):
    events = [{"start": int(a), "stop": int(b) + 1} for a, b in naive.split_runs(labels, breaks)]
    return page.evaluate(
        "([events, series, levels]) => eventScores.atLevel(events, series, levels, 1)",
        [events, {"length": len(labels), "near": near, "breaks": list(breaks)}, [int(x) for x in detections]],
    )


def naive_scores(labels, detections, near, breaks):
    """Return what naive.py gives: with breaks, each stretch between two of them is a series of its own."""
    borders = [0, *breaks, len(labels)]
    stretches = [slice(low, high) for low, high in pairwise(borders)]
    rows = [naive.detections_scores(labels[s], detections[s], near) for s in stretches if labels[s].any()]
    return np.concatenate(rows)


@pytest.mark.parametrize("text", ["=1+1", "@x", " -late", "-0.5", "+7", "'=x", "\uff1dx", "late = bad", "'quoted'", ""])
def test_notes_in_csv_are_no_formulas(blank, text):
    """They are written as all tables are."""
    script = """text => labelFiles.intervalsCsv([{ start: 1, stop: 2, name: text, note: text }],
        { start: String, end: String })"""
    (_, row) = csv.reader(io.StringIO(blank.evaluate(script, text)))
    assert row == ["1", "2", *in_csv([text, text])]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "-03:30"])
def test_times_in_words_are_those_of_python(blank, zone):
    """On a clock that is put back in the night, and with the same digits and offsets."""
    hour = 3_600 * 10**9
    origin = int(np.datetime64("2026-10-24T22:30", "ns").astype(int))
    axis = TimeAxis(origin, hour, 30, "local" if zone is None else "universal", zone=zone or "UTC")
    series = Series("x", np.zeros(30), {"a": np.arange(30.0)})
    clock = clock_of(replace(prepare_series(series, near=1), labelled=Labelled(np.zeros(30, bool), axis)))
    events = [[start, start + 1] for start in range(29)]
    found = blank.evaluate(
        "([clock, events]) => { const times = labelFiles.timesOf(clock, [], []);"
        " return events.map(([a, b]) => [times.start(a), times.words(a, b)]); }",
        [clock, events],
    )
    assert [words for _, words in found] == [axis.between(*event) for event in events]
    exact = [datetime.fromisoformat(start) for start, _ in found]
    moments = [datetime.fromisoformat(shown(axis.start_of(a), zone)) for a, _ in events]
    assert exact == moments


@st.composite
def broken_series(draw):
    labels, detections = draw(own.labelled(own.detections))
    return labels, detections, draw(own.breaks(len(labels)))


@pytest.mark.parametrize("text", ["\t=1+1", "\r=1+1", "\n\t@x"])
def test_white_space_hides_no_formula_in_csv(blank, text):
    script = """text => labelFiles.intervalsCsv([{ start: 1, stop: 2, name: text, note: "" }],
        { start: String, end: String })"""
    (_, row) = csv.reader(io.StringIO(blank.evaluate(script, text), newline=""))
    assert row == ["1", "2", f"'{text}", ""]


@given(broken_series(), own.exact_near)
def test_scores_equal_the_definition(blank, case, near):
    labels, detections, breaks = case
    found = scores_in_page(blank, labels, detections, near, breaks)
    expected = naive_scores(labels, detections, near, breaks)
    np.testing.assert_allclose(found["scores"], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["means"], expected.mean(axis=0), rtol=0, atol=1e-12)


@given(own.labelled(own.detections), own.any_near)
def test_scores_equal_those_of_python_whatever_the_near_range(blank, case, near):
    labels, detections = case
    found = scores_in_page(blank, labels, detections, near)
    result = dqeval.evaluate_detections(labels, detections, near=near)
    expected = [[getattr(event, column) for column in COLUMNS] for event in result.per_event]
    np.testing.assert_allclose(found["scores"], expected, rtol=0, atol=1e-14)
    regions = dqeval.partition(labels, near=near).regions
    cuts = [[r.left, r.near_start, r.start, r.stop, r.near_stop, r.right] for r in regions]
    assert found["cuts"] == cuts


def test_without_an_event_there_is_no_score(blank):
    assert scores_in_page(blank, np.zeros(4), np.ones(4), 1) == {"cuts": [], "scores": [], "means": None}


# The page -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo():
    return dqeval.datasets.demo()


@pytest.fixture(scope="module")
def file(demo, tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "demo.html"
    dqeval.report(demo, path, period=48, metrics="dqe")
    return path


@pytest.fixture(autouse=True)
def _nothing_kept(tab):
    """Let each test open its report anew, in a browser that has kept nothing."""
    yield
    if tab.url.startswith("file:"):
        tab.evaluate("localStorage.clear()")
        tab.goto("about:blank")


def ready(page):
    page.wait_for_selector("html[data-ready]")
    settle(page)


def correct(page):
    page.get_by_role("button", name="Correct labels", exact=True).click()
    settle(page)
    page.locator("#label-lane").evaluate("lane => lane.scrollIntoView({ block: 'center' })")


def events_on(page):
    return [tuple(each) for each in page.evaluate("dqevalReport.editor.events().map(e => [e.start, e.stop])")]


def banner_on(page):
    banner = page.locator("#labels-differ")
    return banner.locator("strong").inner_text() if banner.is_visible() else None


THE_FILES = "Labels are the file's."


DEMO_EVENTS = [(214, 218), (430, 452), (700, 748), (1010, 1013), (1236, 1262), (1440, 1476)]


def border(page, name):
    return page.get_by_role("slider", name=name)


def drag(page, place, by, *, cancel=False):
    box = place if isinstance(place, dict) else place.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by / 2, y)
    page.mouse.move(x + by, y)
    settle(page)
    if cancel:
        page.keyboard.press("Escape")
    page.mouse.up()
    settle(page)


RANDOM_EDITS = """([draws, detectors, steps, count]) => {
    const { editor, page } = dqevalReport;
    const found = [];
    for (const [what, where, far, which] of draws) {
        const events = editor.events();
        const event = events[Math.floor(where * events.length)];
        if (what < 0.45 && event) {
            const border = what < 0.22 ? "start" : "stop";
            editor.acts.move(event.id, border, event[border] + Math.round(60 * (far - 0.5)), true);
        } else if (what < 0.75) {
            const point = Math.floor(where * page.length);
            editor.acts.add(point, point + Math.floor(far * 30), true);
        } else if (what < 0.9 && event) {
            editor.acts.remove(event.id);
        } else if (what < 0.95) {
            editor.edits.undo();
        } else {
            editor.edits.redo();
        }
        if (JSON.stringify(editor.events()) === JSON.stringify(events)) continue; // there was no room
        const [detector, threshold] = [Math.floor(which * detectors), 1 + Math.floor(far * steps)];
        pageState.update({ detector, threshold });
        const { scores, means, now } = editor.scores();
        found.push({ events: now.map(({ start, stop }) => [start, stop]), scores, means, detector, threshold });
        if (found.length === count) break;
    }
    return found;
}"""


def random_edits(page, detectors, count=200):
    draws = np.random.default_rng(18).random((4 * count, 4)).tolist()
    found = page.evaluate(RANDOM_EDITS, [draws, detectors, 100, count])
    assert len(found) == count
    return found


def assert_scores_of_python(found, series, **options):
    """Compare what the page shows after each edit with Python, for which the events must be the same, too."""
    names = list(series.scores)
    for each in found:
        labels = np.zeros(len(series.labels), dtype=bool)
        for start, stop in each["events"]:
            labels[start:stop] = True
        if not labels.any():
            assert each["means"] is None
            continue
        detections = min_max(series.scores[names[each["detector"]]]) >= grid(100)[each["threshold"] - 1]
        result = dqeval.evaluate_detections(labels, detections, **options)
        assert [[event.start, event.stop] for event in result.per_event] == each["events"]
        expected = [[getattr(event, column) for column in COLUMNS] for event in result.per_event]
        np.testing.assert_allclose(each["scores"], expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(each["means"], [getattr(result, c) for c in COLUMNS], rtol=0, atol=1e-9)


def test_200_random_edits_have_the_scores_of_python(opened, file, demo):
    page = opened(file, "#correct=labels")
    assert_scores_of_python(random_edits(page, detectors=3), demo, near=24)


def with_gaps():
    """Return four hours by the minute with four gaps, and the times of what is left."""
    kept = np.delete(np.arange(240), np.r_[40:50, 80:90, 110:116, 190:230])
    labels = np.isin(np.arange(240), np.r_[20:26, 60:70, 100:104, 180:190])
    scores = labels + np.random.default_rng(3).random(240)
    times = np.datetime64("2026-03-01T12:00") + kept * np.timedelta64(1, "m")
    names = {"mine": scores[kept], "other": np.random.default_rng(4).random(240)[kept]}
    return Series("timed", labels[kept], names, np.sin(np.arange(240.0))[kept], timestamps=times)


@pytest.fixture(scope="module")
def clock_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("clock") / "timed.html"
    dqeval.report(with_gaps(), path, near="5min", resolution="1min", metrics="dqe")
    return path


def test_200_random_edits_on_a_clock_with_gaps(opened, clock_file):
    page = opened(clock_file, "#correct=labels")
    series = with_gaps()
    found = random_edits(page, detectors=2)
    assert any(stop in (40, 70, 90) for each in found for _, stop in each["events"])  # where gaps are
    assert_scores_of_python(found, series, near="5min", times=series.timestamps, resolution="1min")


def test_borders_are_dragged(opened, file, demo):
    page = opened(file)
    assert page.locator("#label-editor").is_hidden()
    correct(page)
    assert banner_on(page) == THE_FILES
    drag(page, border(page, "End of event 2"), 60)
    events = events_on(page)
    assert events[1][0] == 430
    assert 452 + 100 < events[1][1] < 452 + 170  # 60 of the 713 pixels of 1600 points
    assert [each for i, each in enumerate(events) if i != 1] == [each for i, each in enumerate(DEMO_EVENTS) if i != 1]
    assert "Labels differ from the file's: 1 event moved." in banner_on(page)
    drag(page, border(page, "Start of event 3"), -500)  # up to its neighbour, but for one point
    assert events_on(page)[2][0] == events[1][1] + 1
    drag(page, border(page, "Start of event 1"), 40, cancel=True)
    assert events_on(page)[0] == (214, 218)


def test_what_is_shown_follows_the_corrected_labels(opened, file, demo):
    page = opened(file, "#threshold=0.30&correct=labels")
    page.evaluate("dqevalReport.editor.acts.push(1, 'stop', 600)")
    settle(page)
    labels = demo.labels.copy()
    labels[430:600] = True
    result = dqeval.evaluate_detections(labels, min_max(demo.scores["sharp"]) >= grid(100)[29], near=24)
    means = [f"{getattr(result, column):.3f}" for column in COLUMNS]
    assert [cell.inner_text() for cell in page.locator("[data-mean]").all()] == means
    rows = page.locator("#label-events tbody tr")
    assert [cell.inner_text() for cell in rows.nth(1).locator("td").all()] == [
        *(f"{getattr(result.per_event[1], column):.3f}" for column in COLUMNS),
        "moved from [430, 452)",
    ]
    drawn = "Bokeh.documents[0].get_model_by_name('scores-regions').data"
    regions = dqeval.partition(labels, near=24).regions
    assert page.evaluate(f"{drawn}.x1.includes({regions[1].near_stop}) && {drawn}.x0.includes({regions[2].left})")
    page.get_by_role("slider", name="Threshold").press("ArrowRight")
    settle(page)
    result = dqeval.evaluate_detections(labels, min_max(demo.scores["sharp"]) >= grid(100)[30], near=24)
    assert page.locator("[data-mean='0']").inner_text() == f"{result.dqe:.3f}"
    page.get_by_role("button", name="Done").click()
    settle(page)
    of_file = dqeval.evaluate_detections(demo.labels, min_max(demo.scores["sharp"]) >= grid(100)[30], near=24)
    assert page.locator("[data-mean='0']").inner_text() == f"{of_file.dqe:.3f}"
    regions = dqeval.partition(demo.labels, near=24).regions
    assert page.evaluate(f"{drawn}.x1.includes({regions[1].near_stop}) && {drawn}.x0.includes({regions[2].left})")
    assert page.get_by_text("All that this page shows now is of the file's labels.").is_visible()


def test_an_event_is_added_by_a_drag_by_a_button_and_deleted(opened, file):
    page = opened(file)
    correct(page)
    lane = page.locator("#label-lane").bounding_box()
    free = {"x": lane["x"] + lane["width"] * 300 / 1600, "y": lane["y"], "width": 0, "height": lane["height"]}
    drag(page, free, 20)
    (added,) = set(events_on(page)) - set(DEMO_EVENTS)
    assert 297 <= added[0] <= 302
    assert 340 <= added[1] <= 350
    inside = {**free, "x": lane["x"] + lane["width"] * 720 / 1600}
    drag(page, inside, 20)
    assert len(events_on(page)) == 7
    page.get_by_role("button", name="Add event").click()
    settle(page)
    assert len(events_on(page)) == 8
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Start of event 5"
    assert "7 events" not in page.locator("#label-count").inner_text()
    page.keyboard.press("Delete")
    settle(page)
    page.locator("#label-events").get_by_role("button", name=f"[{added[0]}, {added[1]})").click()
    settle(page)
    page.get_by_role("button", name="Delete event").click()
    settle(page)
    assert events_on(page) == DEMO_EVENTS
    assert banner_on(page) == THE_FILES
    assert "Event deleted" in page.locator("#label-announcement").inner_text()


def test_borders_move_with_keys(opened, file):
    page = opened(file)
    correct(page)
    start = border(page, "Start of event 3")
    start.focus()
    settle(page)
    assert page.locator("#label-title").inner_text() == "Event 3 of 6"
    for key in ("ArrowLeft", "ArrowLeft", "Shift+ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
    settle(page)
    assert events_on(page)[2] == (689, 748)
    assert start.get_attribute("aria-valuenow") == "689"
    assert start.get_attribute("aria-valuetext") == "point 689"
    assert (start.get_attribute("aria-valuemin"), start.get_attribute("aria-valuemax")) == ("453", "747")
    page.keyboard.press("Home")
    settle(page)
    assert events_on(page)[2] == (453, 748)
    page.keyboard.press("Control+z")  # what was done with keys, one after the other, is one step
    settle(page)
    assert events_on(page) == DEMO_EVENTS
    page.keyboard.press("Control+Shift+z")
    settle(page)
    assert events_on(page)[2] == (453, 748)
    border(page, "End of event 6").focus()
    page.keyboard.press("End")
    page.keyboard.press("PageDown")
    settle(page)
    assert events_on(page)[5] == (1440, 1590)
    page.evaluate("pageState.update({ zoom: [0, 200] })")
    settle(page)
    page.keyboard.press("ArrowRight")  # the view goes to what is moved
    settle(page)
    low, high = page.evaluate("dqevalReport.view()")
    assert low < 1591 < high
    assert high - low == 200
    assert page.locator("#label-lane").evaluate("lane => lane.scrollLeft") == 0
    page.get_by_label("End", exact=True).fill("1500")
    page.keyboard.press("Enter")
    settle(page)
    assert events_on(page)[5] == (1440, 1500)
    page.get_by_label("Start", exact=True).fill("9999")  # no further than there is room
    page.keyboard.press("Tab")
    settle(page)
    assert events_on(page)[5] == (1499, 1500)
    assert page.get_by_label("Start", exact=True).input_value() == "1499"


def test_borders_are_in_the_order_of_time(opened, file):
    page = opened(file, "#correct=labels")
    page.evaluate("dqevalReport.editor.acts.add(300, 310, true)")
    page.evaluate("dqevalReport.editor.acts.remove(4)")
    settle(page)
    names = page.locator("#label-lane [role=slider]").evaluate_all("all => all.map(each => each.ariaLabel)")
    assert names == [f"{border} of event {i}" for i in range(1, 7) for border in ("Start", "End")]


def test_an_event_that_is_drawn_again_is_the_files(opened, file):
    page = opened(file, "#correct=labels")
    page.evaluate("dqevalReport.editor.acts.remove(1)")
    settle(page)
    assert "1 event deleted" in banner_on(page)
    page.evaluate("dqevalReport.editor.acts.add(430, 451, true)")
    settle(page)
    assert banner_on(page) == THE_FILES


def test_keys_go_through_the_corrected_events_and_letters_can_be_written(opened, file):
    page = opened(file)
    correct(page)
    page.keyboard.press("n")
    page.keyboard.press("n")
    settle(page)
    assert page.locator("#label-title").inner_text() == "Event 2 of 6"
    low, high = page.evaluate("dqevalReport.view()")
    assert low < 430 < 452 < high < 600
    page.keyboard.press("p")
    settle(page)
    page.get_by_label("Note").press_sequentially('an <i>npa</i> & "x"')
    settle(page)
    assert page.locator("#label-title").inner_text() == "Event 1 of 6"
    note = 'an <i>npa</i> & "x"'
    assert page.locator("#label-events tbody tr").first.locator("td").last.inner_text() == note
    assert banner_on(page) == "Labels are the file's, with 1 note."
    page.get_by_role("button", name="Undo").click()
    settle(page)
    assert banner_on(page) == THE_FILES
    assert page.get_by_label("Note").input_value() == ""
    page.get_by_role("button", name="Redo").click()
    settle(page)  # an empty field that is emptied tells nobody
    page.get_by_label("Note").fill("")
    settle(page)
    assert banner_on(page) == THE_FILES


def test_nothing_is_lost_on_reload_until_it_is_discarded(opened, file):
    page = opened(file)
    correct(page)
    page.evaluate("dqevalReport.editor.acts.push(0, 'stop', 230)")
    page.evaluate("dqevalReport.editor.acts.remove(3)")
    page.evaluate("dqevalReport.editor.edits.undo()")
    assert "Corrections are kept in this browser" in page.locator("#label-kept").inner_text()
    page.reload()
    ready(page)
    assert page.locator("#label-editor").is_visible()  # the mode is in the address
    assert events_on(page) == [(214, 230), *DEMO_EVENTS[1:]]
    page.get_by_role("button", name="Redo").click()
    settle(page)
    assert events_on(page) == [(214, 230), *DEMO_EVENTS[1:3], *DEMO_EVENTS[4:]]
    assert "1 event moved, 1 deleted." in banner_on(page)
    page.get_by_role("button", name="Done").click()
    settle(page)
    assert page.locator("#label-editor").is_hidden()
    assert "1 event moved, 1 deleted." in banner_on(page)
    page.get_by_role("button", name="Discard", exact=True).click()
    settle(page)
    assert banner_on(page) == "Corrections discarded: labels are the file's."
    assert events_on(page) == DEMO_EVENTS
    page.get_by_role("button", name="Bring back").click()
    settle(page)
    assert "1 event moved, 1 deleted." in banner_on(page)
    page.get_by_role("button", name="Discard", exact=True).click()
    page.reload()
    ready(page)
    assert banner_on(page) is None
    assert events_on(page) == DEMO_EVENTS
    assert page.evaluate("localStorage.length") == 0


def test_two_windows_have_the_same_corrections(chromium, file):
    with chromium.new_context() as context:
        page, other = context.new_page(), context.new_page()
        for each in (page, other):
            each.goto(file.as_uri())
            ready(each)
        page.evaluate("dqevalReport.editor.acts.remove(3)")
        other.wait_for_function("dqevalReport.editor.events().length === 5")
        other.locator("#labels-differ").wait_for()
        assert "1 event deleted." in banner_on(other)
        other.get_by_role("button", name="Discard", exact=True).click()
        page.wait_for_function("dqevalReport.editor.events().length === 6")
        assert page.evaluate("localStorage.length") == 0


FITTING = '{"id": "new-1", "start": 1, "stop": 3, "name": "", "note": ""}'


def added(event):
    return f'{{"version": 1, "done": 1, "edits": [{{"from": null, "to": {event}}}]}}'


@pytest.mark.parametrize(
    "kept",
    [
        "no JSON",
        "{}",
        '{"version": 1, "done": 2, "edits": []}',
        '{"version": 1, "done": 0, "edits": {"length": 1}}',
        *(added(FITTING).replace('"done": 1', f'"done": {done}') for done in ("null", "true", "0.5", "[]", "-1")),
        '{"version": 1, "done": 1, "edits": [{"from": {"id": 77}, "to": null}]}',
        '{"version": 1, "done": 1, "edits": [{"from": null, "to": null}]}',
        added('{"id": "new-1", "start": 215, "stop": 220, "name": "", "note": ""}'),
        added('{"id": "new-1", "start": 1, "stop": 2.5, "name": "", "note": ""}'),
        added('{"id": "new-1", "start": 1, "stop": 3, "name": {}, "note": ""}'),
        added('{"id": 3, "start": 1, "stop": 3, "name": "", "note": ""}'),
        added('{"id": "new-1", "start": 200, "stop": 214, "name": "", "note": ""}'),
    ],
)
def test_what_is_kept_and_damaged_is_left_alone(blank, kept):
    found = blank.evaluate(
        """kept => {
            const events = [{ id: 0, start: 214, stop: 218, name: "", note: "" }];
            const edits = labelEdits.history(events, { length: 1600, near: 24, breaks: [1000] }, () => {});
            return [edits.restore(kept), edits.events().length, edits.canUndo()];
        }""",
        kept,
    )
    assert found == [False, 1, False]


def test_a_browser_that_keeps_nothing_is_told(chromium, file):
    page = chromium.new_page()
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no') } })")
    page.goto(file.as_uri() + "#correct=labels")
    ready(page)
    assert "This browser keeps nothing for this page" in page.locator("#label-kept").inner_text()
    border(page, "End of event 1").press("ArrowRight")
    settle(page)
    assert events_on(page)[0] == (214, 219)
    assert "1 event moved" in banner_on(page)
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    ready(page)
    assert asked == ["beforeunload"]
    assert events_on(page) == DEMO_EVENTS
    page.close()


def test_the_banner_is_in_every_view_and_on_paper(opened, file):
    page = opened(file)
    correct(page)
    border(page, "End of event 1").press("ArrowRight")
    settle(page)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    box = page.locator("#labels-differ").bounding_box()
    assert 0 <= box["y"] < 50  # on the screen, at the end of the page too
    page.emulate_media(media="print")
    assert "Labels differ from the file's: 1 event moved." in banner_on(page)
    assert page.locator("#label-lane").is_hidden()
    assert page.locator("#labels-differ button").first.is_hidden()
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 320, "height": 700})
    settle(page)
    narrow = page.evaluate(
        "[document.documentElement.scrollWidth, document.getElementById('labels-differ').clientHeight]"
    )
    page.set_viewport_size({"width": 1200, "height": 900})
    assert narrow[0] <= 320
    assert narrow[1] < 120


def test_nothing_serious_for_screen_readers(opened, file):
    page = opened(file, "#correct=labels")
    border(page, "End of event 2").press("ArrowRight")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        settle(page)
        assert serious(page) == {}
    page.emulate_media(color_scheme="light")


def test_all_events_may_be_deleted(opened, file):
    page = opened(file, "#correct=labels")
    page.evaluate("for (let id = 0; id < 6; id++) dqevalReport.editor.acts.remove(id)")
    settle(page)
    assert [cell.inner_text() for cell in page.locator("[data-mean]").all()] == ["–"] * 4
    assert page.locator("#label-count").inner_text() == "0 events"
    page.keyboard.press("n")
    assert page.locator("#label-form").is_hidden()
    assert page.evaluate("document.activeElement.id") == "label-add"


def test_many_events_are_listed_where_they_are_in_view(opened, tmp_path):
    labels = np.arange(8000) % 20 < 4
    path = tmp_path / "many.html"
    dqeval.report({"label": labels, "mine": np.random.RandomState(0).rand(8000)}, path, near=3, metrics="dqe")
    page = opened(path, "#correct=labels")
    assert page.locator("#label-count").inner_text() == (
        "Of 400 events, 200 in view are listed. Move or zoom out to see others."
    )
    assert page.get_by_role("slider", name="Start of event 2", exact=True).count() == 0  # they could not be told apart
    assert page.locator("#label-crowded").is_visible()
    page.keyboard.press("n")
    settle(page)
    assert page.locator("#label-crowded").is_hidden()
    assert page.locator("#label-events tbody tr").count() < 10
    assert border(page, "Start of event 2").is_visible()


# The way back ---------------------------------------------------------------------------------------------------------

EXPORTS = {"labels": "Labels (CSV)", "intervals": "Intervals (CSV)", "studio": "Intervals (Label Studio, JSON)"}
MINUTE = np.timedelta64(1, "m")


def download(page, kind, folder):
    with page.expect_download() as found:
        page.get_by_role("button", name=EXPORTS[kind]).click()
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    return path


def scored_file(path, times):
    """Write the first 400 points of the demo, with their times, if there are some; return its labels and scores."""
    series = dqeval.datasets.demo()
    rows = [f"{int(label)},{score}" for label, score in zip(series.labels, series.scores["late"], strict=True)][:400]
    if times is None:
        path.write_text("\n".join(["label,late", *rows]))
    else:
        path.write_text("\n".join(["timestamp,label,late", *map(",".join, zip(times, rows, strict=True))]))
    return series.labels[:400].copy(), series.scores["late"][:400]


def even_times(zone=""):
    return [f"{moment}{zone}" for moment in np.datetime64("2026-01-01T00:00") + MINUTE * np.arange(400)]


def times_of_a_night():
    """Return times between which clocks are put back in Berlin."""
    return [f"{moment}Z" for moment in np.datetime64("2026-10-24T22:30") + MINUTE * np.arange(400)]


def times_with_gaps():
    kept = np.concatenate([np.arange(100), np.arange(130, 300), np.arange(400, 530)])
    return [str(moment) for moment in np.datetime64("2026-01-01T00:00") + MINUTE * kept]


def jittering_times():
    seconds = 60 * np.arange(400) + np.random.default_rng(5).integers(0, 20, 400)
    return [str(moment) for moment in np.datetime64("2026-01-01T00:00:00") + seconds.astype("m8[s]")]


CLOCKS = {
    "no times": (None, []),
    "text for times": ([f"sample {t}" for t in range(400)], []),
    "even dates": (even_times(), []),
    "universal time": (even_times("Z"), []),
    "numbers": ([str(5 * t) for t in range(400)], []),
    "seconds since 1970": ([str(1_700_000_000 + 60 * t) for t in range(400)], []),
    "gaps": (times_with_gaps(), ["--resolution", "1min"]),
    "a time zone": (even_times(), ["--timezone", "Europe/Berlin", "--resolution", "1min"]),
    "clocks put back": (times_of_a_night(), ["--timezone", "Europe/Berlin"]),
    "an offset": (even_times("-03:30"), []),
    "not even": (jittering_times(), []),
}


WITHOUT_TIMES = ("no times", "text for times")


@pytest.mark.parametrize("clock", CLOCKS)
def test_what_is_exported_is_read_back(opened, tmp_path, monkeypatch, capsys, clock):
    times, options = CLOCKS[clock]
    source = tmp_path / "series.csv"
    labels, scores = scored_file(source, times)
    call = caller(monkeypatch, capsys)
    assert call("report", source, "-o", tmp_path / "out.html", "--near", "20", "--metrics", "dqe", *options).code == 0
    page = opened(tmp_path / "out.html", "#correct=labels")
    page.evaluate("dqevalReport.editor.acts.push(0, 'stop', 250)")
    page.evaluate("dqevalReport.editor.acts.add(60, 80, true)")
    settle(page)
    page.get_by_label("Note").fill('early, "maybe"')
    labels[218:250] = True
    labels[60:81] = True
    assert np.array_equal(labels, labels_of(events_on(page), len(labels)))
    known = None if times is None else [moment for moment, label in zip(times, labels, strict=True) if label]
    assert (
        "Labels are a column label, to put in place of that of your file." in page.locator("#label-editor").inner_text()
    )
    saved = {kind: download(page, kind, tmp_path) for kind in EXPORTS}
    assert [path.name for path in saved.values()] == [
        "series-labels.csv",
        "series-intervals.csv",
        "series-intervals.json",
    ]
    rows = saved["labels"].read_text(encoding="utf-8").splitlines()
    assert [row.rpartition(",")[2] for row in rows] == ["label", *(str(int(label)) for label in labels)]
    written = [row.partition(",")[0] for row in rows if row.endswith(",1")]
    if clock in ("even dates", "universal time", "gaps", "an offset"):
        assert [re.sub(r":00(Z|-03:30)?$", r"\1", moment) for moment in written] == known
    if clock == "clocks put back":
        assert [datetime.fromisoformat(moment) for moment in written] == list(map(datetime.fromisoformat, known))
        assert {moment[-6:] for moment in written} == {"+01:00", "+02:00"}
    on_clock = {"gaps": {"times": times, "resolution": "1min"}, "not even": {"times": times}}.get(clock, {})
    expected = dqeval.evaluate(labels, scores, near=20, **on_clock).per_event
    names = {"intervals": 'early, "maybe"', "studio": 'event-new-1: anomaly: early, "maybe"'}
    for kind, name in names.items():
        arguments = ["--near", "20", "--metrics", "dqe", "--per-event", "--format", "json", *options]
        done = call("score", source, "--incidents", saved[kind], *arguments)
        (read,) = json.loads(done.out)["results"]["series"]
        found = read["detectors"]["late"]["per_event"]
        assert [(each["start"], each["stop"], each["dqe"]) for each in found] == [
            (each.start, each.stop, each.dqe) for each in expected
        ]
        assert found[0]["name"] == name
        assert [finding["message"] for finding in read["findings"] if "incidents" in finding["message"]] == (
            ["incidents: series has no times: they count its points from 0"] if clock in WITHOUT_TIMES else []
        )


def labels_of(events, length):
    labels = np.zeros(length, dtype=bool)
    for start, stop in events:
        labels[start:stop] = True
    return labels
