"""The names of files in documents, without a user's folders."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePath


def shown_names(paths: Iterable[str]) -> dict[str, str]:
    """Return the shown name of each path: the path itself below the folder where it was typed, else its end from the
    last common folder on."""
    known = list(dict.fromkeys(paths))
    outside = [path for path in known if PurePath(path).is_absolute() or ".." in PurePath(path).parts]
    kinds = [[path for path in outside if PurePath(path).is_absolute() == absolute] for absolute in (True, False)]
    shown = {path: path for path in known}
    for kind in kinds:
        if kind:
            common = os.path.commonpath([str(PurePath(path).parent) for path in kind])
            if common == PurePath(common).anchor:  # only the root is common: show nothing of the paths
                shown |= _ends(kind)
            else:
                shown |= {path: PurePath(os.path.relpath(path, common)).as_posix() for path in kind}
    return shown


def _ends(paths: list[str]) -> dict[str, str]:
    """Return the names of the files, each with the fewest folders that make it unique."""
    found = {}
    for path in paths:
        parts, others = PurePath(path).parts[1:], [PurePath(other).parts for other in paths if other != path]
        count = next(
            (n for n in range(1, len(parts)) if not any(other[-n:] == parts[-n:] for other in others)), len(parts)
        )
        found[path] = "/".join(parts[-count:])
    return found
