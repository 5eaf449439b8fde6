"""The page of named workloads."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.registry import own_families
from benchbrief.model.tool_spec import ToolSpec
from tools.reference.markdown import code, joined, table, text, text_of


def page() -> str:
    return joined(["# Workloads", text("workloads"), *_families(), "## `load`", text("workloads-load")])


def _families() -> Iterator[str]:
    for name, family in own_families().items():
        yield f"## {family.label}"
        yield text_of(f"tools/{name}")
        yield _by_shares(family) if family.shares else _by_operations(family)


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
        for setting, value in each.settings.items():
            operations += f"; `{setting}` is {float(value):.0%} where it is left out"
        kept = "loaded before" if each.existing else "empty at first"
        measured = "for a time" if each.timed else "to the last record"
        rows.append((code(f"{family.name}.{name}"), operations, kept, measured, each.description["en"]))
    return table(("workload", "operations", "data set", "measured", "what it does"), rows)
