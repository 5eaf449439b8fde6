#!/bin/sh
# Snapshots of the directory $1 by btrfs, of which it is a subvolume. The snapshot lies beside it, as do, for a moment,
# the directory's successor and predecessor while it is restored.
: "${real?}" "${marker?}" "${snapshot?}"
kept=$real.$snapshot
fresh=$real.$marker.new
old=$real.$marker.old

can() {
    place=$(there "$real")
    is_on "$place" btrfs btrfs btrfs-progs || return 1
    if [ -e "$real" ]; then
        [ "$(stat -c %i -- "$real")" = 256 ] ||
            { echo "$real is no btrfs subvolume: remove it if it is empty, and it is made as one"; return 1; }
        ! mountpoint -q -- "$real" ||
            { echo "$real is where a file system is mounted, which can't be replaced: name a path below it"; return 1; }
        place=$(dirname -- "$real")
    fi
    [ -w "$place" ] || { echo "$place can't be written, and snapshots lie beside $real"; return 1; }
    [ "$(id -u)" = 0 ] || findmnt -rno OPTIONS --target "$place" | grep -q user_subvol_rm_allowed || {
        echo "$(id -un) may not remove subvolumes: log in as root, or" \
            "\`sudo mount -o remount,user_subvol_rm_allowed $(findmnt -rno TARGET --target "$place")\`"
        return 1
    }
}

make() {
    mkdir -p -- "${real%/*}" && said=$(btrfs subvolume create "$real" 2>&1) || { echo "$real can't be made: $said"; return 1; }
}

# Between the two renames of a restore, the predecessor is put back.
mend() {
    [ -e "$real" ] || [ ! -f "$old/$marker" ] || mv -T -- "$old" "$real" || return 1
    drop "$fresh" && drop "$old"
}

keep() {
    said=$(btrfs subvolume snapshot -r "$real" "$kept" 2>&1) || { echo "$said"; return 1; }
}

show() { [ -f "$kept/$marker" ] && printf '%s\n' "$kept"; }

hide() { :; }

put_back() {
    said=$(btrfs subvolume snapshot "$kept" "$fresh" 2>&1) || { echo "$said"; return 1; }
    [ ! -e "$real" ] || mv -T -- "$real" "$old" || return 1
    mv -T -- "$fresh" "$real" && sync -f "$real" && drop "$old"
}

forget() { drop "$kept"; }

# The file system frees room in the background, which would go on during a measurement.
drop() {
    [ -e "$1" ] || return 0
    [ -f "$1/$marker" ] || { echo "$1 is in the way, and was not made by benchbrief: move or remove it"; return 1; }
    id=$(btrfs inspect-internal rootid "$1" 2>&1) || { echo "$1 is in the way: $id"; return 1; }
    said=$(btrfs subvolume delete --commit-after "$1" 2>&1) || { echo "$1 can't be removed: $said"; return 1; }
    btrfs subvolume sync "${1%/*}" "$id" >/dev/null 2>&1 || return 0
}

free() { df -Pk -- "$real" | awk 'NR == 2 { print $4, $2 }'; }
