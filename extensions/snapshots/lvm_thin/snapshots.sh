#!/bin/sh
# Snapshots of the file system that is mounted at the directory $1, by LVM, of which it is a thin volume.
#
# A restore removes the volume and makes it again from its snapshot. The tags of the snapshot keep where and how it is
# mounted, and the volume's own tags, so that one that was cut short can be finished. LVM's tags have no commas.
: "${real?}" "${marker?}" "${snapshot?}"
export LVM_SUPPRESS_FD_WARNINGS=1
ours=benchbrief
at=$ours.at=$real
tools="lvs lvcreate lvchange lvremove mount umount"

# Runs a command as root.
root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

# Prints the attributes $1 of the volume $2.
field() { root lvs --noheadings --separator ' ' -o "$1" "$2" 2>/dev/null | sed 's/^ *//; q'; }

# Prints the tags of the volume $1, one a line.
tags() { field lv_tags "$1" | tr , '\n'; }

# Finds what is mounted at the directory, or was: the names of the volume, of its group and of its snapshot, and where the
# snapshot is mounted while it is looked at. Looks once.
kept=
find_volume() {
    [ -z "$kept" ] || return 0
    options=
    if mountpoint -q -- "$real"; then
        device=$(findmnt -rno SOURCE --mountpoint "$real" | tail -n 1)
        kind=$(findmnt -rno FSTYPE --mountpoint "$real" | tail -n 1)
        options=$(findmnt -rno OPTIONS --mountpoint "$real" | tail -n 1 | sed 's/,seclabel//; s/,/:/g')
        found=$(field vg_name,lv_name,pool_lv,segtype "$device")
        case $found in
            *' thin') ;;
            *) echo "$real is on $device, which is no thin volume of LVM: \`sudo lvs -S segtype=thin\` lists those"; return 1 ;;
        esac
    else
        found=$(field vg_name,lv_name,pool_lv "@$at")
        [ -n "$found" ] || {
            echo "$real is not where a file system is mounted: \`lvcreate -T -V SIZE -n NAME GROUP/POOL\`," \
                "\`mkfs.ext4 /dev/GROUP/NAME\`, \`mount /dev/GROUP/NAME $real\`"
            return 1
        }
    fi
    group=${found%% *}
    rest=${found#* }
    volume=${rest%% *}
    volume=${volume%."$snapshot"}
    rest=${rest#* }
    pool=$group/${rest%% *}
    kept=$group/$volume.$snapshot
    view=$(readlink -m -- /tmp)/$ours.$group.$volume.$(id -u)
}

can() {
    has lvs lvm2 || return 1
    case $real in
        *[!A-Za-z0-9_+.=/:#\&-]*) echo "$real has a character that LVM can't keep in a tag: name another \`path\`"; return 1 ;;
    esac
    may && find_volume && is_alone "$volume" || return 1
    health=$(field lv_health_status "$pool")
    [ -z "$health" ] || {
        echo "the thin pool $pool of $real is not well ($health): \`lvs -a $group\`, and \`lvextend -L +SIZE $pool\` if it is full"
        return 1
    }
    [ -n "$options" ] || return 0
    case $kind in
        ext4 | xfs) ;;
        *) echo "$real is $kind, and snapshots of LVM are made of ext4 and xfs: name a \`path\` with one of these"; return 1 ;;
    esac
    [ -w "$real" ] || { echo "$(id -un) can't write to $real: \`sudo chown $(id -un) $real\`"; return 1; }
}

# Whether nothing goes with the volume $1 of the group when it is removed, as its copy-on-write snapshots do, unasked.
is_alone() {
    others=$(root lvs --noheadings --separator ' ' -o lv_name,segtype,pool_lv -S "origin=\"$1\"" "$group" 2>/dev/null) ||
        { echo "what belongs to $group/$1 can't be listed: \`sudo lvs $group\` says why"; return 1; }
    others=$(printf '%s\n' "$others" | awk -v group="$group" -v pool="$pool" '
        NF && ($2 != "thin" || group "/" $3 != pool) { print group "/" $1 }' | sort -u | paste -s -d ' ' -)
    [ -z "$others" ] || {
        echo "$others would be lost with $group/$1, which is removed for each restore or load of $real:" \
            "\`sudo lvremove $others\` if nobody needs that, or name a \`path\` on another volume"
        return 1
    }
}

# Whether this user may run the commands of LVM as root.
may() {
    [ "$(id -u)" != 0 ] || return 0
    paths=
    for tool in $tools; do paths="$paths${paths:+, }$(command -v "$tool")"; done
    for tool in $tools; do
        sudo -n -l "$(command -v "$tool")" >/dev/null 2>&1 || {
            echo "$(id -un) may not run $tool as root: log in as root, or" \
                "\`echo '$(id -un) ALL=(root) NOPASSWD: $paths' | sudo tee /etc/sudoers.d/benchbrief\`"
            return 1
        }
    done
}

make() { echo "$real is not there: make the directory, and mount a thin volume of LVM at it"; return 1; }

# A volume that a restore has removed is made again, and mounted.
mend() {
    has lvs lvm2 && may && find_volume || return 1
    hide
    [ -z "$options" ] || return 0
    [ -n "$(field lv_name "$group/$volume")" ] || renew || return 1
    mounted
}

keep() {
    find_volume || return 1
    case $options in
        *[!A-Za-z0-9_+.=/:#\&-]*) echo "$real is mounted with options that LVM can't keep in a tag: $options"; return 1 ;;
    esac
    said=$(root lvcreate -q -y -s -p r -n "$volume.$snapshot" --addtag "$ours" --addtag "$at" \
        --addtag "$ours.with=$kind:$options" "$group/$volume" 2>&1) || { echo "$said" | first_error; return 1; }
}

# Prints where the snapshot was mounted for a moment.
show() {
    find_volume >/dev/null || return 1
    hide
    kind=$(with | cut -d , -f 1)
    case $kind in
        xfs) how=ro,norecovery,nouuid ;;
        ext4) how=ro,noload ;;
        *) return 1 ;;
    esac
    mkdir -m 700 -- "$view" && root lvchange -q -ay -K "$kept" >/dev/null 2>&1 &&
        root mount -t "$kind" -o "$how" "/dev/$kept" "$view" >/dev/null 2>&1 &&
        [ -f "$view/$marker" ] && printf '%s\n' "$view"
}

