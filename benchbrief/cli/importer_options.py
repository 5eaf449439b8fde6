"""The options of `bench import` that importers bring, and the list of the importers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from benchbrief.cli.sections import SectionedCommand
from benchbrief.cli.terminal import fail

if TYPE_CHECKING:
    from benchbrief.compiler.extensions import ImporterSpec, Key

_OTHER = "benchbrief.other_importer"


class ImportCommand(SectionedCommand):
    """`bench import KIND`: has the options of benchbrief's own importers, and those of KIND, gathered in `options`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from benchbrief.compiler.registry import IMPORTER_SPECS
        from benchbrief.runners.plugins import spec_of

        asked = next((word for word in args if IMPORTER_SPECS.offered(word)), None)
        if asked and asked not in IMPORTER_SPECS.own:
            ctx.meta[_OTHER] = spec_of(IMPORTER_SPECS, asked)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        taken = {name for param in own for name in param.opts}
        for spec in self._importers(ctx):
            for name, key in spec.options.items():
                if f"--{name}" in taken:
                    hint = f"ask the authors of {spec.name} for another name"
                    raise fail(f"the importer `{spec.name}` can't be used: `bench import` has a --{name}", hint)
                taken.add(f"--{name}")
                own.insert(-1, _option(name, key))
        return own

    def invoke(self, ctx: click.Context) -> Any:
        from benchbrief.compiler.registry import IMPORTER_SPECS
        from benchbrief.runners.plugins import spec_of

        spec = spec_of(IMPORTER_SPECS, ctx.params["kind"])
        if spec.reads == "samples":
            hint = f"give it beside outputs: --samples {spec.name} PATTERN"
            raise fail(f"{spec.name} reads samples, which are imported with a measurement", hint)
        names = [name for each in self._importers(ctx) for name in each.options]
        given = {name: value for name in names if (value := ctx.params.pop(name)) is not None}
        for name in given:
            if name not in spec.options:
                of = next(each.name for each in self._importers(ctx) if name in each.options)
                raise fail(f"--{name} is for the outputs of {of}", f"leave it out: {spec.name} has no such option")
        ctx.params["options"] = given
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from benchbrief.compiler.registry import IMPORTER_SPECS

        with formatter.section("Kinds"):
            known = {spec.name: spec.doc for spec in self._importers(ctx)}
            others = {each.name: f"See `bench import {each.name} --help`." for each in IMPORTER_SPECS.offered()}
            formatter.write_dl(list((others | known).items()))
        super().format_epilog(ctx, formatter)

    def _importers(self, ctx: click.Context) -> Iterator[ImporterSpec]:
        from benchbrief.compiler.registry import IMPORTER_SPECS

        yield from IMPORTER_SPECS.own.values()
        if _OTHER in ctx.meta:
            yield ctx.meta[_OTHER]


def complete_kind(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    """The kinds that a shell offers. What an importer of another package reads is not known without its import."""
    from benchbrief.compiler.registry import IMPORTER_SPECS

    own = IMPORTER_SPECS.own
    return [name for name in IMPORTER_SPECS.names if name.startswith(begun) and not (name in own and own[name].probe)]


def _option(name: str, key: Key) -> click.Option:
    from benchbrief.compiler.extensions import Flag, Number, Word

    kind: click.ParamType[Any] | type = str
    match key.shape:
        case Word(choices=choices):
            kind = click.Choice(choices)
        case Number():
            kind = float
    default = f"  [default: {key.default}]" if key.default else ""
    names: Sequence[str] = (f"--{name}", name)
    if isinstance(key.shape, Flag):
        return click.Option(names, is_flag=True, default=None, help=key.doc + default)
    return click.Option(names, type=kind, default=None, help=key.doc + default)
