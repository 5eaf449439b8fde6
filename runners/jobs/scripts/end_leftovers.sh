#!/bin/sh
# With `release`, the owner's claim goes too, unless jobs of it are left. With `keep`, its jobs stay. `kept` are
# directories that stay.
: "${owner?}" "${kept?}" "${grace?}" "${release?}" "${keep?}"
. parts/root.sh
. parts/locked.sh
. parts/tidy.sh
. parts/erase.sh
. parts/end_jobs.sh
[ -n "$keep" ] || end_jobs "$owner"
remove() {
    [ -n "$keep" ] || for d in "$root/$owner"-*; do is_kept "$d" || erase "$d"; done
    for left in "$root/$owner"-*; do [ -e "$left" ] && release=; done
    holder=
    [ -e "$root/claim" ] && read -r holder <"$root/claim"
    [ -z "$release" ] || [ "$holder" != "$owner" ] || rm -f -- "$root/claim"
    tidy
    exit 0
}
with_root remove
