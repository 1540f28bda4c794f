"""Which properties metrics have: every question to every metric, with counter-examples."""

from __future__ import annotations

import math
import pickle
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dqeval.bench.executors import crew_for, work_off
from dqeval.bench.pool import Limits, WorkFailedError
from dqeval.core import arguments, validate
from dqeval.core.metric_choice import chosen_metrics
from dqeval.core.registry import METRICS
from dqeval.core.types import Progress
from dqeval.lab.answers import DEPENDS, NO, UNDEFINED, YES, Answer, Example, apart, in_digits
from dqeval.lab.judge import ERROR, TOO_SLOW, CannotJudgeError, Judge
from dqeval.lab.matrix_result import PropertyMatrix, Question
from dqeval.lab.measures import MEASURES, Measure
from dqeval.lab.paper_rows import PAPER_ROWS, PaperRow
from dqeval.lab.properties import PROPERTIES
from dqeval.lab.property_kinds import Property
from dqeval.lab.search import Budget, SearchResult, search, violations
from dqeval.support.modules import import_all
from dqeval.support.writing import atomic_write

QUESTIONS: Mapping[str, Property | PaperRow | Measure] = {**PROPERTIES, **PAPER_ROWS, **MEASURES}
SECONDS = 30.0
LONGEST = 1_000_000  # seconds
PATIENCE = 5  # times as long by the clock on the wall: after that, a metric hangs, and is stopped


def properties(
    metrics: Sequence[str] | str | None = None,
    *,
    questions: Sequence[str] | None = None,
    examples: int = 200,
    seconds: float = SECONDS,
    workers: int = 0,
    modules: Sequence[str] = (),
    progress: Progress | None = None,
) -> PropertyMatrix:
    """Find out which properties metrics have, with a small counter-example for each that they lack.

    Parameters
    ----------
    metrics : sequence of str, or str, optional
        Which metrics: names of metrics and of groups, or one of them. If not given, all that are registered, also your
        own.
    questions : sequence of str, optional
        Which properties, by name: docs/properties/matrix.md lists them. If not given, all.
    examples : int, default 200
        How many random series to try for each property, beside all short ones.
    seconds : float, default 30
        How much time of the processor a metric may take. What is left then is answered "too slow". In processes of
        their own, metrics that hang are stopped after five times as long.
    workers : int, default 0
        How many metrics are examined at the same time, in processes of their own, in which one that hangs or crashes
        does no harm. 0 works in this process.
    modules : sequence of str, optional
        Modules, or files that end with .py, in which metrics are registered: the processes import them.
    progress : callable, optional
        Called with how many metrics are done, and how many there are.

    Returns
    -------
    PropertyMatrix
        Prints as a matrix of metrics and properties.

    Examples
    --------
    >>> found = dqeval.properties(["dqe"], questions=["wrong-beside-hits"], examples=0)
    >>> print(found)
    Wrong detections
    <BLANKLINE>
    metric  wrong-beside-hits
    -------------------------
    DQE                    no
    wrong-beside-hits: A wrong detection never raises it, with every event detected
    <BLANKLINE>
    DQE, wrong-beside-hits: no. A normal point is detected, and it rises from 0.74 to 0.791.
    <BLANKLINE>
        labels  ..#
        before  ^.^  0.74
        after   ^^^  0.791
        near 2
    """
    chosen = _questions(questions)
    names = chosen_metrics("all" if metrics is None else metrics)
    budget = Budget(examples=arguments.whole_number("examples", examples, least=0, most=1_000_000))
    count = arguments.whole_number("workers", workers, least=0, most=1000)
    limit = arguments.real_number("seconds", seconds, least=math.ulp(0.0), advice="it is a time")
    arguments.at_most("seconds", math.ceil(limit), LONGEST)
    imported = tuple(validate.names_in("modules", modules))
    arguments.callback("progress", progress)
    asked = tuple(each.name for each in chosen)
    found: dict[str, list[Answer]] = {}
    with TemporaryDirectory(prefix="dqeval-") as folder:
        tasks = [_Task(name, asked, budget, limit, imported, str(Path(folder, str(i)))) for i, name in enumerate(names)]
        with closing(_answered(tasks, count)) as answered:
            for done, (name, answers) in enumerate(answered, start=1):
                found[name] = answers
                if progress is not None:
                    progress(done, len(names))
    labels = {name: METRICS[name].label for name in names}
    described = tuple(
        Question(each.name, each.group, each.title, each.definition, each.citation, _scope(each, budget))
        for each in chosen
    )
    return PropertyMatrix(described, labels, tuple(answer for name in names for answer in found[name]))


