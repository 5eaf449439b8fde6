"""What the engine says of a file or a device. The words are in `words/`, one file a language."""

from __future__ import annotations

from typing import Protocol

from benchbrief.compiler.messages.text import Text, speaker


class StorageMessages(Protocol):
    def no_database(self) -> Text: ...
    def storage_gone(self, *, place: object, host: object) -> Text: ...
    def hint_storage_gone(self) -> Text: ...
    def layout_short(self, *, place: object, host: object, found: object, wanted: object) -> Text: ...
    def hint_layout(self) -> Text: ...


say_storage: StorageMessages = speaker(StorageMessages)
