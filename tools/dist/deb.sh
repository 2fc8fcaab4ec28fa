#!/bin/sh
# Writes a Debian package (deb(5)) with ar and tar: tools/dist/deb.sh TREE VERSION DIR.
# A static binary has no dependencies; one linked to glibc needs a libc6 with packed relocations.
set -eu
. tools/lib.sh
tree=$1 version=$2 out=$3
case $TARGET in
x86_64-*) architecture=amd64 ;;
aarch64-*) architecture=arm64 ;;
*) die "no Debian architecture is known for $TARGET; add it to tools/dist/deb.sh" ;;
esac
case $TARGET in *-gnu) depends="Depends: libc6 (>= 2.36), libgcc-s1" ;; *) depends= ;; esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/control"
{
    echo "Package: brunt"
    echo "Version: $version-1"
    echo "Architecture: $architecture"
    echo "Maintainer: The brunt authors <brunt@invalid>"
    echo "Installed-Size: $(du -sk "$tree" | cut -f 1)"
    [ -z "$depends" ] || echo "$depends"
    echo "Section: web"
    echo "Priority: optional"
    echo "Homepage: $(sed -n 's/^repository *= *"\(.*\)"/\1/p' Cargo.toml)"
    echo "Description: HTTP load generator that checks its own measurements"
    echo " brunt measures the throughput and response time of web servers, in closed and"
    echo " open loop, with confidence intervals. It finds the capacity of a server and"
    echo " compares servers."
} >"$work/control/control"
(cd "$tree" && find usr -type f -exec md5sum {} + | sort -k 2) >"$work/control/md5sums"
chmod 755 "$work/control"
chmod 644 "$work/control"/*
echo 2.0 >"$work/debian-binary"
sh tools/dist/tar.sh "$work/control" | gzip -9n >"$work/control.tar.gz"
sh tools/dist/tar.sh "$tree" | gzip -9n >"$work/data.tar.gz"
package=$out/brunt_$version-1_$architecture.deb
rm -f "$package"
# The order of the members is part of the format; D omits times and users.
(cd "$work" && ar rcD "$package" debian-binary control.tar.gz data.tar.gz)
