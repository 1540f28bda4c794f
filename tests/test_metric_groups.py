"""Groups of metrics: the same names in Python, in plans and on the command line; the default panel is what it was."""

import json

import numpy as np
import pytest

import dqeval
from commands import caller
from dqeval import bench
from dqeval.analysis.metric_function import MetricFunction
from dqeval.bench.statistics import _is_share
from dqeval.cli.options import completer, metric_names, metrics_and_groups
from dqeval.core.metric_choice import chosen_metrics, default_metrics, groups_of
from dqeval.core.metric_groups import GROUP_NAMES, GROUPS
from dqeval.experiments.outcome import PAPER_METRICS

SERIES = dqeval.datasets.demo()
PAIR = SERIES.labels, SERIES.scores["late"]
EVENTS = ["composite_f1", "event_f1", "event_corrected_f05", "revised_point_adjusted_f1"]


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    found = caller(monkeypatch, capsys)
    found("demo", "-o", "scores.csv")
    return found


def test_the_default_panel_is_the_papers_and_some_more():
    others = {"dqe_log_rank", "pate_f1", "point_adjusted_f1", "tapr_f1"}
    assert set(default_metrics()) == {*PAPER_METRICS, *others}
    assert default_metrics() == dqeval.METRICS.names[:15]
    assert tuple(dqeval.panel(*PAIR, near=24)) == default_metrics()


def test_groups_hold_metrics_that_exist_and_none_twice():
    for names in GROUPS.values():
        assert set(names) <= set(dqeval.METRICS.names)
        assert len(names) == len(set(names))
    assert len(GROUPS["paper"]) == 11
    assert groups_of("composite_f1") == ["tsb-ad", "events"]
    assert groups_of("dqe") == ["default", "paper"]
    assert groups_of("ucr_score") == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("all", list(dqeval.METRICS.names)),
        ("default", list(default_metrics())),
        ("events", EVENTS),
        (["events", "dqe", "event_f1"], [*EVENTS, "dqe"]),
        (["dqe", "tsb-ad"], ["dqe", *GROUPS["tsb-ad"]]),
        (("timing",), list(GROUPS["timing"])),
        (None, list(default_metrics())),
        ("dqe", ["dqe"]),
        ("Event-F1", ["event_f1"]),
        (["DQE", "event-f1", "EVENT_F1"], ["dqe", "event_f1"]),
    ],
)
def test_names_and_groups(given, expected):
    assert chosen_metrics(given) == expected


def test_the_whole_registry_in_a_panel():
    found = dqeval.panel(*PAIR, near=24, metrics="all")
    assert tuple(found) == dqeval.METRICS.names
    assert list(found.failures) == ["ucr_score"]  # there is more than one event
    default = dqeval.panel(*PAIR, near=24)
    assert {name: found[name] for name in default} == default.values
    chance = found.chance(repeats=2)
    assert np.isnan(chance.mean["ucr_score"])
    assert 0 <= chance.mean["nab_score"] <= 100


def test_no_metric_is_cut_off_and_each_has_its_scale():
    found = dqeval.panel(*PAIR, near=24, metrics="all")
    compared = dqeval.compare(SERIES, near=24, metrics="all", repeats=2)
    chance = found.chance(repeats=2)
    for shown in (
        str(found),
        found._repr_html_(),
        str(chance),
        chance._repr_html_(),
        str(compared),
        compared._repr_html_(),
    ):
        assert all(metric.label in shown for metric in dqeval.METRICS)
    assert str(found).endswith("near 24; NAB: 100 is best, not 1")
    assert "NAB: 100 is best, not 1" in compared._repr_html_()
    assert "NAB" not in str(dqeval.panel(*PAIR, near=24))


