"""The figure for a paper: what is on it, and the files it is written to."""

import sys
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib import dates, image, pyplot

import dqeval
from dqeval import Series
from dqeval.core.sampling import Clock
from dqeval.datasets.door import prepare
from dqeval.render import figure
from dqeval.render.figure import draw

SERIES = dqeval.datasets.demo()
MAGIC = {"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF-"}


def made(n, n_events, names, *, values=True, name="made"):
    """Return a series with noisy detectors, and events one, two, three, … points long."""
    random = np.random.default_rng(0)
    labels = np.zeros(n, dtype=bool)
    for k in range(n_events):
        start = int((k + 0.5) * n / n_events)
        labels[start : start + 1 + k % 3] = True
    scores = {detector: random.random(n) + labels for detector in names}
    return Series(name, labels, scores, random.random(n) if values else None)


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """A function that draws, and returns the figure in place of writing it, which takes longest."""
    figures = []

    def keep(found, place, **_):
        place.touch()
        figures.append(found)

    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", keep)

    def drawn(series, **options):
        draw(series, tmp_path / "figure.png", **options)
        return figures[-1]

    return drawn


def captures(axes):
    (bars,) = (collection for collection in axes.collections if collection.get_label() == "capture")
    return [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in bars.get_paths()]


def overlaps(found):
    """Return the pairs of texts on a figure that lie over one another."""
    found.draw_without_rendering()
    unseen = [label for axes in found.axes for axis in (axes.xaxis, axes.yaxis) for label in labels_beyond(axis)]
    texts = [t for t in found.findobj(matplotlib.text.Text) if t.get_visible() and t.get_text() and t not in unseen]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    return [(a, b) for i, (a, one) in enumerate(boxes) for b, other in boxes[i + 1 :] if one.overlaps(other)]


def labels_beyond(axis):
    """Return the labels of ticks beyond the limits of an axis, which are not drawn."""
    low, high = axis.get_view_interval()
    return [tick.label1 for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high]


@pytest.mark.unmeasured
def test_what_is_on_the_figure(drawn):
    top, legend, *rest = drawn(SERIES).axes
    assert top.get_title("left") == "demo: 1,600 points, 6 events, near 24"
    np.testing.assert_array_equal(top.get_lines()[0].get_data(), [np.arange(1600) + 0.5, SERIES.values])
    texts = [text.get_text() for text in legend.get_legend().get_texts()]
    assert texts == ["event", "capture", "near miss", "false alarm", "mean of events", "each event"]
    events = list(dqeval.partition(SERIES.labels, near=24).events)
    for name, scores_axes, curve_axes in zip(["sharp", "late", "jumpy"], rest[::2], rest[1::2], strict=True):
        result = dqeval.evaluate(SERIES.labels, SERIES.scores[name], near=24)
        assert scores_axes.get_title("left") == name
        assert captures(scores_axes) == captures(top) == events
        assert scores_axes.get_xlim() == (0, 1600)
        x, y = scores_axes.get_lines()[0].get_data()
        assert (y.min(), y.max()) == (0, 1)
        assert int(x[y.argmax()]) == SERIES.scores[name].argmax()
        parts = f"capture {result.capture:.3f}   near miss {result.near_miss:.3f}"
        title = f"DQE {result.dqe:.3f}   {parts}   false alarm {result.false_alarm:.3f}"
        assert curve_axes.get_title("right") == title
        thresholds, dqe = curve_axes.get_lines()[-1].get_data()
        np.testing.assert_array_equal(thresholds[:-1], result.curve.thresholds)
        np.testing.assert_array_equal(dqe[:-1], result.curve.dqe)


@pytest.mark.unmeasured
def test_the_best_detector_comes_first(drawn):
    worst, best = np.zeros(1600), SERIES.labels.astype(float)
    found = drawn(Series("x", SERIES.labels, {"worst": worst, **SERIES.scores, "best": best}), near=24)
    titles = [axes.get_title("left") for axes in found.axes[2::2]]
    assert titles == ["best", "sharp", "late", "jumpy", "worst"]


@pytest.mark.parametrize(("options", "near"), [({}, "24"), ({"near": 3}, "3"), ({"period": 25}, "12.5")])
@pytest.mark.unmeasured
def test_the_near_range(drawn, options, near):
    assert drawn(SERIES, **options).axes[0].get_title("left").endswith(f", near {near}")


def test_without_values_the_labels_are_a_strip(drawn):
    found = drawn(made(200, 2, ["one"], values=False))
    strip = found.axes[0]
    assert strip.get_title("left") == "made: 200 points, 2 events, near 125"
    assert not strip.get_lines()
    assert captures(strip) == [(50, 51), (150, 152)]
    assert strip.collections[-1].get_label() == "event"
    assert strip.bbox.height < found.axes[2].bbox.height


