"""Plans: what is wrong with them is said before the run, and what a run was started with is kept."""

import datetime
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from commands import caller
from dqeval import bench
from dqeval.bench.runner import progress_of
from dqeval.core.entries import Detector
from dqeval.core.registry import DETECTORS
from dqeval.detectors import kmeans_ad, sub_lof
from dqeval.detectors.parameters import check_parameters

if TYPE_CHECKING:
    from nowhere import Odd

DATA = {"generator": "synthetic", "n": 400, "period": 16, "events": 3}
PLAN = {"metrics": ["dqe"], "data": [DATA], "detector": [{"name": "fft"}]}
HUGE = 10**30
LARGEST = "9,223,372,036,854,775,807"


def data(**changes):
    return {"data": [{**DATA, **changes}]}


def of(name, **parameters):
    return {"detector": [{"name": name, **parameters}]}


BAD = {
    "a list for a detector": (of(["fft"]), "the name of [[detector]] must be text: got ['fft']"),
    "a table for a detector": (of({"a": 1}), "the name of [[detector]] must be text: got {'a': 1}"),
    "a number for a label": (of("fft", label=5), "the label of the detector fft must be text: got 5"),
    "a list for a label": (of("fft", label=["a"]), "the label of the detector fft must be text: got ['a']"),
    "no label": (of("fft", label=""), "the label of the detector fft may not be ''"),
    "a label with a meaning": (of("fft", label="*"), "the label of the detector fft may not be '*'"),
    "a list for a generator": (data(generator=["synthetic"]), "the generator of [[data]] must be text"),
    "a table for a generator": (data(generator={}), "the generator of [[data]] must be text"),
    "a number for a name": (data(name=3), "the name of [[data]] must be text: got 3"),
    "a table for a name": ({"data": [{"path": ".", "name": {"a": 1}}]}, "the name of [[data]] must be text"),
    "a list for a format": ({"scores": [{"path": ".", "format": []}]}, "the format of [[scores]] must be text"),
    "a list for a metric": ({"metrics": [["dqe"]]}, "metrics must hold names: got [['dqe']]"),
    "a table for a metric": ({"metrics": [{"name": "dqe"}]}, "metrics must hold names"),
    "a number for a module": ({"modules": [5]}, "modules must hold names: got [5]"),
    "a huge seed": ({"seeds": [HUGE]}, f"seeds is too large: whole numbers go up to {LARGEST}"),
    "a huge count": (data(count=HUGE), f"data.count is too large: whole numbers go up to {LARGEST}"),
    "a huge parameter": (of("sub_lof", window=HUGE), "detector.window is too large"),
    "many series": (data(count=10**7), "count must be at most 1,000,000: got 10,000,000"),
    "many points": (data(n=10**12), "the generator synthetic: n must be at most 1,000,000,000: got 1,000,000,000,000"),
    "a late seed": (data(seed=2**32 - 1, count=2), "seed must be at most 4,294,967,294: got 4,294,967,295"),
    "a huge timeout": ({"timeout": 10**18}, "timeout must be at most 1,000,000,000"),
    "a huge memory": ({"memory": 10**18}, "memory must be at most 1,000,000,000,000"),
    "a short series": (data(n=10), "the generator synthetic: 3 events of up to 16 points"),
    "text for points": (data(n="many"), "the generator synthetic: n must be a whole number of at least 1: got 'many'"),
    "one kind": (data(kinds="spike"), "the generator synthetic: kinds must be a list of spike, level, pattern"),
    "a number for kinds": (data(kinds=3), "kinds must be a list of spike, level, pattern: got 3"),
    "text for a number": (
        of("sub_lof", window="x"),
        "the detector sub_lof: window must be a whole number of at least 1",
    ),
    "a negative window": (
        of("kmeans_ad", window=-3),
        "the detector kmeans_ad: window must be a whole number of at leas",
    ),
    "half a cluster": (of("kmeans_ad", clusters=0.5), "the detector kmeans_ad: clusters must be a whole number of at"),
    "another variant": (of("sr", variant="x"), "the detector sr: variant must be 'corrected' or 'published': got 'x'"),
    "a number for a device": (of("cnn", device=0), "the detector cnn: device must be text: got 0"),
    "a date": (of("sr", variant=datetime.date(2000, 1, 1)), "detector.variant must be text, a number, true or false"),
    "a lone surrogate": (
        of("fft", label="\ud800"),
        "detector.label holds a character that cannot be written: '\\ud800'",
    ),
    "a key that is no text": ({5: 1}, "a key must be text: got 5"),
    "bytes": (of("fft", label=b"x"), "detector.label must be text, a number, true or false, a list or a table"),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD)
