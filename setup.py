"""Compile the kernels; everything else about the package is in pyproject.toml."""

import os
import sys
from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup

# Fused multiply-add would round differently from NumPy, whose arithmetic some kernels follow to the last digit.
flags = [] if sys.platform == "win32" else ["-O3", "-g0", "-ffp-contract=off"]
bounds_checks = os.environ.get("DQEVAL_BOUNDS_CHECKS") == "1"

paths = sorted(glob("src/dqeval/kernels/[!_]*.py"))
names = [path.removeprefix("src/").removesuffix(".py").replace("/", ".") for path in paths]
kernels = cythonize(
    [Extension(name, [path], extra_compile_args=flags) for name, path in zip(names, paths, strict=True)],
    build_dir="build",
    compiler_directives={"boundscheck": bounds_checks},
)
for kernel in kernels:
    # Without a C compiler the installation goes on, and the same files run interpreted.
    kernel.optional = True

setup(ext_modules=kernels)
