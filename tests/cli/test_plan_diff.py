"""Tests `bench plan --diff`, against runs and against git revisions."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import FinishedRun
from tests.cli.specs import EXPERIMENT, HARDWARE, REPORT, ROCKS, SMALL
from tests.support.bench import Bench

SPLIT = 'use "parts/rocks.bench"\n' + HARDWARE + EXPERIMENT + REPORT


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=Tester", "-c", "user.email=tester@example.org", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(bench: Bench) -> Bench:
    """Make a git repository with two commits. The second one raises `records` in the file that the spec uses."""
    (bench.folder / "lab" / "parts").mkdir(parents=True)
    git(bench.folder, "init", "--quiet", "--initial-branch=main", "lab")
    bench.tool = "db_bench"
    for records in ("2k", "3k"):
        bench.spec(ROCKS.replace("2k", records), name="lab/parts/rocks.bench")
        bench.spec(SPLIT, name="lab/brief.bench")
        git(bench.folder / "lab", "add", "brief.bench", "parts")
        git(bench.folder / "lab", "commit", "--quiet", "--message", f"{records} records")
    return bench


# --- runs --------------------------------------------------------------------------------------------------------


def test_an_unchanged_spec_does_not_differ_from_its_last_run(copied_run: Bench) -> None:
    done = copied_run("plan", "brief.bench", "--diff", "--exit-code")
    assert done.code == 0, done.err
    run_id = copied_run.run_dir.name
    assert done.out.splitlines()[0].startswith(f"brief.bench against run {run_id} of 20")
    assert "= all 4 cells the same" in done.out
    assert "nothing differs: 4 cells the same" in done.out
    assert " ".join(done.out.split()).endswith(
        f"`bench run` would measure nothing, and take 4 from run {run_id} of {run_id[:4]}-{run_id[4:6]}-{run_id[6:8]}"
    )


def test_what_changed_since_the_last_run_is_reported_with_what_is_to_be_measured(copied_run: Bench) -> None:
    copied_run.spec(SMALL.replace("threads   = [1, 2]", "threads   = [2, 4]").replace("operations per", "ops in a"))
    done = copied_run("plan", "brief.bench", "--diff", "--exit-code")
    assert done.code == 1, done.err
    text = " ".join(done.out.split())
    assert "+ 2 of 4 cells new (threads 4)" in text
    assert "- 2 of 4 cells gone (threads 1)" in text
    assert "= 2 of 4 cells the same (threads 2)" in text
    assert "~ report brief: changed" in text
    assert "`bench run` would measure 2 of 4 cells, about" in text
    assert f"take 2 from run {copied_run.run_dir.name}" in text


def test_unchanged_cells_that_are_measured_again_have_their_reason(copied_run: Bench) -> None:
    copied_run.spec(SMALL.replace("  measure   = 1 s", "  repeats   = 2\n  measure   = 1 s"))
    printed = "4 unchanged cells are measured again: the repeats of a point are taken together or not at all, "
    done = copied_run("plan", "brief.bench", "--diff")
    assert f"{printed}and others of theirs are new or changed" in " ".join(done.out.split())
    (again,) = copied_run("plan", "brief.bench", "--diff", "--json").json["run"]["again"]
    assert again["cells"] == 4
    copied_run.spec(SMALL)
    (harmed, *_) = sorted(copied_run.run_dir.glob("raw/*threads=1*/1/measure*/stdout"))
    harmed.chmod(0o644)
    harmed.write_text("otherwise")
    text = " ".join(copied_run("plan", "brief.bench", "--diff").out.split())
    assert f"1 unchanged cell is measured again: run {copied_run.run_dir.name}: " in text
    assert "stdout" in text


def test_a_run_is_named_by_the_start_of_its_name_or_its_folder(copied_run: Bench) -> None:
    run_id = copied_run.run_dir.name
    for name in (run_id[:8], f"bench-out/{run_id}"):
        done = copied_run("plan", "brief.bench", "--diff", name)
        assert done.code == 0, done.err
        assert f"against run {run_id}" in done.out


def test_the_difference_as_json(copied_run: Bench) -> None:
    copied_run.spec(SMALL.replace("records = 2k", "records = 3k"))
    done = copied_run("plan", "brief.bench", "--diff", "--json")
    assert done.code == 0, done.err
    document = done.json
    assert list(document) == ["spec", "against", "differs", "cells", "searches", "besides", "run"]
    assert document["against"]["run"] == copied_run.run_dir.name
    assert document["against"]["state"] == "done"
    assert {cell["change"] for cell in document["cells"]} == {"changed"}
    assert document["cells"][0]["parts"] == [
        {
            "part": "workload rr.records",
            "before": 2000.0,
            "after": 3000.0,
            "before_text": "2,000",
            "after_text": "3,000",
        }
    ]
    assert (document["run"]["measured"], document["run"]["taken"]) == (4, [])
    assert document["run"]["seconds"] > 4


def test_a_run_of_the_same_profile_is_compared_with_before_a_later_one_of_another(copied_run: Bench) -> None:
    later = copied_run.folder / "bench-out" / "29990101-000000-brief"
    shutil.copytree(copied_run.run_dir, later)
    for name, old, new in (
        ("plan.json", '"profile": null', '"profile": "smoke"'),
        ("journal.jsonl", '{"at":', '{"at":9'),
    ):
        path = later / name
        path.write_text(path.read_text().replace(old, new, 1))
    assert "against run 2999" not in copied_run("plan", "brief.bench", "--diff").out
    assert "(done, profile smoke)" in copied_run("plan", "brief.bench", "--diff", later).out


def test_without_a_run_the_revisions_are_pointed_to(bench: Bench) -> None:
    bench.spec(SMALL)
    done = bench("plan", "brief.bench", "--diff")
    assert done.code == 2
    assert "no run of brief.bench in bench-out" in done.err
    assert "--diff git:HEAD" in done.err


def test_the_spec_is_not_taken_for_what_it_is_compared_with(finished_run: FinishedRun) -> None:
    done = finished_run.bench("plan", "--diff", "brief.bench")
    assert done.code == 2
    assert "bench plan brief.bench --diff" in done.err


def test_an_exit_code_of_no_difference_is_refused(finished_run: FinishedRun) -> None:
    done = finished_run.bench("plan", "brief.bench", "--exit-code")
    assert done.code == 2
    assert "say --diff too" in done.err


# --- git revisions -----------------------------------------------------------------------------------------------


def test_a_revision_has_the_files_that_the_spec_used_then(repository: Bench) -> None:
    before = git(repository.folder / "lab", "status", "--porcelain", "--branch")
    done = repository("plan", "lab/brief.bench", "--diff", "git:HEAD~1")
    assert done.code == 0, done.err
    commit = git(repository.folder / "lab", "rev-parse", "HEAD~1")
    assert done.out.splitlines()[0] == f"lab/brief.bench against HEAD~1 ({commit[:12]})"
    assert "~ all 4 cells changed: workload rr.records 2,000 -> 3,000" in done.out
    assert git(repository.folder / "lab", "status", "--porcelain", "--branch") == before
    assert "nothing differs" in repository("plan", "lab/brief.bench", "--diff", "git:HEAD").out


def test_what_is_not_committed_differs_from_the_head(repository: Bench) -> None:
    path = repository.folder / "lab" / "parts" / "rocks.bench"
    path.write_text(path.read_text().replace("cache = 1 MiB", "cache = 2 MiB"))
    done = repository("plan", "lab/brief.bench", "--diff", "git:main", "--json")
    assert done.json["against"] == {
        "revision": "main",
        "commit": git(repository.folder / "lab", "rev-parse", "HEAD"),
    }
    (part,) = done.json["cells"][0]["parts"]
    assert (part["part"], part["before_text"], part["after_text"]) == (
        "database rocks.options.cache",
        "1 MiB",
        "2 MiB",
    )


def test_a_revision_whose_spec_does_not_check_is_named_in_its_findings(repository: Bench) -> None:
    path = repository.folder / "lab" / "brief.bench"
    good = path.read_text()
    path.write_text(good.replace("[rr]", "[rrr]"))
    git(repository.folder / "lab", "commit", "--quiet", "--all", "--message", "a slip")
    path.write_text(good)
    done = repository("plan", "lab/brief.bench", "--diff", "git:HEAD")
    assert done.code == 1
    assert "--> HEAD:lab/brief.bench:" in done.err
    assert "did you mean `rr`?" in done.err
    assert "error: lab/brief.bench of HEAD can't be compared with" in done.err


def test_a_file_that_was_not_there_yet_is_named_with_the_revision(repository: Bench) -> None:
    (repository.folder / "lab" / "brief.bench").rename(repository.folder / "lab" / "later.bench")
    done = repository("plan", "lab/later.bench", "--diff", "git:HEAD")
    assert done.code == 2
    assert "HEAD has no lab/later.bench" in done.err
    assert "git add" in done.err


def test_a_spec_that_was_renamed_is_compared_with_what_it_was(repository: Bench) -> None:
    git(repository.folder / "lab", "mv", "brief.bench", "later.bench")
    done = repository("plan", "lab/later.bench", "--diff", "git:HEAD")
    assert done.code == 0, done.err
    assert "there lab/brief.bench)" in done.out.splitlines()[0]
    assert "nothing differs" in done.out


def test_the_error_of_a_revision_without_its_prefix_says_how_to_write_it(repository: Bench) -> None:
    done = repository("plan", "lab/brief.bench", "--diff", "HEAD~1")
    assert done.code == 2
    assert "--diff git:HEAD~1" in done.err


def test_a_used_file_that_the_revision_lacks_is_named(repository: Bench) -> None:
    git(repository.folder / "lab", "rm", "--quiet", "--cached", "parts/rocks.bench")
    git(repository.folder / "lab", "commit", "--quiet", "--message", "without the parts")
    done = repository("plan", "lab/brief.bench", "--diff", "git:HEAD")
    assert done.code == 1
    assert "HEAD:lab/brief.bench:1:" in done.err
    assert "there is no such file" in done.err


@pytest.mark.parametrize("revision", ["nowhere", "--all", "HEAD:lab", ""])
def test_a_revision_that_is_none_is_said_to_be_none(repository: Bench, revision: str) -> None:
    done = repository("plan", "lab/brief.bench", "--diff", f"git:{revision}")
    assert done.code == 2
    assert done.err.startswith(f"error: no revision {revision} in ")


def test_a_spec_outside_of_a_repository_is_said_to_be(bench: Bench) -> None:
    bench.spec(SMALL)
    done = bench("plan", "brief.bench", "--diff", "git:HEAD", env={"GIT_CEILING_DIRECTORIES": "/"})
    assert done.code == 2
    assert done.err.splitlines()[0] == "error: brief.bench is not in a git repository"
