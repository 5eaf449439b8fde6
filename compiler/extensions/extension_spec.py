"""The base of all specs of extensions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

API = 1
"""The version of the specs' interface. It rises when specs of an earlier version can no longer be read."""

LANGUAGES = ("en", "ja")
"""The languages of benchbrief's own texts. The first is the fallback."""

NAME = re.compile(r"[a-z][a-z0-9_]*")
"""The form of the name of an extension, an attribute or a workload."""


def raised(error: BaseException) -> str:
    """Return in words what another package's code raised, which may be anything. Raises a Ctrl-C again."""
    if isinstance(error, KeyboardInterrupt):
        raise error
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # its text is that package's code, too
        return type(error).__name__


@dataclass(frozen=True)
class ExtensionSpec:
    """An extension. `doc` is a sentence on it.

    `implementation` is its code, imported when it runs: "package.module:Class".
    """

    kind: ClassVar[str]
    """The word for this kind: "probe"."""
    has_code: ClassVar[bool] = True
    """Whether it needs an implementation."""
    name_form: ClassVar[re.Pattern[str]] = NAME

    api: int
    name: str
    doc: str
    implementation: str

    def mistake(self, name: str, *, own: bool = False) -> str:
        """Return what is wrong with the spec, registered under `name`; "" when nothing is. `own` says that benchbrief
        has it. Values of another package's spec may have any type, and reading them may raise anything."""
        if self.name != name:
            return f"it is registered as `{name}`, and its name is `{self.name}`"
        if not self.name_form.fullmatch(name):
            return f"`{name}` can't be the name of {self.kind}: it is no word in small letters"
        if not self.doc or (self.has_code and ":" not in self.implementation):
            code = ", and an `implementation` such as `package.module:Class`" if self.has_code else ""
            return f"it needs a `doc`{code}"
        return ""
