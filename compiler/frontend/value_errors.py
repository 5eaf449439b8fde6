"""Mistakes in values: in units (E03xx), and in sizes, ramps and texts (E04xx)."""

from __future__ import annotations

import re
from typing import Literal

from benchbrief.compiler.extension_samples import sample_uri
from benchbrief.compiler.problems import CompileProblem
from benchbrief.model.units import nearest_unit

_NO_UNITS = frozenset({"x", "times", "ratio", "factor", "fraction", "fold", "none", "count"})
_MULTIPLIERS = {
    "kk": "M", "thousand": "k", "million": "M", "millions": "M", "mio": "M", "billion": "G", "billions": "G", "bn": "G",
}  # fmt: skip
_DETACHED = ("k", "M", "G", "T")
_PREFIXES = ("k", "K", "M", "G", "T", "g", "t")
_DIGITS = re.compile(r"([0-9][0-9_.]*)\s*\Z")
_COUNTED = re.compile(r"[0-9][kMGT]\s*\Z")
_PLAIN = re.compile(r"-?[0-9][0-9_.]*[kMGT]?")
_OTHER_UNITS = {"s": ("min",), "min": ("s",), "h": ("min",), "B": ("MiB",), "MB/s": ("B/s",)}
_TWO_UNITS = re.compile(r"([A-Za-z]+)([0-9]+)([A-Za-z]+)")

# --- E03xx: units in values --------------------------------------------------------------------------------------


class UnknownUnit(CompileProblem):
    """A unit that does not exist. `meant` is the right unit if this is a common mistake (`KB`, `sec`)."""

    code = "E0301"
    stands_alone = True
    says = "unknown unit `{unit}`"
    mark = "not a unit"
    unit: str
    meant: str | None

    @property
    def replacement(self) -> str | None:
        if self.unit in _NO_UNITS or self.unit.lower() in _MULTIPLIERS:
            return None
        return self.meant or nearest_unit(self.unit)

    @property
    def number(self) -> str:
        """The digits before the unit."""
        digits = _DIGITS.search(self._before)
        return digits[1] if digits else "10"

    @property
    def _before(self) -> str:
        return self.span.source.text[max(0, self.span.start - 40) : self.span.start] if self.span else ""

    @property
    def help(self) -> str:
        if self.unit in _NO_UNITS:
            return "remove it: a plain number, such as a factor, has no unit; `%` is a hundredth"
        if self.unit.lower() in ("byte", "bytes") and self.span and _COUNTED.search(self._before):
            return f"did you mean `B`, as in `{self._before.split()[-1]}B`?"
        if self.replacement:
            return f"did you mean `{self.replacement}`?"
        if multiplier := _MULTIPLIERS.get(self.unit.lower()):
            return f"write `{multiplier}` directly after the number, as in `{self.number}{multiplier}`"
        if self.unit == "K":
            return f"did you mean `{self.number}k`? for a size, `{self.number}kB` is decimal, `{self.number}KiB` binary"
        if self.unit in _DETACHED and self.span and self.span.source.text[: self.span.start][-1:].isspace():
            size = f"for a size, `{self.number} {self.unit}B` is decimal, `{self.number} {self.unit.upper()}iB` binary"
            return f"write `{self.number}{self.unit}`, without the space; {size}"
        if self.unit in _PREFIXES:
            size = self.unit.upper()
            return f"`{size.replace('K', 'k')}B` is a decimal size, `{size}iB` a binary one"
        if parts := _TWO_UNITS.fullmatch(self.unit):
            return f"a number has one unit; add up the parts: `... {parts[1]} + {parts[2]} {parts[3]}`"
        return "units are such as `s`, `min`, `MB`, `GiB`, `records`, `ops/s`, `W`, `USD/h`, `%`"


