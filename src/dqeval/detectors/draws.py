"""The random numbers of CNN and TimesNet: the start, the order of examples, and dropout."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dqeval.core.types import BoolArray

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Piece:
    """Some examples of an epoch in the order in which they are learnt from, and which of their units dropout keeps."""

    order: NDArray[np.int64]
    kept: BoolArray


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

    def pieces(self, examples: int, units: tuple[int, ...], *, kept: float, size: int) -> Iterator[Piece]:
        """Yield the examples of one epoch after the other, so many at a time; there is no end.

        ``units`` is the shape of those of an example that dropout keeps with the probability ``kept``.
        """
        import torch

        while True:
            for order in torch.split(self._order(examples), size):
                yield Piece(order.numpy(), self._kept(len(order), *units, share=kept))
            # The pass over the held-out examples, which comes next, takes a number too.
            self._skip()

    def _order(self, count: int) -> Tensor:
        """Return the order of an epoch's examples."""
        import torch

        self._skip()
        generator = torch.Generator(device="cpu").manual_seed(self._skip())
        return torch.randperm(count, generator=generator, device="cpu")

    def _skip(self) -> int:
        """Return a 64-bit number, as every pass over a set takes one."""
        import torch

        return int(torch.empty((), dtype=torch.int64, device="cpu").random_(generator=self._generator))

    def _kept(self, *shape: int, share: float) -> BoolArray:
        """Return which units dropout keeps; several batches at once are the batches one after the other."""
        import torch

        # PyTorch's own draws for dropout are these where it has no faster ones for the processor at hand.
        drawn = torch.rand(shape, dtype=torch.float64, device="cpu", generator=self._generator)
        # NumPy compares in the thread that calls it, while others draw for other series.
        return np.asarray(drawn.numpy() < share)
