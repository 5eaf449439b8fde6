"""Units and their dimensions: the kind of quantity that a number measures, and how to convert it.

A dimension is a product of powers of base dimensions. Each kind of countable thing (operations, records, nodes,
threads, cores) and each currency is a base dimension of its own, so that no two of them can be added. Bytes and bits
share `information`; watts are energy per time, so `ops/s/W` and `op/J` have the same dimension.
"""

from __future__ import annotations

from functools import lru_cache

from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.lazy_dataclass import dataclass

Dimension = tuple[tuple[str, int], ...]
"""Base dimensions with their exponents, sorted by name. For a plain number, it is `()`."""

DIMENSIONLESS: Dimension = ()
"""The dimension of a plain number."""


class UnknownUnitError(ValueError):
    """Raised for an unknown unit. `part` is the unknown factor, and `start` is its offset in the text."""

    def __init__(self, text: str, part: str, start: int) -> None:
        super().__init__(f"unknown unit `{part}`")
        self.text = text
        self.part = part
        self.start = start

    @property
    def hint(self) -> str | None:
        """The unit that was most likely meant, for mistakes other than misspellings."""
        return _MEANT.get(self.part) or _BY_LOWER_CASE.get(self.part.lower())


@dataclass(frozen=True)
class Unit:
    """A unit. A value in this unit times `factor` is the value in base units (`base_unit(dimension)`)."""

    dimension: Dimension
    factor: float
    text: str

    def __mul__(self, other: Unit) -> Unit:
        text = f"{self.text}*{other.text}" if self.text and other.text else self.text or other.text
        return Unit(multiply(self.dimension, other.dimension), self.factor * other.factor, text)

    def __truediv__(self, other: Unit) -> Unit:
        text = f"{self.text or '1'}/{other.text}" if other.text else self.text
        return Unit(divide(self.dimension, other.dimension), self.factor / other.factor, text)

    def to_base(self, value: float) -> float:
        return value * self.factor


def multiply(left: Dimension, right: Dimension) -> Dimension:
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def divide(left: Dimension, right: Dimension) -> Dimension:
    return multiply(left, tuple((name, -power) for name, power in right))


_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}

_TIME: Dimension = (("time", 1),)
_INFORMATION: Dimension = (("information", 1),)
_ENERGY: Dimension = (("energy", 1),)
_POWER: Dimension = (("energy", 1), ("time", -1))
_RATE: Dimension = (("time", -1),)

CURRENCIES = frozenset(
    """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF
    CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD
    HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD
    LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK
    PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS
    TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW
    """.split()  # noqa: SIM905  # 160 quoted codes would be four times as long
)
"""ISO 4217 codes. Each currency is a base dimension."""


def _table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}

    def add(dimension: Dimension, **factors: float) -> None:
        for text, factor in factors.items():
            units[text] = Unit(dimension, factor, text)

    def scaled(dimension: Dimension, symbol: str, factor: float, prefixes: str) -> None:
        for prefix in ("", *prefixes):
            add(dimension, **{prefix + symbol: factor * _PREFIXES[prefix]})

    add((), **{"%": 0.01})
    add(_TIME, ns=1e-9, us=1e-6, ms=1e-3, s=1.0, min=60.0, h=3600.0, d=86400.0)
    units["µs"] = Unit(
        _TIME, 1e-6, "µs"
    )  # a keyword argument would have the Greek letter: Python normalises names to NFKC
    add(_TIME, day=86400.0, days=86400.0, week=604800.0, weeks=604800.0)
    # A month is a twelfth of 365 days, 730 h, as clouds bill it.
    add(_TIME, month=2628000.0, months=2628000.0, year=31536000.0, years=31536000.0)
    scaled(_INFORMATION, "B", 1.0, "kMGTP")
    scaled(_INFORMATION, "bit", 0.125, "kMGT")
    for prefix, factor in _BINARY.items():
        add(_INFORMATION, **{prefix + "B": factor, prefix + "bit": factor / 8})
    scaled(_ENERGY, "J", 1.0, "kMG")
    scaled(_ENERGY, "Wh", 3600.0, "kMG")
    scaled(_POWER, "W", 1.0, "kM")
    add(_POWER, mW=1e-3)
    scaled(_RATE, "Hz", 1.0, "kMG")
    add(_RATE, rpm=1 / 60, IOPS=1.0)
    add((("temperature", 1),), degC=1.0)
    for singular, plural, prefixes in (
        ("op", "ops", "kMG"),
        ("record", "records", ""),
        ("node", "nodes", ""),
        ("thread", "threads", ""),
        ("core", "cores", ""),
    ):
        for text in (singular, plural):
            scaled(((_COUNTED[singular], 1),), text, 1.0, prefixes)
    add((("record", 1),), document=1.0, documents=1.0)
    add((("vCPU", 1),), vCPU=1.0, vCPUs=1.0)
    for currency in CURRENCIES:
        add(((currency, 1),), **{currency: 1.0})
    return units


