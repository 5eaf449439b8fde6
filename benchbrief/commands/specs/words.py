from __future__ import annotations

import tomllib

import click

from benchbrief.cli.terminal import fail, show_data, show_json


@click.command(
    epilog="""
\b
Examples:
  bench words > fr.toml          then in the report: language = fr
  bench words ja                 the words as they are in Japanese
  bench words --json             the same for a program
"""
)
@click.argument("language", default="en")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(language: str, as_json: bool) -> None:
    """Print the fixed words of a brief in LANGUAGE (`en` by default), as a catalogue from which to make another
    language."""
    from benchbrief.compiler.briefs.word_catalogues import shipped
    from benchbrief.dsl.diagnostics.suggest import did_you_mean
    from benchbrief.model.extension_spec import LANGUAGES

    if language not in LANGUAGES:
        guess = did_you_mean(language, LANGUAGES)
        hint = f"did you mean `{guess}`?" if guess else f"there are {', '.join(f'`{each}`' for each in LANGUAGES)}"
        raise fail(f"no words are shipped for `{language}`", hint)
    text = shipped(language)
    if as_json:
        show_json(tomllib.loads(text))
    else:
        show_data(text.encode())