class MissingUnit(CompileProblem):
    code = "E0302"
    says = "`{key}` is {wanted}, and `{text}` has no unit"
    mark = "in which unit?"
    hint = "write it with its unit, as in {with_unit}"
    key: str
    wanted: str
    example: str
    text: str

    @property
    def with_unit(self) -> str:
        """The number as written, with the unit of the example. A time, a size or a bandwidth is shown with a second
        unit, too."""
        unit = self.example.partition(" ")[2]
        if not unit or not _PLAIN.fullmatch(self.text):
            return f"`{self.example}`"
        size, _, per_second = unit.partition("/")
        if self.text[-1] in "kMGT" and size.endswith("B"):  # `4k` of fio
            end = f"B/{per_second}" if per_second else "B"
            return f"`{self.text[:-1]} {self.text[-1].upper()}i{end}` or `{self.text}{end}`"
        return " or ".join(f"`{self.text} {each}`" for each in (unit, *_OTHER_UNITS.get(unit, ())))


class WrongDimension(CompileProblem):
    code = "E0303"
    says = "`{key}` is {wanted}, and `{text}` is {found}"
    mark = "{found}"
    hint = "write {wanted}, such as `{example}`"
    key: str
    wanted: str
    example: str
    text: str
    found: str


class MixedDimensions(CompileProblem):
    code = "E0304"
    says = "`{left}` and `{right}` can't be {done}: one is {left_is}, the other {right_is}"
    mark = "two dimensions"
    hint = "write both in units of the same kind"
    operator: str
    left: str
    left_is: str
    right: str
    right_is: str

    @property
    def done(self) -> str:
        return "added" if self.operator == "+" else "subtracted"


# --- E04xx: values -----------------------------------------------------------------------------------------------


class OutOfRange(CompileProblem):
    """A number that is too small or too large. `bound` is the allowed range ("above 0 s", "at most 1,000")."""

    code = "E0401"
    says = "`{key}` must be {bound}, not `{text}`"
    hint = (
        "did you mean `{percent}`? A number without `%` is a factor: `1` is 100 %",
        "write a value such as `{example}`",
    )
    mend = "{percent}"
    key: str
    text: str
    bound: str
    example: str
    percent: str | None = None
    """The value that was most likely meant, with the same digits and a `%`."""


class AgainstLimit(CompileProblem):
    """A number that another attribute, or the program itself, does not allow."""

    code = "E0419"
    says = "{tool} can't use `{key} = {text}`"
    hint = "`{key}` must be {wanted}"
    tool: str
    key: str
    text: str
    wanted: str


class BlockTooLarge(CompileProblem):
    """Blocks of a workload that do not fit into the database."""

    code = "E0420"
    says = "{needs} do not fit into the size of database `{database}`, {size}"
    hint = "declare a larger `size`, or a smaller `{key}`{fewer}"
    needs: str
    database: str
    size: str
    key: str
    fewer: str


class NotInteger(CompileProblem):
    code = "E0402"
    says = "`{key}` must be a whole number, not `{text}`"
    hint = "round it"
    key: str
    text: str


class EmptyRamp(CompileProblem):
    code = "E0403"
    says = "{what} of `{key}` {has} no points: {why}"
    hint = "write {usage}"
    key: str
    why: str
    usage: str
    what: str = "this ramp"
    has: str = "has"


class TooManyPoints(CompileProblem):
    code = "E0404"
    says = "this ramp of `{key}` has {points} points; the limit is {limit:,}"
    hint = "write larger steps: `range(a, b, factor: 2)` or `range(a, b, steps: 25)`"
    key: str
    count: float
    limit: int

    @property
    def points(self) -> str:
        return f"{self.count:,.0f}" if self.count < 1e15 else f"{self.count:.0e}"


class SamePoint(CompileProblem):
    code = "E0405"
    says = "the ramp of `{key}` has the point {point} twice"
    hint = "remove one; to measure it more often, write `repeats = 2`"
    key: str
    point: str


class BadHosts(CompileProblem):
    code = "E0406"
    says = "{why}"
    hint = ("{how}", "write hosts such as `db.lab`, `root@db.lab:22`, `db-[1-3].lab`")
    why: str
    how: str


