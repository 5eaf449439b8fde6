"""Tests that another package's engine and load generator work wherever ours do, on this machine and over SSH."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extensions.installed import bench
from tests.support.environment import Environment
from tests.support.lsp import Client
from tests.support.sshd import Sshd, sshd

SPEC = """\
hardware box "This machine" { hosts = @HOST@ }
database lite "SQLite" {
  engine  = sqlite
  path    = "@DATA@"
  journal = delete
  options { cache = 2 MiB }
}
workload reads "Lookups" from sqlite_load.lookups { records = 500 }
workload both  "Mixed"   from sqlite_load.mixed { records = 500  read = 80 %  update = 20 % }

experiment ramp {
  hardware  = box
  workloads = [reads, both]
  threads   = 2
  measure   = 1 s
}
report english "SQLite" {
  text = "It did {max(throughput over hardware, workload):,.0f} operations."
  table "Latency" { rows = workload  column "p99 read" = latency.p99[read] }
  table "Own" {
    rows = workload
    column "Cores" = sqlite_load.cpu
    column "Slowest" = max(sqlite_load.slowest over time)
  }
  disclosure = automatic
}
report japanese "SQLite の測定" {
  language = ja
  table "設定" { rows = facts }
  figure "使用コア数" { bars = sqlite_load.cpu by workload }
  disclosure = automatic
}
"""


def written(folder: Path, host: str = "local", old: str = "", new: str = "", name: str = "lite.bench") -> Path:
    path = folder / name
    text = SPEC.replace("@HOST@", host).replace("@DATA@", str(folder / "data")).replace(old, new)
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def local(installed: Environment, tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    folder = tmp_path_factory.mktemp("local")
    done = bench(installed, folder, "run", str(written(folder)))
    done.args = folder
    return done


def test_the_spec_is_right(installed: Environment, tmp_path: Path) -> None:
    done = bench(installed, tmp_path, "check", str(written(tmp_path)))
    assert done.returncode == 0, done.stdout + done.stderr


MISTAKES = [
    ("journal = delete", "jurnal = delete", "did you mean `journal`?"),
    ("journal = delete", "journal = off", "`journal` can't be `off`"),
    ("cache = 2 MiB", "cash = 2 MiB", "did you mean `cache`?"),
    ("sqlite_load.mixed", "sqlite_load.mixd", "did you mean `mixed`?"),
    ("update = 20 %", "update = 30 %", "110 %"),
    ("sqlite_load.lookups {", "ycsb.c {", "SQLite is loaded by SQLite's load: `workload ... from sqlite_load.lookups`"),
    ("threads   = 2", "threads   = 2  target = 1k ops/s", "`sqlite_load` runs as fast as it can"),
    ("sqlite_load.cpu", "sqlite_load.cup", "did you mean `sqlite_load.cpu`?"),
    ("journal = delete", 'uri = "mongodb://a/b"', "`uri` is for mongodb, and this is sqlite"),
]


def test_what_is_wrong_is_found_by_the_tables_of_the_package(installed: Environment, tmp_path: Path) -> None:
    names = [str(written(tmp_path, old=old, new=new, name=f"{n}.bench")) for n, (old, new, _) in enumerate(MISTAKES)]
    done = bench(installed, tmp_path, "check", *names, "--format", "json")
    assert done.returncode == 1, done.stdout + done.stderr
    for (_, new, message), of_file in zip(MISTAKES, json.loads(done.stdout), strict=True):
        said = " ".join(f"{each['summary']} {each['help']} {each['label']}" for each in of_file["diagnostics"])
        assert message in said, (new, said)


def test_the_plan_says_what_would_run_and_names_the_packages(installed: Environment, tmp_path: Path) -> None:
    shown = " ".join(bench(installed, tmp_path, "plan", str(written(tmp_path))).stdout.split())
    assert "sqlite_load.mixed, 500 records of 100 B, rows of 100 B, read 80 %" in shown
    plan = json.loads(bench(installed, tmp_path, "plan", "--json", str(written(tmp_path))).stdout)
    assert {cell["tool"]["package"].split("+")[0] for cell in plan["cells"]} == {"bench-sqlite 0.4.0"}
    (database,) = plan["databases"].values()
    assert database["package"].startswith("bench-sqlite 0.4.0+")
    assert database["settings"] == {"journal": "delete"}
    assert database["options"] == {"cache_size": 2 * 1024 * 1024}
    assert plan["workloads"]["both"]["operations"] == ["read", "update"]


SQL = "SELECT workload, operation, value FROM measure.throughput WHERE phase IS NULL ORDER BY 1, 2"


def test_a_run_measures_each_operation(installed: Environment, local: subprocess.CompletedProcess[str]) -> None:
    assert local.returncode == 0, local.stdout + local.stderr
    rows = json.loads(bench(installed, Path(local.args), "query", "--json", SQL).stdout)
    assert [(row["workload"], row["operation"]) for row in rows] == [
        ("both", "all"),
        ("both", "read"),
        ("both", "update"),
        ("reads", "all"),
        ("reads", "read"),
    ]
    assert all(row["value"] > 0 for row in rows)


OWN = "SELECT measure, node, avg(value) AS value FROM measure.mean WHERE measure LIKE 'sqlite%' GROUP BY ALL ORDER BY 1"


def test_a_tool_tells_measures_of_its_own(installed: Environment, local: subprocess.CompletedProcess[str]) -> None:
    cpu, slowest = json.loads(bench(installed, Path(local.args), "query", "--json", OWN).stdout)
    assert (cpu["measure"], slowest["measure"]) == ("sqlite_load.cpu", "sqlite_load.slowest")
    assert 0 < cpu["value"] < 3
    assert 0 < slowest["value"] < 1.5
    pages = [path.read_text(encoding="utf-8") for path in Path(local.args).rglob("*.html")]
    assert any("負荷の使用コア数" in page for page in pages)


def test_the_briefs_say_how_the_data_came_to_be(local: subprocess.CompletedProcess[str]) -> None:
    pages = [path.read_text(encoding="utf-8") for path in Path(local.args).rglob("*.html")]
    english, japanese = ("".join(page for page in pages if f'lang="{code}"' in page) for code in ("en", "ja"))
    assert "500 rows, inserted in one transaction" in english
    assert "500行を一つのトランザクションで挿入" in japanese
    assert "Durability full" in english
    assert "rows found by: its key" in english
    assert "永続性 full" in japanese
    assert "行の検索方法：its key" in japanese


@pytest.mark.long
def test_a_simulated_run_has_its_operations_too(installed: Environment, tmp_path: Path) -> None:
    done = bench(installed, tmp_path, "run", str(written(tmp_path)), "--simulate", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = tmp_path.glob("bench-out/*-simulated")
    rows = json.loads(bench(installed, tmp_path, "query", "--run", run.name, "--json", SQL).stdout)
    assert {row["operation"] for row in rows} == {"all", "read", "update"}
    rows = json.loads(bench(installed, tmp_path, "query", "--run", run.name, "--json", OWN).stdout)
    assert [(row["measure"], row["value"]) for row in rows] == [("sqlite_load.cpu", 0.5), ("sqlite_load.slowest", None)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    with sshd() as server:
        monkeypatch.setenv("HOME", str(server.home))
        yield server


@pytest.mark.long
@pytest.mark.usefixtures("server")
def test_it_runs_over_ssh(installed: Environment, tmp_path: Path) -> None:
    done = bench(installed, tmp_path, "run", str(written(tmp_path, '"box"')), "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(bench(installed, tmp_path, "query", "--json", SQL).stdout)
    assert len(rows) == 5


@pytest.mark.long
def test_an_editor_offers_them_and_says_what_they_are(client: Client, tmp_path: Path) -> None:
    text = written(tmp_path).read_text()
    uri = client.open("typed.bench", text)
    (lacking,) = client.diagnostics(uri)
    assert lacking["code"] == "W0212"
    assert (
        "the tool `sqlite_load` of bench-sqlite 0.4.0 has no words in `ja` for `sqlite_load.mixed`"
        in lacking["message"]
    )

    def at(word: str, into: int) -> tuple[int, int]:
        line = next(number for number, each in enumerate(text.splitlines()) if word in each)
        return line, text.splitlines()[line].index(word) + into

    offered = {item["label"] for item in client.at("completion", uri, *at("sqlite\n".strip(), 0))["items"]}
    assert {"sqlite", "rocksdb"} <= offered
    offered = {
        item["label"] for item in client.at("completion", uri, *at("sqlite_load.", len("sqlite_load.")))["items"]
    }
    assert {"lookups", "mixed"} <= offered
    assert "one file" in client.at("hover", uri, *at("sqlite", 2))["contents"]["value"]
    assert "kept safe" in client.at("hover", uri, *at("journal", 2))["contents"]["value"]
    assert "The page cache." in client.at("hover", uri, *at("cache", 2))["contents"]["value"]
    assert "cores that the load used" in client.at("hover", uri, *at("sqlite_load.cpu", 13))["contents"]["value"]
    offered = {item["label"] for item in client.at("completion", uri, *at("sqlite_load.cpu", 12))["items"]}
    assert {"cpu", "slowest"} <= offered
    assert "size of a row" not in client.at("hover", uri, *at("records", 2))["contents"]["value"]
