"""Tests observed facts, and facts that contradict a declaration: from this machine, and as printed by machines that we
do not have."""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.model.plan import Fact, Hardware, Host, Origin, Quantity
from benchbrief.runners.errors import HostError
from benchbrief.runners.hosts.host_connections import open_transport
from benchbrief.runners.hosts.host_facts import find_contradictions, observe
from benchbrief.runners.jobs.tasks import Command, Completed
from benchbrief.runners.seams import Transport

LOCAL = Host(id="local", transport="local", name="local")
GIB = 2.0**30


@pytest.fixture
def here() -> Iterator[Transport]:
    transport = open_transport(LOCAL)
    yield transport
    transport.close()


class Printed:
    """A transport that gives a prepared answer: the output of a machine that is not available here."""

    host = LOCAL
    given_up_at = -math.inf

    def __init__(self, text: str, exit_code: int = 0) -> None:
        self._done = Completed(exit_code, text, "broken", 0.1)

    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed:
        assert stdin
        return self._done


def printed(text: str, *paths: str) -> dict[str, str]:
    return observe(Printed(text.replace("|", "\t")), list(paths))  # type: ignore[arg-type]  # only `run` is used


# --- observing ---------------------------------------------------------------------------------------------------


def test_this_machines_facts_agree_with_its_own_tools(here: Transport) -> None:
    facts = observe(here, [])
    assert facts["hostname"] == os.uname().nodename
    assert facts["kernel"] == os.uname().release
    assert facts["threads"] == str(os.cpu_count())
    assert f"{os.cpu_count()} threads" in facts["cpu"]
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    number, unit = facts["memory"].split()
    assert float(number) * {"MiB": 2**20, "GiB": 2**30}[unit] == pytest.approx(total, rel=0.01)
    assert "" not in facts.values()


def test_the_file_system_of_a_path_is_found_before_the_path_is_there(here: Transport, tmp_path: Path) -> None:
    path = str(tmp_path / "it's $(not) here" / "yet")
    facts = observe(here, [path, "/proc/self"])
    asked = subprocess.check_output(
        ["findmnt", "-n", "-r", "-o", "FSTYPE,TARGET", "-T", str(tmp_path)], text=True
    ).split()
    assert [facts[f"filesystem of {path}"], facts[f"mount of {path}"]] == asked
    assert facts["filesystem of /proc/self"] == "proc"
    assert "filesystem" not in facts  # they differ
    assert not Path(path).exists()


def test_one_file_system_for_all_paths_is_the_hosts(here: Transport, tmp_path: Path) -> None:
    facts = observe(here, [str(tmp_path)])
    assert facts["filesystem"] == facts[f"filesystem of {tmp_path}"]


SERVER = """\
hostname|rocks
kernel|6.1.0-18-amd64
os|"Debian GNU/Linux 12 (bookworm)"
lscpu|CPU(s):                 192
lscpu|Model name:             AMD EPYC 9654 96-Core Processor
lscpu|Core(s) per socket:     96
lscpu|Socket(s):              1
lscpu|NUMA node(s):           1
model|AMD EPYC 9654 96-Core Processor
processors|192
usable|192
virtualization|none
huge_pages|always [madvise] never
governor|performance
MemTotal:|790000000
SwapTotal:|0
limit|max
limit|274877906944
block|dm-0
below|dm-0 nvme1n1p1
mapped dm-0|vg-data
sectors dm-0|1000
block|loop0
sectors loop0|0
block|nvme0n1
sectors nvme0n1|7501476528
rotating nvme0n1|0
model nvme0n1|Micron_7450_MTFDKCC3T8TFR
block|nvme1n1
sectors nvme1n1|7501476528
rotating nvme1n1|0
block|nvme1n1p1
below|nvme1n1p1 nvme1n1
sectors nvme1n1p1|7501470000
block|sda
sectors sda|2000
rotating sda|1
block|vda
sectors vda|2000
rotating vda|1
mounted|/dev/sda / ext4 rw 0 0
mounted|/dev/mapper/vg-data /mnt/with\\040space xfs rw 0 0
path|0 /dev/mapper/vg-data 3750738264 1000000 3000000000 1% /mnt/with space
real|0 /dev/dm-0
path|1 /dev/sda 1000 100 900 10% /
real|1 /dev/sda
"""


