"""The declarations of all files by kind and name, after inheritance and the profile.

They are still syntax: blocks with attributes and their spans, but without values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, fields, is_dataclass, replace
from functools import cache
from typing import Any

from benchbrief.compiler.frontend import name_errors, structure_errors
from benchbrief.compiler.frontend.imports import Loaded
from benchbrief.compiler.problems import CompileProblem, Findings
from benchbrief.compiler.schemas import BLOCKS, OF_WORDS
from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse_expression
from benchbrief.model.value_shapes import BlockSchema

_NOT_USES: Mapping[type, frozenset[str]] = {
    ast.Param: frozenset({"name"}),
    ast.Metric: frozenset({"name", "unit"}),
    ast.Block: frozenset({"keyword", "name", "subject"}),
    ast.Attribute: frozenset({"key"}),
    ast.Argument: frozenset({"key"}),
    ast.Attr: frozenset({"field"}),
    ast.Call: frozenset({"function", "over"}),
    ast.By: frozenset({"dimensions"}),
    ast.Option: frozenset({"word"}),
}
"""By kind of node, the fields that do not refer to a declaration: names that are declared there, and names of
functions, fields, dimensions and options."""


def names_in(node: object) -> Iterator[ast.Name]:
    """Yield every name in a node or in a collection of nodes."""
    stack: list[Any] = [node]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is ast.Name:
            yield item
        elif kind is tuple or kind is list:
            stack += item
        elif kind is dict:
            stack += item.values()
        else:
            parts = _parts(kind)  # type: ignore[arg-type]  # mypy takes the hash of its objects for that of the class
            stack += [getattr(item, name) for name in parts]
            if not parts and kind not in _PLAIN and isinstance(item, Mapping):
                stack += item.values()


@cache
def _parts(kind: type) -> tuple[str, ...]:
    """Return which fields of this kind of node may hold references. The result is cached, since finding the fields
    takes longer than walking the tree."""
    skipped = _NOT_USES.get(kind, frozenset())
    is_node = is_dataclass(kind) and kind is not Span
    names = [each.name for each in fields(kind) if each.name not in skipped] if is_node else []
    return tuple(name for name in names if not name.endswith("span"))


_PLAIN = frozenset({str, int, float, bool, type(None)})


def text_of(expr: ast.Expr) -> str:
    """Return the expression as written in the spec, but on one line."""
    return " ".join(re.sub(r"#[^\n]*", "", expr.span.text).split())


def dotted(expr: ast.Expr) -> str:
    """Return `latency.p99` as one word, and other expressions as written."""
    return f"{dotted(expr.base)}.{expr.field.text}" if isinstance(expr, ast.Attr) else text_of(expr)


TOP_LEVEL = (
    *("hardware", "client", "factor", "database", "workload", "probe"),
    *("experiment", "scheduler", "profile", "claim", "report"),
)
_NO_SCHEMA = BlockSchema("", {}, named=False)


@dataclass(frozen=True)
class Entry:
    """A block. `head` is its keyword and name. `base` is the part of its `from` that is left after inheritance
    (`ycsb.a`).

    `subject` is the kind of block that an `override` changes.
    """

    kind: str
    name: str
    label: str
    head: Span
    attributes: Mapping[str, ast.Attribute]
    blocks: tuple[Entry, ...]
    base: ast.Expr | None
    subject: ast.Name | None = None
    orphan: bool = False
    """Whether the block's `from` has a mistake."""
    parent: str = ""
    """The name of the block's parent, which is of the same kind."""
    imported: bool = False
    taken: frozenset[str] = frozenset()
    """Attributes that the profile removes."""
    labelled: bool = False
    """Whether the spec gives the block a label other than its name."""
    of_words: ast.Block | None = None
    """The syntax of the override itself, if the block overrides a report or a claim."""

    @property
    def keyword(self) -> Span:
        return Span(self.head.source, self.head.start, self.head.start + len(self.kind))

    @property
    def slot(self) -> tuple[str, str, str]:
        """The key that distinguishes the block from its siblings: its kind, its subject and its name."""
        return (self.kind, self.subject.text if self.subject else "", self.name)

    def all(self, kind: str) -> tuple[Entry, ...]:
        return tuple(block for block in self.blocks if block.kind == kind)

    def one(self, kind: str) -> Entry | None:
        return next(iter(self.all(kind)), None)


@dataclass
class Declarations:
    """All declarations. Names are unique within a kind; if a name occurs twice, the first declaration counts."""

    blocks: dict[str, dict[str, Entry]] = field(default_factory=lambda: {kind: {} for kind in TOP_LEVEL})
    params: dict[str, ast.Param] = field(default_factory=dict)
    metrics: dict[str, ast.Metric] = field(default_factory=dict)
    expects: list[ast.Expect] = field(default_factory=list)
    claims: dict[str, ast.Block] = field(default_factory=dict)
    reports: dict[str, ast.Block] = field(default_factory=dict)
    imported_params: set[str] = field(default_factory=set)
    bases: set[tuple[str, str]] = field(default_factory=set)
    """The kind and the name of each block that another block inherits from."""


