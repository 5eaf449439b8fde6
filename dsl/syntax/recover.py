"""Continues to read after a syntax error, so that further errors are found and the rest of the text can be used.

The text is cut where declarations begin at the margin. In a part with a mistake, the smallest possible thing around the
mistake is corrected or left out: the wrong sign, the value of the attribute, the attribute, or the declaration. The
replacement has the same length, so that all other places remain the same. If the parser then gets further than before,
the mistake is dealt with.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import takewhile

from benchbrief.dsl.diagnostics import syntax_errors
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic, Note, SpecError
from benchbrief.dsl.late_pattern import compile_late
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import ast, parser_stop
from benchbrief.dsl.syntax.parse import parse_part, readable_until
from benchbrief.dsl.syntax.parser_stop import PIECE

MOST = 25
"""The largest number of syntax errors that are reported together."""
_BUDGET = 150_000  # characters that are read again to get past mistakes: less than half a second
_HOLDER = "_"  # a name that nothing has, which replaces a value that can't be read
_BLANK = compile_late(r"[^\r\n]")
_TAIL = compile_late(r",\s*(?:higher|lower)\b.*", re.DOTALL)
_NAMED = compile_late(r"(metric|param)\s+[A-Za-z_]\w*(?=\W)")
_EXPECT = compile_late(r'expect\b(?:\s*"[^"\r\n]*")?(?=\s)')
_HEAD = compile_late(r"([A-Za-z_]\w*\s+[A-Za-z_]\w*)\b([^{}\r\n]*)(?=\{)")
_DANGLING = compile_late(r"[=,+\-*/<>.]\s*\Z")
_WORD = compile_late(r"[^\W\d]\w*")
_OF_BRACKETS = frozenset(
    {syntax_errors.UnclosedBracket.code, syntax_errors.WrongCloser.code, syntax_errors.StrayCloser.code}
)
_OPEN = frozenset({syntax_errors.UnclosedString.code, syntax_errors.UnclosedText.code})
_GOES_ON = frozenset("=,+-*/([<>:.") | {"==", "<=", ">=", "!=", ".."}


@dataclass
class UnreadParts:
    """The parts of a text that could not be read. Mistakes caused by them are not reported."""

    source: Source
    places: list[tuple[int, int]] = field(default_factory=list)
    parts: list[tuple[int, int]] = field(default_factory=list)
    """Declarations that lack an attribute because the attribute could not be read."""
    words: set[str] = field(default_factory=set)
    """The words of the unread parts, with all names that these parts may declare."""
    whole: bool = True
    """Whether every declaration could be read, even if not all of its values could."""

    def concerns(self, diagnostic: Diagnostic) -> bool:
        """Return whether a diagnostic may merely be a consequence of the unread parts."""
        spans = [diagnostic.span, *(note.span for note in diagnostic.notes)]
        within = [span for span in spans if span is not None]
        if any(not self.words.isdisjoint(_WORD.findall(span.text)) for span in within):
            return True
        here = [span for span in within if span.source is self.source]
        return any(span.start < end and start < span.end for span in here for start, end in self.places)

    def lacks(self, span: Span) -> bool:
        """Return whether something may be missing at this span because it could not be read."""
        return span.source is self.source and any(start <= span.start < end for start, end in self.parts)


class PartlyRead(SpecError):
    """The syntax errors of a text, with the tree of the declarations that could still be read."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...], tree: ast.File, lost: tuple[UnreadParts, ...]) -> None:
        super().__init__(diagnostics)
        self.tree = tree
        self.lost = lost


def parse_with_gaps(source: Source) -> ast.File:
    """Return the file's syntax tree. Raises PartlyRead with the syntax errors, or SpecError if nothing more can be
    read."""
    parser_stop.check_depth(source, 0, len(source.text))
    parser_stop.check_size(source)
    whole: list[ast.Declaration] = []
    try:
        return parse_part(source, 0, source.text, whole)
    except SpecError as error:
        known = tuple(mistake.moved(source, 0) for mistake in error.diagnostics)
    found = _Recovery(source).run(known, whole)
    raise found or SpecError(known)


