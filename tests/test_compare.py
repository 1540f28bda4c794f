"""Detectors against each other."""

import numpy as np
import pytest

import dqeval
from dqeval import Series
from dqeval.analysis.compare import comparison_of
from dqeval.analysis.compare_result import cost_more
from dqeval.core.metric_choice import default_metrics
from dqeval.datasets.door import prepare

LABELS = np.array([0] * 20 + [1] * 3 + [0] * 30 + [1] * 3 + [0] * 20)


def scores_with(**points):
    """Return scores that are 0 but for some stretches: name=(start, stop, score)."""
    scores = np.zeros(len(LABELS))
    for start, stop, score in points.values():
        scores[start:stop] = score
    return scores


GOOD = scores_with(a=(20, 23, 9), b=(53, 56, 8))
ONE_EVENT = scores_with(a=(20, 23, 9))
NOISY = scores_with(a=(20, 23, 9), b=(53, 56, 9), c=(5, 7, 8), d=(35, 36, 8), e=(39, 40, 8), f=(70, 72, 8))


def comparison(**scores):
    return dqeval.compare(Series("s", LABELS, scores), near=4, repeats=3)


@pytest.fixture(scope="module")
def demo():
    return dqeval.compare(dqeval.datasets.demo(), period=48)


def test_the_best_comes_first():
    found = comparison(noisy=NOISY, good=GOOD, one=ONE_EVENT)
    assert list(found.panels) == ["good", "noisy", "one"]
    assert list(found.explanations) == list(found.panels)
    assert found.best == "good"
    assert found.winners == (("good", "one"), ("good",))
    assert found.wins("one") == 1
    assert found.verdict.startswith("good is best: DQE 0.940, ahead of noisy (")
    assert "False alarms cost noisy " in found.verdict
    assert found.verdict.endswith("good is best at 2 of 2 events.")


def test_verdict_on_a_single_detector():
    found = comparison(one=ONE_EVENT)
    assert found.verdict.startswith("one has DQE 0.500; random scores get 0.")
    assert found.verdict.endswith("Most is lost to missed events (0.500).")
    assert comparison(perfect=scores_with(a=(20, 23, 9), b=(53, 56, 9))).verdict.endswith("Nothing is lost.")
    assert "disagree" not in str(found)
    assert "in the order of DQE" not in str(found)


def test_verdict_on_equals():
    verdict = comparison(first=ONE_EVENT, second=ONE_EVENT).verdict
    assert verdict.startswith("first and second are best: DQE 0.500; random scores get 0.")
    assert verdict.endswith(". first is best at 1 of 2 events.")
    assert "ahead" not in verdict


def test_verdict_on_equals_with_other_troubles():
    """What costs them is not the same, though DQE is."""
    both = {"a": (20, 23, 9), "b": (53, 56, 9)}
    verdict = comparison(false=scores_with(**both, c=(35, 36, 1)), near=scores_with(**both, c=(51, 52, 2))).verdict
    assert verdict.startswith("false and near are best: DQE 0.982; random scores get 0.")
    assert ". Near misses cost near 0.018, false 0.000, but false alarms cost false 0.018, near 0.000; " in verdict


def test_verdict_on_equals_and_others():
    """Equals are not ahead of each other, and what the others lack is told of the first of these."""
    verdict = comparison(first=GOOD, second=GOOD, third=ONE_EVENT, fourth=ONE_EVENT).verdict
    assert verdict.startswith("first and second are best: DQE 0.940, ahead of third (0.500) and fourth (0.500),")
    assert "Missed events cost third 0.500, first " in verdict
    assert verdict.endswith("; first is best at 2 of 2 events.")


def test_verdict_on_many():
    found = comparison(good=GOOD, **{f"d{i}": ONE_EVENT for i in range(4)})
    assert "ahead of d0 (0.500), d1 (0.500) and 2 others, with too few events (2) to tell them apart;" in found.verdict


def test_verdict_on_chance():
    useless = comparison(mine=np.full(len(LABELS), 5.0))
    assert "mine has DQE 0.000; no better than random scores, which get 0." in useless.verdict
    assert useless.start_table().rows[0][1:3] == ("none", "0.000")


def test_no_winner_where_all_miss():
    missed = comparison(one=ONE_EVENT, same=ONE_EVENT)
    assert missed.winners == (("one", "same"), ())
    assert "none" in missed.event_table().text()