def test_wrong_values_are_found_before_the_run(changes, message, tmp_path):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        bench.run({**PLAN, **changes}, tmp_path / "run")
    assert message in str(error.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[detector]]\nname = ["fft"]\n', "the name of [[detector]] must be text: got ['fft']"),
        ('[[detector]]\nname = "fft"\nlabel = 5\n', "the label of the detector fft must be text: got 5"),
        (f"seeds = [{HUGE}]\n", "seeds is too large"),
        (f"seeds = [{'9' * 5000}]\n", "this is not a plan in TOML: Exceeds the limit"),
        (f"seeds = {'[' * 5000}", "this is not a plan in TOML: "),
        ("metrics = [2000-01-01]\n", "metrics must be text, a number"),
    ],
)
def test_in_a_file_too(monkeypatch, capsys, tmp_path, text, message):
    (tmp_path / "plan.toml").write_text(text)
    found = caller(monkeypatch, capsys)("bench", "run", tmp_path / "plan.toml", "-o", tmp_path / "run")
    assert (found.code, found.err.count("\n")) == (2, 1)
    assert message in found.err


def test_names_of_series_that_cannot_be_written(tmp_path):
    place = tmp_path / "data"
    place.mkdir()
    try:
        (place / "a\udcff.csv").write_text("value,label\n1,0\n")
    except (OSError, UnicodeEncodeError):
        pytest.skip("no such file can be made here")
    plan = bench.make_plan({**PLAN, "data": [{"path": "data"}]}, folder=tmp_path)
    assert [series.source.name for series in plan.series] == ["a\\udcff"]


# Parameters -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("detector", list(DETECTORS), ids=lambda detector: detector.name)
def test_what_a_plan_refuses_the_detector_would_refuse_too(detector):
    """The least that parameters may be is said twice: to plans, and by the detector itself."""
    whole = {
        name
        for name, default in detector.parameters.items()
        if type(default) is int or name in ("window", "most_compared")
    }
    assert set(detector.least) == whole - {"seed"}
    series = np.sin(np.arange(400.0))
    for name, least in detector.least.items():
        told = f"{name} must be a whole number of at least {least}: got {least - 1}"
        with pytest.raises(ValueError, match=told):
            detector.function(series, **{name: least - 1})
        with pytest.raises(ValueError, match=f"the detector {detector.name}: {told}"):
            check_parameters(detector, {name: least - 1})
        check_parameters(detector, {name: least})
    check_parameters(detector, detector.parameters)


def own(
    values,
    *,
    plain=1,
    power: float = 1.0,
    name: str = "a",
    flag: bool = False,
    some: int | None = None,
    mode: Literal["a", 3] = "a",
    several: Literal["x"] | float = "x",
    other: list | None = None,
):
    """Do nothing: only the signature counts."""


def unknown(values, *, odd: "Odd" = 3):
    """Have a type that nobody can look up."""


def entry(function, **parameters):
    return Detector(function.__name__, "Own", function, False, True, parameters, None, "", "")


@pytest.mark.parametrize(
    ("name", "good", "bad", "told"),
    [
        ("plain", [2, 2.5, -1], ["x", True, None], "a number"),
        ("power", [2, 0.5], ["x", True, [1]], "a number"),
        ("name", ["b", ""], [3, None], "text"),
        ("flag", [True], [1, "yes"], "true or false"),
        ("some", [None, 3, 2.0], ["x", False], "a number"),
        ("mode", ["a", 3], ["b", 4], "'a' or 3"),
        ("several", ["x", 2], ["y"], "'x' or a number"),
        ("other", [None, [1], "anything"], [], ""),
    ],
)
def test_parameters_of_ones_own_detectors(name, good, bad, told):
    detector = entry(own, plain=1, power=1.0, name="a", flag=False, some=None, mode="a", several="x", other=None)
    for value in good:
        check_parameters(detector, {name: value})
    for value in bad:
        with pytest.raises(ValueError) as error:  # noqa: PT011
            check_parameters(detector, {name: value})
        assert str(error.value) == f"the detector own: {name} must be {told}: got {value!r}"


def test_types_that_cannot_be_looked_up():
    check_parameters(entry(unknown, odd=3), {"odd": 4})
    with pytest.raises(ValueError, match="odd must be a number: got 'x'"):
        check_parameters(entry(unknown, odd=3), {"odd": "x"})
    check_parameters(entry(unknown, odd=None), {"odd": "x"})


def test_the_least_is_still_said_by_the_detectors():
    for call in (lambda: sub_lof([1.0] * 50, window=0), lambda: kmeans_ad([1.0] * 50, window=1)):
        with pytest.raises(ValueError, match="window must be a whole number of at least"):
            call()


