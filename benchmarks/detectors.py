"""Seconds and memory of the detectors, also beside plain algorithms: ``python -m benchmarks.detectors [NAME ...]``.

Needs scikit-learn: ``pip install -e .[benchmark]``. Seconds are the processor's, the least of a few runs, so that what
else the machine does matters little; set ``OMP_NUM_THREADS=1``, since all threads count. Memory is the most that a new
process holds, with Python, NumPy and PyTorch. The case series of the paper are used where they are (``DQEVAL_DATA``),
else generated ones of the same lengths.
"""

import platform
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from unittest import mock

import numpy as np
from sklearn.cluster import KMeans
from sklearn.neighbors import LocalOutlierFactor

import dqeval
from benchmarks.cases import CASES, case, generated, peak_megabytes
from dqeval import detectors
from dqeval.core.entries import Detector
from dqeval.detectors import neighbours
from dqeval.render.tables import percent

LENGTHS = (1_000, 10_000, 100_000)
MOST_POINTS = {"trains": 10_000, "interpreted": 10_000}
PERIOD = 100
LONG, LONG_WINDOW = 300_000, 250
FEWEST_TRAINED, MOST_TRAINED = 300, 10_000
BESIDE = 60_000
MILLION, PRIME = 1_000_000, 1_000_003
MOST_COMPARED = (2_000, 5_000)

# The public reference's seconds on the cases, measured once on a slow machine, not by this script.
REFERENCE = {"fft": (0.19, 0.32), "sub_lof": (2.3, 24), "kmeans_ad": (5.6, 27), "cnn": (8.5, 16), "timesnet": (40, 234)}


def quickest(call: Callable[[], object], *, at_least: float = 1.0, fewest: int = 3) -> float:
    """Return the least processor time of a call, repeated for a while; of one that takes long, a single time."""
    durations: list[float] = []
    while not durations or (sum(durations) < 20 * at_least and (len(durations) < fewest or sum(durations) < at_least)):
        began = time.process_time()
        call()
        durations.append(time.process_time() - began)
    return min(durations)


