"""Reads the house style of a report: its `theme` block, and the folder of `parts` that replace parts of the layout.

The check reads the files, and the plan names them by their SHA-256, so that a run can keep them.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.colours import (
    ACCENT,
    GREY,
    NEAR,
    colour_of,
    contrast_on_white,
    darker,
    distance,
    greys,
)
from benchbrief.compiler.briefs.confined_styles import refused_style
from benchbrief.compiler.briefs.plan_prose import Body, read_body
from benchbrief.compiler.frontend.structure_errors import (
    DuplicateAttribute,
    MisplacedBlock,
    StrayLabel,
    UnknownWord,
    WrongType,
)
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.late_pattern import compile_late
from benchbrief.dsl.read_files_below import require_below
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.plan import key_text

if TYPE_CHECKING:
    from jinja2 import Environment, nodes


def why_not_whole(content: bytes, kind: str = "PNG") -> str:
    """Return why a PNG or JPEG is incomplete, after reading it to its last pixel, or "" if it is complete."""
    from PIL import Image, ImageFile, UnidentifiedImageError

    # WeasyPrint makes Pillow accept cut files, in the whole process.
    lenient, ImageFile.LOAD_TRUNCATED_IMAGES = ImageFile.LOAD_TRUNCATED_IMAGES, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=[kind]) as picture:
                picture.load()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return "it has too many pixels"
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):  # Pillow raises its own error inside
        return f"it is damaged, or only a part of a {kind}"
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = lenient
    return ""


_LONG = compile_late(r"\w{3000,}")

PARTS = (
    "title", "headline", "notice", "section", "text", "callout", "table", "figure", "figures", "formula", "facts",
    "disclosure", "provenance", "legal", "companion", "origin", "limits", "limitations", "method",
)  # fmt: skip
"""The parts that a user's folder may replace, as `NAME.html.j2`."""

NAMES = (
    "report", "w", "comma", "kind", "kicker", "medium", "house", "picture", "phone_picture", "query", "headline",
    "lead", "opening", "key_figure", "following", "slides", "slides_of_result", "closing_blocks", "conclusions",
    "title_width", "subtitle_width", "script", "policy",
)  # fmt: skip
"""Names that every part can use."""
OWN: Mapping[str, tuple[str, ...]] = {
    "notice": ("notice", "loop"),
    "section": ("block", "next", "loop"),
    "text": ("block", "next", "loop"),
    "headline": ("block",),
    "callout": ("block", "next", "loop"),
    "table": ("block", "next", "loop"),
    "figure": ("block", "next", "loop", "key_beside"),
    "figures": ("block", "next", "loop"),
    "formula": ("block", "next", "loop"),
    "facts": ("block", "next", "loop"),
    "disclosure": ("block", "next", "loop"),
}
"""The additional names that a part can use, for each part that has some."""
FILTERS = ("ticked", "marks", "lettered", "footed", "traced", "abridged", "unparted", "pictured")
"""Filters that a part can use in addition to Jinja's own."""
BASE = ("base/blocks.html.j2", "base/macros.html.j2")
"""Our own templates that a part may use."""
MACROS = ("notes", "noted", "remarks", "sources", "head", "table", "columns", "row_cards", "heat_key")
"""The macros of `base/macros.html.j2`."""

