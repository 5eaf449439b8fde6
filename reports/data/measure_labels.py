"""Readable names of base measures in the report's language, such as "p99 read latency" for `latency.p99[read]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import get_args

from benchbrief.model.plan import Dimension, Label, LatencyKind, Plan, Query, Wording
from benchbrief.reports.data.place_labels import level_name
from benchbrief.reports.data.report_data import reads_of
from benchbrief.reports.words.brief_words import Words, counted

_FACTS = {"nodes": "nodes", "price": "fact_price", "cores": "fact_cores", "memory": "fact_memory"}
_NUMBERED: tuple[Dimension, ...] = ("threads", "target", "phase", "repeat")
_MEASURE = re.compile(r"([a-z]+|[a-z][a-z0-9_]*\.[a-z0-9_]+)(?:\[([a-z_, ]+)\])?(?=,|$)")

_REDUCED = re.compile(r"(max|min|mean|median|sum)\((.+) over (\w+(?:, \w+)*)\)")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?=,|$)")
"""The form of a metric's name, such as `steady_rate`."""
_CJK = "[\u2e80-\u9fff\uff00-\uffef]"
_SEPARATOR = re.compile(rf"^, |(?<={_CJK}), |, (?={_CJK})")
"""Matches the separator between a measure and its fixed keys. In other languages than Japanese, a comma inside a name
is not a separator."""


def readable_label(label: Label, words: Words) -> str:
    """Return a label in words. A label is translated if it is a metric's name, or if it begins with a measure, a fact
    or a reduction that the language has a word for. Any other label stays unchanged."""
    if isinstance(label, Wording):
        text = _worded(label, words)
        return text if re.match(r"p\d", text) else text[:1].upper() + text[1:]
    return _readable(label, words)


def _worded(label: Label, words: Words, *, within: bool = False) -> str:
    """Return a label for use within a sentence. With `within`, the label is part of a calculation, and gets parentheses
    if it has several parts."""
    if isinstance(label, str):
        text = _readable(label, words)
        return text if text == label else text[0].lower() + text[1:] if text[1:2].islower() else text
    match label.form:
        case "at":
            text = _at(label, words)
        case "reduced":
            text = _reduced_to(label, words)
        case "comparison":
            left, right = (_worded(part, words, within=True) for part in label.of)
            text = f"{left} {_SIGNS.get(label.name, label.name)} {right}"
        case "change" | "reduction" | "shared_ratio":
            of, *places = (_worded(part, words) for part in label.of)
            form = f"w_{label.form}" if len(places) > 1 else f"w_{label.form}_from"
            text = words[form].format(of=of, **dict(zip(("a", "b"), places, strict=False)))
        case form if form in _ARITHMETIC and any(map(_is_arithmetic, label.of)):
            parts = [_operand(part, words) for part in label.of]
            text = _ARITHMETIC[form].format(**dict(zip(("a", "b"), parts, strict=False)))
        case form:
            parts = [_worded(part, words, within=form != "where") for part in label.of]
            text = words[f"w_{form}"].format(**dict(zip(("a", "b"), parts, strict=False)))
    return words["w_group"].format(text=text) if within and label.form not in ("at", "comparison") else text


def _is_arithmetic(label: Label) -> bool:
    return isinstance(label, Wording) and label.form in _ARITHMETIC


def _operand(label: Label, words: Words) -> str:
    """Return a part of a nested calculation with signs instead of words, for easier reading. Several parts get
    parentheses."""
    if isinstance(label, Wording) and label.form in _ARITHMETIC:
        parts = [_operand(part, words) for part in label.of]
        text = _ARITHMETIC[label.form].format(**dict(zip(("a", "b"), parts, strict=False)))
        return words["w_group"].format(text=text)
    if isinstance(label, Wording) and label.form == "at" and (label.points or len(label.of) > 1):
        of, *rest = (*(_worded(part, words) for part in label.of), *_points(label, words))
        return of + words["aside"].format(text=words.locale.listed(rest))
    return _worded(label, words, within=True)


def _at(label: Wording, words: Words) -> str:
    return words.locale.listed((*(_worded(part, words) for part in label.of), *_points(label, words)))


