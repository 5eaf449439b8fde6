"""Tests `bench check --format`: the output for code hosts and editors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from benchbrief.compiler.diagnostic_codes import all_codes
from tests.cli.specs import SMALL, WRONG
from tests.support.bench import Bench
from tests.support.tools import REPOSITORY

SCHEMA = json.loads((Path(__file__).parent / "sarif" / "sarif-2.1.0-rtm.4.json").read_text(encoding="utf-8"))


def run_of(bench: Bench, *words: str) -> dict[str, Any]:
    """Return the only run of a SARIF log, after checking the log against the schema."""
    done = bench("check", *words, "--format", "sarif")
    jsonschema.Draft4Validator(SCHEMA).validate(done.json)
    (run,) = done.json["runs"]
    assert isinstance(run, dict)
    return run


def marked(run: dict[str, Any], number: int, text: str) -> str:
    """Return the text in a result's region. Columns are counted as the log declares."""
    assert run["columnKind"] == "utf16CodeUnits"
    return cut(text, run["results"][number]["locations"][0]["physicalLocation"]["region"])


def cut(text: str, region: dict[str, int]) -> str:
    assert region["startLine"] == region["endLine"]
    line = text.splitlines()[region["startLine"] - 1].encode("utf-16-le")
    return line[2 * (region["startColumn"] - 1) : 2 * (region["endColumn"] - 1)].decode("utf-16-le")


def test_sarif_names_rules_places_and_levels(bench: Bench) -> None:
    bench.spec(WRONG)
    run = run_of(bench, "brief.bench")
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [info.code for info in all_codes()]
    assert {rule["defaultConfiguration"]["level"] for rule in rules} == {"error", "warning"}
    first, second = run["results"]
    assert [rules[result["ruleIndex"]]["id"] for result in (first, second)] == [first["ruleId"], second["ruleId"]]
    assert first["level"] == second["level"] == "error"
    assert "rrr" in first["message"]["text"]
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "brief.bench"
    assert marked(run, 0, WRONG) == "rrr"
    assert marked(run, 1, WRONG) == "1 W"


def test_a_spec_without_findings_gives_a_log_without_results(bench: Bench) -> None:
    bench.spec(SMALL)
    done = bench("check", "brief.bench", "--format", "sarif")
    assert done.code == 0
    assert done.json["runs"][0]["results"] == []
    assert done.err == ""


def test_sarif_counts_columns_in_utf_16(bench: Bench) -> None:
    text = SMALL.replace('"Random reads" from', '"Reads 🚀🚀" fram').replace("fram", "from").replace("2k", "2 W")
    bench.spec(text)
    assert marked(run_of(bench, "brief.bench"), 0, text) == "2 W"


def test_a_fix_in_sarif_mends_the_spec(bench: Bench) -> None:
    text = SMALL.replace("workloads = [rr]", "workloads = [r]")
    bench.spec(text)
    run = run_of(bench, "brief.bench")
    ((fix,),) = [result["fixes"] for result in run["results"]]
    assert fix["description"]["text"] == "did you mean `rr`?"
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    assert change["artifactLocation"]["uri"] == "brief.bench"
    assert cut(text, replacement["deletedRegion"]) == "r"
    assert replacement["insertedContent"]["text"] == "rr"


def test_a_fix_of_several_places_in_sarif_mends_the_spec(bench: Bench) -> None:
    text = (REPOSITORY / "tests/compiler/errors/variants_of_options.bench").read_text(encoding="utf-8")
    bench.spec(text)
    run = run_of(bench, "brief.bench")
    ((fix,),) = [result["fixes"] for result in run["results"]]
    (change,) = fix["artifactChanges"]
    edits = [(edit["deletedRegion"], edit["insertedContent"]["text"]) for edit in change["replacements"]]
    replaced = {cut(text, region): new for region, new in edits if region["startLine"] == region["endLine"]}
    assert replaced['"{cache}"'] == "cache"
    assert replaced["hardware = box.variants"] == "hardware = box  vary = cache"
    assert [new for region, new in edits if region["startLine"] < region["endLine"]] == ["", ""]


@pytest.mark.long
def test_other_places_of_a_finding_are_related_locations(bench: Bench) -> None:
    bench.spec(SMALL.replace("measure   = 1 s", "measure   = 1 s\n  measure   = 2 s"))
    (result,) = run_of(bench, "brief.bench")["results"]
    said = {place["message"]["text"] for place in result["relatedLocations"]}
    assert said == {"first set here", "in this block"}
    assert [place["id"] for place in result["relatedLocations"]] == [1, 2]


