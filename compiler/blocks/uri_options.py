"""The `options` of a MongoDB database: what clients ask of their connections, in the connection string's words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchbrief.compiler import plan
from benchbrief.compiler.blocks import database_errors, structure_errors
from benchbrief.compiler.blocks.database_schema import COMPRESSORS, MONGODB_OPTIONS
from benchbrief.compiler.blocks.shapes import Number
from benchbrief.compiler.blocks.values import Constant, Reader, Value, listed
from benchbrief.compiler.blocks.wrong_values import described
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span
from benchbrief.dsl.suggest import did_you_mean

_SERVERS = Number("", "1", plain=True, integer=True, maximum=50.0)


def uri_option(key: str, value: Value | None, reader: Reader) -> plan.Option | None:
    """One option's value as the connection string has it; None when it was reported."""
    option = MONGODB_OPTIONS[key]
    if isinstance(value, tuple):
        return _write_concern(value[0], reader) if key == "write_concern" else _compressors(value[0], reader)
    if isinstance(value, Constant):
        return value.value * option.scale
    if isinstance(value, bool):
        return value
    return option.words.get(value, value) if isinstance(value, str) else None


def _write_concern(expr: ast.Expr, reader: Reader) -> plan.Option | None:
    match reader.deref(expr):
        case ast.Name(text="majority") | ast.String(parts=("majority",)):
            return "majority"
        case ast.Name(text=word) as name if did_you_mean(word, ("majority",)):
            reader.findings.add(structure_errors.UnknownWord(name.span, "write_concern", word, ("majority",)))
        case ast.Quantity() | ast.Unary() | ast.Binary():
            servers = reader.quantity("write_concern", expr, _SERVERS)
            return servers.value if servers else None
        case other:
            _wrong("write_concern", other, reader)
    return None


def _compressors(expr: ast.Expr, reader: Reader) -> plan.Option | None:
    found: list[str] = []
    for item in listed((reader.deref(expr),)):
        match reader.deref(item):
            case ast.Name(text=word) | ast.String(parts=(str(word),)) if word in COMPRESSORS:
                found.append(word)
            case ast.Name(text=word) as name:
                reader.findings.add(structure_errors.UnknownWord(name.span, "compressors", word, COMPRESSORS))
                return None
            case other:
                _wrong("compressors", other, reader)
                return None
    return ",".join(dict.fromkeys(found)) or None


def _wrong(key: str, expr: ast.Expr, reader: Reader) -> None:
    wanted = MONGODB_OPTIONS[key].key.shape.wanted
    reader.findings.add(structure_errors.WrongType(expr.span, key, wanted, described(expr)))


def check_uri_options(string: ast.String, uri: plan.Template, places: Mapping[str, Span], reader: Reader) -> None:
    """Report options that the uri has too. Names in a connection string are the same in any case."""
    text = "".join(part if isinstance(part, str) else "-" for part in uri)
    query = text.partition("?")[2]
    in_uri = {word.lower(): word for word in re.findall(r"(?:^|&)([A-Za-z]+)=", query)}
    for key, span in places.items():
        option = MONGODB_OPTIONS.get(key)
        if option is not None and option.name.lower() in in_uri:
            name = in_uri[option.name.lower()]
            reader.findings.add(database_errors.OptionInUri(span, string.span, key, name))
