"""TimesNet: how far each point is from what a network makes of its window, folded at the window's periods."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import TYPE_CHECKING

from dqeval.core.registry import detector
from dqeval.core.types import FloatArray, Numbers
from dqeval.detectors import deep, windows
from dqeval.detectors.draws import Draws
from dqeval.detectors.training import Network
from dqeval.detectors.training_examples import Batches

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_WINDOW = 32
_CHANNELS = 8
_HIDDEN = 16
_KERNELS = 1, 3, 5, 7, 9, 11
_REACH = _KERNELS[-1] // 2
_PERIODS = 3
_KEPT = 0.9


def _network(variant: deep.Variant) -> Network:
    """Return the network and how it is trained."""
    return Network(
        name="timesnet",
        span=_WINDOW,
        epochs=50,
        rate=lambda epoch: 1e-4 * 0.5 ** (epoch - 1),
        parameters=_parameters,
        units=(_CHANNELS, _WINDOW),
        kept=_KEPT,
        errors=_errors,
        at_points=deep.at_their_ends if variant == "corrected" else lambda scores, _: windows.centre(scores, _WINDOW),
    )


@detector(label="TimesNet", citation="Wu et al. 2023", extra="deep", many=partial(deep.scores, _network))
def timesnet(
    values: Numbers,
    *,
    train_stop: int,
    seed: int = 0,
    device: str = "auto",
    variant: deep.Variant = "corrected",
) -> FloatArray:
    """Squared error of a network that reconstructs windows of 32 points, folded at their periods, at the last point.

    Parameters
    ----------
    values : array-like of numbers, shape (n,) or (n, 1)
        The values of the series; none may be missing.
    train_stop : int
        The network learns from the points before this one, at least 156, which should hold no anomaly: the first 80 %
        are fitted, the others tell when to stop.
    seed : int, default 0
        For the network's start, the order of examples, and dropout.
    device : str, default "auto"
        Where to compute, by PyTorch's names; "auto" is "cuda" where there is such a device, and else "cpu".
    variant : "corrected" or "published", default "corrected"
        See Notes.

    Returns
    -------
    array of float, shape (n,)
        The higher, the more anomalous. The first 31 points, at which no window ends, get the score of the next one.
        Zeros for a constant series.

    Notes
    -----
    A window in standard units of its own is embedded in 8 channels. For each of the three strongest frequencies of a
    batch of 128 windows it is folded at the period, so that rows are periods and columns are phases, and goes through
    two layers, of 16 and of 8 channels, each the mean of convolutions with kernels of 1, 3, 5, 7, 9 and 11. The three
    results, weighted by the window's own amplitudes, are added to the embedding, and 8 channels made one again. Adam
    with a learning rate of 1e-4 that is halved after every epoch, until the squared error of the held-out points has
    not fallen by 1e-4 for 3 epochs.

    "published" is the code that made the paper's tables. It writes the score of a window's last point at the window's
    middle, 15 points early, and puts each of the fitted points, the held-out points and the whole series in standard
    units of its own, where "corrected" uses the mean and the deviation of the fitted points for all.

    The same values, parameters and seed give the same scores on the same machine, whatever ran before.

    Examples
    --------
    >>> values = np.sin(2 * np.pi * np.arange(600) / 20)
    >>> values[500:510] += 2
    >>> scores = dqeval.detectors.timesnet(values, train_stop=400, device="cpu")
    >>> 500 <= scores.argmax() < 510
    np.True_
    """
    return deep.scores_of_one(_network, values, train_stop=train_stop, seed=seed, device=device, variant=variant)


def _parameters(draws: Draws) -> list[Tensor]:
    """Return the kernels and biases of the two layers, the embedding, and the scale, offset and weights behind."""
    import torch

    layers = [*_layer(draws, _CHANNELS, _HIDDEN), *_layer(draws, _HIDDEN, _CHANNELS)]
    # Numbers that the published code draws and does not use come before those that it does: the order must be kept.
    draws.weights(_CHANNELS, 1, 3)
    embedding = draws.normal(_CHANNELS, 1, 3, deviation=math.sqrt(2) / math.sqrt(3))
    draws.weights(_CHANNELS, 5)
    scale, offset = (make(_CHANNELS, dtype=torch.float32, device="cpu") for make in (torch.ones, torch.zeros))
    return [*layers, embedding, scale, offset, *draws.weights_and_biases(1, _CHANNELS)]


def _layer(draws: Draws, inputs: int, outputs: int) -> list[Tensor]:
    """Return the kernels, and then the biases, of the convolutions of one layer."""
    import torch

    for size in _KERNELS:
        draws.weights_and_biases(outputs, inputs, size, size)
    kernels = [
        draws.normal(outputs, inputs, size, size, deviation=math.sqrt(2) / math.sqrt(outputs * size**2))
        for size in _KERNELS
    ]
    return kernels + [torch.zeros(outputs, dtype=torch.float32, device="cpu") for _ in _KERNELS]


def _errors(parameters: list[Tensor], batches: Batches, dropout: Tensor | None) -> Tensor:
    """Return the reconstruction of each window less the window."""
    import torch
    from torch.nn import functional

    *layers, embedding, scale, offset, weights, bias = parameters
    half = len(layers) // 2
    spans = batches.spans
    level = spans.mean(2, keepdim=True)
    deviation = (spans.var(2, keepdim=True, correction=0) + 1e-5).sqrt()
    embedded = _embed((spans - level) / deviation, embedding, dropout)
    amplitudes = torch.fft.rfft(embedded, dim=2).abs().mean(3)
    strongest = _strongest(amplitudes, batches.shares)
    folded = _fold(embedded, amplitudes, strongest, [*_fuse(layers[:half]), *_fuse(layers[half:])]) + embedded
    normal = functional.layer_norm(folded, (_CHANNELS,)) * scale[:, None, None] + offset[:, None, None]
    return ((normal * weights[:, None]).sum(3) + bias[:, None]) * deviation + level - spans


def _embed(normal: Tensor, embedding: Tensor, dropout: Tensor | None) -> Tensor:
    """Return windows in channels, shape (batches, rows, time, channels): a convolution round each, plus the place."""
    import torch

    around = torch.cat([normal[:, :, -1:], normal, normal[:, :, :1]], 2).unfold(2, 3, 1)
    weights = embedding[:, :, 0].transpose(1, 2).expand(len(around), -1, -1)
    embedded = torch.bmm(around.flatten(1, 2), weights).view(*normal.shape, _CHANNELS) + _places(normal.device)
    if dropout is not None:
        # The published code draws channel by channel, because there the channels come before the time in memory.
        embedded = embedded * dropout.transpose(2, 3)
    return embedded


@cache
def _places(device: torch.device) -> Tensor:
    """Return sines and cosines of the time in a window, shape (time, channels)."""
    import torch

    time = torch.arange(_WINDOW, dtype=torch.float32, device="cpu")[:, None]
    even = torch.arange(0, _CHANNELS, 2, dtype=torch.float32, device="cpu")
    slowness = torch.exp(even * (-math.log(10_000) / _CHANNELS))
    return torch.stack([(time * slowness).sin(), (time * slowness).cos()], 2).flatten(1).to(device)


def _strongest(amplitudes: Tensor, shares: Tensor) -> Tensor:
    """Return the frequencies of each batch whose amplitudes have the highest means."""
    means = (amplitudes * shares[:, :, None]).sum(1)
    # The constant, frequency 0, does not count.
    return means[:, 1:].topk(_PERIODS).indices + 1


def _fold(embedded: Tensor, amplitudes: Tensor, frequencies: Tensor, layers: list[Tensor]) -> Tensor:
    """Return windows after the two layers at each frequency of their batch, weighted by their amplitudes there."""
    import torch

    users = _users(frequencies)
    weights = amplitudes.gather(2, frequencies[:, None].expand(-1, amplitudes.shape[1], -1)).softmax(2)
    # Two frequencies of a batch may have the same period: then their weights are added.
    periods = torch.tensor(list(users), device=embedded.device)
    is_period = (_WINDOW // frequencies)[:, :, None] == periods
    weights_by_period = torch.bmm(weights, is_period.to(weights.dtype)).unbind(2)
    members = torch.tensor([number for numbers in users.values() for number in numbers], device=embedded.device)
    total = torch.zeros_like(embedded)
    for period, own, weight in zip(users, members.split([*map(len, users.values())]), weights_by_period, strict=True):
        # Most often a batch is alone, and copies of all there is would take a while.
        if len(own) == len(embedded):
            total = total + _branch(embedded, period, layers) * weight[:, :, None, None]
            continue
        # A network of all batches stays one.
        parts = [each if len(each) == 1 else each.index_select(0, own) for each in layers]
        branch = _branch(embedded.index_select(0, own), period, parts)
        total = total.index_add(0, own, branch * weight.index_select(0, own)[:, :, None, None])
    return total


def _users(frequencies: Tensor) -> dict[int, list[int]]:
    """Return the periods that occur, and which batches have each of them."""
    users: dict[int, list[int]] = {}
    for number, own in enumerate((_WINDOW // frequencies).tolist()):
        for period in dict.fromkeys(own):
            users.setdefault(period, []).append(number)
    return users


def _branch(embedded: Tensor, period: int, layers: list[Tensor]) -> Tensor:
    """Return windows after the two layers, folded so that a row is a period.

    A window has so few places that a convolution is best made as one product, with the kernel's cells for all pairs of
    places as a matrix.
    """
    from torch.nn import functional

    kernel1, bias1, kernel2, bias2 = layers
    rows = -(-_WINDOW // period)
    places = rows * period
    # The first layer gives its places backwards. To the second, with its kernel turned round, they are in order.
    first = _pairs(kernel1, rows, period).permute(0, 5, 6, 2, 1, 3, 4).reshape(len(kernel1), places, _CHANNELS, -1)
    # Behind the window there are only zeros.
    first = first[:, :_WINDOW].flatten(1, 2)
    hidden = deep.linear(embedded.flatten(2), first, bias1[:, :, None].expand(-1, -1, places).flatten(1))
    second = _pairs(kernel2.flip(3, 4), rows, period).permute(0, 2, 3, 4, 5, 6, 1)
    second = second.reshape(len(kernel2), _HIDDEN * places, -1)[:, :, : _WINDOW * _CHANNELS]
    return deep.linear(functional.gelu(hidden), second, bias2.repeat(1, _WINDOW)).view(embedded.shape)


def _pairs(kernel: Tensor, rows: int, period: int) -> Tensor:
    """Return a view of a kernel's cells, shape (networks, outputs, inputs, rows, period, rows, period).

    At [..., i, j, k, l] is the cell that is i + k - (rows - 1) below and j + l - (period - 1) right of the centre, or 0
    where there is none: for an output at row rows - 1 - i and column period - 1 - j, that of the input at row k and
    column l.
    """
    from torch.nn import functional

    across, down = period - 1 - _REACH, rows - 1 - _REACH
    # Where they are negative, cells are cut off.
    return functional.pad(kernel, [across, across, down, down]).unfold(3, rows, 1).unfold(4, period, 1)


def _fuse(layer: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Return the kernel and bias, one of each network, whose convolution is the mean of those with a layer's."""
    import torch
    from torch.nn import functional

    kernels, biases = layer[: len(_KERNELS)], layer[len(_KERNELS) :]
    margins = [_REACH - kernel.shape[-1] // 2 for kernel in kernels]
    padded = [functional.pad(kernel, [margin] * 4) for kernel, margin in zip(kernels, margins, strict=True)]
    return torch.stack(padded).mean(0), torch.stack(biases).mean(0)
