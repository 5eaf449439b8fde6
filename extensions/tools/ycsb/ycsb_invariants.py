"""The rules that YCSB's output must keep.

The rules follow YCSB's source: `Client`, `DBWrapper`, `Measurements` and the `OneMeasurement` classes of site.ycsb
(com.yahoo.ycsb before 0.16).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median

from benchbrief.extend import histograms as h
from benchbrief.extend import invariants as rule
from benchbrief.extend.invariants import Invariant, Printed, PrintedLatencies, parse_printed
from benchbrief.extend.tools import Histogram
from benchbrief.extensions.tools.ycsb.ycsb_output import BUCKETS, INTENDED, TimeSlice, YcsbRow, YcsbText, operation_of

_RMW = "READ-MODIFY-WRITE"
_FIRST, _LAST = 946_684_800.0, 4_102_444_800.0
"""The years 2000 to 2100. A log with other times has lost its `#[StartTime: ...]`."""
_STAMP_S = 0.01
"""How many seconds a time stamp may be off, since it has three digits and another thread may run before it is taken."""
_LENGTH_OFF = 0.1
_NEARLY = 0.95
_PATIENCE = 20.0
"""The longest plausible time without a certain operation, as a multiple of its mean gap. If operations end at random
times, one run in 10^8 has a longer gap."""


@dataclass(frozen=True)
class Logs:
    """A run's logs, by YCSB's row names. `text` is None if there is no output besides the logs."""

    slices: Mapping[str, Sequence[TimeSlice]]
    text: YcsbText | None = None
    merged: dict[str, Histogram] = field(default_factory=dict)

    def whole(self, name: str) -> Histogram:
        if name not in self.merged:
            self.merged[name] = h.merge(piece.histogram for piece in self.slices.get(name, ()))
        return self.merged[name]


class LogProblem(str):
    """A contradiction as text. `log` is YCSB's row name of the log that is wrong, or "" if all logs are wrong."""

    log: str

    def __new__(cls, text: str, log: str = "") -> LogProblem:
        problem = super().__new__(cls, text)
        problem.log = log
        return problem


def find_log_problems(slices: Mapping[str, Sequence[TimeSlice]], text: YcsbText | None = None) -> list[LogProblem]:
    """Return the contradictions among a run's logs, or between logs and rows, each with the values that disagree."""
    found = rule.find_broken(LOG_TABLE, Logs(slices, text))
    return [each if isinstance(each, LogProblem) else LogProblem(each) for each in found]


def _in_our_time(logs: Logs) -> Iterator[str]:
    for name, pieces in logs.slices.items():
        wrong = next((piece for piece in pieces if not _FIRST < piece.start <= piece.end < _LAST), None)
        if wrong is not None:
            said = f"begins {rule.format_number(round(wrong.start, 3))} s after 1970"
            wrong_at = f"an interval in the log of {name} {said}"
            yield LogProblem(f"{wrong_at}: a time stamp, or the line `#[StartTime: ...]`, is wrong", name)


def _one_after_another(logs: Logs) -> Iterator[str]:
    for name, pieces in logs.slices.items():
        for before, after in pairwise(pieces):
            apart = after.start - before.end
            if abs(apart) <= _STAMP_S + _LENGTH_OFF * min(before.end - before.start, after.end - after.start):
                continue
            ended, begins = _clock(before.end), _clock(after.start)
            if apart > 0:
                problem = f"no interval from {ended} to {begins} ({rule.format_number(round(apart, 3))} s)"
            else:
                problem = f"an interval that begins at {begins}, before the one above it ended at {ended}"
            yield LogProblem(f"the log of {name} has {problem}", name)
            break


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S.%f")[:-3] if _FIRST < at < _LAST else f"{at:.3f} s"


