"""Tests that reading a file declaration by declaration gives the same result as reading it at once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchbrief.dsl.diagnostics.diagnostic import Diagnostic, SpecError
from benchbrief.dsl.read_files import decode
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.recover import PartlyRead, parse_with_gaps
from benchbrief.server.documents import Documents, Parsed
from tests.server.specs import SMALL

ROOT = Path(__file__).parents[2]
SPECS = sorted(path for folder in ("examples", "tests") for path in (ROOT / folder).rglob("*.bench"))
CHANGES = 150
INSERTED = ("{", "}", '"', '"""', "\n", "metric m = 1\n", "=", "[", " ", "hardware", "#", "x", "1 GB", "\nuse")


def read(documents: Documents, text: str, version: int = 1) -> Parsed:
    path = documents.root / "spec.bench"
    documents.opened(path.as_uri(), version, text)
    return documents.snapshot().parsed(path)


def assert_same(parsed: Parsed) -> None:
    """Check that the result is the same as from reading the whole text at once."""
    text = parsed.text.text
    whole = read_whole(parsed.whole)
    if isinstance(whole, SpecError):
        assert parsed.tree is None
        assert parsed.error is not None, text
        here = [described(each, parsed) for each in parsed.error.diagnostics]
        assert here == [described(each) for each in whole.diagnostics], text
        if isinstance(whole, PartlyRead):
            assert isinstance(parsed.error, PartlyRead)
            assert ast.same(parsed.error.tree, whole.tree), text
        return
    assert parsed.tree is not None, text
    assert ast.same(parsed.tree, whole), text
    starts = [parsed.offset(declaration.span) for declaration in parsed.tree.declarations]
    assert starts == [declaration.span.start for declaration in whole.declarations]
    assert all(
        each.span.text == other.span.text for each, other in zip(parsed.declarations, whole.declarations, strict=True)
    )


def read_whole(source: Source) -> ast.File | SpecError:
    try:
        return parse_with_gaps(decode(source.text.encode(), source.name))
    except SpecError as error:
        return error


def described(diagnostic: Diagnostic, parsed: Parsed | None = None) -> tuple[str, str, str, int]:
    span = diagnostic.span
    assert span is not None
    start = parsed.offset(span) if parsed else span.start
    return diagnostic.code, diagnostic.summary, diagnostic.help, start


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_spec_reads_the_same(path: Path, tmp_path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
    assert_same(read(Documents(root=tmp_path), text))


@pytest.mark.parametrize("seed", range(4))
def test_a_spec_reads_the_same_after_every_change(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)  # noqa: S311  # to choose changes, the same in every run
    documents, text = Documents(root=tmp_path), SMALL
    for version in range(CHANGES):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice((0, 0, 1, 3, 20)))
        text = text[:at] + rng.choice(INSERTED) + text[end:]
        if version % 10 == 9:
            text = SMALL  # mended
        assert_same(read(documents, text, version))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("experiment e {\nhardware = a\nworkloads = b\n}\n", id="attributes at the margin"),
        pytest.param("metric a =\n1 +\nthroughput\nmetric b = 2\n", id="lines"),
        pytest.param("metric a = max(b over\nworkload)\n", id="a keyword as a name at the margin"),
        pytest.param('report r {\ntext = """\nhardware is\n"""\n}\n', id="a keyword in a text"),
        pytest.param("workload a from b\nworkload b from ycsb.a\n", id="no bodies"),
        pytest.param("param a = 5\nhardware b { hosts = local }\n", id="a number before a block"),
        pytest.param("# only a comment", id="a comment"),
        pytest.param("", id="nothing"),
        pytest.param("metric a = 1, higher is\nbetter metric b = 2\n", id="a break in the middle"),
        pytest.param("param a = 1\nparam a = 1\nparam a = 1\n", id="the same thrice"),
    ],
)
def test_odd_layouts_read_the_same(text: str, tmp_path: Path) -> None:
    assert_same(read(Documents(root=tmp_path), text))


def test_what_is_after_an_open_bracket_is_known_again_when_it_is_closed(tmp_path: Path) -> None:
    documents = Documents(root=tmp_path)
    before = read(documents, SMALL)
    read(documents, SMALL.replace("threads   = [1, 2]", "threads   = [1, 2"), 2)
    after = read(documents, SMALL, 3)
    assert all(a.declarations is b.declarations for a, b in zip(before.parts, after.parts, strict=True))
