"""CNN and TimesNet on series: checks, sets in standard units, devices, and where scores stand."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dqeval.core import arguments, validate
from dqeval.core.types import FloatArray, Numbers
from dqeval.detectors import windows
from dqeval.detectors.training import Network, Sets, errors_of_all
from dqeval.support import extras

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Variant = Literal["corrected", "published"]

_FITTED = 0.8


def fitted_stop(train_stop: int) -> int:
    """Return how many points of the training part are fitted; the others tell when to stop."""
    return int(_FITTED * train_stop)


def scores(
    network_of: Callable[[Variant], Network],
    many: Sequence[Numbers],
    options: Sequence[Mapping[str, Any]],
    *,
    at_once: int = 1,
    device: str = "auto",
    variant: Variant = "corrected",
) -> Iterator[list[tuple[int, FloatArray | ValueError]]]:
    """Yield the numbers of series with their scores, each from a network of its own, as soon as there are some.

    Constant series have zeros. A series that cannot be worked on has an error in place of scores.

    Parameters
    ----------
    network_of : callable
        A variant to the network and how it is trained.
    many : sequence of array-like of numbers
    options : sequence of mapping
        The ``train_stop`` and the ``seed`` of each series.
    at_once : int
        How many networks are trained in the same steps.
    device, variant : str
    """
    network = network_of(arguments.one_of("variant", variant, ("corrected", "published")))
    tasks: dict[int, _Task] = {}
    for number, (values, own) in enumerate(zip(many, options, strict=True)):
        try:
            tasks[number] = _checked(network, values, **own)
        except ValueError as error:
            yield [(number, error)]
    place = _device(device, network.name)
    constant = [number for number, task in tasks.items() if task.series.min() == task.series.max()]
    yield [(number, np.zeros(len(tasks.pop(number).series))) for number in constant]
    # Those with most examples first, as groups want them; in standard units when their turn comes, to save memory.
    order = sorted(tasks, key=lambda number: -tasks[number].train_stop)
    sets = (_sets(number, tasks[number], variant) for number in order)
    with _settings(place):
        for ready in errors_of_all(network, sets, device=place, at_once=at_once):
            yield [(number, _at_points(network, errors, tasks[number])) for number, errors in ready]


def scores_of_one(
    network_of: Callable[[Variant], Network], values: Numbers, *, device: str, variant: Variant, **own: Any
) -> FloatArray:
    """Return the scores of a single series; ``own`` are its ``train_stop`` and ``seed``."""
    ((_, found),) = chain.from_iterable(scores(network_of, [values], [own], device=device, variant=variant))
    if isinstance(found, ValueError):
        raise found
    return found


def _at_points(network: Network, errors: FloatArray, task: _Task) -> FloatArray | ValueError:
    try:
        return network.at_points(validate.representable(errors**2), len(task.series))
    except ValueError as error:
        return error


@dataclass(frozen=True, slots=True)
class _Task:
    """A series, where its training part ends, and the seed of its network."""

    series: FloatArray
    train_stop: int
    seed: int


def _checked(network: Network, values: Numbers, *, train_stop: Any, seed: Any) -> _Task:
    series = validate.values(values)
    # The last fifth must hold an example.
    least = next(stop for stop in range(5 * network.span + 1) if stop - fitted_stop(stop) >= network.span)
    stop = validate.train_stop(train_stop, series, least=least, detector=network.name)
    return _Task(series, stop, arguments.seed(seed))


def at_their_ends(scores: FloatArray, length: int) -> FloatArray:
    """Return the scores of all spans of a series at their last points; the first is repeated to the beginning."""
    return np.pad(scores, (length - len(scores), 0), mode="edge")


def linear(inputs: Tensor, weights: Tensor, offsets: Tensor) -> Tensor:
    """Return inputs of shape (batches, rows, inputs) after a layer of one network per batch, or of one for all."""
    import torch

    return torch.baddbmm(offsets[:, None], inputs, weights.expand(len(inputs), -1, -1))


def _device(name: str, detector: str) -> torch.device:
    """Return the device of a name; "auto" is a graphics card of Nvidia's or AMD's, or else the processor."""
    try:
        import torch
    except ImportError:
        raise ValueError(f"{detector} needs PyTorch: {extras.install('deep')}") from None

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.empty(0, device=name).device
        if found.type == "meta":
            raise NotImplementedError("nothing is computed there")
        return found
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0].partition(". ")[0]
        raise ValueError(f'device must be "auto", "cpu" or one that PyTorch finds: got {name!r} ({reason})') from None


@contextlib.contextmanager
def _settings(device: torch.device) -> Iterator[None]:
    """Compute with 32-bit floats, repeatably, and with gradients, whatever the caller has set."""
    import torch

    precise = torch.autocast(device.type, enabled=False)
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.inference_mode(False), torch.enable_grad(), precise:
            yield
    finally:
        torch.set_float32_matmul_precision(precision)


def _sets(number: int, task: _Task, variant: Variant) -> Sets:
    """Return what is fitted, what tells when to stop, and the whole series, in standard units."""
    series, stop = task.series, fitted_stop(task.train_stop)
    if variant == "published":
        parts = series[:stop], series[stop : task.train_stop], series
        return Sets(number, task.seed, *[windows.standardise(part) for part in parts])
    whole = _in_units_of(series[:stop], series)
    return Sets(number, task.seed, whole[:stop], whole[stop : task.train_stop], whole)


def _in_units_of(part: FloatArray, series: FloatArray) -> FloatArray:
    """Return a series in standard units of a part of it; in its own where the part is constant."""
    if part.min() == part.max():
        return windows.standardise(series)
    # Values of any size are brought near 1 before they are squared; what is infinite then is refused at the end.
    size = np.abs(part).max()
    near_one = part / size
    with np.errstate(over="ignore"):
        return np.asarray((series / size - near_one.mean()) / near_one.std())
