"""Reads workloads. A workload is one of a tool's workloads with the spec's changes, turned into settings for a
driver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from benchbrief.compiler.blocks.values import Reader, Values, described, origin, read_spec_file, setting
from benchbrief.compiler.frontend import name_errors, structure_errors, value_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.frontend.name_errors import UnusableExtension
from benchbrief.compiler.registry import TOOL_SPECS, RefusedExtension, own_families, own_tools
from benchbrief.compiler.schemas import TOOL, WORKLOAD, owners, workload_schema
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.engine_spec import EngineSpec
from benchbrief.model.tool_spec import Attribute, Setting, Texts, ToolSpec, WorkloadSpec, in_language
from benchbrief.model.value_shapes import BlockSchema, Text


def usual_tool(engine: EngineSpec) -> plan.Tool:
    return plan.Tool(driver=engine.default_tool, package=TOOL_SPECS.build(engine.default_tool))


def can_load(engine: EngineSpec, tool: str) -> bool:
    spec = TOOL_SPECS.usable(tool)
    return tool in engine.tools or (spec is not None and engine.name in spec.drives)


def read_tool(exprs: tuple[ast.Expr, ...], reader: Reader) -> plan.Tool | None:
    """Return the tool, or None if there is none or after a mistake."""
    if not exprs:
        return None
    expr = exprs[0] if isinstance(exprs[0], ast.Name) and exprs[0].text in TOOL_SPECS.names else reader.deref(exprs[0])
    name = expr.function if isinstance(expr, ast.Call) else expr
    if not isinstance(name, ast.Name):
        return reader.refuse(structure_errors.WrongType(expr.span, "tool", TOOL.wanted, described(expr)))
    spec = TOOL_SPECS.find(name.text)
    if isinstance(spec, RefusedExtension):
        return reader.refuse(UnusableExtension.of(name.span, spec))
    if spec is None:
        known = tuple(dict.fromkeys((*own_tools(), *TOOL_SPECS.names)))
        return reader.refuse(structure_errors.UnknownWord(name.span, "tool", name.text, known))
    path: str | None = None
    for index, argument in enumerate(expr.arguments if isinstance(expr, ast.Call) else ()):
        if argument.key is not None:
            reader.report(
                structure_errors.BadArgument(
                    argument.span, name.text, "takes nothing but its path", spec.where_settings_go
                )
            )
        elif index == 0:
            read = reader.value("tool", argument.value, Text(absolute=True))
            path = read if isinstance(read, str) else None
        else:
            reader.report(
                structure_errors.BadArgument(argument.span, name.text, "takes one path", f'`{name.text}("/path")`')
            )
    return plan.Tool(driver=name.text, path=path, package=TOOL_SPECS.build(name.text))


Properties = dict[str, Setting]

_LOADING_LABEL: Texts = {"en": "Inserts", "ja": "挿入"}
_ONE_LOADING_LABEL: Texts = {"en": "Inserts ({label})", "ja": "挿入（{label}）"}
_LOADING: Texts = {
    "en": "All threads insert new records into a database that is empty at first.",
    "ja": "すべてのスレッドが、空の状態から始まるデータベースに新しいレコードを挿入します。",
}
"""The description of a measured load. Of the two labels above it, the first is used if the load is the spec's only one,
and the second if there are several loads."""


@dataclass(frozen=True)
class ReadWorkload:
    """A workload. An `existing` workload needs data that are already loaded. `counted` is the place where the spec
    gives the number of records, or None if it does not give it."""

    workload: plan.Workload
    family: ToolSpec
    existing: bool
    timed: bool
    counted: Span | None
    span: Span
    of: str = ""
    """The name of the workload whose data this one loads, as in `load(a)`, or "" for other workloads."""

    @property
    def ends(self) -> bool:
        """Whether the workload ends with its last record, however long that takes. `measure` is then the
        expected time."""
        return bool(self.of) or not self.timed

    @property
    def operations(self) -> tuple[str, ...]:
        return self.workload.operations

    @property
    def from_one_host(self) -> bool:
        """Whether only one host runs the workload, since several would repeat the same work. A load may use several
        hosts, each with its own range of keys."""
        done = (self.workload.properties.get(name) for name in self.family.from_one_host)
        return self.workload.phase == "run" and any(done)


def workload_reader(language: str) -> Callable[[Entry, Reader], ReadWorkload | None]:
    """Return a function that reads a workload and returns None after a mistake."""
    schemas: dict[str, BlockSchema] = {}
    return lambda entry, reader: _read(entry, reader, language, schemas)


def _read(entry: Entry, reader: Reader, language: str, schemas: dict[str, BlockSchema]) -> ReadWorkload | None:
    """Read a workload. `schemas` caches the schemas of the families: missing ones are added."""
    base = _base(entry, reader)
    if base and base[0].name not in schemas:
        schemas[base[0].name] = workload_schema(base[0])
    values = reader.block(entry, schemas[base[0].name] if base else WORKLOAD)
    if base is None:
        return None
    family, name = base
    for key in entry.attributes:
        schema = WORKLOAD.keys.get(key)
        if schema and schema.only and key not in family.attributes:
            reader.report(_not_for(entry, key, owners(schema.only), f"from {family.name}.{name}"))
    workload = family.workloads[name]
    properties = _properties(entry, values, family, name, reader)
    return ReadWorkload(
        workload=plan.Workload(
            name=entry.name,
            label=entry.label if entry.label != entry.name or entry.parent else workload.label or name,
            description=values.text("description") or in_language(workload.description, language),
            family=family.name,
            benchmark=name,
            properties=properties,
            operations=family.operations(name, properties),
            files=_files(values, family, properties, reader),
            writes=family.writes(name, properties),
            changes=family.changes(name, properties),
            origin=origin(entry.head),
        ),
        family=family,
        existing=workload.existing,
        timed=workload.timed,
        counted=values.span("records") if values.said("records") else None,
        span=entry.head,
    )


def _base(entry: Entry, reader: Reader) -> tuple[ToolSpec, str] | None:
    match entry.base:
        case None if entry.orphan:
            pass
        case None:
            reader.report(structure_errors.WorkloadWithoutBase(entry.head, entry.name))
        case ast.Attr(base=ast.Name(text=name) as tool, field=field) as base:
            family = TOOL_SPECS.find(name)
            if isinstance(family, RefusedExtension):
                reader.report(UnusableExtension.of(tool.span, family))
            elif family is None or not family.workloads:
                return _meant(name_errors.UnknownBase(base.span, "workload", base.span.text, _known()), reader)
            elif field.text in family.workloads:
                return family, field.text
            else:
                known = tuple(family.workloads)
                return _meant(
                    name_errors.UnknownBase(field.span, f"{name} workload", field.text, known), reader, f"{name}."
                )
        case base:
            return _meant(name_errors.UnknownBase(base.span, "workload", base.span.text, _known()), reader)
    return None


def _meant(problem: name_errors.UnknownBase, reader: Reader, family: str = "") -> tuple[ToolSpec, str] | None:
    """Report an unknown base. Return the base that it most likely means, so that the mistake does not cause further
    reports, or None if there is none."""
    reader.report(problem)
    tool, _, workload = f"{family}{problem.replacement or ''}".partition(".")
    found = own_families().get(tool)
    return (found, workload) if found and workload in found.workloads else None


def _known() -> tuple[str, ...]:
    return tuple(f"{family}.{name}" for family, spec in own_families().items() for name in spec.workloads)


def _properties(entry: Entry, values: Values, family: ToolSpec, name: str, reader: Reader) -> Properties:
    """Return the values of the attributes, in the order of the spec. Report wrong values."""
    workload, found = family.workloads[name], Properties()
    done: tuple[str, ...] = ()
    for key, attribute in family.attributes.items():
        said = setting(values.found.get(key))
        if attribute.needs and not done:
            done = family.operations(name, found)
        only = _only(family, key, attribute, workload, done)
        if only:
            if key in entry.attributes:
                reader.report(_not_for(entry, key, only, f"from {family.name}.{name}"))
        elif attribute.product_of:
            found |= _product(key, attribute.product_of, found, values, reader)
        elif said is not None:
            found[key] = said
        elif attribute.required:
            wanted = attribute.key.shape.wanted
            reader.report(structure_errors.MissingAttribute(entry.head, "workload", entry.name, key, wanted))
        elif (usual := workload.settings.get(key, attribute.default)) is not None:
            found[key] = usual
    _check_shares(entry, values, family, found, reader)
    _check_limits(entry, values, family, found, reader)
    if family.records_per:
        of, records = family.records_per
        found["records"] = float(found[of]) * records
    return found


def _files(values: Values, family: ToolSpec, properties: Properties, reader: Reader) -> dict[str, str]:
    """Return the text of each file that an attribute names. Report a file that can't be read."""
    found: dict[str, str] = {}
    for key, attribute in family.attributes.items():
        if attribute.key.file == "spec" and values.said(key) and key in properties:
            text = read_spec_file("file", str(properties[key]), values.span(key), reader.findings)
            if text is not None:
                found[key] = text
    return found


