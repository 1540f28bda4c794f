"""Tables and pages in every form."""

from dqeval.tables import Page, Table, in_latex

TABLE = Table(("metric", "a_1", "b"), [("DQE", "0.5", "0.25"), ("  part", "1", "2")], note="10 %", marked={(0, 1)})


def test_text():
    assert TABLE.text() == "metric  a_1     b\n-----------------\nDQE     0.5  0.25\n  part    1     2\n10 %"
    assert TABLE.text(emphasis=lambda cell: f"<{cell}>").splitlines()[2] == "DQE     <0.5>  0.25"


def test_long_tables_are_cut():
    table = Table(("row",), [(str(i),) for i in range(30)], note="note")
    assert table.text().splitlines()[-2:] == ["... and 10 more", "note"]
    assert len(table.text(most_rows=None).splitlines()) == 33
    assert "... and 10 more" in table.html()
    assert "... and" not in table.html(most_rows=None)
    assert len(Page([table]).text().splitlines()) == 33


def test_html():
    html = TABLE.html()
    assert "<th>a_1</th>" in html
    assert "<td><b>0.5</b></td>" in html
    assert html.endswith("<div><small>10 %</small></div>")


def test_markdown():
    assert TABLE.markdown().splitlines() == [
        "| metric | a_1 | b |",
        "| --- | ---: | ---: |",
        "| DQE | **0.5** | 0.25 |",
        "|   part | 1 | 2 |",
        "",
        "10 %",
    ]
    assert Table(("a|b",), [("c|d",)]).markdown() == "| a\\|b |\n| --- |\n| c\\|d |"


def test_latex():
    assert TABLE.latex().splitlines() == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"metric & a\_1 & b \\",
        r"\midrule",
        r"DQE & \textbf{0.5} & 0.25 \\",
        r"\quad part & 1 & 2 \\",
        r"\bottomrule",
        r"\end{tabular}",
        "% 10 %",
    ]
    assert not Table(("a",), []).latex().endswith("%")
    assert (
        in_latex("a\\b~c^d {e} −1 × 2")
        == r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d \{e\} $-$1 $\times$ 2"
    )


def test_columns_of_text():
    table = Table(("level", "message"), [("error", "short"), ("warning", "rather long")], text_columns=2)
    assert table.text().splitlines()[2:] == ["error    short", "warning  rather long"]
    assert "| --- | --- |" in table.markdown()
    assert "{ll}" in table.latex()


def test_pages():
    page = Page(["50 % of a_b", Table(("a",), [("1",)], marked={(0, 0)})])
    assert page.text() == "50 % of a_b\n\na\n-\n1"
    assert page.text(emphasis=lambda cell: f"*{cell}*").endswith("*1*")
    assert page.markdown() == "50 % of a_b\n\n| a |\n| --- |\n| **1** |"
    assert page.latex().startswith("50 \\% of a\\_b\n\n\\begin{tabular}{l}")
