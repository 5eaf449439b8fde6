"""Makes a plan of one cell by hand, as input for drivers and engines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from benchbrief.model.plan import (
    Cell,
    Client,
    Database,
    DatabaseKey,
    Dataset,
    Event,
    Experiment,
    Fact,
    Hardware,
    Host,
    Origin,
    Plan,
    PowerMeter,
    SpecRef,
    Step,
    Tool,
    Workload,
)
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.jobs.tasks import Job, JobOutput
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.seams import Driver, Engine, Node, Transport

ORIGIN = Origin(file="brief.bench", line=1, column=1)
LOCAL = Host(id="local", transport="local", name="127.0.0.1")
OWN_RUN = RunName(owner=f"test{os.getpid()}")
"""A run that belongs to the test itself. Many tests share the run "anyone". If a test took over a silent claim of that
run, it would also remove the jobs of the other tests."""
TIMEOUT_S = 60.0

Options = Mapping[str, str | float | bool]

YCSB_MIX: dict[str, dict[str, str | float | bool]] = {
    "a": {"read": 0.5, "update": 0.5, "distribution": "zipfian"},
    "c": {"read": 1.0, "distribution": "zipfian"},
    "d": {"read": 0.95, "insert": 0.05, "distribution": "latest"},
    "e": {"scan": 0.95, "insert": 0.05, "distribution": "zipfian", "scan_length": 10.0},
    "f": {"read": 0.5, "read_modify_write": 0.5, "distribution": "zipfian"},
}


def ycsb(benchmark: str, records: int = 1000, **more: str | float | bool) -> Workload:
    mix = dict.fromkeys(("read", "update", "insert", "scan", "read_modify_write"), 0.0)
    properties = {
        "records": float(records),
        "fields": 10.0,
        "field_length": 100.0,
        **mix,
        **YCSB_MIX[benchmark],
        **more,
    }
    return _workload("ycsb", benchmark, properties)


def db_bench(benchmark: str, records: int = 20_000, **more: str | float | bool) -> Workload:
    properties = {"records": float(records), "key_size": 16.0, "value_size": 100.0, **more}
    return _workload("db_bench", benchmark, properties)


def _workload(family: Literal["ycsb", "db_bench"], benchmark: str, properties: Options) -> Workload:
    return Workload(
        name=benchmark,
        label=benchmark,
        description="",
        family=family,
        benchmark=benchmark,
        properties=dict(properties),
        writes=True,
        origin=ORIGIN,
    )


def rocksdb(path: Path | str, options_file: str | None = None, **options: str | float | bool) -> Database:
    return Database(
        name="rocks",
        label="RocksDB",
        engine="rocksdb",
        server="none",
        path=str(path),
        options=options,
        options_file=options_file,
        reset="reuse",
        origin=ORIGIN,
    )


def embedded(path: Path | None = None) -> Database:
    return Database(
        name="mongo",
        label="MongoDB",
        engine="mongodb",
        server="embedded",
        path=str(path) if path else None,
        reset="drop_and_load",
        origin=ORIGIN,
    )


def attached(uri: str, topology: str | None = None, version: str | None = None) -> Database:
    return Database(
        name="mongo",
        label="MongoDB",
        engine="mongodb",
        server="attach",
        uri=(uri,),
        topology=topology,
        version=version,
        reset="drop_and_load",
        origin=ORIGIN,
    )


def box(facts: Mapping[str, Fact] | None = None, power: tuple[PowerMeter, ...] = ()) -> Hardware:
    """Return a hardware group that consists of this machine alone."""
    return Hardware(
        key="box",
        label="Box",
        group="box",
        group_label="Box",
        hosts=("local",),
        nodes=1,
        facts=dict(facts or {}),
        power=power,
        origin=ORIGIN,
    )


def event(data: Literal["changed", "kept"]) -> Event:
    """Return an event that runs a command during the measurement. `data` says whether the command may change the data
    set."""
    return Event(
        at_s=1.0,
        label="Event",
        line="true",
        hosts=("local",),
        timeout_s=1.0,
        window_s=1.0,
        within=0.1,
        steady_s=1.0,
        outage=0.1,
        data=data,
        origin=ORIGIN,
    )


def node(*power: PowerMeter) -> Node:
    """Return this machine as the only host of a hardware group with these meters."""
    return Node(LOCAL, box(power=power))


def context(
    workload: Workload,
    database: Database,
    *,
    tool_path: str = "/opt/tool",
    driver: str = "",
    endpoint: Endpoint | None = None,
    threads: int = 2,
    target: float | None = None,
    repeat: int = 1,
    warm_up_s: float = 0.0,
    measure_s: float = 2.0,
    phases: int = 1,
    reuse: bool = True,
    max_error_share: float = 0.0,
) -> CellContext:
    records = int(float(workload.properties.get("records", 0)))
    tool = Tool(driver=driver or workload.family)
    cell = Cell(
        id="cell",
        hash="cell-hash",
        experiment="e",
        hardware="box",
        database=DatabaseKey.of(database.name, "box"),
        workload=workload.name,
        client=None if database.server == "none" else "load",
        load_hosts=("local",),
        tool=tool,
        threads=threads,
        target=target,
        repeat=repeat,
        warm_up_s=warm_up_s,
        measure_s=measure_s,
        phases=phases,
        dataset=Dataset(hash="dataset-hash", records=records, reuse=reuse),
        steps=tuple(
            Step(kind=kind, seconds=1.0, timeout_s=TIMEOUT_S)
            for kind in ("prepare", "load", "warm_up", "measure", "collect")
        ),
        locks=("local",),
        origin=ORIGIN,
    )
    plan = Plan(
        spec=SpecRef(name="brief", files={}),
        hosts={"local": LOCAL},
        hardware={"box": box()},
        clients={"load": Client(name="load", label="Load", hosts=("local",), tool=tool, origin=ORIGIN)},
        databases={DatabaseKey.of(database.name, "box"): database},
        workloads={workload.name: workload},
        experiments={
            "e": Experiment(
                name="e",
                label="E",
                hardware=("box",),
                workloads=(workload.name,),
                axis="threads",
                points=(float(threads),),
                warm_up_s=warm_up_s,
                measure_s=measure_s,
                phases=phases,
                repeats=1,
                order="grouped",
                max_error_share=max_error_share,
                origin=ORIGIN,
            )
        },
        cells=(cell,),
        estimate_s=1.0,
    )
    default = (
        Endpoint(path=database.path) if database.server == "none" else Endpoint(uri=Secret("mongodb://127.0.0.1/"))
    )
    return CellContext(plan, cell, tool_path, endpoint or default)


def run_job(transport: Transport, job: Job, into: Path) -> JobOutput:
    """Run a job to its end, and return its output."""
    running = transport.start(job)
    if not running.wait(job.timeout_s):
        running.stop()
        raise TimeoutError(f"{job.name} did not end: {running.tail()}")
    output = running.collect(into)
    running.discard()
    return output


def load(transport: Transport, driver: Driver, engine: Engine, context: CellContext, into: Path) -> None:
    """Run the load step as the executor does."""
    engine.reset(context.cell)
    job = driver.load(context)
    assert job is not None
    engine.loaded(context.cell, driver.check_load(context, run_job(transport, job, into)))


def recorded(
    directory: Path, *, exit_code: int | None = 0, started_at: float = 0.0, ended_at: float = 100.0
) -> JobOutput:
    """Return a recorded output as if its job had just ended."""
    return JobOutput(directory, exit_code, started_at, ended_at, "local")
