"""Finds the differences between the two sides of a claim, except the one that it compares, and the facts about another
vendor's product."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchbrief.model.plan import Cell, Claim, Hardware, Plan
from benchbrief.model.points import Point
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.disclosure.systems_under_test import fact_name, fact_text, observed_facts, within_sentence
from benchbrief.reports.text.number_format import quantity
from benchbrief.reports.words.brief_words import Words
from benchbrief.results.analysis.claim_verdicts import is_base

_VENDOR = "vendor"
_NO_CAUSE = ("price", _VENDOR)
"""Facts that have no effect on measured numbers."""
_OBSERVED = ("os", "kernel", "virtualization", "governor", "swap", "transparent_huge_pages", "filesystem")
"""Facts that are observed in a run and are never the reason for comparing hardware."""


def note_on_sides(claim: Claim, results: Results) -> str:
    """Return a line for readers of the claim. It gives everything else that differs between the claim's sides, and the
    facts of another vendor's product. Return "" if there is nothing to say. Facts in the hardware's name are left out,
    since they are what the claim compares.
    """
    found, plan, words = [], results.plan, results.words
    if rival := facts_of_rival(claim, plan, words):
        found.append(words["said_rival"].format(facts=rival))
    facts = () if rival else differing_hardware(claim, plan, words, causes=True)
    if differing := [*facts, *_observed_apart(claim, results), *differing_settings(claim, plan, words)]:
        found.append(words["said_also_different"].format(facts=words.locale.listed(differing)))
    return words["semicolon"].join(found)


def differing_hardware(claim: Claim, plan: Plan, words: Words, *, causes: bool = False) -> Iterator[str]:
    """Yield the declared facts that differ between the two sides of a claim's comparison. With `causes`, leave out the
    fact that the hardware is named for, and facts that cannot affect the result."""
    for pair in _sides(claim, plan):
        for name in dict.fromkeys(name for each in pair for name in each.facts):
            if causes and (name in _NO_CAUSE or any(_is_named_for(each, name) for each in pair)):
                continue
            its, of_base = (fact_text(each.facts.get(name, ""), words) for each in pair)
            yield from _apart(name, its, of_base, words)


def _observed_apart(claim: Claim, results: Results) -> Iterator[str]:
    """Yield observed facts that differ between the machines of the two sides. Facts that the spec declares are left
    out."""
    for pair in _sides(claim, results.plan):
        its, of_base = (observed_facts(each, results) for each in pair)
        for name in (name for name in _OBSERVED if not any(name in each.facts for each in pair)):
            yield from _apart(name, its.get(name, ""), of_base.get(name, ""), results.words)


def _sides(claim: Claim, plan: Plan) -> list[tuple[Hardware, Hardware]]:
    """Return each hardware of a claim, paired with the hardware that it is compared with."""
    base = plan.hardware.get(str(claim.against.get("hardware", "")))
    named = _hardware_of(claim)
    return [(each, base) for each in plan.hardware.values() if base and each.key in named and each.key != base.key]


def _apart(name: str, its: str, of_base: str, words: Words) -> Iterator[str]:
    """Yield a fact with its texts on both sides if they differ."""
    if its != of_base:
        sides = {"its": its or words["missing"], "base": of_base or words["missing"]}
        yield words["sheet_differs"].format(fact=within_sentence(fact_name(name, words)), **sides)


def differing_settings(claim: Claim, plan: Plan, words: Words) -> Iterator[str]:
    """Yield the durations and data sizes that differ between the two sides of a claim's comparison."""
    found: tuple[dict[tuple[str, str], set[float]], ...] = ({}, {})
    unvaried = dict.fromkeys(plan.factors)
    reads = [(read, int(is_base(read, claim))) for read in claim.points.reads or ()]
    for cell in plan.cells:
        keys = {**unvaried, **Point.of(cell).keys}
        for side in {side for read, side in reads if read.covers(keys)}:
            for name, unit, value in _settings(cell, plan):
                found[side].setdefault((name, unit), set()).add(value)
    for (name, unit), values in found[0].items():
        its, of_base = (
            {quantity(value, unit) for value in each} for each in (values, found[1].get((name, unit), values))
        )
        if its != of_base:
            sides = {"its": words.locale.listed(sorted(its)), "base": words.locale.listed(sorted(of_base))}
            yield words["sheet_differs"].format(fact=words[f"sheet_{name}"], **sides)


def _settings(cell: Cell, plan: Plan) -> Iterator[tuple[str, str, float]]:
    experiment = plan.experiments[cell.experiment]
    yield "warm_up", "s", experiment.warm_up_s
    yield "measured_time", "s", experiment.measure_s
    if isinstance(records := plan.workloads[cell.workload].properties.get("records"), float):
        yield "records", "records", records


def _is_named_for(hardware: Hardware, name: str) -> bool:
    """Return whether a fact shares a word with the hardware's label. A path counts as well, because it only says where
    something is."""
    text = str(hardware.facts.get(name, ""))
    of_label, of_fact = (re.findall(r"[^\W_]{2,}", each.casefold()) for each in (hardware.label, f"{name} {text}"))
    return text.startswith("/") or not set(of_label).isdisjoint(of_fact)


def facts_of_rival(claim: Claim, plan: Plan, words: Words) -> str:
    """Return the hardware that a claim is compared with, and its facts. Return "" unless its fact `vendor` names
    another vendor."""
    base = plan.hardware.get(str(claim.against.get("hardware", "")))
    vendors = {plan.hardware[key].facts.get(_VENDOR) for key in _hardware_of(claim) if key in plan.hardware}
    if base is None or _VENDOR not in base.facts or not vendors - {base.facts[_VENDOR]}:
        return ""
    facts = (f"{within_sentence(fact_name(name, words))} {fact_text(fact, words)}" for name, fact in base.facts.items())
    return f"{base.label}{words['colon']}{words['semicolon'].join(facts)}"


def _hardware_of(claim: Claim) -> set[str]:
    return {str(key) for read in claim.points.reads or () for key in read.keys.get("hardware", ())}
