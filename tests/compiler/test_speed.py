"""Tests what checks and plans cost. The cost is counted in calls, or compared with other work that takes turns with
them in one process, so no quiet machine is needed."""

from __future__ import annotations

import cProfile
import json
import pstats
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.compiler import expand
from benchbrief.compiler.compile import check, examine
from benchmarks import plan_10k
from benchmarks.hcl import LONG

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart.bench"
_UNITS = 30
"""The number of units of the long spec, which gives it about 2,800 lines."""


def long(language: str) -> str:
    head, unit = ((LONG / f"{part}.{language}").read_text(encoding="utf-8") for part in ("head", "unit"))
    return head + "".join(unit.replace("@", str(number)) for number in range(_UNITS))


_BY_TURNS = """
import json, sys, time
from pathlib import Path
import hcl2
from benchbrief.compiler.compile import examine

def cpu_s(work):
    started = time.process_time()
    work()
    return time.process_time() - started

spec, theirs = Path(sys.argv[1]), Path(sys.argv[2]).read_text()
assert not examine(spec).failed
hcl2.loads(theirs)
print(json.dumps([cpu_s(lambda: hcl2.loads(theirs)) / cpu_s(lambda: examine(spec)) for _ in range(3)]))
"""


@pytest.mark.long
def test_a_long_spec_is_parsed_and_checked_faster_than_hcl_is_parsed(tmp_path: Path) -> None:
    """When this was written, benchbrief was 3.3 times as fast on a busy machine, and 2.3 times as fast if pydantic
    checked the plans. For 10,000 lines, see `python -m benchmarks hcl`. Both parsers run in one separate process, with
    its own heap.
    """
    paths = [tmp_path / f"long.{language}" for language in ("bench", "hcl")]
    for path in paths:
        path.write_text(long(path.suffix[1:]), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", _BY_TURNS, *paths], capture_output=True, text=True, check=True)
    ratios = json.loads(done.stdout)
    assert statistics.median(ratios) > 2.5, ratios


def calls(work: Callable[[], object]) -> int:
    profile = cProfile.Profile()
    profile.enable()
    work()
    profile.disable()
    found: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]  # typeshed lacks it
    return found


def test_a_check_makes_no_cells_of_a_long_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "long.bench"
    path.write_text(long("bench"), encoding="utf-8")
    made: list[object] = []
    whole = expand._Block.cell

    def counted(*given: object) -> object:
        made.append(given)
        return whole(*given)  # type: ignore[arg-type]  # handed on as they are

    monkeypatch.setattr(expand._Block, "cell", counted)
    assert not examine(path).failed
    assert made == []


def test_a_long_spec_is_checked_with_few_calls_for_a_line(tmp_path: Path) -> None:
    """The count is the same on each machine. It was 236 calls per line when this was written."""
    path = tmp_path / "long.bench"
    path.write_text(long("bench"), encoding="utf-8")
    examine(path)
    assert calls(lambda: examine(path)) / long("bench").count("\n") < 260


def test_a_cell_is_planned_with_few_calls(tmp_path: Path) -> None:
    path = tmp_path / "large.bench"
    path.write_text(plan_10k.spec(), encoding="utf-8")
    examine(QUICKSTART)
    """There were 75 calls per cell when this was written."""
    assert calls(lambda: check(path)) / 10_000 < 85


_MODULES = """
import json, sys
from click.testing import CliRunner
from benchbrief.cli.command_line import group
done = CliRunner().invoke(group, ["check", sys.argv[1]])
assert done.exit_code == 0, done.output
from benchbrief.dsl.diagnostics.diagnostic import Problem
def below(kind):
    for each in kind.__subclasses__():
        yield each
        yield from below(each)
made = sum("__dataclass_params__" in vars(each) for each in set(below(Problem)))
print(json.dumps([sorted(sys.modules), made]))
"""


def test_checking_the_quickstart_imports_few_modules() -> None:
    done = subprocess.run([sys.executable, "-c", _MODULES, QUICKSTART], capture_output=True, text=True, check=True)
    modules, made = json.loads(done.stdout)
    rooms = [each for each in modules if each.startswith("benchbrief.")]
    slow = {"lark", "regex", "rich", "duckdb", "numpy", "jinja2", "yaml", "asyncio", "pydantic"}
    assert slow.intersection(modules) == set()
    assert len(rooms) < 180, "160 when this was written"
    assert made == 0, "the classes of mistakes that are not made are not built"
