#!/bin/sh
# The main job on the embedded server: brunt measures brunt-lab, eight workers that take 10 ms on average each (800/s at
# most), first with eight users in a closed loop, then with 400 arrivals/s, then at rising loads.
set -eu
. tools/lib.sh
sh tools/need.sh

say "building (profile demo)"
# Without scripts, CSS selectors, XPath and HTTP/3: they build slowly, and the demo does not need them.
build_quickly -p brunt-cli --no-default-features
brunt=$BUILT/demo/brunt
scratch=$(mktemp -d)
lab=
disturbed=no

# The lab ends when its standard input closes. Descriptor 3 holds it open, so the lab ends with this script in any case.
clean_up() {
    exec 3>&-
    if [ -n "$lab" ]; then
        kill "$lab" 2>/dev/null || true
        wait "$lab" 2>/dev/null || true
    fi
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

start_lab() {
    mkfifo "$scratch/stdin"
    "$brunt" lab --service exp:10ms --workers 8 --listen 127.0.0.1:0 --until-stdin-closes \
        --max-runtime 4m --stats "$scratch/truth.json" <"$scratch/stdin" >"$scratch/lab" 2>&1 &
    lab=$!
    exec 3>"$scratch/stdin"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        url=$(sed -n 's/^listening on //p' "$scratch/lab")
        [ -z "$url" ] || return 0
        sleep 0.1
    done
    die "the reference server did not start: $(cat "$scratch/lab")"
}

show() {
    say "$1"
    shift
    echo "\$ brunt $*"
    echo
    code=0
    "$brunt" "$@" 3>&- || code=$?
    case $code in
    0) ;;
    # A doubtful verdict is not a failure: brunt shows the figures with the reason.
    5) disturbed=yes ;;
    *) exit $code ;;
    esac
}

start_lab
show "Closed loop: 8 users, each asks again when it has its reply" "$url" -c 8 -d 8s
show "Open loop: 400 arrivals a second, whether the server keeps up or not" "$url" -r 400 -d 8s
show "A sweep: where the response time bends, and where the throughput ends" \
    sweep -r 100..1000+100 -d 2s --repeat 1 "$url"

if [ $disturbed = yes ]; then
    say "something took this machine's time away meanwhile: brunt called such figures INVALID, and why. On a quiet one, again: make demo"
fi
say "that was brunt. Next:"
shown=${brunt#"$PWD/"}
printf '  %-60s%s\n' \
    "$shown http://localhost:8080/ -c 10 -d 10s" "your own server (load only what is yours)" \
    "$shown report last -o html=page.html" "the last of these, as a page with charts" \
    "$shown --help" "all options and commands, with examples" \
    "make test" "all tests" \
    "README.md, GLOSSARY.md" "what the figures mean"
