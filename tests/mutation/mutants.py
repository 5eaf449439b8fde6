"""The list of mutants. A mutant is a small wrong change in a module where a bug would publish a wrong number or lose
data.

Each file of `mutants/` has a table for each module: the tests that should fail, and the mutants.

    ["model/histogram.py"]
    tests = ["tests/runners/test_histogram.py"]
    mutants = [
      { old = "below += bucket.count", new = "below = bucket.count" },
      { old = "...", new = "...", equivalent = "why no test can tell it from the original" },
    ]

`old` must occur exactly once in the module. A mutant may name its own `tests`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

LISTS = Path(__file__).with_name("mutants")


@dataclass(frozen=True)
class Mutant:
    """A wrong change of one module. If the change has no visible effect, `equivalent` is the reason. Otherwise, it is
    ""."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    equivalent: str = ""

    def apply(self, source: str) -> str:
        """Return the module's source with the change. Raises Stale unless the text to change occurs exactly once."""
        found = source.count(self.old)
        if found != 1:
            where = "is not in it any more" if not found else f"is in it {found} times"
            raise Stale(
                f"{self.name} no longer applies to {self.file}: its old text {where}: {self.old!r}. If the code moved, "
                "move the mutant to its new module in tests/mutation/mutants; if it was rewritten, write the same "
                "mistake into the new code"
            )
        return source.replace(self.old, self.new)


class Stale(Exception):
    """Raised when a mutant no longer fits the code."""


def read_mutants(lists: Path = LISTS) -> list[Mutant]:
    """Return all mutants in the order of the files and tables. They are numbered from 1 in each module."""
    found = []
    for path in sorted(lists.glob("*.toml")):
        for file, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
            for number, each in enumerate(table["mutants"], start=1):
                tests = tuple(each.get("tests", table["tests"]))
                name = f"{file}:{number}"
                found.append(Mutant(name, file, each["old"], each["new"], tests, each.get("equivalent", "")))
    return found


def mutated_source(root: Path, mutant: Mutant) -> str:
    """Return the source of the mutant's module with the change made. Raises Stale if the change no longer applies, or
    if the module is gone."""
    path = root / mutant.file
    if not path.is_file():
        raise Stale(
            f"{mutant.name} no longer applies: there is no {mutant.file}. Move its table in tests/mutation/mutants to "
            "the module that has its code now"
        )
    return mutant.apply(path.read_text(encoding="utf-8"))
