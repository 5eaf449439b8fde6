"""Finds the context of the cursor in a spec from the words before it, and documents attributes and names.

The text is not parsed, because it is still being typed, and can rarely be parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Literal

from lsprotocol import types

from benchbrief.compiler.extension_samples import sample_tool, sample_workloads
from benchbrief.compiler.frontend.declarations import TOP_LEVEL
from benchbrief.compiler.frontend.name_index import NameIndex, Node, Symbol
from benchbrief.compiler.registry import ENGINE_SPECS, SCHEDULER_SPECS, TOOL_SPECS
from benchbrief.compiler.schemas import (
    BLOCKS,
    DATABASE_OPTIONS,
    ELEMENTS,
    TEMPLATE,
    database_schema,
    options_schema,
    owners,
    workload_schema,
)
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.syntax import ast
from benchbrief.model.value_shapes import BlockSchema, Fact, Key


def _scheduler_snippet() -> str:
    """Return a block of the first scheduler, with a sample of its first attribute."""
    scheduler = next(iter(SCHEDULER_SPECS.own.values()), None)
    samples = (each.example for each in scheduler.attributes.values() if each.example) if scheduler else ()
    sample = next(iter(samples), "")
    return f"scheduler ${{1:{scheduler.name if scheduler else 'name'}}} {{\n  {sample}$0\n}}"


DECLARATION_SNIPPETS = {
    "hardware": ('hardware ${1:name} "${2:Label}" {\n  hosts = ${3:local}\n}', BLOCKS["hardware"].doc),
    "client": (
        f'client ${{1:load}} {{\n  hosts = "${{2:load.lab}}"\n  tool  = ${{3:{sample_tool()}}}\n}}',
        BLOCKS["client"].doc,
    ),
    "factor": ('factor ${1:name} "${2:Label}" {\n  levels = [$0]\n}', BLOCKS["factor"].doc),
    "database": (
        f"database ${{1:name}} {{\n  engine = ${{2|{','.join(ENGINE_SPECS.own)}|}}\n  $0\n}}",
        BLOCKS["database"].doc,
    ),
    "workload": (
        f'workload ${{1:name}} "${{2:Label}}" from ${{3:{sample_workloads()[0]}}} {{\n  $0\n}}',
        BLOCKS["workload"].doc,
    ),
    "probe": ("probe ${1:name} {\n  kind  = ${2|disk,cpu|}\n  every = ${3:1 s}\n}", BLOCKS["probe"].doc),
    "experiment": (
        """experiment ${1:name} {
  hardware  = [$2]
  workloads = [$3]
  threads   = [${4:1, 2, 4, 8}]
  measure   = ${5:10 min}
}""",
        BLOCKS["experiment"].doc,
    ),
    "scheduler": (
        _scheduler_snippet(),
        BLOCKS["scheduler"].doc,
    ),
    "profile": ("profile ${1:smoke} {\n  hosts = local\n  override experiment { $0 }\n}", BLOCKS["profile"].doc),
    "claim": (
        'claim ${1:name} "Up to {value:.1f}X the ${2:work}" {\n  value = max(${0:gain} over threads)\n}',
        ELEMENTS["claim"].doc,
    ),
    "report": (
        f'report ${{1:brief}} "${{2:Title}}" {{\n  template = ${{3:{TEMPLATE}}}\n\n  $0\n}}',
        ELEMENTS["report"].doc,
    ),
    "metric": ('metric ${1:name} "${2:Label}" in ${3:%} = ${0:expression}', "A derived metric."),
    "expect": ("expect ${0:condition}", "A condition that must hold: a gate against regressions."),
    "param": ("param ${1:name} = ${0:value}", "A value that `--param name=value` sets from the command line."),
    "use": ('use "${0:common.bench}"', "Brings the declarations of another file in."),
}
INNER = {
    "variant": 'variant ${1:name} "${2:Label}" { $0 }',
    "level": 'level ${1:name} "${2:Label}" { $0 }',
    "ssh": "ssh {\n  $0\n}",
    "options": "options {\n  $0\n}",
    "override": "override ${1|workload,experiment|} { $0 }",
    "section": 'section "${1:Heading}" {\n  $0\n}',
    "each": "each ${1|workload,hardware,experiment|} {\n  $0\n}",
    "callout": 'callout "${1:Title}" {\n  rows   = ${2:workload}\n  column "${3:Head}" = "{$0}"\n}',
    "table": 'table "${1:Title}" {\n  rows    = ${2:workload}\n  columns = $0\n}',
    "compare": 'compare "${1:Title}" {\n  rows    = ${2:workload}\n  columns = [${3:throughput}] by hardware\n}',
    "figure": 'figure "${1:Title}" {\n  line = ${2:throughput} by ${3:threads}, color ${4:hardware}\n}',
    "formula": "formula ${1:metric}",
    "palette": "palette {\n  $0\n}",
    "at": 'at ${1:5 min} "${2:What happens}" { command("${3}", on: ${4|first,each|}) }',
}


_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<comment>\#[^\r\n]*)"
    r'|(?P<text>"""(?>[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*)""")'
    r'|(?P<string>"(?!"")(?>[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)")'
    r'|(?P<open>"""[\s\S]*|"[^\r\n]*)'  # a text that is not closed
    r"|(?P<number>[0-9][0-9_]*(?:\.(?!\.)[0-9_]*)?(?:[eE][+-]?[0-9]+)?(?:[kMGT](?!\w))?)"
    r"|(?P<word>(?:[^\W\d]|[%€$£¥°])\w*)"
    r"|(?P<sign>\.\.|[<>=!]=|[\s\S])"
)
_SPECIAL = re.compile(r"\\[\s\S]|\{\{|\}\}|[{}]")
_VALUE_NEXT = re.compile(r'\s*("[^"\n]*"\s*)?=(?!=)')
DECLARATIONS = (*TOP_LEVEL, "metric", "param", "expect", "use")
_KEYWORDS = frozenset((*TOP_LEVEL, *INNER))


