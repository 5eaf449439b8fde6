"""Reads a user's catalogue of words and compares it with the English one. See docs/languages.md."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from string import Formatter
from typing import TypeAlias

from benchbrief.compiler.briefs.report_errors import MissingWords, UnreadableCatalogue, WrongWord
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.registry import own_catalogues, own_words
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.source import Span

Entry: TypeAlias = str | dict[str, str]
"""A text, or several texts by CLDR plural category or by number (`=1`)."""

CATEGORIES = ("zero", "one", "two", "few", "many", "other")
LOCALE = "locale"
"""The key of the CLDR locale that numbers and dates follow."""

MAX_BYTES = 1_000_000


def read_catalogue(path: Path, span: Span | None, findings: Findings) -> dict[str, Entry]:
    """Return the words in a file, which may lack some. Report mistakes at `span`."""
    name = str(path)
    try:
        content = path.read_bytes()
        if len(content) > MAX_BYTES:
            findings.add(UnreadableCatalogue(span, name, f"it is larger than {MAX_BYTES:,} bytes"))
            return {}
        entries = tomllib.loads(content.decode("utf-8"))
    except OSError as error:
        findings.add(UnreadableCatalogue(span, name, error.strerror or str(error)))
        return {}
    except UnicodeDecodeError:
        findings.add(UnreadableCatalogue(span, name, "it is not UTF-8 text"))
        return {}
    except tomllib.TOMLDecodeError as error:
        findings.add(UnreadableCatalogue(span, name, " ".join(str(error).split())))
        return {}
    wrong = {key: found for key, entry in entries.items() if (found := _wrong_with(key, entry))}
    for key, (why, remedy) in wrong.items():
        findings.add(WrongWord(span, name, key, why, remedy))
    missing = tuple(key for key in english() if key not in entries and key != LOCALE)
    if missing and not wrong:
        findings.add(MissingWords(span, name, missing))
    return {} if wrong else entries


@cache
def english() -> Mapping[str, Entry]:
    """Return the English catalogue, read from the reports' files."""
    return tomllib.loads(shipped("en"))


def shipped(language: str) -> str:
    """Return the text of a shipped catalogue with the words of benchbrief's own extensions. Raises FileNotFoundError
    for other languages."""
    text = (resources.files("benchbrief.reports") / "words" / f"{language}.toml").read_text(encoding="utf-8")
    lines = (f"{key} = {json.dumps(label, ensure_ascii=False)}\n" for key, label in own_words(language).items())
    own = "\n".join(own_catalogues(language))
    return f"{text}\n{own}\n# templates, tools, and the measures of probes\n{''.join(lines)}"


def _wrong_with(key: str, entry: object) -> tuple[str, str] | None:
    """Return why an entry is wrong, and how to correct it."""
    if key != LOCALE and key not in english():
        meant = did_you_mean(key, english())
        return "is not a word of a brief", f"did you mean `{meant}`?" if meant else "remove it"
    if isinstance(entry, str):
        return _wrong_holes(key, entry)
    if not isinstance(entry, dict) or not all(isinstance(text, str) for text in entry.values()):
        return "is not a text", 'write `key = "text"`, or a table with a text for each plural form'
    if "other" not in entry:
        return "has no form `other`", "add the form for all numbers that no other form is for"
    for form, text in entry.items():
        if form not in CATEGORIES and not re.fullmatch(r"=\d+", form):
            return f"has a form `{form}`", f"a form is one of {', '.join(CATEGORIES)}, or a single number such as `=1`"
        if found := _wrong_holes(key, text, all_of_them=form == "other"):
            return found
    return None


def _wrong_holes(key: str, text: str, *, all_of_them: bool = True) -> tuple[str, str] | None:
    """Compare the holes of an entry with the English ones. A plural form may omit a hole, since "the only point", for
    example, needs no number."""
    original = english().get(key, "")
    known = holes(original if isinstance(original, str) else original["other"])
    try:
        found = holes(text)
    except ValueError as error:
        return f"has a broken hole: {error}", "write `{{` for a brace"
    unknown, lost = sorted(found - known), sorted(known - found)
    if lost and not unknown and all_of_them:
        return f"lacks the hole `{{{lost[0]}}}`", "add it: the brief needs its value"
    if not unknown:
        return None
    listed = ", ".join(f"`{{{hole}}}`" for hole in sorted(known))
    return f"has a hole `{{{unknown[0]}}}`", f"it may have {listed}" if known else "the English text has none"


def holes(text: str) -> set[str]:
    """Return the names of the holes in a text. Raises ValueError for a lone brace."""
    found = set()
    for _, name, form, conversion in Formatter().parse(text):
        if name is None:
            continue
        if form or conversion or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise ValueError("a hole is a name in braces")
        found.add(name)
    return found
