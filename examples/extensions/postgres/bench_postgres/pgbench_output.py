"""Parses pgbench's summary, and finds contradictions within it or with the transaction log.

https://www.postgresql.org/docs/15/pgbench.html has a sample. Versions before 14 do not print their own version, but
print the rate twice, once including the time of connecting.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from bench_postgres.transaction_log import NotALog, Transactions
from benchbrief.extend.histograms import US_PER_S
from benchbrief.extend.invariants import QUANTISED, format_number

_MS = 1000.0
_HALF_DIGIT_MS = 0.0005
"""Half a unit of the last digit of a printed latency, which is in milliseconds with three decimals."""
_SLACK_S = 0.1


@dataclass(frozen=True)
class Summary:
    """pgbench's summary of a run. Latencies are in milliseconds. With `measured`, their mean is over all transactions;
    otherwise pgbench computed it from the rate. Values that were not printed are None."""

    version: str
    server: str
    script: str
    scale: int | None
    protocol: str
    clients: int
    threads: int
    tries: int
    asked_s: int | None
    done: int
    failed: int
    skipped: int
    mean_ms: float | None
    measured: bool
    lag_ms: tuple[float, float] | None
    connecting_ms: float
    rate: float

    @property
    def seconds(self) -> float:
        """The length of the run in seconds, without the time for connecting."""
        return self.done / self.rate if self.rate else 0.0


_HEAD = re.compile(r"pgbench \((\d[\w.]*)[^,)]*\)?[^,]*(?:, server (\d[\w.]*))?.*")
_KNOWN: dict[str, re.Pattern[str]] = {
    "script": re.compile(r"transaction type: (.*)"),
    "scale": re.compile(r"scaling factor: (\d+)"),
    "protocol": re.compile(r"query mode: (\w+)"),
    "clients": re.compile(r"number of clients: (\d+)"),
    "threads": re.compile(r"number of threads: (\d+)"),
    "tries": re.compile(r"maximum number of tries: (\d+)"),
    "asked_s": re.compile(r"duration: (\d+) s"),
    "done": re.compile(r"number of transactions actually processed: (\d+)(?:/\d+)?"),
    "failed": re.compile(r"number of failed transactions: (\d+) .*"),
    "skipped": re.compile(r"number of transactions skipped: (\d+) .*"),
    "mean_ms": re.compile(r"latency average(?: =|:) ([\d.]+) ms"),
    "stddev_ms": re.compile(r"latency stddev(?: =|:) ([\d.]+) ms"),
    "lag_ms": re.compile(r"rate limit schedule lag: avg ([\d.]+) \(max ([\d.]+)\) ms"),
    "connecting_ms": re.compile(r"initial connection time = ([\d.]+) ms"),
    "rate": re.compile(r"tps = ([\d.]+) \((?:without initial connection time|excluding connections .*)\)"),
}
_ALWAYS = ("script", "clients", "threads", "done", "rate")


_BUILTIN_BEFORE_9_6 = {
    "TPC-B (sort of)": "<builtin: TPC-B (sort of)>",
    "Update only pgbench_accounts": "<builtin: simple update>",
    "SELECT only": "<builtin: select only>",
    "Custom query": "",
}


def script_of(printed: str) -> str:
    """Return a transaction type in the form that pgbench has printed since 9.6. Older versions do not print the names
    of users' own scripts."""
    return _BUILTIN_BEFORE_9_6.get(printed, printed)


class TwoRuns(NotALog):
    """Raised if a line begins the output of a second run."""


