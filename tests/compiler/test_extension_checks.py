"""Tests findings about a plan that come from the `check` of an engine or a load generator."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.compiler import extension_checks
from benchbrief.compiler.compile import check
from benchbrief.compiler.registry import TOOL_SPECS, look_again
from benchbrief.extend.common import Plan
from benchbrief.extend.spec import PlanFinding
from benchbrief.reports.words.brief_words import CATALOGUES, words_of

SPEC = """\
hardware here { hosts = local }
database db { engine = rocksdb  path = "/var/tmp/db" }
workload a from db_bench.readrandom { records = 1k }
experiment e { hardware = here  workloads = a  threads = [1, 8]  measure = 1 s }
"""


def too_many(plan: Plan) -> Iterator[PlanFinding]:
    most = max(cell.threads or 0 for cell in plan.cells)
    yield PlanFinding(f"{most} threads are too many for it", "take fewer")
    yield PlanFinding("it is slow today", "take your time", is_error=False)


def raises(_: Plan) -> Iterator[PlanFinding]:
    yield PlanFinding("it is slow today", "take your time", is_error=False)
    raise ValueError("no licence")


def sleeps(_: Plan) -> Iterator[PlanFinding]:
    time.sleep(60)
    yield PlanFinding("too late", "")


SLOW = "W0216 db_bench: it is slow today | take your time"
UNMADE = "W0217 the tool `db_bench` of benchbrief has not checked this spec: "
AUTHORS = " | tell its authors; what it would have found may still fail the run"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("too_many", ["E0214 db_bench: 8 threads are too many for it | take fewer", SLOW]),
        ("raises", [f"{UNMADE}it raised ValueError: no licence{AUTHORS}", SLOW]),
        ("sleeps", [f"{UNMADE}it took longer than 0.2 s{AUTHORS}"]),
        ("nothing", [f"{UNMADE}it raised AttributeError: module '{__name__}' has no attribute 'nothing'{AUTHORS}"]),
    ],
)
def test_a_check_is_heard_and_one_that_fails_stops_nothing(
    name: str, found: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extension_checks, "_LIMIT_S", 0.2)
    monkeypatch.setattr(TOOL_SPECS.own["db_bench"], "check", f"{__name__}:{name}")
    (tmp_path / "brief.bench").write_text(SPEC)
    checked = check(tmp_path / "brief.bench")
    said = [f"{each.code} {each.summary} | {each.help}" for each in checked.diagnostics]
    assert [each for each in said if each[:5] in ("E0214", "W0216", "W0217")] == found
    assert (checked.plan is None) == any(each.startswith("E") for each in found)


def test_a_check_that_hung_is_not_called_again_until_packages_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extension_checks, "_LIMIT_S", 0.2)
    monkeypatch.setattr(TOOL_SPECS.own["db_bench"], "check", f"{__name__}:sleeps")
    called: list[None] = []

    def hangs(_: float) -> None:
        called.append(None)
        threading.Event().wait(5)

    monkeypatch.setattr(time, "sleep", hangs)
    (tmp_path / "brief.bench").write_text(SPEC)
    look_again()
    for calls, forget in ((1, False), (1, True), (2, False)):
        checked = check(tmp_path / "brief.bench")
        assert [each.code for each in checked.diagnostics if each.code == "W0217"] == ["W0217"]
        assert len(called) == calls
        if forget:
            look_again()


def test_a_tool_says_how_few_threads_it_can_have_and_what_they_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "brief.bench"
    path.write_text(f'{SPEC}report brief {{ language = ja  figure "A" {{ line = throughput by threads }} }}\n')
    tool = TOOL_SPECS.own["db_bench"]
    monkeypatch.setattr(tool, "threads_are", {"en": "Connections", "ja": "接続数"})
    plan = check(path).plan
    assert plan is not None
    said = words_of(plan.reports[0])
    assert (said.dimension("threads"), said.form("at_threads", 8)) == ("接続数", "{n} 接続")
    assert said.locale.counted_unit("threads") == "接続"
    in_english = CATALOGUES["en"].with_measures({"threads": "Connections"})
    assert in_english.form("at_threads", 1) == "{n} connection"
    assert "at {points} connections, each connection sends" in in_english["m_threads"]
    assert in_english["fact_threads"] == "CPU threads"
    monkeypatch.setattr(tool, "fewest_threads", 4)
    (found,) = (each for each in check(path).diagnostics if each.severity == "error")
    assert (found.summary, found.help) == ("db_bench can't use `threads = 1`", "`threads` must be 4 or more")
