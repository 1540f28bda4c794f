"""Metrics and detectors of one's own: registered in Python, in a module or a file, or offered by a package."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer

import dqeval
from commands import caller, write_demo
from dqeval import bench
from dqeval.cli.app import app
from dqeval.core.registry import DETECTORS, METRICS, Registry

OWN = '''
import numpy as np

import dqeval


@dqeval.metric(takes="detections", label="Hit rate")
def hit_rate(y_true, y_pred, *, power=1.0):
    """Share of the anomalous points that are detected."""
    return y_pred[y_true == 1].mean() ** power


@dqeval.metric(takes="scores")
def mean_gap(y_true, y_score):
    return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()


@dqeval.detector(label="Distance")
def distance(values):
    """Score each point by how far it is from the mean."""
    return np.abs(values - values.mean())
'''
OFFERS = "[dqeval.metrics]\nhit_rate = {name}:hit_rate\nmean_gap = {name}:mean_gap\n[dqeval.detectors]\nall = {name}\n"
DATA = [{"generator": "synthetic", "n": 400, "period": 16, "events": 2}]
Y_TRUE, Y_SCORE = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.9, 0.4, 0.3, 0.2]


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    """Forget what a test imports and makes importable, and let packages be looked for again."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for registry in (METRICS, DETECTORS):
        monkeypatch.setattr(registry, "_complete", False)
    before = set(sys.modules)
    yield
    for name in {"own", "more", "acme", "broken"} & (set(sys.modules) - before):
        del sys.modules[name]


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return a function that installs a package of one module, as far as Python can tell."""
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site))

    def install(name="acme", content=OWN, offers=OFFERS):
        information = site / f"{name}-1.0.dist-info"
        information.mkdir(parents=True)
        (site / f"{name}.py").write_text(content)
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-evaluation\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text(offers.format(name=name))

    return install


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Return a function that runs the command line in a folder with a series and with a file of one's own."""
    monkeypatch.chdir(tmp_path)
    write_demo(tmp_path / "scores.csv", length=400)
    (tmp_path / "own.py").write_text(OWN)
    run_here = caller(monkeypatch, capsys)

    def run(*arguments, code=0):
        done = run_here(*arguments)
        assert done.code == code, done.err
        return done

    return run


def test_a_metric_needs_a_function_and_what_it_takes():
    exec(OWN, {"__name__": "own"})
    found = dqeval.panel(Y_TRUE, Y_SCORE, near=1, metrics=["hit_rate", "mean_gap"])
    assert found.values == {"hit_rate": 1.0, "mean_gap": pytest.approx(0.65 - 0.2)}
    assert (found.labels["hit_rate"], found.labels["mean_gap"]) == ("Hit rate", "mean_gap")
    assert found.parameters["hit_rate"] == {"power": 1.0}
    metric = METRICS["mean_gap"]
    assert (metric.cost, metric.citation, metric.same_as, metric.summary) == (None, "", "", "")
    assert dqeval.panel(Y_TRUE, [0, 0, 1, 0, 0, 0], near=1, metrics=["hit_rate"])["hit_rate"] == 0.5
    series = dqeval.Series("s", np.array(Y_TRUE), {"a": np.array(Y_SCORE)})
    assert "hit_rate" in dqeval.compare(series, near=1).panels["a"]


def test_the_best_threshold_of_a_metric_of_ones_own():
    exec(OWN, {"__name__": "own"})
    best = dqeval.best_threshold("hit_rate", Y_TRUE, [0.1, 0.2, 0.9, 0.9, 0.3, 0.2])
    assert (best.value, best.threshold) == (1.0, 0.9)
    assert math.isnan(best.precision)
    assert dqeval.best_threshold("hit_rate", [0, 1, 1], [1, 1, 0], power=0.5, thresholds=2).value == 0.5**0.5
    with pytest.raises(TypeError, match="unexpected keyword argument 'strength'"):
        dqeval.best_threshold("hit_rate", Y_TRUE, Y_SCORE, strength=2)


