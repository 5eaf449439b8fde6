"""Writes the disclosure of imported results: their source, and a comparison with the published metrics."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import NamedTuple

from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.model import plan as p
from benchbrief.model.plan import DimKey
from benchbrief.reports.data.report_data import ALONE, DIMENSIONS, NOT_PUBLISHED, Results
from benchbrief.reports.data.view_model import Item, Notice, OriginTag
from benchbrief.reports.text.number_format import fixed, locale, points, with_unit
from benchbrief.reports.words.brief_words import Words, counted


def shown_names(paths: Iterable[str]) -> dict[str, str]:
    """Return the name to show for each path: the path itself if it is below the folder where it was typed, or else the
    part of it after the last common folder."""
    known = list(dict.fromkeys(paths))
    outside = [path for path in known if PurePath(path).is_absolute() or ".." in PurePath(path).parts]
    kinds = [[path for path in outside if PurePath(path).is_absolute() == absolute] for absolute in (True, False)]
    shown = {path: path for path in known}
    for kind in kinds:
        if kind:
            common = os.path.commonpath([str(PurePath(path).parent) for path in kind])
            if common == PurePath(common).anchor:  # only the root is common: show nothing of the paths
                shown |= _ends(kind)
            else:
                shown |= {path: PurePath(os.path.relpath(path, common)).as_posix() for path in kind}
    return shown


def _ends(paths: list[str]) -> dict[str, str]:
    """Return each file's name, preceded by as many of its folders as make it unique."""
    found = {}
    for path in paths:
        parts, others = PurePath(path).parts[1:], [PurePath(other).parts for other in paths if other != path]
        count = next(
            (n for n in range(1, len(parts)) if not any(other[-n:] == parts[-n:] for other in others)), len(parts)
        )
        found[path] = "/".join(parts[-count:])
    return found


class ImportSource(NamedTuple):
    """The source of a run's numbers. Unknown fields are empty."""

    title: str
    publisher: str
    licence: str
    where: str
    date: str

    @property
    def is_own(self) -> bool:
        """Whether the numbers were measured by the person who imported them."""
        return not self.publisher and not self.licence


def sources(results: Results) -> list[ImportSource]:
    """Return the sources of an imported run, or nothing for another run."""
    return results.once(_sources)


def _sources(results: Results) -> list[ImportSource]:
    rows = results.store.sql(
        "SELECT DISTINCT title, publisher, licence, concat_ws(', ', document, url), coalesce(date, '') "
        "FROM sources ORDER BY ALL"
    ).rows
    return [ImportSource(*row) for row in rows]


def is_imported(results: Results) -> bool:
    return bool(sources(results))


def cells_of_unknown_kind(results: Results) -> set[str]:
    """Return imported cells for which it is unknown whether latencies include the time that an operation waited to
    start. Their tool can measure either, and their files do not say which."""
    if not is_imported(results):
        return set()
    told = results.store.sql(
        "SELECT cell_id FROM properties JOIN sentences ON text = value "
        "WHERE name = 'latency' AND code IN ('latency_service', 'latency_intended', 'latency_both')"
    ).rows
    known = {cell for (cell,) in told}
    tools = {driver: TOOL_SPECS.usable(driver) for driver in {cell.tool.driver for cell in results.plan.cells}}
    may_count_waits = {driver for driver, spec in tools.items() if spec and spec.intended_latency}
    return {c.id for c in results.plan.cells if c.tool.driver in may_count_waits and c.id not in known}


def notices(results: Results, *, computed: bool = False) -> Iterator[Notice]:
    words = results.words
    for source in sources(results):
        title, text = words["notice_imported"], words["notice_imported_body"]
        if source.is_own:
            title, text = words["notice_own"], words["notice_own_body"]
        text, tag = (
            text.format(source=cited(source), licence=source.licence),
            OriginTag("imported", _tag(source, words, computed=computed)),
        )
        yield Notice(title, text, "error", first=True, origin=tag)
    lacking = sum(cell.status == "missing" or cell.reason == NOT_PUBLISHED for cell in results.cells)
    if lacking == len(results.cells) and is_imported(results):
        yield Notice(words["notice_derived"], words["notice_derived_body"], "warning", of_method=words["m_derived"])
    elif lacking and is_imported(results):
        told = sum(cell.status == "ok" for cell in results.cells)  # one number may represent all repeats
        text = counted(words, "notice_part_body", len(results.cells), missing=lacking)
        of_metrics = sum(each.query is None for each in published(results))
        others = counted(words, "m_part_others", of_metrics) if of_metrics else ""
        yield Notice(words["notice_part"], text, "warning", of_method=counted(words, "m_part", told, others=others))


def _tag(source: ImportSource, words: Words, *, computed: bool) -> str:
    """Return a line on the origin of the numbers, such as "Figures from Micron (2017), not measured here" or, if all of
    them are `computed`, "Computed from figures of Micron (2017), not measured here"."""
    if source.is_own:
        return words["notice_own"]
    by, dated = source.publisher or source.title, re.match(r"\d{4}", source.date)
    plain, with_year = ("tag_computed", "tag_computed_year") if computed else ("tag_imported", "tag_imported_year")
    return words[with_year if dated else plain].format(by=by, year=source.date[:4])


