"""The spec of an importer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from benchbrief.compiler.extensions.extension_spec import NAME, ExtensionSpec
from benchbrief.compiler.shapes.value_shapes import Flag, Key, Number, Text, Word

Reads = Literal["outputs", "samples", "tables"]


@dataclass(frozen=True)
class ImporterSpec(ExtensionSpec):
    """An importer: the files that it reads for `bench import`, and how to recognise them.

    `implementation` is a class below one of `benchbrief.results.imports.importer_seams`: OutputImporter, SampleImporter
    or TableImporter, by `reads`. `doc` describes the files, and `tells` the values that they have.

    `line` is a regular expression for the start of a line that only such files have. `families` are the families of
    workloads of its tool, empty for all. `probe` is the probe of its samples. `options` are options of the command
    line, which `read` gets by name.
    """

    kind: ClassVar[str] = "importer"
    name_form: ClassVar[re.Pattern[str]] = re.compile(r"[a-z][a-z0-9_-]*")

    reads: Reads = "outputs"
    tells: str = ""
    line: str = ""
    families: tuple[str, ...] = ()
    probe: str = ""
    options: Mapping[str, Key] = field(default_factory=dict)

    def mistake(self, name: str, *, own: bool = False) -> str:
        return super().mistake(name) or self._wrong_files() or self._wrong_options()

    def _wrong_files(self) -> str:
        if self.reads not in get_args(Reads):
            return f"`reads` is none of {', '.join(get_args(Reads))}"
        if (self.reads == "samples") != bool(self.probe):
            return "`probe` names the probe that samples are of, and nothing for other files"
        if not self.tells:
            return "it needs a sentence in `tells`: what is known of its files"
        try:
            re.compile(self.line)
        except re.error as error:
            return f"`line` is no regular expression: {error}"
        return ""

    def _wrong_options(self) -> str:
        for option, key in self.options.items():
            if not NAME.fullmatch(option) or not key.doc:
                return f"`{option}` can't be an option: it needs a name in small letters, and a `doc`"
            if not isinstance(key.shape, Text | Word | Number | Flag):
                return f"the option `{option}` has a shape that no option may have"
        return ""
