#!/bin/sh
# Snapshots of the directory $1 by ZFS, of which it is a dataset. A rollback is whole or did not happen.
: "${real?}" "${marker?}" "${snapshot?}"

# Finds the name of the dataset that is mounted at the directory, as a whole.
find_dataset() {
    name=$(zfs list -Ho name -- "$real" 2>/dev/null) &&
        [ "$(findmnt -nlo SOURCE --mountpoint "$real" | tail -n 1)" = "$name" ] ||
        { echo "$real is not where a dataset of ZFS is mounted"; return 1; }
}

# Prints the name of the dataset that belongs to the directory, but is not mounted.
unmounted() {
    zfs list -Ho canmount,mounted,mountpoint,name -t filesystem |
        awk -F '\t' -v at="$real" '$1 != "off" && $2 == "no" && $3 == at { print $4; exit }'
}

can() {
    if find_dataset >/dev/null; then
        [ "$(zfs get -Ho value snapdir -- "$name")" = hidden ] ||
            { echo "$name shows its snapshots as files in $real: \`sudo zfs set snapdir=hidden $name\`"; return 1; }
        may "$name"
        return
    fi
    absent=$(unmounted 2>/dev/null)
    [ -z "$absent" ] || { echo "$absent, which belongs to $real, is not mounted: \`sudo zfs mount $absent\`"; return 1; }
    place=$(there "$real")
    is_on "$place" zfs zfs zfsutils-linux || return 1
    said=$(zfs list -Ho name -- "$place" 2>&1) || { echo "$said"; return 1; }
    [ ! -e "$real" ] || {
        ! mountpoint -q -- "$real" || {
            echo "$real is a directory of $said that is mounted here, and snapshots are of whole datasets:" \
                "\`sudo zfs create $said/NAME\`, and name its directory as the \`path\`"
            return 1
        }
        echo "$real is no dataset of ZFS, but a directory of $said: remove it if it is empty, and it is made as one"
        return 1
    }
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
    new=$(zfs list -Ho name -- "$(dirname -- "$real")" 2>&1)/$(basename -- "$real")
    said=$(zfs create -- "$new" 2>&1) || { echo "$real can't be made: $said"; return 1; }
    mountpoint -q -- "$real" || { echo "$new was made, but is not mounted at $real: \`zfs get mountpoint $new\`"; return 1; }
}

mend() { :; }

keep() {
    find_dataset || return 1
    said=$(zfs snapshot -- "$name@$snapshot" 2>&1) || { echo "$said"; return 1; }
}

show() { find_dataset >/dev/null && [ -f "$real/.zfs/snapshot/$snapshot/$marker" ] && printf '%s\n' "$real/.zfs/snapshot/$snapshot"; }

hide() { :; }

# What was replaced is freed in the background, which would go on during a measurement.
put_back() {
    find_dataset || return 1
    later=$(zfs list -Hrt snapshot -d 1 -o name -s createtxg -- "$name" |
        awk -v ours="$name@$snapshot" 'seen { print } $0 == ours { seen = 1 }' | paste -s -d ' ' -)
    [ -z "$later" ] || {
        echo "$later was taken after the snapshot of $real, and a rollback would destroy it:" \
            "\`sudo zfs destroy\` it if nobody needs it, or name another \`path\`"
        return 1
    }
    said=$(zfs rollback -- "$name@$snapshot" 2>&1) || { echo "$said"; return 1; }
    zpool wait -t free -- "${name%%/*}" >/dev/null 2>&1 || return 0
}

forget() {
    find_dataset >/dev/null && zfs list -Ho name -- "$name@$snapshot" >/dev/null 2>&1 || return 0
    show >/dev/null || {
        echo "$name@$snapshot is in the way, and was not made by benchbrief:" \
            "\`sudo zfs rename $name@$snapshot $name@NAME\` if it is needed, or \`sudo zfs destroy $name@$snapshot\`"
        return 1
    }
    said=$(zfs destroy -- "$name@$snapshot" 2>&1) || { echo "$name@$snapshot can't be removed: $said"; return 1; }
    zpool wait -t free -- "${name%%/*}" >/dev/null 2>&1 || return 0
}

free() { df -Pk -- "$real" | awk 'NR == 2 { print $4, $2 }'; }
