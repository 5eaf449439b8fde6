"""Mistakes in values: units (E03xx), and sizes, ramps and texts (E04xx)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchbrief.compiler.problems import CompileProblem
from benchbrief.compiler.units import nearest_unit

_NO_UNITS = frozenset({"times", "ratio", "factor", "fraction", "fold", "none", "count"})
_MULTIPLIERS = {
    "thousand": "k", "million": "M", "millions": "M", "mio": "M", "billion": "G", "billions": "G", "bn": "G",
}  # fmt: skip
_PREFIXES = ("k", "K", "M", "G", "T", "g", "t")
_DIGITS = re.compile(r"([0-9][0-9_.]*)\s*\Z")
_TWO_UNITS = re.compile(r"([A-Za-z]+)([0-9]+)([A-Za-z]+)")

# --- E03xx: units in values --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnknownUnit(CompileProblem):
    """`meant` is what is known to be meant by this very mistake (`KB`, `sec`)."""

    code = "E0301"
    stands_alone = True
    says = "unknown unit `{unit}`"
    mark = "not a unit"
    unit: str
    meant: str | None

    @property
    def replacement(self) -> str | None:
        return None if self.unit in _NO_UNITS else self.meant or nearest_unit(self.unit)

    @property
    def number(self) -> str:
        """The digits before the unit."""
        before = self.span.source.text[max(0, self.span.start - 40) : self.span.start] if self.span else ""
        digits = _DIGITS.search(before)
        return digits[1] if digits else "10"

    @property
    def help(self) -> str:
        if self.unit in _NO_UNITS:
            return "a plain number, such as a factor, has no unit; `%` is a hundredth"
        if self.replacement:
            return f"did you mean `{self.replacement}`?"
        if multiplier := _MULTIPLIERS.get(self.unit.lower()):
            return f"write `{multiplier}` right behind the number, as in `10{multiplier} records`"
        if self.unit == "K":
            return f"did you mean `{self.number}k`? for a size, `{self.number}kB` is decimal, `{self.number}KiB` binary"
        if self.unit in _PREFIXES:
            size = self.unit.upper()
            return f"`{size.replace('K', 'k')}B` is a decimal size, `{size}iB` a binary one"
        if parts := _TWO_UNITS.fullmatch(self.unit):
            return f"a number has one unit; add up the parts: `... {parts[1]} + {parts[2]} {parts[3]}`"
        return "units are such as `s`, `min`, `MB`, `GiB`, `records`, `ops/s`, `W`, `USD/h`, `%`"


@dataclass(frozen=True)
class MissingUnit(CompileProblem):
    code = "E0302"
    says = "`{key}` is {wanted}, and `{text}` has no unit"
    mark = "in which unit?"
    hint = "write it with its unit, as in `{example}`"
    key: str
    wanted: str
    example: str
    text: str


@dataclass(frozen=True)
class WrongDimension(CompileProblem):
    code = "E0303"
    says = "`{key}` is {wanted}, and `{text}` is {found}"
    mark = "{found}"
    hint = "write it as in `{example}`"
    key: str
    wanted: str
    example: str
    text: str
    found: str


@dataclass(frozen=True)
class MixedDimensions(CompileProblem):
    code = "E0304"
    says = "`{left}` and `{right}` can't be {done}: one is {left_is}, the other {right_is}"
    mark = "two dimensions"
    hint = "give both the same dimension"
    operator: str
    left: str
    left_is: str
    right: str
    right_is: str

    @property
    def done(self) -> str:
        return "added" if self.operator == "+" else "subtracted"


# --- E04xx: values -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OutOfRange(CompileProblem):
    """Too small or too large; `bound` says what would be right ("above 0 s", "at most 1,000")."""

    code = "E0401"
    says = "`{key}` can't be `{text}`"
    mark = "{bound} is wanted"
    hint = "`{key}` is {bound}, as in `{example}`"
    key: str
    text: str
    bound: str
    example: str


@dataclass(frozen=True)
class NotInteger(CompileProblem):
    code = "E0402"
    says = "`{key}` is a whole number, and `{text}` is not"
    hint = "round it"
    key: str
    text: str


@dataclass(frozen=True)
class EmptyRamp(CompileProblem):
    """`why` tells how it comes to have no points."""

    code = "E0403"
    says = "this ramp of `{key}` has no points: {why}"
    hint = "write {usage}"
    key: str
    why: str
    usage: str


@dataclass(frozen=True)
class TooManyPoints(CompileProblem):
    code = "E0404"
    says = "this ramp of `{key}` has {points} points, and {limit:,} are the most"
    hint = "take larger steps: `range(a, b, factor: 2)` or `range(a, b, steps: 25)`"
    key: str
    count: float
    limit: int

    @property
    def points(self) -> str:
        return f"{self.count:,.0f}" if self.count < 1e15 else f"{self.count:.0e}"


@dataclass(frozen=True)
class SamePoint(CompileProblem):
    code = "E0405"
    says = "the ramp of `{key}` has the point {point} twice"
    hint = "take one away; to measure it more often, say `repeats = 2`"
    key: str
    point: str


@dataclass(frozen=True)
class BadHosts(CompileProblem):
    code = "E0406"
    says = "{why}"
    why: str
    how: str

    @property
    def help(self) -> str:
        return self.how or "hosts are such as `db.lab`, `root@db.lab:22`, `db-[1-3].lab`"


@dataclass(frozen=True)
class BadMix(CompileProblem):
    """Shares of operations that do not add up."""

    code = "E0407"
    says = "the operations of workload `{workload}` add up to {total:.6g} %, not 100 %"
    hint = "the shares are {shares}; say the others too, `0 %` where there are none"
    workload: str
    total: float
    mix: tuple[tuple[str, float], ...]

    @property
    def shares(self) -> str:
        return ", ".join(f"`{name}` {share * 100:.6g} %" for name, share in self.mix)


@dataclass(frozen=True)
class TooManyCells(CompileProblem):
    code = "E0408"
    says = "experiment `{experiment}` brings the spec to {count:,} cells, and {limit:,} are the most"
    mark = "{product}"
    hint = "take fewer points or repeats, or split the spec"
    experiment: str
    count: int
    limit: int
    product: str


@dataclass(frozen=True)
class NotFinite(CompileProblem):
    code = "E0409"
    stands_alone = True
    says = "this {what} is too large to compute with"
    hint = "write a smaller one"
    what: str = "number"


@dataclass(frozen=True)
class BadPath(CompileProblem):
    code = "E0410"
    says = "`{key}` can't be `{path}`: {why}"
    hint = "write an absolute path of its own, such as `/var/tmp/benchbrief`"
    key: str
    path: str
    why: str


@dataclass(frozen=True)
class DivisionByZero(CompileProblem):
    code = "E0411"
    says = "this divides by zero"
    hint = "divide by something else"


@dataclass(frozen=True)
class BadText(CompileProblem):
    code = "E0412"
    says = "`{key}` is {why}"
    hint = "write {wanted}"
    key: str
    why: str
    wanted: str


@dataclass(frozen=True)
class NotConstant(CompileProblem):
    """An expression that is not known before the run, where a value is wanted."""

    code = "E0413"
    says = "a value is wanted here, and this is {found}"
    hint = "write a number with its unit, a parameter, or arithmetic on them"
    found: str


@dataclass(frozen=True)
class HostTwice(CompileProblem):
    """The same host twice in one group."""

    code = "E0414"
    says = "host `{host}` is in the group twice"
    hint = "name each host once"
    host: str


@dataclass(frozen=True)
class PlainSecret(CompileProblem):
    """A password written into the spec, from where it would go into plans, journals and version control."""

    code = "E0415"
    says = "this address holds a password in plain text"
    hint = "keep it out of the spec: `mongodb://user:{{secret(MONGO_PASSWORD)}}@...` reads it when the spec is run"


@dataclass(frozen=True)
class NotWholeSeconds(CompileProblem):
    code = "E0416"
    says = "db_bench runs for whole seconds, and `{key}` is `{text}`"
    hint = "round it to whole seconds"
    key: str
    text: str


@dataclass(frozen=True)
class SecretInTheOpen(CompileProblem):
    """A password that is no `secret(...)`: `name` is what it could be called."""

    code = "E0417"
    says = "`{key}` would be readable by everyone: {why}"
    hint = 'write `secret("{name}")`; it is read from the environment when the spec is run, and kept nowhere'
    key: str
    why: str
    name: str
