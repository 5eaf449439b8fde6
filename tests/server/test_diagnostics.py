"""Tests diagnostics while typing, over the real protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.server.specs import SMALL
from tests.support.longer import longer
from tests.support.lsp import Client, session

LAB = SMALL[: SMALL.index("database")]
SPEC = 'use "lab.bench"\n' + SMALL[SMALL.index("database") :]


def at(line: int, start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def codes(found: list[dict[str, Any]]) -> list[str]:
    return [each["code"] for each in found]


def test_a_right_spec_has_no_diagnostics(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    assert client.diagnostics(uri) == []


def test_a_misspelt_name_is_underlined_while_typing_and_goes_when_mended(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    assert client.diagnostics(uri) == []
    client.change(uri, {"range": at(10, 17, 17), "text": "r"})
    [found] = client.diagnostics(uri)
    assert found["range"] == at(10, 15, 18)
    assert found["code"] == "E0201"
    assert found["severity"] == 1
    assert found["source"] == "bench"
    assert "did you mean `rr`?" in found["message"]
    client.change(uri, {"range": at(10, 17, 18), "text": ""})
    assert client.diagnostics(uri) == []


def test_every_mistake_is_reported_at_once_also_beside_a_syntax_error(client: Client) -> None:
    uri = client.open("small.bench", SMALL.replace("[rr]", "[r]").replace("2 USD/h", "2 USD/hh"))
    assert codes(client.diagnostics(uri)) == ["E0301", "E0201"]
    client.change(uri, {"text": SMALL.replace("[rr]", "[r]").replace("[1, 2]", "[1, 2")})
    unknown, syntax = client.diagnostics(uri)
    assert syntax["code"].startswith("E01")
    assert unknown["code"] == "E0201"


def test_all_syntax_errors_are_reported_at_once_where_they_are(client: Client) -> None:
    text = SMALL.replace("2 USD/h", "= 2 USD/h").replace("records = 2k", "records: 2k").replace("[1, 2]", "[1 2]")
    text = text.replace("in % =", "in %").replace("formula gain for", "formula gain fro")
    uri = client.open("small.bench", text)
    found = client.diagnostics(uri)
    lines = text.splitlines()
    assert len(found) == 5
    assert all(each["code"].startswith("E01") for each in found)
    said = [lines[each["range"]["start"]["line"]].split()[0] for each in found]
    assert said == ["price", "workload", "threads", "metric", "formula"]
    mended = text.replace("[1 2]", "[1, 2]").replace("fro threads", "for threads")
    client.change(uri, {"text": mended})
    assert [each["code"] for each in client.diagnostics(uri)] == [found[i]["code"] for i in (0, 1, 3)]
    client.change(uri, {"text": SMALL})
    assert client.diagnostics(uri) == []


def test_a_warning_is_one_and_what_nothing_names_is_faded(client: Client) -> None:
    uri = client.open("small.bench", SMALL + "workload spare from db_bench.readseq\n")
    [found] = client.diagnostics(uri)
    assert found["severity"] == 2
    assert found["tags"] == [1]


def test_an_earlier_place_is_related(client: Client) -> None:
    uri = client.open("small.bench", SMALL + "param a = 1\nparam a = 2\n")
    found = next(each for each in client.diagnostics(uri) if each.get("relatedInformation"))
    [related] = found["relatedInformation"]
    assert related["location"] == {"uri": uri, "range": at(SMALL.count("\n"), 6, 7)}


def test_a_file_without_experiments_gets_an_information(client: Client) -> None:
    uri = client.open("lab.bench", LAB)
    [found] = client.diagnostics(uri)
    assert found["severity"] == 3


def test_an_empty_buffer_that_is_in_no_file_works(client: Client) -> None:
    uri = client.open("untitled:Untitled-1", "")
    assert [each["severity"] for each in client.diagnostics(uri)] == [3]
    client.change(uri, {"text": SMALL})
    assert client.diagnostics(uri) == []
    client.change(uri, {"text": SMALL.replace("[rr]", "[r]")})
    assert codes(client.diagnostics(uri)) == ["E0201"]


# --- several files ---


def test_an_unsaved_editor_stands_in_place_of_the_file_on_disk(client: Client) -> None:
    (client.folder / "lab.bench").write_text(LAB.replace("box", "other"))
    spec = client.open("spec.bench", SPEC)
    assert "E0201" in codes(client.diagnostics(spec))
    lab = client.open("lab.bench", LAB)
    assert client.diagnostics(spec) == []
    assert client.diagnostics(lab) == []
    client.close_document(lab)
    assert "E0201" in codes(client.diagnostics(spec))


def test_a_used_file_that_was_never_saved_is_found(client: Client) -> None:
    client.open("lab.bench", LAB)
    spec = client.open("spec.bench", SPEC)
    assert client.diagnostics(spec) == []


def test_changing_a_used_file_checks_those_that_use_it(client: Client) -> None:
    lab = client.open("lab.bench", LAB)
    spec = client.open("spec.bench", SPEC)
    assert client.diagnostics(spec) == []
    client.change(lab, {"text": LAB.replace("variant two", "variant too")})
    assert codes(client.diagnostics(spec)) == ["E0710", "E0701"]


def test_mistakes_of_a_file_on_disk_are_reported_there(client: Client) -> None:
    (client.folder / "lab.bench").write_text(LAB.replace("2 USD/h", "2 USD/hh"))
    client.open("spec.bench", SPEC)
    assert codes(client.diagnostics(client.uri("lab.bench"))) == ["E0301"]


def test_a_syntax_error_in_a_used_file_is_reported_where_it_is_used_too(client: Client) -> None:
    lab = client.open("lab.bench", LAB.replace("hosts = local", "hosts ="))
    spec = client.open("spec.bench", SPEC)
    [in_lab] = client.diagnostics(lab)
    [in_spec] = client.diagnostics(spec)
    assert in_lab["code"] == in_spec["code"]
    assert in_spec["range"] == at(0, 4, 15)
    assert in_spec["relatedInformation"][0]["location"] == {"uri": lab, "range": in_lab["range"]}
    assert "`lab.bench` can't be used" in in_spec["message"]


def test_a_used_file_that_is_not_text_is_reported(client: Client) -> None:
    (client.folder / "lab.bench").write_bytes(b"hardware box \xff\xfe")
    spec = client.open("spec.bench", SPEC)
    assert codes(client.diagnostics(spec)) == ["E0004"]


def test_files_that_use_each_other_are_reported(client: Client) -> None:
    a = client.open("a.bench", 'use "b.bench"\n')
    assert codes(client.diagnostics(a)) == ["E0601"]
    b = client.open("b.bench", 'use "a.bench"\n')
    assert {*codes(client.diagnostics(a)), *codes(client.diagnostics(b))} == {"E0602"}


def test_a_file_that_changes_on_disk_is_read_again_when_the_client_says_so(client: Client) -> None:
    (client.folder / "lab.bench").write_text(LAB.replace("box", "other"))
    spec = client.open("spec.bench", SPEC)
    assert client.diagnostics(spec) != []
    (client.folder / "lab.bench").write_text(LAB)
    change = {"uri": client.uri("lab.bench"), "type": 2}
    client.notify("workspace/didChangeWatchedFiles", {"changes": [change]})
    assert client.diagnostics(spec) == []


def test_a_client_that_can_is_asked_to_watch_files(tmp_path: Path) -> None:
    with session(tmp_path, {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}) as client:
        asked = client.wait_for(lambda message: message["method"] == "client/registerCapability")
    [registration] = asked["params"]["registrations"]
    assert registration["registerOptions"] == {"watchers": [{"globPattern": "**/*.bench"}]}


def test_closing_a_document_takes_its_diagnostics_away(client: Client) -> None:
    uri = client.open("small.bench", SMALL.replace("[rr]", "[r]"))
    assert client.diagnostics(uri) != []
    client.close_document(uri)
    assert client.diagnostics(uri) == []


# --- typing ---


def test_typing_fast_ends_with_the_diagnostics_of_the_last_version_and_few_before(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    assert client.diagnostics(uri) == []
    with client.together():
        for _ in range(100):
            client.change(uri, {"range": at(10, 15, 15), "text": "x"})
    [found] = client.diagnostics(uri)
    assert found["range"] == at(10, 15, 117)
    published = [message for message in client.inbox if message["method"] == "textDocument/publishDiagnostics"]
    assert len(published) < 50


def test_diagnostics_are_of_the_version_that_they_name(client: Client) -> None:
    """Each version has one more unused parameter than the version before, so the warnings show which text was
    checked."""
    uri = client.open("versions.bench", SMALL)
    last = SMALL.count("\n")
    for number in range(30):
        version = client.change(uri, {"range": at(last + number, 0, 0), "text": f"param p{number} = 1\n"})
    client.diagnostics(uri)
    for message in client.inbox:
        if message["method"] == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
            assert len(message["params"]["diagnostics"]) == message["params"]["version"] - 1
    assert version == 31


# --- positions ---


@pytest.mark.parametrize(
    ("offered", "chosen", "column"),
    [
        pytest.param(["utf-7", "utf-32"], "utf-32", 23, id="the first that is known"),
        *longer(
            pytest.param(None, "utf-16", 24, id="nothing offered"),
            pytest.param(["utf-8", "utf-16"], "utf-8", 30, id="utf-8"),
        ),
    ],
)
def test_columns_are_counted_as_the_client_does(
    tmp_path: Path, offered: list[str] | None, chosen: str, column: int
) -> None:
    """The misspelt name follows two CJK characters and an emoji on its line."""
    text = SMALL.replace('"Random reads"', '"乱読😀"').replace("db_bench.readrandom", "qq")
    line = text[: text.index("workload rr")].count("\n")
    with session(tmp_path, {"general": {"positionEncodings": offered}} if offered else {}) as client:
        assert client.capabilities["positionEncoding"] == chosen
        uri = client.open("wide.bench", text)
        found = client.diagnostics(uri)[0]
        assert found["range"] == at(line, column, column + 2)
        # And back: an edit at that place hits the word.
        client.change(uri, {"range": found["range"], "text": "db_bench.readrandom"})
        assert client.diagnostics(uri) == []


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_lines_end_as_the_protocol_says_and_nowhere_else(client: Client, line_end: str) -> None:
    """U+2028, U+0085 and form feeds do not end lines, although Python's `splitlines` treats them as if they did."""
    text = SMALL.replace("[rr]", "[r]").replace("Random reads", "a\u2028b\u0085c\x1cd").replace("\n", line_end)
    uri = client.open("lines.bench", text)
    found = next(each for each in client.diagnostics(uri) if each["code"] == "E0201")
    assert found["range"] == at(10, 15, 16)
    client.change(uri, {"range": at(10, 15, 16), "text": "rr"})
    assert "E0201" not in codes(client.diagnostics(uri))


def test_edits_beyond_the_text_are_taken_at_its_end(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    client.change(uri, {"range": at(9999, 5, 7), "text": "param p = 1\n"})
    assert codes(client.diagnostics(uri)) == ["W0201"]


def test_several_changes_of_one_message_are_taken_in_order(client: Client) -> None:
    uri = client.open("small.bench", SMALL)
    client.change(
        uri,
        {"range": at(10, 15, 17), "text": ""},
        {"range": at(10, 15, 15), "text": "r"},
        {"range": at(10, 16, 16), "text": "r"},
    )
    assert client.diagnostics(uri) == []


def test_half_a_character_and_a_byte_order_mark_do_no_harm(client: Client) -> None:
    uri = client.open("small.bench", "\ufeff" + SMALL.replace("Random reads", "\ud83d odd"))
    assert client.diagnostics(uri) == []
