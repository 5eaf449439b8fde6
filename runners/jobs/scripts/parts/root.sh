#!/bin/sh
# The directory of all claims and jobs of our Unix user.
root="${TMPDIR:-/tmp}/benchbrief-$(id -u)"
