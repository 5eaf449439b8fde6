"""What the driver of fio says of a measurement, with its words in each language."""

from __future__ import annotations

from typing import Protocol

from benchbrief.compiler.messages.text import OwnWords, Text, speaker


class FioMessages(Protocol):
    def fio_percentiles(self) -> Text: ...
    def fio_completion(self) -> Text: ...
    def fio_submitted(self) -> Text: ...
    def fio_cut(self, *, said: object) -> Text: ...
    def fio_job_failed(self, *, job: object, code: object, said: object) -> Text: ...
    def fio_steady(self, *, criterion: object, asked: object, seconds: object) -> Text: ...
    def fio_not_steady(self, *, criterion: object, asked: object, seconds: object) -> Text: ...
    def fio_never_steady(self) -> Text: ...
    def fio_depth(self, *, depth: object, most: object, share: object, target: object) -> Text: ...
    def fio_beyond_buckets(self) -> Text: ...
    def fio_layout_cut(self, *, said: object) -> Text: ...


_WORDS: OwnWords = {
    "en": {
        "fio_percentiles": "interpolated in fio's buckets, each at most 1.6 % wide",
        "fio_completion": "service, from the submission of an I/O to its completion",
        "fio_submitted": (
            "service, from the submission of an I/O to its completion: a wait in fio for a free place in the queue is "
            "not counted, even where the load is offered"
        ),
        "fio_cut": "fio's JSON is not whole: {said}",
        "fio_job_failed": "fio's job {job} ended with error {code}: {said}",
        "fio_steady": "attained: {criterion} over {seconds} s, {asked} asked",
        "fio_not_steady": "not attained: {criterion} over {seconds} s, {asked} asked",
        "fio_never_steady": (
            "fio's own steady state was not attained within the measured time; measure for a longer time, or allow a "
            "larger `steady_slope`"
        ),
        "fio_depth": "a queue depth of {depth}, of at most {most}, for {share} of the I/Os within {target}",
        "fio_beyond_buckets": "Some latencies are above 17.2 s, where fio's buckets end; percentiles there are too low",
        "fio_layout_cut": "fio did not finish its layout: {said}",
    },
    "ja": {
        "fio_percentiles": "fio のバケット（幅は最大 1.6 %）内で補間",
        "fio_completion": "サービス時間（I/O の発行から完了まで）",
        "fio_submitted": (
            "サービス時間（I/O の発行から完了まで）。負荷を与える場合も、キューの空きを fio 内で待つ時間は含まれません"
        ),
        "fio_cut": "fio の JSON が完全ではありません：{said}",
        "fio_job_failed": "fio のジョブ {job} がエラー {code} で終了しました：{said}",
        "fio_steady": "達成：{seconds} 秒間で {criterion}（指定は {asked}）",
        "fio_not_steady": "未達成：{seconds} 秒間で {criterion}（指定は {asked}）",
        "fio_never_steady": (
            "計測時間内に fio の定常状態に達しませんでした。計測時間を延ばすか、`steady_slope` を大きくしてください"
        ),
        "fio_depth": "キューの深さ {depth}（最大 {most}）で、I/O の {share} が {target} 以内",
        "fio_beyond_buckets": (
            "fio のバケットの上限 17.2 秒を超えるレイテンシーがあり、その範囲のパーセンタイルは実際より低くなります"
        ),
        "fio_layout_cut": "fio のファイル作成が完了しませんでした：{said}",
    },
}

say_fio: FioMessages = speaker(FioMessages, _WORDS)
