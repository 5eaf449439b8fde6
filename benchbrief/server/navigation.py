"""Finds definitions, references and highlights, renames names, and outlines files. All of this is based on the index of
names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from benchbrief.compiler.blocks.factor_uses import RESERVED
from benchbrief.compiler.frontend.name_index import BUILT_IN_FACTS, NOT_LEVELS, NameIndex, Occurrence, Symbol
from benchbrief.compiler.metrics.expressions import reserved_for
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.server.documents import MOST_ENTRIES, MOST_SPECS, Parsed
from benchbrief.server.spec_view import View, Views

_Kind = types.SymbolKind
_KINDS = {
    "hardware": _Kind.Class,
    "variant": _Kind.EnumMember,
    "factor": _Kind.Enum,
    "level": _Kind.EnumMember,
    "client": _Kind.Interface,
    "database": _Kind.Object,
    "workload": _Kind.Method,
    "probe": _Kind.Event,
    "experiment": _Kind.Module,
    "scheduler": _Kind.Namespace,
    "profile": _Kind.Package,
    "claim": _Kind.String,
    "report": _Kind.File,
    "override": _Kind.Field,
}


def outline(view: View) -> list[types.DocumentSymbol]:
    """Return the file's outline. If a syntax error hides a declaration, the outline shows it as it was last read."""
    known = [symbol for file in (view.file, *view.former) if file.uri == view.file.uri for symbol in _of_file(file)]
    first = {(symbol.detail, symbol.name): symbol for symbol in reversed(known)}
    return sorted(first.values(), key=lambda symbol: symbol.range.start)


def _of_file(file: Parsed) -> list[types.DocumentSymbol]:
    return list(_symbols(file, file.declarations))


def named(views: Iterable[View], query: str) -> list[types.WorkspaceSymbol]:
    """Return the declarations of open specs whose names contain the letters of `query` in this order."""
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


def _symbols(
    file: Parsed, items: Iterable[ast.Declaration | ast.Item], within: str = ""
) -> Iterator[types.DocumentSymbol]:
    for item in items:
        match item:
            case ast.Block():
                name = item.name or item.subject
                called = name.text if name else _text(item.label) or item.keyword.text
                detail = " ".join(filter(None, (item.keyword.text, _text(item.label) if name else "")))
                kind = _KINDS.get(item.keyword.text, _Kind.String)
                children = list(_symbols(file, item.body, item.keyword.text))
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
            case ast.Attribute(key=name) if within == "factor" and name.text not in NOT_LEVELS:
                detail = " ".join(filter(None, ("level", _text(item.label))))
                yield _symbol(file, name.text, detail, _Kind.EnumMember, item.span, name.span)
            case ast.Attribute():
                pass  # attributes are not in the outline


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
        name=name or "?",  # the protocol allows no empty name
        kind=kind,
        range=file.range(span),
        selection_range=file.range(selection),
        detail=detail,
        children=children,
    )


_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class CannotRename(JsonRpcException):
    """Raised when a name can't be changed. Editors show the message to the user."""

    CODE = int(types.LSPErrorCodes.RequestFailed)


def definitions(view: View, offset: int) -> list[types.Location]:
    """Return the declarations of the name at an offset. A fact has a declaration in each hardware that has the fact."""
    occurrence = view.occurrence(offset)
    if occurrence is None:
        return []
    places = [view.location(each.span) for each in view.index.of(occurrence.symbol) if each.defines]
    return [place for place in places if place is not None]


def references(views: Views, view: View, offset: int, *, declaration: bool) -> list[types.Location]:
    occurrence = view.occurrence(offset)
    if occurrence is None:
        return []
    places = views.places(occurrence.symbol, view.file.uri)
    if declaration:
        return places
    defining = definitions(view, offset)
    return [place for place in places if place not in defining]


