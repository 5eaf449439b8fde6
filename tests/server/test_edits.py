"""Tests formatting and quick fixes, over the real protocol."""

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


VARIANTS = """\
# one machine
hardware box "This machine" {
  hosts = local

  variant small "8 MiB" { cache = 8 MiB  direct = false }  # the default
  variant large "1 GiB" { cache = 1 GiB  direct = false }
}

database rocks {
  engine = rocksdb
  path   = "/var/tmp/bench/{cache}"
  options { cache = "{cache}"  direct_io = false }
}
workload rr from db_bench.readrandom { records = 2k }
experiment ramp {
  hardware  = [box.small, large]
  workloads = rr
  threads   = [1, 2]
  measure   = 1 s
}
metric gain in % = throughput[hardware: large] / throughput[box.small] - 1, higher is better

report brief "A larger cache" {
  text = "On {small}, {max(throughput[small] over threads):,.0fu}."
  each hardware { text = "{hardware.label}" }
  figure "Throughput" { line = throughput by threads, color hardware }
  table "Best" { rows = hardware  columns = max(throughput over threads) }
}

profile smoke { override experiment { hardware = box.small } }
"""


def test_variants_that_differ_in_options_alone_become_a_factor_by_a_quick_fix(client: Client) -> None:
    text = VARIANTS.replace("  direct = false", "").replace("  direct_io = false", "")
    uri = client.open("variants.bench", text)
    [found] = client.diagnostics(uri)
    assert found["code"] == "W0215"
    [action] = fixes(client, uri, found)
    assert action["title"] == ("Write a factor of these levels in their place, and `vary = cache` in the experiments")
    mended = apply(text, action["edit"]["changes"][uri])
    assert (
        mended
        == """\
# one machine
hardware box "This machine" {
  hosts = local  # the default
}

factor cache "Cache" {
  small "8 MiB" = 8 MiB
  large "1 GiB" = 1 GiB
}

database rocks {
  engine = rocksdb
  path   = "/var/tmp/bench/{cache}"
  options { cache = cache }
}
workload rr from db_bench.readrandom { records = 2k }
experiment ramp {
  hardware  = box
  vary      = cache
  workloads = rr
  threads   = [1, 2]
  measure   = 1 s
}
metric gain in % = throughput[cache: large] / throughput[small] - 1, higher is better

report brief "A larger cache" {
  text = "On {small}, {max(throughput[small] over threads):,.0fu}."
  each cache { text = "{cache.label}" }
  figure "Throughput" { line = throughput by threads, color cache }
  table "Best" { rows = cache  columns = max(throughput over threads) }
}

profile smoke { override experiment { hardware = box  vary = cache[small] } }
"""
    )
    client.change(uri, {"text": mended})
    assert client.diagnostics(uri) == []


def test_variants_with_several_options_become_a_factor_of_bundles(client: Client) -> None:
    text = VARIANTS.replace("direct = false", "direct = true", 1).replace("direct_io = false", 'direct_io = "{direct}"')
    uri = client.open("variants.bench", text)
    [found] = client.diagnostics(uri)
    [action] = fixes(client, uri, found)
    mended = apply(text, action["edit"]["changes"][uri])
    assert (
        """\
factor tuning "Tuning" {
  level small "8 MiB" { cache = 8 MiB  direct = true }
  level large "1 GiB" { cache = 1 GiB  direct = false }
}
"""
        in mended
    )
    assert 'path   = "/var/tmp/bench/{tuning.cache}"' in mended
    assert "options { cache = tuning.cache  direct_io = tuning.direct }" in mended
    client.change(uri, {"text": mended})
    assert client.diagnostics(uri) == []


def test_levels_that_are_measured_by_turns_get_data_of_their_own(client: Client) -> None:
    text = VARIANTS.replace("  direct = false", "").replace('"/var/tmp/bench/{cache}"', '"/var/tmp/bench"')
    text = text.replace("{ cache = 8 MiB }", '{ cache = "none" }').replace("{ cache = 1 GiB }", '{ cache = "lz4" }')
    text = text.replace('cache = "{cache}"', 'compression = "{cache}"').replace(
        "  measure", "  repeats   = 3, interleaved\n  measure"
    )
    uri = client.open("variants.bench", text)
    found = next(each for each in client.diagnostics(uri) if each["code"] == "W0215")
    [action] = [action for action in fixes(client, uri, found) if action["diagnostics"] == [found]]
    mended = apply(text, action["edit"]["changes"][uri])
    assert 'path   = "/var/tmp/bench/{cache}"' in mended
    client.change(uri, {"text": mended})
    assert client.diagnostics(uri) == []


def test_variants_that_another_file_names_are_not_rewritten(client: Client) -> None:
    text = VARIANTS.replace("  direct = false", "").replace("  direct_io = false", "")
    start, end = text.index("experiment ramp"), text.index("metric gain")
    (client.folder / "ramp.bench").write_text(text[start:end])
    uri = client.open("variants.bench", f'use "ramp.bench"\n{text[:start]}{text[end:]}')
    found = next(each for each in client.diagnostics(uri) if each["code"] == "W0215")
    assert fixes(client, uri, found) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("cache = 8 MiB  direct", 'path = "/a"  cache = 8 MiB  direct', id="a disk too"),
        pytest.param("direct_io = false", 'direct_io = "{direct}" } sync = true {', id="no spec"),
        pytest.param("metric gain", "metric paid = cache / throughput\nmetric gain", id="a fact that a metric reads"),
        pytest.param("cache = 8 MiB ", 'prepare = command("sync")  cache = 8 MiB ', id="a state of the host"),
        pytest.param("cache = 8 MiB  direct = false", "direct = false", id="what not all variants give"),
    ],
)
def test_variants_of_other_differences_stay_hardware(client: Client, before: str, after: str) -> None:
    assert before in VARIANTS
    uri = client.open("variants.bench", VARIANTS.replace(before, after, 1))
    assert [found["code"] for found in client.diagnostics(uri) if found["code"] == "W0215"] == []


def test_a_client_that_wants_other_actions_gets_none(client: Client) -> None:
    uri = client.open("slip.bench", SMALL.replace("[rr]", "[rrr]"))
    [found] = client.diagnostics(uri)
    assert fixes(client, uri, found, only=["refactor"]) == []
    assert len(fixes(client, uri, found, only=["quickfix"])) == 1


def test_fixes_are_of_the_text_as_it_is_now(client: Client) -> None:
    """The client asks immediately after a change, before the diagnostics of the change have arrived."""
    text = SMALL.replace("[rr]", "[rrr]")
    uri = client.open("slip.bench", text)
    [found] = client.diagnostics(uri)
    client.change(uri, {"text": "\n" + text})
    found["range"]["start"]["line"] += 1
    found["range"]["end"]["line"] += 1
    [action] = fixes(client, uri, found)
    assert apply("\n" + text, action["edit"]["changes"][uri]) == "\n" + SMALL
