"""Which properties metrics have: cases, laws by hand, known answers, and metrics that fail, hang or are slow."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import product

import pytest

import dqeval
from commands import caller
from dqeval.core.registry import METRICS
from dqeval.lab.answers import Answer, Example, Point, Violations, in_digits
from dqeval.lab.cases import Case, every_detection, every_score, one_event_one_alarm, random_cases, runs, simplified
from dqeval.lab.judge import CannotJudgeError, Judge
from dqeval.lab.matrix import QUESTIONS, _kept, _Task, _with_violations, examine
from dqeval.lab.measures import MEASURES
from dqeval.lab.paper_rows import PAPER_ROWS, _tables
from dqeval.lab.properties import PROPERTIES
from dqeval.lab.search import Budget, search, violations


@pytest.fixture
def call(monkeypatch, capsys):
    return caller(monkeypatch, capsys)


SMALL = Budget(points=4, one_alarm_points=6, longest=2, scored_points=3, examples=20)


def case(labels, found, near=2):
    """Return a case from strips."""
    return Case(tuple(int(mark == "#") for mark in labels), tuple(int(mark == "^") for mark in found), near)


def changed(name, labels, found, near=2):
    """Return the strips of what a property compares a case with."""
    return [each.strips() for each in PROPERTIES[name].changes(case(labels, found, near))]


def test_runs():
    assert runs((0, 1, 1, 0, 2)) == [range(1, 3), range(4, 5)]
    assert runs(()) == []


def test_every_detection_is_there_once():
    found = list(every_detection(3, 1))
    labels = {flags for flags in product((0, 1), repeat=3) if 0 < sum(flags) < 3}
    assert len(found) == len(set(found)) == len(labels) * 8
    assert {each.labels for each in found} == labels


def test_one_event_and_at_most_one_alarm():
    found = list(one_event_one_alarm(5, 2, longest=2))
    assert len(found) == len(set(found)) == 9 * 10
    assert all(len(each.events) == 1 and len(each.alarms) <= 1 for each in found)


def test_scores_have_no_unused_levels():
    found = {each.found for each in every_score(2, 1, levels=3)}
    assert found == {(0, 0), (0, 1), (1, 0)}


def test_random_cases_are_the_same_every_time_and_have_both_labels():
    found = random_cases("detections", 50)
    random_cases.cache_clear()
    assert found == random_cases("detections", 50)
    assert all(len(set(each.labels)) == 2 for each in found)
    assert max(max(each.found) for each in random_cases("scores", 20)) > 1


def test_simpler_cases_are_shorter_nearer_or_lower():
    given = Case((0, 0, 1, 0), (0, 1, 3, 0), 2)
    for simpler in simplified(given):
        assert len(set(simpler.labels)) == 2
        assert (len(simpler), simpler.near, sum(simpler.found)) < (len(given), given.near, sum(given.found))


@pytest.mark.parametrize(
    ("name", "labels", "found", "expected"),
    [
        ("more-captured", ".##.#", ".^...", [(".##.#", ".^^..")]),
        ("event-more", ".##.#", ".^...", [(".##.#", ".^..^")]),
        ("right-removed", ".##.", "^.^.", [(".##.", "^...")]),
        ("right-removed", ".##.", ".^^.", []),
        ("nearer-miss", "..#", "^..", [("..#", ".^.")]),
        ("nearer-miss", "#..", "..^", [("#..", ".^.")]),
        ("nearer-miss", "#.", ".^", []),
        ("nearer-miss", "#...", "...^", []),
        ("nearer-miss", "#.#", ".^.", []),
        ("longer-false-alarm", "#.....", "....^.", [("#.....", "...^^."), ("#.....", "....^^")]),
        ("longer-false-alarm", "#....", "...^.", [("#....", "...^^")]),
        ("longer-false-alarm", "#......", "...^.^.", [("#......", "...^.^^")]),
        ("more-false-alarms", "#.....", "......", [("#.....", "...^.."), ("#.....", "....^."), ("#.....", ".....^")]),
        ("more-false-alarms", "#.....", "...^..", [("#.....", "...^.^")]),
        ("wrong-added", ".#.", "^..", [(".#.", "^.^")]),
        ("wrong-beside-hits", ".#.", "^..", []),
        ("wrong-beside-hits", ".#.", ".^.", [(".#.", "^^."), (".#.", ".^^")]),
        ("long-or-short", "#.......", "....^^^.", [("#.......", "...^.^.^")]),
        ("long-or-short", "#......", "...^^^.", []),
        ("long-or-short", "#.......", "....^^..", []),
        ("long-or-short", "#.........", "....^^^.^.", []),
        ("perfect-best", ".#.", ".^.", [(".#.", ".^.")]),
        ("perfect-best", ".#.", "...", []),
        ("perfect-alone", ".#.", "^..", [(".#.", ".^.")]),
        ("perfect-alone", ".#.", ".^.", []),
        ("silent-worst", ".#.", "^..", [(".#.", "...")]),
        ("silent-worst", ".#.", "...", []),
        ("silence-or-false-alarm", "#...", "....", [("#...", "...^")]),
        ("silence-or-false-alarm", "#...", "...^", []),
        ("appended", ".#", "^.", [(".#.", "^.."), (".#..", "^...")]),
        ("duplicated", ".#.", "...", [(".#..#.", "......")]),
        ("duplicated", ".#.", "^..", []),
        ("reversed", ".##", "^..", [("##.", "..^")]),
        ("ratio", ".#", ".^", [("..#", "..^")]),
        ("ratio", ".#", "^.", [("..#", "^^.")]),
        ("split", "###.", "^^^.", [("#.#.", "^^^.")]),
        ("split", "###.", "^.^.", []),
        ("denser", ".#", "^.", [("..##", "^^..")]),
        ("order", ".##..#.", "..^....", [(".#..##.", ".....^.")]),
        ("order", ".#...#.", ".......", []),
        ("order", ".#..#.", "^.....", []),
        ("first-or-last", ".##.", ".^..", [(".##.", "..^.")]),
        ("first-or-last", ".##.", ".^^.", []),
        ("first-or-last", ".##", ".^.", []),
        ("first-or-last", ".##.#", ".^...", []),
        ("early-or-late", ".#.", "^..", [(".#.", "..^")]),
        ("early-or-late", ".#.", "..^", []),
        ("early-or-late", "..#.", ".^..", []),
    ],
)
def test_what_a_property_compares_a_case_with(name, labels, found, expected):
    assert changed(name, labels, found) == expected


def test_scores_keep_their_order():
    (far, squared) = PROPERTIES["increasing"].changes(Case((0, 1, 0), (1, 3, 2), 1))
    assert (far.found, squared.found) == ((1, 1000, 2), (1, 9, 4))
    assert not list(PROPERTIES["increasing"].changes(Case((0, 1), (0, 1), 1)))


def test_sampling_twice_as_densely_doubles_the_near_range():
    (found,) = PROPERTIES["denser"].changes(case(".#", "^.", near=3))
    assert found.near == 6


def test_every_question_says_what_it_is():
    assert list(QUESTIONS) == [*PROPERTIES, *PAPER_ROWS, *MEASURES]
    for question in QUESTIONS.values():
        assert question.definition.endswith(".")
        assert question.title
        assert question.group


@pytest.mark.parametrize(
    ("relation", "values", "holds"),
    [
        ("higher", (0.5, 0.5), False),
        ("higher", (0.5, 0.6), True),
        ("never higher", (0.5, 0.5), True),
        ("never higher", (0.5, 0.6), False),
        ("never lower", (0.5, 0.4), False),
        ("never lower", (0.5, 0.5), True),
        ("equal", (0.5, 0.5 + 1e-12), True),
        ("equal", (0.5, 0.6), False),
        ("perfect", (1.0, 1.0), True),
        ("perfect", (0.9, 0.9), False),
    ],
)
def test_relations(relation, values, holds):
    law = next(each for each in PROPERTIES.values() if each.relation == relation)
    assert law.holds(*values, 1.0) is holds


def law_answer(metric, name, budget=SMALL):
    return search(PROPERTIES[name], Judge(METRICS[metric], 1000), budget).examples


@pytest.mark.parametrize(
    ("metric", "law", "holds"),
    [
        ("dqe", "increasing", False),
        ("dqe_log_rank", "increasing", True),
        ("auc_pr", "increasing", True),
        ("auc_roc", "increasing", True),
        ("dqe", "wrong-added", False),
        ("dqe", "wrong-beside-hits", False),
        ("auc_pr", "wrong-added", True),
        ("affiliation_f1", "more-false-alarms", False),
        ("point_adjusted_f1", "perfect-alone", False),
        ("point_f1", "perfect-alone", True),
        ("point_f1", "nearer-miss", False),
        ("dqe", "nearer-miss", True),
        ("auc_roc", "ratio", True),
        ("auc_pr", "ratio", False),
        ("point_f1", "ratio", False),
        ("vus_roc", "nearer-miss", False),
    ],
)
def test_known_answers(metric, law, holds):
    assert (not law_answer(metric, law)) is holds


def test_a_counter_example_is_the_shortest_there_is():
    (found,) = law_answer("dqe", "wrong-beside-hits")
    shorter = [each for length in range(1, len(found.before)) for each in every_detection(length, 2)]
    judge = Judge(METRICS["dqe"], 1000)
    for before in shorter:
        for after in PROPERTIES["wrong-beside-hits"].changes(before):
            assert judge.value(after) <= judge.value(before) + 1e-9
    assert found.values == (judge.value(found.before), judge.value(found.after))


def test_random_series_show_what_short_ones_do_not():
    budget = Budget(points=2, one_alarm_points=3, longest=1, examples=100)
    assert not law_answer("dqe", "event-more", Budget(points=2, one_alarm_points=3, longest=1, examples=0))
    (found,) = law_answer("dqe", "event-more", budget)
    assert len(found.before) == 3
    assert found.values[0] == found.values[1]


def test_what_longer_series_show_is_shortened():
    """Of twelve points, a few are enough; the shortest may have another near range than the short series."""
    (found,) = law_answer("vus_roc", "nearer-miss", Budget(points=2, one_alarm_points=12, longest=3, examples=0))
    assert len(found.before) < 12
    (found,) = law_answer("affiliation_f1", "more-false-alarms")
    assert (len(found.before), found.before.near) == (3, 1)


def test_detections_everywhere_are_left_out_where_they_are_taken_for_silence():
    """To a metric of scores, they are a constant. DQE sees them all the same, and a metric of detections does."""
    everywhere = case(".##", "^^^")
    for metric in ("dqe_log_rank", "auc_roc", "auc_pr"):
        assert Judge(METRICS[metric], 1000).value(everywhere) != Judge(METRICS[metric], 1000).value(everywhere)
    assert Judge(METRICS["dqe"], 1000).value(everywhere) > 0.8
    assert Judge(METRICS["point_f1"], 1000).value(everywhere) == pytest.approx(0.8)
    assert not law_answer("dqe_log_rank", "more-captured")


@pytest.mark.unmeasured
def test_the_direction_that_names_a_preference_is_shown_before_what_is_alike():
    (answer,) = dqeval.properties(["dqe"], questions=["long-or-short"]).answers
    assert [example.direction for example in answer.examples] == [-1, 0]


@pytest.mark.parametrize("name", PROPERTIES)
def test_random_series_are_such_that_every_property_says_something_of_some(name):
    law = PROPERTIES[name]
    applicable = [each for each in random_cases(law.takes, 200) if any(True for _ in law.changes(each))]
    assert len(applicable) >= 5


def test_what_is_counted_in_points_is_the_near_range_in_short_series():
    """Seven points of delay, or a tolerance of a hundred, would hide everything."""
    late = case("...####...", "......^...")
    assert Judge(METRICS["delay_point_adjusted_f1"], 1000).value(late) == 0
    far = Case((1, *[0] * 11), (*[0] * 11, 1), 2)
    assert Judge(METRICS["ucr_score"], 1000).value(far) == 0


def test_answers_say_what_was_tried():
    found = dqeval.properties(["auc_roc"], questions=["increasing", "denser"], examples=3)
    assert [answer.word for answer in found.answers] == ["yes", "yes"]
    assert "all series of up to 4 points with scores of four levels, and 3 random longer ones" in found.answers[0].scope
    assert "all series of up to 6 points, and 3 random longer ones" in found.answers[1].scope
    assert found.answers[1].scope.endswith("; the short ones have near 2, and all but the longest also 1")
    text = str(found)
    assert "yes: no counter-example was found; this is not a proof. It was searched, for\n" in text
    assert f"denser: among {found.questions[1].scope}." in text
    assert found.numbers()["properties"][1]["scope"] == found.questions[1].scope


def test_there_is_nothing_to_say_of_a_yes_where_there_is_none():
    assert "yes:" not in str(dqeval.properties(["auc_pr"], questions=["ratio", "coverage", "lag"], examples=0))


@pytest.mark.unmeasured
def test_what_it_prefers_may_need_longer_series():
    """A captured event, and a false alarm of three points with room beside it."""
    (answer,) = dqeval.properties(["dqe"], questions=["long-or-short"]).answers
    assert answer.word == "one long"
    assert "and it falls from" in answer.sentence


def test_the_best_value_that_is_not_reached_is_named(registered):
    dqeval.metric(takes="detections", label="Half", name="half")(lambda y_true, y_pred: 0.5)
    (answer,) = dqeval.properties(["half"], questions=["perfect-best"], examples=0).answers
    assert answer.sentence == "What is detected are exactly the events, and it is 0.5, not 1."


def test_what_fails_is_told_in_short(registered):
    dqeval.metric(takes="detections", label="Bad", name="bad")(lambda y_true, y_pred: 1 / 0)
    assert len(dqeval.properties(["bad"], questions=["coverage"]).answers[0].sentence) < 300


def test_an_example_is_drawn():
    before = Case((0, 1, 1, 1, 0), (0, 1, 1, 1, 0), 1)
    lines = Example(before, before.with_labels((0, 1, 0, 1, 0)), (1.0, 0.94)).lines()
    assert lines == ["labels  .###.", "before  .^^^.  1", "labels  .#.#.", "after   .^^^.  0.94", "near 1"]
    twice = Case((0, 0, 1, 1), (1, 1, 0, 0), 2)
    assert Example(Case((0, 1), (1, 0), 1), twice, (0.5, 0.5)).lines()[-1] == "near 1, then 2"
    assert Example(before, before, (0.5, 0.5)).lines() == ["labels  .###.", "found   .^^^.  0.5", "near 1"]


def test_a_long_example_says_where_everything_is():
    labels = (0,) * 50 + (1,) * 10 + (0,) * 40
    found = (1, 0) * 50
    lines = Example(Case(labels, (0,) * 100, 5), Case(labels, found, 5), (0.0, 0.1)).lines()
    assert lines[0] == "labels  [50, 60) of 100 points"
    assert lines[1].startswith("before  nothing")
    assert "[14, 15) and 42 more" in lines[2]


def test_digits():
    assert [in_digits(value) for value in (0.5, 1.0, 0.0, 0.0123456, 0.9996, -0.25)] == [
        "0.5",
        "1",
        "0",
        "0.0123",
        "1",
        "-0.25",
    ]


def test_measures_of_a_metric():
    found = dqeval.properties(["auc_roc"], questions=list(MEASURES))
    assert found.answer("auc_roc", "chance-density").word == "flat at 0.5"
    curve = found.answer("auc_roc", "chance-density").curve
    assert [point.at for point in curve][:2] == [0.01, 0.02]
    assert all(abs(point.mean - 0.5) < 0.05 for point in curve)
    assert float(found.answer("auc_roc", "label-jitter").word) > 0
    assert [point.at for point in found.answer("auc_roc", "lag").curve] == [1, 6, 12]
    assert re.fullmatch(r"[0-6] of 6", found.answer("auc_roc", "told-apart").word)


def test_random_detections_peak_where_the_paper_does_not_look():
    """In the layout of the paper's Table 6, DQE of random detections depends on how many there are."""
    curve = {point.at: point for point in dqeval.properties(["dqe"], questions=["chance-density"]).answers[0].curve}
    best = max(curve.values(), key=lambda point: point.mean)
    assert best.at == 0.1
    assert best.mean == pytest.approx(0.41, abs=0.03)
    assert curve[0.5].mean < 0.03


