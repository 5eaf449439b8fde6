"""Makes the page of the journal's records and of output with --json, from the code that writes them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from benchbrief.model import events
from benchbrief.model.plan import StepKind
from benchbrief.model.run_record import TURN
from benchbrief.results.runs import run_summary
from benchbrief.runners.execution import live_numbers
from tools.reference.field_docs import field_docs
from tools.reference.markdown import code, joined, table, text

RECORDS: Sequence[type[events.Record]] = get_args(get_args(events.AnyRecord)[0])
STEPS: Sequence[str] = (*get_args(StepKind), TURN)
_PARTS = (
    events.Simulated,
    events.Failing,
    events.Imported,
    events.ImportedFile,
    events.MergedLane,
)
_PARTS_OF_SEARCH = (events.SearchPoint,)
_STATUS = (
    run_summary.RunStatus,
    run_summary.CellStatus,
    live_numbers.LiveLoad,
    run_summary.BudgetSpent,
    run_summary.RampChoice,
    run_summary.HeldOutStatus,
)


def page() -> str:
    return joined(
        [
            "# Journal and JSON",
            text("journal"),
            "## Records of the journal",
            text("journal-records"),
            *(part for record in RECORDS for part in _record(record)),
            "### Parts of records",
            *(part for each in (*_PARTS, *_PARTS_OF_SEARCH) for part in _fields(each)),
            "## `bench status --json`",
            text("json-status"),
            *(part for each in _STATUS for part in _fields(each)),
            text("json-commands"),
        ]
    )


def _record(record: type[events.Record]) -> Iterator[str]:
    yield f"### `{_name(record)}`"
    yield _own_doc(record)
    yield _table(record, leave_out=("type", "at"))


def _name(record: type[events.Record]) -> str:
    return str(record.model_fields["type"].default)


def _fields(kind: type) -> Iterator[str]:
    yield f"#### {kind.__name__}"
    yield _own_doc(kind)
    yield _table(kind)


def _own_doc(kind: type) -> str:
    own = inspect.cleandoc(kind.__dict__.get("__doc__") or "")
    return "" if own.startswith(f"{kind.__name__}(") else own


def _table(kind: type, leave_out: Sequence[str] = ()) -> str:
    docs = field_docs(sys.modules[kind.__module__])
    hints = get_type_hints(kind, include_extras=True)
    names = list(getattr(kind, "model_fields", None) or [each.name for each in fields(kind)])
    rows = [
        (code(name), _words(hints[name]), docs.get((kind.__name__, name), ""))
        for name in names
        if name not in leave_out
    ]
    return table(("field", "type", "what it is"), rows) if rows else ""


_PLAIN = {str: "text", int: "integer", float: "number", bool: "true or false", NoneType: "null"}


def _words(hint: Any) -> str:
    """Describe a type in the words of JSON."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is Annotated:
        return _words(inner[0])
    if origin is Literal:
        return ", ".join(f'`"{each}"`' for each in inner)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_words(each) for each in inner))
    if origin is tuple:
        if inner[-1] is Ellipsis:
            return f"list of {_words(inner[0])}"
        return "list of " + " and ".join(_words(each) for each in inner)
    if origin is dict:
        return f"object: {_words(inner[0])} to {_words(inner[1])}"
    return str(getattr(hint, "__name__", hint))
