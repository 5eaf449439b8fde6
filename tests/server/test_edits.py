"""Formatting and quick fixes, over the real protocol."""

from __future__ import annotations

from typing import Any

import pytest

from benchbrief.dsl.formatter import format_source
from benchbrief.dsl.source import Source
from tests.server.specs import SMALL, apply
from tests.support.lsp import Client

UNTIDY = SMALL.replace("  hosts = local", "    hosts=local").replace("[1, 2]", "[ 1,2 ]")


def formatted(client: Client, uri: str) -> Any:
    options = {"tabSize": 2, "insertSpaces": True}
    return client.request("textDocument/formatting", {"textDocument": {"uri": uri}, "options": options})


def fixes(client: Client, uri: str, found: dict[str, Any], **context: Any) -> list[dict[str, Any]]:
    params = {"textDocument": {"uri": uri}, "range": found["range"], "context": {"diagnostics": [found], **context}}
    answer: list[dict[str, Any]] = client.request("textDocument/codeAction", params)
    return answer


def test_formatting_gives_what_the_command_line_would_in_few_edits(client: Client) -> None:
    uri = client.open("untidy.bench", UNTIDY)
    edits = formatted(client, uri)
    assert apply(UNTIDY, edits) == format_source(Source("untidy.bench", UNTIDY))
    assert 0 < sum(edit["range"]["end"]["line"] - edit["range"]["start"]["line"] for edit in edits) < UNTIDY.count("\n")


def test_formatting_what_is_formatted_edits_nothing(client: Client) -> None:
    uri = client.open("tidy.bench", format_source(Source("tidy.bench", SMALL)))
    assert formatted(client, uri) == []


def test_a_spec_with_a_syntax_error_is_left_as_it_is(client: Client) -> None:
    uri = client.open("broken.bench", UNTIDY + "metric broken =\n")
    assert formatted(client, uri) is None


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param("workloads = [rr]", "workloads = [rrr]", id="a name"),
        pytest.param("measure   = 1 s", "mesure   = 1 s", id="an attribute"),
        pytest.param("engine = rocksdb", "engine = rockdb", id="a word"),
        pytest.param("throughput[two]", "throughptu[two]", id="a measure"),
        pytest.param("db_bench.readrandom", "db_bench.readrandm", id="a benchmark"),
        pytest.param("over threads", "over thread", id="a dimension"),
        pytest.param("color hardware", "colour hardware", id="an option"),
        pytest.param("USD/Mop", "USD/mop", id="a unit"),
    ],
)
def test_a_slip_is_mended_by_its_quick_fix(client: Client, right: str, wrong: str) -> None:
    text = SMALL.replace(right, wrong, 1)
    assert text != SMALL
    uri = client.open("slip.bench", text)
    found = client.diagnostics(uri)
    [action] = [action for each in found for action in fixes(client, uri, each) if action["diagnostics"] == [each]][:1]
    assert action["kind"] == "quickfix"
    assert action["isPreferred"] is True
    mended = apply(text, action["edit"]["changes"][uri])
    assert mended == SMALL
    client.change(uri, {"text": mended})
    assert client.diagnostics(uri) == []


def test_only_the_fixes_of_the_place_are_offered(client: Client) -> None:
    uri = client.open("slip.bench", SMALL.replace("[rr]", "[rrr]").replace("rocksdb", "rockdb"))
    found = client.diagnostics(uri)
    assert [[action["title"] for action in fixes(client, uri, each)] for each in found] == [
        ["Change to `rocksdb`"],
        ["Change to `rr`"],
    ]


def test_a_client_that_wants_other_actions_gets_none(client: Client) -> None:
    uri = client.open("slip.bench", SMALL.replace("[rr]", "[rrr]"))
    [found] = client.diagnostics(uri)
    assert fixes(client, uri, found, only=["refactor"]) == []
    assert len(fixes(client, uri, found, only=["quickfix"])) == 1


def test_fixes_are_of_the_text_as_it_is_now(client: Client) -> None:
    """The client asks right after a change, before the diagnostics of it have come."""
    text = SMALL.replace("[rr]", "[rrr]")
    uri = client.open("slip.bench", text)
    [found] = client.diagnostics(uri)
    client.change(uri, {"text": "\n" + text})
    found["range"]["start"]["line"] += 1
    found["range"]["end"]["line"] += 1
    [action] = fixes(client, uri, found)
    assert apply("\n" + text, action["edit"]["changes"][uri]) == "\n" + SMALL
