"""Bring what the page on reproduction shows into the documentation: ``python docs/reproduced.py FOLDER``.

FOLDER is what ``dqeval reproduce all --data … -o FOLDER`` wrote. The page itself says which tables and figures it
shows; only these are copied. Figures that show real series, which may not be passed on, are not among them.
"""

import re
import shutil
import sys
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
PAGE = HERE / "reproduction.md"
WIDTH = 1400  # dots, as wide as pages on a sharp screen


def shown(page: str) -> list[str]:
    """Return the files that the page includes, below the folder of reproduction."""
    return re.findall(r"reproduction/([\w-]+/[\w.-]+)", page)


def bring(source: Path, target: Path) -> None:
    """Copy a table, or a figure in the size in which it is shown."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix != ".png":
        shutil.copy(source, target)
        return
    with Image.open(source) as image:
        size = (WIDTH, round(image.height * WIDTH / image.width))
        image.convert("RGB").resize(size, Image.Resampling.LANCZOS).quantize(64).save(target, optimize=True)


if __name__ == "__main__":
    for name in shown(PAGE.read_text(encoding="utf-8")):
        bring(Path(sys.argv[1]) / name, HERE / "reproduction" / name)
