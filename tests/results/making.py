"""Makes run directories with the real types of plans and journals, as the executor would."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from benchbrief.model import events as j
from benchbrief.model.measurement import Bucket, Histogram, Measurement, Operation, PhaseThroughput, Sample
from benchbrief.model.plan import (
    Cell,
    Client,
    Database,
    DatabaseKey,
    Dimension,
    DimKey,
    Expect,
    Experiment,
    Factor,
    Hardware,
    Host,
    Level,
    Levels,
    Origin,
    Plan,
    Probe,
    Quantity,
    Query,
    Read,
    SpecRef,
    Step,
    Tool,
    Workload,
)
from benchbrief.results.open_store import open_store
from benchbrief.results.store.store import Store
from benchbrief.runners.journal.measurement_versions import SHARED, tool_version
from benchbrief.runners.journal.run_folder import cell_directory

HERE = Origin(file="brief.bench", line=7, column=3)
MEASUREMENT = TypeAdapter(Measurement)
SAMPLES = TypeAdapter(tuple[Sample, ...])
T0 = 1_700_000_000.0
"""The time when every run of the tests begins."""


def histogram(*buckets: tuple[float, float, int]) -> Histogram:
    return Histogram(tuple(Bucket(*bucket) for bucket in buckets))


def measurement(  # one operation, ten seconds, from T0 + 100
    operations: Sequence[Operation],
    *,
    count: int | None = None,
    errors: int = 0,
    seconds: float = 10.0,
    start: float = T0 + 100,
    **more: object,
) -> Measurement:
    total = sum(op.count for op in operations if op.in_total) if count is None else count
    return Measurement(
        window=(start, start + seconds),
        throughput=(PhaseThroughput(None, total, errors, seconds, total / seconds),),
        operations=tuple(operations),
        **more,  # type: ignore[arg-type]  # fields of Measurement, by name
    )


def a_cell(
    *,
    hardware: str = "nvme",
    workload: str = "a",
    threads: int | None = 4,
    repeat: int = 1,
    driver: str = "plain",
    load_hosts: tuple[str, ...] = ("load-1",),
    probes: tuple[Probe, ...] = (),
    **more: object,
) -> Cell:
    fields: dict[str, object] = {
        "id": f"ramp/{hardware}/{workload}/threads={threads}/repeat={repeat}",
        "hash": hashlib.sha256(f"{hardware} {workload} {threads} {repeat}".encode()).hexdigest(),
        "experiment": "ramp",
        "hardware": hardware,
        "database": f"mongo@{hardware}",
        "workload": workload,
        "client": "load",
        "load_hosts": load_hosts,
        "tool": Tool(driver=driver),
        "threads": threads,
        "repeat": repeat,
        "warm_up_s": 1.0,
        "measure_s": 10.0,
        "dataset": None,
        "steps": (Step(kind="measure", seconds=10.0, timeout_s=60.0),),
        "probes": probes,
        "locks": (f"{hardware}-1", *load_hosts),
        "origin": HERE,
    }
    return Cell.model_validate(fields | more)


def a_plan(cells: Sequence[Cell], expects: Sequence[Expect] = ()) -> Plan:
    hardware = {
        key: Hardware(
            key=key,
            label=key.upper(),
            group=key,
            group_label=key.upper(),
            hosts=(f"{key}-1", f"{key}-2"),
            nodes=2,
            facts={"cpu": "64 vCPU", "price": Quantity(value=3.5, unit="USD/h", text="3.5 USD/h"), "ecc": True},
            origin=HERE,
        )
        for key in dict.fromkeys(cell.hardware for cell in cells)
    }
    workloads = dict.fromkeys(cell.workload for cell in cells)
    hosts = dict.fromkeys([*(h for group in hardware.values() for h in group.hosts), *cells[0].load_hosts])
    return Plan(
        spec=SpecRef(name="brief.bench", files={"brief.bench": "0" * 64}),
        hosts={host: Host(id=host, transport="ssh", name=host) for host in hosts},
        hardware=hardware,
        clients={
            "load": Client(name="load", label="load", hosts=cells[0].load_hosts, tool=Tool(driver="plain"), origin=HERE)
        },
        databases={
            DatabaseKey.of("mongo", key): Database(
                name="mongo", label="MongoDB", engine="mongodb", server="attach", reset="reuse", origin=HERE
            )
            for key in hardware
        },
        workloads={
            name: Workload(
                name=name,
                label=name,
                description="",
                family="ycsb",
                benchmark="a",
                properties={},
                writes=True,
                origin=HERE,
            )
            for name in workloads
        },
        experiments={
            "ramp": Experiment(
                name="ramp",
                label="Ramp",
                hardware=tuple(hardware),
                workloads=tuple(workloads),
                axis="threads",
                points=(4.0,),
                warm_up_s=1.0,
                measure_s=10.0,
                phases=1,
                repeats=1,
                order="grouped",
                origin=HERE,
            )
        },
        cells=tuple(cells),
        expects=tuple(expects),
        estimate_s=10.0 * len(cells),
    )


def a_factor(name: str, *keys: DimKey, unit: str | None = None) -> Factor:
    levels = tuple(Level(key=key, label=f"{key}!", value=str(key)) for key in keys)
    return Factor(name=name, label=name.title(), unit=unit, levels=levels, default=keys[0], origin=HERE)


def at_levels(keys: Mapping[str, DimKey], **more: object) -> Cell:
    levels = Levels.of(keys)
    named = f"ramp/nvme/a/{levels}/threads={more.get('threads', 4)}/r{more.get('repeat', 1)}"
    return a_cell(id=named, levels=levels, hash=named.encode().hex().ljust(64, "0")[:64], **more)  # type: ignore[arg-type]  # by name


def with_factors(plan: Plan, *factors: Factor) -> Plan:
    return plan.model_copy(update={"factors": {each.name: each for each in factors}})


def a_read(view: str = "throughput", *, statistic: str = "", probe: str = "", **keys: str) -> Read:
    return Read.model_validate(
        {
            "measure": view,
            "view": view,
            "statistic": statistic,
            "probe": probe,
            "keys": {k: (v,) for k, v in keys.items()},
        }
    )


def a_query(
    sql: str, *dims: Dimension, text: str = "throughput", unit: str = "ops/s", reads: Sequence[Read] = (a_read(),)
) -> Query:
    return Query(sql=sql, dims=dims, unit=unit, text=text, reads=tuple(reads))


@dataclass
class RunMaker:
    """Writes a run's directory record by record. `now` is the time that records get."""

    run_dir: Path
    plan: Plan
    now: float = T0
    attempts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.run_dir.mkdir(parents=True)
        content = self.plan.model_dump_json(indent=1).encode()
        (self.run_dir / "plan.json").write_bytes(content)
        self.write(
            j.RunStarted(
                at=self.now,
                run_id=self.run_dir.name,
                plan_sha256=hashlib.sha256(content).hexdigest(),
                benchbrief="0.1.0",
                spec="brief.bench",
                profile=None,
                controller_pid=1,
                measurement=SHARED[-1],
                measurements={cell.tool.driver: tool_version(cell.tool.driver) for cell in self.plan.cells},
            )
        )

    def write(self, record: j.AnyRecord) -> None:
        with (self.run_dir / "journal.jsonl").open("a") as file:
            file.write(record.model_dump_json() + "\n")

    def start(self, cell: Cell) -> int:
        attempt = self.attempts[cell.id] = self.attempts.get(cell.id, 0) + 1
        self.write(j.CellStarted(at=self.now, cell=cell.id, hash=cell.hash, attempt=attempt))
        self.write(j.StepStarted(at=self.now, cell=cell.id, attempt=attempt, step="measure", seconds=10))
        return attempt

    def ok(
        self,
        cell: Cell,
        sources: Mapping[str, Measurement],
        *,
        samples: Mapping[str, Sequence[Sample]] | None = None,
        counters: tuple[dict[str, float], dict[str, float]] | None = None,
        counter_samples: Sequence[tuple[float, dict[str, float]]] = (),
        counter_problem: str = "",
        remark: str = "",
        asked: Mapping[str, float] | None = None,
    ) -> int:
        """Record a good attempt at a cell that took 12 s."""
        attempt = self.start(cell)
        if remark:
            self.write(j.Remark(at=self.now, severity="warning", text=remark, cell=cell.id))
        for host, measured in sources.items():
            files = {"stdout": MEASUREMENT.dump_json(measured), "stderr": b""}
            times = T0 + 99, T0 + 99 + max(12.0, measured.total.seconds + 0.5)
            self.collect(cell, attempt, "measure", host, files, times)
        for host, of_host in (samples or {}).items():
            content = SAMPLES.dump_json(tuple(of_host))
            self.collect(cell, attempt, f"probe:gauge:{host}", host, {"stdout": content})
        if counters:
            before, after = counters
            self.write(
                j.Counters(
                    at=self.now,
                    cell=cell.id,
                    attempt=attempt,
                    node="nvme-1",
                    before=before,
                    after=after,
                    samples=tuple(counter_samples),
                    problem=counter_problem,
                )
            )
        self.now += 12
        total = sum(measured.total.ops_per_s for measured in sources.values())
        self.ended(cell, attempt, "ok", ops_per_s=total, asked=dict(asked or {}))
        return attempt

    def failed(self, cell: Cell, reason: str) -> None:
        attempt = self.start(cell)
        self.now += 3
        self.ended(cell, attempt, "failed", reason=reason)

    def ended(self, cell: Cell, attempt: int, status: str, **more: object) -> None:
        fields = {"at": self.now, "cell": cell.id, "hash": cell.hash, "attempt": attempt, "status": status}
        self.write(j.CellEnded.model_validate(fields | more))

    def collect(
        self,
        cell: Cell,
        attempt: int,
        job: str,
        host: str,
        files: Mapping[str, bytes],
        times: tuple[float, float] = (T0 + 99, T0 + 111),
    ) -> Path:
        folder = job.replace(":", "-") if host in job else f"{job}-{host}"
        directory = cell_directory(cell.id, attempt) / folder
        (self.run_dir / directory).mkdir(parents=True)
        for name, content in files.items():
            (self.run_dir / directory / name).write_bytes(content)
        self.write(
            j.JobCollected(
                at=self.now,
                cell=cell.id,
                attempt=attempt,
                step="measure",
                job=job,
                host=host,
                directory=str(directory),
                exit_code=0,
                started_at=times[0],
                ended_at=times[1],
                files={name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
            )
        )
        return self.run_dir / directory

    def end(self, status: str, message: str = "") -> None:
        self.write(j.RunEnded.model_validate({"at": self.now, "status": status, "message": message}))


# 90 reads in [1, 2) ms and 10 in [4, 8) ms; 50 updates in [2, 4) ms.
READ = Operation(
    "read", 90 + 10, mean_s=0.002, min_s=0.001, max_s=0.008, histogram=histogram((0.001, 0.002, 90), (0.004, 0.008, 10))
)
UPDATE = Operation(
    "update", 50, errors=2, mean_s=0.003, min_s=0.002, max_s=0.004, histogram=histogram((0.002, 0.004, 50))
)
# A slower source: 100 reads, all in [4, 8) ms.
SLOW_READ = Operation("read", 100, mean_s=0.006, min_s=0.004, max_s=0.008, histogram=histogram((0.004, 0.008, 100)))


def rows(store: Store, sql: str) -> list[Any]:
    return list(store.sql(sql))


def one_cell_run(tmp_path: Path, measured: Measurement) -> Store:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measured})
    run.end("done")
    return open_store(run.run_dir)
