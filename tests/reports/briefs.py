"""Three whole reports over generated or published numbers: a ramp, a comparison in Japanese, and the size of a
cluster."""

# ruff: noqa: S608  # the SQL is over made-up tables, of names in these files

from __future__ import annotations

from benchbrief.model import plan as p
from benchbrief.model.run_messages import say
from tests.reports import world as w

Made = tuple[w.World, p.Report]


def quickstart(*, failed: bool = False, stand_in: bool = True) -> Made:
    hardware = {"disk": "Local disk", "ram": "RAM disk"}
    workloads = {
        "rww": "Read while writing",
        "rrw": "Read random, write random",
        "a": "Session store",
        "b": "Photo tagging",
    }
    tops = {
        "disk": {"rww": 52e3, "rrw": 31e3, "a": 14e3, "b": 19e3},
        "ram": {"rww": 88e3, "rrw": 74e3, "a": 15.1e3, "b": 19.8e3},
    }

    def ops(hardware: str, workload: str, threads: int) -> float:
        return w.saturating(tops[hardware][workload], 1.8)(threads) * w.wobble(hardware, workload, threads)

    world = w.World(
        hardware,
        workloads,
        (1, 2, 4),
        engine="mongodb",
        stand_in=stand_in,
        ops=ops,
        p99=lambda h, _, t: (0.00031 if h == "ram" else 0.00072) * (1 + 0.45 * t),
        facts={
            h: {
                "storage": "1 x NVMe 1.6 TB" if h == "disk" else "tmpfs",
                "memory": p.Quantity(value=16 * 2**30, unit="B", text="16 GiB"),
                "cpu": "AMD EPYC 7402, 2 cores",
            }
            for h in hardware
        },
        observed={
            "cpu": "AMD EPYC 9654 96-Core Processor",
            "kernel": "6.1.0-28-amd64",
            "os": "Debian GNU/Linux 12 (bookworm)",
            "memory": "15.6 GiB",
        },
        remarks=tuple(
            say.at(
                group=label,
                host="local",
                what=say.processor(found="AMD EPYC 9654 96-Core Processor", declared="AMD EPYC 7402, 2 cores"),
            )
            for label in hardware.values()
        ),
        failed={
            "ramp/disk/a/threads=4/1": "YCSB ended with 12 failed operations of 60,000",
            "ramp/ram/b/threads=2/1": "the server went away",
        }
        if failed
        else {},
    )
    every = w.keys(world.threads)
    of_hardware = w.keys(hardware)
    gain = w.ratio(
        w.throughput("workload", "threads", hardware="ram"),
        w.throughput("workload", "threads", hardware="disk"),
        "%",
        "throughput[ram] / throughput[disk] - 1",
        "(a.value / nullif(b.value, 0) - 1) * 100",
    )
    sections = []
    for key, label in workloads.items():
        at = {"workload": key}
        sections.append(
            p.SectionElement(
                title=label,
                elements=(
                    p.TextElement(
                        prose=w.text(
                            "Reads and writes arrive together, as they do behind a web session. Each thread waits "
                            "for its reply before it asks again.\n\nOn Local disk, throughput reaches ",
                            value(w.reduce("max", w.throughput("threads", hardware="disk", **at), "threads"), ",.0f"),
                            "\N{NO-BREAK SPACE}ops/s; on RAM disk, ",
                            value(w.reduce("max", w.throughput("threads", hardware="ram", **at), "threads"), ",.0f"),
                            "\N{NO-BREAK SPACE}ops/s.",
                        )
                    ),
                    w.figure(
                        "Throughput by threads",
                        w.series(
                            "line",
                            w.throughput("hardware", "threads", **at),
                            "Throughput",
                            "threads",
                            color_dim="hardware",
                        ),
                        by={"threads": every, "hardware": of_hardware},
                    ),
                    w.figure(
                        "Latency against throughput",
                        w.series(
                            "curve",
                            w.latency("hardware", "threads", **at),
                            "p99 read latency",
                            "threads",
                            color_dim="hardware",
                            x_query=w.throughput("hardware", "threads", **at),
                            x_label="Throughput",
                        ),
                        by={"threads": every, "hardware": of_hardware},
                    ),
                ),
            )
        )
    efficiency = {
        h: w.throughput("workload", hardware=h, threads=4, text="efficiency[threads: 4]").model_copy(
            update={"unit": "ops/s/core"}
        )
        for h in hardware
    }
    written = w.table_of(
        {"rww": 61.2, "rrw": 118.0, "a": 9.4, "b": 1.1}, "workload", "MB/s", "written[disk, threads: 4]"
    )
    labels = w.keys(workloads)
    last = p.SectionElement(
        title="Efficiency",
        elements=(
            p.TableElement(
                title="Throughput per busy core at 4 threads",
                dim="workload",
                dim_label="Workload",
                keys=labels,
                lines=tuple(p.Line(label=hardware[h], unit="ops/s/core", query=q) for h, q in efficiency.items()),
            ),
            w.figure(
                "Throughput and device writes at 4 threads",
                w.series(
                    "bar",
                    w.throughput("hardware", "workload", threads=4),
                    "Throughput",
                    "workload",
                    color_dim="hardware",
                ),
                w.series("line", written, "Device writes, local disk", "workload", axis="right"),
                by={"workload": labels, "hardware": of_hardware},
            ),
            p.FormulaElement(
                name="efficiency",
                for_label="Read while writing, Local disk, 4 threads",
                text="{0} / {1}",
                terms=(
                    p.Term(text="throughput", query=w.throughput(hardware="disk", workload="rww", threads=4)),
                    p.Term(text="mean(cpu over time)", query=w.constant(1.71, "cores", "mean(cpu over time)")),
                ),
                result=w.ratio(
                    w.throughput(hardware="disk", workload="rww", threads=4),
                    w.constant(1.71, "cores", "cpu"),
                    "ops/s/core",
                    "throughput / mean(cpu over time)",
                ),
            ),
        ),
    )
    callout = p.CalloutElement(
        title="Gain from the RAM disk",
        table=p.TableElement(
            title="",
            dim="workload",
            dim_label="Workload",
            keys=labels,
            lines=(p.Line(label="Throughput", texts=tuple(w.text(ranged(gain, key)) for key in workloads)),),
        ),
        note=w.text("The range is from the lowest to the highest over the thread ramp."),
    )
    lead = p.TextElement(
        prose=w.text(
            "The same machine ran each workload twice: once with its data on the local disk, once on a RAM disk.\n"
            "Nothing else changed between the two, so the difference is what the storage path is worth."
        )
    )
    brief = w.report(
        "What a faster storage path buys",
        callout,
        lead,
        *sections,
        last,
        p.FactsElement(title="Test configuration", hardware=tuple(hardware)),
        p.DisclosureElement(),
        subtitle="RocksDB and a document store on local disk and on a RAM disk",
        author="Storage Performance Engineering",
        legal=w.text(
            "Results were measured on the systems described here and may differ on others. MongoDB is a registered "
            "trademark of MongoDB, Inc. RocksDB is a trademark of Meta Platforms, Inc. This brief is neither sponsored "
            "nor approved by either."
        ),
    )
    return world, brief


