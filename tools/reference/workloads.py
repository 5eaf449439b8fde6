"""Makes the page of named workloads, by the load generator that has them."""

from __future__ import annotations

from benchbrief.compiler.registry import own_families
from tools.reference.markdown import code, joined, page_of, table, text


def page() -> str:
    rows = [
        (
            f"[{family.label}]({page_of('tools', name)}#workloads)",
            code(*(f"{family.name}.{each}" for each in family.workloads)),
        )
        for name, family in own_families().items()
    ]
    return joined(
        ["# Workloads", text("workloads"), table(("of", "workloads"), rows), "## `load`", text("workloads-load")]
    )
