"""What templates do with what they are given: everything is escaped, and nothing is left out in silence."""

import json

import jinja2
import pytest

from dqeval.render import html
from dqeval.render.tables import Table

HOSTILE = "</script><b>&\"' {{ title }} {% raw %}\x07\u202e"
SHOWN = "&lt;/script&gt;&lt;b&gt;&amp;&quot;&#x27; {{ title }} {% raw %}\\x07\\u202e"


def filled(monkeypatch, template, **fields):
    environment = html._environment().overlay(loader=jinja2.DictLoader({"page.html": template}))
    monkeypatch.setattr(html, "_environment", lambda: environment)
    return html.fill_template("page.html", **fields)


def test_names_are_shown_and_do_nothing(monkeypatch):
    template = (
        '<p title="{{ name }}">{{ name }}{% macro cell(it) %}<td>{{ it }}</td>{% endmacro %}{{ cell(name) }}</p>\n'
    )
    found = filled(monkeypatch, template, name=HOSTILE)
    assert found == f'<p title="{SHOWN}">{SHOWN}<td>{SHOWN}</td></p>\n'


def test_a_table_is_shown_whole(monkeypatch):
    table = Table(("name",), [(HOSTILE,)] * 50)
    assert filled(monkeypatch, "{{ table|whole }}", table=table) == table.html(most_rows=None)
    assert SHOWN in table.html()


def test_json_may_stand_in_a_script(monkeypatch):
    found = filled(monkeypatch, "{{ data|tojson }}", data={"b": HOSTILE, "a": "<!--"})
    assert list(json.loads(found).items()) == [("b", HOSTILE), ("a", "<!--")]
    assert "<" not in found
    with pytest.raises(ValueError, match="not JSON compliant"):
        filled(monkeypatch, "{{ data|tojson }}", data=float("nan"))


def test_files_are_not_templates(monkeypatch):
    environment = html._environment()
    script = environment.from_string("{{ file('series_page.js') }}").render()
    assert script == environment.loader.get_source(environment, "series_page.js")[0]
    assert "&lt;" not in script


def test_a_field_that_is_missing_is_an_error(monkeypatch):
    with pytest.raises(jinja2.UndefinedError, match="'title' is undefined"):
        filled(monkeypatch, "{{ title }}")
