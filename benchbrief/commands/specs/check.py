from __future__ import annotations

import hashlib
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbrief.cli.spec_options import show_diagnostics, spec_options
from benchbrief.cli.terminal import Stop, show, show_json
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural

if TYPE_CHECKING:
    from benchbrief.compiler.compile import Examined
    from benchbrief.compiler.diagnostic_codes import CodeInfo
    from benchbrief.dsl.diagnostics.diagnostic import Diagnostic
    from benchbrief.dsl.source import Source, Span

FORMATS = ["text", "json", "sarif", "github"]


@click.command(
    epilog="""
\b
Examples:
  bench check brief.bench
  bench check examples/*/*.bench --json
  bench check brief.bench --profile smoke
  bench check specs/*.bench --format sarif > bench.sarif
  bench check specs/*.bench --format github
"""
)
@click.argument("specs", nargs=-1, required=True, type=click.Path(path_type=Path))
@spec_options
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="How to print the findings: for people (text), as JSON, as SARIF 2.1.0, or as GitHub annotations.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def command(
    specs: tuple[Path, ...], profile: str | None, params: dict[str, str], form: str | None, as_json: bool
) -> None:
    """Check SPECS: names, units, dimensions, values, metrics and reports. Runs nothing and contacts no host.

    Says how many cells a correct spec has, how often its data are loaded, and how long a run takes. The time is a
    built-in estimate, for up to 2,000 cells. `bench plan` uses the times of earlier runs, and shows what takes the
    time.

    Ends with code 1 if any spec has an error; warnings do not count.
    """
    from benchbrief.compiler.compile import examine

    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} ask for two formats")
    show = {"text": _text, "json": _json, "sarif": _sarif, "github": _github}["json" if as_json else form or "text"]
    checked = [(spec, examine(spec, profile=profile, params=params)) for spec in specs]
    show(checked)
    if any(each.failed for _, each in checked):
        raise Stop(ExitCode.SPEC_WRONG)


def _text(checked: list[tuple[Path, Examined]]) -> None:
    from benchbrief.compiler.compile import checked_time

    for spec, each in checked:
        show_diagnostics(each.in_context())
        if not each.failed:
            time = checked_time(each)
            known = f", {time.text}" if time else ""
            searched = each.model is not None and any(matrix.experiment.promise for matrix in each.model.matrices)
            cells = f"{'up to ' if searched else ''}{plural(each.cells or 0, 'cell')}"
            show(f"{spec}: {', '.join(['ok', *_counts(each)])}, {cells}{known}{_unjudged(each, spec)}")
        else:
            show(f"{spec}: {', '.join(_counts(each))}", err=True)
    found = sorted((diagnostic for _, diagnostic in _findings(checked)), key=lambda each: each.severity != "error")
    if found:
        show(f"for more: bench explain {found[0].code}", err=True)


def _counts(examined: Examined) -> list[str]:
    """Return texts such as `1 error` and `2 warnings`, leaving out zeros."""
    found = Counter(diagnostic.severity for diagnostic in examined.diagnostics)
    return [plural(found[severity], severity) for severity in ("error", "warning") if found[severity]]


def _unjudged(examined: Examined, spec: Path) -> str:
    """Name the command that judges budgets, because a check does not."""
    from benchbrief.compiler.estimates.budget_fit import unjudged_budgets

    if examined.model is None or not unjudged_budgets(examined.model):
        return ""
    return f"; whether its budgets suffice is judged by: bench plan {shlex.quote(str(spec))}"


def _json(checked: list[tuple[Path, Examined]]) -> None:
    from benchbrief.compiler.compile import checked_time
    from benchbrief.dsl.diagnostics.render import as_json

    found: list[dict[str, Any]] = [
        {
            "file": str(spec),
            "ok": not each.failed,
            "cells": each.cells,
            "time": time.as_dict() if (time := checked_time(each)) else None,
            "diagnostics": [as_json(diagnostic) for diagnostic in each.in_context()],
        }
        for spec, each in checked
    ]
    show_json(found)


def _sarif(checked: list[tuple[Path, Examined]]) -> None:
    from benchbrief import __version__

    show_json(sarif(_findings(checked), __version__))


def _github(checked: list[tuple[Path, Examined]]) -> None:

    for spec, diagnostic in _findings(checked):
        show(annotation(spec, diagnostic))


def _findings(checked: list[tuple[Path, Examined]]) -> list[tuple[Path, Diagnostic]]:
    """Return every finding once, even if several specs use the file that has it."""
    found: dict[object, tuple[Path, Diagnostic]] = {}
    for spec, each in checked:
        for diagnostic in each.in_context():
            span = diagnostic.span
            place = (span.source.name, span.start, span.end) if span else (str(spec),)
            found.setdefault((diagnostic.code, diagnostic.summary, *place), (spec, diagnostic))
    return list(found.values())


# --- findings for code hosts ---

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(findings: Sequence[tuple[Path, Diagnostic]], version: str) -> dict[str, Any]:
    """Return a log of one run in SARIF 2.1.0. Each finding names the checked spec. If the finding has no place of its
    own, the spec is its place. Lines and columns count from 1, columns are in UTF-16 code units, and a range ends after
    its last character.
    """
    from benchbrief.compiler.diagnostic_codes import all_codes

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
    """Return a file's name relative to this folder if the file is inside it, or else its absolute name."""
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
        replacements: dict[str, list[dict[str, Any]]] = {}
        for edit in diagnostic.suggestion.edits:
            change = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.replacement}}
            replacements.setdefault(edit.span.source.name, []).append(change)
        changes = [{"artifactLocation": _artifact(name), "replacements": found} for name, found in replacements.items()]
        said = diagnostic.help or diagnostic.label or diagnostic.summary
        result["fixes"] = [{"description": {"text": said}, "artifactChanges": changes}]
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
    """Yield a fingerprint of each finding. The fingerprint stays the same when lines are added above the finding. It is
    made of the finding's code, its file, the text of its line, and its number among equal findings."""
    seen: Counter[str] = Counter()
    for spec, diagnostic in findings:
        span = diagnostic.span
        said = [span.source.name, " ".join(span.source.line(span.line).split()), span.text] if span else [str(spec)]
        digest = hashlib.sha256("\0".join([diagnostic.code, *said]).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        seen[digest] += 1
        yield f"{digest}:{seen[digest]}"


def annotation(spec: Path, diagnostic: Diagnostic) -> str:
    """Return `::error file=...,line=...,col=...,endLine=...,endColumn=...,title=E0703::message`, on one line."""
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