def _begin_and_end_together(logs: Logs) -> Iterator[str]:
    """Check that all logs end together, since one thread writes them, and that logs of successes begin together. Logs
    of rare operations may begin later."""
    known = {name: pieces for name, pieces in logs.slices.items() if pieces and operation_of(name)}
    if len(known) < 2:
        return
    first, last = min(known, key=lambda name: known[name][0].start), max(known, key=lambda name: known[name][-1].end)
    start, end = known[first][0].start, known[last][-1].end
    slowest = max((logs.whole(name).buckets[-1].hi for name in known if logs.whole(name).buckets), default=0.0)
    for name, pieces in known.items():
        length = median(piece.end - piece.start for piece in pieces)
        slack = max(0.25, 0.6 * length)
        # One kind may be over while slow operations of another kind still run. A cut log lacks an interval.
        own = (pieces[-1].end - pieces[0].start) / max(1, logs.whole(name).count) + slowest
        if end - pieces[-1].end > max(slack, min(slack + own, _NEARLY * length)):
            lacking = rule.format_number(round(end - pieces[-1].end, 3))
            said = f"the log of {name} ends {lacking} s before that of {last}"
            yield LogProblem(f"{said}: it was cut, or is of another run", name)
        counted = logs.whole(name)
        if (operation_of(name) or ("", True))[1] or not counted.buckets:
            continue
        rare = _PATIENCE * (pieces[-1].end - pieces[0].start) / counted.count + counted.buckets[-1].hi
        if pieces[0].start - start > slack + rare:
            late = rule.format_number(round(pieces[0].start - start, 3))
            said = f"the log of {name} begins {late} s after that of {first}"
            yield LogProblem(f"{said}: it was cut, or is of another run", name)


def _of_both_kinds(logs: Logs) -> Iterator[str]:
    rows = {name for name, pieces in logs.slices.items() if pieces}
    if not any(name.startswith(INTENDED) for name in rows):
        return
    for name in sorted(rows):
        plain = name.removeprefix(INTENDED)
        other = plain if name != plain else INTENDED + name
        count = logs.whole(name).count
        if count and logs.whole(other).count != count:
            have = f"{logs.whole(other).count}" if other in rows else "no log"
            said = f"the log of {name} has {count} operations, and {other} has {have}"
            yield LogProblem(f"{said}: each has a log of both kinds", name)


def _read_modify_write_in_log(logs: Logs) -> Iterator[str]:
    again = logs.whole(_RMW).count
    for half in ("READ", "UPDATE"):
        names = [name for name in logs.slices if name == half or name.startswith(f"{half}-")]
        own = sum(logs.whole(name).count for name in names)
        if again > own:
            yield LogProblem(f"the log of {_RMW} has {again} operations, and that of {half} only {own}", _RMW)


def _as_printed(logs: Logs) -> Iterator[str]:
    if logs.text is None:
        return
    for name, row in logs.text.rows.items():
        count = logs.whole(name).count
        if count != row.count:
            have = f"its histogram log holds {count}" if logs.slices.get(name) else "there is no histogram log of it"
            yield LogProblem(f"YCSB counted {row.count} operations in [{name}], and {have}", name)
        else:
            for problem in check_against_row(row, logs.whole(name), f"the log of {name}"):
                yield LogProblem(problem, name)
    for name in logs.slices:
        if name not in logs.text.rows and logs.whole(name).count:
            said = f"the log of {name} holds {logs.whole(name).count} operations"
            yield LogProblem(f"{said}, and YCSB printed no [{name}]", name)


def check_against_row(row: YcsbRow, log: Histogram, called: str) -> Iterator[str]:
    """Yield each difference between the log's latencies and the row's. Both must have the same number of operations.

    HdrHistogram computes the mean from the middle of each bucket. Its minimum and maximum are ends of buckets.
    """
    if not log.buckets:
        return
    own = {"mean": h.mean(log), "minimum": log.buckets[0].lo, "maximum": log.buckets[-1].hi}
    for what, said in (("mean", row.mean_s), ("minimum", row.min_s), ("maximum", row.max_s)):
        if said is not None and abs(own[what] - said) > rule.QUANTISED * max(said, own[what]) + 1.01e-6:
            claim = f"[{row.name}] has a {what} of {rule.format_seconds(said)}"
            yield f"{claim}, and {called} one of {rule.format_seconds(own[what])}"
    for percent, said in row.printed:
        if any(rule.check_percentile("", log, [(percent, said)])):
            has = rule.format_seconds(h.percentile(log, percent))
            claim = f"[{row.name}] has a p{rule.format_number(percent)} of {rule.format_seconds(said)}"
            yield f"{claim}, and {called} one of {has}"


