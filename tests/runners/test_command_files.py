"""Tests the files that a declared command names, and how changes in them are detected."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.model.events import EngineFacts
from benchbrief.model.plan import Hook, Reference
from benchbrief.reports.disclosure.systems_under_test import fold_facts
from benchbrief.runners.engines.command_files import command_files, named_words, rename_hosts
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.journal.measurement_versions import Recorded
from benchbrief.runners.journal.secret_references import read_reference
from benchbrief.runners.reuse import Carried, recheck
from tests.support import cells


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("/opt/prep.sh --quick", ["/opt/prep.sh"]),
        ("/opt/prep.sh >/var/log/prep 2>>/var/log/errors", ["/opt/prep.sh", "2"]),
        ("sudo sh -c 'prep -f /etc/a'", ["sudo", "sh", "prep -f /etc/a", "prep", "/etc/a"]),
        ("fio --filename=/data/x </etc/job", ["fio", "--filename=/data/x", "/data/x", "/etc/job"]),
        ("$HOME/prep.sh; ~/other.sh", ["~/prep.sh", "~/other.sh"]),
        ("/opt/$NAME/prep.sh /data/*", []),
        ("echo 'not closed", []),
    ],
)
def test_the_words_of_a_line_that_may_name_a_file(line: str, names: list[str]) -> None:
    assert [name for name in named_words(line) if not name.startswith("--")] == [
        name for name in names if not name.startswith("--")
    ]


Facts = Callable[[str], dict[str, str]]


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    """Return the facts of a database in `db` that is prepared by one line."""

    def of(line: str) -> dict[str, str]:
        hook = Hook(when="prepare", line=line, timeout_s=10, origin=cells.ORIGIN)
        database = cells.rocksdb(tmp_path / "db").model_copy(update={"hooks": (hook,)})
        context = cells.context(cells.db_bench("readrandom"), database)
        return command_files(database, context.hardware, HostPool(context.plan))

    return of


def test_a_script_counts_with_what_it_holds(facts: Facts, tmp_path: Path) -> None:
    script = tmp_path / "a script.sh"
    script.write_text("true")
    before = facts(f"sh '{script}' >{tmp_path}/log")
    assert list(before) == [f"file {script} on local"]
    assert before[f"file {script} on local"].startswith("SHA-256 ")
    script.write_text("false")
    assert facts(f"sh '{script}'") != before


def test_what_is_written_what_is_the_database_s_own_and_what_the_system_has_does_not_count(
    facts: Facts, tmp_path: Path
) -> None:
    (tmp_path / "db").mkdir()
    for name in ("db/CURRENT", "log"):
        (tmp_path / name).write_text("x")
    assert facts(f"cat {tmp_path}/db/CURRENT /proc/version /bin/sh {tmp_path} >{tmp_path}/log") == {}


def test_a_very_large_file_counts_with_its_size_and_time(facts: Facts, tmp_path: Path) -> None:
    large = tmp_path / "image"
    with large.open("wb") as file:
        file.truncate(65 << 20)
    assert facts(f"tar xf {large}")[f"file {large} on local"].startswith(f"{65 << 20} B, changed at ")


def test_each_host_has_facts_of_its_own_also_where_all_agree(tmp_path: Path) -> None:
    script = tmp_path / "p.sh"
    script.write_text("true")
    context = cells.context(cells.db_bench("readrandom"), cells.rocksdb(tmp_path / "db"))
    hardware = context.hardware.model_copy(update={"hosts": ("n1", "n2"), "prepare": (f"sh {script}",)})
    here = HostPool(context.plan)["local"]
    facts = command_files(context.database, hardware, {"n1": here, "n2": here})
    assert list(facts) == [f"file {script} on n1", f"file {script} on n2"]
    assert list(rename_hosts(facts, {"n2": "m2"})) == [f"file {script} on n1", f"file {script} on m2"]
    assert list(fold_facts(facts, ("n1", "n2"))) == [f"file {script}"]
    differing = {**facts, f"file {script} on n2": "SHA-256 0"}
    assert fold_facts(differing, ("n1", "n2")) == differing


@pytest.fixture
def changes(tmp_path: Path) -> Callable[[dict[str, str]], str]:
    """Return a function that takes the facts of an earlier measurement, for which `sh script` had run. It checks them
    again, and describes what has changed."""

    def of(before: dict[str, str]) -> str:
        hook = Hook(when="prepare", line=f"sh {tmp_path}/script", timeout_s=10, origin=cells.ORIGIN)
        database = cells.rocksdb(tmp_path / "db").model_copy(update={"hooks": (hook,)})
        context = cells.context(cells.db_bench("readrandom"), database)
        measured = EngineFacts(at=0.0, database=context.cell.database, facts=before)
        earlier = Carried(context.cell, context.cell, tmp_path, "run", "cell", 0.0, Recorded(), 1, (), (measured,), {})
        return recheck(context.plan, [earlier]).changed.get("cell", "")

    return of


@pytest.mark.long
def test_a_file_that_only_one_of_two_times_has_is_a_difference(
    changes: Callable[[dict[str, str]], str], tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text("true")
    holds = f"SHA-256 {hashlib.sha256(b'true').hexdigest()}"
    known = {f"file {script} on local": holds}
    assert changes(known) == ""
    assert changes({}).endswith(f"{script} on local is {holds}, and was not there")
    assert changes({**known, f"file {script} on n2": "SHA-256 0"}).endswith("on n2 is not there, and was SHA-256 0")
    script.unlink()
    assert changes(known).endswith(f"{script} on local is not there, and was {holds}")


def test_secrets_hidden_in_the_facts_of_before_are_no_difference(
    changes: Callable[[dict[str, str]], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The facts are kept with their secrets hidden."""
    monkeypatch.setenv("BENCH_WORD", "RocksDB")
    read_reference(Reference(kind="secret", name="BENCH_WORD"), "a test")
    before = "none: *** is a library in the load generator's process"
    assert changes({"server": before}) == ""
    was = before.replace("library", "service")
    assert changes({"server": was}).endswith(f"server is {before}, and was {was}")
