"""The messages of the engine, the driver and the probe, by code and language."""

from __future__ import annotations

from typing import Protocol

from benchbrief.extend.common import Message, OwnWords, speaker


class PostgresMessages(Protocol):
    def pg_unreachable(self, *, database: object, host: object, said: object) -> Message: ...
    def pg_hint_unreachable(self, *, origin: object) -> Message: ...
    def pg_refused(self, *, database: object, said: object) -> Message: ...
    def pg_hint_refused(self) -> Message: ...
    def pg_no_psql(self, *, host: object) -> Message: ...
    def pg_hint_psql(self) -> Message: ...
    def pg_bad_uri(self, *, database: object, why: object) -> Message: ...
    def pg_hint_uri(self, *, origin: object) -> Message: ...
    def pg_parameter(self, *, name: object) -> Message: ...
    def pg_answer(self, *, database: object, said: object) -> Message: ...
    def pg_standby(self, *, database: object) -> Message: ...
    def pg_hint_standby(self, *, origin: object) -> Message: ...
    def pg_version(self, *, database: object, found: object, wanted: object) -> Message: ...
    def pg_hint_version(self, *, origin: object) -> Message: ...
    def pg_few_connections(self, *, database: object, free: object, threads: object) -> Message: ...
    def pg_hint_connections(self) -> Message: ...
    def pg_lagging(self, *, database: object, size: object, lag: object, most: object) -> Message: ...
    def pg_behind(self, *, database: object, size: object, most: object) -> Message: ...
    def pg_hint_lagging(self) -> Message: ...
    def pg_primary(self, *, standbys: object, synchronous: object) -> Message: ...
    def pg_not_durable(self, *, settings: object, database: object) -> Message: ...
    def pg_left(self, *, workload: object, tables: object, database: object) -> Message: ...
    def pg_size_of_database(self) -> Message: ...
    def pg_no_tables(self, *, database: object) -> Message: ...
    def pg_rows(self, *, n: object, database: object, found: object) -> Message: ...
    def pg_hint_rows(self) -> Message: ...
    def pg_restored(self) -> Message: ...
    def pg_percentiles(self) -> Message: ...
    def pg_mean_only(self) -> Message: ...
    def pg_one_process(self, *, seconds: object) -> Message: ...
    def pg_tidied(self) -> Message: ...
    def pg_other_server(self, *, tool: object, server: object) -> Message: ...
    def pg_failures(self, *, said: object) -> Message: ...
    def pg_skipped(self, *, n: object, limit: object) -> Message: ...
    def pg_cut(self, *, what: object) -> Message: ...
    def pg_two_runs(self) -> Message: ...
    def pg_load_cut(self, *, said: object) -> Message: ...


