"""Makes charts of every kind and odd shape, for tests that look at pixels and boxes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from benchbrief.reports.charts.chart import Chart, ChartNote, ChartPoint, Trace, XAxis
from benchbrief.reports.text.number_format import decimals_for, in_column

THREADS = XAxis("Threads", "log", ticks=(1, 2, 4, 8, 16))
WORKLOADS = XAxis("Workload", "category", ("Session store", "Photo tagging", "Transactions"))
LONG = "Micron 7450 MAX 12.8 TB behind a controller with a battery-backed cache, firmware 51.35.7-0092"


def line(
    name: str,
    values: Iterable[float | None],
    color: int | None = 0,
    *,
    band: float = 0,
    right: bool = False,
    dashed: bool = False,
) -> Trace:
    values = list(values)
    decimals = decimals_for(values)
    points = tuple(
        ChartPoint(
            float(2**i),
            y,
            low=y * (1 - band) if y and band else None,
            high=y * (1 + band) if y and band else None,
            text="" if y is None else in_column(y, decimals),
        )
        for i, y in enumerate(values)
    )
    return Trace(name, "line", points, color, right, dashed)


def bars(name: str, values: Iterable[float | None], color: int = 0, *, band: float = 0) -> Trace:
    return replace(in_slots(line(name, values, color, band=band)), mark="bar")


def in_slots(trace: Trace) -> Trace:
    return replace(trace, points=tuple(replace(p, x=float(i)) for i, p in enumerate(trace.points)))


def curve(name: str, pairs: Iterable[tuple[float, float]], color: int = 0) -> Trace:
    return Trace(name, "curve", tuple(ChartPoint(x, y, f"{2**i}") for i, (x, y) in enumerate(pairs)), color)


def growing(times: float, n: int = 5) -> list[float]:
    return [times * 2**i / (1 + 2**i / 9) for i in range(n)]


def _panel(heading: str, times: float) -> Chart:
    found = (line("HDD", growing(3e3 * times)), line("NVMe", growing(9e3 / times**0.5), 1))
    return Chart(found, THREADS, "Throughput (ops/s)", heading=heading)


def _wide(mark: Literal["line", "bar"], n: int) -> Chart:
    traces = [line(f"Series {i + 1}", growing(1e3 * (i + 2)), i) for i in range(n)]
    if mark == "line":
        return Chart(tuple(traces), THREADS, "Throughput (ops/s)")
    cut = (replace(in_slots(t), mark="bar", points=in_slots(t).points[:3]) for t in traces)
    return Chart(tuple(cut), WORKLOADS, "Throughput (ops/s)")


def bracket(name: str, numbers: Iterable[str], *, over_all: bool = False) -> Trace:
    points = tuple(ChartPoint(float(i), 1.0 if text else None, text) for i, text in enumerate(numbers))
    return Trace(name, "bracket", points, None, over_all=over_all)


def floating(name: str, pairs: Iterable[tuple[float, float] | None], color: int = 0) -> Trace:
    points = []
    for i, ends in enumerate(pairs):
        low, high = (f"{end:g}X" for end in ends or (0, 0))
        shown = ChartPoint(float(i), ends[0], f"{low} to {high}", end=ends[1], ends=(low, high)) if ends else None
        points.append(shown or ChartPoint(float(i), None))
    return Trace(name, "range", tuple(points), color)


SLOPES: Sequence[Sequence[float | None]] = ([12.0, 3.0], [11.5, 9.0], [4.0, None], [2.0, 2.2], [7.0, 2.1])


CASES: dict[str, tuple[Sequence[Chart], int, int]] = {
    "direct_labels": ([_panel("", 1)], 657, 240),
    "eight_lines": ([_wide("line", 8)], 657, 240),
    "eight_bars": ([_wide("bar", 8)], 657, 240),
    "one_point": (
        [Chart((Trace("A", "line", (ChartPoint(4.0, 10.0),), 0),), replace(THREADS, ticks=(4,)), "y")],
        317,
        212,
    ),
    "gaps": ([Chart((line("A", [1, 2, None, 4, 5]), line("B", [2, None, None, 5, 7], 1)), THREADS, "ms")], 317, 212),
    "negative": (
        [Chart((bars("A", [-30, 20, 117]), bars("B", [-12, None, 111], 1)), WORKLOADS, "Gain (%)")], 317, 212,
    ),
    "tiny": ([Chart((line("A", [2e-7, 3e-7, 9e-7, 1e-6, 4e-6]),), THREADS, "Energy per operation (J)")], 317, 212),
    "huge": ([Chart((line("A", [2e9, 3e9, 9e10, 1e11, 4e12]),), THREADS, "Bytes", log_y=True)], 317, 212),
    "band": (
        [Chart((line("A", growing(3e3), band=0.1), line("B", growing(5e3), 1, band=0.07)), THREADS, "ops/s")], 657, 240,
    ),
    "whiskers": (
        [Chart((bars("A", [5, 6, 7], band=0.1), bars("B", [9, 8, 9], 1, band=0.2)), WORKLOADS, "ops/s")], 657, 240,
    ),
    "two_axes": (
        [
            Chart(
                (
                    bars("HDD", [5.0, 5.3, 5.5]),
                    bars("NVMe", [150.6, 180, 198.5], 1),
                    in_slots(line("Improvement", [30, 34, 36], None, right=True)),
                ),
                WORKLOADS,
                "Power efficiency (ops/s/W)",
                "Improvement (ratio)",
            )
        ],
        657,
        240,
    ),
    "curves": (
        [
            Chart(
                (
                    curve("HDD", [(4e3, 0.5), (7e3, 0.7), (9e3, 1.2), (9.5e3, 2.4), (9.6e3, 4.9)]),
                    curve("NVMe", [(8e3, 0.3), (15e3, 0.35), (26e3, 0.5), (34e3, 0.9), (36e3, 1.8)], 1),
                ),
                XAxis("Throughput (ops/s)", "linear"),
                "p99 read latency (ms)",
            )
        ],
        657,
        240,
    ),
    "long_names": (
        [Chart((line(LONG, growing(3e3)), line(LONG[:-1] + "3", growing(5e3), 1)), THREADS, f"Throughput of {LONG}")],
        317,
        212,
    ),
    "japanese": (
        [
            Chart(
                (bars("HDD", [5, 6, 7]), bars("フラッシュキャッシュ", [9, 12, 14], 1)),
                XAxis("ワークロード", "category", ("書き込み中のランダム読み取り", "ランダム読み取り", "取引処理")),
                "スループット (ops/s)",
            )
        ],
        317,
        212,
    ),
    "multiples": ([_panel("Session store", 1), _panel("Photo tagging", 2), _panel("Transactions", 0.5)], 657, 250),
    "many_multiples": ([_panel(f"Workload {i}", 1 + i / 4) for i in range(5)], 657, 430),
    "bar_multiples": (
        [
            replace(Chart((bars("A", v), bars("B", reversed(v), 1)), WORKLOADS, "ops/s"), heading=h)
            for h, v in (("8 threads", [5, 6, 7]), ("96 threads", [9, 12, 14]))
        ],
        657,
        250,
    ),
    "brackets": (
        [
            Chart(
                (bars("A", [5, 6, 7]), bars("B", [9, None, 20], 1), bracket("Ratio", ["1.8X", "", "2.9X"])),
                WORKLOADS,
                "ops/s",
            )
        ],
        657,
        240,
    ),
    "two_brackets": (
        [
            Chart(
                (
                    bars("A", [5, 6, 7]),
                    bars("B", [9, -3, 20], 1),
                    bracket("Ratio", ["1.8X", "−0.5X", "2.9X"]),
                    bracket("Gain", ["+80%", "−150%", "+186%"]),
                ),
                WORKLOADS,
                "ops/s",
            )
        ],
        317,
        212,
    ),
    "bracket_over_all": (
        [Chart((bars("A", [5, 6, 20]), bracket("x", ["4X"], over_all=True)), WORKLOADS, "y")], 317, 212,
    ),
    "bracket_multiples": (
        [
            Chart((bars("A", v), bars("B", v[::-1], 1), bracket("R", "abc")), WORKLOADS, "ops/s", heading=h)
            for h, v in (("8 threads", [5, 6, 7]), ("96 threads", [9, 12, 14]))
        ],
        657,
        250,
    ),
    "ranges": ([Chart((floating("A", [(28, 37), (30, 30), None]),), WORKLOADS, "Ratio")], 657, 240),
    "ranges_of_two": (
        [
            Chart(
                (floating("A", [(8, 37), (30, 30), None]), floating("B", [(9, 12), (-3, 5), (0, 2)], 1)), WORKLOADS, "x"
            )
        ],
        657,
        240,
    ),
    "notes": (
        [
            Chart(
                (
                    line("HDD", growing(3e3)),
                    line("NVMe", growing(5e3), 1),
                    Trace("Knee: 4 threads", "rule", (ChartPoint(4.0, 4.0, upright=True),), None),
                    Trace("Promise", "rule", (ChartPoint(0.0, 24e3),), None),
                ),
                THREADS,
                "Throughput (ops/s)",
                notes=(ChartNote("The disks are full from here on", ((0, 3), (1, 3))),),
            )
        ],
        657,
        240,
    ),
    "notes_on_bars": (
        [
            Chart(
                (bars("A", [5, 6, 7]), bars("B", [9, 8, 20], 1), bracket("Ratio", ["1.8X", "1.3X", "2.9X"])),
                WORKLOADS,
                "ops/s",
                notes=(ChartNote("Most", ((1, 2),)), ChartNote("Both are level", ((0, 1), (1, 1)))),
            )
        ],
        317,
        212,
    ),
    "slopes": (
        [
            Chart(
                tuple(
                    replace(in_slots(line(f"Load {i}", values, i)), mark="slope") for i, values in enumerate(SLOPES)
                ),
                XAxis("Hardware", "category", ("HDD", "NVMe")),
                "p99 read latency (ms)",
            )
        ],
        657,
        240,
    ),
    "flat_bars": (
        [
            Chart(
                (bars("A", [5, 6, 7, -1]), bars("B", [9, None, 20, 2], 1), bracket("R", ["1.8X", "", "2.9X", "−2X"])),
                XAxis("Workload", "category", tuple(f"{i}: {LONG}" for i in range(4))),
                "ops/s",
            )
        ],
        657,
        300,
    ),
    "flat_ranges": (
        [
            Chart(
                (floating("A", [(28, 37), (30, 30), None, (-2, 3)]),),
                XAxis("Workload", "category", tuple(f"{i}: {LONG}" for i in range(4))),
                "Ratio",
            )
        ],
        657,
        260,
    ),
}  # fmt: skip
