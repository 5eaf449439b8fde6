"""Finds texts that are too long for their place: a label in a legend, a title, a name in a file's name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from benchbrief.compiler.briefs.report_schema import ELEMENTS
from benchbrief.compiler.frontend.value_errors import TooLong
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.schemas.block_schema import BLOCKS
from benchbrief.dsl.syntax import ast
from benchbrief.model.value_shapes import HEADING, LABEL, NAME, PARAGRAPH, BlockSchema, Fact, Text

_SCHEMAS: Mapping[str, BlockSchema] = {**BLOCKS, **ELEMENTS}
_OTHER = BlockSchema("", {}, named=False)
_SENTENCE = "; a sentence about it belongs in its `description`"


def check_lengths(files: Iterable[ast.File], params: Mapping[str, ast.Expr], findings: Findings) -> None:
    """Report each text that is longer than its kind may be. `params` are the values of the parameters."""
    for file in files:
        for declaration in file.declarations:
            for problem in _of_declaration(declaration, params):
                findings.add(problem)


def _of_declaration(found: ast.Declaration, params: Mapping[str, ast.Expr]) -> Iterator[TooLong]:
    match found:
        case ast.Block():
            yield from _of_block(found, params)
        case ast.Metric():
            yield from _name("metric", found.name)
            yield from _text(f"the label of metric `{found.name.text}`", found.label, LABEL)
        case ast.Expect():
            yield from _text("the label of an expectation", found.label, HEADING)
        case ast.Param():
            yield from _name("param", found.name)
        case ast.Use():
            pass


def _of_block(block: ast.Block, params: Mapping[str, ast.Expr]) -> Iterator[TooLong]:
    kind = block.keyword.text
    schema = _SCHEMAS.get(kind, _OTHER)
    if kind == "override" and block.subject is not None:
        schema = BLOCKS.get(block.subject.text, _OTHER)
    yield from _name(kind, block.name)
    of = f"{kind} `{block.name.text}`" if block.name else f"a {kind}"
    what, where = (
        ("title", "") if schema.label > LABEL else ("label", _SENTENCE if "description" in schema.keys else "")
    )
    yield from _text(f"the {what} of {of}", block.label, schema.label, where)
    for item in block.body:
        if isinstance(item, ast.Block):
            yield from _of_block(item, params)
        else:
            yield from _of_attribute(item, schema, params)


def _of_attribute(attribute: ast.Attribute, schema: BlockSchema, params: Mapping[str, ast.Expr]) -> Iterator[TooLong]:
    key = attribute.key.text
    yield from _name("attribute", attribute.key)
    yield from _text(f"the label of a `{key}`", attribute.label, LABEL)
    shape = schema.keys[key].shape if key in schema.keys else schema.open_keys
    longest = shape.longest if isinstance(shape, Text | Fact) else PARAGRAPH
    left = list(attribute.values)
    followed: set[str] = set()  # nested lists of parameters grow by powers of two
    while left:
        match left.pop():
            case ast.String() as text:
                yield from _text(f"`{key}`", text, longest)
            case ast.Name(text=name) if name in params and name not in followed:
                followed.add(name)
                left.append(params[name])
            case ast.Option(word=word, value=ast.String() as text):
                yield from _text(f"the `{word.text}` of a `{key}`", text, LABEL)
            case ast.List(items=items):
                left += items
            case ast.Call(arguments=arguments):
                left += [argument.value for argument in arguments]


def _name(kind: str, name: ast.Name | None) -> Iterator[TooLong]:
    if name is not None and len(name.text) > NAME:
        where = "; the full words belong in its label" if kind in (*BLOCKS, "metric") else ""
        yield TooLong(name.span, f"this {kind}'s name", len(name.text), NAME, where)


def _text(what: str, text: ast.String | None, limit: int, where: str = "") -> Iterator[TooLong]:
    """Return the text. A hole counts as written, since its value has a limit of its own."""
    if text is None:
        return
    length = sum(len(part) if isinstance(part, str) else len(part.span.text) for part in text.parts)
    if length > limit:
        yield TooLong(text.span, what, length, limit, where)
