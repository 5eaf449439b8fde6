from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from benchbrief.cli.terminal import Stop, one_line, show, show_json, show_painted
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Installed:
    """An installed extension. If it can't be used, `problem` says why and `hint` says what to do. Otherwise, both are
    empty. `past` lists the imported benchbrief modules that are not meant for extensions."""

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
  bench extensions                   of each kind, with their packages
  bench extensions --json
  bench extensions new engine redis  write a package, bench-redis, that works
  bench extensions try redis         what of it holds, and what was not tried
  bench extensions try redis --spec brief.bench

Each is loaded to see whether it works. A broken one stops no spec that does not use it. `new` writes a package for
one of these kinds: engine (with its load generator), probe, meter, importer, transport, scheduler, snapshot, template.
`try` ends with code 1 if something does not hold.
"""
)
@click.argument("task", nargs=-1, metavar="[new KIND NAME | try NAME]")
@click.option("--spec", type=click.Path(path_type=Path), help="With `try`: a spec to run.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(task: tuple[str, ...], spec: Path | None, as_json: bool) -> None:
    """List the installed extensions of each kind, make a package for a new one, or check whether one conforms.

    The list shows the package of each extension, and what is wrong with the extension, if anything.
    """
    match task:
        case ():
            _list(as_json)
        case ("new", kind, name):
            _new(kind, name, as_json)
        case ("try", name):
            _try(name, spec, as_json)
        case _:
            raise click.UsageError("`new` needs a kind and a name, `try` a name")


def _new(kind: str, name: str, as_json: bool) -> None:
    from benchbrief.dsl.diagnostics.suggest import did_you_mean
    from benchbrief.extending.new_package import KINDS, new_package

    if kind not in KINDS:
        guess = did_you_mean(kind, KINDS)
        raise click.UsageError(f"no kind `{kind}`: {f'did you mean `{guess}`?' if guess else ', '.join(KINDS)}")
    folder = new_package(kind, name, Path())
    if as_json:
        show_json({"kind": kind, "name": name, "folder": str(folder)})
        return
    show(folder)
    show(f"next: pip install --editable ./{folder} && bench extensions try {name}")


def _try(name: str, spec: Path | None, as_json: bool) -> None:
    from benchbrief.extending.conformance import try_extension

    if spec and not spec.is_file():
        raise click.UsageError(f"there is no spec {spec}")
    found = []
    for each in try_extension(name, spec):
        found.append(each)
        if not as_json:
            mark = {"holds": click.style("holds", fg="green"), "broken": click.style("broken", fg="red")}
            show_painted(f"{mark.get(each.state, each.state):<9}  {one_line(each.of)}: {one_line(each.holds)}")
            if each.said:
                show(f"           {one_line(each.said)}")
    if as_json:
        show_json([each._asdict() for each in found])
    broken = sum(each.state == "broken" for each in found)
    if broken:
        raise Stop(ExitCode.SPEC_WRONG)


def _list(as_json: bool) -> None:
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
    from benchbrief.extending.installed_code import code_problem, imported_past

    for registry in REGISTRIES:
        kind = registry.kind
        for name, spec in registry.own.items():
            yield Installed(kind, name, "benchbrief", benchbrief.__version__, code_problem(spec))
        for offer in registry.offered():
            found = registry.load(offer)
            if not isinstance(found, RefusedExtension) and isinstance(
                clash := registry.find(offer.name), RefusedExtension
            ):
                found = clash
            if isinstance(found, RefusedExtension):
                yield Installed(kind, offer.name, offer.package, offer.version, found.why, found.hint)
                continue
            problem = code_problem(found)
            hint = f"install {offer.package} again, or ask its authors" if problem else ""
            past = imported_past(offer.target)
            yield Installed(kind, offer.name, offer.package, offer.version, problem, hint, past)