def test_what_is_undefined_is_said():
    found = dqeval.properties(["ucr_score"], questions=["split", "overlap", "label-jitter", "lag", "told-apart"])
    assert {answer.word for answer in found.answers} == {"undefined"}
    assert dqeval.properties(["ucr_score"], questions=["chance-count"]).answers[0].word == "undefined"


def test_the_papers_preferences():
    _tables.cache_clear()  # which tests of the documentation have filled when they were found
    found = dqeval.properties(["dqe", "affiliation_f1"], questions=list(PAPER_ROWS))
    assert all(found.answer("dqe", row).holds for row in PAPER_ROWS)
    against = found.answer("affiliation_f1", "overlap")
    assert against.holds is False
    assert against.examples[0].values[0] > against.examples[0].values[1]
    assert against.sentence.startswith("From the worst up")


def share_of_hits(y_true, y_pred):
    """Return the share of anomalous points that are detected."""
    return y_pred[y_true == 1].mean()


@pytest.fixture
def registered(monkeypatch):
    """Register a metric, and let a test register more; all are gone afterwards."""
    monkeypatch.setattr(METRICS, "_entries", dict(METRICS._entries))
    dqeval.metric(takes="detections", label="Share")(share_of_hits)


@pytest.mark.unmeasured
def test_a_metric_of_ones_own(registered):
    names = ["more-captured", "more-false-alarms", "wrong-added", "perfect-alone"]
    found = dqeval.properties("share_of_hits", questions=names, examples=10)
    assert [answer.word for answer in found.answers] == ["yes", "yes", "yes", "no"]
    assert " comparisons among all series of up to 7 points" in found.answers[0].sentence


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (lambda y_true, y_pred: 1 / (int(y_pred.sum()) - 1), "ZeroDivisionError: division by zero"),
        (lambda y_true, y_pred: float("nan"), "it returned nan"),
        (lambda y_true, y_pred: sys.exit(3), "SystemExit: 3"),
    ],
)
def test_a_metric_that_fails(registered, result, sentence):
    dqeval.metric(takes="detections", label="Bad", name="bad")(result)
    found = dqeval.properties(["bad"], questions=["more-captured"])
    assert found.answers[0].word == "error"
    assert re.search(sentence, found.answers[0].sentence)
    assert "Bad fails for labels" in str(found)


