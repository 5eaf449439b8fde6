"""Tests real outputs with random changes: each change of a fact is refused or reported.

The facts are read by separate rules, and not by the parsers under test. The recordings are of the real tools. The
changes are those that happen to files: lines are lost, repeated or mixed up, a number has another unit, a decimal point
slips, two runs are in one file, logs are cut or from another time.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from benchbrief.model.histogram import percentile
from benchbrief.model.measurement import Measurement
from benchbrief.results.imports.imported_files import OutputProblem
from benchbrief.results.imports.importer_seams import read_output
from tests.support.longer import longer
from tests.support.recorded import RECORDED_OUTPUTS
from tests.support.tools import REPOSITORY

OUTPUTS = RECORDED_OUTPUTS
SEEDS = [range(30), *longer(range(100))]
"""The seeds of the changes to each recording. In all, the nightly run reads 1,100 changed outputs."""
ROUNDING = 0.02
"""Relative differences up to this share do not count as another fact, because a mean has more digits than the numbers
that repeat it."""

Facts = dict[tuple[str, ...], str]
Mutation = Callable[[random.Random, dict[str, list[str]]], str]

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE]-?\d+)?(?![\w.])")


# --- what an output says -----------------------------------------------------------------------------------------


def _ycsb_facts(lines: list[str]) -> Facts:
    found: Facts = {}
    for line in lines:
        if match := re.match(r"\[(OVERALL|(?:Hdr|Bucket|Intended-)?(?:READ|UPDATE)[^\]]*)\], (.*), (\S+)$", line):
            key = (match[1], match[2])
            found[key] = f"{found[key]} {match[3]}" if key in found else match[3]
    # A bucket with nothing in it says nothing.
    return {key: value for key, value in found.items() if not (re.fullmatch(r">?\d+", key[1]) and value == "0")}


def _go_ycsb_facts(lines: list[str]) -> Facts:
    """Return the facts in the final rows."""
    found: Facts = {}
    finished = False
    for line in lines:
        finished |= line.startswith("Run finished")
        if finished and (match := re.match(r"([A-Z_]+) +- (.*)$", line)):
            key = (match[1],)
            found[key] = f"{found[key]} {match[2]}" if key in found else match[2]
    cells: Facts = {}
    for (name,), row in found.items():
        for cell in row.split(", "):
            column, _, value = cell.partition(": ")
            # Of failures their number is kept, of TOTAL how many there were in which time.
            if not (name.endswith("_ERROR") and column != "Count") and not (name == "TOTAL" and "(us)" in column):
                cells[name, column] = value
    return cells


def _db_bench_facts(lines: list[str]) -> Facts:
    found: Facts = {}
    operation = ""
    for line in lines:
        if "micros/op" in line:
            numbers = re.findall(r"\S+ (?=micros/op|ops/sec|seconds|operations|MB/s)|\(\d+ of \d+ found", line)
            found["result", str(sum(key[0] == "result" for key in found))] = " ".join(numbers)
        elif match := re.match(r"Microseconds per (\w+)", line):
            operation = match[1]
            found["block", operation] = found.get(("block", operation), "") + "x"
        elif re.match(r"Count|Min|Percentiles", line) and operation:
            shown = " ".join(re.findall(r"[A-Z][\w.]*: *\S+", line))
            found[operation, line[:3]] = shown + found.get((operation, line[:3]), "")
        elif match := re.match(r"[\[(] *(\d+), *(\d+) [\])] +(\S+)", line):
            bucket = (operation, "bucket", match[1], match[2])
            found[bucket] = found.get(bucket, "") + match[3]
    return {key: re.sub(r"StdDev: \S+", "", value) for key, value in found.items()}


def _fio_facts(lines: list[str]) -> Facts:
    """Return those numbers of the jobs that are read. All other numbers are fio's own summary of them."""
    try:
        jobs = json.loads("\n".join(lines))["jobs"]
    except (ValueError, KeyError, TypeError):
        return {("not whole",): "\n".join(lines)}
    found: Facts = {}
    for number, job in enumerate(jobs):
        found |= {(str(number), key): str(job.get(key)) for key in ("usr_cpu", "sys_cpu", "error", "total_err")}
        for way in ("read", "write"):
            for key, value in job.get(way, {}).items():
                if key in ("io_bytes", "bw_bytes", "iops", "runtime", "total_ios", "short_ios"):
                    found[str(number), way, key] = str(value)
                elif key in ("slat_ns", "clat_ns"):
                    shown = {name: each for name, each in value.items() if name not in ("stddev", "percentile", "bins")}
                    shown |= value.get("bins", {})
                    found |= {(str(number), way, key, name): str(each) for name, each in shown.items()}
    return found