def _within_run(logs: Logs) -> Iterator[str]:
    pieces = [piece for each in logs.slices.values() for piece in each]
    if logs.text is None or "RunTime(ms)" not in logs.text.overall or not pieces:
        return
    span = max(piece.end for piece in pieces) - min(piece.start for piece in pieces)
    run_s = logs.text.runtime_s
    # The last lines are written when the run is over.
    if span > run_s + max(2.0, 0.1 * run_s):
        claim = f"the logs reach over {rule.format_number(round(span, 3))} s"
        yield f"{claim}, and the run took {rule.format_number(run_s)} s"


LOG_TABLE: tuple[Invariant[Logs], ...] = (
    Invariant("Each row has a log, and each log a row, with its count, mean, ends and percentiles", _as_printed),
    Invariant("Each interval has a time stamp of our time", _in_our_time),
    Invariant("Each interval begins where the one before ended: none lacks, none is there twice", _one_after_another),
    Invariant("The logs of a run begin and end together", _begin_and_end_together),
    Invariant(
        "With intended latencies, each operation has a log of both kinds, with as many operations", _of_both_kinds
    ),
    Invariant("`READ-MODIFY-WRITE` has no more operations than `READ` and `UPDATE`", _read_modify_write_in_log),
    Invariant("The logs reach over no longer time than `RunTime`", _within_run),
)


_EMPTY = {"NaN", "9.223372036854776E18", "9223372036854775807", "2147483647", "2.147483647E9", "-1", "-1.0"}
"""The mean or minimum that YCSB prints for an operation that was never done."""
_LATENCY = re.compile(r"(?:Average|Min|Max)Latency\((\w+)\)")
_PERCENTILE = re.compile(r"(\d{1,3}(?:\.\d{1,9})?)(?:st|nd|rd|th)?PercentileLatency\((\w+)\)")
_BUCKET = re.compile(r">?\d{1,12}")
_OTHER_KEYS = re.compile(
    r"Operations|LatencyVariance\(\w+\)|Return=.*|Total Operations|Average|Min|Max|p[\d.]+|Below is .*"
)


@dataclass(frozen=True)
class CheckedYcsb:
    """An output, and what is known about its run. `threads` is None if unknown. With `intended`, the latencies in rows
    with plain names count from when operations were due. `connections` is how many its threads have, or None if that
    depends on a binding that is unknown."""

    text: YcsbText
    threads: int | None = None
    intended: bool = False
    connections: int | None = None

    def cell(self, section: str, key: str) -> Printed | None:
        return parse_printed(self.text.cells.get(section, {}).get(key, ""))

    def sections(self) -> Iterator[tuple[str, Mapping[str, str], YcsbRow]]:
        """Yield a section for each operation that has results: its name, its values as printed, and the parsed row."""
        for name, row in self.text.rows.items():
            if row.count:
                yield f"[{name}]", self.text.cells[name], row

    def latencies(self) -> Iterator[PrintedLatencies]:
        for name, cells, row in self.sections():
            by_ms = any(key.endswith("Latency(ms)") for key in cells if not _PERCENTILE.match(key))
            unit = 1e-3 if by_ms else 1e-6
            # Zeros stay here: they are the first bucket's lower end.
            found = [(match, parse_printed(value)) for key, value in cells.items() if (match := _PERCENTILE.match(key))]
            scale = {"us": 1e-6, "ms": 1e-3}
            at = tuple((float(m[1]), v.value * scale[m[2]]) for m, v in found if v is not None and m[2] in scale)
            yield PrintedLatencies(
                name, row.count, row.mean_s, row.min_s, row.max_s, at, unit, above=1e-3 if row.by_ms or by_ms else 0.0
            )


