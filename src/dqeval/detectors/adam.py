"""Adam for many vectors at once, of which each has a rate and a number of steps of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor


class Adam:
    """Kingma and Ba's optimizer of vectors, one per row, in PyTorch's order of operations.

    PyTorch's own would import its compiler, which takes a second.
    """

    def __init__(self, vectors: Tensor) -> None:
        self._state, self._steps = _at_the_start(vectors), np.zeros(len(vectors), dtype=np.int64)

    @property
    def vectors(self) -> Tensor:
        """The vectors, one per row."""
        return self._state[0]

    def plan(self, rates: Sequence[float], steps: Sequence[int]) -> Tensor:
        """Return what the next steps need, as many of each vector as given, shape (most steps, 2, vectors, 1).

        It goes to the device in one piece, because each transfer makes the device wait.
        """
        import torch

        counts = self._steps + np.arange(1, max(steps) + 1)[:, None]
        planned = np.stack([np.asarray(rates) / (1 - 0.9**counts), np.sqrt(1 - 0.999**counts)], axis=1)
        self._steps = self._steps + np.asarray(steps)
        return torch.from_numpy(planned[..., None].astype(np.float32)).to(self._state.device)

    def step(self, gradients: Tensor, planned: Tensor) -> None:
        """Move the first vectors, as many as there are gradients, against these, by one step of a plan."""
        import torch

        rate, scale = planned[:, : len(gradients)]
        with torch.no_grad():
            vectors, means, squares = self._state[:, : len(gradients)]
            means.lerp_(gradients, 1 - 0.9)
            squares.mul_(0.999).addcmul_(gradients, gradients, value=1 - 0.999)
            size = (squares.sqrt() / scale).add_(1e-8)
            vectors.sub_((means * rate).div_(size))

    def add(self, vectors: Tensor) -> None:
        """Take more vectors, behind the others."""
        import torch

        self._state = torch.cat([self._state, _at_the_start(vectors)], 1)
        self._steps = np.concatenate([self._steps, np.zeros(len(vectors), dtype=np.int64)])

    def keep(self, rows: list[int]) -> None:
        """Drop all vectors but these."""
        self._state, self._steps = self._state[:, rows], self._steps[rows]


def _at_the_start(vectors: Tensor) -> Tensor:
    """Return vectors with the means of their gradients, and of the squares of these: 0 before the first step."""
    import torch

    return torch.stack([vectors, torch.zeros_like(vectors), torch.zeros_like(vectors)])
