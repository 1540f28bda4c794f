"""The table of ratios that is on record, and what tells that one of them got worse, on made-up tables."""

import re
from pathlib import Path

import pytest

from benchmarks import all as everything
from benchmarks import compare
from benchmarks import dqe as of_dqe

PERFORMANCE = Path(__file__).parent.parent / "docs" / "performance.md"
BEFORE = {("evaluate", "roc_auc_score"): 0.02, ("explain", "evaluate"): 60.0, ("gone", "numpy.sort"): 1.0}


def page(ratios):
    """Return a page with a table of ratios between two paragraphs, and another table after it."""
    rows = "".join(f"| {what} | {beside} | {value:.3g} × |\n" for (what, beside), value in ratios.items())
    more = "\nText.\n\n| what | beside |\n|---|---|\n| else | 9 × |\n"
    return f"# A page\n\n{compare.HEAD}\n{compare.RULE}\n{rows}{more}"


@pytest.fixture
def compared(tmp_path, capsys):
    """Compare two made-up tables: a function that returns the exit code, and what was printed."""

    def compared(before, after):
        for name, ratios in {"before.md": before, "after.md": after}.items():
            (tmp_path / name).write_text(page(ratios), encoding="utf-8")
        return compare.main([str(tmp_path / "before.md"), str(tmp_path / "after.md")]), capsys.readouterr().out

    return compared


def test_ratios_are_read_from_a_page():
    assert compare.ratios(page(BEFORE)) == BEFORE


def test_a_ratio_that_got_worse_is_shown_and_fails(compared):
    code, said = compared(BEFORE, BEFORE | {("evaluate", "roc_auc_score"): 0.03})
    assert code == 1
    assert "1 of 3 ratios are 1.5 times as large as before, or more" in said
    assert "| evaluate | roc_auc_score | 0.02 × | 0.03 × | 1.50 × |" in said
    assert "explain" not in said


def test_the_worst_comes_first(compared):
    _, said = compared(BEFORE, {key: (key[0] == "explain") * 60 + 2 * value for key, value in BEFORE.items()})
    shown = [line.split(" | ")[0] for line in said.splitlines() if line.startswith("| ")][1:]
    assert shown == ["| explain", "| evaluate", "| gone"]


@pytest.mark.parametrize("factor", [0.1, 1.0, 1.49])
def test_what_changes_little_passes(compared, factor):
    code, said = compared(BEFORE, {key: factor * value for key, value in BEFORE.items()})
    assert code == 0
    assert said == "0 of 3 ratios are 1.5 times as large as before, or more\n\n"


def test_what_only_one_table_has_is_named(compared):
    after = {key: value for key, value in BEFORE.items() if key[0] != "gone"} | {("new one", "numpy.sort"): 5.0}
    code, said = compared(BEFORE, after)
    assert code == 0
    assert "no longer measured: gone\n" in said
    assert "new: new one\n" in said


@pytest.mark.parametrize("text", ["", "# A page without a table", page({})])
def test_a_page_without_ratios_is_an_error(text):
    with pytest.raises(ValueError, match="table of ratios"):
        compare.ratios(text)


def test_two_files_are_needed(capsys):
    assert compare.main(["one.md"]) == 2
    assert "usage" in capsys.readouterr().err


def test_another_table_takes_the_place_of_the_first():
    lines = [compare.HEAD, compare.RULE, "| evaluate | roc_auc_score | 7 × |"]
    text = everything.replaced(page(BEFORE), lines)
    assert text == page({("evaluate", "roc_auc_score"): 7})
    with pytest.raises(ValueError, match="no table to replace"):
        everything.replaced("nothing", lines)


def test_dqe_beside_a_sum(capsys):
    of_dqe.beside_sum(n=2_000, at_least=0.0)
    first, *said = capsys.readouterr().out.split("\n")
    form = r"2,000 points, {}: [0-9.]+ × numpy\.sum of the scores"
    assert not first
    assert len(said) == 2
    assert re.fullmatch(form.format("dqe_score"), said[0])
    assert re.fullmatch(form.format("evaluate"), said[1])


def test_every_row_is_measured():
    for row in everything.rows(points=2_000):
        row.call()
        row.other()


def test_the_table_is_measured_and_written(tmp_path, monkeypatch, capsys):
    quick = everything.Row("evaluate", "numpy.sort", list, list)
    monkeypatch.setattr(everything, "rows", lambda: [quick])
    path = tmp_path / "page.md"
    path.write_text(page(BEFORE), encoding="utf-8")
    everything.main([str(path)])
    assert list(compare.ratios(capsys.readouterr().out)) == [("evaluate", "numpy.sort")]
    (value,) = compare.ratios(path.read_text(encoding="utf-8")).values()
    assert 0.1 < value < 10


def test_the_table_on_record_has_every_row():
    recorded = compare.ratios(PERFORMANCE.read_text(encoding="utf-8"))
    measured = [(row.what, row.beside) for row in everything.rows()]
    assert list(recorded) == measured, "run python -m benchmarks.all docs/performance.md"
