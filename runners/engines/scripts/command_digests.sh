#!/bin/sh
# Prints a line for each file: its number among the arguments, and its digest. $1 is the working directory, "" for
# home, $2 a directory of our own, whose files are left out.
cd -- "${1:-$HOME}" || exit 0
own=$2; shift 2; number=0
for named do
    number=$((number + 1))
    # shellcheck disable=SC2088  # a tilde that stands in a command of the spec
    case $named in "~/"*) named=$HOME/${named#"~/"} ;; esac
    case $named in
        */*) file=$named ;;
        *) if [ -f "$named" ]; then file=$named; else file=$(command -v -- "$named") || continue; fi ;;
    esac
    file=$(readlink -f -- "$file") && [ -f "$file" ] && [ -r "$file" ] || continue
    case $file in
        /proc/* | /sys/* | /dev/* | /bin/* | /sbin/* | /lib/* | /usr/bin/* | /usr/sbin/* | /usr/lib/*) continue ;;
    esac
    [ -z "$own" ] || case $file in "$own"/*) continue ;; esac
    size=$(stat -c %s -- "$file") || continue
    if [ "$size" -le 67108864 ]; then
        sum=$(sha256sum <"$file") || continue
        echo "$number SHA-256 ${sum%% *}"
    else
        echo "$number $size B, changed at $(stat -c %Y -- "$file")"
    fi
done
