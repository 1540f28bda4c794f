"""How large the interactive report is, and how it feels: ``python -m benchmarks.report``.

Needs bokeh and playwright (``pip install -e .[report] playwright``), and Chromium from the system's packages. Times are
those of a browser that draws without a graphics card.
"""

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

import dqeval

CASES = [(20_000, 3), (200_000, 5)]
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
# From an action to the second frame after it: what is drawn in the first is on the screen by then.
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
ACTIONS = {
    "slider": "i => { const s = document.getElementById('threshold'); s.value = 10 + 17 * i % 90;"
    " s.dispatchEvent(new Event('input')); }",
    "next event": "() => document.getElementById('next').click()",
    "all": "() => document.getElementById('all').click()",
    "switch detector": "i => document.querySelectorAll('[name=detector]')[i % 3].click()",
}


def columns(n: int, detectors: int) -> dict[str, Any]:
    """Return a series with an event every 1,600 points, and detectors of noise and of answers to them."""
    random = np.random.RandomState(0)
    labels = np.arange(n) % 1600 < 40
    scores = {f"d{i}": labels * random.rand(n) + (0.3 + i / 10) * random.rand(n) for i in range(detectors)}
    return {"label": labels, "value": np.sin(np.arange(n) / 20) + 0.1 * random.randn(n), **scores}


def milliseconds(page: Any, action: str) -> float:
    """Return the median time from an action until it shows."""
    times = []
    for i in range(9):
        began = time.perf_counter()
        page.evaluate(action, i)
        page.evaluate(FRAMES)
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def main() -> None:
    """Print a row a case: to make, size, to open, and until an action shows."""
    names = " | ".join(f"{name}, ms" for name in ACTIONS)
    print(f"| points | detectors | to make, s | MB | to open, s | {names} |")
    print("|---:|---:|---:|---:|---:|" + "---:|" * len(ACTIONS))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=OPTIONS)
        for n, detectors in CASES:
            path = Path(folder) / f"{n}.html"
            began = time.perf_counter()
            dqeval.report(columns(n, detectors), path, near=50)
            made = time.perf_counter() - began
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            began = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]")
            opened = time.perf_counter() - began
            actions = " | ".join(f"{milliseconds(page, action):.0f}" for action in ACTIONS.values())
            size = path.stat().st_size / 1e6
            print(f"| {n:,} | {detectors} | {made:.1f} | {size:.1f} | {opened:.1f} | {actions} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