def collect(loaded: Loaded, findings: Findings) -> Declarations:
    """Return the declarations of every file, with inheritance resolved."""
    found = Declarations()
    seen: dict[tuple[str, str], Span] = {}
    for file in loaded.files:
        for declaration in file.tree.declarations:
            if isinstance(declaration, ast.Expect):
                found.expects.append(declaration)
            elif (named := _named(declaration, findings)) is not None:
                kind, name = named
                earlier = seen.setdefault((kind, name.text), name.span)
                if earlier is name.span:
                    _keep(declaration, kind, name.text, file.imported, found, findings)
                else:
                    findings.add(name_errors.DuplicateName(name.span, earlier, kind, name.text))
    for kind in found.blocks:
        _inherit(kind, found, findings)
    return found


def _named(declaration: ast.Declaration, findings: Findings) -> tuple[str, ast.Name] | None:
    """Return the kind and the name of a declaration, or None if it has no name or an unknown kind."""
    match declaration:
        case ast.Param(name=name):
            return "param", name
        case ast.Metric(name=name):
            return "metric", name
        case ast.Block():
            kind = _meant(declaration, "", TOP_LEVEL, findings)
            if kind in TOP_LEVEL and declaration.name is not None:
                return kind, declaration.name
            if kind in TOP_LEVEL:
                label = (declaration.label and declaration.label.plain) or ""
                findings.add(structure_errors.UnnamedBlock(declaration.keyword.span, kind, label))
    return None


def _keep(
    declaration: ast.Declaration, kind: str, name: str, imported: bool, found: Declarations, findings: Findings
) -> None:
    match declaration:
        case ast.Param():
            found.params[name] = declaration
            if imported:
                found.imported_params.add(name)
        case ast.Metric():
            found.metrics[name] = declaration
        case ast.Block() if kind == "report":
            found.reports[name] = declaration
        case ast.Block() if kind == "claim":
            found.claims[name] = declaration
        case ast.Block():
            found.blocks[kind][name] = _entry(declaration, kind, findings, imported=imported)


def _meant(block: ast.Block, parent: str, allowed: tuple[str, ...], findings: Findings) -> str:
    """Return the kind of a block. A misspelt kind is reported and corrected, since otherwise each use of the block's
    name would be a further mistake."""
    kind = block.keyword.text
    if kind in allowed:
        return kind
    problem = structure_errors.MisplacedBlock(block.keyword.span, parent, kind, allowed)
    if problem.overrides:
        return kind
    if problem.replacement or not parent:  # other kinds are reported when the block around them is read
        findings.add(problem)
    return problem.replacement or kind


def _entry(block: ast.Block, kind: str, findings: Findings, *, imported: bool = False) -> Entry:
    schema = BLOCKS.get(kind, _NO_SCHEMA)
    of_words = block if kind == "override" and block.subject and block.subject.text in OF_WORDS else None
    attributes: dict[str, ast.Attribute] = {}
    blocks: dict[tuple[str, str, str], Entry] = {}
    events: list[Entry] = []
    """The events of a block, which have no names, and may be alike."""
    for item in () if of_words else block.body:
        if isinstance(item, ast.Attribute):
            key = item.key.text
            if key in attributes:
                findings.add(structure_errors.DuplicateAttribute(item.key.span, attributes[key].key.span, key))
            else:
                attributes[key] = item
        else:
            inner = _entry(item, _meant(item, kind, schema.blocks, findings), findings)
            if inner.kind == "at":
                events.append(inner)
                continue
            if BLOCKS.get(inner.kind, _NO_SCHEMA).named and not inner.name:
                findings.add(structure_errors.UnnamedBlock(inner.head, inner.kind, inner.label))
                inner = replace(inner, name=f"unnamed_{len(blocks)}")
            earlier = blocks.setdefault(inner.slot, inner)
            if earlier is not inner:
                findings.add(name_errors.DuplicateName(inner.head, earlier.head, inner.kind, inner.name))
    name = block.name or block.subject
    subject, own = block.subject, block.name
    if kind == "override" and subject is None:  # a misspelt keyword, whose kind was parsed as a name
        subject, own = own, None
    return Entry(
        kind=kind,
        name=own.text if own else "",
        label=(block.label.plain if block.label else None) or (block.name.text if block.name else ""),
        head=block.keyword.span.to(name.span) if name else block.keyword.span,
        attributes=attributes,
        blocks=(*blocks.values(), *events),
        base=block.base,
        subject=subject,
        imported=imported,
        labelled=bool(block.label and block.label.plain),
        of_words=of_words,
    )


