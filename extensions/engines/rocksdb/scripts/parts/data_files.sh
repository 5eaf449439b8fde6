#!/bin/sh
# Prints the names, sizes and times of the files that hold the data of the database here. Opening it writes its other
# files anew, and an empty log.
data_files() {
    find . -maxdepth 1 -type f \( -name '*.sst' -o -name '*.blob' -o -name '*.log' -size +0 \) -printf '%f %s %T@\n' |
        LC_ALL=C sort
}
