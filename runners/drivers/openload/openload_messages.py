"""What the driver of openload says of a measurement, with its words in each language."""

from __future__ import annotations

from typing import Protocol

from benchbrief.compiler.messages.text import OwnWords, Text, speaker


class OpenloadMessages(Protocol):
    def openload_record(self, *, said: object) -> Text: ...
    def openload_log(self, *, said: object) -> Text: ...
    def openload_refused(self, *, said: object, code: object) -> Text: ...
    def openload_late(
        self, *, statistic: object, operation: object, late: object, latency: object, limit: object
    ) -> Text: ...
    def openload_woke_late(
        self, *, statistic: object, operation: object, late: object, latency: object, limit: object
    ) -> Text: ...
    def openload_all_operations(self) -> Text: ...
    def openload_queue_full(self, *, count: object, of: object) -> Text: ...
    def openload_failed(self, *, count: object, of: object) -> Text: ...
    def openload_no_record(self, *, count: object, of: object) -> Text: ...
    def openload_stalled(self, *, share: object, limit: object) -> Text: ...
    def openload_no_processor(self, *, share: object, limit: object) -> Text: ...
    def openload_paused(self, *, share: object, limit: object) -> Text: ...
    def openload_clock(self, *, seconds: object) -> Text: ...
    def openload_nothing(self) -> Text: ...
    def openload_gave_up(self, *, said: object) -> Text: ...
    def openload_cut(self, *, seconds: object, said: object) -> Text: ...
    def openload_foreign(self, *, flag: object, told: object, asked: object) -> Text: ...
    def openload_load_failed(self, *, failed: object, n: object, said: object) -> Text: ...
    def openload_constant(self) -> Text: ...
    def openload_poisson(self) -> Text: ...
    def openload_steps(self, *, n: object, first: object, last: object, seconds: object, spacing: object) -> Text: ...
    def openload_burst(
        self, *, rate: object, burst: object, every: object, lasting: object, spacing: object
    ) -> Text: ...
    def openload_trace(self, *, file: object, n: object) -> Text: ...
    def openload_closed(self) -> Text: ...
    def openload_open(self) -> Text: ...
    def openload_evenly(self) -> Text: ...
    def openload_exponential(self) -> Text: ...
    def openload_queue(self, *, bound: object) -> Text: ...
    def openload_drops(self, *, allowed: object) -> Text: ...
    def openload_no_drops(self) -> Text: ...
    def openload_lag(self, *, limit: object) -> Text: ...
    def openload_own(self, *, cpu: object, pauses: object, longest: object) -> Text: ...
    def openload_hidden(self, *, intended: object, service: object) -> Text: ...
    def openload_percentiles(self) -> Text: ...
    def openload_late_unasked(self, *, statistic: object, late: object, latency: object) -> Text: ...
    def openload_late_kept(self, *, said: object) -> Text: ...
    def openload_dropped(self, *, dropped: object, n: object, share: object) -> Text: ...
    def openload_not_found(self, *, n: object, of: object) -> Text: ...
    def openload_rmw(self) -> Text: ...
    def openload_no_counters(self, *, said: object) -> Text: ...
    def openload_ycsb_records(self) -> Text: ...
    def openload_db_bench_records(self) -> Text: ...
    def openload_statistics(self) -> Text: ...
    def hint_openload_late(self) -> Text: ...
    def hint_openload_late_lax(self) -> Text: ...
    def hint_openload_drops(self) -> Text: ...


