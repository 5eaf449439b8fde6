#!/bin/sh
# An owner without jobs and claims leaves nothing in the root, and a root without owners is removed.
tidy() {
    for left in "$root/$owner"-*; do [ -e "$left" ] && return; done
    holder=
    [ -e "$root/claim" ] && read -r holder <"$root/claim"
    [ "$holder" = "$owner" ] && return
    rm -f -- "$root/$owner.alive"
    rmdir -- "$root" 2>/dev/null
}
