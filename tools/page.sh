#!/bin/sh
# Checks types and tests of the report page and of the studio's editor, and whether the checked-in files match their source.
# `--write` replaces them; `--browser` also tests them in Chromium (`--browser=DIRECTORY` writes screenshots there).
set -eu
. tools/lib.sh

page=crates/report/src/html/page.html
editor=crates/web/src/editor.js
write=no browser=no pictures=
for argument; do
    case $argument in
    --write) write=yes ;;
    --browser) browser=yes ;;
    --browser=*) browser=yes pictures=$(realpath -m "${argument#--browser=}") ;;
    *) die "usage: tools/page.sh [--write] [--browser[=DIRECTORY]]" ;;
    esac
done

for program in node npm; do
    if ! has $program; then
        skipped page "no $program (apt-get install nodejs npm): the page that is checked in was not built again"
        exit 0
    fi
done
node_major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
if [ "$node_major" -lt 20 ]; then
    skipped page "node $(node --version), and Vite needs 20 or later: the page that is checked in was not built again"
    exit 0
fi

say "the page: what it is made of"
if ! (cd web-ui && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error); then
    if npm ping >/dev/null 2>&1; then die "npm ci failed (see above), and the registry is there"; fi
    skipped page "no npm registry: the page that is checked in was not built again"
    exit 0
fi

say "the page: types, tests"
(cd web-ui && npm run --silent check && npm run --silent test)

say "the page: built again"
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
(cd web-ui && npm run --silent build -- --outDir "$built" --logLevel warn)
if [ "$write" = yes ]; then cp "$built/page.html" "$page"; fi
cmp "$built/page.html" "$page" || die "$page is not what web-ui/ builds: sh tools/page.sh --write"
size=$(wc -c <"$page")
echo "$page: $size bytes, as its source builds it"
if [ "$size" -gt 400000 ]; then die "the page is to be at most 400 kB before data"; fi

say "the editor: built again"
(cd web-ui && npm run --silent build:editor -- --outDir "$built" --logLevel warn)
if [ "$write" = yes ]; then cp "$built/editor.js" "$editor"; fi
cmp "$built/editor.js" "$editor" || die "$editor is not what web-ui/ builds: sh tools/page.sh --write"

if [ "$browser" = no ]; then exit 0; fi
say "the page: in a browser"
if [ -z "${BRUNT_AXE:-}" ]; then
    if sh tools/axe.sh "$BUILT/axe.js"; then
        BRUNT_AXE=$BUILT/axe.js && export BRUNT_AXE
    else
        skipped axe "no npm registry: the pages were not checked with axe-core"
    fi
fi
# shellcheck disable=SC2086 # a list of arguments
cargo build --quiet $ALL --example made_up
for test in browser editor structure languages; do sh tools/page_test.sh $test ${pictures:+"$pictures"}; done
