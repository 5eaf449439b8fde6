"""Names of extensions to show as samples in hints and snippets. Each name is the first one that fits, or dots if no
fitting extension is installed."""

from __future__ import annotations

from benchbrief.compiler.registry import ENGINE_SPECS, METER_SPECS, own_families, own_tools, tool_words

_NONE = "..."


def sample_tool() -> str:
    return next(iter(own_tools()), _NONE)


def sample_tool_in_process() -> str:
    """Return a load generator that contains its database."""
    return next((tool_words(each)[0] for each in ENGINE_SPECS.own.values() if each.in_process), _NONE)


def sample_workloads() -> tuple[str, ...]:
    """Return the first workload of each tool that defines workloads, such as `ycsb.a`."""
    return tuple(f"{name}.{next(iter(family.workloads))}" for name, family in own_families().items()) or (_NONE,)


def sample_engine() -> str:
    return next(iter(ENGINE_SPECS.own), _NONE)


def sample_uri() -> str:
    """Return how a spec gives the address of a server."""
    keys = (each.attributes["uri"] for each in ENGINE_SPECS.own.values() if "uri" in each.attributes)
    return next((key.example for key in keys if key.example), f'uri = "{_NONE}"')


def sample_meter() -> str:
    """Return a meter that is on the host and takes no arguments."""
    return next((each.name for each in METER_SPECS.own.values() if not each.networked and not each.address), _NONE)


def sample_bmc() -> str:
    """Return the name or the call, in backquotes, of a meter that each host has and that is read over the network."""
    return next((each.usage for each in METER_SPECS.own.values() if each.networked and each.local), f"`{_NONE}`")
