"""Finds the words in claims that show what a sentence promises about its number, in English and Japanese.

Each table is small, and covers words right before or right behind the number. Unknown words are not a mistake. Patterns
are texts, which `re` compiles at their first use and keeps, since most specs need none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

from benchbrief.model.units import Amount, amount

_BLANKS = r"[\s\u00a0]*"
_BLANK = r"[\s\u00a0]+"
_PER_CENT = r"(?:%|％|per ?cent|パーセント|percentage points?|ポイント)"
_TIMES = r"(?:[xX×]|times|-?fold|倍)"
_UNIT = rf"(?:{_PER_CENT}|{_TIMES}|[A-Za-zµ]+(?:/[A-Za-z]+)*|ミリ秒|マイクロ秒|秒|円|ドル)"
_NUMBER = r"[0-9０-９][0-9０-９.,．，]*"
_SPELLED = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy",
    "eighty", "ninety", "a hundred", "hundred", "a thousand", "thousand", "a dozen",
)  # fmt: skip
_NOT_OF_SETTINGS = "".join(
    rf"(?<!{word}{particle})(?<!{word}{particle} )"
    for word in (
        "スレッド数",
        "クライアント数",
        "ノード数",
        "接続数",
        "コア数",
        "台数",
        "レコード数",
        "データ量",
        "メモリ",
        "メモリー",
        "キャッシュ",
    )
    for particle in ("を", "が", "")
)
"""Excludes numbers that say how much a setting is raised: `スレッド数を 2 倍にすると`, `メモリー 2 倍の構成`."""
_FOR_ONE = rf"(?<![\d.,])[1１]{_BLANKS}(?:USD|EUR|JPY|円|ドル){_BLANKS}(?:あたり|当たり|当り|につき|ごと|毎)"
"""Matches a number that is a unit of reference instead of a result: `1 ドルあたり`."""
_KANJI = "[〇一二三四五六七八九十百千]+"


_NEAR = rf"(?:{_BLANK}(?:an?|about|some|around|the|roughly|nearly|almost|approximately|full|fully))*{_BLANKS}\Z"


def _before(english: str, japanese: str = "(?!)", directly: str = "(?!)") -> str:
    """Return a pattern for words that end right before a number: English words, after which a comma or a colon may
    come, the English words in `directly`, after which none may come, and Japanese words."""
    return rf"\b(?:{english})[,:]?{_NEAR}|\b(?:{directly}){_NEAR}|(?:{japanese}),?{_BLANKS}\Z"


def _behind(english: str, japanese: str, unit: str = rf"(?:{_PER_CENT}|{_TIMES})?") -> str:
    """Return a pattern for words that begin right behind a number and its unit."""
    return rf"\A{_BLANKS}-?{unit}(?:(?:{_BLANK}|-)(?:{english})\b|{_BLANKS}(?:{japanese}))"


def _stripped(words: str) -> str:
    """Return the found words without the unit and the blanks around them."""
    return words.strip(" \u00a0-,%％")


def found_in(pattern: str, text: str) -> str:
    """Return the part of a text that matches a pattern, for a message, or "" if nothing matches."""
    needed = _NEEDED.get(pattern, ("",))
    found = _compiled(pattern).search(text) if text and any(map(text.lower().__contains__, needed)) else None
    return _stripped(found.groupdict().get("said") or found.group()) if found else ""


_ENDS = rf"(?:{_BLANK}(?:up to|at least|at most|as (?:much|many|high) as|more than|less than|well over|over))?"
"""Words for the end of a range. They may come between `by` or `of` and a number."""

# --- bounds ---

_GOOD = "ratio|gains?|speed-?up|advantage|improvement|increase|lead|savings?|reduction|margin|benefit|multiple"
_HIGHEST = (
    rf"(?:highest|greatest|largest|biggest|best|peak|max(?:imum)?|record){_BLANK}(?:\w+{_BLANK})?(?:{_GOOD})\b[^.;]*"
)
_LOWEST = rf"(?:lowest|smallest|worst|min(?:imum)?){_BLANK}(?:\w+{_BLANK})?(?:{_GOOD})\b[^.;]*"
_LESS_THAN = "(?:below|under|(?:less|fewer|lower|worse|smaller|slower|shorter) than)"
_MORE_THAN = "(?:above|over|beyond|(?:more|higher|greater|longer) than|exceed(?:s|ed|ing)?)"
_SOME_MEASURE = r"(?:costs?|prices?|latency|p99|throughput|reads?|waits?)\b(?: [^\s,:;]+){0,4} (?:is|was)"
_OUTCOME = "(?:results?|values?|figures?|case|scores?|we (?:saw|measured)|observed|measured)(?: (?:is|was))?"
_NEVER = r"(?:(?:never|not once|not even)\b[^.;:]*?|(?:not|\w+n['’]t)\b[^.;:,]{0,30}?)"
_NONE = r"(?:(?:no|not (?:an?|one))(?: single)? \w+|nobody|no one|none|nothing)"
"""Words for a number that nothing reaches: `no workload gains less than`."""
_AT_ITS = r"(?:at|in) (?:its|their|the) (?:very |absolute )?"
_SO_FAR = r"[^.;。]*"
_ALONE = r"(?: point| case|-case)?\b(?!\s*\w)"
"""What may follow words such as `at the highest` if they stand alone. It does not match after `at the highest` in `at
the highest load`, where they describe the load."""
_IT_IS = r"(?:that|this|which|it) (?:is|was) (?:still |only |just )?(?:the|our|its) "
_BEST_CASE = (
    rf"at (?:best|peak|its best|their best){_ALONE}|{_AT_ITS}(?:best|highest|peak|height|sweet spot){_ALONE}"
    rf"|at the (?:high|top|upper) end(?! of)|in the best of cases|(?:all-time|record) high"
    rf"|{_IT_IS}(?:best case|maximum)|(?:at|in|on|under) (?:our|its|the) most favou?rable"
)
_WORST_CASE = (
    rf"(?:at|in the) worst{_ALONE}|worst[ -]case(?=\W)|{_AT_ITS}(?:worst|lowest){_ALONE}"
    rf"|at the (?:low|bottom|lower) end(?! of)|in the worst of cases|{_IT_IS}(?:worst case|minimum)"
    r"|(?:at|in|on|under) (?:our|its|the) least favou?rable|(?:at|as) an? (?:bare )?minimum"
)
_END = r"(?=\W*\Z|,)"
_AT_MOST = (
    rf"(?:at (?:the )?(?:very )?most|tops|max){_END}|(?:as|is) (?:the|a) (?:ceiling|maximum|upper limit)"
    "|is the (?:best|most|highest) we"
)
_OR_MORE = rf"(?:or|and) (?:\w+ )?(?:better|higher|more|greater|above){_END}|at the (?:very )?least{_END}"
"""Words that may come anywhere after a number. If they come before it, they belong to another number: `with 16 GB or
more, {value}X`."""


class Bound(NamedTuple):
    """Words that promise an end of a range. One pattern finds them before the number, and another finds them behind it
    in the same clause."""

    before: str
    behind: str

    def found(self, before: str, after: str) -> str:
        """Return the words that express this bound next to a number (such as 'at least'), or "" if there are none."""
        return found_in(self.before, before) or found_in(self.behind, after)


def _bound(english: str, japanese: str, case: str, later: str, behind: str) -> Bound:
    """Return the patterns of a bound. The words in `case` may come anywhere in the number's sentence, and the words in
    `later` anywhere behind the number."""
    return Bound(
        _before(rf"(?:{english})|(?:{case}){_SO_FAR}", japanese),
        rf"(?:\A{_SO_FAR}?\b)(?P<said>{case}|{later})|\A{_BLANKS}{_UNIT}?{_BLANKS}-?(?:{behind})",
    )


UP_TO = _bound(
    rf"up{_BLANKS}to|at (?:the )?(?:very )?most"
    rf"|(?:no|not|never|nothing) (?:(?:more|higher|greater|longer) than|above|over)"
    rf"|as (?:much|many|high|large|great|big|far) as|{_NEVER}\b{_MORE_THAN}"
    rf"|{_NONE}\b[^.;:,]*?\b{_MORE_THAN}|(?:a )?(?:maximum|max\.|peak|high|top|ceiling|limit) of|maximum|max\.?"
    rf"|a record|{_HIGHEST}"
    r"|(?:peak|top|max)(?:s|es|ed|ped|ing|ping)?(?: out)? at"
    r"|(?:ceiling|peak|maximum|upper (?:limit|bound)) (?:is|was)|the most\b[^.;,]{0,30}\b(?:is|was)"
    r"|(?:capped|limited|kept|held) (?:at|to)"
    rf"|(?:highest|longest|slowest) {_SOME_MEASURE}|our record|peaks of|(?:best|top|highest) {_OUTCOME}",
    "(?:最大|最高)(?:でも?[^。、]{0,15}|値|記録)?|(?:高|多|長|遅|良|よ)くても?[^。、]{0,8}|せいぜい|最良で|最長でも?"
    "|ベストケースで[^。、]{0,15}|最大時|(?:最も|もっとも)(?:良|よ|高|大き)[^。、]{1,8}[はで]"
    "|(?:最大|最高)の(?:比|差|向上率?|改善率?)は|≤|⩽|(?:(?:最大|最高)(?:値|記録)?|上限値?)は[^。、]{0,15}",
    _BEST_CASE,
    _AT_MOST,
    r"(?:max(?:imum)?|tops|(?:or (?:less|fewer|lower|under|below)|and no more))\b|が(?:最大|最高|上限)|に?まで(?!に)"
    r"|を(?:超え|上回[らり]?)(?:な|ず|ません|ること)",
)
AT_LEAST = _bound(
    rf"at (?:the very )?least|at minimum|(?:a )?minimum of|minimum|min\.|(?:no|not|never|nothing) {_LESS_THAN}"
    rf"|{_NEVER}\b{_LESS_THAN}|{_NONE}\b[^.;:,]*?\b{_LESS_THAN}|as (?:low|little) as"
    rf"|always|guarantee[sd]?|(?:floor|minimum|lower (?:limit|bound)) (?:is|was|of)|{_LOWEST}"
    r"|(?:start|begin|bottom)(?:s|ed|n?ing)? (?:out )?(?:at|from)|the least\b[^.;,]{0,30}\b(?:is|was)"
    rf"|(?:lowest|shortest|fastest) {_SOME_MEASURE}|(?:worst|lowest) {_OUTCOME}",
    "(?:安|少な|低|短|悪)くても[^。、]{0,8}"
    "|(?:少なくとも|少なく見積もっても|控えめに[言見]っ?て|最低でも?|最小でも?|最悪でも|最短でも?"
    "|ワーストケースで?も?)[^。、]{0,15}|(?:必ず|常に)[^。、がはを]{0,15}|最低限?|最小|少なくて"
    "|最も(?:悪|低)[^。、]{1,8}[はで]|(?:下限|最小|最低)値?は[^。、]{0,15}|≥|⩾|>=",
    _WORST_CASE,
    _OR_MORE,
    r"(?:at least|or (?:more|better|higher|greater)|and (?:more|up|upwards|above|beyond)|minimum|(?<=-)plus"
    r"|upwards)\b|\+(?!\w)|が(?:最小|最低|下限)|を(?:下回|割|切)(?:ら(?:な|ず)|りません|ることは?(?:な|あり))"
    r"|は(?:確実|必ず|固い|堅い)",
)
_NOT = "(?<!no )(?<!not )(?<!never )(?<!nothing )"
_ABOVE = rf"{_MORE_THAN}|upwards of|in excess of|north of|better than|surpass(?:es|ed|ing)?|topp?(?:s|ed|ing)"
MORE_THAN = _before(rf"{_NOT}(?:{_ABOVE})", ">", directly=r"\Afrom")
BEYOND = _behind(
    "(?!)",
    "以上|超(?!え)|を(?:優に|大きく|大幅に)?(?:超え(?!な|ず|ません|ること)|上回(?!ら|りません|ること))",
    f"{_UNIT}?",
)
"""Words that usually mean that the number before them was rounded down. Like `MORE_THAN`, they may also promise a
lowest value."""
LESS_THAN = _before(rf"{_NOT}(?:{_LESS_THAN}|within)", "<")
WITHIN = _behind("(?!)", "以下|未満|以内|を(?:下回|切)る(?!こと)", f"{_UNIT}?")
"""Words that usually mean that the number before them was rounded up. Like `LESS_THAN`, they may also promise a highest
value."""

# --- averages and whole ranges ---

_PRODUCTS = "drives?|SSDs?|disks?|databases?|products?|choices?|storage|systems?|servers?|platforms?|hardware|engines?"
_PLACES = (
    r"(?:workloads?|loads?|thread counts?|concurrency levels?|levels?|settings?|cases?|points?|conditions?"
    r"|scenarios?|tests?|mixe?s?|benchmarks?|steps?)"
)
_EACH = (
    rf"(?:each and every|every|each|any|all"
    rf"|both)(?:{_BLANK}(?:of{_BLANK})?(?:the|our|these|those|its))?(?:{_BLANK}\w+)?{_BLANK}{_PLACES}\b"
)
_HAS_IT = "runs?|does|do|gains?|gets?|sees?|is|are|shows?|reach(?:es)?|improves?|delivers?|has|have|serves?|takes?"
_USUAL = "most|typical|normal|everyday|ordinary|average|common|usual|day-to-day|real-world|realistic"
_GETS = "sees?|gets?|gains?|does|do|reach(?:es)?|runs?|delivers?|achieves?|enjoys?|reports?|observes?"
_TRIED = r"(?<!tested )(?<!measured )(?<!tried )(?<!repeated )(?<!run )(?<!ran )"
_REPEATS = rf"(?:the |its |all |three |{_NUMBER} )*(?:repeats|repetitions|runs|nodes|hosts|seconds|minutes|hours)\b"
_PLACES_JA = (
    "(?:ワークロード|負荷|スレッド数|条件|設定|点|場合|ケース|環境|状況|テスト|ベンチマーク|測定点|用途|場面|規模"
    "|業務){1,2}"
)
AVERAGE = (
    rf"\bon average\b|\baverag(?:ed|es|ing)\b(?! (?:over|across) {_REPEATS})"
    rf"|\b(?:average|typical|usual|mean|median|expected){_BLANK}(?:{_GOOD}|{_PLACES}|customers?|users?|runs?"
    rf"|results?)\b|\b(?:typically|usually|normally|as a rule|in general|most of the time)\b"
    rf"|\bgenerally\b(?! available)"
    rf"|\b(?:in|for|on|under)(?: an?| the)? (?:{_USUAL}){_BLANK}(?:{_PLACES}|use|operations?|days?|customers?"
    rf"|users?)\b"
    r"|\b(?:on the whole|by and large|for the most part|majority of|(?:most|many) (?:customers|users))\b"
    r"|\b(?:normal|typical|everyday|day-to-day|real-world) (?:operations?|use|conditions?|loads?)\b"
    rf"|\bmore often than not\b|\b(?:is|are) the (?:norm|rule)\b|\bthe rule, not\b"
    rf"|\b(?:routinely|regularly) (?:{_GETS})\b"
    r"|平均(?:で|して|的|す[るれ][とば]|値[はで])|中央値[はで]|通常(?:は|、|時|(?=[\s…])|の(?:負荷|使用|運用|条件|環境))|典型的"
    "|一般(?:に|的に)|標準的|普段|ふだん|実運用|実環境|たいてい"
    "|(?:ほとんど|多く)の(?:場合|ケース|条件|負荷|ワークロード)"
)
"""Words that, anywhere in a sentence, make its number an average."""
AVERAGE_OF = _before(
    "(?:average|typical|usual|mean)(?: of)?", "平均(?:約|およそ)?|通常|平均(?:向上|改善|増加|短縮|削減)[率幅]?は"
)
"""Words that, right before a number, make it an average."""
EVERYWHERE = (
    rf"{_TRIED}\b(?:at|on|in|for|under|with)(?! any case\b){_BLANK}{_EACH}"
    r"|\b(?:whatever|whichever|no matter|regardless of|across the board|without exception)\b"
    r"|\b(?:consistently|constantly|reliably|dependably|unfailingly|uniformly|invariably|throughout"
    r"|always(?![- ](?:on|available)\b)|every time|throughout the (?:ramp|range))\b"
    r"|\b(?:guaranteed|day in,? day out|day after day|day and night|(?:a)?round the clock|24 hours a day"
    r"|all day(?: long)?|all the time|without fail|at all times)\b|\b24/7(?=,|\Z)|\bany number of \w+"
    r"|\bcome what may\b|\brain or shine\b|\bwhether\b[^.;:,]{1,30}\bor\b"
    rf"|(?:どの|どんな|いずれの|あらゆる)(?:[^。、]{{0,4}})?{_PLACES_JA}(?:で|において|に)も?"
    r"|常に|つねに|いつも|どこでも|期間を通じて|一貫して|終始|絶えず|保証|いつでも(?!使|利用)|例外な[くし]|を問わず"
    r"|に(?:関係|かかわら|よら|左右され)[なず]"
    "|誰で?もが?|何であれ|(?:どんな|いかなる)(?:とき|時)(?:も|でも)"
)
"""Words that promise a number at each point."""
ALL_OVER = (
    rf"{_TRIED}\b(?:across|over){_BLANK}{_EACH}|\b{_EACH}{_BLANK}(?:{_HAS_IT})\b|(?:\A|[,;:] ){_EACH}[,:]"
    r"|\b(?:every|each|all|any) (?:\w+ )?(?:customers?|users?)\b"
    r"|\bwhat (?:you|users|customers|everyone) (?:can )?(?:gets?|sees?|expects?)\b"
    rf"|(?:すべての|全ての|全|各){_PLACES_JA}(?:で|において)"
    r"|\b(?:across|over|throughout|along) (?:the|our|its) (?:entire|whole|full|complete) \w+"
    rf"|\bfrom {_NUMBER}\b[^.;:]{{0,25}}\bto {_NUMBER}"
    r"|\b(?:light|low|idle|small)\b[^.;:]{0,20}\b(?:to|and|or|through) (?:heavy|high|full|large|peak)\b"
    r"|\band\b[^.;:,]{0,30}\balike\b|[軽低小][^。、]{1,4}から[重高大][^。、]{1,4}まで|期待でき|見込め|安定して|約束"
    r"|全域|全範囲|(?:すべて|全て|あらゆる)の?(?:お客様|ユーザー|顧客)"
)
"""Words that promise a number at each point, unless the sentence calls it the highest: `the most over all loads`."""
EXPECTED = _before(
    rf"(?:expects?|(?:counts?|depends?|rel(?:y|ies)|banks?|plans?) (?:up)?on|plan for|promises?|will (?:{_GETS})"
    rf"|maintains?|holds?(?: steady)?(?: at)?"
    rf"|(?:you|everyone|everybody|customers|users) (?:(?:can|will) )?(?:\w+ly )?(?:{_GETS})"
    r"|(?:a )?(?:steady|constant|consistent|reliable|dependable))(?: an? (?:gain|improvement|saving)s? of)?"
)
"""Words right before a number that promise it to everyone."""
HIGHEST = (
    r"\b(?:best(?![ -](?:in[ -]class|of[ -]breed|known|selling|rated))|highest|maximum|max|peak|largest|greatest"
    r"|top(?! of)|record|most(?! \w+(?:ed|ern|ent|ive|ful|able|lar)\b)|biggest|up to"
    r"|as (?:much|many|high|large|great) as)\b(?!-(?!case))"
    rf"(?!{_BLANK}(?:\w+{_BLANK})?(?:{_PRODUCTS})\b)"
    "|最大|最高(?!峰|級|品質|の(?!比|差|値|点|負荷|条件|向上|改善|結果|記録|場合|性能|スル|ワーク|スレッド))"
    "|(?:最も|もっとも|一番)(?!先進|新し|人気|売れ|優れ)|ピーク|上限"
)

_CLAUSES = r"[,;:、。；：]"
_ADVERBIAL = r"(?i)\A\s*(?:(?:on|in|at|for|under|with|across|over|as)(?:\s+\S+){1,3}|\w+ly|[^!-~]{1,4})\s*\Z"
"""Words that belong to the clause after them: `On average, up to 4X`."""


def clause_of(before: str, after: str) -> str:
    """Return the clause around a number, including an adverbial before the clause."""
    *earlier, own = re.split(_CLAUSES, before)
    if earlier and re.search(_ADVERBIAL, earlier[-1]):
        own = f"{earlier[-1]}, {own}"
    return f"{own}\N{HORIZONTAL ELLIPSIS}{re.split(_CLAUSES, after)[0]}"


# --- ratios and changes ---

_RISING = "increas(?:es?|ed|ing)|rais(?:es?|ed|ing)|gr[eo]ws?|rises?|rose|climb(?:s|ed)?|jump(?:s|ed)?|surg(?:es|ed)"
_RISING += (
    "|soar(?:s|ed)?|exceed(?:s|ed)?|lengthen(?:s|ed)?|inflat(?:es?|ed)|balloon(?:s|ed)?|expand(?:s|ed)?|swells?"
    "|stretch(?:es|ed)|mounts?|(?:is|are|goes|went) up"
)
_FALLING = "cut(?:s|ting)?|reduc(?:es?|ed|ing)|lower(?:s|ed|ing)?|decreas(?:es?|ed|ing)|sav(?:es?|ed|ing)"
_FALLING += (
    "|shrinks?|shrunk|drop(?:s|ped)?|falls?|fell|declin(?:es?|ed)|slip(?:s|ped)?|dip(?:s|ped)?|sinks?|plung(?:es|ed)"
    "|(?:is|are|goes|went) down|shorten(?:s|ed)?|dwindl(?:es|ed)|sag(?:s|ged)?|slump(?:s|ed)?|erod(?:es|ed)"
    "|tumbl(?:es|ed)|diminish(?:es|ed)?"
)
_TAKING = "takes? away|removes?|eliminates?|shav(?:es?|ed|ing)|trim(?:s|med)?|slash(?:es|ed|ing)?|avoids?|spares?"
_BETTERING = "improv(?:es?|ed|ing)|boost(?:s|ed|ing)?|speeds?"
_MORE = "more|higher|faster|larger|greater|better|quicker|less|fewer|lower|slower|smaller|shorter|longer|cheaper|worse"
_MORE += "|speedier|snappier|swifter|stronger|bigger|leaner|tighter|wider|greener|cooler|quieter"
_MORE_JA = "高|速|早|大き|多|低(?!減)|遅(?!延)|小さ|少な|短(?!縮)|長|安|すばや|素早|迅速|強(?!化)"
_CHANGED = (
    "increase|gain|rise|growth|improvement|uplift|saving|reduction|decrease|drop|decline|cut|boost|lift|jump|leap"
    "|surge|bump"
)
_CHANGED += "|discount|advantage|edge(?! (?:cases?|nodes?|sites?))|lead(?! times?)"
_CHANGED_JA = (
    "増|減|向上|改善|削減|短縮|低減|アップ|ダウン|上回|下回|上昇|伸び|強化|縮小|節約|圧縮|抑え|カット|凌|優れ"
    "|勝[るっり]|低下|悪化|後れ"
)
_NET = "increase|rise|growth|uplift|reduction|decrease|drop|decline|cut|saving"
_UP = "(?<!make )(?<!makes )(?<!made )(?<!take )(?<!takes )up"
_BEATS = "outperform|outpace|exceed|surpass|beat|lead|trail|lag|underperform|outrun|outstrip|outdo|best"
TIMES_MORE = _behind(
    rf"(?:{_MORE}|improved|increased|reduced|(?:\w+ )?(?:{_NET})s?)",
    rf"[もの]?{_BLANKS}(?!速[でのに])(?:{_MORE_JA})(?!さ)|の(?:短縮|削減|低減|減少|増加)",
    _TIMES,
)
TIMES_BY = _before(
    rf"(?:{_MORE}|{_RISING}|{_FALLING}|{_BETTERING}|(?:{_CHANGED}|{_BEATS})(?:s|d|ed)?)\b[^.;:]*\bby{_ENDS}"
)
"""Words before a multiple that make it the size of a change: `faster by 2X`."""
CHANGE = _behind(
    rf"(?:{_MORE}|ahead|above|beyond|on top|(?:extra|additional)(?:{_BLANK}\w+)?|(?:\w+ ){{0,2}}(?:{_CHANGED})s?)",
    rf"(?:も|の)?(?:{_MORE_JA}|{_CHANGED_JA}|[^。、]{{1,12}}(?:{_CHANGED_JA}))|の[^。、]{{0,4}}差|上(?=[。、]|\Z)",
    rf"{_PER_CENT}?",
)
_CHANGES = "grow(?:s|n)?|grew|climb(?:s|ed)?|jump(?:s|ed)?|r[io]se[sn]?|falls?|fell|shrinks?|lift(?:s|ed)?"
CHANGE_OF = _before(
    rf"(?:(?:{_CHANGED})s? of|(?:{_CHANGED}|{_CHANGES}|{_BEATS})(?:s|d|ed)?\b[^.;:]*\bby"
    rf"|(?:{_MORE}|up|down) by){_ENDS}",
    "プラス",
    rf"{_CHANGES}|{_RISING}|{_FALLING}|{_BETTERING}|gain(?:s|ed)|adds?|added|{_UP}|down|extra|additional",
)
PER_CENT_OF = _behind(
    "(?:that )?of|as (?:much|many|fast|high|large|good|efficient)|the(?= \\w+ (?:of|that))",
    rf"の(?![^。、]{{0,12}}(?:{_CHANGED_JA}))",
    f"{_PER_CENT}?",
)
SHARE_OF_JA = (
    rf"\A{_BLANKS}{_PER_CENT}?{_BLANKS}(?:です|である|でした|に(?:短縮|削減|低減|抑え|収ま|とどま|なり|過ぎ|達|届))"
)
"""Words that turn a percentage into the share that remains, if `〜の` and the percentage precede them: `〜の 17 %
に短縮`."""
LEFT_JA = rf"\A{_BLANKS}{_PER_CENT}?{_BLANKS}に(?:短縮|削減|低減|圧縮|抑え|減|低下|縮)"
"""Words that turn a percentage into the share that remains, whatever precedes it: `17 % に短縮`."""
TIMES = _behind("the|as|of|what|that", "の", _TIMES)
"""Words behind a ratio that make it a comparison: `2 times the`, `2X as`, `2 倍の`."""
FOR_EVERY = r"\bfor (?:every|each|one) (?:one|operation|read|update|request|\w+ (?:that|of|on|with))\b"
"""Words anywhere in a sentence that make its number a rate, such as the operations of one side for every operation of
the other."""


MULTIPLE = rf"\A(?:[xX×](?![A-Za-z])|{_BLANKS}倍(?!率)|{_BLANK}times{_BLANK}(?:the|as|that|what|those)\b)"
"""Words that make the number before them a multiple of something."""
_AGAINST = (
    "against|than|versus|vs\\.?|over|compared (?:to|with)|relative to|instead of|in place of|replac(?:es?|ing)|of"
)
COMPARED = rf"\b(?:{_AGAINST})(?:{_BLANK}(?:the|an?|its|our|their))?{_BLANKS}\Z"
"""Words anywhere in an English sentence that make the name behind them the base of a comparison."""


_THAN = r"than|over|against|vs\.?|versus|compared (?:to|with)|relative to"
_THAN_JA = "より|と比べ|に比べ|と比較|に対し"
_COMPARES = rf"\b(?:{_THAN})\b|対|{_THAN_JA}"
_DETERMINER = r"(?:the|an?|that of|those of|its|our|with|on)"


_ENDS_NAME = (
    rf"\W*\Z|{_BLANKS}[,.;:()…]|{_BLANK}(?:at|on|in|for|with|and|or|by|of|when|while|where|as|from|to|under|across|is|was"
    rf"|does|did|has|had|can)\b"
)
"""The text that may follow a name in small letters. If another word follows, as in `than a disk`, the text is not a
name."""


def compares(text: str) -> bool:
    """Return whether a text has words that compare with something. Most texts have no such words."""
    return bool(re.search(_COMPARES, text, re.IGNORECASE))


def compared_with(labels: Iterable[str], text: str) -> list[str]:
    """Return the labels that a text compares with something, as in `than the Disk` or `Disk より`."""
    if not compares(text):
        return []
    listed = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    english = rf"(?<!\w)(?:{_THAN}){_BLANK}(?:{_DETERMINER}{_BLANK})*(?P<one>{listed})(?!-?\w)"
    two = rf"対{_BLANKS}(?P<two>{listed})(?![A-Za-z0-9])"
    three = rf"(?<![A-Za-z0-9-])(?P<three>{listed}){_BLANKS}(?:{_THAN_JA})"
    found = re.finditer(f"{english}|{two}|{three}", text, re.IGNORECASE) if listed else ()
    named = (
        each
        for each in found
        if not (each["one"] or "").islower() or re.match(_ENDS_NAME, text[each.end() :], re.IGNORECASE)
    )
    return [each["one"] or each["two"] or each["three"] for each in named]


class Direction(NamedTuple):
    """Words for one direction of a change: words behind the number, and verbs before it (`cuts the latency by`)."""

    behind: str
    before: str

    def found(self, before: str, after: str) -> str:
        """Return the words that express this direction next to a number, or "" if there are none."""
        return found_in(self.behind, after) or found_in(self.before, before)


SAVING = rf"\b(?:{_FALLING}|{_TAKING})\b[^.;:]*(?<!\bto)(?<!\bto[\s\u00a0])\Z"
"""Words before a number that make it the size of a saving: `saves 17 % of`."""
LEFT = _before(
    rf"(?:{_RISING}|{_FALLING}|{_TAKING}|down)\b[^.;:]*?(?<!up )(?<!close )(?<!compared )(?<!relative )\bto{_ENDS}"
)
"""Words before a number that turn it into the part that remains: `cuts it to 17 %`."""


def _direction(behind: str, verbs: str, japanese: str, nouns: str, nouns_ja: str, taking: str = "(?!)") -> Direction:
    """Return the patterns that recognize one direction, such as a rise, in the words around a number.

    If several verbs come before `by`, as in "grew and then fell by 10 %", only the nearest one counts. `nouns` come
    before `of`. `verbs`, and the words in `taking`, may also come right before the number.
    """
    noun = rf"(?:[\w-]+{_BLANK}){{0,2}}(?:{nouns})"
    is_noun = rf"(?!gain|uplift|improvement|sav)(?:{nouns})\b[^.;,:]{{0,30}}\b(?:is|was)"
    nearest = rf"(?:{verbs})\b(?:(?!\b(?:{_RISING}|{_FALLING})\b)[^.;:])*\b(?:by|to the \w+ of)"
    return Direction(
        _behind(rf"{behind}|{noun}", rf"(?:も|の|ほど|程度|近く|以上|だけ)?(?:{japanese})"),
        _before(
            rf"(?:{nearest}|(?:{behind}) by|(?:{nouns})(?: (?:in|of)(?: \S+){{1,3}})? of|{is_noun}){_ENDS}",
            rf"(?:{nouns_ja})[率幅分]?は[^。、]{{0,6}}",
            directly=rf"(?:{verbs}|{taking}){_ENDS}",
        ),
    )


MORE = _direction(
    "more|higher|greater|larger|bigger|longer|additional|extra|above|on top|up|dearer",
    _RISING,
    "高|多|大き|長|増|上回|伸び|上昇|アップ|余[計分]|上が|膨ら|延び|超過|の[^。、]{1,6}(?:増加|上昇)",
    "increase|gain|rise|growth|uplift|overhead|premium|surge|jump|spike",
    "増加|上昇",
    f"{_UP}|adds?|added|another|プラス",
)
LESS = _direction(
    "less|fewer|lower|smaller|shorter|cheaper|below|down|off|short of|shy of",
    _FALLING,
    "低|少な|小さ|短|安|減|削減|短縮|下回|落ち|落と|ダウン|縮|割り込|下落|後退|目減り|下が|失"
    "|の[^。、]{1,6}(?:低下|減少|削減|短縮)",
    "reduction|decrease|drop|fall|decline|cut|savings?|shortfall|deficit|dip",
    "低下|減少|短縮|削減",
    "down|マイナス|gives? away|gave away|sacrific(?:es?|ed)",
)
BETTER = _direction(
    "faster|quicker|better|speedier|snappier|superior|ahead",
    f"{_BETTERING}|outperforms?|outperformed|beats?|outpac(?:es?|ed)",
    "速|早|向上|改善|優れ|勝[るっり]|凌|の[^。、]{1,6}(?:向上|改善)",
    "improvement|speed-?up",
    "改善|向上",
)
WORSE = _direction(
    r"slower|worse|weaker|poorer|inferior|behind|more sluggish|of (?:\S+ ){0,3}(?:is|are|was|were) lost",
    "slow(?:s|ed)?|degrad(?:es?|ed)|trail(?:s|ed)?|lag(?:s|ged)?|underperform(?:s|ed)?|suffer(?:s|ed)?"
    "|worsen(?:s|ed)?|deteriorat(?:es|ed)|(?:is|was|are|were) (?:beaten|outperformed|outpaced)",
    "遅(?!延)|悪|劣|及ば|鈍|後れ|負け|見劣り|の[^。、]{1,6}(?:劣化|悪化)",
    "degradation|regression|loss|penalty|slowdown|setback|hit|handicap",
    "悪化|劣化",
    "loses?|lost|gives? up|gave up|costs? (?:us|you|them)",
)

_NEEDED = {
    pattern: tuple(needed.split("|"))
    for pattern, needed in {
        UP_TO.before: "up|most|best|high|peak|height|sweet|no|n't|n’t|never|as |max|top|ceiling|limit|record"
        "|great|large|biggest|capped|kept|held|longest|slowest|min|favo|最|高|多|長|遅|良|よ|せいぜい|ベスト"
        "|もっとも|上限|≤|⩽",
        UP_TO.behind: "best|high|peak|height|sweet|top|max|upper|favo|most|ceiling|limit|or |no more|最|上限"
        "|まで|超え|上回",
        AT_LEAST.before: "least|min|no|n't|n’t|never|as l|always|guarantee|floor|lower|low|small|worst|start"
        "|begin|bottom|short|fastest|favo|安|少な|低|短|悪|控えめ|最|ワースト|必ず|常に|下限|≥|⩾|>=",
        AT_LEAST.behind: "worst|low|bottom|min|favo|better|high|more|great|above|least|and |plus|upward|+|最"
        "|下限|下回|割|切|確実|必ず|固い|堅い",
        AVERAGE: "averag|typical|usual|mean|median|expected|normal|rule|general|most|everyday|ordinary|common"
        "|day-to-day|real-world|realistic|on the whole|by and large|majority|many|more often|norm|routinely"
        "|regularly|平均|中央値|通常|典型|一般|標準|普段|ふだん|実運用|実環境|たいてい|ほとんど|多く",
        EVERYWHERE: "every|each|any|all|both|whatever|whichever|no matter|regardless|across|without|consistent"
        "|constant|reliabl|dependab|unfailing|uniform|invariabl|throughout|always|guaranteed|day |night|clock|24"
        "|times|come what|rain or|whether|どの|どんな|いずれ|あらゆる|常に|つねに|いつも|どこでも|通じて|一貫"
        "|終始|絶えず|保証|いつで|例外|問わず|に関係|にかかわら|によら|に左右|誰|何であれ|いかなる",
        ALL_OVER: "every|each|any|all|both|what |entire|whole|full|complete|from |light|low|idle|small|alike"
        "|すべて|全|各|あらゆる|軽|低|小|期待|見込|安定|約束",
        EXPECTED: "expect|count|depend|rel|bank|plan|promise|will |maintain|hold|you|everyone|everybody|customer"
        "|users|steady|constant|consistent|reliab",
        TIMES_BY: "by",
        LEFT: "to",
    }.items()
}
"""For each pattern, pieces of text in lower case. Every text that the pattern matches contains one of the pieces. Most
texts contain none, and then the pattern need not be compiled, which takes milliseconds."""

# --- results that are written by hand ---

_MEASURE = (
    "latenc(?:y|ies)|throughput|performance|costs?|prices?|bills?|power|energy|times?|wait(?:ing)?|tail|speeds?"
    "|rates?|efficiency|watts?|bandwidth|IOPS|p99|work|money|spend"
)
_MACHINES = "servers?|nodes?|machines?|hosts?|boxes|racks?"
_WORK = f"load|operations|ops|reads|writes|queries|requests|transactions|sessions|users|{_MACHINES}"
_MEASURE_JA = (
    "遅延|レイテンシ|待ち時間|時間|スループット|性能|処理量|処理能力|処理件数|コスト|費用|運用費|料金|価格|電気代"
    "|消費電力|電力|エネルギー|台数|応答|レスポンス|速度|速さ|効率|帯域|仕事"
)
_FRACTION = (
    "(?:half|(?:an?|one|two|three|four|five|six|seven|eight|nine)[ -](?:third|quarter|fifth|sixth|seventh|eighth"
    "|ninth|tenth|twentieth|hundredth)s?)"
)
_BECOMES = (
    "(?:doubling|halving|tripling|doubles|doubled|triples|tripled|quadrupling|quadruples|quadrupled|quintuples"
    "|quintupled|halves|halved)"
)
_AS_FAST = r"as (?:fast|many|much|quick|long|high|low|slow|cheap|efficient|good)"
_SPELLED_ONE = "|".join(_SPELLED)
_ONE = rf"(?:{_NUMBER}|\b(?:{_SPELLED_ONE})(?:-(?:one|{_SPELLED_ONE}))?)"
_DISKS = f"{_MACHINES}|disks?|drives?"
_SOME = "(?: (?:about|nearly|almost|some|over|more than|roughly|just|only|around))*"
_CHANGING = "cutting|slash(?:es|ed|ing)?|reduc(?:es?|ed|ing)|lower(?:s|ed|ing)|trimm?(?:s|ed|ing)?|rais(?:es?|ed|ing)"
_CHANGING += "|increas(?:es?|ed|ing)|improv(?:es?|ed|ing)|boost(?:s|ed|ing)"
_TO_ONE = rf"(?:[0-9.]+(?::1|[ -]to[ -]1)|(?:{'|'.join(_SPELLED)})[ -]to[ -]one)"
_VERBS = f"{_RISING}|{_FALLING}|{_TAKING}|down"
_A_TIME = "(?:second|minute|hour|day)"
_SPANS = "(?:weeks|days|hours|minutes|seconds|milliseconds|microseconds)"
_SPAN_JA = "(?:ミリ秒|秒|時間|分|ms)"
_COUNT_JA = rf"(?:{_NUMBER}|{_KANJI}|数)"
_RATES = (
    "(?:operations|ops|reads|writes|requests|transactions|queries|sessions|messages|events|documents|rows|inserts"
    "|updates|lookups|orders)"
)
_A_FRACTION = "half|third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|twentieth|hundredth|1/|[½⅓¼]"
_A_PER_CENT = r"%|％|per ?cent\b|パーセント"
_SETTING = (
    "capacity|size|memory|RAM|cache|number of (?:drives|disks|threads|clients|records|cores)|records|data|threads"
    "|clients|cores|disks|drives"
)
"""Settings that a benchmark increases by design. Their numbers are not results."""
_RESULTS = (
    # 8.7X, ten X, x10, tenfold, a factor of two, an order of magnitude; not: PCIe x4, 4 x 960 GB, x86
    (
        "[x×](?![a-z0-9])",
        (
            rf"(?:{_NUMBER}|\b(?:{_SPELLED_ONE}))[\s\u00a0-]?[xX×](?![A-Za-z0-9]"
            rf"|{_BLANK}(?:[0-9]|DDR|replication|redundancy)"
            rf"|{_BLANK}(?:(?:the|as much|as many|larger|bigger|more){_BLANK})?(?:\w+{_BLANK})?(?:{_SETTING})\b)"
        ),
    ),
    (
        "[x×][0-9０-９]",
        (
            rf"(?<![\w.])(?<![0-9][\s\u00a0])(?<!PCIe )(?<!Gen[3-6] )(?-i:[x×])(?!86\b"
            rf"|64\b){_NUMBER}(?={_BLANKS}(?:[,;:!)]|\Z|の)"
            rf"|{_BLANK}(?:the|as|more|less|faster|higher|lower|better|{_MEASURE}|{_WORK})\b)"
        ),
    ),
    ("fold", rf"(?:{_NUMBER}|\b(?:{_SPELLED_ONE}))[ -]?fold\b"),
    ("magnitude|factor", rf"\borders?[ -]of[ -]magnitude\b|\ba factor (?:of )?(?:{_NUMBER}|(?:{_SPELLED_ONE})\b)"),
    (
        "桁",
        rf"桁(?:違い|が違)|[1-3１-３一二三]{_BLANKS}桁(?:{_MORE_JA}|下が|上が|の(?:伸び|向上|改善|成長|増|差|性能))",
    ),
    # single-digit milliseconds, double-digit gains
    (
        "-digit",
        rf"\b(?:single|double|triple|two|three)-digit (?:(?:milli|micro)seconds?|per ?cent\w*|growth|speed|{_GOOD})\b",
    ),
    # a 3:1 lead, ahead by 3:1, 3 対 1 で上回る; not: a 3:1 mix of reads and writes
    (
        "[:：][1１]|対|to[ -](?:1|one)",
        (
            rf"(?<![\w.:]){_TO_ONE}(?= (?:advantage|lead|edge|gain|improvement|saving|reduction|consolidation)s?\b)"
            rf"|\bby {_TO_ONE}(?![0-9])"
            rf"|\b(?:beats?|leads?|ahead|wins?|outperforms?)\b[^.;:]{{0,40}}?\b{_TO_ONE}(?![0-9])"
            r"|[0-9０-９]+(?:：|:|[ ]?対[ ]?)[1１](?=で(?:上回|優|勝)|の(?:差|優位|性能差))"
        ),
    ),
    # twice the work, three times as fast, twice faster; not: two times the capacity, measured three times
    (
        "double|twice|thrice|triple|quadruple|quintuple|[ -]times",
        (
            rf"\b(?:double|twice|thrice|triple|quadruple|quintuple"
            rf"|(?:{_NUMBER}|{_SPELLED_ONE})(?:[ -]and[ -]a[ -]half)?[ -]times)"
            rf"(?={_BLANK}(?:the|its|their|your|our|that|what|{_MORE}|{_AS_FAST}|{_CHANGED})\b(?!{_BLANK}(?:\w+{_BLANK})?(?:{_SETTING})\b))"
        ),
    ),
    # divided by five, 3.4 times Legacy HDD, double Kafka throughput, half power
    (
        "multipl|divid|[ -]times",
        (
            rf"\b(?:multipl(?:y|ies|ied|ying)|divid(?:es?|ed|ing))\b[^.;:]{{0,40}}?\bby{_SOME} {_ONE}"
            rf"|{_NUMBER}[ -]times(?= (?-i:[A-Z]))"
        ),
    ),
    (
        "(?:double|triple|quadruple) |half [pcle]",
        (
            rf"\b(?:double|triple|quadruple) (?:{_MEASURE}|reads|sessions|queries|requests)\b"
            rf"|\bhalf (?:power|costs?|price|latency|energy)\b"
        ),
    ),
    (
        "doubl|tripl|quadruple|halve|halving|twice",
        (
            rf"\b(?:double|doubling|triple|tripling|quadruple|halve|halving"
            rf"|twice)(?: (?!the\b|check|data\b)[\w'’-]+){{1,2}} (?:{_MEASURE})\b"
        ),
    ),
    (" times ", rf"\b(?:dozens|tens|hundreds|thousands|many|several)(?: of)? times (?={_MORE}|{_AS_FAST})"),
    # half the latency, a quarter less, half again as much, half-price; not: half of all operations
    (
        _A_FRACTION,
        (
            rf"\b(?:{_FRACTION}|1/[2-9]|½|⅓"
            rf"|¼)(?={_BLANK}(?:of )?(?:the|its|their|your|our){_BLANK}(?:\w+{_BLANK})?(?:{_MEASURE})\b"
            rf"|{_BLANK}(?:again )?{_AS_FAST}"
            rf"|{_BLANK}(?:the{_BLANK}(?:{_WORK}|disks|drives|cores)"
            rf"|(?:of )?the{_BLANK}(?:hardware|footprint|rack space|budget|carbon))\b|{_BLANK}(?:{_MORE})\b"
            rf"|{_BLANK}(?:of )?(?:that|what)\b)"
        ),
    ),
    ("half.price|double.speed", r"\bhalf[- ]price[d]?\b|\bdouble[- ]speed\b"),
    # cut by two thirds, down a quarter, cut to a third, a third off
    (
        _A_FRACTION,
        (
            rf"\b(?:by|down|up){_SOME} {_FRACTION}\b(?![ -]part)"
            rf"|\b(?:{_VERBS})\b[^.;:]{{0,25}}?\b(?:{_MEASURE})\b[^.;:]{{0,15}}?\bto{_SOME} {_FRACTION}\b"
        ),
    ),
    (
        _A_FRACTION,
        (
            rf"\b(?:{_MEASURE})\b(?:[^.;:]{{0,25}}?\b(?:{_VERBS})\b[^.;:]{{0,15}}?\bto| (?:is|are|at|was)"
            rf"|){_SOME} {_FRACTION}\b"
        ),
    ),
    (
        _A_FRACTION,
        (
            rf"\b{_FRACTION} off\b|\b(?:on|with|using|in){_SOME} {_FRACTION} (?:of )?(?:the|its|their"
            rf"|as many) (?:{_MACHINES})\b"
        ),
    ),
    # doubles the throughput, latency halves; not: the number of threads doubles
    (
        "doubl|halv|tripl|quadrupl|quintupl",
        (
            rf"\b{_BECOMES}(?={_BLANK}(?:what\b"
            rf"|(?:(?:the|its|their|our|your){_BLANK})?(?:\w+{_BLANK})?(?:{_MEASURE}|{_WORK})s?\b))"
        ),
    ),
    (
        "doubl|halv|tripl|quadrupl|quintupl|(?:in|by) half",
        (
            rf"(?:{_MEASURE})(?:,|(?:{_BLANK}\w+){{0,2}})(?:{_BLANK}(?:been|more|than|nearly|almost"
            rf"|about))*{_BLANK}{_BECOMES}\b|\b(?:{_RATES}|users) (?:have |has |are |more than |nearly )*{_BECOMES}\b"
            rf"|\b(?:latencies|costs|prices|rates|bills|{_RATES}) (?:halve|double|triple|quadruple)\b"
            rf"|\b(?:in|by) half\b(?! of\b| \w+s\b)"
        ),
    ),
    # 17 % more, fifty percent lower, 60 % the cost, a gain of 17 %; not: 5 % of updates, filled to 80 %
    (
        _A_PER_CENT,
        (
            rf"(?:{_NUMBER}|\b(?:{_SPELLED_ONE}))[\s\u00a0-]*(?:%|％"
            rf"|per ?cent\b)(?={_BLANK}(?:(?:{_MORE}|above|below|off|extra|additional|{_AS_FAST})\b"
            rf"|(?:\w+{_BLANK})?(?:{_CHANGED})s?\b|(?:of )?(?:the|its|their) (?:\w+{_BLANK})?(?:{_MEASURE})\b))"
        ),
    ),
    (
        _A_PER_CENT,
        (
            rf"\b(?:{_CHANGED}|{_CHANGES}|{_CHANGING})s?(?:{_BLANK}[\w-]+){{0,4}}{_BLANK}(?:by"
            rf"|of){_BLANK}{_ONE}[\s\u00a0-]*(?:%|per ?cent\b)"
        ),
    ),
    # saves 17 %, costs are down 30 %, +40 % throughput; not: reads make up 95 %
    (
        _A_PER_CENT,
        (
            rf"\b(?:sav(?:es?|ed|ing)|cut(?:s|ting)?|adds?|gain(?:s|ed)|{_CHANGING}"
            rf"|(?:is|are|was|were|{_MEASURE}) (?:up"
            rf"|down))(?:{_BLANK}(?!(?:to|at|with|from|in|on|for|and"
            rf"|under)\b)[\w-]+){{0,4}}{_BLANK}{_NUMBER}[\s\u00a0]*(?:%|per ?cent\b)"
        ),
    ),
    (_A_PER_CENT, rf"\b(?:{_MEASURE})\b[^.;:]{{0,30}}?\b(?:{_VERBS}){_SOME} {_NUMBER}[\s\u00a0]*(?:%|per ?cent\b)"),
    (
        _A_PER_CENT,
        rf"(?:\b(?:minus|(?:{_MORE}) by)|(?:\A|[,;:] )(?:up|down)){_SOME} {_ONE}[\s\u00a0-]*(?:%|per ?cent\b)",
    ),
    (
        _A_PER_CENT,
        rf"(?:(?<![\w.)%])[+\u2212-]|(?:プラス|マイナス){_BLANKS}){_NUMBER}[\s\u00a0]*(?:%|％|per ?cent\b|パーセント)",
    ),
    (
        _A_PER_CENT,
        (
            rf"(?:{_NUMBER}|{_KANJI})[\s\u00a0]*(?:%|％"
            rf"|パーセント)(?=[もの]?{_BLANKS}(?:{_MORE_JA}|{_CHANGED_JA}|省電力|節約|オフ|引き"
            rf"|(?:{_MEASURE_JA})の?(?:{_CHANGED_JA})))"
        ),
    ),
    # 2 倍, 三倍, 倍の性能, 半分の遅延, 3 分の 1, 五割減; not: 読み取りが 5 割
    (
        "倍",
        (
            rf"(?<!容量[がはの])(?<!容量[がはの] )(?<!容量)(?<!容量 ){_NOT_OF_SETTINGS}"
            rf"(?:{_NUMBER}[\s\u00a0]*|[一二三四五六七八九十百千数何]+)倍"
            r"(?!率|の(?:頻度|容量|サイズ|メモリ|データ|レコード|スレッド|クライアント|ノード|接続|コア|台数))"
        ),
    ),
    ("半|倍", r"半減|半額|半値|倍[増加](?!え)|(?<=\w)倍速(?![いく])"),
    (
        "割",
        (
            rf"(?:{_NUMBER}|[一二三四五六七八九]){_BLANKS}割(?=近く|以上"
            rf"|[もの]?{_BLANKS}(?:{_MORE_JA}|{_CHANGED_JA}|引|節|省|オフ|削))"
        ),
    ),
    (
        "半分|倍",
        rf"(?:{_MEASURE_JA})(?:は|が|を|の)?[^。、]{{0,6}}半分|半分の(?:{_MEASURE_JA})|(?:{_MEASURE_JA})[はが]倍(?!率)",
    ),
    ("倍", rf"(?<![\w…])(?<![\w…][\s\u00a0])倍(?:以上|近く)?の(?:{_MEASURE_JA})"),
    (
        "分の|[1１][/／]",
        (
            rf"(?<!メモリの)(?<!容量の)(?:{_NUMBER}"
            rf"|[二三四五六七八九十]){_BLANKS}分の{_BLANKS}[0-9０-９一二三](?!{_BLANKS}(?:[回台つ個度枚]"
            rf"|[はが](?:走査|更新|読み|書き|挿入)))"
            rf"|[1１][/／][2-9２-９](?=(?:の(?:{_MEASURE_JA})|{_BLANKS}(?:に|へ|以下)))"
        ),
    ),
    # 150,000 ops/s, 4 ms, 4-ms, 200k IOPS, 12 USD/h; not: every 500 ms
    (
        rf"{_NUMBER}[万千億]?[\s\u00a0-]*[kmg]?[\s\u00a0]*(?:ops?/s|[tq]ps|[µumn]s|milli|micro|[kmgt]i?b)",
        (
            rf"(?<!every )(?<!each )(?<!after )(?<!for )(?<!interval of )(?<!timeout of )(?<!load of )"
            rf"(?<!delay of )(?<!trip of )(?<!limit of )"
            rf"(?<![\w.,]){_NUMBER}[万千億]?[\s\u00a0-]*(?:[kKMG]?{_BLANKS}ops?/s(?:ec)?(?:/W)?"
            rf"|[kKM]?{_BLANKS}(?:TPS|QPS)|[µumn]s|milliseconds?|microseconds?"
            rf"|(?-i:[KMGT]i?B(?:/s(?:ec)?|ps| per second| a second)))"
            rf"(?![A-Za-z]|{_BLANKS}ごと| (?:link|bus|network|interface|port)s?\b)"
        ),
    ),
    (
        "(?:per|an?|each|every) (?:second|minute|hour|day|watt|joule|dollar|euro)|/s|s what",
        (
            rf"{_NUMBER}{_BLANKS}[kKM]?{_BLANKS}(?:thousand |million "
            rf"|billion )?{_RATES}(?: (?:per|a|an|each|every|for each) (?:second|minute|hour|day|watt|joule|dollar"
            rf"|euro)\b|/s)|\bin {_NUMBER} {_SPANS} what\b"
        ),
    ),
    (
        "million|billion|thousand",
        (
            rf"\b(?:{_SPELLED_ONE}|an?|half a)[ -](?:million|billion|thousand) (?:IOPS"
            rf"|{_RATES} (?:per|a|each|every) {_A_TIME})\b"
        ),
    ),
    (
        "second|minute|hour|day",
        rf"{_ONE}(?: ?[kKM]| million| billion| thousand)? (?:{_RATES}|records) in (?:an?|{_ONE}) {_A_TIME}s?\b",
    ),
    (
        "second|[km] ops",
        rf"{_NUMBER}(?: ?[kKM]| million| billion| thousand)? (?:per|a|each|every) second\b|{_NUMBER}[kKM] ops\b",
    ),
    (
        r"iops|second|to[\s\u00a0]*\Z",
        (
            rf"(?:{_NUMBER}{_BLANKS}[kKM万千億]?|{_KANJI}){_BLANKS}(?:(?:million|thousand) )?IOPS\b"
            r"|\bsub-?(?:\w+-)?(?:milli|micro)?seconds?\b"
            r"|\b(?:under|below|within|less than) (?:half )?(?:an?|one) (?:milli|micro)?second\b"
            rf"|\bfrom{_BLANK}{_NUMBER}[kKM]?{_BLANK}(?:up )?to{_BLANKS}\Z"
        ),
    ),
    # latency falls from 12 to 3, hours become minutes, minutes instead of hours; not: from 8 to 32 threads
    (
        "from [0-9０-９]",
        (
            rf"\b(?:{_MEASURE})\b[^.;:]{{0,25}}?\b(?:{_VERBS})\b[^.;:]{{0,15}}?"
            rf"\bfrom {_NUMBER}[^.;:]{{0,14}}? to {_NUMBER}"
        ),
    ),
    (
        "weeks|days|hours|minutes|seconds",
        (
            rf"\b{_SPANS},? (?:instead of|rather than|not) {_SPANS}\b"
            rf"|\bfrom {_SPANS} (?:down )?to (?:just |mere )?{_SPANS}\b"
            rf"|\b{_SPANS} (?:now |down )?(?:takes?|becomes?|turn(?:s|ed)? into|shrinks? to|to) (?:just |mere "
            rf"|only )?{_SPANS}\b"
        ),
    ),
    # one node does the work of ten, 5 nodes instead of 20, replaces twelve servers
    ("d(?:o|oes|id|oing) what|(?:work|job) of", rf"\b(?:do|does|did|doing) (?:what|the (?:work|job) of){_SOME} {_ONE}"),
    (
        "replac",
        (
            rf"\breplaces{_SOME} {_ONE}(?: \S+)?? (?:{_MACHINES}|disks|drives)\b"
            rf"|(?:one|{_ONE}) (?:\S+ )?(?:{_DISKS}) replac(?:es|ed){_SOME} {_ONE}"
            rf"|\breplac\w+ {_ONE} (?:\S+ )?(?:{_DISKS}) with (?:one|{_ONE})"
        ),
    ),
    (
        "['’] wor|down to|for the price of",
        rf"{_ONE} (?:(?:{_DISKS})(?:['’] (?:worth|work)| down to (?:one|{_ONE}))|for the price of)",
    ),
    (
        " as|equal|equivalent|worth",
        (
            rf"\b(?:as (?:fast|much|good|strong) as|equal to|equivalent to|worth){_SOME} {_ONE}"
            rf" (?:\S+ )?(?:{_DISKS})\b"
        ),
    ),
    ("fewer", rf"{_ONE} fewer (?:{_MACHINES})\b"),
    (
        "become|instead of|rather than|in place of",
        rf"\b(?:one|{_ONE}) (?:{_MACHINES}) (?:become|instead of|rather than|in place of){_SOME} {_ONE}\b",
    ),
    (
        "for (?:each|every|one)|into ",
        rf"{_ONE} (?:\S+ ){{0,2}}(?:{_MACHINES}) (?:for (?:each|every|one)|into (?:one|{_ONE}))\b",
    ),
    ("秒", rf"サブミリ秒|[1１一]{_BLANKS}桁{_BLANKS}(?:ミリ|マイクロ)秒|ミリ秒(?:未満|以下|台|級)"),
    (
        "台",
        (
            rf"{_COUNT_JA}{_BLANKS}台分"
            rf"|{_COUNT_JA}{_BLANKS}台[をからがの]{{1,2}}{_BLANKS}{_COUNT_JA}{_BLANKS}台[にへで](?:集約|統合|減|削減"
            rf"|圧縮|まと)"
        ),
    ),
    ("から", rf"{_COUNT_JA}{_BLANKS}{_SPAN_JA}から{_BLANKS}{_COUNT_JA}{_BLANKS}{_SPAN_JA}[にへ]"),
    ("数", rf"(?:時間|日|分|秒)(?:の\w{{1,4}})?[がを]{_BLANKS}(?:わずか|たった)?数(?:分|秒|時間|ミリ秒)[にへで]"),
    (
        "秒",
        (
            rf"(?:毎秒|秒間|[1１一]{_BLANKS}秒(?:あたり|間?に)){_BLANKS}約?{_BLANKS}(?:{_NUMBER}{_BLANKS}[万千億]"
            rf"|[0-9０-９,，]{{3,}}|[一二三四五六七八九十]*[百千万億]+)"
            rf"|{_NUMBER}[万千億]?(?:操作|件|回|リクエスト|クエリ)/秒|{_NUMBER}{_BLANKS}(?:ミリ|マイクロ)秒"
        ),
    ),
    (
        "usd|eur|jpy|円|ドル|cents|dollars|watts|kwh|joules|[$€¥]",
        (
            rf"(?<!per )(?!{_FOR_ONE}){_NUMBER}[\s\u00a0]*"
            r"(?:USD|EUR|JPY|円|ドル|(?:cents|euros|dollars|watts|kWh|joules)\b)(?:/\w+)?"
            rf"|[$€¥]{_NUMBER}|\b(?:{_SPELLED_ONE}) cents\b"
        ),
    ),
)
"""Results that are typed by hand: a multiple, a fraction or a percentage of a measure, or a number with its unit.

