"""Tests PostgreSQL and pgbench, from a separate package, with a real server and a real standby."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.extensions.installed import bench, scratch
from tests.extensions.postgres_specs import small, written
from tests.support.environment import REPOSITORY, Environment
from tests.support.lsp import Client
from tests.support.postgres import PASSWORD, Postgres, as_owner
from tests.support.sshd import Sshd, sshd
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def _login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PG_PASSWORD", PASSWORD)


@pytest.fixture(scope="module")
def run(
    installed: Environment, postgres_server: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> subprocess.CompletedProcess[str]:
    """Make a complete run on this machine. `args` of the result is the run's folder."""
    folder = tmp_path_factory.mktemp("shop")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PG_PASSWORD", PASSWORD)
        done = bench(installed, folder, "run", str(written(folder, postgres_server)))
    done.args = folder
    return done


def asked(installed: Environment, folder: Path, sql: str, *words: str) -> list[dict[str, Any]]:
    done = bench(installed, folder, "query", *words, "--json", sql)
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


# --- before a run ----------------------------------------------------------------------------------------------------


def test_the_spec_is_right_and_planned(installed: Environment, postgres_server: Postgres, tmp_path: Path) -> None:
    spec = str(written(tmp_path, postgres_server))
    done = bench(installed, tmp_path, "check", spec)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = " ".join(bench(installed, tmp_path, "plan", spec).stdout.split())
    assert "pgbench.select_only, 100,000 records, scale 1, protocol prepared" in shown
    plan = json.loads(bench(installed, tmp_path, "plan", "--json", spec).stdout)
    assert {cell["tool"]["package"].split("+")[0] for cell in plan["cells"]} == {"bench-postgres 0.2.0"}
    assert plan["workloads"]["orders"]["files"]["file"].startswith("\\set aid random")
    assert {cell["dataset"]["records"] for cell in plan["cells"]} == {100_000}
    assert PASSWORD not in json.dumps(plan)


def test_the_example_is_right_and_a_profile_overrides_attributes_of_the_package(
    installed: Environment, tmp_path: Path
) -> None:
    example = REPOSITORY / "examples" / "extensions" / "postgres"
    done = bench(installed, tmp_path, "check", str(example / "postgres.bench"))
    assert done.returncode == 0, done.stdout + done.stderr
    plan = bench(installed, tmp_path, "plan", "--json", "--profile", "smoke", str(example / "postgres.bench"))
    found = json.loads(plan.stdout)
    assert {workload["properties"]["scale"] for workload in found["workloads"].values()} == {1.0}
    assert {cell["dataset"]["records"] for cell in found["cells"]} == {100_000}


def test_other_sql_is_another_cell_on_the_same_data(
    installed: Environment, postgres_server: Postgres, tmp_path: Path
) -> None:
    def cells() -> list[tuple[str, str]]:
        plan = json.loads(bench(installed, tmp_path, "plan", "--json", str(spec)).stdout)
        return [(cell["hash"], cell["dataset"]["hash"]) for cell in plan["cells"]]

    spec = small(tmp_path, postgres_server)
    [(before, data)] = cells()
    (tmp_path / "orders.sql").write_text("SELECT 1;\n")
    [(after, same)] = cells()
    assert before != after
    assert data == same


MISTAKES = [
    ("checkpoint = true", "chekpoint = true", "did you mean `checkpoint`?"),
    ("protocol = prepared", "protocol = binary", "`protocol` can't be `binary`"),
    ("pgbench.select_only", "pgbench.select_onyl", "did you mean `select_only`?"),
    ("warm_up   = 1 s", "warm_up   = 500 ms", "pgbench"),
    ('file = "orders.sql"', 'file = "order.sql"', "the file `order.sql` can't be read: no such file"),
    ('{ file = "orders.sql" }', "", "workload `orders` has no `file`"),
    ("pgbench.select_only { protocol = prepared }", 'pgbench.select_only { file = "orders.sql" }', "`file` is for"),
    ("postgresql every 250 ms", "postgresq every 250 ms", "did you mean `postgresql`?"),
    ("postgresql.wal[ramp]", "postgresql.wall[ramp]", "did you mean `postgresql.wal`?"),
    ("postgresql://", "mongodb://", "not a PostgreSQL address"),
    ("postgresql every 250 ms", "database every 1 s", "`database`"),
]


