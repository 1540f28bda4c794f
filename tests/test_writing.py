"""Files that are there whole or not at all, whatever happens while they are written."""

import ast
import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dqeval
from commands import caller, write_clean
from dqeval import bench
from dqeval.support.short_paths import short_traceback, without_folders
from dqeval.support.writing import atomic_write, write_table, write_text

SOURCE = Path(dqeval.__file__).parent
WRITES = {"write_text", "write_bytes", "savefig", "save", "savez", "savetxt", "to_csv", "to_parquet", "write_table"}
GUARDS = {"atomic_write", "write_and_say"}
# What is not a file that people get: the log that goes on where it stopped, the lock, and what is only in memory.
ALLOWED = {
    ("support/writing.py", "open"),
    ("support/writing.py", "write_text"),
    ("experiments/kept_lines.py", "open"),
    ("render/html.py", "savefig"),
    ("bench/jobs.py", "save"),
}


def opens_for_writing(call):
    modes = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    modes += [k.value.value for k in call.keywords if k.arg == "mode" and isinstance(k.value, ast.Constant)]
    return any(set(mode) <= set("rwxabt+") and set(mode) & set("wxa+") for mode in modes)


def writes(tree):
    """Yield the name and the line of each call that writes a file other than to the place that `atomic_write` gives."""
    safe = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.With)
        and any(getattr(getattr(item.context_expr, "func", None), "id", "") in GUARDS for item in node.items)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node not in safe:
            name = node.func.attr
            if name in WRITES or (name == "open" and opens_for_writing(node)):
                yield name, node.lineno
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open" and opens_for_writing(node):
            yield "open", node.lineno


@pytest.mark.slow
@pytest.mark.unmeasured
def test_every_file_is_written_beside_and_renamed():
    found = {
        (path.relative_to(SOURCE).as_posix(), name): line
        for path in SOURCE.rglob("*.py")
        for name, line in writes(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found.keys() - ALLOWED == set(), "write it with dqeval.support.writing"
    assert set(writes(ast.parse("open('a', 'w')\np.open('rb+')\nx.write_bytes(b'')"))) == {
        ("open", 1),
        ("open", 2),
        ("write_bytes", 3),
    }
    assert not list(writes(ast.parse("p.open('rb')\nwith atomic_write(p) as place:\n    place.write_text('')\n")))


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("before", [None, "old"])
def test_what_fails_in_the_middle_leaves_the_file_as_it_was(tmp_path, before):
    path = tmp_path / "a.csv"
    if before:
        path.write_text(before)

    def rows():
        yield [1, 2]
        raise RuntimeError("no more")

    for write in (lambda: write_table(path, ["a", "b"], rows()), lambda: write_text(path, "\ud800")):
        with pytest.raises((RuntimeError, UnicodeEncodeError)):
            write()
        assert listing(tmp_path) == (["a.csv"] if before else [])
    if before:
        assert path.read_text() == before
    assert write_table(path, ["a", "b"], [[1, 2], [3, "x,y"]]) == 2
    assert path.read_bytes() == b'a,b\n1,2\n3,"x,y"\n'


def test_a_full_disk_names_the_file_that_was_asked_for(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*a\.txt'"):
        write_text(tmp_path / "a.txt", "text")
    assert listing(tmp_path) == []


def test_other_errors_and_devices(tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), atomic_write(tmp_path / "a.txt"):
        (tmp_path / "elsewhere").read_text()
    with pytest.raises(OSError, match=r"nowhere.a\.txt"):
        write_text(tmp_path / "nowhere" / "a.txt", "text")
    write_text(os.devnull, "text")
    assert not Path(os.devnull).is_file()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="other systems have no such device")
def test_standard_output_by_its_path_into_a_pipe():
    command = [
        sys.executable,
        "-c",
        "from dqeval.support.writing import write_text; write_text('/dev/stdout', 'all of it')",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all of it", "")


KILLED = """
import os, signal, sys
from pathlib import Path
from dqeval import bench
os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)  # in the middle: written, not yet renamed
bench.run(Path("plan.toml"), "run")
"""


@pytest.mark.skipif(os.name != "posix", reason="other systems have other signals")
@pytest.mark.slow
@pytest.mark.unmeasured
def test_a_kill_while_the_plan_is_written_costs_nothing(tmp_path):
    text = 'metrics = ["auc_roc"]\n[[data]]\ngenerator = "synthetic"\nn = 500\nperiod = 16\n[[detector]]\nname = "sr"\n'
    (tmp_path / "plan.toml").write_text(text)
    for _ in range(2):
        killed = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path)
        assert killed.returncode == -signal.SIGKILL
        assert not (tmp_path / "run" / "plan.json").exists()
    assert bench.run(tmp_path / "plan.toml", tmp_path / "run").done == 1


# What files say of the machine ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ValueError: /home/me/data/a.csv: no label", "ValueError: a.csv: no label"),
        ("No such file: '/home/my own/b c/a.pt'", "No such file: 'a.pt'"),
        (r"C:\Users\me\a.csv: bad", "a.csv: bad"),
        ("/my data/x y/a.csv and (/tmp/b/c)", "a.csv and (c)"),
        ("1/2 and/or n/a, tcp://host:1/x", "1/2 and/or n/a, tcp://host:1/x"),
        ("", ""),
        ("see file:///home/me/x.csv or file://host/home/x.csv", "see x.csv or x.csv"),
        ("error:/home/me/x.csv, a,/home/me/x.csv; /home/me/y", "error:x.csv, a,x.csv; y"),
        ("</home/me/x> `/home/me/x` `/home/my own/x` {/home/me/x}", "<x> `x` `x` {x}"),
        (r"\\server\share\x.csv and error:D:\a\b.csv", "x.csv and error:b.csv"),
        (r"'C:\\Users\\me\\a.csv' //server/share/b.csv /a//b/c", "'a.csv' b.csv c"),
        ("./a/b/c ../a/b 2020/01/02 s3://b/c/d http://x.org/~me/a/b </b></i>",) * 2,
    ],
)
def test_no_folders_in_a_text(text, expected):
    assert without_folders(text, ["/my data/x y", ""]) == expected