def test_several_files_with_other_metrics_than_dqe(call):
    call("demo", "-o", "other.csv")
    shown = call("score", "scores.csv", "other.csv", "--metrics", "events,ucr,nab").out
    assert "Composite-F1 of series" in shown
    assert "--format csv has the other 5 metrics of each series, too" in shown
    assert "NAB: 100 is best, not 1." in shown
    assert shown.count("exactly one") == 1
    assert "scores.csv, sharp and 5 more, ucr_score: undefined, because y_true has 6 events" in shown
    assert "--format csv has" not in call("score", "scores.csv", "other.csv", "--metrics", "dqe").out


def test_the_bar_of_a_score_of_100_is_no_longer_than_the_others():
    axes = dqeval.panel(*PAIR, near=24, metrics=["auc_roc", "nab_score"]).plot()
    area, nab = (bar.get_width() for bar in axes.patches)
    assert nab == pytest.approx(dqeval.panel(*PAIR, near=24, metrics=["nab_score"])["nab_score"] / 100)
    assert 0 < area <= 1
    below = dqeval.panel([0, 0, 0, 1], [1, 1, 1, 0], near=1, metrics=["nab_score"])
    assert below["nab_score"] < 0
    assert below.plot().patches[0].get_width() == 0


@pytest.mark.parametrize(("given", "meant"), [("event", "events"), ("tsbad", "tsb-ad"), ("eventf1", "event_f1")])
def test_what_is_no_group(given, meant):
    for metrics in (given, [given]):
        with pytest.raises(ValueError, match=f"unknown metric '{given}'; did you mean '{meant}'"):
            dqeval.panel(*PAIR, metrics=metrics)
    with pytest.raises(
        ValueError,
        match=r"unknown metric 'xyzzy'; dqeval metrics lists those there are; groups of them are .*, timing$",
    ):
        dqeval.panel(*PAIR, metrics="xyzzy")


def test_a_group_is_no_metric():
    with pytest.raises(ValueError, match=r"^'events' is a group of metrics: composite_f1, .*; choose one$"):
        dqeval.best_threshold("events", *PAIR)
    with pytest.raises(ValueError, match=r"^'all' is a group of metrics; choose one: dqeval metrics lists them$"):
        MetricFunction("all")
    assert dqeval.best_threshold("Event-F1", *PAIR) == dqeval.best_threshold("event_f1", *PAIR)
    with pytest.raises(ValueError, match="unknown metric 'event'; did you mean 'event_f1'"):
        dqeval.best_threshold("event", *PAIR)  # a group would not help there


@pytest.mark.parametrize("name", GROUP_NAMES)
def test_no_metric_has_the_name_of_a_group(name):
    with pytest.raises(ValueError, match=f"'{name}' is the name of a group of metrics: choose another name"):
        dqeval.metric(takes="scores", name=name)(lambda y_true, y_score: 0.0)
    assert name not in dqeval.METRICS.names


def test_a_label_of_two_metrics_is_no_name():
    for name in ("one_twin", "other_twin"):
        dqeval.metric(takes="scores", name=name, label="Twin", by_default=False)(lambda y_true, y_score: 0.5)
    with pytest.raises(ValueError, match="unknown metric 'twin'; did you mean"):
        chosen_metrics("twin")


@pytest.mark.parametrize("function", [dqeval.panel, dqeval.compare, dqeval.report])
def test_help_names_every_group(function):
    *first, last = (f'"{name}"' for name in GROUP_NAMES)
    assert f"Groups are {', '.join(first)} and {last}" in " ".join(function.__doc__.split())


@pytest.mark.parametrize(("metrics", "expected"), [("events", ["dqe", *EVENTS]), (["nab_score", "dqe"],) * 2])
@pytest.mark.slow
@pytest.mark.unmeasured
def test_comparisons_always_have_dqe(metrics, expected, tmp_path):
    found = dqeval.compare(SERIES, near=24, metrics=metrics, repeats=2)
    assert list(found.panels[found.best]) == expected
    shown = dqeval.report(SERIES, tmp_path / "page.html", near=24, metrics=metrics)
    assert list(shown.panels[shown.best]) == expected
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(dqeval.METRICS[name].label in page for name in expected)


