"""Tests that everything that changes the nature of the numbers is shown in at most two tags. A limit that may
invalidate a claim comes first on page 1."""

from __future__ import annotations

from typing import Any

import pytest

from benchbrief.model import plan as p
from benchbrief.model.extension_spec import Boundary
from benchbrief.reports.data.view_model import ReportView
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import world as w

CLAIM = p.CalloutElement(title="Gain", prose=w.text("It is faster."))


def brief(
    *,
    groups: bool = True,
    devices: tuple[str, str] = ("", ""),
    boundary: Boundary | None = None,
    language: str = "en",
    stand_in: bool = False,
    claims: bool = True,
    seconds: float = 1200,
    rows: tuple[Any, ...] = (),
    beside: bool = False,
) -> ReportView:
    """Return a brief about two hardware groups on one host. `devices` are those of their data. `boundary` is that of
    their power meter; without it, they have no meter. A workload on another database may stand `beside` it."""
    workloads = {"a": "Sessions"} | ({"b": "Look-ups"} if beside else {})
    world = w.World({"disk": "Disk", "ram": "RAM"}, workloads, engine="mongodb", stand_in=stand_in)
    report = w.report("R", *[CLAIM] * claims, disclosure="separate", language=language)
    plan = world.plan(report)
    hardware, rows = {}, (*world.rows(), *rows)
    for key, each in plan.hardware.items():
        own = {"group": key, "group_label": each.label} if groups else {}
        meter = p.PowerMeter(kind="command", boundary=boundary, on="node", origin=w.HERE) if boundary else None
        hardware[key] = each.model_copy(update={**own, "power": (meter,) if meter else ()})
    paths = {key: f"/data/{key}" for key in hardware} if any(devices) else {}
    databases = {key: each.model_copy(update={"path": paths.get(key.hardware)}) for key, each in plan.databases.items()}
    for (key, path), device in zip(paths.items(), devices, strict=False):
        rows += (s.FactRow(w.RUN, "host", key, "local", f"device of {path}", device, None, "observed"),)
    probes = (p.Probe(name="power", every_s=1, hosts=("local",), origin=w.HERE),) if boundary else ()
    of_other = {key: p.DatabaseKey.of("other", key) for key in hardware}
    other = {"name": "other", "label": "RocksDB", "engine": "rocksdb"}
    if beside:
        databases |= {of_other[key.hardware]: each.model_copy(update=other) for key, each in databases.items()}
    cells = tuple(
        cell.model_copy(
            update={"probes": probes} | ({"database": of_other[cell.hardware]} if cell.workload == "b" else {})
        )
        for cell in plan.cells
    )
    ramps = {name: each.model_copy(update={"measure_s": seconds}) for name, each in plan.experiments.items()}
    plan = plan.model_copy(update={"hardware": hardware, "databases": databases, "cells": cells, "experiments": ramps})
    return build(plan, w.make_store(rows), report, CATALOGUES[language])


def tags(view: ReportView) -> list[str]:
    return [tag.text for tag in view.origin]


@pytest.mark.long
def test_one_machine_in_place_of_two_is_a_tag_unless_their_storage_differs() -> None:
    assert tags(brief()) == ["One machine stands in for both"]
    assert tags(brief(devices=("/dev/vda", "/dev/vda"))) == ["One machine stands in for both"]
    assert tags(brief(devices=("/dev/vda", "tmpfs"))) == []
    assert tags(brief(language="ja")) == ["1台のマシンで2つの構成を代用しています"]


def test_folders_on_one_disk_are_a_tag_and_variants_that_share_a_machine_are_none() -> None:
    assert tags(brief(groups=False, devices=("/dev/vda", "/dev/vda"))) == ["Two folders on one disk, not two drives"]
    assert tags(brief(groups=False, devices=("/dev/vda", "/dev/vdb"))) == []
    assert tags(brief(groups=False)) == []


def test_power_by_a_formula_is_a_tag_and_power_of_an_unknown_part_is_the_first_limit() -> None:
    apart = ("/dev/vda", "tmpfs")
    assert tags(brief(devices=apart, boundary="formula")) == ["Power by a formula, not measured"]
    unknown = brief(devices=apart, boundary="unknown")
    assert unknown.limits[0].text.startswith("What the watts of Disk and RAM cover, and whether")
    assert unknown.limits[0].text in unknown.grave_limits
    assert not [limit for limit in brief(devices=apart, boundary="node").limits if "the watts" in limit.text]


def test_a_third_tag_stands_among_the_limits_in_the_same_words() -> None:
    view = brief(boundary="formula", stand_in=True)
    assert tags(view) == ["Stand-in server, not MongoDB", "Power by a formula, not measured"]
    assert view.grave_limits[0] == "One machine stands in for both."


@pytest.mark.parametrize(
    ("language", "tag"),
    [
        ("en", "Sessions: a stand-in server, not MongoDB"),
        ("ja", "Sessions：MongoDB ではない代用サーバーによる結果です"),
    ],
)
def test_a_tag_names_the_workload_of_a_stand_in_beside_others(language: str, tag: str) -> None:
    assert tags(brief(groups=False, stand_in=True, language=language, beside=True)) == [tag]


REHEARSAL = "Rehearsal: measured once, for at most 59\u00a0s"


@pytest.mark.parametrize(("seconds", "found"), [(59, [REHEARSAL]), (60, [])])
def test_one_short_measurement_of_each_point_is_a_rehearsal(seconds: float, found: list[str]) -> None:
    view = brief(groups=False, seconds=seconds)
    assert tags(view) == found
    assert [each.severity for each in view.notices if each.title == "A rehearsal"] == ["warning"] * len(found)


@pytest.mark.parametrize("claims", [True, False])
def test_a_rehearsal_with_two_tags_is_said_once_among_the_limits(claims: bool) -> None:
    view = brief(stand_in=True, seconds=59, claims=claims)
    assert tags(view) == ["Stand-in server, not MongoDB", "One machine stands in for both"]
    said = "Each point was measured once, for 59\u00a0s: any difference may be chance." if claims else f"{REHEARSAL}."
    assert [text for text in view.grave_limits if "measured once" in text] == [said]
    for notice in view.notices:
        assert bool(notice.origin or notice.limits) == (notice.severity != "info")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_grave_limits_stand_before_the_others_and_on_the_first_page(language: str) -> None:
    view = brief(language=language)
    lines = [limit.text for limit in view.limits]
    assert lines[: len(view.grave_limits)] == list(view.grave_limits)
    assert len(lines) > len(view.grave_limits) == 1
    said = {"en": "Each point was measured once, for 20\u00a0min", "ja": "各測定点の測定は"}[language]
    assert lines[0].startswith(said)
