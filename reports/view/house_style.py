"""Finds the look of a brief: its template and house style (logo, style sheet, typefaces). Also finds missing
typefaces."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from markupsafe import Markup

from benchbrief.compiler.briefs.colours import contrast_on_white
from benchbrief.compiler.briefs.confined_styles import refused_style
from benchbrief.compiler.registry import TEMPLATE_SPECS, RefusedExtension
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.extension_spec import TemplateSpec, raised
from benchbrief.model.plan import Asset, Report, Theme
from benchbrief.reports.brief_error import ReportError

FIRST = "brief.html.j2"
"""The main file of a template, which includes all its other files."""


def template_of(name: str) -> TemplateSpec:
    """Return the spec of a template. Raises ReportError if the template cannot be used."""
    match TEMPLATE_SPECS.find(name):
        case TemplateSpec() as spec:
            return spec
        case RefusedExtension(source=source, why=why, hint=hint):
            raise ReportError(f"the template `{name}` of {source} can't be used: {why}", hint)
    known = ", ".join(TEMPLATE_SPECS.names)
    raise ReportError(f"there is no template `{name}`", f"install the package that has it, or write one of: {known}")


def folder_of(spec: TemplateSpec) -> Traversable:
    """Return the folder of a template's files. Raises ReportError if there is none."""
    try:
        folder = files(spec.implementation)
    except BaseException as error:  # importing another package may raise anything
        raise _unusable(spec, f"`{spec.implementation}` can't be imported: {raised(error)}") from error
    if not (folder / FIRST).is_file():
        raise _unusable(spec, f"`{spec.implementation}` has no file {FIRST}")
    return folder


def files_of_others(spec: TemplateSpec) -> tuple[str, ...]:
    """Return the paths of another package's template files, so that mistakes in them are reported by file and line."""
    own = spec.name in TEMPLATE_SPECS.own
    return () if own else tuple(str(file) for file in folder_of(spec).iterdir() if file.is_file())


def _unusable(spec: TemplateSpec, why: str) -> ReportError:
    package = TEMPLATE_SPECS.source(spec.name) or "benchbrief"
    return ReportError(f"the template `{spec.name}` of {package} can't be used: {why}", "install the package again")


Kept = Callable[[str, str], bytes]
"""A function that finds a file by its name and SHA-256, and returns its contents as they were when the spec was
checked. Raises OSError."""
_WEIGHTS = (
    (r"thin", 100), (r"extra-?light", 200), (r"light", 300), (r"medium", 500), (r"semi-?bold|demi", 600),
    (r"extra-?bold|heavy", 800), (r"black", 900), (r"bold", 700),
)  # fmt: skip


_READABLE = 4.5
"""The least contrast of readable text by WCAG 2.2. Text on a brand colour is black if white text would have less
contrast."""
_DARK_ON_BAND = "--band-text: #10181f; --band-ink: #10181f; --band-soft: #10181f;"
_NOTHING = Markup("")
_USUAL_FONTS = {"en": "Inter", "ja": "Noto Sans CJK JP"}


@dataclass(frozen=True)
class House:
    """The pictures and styles of a brief. `logo` and `cover` are data URLs, or "". `logo_file` is the logo's file name
    and content, for a page with separate pictures.

    The style sheets apply in this order: `paper`, the layout's own, `look` with the colours and typefaces, and `css`,
    which is the user's.
    """

    logo: str = ""
    css: Markup = _NOTHING
    paper: Markup = _NOTHING
    parts: tuple[tuple[str, str, str], ...] = ()
    """The user's parts: the name of each, the path that messages give for it, and its text."""
    logo_file: tuple[str, bytes] | None = None
    look: Markup = _NOTHING
    cover: str = ""

    def of_disclosure(self) -> House:
        """The style of a disclosure, which ignores the user's style sheet and parts."""
        return replace(self, css=_NOTHING, parts=())

    def with_logo_in(self, folder: str) -> House:
        """Return the style with a link to the logo's file in this folder."""
        return replace(self, logo=f"{folder}/{self.logo_file[0]}") if self.logo_file else self


