"""Tests the end of a brief: the command that measures it again, and a line on trademarks."""

from __future__ import annotations

import re

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.data.place_labels import database_name
from benchbrief.reports.data.view_model import ReportView
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports import world as w
from tests.reports.test_what_is_missing_or_not_measured import SOURCE

WORLD = w.World({"disk": "Disk", "ram": "RAM disk"}, {"a": "Sessions"}, threads=(1, 2))


def view_of(*more: tuple[object, ...], language: str = "en", **report: object) -> ReportView:
    made = w.report("R", p.TextElement(prose=w.text("Words.")), disclosure="separate", language=language, **report)
    return build(WORLD.plan(made), w.make_store([*WORLD.rows(), *more]), made, CATALOGUES[language])


def test_the_last_line_has_what_was_measured_and_the_command_that_repeats_it() -> None:
    assert view_of().repeat == (
        "`bench run --fresh quickstart.bench --profile smoke` makes the 4 measurements behind these pages again "
        "(one workload on Disk and RAM disk), and computes each number from them."
    )
    assert "4 件の測定（Disk、RAM disk での 1 種類の負荷）" in view_of(language="ja").repeat


def test_what_a_source_publishes_can_be_measured_on_systems_of_ones_own() -> None:
    assert view_of(SOURCE).repeat.endswith(
        "runs the same kind of test on systems of your own: one workload on Disk and RAM disk. It sets what the source "
        "does not publish."
    )


@pytest.mark.parametrize(("language", "said"), [("en", "trademarks of their owners"), ("ja", "各社の商標")])
def test_a_brief_without_legal_lines_says_whose_the_names_are(language: str, said: str) -> None:
    found = view_of(language=language).legal
    assert found
    assert re.fullmatch(rf"<p>RocksDB .*{said}.*</p>", found)
    own = view_of(language=language, legal=w.text("Ours.")).legal
    assert own
    assert "Ours." in own
    assert said not in own


def test_a_database_without_a_label_is_called_by_its_engine() -> None:
    plan = WORLD.plan()
    database = next(iter(plan.databases.values()))
    unnamed = database.model_copy(update={"label": database.name})
    assert database_name(unnamed, plan) == "RocksDB"
    assert database_name(database.model_copy(update={"label": "Store"}), plan) == "Store"
    other = {**plan.databases, p.DatabaseKey.of("other", "disk"): database.model_copy(update={"name": "other"})}
    assert database_name(unnamed, plan.model_copy(update={"databases": other})) == database.name, "two have the engine"
