#!/bin/sh
# Changes the owner's sign of life, and checks its claim.
: "${owner?}" "${token?}" "${claimed?}"
. parts/root.sh
. parts/locked.sh
. parts/sign.sh
. parts/keep_claim.sh
beat() {
    [ -z "$claimed" ] || ! [ -e "$root/claim" ] || keep_claim
    [ -e "$root/$owner.alive" ] && sign
    exit 0
}
with_root beat
