"""Tests what is suspicious in a run, what causes an alarm, and who is responsible for a change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchbrief.comparing.gate_output import cases, counted, markdown, why_unprotected, why_untested
from benchbrief.compiler.metrics.curves import ABSENT
from benchbrief.history.gate_rule import GateRule, JudgedSeries, Remeasured, confirm, judge_run
from benchbrief.history.read_series import FoundSeries, SeriesChoice
from benchbrief.history.series_changes import (
    ChangeVerdict,
    VerdictWord,
    add_verdicts,
    lab_share,
    read_verdicts,
    trend_of,
)
from benchbrief.history.series_rows import SeriesRow, coded
from benchbrief.model.message import Message, joined, word
from benchbrief.results.result_messages import say
from benchbrief.results.statistics.change_points import FEWEST, departure, p_of_shift
from benchbrief.results.store_errors import ResultsError
from tests.history.histories import a_row, found
from tests.support.longer import one_in

REFERENCE = {"hardware": "reference", "threads": 4}


def nights(seed: int, level: float = 1000.0, size: int = 40, noise: float = 0.02, **more: Any) -> list[SeriesRow]:
    values = level * np.exp(np.random.default_rng(seed).normal(0, noise, size))
    return [a_row(night, float(value), **more) for night, value in enumerate(values)]


def stepped(rows: Sequence[SeriesRow], at: int, factor: float) -> list[SeriesRow]:
    return [row._replace(value=(row.value or 0) * (factor if n >= at else 1)) for n, row in enumerate(rows)]


def judged(
    rows: Sequence[SeriesRow], rule: GateRule | None = None, verdicts: Sequence[ChangeVerdict] = ()
) -> JudgedSeries:
    shown = found(rows)
    last = max(rows, key=lambda row: row.measured_at).run_id
    (one,) = judge_run(last, shown.series, shown.controls, rule or GateRule(), verdicts)
    return one


def a_verdict(verdict: VerdictWord, run: str = "night-0036") -> ChangeVerdict:
    return ChangeVerdict(run=run, quantity="throughput", at={"hardware": "nvme"}, verdict=verdict)


def test_a_run_at_the_level_of_the_runs_before_is_as_before() -> None:
    assert judged(nights(1)).state == "ok"


def test_a_step_is_suspect_and_an_alarm_once_it_is_measured_again() -> None:
    one = judged(stepped(nights(1), 36, 0.9))
    assert one.state == "suspect"
    assert one.change == pytest.approx(-0.1, abs=0.02)
    stays, goes = ([value * factor for value in (1000, 1010, 990, 1005, 995)] for factor in (0.9, 1.0))
    assert confirm([one], Remeasured({0: stays}), GateRule())[0].state == "alarm"
    assert confirm([one], Remeasured({0: goes}), GateRule())[0].state == "not confirmed"
    assert confirm([one], Remeasured({0: stays[:1]}), GateRule())[0].state == "suspect", (
        "one value says nothing of noise"
    )
    assert confirm([one], Remeasured({}), GateRule())[0].state == "suspect"


def test_a_rise_of_what_is_better_higher_is_better_and_of_what_is_better_lower_suspect() -> None:
    assert judged(stepped(nights(1), 36, 1.1)).state == "better"
    assert judged(stepped(nights(1, better="lower"), 36, 1.1)).state == "suspect"
    assert judged(stepped(nights(1, better=None), 36, 1.1)).state == "suspect"


def test_a_change_below_the_threshold_is_none() -> None:
    rows = stepped(nights(1, noise=0.001), 36, 0.98)
    assert judged(rows).state == "suspect"
    one = judged(rows, GateRule(threshold=0.05))
    assert (one.state, one.detail) == ("ok", "within the threshold")


def test_more_series_need_a_larger_change() -> None:
    points = [{"hardware": "nvme", "threads": n} for n in range(60)]
    one = stepped(nights(1, point=points[0]), 39, 0.93)
    many = [row for n, point in enumerate(points[1:]) for row in nights(n + 10, point=point)]
    shown = found([*one, *many])
    alone = judged(one)
    among = judge_run("night-0039", shown.series, (), GateRule())[0]
    assert alone.p is not None
    assert among.p == pytest.approx(min(1.0, alone.p * 60))


@pytest.mark.parametrize("size", [1, 2, FEWEST])
def test_a_short_history_is_not_tested_and_says_so(size: int) -> None:
    one = judged(nights(1, size=size))
    assert one.state == "untested"
    assert f"{size - 1} run" in one.detail


def test_what_could_not_be_tested_is_said_to_have_no_protection_with_the_runs_that_it_takes() -> None:
    short, shorter, tested = judged(nights(1, size=4)), judged(nights(1, size=2)), judged(nights(1))
    assert why_unprotected([tested]) == ""
    assert why_unprotected([short, shorter]) == (
        "NO PROTECTION: none of the 2 series could be tested: 3 more runs at the same level are needed"
    )
    some = "NO PROTECTION for 1 of the 2 series, which could not be tested: 1 more run at the same level is needed"
    assert why_unprotected([tested, judged(nights(1, size=FEWEST))]) == some
    assert f"**{some}**" in markdown("one", [tested, judged(nights(1, size=FEWEST))], [])


def test_as_many_more_runs_as_it_says_are_needed_for_a_test() -> None:
    needed = judged(nights(1, size=3)).runs_needed
    assert judged(nights(1, size=3 + needed - 1)).state == "untested"
    assert judged(nights(1, size=3 + needed)).state != "untested"


def test_the_most_frequent_reason_why_series_are_untested_is_said() -> None:
    short, shorter = judged(nights(1, size=4)), judged(nights(1, size=2))
    assert why_untested([judged(nights(1))]) == ""
    assert why_untested([short, short]) == f"untested: 3 runs at this level before it, and a test takes {FEWEST}"
    most = f"2 of the 3 untested: 3 runs at this level before it, and a test takes {FEWEST}"
    assert why_untested([shorter, short, short]) == most
    assert f"\n{most}\n" in markdown("one", [shorter, short, short], [])


def test_a_missing_value_and_a_vanished_point_are_missing() -> None:
    rows = nights(1)
    assert judged([*rows[:-1], rows[-1]._replace(value=None, reason="the tool died")]).detail == "the tool died"
    other = {"hardware": "nvme", "threads": 8}
    shown = found([*rows, *nights(2, size=39, point=other)])
    states = [each.state for each in judge_run("night-0039", shown.series, (), GateRule())]
    assert states == ["ok", "missing"]


def test_points_that_only_one_run_chose_are_passed_over_and_those_of_both_are_judged() -> None:
    whole = nights(1, quantity="peak", point={"hardware": "nvme"})
    both = stepped(nights(2, chosen=True), 36, 0.9)
    gone = nights(3, size=39, chosen=True, point={"hardware": "nvme", "threads": 8})
    new = nights(4, chosen=True, point={"hardware": "nvme", "threads": 9})[-1:]
    series = found([*whole, *both, *gone, *new]).series
    judged_all = judge_run("night-0039", series, (), GateRule())
    assert [each.state for each in judged_all] == ["ok", "suspect", "passed over", "passed over"]
    assert counted(judged_all) == "4 series: 1 suspect, 2 passed over, 1 as before"
    assert [case.state for case in cases(judged_all[2:], strict=True)] == ["skipped", "skipped"]
    young = found(nights(1, size=3, chosen=True)).series
    assert [each.state for each in judge_run("night-0002", young, (), GateRule())] == ["untested"]


def test_a_value_that_the_run_before_had_not_is_not_missing_when_its_series_ends() -> None:
    other = nights(2, size=39, quantity="latency.p99[write]")
    never = [row._replace(value=None, reason="the tool gave no histogram") for row in other]
    for rows, states in ((other, ["missing", "ok"]), (never, ["ok"])):
        shown = found([*nights(1), *rows])
        assert [each.state for each in judge_run("night-0039", shown.series, (), GateRule())] == states


@pytest.mark.parametrize(
    "why",
    one_in(
        4,
        [
            "the tool gave no histogram",
            "printed percentiles can't be merged",
            "the measurements give no such value",
            "a divisor is zero, or the measurements give no such value",
            "divided by zero",
            *map(word, ABSENT.values()),
            joined(map(word, ("no_knee", "no_saturation")), say.both),
            joined((word("no_knee"), say.gave_no_histogram(), say.not_printed()), say.both),
        ],
    ),
)
def test_a_measure_that_the_tool_lacks_is_missing_only_where_an_earlier_run_had_it(why: str) -> None:
    rows = nights(1, quantity="latency.p99[write]")
    assert judged([*rows[:-1], rows[-1]._replace(value=None, reason=why)]).state == "missing"
    never = judged([row._replace(value=None, reason=why) for row in rows])
    assert (never.state, never.detail) == ("passed over", why)
    assert [case.state for case in cases([never], strict=True)] == ["skipped"]


def test_a_measure_that_failed_is_missing_whether_a_run_ever_had_it_or_not() -> None:
    rows = nights(1, quantity="latency.p99[write]")
    for failed in ("the tool died", say.both(first=word("no_knee"), then="the tool died")):
        assert judged([row._replace(value=None, reason=failed) for row in rows]).state == "missing"


@pytest.mark.parametrize(
    ("why", "state"),
    [
        (word("no_knee"), "passed over"),
        (say.both(first=word("no_steady"), then=say.over_repeats(said=say.unmergeable())), "passed over"),
        (say.gave_no(statistic="mean"), "passed over"),
        (say.gave_no(statistic="p99"), "missing"),
        (say.both(first=word("no_knee"), then=say.no_repeat()), "missing"),
    ],
)
def test_a_reason_is_judged_by_its_code_where_the_file_has_one(why: Message, state: str) -> None:
    rows = [row._replace(value=None, reason="other words", message=coded(why)) for row in nights(1)]
    assert (judged(rows).state, judged(rows).detail) == (state, why)


def test_a_point_that_a_run_took_from_an_earlier_one_is_there() -> None:
    other = {"hardware": "nvme", "threads": 8}
    rows = [*nights(1), *nights(2, point=other)]
    taken = rows[-1]._replace(reused_from="night-0038")
    shown = found([*rows[:-1], taken])
    judged_all = judge_run("night-0039", shown.series, (), GateRule(), reused=shown.reused["night-0039"])
    assert [each.state for each in judged_all] == ["ok", "reused"]
    assert [case.state for case in cases(judged_all, strict=True)] == ["ok", "skipped"]


def test_a_pinned_baseline_sees_what_crept_in() -> None:
    rows = stepped(stepped(nights(1, size=80), 20, 0.96), 40, 0.96)
    assert judged(rows).state == "ok", "the last level is that of the last forty runs"
    pinned = judged(rows, GateRule(baseline="night-0005"))
    assert pinned.state == "suspect"
    assert pinned.change == pytest.approx(-0.08, abs=0.02)
    assert judged(rows, GateRule(baseline="night-9999")).state == "untested"


# --- the lab -----------------------------------------------------------------------------------------------------


def with_control(factor: float, of_lab: float) -> FoundSeries:
    rows = stepped(nights(1), 34, factor * of_lab)
    return found([*rows, *stepped(nights(2, point=REFERENCE, control=True), 34, of_lab)])


def test_a_change_that_the_control_shows_too_is_the_labs_and_no_alarm() -> None:
    shown = with_control(1.0, 0.92)
    (one,) = judge_run("night-0039", shown.series, shown.controls, GateRule())
    assert one.state == "lab"
    (change,) = trend_of(shown.series[0], shown.controls).changes
    assert change.lab is not None
    assert change.lab.is_lab


def test_the_control_of_another_spec_says_nothing() -> None:
    slower: dict[str, Any] = {"quantity": "latency.p99[read]", "unit": "s", "better": "lower"}
    rows = [
        *stepped(nights(1, **slower), 34, 1 / 0.92),
        *stepped(nights(2, point=REFERENCE, control=True), 34, 0.92),
        *(
            row._replace(spec="other.bench", run_id=f"other-{row.run_id}")
            for row in nights(3, point=REFERENCE, control=True, **slower)
        ),
    ]
    shown = found(rows)
    trend = next(
        trend_of(each, shown.controls) for each in shown.series if each.spec == "nightly.bench" and not each.control
    )
    assert [change.lab and change.lab.is_lab for change in trend.changes] == [True]


def test_a_change_that_the_control_does_not_show_is_the_codes() -> None:
    shown = with_control(0.92, 1.0)
    (one,) = judge_run("night-0039", shown.series, shown.controls, GateRule())
    assert (one.state, one.lab and (one.lab.is_lab, one.lab.is_part)) == ("suspect", (False, False))


def test_a_change_beyond_the_labs_is_suspect() -> None:
    shown = with_control(0.9, 0.92)
    (one,) = judge_run("night-0039", shown.series, shown.controls, GateRule())
    assert one.state == "suspect"
    assert one.lab is not None
    assert one.lab.is_part
    assert one.lab.rest == pytest.approx(0.9, abs=0.03)


def test_a_lab_that_only_the_control_measured_again_shows_is_no_alarm() -> None:
    shown = with_control(0.9, 1.0)
    (one,) = judge_run("night-0039", shown.series, shown.controls, GateRule())
    again = {0: [905.0, 898.0, 901.0, 895.0, 903.0]}
    key = shown.controls[0].key
    steady, slow = ([1000.0 * factor * each for each in (1.0, 1.01, 0.99, 1.0, 1.005)] for factor in (1.0, 0.9))
    assert confirm([one], Remeasured(again, {key: steady}), GateRule())[0].state == "alarm"
    assert confirm([one], Remeasured(again, {key: slow}), GateRule())[0].state == "lab"
    assert confirm([one], Remeasured(again, {key: [float("nan")] * 5}), GateRule())[0].state == "alarm"


def test_latencies_without_a_control_of_their_own_have_its_throughput_with_the_other_sign() -> None:
    slower = stepped(nights(1, quantity="latency.p99[read]", unit="s", better="lower"), 34, 1.09)
    shown = found(
        [*slower, *stepped(nights(2, point=REFERENCE, control=True), 34, 0.92)], SeriesChoice(("latency.p99[read]",))
    )
    known = shown.series[0].parts[0].known
    share = lab_share(shown.series[0], known[:34], known[34:], shown.controls)
    assert share is not None
    assert share.is_lab


# --- verdicts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("verdict", "state"), [("accept", "known"), ("bug", "known"), ("noise", "known")])
def test_a_change_with_a_verdict_is_no_alarm(verdict: VerdictWord, state: str) -> None:
    rows = stepped(nights(1), 36, 0.9)
    assert judged(rows).state == "suspect"
    assert judged(rows, verdicts=[a_verdict(verdict)]).state == state


def test_a_verdict_of_another_point_or_quantity_counts_for_nothing() -> None:
    rows = stepped(nights(1), 36, 0.9)
    other = a_verdict("accept").model_copy(update={"at": {"hardware": "hdd"}})
    assert judged(rows, verdicts=[other]).state == "suspect"
    assert judged(rows, verdicts=[a_verdict("accept").model_copy(update={"quantity": "errors"})]).state == "suspect"


def test_a_further_fall_after_an_accepted_one_is_suspect_again() -> None:
    rows = stepped(stepped(nights(1, size=60), 36, 0.9), 57, 0.9)
    one = judged(rows, verdicts=[a_verdict("accept")])
    assert one.state == "suspect"
    assert one.change == pytest.approx(-0.1, abs=0.03)


def test_verdicts_are_added_to_the_file_and_what_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "bench-verdicts.toml"
    path.write_text('# ours\n[[change]]\nrun = "a"\nquantity = "q"\nverdict = "bug"  # see the tracker\n')
    odd = ChangeVerdict(
        run='a"\n\x7f\\', quantity="latency.p99[read]", at={"h": "ü\n", "threads": 4}, verdict="noise", note="\t'"
    )
    add_verdicts(path, [odd])
    assert path.read_text().startswith("# ours\n")
    assert "# see the tracker" in path.read_text()
    assert read_verdicts(path)[1] == odd
    assert read_verdicts(tmp_path / "none.toml") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[change", "is no TOML"),
        ("[[changes]]\n", "has changes"),
        ("change = 3\n", "has a wrong `change`"),
        ('[[change]]\nrun = "a"\nquantity = "q"\nverdict = "fine"\n', "number 1: verdict"),
        ('[[change]]\nrun = "a"\nverdict = "bug"\n', "number 1: quantity"),
        ("\udcff", "is no TOML"),
    ],
)
def test_a_wrong_file_of_verdicts_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bench-verdicts.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ResultsError) as raised:
        read_verdicts(path)
    assert message in raised.value.message


# --- the test ----------------------------------------------------------------------------------------------------


def test_the_p_value_is_that_of_students_one_sided_test() -> None:
    from scipy.stats import ttest_ind

    a, b = np.random.default_rng(8).normal(size=9).tolist(), np.random.default_rng(9).normal(-1, size=4).tolist()
    assert p_of_shift(a, b, -1) == pytest.approx(float(ttest_ind(b, a, alternative="less").pvalue))
    assert p_of_shift(a, b, 0) == pytest.approx(float(ttest_ind(a, b).pvalue))
    assert p_of_shift(a, b, 1) == 1.0


def test_errors_where_there_were_none_are_certain_and_none_after_none_are_not() -> None:
    assert p_of_shift([0.0] * 9, [0.1], 1) == 0.0
    assert p_of_shift([0.0] * 9, [0.0], 1) == 1.0
    assert departure([0.0] * 9, 0, 1) is not None
    assert departure([1.0] * FEWEST, 0, 1) is None
