"""Tests that a brief and its disclosure together say the same as a single document. A brief for customers names no
equipment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any, Literal

import pytest

from benchbrief.model.plan import Report
from benchbrief.reports.data.view_model import (
    Block,
    DisclosureView,
    FactsView,
    Notice,
    OriginTag,
    ReportView,
    SectionView,
)
from benchbrief.reports.render.render_report import render
from benchbrief.reports.view.build_view import build
from benchbrief.reports.view.notices import told_in_brief
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports.briefs import made, quickstart
from tests.reports.world import RUN, World

EN = CATALOGUES["en"]
WHERE: dict[str, Literal["origin", "limit", "method", "disclosure"]] = {
    "notice_simulated": "origin",
    "notice_imported": "origin",
    "notice_own": "origin",
    "notice_stand_in": "origin",
    "notice_other_server": "origin",
    "notice_formula": "origin",
    "notice_one_machine": "origin",
    "notice_one_disk": "origin",
    "notice_unknown_power": "limit",
    "notice_limits_first": "limit",
    "notice_part": "method",
    "notice_source_limits": "limit",
    "notice_own_limits": "limit",
    "notice_derived": "method",
    "notice_failed": "limit",
    "notice_undrawn": "limit",
    "notice_not_made": "limit",
    "notice_status": "limit",
    "notice_expect": "limit",
    "notice_expect_unknown": "limit",
    "notice_expect_undecided": "limit",
    "notice_rehearsal": "origin",
    "notice_differs": "limit",
    "notice_never_steady": "limit",
    "notice_transient": "limit",
    "notice_spread": "limit",
    "notice_noise": "limit",
    "notice_short": "limit",
    "notice_ahead": "limit",
    "notice_sampled": "limit",
    "notice_limits": "limit",
    "notice_promise": "disclosure",
}
"""The part of the brief that corresponds to each notice, by the notice's title. The disclosure has all notices in full.
"""
NO_TITLE = re.compile(r"_body$|^notice_(and_more|details|two_repeats|status_nothing|promise_.*)$")
EXAMPLES = ("quickstart", "three_ssds", "cluster_shrink")


def example(name: str) -> tuple[World, Report]:
    world, report = quickstart(failed=True) if name == "quickstart" else made(name)
    return world, report.model_copy(update={"disclosure": "separate"})


def told(name: str) -> tuple[ReportView, ReportView]:
    """Return the views of a report in one document and in two."""
    world, apart = example(name)
    plan, store, words = world.plan(apart), world.store(), CATALOGUES[apart.language]
    return build(plan, store, apart.model_copy(update={"disclosure": "in_brief"}), words), build(
        plan, store, apart, words
    )


def shown(path: Path) -> str:
    text = re.sub(r"<(style|script)\b.*?</\1>", "", path.read_text("utf-8"), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def flat(blocks: tuple[Block, ...]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, SectionView):
            yield from flat(block.blocks)


def disclosed(blocks: tuple[Block, ...]) -> set[tuple[str, str]]:
    """Return each item of the disclosure in the blocks, and each line of its tables."""
    (found,) = (block for block in flat(blocks) if isinstance(block, DisclosureView))
    items = {(group.title, f"{item.term} {item.text}") for group in found.groups for item in group.items}
    tables = {(group.title, " ".join(row)) for group in found.groups for table in group.tables for row in table.rows}
    bad = {("bad", f"{item.term} {item.text}") for item in found.bad_cells} | {("bad", found.all_ok)}
    return items | tables | bad | {("cell", f"{cell.id} {cell.status} {cell.reason}") for cell in found.cells}


def facts(blocks: tuple[Block, ...]) -> set[tuple[str, str, str, str]]:
    tables = (block for block in flat(blocks) if isinstance(block, FactsView))
    return {
        (group.label, line.name, line.declared, line.observed)
        for table in tables
        for group in table.groups
        for line in group.lines
    }


def test_each_notice_has_its_place() -> None:
    titles = {key for key in EN if key.startswith("notice_") and not NO_TITLE.search(key)}
    assert titles == WHERE.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_two_documents_say_each_notice_and_fact_that_one_says(name: str) -> None:
    one, two = told(name)
    assert [(each.title, each.text) for each in one.notices] == [(each.title, each.text) for each in two.notices]
    lines = disclosed(one.blocks) - disclosed(two.disclosed)
    hosts = {line for line in lines if line[0] == CATALOGUES[one.language]["d_hosts"]}
    assert lines - hosts == set()
    told_of_hosts = " ".join(text for title, text in disclosed(two.disclosed))
    assert all(part in told_of_hosts for _, text in hosts for part in text.split(CATALOGUES[one.language]["semicolon"]))
    assert facts(one.blocks) <= facts(two.disclosed)
    assert one.provenance == two.provenance


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_notice_that_limits_numbers_has_a_tag_or_a_limit_in_the_brief(name: str) -> None:
    _, two = told(name)
    for notice in two.notices:
        assert bool(notice.origin or notice.limits) == (notice.severity != "info")
    assert {limit.notice for limit in two.limits} <= {notice.number for notice in two.notices}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_brief_for_customers_names_no_host_path_cell_and_run(name: str, tmp_path: Path) -> None:
    world, apart = example(name)
    plan = world.plan(apart)
    found = render(plan, world.store(), apart.name, tmp_path, html_only=True)
    brief, full = shown(found.html), shown(next(tmp_path.glob("*disclosure*.html")))
    hidden = {RUN, *(cell.id for cell in plan.cells)}
    hidden |= {database.path for database in plan.databases.values() if database.path}
    assert {name for name in hidden if name in brief} == set()
    assert RUN in full
    assert "SELECT" not in brief


def test_every_notice_stands_in_full_in_the_disclosure_and_in_short_in_the_brief(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notices = [
        Notice(
            EN[title],
            f"All about {title}.",
            "info" if where == "disclosure" else "warning",
            first=where == "origin",
            number=number,
            limits=(f"Limit {number} of it.",) if where == "limit" else (),
            of_method=f"Method {number} of it." if where == "method" else "",
            origin=OriginTag("imported", f"Tag {number} of it") if where == "origin" else None,
        )
        for number, (title, where) in enumerate(WHERE.items(), 1)
    ]
    monkeypatch.setattr("benchbrief.reports.view.build_view.notices", lambda *_, **__: iter(notices))
    world, apart = example("quickstart")
    found = render(world.plan(apart), world.store(), apart.name, tmp_path, html_only=True)
    brief, full = shown(found.html), shown(next(tmp_path.glob("*disclosure*.html")))
    limits = [limit for notice in notices for limit in notice.limits]
    assert [limit for limit in limits if limit in brief] == limits, "a screen has room for all"
    for notice in notices:
        assert notice.title in full
        assert notice.text in full
        assert notice.text not in brief
        for said in filter(None, (notice.of_method, notice.origin.text if notice.origin else "")):
            assert said in brief


def _of(limits: Sequence[str], **more: Any) -> Notice:
    return Notice("", "", "warning", limits=tuple(limits), **more)


@pytest.mark.parametrize(
    ("found", "listed"),
    [
        ([_of("abcde")], "abcde"),  # a line that counts one limit says less than the limit
        ([_of("abcdef")], "abcd"),
        ([_of("abcdef"), _of("g", is_grave=True)], "gabc"),
        ([_of("ab"), _of("c", is_stated=True)], "cab"),
        ([_of("vwxyz", is_grave=True), _of("ab"), _of("s", is_stated=True)], "vwxyzs"),
        ([_of("vwxyz", is_grave=True), _of("a"), _of("s", is_stated=True)], "vwxyzsa"),
    ],
)
def test_a_brief_lists_grave_and_stated_limits_first_and_of_all_others_up_to_four(
    found: list[Notice], listed: str
) -> None:
    assert "".join(limit.text for limit in told_in_brief(found)) == listed
