"""Describes the attributes of blocks: the shapes of their values, each attribute (`Key`), and the block itself.

A `Special` value, such as a ramp or a host, has its own reader. Its shape only provides words for messages.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.units import DIMENSIONLESS, Dimension, dimension_name, parse_unit

NAME = 80
"""The most characters of a name without quotes, such as the name of a block, metric, parameter or fact."""
LABEL = 120
"""The maximum length of a label, such as that of a compared thing, a column or a series."""
HEADING = 200
"""The maximum length of a title, and of the texts beside it."""
LINE = 300
"""The maximum length of a fact, or of a figure's claim."""
PARAGRAPH = 4_000
"""The maximum length of a description, a note, a command or an address."""
PASSAGE = 20_000
"""The maximum length of a text in the brief."""


class _Shape(ABC):
    @property
    @abstractmethod
    def wanted(self) -> str:
        """A description of the values that are allowed."""

    @property
    def described(self) -> str:
        """The description in `wanted`, with an example if that helps."""
        return self.wanted


@dataclass(frozen=True)
class Text(_Shape):
    """A quoted string of at most `longest` characters. If it can have `holes`, it may contain `{facts}` of the
    hardware."""

    holes: bool = False
    absolute: bool = False
    longest: int = PARAGRAPH

    @property
    def wanted(self) -> str:
        return 'an absolute path such as "/data"' if self.absolute else "a quoted text"


@dataclass(frozen=True)
class Word(_Shape):
    """One of a few words. A `quoted` word is written as a quoted text."""

    choices: tuple[str, ...]
    quoted: bool = False

    @property
    def wanted(self) -> str:
        return " or ".join(f'`"{choice}"`' if self.quoted else f"`{choice}`" for choice in self.choices)


@dataclass(frozen=True)
class Flag(_Shape):
    """A switch: `true` or `false`."""

    @property
    def wanted(self) -> str:
        return "`true` or `false`"


@dataclass(frozen=True)
class Number(_Shape):
    """A number in `dimension`. A `plain` number needs no unit. `minimum` is in base units."""

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
        """Return the bound that a value violates as text ("above 0 s"), or "" if it is within bounds."""
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
    """A declared fact of hardware: a text, a number with or without a unit, `true` or `false`.

    A `removable` fact may also be `none`, which removes an inherited fact.
    """

    removable: bool = False
    longest: int = LINE

    @property
    def wanted(self) -> str:
        return "a text, a quantity, `true` or `false`" + (", or `none` for no such fact" if self.removable else "")


@dataclass(frozen=True)
class Login(_Shape):
    """A part of a login, which the controller reads when the spec runs. A `secret` part is never written out."""

    secret: bool
    example: str

    @property
    def wanted(self) -> str:
        return f'`secret("{self.example}")`' if self.secret else f'a quoted text, or `env("{self.example}")`'


@dataclass(frozen=True)
class Special(_Shape):
    """A value with its own reader. A `series` may have several parts (`3, interleaved`)."""

    words: str
    series: bool = False

    @property
    def wanted(self) -> str:
        return self.words


Shape = Text | Word | Flag | Number | Fact | Login | Special


@dataclass(frozen=True)
class Key:
    """An attribute of a block. `only` names the engines, tools or probes that have it, and is empty if all have it.

    `example` is a sample value for `usage`, if the shape alone provides none. `file` says where the named file or
    folder is: beside the spec, on the controller, or on the hosts. `label` is the maximum length of the attribute's
    label.
    """

    shape: Shape
    doc: str
    required: bool = False
    default: str = ""
    only: tuple[str, ...] = ()
    example: str = ""
    file: Literal["", "spec", "controller", "hosts"] = ""
    label: int = LABEL

    def usage(self, name: str) -> str:
        """Return the attribute with a sample value: `measure = 20 min`."""
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

    `open_keys` is the shape of keys that are not in the table (hardware may have any fact). A block has at most one
    attribute of each `exclusive` set. If an override gives an attribute of a set, the others are dropped. `label` is
    the maximum length of its label. Messages list the `listed` attributes, those of its engine or tool, and those of
    its `inner` blocks.
    """

    doc: str
    keys: Mapping[str, Key]
    blocks: tuple[str, ...] = ()
    open_keys: Shape | None = None
    exclusive: tuple[tuple[str, ...], ...] = ()
    named: bool = True
    inherits: bool = True
    overridable: bool = True
    label: int = LABEL
    listed: tuple[str, ...] = ()
    inner: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
