from benchbrief.extend.spec import SnapshotSpec

SPEC = SnapshotSpec(
    api=3,
    name="btrfs",
    label="btrfs",
    doc="A btrfs snapshot is put back before each cell, in no time and without room.",
    implementation="benchbrief.extensions.snapshots.btrfs",
    described={
        "en": (
            "data loaded once, and a snapshot by the file system (btrfs) put back before each measurement (its "
            "files are new to the page cache, which holds nothing of them; the fragmentation of the free space "
            "and the state of the device are not restored)"
        ),
        "ja": (
            "データは一度ロードし、各測定の前にファイルシステム（btrfs）のスナップショットから復元（"
            "ファイルはページキャッシュにとって新しく、キャッシュには残らない。空き領域の断片化とデバイス"
            "の状態は復元しない）"
        ),
    },
    restore_s=2.0,
)
