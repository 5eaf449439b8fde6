#!/bin/sh
# Checks that the block device $1 may be destroyed, and has at least $2 bytes. Changes nothing.
#
# Prints the size in bytes and ends with 0, or prints why not and ends with 1.
PATH=$PATH:/usr/sbin:/sbin
refuse() { echo "$1"; exit 1; }
[ -e "$1" ] || refuse "$1 does not exist"
device=$(readlink -f -- "$1")
[ -b "$device" ] || refuse "$1 is not a block device"
name=${device##*/}
sys=/sys/class/block/$name
[ -r "$sys/dev" ] || refuse "the kernel does not list $device in /sys/class/block"
number=$(cat "$sys/dev")
mounted=$(awk -v number="$number" '$3 == number { print $5; exit }' /proc/self/mountinfo) ||
    refuse "/proc/self/mountinfo can't be read"
[ -z "$mounted" ] || refuse "$device is mounted on $mounted"
if awk -v device="$device" 'NR > 1 && $1 == device { found = 1 } END { exit !found }' /proc/swaps; then
    refuse "$device is used as swap"
fi
for part in "$sys"/*/partition; do
    [ ! -e "$part" ] || refuse "$device has partitions"
done
for holder in "$sys"/holders/*; do
    [ ! -e "$holder" ] || refuse "$device is used by ${holder##*/}"
done
[ "$(cat "$sys/ro")" = 0 ] || refuse "$device is read-only"
[ -r "$device" ] && [ -w "$device" ] || refuse "$device can't be read and written by $(id -un)"
command -v blkid >/dev/null || refuse "blkid is not installed, so nobody can say whether $device has data"
found=$(blkid -p -o export -- "$device" 2>&1)
case $? in
    2) ;;  # it found no signature
    0 | 8) refuse "$device has data: $(echo "$found" | grep -E '^(TYPE|PTTYPE|LABEL|USAGE)=|ambivalent' | tr '\n' ' ')" ;;
    *) refuse "blkid can't look at $device: $found" ;;
esac
bytes=$(($(cat "$sys/size") * 512))
[ "$bytes" -ge "$2" ] || refuse "$device has $bytes bytes, and the size of the database is $2"
echo "$bytes"
