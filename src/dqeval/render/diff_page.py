"""The page on what changed from one run of detectors to another: one HTML file."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from dqeval.analysis.diff_result import Diff
from dqeval.render.blocks import Block, Listing, Paragraph
from dqeval.render.html import fill_template, require_jinja
from dqeval.support.writing import write_text


def diff_page(result: Diff, path: str | Path) -> None:
    """Write a page on what changed: one HTML file that needs no server and no network.

    Parameters
    ----------
    result : Diff
    path : str or Path
        Where to write the page.
    """
    require_jinja()
    sections: dict[str, list[Block]] = {
        "Numbers": [Listing(f"Numbers of {detector}", result.table(detector)) for detector in result.detectors]
    }
    for which, events in (("lost", result.lost), ("gained", result.gained)):
        if events:
            sections[f"Events {which}"] = [Listing(f"Events {which}", result.event_table(which))]
    if result.series and result.n_series > 1:
        sections["Series that changed"] = [Listing("Series that changed", result.series_table())]
    sections["Notes"] = [Paragraph(note) for note in result.notes()]
    text = fill_template(
        "bench_page.html",
        title="What changed",
        verdict=result.verdict,
        sections=sections,
        footer=f"{result.title}. dqeval {version('dqeval')}.",
    )
    write_text(Path(path), text)
