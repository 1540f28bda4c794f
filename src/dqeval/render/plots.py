"""Bokeh's plots as a page embeds them: a plot of each kind is made once, which takes long, and filled often."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

MOST_KINDS = 64  # a kind takes about 30 kB


def embedded(
    make: Callable[..., Any], *kind: Hashable, models: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """Return a plot of some kind, ready for JSON.

    Parameters
    ----------
    make : callable
        Returns a Bokeh model, given the kind.
    *kind : hashable
        What plots of one kind have in common.
    models : mapping of str to mapping, optional
        What this one has of its own: attributes of models, by the names of the models, as Bokeh writes them.

    Returns
    -------
    dict
    """
    item: dict[str, Any] = json.loads(_template(make, *kind))
    own = dict(models or {})
    for attributes in list(_attributes_in(item)):  # there is no need to look into what is filled in
        attributes.update(own.pop(attributes.get("name", ""), {}))
    assert not own, f"no models have these names: {', '.join(own)}"
    return item


def table(columns: Mapping[Any, Sequence[Any]]) -> dict[str, Any]:
    """Return columns, or any other mapping, as Bokeh writes them."""
    return {"type": "map", "entries": [[name, column] for name, column in columns.items()]}


@lru_cache(maxsize=MOST_KINDS)
def _template(make: Callable[..., Any], *kind: Hashable) -> str:
    from bokeh.embed import json_item

    return json.dumps(json_item(make(*kind)))


def _attributes_in(node: Any) -> Iterator[dict[str, Any]]:
    """Yield the attributes of all models in what Bokeh embeds."""
    if isinstance(node, dict):
        if isinstance(node.get("attributes"), dict):
            yield node["attributes"]
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from _attributes_in(each)
