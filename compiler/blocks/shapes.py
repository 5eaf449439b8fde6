"""What an attribute's value must be (shapes), what is told of the attribute (`Key`), and what a block holds.

`Special` values have a reader of their own (ramps, hosts, tools...); the shape then only carries the words that say
what is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchbrief.compiler.units import DIMENSIONLESS, Dimension, dimension_name, parse_unit


class _Shape:
    @property
    def wanted(self) -> str:
        """What a value must be, in words."""
        raise NotImplementedError

    @property
    def described(self) -> str:
        """The same, with an example where it helps."""
        return self.wanted


@dataclass(frozen=True)
class Text(_Shape):
    """A quoted string; `holes` says whether `{facts}` of the hardware may stand in it."""

    holes: bool = False
    absolute: bool = False

    @property
    def wanted(self) -> str:
        return 'an absolute path such as "/data"' if self.absolute else "a quoted text"


@dataclass(frozen=True)
class Word(_Shape):
    """One of a few words; `quoted` says that it is written as a text."""

    choices: tuple[str, ...]
    quoted: bool = False

    @property
    def wanted(self) -> str:
        return " or ".join(f'`"{choice}"`' if self.quoted else f"`{choice}`" for choice in self.choices)


@dataclass(frozen=True)
class Flag(_Shape):
    @property
    def wanted(self) -> str:
        return "`true` or `false`"


@dataclass(frozen=True)
class Number(_Shape):
    """A number in `dimension`. `plain`: may be written without its unit. `minimum` is in base units."""

    unit: str
    example: str
    plain: bool = False
    integer: bool = False
    minimum: float = 0.0
    above: bool = False
    maximum: float | None = None

    @property
    def dimension(self) -> Dimension:
        return parse_unit(self.unit).dimension

    @property
    def wanted(self) -> str:
        return "a number" if self.dimension == DIMENSIONLESS else dimension_name(self.dimension)

    @property
    def described(self) -> str:
        return f"{self.wanted} such as `{self.example}`"

    def broken_bound(self, value: float) -> str:
        """What a value that is out of bounds breaks, in words ("above 0 s"); "" for one within them."""
        if self.maximum == 1.0 and not 0 <= value <= 1:
            return "from 0 to 100 %"
        unit = "" if self.plain else f" {self.unit}"
        if self.above and value <= self.minimum:
            return f"above {self.minimum:,.6g}{unit}"
        if value < self.minimum:
            return f"at least {self.minimum:,.6g}{unit}"
        if self.maximum is not None and value > self.maximum:
            most = f"{100 * self.maximum:g} %" if self.example.endswith("%") else f"{self.maximum:,.16g}{unit}"
            return f"at most {most}"
        return ""


@dataclass(frozen=True)
class Fact(_Shape):
    """Anything declared about hardware: a text, a number with or without a unit, `true` or `false`.

    One that is `removable` may also be `none`: then there is no such fact, whatever was said of it before.
    """

    removable: bool = False

    @property
    def wanted(self) -> str:
        return "a text, a quantity, `true` or `false`" + (", or `none` for no such fact" if self.removable else "")


@dataclass(frozen=True)
class Login(_Shape):
    """A part of a login, read on the controller when the spec is run. A `secret` one is never written out."""

    secret: bool
    example: str

    @property
    def wanted(self) -> str:
        return f'`secret("{self.example}")`' if self.secret else f'a quoted text, or `env("{self.example}")`'


@dataclass(frozen=True)
class Special(_Shape):
    """A value with a reader of its own; `series` when it may have several parts (`3, interleaved`)."""

    words: str
    series: bool = False

    @property
    def wanted(self) -> str:
        return self.words


Shape = Text | Word | Flag | Number | Fact | Login | Special


@dataclass(frozen=True)
class Key:
    """One attribute. `only` names the engine or the family of workloads that it is for ("" when for all).

    `example` is the attribute as it may be written, where its shape alone does not say it: `usage` has it for all.
    """

    shape: Shape
    doc: str
    required: bool = False
    default: str = ""
    only: str = ""
    example: str = ""

    def usage(self, name: str) -> str:
        """The attribute with a value, as it may stand in a spec: `measure = 20 min`."""
        match self.shape:
            case _ if self.example:
                return self.example
            case Word(choices=choices, quoted=quoted):
                return f'{name} = "{choices[0]}"' if quoted else f"{name} = {choices[0]}"
            case Flag():
                return f"{name} = true"
            case Number(example=example):
                return f"{name} = {example}"
            case _:
                raise TypeError(f"{name} has no example")


@dataclass(frozen=True)
class BlockSchema:
    """One kind of block.

    `open_keys` is the shape of keys not in the table (hardware holds any fact). `exclusive` are sets of keys of which
    a block says at most one; a block that inherits or overrides one of a set leaves the others behind.
    """

    doc: str
    keys: Mapping[str, Key]
    blocks: tuple[str, ...] = ()
    open_keys: Shape | None = None
    exclusive: tuple[tuple[str, ...], ...] = ()
    named: bool = True
    inherits: bool = True
    overridable: bool = True
