"""Tests that another package's probe, installed beside benchbrief, works wherever ours do."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.specs import ONE_FOLDER
from tests.extensions.installed import bench
from tests.support.environment import Environment
from tests.support.lsp import Client
from tests.support.tools import system_tool

REPORTS = """\
report english "Entropy" {
  text = "There were {mean(entropy.available over time, hardware, workload, threads):,.0f} bits."
  table "Samples" { rows = hardware  column "Bits" = mean(entropy.available over time, workload, threads) }
  figure "Entropy over time" { line = entropy.available by time }
  figure "The pool over time" { line = entropy.pool by time }
}
report japanese "エントロピー" {
  language = ja
  figure "推移" { line = entropy.available by time }
  figure "大きさ" { line = entropy.pool by time }
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("specs")


@pytest.fixture(scope="module")
def spec(folder: Path) -> Path:
    system_tool("db_bench")
    text = ONE_FOLDER.replace("[1, 2]", "[1]").replace("cpu every 200 ms", "cpu every 200 ms, entropy every 200 ms")
    text = text.replace("measure   = 1 s", "measure = 2 s") + REPORTS
    text = text.replace("@TOOL@", "db_bench").replace("@DATA@", str(folder / "data"))
    path = folder / "entropy.bench"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def run(installed: Environment, spec: Path) -> subprocess.CompletedProcess[str]:
    return bench(installed, spec.parent, "run", str(spec))


def test_the_spec_is_right_but_for_the_words_that_a_language_lacks(installed: Environment, spec: Path) -> None:
    """The only finding is W0212: a word is missing in a language."""
    done = bench(installed, spec.parent, "check", str(spec), "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = json.loads(done.stdout)
    assert [(each["code"], each["summary"]) for each in found["diagnostics"]] == [
        (
            "W0212",
            (
                "the probe `entropy` of bench-entropy 0.3.1 has no words in `ja` for `entropy.pool`: "
                "they will be in English"
            ),
        )
    ]


def test_a_broken_package_is_named_to_who_uses_it(installed: Environment, spec: Path) -> None:
    path = spec.with_name("broken.bench")
    path.write_text(spec.read_text().replace("cpu every", "broken every"))
    done = bench(installed, spec.parent, "check", str(path))
    assert done.returncode != 0
    assert "error[E0212]: the probe `broken` of bench-broken 9 can't be used" in done.stdout + done.stderr
    assert "RuntimeError: it is broken" in done.stdout + done.stderr


def test_the_extensions_are_listed_with_what_is_broken(installed: Environment, folder: Path) -> None:
    done = bench(installed, folder, "extensions", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[tuple[str, str], dict[str, Any]] = {
        (each["kind"], each["name"]): each for each in json.loads(done.stdout)
    }
    assert {("engine", "rocksdb"), ("tool", "db_bench"), ("probe", "cpu")} <= set(found)
    entropy = found["probe", "entropy"]
    assert (entropy["package"], entropy["version"], entropy["problem"]) == ("bench-entropy", "0.3.1", "")
    assert "it is broken" in found["probe", "broken"]["problem"]
    assert found["probe", "broken"]["hint"]
    assert found["meter", "unfinished"]["past"] == ["benchbrief.runners.meters.meter_base"]
    assert (entropy["past"], found["engine", "sqlite"]["past"]) == ([], [])
    # Other tests install a broken transport into the same environment.
    problems = {name for (_, name), each in found.items() if each["problem"]}
    assert problems - {"torn"} == {"broken", "unfinished"}
    shown = bench(installed, folder, "extensions").stdout
    assert re.search(r"^broken +probe +broken +bench-broken 9$", shown, re.MULTILINE)
    assert "it imports benchbrief.runners.meters.meter_base, which any version of benchbrief may change" in shown


def test_a_real_run_keeps_its_samples_and_the_plan_its_version(
    installed: Environment, run: subprocess.CompletedProcess[str], spec: Path
) -> None:
    assert run.returncode == 0, run.stdout + run.stderr
    sql = "SELECT measure, count(*) AS n, min(value) AS low, max(value) AS high FROM samples"
    sql += " WHERE measure LIKE 'entropy%' GROUP BY 1 ORDER BY 1"
    done = bench(installed, spec.parent, "query", "--json", sql)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row["measure"] for row in rows] == ["entropy.available", "entropy.pool"]
    assert all(row["n"] >= 5 and 0 < row["low"] <= row["high"] <= 4096 for row in rows), rows
    (plan,) = spec.parent.glob("**/plan.json")
    (cell,) = json.loads(plan.read_text())["cells"]
    packages = {probe["name"]: probe["package"].split("+")[0] for probe in cell["probes"]}
    assert packages == {"cpu": "", "entropy": "bench-entropy 0.3.1"}


def test_its_measures_have_their_names_in_briefs_of_both_languages(
    run: subprocess.CompletedProcess[str], spec: Path
) -> None:
    assert run.returncode == 0, run.stdout + run.stderr
    pages = [path.read_text(encoding="utf-8") for path in spec.parent.rglob("*.html")]
    english, japanese = ("".join(page for page in pages if f'lang="{code}"' in page) for code in ("en", "ja"))
    assert "Available entropy" in english
    assert "Size of the entropy pool" in english
    assert "利用可能なエントロピー" in japanese
    assert "Available entropy" not in japanese
    assert "Size of the entropy pool" in japanese


@pytest.mark.long
def test_a_simulated_run_has_its_samples_too(installed: Environment, spec: Path) -> None:
    folder = spec.parent / "simulated"
    folder.mkdir()
    done = bench(installed, folder, "run", str(spec), "--simulate", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    sql = "SELECT DISTINCT measure FROM samples WHERE measure LIKE 'entropy%'"
    (run,) = folder.glob("bench-out/*-simulated")
    done = bench(installed, folder, "query", "--run", run.name, "--json", sql)
    assert done.returncode == 0, done.stderr
    assert [row["measure"] for row in json.loads(done.stdout)] == ["entropy.available"]


def test_an_editor_offers_it_and_says_what_it_is(client: Client, spec: Path) -> None:
    text = spec.read_text()
    uri = client.open("typed.bench", text)
    assert [each["code"] for each in client.diagnostics(uri)] == ["W0212"]
    line = next(number for number, each in enumerate(text.splitlines()) if "probes" in each)
    at = text.splitlines()[line].index("entropy")
    offered = client.at("completion", uri, line, at)["items"]
    assert {"entropy", "broken", "cpu"} <= {item["label"] for item in offered}
    assert "How much entropy the kernel has" in client.at("hover", uri, line, at + 2)["contents"]["value"]
    line = next(number for number, each in enumerate(text.splitlines()) if "line = entropy.available" in each)
    at = text.splitlines()[line].index("entropy.") + len("entropy.")
    members = client.at("completion", uri, line, at)["items"]
    assert {"available", "pool"} <= {item["label"] for item in members}
    assert "Bits of entropy" in client.at("hover", uri, line, at + 2)["contents"]["value"]