def test_disagreements_name_the_part_that_explains_them(demo):
    by_rank, found = demo.disagreements
    assert (by_rank.better, by_rank.worse, by_rank.metrics) == ("sharp", "jumpy", ("dqe_log_rank",))
    assert (found.better, found.worse, found.part) == ("late", "jumpy", "false_alarm")
    assert found.metrics[:3] == ("auc_pr", "tapr_f1", "point_f1")
    assert found.sentence.startswith("AUC-PR, TaF, Original-F, ")
    assert "prefer jumpy to late; DQE does not (0.557 against 0.577)" in found.sentence
    assert found.sentence.endswith("false alarms cost jumpy 0.406, late 0.109.")
    assert found.size == demo.panels["late"]["dqe"] - demo.panels["jumpy"]["dqe"]
    for d in demo.disagreements:
        assert demo.panels[d.better]["dqe"] > demo.panels[d.worse]["dqe"]
        for metric in d.metrics:
            assert demo.panels[d.worse][metric] > demo.panels[d.better][metric]


def test_what_noise_explains_is_no_disagreement(demo):
    # By 0.011 and 0.013, where random scores spread by 0.065 and 0.028.
    sharp, jumpy, chance = demo.panels["sharp"], demo.panels["jumpy"], demo.chance["sharp"]
    for metric in ("point_adjusted_f1", "affiliation_f1"):
        assert 0 < jumpy[metric] - sharp[metric] < 2 * chance.spread[metric]
    (found,) = (d for d in demo.disagreements if (d.better, d.worse) == ("sharp", "jumpy"))
    assert found.metrics == ("dqe_log_rank",)


@pytest.fixture(scope="module")
def many():
    """Return a comparison of 17 detectors: the three of the demo, with more and more noise."""
    series, random = dqeval.datasets.demo(), np.random.RandomState(1)
    scores = {
        f"{name}{i}": column + 0.06 * i * random.rand(len(column))
        for i in range(6)
        for name, column in series.scores.items()
    }
    scores.pop("jumpy5")
    return dqeval.compare(Series("many", series.labels, scores), near=24, repeats=4)


@pytest.mark.slow
@pytest.mark.unmeasured
def test_the_largest_disagreements_of_17_detectors_come_first(many):
    assert len(many.panels) == 17
    found = many.disagreements
    assert len(found) > 5
    assert [d.size for d in found] == sorted((d.size for d in found), reverse=True)
    for d in found:
        better, worse, spread = many.panels[d.better], many.panels[d.worse], many.chance[d.better].spread
        gaps = {metric: worse[metric] - better[metric] for metric in d.metrics}
        assert all(gap >= max(0.01, 2 * spread[metric]) for metric, gap in gaps.items())
        assert better["dqe"] - worse["dqe"] >= max(0.01, 2 * spread["dqe"])
        assert d.size == min(better["dqe"] - worse["dqe"], max(gaps.values()))


def test_few_of_many_disagreements_are_shown(many):
    _, _, listed = str(many).partition("Where other metrics disagree with DQE by more than noise:\n\n")
    lines = listed.splitlines()
    assert lines[:5] == [f"- {d.sentence}" for d in many.disagreements[:5]]
    assert lines[5:] == [f"- and {len(many.disagreements) - 5} smaller ones; --format json lists them all"]
    assert len(many.numbers()["disagreements"]) == len(many.disagreements)


def test_what_near_misses_gain_has_a_word():
    far = scores_with(a=(20, 23, 9), b=(47, 48, 9))  # 6 points before the second event
    close = scores_with(a=(20, 23, 9), b=(52, 53, 9))
    closer = scores_with(a=(20, 23, 9), b=(52, 53, 9), c=(53, 54, 1))
    found = dqeval.compare(Series("s", LABELS, {"far": far, "close": close, "closer": closer}), near=12, repeats=2)
    costs = {name: explanation.costs["near_miss"] for name, explanation in found.explanations.items()}
    assert costs["close"] < costs["far"] < 0
    row = dict(zip(found.cost_table().header, found.cost_table().rows[1], strict=True))
    assert row["close"] == f"{-costs['close']:.3f} gained"
    assert found.cost_table().note.endswith("; near misses gain where they are all that an event has")
    better, worse = found.explanations["close"], found.explanations["far"]
    shown = f"near misses bring close {-costs['close']:.3f}, and far {-costs['far']:.3f}"
    assert cost_more(worse, better, "near_miss") == shown
    lost = dqeval.compare(Series("s", LABELS, {"wide": scores_with(a=(18, 25, 9), b=(51, 58, 9))}), near=12, repeats=2)
    wide = lost.explanations["wide"]
    shown = f"near misses cost wide {wide.costs['near_miss']:.3f}, and bring close {-costs['close']:.3f}"
    assert cost_more(wide, better, "near_miss") == shown