def merge(below: Entry, above: Entry, *, keep_base: bool) -> Entry:
    """Lay `above` over `below`, and merge sub-blocks of the same name.

    With `keep_base`, the result has the name of `below`, and the label of `above` only if the spec gives one. Otherwise
    it has the name of `above`.
    """
    schema = BLOCKS.get(below.kind, _NO_SCHEMA)
    attributes = dict(below.attributes)
    for rivals in schema.exclusive:
        if any(key in above.attributes for key in rivals):
            for key in rivals:
                attributes.pop(key, None)
    attributes.update(above.attributes)
    events = above.all("at") or below.all("at")  # events belong together, so they are replaced as a whole
    blocks = {block.slot: block for block in below.blocks if block.kind != "at"}
    for block in above.blocks:
        if block.kind == "at":
            continue
        earlier = blocks.get(block.slot)
        blocks[block.slot] = merge(earlier, block, keep_base=True) if earlier else block
    named = replace(below, label=above.label, labelled=True) if above.labelled else below
    return replace(
        named if keep_base else above,
        attributes=attributes,
        blocks=(*blocks.values(), *events),
        base=below.base,
        orphan=below.orphan,
    )


def _inherit(kind: str, found: Declarations, findings: Findings) -> None:
    """Replace each entry that has a parent by the entry merged with its parent."""
    entries = found.blocks[kind]
    done: dict[str, Entry] = {}
    for name in entries:
        line: dict[str, Entry] = {}
        """The ancestors from this entry up to a resolved one or a root."""
        above: str | None = name
        while above is not None and above not in done:
            line[above] = entries[above]
            above = _parent(kind, line, entries, found, findings)
        for child, entry in reversed(line.items()):
            base = entry.base
            if isinstance(base, ast.Name):
                done[child] = replace(merge(done[base.text], entry, keep_base=False), parent=base.text)
            else:
                done[child] = entry
    entries.update({name: done[name] for name in entries})


def _parent(
    kind: str, line: dict[str, Entry], entries: Mapping[str, Entry], found: Declarations, findings: Findings
) -> str | None:
    """Return the parent of the last entry in a line of inheritance. If a mistake left the entry without a parent, make
    it an orphan."""
    name, entry = next(reversed(line.items()))
    base = entry.base
    problem: CompileProblem
    match base:
        case ast.Name(text=parent) if BLOCKS[kind].inherits:
            found.bases.add((kind, parent))
            if parent in entries and parent not in line:
                return parent
            if parent in line:
                chain = list(line)
                problem = name_errors.InheritanceCycle(base.span, tuple(chain[chain.index(parent) :]), kind)
            else:
                known = tuple(other for other in entries if other != name)
                problem = name_errors.UnknownBase(base.span, kind, parent, known)
        case ast.Attr() if kind == "workload":
            return None
        case None:
            return None
        case other:
            problem = structure_errors.CannotInherit(other.span, kind)
    findings.add(problem)
    line[name] = replace(entry, base=None, orphan=True)
    return None


def parameters(found: Declarations, given: Mapping[str, str], findings: Findings) -> dict[str, ast.Expr]:
    """Return every parameter's expression, ordered so that each needs only earlier ones. Raises SpecError when a given
    value is not an expression, or when a parameter needs itself."""
    values = {name: param.value for name, param in found.params.items()}
    for name, text in given.items():
        if name not in values:
            findings.add(name_errors.UnknownParam(None, "param", name, tuple(values)))
            continue
        values[name] = parse_expression(Source(f"--param {name}", text), 0, len(text))
    ordered: dict[str, ast.Expr] = {}
    circles: list[tuple[str, ...]] = []
    for name in values:
        _visit(name, values, ordered, circles)
    for circle in circles:
        findings.add(name_errors.ParamCycle(found.params[circle[0]].name.span, circle))
    if circles:
        # These parameters have no value, so that each use would be a further mistake.
        raise SpecError(findings.diagnostics())
    return ordered


def _visit(
    name: str, values: Mapping[str, ast.Expr], ordered: dict[str, ast.Expr], circles: list[tuple[str, ...]]
) -> None:
    """Append a parameter to `ordered`, after the parameters that it refers to. This does not recurse, so chains may be
    long."""
    trail: dict[str, Iterator[ast.Name]] = {}
    start: str | None = name
    while start is not None or trail:
        if start is not None:
            if start in trail:
                chain = list(trail)
                circles.append(tuple(chain[chain.index(start) :]))
            elif start not in ordered:
                trail[start] = names_in(values[start])
        start = (
            next((used.text for used in trail[next(reversed(trail))] if used.text in values), None) if trail else None
        )
        if start is None and trail:
            done, _ = trail.popitem()
            ordered[done] = values[done]
