"""Every mistake in reading a file (E00xx): one frozen class each, with its stable code and all of its prose."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.dsl.diagnostics.problem import Problem


@dataclass(frozen=True)
class FileMissing(Problem):
    code = "E0001"
    says = "there is no file `{name}`"
    name: str
    guess: str | None

    @property
    def help(self) -> str:
        return f"did you mean `{self.guess}`?" if self.guess else "check the path; it starts at the current folder"


@dataclass(frozen=True)
class NotAFile(Problem):
    code = "E0002"
    says = "`{name}` is a folder, not a file"
    name: str
    specs: tuple[str, ...]

    @property
    def help(self) -> str:
        if not self.specs:
            return "name a file that ends in .bench"
        return "name one of its files: " + ", ".join(f"`{spec}`" for spec in self.specs)


@dataclass(frozen=True)
class Unreadable(Problem):
    code = "E0003"
    says = "can't read `{name}`: {why}"
    name: str
    why: str

    @property
    def help(self) -> str:
        return "let this user read it: `chmod u+r`" if "permission" in self.why.lower() else ""


@dataclass(frozen=True)
class NotText(Problem):
    """`byte` is the first that is not UTF-8, `offset` its place in the file, from 0."""

    code = "E0004"
    says = "the file is not UTF-8 text"
    mark = "byte 0x{byte:02x} at offset {offset} starts no character"
    byte: int
    offset: int
    likely: str

    @property
    def help(self) -> str:
        return f"it looks like {self.likely}; save it as UTF-8" if self.likely else "save it as UTF-8"


@dataclass(frozen=True)
class HoldsNul(Problem):
    code = "E0005"
    says = "the file holds a NUL byte, so it is not text"
    mark = "at offset {offset}"
    hint = "check that this is a spec: a spec is plain text"
    offset: int


@dataclass(frozen=True)
class TooLarge(Problem):
    """A file of more bytes than `limit`; or, where `words` says so, of more words and signs."""

    code = "E0006"
    says = "`{name}` {much}, the limit for a spec"
    hint = "check that this is a spec; split a long one into files with `use`"
    name: str
    limit: int
    words: bool = False

    @property
    def much(self) -> str:
        if self.words:
            return f"has more than {self.limit:,} words and signs"
        return f"is larger than {self.limit >> 20} MiB"
