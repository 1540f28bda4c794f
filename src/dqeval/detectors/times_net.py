"""TimesNet: how far each point is from what a network makes of its window, folded at the window's periods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dqeval.core import validate
from dqeval.core.registry import detector
from dqeval.core.types import FloatArray, Numbers
from dqeval.detectors import deep, windows

if TYPE_CHECKING:
    from torch import Tensor

_WINDOW = 32
_CHANNELS = 8
_HIDDEN = 16
_KERNELS = 1, 3, 5, 7, 9, 11
_REACH = _KERNELS[-1] // 2
_PERIODS = 3
_KEPT = 0.9


@detector(label="TimesNet", citation="Wu et al. 2023", extra="deep")
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
    series = validate.values(values)
    network = deep.Network(
        name="timesnet",
        span=_WINDOW,
        epochs=50,
        rate=lambda epoch: 1e-4 * 0.5 ** (epoch - 1),
        parameters=_parameters,
        errors=_errors,
    )
    scores = deep.window_scores(network, series, train_stop=train_stop, seed=seed, device=device, variant=variant)
    if variant == "published":
        return windows.centre(scores, _WINDOW)
    return deep.at_their_ends(scores, len(series))


def _parameters(draws: deep.Draws) -> list[Tensor]:
    """Return the kernels and biases of the two layers, the embedding, and the scale, offset and weights behind."""
    import torch

    layers = [*_layer(draws, _CHANNELS, _HIDDEN), *_layer(draws, _HIDDEN, _CHANNELS)]
    # Numbers that the published code draws and does not use come before those that it does: the order must be kept.
    draws.weights(_CHANNELS, 1, 3)
    embedding = draws.normal(_CHANNELS, 1, 3, deviation=math.sqrt(2) / math.sqrt(3))
    draws.weights(_CHANNELS, 5)
    scale, offset = (make(_CHANNELS, dtype=torch.float32, device="cpu") for make in (torch.ones, torch.zeros))
    return [*layers, embedding, scale, offset, *draws.weights_and_biases(1, _CHANNELS)]


def _layer(draws: deep.Draws, inputs: int, outputs: int) -> list[Tensor]:
    """Return the kernels, and then the biases, of the convolutions of one layer."""
    import torch

    for size in _KERNELS:
        draws.weights_and_biases(outputs, inputs, size, size)
    kernels = [
        draws.normal(outputs, inputs, size, size, deviation=math.sqrt(2) / math.sqrt(outputs * size**2))
        for size in _KERNELS
    ]
    return kernels + [torch.zeros(outputs, dtype=torch.float32, device="cpu") for _ in _KERNELS]


def _errors(parameters: list[Tensor], spans: Tensor, draws: deep.Draws | None) -> Tensor:
    """Return the reconstruction of each window less the window."""
    import torch
    from torch.nn import functional

    *layers, embedding, scale, offset, weights, bias = parameters
    half = len(layers) // 2
    level = spans.mean(1, keepdim=True)
    deviation = (spans.var(1, keepdim=True, correction=0) + 1e-5).sqrt()
    embedded = _embed((spans - level) / deviation, embedding, draws)
    amplitudes = torch.fft.rfft(embedded, dim=1).abs().mean(2)
    folded = _by_frequencies(embedded, amplitudes, [_fuse(layers[:half]), _fuse(layers[half:])]) + embedded
    normal = functional.layer_norm(folded, (_CHANNELS,), scale, offset)
    return functional.linear(normal, weights, bias).squeeze(2) * deviation + level - spans


def _embed(normal: Tensor, embedding: Tensor, draws: deep.Draws | None) -> Tensor:
    """Return windows in channels, shape (count, time, channels): a convolution round the window, plus the place."""
    import torch
    from torch.nn import functional

    around = torch.cat([normal[:, -1:], normal, normal[:, :1]], 1)
    embedded = functional.linear(around.unfold(1, 3, 1), embedding[:, 0]) + _places().to(normal.device)
    if draws is not None:
        # The published code draws channel by channel, because there the channels come before the time in memory.
        embedded = embedded * draws.dropout_mask(embedded.transpose(1, 2), _KEPT).transpose(1, 2)
    return embedded


def _places() -> Tensor:
    """Return sines and cosines of the time in a window, shape (time, channels)."""
    import torch

    time = torch.arange(_WINDOW, dtype=torch.float32, device="cpu")[:, None]
    even = torch.arange(0, _CHANNELS, 2, dtype=torch.float32, device="cpu")
    slowness = torch.exp(even * (-math.log(10_000) / _CHANNELS))
    return torch.stack([(time * slowness).sin(), (time * slowness).cos()], 2).flatten(1)


def _by_frequencies(embedded: Tensor, amplitudes: Tensor, layers: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Return windows after the two layers, each batch folded at its own strongest frequencies."""
    import torch

    batches = list(zip(torch.split(embedded, deep.BATCH), torch.split(amplitudes, deep.BATCH), strict=True))
    means = torch.stack([amplitude.mean(0) for _, amplitude in batches])
    # The constant, frequency 0, does not count.
    strongest = [tuple(row) for row in (means[:, 1:].topk(_PERIODS).indices + 1).tolist()]
    done: dict[int, Tensor] = {}
    for frequencies in dict.fromkeys(strongest):
        # Batches that agree go through the layers together: few triples occur in a series.
        members = [number for number, own in enumerate(strongest) if own == frequencies]
        parts = [torch.cat(parts) for parts in zip(*(batches[number] for number in members), strict=True)]
        together = _fold(parts[0], parts[1], frequencies, layers)
        sizes = [len(batches[number][0]) for number in members]
        done.update(zip(members, torch.split(together, sizes), strict=True))
    return torch.cat([done[number] for number in range(len(batches))])


