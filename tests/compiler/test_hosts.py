from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.compiler import registry
from benchbrief.compiler.blocks.host_patterns import (
    MAX_HOSTS,
    HostLogin,
    HostPatternError,
    expand_hosts,
    parse_destination,
)
from benchbrief.compiler.compile import check, examine
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic

TRANSPORT = """
from benchbrief.extend.spec import TransportSpec
SPEC = TransportSpec(
    3, "inner", "A place.", "benchbrief.runners.transports.nested_transport:NestedTransport", label="inner",
    address="[a-z0-9-]+", address_is="a word",
)
"""


URI = """
hardware two {{ hosts = {hosts} }}
client load {{ hosts = local  tool = ycsb }}
database mongo {{ engine = mongodb  uri = "{uri}" }}
workload a from ycsb.a {{ records = 200 }}
experiment ramp {{ hardware = two  client = load  workloads = a  threads = 1  measure = 2 s }}
"""


@pytest.mark.parametrize(
    ("hosts", "uri", "filled"),
    [
        ('"fd00::1"', "mongodb://{hosts}/ycsb", "mongodb://[fd00::1]/ycsb"),
        ('"fd00::1"', "mongodb://{hosts}:27018/ycsb", "mongodb://[fd00::1]:27018/ycsb"),
        ('"fd00::1"', "mongodb://[{hosts}]:27018/ycsb", "mongodb://[fd00::1]:27018/ycsb"),
        ('["root@[fd00::1]:22", "db.lab"]', "mongodb://{hosts}/ycsb", "mongodb://[fd00::1],db.lab/ycsb"),
        ('"db.lab"', "mongodb://u:{secret(PW)}@[::1]:5,{hosts}/ycsb", "@[::1]:5,db.lab/ycsb"),
    ],
)
def test_an_ipv6_host_stands_in_brackets_in_a_uri(tmp_path: Path, hosts: str, uri: str, filled: str) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(URI.format(hosts=hosts, uri=uri))
    found = check(path)
    assert found.diagnostics == ()
    assert found.plan is not None
    (database,) = found.plan.databases.values()
    assert str(database.uri[-1]) == filled


@pytest.mark.parametrize("uri", ["mongodb://fd00::1/ycsb", "mongodb://u:{secret(PW)}@{hosts},fd00::1/ycsb?w=1"])
def test_a_written_ipv6_host_without_brackets_is_a_mistake(tmp_path: Path, uri: str) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(URI.format(hosts='"db.lab"', uri=uri))
    (found,) = check(path).diagnostics
    assert (found.code, found.summary) == ("E0412", "`uri` is an address whose IPv6 host `fd00::1` has no brackets")


