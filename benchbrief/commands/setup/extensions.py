from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import click

from benchbrief.cli.terminal import one_line, show, show_json, show_painted
from benchbrief.dsl.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from benchbrief.model.extension_spec import ExtensionSpec


@dataclass(frozen=True)
class Installed:
    """An extension. `problem` says why it can't be used, and `hint` what to do; both are empty if it can. It
    imports the modules `past` the surface that is made for extensions."""

    kind: str
    name: str
    package: str
    version: str
    problem: str = ""
    hint: str = ""
    past: tuple[str, ...] = ()


@click.command(
    epilog="""
\b
Examples:
  bench extensions               of each kind, with their packages
  bench extensions --json

Each is loaded to see whether it works. A broken one stops no spec that does not use it.
"""
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(as_json: bool) -> None:
    """List the installed extensions of each kind: which package each is from, and what is wrong with it."""
    found = list(_installed())
    if as_json:
        show_json([asdict(each) for each in found])
        return
    for each in found:
        mark = click.style("broken", fg="red") if each.problem else click.style("ok", fg="green") + "    "
        show_painted(
            f"{mark}  {each.kind:<9}  {one_line(each.name):<12}  {one_line(each.package)} {one_line(each.version)}"
        )
        if each.problem:
            show(f"        {one_line(each.problem)}")
            show(f"        {one_line(each.hint)}")
        if each.past:
            names = ", ".join(each.past[:3]) + (f" and {len(each.past) - 3} more" if len(each.past) > 3 else "")
            show(f"        it imports {one_line(names)}, which any version of benchbrief may change")
            show("        `benchbrief.extend` has what stays: ask its authors to import that alone")


def _installed() -> Iterator[Installed]:
    import benchbrief
    from benchbrief.compiler.registry import REGISTRIES, RefusedExtension

    for registry in REGISTRIES:
        kind = registry.kind
        for name, spec in registry.own.items():
            yield Installed(kind, name, "benchbrief", benchbrief.__version__, _problem(kind, spec))
        for offer in registry.offered():
            found = registry.load(offer)
            if not isinstance(found, RefusedExtension) and isinstance(
                clash := registry.find(offer.name), RefusedExtension
            ):
                found = clash
            if isinstance(found, RefusedExtension):
                yield Installed(kind, offer.name, offer.package, offer.version, found.why, found.hint)
                continue
            problem = _problem(kind, found)
            hint = f"install {offer.package} again, or ask its authors" if problem else ""
            past = _imported_past(offer.target)
            yield Installed(kind, offer.name, offer.package, offer.version, problem, hint, past)


def _imported_past(target: str) -> tuple[str, ...]:
    """Return the modules of benchbrief that a package's code imports and that are not made for extensions."""
    import ast

    from benchbrief.compiler.registry import package_files

    found = set()
    for path in (each for each in package_files(target) if each.suffix == ".py"):
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue  # what can't be read imports nothing
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and not node.level:
                found |= {node.module or ""}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
    return tuple(sorted(each for each in found if each.startswith("benchbrief.") and not _is_for_extensions(each)))


def _is_for_extensions(module: str) -> bool:
    return f"{module}.".startswith("benchbrief.extend.")


def _problem(kind: str, spec: ExtensionSpec) -> str:
    """Return why the code can't be used; "" when it can, or when there is none."""
    from benchbrief.model.extension_spec import raised
    from benchbrief.runners.plugins import find_misfit, find_unhonoured

    target = spec.implementation
    if not target:
        return ""
    seam = _seam(kind, spec)
    try:
        made = EntryPoint("", target, "").load()
        wrong = (find_misfit(made, seam) if seam else "") or find_unhonoured(made, spec)
    except BaseException as error:
        return f"`{target}` can't be imported: {raised(error)}"
    return f"`{target}` {wrong}" if wrong else ""


def _seam(kind: str, spec: ExtensionSpec) -> type | None:
    """Return the protocol of an extension's class; None for a template, which has no class."""
    from benchbrief.model.extension_spec import ImporterSpec
    from benchbrief.results.imports.importer_seams import SORTS
    from benchbrief.runners.fleet.scheduler import Scheduler
    from benchbrief.runners.meters.meter_base import AnyMeter
    from benchbrief.runners.seams import Driver, Engine, ProbeKind
    from benchbrief.runners.transports.transport_base import JobTransport

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
    return seams.get(kind)
