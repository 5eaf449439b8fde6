"""Compares the load generator in loadgen/ with YCSB, go-ycsb and db_bench, and measures it alone against a target that
does nothing.

The runs of a comparison are interleaved, on the same server or database. The processor time per operation is the
difference between a longer and a shorter run, which leaves out the start of a JVM.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from benchmarks.timing import spread, verdict
from tests.support.mongo import mortal_stand_in, running_stand_in
from tests.support.tools import tools_dir

RECORDS = 10_000
THREADS = 4
TOOLS = tools_dir()
MONGODB = TOOLS / "openload/bin/openload-mongodb"
ROCKSDB = TOOLS / "openload/bin/openload-rocksdb"
ACCEPT = ("--accept-lag", "1e6", "--accept-pauses", "1", "--accept-stalls", "1", "--accept-cpu", "99", "--quiet")


def run(words: Sequence[object]) -> tuple[str, float]:
    """Run a command, and return its standard output and its processor seconds."""
    with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        output = process.stdout.read().decode()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, output[-2000:]
    return output, used.ru_utime + used.ru_stime


def outputs(folder: Path) -> Iterator[Path]:
    """Yield a new path in the folder for each run's output, without end."""
    return (folder / str(number) for number in count())


def openload(words: Sequence[object], out: Path) -> tuple[dict[str, Any], float]:
    output, cpu = run([*words, *ACCEPT, "--output", out])
    final: dict[str, Any] = json.loads(output.splitlines()[-1])
    return final, cpu


def ycsb(uri: str, *properties: str, extra: Sequence[str] = ()) -> tuple[str, float]:
    words: list[object] = [TOOLS / "ycsb/bin/ycsb.sh", "run", "mongodb", "-P", TOOLS / "ycsb/workloads/workloadb"]
    for assignment in (f"mongodb.url={uri}ycsb", f"recordcount={RECORDS}", "requestdistribution=uniform", *properties):
        words += ["-p", assignment]
    return run([*words, "-threads", THREADS, *extra])


def go_ycsb(uri: str, phase: str, operations: int) -> float:
    words: list[object] = [TOOLS / "go-ycsb/bin/go-ycsb", phase, "mongodb", "-P", TOOLS / "ycsb/workloads/workloadb"]
    properties = ("mongodb.namespace=go.usertable", f"recordcount={RECORDS}", f"threadcount={THREADS}")
    for assignment in (
        f"mongodb.url={uri}",
        f"operationcount={operations}",
        "requestdistribution=uniform",
        *properties,
    ):
        words += ["-p", assignment]
    return run(words)[1]


def ours(uri: str, *flags: object) -> list[object]:
    target = ("--uri", uri, "--record-count", RECORDS, "--workload", "b", "--distribution", "uniform")
    return [MONGODB, "run", *target, "--workers", THREADS, *flags]


