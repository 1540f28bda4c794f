"""What plots show: the pieces of the partition, the steps of the curve, the extremes of long lines, the metrics."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import colors, pyplot
from matplotlib.figure import Figure

import dqeval
import strategies
from dqeval.render import drawing

SERIES = dqeval.datasets.demo()
Y_TRUE, Y_SCORE = SERIES.labels, SERIES.scores["jumpy"]


@pytest.fixture
def ax():
    return Figure().add_subplot()


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def cuts_of(partition):
    columns = (partition.left, partition.near_start, partition.events.starts)
    return np.column_stack([*columns, partition.events.stops, partition.near_stop, partition.right])


def drawn_spans(ax, part):
    """Return the left and right borders of the bars of a part, in time order."""
    (bars,) = (collection for collection in ax.collections if collection.get_label() == part)
    return sorted((path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in bars.get_paths())


def grey(colour):
    return float(np.dot(colors.to_rgb(colour), (0.2126, 0.7152, 0.0722)))


def at(line, threshold):
    """Read a drawn line at a threshold, as the eye does: on a step, what is left of the next step up."""
    x, y = line.get_data()
    assert line.get_drawstyle() == "steps-post"
    assert (np.diff(x) <= 0).all()
    # From x[k] to x[k + 1], that is to the left, matplotlib draws y[k].
    return y[np.flatnonzero(x >= threshold)[-1]]


def test_parts_stay_apart_when_printed_grey():
    shades = [grey(drawing.tint_of(part)) for part in ("capture", "near miss", "false alarm")]
    assert min(np.diff(shades)) > 0.1
    assert shades[-1] < 0.97


@given(strategies.labels(), strategies.exact_near)
@pytest.mark.slow
@pytest.mark.unmeasured
def test_tints_are_the_partition(y_true, near):
    ax = Figure().add_subplot()
    regions = dqeval.partition(y_true, near=near).regions
    drawing.tint_regions(ax, cuts_of(dqeval.partition(y_true, near=near)))
    expected = {
        "capture": [(r.start, r.stop) for r in regions],
        "near miss": [piece for r in regions for piece in ((r.near_start, r.start), (r.stop, r.near_stop))],
        "false alarm": [piece for r in regions for piece in ((r.left, r.near_start), (r.near_stop, r.right))],
    }
    for part, spans in expected.items():
        assert drawn_spans(ax, part) == [(start, stop) for start, stop in spans if start < stop]


def test_tints_have_their_colours_and_fill_the_height(ax):
    drawing.tint_regions(ax, np.array([[0, 2, 3, 5, 6, 8.0], [8, 8, 9, 10, 11, 12]]))
    for collection, part in zip(ax.collections, drawing.COLOURS, strict=False):
        assert colors.to_hex(collection.get_facecolor()[0]) == drawing.tint_of(part)
        heights = ax.get_xaxis_transform().transform(collection.get_paths()[0].vertices)[:, 1]
        assert (heights.min(), heights.max()) == (ax.bbox.y0, ax.bbox.y1)
    borders = ax.collections[-1].get_segments()
    assert [border[:, 0].tolist() for border in borders] == [[8, 8]]


def test_a_single_region_has_no_border_and_a_short_event_an_outline(ax):
    drawing.tint_regions(ax, np.array([[0, 10, 500_000, 500_001, 600_000, 1_000_000.0]]))
    assert [collection.get_label() for collection in ax.collections] == list(drawing.COLOURS)
    assert ax.collections[0].get_linewidth()[0] > 0.5


def test_marked_events(ax):
    drawing.mark_events(ax, np.array([[0, 2, 3, 5, 6, 8.0]]), height=0.25)
    assert drawn_spans(ax, "event") == [(3, 5)]
    assert ax.collections[0].get_paths()[0].vertices[:, 1].min() == 0.75


@pytest.mark.parametrize("thresholds", [1, 100, "exact"])
def test_the_curve_is_drawn_as_the_steps_it_is(ax, thresholds):
    result = dqeval.evaluate(Y_TRUE, Y_SCORE, near=24, thresholds=thresholds)
    drawing.draw_curve(ax, result.curve)
    *events, mean = ax.get_lines()
    for line, curve in zip([*events, mean], [*result.curve.per_event, result.curve], strict=True):
        drawn = [at(line, threshold) for threshold in curve.thresholds]
        np.testing.assert_array_equal(drawn, curve.dqe)
        x, y = line.get_data()
        assert (x[0], x[-1]) == (1, 0)
        # What is seen is what is counted: the area under the steps is DQE.
        assert np.sum(-np.diff(x) * y[:-1]) == pytest.approx(curve_mean(result, curve), abs=1e-9)
    assert mean.get_linewidth() > 2 * events[0].get_linewidth()
    assert mean.get_zorder() > events[0].get_zorder()


def curve_mean(result, curve):
    scores = (result.curve, *result.curve.per_event).index(curve)
    return (result, *result.per_event)[scores].dqe


def test_exact_steps_between_and_above_the_thresholds(ax):
    result = dqeval.evaluate([0, 1, 0, 0, 0, 1], [0, 0.5, 0, 0, 0, 1], near=1, thresholds="exact")
    drawing.draw_curve(ax, result.curve)
    first, second, mean = ax.get_lines()
    assert [at(first, threshold) for threshold in (1, 0.51, 0.5, 0.01)] == [0, 0, 1, 1]
    assert [at(second, threshold) for threshold in (1, 0.01)] == [1, 1]
    assert [at(mean, threshold) for threshold in (1, 0.51, 0.5, 0.01)] == [0.5, 0.5, 1, 1]


def test_a_curve_without_thresholds_is_zero(ax):
    drawing.draw_curve(ax, dqeval.evaluate([0, 1, 0], [3, 3, 3], near=1, thresholds="exact").curve)
    (line,) = ax.get_lines()
    np.testing.assert_array_equal(line.get_data(), [[1, 0], [0, 0]])


@given(st.lists(st.floats(-5, 5) | st.just(np.nan), max_size=60), st.integers(1, 12))
def test_thinning_keeps_the_extremes_of_every_bucket(values, buckets):
    values = np.array(values, dtype=float)
    x, y = drawing.thin(values, buckets)
    np.testing.assert_array_equal(y, values[x])
    assert (np.diff(x) > 0).all()
    if len(values) <= 2 * buckets:
        np.testing.assert_array_equal(x, np.arange(len(values)))
        return
    assert len(x) <= 3 * buckets
    bucket = np.arange(len(values)) * buckets // len(values)
    for k in range(buckets):
        before, after = values[bucket == k], y[bucket[x] == k]
        assert np.isnan(before).any() == np.isnan(after).any()
        for extreme in (np.fmin, np.fmax):
            np.testing.assert_array_equal(extreme.reduce(after), extreme.reduce(before))


def test_thinning_keeps_a_spike_of_a_million_points():
    values = np.zeros(1_000_000)
    values[654_321] = 1
    x, y = drawing.thin(values, 800)
    assert len(x) == 801
    assert x[y == 1].tolist() == [654_321]


def test_bars(ax):
    drawing.draw_bars(ax, {"DQE": 0.25, "other": float("nan"), "best": 1.0}, [1, 1, 1])
    assert [bar.get_width() for bar in ax.patches] == [0.25, 0, 1]
    assert [text.get_text() for text in ax.texts] == ["0.250", "undefined", "1.000"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["DQE", "other", "best"]
    assert ax.yaxis_inverted()


def test_results_plot_themselves_on_axes_given_or_new(ax):
    result = dqeval.evaluate(Y_TRUE, Y_SCORE, near=24)
    assert result.plot(ax) is ax
    assert pyplot.get_fignums() == []
    shown = result.plot()
    assert shown.figure.number in pyplot.get_fignums()
    for axes in (ax, shown):
        assert axes.get_title() == f"DQE {result.dqe:.3f}"
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("threshold (scaled)", "DQE")
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["mean of events", "each event"]
        assert len(axes.get_lines()) == len(result.per_event) + 1


def test_one_event_is_one_line_without_a_legend(ax):
    dqeval.evaluate([0, 1, 0], [0, 1, 0], near=1).plot(ax)
    assert len(ax.get_lines()) == 1
    assert ax.get_legend() is None


def test_an_undefined_result_says_so(ax):
    with pytest.warns(dqeval.UndefinedWarning):
        result = dqeval.evaluate([0, 0, 0], [0, 1, 0], near=1, undefined="nan")
    result.plot(ax)
    assert ax.get_title() == "DQE undefined: no event"
    assert len(ax.get_lines()) == 0


def test_an_evaluation_plots_its_metrics(ax):
    evaluation = dqeval.panel([1, 1, 1], [1, 2, 3], near=1)
    assert evaluation.plot(ax) is ax
    assert [label.get_text() for label in ax.get_yticklabels()] == list(evaluation.labels.values())
    texts = dict(zip(evaluation, (text.get_text() for text in ax.texts), strict=True))
    assert texts["auc_roc"] == "undefined"
    assert texts["dqe"] == f"{evaluation['dqe']:.3f}"
    assert evaluation.plot().figure.number in pyplot.get_fignums()


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ValueError, match=r"^plots need matplotlib: pip install 'matplotlib>=3.8'$"):
        dqeval.evaluate([0, 1], [0, 1], near=1).plot()


def test_matplotlib_is_imported_for_plots_only():
    program = "import sys, dqeval.render.figure; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
