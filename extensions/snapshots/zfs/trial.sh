#!/bin/sh
# A small pool of ZFS in a file, on which `bench extensions try zfs` tries the snapshots of the directory $1.
: "${real?}" "${snapshot?}"
above=${real%/*}
image=${above%/*}/image
tank=bench-try-$(printf %s "$image" | cksum | cut -d' ' -f1) # another's pool has another name

place() {
    [ "$(id -u)" = 0 ] || { echo "only root can make a pool of ZFS"; return 1; }
    has zpool zfsutils-linux || return 1
    grep -qw zfs /proc/filesystems || modprobe -q zfs 2>/dev/null || { echo "this kernel has no zfs (package zfs-dkms)"; return 1; }
    said=$(truncate -s 1G -- "$image" && zpool create -m "$above" "$tank" "$image" 2>&1) ||
        { echo "no pool can be made in a file: $said"; return 1; }
}

theirs() { zfs snapshot "$tank/${real##*/}@$snapshot"; }

theirs_stay() { zfs list -t snapshot "$tank/${real##*/}@$snapshot" >/dev/null; }

is_ours() { zpool list -vHP "$tank" 2>/dev/null | grep -qF -- "$image"; }

away() { ! is_ours || zpool destroy -f "$tank"; }
