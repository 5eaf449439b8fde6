"""Parameters: their declared values, or those given on the command line."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler import errors
from benchbrief.compiler.declarations import Declarations
from benchbrief.compiler.errors import Findings
from benchbrief.compiler.names import names_in
from benchbrief.dsl import ast
from benchbrief.dsl.diagnostics import SpecError
from benchbrief.dsl.parse import parse_expression
from benchbrief.dsl.source import Source


def parameters(found: Declarations, given: Mapping[str, str], findings: Findings) -> dict[str, ast.Expr]:
    """Every parameter's expression. Raises SpecError when a given value is not one, or when one needs itself."""
    values = {name: param.value for name, param in found.params.items()}
    for name, text in given.items():
        if name not in values:
            findings.add(errors.UnknownParam(None, "param", name, tuple(values)))
            continue
        values[name] = parse_expression(Source(f"--param {name}", text), 0, len(text))
    known: set[str] = set()
    for name in values:
        circle = _circle(name, values)
        if circle and name not in known:
            findings.add(errors.ParamCycle(found.params[name].name.span, circle))
            known.update(circle)
    if known:
        # These parameters have no value: each use of one would be a mistake more.
        raise SpecError(findings.diagnostics())
    return values


def _circle(name: str, values: Mapping[str, ast.Expr]) -> tuple[str, ...]:
    """The parameters from `name` back to `name`, or none."""
    trails: list[tuple[str, ...]] = [(name,)]
    seen: set[str] = set()
    while trails:
        trail = trails.pop()
        for used in names_in(values[trail[-1]]):
            if used.text == name:
                return trail
            if used.text in values and used.text not in seen:
                seen.add(used.text)
                trails.append((*trail, used.text))
    return ()
