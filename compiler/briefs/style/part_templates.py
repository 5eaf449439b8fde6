"""Checks the templates of a user's `parts` before a run: their syntax and the names that they use.

`tests/reports/test_part_templates.py` compares the tables of names with the layouts. A mistake that needs the results
is reported when the brief is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from jinja2 import Environment, nodes

_LONG = re.compile(r"\w{3000,}")

PARTS = (
    "title", "notice", "section", "text", "callout", "table", "figure", "figures", "formula", "facts", "disclosure",
    "provenance", "legal",
)  # fmt: skip
"""The parts that a user's folder may replace, as `NAME.html.j2`."""

NAMES = (
    "report", "w", "comma", "kind", "kicker", "medium", "house", "picture", "query", "lead",
    "opening", "following", "slides", "slides_of_result", "script", "policy",
)  # fmt: skip
"""Names in every part."""
OWN: Mapping[str, tuple[str, ...]] = {
    "notice": ("notice", "loop"),
    "section": ("block", "next", "loop"),
    "text": ("block", "next", "loop"),
    "callout": ("block", "next", "loop"),
    "table": ("block", "next", "loop"),
    "figure": ("block", "next", "loop"),
    "figures": ("block", "next", "loop"),
    "formula": ("block", "next", "loop"),
    "facts": ("block", "next", "loop"),
    "disclosure": ("block", "next", "loop"),
}
"""Further names of some parts."""
FILTERS = ("ticked", "marks", "footed", "traced", "abridged", "unparted")
"""Filters that Jinja lacks."""
BASE = ("base/blocks.html.j2", "base/macros.html.j2")
"""Our templates that a part may use."""
MACROS = ("notes", "noted", "remarks", "sources", "head", "table", "columns", "heat_key")
"""The macros of `base/macros.html.j2`."""

_TABLE = (
    "columns", "compared", "corner", "head", "heat", "id", "kind", "marks", "note", "notes", "number", "parts", "rows",
    "sources", "title",
)  # fmt: skip
_FIGURE = (
    "alt", "cells", "claim", "csv", "csv_link", "data", "data_head", "id", "key", "kind", "note", "notes", "number",
    "points", "redrawn", "row", "sources", "svg", "title", "undrawn", "wide",
    "width",
)  # fmt: skip
FIELDS: Mapping[str, tuple[str, ...]] = {
    "report": (
        "author", "blocks", "cells", "date", "gaps", "imported", "keywords", "language", "legal", "legal_notes", "made",
        "notices", "numbers", "profile", "provenance", "run_id", "side_file", "simulated", "subtitle", "title",
        "version",
    ),
    "house": ("css", "logo", "logo_file", "paper", "parts"),
    "notice": ("first", "link", "number", "severity", "text", "title"),
    "section": ("anchor", "blocks", "kind", "level", "title"),
    "text": ("html", "kind", "leads", "notes"),
    "callout": ("card_pt", "cards", "column", "html", "kind", "note", "notes", "sources", "table", "title"),
    "table": _TABLE,
    "figure": _FIGURE,
    "figures": ("figures", "kind"),
    "formula": ("cells", "for_label", "kind", "name", "notes", "sources", "steps", "title"),
    "facts": ("groups", "id", "kind", "number", "observed", "title"),
    "disclosure": ("all_ok", "bad_cells", "cells", "groups", "kind"),
}  # fmt: skip
"""The fields of `report`, `house` and `notice`, and those of `block` by the part that gets one."""


class BrokenTemplate(NamedTuple):
    """A file that is no template."""

    line: int
    why: str


class Unknown(NamedTuple):
    """A name of some `kind` that is not among `known`."""

    line: int
    kind: str
    word: str
    known: tuple[str, ...]


