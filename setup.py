"""Compile the kernels; everything else about the package is in pyproject.toml."""

import os
import platform
import shutil
import sys
from glob import glob
from pathlib import Path
from sysconfig import get_config_var

from Cython import __version__ as cython_version
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Fused multiply-add would round differently from NumPy, whose arithmetic some kernels follow to the last digit.
bounds_checks = os.environ.get("DQEVAL_BOUNDS_CHECKS") == "1"  # for tests, which need them soon rather than fast
flags = [] if sys.platform == "win32" else ["-O1" if bounds_checks else "-O3", "-g0", "-ffp-contract=off"]

# One build serves every CPython from 3.11 on. Where there is no stable ABI, the kernels are compiled for one Python.
stable = sys.implementation.name == "cpython" and not get_config_var("Py_GIL_DISABLED")
macros = [("Py_LIMITED_API", "0x030B0000")] if stable else []

# What kernels do with arrays is compiled once, not in each of them, which would take three times as long.
SHARED = "dqeval.kernels._shared"

# Whose loops gain by wider registers, or by an instruction that counts bits. They give the same numbers, since nothing
# is fused and no order changed.
GAIN_BY_AVX2 = ("dqe", "neighbours")


class Build(build_ext):
    """Compile every kernel anew, so that nothing of an earlier build is installed, also where compiling fails."""

    def run(self):
        """Remove what was compiled before, for whichever Python, where the new files are to be, and build."""
        self.force = True
        self.parallel = self.parallel or os.cpu_count()
        for place in [self.build_lib, "src"] if self.inplace else [self.build_lib]:
            remove_compiled(place)
        super().run()

    def build_extensions(self):
        """Build, and leave no kernel that lacks what it shares with the others: it could not be imported."""
        super().build_extensions()
        if not Path(self.get_ext_fullpath(SHARED)).exists():
            remove_compiled(self.build_lib)


def remove_compiled(place):
    """Remove the compiled kernels of a package in a folder; their sources remain, and run interpreted."""
    for suffix in ("so", "pyd"):
        for path in Path(place, "dqeval", "kernels").glob(f"*.{suffix}"):
            path.unlink()


def extension(name, source, *more_flags):
    """Return what setuptools needs to know of one compiled module."""
    arguments = {"extra_compile_args": [*flags, *more_flags], "define_macros": macros, "py_limited_api": stable}
    return Extension(name, [source], **arguments)


def with_avx2(path):
    """Return the same kernel once more, for processors with AVX2; `dqeval.kernels._widest` finds it."""
    name = f"{Path(path).stem}_avx2"
    source = Path("build", "avx2", f"{name}.py")
    source.parent.mkdir(parents=True, exist_ok=True)
    if not source.exists() or source.read_bytes() != Path(path).read_bytes():
        shutil.copy(path, source)
    return extension(f"dqeval.kernels.{name}", source.as_posix(), "-mavx2")


# Apart, because Cython takes by time what is current, and would take the one for the other.
code = f"build/{'checked' if bounds_checks else 'unchecked'}/{cython_version}"
paths = sorted(Path(path).as_posix() for path in glob("src/dqeval/kernels/[!_]*.py"))
names = [path.removeprefix("src/").removesuffix(".py").replace("/", ".") for path in paths]
extensions = [extension(name, path) for name, path in zip(names, paths, strict=True)]
if sys.platform == "linux" and platform.machine() == "x86_64":
    extensions += [with_avx2(path) for path in paths if Path(path).stem in GAIN_BY_AVX2]
extensions.append(extension(SHARED, "build/_shared.c"))
kernels = cythonize(
    extensions,
    build_dir=code,
    compiler_directives={"boundscheck": bounds_checks},
    shared_utility_qualified_name=SHARED,
)
for kernel in kernels:
    # Without a C compiler the installation goes on, and the same files run interpreted.
    kernel.optional = True

setup(
    ext_modules=kernels,
    cmdclass={"build_ext": Build},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if stable else {},
)