Before each pattern come pieces of text in small letters. Every matching text contains one of them. Most texts contain
none, and then the pattern need not be compiled, which takes milliseconds.
"""


@cache
def _any_needed() -> re.Pattern[str]:
    """Return a pattern that matches every text with a result. With it, most texts can be skipped quickly."""
    parts = dict.fromkeys(part for needed, _ in _RESULTS for part in ([needed] if "(" in needed else needed.split("|")))
    words = [part for part in parts if part.isalpha()]
    needed = [part for part in parts if not any(word in part for word in words if part.isalpha() and word != part)]
    return re.compile("|".join(needed))


@lru_cache(4096)
def results_in(text: str) -> tuple[str, ...]:
    """Return the results that are typed by hand in a text. An editor asks for the same texts at each keystroke."""
    lower, at = text.lower(), 0
    if not _any_needed().search(lower):
        return ()
    results = []
    patterns = [_compiled(pattern) for needed, pattern in _RESULTS if re.search(needed, lower)]
    while found := [match for pattern in patterns if (match := pattern.search(text, at))]:
        first = min(found, key=lambda match: match.start())
        results.append(first.group().strip())
        at = first.end()
    return tuple(results)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


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
    """Return the amount of a typed result in its base unit, as `units.amount` does, or None for other results."""
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
    """Return whether a text contains a label as separate words."""
    return re.search(rf"(?<!\w){re.escape(label)}(?!\w)", text, re.IGNORECASE) is not None


def counts(number: float, dim: str, text: str) -> bool:
    """Return whether a text has a number of the dimension: `8 threads`, `one thread`, `8 スレッド`."""
    spelled = ("one|single", *_SPELLED[:9])[int(number) - 1] if number in range(1, 11) else "(?!)"
    what = {"threads": "threads?|スレッド", "target": r"\w+/s"}.get(dim, re.escape(dim))
    return re.search(rf"(?<![\w.])(?:{number:g}|{spelled})[\s\u00a0-]*(?:{what})", text, re.IGNORECASE) is not None
