"""The messages about MariaDB and sysbench in runs and briefs, by code and language."""

from __future__ import annotations

from typing import Protocol

from benchbrief.extend.common import Message, OwnWords, speaker


class MariadbMessages(Protocol):
    def mariadb_uri(self, *, database: object) -> Message: ...
    def mariadb_hint_uri(self, *, origin: object) -> Message: ...
    def mariadb_no_client(self, *, host: object) -> Message: ...
    def mariadb_refused(self, *, said: object) -> Message: ...
    def mariadb_rows(self, *, n: object, found: object) -> Message: ...
    def sysbench_not_whole(self, *, why: object) -> Message: ...
    def sysbench_intended(self) -> Message: ...
    def sysbench_percentiles(self) -> Message: ...
    def sysbench_printed(self) -> Message: ...
    def sysbench_retried(self, *, n: object) -> Message: ...


_WORDS: OwnWords = {
    "en": {
        "mariadb_uri": "the uri of database {database} can't be read",
        "mariadb_hint_uri": 'it is like "mariadb://user:{secret(NAME)}@host:3306/sbtest" ({origin})',
        "mariadb_no_client": "the program `mariadb` is not on {host}: install the package mariadb-client",
        "mariadb_refused": "MariaDB refuses: {said}",
        "mariadb_rows": "{n} rows were to be loaded, and there are {found}",
        "sysbench_not_whole": "sysbench's output is not whole: {why}",
        "sysbench_intended": "intended: from when a transaction was due, with its wait for a free connection",
        "sysbench_percentiles": "from sysbench's histogram, whose buckets are 1.8 % wide",
        "sysbench_printed": "as printed by sysbench: they can't be merged with others",
        "sysbench_retried": "transactions tried again, after a deadlock or a long wait for a lock: {n}",
    },
    "ja": {
        "mariadb_uri": "データベース {database} の uri を読み取れません",
        "mariadb_hint_uri": '"mariadb://user:{secret(NAME)}@host:3306/sbtest" のように記述してください（{origin}）',
        "mariadb_no_client": "{host} にプログラム `mariadb` がありません（パッケージ mariadb-client）",
        "mariadb_refused": "MariaDB が拒否しました: {said}",
        "mariadb_rows": "{n} 行を読み込むはずでしたが、{found} 行あります",
        "sysbench_not_whole": "sysbench の出力が不完全です: {why}",
        "sysbench_intended": "意図した時刻から（空き接続を待った時間を含む）",
        "sysbench_percentiles": "sysbench のヒストグラム（幅 1.8 % の区間）から算出",
        "sysbench_printed": "sysbench の出力値（ほかの値とは合成不可）",
        "sysbench_retried": "デッドロックまたはロック待ちの超過により、{n} 件のトランザクションを再試行しました",
    },
}

say_mariadb: MariadbMessages = speaker(MariadbMessages, _WORDS)
