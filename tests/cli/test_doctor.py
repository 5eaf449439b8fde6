"""Tests `bench doctor`: what is missing, and how to install it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from benchbrief.model.plan import Host
from benchbrief.runners.hosts.host_connections import open_transport
from benchbrief.runners.journal.run_identity import RunName
from tests.cli.specs import SMALL
from tests.faults.conftest import small_disk
from tests.support.bench import Bench
from tests.support.longer import longer
from tests.support.tools import built_tool, system_tool

__all__ = ["small_disk"]


STAND_IN = """\
hardware box { hosts = local }
client load { hosts = local  tool = openload }
database mongo { engine = mongodb  server = embedded  path = "@DATA@/one"  reset = as_needed }
workload a from ycsb.a { records = 1T }
experiment e { hardware = box  client = load  workloads = a  threads = 2  measure = 1 s }
"""


def test_this_machine_has_all_that_a_brief_and_the_tools_need(bench: Bench) -> None:
    system_tool("db_bench")
    built_tool("ycsb")
    built_tool("mongo-stand-in")
    built_tool("go-ycsb")
    done = bench("doctor")
    assert done.code == 0, done.out
    assert done.out.endswith("nothing is missing\n")
    for what in ("PDF writer", "charts", "store", "db_bench", "ycsb", "go_ycsb", "MongoDB stand-in"):
        assert any(line.startswith("ok") and what in line for line in done.out.splitlines()), what


@pytest.mark.long
def test_programs_that_a_host_lacks_are_named(bench: Bench) -> None:
    bench.spec(SMALL)
    (bench.folder / "bin").mkdir()
    for folder in map(Path, bench.env["PATH"].split(":")):
        for each in folder.iterdir() if folder.is_dir() else ():
            link = bench.folder / "bin" / each.name
            if each.name not in ("flock", "awk") and not link.is_symlink():
                link.symlink_to(each)
    done = bench("doctor", "brief.bench", env={"PATH": str(bench.folder / "bin")})
    assert done.code == 3
    assert re.search(r"^missing +local +programs +flock, awk can't be found in the PATH$", done.out, re.MULTILINE)
    assert "apt-get install coreutils findutils util-linux" in done.out


def test_findings_as_json(bench: Bench) -> None:
    findings = bench("doctor", "--json", env={"PATH": os.environ["PATH"]}).json
    assert {"host", "what", "ok", "detail", "hint", "ours", "needed"} == findings[0].keys()
    (tool,) = [each for each in findings if each["what"] == "db_bench"]
    assert tool["ok"]
    assert tool["detail"].endswith(f"at {system_tool('db_bench').resolve()}")


def test_a_spec_is_looked_at_with_its_hosts_tools_and_directories(bench: Bench) -> None:
    bench.spec(SMALL)
    done = bench("doctor", "brief.bench")
    assert done.code == 0, done.out
    lines = [line.split() for line in done.out.splitlines()]
    assert ["ok", "local", "reachable", "this", "machine"] in lines
    assert any(line[:3] == ["ok", "local", "db_bench"] for line in lines)
    folder = ["ok", "local", str(bench.folder / "data" / "one")]
    (data,) = [" ".join(line[3:]) for line in lines if line[:3] == folder]
    assert re.fullmatch(
        r"[\d.]+ [GT]iB free, a load needs about 64\.3 MiB \(226\.6 KiB of data, a quarter more for compactions, "
        r"and 64\.0 MiB to spare\)",
        data,
    )
    assert not (bench.folder / "data").exists(), "doctor changes nothing"


@pytest.mark.parametrize("path", ["/opt/no-such-tool", *longer("/etc/hostname")])
def test_a_missing_tool_is_named_with_the_way_to_get_it(bench: Bench, path: str) -> None:
    bench.spec(SMALL, TOOL=f'db_bench("{path}")')
    done = bench("doctor", "brief.bench")
    assert done.code == 3
    missing, hint = next(
        (line, done.out.splitlines()[index + 1])
        for index, line in enumerate(done.out.splitlines())
        if line.startswith("missing")
    )
    assert path in missing
    assert "install it" in hint
    assert "nothing is missing" not in done.out


@pytest.mark.long
def test_without_tools_on_the_path_each_missing_one_has_a_hint(bench: Bench) -> None:
    done = bench("doctor", "--json", env={"PATH": "/nowhere:/bin", "JAVA_HOME": "/nowhere"})
    missing = [each for each in done.json if not each["ok"]]
    assert done.code == (3 if any(each["needed"] for each in missing) else 0)
    assert all(each["hint"] for each in missing)


@pytest.mark.long
def test_a_tool_that_no_spec_asks_for_is_absent_and_no_failure_while_another_one_is_there(
    bench: Bench, tmp_path: Path
) -> None:
    only = tmp_path / "bin"
    only.mkdir()
    for program in Path("/usr/bin").iterdir():
        if not program.name.startswith("java"):
            (only / program.name).symlink_to(program)
    done = bench("doctor", env={"PATH": str(only), "JAVA_HOME": "/nowhere"})
    lines = [line.split()[:3] for line in done.out.splitlines()]
    assert ["absent", "local", "ycsb"] in lines
    assert ["ok", "local", "db_bench"] in lines
    assert not any(line[0] == "missing" for line in lines)
    assert done.out.splitlines()[-1] == "nothing is missing, unless a spec needs what is absent"
    assert done.code == 0


IN_PROC = ("/proc", "/proc/one can't be made")


@pytest.mark.parametrize(
    ("spec", "parent", "problem", "hint"),
    [
        (SMALL, "/etc/hostname", "can't be written", "the `path` of database rocks at brief.bench:6:1"),
        *longer(
            (
                SMALL,
                "/proc",
                "/proc/one can't be made",
                "name a new or empty directory as its `path` (brief.bench:6:1)",
            ),
            (
                STAND_IN,
                "/proc",
                "/proc/one can't be made",
                "name a new or empty directory as its `path` (brief.bench:3:1)",
            ),
        ),
    ],
    ids=["below a file", "rocksdb in proc", "stand-in in proc"],
)
def test_a_directory_that_can_not_be_written_is_missing(
    bench: Bench, spec: str, parent: str, problem: str, hint: str
) -> None:
    bench.spec(spec, DATA=parent)
    done = bench("doctor", "brief.bench")
    assert done.code == 3
    (line,) = [line for line in done.out.splitlines() if line.startswith("missing") and f"{parent}/one" in line]
    assert line.endswith(problem)
    assert hint in done.out


def test_a_load_that_has_no_room_is_reported_before_it_is_begun(bench: Bench) -> None:
    bench.spec(SMALL.replace("records = 2k", "records = 1T"))
    done = bench("doctor", "brief.bench")
    assert done.code == 3
    (line,) = [line for line in done.out.splitlines() if "data/one" in line and line.startswith("missing")]
    assert re.search(r"has [\d.]+ [GT]iB free, and a load needs about [\d.]+ TiB \([\d.]+ TiB of data, ", line)


@pytest.mark.long
def test_doctor_and_run_find_the_same_room_too_small(bench: Bench, small_disk: Callable[[str], Path]) -> None:
    """There is room for the data, but not for the additional room that a run requires."""
    disk = small_disk("40m")
    bench.spec(SMALL.replace("records = 2k", "records = 300k"), DATA=str(disk))
    looked, ran = bench("doctor", "brief.bench"), bench("run", "brief.bench")
    assert (looked.code, ran.code) == (3, 3), looked.text
    why = re.search(r"about ([\d.]+ MiB) \(([\d.]+ MiB of data, [^)]*)\)", looked.out)
    assert why, looked.out
    assert f"needs about {why[1]} in" in ran.text
    assert why[2] in ran.text
    again = bench("doctor", "brief.bench")
    assert again.code == 3, "the folder that the run left holds no data set"
    assert "it holds no data set, as no load has ended there" in again.out


@pytest.mark.long
def test_another_data_set_in_the_directory_makes_no_room_for_a_load_but_its_own_does(
    bench: Bench, small_disk: Callable[[str], Path]
) -> None:
    disk = small_disk("80m")
    small = SMALL.replace("box.variants", "box.one").split("metric")[0].replace("[1, 2]", "1")
    bench.spec(small, DATA=str(disk))
    ran = bench("run", "brief.bench", "--no-report")
    assert ran.code == 0, ran.text
    bench.spec(small.replace("records = 2k", "records = 300k"), DATA=str(disk))
    looked = bench("doctor", "brief.bench")
    assert looked.code == 3, looked.text
    (line,) = [line for line in looked.out.splitlines() if "small-0/one" in line and line.startswith("missing")]
    assert re.search(r"has 7\d\.\d MiB free, and a load needs about 1\d\d\.\d MiB \(", line)
    assert "or declare less data" in looked.out
    bench.spec(small, DATA=str(disk))
    (disk / "other").write_bytes(bytes(60 << 20))
    again = bench("doctor", "brief.bench")
    assert again.code == 0, "the data set is there, and is not loaded again"
    assert "what is there may be what it loads" in again.out


@pytest.mark.long
def test_a_load_may_need_what_its_reset_frees(bench: Bench, small_disk: Callable[[str], Path]) -> None:
    disk = small_disk("100m")
    (disk / "one").mkdir()
    (disk / "one" / "BENCHBRIEF").touch()
    (disk / "one" / "left").write_bytes(bytes(60 << 20))
    bench.spec(SMALL.replace("box.variants", "box.one").split("metric")[0], DATA=str(disk))
    done = bench("doctor", "brief.bench")
    assert done.code == 0, done.text


@pytest.mark.long
def test_a_stand_in_whose_directory_holds_little_has_no_room_for_much(bench: Bench) -> None:
    built_tool("mongo-stand-in")
    bench.spec(STAND_IN)
    (bench.folder / "data" / "one").mkdir(parents=True)
    (bench.folder / "data" / "one" / "collection").write_bytes(bytes(4096))
    done = bench("doctor", "brief.bench")
    assert done.code == 3, done.text
    assert re.search(
        r"^missing .*/data/one has [\d.]+ [GT]iB free, and a load needs about [\d.]+ TiB \(the data",
        done.out,
        re.MULTILINE,
    )


@pytest.mark.long
def test_a_folder_that_a_run_refuses_is_missing_and_stays_as_it_is(bench: Bench) -> None:
    bench.spec(SMALL)
    held = "nothing of ours at all"
    folder = bench.folder / "data" / "one"
    folder.mkdir(parents=True)
    (folder / held).touch()
    looked, ran = bench("doctor", "brief.bench"), bench("run", "brief.bench")
    assert (looked.code, ran.code) == (3, 3), looked.text
    said = f"{folder} is not empty ({held}), and was not made by benchbrief"
    assert f"a run refuses it: {said}" in looked.out
    assert said in ran.text
    assert [path.name for path in folder.iterdir()] == [held]


def test_a_host_that_another_run_holds_is_reported(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.spec(SMALL)
    monkeypatch.setenv("TMPDIR", bench.env["TMPDIR"])
    run = "first"
    named = RunName("one", run, f"/runs/{run}", "lab-1", 4711)
    with closing(open_transport(Host(id="local", transport="local", name="127.0.0.1"), run_name=named)) as holder:
        holder.claim()
        done = bench("doctor", "brief.bench")
        holder.release()
    assert done.code == 0, done.text
    (line,) = [line for line in done.out.splitlines() if line.startswith("held")]
    assert f"by run {run}" in line
    assert "bench run --wait" in done.out


@pytest.mark.long
def test_a_typeface_that_a_report_names_and_this_machine_lacks_is_reported(bench: Bench) -> None:
    system_tool("fc-list")
    bench.spec(SMALL.replace('  callout "Gain"', '  theme { font = "No Such Face" }\n  callout "Gain"'))
    done = bench("doctor", "brief.bench")
    assert done.code == 3, done.out
    assert "typefaces of brief" in done.out
    assert "no typeface `No Such Face` is installed here, so the PDF is in another" in done.out
    assert "install it, or give its `font_files`" in done.out
