#!/bin/sh
# A small btrfs in a file, on which `bench extensions try btrfs` tries the snapshots of the directory $1.
: "${real?}" "${kept?}"
above=${real%/*}
image=${above%/*}/image

place() {
    [ "$(id -u)" = 0 ] || { echo "only root can mount a btrfs"; return 1; }
    has mkfs.btrfs btrfs-progs || return 1
    grep -qw btrfs /proc/filesystems || modprobe -q btrfs 2>/dev/null || { echo "this kernel has no btrfs"; return 1; }
    said=$(truncate -s 1G -- "$image" && mkfs.btrfs -q -- "$image" 2>&1 && mkdir -p -- "$above" 2>&1 &&
        mount -o loop -- "$image" "$above" 2>&1) || { echo "no file can be mounted: $said"; return 1; }
}

theirs() { mkdir -- "$kept" && echo theirs >"$kept/theirs"; }

theirs_stay() { [ -f "$kept/theirs" ]; }

away() { ! mountpoint -q -- "$above" || umount -- "$above"; }