def find_problems(
    text: YcsbText, threads: int | None = None, *, intended: bool = False, connections: int | None = None
) -> list[str]:
    """Return the contradictions in an output, each with the values that disagree."""
    return list(rule.find_broken(TABLE, CheckedYcsb(text, threads, intended, connections)))


def _each_once(output: CheckedYcsb) -> Iterator[str]:
    yield from output.text.oddities


def _numbers(output: CheckedYcsb) -> Iterator[str]:
    for name, cells in output.text.cells.items():
        done = name not in output.text.rows or output.text.rows[name].count
        for key, value in cells.items():
            read = parse_printed(value)
            if read is None and not (value in _EMPTY and not done):
                yield f"[{name}] has {key} = {value}, which is no number"
            elif read is not None and read.value < 0 and value not in _EMPTY:
                yield f"[{name}] has {key} = {value}: it is never below 0"
            elif read is not None and _is_whole(key) and read.value != int(read.value):
                yield f"[{name}] has {key} = {value}: that is no whole number"


def _is_whole(key: str) -> bool:
    """Return whether the value with this key is always a whole number, such as a count or the latency of one operation
    in us or ms."""
    counts = key in ("Operations", "Total Operations") or key.startswith("Return=")
    return counts or key.startswith(("Min", "Max")) or _PERCENTILE.fullmatch(key) is not None


def _known_keys(output: CheckedYcsb) -> Iterator[str]:
    units: dict[bool, dict[str, str]] = {False: {}, True: {}}
    for name in output.text.rows:
        for key in output.text.cells[name]:
            percentile = _PERCENTILE.fullmatch(key)
            latency = percentile or _LATENCY.fullmatch(key)
            if latency:
                units[bool(percentile)].setdefault(latency[latency.lastindex or 1], f"[{name}] {key}")
            elif key == "Return=-0":
                yield f"[{name}] has `{key}`, which is no return code"
            elif "Latency" in key and not _OTHER_KEYS.fullmatch(key):
                yield f"[{name}] has `{key}`, which YCSB does not print"
    for found in units.values():
        for unit, where in found.items():
            if unit not in ("us", "ms"):
                yield f"{where} is in {unit}: YCSB's latencies are in us or ms"
        if len(found) > 1:
            yield f"{' and '.join(found.values())} are in two units"


def _whole_sections(output: CheckedYcsb) -> Iterator[str]:
    """Check that all operations have the same kinds of rows."""
    done = list(output.sections())
    for name, cells in output.text.cells.items():
        if operation_of(name) and "Operations" not in cells and "Total Operations" not in cells:
            yield f"[{name}] has no count of its operations, and has {next(iter(cells), 'a row that is cut')}"
    labels = {key for _, cells, row in done if not row.by_ms for key in cells if _PERCENTILE.match(key)}
    heads = {"AverageLatency", "MinLatency", "MaxLatency"}
    for name, cells, row in done:
        have = {key.partition("(")[0] for key in cells}
        lacking = sorted(heads - have) if have & heads else []
        lacking += sorted(labels - set(cells)) if not row.by_ms else []
        if lacking:
            yield f"{name} has no {lacking[0]}, which YCSB prints of each operation"
    with_codes = [name for name, _, row in done if row.ok is not None]
    for name, _, row in done:
        if with_codes and row.ok is None and _has_codes(row.name):
            yield f"{name} has no return codes (Return=OK), and {with_codes[0]} has"


def _has_codes(row: str) -> bool:
    kind = operation_of(row)
    return kind is not None and not kind[1] and row != _RMW and not row.startswith(INTENDED)


def _in_order(output: CheckedYcsb) -> Iterator[str]:
    for each in output.latencies():
        yield from rule.check_order(each)


