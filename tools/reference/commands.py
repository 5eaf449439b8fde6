"""Makes the reference page on the command line from the commands' own help."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from benchbrief.cli.command_line import COMMANDS, SECTIONS, Section, group
from benchbrief.cli.terminal import MEANINGS
from tools.reference.markdown import code, fenced, joined, table, text

_BESIDE = re.compile(r"(\S) {2,}(\S.*)$")


def page() -> str:
    return joined(
        [
            "# Commands",
            text("commands"),
            *(part for section in SECTIONS for part in _overview(section)),
            *_commands(),
            "## Exit codes",
            table(("code", "meaning"), [(code(str(int(each))), meaning) for each, meaning in MEANINGS.items()]),
        ]
    )


def _overview(section: Section) -> Iterator[str]:
    yield f"**{section.title}**"
    rows = [(f"[`bench {name}`](#bench-{name})", what) for name, what in section.commands.items()]
    yield table(("command", "what it does"), rows)


def _commands() -> Iterator[str]:
    context = click.Context(group, info_name="bench")
    for name in COMMANDS:
        command = group.get_command(context, name)
        if command is None:
            raise LookupError(name)
        inner = click.Context(command, info_name=name, parent=context)
        usage = " ".join(["bench", name, *command.collect_usage_pieces(inner)])
        yield f"## `bench {name}`\n\n`{usage}`"
        yield inspect.cleandoc(command.help or "")
        yield from _options(command, inner)
        yield from _epilog(command.epilog or "")


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    rows = []
    for param in command.get_params(context):
        record = param.get_help_record(context) if isinstance(param, click.Option) else None
        if record is not None:
            rows.append((code(record[0]), record[1]))
    yield table(("option", "what it does"), rows)


def _epilog(epilog: str) -> Iterator[str]:
    r"""Yield the paragraphs of an epilog. Paragraphs after a `\b` keep their lines. If they announce examples, they are
    shown as examples."""
    for paragraph in inspect.cleandoc(epilog).split("\n\n"):
        literal, _, rest = paragraph.partition("\n") if paragraph.startswith("\b") else ("", "", paragraph)
        if not literal:
            yield rest
            continue
        head, _, lines = rest.partition("\n")
        if head == "Examples:":
            yield "For example:"
            yield fenced("sh", "\n".join(_BESIDE.sub(r"\1  # \2", line.strip()) for line in lines.splitlines()))
        else:
            yield head
            yield fenced("text", inspect.cleandoc(lines))
