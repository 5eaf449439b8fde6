"""Finds the tables that a pgbench script writes to, from its text:
https://www.postgresql.org/docs/15/sql-commands.html.

Tables that are written to by functions or triggers are not found.
"""

from __future__ import annotations

import re

_NOT_SQL = re.compile(
    r"""
    ^[ \t]*\\(?:[^\n\\]|\\\n|\\)*$     # a command of pgbench itself, which may go on in the next line
    | --[^\n]*
    | /\*.*?\*/
    | '(?:[^']|'')*'
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_NAME = r'((?:"[^"]+"|:?\w+)(?:\.(?:"[^"]+"|:?\w+))*)'
_WRITES = re.compile(
    r"\b(?:INSERT INTO|MERGE INTO|DELETE FROM|TRUNCATE(?: TABLE)?|COPY|(?:CREATE(?: UNLOGGED)?|ALTER|DROP) TABLE"
    r"|(?<!FOR )(?<!KEY )(?<!DO )(?<!ON )UPDATE)(?: IF(?: NOT)? EXISTS)?(?: ONLY)? " + _NAME,
    re.IGNORECASE,
)
"""Matches a command that writes, but not `SELECT ... FOR UPDATE`, `FOR NO KEY UPDATE`, `ON CONFLICT ... DO UPDATE` or
`REFERENCES ... ON UPDATE`."""


def written_tables(script: str) -> tuple[str, ...]:
    """Return the tables named by the script's writing commands, each once and in order, without quotes or `public`."""
    text = " ".join(_NOT_SQL.sub(" ", script).split())
    names = (match[1].replace('"', "").removeprefix("public.") for match in _WRITES.finditer(text))
    return tuple(dict.fromkeys(names))