def test_a_metric_that_is_undefined_must_say_why():
    @dqeval.metric(takes="scores")
    def no_number(y_true, y_score):
        return math.nan

    @dqeval.metric(takes="scores")
    def says_why(y_true, y_score):
        raise dqeval.UndefinedError("there is no moon")

    with pytest.raises(dqeval.MetricError, match="it returned nan: where it is undefined"):
        dqeval.panel(Y_TRUE, Y_SCORE, near=1, metrics=["no_number"])
    found = dqeval.panel(Y_TRUE, Y_SCORE, near=1, metrics=["says_why"])
    assert found.failures == {"says_why": "undefined, because there is no moon"}


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        (lambda sweep: sweep.hits, r"must return two arrays, .* 5 thresholds: got a single shape \(5,\)$"),
        (lambda sweep: (sweep.hits,), r"must return two arrays, .* 5 thresholds: got a single shape \(5,\)$"),
        (lambda sweep: (sweep.hits,) * 4, r"must return two arrays, or three, .*: got shapes \(5,\) and \(5,\) and"),
        (
            lambda sweep: (sweep.hits, sweep.hits[1:]),
            r"must return .* one number for each of 5 thresholds: got shapes \(5,\) and \(4,\)",
        ),
        (lambda sweep: (sweep.hits, sweep.hits, sweep.hits * math.nan), "returned NaN: where nothing is defined"),
        (lambda sweep: (sweep.hits, sweep.hits * math.nan), "returned NaN: where nothing is defined, raise dqeval.Un"),
    ],
)
def test_what_at_every_level_must_return(returned, problem):
    @dqeval.metric(takes="detections", at_every_level=returned, sweep="all")
    def swept(y_true, y_pred):
        raise AssertionError

    with pytest.raises(ValueError, match=f"^at_every_level {problem}"):
        dqeval.best_threshold("swept", [0, 0, 1, 1, 0], [1, 2, 3, 4, 5])
    with pytest.raises(dqeval.MetricError, match=f"swept failed, .*: at_every_level {problem}"):
        dqeval.panel([0, 0, 1, 1, 0], [1, 2, 3, 4, 5], near=1, metrics=["swept"])


def test_errors_at_every_level_say_which_metric_failed():
    def fails(sweep):
        raise KeyError("typo")

    @dqeval.metric(takes="detections", at_every_level=fails, sweep="all")
    def swept(y_true, y_pred):
        raise AssertionError

    with pytest.raises(dqeval.MetricError, match=r"the metric swept failed, .*: KeyError: 'typo'"):
        dqeval.best_threshold("swept", [0, 1, 0], [1, 1, 2])


def test_what_is_undefined_at_every_level_is_undefined():
    def undefined(sweep):
        raise dqeval.UndefinedError("there is no Monday")

    @dqeval.metric(takes="detections", at_every_level=undefined, sweep="all")
    def swept(y_true, y_pred):
        raise AssertionError

    with pytest.raises(dqeval.UndefinedError, match="there is no Monday"):
        dqeval.best_threshold("swept", [0, 1, 0], [1, 1, 2])


def test_lists_at_every_level():
    @dqeval.metric(takes="detections", at_every_level=lambda sweep: ([0.0, 1.0], [1.0, 1.0]), sweep="all")
    def swept(y_true, y_pred):
        raise AssertionError

    assert dqeval.best_threshold("swept", [0, 1, 0], [1, 1, 2]).value == 1.0


@pytest.mark.parametrize("takes", ["score", None, ["scores"]])
def test_what_a_metric_may_take(takes):
    with pytest.raises(ValueError, match='takes must be "scores" or "detections": got '):
        dqeval.metric(takes=takes)


def test_a_detector_needs_nothing_but_a_function():
    @dqeval.detector()
    def plain(values):
        return values

    found = DETECTORS["plain"]
    assert (found.label, found.citation, found.summary, found.trains) == ("plain", "", "", False)


def test_what_packages_offer_is_found_by_name(installed):
    installed()
    before = tuple(DETECTORS._entries)
    assert dqeval.panel(Y_TRUE, Y_SCORE, near=1, metrics=["hit_rate"])["hit_rate"] == 1.0
    assert METRICS.names[-2:] == ("hit_rate", "mean_gap")
    assert DETECTORS.names == (*before, "distance")
    assert DETECTORS["distance"].function([1.0, 3.0] @ np.eye(2)).tolist() == [1.0, 1.0]


