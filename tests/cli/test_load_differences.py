"""Tests what `bench compare` says about the loads of two contenders, based on their plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbrief.comparing.comparison_cautions import Loads, compare_loads
from benchbrief.results.compare.contender import Contender
from tests.support.plans import compile_text

SPEC = """
hardware box { hosts = "box.lab" }
client load { hosts = "load.lab"  tool = openload }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload b from ycsb.b { records = 100k }
"""
EXPERIMENT = """
experiment @NAME@ { hardware = box  workloads = b  threads = 8  target = 1k ops/s  measure = 30 s  @ARRIVALS@ }
"""
OWN = "arrivals = constant(lag: 20 %)"


def loads(folder: Path, first: dict[str, str], second: dict[str, str]) -> Loads:
    sides = []
    for name, experiments in (("a", first), ("b", second)):
        (folder / name).mkdir()
        text = SPEC + "".join(
            EXPERIMENT.replace("@NAME@", each).replace("@ARRIVALS@", arrivals) for each, arrivals in experiments.items()
        )
        plan = compile_text(text, folder / name)
        store: Any = None  # only plans are compared
        sides.append(Contender(name, plan, store))
    return compare_loads(sides[0], sides[1])


def test_settings_that_one_spec_says_and_the_other_has_by_default_are_compared_by_what_they_are(tmp_path: Path) -> None:
    (found,) = loads(tmp_path, {"e": "arrivals = poisson(lag: 20 %)"}, {"e": ""}).differences
    assert (found.what, found.first, found.second) == ("experiment e.arrivals.lag", "0.2", "0.1")


def test_experiments_that_have_their_like_under_another_name_do_not_differ(tmp_path: Path) -> None:
    found = loads(tmp_path, {"one": OWN, "two": ""}, {"first": OWN, "second": ""})
    assert (found.differences, dict(found.other)) == ((), {})


def test_an_experiment_without_its_like_differs_from_all(tmp_path: Path) -> None:
    found = loads(tmp_path, {"one": OWN, "two": ""}, {"first": OWN})
    assert [each.what for each in found.differences] == [
        "experiment first.arrivals.kind",
        "experiment first.arrivals.lag",
    ]
