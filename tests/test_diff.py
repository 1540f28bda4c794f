"""What changed from one run of detectors to another: the function, the command, its sides and its page."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import dqeval
from commands import caller, write_demo
from dqeval import bench
from dqeval.analysis.diff import difference
from dqeval.analysis.diff_result import Diff
from dqeval.analysis.diff_sides import Measured, MeasuredEvents, Side
from dqeval.core.confidence import mean_interval, mean_intervals
from dqeval.core.event_scores import EventColumns
from dqeval.core.types import SCORE_NAMES
from dqeval.render.diff_page import diff_page

DEMO = dqeval.datasets.demo()
PAGE = Path(__file__).parents[1] / "docs" / "diff.md"


@pytest.fixture
def call(monkeypatch, capsys):
    return caller(monkeypatch, capsys)


def columns(**scores):
    return {"label": DEMO.labels, **scores}


def measured(dqe, capture=1.0, n=6, **values):
    """Return a detector with the same scores at each of some events."""
    return Measured({"dqe": dqe, **values}, events_at([(dqe, capture, dqe, dqe)] * n))


def events_at(scores, starts=None, length=2):
    """Return events every ten points, or from some points on, E0, E1, ..., with these scores."""
    starts = 10 * np.arange(len(scores)) if starts is None else np.array(starts)
    return MeasuredEvents(EventColumns(starts, starts + length, np.array(scores, dtype=float)), "E{}".format)


def side(name, **series):
    return Side(name, series, dict.fromkeys(series, 5.0))


def write_series(folder, names, strength):
    """Write series with six events, of which a detector sees as much as its strength."""
    folder.mkdir()
    for seed, name in enumerate(names):
        random = np.random.default_rng(seed)
        labels = np.zeros(300, dtype=int)
        labels[np.arange(25, 300, 50)] = 1
        scores = random.random(300) + strength * labels * random.uniform(0.8, 1, 300)
        np.savetxt(folder / name, np.column_stack([labels, scores]), delimiter=",", header="label,mine", comments="")
    return folder


def receipt_with(**event):
    """Return a receipt of one event, which has something more or something else."""
    row = {"start": 0, "stop": 2, **dict.fromkeys(SCORE_NAMES, 0.5), **event}
    found = {"name": "s", "near": 5, "points": 9, "detectors": {"a": {"values": {"dqe": 0.5}, "per_event": [row]}}}
    return json.dumps({"command": "score", "results": {"series": [found]}})


class TestNumbers:
    def test_of_events(self):
        """With fewer than five series, events are drawn: each counts once."""
        found = dqeval.diff(columns(a=DEMO.scores["late"]), columns(a=DEMO.scores["sharp"]), period=48, metrics=["dqe"])
        one, other = (dqeval.evaluate(DEMO.labels, DEMO.scores[name], period=48) for name in ("late", "sharp"))
        for part in SCORE_NAMES:
            change = next(each for each in found.changes if each.metric == part)
            pairs = list(zip(one.per_event, other.per_event, strict=True))
            off = np.array([getattr(after, part) - getattr(before, part) for before, after in pairs])
            assert (change.before, change.after) == pytest.approx((getattr(one, part), getattr(other, part)))
            assert change.difference == pytest.approx(off.mean())
            wanted = mean_interval(off, least=-np.inf, most=np.inf)
            assert (change.interval.low, change.interval.high) == pytest.approx((wanted.low, wanted.high))
            assert change.over == "event"
        assert (found.n_series, found.n_events) == (1, 6)

    def test_of_series(self):
        """With five series, these are drawn, for every metric."""
        random = np.random.default_rng(0)
        before, after = (
            {f"s{i}": {"a": measured(random.random(), auc_pr=random.random())} for i in range(7)} for _ in "ab"
        )
        found = difference(Side("x", before, {}), Side("y", after, {}))
        for change in found.changes:
            off = [after[name]["a"].values[change.metric] - before[name]["a"].values[change.metric] for name in before]
            (wanted,) = mean_intervals(np.array(off)[:, None], unit="series", least=-np.inf, most=np.inf)
            assert change.interval == wanted
            assert change.difference == pytest.approx(np.mean(off))
        assert {change.over for change in found.changes} == {"series"}
        assert [change.metric for change in found.changes] == ["dqe", "auc_pr"]

    @pytest.mark.parametrize(("shift", "word"), [(0.1, "higher"), (-0.1, "lower"), (0.0, "same")])
    def test_direction(self, shift, word):
        random = np.random.default_rng(1)
        values = random.uniform(0.3, 0.6, 8)
        noise = random.uniform(0, 0.01, 8) if shift else np.zeros(8)
        before = side("x", **{f"s{i}": {"a": measured(v)} for i, v in enumerate(values)})
        after = side(
            "y", **{f"s{i}": {"a": measured(v + shift + e)} for i, (v, e) in enumerate(zip(values, noise, strict=True))}
        )
        found = difference(before, after)
        assert found.changes[0].verdict == word
        assert found.has_loss == (shift < 0)
        assert [change.metric for change in found.lower] == ["dqe"] * (shift < 0)

    def test_noise_is_not_told_apart(self):
        values = np.linspace(0.3, 0.6, 8)
        before = side("x", **{f"s{i}": {"a": measured(v)} for i, v in enumerate(values)})
        after = side("y", **{f"s{i}": {"a": measured(v + 0.01 * (-1) ** i + 1e-4)} for i, v in enumerate(values)})
        found = difference(before, after)
        assert found.changes[0].verdict == "not told apart"
        assert not found.has_loss

    def test_a_value_that_one_side_lacks(self):
        before = side("x", one={"a": measured(0.5, auc_pr=np.nan, pate=0.1)}, two={"a": measured(0.5, auc_pr=0.3)})
        after = side("y", one={"a": measured(0.5, auc_pr=0.2)}, two={"a": measured(0.5, auc_pr=0.4)})
        (_, change) = difference(before, after).changes
        assert (change.metric, change.before, change.after) == ("auc_pr", 0.3, 0.4)
        assert change.verdict == ""

    def test_a_value_that_is_defined_nowhere(self):
        one = side("x", one={"a": measured(0.5, auc_pr=np.nan)})
        (_, change) = difference(one, one).changes
        assert np.isnan(change.before)
        assert "nan" in str(difference(one, one))


class TestEvents:
    def test_gained_and_lost(self):
        captures = [(0.4, 0.5), (0.5, 0.49), (0.9, 0.1), (0.9, 0.6), (0.1, 0.2)]

        def one(which):
            return {"series": {"a": Measured({"dqe": 0.5}, events_at([(both[which],) * 4 for both in captures]))}}

        found = difference(Side("x", one(0), {}), Side("y", one(1), {}))
        assert [event.place for event in found.gained] == ["E0"]
        assert [event.place for event in found.lost] == ["E2", "E1"]  # the largest change first
        assert found.lost[0].capture == (0.9, 0.1)
        assert found.has_loss
        assert "1 event gained, 2 lost" in found.verdict
        assert "E2" in found.event_table("lost").text()
        row = {"series": "series", "detector": "a", "event": "E2", "capture_before": 0.9, "capture_after": 0.1}
        assert found.numbers()["lost"][0] == {**row, "dqe_before": 0.9, "dqe_after": 0.1}
        assert [record["kind"] for record in found.records()] == ["metric", "gained", "lost", "lost"]
        assert "more" not in found.event_table("lost", most=2).text()
        assert "1 more: --format csv or json has all" in found.event_table("lost", most=1).text()

    def test_other_labels(self):
        found = difference(
            side("x", s={"a": measured(0.5), "b": measured(0.5)}),
            side("y", s={"a": measured(0.5, n=5), "b": measured(0.5, n=5)}),
        )
        assert found.warnings == ("s: the labels differ, 1 event is on one side only",)
        found = difference(side("x", s={"a": measured(0.5)}), side("y", s={"a": measured(0.5, n=4)}))
        assert found.warnings == ("s: the labels differ, 2 events are on one side only",)
        assert found.n_events == 4

    def test_events_that_one_side_lacks_before_those_that_changed(self):
        before = events_at([(0.1, 1, 0, 0), (0.2, 0, 0, 0), (0.3, 1, 0, 0)], starts=[5, 10, 20])
        after = events_at([(0.4, 1, 0, 0), (0.6, 1, 0, 0), (0.7, 1, 0, 0), (0.8, 0, 0, 0)], starts=[0, 2, 10, 20])
        found = difference(*(side("x", s={"a": Measured({"dqe": 0.5}, events)}) for events in (before, after)))
        ((gained,), (lost,)) = found.gained, found.lost
        assert (gained.place, gained.capture, gained.dqe) == ("E1", (0, 1), (0.2, 0.7))
        assert (lost.place, lost.capture, lost.dqe) == ("E2", (1, 0), (0.3, 0.8))
        assert found.warnings == ("s: the labels differ, 3 events are on one side only",)

    def test_events_are_the_same_if_both_ends_are(self):
        one, other = (Measured({"dqe": 0.5}, events_at([(0.5,) * 4] * 2, length=length)) for length in (2, 3))
        found = difference(side("x", s={"a": one}), side("y", s={"a": other}))
        assert found.n_events == 0
        assert found.warnings == ("s: the labels differ, 4 events are on one side only",)

    def test_an_event_counts_once_for_all_detectors(self):
        found = difference(*(side("x", s={name: measured(0.5) for name in "ab"}, t={"a": measured(0.5)}),) * 2)
        assert found.n_events == 12

    def test_too_few_events_for_an_interval(self):
        few, enough = (
            difference(side("x", s={"a": measured(0.9, n=n)}), side("y", s={"a": measured(0.1, n=n)})) for n in (4, 5)
        )
        note = "DQE and its parts have no interval (too few: 4 events), so that no change of them counts as a loss."
        assert note in str(few)
        assert not few.has_loss
        assert "no interval" not in str(enough)
        assert enough.has_loss

    def test_nothing_is_known(self):
        one = side("x", s={"a": Measured({"dqe": 0.5})})
        found = difference(one, side("y", s={"a": Measured({"dqe": 0.6})}))
        assert found.n_events == 0
        assert "No event is known on both sides: a receipt has events with --per-event." in str(found)
        assert found.verdict == "a: DQE 0.500 → 0.600."


class TestMatching:
    def test_only_ones(self):
        found = difference(side("x", old={"a": measured(0.5)}), side("y", new={"b": measured(0.6)}))
        assert found.detectors == ("a → b",)
        assert found.missing == found.new == ()

    def test_by_name(self):
        before = side("x", s={"a": measured(0.5), "b": measured(0.5)}, t={"a": measured(0.5)}, u={"a": measured(0.5)})
        after = side("y", s={"a": measured(0.5)}, t={"c": measured(0.5)}, v={"c": measured(0.5)})
        found = difference(before, after)
        assert found.missing == ("series u", "detector b", "a on t")
        assert found.new == ("series v", "detector c")
        assert found.has_loss
        assert "Missing after: series u, detector b and a on t." in found.verdict
        assert "New: series v, detector c." in str(found)
        assert str(found).lower().count("missing after") == 1

    def test_detectors_that_are_the_same_are_named_together(self):
        both = {name: measured(0.5) for name in "abc"}
        found = difference(side("x", s=both), side("y", s={**both, "b": measured(0.7)}))
        assert found.verdict.startswith("b: DQE 0.500 → 0.700")
        assert found.verdict.endswith(" a and c: every number is the same.")

    def test_many_that_are_missing(self):
        names = [*"abcdef"]
        before = side("x", s={name: measured(0.5) for name in names})
        found = difference(before, side("y", s={"a": measured(0.5)}))
        assert "Missing after: detector b, detector c, detector d and 2 others." in found.verdict
        assert "All that is missing after: detector b, detector c, detector d, detector e, detector f." in str(found)
        assert "New:" not in str(found)

    def test_nothing_in_common(self):
        with pytest.raises(
            ValueError, match="x and y have no detector on the same series: 1 detector on 2 series against 1"
        ):
            difference(
                side("x", s={"a": measured(0.5)}, t={"a": measured(0.5)}),
                side("y", u={"a": measured(0.5)}, v={"a": measured(0.5)}),
            )

    def test_nothing_in_common_shows_names(self):
        match = "Both are matched by name: one side has 'a' on 's', the other none"
        with pytest.raises(ValueError, match=match):
            difference(side("x", s={"a": measured(0.5)}), side("y"))

    @pytest.mark.parametrize("turned", [False, True])
    def test_files_by_what_runs_call_them(self, turned):
        """A benchmark run leaves out the endings of files."""
        run = side("run", **{name: {"a": measured(0.5)} for name in ("s", "t.1", "u")})
        files = side("files", **{name: {"a": measured(0.6)} for name in ("s.csv", "t.1.csv.gz", "v.csv")})
        found = difference(files, run) if turned else difference(run, files)
        assert found.n_series == 2
        assert (found.new if turned else found.missing) == ("series u",)
        assert (found.missing if turned else found.new) == ("series v.csv",)

    def test_two_files_of_one_name(self):
        """Two files that a run would call the same are not told which is which, so none is taken."""
        run = side("run", s={"a": measured(0.5)}, t={"a": measured(0.5)})
        files = side("files", **{name: {"a": measured(0.6)} for name in ("s.csv", "s.npz", "t.csv")})
        with pytest.raises(ValueError, match="no detector on the same series"):
            difference(run, files)

    def test_other_length(self):
        sides = [
            Side(name, {"s": {"a": measured(0.5)}}, {}, points={"s": count})
            for name, count in (("x", 1800), ("y", 900))
        ]
        (warning,) = difference(*sides).warnings
        assert warning == "s: there are 1,800 points before and 900 after, so numbers are not comparable"
        assert difference(sides[0], sides[0]).warnings == ()

    def test_other_near_range(self):
        after = Side("y", {"s": {"a": measured(0.5)}}, {"s": 7.5})
        (warning,) = difference(side("x", s={"a": measured(0.5)}), after).warnings
        assert warning == "s: the near range is 5 before and 7.5 after, so numbers are not comparable"

    def test_warnings_in_text(self):
        """Who pastes the table pastes its warnings, the first ten of them; the page has all."""
        names = [f"s{i:02}" for i in range(12)]
        before, after = (
            Side(name, {each: {"a": measured(0.5)} for each in names}, dict.fromkeys(names, near))
            for name, near in (("x", 5.0), ("y", 7.5))
        )
        found = difference(before, after)
        sentence = "Warning: {}: the near range is 5 before and 7.5 after, so numbers are not comparable."
        for text in (str(found), found.page().markdown()):
            assert [sentence.format(name) in text for name in names] == [True] * 10 + [False] * 2
            assert "2 more warnings: --format json has all." in text
        assert [note for note in found.notes() if "arning" in note] == [sentence.format(name) for name in names]


class TestSides:
    """Score files, receipts and runs say the same."""

    def test_all_kinds(self, tmp_path, call):
        names = [f"{i}.csv" for i in range(6)]
        old, new = (write_series(tmp_path / name, names, strength) for name, strength in (("old", 0.7), ("new", 1.5)))
        receipt = tmp_path / "old.json"
        assert (
            call(
                "score", old, "--metrics", "dqe,auc_pr", "--per-event", "--near", 10, "--format", "json", "-o", receipt
            ).code
            == 0
        )
        files = dqeval.diff(old, new, near=10, metrics=["dqe", "auc_pr"])
        assert files.changes == dqeval.diff(str(receipt), new, near=10, metrics=["dqe", "auc_pr"]).changes
        assert files.changes[0].verdict == "higher"
        assert files.n_series == 6
        runs = []
        for name in ("old", "new"):
            plan = {"scores": [{"path": name}], "metrics": ["dqe", "auc_pr"], "near": 10}
            runs.append(tmp_path / f"run-{name}")
            bench.run(bench.make_plan(plan, folder=tmp_path), runs[-1])
        of_runs = dqeval.diff(*runs)
        assert [(c.metric, c.before, c.after) for c in of_runs.changes] == [
            (c.metric, pytest.approx(c.before), pytest.approx(c.after))
            for c in files.changes
            if c.metric in ("dqe", "auc_pr")
        ]
        assert len(of_runs.gained) == len(files.gained)

    def test_times(self, tmp_path, call):
        for name in ("old", "new"):
            rows = [
                f"2026-01-01T00:{t:02}:00,{int(t in (20, 21))},{(t in (20, 21)) * (name == 'new') + t / 100}"
                for t in range(60)
            ]
            (tmp_path / f"{name}.csv").write_text("\n".join(["timestamp,label,mine", *rows]))
        found = call("diff", tmp_path / "old.csv", tmp_path / "new.csv", "--near", "5min", "--resolution", "1min")
        assert found.code == 0, found.err
        assert "2026-01-01T00:20 to 2026-01-01T00:22" in found.out

    def test_series_that_cannot_be_used(self, tmp_path, call):
        old = write_series(tmp_path / "old", ["a.csv", "b.csv"], 1)
        (tmp_path / "old" / "c.csv").write_text("label,mine\n0,1\n7,2\n")
        done = call("diff", old, old, "--near", 10, "--metrics", "dqe")
        assert done.code == 2
        assert "every number is the same" in done.out
        assert "c.csv" in done.err

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("[]", "this is no receipt; write one with dqeval score --per-event --format json"),
            ('{"command": "compare"}', "this is a receipt of dqeval compare; write one with dqeval score"),
            ('{"command": "score"}', "this receipt is not as dqeval score writes it: KeyError('results')"),
            ('{"command": "score", "results": {"series": [1]}}', "this receipt is not as dqeval score writes it"),
            ("{", "this is not JSON, and so not a receipt"),
            (receipt_with(start_time="2026-01-01"), "this receipt is not as dqeval score writes it: KeyError('name')"),
            (receipt_with(start=10**30), "this receipt is not as dqeval score writes it: OverflowError"),
        ],
    )
    def test_bad_receipts(self, tmp_path, call, content, said):
        (tmp_path / "bad.json").write_text(content)
        done = call("diff", tmp_path / "bad.json", tmp_path / "bad.json")
        assert done.code == 2
        assert said in done.err

    def test_files_of_other_lengths(self, tmp_path):
        for name in ("old", "new"):
            write_series(tmp_path / name, ["a.csv"], 1)
        longer = tmp_path / "new" / "a.csv"
        longer.write_text(longer.read_text() + "0,0.5\n" * 100)
        found = dqeval.diff(tmp_path / "old", tmp_path / "new", near=10, metrics=["dqe"])
        assert found.warnings == ("a.csv: there are 300 points before and 400 after, so numbers are not comparable",)

    def test_a_file_that_is_not_there(self, tmp_path, call):
        done = call("diff", tmp_path / "no.json", tmp_path / "no.csv")
        assert done.code == 2
        assert "no.json" in done.err


class TestCommand:
    def test_gate(self, tmp_path, call):
        good, bad = (
            write_series(tmp_path / name, ["a.csv", "b.csv"], strength) for name, strength in (("good", 2), ("bad", 0))
        )
        options = ("--near", 10, "--metrics", "dqe", "--fail-on-loss")
        worse = call("diff", good, bad, *options)
        assert worse.code == 1
        assert "event lost" in worse.out
        assert call("diff", bad, good, *options).code == 0
        assert call("diff", good, bad, *options[:-1]).code == 0

    def test_formats(self, tmp_path, call):
        demo = write_demo(tmp_path / "old.csv")
        found = json.loads(call("diff", demo, demo, "--metrics", "dqe", "--format", "json").out)
        assert found["has_loss"] is False
        assert len(found["changes"]) == 12
        rows = call("diff", demo, demo, "--metrics", "dqe", "--format", "csv").out.splitlines()
        assert len(rows) == 13
        assert "| DQE |" in call("diff", demo, demo, "--metrics", "dqe", "--format", "markdown").out

    def test_warnings(self, tmp_path, call):
        demo = write_demo(tmp_path / "old.csv")
        receipt = tmp_path / "receipt.json"
        call("score", demo, "--metrics", "dqe", "--near", 5, "--format", "json", "-o", receipt)
        near = ("diff", receipt, demo, "--near", 24, "--metrics", "dqe")
        sentence = "arning: old.csv: the near range is 5 before and 24 after"
        for options in ((), ("--format", "markdown")):
            done = call(*near, *options)
            assert (sentence in done.out, sentence in done.err) == (True, False)
        for options in (("--format", "csv"), ("-o", tmp_path / "diff.txt")):
            done = call(*near, *options)
            assert (sentence in done.out, sentence in done.err) == (False, True)

    def test_json_without_intervals(self, tmp_path, call):
        """A receipt has no events, unless they are asked for, and so no interval: JSON has null, not NaN."""
        receipt = tmp_path / "receipt.json"
        call("score", write_demo(tmp_path / "old.csv"), "--metrics", "dqe", "--format", "json", "-o", receipt)
        done = call("diff", receipt, receipt, "--format", "json")
        assert (done.code, done.err) == (0, "")
        changes = json.loads(done.out)["changes"]
        assert [(each["verdict"], each["low"], each["high"]) for each in changes] == [("same", None, None)] * 12

    def test_options_that_say_nothing(self, tmp_path, call):
        demo = write_demo(tmp_path / "old.csv")
        receipt = tmp_path / "receipt.json"
        call("score", demo, "--metrics", "dqe", "--format", "json", "-o", receipt)
        done = call("diff", receipt, receipt, "--near", 24)
        assert done.code == 2
        assert "receipts and runs hold numbers already" in done.err

    def test_page(self, tmp_path, call):
        good, bad = (
            write_series(tmp_path / name, ["a.csv", "b.csv"], strength) for name, strength in (("good", 2), ("bad", 0))
        )
        page = tmp_path / "diff.html"
        assert call("diff", good, bad, "--near", 10, "--metrics", "dqe", "--html", page).code == 0
        text = page.read_text()
        for heading in ("Numbers", "Events lost", "Series that changed", "Notes"):
            assert f">{heading}<" in text
        diff_page(dqeval.diff(bad, good, near=10, metrics="dqe"), page)
        assert ">Events gained<" in page.read_text()

    def test_page_without_events(self, tmp_path):
        one = difference(side("<x>", s={"a": Measured({"dqe": 0.5})}), side("y", s={"a": Measured({"dqe": 0.5})}))
        diff_page(one, tmp_path / "page.html")
        text = (tmp_path / "page.html").read_text()
        assert "Events" not in re.findall(r"<h2[^>]*>([^<]*)<", text)
        assert "&lt;x&gt;" in text


class TestShown:
    def test_frame(self):
        pytest.importorskip("pandas")
        found = dqeval.diff(columns(a=DEMO.scores["late"]), columns(a=DEMO.scores["sharp"]), metrics="dqe", near=24)
        frame = found.to_frame()
        assert frame["metric"].tolist() == list(SCORE_NAMES)
        assert "verdict" in frame

    def test_notebook(self):
        found = dqeval.diff(columns(a=DEMO.scores["late"]), columns(a=DEMO.scores["late"]), metrics="dqe", near=24)
        assert "every number is the same" in found._repr_html_()

    def test_nothing(self):
        empty = Diff("x", "y", 0, 0, (), (), (), ())
        assert empty._columns() == {}


def test_the_recipe(tmp_path, call, monkeypatch):
    """The gate of the page: it passes the scores it was made from, and fails worse ones."""
    monkeypatch.chdir(tmp_path)
    section = PAGE.read_text(encoding="utf-8").split("## A gate for pull requests")[1]
    write, judge = (shlex.split(line)[1:] for line in re.findall(r"^\$ (dqeval .*)$", section, flags=re.M))
    (inside,) = re.findall(r"run: (dqeval diff .*) >> ", section)
    assert shlex.split(inside)[1:] == judge
    names = [f"{i}.csv" for i in range(3)]
    write_series(tmp_path / "scored", names, 1.5)
    assert call(*write).code == 0
    assert call(*judge).code == 0
    (tmp_path / "scored").rename(tmp_path / "earlier")
    write_series(tmp_path / "scored", names, 0)
    worse = call(*judge)
    assert worse.code == 1
    assert "| DQE |" in worse.out
