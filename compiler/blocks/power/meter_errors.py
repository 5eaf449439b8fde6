"""Mistakes in power meters, and warnings of them."""

from __future__ import annotations

from benchbrief.compiler.problems import Again, CompileProblem


class MetersDontAddUp(Again):
    """Meters in a list whose watts have no sum."""

    code = "E0562"
    says = "the watts of these meters can't be added up: {why}"
    remark = "the first of them"
    hint = "{instead}"
    why: str
    instead: str


class ArgumentAlone(CompileProblem):
    """An argument of a meter that has no effect without another."""

    code = "E0563"
    says = "`{meter}` takes `{key}:` only together with `{needed}:`"
    hint = "add `{needed}: ...`, as in {usage}"
    meter: str
    key: str
    needed: str
    usage: str


class UnverifiedMeter(CompileProblem):
    """A login to a BMC whose identity is not verified."""

    code = "W0504"
    says = "the identity of the BMC `{address}` is not checked: {why}"
    mark = "any machine that answers gets the password"
    hint = 'trust its own certificate (`fingerprint: "..."`) or the authority that signed it (`ca_file: "/..."`)'
    address: str
    why: str


class MixedBoundaries(CompileProblem):
    """Hardware groups of one experiment whose meters measure different things."""

    code = "W0505"
    says = "experiment `{experiment}` compares the power of different parts: {parts}"
    hint = "use the same kind of meter for all hardware of the experiment"
    experiment: str
    parts: str
