"""The lab specs of the examples stay as short as they are planned: `bench plan` counts loads, resets and measuring."""

from __future__ import annotations

import pytest

from benchbrief.compiler.estimates.estimate import estimate
from tests.support.examples import FOLDER
from tests.support.plans import compile_spec

LIMITS_H = {
    "power_efficiency": 63,
    "cluster_shrink": 22,
    "price_performance": 28.5,
    "rocksdb_ssds": 24,
    "flash_cache": 21,
}
"""In hours, a little above what is planned. Before loads were saved: 716, 343, 170, 23.4 and 20.7."""


@pytest.mark.parametrize("name", LIMITS_H)
def test_a_lab_spec_takes_no_longer_than_planned(name: str) -> None:
    hours = estimate(compile_spec(FOLDER / name / f"{name}.bench").cells) / 3600
    assert 0.9 * LIMITS_H[name] < hours <= LIMITS_H[name]
