#!/bin/sh
# A small group of volumes in a file, on which `bench extensions try lvm_thin` tries the snapshots of the directory $1.
: "${real?}" "${snapshot?}"
room=${real%/*/*}
image=$room/image
mine=bench_try_$(printf %s "$image" | cksum | cut -d' ' -f1) # another's group has another name

place() {
    [ "$(id -u)" = 0 ] || { echo "only root can make volumes"; return 1; }
    has lvcreate lvm2 && has thin_check thin-provisioning-tools || return 1
    modprobe -q dm-thin-pool 2>/dev/null
    dmsetup targets 2>/dev/null | grep -q '^thin-pool' || { echo "this kernel has no thin pools (dm-thin-pool)"; return 1; }
    said=$({
        truncate -s 1G -- "$image" && loop=$(losetup -f --show -- "$image") && vgcreate -q "$mine" "$loop" &&
            lvcreate -q -y -T -L 800M "$mine/pool" && lvcreate -q -y -T -V 400M -n db "$mine/pool" &&
            mkfs.ext4 -q "/dev/$mine/db" && mkdir -p -- "$real" && mount -- "/dev/$mine/db" "$real"
    } 2>&1) || { echo "no volume can be made in a file: $said"; return 1; }
}

theirs() { lvcreate -q -y -s -n "db.$snapshot" "$mine/db" >/dev/null 2>&1; }

theirs_stay() { lvs "$mine/db.$snapshot" >/dev/null 2>&1; }

away() {
    ! mountpoint -q -- "$real" || umount -- "$real" || return 1
    for loop in $(losetup -nO NAME -j "$image"); do
        [ "$(pvs --noheadings -o vg_name "$loop" 2>/dev/null | tr -d ' ')" != "$mine" ] ||
            vgremove -q -y -f "$mine" >/dev/null 2>&1 || return 1
        losetup -d "$loop" || return 1
    done
}
