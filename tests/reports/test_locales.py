"""Numbers, dates and lists by the conventions of languages, and what a run recorded in the language of the report."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from string import Formatter

import pytest

import benchbrief.results
import benchbrief.runners
from benchbrief.reports.axes import tick_labels
from benchbrief.reports.locales import Locale, written_as
from benchbrief.reports.recorded import FAMILY, recorded
from benchbrief.reports.values import NBSP, bytes_text, fixed, formatted, in_prose, quantity
from benchbrief.reports.words import words

NARROW = "\u202f"
"""The blank between thousands in French."""


@pytest.mark.parametrize(
    ("language", "number", "share", "ticks"),
    [
        ("en_GB", "1,234,567.80", "12.5%", ("0.0", "0.5", "1.0")),
        ("ja", "1,234,567.80", "12.5%", ("0.0", "0.5", "1.0")),
        ("de", "1.234.567,80", f"12,5{NBSP}%", ("0,0", "0,5", "1,0")),
        ("fr", f"1{NARROW}234{NARROW}567,80", f"12,5{NBSP}%", ("0,0", "0,5", "1,0")),
        ("es", "1.234.567,80", f"12,5{NBSP}%", ("0,0", "0,5", "1,0")),
        ("hi", "12,34,567.80", "12.5%", ("0.0", "0.5", "1.0")),
        ("tr", "1.234.567,80", "%12,5", ("0,0", "0,5", "1,0")),
        ("xx", "1,234,567.80", "12.5%", ("0.0", "0.5", "1.0")),
    ],
)
def test_numbers_in_tables_texts_and_axes_are_written_as_the_language_does(
    language: str, number: str, share: str, ticks: tuple[str, ...]
) -> None:
    with written_as(Locale(language)):
        assert fixed(1234567.8, 2) == number
        assert formatted(0.125, ".1%", "share") == share
        assert tick_labels([0, 0.5, 1]) == ticks


def test_a_number_that_is_not_grouped_stays_so_and_its_unit_stays_with_it() -> None:
    with written_as(Locale("de")):
        assert formatted(2026.0, ".0f", "1") == "2026"
        assert quantity(0.0123, "s") == f"12,30{NBSP}ms"
        assert bytes_text(1536 * 1024) == f"1,5{NBSP}MiB"
        assert in_prose(0.25, 1.5, ".2f", "1", "", " bis ") == "0,25 bis 1,50"


def test_numbers_are_english_again_behind_a_brief_in_another_language() -> None:
    with pytest.raises(RuntimeError), written_as(Locale("de")):
        raise RuntimeError
    assert fixed(1234.5, 1) == "1,234.5"


def test_days_and_lists_are_written_as_the_language_does() -> None:
    first, last = date(2026, 11, 21), date(2026, 11, 23)
    assert Locale("en_GB").days(first, first) == "21 November 2026"
    assert Locale("ja").days(first, first) == "2026年11月21日"
    assert Locale("de").days(first, first) == "21. November 2026"
    assert Locale("en_GB").days(first, last).replace("\u2009", "") == "21–23 Nov 2026"
    assert Locale("ja").days(first, last) == "2026年11月21日～23日"
    assert Locale("ja").listed(["a", "b", "c"]) == "a、b、c"
    assert Locale("en_GB").listed(["a", "b", "c"]) == "a, b, c"


def test_what_a_run_recorded_is_told_in_the_language_of_the_report() -> None:
    japanese = words("ja")
    told = {
        "done": "完了",
        "27 cells": "測定 27 件",
        "AMD EPYC 9654, 96 cores, 192 threads": "AMD EPYC 9654、96 コア、192 スレッド",
        "3.8 TB, SAMSUNG MZQL23T8, not rotating": "3.8 TB、SAMSUNG MZQL23T8、非回転式",
        "Micron 7450 on rocks.lab: /mnt/a b/db is on ext4, declared is xfs": (
            "Micron 7450（rocks.lab）：/mnt/a b/db は ext4 上にあります（申告値：xfs）"
        ),
        "3 s of inserts, reads and updates after its start": "起動後 3 秒間の挿入、読み取り、更新",
        "4.0 s from the first operation were cut off": "最初の操作から 4.0 秒間を除外",
        "the controller was away in the measure step, from 2026-03-14 09:00:00 to 2026-03-14 09:01:02": (
            "コントローラーが measure の段階で 2026-03-14 09:00:00 から 2026-03-14 09:01:02 まで停止していました"
        ),
        "nvme-1 was busy when the cell began: cc1plus (process 812 of dev) takes 1.9 cores": (
            "測定の開始時、nvme-1 では他の処理が動いていました（dev の cc1plus、プロセス番号 812、1.9 コアを使用）"
        ),
        "the energy of db is not known: that takes 3 readings of power inside the measured window, and there were 2": (
            "db の消費電力量は不明です（測定区間内に電力の読み取りが 3 回以上必要なところ、2 回でした）"
        ),
    }
    assert {text: recorded(text, japanese) for text in told} == told
    assert all(recorded(text, words("en")) == text for text in told)


@pytest.mark.parametrize("text", ["", "mongod said: out of memory", "A on b: what nobody wrote before", "cells"])
def test_what_is_not_known_stays_as_it_was_recorded(text: str) -> None:
    assert recorded(text, words("ja")) == text


def test_what_runs_record_is_in_the_catalogue_as_the_runners_write_it() -> None:
    rooms = [Path(next(iter(room.__path__))) for room in (benchbrief.runners, benchbrief.results)]
    sources = re.sub(r'"\s*\n\s*f?"', "", "".join(path.read_text() for room in rooms for path in room.rglob("*.py")))
    warm_ups = {"r_warm_up_db_bench", "r_warm_up_db_bench_direct"}
    made_of_parts = {
        "r_cells",
        "r_at",
        "r_stand_in_memory",
        "r_stand_in_file",
        "r_restored",
        "r_restored_by_command",
        *warm_ups,
    }
    by_hand = {
        *made_of_parts,
        "r_assertions",
        "r_unfinished",
        "r_one_for_all",
    }  # db_bench, the store and an import say these
    gone = {
        (key, literal)
        for key, text in words("en").items()
        if key.startswith(FAMILY) and key not in by_hand
        for literal, *_ in Formatter().parse(text)
        if literal.strip(" ,;") and literal.strip(" ,;") not in sources
    }
    assert gone == set()