def test_what_is_wrong_is_found_by_the_tables_of_the_package(
    installed: Environment, postgres_server: Postgres, tmp_path: Path
) -> None:
    right = written(tmp_path, postgres_server).read_text()
    for number, (old, new, _) in enumerate(MISTAKES):
        assert old in right
        (tmp_path / f"{number}.bench").write_text(right.replace(old, new))
    names = [f"{number}.bench" for number in range(len(MISTAKES))]
    found = json.loads(bench(installed, tmp_path, "check", *names, "--format", "json").stdout)
    for (_, new, message), of_file in zip(MISTAKES, found, strict=True):
        said = " ".join(f"{each['summary']} {each['help']}" for each in of_file["diagnostics"])
        assert message in said, (new, said)


def test_an_editor_offers_them_and_says_what_they_are(
    client: Client, postgres_server: Postgres, tmp_path: Path
) -> None:
    text = written(tmp_path, postgres_server).read_text()
    uri = client.open("shop.bench", text)

    def at(words: str, into: int = 0) -> tuple[int, int]:
        line = next(number for number, each in enumerate(text.splitlines()) if words in each)
        return line, text.splitlines()[line].index(words) + into

    def offered(words: str, into: int) -> set[str]:
        return {item["label"] for item in client.at("completion", uri, *at(words, into))["items"]}

    assert {"postgresql", "mongodb"} <= offered("postgresql\n".strip(), 0)
    assert {"tpcb", "simple_update", "select_only", "sql"} <= offered("pgbench.select", len("pgbench."))
    assert {"wal", "lag_bytes", "buffer_hits"} <= offered("postgresql.wal", len("postgresql."))
    assert "checkpoint is made" in client.at("hover", uri, *at("checkpoint", 2))["contents"]["value"]
    assert "prepared statements" in client.at("hover", uri, *at("protocol", 2))["contents"]["value"]


@pytest.mark.long
def test_the_doctor_reaches_the_server_and_counts_its_connections(
    installed: Environment, postgres_server: Postgres, tmp_path: Path
) -> None:
    spec = written(tmp_path, postgres_server)
    done = bench(installed, tmp_path, "doctor", str(spec))
    assert re.search(r"ok +local +pgbench +15\.", done.stdout), done.stdout
    assert re.search(r"ok +box +database shop +PostgreSQL 15\.", done.stdout), done.stdout
    spec.write_text(spec.read_text().replace("threads   = 2", "threads   = 40"))
    done = bench(installed, tmp_path, "doctor", str(spec))
    assert done.returncode != 0
    message = " ".join(done.stdout.split())
    wanted = r"has \d+ connections left for this role, and 40 threads need one each, psql another one"
    assert re.search(wanted, message), message


