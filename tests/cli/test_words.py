"""Tests `bench words`, and `bench report --language`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from benchbrief.reports.words.brief_words import words
from tests.cli.conftest import FinishedRun
from tests.support.bench import Bench

GERMAN = """\
figure = "Abbildung"
table = "Tabelle"
to = " bis "
at_threads = { one = "{n} Thread", other = "{n} Threads" }
"""


def test_the_english_words_are_printed_to_be_translated(bench: Bench) -> None:
    done = bench("words")
    found = tomllib.loads(done.out)
    assert {key: text for key, text in found.items() if key != "locale"} == words("en").entries
    assert tomllib.loads(bench("words", "ja").out)["figure"] == "図"
    assert bench("words", "--json").json == found


def test_words_that_are_not_shipped_are_reported_with_those_that_are(bench: Bench) -> None:
    done = bench("words", "fr")
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: no words are shipped for `fr`\n  help: there are `en`, `ja`\n"


@pytest.mark.long
@pytest.mark.usefixtures("paper")
def test_a_finished_run_has_its_brief_in_a_language_of_ones_own_and_it_holds(copied_run: Bench) -> None:
    bench = copied_run
    (bench.folder / "de.toml").write_text(GERMAN, encoding="utf-8")
    done = bench("report", "--language", "de.toml", "--to", "german")
    assert done.code == 0
    assert "W0750" in done.err  # one warning for all that is not translated
    html = (bench.folder / "german" / "brief.de.html").read_text(encoding="utf-8")
    assert '<html lang="de"' in html
    assert "Abbildung 1" in html
    assert re.search(r">\d{1,3}\.\d{3}[ \u00a0<,]", html)  # 12.345
    assert bench("verify", "german/brief.de.pdf").code == 0


@pytest.mark.usefixtures("paper")
@pytest.mark.long
def test_a_brief_in_another_language_leaves_that_of_the_spec_and_both_hold(copied_run: Bench) -> None:
    reports = copied_run.run_dir / "reports"
    before = {path: path.read_bytes() for path in sorted(reports.rglob("*")) if path.is_file()}
    done = copied_run("report", "--language", "ja")
    assert done.code == 0
    written = done.out.splitlines()
    assert {Path(line).name for line in written} >= {"brief.ja.pdf", "brief.ja.html", "brief.ja.json"}
    assert {path: path.read_bytes() for path in before} == before
    spec = copied_run.folder / "japanese.bench"
    text = (copied_run.folder / "brief.bench").read_text(encoding="utf-8")
    spec.write_text(re.sub(r'(report brief "[^"]*" \{)', r"\1 language = ja", text), encoding="utf-8")
    assert copied_run("report", "--spec", spec.name).out.splitlines() == written
    assert {path: path.read_bytes() for path in before} == before
    for name in ("brief.pdf", "brief.html", "brief.ja.pdf", "brief.ja.html"):
        done = copied_run("verify", str(reports / name))
        assert (done.code, done.err) == (0, "")
    (reports / "brief.ja-figures" / "figure-1.csv").write_text("1\n", encoding="utf-8")
    assert copied_run("verify", str(reports / "brief.pdf")).code == 0
    assert copied_run("verify", str(reports / "brief.ja.pdf")).code == 1


def test_a_language_without_words_is_reported_with_what_there_is(finished_run: FinishedRun) -> None:
    done = finished_run.bench("report", "--language", "fr")
    assert done.code == 2
    assert "there are `en` and `ja`; or name a catalogue: --language fr.toml" in done.err
    assert "E0781" in finished_run.bench("report", "--language", "fr.toml").err