class BadMix(CompileProblem):
    """Shares of operations that do not add up."""

    code = "E0407"
    says = "the operations of workload `{workload}` add up to {total:.6g} %, not 100 %"
    hint = "the shares are {shares}; change them so that they add up to 100 %"
    workload: str
    total: float
    mix: tuple[tuple[str, float], ...]

    @property
    def shares(self) -> str:
        return ", ".join(f"`{name}` {share * 100:.6g} %" for name, share in self.mix)


class TooManyCells(CompileProblem):
    code = "E0408"
    says = "experiment `{experiment}` brings the spec to {count:,} cells; the limit is {limit:,}"
    mark = "{product}"
    hint = "use fewer points or repeats, or split the spec"
    experiment: str
    count: int
    limit: int
    product: str


class NotFinite(CompileProblem):
    code = "E0409"
    stands_alone = True
    says = "this {what} is too large to compute with"
    hint = "write a smaller one"
    what: str = "number"


class BadPath(CompileProblem):
    code = "E0410"
    says = "`{key}` can't be `{path}`: {why}"
    hint = "write an absolute path of its own, such as `/var/tmp/benchbrief`"
    key: str
    path: str
    why: str


class DivisionByZero(CompileProblem):
    code = "E0411"
    says = "this divides by zero"
    hint = "write a divisor other than 0"


class BadText(CompileProblem):
    code = "E0412"
    says = "`{key}` is {why}"
    hint = "write {wanted}"
    key: str
    why: str
    wanted: str


class NotConstant(CompileProblem):
    """An expression used as a value although its result is not known before the run."""

    code = "E0413"
    says = "expected a value, found {found}"
    found: str
    written_as: Literal["phases", "count", ""] = ""
    """The form of the expression: "phases" (`6 x 10 min`), "count" for a count of things (`2 x 16 cores`), or ""."""

    @property
    def help(self) -> str:
        if self.written_as == "phases" and self.span:
            return f"for consecutive intervals, write `phases = {self.span.text}` in place of `measure`"
        if self.written_as == "count" and self.span:
            return f'a text is written in quotes: `"{self.span.text}"`'
        return "write a number with its unit, a parameter, or arithmetic on them"


class HostTwice(CompileProblem):
    """The same host twice in one group."""

    code = "E0414"
    says = "host `{host}` is in the group twice"
    hint = "name each host once"
    host: str


class PlainSecret(CompileProblem):
    """A password in the spec, which would spread from there to plans, journals and version control."""

    code = "E0415"
    says = "this address contains a password in plain text"
    hint = "keep it out of the spec: `{scheme}user:{{secret(DB_PASSWORD)}}@...` reads it when the spec is run"

    @property
    def scheme(self) -> str:
        return sample_uri().split('"')[1].partition("{")[0]


class NotWholeSeconds(CompileProblem):
    code = "E0416"
    says = "{tool} runs for whole seconds, and `{key}` is `{text}`"
    hint = "round it to whole seconds"
    key: str
    text: str
    tool: str


class TooLong(CompileProblem):
    """A text of more than `limit` characters. `what` is the kind of text, and `where` suggests a place for the rest of
    it."""

    code = "E0418"
    stands_alone = True
    says = "{what} has {length:,} characters; the limit is {limit:,}"
    mark = "{length:,} characters"
    hint = "shorten it{where}"
    what: str
    length: int
    limit: int
    where: str = ""


class SecretInTheOpen(CompileProblem):
    """A password that is not a `secret(...)`. `name` is a name that the secret could have."""

    code = "E0417"
    says = "`{key}` would be readable by everyone: {why}"
    hint = 'write `secret("{name}")`; it is read from the environment when the spec is run, and kept nowhere'
    key: str
    why: str
    name: str


class UnreadableFile(CompileProblem):
    """A file beside the spec that is missing, or can't be part of a plan."""

    code = "E0569"
    says = "the {what} `{name}` can't be read: {why}"
    hint = "the path is relative to the folder of the spec"
    what: str
    name: str
    why: str
