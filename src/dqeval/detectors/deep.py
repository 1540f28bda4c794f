"""What CNN and TimesNet share: sets in standard units, random draws, training that stops early, errors of windows."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dqeval.core import arguments, validate
from dqeval.core.types import FloatArray
from dqeval.detectors import windows
from dqeval.support import extras

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Variant = Literal["corrected", "published"]

BATCH = 128
_FITTED = 0.8
_PATIENCE = 3
_LEAST_GAIN = 1e-4
# Windows whose errors are computed at once: few enough to stay in a processor's cache, a multiple of BATCH.
_CHUNK = 8 * BATCH


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
    errors : callable
        Parameters, examples of shape (count, span), and the draws for dropout, or None for none of it, to what comes
        out less what should, of shape (count, outputs). The last output belongs to the last point of the span.
    """

    name: str
    span: int
    epochs: int
    rate: Callable[[int], float]
    parameters: Callable[[Draws], list[Tensor]]
    errors: Callable[[list[Tensor], Tensor, Draws | None], Tensor]

    @property
    def least_train_stop(self) -> int:
        """The shortest training part whose last fifth holds an example."""
        return next(stop for stop in range(5 * self.span + 1) if stop - fitted_stop(stop) >= self.span)


class Draws:
    """Random numbers in the order in which the published code takes them from PyTorch, from a generator of their own.

    All are made by the processor, whatever the device: the start and the order of examples are the same on all of them,
    and no generator of the caller's is touched.
    """

    def __init__(self, seed: int) -> None:
        import torch

        self._generator = torch.Generator(device="cpu").manual_seed(seed % 2**64)

    def uniform(self, *shape: int, bound: float) -> Tensor:
        """Return numbers from -bound to bound."""
        import torch

        return torch.empty(shape, dtype=torch.float32, device="cpu").uniform_(-bound, bound, generator=self._generator)

    def normal(self, *shape: int, deviation: float) -> Tensor:
        """Return normally distributed numbers."""
        import torch

        return torch.empty(shape, dtype=torch.float32, device="cpu").normal_(0, deviation, generator=self._generator)

    def weights(self, *shape: int) -> Tensor:
        """Return the weights of a layer, outputs first, as PyTorch starts them."""
        # 1 / sqrt(inputs), written as PyTorch computes it: the last digit counts.
        gain = math.sqrt(2 / (1 + math.sqrt(5) ** 2))
        return self.uniform(*shape, bound=math.sqrt(3) * (gain / math.sqrt(math.prod(shape[1:]))))

    def weights_and_biases(self, *shape: int) -> tuple[Tensor, Tensor]:
        """Return the weights and the biases of a layer as PyTorch starts them."""
        return self.weights(*shape), self.uniform(shape[0], bound=1 / math.sqrt(math.prod(shape[1:])))

    def order(self, count: int) -> Tensor:
        """Return the order of an epoch's examples."""
        import torch

        self.skip()
        generator = torch.Generator(device="cpu").manual_seed(self.skip())
        return torch.randperm(count, generator=generator, device="cpu")

    def skip(self) -> int:
        """Return a 64-bit number, as every pass over a set takes one."""
        import torch

        return int(torch.empty((), dtype=torch.int64, device="cpu").random_(generator=self._generator))

    def dropout_mask(self, like: Tensor, share: float) -> Tensor:
        """Return what to multiply with for dropout: 0, or one by the share that is kept."""
        import torch

        # PyTorch's own draws for dropout are these where it has no faster ones for the processor at hand.
        keep = torch.rand(like.shape, dtype=torch.float64, device="cpu", generator=self._generator) < share
        return keep.to(device=like.device, dtype=like.dtype).div_(share)


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


class Adam:
    """Kingma and Ba's optimizer of one vector, in PyTorch's order of operations.

    PyTorch's own would import its compiler, which takes a second.
    """

    def __init__(self, vector: Tensor) -> None:
        import torch

        self._vector = vector
        self._mean, self._square, self._steps = torch.zeros_like(vector), torch.zeros_like(vector), 0

    def step(self, gradient: Tensor, *, rate: float) -> None:
        """Move the vector against a gradient."""
        import torch

        self._steps += 1
        with torch.no_grad():
            self._mean.lerp_(gradient, 1 - 0.9)
            self._square.mul_(0.999).addcmul_(gradient, gradient, value=1 - 0.999)
            size = (self._square.sqrt() / math.sqrt(1 - 0.999**self._steps)).add_(1e-8)
            self._vector.addcdiv_(self._mean, size, value=-rate / (1 - 0.9**self._steps))


