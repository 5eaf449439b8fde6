"""Whether this machine has a typeface that can write a language, as fontconfig knows it."""

from __future__ import annotations

import re
import shutil
import subprocess

_PACKAGES = {
    "ja": "fonts-noto-cjk (Debian, Ubuntu) or google-noto-sans-cjk-fonts (Fedora)",
    "ko": "fonts-noto-cjk (Debian, Ubuntu) or google-noto-sans-cjk-fonts (Fedora)",
    "zh": "fonts-noto-cjk (Debian, Ubuntu) or google-noto-sans-cjk-fonts (Fedora)",
}


def lacking(language: str, fc_list: str | None = None) -> str:
    """What to do about it where no installed typeface has the letters of the language; else nothing.

    Nothing, too, where there is no `fc-list` to ask: the brief then tells by its looks.
    """
    program = fc_list or shutil.which("fc-list")
    code = re.split("[-_]", language)[0].lower()
    if program is None or not re.fullmatch("[a-z]{2,3}", code):  # a name that is no language's
        return ""
    try:
        asked = subprocess.run(
            [program, f":lang={code}", "family"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    if asked.stdout.strip():
        return ""
    package = _PACKAGES.get(code, "a Noto typeface for it")
    return f"no installed typeface has the letters of `{language}`, which show as boxes: install {package}"
