"""How large the report is, how long it takes to make, and how it feels: ``python -m benchmarks.report``.

Needs bokeh and playwright (``pip install -e .[report] playwright``), and Chromium from the system's packages, which
draws without a graphics card. Times to make are processor time. ``--repeats 1`` draws random scores once, not ten
times, which takes most of the time. ``bench`` as an argument measures the pages of a benchmark run instead, and
``site`` its site.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Playwright, sync_playwright

import dqeval
from benchmarks.generated_run import write_run
from dqeval import bench
from dqeval.analysis.compare import comparison_of
from dqeval.analysis.verify import read_receipt
from dqeval.analysis.verify_site import verify_site
from dqeval.bench.bounds import BOUNDS
from dqeval.core.prepared import Prepared
from dqeval.datasets.door import prepare
from dqeval.render.bench_page import bench_report
from dqeval.render.series_page import page as page_of
from dqeval.render.site import PAGE, bench_site
from dqeval.render.site_folder import RECEIPT

CASES = [(20_000, 3, 1600), (200_000, 5, 1600), (1_000_000, 5, 1000)]  # points, detectors, an event every
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
# From an action to the second frame after it: what is drawn in the first is on the screen by then.
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
ACTIONS = {
    "slider": "i => { const s = document.getElementById('threshold'); s.value = 10 + 17 * i % 90;"
    " s.dispatchEvent(new Event('input')); }",
    "next event": "() => document.getElementById('next').click()",
    "all": "i => document.getElementById(i % 2 ? 'all' : 'next').click()",
    "switch detector": "i => document.querySelectorAll('[name=detector]')[(i + 1) % 3].click()",
    "zoom": "i => { const view = Bokeh.documents[0].get_model_by_name('view'); const end = view.bounds[1];"
    " view.setv({ start: 0.2 * end + i, end: (i % 2 ? 0.5 : 0.9) * end }); }",
    "move a border": "() => { pageState.update({ correcting: true }); dqevalReport.editor.acts.nudge(3, 'stop', 1); }",
}
SERIES: dict[str, Any] = {"generator": "synthetic", "count": 50, "n": 2000, "period": 50, "events": 8}
DETECTORS = [{"name": name} for name in ("fft", "sr", "sub_lof", "kmeans_ad")]
SITE_VIEWS = {
    "leaderboard": "",
    "another metric and dataset": "#metric=vus_pr&data=WSD",
    "all series": "#view=series",
    "a detector": "#view=detector&name=SR",
    "a series": "#view=series&name=series+007",
}
ALONE = 5  # of these series, pages that know nothing of the run


def columns(n: int, detectors: int, every: int) -> dict[str, Any]:
    """Return a series with an event every so many points, and detectors of noise and of answers to them."""
    random = np.random.RandomState(0)
    labels = np.arange(n) % every < 40
    scores = {f"d{i}": labels * random.rand(n) + (0.3 + i / 10) * random.rand(n) for i in range(detectors)}
    return {"label": labels, "value": np.sin(np.arange(n) / 20) + 0.1 * random.randn(n), **scores}


def processor_seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long a call takes, of the processor, and what it returns."""
    began = time.process_time()
    found = call()
    return time.process_time() - began, found


def milliseconds(page: Any, task: Callable[[], float], action: str) -> tuple[float, float]:
    """Return the median time from an action until it shows, and of the processor that the page takes for it."""
    times, tasks = [], []
    for i in range(9):
        began, before = time.perf_counter(), task()
        page.evaluate(action, i)
        page.evaluate(FRAMES)
        times.append(1000 * (time.perf_counter() - began))
        tasks.append(1000 * (task() - before))
    return statistics.median(times), statistics.median(tasks)


def opened(browser: Any, path: Path) -> list[tuple[float, float]]:
    """Return the times of opening a page and of each action, in milliseconds, by the clock and of the processor."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def task() -> float:
        found = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
        return float(found["TaskDuration"])

    began, before = time.perf_counter(), task()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.evaluate(FRAMES)
    times = [(1000 * (time.perf_counter() - began), 1000 * (task() - before))]
    times += [milliseconds(page, task, action) for action in ACTIONS.values()]
    page.close()
    return times


def _browser(playwright: Playwright) -> Browser:
    """Start a browser from the system's packages."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise SystemExit(f"no browser: install one of {', '.join(BROWSERS)}")
    return playwright.chromium.launch(executable_path=found, args=OPTIONS)


