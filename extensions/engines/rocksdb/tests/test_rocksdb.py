"""Tests that a RocksDB directory is created, emptied and reused only if it is certainly ours."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Literal

import pytest

from benchbrief.extensions.engines.rocksdb.rocksdb import RocksDB
from benchbrief.model.engine_spec import Reset
from benchbrief.model.plan import Database, Hook
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.errors import Interrupted, LoadShort, RunnerError, ServerFailed, TeardownFailed
from benchbrief.runners.hosts.host_connections import HostPool
from tests.support import cells
from tests.support.tools import system_tool
from tests.support.waiting import until


def opened(path: Path | str, records: int = 1000, **more: str) -> tuple[RocksDB, CellContext]:
    options_file = more.pop("options_file", None)
    context = cells.context(cells.db_bench("readrandom", records), cells.rocksdb(path, options_file), **more)  # type: ignore[arg-type]  # only `reuse` and the like
    return RocksDB(context.plan, context.database, context.hardware, HostPool(context.plan)), context


def made_database(path: Path, identity: str = "id-1") -> None:
    """Write the files that identify a RocksDB database, as after a load."""
    (path / "CURRENT").write_text("MANIFEST-000005\n")
    (path / "MANIFEST-000005").write_text("its files")
    (path / "IDENTITY").write_text(identity)
    (path / "000012.sst").write_bytes(b"x" * 10_000)


def test_a_new_directory_is_made_and_marked(tmp_path: Path) -> None:
    engine, _ = opened(tmp_path / "a/b/db")
    assert engine.start() == Endpoint(path=str(tmp_path / "a/b/db"))
    assert (tmp_path / "a/b/db/BENCHBRIEF").exists()
    assert engine.start() == Endpoint(path=str(tmp_path / "a/b/db")), "starting twice is starting once"


def test_an_empty_directory_and_a_fresh_file_system_are_taken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "mount/lost+found").mkdir(parents=True)
    for name in ("empty", "mount"):
        opened(tmp_path / name)[0].start()


@pytest.mark.parametrize("content", ["precious.txt", "CURRENT", ".hidden"])
def test_a_directory_with_anything_of_others_is_refused_and_left_alone(tmp_path: Path, content: str) -> None:
    (tmp_path / content).write_text("keep me")
    engine, context = opened(tmp_path)
    with pytest.raises(RunnerError, match=r"is not empty .* and was not made by benchbrief"):
        engine.start()
    with pytest.raises(RunnerError, match="refusing to empty the directory"):
        engine.reset(context.cell)
    assert (tmp_path / content).read_text() == "keep me"


@pytest.mark.parametrize("path", ["/", "//", "/tmp/..", "/proc/none/db"])
def test_the_root_and_unwritable_places_are_refused(path: str) -> None:
    with pytest.raises(RunnerError, match=r"can't be used: .*(the root directory|can't be made|can't be written)"):
        opened(path)[0].start()


def test_a_home_directory_is_refused_even_when_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path.parent / "link").unlink(missing_ok=True)
    (tmp_path.parent / "link").symlink_to(tmp_path)
    for path in (tmp_path, tmp_path.parent / "link"):
        with pytest.raises(RunnerError, match="is a home directory"):
            opened(path)[0].start()


def test_a_name_is_never_a_command(tmp_path: Path) -> None:
    odd = tmp_path / "db $(touch ran); touch ran '\""
    engine, context = opened(odd)
    engine.start()
    engine.reset(context.cell)
    assert odd.is_dir()
    assert not list(tmp_path.rglob("ran"))


def test_a_reset_empties_a_directory_of_ours_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "beside").write_text("keep me")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("keep me")
    engine, context = opened(tmp_path / "db")
    engine.start()
    made_database(tmp_path / "db")
    (tmp_path / "db/link").symlink_to(outside)
    (tmp_path / "db/.hidden").mkdir()
    engine.reset(context.cell)
    assert [entry.name for entry in (tmp_path / "db").iterdir()] == ["BENCHBRIEF"]
    assert (outside / "file").read_text() == "keep me"
    assert (tmp_path / "beside").read_text() == "keep me"


def test_a_proven_load_is_remembered_by_the_next_run(tmp_path: Path) -> None:
    engine, context = opened(tmp_path / "db")
    engine.start()
    assert not engine.holds(context.cell)
    made_database(tmp_path / "db")
    assert not engine.holds(context.cell), "a load that was not proven is no load"
    engine.loaded(context.cell, 1000)
    again, context = opened(tmp_path / "db")
    again.start()
    assert again.holds(context.cell)


def test_a_short_load_is_an_error_and_not_remembered(tmp_path: Path) -> None:
    engine, context = opened(tmp_path / "db")
    engine.start()
    made_database(tmp_path / "db")
    with pytest.raises(LoadShort, match=r"1000 records were to be loaded .* and 999 were"):
        engine.loaded(context.cell, 999)
    assert not engine.holds(context.cell)


def test_a_load_that_left_no_database_is_an_error(tmp_path: Path) -> None:
    engine, context = opened(tmp_path / "db")
    engine.start()
    with pytest.raises(LoadShort, match="left no database"):
        engine.loaded(context.cell, 1000)


def test_another_data_set_a_reset_and_a_database_made_anew_are_not_reused(tmp_path: Path) -> None:
    engine, context = opened(tmp_path / "db")
    engine.start()
    made_database(tmp_path / "db")
    engine.loaded(context.cell, 1000)
    dataset = context.cell.dataset
    assert dataset
    other = context.cell.model_copy(update={"dataset": dataset.model_copy(update={"hash": "other"})})
    always = context.cell.model_copy(update={"dataset": dataset.model_copy(update={"reuse": False})})
    assert engine.holds(context.cell)
    assert not engine.holds(other)
    assert not engine.holds(always)
    (tmp_path / "db/IDENTITY").write_text("id-2")
    assert not engine.holds(context.cell), "a benchmark that fills made the database anew"
    (tmp_path / "db/IDENTITY").write_text("id-1")
    engine.reset(context.cell)
    made_database(tmp_path / "db")
    assert not engine.holds(context.cell)


def test_a_load_without_room_is_refused_before_it_begins(tmp_path: Path) -> None:
    engine, context = opened(tmp_path / "db", records=10**15)
    engine.start()
    with pytest.raises(RunnerError, match=r"the load needs about \d+\.\d+ TiB in .*, and \d+\.\d+ [KMGT]iB are free"):
        engine.reset(context.cell)


def test_a_directory_that_went_away_is_a_failed_server(tmp_path: Path) -> None:
    engine, _ = opened(tmp_path / "db")
    engine.start()
    made_database(tmp_path / "db")
    engine.healthy()
    (tmp_path / "db/CURRENT").unlink()
    with pytest.raises(ServerFailed, match="has gone"):
        engine.healthy()


def test_a_missing_options_file_is_reported_at_the_start(tmp_path: Path) -> None:
    engine, _ = opened(tmp_path / "db", options_file="/nowhere/rocks.ini")
    with pytest.raises(RunnerError, match=r"options file /nowhere/rocks\.ini can't be read"):
        engine.start()


def test_the_size_is_that_of_the_database_alone(tmp_path: Path) -> None:
    engine, context = opened(tmp_path / "db", records=1000)
    engine.start()
    assert engine.size(context.cell).on_disk is None
    assert engine.size(context.cell).why_no_disk == f"there is no RocksDB database in {tmp_path / 'db'}"
    made_database(tmp_path / "db")
    size = engine.size(context.cell)
    assert size.on_disk is not None
    assert 10_000 < size.on_disk < 40_000, "in whole blocks, with those of the directory"
    for name in ("LOG", "LOG.old.1", "BENCHBRIEF.snapshot"):
        (tmp_path / "db" / name).write_bytes(b"x" * 100_000)
    assert engine.size(context.cell) == size
    assert size.logical == 1000 * (16 + 100)


def test_a_size_that_du_does_not_tell_has_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, context = opened(tmp_path / "db", records=1000)
    engine.start()
    made_database(tmp_path / "db")
    wrong = tmp_path / "bin/du"
    wrong.parent.mkdir()
    wrong.write_text("#!/bin/sh\necho many\n")
    wrong.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrong.parent}:{os.environ['PATH']}")
    for printed, reason in (("many", "many"), ("", "it printed nothing")):
        wrong.write_text(f"#!/bin/sh\necho {printed}\n")
        size = engine.size(context.cell)
        assert size.on_disk is None
        assert size.why_no_disk == f"`du` on local prints no number for {tmp_path / 'db'}: {reason}"


def test_the_disclosure_names_version_and_options_file(tmp_path: Path) -> None:
    system_tool("db_bench")
    (tmp_path / "rocks.ini").write_text("[Version]\n")
    engine, _ = opened(tmp_path / "db", options_file=str(tmp_path / "rocks.ini"))
    engine.start()
    made_database(tmp_path / "db")
    facts = engine.describe()
    assert facts["version"].count(".") == 2
    assert facts["options file"].startswith(f"{tmp_path / 'rocks.ini'} (SHA-256 ")
    assert len(facts["options file"].split()[-1]) == 65


# --- how cells come by their data --------------------------------------------------------------------------------


def loaded_with(path: Path, reset: Reset) -> tuple[RocksDB, CellContext]:
    """Return an engine with a writing workload, on a data set that was just loaded."""
    context = cells.context(cells.db_bench("readwhilewriting", 1000), with_reset(cells.rocksdb(path), reset))
    engine = RocksDB(context.plan, context.database, context.hardware, HostPool(context.plan))
    engine.start()
    engine.reset(context.cell)
    made_database(path)
    engine.loaded(context.cell, 1000)
    return engine, context


def with_reset(database: Database, reset: Reset) -> Database:
    return database.model_copy(update={"reset": reset})


def test_a_data_set_that_a_cell_wrote_to_is_loaded_again_before_the_next(tmp_path: Path) -> None:
    engine, context = loaded_with(tmp_path / "db", "after_writes")
    assert engine.holds(context.cell), "nothing was measured yet"
    assert engine.begin(context.cell) == ()
    assert not engine.holds(context.cell)
    later = RocksDB(context.plan, context.database, context.hardware, HostPool(context.plan))
    later.start()
    assert not later.holds(context.cell), "nor does a later run take it for new"


def test_a_data_set_that_cells_only_read_stays(tmp_path: Path) -> None:
    engine, context = loaded_with(tmp_path / "db", "after_writes")
    reading = context.plan.workload_of(context.cell).model_copy(update={"writes": False})
    plan = context.plan.model_copy(update={"workloads": {reading.name: reading}})
    engine = RocksDB(plan, context.database, context.hardware, HostPool(plan))
    engine.start()
    assert engine.begin(context.cell) == ()
    assert engine.holds(context.cell)


def test_a_data_set_that_is_reused_tells_how_many_cells_wrote_to_it(tmp_path: Path) -> None:
    engine, context = loaded_with(tmp_path / "db", "reuse")
    assert engine.begin(context.cell) == ()
    (text,) = engine.begin(context.cell)
    assert text.startswith("the data set had been written to by 1 earlier cell since it was loaded")
    (text,) = engine.begin(context.cell)
    assert "2 earlier cells" in text
    assert engine.holds(context.cell)


def test_a_snapshot_brings_back_what_the_load_left(tmp_path: Path) -> None:
    engine, context = loaded_with(tmp_path / "db", "snapshot")
    before = contents(tmp_path / "db")
    (tmp_path / "db/000007.sst").write_text("a compaction")
    (tmp_path / "db/CURRENT").write_text("MANIFEST-000009\n")
    engine.begin(context.cell)
    assert engine.holds(context.cell)
    assert engine.restore(context.cell) == (
        "before the measurement, the data set was copied back from the snapshot taken after its load"
    )
    assert contents(tmp_path / "db") == before
    assert engine.begin(context.cell) == ()


def test_a_snapshot_that_was_cut_short_or_of_another_data_set_is_none(tmp_path: Path) -> None:
    engine, context = loaded_with(tmp_path / "db", "snapshot")
    dataset = context.cell.dataset
    assert dataset
    assert not engine.holds(context.cell.model_copy(update={"dataset": dataset.model_copy(update={"hash": "other"})}))
    (tmp_path / "db/BENCHBRIEF.snapshot").rename(tmp_path / "db/BENCHBRIEF.snapshot.new")
    assert not engine.holds(context.cell)
    engine.reset(context.cell)
    assert contents(tmp_path / "db") == {"BENCHBRIEF": ""}, "a reset takes an old snapshot away too"


def contents(directory: Path) -> dict[str, str]:
    """Return all files except those of the snapshot."""
    return {
        str(path.relative_to(directory)): path.read_text()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and "BENCHBRIEF.snapshot" not in str(path)
    }


# --- commands ----------------------------------------------------------------------------------------------------


def hook(when: Literal["prepare", "reset", "teardown"], line: str, timeout_s: float = 20.0) -> Hook:
    return Hook(when=when, line=line, timeout_s=timeout_s, origin=cells.ORIGIN)


def with_hooks(path: Path, *hooks: Hook) -> tuple[RocksDB, CellContext]:
    reset: Reset = "command" if any(each.when == "reset" for each in hooks) else "after_writes"
    database = cells.rocksdb(path).model_copy(update={"hooks": hooks, "reset": reset})
    context = cells.context(cells.db_bench("readwhilewriting", 1000), database)
    return RocksDB(context.plan, database, context.hardware, HostPool(context.plan)), context


def test_a_command_gets_levels_as_variables_whatever_they_say(tmp_path: Path) -> None:
    hostile = f"$(touch {tmp_path}/made); `touch {tmp_path}/made` '\" && touch {tmp_path}/made #"
    declared = hook("prepare", 'printf %s "$BENCH_CODEC"').model_copy(update={"env": {"BENCH_CODEC": hostile}})
    engine, _ = with_hooks(tmp_path / "db", declared)
    engine.keep = tmp_path / "kept"
    engine.start()
    assert (tmp_path / "kept/hooks/prepare-1-local/1/stdout").read_text() == hostile
    assert not (tmp_path / "made").exists()


def test_a_database_s_commands_are_run_once_at_its_start_and_end_and_keep_what_they_print(tmp_path: Path) -> None:
    log = tmp_path / "log"
    engine, _ = with_hooks(
        tmp_path / "db",
        hook("prepare", f"echo on $BENCH_HOST; echo prepare >>'{log}'"),
        hook("teardown", f"echo teardown >>'{log}'"),
    )
    engine.keep = tmp_path / "kept"
    engine.start()
    engine.start()
    assert log.read_text() == "prepare\n"
    assert (tmp_path / "kept/hooks/prepare-1-local/1/stdout").read_text() == "on local\n"
    engine.stop()
    engine.stop()
    assert log.read_text() == "prepare\nteardown\n"


def test_a_command_that_fails_is_reported_with_its_last_words_and_its_place(tmp_path: Path) -> None:
    engine, _ = with_hooks(tmp_path / "db", hook("prepare", "echo 'no such volume' >&2; exit 3"))
    with pytest.raises(
        RunnerError, match=r"on local, the prepare command .* ended with code 3: no such volume"
    ) as refused:
        engine.start()
    assert refused.value.hint == "it is declared at brief.bench:1:1"


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    engine, _ = with_hooks(tmp_path / "db", hook("prepare", f"echo $$ >'{tmp_path}/pid'; sleep 600 | cat", 0.5))
    with pytest.raises(RunnerError, match=r"did not end within 0\.5 s"):
        engine.start()
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


def test_a_teardown_that_fails_is_reported_apart_and_the_others_are_run(tmp_path: Path) -> None:
    engine, _ = with_hooks(tmp_path / "db", hook("teardown", "exit 4"), hook("teardown", f"touch '{tmp_path}/second'"))
    engine.start()
    with pytest.raises(TeardownFailed, match="ended with code 4"):
        engine.stop()
    assert (tmp_path / "second").exists()


def test_a_reset_command_brings_the_data_and_is_judged_by_them(tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    made_database(tmp_path / "backup")
    engine, context = with_hooks(tmp_path / "db", hook("reset", f"cp '{tmp_path}'/backup/* '{tmp_path}/db'"))
    engine.start()
    assert engine.holds(context.cell), "no load is needed"
    assert (
        engine.restore(context.cell) == "the data set was brought back by the declared command before the measurement"
    )
    assert (tmp_path / "db/CURRENT").exists()
    idle, context = with_hooks(tmp_path / "other", hook("reset", "true"))
    idle.start()
    with pytest.raises(RunnerError, match=r"no RocksDB database in .* after the reset commands"):
        idle.restore(context.cell)


def test_a_command_that_goes_on_when_the_run_is_to_stop_is_ended_and_a_teardown_after_that_is_run(
    tmp_path: Path,
) -> None:
    slow = f"echo $$ >'{tmp_path}/pid'; sleep 600"
    engine, _ = with_hooks(tmp_path / "db", hook("prepare", slow), hook("teardown", f"touch '{tmp_path}/undone'"))
    engine.stopping = stopping = threading.Event()
    threading.Thread(target=stop_when_there_is, args=(tmp_path / "pid", stopping)).start()
    with pytest.raises(Interrupted):
        engine.start()
    until(lambda: not runs(int((tmp_path / "pid").read_text())))
    engine.stop()
    assert (tmp_path / "undone").exists()


def test_a_teardown_has_its_declared_time_when_the_run_is_to_stop(tmp_path: Path) -> None:
    ends = hook("teardown", f"until [ -e '{tmp_path}/asked' ]; do sleep 0.05; done; touch '{tmp_path}/undone'")
    engine, _ = with_hooks(tmp_path / "ends", ends)
    engine.start()
    engine.stopping = stopping = threading.Event()
    stopping.set()
    underway = engine.hosts["local"].session.underway

    def ask() -> None:
        until(underway.waited)
        (tmp_path / "asked").touch()

    threading.Thread(target=ask).start()
    engine.stop()
    assert (tmp_path / "undone").exists()
    assert not underway.waited()

    slow = hook("teardown", f"echo $$ >'{tmp_path}/pid'; sleep 600").model_copy(update={"timeout_s": 0.5})
    engine, _ = with_hooks(tmp_path / "db", slow)
    engine.stopping = stopping = threading.Event()
    engine.start()
    threading.Thread(target=stop_when_there_is, args=(tmp_path / "pid", stopping)).start()
    with pytest.raises(TeardownFailed, match=r"the teardown command .* did not end within 0\.5 s"):
        engine.stop()
    until(lambda: not runs(int((tmp_path / "pid").read_text())))


def test_a_snapshot_that_is_being_copied_when_the_run_is_to_stop_is_given_up_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "bin/cp"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\n/bin/cp \"$@\"\necho $$ >'{tmp_path}/pid'\nexec sleep 600\n")
    slow.chmod(0o755)
    engine, context = loaded_with(tmp_path / "db", "snapshot")
    engine.reset(context.cell)
    made_database(tmp_path / "db")
    engine.stopping = stopping = threading.Event()
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    threading.Thread(target=stop_when_there_is, args=(tmp_path / "pid", stopping)).start()
    with pytest.raises(Interrupted):
        engine.loaded(context.cell, 1000)
    until(lambda: not runs(int((tmp_path / "pid").read_text())))
    assert not list((tmp_path / "db").glob("*.snapshot*"))
    assert not engine.holds(context.cell)


def test_a_directory_that_takes_long_to_be_made_empty_is_reported_as_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, context = loaded_with(tmp_path / "db", "drop_and_load")
    made_database(tmp_path / "db")
    slow = tmp_path / "bin/rm"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\nuntil [ -e '{tmp_path}/go' ]; do sleep 0.02; done\nexec /bin/rm \"$@\"\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    emptying = threading.Thread(target=engine.reset, args=(context.cell,))
    emptying.start()
    underway = engine.hosts["local"].session.underway
    until(lambda: f"{tmp_path}/db on local, for up to 600 s" in underway.waited())
    (tmp_path / "go").touch()
    emptying.join(30)
    assert not underway.waited()


def stop_when_there_is(path: Path, stopping: threading.Event) -> None:
    until(lambda: path.exists() and path.read_text().strip(), 30)
    stopping.set()


def runs(pid: int) -> bool:
    """Return whether the process is running. A killed process may stay in the process table until its parent waits for
    it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