def _means(output: CheckedYcsb) -> Iterator[str]:
    for each in output.latencies():
        yield from rule.check_mean(each)


def _return_codes(output: CheckedYcsb) -> Iterator[str]:
    """Check counts against return codes. Before 0.6.0, an operation's count includes its failures; later versions have
    a separate row for failures (READ-FAILED)."""
    rows = output.text.rows
    for name, row in rows.items():
        if row.ok is None or not _has_codes(name):
            continue
        failed = {
            other: each.count for other, each in rows.items() if other.startswith(f"{name}-") and _failures(other)
        }
        said = row.failed or 0
        if not failed and row.ok + said == row.count:
            continue
        if row.ok != row.count:
            yield f"[{name}] has {row.count} operations, and its return codes count {row.ok} that went well"
        if said != sum(failed.values()):
            others = " and ".join(f"[{other}]" for other in failed) or f"[{name}-FAILED]"
            yield f"[{name}] has {said} failures by its return codes, and {others} {sum(failed.values())}"
    for name, row in rows.items():
        base = name.removeprefix(INTENDED).partition("-")[0]
        if row.count and _failures(name) and not name.startswith(INTENDED) and base not in rows:
            yield f"[{name}] has {row.count} operations, and there is no [{base}]"


def _failures(row: str) -> bool:
    return (operation_of(row) or ("", False))[1]


def _buckets(output: CheckedYcsb) -> Iterator[str]:
    """Check that a printed histogram contains all operations. A time series also has buckets, but no percentiles."""
    for (name, cells, row), latencies in zip(output.sections(), output.latencies(), strict=True):
        counts = [read.value for key, text in cells.items() if _BUCKET.fullmatch(key) and (read := parse_printed(text))]
        overflows = any(key.startswith(">") for key in cells)
        if not counts or not (overflows or latencies.percentiles):
            continue
        if sum(counts) != row.count:
            yield f"{name} has {row.count} operations, and its buckets hold {rule.format_number(sum(counts))}"
        elif row.histogram is None:
            yield f"{name} has buckets that overlap"
        else:
            # With buckets of a millisecond, a printed percentile is the lower end of its bucket.
            unit = 1e-3 if row.by_ms else 1e-6
            yield from rule.check_percentile(name, row.histogram, latencies.percentiles)
            yield from rule.check_bucket_mean(name, row.histogram, row.mean_s, unit)
            yield from rule.check_bucket_ends(name, row.histogram, row.min_s, row.max_s, unit)


def _bucket_labels(output: CheckedYcsb) -> Iterator[str]:
    """Check the order and the last bucket of printed histograms. For each operation, `OneMeasurementHistogram` prints
    buckets from 0 to n - 1 ms, then `>n` for everything above. A printed HDR histogram leaves out empty buckets, and so
    may a file that was edited by hand.
    """
    labels = {
        name: [key for key in cells if _BUCKET.fullmatch(key)] for name, cells, row in output.sections() if row.mean_s
    }
    without = [name for name, keys in labels.items() if not keys]
    ends: dict[str, str] = {}
    for name, keys in labels.items():
        if keys and without:
            yield f"{name} has buckets, and {without[0]} has none: YCSB prints them of each operation, or of none"
            return
        places = [int(key.removeprefix(">")) for key in keys]
        over = [key for key in keys if key[0] == ">"]
        back = next((pair for pair in pairwise(zip(places, keys, strict=True)) if pair[1][0] <= pair[0][0]), None)
        if back:
            yield f"{name} has the bucket {back[1][1]} after {back[0][1]}: YCSB prints them in order"
        elif over and over != keys[-1:]:
            yield f"{name} has the bucket {keys[-1]} after {over[0]}, which holds all above"
        ends |= dict.fromkeys(over, name)
    if len(ends) > 1:
        yield f"{' and '.join(f'{name} has {key}' for key, name in ends.items())}: their last buckets are alike"