def pages(repeats: int) -> None:
    """Print a row a case: to compare, to make the page of it, size, to open, and until an action shows."""
    names = " | ".join(f"{name}, ms" for name in ("open", *ACTIONS))
    print(f"| points | detectors | compare, s | page, s | MB | {names} |")
    print("|---:|---:|---:|---:|---:|" + "---:|" * (1 + len(ACTIONS)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = _browser(playwright)
        for n, detectors, every in CASES:
            prepared = prepare(columns(n, detectors, every), near=50)
            path = Path(folder) / f"{n}.html"
            compared, comparison = processor_seconds(lambda of=prepared: comparison_of(of, repeats=repeats))
            made, text = processor_seconds(lambda of=prepared, found=comparison: page_of(of, found))
            path.write_text(text, encoding="utf-8")
            times = " | ".join(f"{shown:.0f} ({own:.0f})" for shown, own in opened(browser, path))
            size = path.stat().st_size / 1e6
            print(f"| {n:,} | {detectors} | {compared:.1f} | {made:.1f} | {size:.1f} | {times} |", flush=True)
        browser.close()


def bench_pages() -> None:
    """Print what the pages of a benchmark run take, beside pages of the same series that know nothing of the run."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        bench.run({"data": [SERIES], "detector": DETECTORS}, place / "run")
        bench_report(place / "run", place / "warm.html")
        taken, _ = processor_seconds(lambda: bench_report(place / "run", place / "bench.html"))
        written = sum(path.stat().st_size for path in (place / "bench_series").iterdir()) / 1e6
    alone = [processor_seconds(lambda i=i: page_alone(i)) for i in range(ALONE)]
    seconds = SERIES["count"] * statistics.mean(each for each, _ in alone)
    size = SERIES["count"] * statistics.mean(len(text) for _, text in alone) / 1e6
    print(f"{SERIES['count']} pages of a run: {taken:.1f} s, {written:.1f} MB")
    print(f"as many pages alone: {seconds / taken:.1f} × the time, {size / written:.1f} × the size")


def page_alone(i: int) -> str:
    """Return the page of a series of the run, made of its scores alone."""
    series = dqeval.datasets.synthetic(n=2000, period=50, events=8, seed=i)
    scores = {each["name"]: dqeval.detect(series, each["name"]) for each in DETECTORS}
    prepared: Prepared = prepare({"label": series.labels, "value": series.values, **scores}, near=25)
    return page_of(prepared, comparison_of(prepared))


def site() -> None:
    """Print how large the site of a run of 300 series is, how long it takes to make, and to open its views."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        place = Path(folder)
        write_run(place / "run", bounds=BOUNDS)
        ranked, _ = processor_seconds(lambda: bench.rank(place / "run"))
        taken, written = processor_seconds(lambda: bench_site(place / "run", place / "site"))
        receipt = place / "site" / RECEIPT
        verified, _ = processor_seconds(lambda: verify_site(receipt, read_receipt(receipt), []))
        first = (place / "site" / PAGE).stat().st_size
        browser = _browser(playwright)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        times = {name: milliseconds_to(page, place / "site" / PAGE, hash) for name, hash in SITE_VIEWS.items()}
        browser.close()
    sizes = f"{written.size / 1e6:.1f} MB, first page {first / 1e6:.2f} MB"
    print(f"300 series, 12 detectors, 14 metrics, 5 seeds: {sizes}")
    print(
        f"made in {taken:.1f} s, {taken / ranked:.1f} × the time of bench rank; verified in {verified / ranked:.1f} ×"
    )
    print("; ".join(f"{name} {opening:.0f} ms" for name, opening in times.items()))


def milliseconds_to(page: Any, path: Path, hash: str) -> float:
    """Return how long it takes to open a view of a site, from nothing."""
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(f"{path.as_uri()}{hash}")
    page.wait_for_selector("html[data-ready]")
    page.evaluate(FRAMES)
    return 1000 * (time.perf_counter() - began)


WHAT: dict[str, Callable[[int], None]] = {"pages": pages, "bench": lambda _: bench_pages(), "site": lambda _: site()}


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=list(WHAT), default="pages")
    parser.add_argument("--repeats", type=int, default=10, help="how many random scores are drawn")
    given = parser.parse_args()
    WHAT[given.what](given.repeats)


if __name__ == "__main__":
    main()
