"""Converts Markdown with computed numbers to HTML, and removes anything harmful in the author's texts and in labels.

Raw HTML and images are disabled, and links are limited to http, https and mailto. Numbers are inserted as escaped text
after the Markdown is parsed, so that no value can open a tag or an emphasis.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from markupsafe import Markup, escape

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import FOOTNOTE_MARK, Prose, Said, Value
from benchbrief.reports.text.html_markup import note_marks

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


@dataclass(frozen=True)
class Inserted:
    """A printed number, as plain text and as HTML.

    `notes` are the numbers of its footnotes, such as one on why it is missing. `takes` is how many characters after the
    number it replaces, because they are its unit.
    """

    text: str
    html: Markup
    notes: tuple[int, ...] = ()
    takes: int = 0


@dataclass(frozen=True)
class Citation:
    """The mark of an author's footnote, given by the footnote's name."""

    name: str


class UnsaidClaim(ValueError):
    """Raised if a text still has a claim's name instead of its sentence, because `reports/view/said_claims.py` did not
    process the text."""


Insert = Callable[[Value | Citation, str], Inserted]
"""A function that takes a value and the text after it, and returns the number to print or the mark of a footnote."""

# A private-use character marks a number's place. Markdown sees a letter, and authors' texts have none.
_OPEN, _CLOSE, _JOINT = "\ue000", "\ue001", "\ue002"
_NONE = str.maketrans(dict.fromkeys((_OPEN, _CLOSE, _JOINT)))
_PLACE = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
_MARKED = re.compile(r"^(<span [^>]*>)<span>(.*)</span></span>$", re.DOTALL)
_ANCHOR = re.compile(r'^<a (.*?) href="[^"]*"(.*)</a>$', re.DOTALL)
_CJK = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u30ff]")  # except Korean, which has word spaces
_OUTWARD = re.compile(rf"(?<=[^\w\s*])(\*\*?)(?={_CJK.pattern})")
_INWARD = re.compile(rf"(?<={_CJK.pattern})(\*\*?)(?=[^\w\s*])")
"""Matches asterisks between a Japanese letter and punctuation. Markdown reads them as emphasis only if there is a
letter in between."""
_STOP = r"[.,;:!?)]*[.,;:!?](?=[\s<]|$)|\)+(?=<|$)"
"""Matches the end of a clause, where a note's mark is placed."""
_CLAUSE = re.compile(
    rf"{_OPEN}(?P<number>[0-9]+){_CLOSE}|(?P<stop>{_STOP})|(?=[、。，；：）])|(?P<tag><(?P<name>/?\w+)[^>]*>)"
)
_WITHIN = frozenset(("strong", "em", "code", "span", "bdi"))
"""Inline elements, which do not end a clause."""
_CJK_SIGN = re.compile("[\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]")


def blocks(prose: Prose, insert: Insert, heading_level: int) -> Markup:
    """Return paragraphs, lists and other blocks. A heading of level 1 becomes one of `heading_level`."""
    source, numbers = _source(prose, insert)
    tokens = _parser().parse(source)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, heading_level + int(token.tag[1]) - 1)}"
    return _render(tokens, numbers)


def inline(prose: Prose, insert: Insert) -> Markup:
    """Return text without block elements, for a table cell or a note."""
    source, numbers = _source(prose, insert)
    return _render(_parser().parseInline(source.strip()), numbers)


def heading(prose: Prose, insert: Insert) -> tuple[str, Markup, tuple[int, ...]]:
    """Return a title twice, without and with its numbers marked, and the numbers of its footnotes. The text parts of a
    title are plain. The footnotes' marks come after the title."""
    text, html, notes = list[str](), list[str](), dict[int, None]()
    taken = 0
    for index, part in enumerate(prose.parts):
        if isinstance(part, str):
            text.append(part[taken:])
            html.append(escape(part[taken:]))
            taken = 0
            continue
        if isinstance(part, Said):
            raise UnsaidClaim(part.claim)
        after = prose.parts[index + 1] if index + 1 < len(prose.parts) else ""
        found = insert(part, after if isinstance(after, str) else "")
        text.append(found.text)
        html.append(found.html)
        notes |= dict.fromkeys(found.notes)
        taken = found.takes
    return "".join(text), Markup().join(html), tuple(sorted(notes))


def plain(prose: Prose, insert: Insert) -> str:
    """Return only the text, for an alternative text or a heading."""
    return unescape(re.sub(r"<[^>]*>", "", inline(prose, insert))).strip()