@pytest.mark.long
def test_a_server_that_refuses_or_is_a_standby_is_named_without_the_password(
    installed: Environment,
    postgres_server: Postgres,
    postgres_standby: Postgres,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = small(tmp_path, postgres_server)
    monkeypatch.setenv("PG_PASSWORD", "another-word")
    done = bench(installed, tmp_path, "run", str(spec))
    said = " ".join((done.stdout + done.stderr).split())
    assert "password authentication failed" in said
    assert "another-word" not in said
    monkeypatch.setenv("PG_PASSWORD", PASSWORD)
    spec.write_text(spec.read_text().replace('version    = "15"', 'version    = "14"'))
    said = " ".join(bench(installed, tmp_path, "doctor", str(spec)).stdout.split())
    assert re.search(r"is version 15\.\S+ .*, and the spec asks for 14", said), said
    done = bench(installed, tmp_path, "run", str(small(tmp_path, postgres_standby)))
    assert done.returncode != 0
    said = " ".join((done.stdout + done.stderr).split())
    assert "the server of database shop is a standby, which can't be written to" in said
    assert re.search(r"name the primary \(\S*shop\.bench:\d", said), said
    assert PASSWORD not in said
    assert quote(PASSWORD, safe="") not in said


# --- a run -----------------------------------------------------------------------------------------------------------


def test_a_run_measures_transactions_and_counts_each_latency(
    installed: Environment, run: subprocess.CompletedProcess[str]
) -> None:
    assert run.returncode == 0, run.stdout + run.stderr
    folder = Path(run.args)
    sql = "SELECT experiment, workload, value FROM measure.throughput WHERE phase IS NULL AND operation = 'all'"
    rates = {(row["experiment"], row["workload"]): row["value"] for row in asked(installed, folder, sql)}
    assert set(rates) == {("ramp", "reads"), ("ramp", "orders"), ("offered", "reads")}
    assert rates["ramp", "reads"] > rates["ramp", "orders"] > 50
    assert 400 < rates["offered", "reads"] < 600
    for summary in folder.glob("bench-out/*/raw/*/*/measure-local/stdout"):
        done = int(re.findall(r"actually processed: (\d+)", summary.read_text())[0])
        (whole,) = re.findall(r"^whole (\d+)", (summary.parent / "transactions").read_text(), re.MULTILINE)
        assert int(whole) == done


def test_an_offered_load_has_both_kinds_of_latency_and_its_schedule_lag(
    installed: Environment, run: subprocess.CompletedProcess[str]
) -> None:
    sql = "SELECT kind, value_s FROM latency WHERE statistic = 'mean' AND experiment = 'offered' AND phase IS NULL"
    means = {row["kind"]: row["value_s"] for row in asked(installed, Path(run.args), sql)}
    assert set(means) == {"service", "intended"}
    sql = "SELECT value FROM samples WHERE measure = 'pgbench.schedule_lag' AND value IS NOT NULL"
    assert min(row["value"] for row in asked(installed, Path(run.args), sql)) > 0
    (folded,) = Path(run.args).glob("bench-out/*/raw/offered*/*/measure-local/transactions")
    seconds = re.findall(r"^second \d+ (\d+) (\d+)$", folded.read_text(), re.MULTILINE)
    lag_s = sum(int(lag) for _, lag in seconds) / sum(int(count) for count, _ in seconds) / 1e6
    assert means["intended"] - means["service"] == pytest.approx(lag_s, rel=0.02)


def test_the_probe_has_wal_and_the_lag_of_the_standby(
    installed: Environment, run: subprocess.CompletedProcess[str]
) -> None:
    sql = "SELECT cell_id, measure, max(value) AS most, count(*) AS n FROM samples WHERE measure LIKE 'postgresql%'"
    rows = asked(installed, Path(run.args), f"{sql} GROUP BY 1, 2")
    most = {(row["cell_id"].split("/")[2], row["measure"].partition(".")[2]): row["most"] for row in rows}
    assert most["orders", "wal"] > 10_000
    assert most["orders", "wal"] > 10 * most["reads", "wal"]
    assert 0.5 < most["reads", "buffer_hits"] <= 1
    assert most["orders", "commits"] > 50
    assert most["orders", "lag_bytes"] >= 0
    assert most["orders", "lag"] >= 0
    assert ("orders", "checkpoints_requested") in most
    assert all(row["n"] >= 4 for row in rows if row["measure"] in ("postgresql.wal", "postgresql.lag_bytes"))


def test_the_briefs_disclose_the_server_in_both_languages(run: subprocess.CompletedProcess[str]) -> None:
    pages = [path.read_text(encoding="utf-8") for path in Path(run.args).rglob("*.html")]
    english, japanese = ("".join(page for page in pages if f'lang="{code}"' in page) for code in ("en", "ja"))
    plain = " ".join(re.sub("<[^>]+>", " ", english).split())
    assert "streaming standbys: 1" in plain
    assert "shared_buffers = 16MB" in plain
    assert "runs with fsync = off: a crash can lose committed transactions" in plain
    assert "100,000 accounts, made by pgbench" in plain
    assert "the history is emptied once before each measurement, not by each pgbench" in plain
    assert "WAL written" in plain
    assert "ストリーミングスタンバイ1台" in japanese
    assert "fsync = off で動作しています" in japanese
    assert "100,000件の口座を作成" in japanese
    assert "計測ごとに1回だけ実行" in japanese
    assert "WAL 書き込み量" in japanese


def test_no_output_has_the_password(run: subprocess.CompletedProcess[str]) -> None:
    files = [path for path in Path(run.args).rglob("*") if path.is_file()]
    assert len(files) > 20
    forms = [PASSWORD, quote(PASSWORD, safe=""), quote(PASSWORD)]
    assert not [path for path in files for form in forms if form.encode() in path.read_bytes()]


@pytest.mark.long
def test_a_simulated_run_has_its_numbers_too(installed: Environment, postgres_server: Postgres, tmp_path: Path) -> None:
    done = bench(installed, tmp_path, "run", str(small(tmp_path, postgres_server)), "--simulate", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = tmp_path.glob("bench-out/*-simulated")
    rows = asked(installed, tmp_path, "SELECT DISTINCT measure FROM samples", "--run", run.name)
    assert {"postgresql.wal", "postgresql.buffer_hits"} <= {row["measure"] for row in rows}


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    with sshd() as server:
        monkeypatch.setenv("HOME", str(server.home))
        yield server


@pytest.mark.usefixtures("host")
@pytest.mark.long
def test_it_runs_over_ssh(installed: Environment, postgres_server: Postgres, tmp_path: Path) -> None:
    done = bench(installed, tmp_path, "run", str(small(tmp_path, postgres_server, '"box"')), "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = asked(installed, tmp_path, "SELECT DISTINCT measure FROM samples")
    assert {"postgresql.wal", "postgresql.commits"} <= {row["measure"] for row in rows}


@pytest.mark.long
def test_a_killed_run_goes_on_with_the_measurement_that_went_on(
    installed: Environment, postgres_server: Postgres, tmp_path: Path
) -> None:
    spec = small(tmp_path, postgres_server, measure="4 s")
    said = tmp_path / "said"
    with said.open("w") as output:
        began = subprocess.Popen(
            [str(installed.bin / "bench"), "run", str(spec), "--no-report"],
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(scratch(installed))},
            stdout=output,
            stderr=output,
        )

    def journal() -> list[dict[str, Any]]:
        text = "".join(path.read_text() for path in tmp_path.glob("bench-out/*/journal.jsonl"))
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    sql = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'UPDATE pgbench_accounts%'"
    until(lambda: began.poll() is not None or as_owner(postgres_server, sql) != "0", within_s=120)
    assert began.poll() is None, said.read_text()
    began.send_signal(signal.SIGKILL)
    began.wait(10)
    (folder,) = tmp_path.glob("bench-out/*/journal.jsonl")
    done = bench(installed, tmp_path, "resume", folder.parent.name, "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    started = [record for record in journal() if record["type"] == "step_started" and record["step"] == "measure"]
    assert [record["attempt"] for record in started] == [1], "it was measured again"


# --- what was measured elsewhere, and comparisons --------------------------------------------------------------------

IMPORTED = """\
hardware box { hosts = "db-1.lab" }
client load { hosts = "load.lab"  tool = pgbench }
database shop { engine = postgresql  uri = "postgresql://{hosts}/shop" }
workload reads from pgbench.select_only
experiment offered { hardware = box  workloads = reads  threads = 2  target = 100 ops/s  measure = 2 s }
report brief {
  table "Reads" { rows = workload  columns = [throughput, latency.p99[transaction]] }
  disclosure = automatic
}
"""
SAID = ("--title", "Lab", "--publisher", "Example Ltd", "--document", "book 12", "--licence", "internal")


@pytest.mark.long
def test_outputs_and_logs_are_imported_and_compared_with_a_run(installed: Environment, tmp_path: Path) -> None:
    (tmp_path / "brief.bench").write_text(IMPORTED)
    recorded = Path(__file__).parent / "pgbench"
    for path in recorded.glob("open*"):
        shutil.copy(path, tmp_path)
    names = sorted(path.name for path in tmp_path.glob("open*"))
    given = ("import", "pgbench", *names, "--spec", "brief.bench", "--cell", "target=100", *SAID, "--json")
    done = bench(installed, tmp_path, *given)
    assert done.returncode == 0, done.stdout + done.stderr
    run = json.loads(done.stdout)["run"]
    sql = "SELECT kind, value_s FROM latency WHERE statistic = 'mean' AND value_s IS NOT NULL AND phase IS NULL"
    means = {row["kind"]: round(1000 * row["value_s"], 3) for row in asked(installed, tmp_path, sql, "--run", run)}
    assert means == {"intended": 0.666, "service": 0.497}
    rendered = bench(installed, tmp_path, "report", run, "--html-only")
    assert rendered.returncode == 0, rendered.stderr
    simulated = bench(installed, tmp_path, "run", "brief.bench", "--simulate", "--no-report")
    assert simulated.returncode == 0, simulated.stdout + simulated.stderr
    (other,) = tmp_path.glob("bench-out/*-simulated")
    compared = bench(installed, tmp_path, "compare", run, other.name, "--mixed")
    assert "reads" in compared.stdout.lower(), compared.stdout + compared.stderr


def test_an_import_without_logs_has_the_mean_alone(installed: Environment, tmp_path: Path) -> None:
    (tmp_path / "brief.bench").write_text(IMPORTED)
    shutil.copy(Path(__file__).parent / "pgbench" / "open.txt", tmp_path)
    given = ("import", "pgbench", "open.txt", "--spec", "brief.bench", "--cell", "target=100", *SAID, "--json")
    done = bench(installed, tmp_path, *given)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "of latency the mean alone is known" in done.stdout + done.stderr
    text = (tmp_path / "open.txt").read_text()
    (tmp_path / "open.txt").write_text(text.replace("select only", "simple update"))
    done = bench(installed, tmp_path, *given)
    assert done.returncode == 2
    assert "it ran <builtin: simple update>, and workload reads is <builtin: select only>" in done.stderr
