"""Completion of the file that a `use` names: the specs near the one that is edited."""

from __future__ import annotations

import os
import re
from itertools import islice
from pathlib import Path

from lsprotocol import types

from benchbrief.server.document_text import Text

_USE = re.compile(r'^[ \t]*use[ \t]+"([^"\r\n]*)', re.MULTILINE)
_PLACES = ("*.bench", "*/*.bench", "../*.bench", "../*/*.bench")
_MOST = 200


def used_files(document: Text, position: types.Position, path: Path) -> list[types.CompletionItem] | None:
    """Items for a cursor in the text behind `use`; None when it is elsewhere."""
    offset = document.offset(position)
    here = next((use for use in _USE.finditer(document.text) if use.start(1) <= offset <= use.end(1)), None)
    if here is None:
        return None
    folder, place = path.parent, document.range(*here.span(1))
    found = (file for pattern in _PLACES for file in sorted(folder.glob(pattern)))
    names = (os.path.relpath(file, folder) for file in found if file.resolve() != path.resolve())
    items = {
        name: types.CompletionItem(
            name, kind=types.CompletionItemKind.File, text_edit=types.TextEdit(place, name), filter_text=name
        )
        for name in islice(names, _MOST)
    }
    for rank, item in enumerate(items.values()):
        item.sort_text = f"{rank:04}"
    return list(items.values())
