"""Converts a brief's page to Markdown: CommonMark with GitHub's tables and footnotes. Only this module uses
markdownify."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from html import unescape
from typing import Any

import markdownify

from benchbrief.reports.brief_error import hides
from benchbrief.reports.text.html_markup import letters

_BLOCKS = re.compile(r"(?m)^(\s*)([#>+-])(?=\s)")
_STOPS = ("。", "．", "！", "？")
_NO_TEXT = re.compile(r"!\[(?:\\.|[^\]\\])*\]\([^)]*\)|(?<=[^\\]\])\([^)]*\)|</?[a-z][^>]*>|\[\^\d+\]")
_ROW = re.compile(r'<tr id="([\w-]+)"([^>]*)>(<th[^>]*>)')


def to_markdown(html: str) -> str:
    """Return the page's contents in Markdown: headings with `#`, figures as links to their files, and footnotes as
    `[^1]`."""
    body = re.sub(r"^.*?<body[^>]*>|</body>.*$", "", html, flags=re.DOTALL)
    body = re.sub(r'<div class="running-foot".*?</div>', "", body, flags=re.DOTALL)
    body = re.sub(r"</tbody>\s*<tbody>", "", body)  # a table has one head
    body = re.sub(r'(<tr class="group">)<th[^>]*>(.*?)</th>', r"\1<td>\2</td>", body, flags=re.DOTALL)
    anchors = {found[1] for found in _ROW.finditer(body)}
    body = _ROW.sub(r'<tr\2>\3<a id="\1"></a>', body)
    text = _PageConverter(anchors).convert(body)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip() + "\n"


class _PageConverter(markdownify.MarkdownConverter):
    """Converts a page. Only links to footnotes and to the table rows in `anchors` are kept."""

    def __init__(self, anchors: set[str]) -> None:
        super().__init__(heading_style="ATX", bullets="-", escape_misc=False, table_infer_header=True)
        self._anchors = anchors

    def escape(self, text: str, parent_tags: set[str]) -> str:
        return escape_markdown(text) if text else ""

    def convert_a(self, tag: Any, text: str, parent_tags: set[str]) -> str:
        if (name := tag.get("id")) in self._anchors:
            return f'<a id="{name}"></a>'
        if "h1" in parent_tags and "num" in (tag.get("class") or ()):
            return text
        target = str(tag.get("href") or "")
        if target.startswith("#") and not target.startswith("#note-") and target[1:] not in self._anchors:
            return text
        return str(super().convert_a(tag, text, parent_tags))  # type: ignore[misc]  # it ships no types

    def convert_img(self, tag: Any, _text: str, parent_tags: set[str]) -> str:
        return f"![{escape_markdown(' '.join(str(tag.get('alt') or '').split()))}]({tag.get('src')})"

    def convert_b(self, tag: Any, text: str, parent_tags: set[str]) -> str:
        return text if "_noformat" in parent_tags else _emphasis("**", "strong", tag, text)

    convert_strong = convert_b

    def convert_em(self, tag: Any, text: str, parent_tags: set[str]) -> str:
        return text if "_noformat" in parent_tags else _emphasis("*", "em", tag, text)

    convert_i = convert_em

    def convert_td(self, tag: Any, text: str, parent_tags: set[str]) -> str:
        return str(super().convert_td(tag, _in_a_cell(text), parent_tags))  # type: ignore[misc]  # it ships no types

    def convert_th(self, tag: Any, text: str, parent_tags: set[str]) -> str:
        return str(super().convert_th(tag, _in_a_cell(text), parent_tags))  # type: ignore[misc]  # it ships no types

    def convert_sup(self, tag: Any, text: str, parent_tags: set[str]) -> str:
        """Convert references to footnotes into `[^1]`, and drop the letters at the footnotes themselves."""
        numbers = re.findall(r"#note-(\d+)", text)
        if numbers:
            return "".join(f"[^{number}]" for number in numbers)
        return "" if tag.get("class") == ["of-note"] else f"<sup>{text}</sup>"

    def convert_p(self, tag: Any, text: str, parent_tags: set[str]) -> str:
        if str(tag.get("id") or "").startswith("note-"):
            number = tag["id"].removeprefix("note-")
            return f"\n\n[^{number}]: {' '.join(text.split())}\n\n"
        return str(super().convert_p(tag, text, parent_tags))  # type: ignore[misc]  # it ships no types

    def convert_figcaption(self, _tag: Any, text: str, parent_tags: set[str]) -> str:
        return f"\n\n{text.strip()}\n\n"


def require_in_markdown(markdown: str, texts: Iterable[str]) -> None:
    """Raise ReportError if the text of a page's Markdown lacks one of the required texts. Pictures and link targets do
    not count as text."""
    read = letters(unescape(_NO_TEXT.sub("", markdown)))
    for text in texts:
        if letters(text) not in read:
            raise hides(text)


def escape_markdown(text: str) -> str:
    """Escape plain text for CommonMark, so that no part of it is HTML, a link, a picture, code or a block mark."""
    text = re.sub(r"([\\`*_\[\]])", r"\\\1", text)
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text).replace("<", "&lt;")
    return _BLOCKS.sub(r"\1\\\2", text)


def _emphasis(mark: str, name: str, tag: Any, text: str) -> str:
    """Return `text` between emphasis marks if CommonMark would read them as emphasis, or else between HTML tags.

    A mark does not open emphasis before punctuation, or close it after punctuation, if a letter is on the mark's other
    side (flanking delimiter runs, CommonMark 0.31 section 6.2). In scripts without blanks, this affects the full stop
    at the end of `text`.
    """
    inner = text.strip()
    stop = inner[-1:] if inner[-1:] in _STOPS else ""
    inner = inner.removesuffix(stop)
    if not inner:
        return text
    before = "" if text[0].isspace() else _text_of(tag.previous_sibling)[-1:]
    after = stop or ("" if text[-1].isspace() else _text_of(tag.next_sibling)[:1])
    stands = not (_is_sign(inner[0]) and _is_letter(before)) and not (_is_sign(inner[-1]) and _is_letter(after))
    marked = f"{mark}{inner}{mark}" if stands else f"<{name}>{inner}</{name}>"
    return f"{text[: len(text) - len(text.lstrip())]}{marked}{stop}{text[len(text.rstrip()) :]}"


def _text_of(node: Any) -> str:
    return "" if node is None else str(node.get_text())


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _is_letter(character: str) -> bool:
    return bool(character) and not character.isspace() and not _is_sign(character)


def _in_a_cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\|", text)
