"""Discloses the levels of factors: the meaning of each level, and the combinations that were measured."""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchbrief.model import plan as p
from benchbrief.model.units import parse_unit
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Item, LevelTable
from benchbrief.reports.disclosure.systems_under_test import option_text
from benchbrief.reports.text.number_format import bytes_text, locale, with_unit
from benchbrief.reports.words.brief_words import counted


def disclose_combinations(results: Results) -> Iterator[Item]:
    """Yield the amounts of each numeric factor, and how many combinations of levels each experiment has."""
    words = results.words
    for factor in results.plan.factors.values():
        if levels := [level for level in _used(factor, results) if isinstance(level.key, float)]:
            yield Item(factor.label, words.locale.listed(_labelled(level, factor, results) for level in levels))
    for experiment in results.plan.experiments.values():
        if not experiment.levels:
            continue
        levels_of = [levels.keys for levels in experiment.levels]
        of = math.prod(len({each[name] for each in levels_of}) for name in levels_of[0])
        key = "d_combinations" if of == len(levels_of) else "d_combinations_some"
        key = "d_levels_varied" if len(levels_of[0]) == 1 else key
        varied = " × ".join(results.plan.factors[name].label for name in levels_of[0])
        yield Item(experiment.label, counted(words, key, len(levels_of), factors=varied, of=of))


def level_tables(results: Results) -> Iterator[LevelTable]:
    """Yield a table for each factor whose levels have names."""
    for factor in results.plan.factors.values():
        levels = [level for level in _used(factor, results) if isinstance(level.key, str)]
        if not levels:
            continue
        attributes = tuple(dict.fromkeys(name for level in levels for name in level.attributes))
        head = (factor.label, *(attributes or (results.words["d_level_value"],)))
        rows = (
            (
                _labelled(level, factor, results),
                *(option_text(name, level.attributes[name]) for name in attributes if name in level.attributes),
                *([_value(level.value, factor)] if level.value is not None else []),
            )
            for level in levels
        )
        yield LevelTable(head, tuple(rows))


def _used(factor: p.Factor, results: Results) -> list[p.Level]:
    """Return the levels that were measured. An experiment that does not vary the factor uses the default level."""
    experiments = results.plan.experiments.values()
    keys = {
        levels.keys.get(factor.name, factor.default) for each in experiments for levels in each.levels or (p.Levels(),)
    }
    return [level for level in factor.levels if level.key in keys]


def _labelled(level: p.Level, factor: p.Factor, results: Results) -> str:
    """Return the label of a level. The default level gets a remark if some experiment does not vary the factor."""
    words = results.words
    unvaried = any(
        factor.name not in levels.keys
        for each in results.plan.experiments.values()
        for levels in each.levels or (p.Levels(),)
    )
    if level.key != factor.default or not unvaried:
        return level.label
    return level.label + words["aside"].format(text=words["d_level_default"])


def _value(value: p.Option, factor: p.Factor) -> str:
    """Return the text of a factor's value. An amount is in the factor's unit."""
    if isinstance(value, float) and factor.unit:
        unit = parse_unit(factor.unit)
        is_size = unit.dimension == parse_unit("B").dimension
        return (
            bytes_text(value) if is_size else with_unit(locale().numerals(f"{value / unit.factor:,.12g}"), factor.unit)
        )
    return option_text("", value)
