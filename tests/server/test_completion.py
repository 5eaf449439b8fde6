"""Tests completion during typing, over the real protocol. In the texts, `|` is the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbrief.compiler import word_meanings
from benchbrief.compiler.blocks import arrivals
from tests.server.specs import SMALL, VARIED, cursor
from tests.support.lsp import Client, session


def items(client: Client, text: str, before: str = SMALL) -> list[dict[str, Any]]:
    """Return the suggestions at the `|` of `text`, which is typed at the end of a spec without mistakes."""
    uri = client.open("typed.bench", before)
    whole, line, character = cursor(before + text)
    client.change(uri, {"text": whole})
    answer = client.at("completion", uri, line, character)
    client.close_document(uri)
    found: list[dict[str, Any]] = sorted(answer["items"], key=lambda item: item["sortText"])
    return found


def labels(client: Client, text: str, before: str = SMALL) -> list[str]:
    return [item["label"] for item in items(client, text, before)]


def assert_offered(client: Client, text: str, wanted: list[str], unwanted: list[str]) -> None:
    """Check that all of `wanted`, and none of `unwanted`, is suggested at the cursor."""
    found = labels(client, text)
    assert set(wanted) <= set(found)
    assert not set(unwanted) & set(found)


def test_an_empty_line_offers_every_declaration_as_a_snippet(client: Client) -> None:
    found = items(client, "|", before="")
    assert [item["label"] for item in found] == [
        *("hardware", "client", "factor", "database", "workload", "probe", "experiment", "scheduler", "profile"),
        *("claim", "report", "metric", "expect", "param", "use"),
    ]
    assert {item["insertTextFormat"] for item in found} == {2}
    assert found[0]["textEdit"]["newText"].startswith('hardware ${1:name} "${2:Label}" {\n')


def test_a_client_without_snippets_gets_plain_words(tmp_path: Path) -> None:
    with session(tmp_path) as plain:
        found = items(plain, "|", before="")
    assert [item["textEdit"]["newText"] for item in found][:2] == ["hardware", "client"]
    assert all("insertTextFormat" not in item for item in found)


def test_attributes_come_with_what_must_be_said_first_and_without_what_is_said(client: Client) -> None:
    found = items(client, "experiment e {\n  hardware = [two]\n  |\n  threads = 8\n}\n")
    names = [item["label"] for item in found]
    assert names[0] == "workloads"
    assert {"measure", "phases", "repeats", "probes"} <= set(names)
    assert not {"hardware", "threads"} & set(names)
    assert found[0]["textEdit"]["newText"] == "workloads = "
    assert "What the load does." in found[0]["documentation"]["value"]


def test_of_two_attributes_that_bar_each_other_only_one_is_offered(client: Client) -> None:
    assert "phases" not in labels(client, "experiment e {\n  measure = 1 s\n  |\n}")


def test_a_workload_is_offered_what_its_family_has(client: Client) -> None:
    of_db_bench = labels(client, "workload w from rr {\n  |\n}")
    assert "value_size" in of_db_bench
    assert "fields" not in of_db_bench
    of_ycsb = labels(client, "workload w from ycsb.a {\n  |\n}")
    assert "fields" in of_ycsb
    assert "value_size" not in of_ycsb


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        pytest.param("experiment e { hardware = [|", ["box.variants", "one", "two"], ["rr", "gain"], id="hardware"),
        pytest.param("experiment e { hardware = box.|", ["one", "two", "variants"], ["rr"], id="variants of a group"),
        pytest.param("experiment e { workloads = [|] }", ["rr"], ["box", "one", "gain"], id="workloads"),
        pytest.param("experiment e { database = | }", ["rocks"], ["rr"], id="databases"),
        pytest.param("experiment e { probes = [|", ["disk", "cpu"], ["rr"], id="probes"),
        pytest.param("experiment e { repeats = 3, |", ["interleaved", "random", "grouped"], [], id="orders"),
        pytest.param("experiment e { threads = |", ["range", "knee", "adaptive", "ramp.knee"], ["one"], id="ramps"),
        pytest.param("experiment e { target = |", ["range", "adaptive", "highest"], ["knee"], id="offered loads"),
        pytest.param("experiment e { measure = |", ["until_steady", "20 min"], ["phases"], id="measured times"),
        pytest.param(
            "experiment e { measure = until_steady(|", ["within", "from", "to"], ["points"], id="until steady"
        ),
        pytest.param("experiment e { arrivals = |", ["poisson", "steps", "closed"], ["knee"], id="arrivals"),
        pytest.param(
            "experiment e { arrivals = poisson(|", ["queue", "lag", "timeout", "give_up"], ["stalls"], id="bounds"
        ),
        pytest.param(
            "experiment e { arrivals = closed(timeout: 2 s, |", ["stalls", "give_up"], ["queue"], id="of a closed loop"
        ),
        pytest.param("experiment e { target = highest(|", ["where", "within", "held_out"], ["points"], id="highest"),
        pytest.param("experiment e { threads = adaptive(|", ["points"], ["from"], id="adaptive"),
        pytest.param("experiment e { threads = range(1, 64, |", ["step", "factor", "steps"], [], id="arguments"),
        pytest.param("workload w from |", ["rr", "ycsb.a", "db_bench.readrandom"], ["w", "box"], id="bases"),
        pytest.param("workload w from ycsb.|", ["a", "f"], ["readrandom"], id="core workloads"),
        pytest.param("workload w from db_bench.rea|", ["readrandom"], ["a"], id="benchmarks"),
        pytest.param("workload w | {", ["from"], [], id="from"),
        pytest.param("hardware h { power = |", ["ipmi", "redfish"], ["rr"], id="meters"),
        pytest.param('hardware h { hosts = slurm("nvme", 4, |', ["partition"], ["user"], id="arguments of a scheduler"),
        pytest.param('hardware h { power = ipmi("bmc", |', ["user", "password"], ["ipmi"], id="arguments of a meter"),
        pytest.param("hardware h { hosts = |", ["local"], [], id="hosts"),
        pytest.param("database d { engine = |", ["mongodb", "rocksdb"], [], id="engines"),
        pytest.param("database d { tool = |", ["ycsb", "db_bench"], [], id="tools"),
        pytest.param("database d { options { compression = |", ['"zstd"', '"none"'], [], id="quoted words"),
        pytest.param("database d { options { direct_io = |", ["true", "false"], [], id="flags"),
        pytest.param("database d { options { |", ["compression", "cache"], ["engine"], id="options"),
        pytest.param("profile p { override |", ["workload", "experiment"], ["profile"], id="kinds to override"),
        pytest.param("profile p { override workload |", ["rr"], ["ramp"], id="names to override"),
        pytest.param("profile p { override experiment { |", ["measure", "threads"], ["records"], id="overrides"),
    ],
)
def test_values_are_of_the_kind_that_the_attribute_takes(
    client: Client, text: str, wanted: list[str], unwanted: list[str]
) -> None:
    assert_offered(client, text, wanted, unwanted)


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        pytest.param("experiment e { measure = 20 |", ["min", "s", "h"], ["GB", "ops", "W"], id="a time"),
        pytest.param("experiment e { measure = 20 mi| }", ["min"], ["MiB"], id="begun"),
        pytest.param("experiment e { measure = 20m|", ["min"], ["MiB"], id="right behind the digits"),
        pytest.param("database d { options { cache = 64 |", ["GB", "MiB"], ["s", "W"], id="an amount of data"),
        pytest.param("workload w from rr { write_rate = 20 |", ["B/s"], ["s", "W"], id="a rate"),
        pytest.param("experiment e { probes = [disk every 1 |", ["s", "min"], ["GB"], id="an interval"),
        pytest.param("metric m in |", ["%", "USD", "s", "W"], [], id="the unit of a metric"),
        pytest.param("hardware h { memory = 64 |", ["GiB", "GB", "USD"], [], id="a fact"),
    ],
)
def test_units_are_of_the_dimension_that_the_attribute_takes(
    client: Client, text: str, wanted: list[str], unwanted: list[str]
) -> None:
    assert_offered(client, text, wanted, unwanted)


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        pytest.param(
            "metric m = |", ["throughput", "gain", "price", "max", "latency.p99"], ["range", "rr"], id="metric"
        ),
        pytest.param("metric m = gain + |", ["throughput", "cost"], [], id="behind an operator"),
        pytest.param("expect |", ["gain", "throughput"], [], id="expectation"),
        pytest.param("metric m = latency.|", ["p99", "mean", "max"], ["read", "throughput"], id="statistics"),
        pytest.param("metric m = disk.|", ["read", "write"], ["p99"], id="family"),
        pytest.param("metric m = max(throughput |", ["over", "when"], ["throughput"], id="over"),
        pytest.param("metric m = max(throughput over |", ["threads", "hardware", "phase"], ["throughput"], id="dims"),
        pytest.param("metric m = max(throughput over threads, |", ["workload", "when"], ["gain"], id="more dims"),
        pytest.param("metric m = throughput[|", ["one", "two", "rr", "read", "threads:"], ["box", "gain"], id="keys"),
        pytest.param("metric m = throughput[one, |", ["rr", "threads:"], ["gain"], id="more keys"),
        pytest.param("metric m = throughput[workload: |", ["rr"], ["one", "read"], id="keys of a dimension"),
        pytest.param("metric m = gain, |", ["higher is better", "lower is better"], [], id="direction"),
        pytest.param("metric m = gain, higher |", ["is better"], ["by"], id="half a direction"),
        pytest.param("metric m in ops/|", ["s", "W"], ["in"], id="units of a quotient"),
        pytest.param('report r { text = "a {|', ["gain", "range", "two", "rr", "workload"], [], id="hole"),
        pytest.param('report r { text = "a {two.|', ["label", "price"], ["gain"], id="fields"),
        pytest.param('report r { text = """\n a {range(gain over |', ["threads"], ["gain"], id="hole of a long text"),
        pytest.param("report r { |", ["template", "text", "figure", "each"], ["rows", "hosts"], id="elements"),
        pytest.param("report r { template = |", ["technical_brief", "blog"], [], id="templates"),
        pytest.param("report r { language = |", ["en", "ja"], [], id="languages"),
        pytest.param("report r { disclosure = |", ["automatic"], [], id="words"),
        pytest.param('report r { figure "F" { |', ["line", "bars", "curve", "note"], ["rows"], id="series"),
        pytest.param('report r { figure "F" { line = throughput |', ["by"], [], id="by"),
        pytest.param('report r { figure "F" { line = throughput by |', ["threads", "phase"], ["gain"], id="axis"),
        pytest.param('report r { figure "F" { line = throughput by threads, |', ["color", "dashed"], [], id="options"),
        pytest.param(
            'report r { figure "F" { line = throughput by threads, color |', ["hardware"], ["gain"], id="colours"
        ),
        pytest.param('report r { figure "F" { line = gain by threads, axis |', ["left", "right"], ["gain"], id="sides"),
        pytest.param('report r { table "T" { rows = |', ["workload", "facts", "gain"], [], id="rows"),
        pytest.param("report r { com|", ["compare"], ["rows"], id="compare"),
        pytest.param('report r { compare "C" { |', ["rows", "columns"], ["line", "hosts"], id="attributes of compare"),
        pytest.param('report r { compare "C" { rows = |', ["workload", "threads"], [], id="rows of compare"),
        pytest.param('report r { compare "C" { columns = |', ["throughput", "gain"], ["range"], id="compared"),
        pytest.param('report r { compare "C" { columns = throughput |', ["by"], [], id="by in compare"),
        pytest.param('report r { compare "C" { columns = throughput by |', ["hardware"], ["gain"], id="contenders"),
        pytest.param("report r { theme { |", ["cover", "palette"], ["line"], id="theme"),
        pytest.param("report r { theme { palette { |", ["one", "rr", "ramp", "color"], ["line"], id="palette"),
        pytest.param("report r { theme { palette { one = |", ["grey", "accent"], ["dashed"], id="colour"),
        pytest.param('report r { headline "{gain}" = "x"\n|', ["headline", "footnote"], [], id="headlines"),
        pytest.param("report r { layout = |", ["pages", "one_page"], [], id="layout"),
        pytest.param("report r { disclosure = |", ["automatic", "in_brief"], [], id="disclosure"),
        pytest.param("report r { each |", ["workload", "hardware"], ["threads"], id="each"),
        pytest.param("report r { formula |", ["gain", "cost"], ["throughput"], id="formulas"),
        pytest.param("report r { formula gain for |", ["rr", "threads:"], [], id="keys of a formula"),
    ],
)
def test_expressions_are_offered_what_they_are_made_of(
    client: Client, text: str, wanted: list[str], unwanted: list[str]
) -> None:
    assert_offered(client, text, wanted, unwanted)


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        pytest.param('report r "A {|', True, id="title of a report"),
        pytest.param('report r { section "A {|', True, id="title of a section"),
        pytest.param('report r { figure "A" { claim = |', True, id="claim of a figure"),
        pytest.param("report r { headline = [more, |", True, id="headlines"),
        pytest.param('report r { callout "A" { text = "It is {|', True, id="text"),
        pytest.param('report r { figure "A" { line = |', False, id="series"),
        pytest.param('claim other "A {|', False, id="sentence of a claim"),
    ],
)
def test_claims_are_offered_where_a_report_says_them(client: Client, text: str, offered: bool) -> None:
    claimed = f'claim more "{{value:+.0%}}" {{ value = max(gain over threads) }}\n{text}'
    assert ("more" in labels(client, claimed)) is offered


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        pytest.param("experiment e { threads = knee(|", ["from", "to", "latency"], ["steps"], id="search"),
        pytest.param("experiment e { threads = knee(latency: |", ["p99", "mean"], ["from"], id="statistic"),
        pytest.param("experiment e { threads = range(1, 8, |", ["step", "factor", "steps"], [], id="ramp"),
        pytest.param('hardware h { power = ipmi("bmc", user: |', ["env"], ["ipmi", "secret"], id="user"),
        pytest.param('hardware h { power = ipmi("bmc", password: |', ["secret"], ["ipmi", "env"], id="password"),
    ],
)
def test_arguments_of_calls_are_offered_by_name_and_with_what_they_take(
    client: Client, text: str, wanted: list[str], unwanted: list[str]
) -> None:
    assert_offered(client, text, wanted, unwanted)


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        pytest.param("factor f {\n  |", ["levels", "default", "level"], ["hosts", "vsize"], id="attributes"),
        pytest.param("factor codec {\n  default = |", ["none", "lz4"], ["codec", "small"], id="default"),
        pytest.param("experiment e { vary = |", ["codec", "vsize", "tuning"], ["rr", "none"], id="varied"),
        pytest.param("experiment e { vary = [codec, |", ["vsize"], ["none"], id="more that is varied"),
        pytest.param("experiment e { vary = [codec[|", ["none", "zstd"], ["codec", "small"], id="levels of a subset"),
        pytest.param("experiment e { vary = [vsize[|", ["100 B", "1 kB"], ["none"], id="numbers of a subset"),
        pytest.param("experiment e { when = |", ["codec", "vsize"], ["none"], id="condition"),
        pytest.param("experiment e { when = codec != |", ["none", "lz4"], ["codec", "large"], id="compared"),
        pytest.param("experiment e { when = vsize > |", ["100 B"], ["none"], id="compared number"),
        pytest.param("experiment e { when = codec != none |", ["and", "or"], ["codec"], id="more conditions"),
        pytest.param("database d { options { compression = |", ["codec", '"zstd"'], [], id="in an option"),
        pytest.param("database d { options { cache = tuning.|", ["cache", "direct"], ["small"], id="of a bundle"),
        pytest.param('database d { path = "/x/{|', ["codec", "vsize"], [], id="in a path"),
        pytest.param("workload w from rr { value_size = |", ["vsize"], [], id="in a workload"),
        pytest.param("metric m = |", ["vsize", "throughput"], [], id="in a metric"),
        pytest.param("metric m = throughput[|", ["none", "large", "codec:", "100 B"], ["codec"], id="keys"),
        pytest.param("metric m = throughput[codec: |", ["none", "lz4"], ["large", "rr"], id="keys of a factor"),
        pytest.param("metric m = max(throughput over |", ["codec", "threads"], ["none"], id="over"),
        pytest.param("report r { each |", ["codec", "workload"], [], id="each"),
        pytest.param('report r { table "T" { rows = |', ["codec", "workload"], [], id="rows"),
        pytest.param('report r { figure "F" { line = gain by threads, color |', ["codec"], ["none"], id="colours"),
        pytest.param('report r { text = "{|', ["codec", "none", "large"], [], id="in a text"),
    ],
)
def test_factors_and_their_levels_are_offered_where_they_may_stand(
    client: Client, text: str, wanted: list[str], unwanted: list[str]
) -> None:
    found = labels(client, text, before=VARIED)
    assert set(wanted) <= set(found)
    assert not set(unwanted) & set(found)


