"""Tests what a brief itself says about repeats: how far apart they are, and which differences are within noise."""

from __future__ import annotations

import html
import re
import statistics
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from benchbrief.reports.data.report_data import Results
from benchbrief.reports.notices import repeat_variation
from benchbrief.reports.render.render_report import render
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports.generated import rows_for
from tests.reports.world import make_store
from tests.support.plans import compile_spec

SPEC = """
hardware old "Old" { hosts = "old.lab" }
hardware new "New" { hosts = "new.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload c "Cache" from ycsb.c { records = 1M }
experiment ramp { hardware = [old, new]  workloads = c  threads = [1, 8]  measure = 1 min  repeats = REPEATS }
report brief "Brief" {
  language = LANGUAGE
  table "All" { rows = hardware  columns = throughput by threads }
  disclosure = in_brief
}
"""


def page(tmp_path: Path, *, repeats: int, language: str = "en") -> str:
    spec = tmp_path / f"{language}.bench"
    spec.write_text(SPEC.replace("REPEATS", str(repeats)).replace("LANGUAGE", language), encoding="utf-8")
    plan = compile_spec(spec)
    text = render(plan, make_store(rows_for(plan)), "brief", tmp_path, html_only=True).html.read_text("utf-8")
    return html.unescape(re.sub(r"<[^>]*>", "", text)).replace("\xa0", " ")


def test_the_spread_of_the_repeats_percentiles_is_reported(tmp_path: Path) -> None:
    """The generated repeats are 1 %, 2 % and 3 % above a value."""
    repeats = (1.01, 1.02, 1.03)
    cv = 100 * statistics.stdev(repeats) / statistics.mean(repeats)
    shown = f"99th percentiles of the single repeats, coefficient of variation: median {cv:.2g}%, highest {cv:.2g}%"
    assert shown in page(tmp_path, repeats=3)


def test_differences_are_counted_as_noise_or_more_and_in_each_language(tmp_path: Path) -> None:
    english = page(tmp_path, repeats=3)
    found = re.search(r"Old and New: of (\d+) differences in throughput and 99th percentiles, (\d+) are? ?", english)
    assert found is not None
    assert int(found[1]) == 2 * 7, "throughput, and the percentiles of six operations, at two points"
    assert int(found[2]) < 3, "the two differ by much more than the repeats"
    assert "Old と New：スループットと99パーセンタイルの差14件" in page(tmp_path, repeats=3, language="ja")


def test_the_first_page_says_which_differences_are_within_noise(tmp_path: Path) -> None:
    """The repeats on both kinds of hardware have the same throughputs here."""
    spec = tmp_path / "same.bench"
    spec.write_text(SPEC.replace("REPEATS", "3").replace("LANGUAGE", "en"), encoding="utf-8")
    plan = compile_spec(spec)
    same = [
        row._replace(ops_per_s=8000.0 + 10 * int(row.cell_id[-1])) if isinstance(row, s.ThroughputRow) else row
        for row in rows_for(plan)
        if isinstance(row, (s.RunRow, s.CellRow, s.ThroughputRow))
    ]
    (notice,) = repeat_variation.notice(Results(plan, make_store(same), CATALOGUES["en"]))
    assert notice.title == "Differences within noise"
    assert notice.text.startswith(
        "Between Old and New, 2 of 2 differences in throughput and in 99th percentiles are within noise"
    )


def test_many_kinds_of_hardware_are_one_family_in_one_sentence_with_a_list(tmp_path: Path) -> None:
    """There are six kinds, three of which have the same throughputs. None of the 15 pairs is left out silently."""
    kinds = "abcdef"
    groups = "".join(f'hardware {kind} "Kind {kind}" {{ hosts = "{kind}.lab" }}\n' for kind in kinds)
    spec = tmp_path / "many.bench"
    text = SPEC.replace("REPEATS", "3").replace("LANGUAGE", "en").replace("[old, new]", f"[{', '.join(kinds)}]")
    spec.write_text(groups + text.partition('hardware new "New" { hosts = "new.lab" }')[2], encoding="utf-8")
    plan = compile_spec(spec)
    rates = dict(zip(kinds, (1000.0, 1000.0, 1000.0, 5000.0, 25000.0, 125000.0), strict=True))
    rows = [
        row._replace(ops_per_s=rates[row.cell_id.split("/")[1]] + 10 * int(row.cell_id[-1]))
        if isinstance(row, s.ThroughputRow)
        else row
        for row in rows_for(plan)
        if isinstance(row, (s.RunRow, s.CellRow, s.ThroughputRow))
    ]
    (notice,) = repeat_variation.notice(Results(plan, make_store(rows), CATALOGUES["en"]))
    assert notice.text.startswith("Between 15 pairs of systems, 6 of 30 differences")
    shown = " ".join(
        item.text for item in repeat_variation.paragraph(Results(plan, make_store(rows), CATALOGUES["en"]))
    )
    assert "Of 30 differences in throughput and 99th percentiles between 15 pairs, 6 are" in shown
    assert "Kind a and Kind b, 2 of 2; Kind a and Kind c, 2 of 2; Kind b and Kind c, 2 of 2. Between" in shown


def test_nothing_is_said_of_single_measurements(tmp_path: Path) -> None:
    text = page(tmp_path, repeats=1)
    assert "of the single repeats" not in text
    assert "Holm" not in text


@pytest.mark.parametrize(("noisy", "rest"), [(6, False), (5, True)])
def test_other_pairs_are_reported_only_where_there_are_any(noisy: int, rest: bool) -> None:
    results = SimpleNamespace(words=CATALOGUES["en"])
    pairs = [repeat_variation._Differences("A", "B", 4, int(at < noisy), 0) for at in range(6)]
    shown = " ".join(repeat_variation._sentences(pairs, cast(Results, results)))
    assert "Within noise are: A and B, 1 of 4" in shown
    assert ("Between all other pairs" in shown) == rest


def test_very_many_kinds_of_hardware_are_not_compared_each_with_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeat_variation, "MOST_COMPARED", 1)
    text = page(tmp_path, repeats=3)
    assert "is not tested here between 2 contenders" in text
    assert "within noise (p of" not in text
