"""A page of ours as Markdown (CommonMark with GitHub's tables and footnotes). The one module that knows markdownify."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from html import unescape
from typing import Any

from benchbrief.reports.drawn_text import letters
from benchbrief.reports.errors import hides

_BLOCKS = re.compile(r"(?m)^(\s*)([#>+-])(?=\s)")
_STOPS = ("。", "．", "！", "？")
_NO_TEXT = re.compile(r"!\[(?:\\.|[^\]\\])*\]\([^)]*\)|(?<=[^\\]\])\([^)]*\)|</?[a-z][^>]*>|\[\^\d+\]")
_ROW = re.compile(r'<tr id="([\w-]+)"([^>]*)>(<th[^>]*>)')


def to_markdown(html: str) -> str:
    """The page's contents: headings with `#`, figures as links to their files, footnotes as `[^1]`."""
    import markdownify

    body = re.sub(r"^.*?<body[^>]*>|</body>.*$", "", html, flags=re.DOTALL)
    body = re.sub(r'<div class="running-foot".*?</div>', "", body, flags=re.DOTALL)
    body = re.sub(r"</tbody>\s*<tbody>", "", body)  # one head a table
    body = re.sub(r'(<tr class="group">)<th[^>]*>(.*?)</th>', r"\1<td>\2</td>", body, flags=re.DOTALL)
    anchors = {found[1] for found in _ROW.finditer(body)}
    body = _ROW.sub(r'<tr\2>\3<a id="\1"></a>', body)

    class Converter(markdownify.MarkdownConverter):
        def escape(self, text: str, parent_tags: set[str]) -> str:
            return escaped(text) if text else ""

        def convert_a(self, tag: Any, text: str, parent_tags: set[str]) -> str:
            """Within the page, only rows of tables and footnotes can be led to."""
            if (name := tag.get("id")) in anchors:
                return f'<a id="{name}"></a>'
            target = str(tag.get("href") or "")
            if target.startswith("#") and not target.startswith("#note-") and target[1:] not in anchors:
                return text
            return str(super().convert_a(tag, text, parent_tags))  # type: ignore[misc]  # it ships no types

        def convert_img(self, tag: Any, _text: str, parent_tags: set[str]) -> str:
            return f"![{escaped(' '.join(str(tag.get('alt') or '').split()))}]({tag.get('src')})"

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

        def convert_sup(self, _tag: Any, text: str, parent_tags: set[str]) -> str:
            """References, and the numbers that footnotes begin with: `[^1]`, and nothing."""
            numbers = re.findall(r"#note-(\d+)", text)
            if numbers:
                return "".join(f"[^{number}]" for number in numbers)
            return "" if text.strip().isdigit() else f"<sup>{text}</sup>"

        def convert_p(self, tag: Any, text: str, parent_tags: set[str]) -> str:
            if str(tag.get("id") or "").startswith("note-"):
                number = tag["id"].removeprefix("note-")
                return f"\n\n[^{number}]: {' '.join(text.split())}\n\n"
            return str(super().convert_p(tag, text, parent_tags))  # type: ignore[misc]  # it ships no types

        def convert_figcaption(self, _tag: Any, text: str, parent_tags: set[str]) -> str:
            return f"\n\n{text.strip()}\n\n"

    text = Converter(heading_style="ATX", bullets="-", escape_misc=False, table_infer_header=True).convert(body)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip() + "\n"


def require_in_markdown(markdown: str, texts: Iterable[str]) -> None:
    """Raises ReportError when the text of a page's Markdown lacks one of these: its pictures and where its links lead
    are no text."""
    read = letters(unescape(_NO_TEXT.sub("", markdown)))
    for text in texts:
        if letters(text) not in read:
            raise hides(text)


def escaped(text: str) -> str:
    """Plain text for CommonMark: nothing in it is taken for HTML, a link, a picture, code or the mark of a block."""
    text = re.sub(r"([\\`*_\[\]])", r"\\\1", text)
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text).replace("<", "&lt;")
    return _BLOCKS.sub(r"\1\\\2", text)


def _emphasis(mark: str, name: str, tag: Any, text: str) -> str:
    """`text` between marks where CommonMark takes these for emphasis, else between tags of HTML.

    Marks do not open before a sign, nor close behind one, with a letter on their other side (flanking delimiter runs,
    CommonMark 0.31 section 6.2): so it is in scripts without blanks, where the full stop that ends `text` is set apart.
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