def processor_time(uri: str, new: Iterator[Path], rounds: int) -> bool:
    """Measure how many microseconds of processor time an operation takes in each of three clients of the same
    server."""
    short, long = 10_000, 40_000
    go_ycsb(uri, "load", RECORDS)
    clients: dict[str, Callable[[int], float]] = {
        "YCSB": lambda operations: ycsb(uri, f"operationcount={operations}")[1],
        "go-ycsb": lambda operations: go_ycsb(uri, "run", operations),
        "openload": lambda operations: openload(
            ours(uri, "--arrivals", "closed", "--operations", operations), next(new)
        )[1],
        "YCSB, 2,000/s": lambda operations: ycsb(uri, f"operationcount={operations // 2}", "target=2000")[1] * 2,
        "openload, Poisson 2,000/s": lambda operations: openload(
            ours(uri, "--arrivals", "poisson", "--rate", 2000, "--operations", operations // 2), next(new)
        )[1] * 2,
    }  # fmt: skip
    found: dict[str, list[float]] = {name: [] for name in clients}
    for _ in range(rounds):
        for name, client in clients.items():
            found[name].append((client(long) - client(short)) / (long - short) * 1e6)
    for name, values in found.items():
        print(f"  {name}: {spread(values, 'us of processor time for an operation', 1)}")
    ratio = statistics.median(found["openload"]) / statistics.median(found["YCSB"])
    return verdict("openload beside YCSB", ratio, 0.5, "times")


def steady(log: Path, unit_us: float, tag: str | None, after: float) -> dict[float, float]:
    """Return percentiles, in microseconds, of a histogram log's intervals that start more than `after` seconds into the
    run."""
    most = int(3_600_000_000 / unit_us)
    total = HdrHistogram(1, most, 3)
    reader = HistogramLogReader(str(log), HdrHistogram(1, most, 3))
    first = None
    while (interval := reader.get_next_interval_histogram()) is not None:
        first = first or interval.get_start_time_stamp()
        if interval.get_tag() == tag and interval.get_start_time_stamp() - first >= after * 1000:
            total.add(interval)
    reader.close()
    assert total.get_total_count(), log
    at = total.get_value_at_percentile
    return {percent: at(percent) * unit_us for percent in {*AGREE, *AGREE_STALLED}}


AGREE: Mapping[float, float] = {50: 1.5, 90: 1.5}
"""The factor within which the intended latencies of YCSB and openload must agree, by percentile.

They are not equal, because a latency includes the client's own delays. If a server answers in a fifth of a millisecond,
the client determines p99: each of YCSB's threads has its own queue, and all of them wait during the JVM's pauses. Tails
are therefore compared separately, with a server whose own tail is longer (`AGREE_STALLED`).
"""

STALL_S, STALL_EVERY_S = 0.1, 1.0
AGREE_STALLED: Mapping[float, float] = {95: 1.2, 99: 1.2, 99.9: 1.2}
"""The same factors for a server that stops for 0.1 s in each second, so that its pauses are longer than the client's.
Operations that are due during a pause wait until it ends, so p95, p99 and p99.9 are about 50, 90 and 99 ms."""


def agreement(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the median of paired ratios, and the ends of its 95 % interval by the sign test. With twelve pairs, two
    outliers caused by other work move neither end."""
    ordered, n = sorted(ratios), len(ratios)
    below = next(k for k in range(n) if sum(math.comb(n, i) for i in range(k + 1)) / 2**n > 0.025)
    assert below > 0, "too few pairs for an interval"
    return statistics.median(ordered), ordered[below - 1], ordered[n - below]


def intended(uri: str, new: Iterator[Path], pairs: int, factors: Mapping[float, float]) -> bool:
    """Compare the intended latencies of reads at a constant rate in YCSB (once it is warm and has caught up) and in
    openload.

    Returns whether they are shown to agree: at each percentile, the interval of the paired ratio lies within its
    factor.
    """
    seconds, rate, after = 20, 500, 10

    def theirs() -> dict[float, float]:
        folder = next(new)
        folder.mkdir(parents=True)
        logs = ("hdrhistogram.fileoutput=true", f"hdrhistogram.output.path={folder}/", "status.interval=1")
        ycsb(
            uri, f"operationcount={seconds * rate}", f"target={rate}", "measurement.interval=both", *logs, extra=("-s",)
        )
        served.append(steady(folder / "READ.hdr", 1, None, after)[99])
        return steady(folder / "Intended-READ.hdr", 1, None, after)

    def mine() -> dict[float, float]:
        folder = next(new)
        openload(ours(uri, "--arrivals", "constant", "--rate", rate, "--duration", seconds - after), folder)
        return steady(folder / "histograms.hlog", 0.001, "read", 0)

    served: list[float] = []
    tails: list[tuple[float, float]] = []
    ratios: dict[float, list[float]] = {}
    for number in range(pairs):
        first, second = (theirs, mine) if number % 2 else (mine, theirs)
        one, two = first(), second()
        a, b = (two, one) if number % 2 else (one, two)
        tails.append((a[99], b[99]))
        for percent in factors:
            value, other = a[percent], b[percent]
            ratios.setdefault(percent, []).append(value / other)
            print(f"    pair {number + 1}, p{percent:g}: openload {value:.0f} us, YCSB {other:.0f} us")
    for client, p99 in (("openload's", [a for a, _ in tails]), ("YCSB's", [b for _, b in tails])):
        print(f"  {client} intended p99: {spread(p99, 'us', 0)}")
    print(f"  YCSB's p99 from when an operation was sent: {spread(served, 'us', 0)}")
    held = True
    for percent, factor in factors.items():
        ratio, low, high = agreement(ratios[percent])
        agree, differ = 1 / factor <= low and high <= factor, high < 1 / factor or low > factor
        decided = "they agree" if agree else "they differ" if differ else "these pairs do not decide it"
        print(
            f"  intended p{percent:g} of reads at {rate} a second, openload / YCSB: {ratio:.2f} times (95 % interval of"
            f" {pairs} pairs {low:.2f} to {high:.2f}): within {factor:g} times, {decided}"
        )
        held &= agree
    return held


def closed_loop(folder: Path, new: Iterator[Path], pairs: int) -> bool:
    """Compare reads by db_bench and by openload's closed loop, with the same threads on the same database.

    Both time each read, though db_bench does so only for its histogram.
    """
    records, reads, threads = 500_000, 400_000, 2
    bench: list[object] = ["db_bench", f"--db={folder / 'db'}", f"--num={records}"]
    run([*bench, "--benchmarks=fillseq,compact"])
    target = ("--db-path", folder / "db", "--record-count", records, "--read", 1)
    flags = ("--arrivals", "closed", "--workers", threads, "--operations", reads)

    def theirs() -> tuple[float, float]:
        words = [*bench, "--benchmarks=readrandom", "--use_existing_db=1", f"--threads={threads}"]
        words.append("--histogram=1")
        shown, cpu = run([*words, f"--reads={reads // threads}"])
        found = re.search(r"readrandom\s*:.*?(\d+) ops/sec", shown)
        assert found
        return float(found[1]), cpu / reads * 1e6

    calls: list[float] = []

    def mine() -> tuple[float, float]:
        final, cpu = openload([ROCKSDB, "run", *target, *flags], next(new))
        calls.append(final["all"]["service_us"]["mean"] * 1000)
        return final["throughput_per_s"], cpu / reads * 1e6

    found = []
    for number in range(pairs):
        first, second = (theirs, mine) if number % 2 else (mine, theirs)
        one, other = first(), second()
        found.append((other, one) if number % 2 else (one, other))
    print(f"  db_bench: {spread([b[1] for _, b in found], 'us of processor time for a read', 2)}")
    print(f"  openload: {spread([a[1] for a, _ in found], 'us of processor time for a read', 2)}")
    # What a thread takes for a read, one after the other, and what of it is not the call.
    each = [tuple(threads / rate * 1e9 for rate in (a[0], b[0])) for a, b in found]
    own = [mine_ns - call for (mine_ns, _), call in zip(each, calls, strict=True)]
    null = ("--target", "null", "--record-count", records, "--read", 1, "--arrivals", "closed", "--workers", 1)
    nothing, _ = openload([ROCKSDB, "run", *null, "--operations", 2_000_000], next(new))
    print(f"  a read takes a thread of db_bench {spread([b for _, b in each], 'ns', 0)}")
    print(f"  a read takes a thread of openload {spread([a for a, _ in each], 'ns', 0)}")
    print(f"  of it outside of the call, for the key, the clock and two histograms: {spread(own, 'ns', 0)}")
    empty = 1e9 / nothing["throughput_per_s"]
    print(f"  the same at a target that does nothing, with both times of the call: {empty:.0f} ns")
    ratios = [b[0] / a[0] for a, b in found]
    print(f"  reads a second in a closed loop, db_bench / openload: {spread(ratios, 'times', 2)}")
    return verdict("db_bench beside openload", statistics.median(ratios), 1.25, "times")


def highest_rate(new: Iterator[Path]) -> bool:
    """Measure how late operations start on one core if the target does nothing. The limit is meant for a quiet
    machine."""
    held = True
    for rate in (50_000, 100_000, 200_000, 400_000):
        target = (
            "--target",
            "null",
            "--record-count",
            RECORDS,
            "--workload",
            "b",
            "--workers",
            64,
            "--accept-drops",
            1,
        )
        words = [
            "taskset",
            "-c",
            "0",
            MONGODB,
            "run",
            *target,
            "--arrivals",
            "poisson",
            "--rate",
            rate,
            "--duration",
            5,
        ]
        final, _ = openload([*words, "--warm-up", 1], next(new))
        lag = final["self"]["lag_us"]
        print(
            f"  {rate} a second on one core: {final['throughput_per_s']:.0f} done, {final['dropped']} dropped; late by"
            f" {lag['p50']:.0f} us at p50, {lag['p99']:.0f} at p99, {lag['p99.9']:.0f} at p99.9;"
            f" {final['self']['cpu_us_per_operation']:.2f} us of processor time for an operation"
            f" (the machine woke a sleeping thread late by {final['self']['hiccup_us']['p99.9']:.0f} us at p99.9)"
        )
        if rate == 200_000:
            held = verdict("lateness at 200,000 a second, p99.9", lag["p99.9"], 100, "us")
    return held


def _warm(host: str, port: int, new: Iterator[Path]) -> str:
    """Fill the server, warm it up, and return its URI."""
    uri = f"mongodb://{host}:{port}/"
    load = [MONGODB, "load", "--uri", uri, "--record-count", RECORDS, "--workers", THREADS, "--quiet"]
    run([*load, "--output", next(new)])
    ycsb(uri, "operationcount=20000")
    return uri


def _on_a_server(part: Callable[[str, Iterator[Path]], bool]) -> Callable[[Path], bool]:
    """Decorate a part of the benchmark. The part is given the URI of a warm server that holds the records."""

    def run_part(folder: Path) -> bool:
        new = outputs(folder)
        with running_stand_in(TOOLS) as (host, port):
            return part(_warm(host, port, new), new)

    return run_part


@contextmanager
def stalling(server: subprocess.Popen[bytes]) -> Iterator[None]:
    """Stop the server for `STALL_S` in each `STALL_EVERY_S`."""
    over = threading.Event()

    def stall() -> None:
        while not over.wait(STALL_EVERY_S - STALL_S):
            server.send_signal(signal.SIGSTOP)
            over.wait(STALL_S)
            server.send_signal(signal.SIGCONT)

    thread = threading.Thread(target=stall)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def intended_of_stalls(folder: Path) -> bool:
    """Compare the two clients' intended latencies while the server stalls for known times."""
    new = outputs(folder)
    with mortal_stand_in(TOOLS) as (host, port, server):
        uri = _warm(host, port, new)
        with stalling(server):
            return intended(uri, new, 8, AGREE_STALLED)


PARTS: dict[str, Callable[[Path], bool]] = {
    "lag": lambda folder: highest_rate(outputs(folder)),
    "db_bench": lambda folder: closed_loop(folder, outputs(folder / "runs"), 5),
    "cpu": _on_a_server(lambda uri, new: processor_time(uri, new, 3)),
    "intended": _on_a_server(lambda uri, new: intended(uri, new, 12, AGREE)),
    "intended_of_stalls": intended_of_stalls,
}


def main(only: str = "") -> bool:
    """Run the named part, or all parts."""
    held = only in ("", *PARTS)
    if not held:
        print(f"  no part {only}; there are: {', '.join(PARTS)}")
    for name, part in PARTS.items():
        if only in ("", name):
            print(f"  {name}: load average {os.getloadavg()[0]:.1f}")
            with tempfile.TemporaryDirectory(prefix="benchbrief-open-loop-") as folder:
                held &= part(Path(folder))
    return held
