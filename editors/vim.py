"""The syntax file of Vim and Neovim: the words of the TextMate grammar, in Vim's patterns."""

from __future__ import annotations

from collections.abc import Iterable

from benchbrief.model.plan import DIMENSIONS
from editors import words

_LABEL = r'"%(\\.|[^"\\])*"'
_NAME = r"\h\w*"


_IN_EXPRESSIONS = (
    "benchConstant",
    "benchDimension",
    "benchMeasure",
    "benchFunction",
    "benchKeyword",
    "benchOperator",
    "benchNumber",
    "benchQuantity",
    "benchParameter",
    "benchGroup",
)


def _any(alternatives: Iterable[str]) -> str:
    """Return a group of a very magic pattern that matches one of these words, the longest first."""
    ordered = sorted(alternatives, key=lambda word: (-len(word), word))
    return "%(" + "|".join(word.replace(".", r"\.").replace("%", r"\%") for word in ordered) + ")"


def _match(group: str, pattern: str, *options: str) -> str:
    return " ".join(["syntax match", group, f"/\\v{pattern.replace('/', '[/]')}/", *options])


def _unit() -> str:
    # `%` is no word character, so the end of a word can't be asked of it.
    plain = _any(unit for unit in words.UNITS if unit != "%")
    return rf"%(\%|{plain}>)"


def _rules() -> list[str]:
    """Return the rules, general ones first: if several rules match, Vim applies the last one."""
    unit = _unit()
    equal_next = rf"%(\s*{_LABEL})?\s*\=\=@!"
    number = r"<\d+%(_\d+)*%(\.\d+%(_\d+)*)?%([eE][+-]?\d+)?%([kMGT]>)?"
    inner, named = _any(words.INNER_BLOCKS), _any(words.NAMED_BLOCKS)
    return [
        '" names',
        _match("benchConstant", rf"<{_any((*words.constants(), *words.WORKLOADS))}>"),
        _match("benchDimension", rf"\.@1<!<{_any(DIMENSIONS)}>"),
        _match("benchMeasure", rf"\.@1<!<{_any(words.MEASURES)}>\.@!"),
        _match("benchFunction", rf"<{_any((*words.FUNCTIONS, *words.REFERENCES, *words.TOOLS))}>\ze\s*\("),
        "",
        '" links',
        _match("benchKeyword", rf"<{_any((*words.LINKS, *words.LOGIC, 'for', 'each', 'override', 'from'))}>"),
        _match("benchKeyword", rf"<{_any(words.DIRECTIONS)}\s+is\s+better>"),
        _match("benchKeyword", rf",@1<=\s*\zs{_any(words.OPTIONS)}>\ze%(\s*[=:.(\[])@!"),
        _match("benchOperator", r"[<>=!]\=|[-+*<>]|/"),
        _match("benchOperator", r"\.\."),
        _match("benchOperator", r"%([0-9A-Za-z)\]]\s+)@<=x\ze\s+[0-9A-Za-z(]"),
        "",
        '" numbers',
        _match("benchUnit", rf"%({number}\s*)@<={unit}%(/{unit})*", "contained"),
        _match("benchNumber", rf"{number}"),
        _match(
            "benchQuantity",
            rf"{number}\s*{unit}%(/{unit})*%(\s*[:(])@!%({equal_next})@!",
            "contains=benchNumber,benchUnit",
            "transparent",
        ),
        "",
        '" what is declared',
        _match("benchParameter", rf"<{_NAME}>\ze\s*:"),
        _match("benchAttribute", rf"<{_NAME}>\ze{equal_next}"),
        _match("benchBlock", rf"<{inner}>\ze\s*%(\"|\{{|$)"),
        _match("benchBlock", rf"%(<each\s+)@<!<{named}>\ze%(\s*{_LABEL})?\s*\{{"),
        _match(
            "benchBlock",
            rf"%(^|[{{}}])\s*\zs{named}>\ze\s+{_NAME}%(\s*{_LABEL})?\s*%(\{{|<from>|$|#)",
            "nextgroup=benchName",
            "skipwhite",
        ),
        _match("benchBlock", rf"%(<override\s+)@<={named}>", "nextgroup=benchName", "skipwhite"),
        _match("benchBlock", rf"<formula>\ze\s+{_NAME}"),
        _match("benchBlock", r"<at>\ze\s+[0-9A-Za-z_(][^={]*\{"),
        _match("benchStatement", rf"<{_any(words.STATEMENTS)}>\ze\s+%(\"|{_NAME})", "nextgroup=benchName", "skipwhite"),
        _match("benchStatement", r"<expect>\ze\s+"),
        _match("benchName", _NAME, "contained"),
        _match("benchIn", rf"<in\s+%(1/)?{unit}%(%(/|\*){unit})*\ze\s*\=", "contains=benchInWord,benchInUnit"),
        _match("benchInWord", r"<in>", "contained"),
        _match("benchInUnit", rf"%(1/)?{unit}%(%(/|\*){unit})*", "contained"),
        "",
        '" texts',
        'syntax match benchFormat /:[^{}"]*\\ze}/ contained',
        "syntax region benchGroup start=/[[(]/ end=/[])]/ contained transparent oneline contains=@benchExpression",
        f"syntax cluster benchExpression contains={','.join(_IN_EXPRESSIONS)}",
        "syntax cluster benchHoled contains=@benchExpression,benchFormat",
        "syntax region benchHole matchgroup=benchBrace start=/{/ end=/}/ contained contains=@benchHoled",
        (
            r'syntax region benchTextHole matchgroup=benchBrace start=/{/ end=/}/ end=/\ze"""/ contained'
            " contains=@benchHoled"
        ),
        "syntax cluster benchInString contains=benchEscape,benchHole",
        'syntax match benchEscape /\\\\[nt"\\\\]\\|{{\\|}}/ contained',
        'syntax region benchString start=/"/ skip=/\\\\./ end=/"/ end=/$/ oneline keepend contains=@benchInString',
        'syntax region benchText start=/"""/ skip=/\\\\./ end=/"""/ contains=benchEscape,benchTextHole,@Spell',
        "",
        '" comments',
        "syntax match benchTodo /\\<\\(TODO\\|FIXME\\|XXX\\)\\>/ contained",
        "syntax match benchComment /#.*$/ contains=benchTodo,@Spell",
    ]


_LINKS = {
    "benchAttribute": "Identifier",
    "benchBlock": "Statement",
    "benchBrace": "Delimiter",
    "benchComment": "Comment",
    "benchConstant": "Constant",
    "benchDimension": "Type",
    "benchEscape": "SpecialChar",
    "benchFormat": "SpecialChar",
    "benchFunction": "Function",
    "benchInUnit": "Type",
    "benchInWord": "Keyword",
    "benchKeyword": "Keyword",
    "benchMeasure": "Special",
    "benchName": "Type",
    "benchNumber": "Number",
    "benchOperator": "Operator",
    "benchParameter": "Identifier",
    "benchStatement": "Statement",
    "benchString": "String",
    "benchText": "String",
    "benchTodo": "Todo",
    "benchUnit": "Type",
}


def text() -> str:
    lines = [
        "\" Highlighting of benchbrief's specs (.bench).",
        '" Written by `python -m editors` from editors/vim.py: change that.',
        'if exists("b:current_syntax")',
        "  finish",
        "endif",
        "syntax case match",
        "syntax sync minlines=200",
        "",
        *_rules(),
        "",
        *(f"highlight default link {group} {linked}" for group, linked in _LINKS.items()),
        "",
        'let b:current_syntax = "bench"',
    ]
    return "\n".join(lines) + "\n"
