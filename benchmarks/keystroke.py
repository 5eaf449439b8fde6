"""Measures how long `bench lsp` takes to answer a keystroke in a spec of 1,000 lines, from `didChange` to
`publishDiagnostics` over its pipes.

It takes turns with `bench check` of the same file, measured as a process. A letter is typed and deleted again at four
places: the records of a workload, the label of a metric, the text of a report, and the name of a workload in an
experiment, where it is a mistake. None of them is a syntax error, since little is checked after one. This is repeated
while the spec has one syntax error elsewhere, and while it has five, each in another experiment.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.figures import record
from benchmarks.timing import BENCH, spread, verdict, wall_s
from tests.support.lsp import Client, session

LINES = 1000
PLACES = {  # behind what, the letter, and whether it makes a mistake
    "  records      = 7": ("1", False),
    'metric m40 "Metric 4': ("x", False),
    "The highest throughput of section 20": ("x", False),
    "workloads = [w10": ("9", True),
}
LIMIT_S = 0.1


def spec(lines: int = LINES) -> str:
    """Return a spec with hardware, workloads, experiments, commented metrics, and four reports with prose, figures and
    tables."""
    parts = [
        f"""hardware h{i} "Group {i}" {{
  hosts   = "h{i}-[1-3].lab"
  memory  = {64 * (i + 1)} GiB
  price   = {i + 1}.5 USD/h
  storage = "{i + 1} x 1.6 TB NVMe"
}}

"""
        for i in range(12)
    ]
    parts.append('client load {\n  hosts = "load.lab"\n  tool  = ycsb("/opt/ycsb")\n}\n\n')
    parts.append('database mongo {\n  engine = mongodb\n  uri    = "mongodb://{hosts}/ycsb"\n}\n\n')
    for i in range(30):
        records = f"  records      = {i + 1}M\n  distribution = zipfian\n"
        parts.append(f'workload w{i} "Workload {i}" from ycsb.{"abcdf"[i % 5]} {{\n{records}}}\n\n')
    parts += [
        f"""experiment e{i} {{
  hardware  = [h{i % 12}, h{(i + 1) % 12}]
  workloads = [w{2 * i}, w{2 * i + 1}]
  threads   = [1, 2, 4, 8, 16, 32]
  warm_up   = 1 min
  measure   = 10 min
  repeats   = 3, interleaved
  probes    = [disk every 1 s, cpu every 1 s]
}}

"""
        for i in range(15)
    ]
    for i in range(60):
        over = f"max(throughput[h{i % 12}] over threads) / max(throughput[h{(i + 1) % 12}] over threads)"
        parts.append(f'# How group {i % 12} compares.\nmetric m{i} "Metric {i}" = {over}, higher is better\n\n')
    sections = [_section(i) for i in range(120)]
    written = "".join(parts).count("\n")
    number = 0
    for report in range(4):
        parts.append(f'report r{report} "Report {report}" {{\n  template = technical_brief\n')
        written += 2
        while written < lines * (report + 4) / 7 - 2:
            parts.append(sections[number])
            written += sections[number].count("\n")
            number += 1
        parts.append("}\n\n")
        written += 2
    return "".join(parts)


def _section(number: int) -> str:
    group = number % 12
    best = f"max(throughput[h{group}] over threads, workload)"
    return f"""  section "Section {number}" {{
    text = \"\"\"
      The highest throughput of section {number} is {{{best}:,.0fu}} on {{h{group}}}.
    \"\"\"
    figure "Throughput {number}" {{
      line = throughput[experiment: e{group}, workload: w{2 * group}] by threads, color hardware
    }}
    table "p99 {number}" {{
      rows    = hardware
      columns = latency.p99[read, experiment: e{group}, workload: w{2 * group}, threads: 8]
    }}
  }}
"""


def broken(text: str, errors: int) -> str:
    """Return the spec with a syntax error in each of its first experiments."""
    return text.replace("measure   = 10 min", "measure   = = 10 min", errors)


def keystrokes(client: Client, uri: str, text: str, place: str, errors: int = 0) -> list[float]:
    """Return the seconds between sending a typed or deleted letter and receiving that version's diagnostics."""
    letter, wrong = PLACES[place]
    at = text.index(place) + len(place)
    line, character = text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1
    start, behind = ({"line": line, "character": column} for column in (character, character + 1))
    times = []
    for end, typed in ((start, letter), (behind, "")):
        started = time.perf_counter()
        client.change(uri, {"range": {"start": start, "end": end}, "text": typed})
        found = client.diagnostics(uri)
        times.append(time.perf_counter() - started)
        assert sum(each["code"] == "E0101" for each in found) == errors, found
        if not errors:
            assert any(each["severity"] == 1 for each in found) == (wrong and typed != ""), found
    return times


def while_broken(text: str, errors: int, place: str, rounds: int) -> list[float]:
    """Measure as `keystrokes` does, in a new server that first gets the spec with its syntax errors."""
    with tempfile.TemporaryDirectory(prefix="benchbrief-keystroke-") as folder, session(Path(folder)) as client:
        uri = client.open("broken.bench", text)
        assert len([each for each in client.diagnostics(uri) if each["code"] == "E0101"]) == errors
        return [second for _ in range(rounds) for second in keystrokes(client, uri, text, place, errors)]


def main(rounds: int = 10) -> bool:
    text = spec()
    lines = text.count("\n")
    assert abs(lines - LINES) < LINES / 20, lines
    with tempfile.TemporaryDirectory(prefix="benchbrief-keystroke-") as name:
        folder = Path(name)
        path = folder / "large.bench"
        path.write_text(text)
        check = (BENCH, "check", str(path))
        wall_s(check)
        times: dict[str, list[float]] = {place: [] for place in PLACES}
        whole: list[float] = []
        with session(folder) as client:
            uri = client.open(path.name, text)
            assert client.diagnostics(uri) == []
            for _ in range(rounds):
                for place in PLACES:
                    times[place] += keystrokes(client, uri, text, place)
                whole.append(wall_s(check))
    held = []
    for errors in (1, 5):
        seconds_each = [
            second for place in PLACES for second in while_broken(broken(text, errors), errors, place, rounds // 2)
        ]
        record(f"a keystroke in a spec of {lines:,} lines with {errors} syntax error(s)", spread(seconds_each, "s"))
        held.append(
            verdict(f"keystroke with {errors} syntax error(s), median", statistics.median(seconds_each), LIMIT_S, "s")
        )
    for place, seconds in times.items():
        print(f"  behind {place.strip()!r}: {spread(seconds, 's')}")
    every = sorted(second for seconds in times.values() for second in seconds)
    p95 = every[int(len(every) * 0.95)]
    ratio = statistics.median(every) / statistics.median(whole)
    record(
        f"a keystroke in a spec of {lines:,} lines",
        f"{spread(every, 's')}, p95 {p95:.3f} s",
        f"`bench check` of the same file: {spread(whole, 's')}, of which a keystroke is {ratio:.2f}",
    )
    held.append(verdict("keystroke to diagnostics, median", statistics.median(every), LIMIT_S, "s"))
    return all(held)
