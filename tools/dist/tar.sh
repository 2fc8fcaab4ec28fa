#!/bin/sh
# Writes a directory as a reproducible tar archive to standard output: tools/dist/tar.sh DIR [PREFIX].
# All files belong to root, and have the time SOURCE_DATE_EPOCH.
set -eu
exec tar --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --transform="s,^\.,${2:-.}," -C "$1" -cf - .
