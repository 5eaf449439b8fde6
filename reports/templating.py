"""Jinja2 in a sandbox: our templates, a user's parts in place of ours, and one clear line for what is wrong in them.

A part is a small template of one element (`callout.html.j2`). A user's own stands in for ours of the same name; ours
stays within reach as `ours/callout.html.j2`. Templates reach no file, no network and nothing of Python's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from benchbrief.dsl.suggest import did_you_mean
from benchbrief.reports.errors import ReportError
from benchbrief.reports.markup import footed, marks, ticked, traced
from benchbrief.reports.words import Words

if TYPE_CHECKING:
    from types import TracebackType

    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment

OURS = "ours/"
_OURS = re.compile(r"(?:[a-z_]+/)?[a-z_]+(?:\.[a-z0-9]+)+")
_MOST = 1_000_000
"""Characters, or items, that a multiplication in a template may make."""
_DATA = (str, int, float, bytes, Decimal, date, time, timedelta, tuple, list, dict, type(None))
_FIELD = re.compile(r"'(?:[\w.]+\.)?(\w+) object' has no attribute '(\w+)'")
_NAME = re.compile(r"'(\w+)' is undefined")


def environment(parts: Mapping[str, tuple[str, str]]) -> SandboxedEnvironment:
    """With the user's parts by name, each with the path that messages call it by, and its text."""
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.environment import TemplateModule
    from jinja2.exceptions import SecurityError
    from jinja2.runtime import BlockReference, LoopContext, Macro, TemplateReference
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from jinja2.utils import Cycler, Joiner, Namespace

    open_to_templates = (
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
            """Of our objects only the data in them, and never a method; of others only of kinds that we know."""
            if is_dataclass(obj):
                safe = isinstance(value, _DATA) or is_dataclass(value)
            else:
                safe = isinstance(obj, (*_DATA, *open_to_templates))
            return safe and super().is_safe_attribute(obj, attr, value)

    def load(name: str) -> tuple[str, str, Callable[[], bool]] | None:
        if name in parts:
            path, text = parts[name]
            return text, path, lambda: True
        if not _OURS.fullmatch(name):  # a path that leads out of the folder
            return None
        folder, _, file = name.rpartition("/")
        ours = root / ("parts" if folder in ("", OURS.rstrip("/")) else folder) / file
        return (ours.read_text("utf-8"), f"ours:{name}", lambda: True) if ours.is_file() else None

    made = Sandbox(
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        cache_size=-1,
    )
    made.filters |= {"ticked": ticked, "marks": marks, "footed": footed, "traced": traced}
    return made


def rendered(template: str, made: SandboxedEnvironment, paths: tuple[str, ...], context: Mapping[str, Any]) -> str:
    """The page. Raises ReportError for what is wrong in a user's part, with its file (one of `paths`) and line."""
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
    """File and line of the user's part that was at work when it happened."""
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
        from benchbrief.reports import view

        kind, word = field.groups()
        known = sorted(getattr(getattr(view, kind, None), "__dataclass_fields__", ()))
        return ReportError(f"{where}: {kind} has no `{word}`", _meant(word, known))
    if name := _NAME.search(message):
        return ReportError(f"{where}: there is no `{name[1]}` here", _meant(name[1], sorted(context)))
    return _wrong(where, message)


def _meant(word: str, known: list[str]) -> str:
    meant = did_you_mean(word, known)
    return f"did you mean `{meant}`?" if meant else f"there are: {', '.join(known)}"


def _wrong(where: str, message: str) -> ReportError:
    return ReportError(f"{where}: {message}", "mend the part, or take it out of the folder to have ours")
