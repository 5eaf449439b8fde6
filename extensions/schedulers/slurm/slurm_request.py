"""The request to `sbatch`: a lane's nodes, by name or by feature, and the options of the spec and the user."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from benchbrief.extend.schedulers import LaneNeeds, SchedulerRefused

_SHORT = {
    "A": "account", "C": "constraint", "J": "job-name", "M": "clusters", "N": "nodes", "Q": "quiet", "W": "wait",
    "a": "array", "e": "error", "o": "output", "p": "partition", "q": "qos", "t": "time", "w": "nodelist",
    "x": "exclude",
}  # fmt: skip
_MINUTES_AT = (1440, 60)
_OURS = {
    **dict.fromkeys(
        ("wrap", "array", "wait", "test-only", "parsable", "help", "usage", "version"), "a lane is one batch job"
    ),
    **dict.fromkeys(("job-name", "comment", "output"), "a run finds its jobs by it"),
    "error": "the log of a lane holds the whole output of its jobs",
    "quiet": "`sbatch` has to print the number of the job",
    "clusters": "a run looks for its jobs on one cluster: set SLURM_CLUSTERS",
    **dict.fromkeys(("nodes", "open-mode", "no-requeue"), "it follows from the spec and the lane"),
}
"""The options that users may not set, each with the reason."""


@dataclass(frozen=True)
class Request:
    """A request for nodes. `named` are the nodes that the plan names. `features` maps a feature ("" for any node) to
    how many further nodes must have it."""

    named: tuple[str, ...]
    features: Mapping[str, int]
    options: Mapping[str, str]

    @property
    def nodes(self) -> int:
        return len(self.named) + sum(self.features.values())

    @property
    def constraint(self) -> str:
        """Return the features in the form that `sbatch` takes: `nvme&rack1`, or `[(nvme&rack1)*2&(load&rack1)*1]`."""
        common = self.options.get("constraint", "")
        wanted = {"&".join(filter(None, (what, _grouped(common)))): count for what, count in self.features.items()}
        if not self.named and len(wanted) == 1:
            return next(iter(wanted))
        counted = "&".join(f"{_grouped(what)}*{count}" for what, count in wanted.items() if what)
        return f"[{counted}]" if counted else common

    @property
    def words(self) -> tuple[str, ...]:
        """Return the request as options of `sbatch`, such as `--nodes=2`."""
        rest = {name: value for name, value in self.options.items() if name != "constraint"}
        return (
            *(f"--{name}={value}" if value else f"--{name}" for name, value in rest.items()),
            *((f"--constraint={self.constraint}",) if self.constraint else ()),
            *((f"--nodelist={','.join(self.named)}",) if self.named else ()),
            f"--nodes={self.nodes}",
        )


def request_of(needs: LaneNeeds) -> Request:
    """Return the request for a lane's job. Raises SchedulerRefused if no single job can have the hosts."""
    given = dict(map(_option, needs.options))
    for name in given:
        if name in _OURS:
            raise SchedulerRefused(f"the option `{name}` can't be given to jobs: {_OURS[name]}", "leave it out")
    options = {name: _setting(name, value) for name, value in needs.settings.items()} | given
    asked = [host.asked for host in needs.hosts if host.asked is not None]
    partitions = dict.fromkeys(dict(each.options).get("partition") for each in asked)
    if len(partitions) > 1:
        named = ", ".join(f"`{each}`" if each else "none" for each in partitions)
        raise SchedulerRefused(
            f"lane {needs.lane.number} asks for nodes of several partitions ({named}), and a job has nodes of one",
            "ask for them by a feature instead, or give each hardware group a client of its own",
        )
    if partition := next(iter(partitions), None):
        options["partition"] = partition
    nodes = tuple(host.name for host in needs.hosts if host.asked is None)
    if nodes and "nodelist" in given:
        raise SchedulerRefused(
            f"the option `nodelist` can't be given to jobs: the spec names the nodes of lane {needs.lane.number}",
            "leave it out, or change the spec's `hosts`",
        )
    return Request(nodes, Counter(each.what for each in asked), options)


def _option(text: str) -> tuple[str, str]:
    name, _, value = text.lstrip("-").partition("=")
    return _SHORT.get(name, name), value


def _setting(name: str, value: str | float | bool) -> str:
    """Return a setting from the spec's block. A time is written in Slurm's form, in whole minutes."""
    if name != "time" or not isinstance(value, float | int):
        return str(value)
    minutes = max(1, math.ceil(value / 60))
    days, minutes = divmod(minutes, _MINUTES_AT[0])
    hours, minutes = divmod(minutes, _MINUTES_AT[1])
    return f"{f'{days}-' if days else ''}{hours:02}:{minutes:02}:00"


def _grouped(feature: str) -> str:
    return f"({feature})" if "&" in feature or "|" in feature else feature


def seconds_of(limit: str) -> float | None:
    """Convert a Slurm time limit to seconds. Its form is `minutes`, `minutes:seconds`, `hours:minutes:seconds`, or
    `days-hours[:minutes[:seconds]]`.

    Returns None for `infinite`, and for any other text that is not a time.
    """
    days, dash, rest = limit.rpartition("-")
    parts = rest.split(":")
    try:
        numbers = [int(part) for part in parts]
        whole_days = int(days) if dash else 0
    except ValueError:
        return None
    if dash:  # days-hours[:minutes[:seconds]]
        hours, minutes, seconds = (*numbers, 0, 0)[:3]
    elif len(numbers) == 1:
        hours, minutes, seconds = 0, numbers[0], 0
    else:
        hours, minutes, seconds = (0, *numbers)[-3:]
    return float(whole_days * 86400 + hours * 3600 + minutes * 60 + seconds)
