"""Names that tell things apart."""

import pytest

from dqeval.support.naming import distinct, file_names, same_on_disk

FORBIDDEN = set('<>:"/\\|?*') | {chr(code) for code in range(32)}
DEVICES = {"con", "prn", "aux", "nul", "lpt1", "com¹", "conin$"}


def test_files_do_not_collide_on_any_disk():
    names = ["A", "a", "b", "CON", "con", "nul.x", "Aux", "lpt1", "com10", "c:d", "c_d", ".hidden", "x.", "x" * 300]
    names += [
        "x" * 301,
        "a\u0308",
        "ä",
        "ö",
        "a/b",
        "a\\b",
        "",
        "b~",
        "B2",
        "\ud800",
        "con .x",
        "com¹",
        "CONIN$",
        "a\nb",
    ]
    names += ["ä" * 100, "../up", " x", "straße", "STRASSE"]
    found = file_names(names, "html")
    assert len(set(map(same_on_disk, found))) == len(names)
    for name in found:
        assert name.endswith(".html")
        assert name.partition(".")[0].strip().lower() not in {*DEVICES, ""}
        assert len(name.encode()) < 200
        assert name.isprintable()
        assert not set(name) & FORBIDDEN
        assert name[0] not in ". "


@pytest.mark.parametrize("name", ["b", "B2", "com10", "console", "c_d", "ö", "my data (1), new", "-x", "1" * 180])
def test_names_that_every_system_takes_stay(name):
    assert file_names([name, "other"], "csv") == [f"{name}.csv", "other.csv"]


def test_changed_names_can_still_be_read_and_do_not_depend_on_others():
    assert file_names(["pack/a"], "csv") == file_names(["b", "pack/a"], "csv")[1:]
    assert file_names(["pack/a"], "csv")[0].startswith("pack_a~")
    assert file_names(["a", "a"], "csv") == ["a.csv", "a.csv"]


def test_numbers_where_names_are_taken():
    assert distinct(["x", "x", "x_2", "x", "{}"], "{}_{}") == ["x", "x_2", "x_2_2", "x_3", "{}"]
    assert distinct(["x", "X"], "{}_{}") == ["x", "X"]
    assert distinct(["x", "X", "x"], "{} ({})", key=same_on_disk) == ["x", "X (2)", "x (3)"]