def test_differences_of_a_score_of_100_are_weighed_as_those_of_the_others():
    found = dqeval.compare(SERIES, near=24, metrics=["nab_score"], repeats=2)
    assert all(disagreement.size <= 1 for disagreement in found.disagreements)


def test_plans_take_groups():
    plan = {"data": [{"generator": "synthetic"}], "detector": [{"name": "fft"}]}
    assert bench.make_plan(plan).metrics == default_metrics()
    assert bench.make_plan({**plan, "metrics": ["dqe", "events"]}).metrics == ("dqe", *EVENTS)
    assert bench.make_plan({**plan, "metrics": ["all"]}).metrics == dqeval.METRICS.names
    assert bench.make_plan({**plan, "metrics": "events"}).metrics == tuple(EVENTS)
    assert bench.make_plan({**plan, "metrics": "dqe"}).metrics == ("dqe",)


def test_only_nab_is_no_share():
    assert [name for name in dqeval.METRICS.names if not _is_share(name)] == ["nab_score"]
    assert not _is_share("of somebody else")


@pytest.mark.slow
@pytest.mark.unmeasured
def test_groups_on_the_command_line(call):
    done = call("score", "scores.csv", "--metrics", "events", "--format", "json")
    assert json.loads(done.out)["parameters"]["metrics"] == EVENTS
    done = call("score", "scores.csv", "--metrics", "dqe, timing", "--metrics", "dqe", "--format", "json")
    assert json.loads(done.out)["parameters"]["metrics"] == ["dqe", *GROUPS["timing"]]
    assert (
        call("report", "scores.csv", "-o", "page.html", "--metrics", "events", "--fail-under", "event_f1=0").code == 0
    )
    assert call("score", "scores.csv", "--metrics", "nothing").code == 2
    assert all(name in call("score", "--help").out for name in GROUP_NAMES)
    done = call("score", "scores.csv", "--metrics", "Event-F1,dqe", "--fail-under", "event-F1=2,Near Miss=0")
    assert done.code == 1
    assert "event_f1 of late is 1, below 2" in done.err
    assert (
        "unknown metric 'rf'; choose from dqe"
        in call("score", "scores.csv", "--metrics", "dqe", "--fail-under", "RF=1").err
    )
    assert "name at least one metric" in call("score", "scores.csv", "--metrics", " ").err
    assert metric_names(None) == list(default_metrics())


@pytest.mark.slow
@pytest.mark.unmeasured
def test_receipts_of_comparisons_hold_the_metrics_if_they_were_chosen(call):
    call("compare", "scores.csv", "--metrics", "events", "--format", "json", "-o", "chosen.json")
    with open("chosen.json", encoding="utf-8") as file:
        assert json.load(file)["parameters"]["metrics"] == ["dqe", *EVENTS]
    call("compare", "scores.csv", "--format", "json", "-o", "default.json")
    with open("default.json", encoding="utf-8") as file:
        assert "metrics" not in json.load(file)["parameters"]
    for receipt in ("chosen.json", "default.json"):
        assert call("verify", receipt, "scores.csv").code == 0


def test_names_of_groups_are_completed():
    assert completer(metrics_and_groups)("dqe,tsb") == ["dqe,tsb-ad"]
    assert completer(metrics_and_groups)("even") == ["event_f1", "event_corrected_f05", "events"]


def test_the_list_of_metrics_tells_their_groups(call):
    listed = {each["name"]: each["groups"] for each in json.loads(call("metrics", "--format", "json").out)["metrics"]}
    assert listed["composite_f1"] == "tsb-ad, events"
    some = json.loads(call("metrics", "events", "ucr", "--format", "json").out)["metrics"]
    assert [each["name"] for each in some] == [*EVENTS, "ucr_score"]
    assert "unknown metric 'evnts'; did you mean 'events'?" in call("metrics", "evnts").err
    out = call("metrics").out
    assert "In tsb-ad, events." in out
    assert "In no group but all." in out
    assert out.count("100 is best, not 1.") == 1
