from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from benchbrief.cli.terminal import show_lines


@click.command(
    epilog="""
\b
Examples:
  eval "$(bench completion bash)"
  bench completion zsh > ~/.zfunc/_bench
  bench completion fish > ~/.config/fish/completions/bench.fish
"""
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a completion script for SHELL."""
    from benchbrief.cli.command_line import group

    kind = get_completion_class(shell)
    assert kind is not None, "click knows the three shells of the choice"  # noqa: S101 - for the type checker
    show_lines(kind(group, {}, "bench", "_BENCH_COMPLETE").source() + "\n")
