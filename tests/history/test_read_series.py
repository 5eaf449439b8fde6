"""Tests series of many runs: which values belong together, which are separated, and which are left out with a note."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from benchbrief.comparing.trend_output import as_dict, changed_series, trend_lines
from benchbrief.history.read_series import SeriesChoice, differences
from benchbrief.history.series_changes import trend_of
from benchbrief.history.series_rows import SeriesRow
from benchbrief.results.store_errors import ResultsError
from tests.history.histories import NOW, Runs, a_row, found, opened

HDD = {"hardware": "hdd", "threads": 4}


def test_each_point_is_a_series_of_its_runs_in_the_order_of_time() -> None:
    rows = [
        a_row(night, 100.0 + night, point=point) for night in (2, 0, 1) for point in ({"threads": 4}, {"threads": 8})
    ]
    series = found(rows).series
    assert [each.at for each in series] == ["threads=4", "threads=8"]
    assert [each.value for each in series[0].parts[0].values] == [100.0, 101.0, 102.0]


def test_another_environment_unit_or_definition_is_a_part_of_its_own_and_says_what_differs() -> None:
    rows = [
        a_row(0, 1.0),
        a_row(1, 2.0, facts={"kernel": "6.2"}),
        a_row(2, 3.0, facts={"kernel": "6.2"}, unit="kops/s"),
        a_row(3, 4.0, facts={"kernel": "6.2"}, definition="another"),
        a_row(4, 5.0),
    ]
    (series,) = found(rows).series
    assert [[each.value for each in part.values] for part in series.parts] == [[1.0, 5.0], [2.0], [3.0], [4.0]]
    first, kernel, unit, defined = series.parts
    assert differences(first, kernel) == ["kernel: 6.1 → 6.2"]
    assert differences(kernel, unit) == ["the unit was ops/s, and is kops/s"]
    assert differences(kernel, defined) == [
        "its definition, workload, promise or database, or the way of measuring has changed"
    ]


def test_an_option_under_test_makes_no_other_environment() -> None:
    rows = [a_row(night, 1.0, facts={"kernel": "6.1", "database version": f"8.{night}"}) for night in range(4)]
    assert len(found(rows).series[0].parts) == 4
    (series,) = found(rows, SeriesChoice(across=("database *",))).series
    assert [len(part.values) for part in series.parts] == [4]


def test_versions_of_a_database_that_keep_most_runs_apart_are_said_with_the_option_that_joins_them() -> None:
    def nightly(versions: Sequence[str]) -> list[SeriesRow]:
        return [a_row(n, 1.0, facts={"database version": each}) for n, each in enumerate(versions)]

    (note,) = found(nightly(["8.0", "8.1", "8.2", "8.3"])).notes
    assert note == (
        "another version of the database began a new series in 3 of 4 runs: if it is what is under test, "
        "say --across 'database version'"
    )
    assert found(nightly(["8.0", "8.1", "8.2", "8.3"]), SeriesChoice(across=("database version",))).notes == ()
    assert found(nightly(["8.0", "8.0", "8.0", "8.1"])).notes == ()


def test_simulated_and_measured_runs_are_never_one_series() -> None:
    rows = [a_row(0, 1.0), a_row(1, 9.0, origin="simulated")]
    (series,) = found(rows).series
    assert [each.value for each in series.parts[0].values] == [1.0]
    with pytest.raises(ResultsError) as raised:
        found(rows[1:])
    assert raised.value.hint == "the runs are 1 simulated: say --origin simulated"


@pytest.mark.parametrize("days", [-365 * 40, 365 * 2])
def test_a_run_of_a_clock_that_can_not_be_right_is_left_out_and_said(days: int) -> None:
    shown = found([a_row(0, 1.0), a_row(1, 2.0)._replace(measured_at=NOW + timedelta(days=days))])
    assert [each.value for each in shown.series[0].parts[0].values] == [1.0]
    assert "left out night-0001: its controller's clock said" in shown.notes[0]


def test_a_reused_result_does_not_count_twice() -> None:
    shown = found([a_row(0, 1.0), a_row(1, 1.0, reused_from="night-0000")])
    assert len(shown.series[0].parts[0].values) == 1
    assert "--fresh" in shown.notes[0]


def test_a_series_has_the_rate_that_a_search_found_and_not_those_that_it_tried() -> None:
    def rows(experiment: str, **more: Any) -> list[SeriesRow]:
        at = {"experiment": experiment, "hardware": "nvme"}
        tried = [a_row(n, 100.0, point={**at, "target": 100.0 + n}, **more) for n in range(3)]
        return [*tried, *(a_row(n, 120.0, quantity="sustained", point=at, **more) for n in range(3))]

    of_metric = [a_row(n, 0.005, quantity="tail", point={"hardware": "nvme", "target": 100.0}) for n in range(3)]
    ramp = [a_row(n, 90.0, spec="other.bench", point={"experiment": "ramp", "target": 100.0}) for n in range(3)]
    shown = found([*rows("promise"), *of_metric, *ramp])
    assert [(each.spec, each.quantity) for each in shown.series] == [
        ("nightly.bench", "sustained"),
        ("other.bench", "throughput"),
    ]
    asked = found(rows("promise"), SeriesChoice(("throughput",)))
    assert len(asked.series) == 3, "what is asked for by name is there"


def test_a_run_that_gave_nothing_begins_no_new_part_of_a_trend() -> None:
    failed = a_row(0, None, facts={"kernel": "not known"})
    (series,) = found([failed, a_row(1, 100.0), a_row(2, 101.0)]).series
    shown = [line for line, _ in trend_lines([trend_of(series, ())], 80)]
    assert "2 runs, 1 without a value" in "\n".join(shown)
    assert not [line for line in shown if "not compared" in line]
    other = a_row(3, 90.0, facts={"kernel": "6.2"})
    (series,) = found([a_row(1, 100.0), other]).series
    assert [line for line, _ in trend_lines([trend_of(series, ())], 80) if "not compared" in line]
    between = a_row(2, None, facts={"kernel": "not known"})
    (series,) = found([a_row(1, 100.0, facts={"kernel": "6.1"}), between, other]).series
    (shown,) = as_dict([trend_of(series, ())], ())["series"]
    assert shown["parts"][-1]["differences"] == ["kernel: 6.1 → 6.2"], "as the part before that has a value"


def test_the_interval_of_a_fall_does_not_go_beyond_the_whole_value() -> None:
    values = [100.0 + n % 3 for n in range(20)] + [50.0, 1.0, 1.2, 1.1, 45.0, 1.0, 1.3]
    (series,) = found([a_row(n, value) for n, value in enumerate(values)]).series
    (change,) = trend_of(series, ()).changes
    assert change.interval is not None
    assert 0.0 < change.interval[0] < 0.01  # of a ratio, by logarithms
    assert "(−99.6 to " in "\n".join(line for line, _ in trend_lines([trend_of(series, ())], 80))


def test_a_missing_value_stays_in_the_series_with_its_reason() -> None:
    (part,) = found([a_row(0, 1.0), a_row(1, None)]).series[0].parts
    assert [each.reason for each in part.values] == ["", "the tool died"]
    assert len(part.known) == 1


def test_the_control_is_there_also_where_other_points_are_chosen() -> None:
    rows = [a_row(0, 1.0), a_row(0, 2.0, point=HDD, control=True)]
    shown = found(rows, SeriesChoice(where={"hardware": ("nv*",)}))
    assert [each.at for each in shown.series] == ["nvme/threads=4"]
    assert [each.at for each in shown.controls] == ["hdd/threads=4"]


@pytest.mark.parametrize(
    ("choice", "message", "hint"),
    [
        (SeriesChoice(("thruput",)), "no run has a `thruput`", "did you mean `throughput`?"),
        (
            SeriesChoice(where={"hardware": ("tape",)}),
            "no run has a value of it at such a point",
            "hardware is one of nvme",
        ),
        (
            SeriesChoice(where={"colour": ("red",)}),
            "no run has a value of it at such a point",
            "its points have no colour",
        ),
        (SeriesChoice(spec="nosuch"), "no run has a value of it at such a point", "there are: nightly.bench"),
        (SeriesChoice(tag="nightly"), "no run has a value of it at such a point", "no run here has a tag"),
    ],
)
def test_an_unknown_quantity_is_refused_with_the_known_ones(choice: SeriesChoice, message: str, hint: str) -> None:
    with pytest.raises(ResultsError) as raised:
        found([a_row(0, 1.0)], choice)
    assert raised.value.message == message
    assert hint in raised.value.hint


def test_an_empty_place_says_what_to_do() -> None:
    with pytest.raises(ResultsError, match="there is no finished run"):
        found([])


def test_only_runs_with_the_tag_count() -> None:
    rows = [a_row(0, 1.0), a_row(1, 2.0)]
    (series,) = found(rows, SeriesChoice(tag="nightly"), tags={"night-0001": ("nightly",)}).series
    assert [each.run_id for each in series.parts[0].values] == ["night-0001"]


def test_names_with_line_ends_and_quotes_are_kept_as_they_are() -> None:
    rows = [a_row(0, 1.0, run_id="a\n'b'", point={"hardware": "x\ny"}, quantity="it's")]
    (series,) = found(rows, SeriesChoice(("it's",))).series
    assert (series.parts[0].values[0].run_id, series.point) == ("a\n'b'", {"hardware": "x\ny"})


# --- the cache ---------------------------------------------------------------------------------------------------


def values(runs: Runs) -> list[tuple[str, float]]:
    with opened(runs) as table:
        return table.connection.execute("SELECT run_id, value FROM series ORDER BY ALL").fetchall()


def test_only_new_and_changed_runs_are_read_again_and_those_that_are_gone_are_forgotten() -> None:
    runs = Runs([a_row(night, float(night)) for night in range(3)])
    assert len(values(runs)) == 3
    assert values(runs) == values(runs)
    assert len(runs.read) == 3
    later = Runs([a_row(1, 7.0), a_row(2, 2.0), a_row(3, 3.0)], versions={"night-0001": "2"})
    assert values(later) == [("night-0001", 7.0), ("night-0002", 2.0), ("night-0003", 3.0)]
    assert later.read == ["night-0001", "night-0003"]


def test_many_small_files_become_one_and_nothing_is_lost(tmp_path: Path) -> None:
    rows: list[object] = []
    for night in range(30):
        runs = Runs([a_row(each, float(each)) for each in range(night + 1)])
        rows = list(values(runs))
    assert rows == [(f"night-{night:04d}", float(night)) for night in range(30)]
    assert len(list(tmp_path.rglob("cache/**/*.parquet"))) < 25
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("name", ["index.json", "*.parquet"])
def test_a_damaged_cache_is_read_again(tmp_path: Path, name: str) -> None:
    runs = Runs([a_row(0, 1.0)])
    values(runs)
    for path in tmp_path.rglob(f"cache/**/{name}"):
        path.unlink() if name != "index.json" else path.write_text("{")
    assert values(runs) == [("night-0000", 1.0)]


@pytest.mark.parametrize("damage", [lambda data: data[:-40], lambda data: data[:0], lambda data: flipped(data, 300)])
def test_the_runs_of_a_damaged_file_are_read_again_and_no_others(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    first = Runs([a_row(0, 1.0)])
    values(first)
    (path,) = tmp_path.rglob("cache/**/*.parquet")
    both = Runs([a_row(0, 1.0), a_row(1, 2.0)])
    values(both)
    path.write_bytes(damage(path.read_bytes()))
    again = Runs(both.rows)
    assert values(again) == [("night-0000", 1.0), ("night-0001", 2.0)]
    assert again.read == ["night-0000"]


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


def test_a_series_file_that_is_none_is_left_out_and_said() -> None:
    with opened(Runs([a_row(0, 1.0)], broken={"night-0009": b"PAR1 and then nothing"})) as table:
        assert table.problems == {"night-0009": "its series file can't be read"}
        assert list(table.tags) == ["night-0000"]


def test_two_readers_at_once_see_the_same() -> None:
    shown: list[list[tuple[str, float]]] = []
    runs = [Runs([a_row(night, float(night)) for night in range(8)]) for _ in range(4)]
    threads = [threading.Thread(target=lambda each=each: shown.append(values(each))) for each in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(shown) == 4
    assert all(each == shown[0] for each in shown)


def test_a_cache_that_can_not_be_written_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert values(Runs([a_row(0, 1.0)])) == [("night-0000", 1.0)]


def test_the_trend_shows_what_changed_and_counts_the_rest_with_the_reasons() -> None:
    def rows(threads: float, values: list[float | None], **more: Any) -> list[SeriesRow]:
        point = {"hardware": "a-long-name-of-a-group", "threads": threads}
        return [a_row(n, value, point=point, **more) for n, value in enumerate(values)]

    early = rows(1.0, [100.0, 100.1, 99.9, 100.0, 90.0, 90.1, 89.9, 90.0, 90.1, 90.0])
    late = rows(2.0, [100.0, 100.1, 99.9, 100.0, 100.1, 100.0, 99.9, 100.0, 80.1, 80.0])
    steady = rows(3.0, [100.0 + n % 2 for n in range(10)])
    few = rows(4.0, [100.0, 50.0, 50.1])
    moved = [*rows(5.0, [100.0 + n % 2 for n in range(9)]), rows(5.0, [7.0] * 10, facts={"kernel": "6.2"})[-1]]
    nothing = rows(6.0, [None, None])
    trends = [trend_of(series, ()) for series in found([*early, *late, *steady, *few, *moved, *nothing]).series]
    changed, counts = changed_series(trends)
    assert [dict(trend.series.point)["threads"] for trend in changed] == [2.0, 1.0], "the latest change first"
    assert counts == (
        "2 of 6 series changed, 1 did not, 3 can't be judged: 1 has fewer than 4 runs, 1 has fewer than 4 runs since "
        "the environment or definition changed, 1 has no value in any run (`--all` shows all)"
    )
    lines = [line for line, _ in trend_lines(changed, 80)]
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines).replace("\xa0", " ")
    for part in ("100 ops/s → 80.05 ops/s", "worse, p < 0.0001", "threads=2", f"first in {early[8].run_id}"):
        assert part in text, part
    assert len(as_dict(trends, ())["series"]) == 6, "JSON has all"


def test_levels_of_a_factor_are_in_the_order_of_the_last_run_and_numbers_rise() -> None:
    keys = [("none", 100), ("none", 1000), ("lz4", 100), ("lz4", 1000)]
    last = [a_row(1, 2.0, point={"codec": c, "vsize": v}, place=place) for place, (c, v) in enumerate(keys)]
    first = [a_row(0, 1.0, point={"codec": c, "vsize": v}, place=-place) for place, (c, v) in enumerate(keys)]
    assert [each.at for each in found([*first, *last]).series] == [
        "codec=none/vsize=100",
        "codec=none/vsize=1000",
        "codec=lz4/vsize=100",
        "codec=lz4/vsize=1000",
    ]
