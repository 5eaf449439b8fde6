"""Tests `bench` with real fio on a file and on a device, locally and over SSH, killed and resumed, and simulated."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.bench import Bench, pages_of
from tests.support.sshd import Sshd, sshd, system_user
from tests.support.tools import REPOSITORY, system_tool
from tests.support.waiting import until

SPEC = """\
hardware box "This machine" { hosts = @HOSTS@ }
database disk "Raw file" { engine = raw_storage  path = "@PATH@"  size = 16 MiB@MORE@ }
workload rr  "Random reads"  from fio.randread { io_depth = 4 }
workload mix "Mixed"         from fio.randrw   { io_depth = 2  block_size = 8 KiB  read = 70 % }

experiment ramp {
  hardware  = box
  database  = disk
  workloads = [rr, mix]
  threads   = [2]
  measure   = 1 s
}

metric bandwidth "Bandwidth" in MB/s = throughput[rr] * 4 KiB / 1 ops, higher is better

report brief "What a file gives" {
  callout "Random reads" { rows = workload  column "Throughput" = "{max(throughput over threads):,.0f}" }
  table "p99" { rows = workload  columns = max(latency.p99[read] over threads) by hardware }
  text = "The bandwidth was {max(bandwidth over threads):.1fu}."
  disclosure = automatic
}
"""


def spec(path: Path | str, hosts: str = "local", more: str = "") -> str:
    return SPEC.replace("@PATH@", str(path)).replace("@HOSTS@", hosts).replace("@MORE@", more)


def histograms_are_whole(bench: Bench) -> None:
    """Check that each operation's histogram contains all operations of the measured time."""
    rows = bench(
        "query",
        "SELECT workload, operation, count FROM operations JOIN cells USING (run_id, cell_id) ORDER BY ALL",
        "--json",
    ).json
    assert [(row["workload"], row["operation"]) for row in rows] == [("mix", "read"), ("mix", "write"), ("rr", "read")]
    assert all(row["count"] > 0 for row in rows)
    reads, writes = rows[0]["count"], rows[1]["count"]
    assert reads / (reads + writes) == pytest.approx(0.7, abs=0.05)


@pytest.mark.long
def test_a_run_on_a_file_ends_with_a_brief(bench: Bench) -> None:
    system_tool("fio")
    bench.spec(spec(bench.folder / "raw"))
    done = bench("run", "brief.bench")
    assert done.code == 0, done.text
    assert {status for status, _ in bench.verdicts().values()} == {"ok"}
    histograms_are_whole(bench)
    page = pages_of(bench.run_dir)
    for said in (
        "fio 3.",
        "from the submission of an I/O to its completion",
        "interpolated in fio",
        "a block device, without a database",
    ):
        assert said in page
    assert "embedded library" not in page
    again = bench("run", "brief.bench", "--no-report")
    assert again.code == 0, again.text
    assert "[1/" not in again.err, "all of it is measured already"
    assert bench.strays() == {}


@pytest.fixture
def host() -> Iterator[Sshd]:
    system_tool("fio")
    system_tool("sshd")
    with ExitStack() as stack:
        user = stack.enter_context(system_user()) if os.getuid() == 0 else None
        yield stack.enter_context(sshd(user=user))


@pytest.mark.long
def test_a_run_over_ssh(bench: Bench, host: Sshd) -> None:
    host.write_config(name="127.0.0.1")
    bench.env["HOME"] = str(host.home)
    folder = Path(f"/var/tmp/benchbrief-fio-{os.getpid()}")
    bench.spec(spec(folder, '"127.0.0.1"'))
    try:
        done = bench("run", "brief.bench", "--no-report")
        assert done.code == 0, done.text
        assert (folder / "data").stat().st_size == 16 << 20
        assert (folder / "data").owner() == host.user
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    histograms_are_whole(bench)


@pytest.mark.long
def test_a_killed_controller_is_resumed_and_the_measurement_goes_on(bench: Bench) -> None:
    system_tool("fio")
    bench.spec(spec(bench.folder / "raw").replace("measure   = 1 s", "measure   = 4 s"))
    with bench.started("run", "brief.bench", stays=True) as run:
        until(lambda: any("--rw=randread" in line for line in bench.strays().values()), 60)
        run.signal(signal.SIGKILL)
        run.process.wait()
        resumed = bench("resume", "--no-report")
        assert resumed.code == 0, resumed.text
    assert {cell: attempt for cell, (_, attempt) in bench.verdicts().items()} == {
        "ramp/box/rr/threads=2/r1": 1,
        "ramp/box/mix/threads=2/r1": 1,
    }
    histograms_are_whole(bench)
    assert bench.strays() == {}


def test_a_simulated_run_needs_neither_fio_nor_a_device(bench: Bench) -> None:
    bench.spec(spec("/dev/never", more='  destroys = "/dev/never"'))
    done = bench("run", "brief.bench", "--simulate", "--no-report", "--json")
    assert done.code == 0, done.text
    assert done.json["failed"] == []
    assert done.json["status"] == "done"


