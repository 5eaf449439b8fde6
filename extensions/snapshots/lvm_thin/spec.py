from benchbrief.extend.spec import SnapshotSpec

SPEC = SnapshotSpec(
    api=3,
    name="lvm_thin",
    label="LVM",
    doc="A thin volume of LVM is put back before each cell, in no time and without room.",
    implementation="benchbrief.extensions.snapshots.lvm_thin",
    described={
        "en": (
            "data loaded once, and the volume (LVM thin) made again from its snapshot and mounted before each "
            "measurement (the page cache holds nothing of it; the first write to a chunk that the snapshot shares "
            "copies it or takes a new one; the fragmentation of the pool and the state of the device are not "
            "restored)"
        ),
        "ja": (
            "データは一度ロードし、各測定の前にボリューム（LVMシン）をスナップショットから作り直してマ"
            "ウント（ページキャッシュには残らない。スナップショットと共有するチャンクへの最初の書き込みは"
            "、コピーまたは新しいチャンクの割り当てを伴う。プールの断片化とデバイスの状態は復元しない）"
        ),
    },
    restore_s=3.0,
)
