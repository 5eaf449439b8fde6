"""Every mistake in reading a file (E00xx): one frozen class each, with its stable code and all of its prose."""

from __future__ import annotations

from benchbrief.dsl.diagnostics.problem import Problem


class FileMissing(Problem):
    code = "E0001"
    says = "there is no file `{name}`"
    hint = ("did you mean `{guess}`?", "check the path; it starts at the current folder")
    name: str
    guess: str | None


class NotAFile(Problem):
    code = "E0002"
    says = "`{name}` is a folder, not a file"
    hint = ("name one of its files: {specs:ticked}", "name a file that ends in .bench")
    name: str
    specs: tuple[str, ...]


class Unreadable(Problem):
    code = "E0003"
    says = "can't read `{name}`: {why}"
    name: str
    why: str

    @property
    def help(self) -> str:
        return "let this user read it: `chmod u+r`" if "permission" in self.why.lower() else ""


class NotText(Problem):
    """`byte` is the first that is not UTF-8, `offset` its place in the file, from 0."""

    code = "E0004"
    says = "the file is not UTF-8 text"
    mark = "byte 0x{byte:02x} at offset {offset} starts no character"
    hint = ("it looks like {likely}; save it as UTF-8", "save it as UTF-8")
    byte: int
    offset: int
    likely: str


class HoldsNul(Problem):
    code = "E0005"
    says = "the file holds a NUL byte, so it is not text"
    mark = "at offset {offset}"
    hint = "check that this is a spec: a spec is plain text"
    offset: int


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