def _questions(names: Sequence[str] | None) -> list[Property | PaperRow | Measure]:
    if names is None:
        return list(QUESTIONS.values())
    names = validate.names_in("questions", names)
    if not names:
        raise ValueError("questions is empty: name at least one property, or leave it out")
    arguments.known_names(names, list(QUESTIONS), "the list of questions")
    return [QUESTIONS[name] for name in dict.fromkeys(names)]


@dataclass(frozen=True, slots=True)
class _Task:
    """A metric to examine: what a process needs to know.

    Attributes
    ----------
    kept : str, optional
        A file for the answers so far, which are not lost if the process is stopped at the next question.
    """

    metric: str
    questions: tuple[str, ...]
    budget: Budget
    seconds: float
    modules: tuple[str, ...]
    kept: str | None = None


def _answered(tasks: Sequence[_Task], workers: int) -> Generator[tuple[str, list[Answer]], None, None]:
    """Yield the answers for each metric, in the order in which they are done."""
    left = iter(tasks)
    limits = Limits(seconds=PATIENCE * tasks[0].seconds)
    with crew_for(workers, None, limits) as crew:

        def start() -> tuple[Future[Any], _Task] | None:
            task = next(left, None)
            return None if task is None else (crew.submit(examine, task), task)

        for ended in work_off(crew, start):
            for task, future in ended:
                yield task.metric, _result(task, future)


def _result(task: _Task, future: Future[Any]) -> list[Answer]:
    try:
        found: list[Answer] = future.result()
    except WorkFailedError as error:
        word = TOO_SLOW if error.reason.startswith("took longer") else ERROR
        sentence = f"{METRICS[task.metric].label} could not be examined any further: {error.reason}."
        kept = _kept(task)
        return [kept.get(name) or Answer(task.metric, name, word, sentence=sentence) for name in task.questions]
    return found


def _kept(task: _Task) -> dict[str, Answer]:
    """Return the answers that were found before the process was stopped, by question."""
    if task.kept is None or not Path(task.kept).exists():
        return {}
    kept: dict[str, Answer] = pickle.loads(Path(task.kept).read_bytes())
    return kept


def examine(task: _Task) -> list[Answer]:
    """Return the answers for one metric.

    At first, each question gets the same share of the time: a slow metric is refuted quickly where it can be. What was
    not answered then gets what is left.
    """
    import_all(task.modules, "", called="the module {}", hint="name a file that ends with .py, or an installed module")
    judge = Judge(METRICS[task.metric], task.seconds)
    answers: dict[str, Answer] = {}
    for share in (task.seconds / len(task.questions), task.seconds):
        for name in task.questions:
            if name in answers and answers[name].word != TOO_SLOW:
                continue
            judge.allow(share)
            answers[name] = _answer(judge, QUESTIONS[name], task.budget)
            _keep(task, answers)
    # Last, as it may take long where the answers themselves do not.
    judge.allow(task.seconds)
    for name in task.questions:
        answers[name] = _with_violations(judge, answers[name], task.budget)
    return [answers[name] for name in task.questions]


def _keep(task: _Task, answers: Mapping[str, Answer]) -> None:
    if task.kept is not None:
        with atomic_write(task.kept, lasting=False) as place:
            place.write_bytes(pickle.dumps(answers))


