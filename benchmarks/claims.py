"""Simulates campaigns that claim highest values and whose truth is known. Counts the wrong and the true claims that are
made, how often the interval contains the true value, and how well the overstatement of a highest value is estimated.

A campaign has five claims, each about the highest ratio of two sides over six points. Each side of a point is measured
three times with a noise of 2 %, and the winning point is measured again for the held-out repeats. The verdicts are the
product's own.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchbrief.model import plan as p
from benchbrief.model.held_out import advised_times
from benchbrief.reports.view.said_claims import LEAST_OVERSTATED
from benchbrief.results.analysis.claim_verdicts import ClaimVerdict, claim_verdicts
from benchbrief.results.analysis.held_out_repeats import HeldOutRepeats, Winner
from benchmarks.figures import record

CAMPAIGNS, CLAIMS, POINTS, REPEATS, NOISE = 2_000, 5, 6, 3, 0.02
_PLAN = p.Plan(
    spec=p.SpecRef(name="", files={}),
    hosts={},
    hardware={},
    clients={},
    databases={},
    workloads={},
    experiments={},
    cells=(),
    estimate_s=0.0,
)
_HERE = p.Origin(file="", line=1, column=1)


def _query(name: str, *dims: str) -> p.Query:
    return p.Query(sql=name, dims=dims, unit="", text=name, by_ratio=True)


def _claim(name: str, times: int) -> p.Claim:
    points = _query(f"{name} points", "threads")
    extremes = (p.Extreme(bound="high", points=points),)
    return p.Claim(
        name=name,
        sentence=p.Prose.of([p.Value(query=_query(f"{name} value"), format=".3f")]),
        what="Ratio",
        bound="high",
        points=points,
        repeats=_query(f"{name} repeats", "threads", "repeat"),
        no_difference=1.0,
        better="higher",
        held_out=p.HeldOut(times=times, extremes=extremes, repeats=points) if times else None,
        origin=_HERE,
    )


@dataclass(frozen=True)
class JudgedClaim:
    """A verdict, and the true ratio at the winning point."""

    verdict: ClaimVerdict
    truth: float

    @property
    def is_wrong(self) -> bool:
        return self.verdict.state == "decided" and self.truth <= 1


def campaign(draw: random.Random, truths: Sequence[float], held_out: int, claims: int = CLAIMS) -> list[JudgedClaim]:
    """Return the verdicts on a campaign whose claims all have points with these true ratios. The claims are decided
    together."""
    rows: dict[str, list[tuple[tuple[float, ...], float]]] = {}
    held: dict[str, HeldOutRepeats] = {}
    made, at = [], []
    for number in range(claims):
        claim = _claim(f"c{number}", held_out)
        repeats = {
            (float(point), float(repeat)): _ratio(draw, truth)
            for point, truth in enumerate(truths)
            for repeat in range(1, REPEATS + 1)
        }
        means = [
            statistics.fmean(one for (at_point, _), one in repeats.items() if at_point == point)
            for point in range(len(truths))
        ]
        won = max(range(len(truths)), key=means.__getitem__)
        rows[f"{claim.name} repeats"] = list(repeats.items())
        rows[f"{claim.name} points"] = [((float(point),), mean) for point, mean in enumerate(means)]
        rows[f"{claim.name} value"] = [((), means[won])]
        if held_out:
            again = tuple(_ratio(draw, truths[won]) for _ in range(held_out))
            winner = Winner(({"threads": float(won)},), len(truths), means[won])
            held[claim.name] = HeldOutRepeats(held_out, 1, winner, statistics.fmean(again), again)
        made.append(claim)
        at.append(truths[won])
    verdicts = claim_verdicts(_PLAN, lambda query: rows[query.sql], made, held)
    return [JudgedClaim(each, truth) for each, truth in zip(verdicts, at, strict=True)]


def _ratio(draw: random.Random, truth: float) -> float:
    return truth * math.exp(draw.gauss(0, NOISE) - draw.gauss(0, NOISE))


Shape = Literal["alike", "plateau", "rising", "apart"]
SHAPES: Mapping[Shape, Sequence[float]] = {
    "alike": [1.0] * POINTS,
    "plateau": [0.8, 0.9, 0.97, 1.0, 1.0, 1.0],
    "rising": [1 + 0.015 * point for point in range(POINTS)],
    "apart": [1 + 0.1 * point for point in range(POINTS)],
}
"""The true ratios over the points, by the shape's name."""


def overstated(draw: random.Random, truths: Sequence[float], claims: int) -> tuple[float, float]:
    """Return how much too high the highest values are on average, and how much too high the claims estimate them to be.
    Both are shares of the values."""
    judged = campaign(draw, truths, 0, claims)
    values = [(each.verdict.value or 0.0, each.truth, each.verdict.overstated or 0.0) for each in judged]
    return (
        statistics.fmean(1 - truth / value for value, truth, _ in values),
        statistics.fmean(said for _, _, said in values),
    )


def main() -> bool:
    draw = random.Random(41)  # noqa: S311  # noise, not secrets
    null = [campaign(draw, SHAPES["alike"], 3) for _ in range(CAMPAIGNS)]
    wrong = sum(any(each.is_wrong for each in one) for one in null)
    record(f"{CAMPAIGNS:,} campaigns of {CLAIMS} claims without a difference that say a wrong one", f"{wrong}", "5 %")
    every = [each for one in null for each in one]
    inside = sum((each.verdict.low or 0) <= each.truth <= (each.verdict.high or 0) for each in every)
    share, level = inside / len(every), every[0].verdict.level
    print(f"  their {100 * level:.0f} % intervals have the true value in {100 * share:.1f} %")
    alone = [campaign(draw, SHAPES["alike"], 3, claims=1)[0] for _ in range(CAMPAIGNS)]
    covered = sum((each.verdict.low or 0) <= each.truth <= (each.verdict.high or 0) for each in alone) / CAMPAIGNS
    record(f"95 % intervals of {CAMPAIGNS:,} claims with the true value", f"{100 * covered:.1f} %", "93 to 97 %")
    good = wrong <= 0.05 * CAMPAIGNS and 0.93 <= covered <= 0.97
    gains = [1.1] * POINTS
    for claims in (1, 3, CLAIMS, 10, 40):
        for times in dict.fromkeys((3, advised_times(claims))):
            some = max(1, CAMPAIGNS // claims)
            found = [each for _ in range(some) for each in campaign(draw, gains, times, claims)]
            said = sum(each.verdict.state == "decided" for each in found) / len(found)
            what = f"true gains of 10 % that are said, of {claims} claims with {times} held-out repeats each"
            record(what, f"{100 * said:.0f} %", "80 %" if times == advised_times(claims) else "")
            good &= said >= 0.8 or times != advised_times(claims)
    for name, truths in SHAPES.items():
        true, stated = overstated(draw, truths, CAMPAIGNS // 4)
        record(f"what claims say of the highest of six points, {name}", f"{100 * stated:.2f} %", f"{100 * true:.2f} %")
        # Of next to nothing, no share is right within 20 %: briefs tell of none below LEAST_OVERSTATED.
        good &= stated < LEAST_OVERSTATED / 5 if name == "apart" else abs(stated / true - 1) <= 0.2
    return good


if __name__ == "__main__":
    raise SystemExit(not main())
