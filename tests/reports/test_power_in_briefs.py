"""Tests what the disclosure says about watts: nothing about meters that are missing, and nothing about values that were
not sampled."""

from __future__ import annotations

from typing import Any

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.data.view_model import DisclosureView
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import world as w
from tests.reports.test_what_is_missing_or_not_measured import SOURCE


def power_in_brief(*more: tuple[Any, ...], language: str = "en") -> str:
    """Return the disclosure of a run with a command as a meter, and with the additional rows `more`."""
    world = w.World({"disk": "Disk"}, {"a": "A"})
    report = w.report("R", p.DisclosureElement(), language=language)
    plan = world.plan(report)
    meter = p.PowerMeter(kind="command", boundary="node", on="node", origin=w.HERE)
    disk = plan.hardware["disk"].model_copy(update={"power": (meter,)})
    probes = tuple(p.Probe(name=name, every_s=1, hosts=("local",), origin=w.HERE) for name in ("power", "cpu"))
    cells = tuple(cell.model_copy(update={"probes": probes}) for cell in plan.cells)
    plan = plan.model_copy(update={"hardware": {"disk": disk}, "cells": cells})
    view = build(plan, w.make_store([*world.rows(), *more]), report, CATALOGUES[language])
    (block,) = [each for each in view.blocks if isinstance(each, DisclosureView)]
    return "\n".join(item.text for group in block.groups for item in group.items)


@pytest.mark.parametrize(
    ("language", "says", "meter"),
    [("en", "The power of Disk is what each node", "a command's output"), ("ja", "Disk の電力は", "コマンドの出力")],
)
def test_the_power_of_a_node_is_not_said_to_be_of_a_bmc_that_is_not_there(language: str, says: str, meter: str) -> None:
    text = power_in_brief(language=language)
    assert says in text
    assert meter in text
    assert "BMC" not in text


def test_imported_results_name_only_the_probes_that_they_have_samples_of() -> None:
    output = SOURCE._replace(kind="ycsb")  # a brief of published figures names no probe at all
    bare = power_in_brief(output)
    assert not any(each in bare for each in ("The power of", "The cpu probe", "sampled"))
    sampled = power_in_brief(output, s.CoverageRow(w.RUN, "ramp/disk/a/threads=4/1", "power", "local", 1.0, 1.0))
    assert "The power of Disk" in sampled
    assert "The cpu probe" not in sampled