def _both_histograms(output: CheckedYcsb) -> Iterator[str]:
    """Check that the two histograms agree, since `TwoInOneMeasurement` gives each latency to both. HdrHistogram keeps
    three digits."""
    for section in output.text.cells:
        first = section.removeprefix(BUCKETS)
        if first == section or first not in output.text.cells:
            continue
        for key in ("Operations", "AverageLatency(us)", "MinLatency(us)", "MaxLatency(us)"):
            one, two = output.cell(first, key), output.cell(section, key)
            if one and two and abs(one.value - two.value) > (key != "Operations") * (1 + rule.QUANTISED * two.value):
                yield f"[Hdr{first}] has {key} = {one}, and [{section}] of the same operations {two}"


def _throughput(output: CheckedYcsb) -> Iterator[str]:
    """Check that the throughput is 1000 * operations / RunTime, as printed by Client. A load's failed inserts have
    rows, but do not count as operations."""
    rate, run = output.cell("OVERALL", "Throughput(ops/sec)"), output.cell("OVERALL", "RunTime(ms)")
    if rate is None or run is None:
        return
    rows = output.text.rows
    plain = [(name, row) for name, row in rows.items() if not name.startswith(INTENDED)]
    failed = sum(row.count for name, row in plain if _failures(name))
    done = sum(row.count for name, row in plain if name != _RMW and not _failures(name))
    again = rows[_RMW].count if _RMW in rows else 0
    total = done + failed - again
    said = rate.value * run.value / 1000
    off = rate.off * run.value / 1000 + rate.value * run.off / 1000 * (run.value != int(run.value)) + 0.5
    least = total - (failed if "INSERT-FAILED" in rows else 0)
    if not least - off <= said <= total + off:
        how = f"Throughput {rule.format_number(rate.value)} ops/s in RunTime {rule.format_number(run.value)} ms"
        yield f"[OVERALL] did {said:.0f} operations ({how}), and the rows of its operations count {total}"


def _read_modify_write(output: CheckedYcsb) -> Iterator[str]:
    rows = output.text.rows
    for before in ("", INTENDED):
        again = rows.get(before + _RMW)
        for half in ("READ", "UPDATE"):
            own = sum(r.count for n, r in rows.items() if n == before + half or n.startswith(f"{before}{half}-"))
            if again and again.count > own:
                yield f"[{before}{_RMW}] has {again.count} operations, and [{before}{half}] has only {own}"
    each = {of.name: of for of in output.latencies()}
    parts = [each.get(f"[{name}]") for name in (_RMW, "READ", "UPDATE")]
    failed = any(_failures(name) for name in rows)  # then a failed half is counted in a row of failures
    if not output.intended and not failed and all(parts):
        whole, first, second = (of for of in parts if of is not None)
        # The command line may be lost, so each half may count from when the whole was due.
        yield from rule.check_halves(whole, replace(first, low=None), second)


def _with_latencies(output: CheckedYcsb) -> Iterator[str]:
    """Check that each row with a count also has a mean, which YCSB prints right after it. Only raw measurements have
    none."""
    for name, row in output.text.rows.items():
        if row.count and row.mean_s is None:
            yield f"[{name}] has {row.count} operations, and no AverageLatency: it was cut"


def _intended(output: CheckedYcsb) -> Iterator[str]:
    """Check that with `measurement.interval=both`, each operation has a latency from its start and one from its due
    time."""
    rows = output.text.rows
    if not any(name.startswith(INTENDED) for name in rows):
        return
    for name, row in rows.items():
        plain = name.removeprefix(INTENDED)
        other = plain if name != plain else INTENDED + name
        if row.count and (other not in rows or rows[other].count != row.count):
            have = f"{rows[other].count}" if other in rows else "no rows"
            yield f"[{name}] has {row.count} operations, and [{other}] has {have}: each has a row of both kinds"
    for name, due in rows.items():
        plain_row = rows.get(name.removeprefix(INTENDED))
        if not name.startswith(INTENDED) or plain_row is None:
            continue
        for what, later, own in (
            ("mean", due.mean_s, plain_row.mean_s),
            ("minimum", due.min_s, plain_row.min_s),
            ("maximum", due.max_s, plain_row.max_s),
            *((f"p{rule.format_number(p)}", v, dict(plain_row.printed).get(p)) for p, v in due.printed),
        ):
            if later is not None and own is not None and later < own * (1 - rule.QUANTISED) - 1e-6:
                bound = f"below the {rule.format_seconds(own)} of [{plain_row.name}]"
                yield f"[{name}] has a {what} of {rule.format_seconds(later)}, {bound}"


