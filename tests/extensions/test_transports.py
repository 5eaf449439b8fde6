"""Tests that another package's transport runs a whole spec in network namespaces made by the test."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.compiler.registry import TRANSPORT_SPECS
from benchbrief.model.extension_spec import TransportSpec
from benchbrief.model.plan import Plan
from tests.extensions.installed import bench
from tests.support.environment import Environment
from tests.support.tools import system_tool

SPEC = """\
hardware box { hosts = "@HOST@" }
database disk { engine = raw_storage  path = "@DATA@"  size = 8 MiB }
workload reads from fio.randread { direct = false }
experiment short { hardware = box  workloads = reads  threads = 2  measure = 1 s  probes = [network every 200 ms] }
report brief "Inside" { table "Reads" { rows = threads  columns = throughput }  disclosure = automatic }
"""


@pytest.fixture
def namespace() -> Iterator[str]:
    name = f"bench-{os.getpid()}"
    ip = system_tool("ip")
    made = subprocess.run([ip, "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no network namespace can be made here: {made.stderr.strip()}")
    yield name
    subprocess.run([ip, "netns", "delete", name], check=True)


def write(folder: Path, host: str, name: str = "brief.bench") -> None:
    (folder / name).write_text(SPEC.replace("@HOST@", host).replace("@DATA@", str(folder / "data")))


@pytest.mark.parametrize("name", TRANSPORT_SPECS.own)
def test_each_of_our_own_transports_is_right(name: str) -> None:
    assert TRANSPORT_SPECS.own[name].mistake(name, own=True) == ""


def test_what_is_wrong_with_a_spec_is_said() -> None:
    given = {"api": 3, "name": "x", "doc": "A place.", "implementation": "a:B"}
    assert "`address` with `address_is`" in TransportSpec(**given, label="x").mistake("x")  # type: ignore[arg-type]
    odd = TransportSpec(**given, label="x", address="(", address_is="a name")  # type: ignore[arg-type]
    assert "no regular expression" in odd.mistake("x")


def test_a_spec_runs_inside_and_its_plan_records_the_package(
    installed: Environment, tmp_path: Path, namespace: str
) -> None:
    system_tool("fio")
    write(tmp_path, f"netns://{namespace}")
    done = bench(installed, tmp_path, "doctor", "brief.bench")
    assert done.returncode == 0, done.stdout + done.stderr
    done = bench(installed, tmp_path, "run", "brief.bench")
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = tmp_path.glob("bench-out/*/plan.json")
    plan = Plan.model_validate_json(path.read_text())
    assert plan.extensions["transport netns"].startswith("bench-netns 0.4.0+")
    (host,) = plan.hosts.values()
    assert (host.id, host.transport, host.name) == (f"netns:{namespace}", "netns", namespace)
    sql = "SELECT DISTINCT node, device FROM samples WHERE measure LIKE 'network.%' AND value > 0"
    assert json.loads(bench(installed, tmp_path, "query", "--json", sql).stdout) == [], "the namespace has no device"
    sql = "SELECT ops_per_s AS rate FROM throughput WHERE operation = 'all'"
    (row,) = json.loads(bench(installed, tmp_path, "query", "--json", sql).stdout)
    assert row["rate"] > 0
    pages = [page.read_text(encoding="utf-8") for page in tmp_path.glob("bench-out/*/reports/*.html")]
    assert any(f"netns {namespace}" in page for page in pages)


@pytest.mark.long
def test_its_commands_run_in_the_namespace(installed: Environment, tmp_path: Path, namespace: str) -> None:
    write(tmp_path, f"netns://{namespace}")
    text = (
        (tmp_path / "brief.bench")
        .read_text()
        .replace("size = 8 MiB", 'size = 8 MiB  prepare = command("ip netns identify $$ > inside")')
    )
    (tmp_path / "brief.bench").write_text(text.replace("> inside", f"> {tmp_path}/inside"))
    done = bench(installed, tmp_path, "run", "brief.bench", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "inside").read_text().strip() == namespace


def test_a_host_that_no_transport_reaches_is_refused(installed: Environment, tmp_path: Path) -> None:
    refused = {
        "netns://a b": ("`a b` is not the name of a network namespace",),
        "netnz://blue": ("no transport is called `netnz`", "did you mean `netns`?"),
        "ssh://blue": ("a host over SSH is written without a scheme",),
        "broken://blue": ("the transport `broken` of bench-broken 9 can't be used",),
    }
    names = [f"{number}.bench" for number in range(len(refused))]
    for name, host in zip(names, refused, strict=True):
        write(tmp_path, host, name)
    done = bench(installed, tmp_path, "check", *names, "--format", "json")
    assert done.returncode == 1
    for of_file, (host, texts) in zip(json.loads(done.stdout), refused.items(), strict=True):
        said = " ".join(f"{each['summary']} {each['help']}" for each in of_file["diagnostics"])
        assert all(text in said for text in texts), (host, said)


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("netns://not-there", "Cannot open network namespace"),
        ("torn://blue", "the transport `torn` of bench-netns 0.4.0 can't be used"),
    ],
)
def test_one_that_can_t_be_entered_or_is_broken_is_one_message(
    installed: Environment, tmp_path: Path, host: str, said: str
) -> None:
    write(tmp_path, host)
    done = bench(installed, tmp_path, "run", "brief.bench")
    assert done.returncode != 0
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.long
def test_bench_extensions_lists_them(installed: Environment, tmp_path: Path) -> None:
    found = json.loads(bench(installed, tmp_path, "extensions", "--json").stdout)
    listed = {(each["kind"], each["name"]): each["package"] for each in found if each["kind"] == "transport"}
    assert listed["transport", "netns"] == "bench-netns"
    assert {name for _, name in listed} >= {"local", "ssh", "netns", "torn"}
    problems = {each["name"]: each["problem"] for each in found if each["kind"] == "transport"}
    assert (problems["local"], problems["ssh"], problems["netns"]) == ("", "", "")
    assert "is not below JobTransport" in problems["torn"]