def test_files_to_use_are_offered_from_the_folder_of_the_spec(client: Client) -> None:
    (client.folder / "lab.bench").write_text("hardware box { hosts = local }\n")
    (client.folder / "typed.bench").write_text("")
    (client.folder / "parts").mkdir(exist_ok=True)
    (client.folder / "parts" / "disks.bench").write_text("")
    found = items(client, 'use "la|b"', before="")
    assert [item["label"] for item in found][:2] == ["lab.bench", "parts/disks.bench"]
    place = found[0]["textEdit"]["range"]
    assert (place["start"]["character"], place["end"]["character"]) == (5, 8)
    (client.folder / "parts" / "disks.bench").unlink()


@pytest.mark.parametrize(
    "text", ["# a comm|ent", 'report r { text = "the thr|', 'report r { text = "{gain:.|', 'hardware h "La|bel" {']
)
def test_nothing_is_offered_in_comments_and_plain_texts(client: Client, text: str) -> None:
    assert labels(client, text) == []


def test_the_whole_word_is_replaced(client: Client) -> None:
    [item] = [item for item in items(client, "metric m = thr|oughput", before="") if item["label"] == "throughput"]
    assert item["textEdit"]["range"] == {"start": {"line": 0, "character": 11}, "end": {"line": 0, "character": 21}}


