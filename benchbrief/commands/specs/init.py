from __future__ import annotations

import shlex
from importlib.resources import files
from pathlib import Path

import click

from benchbrief.cli.terminal import fail, show


@click.command(
    epilog="""
\b
Examples:
  bench init
  bench init nvme.bench
"""
)
@click.argument("spec", default="brief.bench", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def command(spec: Path, force: bool) -> None:
    """Write a commented starter spec that runs as it stands to SPEC (brief.bench by default)."""
    text = (files("benchbrief") / "data" / "starter.bench").read_text(encoding="utf-8")
    try:
        with spec.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text.replace("{name}", shlex.quote(str(spec))))
    except FileExistsError:
        raise fail(f"{spec} exists already", "choose another name, or overwrite it with --force") from None
    except OSError as error:
        raise fail(f"{spec} can't be written: {error.strerror}") from None
    word = shlex.quote(str(spec))
    show(f"wrote {spec}; next: bench doctor {word}, bench plan {word}, then bench run {word}")
