#!/bin/sh
# What the owner's claim says to people.
: "${owner?}"
. parts/root.sh
[ -e "$root/claim" ] && { read -r holder; read -r about; } <"$root/claim" && [ "$holder" = "$owner" ] || exit 0
printf '%s\n' "$about"
