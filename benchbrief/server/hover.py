"""Makes hover texts: the documentation of the word under the cursor, or the final value of a name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from benchbrief.compiler import word_meanings
from benchbrief.compiler.briefs.claims import claim
from benchbrief.compiler.diagnostic_codes import code_info
from benchbrief.compiler.explain.explain_rules import measured_for
from benchbrief.compiler.frontend.name_index import NameIndex, Symbol
from benchbrief.compiler.measure_catalogue import FAMILIES, KINDS, family_of, find_measure
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.registry import (
    ENGINE_SPECS,
    METER_SPECS,
    PROBE_SPECS,
    SCHEDULER_SPECS,
    TEMPLATE_SPECS,
    TOOL_SPECS,
)
from benchbrief.compiler.resolve import Model
from benchbrief.compiler.schemas import BLOCKS, ELEMENTS, OPTIONS
from benchbrief.dsl.diagnostics.plain_amounts import duration, first_of
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan, units
from benchbrief.model.planned_cells import most_cells
from benchbrief.model.precision import share_text
from benchbrief.server.check_open_files import ShownFinding
from benchbrief.server.cursor_context import (
    DECLARATION_SNIPPETS,
    Cursor,
    TypedToken,
    attribute_doc,
    cursor_at,
    declared,
    family_at,
    markdown,
    schema_of,
    tokens,
)
from benchbrief.server.spec_view import View

_DOCS = {
    **word_meanings.ENGINES,
    **word_meanings.TOOLS,
    **word_meanings.PROBES,
    **word_meanings.ORDERS,
    **word_meanings.RESETS,
    **{name: doc for name, (_, doc) in word_meanings.SETTINGS.items()},
}
_FENCE = re.compile(r"```bench .*")


def hover(
    view: View, model: Model | None, findings: list[ShownFinding], position: types.Position
) -> types.Hover | None:
    """Return the hover text. `model` is the checked spec, if there is one; `findings` are the file's findings."""
    text = view.file.text
    offset = text.offset(position)
    parts: list[str] = []
    where: types.Range | None = None
    occurrence = view.occurrence(offset)
    unit = _declared_unit(view, offset)
    if unit is not None:
        where = view.file.range(unit.span)
        parts = list(_of_unit(unit.text))
    elif occurrence is not None:
        where = view.file.range(occurrence.span)
        parts = list(_of_symbol(occurrence.symbol, view, model))
    else:
        token = _token_at(view, offset)
        if token is not None:
            where = text.range(token.start, token.end)
            parts = list(_of_word(text.text, token, view.index))
    for finding in findings:
        if _holds(finding.shown.range, position):
            parts += _of_code(finding.diagnostic.code)
            where = where or finding.shown.range
    content = markdown("\n\n".join(parts))
    return types.Hover(content, where) if content else None


def _holds(where: types.Range, position: types.Position) -> bool:
    return where.start <= position <= where.end


def _declared_unit(view: View, offset: int) -> ast.Name | None:
    for metric in view.file.declarations:
        if isinstance(metric, ast.Metric) and metric.unit is not None:
            start = view.file.offset(metric.unit.span)
            if start <= offset <= start + len(metric.unit.text):
                return metric.unit
    return None


def _token_at(view: View, offset: int) -> TypedToken | None:
    """Return the word or number that contains an offset or ends there. There is none in comments and plain texts."""
    text = view.file.text.text
    cursor = cursor_at(text, offset)
    if cursor.inside in ("comment", "text", "format"):
        return None
    line = text.rfind("\n", 0, offset) + 1
    start = max(line, cursor.start - 1)
    while start > line and (text[start - 1].isalnum() or text[start - 1] in "_."):
        start -= 1
    end = text.find("\n", offset)
    found = [token for token in tokens(text, start, end if end >= 0 else len(text)) if token.start <= offset]
    return next((token for token in reversed(found) if token.kind in ("word", "number") and offset <= token.end), None)


# --- words of the language ---


