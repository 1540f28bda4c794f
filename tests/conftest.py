"""Hypothesis settings, and the data that only some machines have."""

import contextlib
import importlib
import os
import pkgutil
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import dqeval
from dqeval import kernels
from dqeval.core.registry import DETECTORS
from dqeval.support import extras

# By default every run has the same examples, so that none fails by chance and more of them would find nothing new; the
# others draw new ones. No profile keeps what failed for the next run: the blob that is printed, or the seed, brings it
# back.
settings.register_profile("default", deadline=None, max_examples=30, derandomize=True, database=None)
settings.register_profile("quick", settings.get_profile("default"), max_examples=10)
settings.register_profile("random", deadline=None, max_examples=30, database=None, print_blob=True)
settings.register_profile("quick-random", settings.get_profile("random"), max_examples=10)
settings.register_profile("thorough", settings.get_profile("random"), max_examples=20_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Looked through for examples, it would be imported, and its detectors registered, before any test runs.
collect_ignore = ["odd_detectors.py"]

# Files whose tests start processes, draw, train or follow whole experiments: `./scripts/test fast` leaves them out.
SLOW_FILES = {
    "test_bench",
    "test_bench_changes",
    "test_bench_cli",
    "test_bench_cluster",
    "test_bench_modules",
    "test_bench_reading",
    "test_bench_report",
    "test_bench_site",
    "test_benchmarks",
    "test_build",
    "test_cli",
    "test_cli_bad_input",
    "test_cli_use",
    "test_deep",
    "test_detect",
    "test_door",
    "test_experiments_cases",
    "test_experiments_published",
    "test_experiments_rankings",
    "test_experiments_runs",
    "test_experiments_synthetic",
    "test_extending",
    "test_extras",
    "test_figure",
    "test_fuzz",
    "test_hostile_files",
    "test_incident_files",
    "test_label_editor",
    "test_lab_docs",
    "test_lock",
    "test_long_tables",
    "test_metric_properties",
    "test_page",
    "test_page_use",
    "test_pool",
    "test_receipts",
    "test_reproduce",
    "test_shown",
    "test_site_page",
    "test_store",
    "test_stress",
    # and modules whose examples train a network, draw a page or search for counter-examples
    "convolution",
    "matrix_result",
    "series_page",
    "times_net",
}

# Files, the last of them of examples, that reach no line that no other test does.
UNMEASURED_FILES = {
    *("test_benchmarks", "test_build", "test_docs", "test_extending_pages", "test_fuzz", "test_lab_docs"),
    *("test_label_editor", "test_metadata", "test_package", "test_packing", "test_page_use", "test_perturbations"),
    *("test_pitfalls", "test_site_page", "test_workers", "matrix_result", "properties", "times_net", "timesnet"),
}
if kernels.compiled:  # these are measured with interpreted kernels
    UNMEASURED_FILES |= {
        "test_common",
        "test_detectors",
        "test_dqe",
        "test_dqe_of_intervals",
        "test_kernels",
        "test_metrics",
        "test_more_metrics",
        "test_panel",
        "test_partition",
        "test_properties",
        "test_reference",
        "test_sorting",
        "test_sweep",
    }

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("DQEVAL_DATA", ROOT.parent / "shared" / "data"))


def pytest_ignore_collect(collection_path, config):
    """Do not even import files of which no test is to run: some bring in libraries that take seconds."""
    return (config.option.markexpr == "not slow" and collection_path.stem in SLOW_FILES) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.stem in SLOW_FILES:
            item.add_marker("slow")
        if item.path.stem in UNMEASURED_FILES or item.get_closest_marker("data"):  # coverage is complete without data
            item.add_marker("unmeasured")
    yield  # pytest leaves out what no marker chooses, and puts together what shares a fixture
    items.sort(key=is_unmeasured)


def is_unmeasured(item):
    marker = item.get_closest_marker("unmeasured")
    return marker is not None and not any(text in item.name for text in marker.kwargs.get("but", ()))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session):
    """Do not measure coverage while tests are found, which takes seconds: it reaches nothing but imports of dqeval."""
    measurement = coverage_measurement()
    if measurement is None:
        return (yield)
    import_all_of_dqeval()
    if not hasattr(session.config, "workerinput") and getattr(session.config.option, "numprocesses", None):
        measurement.stop()  # this process only hands out tests to others
    measure = sys.gettrace()
    sys.settrace(None)
    found = yield
    sys.settrace(measure)
    return found


