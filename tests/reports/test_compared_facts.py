"""Tests the configuration in a brief for customers: a line with what all sides share, and a table of differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.data.view_model import FactsView
from benchbrief.reports.text.line_ends import close_up
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports import world as w
from tests.reports.briefs import quickstart
from tests.reports.test_nothing_is_lost import flat
from tests.support.longer import longer


def configuration(world: w.World, language: str = "en") -> tuple[list[FactsView], list[FactsView]]:
    """Return the tables of facts in the brief, and those in the disclosure."""
    element = p.FactsElement(title="Configuration", hardware=tuple(world.hardware))
    report = w.report("R", element, disclosure="separate", language=language)
    view = build(world.plan(report), world.store(), report, CATALOGUES[language])
    brief, full = (
        [one for one in flat(blocks) if isinstance(one, FactsView)] for blocks in (view.blocks, view.disclosed)
    )
    return brief, full


APART = ("bay", "drive", "rack", "row")


def several(count: int, *, apart: Sequence[str] = APART, **facts: str) -> w.World:
    """Return a world of several hardware groups that share `facts`. For each name in `apart`, every group has a value
    of its own."""
    hardware = {f"h{n}": f"Box {n}" for n in range(count)}
    own: dict[str, dict[str, p.Fact]] = {
        key: {**facts, **{name: f"{name} {key}" for name in apart}} for key in hardware
    }
    return w.World(hardware, {"a": "Sessions"}, nodes=3, facts=own, observed={"os": "Linux", "clock_source": "tsc"})


@pytest.mark.parametrize(
    ("count", "language", "said"),
    [
        (2, "en", "The same for both: 3 nodes; network 10 Gbit/s; operating system Linux"),
        *longer((3, "en", "The same for all: 3 nodes; network 10 Gbit/s; operating system Linux")),
        (
            1,
            "en",
            "3 nodes; network 10 Gbit/s; bay bay h0; drive drive h0; rack rack h0; row row h0; operating system Linux",
        ),
        (2, "ja", "共通：3ノード、ネットワークは 10 Gbit/s、OS は Linux"),
    ],
)
def test_what_all_share_is_a_line_and_only_what_differs_a_table(count: int, language: str, said: str) -> None:
    (found,), _ = configuration(several(count, network="10 Gbit/s"), language)
    assert close_up(found.common.replace("\xa0", " ")) == said
    assert [(row.name, row.cells) for row in found.beside] == (
        [(name.title(), tuple(f"{name} h{n}" for n in range(count))) for name in APART] if count > 1 else []
    )
    assert found.number == (1 if count > 1 else 0), "a line alone is no table"


@pytest.mark.long
def test_more_sides_than_columns_are_rows() -> None:
    (found,), _ = configuration(several(6))
    assert (found.corner, found.heads) == ("Hardware", ("Bay", "Drive", "Rack", "Row"))
    assert (found.beside[1].name, found.beside[1].cells) == ("Box 1", ("bay h1", "drive h1", "rack h1", "row h1"))


@pytest.mark.parametrize(
    ("language", "apart", "said"),
    [
        ("ja", ["bay"], "共通：3ノード、OS は Linux。Bay：bay h0（Box 0）、bay h1（Box 1）。"),
        (
            "en",
            ["bay", "row"],
            (
                "The same for both: 3 nodes; operating system Linux. "
                "Box 0: bay bay h0; row row h0. Box 1: bay bay h1; row row h1."
            ),
        ),
    ],
)
def test_few_facts_that_differ_between_two_are_sentences(language: str, apart: list[str], said: str) -> None:
    (found,), _ = configuration(several(2, apart=apart), language)
    assert close_up(found.common.replace("\xa0", " ")) == said
    assert (found.beside, found.number) == ((), 0)


def test_a_fact_that_an_observation_contradicts_is_said_with_it() -> None:
    world, _ = quickstart()
    (found,), _ = configuration(world)
    row = next(row for row in found.beside if row.name == "Processor")
    assert row.differs
    assert row.cells == ("AMD EPYC 7402, 2 cores stated, AMD EPYC 9654 96-Core Processor observed",)


def test_each_fact_of_the_brief_and_each_that_it_leaves_out_is_in_the_disclosure() -> None:
    world = several(2, network="10 Gbit/s")
    (found,), (full,) = configuration(world)
    stated = {(line.name, line.declared or line.observed) for group in full.groups for line in group.lines}
    assert {("Network", "10 Gbit/s"), ("Operating system", "Linux"), ("Clock source", "tsc")} <= stated
    assert {(row.name, cell) for row in found.beside for cell in row.cells} <= stated
    assert "tsc" not in found.common, "few readers need it where it is the same"
    facts: dict[str, dict[str, p.Fact]] = {"h0": {"drive": "A"}, "h1": {"drive": "A"}}
    (alike,), _ = configuration(replace(world, facts=facts))
    assert alike.beside == ()


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "The same for both: 3 nodes; operating system Linux. Storage: One disk. A trial: no comparison."),
        ("ja", "共通：3ノード、OS は Linux。ストレージ：1台のディスク。試行用。"),
    ],
)
def test_a_fact_of_several_sentences_is_no_part_of_a_list(language: str, said: str) -> None:
    storage = {"en": "One disk. A trial: no comparison", "ja": "1 台のディスク。試行用"}[language]
    (found,), _ = configuration(several(2, storage=storage), language)
    assert close_up(found.common.replace("\xa0", " ")) == said
