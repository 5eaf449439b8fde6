"""Tests data classes that are built only when their first object is made. They must equal Python's own data classes,
whoever makes that object."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import KW_ONLY, field, fields, replace
from threading import Barrier, Thread
from typing import ClassVar

import pytest

from benchbrief.dsl.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Base:
    number: int
    kind: ClassVar[str] = "none"
    names: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Heir(Base):
    seed: int = 7
    _: KW_ONLY
    last: int = 5

    def __post_init__(self) -> None:
        vars(self)["doubled"] = 2 * self.seed


def test_fields_are_inherited_given_by_name_and_replaced() -> None:
    heir = Heir(1, ("a",), 3, last=6)
    assert repr(heir) == "Heir(number=1, seed=3, last=6)"
    assert vars(heir)["doubled"] == 6
    assert replace(heir, number=2) == Heir(2, ("a",), 3, last=6)
    assert hash(heir) == hash(Heir(1, ("a",), 3, last=6))
    assert [each.name for each in fields(Heir)] == ["number", "names", "seed", "last"]
    with pytest.raises(TypeError, match="positional"):
        Heir(1, (), 3, 6)  # type: ignore[call-arg]
    match heir:
        case Heir(number, names):
            assert (number, names) == (1, ("a",))


def test_fields_may_all_be_given_by_name_alone() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Named:
        number: int = 3
        last: str

    assert Named(last="x") == Named(number=3, last="x")
    with pytest.raises(TypeError, match="positional"):
        Named(1, last="x")  # type: ignore[call-arg]


def test_objects_from_another_process_are_equal_only_where_their_fields_are() -> None:
    """Unpickling does not call `__init__`, which would build the class."""
    made = "from tests.dsl.test_lazy_dataclass import Base; import pickle, sys; "
    write = made + "sys.stdout.buffer.write(pickle.dumps([Base(1), Base(2), Base(1)]))"
    read = made + "a, b, c = pickle.load(sys.stdin.buffer); print(a == b, a == c, hash(a) == hash(c), a)"
    pickled = subprocess.run([sys.executable, "-c", write], capture_output=True, check=True).stdout
    shown = subprocess.run([sys.executable, "-c", read], input=pickled, capture_output=True, check=True).stdout
    assert shown.decode() == "False True True Base(number=1)\n"


def test_a_class_with_slots_has_them() -> None:
    @dataclass(slots=True)
    class Small:
        number: int

    assert not hasattr(Small(1), "__dict__")


@pytest.fixture
def threads_take_turns_often() -> object:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("threads_take_turns_often")
def test_first_objects_may_be_made_by_many_threads_at_once() -> None:
    wrong: list[Exception] = []
    for _ in range(50):

        @dataclass(frozen=True)
        class Pair:
            left: int
            right: int = 2

        together = Barrier(8)

        def make(made: type[Pair] = Pair, together: Barrier = together) -> None:
            together.wait()
            try:
                assert made(1) == made(left=1, right=2)
                assert len(fields(made)) == 2
            except Exception as error:  # whatever it is, it is wrong
                wrong.append(error)

        threads = [Thread(target=make) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert wrong == []
