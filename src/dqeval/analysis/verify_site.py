"""The site of a benchmark run verified: by itself, as far as that goes, or made again from the run and compared."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dqeval.analysis.verify import (
    MOST_BYTES,
    NO_RECEIPT,
    TOLERANCE,
    Verification,
    clipped,
    cut_short,
    differences,
    file_failure,
    read_receipt,
)
from dqeval.bench.jobs import DETECT
from dqeval.bench.kept_plan import unknown_metrics
from dqeval.bench.ranking import rank_rows, units_of
from dqeval.core.types import Progress
from dqeval.render.drilldown import folder_of
from dqeval.render.site import PAGE, bench_site, names_of_files
from dqeval.render.site_downloads import DOWNLOADS, EVENTS, RANKINGS, RESULTS, ranking_document
from dqeval.render.site_folder import COMMAND, RECEIPT, contents_of, digest_of_file, files_in, is_name, sizes_in
from dqeval.render.site_numbers import Results, group_keys
from dqeval.support.versions import difference, made_with

# What a run knows beside its numbers, and the downloads do not.
OF_THE_RUN = ("n_left_out", "without_value", "not_planned", "n_not_planned", "n_fallback")
NOT_CHECKED = (
    "Not checked, as only the run knows it: why there is no ranking where there is none, which detectors and series "
    "have no value or are no longer in the plan, in how many series no period was found, and what the pages show."
)
NOT_SIGNED = (
    "Nobody has signed the receipt, so this finds damage, and no forgery: whoever changes the site, such as by a "
    "script in a page, can change the receipt too. With the folder of the run, every file is made again and compared: "
    "dqeval verify {} RUN."
)
OTHER_VERSIONS = (
    "The receipt says that other versions made the site, whose files may be different: {}. Make the site again, or "
    "verify it with those versions."
)
NOT_FINISHED = f"The site was not finished, or nothing of it is in the receipt: make it again with dqeval {COMMAND}."
EXPLORER = f"{folder_of(Path(PAGE)).name}/"
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)")

Found = tuple[int, list[str]]  # how many values were compared, and what is not the same
Key = tuple[str | None, str]  # of a ranking: its dataset, None for all series, and what counts once


def verify_site(receipt: Path, given: Any, runs: Sequence[Path], *, progress: Progress | None = None) -> Verification:
    """Check the site that a receipt lies in.

    Parameters
    ----------
    receipt : Path
        In the folder of the site.
    given : dict
        Its content.
    runs : sequence of Path
        The folder of the run that the site was made from, if it is to be compared with that; otherwise nothing.
    progress : callable, optional
        Called with the number of explorer pages made again, and that of all.

    Returns
    -------
    Verification
        It holds if the folder has the files of the receipt, and no others, and if they are those that the run gives; or
        without a run, if the rankings, made again from the downloads, are those of the site.
    """
    files = files_in(given)
    if files is None:
        raise ValueError(f"{NO_RECEIPT}: it has no digests of the files of a site")
    if len(runs) > 1:
        raise ValueError("a site is made from one run: give its folder, or nothing to check the site by itself")
    for name in files:
        if not is_name(name):
            raise ValueError(f"{NO_RECEIPT}: it names {clipped(name)!r}, which is no path of a file in its folder")
    failures = list(_changed(receipt, files, sizes_in(given))) if files else [NOT_FINISHED]
    notes: list[str] = []
    compared = len(files)
    meaning = "every file is as the receipt lists it, and the rankings follow from the results beside them"
    if runs:
        meaning = f"every file of the site is what dqeval {COMMAND} makes of the run"
    if not failures and runs:
        count, failures, notes = _with_run(receipt, given, files, runs[0], progress)
        compared += count
    elif not failures:
        count, failures = _with_downloads(receipt.parent, files)
        compared, notes = compared + count, [NOT_CHECKED, NOT_SIGNED.format(receipt)]
    return Verification(cut_short(failures, "differences"), tuple(notes), compared, meaning)


def _changed(receipt: Path, files: Mapping[str, str], sizes: Mapping[str, int]) -> Iterator[str]:
    """Say which files are missing, not as they were, or not of the site."""
    there, odd = contents_of(receipt.parent)
    yield from (f"{clipped(name)} is a link or a device, of which a site has none." for name in odd)
    yield from (f"{clipped(name)} is not in the receipt." for name in there if name not in (*files, receipt.name))
    for name, digest in files.items():
        size = there.get(name)
        if size is None:
            yield f"{clipped(name)} is missing."
        elif size != (then := sizes.get(name, size)):
            yield f"{clipped(name)} is not the file of the receipt: it has {size:,} bytes, not {then:,}."
        elif size > MOST_BYTES:
            yield f"{clipped(name)} is larger than {MOST_BYTES:,} bytes, and so not a file of a site."
        elif (now := digest_of_file(receipt.parent / name)) != digest:
            yield file_failure(name, digest, now)


def _with_run(
    receipt: Path, given: Mapping[str, Any], files: Mapping[str, str], run: Path, progress: Progress | None
) -> tuple[int, list[str], list[str]]:
    """Make the site again from the run, and compare every file; return also what is to be noted."""
    said = given.get("parameters")
    parameters = said if isinstance(said, dict) else {}
    title, pages = parameters.get("title"), parameters.get("pages")
    if not isinstance(title, str):
        title = run.resolve().name
    if not isinstance(pages, int) or pages < 0:  # of a version that did not say it
        pages = sum(name.startswith(EXPLORER) and name.endswith(".html") for name in files)
    with TemporaryDirectory(prefix="dqeval-") as place:
        again = Path(place, "site")
        written = bench_site(run, again, pages=pages, title=title, progress=progress)
        made = read_receipt(again / RECEIPT)
        failures = list(_differing(receipt.parent, files, again, made["files"], run))
    if files.keys() - made["files"].keys():
        why = [written.trouble] if written.trouble else []
        failures += [*why, *(f"{name}: there is no explorer page: {why}" for name, why in written.without_page.items())]
    count, more = differences(*({key: each.get(key) for key in ("command", "run")} for each in (given, made)))
    failures += more
    notes = []
    if title != (named := run.resolve().name):
        notes.append(f"The site is called {clipped(title)}, and the folder of the run {named}.")
    if failures and (others := _other_versions(given)):
        notes.append(OTHER_VERSIONS.format(clipped(others)))
    if failures and (unknown := unknown_metrics(run)):
        notes.append(f"{unknown}.")
    return count + len(made["files"]), failures, notes


def _other_versions(given: Mapping[str, Any]) -> str:
    """Say which versions a receipt names that are not those here."""
    named = given.get("versions")
    there = {**(named if isinstance(named, dict) else {}), **{name: given.get(name) for name in ("dqeval", "kernels")}}
    return difference(json.dumps(there), json.dumps(made_with()))


def _differing(
    folder: Path, files: Mapping[str, str], again: Path, made: Mapping[str, str], run: Path
) -> Iterator[str]:
    """Say which files of a site are not those of the site that was made again."""
    for name in sorted(files.keys() | made.keys(), key=lambda name: (name not in DOWNLOADS, name)):
        if name not in made:
            yield f"{clipped(name)} is no file of the site that {run} gives."
        elif name not in files:
            yield f"{name} is not in the receipt, and is a file of the site that {run} gives."
        elif files[name] != made[name] and not _are_alike(folder, again, name):
            yield f"{name} is not the file that {run} gives."


def _are_alike(folder: Path, again: Path, name: str) -> bool:
    """Tell whether a file of two sites is the same but for the last digits of numbers: those depend on the machine."""
    if (folder / name).stat().st_size > 2 * (again / name).stat().st_size:
        return False
    then, now = ((place / name).read_bytes().decode(errors="surrogateescape") for place in (folder, again))
    for each in DOWNLOADS if name == PAGE else ():  # which the page names with digests
        now = now.replace(_mention(again / each), _mention(folder / each))
    texts = [_NUMBER.split(text) for text in (then, now)]
    return texts[0][::2] == texts[1][::2] and all(map(_are_close, texts[0][1::2], texts[1][1::2]))


def _mention(download: Path) -> str:
    return f'"bytes":{download.stat().st_size},"digest":"{digest_of_file(download)}"'


def _are_close(then: str, now: str) -> bool:
    if then == now:
        return True
    whole = {".", "e"}.isdisjoint(then + now)
    return not whole and math.isclose(float(then), float(now), rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _with_downloads(folder: Path, files: Mapping[str, str]) -> Found:
    """Check that a site has all files that its downloads ask for, and make its rankings again."""
    if missing := [name for name in (PAGE, *DOWNLOADS) if name not in files]:
        return 0, [f"{name} is not in the receipt, and every site has it." for name in missing]
    try:
        results, events = _rows(folder / RESULTS), _rows(folder / EVENTS)
        expected = names_of_files(Results(results, events))
        count, failures = _ranked_again(folder, results, events)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{folder}: its downloads are not as dqeval {COMMAND} writes them: {error!r}") from None
    others = {name for name in files if not name.startswith(EXPLORER)} - expected
    failures += [
        f"{name} is not in the receipt, and belongs to the results." for name in sorted(expected - files.keys())
    ]
    failures += [f"{clipped(name)} belongs to nothing in the results." for name in sorted(others)]
    return count + len(expected), failures


def _ranked_again(folder: Path, results: Sequence[dict[str, Any]], events: Sequence[dict[str, Any]]) -> Found:
    """Make the rankings of a site again from its downloads."""
    values = [row for row in results if row["status"] == "ok" and row["metric"] != DETECT]
    documents = read_receipt(folder / RANKINGS)
    then: dict[Key, Any] = {(each["dataset"], each["by"]): each for each in documents}
    keys = group_keys(row["dataset"] for row in results)
    # What should be there decides what is compared, so that a ranking which was taken out is found.
    failures = [] if len(documents) <= len(keys) else [f"{RANKINGS} has more rankings than the results give."]
    compared = len(failures)
    for dataset, by in keys:
        units = units_of(values if by == "series" else events, by)
        now = _document(dataset, by, [row for row in units if dataset in (None, row["dataset"])])
        count, more = _compared(then.get((dataset, by)), now)
        compared += count
        failures += [f"The ranking of {dataset or 'all series'} by {by}: {each}" for each in more]
    return compared, failures


def _document(dataset: str | None, by: Any, rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the ranking that follows from some rows, as a site has it; None if none does."""
    try:
        ranking = rank_rows(rows, by=by)
    except ValueError:
        return None
    tests = {metric: ranking.significance_by(metric) for metric in ranking.standings}
    return ranking_document(dataset, by, ranking, tests)


def _compared(then: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> Found:
    """Compare a ranking of a site with the one that follows from its results."""
    if then is None:
        return 1, ["it is missing."]
    if "reason" in then:
        return 1, [] if now is None else ["the site has none, and the results give one."]
    if now is None:
        return 1, ["the results give none."]
    return differences(*({k: v for k, v in each.items() if k not in OF_THE_RUN} for each in (then, now)))


def _rows(path: Path) -> list[dict[str, Any]]:
    columns = read_receipt(path)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
