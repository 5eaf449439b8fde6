"""Compares db_bench under `bench run` with bare db_bench: operations per second, and the wall time added per cell.

A pair is one cell and one bare run. The bare run uses the very command that `bench run` kept beside its raw output, on
the same database. The one that goes first alternates, so that any drift affects both. Pairs are run on this machine
directly, and over SSH to a real sshd on its loopback. Afterwards, the cost of a host's probes is measured: the CPU time
of their loop and of everything that it started, while it takes readings at 1 Hz.
"""

from __future__ import annotations

import json
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchbrief.model.plan import Origin, Probe
from benchbrief.runners import plugins
from benchbrief.runners.sampling import ReadsFiles, reading_job
from benchmarks.figures import record
from benchmarks.timing import BENCH, spread, verdict
from tests.support.sshd import sshd

SPEC = """
hardware box {{ hosts = {host} }}
database rocks {{
  engine = rocksdb  path = "{path}"  reset = reuse
  options {{ compression = "none"  cache = 64 MiB }}
}}
workload read from db_bench.readrandom {{ records = 100k  value_size = 100 B }}
experiment one {{
  hardware = [box]  workloads = [read]  threads = [1]  measure = {seconds} s
  probes = [disk every 1 s, cpu every 1 s, memory every 1 s, network every 1 s]
}}
"""


def under_bench(folder: Path, env: Mapping[str, str]) -> tuple[float, float, Path]:
    """Run one cell under `bench run`. Returns operations per second, the cell's wall seconds, and the job's folder."""
    done = subprocess.run(
        (BENCH, "run", "overhead.bench", "--fresh", "--no-report", "--quiet", "--json"),
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
    )
    run_dir = folder / json.loads(done.stdout)["directory"]
    records = [json.loads(line) for line in (run_dir / "journal.jsonl").read_text().splitlines()]
    started = next(r for r in records if r["type"] == "cell_started")
    ended = next(r for r in records if r["type"] == "cell_ended")
    measured = next(r for r in records if r["type"] == "job_collected" and r["job"] == "measure")
    return ended["ops_per_s"], ended["at"] - started["at"], run_dir / measured["directory"]


def bare(command: str, folder: Path) -> tuple[float, float]:
    """Run the same command from a shell. Returns operations per second and wall seconds."""
    started = time.perf_counter()
    done = subprocess.run(("sh", "-c", command), cwd=folder, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - started
    found = re.search(r"^readrandom\s*:.*?(\d+) ops/sec", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return float(found[1]), seconds


def pairs_of(pairs: int, seconds: int, host: str, env: Mapping[str, str]) -> tuple[list[float], list[float]]:
    """Return each pair's operations per second as a share of the bare run's, and the wall seconds added to each pair's
    cell."""
    with tempfile.TemporaryDirectory(prefix="benchbrief-overhead-") as name:
        folder = Path(name)
        (folder / "overhead.bench").write_text(SPEC.format(path=folder / "db", seconds=seconds, host=host))
        _, _, job = under_bench(folder, env)  # loads the database, uncounted
        command = (job / "command.txt").read_text().strip()
        print(f"  the bare command: {command}")
        bare(command, folder)
        ratios, added = [], []
        for pair in range(pairs):
            if pair % 2:
                plain, (ops, wall, _) = bare(command, folder), under_bench(folder, env)
            else:
                (ops, wall, _), plain = under_bench(folder, env), bare(command, folder)
            ratios.append(ops / plain[0])
            added.append(wall - plain[1])
    return ratios, added


@contextmanager
def by_ssh() -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the host's name for a spec, and an environment that lets ssh find the host by this name."""
    # A folder of its own for its jobs: other runs on this machine hold their hosts in the usual one.
    with tempfile.TemporaryDirectory(prefix="benchbrief-overhead-") as jobs, sshd(config=f"SetEnv TMPDIR={jobs}") as at:
        yield '"box"', {"HOME": str(at.home), "TMPDIR": jobs}


def probes_cost(seconds: int) -> float:
    """Measure the share of a core that a host's probes of the kernel's files use together at 1 Hz."""
    origin = Origin(file="overhead.bench", line=1, column=1)
    kinds = {name: plugins.probe_kind(name) for name in ("cpu", "disk", "memory", "network")}
    probes = [
        (probe, kind.reads(probe))
        for name, kind in kinds.items()
        if isinstance(kind, ReadsFiles) and (probe := Probe(name=name, every_s=1, hosts=("box",), origin=origin))
    ]
    words = [str(word) for word in reading_job(probes).command.words]
    with tempfile.TemporaryDirectory(prefix="benchbrief-overhead-") as name:
        output = Path(name) / "stdout"
        began = time.perf_counter()
        with output.open("wb") as out:
            process = subprocess.Popen(words, cwd=name, stdout=out, start_new_session=True)
        while output.read_bytes().count(b"\n.\n") < seconds:
            time.sleep(0.2)  # between two looks
        took = time.perf_counter() - began
        process.send_signal(signal.SIGTERM)
        _, _, used = os.wait4(process.pid, 0)  # with all the children that it has waited for
        process.returncode = 0
    return (used.ru_utime + used.ru_stime) / took


def main(pairs: int = 10, seconds: int = 5) -> bool:
    with tempfile.TemporaryDirectory(prefix="benchbrief-overhead-") as jobs:
        ratios, added = pairs_of(pairs, seconds, "local", {"TMPDIR": jobs})
    against = "bare db_bench, the same command"
    record("operations per second under `bench run`", f"{spread(ratios, 'of the bare run')}", against)
    record("wall time added to a cell", spread(added, "s"), against)
    held = verdict("ops/s off the bare run, median of pairs", abs(statistics.median(ratios) - 1) * 100, 2.0, "%")
    held = verdict("added wall time a cell, median of pairs", statistics.median(added), 1.0, "s") and held
    with by_ssh() as (host, env):
        _, added = pairs_of(max(3, pairs // 2), seconds, host, env)
    record("wall time added to a cell over SSH, with probes", spread(added, "s"), against)
    held = verdict("added wall time a cell over SSH, median of pairs", statistics.median(added), 1.5, "s") and held
    return verdict("CPU of all probes of a host at 1 Hz, of a core", 100 * probes_cost(20), 1.0, "%") and held
