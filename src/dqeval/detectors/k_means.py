"""KMeansAD: how far windows are from the centre of their cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments, validate
from dqeval.core.registry import detector
from dqeval.core.types import FloatArray, Numbers
from dqeval.detectors import windows

# Points, a row each. The last column is 1, so that products count them too, and add a constant to each.
Block = NDArray[np.float32]
Blocks = Iterable[Block]

_ROWS = 2048  # of a block: its distances to the centres of all restarts stay in the cache
_COMPONENTS = 16
_MOST_STEPS = 300
_TOLERANCE = 1e-4


@detector(label="KMeansAD", citation="Yairi et al. 2001", least={"window": 2, "clusters": 1, "restarts": 1})
def kmeans_ad(
    values: Numbers, *, window: int | None = None, clusters: int = 10, restarts: int = 10, seed: int = 0
) -> FloatArray:
    """Distance of windows to the centre of their k-means cluster, mean over the windows that hold a point.

    Parameters
    ----------
    values : array-like of numbers, shape (n,) or (n, 1)
        At least ``window + clusters - 1``.
    window : int, optional
        The length of the windows; by default the period of rank 2 (`dqeval.find_period`).
    clusters : int, default 10
        How many clusters the windows are sorted into.
    restarts : int, default 10
        How many times to start from other random centres; the clustering with the least inertia counts.
    seed : int, default 0
        Of the random starts: the same seed gives the same scores, whatever ran before.

    Returns
    -------
    array of float, shape (n,)
        The higher, the more anomalous. Zeros for a constant series.

    Notes
    -----
    Each window is first brought to standard units of its own, a constant one to zeros. The defaults are those of the
    paper's tables. The restarts run side by side on the first principal components of the windows, 16 or as many as
    there are clusters; the best one is then finished with all values of the windows.

    Examples
    --------
    >>> values = np.sin(2 * np.pi * np.arange(400) / 20)
    >>> values[200:210] = 0
    >>> scores = dqeval.detectors.kmeans_ad(values, window=20)
    >>> 200 <= scores.argmax() < 210
    np.True_
    """
    series = validate.values(values)
    count = arguments.whole_number("clusters", clusters, least=1, most=validate.MOST_COUNTED)
    tries = arguments.whole_number("restarts", restarts, least=1, most=validate.MOST_COUNTED)
    random = np.random.default_rng(arguments.seed(seed))
    length = windows.window_length(series, window, least=2, count=count, why="for as many clusters")
    distances = _distances_to_centres(windows.near_one(series), length, count, tries, random)
    return windows.mean_over_windows(distances, length)


def _distances_to_centres(
    values: FloatArray, window: int, clusters: int, restarts: int, random: np.random.Generator
) -> FloatArray:
    """Return the distance of each window to the nearest of the best centres."""
    every = _Windows(values, window)
    points: Blocks = list(every) if every.count * window * 8 <= windows.MOST_BYTES else every
    basis, tolerance = _principal_components(points, max(_COMPONENTS, clusters))
    reduced = [block @ basis for block in points]
    best = _settle(reduced, _starts(np.concatenate(reduced), clusters, restarts, random), tolerance)
    # Means of the windows themselves: what the components leave out comes back.
    centres, _ = _step(reduced, best, sums_of=points)
    return every.distances(_settle(points, centres, tolerance)[0])


@dataclass(frozen=True, slots=True)
class _Windows:
    """The windows of a series in standard units, as blocks that are made each time they are gone through."""

    values: FloatArray
    window: int

    @property
    def count(self) -> int:
        return len(self.values) - self.window + 1

    def __iter__(self) -> Iterator[Block]:
        for start in range(0, self.count, _ROWS):
            rows = self._rows(start)
            yield np.pad(rows.astype(np.float32), ((0, 0), (0, 1)), constant_values=1)

    def _rows(self, start: int) -> FloatArray:
        return windows.normalise(windows.sliding(self.values, self.window)[start : start + _ROWS])

    def distances(self, centres: FloatArray) -> FloatArray:
        """Return the distance of each window to the nearest centre, from differences, which are exact."""
        found = np.empty(self.count)
        for start in range(0, self.count, _ROWS):
            rows = self._rows(start)
            nearest = np.argmax(rows @ centres.T - (centres**2).sum(axis=1) / 2, axis=1)
            found[start : start + _ROWS] = np.linalg.norm(rows - centres[nearest], axis=1)
        return found


def _principal_components(points: Blocks, count: int) -> tuple[Block, float]:
    """Return the matrix that takes points to their principal components, and which shift of centres is none.

    The best centres differ little but along as many components as there are clusters.
    """
    products = np.sum([block.T @ block for block in points], axis=0, dtype=float)
    mean = products[-1, :-1] / products[-1, -1]
    covariance = products[:-1, :-1] / products[-1, -1] - np.outer(mean, mean)
    components = np.linalg.eigh(covariance).eigenvectors[:, -count:]
    basis = np.pad(components.astype(np.float32), ((0, 1), (0, 1)))
    basis[-1, -1] = 1
    return basis, _TOLERANCE * float(np.trace(covariance)) / len(covariance)


def _starts(points: Block, clusters: int, restarts: int, random: np.random.Generator) -> FloatArray:
    """Return centres to start from, one after the other the best of a few random points, far ones the likelier."""
    norms = np.einsum("ij,ij->i", points, points)
    tried = 2 + int(np.log(clusters))
    starts = np.empty((restarts, clusters, points.shape[1] - 1))
    for centres in starts:
        first = random.integers(len(points))
        centres[0] = points[first, :-1]
        closest = _squares(points, norms, [first])[0]
        for place in range(1, clusters):
            sums = np.cumsum(closest, dtype=float)
            drawn = np.searchsorted(sums, random.random(tried) * sums[-1], side="right")
            picks = np.minimum(drawn, len(points) - 1)
            after = np.minimum(closest, _squares(points, norms, picks))
            best = int(after.sum(axis=1, dtype=float).argmin())
            closest = after[best]
            centres[place] = points[picks[best], :-1]
    return starts


def _squares(points: Block, norms: NDArray[np.float32], picks: Any) -> Block:
    """Return the squared distances of some points to all."""
    squares: Block = norms[picks, None] + norms - 2 * (points[picks] @ points.T)
    np.maximum(squares, 0, out=squares)
    return squares


def _settle(points: Blocks, starts: FloatArray, tolerance: float) -> FloatArray:
    """Return the best of several sets of centres, each moved until it moves no more."""
    centres, moving = starts.copy(), np.arange(len(starts))
    for _ in range(_MOST_STEPS):
        moved, _ = _step(points, centres[moving])
        shifts = ((moved - centres[moving]) ** 2).sum(axis=(1, 2))
        centres[moving] = moved
        moving = moving[shifts > tolerance]
        if not len(moving):
            break
    _, gains = _step(points, centres)
    return centres[[gains.argmax()]]


def _step(points: Blocks, centres: FloatArray, sums_of: Blocks | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the means of the points nearest to each centre, and by how much each set of centres lowers the inertia.

    There are several sets of centres, and one product for all of them. The means may be those of other points than the
    centres are near to.
    """
    sets, clusters, _ = centres.shape
    # The nearest centre c of a point p has the highest pc - cc/2.
    weights = np.concatenate([centres, -(centres**2).sum(axis=2, keepdims=True) / 2], axis=2)
    flat = weights.reshape(sets * clusters, -1).astype(np.float32)
    gains, parts = np.zeros(sets), []
    for block, summed in zip(points, points if sums_of is None else sums_of, strict=True):
        nearness = (flat @ block.T).reshape(sets, clusters, -1)
        highest = nearness.max(axis=1, keepdims=True)
        gains += highest.sum(axis=(1, 2), dtype=float)
        parts.append((nearness == highest).reshape(sets * clusters, -1).astype(np.float32) @ summed)
    sums = np.sum(parts, axis=0, dtype=float).reshape(sets, clusters, -1)
    # A centre that is nearest to no point goes to the origin, where it can do no harm.
    return sums[:, :, :-1] / np.maximum(sums[:, :, -1:], 1), gains
