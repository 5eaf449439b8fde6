#!/bin/sh
# Names whole disks, which have a device behind them; partitions, loops, RAM disks and mapped devices would count twice.
printf disks
for e in /sys/block/*; do
    case ${e##*/} in loop*|ram*|zram*|sr*|fd*|dm-*|md*) continue;; esac
    [ -e "$e/device" ] && printf ' %s' "${e##*/}"
done
echo
