"""The syntax tree: what the text says, before any name or unit is looked up.

Every node carries the span of the text it came from. The tree is generic on purpose: a block is a keyword, a name, a
label and a body; which attributes a block may hold is the compiler's table
(`compiler/schemas.py`), not the grammar's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span


@dataclass(frozen=True)
class Name:
    """An identifier: `throughput`, `hdd`, `local`, `ipmi`."""

    span: Span
    text: str


@dataclass(frozen=True)
class Quantity:
    """A number and, where one is written, its unit: `20 min`, `75M records`, `1.6 TB`, `96`, `5 %`.

    `value` has the multiplier letter after the digits (k, M, G, T) applied; `unit` is as written, "" for none.
    `text` is the number as written.
    """

    span: Span
    value: float
    unit: str
    unit_span: Span | None
    is_integer: bool


@dataclass(frozen=True)
class Hole:
    """`{expression:format}` inside a string."""

    span: Span
    expr: Expr
    format: str


@dataclass(frozen=True)
class String:
    """A quoted string. `parts` alternate plain text and holes; `{{` and `}}` stand for braces."""

    span: Span
    parts: tuple[str | Hole, ...]

    @property
    def plain(self) -> str | None:
        """The text when there are no holes, else None."""
        if any(isinstance(part, Hole) for part in self.parts):
            return None
        return "".join(part for part in self.parts if isinstance(part, str))


@dataclass(frozen=True)
class List:
    """`[a, b, c]`."""

    span: Span
    items: tuple[Expr, ...]


@dataclass(frozen=True)
class Attr:
    """`base.field`: `latency.p99`, `ycsb.a`, `replica.variants`, `find_threads.knee`."""

    span: Span
    base: Expr
    field: Name


@dataclass(frozen=True)
class Argument:
    """A positional argument (`key` is None) or a named one: `96`, `threads: 96`, `user: env("X")`."""

    span: Span
    key: Name | None
    value: Expr


@dataclass(frozen=True)
class Call:
    """`ycsb("/opt/ycsb")`, `range(200 ops/s, 120k ops/s, steps: 25)`, and reductions:
    `max(throughput over threads, workload)`, `mean(throughput over phase, when steady)`.

    `over` holds the reduced dimensions, `when` the condition, both empty for a plain call. The first of a reduction's
    `arguments` is what is reduced; named arguments follow the dimensions: `over target, at: 95 %`.
    """

    span: Span
    function: Name
    arguments: tuple[Argument, ...]
    over: tuple[Name, ...]
    when: Expr | None


@dataclass(frozen=True)
class Index:
    """`throughput[nvme]`, `throughput[eco, threads: 96]`."""

    span: Span
    base: Expr
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Unary:
    """`-a`, `not a`."""

    span: Span
    operator: str
    operand: Expr


@dataclass(frozen=True)
class Binary:
    """`a + b`; operators: + - * / < <= > >= == != and or, `x` (as in `6 x 10 min`) and `..` (as in `1..16`)."""

    span: Span
    operator: str
    left: Expr
    right: Expr
    operator_span: Span


@dataclass(frozen=True)
class Every:
    """`disk every 1 s on device`: `subject` sampled each `interval`, on what `target` names (or None)."""

    span: Span
    subject: Expr
    interval: Expr
    target: Expr | None


@dataclass(frozen=True)
class By:
    """`throughput by threads`, `a by workload and hardware`, `curve = a, b along threads`.

    `keyword` is "by" or "along"; `subject` is the last item before it (`b`), the others stand in the series.
    """

    span: Span
    subject: Expr
    keyword: str
    dimensions: tuple[Name, ...]


@dataclass(frozen=True)
class Option:
    """A word with a value after the first item of a series: `color hardware`, `axis right`, `label "ideal"`."""

    span: Span
    word: Name
    value: Expr


Expr: TypeAlias = Name | Quantity | String | List | Attr | Call | Index | Unary | Binary | Every | By | Option


@dataclass(frozen=True)
class Attribute:
    """`key = value, value, ...`; with a label: `column "Improvement" = "..."`.

    What an event does, `command("...")`, is one too: its key is the function, its only value the whole call. So is
    `note "The disks are full" at threads: 96`, whose value is a call of `at`.

    `values` has one item, or more when the value is a series: `3, interleaved`; `throughput by phase, color hardware`.
    """

    span: Span
    key: Name
    label: String | None
    values: tuple[Expr, ...]


@dataclass(frozen=True)
class Block:
    """`hardware eco "5100 ECO" { ... }`, `workload b "Tagging" from ycsb.b { ... }`, `each workload { ... }`,
    `options { ... }`, `override experiment { ... }`, `formula legacy_nodes for a`, `profile smoke { ... }`,
    `at 5 min "Primary stepped down" { ... }`.

    `subject` is the dimension of `each` and the kind of `override`. A `formula` has the metric as its `name`, and as
    its `base` the same metric, indexed when it has keys: `formula m for a, threads: 4` has the base `m[a, threads: 4]`.
    The `base` of an event, `at`, is its time.
    """

    span: Span
    keyword: Name
    name: Name | None
    label: String | None
    base: Expr | None
    subject: Name | None
    body: tuple[Item, ...]


@dataclass(frozen=True)
class Metric:
    """`metric name "Label" in unit = expression, higher is better`; `better` is "higher", "lower" or None."""

    span: Span
    name: Name
    label: String | None
    unit: Name | None
    expr: Expr
    better: str | None


@dataclass(frozen=True)
class Expect:
    """`expect min(improvement over threads, workload) > 10`."""

    span: Span
    label: String | None
    condition: Expr


@dataclass(frozen=True)
class Param:
    """`param records = 75M`."""

    span: Span
    name: Name
    value: Expr


@dataclass(frozen=True)
class Use:
    """`use "common.bench"`."""

    span: Span
    path: String


Item: TypeAlias = Attribute | Block
Declaration: TypeAlias = Block | Metric | Expect | Param | Use


@dataclass(frozen=True)
class File:
    span: Span
    declarations: tuple[Declaration, ...]


_LEAVES = (str, int, float, Span)


def children(node: Any) -> Iterator[Any]:
    """Yield the child nodes, in no particular order."""
    for name in node.__dataclass_fields__:
        inner = getattr(node, name)
        if isinstance(inner, tuple):
            yield from (each for each in inner if not isinstance(each, str))
        elif inner is not None and not isinstance(inner, _LEAVES):
            yield inner


def same(first: object, second: object) -> bool:
    """Whether two trees are equal, apart from their places in a text."""
    left: list[tuple[Any, Any]] = [(first, second)]
    while left:
        one, two = left.pop()
        if isinstance(one, Span) and isinstance(two, Span):
            continue
        if type(one) is not type(two):
            return False
        if isinstance(one, tuple):
            if len(one) != len(two):
                return False
            left.extend(zip(one, two, strict=True))
        elif isinstance(one, _LEAVES) or one is None:
            if one != two:
                return False
        else:
            left.extend((getattr(one, name), getattr(two, name)) for name in one.__dataclass_fields__)
    return True
