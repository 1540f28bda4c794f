"""How far orders agree."""

from __future__ import annotations

import numpy as np

from dqeval.core.types import FloatArray


def agreement_of(cube: FloatArray) -> FloatArray:
    """Return the mean over the units of Kendall's tau (b) between the orders that each two metrics give.

    Parameters
    ----------
    cube : array of float, shape (n_units, n_ordered, n_metrics)

    Returns
    -------
    array of float, shape (n_metrics, n_metrics)
        NaN where a metric tells nothing apart.

    Examples
    --------
    >>> agreement_of(np.array([[[0.9, 0.8], [0.5, 0.1], [0.4, 0.2]]])).round(2)
    array([[1.  , 0.33],
           [0.33, 1.  ]])
    """
    signs = np.sign(cube[:, :, None, :] - cube[:, None, :, :]).reshape(len(cube), -1, cube.shape[2])
    both = np.einsum("npa,npb->nab", signs, signs)
    one = np.einsum("npa,npa->na", signs, signs)
    norm = np.sqrt(one[:, :, None] * one[:, None, :])
    tau = np.divide(both, norm, out=np.full_like(both, np.nan), where=norm > 0)
    counted_units = np.isfinite(tau).sum(axis=0)
    total = np.nansum(tau, axis=0)
    return np.asarray(np.divide(total, counted_units, out=np.full_like(total, np.nan), where=counted_units > 0))
