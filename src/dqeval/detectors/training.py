"""Many small networks, each for a series of its own, trained and evaluated in the same steps.

To launch a step takes a device longer than to compute it for one of them, so each step is for all: tensors have the
networks in front. None sees another. Each has its own start, order of examples, dropout, rates and end of training, the
same as alone, so that its scores differ from those of training alone by rounding.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from dqeval.core.types import FloatArray
from dqeval.detectors.adam import Adam
from dqeval.detectors.draws import Draws, Piece
from dqeval.detectors.training_examples import BATCH, Batches, Step, Windows

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_PATIENCE = 3
_LEAST_GAIN = 1e-4
# Examples of a series that are drawn ahead.
_PIECE = 8 * BATCH
# Examples whose errors are computed at once if there is a single series: few enough to stay in a processor's cache.
_CHUNK = 8 * BATCH
# Networks whose training is over that wait until they are evaluated together: not too many, as a kill would lose them.
_TRAINED = 256
# Errors of spans that are in memory at once: half a gigabyte.
_MOST_ERRORS = 2**27
# Threads that draw random numbers for a graphics card, if there are so many cores.
_DRAWING = 8


@dataclass(frozen=True, slots=True)
class Network:
    """A network and how it is trained.

    Attributes
    ----------
    name : str
        The detector's, for messages.
    span : int
        The points of an example: what goes in, and what is to come out.
    epochs : int
        The most passes over the training set.
    rate : callable
        The number of an epoch, from 1 on, to its learning rate.
    parameters : callable
        `Draws` to the parameters at the start.
    units : tuple of int
        The shape of an example where dropout is.
    kept : float
        The share of units that dropout keeps.
    errors : callable
        Parameters, `Batches`, and what dropout multiplies units with, or None for none of it, to what comes out less
        what should, of shape (batches, rows, outputs). The last output belongs to the last point of the span. In front,
        parameters have the networks: one per batch, or one for all batches.
    at_points : callable
        The scores of all spans of a series, and its length, to scores of its points.
    """

    name: str
    span: int
    epochs: int
    rate: Callable[[int], float]
    parameters: Callable[[Draws], list[Tensor]]
    units: tuple[int, ...]
    kept: float
    errors: Callable[[list[Tensor], Batches, Tensor | None], Tensor]
    at_points: Callable[[FloatArray, int], FloatArray]


@dataclass(slots=True)
class EarlyStopping:
    """The best loss so far, and how many epochs have passed without a better one."""

    best: float = math.inf
    waited: int = 0

    def over_after(self, loss: float) -> bool:
        """Take the loss of an epoch, and return whether it is time to stop."""
        if loss > self.best - _LEAST_GAIN:
            self.waited += 1
        else:
            self.best, self.waited = loss, 0
        return self.waited >= _PATIENCE


@dataclass(frozen=True, slots=True)
class Sets:
    """A series in standard units: what is fitted, what tells when to stop, and what is scored.

    Attributes
    ----------
    number : int
        Which of the series it is.
    seed : int
        Of its network.
    fitted, held_out, whole : array of float
    """

    number: int
    seed: int
    fitted: FloatArray
    held_out: FloatArray
    whole: FloatArray


@dataclass(frozen=True, slots=True)
class Trained:
    """Which series it is, the whole of it, and the parameters of its network as one vector."""

    number: int
    whole: FloatArray
    vector: Tensor


class _Learner:
    """A series to learn from, its random numbers, of which the next are drawn ahead, and how far it has come."""

    def __init__(self, network: Network, sets: Sets, device: torch.device, pool: Executor) -> None:
        self.sets, self.epoch, self.stopping = sets, 1, EarlyStopping()
        self.fitted, self.held_out = _to_device(sets.fitted, device), _to_device(sets.held_out, device)
        draws = Draws(sets.seed)
        self.start = network.parameters(draws)
        examples = len(sets.fitted) - network.span + 1
        self._pieces = draws.pieces(examples, network.units, kept=network.kept, size=_PIECE)
        self._pool = pool
        self._ahead = self._draw()

    def _draw(self) -> Future[Piece]:
        return self._pool.submit(next, self._pieces)

    def take(self) -> Piece:
        """Return the next examples, and begin to draw those behind them."""
        piece, self._ahead = self._ahead.result(), self._draw()
        return piece


class Group:
    """Networks that are trained in the same steps, an epoch of each at a time.

    Those with most examples must join first: then those that have some left are always the first ones.

    Parameters
    ----------
    network : Network
    device : torch.device
    pool : Executor
        Threads that draw random numbers.
    """

    def __init__(self, network: Network, *, device: torch.device, pool: Executor) -> None:
        import torch

        self._network, self._device, self._pool = network, device, pool
        self._learners: list[_Learner] = []
        self._shapes = [each.shape for each in network.parameters(Draws(0))]
        # One vector holds all parameters of a network, so that a step takes few operations.
        length = sum(shape.numel() for shape in self._shapes)
        self._adam = Adam(torch.zeros(0, length, dtype=torch.float32, device=device))

    def __len__(self) -> int:
        return len(self._learners)

    def join(self, series: Iterable[Sets]) -> None:
        """Take in more, which have no more examples than those that are there."""
        import torch

        new = [_Learner(self._network, sets, self._device, self._pool) for sets in series]
        if new:
            starts = [torch.cat([part.flatten() for part in learner.start]) for learner in new]
            self._adam.add(torch.stack(starts).to(self._device))
            self._learners += new

    def epoch(self) -> list[Trained]:
        """Train each network for an epoch, and let those go whose training is over."""
        self._learn()
        held_out = Windows([learner.held_out for learner in self._learners], self._network.span)
        losses = losses_of(self._network, _unpack(self._adam.vectors, self._shapes), held_out)
        over = [self._is_over(learner, loss) for learner, loss in zip(self._learners, losses, strict=True)]
        gone = [self._trained(row) for row, is_over in enumerate(over) if is_over]
        left = [row for row, is_over in enumerate(over) if not is_over]
        self._learners = [self._learners[row] for row in left]
        self._adam.keep(left)
        return gone

    def errors(self, trained: Sequence[Trained]) -> list[FloatArray]:
        """Return the error of the last output for every span of each series."""
        import torch

        windows = Windows([_to_device(each.whole, self._device) for each in trained], self._network.span)
        parameters = _unpack(torch.stack([each.vector for each in trained]), self._shapes)
        # One array from the start: small ones between large temporary ones would keep their memory from being reused.
        errors = torch.empty(len(trained), max(windows.counts), dtype=torch.float32, device=self._device)
        for step, _, found in _errors(self._network, parameters, windows):
            last = found[:, :, -1].reshape(step.series, -1)
            errors[: step.series, step.start : step.start + step.count] = last[:, : step.count]
        rows = errors.cpu().numpy()
        # Behind the last error of a series there is whatever was in memory.
        return [row[:count].astype(np.float64) for row, count in zip(rows, windows.counts, strict=True)]

    def _trained(self, row: int) -> Trained:
        sets = self._learners[row].sets
        return Trained(sets.number, sets.whole, self._adam.vectors[row].clone())

    def _is_over(self, learner: _Learner, loss: float) -> bool:
        stops = learner.stopping.over_after(loss)
        learner.epoch += 1
        return stops or learner.epoch > self._network.epochs

    def _learn(self) -> None:
        """Take every network through all of its examples."""
        import torch

        network, adam = self._network, self._adam
        fitted = Windows([learner.fitted for learner in self._learners], network.span)
        rates = [network.rate(learner.epoch) for learner in self._learners]
        plan = adam.plan(rates, [math.ceil(count / BATCH) for count in fitted.counts])
        for planned, step in zip(plan, fitted.steps(BATCH), strict=True):
            first = step.start % _PIECE
            if first == 0:
                order, kept = self._draw(step.series)
            rows = slice(first, first + step.count)
            batches = fitted.chosen(step, order[: step.series, rows])
            factors = kept[: step.series, rows].to(batches.spans.dtype).div_(network.kept)
            vectors = adam.vectors[: step.series].detach().requires_grad_()
            # Networks share no parameter: the gradient of the sum is that of each.
            loss = _mean_squares(network.errors(_unpack(vectors, self._shapes), batches, factors), batches).sum()
            (gradients,) = torch.autograd.grad(loss, vectors)
            adam.step(gradients, planned)

    def _draw(self, series: int) -> tuple[Tensor, Tensor]:
        """Return the numbers of the next examples of the first learners, and what dropout keeps of each."""
        import torch

        pieces = [learner.take() for learner in self._learners[:series]]
        longest = max(len(piece.order) for piece in pieces)
        # From pinned memory, transfers do not interrupt the steps.
        pinned = self._device.type == "cuda"
        order = torch.zeros(series, longest, dtype=torch.int64, device="cpu", pin_memory=pinned)
        kept = torch.zeros(series, longest, *self._network.units, dtype=torch.bool, device="cpu", pin_memory=pinned)
        for row, piece in enumerate(pieces):
            order.numpy()[row, : len(piece.order)] = piece.order
            kept.numpy()[row, : len(piece.order)] = piece.kept
        return order.to(self._device, non_blocking=True), kept.to(self._device, non_blocking=True)


def errors_of_all(
    network: Network, waiting: Iterator[Sets], *, device: torch.device, at_once: int
) -> Iterator[list[tuple[int, FloatArray]]]:
    """Train a network for each series, so many at once, and yield the numbers of some with the errors of all spans.

    Those with most to be fitted must come first. A series takes the place of one whose training is over, so that every
    step is for as many as can be.
    """
    with ThreadPoolExecutor(_drawing_threads(device)) as pool:
        group = Group(network, device=device, pool=pool)
        group.join(islice(waiting, at_once))
        trained: list[Trained] = []
        while group:
            trained += group.epoch()
            group.join(islice(waiting, at_once - len(group)))
            if len(trained) >= min(at_once, _TRAINED) or not group:
                for some in bounded(sorted(trained, key=lambda each: -len(each.whole))):
                    yield list(zip([each.number for each in some], group.errors(some), strict=True))
                trained = []


def bounded(trained: Sequence[Trained]) -> Iterator[Sequence[Trained]]:
    """Yield networks, those of the longest series first, in parts whose errors need no more than some memory."""
    first = 0
    while first < len(trained):
        count = max(_MOST_ERRORS // len(trained[first].whole), 1)
        yield trained[first : first + count]
        first += count


def _drawing_threads(device: torch.device) -> int:
    """Return how many threads draw random numbers: several for a device that would wait for them."""
    import torch

    allowed = int(torch.get_num_threads())
    return allowed if device.type == "cpu" else max(allowed, min(os.cpu_count() or 1, _DRAWING))


def losses_of(network: Network, parameters: list[Tensor], windows: Windows) -> list[float]:
    """Return of each network the mean over batches of their mean squared errors.

    A last, shorter batch counts as much as the others.
    """
    import torch

    found = [(step, _mean_squares(errors, batches)) for step, batches, errors in _errors(network, parameters, windows)]
    numbers = iter(torch.cat([means for _, means in found]).tolist())
    means: list[list[float]] = [[] for _ in windows.counts]
    for step, of_batches in found:
        for row in range(step.series):
            batches = list(islice(numbers, len(of_batches) // step.series))
            own = math.ceil((windows.counts[row] - step.start) / BATCH)
            means[row] += batches[: max(own, 0)]
    return [math.fsum(each) / len(each) for each in means]


def _errors(network: Network, parameters: list[Tensor], windows: Windows) -> Iterator[tuple[Step, Batches, Tensor]]:
    """Yield the errors of all spans in order, some of each series at a time."""
    import torch

    with torch.no_grad():
        for step in windows.steps(_CHUNK if len(windows.counts) == 1 else BATCH):
            batches = windows.in_order(step)
            yield step, batches, network.errors([each[: step.series] for each in parameters], batches, None)


def _mean_squares(errors: Tensor, batches: Batches) -> Tensor:
    """Return the mean squared error of each batch."""
    return (errors.square().mean(2) * batches.shares).sum(1)


def _unpack(vectors: Tensor, shapes: list[torch.Size]) -> list[Tensor]:
    """Return the parts of vectors in their shapes, the vectors in front."""
    import torch

    parts = torch.split(vectors, [shape.numel() for shape in shapes], 1)
    return [part.view(len(vectors), *shape) for part, shape in zip(parts, shapes, strict=True)]


def _to_device(values: FloatArray, device: torch.device) -> Tensor:
    import torch

    # What 32-bit floats cannot hold is refused at the end.
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    return torch.from_numpy(single).to(device)
