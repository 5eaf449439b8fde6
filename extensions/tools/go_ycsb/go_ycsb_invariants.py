"""The rules that go-ycsb's output must keep. They follow go-ycsb's source (pkg/measurement of pingcap/go-ycsb)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from benchbrief.extend import invariants as rule
from benchbrief.extend.invariants import Invariant, Printed, PrintedLatencies, parse_printed
from benchbrief.extensions.tools.go_ycsb.go_ycsb_output import OPERATIONS, GoYcsbOutput, GoYcsbRow

_RMW, _TOTAL, _FAILED = "READ_MODIFY_WRITE", "TOTAL", "_ERROR"
_PROPORTIONS = {
    "READ": "readproportion",
    "UPDATE": "updateproportion",
    "INSERT": "insertproportion",
    "SCAN": "scanproportion",
    _RMW: "readmodifywriteproportion",
}
PHASES = {"command": {"load": "load", "run": "run"}, "dotransactions": {"false": "load", "true": "run"}}
"""The phase that each value of these properties stands for. Older versions print only `dotransactions`."""
_START_S = 5.0
"""How many seconds longer than its operations a run may take, since it also has to connect and to end."""


@dataclass(frozen=True)
class CheckedGoYcsb:
    """An output, and how many threads its run had (None if unknown)."""

    text: GoYcsbOutput
    threads: int | None = None

    def rows(self) -> Iterator[tuple[str, GoYcsbRow]]:
        """Yield each row, interim rows first, with a name for messages."""
        for number, rows in enumerate(self.text.interim, start=1):
            for name, row in rows.items():
                yield f"{name} (interim rows {number})", row
        yield from self.text.final.items()


def find_problems(text: GoYcsbOutput, threads: int | None = None) -> list[str]:
    """Return the contradictions in an output, each with the values that disagree."""
    if threads is None and text.properties.get("threadcount", "").isdecimal():
        threads = int(text.properties["threadcount"])
    return list(rule.find_broken(TABLE, CheckedGoYcsb(text, threads)))


def _cell(row: GoYcsbRow, key: str) -> Printed:
    return parse_printed(row.cells[key]) or Printed(0.0, 0.0)


def _latencies(name: str, row: GoYcsbRow) -> PrintedLatencies:
    printed = {float(key.removesuffix("th(us)")): float(us) for key, us in row.cells.items() if key.endswith("th(us)")}
    # Before v1.0 a percentile is the upper end of a bucket of 1 ms, and 0 beyond the last one.
    coarse = all(us % 1000 == 0 for us in printed.values())
    at = tuple((percent, us / 1e6) for percent, us in printed.items() if us or not coarse)
    return PrintedLatencies(name, row.count, row.mean_s, row.min_s, row.max_s, at, below=1e-3 if coarse else 0.0)


def _each_once(output: CheckedGoYcsb) -> Iterator[str]:
    yield from output.text.oddities


def _numbers(output: CheckedGoYcsb) -> Iterator[str]:
    for name, row in output.rows():
        for key, text in row.cells.items():
            if text.startswith("-"):
                yield f"{name} has {key} = {text}: it is never below 0"
        if "." in row.cells["Count"]:
            yield f"{name} has Count = {row.cells['Count']}: that is no whole number"


def _same_columns(output: CheckedGoYcsb) -> Iterator[str]:
    columns: dict[tuple[str, ...], str] = {}
    for name, row in output.rows():
        columns.setdefault(tuple(row.cells), name)
    for other, name in list(columns.items())[1:]:
        first, before = next(iter(columns.items()))
        differ = sorted(set(first) ^ set(other)) or ["their order"]
        yield f"{before} and {name} have other columns: {', '.join(differ)}"


def _in_order(output: CheckedGoYcsb) -> Iterator[str]:
    for name, row in output.rows():
        yield from rule.check_order(_latencies(name, row))


def _means(output: CheckedGoYcsb) -> Iterator[str]:
    for name, row in output.rows():
        yield from rule.check_mean(_latencies(name, row))


def _rates(output: CheckedGoYcsb) -> Iterator[str]:
    for name, row in output.rows():
        took, rate = _cell(row, "Takes(s)"), _cell(row, "OPS")
        least, most = (
            (took.value - took.off) * (rate.value - rate.off),
            (took.value + took.off) * (rate.value + rate.off),
        )
        if not least - 1 <= row.count <= most + 1:
            computed = (
                f"{took} s at {rate} operations a second are {rule.format_number(round(took.value * rate.value))}"
            )
            yield f"{name} has {row.count} operations, and {computed}"


def _total(output: CheckedGoYcsb) -> Iterator[str]:
    """Check that TOTAL counts each successful operation. It counts a read-modify-write only as a read and an update."""
    rows = output.text.final
    total = rows.get(_TOTAL)
    halves = {name: row for name, row in rows.items() if name not in (_TOTAL, _RMW) and not name.endswith(_FAILED)}
    if total is None or not halves:
        return
    count = sum(row.count for row in halves.values())
    if count != total.count:
        yield f"TOTAL has {total.count} operations, and the rows of operations add up to {count}"
        return
    mean = sum(row.count * row.mean_s for row in halves.values()) / count
    ends = (("mean", total.mean_s, mean), ("minimum", total.min_s, min(row.min_s for row in halves.values())))
    for what, said, has in (*ends, ("maximum", total.max_s, max(row.max_s for row in halves.values()))):
        if abs(said - has) > 1.01e-6 + (2e-3 * has if what == "mean" else 0.0):
            claim = f"TOTAL has a {what} of {rule.format_seconds(said)}"
            yield f"{claim}, and the rows of operations one of {rule.format_seconds(has)}"
    for percent, said in total.printed:
        first, last = sorted(_ranks(percent, count))
        below = sum(_least_below(row, said) for row in halves.values())
        upto = sum(_most_upto(row, said) for row in halves.values())
        if below >= last or upto < first:
            side = f"at least {below} of {count} are below" if below >= last else f"at most {upto} of {count} are up to"
            percentile = f"TOTAL has a p{rule.format_number(percent)} of {rule.format_seconds(said)}"
            yield f"{percentile}, and by the rows of operations {side} that"


def _ranks(percent: float, count: int) -> tuple[int, int]:
    """Return the two ranks that a percentile may have among `count` latencies. HdrHistogram rounds the rank, and later
    versions round it up."""
    exact = percent / 100 * count
    return max(1, math.floor(exact + 0.5)), max(1, math.ceil(exact))


def _least_below(row: GoYcsbRow, value: float) -> int:
    """Return the smallest number of the row's operations that can have been faster than `value`, according to the row's
    percentiles."""
    return max((min(_ranks(p, row.count)) for p, v in row.printed if v < value - 1e-9), default=0)


def _most_upto(row: GoYcsbRow, value: float) -> int:
    """Return the largest number of the row's operations that can have taken at most `value`, according to the row's
    percentiles."""
    if value >= row.max_s - 1e-9:
        return row.count
    return min((max(_ranks(p, row.count)) - 1 for p, v in row.printed if v > value + 1e-9), default=row.count - 1)


def _shares(output: CheckedGoYcsb) -> Iterator[str]:
    """Check that only the requested operations were done, and in the requested shares (such as `readproportion = 0.5`),
    apart from chance."""
    text = output.text
    shares = {name: parse_printed(text.properties.get(key, "")) for name, key in _PROPORTIONS.items()}
    rows = {name: row.count for name, row in text.final.items()}
    loads = any(phases.get(text.properties.get(name, "")) == "load" for name, phases in PHASES.items())
    if loads or not all(shares.values()):
        return
    done = {name: rows.get(name, 0) + rows.get(f"{name}{_FAILED}", 0) for name in shares}
    done["READ"] = max(0, done["READ"] - done[_RMW])
    done["UPDATE"] = max(0, rows.get("UPDATE", 0) - done[_RMW])
    total = sum(done.values())
    for name, asked in shares.items():
        share = asked.value if asked else 0.0
        if total and abs(done[name] / total - share) > 0.02 + 5 * math.sqrt(max(0.0, share * (1 - share)) / total):
            counted = f"{done[name]} of {total} operations are {name}"
            yield f"{counted}, and it was run with {_PROPORTIONS[name]} = {asked}"


def _read_modify_write(output: CheckedGoYcsb) -> Iterator[str]:
    """Check that a read-modify-write took as long as a read and an update, one after the other."""
    rows = output.text.final
    again = rows.get(_RMW)
    if again is None:
        return
    for half in ("READ", "UPDATE"):
        own = sum(row.count for name, row in rows.items() if name.startswith(half) and name != _RMW)
        own += sum(row.count for name, row in rows.items() if name == f"READ{_FAILED}" and half == "UPDATE")
        if again.count > own:
            yield f"{_RMW} has {again.count} operations, and {half} has only {own}"
    read, update = rows.get("READ"), rows.get("UPDATE")
    # With failures, it may have ended after its read, or have waited without a result.
    if read and update and not any(name.endswith(_FAILED) for name in rows):
        halves = _latencies("READ", read), _latencies("UPDATE", update)
        yield from rule.check_halves(_latencies(_RMW, again), *halves)


def _cumulative(output: CheckedGoYcsb) -> Iterator[str]:
    for before, after in pairwise((*output.text.interim, output.text.final)):
        for name, row in before.items():
            later = after.get(name)
            if later is None:
                yield f"{name} has {row.count} operations in interim rows, and no row after them"
                continue
            for what, was, now, grows in (
                ("operations", row.count, later.count, True),
                ("seconds", float(row.cells["Takes(s)"]), float(later.cells["Takes(s)"]), True),
                ("us at most", row.max_s * 1e6, later.max_s * 1e6, True),
                ("us at least", row.min_s * 1e6, later.min_s * 1e6, False),
            ):
                if (now < was - 1e-6) if grows else (now > was + 1e-6):
                    claim = f"{rule.format_number(round(was, 3))} {what}"
                    change = f"{claim}, and {rule.format_number(round(now, 3))} in the rows after them"
                    yield f"{name} has {change}: rows are counted from the start"


def _finished(output: CheckedGoYcsb) -> Iterator[str]:
    """Check that the longest row lasted as long as the run without its warm-up."""
    took = output.text.finished_s
    rows = {name: _cell(row, "Takes(s)") for name, row in output.text.final.items()}
    if took is None or not rows:
        return
    name = max(rows, key=lambda each: rows[each].value)
    longest = rows[name]
    # A row's time begins when its first operation has ended, which may have waited for the server.
    slowest = max(row.max_s for row in output.text.final.values())
    warm_up = parse_printed(output.text.properties.get("warmuptime", "0")) or Printed(0.0, 0.0)
    if longest.value - longest.off > took + 0.05:
        yield f"{name} took {longest} s, and the whole run {rule.format_number(round(took, 3))} s"
    elif longest.value + longest.off + warm_up.value < 0.95 * took - _START_S - slowest:
        yield f"the run took {rule.format_number(round(took, 3))} s, and {name}, its longest row, {longest} s"


def _in_time(output: CheckedGoYcsb) -> Iterator[str]:
    """Check that the operations fit into the run's time and threads. The time of a row begins when its first operation
    has ended."""
    for name, row in output.rows():
        if output.text.finished_s is not None:
            yield from rule.check_run_length(_latencies(name, row), output.text.finished_s, 0.1)
    rows = {name: row for name, row in output.text.final.items() if name.removesuffix(_FAILED) in OPERATIONS}
    once = [_latencies(name, row) for name, row in rows.items() if name != _RMW]
    if output.threads and once:
        run_s = max(float(row.cells["Takes(s)"]) for row in rows.values()) + 0.05
        before = output.threads * max(row.max_s for row in rows.values())
        yield from rule.check_threads(once, run_s, output.threads, before)


def _thread_count(output: CheckedGoYcsb) -> Iterator[str]:
    printed = output.text.properties.get("threadcount", "")
    if output.threads and printed and printed != str(output.threads):
        yield f"it ran with threadcount = {printed[:60]}, and the cell has {output.threads} threads"


TABLE: tuple[Invariant[CheckedGoYcsb], ...] = (
    Invariant("One run, each final row once, each row whole: decimal points, and go-ycsb's columns", _each_once),
    Invariant("Each value is a number from 0 on; counts are whole", _numbers),
    Invariant("All rows have the same columns", _same_columns),
    Invariant("Minimum <= percentiles, rising <= maximum; the mean lies between", _in_order),
    Invariant("The mean is one that latencies with these percentiles can have", _means),
    Invariant("`Count` is `Takes` x `OPS`", _rates),
    Invariant("`TOTAL` is the rows of operations together: count, mean, minimum, maximum, percentiles", _total),
    Invariant("Operations are done in the shares of the properties (`readproportion` and the like)", _shares),
    Invariant(
        "`READ_MODIFY_WRITE` has no more operations than its halves, is not faster, and not twice as slow",
        _read_modify_write,
    ),
    Invariant("Each row counts from the start: none is less than the one before it", _cumulative),
    Invariant("`Run finished, takes` is the time of the rows, and of the warm-up before them", _finished),
    Invariant("No operation takes longer than the run, all together no longer than its threads", _in_time),
    Invariant("`threadcount` is the threads that were asked for", _thread_count),
)
