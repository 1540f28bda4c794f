"""``dqeval reproduce``: run the experiments of the paper."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqeval.cli import output
from dqeval.cli.bench_work import Scheduler, Workers, processes
from dqeval.cli.output_formats import json_text

if TYPE_CHECKING:
    from dqeval.experiments import Outcome


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(help="The experiment, or all. Without it, the experiments are listed.", metavar="EXPERIMENT"),
    ] = None,
    case: Annotated[
        str | None, typer.Argument(help="A case of the experiment. Without it, all cases run.", metavar="CASE")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the real series: CSV files of TSB-AD, or packs.",
            envvar="DQEVAL_DATA",
            metavar="DIR",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    folder: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="Where tables, figures and runs are written.", file_okay=False, metavar="DIR"
        ),
    ] = Path("reproduced"),
    as_json: Annotated[bool, typer.Option("--json", help="Print every number as JSON.")] = False,
    subset: Annotated[
        int | None, typer.Option(help="Sample this many series per dataset.", min=1, metavar="NUMBER")
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the sample, of noise, and the first one of detectors.", min=0, metavar="NUMBER")
    ] = 0,
    seeds: Annotated[
        int, typer.Option(help="Run detectors that draw random numbers with this many seeds.", min=1, metavar="NUMBER")
    ] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Run a small version of each experiment, in minutes.")] = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
) -> None:
    """Run an experiment of the paper, and show its numbers beside the published ones."""
    from dqeval.experiments import ALL, EXPERIMENTS, Setting
    from dqeval.experiments import reproduce as outcomes
    from dqeval.experiments.summary import write_summary
    from dqeval.render.drawing import require_matplotlib

    if name is None:
        output.say_sentences(_experiment_list())
        return
    if name != ALL and name not in EXPERIMENTS:
        raise EXPERIMENTS.unknown(name, also=[ALL])
    require_matplotlib()  # before hours of work
    with output.sentences(f"{name}: starting") as progress:
        setting = Setting(
            folder=folder,
            data=data,
            case=case,
            subset=subset,
            seed=seed,
            seeds=seeds,
            quick=quick,
            workers=processes(workers, scheduler=scheduler),
            scheduler=scheduler,
            progress=progress,
        )
        found = []
        try:
            for outcome in outcomes(name, setting):
                outcome.write(folder)
                write_summary(folder)
                found.append(outcome)
                if not as_json:
                    output.say(f"{outcome.page().text(emphasis=output.bold, width=output.width_of(sys.stdout))}\n")
        except KeyboardInterrupt:
            output.tell("stopped: run the same command to resume")
            raise
    if as_json:
        output.say(_json(found))
    output.tell(f"wrote {', '.join(str(folder / outcome.name) for outcome in found)}")


def _experiment_list() -> str:
    from dqeval.experiments import ALL, EXPERIMENTS

    lines = [
        f"{output.bold(' '.join([each.name, '|'.join(each.cases)]).strip())}: {each.summary} Beside {each.published}."
        for each in EXPERIMENTS
    ]
    return "\n".join([*lines, f"{output.bold(ALL)}: All of these but check."])


def _json(found: list[Outcome]) -> str:
    numbers = [outcome.numbers() for outcome in found]
    merged = {kind: [each for one in numbers for each in one[kind]] for kind in ("cells", "claims", "notes")}
    return json_text(merged)
