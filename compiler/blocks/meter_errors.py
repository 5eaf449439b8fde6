"""What can be wrong with power meters, apart from what can be wrong with any value, and what is to be said of them."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.problems import Again, CompileProblem


@dataclass(frozen=True)
class MetersDontAddUp(Again):
    """Meters in a list whose watts have no sum."""

    code = "E0562"
    says = "the watts of these meters can't be added up: {why}"
    remark = "the first of them"
    hint = "name meters of one kind that are read alike, such as two outlets of a host with two power supplies"
    why: str


@dataclass(frozen=True)
class ArgumentAlone(CompileProblem):
    """An argument of a meter that says nothing without another."""

    code = "E0563"
    says = "`{meter}` takes `{key}:` only beside `{needed}:`"
    hint = "add `{needed}: ...`, as in {usage}"
    meter: str
    key: str
    needed: str
    usage: str


@dataclass(frozen=True)
class UnverifiedMeter(CompileProblem):
    """A BMC that is logged in to without knowing that it is the one."""

    code = "W0504"
    severity = "warning"
    says = "nothing proves that `{address}` is the BMC that is meant: {why}"
    mark = "the password goes to whoever answers"
    hint = 'trust its own certificate (`fingerprint: "..."`) or the authority that signed it (`ca_file: "/..."`)'
    address: str
    why: str


@dataclass(frozen=True)
class MixedBoundaries(CompileProblem):
    """Hardware groups of one experiment whose watts are the power of different things."""

    code = "W0505"
    severity = "warning"
    says = "experiment `{experiment}` sets the power of unlike parts side by side: {parts}"
    hint = "compare watts only with watts of the same parts: read all of them in the same way"
    experiment: str
    parts: str
