#!/bin/sh
# Other users may read the sign of life and the claim, so that everybody sees who holds a host. They may read nothing
# else here.
#
# The content changes each time by the controller's word. It holds the boot and the time since, which give the sign's
# age whatever the clock does. Its length stays the same and it is written in place, so it needs no free space.
sign() {
    read -r up rest </proc/uptime
    read -r boot </proc/sys/kernel/random/boot_id
    (umask 022 && printf '%s %s %16s\n' "$token" "$boot" "$up" 1<>"$root/$owner.alive")
}