def read_summary(lines: Iterable[str]) -> Summary:
    """Parse pgbench's output, which may contain progress lines. Raises NotALog if the output is not complete."""
    found: dict[str, re.Match[str]] = {}
    head: re.Match[str] | None = None
    for at, line in enumerate(lines, start=1):
        head = head or _HEAD.fullmatch(line)
        for name, pattern in _KNOWN.items():
            if match := pattern.fullmatch(line):
                if name in found and name in _ALWAYS:
                    raise TwoRuns("a second run", at)
                found.setdefault(name, match)
    lacking = [name for name in _ALWAYS if name not in found]
    if lacking:
        raise NotALog(f"no line `{_told(lacking[0])}`")
    number_of: Callable[[str], float] = lambda name: float(found[name][1]) if name in found else 0.0  # noqa: E731
    lag = found.get("lag_ms")
    return Summary(
        version=head[1] if head else "",
        server=(head[2] if head else "") or "",
        script=script_of(found["script"][1]),
        scale=int(number_of("scale")) if "scale" in found else None,
        protocol=found["protocol"][1] if "protocol" in found else "",
        clients=int(number_of("clients")),
        threads=int(number_of("threads")),
        tries=int(number_of("tries")) or 1,
        asked_s=int(number_of("asked_s")) if "asked_s" in found else None,
        done=int(number_of("done")),
        failed=int(number_of("failed")),
        skipped=int(number_of("skipped")),
        mean_ms=number_of("mean_ms") if "mean_ms" in found else None,
        measured="stddev_ms" in found,
        lag_ms=(float(lag[1]), float(lag[2])) if lag else None,
        connecting_ms=number_of("connecting_ms"),
        rate=number_of("rate"),
    )


def _told(name: str) -> str:
    return _KNOWN[name].pattern.partition(" (")[0].replace("\\", "").rstrip(":= ")


def contradictions(found: Summary, elapsed_s: float | None = None) -> Iterator[str]:
    """Yield the contradictions within a summary, each with both values. `elapsed_s` is the job's duration, or None if
    unknown."""
    if not found.done:
        return
    run = found.seconds + found.connecting_ms / _MS
    took = format_number(round(found.seconds, 3))
    said = f"{found.done} transactions at {format_number(found.rate)} a second take {took} s"
    if found.asked_s is not None and run < found.asked_s * (1 - QUANTISED) - _SLACK_S:
        yield f"{said}, and it ran for {found.asked_s} s"
    if elapsed_s is not None and found.seconds > elapsed_s + _SLACK_S:
        yield f"{said}, and pgbench ran for {format_number(round(elapsed_s, 3))} s"
    if found.measured and found.mean_ms is not None:
        waited = found.lag_ms[0] if found.lag_ms else 0.0
        busy = found.done * max(0.0, found.mean_ms - waited - 2 * _HALF_DIGIT_MS) / _MS
        if busy > found.clients * (found.seconds + _SLACK_S) * (1 + QUANTISED):
            have = f"{found.clients} clients have {format_number(round(found.clients * found.seconds, 3))} s"
            yield f"its latencies add up to {format_number(round(busy, 3))} s, and its {have}"
    if found.lag_ms and found.lag_ms[0] > found.lag_ms[1]:
        yield f"its mean schedule lag of {found.lag_ms[0]} ms is above the longest of {found.lag_ms[1]} ms"


def against_log(found: Summary, log: Transactions) -> Iterator[str]:
    """Yield the contradictions between a summary and its log."""
    if found.done != log.done:
        yield f"it did {found.done} transactions, and its log has {log.done}"
        return
    skipped = log.failed.get("skipped", 0)
    if found.skipped != skipped:
        yield f"it skipped {found.skipped} transactions, and its log has {skipped}"
    failed = sum(log.failed.values()) - skipped
    if found.failed != failed:
        yield f"{found.failed} of its transactions failed, and {failed} in its log"
    if not found.done:
        return
    if found.measured and found.mean_ms is not None:
        yield from _differ("mean latency", found.mean_ms, log.latency / found.done / US_PER_S * _MS)
    if found.lag_ms:
        yield from _differ("mean schedule lag", found.lag_ms[0], log.lag / found.done / US_PER_S * _MS)
        yield from _differ("longest schedule lag", found.lag_ms[1], log.longest_lag / US_PER_S * _MS)


def _differ(what: str, printed_ms: float, logged_ms: float) -> Iterator[str]:
    # The log has whole microseconds.
    if not math.isclose(printed_ms, logged_ms, abs_tol=_HALF_DIGIT_MS + 1.1e-3, rel_tol=1e-6):
        yield f"its {what} is {format_number(printed_ms)} ms, and {format_number(round(logged_ms, 4))} ms by its log"