def source_items(results: Results) -> Iterator[Item]:
    """Return items for the disclosure: the source, and each file with its digest."""
    words = results.words
    for source in sources(results):
        yield Item(words["notice_own" if source.is_own else "notice_imported"], cited(source), emphasis=True)
        yield Item(words["d_licence"], source.licence)
    rows = results.store.sql("SELECT file, sha256 FROM sources ORDER BY ALL").rows
    shown = shown_names(name for name, _ in rows)
    for name, sha256 in rows:
        yield Item(words["d_imported_file"], f"{shown[name]} (SHA-256 {sha256})")


class Published(NamedTuple):
    """A metric at a place in its source. `text` is its value with its unit, or a range from the lowest to the highest
    value.

    `query` computes the metric from the imported figures at the keys `at`, or is None if the metric can't be computed
    from them. For a range over dimensions that the source does not distinguish, `query` computes the lowest value and
    `high` the highest.
    """

    label: str
    text: str
    query: p.Query | None
    at: dict[str, DimKey]
    high: p.Query | None = None


def published(results: Results) -> Iterator[Published]:
    metrics = {metric.name: metric for metric in results.plan.metrics}
    ranges: dict[tuple[str, ...], dict[str, float]] = {}
    units: dict[tuple[str, ...], str] = {}
    columns = ", ".join(DIMENSIONS)
    rows = results.store.sql(f"SELECT metric, bound, value, unit, {columns}, levels FROM published").rows  # noqa: S608  # names above
    for metric, bound, value, unit, *keys in rows:
        key = (metric, *("" if each is None else str(each) for each in keys))
        ranges.setdefault(key, {})[bound] = value
        units[key] = unit
    changes = {units[key] for key, bounds in ranges.items() if min(bounds.values()) < 0}
    for key, bounds in ranges.items():
        metric = metrics.get(key[0])
        if metric is None:
            continue
        known = {dim: text for dim, text in zip(DIMENSIONS, key[1:-1], strict=True) if text}
        known |= {factor: str(level) for factor, level in p.Levels(key[-1]).keys.items()}
        signed = units[key] in changes
        ends = [_written(bounds[bound], signed=signed) for bound in ("low", "value", "high") if bound in bounds]
        query, high, at = _computed(results, metric, known, ranged="low" in bounds and "high" in bounds)
        of = (metric.label or metric.name, *(_label(results, dim, name) for dim, name in known.items()))
        name, unit = results.words.locale.listed(of), units[key]
        each = unit if unit == "%" and not results.words.locale.name.startswith("ja") else ""  # each end has its sign
        text = with_unit(f"{each}{results.words['to']}".join(ends), unit)
        if alone := ALONE.get("".join(bounds)):
            text = results.words[alone].format(n=text)
        yield Published(name, text, query, at, high)


def _written(value: float, *, signed: bool) -> str:
    """Write a number with the decimals of its source. If `signed`, a positive number gets a plus sign."""
    return "+" * (signed and value > 0) + fixed(value, len(f"{value:f}".rstrip("0").partition(".")[2]))


def _label(results: Results, dim: str, name: str) -> str:
    if dim == "hardware" and name in results.plan.hardware:
        return results.plan.hardware[name].label
    if dim == "workload" and name in results.plan.workloads:
        return results.plan.workloads[name].label
    if dim in ("threads", "target"):
        return results.words[f"d_points_{dim}"].format(points=points([float(name)]))
    factor = results.plan.factors.get(dim)
    return factor.label_of(name if factor.unit is None else float(name)) if factor else name


def _computed(
    results: Results, metric: p.Metric, known: dict[str, str], *, ranged: bool
) -> tuple[p.Query | None, p.Query | None, dict[str, DimKey]]:
    """Return the query that computes the metric from the imported figures, and its keys, if the query's dimensions
    match the source's. For a range, return two queries: one for the lowest and one for the highest value over the other
    dimensions.
    """
    over = [dim for dim in metric.query.dims if dim not in known]
    query, high = metric.query, None
    if over and ranged:
        query, high = (_over(metric, function, over) for function in ("min", "max"))
    for *keys, value in results.store.query(query):
        at = dict(zip(query.dims, keys, strict=True))
        if value is not None and all(str(key) == known.get(dim) for dim, key in at.items()):
            return query, high, at
    return None, None, {}


def _over(metric: p.Metric, function: str, over: list[p.Dimension]) -> p.Query:
    """Return an expression such as `min(metric over threads)`."""
    kept = tuple(dim for dim in metric.query.dims if dim not in over)
    columns = "".join(f"{dim}, " for dim in kept)
    sql = f"SELECT {columns}{function}(value) AS value FROM ({metric.query.sql}) GROUP BY ALL"  # noqa: S608  # the plan's
    text = f"{function}({metric.name} over {', '.join(over)})"
    return metric.query.model_copy(update={"sql": sql, "dims": kept, "text": text})


def cited(source: ImportSource) -> str:
    return locale().listed(part for part in (source.title, source.publisher, source.where, source.date) if part)
