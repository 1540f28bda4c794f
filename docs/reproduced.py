"""Bring what the page on reproduction shows into the documentation: ``python docs/reproduced.py FOLDER``.

FOLDER is what ``dqeval reproduce all --data … -o FOLDER`` wrote. The page itself says which tables and figures it
shows: tables stand between two marks, figures are copied. Figures that show real series, which may not be passed on,
are not among them.
"""

import re
import sys
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
PAGE = HERE / "reproduction.md"
TABLE = re.compile(r"(<!-- table ([\w/-]+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
WIDTH = 1400  # dots, as wide as pages on a sharp screen


def with_tables(page: str, folder: Path) -> str:
    """Return the page with the tables of a folder between its marks."""

    def table(match: re.Match[str]) -> str:
        text = (folder / f"{match[2]}.md").read_text(encoding="utf-8")
        return f"{match[1]}\n{text}\n{match[3]}"

    return TABLE.sub(table, page)


def bring(source: Path, target: Path) -> None:
    """Copy a figure in the size in which it is shown."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(source) as image:
        size = (WIDTH, round(image.height * WIDTH / image.width))
        image.convert("RGB").resize(size, Image.Resampling.LANCZOS).quantize(64).save(target, optimize=True)


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_tables(page, Path(sys.argv[1])), encoding="utf-8")
    for name in re.findall(r"\(reproduction/([\w/-]+\.png)\)", page):
        bring(Path(sys.argv[1]) / name, HERE / "reproduction" / name)
