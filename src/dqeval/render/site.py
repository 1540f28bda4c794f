"""The site of a benchmark run: a folder of files that opens without a server, for people to visit and to cite."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dqeval.analysis.receipts import jsonable
from dqeval.bench.bounds import BOUNDS
from dqeval.bench.ranking_result import ABOUT_BOUNDS, Ranking
from dqeval.bench.store import Store
from dqeval.core.registry import label_of, summary_of
from dqeval.core.types import SCORE_NAMES, Progress
from dqeval.render.bench_parts import plan_of_run
from dqeval.render.drilldown import Case, Pages, cases_of, folder_of, write_pages
from dqeval.render.html import fill_template, require_jinja
from dqeval.render.series_page import SCRIPT
from dqeval.render.site_downloads import DOWNLOADS, Download, downloads
from dqeval.render.site_folder import COMMAND, SiteFolder, digest_of_file
from dqeval.render.site_numbers import (
    Group,
    Results,
    detector_numbers,
    failure_numbers,
    group_keys,
    groups_of,
    metric_numbers,
    series_numbers,
    short,
    shown,
)
from dqeval.render.tables import printable
from dqeval.support.naming import distinct, file_names
from dqeval.support.versions import made_with

PAGE = "index.html"
DATA = "data"
KINDS = ("datasets", "metrics", "detectors", "series")  # of files of data


@dataclass(frozen=True, slots=True)
class Written:
    """What came of writing a site: its size in bytes, and why there are no explorer pages, or none of some series."""

    size: int
    trouble: str
    without_page: Mapping[str, str]


def bench_site(
    folder: str | Path,
    path: str | Path,
    *,
    pages: int = 0,
    title: str | None = None,
    progress: Progress | None = None,
) -> Written:
    """Write a site of a benchmark run: rankings by any metric and dataset, and a page per detector and series.

    Parameters
    ----------
    folder : str or Path
        Of the run.
    path : str or Path
        The folder to write: a new one, an empty one, or one that an earlier call wrote, of which files that are no
        longer needed are removed.
    pages : int, default 0
        For how many series there are pages of the explorer, which show the series itself and the scores: those where
        the metrics disagree most.
    title : str, optional
        What the site is called; as the folder of the run if not given.
    progress : callable, optional
        Called with the number of explorer pages done, and that of all.

    Returns
    -------
    Written
    """
    require_jinja()
    folder, target = Path(folder), SiteFolder(Path(path))
    title = folder.resolve().name if title is None else title
    target.check()
    with Store(folder) as store:
        plan = plan_of_run(folder)
        results = Results.of(store)
        if not results.rows:
            raise ValueError(f"{folder}: there are no results to show; dqeval bench status {folder} says how far it is")
        groups = groups_of(store, results)
        if isinstance(first := groups[0].ranking, Ranking):
            results = replace(results, order=first.detectors)
        cases = cases_of(results.ranked_values)
        target.claim()
        place = target.path / PAGE
        explorer = write_pages(plan, store, place, cases[:pages], progress) if pages else Pages({}, {})
        receipt = {**_receipt(results, store.data()), "parameters": {"title": title, "pages": pages}}
    offered = downloads(results, groups)
    site = _Site(title, results, groups, {case.name: case for case in cases}, explorer)
    files = {name: each.text for name, each in offered.items()} | site.data_files()
    files[PAGE] = site.page(offered)
    size = target.write(files, receipt, _digests(target.path, explorer))
    return Written(size, explorer.trouble, explorer.reasons)


def _receipt(results: Results, data: Mapping[str, set[str]]) -> dict[str, Any]:
    """Return what the numbers were made from: which data each series had, and with which versions."""
    made = made_with()
    return {
        "command": COMMAND,
        "dqeval": made["dqeval"],
        "versions": {name: made[name] for name in ("python", "numpy")},
        "kernels": made["kernels"],
        "run": {
            "made_with": [json.loads(each) for each in sorted({row["versions"] for row in results.rows})],
            "series": {name: sorted(digests) for name, digests in sorted(data.items())},
        },
    }


def _digests(folder: Path, explorer: Pages) -> dict[str, str]:
    """Return the digests of the pages of the explorer, and of what they share, by path."""
    names = [unquote(link) for link in explorer.links.values()]
    shared = [f"{folder_of(Path(PAGE)).name}/{SCRIPT}"] if names else []
    return {name: digest_of_file(folder / name) for name in (*names, *shared)}


@dataclass(frozen=True, slots=True)
class _Site:
    """All that the files of a site are made from."""

    title: str
    results: Results
    groups: Sequence[Group]
    cases: Mapping[str, Case]
    explorer: Pages

    def page(self, offered: Mapping[str, Download]) -> str:
        """Return the page: names, and the rankings of all series; the rest is loaded when it is asked for."""
        from markupsafe import Markup

        results = self.results
        content = {
            "title": self.title,
            "version": version("dqeval"),
            "downloads": [{"path": path, **each.record()} for path, each in offered.items()],
            "detectors": [self._detector(*named) for named in _named(results, "detectors")],
            "metrics": [_metric(name, file) for name, file in _named(results, "metrics")],
            "about_bounds": ABOUT_BOUNDS,
            "parts": [{"name": name, "label": label_of(name)} for name in SCORE_NAMES],
            "datasets": [{"name": name, "file": file} for name, file in _named(results, "datasets")],
            "series": [self._series(name, file) for name, file in _named(results, "series")],
            "names": _told_apart(results.series),
            "failures": failure_numbers(results),
            "all": self._rankings(None),
        }
        return fill_template("site.html", title=self.title, version=version("dqeval"), data=Markup(_literal(content)))

    def data_files(self) -> dict[str, str]:
        """Return the files that are loaded when they are asked for, by path."""
        makers: dict[str, Callable[[str], Any]] = {
            "datasets": self._rankings,
            "metrics": partial(metric_numbers, self.results),
            "detectors": partial(detector_numbers, self.results),
            "series": partial(series_numbers, self.results),
        }
        return {
            f"{DATA}/{file}": _script(file, make(name))
            for kind, make in makers.items()
            for name, file in _named(self.results, kind)
        }

    def _rankings(self, dataset: str | None) -> dict[str, Any]:
        found = (group for group in self.groups if group.dataset == dataset)
        return {group.by: group.numbers(self.results.detectors) for group in found}

    def _detector(self, name: str, file: str) -> dict[str, Any]:
        results = self.results
        return {
            "name": name,
            "file": file,
            "bound": name in BOUNDS,
            "seeds": results.seeds[name],
            "seconds": results.seconds.get(name),
        }

    def _series(self, name: str, file: str) -> list[Any]:
        """Return the dataset, the number of events, how far metrics agree, the file, and the page of the explorer."""
        table, case = self.results.events_of.get(name), self.cases.get(name)
        agreement = case.tau if case else float("nan")
        link = self.explorer.links.get(name, "")
        return [self.results.datasets[name], len(table.places) if table else None, *short([agreement]), file, link]


def names_of_files(results: Results) -> set[str]:
    """Return the paths of the files that a site of some results has, but for the pages of the explorer."""
    data = {f"{DATA}/{file}" for kind in KINDS for _, file in _named(results, kind)}
    return {PAGE, *DOWNLOADS, *data}


def _named(results: Results, kind: str) -> list[tuple[str, str]]:
    """Return the names of all of one kind, with their files."""
    datasets = dict.fromkeys(dataset for dataset, _ in group_keys(results.datasets.values()) if dataset is not None)
    names = {
        "datasets": list(datasets),
        "metrics": results.values.metrics,
        "detectors": results.detectors,
        "series": results.series,
    }[kind]
    return [(name, f"{kind}/{file}") for name, file in zip(names, file_names(names, "js"), strict=True)]


def _metric(name: str, file: str) -> dict[str, str]:
    return {"name": name, "label": label_of(name), "summary": summary_of(name), "file": file}


def _told_apart(names: Sequence[str]) -> list[str]:
    """Return names as they are shown, with numbers where two look the same."""
    return distinct([printable(name) for name in names], "{} ({})")


def _script(name: str, content: Any) -> str:
    """Return a file that hands its content over: a page that is opened from a folder may load scripts, but no JSON."""
    return f"dqevalSite({json.dumps(name)}, {_literal(content)});\n"


def _literal(content: Any) -> str:
    """Return JSON that may stand in a script of a page."""
    text = json.dumps(shown(jsonable(content)), allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
