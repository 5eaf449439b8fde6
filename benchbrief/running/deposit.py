"""Turns a folder with a run's briefs into a deposit, by adding data, citation, licence and checksums."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.compiler.metrics.lower_to_sql import sql_name
from benchbrief.results.query import mark_of, to_csv, to_parquet, with_mark
from benchbrief.results.store.store import Store
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.journal.atomic_files import sha256_of, write_durably

if TYPE_CHECKING:
    from benchbrief.model.plan import Plan
    from benchbrief.reports.render.render_report import ReportResult

DATA, SUMS = "data", "SHA256SUMS"
_VIEWS = (
    "SELECT schema_name, view_name FROM duckdb_views() "
    "WHERE NOT internal AND schema_name IN ('measure', 'metric') ORDER BY ALL"
)
_TABLES = ("cells", "facts")
_README = """\
# {title}

| | |
|---|---|
| {briefs} | the briefs, with their full disclosure, their capsules and the data of their figures |
| `{data}/` | the measurements and metrics, each as Parquet and CSV; `cells` has what was measured, `facts` on what |
| `CITATION.cff` | how to cite this |
| `LICENSE` | {licence} |
| `{sums}` | the SHA-256 of every other file |

```sh
# Are the files as they were deposited? Does each number follow from the run, where that is?
sha256sum --check {sums}
bench verify {brief}
# What does it take to measure all of it again?
bench reproduce {brief} --dry-run
```
"""


def complete_deposit(
    folder: Path, plan: Plan, results: Store, said: Mapping[str, ReportResult], licence: str
) -> list[Path]:
    """Add data, citation, licence, a page of contents and checksums to a folder with a run's briefs.

    `said` has the main numbers of each report. Returns the paths of the added files. Raises ResultsError, OSError.
    """
    briefs = sorted(path.name for path in folder.iterdir())
    report = plan.reports[0]
    title = said[report.name].title if report.name in said else report.title
    (started,) = results.sql("SELECT started_at FROM runs").rows[0]
    added = list(_write_data(folder / DATA, results))
    stated = licence or "no licence is stated"
    citation = _citation(title, report.author, started.date().isoformat() if started else "", licence)
    pages = [name for name in briefs if "disclosure" not in name and name.endswith((".pdf", ".html"))]
    page = max(pages, key=lambda name: name.endswith(".pdf"), default="FILE")
    listed = ", ".join(f"`{name}`" for name in briefs)
    contents = _README.format(title=title, briefs=listed, data=DATA, licence=stated, sums=SUMS, brief=page)
    for name, text in (
        ("CITATION.cff", citation),
        ("LICENSE", f"SPDX-License-Identifier: {licence}\n" if licence else f"{stated.capitalize()}.\n"),
        ("README.md", contents),
    ):
        write_durably(folder / name, text.encode())
        added.append(folder / name)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS)
    sums = "".join(f"{sha256_of(path)}  {path.relative_to(folder).as_posix()}\n" for path in files)
    write_durably(folder / SUMS, sums.encode())
    return [*added, folder / SUMS]


def _write_data(folder: Path, results: Store) -> Iterator[Path]:
    """Write a store's views, cells and facts as Parquet and CSV. A view is left out if its metric needs data that this
    run lacks."""
    folder.mkdir()
    tables: Sequence[tuple[str, ...]] = [*map(tuple, results.sql(_VIEWS).rows), *((name,) for name in _TABLES)]
    for names in tables:
        query = f"FROM {sql_name(*names)} ORDER BY ALL"
        path = folder / f"{'.'.join(names)}.parquet"
        with suppress(ResultsError):
            answer = with_mark(results.sql(query), mark_of(results))
            to_parquet(results, query, path)
            write_durably(path.with_suffix(".csv"), to_csv(answer).encode())
            yield from (path, path.with_suffix(".csv"))


def _citation(title: str, author: str, date: str, licence: str) -> str:
    """Return a citation file of version 1.2.0 (https://citation-file-format.github.io). Its texts are written as JSON,
    which is also valid YAML."""
    stated = {"date-released": date, "license": licence}
    lines = [
        "cff-version: 1.2.0",
        "message: If you use these measurements, please cite them as below.",
        "type: dataset",
        f"title: {json.dumps(title, ensure_ascii=False)}",
        "authors:",
        f"  - name: {json.dumps(author or 'not stated', ensure_ascii=False)}",
        *(f"{key}: {json.dumps(value)}" for key, value in stated.items() if value),
    ]
    return "\n".join(lines) + "\n"