def _only(family: ToolSpec, key: str, attribute: Attribute, workload: WorkloadSpec, done: tuple[str, ...]) -> str:
    """Return a phrase for the workloads that have the attribute, or "" if this workload has it."""
    if attribute.needs and not {*attribute.needs} & {*done}:
        return f"workloads that {' or '.join(attribute.needs).replace('_', ' ')}"
    if attribute.chosen and key not in workload.settings:
        return owners(name for name, each in family.workloads.items() if key in each.settings)
    return ""


def _product(key: str, of: tuple[str, str], found: Properties, values: Values, reader: Reader) -> Properties:
    """Return the product of two attributes, or the second attribute if the spec gives the product directly."""
    count, each = (float(found[name]) for name in of)
    size = values.constant(key)
    if size is not None:
        each = size.value / count
        if each != int(each):
            wanted = f"a multiple of the {count:g} {of[0]}"
            reader.report(value_errors.OutOfRange(size.span, key, size.text, wanted, f"{count * 100:g} B"))
    return {of[1]: each, key: count * each}


def _check_shares(entry: Entry, values: Values, family: ToolSpec, found: Properties, reader: Reader) -> None:
    shares = {name: float(found[name]) for name in family.shares}
    total = sum(shares.values())
    if shares and abs(total - 1) > 1e-9:
        said = next((name for name in shares if values.said(name)), family.shares[0])
        parts = tuple((name, share) for name, share in shares.items() if share)
        reader.report(value_errors.BadMix(values.span(said), entry.name, 100 * total, parts))


