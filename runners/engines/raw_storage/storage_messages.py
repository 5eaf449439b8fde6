"""What the engine says of a file or a device, with its words in each language."""

from __future__ import annotations

from typing import Protocol

from benchbrief.compiler.messages.text import OwnWords, Text, speaker


class StorageMessages(Protocol):
    def no_database(self) -> Text: ...
    def storage_gone(self, *, place: object, host: object) -> Text: ...
    def hint_storage_gone(self) -> Text: ...
    def layout_short(self, *, place: object, host: object, found: object, wanted: object) -> Text: ...
    def hint_layout(self) -> Text: ...


_WORDS: OwnWords = {
    "en": {
        "no_database": "none: the load generator reads and writes the storage itself",
        "storage_gone": "{place} on {host} is gone",
        "hint_storage_gone": "was it removed, or its file system unmounted?",
        "layout_short": "{place} on {host} has {found} bytes after the layout, and {wanted} are wanted",
        "hint_layout": "is there room? The output of the step `load` says more",
    },
    "ja": {
        "no_database": "なし（負荷生成ツールがストレージを直接読み書き）",
        "storage_gone": "{host} の {place} がなくなりました",
        "hint_storage_gone": "削除されたか、ファイルシステムがアンマウントされていませんか",
        "layout_short": "{host} の {place} は作成後 {found} バイトで、必要なのは {wanted} バイトです",
        "hint_layout": "空き容量を確認してください。詳細は `load` ステップの出力にあります",
    },
}

say_storage: StorageMessages = speaker(StorageMessages, _WORDS)
