"""Checks the open files: collects the diagnostics of every file that an open spec uses, in the protocol's form."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path

from lsprotocol import types

from benchbrief.compiler.compile import CheckMemory, examine
from benchbrief.compiler.frontend.name_errors import NoExperiment, Unused
from benchbrief.compiler.resolve import Model
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.server.documents import DocumentText, Parsed, Snapshot, uri_of, used_path

_SEVERITIES = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}


@dataclass(frozen=True)
class ShownFinding:
    """A diagnostic of the compiler, with its form for the client."""

    diagnostic: Diagnostic
    shown: types.Diagnostic


@dataclass(frozen=True)
class Analysis:
    """The result of checking one spec and the files that it uses. `found` maps each file's URI to its findings.

    If this check could not read the whole spec, `model` may come from an earlier one. `memory` speeds up the next
    check.
    """

    files: tuple[Parsed, ...]
    model: Model | None
    found: Mapping[str, tuple[ShownFinding, ...]]
    memory: CheckMemory = field(default_factory=CheckMemory)

    def place(self, span: Span) -> types.Location | None:
        for parsed in self.files:
            if parsed.holds(span):
                return types.Location(parsed.uri, parsed.range(span))
        return None


@dataclass(frozen=True)
class Checked:
    """The open files at one moment, and an analysis of each spec that no other open spec uses."""

    snapshot: Snapshot
    analyses: Mapping[Path, Analysis] = field(default_factory=dict)

    def findings(self) -> dict[str, list[ShownFinding]]:
        """Return the findings by URI, for every file that is open or has findings. If two specs have the same finding
        in a shared file, it is listed once."""
        found: dict[str, list[ShownFinding]] = {buffer.uri: [] for buffer in self.snapshot.open.values()}
        for analysis in self.analyses.values():
            for uri, findings in analysis.found.items():
                here = found.setdefault(uri, [])
                here += [finding for finding in findings if finding.shown not in [other.shown for other in here]]
        return found

    def of(self, uri: str) -> Analysis | None:
        """Return the file's own analysis. If there is none, return the analysis of the first spec that uses the file,
        or else None."""
        having = [analysis for analysis in self.analyses.values() if any(file.uri == uri for file in analysis.files)]
        return min(having, key=lambda analysis: analysis.files[0].uri != uri, default=None)


def check_all(snapshot: Snapshot, before: Checked | None) -> Checked:
    """Check every open spec again if one of its files has changed."""
    reached = {real: snapshot.reach(buffer.path) for real, buffer in snapshot.open.items()}
    members = {real: {file.path.resolve() for file in files} for real, files in reached.items()}
    analyses: dict[Path, Analysis] = {}
    for real, files in reached.items():
        if any(real in members[other] and other not in members[real] for other in members):
            continue  # another open spec uses it
        earlier = before.analyses.get(real) if before else None
        same = earlier is not None and len(earlier.files) == len(files)
        if earlier is not None and same and all(a is b for a, b in zip(earlier.files, files, strict=True)):
            analyses[real] = earlier
        elif files:
            analyses[real] = _analysis(snapshot, files, earlier)
    return Checked(snapshot, analyses)


def _analysis(snapshot: Snapshot, files: tuple[Parsed, ...], earlier: Analysis | None) -> Analysis:
    memory = earlier.memory if earlier else CheckMemory()
    examined = examine(Path(os.path.relpath(files[0].path)), files=snapshot, memory=memory)
    partly = examined.loaded is None or bool(examined.loaded.broken)
    former = earlier.model if earlier and partly else None
    analysis = Analysis(files, former or examined.model or (earlier.model if earlier else None), {}, memory)
    found: dict[str, list[ShownFinding]] = {}
    for diagnostic in examined.diagnostics:
        uri, shown = _for_client(analysis, diagnostic)
        found.setdefault(uri, []).append(ShownFinding(diagnostic, shown))
    if partly and files[0].uri not in found:
        for finding in _uses_of(analysis, found):
            found.setdefault(files[0].uri, []).append(finding)
    in_order = {
        uri: tuple(sorted(findings, key=lambda each: each.shown.range.start)) for uri, findings in found.items()
    }
    return replace(analysis, found=in_order)


def _for_client(analysis: Analysis, diagnostic: Diagnostic) -> tuple[str, types.Diagnostic]:
    root = analysis.files[0]
    place = _place(analysis, diagnostic.span) if diagnostic.span else None
    if place is None:
        first = root.text.offset(types.Position(0, 1 << 30))
        place = types.Location(root.uri, root.text.range(0, first))
    severity = _SEVERITIES[diagnostic.severity]
    if diagnostic.code == NoExperiment.code:
        # A file that only others use has no experiment, and neither has one that was just started.
        severity = types.DiagnosticSeverity.Information
    related = [
        types.DiagnosticRelatedInformation(where, note.text)
        for note in diagnostic.notes
        if note.span and (where := _place(analysis, note.span))
    ]
    return place.uri, types.Diagnostic(
        range=place.range,
        message="\n".join(_lines(diagnostic)),
        severity=severity,
        code=diagnostic.code,
        source="bench",
        related_information=related or None,
        tags=[types.DiagnosticTag.Unnecessary] if diagnostic.code == Unused.code else None,
    )


def _lines(diagnostic: Diagnostic) -> Iterator[str]:
    yield diagnostic.summary
    if diagnostic.label:
        yield diagnostic.label
    for note in diagnostic.notes:
        if note.span is None:
            yield f"note: {note.text}"
    if diagnostic.help:
        yield f"help: {diagnostic.help}"


def _place(analysis: Analysis, span: Span) -> types.Location | None:
    """Return a span's location. If the span belongs to no known version of a file, the location is computed from the
    text of the span's source."""
    known = analysis.place(span)
    if known is not None or not span.source.name:
        return known
    text = DocumentText(span.source.text, analysis.files[0].text.encoding)
    return types.Location(uri_of(Path(span.source.name).absolute()), text.range(span.start, span.end))


def _uses_of(analysis: Analysis, found: Mapping[str, Iterable[ShownFinding]]) -> Iterator[ShownFinding]:
    """At each `use` of a file with errors, report that the file can't be used. The user then sees why the rest of the
    spec is not checked."""
    root = analysis.files[0]
    for use in (each for each in root.declarations if isinstance(each, ast.Use)):
        path = used_path(root, use)
        if path is None:
            continue
        uri = next((file.uri for file in analysis.files if file.path.resolve() == path.resolve()), uri_of(path))
        for finding in found.get(uri, ()):
            diagnostic = Diagnostic(
                code=finding.diagnostic.code,
                severity="error",
                summary=f"`{use.path.plain}` can't be used: {finding.diagnostic.summary}",
                span=use.path.span,
            )
            shown = types.Diagnostic(
                range=root.range(use.path.span),
                message=f"{diagnostic.summary}\nhelp: mend it first; until then not all of this spec is checked",
                severity=types.DiagnosticSeverity.Error,
                code=diagnostic.code,
                source="bench",
                related_information=[
                    types.DiagnosticRelatedInformation(types.Location(uri, finding.shown.range), finding.shown.message)
                ],
            )
            yield ShownFinding(diagnostic, shown)
