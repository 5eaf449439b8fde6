"""Mistakes in the language of a report and in a catalogue of words (E078x, W0750), with their codes and prose."""

from __future__ import annotations

from benchbrief.compiler.problems import CompileProblem, Misspelt

_LISTED = 3


class UnknownLanguage(Misspelt):
    code = "E0780"
    stands_alone = True
    says = "there are no words for a brief in `{word}`"
    otherwise = "there are {all_known}; for another, put a catalogue of its words beside the spec, as `{word}.toml`"


class UnreadableCatalogue(CompileProblem):
    code = "E0781"
    stands_alone = True
    says = "the words in {file} can't be read: {why}"
    hint = 'it is a TOML file with a line `key = "text"` for each word'
    file: str
    why: str


class WrongWord(CompileProblem):
    """A wrong entry of a catalogue, with the next step."""

    code = "E0782"
    stands_alone = True
    says = "`{key}` in {file} {why}"
    hint = "{remedy}"
    file: str
    key: str
    why: str
    remedy: str


class MissingWords(CompileProblem):
    code = "W0750"
    says = "{file} lacks words of a brief, such as {some}: they will be in English"
    hint = "add them; `bench words` prints the English ones"
    file: str
    missing: tuple[str, ...]

    @property
    def some(self) -> str:
        return ", ".join(f"`{key}`" for key in self.missing[:_LISTED])