def coverage_measurement():
    """Return what measures coverage in this process, if anything does."""
    return sys.modules["coverage"].Coverage.current() if "coverage" in sys.modules else None


def import_all_of_dqeval():
    """Import every module whose libraries are here, and do not measure those, which may take seconds."""

    def require(name, *others):
        measure = sys.gettrace()  # in this very function: coverage must see each call that it sees return
        sys.settrace(None)
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
        sys.settrace(measure)
        return plainly(name, *others)

    plainly, extras.require = extras.require, require
    for module in pkgutil.walk_packages(dqeval.__path__, "dqeval."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    extras.require = plainly


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    """Stop measuring coverage, for good, before the first test that is not measured: those come last.

    Measured again after it, the next test would find modules imported and results kept, and reach fewer lines.
    """
    measurement = coverage_measurement()
    if measurement is not None and is_unmeasured(item):
        stop_for_good(measurement)
        os.environ.pop("COVERAGE_PROCESS_CONFIG", None)  # by which the processes that tests start are measured
    return (yield)


def pytest_sessionfinish():
    """Write down what was measured while there is time: processes that end slowly are killed by the one that waits."""
    measurement = coverage_measurement()
    if measurement is not None:
        stop_for_good(measurement)


def stop_for_good(measurement):
    measurement.stop()
    measurement.save()


@pytest.fixture
def real_scores():
    """Real series, labels and detector scores: an open npz, and the names of what is in it."""
    path = DATA / "scores_sample.npz"
    if not path.exists():
        pytest.skip(f"no real detector scores in {DATA} (set DQEVAL_DATA to the folder that holds scores_sample.npz)")
    with np.load(path) as arrays:
        yield arrays


@pytest.fixture
def real_series():
    """Real labelled series by name, of one archive: a function that opens it."""
    if not (DATA / "wsd.npz").exists():
        pytest.skip(f"no real series in {DATA} (set DQEVAL_DATA to the folder that holds wsd.npz and ucr.npz)")
    return lambda archive: np.load(DATA / f"{archive}.npz")


@pytest.fixture
def golden_detectors():
    """What the public reference code gives for two real series: an open npz."""
    path = DATA.parent / "golden" / "detectors.npz"
    if not path.exists():
        pytest.skip(f"no golden detector scores: there is no {path}")
    with np.load(path) as arrays:
        yield arrays


@pytest.fixture
def undrawn(monkeypatch):
    """Leave the figures of experiments empty: to draw them takes most of the time, and other tests do."""
    from dqeval.experiments import outcome

    monkeypatch.setattr(outcome, "save", lambda draw, *paths: [path.touch() for path in paths])


@pytest.fixture(scope="module")
def odd_detectors():
    """Register detectors that do what detectors must not, for the tests of one module alone."""
    before = dict(DETECTORS._entries)
    importlib.import_module("odd_detectors")
    yield
    DETECTORS._entries = before
    del sys.modules["odd_detectors"]  # so that it registers them again


@pytest.fixture(scope="module")
def chromium():
    if not kernels.compiled:
        pytest.skip("the page is the same however the kernels run: one run in a browser is enough")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: install one of {', '.join(BROWSERS)}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=BROWSER_OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def tab(chromium):
    """Keep one tab for all tests that need no other: what its browser has compiled serves the next report, too."""
    return chromium.new_page()


@pytest.fixture
def opened(chromium, tab):
    """Open a report, and check at the end that nothing went wrong and nothing was asked of the network."""
    from browsing import settle

    pages, trouble, requests, asked = [], [], [], set()
    listeners = {
        "console": lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None,
        "pageerror": lambda error: trouble.append(str(error)),
        "request": lambda request: requests.append(request.url),
    }

    def open_report(path, link="", **options):
        page = chromium.new_page(**options) if pages or options else tab
        page.set_viewport_size({"width": 1200, "height": 900})
        page.goto("about:blank")  # for a link that differs in what is behind # alone, nothing would be loaded
        for event, listener in listeners.items():
            page.on(event, listener)
        page.goto(path.as_uri() + link)
        asked.add(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        settle(page)
        pages.append(page)
        return page

    yield open_report
    for page in pages:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        if page is not tab:
            page.close()
    assert trouble == []
    loaded = {url.partition("#")[0] for url in requests}
    assert {url for url in loaded if not url.startswith(("data:", "blob:"))} == asked
