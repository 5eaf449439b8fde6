"""Inspects the code of an installed extension. Checks that it has the methods that benchbrief calls, and finds what it
imports from benchbrief."""

from __future__ import annotations

import ast
from importlib.metadata import EntryPoint
from importlib.resources import files

from benchbrief.compiler.registry import package_files
from benchbrief.model.extension_spec import ExtensionSpec, ImporterSpec, SnapshotSpec, raised
from benchbrief.results.imports.importer_seams import SORTS
from benchbrief.runners.engines.file_system_snapshots import FILE, find_lacking
from benchbrief.runners.fleet.scheduler import Scheduler
from benchbrief.runners.meters.meter_base import AnyMeter
from benchbrief.runners.plugins import find_misfit, find_private, find_unhonoured
from benchbrief.runners.seams import Driver, Engine, ProbeKind
from benchbrief.runners.transports.transport_base import JobTransport


def imported_past(target: str) -> tuple[str, ...]:
    """Return the benchbrief modules that a package's code imports although they are not meant for extensions."""
    found = set()
    for path in (each for each in package_files(target) if each.suffix == ".py"):
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue  # what can't be read imports nothing
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and not node.level:
                found |= {node.module or ""}
                if node.module == "benchbrief":
                    found |= {f"benchbrief.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
    return tuple(sorted(each for each in found if each.startswith("benchbrief.") and not _is_for_extensions(each)))


def _is_for_extensions(module: str) -> bool:
    return f"{module}.".startswith("benchbrief.extend.")


def code_problem(spec: ExtensionSpec) -> str:
    """Return why an extension's code can't be used, or "" if it can or none is needed."""

    target = spec.implementation
    if not target:
        return ""
    seam = _seam(spec)
    try:
        made = EntryPoint("", target, "").load()
        wrong = (find_misfit(made, seam) if seam else "") or find_private(made) or find_unhonoured(made, spec)
        if isinstance(spec, SnapshotSpec):
            script = (files(target) / FILE).read_text(encoding="utf-8")
            wrong = f"lacks in its {FILE} {', '.join(lacking)}" if (lacking := find_lacking(script)) else ""
    except BaseException as error:
        return f"`{target}` can't be imported: {raised(error)}"
    return f"`{target}` {wrong}" if wrong else ""


def _seam(spec: ExtensionSpec) -> type | None:
    """Return the protocol that an extension's class must implement, or None for templates and snapshots, which have no
    class."""

    if isinstance(spec, ImporterSpec):
        return SORTS[spec.reads]
    seams = {
        "engine": Engine,
        "tool": Driver,
        "probe": ProbeKind,
        "meter": AnyMeter,
        "transport": JobTransport,
        "scheduler": Scheduler,
    }
    return seams.get(spec.kind)