# What is kept ---------------------------------------------------------------------------------------------------------


def test_tables_and_everything_that_json_holds_are_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("series").mkdir()
    lines = [f"{np.sin(i)},{int(i % 50 > 45)}" for i in range(300)]
    Path("series/a.csv").write_text("\n".join(["value,label", *lines]))
    content = {
        "metrics": ("dqe",),
        "data": [{"path": Path("series"), "name": 'my "own" \\ name\n2'}],
        "detector": [{"name": "sub_lof", "window": np.int64(8)}],
    }
    assert bench.run(content, "run").done == 1
    kept = json.loads(Path("run/plan.json").read_text(encoding="utf-8"))["plan"]
    assert kept["data"] == [{"path": str(tmp_path / "series"), "name": 'my "own" \\ name\n2'}]
    assert kept["detector"] == [{"name": "sub_lof", "window": 8}]
    Path("other").mkdir()
    monkeypatch.chdir("other")
    assert str(progress_of("../run")) == "1 of 1 jobs done, 0 failed, 0 left"
    assert bench.retry("../run").earlier == 1
    assert bench.run("../run/plan.json", "../again").done == 1


@pytest.mark.parametrize("text", ["", '{\n  "kept_by": "dqeval bench run",\n  "pl'])
def test_a_kept_plan_that_was_cut_short_is_written_again(tmp_path, text):
    bench.run(PLAN, tmp_path)
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(ValueError, match=r"plan\.json: this is not a plan in JSON"):
        progress_of(tmp_path)
    assert bench.run(PLAN, tmp_path).earlier == 1
    assert progress_of(tmp_path).done == 1


def test_a_plan_that_an_earlier_version_kept(tmp_path):
    first = "# Kept by dqeval bench run, shard 1/2\n"
    plan = f'{first}metrics = ["dqe"]\n[[data]]\ngenerator = "synthetic"\nn = 400\nperiod = 16\nevents = 3\n'
    (tmp_path / "mine.toml").write_text(f'{plan}count = 4\n[[detector]]\nname = "fft"\n')
    run = tmp_path / "run"
    bench.run(tmp_path / "mine.toml", run, shard=(1, 2))
    (run / "plan.json").unlink()
    shutil.copy(tmp_path / "mine.toml", run / "plan.toml")
    assert str(progress_of(run)) == "2 of 2 jobs done, 0 failed, 0 left"
    assert bench.retry(run).earlier == 2
    assert json.loads((run / "plan.json").read_text())["shard"] == [1, 2]


def test_somebodys_own_plan_beside_merged_results_is_not_the_runs(tmp_path):
    bench.run(PLAN, tmp_path / "run")
    bench.merge([tmp_path / "run"], tmp_path / "merged")
    (tmp_path / "merged" / "plan.toml").write_text(
        'metrics = ["dqe"]\n[[data]]\ngenerator = "synthetic"\ncount = 50\n[[detector]]\nname = "sr"\n'
    )
    for use in (progress_of, bench.retry):
        with pytest.raises(ValueError, match="no plan is stored here"):
            use(tmp_path / "merged")


def test_an_empty_plan_of_an_earlier_version_stops_nothing(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "plan.toml").write_text("")
    assert bench.run(PLAN, tmp_path / "run").done == 1
    assert progress_of(tmp_path / "run").done == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1], "this is not a plan in JSON: it must have keys and values: got [1]"),
        ({"plan": 3}, "this is not a plan in JSON: it must have keys and values: got 3"),
        ({"plan": {"data": 5}}, "plan.json: data must be a list"),
        ({"plan": PLAN}, "plan.json: shard must be a part and the number of parts, such as [1, 3]: got None"),
        ({"plan": PLAN, "shard": [1]}, "got [1]"),
        ({"plan": PLAN, "shard": ["a", 2]}, "got ['a', 2]"),
    ],
)
def test_a_kept_plan_that_somebody_changed(tmp_path, content, message):
    bench.run(PLAN, tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps(content))
    with pytest.raises(ValueError) as error:  # noqa: PT011
        bench.retry(tmp_path)
    assert message in str(error.value)


def test_more_time_is_given_in_the_kept_plan(tmp_path):
    bench.run({**PLAN, "timeout": 5}, tmp_path)
    text = (tmp_path / "plan.json").read_text()
    (tmp_path / "plan.json").write_text(text.replace('"timeout": 5', '"timeout": 50'))
    assert bench.retry(tmp_path).earlier == 1
    assert json.loads((tmp_path / "plan.json").read_text())["plan"]["timeout"] == 50