def with_first_mistake(first: Diagnostic, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the mistakes of the parts, but the first one as it is found in the whole text, since the text after the
    part may explain it better."""
    one, other = found[0].span, first.span
    if one and other and one.source is other.source and one.line == other.line:
        return [first, *found[1:]]
    if one and not one.text.strip():  # an expression breaks off there, and went on in the next declaration
        return [*found]
    return [*found] if any(each.span == other for each in found) else [first, *found]


def wholly_unread(source: Source, diagnostics: tuple[Diagnostic, ...] = ()) -> PartlyRead:
    """Return the result for a text that could not be read at all."""
    whole = (0, len(source.text))
    lost = UnreadParts(source, [whole], words=set(_WORD.findall(source.text)), whole=False)
    return PartlyRead(diagnostics, ast.File(Span(source, *whole), ()), (lost,))


@dataclass(frozen=True)
class _Attempt:
    """A way to get past a mistake: a part's text with [start, end) replaced."""

    text: str
    start: int
    end: int
    statement: bool = False
    """Whether the attempt leaves out more than a value."""


class _Recovery:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.lost = UnreadParts(source)
        self.found: list[Diagnostic] = []
        self.spent = 0
        self.full = False

    def run(self, known: tuple[Diagnostic, ...], whole: list[ast.Declaration]) -> PartlyRead | None:
        """Return the declarations that could be read, or None if the mistake exists only because the text was cut.
        `known` are the mistakes at which the parser stopped, and `whole` are the declarations before these mistakes.
        """
        text = self.source.text
        starts = parser_stop.declaration_starts(text)
        # The last of them may only seem to be whole.
        begin = starts[bisect_right(starts, whole[-1].span.end) - 1] if whole else 0
        begin = min(begin, whole[-1].span.start) if whole else 0
        declarations = [each for each in whole if each.span.end <= begin]
        starts = [begin, *starts[bisect_right(starts, begin) :]]
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            here = known if (start, end) == (0, len(text)) else ()
            declarations += self._part(start, end, here) if not self.full else ()
        if self.full:
            self.lost.whole = False
        if not self.found:  # the cut itself was at fault
            return None
        self.found = with_first_mistake(known[0], self.found)
        if self.full:
            more = Note("there are more findings than these: correct these first")
            self.found[-1] = replace(self.found[-1], notes=(*self.found[-1].notes, more))
        tree = ast.File(Span(self.source, 0, len(text)), tuple(declarations))
        return PartlyRead(tuple(self.found), tree, (self.lost,))

    def _part(self, start: int, end: int, known: tuple[Diagnostic, ...] = ()) -> tuple[ast.Declaration, ...]:
        """Return the declarations in [start, end) of the text. `known` are its first mistakes, if they have already
        been found."""
        text = self.source.text[start:end]
        first = True
        while not self.full:
            mistakes = known if first and known else ()
            if not mistakes:
                try:
                    parser_stop.check_depth(Source(self.source.name, text), 0, len(text))
                    return parse_part(self.source, start, text).declarations
                except SpecError as error:
                    mistakes = error.diagnostics
            paired = _paired(self.source.text[start:end])
            mistake = mistakes[0]
            if not first and ((paired and mistake.code in _OF_BRACKETS) or self._is_reported(mistake, start)):
                break  # it was leaving something out that parted a pair; or nothing was got over
            first = False
            self.found.extend(each.moved(self.source, start) for each in mistakes[: MOST - len(self.found)])
            self.full = len(self.found) >= MOST or self.spent > _BUDGET
            cut = _misspelt_declaration(mistake)
            if cut is not None and text == self.source.text[start:end]:
                before = self._part(start, start + cut) if cut else ()
                self._lose(start + cut, end)
                if not paired:  # the part before it may have been closed too early
                    self._doubt(start, end)
                return before
            better = self._over(text, mistake) if paired and mistake.code not in _OPEN else None
            if better is None:
                mended = None if paired else _with_one_brace(text)
                read = self._read_mended(start, end, mended) if mended is not None else None
                if read is not None:
                    return read
                break  # it is unknown which parts belong together
            text = better.text
            self._lose_attempt(better, start, end)
        self._lose(start, end)
        return ()

    def _read_mended(self, start: int, end: int, mended: str) -> tuple[ast.Declaration, ...] | None:
        """Return the declarations in [start, end), whose text was given its missing brace. Returns None if the text has
        other mistakes."""
        try:
            read = parse_part(self.source, start, mended).declarations
        except SpecError:
            return None
        self.lost.parts.append((start, end))
        if mended.count("{") > 1:  # an inner block may have been closed too early
            self._doubt(start, end)
        return read

    def _lose_attempt(self, attempt: _Attempt, start: int, end: int) -> None:
        """Record the range and the words of the text that an attempt leaves out of [start, end)."""
        text, begin, stop = attempt.text, start + attempt.start, start + attempt.end
        self.lost.places.append((begin, max(stop, begin + 1)))
        if text.startswith("param"):
            self.lost.words.update(_WORD.findall(text)[1:2])
        if attempt.statement:
            self.lost.parts.append((start, end))
            self.lost.words.update(_WORD.findall(self.source.text[begin:stop]))
        elif text.startswith("hardware"):  # a fact is named by its key
            self.lost.words.update(_WORD.findall(text, 0, attempt.start)[-1:])
            self.lost.words.update(_WORD.findall(text, attempt.start, attempt.end)[:1])

    def _is_reported(self, mistake: Diagnostic, start: int) -> bool:
        moved = mistake.moved(self.source, start)
        return any((each.code, each.span) == (moved.code, moved.span) for each in self.found)

    def _lose(self, start: int, end: int) -> None:
        """Leave out everything in [start, end) of the text."""
        self.lost.places.append((start, end))
        self.lost.words.update(_names(self.source.text[start:end]))
        self.lost.whole = False

    def _doubt(self, start: int, end: int) -> None:
        """Keep only the names of the declarations read in [start, end), and report nothing about these declarations."""
        self.lost.places.append((start, end))
        self.lost.whole = False

    def _over(self, text: str, mistake: Diagnostic) -> _Attempt | None:
        """Return the smallest change of a part's text that gets the parser past a mistake."""
        if self.spent + 2 * len(text) > _BUDGET:
            return None
        stopped = readable_until(text)
        self.spent += len(text)
        cause = mistake.span.start if mistake.span else 0
        if stopped > cause and (without := _without_string(text, cause)):
            return without
        builds = stopped > len(text)  # the mistake is within a number
        at = cause if builds else stopped
        for attempt in _attempts(text, at, min(cause, at), mistake):
            if self.spent > _BUDGET:
                return None
            self.spent += len(text)
            if builds or readable_until(attempt.text) > max(at, attempt.end if attempt.end < len(text) else at):
                return attempt
        return None


def _misspelt_declaration(mistake: Diagnostic) -> int | None:
    """If the mistake is an unknown word where a declaration should begin, return the word's offset. Return None for
    other mistakes."""
    return mistake.span.start if mistake.code == syntax_errors.UnknownDeclaration.code and mistake.span else None


def _without_string(text: str, at: int) -> _Attempt | None:
    """Return the text with an empty string in place of the string at `at`, whose mistakes are already known."""
    pieces = takewhile(lambda piece: piece.start() < at, PIECE.finditer(text))
    around = next((piece for piece in pieces if at < piece.end()), None)
    return _put(text, *around.span(), '""') if around and around.lastgroup == "string" else None


def _put(text: str, begin: int, end: int, instead: str, *, statement: bool = False) -> _Attempt:
    blank = _BLANK.sub(" ", text[begin:end])[len(instead) :]
    return _Attempt(text[:begin] + instead + blank + text[end:], begin, end, statement)


def _attempts(text: str, at: int, cause: int, mistake: Diagnostic) -> Iterator[_Attempt]:
    """Yield the ways to get past a mistake at `at`, starting with those that leave out the least."""
    change = mistake.suggestion
    if change is not None and len(change.replacement) <= change.span.end - change.span.start:
        yield _put(text, change.span.start, change.span.end, change.replacement)
    if text.startswith(("metric", "expect", "param", "use")):
        yield from _over_line(text, at)
    elif "{" in text:  # otherwise the block is missing, and not the text before it
        yield from _in_block(text, at, cause)


def _over_line(text: str, at: int) -> Iterator[_Attempt]:
    """Yield the ways to get past a mistake in a metric, an expectation, a parameter or a `use`."""
    put = partial(_put, text)
    tail = _TAIL.search(text)
    if tail and tail.start() <= at:
        yield put(tail.start(), len(text), "")
    if text.startswith(("metric", "param")) and (head := _NAMED.match(text)) and len(text) - head.end() > 2:
        sign = text.find("=", head.end())
        if head.end() <= sign < at and len(text) - sign > 2:
            yield put(sign, len(text), "= _")
        yield put(head.end(), len(text), " =_")
    if (head := _EXPECT.match(text)) and len(text) - head.end() > 2:
        yield put(head.end(), len(text), " _")


def _in_block(text: str, at: int, cause: int) -> Iterator[_Attempt]:
    """Yield the ways to get past a mistake in a block."""
    put = partial(_put, text)
    begin, end = _statement(text, at, cause)
    key, _ = _statement(text, at, at)
    if _DANGLING.search(text, 0, key):  # `threads = 1..` continues with the key after it
        before, _ = _statement(text, key - 1, key - 1)
        earlier = _equals(text, before, key)
        if earlier is not None and key - earlier > 2:
            yield put(earlier, key, f"={_HOLDER}")
    if begin > 0:
        equals = _equals(text, begin, end)
        if equals is not None and end - equals > 2:
            yield put(equals, end, f"={_HOLDER}")
        word = _WORD.match(text, begin)
        if equals is None and (head := _HEAD.match(text, begin)) and cause < head.end(2):
            yield put(head.start(2), head.end(2), "", statement=True)
        elif equals is None and word and end - word.end() > 2:
            yield put(begin, end, f"{word.group()}={_HOLDER}")
        yield put(begin, _closed(text, begin, end), "", statement=True)
    elif head := _HEAD.match(text):
        yield put(head.start(2), head.end(2), "", statement=True)
    if (piece := PIECE.match(text, at)) and piece.lastgroup == "sign" and piece.group() != "=":
        yield put(at, piece.end(), "")


def _statement(text: str, at: int, cause: int) -> tuple[int, int]:
    """Return the range of the attribute or block head that contains the cause of a mistake, up to the next attribute or
    block head after `at`."""
    starts, ends = _outline(text)
    begin = max((place for place in starts if place <= cause), default=0)
    following = starts[bisect_right(starts, max(at, begin)) :] if at not in starts or at == begin else [at]
    last = following[0] if following else len(text)
    return begin, next((end for end in ends if begin < end <= last and end >= at), last)


def _outline(text: str) -> tuple[list[int], list[int]]:
    """Return the offsets at which attributes and inner blocks begin, and the offsets at which blocks are closed."""
    starts: list[int] = []
    ends: list[int] = []
    stack: list[str] = []
    before = word = ""
    for piece in PIECE.finditer(text):
        kind, word = piece.lastgroup, piece.group()
        if kind == "blank":
            continue
        line_start = not text[text.rfind("\n", 0, piece.start()) + 1 : piece.start()].strip()
        if kind == "word":
            keyed = _KEY.match(text, piece.end()) is not None
            inside = bool(stack) and stack[-1] == "{"
            if keyed and line_start and not inside and stack:  # of a bracket that was never closed
                while stack and stack[-1] != "{":
                    stack.pop()
                inside = True
            if inside and (keyed or before == "{" or (line_start and before not in _GOES_ON)):
                starts.append(piece.start())
        elif word in ("(", "["):
            stack.append("(")
        elif word == "{":
            stack.append("(" if before in _GOES_ON else "{")
        elif word in (")", "]"):
            if stack and stack[-1] == "(":
                stack.pop()
        elif word == "}" and stack and stack.pop() == "{":
            ends.append(piece.start())
        before = word
    return starts, ends


_KEY = compile_late(r'[ \t]*(?:"[^"\r\n]*"[ \t]*)?=(?![=<>])')


def _equals(text: str, begin: int, end: int) -> int | None:
    """Return the index of the `=` of the attribute in `text[begin:end]`, or None if there is none."""
    word = _WORD.match(text, begin, end)
    sign = _KEY.match(text, word.end(), end) if word else None
    return sign.end() - 1 if sign else None


def _closed(text: str, begin: int, end: int) -> int:
    """Return the offset at which all blocks opened in [begin, end) are closed, or `end` if no blocks are opened."""
    depth = 0
    for piece in PIECE.finditer(text, begin):
        if piece.start() >= end and depth <= 0:
            break
        depth += {"{": 1, "}": -1}.get(piece.group(), 0)
        if piece.start() >= end and depth == 0:
            return piece.end()
    return end


def _names(text: str) -> Iterator[str]:
    """Yield the words that may be names, without units and without the words in comments and strings."""
    before = ""
    for piece in PIECE.finditer(text):
        if piece.lastgroup == "word" and before != "number":
            yield piece.group()
        if piece.lastgroup != "blank":
            before = piece.lastgroup or ""


def _with_one_brace(text: str) -> str | None:
    """Return a block's text without its surplus `}`, or with its missing last `}`. Returns None if it is not clear
    which brace is wrong."""
    braces = [(piece.group(), piece.start()) for piece in PIECE.finditer(text) if piece.group() in ("{", "}")]
    depth = 0
    for sign, at in braces:
        depth += 1 if sign == "{" else -1
        if depth < 0:
            return f"{text[:at]} {text[at + 1 :]}"
    rest = len(text.rstrip())
    if [sign for sign, _ in braces] == ["{"] and rest < len(text):  # of several, each could be the one that is open
        return f"{text[:rest]}}}{text[rest + 1 :]}"
    return None


def _paired(text: str) -> bool:
    """Return whether a part closes exactly the blocks that it opens."""
    depth = 0
    for piece in PIECE.finditer(text):
        depth += {"{": 1, "}": -1}.get(piece.group(), 0)
        if depth < 0:
            return False
    return depth == 0