def test_a_device_that_is_none_is_refused_by_doctor_and_by_a_run(bench: Bench) -> None:
    system_tool("fio")
    place = bench.folder / "precious"
    place.write_bytes(b"keep me")
    bench.spec(spec(place, more=f'  destroys = "{place}"'))
    for command in ("doctor", "run"):
        done = bench(command, "brief.bench")
        assert done.code == 3, done.text
        assert f"refusing to destroy {place} on local: {place} is not a block device" in done.text
    assert place.read_bytes() == b"keep me"


def test_a_run_destroys_the_device_that_the_spec_names_and_no_other(bench: Bench) -> None:
    system_tool("fio")
    losetup = system_tool("losetup")
    image = bench.folder / "disk.img"
    image.write_bytes(b"\0" * (20 << 20))
    made = subprocess.run([losetup, "--find", "--show", image], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"no loop device can be made here: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        bench.spec(spec(device))
        refused = bench("doctor", "brief.bench")
        assert refused.code == 3, refused.text
        assert f'allow it with `destroys = "{device}"`' in refused.text
        assert not any(image.read_bytes())
        bench.spec(spec(device, more=f'  destroys = "{device}"'))
        checked = bench("doctor", "brief.bench")
        assert "it is overwritten" in checked.text
        done = bench("run", "brief.bench", "--no-report")
        assert done.code == 0, done.text
        histograms_are_whole(bench)
        subprocess.run(["sync"], check=True)
    finally:
        subprocess.run([losetup, "--detach", device], check=True)
    assert any(image.read_bytes()[: 16 << 20])
    assert not any(image.read_bytes()[16 << 20 :]), "nothing behind the declared size"


@pytest.mark.long
@pytest.mark.parametrize("how", [("--simulate",), pytest.param((), marks=pytest.mark.long)], ids=["simulated", "real"])
def test_the_example_sets_rocksdb_beside_its_device(bench: Bench, how: tuple[str, ...]) -> None:
    for tool in ("fio", "db_bench"):
        system_tool(tool)
    text = (REPOSITORY / "examples" / "device_baseline.bench").read_text(encoding="utf-8")
    before, profile, smoke = text.partition("profile smoke")
    for more, less in (("/var/tmp/benchbrief", str(bench.folder)), ("measure = 3 s", "measure = 1 s")):
        assert more in smoke
        smoke = smoke.replace(more, less)
    bench.spec(before + profile + smoke)
    done = bench("run", "brief.bench", "--profile", "smoke", "--quiet", *how)
    assert done.code == 0, done.text
    assert {status for status, _ in bench.verdicts().values()} == {"ok"}
    kept = json.loads(next((bench.run_dir / "reports").glob("brief*.json")).read_text(encoding="utf-8"))
    shown = [number["shown"] for number in kept["numbers"]]
    assert any(each.endswith("%") for each in shown)
    assert not [each for each in shown if "–" in each.split(" ")], "no number is missing"


DOCTOR = """\
hardware box { hosts = local }
database disk { engine = raw_storage  path = "@PATH@/a:b/raw"  size = 16 MiB }
workload direct from fio.randread { block_size = 8 KiB }
workload cached from fio.randread { io_engine = io_uring  direct = false }
experiment baseline { hardware = box  workloads = [direct, cached]  threads = 2  measure = 2 s }
"""


@pytest.mark.long
def test_doctor_tries_engines_and_direct_io_and_leaves_nothing(bench: Bench) -> None:
    bench.spec(DOCTOR.replace("@PATH@", str(bench.folder)))
    done = bench("doctor", "brief.bench")
    assert done.code == 0, done.text
    said = " ".join(done.out.split())
    assert f"libaio, direct I/O, blocks of 8192 B in {bench.folder}/a:b/raw one I/O was done" in said
    assert "io_uring, I/O through the page cache, blocks of 4096 B" in said
    assert [path.name for path in bench.folder.glob(".*trial*")] == []


@pytest.fixture
def without_direct_io(tmp_path: Path) -> Iterator[Path]:
    """Yield a file system that does not support direct I/O, namely Linux's ramfs."""
    place = tmp_path / "ramfs"
    place.mkdir()
    subprocess.run(["mount", "-t", "ramfs", "none", str(place)], check=True)
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.long
def test_doctor_says_where_a_file_system_has_no_direct_io(bench: Bench, without_direct_io: Path) -> None:
    bench.spec(DOCTOR.replace("@PATH@", str(without_direct_io)))
    done = bench("doctor", "brief.bench")
    assert done.code != 0
    said = " ".join(done.text.split())
    assert re.search(r"missing +\S+ +libaio, direct I/O, blocks of 8192 B in \S+ fio: .*does not support", said)
    assert "use another `io_engine`, `direct = false`, another `block_size`, or another `path`" in said
    assert re.search(r"ok +\S+ +io_uring, I/O through the page cache, blocks of 4096 B in \S+ one I/O was done", said)
    assert list(without_direct_io.iterdir()) == []