def _check_limits(entry: Entry, values: Values, family: ToolSpec, found: Properties, reader: Reader) -> None:
    for limit in family.limits:
        keys = (limit.attribute, *(limit.where or ())[:1])
        said = next((key for key in keys if values.said(str(key))), None)
        span = values.span(str(said)) if said else entry.head
        if not limit.allows(found) and not reader.findings.at(span):
            constant = values.constant(limit.attribute)
            text = constant.text if constant else f"{float(found[limit.attribute]):g}"
            reader.report(value_errors.AgainstLimit(span, family.label, limit.attribute, text, limit.wanted))


def _not_for(entry: Entry, key: str, only: str, actual: str) -> structure_errors.NotForThis:
    return structure_errors.NotForThis(entry.attributes[key].key.span, key, only, actual)


def load_phase(load: ReadWorkload, language: str, *, alone: bool) -> ReadWorkload:
    """Return the workload that measures loading by inserting the records into an empty database. `alone` means that the
    spec loads only this workload."""
    workload, label = load.workload, _LOADING_LABEL if alone else _ONE_LOADING_LABEL
    shape = {
        key: workload.properties[key]
        for key, attribute in load.family.attributes.items()
        if attribute.shapes_data and key in workload.properties
    }
    return replace(
        load,
        workload=workload.model_copy(
            update={
                "name": f"load({workload.name})",
                "label": in_language(label, language).format(label=workload.label),
                "description": in_language(_LOADING, language),
                "properties": {**shape, "insert": 1.0},
                "operations": ("insert",),
                "writes": True,
                "changes": "anything",
                "phase": "load",
            }
        ),
        existing=False,
        of=workload.name,
    )


def with_records(load: ReadWorkload, size_bytes: float) -> ReadWorkload:
    """Return the workload with enough records to fill a database of that size."""
    properties = dict(load.workload.properties)
    properties["records"] = float(max(1, int(size_bytes / load.family.record_bytes(properties))))
    return replace(load, workload=load.workload.model_copy(update={"properties": properties}))
