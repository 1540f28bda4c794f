"""Compile the kernels; everything else about the package is in pyproject.toml."""

import os
import platform
import shutil
import sys
from glob import glob
from pathlib import Path
from sysconfig import get_config_var

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Fused multiply-add would round differently from NumPy, whose arithmetic some kernels follow to the last digit.
bounds_checks = os.environ.get("DQEVAL_BOUNDS_CHECKS") == "1"  # for tests, which need them soon rather than fast
flags = [] if sys.platform == "win32" else ["-O1" if bounds_checks else "-O3", "-g0", "-ffp-contract=off"]

# Whose loops gain by wider registers. They give the same numbers, since nothing is fused and no order changed.
GAIN_BY_AVX2 = ("neighbours",)


class Build(build_ext):
    """Compile every kernel anew, so that nothing of an earlier build is installed, also where compiling fails."""

    def run(self):
        """Remove what was compiled before for this Python, where the new files are to be, and build."""
        self.force = True
        self.parallel = self.parallel or os.cpu_count()
        places = [self.build_lib, "src"] if self.inplace else [self.build_lib]
        for place in places:
            for stale in Path(place, "dqeval", "kernels").glob(f"*{get_config_var('EXT_SUFFIX')}"):
                stale.unlink()
        super().run()


def with_avx2(path):
    """Return the same kernel once more, for processors with AVX2; `dqeval.kernels._widest` finds it."""
    name = f"{Path(path).stem}_avx2"
    source = Path("build", "avx2", f"{name}.py")
    source.parent.mkdir(parents=True, exist_ok=True)
    if not source.exists() or source.read_bytes() != Path(path).read_bytes():
        shutil.copy(path, source)
    return Extension(f"dqeval.kernels.{name}", [source.as_posix()], extra_compile_args=[*flags, "-mavx2"])


paths = sorted(glob("src/dqeval/kernels/[!_]*.py"))
names = [path.removeprefix("src/").removesuffix(".py").replace("/", ".") for path in paths]
extensions = [Extension(name, [path], extra_compile_args=flags) for name, path in zip(names, paths, strict=True)]
if sys.platform == "linux" and platform.machine() == "x86_64":
    extensions += [with_avx2(path) for path in paths if Path(path).stem in GAIN_BY_AVX2]
kernels = cythonize(
    extensions,
    # Apart, because Cython takes by time what is current, and would take the one for the other.
    build_dir="build/checked" if bounds_checks else "build/unchecked",
    compiler_directives={"boundscheck": bounds_checks},
)
for kernel in kernels:
    # Without a C compiler the installation goes on, and the same files run interpreted.
    kernel.optional = True

setup(ext_modules=kernels, cmdclass={"build_ext": Build})
