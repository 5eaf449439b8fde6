"""Makes the page of the tables and views for `bench query`, from the store's own schema."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from datetime import datetime
from types import NoneType, UnionType
from typing import get_args, get_type_hints

from benchbrief.results.store import measure_views, store_schema
from tools.reference.field_docs import field_docs
from tools.reference.markdown import code, joined, table, text

_VIEW = re.compile(r"^    ((?:measure|metric)\.\w+) +(.*(?:\n {8,}.*)*)", re.MULTILINE)


def page() -> str:
    return joined(
        [
            "# Results",
            text("results"),
            "## Views",
            text("results-views"),
            table(("view", "its columns and what they are"), _views()),
            "## Tables",
            text("results-tables"),
            *_tables(),
        ]
    )


def _views() -> Iterator[tuple[str, str]]:
    """Yield the name and the description of each view. Both are read from the docstring of the module
    `measure_views`."""
    for name, told in _VIEW.findall(measure_views.__doc__ or ""):
        yield code(name), " ".join(told.split())


def _tables() -> Iterator[str]:
    docs = field_docs(store_schema)
    for name, row in store_schema.TABLES.items():
        yield f"### `{name}`"
        own = inspect.getdoc(row) or ""
        yield "" if own.startswith(f"{row.__name__}(") else own
        yield table(
            ("column", "type", "what it is"),
            [
                (code(column), _type(kind), docs.get((row.__name__, column), ""))
                for column, kind in get_type_hints(row).items()
            ],
        )


_TYPES = {int: "BIGINT", float: "DOUBLE", str: "VARCHAR", bool: "BOOLEAN", datetime: "TIMESTAMP"}


def _type(annotation: object) -> str:
    """Return the name of the type in SQL."""
    parts = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    words = [_TYPES.get(part, "list of `lo_s`, `hi_s`, `count`") for part in parts if part is not NoneType]
    return ", ".join([*words, *(["may be NULL"] if NoneType in parts else [])])
