"""Differences between two contenders beside their numbers: spec, settings, hosts, tools and servers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchbrief.results.compare.contender import Contender
from benchbrief.results.store.digests import shorten_digests

_PASSING = ("free space of ",)
"""Prefixes of fact names whose values change from hour to hour, and explain nothing."""


@dataclass(frozen=True)
class Difference:
    """`what` has `first` on one side and `second` on the other; "" on a side without it."""

    what: str
    first: str
    second: str


def differences(first: Contender, second: Contender) -> list[Difference]:
    """Return the spec's differences, then those of hosts, servers and tools. Raises RunnerError."""
    return [*_of_specs(first, second), *_of_facts(first, second)]


def _of_specs(first: Contender, second: Contender) -> Iterator[Difference]:
    one, other = first.plan.spec, second.plan.spec
    if one.name != other.name:
        yield Difference("spec", one.name, other.name)
    if one.profile != other.profile:
        yield Difference("profile", one.profile or "none", other.profile or "none")
    for name in dict.fromkeys((*one.params, *other.params)):
        if one.params.get(name) != other.params.get(name):
            yield Difference(f"param {name}", one.params.get(name, ""), other.params.get(name, ""))
    if set(one.files.values()) != set(other.files.values()):
        for name in dict.fromkeys((*one.files, *other.files)):
            ours, theirs = one.files.get(name, ""), other.files.get(name, "")
            if ours != theirs:
                yield Difference(f"text of {name}", *shorten_digests(ours, theirs))


def _of_facts(first: Contender, second: Contender) -> Iterator[Difference]:
    ours, theirs = _facts(first), _facts(second)
    for key in dict.fromkeys((*ours, *theirs)):
        one, other = ours.get(key, {}), theirs.get(key, {})
        if one.keys() != other.keys():
            yield Difference(key, ", ".join(one), ", ".join(other))


def _facts(side: Contender) -> dict[str, dict[str, None]]:
    """Return each fact's values over the compared hosts; for a whole run, by its hardware."""
    condition = f"{side.condition} OR c.hardware IS NULL"  # facts without a hardware belong to the clients
    rows = side.store.sql(
        f"SELECT kind, hardware, name, value, unit FROM facts AS c WHERE {condition} ORDER BY ALL"  # noqa: S608  # ours
    ).rows
    found: dict[str, dict[str, None]] = {}
    for kind, hardware, name, value, unit in rows:
        if is_passing(name):
            continue
        whose = "load generator" if hardware is None and kind == "host" else "" if kind == "hardware" else kind
        of = f" of {hardware}" if side.hardware is None and hardware is not None else ""
        found.setdefault(" ".join(word for word in (whose, f"{name}{of}") if word), {}).setdefault(
            _readable(value, unit)
        )
    return found


def is_passing(name: str) -> bool:
    """Return whether a fact explains no difference: it changes from hour to hour, or is where a program lies."""
    return name.startswith(_PASSING) or name.endswith(".path")


def _readable(value: str, unit: str | None) -> str:
    """Format `8388608` of unit B as `8 MiB`. Other values stay as they are."""
    if unit != "B" or not value.isdigit():
        return value
    count = int(value)
    size, name = next((step for step in _SIZES if count and count % step[0] == 0), (1, "B"))
    return f"{count // size:,} {name}"


_SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