def house_of(report: Report, kept: Kept | None, paper: str | None = None) -> House:
    """Return the house style. Raises ReportError if one of its files is missing."""
    theme = report.theme
    rules = []
    colours = {"--brand": theme.brand, "--accent": theme.accent}
    rules += [f":root {{ {name}: {colour}; }}" for name, colour in colours.items() if colour]
    if theme.brand and contrast_on_white(theme.brand) < _READABLE:
        rules.append(f":root {{ {_DARK_ON_BAND} }}")
    name = family_of(theme)
    for asset in theme.font_files:
        data = base64.b64encode(content_of(asset, kept)).decode()
        weight, style = _face(asset.file)
        rules.append(
            f'@font-face {{ font-family: "{name}"; src: url(data:font/ttf;base64,{data}); '
            f"font-weight: {weight}; font-style: {style}; }}"
        )
    if name:
        rules.append(f':root {{ --house: "{name}"; }} html {{ font-family: "{name}", var(--sans); }}')
        rules.append(f'@page {{ font-family: "{name}", "Inter", "Noto Sans CJK JP", sans-serif; }}')
    parts = tuple((Path(part.file).name, part.file, _text(part, kept)) for part in report.parts)
    logo, logo_file = "", None
    if theme.logo:
        content = content_of(theme.logo, kept)
        logo, logo_file = _data_url(content), (f"logo.{_kind(content).partition('+')[0]}", content)
    cover = _data_url(content_of(theme.cover, kept)) if theme.cover else ""
    size = Markup(_paper(paper or report.paper))  # noqa: S704  # one of two
    look = Markup("\n".join(rules))  # noqa: S704  # colours, and names without signs
    css = Markup(_sheet(theme.css, kept).replace("</", "<\\/")) if theme.css else _NOTHING  # noqa: S704  # in a <style>
    return House(logo, css, size, parts, logo_file, look, cover)


def _data_url(picture: bytes) -> str:
    return f"data:image/{_kind(picture)};base64,{base64.b64encode(picture).decode()}"


def _kind(picture: bytes) -> str:
    starts = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg"}
    return next((kind for start, kind in starts.items() if picture.startswith(start)), "svg+xml")


def family_of(theme: Theme) -> str:
    """Return the name that style sheets use for the house's typeface, or "" if the house has no typeface of its own."""
    return re.sub(r"[^\w .-]", "", theme.font) or ("house" if theme.font_files else "")


def typeface_of(report: Report) -> str:
    """Return the only typeface of editable files: the house's, or else the usual one for the language."""
    return report.theme.font or _USUAL_FONTS.get(report.language, _USUAL_FONTS["en"])


def font_of(report: Report) -> str:
    """Return the CSS font families of a report's figures."""
    usual, house = _USUAL_FONTS.get(report.language, _USUAL_FONTS["en"]), family_of(report.theme)
    return f"'{house}', {usual}, sans-serif" if house else f"{usual}, sans-serif"


def _paper(paper: str) -> str:
    size, height = ("letter", "279.4mm") if paper == "letter" else ("A4", "297mm")
    return f"@page {{ size: {size}; }} :root {{ --page-height: {height}; }}"


def _face(file: str) -> tuple[int, str]:
    """Return the weight and style that the words of a font file's name indicate."""
    name = Path(file).stem.lower()
    weight = next((weight for words, weight in _WEIGHTS if re.search(words, name)), 400)
    return weight, "italic" if re.search("italic|oblique", name) else "normal"


def _text(asset: Asset, kept: Kept | None) -> str:
    try:
        return content_of(asset, kept).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReportError(f"{asset.file} is no text in UTF-8", "save it as UTF-8") from error


def _sheet(asset: Asset, kept: Kept | None) -> str:
    """Return the style sheet. Raises ReportError if the style sheet of an earlier run has rules that are now
    forbidden."""
    css = _text(asset, kept)
    if found := refused_style(css):
        raise ReportError(
            f"{asset.file}:{found.line}: `{found.what}` can't stand in a house style: {found.why}",
            "take it out, and render the report of the spec: bench report --spec FILE",
        )
    return css


