"""`bench words`."""

from __future__ import annotations

import click

from benchbrief.terminal import fail


@click.command(
    epilog="""
\b
Examples:
  bench words > fr.toml          a catalogue to translate; then, in the report: language = fr
  bench words ja                 the words as they are in Japanese
"""
)
@click.argument("language", default="en")
def command(language: str) -> None:
    """Print the fixed words of a brief in LANGUAGE (`en` by default), as a catalogue to make another language of."""
    from benchbrief.compiler.briefs.catalogues import shipped
    from benchbrief.compiler.briefs.report import LANGUAGES
    from benchbrief.dsl.suggest import did_you_mean

    if language not in LANGUAGES:
        guess = did_you_mean(language, LANGUAGES)
        hint = f"did you mean `{guess}`?" if guess else f"there are {', '.join(f'`{each}`' for each in LANGUAGES)}"
        raise fail(f"no words are shipped for `{language}`", hint)
    click.echo(shipped(language), nl=False)
