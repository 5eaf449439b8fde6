"""Tests that the page on the journal and JSON output names everything that the code writes, and nothing else."""

from __future__ import annotations

import ast
import inspect
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from benchbrief.model import events
from benchbrief.progress import follow_run
from benchbrief.results.runs.run_summary import RunStatus
from tests.support.bench import Bench, fresh_bench
from tools.reference import journal

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "journal.md").read_text("utf-8")
RUN = "`bench run --json` and `bench resume --json`"
SPEC = """
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data" }
workload rr from db_bench.readrandom { records = 1k }
experiment e { hardware = box  workloads = rr  threads = adaptive(1..8, points: 4)  measure = 1 min }
"""


def part(title: str) -> str:
    """Return the text below a title, up to the next title of the same or a higher level."""
    (level,) = re.findall(rf"^(#+) {re.escape(title)}$", PAGE, re.MULTILINE)
    behind = PAGE.split(f"{level} {title}\n", 1)[1]
    return re.split(rf"^#{{1,{len(level)}}} ", behind, maxsplit=1, flags=re.MULTILINE)[0]


def documented(text: str) -> set[str]:
    """Return the names in the first column of the tables in a text."""
    return {name for row in re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}


def test_each_record_of_the_journal_is_there_with_each_of_its_fields() -> None:
    names = {str(record.model_fields["type"].default): record for record in journal.RECORDS}
    printed = part("Records of the journal")
    assert set(re.findall(r"^### `(\w+)`$", printed, re.MULTILINE)) == set(names)
    for name, record in names.items():
        assert documented(part(f"`{name}`")) == set(record.model_fields) - {"type", "at"}, name
    of_module = {
        each.__name__
        for each in vars(events).values()
        if isinstance(each, type) and issubclass(each, events.Record) and each is not events.Record
    }
    assert of_module == {record.__name__ for record in journal.RECORDS}


def test_each_step_and_each_reason_for_which_a_budget_had_no_room_is_explained() -> None:
    printed = part("Records of the journal").split("###")[0]
    assert "wait_for_turn" in journal.STEPS
    assert [step for step in journal.STEPS if f"`{step}`" not in printed] == []
    assert [kind for kind in ("no_room", "repeat", "point") if f"`{kind}`" not in printed] == []


def test_what_a_run_and_its_status_print_is_there(tmp_path: Path) -> None:
    with fresh_bench(tmp_path) as bench:
        ended = run(bench)
        assert documented(part(RUN)) == set(ended)
        assert [kind for kind in ended["cells"] if f"`{kind}`" not in part(RUN)] == []
        status = bench("status", bench.run_dir.name, "--json").json
    of_status = {each.name for each in fields(RunStatus)}
    assert documented(part("RunStatus")) == of_status == set(status) - {"time"}
    assert documented(part("CellStatus")) == set(status["cells"][0])
    assert documented(part("RampChoice")) == set(status["choices"][0])


def run(bench: Bench) -> dict[str, Any]:
    bench.spec(SPEC)
    done = bench("run", "brief.bench", "--simulate", "--no-report", "--json")
    assert done.code == 0, done.text
    found: dict[str, Any] = json.loads(done.out)
    return found


def events_in(source: str) -> dict[str, set[str]]:
    """Return the fields of each type of record, besides those that all events share."""
    found: dict[str, set[str]] = {}
    for case in (each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.match_case)):
        name = ast.literal_eval(ast.unparse(case.pattern))
        keys = [key for each in ast.walk(case) if isinstance(each, ast.Dict) for key in each.keys]
        found[name] = {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
        if "model_dump" in ast.unparse(case):  # all of the record
            (record,) = [each for each in journal.RECORDS if each.model_fields["type"].default == name]
            found[name] |= set(record.model_fields) - {"type", "at"}
    return found


def test_each_event_of_a_watch_is_there_with_its_fields(tmp_path: Path) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", part("`bench watch --json`"), re.MULTILINE))
    printed = {name: set(re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", row))) for name, row in rows.items()}
    with fresh_bench(tmp_path) as bench:
        run(bench)
        *_, present, end = map(json.loads, bench("watch", bench.run_dir.name, "--json").out.splitlines())
    assert printed.pop("present") == set(present) - {"event", "at", "run"}
    assert set(end) == {"event", "run", "phase", "exit_code"}
    by_case = events_in(inspect.getsource(follow_run.event))
    assert by_case
    assert printed == by_case | {name: set(fields) for name, fields in follow_run.FIELDS.items()}