def _log_facts(lines: list[str]) -> Facts:
    """Return the facts in the log. An interval without operations shows only that time passed."""
    found: Facts = {}
    start = next((line for line in lines if "StartTime:" in line), "")
    for line in lines:
        if line[:1].isdigit() and len(line.rsplit(",", 1)[-1]) > 50:
            begin, length, _, payload = line.split(",")
            found["interval", begin] = found.get(("interval", begin), "") + f"{length} {payload}"
    return {**found, ("start",): " ".join(re.findall(r"\d+\.\d+", start)[:1])}


def facts(files: dict[str, list[str]], of: Callable[[list[str]], Facts]) -> Facts:
    found: Facts = {}
    for name, lines in files.items():
        each = _log_facts(lines) if name.endswith(".hdr") else of(lines)
        found |= {(name, *key): value for key, value in each.items()}
    return found


def other(before: Facts, after: Facts) -> bool:
    """Return whether the facts differ: there are more or fewer of them, or one has changed by more than rounding."""
    if before.keys() != after.keys():
        return True
    return any(_other_value(value, after[key]) for key, value in before.items())


def _other_value(before: str, after: str) -> bool:
    if before == after:
        return False
    was, now = _NUMBER.findall(before), _NUMBER.findall(after)
    if len(was) != len(now) or _NUMBER.sub("#", before) != _NUMBER.sub("#", after):
        return True
    pairs = [(float(a), float(b)) for a, b in zip(was, now, strict=True)]
    return any(abs(a - b) > ROUNDING * max(a, b) and abs(a - b) > 1 for a, b in pairs)


def _repeated(of: Facts, after: Facts, unrepeated: re.Pattern[str]) -> Facts:
    """Return the facts without those whose change can't be detected. If TOTAL is lost, the rows of operations are added
    up, so that nothing is lost."""
    total = any(key[1] == "TOTAL" for key in after)
    kept = {key: value for key, value in of.items() if total or key[1] != "TOTAL"}
    return {key: value for key, value in kept.items() if not unrepeated.fullmatch(" ".join(key[1:]))}


# --- changes -----------------------------------------------------------------------------------------------------


def _with_number(line: str) -> bool:
    return bool(_NUMBER.search(line.partition("sec:")[0])) and not line.startswith(("java", "#", '"'))


def _change_number(chance: random.Random, files: dict[str, list[str]]) -> str:
    name = chance.choice([name for name in files if not name.endswith(".hdr")])
    places = [at for at, line in enumerate(files[name]) if _with_number(line)]
    at = chance.choice(chance.choice([places, places[-6:]]))  # go-ycsb's final rows are its last six
    line = files[name][at]
    match = chance.choice(list(_NUMBER.finditer(line)))
    text = match[0]
    how, new = chance.choice(
        [
            ("x 10", f"{float(text) * 10:.10g}"),
            ("/ 10", f"{float(text) / 10:.10g}" if "." in text else f"{int(float(text) / 10)}"),
            ("x 1000", f"{float(text) * 1000:.10g}"),
            ("x 2", f"{float(text) * 2:.10g}"),
            ("negative", f"-{text}"),
            ("zero", "0"),
            ("not a number", "nan"),
            ("decimal comma", text.replace(".", ",") if "." in text else f"{text},5"),
            ("thousands", f"{text},000"),
        ]
    )
    files[name][at] = line[: match.start()] + new + line[match.end() :]
    return f"{name}:{at + 1} {how}: {files[name][at]}"


def _lines_with_facts(chance: random.Random, files: dict[str, list[str]]) -> tuple[str, int]:
    name = chance.choice(sorted(files))
    return name, chance.randrange(len(files[name]))


def _drop_line(chance: random.Random, files: dict[str, list[str]]) -> str:
    name, at = _lines_with_facts(chance, files)
    return f"{name}:{at + 1} dropped: {files[name].pop(at)[:100]}"


def _repeat_line(chance: random.Random, files: dict[str, list[str]]) -> str:
    name, at = _lines_with_facts(chance, files)
    files[name].insert(at, files[name][at])
    return f"{name}:{at + 1} repeated: {files[name][at]}"


