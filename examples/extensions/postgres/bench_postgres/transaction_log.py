"""Sums up pgbench's transaction log as counts by latency and by second. Latencies are in microseconds.

A line of the log is `client_id transaction_no time script_no time_epoch time_us [schedule_lag] [retries]`. `time` is
the transaction's elapsed time, or the reason why it has none (`skipped`, `failed`, `serialization`, `deadlock`). With
an offered load, `time` counts from the scheduled start, and `schedule_lag` is the time from the scheduled start to the
actual one: https://www.postgresql.org/docs/15/pgbench.html (Per-Transaction Logging, and `--rate`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchbrief.extend.common import Sample
from benchbrief.extend.histograms import US_PER_S, from_counts
from benchbrief.extend.tools import Histogram, Interval

_EXACT = 256
"""The latency up to which each microsecond has its own bucket. Above it, each power of two has 128 buckets."""
_LINE = re.compile(r"\d+ \d+ (\d+|[a-z]+) \d+ (\d{1,12}) (\d{1,6})(?: (\d+))?(?: (\d+))?")
_LONGEST = 1 << 12
"""The most characters of a line to read. Real lines of a log are shorter."""
_FOLDED = re.compile(r"(window|whole|failed|latency|bucket|second) ((?:[a-z]+ )?[\d. ]+)")


class NotALog(ValueError):
    """Raised if the text is not a complete transaction log. The message gives the reason."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.line = line


@dataclass
class Latencies:
    """Latencies of one kind, counted by bucket. A bucket has a lower end and a width."""

    count: int = 0
    total: int = 0
    low: int = 0
    high: int = 0
    buckets: Counter[tuple[int, int]] = field(default_factory=Counter)

    def add(self, value: int) -> None:
        width = 1 << max(0, value.bit_length() - 8)
        self.buckets[value - value % width, width] += 1
        self.low = value if not self.count else min(self.low, value)
        self.high = max(self.high, value)
        self.count += 1
        self.total += value

    @property
    def mean_s(self) -> float:
        return self.total / self.count / US_PER_S

    def histogram(self) -> Histogram:
        """Return the buckets in seconds. A logged value of v microseconds means the range [v, v + 1)."""
        counts = (((lo, lo + width), count) for (lo, width), count in self.buckets.items())
        return from_counts(counts, US_PER_S)


@dataclass
class Transactions:
    """The contents of a log, for the whole run and for the measured `window` (in epoch seconds by the host's clock).

    `failed` and `failed_inside` count failures by reason. For each second of the window, `seconds` has the number of
    transactions that ended in it and the sum of their schedule lags.
    """

    window: tuple[float, float]
    done: int = 0
    latency: int = 0
    lag: int = 0
    longest_lag: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    failed_inside: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, Latencies] = field(default_factory=dict)
    seconds: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def measured_s(self) -> float:
        return self.window[1] - self.window[0]

    @property
    def errors(self) -> int:
        return sum(self.failed_inside.values())

    def intervals(self) -> tuple[Interval, ...]:
        """Return the whole seconds of the window, including those without a completed transaction."""
        whole = math.floor(self.measured_s + 0.05)
        return tuple(Interval(float(second), 1.0, self.seconds.get(second, (0, 0))[0]) for second in range(whole))

    def schedule_lags(self) -> tuple[Sample, ...]:
        """Return the mean schedule lag in each whole second that has a completed transaction."""
        whole = math.floor(self.measured_s + 0.05)
        rows = ((second, *self.seconds[second]) for second in sorted(self.seconds) if second < whole)
        return tuple(
            Sample("pgbench.schedule_lag", "", "", second + 1.0, lag / count / US_PER_S, "s", 1.0)
            for second, count, lag in rows
        )