def _source(prose: Prose, insert: Insert) -> tuple[str, list[Inserted]]:
    numbers: list[Inserted] = []
    source = []
    taken = 0

    def place_of(inserted: Inserted) -> str:
        numbers.append(inserted)
        return f"{_OPEN}{len(numbers) - 1}{_CLOSE}"

    def cited(mark: re.Match[str]) -> str:
        return place_of(insert(Citation(mark["name"]), "")) if mark["name"] else mark.group()

    for index, part in enumerate(prose.parts):
        if isinstance(part, str):
            source.append(FOOTNOTE_MARK.sub(cited, part[taken:].translate(_NONE)))
            taken = 0
            continue
        if isinstance(part, Said):
            raise UnsaidClaim(part.claim)
        after = prose.parts[index + 1] if index + 1 < len(prose.parts) else ""
        source.append(place_of(insert(part, after if isinstance(after, str) else "")))
        taken = numbers[-1].takes
    return _INWARD.sub(rf"\1{_JOINT}", _OUTWARD.sub(rf"{_JOINT}\1", "".join(source))), numbers


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "html_block", "html_inline"])
    parser.validateLink = _safe_link  # type: ignore[method-assign]  # the documented way to set a link policy
    return parser


def _safe_link(url: str) -> bool:
    return urlsplit(url.strip()).scheme.lower() in ("http", "https", "mailto")


def _render(tokens: list[Token], numbers: list[Inserted]) -> Markup:
    def as_html(match: re.Match[str]) -> str:
        number = int(match.group(1))
        found = numbers[number]
        if number in in_link:  # a link cannot be inside another
            return _MARKED.sub(r"\1\2</span>", _ANCHOR.sub(r"<span \1\2</span>", str(found.html)))
        return str(found.html)

    in_link: set[int] = set()
    links = 0
    for token in _flat(tokens):
        links += {"link_open": 1, "link_close": -1}.get(token.type, 0)
        if links and not token.children:
            in_link |= {int(number) for number in _PLACE.findall(token.content)}
        _drop_breaks_between_cjk(token)
        token.info = ""  # the language of a code block would become part of an attribute
        if token.attrs:  # an address or a title: plain text, and never markup
            token.attrs = {name: _in_attribute(str(value), numbers) for name, value in token.attrs.items()}
    html: str = _parser().renderer.render(tokens, _parser().options, {})
    marked = _with_marks(html.replace(_JOINT, ""), numbers)
    return Markup(_PLACE.sub(as_html, marked))  # noqa: S704  # rendered with raw HTML off; numbers escaped above


def _with_marks(html: str, numbers: list[Inserted]) -> str:
    """Move the marks of notes to the ends of the clauses with their numbers, because a mark beside a number would look
    like a digit. Marks are not moved into brackets that open after the number, and the author's own marks are
    unchanged.
    """
    found, pending, in_link, end = list[str](), dict[int, None](), 0, 0
    brackets = 0

    def put_marks() -> None:
        behind_stop = re.fullmatch(_STOP, found[-1]) if found else None
        found.append(str(note_marks(sorted(pending), *([""] if behind_stop else []))))
        pending.clear()

    for match in _CLAUSE.finditer(html):
        found.append(html[end : match.start()])
        end = match.end()
        brackets += _opened(found[-1]) if pending else -brackets
        number, name = match["number"], (match["name"] or "").lower()
        in_link += {"a": 1, "/a": -1}.get(name, 0)
        ends_block = name.startswith("/") and name[1:] not in (*_WITHIN, "a")
        stops = not name and not number and not match["stop"] and brackets <= 0
        if pending and not in_link and (ends_block or name == "br" or stops):
            put_marks()
        found.append(match.group())
        brackets += _opened(match["stop"] or "")
        if number:
            inserted = numbers[int(number)]
            if inserted.notes:
                pending |= dict.fromkeys(inserted.notes)
                if not inserted.text:
                    put_marks()
        elif pending and match["stop"] and not in_link and brackets <= 0:
            put_marks()
    found.append(html[end:])
    put_marks()
    return "".join(found)


def _opened(text: str) -> int:
    """Return how many more opening than closing brackets a text has."""
    return sum((sign in "(（") - (sign in ")）") for sign in text)


def _in_attribute(value: str, numbers: list[Inserted]) -> str:
    for index, found in enumerate(numbers):
        place = f"{_OPEN}{index}{_CLOSE}"
        value = value.replace(place, found.text).replace(quote(place), quote(found.text))
    return value


def _flat(tokens: list[Token]) -> list[Token]:
    return [t for token in tokens for t in (token, *_flat(token.children or []))]


def _drop_breaks_between_cjk(token: Token) -> None:
    """Remove the blanks of line breaks in Japanese text, and those beside 、 or （, which have their own space."""
    children = token.children or []
    for before, mid, after in zip(children, children[1:], children[2:], strict=False):
        if mid.type != "softbreak":
            continue
        ends = (before.content[-1:], after.content[:1])
        if all(map(_CJK.match, ends)) or any(map(_CJK_SIGN.match, ends)):
            mid.type, mid.content = "text", ""
