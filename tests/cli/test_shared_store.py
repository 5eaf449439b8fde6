"""Tests the commands for a shared store, as users type them."""

import json
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from benchbrief.history.shared_store.run_manifest import QueuedPush, enqueue
from benchbrief.runners.journal.journal_file import Journal
from tests.support.bench import Bench
from tests.support.longer import longer
from tests.support.ports import free_port
from tests.support.s3_servers import CREDENTIALS, settings
from tests.support.tools import system_tool


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one simulated run."""
    folder = tmp_path_factory.mktemp("made")
    bench = Bench(folder)
    assert bench("init", "brief.bench").code == 0
    done = bench("run", "brief.bench", "--simulate", "--quiet")
    assert done.code == 0, done.text
    return folder


@pytest.fixture
def bench(made: Path, tmp_path: Path) -> Bench:
    for name in ("brief.bench", "bench-out"):
        source = made / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name)
        else:
            shutil.copy(source, tmp_path / name)
    return Bench(tmp_path)


def run_of(bench: Bench) -> Path:
    (run_dir,) = (bench.folder / "bench-out").iterdir()
    return run_dir


def test_a_run_goes_to_a_store_and_comes_back(bench: Bench) -> None:
    run = run_of(bench).name
    done = bench("push", "simulated", "--to", "shared", "--tag", "nightly")
    assert done.code == 0, done.text
    assert done.out.startswith(f"{run}: ")
    assert "in shared, pushed, " in done.out
    again = bench("push", "simulated", "--to", f"file://{bench.folder}/shared", "--json").json
    assert [(each["run"], each["state"], each["sent"], each["tags"]) for each in again] == [
        (run, "same", 0, ["nightly"])
    ]

    (listed,) = bench("runs", "--from", "shared", "--json").json
    assert (listed["run"], listed["origin"], listed["tags"], listed["signed"]) == (run, "simulated", ["nightly"], False)
    assert listed["good"] == listed["total"] > 0
    assert run in bench("runs", "--from", "shared", "--tag", "nightly").out
    assert bench("runs", "--from", "shared", "--tag", "other").out == "no runs\n"
    (here,) = bench("runs", "--json").json
    assert here == listed

    pulled = bench("pull", run[:8], "--from", "shared", "--out", "pulled")
    assert pulled.out == f"pulled/{run}\n"
    assert bench("verify", f"pulled/{run}").code == 0
    assert bench("query", "--run", f"pulled/{run}", "FROM metrics").code == 0

    rows = bench("query", "--from", "shared", "--json", "SELECT run, count(*) AS n FROM cells GROUP BY ALL").json
    assert rows == [{"run": run, "n": listed["total"], "simulated": True}]
    assert "throughput" in bench("query", "--from", "shared", "SELECT DISTINCT quantity FROM series").out
    kept = bench("gc", "--from", "shared", "--older-than", "90d")
    assert kept.out == "would be removed: 0 runs, 0 earlier revisions, 0 objects (0 B)\nkept: 1 run\n"


def test_a_signed_run_is_verified_here_and_where_it_was_pulled(bench: Bench) -> None:
    run_dir, key = run_of(bench), bench.folder / "key"
    subprocess.run([system_tool("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (bench.folder / "signers").write_text(f"lab@example.org {key.with_suffix('.pub').read_text()}")
    unsigned = bench("verify", run_dir, "--allowed-signers", "signers")
    assert unsigned.code == 1
    assert "the run is not signed" in unsigned.err

    assert bench("push", run_dir, "--to", "shared", "--sign", "key").code == 0
    assert bench("pull", run_dir.name, "--from", "shared", "--out", "pulled").code == 0
    for run in (run_dir, bench.folder / "pulled" / run_dir.name):
        done = bench("verify", run, "--allowed-signers", "signers")
        assert done.code == 0, done.text
        assert "signed by lab@example.org (ED25519 key SHA256:" in done.out
        assert done.out.endswith(": as it was signed\n")
    page = next((run_dir / "reports").glob("*.html"))
    page.write_text(page.read_text().replace("</title>", " </title>"))
    done = bench("verify", run_dir, "--allowed-signers", "signers", "--json")
    assert done.code == 1
    assert done.json["signed"]["verdict"]["state"] == "holds"
    assert done.json["signed"]["differing"][0].startswith(f"reports/{page.name} is not what was signed")


def test_a_store_that_is_away_fails_no_run_and_gets_the_push_later(bench: Bench) -> None:
    away = settings(f"http://127.0.0.1:{free_port()}") | {"AWS_MAX_ATTEMPTS": "1"}
    shutil.rmtree(bench.folder / "bench-out")
    done = bench("run", "brief.bench", "--simulate", "--quiet", "--no-report", "--push", "s3://lab/x", env=away)
    assert done.code == 0, done.text
    assert "warning not pushed: s3://lab/x can't be reached" in done.out
    assert CREDENTIALS["AWS_SECRET_ACCESS_KEY"] not in done.text
    queue = run_of(bench) / "pushed" / "queue.json"
    assert json.loads(queue.read_text()) == [{"url": "s3://lab/x", "tags": [], "key": ""}]

    failed = bench("push", "--queued", env=away)
    assert failed.code == 2
    assert "tried again by: bench push --queued, or forgotten by: bench push --forget s3://lab/x" in failed.err
    queue.write_text(queue.read_text().replace("s3://lab/x", f"{bench.folder}/shared"))
    assert bench("push", "--queued").code == 0
    assert not queue.exists()
    assert bench("push", "--queued").out == "no push waits\n"
    assert len(bench("runs", "--from", "shared", "--json").json) == 1


@pytest.mark.long
def test_a_run_without_an_end_is_pushed_with_a_warning(bench: Bench) -> None:
    journal = run_of(bench) / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    last = next(number for number, line in enumerate(lines) if '"run_ended"' in line)
    journal.write_text("".join(lines[:last]))
    done = bench("push", "simulated", "--to", "shared")
    assert done.code == 0, done.text
    assert f"warning: {run_of(bench).name} is not finished (interrupted): what it has so far is pushed" in done.err
    assert "in shared, pushed" in done.out


def test_a_run_that_still_runs_is_refused_without_a_word_of_a_push(bench: Bench) -> None:
    with closing(Journal(run_of(bench))):
        done = bench("push", "simulated", "--to", "shared")
    assert (done.code, done.out) == (2, "")
    assert f"error: {run_of(bench).name} still runs" in done.err
    assert "pushed" not in done.err


@pytest.mark.long
def test_a_push_to_a_mistyped_address_is_forgotten(bench: Bench) -> None:
    enqueue(run_of(bench), QueuedPush("s3://lba/x"))
    enqueue(run_of(bench), QueuedPush(f"{bench.folder}/shared"))
    wrong = bench("push", "--forget", "s3://lab/x")
    assert (wrong.code, "no push to s3://lab/x waits" in wrong.err) == (2, True)
    assert "s3://lba/x" in wrong.err
    assert (
        bench("push", "--forget", "s3://lba/x").out == f"{run_of(bench).name}: is not pushed to s3://lba/x any more\n"
    )
    enqueue(run_of(bench), QueuedPush("s3://lba/y"))
    assert bench("push", "--forget", "s3://lba/y", run_of(bench).resolve()).code == 0, "by the folder of the run"
    assert [each["to"] for each in bench("push", "--queued", "--json").json] == [f"{bench.folder}/shared"]


@pytest.mark.long
def test_the_store_of_the_environment_is_pushed_to(bench: Bench) -> None:
    shutil.rmtree(bench.folder / "bench-out")
    env = {"BENCHBRIEF_STORE": f"{bench.folder}/shared"}
    assert bench("run", "brief.bench", "--simulate", "--quiet", "--no-report", env=env).code == 0
    assert [each["run"] for each in bench("runs", "--from", "shared", "--json").json] == [run_of(bench).name]
    assert bench("pull", run_of(bench).name, "--out", "pulled", env=env).code == 0


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (("push", "simulated"), 2, "the store is not named"),
        *longer(
            (("push", "simulated", "file:///srv/bench"), 2, "name the store with --to URL"),
            (("push", "s3://bucket/nightly"), 2, "name the store with --to URL"),
        ),
        (("pull", "x"), 2, "the store is not named"),
        (("push", "simulated", "--to", "ftp://x/y"), 2, "is of no known kind"),
        (("push", "simulated", "--to", "shared", "--tag", "two words"), 2, "can't be a tag"),
        *longer((("push", "simulated", "--to", "shared", "--sign", "none"), 2, "there is no key")),
        (("push", "--forget", "s3://lab/x"), 2, "no push waits in bench-out at all"),
        (("push", "--forget", "s3://lab/x", "--queued"), 2, "--forget pushes nothing"),
        (("push", "--queued", "--tag", "x"), 2, "leave out RUN, --tag and --sign"),
        (("pull", "2026", "--from", "none"), 2, "none is not there"),
        (("gc", "--from", "none"), 2, "is no store of benchbrief"),
        (("gc", "--from", "none", "--grace", "1h"), 2, "a grace period of 1 h"),
        (("query", "--from", "none", "FROM cells"), 2, "none is not there"),
        (("query", "--from", "none", "FROM nothing"), 2, "none is not there"),
        (("runs", "--from", "none"), 2, "none is not there"),
        (("runs", "--from", "brief.bench"), 2, "brief.bench is a file, and a store is a folder"),
        (("query", "--all", "FROM cells"), 2, "say --from too"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else None,
)
def test_a_mistake_is_reported_in_a_line(bench: Bench, words: tuple[str, ...], code: int, what: str) -> None:
    done = bench(*words)
    assert done.code == code, done.text
    assert what in done.err
