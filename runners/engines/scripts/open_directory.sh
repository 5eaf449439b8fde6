#!/bin/sh
# Makes the directory $1 ours: it is made or empty, or has our marker already. With `look` as $2, it only says what would
# keep it from that, and changes nothing; one that is not there yet would be made.
: "${marker?}"
d=$1
case $d in /*) ;; *) echo @directory_relative; exit 1 ;; esac
if [ "${2-}" = look ]; then
    [ -e "$d" ] || exit 0
else
    mkdir -p -- "$d" 2>/dev/null
fi
[ -d "$d" ] || { echo @directory_unmade; exit 1; }
real=$(readlink -f -- "$d")
home=$(readlink -f -- "${HOME:-/}")
case $real in
    /) echo @directory_root; exit 1 ;;
    "$home") echo @directory_home; exit 1 ;;
esac
[ -w "$d" ] || { echo @directory_readonly; exit 1; }
if [ ! -f "$d/$marker" ]; then
    # shellcheck disable=SC2010  # one name is quoted, and none is used
    other=$(ls -A -- "$d" | grep -vxF lost+found | head -n 1)
    [ -z "$other" ] || { echo "@directory_taken $other"; exit 1; }
    [ "${2-}" = look ] || : >"$d/$marker" || exit 1
fi
