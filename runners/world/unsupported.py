"""Refuses a plan before the first cell if parts of it are not supported, in general or on these hosts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from benchbrief.compiler.registry import METER_SPECS
from benchbrief.model.engine_spec import by_file_system
from benchbrief.model.plan import Cell, Database, Plan
from benchbrief.runners.errors import HostError, NoTool, RunnerError, ToolMissing
from benchbrief.runners.hosts import tool_discovery
from benchbrief.runners.hosts.host_connections import CONTROLLER, look_at_each
from benchbrief.runners.journal.secret_references import refuse_unset
from benchbrief.runners.meters.power_probe import try_meter
from benchbrief.runners.plugins import find_stand_in, spec_of
from benchbrief.runners.seams import ChecksPlace, Hosts, Node, Transport
from benchbrief.runners.world.world_seams import Meter, World

_OPTION_FILE = re.compile(r"[?&](?:tlsCAFile|tlsCertificateKeyFile|tlsCRLFile)=([^&]*)", re.IGNORECASE)
_AT_ONCE = 16
"""How many meters are tried in parallel, as each may take seconds to answer."""


def refuse_unsupported(plan: Plan) -> None:
    """Raise RunnerError if a plan can't run as written, for example because the version that made it had other
    meters."""
    refuse_unset(plan)
    for database in dict.fromkeys(cell.database for cell in plan.cells):
        _refuse_missing_files(plan.databases[database])
    for host in plan.hosts.values():
        if host.identity is not None:
            _require_file(
                Path(os.path.expanduser(host.identity)),  # noqa: PTH111  # that of Path raises for an unknown user
                f"the private key of {host.name}",
                "name one that the controller has: `identity`",
            )
    for cell in plan.cells:
        sampled = any(probe.name == "power" for probe in cell.probes)
        for meter in plan.hardware[cell.hardware].power if sampled else ():
            try:
                arguments = spec_of(METER_SPECS, meter.kind).arguments
            except RunnerError as error:
                hint = f"{error.hint}; or take `power` out of the probes of {cell.experiment}"
                raise RunnerError(f"power can't be read by `{meter.kind}` ({meter.origin}): {error}", hint) from error
            for key, schema in arguments.items():
                if schema.file == "controller" and key in meter.options:
                    hint = f"the controller reads it: mend `{key}` ({meter.origin})"
                    _require_file(Path(str(meter.options[key])), f"the `{key}` of meter `{meter.kind}`", hint)


def _require_file(path: Path, what: str, hint: str) -> None:
    """Raise RunnerError unless the controller can read the file. `what` describes the file in the error."""
    try:
        if path.exists() and not path.is_file():  # opening a FIFO would block
            raise ValueError("it is not a regular file")
        path.open("rb").close()
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise RunnerError(f"{path}, {what}, can't be used: {why}", hint) from error


def _refuse_missing_files(database: Database) -> None:
    """Raise RunnerError if a connection string names a file that the controller lacks. The controller needs the file
    because it also connects to the server."""
    hole = "\0"
    uri = "".join(part if isinstance(part, str) else hole for part in database.uri)
    named = [unquote(text) for text in _OPTION_FILE.findall(uri)]
    named += [str(value) for key, value in database.options.items() if _OPTION_FILE.match(f"&{key}=")]
    for text in named:
        if hole not in text:
            hint = f"the controller reads it, too: it has to be there under the same path ({database.origin})"
            _require_file(Path(text), f"which the uri of database {database.name} names", hint)


def meters_of(cell: Cell) -> set[Meter]:
    """Return the meters that the cell's probes read."""
    return {(cell.hardware, host_id) for probe in cell.probes if probe.name == "power" for host_id in probe.hosts}


def metered(plan: Plan, cells: Sequence[Cell] | None = None) -> dict[Meter, tuple[Node, str]]:
    """Return the hosts whose power is sampled in these cells (by default, in all cells). Each comes with the id of the
    host that reads its meter."""
    found: dict[Meter, tuple[Node, str]] = {}
    for cell in plan.cells if cells is None else cells:
        hardware = plan.hardware[cell.hardware]
        for probe in cell.probes:
            if probe.name == "power":
                for host_id in probe.hosts:
                    at = CONTROLLER.id if probe.on == "controller" else host_id
                    found.setdefault((cell.hardware, host_id), (Node(plan.hosts[host_id], hardware), at))
    return found


