"""The TextMate grammar, with which VS Code, Sublime Text and JetBrains IDEs highlight specs.

Except for strings and their holes, every rule is a single match, so that a half-typed line does not change the colours
below it. Patterns have Oniguruma's syntax. Scopes have the names that colour themes know:
https://macromates.com/manual/en/language_grammars.
"""

from __future__ import annotations

import json
import plistlib
import re
from collections.abc import Iterable
from typing import Any

from benchbrief.model.plan import DIMENSIONS
from editors import words

Rule = dict[str, Any]

_NAME = r"[A-Za-z_]\w*"
_QUOTED = r'"(?!"")(?:[^"\\]|\\.)*"'
_EQUAL_NEXT = rf"(?=\s*(?:{_QUOTED}\s*)?=(?!=))"


def _any(alternatives: Iterable[str]) -> str:
    """Return a pattern for one of these words, the longest first."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(alternatives, key=lambda word: (-len(word), word))) + ")"


_UNIT = rf"{_any(words.UNITS)}(?!\w)"
_METRIC_UNIT = rf"(?:1(?=/)|{_UNIT})(?:[/*]{_UNIT})*"


def _rule(match: str, name: str = "", **captures: str | Rule) -> Rule:
    """Make a rule that matches `match`; `_1="scope"` names the match's first group, and `_1={...}` applies rules inside
    that group."""
    rule: Rule = {"name": f"{name}.bench"} if name else {}
    rule["match"] = match
    if captures:
        rule["captures"] = {
            number.removeprefix("_"): {"name": f"{what}.bench"} if isinstance(what, str) else what
            for number, what in captures.items()
        }
    return rule


def _inside(*names: str) -> Rule:
    return {"patterns": [{"include": f"#{name}"} for name in names]}


_COMMENT = _rule(r"(#).*$", "comment.line.number-sign", _1="punctuation.definition.comment")

_STATEMENTS = [
    _rule(
        rf"\b(metric)\s+({_NAME})(?:\s*({_QUOTED}))?(?:\s*\b(in)\s+({_METRIC_UNIT}))?",
        _1="storage.type.metric",
        _2="entity.name.function.metric",
        _3=_inside("label"),
        _4="keyword.control",
        _5="keyword.other.unit",
    ),
    _rule(rf"\b(param)\s+({_NAME})", _1="storage.type.param", _2="variable.other.constant.param"),
    _rule(r'\b(use)\b(?=\s*")', _1="keyword.control.import"),
    _rule(rf"\b(expect)\b(?!\s*[=:.,)\]}}])(?:\s*({_QUOTED}))?", _1="storage.type.expect", _2=_inside("label")),
]

# Block words are names elsewhere: `color hardware`, `rows = workload`.
_NOT_A_VALUE = r"(?<!=)(?<!= )(?<!=  )(?<!, )(?<!\[)(?<!\bby )(?<!\bover )(?<!\balong )(?<!\bcolor )"
_BODY_NEXT = r"(?=\s*(?:\{|$|#|from\b))"

_BLOCKS = [
    _rule(r"\b(each)\s+(" + _any(DIMENSIONS) + r")\b", _1="keyword.control", _2="variable.language.dimension"),
    _rule(
        rf"\b(override)\s+({_any(words.NAMED_BLOCKS)})\b(?:\s+({_NAME}))?",
        _1="keyword.control",
        _2="storage.type.block",
        _3="entity.name.type",
    ),
    _rule(rf"\b(?:each|override)(?=\s+{_NAME}(?:\s+{_NAME})?\s*\{{)", "keyword.control"),
    _rule(r"\b(at)(?=\s+[\w(][^={\n]*(?:\{|$))", _1="storage.type.block"),
    _rule(rf"\b(formula)\s+({_NAME})(?!\s*=)", _1="storage.type.block", _2="variable.other"),
    _rule(
        rf"{_NOT_A_VALUE}\b({_any(words.NAMED_BLOCKS)})\s+(?!from\b)({_NAME})(?:\s*({_QUOTED}))?{_BODY_NEXT}",
        _1="storage.type.block",
        _2="entity.name.type",
        _3=_inside("label"),
    ),
    _rule(
        rf"\b({_any((*words.INNER_BLOCKS, *words.NAMED_BLOCKS))})(?:\s*({_QUOTED}))?(?=\s*\{{)",
        _1="storage.type.block",
        _2=_inside("label"),
    ),
    _rule(rf'\b({_any(words.INNER_BLOCKS)})(?=\s*(?:"|$))', _1="storage.type.block"),
    *(
        _rule(
            rf"\b(from)\s+({family})\s*(\.)\s*({_any(names)})\b",
            _1="keyword.control",
            _2="support.class.workload",
            _3="punctuation.accessor",
            _4="support.class.workload",
        )
        for family, names in words.WORKLOADS.items()
    ),
    _rule(rf"\b(from)\s+({_NAME}(?:\.{_NAME})*)", _1="keyword.control", _2="entity.other.inherited-class"),
]

_POINT_NOTE = _rule(
    rf"\b(note)\s*({_QUOTED})\s*(at)\b(?!\s*=)",
    _1="variable.other.property.attribute",
    _2=_inside("label"),
    _3="support.function",
)

_ATTRIBUTE = _rule(
    rf"\b({_NAME})(?:\s*({_QUOTED}))?\s*(=)(?!=)",
    _1="variable.other.property.attribute",
    _2=_inside("label"),
    _3="keyword.operator.assignment",
)

_NUMBER = _rule(
    r"(?<!\w)(\d+(?:_\d+)*(?:\.\d+(?:_\d+)*)?(?:[eE][+-]?\d+)?(?:[kMGT](?!\w))?)"
    rf"(?:[ \t]*({_UNIT}(?:/{_UNIT})*)(?!\s*\(|\s*:(?![-+,.%\d])){_EQUAL_NEXT.replace('(?=', '(?!', 1)})?",
    _1="constant.numeric",
    _2="keyword.other.unit",
)

_KEYWORDS = [
    _rule(rf"\b(?:{'|'.join(words.DIRECTIONS)})\s+is\s+better\b", "keyword.control.direction"),
    _rule(rf"\b(in)\s+({_METRIC_UNIT})(?=\s*=)", _1="keyword.control", _2="keyword.other.unit"),
    _rule(rf"(?<!\.)\b{_any((*words.LINKS, 'for'))}\b(?!\s*[:.,)\]}}])", "keyword.control"),
    _rule(rf"(?<!\.)\b{_any(words.LOGIC)}\b(?!\s*[:.,)\]}}])", "keyword.operator.expression.logical"),
    _rule(r"(?<=[\w)\]][ \t])x(?=[ \t]+[\w(])", "keyword.operator.arithmetic.times"),
    _rule(rf"(?<=,)\s*({_any(words.OPTIONS)})\b(?!\s*[=:.(\[])", _1="keyword.other.option"),
]

_NAMES = [
    _rule(rf"\b{_any(words.FUNCTIONS)}(?=\s*\()", "support.function"),
    _rule(rf"\b{_any(words.REFERENCES)}(?=\s*\()", "support.function.environment"),
    _rule(rf"\b{_any(words.TOOLS)}(?=\s*\()", "support.function.setting"),
    _rule(rf"\b{_NAME}(?=\s*\()", "entity.name.function"),
    _rule(rf"(?<!\.)\b{_any(words.MEASURES)}\b(?!\.)", "support.variable.measure"),
    _rule(rf"(?<!\.)\b{_any(DIMENSIONS)}\b", "variable.language.dimension"),
    _rule(rf"(?<!\.)\b{_any((*words.constants(), *words.WORKLOADS))}\b(?!\.)", "constant.language"),
    _rule(rf"(?<=\.){_NAME}", "variable.other.property"),
    _rule(rf"\b{_NAME}", "variable.other"),
]

_SIGNS = [
    _rule(r"[<>]=?|[=!]=", "keyword.operator.comparison"),
    _rule(r"\.\.", "keyword.operator.range"),
    _rule(r"[-+*/]", "keyword.operator.arithmetic"),
    _rule(r"=", "keyword.operator.assignment"),
    _rule(r",", "punctuation.separator"),
    _rule(r":", "punctuation.separator.key-value"),
    _rule(r"\.", "punctuation.accessor"),
    _rule(r"[()]", "punctuation.parenthesis"),
    _rule(r"[\[\]]", "punctuation.bracket"),
    _rule(r"[{}]", "punctuation.section.block"),
]

_ESCAPES = [
    _rule(r'\\[nt"\\]|\{\{|\}\}', "constant.character.escape"),
    _rule(r"\\.|\}", "invalid.illegal.escape"),
]


def _hole(end: str) -> Rule:
    """Return the rule for a hole, `{expression:format}`. A colon begins the format only outside of brackets:
    `{throughput[threads: 96]:.0f}`."""
    return {
        "name": "meta.template.expression.bench",
        "begin": r"\{",
        "end": rf"(\}})|{end}",
        "beginCaptures": {"0": {"name": "punctuation.definition.template-expression.begin.bench"}},
        "endCaptures": {"1": {"name": "punctuation.definition.template-expression.end.bench"}},
        "patterns": [
            _rule(r'(:)([^{}"]*)', _1="punctuation.separator.format", _2="constant.other.placeholder.format"),
            {"include": "#group"},
            {"include": "#expression"},
        ],
    }


def _quoted(scope: str, begin: str, end: str, *inside: str) -> Rule:
    return {
        "name": f"{scope}.bench",
        "begin": begin,
        "end": end,
        "beginCaptures": {"0": {"name": "punctuation.definition.string.begin.bench"}},
        "endCaptures": {"0": {"name": "punctuation.definition.string.end.bench"}},
        **_inside(*inside),
    }


# Markdown's own grammar would run past the closing quotes, so these are the parts of it that prose is made of.
_IN_TEXT = r'(?:(?!""").)'
_MARKDOWN = [
    _rule(
        rf"^\s*(#{{1,6}})\s+({_IN_TEXT}*)",
        "markup.heading",
        _1="punctuation.definition.heading",
        _2=_inside("escape", "text-hole"),
    ),
    _rule(r"^\s*([-*+]|\d+[.)])(?=\s)", _1="punctuation.definition.list.begin"),
    _rule(r"(?<!\w)(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?!\w)", "markup.bold", _2=_inside("escape", "text-hole")),
    _rule(r"(?<![\w*_])([*_])(?=[^\s*_])([^*_]+?)(?<=\S)\1(?![\w*_])", "markup.italic", _2=_inside("text-hole")),
    _rule(r"(`)([^`]+)(`)", "markup.inline.raw", _2=_inside("escape", "text-hole")),
    _rule(
        r"(\[)([^\]{}]+)(\]\()([^)\s]+)(\))",
        _2="string.other.link.title",
        _4="markup.underline.link",
    ),
]


