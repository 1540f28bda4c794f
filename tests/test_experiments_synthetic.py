"""The experiments on synthetic series: what they find, what they draw, and what is written."""

import csv
import json
from dataclasses import replace
from math import nan, sqrt

import numpy as np
import pytest
from matplotlib import style

import dqeval
from dqeval.core.event_scores import EventScores
from dqeval.core.events import find_events
from dqeval.core.registry import EXPERIMENTS
from dqeval.experiments.cases import _rises_and_falls, paper_cases
from dqeval.experiments.cases import figure as draw_cases
from dqeval.experiments.outcome import (
    OURS,
    PAPER_METRICS,
    PUBLISHED,
    Cell,
    Claim,
    Outcome,
    agreement,
    beside,
    claims_table,
    expected_file,
    expected_numbers,
    metric_header,
)
from dqeval.experiments.scenarios import SCENARIOS, Adjusted, adjust, points
from dqeval.experiments.scenarios import _claim as scenario_claim
from dqeval.experiments.setting import Setting
from dqeval.experiments.sweeps import (
    LONG,
    SCORES,
    SWEEPS,
    Found,
    _by_length,
    _by_number,
    _by_ratio,
    affiliation_gaps,
    place_events,
)
from dqeval.experiments.verdicts import Decision, of_both_forms
from dqeval.render.tables import Table


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What the three experiments find, quickly, and what they tell on the way."""
    told = []
    setting = Setting(folder=tmp_path_factory.mktemp("runs"), quick=True, progress=told.append)
    found = {}
    for name in ("cases", "scenarios", "sweeps"):
        (found[name],) = EXPERIMENTS[name].function(setting)
    return found, told


@pytest.fixture(params=["cases", "scenarios", "sweeps"])
def outcome(request, outcomes):
    return outcomes[0][request.param]


def verdicts(outcome, start=""):
    return {claim.text: claim.holds for claim in outcome.claims if claim.text.startswith(start)}


# What an outcome is


def test_cell_without_a_published_number():
    cell = Cell("cases", "Table 1", "P1", "dqe", 0.126)
    assert (cell.shown, cell.equal, cell.difference) == ("0.13", None, None)
    assert cell.record()["published"] is None


@pytest.mark.parametrize(
    ("ours", "published", "shown", "equal"),
    [
        (0.2043, "0.20", "0.20", True),
        (0.2051, "0.20", "0.21", False),
        (2.0, "2", "2", True),
        (0.1234, "0.123", "0.123", True),
        (-0.0001, "0.00", "0.00", True),
        (nan, "0.20", "nan", False),
    ],
)
def test_cell_beside_a_published_number(ours, published, shown, equal):
    cell = Cell("cases", "Table 1", "P1", "dqe", ours, published)
    assert (cell.shown, cell.equal) == (shown, equal)


def test_cell_differs_by_ours_less_the_published():
    assert Cell("cases", "t", "r", "dqe", 0.25, "0.20").difference == pytest.approx(0.05)
    record = Cell("cases", "t", "r", "dqe", nan, "0.20", PUBLISHED).record()
    assert record == {
        "experiment": "cases",
        "table": "t",
        "row": "r",
        "metric": "dqe",
        "by": "as published",
        "published": 0.2,
        "ours": None,
        "difference": None,
        "equal": False,
        "deviation": None,
        "inside": None,
    }


def test_claim_in_words():
    words = [Claim("2.1", "so it is", holds, "0.5").verdict for holds in (True, False, None)]
    assert words == ["holds", "does not hold here", "cannot be told here"]
    table = claims_table([Claim("2.1", "so it is", True, "0.5")])
    assert table.rows == [("2.1", "so it is", "holds", "0.5")]


def test_agreement_in_words():
    assert agreement([]) == agreement([Cell("e", "t", "r", "dqe", 0.5)]) == ""
    right, wrong = Cell("e", "t", "r", "dqe", 0.5, "0.50"), Cell("e", "t", "r", "dqe", 0.8, "0.50")
    assert agreement([right]) == "Computed by dqeval, as the paper prints them: 1 of 1 number."
    both = agreement([right, wrong, replace(right, by=PUBLISHED)])
    assert both == (
        "Computed by dqeval, as the paper prints them: 1 of 2 numbers; the largest difference is 0.3. "
        "Computed as published, as the paper prints them: 1 of 1 number."
    )
    assert agreement([right, replace(right, ours=nan)]) == (
        "Computed by dqeval, as the paper prints them: 1 of 2 numbers; 1 undefined here."
    )


def test_numbers_beside_one_another():
    assert beside("0.20", None) == beside("0.20", "0.20") == "0.20"
    assert beside("0.20", "0.25") == "0.20 (0.25, −0.05)"
    assert metric_header(["dqe", "range_f1"], "detector") == ("detector", "DQE", "RF")


def small_outcome(**others):
    table = Table(("", "DQE"), [("P1", "0.50")])
    return Outcome("small", "A small outcome", {"Table 1: it": table}, **others)


def test_page_shows_what_there_is():
    assert small_outcome().page().parts[:2] == ["A small outcome", "Table 1: it"]
    assert len(small_outcome().page().parts) == 3
    cells, claims = [Cell("small", "t", "r", "dqe", 0.5, "0.50")], [Claim("2", "so", None, "nothing")]
    parts = small_outcome(cells=cells, claims=claims, notes=["A note."]).page().parts
    assert parts[3:6] == [agreement(cells), "A note.", "Statements, and whether they hold:"]
    assert parts[6:] == ["- cannot be told here: so (section 2). Found: nothing."]
    (part,) = small_outcome(claims=[Claim("appendix A", "so", True, "0.5")]).page().parts[4:]
    assert part == "- holds: so (appendix A). Found: 0.5."


def test_numbers_are_ready_for_json():
    outcome = small_outcome(
        cells=[Cell("small", "t", "r", "dqe", nan, "0.50")], claims=[Claim("2", "so", None, "-")], notes=("A note.",)
    )
    found = json.loads(json.dumps(outcome.numbers(), allow_nan=False))
    assert found["experiment"] == "small"
    assert found["cells"][0]["ours"] is None
    claim = {"experiment": "small", "section": "2", "claim": "so", "holds": None, "found": "-"}
    assert found["claims"] == [{**claim, "verdict": "cannot be told here", "share": None}]
    assert found["notes"] == [{"experiment": "small", "note": "A note."}]


def test_write_without_cells_claims_and_figures(tmp_path):
    written = small_outcome().write(tmp_path / "new")
    assert [path.name for path in written] == [
        "table_1_it.csv",
        "table_1_it.md",
        "table_1_it.tex",
        "report.md",
        "notes.md",
    ]
    assert all(path.parent == tmp_path / "new" / "small" for path in written)
    assert written[0].read_text() == ",DQE\nP1,0.50\n"


@pytest.mark.unmeasured
def test_write(outcome, tmp_path):
    written = outcome.write(tmp_path)
    place = tmp_path / outcome.name
    assert sorted(written) == sorted(place.iterdir())
    with (place / "cells.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    assert [float(cell["ours"]) for cell in cells] == [cell.ours for cell in outcome.cells]
    with (place / "claims.csv").open(newline="") as file:
        claims = list(csv.DictReader(file))
    found = [(claim["statement"], claim["verdict"]) for claim in claims]
    assert found == [(claim.text, claim.verdict) for claim in outcome.claims]
    report = (place / "report.md").read_text()
    assert outcome.title in report
    assert all(note in report for note in outcome.notes)
    for stem in outcome.figures:
        assert f"![{stem}]({stem}.png)" in report
        assert (place / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
        assert (place / f"{stem}.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.unmeasured
def test_the_same_numbers_give_the_same_files(outcomes, tmp_path):
    scenarios = outcomes[0]["scenarios"]
    one, two = scenarios.write(tmp_path / "one"), scenarios.write(tmp_path / "two")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


@pytest.mark.unmeasured
def test_arrows_are_written_for_latex(outcomes, tmp_path):
    outcomes[0]["scenarios"].write(tmp_path)
    text = (tmp_path / "scenarios" / "scores_before_and_after_adjustment.tex").read_text()
    assert r"S\_nm" in text
    assert r"1.00 $\rightarrow$ 0.00" in text


def test_progress_is_told(outcomes):
    told = outcomes[1]
    assert told[0] == "cases: Table 1: coverage"
    assert told[-1] == "sweeps by ratio: 5 of 5"


def test_experiments_are_registered():
    assert EXPERIMENTS["cases"].published == "Tables 1–6"
    assert EXPERIMENTS["scenarios"].published == "Appendix A"
    for name in ("cases", "scenarios", "sweeps"):
        assert EXPERIMENTS[name].summary.endswith(".")


@pytest.mark.parametrize(("name", "axes"), [("cases", 6), ("scenarios", 3), ("sweeps", 6)])
def test_figures(outcomes, name, axes):
    with style.context("default"):
        figure = outcomes[0][name].figures[name]()
        figure.draw_without_rendering()
    assert len(figure.axes) == axes
    assert len(figure.legends) == 1


# The six cases


def test_all_cells_of_the_cases_are_as_published(outcomes):
    cells = outcomes[0]["cases"].cells
    assert len(cells) == 176 == len(expected_numbers("cases"))
    assert [cell for cell in cells if not cell.equal] == []
    assert "as the paper prints them: 176 of 176 numbers" in outcomes[0]["cases"].page().text()


def test_tables_of_the_cases_hold_the_published_numbers(outcomes):
    tables = outcomes[0]["cases"].tables
    assert next(iter(tables)) == "Table 1: coverage"
    assert len(tables) == 6
    published = expected_numbers("cases")
    for title, table in tables.items():
        for row, *cells in table.rows:
            number = title.partition(":")[0]
            assert cells == [published[number, row, metric] for metric in PAPER_METRICS]


def test_the_best_of_a_column_stands_out(outcomes):
    tables = outcomes[0]["cases"].tables
    column = {metric: j for j, metric in enumerate(PAPER_METRICS, start=1)}
    coverage = tables["Table 1: coverage"].marked
    assert (0, column["auc_roc"]) in coverage
    assert (1, column["dqe"]) in coverage
    assert not any(j == column["point_f1"] for _, j in tables["Table 2: proximity"].marked)
    assert not tables["Table 6: random detections"].marked


def test_inputs_of_the_cases():
    cases = {case.table: case for case in paper_cases()}
    given = {each["table"]: each for each in expected_file("cases")["inputs"]}
    assert cases.keys() == given.keys()
    for table, case in cases.items():
        assert len(case.labels) == given[table]["length"]
        assert case.labels.sum() == sum(last - first + 1 for first, last in given[table]["anomalies"])
    np.testing.assert_array_equal(np.flatnonzero(cases["Table 3"].detections["P3"]), [51, 52, 53])
    assert 450 < cases["Table 6"].detections["P"].sum() < 550


def test_claims_of_the_cases(outcomes):
    claims = outcomes[0]["cases"].claims
    assert len(claims) == 13
    assert [claim.text for claim in claims if not claim.holds] == []
    found = {claim.text: claim.found for claim in claims}
    assert found["Table 2: DQE falls from each near miss to the next farther one"] == (
        "P1 0.67, P2 0.50, P3 0.33, P4 0.15"
    )
    (kept,) = (text for text in found if text.startswith("Table 3: DQE falls"))
    assert found[kept] == "P1 1.00, P2 0.98, P3 0.95, P4 0.88, P5 0.82"
    (most,) = (text for text in found if text.startswith("Table 1: most"))
    assert found[most].startswith("7 of 11 metrics: Original-F, AUC-ROC, AUC-PR, PA-K, VUS-ROC")


def test_claims_of_the_cases_can_fail(monkeypatch):
    """A metric that is always the same has no verdict in its favour."""
    always = dict.fromkeys(PAPER_METRICS, 0.5)
    same = type("Same", (), {"values": always})()
    monkeypatch.setattr("dqeval.experiments.cases.panel", lambda *given, **options: same)
    (outcome,) = EXPERIMENTS["cases"].function(Setting(folder=None))
    held = [text for text, holds in verdicts(outcome).items() if holds]
    assert len(held) == 2
    assert all("alike" in text for text in held)


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ((0.1, 0.2, 0.4, 0.3, 0.2), True),
        ((0.2, 0.1, 0.4, 0.3, 0.2), False),
        ((0.1, 0.2, 0.4, 0.2, 0.3), False),
        ((0.1, 0.2, 0.3, 0.4, 0.2), False),
    ],
    ids=["rises and falls", "falls first", "rises again", "highest elsewhere"],
)
def test_a_metric_that_rises_and_then_falls(values, holds):
    of = {f"P{i}": {"pate": value} for i, value in enumerate(values, 1)}
    assert _rises_and_falls(of, "pate", "P3") is holds


def test_claims_that_differ_by_form():
    yes, no = Decision(True, "0.5"), Decision(False, "0.4")
    assert of_both_forms("2", "so", yes, yes) == Claim("2", "so", True, "0.5")
    assert of_both_forms("2", "so", yes, no) == Claim("2", "so", True, "0.5; dqeval: 0.4, where it does not hold")
    assert of_both_forms("2", "so", no, yes) == Claim("2", "so", False, "0.4; dqeval: 0.5, where it holds")
    assert of_both_forms("2", "so", yes, Decision(True, "0.6")) == Claim("2", "so", True, "0.5; dqeval: 0.6")


@pytest.mark.unmeasured
def test_strips_show_events_and_detections():
    with style.context("default"):
        figure = draw_cases(paper_cases())
    third = figure.axes[2]
    assert [label.get_text() for label in third.get_yticklabels()] == ["GT", "P1", "P2", "P3", "P4", "P5"]
    assert third.get_xlim() == (0, 110)


# The appendix's scenarios


def test_scores_of_the_scenarios_by_hand(outcomes):
    found = {(c.table, c.row, c.metric): c.ours for c in outcomes[0]["scenarios"].cells}
    # Near miss [58, 60) of event [45, 55), near 10: closest 3, mean distance 4, duration 2 of 20.
    near_miss = (1 - 3 / 10) * (1 - 4 / 10) * (1 - 2 / 20)
    # False alarm [80, 82) in [0, 35) and [65, 100): 2 of half of 70, a single one.
    burden = 1 - 2 / 35
    by_hand = {
        ("near miss (a)", "P1"): (1, 1, 1, 1, 1, 1, 1, 1),
        ("near miss (a)", "P2"): (0, 0, 1, 0, burden, burden, sqrt(burden / 2), 0),
        ("near miss (b)", "P1"): (1, 1, near_miss, near_miss, 1, 1, *[sqrt((1 + near_miss) / 2)] * 2),
        ("near miss (b)", "P2"): (1, 1, 1, 0, burden, burden, sqrt(burden), sqrt(burden / 2)),
        ("false alarm", "P1"): (1, 1, 1, 1, 1, 1, 1, 1),
        ("false alarm", "P2"): (0, 0, near_miss, near_miss, 1, 1, *[sqrt(near_miss / 2)] * 2),
        ("false alarm", "P3"): (0, 0, 1, 0, 1, 0, sqrt(1 / 2), 0),
    }
    assert len(found) == 8 * len(by_hand)
    for (table, row), scores in by_hand.items():
        columns = [m for name in ("S_cap", "S_nm", "S_fa", "SDQE") for m in (f"{name} before adjustment", name)]
        assert [found[table, row, column] for column in columns] == pytest.approx(scores, abs=1e-12)


def test_claims_of_the_scenarios(outcomes):
    outcome = outcomes[0]["scenarios"]
    assert list(verdicts(outcome).values()) == [True, True, True]
    assert outcome.claims[1].found == "SDQE P1 0.83, P2 0.69; without adjustment P1 0.83, P2 0.97"


def test_without_adjustment_the_scenarios_would_not_hold():
    for scenario in SCENARIOS:
        found = {row: adjust(points(spans)) for row, spans in scenario.detections.items()}
        unadjusted = {row: Adjusted(scores.before, scores.before) for row, scores in found.items()}
        assert scenario_claim(scenario, found).holds
        assert not scenario_claim(scenario, unadjusted).holds


def test_scores_outside_the_empty_pieces_are_not_adjusted():
    everything = adjust(points([(0, 100)]))
    assert everything.before == everything.after
    assert isinstance(everything.after, EventScores)


# The sweeps


@pytest.mark.parametrize(("number", "length", "ratio"), [(2, 10, 0.01), (10, 1, 0.1), (10, 7, 0.1), (10, 10, 0.3)])
def test_events_are_spread_evenly(number, length, ratio):
    both = place_events(number, length, ratio)
    assert len(both.labels) == round(number * length / ratio)
    assert both.labels.mean() == pytest.approx(ratio, rel=1e-2)
    events = find_events(both.labels)
    starts, stops = events.starts, events.stops
    assert (stops - starts).tolist() == [length] * number
    assert len(set(np.diff(starts).tolist())) == 1
    assert np.abs(both.middles + 0.5 - (starts + stops) / 2).max() <= 0.5


def test_table_1_of_the_paper_is_spread_so():
    case = paper_cases()[0]
    both = place_events(5, 40, 200 / 2050)
    np.testing.assert_array_equal(both.labels, case.labels)
    np.testing.assert_array_equal(both.middles, np.flatnonzero(case.detections["P2"]))


def test_sweeps_vary_what_the_paper_varies():
    number, length, ratio = SWEEPS
    assert length.held == {"number": 10, "ratio": 0.1}
    assert list(length.values[:100]) == list(range(1, 101))
    assert list(length.values[100:]) == list(range(200, 2001, 100))
    assert number.held == {"length": 10, "ratio": 0.01}
    assert ratio.held == {"number": 10, "length": 10}
    for sweep in SWEEPS:
        assert set(sweep.shown) <= set(sweep.values)


def test_cells_of_the_sweeps(outcomes):
    outcome = outcomes[0]["sweeps"]
    assert len(outcome.cells) == sum(len(sweep.shown) for sweep in SWEEPS) * 2 * 11
    found = {(c.table, c.row, c.metric): c.ours for c in outcome.cells}
    # One of ten events captured, nothing detected elsewhere: DQE is 1 for it and 0 for the others.
    assert found["By length", "length 2000, score_max", "dqe"] == 1
    assert found["By length", "length 2000, score_gap", "dqe"] == pytest.approx(0.9)
    # One of ten points of every event, all detections right: precision 1, recall 1/10; with one event, 1/100.
    assert found["By ratio", "ratio 0.1, score_max", "point_f1"] == pytest.approx(2 * 0.1 / 1.1)
    assert found["By ratio", "ratio 0.1, score_gap", "point_f1"] == pytest.approx(2 * 0.1 / 1.1 - 2 * 0.01 / 1.01)


def test_table_of_a_sweep(outcomes):
    table = outcomes[0]["sweeps"].tables["By number"]
    assert table.header[:3] == ("number", "score", "Original-F")
    assert [row[:2] for row in table.rows[-4:]] == [
        ("100", "score_gap"),
        ("lowest", "score_gap"),
        ("mean", "score_gap"),
        ("highest", "score_gap"),
    ]
    assert [row[-1] for row in table.rows[-3:]] == ["0.50", "0.85", "0.99"]


def test_claims_of_the_sweeps(outcomes):
    outcome = outcomes[0]["sweeps"]
    largest = [claim for claim in outcome.claims if "DQE has the largest" in claim.text]
    assert [claim.found.partition(";")[0] for claim in largest] == [f"at {n} of {n} values" for n in (6, 8, 5)]
    failing = [text for text, holds in verdicts(outcome).items() if not holds]
    assert failing == ["length: score_gap of AF does not collapse, but is unstable"]
    (collapsed,) = (claim for claim in outcome.claims if "shrinks to near zero" in claim.text)
    assert collapsed.text.endswith("as events grow to 20 and more (here for all four from 50 on)")
    assert collapsed.found.startswith(
        "Original-F 0.085 at 20, 0.001 at 2000, below 0.05 from 50 on; VUS-PR 0.044 at 20"
    )


@pytest.mark.parametrize(
    ("metric", "at_long", "holds"),
    [("pate", 0.6, True), ("pate", 0.99, False), ("auc_pr", 0.51, False), ("affiliation_f1", 0.9, False)],
)
def test_what_has_dropped_where_events_are_long(metric, at_long, holds):
    """Three metrics by more than half, all others but AF and DQE by something."""
    long = dict.fromkeys(PAPER_METRICS, 0.4) | {"affiliation_f1": 0.98, "dqe": 1.0} | {metric: at_long}
    scores = {score: {m: np.array([1.0, long[m], 1.0]) for m in PAPER_METRICS} for score in SCORES}
    dropped = next(_by_length(Found(SWEEPS[1], np.array([1.0, LONG, 100.0]), scores)))
    assert dropped.holds is holds


def test_gaps_of_af_by_what_is_detected(outcomes):
    found = np.array([affiliation_gaps(length) for length in SWEEPS[1].shown])
    assert found.shape == (len(SWEEPS[1].shown), 3 * 3)
    (note,) = (note for note in outcomes[0]["sweeps"].notes if "AF depends little" in note)
    assert f"between {found.min():.3f} and {found.max():.3f}" in note
    assert "between 0.776 and 0.818; for any one of these choices it moves with the length by 0.042 at most" in note
    gaps = {(c.row, c.metric): c.ours for c in outcomes[0]["sweeps"].cells if c.table == "By length"}
    of_sweep = [gaps[f"length {length}, score_gap", "affiliation_f1"] for length in SWEEPS[1].shown]
    assert found[:, 3] == pytest.approx(of_sweep)  # middle points, and the first event alone


def test_claims_of_the_sweeps_can_fail():
    """Where all metrics are alike, wide and stable, what the paper says of their differences does not hold."""
    flat = {score: {metric: np.full(3, 0.5) for metric in PAPER_METRICS} for score in SCORES}
    found = Found(SWEEPS[1], np.array([1.0, 20.0, 100.0]), flat)
    assert [claim.holds for claim in _by_number(found)] == [True, False]
    dropped, collapsed, *unstable, largest, _ = _by_length(found)
    assert not any(claim.holds for claim in (dropped, collapsed, *unstable, largest))
    assert "below" not in collapsed.found
    assert [claim.holds for claim in _by_ratio(found)] == [True, False]


def test_gaps_that_are_near_zero_everywhere():
    scores = {score: {metric: np.zeros(3) for metric in PAPER_METRICS} for score in SCORES}
    collapsed = list(_by_length(Found(SWEEPS[1], np.array([1.0, 20.0, 100.0]), scores)))[1]
    assert collapsed.holds
    assert "Original-F 0.000 at 20, 0.000 at 100, below 0.05 from 1 on" in collapsed.found


def test_by_whom_a_number_is():
    assert (OURS, PUBLISHED) == ("dqeval", "as published")


# Cases of the authors' later code, and the figure of locality


@pytest.fixture(scope="module")
def more():
    return next(EXPERIMENTS["more-cases"].function(Setting(folder=None)))


def test_later_cases_have_no_printed_numbers(more):
    assert {cell.published for cell in more.cells} == {None}
    assert len(more.cells) == 11 * (2 + 4 + 2)
    values = {(cell.table, cell.row): cell.ours for cell in more.cells if cell.metric == "dqe"}
    labels, one, five = np.zeros(300), np.zeros(300), np.zeros(300)
    labels[100:120] = one[121] = 1
    five[[121, 123, 125, 127, 129]] = 1
    assert values["Near-miss grouping", "P1"] == dqeval.dqe_score(labels, one, near=20)
    assert values["Near-miss grouping", "P2"] == dqeval.dqe_score(labels, five, near=20)
    assert values["Coverage, more events", "points"] == 1
    assert [claim.holds for claim in more.claims if claim.section == "later code"] == [True, True, True]


def test_one_late_answer_and_three_more(more):
    rows = {row[:2]: row[2:] for row in more.tables["Locality and integrity"].rows}
    labels, first = np.zeros(200), np.zeros(200)
    for start in (30, 90, 160):
        labels[start : start + 10] = 1
    first[102:104] = 1
    alone = dqeval.evaluate_detections(labels, first, near=10).per_event[1]
    parts = ("capture", "near_miss", "false_alarm", "dqe")
    assert rows["p1 alone", "a2"] == tuple(f"{getattr(alone, part):.2f}" for part in parts)
    assert [claim.holds for claim in more.claims if claim.section == "3.2"] == [True, True, True]
    for name in ("locality", "partition"):
        (axes,) = more.figures[name]().axes
        assert axes.get_xlabel() == "time in points"


def test_groups_of_the_partition(more):
    groups = [row[2] for row in more.tables["Groups of the partition"].rows]
    assert groups == ["p1, p2", "p3, p4", "p5, p6", "p7, p8", "p9, p10"]


def test_detections_of_a_fifth_of_an_event(more):
    table = more.tables["A fifth of an event"]
    rows = {row[0]: dict(zip(table.header[1:], map(float, row[1:]), strict=True)) for row in table.rows}
    labels, middle = np.zeros(200), np.zeros(200)
    labels[90:110] = middle[98:102] = 1
    assert rows["middle"]["Original-F"] == pytest.approx(dqeval.metrics.point_f1(labels, middle), abs=0.005)
    assert {row["DQE"] for row in rows.values()} == {1.0}
    assert [claim.holds for claim in more.claims if claim.section == "2.1"] == [True]