@dataclass(frozen=True)
class TypedToken:
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class BlockHead:
    """The head of a block, such as `workload b "Tagging" from ycsb.b`, `override workload b` or `each workload`."""

    keyword: str
    words: tuple[str, ...] = ()
    """The words after the keyword, leaving out texts."""

    @property
    def name(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def base(self) -> str:
        """The declaration that the block is based on, such as `ycsb.b`, or "" if there is none."""
        return "".join(self.words[self.words.index("from") + 1 :]) if "from" in self.words else ""


@dataclass
class OpenBracket:
    """An open bracket, or the whole file. For a `(` or `[`, `word` is the word before it. For a `{`, `head` is the head
    of its block."""

    bracket: Literal["", "{", "[", "("]
    head: BlockHead = field(default_factory=lambda: BlockHead(""))
    word: str = ""
    tokens: list[TypedToken] = field(default_factory=list)
    """The tokens since the start of the last attribute or block."""
    key: str = ""
    """The attribute whose value the tokens belong to. For a metric or a parameter, this is the keyword."""
    keys: dict[str, None] = field(default_factory=dict)
    """The attributes inside the bracket so far."""


@dataclass(frozen=True)
class Cursor:
    """The cursor in a text. `prefix` is the part of the word before the cursor. `start` and `end` delimit the whole
    word, which a completion replaces.

    `inside` says whether the cursor is in a comment, in the plain part of a text, in a text's hole, in the format of a
    hole, or in the code.
    """

    inside: Literal["code", "hole", "format", "text", "comment"]
    prefix: str
    start: int
    end: int
    frames: tuple[OpenBracket, ...]
    """The open brackets, outermost first. The first one is the whole file."""
    new_line: bool
    """Whether the word is the first on its line."""

    @property
    def blocks(self) -> tuple[OpenBracket, ...]:
        """The whole file and the open blocks, outermost first."""
        return tuple(frame for frame in self.frames if frame.bracket in ("", "{"))

    @property
    def block(self) -> OpenBracket:
        return self.blocks[-1]

    @property
    def frame(self) -> OpenBracket:
        return self.frames[-1]

    @property
    def before(self) -> list[TypedToken]:
        """The tokens before the word, starting at the innermost bracket or attribute."""
        return self.frame.tokens

    @property
    def last(self) -> str:
        return self.before[-1].text if self.before else ""


def cursor_at(text: str, offset: int) -> Cursor:
    """Return the cursor at `offset`. Text after the offset only determines where the current word ends."""
    start = offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    end = offset
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    while start < offset and text[start].isdecimal():  # `20mi`: the unit is the word
        start += 1
    frames = [OpenBracket("")]
    for token in tokens(text, 0, start):
        if token.kind == "comment" and token.end == start:
            return Cursor("comment", "", offset, offset, tuple(frames), new_line=False)
        if token.kind == "open" and token.end == start:
            return _in_string(text, token, (start, offset, end), frames)
        _take(frames, token, text)
    new_line = not text[text.rfind("\n", 0, start) + 1 : start].strip()
    return Cursor("code", text[start:offset], start, end, tuple(frames), new_line)


def tokens(text: str, start: int, end: int) -> Iterator[TypedToken]:
    """Yield the words, numbers, texts, comments and punctuation in a part of a text."""
    for match in _TOKEN.finditer(text, start, end):
        if match.lastgroup is not None and match.lastgroup != "space":
            yield TypedToken(match.lastgroup, match.group(), match.start(), match.end())


def keys_after(text: str, offset: int) -> set[str]:
    """Return the attributes that follow `offset` in the block around it."""
    depth = 0
    found: set[str] = set()
    before: TypedToken | None = None
    for token in tokens(text, offset, len(text)):
        if _begins_declaration(text, token):
            break  # the block was never closed
        if token.text in ("{", "[", "("):
            depth += 1
        elif token.text in ("}", "]", ")"):
            depth -= 1
            if depth < 0:
                break
        elif token.text == "=" and depth == 0 and before is not None and before.kind == "word":
            found.add(before.text)
        if token.kind not in ("string", "comment"):
            before = token
    return found


def _in_string(text: str, token: TypedToken, word: tuple[int, int, int], frames: list[OpenBracket]) -> Cursor:
    """Return the cursor in the text that starts with `token`, either in a hole or in plain text."""
    start, offset, end = word
    opened = -1
    for special in _SPECIAL.finditer(text, token.start, start):
        if special.group() == "{" and opened < 0:
            opened = special.end()
        elif special.group() in ("}", "}}") and opened >= 0:
            opened = -1
    if opened < 0:
        return Cursor("text", "", offset, offset, tuple(frames), new_line=False)
    inner = [*frames, OpenBracket("(", word="{")]
    for piece in tokens(text, opened, start):
        if piece.text == ":" and inner[-1].word == "{":
            return Cursor("format", text[start:offset], start, end, tuple(inner), new_line=False)
        _take(inner, piece, text)
    return Cursor("hole", text[start:offset], start, end, tuple(inner), new_line=False)


def _take(frames: list[OpenBracket], token: TypedToken, text: str) -> None:
    if token.kind == "comment":
        return
    if _begins_declaration(text, token):
        del frames[1:]  # brackets above that were never closed
        frames[0].tokens, frames[0].key = [], ""
    frame = frames[-1]
    match token.text:
        case "{":
            frames.append(OpenBracket("{", head=_head(frame.tokens, text)))
            frame.tokens, frame.key = [], ""
        case "[" | "(":
            last = frame.tokens[-1] if frame.tokens else None
            called = last is not None and last.kind == "word" and last.end == token.start
            frames.append(OpenBracket("[" if token.text == "[" else "(", word=_dotted(frame.tokens) if called else ""))
        case "}" | "]" | ")":
            _close(frames, token)
        case "=" if frame.bracket in ("", "{"):
            _begin_value(frame)
        case _:
            frame.tokens.append(token)


def _begins_declaration(text: str, token: TypedToken) -> bool:
    """Return whether a token is a keyword at the start of a line, and not a value."""
    at_margin = token.start == 0 or text[token.start - 1] == "\n"
    return at_margin and token.text in DECLARATIONS and not _VALUE_NEXT.match(text, token.end)


def _close(frames: list[OpenBracket], token: TypedToken) -> None:
    opener = {"}": "{", "]": "[", ")": "("}[token.text]
    for depth in range(len(frames) - 1, 0, -1):
        if frames[depth].bracket == opener and frames[depth].word != "{":
            del frames[depth:]
            if token.text == "}":
                frames[-1].tokens, frames[-1].key = [], ""
            else:
                frames[-1].tokens.append(token)
            return


def _begin_value(frame: OpenBracket) -> None:
    words = frame.tokens
    if words and words[0].text in ("metric", "param") and frame.bracket == "":
        frame.key = words[0].text
    else:
        named = [token for token in words[-2:] if token.kind == "word"]
        frame.key = named[-1].text if named else ""
        frame.keys[frame.key] = None
    frame.tokens = []


def _head(before: list[TypedToken], text: str) -> BlockHead:
    """Return the head of the block whose `{` follows these tokens."""
    run: list[TypedToken] = []
    for token in reversed(before):
        if token.kind not in ("word", "string", "text") and token.text != ".":
            break
        run.append(token)
        if token.text in _KEYWORDS and _is_first(text, token):
            break
    run.reverse()
    start = next((index for index, token in enumerate(run) if token.text in _KEYWORDS), max(0, len(run) - 1))
    words = [token.text for token in run[start:] if token.kind == "word" or token.text == "."]
    return BlockHead(words[0], tuple(words[1:])) if words else BlockHead("")


def _is_first(text: str, token: TypedToken) -> bool:
    return not text[text.rfind("\n", 0, token.start) + 1 : token.start].strip()


def _dotted(before: list[TypedToken]) -> str:
    """Return the dotted name, such as `latency.p99`, before a `[`."""
    words: list[str] = []
    for token in reversed(before):
        if token.kind == "word" and (not words or words[-1] == "."):
            words.append(token.text)
        elif token.text == "." and words and words[-1] != ".":
            words.append(".")
        else:
            break
    return "".join(reversed(words)).lstrip(".")


_MOST_LINES = 12


def markdown(text: str) -> types.MarkupContent | None:
    return types.MarkupContent(types.MarkupKind.Markdown, text) if text else None


def attribute_doc(key: Key) -> str:
    """Return the documentation of an attribute, the form of its value, and its default."""
    lines = [key.doc, "", f"Wanted: {key.shape.described}"]
    if key.example:
        lines.append(f"As in: `{key.example}`")
    if key.required:
        lines.append("must be said")
    elif key.default:
        lines.append(f"left out: {key.default}")
    if key.only:
        lines.append(f"for {owners(key.only)} only")
    return "  \n".join(lines)


def declared(node: Node) -> str:
    """Return a declaration's text, cut if it is long."""
    lines = node.span.text.splitlines()
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], "  ..."]
    text = "\n".join(lines)
    return f"```bench\n{text}\n```"


