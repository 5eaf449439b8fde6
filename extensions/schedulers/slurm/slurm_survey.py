"""Compares Slurm's nodes and limits with the needs of a plan's lanes, before any job is submitted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchbrief.extend.common import did_you_mean, duration, is_on_controller, plural
from benchbrief.extend.schedulers import LaneNeeds, NodePool, PlannedJob, SchedulerRefused
from benchbrief.extensions.schedulers.slurm.slurm_commands import ask
from benchbrief.extensions.schedulers.slurm.slurm_request import Request, request_of, seconds_of

LEAD_S = 120
"""How many seconds before a lane's time limit Slurm asks the lane to stop, unless an option sets another time."""
_GONE = ("DOWN", "DRAIN", "FAIL", "MAINT", "UNK", "NO_RESP", "POWER", "FUTURE", "REBOOT", "INVAL")
_NAMED = 5


@dataclass(frozen=True)
class _Node:
    name: str
    state: str
    features: frozenset[str]

    @property
    def is_usable(self) -> bool:
        return not self.state.endswith("*") and not self.state.startswith(_GONE)


@dataclass(frozen=True)
class _Partition:
    """A partition. `default_s` is the time limit of a job that requests none. `most_s` is the highest limit, or None if
    there is no limit."""

    name: str
    is_default: bool
    is_up: bool
    default_s: float | None
    most_s: float | None
    nodes: tuple[_Node, ...]

    @property
    def pool(self) -> NodePool:
        usable = [node for node in self.nodes if node.is_usable]
        idle = sum(node.state.startswith("IDLE") for node in usable)
        has = Counter(feature for node in self.nodes for feature in sorted(node.features))
        return NodePool(self.name, len(self.nodes), len(usable), idle, self.most_s, dict(has))


def survey(needs: Sequence[LaneNeeds]) -> tuple[list[PlannedJob], list[NodePool]]:
    """Return the lanes' jobs with their problems, and the partitions for those jobs. If none of these partitions is
    known, return all partitions."""
    partitions = _partitions()
    jobs = [_planned(each, partitions) for each in needs]
    named = dict.fromkeys(name for each in needs for name in _partition_names(each, partitions))
    known = [name for name in named if name in partitions] or list(partitions)
    return jobs, [partitions[name].pool for name in known]


def _planned(needs: LaneNeeds, partitions: Mapping[str, _Partition]) -> PlannedJob:
    try:
        request = request_of(needs)
    except SchedulerRefused as error:
        return PlannedJob(needs, (), problems=(f"{error.message}: {error.hint}",))
    problems = list(_local(needs))
    names = _names(request, partitions)
    unknown = [name for name in names if name not in partitions]
    known = [partitions[name] for name in names if name in partitions]
    for name in unknown:
        guess = did_you_mean(name, partitions)
        has = f"did you mean `{guess}`?" if guess else f"it has {', '.join(f'`{each}`' for each in partitions)}"
        problems.append(f"Slurm has no partition `{name}`: {has}")
    if not names:
        problems.append("Slurm has no default partition: name one")
    if unknown or not known:
        return PlannedJob(needs, request.words, problems=tuple(problems))
    if not problems:
        problems += _lacking(request, known)
    problems += [f"the partition `{each.name}` is down" for each in known if not each.is_up]
    limit = seconds_of(request.options["time"]) if "time" in request.options else _longest(known, "default_s")
    most = _longest(known, "most_s")
    if limit is not None and most is not None and limit > most:
        problems.append(f"it asks for {duration(limit)}, and the partition allows {duration(most)}")
    effective = min((each for each in (limit, most) if each is not None), default=None)
    problems += _too_short(needs, effective, _lead_s(request))
    cautions = (*_busy(request, known), *_split(needs, effective, _lead_s(request))) if not problems else ()
    return PlannedJob(needs, request.words, effective, tuple(problems), tuple(cautions))


def _local(needs: LaneNeeds) -> Iterator[str]:
    for host in needs.hosts:
        if is_on_controller(host):
            yield (
                f"the spec measures on `{host.id}`, which is wherever a job of Slurm happens to run: name hosts as "
                "Slurm names its nodes (`sinfo -N` lists them), or ask for them"
            )


