"""The syntax tree, which represents the text before any name or unit is looked up.

Every node has the span of the text that it came from. The tree is deliberately generic: a block is a keyword, a name, a
label and a body. Which attributes a block may have is defined by the compiler (`compiler/schemas.py`), not by the
grammar.
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
    """A number with its unit, if there is one: `20 min`, `75M records`, `1.6 TB`, `96`, `5 %`.

    In `value`, the multiplier letter after the digits (k, M, G, T) is already applied. `unit` is the unit as written,
    or "" if there is none. `text` is the number as written.
    """

    span: Span
    value: float
    unit: str
    unit_span: Span | None
    is_integer: bool


@dataclass(frozen=True)
class Hole:
    """A hole inside a string: `{expression:format}`."""

    span: Span
    expr: Expr
    format: str


@dataclass(frozen=True)
class String:
    """A quoted string. `parts` alternate between plain text and holes. `{{` and `}}` are literal braces."""

    span: Span
    parts: tuple[str | Hole, ...]

    @property
    def plain(self) -> str | None:
        """The text if the string has no holes, or None otherwise."""
        if any(isinstance(part, Hole) for part in self.parts):
            return None
        return "".join(part for part in self.parts if isinstance(part, str))


@dataclass(frozen=True)
class List:
    """A list: `[a, b, c]`."""

    span: Span
    items: tuple[Expr, ...]


@dataclass(frozen=True)
class Attr:
    """A field of a base: `latency.p99`, `ycsb.a`, `replica.variants`, `find_threads.knee`."""

    span: Span
    base: Expr
    field: Name


@dataclass(frozen=True)
class Argument:
    """An argument: `96`, `threads: 96`, `user: env("X")`. The `key` of a positional argument is None."""

    span: Span
    key: Name | None
    value: Expr


@dataclass(frozen=True)
class Call:
    """A call: `ycsb("/opt/ycsb")`, `range(200 ops/s, 120k ops/s, steps: 25)`, and reductions: `max(throughput over
    threads, workload)`, `mean(throughput over phase, when steady)`.

    `over` has the reduced dimensions, and `when` has the condition. Both are empty for a plain call. In a reduction,
    the first of the `arguments` is the expression that is reduced, and named arguments follow the dimensions: `over
    target, at: 95 %`.
    """

    span: Span
    function: Name
    arguments: tuple[Argument, ...]
    over: tuple[Name, ...]
    when: Expr | None


@dataclass(frozen=True)
class Index:
    """An indexed expression: `throughput[nvme]`, `throughput[eco, threads: 96]`."""

    span: Span
    base: Expr
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Unary:
    """An operator before an operand: `-a`, `not a`."""

    span: Span
    operator: str
    operand: Expr


@dataclass(frozen=True)
class Binary:
    """An operator between two operands: `a + b`. The operators are + - * / < <= > >= == != and or, `x` (as in `6 x 10
    min`) and `..` (as in `1..16`)."""

    span: Span
    operator: str
    left: Expr
    right: Expr
    operator_span: Span


@dataclass(frozen=True)
class Every:
    """A probe with its interval: `disk every 1 s on device`. `subject` is sampled at each `interval`, on the device
    that `target` names, if any."""

    span: Span
    subject: Expr
    interval: Expr
    target: Expr | None


@dataclass(frozen=True)
class By:
    """Items with dimensions: `throughput by threads`, `a by workload and hardware`, `curve = a, b along threads`.

    `keyword` is "by" or "along". `subject` is the last item before the keyword (`b`). The other items are in the
    series.
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
    """A key with values, `key = value, value, ...`. It may have a label: `column "Improvement" = "..."`.

    The action of an event, `command("...")`, is also an attribute: its key is the function, and its only value is the
    whole call. So is `note "The disks are full" at threads: 96`, whose value is a call of `at`.

    `values` has one item, or several if the value is a series: `3, interleaved`; `throughput by phase, color hardware`.
    """

    span: Span
    key: Name
    label: String | None
    values: tuple[Expr, ...]


@dataclass(frozen=True)
class Block:
    """A block: `hardware eco "5100 ECO" { ... }`, `workload b "Tagging" from ycsb.b { ... }`, `each workload { ... }`,
    `options { ... }`, `override experiment { ... }`, `formula legacy_nodes for a`, `profile smoke { ... }`, `at 5 min
    "Primary stepped down" { ... }`.

    `subject` is the dimension of `each` or the kind of `override`. The `name` of a `formula` is its metric. Its `base`
    is the same metric, indexed if the formula has keys: `formula m for a, threads: 4` has the base `m[a, threads: 4]`.
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
    """A metric: `metric name "Label" in unit = expression, higher is better`. `better` is "higher", "lower" or None."""

    span: Span
    name: Name
    label: String | None
    unit: Name | None
    expr: Expr
    better: str | None


@dataclass(frozen=True)
class Expect:
    """An expectation: `expect min(improvement over threads, workload) > 10`."""

    span: Span
    label: String | None
    condition: Expr


@dataclass(frozen=True)
class Param:
    """A parameter: `param records = 75M`."""

    span: Span
    name: Name
    value: Expr


@dataclass(frozen=True)
class Use:
    """The use of another file: `use "common.bench"`."""

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
    """Return whether two trees are equal, ignoring their places in a text."""
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