def schema_of(keyword: str, family: str) -> BlockSchema | None:
    """Return the schema of a block. `family` is its engine or tool, or "" if that is unknown."""
    engine = ENGINE_SPECS.usable(family) if keyword in ("database", "options") else None
    match keyword:
        case "options":
            whole = BlockSchema("", DATABASE_OPTIONS, open_keys=Fact(), named=False)
            return options_schema(engine, flags=engine.in_process) if engine else whole
        case "database":
            return database_schema(engine)
        case "workload":
            return workload_schema(TOOL_SPECS.usable(family))
        case _:
            return ELEMENTS.get(keyword) or BLOCKS.get(keyword)


def family_at(cursor: Cursor, index: NameIndex) -> str:
    """Return the family of the block at the cursor. For `options`, this is the family of the database around it."""
    *around, block = cursor.blocks
    head = around[-1].head if block.head.keyword == "options" and around else block.head
    return family_of(head.name if head.keyword == "override" else head.keyword, head.name, head.base, index)


def family_of(kind: str, name: str, base: str, index: NameIndex) -> str:
    """Return the family of a declaration: the tool that a workload comes from (`ycsb`, `db_bench`), or a database's
    engine, or "" if unknown."""
    if kind == "workload":
        seen: set[str] = set()
        while base and "." not in base and base not in seen:
            seen.add(base)
            node = index.nodes.get(Symbol("workload", base))
            above = node.base if isinstance(node, ast.Block) else None
            base = above.span.text if above is not None else ""
        return base.partition(".")[0] if "." in base else ""
    if kind == "database":
        node = index.nodes.get(Symbol("database", name))
        for item in node.body if isinstance(node, ast.Block) else ():
            if isinstance(item, ast.Attribute) and item.key.text == "engine":
                return item.values[0].span.text
    return ""
