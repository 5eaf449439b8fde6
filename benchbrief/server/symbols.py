"""The outline of a file: its declarations, with what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.server.documents import Parsed
from benchbrief.server.spec_view import View

_Kind = types.SymbolKind
_KINDS = {
    "hardware": _Kind.Class,
    "variant": _Kind.EnumMember,
    "client": _Kind.Interface,
    "database": _Kind.Object,
    "workload": _Kind.Method,
    "probe": _Kind.Event,
    "experiment": _Kind.Module,
    "scheduler": _Kind.Namespace,
    "profile": _Kind.Package,
    "report": _Kind.File,
    "override": _Kind.Field,
}


def outline(view: View) -> list[types.DocumentSymbol]:
    """Of the file as it is; what a syntax error hides is listed as it last was."""
    known = [symbol for file in (view.file, *view.former) if file.uri == view.file.uri for symbol in _of_file(file)]
    first = {(symbol.detail, symbol.name): symbol for symbol in reversed(known)}
    return sorted(first.values(), key=lambda symbol: symbol.range.start)


def _of_file(file: Parsed) -> list[types.DocumentSymbol]:
    return list(_symbols(file, file.declarations))


def named(views: Iterable[View], query: str) -> list[types.WorkspaceSymbol]:
    """What open specs declare whose name holds the letters of `query` in their order."""
    found: dict[tuple[str, str, str], types.WorkspaceSymbol] = {}
    for view in views:
        for symbol in view.index.nodes:
            definition = next((each for each in view.index.of(symbol) if each.defines), None)
            place = view.location(definition.span) if definition else None
            if place is not None and symbol.kind != "fact" and _has(symbol.name, query):
                kind = _KINDS.get(symbol.kind, _Kind.Variable)
                found[place.uri, symbol.kind, symbol.name] = types.WorkspaceSymbol(place, symbol.name, kind)
    return list(found.values())


def _has(name: str, query: str) -> bool:
    letters = iter(name.lower())
    return all(letter in letters for letter in query.lower())


def _symbols(file: Parsed, items: Iterable[ast.Declaration | ast.Item]) -> Iterator[types.DocumentSymbol]:
    for item in items:
        match item:
            case ast.Block():
                name = item.name or item.subject
                called = name.text if name else _text(item.label) or item.keyword.text
                detail = " ".join(filter(None, (item.keyword.text, _text(item.label) if name else "")))
                kind = _KINDS.get(item.keyword.text, _Kind.String)
                children = list(_symbols(file, item.body))
                yield _symbol(file, called, detail, kind, item.span, (name or item.keyword).span, children)
            case ast.Metric():
                unit = f"in {item.unit.text}" if item.unit else ""
                detail = " ".join(filter(None, ("metric", _text(item.label), unit)))
                yield _symbol(file, item.name.text, detail, _Kind.Function, item.span, item.name.span)
            case ast.Param():
                yield _symbol(file, item.name.text, "param", _Kind.Constant, item.span, item.name.span)
            case ast.Expect():
                called = _text(item.label) or " ".join(item.condition.span.text.split())
                yield _symbol(file, called, "expect", _Kind.Boolean, item.span, item.condition.span)
            case ast.Use():
                yield _symbol(file, item.path.plain or "", "use", _Kind.Namespace, item.span, item.path.span)
            case ast.Attribute():
                pass  # in the text, not in its outline


def _text(label: ast.String | None) -> str:
    return " ".join(label.span.text.strip('"').split()) if label else ""


def _symbol(
    file: Parsed,
    name: str,
    detail: str,
    kind: types.SymbolKind,
    span: Span,
    selection: Span,
    children: list[types.DocumentSymbol] | None = None,
) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=name or "?",  # an empty one is not allowed
        kind=kind,
        range=file.range(span),
        selection_range=file.range(selection),
        detail=detail,
        children=children,
    )
