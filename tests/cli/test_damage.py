"""Tests flipped bits in the files of a finished run. A flip that matters is noticed or repaired, and no wrong number is
believed."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.results.build_store import FILES, MANIFEST, rebuild
from benchbrief.results.open_store import open_store, store_problem
from benchbrief.results.store.store import Store
from benchbrief.results.store.store_schema import TABLES
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.journal_file import JOURNAL, read_journal
from benchbrief.runners.journal.run_folder import PLAN, load_plan
from tests.support.bench import Bench

QUESTION = "SELECT hardware, threads, value FROM measure.throughput WHERE phase IS NULL ORDER BY ALL"


def flips(path: Path, count: int) -> Iterator[int]:
    """Flip one bit of the file at `count` different offsets, one after another, and yield each offset. At the end,
    restore the file."""
    whole, chance = path.read_bytes(), random.Random(path.name)  # noqa: S311 - the same flips each time
    for _ in range(count):
        at = chance.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :])
        yield at
    path.write_bytes(whole)


def answers(store: Store) -> dict[str, list[str]]:
    return {table: sorted(map(repr, store.sql(f"FROM {table}"))) for table in TABLES if table != "meta"}


@pytest.mark.long
def test_a_flipped_bit_in_the_journal_is_noticed_wherever_it_is(copied_run: Bench) -> None:
    journal = copied_run.run_dir / JOURNAL
    records, size = read_journal(journal), journal.stat().st_size
    for at in flips(journal, 400):
        if at == size - 1:  # the last line's end: what is before it counts as half a record
            assert read_journal(journal) == records[:-1]
            continue
        with pytest.raises(
            RunnerError, match=r"journal\.jsonl:\d+ (was changed after it was written|is not a journal)"
        ):
            read_journal(journal)


@pytest.mark.long
def test_tables_with_a_flipped_bit_are_built_again(copied_run: Bench) -> None:
    run_dir = copied_run.run_dir
    with open_store(run_dir) as store:
        expected = answers(store)
    tables = [name for name in FILES if name.endswith(".parquet")]
    for name in (*tables[::8], MANIFEST):  # all are read alike
        for at in flips(run_dir / "store" / name, 1):
            with open_store(run_dir) as store:
                assert answers(store) == expected, f"{name} with a flip at {at}"
                assert store.mended or name == MANIFEST
        rebuild(run_dir)  # what stands there again is of the build before


def test_who_asks_damaged_tables_gets_the_numbers_that_were_measured_and_is_warned(copied_run: Bench) -> None:
    expected = copied_run("query", "--csv", QUESTION)
    assert expected.err == ""
    table = copied_run.run_dir / "store" / "throughput.parquet"
    for command in (("query", "--csv", QUESTION), ("report", "--html-only"), ("compare", "last:one", "last:two")):
        whole = bytearray(table.read_bytes())
        whole[len(whole) // 3] ^= 4
        table.write_bytes(whole)
        done = copied_run(*command)
        assert "were damaged (throughput.parquet is not as it was built), and are built again" in done.err
        assert command[0] != "query" or done.out == expected.out
    assert copied_run("query", "--csv", QUESTION) == expected


@pytest.mark.long
def test_numbers_of_a_journal_that_was_changed_since_are_shown_with_a_warning(copied_run: Bench) -> None:
    expected = copied_run("query", "--csv", QUESTION)
    flip_a_hash(copied_run.run_dir / JOURNAL, sums=True)
    for command in (("query", "--csv", QUESTION), ("report", "--html-only"), ("compare", "last:one", "last:two")):
        done = copied_run(*command)
        assert re.search(r"journal\.jsonl:\d+ was changed after it was written", done.err), command
        assert f"journal as it was: `bench verify bench-out/{copied_run.run_dir.name}` shows what changed" in done.err
        assert command[0] != "query" or done.out == expected.out


def test_tables_of_an_earlier_layout_are_built_again_without_a_warning(copied_run: Bench) -> None:
    """An earlier version had fewer tables. If its manifest does not list a table, nothing is missing."""
    store = copied_run.run_dir / "store"
    manifest = json.loads((store / MANIFEST).read_text(encoding="utf-8"))
    del manifest["files"]["sentences.parquet"]
    (store / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    (store / "sentences.parquet").unlink()
    assert store_problem(copied_run.run_dir) == ""
    done = copied_run("query", "--csv", QUESTION)
    assert (done.code, done.err) == (0, "")
    assert (store / "sentences.parquet").exists()


def test_a_damaged_duckdb_file_beside_the_tables_is_noticed(copied_run: Bench) -> None:
    assert store_problem(copied_run.run_dir) == ""
    for _ in flips(copied_run.run_dir / "store" / "results.duckdb", 5):
        assert store_problem(copied_run.run_dir) == "results.duckdb is not as it was built"


def test_a_flipped_bit_in_the_plan_is_noticed_wherever_it_is(copied_run: Bench) -> None:
    for _ in flips(copied_run.run_dir / PLAN, 60):
        with pytest.raises(RunnerError, match=r"plan\.json is not the plan that the run began with"):
            load_plan(copied_run.run_dir)


def flip_a_hash(journal: Path, *, sums: bool) -> str:
    """Change the hash of the first cell that ended, and return the cell. Without `sums`, the journal also loses its
    checksums, as if an earlier version had written it."""
    lines = journal.read_text(encoding="utf-8").splitlines()
    at, ended = next(
        (at, record) for at, line in enumerate(lines) if (record := json.loads(line))["type"] == "cell_ended"
    )
    lines[at] = lines[at].replace(
        ended["hash"], "f" + ended["hash"][1:] if ended["hash"][0] != "f" else "0" + ended["hash"][1:]
    )
    if not sums:
        lines = [re.sub(r',"sum":"[0-9a-f]{32}"\}$', "}", line) for line in lines]
    journal.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(ended["cell"])


@pytest.mark.long
def test_a_run_whose_journal_was_changed_does_not_go_on_and_says_what_can_be_saved(copied_run: Bench) -> None:
    flip_a_hash(copied_run.run_dir / JOURNAL, sums=True)
    for command in ("resume", "rebuild", "status"):
        done = copied_run(command, copied_run.run_dir.name)
        assert done.code == 2
        assert re.search(r"journal\.jsonl:\d+ was changed after it was written", done.err)
        assert "`bench resume` measures what the others held" in done.err
    line = int(re.search(r"jsonl:(\d+)", done.err)[1])  # type: ignore[index]  # it was just found
    journal = copied_run.run_dir / JOURNAL
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[: line - 1]))
    assert copied_run("resume", copied_run.run_dir.name, "--no-report").code == 0
    assert len(copied_run("query", "--csv", QUESTION).out.splitlines()) == 1 + 2 * 4  # the total, and reads


def test_a_verdict_on_another_definition_of_a_cell_does_not_make_it_done(copied_run: Bench) -> None:
    cell = flip_a_hash(copied_run.run_dir / JOURNAL, sums=False)
    done = copied_run("resume", copied_run.run_dir.name, "--no-report")
    assert done.code == 0
    assert copied_run.verdicts()[cell] == ("ok", 2)
    assert copied_run("status", "--json").json["done"] == 4


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("state", ["is missing", "has no record of the run"])
def test_a_run_with_results_whose_journal_is_lost_is_refused_and_nothing_is_written(
    copied_run: Bench, state: str
) -> None:
    run_dir = copied_run.run_dir
    if state == "is missing":
        (run_dir / JOURNAL).unlink()
    else:
        (run_dir / JOURNAL).write_bytes(b"")
    before = contents(run_dir)
    for command in (("report",), ("rebuild",), ("status",), ("status", "--openmetrics"), ("resume", run_dir.name)):
        done = copied_run(*command)
        assert done.code == 2, command
        assert f"journal.jsonl {state}, though the run has results (raw/, store/, reports/)" in done.err
        assert "put the journal back from a copy" in done.err
    for named in ((), (str(run_dir / "reports" / "brief.pdf"),)):
        done = copied_run("verify", *named)
        assert (done.code, state in done.err) == (3, True), done.text
    assert contents(run_dir) == before


def test_a_journal_that_only_mentions_a_brief_proves_nothing(copied_run: Bench) -> None:
    """An earlier benchbrief could make an empty brief from a lost journal, and record that brief in the journal."""
    journal = copied_run.run_dir / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(line for line in lines if b'"type":"report_made"' in line))
    done = copied_run("verify", str(copied_run.run_dir / "reports" / "brief.pdf"))
    assert (done.code, "has no record of the run" in done.err) == (3, True), done.text


@pytest.mark.parametrize("named", [True, False])
def test_a_run_whose_plan_is_lost_is_named_with_what_to_do(copied_run: Bench, *, named: bool) -> None:
    run_dir = copied_run.run_dir
    (run_dir / PLAN).unlink()
    for name in (run_dir.name, run_dir.name[:8], f"bench-out/{run_dir.name}") if named else ("",):
        done = copied_run("status", *([name] if name else ()))
        assert done.code == 2
        assert f"bench-out/{run_dir.name}/plan.json is missing" in done.err
        assert "put the file back from a copy" in done.err
