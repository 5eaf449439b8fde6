#!/bin/sh
# `write_claim SINCE CHECKED` writes a claim that all can read, completely or not at all. `CHECKED` says that no other
# user's claim was there after ours.
write_claim() {
    (umask 022 && printf '%s\n%s\n%s\n' "$claimed" "$1" "$2" >"$root/claim.new") &&
        mv -- "$root/claim.new" "$root/claim"
}
