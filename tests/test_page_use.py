"""The report as a place to work: links, filters, a budget of false alarms, intervals, and what everyone can read."""

from dataclasses import replace

import numpy as np
import pytest

import dqeval
from browsing import set_step, settle
from dqeval.core.confidence import mean_interval
from dqeval.core.levels import grid
from dqeval.core.scaling import min_max
from dqeval.render.event_outcomes import EVENT_OUTCOMES, OUTCOME_MEANINGS, outcomes_of

DAY = 24 * 60  # points


@pytest.fixture(scope="module")
def demo():
    """Return the demo by the minute."""
    return replace(dqeval.datasets.demo(), timestamps=np.datetime64("2026-01-01T00:00") + np.arange(1600))


@pytest.fixture(scope="module")
def file(demo, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "demo.html"
    dqeval.report(demo, path, period=48, metrics="dqe")
    return path


def link(page):
    return page.evaluate("location.hash")


def chosen(page):
    """Return what the page shows of what was chosen, whatever the address says."""
    return page.evaluate(
        """() => ({
            detector: document.querySelector("[name=detector]:checked").parentElement.innerText.trim(),
            step: Number(document.getElementById("threshold").value),
            event: document.querySelector("#events tr[aria-current=true] button")?.innerText ?? null,
            overlay: [...document.querySelectorAll("[name=overlay]:checked")].map((input) => Number(input.value)),
            shown: document.getElementById("shown-count").innerText,
        })"""
    )


def cells_in_view(page):
    return page.evaluate("dqevalReport.view().map(dqevalReport.axis.cellAt)")


def shown_events(page):
    return page.locator("#events tbody tr:visible th button").all_inner_texts()


# Links ----------------------------------------------------------------------------------------------------------------


def test_a_link_brings_everything_back(opened, file, demo):
    page = opened(file)
    assert link(page) == ""
    page.get_by_role("radio", name="late").check()
    set_step(page, 30)
    page.get_by_role("checkbox", name="jumpy").check()
    page.keyboard.press("n")
    page.get_by_role("checkbox", name="missed").check()
    settle(page)
    page.evaluate("dqevalReport.plots.look([190.25, 260].map(dqevalReport.axis.cellX))")
    settle(page)
    before = chosen(page)
    assert (before["detector"], before["step"], before["overlay"]) == ("late", 30, [2])
    page.wait_for_function("location.hash.includes('zoom=190.25-260')")
    expected = "#detector=late&threshold=0.30&event=1&zoom=190.25-260&overlay=jumpy&outcome=missed"
    assert link(page) == expected
    page.reload()
    page.wait_for_selector("html[data-ready]")
    settle(page)
    assert chosen(page) == before
    assert cells_in_view(page) == pytest.approx([190.25, 260])
    assert link(page) == expected


def test_back_and_forward(opened, file):
    page = opened(file)
    start = page.evaluate("history.length")
    page.get_by_role("radio", name="jumpy").check()
    page.keyboard.press("n")
    page.keyboard.press("n")
    settle(page)
    for step in (20, 21, 22, 23):  # a drag is no stop on the way back
        set_step(page, step)
    assert page.evaluate("history.length") == start + 3
    page.wait_for_function("location.hash.includes('threshold=0.23')")
    seen = []
    for go in (page.go_back, page.go_back, page.go_back, page.go_forward):
        go()
        settle(page)
        seen.append((chosen(page)["detector"], chosen(page)["event"] is not None, link(page)))
    assert seen == [
        ("jumpy", True, "#detector=jumpy&event=1"),
        ("jumpy", False, "#detector=jumpy"),
        ("sharp", False, ""),
        ("jumpy", False, "#detector=jumpy"),
    ]
    assert cells_in_view(page) == [0, 1600]


DAMAGED = [
    "#detector=nobody&threshold=7&event=99&zoom=5-2&overlay=nobody&outcome=odd&loses=x&to=y&budget=-1",
    "#threshold=&event=-1&zoom=1e9-2e9&budget=NaN&%E0%A4%A=1&=",
    "#detector[]=%00&event=1.5&zoom=0-99999&loses=Infinity&budget=1e999",
]


def test_damaged_links_count_as_none(opened, file):
    page = opened(file, DAMAGED[0])
    default = chosen(page)
    assert default == {"detector": "sharp", "step": 51, "event": None, "overlay": [], "shown": "6 of 6 events shown"}
    for damaged in DAMAGED:
        page.evaluate("location.hash = '#event=2&detector=late'")
        settle(page)
        assert chosen(page)["event"] is not None
        page.evaluate("hash => { location.hash = hash; }", damaged)
        settle(page)
        assert chosen(page) == default
        assert cells_in_view(page) == [0, 1600]
        assert link(page) == ""


def test_places_in_the_page_are_no_state_and_links_are_copied(opened, file):
    page = opened(file, "#event=3", permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("location.hash = 'near-heading'")
    settle(page)
    assert chosen(page)["event"] is not None
    assert link(page) == "#event=3"
    for step in (44, 45):
        set_step(page, step)
        page.get_by_role("button", name="Copy link").click()
        page.get_by_text("Link copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == f"{file.as_uri()}#threshold=0.{step}&event=3"
        page.evaluate("document.getElementById('copied').textContent = ''")
        page.evaluate("delete Clipboard.prototype.writeText")  # as in browsers that copy only what is marked
    page.evaluate("document.execCommand = () => false")
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("Copy it from the address bar").wait_for()


def test_odd_names_in_links(opened, tmp_path):
    path = tmp_path / "odd.html"
    names = ["a&b=c#%", "</script><i>", "ü 1/2"]
    labels = [0, 0, 1, 1, 0, 0, 0, 0]
    scores = np.random.RandomState(0).rand(3, 8)
    dqeval.report({"label": labels, **dict(zip(names, scores, strict=True))}, path, near=1, metrics="dqe")
    page = opened(path)
    links = {}
    for name in names:
        page.get_by_role("radio", name=name).check()
        settle(page)
        links[name] = link(page)
    assert len(set(links.values())) == 3
    for name in names:
        page.evaluate("link => { location.hash = link; }", links[name])
        settle(page)
        assert chosen(page)["detector"] == name


# Filters --------------------------------------------------------------------------------------------------------------


def expected_outcomes(series, detector, step):
    detections = min_max(series.scores[detector]) >= grid(100)[step - 1]
    curve = dqeval.evaluate_detections(series.labels, detections, near=24).curve
    return [EVENT_OUTCOMES[outcomes_of(event)[0]] for event in curve.per_event]


def test_events_are_filtered_by_outcome(opened, file, demo):
    page = opened(file)
    every = shown_events(page)
    for detector, step in (("late", 30), ("jumpy", 60), ("jumpy", 97)):
        page.get_by_role("radio", name=detector).check()
        set_step(page, step)
        outcomes = expected_outcomes(demo, detector, step)
        assert page.locator("#events tbody td.text").all_inner_texts() == outcomes
        counts = page.locator("[data-count]").all_inner_texts()
        assert counts == [str(outcomes.count(outcome)) for outcome in EVENT_OUTCOMES]
        for outcome in set(outcomes):
            page.get_by_role("checkbox", name=outcome).check()
            settle(page)
            found = [event for event, its in zip(every, outcomes, strict=True) if its == outcome]
            assert shown_events(page) == found
            assert page.locator("#shown-count").inner_text() == f"{len(found)} of 6 events shown"
            drawn = page.evaluate(
                "Bokeh.documents[0].get_model_by_name('scores-regions').data.alpha.filter(a => a > 0.3)"
            )
            assert len(drawn) == len(found)
            curves = page.evaluate("dqevalReport.model('event-curves').data.xs.length")
            assert curves == len(found)
            page.get_by_role("checkbox", name=outcome).uncheck()
    assert set(OUTCOME_MEANINGS) == set(EVENT_OUTCOMES)


def test_filters_follow_the_threshold_and_keys_follow_the_filters(opened, file, demo):
    page = opened(file)
    every = shown_events(page)
    page.evaluate("location.hash = '#detector=jumpy&outcome=captured&threshold=0.50'")
    for step in (50, 97):
        set_step(page, step)
        outcomes = expected_outcomes(demo, "jumpy", step)
        shown = [event for event, its in zip(every, outcomes, strict=True) if its == EVENT_OUTCOMES[0]]
        assert shown_events(page) == shown
        page.keyboard.press("a")
        visited = []
        for _ in every:
            page.keyboard.press("n")
            settle(page)
            visited.append(chosen(page)["event"])
        assert visited == shown + [shown[-1] if shown else None] * (6 - len(shown))
    page.get_by_role("button", name="Show all events").click()
    settle(page)
    assert shown_events(page) == every
    assert page.get_by_role("button", name="Show all events").is_hidden()


def test_events_are_filtered_by_what_they_lose(opened, file, demo):
    page = opened(file)
    found = dqeval.explain(demo.labels, demo.scores["sharp"], near=24)
    every = shown_events(page)
    page.get_by_label("Loses at least").fill("20")
    settle(page)
    assert shown_events(page) == [
        name for name, event in zip(every, found.events, strict=True) if 1 - event.scores.dqe >= 0.2
    ]
    assert 0 < len(shown_events(page)) < 6
    page.wait_for_function("location.hash === '#loses=0.20'")
    page.get_by_label("Loses at least").fill("0")
    for words, part in (("missed events", "capture"), ("false alarms", "false_alarm"), ("near misses", "near_miss")):
        page.get_by_label("most of it to").select_option(words)
        settle(page)
        expected = [name for name, event in zip(every, found.events, strict=True) if event.costs_most == part]
        assert shown_events(page) == expected
        assert page.locator("#shown-count").inner_text() == f"{len(expected)} of 6 events shown"
    assert link(page) == "#to=near-misses"


# Operators ------------------------------------------------------------------------------------------------------------


def operators(page):
    rows = page.locator("#operators tbody tr").all()
    return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}


def alarms_at(series, detector, step):
    detections = min_max(series.scores[detector]) >= grid(100)[step - 1]
    return dqeval.alarms(series.labels, detections, early=24, resolution="1min")


def test_delays_of_events_at_the_threshold(opened, file, demo):
    page = opened(file)
    for detector, step in (("late", 30), ("jumpy", 20), ("sharp", 90)):
        page.get_by_role("radio", name=detector).check()
        set_step(page, step)
        expected = []
        for delay in alarms_at(demo, detector, step).delays:
            lasting = f"{abs(delay):g} min{' early' if delay < 0 else ''}"
            expected.append("–" if np.isnan(delay) else "at once" if delay == 0 else lasting)
        assert page.locator("#events tbody tr td:nth-child(7)").all_inner_texts() == expected


def test_a_budget_chooses_the_threshold_of_every_detector(opened, file, demo):
    page = opened(file)
    budget = page.get_by_label("Budget of false alarms")
    for position in (0, 2, 5):
        budget.fill(str(position))
        settle(page)
        most = page.evaluate("dqevalReport.page.budgets.counts")[position]
        assert page.locator("#budget-value").inner_text() == f"at most {float(f'{0.9 * most:.3g}'):g} per day"
        for detector, cells in operators(page).items():
            needed = np.maximum.accumulate([alarms_at(demo, detector, step).false_alarms for step in range(100, 0, -1)])
            # No threshold above may have more, of all there are: also between those of the page.
            curve = dqeval.alarm_curve(demo.labels, demo.scores[detector], early=24, resolution="1min")
            exact = np.maximum.accumulate(curve.false_alarms)
            step = min(
                step
                for step in range(1, 101)
                if exact[np.searchsorted(-curve.thresholds, -page_threshold(demo, detector, step), side="right") - 1]
                <= most
            )
            assert needed[100 - step] <= most
            alarms = alarms_at(demo, detector, step)
            assert cells[1] == f"{alarms.detected.sum()} of 6"
            assert cells[3] == f"{float(f'{alarms.false_alarms_per_day:.3g}'):g}"
            assert cells[4] == f"{alarms.time_in_alarm:.2%}".replace("%", " %")
            gain = curve.drawn[exact[curve.drawn] <= most][-1]
            assert cells[5] == f"{curve.detected[gain]} of 6, at {curve.rounded_threshold(gain)}"
        assert page.locator("#threshold-value").inner_text().endswith(f"(score {operators(page)['sharp'][0]})")
    # The address is written after a pause, so it may still be that of a budget before.
    page.wait_for_function(f"location.hash === '#budget={float(f'{0.9 * most:.3g}'):g}'")
    kept = link(page)
    page.get_by_role("radio", name="jumpy").check()  # which keeps the same budget
    settle(page)
    assert link(page) == kept.replace("#", "#detector=jumpy&")
    assert page.locator("#threshold-value").inner_text().endswith(f"(score {operators(page)['jumpy'][0]})")
    before = operators(page)
    page.reload()
    page.wait_for_selector("html[data-ready]")
    settle(page)
    assert operators(page) == before
    set_step(page, 50)  # by hand, and the budget is no longer kept
    page.wait_for_function("location.hash === '#detector=jumpy&threshold=0.50'")
    page.get_by_role("button", name="Suggested").click()
    settle(page)
    assert link(page) == "#detector=jumpy"


def page_threshold(series, detector, step):
    """Return the lowest score that a threshold of the page detects."""
    scores = series.scores[detector]
    return scores[min_max(scores) >= grid(100)[step - 1]].min()


def test_the_plot_of_alarms_chooses_a_budget(opened, file):
    page = opened(file)
    line = "dqevalReport.model('budget-line').location"
    page.locator("#alarm-plot").scroll_into_view_if_needed()
    box = page.locator("#alarm-plot").bounding_box()
    page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + 0.5 * box["height"])
    settle(page)
    assert page.get_by_label("Budget of false alarms").input_value() != "0"
    assert page.evaluate(line) > 0
    assert page.evaluate("pageState.get().budget") > 0


def test_a_detector_that_cannot_keep_the_budget(opened, tmp_path):
    labels = np.arange(400) % 100 < 5
    steady = np.where(np.arange(400) % 10 == 7, 1.0, 0.2) + 0.01 * labels
    path = tmp_path / "alarming.html"
    dqeval.report({"label": labels, "good": labels + 0.1 * (np.arange(400) % 3), "steady": steady}, path, near=2)
    page = opened(path)
    page.get_by_label("Budget of false alarms").fill("0")
    settle(page)
    assert operators(page)["steady"] == ["none", "–", "–", "–", "–", "none"]
    page.get_by_role("radio", name="steady").check()
    settle(page)
    assert page.locator("#budget-words").inner_text() == (
        "steady has more false alarms at every threshold; the highest is shown."
    )
    assert page.locator("#budget-value").inner_text() == "at most 0 per 1,000 points"


# Uncertainty and trust ------------------------------------------------------------------------------------------------


def test_intervals_beside_the_numbers(opened, file, demo):
    page = opened(file)
    found = dqeval.compare(demo, period=48, metrics="dqe")
    rows = page.locator("#summary tbody tr").all()
    for row, (name, panel) in zip(rows, found.panels.items(), strict=True):
        text = row.inner_text()
        assert name in text
        assert str(panel.dqe.interval()) in text
        if name != found.best:
            assert str(found.differences[name]) in text
            assert ("not told apart" in text) == (not found.differences[name].is_told_apart)
    for step in (20, 60):
        set_step(page, step)
        detections = min_max(demo.scores["sharp"]) >= grid(100)[step - 1]
        events = dqeval.evaluate_detections(demo.labels, detections, near=24).per_event
        interval = mean_interval(np.array([event.dqe for event in events]))
        assert page.locator("#mean-interval").inner_text() == str(interval)
    assert page.evaluate("dqevalReport.model('interval-band').data.x.length") == 200


def test_too_few_events_have_no_interval(opened, tmp_path):
    path = tmp_path / "few.html"
    labels = [0, 0, 1, 1, 0, 0, 0, 1]
    dqeval.report({"label": labels, "a": np.arange(8.0), "b": np.arange(8.0)[::-1]}, path, near=1, metrics="dqe")
    page = opened(path)
    assert page.locator("#mean-interval").inner_text() == ""
    assert "too few: 2 events" in page.locator("#summary tbody tr").first.inner_text()
    assert page.locator("#summary .tag").all_inner_texts() == ["not told apart"]
    assert "Only 2 events: from fewer than 5 there is no interval" in page.locator(".trust").inner_text()


# Everyone -------------------------------------------------------------------------------------------------------------


def serious(page, **options):
    """Return what axe-core finds serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, **options).response["violations"]
    return {
        each["id"]: [node["html"][:200] for node in each["nodes"]]
        for each in found
        if each["impact"] in ("serious", "critical")
    }


def test_nothing_serious_for_screen_readers(opened, file):
    page = opened(file, "#event=2&outcome=captured&outcome=missed")
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        settle(page)
        assert serious(page) == {}
    page.emulate_media(color_scheme="light")
    page.evaluate("document.getElementById('threshold').previousElementSibling.remove()")
    assert "label" in serious(page, context=".controls")  # by more than one rule, where axe-core is new


def test_everything_is_reached_by_keyboard(opened, file):
    page = opened(file)
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.name || ''"))
    order = [
        "copy-link",
        "detector",
        "overlay",
        "threshold",
        "outcome",
        "least",
        "trouble",
        "previous",
        "next",
        "budget",
    ]
    positions = [reached.index(name) for name in order]
    assert positions == sorted(positions)


def test_a_phone(opened, file):
    page = opened(file, viewport={"width": 320, "height": 700})
    page.set_viewport_size({"width": 320, "height": 700})
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    wide = """() => [...document.querySelectorAll("main *")]
        .filter((each) => !each.closest(".scroll, svg, .visually-hidden") && each.getBoundingClientRect().right > 321)
        .map((each) => each.outerHTML.slice(0, 90))"""
    assert page.evaluate(wide) == []


def test_paper_has_no_controls_and_all_columns(opened, file):
    page = opened(file, color_scheme="dark")
    page.set_viewport_size({"width": 760, "height": 1000})
    page.emulate_media(media="print", color_scheme="dark")
    settle(page)
    for control in ("#threshold", "#budget", ".filters", "#copy-link", ".pager"):
        assert page.locator(control).is_hidden()
    assert page.evaluate("document.querySelector('#events').scrollWidth") <= 760
    assert page.evaluate("document.querySelector('#summary').scrollWidth") <= 760


def test_without_a_script_there_are_no_dead_controls(chromium, file):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    assert "need JavaScript" in page.locator("noscript").text_content()
    assert page.locator("main input:visible, main button:visible").count() == 0
    assert page.locator("#summary").is_visible()
    assert page.locator(".trust").is_visible()
    context.close()