def test_what_packages_offer_is_listed(installed):
    installed()
    assert [metric.name for metric in METRICS][-1] == "mean_gap"
    assert "mean_gap" in dqeval.panel(Y_TRUE, Y_SCORE, near=1)


def test_packages_are_not_looked_for_before_they_are_needed(installed):
    installed()
    program = """
import sys
import dqeval
dqeval.panel([0, 1, 0], [0, 1, 0], near=1, metrics=["dqe", "auc_roc"])
assert dqeval.detectors.DETECTORS["fft"].label == "FFT"
assert not {"importlib.metadata", "acme"} & set(sys.modules)
dqeval.METRICS["hit_rate"]
assert {"importlib.metadata", "acme"} <= set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("content", "offer", "told"),
    [
        ("", "a = lacking", "'a' (lacking) of the package broken-evaluation: ModuleNotFoundError: No module named"),
        ("", "a = broken:x", "AttributeError: module 'broken' has no attribute 'x'"),
        ("raise ValueError('two\\nlines')", "a = broken", "broken-evaluation: ValueError: two lines"),
        ("import sys; sys.exit(3)", "a = broken", "SystemExit: 3"),
        ("def x(): pass", "a = broken:x", "TypeError: it is not registered: write @dqeval.metric(…) above it"),
        (OWN.replace("def hit_rate", "def auc_roc"), "a = broken", "a metric named 'auc_roc' already exists"),
        (f"{OWN}\n1 / 0", "a = broken", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_broken_offer_is_named_and_left_out(installed, content, offer, told):
    installed("broken", content, f"[dqeval.metrics]\n{offer}\n")
    installed("acme", offers="[dqeval.metrics]\nmean_gap = {name}:mean_gap\n", content=OWN.replace("hit_", "good_"))
    before = dict(METRICS._entries)
    with pytest.warns(dqeval.PluginWarning) as caught:
        names = METRICS.names
    assert len(caught) == 1
    assert str(caught[0].message).startswith("left out the metric 'a' (")
    assert told in str(caught[0].message)
    assert names == (*before, "good_rate", "mean_gap")
    assert METRICS["auc_roc"] is before["auc_roc"]
    assert METRICS.names == names  # and nothing is said twice


def test_an_offer_of_nobody_knows_whom(monkeypatch):
    from importlib.metadata import EntryPoint

    offer = EntryPoint("x", "no_such_thing", "dqeval.metrics")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [offer])
    with pytest.warns(dqeval.PluginWarning, match="of the package an unknown package: ModuleNotFoundError"):
        len(METRICS)


def test_a_package_may_look_at_the_registry_while_it_is_imported(installed):
    installed(content=f"import dqeval\nbefore = dqeval.METRICS.names\n{OWN}")
    assert "hit_rate" in METRICS.names
    assert "hit_rate" not in sys.modules["acme"].before


def test_registries_without_offers(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", None)
    assert Registry("thing").names == ()


@pytest.mark.slow
@pytest.mark.unmeasured
def test_worker_processes_find_what_packages_offer(installed, tmp_path):
    installed()
    plan = {"metrics": ["dqe", "mean_gap"], "data": DATA, "detector": [{"name": "distance"}]}
    assert bench.run(plan, tmp_path / "run", workers=1).failed == 0
    with bench.Store(tmp_path / "run") as store:
        assert {row["metric"] for row in store.values()} == {"dqe", "mean_gap"}


@pytest.mark.filterwarnings("always")
def test_the_command_line_says_what_is_broken(installed, call):
    installed("broken", "1 / 0", "[dqeval.metrics]\nx = broken\n")
    told = "left out the metric 'x' (broken) of the package broken-evaluation: ZeroDivisionError: division by zero"
    assert call("metrics").err == f"dqeval: warning: {told}\n"


def test_other_warnings_of_the_command_line_stay_as_they_are(call, tmp_path):
    (tmp_path / "own.py").write_text(f"import warnings\nwarnings.warn('beware')\n{OWN}")
    with pytest.warns(UserWarning, match="beware"):
        assert call("metrics", "--module", "own.py").err == ""


TAKES_MODULES = {
    *("score", "compare", "diff", "report", "verify", "metrics", "properties", "stress", "detect", "detectors"),
    *("bench run", "bench status", "bench rank", "bench report", "bench site"),
}


def test_which_commands_take_modules():
    commands = typer.main.get_command(app).commands
    leaves = {name: command for name, command in commands.items() if not hasattr(command, "commands")}
    leaves |= {f"bench {name}": command for name, command in commands["bench"].commands.items()}
    taking = {name for name, command in leaves.items() if any("--module" in each.opts for each in command.params)}
    assert taking == TAKES_MODULES
    # Whatever takes names of metrics or detectors is among them; those of `rank` are columns of a table.
    for name, command in leaves.items():
        if name == "rank":
            continue
        names = {"--metrics", "--detector"} & {option for each in command.params for option in each.opts}
        assert not names or name in taking
    # The table of what each command may run names every command once, and no other.
    table = (Path(__file__).parent.parent / "SECURITY.md").read_text(encoding="utf-8").partition("|---|---|\n")[2]
    rows = [line.split("|")[1:3] for line in table.partition("\n\n")[0].splitlines()]
    listed = [(name, "--module" in code) for names, code in rows for name in re.findall("`(.*?)`", names)]
    every = {*leaves, *(f"datasets {name}" for name in commands["datasets"].commands)}
    assert sorted(listed) == sorted((name, name in taking) for name in every)


@pytest.mark.slow
@pytest.mark.parametrize("module", ["own.py", "own"])
@pytest.mark.unmeasured
def test_metrics_of_a_module_work_in_every_command(call, module):
    with_module = ("--module", module)
    told = call("metrics", *with_module).out
    assert "hit_rate (Hit rate), takes detections\n    Share of the anomalous points that are detected.\n" in told
    assert (
        "mean_gap (mean_gap), takes scores\n    No description: its function has no docstring.\n    Parameters: none.\n"
        in told
    )
    assert "\n    Its running time has not been measured." in told
    listed = json.loads(call("metrics", "--format", "json", *with_module).out)["metrics"]
    assert [metric["cost"] for metric in listed if metric["name"] == "hit_rate"] == [None]
    call("score", "scores.csv", "--metrics", "dqe,hit_rate", "--format", "json", "-o", "receipt.json", *with_module)
    assert call("verify", "receipt.json", "scores.csv", *with_module).out.startswith("The receipt holds")
    assert "\nHit rate " in call("diff", "scores.csv", "scores.csv", "--metrics", "hit_rate", *with_module).out
    assert "Hit rate" in call("compare", "scores.csv", "--fail-under", "hit_rate=0", *with_module).out
    call("report", "scores.csv", "-o", "page.html", *with_module)
    with open("page.html", encoding="utf-8") as page:
        assert "Hit rate" in page.read()


@pytest.mark.slow
@pytest.mark.unmeasured
def test_detectors_of_a_module_work_in_every_command(call, tmp_path):
    with_module = ("--module", "own.py")
    assert "distance (Distance)\n    Score each point by" in call("detectors", *with_module).out
    call("detect", "scores.csv", "--detector", "distance", "-o", "scored", *with_module)
    assert "distance" in dqeval.datasets.load(tmp_path / "scored" / "scores.csv").scores


@pytest.mark.slow
@pytest.mark.unmeasured
def test_a_run_with_modules(call, tmp_path):
    plan = 'metrics = ["dqe", "hit_rate"]\n[[data]]\ngenerator = "synthetic"\nn = 400\nperiod = 16\nevents = 2\n'
    (tmp_path / "plan.toml").write_text(
        f'{plan}count = 2\n[[detector]]\nname = "distance"\n[[detector]]\nname = "fft"\n'
    )
    call("bench", "run", "plan.toml", "-o", "run", "--workers", 1, "--module", "own.py")
    kept = json.loads((tmp_path / "run" / "plan.json").read_text())["plan"]
    assert kept["modules"] == [str((tmp_path / "own.py").resolve())]
    # The run keeps the modules, so that others need not be told again.
    assert call("bench", "status", "run").out == "4 of 4 jobs done, 0 failed, 0 left\n"
    call("bench", "retry", "run", "--workers", 0)
    assert "Hit rate" in call("bench", "rank", "run", "--module", "own.py").out
    call("bench", "report", "run", "-o", "bench.html", "--module", "own.py")
    assert "Hit rate" in (tmp_path / "bench.html").read_text(encoding="utf-8")
    call("bench", "export", "run", "-o", "all.csv")
    assert "hit_rate" in (tmp_path / "all.csv").read_text(encoding="utf-8")


def test_a_run_that_nobody_knows_the_metrics_of(call, tmp_path):
    """With ``bench rank`` and ``bench report``, which show names in place of labels."""
    exec(OWN, {"__name__": "own"})
    plan = bench.make_plan({"metrics": ["hit_rate"], "data": DATA, "detector": [{"name": "distance"}, {"name": "fft"}]})
    bench.run(plan, tmp_path / "run")
    del METRICS._entries["hit_rate"]
    assert "hit_rate" in call("bench", "rank", "run").out
    call("bench", "report", "run", "-o", "bench.html")
    assert "best by hit_rate" in (tmp_path / "bench.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("there", [[], ["own.py"]])
def test_modules_are_added_to_those_of_a_plan(call, tmp_path, there):
    content = {"modules": there, "metrics": ["dqe"], "data": DATA, "detector": [{"name": "distance"}]}
    content = {key: value for key, value in content.items() if value}
    (tmp_path / "more.py").write_text("")
    assert bench.run(content, tmp_path / "run", modules=["more.py", "own.py"]).failed == 0
    assert bench.retry(tmp_path / "run").failed == 0
    plan = bench.make_plan({**content, "modules": ["own.py"]})
    assert bench.run(plan, tmp_path / "other", modules=["more.py"]).failed == 0
    with pytest.raises(ValueError, match="modules must be a list"):
        bench.run({**content, "modules": "own.py"}, tmp_path / "third", modules=["more.py"])


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("lost.py", "--module lost.py cannot be imported: there is no such file"),
        (
            "lost",
            "--module lost cannot be imported: No module named 'lost'; name a file, such as own.py, or install it",
        ),
        ("json.py", "--module json.py cannot be imported: another module is called 'json', so rename the file"),
        ("sys.py", "--module sys.py cannot be imported: another module is called 'sys', so rename the file"),
        ("broken.py", "--module broken.py cannot be imported: ZeroDivisionError: division by zero"),
        (
            "needy.py",
            "--module needy.py cannot be imported: it imports absent, which is not found: install it, or put it beside",
        ),
    ],
)
def test_a_module_that_cannot_be_imported(call, tmp_path, module, told):
    for name in ("json.py", "sys.py", "broken.py"):
        (tmp_path / name).write_text("1 / 0")
    (tmp_path / "needy.py").write_text("import absent")
    assert call("metrics", "--module", module, code=2).err == f"dqeval: {told}\n"


def test_a_broken_offer_leaves_the_others_of_its_module(installed):
    installed("acme", OWN, "[dqeval.metrics]\na = acme:missing\nb = acme:hit_rate\n")
    with pytest.warns(dqeval.PluginWarning, match="has no attribute 'missing'") as caught:
        assert "hit_rate" in METRICS.names
    assert len(caught) == 1


def test_a_metric_that_changes_its_input_changes_no_other():
    @dqeval.metric(takes="scores")
    def sorts(y_true, y_score):
        """Sort the scores where they are."""
        y_score.sort()
        y_true[:] = 0
        return 0.5

    y_true, y_score = np.array([0, 1, 1, 0, 0, 1]), np.array([0.9, 0.8, 0.1, 0.3, 0.2, 0.7])
    alone = dqeval.panel(y_true, y_score, near=1, metrics=["auc_roc"])["auc_roc"]
    before = y_score.copy()
    assert dqeval.panel(y_true, y_score, near=1, metrics=["sorts", "auc_roc"])["auc_roc"] == alone
    assert (y_score == before).all()


def test_a_detector_may_require_its_seed():
    @dqeval.detector()
    def seeded_scores(values, *, seed):
        """Give random scores."""
        return np.random.default_rng(seed).random(len(values))

    found = [dqeval.detect(np.arange(9.0), "seeded_scores", seed=seed).tolist() for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