def test_a_servers_answer_is_read() -> None:
    facts = printed(SERVER, "/mnt/with space/db", "/data")
    assert facts["cpu"] == "AMD EPYC 9654 96-Core Processor, 96 cores, 192 threads"
    assert (facts["sockets"], facts["cores"], facts["threads"]) == ("1", "96", "192")
    assert facts["os"] == "Debian GNU/Linux 12 (bookworm)"
    assert facts["memory"] == "753.4 GiB"
    assert facts["memory_limit"] == "256.0 GiB"
    assert facts["transparent_huge_pages"] == "madvise"
    assert facts["disk nvme0n1"] == "3.49 TiB, Micron_7450_MTFDKCC3T8TFR, not rotating"
    assert facts["disk sda"] == "1000.0 KiB, rotating"
    assert facts["disk vda"] == "1000.0 KiB, virtual disk"
    assert not {name for name in facts if name.startswith(("disk dm", "disk loop", "disk nvme1n1p"))}
    assert facts["block_devices"] == "dm-0 nvme0n1 nvme1n1 nvme1n1p1 sda vda mapper/vg-data"
    assert facts["filesystem of /mnt/with space/db"] == "xfs"
    assert facts["disks of /mnt/with space/db"] == "nvme1n1"
    assert facts["free space of /mnt/with space/db"] == "2.79 TiB"
    assert facts["filesystem of /data"] == "ext4"
    assert "swap" not in facts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no tab at all\n" * 10_000,
        "hostname|\x1b[31mred\x07\nMemTotal:|lots\nlscpu|CPU(s):  -3\nlscpu|:\nlscpu|Socket(s): 99999999\nbelow|\n",
        "path|0 nonsense\npath|7 /dev/x 1 1 1 1% /\nblock|" + "x" * 100_000,
        "below|a b\nbelow|b a\nblock|a\nblock|b\nsectors a|1\npath|0 /dev/a 1 1 1 1% /\nreal|0 /dev/a\n",
    ],
)
def test_an_answer_that_is_no_answer_does_no_harm(text: str) -> None:
    facts = printed(text, "/x")
    assert all(value.isprintable() and len(value) <= 600 for value in facts.values())
    assert find_contradictions(declared(cpu="64 vCPU", memory=64 * GIB, device="/dev/sdz"), facts) in (
        [],
        ["it has no /dev/sdz"],
    )


def test_a_host_that_can_not_run_the_script_is_said() -> None:
    with pytest.raises(HostError, match="local: can't read its facts: broken"):
        observe(Printed("", exit_code=2), [])  # type: ignore[arg-type]  # only `run` is used


# --- declared against observed -----------------------------------------------------------------------------------


def declared(**facts: Fact | float) -> Hardware:
    return Hardware(
        key="server",
        label="Server",
        group="server",
        group_label="Server",
        hosts=("local",),
        nodes=1,
        facts={
            name: Quantity(value=fact, unit="B", text=f"{fact / GIB:.0f} GiB") if isinstance(fact, float) else fact
            for name, fact in facts.items()
        },
        origin=Origin(file="x.bench", line=1, column=1),
    )


