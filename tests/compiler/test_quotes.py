"""Tests which expressions of a report count as equal to a published value."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.model import plan as p
from tests.support.plans import compile_text

SPEC = """
hardware eco    {{ hosts = "eco.lab" }}
hardware legacy {{ hosts = "hdd.lab" }}
client load {{ hosts = "load.lab"  tool = ycsb }}
database mongo {{ engine = mongodb  uri = "mongodb://{{hosts}}/ycsb" }}
workload a from ycsb.a
workload f from ycsb.f
experiment ramp {{ hardware = [eco, legacy]  workloads = [a, f]  threads = [48, 96]  measure = 1 min }}
metric speed = throughput
metric gain in % = speed[eco] / speed[legacy] - 1
report r "R" {{ {body} }}
"""


def quotes(body: str, tmp_path: Path) -> list[p.Quote | None]:
    (report,) = compile_text(SPEC.format(body=body), tmp_path).reports
    (element,) = report.elements
    assert isinstance(element, p.TextElement)
    values = [part for part in element.prose.parts if isinstance(part, p.Value)]
    return [query.quote for value in values for query in (value.query, value.high) if query]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("gain[a, threads: 96]", [p.Quote(metric="gain", bound="value", at={"workload": "a", "threads": 96})]),
        ("-gain[a, threads: 96]", [
            p.Quote(metric="gain", bound="value", at={"workload": "a", "threads": 96}, negated=True)
        ]),
        ("min(gain[f] over threads)", [p.Quote(metric="gain", bound="low", at={"workload": "f"}, over=("threads",))]),
        ("range(gain[f] over threads)", [
            p.Quote(metric="gain", bound="low", at={"workload": "f"}, over=("threads",)),
            p.Quote(metric="gain", bound="high", at={"workload": "f"}, over=("threads",)),
        ]),
        ("max(-gain[f] over threads)", [
            p.Quote(metric="gain", bound="low", at={"workload": "f"}, over=("threads",), negated=True)
        ]),
        ("max(gain over threads, workload)", [p.Quote(metric="gain", bound="high", over=("threads", "workload"))]),
    ],
)  # fmt: skip
def test_a_metric_its_negative_and_its_ends_may_be_published(
    expression: str, expected: list[p.Quote], tmp_path: Path
) -> None:
    assert quotes(f'text = "{{{expression}}}"', tmp_path) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "mean(gain[f] over threads)",
        "1 + gain[a, threads: 96]",
        "min(gain[f] over threads, when gain[f] > 0)",
        "max(2 * gain[f] over threads)",
        "-min(gain[f] over threads)",
        "throughput[a, eco, threads: 96]",
    ],
)
def test_what_is_computed_from_a_metric_is_not_published(expression: str, tmp_path: Path) -> None:
    assert quotes(f'text = "{{{expression}}}"', tmp_path) == [None]
