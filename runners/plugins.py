"""Drivers, engines and probes by name: our own and third parties', all found through entry points."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Literal, cast

from benchbrief.runners.errors import RunnerError
from benchbrief.runners.seams import Driver, Engine, ProbeKind

Kind = Literal["drivers", "engines", "probes"]


def driver(name: str) -> Driver:
    """The load generator of that name. Raises RunnerError when there is none, or it can't be loaded."""
    return cast(type[Driver], _load("drivers", name))()


def engine_class(name: str) -> type[Engine]:
    """The engine of that name; see `driver` for what is raised."""
    return cast(type[Engine], _load("engines", name))


def probe_kind(name: str) -> ProbeKind:
    """The probe of that name; see `driver` for what is raised."""
    return cast(type[ProbeKind], _load("probes", name))()


def names(kind: Kind) -> tuple[str, ...]:
    """All that are installed."""
    return tuple(sorted({point.name for point in entry_points(group=_group(kind))}))


def _group(kind: Kind) -> str:
    return f"benchbrief.{kind}"


def _load(kind: Kind, name: str) -> object:
    found = _points(kind, name)
    if not found:
        raise RunnerError(
            f"there is no {kind.removesuffix('s')} named `{name}`",
            f"there are: {', '.join(names(kind)) or 'none'}; packages add more by an entry point in {_group(kind)}",
        )
    if len(found) > 1:
        raise RunnerError(
            f"`{name}` is the name of {len(found)} {kind}: {', '.join(point.value for point in found)}",
            "uninstall all but one of the packages that provide them",
        )
    try:
        return found[0].load()
    except Exception as error:  # a third party's module may raise anything when it is imported
        raise RunnerError(
            f"the {kind.removesuffix('s')} `{name}` ({found[0].value}) can't be loaded: {error!r}",
            "install the package that provides it again",
        ) from error


def _points(kind: Kind, name: str) -> list[EntryPoint]:
    """One for each distinct target: an editable install beside a build can list the same one twice."""
    return list({point.value: point for point in entry_points(group=_group(kind), name=name)}.values())
