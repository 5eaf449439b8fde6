"""Parameters: their declared values, or those of the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchbrief.compiler.frontend import name_errors
from benchbrief.compiler.frontend.declarations import Declarations
from benchbrief.compiler.frontend.declared_names import names_in
from benchbrief.compiler.problems import Findings
from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse_expression


def parameters(found: Declarations, given: Mapping[str, str], findings: Findings) -> dict[str, ast.Expr]:
    """Return every parameter's expression, in an order in which each needs only earlier ones.

    Raises SpecError when a given value is no expression, or when a parameter needs itself.
    """
    values = {name: param.value for name, param in found.params.items()}
    for name, text in given.items():
        if name not in values:
            findings.add(name_errors.UnknownParam(None, "param", name, tuple(values)))
            continue
        values[name] = parse_expression(Source(f"--param {name}", text), 0, len(text))
    ordered: dict[str, ast.Expr] = {}
    circles: list[tuple[str, ...]] = []
    for name in values:
        _visit(name, values, ordered, circles)
    for circle in circles:
        findings.add(name_errors.ParamCycle(found.params[circle[0]].name.span, circle))
    if circles:
        # These parameters have no value: each use would be a further mistake.
        raise SpecError(findings.diagnostics())
    return ordered


def _visit(
    name: str, values: Mapping[str, ast.Expr], ordered: dict[str, ast.Expr], circles: list[tuple[str, ...]]
) -> None:
    """Append a parameter to `ordered`, after the parameters that it refers to. A long chain needs no recursion."""
    trail: dict[str, Iterator[ast.Name]] = {}
    start: str | None = name
    while start is not None or trail:
        if start is not None:
            if start in trail:
                chain = list(trail)
                circles.append(tuple(chain[chain.index(start) :]))
            elif start not in ordered:
                trail[start] = names_in(values[start])
        start = (
            next((used.text for used in trail[next(reversed(trail))] if used.text in values), None) if trail else None
        )
        if start is None and trail:
            done, _ = trail.popitem()
            ordered[done] = values[done]
