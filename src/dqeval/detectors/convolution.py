"""CNN: how far each point is from what a small convolutional network forecasts from the 50 before it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dqeval.core.registry import detector
from dqeval.core.types import FloatArray, Numbers
from dqeval.detectors import deep
from dqeval.detectors.draws import Draws
from dqeval.detectors.training import Network
from dqeval.detectors.training_examples import Batches

if TYPE_CHECKING:
    from torch import Tensor

_WINDOW = 50
_CHANNELS = 32, 40
_KERNEL = 3
_KEPT = 0.75


def _network(variant: deep.Variant) -> Network:
    """Return the network and how it is trained."""
    return Network(
        name="cnn",
        span=_WINDOW + 1,
        epochs=49,
        rate=lambda epoch: 8e-4 * 0.75 ** ((epoch - 1) // 5),
        parameters=_parameters,
        units=_CHANNELS[1:],
        kept=_KEPT,
        errors=partial(_errors, variant=variant),
        at_points=deep.at_their_ends,
    )


@detector(label="CNN", citation="Munir et al. 2019", extra="deep", many=partial(deep.scores, _network))
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
    return deep.scores_of_one(_network, values, train_stop=train_stop, seed=seed, device=device, variant=variant)


def _parameters(draws: Draws) -> list[Tensor]:
    """Return the weights and biases of the two convolutions and the two layers behind them."""
    first, second = _CHANNELS
    shapes = (first, 1, _KERNEL), (second, first, _KERNEL), (second, 2 * second), (1, second)
    return [parameter for shape in shapes for parameter in draws.weights_and_biases(*shape)]


def _errors(parameters: list[Tensor], batches: Batches, dropout: Tensor | None, *, variant: deep.Variant) -> Tensor:
    """Return the forecast of the last point of each span from the others, less the point."""
    import torch

    kernel1, bias1, kernel2, bias2, weights1, offsets1, weights2, offsets2 = parameters
    maps = _pool(_convolve(batches.spans[:, :, :-1].unfold(2, _KERNEL, 1), kernel1, bias1))
    time = maps.shape[2] - _KERNEL + 1
    patches = torch.cat([maps[:, :, start : start + time] for start in range(_KERNEL)], 3)
    maps = _pool(_convolve(patches, kernel2, bias2))
    average = maps.mean(2)
    # Differs from the published code's intent, but not from the code: its maximum pool is a second average.
    other = average if variant == "published" else maps.amax(2)
    hidden = deep.linear(torch.cat([average, other], 2), weights1.transpose(1, 2), offsets1).relu()
    if dropout is not None:
        hidden = hidden * dropout
    return deep.linear(hidden, weights2.transpose(1, 2), offsets2) - batches.spans[:, :, -1:]


def _convolve(patches: Tensor, kernel: Tensor, bias: Tensor) -> Tensor:
    """Return convolutions, shape (batches, rows, time, channels), as products of patches and kernels."""
    weights = kernel.permute(0, 3, 2, 1).flatten(1, 2)
    return deep.linear(patches.flatten(1, 2), weights, bias).view(*patches.shape[:3], -1)


def _pool(maps: Tensor) -> Tensor:
    """Return the maximum of each pair along time, or 0 where that is below."""
    from torch.nn import functional

    flat = maps.flatten(0, 1).unsqueeze(1).permute(0, 3, 1, 2)
    pooled = functional.max_pool2d(flat, (1, 2)).relu()
    return pooled.permute(0, 2, 3, 1).reshape(*maps.shape[:2], -1, maps.shape[3])
