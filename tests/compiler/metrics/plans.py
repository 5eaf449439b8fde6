"""Walking what was lowered."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from benchbrief.model import plan


def queries(node: object) -> Iterator[plan.Query]:
    """Every query below a part of a plan."""
    if isinstance(node, plan.Query):
        yield node
    elif isinstance(node, BaseModel):
        for name in type(node).model_fields:
            yield from queries(getattr(node, name))
    elif isinstance(node, tuple | list):
        for item in node:
            yield from queries(item)


def elements(report: plan.Report) -> Iterator[plan.Element]:
    """Every element, those of sections after their section."""
    yield from _below(report.elements)


def _below(found: tuple[plan.Element, ...]) -> Iterator[plan.Element]:
    for element in found:
        yield element
        if isinstance(element, plan.SectionElement):
            yield from _below(element.elements)