def test_fingerprints_stay_when_other_lines_move(bench: Bench) -> None:
    twice = WRONG + "metric one = wibble\nmetric two = wibble\n"
    bench.spec(twice)
    before = [result["partialFingerprints"] for result in run_of(bench, "brief.bench")["results"]]
    bench.spec("# a new line\n\n" + twice.replace("threads   = [1, 2]", "threads   = [1, 2, 4]\n"))
    after = [result["partialFingerprints"] for result in run_of(bench, "brief.bench")["results"]]
    assert before == after
    assert len({each["primaryLocationLineHash"] for each in before}) == len(before) >= 2


def test_a_finding_in_a_used_file_names_that_file_once(bench: Bench) -> None:
    (bench.folder / "lab files").mkdir()
    bench.spec("param size = 3 wibbles\n", "lab files/ä.bench")
    for name in ("one.bench", "two.bench"):
        bench.spec('use "lab files/ä.bench"\n' + SMALL, name)
    run = run_of(bench, "one.bench", "two.bench")
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]]
    assert [unquote(uri) for uri in uris].count("lab files/ä.bench") == 1
    assert all(uri.isascii() and " " not in uri for uri in uris)


def test_paths_are_relative_inside_the_working_directory_and_absolute_outside(bench: Bench) -> None:
    inside = bench.spec(WRONG)
    outside = bench.folder.parent / f"{bench.folder.name}-outside.bench"
    outside.write_text("wibble", encoding="utf-8")
    results = run_of(bench, str(inside), str(outside))["results"]
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results]
    assert uris == ["brief.bench", "brief.bench", outside.resolve().as_uri()]
    outside.unlink()


@pytest.mark.long
def test_what_has_no_place_in_a_text_is_shown_at_the_spec(bench: Bench) -> None:
    bench.spec(SMALL)
    (result,) = run_of(bench, "brief.bench", "--profile", "wibble")["results"]
    (place,) = result["locations"]
    assert place["physicalLocation"] == {"artifactLocation": {"uri": "brief.bench"}, "region": {"startLine": 1}}
    (result,) = run_of(bench, "nowhere.bench")["results"]
    assert result["ruleId"] == "E0001"


_ANNOTATION = re.compile(r"::(error|warning) ([^:]+)::(.+)")


def commands_in(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Return the workflow commands in an output, parsed as GitHub's runner does."""

    def plain(text: str) -> str:
        for sign, escape in ((":", "%3A"), (",", "%2C"), ("\r", "%0D"), ("\n", "%0A"), ("%", "%25")):
            text = text.replace(escape, sign)
        return text

    found = []
    for line in text.splitlines():
        match = _ANNOTATION.fullmatch(line)
        assert match, line
        properties = dict(part.split("=", 1) for part in match[2].split(","))
        found.append((match[1], {key: plain(value) for key, value in properties.items()}, plain(match[3])))
    return found


def test_github_annotations_have_places_titles_and_levels(bench: Bench) -> None:
    bench.spec(WRONG.replace("[1, 2]", "[1]"))
    done = bench("check", "brief.bench", "--format", "github")
    assert done.code == 1
    assert done.err == ""
    first = commands_in(done.out)[0]
    line = next(number for number, text in enumerate(WRONG.splitlines(), start=1) if "rrr" in text)
    place = {"file": "brief.bench", "line": str(line), "col": "16", "endLine": str(line), "endColumn": "19"}
    assert first[:2] == ("error", {**place, "title": "E0201"})
    assert first[2] == "unknown workload `rrr` (not declared)\nhelp: did you mean `rr`?"


def test_github_annotations_are_escaped(bench: Bench) -> None:
    bench.spec(SMALL.replace("records = 2k", "records = 5 %"), "a,b:c%.bench")
    done = bench("check", "a,b:c%.bench", "--format", "github")
    assert "file=a%2Cb%3Ac%25.bench,line=" in done.out
    assert "`5 %25`" in done.out
    assert commands_in(done.out)[0][1]["file"] == "a,b:c%.bench"


@pytest.mark.parametrize("form", ["json", "sarif", "github", "text"])
def test_exit_codes_do_not_depend_on_the_format(bench: Bench, form: str) -> None:
    bench.spec(WRONG, "wrong.bench")
    bench.spec(SMALL, "right.bench")
    assert bench("check", "wrong.bench", "right.bench", "--format", form).code == 1
    assert bench("check", "right.bench", "--format", form).code == 0


def test_json_is_one_of_the_formats(bench: Bench) -> None:
    bench.spec(WRONG)
    assert bench("check", "brief.bench", "--format", "json").out == bench("check", "brief.bench", "--json").out
    done = bench("check", "brief.bench", "--json", "--format", "sarif")
    assert done.code == 2
    assert "--json and --format sarif ask for two formats" in done.err


def test_text_ends_with_the_way_to_more_once(bench: Bench) -> None:
    bench.spec(WRONG, "one.bench")
    bench.spec(WRONG, "two.bench")
    done = bench("check", "one.bench", "two.bench")
    assert done.err.endswith("\nfor more: bench explain E0201\n")
    assert done.err.count("bench explain") == 1
