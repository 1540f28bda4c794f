"""HTML pages from the templates beside this file, filled by Jinja2."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from dqeval.render.tables import Table, in_html
from dqeval.support import extras

if TYPE_CHECKING:
    from jinja2 import Environment


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


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: object) -> object:
        """Return a text as all pages show it: also without characters that a browser acts upon."""
        return Markup(in_html(value)) if isinstance(value, str) and not isinstance(value, Markup) else value

    def file(name: str) -> Markup:
        """Return a style sheet or a script, which is not searched for fields."""
        return Markup(loader.get_source(environment, name)[0])

    def whole(table: Table) -> Markup:
        return Markup(table.html(most_rows=None))

    loader = PackageLoader("dqeval.render", ".")
    environment = Environment(
        loader=loader,
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