def test_names_of_an_unfinished_declaration_stay_known_while_it_is_typed(client: Client) -> None:
    """The experiment that names the workload is being typed above it, in an unclosed block."""
    uri = client.open("typed.bench", SMALL)
    text = SMALL.replace("  workloads = [rr]\n", "  workloads = [|\n")
    whole, line, character = cursor(text)
    client.change(uri, {"text": whole})
    found = [item["label"] for item in client.at("completion", uri, line, character)["items"]]
    client.close_document(uri)
    assert found == ["rr"]


def test_after_a_blank_only_what_must_follow_is_offered(client: Client) -> None:
    uri = client.open("typed.bench", SMALL)
    asked = {"triggerKind": 2, "triggerCharacter": " "}
    for text, offered in (("experiment e { database = |", True), ("experiment e { measure = 1 s |", False)):
        whole, line, character = cursor(SMALL + text)
        client.change(uri, {"text": whole})
        assert bool(client.at("completion", uri, line, character, context=asked)["items"]) == offered
    client.close_document(uri)


def test_parameters_are_offered_as_values(client: Client) -> None:
    found = items(client, "param size = 2k\nworkload w from rr {\n  records = |\n}\n")
    [item] = [item for item in found if item["label"] == "size"]
    assert "param size = 2k" in item["documentation"]["value"]


def test_arrivals_have_the_arguments_that_the_checker_takes() -> None:
    assert list(word_meanings.ARRIVALS) == list(arrivals.ARGUMENTS)
    assert {kind: {*word_meanings.ARGUMENTS[kind]} for kind in arrivals.ARGUMENTS} == {
        kind: {*names} for kind, names in arrivals.ARGUMENTS.items()
    }