def content_of(asset: Asset, kept: Kept | None) -> bytes:
    try:
        return kept(asset.file, asset.sha256) if kept else Path(asset.file).read_bytes()
    except OSError as error:
        raise ReportError(
            f"{asset.file} of the report's house style can't be read: {error.strerror}",
            "for the files as they are now: bench report --spec FILE",
        ) from error


_PACKAGES = {
    "ja": "fonts-noto-cjk (Debian, Ubuntu) or google-noto-sans-cjk-fonts (Fedora)",
    "ko": "fonts-noto-cjk (Debian, Ubuntu) or google-noto-sans-cjk-fonts (Fedora)",
    "zh": "fonts-noto-cjk (Debian, Ubuntu) or google-noto-sans-cjk-fonts (Fedora)",
}


def missing_typefaces(report: Report) -> str:
    """Return a sentence on the missing typefaces of a report, or "" if there are none."""
    own = "" if report.theme.font_files else unknown_typeface(family_of(report.theme))
    return "; ".join(filter(None, (own, hint_for_letters(report.language))))


def unknown_typeface(font: str, fc_list: str | None = None) -> str:
    """If a house style's typeface is not installed here, return a sentence saying so. Return "" if it is installed or
    if that is unknown."""
    if not _is_missing(font, fc_list):
        return ""
    other = f"another{_taken_for(font)}"
    return f"no typeface `{font}` is installed here, so the PDF is in {other}: install it, or give its `font_files`"


def typeface_of_files(report: Report, fc_list: str | None = None) -> str:
    """If the typeface of editable files is not installed here, return a sentence saying so. Return "" if it is
    installed or if that is unknown."""
    font = typeface_of(report)
    if not _is_missing(font, fc_list):
        return ""
    where = f"and show in another{_taken_for(font)} where it is missing, with other line breaks"
    return f"no typeface `{font}` is installed here: files to edit name it, {where}; install it where they are shown"


def _is_missing(font: str, fc_list: str | None) -> bool:
    return bool(font) and _families(f":family={re.escape(font)}", fc_list) == ""


def _taken_for(font: str) -> str:
    """Return, in brackets, the installed typeface that replaces a missing one, or "" if that is unknown."""
    program = shutil.which("fc-match")
    family = _asked(program, "-f", "%{family[0]}", font) if program else ""
    return f" ({family})" if family else ""


def hint_for_letters(language: str, fc_list: str | None = None) -> str:
    """If no installed typeface has the letters of the language, return what to do about it. Otherwise, return "".

    Without `fc-list`, also return "", because the brief itself shows missing letters.
    """
    code = re.split("[-_]", language)[0].lower()
    if not re.fullmatch("[a-z]{2,3}", code):  # a name that no language has
        return ""
    if _families(f":lang={code}", fc_list) != "":
        return ""
    package = _PACKAGES.get(code, "a Noto typeface for it")
    return f"no installed typeface has the letters of `{language}`, which show as boxes: install {package}"


_USUAL_LETTERS = re.compile(r"[\u0000-\u024f\u0370-\u052f\u2000-\u22ff\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]+")
"""The letters that the typefaces of all our languages have."""
_MOST_LETTERS = 8


def letters_without_typeface(text: str, fc_list: str | None = None) -> str:
    """Return the letters of a text (such as emoji) that no installed typeface has, and what to do about it. Return ""
    if there are none."""
    rare = [
        letter for letter in dict.fromkeys(_USUAL_LETTERS.sub("", text)) if unicodedata.category(letter)[0] in "LNS"
    ]
    lacking = [
        letter for letter in [*rare][: 4 * _MOST_LETTERS] if _families(f":charset={ord(letter):x}", fc_list) == ""
    ]
    if not lacking:
        return ""
    shown = ", ".join(f"U+{ord(letter):04X}" for letter in lacking[:_MOST_LETTERS])
    return f"no installed typeface has {shown}, which show as boxes in the PDF: take them out, or install a typeface"


def _families(pattern: str, fc_list: str | None) -> str | None:
    """Return the installed families that match a fontconfig pattern, or None if that is unknown."""
    program = fc_list or shutil.which("fc-list")
    return _asked(program, pattern, "family") if program else None


def _asked(*command: str) -> str | None:
    """Return the output of a fontconfig program, or None if it fails."""
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return asked.stdout.strip()