def silent_meters(plan: Plan, cells: Sequence[Cell], hosts: Hosts) -> dict[Meter, RunnerError]:
    """Read every meter of these cells once. Returns the silent meters, each with the reason. Meters whose host can't be
    reached are left out."""
    tried = zip(metered(plan, cells), try_meters(plan, hosts, cells), strict=True)
    return {
        meter: said for meter, (_, said) in tried if isinstance(said, RunnerError) and not isinstance(said, HostError)
    }


def try_meters(
    plan: Plan, hosts: Hosts, cells: Sequence[Cell] | None = None
) -> Iterator[tuple[Node, float | RunnerError | None]]:
    """Yield every host whose power is sampled, and its current watts (see `try_meter`) or its meter's error."""

    def tried(found: tuple[Node, str]) -> tuple[Node, float | RunnerError | None]:
        node, at = found
        try:
            return node, try_meter(node, hosts[at])
        except RunnerError as error:
            return node, error

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="meter") as pool:
        yield from pool.map(tried, metered(plan, cells).values())


# --- missing tools ---

Tools = dict[tuple[str, str, str | None], tool_discovery.FoundTool]
"""Load generators by host, name and the path that the spec gives."""

_Look = Callable[[Transport], object]
"""A function that looks for one program on a host. Raises ToolMissing."""


def find_tools(plan: Plan, cells: Iterable[Cell], hosts: Hosts, held: Iterable[str], world: World) -> Tools:
    """Return the load generators of these cells on the `held` hosts.

    Raises NoTool, with a sentence for each host that lacks a load generator or a server that the run starts. Ignores
    hosts that are lost in the meantime.
    """
    tools: Tools = {}
    if world.simulated:
        return tools

    def look_for_tool(name: str, path: str | None, at: Transport) -> None:
        tools[at.host.id, name, path] = world.tool(at, world.driver(name), path)

    wanted: dict[str, dict[object, _Look]] = {host_id: {} for host_id in held}
    for cell in cells:
        database, servers = plan.databases[cell.database], plan.hardware[cell.hardware].hosts
        tool = cell.tool.driver, cell.tool.path
        for host_id in wanted.keys() & set(cell.load_hosts):
            wanted[host_id].setdefault(tool, partial(look_for_tool, *tool))
        if database.server == "embedded" and servers[0] in wanted:
            wanted[servers[0]].setdefault("stand-in", partial(find_stand_in, database.engine))

    found = look_at_each(wanted, lambda host_id: list(_missing(hosts[host_id], wanted[host_id].values())))
    lacking = [missing for _, missing in found if isinstance(missing, list) and missing]
    if lacking:
        missing_parts = "\n".join("; ".join(map(str, missing)) for missing in lacking)
        hints = dict.fromkeys(each.hint for missing in lacking for each in missing if each.hint)
        raise NoTool(
            missing_parts, "; ".join((*hints, f"nothing was measured; `bench doctor {plan.spec.name}` looks again"))
        )
    return tools


def refuse_places(plan: Plan, cells: Iterable[Cell], hosts: Hosts, held: Iterable[str], world: World) -> None:
    """Raise RunnerError if data of these cells are in places where the file system can't take snapshots.

    A place that commands make at the beginning is checked after the commands have run.
    """
    there = set(held)
    for key in dict.fromkeys(cell.database for cell in cells):
        database, hardware = plan.databases[key], plan.hardware[key.hardware]
        if world.simulated or not by_file_system(database.reset) or database.hooks or hardware.prepare:
            continue
        engine = world.engine(plan, database, hardware, hosts)
        if hardware.hosts[0] in there and isinstance(engine, ChecksPlace):
            with suppress(HostError):  # its cells will report this
                engine.check_place()


def _missing(at: Transport, programs: Iterable[_Look]) -> Iterator[ToolMissing]:
    for look in programs:
        try:
            look(at)
        except ToolMissing as error:
            yield error
        except HostError:
            return
