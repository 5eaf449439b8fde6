"""Tests how many processes, imports and layouts a brief takes. These numbers do not depend on how busy the machine
is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.bench import fresh_bench

_COUNTED = """
import json, os, subprocess, sys
import weasyprint

def cpu_s():
    return sum(os.times()[:4])

def fixed_s():
    began = cpu_s()
    sum(number * number % 7 for number in range(3_000_000))
    return cpu_s() - began

counts = {"processes": [], "layouts": 0}
started, laid_out = subprocess.Popen.__init__, weasyprint.HTML.render

def start(self, command, *args, **options):
    counts["processes"].append(os.path.basename(command[0]))
    started(self, command, *args, **options)

def lay_out(self, *args, **options):
    counts["layouts"] += 1
    return laid_out(self, *args, **options)

subprocess.Popen.__init__, weasyprint.HTML.render = start, lay_out
from benchbrief.cli.command_line import main
sys.argv = ["bench", "report", "simulated"]
before, began = fixed_s(), cpu_s()
try:
    main()
finally:
    spent = cpu_s() - began
    counts["times_fixed"] = 2 * spent / (before + fixed_s())
    counts["imported"] = sorted({"altair", "lark", "pandas", "vl_convert"} & {*sys.modules})
    print(json.dumps(counts), file=sys.stderr)
"""


@pytest.mark.long
def test_a_brief_starts_one_converter_imports_no_parser_and_is_laid_out_at_most_twice(tmp_path: Path) -> None:
    with fresh_bench(tmp_path) as bench:
        assert bench("init", "quickstart.bench").code == 0
        assert bench("run", "quickstart.bench", "--simulate", "--no-report").code == 0
        command = [sys.executable, "-c", _COUNTED]
        done = subprocess.run(command, cwd=bench.folder, env=bench.env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stderr.splitlines()[-1])
    assert counts["layouts"] <= 4, "the brief, once more with lower figures, its disclosure, and the stamp of both"
    assert counts["imported"] == []
    assert counts["times_fixed"] < 45, "19 times a fixed piece of work in the same process when this was written"
    converters = [each for each in counts["processes"] if each not in {"sh", "fc-list"}]
    assert len(converters) == 1, "one process draws all figures"
