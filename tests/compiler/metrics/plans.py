"""Walks through lowered plans."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.model import plan
from benchbrief.model.node import Node


def queries(node: object) -> Iterator[plan.Query]:
    """Yield every query in a part of a plan."""
    if isinstance(node, plan.Query):
        yield node
    elif isinstance(node, Node):
        for each in vars(node).values():
            yield from queries(each)
    elif isinstance(node, tuple | list):
        for item in node:
            yield from queries(item)


def elements(report: plan.Report) -> Iterator[plan.Element]:
    """Yield every element. The elements of a section follow it."""
    yield from _below(report.elements)


def _below(found: tuple[plan.Element, ...]) -> Iterator[plan.Element]:
    for element in found:
        yield element
        if isinstance(element, plan.SectionElement):
            yield from _below(element.elements)
