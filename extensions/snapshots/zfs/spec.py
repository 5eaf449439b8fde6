from benchbrief.extend.spec import SnapshotSpec

SPEC = SnapshotSpec(
    api=3,
    name="zfs",
    label="ZFS",
    doc="A ZFS dataset is rolled back before each cell, in no time and without room.",
    implementation="benchbrief.extensions.snapshots.zfs",
    described={
        "en": (
            "data loaded once, and the file system (ZFS) rolled back to its snapshot before each measurement (the "
            "ARC may still hold parts of the data; the fragmentation of the pool and the state of the device are "
            "not restored)"
        ),
        "ja": (
            "データは一度ロードし、各測定の前にファイルシステム（ZFS）をスナップショットへロールバック"
            "（ARC にデータの一部が残ることがある。プールの断片化とデバイスの状態は復元しない）"
        ),
    },
    restore_s=2.0,
)