def highlights(view: View, offset: int) -> list[types.DocumentHighlight]:
    """Return every occurrence of the name in this file. The declaration counts as a write, all others as reads."""
    occurrence = view.occurrence(offset)
    found = []
    for each in view.index.of(occurrence.symbol) if occurrence else ():
        if view.file.holds(each.span):
            kind = types.DocumentHighlightKind.Write if each.defines else types.DocumentHighlightKind.Read
            found.append(types.DocumentHighlight(view.file.range(each.span), kind))
    return found


def renamable(view: View, offset: int) -> tuple[Occurrence, types.Range]:
    """Return the name at an offset, and its range in the file. Raises CannotRename."""
    if view.broken is not None:
        raise CannotRename("a file of this spec has a syntax error; mend it first, so that no use is missed")
    occurrence = view.occurrence(offset)
    if occurrence is None:
        raise CannotRename("there is no name here that this spec declares")
    symbol = occurrence.symbol
    if symbol.kind == "fact" and symbol.name in BUILT_IN_FACTS:
        raise CannotRename(f"`{symbol.name}` is an attribute of the language")
    node = view.index.nodes.get(symbol)
    if symbol.kind == "level" and isinstance(node, ast.Attribute) and node.key.text == "levels":
        raise CannotRename(f"`{symbol.word}` is the value of this level, not only its name")
    return occurrence, view.file.range(occurrence.span)


def rename(views: Views, view: View, offset: int, name: str) -> types.WorkspaceEdit:
    """Return the edits that rename a symbol everywhere in these specs. Raises CannotRename."""
    occurrence, _ = renamable(view, offset)
    symbol = occurrence.symbol
    if not _NAME.fullmatch(name):
        raise CannotRename(f"`{name}` is no name: one has letters, digits and `_`, and starts with no digit")
    if not views.with_every_user:
        raise CannotRename(
            f"more than {MOST_SPECS:,} specs, or {MOST_ENTRIES:,} files, lie in the open folders; "
            "open a smaller one, so that no use is missed"
        )
    sharing = views.sharing(view.file.uri)
    for other in sharing:
        if other.broken is not None:
            raise CannotRename(
                f"`{other.broken.path.name}` has a syntax error; mend it first, so that no use is missed"
            )
        refusal = "" if name == symbol.word else _collision(other.index, symbol, name)
        if refusal:
            raise CannotRename(refusal)
    changes: dict[str, list[types.TextEdit]] = {}
    for place in views.places(symbol, view.file.uri):
        changes.setdefault(place.uri, []).append(types.TextEdit(place.range, name))
    return types.WorkspaceEdit(changes=changes)


def _collision(index: NameIndex, symbol: Symbol, name: str) -> str:
    """Return why a symbol can't have this name, or "" if it can."""
    if symbol.kind == "metric" and (what := reserved_for(name)):
        return f"`{name}` is {what} of the language"
    if symbol.kind == "factor" and name in RESERVED:
        return f"a factor can't have the name of {RESERVED[name]}"
    if symbol.kind == "fact" and name in BUILT_IN_FACTS:
        return f"`{name}` is an attribute of the language"
    if symbol.kind in ("variant", "level", "setting"):
        group = symbol.name.rpartition(".")[0]
        if Symbol(symbol.kind, f"{group}.{name}") in index.nodes:
            return f"`{group}` already has a {symbol.kind} `{name}`"
    elif Symbol(symbol.kind, name) in index.nodes:
        return f"there already is a {symbol.kind} `{name}`"
    for rivals in _RIVALS:
        if symbol.kind in rivals:
            for kind in rivals:
                if any(each.kind == kind and each.word == name for each in index.nodes):
                    return f"there is a {kind} `{name}`, and some uses could mean either"
    return ""


_RIVALS = (
    frozenset({"hardware", "variant", "workload", "experiment", "level"}),  # keys of an index, and holes
    frozenset({"metric", "fact", "param", "factor"}),  # names in expressions
)
"""Groups of kinds of names. Two names whose kinds are in one group must differ, because such names are used in the same
places."""