def fitted_stop(train_stop: int) -> int:
    """Return how many points of the training part are fitted; the others tell when to stop."""
    return int(_FITTED * train_stop)


def window_scores(
    network: Network, series: FloatArray, *, train_stop: Any, seed: Any, device: str, variant: Variant
) -> FloatArray:
    """Return the squared error of the last output for every span of a series; zeros if the series is constant."""
    arguments.one_of("variant", variant, ("corrected", "published"))
    stop = validate.train_stop(train_stop, series, least=network.least_train_stop, detector=network.name)
    start = arguments.seed(seed)
    place = _device(device, network.name)
    if series.min() == series.max():
        return np.zeros(len(series) - network.span + 1)
    with _settings(place):
        fitted, held_out, whole = (_spans(part, network.span, place) for part in _sets(series, stop, variant))
        parameters = _train(network, fitted, held_out, Draws(start))
        # One array from the start: small ones between large temporary ones would keep their memory from being reused.
        errors = np.empty(len(whole))
        for start, chunk in zip(range(0, len(whole), _CHUNK), _errors(network, parameters, whole), strict=True):
            errors[start : start + _CHUNK] = chunk[:, -1].cpu()
    return validate.representable(errors**2)


def at_their_ends(scores: FloatArray, length: int) -> FloatArray:
    """Return the scores of all spans of a series at their last points; the first is repeated to the beginning."""
    return np.pad(scores, (length - len(scores), 0), mode="edge")


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

    exact = torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False)
    precise = torch.autocast(device.type, enabled=False)
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.inference_mode(False), torch.enable_grad(), exact, precise:
            yield
    finally:
        torch.set_float32_matmul_precision(precision)


def _sets(series: FloatArray, train_stop: int, variant: Variant) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what is fitted, what tells when to stop, and the whole series, in standard units."""
    stop = fitted_stop(train_stop)
    if variant == "published":
        parts = series[:stop], series[stop:train_stop], series
        return windows.standardise(parts[0]), windows.standardise(parts[1]), windows.standardise(parts[2])
    whole = _in_units_of(series[:stop], series)
    return whole[:stop], whole[stop:train_stop], whole


def _in_units_of(part: FloatArray, series: FloatArray) -> FloatArray:
    """Return a series in standard units of a part of it; in its own where the part is constant."""
    if part.min() == part.max():
        return windows.standardise(series)
    # Values of any size are brought near 1 before they are squared; what is infinite then is refused at the end.
    size = np.abs(part).max()
    near_one = part / size
    with np.errstate(over="ignore"):
        return np.asarray((series / size - near_one.mean()) / near_one.std())


def _spans(values: FloatArray, span: int, device: torch.device) -> Tensor:
    """Return all spans of a series as the rows of a view that needs no memory."""
    import torch

    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    return torch.from_numpy(single).to(device).unfold(0, span, 1)


def _train(network: Network, fitted: Tensor, held_out: Tensor, draws: Draws) -> list[Tensor]:
    """Return the parameters after the last epoch of training."""
    import torch

    starts = network.parameters(draws)
    # One vector holds all parameters, so that a step takes few operations.
    vector = torch.cat([start.flatten() for start in starts]).to(fitted.device).requires_grad_()
    shapes = [start.shape for start in starts]
    adam, stopping = Adam(vector), EarlyStopping()
    for epoch in range(1, network.epochs + 1):
        for rows in torch.split(draws.order(len(fitted)).to(fitted.device), BATCH):
            loss = network.errors(_unpack(vector, shapes), fitted[rows], draws).square().mean()
            adam.step(*torch.autograd.grad(loss, vector), rate=network.rate(epoch))
        draws.skip()
        if stopping.over_after(_loss(network, _unpack(vector, shapes), held_out)):
            break
    return _unpack(vector.detach(), shapes)


def _unpack(vector: Tensor, shapes: list[torch.Size]) -> list[Tensor]:
    """Return the parts of a vector in their shapes."""
    import torch

    parts = torch.split(vector, [shape.numel() for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def _loss(network: Network, parameters: list[Tensor], spans: Tensor) -> float:
    """Return the mean over batches of their mean squared errors: a last, shorter batch counts as much as the others."""
    import torch

    chunks = _errors(network, parameters, spans)
    means = torch.stack([batch.square().mean() for chunk in chunks for batch in torch.split(chunk, BATCH)])
    return math.fsum(means.tolist()) / len(means)


def _errors(network: Network, parameters: list[Tensor], spans: Tensor) -> Iterator[Tensor]:
    """Yield the errors of all spans in order, some at a time."""
    import torch

    with torch.no_grad():
        for chunk in torch.split(spans, _CHUNK):
            yield network.errors(parameters, chunk, None)
