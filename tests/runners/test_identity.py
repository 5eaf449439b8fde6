"""Tests that a run is identified by the contents of its folder. The folder's place and its host's name may change."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from benchbrief.runners.errors import HostBusy, RunnerError
from benchbrief.runners.execution.kept_claim import KeptClaim
from benchbrief.runners.hosts.orphans import Listed
from benchbrief.runners.journal.journal_file import Journal, is_locked
from benchbrief.runners.journal.run_identity import IDENTITY, copied_from, new_identity, run_name, settle, this_machine
from benchbrief.runners.session import driver_of, is_gone, is_here, is_ours
from benchbrief.runners.stop_run import QUIET_S, refuse_alive, refuse_driven_here
from tests.results.making import a_cell, a_plan


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    path = tmp_path / "out" / "first"
    path.mkdir(parents=True)
    (path / IDENTITY).write_bytes(new_identity(path))
    return path


def test_a_folder_that_was_moved_is_still_the_same_run(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = run_name(run_dir).owner
    moved = run_dir.rename(run_dir.with_name("second"))
    monkeypatch.setattr(socket, "gethostname", lambda: "another-name")
    assert run_name(moved).owner == owner
    assert run_name(moved).folder == str(moved)
    assert copied_from(moved) == ""


def test_a_copy_is_another_run_while_the_original_is_there(run_dir: Path) -> None:
    owner = run_name(run_dir).owner
    copy = Path(shutil.copytree(run_dir, run_dir.with_name("copy")))
    again = Path(shutil.copytree(run_dir, run_dir.with_name("again")))
    its = run_name(copy).owner
    assert len({owner, its, run_name(again).owner}) == 3
    assert run_name(copy).owner == its, "once and for all"
    assert copied_from(copy) == str(run_dir)
    assert run_name(run_dir).owner == owner
    assert copied_from(run_dir) == ""


def test_a_copy_of_an_original_that_is_gone_is_that_run(run_dir: Path) -> None:
    owner = run_name(run_dir).owner
    copy = Path(shutil.copytree(run_dir, run_dir.with_name("copy")))
    shutil.rmtree(run_dir)
    assert run_name(copy).owner == owner
    settle(copy)
    run_dir.mkdir()
    shutil.copy(copy / IDENTITY, run_dir)
    assert run_name(copy).owner == owner, "it has settled there"
    assert run_name(run_dir).owner != owner
    assert copied_from(run_dir) == str(copy)


def test_a_link_to_a_run_is_no_copy(run_dir: Path) -> None:
    link = run_dir.with_name("link")
    link.symlink_to(run_dir)
    assert run_name(link).owner == run_name(run_dir).owner


def test_a_run_of_an_earlier_version_keeps_the_owner_of_its_place_when_it_is_moved_later(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    owner = run_name(old).owner
    assert not (old / IDENTITY).exists()
    settle(old)
    moved = old.rename(tmp_path / "new")
    assert run_name(moved).owner == owner


@pytest.mark.parametrize("text", ["", "[]", "{", '{"owner": "a-b"}', '{"owner": "../x"}', "[" * 9000])
def test_an_identity_that_can_not_be_read_is_refused(run_dir: Path, text: str) -> None:
    (run_dir / IDENTITY).write_text(text)
    with pytest.raises(RunnerError, match=r"identity\.json does not say whose jobs the run's are"):
        run_name(run_dir)


def claimed(run_dir: Path, **other: object) -> dict[str, object]:
    name = run_name(run_dir)
    return {"run": name.run, "folder": name.folder, "controller": name.controller, "machine": name.machine} | other


def test_a_controller_is_known_to_be_gone_where_its_process_is(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = run_name(run_dir).owner
    left = claimed(run_dir, pid=2**30)
    assert is_gone(left, owner), "nobody holds its journal"
    with_journal = Journal(run_dir)
    try:
        assert not is_gone(left, owner)
    finally:
        with_journal.close()
    moved = run_dir.rename(run_dir.with_name("moved"))
    assert is_gone(left, owner), "there is no such process"
    assert not is_here(left, owner)
    assert not is_gone({**left, "pid": 1}, owner), "there is one"
    monkeypatch.setattr(socket, "gethostname", lambda: "renamed")
    assert is_gone(left, owner)
    assert is_ours(left, owner)
    elsewhere = {**left, "machine": "another boot"}
    assert not is_gone(elsewhere, owner), "nobody can tell from here"
    assert not is_ours(elsewhere, owner)
    assert is_ours({**elsewhere, "folder": str(moved)}, owner), "its folder is here"


def test_another_machine_that_gives_signs_of_life_keeps_this_one_from_the_run() -> None:
    def left(silent_s: int, **others: object) -> list[Listed]:
        about = {"run": "r", "pid": 7, "controller": "lab-2", "machine": "another boot", **others}
        return [Listed("claim", "mine", silent_s, "1700000000", "held", about)]

    with pytest.raises(HostBusy, match="this folder is a copy of a run that is driven there") as busy:
        refuse_alive("box", left(QUIET_S - 20), "mine")
    assert "try again in 20 s" in busy.value.hint
    refuse_alive("box", left(QUIET_S + 1), "mine")
    refuse_alive("box", left(5), "another")
    refuse_alive("box", left(5, machine=this_machine()), "mine")
    refuse_alive("box", left(5, controller=socket.gethostname()), "mine")


def test_a_file_without_the_fields_of_a_later_version_is_read(run_dir: Path) -> None:
    owner = run_name(run_dir).owner
    (run_dir / IDENTITY).write_text(json.dumps({"owner": owner, "later": 1}))
    assert run_name(run_dir).owner == owner
    assert driver_of(owner) is None


HOLDER = "import sys; held = open(sys.argv[1], 'r+'); print(flush=True); sys.stdin.read()"


@pytest.mark.skipif(sys.platform != "linux", reason="open files of processes are seen on Linux only")
def test_a_run_whose_brief_another_process_makes_is_not_driven(run_dir: Path) -> None:
    owner = run_name(run_dir).owner
    refuse_driven_here(owner, run_dir)
    holding = subprocess.Popen(
        [sys.executable, "-c", HOLDER, run_dir / IDENTITY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holding:
        assert holding.stdout is not None
        holding.stdout.readline()
        with pytest.raises(RunnerError, match=f"process {holding.pid} still makes the brief of this run") as refused:
            refuse_driven_here(owner, run_dir)
        assert f"bench stop {run_dir}" in refused.value.hint
        holding.communicate()
    refuse_driven_here(owner, run_dir)


def test_a_copy_whose_brief_is_made_holds_this_machine_under_its_own_identity(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(run_dir.parent))
    copy = Path(shutil.copytree(run_dir, run_dir.with_name("copy")))
    plan = a_plan([a_cell()])
    with KeptClaim() as kept, KeptClaim() as refused:
        assert kept.take(plan, copy)
        assert is_locked(copy / IDENTITY), "others see that it is driven"
        assert not is_locked(run_dir / IDENTITY)
        assert not refused.take(plan, run_dir), "another run holds the machine"
    assert not is_locked(copy / IDENTITY)
