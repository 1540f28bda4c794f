"""Compile the kernels; everything else about the package is in pyproject.toml."""

import os
import sys
from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup

# Fused multiply-add would round differently from NumPy, whose arithmetic some kernels follow to the last digit.
flags = [] if sys.platform == "win32" else ["-O3", "-ffp-contract=off"]
bounds_checks = os.environ.get("DQEVAL_BOUNDS_CHECKS") == "1"

extensions = [
    # Optional: without a C compiler the installation goes on, and the same files run interpreted.
    Extension(path[len("src/") : -len(".py")].replace("/", "."), [path], optional=True, extra_compile_args=flags)
    for path in sorted(glob("src/dqeval/kernels/[!_]*.py"))
]
setup(ext_modules=cythonize(extensions, build_dir="build", compiler_directives={"boundscheck": bounds_checks}))
