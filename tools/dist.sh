#!/bin/sh
# Writes the files of a release to dist/: a static binary with completions and man pages (tar.gz), a Debian package, an
# OCI image, a Python wheel, JSON Schemas, an SBOM and checksums. Needs neither root nor a container engine.
# Options are environment variables: PROFILE=demo for a quick try (the published profile is `release`),
# TARGET=x86_64-unknown-linux-gnu for glibc (the default is musl, linked statically).
set -eu
. tools/lib.sh
sh tools/need.sh

PROFILE=${PROFILE:-release}
TARGET=${TARGET:-$(uname -m)-unknown-linux-musl}
export PROFILE TARGET
sh tools/dist/need.sh

version=$(sed -n 's/^version *= *"\(.*\)"/\1/p' Cargo.toml | head -n 1)
# Archives of the same commit are identical: all their times are that of the commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
dist=$PWD/dist
rm -rf "$dist"
mkdir -p "$dist"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
trap 'exit 130' INT TERM HUP

say "building brunt $version for $TARGET (profile $PROFILE)"
cargo build --profile "$PROFILE" --target "$TARGET" --locked -p brunt-cli
brunt=$BUILT/$TARGET/$PROFILE/brunt

say "completions, man pages, documents"
sh tools/dist/tree.sh "$brunt" "$tree"

name=brunt-$version-$TARGET
say "JSON Schemas of the reports"
for document in result study analysis; do "$brunt" schema $document >"$dist/$document.schema.json"; done

say "archive, package, image, SBOM, checksums"
sh tools/dist/tar.sh "$tree" "$name" | gzip -9n >"$dist/$name.tar.gz"
sh tools/dist/deb.sh "$tree" "$version" "$dist"
case $TARGET in
*-musl) sh tools/dist/oci.sh "$tree" "$version" "$dist/$name-oci.tar" ;;
*) echo "no OCI image: it has no C library, and this binary needs one" ;;
esac
case $TARGET in
*-musl) python3 python/build_wheel.py "$tree/usr/bin/brunt" --output "$dist" ;;
*) echo "no wheel: it needs a static binary" ;;
esac
node tools/dist/sbom.mjs "$TARGET" >"$dist/$name.cdx.json"
cd "$dist"
sha256sum -- * >"$tree/SHA256SUMS"
mv "$tree/SHA256SUMS" .
ls -l