def test_a_metric_that_is_slow(registered):
    times = iter(range(10_000))
    judge = Judge(METRICS["share_of_hits"], seconds=5, clock=lambda: next(times))
    with pytest.raises(CannotJudgeError, match="Share took more than 5 s, so the rest was left out") as error:
        search(PROPERTIES["more-captured"], judge, SMALL)
    assert error.value.word == "too slow"


def test_a_metric_that_says_something_else_each_time(registered):
    values = iter(range(1_000_000))
    dqeval.metric(takes="detections", label="Odd", name="odd")(lambda y_true, y_pred: next(values))
    found = dqeval.properties(["odd"], questions=["wrong-added", "coverage"], examples=0)
    assert [answer.word for answer in found.answers] == ["error", "yes"]
    assert found.answers[0].sentence.startswith("Odd gives 0 for labels .# and .., near 2, and ")
    assert found.answers[0].sentence.endswith(" when it is asked again.")


def ticking(monkeypatch):
    """Let every look at the clock take a second, and return how many there were."""
    times = []

    def clock():
        times.append(1)
        return len(times)

    monkeypatch.setattr("dqeval.lab.matrix.Judge", lambda metric, seconds: Judge(metric, seconds, clock=clock))
    return times


def test_a_slow_metric_is_refuted_where_that_is_quick(registered, monkeypatch):
    """One question alone would take all the time, and is tried for half of it first."""
    ticking(monkeypatch)
    asked = ["more-captured", "perfect-alone"]
    found = dqeval.properties(["share_of_hits"], questions=asked, examples=0, seconds=500)
    assert [answer.word for answer in found.answers] == ["too slow", "no"]