def test_detectors_that_only_other_metrics_tell_apart():
    found = comparison(whole=scores_with(a=(20, 23, 9)), point=scores_with(a=(21, 22, 9)))
    assert found.panels["whole"]["point_f1"] > found.panels["point"]["point_f1"]
    assert found.disagreements == ()
    assert "no other metric ranks them the other way round by more than noise." in str(found)


def test_a_metric_that_fails_says_why():
    found = dqeval.compare(Series("s", np.ones(6), {"mine": np.arange(6.0)}), near=1, repeats=2)
    assert "mine, auc_roc: undefined, because y_true has no normal point" in str(found)
    assert "auc_roc" in found.numbers()["failures"]["mine"]


def test_chance_of_detections_in_the_verdict():
    found = comparison(alarms=(GOOD > 0).astype(float), one=ONE_EVENT)
    assert "; as many random detections get 0." in found.verdict
    assert "0/1 detections, so their windows and buffers differ from those of scores: alarms." in str(found)


def test_page(demo):
    text = str(demo)
    assert text.startswith(f"demo: 6 events, near 24, half the given period. {demo.verdict}")
    assert demo.start_table().rows[1] == ("late", "0.49", "0.757", "1", "[214, 218), [1010, 1013)")
    assert "- AUC-PR, TaF, Original-F, VUS-PR" in text
    assert "by chance: random scores, 10 repeats" in text


def test_cells_that_stand_out(demo):
    table = demo.panel_table()
    for i, row in enumerate(table.rows):
        numbers = [float(cell) for cell in row[1:4]]
        marked = {j for row_of, j in table.marked if row_of == i}
        assert marked == {j for j, number in enumerate(numbers, start=1) if number == max(numbers)}


def test_chance_is_the_same_for_all_scores_and_another_for_detections():
    found = comparison(good=GOOD, one=ONE_EVENT, alarms=(GOOD > 0).astype(float))
    assert found.chance["good"] is found.chance["one"]
    assert found.chance["alarms"].mean != found.chance["good"].mean
    assert "; not shown for 0/1 detections: alarms" in str(found)
    assert "by chance: as many random detections as alarms has" in str(comparison(alarms=(GOOD > 0).astype(float)))


def test_records_and_numbers(demo):
    numbers = demo.numbers()
    assert len(demo.records()) == 3 * len(default_metrics())
    assert numbers["metrics"] == demo.records()
    assert numbers["start"]["sharp"]["threshold"] == demo.explanations["sharp"].threshold
    assert numbers["events"][3]["best"] == ["jumpy"]
    assert numbers["parts"]["late"]["capture"] == demo.panels["late"].dqe.capture


def test_progress_counts_detectors_and_repeats():
    told = []
    dqeval.compare(
        Series("s", LABELS, {"good": GOOD, "one": ONE_EVENT}),
        near=4,
        repeats=3,
        progress=lambda done, of: told.append((done, of)),
    )
    assert told == [(done, 5) for done in range(1, 6)]


def test_in_a_notebook(demo):
    html = demo._repr_html_()
    assert "sharp is best" in html
    assert demo.cost_table().html() in html
    assert "DQE 0.577" in demo.explanations["late"]._repr_html_()


def test_known_values_are_not_computed_again():
    prepared = prepare(dqeval.datasets.demo(), period=48)
    whole = comparison_of(prepared, metrics=["auc_roc", "range_f1"])
    known = {name: {"auc_roc": panel["auc_roc"], "range_f1": 0.123} for name, panel in whole.panels.items()}
    found = comparison_of(prepared, metrics=["auc_roc", "range_f1"], known=known)
    for name, panel in found.panels.items():
        assert panel.values == {**whole.panels[name].values, "range_f1": 0.123}
        assert panel.labels == whole.panels[name].labels
        assert panel.dqe == whole.panels[name].dqe
        assert found.chance[name].mean == {"dqe": whole.chance[name].mean["dqe"]}
    assert found.verdict == whole.verdict
    assert found.disagreements == ()
    table = found.panel_table()
    assert [row[-2:] for row in table.rows if row[0] in ("AUC-ROC", "RF")] == [("", ""), ("", "")]
