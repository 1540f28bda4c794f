"""The file of results: read where nothing can be written, of any version, and never believed when it is damaged."""

import csv
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from commands import caller
from dqeval import bench
from dqeval.bench import results_file
from dqeval.bench.jobs import MADE_AGAIN, kept_scores
from dqeval.bench.results_file import FILE
from dqeval.bench.runner import _jobs, progress_of
from dqeval.bench.store import Store, check_same_data
from dqeval.render.bench_page import bench_report
from test_bench import table, write_series

PLAN = {
    "metrics": ["dqe", "auc_roc"],
    "data": [{"generator": "synthetic", "count": 3, "n": 400, "period": 16, "events": 3}],
    "detector": [{"name": "fft"}, {"name": "sr"}],
}
BESIDE = [f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal", "run.lock"]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store") / "run"
    assert bench.run(PLAN, folder).done == 6
    return folder


@pytest.fixture
def folder(original, tmp_path):
    """Have a copy of a finished run, which may be changed."""
    return shutil.copytree(original, tmp_path / "run")


def change(folder, *statements):
    with closing(sqlite3.connect(folder / FILE)) as database, database:
        for statement in statements:
            database.execute(statement)


def as_before(folder):
    """Bring a run to the form that it had before there were forms."""
    change(
        folder,
        "DROP INDEX jobs_by_series",
        "ALTER TABLE jobs DROP COLUMN data",
        "DROP TABLE plan_series",
        "PRAGMA user_version = 0",
    )


# Reading --------------------------------------------------------------------------------------------------------------


def test_a_finished_run_is_one_file_and_reading_adds_none(folder, tmp_path):
    assert not [name for name in BESIDE if (folder / name).exists()]
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    with Store(folder) as store:
        assert store.count().done == 6
        assert not [name for name in BESIDE if (folder / name).exists()]
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            store.forget_failures()
    progress_of(folder)
    bench.rank(folder)
    bench.export(folder, tmp_path / "all.csv")
    bench.merge([folder], tmp_path / "merged")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert not [name for name in BESIDE if (tmp_path / "merged" / name).exists()]


