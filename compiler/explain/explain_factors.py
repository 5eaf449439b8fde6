"""Describes the factors of a plan in words: the measured levels, and the time that they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from benchbrief.compiler.estimates.factor_costs import factor_costs
from benchbrief.compiler.explain.plain_text import Page
from benchbrief.dsl.diagnostics.plain_amounts import first_of, plural
from benchbrief.model.plan import Experiment, Levels, Plan

_SHOWN_LEVELS = 12
MOST_ROWS = 12
"""The most rows that show the levels of one database or workload."""


def count_levels(e: Experiment) -> tuple[str, ...]:
    """Return the sizes of the factors, such as `3 codec`, as the parts of a product. If some combinations are left out,
    return a single text such as `5 combinations of 3 codec x 2 vsize`."""
    sizes = {name: len({each.keys[name] for each in e.levels}) for name in (e.levels[0].keys if e.levels else ())}
    whole = 1
    for size in sizes.values():
        whole *= size
    if e.levels and len(e.levels) < whole:
        return (f"{plural(len(e.levels), 'combination')} of {' x '.join(f'{n} {name}' for name, n in sizes.items())}",)
    return tuple(f"{size} {name}" for name, size in sizes.items())


def describe_varied(plan: Plan, e: Experiment) -> Iterator[str]:
    """Yield a line for each factor that an experiment varies: `codec (Compression): No compression, LZ4`."""
    for name in e.levels[0].keys if e.levels else ():
        factor = plan.factors[name]
        keys = {each.keys[name] for each in e.levels}
        called = name if factor.label == name else f"{name} ({factor.label})"
        yield f"{called}: {first_of([each.label for each in factor.levels if each.key in keys], _SHOWN_LEVELS)}"


def levels_text(plan: Plan, levels: Levels) -> str:
    """Return levels by their labels: `codec LZ4, vsize 1 kB`."""
    return ", ".join(f"{name} {plan.factors[name].label_of(key)}" for name, key in levels.keys.items())


def explain_costs(plan: Plan, amount: Callable[[float], str], page: Page) -> None:
    """Add the cost of each factor, or nothing if no factor is varied. `amount` turns a time into words."""
    costs = list(factor_costs(plan))
    if not costs:
        return
    page.heading("What the factors cost")
    several = len(plan.experiments) > 1
    page.table(
        (
            *((each.experiment,) if several else ()),
            each.factor,
            plural(each.levels, "level"),
            f"{amount(each.beyond_s)} of {amount(each.of_s)} is for levels other than {each.first}",
        )
        for each in costs
    )


def rows_with_rest(rows: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield the first rows of a long table, and the number of the remaining ones."""
    every = list(rows)
    yield from every[:MOST_ROWS]
    if len(every) > MOST_ROWS:
        yield (f"and {len(every) - MOST_ROWS} more", *("" for _ in every[0][1:]))
