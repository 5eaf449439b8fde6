"""Groups that have something in common, directly or through others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ONE_BY_ONE = "experiment "
"""What a cell holds whose experiment lets nothing run beside its measurements, before the experiment's name."""


def join_groups(groups: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return a name for each member of a group: members of joined groups have the same one (union-find)."""
    above: dict[str, str] = {}

    def root(member: str) -> str:
        while above.setdefault(member, member) != member:
            above[member] = member = above[above[member]]
        return member

    for first, *others in dict.fromkeys(map(tuple, groups)):
        root(first)
        for other in others:
            above[root(other)] = root(first)
    return {member: root(member) for member in tuple(above)}