def _answer(judge: Judge, asked: Property | PaperRow | Measure, budget: Budget) -> Answer:
    try:
        if isinstance(asked, Measure):
            measured = asked.take(judge)
            name = judge.metric.name
            return Answer(name, asked.name, measured.word, sentence=measured.sentence, curve=measured.curve)
        if isinstance(asked, PaperRow):
            answer = _in_order(judge, asked)
        else:
            answer = _searched(judge, asked, search(asked, judge, budget), budget)
        for case in (case for example in answer.examples for case in (example.before, example.after)):
            judge.confirm(case)
        return answer
    except CannotJudgeError as trouble:
        return Answer(judge.metric.name, asked.name, trouble.word, sentence=f"{trouble.sentence}.")


def _scope(asked: Property | PaperRow | Measure, budget: Budget) -> str:
    return budget.scope(asked) if isinstance(asked, Property) else ""


def _searched(judge: Judge, asked: Property, found: SearchResult, budget: Budget) -> Answer:
    scope = f"{found.compared:,} comparisons among {budget.scope(asked)}"
    name, label = judge.metric.name, judge.metric.label
    if not found.compared:
        return Answer(
            name, asked.name, UNDEFINED, sentence=f"{label} is undefined wherever this was tried.", scope=scope
        )
    if asked.relation is None:
        directions = {example.direction for example in found.examples}
        word = DEPENDS if {-1, 1} <= directions else asked.words[sum(directions)]
        shown = [each for each in found.examples if each.direction] or found.examples
        sentence = " But: ".join(_told(asked, example) for example in shown)
        return Answer(name, asked.name, word, sentence=sentence, scope=scope, examples=found.examples)
    if not found.examples:
        return Answer(name, asked.name, YES, True, f"No counter-example: {scope}.", scope)
    if asked.relation == "perfect":
        value = in_digits(found.examples[0].values[1])
        sentence = f"{asked.change.capitalize()}, and it is {value}, not {in_digits(judge.metric.perfect)}."
    else:
        sentence = _told(asked, found.examples[0])
    return Answer(name, asked.name, NO, False, sentence, scope, found.examples)


def _with_violations(judge: Judge, answer: Answer, budget: Budget) -> Answer:
    """Return the answer that a law does not hold with how often and how far it does not, if there is time."""
    asked = QUESTIONS[answer.question]
    if not isinstance(asked, Property) or answer.word != NO or not budget.examples:
        return answer
    try:
        counted = violations(asked, judge, budget)
    except CannotJudgeError:
        return answer
    if not counted.compared:
        return answer
    return replace(answer, sentence=f"{answer.sentence} {counted.sentence}", violations=counted)


def _told(asked: Property, example: Example) -> str:
    """Return a counter-example in a sentence."""
    before, after = apart(*example.values)
    verb = {0: f"stays {after}", 1: f"rises from {before} to {after}", -1: f"falls from {before} to {after}"}
    return f"{asked.change.capitalize()}, and it {verb[example.direction]}."


def _in_order(judge: Judge, asked: PaperRow) -> Answer:
    """Return whether a metric puts the rows of a table into the paper's order, or the first pair that it does not."""
    name, label = judge.metric.name, judge.metric.label
    examples = [Example(low, high, (judge.value(low), judge.value(high))) for low, high in asked.pairs()]
    values = [examples[-1].values[0], *(example.values[1] for example in reversed(examples))]
    shown = ", ".join(f"{row} {in_digits(value)}" for row, value in zip(reversed(asked.order), values, strict=True))
    if any(value != value for value in values):
        return Answer(name, asked.name, UNDEFINED, sentence=f"{label} is undefined for some rows: {shown}.")
    against = [example for example in examples if example.direction < 1]
    if against:
        return Answer(
            name, asked.name, NO, False, f"From the worst up, as the paper wants it: {shown}.", "", (against[0],)
        )
    return Answer(name, asked.name, YES, True, f"From the worst up, as the paper wants it: {shown}.")
