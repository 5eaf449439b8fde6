"""Tests definitions, references, highlights, renaming and outlines, over the real protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbrief.server.documents import specs_below
from tests.server.specs import SMALL, VARIED, apply, cursor
from tests.support.lsp import Client, RequestError

LAB = """\
hardware box "This machine" {
  hosts = local
  price = 2 USD/h
  variant one "First"  { path = "/var/tmp/one" }
  variant two "Second" { path = "/var/tmp/two" }
}
"""
SPEC = 'use "lab.bench"\n' + SMALL[SMALL.index("database") :]


def place(text: str, word: str, nth: int = 0) -> tuple[int, int]:
    """Return the line and the character of the middle of the nth `word`."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(word, at + 1)
    at += len(word) // 2
    return text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1


def words(text: str, locations: list[dict[str, Any]]) -> list[str]:
    """Return the line number and the text of each range."""
    lines = text.split("\n")
    found = []
    for location in locations:
        start, end = location["range"]["start"], location["range"]["end"]
        assert start["line"] == end["line"]
        found.append(f"{start['line']}:{lines[start['line']][start['character'] : end['character']]}")
    return sorted(found)


@pytest.mark.parametrize(
    ("word", "nth", "definition"),
    [
        pytest.param("box", 1, "0:box", id="hardware"),
        pytest.param("rr", 1, "7:rr", id="workload"),
        pytest.param("two]", 0, "4:two", id="variant in an index"),
        pytest.param("{two}", 0, "4:two", id="variant in a hole"),
        pytest.param("price /", 0, "2:price", id="fact"),
        pytest.param("{path}", 0, "3:path", id="fact in a path"),
        pytest.param("gain over", 0, "14:gain", id="metric in a hole"),
        pytest.param("gain for", 0, "14:gain", id="metric of a formula"),
    ],
)
def test_a_name_leads_to_its_declaration(client: Client, word: str, nth: int, definition: str) -> None:
    uri = client.open("small.bench", SMALL)
    found = client.at("definition", uri, *place(SMALL, word, nth))
    assert definition in words(SMALL, found)


@pytest.mark.parametrize(
    ("word", "definition"),
    [
        pytest.param("codec  cache", "1:codec", id="factor in an option"),
        pytest.param("{codec}", "1:codec", id="factor in a path"),
        pytest.param("vsize }\nexp", "2:vsize", id="factor in a workload"),
        pytest.param("vsize, tuning]", "2:vsize", id="factor that is varied"),
        pytest.param("codec != none", "1:codec", id="factor in a condition"),
        pytest.param("none or", "1:none", id="level in a condition"),
        pytest.param("none, lz4", "1:none", id="level of a subset"),
        pytest.param("large]", "5:large", id="level of an index"),
        pytest.param("none], higher", "1:none", id="level of a named index"),
        pytest.param("codec: none", "1:codec", id="factor of an index"),
        pytest.param("{none}", "1:none", id="level in a hole"),
        pytest.param("vsize, tuning, w", "2:vsize", id="factor behind over"),
        pytest.param("vsize }\n  each", "2:vsize", id="factor behind by"),
        pytest.param("vsize } }", "2:vsize", id="factor of a colour"),
        pytest.param("tuning { figure", "3:tuning", id="factor that an element is repeated for"),
        pytest.param("tuning.cache", "3:tuning", id="factor of a bundle"),
        pytest.param("large\n}", "5:large", id="default"),
    ],
)
def test_factors_and_levels_lead_to_their_declarations(client: Client, word: str, definition: str) -> None:
    uri = client.open("varied.bench", VARIED)
    at = VARIED.index(word)
    line = VARIED.count("\n", 0, at)
    assert words(VARIED, client.at("definition", uri, line, at - VARIED.rfind("\n", 0, at))) == [definition]


def test_a_setting_of_a_bundle_leads_to_each_level_that_says_it(client: Client) -> None:
    uri = client.open("varied.bench", VARIED)
    line, character = place(VARIED, "tuning.cache")
    found = client.at("definition", uri, line, character + 3)
    assert words(VARIED, found) == ["4:cache", "5:cache"]


@pytest.mark.parametrize("word", ["throughput", "experiment", "higher", "local", "What a second"])
def test_words_of_the_language_have_no_definition(client: Client, word: str) -> None:
    uri = client.open("small.bench", SMALL)
    assert client.at("definition", uri, *place(SMALL, word)) == []


