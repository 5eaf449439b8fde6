#!/bin/sh
# `quiet OWNER [ROOT]` prints for how many seconds an owner has shown no sign of life. For a sign of an earlier boot, or
# without one, that is the host's uptime. Another user's sign is read only up to a limit.
quiet() {
    read -r up rest </proc/uptime
    read -r boot </proc/sys/kernel/random/boot_id
    then=0 its= said=
    if [ -n "$2" ]; then
        [ -f "$2/$1.alive" ] && said=$(timeout 5 head -c 200 -- "$2/$1.alive" | head -n 1)
    elif [ -f "$root/$1.alive" ]; then
        read -r said <"$root/$1.alive"
    fi
    read -r _ its then rest <<END
$said
END
    [ "$its" = "$boot" ] || then=0
    case ${then%.*} in '' | *[!0-9]* | ????????????*) then=0 ;; esac
    echo $((${up%.*} - ${then%.*}))
}
