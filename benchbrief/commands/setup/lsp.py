from __future__ import annotations

import sys

import click


@click.command(
    epilog="""
\b
Examples:
  bench lsp                      what an editor runs for .bench files
"""
)
@click.option(
    "--stdio", is_flag=True, expose_value=False, help="Speak on standard input and output, as it always does."
)
def command() -> None:
    """Serve an editor: speak the Language Server Protocol on standard input and output.

    Diagnostics while typing, completion, hover, definitions, references, rename, symbols, formatting and quick fixes.
    Ends with code 0 if the editor shuts it down, and with code 1 if the editor just goes away.
    """
    from benchbrief.server.serve import serve

    sys.exit(serve())
