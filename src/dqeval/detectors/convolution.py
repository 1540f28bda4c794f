"""CNN: how far each point is from what a small convolutional network forecasts from the 50 before it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dqeval.core import validate
from dqeval.core.registry import detector
from dqeval.core.types import FloatArray, Numbers
from dqeval.detectors import deep

if TYPE_CHECKING:
    from torch import Tensor

_WINDOW = 50
_CHANNELS = 32, 40
_KERNEL = 3
_KEPT = 0.75


@detector(label="CNN", citation="Munir et al. 2019", extra="deep")
def cnn(
    values: Numbers,
    *,
    train_stop: int,
    seed: int = 0,
    device: str = "auto",
    variant: deep.Variant = "corrected",
) -> FloatArray:
    """Squared error of a convolutional network that forecasts each point from the 50 before it.

    Parameters
    ----------
    values : array-like of numbers, shape (n,) or (n, 1)
        The values of the series; none may be missing.
    train_stop : int
        The network learns from the points before this one, at least 251, which should hold no anomaly: the first 80 %
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
        The higher, the more anomalous. The first 50 points, which have no forecast, get the score of the next one.
        Zeros for a constant series.

    Notes
    -----
    Two convolutions with 32 and 40 channels and kernels of 3, each with ReLU and a maximum pool of 2; the average and
    the maximum of each channel over time; a hidden layer of 40 with dropout of 0.25. Adam on batches of 128, with a
    learning rate of 8e-4 that falls by a quarter every 5 epochs, until the squared error of the held-out points has not
    fallen by 1e-4 for 3 epochs, or for 49 epochs.

    "published" is the code that made the paper's tables. It takes the average twice in place of average and maximum,
    and puts each of the fitted points, the held-out points and the whole series in standard units of its own, where
    "corrected" uses the mean and the deviation of the fitted points for all.

    The weights are those of the last epoch, not of the best: where the held-out points differ in level from the fitted
    ones, the best epoch is one of the first.

    The same values, parameters and seed give the same scores on the same machine, whatever ran before; other devices,
    processors and versions of PyTorch round otherwise, and training amplifies that.

    Examples
    --------
    >>> values = np.sin(2 * np.pi * np.arange(600) / 20)
    >>> values[500:510] += 2
    >>> scores = dqeval.detectors.cnn(values, train_stop=400, device="cpu")
    >>> 500 <= scores.argmax() < 510
    np.True_
    """
    series = validate.values(values)
    network = deep.Network(
        name="cnn",
        span=_WINDOW + 1,
        epochs=49,
        rate=lambda epoch: 8e-4 * 0.75 ** ((epoch - 1) // 5),
        parameters=_parameters,
        errors=partial(_errors, variant=variant),
    )
    scores = deep.window_scores(network, series, train_stop=train_stop, seed=seed, device=device, variant=variant)
    return deep.at_their_ends(scores, len(series))


def _parameters(draws: deep.Draws) -> list[Tensor]:
    """Return the weights and biases of the two convolutions and the two layers behind them."""
    first, second = _CHANNELS
    shapes = (first, 1, _KERNEL), (second, first, _KERNEL), (second, 2 * second), (1, second)
    return [parameter for shape in shapes for parameter in draws.weights_and_biases(*shape)]


def _errors(parameters: list[Tensor], spans: Tensor, draws: deep.Draws | None, *, variant: deep.Variant) -> Tensor:
    """Return the forecast of the last point of each span from the others, less the point."""
    import torch
    from torch.nn import functional

    kernel1, bias1, kernel2, bias2, weights1, offsets1, weights2, offsets2 = parameters
    # A convolution of a single channel is faster as a product, and the next one with the channels behind the time.
    patches = spans[:, :-1].unfold(1, _KERNEL, 1)
    maps = torch.addmm(bias1, patches.reshape(-1, _KERNEL), kernel1[:, 0].t())
    maps = _pool(maps.view(len(spans), 1, -1, _CHANNELS[0]).permute(0, 3, 1, 2))
    kernel2 = kernel2.unsqueeze(2).contiguous(memory_format=torch.channels_last)
    maps = _pool(functional.conv2d(maps, kernel2, bias2))
    average = maps.mean((2, 3))
    # Differs from the published code's intent, but not from the code: its maximum pool is a second average.
    other = average if variant == "published" else maps.amax((2, 3))
    hidden = functional.linear(torch.cat([average, other], 1), weights1, offsets1).relu()
    if draws is not None:
        hidden = hidden * draws.dropout_mask(hidden, _KEPT)
    return functional.linear(hidden, weights2, offsets2) - spans[:, -1:]


def _pool(maps: Tensor) -> Tensor:
    """Return the maximum of each pair along time, or 0 where that is below."""
    from torch.nn import functional

    return functional.max_pool2d(maps, (1, 2)).relu()