def _of_word(text: str, token: TypedToken, index: NameIndex) -> Iterator[str]:
    cursor = cursor_at(text, token.end)
    if token.kind == "number":
        yield from _of_quantity(text, token)
        return
    word = token.text
    before = [each for each in cursor.before if each.end <= token.start]
    previous = before[-1] if before else None
    if previous is not None and previous.kind == "number":
        yield from _of_quantity(text, previous)
        return
    if previous is not None and previous.text == "." and len(before) > 1:
        yield from _of_member(before[-2].text, word)
        return
    follows = text[token.end :].lstrip()
    if follows.startswith("=") and not follows.startswith("=="):
        yield from _of_attribute(cursor, word, index)
        return
    if follows.startswith(".") and (word in FAMILIES or (word not in KINDS and family_of(word))):
        member = next(tokens(text, token.end + 1, len(text)), None)
        yield from _of_member(word, member.text if member else "")
        return
    if follows.startswith("(") and word in word_meanings.FUNCTIONS:
        yield f"`{word}({'...' if word == 'p_value' else '... over ...'})`: {word_meanings.FUNCTIONS[word][1]}"
        return
    yield from _of_plain(cursor, word, follows)


def _of_plain(cursor: Cursor, word: str, follows: str) -> Iterator[str]:
    in_report = len(cursor.blocks) > 1 and cursor.blocks[1].head.keyword == "report"
    if (follows[:1] in ("{", '"') or not cursor.before) and word in {**BLOCKS, **ELEMENTS, **DECLARATION_SNIPPETS}:
        schema = ELEMENTS.get(word) or BLOCKS.get(word)
        yield f"`{word}`: {schema.doc if schema else DECLARATION_SNIPPETS[word][1]}"
    elif word in KINDS:
        yield _measure(word)
    elif word == "nodes":
        yield "`nodes`, by `hardware`: the number of hosts."
    elif word in word_meanings.DIMENSIONS:
        yield f"the dimension `{word}`: {word_meanings.DIMENSIONS[word]}"
    elif word in _DOCS and not in_report:
        yield f"`{word}`: {_DOCS[word]}"
    elif of_extension := _of_extension(cursor.block.key, word):
        yield of_extension
    elif in_report and word in OPTIONS:
        yield f"`{word}`: {OPTIONS[word]}"
    elif word in word_meanings.LINKS:
        yield f"`{word}`: {word_meanings.LINKS[word]}"


def _of_extension(key: str, word: str) -> str:
    """If the word names an extension that the attribute `key` accepts, return the extension's description. Otherwise,
    return ""."""
    match key:
        case "power" if meter := METER_SPECS.usable(word):
            return f"the meter `{word}`: {meter.doc}\n\nas in {meter.usage}"
        case "hosts" if scheduler := SCHEDULER_SPECS.usable(word):
            return f"`{word}`: hosts that {scheduler.label} is asked for when the run begins, as in {scheduler.usage}"
        case "engine" | "tool" if used := ENGINE_SPECS.usable(word) or TOOL_SPECS.usable(word):
            return f"`{word}`: {used.doc}"
        case "probes" | "kind" if probe := PROBE_SPECS.usable(word):
            return f"`{word}`: {probe.doc}\n\nmeasures: {', '.join(f'`{name}`' for name in probe.measures)}"
        case "template" if template := TEMPLATE_SPECS.usable(word):
            return f"`{word}`: {template.doc}"
    return ""


def _of_attribute(cursor: Cursor, word: str, index: NameIndex) -> Iterator[str]:
    head = cursor.block.head
    keyword = head.name if head.keyword == "override" else head.keyword
    schema = schema_of(keyword, family_at(cursor, index))
    key = schema.keys.get(word) if schema else None
    if key is not None:
        yield f"**`{word}`** of `{keyword}`\n\n{attribute_doc(key)}"
    elif schema is not None and schema.open_keys is not None:
        yield f"**`{word}`**: a fact of this hardware. One with a unit is a measure by `hardware`."


def _of_member(family: str, word: str) -> Iterator[str]:
    name = f"{family}.{word}"
    if find_measure(name):
        yield _measure(name)
    elif (spec := TOOL_SPECS.usable(family)) and word in spec.workloads:
        workload = spec.workloads[word]
        shares = {key: value for key, value in workload.settings.items() if key in spec.shares}
        mix = ", ".join(f"{share_text(value)} {key}" for key, value in shares.items() if isinstance(value, float))
        settings = [f"{key} `{_plain(value)}`" for key, value in workload.settings.items() if key not in shares]
        summary = "; ".join((mix or f"operations: {', '.join(workload.operations)}", *settings))
        yield f"**`{name}`**: {workload.description['en']}\n\n{summary}"