# Where someone else has mounted the snapshot, it stays so.
hide() {
    find_volume >/dev/null || return 0
    ! seen | grep -qxF "$view" || root umount -- "$view"
    [ ! -d "$view" ] || rmdir -- "$view"
    [ ! -e "/dev/$kept" ] || root lvchange -q -an "$kept" >/dev/null 2>&1 || return 0
}

# Prints where the snapshot is mounted.
seen() { [ ! -e "/dev/$kept" ] || findmnt -rno TARGET --source "/dev/$kept"; }

put_back() {
    find_volume && is_alone "$volume" && keep_tags || return 1
    said=$(root umount -- "$real" 2>&1) || ! findmnt -M "$real" >/dev/null ||
        { echo "$said: \`fuser -vm $real\` says who uses it"; return 1; }
    said=$(drop "$group/$volume") || {
        echo "$said: \`findmnt -S /dev/$group/$volume\` and \`lsof /dev/$group/$volume\` say who uses it"
        mounted
        return 1
    }
    renew && mounted
}

# Has the snapshot keep the tags that the volume has now.
keep_tags() {
    for tag in $(tags "$kept" | grep "^$ours\.tag="); do change_tag --deltag "$tag" || return 1; done
    for tag in $(tags "$group/$volume"); do change_tag --addtag "$ours.tag=$tag" || return 1; done
}

change_tag() {
    said=$(root lvchange -q "$1" "$2" "$kept" 2>&1) || { echo "$said" | first_error; return 1; }
}

# Removes the volume $1, which is alone, or says why not. LVM removes nothing that is in use.
drop() {
    said=$(root lvchange -q -an "$1" 2>&1 </dev/null && root lvremove -q "$1" 2>&1 </dev/null) ||
        { echo "$said" | first_error; return 1; }
}

# Waits until udev has announced each device: systemd unmounts what is mounted when it hears late of a device's removal.
settle() { ! command -v udevadm >/dev/null || udevadm settle -t 30 >/dev/null 2>&1 || :; }

# Makes the volume again from its snapshot.
renew() {
    set --
    for tag in $(tags "$kept" | sed -n "s/^$ours\.tag=//p"); do set -- "$@" --addtag "$tag"; done
    said=$(root lvcreate -q -y -s -k n -p rw -n "$volume" "$@" "$kept" 2>&1) || { echo "$said" | first_error; return 1; }
}

# Mounts the volume as it was mounted when its snapshot was taken.
mounted() {
    root lvchange -q -ay "$group/$volume" >/dev/null 2>&1
    settle
    how=$(with)
    said=$(root mount -t "${how%%,*}" -o "${how#*,}" "/dev/$group/$volume" "$real" 2>&1) || { echo "$said"; return 1; }
}

# Prints the kind of file system and the options of its mount, by the tags of the snapshot.
with() { tags "$kept" | sed -n "s/^$ours\.with=//p" | tr : ,; }

is_ours() { tags "$kept" | grep -qxF "$ours"; }

forget() {
    find_volume >/dev/null && [ -n "$(field lv_name "$kept")" ] || return 0
    is_ours || {
        echo "$kept is in the way, and was not made by benchbrief: \`sudo lvrename $kept NAME\` if it is needed," \
            "or \`sudo lvremove $kept\`"
        return 1
    }
    hide
    looking=$(seen | paste -s -d ' ' -)
    [ -z "$looking" ] || { echo "$kept is mounted at $looking: \`sudo umount $looking\`"; return 1; }
    is_alone "$volume.$snapshot" || return 1
    said=$(drop "$kept") || { echo "$kept can't be removed: $said"; return 1; }
}

# LVM says much before it says what is wrong.
first_error() { grep -v WARNING | sed 's/^ *//; q'; }

# The file system does not know how much room is in the pool.
free() {
    find_volume >/dev/null
    left=$(root lvs --noheadings --nosuffix --units k --separator ' ' -o lv_size,data_percent "$pool" |
        awk '{ printf "%.0f", $1 * (100 - $2) / 100 }')
    df -Pk -- "$real" | awk -v left="$left" 'NR == 2 { print (left < $4 ? left : $4), $2 }'
}
