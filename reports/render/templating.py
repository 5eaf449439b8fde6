"""Runs Jinja2 in a sandbox, with our templates and a user's parts, and reports each mistake in them in one clear line.

A part is a small template for one kind of element (`callout.html.j2`). A user's part replaces our part of the same
name, which stays available as `ours/callout.html.j2`. Templates cannot reach files, the network or Python objects.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from benchbrief.compiler.registry import TEMPLATE_SPECS
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.view_model import Footnote
from benchbrief.reports.text.html_markup import (
    code_in_backticks,
    keep_units_whole,
    link_cells,
    note_letter,
    note_marks,
    shorten_digests_in,
)
from benchbrief.reports.view.house_style import folder_of
from benchbrief.reports.words.brief_words import Words

if TYPE_CHECKING:
    from types import TracebackType

    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment

OURS = "ours/"
_SHARED = ("base", "parts", "site")
"""The folders of shared templates."""
_OURS = re.compile(r"(?:[a-z0-9_]+/)?[a-z0-9_]+(?:\.[a-z0-9]+)+")
_MOST = 1_000_000
"""The most characters or items that a multiplication in a template may produce."""
_DATA = (str, int, float, bytes, Decimal, date, time, timedelta, tuple, list, dict, type(None))
_FIELD = re.compile(r"'(?:[\w.]+\.)?(\w+) object' has no attribute '(\w+)'")
_TEXTS = ("html", "label", "text", "title")
"""The fields that hold the text to print for an object. The first one that the object has is used."""
_NAME = re.compile(r"'(\w+)' is undefined")


def make_environment(parts: Mapping[str, tuple[str, str]]) -> SandboxedEnvironment:
    """Make the sandboxed Jinja environment. `parts` are the user's own, by name, each with its text and the path that
    messages give for it."""
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.environment import TemplateModule
    from jinja2.exceptions import SecurityError
    from jinja2.runtime import BlockReference, LoopContext, Macro, TemplateReference
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from jinja2.utils import Cycler, Joiner, Namespace

    open_to_templates = (
        *_DATA,
        *(BlockReference, LoopContext, Macro, TemplateReference, TemplateModule),
        *(Cycler, Joiner, Namespace, Words),
    )
    root = files("benchbrief.reports") / "templates"

    class Sandbox(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset(("*", "**"))

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            sized = [side for side in (left, right) if hasattr(side, "__len__")]
            counts = [side for side in (left, right) if isinstance(side, int)]
            if operator == "**" or any(len(one) * abs(count) > _MOST for one in sized for count in counts):
                raise SecurityError(f"`{operator}` may make too much here")
            return super().call_binop(context, operator, left, right)

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            """Allow only the data of our own objects, never their methods. Of other objects, allow only known types."""
            if is_dataclass(obj):
                safe = isinstance(value, _DATA) or is_dataclass(value)
            else:
                safe = isinstance(obj, open_to_templates)
            return safe and super().is_safe_attribute(obj, attr, value)

    def load(name: str) -> tuple[str, str, Callable[[], bool]] | None:
        if name in parts:
            path, text = parts[name]
            return text, path, lambda: True
        if not _OURS.fullmatch(name):  # a path that leaves the folder
            return None
        folder, _, file = name.rpartition("/")
        if folder in ("", OURS.rstrip("/")):
            folder = "parts"
        spec = None if folder in _SHARED else TEMPLATE_SPECS.usable(folder)
        if folder not in _SHARED and spec is None:
            return None
        found = (folder_of(spec) if spec else root / folder) / file
        shown = f"ours:{name}" if folder in _SHARED or folder in TEMPLATE_SPECS.own else str(found)
        return (found.read_text("utf-8"), shown, lambda: True) if found.is_file() else None

    made = Sandbox(
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        cache_size=-1,
        finalize=printable,
    )
    made.filters |= {  # their names are known to templates of others
        "ticked": code_in_backticks,
        "lettered": note_letter,
        "marks": note_marks,
        "footed": move_notes_to_foot,
        "traced": link_cells,
        "abridged": shorten_digests_in,
        "unparted": keep_units_whole,
        "pictured": as_data_url,
    }
    return made


def as_data_url(svg: str) -> str:
    """Return an SVG drawing as a data URL in base64, for the `src` of an image."""
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def printable(value: Any) -> Any:
    """Return the value that `{{ value }}` prints: "" for an undefined value, the text field of an object, or else the
    value itself.

    Raises ReportError for a list, and for an object without a text field.
    """
    if value is None:
        return ""
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
        own = next((name for name in _TEXTS if name in names), None)
        if own is None:
            raise ReportError(f"{type(value).__name__} is no text", f"print one of its fields: {', '.join(names)}")
        return printable(getattr(value, own))
    if isinstance(value, tuple | list | dict):
        raise ReportError("a list is no text", "go through it: {% for one in ... %}{{ one }}{% endfor %}")
    return value


def render_template(
    template: str, made: SandboxedEnvironment, paths: tuple[str, ...], context: Mapping[str, Any]
) -> str:
    """Render the page. For a mistake in a user's part, raises ReportError with the part's file (one of `paths`) and
    line."""
    from jinja2 import TemplateSyntaxError

    try:
        page: Template = made.get_template(template)
        return page.render(context)
    except TemplateSyntaxError as error:
        if error.filename not in paths:
            raise
        raise _wrong(f"{error.filename}:{error.lineno}", error.message or "it can't be read") from error
    except (Exception, RecursionError) as error:
        where = _place(error.__traceback__, paths)
        if where is None:
            raise
        raise _explained(where, error, context) from error


def _place(trace: TracebackType | None, paths: tuple[str, ...]) -> str | None:
    """Return the file and line of the user's part that raised the error."""
    found = None
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name in paths:
            found = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