def _measure(name: str) -> str:
    kind = find_measure(name)
    if kind is None:
        return ""
    unit = units.base_unit(kind.unit) or "a plain number"
    probe = f"needs the `{kind.probe}` probe  \n" if kind.probe else ""
    probe = f"reported by the load generator {kind.tool}  \n" if kind.tool else probe
    dims = ", ".join(f"`{dim}`" for dim in sorted(kind.on_demand))
    return f"**`{name}`** in {unit}\n\n{word_meanings.measure_doc(name)}\n\n{probe}on demand by {dims}"


def _of_quantity(text: str, number: TypedToken) -> Iterator[str]:
    """Write out a quantity: `75M records` becomes 75,000,000 records."""
    following = next(tokens(text, number.end, min(len(text), number.end + 80)), None)
    end = number.end
    if following is not None and following.kind == "word" and "\n" not in text[number.end : following.start]:
        end = following.end
        while text[end : end + 1] in ("/", "*") and text[end + 1 : end + 2].isalpha():
            end = next(tokens(text, end + 1, len(text))).end
    unit_text = text[number.end : end].strip()
    digits = number.text.replace("_", "")
    power = {"k": 3, "M": 6, "G": 9, "T": 12}.get(digits[-1], 0)
    try:
        value = float(f"{digits.rstrip('kMGT')}e{power}" if power else digits)
        unit = units.parse_unit(unit_text)
    except (units.UnknownUnitError, ValueError):
        return
    base = units.base_unit(unit.dimension)
    plain = f"{value:,.15g} {unit_text}".strip()
    converted = "" if base == unit_text else f" = {unit.to_base(value):,.15g} {base}".rstrip()
    yield f"**{plain}**{converted}\n\n{units.dimension_name(unit.dimension)}"


def _of_unit(word: str) -> Iterator[str]:
    try:
        unit = units.parse_unit(word)
    except units.UnknownUnitError:
        return
    base = units.base_unit(unit.dimension)
    converted = f": 1 {word} = {unit.factor:,.15g} {base}".rstrip() if base != word else ""
    yield f"the unit `{word}`{converted}\n\n{units.dimension_name(unit.dimension)}"


def _of_code(code: str) -> Iterator[str]:
    info = code_info(code)
    if info is not None:
        explanation = _FENCE.sub("```bench", info.explanation_markdown)
        yield f"---\n**{info.code}**: {info.title}\n\n{explanation}".rstrip()


# --- names ---


def _of_symbol(symbol: Symbol, view: View, model: Model | None) -> Iterator[str]:
    if symbol.kind == "fact":
        yield from _of_fact(symbol.name, view, model)
        return
    yield f"{symbol.kind} **`{symbol.name}`**"
    if symbol in view.index.nodes:
        yield declared(view.index.nodes[symbol])
    if model is not None:
        yield from filter(None, [_resolved(symbol, model)])
    if symbol.kind == "claim":
        from benchbrief.server.last_claims import last_said

        yield from filter(None, [last_said(view.file.path, symbol.name)])


def _of_fact(name: str, view: View, model: Model | None) -> Iterator[str]:
    yield f"**`{name}`**: a fact of the hardware"
    rows = []
    for unit in model.hardware.values() if model else ():
        fact = unit.hardware.facts.get(name)
        if fact is not None:
            rows.append(f"- `{unit.hardware.key}`: {fact.text if isinstance(fact, plan.Quantity) else fact}")
    if rows:
        yield "\n".join(rows)
    elif Symbol("fact", name) in view.index.nodes:
        yield declared(view.index.nodes[Symbol("fact", name)])


def _resolved(symbol: Symbol, model: Model) -> str:
    match symbol.kind:
        case "hardware" | "variant":
            units_of = [u.hardware for u in model.hardware.values() if symbol.name in (u.hardware.group, *u.aliases)]
            return "\n".join(_hardware(unit) for unit in units_of)
        case "workload" if symbol.name in model.workloads:
            workload = model.workloads[symbol.name].workload
            rows = "\n".join(f"- `{name}`: {_plain(value)}" for name, value in workload.properties.items())
            return f"{workload.description}\n\n{workload.family}.{workload.benchmark}\n{rows}"
        case "experiment":
            matrix = next((each for each in model.matrices if each.experiment.name == symbol.name), None)
            return _experiment(matrix.experiment) if matrix else ""
        case "metric":
            return _metric(symbol.name, model)
        case "factor":
            return "\n".join(
                f"{len(each.levels)} levels: {first_of((level.label for level in each.levels), 12)}"
                for each in model.scope.factors
                if each.key == symbol.name
            )
        case "client" if symbol.name in model.clients:
            client = model.clients[symbol.name]
            return f"{client.tool.driver} on {_hosts(client.hosts)}"
        case "claim":
            return _claim(symbol.name, model)
        case _:
            return ""


