"""A report's house style as what templates take: the logo as a picture, and a style sheet of ours with the user's."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from benchbrief.compiler.briefs.confined_styles import refused
from benchbrief.compiler.plan import Asset, Report, Theme
from benchbrief.reports.errors import ReportError

Kept = Callable[[str, str], bytes]
"""The content of a file by its name and SHA-256, as it was when the spec was checked. Raises OSError."""
_WEIGHTS = (
    (r"thin", 100), (r"extra-?light", 200), (r"light", 300), (r"medium", 500), (r"semi-?bold|demi", 600),
    (r"extra-?bold|heavy", 800), (r"black", 900), (r"bold", 700),
)  # fmt: skip


_NOTHING = Markup("")


@dataclass(frozen=True)
class House:
    """`logo` is the address of a picture, all of it in itself, or empty; `logo_file` its file's name and content, for a
    page that has its pictures beside it. `paper` comes before the layout's own style sheet, `css` after it."""

    logo: str = ""
    css: Markup = _NOTHING
    paper: Markup = _NOTHING
    parts: tuple[tuple[str, str, str], ...] = ()
    """Of each of the user's parts its name, the path that messages call it by, and its text."""
    logo_file: tuple[str, bytes] | None = None

    def with_logo_in(self, folder: str) -> House:
        """With the logo as a link to its file there."""
        return replace(self, logo=f"{folder}/{self.logo_file[0]}") if self.logo_file else self


def house_of(report: Report, kept: Kept | None, paper: str | None = None) -> House:
    """Raises ReportError when a file of the style is gone."""
    theme = report.theme
    rules = []
    colours = {"--brand": theme.brand, "--accent": theme.accent}
    rules += [f":root {{ {name}: {colour}; }}" for name, colour in colours.items() if colour]
    name = family_of(theme)
    for asset in theme.font_files:
        data = base64.b64encode(_content(asset, kept)).decode()
        weight, style = _face(asset.file)
        rules.append(
            f'@font-face {{ font-family: "{name}"; src: url(data:font/ttf;base64,{data}); '
            f"font-weight: {weight}; font-style: {style}; }}"
        )
    if name:
        rules.append(f':root {{ --house: "{name}"; }} html {{ font-family: "{name}", var(--sans); }}')
        rules.append(f'@page {{ font-family: "{name}", "Inter", "Noto Sans CJK JP", sans-serif; }}')
    if theme.css:
        rules.append(_sheet(theme.css, kept).replace("</", "<\\/"))
    parts = tuple((Path(part.file).name, part.file, _text(part, kept)) for part in report.parts)
    logo, logo_file = "", None
    if theme.logo:
        content = _content(theme.logo, kept)
        kind, name_of = ("png", "logo.png") if content.startswith(b"\x89PNG") else ("svg+xml", "logo.svg")
        logo, logo_file = f"data:image/{kind};base64,{base64.b64encode(content).decode()}", (name_of, content)
    size = Markup(_paper(paper or report.paper))  # noqa: S704  # one of two
    css = Markup("\n".join(rules))  # noqa: S704  # the user's own style sheet, in a <style>
    return House(logo, css, size, parts, logo_file)


def family_of(theme: Theme) -> str:
    """What style sheets call the house's typeface by; empty where it has none of its own."""
    return re.sub(r"[^\w .-]", "", theme.font) or ("house" if theme.font_files else "")


def _paper(paper: str) -> str:
    size, height = ("letter", "279.4mm") if paper == "letter" else ("A4", "297mm")
    return f"@page {{ size: {size}; }} :root {{ --page-height: {height}; }}"


def _face(file: str) -> tuple[int, str]:
    """Weight and style, by the words of a font file's name."""
    name = Path(file).stem.lower()
    weight = next((weight for words, weight in _WEIGHTS if re.search(words, name)), 400)
    return weight, "italic" if re.search("italic|oblique", name) else "normal"


def _text(asset: Asset, kept: Kept | None) -> str:
    try:
        return _content(asset, kept).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReportError(f"{asset.file} is no text in UTF-8", "save it as UTF-8") from error


def _sheet(asset: Asset, kept: Kept | None) -> str:
    """Raises ReportError for a style sheet of an earlier version's run that says what none may say now."""
    css = _text(asset, kept)
    if found := refused(css):
        raise ReportError(
            f"{asset.file}:{found.line}: `{found.what}` can't stand in a house style: {found.why}",
            "take it out, and render the report of the spec: bench report --spec FILE",
        )
    return css


def _content(asset: Asset, kept: Kept | None) -> bytes:
    try:
        return kept(asset.file, asset.sha256) if kept else Path(asset.file).read_bytes()
    except OSError as error:
        raise ReportError(
            f"{asset.file} of the report's house style can't be read: {error.strerror}",
            "for the files as they are now: bench report --spec FILE",
        ) from error
