"""The source of imported numbers, and how they may be used.

A table states it in lines before its head:

    # title: Shrink Your MongoDB Cluster
    # publisher: Micron Technology, Inc.
    # document: CCM004-676576390-10792, Rev. A 7/17
    # licence: all rights reserved; single figures are cited with their source
    # statement: legacy nodes needed: between 26 and 29 for B and C
    # told: Load generator: YCSB, 96 threads
    # facts: storage
    # rest: not published

A brief discloses the `told` lines, and no setting of the spec, since the source may have used others. For the outputs
of tools, options of the command line state all this, and the outputs themselves state settings, too. `facts` names
the facts of the spec's hardware that the source states, and a brief shows only these. The last line says that the
source does not publish the cells that the table lacks. Numbers over a ramp (a maximum, say) are then those of the
published points. Without that line, such a number is missing, as after a failed measurement.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchbrief.compiler.shapes.lengths import LINE, PARAGRAPH
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.results.imports.import_problems import ImportRefused, Problem

KEYS = ("title", "publisher", "url", "document", "date", "licence")
STATEMENT = "statement"
TOLD = "told"
FACTS = "facts"
REST = "rest"
NOT_PUBLISHED = "not published"
OWN = "own measurements"
"""The title of numbers that whoever imports them has measured, where no other is given."""
LONGEST: Mapping[str, int] = {
    **dict.fromkeys(KEYS, LINE),
    "url": PARAGRAPH,
    "licence": PARAGRAPH,
    STATEMENT: PARAGRAPH,
    TOLD: LINE,
    FACTS: PARAGRAPH,
    REST: LINE,
}
"""The most characters of each."""
_SLIPPED = 2
"""How many letters more or fewer a topic may have that is a slip for another."""
_LINE = re.compile(r"#\s*([A-Za-z]+)\s*:\s*(.*)")


@dataclass(frozen=True)
class Source:
    """A source. `said` are the values of `KEYS`, and `statements` what else the source says, in words.

    `told` are the versions and settings that it states, each a name and a text. `facts` are the names of the spec's
    facts that it states, None when the file does not say.
    """

    said: Mapping[str, str] = field(default_factory=dict)
    statements: tuple[str, ...] = ()
    told: tuple[tuple[str, str], ...] = ()
    facts: tuple[str, ...] | None = None
    rest_not_published: bool = False
    mine: bool = False
    """Whether whoever imports the numbers has measured them: then nobody published them."""

    def given(self, options: Source) -> Source:
        """Add what the command line says. Its title, licence and so on replace those of the file."""
        facts = self.facts if options.facts is None else (*(self.facts or ()), *options.facts)
        said = {**self.said, **options.said}
        return replace(self, said=said, told=(*self.told, *options.told), facts=facts, mine=options.mine)

    @property
    def name(self) -> str:
        """The title, with who published it, or measured it."""
        title, publisher = self.said.get("title") or OWN, self.said.get("publisher")
        return f"{title} ({publisher})" if publisher else title

    def missing(self) -> str:
        """Return which required statements are missing; "" when none is."""
        lacking = [key for key in ("title", "publisher", "licence") if not self.said.get(key)]
        if not self.said.get("url") and not self.said.get("document"):
            lacking.append("url or document")
        return ", ".join(lacking)


def require(source: Source, file: str) -> None:
    """Raises ImportRefused for a source without all required statements. Own measurements need none."""
    if source.mine:
        if foreign := [key for key in ("publisher", "licence") if source.said.get(key)]:
            what = f"the numbers have a {' and a '.join(foreign)}, and are said to be your own"
            raise ImportRefused([Problem(file, None, what, "leave out --mine, or those")])
        return
    if lacking := source.missing():
        hint = (
            "say it in lines before the table's head, as `# title: ...`, or by options, as --title and --licence "
            "(what its publisher lets others do with the numbers); for what you measured yourself, --mine is enough"
        )
        raise ImportRefused([Problem(file, None, f"who published these numbers is not said: {lacking}", hint)])


def source_of_options(
    said: Mapping[str, str | None],
    told: Sequence[str],
    facts: str,
    known_facts: Collection[str],
    topics: Collection[str] = (),
    *,
    mine: bool = False,
) -> Source:
    """Return the source from the command line. `told` and `facts` are written as in a table's comment lines.

    `topics` are what a brief names as not stated. Raises ImportRefused with all problems, also for a name in `told`
    that is one of these but for a slip: the brief would still say that it is not stated.
    """
    problems: list[Problem] = []
    settings = [_setting(text, "--told", None, problems) for text in told]
    for name, _ in settings:
        if (meant := _slip(name, topics)) is not None:
            what = f"a brief has no topic `{name}`, so it would still say that the source does not tell its {meant}"
            problems.append(Problem("--told", None, what, f"did you mean `{meant}`?"))
    names = _facts(facts, "--facts", None, known_facts, problems) if facts else None
    if problems:
        raise ImportRefused(problems)
    return Source({key: text for key, text in said.items() if text}, told=tuple(settings), facts=names, mine=mine)


def read_source(
    lines: Sequence[tuple[int, str]], file: str, problems: list[Problem], known_facts: Collection[str] = ()
) -> Source:
    """Read a source from a file's comment lines, each with its number. Ignores other comments.

    `known_facts` are the names of the facts that the spec's hardware declares.
    """
    said: dict[str, str] = {}
    statements = []
    told: list[tuple[str, str]] = []
    facts: tuple[str, ...] | None = None
    rest = False
    for number, line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        key, text = _key(match), match[2].strip()
        if key == STATEMENT:
            statements.append(text)
        elif key == TOLD:
            told.append(_setting(text, file, number, problems))
        elif key == FACTS:
            facts = (*(facts or ()), *_facts(text, file, number, known_facts, problems))
        elif key == REST:
            rest = text == NOT_PUBLISHED
            if not rest:
                problems.append(Problem(file, number, f"`rest` is `{NOT_PUBLISHED}`, or is left out, and not `{text}`"))
        elif key not in KEYS:
            guess = did_you_mean(key, (*KEYS, STATEMENT, TOLD, FACTS, REST))
            if guess:
                problems.append(Problem(file, number, f"unknown key `{key}` of a source", f"did you mean `{guess}`?"))
        elif key in said:
            problems.append(Problem(file, number, f"the source's {key} is said twice"))
        else:
            said[key] = text
    return Source(said, tuple(statements), tuple(told), facts, rest)


def long_lines(lines: Sequence[tuple[int, str]], file: str) -> list[Problem]:
    """Return problems for the comment lines that are too long."""
    found = [(number, match) for number, line in lines if (match := _LINE.match(line))]
    reasons = [(number, too_long(_key(match), match[2].strip())) for number, match in found]
    return [Problem(file, number, f"the source's {why}", "shorten it") for number, why in reasons if why]


def _key(match: re.Match[str]) -> str:
    return match[1].lower().replace("license", "licence")


def too_long(key: str, text: str) -> str:
    """Return what is wrong with the length of a statement; "" when it is within its limit, or has none."""
    most = LONGEST.get(key)
    return "" if most is None or len(text) <= most else f"{key} has {len(text):,} characters; the limit is {most:,}"


def _setting(text: str, file: str, line: int | None, problems: list[Problem]) -> tuple[str, str]:
    """Split `Load generator: YCSB 0.17.0` into a name and a text."""
    name, colon, value = (part.strip() for part in text.partition(":"))
    if not (colon and name and value):
        hint = "write a name, a colon and a text: `Load generator: YCSB 0.17.0, 96 threads`"
        problems.append(Problem(file, line, f"`told` needs a name, a colon and a text, and has `{text}`", hint))
    return name, value


def _slip(name: str, topics: Collection[str]) -> str | None:
    """Return the topic that a name is a slip for; None when it is a topic, or is not like any."""
    known = {topic.casefold(): topic for topic in topics}
    if not name or name.casefold() in known:
        return None
    meant = did_you_mean(name.casefold(), known)
    # The beginning of a topic is another name: "database" for "database and its options".
    return known[meant] if meant and abs(len(meant) - len(name)) <= _SLIPPED else None


def _facts(text: str, file: str, line: int | None, known: Collection[str], problems: list[Problem]) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    problems += [_unknown_fact(name, file, line, known) for name in names if name not in known]
    return names


def _unknown_fact(name: str, file: str, line: int | None, known: Collection[str]) -> Problem:
    guess = did_you_mean(name, tuple(known))
    hint = f"did you mean `{guess}`?" if guess else f"there is {', '.join(sorted(known)) or 'none'}"
    return Problem(file, line, f"no hardware of the spec declares a fact `{name}`", hint)
