"""Shows command help with the options grouped under headings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

SIMULATION = ("--simulate", "--seed", "--errors", "--failing")
SCHEDULER = ("--on", "--job-option")
RUN_FILES = ("--openmetrics", "--junit", "--markdown", "--push")
CHOSEN_RUNS = ("--from", "--where", "--tag", "--spec", "--origin", "--across")
VERDICTS = ("--verdicts", "--accept", "--bug", "--noise", "--note")

_WIDEST = 29
"""If an option is at least this wide, its help begins on a new line."""


class SectionedCommand(click.Command):
    """A command whose help lists its options by `sections`. Each section is a heading with its options. All other
    options are listed under "Options"."""

    def __init__(self, *words: Any, sections: Mapping[str, Sequence[str]], **more: Any) -> None:
        super().__init__(*words, **more)
        self._heads = {option: head for head, options in sections.items() for option in options}
        self._sections = ("Options", *sections)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, list[tuple[str, str]]] = {head: [] for head in self._sections}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                rows[next((self._heads[each] for each in param.opts if each in self._heads), "Options")].append(record)
        names = [names for of_head in rows.values() for names, _ in of_head]
        width = max(len(each) for each in names if len(each) < _WIDEST)
        for head, of_head in rows.items():
            with formatter.section(head):  # padded, so that all sections have the same columns
                formatter.write_dl([(names.ljust(width), text) for names, text in of_head])