@pytest.mark.parametrize(
    ("pattern", "hosts"),
    [
        ("db.lab", ["db.lab"]),
        ("eco-[1-3].lab", ["eco-1.lab", "eco-2.lab", "eco-3.lab"]),
        ("eco-[08-11]", ["eco-08", "eco-09", "eco-10", "eco-11"]),
        ("n[1,4-5]", ["n1", "n4", "n5"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("root@db-[1-2].lab:2222", ["root@db-1.lab:2222", "root@db-2.lab:2222"]),
        ("10.0.0.[7-8]", ["10.0.0.7", "10.0.0.8"]),
        ("bench@[fe80::1%eth0]:22", ["bench@[fe80::1%eth0]:22"]),
        ("[7-7]", ["7"]),
    ],
)
def test_a_pattern_names_its_hosts_in_order(pattern: str, hosts: list[str]) -> None:
    assert list(expand_hosts(pattern)) == hosts


@pytest.mark.parametrize(
    ("host", "there"),
    [
        ("db.lab", HostLogin("db.lab")),
        ("root@db.lab", HostLogin("db.lab", "root")),
        ("root@127.0.0.1:2222", HostLogin("127.0.0.1", "root", 2222)),
        ("[::1]:22", HostLogin("::1", None, 22)),
        ("::1", HostLogin("::1")),
    ],
)
def test_a_host_is_taken_apart(host: str, there: HostLogin) -> None:
    assert parse_destination(host) == there


@pytest.mark.parametrize(
    ("pattern", "wrong", "message"),
    [
        ("eco-[3-1]", "[3-1]", "the range runs from 3 down to 1"),
        ("eco-[a-c]", "[a-c]", "`[a-c]` is not a range of hosts"),
        ("eco-[1-", "eco-[1-", "`eco-[1-` is not a host name"),
        ("eco-[]", "[]", "`[]` is not a range of hosts"),
        ("db.lab:0", "0", "`0` is not a port"),
        ("db.lab:", "db.lab:", "the port is missing"),
        ("-oProxyCommand=x", "-oProxyCommand=x", "`-oProxyCommand=x` is not a host name"),
        ("a b", "a b", "`a b` is not a host name"),
        ("$(reboot)@db", "$(reboot)", "`$(reboot)` is not a user name"),
        ("db.lab\nrm", "db.lab\nrm", "`db.lab\nrm` is not a host name"),
    ],
)
def test_a_wrong_pattern_names_its_wrong_part(pattern: str, wrong: str, message: str) -> None:
    with pytest.raises(HostPatternError) as raised:
        expand_hosts(pattern)
    assert pattern[raised.value.start : raised.value.end] == wrong
    assert str(raised.value) == message


@pytest.mark.parametrize("pattern", ["n[1-1001]", "n[1-999999999999]", "n[1-100]m[1-100]r[1-999999999999]"])
def test_too_many_hosts_are_counted_not_made(pattern: str) -> None:
    with pytest.raises(HostPatternError, match="are more than the 1000"):
        expand_hosts(pattern)
    assert len(expand_hosts(f"n[1-{MAX_HOSTS}]")) == MAX_HOSTS


@pytest.fixture
def transport(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install another package's transport `inner` for a test."""
    registry.look_again()
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "inner_spec.py").write_text(TRANSPORT)
    info = tmp_path / "bench_inner-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bench-inner\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[benchbrief.specs.transports]\ninner = inner_spec:SPEC\n")
    yield
    sys.modules.pop("inner_spec", None)
    registry.look_again()


def errors(text: str, folder: Path) -> list[Diagnostic]:
    path = folder / "spec.bench"
    path.write_text(text)
    return [each for each in examine(path).diagnostics if each.code == "E0406"]


@pytest.mark.parametrize(
    ("hosts", "wrong", "message"),
    [
        ("inner://blue-[3-1]", "[3-1]", "the range runs from 3 down to 1"),
        ("inner://blue-[a-c]", "[a-c]", "`[a-c]` is not a range of hosts"),
        ("inner://blue-[1-2000]", "[1-2000]", "2,000 hosts are more than the 1000 that a group may have"),
        ("inner://Blue", "Blue", "`Blue` is not a word"),
        ("innen://blue", "innen", "no transport is called `innen`"),
    ],
)
@pytest.mark.usefixtures("transport")
def test_a_mistake_behind_a_scheme_is_underlined_alone(tmp_path: Path, hosts: str, wrong: str, message: str) -> None:
    (error,) = errors(f'hardware box {{ hosts = "{hosts}" }}\n', tmp_path)
    assert error.summary == message
    assert (error.span and error.span.text) == wrong


@pytest.mark.usefixtures("transport")
def test_hosts_behind_a_scheme_are_counted_with_the_others(tmp_path: Path) -> None:
    many = "".join(f'hardware h{i} {{ hosts = "inner://h{i}-[1-1000]" }}\n' for i in range(21))
    (error,) = errors(many, tmp_path)
    assert error.summary == "more than 20,000 hosts are named in all"
    assert (error.span and error.span.text) == "h20-[1-1000]"


@pytest.mark.parametrize(
    ("group", "variant", "control"), [("", "", False), ("true", "", True), ("true", "false", False), ("", "true", True)]
)
def test_hardware_is_a_control_by_its_own_word_or_by_that_of_its_group(
    group: str, variant: str, control: bool, tmp_path: Path
) -> None:
    of_group, own = (f"control = {each}" if each else "" for each in (group, variant))
    path = tmp_path / "a.bench"
    path.write_text(f"""
hardware lab {{ hosts = "a.lab"  {of_group}  variant one {{ path = "/one"  {own} }} }}
database rocks {{ engine = rocksdb  path = "{{path}}" }}
workload get from db_bench.readrandom {{ records = 10k }}
experiment ramp {{ hardware = lab.variants  workloads = [get]  threads = [1]  measure = 10 s }}
""")
    found = check(path)
    assert found.plan is not None
    assert found.plan.hardware["one"].control is control
    assert "control" not in found.plan.hardware["one"].facts
