"""Records the results of apache-otava and ruptures for series in `recorded.json`. The tests compare our own results
with them.

Neither can be installed beside benchbrief, because otava pins numpy and scipy. They need an environment of their own:

    python -m venv /tmp/oracles && /tmp/oracles/bin/pip install apache-otava==0.8.0 ruptures==1.1.10
    /tmp/oracles/bin/python tests/results/oracles/record.py
"""

# mypy: ignore-errors

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import ruptures
from otava.analysis import compute_change_points
from otava.change_point_divisive.calculator import PairDistanceCalculator

STEPS = {
    "none": [],
    "one": [(60, 1.06)],
    "down and up": [(40, 0.92), (75, 1.09)],
    "stairs": [(30, 1.05), (60, 1.06), (95, 1.05)],
    "late": [(113, 0.93)],
    "early": [(6, 1.08)],
}


def a_series(seed, steps, size=120):
    values = np.random.default_rng(seed).normal(1000.0, 15.0, size)
    for at, factor in steps:
        values[at:] *= factor
    return np.round(values, 3)


def series_of(name, seed):
    values = a_series(seed, STEPS[name])
    found, _ = compute_change_points(values.tolist(), window_len=50, max_pvalue=1e-4, min_magnitude=0.0)
    candidate = PairDistanceCalculator(values[:50]).get_candidate_change_point(slice(0, 50))
    ends = ruptures.Dynp(model="l2", min_size=2, jump=1).fit(values).predict(n_bkps=len(STEPS[name]))
    return {
        "name": f"{name} {seed}",
        "values": values.tolist(),
        "otava": [int(point.index) for point in found],
        "otava_statistic": [int(candidate.index), float(candidate.qhat)],
        "ruptures": [int(end) for end in ends[:-1]],
    }


if __name__ == "__main__":
    recorded = {
        "versions": {name: version(name) for name in ("apache-otava", "ruptures", "numpy")},
        "series": [series_of(name, seed) for name in STEPS for seed in range(1, 5)],
    }
    Path(__file__).with_name("recorded.json").write_text(json.dumps(recorded) + "\n", encoding="utf-8")
