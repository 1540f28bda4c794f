"""``dqeval bench``: run benchmarks, follow them, and look at their results."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqeval.cli import output
from dqeval.cli.bench_work import ExecutorName, Scheduler, Workers, work
from dqeval.cli.help import App
from dqeval.cli.options import Modules, Output, Page
from dqeval.cli.options import PlainForm as Form
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.results import tell_of_unknown_metrics

if TYPE_CHECKING:
    from dqeval.render.tables import Page as Shown

ENDINGS = (".csv", ".parquet")
bench = App(help="Run benchmarks: series × detectors × metrics.")


class By(StrEnum):
    """What counts once in a ranking."""

    SERIES = "series"
    EVENT = "event"


Folder = Annotated[Path, typer.Argument(help="The folder of a run.", metavar="DIR")]
Target = Annotated[
    Path,
    typer.Option(
        "-o", "--output", help="The folder; it is created if it does not exist.", metavar="DIR", file_okay=False
    ),
]
AtOnce = Annotated[
    int | None,
    typer.Option(
        help="On how many series CNN and TimesNet train in the same steps, beside the jobs; 1 trains each alone.",
        min=1,
        show_default="256 with a GPU, else 1",
        metavar="NUMBER",
    ),
]
AnyVersion = Annotated[
    bool,
    typer.Option("--any-version", help="Accept workers with other versions of dqeval, NumPy or Python."),
]


@dataclass(frozen=True, slots=True)
class Failures:
    """The failures of a run; JSON and CSV include the tracebacks."""

    rows: Sequence[dict[str, Any]]

    def page(self) -> Shown:
        """Return a table, one row per failure."""
        from dqeval.render.tables import Page, Table

        if not self.rows:
            return Page(["Nothing failed."])
        header = ("series", "detector", "seed", "metric", "reason")
        cells = [[" ".join(str(row[name]).split()) for name in header] for row in self.rows]
        return Page([Table(header, cells, text_columns=len(header))])

    def records(self) -> list[dict[str, Any]]:
        """Return one row per failure."""
        names = ("series", "dataset", "detector", "seed", "metric", "reason", "traceback")
        return [{name: row[name] for name in names} for row in self.rows]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {"failures": self.records()}


@bench.command()
def init(
    place: Annotated[
        Path, typer.Argument(help="The plan to write: a file that ends with .toml, or a folder for it.", metavar="PLAN")
    ] = Path("plan.toml"),
    data: Annotated[
        Path | None,
        typer.Option(
            help="A folder or a file with labelled series.",
            metavar="PATH",
            exists=True,
            show_default="generated series",
        ),
    ] = None,
) -> None:
    """Write a plan that runs as it is, with comments that explain what can be changed."""
    from dqeval.cli.bench_init import write_plan

    path = place if place.suffix.lower() == ".toml" else place / "plan.toml"
    write_plan(path, data)
    output.tell(f"wrote {path}; to run it: dqeval bench run {shlex.quote(str(path))} -o runs/today")


@bench.command()
def run(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.", metavar="PLAN")],
    folder: Target,
    workers: Workers = None,
    scheduler: Scheduler = None,
    executor: ExecutorName = None,
    shard: Annotated[
        str, typer.Option(help="Run only a part of the jobs, such as 1/3 for the first third.", metavar="PART/PARTS")
    ] = "1/1",
    at_once: AtOnce = None,
    any_version: AnyVersion = False,
    module: Modules = None,
) -> None:
    """Run the detectors of a plan on its series, or resume a run: exit code 3 if jobs failed or are left."""
    from dqeval.bench import run

    part = _shard(shard)
    start = partial(run, plan, folder, modules=module or (), shard=part, at_once=at_once, any_version=any_version)
    work(folder, start, workers, scheduler, executor)


@bench.command()
def retry(
    folder: Folder,
    workers: Workers = None,
    scheduler: Scheduler = None,
    executor: ExecutorName = None,
    at_once: AtOnce = None,
    any_version: AnyVersion = False,
) -> None:
    """Re-run failed and pending jobs, with the plan that the folder has, whose modules are imported.

    The exit code is 3 if jobs failed or are left.
    """
    from dqeval.bench.runner import retry

    work(folder, partial(retry, folder, at_once=at_once, any_version=any_version), workers, scheduler, executor)


@bench.command()
def status(folder: Folder, module: Modules = None) -> None:
    """Show how many jobs are done, failed and left."""
    from dqeval.bench import Store
    from dqeval.bench.runner import progress_of
    from dqeval.render.tables import count_of

    with Store(folder) as store:
        count = store.count(planned=True)
    try:
        sentence = str(progress_of(folder))
    except (ValueError, OSError) as error:
        # What is done is worth knowing where the data is not, such as in a copy of the folder.
        done = f"{count_of(count.done, 'job')} done, {count.failed:,} failed"
        sentence = f"{done}; the number of jobs left is unknown ({error})"
    output.say_sentences(sentence)


@bench.command()
def failures(folder: Folder, form: Form = OutputFormat.TABLE, path: Output = None) -> None:
    """List the failures and their reasons; JSON and CSV include tracebacks."""
    from dqeval.bench import Store

    with Store(folder) as store:
        found = Failures(store.failures(planned=True))
    output.emit(found, form, path, found.numbers)


@bench.command()
def rank(
    folder: Folder,
    by: Annotated[
        By, typer.Option(help="What counts once: each series, or each event (DQE only).", metavar="series|event")
    ] = By.SERIES,
    dataset: Annotated[str | None, typer.Option(help="Only the series of this dataset.", metavar="NAME")] = None,
    form: Form = OutputFormat.TABLE,
    path: Output = None,
    module: Modules = None,
) -> None:
    """Rank the detectors: means with confidence intervals, ranks, significance tests, agreement of the metrics."""
    from dqeval.bench.ranking import rank

    found = rank(folder, by=by.value, dataset=dataset)
    output.emit(found, form, path, found.numbers)
    tell_of_unknown_metrics(folder)


@bench.command()
def export(
    folder: Folder,
    path: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="The file to write; it ends with .csv or .parquet.", metavar="FILE", dir_okay=False
        ),
    ],
) -> None:
    """Write all results to a table, one row per series, detector, seed and metric."""
    from dqeval.bench import export

    if path.suffix.lower() not in ENDINGS:
        raise ValueError(f"-o {path}: the file should end with {' or '.join(ENDINGS)}")
    with output.write_and_say(path) as place:
        export(folder, place)


@bench.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(help="The folders of the runs to merge.", metavar="DIR")],
    folder: Target,
) -> None:
    """Merge the results of several runs, such as shards, into one folder."""
    from dqeval.bench import merge
    from dqeval.render.tables import count_of

    for given in folders:
        if given.resolve() == folder.resolve():
            raise ValueError(f"-o {folder} is one of the runs to merge; name another folder")
    merge(folders, folder)
    output.tell(f"merged {count_of(len(folders), 'run')} into {folder}")


@bench.command()
def report(folder: Folder, path: Page, module: Modules = None) -> None:
    """Write a report on the run: an HTML file, and beside it a folder with pages of up to 50 series.

    The folder of bench.html is bench_series. The series are those where the metrics disagree most. No page needs a
    network.
    """
    from dqeval.render.bench_page import bench_report

    # Not to a place beside it, as the pages of the series lie in a folder that is named after the file.
    with output.sentences("ranking the detectors") as say:
        pages = bench_report(
            folder, path, progress=lambda done, total: say(f"{done:,} of {total:,} pages of series drawn")
        )
    tell_of_unknown_metrics(folder)
    output.tell(f"wrote {path}{f' and {pages}/' if pages else '; it has no pages of series, and says why'}")


@bench.command()
def site(
    folder: Folder,
    path: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="The folder to write: a new one, or one with an earlier site.",
            metavar="DIR",
            file_okay=False,
        ),
    ],
    pages: Annotated[
        int,
        typer.Option(
            help="Explorer pages, which show values and scores, for so many series: where the metrics disagree most.",
            min=0,
            metavar="NUMBER",
        ),
    ] = 0,
    module: Modules = None,
) -> None:
    """Write a site of the run, to visit and to publish: a folder that opens without a server.

    It has rankings by every metric and dataset, a page for each detector and each series, and all numbers to download.
    It shows numbers only, unless --pages asks for more.
    """
    from dqeval.render.site import PAGE, bench_site

    with output.sentences("ranking the detectors") as say:
        written = bench_site(
            folder,
            path,
            pages=pages,
            progress=lambda done, total: say(f"{done:,} of {total:,} explorer pages drawn"),
        )
    tell_of_unknown_metrics(folder)
    if written.trouble:
        output.tell(written.trouble)
    for name, reason in written.without_page.items():
        output.tell(f"{name}: there is no explorer page: {reason}")
    output.tell(f"wrote {path}/, {written.size / 1e6:,.1f} MB: open {path / PAGE} in a browser")


def _shard(text: str) -> tuple[int, int]:
    try:
        part, parts = map(int, text.split("/"))
    except ValueError:
        raise ValueError(f"--shard {text}: write it as 1/3, the first third of the jobs") from None
    if not 1 <= part <= parts:
        raise ValueError(f"--shard {text}: the part is counted from 1 to the number of parts, as in 1/3")
    return part, parts
