"""Photograph the report of the demo series: ``python docs/screenshot.py`` (needs bokeh, playwright and Chromium)."""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import dqeval

IMAGES = Path(__file__).parent / "images"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def main() -> None:
    """Write the default page, light and dark."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "demo.html"
        dqeval.report(dqeval.datasets.demo(), path)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=OPTIONS)
        for scheme, name in (("light", "report.png"), ("dark", "report-dark.png")):
            page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme=scheme)
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]")
            page.wait_for_timeout(500)
            page.screenshot(path=IMAGES / name, full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
