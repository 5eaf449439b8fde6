"""Sentences of engines and load generators for a disclosure, from the catalogue or from their specs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchbrief.compiler.extensions.registry import ENGINE_SPECS, TOOL_SPECS
from benchbrief.compiler.extensions.tool_spec import Texts, in_language
from benchbrief.reports.data.report_data import Results


def data_set_text(family: str, records: str, results: Results) -> str:
    """Return the origin of a data set of so many records; in general terms where its tool is not installed."""
    return (_text(family, "data", results) or results.words["d_data_loaded"]).format(records=records)


def always_texts(results: Results) -> tuple[str, ...]:
    """Return what each tool discloses of every run, unless an option of all its databases makes it untrue."""
    found: dict[str, None] = {}
    for driver, database in dict.fromkeys((cell.tool.driver, cell.database) for cell in results.plan.cells):
        spec = TOOL_SPECS.usable(driver)
        if spec and spec.always_unless not in results.plan.databases[database].options:
            found[_text(spec.name, "always", results)] = None
    return tuple(text for text in found if text)


def engine_text(engine: str, results: Results) -> str:
    """What a database of an engine is, where that is neither a server nor a library; "" for those."""
    key, spec = f"d_engine_{engine}", ENGINE_SPECS.usable(engine)
    return _in_words(key, spec.texts if spec else {}, results)


def _text(tool: str, what: str, results: Results) -> str:
    key, spec = f"d_{what}_{tool}", TOOL_SPECS.usable(tool)
    return _in_words(key, spec.texts if spec else {}, results)


def _in_words(key: str, texts: Mapping[str, Texts], results: Results) -> str:
    own = texts.get(key)
    return results.words.get(key) or (in_language(own, results.words.language) if own else "")


def property_texts(driver: str, results: Results) -> Iterable[str]:
    """Return what a tool's numbers depend on, by its runs. A value that differs between runs is a result."""
    its = {(cell.experiment, cell.hardware, cell.workload) for cell in results.plan.cells if cell.tool.driver == driver}
    found: dict[str, dict[str, None]] = {}
    # The first three values of each place are enough: the text names two at most.
    rows = results.store.sql(
        "SELECT experiment, hardware, workload, name, value FROM properties JOIN cells USING (run_id, cell_id) "
        "WHERE name <> 'version' GROUP BY experiment, hardware, workload, name, value QUALIFY row_number() OVER "
        "(PARTITION BY experiment, hardware, workload, name ORDER BY min(cell_id), value) <= 3 "
        "ORDER BY min(cell_id), name, value"
    ).rows
    for *place, name, value in rows:
        if tuple(place) in its:
            found.setdefault(str(name), {})[str(value)] = None
    for name, values in found.items():
        if len(values) <= 2:  # such as service and intended latency
            first, *others = (results.words.said(value) for value in values)
            listed = results.words["d_elsewhere"].format(first=first, second=others[0]) if others else first
            yield f"{results.words.named(name)}{results.words['colon']}{listed}"