@contextmanager
def read_only(folder):
    """Have a folder where nothing can be written: root may do anything, and so becomes somebody else meanwhile."""
    root = os.geteuid() == 0
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.fixture
def medium():
    """Have a folder that everybody may look into, unlike those of tests."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


READERS = {
    "status": progress_of,
    "rank": bench.rank,
    "export": lambda folder: bench.export(folder, os.devnull),
    "rows": table,
}


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
@pytest.mark.parametrize("wal", [False, True])
def test_a_finished_run_on_read_only_media(original, medium, wal, tmp_path):
    place = shutil.copytree(original, medium / "run")
    if wal:  # as earlier versions left it
        change(place, "PRAGMA journal_mode = WAL")
    expected = {name: str(read(original)) for name, read in READERS.items()}
    with read_only(place):
        assert {name: str(read(place)) for name, read in READERS.items()} == expected
    assert not [name for name in BESIDE if (place / name).exists()]
    (tmp_path / "all").mkdir()
    with read_only(place), as_oneself():
        bench.merge([place], tmp_path / "all")
        bench_report(place, tmp_path / "bench.html")
    assert table(tmp_path / "all") == table(original)
    assert "is best by DQE" in (tmp_path / "bench.html").read_text(encoding="utf-8")


@contextmanager
def as_oneself():
    """Write elsewhere as oneself, while runs are read as somebody else."""
    real, who = results_file._open_for_reading, os.geteuid()

    def as_somebody_else(path):
        os.seteuid(who)
        try:
            return real(path)
        finally:
            os.seteuid(os.getuid())

    results_file._open_for_reading = as_somebody_else
    os.seteuid(os.getuid())
    try:
        yield
    finally:
        results_file._open_for_reading = real
        os.seteuid(who)


KILLED = """
import os, sys
from dqeval import bench
from test_store import PLAN
bench.run(PLAN, sys.argv[1], progress=lambda state: os._exit(9) if state.done == 3 else None)
"""


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
def test_what_a_kill_left_beside_the_file_is_not_passed_over(medium):
    place = medium / "run"
    places = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    subprocess.run([sys.executable, "-c", KILLED, str(place)], env=environment)
    assert (place / f"{FILE}-wal").stat().st_size
    (place / f"{FILE}-shm").unlink()  # as in a copy of what counts
    with read_only(place), pytest.raises(ValueError, match=r"its last results, in results\.sqlite-wal, cannot be read"):
        Store(place)
    with Store(place) as store:
        assert store.count().done == 3
    assert bench.run(PLAN, place).done == 3
    assert not [name for name in BESIDE if (place / name).exists()]


def test_somebody_who_reads_while_a_run_ends(folder):
    with Store(folder, create=True) as writer, Store(folder) as reader:
        rows = reader.rows()
        next(rows)
        writer.close()
        assert len(list(rows)) == 17
    with Store(folder) as store:
        assert store.count().done == 6


def test_a_file_that_somebody_else_locks_is_not_read_without_asking(folder, monkeypatch):
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, timeout=0, **options: real(*given, timeout=0.1, **options))
    with closing(real(folder / FILE)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ValueError, match="its results file cannot be used: database is locked"):
            Store(folder)


def test_odd_folders(original, tmp_path):
    place = shutil.copytree(original, tmp_path / "100 % of ä?mode=rw#x")
    assert table(place) == table(original)


# Forms ----------------------------------------------------------------------------------------------------------------


def test_results_of_an_earlier_version(folder, original, tmp_path):
    as_before(folder)
    assert table(folder) == table(original)
    assert str(bench.rank(folder)) == str(bench.rank(original))
    bench.merge([folder], tmp_path / "merged")
    assert table(tmp_path / "merged") == table(original)
    assert bench.run(PLAN, folder).earlier == 6
    assert bench.run({**PLAN, "data": [{**PLAN["data"][0], "count": 4}]}, folder).done == 2
    with closing(sqlite3.connect(folder / FILE)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (results_file.FORM,)
        assert database.execute("SELECT COUNT(*) FROM jobs WHERE data = ''").fetchone() == (6,)


def test_results_of_a_newer_version(folder, monkeypatch, capsys):
    change(folder, "PRAGMA user_version = 99")
    told = r"results\.sqlite: a newer dqeval wrote this \(format 99; this one reads 1\): install that version"
    for use in (Store, bench.rank, lambda folder: bench.run(PLAN, folder)):
        with pytest.raises(ValueError, match=told):
            use(folder)
    assert caller(monkeypatch, capsys)("bench", "status", folder).code == 2


def test_columns_are_merged_by_their_names(folder, original, tmp_path):
    columns = ("data", "seed", "detector", "series", "status", "id")
    change(
        folder,
        f"CREATE TABLE other AS SELECT {', '.join(columns)}, 1 AS more FROM jobs",
        "DROP TABLE jobs",
        "ALTER TABLE other RENAME TO jobs",
    )
    bench.merge([folder], tmp_path / "merged")
    assert bench.run(PLAN, tmp_path / "merged").earlier == 6


def test_a_file_without_tables_is_no_run_yet(tmp_path):
    sqlite3.connect(tmp_path / FILE).close()
    with pytest.raises(ValueError, match="there is no run here"):
        Store(tmp_path)


def pages_of(folder, name):
    """Return the numbers of the pages that hold a table, but for the first."""
    with closing(sqlite3.connect(folder / FILE)) as database:
        root, size = (
            database.execute(query).fetchone()[0]
            for query in (f"SELECT rootpage FROM sqlite_master WHERE name = '{name}'", "PRAGMA page_size")
        )
    return root, size


@pytest.mark.parametrize("name", ["results", "events", "jobs"])
@pytest.mark.unmeasured
def test_a_damaged_page_is_not_all_done(folder, name, monkeypatch, capsys):
    root, size = pages_of(folder, name)
    content = bytearray((folder / FILE).read_bytes())
    content[(root - 1) * size : (root - 1) * size + 200] = os.urandom(1) * 200
    (folder / FILE).write_bytes(content)
    call = caller(monkeypatch, capsys)
    for command in ("status", "rank", "failures"):
        found = call("bench", command, folder)
        assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    with pytest.raises(ValueError, match=r"cannot be used: |is damaged"):
        bench.run(PLAN, folder)


@pytest.mark.parametrize("create", [False, True])
def test_what_is_no_database_is_said_and_closed(tmp_path, monkeypatch, create):
    (tmp_path / FILE).write_text("this is no database" * 100)
    real, opened = sqlite3.connect, []
    monkeypatch.setattr(
        sqlite3, "connect", lambda *given, **options: opened.append(real(*given, **options)) or opened[-1]
    )
    with pytest.raises(ValueError, match="its results file cannot be used: file is not a database"):
        Store(tmp_path, create=create)
    (database,) = opened
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        database.execute("SELECT 1")


def test_what_fails_while_a_run_is_read_is_said(folder):
    change(folder, "DROP TABLE results")
    with pytest.raises(ValueError, match="run: its results file cannot be used: no such table: results"):
        bench.rank(folder)


def test_pages_are_checked_once_for_each_state_of_a_file(folder, tmp_path, monkeypatch, capsys):
    asked, ask = [], results_file.one_value

    def tell(database, query):
        _, _, place = database.execute("PRAGMA database_list").fetchone()
        asked.append((Path(place).parent, query))
        return ask(database, query)

    monkeypatch.setattr(results_file, "one_value", tell)
    check = (folder.resolve(), "PRAGMA quick_check(1)")
    call = caller(monkeypatch, capsys)
    assert call("bench", "merge", folder, "-o", tmp_path / "merged").code == 0
    assert asked.count(check) == 1
    change(folder, "DELETE FROM plan")
    assert call("bench", "status", folder).code == 0
    assert asked.count(check) == 2


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE results SET value = 'high' WHERE metric = 'dqe'", "values of value in results are not real"),
        ("UPDATE results SET seed = 0.5", "values of seed in results are not integer"),
        ("UPDATE jobs SET status = x'00'", "values of status in jobs are not text"),
        ("UPDATE OR IGNORE events SET detector = 'other'", "events of .* and other without results"),
    ],
)
def test_what_is_not_of_its_type_is_damage(folder, statement, said, monkeypatch, capsys):
    change(folder, statement)
    done = caller(monkeypatch, capsys)("bench", "rank", folder)
    assert (done.code, done.out) == (2, "")
    assert re.search(rf"results.sqlite is damaged \(.*{said}\): restore a copy", done.err)


def test_an_error_of_the_database_while_it_is_read_names_the_run(folder):
    with pytest.raises(ValueError, match=r"its results file cannot be used: disk I/O"), Store(folder):
        raise sqlite3.OperationalError("disk I/O")


def test_what_the_check_says(folder):
    root, size = pages_of(folder, "results")
    content = bytearray((folder / FILE).read_bytes())
    content[(root - 1) * size + 3 : (root - 1) * size + 5] = b"\0\0"  # the count of its cells
    (folder / FILE).write_bytes(content)
    with pytest.raises(ValueError, match=r"results\.sqlite is damaged \(.*\): restore a copy, or run again"):
        Store(folder)


# Merging --------------------------------------------------------------------------------------------------------------


def file_plan(folder, *detectors):
    return bench.make_plan(
        {"metrics": ["auc_roc"], "data": [{"path": "data"}], "detector": [{"name": name} for name in detectors]},
        folder=folder,
    )


def interrupt_after_one(state):
    if state.done:
        raise KeyboardInterrupt


def test_different_data_of_one_name_is_not_merged(tmp_path):
    for name, seed, detector in (("one", 0, "fft"), ("two", 5, "sr"), ("three", 0, "sr")):
        (tmp_path / name).mkdir()
        write_series(tmp_path / name / "data" / "a.csv", seed=seed)
        bench.run(file_plan(tmp_path / name, detector), tmp_path / name / "run")
    one, two, three = (tmp_path / name / "run" for name in ("one", "two", "three"))
    told = r"the series a in .*one.run and that in .*two.run have different data, and cannot be compared"
    with pytest.raises(ValueError, match=told):
        bench.merge([one, two], tmp_path / "all")
    assert not (tmp_path / "all").exists()
    bench.merge([one, three], tmp_path / "all")
    before = table(tmp_path / "all")
    with pytest.raises(ValueError, match=r"the series a in .*all and that in .*two.run have different data"):
        bench.merge([two], tmp_path / "all")
    assert table(tmp_path / "all") == before
    assert set(bench.rank(tmp_path / "all").detectors) == {"fft", "sr"}
    # A run whose data has changed may be merged before all of it is done again.
    write_series(tmp_path / "one" / "data" / "a.csv", seed=6)
    bench.run(file_plan(tmp_path / "one", "fft", "sr"), one)
    write_series(tmp_path / "one" / "data" / "a.csv", seed=7)
    with pytest.raises(KeyboardInterrupt):
        bench.run(file_plan(tmp_path / "one", "fft", "sr"), one, progress=interrupt_after_one)
    bench.merge([one], tmp_path / "some")
    assert table(tmp_path / "some") == table(one)
    # The same job with new data takes the place of the old.
    write_series(tmp_path / "one" / "data" / "a.csv", seed=7)
    bench.run(file_plan(tmp_path / "one", "fft"), one)
    bench.merge([one], tmp_path / "again")
    write_series(tmp_path / "one" / "data" / "a.csv", seed=8)
    bench.run(file_plan(tmp_path / "one", "fft"), one)
    bench.merge([one], tmp_path / "again")
    assert table(tmp_path / "again") == table(one)


def test_scores_without_values_may_be_of_the_same_series(tmp_path):
    write_series(tmp_path / "data" / "a.csv", seed=0)
    bench.run(file_plan(tmp_path, "fft"), tmp_path / "one")
    lines = [line.split(",") for line in (tmp_path / "data" / "a.csv").read_text().splitlines()]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.csv").write_text("\n".join(["label,mine", *(f"{b},{a}" for a, b in lines[1:])]))
    plan = {"metrics": ["auc_roc"], "scores": [{"path": str(tmp_path / "mine")}], "near": 12}
    bench.run(plan, tmp_path / "two")
    bench.merge([tmp_path / "one", tmp_path / "two"], tmp_path / "all")
    assert set(bench.rank(tmp_path / "all").detectors) == {"fft", "mine"}
    check_same_data([tmp_path / "one", tmp_path / "two"])


# What was planned -----------------------------------------------------------------------------------------------------


def test_series_that_are_no_longer_planned_are_not_ranked(folder, tmp_path):
    fewer = {**PLAN, "data": [{**PLAN["data"][0], "count": 2}], "detector": [{"name": "fft"}]}
    bench.run(fewer, folder)
    found = bench.rank(folder)
    assert (found.n, found.n_left_out, found.n_not_planned, found.not_planned) == (2, 0, 1, ("sr",))
    assert "No longer in the plan, and so not counted: 1 series." in str(found)
    assert found.numbers()["n_not_planned"] == 1
    assert bench.rank(folder, by="event").n == 6
    with Store(folder) as store:
        assert store.count(planned=True).done == 2
        assert store.count().done == 6
    bench.merge([folder], tmp_path / "merged")
    assert bench.rank(tmp_path / "merged").n_not_planned == 1
    bench.export(folder, tmp_path / "all.csv")
    with (tmp_path / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 18
    planned = {(row["series"], row["detector"]) for row in rows if row["planned"] == "1"}
    assert planned == {("synthetic_0", "fft"), ("synthetic_1", "fft")}
    assert {row["planned"] for row in rows} == {"0", "1"}


def test_nothing_of_what_is_planned_is_there(folder):
    with Store(folder, create=True) as store:
        store.plan(["fft"], ["another"])
    with pytest.raises(ValueError, match="there are no results to rank; dqeval bench status"):
        bench.rank(folder)


# Scores ---------------------------------------------------------------------------------------------------------------


def test_every_flipped_bit_of_kept_scores_is_seen(folder):
    plan = bench.make_plan(PLAN)
    job = next(iter(_jobs(plan, folder, 1, 1)))
    series = job.series.source.read()
    scores = kept_scores(job, series)
    (path,) = (path for path in (folder / "scores").rglob("*.npy") if np.array_equal(np.load(path), scores))
    whole = path.read_bytes()
    for place in [0, 5, 9, 30, 200, 1000, 3000, *range(len(whole) - 200, len(whole), 7)]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        assert kept_scores(job, series) is None
    path.write_bytes(whole)
    assert kept_scores(job, series).tolist() == scores.tolist()


def test_damaged_scores_are_made_again_and_that_is_said(folder, original):
    damaged = sorted((folder / "scores").rglob("*.npy"))[0]
    content = bytearray(damaged.read_bytes())
    content[1000] ^= 1
    damaged.write_bytes(content)
    bench.run({**PLAN, "metrics": ["dqe"]}, folder)
    bench.run(PLAN, folder)
    with Store(folder) as store:
        found = {row["reason"] for row in store.rows()}
        assert {row["value"] for row in store.values()} == {row["value"] for row in Store(original).values()}
    assert found == {""}  # the second time all were whole
    damaged.write_bytes(content)
    bench.run({**PLAN, "metrics": ["auc_roc"]}, folder)
    with Store(folder) as store:
        assert [row["metric"] for row in store.rows() if row["reason"] == MADE_AGAIN] == ["detect"]
        assert store.failures() == []


# What is given away ---------------------------------------------------------------------------------------------------


@pytest.mark.unmeasured
def test_no_folder_of_this_machine_in_results_exports_and_reports(tmp_path):
    place = tmp_path / "my own data"
    random = np.random.RandomState(0).rand(500)
    write_series(place / "a.csv", seed=0, scores={"mine": random})
    (place / "b.csv").write_text("value,label,mine\n1,2,3\n")
    bad = random.copy()
    bad[3] = np.nan
    write_series(place / "c.csv", seed=1, scores={"mine": bad})
    plan = {"metrics": ["dqe"], "near": 12, "scores": [{"path": str(place)}]}
    assert bench.run(plan, tmp_path / "run", workers=1).failed == 2
    with Store(tmp_path / "run") as store:
        reasons = {row["series"]: row["reason"] for row in store.failures()}
        tracebacks = {row["series"]: row["traceback"] for row in store.failures()}
    assert reasons["b"].startswith("ValueError: b.csv: ")
    assert 'File "dqeval/' in tracebacks["b"]
    assert 'File "dqeval/' in tracebacks["c"]
    bench.export(tmp_path / "run", tmp_path / "all.csv")
    (place / "a.csv").write_text("value,label,mine\n1,2,3\n")
    bench_report(tmp_path / "run", tmp_path / "bench.html")
    shutil.rmtree(place)
    bench_report(tmp_path / "run", tmp_path / "again.html")
    root = str(Path(results_file.__file__).parents[3])
    for name in ("all.csv", "bench.html", "again.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert str(tmp_path) not in text
        assert root not in text
        assert "a.csv" in text or name != "bench.html"