def value(query: p.Query, spec: str = "") -> p.Value:
    return p.Value(query=query, format=spec)


def ranged(metric: p.Query, workload: str) -> p.Value:
    one = w.query(
        f"SELECT threads, value FROM ({metric.sql}) WHERE workload = '{workload}'",
        ("threads",),
        metric.unit,
        metric.text,
        metric.reads or (),
    )
    low, high = (w.reduce(f, one, "threads", text=f"range({metric.text} over threads)") for f in ("min", "max"))
    return p.Value(query=low, high=high, format="+.0%")


def three_ssds() -> Made:
    """Make a comparison like a published one, in Japanese and with generated numbers."""
    hardware = {"micron_7450": "Micron 7450", "samsung_pm9a3": "Samsung PM9A3", "solidigm_p5430": "Solidigm D5-P5430"}
    workloads = {"rww": "書き込み中の読み取り", "rrw": "ランダム読み取り・ランダム書き込み", "rr": "ランダム読み取り"}
    top = {"micron_7450": 880e3, "samsung_pm9a3": 850e3, "solidigm_p5430": 560e3}
    scale = {"rww": 1.0, "rrw": 0.46, "rr": 1.3}
    world = w.World(
        hardware,
        workloads,
        (8, 16, 32, 64, 96),
        ops=lambda h, k, t: w.saturating(top[h] * scale[k], 52)(t) * w.wobble(h, k, t),
        p99=lambda h, k, t: (
            (0.00035 if h != "solidigm_p5430" else 0.00078) * (1 + t / 30) * w.wobble(k, h) / scale[k] ** 0.5
        ),
        facts={
            h: {
                "server": "Supermicro AS-1115CS-TNR",
                "cpu": "AMD EPYC 9654(96 コア)",
                "memory": "768 GB DDR5",
                "memory_limit": p.Quantity(value=256e9, unit="B", text="256 GB"),
                "filesystem": "xfs",
                "device": f"/dev/nvme{i}n1",
            }
            for i, h in enumerate(hardware)
        },
        observed={"kernel": "5.15.0-67-generic", "os": "Ubuntu 20.04.6 LTS", "cpu": "AMD EPYC 9654 96-Core Processor"},
    )
    by = {"threads": w.keys(world.threads), "hardware": w.keys(hardware)}
    best = w.reduce("max", w.throughput("hardware", "threads", workload="rww"), "threads")
    share = w.query(
        f"SELECT 100 * min(value) / max(value) AS value FROM ({best.sql})",
        (),
        "%",
        "of_best[solidigm_p5430]",
        best.reads or (),
    )
    figures = []
    for key, label in workloads.items():
        curve = w.series(
            "curve",
            w.latency("hardware", "threads", workload=key),
            "読み取り p99 レイテンシー",
            "threads",
            color_dim="hardware",
            x_query=w.throughput("hardware", "threads", workload=key),
            x_label="スループット",
        )
        figures.append(w.figure(label, curve, by=by))
    at_96 = w.throughput("hardware", "workload", threads=96)
    bandwidth = w.query(
        f"SELECT hardware, workload, value * 4.4 / 1000 AS value FROM ({at_96.sql})",
        ("hardware", "workload"),
        "MB/s",
        "bandwidth[threads: 96]",
        at_96.reads or (),
    )
    brief = w.report(
        "3 種の NVMe SSD を RocksDB で比較する",
        p.TextElement(
            prose=w.text(
                "同じサーバーに 3 種の SSD を装着し、1 TB のデータベースを載せて db_bench で測定しました。\n"
                "各点は 20 分間の測定で、点の数字はスレッド数を示します。\n\n"
                "書き込み中の読み取りでは、最も遅い SSD の最大スループットは最速の SSD の ",
                value(share, ".0f"),
                " % でした。",
            )
        ),
        p.SectionElement(title="スループットとレイテンシー", elements=tuple(figures)),
        p.SectionElement(
            title="帯域幅",
            elements=(
                w.figure(
                    "96 スレッドでの SSD 帯域幅",
                    w.series("bar", bandwidth, "帯域幅", "workload", color_dim="hardware"),
                    by={"workload": w.keys(workloads), "hardware": w.keys(hardware)},
                ),
                p.TableElement(
                    title="最大スループット",
                    dim="workload",
                    dim_label="ワークロード",
                    keys=w.keys(workloads),
                    lines=tuple(
                        p.Line(
                            label=label,
                            unit="ops/s",
                            query=w.reduce("max", w.throughput("workload", "threads", hardware=h), "threads"),
                        )
                        for h, label in hardware.items()
                    ),
                ),
            ),
        ),
        p.FactsElement(title="テスト構成", hardware=tuple(hardware)),
        p.DisclosureElement(),
        language="ja",
        subtitle="db_bench による読み取り p99 レイテンシーとスループット",
        author="ストレージ性能評価チーム",
        legal=w.text("記載の結果は本書に示す構成で測定したもので、他の構成では異なる場合があります。"),
    )
    return world, brief


