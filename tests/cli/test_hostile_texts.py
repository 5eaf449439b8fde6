"""Tests that text from a spec, a file or a host never reaches the terminal as a control sequence."""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.cli import terminal
from tests.support.bench import Bench, Ended, fresh_bench
from tests.support.stored_texts import change_texts
from tests.support.warm import warm

PROPER = "a\u202eb\u2066c\u2028d\u200be\\nFORGED: f"
"""Characters that a spec's texts may contain: bidirectional overrides, a line separator, invisible characters, and a
line end."""
WILD = "a\x1b[35;7mb\x1b]8;;http://example.com\x1b\\c\x9b31md\x85e\x07f\x08g\rh\x7fi\u202ej\u2028k\nFORGED: l"
"""Characters that texts from files and hosts may contain."""
OURS = re.compile(r"(?:\r(?=\x1b\[))?\x1b\[(?:[0-9;]*m|\?25[lh]|[0-9]*[AK]|2K)|\r\n")
"""The control sequences that we send ourselves: for colours, and to redraw the live screen."""

SPEC = f"""
hardware box "Box {PROPER}" {{ hosts = "db-1.lab"  price = 2 USD/h }}
client load "Client {PROPER}" {{ hosts = "load.lab"  tool = ycsb }}
database mongo "Database {PROPER}" {{ engine = mongodb  uri = "mongodb://{{hosts}}/ycsb" }}
workload a "Workload {PROPER}" from ycsb.a {{ records = 1k }}
experiment ramp "Experiment {PROPER}" {{
  hardware = box  workloads = a  threads = [2, 4]  warm_up = 1 s  measure = 2 s
}}
metric best "Metric {PROPER}" = max(throughput over threads)
expect "Expectation {PROPER}" best > 1G ops/s
report brief "Title {PROPER}" {{
  subtitle = "Subtitle {PROPER}"  author = "Author {PROPER}"
  text = "Prose {PROPER} {{best:.0f}}"
  figure "Figure {PROPER}" {{ line = throughput by threads, label "Series {PROPER}" }}
  table "Table {PROPER}" {{ rows = workload  column "Column {PROPER}" = "{{best:.0f}}" }}
  section "Section {PROPER}" {{ text = "x" }}
  disclosure = automatic
}}
"""


def harmful(text: str) -> list[str]:
    """Return the characters that control a terminal, or that hide or reorder text."""
    return [
        char for char in text if char not in "\n\t" and not (char.isprintable() or unicodedata.category(char) == "Zs")
    ]


def harmless(ended: Ended | str) -> str:
    text = ended if isinstance(ended, str) else ended.plainly().text
    assert not harmful(text), ascii(text)
    assert not [line for line in text.split("\n") if line.startswith("FORGED")], text
    return text


