#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2024.10.9"]
# ///
"""The tests on one Python beside one NumPy, on any system: ``nox -s "tests-3.12(numpy='oldest')"``.

All else, on Linux and macOS, is done by ``./scripts/test``.
"""

import sys

import nox

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "uv|virtualenv"

# The oldest NumPy that has wheels for a Python, and that dqeval allows; on Windows, 2.0.0 at least.
OLDEST = {"3.11": "1.26.0", "3.12": "1.26.0", "3.13": "2.1.0", "3.14": "2.3.2"}


@nox.session(python=list(OLDEST))
@nox.parametrize("numpy", ["oldest", "newest"])
def tests(session: nox.Session, numpy: str) -> None:
    """Run the quick tests with kernels that this machine compiles; arguments after ``--`` go to pytest."""
    oldest = OLDEST[session.python]
    if sys.platform == "win32" and oldest.startswith("1."):
        oldest = "2.0.0"
    numpy_of_choice = f"numpy=={oldest}" if numpy == "oldest" else "numpy"
    session.install(".[test]", numpy_of_choice)
    environment = {"DQEVAL_EXPECTED_FORM": "compiled", "HYPOTHESIS_PROFILE": "quick", "PYTHONPATH": None}
    options = ("-q", "-p", "no:cacheprovider", "-m", "not slow", "--numprocesses", "auto")
    session.run("pytest", *options, *(session.posargs or ["tests"]), env=environment)


if __name__ == "__main__":
    nox.main()
