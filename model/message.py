"""A sentence about a run: a code with arguments, which the catalogue of each language puts into words.

A `Message` is a string, the English sentence, so that it can be shown, logged and compared. It also keeps its code and
arguments. The journal and the store keep them, too, so that a brief in another language can word the sentence again. A
plain string, such as a tool's output or a sentence in an earlier journal, is shown unchanged.

The codes are the methods of a protocol. With the prefix `r_`, a code is the key in a catalogue, and the method's
parameters are the holes in the text. `speaker` makes an object with these methods:

`say: DriverMessages = speaker(DriverMessages)`, `say.tool_ended(tool="fio", code=1, said="No space left on device")`

Another package passes its own words by language: `speaker(Declared, {"en": {...}, "ja": {...}})`. The journal keeps
them with the code, so that a brief does not need the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias

from benchbrief.dsl.diagnostics.plain_amounts import duration
from benchbrief.model.english import ENGLISH
from benchbrief.model.precision import share_text

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

FAMILY = "r_"
"""The prefix of codes when they are keys of a catalogue."""

_HOLE = re.compile(r"\{([a-z_]+)\}")

OwnWords: TypeAlias = Mapping[str, Mapping[str, str]]
"""An extension's own texts, by language and code."""


class Language(Protocol):
    """A language in which sentences can be worded."""

    language: str

    def form(self, key: str, count: float) -> str:
        """Return the text for a count. Raises KeyError for an unknown key."""
        ...


class PrintedNumber(float):
    """A number in a sentence, together with its printed form."""

    text: str

    def __new__(cls, value: float, text: str) -> PrintedNumber:
        made = super().__new__(cls, value)
        made.text = text
        return made

    def __str__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else self.text

    def __reduce__(self) -> tuple[object, ...]:
        return PrintedNumber, (float(self), self.text)


def figure(value: float, spec: str) -> PrintedNumber:
    """Return a number, printed according to a Python format specification."""
    return PrintedNumber(value, format(value, spec))


def duration_figure(seconds: float) -> PrintedNumber:
    """Return a time, such as `4 min 16 s`."""
    return PrintedNumber(seconds, duration(seconds))


def share_figure(share: float, decimals: int = 0) -> PrintedNumber:
    """Return a share, printed as a percentage with this many decimals."""
    return PrintedNumber(share, share_text(share, decimals))


class Message(str):
    """The English sentence for a code and its arguments, which are texts, numbers and other sentences."""

    code: str
    args: Mapping[str, str | float]
    own: Mapping[str, str]
    """The words by language, if the code is from another package."""

    def __new__(cls, code: str, args: Mapping[str, object], own: Mapping[str, str] | None = None) -> Message:
        known = {name: value if isinstance(value, str | int | float) else str(value) for name, value in args.items()}
        made = super().__new__(cls, _worded(code, known, own or {}, ENGLISH))
        made.code, made.args, made.own = code, known, own or {}
        return made

    def __str__(self) -> str:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return Message, (self.code, self.args, self.own)

    def in_words(self, words: Language) -> str:
        """Return the sentence in another language."""
        return _worded(self.code, self.args, self.own, words)

    @property
    def shape(self) -> Hashable:
        """A key that is equal for sentences that have the same words, and differ only in their numbers."""
        return self.code, tuple((name, _shape(value)) for name, value in self.args.items())

    def __hash__(self) -> int:
        return super().__hash__()


def _shape(value: str | float) -> Hashable:
    return value.shape if isinstance(value, Message) else value if isinstance(value, str) else None


def _worded(code: str, args: Mapping[str, str | float], own: Mapping[str, str], words: Language) -> str:
    count = args.get("n", 0)
    shown = {name: value.in_words(words) if isinstance(value, Message) else str(value) for name, value in args.items()}
    try:
        text = (
            own.get(words.language)
            or own.get("en")
            or words.form(FAMILY + code, 0 if isinstance(count, str) else count)
        )
        return _HOLE.sub(lambda hole: shown[hole[1]], text)
    except KeyError:  # from a newer version's journal, or a package without these words
        return f"{code}: {', '.join(f'{name} {value}' for name, value in shown.items())}" if shown else code


def word(code: str) -> Message:
    """Return the sentence for a code without arguments, such as a status. An unknown code is shown unchanged."""
    return Message(code, {})


