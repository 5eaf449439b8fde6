"""Makes the brief about a reproduction: a report like those of a spec, which gives the verdicts in words and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import get_args

from benchbrief.model import plan as p
from benchbrief.model.budgets import LEVEL
from benchbrief.model.precision import in_percent
from benchbrief.reports.capsule.held_against import HeldAgainst
from benchbrief.reports.disclosure.systems_under_test import fact_name
from benchbrief.reports.text.number_format import quantity, written_as
from benchbrief.reports.words.brief_words import Words, counted
from benchbrief.results.analysis.reproduction import MARGIN, MOST_REPEATS, Reproduced, ReproductionVerdict
from benchbrief.results.compare.contender import Difference

NAME = "reproduction"
_HERE = p.Origin(file="", line=1, column=1)
_MOST_FACTS = 30
"""The most differing facts that are listed. If there are more, they are only counted."""
_OF_MACHINE = re.compile(r"host (cpu|cores|memory|disk \S+|os|kernel)( of .*)?")
"""The facts that are shown even if they are the same."""
_LONGEST = 300


def report_on(found: HeldAgainst, words: Words, like: p.Report) -> p.Report:
    """Return the report on a reproduction in the given words, with the layout, paper and audience of the original
    brief."""
    with written_as(words.locale):
        return p.Report(
            name=NAME,
            title=words["repro_title"].format(title=_short(found.about.title)),
            subtitle=words["repro_subtitle"],
            template=like.template,
            package=like.package,
            language=words.language,
            words=like.words,
            paper=like.paper,
            provenance="none",
            audience=like.audience,
            elements=tuple(_elements(found, words)),
            origin=_HERE,
        )


def verdict_text(found: Reproduced, words: Words) -> str:
    return words[f"repro_{found.verdict}"]


def ratio_text(found: Reproduced, words: Words) -> str:
    """Return a ratio such as `0.98 (0.95 to 1.02)`: the new number divided by the brief's, with its interval. Return ""
    if there is no ratio."""
    ratio = found.ratio
    if ratio is None:
        return ""
    value = quantity(ratio.value, "", significant=3)
    if ratio.low is None or ratio.high is None:
        return value
    low, high = (quantity(end, "", significant=3) for end in (ratio.low, ratio.high))
    return f"{value}{words['aside'].format(text=words['to'].join((low, high)))}"


def why_text(found: Reproduced, words: Words) -> str:
    """Return the reason for a verdict, and what would settle it."""
    margin = words.locale.numerals(in_percent(found.margin))
    half = words.locale.numerals(in_percent(found.margin / 2))
    text = words[f"repro_why_{found.why}"].format(margin=margin, half=half, most=MOST_REPEATS)
    return text + words["semicolon"] + counted(words, "repro_more", found.more) if found.more else text


def number_text(value: float | None, found: Reproduced, words: Words) -> str:
    unit = found.stated.unit if found.stated.unit != "1" else ""
    if value is not None and not unit and found.stated.no_difference == 0:  # a change, which sentences say in per cent
        value, unit = value * 100, "%"
    return words["missing"] if value is None else quantity(value, unit, significant=4)


def _how_judged(found: HeldAgainst, words: Words) -> str:
    wide, margin = max(((each.level, each.margin) for each in found.verdicts if each.level), default=(LEVEL, MARGIN))
    shares = {"wide": wide, "margin": margin, "half": margin / 2}
    shown = {name: words.locale.numerals(in_percent(share)) for name, share in shares.items()}
    return words["repro_how_shown" if found.of_shown_numbers else "repro_how"].format(**shown)


def _what_differs(found: HeldAgainst, words: Words) -> str:
    """Return the difference that limits the verdicts (another machine, or another version of benchbrief), or "" if
    there is none."""
    text = words["repro_how_other"] if found.unlike == "machine" else ""
    if found.versions:
        text += words["repro_how_versions"].format(before=_short(found.versions.first), now=found.versions.second)
    return text.strip()


def _headline(found: HeldAgainst, words: Words) -> p.HeadlineElement:
    """Return how many statements hold, followed by the counts of the other verdicts. If no statement holds, begin with
    the next best verdict."""
    counts = {name: found.count(name) for name in get_args(ReproductionVerdict)}
    first = next(name for name, count in counts.items() if count)
    number = words["repro_count"].format(n=counts.pop(first), of=len(found.verdicts))
    held = words["repro_shown_held" if found.of_shown_numbers else "repro_held"]
    if first != "holds":
        kind = words["repro_shown_ones" if found.of_shown_numbers else "repro_ones"]
        held = words["colon"].join((kind, words[f"repro_{first}"]))
    if others := [f"{words[f'repro_{name}']}{words['colon']}{count}" for name, count in counts.items() if count]:
        held += words["aside"].format(text=", ".join(others))
    return p.HeadlineElement(numbers=(p.HeadlineNumber(value=_prose(number), text=_prose(held)),))


def _elements(found: HeldAgainst, words: Words) -> Iterator[p.Element]:
    if not found.verdicts:
        yield p.TextElement(prose=_prose(words["repro_nothing"]))
    else:
        yield _headline(found, words)
        if told := _what_differs(found, words):
            yield p.TextElement(prose=_prose(told))
        yield _verdicts(found, words)
        how = p.TextElement(prose=_prose(_how_judged(found, words)))
        why = p.TextElement(prose=p.Prose.of(["\n".join(_whys(found.verdicts, words))]))
        yield p.SectionElement(title=words["repro_whys"], elements=(how, why))
    yield p.SectionElement(title=words["repro_environments"], elements=(_environments(found, words),))


def _whys(verdicts: Sequence[Reproduced], words: Words) -> Iterator[str]:
    """Yield each reason with the names of the statements concerned."""
    by_reason: dict[str, list[str]] = {}
    for each in verdicts:
        by_reason.setdefault(why_text(each, words), []).append(_name(each))
    for reason, names in by_reason.items():
        text = words["colon"].join((reason[:1].upper() + reason[1:], words["semicolon"].join(names)))
        yield f"- {p.escaped(text)}"


def _verdicts(found: HeldAgainst, words: Words) -> p.TableElement:
    verdicts = found.verdicts

    def line(label: str, texts: Iterator[str]) -> p.Line:
        return p.Line(label=words[label], texts=tuple(map(_prose, texts)))

    return p.TableElement(
        title=words["repro_table"],
        dim="statement",
        dim_label=words["repro_number" if found.of_shown_numbers else "repro_statement"],
        keys=tuple(
            p.LabelledKey(value=str(n), label=_name(each) + _place(each, words)) for n, each in enumerate(verdicts)
        ),
        lines=(
            p.Line(label=words["repro_verdict"], texts=tuple(_verdict(each, words) for each in verdicts)),
            line("repro_before", (number_text(each.before, each, words) for each in verdicts)),
            line("repro_now", (number_text(each.now, each, words) for each in verdicts)),
            line("repro_ratio", (ratio_text(each, words) or words["missing"] for each in verdicts)),
        ),
    )


def _verdict(found: Reproduced, words: Words) -> p.Prose:
    text = p.escaped(verdict_text(found, words))
    return p.Prose.of([f"**{text}**" if found.verdict == "fails" else text])


def _environments(found: HeldAgainst, words: Words) -> p.Element:
    differing = found.differences[:_MOST_FACTS]
    of_machine = [each for each in found.alike if _OF_MACHINE.fullmatch(each.what)]
    alike = _folded(of_machine)
    run = Difference(words["repro_run"], found.about.run, found.run)
    shown = (run, *differing, *alike)
    told = (
        ("repro_more_facts", len(found.differences) - len(differing)),
        ("repro_more_alike", len(found.alike) - len(of_machine)),
    )
    note = " ".join(counted(words, key, count) for key, count in told if count)
    sides = (("repro_before", "first"), ("repro_now", "second"))
    compared = ("", *("repro_differs" for _ in differing), *("repro_same" for _ in alike))
    return p.TableElement(
        title=words["repro_facts"],
        dim="fact",
        dim_label=words["repro_fact"],
        keys=tuple(p.LabelledKey(value=str(n), label=_fact(each.what, words)) for n, each in enumerate(shown)),
        lines=(
            *(
                p.Line(
                    label=words[key],
                    texts=tuple(_prose(_short(getattr(each, side)) or words["missing"]) for each in shown),
                )
                for key, side in sides
            ),
            p.Line(label=words["repro_compared"], texts=tuple(_prose(words[key] if key else "") for key in compared)),
        ),
        note=_prose(note) if note else None,
    )


def _place(found: Reproduced, words: Words) -> str:
    """Return where a shown number differs most. Return "" for other statements, because their sentences name the
    place."""
    if found.stated.kind != "number" or not found.place:
        return ""
    steps = (step.partition(" ") for step in found.place.split(", "))
    return words["aside"].format(
        text=", ".join(f"{words.dimension_within(dim)} {_short(key)}" for dim, _, key in steps)
    )


def _name(found: Reproduced) -> str:
    return _short(found.stated.sentence or found.stated.name)


def _folded(alike: Sequence[Difference]) -> list[Difference]:
    """Return the facts. A fact that is the same for all hardware is listed once, without the hardware's name."""
    values: dict[str, set[str]] = {}
    for each in alike:
        values.setdefault(each.what.partition(" of ")[0], set()).add(each.first)
    named = ((each, each.what.partition(" of ")[0]) for each in alike)
    return list(
        dict.fromkeys(
            each if len(values[stem]) > 1 else Difference(stem, each.first, each.second) for each, stem in named
        )
    )


def _fact(what: str, words: Words) -> str:
    kind, _, name = what.partition(" ")
    return _short(fact_name(name, words) if kind == "host" and name else what)


def _short(text: str) -> str:
    """Return an untrusted text shortened and on one line. Non-breaking spaces stay."""
    text = re.sub(
        " +", " ", "".join(char if char.isprintable() or char in "\u00a0\u202f" else " " for char in text)
    ).strip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _prose(text: str) -> p.Prose:
    return p.Prose.of([p.escaped(text)])