@pytest.mark.skipif(os.name != "posix", reason="other systems have other folders")
def test_folders_of_this_machine_may_have_spaces(monkeypatch):
    monkeypatch.setenv("HOME", "/home/my own")
    monkeypatch.setattr(sys, "prefix", "/opt/b c/")
    text = "no file /home/my own/data/a.pt, nor error:/opt/b c/lib/x.so"
    assert without_folders(text) == "no file a.pt, nor error:x.so"
    monkeypatch.setenv("HOME", "/")
    assert without_folders("/home/me/a.pt 1/2") == "a.pt 1/2"


@pytest.mark.skipif(os.name != "posix", reason="other systems have other folders")
def test_no_folders_in_a_traceback(monkeypatch):
    monkeypatch.setattr(sys, "path", ["", "/opt/lib", "/opt/lib/site-packages"])
    files = ("/opt/lib/site-packages/dqeval/panel.py", "/opt/lib/json/x.py", "/home/me/own.py", "<string>")
    text = "\n".join(f'  File "{file}", line 3, in f' for file in files)
    shown = [line.split('"')[1] for line in short_traceback(text).splitlines()]
    assert shown == ["dqeval/panel.py", "json/x.py", "own.py", "<string>"]


@pytest.fixture
def inputs(tmp_path, call):
    """A folder with files of scores, a module, a receipt and a benchmark run, and another one with links to them."""
    write_clean(tmp_path / "a.csv")
    write_clean(tmp_path / "b.csv")
    (tmp_path / f"{tmp_path.name}.py").write_text("")
    assert call("score", tmp_path / "a.csv", "--per-event", "--format", "json", "-o", tmp_path / "r.json").code == 0
    plan = {"metrics": ["dqe"], "scores": [{"path": str(tmp_path / "a.csv")}]}
    bench.run(plan, tmp_path / "run")
    links = tmp_path / "links"
    links.mkdir()
    for path in ("a.csv", "b.csv", f"{tmp_path.name}.py", "r.json", "run/results.sqlite", "run/plan.json"):
        (links / path.replace("/", "_")).symlink_to(tmp_path / path)
    return tmp_path


@pytest.fixture
def call(monkeypatch, capsys):
    return caller(monkeypatch, capsys)


@pytest.mark.unmeasured
@pytest.mark.parametrize("through_links", [False, True], ids=["", "links"])
def test_no_output_replaces_an_input(inputs, call, through_links):
    a, b, module, receipt, run = (inputs / name for name in ("a.csv", "b.csv", f"{inputs.name}.py", "r.json", "run"))
    commands = [
        (["diff", run, run], run / "results.sqlite"),
        (["diff", a, b], b),
        (["diff", a, receipt], receipt),
        (["verify", receipt, a], a),
        (["verify", receipt, a], receipt),
        (["score", a, "--module", module], module),
        (["score", a, b], b),
        (["explain", inputs], b),
        (["bench", "rank", run], run / "results.sqlite"),
        (["bench", "failures", run], run / "results.sqlite"),
        (["bench", "rank", run], run / "plan.json"),
    ]
    for words, target in commands:
        name = inputs / "links" / target.relative_to(inputs).as_posix().replace("/", "_") if through_links else target
        before = target.read_bytes()
        done = call(*words, "-o", name)
        assert (done.code, done.err.splitlines()[-1]) == (
            2,
            f"dqeval: {name} would overwrite the input; name another file",
        )
        assert target.read_bytes() == before
    done = call("diff", a, b, "--html", inputs / "page.html")
    assert done.code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path):
    place = tmp_path / "private.csv"
    place.write_text("old")
    place.chmod(0o600)
    write_text(place, "new")
    assert (place.read_text(), place.stat().st_mode & 0o777) == ("new", 0o600)


def test_a_read_only_file_is_not_replaced(tmp_path, call):
    place = tmp_path / "kept.txt"
    place.write_text("old")
    place.chmod(0o444)
    write_clean(tmp_path / "a.csv")
    done = call("score", tmp_path / "a.csv", "-o", place)
    sentence = f"dqeval: {place}: is read-only: name another file, or make this one writable\n"
    assert (done.code, done.err, place.read_text()) == (2, sentence, "old")
    place.chmod(0o644)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "kept.txt"]


def test_what_is_read_outside_of_a_command_may_be_replaced(tmp_path):
    place = write_clean(tmp_path / "a.csv")
    assert dqeval.check(place, near=2) == []
    write_text(place, "new")
    assert place.read_text() == "new"
