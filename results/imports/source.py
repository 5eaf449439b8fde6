"""Who tells the numbers that are imported, and what may be done with them.

A table says so itself, in lines before its head:

    # title: Shrink Your MongoDB Cluster
    # publisher: Micron Technology, Inc.
    # document: CCM004-676576390-10792, Rev. A 7/17
    # licence: all rights reserved; single figures are cited with their source
    # statement: legacy nodes needed: between 26 and 29 for B and C
    # rest: not published

The last line says that the cells which the table does not have were never told: numbers over a ramp (a maximum, say)
are then those of the points that were. Without it, such a number is missing, like that of a measurement that failed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchbrief.dsl.suggest import did_you_mean
from benchbrief.results.imports.problems import ImportRefused, Problem

KEYS = ("title", "publisher", "url", "document", "date", "licence")
STATEMENT = "statement"
REST = "rest"
NOT_PUBLISHED = "not published"
_LINE = re.compile(r"#\s*([A-Za-z]+)\s*:\s*(.*)")


@dataclass(frozen=True)
class Source:
    """`said` are the values of `KEYS`; `statements` what else the source says, in words."""

    said: Mapping[str, str] = field(default_factory=dict)
    statements: tuple[str, ...] = ()
    rest_not_published: bool = False

    def given(self, options: Mapping[str, str | None]) -> Source:
        """With what the command line says, which goes before what the file says."""
        return replace(self, said={**self.said, **{key: text for key, text in options.items() if text}})

    def missing(self) -> str:
        """What has to be told of every source and is not; "" when all is there."""
        lacking = [key for key in ("title", "publisher", "licence") if not self.said.get(key)]
        if not self.said.get("url") and not self.said.get("document"):
            lacking.append("url or document")
        return ", ".join(lacking)


def require(source: Source, file: str) -> None:
    """Raises ImportRefused for a source that is not told in full."""
    if lacking := source.missing():
        hint = (
            "say it in lines before the table's head, as `# title: ...`, or by options, as --title and --licence "
            "(what its publisher lets others do with the numbers)"
        )
        raise ImportRefused([Problem(file, None, f"who tells these numbers is not said: {lacking}", hint)])


def read_source(lines: Sequence[tuple[int, str]], file: str, problems: list[Problem]) -> Source:
    """From the comment lines of a file, each with its number. Other comments are left alone."""
    said: dict[str, str] = {}
    statements = []
    rest = False
    for number, line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        key, text = match[1].lower().replace("license", "licence"), match[2].strip()
        if key == STATEMENT:
            statements.append(text)
        elif key == REST:
            rest = text == NOT_PUBLISHED
            if not rest:
                problems.append(Problem(file, number, f"`rest` is `{NOT_PUBLISHED}`, or is left out, and not `{text}`"))
        elif key not in KEYS:
            guess = did_you_mean(key, (*KEYS, STATEMENT, REST))
            if guess:
                problems.append(Problem(file, number, f"unknown key `{key}` of a source", f"did you mean `{guess}`?"))
        elif key in said:
            problems.append(Problem(file, number, f"the source's {key} is said twice"))
        else:
            said[key] = text
    return Source(said, tuple(statements), rest)
