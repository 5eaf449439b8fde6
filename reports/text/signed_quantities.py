"""Finds the quantities that can be below zero."""

from __future__ import annotations

import re

from benchbrief.compiler.planning.plan import Plan

_QUOTED = re.compile(r'"[^"]*"')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def may_be_negative(text: str, plan: Plan) -> bool:
    """Return whether an expression may be below zero. Measured values are not; only a subtraction can be."""
    metrics = {metric.name: metric.query.text for metric in plan.metrics}
    waiting, seen = [text], set[str]()
    while waiting:
        expression = _QUOTED.sub("", waiting.pop())
        if "-" in expression or "\u2212" in expression:
            return True
        for name in _NAME.findall(expression):
            if name in metrics and name not in seen:
                seen.add(name)
                waiting.append(metrics[name])
    return False
