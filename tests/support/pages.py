"""Writes a brief's page as text for golden files: its words and structure, but not the parts that other tests cover."""

from __future__ import annotations

import re


def as_text(html: str) -> str:
    """Return the text of a page without styles, scripts, the insides of figures, and everything that changes with each
    build."""
    html = re.sub(r"<style>.*?</style>", "<style/>", html, flags=re.DOTALL)
    html = re.sub(
        r'(<svg role="img" aria-label="[^"]*").*?</svg>', r"\1/>", html, flags=re.DOTALL
    )  # test_charts reads these
    html = re.sub(r"<script.*?</script>\n", "", html, flags=re.DOTALL)  # test_interactive reads these
    html = re.sub(r"(base64,|sha256-)[A-Za-z0-9+/=]+", r"\1...", html)
    html = re.sub(r"(benchbrief )[0-9][0-9.a-z+]*", r"\1VERSION", html)
    html = re.sub(r"[0-9a-f]{64}", "SHA256", html)  # the plan's: it changes with every field the plan gains
    return re.sub(r"\n\s*\n+", "\n", html)