def _hardware(hardware: plan.Hardware) -> str:
    facts = ", ".join(f"{name} {_fact(value)}" for name, value in hardware.facts.items())
    count = f"{hardware.nodes} node{'s' if hardware.nodes != 1 else ''}"
    return f"- `{hardware.key}`: {count}: {_hosts(hardware.hosts)}" + (f"; {facts}" if facts else "")


def _fact(value: plan.Fact) -> str:
    return value.text if isinstance(value, plan.Quantity) else str(value)


def _hosts(hosts: tuple[str, ...]) -> str:
    return first_of(hosts, 8)


def _promise(experiment: plan.Experiment, rule: plan.Promise) -> str:
    return (
        f"{_curves(experiment)} × a search among "
        f"{len(experiment.points)} rates = **about {rule.usual} cells a search, {rule.most} at most**\n\n"
        f"promise: `{rule.text}`  \nwithin {100 * rule.within:g} %, up to {rule.judged} runs a rate, "
        f"{rule.held_out} held out  \nwarm-up {experiment.warm_up_s:,g} s, measured {_measured(experiment)}"
    )


def _experiment(experiment: plan.Experiment) -> str:
    cells = most_cells(experiment)
    points = ", ".join(f"{point:,g}" for point in experiment.points)
    count = f"{len(experiment.points)} points"
    if experiment.adaptive:
        count = f"{experiment.adaptive.points} of {len(experiment.points)} candidates"
    if experiment.promise:
        return _promise(experiment, experiment.promise)
    up_to = "up to " if experiment.confident or experiment.budget_s else ""
    return (
        f"{_curves(experiment)} × {count} "
        f"× {_repeats(experiment)} repeats = **{up_to}{cells:,} cells**\n\n"
        f"{experiment.axis}: {points}  \nwarm-up {experiment.warm_up_s:,g} s, measured {_measured(experiment)}"
        + (f"  \nbudget {duration(experiment.budget_s)}" if experiment.budget_s else "")
    )


def _curves(experiment: plan.Experiment) -> str:
    levels = f" × {len(experiment.levels)} combinations of levels" if experiment.levels else ""
    return f"{len(experiment.hardware)} hardware × {len(experiment.workloads)} workloads{levels}"


def _measured(experiment: plan.Experiment) -> str:
    return measured_for(experiment) if experiment.until_steady else f"{experiment.measure_s:,g} s"


def _repeats(experiment: plan.Experiment) -> str:
    return (
        f"{experiment.confident.at_least} to {experiment.repeats}" if experiment.confident else f"{experiment.repeats}"
    )


def _metric(name: str, model: Model) -> str:
    typer = Typer(model.scope, Findings())
    typed = typer.metric(name) if model.scope.experiments and name in typer.metrics else None
    if typed is None:
        return ""
    dims = ", ".join(f"`{dim}`" for dim in typed.term.dims) or "no dimension: one number"
    better = typer.metrics[name].better
    return f"in {typed.unit.text or 'a plain number'}, by {dims}" + (f"; {better} is better" if better else "")


def _claim(name: str, model: Model) -> str:
    """Describe the rules for judging a claim."""
    block = model.scope.claims_by_name.get(name)
    found = claim(Typer(model.scope, Findings()), block) if block and model.scope.experiments else None
    if found is None:
        return ""
    lines = [f"{_ENDS[found.bound]}`{found.points.text}`"]
    if found.no_difference is not None:
        same = f"{found.no_difference:g} {found.points.unit}".rstrip()
        lines.append(f"compared with {found.base}: said where repeats show that it is not {same}")
    if found.held_out:
        lines.append(f"held out: the highest or lowest is measured {found.held_out.times} times more, for this alone")
    if found.better:
        lines.append(f"{found.better} is better, so rounding never makes it {found.better} by more than 1 %")
    lines += [f"not by the rule `{rule}`: {reason}" for rule, reason in found.allowed.items()]
    return "  \n".join(lines)


_ENDS = {"high": "the highest of ", "low": "the lowest of ", "": ""}


def _plain(value: str | float | bool) -> str:
    return f"{value:,.15g}" if isinstance(value, float) else str(value)
