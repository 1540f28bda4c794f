"""Search the documentation that was built, as its readers do: ``python docs/check_search.py build/docs``.

It is opened from its folder, without a server. This needs Chromium; where there is none, it says so and passes.
``./scripts/docs`` calls it.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--virtual-time-budget=20000",  # milliseconds of the page's own clock: it need not wait for them
    "--dump-dom",
)
# What people look for, and the page that must be among the results.
SEARCHES = {"near range": "concepts.html", "false alarms per day": "time.html", "completion": "commands.html"}


def main(folder: Path) -> int:
    """Return 1 if a search misses its page."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("The search of the documentation was not tried: there is no Chromium")
        return 0
    missed = [words for words, page in SEARCHES.items() if f'href="{page}' not in results(browser, folder, words)]
    for words in missed:
        print(f"{folder}: a search for {words!r} does not find {SEARCHES[words]}", file=sys.stderr)
    return int(bool(missed))


def results(browser: str, folder: Path, words: str) -> str:
    """Return the list of results in the page of a search."""
    address = f"{(folder.resolve() / 'search.html').as_uri()}?q={words.replace(' ', '+')}"
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, *OPTIONS, f"--user-data-dir={profile}", address]
        page = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    # The list of all pages at the side names every page.
    return page.partition('id="search-results"')[2]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