def read_folded(path: Path) -> Transactions:
    """Read the output of `fold_log.awk`. Raises NotALog if it is not complete."""
    try:
        text = path.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError) as error:
        raise NotALog(str(error)) from error
    if text[:1] != ["pgbench transactions 1"] or text[-1:] != ["end"]:
        raise NotALog(f"{path.name} is cut, or of something else")
    found = Transactions((0.0, 0.0))
    for number, line in enumerate(text[1:-1], start=2):
        match = _FOLDED.fullmatch(line)
        if match is None:
            raise NotALog(f"{path.name} has the line {line[:80]!r}", number)
        try:
            _fold_in(found, match[1], match[2].split())
        except (ValueError, IndexError) as error:
            raise NotALog(f"{path.name} has the line {line[:80]!r}", number) from error
    for kind, each in found.kinds.items():
        if sum(each.buckets.values()) != each.count:
            raise NotALog(f"its buckets of {kind} latencies hold {sum(each.buckets.values())} of {each.count}")
    return found


def _fold_in(found: Transactions, what: str, words: list[str]) -> None:
    if what == "window":
        start, end = (float(word) for word in words)
        found.window = (start, end)
    elif what == "whole":
        found.done, found.latency, found.lag, found.longest_lag = (int(word) for word in words)
    elif what == "failed":
        reason, whole, inside = words
        found.failed[reason], found.failed_inside[reason] = int(whole), int(inside)
    elif what == "latency":
        of = found.kinds.setdefault(words[0], Latencies())
        of.count, of.total, of.low, of.high = (int(word) for word in words[1:])
    elif what == "bucket":
        lo, width, count = (int(word) for word in words[1:])
        found.kinds.setdefault(words[0], Latencies()).buckets[lo, width] += count
    else:
        second, count, lag = (int(word) for word in words)
        found.seconds[second] = (count, lag)


@dataclass(frozen=True)
class LogFile(Iterable[str]):
    """The lines of a log. Each iteration reads the file again."""

    path: Path

    def __iter__(self) -> Iterator[str]:
        with self.path.open(encoding="utf-8", errors="replace") as file:
            while line := file.readline(_LONGEST):
                yield line.rstrip("\r\n")


@dataclass(frozen=True)
class _Entry:
    time: int | None
    reason: str
    at: float
    lag: int


def fold_logs(texts: Mapping[str, Iterable[str]], seconds: float, warm_up_s: float, *, offered: bool) -> Transactions:
    """Sum up the raw logs of one run, given by name. `seconds` is how long the run lasted according to pgbench.

    The logs are read twice, because the window is known only once the end of the last transaction is known. No line is
    kept in memory. Raises NotALog for a line that does not belong to a transaction log, such as one written with
    `--aggregate-interval`.
    """
    end = max((each.at for each in _entries(texts, offered)), default=None)
    if end is None:
        raise NotALog("the logs are empty")
    found = Transactions((end - seconds + warm_up_s, end))
    service, intended = Latencies(), Latencies()
    for each in _entries(texts, offered):
        inside = each.at > found.window[0]
        if each.time is None:
            found.failed[each.reason] += 1
            found.failed_inside[each.reason] += inside
            continue
        found.done += 1
        found.latency += each.time
        found.lag += each.lag
        found.longest_lag = max(found.longest_lag, each.lag)
        if inside:
            service.add(max(0, each.time - each.lag))
            intended.add(each.time)
            second = int(each.at - found.window[0])
            count, lag = found.seconds.get(second, (0, 0))
            found.seconds[second] = (count + 1, lag + each.lag)
    kinds = {"service": service, **({"intended": intended} if offered else {})}
    found.kinds = {kind: each for kind, each in kinds.items() if each.count}
    return found


def _entries(texts: Mapping[str, Iterable[str]], offered: bool) -> Iterator[_Entry]:
    return (_entry(name, number, line, offered) for name, text in texts.items() for number, line in _lines(text))


def _lines(text: Iterable[str]) -> Iterable[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text, start=1) if line)


def _entry(name: str, number: int, line: str, offered: bool) -> _Entry:
    match = _LINE.fullmatch(line)
    if match is None or (offered and match[4] is None):
        raise NotALog(f"{name} has {line[:60]!r}, which is no line of a log of transactions", number)
    time = int(match[1]) if match[1].isdecimal() else None
    lag = int(match[4]) if offered else 0
    return _Entry(time, match[1], int(match[2]) + int(match[3]) / US_PER_S, lag)
