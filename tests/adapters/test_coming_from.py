"""The page "Coming from …": our numbers, and theirs where the other package is installed, are those in its tables."""

import doctest
import importlib.metadata
import importlib.util
import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
# For each section: the environment of ./scripts/adapters that has the package, and what it is imported as.
PACKAGES = {
    "TSB-AD": ("tsb_ad", "TSB_AD"),
    "affiliation-metrics": ("tsb_ad", "TSB_AD"),
    "scikit-learn": ("sklearn", "sklearn"),
    "PyOD": ("sklearn", "pyod"),
    "aeon": ("aeon", "aeon"),
    "TimeEval": ("timeeval", "timeeval"),
    "sktime": ("sktime", "sktime"),
    "Darts": ("darts", "darts"),
    "tsadmetrics": ("peers", "tsadmetrics"),
    "vus": ("peers", "vus"),
    "prts": ("peers", "prts"),
    "PATE": ("peers", "pate"),
}
SAME = "the same"

pytestmark = pytest.mark.unmeasured


@dataclass(frozen=True)
class Row:
    theirs: str
    ours: str
    their_number: str
    our_number: str
    why: str


def sections():
    """Return the text of each section by its heading."""
    _, *parts = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    return dict(part.split("\n", 1) for part in parts)


def rows(text):
    found = re.findall(r"^\| `(.+?)` \| `(.+?)` \| (\S+) \| (\S+) \| (.+) \|$", text, flags=re.MULTILINE)
    assert len(found) == len(re.findall(r"^\| `", text, flags=re.MULTILINE)), "a row has other cells than the rest"
    return [Row(*cells) for cells in found]


def their_code(text):
    """Return the blocks of Python that are no examples: they need the other package."""
    return "".join(re.findall(r"^```python\n((?!>>>).*?)^```$", text, flags=re.MULTILINE | re.DOTALL))


def our_names():
    """Return the names that the examples of the page define."""
    names = {}
    for example in doctest.DocTestParser().get_examples(PAGE):
        exec(example.source, names)
    return names


def value_of(call, names):
    """Return the number that a call gives, or the name of its error."""
    try:
        return float(eval(call, names))
    except ValueError as error:
        return type(error).__name__


def says(cell, value):
    """Return whether a cell says this value, to as many digits as it has."""
    if isinstance(value, str) or value != value:
        return cell == str(value)
    digits = len(cell.partition(".")[2])
    return re.fullmatch(r"-?\d+\.\d+", cell) is not None and abs(float(cell) - value) <= 0.5 * 10**-digits + 1e-9


def is_here(package):
    """Return whether a package is installed; where ./scripts/adapters has installed it, it must be."""
    environment, module = PACKAGES[package]
    return os.environ.get("DQEVAL_ADAPTER") == environment or importlib.util.find_spec(module) is not None


every_section = pytest.mark.parametrize("package", list(PACKAGES))


@every_section
def test_ours(package):
    names = our_names()
    shown = rows(sections()[package])
    assert shown
    for row in shown:
        value = value_of(row.ours, names)
        assert says(row.our_number, value), f"{row.ours} gives {value}"


@every_section
def test_theirs(package):
    if not is_here(package):
        pytest.skip(f"{package} is not installed")
    text, names = sections()[package], our_names()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs
        exec(their_code(text), names)
        found = [value_of(row.theirs, names) for row in rows(text)]
    for row, value in zip(rows(text), found, strict=True):
        assert says(row.their_number, value), f"{row.theirs} gives {value}"
        ours = value_of(row.ours, names)
        assert (row.why == SAME) == (value == pytest.approx(ours, abs=1e-9)), f"{row.theirs} {value}, {row.ours} {ours}"


VERSION = re.compile(r"^Version (\d+(?:\.\d+)+)\.(?: |$)", re.MULTILINE)
OF_ANOTHER = {"affiliation-metrics"}  # comes with TSB-AD


@every_section
def test_the_version_is_the_one_that_the_numbers_were_computed_with(package):
    said = VERSION.findall(sections()[package])
    assert len(said) == (package not in OF_ANOTHER)
    environment, _ = PACKAGES[package]
    if not said or os.environ.get("DQEVAL_ADAPTER") != environment:
        pytest.skip("there is no version to compare with")
    assert is_version(said[0], importlib.metadata.version(package)), importlib.metadata.version(package)


def is_version(said, installed):
    """Return whether a version is said to as many places as it is."""
    return f"{installed}.".startswith(f"{said}.")


def test_a_version_that_is_only_like_another_is_found():
    assert is_version("1.5", "1.5.2")
    assert is_version("1.5", "1.5")
    assert not is_version("1.5", "1.50")
    assert not is_version("1.5.1", "1.5")


@every_section
def test_only_rows_that_differ_have_a_reason(package):
    for row in rows(sections()[package]):
        assert (row.their_number == row.our_number) == (row.why == SAME), row


def test_every_package_has_a_section_and_an_environment():
    assert list(sections()) == list(PACKAGES)
    requirements = ROOT / "tests" / "adapters" / "requirements"
    assert all((requirements / f"{environment}.txt").exists() for environment, _ in PACKAGES.values())


def test_a_wrong_digit_is_found():
    assert says("0.6318", 0.63184)
    assert not says("0.6319", 0.63184)
    assert not says("0.63186", 0.63184)
    assert says("nan", float("nan"))
    assert not says("0.0000", float("nan"))
    assert not says("0.0000", "ValueError")
