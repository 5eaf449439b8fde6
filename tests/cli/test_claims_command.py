"""Tests `bench claims`, and how verdicts on claims affect reports, build servers and Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchbrief as bb
from benchbrief.progress.finished_run import claim_case, code_of_verdicts
from benchbrief.reports.claims_sheet import SheetRow
from benchbrief.results.analysis.claim_verdicts import ClaimVerdict, State
from tests.cli.specs import SMALL
from tests.reports.test_said_claims import claim
from tests.support.bench import Bench

CLAIMS = SMALL.replace(
    "report brief",
    """\
metric times "Times" = throughput[two] / throughput[one], higher is better
claim most "Up to {value:.2f} times the throughput of {one}" { value = max(times over threads) }
claim unsaid "{value:,.0f} ops/s" { value = throughput[rr, one][threads: 1] }

report brief""",
).replace("  text = ", "  headline = most\n  text = ")


def row(state: State, brief: str = "brief") -> SheetRow:
    found = claim(1.2)
    return SheetRow(brief, ClaimVerdict(found, state, None if state == "missing" else 1.2), "1.2X", state, ())


@pytest.mark.long
def test_a_run_shows_its_claims_by_the_spec_of_today(copied_run: Bench) -> None:
    copied_run.spec(CLAIMS, "newer.bench")
    done = copied_run("claims", "--spec", "newer.bench")
    assert done.code == 0, done.err
    assert "most (brief): measured once: no repeat tells whether it is more than noise" in done.out
    assert "unsaid: measured once: no repeat tells whether it is more than noise; no brief says it" in done.out
    assert "First folder" in done.out
    without = copied_run("claims")
    assert without.code == 2
    assert "has no `claim`" in without.err


def test_a_report_tells_of_its_claims_also_to_python(copied_run: Bench) -> None:
    copied_run.spec(CLAIMS, "newer.bench")
    made = copied_run("report", "--spec", "newer.bench", "--html-only", "--json")
    assert made.code == 0, made.err
    (told,) = made.json["claims"]
    assert (told["claim"], told["state"], told["said"], told["base"]) == ("most", "once", True, "First folder")
    (disclosure,) = (path for path in made.json["reports"]["brief"] if path.endswith("disclosure.html"))
    text = Path(copied_run.folder / disclosure).read_text(encoding="utf-8")
    assert told["sentence"] in text
    with bb.open(out=copied_run.folder / "bench-out") as run:
        assert run.claims == []


@pytest.mark.parametrize(
    ("state", "case", "code"),
    [
        ("decided", "ok", 0),
        ("once", "ok", 0),
        ("undecided", "skipped", 0),
        ("opposed", "failure", 4),
        ("missing", "error", 3),
    ],
)
def test_a_build_server_is_told_as_for_expectations(state: State, case: str, code: int) -> None:
    assert claim_case(row(state)).state == case
    assert code_of_verdicts([row(state)]) == code
    assert claim_case(row(state), simulated=True).state == "skipped"


def test_only_a_brief_leaves_out_a_claim() -> None:
    assert row("opposed").is_withheld
    assert not row("opposed", brief="").is_withheld
    assert not SheetRow(
        "brief", ClaimVerdict(claim(1.2, allowed={"decided": "why"}), "undecided", 1.2), "", "", ()
    ).is_withheld


def test_each_verdict_has_its_words_in_both_languages() -> None:
    from typing import get_args

    from benchbrief.reports.words.brief_words import CATALOGUES

    for words in CATALOGUES.values():
        assert all(words[f"sheet_{state}"] for state in get_args(State))