_COUNTED = {"op": "operation", "record": "record", "node": "node", "thread": "thread", "core": "core"}
_UNITS = _table()
_BASE = {
    # base dimension: (its unit in a numerator, in a denominator)
    "time": ("s", "s"),
    "information": ("B", "B"),
    "energy": ("J", "J"),
    "temperature": ("degC", "degC"),
    "operation": ("ops", "op"),
    "record": ("records", "record"),
    "node": ("nodes", "node"),
    "thread": ("threads", "thread"),
    "core": ("cores", "core"),
}
_NUMERATOR_ORDER = ["operation", "record", "information", "energy", "core", "thread", "node"]

_MEANT = {
    "KB": "kB",
    "Kbit": "kbit",
    "Kop": "kop",
    "Kops": "kops",
    "bps": "bit/s",
    "kbps": "kbit/s",
    "Mbps": "Mbit/s",
    "Gbps": "Gbit/s",
    "Gb": "Gbit",
    "Mb": "Mbit",
    "kb": "kB",
    "b": "B",
    "rps": "ops/s",
    "qps": "ops/s",
    "tps": "ops/s",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "msec": "ms",
    "millisecond": "ms",
    "milliseconds": "ms",
    "microsecond": "us",
    "microseconds": "us",
    "nanosecond": "ns",
    "nanoseconds": "ns",
    "kilobytes": "kB",
    "megabytes": "MB",
    "gigabytes": "GB",
    "terabytes": "TB",
    "usec": "us",
    "m": "min",
    "mins": "min",
    "minute": "min",
    "minutes": "min",
    "hr": "h",
    "hour": "h",
    "hours": "h",
    "watt": "W",
    "watts": "W",
    "kilowatts": "kW",
    "joule": "J",
    "joules": "J",
    "byte": "B",
    "bytes": "B",
    "bits": "bit",
    "percent": "%",
    "pct": "%",
    "RPM": "rpm",
    "iops": "IOPS",
    "docs": "documents",
    "rows": "records",
    "C": "degC",
}
_COMMON = ("USD", "EUR", "GBP", "JPY", "CNY", "INR")
_BY_LOWER_CASE = {text.lower(): text for text in reversed(_UNITS)}


def known_units() -> tuple[str, ...]:
    """Return every simple unit, currencies last, for suggestions and the reference."""
    return tuple(sorted(_UNITS, key=lambda text: (text in CURRENCIES, text.lower(), text)))


def nearest_unit(text: str) -> str | None:
    """Return the unit that an unknown one most likely means. Currencies are suggested only if no other unit is
    similar."""
    if len(text) < 2:
        return None
    words = {unit: unit for unit in known_units() if unit not in CURRENCIES}
    words |= {said: unit for said, unit in _MEANT.items() if len(said) > 1}
    guess = did_you_mean(text, words)
    return words[guess] if guess else did_you_mean(text, (*_COMMON, *sorted(CURRENCIES)))


@lru_cache(1 << 10)
def parse_unit(text: str) -> Unit:
    """Parse a unit such as `ops/s/W`, `USD/Mop`, `1/s`, `MB/s` or `%`. "" means a plain number. Divisions go from left
    to right. Raises UnknownUnitError."""
    result = Unit(DIMENSIONLESS, 1.0, "")
    if not text:
        return result
    start = 0
    for position, factor in enumerate(text.split("/")):
        product = Unit(DIMENSIONLESS, 1.0, "")
        for part in factor.split("*"):
            if part != "1" or position > 0:
                unit = _UNITS.get(part.replace("\N{GREEK SMALL LETTER MU}", "\N{MICRO SIGN}"))
                if unit is None:
                    raise UnknownUnitError(text, part, start)
                product = product * unit
            start += len(part) + 1
        result = product if position == 0 else result / product
    return Unit(result.dimension, result.factor, text)