def _swap_values(chance: random.Random, files: dict[str, list[str]]) -> str:
    name = "stdout"
    places = [at for at, line in enumerate(files[name]) if _with_number(line)]
    one, two = chance.sample(places, 2)
    a, b = _NUMBER.findall(files[name][one])[-1], _NUMBER.findall(files[name][two])[-1]
    for at, old, new in ((one, a, b), (two, b, a)):
        before, _, after = files[name][at].rpartition(old)
        files[name][at] = before + new + after
    return f"swapped: {files[name][one][:100]} | {files[name][two][:100]}"


def _other_unit(chance: random.Random, files: dict[str, list[str]]) -> str:
    places = [at for at, line in enumerate(files["stdout"]) if re.search(r"\((?:us|ms|s)\)|seconds|micros", line)]
    if not places:
        return _change_number(chance, files)
    at = chance.choice(places)
    pairs = (("(us)", "(ms)"), ("(ms)", "(s)"), ("seconds", "minutes"), ("micros/op", "millis/op"))
    for old, new in pairs:
        if old in files["stdout"][at]:
            files["stdout"][at] = files["stdout"][at].replace(old, new, 1)
            break
    return f"stdout:{at + 1} unit: {files['stdout'][at]}"


def _cut(chance: random.Random, files: dict[str, list[str]]) -> str:
    name = chance.choice(sorted(files))
    keep = chance.randrange(len(files[name]))
    del files[name][keep:]
    return f"{name} cut after {keep} lines"


def _lose_file(chance: random.Random, files: dict[str, list[str]]) -> str:
    names = [name for name in sorted(files) if name.endswith(".hdr")]
    if len(names) < 2:
        return _drop_section(chance, files)
    name = chance.choice(names)
    del files[name]
    return f"{name} lost"


