"""The words of other packages' extensions: kept in the plan where a brief needs them, so that it needs no package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from benchbrief.compiler.frontend.name_errors import UntranslatedExtension
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.registry import ENGINE_SPECS, PROBE_SPECS, TOOL_SPECS, word_of
from benchbrief.dsl.syntax import ast
from benchbrief.model.extension_spec import LANGUAGES
from benchbrief.model.plan import Cell, Report
from benchbrief.model.tool_spec import ToolSpec


def with_measure_words(report: Report, cells: Iterable[Cell]) -> Report:
    """Return the report with the names of what the cells' probes and tools tell, in its language, or else in
    English."""
    cells = tuple(cells)
    probes = dict.fromkeys(probe.name for cell in cells for probe in cell.probes if probe.package)
    tools = dict.fromkeys(cell.tool.driver for cell in cells if cell.tool.package)
    specs = (*map(PROBE_SPECS.usable, probes), *map(TOOL_SPECS.usable, tools))
    labels = {
        word_of(name): said.label(report.language) for spec in specs if spec for name, said in spec.measures.items()
    }
    return report.model_copy(update={"measures": labels}) if labels else report


def warn_of_untranslated(
    reports: Mapping[str, ast.Block],
    probes: Iterable[str],
    workloads: Iterable[tuple[str, str]],
    engines: Iterable[str],
    findings: Findings,
) -> None:
    """One warning for each language and each extension whose words it lacks. `workloads` are those that are used, with
    the tool that brings each."""
    probes, workloads, engines = dict.fromkeys(probes), dict.fromkeys(workloads), dict.fromkeys(engines)
    warned = set()
    for report in reports.values():
        for item in report.body:
            if not isinstance(item, ast.Attribute) or item.key.text != "language":
                continue
            value = item.values[0]
            if not isinstance(value, ast.Name) or value.text not in LANGUAGES:
                continue
            for kind, name, source, missing in _lacking(value.text, probes, workloads, engines):
                if (value.text, kind, name) not in warned:
                    warned.add((value.text, kind, name))
                    findings.add(UntranslatedExtension(value.span, kind, name, source, value.text, missing))


def _lacking(
    language: str, probes: Iterable[str], workloads: Iterable[tuple[str, str]], engines: Iterable[str]
) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield the kind, the name and the package of each extension that lacks words, and for what."""
    for name in probes:
        source, probe = PROBE_SPECS.source(name), PROBE_SPECS.usable(name)
        missing = tuple(m for m, said in probe.measures.items() if not said.labels.get(language)) if probe else ()
        if source and missing:
            yield "probe", name, source, missing
    used: dict[str, list[str]] = {}
    for name, workload in workloads:
        used.setdefault(name, []).append(workload)
    for name, of_tool in used.items():
        source, tool = TOOL_SPECS.source(name), TOOL_SPECS.usable(name)
        missing = tuple(_of_tool(language, tool, of_tool)) if tool else ()
        if source and missing:
            yield "tool", name, source, missing
    for name in engines:
        source, engine = ENGINE_SPECS.source(name), ENGINE_SPECS.usable(name)
        if source and engine and engine.described and not engine.described.get(language):
            yield "engine", name, source, ("described",)


def _of_tool(language: str, tool: ToolSpec, workloads: Iterable[str]) -> Iterator[str]:
    for name in workloads:
        if name in tool.workloads and not tool.workloads[name].description.get(language):
            yield f"{tool.name}.{name}"
    for name, texts in (("data", tool.data if tool.workloads else {}), ("always", tool.always)):
        if texts and not texts.get(language):
            yield name
    yield from (name for name, said in tool.measures.items() if not said.labels.get(language))