Amount = tuple[float, Dimension]
"""A number in base units, with its dimension."""


def amount(value: float, unit: str) -> Amount | None:
    """Return an amount in its base unit, rounded to 9 digits, and its dimension. Return None if the unit is unknown."""
    try:
        found = parse_unit(unit)
    except UnknownUnitError:
        return None
    return float(f"{found.to_base(value):.9g}"), found.dimension


_LARGER = {
    "op": ((1e-9, "Gop"), (1e-6, "Mop"), (1.0, "op")),
    "B": ((1e-12, "TB"), (1e-9, "GB")),
    "s": ((1 / 2628000.0, "month"), (1 / 3600.0, "h")),
}


@lru_cache(1 << 10)
def larger_units(text: str) -> tuple[tuple[float, str], ...]:
    """Return the units in which to show a price or an energy whose unit is `text`, each with its factor, the smallest
    factor first. To convert a value, divide it by the factor.

    A price or an energy per operation can be shown per Gop, Mop or op, a price per byte can be shown per TB or GB, and
    a price per second can be shown per month or hour. Returns no units for anything else.
    """
    paid, _, of = text.partition("/")
    of = {"ops": "op"}.get(of, of)
    if paid not in CURRENCIES and (paid, of) != ("J", "op"):
        return ()
    return tuple((factor, f"{paid}/{unit}") for factor, unit in _LARGER.get(of, ()))


@lru_cache(1 << 10)
def base_unit(dimension: Dimension) -> str:
    """Return the unit of stored values with this dimension: "ops/s", "W", "B/s", or "" for a plain number. Its factor
    is 1: `parse_unit(base_unit(d)) == Unit(d, 1.0, base_unit(d))`."""
    if dimension == (("energy", -1), ("operation", 1)):
        return "ops/s/W"
    powers = dict(dimension)
    over: list[str] = []
    under: list[str] = []
    if powers.get("energy") and powers.get("time") and powers["energy"] == -powers["time"]:
        # show joules per second as watts, on either side of the fraction bar
        (over if powers["energy"] > 0 else under).extend(["W"] * abs(powers["energy"]))
        del powers["energy"], powers["time"]
    for name, power in sorted(powers.items(), key=_reading_order):
        numerator, denominator = _BASE.get(name, (name, name))
        (over if power > 0 else under).extend([numerator if power > 0 else denominator] * abs(power))
    if not over and not under:
        return ""
    return "/".join(["*".join(over) or "1", *under])


def _reading_order(item: tuple[str, int]) -> tuple[int, str]:
    name, power = item
    if power < 0:
        return (0 if name == "time" else 1, name)
    return (_NUMERATOR_ORDER.index(name) if name in _NUMERATOR_ORDER else len(_NUMERATOR_ORDER), name)


_NAMES: dict[Dimension, str] = {
    (): "a plain number",
    _TIME: "a time",
    _INFORMATION: "an amount of data",
    _ENERGY: "an energy",
    _POWER: "a power",
    _RATE: "a frequency",
    (("temperature", 1),): "a temperature",
    (("operation", 1),): "a number of operations",
    (("record", 1),): "a number of records",
    (("node", 1),): "a number of nodes",
    (("thread", 1),): "a number of threads",
    (("core", 1),): "a number of cores",
    (("vCPU", 1),): "a number of vCPUs",
    (("operation", 1), ("time", -1)): "a throughput in ops/s",
    (("information", 1), ("time", -1)): "a bandwidth",
}


def dimension_name(dimension: Dimension) -> str:
    """Return a dimension's name for messages: "a time", "a power", "an amount of USD". A dimension without a name is
    called by its base unit."""
    if dimension in _NAMES:
        return _NAMES[dimension]
    if len(dimension) == 1 and dimension[0][0] in CURRENCIES and dimension[0][1] == 1:
        return f"an amount of {dimension[0][0]}"
    return f"in {base_unit(dimension)}"