def call_of(detector: Detector, values: np.ndarray) -> Callable[[], np.ndarray]:
    """Return the call of a detector; one that trains takes a quarter of the series for it, or 300 to 10,000 points."""
    options = {"train_stop": min(max(len(values) // 4, FEWEST_TRAINED), MOST_TRAINED)} if detector.trains else {}
    return partial(detector.function, values, **options)


def usable() -> list[Detector]:
    """Return the detectors whose packages are installed."""
    found = []
    for detector in detectors.DETECTORS:
        try:
            call_of(detector, generated(1_200, PERIOD))()
        except (ImportError, ValueError) as error:
            print(f"without {detector.label}: {error}")
        else:
            found.append(detector)
    return found


def plain_sub_lof(values: np.ndarray, window: int) -> np.ndarray:
    """Return Sub-LOF by scikit-learn, from the matrix of windows."""
    rows = np.lib.stride_tricks.sliding_window_view(values, window)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    factors = -LocalOutlierFactor(n_neighbors=30).fit(rows).negative_outlier_factor_
    return np.pad(factors, (window // 2, (window - 1) // 2), mode="edge")


def plain_kmeans_ad(values: np.ndarray, window: int) -> np.ndarray:
    """Return KMeansAD by scikit-learn, from the matrix of windows, each point looking through all windows."""
    rows = np.lib.stride_tricks.sliding_window_view(values, window)
    rows = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, ddof=1, keepdims=True)
    distances = KMeans(10, n_init=10, random_state=0).fit(rows).transform(rows).min(axis=1)
    starts = np.arange(len(distances))
    return np.array([distances[(starts <= t) & (t < starts + window)].mean() for t in range(len(values))])


def plain_fft(values: np.ndarray, window: int) -> np.ndarray:
    """Return FFT as published, candidate by candidate; it has no window."""
    z = (values - values.mean()) / values.std()
    residual = np.where(np.arange(len(z)) < 5, 0, np.abs(z))
    candidates = np.flatnonzero(residual > residual.mean())
    off = np.array([z[t] - z[max(t - 10, 0) : t + 11].mean() for t in candidates])
    off = np.abs((off - off.mean()) / (off.std() + 1e-6))
    scores, chain = np.zeros(len(z)), []
    for t, deviation in [*zip(candidates[off > 0.6], off[off > 0.6], strict=True), (np.inf, 0)]:
        if chain and t - chain[-1][0] > 10:
            if len(chain) > 1:
                scores[chain[0][0] : chain[-1][0] + 1] = np.mean([deviation for _, deviation in chain])
            chain = []
        chain.append((t, deviation))
    return scores


PLAIN = {"kmeans_ad": plain_kmeans_ad, "sub_lof": plain_sub_lof, "fft": plain_fft}


def long_run(name: str, n: int, window: int, options: dict[str, int]) -> tuple[float, float]:
    """Return the processor seconds for a long series, and the most memory of this process in MB, all counted."""
    detector = detectors.DETECTORS[name]
    options = {"window": window, **options} if "window" in detector.parameters else options
    call = partial(call_of(detector, generated(n, window)), **options)
    began = time.process_time()
    call()
    return time.process_time() - began, peak_megabytes()


def in_a_process_of_its_own(name: str, n: int, window: int, **options: int) -> tuple[float, float]:
    """Return `long_run` of a new process, whose memory nothing else has used."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(long_run, name, n, window, options).result()


def against_length(chosen: list[Detector]) -> None:
    """Print seconds for generated series, and the memory for the longest."""
    long = f"{LONG:,}, window {LONG_WINDOW} | its memory"
    print("| detector | " + " | ".join(f"{n:,} points" for n in LENGTHS) + f" | {long} |")
    print("|---|" + "---:|" * (len(LENGTHS) + 2))
    for detector in chosen:
        slow = (detector.trains, "trains"), (not dqeval.kernels.compiled, "interpreted")
        most = min((MOST_POINTS[why] for applies, why in slow if applies), default=LENGTHS[-1])
        cells = [f"{quickest(call_of(detector, generated(n, PERIOD))):.3g} s" if n <= most else "" for n in LENGTHS]
        if dqeval.kernels.compiled or detector.name != "sub_lof":
            seconds, megabytes = in_a_process_of_its_own(detector.name, LONG, LONG_WINDOW)
            cells += [f"{seconds:.3g} s", f"{megabytes:.0f} MB"]
        else:
            cells += ["", ""]
        print(f"| {detector.label} | {' | '.join(cells)} |", flush=True)


def beside_plain(chosen: list[Detector]) -> None:
    """Print seconds on the case series beside those of plain algorithms, and how well the scores agree."""
    print("\n| series | detector | seconds | plain algorithm | ratio | correlation | reference, elsewhere |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for place, archive in enumerate(CASES):
        title, values, window = case(archive)
        for detector in chosen:
            # The plain FFT is the published one, so that the scores can be compared.
            options = {"variant": "published"} if detector.name == "fft" else {}
            call = partial(call_of(detector, values), **options)
            ours, scores = quickest(call), call()
            reference = f"{REFERENCE[detector.name][place]} s" if detector.name in REFERENCE else ""
            cells = " |  | "
            if detector.name in PLAIN:
                plain = partial(PLAIN[detector.name], values, window)
                theirs = quickest(plain, at_least=0.1)
                cells = f"{theirs:.3g} s | {theirs / ours:.1f} × | {np.corrcoef(plain(), scores)[0, 1]:.6f}"
            print(f"| {title} | {detector.label} | {ours:.3g} s | {cells} | {reference} |", flush=True)


def one_start(values: np.ndarray, window: int) -> Callable[[], object]:
    """Return a call of scikit-learn's k-means with one start, on a matrix of windows that is already there."""
    rows = np.lib.stride_tricks.sliding_window_view(values, window)
    rows = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, ddof=1, keepdims=True)
    return lambda: KMeans(10, n_init=1, random_state=0).fit(rows)


def beside_others(names: set[str]) -> None:
    """Print seconds for a longer series beside those of scikit-learn, and of a prime length beside a round one."""
    print("\n| what | seconds | beside | its seconds | ratio |")
    print("|---|---:|---|---:|---:|")
    values = generated(BESIDE, PERIOD)
    million, prime = generated(MILLION, PERIOD), generated(PRIME, PERIOD)
    calls = {
        "sub_lof": ("`LocalOutlierFactor`", BESIDE, values, partial(plain_sub_lof, values, PERIOD)),
        "kmeans_ad": ("`KMeans`, one start", BESIDE, values, one_start(values, PERIOD)),
        "fft": (f"{MILLION:,} points", PRIME, prime, partial(detectors.fft, million)),
        "sr": (f"{MILLION:,} points", PRIME, prime, partial(detectors.sr, million)),
    }
    for name, (other, n, series, call) in calls.items():
        if name in names:
            window = {"window": PERIOD} if name in PLAIN and name != "fft" else {}
            own = partial(detectors.DETECTORS[name].function, series, **window)
            ours = {"": quickest(own, fewest=5)}
            if name == "sub_lof" and neighbours.kernel is not neighbours.plain_kernel:
                with mock.patch.object(neighbours, "kernel", neighbours.plain_kernel):
                    ours[", without AVX2"] = quickest(own, fewest=5)
            theirs = quickest(call, fewest=5)
            for form, seconds in ours.items():
                title = f"{detectors.DETECTORS[name].label}, {n:,} points{form}"
                ratio = theirs / seconds
                print(f"| {title} | {seconds:.3g} s | {other} | {theirs:.3g} s | {ratio:.2f} × |", flush=True)


def of_a_million(names: set[str]) -> None:
    """Print seconds and memory for a million points."""
    print(f"\n| {MILLION:,} points, window {PERIOD} | seconds | memory |")
    print("|---|---:|---:|")
    runs = [
        ("kmeans_ad", {}),
        *(("sub_lof", {"most_compared": most}) for most in MOST_COMPARED),
        ("fft", {}),
        ("sr", {}),
    ]
    for name, options in runs:
        if name in names:
            seconds, megabytes = in_a_process_of_its_own(name, MILLION, PERIOD, **options)
            title = ", ".join(
                [detectors.DETECTORS[name].label, *(f"`{key}={value}`" for key, value in options.items())]
            )
            print(f"| {title} | {seconds:.3g} s | {megabytes:.0f} MB |", flush=True)


def ranks(scores: np.ndarray) -> np.ndarray:
    """Return the rank of each score."""
    return np.argsort(np.argsort(scores, kind="stable"), kind="stable")


def rough_beside_exact() -> None:
    """Print how well scores from a part of the comparisons agree with exact ones, and how much longer distances are."""
    print("\n| series | `most_compared` | rank correlation | longer distances, median | 99 % | surely exact |")
    print("|---|---:|---:|---:|---:|---:|")
    series = [(f"generated, {BESIDE:,} points", generated(BESIDE, PERIOD), PERIOD), *map(case, CASES)]
    walk = np.cumsum(np.random.default_rng(0).normal(size=BESIDE))
    for title, values, window in [*series, (f"random walk, {BESIDE:,} points", walk, PERIOD)]:
        exact = detectors.sub_lof(values, window=window)
        true = detectors.neighbour_distances(values, window=window).at_most
        for most in MOST_COMPARED:
            rough = detectors.sub_lof(values, window=window, most_compared=most)
            found = detectors.neighbour_distances(values, window=window, most_compared=most)
            agreement = np.corrcoef(ranks(exact), ranks(rough))[0, 1]
            longer = np.quantile(found.at_most / np.maximum(true, 1e-300), [0.5, 0.99])
            sure = (found.at_least == found.at_most).mean()
            cells = f"{agreement:.3f} | {longer[0]:.3f} × | {longer[1]:.3f} × | {percent(sure)}"
            print(f"| {title} | {most:,} | {cells} |", flush=True)


def main() -> None:
    """Print all tables, of all detectors or of those that are named."""
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    print(f"dqeval {dqeval.__version__}, kernels {form}, Python {platform.python_version()}, NumPy {np.__version__}\n")
    chosen = [detector for detector in usable() if detector.name in (sys.argv[1:] or detectors.DETECTORS.names)]
    names = {detector.name for detector in chosen}
    beside_others(names)
    of_a_million(names)
    if "sub_lof" in names:
        rough_beside_exact()
    against_length(chosen)
    beside_plain(chosen)


if __name__ == "__main__":
    main()
