"""The words of claims: what a sentence promises of the number in it, in English and Japanese.

Each table is small, and looks right before or right behind the number. What it does not know is no mistake. Patterns
are texts, which `re` compiles at their first use and keeps: most specs need none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from benchbrief.model.units import Amount, amount

_BLANKS = r"[\s\u00a0]*"
_BLANK = r"[\s\u00a0]+"
_PER_CENT = r"(?:%|％|per ?cent|パーセント|percentage points?|ポイント)"
_TIMES = r"(?:[xX×]|times|-?fold|倍)"
_NUMBER = r"[0-9０-９][0-9０-９.,．，]*"
_SPELLED = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty", "thirty", "forty",
    "fifty", "sixty", "seventy", "eighty", "ninety", "a hundred", "hundred", "a thousand",
)  # fmt: skip


def _before(english: str, japanese: str = "(?!)") -> str:
    """Return a pattern of words that end right before a number."""
    near = rf",?(?:{_BLANK}(?:an?|about|some|around|the|roughly|nearly|almost|approximately|full|fully))*{_BLANKS}\Z"
    return rf"(?:\b(?:{english})|(?:{japanese})){near}"


def _behind(english: str, japanese: str, unit: str = rf"(?:{_PER_CENT}|{_TIMES})?") -> str:
    """Return a pattern of words that begin right behind a number and its unit."""
    return rf"\A{_BLANKS}-?{unit}(?:(?:{_BLANK}|-)(?:{english})\b|{_BLANKS}(?:{japanese}))"


def _stripped(words: str) -> str:
    """Return found words without the unit and the blanks around them."""
    return words.strip(" \u00a0-,%％")


def found_in(pattern: str, text: str) -> str:
    """Return what a pattern finds in a text, for a message; "" where it finds nothing."""
    found = re.search(pattern, text, re.IGNORECASE)
    return _stripped(found.groupdict().get("said") or found.group()) if found else ""


# --- bounds ---

_GOOD = "ratio|gains?|speed-?up|advantage|improvement|increase|lead|savings?|reduction|margin|benefit|multiple"
_HIGHEST = rf"(?:highest|greatest|largest|biggest|best|peak|maximum|record){_BLANK}(?:{_GOOD})\b[^.;]*"
_LOWEST = rf"(?:lowest|smallest|worst|minimum){_BLANK}(?:{_GOOD})\b[^.;]*"
_AT_ITS = r"(?:at|in) (?:its|their|the) "
_SO_FAR = r"[^.;。]*"
_ALONE = r"(?: point| case|-case)?\b(?!\s*\w)"
"""Behind words of a case that name no load, price or other thing: `at the highest`, not `at the highest load`."""
_BEST_CASE = rf"at (?:best|peak|its best|their best){_ALONE}|{_AT_ITS}(?:best|highest|peak){_ALONE}|at the high end"
_WORST_CASE = (
    rf"(?:at|in the) worst{_ALONE}|worst[ -]case(?=\W)|{_AT_ITS}(?:worst|lowest){_ALONE}|at the low end"
    r"|or (?:better|higher|more)(?=,|\Z)"
)


class Bound(NamedTuple):
    """The words that promise an end of a range: before its number, and behind it in the same clause."""

    before: str
    behind: str

    def found(self, before: str, after: str) -> str:
        """Return the words of this bound around a number; "" without any."""
        return found_in(self.before, before) or found_in(self.behind, after)


def _bound(english: str, japanese: str, case: str, behind: str) -> Bound:
    """Return the words of a bound; those for its `case` may stand anywhere in the clause of the number."""
    return Bound(
        _before(rf"(?:{english})|(?:{case}){_SO_FAR}", japanese),
        rf"(?:\A{_SO_FAR}?\b)(?P<said>{case})|\A{_BLANKS}(?:{_PER_CENT}|{_TIMES})?{_BLANKS}-?(?:{behind})",
    )


UP_TO = _bound(
    rf"up{_BLANKS}to|at (?:the )?most|(?:no|not|never) (?:more than|above|over)|as (?:much|many|high) as"
    rf"|(?:a )?(?:maximum|max\.|peak|high|top) of|maximum|{_HIGHEST}"
    r"|(?:peak|top|max)(?:s|es|ed|ped|ing|ping)?(?: out)? at|(?:ceiling|peak|maximum) is",
    "(?:最大|最高)(?:でも?[^。、]{0,15})?|(?:最大|最高)の(?:比|差|向上率?|改善率?)は",
    _BEST_CASE,
    r"(?:max(?:imum)?|tops)\b|が(?:最大|最高|上限)|まで(?!に)",
)
AT_LEAST = _bound(
    rf"at (?:the very )?least|at minimum|(?:a )?minimum of|minimum|(?:no|not|never) (?:less|worse|fewer|lower) than"
    r"|(?:never|not once)\b[^.;:]*?\b(?:below|under|(?:less|fewer|lower|worse) than)"
    rf"|as (?:low|little) as|always|guarantee[sd]?|(?:floor|minimum) is|{_LOWEST}",
    "(?:少なくとも|最低でも?|最小でも?|最悪でも|必ず|常に)[^。、]{0,15}",
    _WORST_CASE,
    r"(?:at least|or (?:more|better|higher)|and (?:more|up|above|beyond)|minimum)\b|\+(?!\w)|が(?:最小|最低|下限)"
    "|を(?:下回らない|割らない|切らない)",
)
MORE_THAN = _before(r"(?<!no )(?<!not )(?<!never )(?:more than|over|above|upwards of|beyond)")
BEYOND = _behind("(?!)", "以上|を超え(?!な|ず|ません)|を上回(?!ら)")
"""Words that promise a lowest value too, but are usual for any number that was rounded down; so `MORE_THAN`."""

# --- averages and whole ranges ---

_PLACES = (
    r"(?:workloads?|loads?|thread counts?|concurrency levels?|levels?|settings?|cases?|points?|conditions?|scenarios?"
    r"|tests?|mixe?s?|benchmarks?|steps?)"
)
_EACH = (
    rf"(?:every|each|any|all|both)(?:{_BLANK}(?:of{_BLANK})?(?:the|our|these|those|its))?(?:{_BLANK}\w+)?"
    rf"{_BLANK}{_PLACES}\b"
)
_HAS_IT = "runs?|does|do|gains?|gets?|sees?|is|are|shows?|reach(?:es)?|improves?|delivers?|has|have|serves?|takes?"
_TRIED = r"(?<!tested )(?<!measured )(?<!tried )(?<!repeated )(?<!run )(?<!ran )"
_REPEATS = rf"(?:the |its |all |three |{_NUMBER} )*(?:repeats|repetitions|runs|nodes|hosts|seconds|minutes|hours)\b"
_PLACES_JA = "(?:ワークロード|負荷|スレッド数|条件|設定|点|場合|ケース|環境|状況|テスト|ベンチマーク)"
AVERAGE = (
    rf"\bon average\b|\baverag(?:ed|es|ing)\b(?! (?:over|across) {_REPEATS})"
    rf"|\b(?:average|typical|usual|mean|median){_BLANK}(?:{_GOOD}|{_PLACES}|customers?|users?)\b"
    rf"|\b(?:typically|usually|normally|as a rule|in general|most of the time)\b|\bgenerally\b(?! available)"
    rf"|\b(?:in|for|on|under) (?:most|typical|normal|everyday){_BLANK}(?:{_PLACES}|use|operation)\b"
    "|平均(?:で|して|的に|すると|では)|通常は|典型的|一般(?:に|的に)|標準的|普段|ふだん|たいてい|ほとんどの(?:場合|ケース|条件|負荷|ワークロード)"
)
"""Words, anywhere in a sentence, that make its number an average."""
AVERAGE_OF = _before(
    "(?:average|typical|usual|mean)(?: of)?", "平均(?:約|およそ)?|平均(?:向上|改善|増加|短縮|削減)[率幅]?は"
)
"""The same right before the number."""
EVERYWHERE = (
    rf"{_TRIED}\b(?:at|on|in|for|under|with)(?! any case\b){_BLANK}{_EACH}"
    r"|\b(?:whatever|whichever|no matter|regardless of|across the board|without exception)\b"
    r"|\b(?:consistently|invariably|always(?![- ](?:on|available)\b)|every time|throughout the (?:ramp|range))\b"
    r"|\b(?:guaranteed|day in,? day out|around the clock)\b"
    rf"|(?:どの|どんな|いずれの|あらゆる)(?:[^。、]{{0,4}})?{_PLACES_JA}(?:でも|においても|にも)"
    r"|常に|つねに|保証|いつでも(?!使|利用)|例外なく|を問わず|に(?:関係|かかわら)[なず]"
)
"""Words that have a number hold at each point."""
ALL_OVER = (
    rf"{_TRIED}\b(?:across|over){_BLANK}{_EACH}|\b{_EACH}{_BLANK}(?:{_HAS_IT})\b"
    rf"|(?:すべての|全ての|全){_PLACES_JA}(?:で|において)"
)
"""The same, unless the sentence says that it is the highest of them: `the most over all loads`."""
HIGHEST = (
    r"\b(?:best|highest|most|maximum|max|peak|largest|greatest|top|record|biggest|up to|as (?:much|many|high) as)\b"
    "|最大|最高|最も|もっとも|一番|ピーク|上限"
)

_CLAUSES = r"[,;:、。；：]"
_ADVERBIAL = r"(?i)\A\s*(?:(?:on|in|at|for|under|with|across|over|as)(?:\s+\S+){1,3}|\w+ly|[^!-~]{1,4})\s*\Z"
"""Words that belong to the clause behind them: `On average, up to 4X`."""


def clause_of(before: str, after: str) -> str:
    """Return the clause around a number, with an adverbial before it."""
    *earlier, own = re.split(_CLAUSES, before)
    if earlier and re.search(_ADVERBIAL, earlier[-1]):
        own = f"{earlier[-1]}, {own}"
    return f"{own}\N{HORIZONTAL ELLIPSIS}{re.split(_CLAUSES, after)[0]}"


# --- ratios and changes ---

_MORE = "more|higher|faster|larger|greater|better|quicker|less|fewer|lower|slower|smaller|shorter|longer|cheaper|worse"
_MORE_JA = "高|速|早|大き|多|低(?!減)|遅(?!延)|小さ|少な|短(?!縮)|長|安"
_CHANGED = "increase|gain|rise|growth|improvement|uplift|saving|reduction|decrease|drop|decline|cut|boost"
_CHANGED_JA = "増|減|向上|改善|削減|短縮|低減|アップ|ダウン|上回|下回"
TIMES_MORE = _behind(_MORE, rf"[もの]?{_BLANKS}(?:{_MORE_JA})(?!さ)", _TIMES)
CHANGE = _behind(
    rf"(?:{_MORE}|(?:\w+ )?(?:{_CHANGED})s?)",
    rf"(?:も|の)?(?:{_MORE_JA}|{_CHANGED_JA}|[^。、]{{1,12}}(?:{_CHANGED_JA}))",
    rf"{_PER_CENT}?",
)
_CHANGES = "grow(?:s|n)?|grew|climb(?:s|ed)?|jump(?:s|ed)?|r[io]se[sn]?|falls?|fell|shrinks?|lift(?:s|ed)?"
CHANGE_OF = _before(rf"(?:{_CHANGED})s? of|(?:{_CHANGED}|{_CHANGES})(?:s|ed)?\b[^.;:]*\bby")
PER_CENT_OF = _behind("(?:that )?of", rf"の(?![^。、]{{0,12}}(?:{_CHANGED_JA}))", f"{_PER_CENT}?")
SHARE_OF_JA = rf"\A{_BLANKS}{_PER_CENT}?{_BLANKS}(?:です|である|でした|に(?:短縮|削減|低減|抑え|収ま|とどま|なり|過ぎ))"
"""Behind `〜の` and a number in per cent: what is left, as in `〜の 17 % に短縮`."""
TIMES = _behind("the|as|of|what|that", "の", _TIMES)
"""Words behind a ratio that compare: `2 times the`, `2X as`, `2 倍の`."""


MULTIPLE = rf"\A(?:[xX×](?![A-Za-z])|{_BLANKS}倍(?!率)|{_BLANK}times{_BLANK}(?:the|as|that|what|those)\b)"
"""What makes a number right before it a multiple of something."""
_AGAINST = (
    "against|than|versus|vs\\.?|over|compared (?:to|with)|relative to|instead of|in place of|replac(?:es?|ing)|of"
)
COMPARED = rf"\b(?:{_AGAINST})(?:{_BLANK}(?:the|an?|its|our|their))?{_BLANKS}\Z"
"""Words before a name that make it what is compared with, wherever it stands in an English sentence."""


class Direction(NamedTuple):
    """The words for one direction of a change: behind its number, and verbs before it (`cuts the latency by`)."""

    behind: str
    before: str

    def found(self, before: str, after: str) -> str:
        """Return the words of this direction around a number; "" without any."""
        return found_in(self.behind, after) or found_in(self.before, before)


_RISING = "increas(?:es?|ed|ing)|rais(?:es?|ed|ing)|gr[eo]ws?|rises?|rose"
_FALLING = "cut(?:s|ting)?|reduc(?:es?|ed|ing)|lower(?:s|ed|ing)?|decreas(?:es?|ed|ing)|sav(?:es?|ed|ing)"
_FALLING += "|shrinks?|drops?|falls?"
_TAKING = "takes? away|removes?|eliminates?|shav(?:es?|ed|ing)|trim(?:s|med)?|slash(?:es|ed|ing)?|avoids?|spares?"
SAVING = rf"\b(?:{_FALLING}|{_TAKING})\b[^.;:]*(?<!\bto)(?<!\bto[\s\u00a0])\Z"
"""Words before a number that say by how much there is less: `saves 17 % of`."""


_ENDS = rf"(?:{_BLANK}(?:up to|at least|as much as|more than|over))?"


def _direction(behind: str, verbs: str, japanese: str, nouns: str, taking: str = "(?!)") -> Direction:
    """Return the words of a direction. Of several verbs before the number, the nearest counts; `nouns` stand before
    `of`, and verbs that are `taking` right before the number."""
    nearest = rf"(?:{verbs})\b(?:(?!\b(?:{_RISING}|{_FALLING})\b)[^.;:])*\bby"
    return Direction(
        _behind(behind, rf"[もの]?(?:{japanese})"),
        _before(rf"(?:{nearest}|(?:{nouns}) of|(?:{taking})){_ENDS}"),
    )


MORE = _direction(
    "more|higher|greater|larger|bigger|longer|additional|extra|above|up|increase|gain|rise|growth|uplift|dearer",
    _RISING,
    "高|多|大き|長|増|上回",
    "increase|gain|rise|growth|uplift",
)
LESS = _direction(
    "less|fewer|lower|smaller|shorter|cheaper|below|down|off|reduction|decrease|drop|savings?|decline|cut|short of",
    _FALLING,
    "低|少な|小さ|短|安|減|削減|短縮|下回|落ち|落と",
    "reduction|decrease|drop|fall|decline|cut|savings?",
)
BETTER = _direction(
    "faster|quicker|better|speedier|improvement",
    "improv(?:es?|ed|ing)|speeds?",
    "速|早|向上|改善",
    "improvement|speed-?up",
)
WORSE = _direction(
    "slower|worse|degradation|regression",
    "slow(?:s|ed)?|degrad(?:es?|ed)",
    "遅(?!延)|悪",
    "degradation|regression|loss|penalty",
    "loses?|lost|gives? up|gave up|costs? (?:us|you|them)",
)

# --- results that are written by hand ---

_MEASURE = (
    "latenc(?:y|ies)|throughput|performance|costs?|price|power|energy|time|wait|tail|speed|rate|efficiency|watts?"
    "|bandwidth|IOPS|p99|work"
)
_WORK = "load|operations|ops|reads|writes|queries|requests|transactions|sessions|users|servers|nodes|machines"
_MEASURE_JA = "遅延|レイテンシ|待ち時間|時間|スループット|性能|処理量|処理能力|コスト|費用|価格|消費電力|電力|台数|応答"
_FRACTION = r"(?:half|(?:an?|one|two|three)[ -](?:third|quarter|fifth|tenth)s?)"
_BECOMES = "(?:doubling|halving|tripling|doubles|doubled|triples|tripled|quadruples|quadrupled|halves|halved)"
_AS_FAST = r"as (?:fast|many|much|quick|long|high|low|slow|cheap|efficient)"
_SPELLED_ONE = "|".join(_SPELLED)
_CHANGING = "cutting|slash(?:es|ed|ing)?|reduc(?:es?|ed|ing)|lower(?:s|ed|ing)|trimm?(?:s|ed|ing)?|rais(?:es?|ed|ing)"
_CHANGING += "|increas(?:es?|ed|ing)|improv(?:es?|ed|ing)|boost(?:s|ed|ing)"
_TO_ONE = r"[0-9.]+(?::1|-to-1)"
_RESULTS = (
    # 8.7X, ten X, x10, tenfold, a factor of two, an order of magnitude; not: PCIe x4, 4 x 960 GB, x86
    rf"(?:{_NUMBER}|\b(?:{_SPELLED_ONE}))[\s\u00a0-]?[xX×](?![A-Za-z0-9]|{_BLANK}[0-9])",
    (
        rf"(?<![\w.])(?<![0-9][\s\u00a0])(?<!PCIe )(?<!Gen[3-6] )(?-i:[x×])(?!86\b|64\b){_NUMBER}"
        rf"(?={_BLANKS}(?:[,;:!)]|\Z|の)|{_BLANK}(?:the|as|more|less|faster|higher|lower|better|{_MEASURE}|{_WORK})\b)"
    ),
    rf"(?:{_NUMBER}|\b(?:{_SPELLED_ONE}))-?fold\b",
    rf"\borders?[ -]of[ -]magnitude\b|\ba factor of (?:{_NUMBER}|{_SPELLED_ONE})",
    rf"桁違い|[1-3１-３一二三]{_BLANKS}桁(?:{_MORE_JA})",
    # a 3:1 lead, ahead by 3:1, 3 対 1 で上回る; not: a 3:1 mix of reads and writes
    (
        rf"(?<![\w.:])(?:{_TO_ONE}|[0-9.]+ to 1)(?= (?:advantage|lead|edge|gain|improvement|saving|reduction)s?\b)"
        rf"|\bby {_TO_ONE}(?![0-9])"
        rf"|\b(?:beats?|leads?|ahead|wins?|outperforms?)\b[^.;:]{{0,40}}?\b{_TO_ONE}(?![0-9])"
        r"|[0-9０-９]+(?:：|:|[ ]?対[ ]?)[1１](?=で(?:上回|優|勝)|の(?:差|優位|性能差))"
    ),
    # twice the work, three times as fast; not: two times the capacity, measured three times
    (
        rf"\b(?:double|twice|thrice|triple|quadruple|(?:{_NUMBER}|{_SPELLED_ONE})[ -]times)(?={_BLANK}"
        rf"(?:the|its|their|your|our|that|what|more|less|higher|lower|faster|slower|{_AS_FAST})\b"
        rf"(?!{_BLANK}(?:\w+{_BLANK})?(?:capacity|size|memory|RAM)\b))"
    ),
    # half the latency, a quarter less; not: half of all operations
    (
        rf"\b(?:{_FRACTION}|1/[2-9]|½|⅓|¼)"
        rf"(?={_BLANK}(?:of )?(?:the|its|their){_BLANK}(?:\w+{_BLANK})?(?:{_MEASURE})\b|{_BLANK}{_AS_FAST}"
        rf"|{_BLANK}the{_BLANK}(?:{_WORK})\b|{_BLANK}(?:less|lower|fewer|more|higher)\b"
        rf"|{_BLANK}(?:of )?(?:that|what)\b)"
    ),
    # cut by two thirds, down a quarter, a third off
    rf"\b(?:by|down|up)(?: (?:about|nearly|almost|some|over|more than|roughly))* {_FRACTION}\b(?![ -]part)",
    rf"\b{_FRACTION} off\b",
    # doubles the throughput, latency halves; not: the number of threads doubles
    rf"\b{_BECOMES}(?={_BLANK}(?:what\b|(?:(?:the|its|their|our|your){_BLANK})?(?:\w+{_BLANK})?(?:{_MEASURE}|{_WORK})s?\b))",
    rf"(?:{_MEASURE})(?:{_BLANK}\w+){{0,2}}{_BLANK}{_BECOMES}\b|\b(?:in|by) half\b",
    # 17 % more, fifty percent lower, a gain of 17 %; not: 5 % of updates, filled to 80 %
    (
        rf"(?:{_NUMBER}|\b(?:{_SPELLED_ONE}))[\s\u00a0-]*(?:%|％|per ?cent\b)"
        rf"(?={_BLANK}(?:(?:{_MORE}|above|below|off)\b|(?:\w+{_BLANK})?(?:{_CHANGED})s?\b"
        rf"|of (?:the|its|their) (?:{_MEASURE})\b))"
    ),
    (
        rf"\b(?:{_CHANGED}|{_CHANGES}|{_CHANGING})s?(?:{_BLANK}[\w-]+){{0,4}}{_BLANK}(?:by|of)"
        rf"{_BLANK}{_NUMBER}[\s\u00a0]*(?:%|per ?cent\b)"
    ),
    (
        rf"{_NUMBER}[\s\u00a0]*(?:%|％|パーセント)(?=[もの]?{_BLANKS}(?:{_MORE_JA}|{_CHANGED_JA}|省電力|節約|オフ|引き"
        rf"|(?:{_MEASURE_JA})の?(?:{_CHANGED_JA})))"
    ),
    # 2 倍, 三倍, 半分の遅延, 3 分の 1, 五割
    rf"{_NUMBER}[\s\u00a0]*倍|[一二三四五六七八九十百千数]+倍|半減|倍増|(?<=\w)倍速(?![いく])|(?:{_NUMBER}|[一二三四五六七八九]){_BLANKS}割",
    rf"(?:{_MEASURE_JA})(?:は|が|を|の)?[^。、]{{0,6}}半分|半分の(?:{_MEASURE_JA})|(?:{_MEASURE_JA})[はが]倍(?!率)",
    rf"(?<!メモリの)(?<!容量の)(?:{_NUMBER}|[二三四五六七八九十])分の[0-9０-９一二三]",
    # 150,000 ops/s, 4 ms, 200k IOPS, 12 USD/h; not: every 500 ms
    (
        rf"(?<!every )(?<!each )(?<!after )(?<!for )(?<![\w.,]){_NUMBER}[万千億]?[\s\u00a0]*"
        rf"(?:[kKMG]?ops/s(?:/W)?|[µumn]s|milliseconds|microseconds|(?-i:[KMGT]i?B/s))(?![A-Za-z]|{_BLANKS}ごと)"
    ),
    (
        rf"{_NUMBER}[kKM]?{_BLANKS}(?:thousand |million )?(?:operations|ops|reads|writes|requests|transactions|queries)"
        rf"(?: (?:per|a|each|every) second\b|/s)|\bin {_NUMBER} (?:seconds|minutes|hours) what\b"
    ),
    rf"{_NUMBER}[kKM]?{_BLANKS}IOPS\b|\bsub-?millisecond\b|\bfrom{_BLANK}{_NUMBER}[kKM]?{_BLANK}(?:up )?to{_BLANKS}\Z",
    rf"毎秒約?(?:{_NUMBER}[万千億]|[0-9０-９,，]{{3,}})|{_NUMBER}[万千億]?(?:操作|件|回)/秒|{_NUMBER}{_BLANKS}(?:ミリ|マイクロ)秒",
    rf"{_NUMBER}[\s\u00a0]*(?:USD|EUR|JPY|円|ドル)(?:/\w+)?|[$€¥]{_NUMBER}",
)
"""Results that are written by hand: as a multiple, a fraction or a per cent of a measure, or with its unit."""
_RESULT = "|".join(_RESULTS)
_MAY_BE_RESULT = (
    r"[0-9０-９½⅓¼]|half|third|quarter|fifth|tenth|doubl|twice|thrice|tripl|quadrupl|halv|times|fold|per ?cent"
    "|magnitude|factor|millisecond|[ -][x×]|倍|割|分の|半|桁"
)
"""What every result has. Most titles lack it, and need no long look."""


def results_in(texts: Iterable[str]) -> Iterator[str]:
    """Yield the results that are written by hand in texts."""
    for text in texts:
        if re.search(_MAY_BE_RESULT, text, re.IGNORECASE):
            yield from (match.group().strip() for match in re.finditer(_RESULT, text, re.IGNORECASE))


_MULTIPLES = {"k": 1e3, "thousand": 1e3, "千": 1e3, "万": 1e4, "m": 1e6, "million": 1e6, "億": 1e8, "g": 1e9}
_WHOLE_RESULT = (
    rf"(?P<number>{_NUMBER})[\s\u00a0]*(?P<multiple>thousand|million|[kKMG千万億](?![A-Za-z]))?[\s\u00a0]*"
    r"(?P<unit>[^\s\u00a0]*)"
)
_UNITS = (
    ("ms", r"milliseconds?|ミリ秒"),
    ("us", r"microseconds?|マイクロ秒"),
    ("IOPS", r"IOPS"),
    ("ops/s", r"(?:operations|ops|reads|writes|requests|transactions|queries)(?:/s.*|.*second)?|(?:操作|件|回)/秒"),
)


def amount_of(result: str) -> Amount | None:
    """Return the amount that a typed result is, in its base unit, as `units.amount` does; None of other results."""
    text = unicodedata.normalize("NFKC", result)
    found = re.search(_WHOLE_RESULT, text)
    if found is None:
        return None
    number = found["number"].replace(",", "").rstrip(".")
    behind = re.sub(r"\s.*", "", found["unit"])
    unit = next((unit for unit, said in _UNITS if re.fullmatch(said, behind)), behind)
    unit = unit or ("ops/s" if text.startswith("毎秒") else "")
    try:
        return amount(float(number) * _MULTIPLES.get((found["multiple"] or "").casefold(), 1.0), unit) if unit else None
    except ValueError:
        return None


def without_blanks(number: str) -> str:
    return re.sub(r"[\s\u00a0]", "", number).casefold()


def is_japanese(text: str) -> bool:
    return re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", text) is not None


def names(label: str, text: str) -> bool:
    """Return whether a text has a label as words of their own."""
    return re.search(rf"(?<!\w){re.escape(label)}(?!\w)", text, re.IGNORECASE) is not None


def counts(number: float, dim: str, text: str) -> bool:
    """Return whether a text has the number of a dimension: `8 threads`, `one thread`, `8 スレッド`."""
    spelled = ("one|single", *_SPELLED[:9])[int(number) - 1] if number in range(1, 11) else "(?!)"
    what = {"threads": "threads?|スレッド", "target": r"\w+/s"}.get(dim, re.escape(dim))
    return re.search(rf"(?<![\w.])(?:{number:g}|{spelled})[\s\u00a0-]*(?:{what})", text, re.IGNORECASE) is not None
