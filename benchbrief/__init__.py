"""A declarative language for database and storage benchmarks, from a checked spec to a finished brief.

>>> from benchbrief.compiler.compile import check      # spec -> plan and diagnostics
>>> from benchbrief.runners.execution.executor import execute    # plan -> journal and raw outputs
>>> from benchbrief.results.store.store import open_store    # journal and raw outputs -> tables
>>> from benchbrief.reports.render.render_report import render       # tables -> PDF and HTML
"""

from __future__ import annotations

__version__: str


def __getattr__(name: str) -> str:
    # Looked up on demand: reading the installed metadata would slow every start.
    if name == "__version__":
        from importlib.metadata import version

        return version("benchbrief")
    raise AttributeError(name)
