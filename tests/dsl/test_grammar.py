"""Tests for each rule of the grammar: what it accepts, with which result, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse, parse_expression
from benchbrief.dsl.syntax.parser_stop import DECLARATIONS as DECLARATION_WORDS
from benchbrief.dsl.syntax.parser_stop import INNER_BLOCKS
from tests.dsl.trees import series, shown, tree, value, walk

REPOSITORY = Path(__file__).resolve().parents[2]
SPECS = sorted([*(REPOSITORY / "examples").rglob("*.bench"), *Path(__file__).with_name("specs").glob("*.bench")])

QUANTITIES = {
    "96": "96",
    "20 min": "20:min",
    "75M records": "7.5e+07:records",
    "1.6 TB": "1.6:TB",
    "256 GiB": "256:GiB",
    "10GiB": "10:GiB",
    "4 kB": "4:kB",
    "120k ops/s": "120000:ops/s",
    "2k": "2000",
    "1.5M": "1.5e+06",
    "2.3k": "2300",
    "3T": "3e+12",
    "15_000 rpm": "15000:rpm",
    "1_000_000": "1e+06",
    "3.2256 USD/h": "3.2256:USD/h",
    "5 %": "5:%",
    "5%": "5:%",
    "2e3": "2000",
    "2E-3 s": "0.002:s",
    "1e3k": "1e+06",
    "5 µs": "5:µs",
    "7 €/h": "7:€/h",
    "1 ops/s/W": "1:ops/s/W",
    "20\u00a0min": "20:min",
    "5k x 2": "(5000 x 2)",
    "6 x 10 min": "(6 x 10:min)",
    "1..16": "(1 .. 16)",
    "1 s..16 s": "(1:s .. 16:s)",
    "3 / 2": "(3 / 2)",
    "3/n": "(3 / n)",
    "1 kmh": "1:kmh",
}

EXPRESSIONS = {
    "a": "a",
    "over": "over",
    "x x x": "(x x x)",
    "a + b * c": "(a + (b * c))",
    "a - b - c": "((a - b) - c)",
    "a / b / c": "((a / b) / c)",
    "(a + b) * c": "((a + b) * c)",
    "-a * b": "((- a) * b)",
    "a - -b": "(a - (- b))",
    "2 x 3 * 4": "((2 x 3) * 4)",
    "a + 1..b + 2": "((a + 1) .. (b + 2))",
    "a < b and b <= c or not d": "(((a < b) and (b <= c)) or (not d))",
    "not a == b": "(not (a == b))",
    "a != b": "(a != b)",
    "latency.p99": "latency.p99",
    "latency.p99[read, cache]": "latency.p99[read, cache]",
    "throughput[eco, threads: 96]": "throughput[eco, threads: 96]",
    "a[b][c].d": "a[b][c].d",
    "a[b,]": "a[b]",
    "f()": "f()",
    "f(1, b: 2)": "f(1, b: 2)",
    "f(1,)": "f(1)",
    'ycsb("/opt/ycsb")': "ycsb(<'/opt/ycsb'>)",
    "max(a over b)": "max(a over b)",
    "max(a - b over c, d)": "max((a - b) over c, d)",
    "mean(a over b, when c > 3)": "mean(a over b when (c > 3))",
    "mean(a over b when c)": "mean(a over b when c)",
    "mean(a, when c)": "mean(a when c)",
    "f(a, when: 3)": "f(a, when: 3)",
    "max(overlap over x)": "max(overlap over x)",
    "[]": "[]",
    "[1, 2]": "[1, 2]",
    "[1, 2,]": "[1, 2]",
    "[disk every 1 s, cpu every 500 ms on device]": "[every(disk, 1:s, -), every(cpu, 500:ms, device)]",
    "[a, [b]]": "[a, [b]]",
    '"x" == y': "(<'x'> == y)",
}

NO_EXPRESSIONS = [
    "", "+", "a +", "٥", "５ min",
    "* a", "a b", "(a", "a)", "a.", "a.5", "5.", ".5", "f(", "f(a b)", "f(,)", "a[]", "[,]", "[1 2]",
    "max(a over)", "max(over over)x", "a < b < c", "a..b..c", "a not b", "1 2", "{a}", "a every 1 s", "a by b", "5.min",
    "[a].b", "'a'", "a = b", "a && b", "f(a = 1)",
]  # fmt: skip

SERIES = {
    "a": "a",
    "3, interleaved": "3 | interleaved",
    "5, random(seed: 1)": "5 | random(seed: 1)",
    "throughput by phase, color hardware": "by(throughput; phase) | option(color hardware)",
    "bandwidth[threads: 96] by workload and hardware": "by(bandwidth[threads: 96]; workload, hardware)",
    "throughput, latency.p99[read] along threads, color hardware": (
        "throughput | along(latency.p99[read]; threads) | option(color hardware)"
    ),
    'target by target, label "ideal", dashed': "by(target; target) | option(label <'ideal'>) | dashed",
    "a by b, axis right, band confidence": "by(a; b) | option(axis right) | option(band confidence)",
    "a, b by c": "a | by(b; c)",
    "a, b x c": "a | (b x c)",
    "a, log x": "a | option(log x)",
    "a, log x, dashed": "a | option(log x) | dashed",
    "a, b every 2 s": "a | every(b, 2:s, -)",
    "a, not b": "a | (not b)",
    "disk every 1 s on device": "every(disk, 1:s, device)",
    "[nodes[eco], legacy] by workload": "by([nodes[eco], legacy]; workload)",
    "true": "true",
}

BODIES = {
    "a = 1 b = 2": "a = 1; b = 2;",
    "a = 1, b = 2": "a = 1; b = 2;",
    "a = 1, # here\n b = 2,": "a = 1; b = 2;",
    "a = x, b = y": "a = x; b = y;",
    "a = x, y, b = z": "a = x | y; b = z;",
    "a = 768 GB  memory_limit = 256 GB": "a = 768:GB; memory_limit = 256:GB;",
    "a = 1 warm_up = 2 s": "a = 1; warm_up = 2:s;",
    "client = load database = mongo": "client = load; database = mongo;",
    "from = 1 in = 2 metric = 3": "from = 1; in = 2; metric = 3;",
    'column "Gain" = "x" column "Loss" = "y"': "column <'Gain'> = <'x'>; column <'Loss'> = <'y'>;",
    "a = b, log x  mark = c": "a = b | option(log x); mark = c;",
    'a = b, log x column "Gain" = 3': "a = b | option(log x); column <'Gain'> = 3;",
    'a = b, log x  figure "B" { c = 1 }': "a = b | option(log x); figure <'B'> { c = 1; }",
    "a = b, c x d == e": "a = b | ((c x d) == e);",
    'a = 5 column "Gain" = 3': "a = 5; column <'Gain'> = 3;",
    "options { a = 1 }": "options { a = 1; }",
    "a = 1 TB options { b = 1 }": "a = 1:TB; options { b = 1; }",
    'a = b, color hardware figure "B" { c = 1 }': "a = b | option(color hardware); figure <'B'> { c = 1; }",
    "a = 5 formula gain for b": "a = 5; formula gain from gain[b] { }",
    "a = 5 options { b = 1 }": "a = 5; options { b = 1; }",
    'a = 5 variant hdd "HDD" { b = 1 }': "a = 5; variant hdd <'HDD'> { b = 1; }",
    "a = 10 min\n options { b = 1 }": "a = 10:min; options { b = 1; }",
    'a = x, dashed\n figure "B" { c = 1 }': "a = x | dashed; figure <'B'> { c = 1; }",
    'a = x, dashed figure "B" { c = 1 }': "a = x | dashed; figure <'B'> { c = 1; }",
    "repeats = 3, interleaved probes = [a]": "repeats = 3 | interleaved; probes = [a];",
    "each workload { a = 1 }": "each of workload { a = 1; }",
    "override workload { records = 2k }": "override of workload { records = 2000; }",
    "override hardware eco { cores = 2 }": "override eco of hardware { cores = 2; }",
    "formula gain for a, b, threads: 4": "formula gain from gain[a, b, threads: 4] { }",
    "formula gain": "formula gain from gain { }",
    'formula gain for a\n figure "B" { }': "formula gain from gain[a] { } figure <'B'> { }",
    'figure "A" { each workload { section "B" { } } }': "figure <'A'> { each of workload { section <'B'> { } } }",
}

DECLARATIONS = {
    "": "",
    "# only a comment": "",
    "hardware eco { }": "hardware eco { }",
    'hardware eco "5100 ECO" { }': "hardware eco <'5100 ECO'> { }",
    "workload a from ycsb.a": "workload a from ycsb.a { }",
    "workload a from b { records = 1 }": "workload a from b { records = 1; }",
    "workload a from ycsb.a workload b from ycsb.b": "workload a from ycsb.a { } workload b from ycsb.b { }",
    "profile smoke { }": "profile smoke { }",
    "probe disk { every = 1 s }": "probe disk { every = 1:s; }",
    "metric m = a": "metric m - - a None",
    'metric m "M" in ops/s/W = a / b, higher is better': "metric m <'M'> ops/s/W (a / b) higher",
    "metric m in % = a": "metric m - % a None",
    "metric m in 1/s = a, lower is better": "metric m - 1/s a lower",
    "metric m in USD/Mop = a metric n = b": "metric m - USD/Mop a None metric n - - b None",
    "expect a > 10": "expect - (a > 10)",
    'expect "fast enough" a > 10 ops/s': "expect <'fast enough'> (a > 10:ops/s)",
    "expect a > 10\nmetric b = c": "expect - (a > 10) metric b - - c None",
    "param records = 75M": "param records 7.5e+07",
    "param param = 1": "param param 1",
    'use "common.bench"': "use <'common.bench'>",
    "hardwre eco { }": "hardwre eco { }",
}

NO_DECLARATIONS = [
    "hardware", "hardware eco", "hardware 5 { }", "hardware eco { } }", "hardware eco { { } }", "a = 1", "metric",
    "metric m", "metric m in = a", "metric m = a, higher", "metric m = a, higher is worse", "expect",
    "param a", "param = 3", "use x", "use", "workload a from", "workload a from 5", "hardware eco { a }",
    "hardware eco { a = }", "hardware eco { a = 1; b = 2 }", "hardware eco { , }", "hardware eco { a = 1,, b = 2 }",
    "report r { each { } }", "report r { override { } }", "report r { formula }", "report r { formula m for }",
    "report r { a = b by }", "report r { a = b every }", "report r { a = color hardware }", "metric m in ops/s",
]  # fmt: skip


@pytest.mark.parametrize(("text", "meaning"), [*QUANTITIES.items(), *EXPRESSIONS.items()])
def test_an_expression_is_read_as(text: str, meaning: str) -> None:
    assert value(text) == meaning


@pytest.mark.parametrize(("text", "meaning"), SERIES.items())
def test_a_series_is_read_as(text: str, meaning: str) -> None:
    assert series(text) == meaning


@pytest.mark.parametrize(("text", "meaning"), BODIES.items())
def test_a_body_is_read_as(text: str, meaning: str) -> None:
    assert tree(f"report r {{ {text} }}") == f"report r {{ {meaning} }}"


@pytest.mark.parametrize(("text", "meaning"), DECLARATIONS.items())
def test_a_declaration_is_read_as(text: str, meaning: str) -> None:
    assert tree(text) == meaning


@pytest.mark.parametrize("text", NO_EXPRESSIONS)
def test_this_is_no_expression(text: str) -> None:
    with pytest.raises(SpecError):
        parse(Source("t.bench", f"param p = {text}"))
    with pytest.raises(SpecError):
        parse_expression(Source("t.bench", text), 0, len(text))


@pytest.mark.parametrize("text", NO_DECLARATIONS)
def test_this_is_no_declaration(text: str) -> None:
    with pytest.raises(SpecError):
        parse(Source("t.bench", text))


@pytest.mark.parametrize("line_end", ["\r\n", " ", "\n\n", "  # a comment\n"])
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_line_ends_and_blanks_and_comments_mean_nothing(path: Path, line_end: str) -> None:
    text = path.read_text(encoding="utf-8")
    if line_end == " ":
        text = "\n".join(line for line in text.split("\n") if "#" not in line)
        text = text.split("\nreport ", maxsplit=1)[0]  # its texts hold line ends that do mean something
    plain = tree(text)
    assert len(plain) > 500
    inside = text.split('"""')
    inside[::2] = [part.replace("\n", line_end) for part in inside[::2]]
    assert tree('"""'.join(inside)) == plain


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_node_lies_within_its_parent_and_points_at_its_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    names = 0
    for node in walk(parse(Source(path.name, text))):
        for inner in list(walk(node))[1:]:
            if not isinstance(inner, ast.Name | ast.Quantity):
                continue
            assert node.span.start <= inner.span.start <= inner.span.end <= node.span.end
        if isinstance(node, ast.Name):
            names += 1
            assert node.span.text == node.text
        if isinstance(node, ast.Quantity):
            assert (node.unit_span.text if node.unit_span else "") == node.unit
        if isinstance(node, ast.String):
            assert node.span.text[0] == node.span.text[-1] == '"'
        if isinstance(node, ast.Hole):
            assert node.span.text[0] + node.span.text[-1] == "{}"
        if isinstance(node, ast.Block):
            assert node.span.text.startswith(node.keyword.text)
            assert not node.body or node.span.text.endswith("}")
    assert names > 60


