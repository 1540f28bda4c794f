"""How Sphinx builds the documentation: ``./scripts/docs``."""

import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

import dqeval

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import figures  # noqa: E402

import commands  # noqa: E402

project = "dqeval"
author = "the dqeval developers"
project_copyright = author
version = release = dqeval.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["_generated", "_build"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# Tutorials are notebooks without outputs: each build runs them, elsewhere, and stops where one fails.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300

# In docstrings a name in single backticks is one of ours.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["aeon", "pandas", "sktime", "timeeval"]  # adapters subclass what is in them
autodoc_typehints = "none"
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False
napoleon_use_rtype = False
# Types are said in words ("array of float, shape (n,)"): only the names of our own are links.
nitpick_ignore_regex = [("py:class", ".*")]

html_theme = "furo"
html_title = f"dqeval {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_math_renderer = "mathml"


def setup(app) -> None:
    """Draw the figures, write down the command line, and put formulas into the pages as MathML."""
    app.add_html_math_renderer("mathml", inline_renderers=(visit_math, None), block_renderers=(visit_math_block, None))
    figures.draw_all(HERE / "_generated")
    commands.write(HERE / "_generated" / "commands.md")


def visit_math(translator, node) -> None:
    """Write a formula in a line. Browsers show MathML by themselves: no script, nothing to load from elsewhere."""
    translator.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_math_block(translator, node) -> None:
    """Write a formula on a line of its own."""
    translator.body.append(f'<div class="formula">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def mathml(node, *, as_block: bool) -> str:
    """Return a formula as MathML."""
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logging.getLogger(__name__).warning("%s", error, location=node)
        return ""
