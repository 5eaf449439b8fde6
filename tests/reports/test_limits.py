"""Tests the limits of a brief's numbers: each is found in a store that has the fault, and none in one without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchbrief.model import plan as p
from benchbrief.model.message import figure
from benchbrief.model.steadiness import Steadiness
from benchbrief.reports.data.gaps import Gaps
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.disclosure.disclosure import build_disclosure
from benchbrief.reports.notices import result_limits
from benchbrief.reports.notices.number_marks import Cautions
from benchbrief.reports.render.page_html import to_html
from benchbrief.reports.text.merged_remarks import merge_remarks
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.view.build_view import build
from benchbrief.reports.view.said_claims import say_claims, verdicts_on
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.result_messages import say
from benchbrief.results.store import store_schema as s
from benchbrief.results.store.store_schema import SampleRow
from tests.reports import world as w

CLAIM = p.CalloutElement(title="Gain", prose=w.text("It is faster."))


def level(_hardware: str, _workload: str, threads: int) -> float:
    """Return a throughput that stops growing at two threads."""
    return 1000.0 * min(threads, 2)


def world(**more: Any) -> w.World:
    return w.World({"disk": "Disk"}, {"a": "Sessions"}, engine="mongodb", repeats=2, ops=level, **more)


def clean(of: w.World) -> list[Any]:
    return [row for row in of.rows() if not isinstance(row, s.NoteRow)]


BESIDE = "load generator and server shared a machine, where other work can't be told from theirs"


def limits_of(plan: p.Plan, rows: list[Any]) -> list[result_limits.ResultLimit]:
    """Return the limits, except for the one that every plan here has: its load generator runs on the same host as its
    server."""
    found = result_limits.limits(Results(plan, w.make_store(rows), CATALOGUES["en"]))
    return [limit for limit in found if BESIDE not in limit.short]


def utilised(share: float, cell: str, host: str = "local") -> SampleRow:
    return SampleRow(w.RUN, cell, "cpu.utilisation", host, "", 0.0, share, "")


def test_a_clean_run_has_no_limits() -> None:
    rows = [*clean(world()), utilised(0.5, world().cell_id("disk", "a", 4))]
    assert limits_of(world().plan(w.report("R", CLAIM)), rows) == []


@pytest.mark.parametrize(("beside", "said"), [(6, "all 6 measurements"), (1, "one of 6 measurements"), (0, "")])
def test_a_load_generator_on_a_machine_of_its_server_is_a_limit(beside: int, said: str) -> None:
    plan = world().plan()
    apart = [cell.model_copy(update={"load_hosts": ("load-1",)}) for cell in plan.cells[beside:]]
    plan = plan.model_copy(update={"cells": (*plan.cells[:beside], *apart)})
    results = Results(plan, w.make_store(clean(world())), CATALOGUES["en"])
    found = [limit.short for limit in result_limits.limits(results) if BESIDE in limit.short]
    assert found == ([f"in {said}, {BESIDE}"] if said else [])


def test_what_the_author_and_the_source_state_stands_before_computed_limits_and_on_the_first_page() -> None:
    rows = [*world().rows(), s.FactRow(w.RUN, "source limit", None, None, "its own test", "", None, "told")]
    plan = world().plan(w.report("R", CLAIM, limits=("The data fit in memory",)))
    view = build(plan, w.make_store(rows), plan.reports[0], CATALOGUES["en"])
    assert view.stated_limits == ("Its own test.", "The data fit in memory.")
    assert [limit.text for limit in view.limits][:2] == list(view.stated_limits)
    html = to_html(replace(view, disclosed=view.blocks), "technical_brief", CATALOGUES["en"], "screen")
    assert 'Limits: Its own test. The data fit in memory. <a href="#limits">All ' in html


@pytest.mark.parametrize(("accepted", "first"), [(0.0, True), (0.01, False)])
def test_failed_operations_are_reported_first_where_they_are_more_than_accepted(accepted: float, first: bool) -> None:
    plan = world().plan()
    ramp = plan.experiments["ramp"].model_copy(update={"max_error_share": accepted})
    plan = plan.model_copy(update={"experiments": {"ramp": ramp}})
    cell = world().cell_id("disk", "a", 4)
    rows = [
        row._replace(errors=5, count=995) if isinstance(row, s.ThroughputRow) and row.cell_id == cell else row
        for row in clean(world())
    ]
    (limit,) = limits_of(plan, rows)
    assert limit.full == f"In one measurement that counts, operations failed: 0.50% of them, in {cell}."
    assert bool(limit.short) == first
    cautions = Cautions(Results(plan, w.make_store(rows), CATALOGUES["en"]))
    query = w.query("SELECT 1.0 AS value", (), "ops/s", "throughput", [w.read("throughput")])
    said = "In one measurement, operations failed: 0.50% of its operations."
    assert said in [*cautions.in_text(query)]
    assert said in [*cautions.at(query, threads=4.0)]


@pytest.mark.parametrize(
    ("origin", "threads", "first"), [("here", 4, False), ("here", None, True), ("ycsb", 4, True), ("ycsb", None, True)]
)
def test_operations_that_were_cut_off_are_held_against_go_ycsb_where_others_stopped_it(
    origin: str, threads: int | None, first: bool
) -> None:
    plan = world().plan()
    cells = [
        cell.model_copy(update={"tool": cell.tool.model_copy(update={"driver": "go_ycsb"})}) for cell in plan.cells
    ]
    cell, rows = world().cell_id("disk", "a", 4), clean(world())
    for at, row in enumerate(rows):
        if isinstance(row, s.ThroughputRow) and row.cell_id == cell:
            rows[at] = row._replace(errors=4, count=996)
        elif isinstance(row, s.CellRow) and row.cell_id == cell:
            rows[at] = row._replace(threads=threads)
    if origin != "here":
        rows.append(
            s.SourceRow(w.RUN, origin, "A brief", "Example Ltd", None, None, None, "cited", "a.txt", "0" * 64, 1)
        )
    found = limits_of(plan.model_copy(update={"cells": tuple(cells)}), rows)
    (limit,) = [each for each in found if "failed" in each.full]
    assert bool(limit.short) == first


def test_a_saturated_load_generator_is_reported_with_its_host() -> None:
    cell = world().cell_id("disk", "a", 4)
    (limit,) = limits_of(world().plan(), [*clean(world()), utilised(0.97, cell)])
    assert limit.short == (
        "the load generator's processors were 97% busy in one of 6 measurements: the system may do more than is shown"
    )
    assert not limit.is_grave
    assert "97% on local" in limit.full
    assert limit.full.endswith("shares this host with the system under test.")


def test_a_busy_host_that_generates_no_load_is_no_limit() -> None:
    cell = world().cell_id("disk", "a", 4)
    assert limits_of(world().plan(), [*clean(world()), utilised(0.97, cell, "db-1")]) == []


def test_measurements_that_were_not_steady_are_reported_first() -> None:
    cells = [world().cell_id("disk", "a", threads) for threads in (2, 4)]
    (warning,) = Steadiness(range=0.5, trend=0.3).warnings
    rows = [s.NoteRow(w.RUN, cell, "warning", warning, "ycsb") for cell in cells]
    (limit,) = limits_of(world().plan(), [*clean(world()), *rows])
    rule = "(SNIA's rule, on fifths of the measured time)"
    assert limit.short == f"the throughput of 2 of 6 measurements had not become steady {rule}"
    assert limit.full.startswith("In 2 of 6 measurements, the throughput did not hold still")
    everywhere = [s.NoteRow(w.RUN, cell.id, "warning", warning, "ycsb") for cell in world().plan().cells]
    (limit,) = limits_of(world().plan(), [*clean(world()), *everywhere])
    assert limit.short == f"the throughput had not become steady in any of the 6 measurements {rule}"
    assert limit.is_grave


@pytest.mark.parametrize(
    ("judged", "short"),
    [
        (6, "2 of 6 measurements"),
        (5, "2 of 5 measurements that could be judged (one could not)"),
        (2, "all 2 measurements that could be judged (4 could not)"),
    ],
)
def test_other_work_on_a_host_is_reported_with_its_size_and_what_could_not_be_judged(judged: int, short: str) -> None:
    plan = world().plan()
    cells = sorted(plan.cells, key=lambda cell: (cell.repeat, cell.threads))
    apart = {cell.id: cell.model_copy(update={"load_hosts": ("load-1",)}) for cell in cells[:judged]}
    plan = plan.model_copy(update={"cells": tuple(apart.get(cell.id, cell) for cell in plan.cells)})
    rows = []
    for cell, cores in zip(cells, (0.7, 1.9), strict=False):
        text = say.busy_meanwhile(host="load-1", cell=cell.id, amount=figure(cores, ".1f"))
        rows.append(s.NoteRow(w.RUN, cell.id, "warning", text, "run"))
    (limit,) = limits_of(plan, [*clean(world()), *rows])
    assert limit.short == f"other work took 0.7 to 1.9 processors in {short}"
    assert "up to 1.9 cores on average" in limit.full
    assert ("could not be judged: " in limit.full) == (judged < 6)
    assert not limit.is_grave
    for processors, is_much in ((8, False), (6, True)):
        known = [*rows, s.FactRow(w.RUN, "host", None, "load-1", "threads", str(processors), None, "observed")]
        (limit,) = limits_of(plan, [*clean(world()), *known])
        assert limit.short == f"other work took 0.7 to 1.9 of {processors} processors in {short}"
        assert limit.is_grave == is_much


@pytest.mark.parametrize(
    ("busy", "twin", "said", "is_much"),
    [(8, 8, "1.9 of 8 processors", False), (8, 2, "1.9 processors", True), (6, 6, "1.9 of 6 processors", True)],
)
def test_other_work_is_held_against_the_processors_of_its_own_host(
    busy: int, twin: int, said: str, is_much: bool
) -> None:
    sizes = {"idle": 2, "busy": busy, "twin": twin}
    plan = world().plan()
    cells = tuple(cell.model_copy(update={"load_hosts": tuple(sizes), "threads": 1}) for cell in plan.cells)
    rows = [s.FactRow(w.RUN, "host", None, host, "threads", str(n), None, "observed") for host, n in sizes.items()]
    notes = [
        s.NoteRow(
            w.RUN, cells[0].id, "warning", say.busy_meanwhile(host=host, cell="c", amount=figure(n, ".1f")), "run"
        )
        for host, n in (("busy", 1.9), ("twin", 0.6))
    ]
    (limit,) = limits_of(plan.model_copy(update={"cells": cells}), [*clean(world()), *rows, *notes])
    assert limit.short == f"other work took {said} in one of 6 measurements"
    assert limit.is_grave == is_much


def test_more_threads_than_processors_are_a_limit_of_latency() -> None:
    for processors, said in ((2, True), (4, False)):
        fact = s.FactRow(w.RUN, "host", None, "local", "usable_threads", str(processors), None, "observed")
        found = [limit.short for limit in limits_of(world().plan(), [*clean(world()), fact])]
        short = "up to 4 threads on 2 processors: latency can include the wait for a processor"
        assert found == [short] * said


@pytest.mark.parametrize(
    ("hosts", "said"),
    [
        ({2: ("small",), 4: ("large",)}, "2 threads on one processor"),  # and not 4 threads on 1
        ({4: ("large", "medium")}, ""),  # 2 threads on each
        ({4: ("large", "small")}, "2 threads on one processor"),
    ],
)
def test_threads_are_counted_beside_the_processors_of_their_own_host(
    hosts: dict[int, tuple[str, ...]], said: str
) -> None:
    plan, sizes = world().plan(), {"small": 1, "medium": 2, "large": 3}
    cells = [cell.model_copy(update={"load_hosts": hosts.get(cell.threads or 0, ("idle",))}) for cell in plan.cells]
    facts = [
        s.FactRow(w.RUN, "host", None, host, "threads", str(size), None, "observed") for host, size in sizes.items()
    ]
    found = limits_of(plan.model_copy(update={"cells": tuple(cells)}), [*clean(world()), *facts])
    assert [limit.short for limit in found] == [f"up to {said}: latency can include the wait for a processor"] * bool(
        said
    )


def test_the_example_of_busy_cells_does_not_depend_on_the_order_of_their_notes() -> None:
    texts = [say.busy_meanwhile(host="local", cell=f"c{n}", amount=figure(1.5, ".1f")) for n in range(8)]
    notes = [s.NoteRow(w.RUN, world().cell_id("disk", "a", 4), "warning", text, "run") for text in texts]
    views = [
        build_disclosure(
            Results(world().plan(), w.make_store([*clean(world()), *rows]), CATALOGUES["en"]),
            Gaps(),
            facts_of=(),
            reports_from=None,
        )
        for rows in (notes, notes[::-1])
    ]
    assert views[0] == views[1]
    assert "8 cells were measured, such as c0: " in str(views[0])


def test_a_tool_with_assertions_is_reported_with_its_measurements() -> None:
    (limit,) = limits_of(world().plan(), world().rows())
    said = "in 6 measurements, the load generator and the engine within it were a debug build"
    assert limit.short == f"{said}, which is slower than a release"


def test_two_groups_on_one_machine_are_reported_and_two_variants_are_not() -> None:
    two = w.World({"disk": "Disk", "ram": "RAM"}, {"a": "Sessions"}, repeats=2, ops=level)
    assert limits_of(two.plan(), clean(two)) == []
    plan = two.plan()
    groups = {
        key: group.model_copy(update={"group": key, "group_label": group.label}) for key, group in plan.hardware.items()
    }
    (limit,) = limits_of(plan.model_copy(update={"hardware": groups}), clean(two))
    assert limit.short == "Disk and RAM are the same machine"


def test_single_measurements_are_reported_first_only_beside_a_claim() -> None:
    once = w.World({"disk": "Disk"}, {"a": "Sessions"}, ops=level)
    (limit,) = limits_of(once.plan(w.report("R")), clean(once))
    assert limit.short == ""
    (limit,) = limits_of(once.plan(w.report("R", CLAIM)), clean(once))
    assert limit.short == "each point was measured once, for 20\u00a0min: any difference may be chance"
    assert limit.is_grave


def test_measurements_of_earlier_runs_are_counted() -> None:
    cell = world().cell_id("disk", "a", 4)
    rows = [
        row._replace(reused_from="20260101-000000-old") if isinstance(row, s.CellRow) and row.cell_id == cell else row
        for row in clean(world())
    ]
    (limit,) = limits_of(world().plan(), rows)
    assert limit.short == "one of 6 measurements is an earlier run's"
    every = [row._replace(reused_from="old") if isinstance(row, s.CellRow) else row for row in clean(world())]
    (limit,) = limits_of(world().plan(), every)
    assert limit.full.startswith("all 6 measurements were taken from 1 earlier run: ")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_limits_are_one_notice_and_stand_in_full_in_the_disclosure(language: str) -> None:
    once = w.World({"disk": "Disk"}, {"a": "Sessions"}, ops=level)
    report = w.report("R", CLAIM, p.DisclosureElement(), language=language)
    view = build(once.plan(report), once.store(), report, CATALOGUES[language])
    words = CATALOGUES[language]
    titles = (words["notice_limits_first"], words["notice_limits"])
    grave, rest = [each for each in view.notices if each.title in titles]
    assert grave.is_grave
    assert not rest.is_grave
    disclosure = view.blocks[-1]
    assert disclosure.kind == "disclosure"
    (validity,) = [group for group in disclosure.groups if group.title == words["d_validity"]]
    with written_as(words.locale):
        found = list(result_limits.limits(Results(once.plan(report), once.store(), words)))
    assert len(found) == 2
    assert all(limit.short.lower() in (grave if limit.is_grave else rest).text.lower() for limit in found)
    assert {limit.full for limit in found} <= {item.text for item in validity.items}


def test_remarks_that_differ_in_a_number_are_one_with_its_range() -> None:
    def ahead(host: str, seconds: float) -> str:
        return say.clock_ahead(host=host, by=figure(1000 * seconds, ",g"), within="1 ms")

    words = (
        "the clock of {} was {} ahead of the controller's: "
        "times are brought to the controller's clock, give or take 1 ms"
    )
    rows = [
        ("info", ahead("db-1", 0.02), 1),
        ("info", ahead("db-1", 1), 2),
        ("info", ahead("db-2", 0.02), 1),
        ("warning", ahead("db-1", 0.03), 1),
        ("info", "db_bench 7.8.3 says 4 of 10", 1),
        ("info", "db_bench 7.8.4 says 5 of 10", 1),
    ]
    assert merge_remarks(rows) == [
        ("info", words.format("db-1", "20–1,000"), 3),
        ("info", words.format("db-2", "20"), 1),
        ("warning", words.format("db-1", "30"), 1),
        ("info", "db_bench 7.8.3 says 4 of 10", 1),
        ("info", "db_bench 7.8.4 says 5 of 10", 1),
    ]


@pytest.mark.parametrize(("last", "rising"), [(1.2, True), (1.05, False)])
def test_a_ramp_that_still_gained_at_its_last_thread_count_may_have_its_peak_beyond(last: float, rising: bool) -> None:
    made = world()
    threads = {row.cell_id: row.threads or 0 for row in clean(made) if isinstance(row, s.CellRow)}
    *_, before, most = sorted(set(threads.values()))
    rate = {before: 1000.0, most: 1000.0 * last}
    rows = [
        row._replace(ops_per_s=rate.get(threads[row.cell_id], 500.0)) if isinstance(row, s.ThroughputRow) else row
        for row in clean(made)
    ]
    limits = limits_of(made.plan(w.report("R", CLAIM)), rows)
    expected = (
        "In the only ramp, the highest thread count that was measured still gained: 20% more throughput than "
        f"the one before it (Disk, Sessions, {most} threads). The peak may lie beyond it."
    )
    assert [limit.full for limit in limits] == [expected] * rising


@pytest.mark.parametrize(
    ("rates", "times", "is_grave", "is_open"),
    [
        ({1: (2200.0,), 2: (8400.0,), 4: (12300.0,)}, "3.8", False, True),  # the point with one thread is too slow
        ({1: (2000.0,), 2: (8400.0,), 4: (12300.0,)}, "4.2", True, True),
        ({1: (4000.0,), 2: (8400.0,), 4: (19000.0,)}, "", False, False),  # within 25 % of what the threads allow
        ({1: (2200.0, 6100.0, 4000.0), 2: (9900.0, 11000.0, 12100.0)}, "", False, False),  # repeats that vary too much
        ({1: (900.0, 6100.0, 2000.0), 2: (9900.0, 18000.0, 12100.0)}, "4.4", True, True),  # so do these, but for more
        ({1: (3900.0, 4000.0, 4100.0), 2: (9200.0, 9300.0, 9400.0)}, "2.3", False, False),  # another run shows it, too
    ],
)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_point_with_too_little_throughput_for_its_ramp_is_a_limit_and_settles_no_claim_unless_repeats_show_it(
    rates: dict[int, tuple[float, ...]], times: str, is_grave: bool, is_open: bool, language: str
) -> None:
    made = w.World({"disk": "Disk"}, {"a": "Sessions"}, tuple(rates), repeats=len(rates[1]))
    cells = {made.cell_id("disk", "a", n, r): rate for n, each in rates.items() for r, rate in enumerate(each, 1)}
    rows = [
        row._replace(ops_per_s=cells[row.cell_id]) if isinstance(row, s.ThroughputRow) and row.cell_id in cells else row
        for row in clean(made)
    ]
    first, last = (w.throughput(threads=float(n)) for n in (1, max(rates)))
    headline = p.HeadlineElement(
        numbers=tuple(
            p.HeadlineNumber(value=w.text(p.Value(query=query, format=",.0f")), text=w.text("ops/s"))
            for query in (first, last)
        )
    )
    plan = made.plan(w.report("R", headline))
    claims = [
        p.Claim(
            name="said", sentence=w.text(p.Value(query=query, format=",.0f")), what="Rate", points=query, origin=w.HERE
        )
        for query in (first, last, first.model_copy(update={"reads": (w.read("sample", threads=1.0),)}))
    ]
    plan = plan.model_copy(update={"claims": tuple(claims)})
    results = Results(plan, w.make_store(rows), CATALOGUES[language])
    found = [one.is_grave for one in result_limits.limits(results) if times and times in one.short]
    assert found == ([is_grave] if times else [])
    states = [verdict.state for verdict in verdicts_on(plan.claims, results)]
    assert states == ["contradicted" if is_open else "once", "once", "once"]  # the last is on a size at the slow point
    (large,) = say_claims(plan.reports[0], results, []).elements
    assert isinstance(large, p.HeadlineElement)
    assert [one.shows_none for one in large.numbers if isinstance(one, p.HeadlineNumber)] == [is_open, False]


def test_a_measurement_that_was_tried_again_is_a_limit() -> None:
    rows = clean(world())
    cell = world().cell_id("disk", "a", 4)
    again = [r._replace(attempt=2) if isinstance(r, s.CellRow) and r.cell_id == cell else r for r in rows]
    (limit,) = limits_of(world().plan(), again)
    assert limit.short == "one measurement was made again after a failed or interrupted attempt"


def test_errors_that_the_driver_of_go_ycsb_accepts_are_disclosed_and_are_no_limit() -> None:
    """The disclosure names the errors that the driver accepts, and no limit is reported for them."""
    made = w.World({"disk": "Disk"}, {"a": "Sessions"}, engine="mongodb", repeats=2, ops=level)
    plan = made.plan(w.report("R", p.DisclosureElement()))
    cells = tuple(c.model_copy(update={"tool": c.tool.model_copy(update={"driver": "go_ycsb"})}) for c in plan.cells)
    plan = plan.model_copy(update={"cells": cells})
    last = made.cell_id("disk", "a", 4)

    def with_errors(errors: int) -> list[Any]:
        return [
            row._replace(errors=errors, count=10_000 - errors)
            if isinstance(row, s.ThroughputRow) and row.cell_id == last
            else row
            for row in clean(made)
        ]

    limit, cut = limits_of(plan, with_errors(10 + 4))  # 0.1 % of 10,000 operations, and one of each of the four threads
    assert limit.short == cut.short == ""
    assert "0.10% of them" in limit.full, "as the page's footnotes say it"
    assert "0.14% of the operations with them" in cut.full
    view = build(plan, w.make_store(with_errors(14)), plan.reports[0], CATALOGUES["en"])
    assert "error share allowed: 0.1%" in repr(view).replace("\\xa0", "\u00a0")
    limit, _ = limits_of(plan, with_errors(11 + 4))
    assert limit.short.startswith("in one measurement more operations failed than accepted")
