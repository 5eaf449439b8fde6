#!/bin/sh
# Makes the directory $1 ours: it is made or empty, or has our marker already.
: "${marker?}"
d=$1
case $d in /*) ;; *) echo "$d is not an absolute path"; exit 1 ;; esac
mkdir -p -- "$d" 2>/dev/null && [ -d "$d" ] || { echo "$d can't be made"; exit 1; }
real=$(readlink -f -- "$d")
home=$(readlink -f -- "${HOME:-/}")
case $real in
    / | "$home") echo "$d is $([ "$real" = / ] && echo "the root directory" || echo "a home directory")"; exit 1 ;;
esac
[ -w "$d" ] || { echo "$d can't be written"; exit 1; }
if [ ! -f "$d/$marker" ]; then
    # shellcheck disable=SC2010  # one name is quoted, and none is used
    other=$(ls -A -- "$d" | grep -vxF lost+found | head -n 1)
    [ -z "$other" ] || { echo "$d is not empty ($other), and was not made by benchbrief"; exit 1; }
    : >"$d/$marker" || exit 1
fi