def _fold(
    embedded: Tensor, amplitudes: Tensor, frequencies: tuple[int, ...], layers: list[tuple[Tensor, Tensor]]
) -> Tensor:
    """Return windows after the two layers at each frequency, weighted by their amplitudes there."""
    import torch

    weights = amplitudes[:, list(frequencies)].softmax(1)
    branches = [_branch(embedded, _WINDOW // frequency, layers) for frequency in frequencies]
    return (torch.stack(branches, 3) * weights[:, None, None]).sum(3)


def _branch(embedded: Tensor, period: int, layers: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Return windows after the two layers, folded so that a row is a period."""
    from torch.nn import functional

    rows = -(-_WINDOW // period)
    padded = functional.pad(embedded, (0, 0, 0, rows * period - _WINDOW))
    maps = padded.view(len(embedded), rows, period, _CHANNELS).permute(0, 3, 1, 2)
    (kernel1, bias1), (kernel2, bias2) = layers
    maps = _convolve(functional.gelu(_convolve(maps, kernel1, bias1)), kernel2, bias2)
    return maps.permute(0, 2, 3, 1).flatten(1, 2)[:, :_WINDOW]


def _fuse(layer: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Return the one kernel and bias whose convolution is the mean of the convolutions with a layer's."""
    import torch
    from torch.nn import functional

    kernels, biases = layer[: len(_KERNELS)], layer[len(_KERNELS) :]
    margins = [_REACH - kernel.shape[-1] // 2 for kernel in kernels]
    padded = [functional.pad(kernel, [margin] * 4) for kernel, margin in zip(kernels, margins, strict=True)]
    return torch.stack(padded).mean(0), torch.stack(biases).mean(0)


def _convolve(maps: Tensor, kernel: Tensor, bias: Tensor) -> Tensor:
    """Return the convolution, as large as the maps, without the kernel's cells that would meet nothing but zeros."""
    import torch
    from torch.nn import functional

    down, across = (min(_REACH, side - 1) for side in maps.shape[2:])
    middle = kernel[:, :, _REACH - down : _REACH + down + 1, _REACH - across : _REACH + across + 1]
    # With the channels behind the places this is up to twice as fast.
    return functional.conv2d(maps, middle.contiguous(memory_format=torch.channels_last), bias, padding=(down, across))
