#!/bin/sh
# Runs a test of web-ui/test in Chromium: tools/page_test.sh browser|editor|structure|languages [PICTURES]
# tools/page.sh has installed its packages before. PICTURES is a directory that receives screenshots.
set -eu
. tools/lib.sh
name=$1
pictures=${2:+$(realpath -m "$2")}

if ! has chromium && ! has chromium-browser; then
    skipped page-browser "no chromium (apt-get install chromium)"
    exit 0
fi
if ! [ -d web-ui/node_modules/playwright-core ]; then
    skipped page "playwright-core is not installed: sh tools/page.sh"
    exit 0
fi
study=$(mktemp -d)
trap 'rm -rf "$study"' EXIT
case $name in
browser | languages)
    "$BUILT/debug/examples/made_up" "$study"
    cd web-ui && node "test/$name.mjs" "$study" ${pictures:+"$pictures"}
    ;;
*) cd web-ui && node "test/$name.mjs" ${pictures:+"$pictures"} ;;
esac