def template_problems(part: str, text: str) -> Iterator[BrokenTemplate | Unknown]:
    """Return the mistakes in the template of one of PARTS."""
    from jinja2 import TemplateSyntaxError, meta, nodes

    env = _environment()
    try:
        tree = env.parse(text)
        asked = meta.find_undeclared_variables(tree)  # and limits filters and tests to the existing ones
    except TemplateSyntaxError as error:
        yield BrokenTemplate(error.lineno, (error.message or "it ends too soon").rstrip("."))
        return
    except RecursionError:
        yield BrokenTemplate(1, "it is nested too deeply")
        return
    except ValueError:  # of Python's own, which reads no longer ones
        digits = _LONG.search(text)
        yield BrokenTemplate(text.count("\n", 0, digits.start() if digits else 0) + 1, "a number of too many digits")
        return
    known = (*NAMES, *OWN.get(part, ()))
    found: list[Unknown] = []
    for name in sorted(asked - {*known, *env.globals}):
        line = next((n.lineno for n in tree.find_all(nodes.Name) if n.name == name and n.ctx == "load"), 1)
        found.append(Unknown(line, "name", name, known))
    found += _fields(part, tree, asked)
    found += _templates(tree)
    yield from sorted(found, key=lambda unknown: unknown.line)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    """Return an environment as in `reports/render/templating.py`, for parsing alone.

    It computes nothing. Jinja computes constants while it parses, but no operator that a sandbox intercepts, nor a
    filter or test that needs the context.
    """
    from jinja2 import pass_context
    from jinja2.sandbox import SandboxedEnvironment

    class Reader(SandboxedEnvironment):
        intercepted_binops = frozenset(SandboxedEnvironment.default_binop_table)
        intercepted_unops = frozenset(SandboxedEnvironment.default_unop_table)

    @pass_context
    def unasked(*_: object) -> str:
        return ""

    made = Reader(autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    made.filters = dict.fromkeys((*made.filters, *FILTERS), unasked)
    made.tests = dict.fromkeys(made.tests, unasked)
    return made


def _fields(part: str, tree: nodes.Template, asked: set[str]) -> Iterator[Unknown]:
    """Yield the fields of the part's names, except names that the part redefines."""
    from jinja2 import nodes

    given = {n.name for n in tree.find_all(nodes.Name) if n.ctx != "load"}
    given |= {n.target for n in tree.find_all(nodes.Import)}
    maybe = {id(n.node) for n in tree.find_all(nodes.Test) if n.name in ("defined", "undefined")}
    for node in tree.find_all(nodes.Getattr):
        if not isinstance(node.node, nodes.Name) or node.node.name not in asked - given or id(node) in maybe:
            continue
        of = node.node.name
        known = FIELDS.get(part if of == "block" else of) if of in ("report", "house", "notice", "block") else None
        if known and node.attr not in known:
            yield Unknown(node.lineno, "field", f"{of}.{node.attr}", tuple(f"{of}.{field}" for field in known))


def _templates(tree: nodes.Template) -> Iterator[Unknown]:
    """Yield the templates that a part includes or imports by a literal name."""
    from jinja2 import nodes

    files = tuple(f"{part}.html.j2" for part in PARTS)
    known = (*(f"ours/{file}" for file in files), *files, *BASE)
    naming: list[nodes.Include | nodes.Import | nodes.FromImport | nodes.Extends] = [
        *tree.find_all(nodes.Include), *tree.find_all(nodes.Import), *tree.find_all(nodes.FromImport),
        *tree.find_all(nodes.Extends),
    ]  # fmt: skip
    for node in naming:
        wanted = node.template
        if not isinstance(wanted, nodes.Const) or getattr(node, "ignore_missing", False):
            continue
        if wanted.value not in known:
            yield Unknown(node.lineno, "template", str(wanted.value), known)
        elif isinstance(node, nodes.FromImport) and wanted.value == BASE[1]:
            names = (name if isinstance(name, str) else name[0] for name in node.names)
            yield from (Unknown(node.lineno, "macro", name, MACROS) for name in names if name not in MACROS)
