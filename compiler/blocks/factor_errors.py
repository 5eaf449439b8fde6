"""Mistakes in factors and in the levels that experiments measure (E08xx)."""

from __future__ import annotations

from benchbrief.compiler.problems import Misspelt


class NotAFactor(Misspelt):
    code = "E0801"
    says = "unknown factor `{word}`"
    mark = "not declared"
    when_none = "none is declared: add `factor {word} {{ levels = [...] }}`"
