"""A declarative language for database and storage benchmarks, from a checked spec to a finished brief.

>>> import benchbrief as bb
>>> run = bb.open("last")           # a run of `bench run`, of this folder's bench-out
>>> run.table("spread").df()        # its tables and views; also .arrow() and .pl()
>>> run.metric("gain")              # a metric of the spec
>>> run.figure(1)                   # a figure of the brief, as an altair chart
>>> bb.compare("last~1", "last")    # as `bench compare`: .pairs, .ranking, .notes
>>> bb.plan("brief.bench").cells    # what a spec would run
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchbrief.model.english import ENGLISH

if TYPE_CHECKING:
    from benchbrief.api.answer import Answer
    from benchbrief.api.checked_spec import CheckedSpec, PlannedSpec, SpecWrong, check, plan
    from benchbrief.api.compared_runs import Compared, compare
    from benchbrief.api.opened_run import Run
    from benchbrief.api.opened_run import list_runs as runs
    from benchbrief.api.opened_run import open_run as open  # noqa: A004 - it opens a run, as gzip.open does a file
    from benchbrief.dsl.bench_error import BenchError

    __version__: str

__all__ = [
    "Answer",
    "BenchError",
    "CheckedSpec",
    "Compared",
    "PlannedSpec",
    "Run",
    "SpecWrong",
    "__version__",
    "check",
    "compare",
    "open",
    "plan",
    "runs",
]

_PLACES = {
    "Answer": "api.answer:Answer",
    "BenchError": "dsl.bench_error:BenchError",
    "CheckedSpec": "api.checked_spec:CheckedSpec",
    "Compared": "api.compared_runs:Compared",
    "PlannedSpec": "api.checked_spec:PlannedSpec",
    "Run": "api.opened_run:Run",
    "SpecWrong": "api.checked_spec:SpecWrong",
    "check": "api.checked_spec:check",
    "compare": "api.compared_runs:compare",
    "open": "api.opened_run:open_run",
    "plan": "api.checked_spec:plan",
    "runs": "api.opened_run:list_runs",
}
"""The module that defines each name. Modules are imported on first use, so that `import benchbrief` is fast."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from benchbrief.model.version import benchbrief_version

            return benchbrief_version()
        if name in _PLACES:
            from importlib import import_module

            from benchbrief.mended_imports import pass_over_broken_packages

            pass_over_broken_packages()
            module, _, inner = _PLACES[name].partition(":")
            return getattr(import_module(f"{__name__}.{module}"), inner)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _english() -> Mapping[str, str | dict[str, str]]:
    from benchbrief.compiler.briefs.word_catalogues import english

    return english()


ENGLISH.read = _english


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
