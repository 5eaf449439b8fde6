# Ends with 1, and says why, when there can be no snapshots of the subvolume $1. It may still have to be made.
place=$real
while [ ! -e "$place" ]; do place=$(dirname -- "$place"); done
system=$(stat -f -c %T -- "$place")
[ "$system" = btrfs ] || { echo "$place is on $system, and not on btrfs"; exit 1; }
command -v btrfs >/dev/null || { echo "the command btrfs is not there (package btrfs-progs)"; exit 1; }
if [ -e "$real" ]; then
    [ "$(stat -c %i -- "$real")" = 256 ] ||
        { echo "$real is no btrfs subvolume: remove it if it is empty, and it is made as one"; exit 1; }
    [ -z "$(findmnt -rn --mountpoint "$real" 2>/dev/null)" ] ||
        { echo "$real is where a file system is mounted, which can't be replaced: name a path below it"; exit 1; }
    place=$(dirname -- "$real")
fi
[ -w "$place" ] || { echo "$place can't be written, and snapshots lie beside $real"; exit 1; }
[ "$(id -u)" = 0 ] || findmnt -rno OPTIONS --target "$place" | grep -q user_subvol_rm_allowed || {
    echo "$(id -un) may not remove subvolumes: log in as root, or mount $place with user_subvol_rm_allowed"
    exit 1
}