def on_a_terminal(bench: Bench, *words: str) -> str:
    """Return what a command writes to a terminal, without our own control sequences."""
    shown = warm().shown(words, bench.folder, {**bench.env, "TERM": "xterm", "COLUMNS": "300"})
    text = shown.decode()
    assert "\x1b[35;7m" not in text, "a colour that is not ours"
    return OURS.sub(lambda found: "\n" if found.group() == "\r\n" else "", text)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Make a run, and put hostile characters into the texts that it stores: those of the plan, and those about hosts
    and cells in its journal."""
    with fresh_bench(tmp_path_factory.mktemp("hostile")) as bench:
        bench.spec(SPEC)
        ran = bench("run", "brief.bench", "--simulate", "--failing", "db-1.lab=100%")
        harmless(ran)
        assert "Expectation" in ran.text
        assert bench("run", "brief.bench", "--simulate").plainly().code == 0
        for run_dir in bench.run_dirs():
            change_texts(run_dir, lambda text: text + WILD)
            bench("rebuild", run_dir.name)
        yield bench


COMMANDS = [
    ("plan", "brief.bench"),
    ("plan", "brief.bench", "--json"),
    ("plan", "brief.bench", "--diff", "simulated"),
    ("plan", "brief.bench", "--diff", "simulated", "--json"),
    ("check", "brief.bench"),
    ("check", "wrong.bench"),
    ("check", "wrong.bench", "--format", "json"),
    ("check", "wrong.bench", "--format", "github"),
    ("fmt", "--diff", "brief.bench"),
    ("status", "simulated"),
    ("status", "simulated", "--json"),
    ("status", "--all"),
    ("status", "simulated", "--openmetrics"),
    ("watch", "simulated"),
    ("watch", "simulated", "--json"),
    ("report", "simulated"),
    ("report", "simulated", "--json"),
    ("rebuild", "simulated"),
    ("rebuild", "simulated", "--json"),
    ("compare", "@FIRST", "@LAST"),
    ("compare", "@FIRST", "@LAST", "--json"),
    ("query", "--run", "simulated", "SELECT chr(27) || '[35;7m' || chr(8238) AS a, * FROM cells"),
    ("query", "--run", "simulated", "--json", "SELECT chr(27) || '[35;7m' || chr(8238) AS a, * FROM cells"),
    ("query", "--run", "simulated", "--csv", "SELECT chr(27) || '[35;7m' || chr(8238) AS a, * FROM cells"),
    ("verify", "@BRIEF"),
    ("verify", "@BRIEF", "--json"),
    ("stop", "simulated"),
    ("nothing\x1b[35;7m",),
    ("check", "no\x1b[35;7m\u202efile.bench"),
    ("run", "brief.bench", "--param", "a\x1b[35;7mb"),
    ("explain", "E\x1b[35;7m"),
    ("status", "no\x1b[35;7mrun"),
]


@pytest.mark.parametrize(
    "words",
    [pytest.param(words, marks=[pytest.mark.long] if place % 6 else []) for place, words in enumerate(COMMANDS)],
    ids=lambda words: ascii(" ".join(words)),
)
def test_no_command_sends_a_text_to_the_terminal_as_it_is(simulated: Bench, words: tuple[str, ...]) -> None:
    first, last = sorted(each.name for each in simulated.run_dirs())
    brief = str(simulated.run_dirs()[-1] / "reports" / "brief-simulated.html")
    (simulated.folder / "wrong.bench").write_text(SPEC.replace("best > 1G", "bets\u202e > 1G"), "utf-8")
    names = {"@FIRST": first, "@LAST": last, "@BRIEF": brief}
    typed = [names.get(word, word) for word in words]
    ended = simulated(*typed)
    if words[0] != "fmt":  # piped, a difference is for other programs, which want it as it is
        harmless(ended)
    if "json" in words or "--json" in words:
        for document in ended.out.splitlines() if words[0] == "watch" else [ended.out]:
            json.loads(document)
    harmless(on_a_terminal(simulated, *typed))


@pytest.mark.long
def test_all_that_an_import_says_of_its_source_is_escaped(bench: Bench) -> None:
    spec = SPEC[: SPEC.index("metric")].replace("threads = [2, 4]", "threads = [2, 4]  probes = []")
    bench.spec(spec)
    on_a_line = re.sub("[\n\r\x07-\x08\x85\u2028]", " ", WILD)
    head = "".join(f"# {key}: {on_a_line}\n" for key in ("title", "publisher", "document", "licence", "url"))
    rows = "workload, threads, throughput (ops/s)\na, 2, 100\na, 4, 200\nno\x1b[35;7m\u202e, 4, 1\n"
    (bench.folder / "published\x1b[35;7m.csv").write_text(head + rows, "utf-8")
    options = [f"--{key}={WILD}" for key in ("title", "publisher", "document", "licence", "url")]
    common = ("import", "table", "published\x1b[35;7m.csv", "--spec", "brief.bench", "--skip-bad", "--again")
    for more in ([], options, ["--json"], ["--dry-run"]):
        done = bench(*common, *more)
        assert done.code == 0, done.text
        harmless(done)
        harmless(on_a_terminal(bench, *common, *more))
    for words in (("status", "--all"), ("status", "--all", "--json"), ("query", "--run", "imported", "FROM sources")):
        harmless(bench(*words))
        harmless(on_a_terminal(bench, *words))


@pytest.mark.parametrize(
    ("say", "shown"),
    [
        (lambda: terminal.show("a\x1b[31mb\u202e\nc"), "a\\x1b[31mb\\u202e c\n"),
        (lambda: terminal.show_painted("\x1b[31ma\x1b[0m\x1b]8;;x\x07b"), "a\\x1b]8;;x\\x07b\n"),
        (lambda: terminal.show_json({"a": "\x7f\x1b\u202e\U000e0001\u3042"}, indent=None),
         '{"a": "\\u007f\\u001b\\u202e\\udb40\\udc01\u3042"}\n'),
        (lambda: terminal.show_data("a\u202e".encode()), "a\u202e"),
    ],
)  # fmt: skip
def test_each_way_to_the_terminal_escapes(say: object, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    monkeypatch.setattr(sys, "stdout", out)
    assert callable(say)
    say()
    out.flush()
    assert out.buffer.getvalue().decode() == shown


def test_colours_alone_get_through_among_what_is_painted() -> None:
    text = "\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x1b\\link \x1b[2J\x9b31m \u202e"
    assert terminal.coloured(text) == "\x1b[1;31mred\x1b[0m \\x1b]8;;http://x\\x1b\\link \\x1b[2J\\x9b31m \\u202e"


def test_nothing_prints_but_the_one_module_that_escapes() -> None:
    """Only one module prints, and it escapes control characters. `run_progress.py` and the language server write to
    their own streams, but through the functions of that module."""
    allowed = {"terminal.py", "run_progress.py"}
    found = []
    room = Path(terminal.__file__).parents[1]
    modules = sorted(room.rglob("*.py"))
    assert len(modules) > 60
    for path in modules:
        if path.name in allowed or "server" in path.relative_to(room).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in ("print", "click.echo", "click.secho") or re.search(r"std(out|err)\b.*\.write$", called):
                    found.append(f"{path.name}:{node.lineno}: {called}")
    assert found == []
