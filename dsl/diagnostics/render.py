"""Diagnostics as text in the style of rustc, or as values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from benchbrief.dsl.diagnostics.diagnostic import Diagnostic, Edit
from benchbrief.dsl.source import Span, printable, show

_BOLD, _RED, _YELLOW, _BLUE, _CYAN = "1", "1;31", "1;33", "1;34", "1;36"
_COLOURS = {"error": _RED, "warning": _YELLOW}
_MOST_LINES = 6  # of a span over many lines; the middle of more is left out

Paint = Callable[[str, str], str]


def render_all(diagnostics: Iterable[Diagnostic], *, colour: bool = False) -> str:
    """Return all diagnostics as one text, separated by blank lines, and without a line end after the last one."""
    return "\n\n".join(render(diagnostic, colour=colour) for diagnostic in diagnostics)


def render(diagnostic: Diagnostic, *, colour: bool = False) -> str:
    """Return a diagnostic as text, in ANSI colours on request, without a line end after the last line. Names and texts
    of the spec are escaped, so that they can't control the terminal."""
    return "\n".join(_Text(_ansi if colour else _plain, diagnostic).lines())


def as_json(diagnostic: Diagnostic) -> dict[str, object]:
    """Return a diagnostic as values for JSON. Lines and columns count from 1; columns and offsets are in characters."""
    suggestion = diagnostic.suggestion
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "summary": diagnostic.summary,
        "place": _place(diagnostic.span),
        "label": diagnostic.label,
        "context": _place(diagnostic.context),
        "notes": [{"text": note.text, "place": _place(note.span)} for note in diagnostic.notes],
        "help": diagnostic.help,
        "suggestion": {**_edit(suggestion), "also": [_edit(edit) for edit in suggestion.also]} if suggestion else None,
    }


def _edit(edit: Edit) -> dict[str, object]:
    return {"place": _place(edit.span), "replacement": edit.replacement}


def _place(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None

    def point(offset: int) -> dict[str, int]:
        line, column = span.source.position(offset)
        return {"line": line, "column": column, "offset": offset}

    return {"file": span.source.name, "start": point(span.start), "end": point(span.end)}


def _plain(text: str, _style: str) -> str:
    return text


def _ansi(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if text else ""


def _last_line(span: Span) -> int:
    return span.source.position(max(span.start, span.end - 1))[0]


def _on_one_line(above: Span, span: Span) -> bool:
    """Return whether both spans are on one line and show the same excerpt of it, as a long line is cut around each
    span."""
    lines = {above.line, _last_line(above), span.line, _last_line(span)}
    if above.source is not span.source or len(lines) > 1:
        return False
    texts = {show(each.source, each.line, each.start, each.end).text for each in (above, span)}
    return len(texts) == 1


class _Text:
    """The lines of one diagnostic."""

    def __init__(self, paint: Paint, diagnostic: Diagnostic) -> None:
        self._paint = paint
        self._of = diagnostic
        spans = [diagnostic.span, diagnostic.context, *(note.span for note in diagnostic.notes)]
        numbers = [_last_line(span) for span in spans if span]
        self._gutter = len(str(max(numbers, default=0)))

    def lines(self) -> Iterator[str]:
        of, paint = self._of, self._paint
        colour = _COLOURS[of.severity]
        yield paint(f"{of.severity}[{of.code}]", colour) + paint(f": {printable(of.summary)}", _BOLD)
        quoted = of.span is not None
        if of.span:
            yield self._where("-->", of.span)
            yield self._bar()
            if of.context and of.context.source is of.span.source and of.context.line < of.span.line:
                yield self._line(of.context.line, show(of.span.source, of.context.line, 0, 0).text)
                if of.context.line + 1 < of.span.line:
                    yield paint("...", _BLUE)
            yield from self._excerpt(of.span, of.label, "^", colour)
        above = of.span
        for note in of.notes:
            if note.span:
                quoted = True
                if above and _on_one_line(above, note.span):  # the line was shown: one more underline will do
                    yield self._underline(note.span, note.text, "-", _BLUE)
                    continue
                above = note.span
                yield self._bar()
                yield self._where(":::", note.span)
                yield self._bar()
                yield from self._excerpt(note.span, note.text, "-", _BLUE)
        remarks = [("note", note.text) for note in of.notes if not note.span]
        remarks += [("help", of.help)] if of.help else []
        if remarks and quoted:
            yield self._bar()
        for word, text in remarks:
            yield f"{paint(' ' * (self._gutter + 1) + '=', _BLUE)} {paint(word, _BOLD)}: {printable(text)}"

    def _bar(self) -> str:
        return self._paint(" " * (self._gutter + 1) + "|", _BLUE)

    def _where(self, arrow: str, span: Span) -> str:
        arrow = self._paint(" " * self._gutter + arrow, _BLUE)
        return f"{arrow} {printable(span.source.name)}:{span.line}:{span.column}"

    def _line(self, number: int, text: str) -> str:
        return f"{self._paint(f'{number:>{self._gutter}} |', _BLUE)} {text}".rstrip()

    def _mark(self, text: str) -> str:
        return f"{self._bar()} {text}".rstrip()

    def _underline(self, span: Span, label: str, sign: str, colour: str) -> str:
        """Add the underline below the line that holds the whole span."""
        shown = show(span.source, span.line, span.start, span.end)
        label = f" {printable(label)}" if label else ""
        return self._mark(" " * shown.start + self._paint(sign * (shown.end - shown.start) + label, colour))

    def _excerpt(self, span: Span, label: str, sign: str, colour: str) -> Iterator[str]:
        """Return the lines of a span with the span underlined and its label."""
        source, first, last = span.source, span.line, _last_line(span)
        if first == last:
            yield self._line(first, show(source, first, span.start, span.end).text)
            yield self._underline(span, label, sign, colour)
            return
        label = f" {printable(label)}" if label else ""
        edge = self._paint("|", colour)
        for number in range(first, last + 1):
            if last - first >= _MOST_LINES and first + 1 < number < last - 1:
                if number == first + 2:
                    yield self._paint("...", _BLUE) + " " * max(0, self._gutter - 1) + f" {edge}"
                continue
            text = show(source, number, 0, 0).text
            yield self._line(number, f"{self._paint('/', colour) if number == first else edge} {text}")
        end = show(source, last, span.end - 1, span.end).end
        yield self._mark(edge + self._paint("_" * end + sign + label, colour))
