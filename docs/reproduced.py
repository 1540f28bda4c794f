"""Bring what the pages on reproduction and findings show into the documentation: ``python docs/reproduced.py FOLDER``.

FOLDER is what ``dqeval reproduce all --data … -o FOLDER`` wrote; of several, the first that has a table or a figure
gives it. What none has stays as it is, and is named. The pages themselves say what they show: tables
stand between two marks, figures are copied. Figures that show real series, which may not be passed on, are not there.
"""

import re
import sys
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
PAGES = (HERE / "reproduction.md", HERE / "findings.md")
TABLE = re.compile(r"(<!-- table ([\w/-]+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
WIDTH = 1400  # dots, as wide as pages on a sharp screen


def find(name: str, folders: list[Path]) -> Path | None:
    """Return the first file of a name in some folders; say so if there is none."""
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    print(f"{name} is in none of the folders: it stays as it is")
    return None


def with_tables(page: str, folders: list[Path]) -> str:
    """Return the page with the tables of some folders between its marks."""

    def table(match: re.Match[str]) -> str:
        path = find(f"{match[2]}.md", folders)
        return match[0] if path is None else f"{match[1]}\n{path.read_text(encoding='utf-8')}\n{match[3]}"

    return TABLE.sub(table, page)


def bring(source: Path, target: Path) -> None:
    """Copy a figure in the size in which it is shown."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(source) as image:
        size = (WIDTH, round(image.height * WIDTH / image.width))
        image.convert("RGB").resize(size, Image.Resampling.LANCZOS).quantize(64).save(target, optimize=True)


if __name__ == "__main__":
    given = list(map(Path, sys.argv[1:]))
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        path.write_text(with_tables(page, given), encoding="utf-8")
        for name in re.findall(r"\(reproduction/([\w/-]+\.png)\)", page):
            source = find(name, given)
            if source is not None:
                bring(source, HERE / "reproduction" / name)
