"""HTML pages from the templates beside this file, filled by Jinja2."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from dqeval.render.drawing import INK
from dqeval.render.tables import Table, in_html
from dqeval.support import extras

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure


def require_jinja() -> None:
    """Raise an error that says what to install, if Jinja2 is missing."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise ValueError(f"HTML pages need Jinja2: {extras.install('report')}") from None


def fill_template(template: str, **fields: Any) -> str:
    """Return a page: a template with its fields.

    Parameters
    ----------
    template : str
        The name of the file.
    **fields
        What it shows. A text is escaped as in tables; one that is HTML already is given as `Markup`.

    Returns
    -------
    str
    """
    require_jinja()
    return _environment().get_template(template).render(fields)


def source_of(name: str) -> str:
    """Return the text of a style sheet, a script or a template."""
    from importlib.resources import files

    return files("dqeval.render").joinpath(name).read_text(encoding="utf-8")


def inline_svg(make: Callable[[], Figure]) -> str:
    """Return a figure as SVG in the colour of the text around it, from the first attribute on."""
    from matplotlib import style

    file = io.StringIO()
    # From the default style, whatever the user's own may be. Letters stay letters, which can be searched; the salt
    # gives the same numbers the same page.
    inked = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    own = {"svg.fonttype": "none", "svg.hashsalt": "dqeval", **dict.fromkeys(inked, INK)}
    with style.context(["default", own]):
        make().savefig(file, format="svg", transparent=True, metadata={"Date": None})
    drawn = re.sub(r"<metadata>.*?</metadata>", "", file.getvalue(), flags=re.DOTALL).replace(INK, "currentColor")
    return drawn.partition("<svg ")[2]


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: object) -> object:
        """Return a text as all pages show it: also without characters that a browser acts upon."""
        return Markup(in_html(value)) if isinstance(value, str) and not isinstance(value, Markup) else value

    def file(name: str) -> Markup:
        """Return a style sheet or a script, which is not searched for fields."""
        return Markup(source_of(name))

    def whole(table: Table) -> Markup:
        return Markup(table.html(most_rows=None))

    environment = Environment(
        loader=PackageLoader("dqeval.render", "."),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["file"] = file
    environment.filters["whole"] = whole
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False}  # and in the order in which they are given
    return environment
