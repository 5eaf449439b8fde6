"""Asks fontconfig whether this machine has a typeface, and one for a language."""

from __future__ import annotations

import re
import shutil
import subprocess

from benchbrief.model.plan import Report
from benchbrief.reports.view.house_style import family_of

_PACKAGES = {
    "ja": "fonts-noto-cjk (Debian, Ubuntu) or google-noto-sans-cjk-fonts (Fedora)",
    "ko": "fonts-noto-cjk (Debian, Ubuntu) or google-noto-sans-cjk-fonts (Fedora)",
    "zh": "fonts-noto-cjk (Debian, Ubuntu) or google-noto-sans-cjk-fonts (Fedora)",
}


def missing_typefaces(report: Report) -> str:
    """Return the missing typefaces of a report, in words; "" for none."""
    own = "" if report.theme.font_files else unknown_typeface(family_of(report.theme))
    return "; ".join(filter(None, (own, hint_for_letters(report.language))))


def unknown_typeface(font: str, fc_list: str | None = None) -> str:
    """Return that a house style's typeface is not installed here; "" when it is, or that is unknown."""
    found = _families(f":family={re.escape(font)}", fc_list) if font else None
    if found is None or found:
        return ""
    return f"no typeface `{font}` is installed here, so the PDF is in another: install it, or give its `font_files`"


def hint_for_letters(language: str, fc_list: str | None = None) -> str:
    """Return the next step when no installed typeface has the letters of the language; else "".

    Also "" without `fc-list`: the brief then shows it.
    """
    code = re.split("[-_]", language)[0].lower()
    if not re.fullmatch("[a-z]{2,3}", code):  # a name that is no language's
        return ""
    if _families(f":lang={code}", fc_list) != "":
        return ""
    package = _PACKAGES.get(code, "a Noto typeface for it")
    return f"no installed typeface has the letters of `{language}`, which show as boxes: install {package}"


def _families(pattern: str, fc_list: str | None) -> str | None:
    """Return the installed families for a fontconfig pattern; None when that is unknown."""
    program = fc_list or shutil.which("fc-list")
    if program is None:
        return None
    try:
        asked = subprocess.run([program, pattern, "family"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return asked.stdout.strip()
