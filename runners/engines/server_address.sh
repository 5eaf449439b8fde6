#!/bin/sh
# Prints the name $1 if the host knows itself by it, else the address at which SSH reached it.
#
# SSH_CONNECTION is: the client's address and port, the server's address and port. An IPv6 address may need a zone.
if getent hosts "$1" >/dev/null 2>&1; then echo "$1"; exit; fi
at=$1
# shellcheck disable=SC2086  # four words
set -- $SSH_CONNECTION
case $3 in ''|*:*) echo "$at";; *) echo "$3";; esac