def test_one_event_has_no_line_of_its_own(drawn):
    found = drawn(made(200, 1, ["one"]), near=5)
    assert [text.get_text() for text in found.axes[1].get_legend().get_texts()][-1] == "false alarm"
    assert len(found.axes[3].get_lines()) == 1


NAMES = [*"abcdef", "SUB_PCA_WINDOWED_AUTOENCODER_ENSEMBLE_OF_TWENTY_TUNED_ON_TRAIN", r"$\frac{ costs 5$"]


@pytest.mark.parametrize(
    "series",
    [
        made(200, 1, ["only"], values=False),
        made(2000, 30, NAMES, name="some/folder/" * 9 + "measurements.csv"),
        made(100_000, 3, NAMES[-2:-1]),
        SERIES,
    ],
    ids=["small", "long names", "long", "demo"],
)
@pytest.mark.unmeasured(but=["long names"])
def test_no_text_lies_over_another_or_leaves_the_figure(drawn, series):
    found = drawn(series, near=5)
    assert overlaps(found) == []
    assert found.get_figwidth() == 7
    edges = found.get_tightbbox()
    assert edges.x0 >= 0
    assert edges.y0 >= 0
    assert edges.x1 <= found.get_figwidth()
    assert edges.y1 <= found.get_figheight()


@pytest.mark.unmeasured
def test_height_grows_with_the_detectors(drawn):
    heights = [drawn(made(200, 2, NAMES[:n]), near=5).get_figheight() for n in (1, 2, 8)]
    assert heights[1] - heights[0] == pytest.approx((heights[2] - heights[1]) / 6)
    assert heights[2] < 10


@pytest.mark.parametrize("ending", [*MAGIC, "PNG"])
@pytest.mark.unmeasured
def test_files_are_of_their_kind_and_the_same_each_time(tmp_path, ending):
    one, two = tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"
    series = made(200, 2, NAMES[:1])
    draw(series, one)
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "black", "svg.hashsalt": "other"}):
        draw(series, str(two))
    assert one.read_bytes().startswith(MAGIC[ending.lower()])
    assert one.read_bytes() == two.read_bytes()
    assert pyplot.get_fignums() == []


@pytest.mark.unmeasured
def test_the_picture_is_not_blank(tmp_path):
    draw(SERIES, tmp_path / "figure.png")
    pixels = image.imread(tmp_path / "figure.png")[..., :3]
    assert pixels.shape[1] == 2100
    hexes = (matplotlib.colors.to_rgb(figure.drawing.tint_of(part)) for part in figure.drawing.COLOURS)
    shares = [np.isclose(pixels, tint, atol=0.005).all(axis=-1).mean() for tint in hexes]
    assert all(share > 0.01 for share in shares)
    assert (pixels.max(axis=-1) < 0.2).mean() > 0.01


@pytest.mark.parametrize(("ending", "n", "n_events"), [("svg", 10_000, 300), ("pdf", 5000, 10)])
@pytest.mark.unmeasured
def test_files_stay_small(tmp_path, ending, n, n_events):
    path = tmp_path / f"figure.{ending}"
    draw(made(n, n_events, NAMES), path, near=10)
    assert 10_000 < path.stat().st_size < 1_000_000


@pytest.mark.unmeasured
def test_missing_values_are_gaps(drawn):
    values = SERIES.values.copy()
    values[100:200] = np.nan
    found = drawn(Series("x", SERIES.labels, SERIES.scores, values), near=24)
    assert np.isnan(found.axes[0].get_lines()[0].get_ydata()[100:200]).all()


def on_a_clock(kept=slice(None)):
    times = np.datetime64("2026-03-01T00:00") + np.arange(1600)
    scores = {name: column[kept] for name, column in SERIES.scores.items()}
    return Series("demo", SERIES.labels[kept], scores, SERIES.values[kept], timestamps=times[kept])


def days(*moments):
    return [float(dates.date2num(np.datetime64(moment))) for moment in moments]