_TABLE = (
    "columns", "compared", "corner", "head", "heat", "id", "kind", "marks", "note", "notes", "number", "parts", "rows",
    "sources", "title", "title_html", "unit",
)  # fmt: skip
_FIGURE = (
    "alt", "cells", "claim", "claim_pt", "csv", "csv_link", "data", "data_head", "for_phone", "head_pt", "id",
    "is_rigid", "key", "kind", "marks", "native", "note", "notes", "number", "paper_svg", "points", "redrawn", "row",
    "sources", "svg", "title", "title_html", "undrawn", "wide", "width",
)  # fmt: skip
FIELDS: Mapping[str, tuple[str, ...]] = {
    "report": (
        "author", "blocks", "cells", "claims", "columns", "companion", "date", "disclosed", "every_limit",
        "every_limits_line", "further_count", "further_limits", "gaps", "grave_limits", "imported", "internal",
        "keywords", "language", "legal", "legal_notes", "limit_count", "limits", "limits_line", "made", "method",
        "notices", "numbers", "one_page", "origin", "profile", "provenance", "repeat", "run_id", "side_file",
        "simulated", "stated", "stated_limits", "subtitle", "subtitle_html", "title", "title_html", "title_notes",
        "version",
    ),
    "house": ("cover", "css", "logo", "logo_file", "look", "paper", "parts"),
    "notice": (
        "first",
        "is_grave",
        "is_stated",
        "limits",
        "link",
        "number",
        "of_method",
        "origin",
        "severity",
        "text",
        "title",
    ),
    "section": ("anchor", "blocks", "kind", "level", "title", "title_html"),
    "text": ("html", "id", "kind", "leads", "notes", "number"),
    "headline": ("beside", "kind", "notes", "numbers", "points", "wraps"),
    "callout": (
        "card_pt", "cards", "column", "html", "kind", "marks", "note", "notes", "sources", "table", "title",
        "title_html",
    ),
    "table": _TABLE,
    "figure": _FIGURE,
    "figures": ("figures", "kind"),
    "formula": ("cells", "for_label", "id", "kind", "marks", "name", "notes", "number", "sources", "steps", "title"),
    "facts": (
        "beside", "common", "corner", "groups", "heads", "id", "kind", "notes", "number", "observed", "rows",
        "shared", "sides", "title", "title_html",
    ),
    "disclosure": ("all_ok", "bad_cells", "cells", "groups", "kind"),
}  # fmt: skip
"""The fields of `report`, `house` and `notice`, and of `block` in each part that gets one."""


class BrokenTemplate(NamedTuple):
    """A file that is not a valid template."""

    line: int
    why: str


class Unknown(NamedTuple):
    """A name of some `kind` that is not among `known`."""

    line: int
    kind: str
    word: str
    known: tuple[str, ...]