@pytest.mark.unmeasured
def test_what_needs_more_than_its_share_gets_what_is_left(registered, monkeypatch):
    times = ticking(monkeypatch)
    asked = {"questions": ["appended", "perfect-best", "perfect-alone", "order"], "examples": 0}
    dqeval.properties(["share_of_hits"], questions=["appended"], examples=0, seconds=1_000_000)
    found = dqeval.properties(["share_of_hits"], **asked, seconds=2 * len(times))
    assert [answer.word for answer in found.answers] == ["yes", "yes", "no", "yes"]


HANGING = '''
import time
import dqeval

@dqeval.metric(takes="detections", label="Hangs")
def hangs(y_true, y_pred):
    """Hang."""
    if len(y_true) > 12:
        time.sleep(1000)
    return 1.0

@dqeval.metric(takes="detections", label="Fine")
def fine(y_true, y_pred):
    """Return a number."""
    return 1.0
'''


@pytest.mark.unmeasured
def test_a_metric_that_hangs_does_no_harm(tmp_path):
    (tmp_path / "own.py").write_text(HANGING)
    command = [sys.executable, "-m", "dqeval", "properties", "hangs", "fine", "--module", "own.py", "--workers", "2"]
    command += ["--seconds", "1", "--question", "event-more", "--question", "coverage", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    answers = {(answer["metric"], answer["question"]): answer for answer in json.loads(done.stdout)["answers"]}
    assert answers["hangs", "event-more"]["answer"] == "no"  # answered before it hung
    assert answers["hangs", "coverage"]["answer"] == "too slow"
    assert "took longer than the limit" in answers["hangs", "coverage"]["sentence"]
    assert answers["fine", "coverage"]["answer"] == "no"


def test_answers_are_kept_where_there_is_a_place_for_them(tmp_path):
    task = _Task("auc_pr", ("coverage", "proximity"), Budget(examples=0), 100, ())
    answers = examine(task)
    assert [answer.question for answer in answers] == ["coverage", "proximity"]
    assert _kept(task) == {}
    kept = replace(task, kept=str(tmp_path / "answers"))
    assert _kept(kept) == {}
    assert examine(kept) == answers
    assert list(_kept(kept).values()) == answers


@pytest.mark.unmeasured
def test_processes_give_what_this_one_gives():
    asked = {"questions": ["wrong-beside-hits", "coverage"], "examples": 5}
    assert dqeval.properties(["dqe"], workers=1, **asked) == dqeval.properties(["dqe"], **asked)


def test_a_process_that_fails_is_said(tmp_path):
    found = dqeval.properties(["auc_pr"], questions=["coverage"], workers=1, modules=[str(tmp_path / "none.py")])
    assert found.answers[0].word == "error"
    assert re.fullmatch(
        "AUC-PR could not be examined any further: .*there is no such file.*[.]", found.answers[0].sentence
    )


def test_progress():
    told = []
    dqeval.properties(["auc_pr", "dqe"], questions=["coverage"], progress=lambda *done: told.append(done))
    assert told == [(1, 2), (2, 2)]


def test_what_cannot_be_asked():
    with pytest.raises(ValueError, match=r"the list of questions has no 'wrong-add': did you mean 'wrong-added'\?"):
        dqeval.properties(["dqe"], questions=["wrong-add"])
    with pytest.raises(ValueError, match="questions is empty: name at least one property, or leave it out"):
        dqeval.properties(["dqe"], questions=[])
    with pytest.raises(ValueError, match="seconds must be a finite number above 0"):
        dqeval.properties(["dqe"], seconds=0)
    with pytest.raises(KeyError, match="dqe was not asked for order"):
        dqeval.properties(["dqe"], questions=["coverage"]).answer("dqe", "order")


@pytest.fixture(scope="module")
def matrix():
    names = ["wrong-beside-hits", "long-or-short", "coverage", "chance-density"]
    return dqeval.properties(["dqe", "auc_pr"], questions=names, examples=0)


def test_the_matrix_as_text(matrix):
    text = str(matrix)
    assert "wrong-beside-hits: A wrong detection never raises it, with every event detected" in text
    assert "DQE, wrong-beside-hits: no. A normal point is detected, and it rises from 0.74 to 0.791." in text
    assert "```text\nlabels  ..#\nbefore  ^.^  0.74\n" in matrix.page().markdown()
    assert "\\begin{verbatim}\nlabels  ..#\n" in matrix.page().latex()
    assert "<pre>labels  ..#<br>before  ^.^  0.74<br>" in matrix.page().html()
    assert "labels  ..#" in text
    assert "AUC-PR, chance-density: It is" in text
    assert matrix._repr_html_() == matrix.page().html()


def test_many_metrics_are_shown_without_counter_examples():
    found = dqeval.properties(["dqe", "auc_pr", "auc_roc", "point_f1"], questions=["coverage"])
    assert "Counter-examples are shown for up to 3 metrics" in str(found)
    assert "labels" not in str(found)
    assert "labels" in found.page(examples=True).text()
    assert "are shown for" not in found.page(examples=False).text()


def test_the_matrix_as_tables(matrix):
    frame = matrix.to_frame()
    assert list(frame.columns) == ["metric", "property", "answer", "sentence", "scope"]
    assert len(frame) == 8
    assert "comparisons among all series of up to 7 points" in matrix.records()[0]["scope"]
    numbers = json.loads(json.dumps(matrix.numbers(), allow_nan=False))
    assert numbers["answers"][0]["examples"][0]["before"]["labels"] == [0, 0, 1]


def test_the_page(matrix):
    page = matrix.html_page()
    assert page.count("popovertarget=") == page.count("<div popover ") == 8
    assert 'id="dqe--wrong-beside-hits"' in page
    assert "before  ^.^  0.74" in page


def test_a_click_shows_the_counter_example(chromium, matrix, tmp_path):
    path = tmp_path / "properties.html"
    path.write_text(matrix.html_page(), encoding="utf-8")
    page = chromium.new_page(viewport={"width": 320, "height": 800})
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    example = page.locator("#dqe--wrong-beside-hits")
    assert not example.is_visible()
    page.get_by_role("row", name="DQE no").get_by_role("button", name="no").first.click()
    assert example.is_visible()
    assert "before  ^.^  0.74" in example.inner_text()
    page.keyboard.press("Escape")
    assert not example.is_visible()
    assert requests == [path.as_uri()]


def test_names_are_escaped_on_the_page(registered):
    dqeval.metric(takes="detections", label="<b>&", name="odd")(lambda y_true, y_pred: 1.0)
    assert "&lt;b&gt;&amp;" in dqeval.properties(["odd"], questions=["coverage"]).html_page()


def test_a_flat_curve_below_zero_has_no_bar():
    from dqeval.lab.property_page import _detail

    shown = _detail("A", Answer("a", "q", "w", curve=(Point(1, -2.0, 0.1), Point(2, 1.0, 0.1))))
    assert [point["width"] for point in shown["curve"]] == [0, 50]


def test_the_command(call, tmp_path):
    page = tmp_path / "matrix.html"
    asked = ("properties", "auc_pr", "--question", "coverage,order", "--examples", "5", "--workers", "0")
    assert "AUC-PR, coverage: no." in call(*asked).out
    done = call(*asked, "--html", page)
    assert (done.out, done.err) == ("", f"dqeval: wrote {page}\n")
    assert "popovertarget" in page.read_text(encoding="utf-8")
    both = call(*asked, "--html", page, "--format", "csv").out
    assert both.splitlines()[0] == "metric,property,answer,sentence,scope"
    assert json.loads(call(*asked, "--format", "json").out)["answers"][0]["holds"] is False
    assert "should end with .html" in call(*asked, "--html", tmp_path / "matrix.pdf").err
    assert "did you mean 'auc_pr'?" in call("properties", "auc_pp").err
    every = call("properties", "--question", "overlap", "--workers", "0").out
    assert "Original-F" in every


def test_a_series_without_an_event_has_no_value():
    judge = Judge(METRICS["auc_roc"], 1000)
    assert all(value != value for value in (judge.value(Case(labels, (0, 1), 1)) for labels in ((0, 0), (1, 1))))


def test_how_often_a_law_does_not_hold():
    """The share and the size among random series, which the sentence, the matrix and JSON have."""
    found = dqeval.properties(["auc_pr"], questions=["monotone", "nearer-miss", "wrong-added"], examples=20)
    monotone, nearer = (found.answer("auc_pr", name) for name in ("monotone", "nearer-miss"))
    budget, judge = Budget(examples=20), Judge(METRICS["auc_pr"], 1000)
    sizes, compared = [], 0
    for before in random_cases("scores", 20):
        changes = list(PROPERTIES["monotone"].changes(before))
        for after in [changes[i * len(changes) // 12] for i in range(12)] if len(changes) > 12 else changes:
            values = judge.value(before), judge.value(after)
            compared += 1
            sizes += [values[0] - values[1]] if values[1] < values[0] - 1e-9 else []
    assert (monotone.violations.compared, monotone.violations.count) == (compared, len(sizes))
    assert monotone.violations.most == pytest.approx(max(sizes))
    assert monotone.violations.mean == pytest.approx(sum(sizes) / len(sizes))
    assert f"Of {compared:,} comparisons of random series, " in monotone.sentence
    assert monotone.cell == f"no ({monotone.violations})"
    assert (nearer.violations, nearer.cell) == (None, "no")  # none of so few random series has a single miss
    assert str(Violations(10, 2, 0.0, 0.0)) == "20 %"
    assert Violations(10, 2, 0.0, 0.0).sentence.endswith("20.0 % are counter-examples.")
    assert found.answer("auc_pr", "wrong-added").violations is None
    assert "no (12 %, 0.31): of comparisons" in str(found)
    assert monotone.numbers()["violations"]["count"] == len(sizes)
    assert violations(PROPERTIES["more-captured"], Judge(METRICS["dqe"], 1000), budget).sentence.startswith("Among")


def test_a_metric_without_time_to_count():
    answer = Answer("dqe", "event-more", "no", False)
    judge = Judge(METRICS["dqe"], 1000)
    judge.allow(-1)
    assert _with_violations(judge, answer, Budget(examples=5)) == answer


def test_pieces_and_later_detections():
    assert changed("one-or-several", ".#####.", ".^^^...") == [(".#####.", ".^.^.^.")]
    assert changed("one-or-several", ".####.", ".^^^^.") == []
    assert changed("sooner-or-later", ".###.", ".^...") == [(".###.", "..^..")]
    assert changed("sooner-or-later", ".###.", "...^.") == []
