#!/bin/sh
# Makes the data directory of a new server, with an empty database and a user for sysbench.
: "${program?}" "${directory?}" "${sql?}"
set -e
# Only root says as whom it goes on.
[ "$(id -u)" != 0 ] || set -- --user=root
mariadb-install-db --no-defaults "--datadir=$directory" --skip-test-db --auth-root-authentication-method=normal "$@" >&2
echo "$sql" | "$program" --no-defaults "--datadir=$directory" "$@" --bootstrap >&2
