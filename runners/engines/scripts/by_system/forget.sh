#!/bin/sh
# Removes the snapshot of the directory $1.
forget
