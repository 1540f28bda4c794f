"""A small benchmark run with odd names and a detector that fails, its site, and what is in that."""

import json
import re

from benchmarks.generated_run import write_run
from dqeval.bench.bounds import BOUNDS
from dqeval.bench.jobs import Job, failure_of
from dqeval.bench.plan import Generated, PlannedDetector, PlannedSeries
from dqeval.bench.store import Store

ODD = ["<script>alert('series')</script>", "a/b: ?", "con", "A", "a", "turned \u202e around", "turned \\u202e around"]
SERIES = [*ODD, *(f"plain {i}" for i in range(9))]
DETECTORS = ["good", "</script><b>fair", "poor", "random"]
METRICS = ["dqe", "vus_pr", "auc_roc"]
DATASETS = ["one", "two & <i>"]
BROKEN = "broken \u202e"


def fail(folder, detector, series):
    """Add a detector that fails on some series, and so has no value."""
    with Store(folder, create=True) as store:
        planned, named = store.planned_detectors(), store.planned_series()
        store.plan([*planned, detector], [*named, *series])
        for i, name in enumerate(series):
            dataset = DATASETS[SERIES.index(name) % 2]
            source = PlannedSeries(dataset, Generated(name, "synthetic", ()))
            job = Job(source, PlannedDetector(detector, "x", ()), 0, tuple(METRICS), None, None, "", "")
            store.add(job, f"{detector} {i}", failure_of(job, "ValueError: <i>no</i>", "a traceback"))


def write_odd_run(folder):
    write_run(folder, series=SERIES, detectors=DETECTORS, metrics=METRICS, datasets=DATASETS, seeds=3, bounds=BOUNDS)
    fail(folder, BROKEN, SERIES)


def content_of(site):
    """Return what the page itself has."""
    text = (site / "index.html").read_text(encoding="utf-8")
    return json.loads(re.search(r"const dqevalContent = (.*);</script>", text)[1])


def data_of(site, file):
    text = (site / "data" / file).read_text(encoding="utf-8")
    found = re.fullmatch(r"dqevalSite\((\"[^\n]*?\"), (.*)\);\n", text)
    assert json.loads(found[1]) == file
    return json.loads(found[2])
