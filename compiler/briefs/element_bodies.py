"""Reads the bodies and options of a report's blocks. Reports unknown ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchbrief.compiler.blocks.values import described, wrong_value
from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.element_queries import Place
from benchbrief.compiler.briefs.plan_prose import title
from benchbrief.compiler.frontend.structure_errors import (
    DuplicateAttribute,
    MisplacedBlock,
    StrayLabel,
    UnknownAttribute,
    UnknownWord,
    WrongType,
)
from benchbrief.compiler.measure_catalogue import KINDS
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.syntax import ast


@dataclass(frozen=True)
class Body:
    """The attributes of a block by key, in their order."""

    typer: Typer
    found: Mapping[str, tuple[ast.Attribute, ...]]

    def said(self, *keys: str) -> bool:
        return any(key in self.found for key in keys)

    def all(self, key: str) -> tuple[ast.Attribute, ...]:
        return self.found.get(key, ())

    def values(self, key: str) -> tuple[ast.Expr, ...]:
        return self.found[key][0].values if key in self.found else ()

    def string(self, key: str) -> ast.String | None:
        """Return a quoted text. Reports anything else."""
        values = self.values(key)
        if not values:
            return None
        if isinstance(values[0], ast.String) and len(values) == 1:
            return values[0]
        found = described(values[0]) if len(values) == 1 else "more than one value"
        return self.typer.refuse(WrongType(values[-1].span, key, "a quoted text", found))

    def word(self, key: str, choices: tuple[str, ...]) -> str | None:
        """Return one of the choices. Reports anything else."""
        values = self.values(key)
        if not values:
            return None
        value = values[0]
        if not isinstance(value, ast.Name) or len(values) > 1:
            wanted = f"one of `{'`, `'.join(choices)}`" if len(choices) > 1 else f"only `{choices[0]}`"
            if len(values) > 1:
                self.typer.report(WrongType(values[-1].span, key, wanted, "more than one value"))
            else:
                self.typer.report(wrong_value(value, key, wanted, choices))
        elif value.text not in choices:
            self.typer.report(UnknownWord(value.span, key, value.text, choices))
        else:
            return value.text
        return None


def read_body(typer: Typer, block: ast.Block, allowed: tuple[str, ...], repeated: tuple[str, ...] = ()) -> Body:
    """Return the attributes of a block without sub-blocks. Those in `repeated` may occur several times, with labels."""
    attributes = []
    for item in block.body:
        if isinstance(item, ast.Attribute):
            attributes.append(item)
        else:
            typer.report(MisplacedBlock(item.keyword.span, block.keyword.text, item.keyword.text, ()))
    return read_attributes(typer, block.keyword.text, attributes, allowed, repeated)


def read_attributes(
    typer: Typer,
    kind: str,
    attributes: Sequence[ast.Attribute],
    allowed: tuple[str, ...],
    repeated: tuple[str, ...] = (),
) -> Body:
    found: dict[str, tuple[ast.Attribute, ...]] = {}
    for attribute in attributes:
        key = attribute.key.text
        if key not in allowed:
            problem = UnknownAttribute(attribute.key.span, kind, key, allowed)
            typer.report(problem)
            if problem.replacement is None or problem.replacement in found:
                continue
            key = problem.replacement  # without its value, other things would seem wrong
        if key in found and key not in repeated:
            typer.report(DuplicateAttribute(attribute.key.span, found[key][0].key.span, key))
        else:
            found[key] = (*found.get(key, ()), attribute)
        if attribute.label is not None and key not in repeated:
            typer.report(StrayLabel(attribute.label.span, key))
    return Body(typer, found)


def split_options(
    typer: Typer, values: Sequence[ast.Expr], known: tuple[str, ...]
) -> tuple[tuple[ast.Expr, ...], dict[str, ast.Option], bool]:
    """Split a series into its expressions, its options (`color hardware`) by `_key`, and whether all options are
    known."""
    exprs: list[ast.Expr] = []
    options: dict[str, ast.Option] = {}
    good = True
    for value in values:
        option = value
        bare = [word for word in ("dashed", "band") if word in known]
        if isinstance(value, ast.Name) and exprs and (value.text in bare or _slip(typer, value, bare)):
            option = ast.Option(value.span, value, value)  # an option of one word
        if not isinstance(option, ast.Option):
            exprs.append(value)
        elif option.word.text not in known:
            typer.report(wrong.UnknownOption(option.word.span, "option", option.word.text, known))
            good = False
        elif (key := _key(option)) in options:
            earlier = options[key].word.span
            typer.report(DuplicateAttribute(option.word.span, earlier, option.word.text))
        else:
            options[key] = option
    return tuple(exprs), options, good


def _key(option: ast.Option) -> str:
    """Return the key of an option, with its axis where each axis has one: `log x` and `log y` may stand together."""
    word, value = option.word.text, option.value
    return f"log {value.text}" if word == "log" and isinstance(value, ast.Name) else word


def _slip(typer: Typer, name: ast.Name, words: Sequence[str]) -> bool:
    """Return whether an otherwise unknown name is a misspelt word."""
    return name.text not in typer.metrics and name.text not in KINDS and did_you_mean(name.text, words) is not None


def option_title(typer: Typer, options: Mapping[str, ast.Option], word: str, place: Place) -> str | None:
    """Return the text of an option such as `label "ideal"`; None without one or after a mistake."""
    option = options.get(word)
    if option is None:
        return None
    if isinstance(option.value, ast.String):
        return title(typer, option.value, place, word)
    found = described(option.value)
    return typer.refuse(wrong.BadOption(option.value.span, word, found, f'it in quotes: `{word} "..."`'))


def option_word(typer: Typer, options: Mapping[str, ast.Option], word: str, choices: tuple[str, ...]) -> str | None:
    """Return the word of an option such as `axis right`; None without one or after a mistake."""
    option = options.get(word)
    if option is None:
        return None
    if isinstance(option.value, ast.Name) and option.value.text in choices:
        return option.value.text
    usage = " or ".join(f"`{word} {choice}`" for choice in choices)
    meant = did_you_mean(option.value.text, choices) if isinstance(option.value, ast.Name) else None
    return typer.refuse(wrong.BadOption(option.value.span, word, described(option.value), usage, meant))
