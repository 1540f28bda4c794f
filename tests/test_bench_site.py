"""The site of a benchmark run: its numbers are those of the run, and it works in a real browser from a folder."""

import csv
import json
import os
import re
import shutil

import numpy as np
import pytest

import dqeval.analysis.verify_site as verify_module
from benchmarks.generated_run import write_run
from commands import caller
from dqeval.analysis.receipts import jsonable
from dqeval.analysis.verify import read_receipt
from dqeval.analysis.verify_site import verify_site
from dqeval.bench import run
from dqeval.bench.bounds import BOUNDS
from dqeval.bench.ranking import rank
from dqeval.bench.store import Store
from dqeval.render import drilldown, site_folder, site_numbers
from dqeval.render.site import bench_site
from dqeval.render.site_folder import digest_of, digest_of_file
from site_runs import BROKEN, DATASETS, DETECTORS, METRICS, ODD, SERIES, content_of, data_of, fail, write_odd_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "my run"
    write_odd_run(folder)
    return folder


@pytest.fixture(scope="module")
def site(folder):
    place = folder.parent / "site"
    assert bench_site(folder, place).size == sum(
        path.stat().st_size for path in place.rglob("*") if path.is_file() and path.name != "receipt.json"
    )
    return place


@pytest.fixture
def copy(site, tmp_path):
    return shutil.copytree(site, tmp_path / "copy")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A run of which a site is made in no time."""
    folder = tmp_path_factory.mktemp("tiny")
    write_run(folder, series=2, detectors=["a", "b"], metrics=["dqe"], datasets=["x"], seeds=1, events=2)
    return folder


@pytest.fixture
def tiny_site(tiny, tmp_path):
    bench_site(tiny, tmp_path / "site")
    return tmp_path / "site"


def rankings_of(site):
    """Yield what the site says of every group: the dataset, what counts once, and the numbers."""
    content = content_of(site)
    groups = {None: content["all"], **{each["name"]: data_of(site, each["file"]) for each in content["datasets"]}}
    assert list(groups) == [None, *DATASETS]
    for dataset, both in groups.items():
        for by in ("series", "event"):
            yield dataset, by, both[by]


# The numbers ---------------------------------------------------------------------------------------------------------


def test_every_ranking_is_that_of_bench_rank(folder, site):
    names = [each["name"] for each in content_of(site)["detectors"]]
    count = 0
    for dataset, by, shown in rankings_of(site):
        found = rank(folder, by=by, dataset=dataset)
        assert [names[d] for d in shown["detectors"]] == list(found.detectors)
        assert shown["metrics"] == list(found.standings)
        assert (shown["n"], shown["over"]) == (found.n, found.over())
        assert shown["agreement"] == jsonable(found.agreement)
        for metric, standing in zip(shown["metrics"], shown["standings"], strict=True):
            for i, detector in enumerate(found.detectors):
                line = next(row for row in found.records() if (row["detector"], row["metric"]) == (detector, metric))
                columns = ("mean", "low", "high", "seeds", "rank", "average")
                expected = ("mean", "low", "high", "seed_deviation", "rank", "average_rank")
                assert [standing[name][i] for name in columns] == jsonable([line[name] for name in expected])
                count += 1
            bounds = {names[d]: mean for d, mean in standing["bounds"]}
            assert bounds == jsonable({name: means[metric] for name, means in found.bounds.items()})
            tests = found.significance_by(metric)
            pairs = {frozenset((names[a], names[b])): p for a, b, p in standing["pairs"]}
            assert pairs == {frozenset(pair): p for pair, p in tests.pairs.items()}
            groups = [tuple(names[d] for d in group) for group in standing["groups"]]
            assert groups == [group for group in tests.groups if len(group) > 1]
        first = shown["standings"][0]
        assert first["tests"] == found.sentence()
        assert first["verdict"].startswith(f"{found.detectors[0]} is best by DQE: {found.standings['dqe'].mean[0]:.3f}")
    assert count == 3 * 4 * (3 + 4)


def test_downloads_have_every_ranking(folder, site, monkeypatch, capsys):
    documents = json.loads((site / "downloads/rankings.json").read_text(encoding="utf-8"))
    with (site / "downloads/rankings.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    for document in documents:
        named = [] if document["dataset"] is None else ["--dataset", document["dataset"]]
        told = caller(monkeypatch, capsys)("bench", "rank", folder, "--by", document["by"], *named, "--format", "json")
        numbers = json.loads(told.out)
        tests = document.pop("tests")
        assert {**document, "dataset": None} == {**numbers, "dataset": None}
        assert tests["dqe"] == {key: numbers[key] for key in ("friedman", "pairs", "groups")}
        assert set(tests) == set(numbers["metrics"])
        group = [row for row in lines if (row["dataset"], row["by"]) == (document["dataset"] or "", document["by"])]
        written = [(row["metric"], row["detector"], float(row["mean"]), float(row["rank"])) for row in group]
        assert written == [(row["metric"], row["detector"], row["mean"], row["rank"]) for row in numbers["standings"]]
    assert len(documents) == 6


def test_downloads_have_every_value_and_event(folder, site):
    with Store(folder) as store:
        rows, events = list(store.rows(planned=True)), list(store.events(planned=True))
    for name, stored, value in (("results", rows, "value"), ("events", events, "dqe")):
        columns = json.loads((site / f"downloads/{name}.json").read_text(encoding="utf-8"))
        for column, values in columns.items():
            assert values == [row[column] for row in stored]
        with (site / f"downloads/{name}.csv").open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        assert [float(line[value]) if line[value] else None for line in lines] == [row[value] for row in stored]
        assert list(lines[0]) == list(columns)


def test_series_have_every_value(folder, site):
    content = content_of(site)
    with Store(folder) as store:
        rows, events = list(store.rows(planned=True)), list(store.events(planned=True))
    names = [*DETECTORS, BROKEN, *BOUNDS]
    assert {each["name"] for each in content["detectors"]} == {*DETECTORS, "broken \\u202e", *BOUNDS}
    order = [
        name for each in content["detectors"] for name in names if name.replace("\u202e", "\\u202e") == each["name"]
    ]
    by_metric = {each["name"]: data_of(site, each["file"]) for each in content["metrics"]}
    for i, name in enumerate(sorted(SERIES)):
        own = data_of(site, content["series"][i][3])
        for d, detector in enumerate(order):
            for j, metric in enumerate(METRICS):
                index = [each["name"] for each in content["metrics"]].index(metric)
                key = (name, detector, metric)
                values = [r["value"] for r in rows if (r["series"], r["detector"], r["metric"]) == key]
                if detector == BROKEN:
                    assert own["values"][d][index] is None
                    assert own["seeds"][d][index] is None
                    continue
                assert own["values"][d][index] == pytest.approx(np.mean(values), abs=1e-6)
                assert by_metric[metric][i][d] == own["values"][d][index]
                spread = np.std(values, ddof=1) if len(values) > 1 else None
                assert own["seeds"][d][index] == (spread if spread is None else pytest.approx(spread, abs=1e-6)), j
        own_events = [row for row in events if row["series"] == name]
        assert own["events"] == sorted(map(list, {(row["start"], row["stop"]) for row in own_events}))
        for part in ("dqe", "capture", "near_miss", "false_alarm"):
            for d, detector in enumerate(order):
                for e, (start, _) in enumerate(own["events"]):
                    found = [row[part] for row in own_events if (row["detector"], row["start"]) == (detector, start)]
                    expected = pytest.approx(np.mean(found), abs=1e-6) if found else None
                    assert own["parts"][part][d][e] == expected


def test_detectors_have_their_missed_events_and_times(folder, site):
    content = content_of(site)
    with Store(folder) as store:
        rows, events = list(store.rows(planned=True)), list(store.events(planned=True))
    scores = {}
    for row in events:
        key = (row["detector"], row["series"], row["start"])
        scores.setdefault(key, []).append((row["capture"], row["near_miss"]))
    means = {key: np.mean(each, axis=0) for key, each in scores.items()}
    for each in content["detectors"]:
        own = data_of(site, each["file"])
        name = BROKEN if each["name"].startswith("broken") else each["name"]
        mine = {key: value for key, value in means.items() if key[0] == name}
        captured = {key for key, (capture, _) in mine.items() if capture >= 0.5}
        near = {key for key, (_, near) in mine.items() if key not in captured and near >= 0.5}
        assert own["events"] == {
            "captured": len(captured),
            "near": len(near),
            "missed": len(mine) - len(captured) - len(near),
        }
        others = [other for other in DETECTORS if other != name]
        for series, start, *_, hits, of in own["lost"]:
            key = (sorted(SERIES)[series], start)
            assert hits == sum(means[(other, *key)][0] >= 0.5 for other in others)
            assert of == len(others)
        assert len(own["lost"]) == len(mine) - len(captured)
        seconds = [r["seconds"] for r in rows if r["detector"] == name and r["metric"] == "detect" and not r["reason"]]
        if name == BROKEN:
            assert own["seconds"] is None
            assert own["lacking"] == [
                [content["detectors"].index(each), "the detector", "failed", "ValueError: <i>no</i>", 16]
            ]
        else:
            assert own["seconds"]["mean"] == each["seconds"] == pytest.approx(np.mean(seconds))
            assert (own["seconds"]["runs"], own["seconds"]["longest"]) == (len(seconds), max(seconds))
            assert own["parameters"] == [["window", "100"]]


def test_long_lists_are_cut(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(site_numbers, "MOST_EVENTS", 2)
    monkeypatch.setattr(site_numbers, "MOST_REASONS", 0)
    bench_site(folder, tmp_path / "site")
    content = content_of(tmp_path / "site")
    assert all(len(data_of(tmp_path / "site", each["file"])["lost"]) <= 2 for each in content["detectors"])
    assert content["failures"] == {"failed": 16, "undefined": 0, "reasons": [], "kinds": 1}


def test_metrics_agree_as_in_the_report(folder, site):
    with Store(folder) as store:
        values = [{**row, "unit": row["series"]} for row in store.values(planned=True) if row["detector"] not in BOUNDS]
    agreement = {case.name: case.tau for case in drilldown.cases_of(values)}
    for name, (_, _, tau, _, _) in zip(sorted(SERIES), content_of(site)["series"], strict=True):
        assert tau == pytest.approx(agreement[name], abs=1e-6)


# The files -----------------------------------------------------------------------------------------------------------


def test_the_same_run_gives_the_same_site(tiny, tiny_site, tmp_path):
    site = tiny_site
    bench_site(tiny, tmp_path / "again")
    files = sorted(path.relative_to(site) for path in site.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(tmp_path / "again") for path in (tmp_path / "again").rglob("*.*"))
    assert all((site / path).read_bytes() == (tmp_path / "again" / path).read_bytes() for path in files)


def test_names_that_no_disk_or_page_takes(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert text.count("</script>") == 7
    assert "<b>fair" not in text
    assert "\u202e" not in text
    content = content_of(site)
    alike = [name for name in content["names"] if name.startswith("turned")]
    assert sorted(alike) == ["turned \\u202e around", "turned \\u202e around (2)"]
    assert set(content["names"]) == {*SERIES, *alike} - {ODD[-2]}
    files = [each[3].casefold() for each in content["series"]]
    assert len(set(files)) == len(SERIES)
    assert all(re.fullmatch(r"series/[^<>:\"/\\|?*]+\.js", file) for file in files)


def test_a_receipt_for_all_of_it(site):
    receipt = read_receipt(site / "receipt.json")
    files = {path.relative_to(site).as_posix() for path in site.rglob("*.*")} - {"receipt.json"}
    assert set(receipt["files"]) == files
    assert all(digest_of((site / name).read_bytes()) == digest for name, digest in receipt["files"].items())
    assert set(receipt["run"]["series"]) == set(SERIES)
    digests = {each["path"]: each["digest"] for each in content_of(site)["downloads"]}
    assert digests == {name: receipt["files"][name] for name in digests}
    assert len(digests) == 6


def test_a_site_is_made_again_in_its_place(tiny, tiny_site):
    copy = tiny_site
    (copy / "data/series/old.js").write_text("old", encoding="utf-8")
    (copy / "CNAME").write_text("mine", encoding="utf-8")
    outside = copy.parent / "outside.txt"
    outside.write_text("mine", encoding="utf-8")
    receipt = read_receipt(copy / "receipt.json")
    receipt["files"] |= {"data/series/old.js": "x", "data/gone.js": "x", "../outside.txt": "x"}
    (copy / "receipt.json").write_text(json.dumps(receipt), encoding="utf-8")
    bench_site(tiny, copy)
    assert not (copy / "data/series/old.js").exists()
    assert (copy / "CNAME").exists()
    assert outside.exists()
    # It is not of the site, so nobody should take it for a part of it.
    assert verified(copy) == ("CNAME is not in the receipt.",)


def test_nothing_is_written_through_links(tiny, tiny_site, tmp_path):
    (tmp_path / "mine").mkdir()
    shutil.move(tiny_site / "data", tmp_path / "mine" / "data")
    (tiny_site / "data").symlink_to(tmp_path / "mine" / "data")
    before = {path: path.read_bytes() for path in (tmp_path / "mine").rglob("*.js")}
    (tmp_path / "mine" / "data" / "series" / "a.js").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match=r"site: data in it is a link or a device, .* remove it, or name a new folder"):
        bench_site(tiny, tiny_site)
    (tiny_site / "data").unlink()
    shutil.move(tmp_path / "mine" / "data", tiny_site / "data")
    (tmp_path / "named").symlink_to(tiny_site)  # which is where the user wants it
    bench_site(tiny, tmp_path / "named")
    assert {path.name for path in before} <= {path.name for path in tiny_site.rglob("*.js")}
    assert verified(tiny_site) == ("data/series/a.js is not in the receipt.",)


@pytest.mark.parametrize(
    "name", [".", "", "/", "/a", "..", "../a", "a/../b", "a//b", "./a", "a/", "a\\b", "C:a", "a\0", "\ud800"]
)
def test_names_that_are_no_files_of_a_site(tiny, tiny_site, name):
    assert not site_folder.is_name(name)
    receipt = read_receipt(tiny_site / "receipt.json")
    receipt["files"][name] = "x"
    (tiny_site / "receipt.json").write_text(json.dumps(receipt), encoding="utf-8")
    with pytest.raises(ValueError, match=r"it names '.*', which is no path of a file in its folder"):
        verified(tiny_site)
    bench_site(tiny, tiny_site)
    assert verified(tiny_site) == ()


def test_a_folder_that_is_empty_or_was_not_finished(tiny, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(site_folder.SiteFolder, "write", stop)
        with pytest.raises(KeyboardInterrupt):
            bench_site(tiny, tmp_path)
    assert read_receipt(tmp_path / "receipt.json") == {"command": "bench site", "files": {}}
    bench_site(tiny, tmp_path)
    assert len(read_receipt(tmp_path / "receipt.json")["files"]) == 12


def test_a_folder_is_no_receipt(tmp_path):
    with pytest.raises(ValueError, match=r"a receipt is a file, and this is a folder; a site's is .*receipt\.json$"):
        read_receipt(tmp_path)


@pytest.mark.parametrize(
    "receipt",
    [
        "",
        "{",
        "{}",
        '{"command": "score"}',
        '{"command": "bench site", "files": []}',
        '{"command": "bench site", "files": {"a": 1}}',
    ],
)
def test_a_folder_that_holds_other_things(tiny, tmp_path, receipt):
    (tmp_path / "thesis.tex").write_text("mine", encoding="utf-8")
    if receipt:
        (tmp_path / "receipt.json").write_text(receipt, encoding="utf-8")
    with pytest.raises(ValueError, match=r"this folder holds other things, such as .*, and no site: name a new folder"):
        bench_site(tiny, tmp_path)
    with pytest.raises(ValueError, match=r"thesis.tex: this is a file; name a folder"):
        bench_site(tiny, tmp_path / "thesis.tex")
    assert (tmp_path / "thesis.tex").read_text(encoding="utf-8") == "mine"
    (tmp_path / "receipt.json").unlink(missing_ok=True)
    os.mkfifo(tmp_path / "receipt.json")  # to read it would take forever
    with pytest.raises(ValueError, match=r"this folder holds other things"):
        bench_site(tiny, tmp_path)


def test_no_run_and_an_empty_run(tmp_path):
    with pytest.raises(ValueError, match="there is no run here; dqeval bench run PLAN -o"):
        bench_site(tmp_path, tmp_path / "site")
    Store(tmp_path / "run", create=True).close()
    with pytest.raises(ValueError, match=r"there are no results to show; dqeval bench status .* says how far it is"):
        bench_site(tmp_path / "run", tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_a_file_of_scores_that_could_not_be_read(tiny, tmp_path):
    shutil.copytree(tiny, tmp_path / "run")
    fail(tmp_path / "run", "", SERIES[:1])
    bench_site(tmp_path / "run", tmp_path / "site")
    content = content_of(tmp_path / "site")
    assert [each["name"] for each in content["detectors"]] == ["a", "b"]
    (reason,) = content["failures"]["reasons"]
    assert (reason["detector"], content["names"][reason["series"]]) == (None, SERIES[0])


@pytest.fixture(scope="module")
def failed_site(tmp_path_factory):
    """A site of a run of which everything failed."""
    place = tmp_path_factory.mktemp("failed")
    Store(place / "run", create=True).close()
    fail(place / "run", "one <b>", SERIES[:2])
    bench_site(place / "run", place / "site")
    return place / "site"


def test_a_run_of_which_everything_failed(failed_site):
    content = content_of(failed_site)
    assert content["all"]["series"]["trouble"].startswith("There is no ranking: run: there are no results to rank")
    assert content["failures"]["failed"] == 2
    assert json.loads((failed_site / "downloads/rankings.json").read_text(encoding="utf-8"))[0]["reason"]
    receipt = failed_site / "receipt.json"
    assert verify_site(receipt, read_receipt(receipt), []).holds
    assert verify_site(receipt, read_receipt(receipt), [failed_site.parent / "run"]).holds


@pytest.fixture
def real(tmp_path, monkeypatch):
    """A run of two series, and pages of the explorer that take no time."""
    monkeypatch.setattr(drilldown, "comparison_of", lambda *_, **__: None)
    monkeypatch.setattr(drilldown, "page", lambda *_, back: f"back to {back}")
    data = {"generator": "synthetic", "count": 2, "n": 500, "period": 20, "events": 3}
    plan = {"metrics": ["auc_roc"], "data": [data], "detector": [{"name": "fft"}, {"name": "sr"}]}
    run(plan, tmp_path / "run")
    return tmp_path / "run"


def test_pages_of_series_where_they_are_asked_for(real, tmp_path, monkeypatch, capsys):
    call = caller(monkeypatch, capsys)
    told = call("bench", "site", real, "-o", tmp_path / "site", "--pages", 1)
    assert (told.code, told.out) == (0, "")
    assert re.search(r"wrote .*site/, \d\.\d MB: open .*index.html in a browser", told.err.replace("\n", " "))
    links = [each[4] for each in content_of(tmp_path / "site")["series"]]
    (link,) = filter(None, links)
    assert (tmp_path / "site" / link).read_text(encoding="utf-8") == "back to ../index.html"
    receipt = read_receipt(tmp_path / "site" / "receipt.json")
    assert {link, "index_series/explorer.js"} <= set(receipt["files"])
    assert verified(tmp_path / "site", real) == ()
    (tmp_path / "site" / "index_series" / "mine.html").write_text("mine", encoding="utf-8")
    bench_site(real, tmp_path / "site", pages=2)
    assert verified(tmp_path / "site", real) == ("index_series/mine.html is not in the receipt.",)
    (tmp_path / "site" / "index_series" / "mine.html").unlink()
    receipt = read_receipt(tmp_path / "site" / "receipt.json")
    del receipt["parameters"], receipt["bytes"]  # as of an earlier version
    assert verify_site(tmp_path / "site" / "receipt.json", receipt, [real]).holds
    (real / "plan.json").unlink()
    gone = verified(tmp_path / "site", real)
    assert {"index_series/explorer.js is no file of the site that " + f"{real} gives." for _ in gone[:1]} <= set(gone)
    assert gone[-1].startswith("The pages of the series could not be made: no plan is stored here")
    bench_site(real, tmp_path / "site")
    assert not (tmp_path / "site" / link).exists()
    content = content_of(tmp_path / "site")
    assert [each[1] for each in content["series"]] == [None, None]  # without DQE, nothing is known of events
    assert content["all"]["event"]["trouble"].startswith("There is no ranking")
    assert content["datasets"] == []
    assert "events" not in data_of(tmp_path / "site", content["series"][0][3])
    assert data_of(tmp_path / "site", content["detectors"][0]["file"])["events"]["captured"] == 0


def test_explorer_pages_that_cannot_be_made(real, tiny, tmp_path, monkeypatch, capsys):
    call = caller(monkeypatch, capsys)
    told = call("bench", "site", tiny, "-o", tmp_path / "site", "--pages", 2).err.replace("\n", " ")
    assert "The pages of the series could not be made: no plan is stored here" in told
    assert "wrote" in told
    shutil.rmtree(real / "scores")
    told = call("bench", "site", real, "-o", tmp_path / "other", "--pages", 2).err.replace("\n", " ")
    assert told.count(": there is no explorer page: its scores are not kept any more") == 2


# The receipt ---------------------------------------------------------------------------------------------------------


def test_a_site_that_holds(folder, site, monkeypatch, capsys):
    call = caller(monkeypatch, capsys)
    for runs in ([], [folder]):
        told = call("verify", site / "receipt.json", *runs)
        assert (told.code, told.err) == (0, "")
        assert told.out.startswith("The receipt holds: every file ")
        assert "changed" not in told.out.partition("\n")[0]
        assert ("every file of the site is what dqeval bench site makes of the run (" in told.out) == bool(runs)
        for told_of in (
            "Not checked, as only the run knows it: why there is no ranking",
            "Nobody has signed the receipt",
        ):
            assert (told_of in told.out) == (not runs)


def test_a_file_that_was_changed_or_is_gone(copy, monkeypatch, capsys):
    results = copy / "downloads" / "results.csv"
    results.write_text(results.read_text(encoding="utf-8").replace("0.5", "0.9", 1), encoding="utf-8")
    (copy / "data/series/plain 0.js").unlink()
    told = caller(monkeypatch, capsys)("verify", copy / "receipt.json")
    assert told.code == 1
    assert "downloads/results.csv is not the file of the receipt: its SHA-256 is" in told.out
    assert "data/series/plain 0.js is missing." in told.out


def changed(copy, name, change):
    """Change a document of a site, and what the receipt says of it."""
    document = json.loads((copy / name).read_text(encoding="utf-8"))
    change(document)
    return forged(copy, name, json.dumps(document))


def forged(copy, name, text):
    """Write a file of a site, and what the receipt says of it."""
    (copy / name).write_text(text, encoding="utf-8")
    receipt = read_receipt(copy / "receipt.json")
    receipt["files"][name] = digest_of((copy / name).read_bytes())
    receipt["bytes"][name] = (copy / name).stat().st_size
    (copy / "receipt.json").write_text(json.dumps(receipt), encoding="utf-8")
    return receipt


def verified(site, *runs):
    """Return why a site does not hold."""
    return verify_site(site / "receipt.json", read_receipt(site / "receipt.json"), runs).failures


def test_a_page_with_a_script_put_into_it(tiny, tiny_site):
    """And with what the receipt says of it: by itself, a receipt cannot tell."""
    page = (tiny_site / "index.html").read_text(encoding="utf-8")
    forged(tiny_site, "index.html", page.replace("</main>", "</main><script>alert(1)</script>"))
    assert verified(tiny_site, tiny) == (f"index.html is not the file that {tiny} gives.",)
    found = verify_site(tiny_site / "receipt.json", read_receipt(tiny_site / "receipt.json"), [])
    assert found.holds
    assert found.notes[-1].startswith("Nobody has signed the receipt, so this finds damage, and no forgery: whoever ")
    assert found.notes[-1].endswith(f"dqeval verify {tiny_site / 'receipt.json'} RUN.")
    forged(tiny_site, "index.html", page + page + "0")
    assert verified(tiny_site, tiny) == (f"index.html is not the file that {tiny} gives.",)


@pytest.mark.parametrize("name", ["data/series/series 000.js", "index.html", "downloads/events.csv"])
def test_a_page_that_was_taken_out_of_the_receipt_too(tiny, tiny_site, name):
    receipt = read_receipt(tiny_site / "receipt.json")
    del receipt["files"][name]
    (tiny_site / name).unlink()
    (tiny_site / "receipt.json").write_text(json.dumps(receipt), encoding="utf-8")
    assert verified(tiny_site, tiny) == (f"{name} is not in the receipt, and is a file of the site that {tiny} gives.",)
    (failure,) = verified(tiny_site)
    assert failure.startswith(f"{name} is not in the receipt, and ")


def test_files_that_are_not_of_the_site(tiny, tiny_site):
    (tiny_site / "more").mkdir()
    (tiny_site / "more" / "a.html").write_text("<script>alert(1)</script>", encoding="utf-8")
    assert verified(tiny_site) == verified(tiny_site, tiny) == ("more/a.html is not in the receipt.",)
    forged(tiny_site, "more/a.html", "<script>alert(1)</script>")
    assert verified(tiny_site, tiny) == (f"more/a.html is no file of the site that {tiny} gives.",)
    assert verified(tiny_site) == ("more/a.html belongs to nothing in the results.",)


def test_links_are_not_followed(tiny_site, tmp_path):
    shutil.move(tiny_site / "data", tmp_path / "data")
    (tiny_site / "data").symlink_to(tmp_path / "data")
    shutil.move(tiny_site / "index.html", tmp_path / "index.html")
    (tiny_site / "index.html").symlink_to(tmp_path / "index.html")
    os.mkfifo(tiny_site / "pipe")
    failures = verified(tiny_site)
    assert failures[:3] == tuple(
        f"{name} is a link or a device, of which a site has none." for name in ("data", "index.html", "pipe")
    )
    assert {"index.html is missing.", "data/series/series 000.js is missing."} <= set(failures)


def test_a_file_is_read_no_further_than_the_receipt_says(tiny_site, monkeypatch):
    """Files with holes may have any size, and take no room on the disk."""
    read = []
    monkeypatch.setattr(verify_module, "digest_of_file", lambda path: read.append(path.name) or digest_of_file(path))
    with (tiny_site / "index.html").open("r+b") as file:
        file.truncate(6 * 2**30)
    receipt = read_receipt(tiny_site / "receipt.json")
    size = receipt["bytes"]["index.html"]
    (failure,) = verified(tiny_site)
    assert failure == f"index.html is not the file of the receipt: it has 6,442,450,944 bytes, not {size:,}."
    for sizes in ({}, None, {**receipt["bytes"], "index.html": 6 * 2**30}, {"index.html": "many"}):
        (failure,) = verify_site(tiny_site / "receipt.json", {**receipt, "bytes": sizes}, []).failures
        assert failure == "index.html is larger than 1,073,741,824 bytes, and so not a file of a site."
    assert "index.html" not in read


def test_last_digits_depend_on_the_machine(tiny, tiny_site):
    def other_digits(text, factor):
        return re.sub(r"0\.\d{9,}", lambda found: repr(float(found[0]) * factor), text)

    name = "downloads/rankings.json"
    for factor, failures in ((1 + 1e-13, ()), (1 + 1e-6, (f"{name} is not the file that {tiny} gives.",))):
        bench_site(tiny, tiny_site)
        before = (tiny_site / name).read_bytes()
        receipt = forged(tiny_site, name, other_digits(before.decode(), factor))
        page = (tiny_site / "index.html").read_text(encoding="utf-8")
        for then, now in (
            (digest_of(before), receipt["files"][name]),
            (f'"bytes":{len(before)},', f'"bytes":{receipt["bytes"][name]},'),
        ):
            page = page.replace(then, now)
        forged(tiny_site, "index.html", page)
        assert (tiny_site / name).read_bytes() != before
        assert verified(tiny_site, tiny) == failures
    forged(tiny_site, "downloads/results.csv", (tiny_site / "downloads/results.csv").read_text().replace(",0,", ",1,"))
    assert f"downloads/results.csv is not the file that {tiny} gives." in verified(tiny_site, tiny)


def test_a_site_of_another_name_or_version(tiny, tiny_site, tmp_path):
    shutil.copytree(tiny, tmp_path / "moved")
    receipt = read_receipt(tiny_site / "receipt.json")
    found = verify_site(tiny_site / "receipt.json", receipt, [tmp_path / "moved"])
    assert found.holds
    assert found.notes == (f"The site is called {tiny.name}, and the folder of the run moved.",)
    forged(tiny_site, "index.html", "as it was once")
    for versions in ({**receipt["versions"], "numpy": "1.0"}, "1.0"):
        receipt = {**read_receipt(tiny_site / "receipt.json"), "dqeval": "0.0.1", "versions": versions}
        found = verify_site(tiny_site / "receipt.json", receipt, [tiny])
        assert not found.holds
        (note,) = found.notes
        assert note.startswith(
            "The receipt says that other versions made the site, whose files may be different: dqeval 0.0.1"
        )


def test_a_ranking_that_does_not_follow_from_the_results(copy, folder):
    def better(documents):
        documents[0]["standings"][1]["mean"] += 1e-6

    receipt = changed(copy, "downloads/rankings.json", better)
    assert read_receipt(copy / "receipt.json") == receipt
    found = verify_site(copy / "receipt.json", receipt, [])
    assert not found.holds
    (failure,) = found.failures
    assert failure.startswith("The ranking of all series by series: standings[1].mean was 0.")
    assert verified(copy, folder) == (f"downloads/rankings.json is not the file that {folder} gives.",)


def test_rankings_that_were_taken_out_or_added(copy):
    def failures(change):
        return verify_site(copy / "receipt.json", changed(copy, "downloads/rankings.json", change), []).failures

    names = ["all series", *sorted(DATASETS)]
    before = (copy / "downloads/rankings.json").read_text(encoding="utf-8")
    expected = tuple(f"The ranking of {name} by {by}: it is missing." for name in names for by in ("series", "event"))
    assert failures(lambda documents: documents.clear()) == expected
    (copy / "downloads/rankings.json").write_text(before, encoding="utf-8")
    (failure,) = failures(lambda documents: documents.append(documents[0]))
    assert failure == "downloads/rankings.json has more rankings than the results give."
    (copy / "downloads/rankings.json").write_text(before, encoding="utf-8")

    def silenced(documents):
        documents[1] = {"dataset": None, "by": "event", "reason": "There is no ranking."}

    (failure,) = failures(silenced)
    assert failure == "The ranking of all series by event: the site has none, and the results give one."


def test_a_ranking_of_nothing(copy):
    changed(copy, "downloads/events.json", lambda columns: [each.clear() for each in columns.values()])
    assert verified(copy) == tuple(
        f"The ranking of {name} by event: the results give none." for name in ["all series", *DATASETS]
    )


def test_results_of_another_run(site, tmp_path, folder):
    shutil.copytree(folder, tmp_path / "other")
    fail(tmp_path / "other", "more", SERIES[:1])
    found = verify_site(site / "receipt.json", read_receipt(site / "receipt.json"), [tmp_path / "other"])
    other = tmp_path / "other"
    for name in ("results.csv", "results.json"):
        assert f"downloads/{name} is not the file that {other} gives." in found.failures


def test_receipts_that_cannot_be_verified(site, copy, folder, tmp_path, monkeypatch, capsys):
    place, receipt = site / "receipt.json", read_receipt(site / "receipt.json")
    with pytest.raises(ValueError, match="it has no digests of the files of a site"):
        verify_site(place, {**receipt, "files": []}, [])
    with pytest.raises(ValueError, match="a site is made from one run"):
        verify_site(place, receipt, [folder, folder])
    (failure,) = verify_site(place, {**receipt, "files": {}}, []).failures
    assert failure.startswith("The site was not finished")
    other = changed(copy, "downloads/results.json", lambda columns: columns.pop("status"))
    with pytest.raises(ValueError, match="its downloads are not as dqeval bench site writes them: KeyError"):
        verify_site(copy / "receipt.json", other, [])
    (tmp_path / "r.json").write_text('{"command": "score"}', encoding="utf-8")
    told = caller(monkeypatch, capsys)("verify", tmp_path / "r.json")
    assert told.code == 2
    assert "name the files that it was made from too: dqeval verify" in told.err.replace("\n", " ")
