"""Photograph the report of the demo series: ``python docs/screenshot.py`` (needs bokeh, playwright and Chromium)."""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

import dqeval

IMAGES = Path(__file__).parent / "images"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
SIZE = {"width": 1200, "height": 900}


def main() -> None:
    """Write the default page down to the table of events, light and dark; and a budget of false alarms per day."""
    IMAGES.mkdir(exist_ok=True)
    demo = dqeval.datasets.demo()
    by_minute = replace(demo, timestamps=np.datetime64("2026-01-01T00:00") + np.arange(len(demo.labels)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path, timed = Path(folder) / "demo.html", Path(folder) / "timed.html"
        dqeval.report(demo, path)
        dqeval.report(by_minute, timed)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=OPTIONS)
        for scheme, name in (("light", "report.png"), ("dark", "report-dark.png")):
            page = opened(browser, path.as_uri(), scheme)
            end = page.locator("#alarms-heading").bounding_box()["y"] - 20
            page.screenshot(path=IMAGES / name, full_page=True, clip={"x": 0, "y": 0, "width": 1200, "height": end})
        page = opened(browser, f"{timed.as_uri()}#budget=1.8&detector=late", "light")
        page.locator("section[aria-labelledby=alarms-heading]").screenshot(path=IMAGES / "report-budget.png")
        browser.close()


def opened(browser: Any, address: str, scheme: str) -> Any:
    """Return a page that has drawn everything."""
    page = browser.new_page(viewport=SIZE, color_scheme=scheme)
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    page.wait_for_timeout(500)
    return page


if __name__ == "__main__":
    main()
