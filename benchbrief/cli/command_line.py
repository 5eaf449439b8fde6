"""Defines the `bench` command: its subcommands, and the meaning of its exit codes.

Each subcommand is a module in `commands/`, imported only when it is called, so that `bench --help` starts fast.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

import click

from benchbrief.cli.terminal import (
    EndRequest,
    Stop,
    fail,
    lead_somewhere,
    show,
    show_error,
    show_json_error,
    show_lines,
    silence_what_is_closed,
)
from benchbrief.dsl.bench_error import BenchError, ExitCode
from benchbrief.mended_imports import let_arrow_find_no_pandas, pass_over_broken_packages


class Section(NamedTuple):
    """A group of related commands. `folder` holds their modules; `commands` maps each command to a description."""

    title: str
    folder: str
    commands: dict[str, str]


SECTIONS = (
    Section(
        "Write a spec",
        "specs",
        {
            "init": "Write a commented starter spec.",
            "check": "Check specs: names, units, dimensions, values, reports.",
            "fmt": "Put specs into the canonical layout.",
            "plan": "Show what a spec would run: cells, hosts, order, time.",
            "explain": "Explain the code of an error or a warning.",
            "words": "Print the fixed words of a brief, to translate them.",
        },
    ),
    Section(
        "Run it",
        "running",
        {
            "run": "Run a spec and make its brief.",
            "watch": "Follow a run from another shell until it ends.",
            "status": "Show runs, and how far one has come.",
            "resume": "Go on with an interrupted run, or retry failed cells.",
            "stop": "End a run, and leave nothing of it on its hosts.",
            "lane": "Run one lane of a run, for schedulers and build servers.",
            "merge": "Make one run of lanes that were run apart.",
            "reproduce": "Measure a published brief again: which claims hold?",
        },
    ),
    Section(
        "Report results",
        "results",
        {
            "report": "Make a run's brief again, as PDF and HTML.",
            "verify": "Compute a brief's numbers again, and say whether they hold.",
            "claims": "Show what its briefs claim, and what decides it.",
            "query": "Ask the results in SQL.",
            "import": "Import results that were measured elsewhere.",
            "rebuild": "Build a run's tables again from its journal and raw outputs.",
        },
    ),
    Section(
        "Compare runs",
        "results",
        {
            "compare": "Compare runs, hardware or revisions, beyond noise.",
            "trend": "Show how a quantity changed over many runs.",
            "gate": "Say whether a run got worse than those before it, in CI.",
            "site": "Make a web site of all runs.",
        },
    ),
    Section(
        "Share runs",
        "sharing",
        {
            "push": "Push a run to a store that a team shares.",
            "pull": "Bring a run from a shared store here.",
            "runs": "List the runs of a shared store, or of a folder.",
            "gc": "Show, and remove, what a shared store need not keep.",
        },
    ),
    Section(
        "Set up",
        "setup",
        {
            "doctor": "Say what is missing here and on a spec's hosts.",
            "extensions": "List extensions and what is broken; make and try one.",
            "lsp": "Serve an editor (Language Server Protocol).",
            "completion": "Print a completion script for a shell.",
        },
    ),
)
COMMANDS = {name: what for section in SECTIONS for name, what in section.commands.items()}


def module_of(command: str) -> str:
    return next(f"benchbrief.commands.{each.folder}.{command}" for each in SECTIONS if command in each.commands)


class _Commands(click.Group):
    """The subcommands in the table above. Each is imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(module_of(name)).command
        command.short_help = COMMANDS[name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from benchbrief.dsl.diagnostics.suggest import did_you_mean

            guess = did_you_mean(args[0], COMMANDS)
            hint = f"did you mean `bench {guess}`?" if guess else "`bench --help` lists the commands"
            ctx.fail(f"no command `{args[0]}`; {hint}")
        return super().resolve_command(ctx, args)

    def make_context(self, *words: Any, **more: Any) -> click.Context:
        with _ending_silently():  # `bench --help` is printed here
            return super().make_context(*words, **more)

    def invoke(self, ctx: click.Context) -> object:
        _require_utf8()
        with _ending_silently():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for section in SECTIONS:
            with formatter.section(section.title):
                formatter.write_dl([(name.ljust(width), what) for name, what in section.commands.items()])


@contextmanager
def _ending_silently() -> Iterator[None]:
    """Exit silently, as SIGPIPE would, if the reader of our output has closed the pipe (`bench query ... | head`)."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Stop(ExitCode.OUTPUT_CLOSED) from None


def _require_utf8() -> None:
    """Refuse names that are not UTF-8 before doing anything, because plans, journals and tables can't hold such
    names."""
    for word in sys.argv[1:]:
        if not _is_utf8(word):
            raise fail("a name on the command line is not UTF-8", f"rename the file or folder: {_as_bytes(word)}")
    try:
        folder = os.getcwd()  # noqa: PTH109  # as the system has it
    except FileNotFoundError:
        raise fail("the current folder is not there any more", "change into one that is") from None
    if not _is_utf8(folder):
        raise fail("the name of the current folder is not UTF-8", f"work in one whose name is: {_as_bytes(folder)}")


def _is_utf8(name: str) -> bool:
    """Return whether a name is valid UTF-8. Python marks each invalid byte with a lone surrogate (PEP 383)."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _as_bytes(name: str) -> str:
    return repr(os.fsencode(name))[1:]


def _drop_unlike(error: click.NoSuchOption) -> None:
    """Drop suggestions that do not resemble the typed option. (For `--trheads`, click would suggest `--fresh`.)"""
    from benchbrief.dsl.diagnostics.suggest import did_you_mean

    if error.possibilities:
        error.possibilities[:] = [each for each in error.possibilities if did_you_mean(error.option_name, [each])]


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        import benchbrief

        show(f"bench {benchbrief.__version__}")
        ctx.exit()


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""
\b
Examples:
  bench init my.bench     write a starter spec
  bench plan my.bench     see what would run, where, and how long
  bench run my.bench      run it; ends with the brief as PDF and HTML

\b
Exit codes:
  0  done                            4    an `expect` fails, or it got worse
  1  the spec is wrong               5    results kept, but no brief made
  2  wrong usage, or not there       6    suspicious: measure again
  3  a cell failed, or no result     130  interrupted: `bench resume`
""",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
def group() -> None:
    """From one checked spec to a finished database or storage benchmark brief."""


def main() -> NoReturn:
    """Run the console command. Shows no traceback for problems that a user can fix."""
    lead_somewhere()
    let_arrow_find_no_pandas()
    pass_over_broken_packages()
    # Otherwise Pydantic searches all installed packages for plugins, and imports these, at each start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character shows its code instead
            stream.reconfigure(errors="backslashreplace")
    # Plans and samples are many small values without cycles: looking for some after every 700 took a fifth of the time.
    gc.set_threshold(50_000, 20, 50)
    request = EndRequest()
    ended: BenchError = Stop(ExitCode.DONE)
    ends = {signal.SIGINT: request.on_interrupt, signal.SIGHUP: request.on_hang_up}
    try:
        for number, handler in ends.items():
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under `nohup`
                signal.signal(number, handler)
        group.main(standalone_mode=False, prog_name="bench", obj=request)
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption):
            _drop_unlike(error)
        message = io.StringIO()
        error.show(file=message)  # it quotes what was typed
        show_lines(message.getvalue(), err=True)
        ended = Stop(ExitCode.USAGE, error.format_message())
    except click.exceptions.Exit as error:
        ended = Stop(ExitCode(error.exit_code))
    except (click.Abort, KeyboardInterrupt, Exception) as error:
        if isinstance(error, click.Abort) or request.caused(error):
            show("interrupted", err=True)
            ended = Stop(ExitCode.INTERRUPTED, "interrupted")
        else:
            ended = show_error(error)
    code = ended.exit_code
    show_json_error(ended)
    for number in ends:  # nothing is left to interrupt
        signal.signal(number, signal.SIG_IGN)
    silence_what_is_closed()  # otherwise Python would exit with another code
    if "_duckdb" not in sys.modules:  # at the end, DuckDB lists on standard error what that look would have freed
        gc.freeze()  # otherwise Python would look for cycles a last time, a sixth of a short command's time
    sys.exit(code)
