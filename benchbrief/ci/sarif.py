"""Findings as SARIF 2.1.0, the OASIS format that code hosts and editors read.

Lines and columns are from 1, columns in UTF-16 code units, ends behind the last character."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchbrief.compiler.diagnostic_codes import CodeInfo, all_codes
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic
from benchbrief.dsl.source import Source, Span

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(findings: Sequence[tuple[Path, Diagnostic]], version: str) -> dict[str, Any]:
    """A log of one run: each finding with the spec that was checked, which stands in for a place that it lacks."""
    codes = all_codes()
    places = {info.code: index for index, info in enumerate(codes)}
    prints = _fingerprints(findings)
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "benchbrief",
                        "version": version,
                        "semanticVersion": version,
                        "rules": [_rule(info) for info in codes],
                    }
                },
                "columnKind": "utf16CodeUnits",
                "invocations": [{"executionSuccessful": True}],
                "results": [
                    _result(spec, diagnostic, places[diagnostic.code], fingerprint)
                    for (spec, diagnostic), fingerprint in zip(findings, prints, strict=True)
                ],
            }
        ],
    }


def relative_name(name: str) -> str:
    """A file's name as others on this folder know it: relative where it is inside, absolute where it is not."""
    here, path = Path.cwd(), Path(name).absolute()
    try:
        return path.resolve().relative_to(here.resolve()).as_posix()
    except ValueError:
        return path.as_posix()


def _rule(info: CodeInfo) -> dict[str, Any]:
    paragraph = info.explanation_markdown.partition("\n\n")[0].replace("\n", " ")
    text = info.explanation_markdown or info.title
    return {
        "id": info.code,
        "shortDescription": {"text": info.title},
        "fullDescription": {"text": paragraph or info.title},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": info.severity},
    }


def _result(spec: Path, diagnostic: Diagnostic, rule: int, fingerprint: str) -> dict[str, Any]:
    span = diagnostic.span
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.severity,
        "message": {"text": "\n".join(_message(diagnostic))},
        "locations": [_location(span) if span else _whole(str(spec))],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }
    related = [(note.span, note.text) for note in diagnostic.notes if note.span]
    related += [(diagnostic.context, "in this block")] if diagnostic.context else []
    if related:
        result["relatedLocations"] = [
            {"id": number, **_location(place), "message": {"text": text}}
            for number, (place, text) in enumerate(related, start=1)
        ]
    if diagnostic.suggestion:
        change = {
            "artifactLocation": _artifact(diagnostic.suggestion.span.source.name),
            "replacements": [
                {
                    "deletedRegion": _region(diagnostic.suggestion.span),
                    "insertedContent": {"text": diagnostic.suggestion.replacement},
                }
            ],
        }
        said = diagnostic.help or diagnostic.label or diagnostic.summary
        result["fixes"] = [{"description": {"text": said}, "artifactChanges": [change]}]
    return result


def _message(diagnostic: Diagnostic) -> Iterator[str]:
    yield diagnostic.summary + (f" ({diagnostic.label})" if diagnostic.label else "")
    yield from (f"note: {note.text}" for note in diagnostic.notes if not note.span)
    if diagnostic.help:
        yield f"help: {diagnostic.help}"


def _location(span: Span) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": _artifact(span.source.name), "region": _region(span)}}


def _whole(name: str) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": _artifact(name), "region": {"startLine": 1}}}


def _artifact(name: str) -> dict[str, str]:
    from urllib.parse import quote

    found = relative_name(name)
    return {"uri": Path(found).as_uri() if Path(found).is_absolute() else quote(found)}


def _region(span: Span) -> dict[str, int]:
    start, end = _point(span.source, span.start), _point(span.source, span.end)
    return {"startLine": start[0], "startColumn": start[1], "endLine": end[0], "endColumn": end[1]}


def _point(source: Source, offset: int) -> tuple[int, int]:
    line, column = source.position(offset)
    first = source.line_starts[line - 1]
    before = source.text[first : first + column - 1]
    return line, 1 + len(before.encode("utf-16-le", "surrogatepass")) // 2


def _fingerprints(findings: Iterable[tuple[Path, Diagnostic]]) -> Iterator[str]:
    """What stays the same while lines above come and go: code, file and text of the line, and which of the same."""
    seen: Counter[str] = Counter()
    for spec, diagnostic in findings:
        span = diagnostic.span
        said = [span.source.name, " ".join(span.source.line(span.line).split()), span.text] if span else [str(spec)]
        digest = hashlib.sha256("\0".join([diagnostic.code, *said]).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        seen[digest] += 1
        yield f"{digest}:{seen[digest]}"


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