_WORDS: OwnWords = {
    "en": {
        "openload_record": "openload's final record proves nothing: {said}",
        "openload_log": "openload's histogram log can't be read: {said}",
        "openload_refused": "openload refuses its own numbers ({code}): {said}",
        "openload_late": (
            "{statistic} of {operation}: openload was itself late by {late}, where latency is {latency}, and {limit} "
            "of it is accepted"
        ),
        "openload_woke_late": (
            "{statistic} of {operation}: openload was itself late by {late}, as its threads woke late, where latency "
            "is {latency}, and {limit} of it is accepted"
        ),
        "openload_all_operations": "all operations",
        "openload_queue_full": "{count} of {of} operations found the queue full and were dropped",
        "openload_failed": "{count} of {of} operations failed",
        "openload_no_record": "{count} of {of} operations found no record",
        "openload_stalled": "no thread of openload ran for {share} of the time, and {limit} is accepted",
        "openload_no_processor": (
            "openload used {share} of the processor time that it can have, and {limit} is accepted"
        ),
        "openload_paused": "openload stood still to collect garbage for {share} of the time, and {limit} is accepted",
        "openload_clock": "the wall clock was set by {seconds} s during the run: its times can't be laid beside others",
        "openload_nothing": "no operation of the measured time succeeded",
        "openload_gave_up": "openload ended the run early: {said}",
        "openload_cut": "no operation succeeded for {seconds} s, so openload cut the run: {said}",
        "openload_foreign": "openload ran with --{flag}={told}, and the cell asks for {asked}",
        "openload_load_failed": "{failed} of {n} inserts failed while loading: {said}",
        "openload_constant": ("constant, at even distances"),
        "openload_poisson": ("Poisson, with independent, exponential gaps"),
        "openload_steps": "{n} steps from {first} to {last} ops/s, each for {seconds} s, {spacing}",
        "openload_burst": ("{rate} ops/s with bursts of {burst} ops/s, one every {every} s for {lasting} s, {spacing}"),
        "openload_trace": "the {n} recorded times of {file}",
        "openload_closed": "closed loop: each thread sends its next operation when the last one has ended",
        "openload_open": "open: no reply delays the next operation, which waits in a queue where all threads are busy",
        "openload_evenly": "evenly spaced",
        "openload_exponential": "with exponential gaps",
        "openload_queue": ("at most {bound} operations wait for a thread; one that finds the queue full is dropped"),
        "openload_drops": ("at most {allowed} of the operations may be dropped, or the measurement fails"),
        "openload_no_drops": ("none accepted: a measurement with one fails"),
        "openload_lag": (
            "a measurement fails where openload was itself late by more than {limit} of a latency that is asked for"
        ),
        "openload_own": (
            "{cpu} of processor time per operation, {pauses} of the time in pauses, the longest of {longest}"
        ),
        "openload_hidden": (
            "p99 of all operations: {intended} from when they were due, {service} from when they were sent"
        ),
        "openload_percentiles": "HdrHistogram, three significant digits, one histogram for each second and operation",
        "openload_late_unasked": (
            "{statistic} of all operations: openload was itself late by {late}, where latency is {latency}: no report "
            "asks for this percentile, and none should"
        ),
        "openload_late_kept": (
            "openload was itself late, and the promise is kept with its lateness included, which only adds to the "
            "latencies: they are upper bounds ({said})"
        ),
        "openload_dropped": (
            "{dropped} of {n} operations that were due were dropped ({share}): no latency counts them"
        ),
        "openload_not_found": (
            "{n} operations found no record, and are among the {of} that succeeded: they may be of records that were "
            "just inserted, where reads go to secondaries or writes are not acknowledged"
        ),
        "openload_rmw": "a read-modify-write is one operation, whose halves are not counted as reads and updates",
        "openload_no_counters": "openload wrote no counters of RocksDB's statistics: {said}",
        "openload_ycsb_records": (
            "as YCSB's RocksDB binding lays them out, with random values; an update of a field reads its record first; "
            "loaded without the log, then flushed and compacted"
        ),
        "openload_db_bench_records": (
            "as db_bench lays them out, with keys of 16 bytes, and values that compress to half; an update reads "
            "nothing; loaded without the log, then flushed and compacted"
        ),
        "openload_statistics": "on, with RocksDB's timers, for the probe `database`",
        "hint_openload_late": (
            "give the generator a host with idle cores; or accept that a larger share of the numbers is its own: a "
            "higher `lag` in `arrivals`, such as `lag: 50 %`, or in a closed loop `arrivals = closed(stalls: 20 %)`"
        ),
        "hint_openload_late_lax": "offer a lower rate, give the client more hosts, or use a machine with idle cores",
        "hint_openload_drops": (
            "offer less, use more `threads`, or accept drops, by `queue: 10000, drops: 1 %` in `arrivals`"
        ),
    },
    "ja": {
        "openload_record": "openload の最終レコードは測定の証拠になりません：{said}",
        "openload_log": "openload のヒストグラムログを読み取れません：{said}",
        "openload_refused": "openload が自身の数値を拒否しました（{code}）：{said}",
        "openload_late": (
            "{operation} の {statistic} では openload 自身が {late} 遅れ、"
            "レイテンシーは {latency} でした（許容は {limit}）"
        ),
        "openload_woke_late": (
            "{operation} の {statistic} では openload 自身がスレッドの起床の遅れにより {late} 遅れ、"
            "レイテンシーは {latency} でした（許容は {limit}）"
        ),
        "openload_all_operations": "全操作",
        "openload_queue_full": "{of} 件の操作のうち {count} 件が、キューが満杯のため破棄されました",
        "openload_failed": "{of} 件の操作のうち {count} 件が失敗しました",
        "openload_no_record": "{of} 件の操作のうち {count} 件でレコードが見つかりませんでした",
        "openload_stalled": "時間の {share} で openload の全スレッドが停止していました（許容は {limit}）",
        "openload_no_processor": "openload が使用可能な CPU 時間の {share} を使用しました（許容は {limit}）",
        "openload_paused": "openload がガベージコレクションのため時間の {share} 停止していました（許容は {limit}）",
        "openload_clock": "測定中に時計が {seconds} 秒変更されたため、時刻をほかのものと照合できません",
        "openload_nothing": "測定時間内に成功した操作がありません",
        "openload_gave_up": "openload が途中で終了しました：{said}",
        "openload_cut": "{seconds} 秒間 1 件の操作も成功しなかったため、openload が測定を打ち切りました：{said}",
        "openload_foreign": "openload は --{flag}={told} で実行されましたが、セルの指定は {asked} です",
        "openload_load_failed": "ロード中に {n} 件の挿入のうち {failed} 件が失敗しました：{said}",
        "openload_constant": ("等間隔"),
        "openload_poisson": ("ポアソン過程（間隔は独立な指数分布）"),
        "openload_steps": "毎秒 {first} から {last} 操作まで {n} 段、各 {seconds} 秒、{spacing}",
        "openload_burst": "毎秒 {rate} 操作、{every} 秒ごとに {lasting} 秒間は毎秒 {burst} 操作、{spacing}",
        "openload_trace": "{file} に記録された {n} 個の時刻",
        "openload_closed": "クローズドループ：各スレッドは前の操作が終わると次の操作を送信",
        "openload_open": "オープン：応答が遅れても次の操作は遅れず、全スレッドが使用中の間はキューで待機",
        "openload_evenly": "等間隔",
        "openload_exponential": "間隔は指数分布",
        "openload_queue": ("スレッドを待つ操作は最大 {bound} 件。キューが満杯のときに到着した操作は破棄"),
        "openload_drops": ("破棄の許容は操作の {allowed} まで。超えた測定は無効"),
        "openload_no_drops": ("許容なし：1 件でも破棄された測定は無効"),
        "openload_lag": ("openload 自身の遅れが、使用するレイテンシーの {limit} を超えた測定は無効"),
        "openload_own": "操作あたりの CPU 時間 {cpu}、停止していた時間の割合 {pauses}、最長の停止 {longest}",
        "openload_hidden": "全操作の p99：送信すべき時刻から {intended}、送信した時刻から {service}",
        "openload_percentiles": "HdrHistogram（有効数字 3 桁）、1 秒・操作ごとに 1 つのヒストグラム",
        "openload_late_unasked": (
            "全操作の {statistic} では openload 自身が {late} 遅れ、レイテンシーは {latency} でした。"
            "このパーセンタイルを使うレポートはなく、使うべきでもありません"
        ),
        "openload_late_kept": (
            "openload 自身が遅れましたが、遅れは測定したレイテンシーに加わるだけであり、"
            "それを含めても約束は守られました。レイテンシーは上限値です（{said}）"
        ),
        "openload_dropped": (
            "送信すべき {n} 件のうち {dropped} 件が破棄されました（{share}）。これらはレイテンシーに含まれません"
        ),
        "openload_not_found": (
            "{n} 件の操作でレコードが見つからず、成功した {of} 件に含まれています。セカンダリから読むか、"
            "書き込みの確認応答を求めない場合、挿入直後のレコードである可能性があります"
        ),
        "openload_rmw": "read-modify-write は 1 操作として数え、その読み取りと更新は別に数えません",
        "openload_no_counters": "openload の出力に RocksDB の統計のカウンターがありません：{said}",
        "openload_ycsb_records": (
            "YCSB の RocksDB バインディングと同じ形式で、値は乱数。フィールドの更新は先にレコードを読み取る。"
            "ログなしでロードし、フラッシュしてコンパクション"
        ),
        "openload_db_bench_records": (
            "db_bench と同じ形式（キーは 16 バイト、値は半分に圧縮可能）。更新は読み取りを伴わない。"
            "ログなしでロードし、フラッシュしてコンパクション"
        ),
        "openload_statistics": "プローブ `database` のため有効（RocksDB のタイマーを含む）",
        "hint_openload_late": (
            "負荷生成器のホストに空きコアを用意してください。`arrivals` の `lag` を `lag: 50 %` などと大きくするか、"
            "クローズドループでは `arrivals = closed(stalls: 20 %)` と書いて、遅れの割合を許容することもできます"
        ),
        "hint_openload_late_lax": (
            "負荷を下げるか、クライアントのホストを増やすか、空きコアがあり他の処理の少ないマシンを使ってください"
        ),
        "hint_openload_drops": (
            "負荷を下げるか、`threads` を増やすか、`arrivals` に `queue: 10000, drops: 1 %` などと"
            "書いて破棄を許容してください"
        ),
    },
}

say_openload: OpenloadMessages = speaker(OpenloadMessages, _WORDS)
