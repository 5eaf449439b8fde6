"""Whether a metric is the same in two plans: the same name may have two definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from benchbrief.compiler.planning.plan import Metric, Plan

_WORD = re.compile(r"[^\W\d]\w*")


class DefinedOtherwise(NamedTuple):
    """A metric `name` with two definitions: `of`, itself or a metric in it, is `first` in one plan and `second` in
    the other."""

    name: str
    of: str
    first: str
    second: str


def defined_otherwise(first: Plan, second: Plan) -> Iterator[DefinedOtherwise]:
    """Yield the metrics of one name that differ between the plans, themselves or in a metric that they are made of.

    Compares expression, values of parameters, unit, which direction is better, and whether they are percentiles.
    """
    ours, theirs = ({each.name: each for each in plan.metrics} for plan in (first, second))
    for name in (name for name in ours if name in theirs):
        made = dict.fromkeys((*_made_of(name, ours), *_made_of(name, theirs)))
        texts = {of: (_definition(ours.get(of)), _definition(theirs.get(of))) for of in made}
        kinds = ours[name].percentile, theirs[name].percentile
        if of := next((of for of, (one, other) in texts.items() if one != other), None):
            yield DefinedOtherwise(name, of, *texts[of])
        elif None not in kinds and kinds[0] != kinds[1]:
            words = ("a percentile" if kind else "no percentile" for kind in kinds)
            yield DefinedOtherwise(name, name, *words)


def definition_of(name: str, plan: Plan) -> dict[str, str]:
    """Return how a metric is defined: its own definition, and that of each metric in it, by name."""
    metrics = {each.name: each for each in plan.metrics}
    kind = "" if metrics[name].percentile is None else f", percentile: {metrics[name].percentile}"
    return {of: f"{_definition(metrics.get(of))}{kind if of == name else ''}" for of in _made_of(name, metrics)}


def _made_of(name: str, metrics: dict[str, Metric]) -> list[str]:
    """Return a metric and, after it, all metrics named in it, directly or not."""
    found, left = {name: None}, [name]
    while left:
        for word in _WORD.findall(metrics[left.pop()].query.text):
            if word in metrics and word not in found:
                found[word] = None
                left.append(word)
    return list(found)


def _definition(metric: Metric | None) -> str:
    if metric is None:
        return "no metric"
    unit = f" in {metric.query.unit}" if metric.query.unit not in ("", "1") else ""
    better = f", {metric.better} is better" if metric.better else ""
    params = "".join(f", {name} = {value}" for name, value in metric.params.items())
    return f"{metric.query.text}{unit}{better}{params}"