def _twice(chance: random.Random, files: dict[str, list[str]]) -> str:
    begin = chance.randrange(len(files["stdout"]) // 2)
    files["stdout"] += files["stdout"][begin:]
    return f"stdout from line {begin + 1} on twice"


def _drop_section(chance: random.Random, files: dict[str, list[str]]) -> str:
    names = sorted({match[0] for line in files["stdout"] if (match := re.match(r"\[[A-Z-]+\]|[A-Z_]+ +-|Micro", line))})
    name = chance.choice(names or ["no such"])
    files["stdout"] = [line for line in files["stdout"] if not line.startswith(name)]
    return f"no lines of {name}"


def _shift_time(chance: random.Random, files: dict[str, list[str]]) -> str:
    names = [name for name in sorted(files) if name.endswith(".hdr")]
    if not names:
        return _change_number(chance, files)
    name = chance.choice(names)
    at = chance.choice([at for at, line in enumerate(files[name]) if line[:1].isdigit()] or [0])
    by = chance.choice([3600.0, -0.8, 2.0])
    for number in range(at, len(files[name])):
        begin, comma, rest = files[name][number].partition(",")
        if comma and files[name][number][:1].isdigit():
            files[name][number] = f"{float(begin) + by:.3f},{rest}"
    return f"{name} from line {at + 1} on {by} s later"


MUTATE: tuple[Mutation, ...] = (
    *(_change_number,) * 6,
    _drop_line,
    _repeat_line,
    _swap_values,
    _swap_values,
    _other_unit,
    _cut,
    _lose_file,
    _twice,
    _drop_section,
    _shift_time,
)

UNREPEATED = re.compile(
    r"UPDATE_ERROR Count"  # the one operation that the interrupt failed: no other row counts it
    r"|READ_MODIFY_WRITE .*\(us\)"  # no other row holds these latencies
    r"|\w+ 99\.99th\(us\)"  # two operations of thousands are above it
)
"""Values that occur only once in go-ycsb's output, so that a change of one can't be noticed."""

WITHIN_BUCKETS = re.compile(
    r".*(?:Min|Average|Max)Latency\(us\)"  # the buckets allow others, by a millisecond and more
    r"|(?:Hdr|Bucket)?(?:READ|UPDATE) [>\d.]+"  # of two neighbours, which has the one and which the other
    r"|Bucket.*"  # the other histogram is read
    r"|\d (?:read|write) (?:clat_ns \d+|slat_ns (?:min|max))|\d (?:usr|sys)_cpu"
)
"""For outputs with buckets, the values whose change may go unnoticed, within the bounds set by the buckets and other
numbers."""

FORMS = REPOSITORY / "tests" / "results" / "outputs"
RECORDINGS = [
    ("ycsb", "ycsb/read-modify-write", "f", _ycsb_facts),
    ("ycsb", "ycsb/offered-load", "f", _ycsb_facts),
    ("go-ycsb", "go_ycsb/timed", "f", _go_ycsb_facts),
    ("db_bench", "db_bench/readrandom", "readrandom", _db_bench_facts),
    ("db_bench", "db_bench/readrandom-6", "readrandom", _db_bench_facts),
    ("db_bench", "db_bench/readrandomwriterandom", "readrandomwriterandom", _db_bench_facts),
]
BUCKETED = [
    ("ycsb", "ycsb-0.1.4-with-status.txt", "a", _ycsb_facts),
    ("ycsb", "ycsb-0.17-printed-histogram.txt", "a", _ycsb_facts),
    ("ycsb", "ycsb-0.17-two-histograms.txt", "a", _ycsb_facts),
    ("fio", "fio/mix", "randrw", _fio_facts),
    ("fio", "fio/offered", "randread", _fio_facts),
]
"""Outputs with printed buckets, and without a log."""


def recorded(name: str) -> dict[str, list[str]]:
    if name.endswith(".txt"):
        return {"stdout": (FORMS / name).read_text().splitlines()}
    folder = OUTPUTS / name
    if name.startswith("fio/"):
        return {"stdout": (folder / "fio.json").read_text().splitlines()}
    names = [path for path in sorted(folder.glob("*.hdr")) if "CLEANUP" not in path.name]
    return {path.name: path.read_text().splitlines() for path in (folder / "stdout", *names)}


def mutated(
    name: str, whole: dict[str, list[str]], seeds: Sequence[int]
) -> Iterator[tuple[int, str, dict[str, list[str]]]]:
    for seed in seeds:
        chance = random.Random(f"{name} {seed}")  # noqa: S311  # the same changes in each run
        files = {each: list(lines) for each, lines in whole.items()}
        yield seed, chance.choice(MUTATE)(chance, files), files


def read(kind: str, files: dict[str, list[str]], benchmark: str, folder: Path) -> Measurement | str:
    """Return the measurement, or why it was refused."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    try:
        return read_output(kind, {name: folder / name for name in files}, benchmark)
    except OutputProblem as problem:
        return str(problem)


EVERY = [*RECORDINGS, *BUCKETED]


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize(("kind", "name", "benchmark", "of"), EVERY, ids=[each[1] for each in EVERY])
def test_each_change_of_a_fact_is_refused_or_reported(
    kind: str, name: str, benchmark: str, of: Callable[[list[str]], Facts], seeds: Sequence[int], tmp_path: Path
) -> None:
    whole = recorded(name)
    good = read(kind, whole, benchmark, tmp_path / "files")
    assert isinstance(good, Measurement), good
    before = facts(whole, of)
    changed, unseen = 0, []
    unrepeated = WITHIN_BUCKETS if (kind, name, benchmark, of) in BUCKETED else UNREPEATED
    for seed, what, files in mutated(name, whole, seeds):
        after = facts(files, of)
        if not other(*(_repeated(each, after, unrepeated) for each in (before, after))):
            continue
        changed += 1
        found = read(kind, files, benchmark, tmp_path / "files")
        if isinstance(found, Measurement) and found != good and set(found.warnings) <= set(good.warnings):
            unseen.append(f"{seed}: {what}")
    assert changed > len(seeds) / 5, "many changes are of facts"
    assert not unseen, "\n".join(unseen)


# --- what is read of it ------------------------------------------------------------------------------------------

UNREPEATING = [
    ("ycsb", "ycsb-0.1.4-without-buckets.txt", "a"),
    ("ycsb", "ycsb-0.17-by-milliseconds.txt", "a"),
    ("ycsb", "ycsb-after-0.17.txt", "a"),
    ("ycsb", "ycsb-0.12-some-failed.txt", "a"),
    ("go-ycsb", "go-ycsb-without-total.txt", "a"),
]
"""Outputs whose minima, maxima and percentiles occur only once."""
READ = [*(each[:3] for each in EVERY if not each[1].startswith("ycsb/") and each[0] != "db_bench"), *UNREPEATING]


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize(("kind", "name", "benchmark"), READ, ids=[each[1] for each in READ])
def test_the_numbers_of_a_changed_output_are_those_that_it_states(
    kind: str, name: str, benchmark: str, seeds: Sequence[int], tmp_path: Path
) -> None:
    """Counts, means, minima and maxima are compared with those of a simple reader. Percentiles of a histogram must be
    between the minimum and the maximum."""
    whole = recorded(name)
    taken = 0
    for seed, what, files in mutated(name, whole, seeds):
        found = read(kind, files, benchmark, tmp_path / "files")
        if isinstance(found, str):
            continue
        taken += 1
        said = SAYS[kind](files["stdout"])
        for each in found.operations:
            shown = {
                "count": float(each.count + each.errors),
                "mean": each.mean_s,
                "min": each.min_s,
                "max": each.max_s,
            }
            for key, value in shown.items():
                if value is not None and each.count:
                    assert value == pytest.approx(said[each.operation][key], rel=1e-9), f"{seed}: {what}"
            for percent, value in each.printed:
                assert value == pytest.approx(said[each.operation][f"p{percent:g}"]), f"{seed}: {what}"
            if each.histogram is not None:
                assert each.histogram.count == each.count
                ends = [percentile(each.histogram, percent) for percent in (0.001, 100)]
                width = each.histogram.buckets[-1].hi - each.histogram.buckets[-1].lo
                assert each.min_s is None or ends[0] >= each.min_s - 2e-3, f"{seed}: {what}"
                assert each.max_s is None or ends[1] <= each.max_s + max(2e-3, width), f"{seed}: {what}"
        assert found.total.seconds == pytest.approx(said["run"]["seconds"], rel=0.02), f"{seed}: {what}"
    assert taken > 3, "some changes are of nothing that is read"


Said = dict[str, dict[str, float]]


def _ycsb_says(lines: list[str]) -> Said:
    found: Said = {}
    for line in lines:
        section, _, rest = line.partition("], ")
        key, _, value = rest.rpartition(", ")
        of = found.setdefault(section.strip().lstrip("[").removeprefix("Hdr").lower().replace("-", "_"), {})
        scale = {"(us)": 1e-6, "(ms)": 1e-3}.get(key[-4:], 1.0)
        with suppress(ValueError):
            words = {"Operations": "count", "AverageLatency": "mean", "MinLatency": "min", "MaxLatency": "max"}
            percent = re.match(r"([\d.]+)(?:st|nd|rd|th)?Percentile", key)
            named = f"p{float(percent[1]):g}" if percent else words.get(key.partition("(")[0], key)
            of[named] = float(value) * scale
    found["run"] = {"seconds": found["overall"]["RunTime(ms)"]}
    for name in [name for name in found if name.endswith("_failed")]:
        of = found.get(name.removesuffix("_failed"), {})
        of["count"] = of.get("count", 0.0) + found[name]["count"]
    return found


def _go_ycsb_says(lines: list[str]) -> Said:
    found: Said = {"run": {"seconds": 0.0}}
    begin = next(at for at, line in enumerate(lines) if line.startswith("Run finished"))
    for line in lines[begin:]:
        if match := re.match(r"([A-Z_]+) +- (.*)$", line):
            cells = dict(cell.split(": ") for cell in match[2].split(", "))
            of = found.setdefault(match[1].lower(), {})
            of |= {"count": float(cells["Count"])}
            for word, key in (("mean", "Avg(us)"), ("min", "Min(us)"), ("max", "Max(us)")):
                of[word] = float(cells[key]) / 1e6
            of |= {f"p{float(key[:-6]):g}": float(us) / 1e6 for key, us in cells.items() if key.endswith("th(us)")}
            found["run"]["seconds"] = max(found["run"]["seconds"], float(cells["Takes(s)"]))
    for name in [name for name in found if name.endswith("_error")]:
        if name.removesuffix("_error") in found:
            found[name.removesuffix("_error")]["count"] += found[name]["count"]
    return found


def _fio_says(lines: list[str]) -> Said:
    jobs = json.loads("\n".join(lines))["jobs"]
    found: Said = {"run": {"seconds": max(job[way]["runtime"] for job in jobs for way in ("read", "write")) / 1000}}
    for way in ("read", "write"):
        each = [job[way]["clat_ns"] for job in jobs if job[way]["clat_ns"]["N"]]
        if each:
            count = sum(one["N"] for one in each)
            found[way] = {
                "count": float(count),
                "mean": sum(one["mean"] * one["N"] for one in each) / count / 1e9,
                "min": min(one["min"] for one in each) / 1e9,
                "max": max(one["max"] for one in each) / 1e9,
            }
    return found


SAYS: dict[str, Callable[[list[str]], Said]] = {"ycsb": _ycsb_says, "go-ycsb": _go_ycsb_says, "fio": _fio_says}
