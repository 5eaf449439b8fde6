"""Writes the `README.md` of each of our extensions. Its tables are made from the extension's `spec.py`, and the text
above the line `MADE` is written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import cast

from benchbrief.compiler.measure_catalogue import measures_of
from benchbrief.compiler.registry import tool_words
from benchbrief.model.engine_spec import EngineSpec
from benchbrief.model.extension_spec import (
    ExtensionSpec,
    ImporterSpec,
    MeterSpec,
    ProbeSpec,
    SchedulerSpec,
    SnapshotSpec,
    TemplateSpec,
)
from benchbrief.model.tool_spec import ToolSpec
from benchbrief.model.units import base_unit
from benchbrief.model.value_shapes import Key
from tools.reference.attributes import attributes, left_out, value
from tools.reference.markdown import code, joined, table

ROOT = Path(__file__).parents[2]
MADE = "<!-- `make docs` writes what follows, from spec.py -->"


def folders() -> list[Path]:
    """Return the folder of each of our extensions."""
    return sorted(path.parent for path in (ROOT / "extensions").glob("*/*/spec.py"))


def spec_in(folder: Path) -> ExtensionSpec:
    module = import_module(f"benchbrief.extensions.{folder.parent.name}.{folder.name}.spec")
    return cast(ExtensionSpec, module.SPEC)


def page(folder: Path) -> str:
    """Return the page of an extension, with tables made from its current spec."""
    path = folder / "README.md"
    written = path.read_text(encoding="utf-8").partition(MADE)[0] if path.exists() else ""
    tables = [part for part in _tables(spec_in(folder)) if part]
    return joined([written.strip("\n"), *([MADE, *tables] if tables else [])])


def _tables(spec: ExtensionSpec) -> Iterator[str]:
    match spec:
        case EngineSpec():
            yield from _engine(spec)
        case ToolSpec():
            yield from _tool(spec)
        case ProbeSpec():
            yield from _titled("## Measures", _measures(spec))
            yield from _titled("## Attributes of its block", attributes(spec.attributes))
        case MeterSpec():
            yield from _titled("## Arguments", arguments(spec.arguments))
        case ImporterSpec():
            yield f"## What is known then\n\n{spec.tells}"
            options = [(code(f"--{name}"), key.doc, value(key), left_out(key)) for name, key in spec.options.items()]
            if options:
                yield table(("option", "what it says", "value", "when left out"), options)
        case SchedulerSpec():
            yield from _titled("## Attributes of its block", attributes(spec.attributes))
            yield from _titled(f"## Arguments of `{spec.name}(...)` in `hosts`", arguments(spec.arguments))
        case SnapshotSpec():
            yield f"## What a brief says\n\n> {spec.described['en']}"
        case TemplateSpec():
            yield f"## Files\n\n`bench report` makes {code(*spec.formats)} unless it is told others."


def _titled(title: str, made: str) -> Iterator[str]:
    if made:
        yield title
        yield made


def _engine(spec: EngineSpec) -> Iterator[str]:
    yield "## Attributes"
    yield f"Its load generators are {code(*tool_words(spec))}."
    yield attributes(spec.attributes)
    yield from _titled("## Options", attributes({key: option.key for key, option in spec.options.items()}))
    if any(option.name for option in spec.options.values()):
        yield "In a connection string these are:"
        names = [(code(key), code(option.name)) for key, option in spec.options.items()]
        yield table(("option", "in a connection string"), names)


def _tool(spec: ToolSpec) -> Iterator[str]:
    if spec.workloads:
        yield "## Workloads"
        yield _by_shares(spec) if spec.shares else _by_operations(spec)
        yield "## Attributes of a workload"
        yield attributes({name: each.key for name, each in spec.attributes.items()})
    yield from _titled("## What it reports of itself", _measures(spec))


def _measures(spec: ProbeSpec | ToolSpec) -> str:
    rows = [(code(kind.name), base_unit(kind.unit) or "–", kind.said.doc) for kind in measures_of(spec) if kind.said]
    return table(("measure", "unit", "what it is"), rows) if rows else ""


def arguments(keys: Mapping[str, Key]) -> str:
    rows = [(code(f"{name}:"), key.doc, value(key), left_out(key)) for name, key in keys.items()]
    return table(("argument", "what it says", "value", "when left out"), rows) if rows else ""


def _by_shares(family: ToolSpec) -> str:
    others = dict.fromkeys(name for each in family.workloads.values() for name in each.settings)
    others = {name: None for name in others if name not in family.shares}
    rows = [
        (
            code(f"{family.name}.{name}"),
            *(f"{float(each.settings[share]):.0%}" if share in each.settings else "–" for share in family.shares),
            *(code(str(each.settings.get(other, "–"))) for other in others),
            each.description["en"],
        )
        for name, each in family.workloads.items()
    ]
    return table(("workload", *map(code, family.shares), *others, "what it does"), rows)


def _by_operations(family: ToolSpec) -> str:
    rows = []
    for name, each in family.workloads.items():
        operations = code(*each.operations)
        for setting, usual in each.settings.items():
            operations += f"; `{setting}` is {float(usual):.0%} where it is left out"
        kept = "loaded before" if each.existing else "empty at first"
        measured = "for a time" if each.timed else "to the last record"
        rows.append((code(f"{family.name}.{name}"), operations, kept, measured, each.description["en"]))
    return table(("workload", "operations", "data set", "measured", "what it does"), rows)
