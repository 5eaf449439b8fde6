"""The text of the SSH client configuration with its includes: the SSH library does not read `Include`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_DEPTH = 16  # as in OpenSSH
_WORD = re.compile(r'"([^"]*)"|([^\s"]+)')
_KEYWORD = re.compile(r"\s*(\w+)(?:\s*=\s*|\s+)(.*)")
SYSTEM = Path("/etc/ssh/ssh_config")


def config_text(config: Path | None = None) -> str:
    """Return the user's configuration, then the system's. `config` replaces both, as `ssh -F` does."""
    user_folder = Path.home() / ".ssh"
    if config is not None:
        return "\n".join(_lines(config, user_folder, 0))
    # `Host *` ends the last block of the user's file, so that the system's defaults apply to every host.
    lines = [*_lines(user_folder / "config", user_folder, 0), "Host *", *_lines(SYSTEM, SYSTEM.parent, 0)]
    return "\n".join(lines)


def _lines(path: Path, folder: Path, depth: int) -> Iterator[str]:
    if depth > _DEPTH or not path.is_file():
        return
    block = "Host *"
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        match = _KEYWORD.match(line)
        keyword = match[1].lower() if match else ""
        if keyword in ("host", "match"):
            block = line
        if match and keyword == "include":
            for quoted, bare in _WORD.findall(match[2]):
                for found in _expand(quoted or bare, folder):
                    yield from _lines(found, folder, depth + 1)
            yield block
        else:
            yield line


def _expand(pattern: str, folder: Path) -> list[Path]:
    path = Path(pattern).expanduser()
    if path.is_absolute():
        return sorted(Path("/").glob(str(path.relative_to("/"))))
    return sorted(folder.glob(pattern))
