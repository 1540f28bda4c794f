"""The form of a kernel with the widest registers that this processor has."""

from __future__ import annotations

import importlib
from types import ModuleType


def widest(kernel: ModuleType) -> ModuleType:
    """Return the same kernel compiled for AVX2, where it is there and runs; else the kernel itself.

    Both give the same numbers.
    """
    if not kernel.compiled or not has_avx2():
        return kernel
    try:
        return importlib.import_module(f"{kernel.__name__}_avx2")
    except ImportError:  # another platform, or a compiler that could not
        return kernel


def has_avx2() -> bool:
    """Return whether the processor has AVX2, by what NumPy has found out; not, if it does not say."""
    for package in ("numpy._core", "numpy.core"):  # since NumPy 2, and before
        try:
            features = importlib.import_module(f"{package}._multiarray_umath").__cpu_features__
        except (ImportError, AttributeError):
            continue
        return bool(features.get("AVX2", False))
    return False