def _lacking(request: Request, partitions: Sequence[_Partition]) -> Iterator[str]:
    """Yield sentences about nodes that the partitions do not have, in any state."""
    nodes = list({node.name: node for each in partitions for node in each.nodes}.values())
    where = "partition " + " or ".join(f"`{each.name}`" for each in partitions)
    strange = [name for name in request.named if name not in {node.name for node in nodes}]
    if strange:
        some = ", ".join(strange[:_NAMED]) + (f" and {len(strange) - _NAMED} more" if strange[_NAMED:] else "")
        yield f"{where} has no node for these hosts of the spec: {some} (`sinfo -N` lists its nodes)"
    common = _features(request.options.get("constraint", ""))
    for what, count in request.features.items():
        wanted = frozenset(filter(None, what.split("&"))) | common
        fitting = sum(wanted <= node.features for node in nodes)
        if fitting < count:
            features = " and ".join(f"`{each}`" for each in sorted(wanted))
            its = f"{plural(fitting, 'node')} with {features}" if wanted else plural(fitting, "node")
            every = sorted({feature for node in nodes for feature in node.features})
            known = f" (its features: {', '.join(every)})" if wanted and not fitting else ""
            yield f"it needs {count}, and {where} has {its}{known}"
            return
    if request.nodes > len(nodes):
        yield f"it needs {request.nodes} nodes in all, and {where} has {len(nodes)}"


def _features(constraint: str) -> frozenset[str]:
    """Return the features that every node must have. For a constraint with alternatives or counts, return none."""
    return frozenset() if set(constraint) & set("|[]*()!") else frozenset(filter(None, constraint.split("&")))


def _lead_s(request: Request) -> float:
    """Return how long before its time limit a lane gets its signal, in seconds.

    The number at the end of `--signal=B:USR1@300` sets this time. Without the number, Slurm's default of a minute
    applies; without the option, `LEAD_S` applies.
    """
    signal = request.options.get("signal")
    if signal is None:
        return LEAD_S
    _, at, seconds = signal.rpartition("@")
    return float(seconds) if at and seconds.isdecimal() else 60.0


def _too_short(needs: LaneNeeds, limit: float | None, lead_s: float) -> Iterator[str]:
    if limit is not None and limit - lead_s < needs.longest_s:
        yield (
            f"its time limit is {duration(limit)}, of which {duration(lead_s)} are kept to stop, and its longest cell "
            f"takes about {duration(needs.longest_s)}: no job would end it"
        )


def _split(needs: LaneNeeds, limit: float | None, lead_s: float) -> Iterator[str]:
    if limit is not None and limit - lead_s < needs.seconds:
        yield (
            f"it takes about {duration(needs.seconds)}, and its time limit is {duration(limit)}: it goes on in further "
            "jobs, perhaps on other nodes"
        )


def _busy(request: Request, partitions: Sequence[_Partition]) -> Iterator[str]:
    """Yield sentences about nodes that the job must wait for because they are down, drained or busy."""
    nodes = {node.name: node for each in partitions for node in each.nodes}
    away = [f"{name} ({nodes[name].state.lower()})" for name in request.named if not nodes[name].is_usable]
    if away:
        yield f"it waits for {', '.join(away[:_NAMED])}"
    common = _features(request.options.get("constraint", ""))
    for what, count in request.features.items():
        wanted = frozenset(filter(None, what.split("&"))) | common
        fitting = [node for node in nodes.values() if wanted <= node.features]
        usable = sum(node.is_usable for node in fitting)
        if usable < count:
            yield f"it needs {count} nodes with `{what}`, and {usable} of {len(fitting)} can be used now: it waits"


def _longest(partitions: Sequence[_Partition], which: str) -> float | None:
    found: list[float | None] = [getattr(each, which) for each in partitions]
    return None if None in found else max((each for each in found if each is not None), default=None)


def _partition_names(needs: LaneNeeds, partitions: Mapping[str, _Partition]) -> list[str]:
    try:
        return _names(request_of(needs), partitions)
    except SchedulerRefused:
        return []


def _names(request: Request, partitions: Mapping[str, _Partition]) -> list[str]:
    """Return the partitions that a job may use: the ones that it names, or the default partition."""
    named = request.options.get("partition", "")
    return named.split(",") if named else [each.name for each in partitions.values() if each.is_default]


def _partitions() -> dict[str, _Partition]:
    nodes: dict[str, list[_Node]] = {}
    for line in ask("sinfo", "--noheader", "--all", "--Node", "--format=%R|%N|%T|%f").splitlines():
        partition, name, state, features = (*line.strip().split("|", 3), "", "", "")[:4]
        known = frozenset() if features in ("", "(null)") else frozenset(features.split(","))
        nodes.setdefault(partition, []).append(_Node(name, state.upper(), known))
    found = {}
    for line in ask("sinfo", "--noheader", "--all", "--summarize", "--format=%P|%a|%L|%l").splitlines():
        partition, state, default, most = (*line.strip().split("|", 3), "", "", "")[:4]
        name = partition.removesuffix("*")
        limits = (seconds_of(default), seconds_of(most))
        usual = limits[0] if limits[0] is not None else limits[1]
        found[name] = _Partition(name, partition != name, state == "up", usual, limits[1], tuple(nodes.get(name, ())))
    return found
