"""Tests what makes a different environment: the content of a file, but not its folder."""

from __future__ import annotations

from pathlib import Path

from benchbrief.history.series_rows import Environments, Facts
from benchbrief.model import events as j
from benchbrief.results.open_store import open_store
from tests.results.making import READ, T0, RunMaker, a_cell, a_plan, measurement


def facts(folder: Path, options: str) -> Facts:
    cell = a_cell()
    run = RunMaker(folder, a_plan([cell]))
    run.write(j.EngineFacts(at=T0, database="mongo@nvme", facts={"options file": options}))
    run.ok(cell, {"load-1": measurement([READ])})
    run.end("done")
    with open_store(run.run_dir) as store:
        return Environments(store).of([cell])


def test_an_options_file_counts_by_its_content_and_not_by_its_folder(tmp_path: Path) -> None:
    one, moved, changed = (
        facts(tmp_path / name, f"{path} (SHA-256 {digest * 64})")
        for name, path, digest in (
            ("a", "/etc/rocks.ini", "1"),
            ("b", "/srv/x/rocks.ini", "1"),
            ("c", "/etc/rocks.ini", "2"),
        )
    )
    assert one["database options file"] == f"rocks.ini (SHA-256 {'1' * 64})"
    assert one == moved
    assert one != changed