PUBLISHED = {
    "a": (7120.1, 818.3),
    "b": (10404.4, 1080.4),
    "c": (11455.4, 1347.2),
    "d": (28671.5, 2464.6),
    "f": (6315.0, 794.7),
}
"""Operations per second of the SSD and the HDD cluster, from the vendor's brief of 2017."""


def cluster_shrink() -> Made:
    hardware = {"eco": "5100 ECO", "legacy": "Legacy"}
    workloads = {key: f"Workload {key.upper()}" for key in PUBLISHED}
    world = w.World(
        hardware, workloads, (96,), engine="mongodb", nodes=3, ops=lambda h, k, _: PUBLISHED[k][h == "legacy"]
    )
    eco, legacy = (w.throughput("workload", hardware=h, threads=96) for h in hardware)
    multiplier = w.ratio(eco, legacy, "1", "throughput[eco, threads: 96] / throughput[legacy, threads: 96]")
    nodes = w.query(
        f"SELECT workload, 3 * value AS value FROM ({multiplier.sql})",
        ("workload",),
        "nodes",
        "nodes[legacy] * multiplier",
        multiplier.reads or (),
    )
    whole = multiplier.reads or ()
    of_a = w.query(f"SELECT value FROM ({multiplier.sql}) WHERE workload = 'a'", (), "1", "multiplier", whole)
    three = w.table_of(dict.fromkeys(workloads, 3.0), "workload", "nodes", "nodes[eco]")
    cards = []
    for key in workloads:
        new, old = (w.throughput(hardware=h, workload=key, threads=96) for h in hardware)
        one = w.ratio(new, old, "", "multiplier")
        cards.append(w.text(value(one, ".1f"), "X"))
    labels = w.keys(workloads)
    brief = w.report(
        "Shrink your MongoDB cluster",
        p.CalloutElement(
            title="5100 ECO improvement",
            table=p.TableElement(
                title="",
                dim="workload",
                dim_label="Workload",
                keys=labels,
                lines=(p.Line(label="Improvement", texts=tuple(cards)),),
            ),
            note=w.text("Database operations per second at 96 threads, three nodes each."),
        ),
        p.TextElement(
            prose=w.text(
                "Two clusters of three nodes ran the same five workloads. Dividing their throughputs gives a "
                "*performance multiplier*, and with it an estimate of how many nodes of the older kind "
                "do the work of three new ones.\n\n"
                "- **5100 ECO**: two SATA SSDs per node\n- **Legacy**: two 10K rpm hard disks per node"
            )
        ),
        p.TableElement(
            title="Operations per second at 96 threads",
            dim="workload",
            dim_label="Workload",
            keys=labels,
            lines=(
                p.Line(label="5100 ECO", unit="ops/s", query=eco),
                p.Line(label="Legacy", unit="ops/s", query=legacy),
                p.Line(label="Multiplier", query=multiplier, format=".1f"),
                p.Line(label="Legacy nodes needed", unit="nodes", query=nodes, format=".0f"),
            ),
        ),
        w.figure(
            "Cluster size for similar performance",
            w.series("bar", three, "5100 ECO", "workload"),
            w.series("bar", nodes, "Legacy, estimated", "workload"),
            by={"workload": labels},
        ),
        p.FormulaElement(
            name="legacy_nodes",
            for_label="Workload A",
            text="{0} * {1}",
            terms=(
                p.Term(text="nodes[legacy]", query=w.constant(3.0, "nodes", "nodes[legacy]")),
                p.Term(text="multiplier", query=of_a),
            ),
            result=w.query(f"SELECT value FROM ({nodes.sql}) WHERE workload = 'a'", (), "nodes", "legacy_nodes", whole),
        ),
        p.DisclosureElement(),
        subtitle="How many hard-disk nodes does it take to match three SSD nodes?",
        legal=w.text("Figures: Micron Technology, Inc., technical marketing brief, Rev. A 7/17."),
    )
    return world, brief


def made(name: str) -> Made:
    return {"quickstart": quickstart, "three_ssds": three_ssds, "cluster_shrink": cluster_shrink}[name]()
