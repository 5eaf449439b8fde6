"""Measures how many misleading claims are caught, and how many honest ones are refused, in a corpus of sentences.

The tables of words are tuned with `corpora/claims.toml`, `more_claims.toml`, `vendor_claims.toml` and
`published_sentences.txt`. The sentences in `kept_aside.toml` were written without knowledge of the tables. They serve
only for measuring, so they are not shown. `python -m tests.compiler.test_claims_corpus` prints both shares.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from benchbrief.compiler.compile import check
from tests.compiler.test_claims import SPEC

CORPORA = Path(__file__).parent / "corpora"
HONEST = "honest"
PUBLISHED = "published"
TITLE = "typed in a title"
GROUPS = {"misleading": "", "honest": HONEST, "title_without": PUBLISHED, "title_with": TITLE}
RIGHT = {
    "base": {"E0832"},
    "bound": {"E0833", "E0834"},
    "ratio": {"E0835", "E0836", "E0840"},
    "typed": {"E0837"},
    "decided": {"E0841", "E0842"},
    "direction": {"E0846"},
    "alike": {"E0847"},
    "typed in a title": {"W0760"},
}
"""For each rule, the codes that are expected for a misleading claim. One of them is enough."""
WANTED = {"misleading": 0.95, HONEST: 0.95, PUBLISHED: 1.0}
"""The required share of correctly judged sentences of each kind."""
REACHED = {"misleading": (0.99, 0.95), HONEST: (1.0, 0.95), PUBLISHED: (1.0, 1.0)}
"""The shares reached so far, which must not get lower: for the sentences used for tuning, and for those kept aside."""
TYPED_IN_A_TITLE = "W0760"
OTHER_UNIT = "E0747"
"""The code for a number whose unit differs from the unit in the sentence. This is always a finding."""
_TOGETHER = 20
"""The number of sentences per spec. More sentences may cause so many findings that the compiler shows only the first
ones."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a corpus. `group` is its rule, or says that the sentence is honest or published. `value` is empty
    in a title."""

    group: str
    language: str
    text: str
    value: str
    tuning: bool

    @property
    def line(self) -> str:
        if self.value:
            return f'claim NAME "{self.text}" {{ value = {self.value} }}'
        return f'report NAME "{self.text}" {{ subtitle = "{self.text}"  language = {self.language}  text = "Text." }}'

    @property
    def kind(self) -> str:
        return "misleading" if self.group in RIGHT else self.group

    def right(self, codes: set[str]) -> bool:
        """Return whether the codes found for the sentence are the expected ones."""
        if self.group in RIGHT:
            return bool(codes & RIGHT[self.group])
        return not codes


def sentences() -> list[Sentence]:
    """Return all sentences: those for tuning, and those kept aside."""
    published = (CORPORA / "published_sentences.txt").read_text(encoding="utf-8").splitlines()
    found = [Sentence(PUBLISHED, "ja" if max(text) > "\u3000" else "en", text, "", tuning=True) for text in published]
    for name, tuning in (("claims", True), ("more_claims", True), ("vendor_claims", True), ("kept_aside", False)):
        read = tomllib.loads((CORPORA / f"{name}.toml").read_text(encoding="utf-8"))
        for kind, group in (
            ("misleading", ""),
            ("honest", HONEST),
            ("title_without", PUBLISHED),
            ("title_with", TITLE),
        ):
            for each in read.get(kind, ()):
                text = each.get("sentence") or each["text"]
                of = group or each["rule"]
                found.append(Sentence(of, each["language"], text, each.get("value", ""), tuning=tuning))
    return found


def found_codes(asked: list[Sentence], folder: Path) -> list[set[str]]:
    """Compile the sentences, many in each spec. Return the errors and title warnings of each sentence."""
    return [codes for start in range(0, len(asked), _TOGETHER) for codes in _of_spec(asked[start:][:_TOGETHER], folder)]


def _of_spec(asked: list[Sentence], folder: Path) -> list[set[str]]:
    """Compile the sentences in one spec. The line of a finding shows the sentence that it is about."""
    spec = folder / "spec.bench"
    lines = [each.line.replace("NAME", f"n{number}", 1) for number, each in enumerate(asked)]
    spec.write_text("\n".join([SPEC, *lines]), encoding="utf-8")
    first = SPEC.count("\n") + 2
    codes: list[set[str]] = [set() for _ in asked]
    for each in check(spec).diagnostics:
        if each.span and each.span.line >= first and (each.severity == "error" or each.code == TYPED_IN_A_TITLE):
            codes[each.span.line - first].add(each.code)
    return codes


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Sentence, set[str]]]:
    asked = sentences()
    return list(zip(asked, found_codes(asked, tmp_path_factory.mktemp("corpus")), strict=True))


@pytest.mark.long
def test_a_sentence_of_the_corpus_has_no_mistakes_but_those_of_its_words(
    tried: list[tuple[Sentence, set[str]]],
) -> None:
    known = {TYPED_IN_A_TITLE, OTHER_UNIT, *(code for codes in RIGHT.values() for code in codes)}
    assert [(each.text, codes) for each, codes in tried if codes - known] == []


@pytest.mark.long
@pytest.mark.parametrize(("kind", "least"), REACHED.items())
def test_enough_sentences_are_judged_rightly(
    kind: str, least: tuple[float, float], tried: list[tuple[Sentence, set[str]]]
) -> None:
    for tuning, share in zip((True, False), least, strict=True):
        right = [each.right(codes) for each, codes in tried if (each.kind, each.tuning) == (kind, tuning)]
        assert sum(right) >= share * len(right), "\n".join(table(tried))


def table(tried: list[tuple[Sentence, set[str]]]) -> list[str]:
    """Return lines that show how many sentences are judged correctly, by rule and language and then by kind. Sentences
    for tuning and those kept aside are counted separately."""

    def row(name: str, of: list[tuple[Sentence, set[str]]], wanted: str = "") -> str:
        halves = ([each.right(codes) for each, codes in of if each.tuning is half] for half in (True, False))
        tuning, aside = (f"{sum(half)}/{len(half)}" for half in halves)
        return f"{name:20}{tuning:>10}{aside:>12}{wanted:>8}".rstrip()

    names = dict.fromkeys((each.group, each.language) for each, _ in tried)
    return [
        f"{'judged rightly':20}{'tuning':>10}{'kept aside':>12}{'wanted':>8}",
        *(row(" ".join(name), [it for it in tried if (it[0].group, it[0].language) == name]) for name in names),
        *(row(kind, [it for it in tried if it[0].kind == kind], f"{share:.0%}") for kind, share in WANTED.items()),
    ]


def main() -> None:
    """Print how many sentences are judged correctly, and which of those for tuning are not."""
    asked = sentences()
    with TemporaryDirectory() as folder:
        tried = list(zip(asked, found_codes(asked, Path(folder)), strict=True))
    print("\n".join(table(tried)))
    for each, codes in tried:
        if each.tuning and not each.right(codes):
            print(f"{each.group} {each.language}: {each.text} = {each.value} {sorted(codes)}")


if __name__ == "__main__":
    main()
