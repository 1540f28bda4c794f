"""Tables and pages in every form."""

import unicodedata

import pytest

from dqeval.render.tables import ACTING, Page, Table, in_csv, in_html, in_latex, in_markdown, one_line, printable

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
    assert Table(("a",), [], note="one", legend=["two"]).latex().endswith("\n% one\n% two")
    assert Table(("a",), [], note="one", legend=["two"]).markdown().endswith("\n\none\ntwo")
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


HARMFUL = [
    "\x00",
    "\x07",
    "\n",
    "\r",
    "\t",
    "\x1b",
    "\x7f",
    "\x85",
    "\x9b",
    "\u2028",
    "\u202e",
    "\u2066",
    "\ufeff",
    "\ud800",
]
HOSTILE = "a\x1b[2J\nb\u202e\ud800<script>alert(1)</script>"


@pytest.mark.parametrize("character", HARMFUL, ids=ascii)
def test_characters_that_do_something_are_escaped(character):
    escaped = character.encode("unicode_escape").decode()
    assert printable(f"a{character}b") == f"a{escaped}b"
    assert printable(printable(character)) == escaped
    table = Table((f"h{character}",), [(f"c{character}",)], note=f"n{character}")
    for shown in (table.text(), table.html(), table.markdown(), table.latex()):
        assert not ACTING.search(shown.replace("\n", ""))
        assert len(shown.splitlines()) == len(shown.split("\n"))
    assert table.text().splitlines() == [f"h{escaped}", "-" * (1 + len(escaped)), f"c{escaped}", f"n{escaped}"]


@pytest.mark.unmeasured
def test_every_control_character_and_mark_of_direction_is_escaped():
    direction = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    for character in map(chr, range(0x110000)):
        category = unicodedata.category(character)
        if category in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(character) in direction:
            assert ACTING.match(character), ascii(character)
        elif category[0] in "LMNPS":
            assert not ACTING.match(character), ascii(character)


def test_names_that_are_only_unusual_stay_as_they_are():
    for name in ("été", "检测器", "ك\u200cك", "👩\u200d🔬", "a\xa0b", "lof[k=3]", "50 %"):
        assert printable(name) == name


def test_lines_of_a_paragraph_stay_lines():
    page = Page(["one\ntwo\x1b", "three"])
    assert page.text() == "one\ntwo\\x1b\n\nthree"
    assert page.markdown() == "one\ntwo\\\\x1b\n\nthree"
    assert page.latex() == "one\ntwo\\textbackslash{}x1b\n\nthree"
    assert "one\ntwo\\x1b</p>" in page.html()


def test_line_breaks_in_names():
    assert one_line("a\nb\r\x85\u2028c\td\udce9") == "a\\nb\\r\\x85\\u2028c\td\\udce9"


def test_nothing_passes_as_html():
    page = Page([HOSTILE, Table((HOSTILE,), [(HOSTILE,)], note=HOSTILE)])
    for shown in (in_html(HOSTILE), in_markdown(HOSTILE), page.markdown(), page.html()):
        assert "<script" not in shown
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert in_markdown('&lt;b> "x"') == '&amp;lt;b&gt; "x"'


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("sub_lof", "sub_lof"),
        ("_private_", r"\_private\_"),
        ("a__b", r"a\_\_b"),
        ("**x** `y` ~~z~~", r"\*\*x\*\* \`y\` \~\~z\~\~"),
        ("[214, 218) is an event", "[214, 218) is an event"),
        ("[click](http://x)", r"\[click\](http://x)"),
        ("[1, 2) x](http://x)", r"[1, 2) x\](http://x)"),
        ("# title | cell", r"\# title \| cell"),
        (r"C:\x", r"C:\\x"),
    ],
)
def test_names_are_no_markdown(name, written):
    assert in_markdown(name) == written


def test_latex_that_fits_a_page():
    wide = Table(("name", "found", "more"), [("a", "x " * 30, "y" * 60)], text_columns=3)
    lines = wide.latex_to_fit().splitlines()
    assert lines[0] == r"\begin{adjustbox}{max width=\linewidth, max totalheight=0.95\textheight}"
    assert lines[1] == r"\begin{tabular}{lp{0.44\linewidth}p{0.43\linewidth}}"
    assert lines[-1] == r"\end{adjustbox}"
    assert TABLE.latex_to_fit().splitlines()[1:-1] == TABLE.latex().splitlines()


def test_one_long_text_leaves_room_for_the_other_column():
    rows = [("x" * 50, "y" * 50)] * 9
    tall = Table(("found", "more"), [*rows, ("x" * 50, "y" * 950)], text_columns=2)
    assert tall.latex_to_fit().splitlines()[1] == r"\begin{tabular}{p{0.24\linewidth}p{0.66\linewidth}}"


def test_what_latex_would_take_for_its_own():
    table = Table(("[x]", "a|b"), [("[214, 218)", "[1]"), ("*", "2")])
    assert table.latex().splitlines()[2:6] == [
        r"{[}x] & a\textbar{}b \\",
        r"\midrule",
        r"{[}214, 218) & {[}1] \\",
        r"{*} & 2 \\",
    ]


def test_formulas_in_csv():
    given = [
        "=1+1",
        "+x",
        "-x",
        "@x",
        "\uff1dx",
        "'=x",
        "''@",
        "'x",
        "x=1",
        "-0.5",
        "+1e-3",
        "-inf",
        "",
        None,
        -1,
        -0.5,
    ]
    written = ["'=1+1", "'+x", "'-x", "'@x", "'\uff1dx", "''=x", "'''@"]
    assert in_csv(given) == [*written, *given[len(written) :]]
    assert in_csv(["\t=1", "\r=1", "a\x1b"]) == ["\\t=1", "\\r=1", "a\\x1b"]
    assert in_csv(["\n=1", "first\nsecond"]) == ["'\n=1", "first\nsecond"]


def test_columns_line_up_whatever_the_characters():
    table = Table(("name", "n"), [("检测", "1"), ("e\u0301te", "2"), ("🚀", "3")])
    assert table.text().splitlines() == ["name  n", "-------", "检测  1", "e\u0301te   2", "🚀    3"]
    assert Table(("检", "n"), []).text().splitlines()[1] == "-----"
