"""Tests that an error is reported once per place, even if several phases find it."""

from __future__ import annotations

from dataclasses import replace

from benchbrief.compiler.compile import distinct
from benchbrief.compiler.frontend.name_errors import ImportNotFound
from benchbrief.dsl.source import Source, Span


def test_an_error_is_reported_once_at_a_place() -> None:
    source = Source("s.bench", 'use "a"\nuse "a"\n')
    first = ImportNotFound(Span(source, 4, 7), "a", "there is no such file").diagnostic()
    again = replace(first, help="more of it")
    elsewhere = ImportNotFound(Span(source, 12, 15), "a", "there is no such file").diagnostic()
    other = ImportNotFound(Span(source, 4, 7), "b", "it is a folder").diagnostic()
    assert distinct((first, again, elsewhere, other, first)) == (first, elsewhere, other)


def test_warnings_and_what_has_no_place_are_reported_as_often_as_they_say_something_else() -> None:
    problem = ImportNotFound(None, "a", "there is no such file").diagnostic()
    other = replace(problem, help="say where it is")
    warning = replace(problem, severity="warning", span=Span(Source("s.bench", "a"), 0, 1))
    about_another = replace(warning, help="say where it is")
    found = (problem, other, problem, warning, about_another)
    assert distinct(found) == (problem, other, warning, about_another)
