"""Mistakes in the house style of a report (E0760 to E0767, W0730)."""

from __future__ import annotations

from benchbrief.compiler.problems import CompileProblem, Misspelt


class NoSuchFile(Misspelt):
    """`known` are the files in the folder."""

    code = "E0760"
    stands_alone = True
    says = "there is no {kind} `{word}` in the folder of the spec"
    otherwise = "the path is relative to the folder of the spec, which has {all_known}"
    when_none = "the path is relative to the folder of the spec"


class NoColour(CompileProblem):
    code = "E0761"
    stands_alone = True
    says = "`{found}` is not a colour"
    hint = 'write red, green and blue in hexadecimal: `{key} = "#0b3a5b"`'
    key: str
    found: str


class WrongFile(CompileProblem):
    code = "E0762"
    stands_alone = True
    says = "`{file}` can't be {key}: {why}"
    hint = "use {wanted}"
    file: str
    key: str
    why: str
    wanted: str


class UnknownPart(Misspelt):
    """A file that replaces no part."""

    code = "E0763"
    stands_alone = True
    says = "`{word}` is not a part of the layout"
    otherwise = "parts are {all_known}"


class LoadingStyle(CompileProblem):
    code = "E0764"
    stands_alone = True
    says = "line {line} of `{file}` loads `{what}`: a brief can't load anything"
    hint = "name the logo and the font files in `theme`; pictures may stand in the style sheet as `url(data:...)`"
    file: str
    line: int
    what: str


class ReachingStyle(CompileProblem):
    """A style that could hide or cover a notice."""

    code = "E0767"
    stands_alone = True
    says = "line {line} of `{file}`: a house style can't use `{what}`: {why}"
    hint = "remove it; a style sheet may change colours, typefaces, sizes, spacing, borders and columns"
    file: str
    line: int
    what: str
    why: str


class BrokenPart(CompileProblem):
    code = "E0765"
    stands_alone = True
    says = "line {line} of `{file}` can't be read as a template: {why}"
    hint = "correct it, or remove the file from the folder to use the layout's own part"
    file: str
    line: int
    why: str


class UnknownInPart(Misspelt):
    code = "E0766"
    stands_alone = True
    says = "line {line} of `{file}`: there is no {kind} `{word}`"
    file: str
    line: int


class LowContrast(CompileProblem):
    """`enough` is the nearest darker colour with enough contrast."""

    code = "W0730"
    says = "`{key}` on white has a contrast of {ratio:.1f} to 1, and text needs 4.5 to 1 (WCAG 2, level AA)"
    hint = "use a darker colour of the same hue: `{enough}`"
    key: str
    ratio: float
    enough: str