EPYC = "AMD EPYC 9654 96-Core Processor, 96 cores, 192 threads"
TWO_XEONS = "Intel(R) Xeon(R) Gold 6242 CPU @ 2.80GHz, 2 sockets, 32 cores, 64 threads"
XEON = {"cpu": TWO_XEONS, "sockets": "2", "cores": "32", "threads": "64"}
CLOUD = {"cpu": "Intel(R) Xeon(R) Platinum 8175M CPU @ 2.50GHz, 32 cores, 64 threads", "cores": "32", "threads": "64"}
GRAVITON = {"cpu": "Neoverse-N1, 64 cores, 64 threads", "cores": "64", "threads": "64"}


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("AMD EPYC 9654, 96 cores", {"cpu": EPYC, "cores": "96", "threads": "192"}),
        ("EPYC 9654 96-core", {"cpu": EPYC, "cores": "96", "threads": "192"}),
        ("2 x Intel Xeon Gold 6242", XEON),
        ("2 x 16 cores, 64 threads", XEON),
        ("2 × Xeon Gold 6242 (16 cores)", XEON),
        ("Xeon Gold 6242 @ 2.80 GHz, 64 vCPU", XEON),
        ("64 vCPU", CLOUD),
        ("32-core Intel", CLOUD),
        ("AWS Graviton2, 64 vCPU", GRAVITON),
        ("Intel Xeon Gold 6242", {"cpu": "Intel Xeon Processor (Skylake), 4 cores, 4 threads", "cores": "4"}),
        ("Common KVM processor", {"cpu": "QEMU Virtual CPU version 2.5+, 4 cores", "cores": "4"}),
        ("64 vCPU", {}),
        ("fast", XEON),
    ],
)
def test_a_processor_that_was_declared_in_other_words_is_no_contradiction(said: str, facts: dict[str, str]) -> None:
    assert find_contradictions(declared(cpu=said), facts) == []


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("AMD EPYC 9654, 96 cores", XEON),
        ("Intel Xeon Gold 6248R", XEON),
        ("AWS Graviton2, 64 vCPU", CLOUD),
        ("96 vCPU", CLOUD),
        ("2 x 24 cores", XEON),
    ],
)
def test_another_processor_than_declared_is_said_with_both(said: str, facts: dict[str, str]) -> None:
    (text,) = find_contradictions(declared(cpu=said), facts)
    assert facts["cpu"] in text
    assert said in text


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ({"memory": 16 * GIB}, {"memory": "15.6 GiB"}),
        ({"memory": 768e9}, {"memory": "754.2 GiB"}),
        ({"memory": 768e9, "memory_limit": 256e9}, {"memory": "754.2 GiB"}),
        ({"memory": 768e9, "memory_limit": 256e9}, {"memory": "251.1 GiB"}),
        ({"memory": 768e9, "memory_limit": 256e9}, {"memory": "754.2 GiB", "memory_limit": "238.4 GiB"}),
        ({"memory_limit": 256e9}, {"memory": "754.2 GiB"}),
        ({"memory": 16 * GIB}, {}),
    ],
)
def test_memory_within_a_tenth_is_no_contradiction(said: dict[str, float], facts: dict[str, str]) -> None:
    assert find_contradictions(declared(**said), facts) == []


@pytest.mark.parametrize(
    ("said", "facts", "text"),
    [
        ({"memory": 64 * GIB}, {"memory": "15.6 GiB"}, "it has 15.6 GiB of memory, declared is 64 GiB"),
        ({"memory": 16 * GIB}, {"memory": "62.8 GiB"}, "it has 62.8 GiB of memory, declared is 16 GiB"),
        (
            {"memory_limit": 64 * GIB},
            {"memory": "15.6 GiB"},
            "it has 15.6 GiB of memory, declared is a limit of 64 GiB",
        ),
        (
            {"memory": 64 * GIB},
            {"memory": "62.8 GiB", "memory_limit": "8192.0 MiB"},
            "a control group limits its memory to 8192.0 MiB, declared is 64 GiB",
        ),
    ],
)
def test_other_memory_than_declared_is_said(said: dict[str, float], facts: dict[str, str], text: str) -> None:
    assert find_contradictions(declared(**said), facts) == [text]


