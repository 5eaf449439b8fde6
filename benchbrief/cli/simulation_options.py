"""The options of `bench run --simulate`, and how a simulated run is marked."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from benchbrief.cli.option_groups import with_options
from benchbrief.cli.terminal import fail

if TYPE_CHECKING:
    from benchbrief.compiler.planning.plan import Plan
    from benchbrief.runners.journal.events import Failing, Simulated

SIMULATED = "simulated: no host is reached and no tool is run; the numbers are a queueing model's, not measurements"
SHORT = "simulated, nothing was measured"
_SHOWN = 8
"""So many hosts are named where one is not found."""


class Share(click.ParamType[float]):
    """`0.05` or `5%`, as a share from 0 to 1."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            self.fail(f"{value!r} is not a share: write 0.05 or 5%", param, ctx)
        return share


class _HostShare(click.ParamType[tuple[str, float]]):
    """`db-3.lab`, `db-*=5%`: a pattern of hosts, and the share of their jobs."""

    name = "host[=share]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value
        pattern, equals, share = str(value).rpartition("=")
        return (pattern, Share().convert(share, param, ctx)) if equals else (share, 1.0)


def simulate_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--simulate` and the options that go with it, handed on as `simulated`: None to measure."""

    @wraps(function)
    def command(
        *words: Any,
        simulate: bool,
        seed: int | None,
        errors: float | None,
        failing: tuple[tuple[str, float], ...],
        **more: Any,
    ) -> Any:
        return function(*words, simulated=_simulation(simulate, seed, errors, failing), **more)

    return with_options(
        command,
        click.option("--simulate", is_flag=True, help="Run against simulated hosts, in no time: nothing is measured."),
        click.option("--seed", type=int, metavar="N", help="With --simulate: other numbers. [default: 0]"),
        click.option(
            "--errors", type=Share(), metavar="SHARE", help="With --simulate: so many of the operations fail."
        ),
        click.option(
            "--failing",
            type=_HostShare(),
            multiple=True,
            metavar="HOST[=SHARE]",
            help="With --simulate: jobs on this host fail, or on hosts like `db-*`; all, or a share. Repeatable.",
        ),
    )


def _simulation(
    simulate: bool, seed: int | None, errors: float | None, failing: tuple[tuple[str, float], ...]
) -> Simulated | None:
    """Raises UsageError for the others without --simulate."""
    if not simulate:
        others = {"--seed": seed, "--errors": errors, "--failing": failing or None}
        for name in (name for name, value in others.items() if value is not None):
            raise click.UsageError(f"{name} is for simulated hosts: say --simulate too")
        return None
    from benchbrief.runners.journal.events import Failing, Simulated

    hosts: tuple[Failing, ...] = tuple(Failing(pattern=pattern, share=share) for pattern, share in failing)
    return Simulated(seed=seed or 0, errors=errors or 0.0, failing=hosts)


def refuse_unknown_hosts(simulated: Simulated | None, plan: Plan) -> None:
    """Raises Stop with a message where a host is to fail that the plan does not have."""
    if simulated is None or not simulated.failing:
        return
    sides = dict.fromkeys((cell.hardware, cell.load_hosts) for cell in plan.cells)
    known = sorted({host for group, load in sides for host in (*plan.hardware[group].hosts, *load)})
    for each in simulated.failing:
        if not any(fnmatchcase(host, each.pattern) for host in known):
            more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
            there = f"there are {', '.join(known[:_SHOWN])}{more}"
            raise fail(f"--failing {each.pattern}: no host of the spec is like it", there)
