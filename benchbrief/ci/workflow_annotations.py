"""Findings as workflow commands: GitHub Actions shows each beside its line of a pull request."""

from __future__ import annotations

from pathlib import Path

from benchbrief.ci.sarif import relative_name
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic


def annotation(spec: Path, diagnostic: Diagnostic) -> str:
    """`::error file=...,line=...,col=...,endLine=...,endColumn=...,title=E0703::message`, on one line."""
    span = diagnostic.span
    properties: dict[str, object] = {"file": relative_name(span.source.name if span else str(spec))}
    if span:
        end_line, end_column = span.source.position(span.end)
        properties |= {"line": span.line, "col": span.column, "endLine": end_line, "endColumn": end_column}
    properties["title"] = diagnostic.code
    said = [diagnostic.summary + (f" ({diagnostic.label})" if diagnostic.label else "")]
    said += [f"note: {note.text}" for note in diagnostic.notes]
    said += [f"help: {diagnostic.help}"] if diagnostic.help else []
    where = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{diagnostic.severity} {where}::{_data(chr(10).join(said))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
