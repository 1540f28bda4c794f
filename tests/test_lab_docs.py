"""The matrix of properties and the counter-examples in the documentation: checked again, and attacked at random."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dqeval.core.registry import METRICS
from dqeval.lab.cases import Case
from dqeval.lab.judge import Judge
from dqeval.lab.matrix import QUESTIONS, _Task, examine
from dqeval.lab.properties import PROPERTIES
from dqeval.lab.search import Budget

PAGES = Path(__file__).parents[1] / "docs" / "properties"
SMALL = Budget(points=4, one_alarm_points=6, longest=2, scored_points=3, examples=10)
MARKS = {".": 0, "#": 1, "^": 1}
NAMES = {metric.label: metric.name for metric in METRICS}


def matrix(page=PAGES / "matrix.md"):
    """Return the words of the matrix, by metric and property."""
    found, header = {}, []
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().strip("*").partition(" (")[0] for cell in line.strip("|").split("|")]
        if line.startswith("| metric"):
            header = cells
        elif line.startswith("| ") and cells[0] in NAMES:
            found |= {(NAMES[cells[0]], name): word for name, word in zip(header[1:], cells[1:], strict=True)}
    return found


MATRIX = matrix()


def counterexamples():
    """Yield each counter-example of the page: metric, property, and its lines."""
    metric = ""
    text = (PAGES / "counterexamples.md").read_text(encoding="utf-8")
    for label, name, lines in re.findall(
        r"^## (.+)$|^\*\*([\w-]+)\*\*:.*\n\n```text\n((?:.+\n)+)```", text, re.MULTILINE
    ):
        if label:
            metric = NAMES[label]
        else:
            yield metric, name, lines.splitlines()


EXAMPLES = {(metric, name): lines for metric, name, lines in counterexamples()}


def flags(strip):
    """Return labels, detections or scores from a strip of text."""
    if " " in strip.strip():
        return tuple(map(int, strip.split()))
    return tuple(MARKS[mark] if mark in MARKS else int(mark) for mark in strip.strip())


def parsed(lines):
    """Return the two cases of a counter-example, and the values beside them as they are printed."""
    *rows, near = lines
    nears = [int(number) for number in re.findall(r"\d+", near)]
    labels, cases, values = (), [], []
    for row in rows:
        kind, rest = row[:6].strip(), row[8:]
        if kind == "labels":
            labels = flags(rest)
            continue
        strip, value = rest.rsplit(maxsplit=1)
        cases.append(Case(labels, flags(strip), nears[min(len(cases), len(nears) - 1)]))
        values.append(float(value))
    return cases, values


def test_the_page_on_which_metric_to_report_has_the_answers_of_the_matrix():
    shown = matrix(PAGES.parent / "which-metric.md")
    assert len(shown) > 100
    assert shown == {key: MATRIX[key] for key in shown}


def test_every_answer_is_in_the_matrix():
    assert set(MATRIX) == {(metric.name, question) for metric in METRICS for question in QUESTIONS}


def test_every_no_has_its_counter_example():
    assert set(EXAMPLES) == {key for key, word in MATRIX.items() if word == "no"}


DRAWN = [key for key, lines in EXAMPLES.items() if "[" not in lines[0]]  # the paper's long cases say where things are


@pytest.mark.parametrize(("metric", "question"), DRAWN)
def test_a_reader_can_check_a_counter_example(metric, question):
    """By the public function, on what is drawn on the page: no more than a reader has."""
    (before, after), values = parsed(EXAMPLES[metric, question])
    judge = Judge(METRICS[metric], 1000)
    exact = [judge.value(before), judge.value(after)]
    assert exact == pytest.approx(values, abs=1e-3, rel=1e-2)
    if question in PROPERTIES:
        assert after in PROPERTIES[question].changes(before)
        assert not PROPERTIES[question].holds(*exact, METRICS[metric].perfect)


@pytest.mark.parametrize("metric", METRICS.names)
def test_the_matrix_agrees_with_a_small_search(metric):
    """What a small search refutes, the large one has refuted; what that one did not refute, the small one cannot."""
    laws = tuple(name for name, law in PROPERTIES.items() if law.relation is not None)
    for answer in examine(_Task(metric, laws, SMALL, 1000, ())):
        written = MATRIX[metric, answer.question]
        if answer.word == "no":
            assert written == "no", answer
        elif written == "yes":
            assert answer.word in ("yes", "undefined"), answer


@pytest.mark.parametrize("metric", ["dqe", "auc_pr", "ucr_score"])
def test_what_is_measured_is_what_the_page_says(metric):
    others = tuple(name for name in QUESTIONS if name not in PROPERTIES)
    for answer in examine(_Task(metric, others, SMALL, 1000, ())):
        assert MATRIX[metric, answer.question] == answer.word


HELD = [key for key, word in MATRIX.items() if word == "yes" and key[1] in PROPERTIES]
# Labels, levels and lengths of stretches: as bytes, which are drawn in a fraction of the time of lists.
STRETCHES = st.binary(min_size=2, max_size=8).map(lambda drawn: [(b & 1, b >> 1 & 3, (b >> 3 & 3) + 1) for b in drawn])


@pytest.mark.parametrize(("metric", "question"), HELD)
@settings(max_examples=15)  # for each of hundreds of answers
@given(
    STRETCHES.filter(lambda found: len({label for label, _, _ in found}) == 2),
    st.integers(1, 4),
)
def test_nobody_finds_a_counter_example_where_the_page_says_yes(metric, question, stretches, near):
    law = PROPERTIES[question]
    labels = tuple(label for label, _, length in stretches for _ in range(length))
    levels = [level if law.takes == "scores" else level % 2 for _, level, _ in stretches]
    found = tuple(level for level, (_, _, length) in zip(levels, stretches, strict=True) for _ in range(length))
    judge, case = Judge(METRICS[metric], 1000), Case(labels, found, near)
    for changed in list(law.changes(case))[:6]:
        before, after = judge.value(case), judge.value(changed)
        if before == before and after == after:
            assert law.holds(before, after, METRICS[metric].perfect), (
                case.strips(),
                changed.strips(),
                near,
                before,
                after,
            )