_WORDS: OwnWords = {
    "en": {
        "pg_unreachable": "the server of database {database} can't be reached from {host}: {said}",
        "pg_hint_unreachable": "is it running, and do address, user and password fit? ({origin})",
        "pg_refused": "the server of database {database} refuses: {said}",
        "pg_hint_refused": "the role needs to own the database, and `pg_monitor`",
        "pg_no_psql": "psql is not on {host}, or can't be run",
        "pg_hint_psql": "install it (Debian and Ubuntu: the package postgresql-client), beside pgbench",
        "pg_bad_uri": "the uri of database {database} can't be read: {why}",
        "pg_hint_uri": 'it is like "postgresql://user:{secret(NAME)}@host:5432/database" ({origin})',
        "pg_parameter": "its parameter `{name}` is none that is passed on",
        "pg_answer": "the server of database {database} gave an odd answer: {said}",
        "pg_standby": "the server of database {database} is a standby, which can't be written to",
        "pg_hint_standby": "name the primary ({origin})",
        "pg_version": "the server of database {database} is version {found}, and the spec asks for {wanted}",
        "pg_hint_version": "attach to another server, or mend `version` ({origin})",
        "pg_few_connections": (
            "the server of database {database} has {free} connections left for this role, and {threads} threads need "
            "one each, psql another one"
        ),
        "pg_hint_connections": "raise `max_connections` of the server, or measure fewer `threads`",
        "pg_lagging": "a standby of database {database} is {lag} s ({size} bytes) behind, and {most} s are allowed",
        "pg_behind": (
            "a standby of database {database} is {size} bytes behind, for a time that the server does not know; "
            "{most} s are allowed"
        ),
        "pg_hint_lagging": "see whether its replay is paused, wait for it, or allow more by `max_lag`",
        "pg_primary": "primary; streaming standbys: {standbys}, synchronous ones among them: {synchronous}",
        "pg_not_durable": (
            "The server of database {database} runs with {settings}: a crash can lose committed transactions, and what "
            "commits cost is not in the numbers"
        ),
        "pg_left": (
            "The SQL of workload {workload} writes to {tables}, and a new load of database {database} makes only "
            "pgbench's own tables anew: later cells find what earlier ones wrote. Say how to bring all of them back, "
            'by `reset = command("...")`'
        ),
        "pg_size_of_database": "PostgreSQL does not say how many bytes its rows have without their overhead",
        "pg_no_tables": "database {database} has no tables of pgbench",
        "pg_rows": "{n} accounts were to be in database {database}, and {found} are",
        "pg_hint_rows": "is another client writing to it? The output of the step `load` says more",
        "pg_restored": "brought back by the declared command",
        "pg_percentiles": "from the log of all transactions, in buckets of at most 0.8 %",
        "pg_mean_only": "none: there is no log of the transactions, and pgbench prints the mean alone",
        "pg_one_process": "{seconds} s in the measuring process, cut off",
        "pg_tidied": (
            "the tables of tellers and branches are vacuumed and the history is emptied once before each measurement, "
            "not by each pgbench"
        ),
        "pg_other_server": (
            "pgbench is of version {tool}, and the server of version {server}: each version of pgbench measures a "
            "little differently"
        ),
        "pg_failures": "Of the transactions failed: {said}",
        "pg_skipped": (
            "{n} transactions were late by more than {limit} ms and were skipped: they count as failed, and have no "
            "latency"
        ),
        "pg_cut": "pgbench's output is not whole: {what}",
        "pg_two_runs": "it has the outputs of two runs",
        "pg_load_cut": "pgbench did not finish its load: {said}",
    },
    "ja": {
        "pg_unreachable": "{host} からデータベース {database} のサーバーに接続できません：{said}",
        "pg_hint_unreachable": (
            "サーバーが起動しているか、アドレス・ユーザー・パスワードが正しいか確認してください（{origin}）"
        ),
        "pg_refused": "データベース {database} のサーバーが拒否しました：{said}",
        "pg_hint_refused": "ロールにはデータベースの所有権と `pg_monitor` が必要です",
        "pg_no_psql": "{host} に psql がないか、実行できません",
        "pg_hint_psql": "pgbench とともにインストールしてください（Debian と Ubuntu ではパッケージ postgresql-client）",
        "pg_bad_uri": "データベース {database} の uri を読み取れません：{why}",
        "pg_hint_uri": '"postgresql://user:{secret(NAME)}@host:5432/database" の形で書きます（{origin}）',
        "pg_parameter": "パラメーター `{name}` は渡せません",
        "pg_answer": "データベース {database} のサーバーの応答を解釈できません：{said}",
        "pg_standby": "データベース {database} のサーバーはスタンバイで、書き込めません",
        "pg_hint_standby": "プライマリーを指定してください（{origin}）",
        "pg_version": "データベース {database} のサーバーはバージョン {found} で、スペックの指定は {wanted} です",
        "pg_hint_version": "別のサーバーに接続するか、`version` を直してください（{origin}）",
        "pg_few_connections": (
            "データベース {database} のサーバーでこのロールが使える接続は {free} 本で、"
            "{threads} スレッドと psql の 1 本には足りません"
        ),
        "pg_hint_connections": "サーバーの `max_connections` を増やすか、`threads` を減らしてください",
        "pg_lagging": (
            "データベース {database} のスタンバイが {lag} 秒（{size} バイト）遅れています（許容は {most} 秒）"
        ),
        "pg_behind": (
            "データベース {database} のスタンバイが {size} バイト遅れています（遅延時間は不明、許容は {most} 秒）"
        ),
        "pg_hint_lagging": ("リプレイが一時停止していないか確認し、追いつくまで待つか、`max_lag` を大きくしてください"),
        "pg_primary": "プライマリー（ストリーミングスタンバイ {standbys} 台、うち同期 {synchronous} 台）",
        "pg_not_durable": (
            "データベース {database} のサーバーは {settings} で動作しています。"
            "クラッシュ時にコミット済みトランザクションが失われることがあり、コミットのコストは数値に含まれません"
        ),
        "pg_left": (
            "ワークロード {workload} の SQL は {tables} に書き込みますが、"
            "データベース {database} の再ロードで作り直されるのは pgbench 自身のテーブルだけです。"
            "後のセルには前のセルの書き込みが残ります。"
            '`reset = command("...")` で全テーブルの復元方法を指定してください'
        ),
        "pg_size_of_database": "PostgreSQL は、オーバーヘッドを除いた行のバイト数を報告しません",
        "pg_no_tables": "データベース {database} に pgbench のテーブルがありません",
        "pg_rows": "データベース {database} の口座は {n} 件のはずですが、{found} 件です",
        "pg_hint_rows": "ほかのクライアントが書き込んでいませんか。詳細はステップ `load` の出力にあります",
        "pg_restored": "宣言されたコマンドで復元",
        "pg_percentiles": "全トランザクションのログから算出（バケットの幅は最大 0.8 %）",
        "pg_mean_only": "なし（トランザクションのログがなく、pgbench は平均だけを出力）",
        "pg_one_process": "計測プロセス内の最初の {seconds} 秒を除外",
        "pg_tidied": (
            "窓口担当者と支店のテーブルのバキュームと履歴の全削除は、各 pgbench ではなく計測ごとに 1 回だけ実行"
        ),
        "pg_other_server": (
            "pgbench のバージョンは {tool}、サーバーは {server} です。"
            "pgbench はバージョンによって計測方法が少し異なります"
        ),
        "pg_failures": "失敗したトランザクション：{said}",
        "pg_skipped": (
            "{limit} ms を超えて遅れた {n} 件のトランザクションはスキップされました。"
            "失敗として数え、レイテンシーには含みません"
        ),
        "pg_cut": "pgbench の出力が完全ではありません：{what}",
        "pg_two_runs": "2 回分の出力が含まれています",
        "pg_load_cut": "pgbench のロードが完了しませんでした：{said}",
    },
}

say_pg: PostgresMessages = speaker(PostgresMessages, _WORDS)