ON_XFS = {"filesystem of /mnt/a/db": "xfs", "filesystem of /mnt/b/db": "ext4"}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"filesystem": "xfs", "mount": "/mnt/a"}, []),
        ({"filesystem": "XFS (noatime)", "path": "/mnt/a/"}, []),
        ({"filesystem": "xfs", "mount": "/mnt/c"}, []),
        ({"filesystem": "ext4"}, []),
        ({"filesystem": "xfs", "mount": "/mnt/b"}, ["/mnt/b/db is on ext4, declared is xfs"]),
        ({"filesystem": "btrfs", "mount": "/mnt/a"}, ["/mnt/a/db is on xfs, declared is btrfs"]),
    ],
)
def test_file_systems_are_compared_for_the_groups_own_paths(said: dict[str, str], found: list[str]) -> None:
    assert find_contradictions(declared(**said), ON_XFS) == found


DISKS = {
    "block_devices": "nvme0n1 nvme0n1p1 nvme1n1 sda dm-0 mapper/vg-data",
    "virtualization": "none",
    "disk nvme0n1": "3.5 TiB, Micron, not rotating",
    "disk sda": "1.8 TiB, rotating",
    "disks of /mnt/a/db": "nvme0n1",
    "device of /mnt/a/db": "/dev/nvme0n1p1",
    "disks of /mnt/b/db": "sda",
    "device of /mnt/b/db": "/dev/sda",
}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"device": "/dev/nvme0n1", "mount": "/mnt/a"}, []),
        ({"device": "/dev/nvme0n1p1", "mount": "/mnt/a"}, []),
        ({"device": "/dev/mapper/vg-data"}, []),
        ({"device": "/dev/disk/by-id/wwn-0x5000"}, []),
        ({"device": "Micron 7450"}, []),
        ({"device": "/dev/nvme9n1"}, ["it has no /dev/nvme9n1"]),
        (
            {"device": "/dev/nvme1n1", "mount": "/mnt/b"},
            ["/mnt/b/db is on /dev/sda, not on the declared /dev/nvme1n1"],
        ),
    ],
)
def test_a_device_that_is_missing_or_not_under_the_path_is_said(said: dict[str, str], found: list[str]) -> None:
    assert find_contradictions(declared(**said), DISKS) == found


@pytest.mark.parametrize(
    ("said", "mount", "more", "found"),
    [
        ("1 x Micron 7100 MAX 1.6 TB NVMe (U.2)", "/mnt/a", {}, []),
        ("3 x 300 GB 15K RPM HDD, RAID 0", "/mnt/b", {}, []),
        ("2 x 10K RPM SAS HDD + SSD cache", "/mnt/b", {}, []),
        ("NVMe", "/mnt/b", {"virtualization": "kvm"}, []),
        ("a disk", "/mnt/b", {}, []),
        (
            "2 x Micron SSD",
            "/mnt/b",
            {},
            ["/mnt/b/db is on /dev/sda, which the kernel takes for a rotating disk; declared is 2 x Micron SSD"],
        ),
        (
            "6 x 1 TB 7.2K RPM SATA, RAID 10",
            "/mnt/a",
            {"virtualization": "kvm"},
            ["/mnt/a/db is on /dev/nvme0n1, which does not rotate; declared is 6 x 1 TB 7.2K RPM SATA, RAID 10"],
        ),
    ],
)
def test_disks_that_rotate_or_do_not_are_said_only_where_the_kernel_can_know(
    said: str, mount: str, more: dict[str, str], found: list[str]
) -> None:
    assert find_contradictions(declared(storage=said, mount=mount), DISKS | more) == found


def test_several_contradictions_are_all_said() -> None:
    hardware = declared(cpu="96 vCPU", memory=64 * GIB, device="/dev/sdz")
    assert len(find_contradictions(hardware, CLOUD | {"memory": "15.6 GiB", "block_devices": "vda"})) == 3
