"""Tests how a report's elements are lowered to the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.model import plan
from tests.compiler.metrics.lowering import element, lowered, report
from tests.compiler.metrics.measured import generate, run, scope_of

OFFERED = scope_of(Path(__file__).parent / "specs" / "offered_load.bench")
CURVED = scope_of(Path(__file__).parent / "offered.bench")


def text(body: str) -> plan.Prose:
    found = element(f'text = "{body}"')
    assert isinstance(found, plan.TextElement)
    return found.prose


def value(body: str) -> plan.Value:
    (found,) = text(body).parts
    assert isinstance(found, plan.Value)
    return found


def table(body: str) -> plan.TableElement:
    found = element(body)
    assert isinstance(found, plan.TableElement)
    return found


def figure(body: str, warns: tuple[str, ...] = ()) -> plan.FigureElement:
    found = element(body, warns=warns)
    assert isinstance(found, plan.FigureElement)
    return found


def labels(keys: tuple[plan.LabelledKey, ...]) -> list[str]:
    return [key.label for key in keys]


# --- prose ---


def test_names_in_a_text_become_their_labels() -> None:
    assert text("{eco} and {a}, {a.name}, {one.label}").parts == ("Eco and Store, a, one",)


def test_a_label_can_not_break_out_into_markdown() -> None:
    scope = scope_of(Path(__file__).parent / "specs" / "rocksdb_ssds.bench")
    found = element('text = "On {solidigm_p5430}."', scope)
    assert isinstance(found, plan.TextElement)
    assert found.prose.parts == (r"On Solidigm D5\-P5430.",)


def test_declared_facts_stand_in_a_text_as_written() -> None:
    found = element('text = "{r5.cpu} with {r5.memory}"', OFFERED)
    assert isinstance(found, plan.TextElement)
    assert found.prose.parts == ("64 vCPU with 256 GiB",)


def test_a_number_is_in_its_declared_unit() -> None:
    found = value("{max(gain over threads, workload):.0f}")
    assert (found.query.unit, found.query.dims, found.format, found.high) == ("%", (), ".0f", None)


def test_a_share_printed_in_per_cent_is_multiplied_once() -> None:
    shown, plain = value("{max(gain over threads, workload):+.0%}"), value("{max(gain over threads, workload):.6f}")
    with generate(scope_of(Path(__file__).parent / "world.bench"), seed=4).connect() as connection:
        share, per_cent = run(connection, shown.query)[()], run(connection, plain.query)[()]
    assert (shown.query.unit, plain.query.unit) == ("", "%")
    assert share is not None
    assert per_cent == pytest.approx(share * 100)


@pytest.mark.parametrize(
    ("hole", "follows", "unit", "left"),
    [
        ("{latency.p99[read, eco, a, threads: 1]:.1f}", " ms", "ms", " ms"),
        ("**{latency.p99[read, eco, a, threads: 1]:.1f}**", " ms", "ms", "** ms"),
        ("{latency.p99[read, eco, a, threads: 1]:.1f}", " milliseconds.", "ms", " milliseconds."),
        ("{latency.p99[read, eco, a, threads: 1]}", " ms", "ms", ""),
        ("{latency.p99[read, eco, a, threads: 1]:.1fu}", " ms", "ms", " ms"),
        ("{throughput[eco, a, threads: 1]:.1f}", " kops/s", "kops/s", " kops/s"),
        ("{throughput[eco, a, threads: 1]:.1f}", " Kops/s", "kops/s", " Kops/s"),
        ("{throughput[eco, a, threads: 1]:.1f}", " ops/min", "ops/min", " ops/min"),
        ("{throughput[eco, a, threads: 1]:.1f}", " kops per second.", "kops/s", " kops per second."),
        ("{throughput[eco, a, threads: 1]:.1f}", " ops in a minute", "ops/min", " ops in a minute"),
        ("{throughput[eco, a, threads: 1]:,.0fu}", " node by node", "ops/s", "\u00a0ops/s node by node"),
        ("{throughput[eco, a, threads: 1]:,.0f}", ", s and W", "ops/s", ", s and W"),
        ("{throughput[eco, a, threads: 1]:,.0f}", " operations per second", "ops/s", " operations per second"),
        ("{latency.p99[read, eco, a, threads: 1]:.1f}", " to", "s", "\u00a0s to"),  # its reader could not know it
        ("{max(gain over threads, workload):.1f}", "%", "%", "%"),
        ("{latency.p99[read, eco, a, threads: 1]:.1f}", " ミリ秒でした", "ms", " ミリ秒でした"),
        (
            "{latency.p99[read, eco, a, threads: 1]:.1f}",
            " \N{GREEK SMALL LETTER MU}s",
            "\N{GREEK SMALL LETTER MU}s",
            " \N{GREEK SMALL LETTER MU}s",
        ),
        ("{latency.p99[read, eco, a, threads: 1]:.1f}", " \N{MICRO SIGN}s", "\N{MICRO SIGN}s", " \N{MICRO SIGN}s"),
        ("{max(gain over threads, workload):.1f}", " per cent", "%", " per cent"),
        ("{max(gain over threads, workload):.1f}", " x 3", "%", " x 3"),
        ("{price[eco] / throughput[eco, a, threads: 1]:.2f}", " each", "USD/op", "\u00a0USD/op each"),
        ("{latency.p99[read, eco, a, threads: 1] / 1 ms:.1f}", " ms", "", " ms"),  # a plain number: the author's word
    ],
)
def test_a_number_is_in_the_unit_that_stands_behind_it_which_is_printed_once(
    hole: str, follows: str, unit: str, left: str
) -> None:
    parts = text(hole + follows).parts
    (found,) = (part for part in parts if isinstance(part, plan.Value))
    assert found.query.unit == unit
    assert "".join(part for part in parts[parts.index(found) + 1 :] if isinstance(part, str)) == left


def test_a_unit_behind_a_hole_converts_both_ends_of_a_range() -> None:
    hole = "{range(throughput[eco, a] over threads):.3f} kops/s"
    (kilo, _), (plain, _) = text(hole).parts, text(hole.replace("kops", "ops")).parts
    assert isinstance(kilo, plan.Value)
    assert isinstance(plain, plan.Value)
    assert kilo.high
    assert plain.high
    with generate(scope_of(Path(__file__).parent / "world.bench"), seed=4).connect() as connection:
        for ours, other in ((kilo.query, plain.query), (kilo.high, plain.high)):
            thousands, ones = run(connection, ours)[()], run(connection, other)[()]
            assert thousands
            assert ones == pytest.approx(1000 * thousands)


def test_a_format_that_ends_in_u_appends_the_unit() -> None:
    number, unit = text("{throughput[eco, a, threads: 1]:,.0fu}").parts
    assert isinstance(number, plan.Value)
    assert (number.format, unit) == (",.0f", "\N{NO-BREAK SPACE}ops/s")


def test_a_range_has_two_ends() -> None:
    found = value("{range(gain[a] over threads):.0f}")
    assert found.high is not None
    with generate(scope_of(Path(__file__).parent / "world.bench"), seed=4).connect() as connection:
        low, high = run(connection, found.query)[()], run(connection, found.high)[()]
    assert low is not None
    assert high is not None
    assert low < high


def test_a_dimension_with_a_single_point_needs_no_index() -> None:
    assert value("{max(throughput[f, eco] over threads):.0f}").query.dims == ()
    assert value("{mean(throughput[two, eco] over threads):.0f}").query.dims == ()


# --- tables ---


def test_rows_by_columns() -> None:
    found = table('table "T" { rows = workload  columns = throughput[threads: 2] by hardware }')
    assert (found.dim, labels(found.keys), found.transposed) == ("workload", ["Store", "Cache", "Books"], False)
    assert [line.label for line in found.lines] == ["Eco", "Old", "Third"]
    assert {(line.unit, line.query.dims if line.query else None) for line in found.lines} == {("ops/s", ("workload",))}


def heads(body: str) -> list[tuple[plan.Label, ...]]:
    """Return the headings above each line, outermost first."""
    return [(*line.heads, line.label) for line in table(body).lines]


@pytest.mark.parametrize(
    ("across", "expected"),
    [
        pytest.param(
            "[best, throughput[threads: 2]] by hardware",
            [(one, hardware) for one in ("Best", "throughput") for hardware in ("Eco", "Old", "Third")],
            id="metrics-in-one-list",
        ),
        pytest.param(
            "best by hardware, throughput[threads: 2] by hardware",
            [(one, hardware) for one in ("Best", "throughput") for hardware in ("Eco", "Old", "Third")],
            id="each-with-its-own-by",
        ),
        pytest.param(
            "[best by hardware, gain[threads: 2]]",
            [("Best", "Eco"), ("Best", "Old"), ("Best", "Third"), ("Gain",)],
            id="beside-one-without",
        ),
        pytest.param(
            "throughput[threads: 2] by hardware, throughput[threads: 4] by hardware",
            [("throughput", n, hardware) for n in ("2", "4") for hardware in ("Eco", "Old", "Third")],
            id="points-of-one-ramp",
        ),
        pytest.param(
            "[throughput[eco, threads: 2], throughput[eco, threads: 4]]",
            [("throughput, Eco", "2"), ("throughput, Eco", "4")],
            id="points-alone",
        ),
        pytest.param("[best[eco], best[eco]]", [("Best, Eco",), ("Best, Eco",)], id="the-same-twice"),
        pytest.param(
            "latency.p99[read] by hardware, threads",
            [(hardware, n) for hardware in ("Eco", "Old", "Third") for n in ("1", "2", "4", "8")][:-1],
            id="two-dimensions",
        ),
        pytest.param(
            '[best[eco], gain[threads: 2]]  column "Peak" = best by hardware',
            [("Best, Eco",), ("Gain",), ("Peak", "Eco"), ("Peak", "Old"), ("Peak", "Third")],
            id="under-a-name-of-its-own",
        ),
    ],
)
def test_each_line_of_a_table_stands_under_its_metric_and_its_keys(
    across: str, expected: list[tuple[str, ...]]
) -> None:
    assert heads(f'table "T" {{ rows = workload  columns = {across} }}') == expected


def test_two_dimensions_after_by_may_be_joined_by_a_comma_or_by_and() -> None:
    comma, word = (f"rows = workload  columns = throughput by hardware{joint} threads" for joint in (",", " and"))
    assert heads(f'table "T" {{ {comma} }}') == heads(f'table "T" {{ {word} }}')


def test_metrics_in_rows_make_a_transposed_table() -> None:
    found = table('table "T" { columns = workload  rows = [best[eco], gain[threads: 2]], format ".1f"  note = "N" }')
    assert found.transposed
    assert [(line.label, line.unit, line.format) for line in found.lines] == [
        ("Best, Eco", "ops/s", ".1f"),
        ("Gain", "%", ".1f"),
    ]
    assert found.note == plan.Prose(parts=("N",))


def test_a_column_template_is_a_text_for_each_key() -> None:
    found = table('table "T" { rows = workload  column "Best" = "{workload.label}: {best[eco]:.0f}" }')
    assert labels(found.keys) == ["Store", "Cache", "Books"]
    (line,) = found.lines
    assert line.label == "Best"
    assert [prose.parts[0] for prose in line.texts] == ["Store: ", "Cache: ", "Books: "]
    assert all(isinstance(prose.parts[1], plan.Value) for prose in line.texts)


def test_a_table_shows_the_keys_that_are_planned() -> None:
    found = table('table "T" { rows = workload  column "p99" = "{max(latency.p99[eco, update] over threads):.3f}" }')
    assert labels(found.keys) == ["Store", "Books"]


def test_facts_of_the_hardware_are_shown_as_declared() -> None:
    found = element('table "T" { rows = hardware  columns = [cpu, memory, cost] }', OFFERED)
    assert isinstance(found, plan.TableElement)
    facts = [[prose.parts for prose in line.texts] for line in found.lines[:2]]
    assert facts == [[("64 vCPU",), ("64 vCPU",)], [("512 GiB",), ("256 GiB",)]]
    assert found.lines[2].query is not None


def test_rows_of_numbers() -> None:
    found = table('table "T" { rows = threads, label "Clients"  columns = [throughput[eco, a], throughput[old, a]] }')
    assert (found.dim, found.dim_label, labels(found.keys)) == ("threads", "Clients", ["1", "2", "4"])
    assert [line.label for line in found.lines] == ["throughput, Eco, Store", "throughput, Old, Store"]


def test_the_test_configuration() -> None:
    assert element('table "T" { rows = facts }') == plan.FactsElement(title="T", hardware=("eco", "old", "third"))


def test_a_callout_of_text() -> None:
    found = element('callout "C" { text = "{eco}"  note = "N" }')
    text_, note = plan.Prose(parts=("Eco",)), plan.Prose(parts=("N",))
    assert found == plan.CalloutElement(title="C", prose=text_, note=note)


# --- figures ---


def test_a_figure_gives_each_channel_its_keys() -> None:
    found = figure('figure "F" { line = throughput[a] by threads, color hardware, band confidence, log x }')
    (series,) = found.series
    assert (series.mark, series.x_dim, series.color_dim, series.band) == ("line", "threads", "hardware", True)
    assert {dim: labels(keys) for dim, keys in found.keys.items()} == {
        "threads": ["1", "2", "4"],
        "hardware": ["Eco", "Old", "Third"],
    }
    assert (found.log_x, found.log_y) == (True, False)


def test_log_y_is_of_the_axis_beside_which_its_series_stands() -> None:
    found = figure('figure "F" { line = throughput[a, eco] by threads  line = gain[a] by threads, axis right, log y }')
    assert (found.log_y, found.log_y_right) == (False, True)


def test_two_axes_have_a_unit_each() -> None:
    found = figure('figure "F" { bars = throughput[a, eco] by threads  line = gain[a] by threads, axis right, dashed }')
    assert [(s.mark, s.axis, s.query.unit, s.dashed) for s in found.series] == [
        ("bar", "left", "ops/s", False),
        ("line", "right", "%", True),
    ]


def test_series_of_one_axis_are_shown_in_the_unit_of_the_first() -> None:
    ratio = "throughput[a, old] / throughput[a, eco]"
    found = figure(f'figure "F" {{ line = gain[a] by threads  line = {ratio} by threads }}')
    assert [series.query.unit for series in found.series] == ["%", "%"]


def test_a_curve_has_two_measures() -> None:
    found = figure('figure "F" { curve = throughput[a], latency.p99[read, a] along threads, color hardware }')
    (series,) = found.series
    assert series.x_query is not None
    assert (series.x_query.unit, series.query.unit) == ("ops/s", "s")
    assert (series.x_query.dims, series.query.dims) == (("hardware", "threads"), ("hardware", "threads"))
    assert (series.label, series.x_label, series.x_dim) == ("latency.p99[read], Store", "throughput, Store", "threads")


def test_a_constant_beside_a_ramp_is_a_level_line() -> None:
    found = figure('figure "F" { line = throughput[a, eco] by threads  line = best[a, eco] by threads, label "best" }')
    level = found.series[1]
    assert (level.label, level.query.dims) == ("best", ("threads",))
    with generate(scope_of(Path(__file__).parent / "world.bench"), seed=4).connect() as connection:
        points = run(connection, level.query)
    assert set(points) == {(1,), (2,), (4,)}
    assert len(set(points.values())) == 1


@pytest.mark.parametrize("dim", ["time", "node"])
def test_a_constant_beside_samples_is_level_at_all_that_they_have(dim: plan.Dimension) -> None:
    found = figure(
        f'figure "F" {{ line = cpu[a, threads: 4] by {dim}, color hardware'
        f"  line = throughput[a, threads: 4] by {dim}, color hardware, axis right  line = 3 cores by {dim} }}"
    )
    sampled, level, number = (series.query for series in found.series)
    assert set(level.dims) == {"hardware", dim}
    assert {read.view for read in level.reads or ()} == {"throughput"}
    assert number.reads == ()
    with generate(scope_of(Path(__file__).parent / "world.bench"), seed=4).connect() as connection:
        cpu, throughput, three = (run(connection, query) for query in (sampled, level, number))
    keys = {key[sampled.dims.index(dim)] for key, value in cpu.items() if value is not None}
    assert keys
    assert {key[level.dims.index(dim)] for key in throughput} == keys
    by_hardware = {(key[level.dims.index("hardware")], value) for key, value in throughput.items()}
    assert len(by_hardware) == len({hardware for hardware, _ in by_hardware}) > 1
    assert three == {(key,): 3.0 for key in keys}


def test_a_mark_stands_level_or_upright_by_its_unit() -> None:
    level = figure('figure "F" { line = latency.p99[read, a, eco] by threads  mark = 10 ms, label "agreed" }').series[1]
    assert (level.mark, level.x_dim, level.query.unit, level.query.dims) == ("rule", None, "s", ())
    upright = element('figure "F" { line = latency.p99[read, offered, r5] by target  mark = 40k ops/s }', OFFERED)
    assert isinstance(upright, plan.FigureElement)
    assert (upright.series[1].x_dim, upright.series[1].query.unit) == ("target", "ops/s")


def test_a_mark_stands_for_what_the_figure_shows() -> None:
    found = element(
        """figure "F" {
          line = throughput[insert] by target, color hardware, band confidence
          line = target by target, label "ideal", dashed
          mark = saturation
        }""",
        CURVED,
    )
    assert isinstance(found, plan.FigureElement)
    achieved, ideal, mark = found.series
    assert (achieved.query.dims, ideal.query.dims, ideal.dashed) == (("hardware", "target"), ("target",), True)
    assert (mark.mark, mark.x_dim, mark.color_dim, mark.query.dims) == ("rule", "target", "hardware", ("hardware",))
    assert "c.workload = 'fill'" in mark.query.sql


def test_a_mark_is_not_at_a_key_that_the_figure_does_not_show() -> None:
    body = """figure "F" { line = throughput[eco] by target, color workload  mark = saturation[old] }"""
    found = element(body, CURVED)
    assert isinstance(found, plan.FigureElement)
    assert (found.series[1].color_dim, found.series[1].query.dims) == ("workload", ("workload",))
    _, _, codes = lowered(f'report it "It" {{ {body.replace("saturation[old]", "max(cost over workload)")} }}', CURVED)
    assert "E0701" in codes


def test_a_knee_stands_on_the_axis_that_it_is_a_point_of() -> None:
    found = figure(
        """figure "F" { line = throughput[a] by threads, color hardware  mark = knee(throughput over threads) }"""
    )
    mark = found.series[1]
    assert (mark.x_dim, mark.color_dim, mark.query.dims, mark.query.unit) == ("threads", "hardware", ("hardware",), "")


def test_a_band_has_the_values_of_each_repeat() -> None:
    found = figure(
        'figure "F" { bars = gain[f] by threads, band  line = latency.p99[f, read, eco] by threads, axis right, band }'
    )
    bars, line = found.series
    assert bars.repeats is not None
    assert (bars.query.dims, bars.repeats.dims, bars.repeats.unit) == (("threads",), ("threads", "repeat"), "%")
    assert line.repeats is not None
    with generate(scope_of(Path(__file__).parent / "world.bench"), seed=4).connect() as connection:
        merged, each = run(connection, line.query), run(connection, line.repeats)
    assert set(each) == {(threads, repeat) for threads in (2, 4) for repeat in (1, 2)}
    assert set(merged) == {(2,), (4,)}


def test_samples_over_time_have_keys_that_only_the_results_know() -> None:
    found = figure('figure "F" { line = cpu[a, threads: 4] by time, color hardware }')
    assert found.series[0].query.dims == ("hardware", "time")
    assert set(found.keys) == {"hardware"}


def test_phases_are_an_axis() -> None:
    found = figure('figure "F" { line = throughput[threads: 4] by phase, color hardware }')
    assert labels(found.keys["phase"]) == ["1", "2", "3"]
    assert found.series[0].query.dims == ("hardware", "phase")


# --- each, formulas, the head ---


def test_each_is_unrolled_to_what_is_planned_there() -> None:
    sections = report(
        """each workload { section "{workload.label}" {
          text = "{workload.description}"
          figure "By hardware" { line = throughput by threads, color hardware }
        } }"""
    ).elements
    assert [section.title for section in sections if isinstance(section, plan.SectionElement)] == [
        "Store",
        "Cache",
        "Books",
    ]
    keys = [
        {dim: len(found) for dim, found in inner.keys.items()}
        for section in sections
        if isinstance(section, plan.SectionElement)
        for inner in section.elements
        if isinstance(inner, plan.FigureElement)
    ]
    assert keys == [{"threads": 3, "hardware": 3}, {"threads": 3, "hardware": 2}, {"threads": 2, "hardware": 2}]


def test_each_inside_each_goes_over_what_both_plan() -> None:
    found = report('each hardware { each workload { text = "{hardware} {workload}" } }').elements
    texts = [one.prose.parts[0] for one in found if isinstance(one, plan.TextElement)]
    assert texts == [
        *("Eco Store", "Eco Cache", "Eco Books"),
        *("Old Store", "Old Cache", "Old Books"),
        "Third Store",
    ]


def test_an_explicit_index_goes_before_what_each_fixes() -> None:
    found = report('each hardware { text = "{max(throughput[eco, a] over threads):.0f}" }').elements
    parts = [part for one in found if isinstance(one, plan.TextElement) for part in one.prose.parts]
    assert len(parts) == 3
    assert len({part.query.sql for part in parts if isinstance(part, plan.Value)}) == 1


def test_a_part_of_each_without_measurements_is_left_out_with_a_warning() -> None:
    found = report('each workload { text = "{best[third]:.0f}" }', warns=("W0704",)).elements
    assert len(found) == 1


def test_a_formula_keeps_the_order_of_its_arithmetic() -> None:
    _, reports, codes = lowered(
        """metric it "It" = throughput[eco] - (throughput[old] - 2 * throughput[third]) / (1 + 3)
        report r "R" { formula it for a, threads: 2 }"""
    )
    assert not codes
    (found,) = reports[0].elements
    assert isinstance(found, plan.FormulaElement)
    assert (found.name, found.for_label) == ("It", "Store, threads: 2")
    assert found.text == "{0} − ({1} − 2 × {2}) / (1 + 3)"
    assert [term.text for term in found.terms] == ["throughput, Eco", "throughput, Old", "throughput, Third"]


def test_bars_know_their_better_side_and_that_of_a_negative() -> None:
    _, (found,), codes = lowered(
        """metric best = max(throughput over threads)
        metric more in % = best[eco] / best[old] - 1, higher is better
        report r "R" { figure "F" { bars = more by workload, label "a"  bars = -more by workload, label "b" } }"""
    )
    assert codes == []
    (drawn,) = found.elements
    assert isinstance(drawn, plan.FigureElement)
    assert [series.better for series in drawn.series] == ["higher", "lower"]


def test_the_head_of_a_report() -> None:
    found = report(
        """template = white_paper  subtitle = "Sub {eco}"  language = ja
        author = "A"  legal = "L"  limits = ["One {eco}.", "Two"]  disclosure = automatic"""
    )
    assert (found.title, found.subtitle, found.template, found.language) == ("It", "Sub Eco", "white_paper", "ja")
    assert (found.author, found.legal) == ("A", plan.Prose(parts=("L",)))
    assert found.limits == ("One Eco.", "Two")
    assert found.elements == (plan.DisclosureElement(),)


def head(body: str, warns: tuple[str, ...] = ()) -> plan.Report:
    return report(f'{body}  text = "x"', warns=warns)


def test_a_subtitle_has_its_numbers_and_stands_for_them_with_an_ellipsis() -> None:
    found = head('subtitle = "*{eco}*: {max(gain over threads, workload):.0f} % more"', warns=("W0762",))
    assert found.subtitle == "*Eco*: … % more"
    assert found.subheading is not None
    before, number, after = found.subheading.parts
    assert (before, after) == ("*Eco*: ", " % more"), "plain text, and no Markdown"
    assert isinstance(number, plan.Value)


def test_headlines_are_one_element_before_all_others() -> None:
    number = "{max(gain over threads, workload):.0f}"
    said = f'text = "y"  headline "{number} %" = "**more** on {{eco}}"  headline "{number}" = "per cent"'
    found = head(said, warns=("W0762", "W0762"))
    first, *others = found.elements
    assert isinstance(first, plan.HeadlineElement)
    numbers = [each for each in first.numbers if isinstance(each, plan.HeadlineNumber)]
    assert [each.text.parts for each in numbers] == [("**more** on Eco",), ("per cent",)]
    assert all(isinstance(each.value.parts[0], plan.Value) for each in numbers)
    assert [each.kind for each in others] == ["text", "text"]


def test_who_reads_a_brief_and_where_its_disclosure_is() -> None:
    assert [(each.audience, each.disclosure) for each in (head(""), head("disclosure = automatic"))] == [
        ("customer", "separate"),
        ("customer", "separate"),
    ]
    found = head('audience = internal  section "Method" { disclosure = in_brief }')
    assert (found.audience, found.disclosure) == ("internal", "in_brief")


def test_a_share_in_an_expectation_is_reported_in_the_unit_that_it_is_compared_with(tmp_path: Path) -> None:
    (tmp_path / "s.bench").write_text(
        'hardware box { hosts = "box.lab" }\n'
        'database rocks { engine = rocksdb  path = "/data" }\n'
        "workload r from db_bench.readrandom { records = 1k }\n"
        "experiment e { hardware = box  workloads = r  threads = 1  measure = 10 s  repeats = 3 }\n"
        "expect cv(throughput over repeat) < 5 %\n"
        "expect 10k ops/s < throughput\n"
    )
    checked = check(tmp_path / "s.bench")
    assert checked.plan, checked.diagnostics
    assert [[side.unit for side in expect.sides] for expect in checked.plan.expects] == [["%", "%"], ["ops/s", "ops/s"]]
