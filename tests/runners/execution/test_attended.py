"""Tests how long a cell's jobs continue without their controller."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest

from benchbrief.runners.execution.attempt import Attempt
from benchbrief.runners.jobs.tasks import Command, Job
from benchbrief.runners.journal.journal_file import Journal
from benchbrief.runners.world.world_choice import RealWorld
from tests.support.plans import compile_spec

JOB = Job("measure", Command(("true",)), timeout_s=1.0)


@pytest.mark.parametrize(("said", "seconds"), [("unattended = 15 min", 900.0), ("", JOB.unattended_s)])
def test_a_job_goes_on_as_long_as_its_experiment_says(tmp_path: Path, said: str, seconds: float) -> None:
    spec = tmp_path / "spec.bench"
    spec.write_text(
        'hardware box { hosts = local }\ndatabase rocks { engine = rocksdb  path = "/data" }\n'
        "workload w from db_bench.fillrandom\n"
        f"experiment e {{ hardware = box  workloads = w  threads = 1  measure = 1 s  {said} }}\n"
    )
    plan = compile_spec(spec)
    with closing(Journal(tmp_path, lambda _: None)) as journal:
        attempt = Attempt(
            plan=plan,
            cell=plan.cells[0],
            number=1,
            run_dir=tmp_path,
            journal=journal,
            hosts={},
            world=RealWorld(),
            stopping=threading.Event(),
        )
        assert attempt.attended(JOB).unattended_s == seconds
