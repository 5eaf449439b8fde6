"""The spec of a power meter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from benchbrief.compiler.extensions.extension_spec import NAME, ExtensionSpec
from benchbrief.compiler.shapes.value_shapes import Flag, Key, Login, Number, Special, Text, Word

Boundary = Literal["wall", "node", "cpu", "unknown"]
Address = Literal["host", "url", "path"]

SHARED = Key(
    Flag(),
    "The hosts have the meter together, as the nodes of an enclosure have: its watts are counted once, "
    "and those of several are added up.",
    default="a meter for each host",
)
"""The argument `shared`: one meter for all hosts."""
SCALE = Key(Number("W", "0.1 W", above=True), "What one of the number is in watts.", default="1 W")
BOUNDARY = Key(Word(("wall", "node", "cpu")), "What its watts are the power of.", default="unknown")


@dataclass(frozen=True)
class MeterSpec(ExtensionSpec):
    """A way to read power, written as a call: `ipmi("bmc-[1-4].lab", user: env("BMC_USER"), password: secret("P"))`.

    `implementation` is a class of `benchbrief.runners.meters.meter_base`. `usage` is such a call, in backquotes.

    `address` describes its unnamed argument, "" for none, and `address_is` its form. `boundary` is what its watts are
    the power of. A `networked` meter is read on the controller, and there is one for each host; others are on the
    hosts. `parts` are the arguments that name what to read at the address; a call has at most one of them, which may
    have ranges, as the address may. A call has exactly one argument of `needs`. `needs_another` maps an argument to the
    one it needs, and `exclude` has pairs that contradict each other. With `local`, a call without an address reads the
    host itself. A `recorded` meter writes a log, which is read after each measurement; it is networked.
    """

    kind: ClassVar[str] = "meter"

    boundary: Boundary = "unknown"
    address: str = ""
    usage: str = ""
    arguments: Mapping[str, Key] = field(default_factory=dict)
    address_is: Address = "host"
    networked: bool = True
    parts: tuple[str, ...] = ()
    needs: tuple[tuple[str, ...], ...] = ()
    needs_another: Mapping[str, str] = field(default_factory=dict)
    exclude: tuple[tuple[str, str], ...] = ()
    local: bool = False
    recorded: bool = False

    def mistake(self, name: str, *, own: bool = False) -> str:
        return super().mistake(name) or self._wrong_call() or self._wrong_arguments()

    def _wrong_call(self) -> str:
        if self.boundary not in get_args(Boundary) or self.address_is not in get_args(Address):
            return "`boundary` or `address_is` is none of its words"
        return "" if self.usage else "it needs a `usage`: how it is written, in backquotes"

    def _wrong_arguments(self) -> str:
        named = (*self.parts, *self.needs_another, *(each for some in (*self.needs, *self.exclude) for each in some))
        for name in named:
            if name not in self.arguments:
                return f"it names the argument `{name}`, which it does not have"
        for name, key in self.arguments.items():
            if not NAME.fullmatch(name) or not key.doc:
                return f"`{name}` can't be an argument: it needs a name in small letters, and a `doc`"
            if not isinstance(key.shape, Text | Word | Number | Flag | Login | Special):
                return f"the argument `{name}` has a shape that no argument of a meter may have"
        return ""