def _in_time(output: CheckedYcsb) -> Iterator[str]:
    run = output.cell("OVERALL", "RunTime(ms)")
    if run is None:
        return
    each = list(output.latencies())
    for of in each:
        yield from rule.check_run_length(of, run.value / 1000, 1e-3)
    if output.threads and not output.intended:  # waits of several operations overlap, even in one thread
        once = [of for of in each if of.name != f"[{_RMW}]" and not of.name.startswith(f"[{INTENDED}")]
        for slip in rule.check_threads(once, run.value / 1000, output.threads, 1e-3):
            yield f"{slip}; only with -p measurement.interval=intended, which its command line does not say, may they"


def _connections(output: CheckedYcsb) -> Iterator[str]:
    closed = output.text.cleanups
    if output.connections and closed and closed != output.connections:
        yield f"{closed} client threads ran ([CLEANUP], Operations), and the cell has {output.connections}"


def _garbage_collector(output: CheckedYcsb) -> Iterator[str]:
    """Check that the share of garbage collection is 100 * GC time / RunTime, as printed by Client."""
    run = output.cell("OVERALL", "RunTime(ms)")
    spent, share = output.cell("TOTAL_GC_TIME", "Time(ms)"), output.cell("TOTAL_GC_TIME_%", "Time(%)")
    if run is None or spent is None or share is None or not run.value:
        return
    if abs(100 * spent.value / run.value - share.value) > share.off + 1e-6 * share.value + 0.005:
        amount = f"{rule.format_number(spent.value)} ms of {rule.format_number(run.value)} ms"
        yield f"[TOTAL_GC_TIME_%] is {share}, and {amount} is {100 * spent.value / run.value:.4g}"


TABLE: tuple[Invariant[CheckedYcsb], ...] = (
    Invariant("No row and no section stands there twice, and none is cut", _each_once),
    Invariant("Each value is a number from 0 on; counts and latencies of one operation are whole", _numbers),
    Invariant("Latencies are in us or in ms, those of a kind all in one of them", _known_keys),
    Invariant("Each operation has a count, its latencies, and return codes where others have them", _whole_sections),
    Invariant("Minimum <= percentiles, rising <= maximum; the mean lies between", _in_order),
    Invariant("The mean is one that latencies with these percentiles can have", _means),
    Invariant("`Return=OK` is `Operations`; other return codes are the operations in `[X-FAILED]`", _return_codes),
    Invariant("Printed buckets rise to the same `>n`, and are of all operations or of none", _bucket_labels),
    Invariant("Printed buckets hold all operations, and fit percentiles, mean, minimum and maximum", _buckets),
    Invariant("`[HdrX]` and `[BucketX]` have the same count, mean, minimum and maximum", _both_histograms),
    Invariant("`Throughput` x `RunTime` is the operations of all rows, a read-modify-write once", _throughput),
    Invariant("An operation that was done has a mean latency", _with_latencies),
    Invariant("`[Intended-X]` has the operations of `[X]`, and is nowhere faster", _intended),
    Invariant(
        "`[READ-MODIFY-WRITE]` has no more operations than `[READ]` and `[UPDATE]`, is not faster than both, and not "
        "twice as slow",
        _read_modify_write,
    ),
    Invariant("No operation takes longer than the run, all together no longer than its threads", _in_time),
    Invariant("`[CLEANUP]` counts the threads that were asked for", _connections),
    Invariant("The collector's share is its time of `RunTime`", _garbage_collector),
)
