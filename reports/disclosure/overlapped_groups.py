"""Disclosure of what ran on other hardware groups while one was measured."""

from __future__ import annotations

from collections.abc import Iterable

from benchbrief.compiler.estimates.grouped_hardware import grouped_hardware
from benchbrief.compiler.planning.plan import Experiment
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Item


def disclose_overlaps(results: Results) -> Iterable[Item]:
    """Return a sentence for all experiments in which the same was allowed beside a measurement."""
    words = results.words
    found: dict[str, list[str]] = {}
    for experiment in results.plan.experiments.values():
        if key := _key(experiment, results):
            found.setdefault(key, []).append(experiment.label)
    for key, labels in found.items():
        everywhere = len(found) == 1 and len(labels) == len(results.plan.experiments)
        yield Item("" if everywhere else words.locale.listed(labels), words[key])


def _key(experiment: Experiment, results: Results) -> str:
    """Return the key of the sentence; "" when all hardware shares hosts, or is the only one."""
    if len(experiment.hardware) < 2:
        return ""
    if experiment.overlap == "none":
        return "d_one_at_a_time"
    if len(grouped_hardware(results.plan, experiment.name)) < 2:
        return ""
    return "d_loaded_beside" if experiment.overlap == "loading" else "d_measured_beside"
