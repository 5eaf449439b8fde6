"""The spec of a template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from benchbrief.compiler.extensions.extension_spec import ExtensionSpec

Format = Literal["pdf", "html", "markdown"]


@dataclass(frozen=True)
class TemplateSpec(ExtensionSpec):
    """A template: the layout and style of a brief.

    `implementation` is the package whose folder has the layout, `brief.html.j2`, and the files that it includes under
    the name of the template: "bench_memo.memo", and `{% include "memo/theme.css" %}`. The layout extends
    `base/page.html.j2`.

    `labels` are the words above the title, by language ("en" at least), with a `key` in catalogues where that is not
    `kicker_` and the name. `slides` puts each figure or table on a slide of 16:9, and `leads` sets the first box beside
    the first text. `formats` are the files that are usually made.
    """

    kind: ClassVar[str] = "template"
    has_code: ClassVar[bool] = False

    labels: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    slides: bool = False
    leads: bool = False
    formats: tuple[Format, ...] = ("html", "pdf")

    @property
    def word(self) -> str:
        """The key of its label in a catalogue of words."""
        return self.key or f"kicker_{self.name}"

    def label(self, language: str) -> str:
        return self.labels.get(language) or self.labels["en"]

    def mistake(self, name: str, *, own: bool = False) -> str:
        return super().mistake(name) or self._wrong_layout()

    def _wrong_layout(self) -> str:
        if not self.implementation or ":" in self.implementation:
            return "`implementation` names the package whose folder has `brief.html.j2`: `bench_memo.memo`"
        if not self.labels.get("en"):
            return "it needs `labels`, the words above the title, in English at least: `en`"
        if not self.formats or set(self.formats) - set(get_args(Format)):
            return f"`formats` are some of {', '.join(get_args(Format))}"
        return ""
