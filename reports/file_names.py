"""What files are called in documents: where a user keeps them is nobody else's to read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePath


def shown_names(paths: Iterable[str]) -> dict[str, str]:
    """What stands for each path: itself below the folder that it was typed in, else its end, from the folder on that
    all of those have in common."""
    known = list(dict.fromkeys(paths))
    outside = [path for path in known if PurePath(path).is_absolute() or ".." in PurePath(path).parts]
    kinds = [[path for path in outside if PurePath(path).is_absolute() == absolute] for absolute in (True, False)]
    shown = {path: path for path in known}
    for kind in kinds:
        if kind:
            common = os.path.commonpath([str(PurePath(path).parent) for path in kind])
            if common == PurePath(common).anchor:  # no folder but the root: nothing of their paths is shown for that
                shown |= _ends(kind)
            else:
                shown |= {path: PurePath(os.path.relpath(path, common)).as_posix() for path in kind}
    return shown


def _ends(paths: list[str]) -> dict[str, str]:
    """The names of the files, each with the fewest folders before it that tell it from the others."""
    found = {}
    for path in paths:
        parts, others = PurePath(path).parts[1:], [PurePath(other).parts for other in paths if other != path]
        count = next(
            (n for n in range(1, len(parts)) if not any(other[-n:] == parts[-n:] for other in others)), len(parts)
        )
        found[path] = "/".join(parts[-count:])
    return found
