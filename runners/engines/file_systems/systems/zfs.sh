#!/bin/sh
# Snapshots of the directory $1 by ZFS, of which it is a dataset. A rollback is whole or did not happen.
. ../parts/names.sh

dataset() { zfs list -Ho name -- "$real"; }

can() {
    place=$(there "$real")
    is_on "$place" zfs zfs zfsutils-linux || return 1
    said=$(zfs list -Ho name -- "$place" 2>&1) || { echo "$said"; return 1; }
    if [ -e "$real" ]; then
        mountpoint -q -- "$real" || {
            echo "$real is no dataset of ZFS, but a directory of $said: remove it if it is empty, and it is made as one"
            return 1
        }
        [ "$(zfs get -Ho value snapdir -- "$said")" = hidden ] ||
            { echo "$said shows its snapshots as files in $real: \`sudo zfs set snapdir=hidden $said\`"; return 1; }
        may "$said"
    else
        [ "$place" = "$(dirname -- "$real")" ] && mountpoint -q -- "$place" || {
            echo "$real is not there, and can't be made, as $(dirname -- "$real") is no dataset of ZFS:" \
                "\`sudo zfs create -o mountpoint=$real $said/$(basename -- "$real")\`"
            return 1
        }
        [ "$(id -u)" = 0 ] || {
            echo "$real is not there, and only root can make it:" \
                "\`sudo zfs create $said/$(basename -- "$real") && sudo chown $(id -un) $real &&" \
                "sudo zfs allow -u $(id -un) $needed $said/$(basename -- "$real")\`"
            return 1
        }
    fi
}

# Whether this user may use snapshots of the dataset $1. A set of permissions (@name) is taken for enough.
needed=destroy,mount,rollback,snapshot
may() {
    [ "$(id -u)" != 0 ] || return 0
    [ -w "$real" ] || { echo "$(id -un) can't write to $real: \`sudo chown $(id -un) $real\`"; return 1; }
    allowed=$(zfs allow -- "$1" 2>/dev/null | awk -v user="$(id -un)" -v groups=" $(id -Gn) " '
        $1 == "user" && $2 == user || $1 == "group" && index(groups, " " $2 " ") { print "," $3 "," }
        $1 == "everyone" { print "," $2 "," }')
    for word in $(echo "$needed" | tr , ' '); do
        case $allowed in
            *,"$word",* | *,@*) ;;
            *) echo "$(id -un) may not use snapshots of $1 ($word): \`sudo zfs allow -u $(id -un) $needed $1\`"; return 1 ;;
        esac
    done
}

make() {
    new=$(zfs list -Ho name -- "$(dirname -- "$real")")/$(basename -- "$real")
    said=$(zfs create -- "$new" 2>&1) || { echo "$real can't be made: $said"; return 1; }
    mountpoint -q -- "$real" || { echo "$new was made, but is not mounted at $real: \`zfs get mountpoint $new\`"; return 1; }
}

mend() { :; }

keep() {
    said=$(zfs snapshot -- "$(dataset)@$snapshot" 2>&1) || { echo "$said"; return 1; }
}

show() { [ -f "$real/.zfs/snapshot/$snapshot/$marker" ] && printf '%s\n' "$real/.zfs/snapshot/$snapshot"; }

hide() { :; }

# What was replaced is freed in the background, which would go on during a measurement.
put_back() {
    name=$(dataset) || return 1
    later=$(zfs list -Hrt snapshot -d 1 -o name -s createtxg -- "$name" |
        awk -v ours="$name@$snapshot" 'seen { print } $0 == ours { seen = 1 }' | paste -s -d ' ' -)
    [ -z "$later" ] || {
        echo "$later was taken after the snapshot of $real, and a rollback would destroy it: \`zfs destroy\` it by hand"
        return 1
    }
    said=$(zfs rollback -- "$name@$snapshot" 2>&1) || { echo "$said"; return 1; }
    zpool wait -t free -- "${name%%/*}" >/dev/null 2>&1 || return 0
}

forget() {
    name=$(dataset 2>/dev/null) && zfs list -Ho name -- "$name@$snapshot" >/dev/null 2>&1 || return 0
    show >/dev/null || { echo "$name@$snapshot is in the way, and was not made by benchbrief"; return 1; }
    said=$(zfs destroy -- "$name@$snapshot" 2>&1) || { echo "$name@$snapshot can't be removed: $said"; return 1; }
    zpool wait -t free -- "${name%%/*}" >/dev/null 2>&1 || return 0
}

free() { df -Pk -- "$real" | awk 'NR == 2 { print $4, $2 }'; }
