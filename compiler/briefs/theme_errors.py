"""Mistakes in the house style of a report (E0760 to E0767, W0730), each with its stable code and all of its prose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from benchbrief.compiler.problems import CompileProblem, Misspelt
from benchbrief.dsl.diagnostics import Severity


@dataclass(frozen=True)
class NoSuchFile(Misspelt):
    """`known` are the files of the folder that it would stand in."""

    code = "E0760"
    stands_alone = True
    says = "there is no {kind} `{word}` beside the spec"
    otherwise = "paths are relative to the folder of the spec; there stand {all_known}"
    when_none = "paths are relative to the folder of the spec"


@dataclass(frozen=True)
class NoColour(CompileProblem):
    code = "E0761"
    stands_alone = True
    says = "`{found}` is no colour"
    hint = 'write red, green and blue in hexadecimal: `{key} = "#0b3a5b"`'
    key: str
    found: str


@dataclass(frozen=True)
class WrongFile(CompileProblem):
    code = "E0762"
    stands_alone = True
    says = "`{file}` can't be {key}: {why}"
    hint = "give {wanted}"
    file: str
    key: str
    why: str
    wanted: str


@dataclass(frozen=True)
class UnknownPart(Misspelt):
    """A file that would replace nothing."""

    code = "E0763"
    stands_alone = True
    says = "`{word}` is no part of a layout"
    otherwise = "parts are {all_known}"


@dataclass(frozen=True)
class LoadingStyle(CompileProblem):
    code = "E0764"
    stands_alone = True
    says = "line {line} of `{file}` loads `{what}`, and a brief loads nothing"
    hint = "name the logo and the font files in `theme`; pictures may stand in the style sheet as `url(data:...)`"
    file: str
    line: int
    what: str


@dataclass(frozen=True)
class ReachingStyle(CompileProblem):
    """What could hide or cover what must be known before any number."""

    code = "E0767"
    stands_alone = True
    says = "line {line} of `{file}`: `{what}` can't stand in a house style: {why}"
    hint = "take it out; a style sheet may change colours, typefaces, sizes, spacing, borders and columns"
    file: str
    line: int
    what: str
    why: str


@dataclass(frozen=True)
class BrokenPart(CompileProblem):
    code = "E0765"
    stands_alone = True
    says = "line {line} of `{file}` can't be read as a template: {why}"
    hint = "mend it, or take the file out of the folder to have the layout's own"
    file: str
    line: int
    why: str


@dataclass(frozen=True)
class UnknownInPart(Misspelt):
    code = "E0766"
    stands_alone = True
    says = "line {line} of `{file}`: there is no {kind} `{word}`"
    file: str
    line: int


@dataclass(frozen=True)
class LowContrast(CompileProblem):
    """`enough` is the nearest darker colour that can be read."""

    code = "W0730"
    severity: ClassVar[Severity] = "warning"
    says = "`{key}` on white has a contrast of {ratio:.1f} to 1, and text needs 4.5 to 1 (WCAG 2, level AA)"
    hint = "a darker one of its kind: `{enough}`"
    key: str
    ratio: float
    enough: str
