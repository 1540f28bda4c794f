"""The site of a benchmark run verified: no file was changed, and the rankings follow from the numbers beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dqeval.analysis.verify import NO_RECEIPT, Verification, cut_short, differences, file_failure, read_receipt
from dqeval.bench.jobs import DETECT
from dqeval.bench.ranking import rank_rows, units_of
from dqeval.bench.store import Store
from dqeval.render.site_downloads import EVENTS, RANKINGS, RESULTS, downloads, ranking_document, ranking_documents
from dqeval.render.site_folder import COMMAND, digest_of, files_in, is_inside
from dqeval.render.site_numbers import Results, group_keys, groups_of

# What a run knows beside its numbers, and the downloads do not.
OF_THE_RUN = ("n_left_out", "without_value", "not_planned", "n_not_planned", "n_fallback")
NOT_CHECKED = (
    "Not checked, as only the run knows it: why there is no ranking where there is none, which detectors and series "
    "have no value or are no longer in the plan, and in how many series no period was found. To check this too, name "
    "the folder of the run."
)
NOT_FINISHED = f"The site was not finished, or nothing of it is in the receipt: make it again with dqeval {COMMAND}."

Found = tuple[int, list[str]]  # how many values were compared, and what is not the same
Key = tuple[str | None, str]  # of a ranking: its dataset, None for all series, and what counts once


def verify_site(receipt: Path, given: Any, runs: Sequence[Path]) -> Verification:
    """Check the site that a receipt lies in.

    Parameters
    ----------
    receipt : Path
        In the folder of the site.
    given : dict
        Its content.
    runs : sequence of Path
        The folder of the run that the site was made from, if it is to be compared with that; otherwise nothing.

    Returns
    -------
    Verification
        It holds if every file of the site is as the receipt has it, and if the rankings, made again from the downloads
        or from the run, are those of the site.
    """
    files = files_in(given)
    if files is None:
        raise ValueError(f"{NO_RECEIPT}: it has no digests of the files of a site")
    if len(runs) > 1:
        raise ValueError("a site is made from one run: give its folder, or nothing to check the site by itself")
    folder = receipt.parent
    failures = list(_changed(folder, files)) if files else [NOT_FINISHED]
    notes: list[str] = []
    compared = len(files)
    if not failures:
        count, failures = _with_run(folder, files, runs[0]) if runs else _with_downloads(folder)
        notes = [] if runs else [NOT_CHECKED]
        compared += count
    follow = "its rankings and results are those of the run" if runs else "its rankings follow from its results"
    meaning = f"no file of the site was changed, and {follow}"
    return Verification(cut_short(failures, "differences"), tuple(notes), compared, meaning)


def _changed(folder: Path, files: Mapping[str, str]) -> Iterator[str]:
    """Say which files are missing, or not as they were."""
    for name, digest in files.items():
        if not is_inside(folder, name):
            raise ValueError(f"{NO_RECEIPT}: it names files outside of its folder")
        if not (folder / name).is_file():
            yield f"{name} is missing."
        elif (now := digest_of((folder / name).read_bytes())) != digest:
            yield file_failure(name, digest, now)


def _with_run(folder: Path, files: Mapping[str, str], run: Path) -> Found:
    """Compare the numbers of a site with those of a run."""
    with Store(run) as store:
        results = Results.of(store)
        groups = groups_of(store, results)
    made = downloads(results, groups)
    other = [name for name in (RESULTS, EVENTS) if digest_of(made[name].text.encode()) != files.get(name)]
    failures = [f"{name} does not have the results of {run}." for name in other]
    count, more = differences(read_receipt(folder / RANKINGS), ranking_documents(groups))
    return count + 2, [*failures, *more]


def _with_downloads(folder: Path) -> Found:
    """Make the rankings of a site again from its downloads."""
    try:
        return _ranked_again(folder)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{folder}: its downloads are not as dqeval {COMMAND} writes them: {error!r}") from None


def _ranked_again(folder: Path) -> Found:
    results, events = _rows(folder / RESULTS), _rows(folder / EVENTS)
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