def _points(label: Wording, words: Words) -> Iterator[str]:
    for dim, point in label.points:
        yield counted(words, f"at_{dim}", point)


def _over(dims: Iterable[str], words: Words) -> str:
    return words.locale.listed(map(words.dimension_within, dims))


def _reduced_to(label: Wording, words: Words) -> str:
    statistic = words.get(f"statistic_{label.name}", label.name)
    parts = [_worded(part, words) for part in label.of]
    if not label.over:
        a, *b = parts
        return words["w_function"].format(statistic=statistic, of=words["w_against"].format(a=a, b=b[0]) if b else a)
    return words["reduced"].format(of=parts[0], statistic=statistic, dims=_over(label.over, words))


_ARITHMETIC = {
    "plus": "{a} + {b}",
    "minus": "{a} − {b}",
    "times": "{a} × {b}",
    "ratio": "{a} ÷ {b}",
    "divided": "{a} ÷ {b}",
    "negative": "−{a}",
}
_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}


def _readable(label: str, words: Words) -> str:
    name, comma, keys = label.partition(", ")
    if name in words.factors:
        return words.locale.listed((words.factors[name], keys)) if comma else words.factors[name]
    if reduced := _reduced(label):
        function, inner, over = reduced.groups()
        of = readable_label(inner, words)
        if of == inner and not inner[:1].isupper():
            return label
        dims = _over(over.split(", "), words)
        text = words["reduced"].format(of=of, statistic=words[f"statistic_{function}"], dims=dims)
        return text + _SEPARATOR.sub(words.locale.listed(("", "")), label[reduced.end() :])
    match = _MEASURE.match(label)
    if match is None:
        named = _NAME.match(label)
        return label if named is None else named.group().replace("_", " ").capitalize() + label[named.end() :]
    name, operation, kind = match.group(1), *_split_kind(match.group(2) or "")
    family, _, statistic = name.partition(".")
    known = words.get(f"measure_{name.replace('.', '_')}") or words.get(_FACTS.get(name, ""))
    if family == "latency" and statistic and operation:
        parts = {
            "statistic": words.get(f"statistic_{statistic}", statistic),
            "operation": _operation(operation, words),
        }
        text = words["measure_latency"].format(**parts)
    elif known and operation:
        text = words["measure_of"].format(measure=known, operation=_operation(operation, words))
    elif known:
        text = known
    else:
        return label
    if not re.match(r"p\d", text):  # p99 stays small
        text = text[:1].upper() + text[1:]
    if kind:
        text += words["aside"].format(text=words[f"r_latency_{kind}"])
    return text + _SEPARATOR.sub(words.locale.listed(("", "")), label[match.end() :])


def _reduced(label: str) -> re.Match[str] | None:
    """Return the reduction at the start of a label, up to its closing parenthesis. Return None if the reduction is
    followed by anything but fixed keys."""
    depth = 0
    for at, char in enumerate(label):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == ")" and depth == 0:
            return _REDUCED.fullmatch(label, 0, at + 1) if label[at + 1 : at + 2] in ("", ",") else None
    return None


def line_label(label: Label, query: Query, words: Words, plan: Plan) -> str:
    """Return the heading of a table's line. If the label is only a number, the thing that it counts is added ("4
    threads"). If it is only a level, the factor's name is added ("Value size 100 B")."""
    for read in reads_of(query):
        for dim, factor in plan.factors.items():
            for key in read.keys.get(dim, ()):
                if isinstance(label, str) and label == factor.label_of(key):
                    return level_name(factor, key)
        for dim in _NUMBERED:
            for key in read.keys.get(dim, ()):
                if isinstance(key, float) and isinstance(label, str) and label.replace(",", "") == f"{key:.15g}":
                    return counted(words, f"at_{dim}", key)
    return readable_label(label, words)


def _split_kind(names: str) -> tuple[str, str]:
    """Return the operations in an index, and `intended` or `service` if the index says how latency is counted."""
    found = re.findall("[a-z_]+", names)
    kinds = get_args(LatencyKind)
    return ", ".join(name for name in found if name not in kinds), next((name for name in found if name in kinds), "")


def _operation(names: str, words: Words) -> str:
    return words.locale.listed(words.get(f"operation_{name}", name) for name in re.findall("[a-z_]+", names))
