#!/bin/sh
# `keep_claim` checks the run's claim of the host. It does nothing when the claim is ours, makes it again when it went
# away with the root, and ends the script when it is another run's. Ours is void, too, when it was silent for so long
# that another user, who can't remove it, has claimed the host.
. ./foreign.sh
. ./write_claim.sh
keep_claim() {
    holder= about_holder= void= since= user=
    [ -e "$root/claim" ] && { read -r holder; read -r about_holder; read -r void; read -r since; } <"$root/claim"
    if [ "$holder" = "$owner" ]; then
        [ "$(quiet "$owner")" -gt "$void" ] && foreign || return 0
    fi
    [ -n "$holder" ] || foreign || holder=
    if [ -n "$holder" ]; then printf 'held\n%s\n%s\n%s\n' "$about_holder" "$since" "$user"; exit 1; fi
    write_claim "$(date +%s)" checked
}
