"""KMeansAD: how far windows are from the centre of their cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments, validate
from dqeval.core.registry import detector
from dqeval.core.types import FloatArray, IntArray, Numbers
from dqeval.detectors import windows
from dqeval.detectors.lloyd import Block, Blocks, Nearest, means, settled, squared_norms, sums_by_label

_ROWS = 2048  # of a block: what is made of it stays in the cache
_COMPONENTS = 16
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
    reduced = np.empty((every.count, basis.shape[1]), np.float32)
    for place, block in enumerate(points):
        np.matmul(block, basis, out=reduced[place * _ROWS : (place + 1) * _ROWS])
    starts = _starts(reduced, clusters, restarts, random)
    # The inertia is the squared norms of all points, less twice the nearness of their centres.
    best = max((Nearest(reduced, settled([reduced], start, tolerance)) for start in starts), key=Nearest.total)
    # Means of the windows themselves: what the components leave out comes back.
    members = (best.labels[start : start + _ROWS] for start in range(0, every.count, _ROWS))
    sums = [sums_by_label(block, labels, clusters) for block, labels in zip(points, members, strict=True)]
    return every.distances(settled(points, means(np.sum(sums, axis=0)), tolerance))


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
    norms = squared_norms(points)
    tried = 2 + int(np.log(clusters))
    starts = np.empty((restarts, clusters, points.shape[1] - 1))
    for centres in starts:
        first = random.integers(len(points))
        centres[0] = points[first, :-1]
        closest = _squares(points, norms, np.array([first]))[0]
        for place in range(1, clusters):
            sums = np.cumsum(closest, dtype=float)
            drawn = np.searchsorted(sums, random.random(tried) * sums[-1], side="right")
            picks = np.minimum(drawn, len(points) - 1)
            after = _squares(points, norms, picks)
            np.minimum(after, closest, out=after)
            best = int(after.sum(axis=1, dtype=float).argmin())
            closest = after[best]
            centres[place] = points[picks[best], :-1]
    return starts


def _squares(points: Block, norms: NDArray[np.float32], picks: IntArray) -> Block:
    """Return the squared distances of some points to all."""
    weights: Block = np.multiply(points[picks], -2, dtype=np.float32)
    weights[:, -1] = norms[picks]
    squares: Block = weights @ points.T
    squares += norms
    np.maximum(squares, 0, out=squares)
    return squares
