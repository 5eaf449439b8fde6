"""A page of ours as Markdown (CommonMark with GitHub's tables and footnotes). The one module that knows markdownify."""

from __future__ import annotations

import re
from typing import Any

_TABLE_HEAD = re.compile(r"(?m)^\| +\|\n\|( ---[ :|]*)+\n")


def to_markdown(html: str) -> str:
    """The page's contents: headings with `#`, figures as links to their files, footnotes as `[^1]`."""
    import markdownify

    class Converter(markdownify.MarkdownConverter):
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

    body = re.sub(r"^.*?<body[^>]*>|</body>.*$", "", html, flags=re.DOTALL)
    body = re.sub(r'<div class="running-foot".*?</div>', "", body, flags=re.DOTALL)
    text = Converter(heading_style="ATX", bullets="-", escape_misc=False, table_infer_header=True).convert(body)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip() + "\n"