@pytest.mark.unmeasured
def test_an_axis_of_dates(drawn):
    found = drawn(on_a_clock(), period=48)
    top, last = found.axes[0], found.axes[-2]
    assert top.get_title("left") == "demo: 1,600 cells of 1 min, 6 events, near 24 min"
    assert list(top.get_xlim()) == pytest.approx(days("2026-03-01T00:00", "2026-03-02T02:40"), abs=1e-9)
    assert last.get_xlabel() == "time, 2026-03-01T00:00 – 2026-03-02T02:40"
    assert captures(top)[0] == pytest.approx(days("2026-03-01T03:34", "2026-03-01T03:38"), abs=1e-9)
    x, y = top.get_lines()[0].get_data()
    assert x[0] == pytest.approx(days("2026-03-01T00:00:30")[0], abs=1e-9)
    np.testing.assert_array_equal(y, SERIES.values)
    found.draw_without_rendering()
    assert [label.get_text() for label in last.get_xticklabels()] == ["Mar-01", "06:00", "12:00", "18:00", "Mar-02"]
    texts = [text.get_text() for text in found.axes[1].get_legend().get_texts()]
    assert "not observed" not in texts
    assert overlaps(found) == []


def test_what_was_not_observed(drawn):
    kept = np.delete(np.arange(1600), np.r_[300:420, 1100:1150])
    found = drawn(on_a_clock(kept), near="24min", resolution="1min")
    texts = [text.get_text() for text in found.axes[1].get_legend().get_texts()]
    assert "not observed" in texts
    for axes in found.axes[::2]:
        (bars,) = (collection for collection in axes.collections if collection.get_label() == "not observed")
        ends = [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in bars.get_paths()]
        moments = ("2026-03-01T05:00", "2026-03-01T07:00", "2026-03-01T18:20", "2026-03-01T19:10")
        np.testing.assert_allclose(np.ravel(ends), days(*moments), rtol=0, atol=1e-9)
        x, y = axes.get_lines()[0].get_data()
        assert np.flatnonzero(np.isnan(y)).tolist() == np.flatnonzero(np.isnan(x)).tolist() == [300, 981]
        assert list(axes.get_xlim()) == pytest.approx(days("2026-03-01T00:00", "2026-03-02T02:40"), abs=1e-9)
    assert overlaps(found) == []


def test_a_clock_of_numbers(drawn):
    series = made(60, 2, ["one"])
    found = drawn(replace(series, timestamps=10 * np.arange(60)), near=2, resolution=10)
    assert found.axes[0].get_xlim() == (0, 600)
    assert found.axes[-2].get_xlabel() == "time"
    assert found.axes[0].get_title("left") == "made: 60 cells of 10, 2 events, near 2 cells"


def test_names_of_events_where_there_is_room(drawn):
    prepared = prepare(on_a_clock(), near=None, period=48, clock=Clock(), name="demo")
    names = ["INC-1", "a name that is far too long to be shown as a whole", "INC-3", "", "INC-5", "INC-6: all down"]
    found = drawn(replace(prepared, labelled=replace(prepared.labelled, names=tuple(names))))
    written = [text.get_text() for text in found.axes[0].texts]
    assert written == ["INC-1", "a name that…n as a whole", "", "INC-5"]
    assert overlaps(found) == []


@pytest.mark.unmeasured
def test_real_series(drawn, real_scores):
    names = [name.removesuffix("/label") for name in real_scores.files if name.endswith("__SubLOF/label")]
    for name in names:
        columns = (real_scores[f"{name}/{column}"].astype(float).ravel() for column in ("label", "score", "data"))
        labels, scores, values = columns
        found = drawn(Series(name, labels, {"SubLOF": scores}, values))
        assert captures(found.axes[2]) == list(dqeval.partition(labels).events)
        assert overlaps(found) == []


@pytest.mark.parametrize("name", ["figure.gif", "figure", "png"])
def test_other_endings(tmp_path, name):
    with pytest.raises(ValueError, match=r"^a figure is a png, svg or pdf file: .* is none by its ending$"):
        draw(SERIES, tmp_path / name)


@pytest.mark.unmeasured
def test_errors_say_what_is_wrong(tmp_path):
    path = tmp_path / "figure.png"
    with pytest.raises(dqeval.UndefinedError, match=r"^no label is 1"):
        draw(Series("x", np.zeros(3), {"a": np.arange(3.0)}), path)
    with pytest.raises(ValueError, match=r"^column a: y_score must be finite"):
        draw(Series("x", np.array([0, 1, 0]), {"a": np.array([0, np.nan, 1])}), path)
    with pytest.raises(ValueError, match=r"^x holds no scores: `dqeval detect` makes some$"):
        draw(Series("x", np.array([0, 1, 0]), {}), path)
    with pytest.raises(ValueError, match="give at most one of near, period"):
        draw(SERIES, path, near=1, period=2)
    with pytest.raises(FileNotFoundError):
        draw(SERIES, tmp_path / "nowhere" / "figure.png")
    assert not path.exists()


def test_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ValueError, match="plots need matplotlib"):
        draw(SERIES, tmp_path / "figure.png")
