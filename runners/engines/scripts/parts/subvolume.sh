# The names beside the subvolume $1, and what scripts on subvolumes have in common.
: "${marker?}" "${snapshot?}" "${list?}"
PATH=$PATH:/usr/sbin:/sbin
real=$(readlink -m -- "$1")
# shellcheck disable=SC2034  # not every script needs all the names
{
    kept=$real.$snapshot
    fresh=$real.$marker.new
    old=$real.$marker.old
}

# Prints the names, sizes and times of the files in $1, which are ours.
files_in() (cd -- "$1" && find . -type f ! -name "$list" -printf '%P %s %T@\n' | LC_ALL=C sort)

# Removes the subvolume $1 if it is there, and waits until its room is free: the file system does that in the background,
# which would go on during a measurement.
drop() {
    [ -e "$1" ] || return 0
    [ -f "$1/$marker" ] || { echo "$1 is in the way, and was not made by benchbrief"; return 1; }
    id=$(btrfs inspect-internal rootid "$1" 2>&1) || { echo "$1 is in the way: $id"; return 1; }
    said=$(btrfs subvolume delete --commit-after "$1" 2>&1) || { echo "$1 can't be removed: $said"; return 1; }
    btrfs subvolume sync "${1%/*}" "$id" >/dev/null 2>&1 || return 0
}
