"""Make the matrix and the counter-examples that the page on properties shows: ``python docs/properties.py``.

It takes a few minutes. ``tests/test_lab_docs.py`` checks every counter-example again, and the matrix on a small budget.
"""

import os
from pathlib import Path

import dqeval
from dqeval.lab.matrix_result import WHAT_YES_IS, PropertyMatrix

HERE = Path(__file__).parent / "properties"


def matrix_page(found: PropertyMatrix) -> str:
    """Return the tables of all groups, with what each property is."""
    lines = [
        "# The matrix",
        "",
        "Made by `python docs/properties.py`. [How to read it](../properties.md#how-to-read-the-matrix).",
    ]
    lines += ["", WHAT_YES_IS, "", *(f"- {each}" for each in found.searched())]
    for (title, table), questions in zip(found.tables().items(), found.groups.values(), strict=True):
        lines += ["", f"## {title}", "", table.markdown(), ""]
        for each in questions:
            source = f" After {each.citation}." if each.citation else ""
            lines.append(f"- **{each.name}**: {each.title}. {each.definition}{source}")
    return "\n".join(lines) + "\n"


def example_page(found: PropertyMatrix) -> str:
    """Return every counter-example, by metric."""
    lines = ["# Counter-examples", "", "Made by `python docs/properties.py`."]
    lines += ["`#` is labelled, `^` is detected, `.` is neither; digits are scores."]
    for metric, label in found.labels.items():
        lines += ["", f"## {label}"]
        for answer in found.answers:
            if answer.metric == metric and answer.holds is False:
                shown = "\n".join(answer.examples[0].lines())
                lines += ["", f"**{answer.question}**: {answer.sentence}", "", f"```text\n{shown}\n```"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    # Far more time than any takes, so that no answer depends on how busy the machine is.
    found = dqeval.properties(workers=os.cpu_count() or 1, seconds=300)
    (HERE / "matrix.md").write_text(matrix_page(found), encoding="utf-8")
    (HERE / "counterexamples.md").write_text(example_page(found), encoding="utf-8")