def test_references_are_found_with_and_without_the_declaration(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    where = place(SMALL, "two")
    found = client.at("references", uri, *where, context={"includeDeclaration": True})
    assert words(SMALL, found) == ["14:two", "17:two", "4:two"]
    found = client.at("references", uri, *where, context={"includeDeclaration": False})
    assert words(SMALL, found) == ["14:two", "17:two"]


def test_every_place_of_a_name_is_highlighted_and_its_declaration_as_a_write(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    found = client.at("documentHighlight", uri, *place(SMALL, "gain over"))
    assert words(SMALL, found) == ["14:gain", "17:gain", "19:gain"]
    assert sorted(each["kind"] for each in found) == [2, 2, 3]


def test_a_definition_leads_into_a_used_file_on_disk(client: Client) -> None:
    (client.folder / "lab.bench").write_text(LAB)
    uri = client.open("spec.bench", SPEC)
    [found] = client.at("definition", uri, *place(SPEC, "two]"))
    assert found["uri"] == client.uri("lab.bench")
    assert words(LAB, [found]) == ["4:two"]


def test_renaming_changes_every_place_in_all_files(client: Client) -> None:
    (client.folder / "lab.bench").write_text(LAB)
    spec = client.open("spec.bench", SPEC)
    edit = client.at("rename", spec, *place(SPEC, "two]"), newName="second")
    changed = {uri: apply(text, edit["changes"][uri]) for uri, text in ((spec, SPEC), (client.uri("lab.bench"), LAB))}
    assert changed[spec] == SPEC.replace("two]", "second]").replace("{two}", "{second}")
    assert changed[client.uri("lab.bench")] == LAB.replace("variant two", "variant second")


def test_renaming_in_a_used_file_changes_the_open_specs_that_use_it(client: Client) -> None:
    lab = client.open("lab.bench", LAB)
    first, second = client.open("spec.bench", SPEC), client.open("other.bench", SPEC.replace("brief", "letter"))
    edit = client.at("rename", lab, *place(LAB, "box"), newName="machine")
    assert set(edit["changes"]) == {lab, first, second}
    assert apply(LAB, edit["changes"][lab]) == LAB.replace("box", "machine")
    assert apply(SPEC, edit["changes"][first]) == SPEC.replace("box.variants", "machine.variants")


def test_renaming_in_a_used_file_changes_the_closed_specs_of_the_folder_that_use_it(client: Client) -> None:
    (client.folder / "closed.bench").write_text(SPEC)
    (client.folder / "alone.bench").write_text(SMALL)  # has a `box` of its own
    lab = client.open("lab.bench", LAB)
    edit = client.at("rename", lab, *place(LAB, "box"), newName="machine")
    closed = client.uri("closed.bench")
    assert set(edit["changes"]) == {lab, closed}
    assert apply(SPEC, edit["changes"][closed]) == SPEC.replace("box.variants", "machine.variants")
    found = client.at("references", lab, *place(LAB, "box"), context={"includeDeclaration": False})
    assert {each["uri"] for each in found} == {closed}


def test_a_rename_that_could_miss_a_use_is_refused(client: Client) -> None:
    for number in range(1001):
        (client.folder / f"{number}.bench").touch()
    lab = client.open("lab.bench", LAB)
    with pytest.raises(RequestError, match=r"more than 1,000 specs, or 50,000 files, lie in the open folders"):
        client.at("rename", lab, *place(LAB, "box"), newName="machine")


def test_no_more_of_the_folders_is_looked_at_than_can_be_waited_for(tmp_path: Path) -> None:
    for folder in "abc":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.bench").touch()
        (tmp_path / folder / "y.txt").touch()
    assert specs_below([tmp_path], 9) == ([tmp_path / folder / "x.bench" for folder in "abc"], True)
    assert specs_below([tmp_path], 6) == ([tmp_path / folder / "x.bench" for folder in "ab"], False)


def test_a_closed_spec_that_can_not_be_read_bars_a_rename(client: Client) -> None:
    (client.folder / "closed.bench").write_text(SPEC + "experiment e2 {")
    lab = client.open("lab.bench", LAB)
    with pytest.raises(RequestError, match=r"`closed\.bench` has a syntax error"):
        client.at("rename", lab, *place(LAB, "box"), newName="machine")


def test_a_renamed_spec_is_as_right_as_before(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    text = SMALL
    for old, new in (
        ("box", "machine"),
        ("one", "uno"),
        ("rr", "reads"),
        ("price", "rent"),
        ("gain", "won"),
        ("cost", "c"),
    ):
        edit = client.at("rename", uri, *place(text, f" {old} "), newName=new)
        text = apply(text, edit["changes"][uri])
        client.change(uri, {"text": text})
    assert client.diagnostics(uri) == []
    assert "machine.variants" in text
    assert "{range(won over threads):+.0%}" in text


def test_a_name_in_a_palette_is_renamed_with_what_it_names(client: Client) -> None:
    text = SMALL.replace('figure "Thr', 'theme { palette { one = grey  two = accent  rr = "#0a7" } }\n  figure "Thr')
    uri = client.open("palette.bench", text)
    for old, new in (("one", "uno"), ("rr", "reads")):
        text = apply(text, client.at("rename", uri, *place(text, f" {old} "), newName=new)["changes"][uri])
        client.change(uri, {"text": text})
    assert 'palette { uno = grey  two = accent  reads = "#0a7" }' in text
    assert client.diagnostics(uri) == []


def test_a_renamed_claim_changes_wherever_a_report_says_it(client: Client) -> None:
    text = SMALL + (
        'claim more "{value:+.0%}" { value = max(gain over threads) }\n'
        'report r "{more}" {\n  headline = more\n  section "A {more}" { text = "B {more}" }\n'
        '  figure "C {more}" { claim = more  bars = gain[threads: 1] by hardware }\n}\n'
    )
    uri = client.open("claimed.bench", text)
    renamed = apply(text, client.at("rename", uri, *place(text, " more "), newName="most")["changes"][uri])
    assert "more" not in renamed[len(SMALL) :]
    assert renamed.count("{most}") == 4


def test_renamed_factors_and_levels_change_everywhere(client: Client) -> None:
    uri = client.open("varied.bench", VARIED)
    text = VARIED
    for old, new in (
        ("codec", "compressor"),
        ("vsize", "bytes"),
        ("tuning", "setup"),
        ("none", "plain"),
        ("large", "big"),
        ("direct", "unbuffered"),
    ):
        edit = client.at("rename", uri, *place(text, f" {old} "), newName=new)
        text = apply(text, edit["changes"][uri])
        client.change(uri, {"text": text})
    kept = {"none": 1, "direct": 1}  # the value "none", and the option `direct_io`
    assert {old: text.count(old) for old in ("codec", "vsize", "tuning", "none", "large", "direct")} == {
        old: kept.get(old, 0) for old in ("codec", "vsize", "tuning", "none", "large", "direct")
    }


def test_the_name_to_change_is_shown_before_a_rename(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    found = client.at("prepareRename", uri, *place(SMALL, "{two}"))
    assert found["placeholder"] == "two"
    assert words(SMALL, [found]) == ["17:two"]


@pytest.mark.parametrize(
    ("word", "new", "reason"),
    [
        pytest.param("throughput", "x", "no name here that this spec declares", id="a measure"),
        pytest.param("path =", "x", "`path` is an attribute of the language", id="a built-in fact"),
        pytest.param("gain", "throughput", "`throughput` is a measure of the language", id="to a measure"),
        pytest.param("gain", "cost", "there already is a metric `cost`", id="to another of its kind"),
        pytest.param("gain", "price", "there is a fact `price`", id="to a rival in expressions"),
        pytest.param("one", "two", "`box` already has a variant `two`", id="to another variant"),
        pytest.param("rr", "one", "there is a variant `one`", id="to a rival in an index"),
        pytest.param("gain", "2nd", "`2nd` is no name", id="to no name"),
        pytest.param("gain", "", "`` is no name", id="to nothing"),
        pytest.param("price =", "hosts", "`hosts` is an attribute of the language", id="to an attribute"),
    ],
)
def test_what_can_not_be_renamed_is_refused_with_the_reason(client: Client, word: str, new: str, reason: str) -> None:
    uri = client.open("small.bench", SMALL)
    with pytest.raises(RequestError, match=reason) as refused:
        client.at("rename", uri, *place(SMALL, word), newName=new)
    assert refused.value.code == -32803


@pytest.mark.parametrize(
    ("word", "new", "reason"),
    [
        pytest.param("codec", "throughput", "the name of the measure `throughput`", id="factor to a measure"),
        pytest.param("codec", "value", "the name of a column of results", id="factor to a column"),
        pytest.param("codec", "vsize", "there already is a factor `vsize`", id="factor to another"),
        pytest.param("codec", "saved", "there is a metric `saved`", id="factor to a metric"),
        pytest.param("lz4", "zstd", "`codec` already has a level `zstd`", id="level to another"),
        pytest.param("lz4", "rr", "there is a workload `rr`", id="level to a workload"),
        pytest.param("lz4", "large", "there is a level `large`", id="level to one of another factor"),
        pytest.param("direct", "cache", "`tuning` already has a setting `cache`", id="setting to another"),
    ],
)
def test_factors_can_not_be_renamed_to_what_stands_beside_them(
    client: Client, word: str, new: str, reason: str
) -> None:
    uri = client.open("varied.bench", VARIED)
    with pytest.raises(RequestError, match=reason):
        client.at("rename", uri, *place(VARIED, f" {word} "), newName=new)


def test_a_level_that_is_its_own_value_can_not_be_renamed(client: Client) -> None:
    text = VARIED.replace('lz4 "LZ4" = "lz4"', "levels = [lz4]")
    uri = client.open("varied.bench", text)
    with pytest.raises(RequestError, match="`lz4` is the value of this level, not only its name"):
        client.at("prepareRename", uri, *place(text, "lz4]"))


def test_nothing_is_renamed_while_a_file_has_a_syntax_error(client: Client) -> None:
    uri = client.open("small.bench", SMALL + "metric broken =\n")
    with pytest.raises(RequestError, match="syntax error"):
        client.at("prepareRename", uri, *place(SMALL, "gain"))


def test_the_outline_has_the_blocks_with_their_labels(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    found = client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert [(each["name"], each["detail"]) for each in found] == [
        ("box", "hardware This machine"),
        ("rocks", "database"),
        ("rr", "workload Random reads"),
        ("ramp", "experiment"),
        ("gain", "metric Gain in %"),
        ("cost", "metric in USD/Mop"),
        ("brief", "report What a second folder buys"),
    ]
    assert [(each["name"], each["detail"]) for each in found[0]["children"]] == [
        ("one", "variant First"),
        ("two", "variant Second"),
    ]
    assert [each["name"] for each in found[-1]["children"]] == ["Throughput", "gain"]


def test_the_outline_has_factors_with_their_levels(client: Client) -> None:
    uri = client.open("varied.bench", VARIED)
    found = client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    listed = {each["name"]: [(level["name"], level["detail"]) for level in each["children"]] for each in found[1:4]}
    assert listed == {
        "codec": [("none", "level No compression"), ("lz4", "level LZ4"), ("zstd", "level Zstandard")],
        "vsize": [],
        "tuning": [("small", "level Small"), ("large", "level Large")],
    }


def test_the_outline_keeps_what_a_syntax_error_hides(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    before = client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    client.change(uri, {"text": SMALL.replace("threads   = [1, 2]", "threads   = [1,")})
    after = client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert [each["name"] for each in after] == [each["name"] for each in before]


def test_definitions_still_work_beside_a_syntax_error(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    text = SMALL.replace("threads   = [1, 2]", "threads   = [1,")
    client.change(uri, {"text": text})
    assert "14:gain" in words(text, client.at("definition", uri, *place(text, "gain over")))


def test_symbols_of_all_open_specs_are_found_by_their_letters(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    found = client.request("workspace/symbol", {"query": "rmp"})
    assert [(each["name"], each["location"]["uri"]) for each in found] == [("ramp", uri)]


def test_names_behind_wide_characters_are_found(client: Client) -> None:
    text = SMALL.replace('"The gain is', '"効果😀 {gain[two, threads: 2]:.0%} is').replace("{range", "{range")
    uri = client.open("wide.bench", text)
    whole, line, _ = cursor(text.replace("{gain[two", "{gain[|two"))
    assert whole == text
    # Two more for the quote and the emoji, which is two units of UTF-16.
    character = text.split("\n")[line].index("two") + 1
    assert "4:two" in words(text, client.at("definition", uri, line, character + 1))