def template_problems(part: str, text: str) -> Iterator[BrokenTemplate | Unknown]:
    """Return the mistakes in a template that replaces one of `PARTS`."""
    from jinja2 import TemplateSyntaxError, meta, nodes

    env = _environment()
    try:
        tree = env.parse(text)
        asked = meta.find_undeclared_variables(tree)  # and limits filters and tests to the existing ones
    except TemplateSyntaxError as error:
        yield BrokenTemplate(error.lineno, (error.message or "it ends too soon").rstrip("."))
        return
    except RecursionError:
        yield BrokenTemplate(1, "it is nested too deeply")
        return
    except ValueError:  # Python refuses to read longer numbers
        digits = _LONG.search(text)
        yield BrokenTemplate(text.count("\n", 0, digits.start() if digits else 0) + 1, "a number of too many digits")
        return
    known = (*NAMES, *OWN.get(part, ()))
    found: list[Unknown] = []
    for name in sorted(asked - {*known, *env.globals}):
        line = next((n.lineno for n in tree.find_all(nodes.Name) if n.name == name and n.ctx == "load"), 1)
        found.append(Unknown(line, "name", name, known))
    found += _fields(part, tree, asked)
    found += _templates(tree)
    yield from sorted(found, key=lambda unknown: unknown.line)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    """Return an environment like the one in `reports/render/templating.py`, but only for parsing.

    Jinja computes constants while it parses. It skips operators that a sandbox intercepts, and filters and tests that
    need the context, so this environment computes nothing.
    """
    from jinja2 import pass_context
    from jinja2.sandbox import SandboxedEnvironment

    class PartReader(SandboxedEnvironment):
        intercepted_binops = frozenset(SandboxedEnvironment.default_binop_table)
        intercepted_unops = frozenset(SandboxedEnvironment.default_unop_table)

    @pass_context
    def unasked(*_: object) -> str:
        return ""

    made = PartReader(autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    made.filters = dict.fromkeys((*made.filters, *FILTERS), unasked)
    made.tests = dict.fromkeys(made.tests, unasked)
    return made


def _fields(part: str, tree: nodes.Template, asked: set[str]) -> Iterator[Unknown]:
    """Yield the unknown fields of a part's names. Names that the part redefines are skipped."""
    from jinja2 import nodes

    given = {n.name for n in tree.find_all(nodes.Name) if n.ctx != "load"}
    given |= {n.target for n in tree.find_all(nodes.Import)}
    maybe = {id(n.node) for n in tree.find_all(nodes.Test) if n.name in ("defined", "undefined")}
    for node in tree.find_all(nodes.Getattr):
        if not isinstance(node.node, nodes.Name) or node.node.name not in asked - given or id(node) in maybe:
            continue
        of = node.node.name
        known = FIELDS.get(part if of == "block" else of) if of in ("report", "house", "notice", "block") else None
        if known and node.attr not in known:
            yield Unknown(node.lineno, "field", f"{of}.{node.attr}", tuple(f"{of}.{field}" for field in known))


def _templates(tree: nodes.Template) -> Iterator[Unknown]:
    """Yield the unknown templates that a part includes or imports by a literal name."""
    from jinja2 import nodes

    files = tuple(f"{part}.html.j2" for part in PARTS)
    known = (*(f"ours/{file}" for file in files), *files, *BASE)
    naming: list[nodes.Include | nodes.Import | nodes.FromImport | nodes.Extends] = [
        *tree.find_all(nodes.Include), *tree.find_all(nodes.Import), *tree.find_all(nodes.FromImport),
        *tree.find_all(nodes.Extends),
    ]  # fmt: skip
    for node in naming:
        wanted = node.template
        if not isinstance(wanted, nodes.Const) or getattr(node, "ignore_missing", False):
            continue
        if wanted.value not in known:
            yield Unknown(node.lineno, "template", str(wanted.value), known)
        elif isinstance(node, nodes.FromImport) and wanted.value == BASE[1]:
            names = (name if isinstance(name, str) else name[0] for name in node.names)
            yield from (Unknown(node.lineno, "macro", name, MACROS) for name in names if name not in MACROS)


KEYS = ("logo", "brand", "accent", "font", "font_files", "css", "cover", "pptx", "docx")
MOST_BYTES = 10_000_000
_AA = 4.5  # WCAG 2.2, success criterion 1.4.3, for text of usual size
_SHOWS = 2.0
"""The smallest contrast on white that is enough for things in a figure. Our own lightest colours have about as much."""
_PICTURES = {"logo": "an SVG or a PNG", "cover": "an SVG, a PNG or a JPEG"}
_OFFICE = {"pptx": "PowerPoint", "docx": "Word"}
_NAMES = {
    "logo": "a logo",
    "font_files": "a font file",
    "css": "a style sheet",
    "cover": "a cover",
    **{key: f"a template of {office}" for key, office in _OFFICE.items()},
}
_LOADS = compile_late(
    r"@import[^;]*"
    r"|\b(?:url|src|(?<!-)image)\(\s*[\"']?\s*(?!data:|#|\s)[^)]*\)?"
    r"|image-set\((?>type\([^)]*\)|url\(\s*[\"']?data:[^)]*\)|\"data:[^\"]*\"|'data:[^']*'|[^{};\"'])*+[\"'][^;}]*",
    re.IGNORECASE,
)
_STRING_OR_COMMENT = compile_late(r"(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE = compile_late(r"\\(?:([0-9a-fA-F]{1,6})[ \t]?|([^0-9a-fA-F\n\"'\\]))")
_PNG, _JPEG = b"\x89PNG\r\n", b"\xff\xd8\xff"
_FONTS = (b"\x00\x01\x00\x00", b"OTTO", b"true", b"wOF2", b"wOFF")


def theme(typer: Typer, block: ast.Block) -> plan.Theme:
    body = read_body(typer, block, KEYS, blocks=("palette",))
    accent = _colour(typer, body, "accent")
    return plan.Theme(
        logo=_file(typer, body.string("logo"), "logo", _PICTURES["logo"]),
        brand=_colour(typer, body, "brand"),
        accent=accent,
        font=_plain(body, "font"),
        font_files=tuple(_fonts(typer, body)),
        css=_css(typer, body),
        palette=_palette(typer, block, accent or ACCENT),
        cover=_file(typer, body.string("cover"), "cover", _PICTURES["cover"]),
        pptx=_file(typer, body.string("pptx"), "pptx", "a .potx or a .pptx that PowerPoint saved"),
        docx=_file(typer, body.string("docx"), "docx", "a .dotx or a .docx that Word saved"),
    )


def parts(typer: Typer, body: Body) -> tuple[plan.Asset, ...]:
    """Return the templates in the folder that `parts` names."""
    string, name = body.string("parts"), _plain(body, "parts")
    if string is None or not name:
        return ()
    folder = Path(string.span.source.name).parent / name
    if not is_folder(folder):
        typer.report(wrong.NoSuchFile(string.span, "folder", name, _beside(folder, name, folders=True)))
        return ()
    known = tuple(f"{part}.html.j2" for part in PARTS)
    found = []
    for path in sorted(folder.glob("*.j2")):
        if path.name not in known:
            typer.report(wrong.UnknownPart(string.span, "part", path.name, known))
            continue
        content = _content(path)
        if isinstance(content, str):
            typer.report(wrong.WrongFile(string.span, f"{name}/{path.name}", "a part", content, "a template"))
        else:
            found.append(_asset(path, content))
            _look_into(typer, string, f"{name}/{path.name}", content)
    return tuple(found)


def _look_into(typer: Typer, string: ast.String, written: str, content: bytes) -> None:
    """Report a part that is not a valid template, and each unknown name in it."""
    if not _is_text(content):
        typer.report(wrong.WrongFile(string.span, written, "a part", "it is not UTF-8 text", "a template in UTF-8"))
        return
    for found in template_problems(Path(written).name.split(".")[0], content.decode("utf-8")):
        if isinstance(found, BrokenTemplate):
            typer.report(wrong.BrokenPart(string.span, written, found.line, found.why))
        else:
            typer.report(wrong.UnknownInPart(string.span, found.kind, found.word, found.known, written, found.line))


def _fonts(typer: Typer, body: Body) -> list[plan.Asset]:
    values = [
        one for value in body.values("font_files") for one in (value.items if isinstance(value, ast.List) else (value,))
    ]
    wanted = "a TrueType, OpenType or WOFF font"
    files = (_file(typer, one, "font_files", wanted) for one in values if isinstance(one, ast.String))
    return [file for file in files if file]


def _css(typer: Typer, body: Body) -> plan.Asset | None:
    string = body.string("css")
    asset = _file(typer, string, "css", "a style sheet in UTF-8")
    if asset is None or string is None:
        return None
    text = Path(asset.file).read_text("utf-8")
    if loads := what_loads(text):
        line, what = loads
        return typer.refuse(wrong.LoadingStyle(string.span, string.plain or "", line, what))
    if found := refused_style(text):
        return typer.refuse(wrong.ReachingStyle(string.span, string.plain or "", found.line, found.what, found.why))
    return asset


def what_loads(css: str) -> tuple[int, str] | None:
    r"""Return the first address that a style sheet loads, with its line, or None if it loads nothing.

    Escapes are read as in CSS: `\75rl(` is `url(`, and a comment starts only outside a string. This check warns an
    author early; the page's policy and the PDF writer's fetcher stop everything else.
    """
    text = _ESCAPE.sub(_unescaped, _STRING_OR_COMMENT.sub(lambda found: found[1] or "\n" * found[0].count("\n"), css))
    loads = _LOADS.search(text)
    return (text.count("\n", 0, loads.start()) + 1, loads.group().strip()) if loads else None


def _unescaped(found: re.Match[str]) -> str:
    if found[2]:
        return found[2]
    code = int(found[1], 16)
    letter = chr(code) if code <= sys.maxunicode else " "
    return letter if letter.isprintable() and letter not in "\"'" else " "


def _file(typer: Typer, string: ast.String | None, key: str, wanted: str) -> plan.Asset | None:
    if string is None or not string.plain:
        return None
    folder = Path(string.span.source.name).parent
    path = folder / string.plain
    if not is_file(path):
        return typer.refuse(wrong.NoSuchFile(string.span, "file", string.plain, _beside(path, string.plain)))
    content = (
        "it is a link to another folder" if key == "cover" and _leads_away(folder, string.plain) else _content(path)
    )
    if isinstance(content, str):
        return typer.refuse(wrong.WrongFile(string.span, string.plain, _NAMES[key], content, wanted))
    why = ""
    if key in _PICTURES:
        why = _why_no_picture(content, _PICTURES[key])
    elif key == "font_files" and not content.startswith(_FONTS):
        why = "it is not a font"
    elif key in _OFFICE:
        why = why_no_office(content, key)
    elif key == "css" and not _is_text(content):
        why = "it is not UTF-8 text"
    if why:
        return typer.refuse(wrong.WrongFile(string.span, string.plain, _NAMES[key], why, wanted))
    return _asset(path, content)


def _leads_away(folder: Path, written: str) -> bool:
    """Return whether a path from the folder follows a link out of the folder."""
    inside, real = folder.resolve(), (folder / written).resolve()
    return not real.is_relative_to(inside) and str(real) != os.path.normpath(inside / written)


def _why_no_picture(content: bytes, wanted: str) -> str:
    for kind, start in (("PNG", _PNG), ("JPEG", _JPEG)):
        if kind in wanted and content.startswith(start):
            return why_not_whole(content, kind)
    if b"<svg" not in content[:4096]:
        return "it is another kind of file"
    return "" if _is_xml(content) else "it is damaged, or only a part of an SVG"


_OFFICE_PARTS = {"pptx": "ppt/presentation.xml", "docx": "word/document.xml"}
_MOST_UNPACKED = 10 * MOST_BYTES
_MACROS = (b"macroEnabled", b"vbaProject")
"""Words in the list of an office file's content types that show that the file contains macros."""


def why_no_office(content: bytes, key: str) -> str:
    """Return why a template of an office program can't be used, or "" if it can."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            sizes = {part.filename: part.file_size for part in packed.infolist()}
            if len(sizes) < len(packed.infolist()):
                return "it has two parts of one name"
            if sum(sizes.values()) > _MOST_UNPACKED:
                return f"it has more than {_MOST_UNPACKED // 1_000_000} MB when it is unpacked"
            if _OFFICE_PARTS[key] not in sizes:
                return f"it is no file of {_OFFICE[key]}"
            if packed.testzip():
                return "it is damaged"
            kinds = packed.read("[Content_Types].xml") if "[Content_Types].xml" in sizes else b""
            if any(word in kinds for word in _MACROS) or any(name.endswith("vbaProject.bin") for name in sizes):
                return "it has macros"
            relations = (packed.read(name) for name in sizes if name.endswith(".rels"))
            away = next((path for each in relations for path in _outside(each)), "")
            return f"it refers to a file outside of it: {away[:80]}" if away else ""
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        return f"it is damaged, or no file of {_OFFICE[key]}"


def _outside(relations: bytes) -> list[str]:
    """Return the targets of one part's relations that lie outside the office file, except links. Programs fetch such
    targets when they open the file."""
    from xml.parsers import expat

    found: list[str] = []

    def start(_: str, attributes: dict[str, str]) -> None:
        if attributes.get("TargetMode") == "External" and not attributes.get("Type", "").endswith("/hyperlink"):
            found.append(attributes.get("Target", ""))

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    try:
        parser.Parse(relations, True)
    except expat.ExpatError:
        return ["a list that can't be read"]
    return found


def _is_xml(content: bytes) -> bool:
    """Return whether the whole picture is valid XML. The PDF writer leaves out pictures with invalid XML."""
    from xml.parsers import expat

    try:
        expat.ParserCreate(namespace_separator=" ").Parse(content, True)
    except expat.ExpatError:
        return False
    return True


def _asset(path: Path, content: bytes) -> plan.Asset:
    return plan.Asset(file=str(path), sha256=hashlib.sha256(content).hexdigest())


def _content(path: Path) -> bytes | str:
    """Return the content of a file, or the reason why it can't be used."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        return f"it can't be read: {error.strerror}"
    return content if len(content) <= MOST_BYTES else f"it has more than {MOST_BYTES // 1_000_000} MB"


def _beside(path: Path, written: str, *, folders: bool = False) -> tuple[str, ...]:
    """Return the files or folders in the same folder as the path, as a spec writes them."""
    try:
        names = sorted(each.name for each in path.parent.iterdir() if each.is_dir() == folders)
    except OSError:
        return ()
    return tuple(str(Path(written).parent / name) for name in names)[:20]


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _plain(body: Body, key: str) -> str:
    string = body.string(key)
    return (string.plain or "") if string else ""


# --- colours ---------------------------------------------------------------------------------------------------------


def _colour(typer: Typer, body: Body, key: str) -> str:
    string = body.string(key)
    if string is None:
        return ""
    colour = colour_of(string.plain or "")
    if colour is None:
        typer.report(wrong.NoColour(string.span, key, string.plain or ""))
        return ""
    if (ratio := contrast_on_white(colour)) < _AA:
        typer.report(wrong.LowContrast(string.span, key, ratio, darker(colour, _AA)))
    return colour


def _palette(typer: Typer, block: ast.Block, accent: str) -> dict[str, str]:
    """Return the colours of hardware, workloads, experiments and levels by their keys."""
    blocks = [item for item in block.body if isinstance(item, ast.Block) and item.keyword.text == "palette"]
    for again in blocks[1:]:
        typer.report(DuplicateAttribute(again.keyword.span, blocks[0].keyword.span, "palette"))
    keys, found = _names(typer), dict[str, _Coloured]()
    for item in blocks[0].body if blocks else ():
        if isinstance(item, ast.Block):
            typer.report(MisplacedBlock(item.keyword.span, "palette", item.keyword.text, ()))
            continue
        quoted = item.label if item.key.text == "color" else None
        if item.label is not None and quoted is None:
            typer.report(StrayLabel(item.label.span, item.key.text))
        name, span = (quoted.plain or "", quoted.span) if quoted else (item.key.text, item.key.span)
        colour = _palette_colour(typer, item, name)
        if name not in keys:
            taken = tuple(each for each, key in keys.items() if key in found)
            typer.report(wrong.UnknownInPalette(span, "name", name, tuple(keys), taken))
        elif keys[name] in found:
            typer.report(DuplicateAttribute(span, found[keys[name]].named, name))
        elif colour:
            found[keys[name]] = _Coloured(name, colour, span, item.values[0].span)
    shades = iter(greys(sum(each.colour == GREY for each in found.values())))
    for key, each in found.items():
        if each.colour in (GREY, "accent"):
            found[key] = each._replace(colour=accent if each.colour == "accent" else next(shades))
    _tell_apart(typer, tuple(found.values()))
    return {key: each.colour for key, each in found.items()}


class _Coloured(NamedTuple):
    name: str
    colour: str
    named: Span
    written: Span


def _names(typer: Typer) -> dict[str, str]:
    """Return the keys that a palette may name, by their names and labels."""
    scope = typer.scope
    dims = ("hardware", "workload", "experiment", *scope.factors_by_name)
    keys = {name: key for dim in dims for name, key in scope.names.get(dim, {}).items()}
    return {label: key_text(key) for dim in dims for key, label in scope.labels.get(dim, {}).items()} | keys


def _palette_colour(typer: Typer, item: ast.Attribute, name: str) -> str:
    """Return a colour that is written as `#rrggbb` or as a word, or "" after a mistake."""
    value, words = item.values[-1], (GREY, "accent")
    if len(item.values) > 1:
        return typer.refuse(WrongType(value.span, name, "one colour", "more than one value")) or ""
    if isinstance(value, ast.Name) and value.text in words:
        return value.text
    if isinstance(value, ast.Name) and did_you_mean(value.text, words):
        return typer.refuse(UnknownWord(value.span, name, value.text, words)) or ""
    text = value.plain if isinstance(value, ast.String) else None
    colour = colour_of(text or "")
    if colour is None:
        typer.report(wrong.NoColour(value.span, name, value.span.text if text is None else text, words))
    elif (ratio := contrast_on_white(colour)) < _SHOWS:
        typer.report(wrong.InvisibleColour(value.span, name, ratio, _SHOWS, darker(colour, _SHOWS)))
    return colour or ""


def _tell_apart(typer: Typer, found: Sequence[_Coloured]) -> None:
    """Warn of each colour that is hard to tell apart from an earlier one."""
    apart: list[_Coloured] = []
    for one in found:
        near = next((other for other in apart if distance(other.colour, one.colour) < NEAR), None)
        if near is None:
            apart.append(one)
            continue
        same = near.colour == one.colour
        typer.report(wrong.NearColours(one.written, near.written, one.name, near.name, same=same))


def is_file(path: Path) -> bool:
    try:
        require_below(path)
        return path.is_file()
    except (OSError, ValueError):  # too long, in an unreadable folder, or with a NUL
        return False


def is_folder(path: Path) -> bool:
    try:
        require_below(path)
        return path.is_dir()
    except (OSError, ValueError):
        return False
