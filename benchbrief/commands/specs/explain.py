from __future__ import annotations

import sys
from dataclasses import asdict

import click
from click.shell_completion import CompletionItem

from benchbrief.cli.terminal import fail, show, show_json, show_lines, use_colour


def _completed(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    from benchbrief.compiler.diagnostic_codes import all_codes

    return [CompletionItem(info.code, help=info.title) for info in all_codes() if info.code.startswith(typed.upper())]


@click.command(
    epilog="""
\b
Examples:
  bench explain E0706            what it means, and how to mend it
  bench explain                  every code with its title
  bench explain E0706 --json
"""
)
@click.argument("code", required=False, shell_complete=_completed)
@click.option("--json", "as_json", is_flag=True, help="Print what is known of the code, or of all, as JSON.")
def command(code: str | None, as_json: bool) -> None:
    """Explain the CODE of an error or a warning; without one, list all codes."""
    from benchbrief.compiler.diagnostic_codes import all_codes, code_info
    from benchbrief.dsl.diagnostics.suggest import did_you_mean

    if code is None:
        if as_json:
            show_json([asdict(info) for info in all_codes()])
            return
        for each in all_codes():
            show(f"{each.code}  {each.title}")
        return
    info = code_info(code.strip())
    if info is None:
        known = [each.code for each in all_codes()]
        guess = did_you_mean(code.strip().upper(), known)
        raise fail(
            f"no diagnostic has the code `{code}`",
            f"did you mean `{guess}`?" if guess else "`bench explain` lists the codes",
        )
    if as_json:
        show_json(asdict(info))
        return
    _print(f"{info.severity}[{info.code}]: {info.title}", info.explanation_markdown)


def _print(head: str, markdown: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.padding import Padding
    from rich.text import Text

    class Ours(Console):
        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704  # rich would end with code 1 here, that of a wrong spec

    colour = use_colour(sys.stdout)
    console = Ours(file=sys.stdout, force_terminal=colour, no_color=not colour, highlight=False)
    console.width = min(console.width, 100)
    console.print(Text(head, style="bold"))
    if not colour:  # plain text is Markdown as it is: it can be searched, piped and pasted
        show_lines(f"\n{markdown}")
        return
    console.print(Padding(Markdown(markdown, code_theme="ansi_dark"), (1, 0, 0, 0)))
