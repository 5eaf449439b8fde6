"""Tests that tools are found in all possible places. A file that only has the name of a tool does not count as the
tool."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.extend import programs
from benchbrief.runners.errors import ToolMissing
from benchbrief.runners.hosts import tool_discovery
from benchbrief.runners.hosts.host_connections import open_transport
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.plugins import driver, find_stand_in
from benchbrief.runners.seams import Transport
from tests.support.cells import LOCAL
from tests.support.tools import built_tool, system_tool, tools_dir


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Transport]:
    """Yield this machine's transport, with an empty home and an empty working directory. None of our programs are on
    the PATH."""
    for name in ("home", "work", "bin"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("BENCHBRIEF_TOOLS", raising=False)
    monkeypatch.chdir(tmp_path / "work")
    opened = open_transport(LOCAL)
    yield opened
    opened.close()


def program(path: Path, text: str = "echo version 1.2.3") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_path_in_the_spec_is_the_only_one_looked_at(here: Transport, tmp_path: Path) -> None:
    program(tmp_path / "bin/db_bench")
    mine = program(tmp_path / "mine/db_bench", "echo db_bench version 9.9.0")
    assert tool_discovery.find(here, driver("db_bench"), str(mine)) == tool_discovery.FoundTool(str(mine), "9.9.0")
    assert tool_discovery.find(here, driver("db_bench"), str(mine.parent)).path == str(mine)
    with pytest.raises(ToolMissing, match=r"there is no such program in /nowhere/db_bench"):
        tool_discovery.find(here, driver("db_bench"), "/nowhere/db_bench")


def test_the_order_is_variable_then_working_directory_then_home_then_path(
    here: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = "rocksdb/bin/db_bench"
    on_path = program(tmp_path / "bin/db_bench")
    assert tool_discovery.find(here, driver("db_bench"), None).path == str(on_path)
    home = program(tmp_path / "home/.local/share/benchbrief/tools" / below)
    assert tool_discovery.find(here, driver("db_bench"), None).path == str(home)
    above = program(tmp_path / ".tools" / below)
    assert tool_discovery.find(here, driver("db_bench"), None).path == str(above)
    beside = program(tmp_path / "work/.tools" / below)
    assert tool_discovery.find(here, driver("db_bench"), None).path == str(beside)
    first = program(tmp_path / "first" / below)
    monkeypatch.setenv("BENCHBRIEF_TOOLS", f"{tmp_path / 'none'}:{tmp_path / 'first'}")
    assert tool_discovery.find(here, driver("db_bench"), None).path == str(first)


def test_a_folder_or_a_file_that_can_t_be_run_is_no_tool(here: Transport, tmp_path: Path) -> None:
    (tmp_path / "dir/db_bench").mkdir(parents=True)
    (tmp_path / "text").write_text("db_bench")
    for path in (tmp_path / "dir", tmp_path / "text"):
        with pytest.raises(ToolMissing):
            tool_discovery.find(here, driver("db_bench"), str(path))


def test_links_are_followed_to_the_tool_itself(here: Transport, tmp_path: Path) -> None:
    real = program(tmp_path / "opt/rocksdb-8/db_bench")
    (tmp_path / "bin/db_bench").symlink_to(real)
    assert tool_discovery.find(here, driver("db_bench"), None).path == str(real)


def test_a_tool_that_does_not_start_is_named_with_its_words(here: Transport, tmp_path: Path) -> None:
    broken = program(tmp_path / "db_bench", "echo 'librocksdb.so: cannot open shared object file' >&2; exit 127")
    with pytest.raises(ToolMissing, match=r"db_bench does not work on local: librocksdb\.so: cannot open"):
        tool_discovery.find(here, driver("db_bench"), str(broken))


def test_a_missing_tool_says_where_it_was_looked_for(here: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_discovery, "tool_dirs", lambda: ("/nowhere", "/elsewhere"))
    with pytest.raises(ToolMissing, match="there is no such program in /nowhere, /elsewhere, the PATH") as caught:
        tool_discovery.find(here, driver("ycsb"), None)
    assert "$BENCHBRIEF_TOOLS" in caught.value.hint


def test_a_name_in_the_spec_can_t_become_a_command(here: Transport, tmp_path: Path) -> None:
    with pytest.raises(ToolMissing):
        tool_discovery.find(here, driver("db_bench"), f"$(touch {tmp_path}/ran); touch {tmp_path}/ran; /x")
    assert not (tmp_path / "ran").exists()


# --- YCSB --------------------------------------------------------------------------------------------------------


def ycsb_home(at: Path, hdr: str = "2.2.2", binding: bool = True) -> Path:
    program(at / "bin/ycsb.sh")
    (at / "lib").mkdir()
    (at / "lib/core-0.17.0.jar").touch()
    (at / f"lib/HdrHistogram-{hdr}.jar").touch()
    if binding:
        (at / "mongodb-binding/lib").mkdir(parents=True)
        (at / "mongodb-binding/lib/mongodb-binding-0.17.0.jar").touch()
    return at


def with_java(tmp_path: Path, version: str) -> None:
    program(tmp_path / "bin/java", f"echo 'openjdk version \"{version}\" 2024-01-16' >&2")


def test_ycsb_s_version_is_its_core_jar_s(here: Transport, tmp_path: Path) -> None:
    with_java(tmp_path, "17.0.15")
    home = ycsb_home(tmp_path / "ycsb-0.17.0")
    assert tool_discovery.find(here, driver("ycsb"), str(home)) == tool_discovery.FoundTool(
        str(home / "bin/ycsb.sh"), "0.17.0"
    )


@pytest.mark.parametrize(
    ("hdr", "java", "works"),
    [
        ("2.1.4", "17.0.15", False),
        ("2.1.4", "11.0.2", False),
        ("2.1.4", "1.8.0_352", True),
        ("2.1.12", "17.0.15", True),
        ("2.2.2", "21", True),
    ],
)
def test_an_old_histogram_jar_is_found_before_it_costs_a_cell(
    here: Transport, tmp_path: Path, hdr: str, java: str, works: bool
) -> None:
    with_java(tmp_path, java)
    home = str(ycsb_home(tmp_path / "ycsb", hdr))
    if works:
        assert tool_discovery.find(here, driver("ycsb"), home).version == "0.17.0"
        return
    with pytest.raises(ToolMissing, match=r"HdrHistogram-2\.1\.4\.jar can't write histogram logs on Java") as caught:
        tool_discovery.find(here, driver("ycsb"), home)
    assert "HdrHistogram 2.2.2" in caught.value.hint


def test_a_source_checkout_of_ycsb_and_a_missing_binding_are_reported(here: Transport, tmp_path: Path) -> None:
    with_java(tmp_path, "17")
    program(tmp_path / "checkout/bin/ycsb.sh")
    with pytest.raises(ToolMissing, match="YCSB does not work on local") as caught:
        tool_discovery.find(here, driver("ycsb"), str(tmp_path / "checkout"))
    assert "is not laid out like a YCSB release" in caught.value.hint
    with pytest.raises(ToolMissing, match="YCSB's MongoDB binding does not work"):
        tool_discovery.find(here, driver("ycsb"), str(ycsb_home(tmp_path / "ycsb", binding=False)))


# --- the tools that are built ------------------------------------------------------------------------------------


def test_the_built_tools_are_found_from_the_source_checkout(here: Transport) -> None:
    built_tool("ycsb")
    built_tool("go-ycsb/bin/go-ycsb")
    system_tool("db_bench")
    found = {name: tool_discovery.find(here, driver(name), None) for name in ("ycsb", "go_ycsb", "db_bench")}
    assert found["ycsb"].path == str(tools_dir() / "ycsb/bin/ycsb.sh")
    assert found["ycsb"].version == "0.17.0"
    assert found["go_ycsb"].version == "1.0.1"
    assert found["db_bench"].version.count(".") == 2


def test_the_stand_in_is_found_or_the_error_says_how_to_make_it(
    here: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    built_tool("mongo-stand-in")
    assert find_stand_in("mongodb", here) == str(tools_dir() / "mongo-stand-in/bin/mongo-stand-in")
    monkeypatch.setattr(programs, "tool_dirs", lambda: ("/nowhere",))
    with pytest.raises(ToolMissing, match="embedded MongoDB server is not on local") as caught:
        find_stand_in("mongodb", here)
    assert "tools/setup.sh stand-in" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("openload", "`tools/setup.sh openload` in a checkout of benchbrief"),
        ("openload_rocksdb", "`tools/setup.sh openload` in a checkout of benchbrief"),
        ("ycsb", "`tools/setup.sh ycsb` in a checkout of benchbrief"),
        ("go_ycsb", "`tools/setup.sh go-ycsb` in a checkout of benchbrief"),
        ("db_bench", "`sudo apt-get install rocksdb-tools`"),
        ("fio", "`sudo apt-get install fio`"),
    ],
)
def test_the_error_of_a_missing_tool_has_the_command_that_installs_it(
    here: Transport, monkeypatch: pytest.MonkeyPatch, name: str, command: str
) -> None:
    monkeypatch.setattr(tool_discovery, "tool_dirs", lambda: ("/nowhere",))
    monkeypatch.setattr(tool_discovery, "find_first", lambda *_: None)
    with pytest.raises(ToolMissing) as caught:
        tool_discovery.find(here, driver(name), None)
    assert caught.value.hint.startswith(f"install it with {command}, or say where: `tool = {driver(name).name}(")


def test_checks_run_in_the_shell_of_the_host_alone(here: Transport) -> None:
    assert here.run(Command(("sh", "-c", "echo $BENCHBRIEF_TOOLS"))).stdout.strip() == ""


def test_the_digest_of_a_script_in_a_release_covers_the_jars_and_workloads_beside_it(
    here: Transport, tmp_path: Path
) -> None:
    script = program(tmp_path / "ycsb/bin/ycsb.sh")
    digests = [tool_discovery.digest(here, str(script))]
    for name in ("lib/core-0.17.0.jar", "mongodb-binding/lib/mongodb-binding-0.17.0.jar", "workloads/workloada"):
        (tmp_path / "ycsb" / name).parent.mkdir(parents=True)
        (tmp_path / "ycsb" / name).write_text(name)
        digests.append(tool_discovery.digest(here, str(script)))
    assert len(set(digests)) == 4