def grammar() -> Rule:
    return {
        "information_for_contributors": "Written by `python -m editors` from editors/textmate.py: change that.",
        "name": "Benchmark spec",
        "scopeName": "source.bench",
        "fileTypes": ["bench"],
        **_inside("comment", "string", "statement", "attribute", "block", "parameter", "expression"),
        "repository": {
            "comment": _COMMENT,
            "statement": {"patterns": _STATEMENTS},
            "block": {"patterns": _BLOCKS},
            "attribute": {"patterns": [_POINT_NOTE, _ATTRIBUTE]},
            "parameter": _rule(rf"\b{_NAME}(?=\s*:)", "variable.parameter"),
            "expression": _inside("string", "number", "keyword", "name", "sign"),
            "number": _NUMBER,
            "keyword": {"patterns": _KEYWORDS},
            "name": {"patterns": _NAMES},
            "sign": {"patterns": _SIGNS},
            "string": _inside("text", "line"),
            "line": _quoted("string.quoted.double", '"', '"|$', "escape", "line-hole"),
            "label": _quoted("string.quoted.double.label", '"', '"|$', "escape", "line-hole"),
            "text": _quoted("string.quoted.triple", '"""', '"""', "escape", "text-hole", "markdown"),
            "escape": {"patterns": [_ESCAPES[0], _ESCAPES[1]]},
            "line-hole": _hole('(?=")|$'),
            "text-hole": _hole('(?=""")'),
            "group": {
                "begin": r"[(\[]",
                "end": r'[)\]]|(?=[{}])|(?=""")',
                "beginCaptures": {"0": {"name": "punctuation.bracket.bench"}},
                "endCaptures": {"0": {"name": "punctuation.bracket.bench"}},
                **_inside("parameter", "group", "expression"),
            },
            "markdown": {"patterns": _MARKDOWN},
        },
    }


def text() -> str:
    """Return the grammar as JSON, the form that VS Code reads."""
    return json.dumps(grammar(), indent=2, ensure_ascii=False) + "\n"


def property_list() -> str:
    """Return the grammar as a property list, the form that Sublime Text reads."""
    return plistlib.dumps(grammar(), sort_keys=False).decode()