def test_an_operator_is_pointed_at() -> None:
    text = "a  >=  b"
    node = parse_expression(Source("t.bench", text), 0, len(text))
    assert isinstance(node, ast.Binary)
    assert (node.operator_span.start, node.operator_span.text) == (3, ">=")


def test_an_operation_is_underlined_with_its_brackets() -> None:
    text = "(a + b) * (c) - -(d)"
    node = parse_expression(Source("t.bench", text), 0, len(text))
    assert isinstance(node, ast.Binary)
    assert node.left.span.text == "(a + b) * (c"
    assert isinstance(node.left, ast.Binary)
    assert node.left.left.span.text == "(a + b)"


def test_an_expression_inside_a_text_is_read_where_it_stands() -> None:
    source = Source("t.bench", "before\nmax(a over b) after")
    node = parse_expression(source, 7, 20)
    assert shown(node) == "max(a over b)"
    assert (node.span.line, node.span.column, node.span.text) == (2, 1, "max(a over b)")


def test_a_whole_number_is_distinguished_from_one_with_a_fraction() -> None:
    def whole(text: str) -> bool:
        node = parse_expression(Source("t.bench", text), 0, len(text))
        assert isinstance(node, ast.Quantity)
        return node.is_integer

    assert [whole(text) for text in ("96", "1.5M", "1e3", "1.6 TB", "0.5")] == [True, True, True, False, False]


def test_the_grammar_and_the_messages_know_the_same_keywords() -> None:
    grammar = (REPOSITORY / "dsl" / "syntax" / "bench.lark").read_text(encoding="utf-8")
    listed = [set(words.split("|")) for words in re.findall(r"\(\?:([a-z_|]{40,})\)\\b", grammar)]
    assert set(INNER_BLOCKS) in listed
    assert set(DECLARATION_WORDS) in listed


def test_comments_can_be_found() -> None:
    from benchbrief.dsl.syntax.parser_stop import comments

    text = '# first\nhardware a { hosts = "#no" # second\r\n text = """\n# no\n""" }#'
    assert [span.text for span in comments(Source("t.bench", text))] == ["# first", "# second", "#"]