def _explained(where: str, error: BaseException, context: Mapping[str, Any]) -> ReportError:
    from jinja2 import TemplateNotFound
    from jinja2.exceptions import SecurityError

    message = str(error).splitlines()[0] if str(error) else type(error).__name__
    if isinstance(error, ReportError):
        return ReportError(f"{where}: {message}", error.hint)
    if isinstance(error, TemplateNotFound):
        return ReportError(f"{where}: there is no part `{message}`", "ours are named `ours/NAME.html.j2`")
    if isinstance(error, SecurityError):
        return ReportError(f"{where}: templates may not do this: {message}", "a part lays out what it is given")
    if isinstance(error, RecursionError):
        return ReportError(f"{where}: it includes itself without end", "include ours as `ours/NAME.html.j2`")
    if field := _FIELD.search(message):
        from benchbrief.reports.data import view_model

        kind, word = field.groups()
        known = sorted(getattr(getattr(view_model, kind, None), "__dataclass_fields__", ()))
        return ReportError(f"{where}: {kind} has no `{word}`", _meant(word, known))
    if name := _NAME.search(message):
        return ReportError(f"{where}: there is no `{name[1]}` here", _meant(name[1], sorted(context)))
    return _wrong(where, message)


def _meant(word: str, known: list[str]) -> str:
    meant = did_you_mean(word, known)
    return f"did you mean `{meant}`?" if meant else f"there are: {', '.join(known)}"


def _wrong(where: str, message: str) -> ReportError:
    return ReportError(f"{where}: {message}", "mend the part, or take it out of the folder to have ours")


def move_notes_to_foot(html: Markup, notes: Sequence[Footnote]) -> Markup:
    """Put each note after its mark. From there, the style sheet for paper moves it to the page's foot.

    CSS defines footnotes in this way (Generated Content for Paged Media), so the note is on the same page as its mark.
    """
    text = str(escape(html))  # HTML stays unchanged
    for note in notes:
        foot = Markup('<span class="footnote" id="note-{}{}"><sup class="of-note">{}</sup> {}</span>')
        again = f"-{note.again}" if note.again else ""
        shown = str(foot.format(note.number, again, note_letter(note.number), code_in_backticks(note.text)))
        mark = re.search(rf'<a href="#note-{note.number}"[^>]*>[a-z]+</a>.*?</sup>', text)
        at = mark.end() if mark else len(text)  # no number within an author's link
        text = text[:at] + shown + text[at:]
    return Markup(text)  # noqa: S704  # both were HTML before
