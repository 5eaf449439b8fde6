"""Definitions, references, highlights and renaming: all from the index of names."""

from __future__ import annotations

import re

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from benchbrief.compiler.frontend.name_index import BUILT_IN_FACTS, Index, Occurrence, Symbol
from benchbrief.compiler.metrics.typing.lookups import reserved_for
from benchbrief.server.documents import MOST_ENTRIES, MOST_SPECS
from benchbrief.server.spec_view import View, Views

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class CannotRename(JsonRpcException):
    """Why, in words for the user; editors show them."""

    CODE = int(types.LSPErrorCodes.RequestFailed)


def definitions(view: View, offset: int) -> list[types.Location]:
    """Where what is named at an offset is declared; of a fact, by every hardware that has it."""
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
    """Every place of the name in this file: where it is declared is a write, the others are reads."""
    occurrence = view.occurrence(offset)
    found = []
    for each in view.index.of(occurrence.symbol) if occurrence else ():
        if view.file.holds(each.span):
            kind = types.DocumentHighlightKind.Write if each.defines else types.DocumentHighlightKind.Read
            found.append(types.DocumentHighlight(view.file.range(each.span), kind))
    return found


def renamable(view: View, offset: int) -> tuple[Occurrence, types.Range]:
    """The name at an offset, and its place. Raises CannotRename."""
    if view.broken is not None:
        raise CannotRename("a file of this spec has a syntax error; mend it first, so that no use is missed")
    occurrence = view.occurrence(offset)
    if occurrence is None:
        raise CannotRename("there is no name here that this spec declares")
    symbol = occurrence.symbol
    if symbol.kind == "fact" and symbol.name in BUILT_IN_FACTS:
        raise CannotRename(f"`{symbol.name}` is an attribute of the language")
    return occurrence, view.file.range(occurrence.span)


def rename(views: Views, view: View, offset: int, name: str) -> types.WorkspaceEdit:
    """Edits for every place in all of these specs that share the declaration. Raises CannotRename."""
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


def _collision(index: Index, symbol: Symbol, name: str) -> str:
    """Why a symbol can't have this name; "" when it can."""
    if symbol.kind == "metric" and (what := reserved_for(name)):
        return f"`{name}` is {what} of the language"
    if symbol.kind == "fact" and name in BUILT_IN_FACTS:
        return f"`{name}` is an attribute of the language"
    if symbol.kind == "variant":
        group = symbol.name.rpartition(".")[0]
        if Symbol("variant", f"{group}.{name}") in index.nodes:
            return f"`{group}` already has a variant `{name}`"
    elif Symbol(symbol.kind, name) in index.nodes:
        return f"there already is a {symbol.kind} `{name}`"
    for rivals in _RIVALS:
        if symbol.kind in rivals:
            for kind in rivals:
                if any(each.kind == kind and each.word == name for each in index.nodes):
                    return f"there is a {kind} `{name}`, and some uses could mean either"
    return ""


_RIVALS = (
    frozenset({"hardware", "variant", "workload", "experiment"}),  # keys of an index, and holes
    frozenset({"metric", "fact", "param"}),  # names in expressions
)
"""Kinds whose names stand in the same places."""