def mapped(text: str, change: Callable[[str], str]) -> str:
    """Apply a change to a text, or to all texts in a message's arguments, at every depth."""
    if not isinstance(text, Message):
        return change(text)
    args = {name: mapped(each, change) if isinstance(each, str) else each for name, each in text.args.items()}
    return Message(text.code, args, text.own)


def spanning(texts: Sequence[Message]) -> Message:
    """Merge sentences of the same `shape` into one that gives the range of each number: `takes 1.2–3.4 cores`."""
    first = texts[0]
    return Message(first.code, {name: _span([text.args[name] for text in texts]) for name in first.args}, first.own)


def _span(values: Sequence[str | float]) -> str | float:
    nested = [value for value in values if isinstance(value, Message)]
    if nested:
        return spanning(nested)
    numbers = sorted((value for value in values if not isinstance(value, str)), key=float)
    if not numbers or str(numbers[0]) == str(numbers[-1]):
        return values[0]
    return PrintedNumber(numbers[0], f"{numbers[0]}–{numbers[-1]}")


# --- codes -------------------------------------------------------------------------------------------------------


def speaker(declared: type, words: OwnWords | None = None) -> Any:
    """Return an object with a method for each code that the protocol declares."""
    return _Speaker(declared, words or {})


class _Speaker:
    def __init__(self, declared: type, words: OwnWords) -> None:
        self._declared = declared
        self._words = words

    def __getattr__(self, code: str) -> Callable[..., Message]:
        if not hasattr(self._declared, code):
            raise AttributeError(code)
        own = {language: texts[code] for language, texts in self._words.items() if code in texts}
        return partial(self._say, code, own)

    @staticmethod
    def _say(code: str, own: Mapping[str, str], /, **args: object) -> Message:
        return Message(code, args, own)


def codes_of(declared: type) -> dict[str, tuple[str, ...]]:
    """Return a protocol's codes, each with the names of its arguments."""
    found = {}
    for kind in reversed(declared.__mro__):
        for name, method in vars(kind).items():
            if not name.startswith("_") and hasattr(method, "__code__"):
                found[name] = method.__code__.co_varnames[1 : 1 + method.__code__.co_kwonlyargcount]
    return found


# --- the journal and the store -----------------------------------------------------------------------------------


def to_data(text: str | float) -> object:
    """Return the form of a sentence or an argument that JSON can store."""
    if isinstance(text, Message):
        args = {name: to_data(value) for name, value in text.args.items()}
        return {"code": text.code, "args": args, **({"words": dict(text.own)} if text.own else {})}
    return {"value": float(text), "text": text.text} if isinstance(text, PrintedNumber) else text


def from_data(data: object) -> Message | PrintedNumber | str | int | float:
    """Return the sentence or number from its `to_data` form. Raises ValueError for anything else."""
    match data:
        case {"code": str(code), "args": dict(args), "words": dict(own)}:
            if not all(isinstance(each, str) for each in (*args, *own, *own.values())):
                raise ValueError("not a sentence")
            return Message(code, {name: from_data(value) for name, value in args.items()}, own)
        case {"code": str(code), "args": dict(args)}:
            return from_data({"code": code, "args": args, "words": {}})
        case {"value": int() | float() as value, "text": str(text)}:
            return PrintedNumber(value, text)
        case str() | int() | float():
            return data
    raise ValueError("not a sentence")


def message_from_data(data: object) -> Message:
    """Return the message from its `to_data` form. Raises ValueError for anything else, including plain text."""
    found = from_data(data)
    if not isinstance(found, Message):
        raise ValueError("not a sentence with a code")
    return found


def said_from_data(data: object) -> str:
    """Return the sentence, a message or plain text, from its `to_data` form. Raises ValueError for anything else."""
    found = from_data(data)
    if not isinstance(found, str):
        raise ValueError("not a sentence")
    return found


class _AsData:
    """Tells pydantic how to read and write a sentence."""

    def __get_pydantic_core_schema__(self, _: object, handler: GetCoreSchemaHandler) -> Any:
        from pydantic import PlainSerializer, PlainValidator

        return handler.generate_schema(Annotated[str, PlainValidator(said_from_data), PlainSerializer(to_data)])


Said: TypeAlias = Annotated[str, _AsData()]
"""A field of a record: a `Message`, stored as its code and arguments, or a plain string."""


def joined(texts: Iterable[str], both: Callable[..., Message]) -> str:
    """Join several sentences into one, or return "" if there are none. `both` is the function that joins two of
    them."""
    found = ""
    for text in texts:
        found = both(first=found, then=text) if found else text
    return found
