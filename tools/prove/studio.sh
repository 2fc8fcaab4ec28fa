#!/bin/sh
# The targets of the studio: its part of the program, and its pages in a browser beside an active run with 2,500 labels. The kept run of an
# hour is made by a test of the store; `BRUNT_HOUR` is the directory of a store that has one already.
set -eu
. tools/lib.sh
out=$1/studio.md
work=$(mktemp -d)
pids=
trap 'end' EXIT INT TERM

end() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}

# stripped PROGRAM: its size in kilobytes without line numbers.
stripped() {
    strip -o "$work/stripped" "$1"
    echo $(($(wc -c <"$work/stripped") / 1000))
}

has chromium || { skipped studio "no chromium (apt-get install chromium)"; exit 0; }
(cd web-ui && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)

say "the kept hour"
hour=${BRUNT_HOUR:-$work/hour}
if [ ! -d "$hour" ]; then
    BRUNT_HOUR=$hour cargo test --release --locked -p brunt-store --lib -- --ignored --nocapture the_run_of_an_hour
fi
kept=$("$BRUNT_BIN" runs --store "$hour" | awk 'NR == 2 { print $1 }')

say "the active run"
"$BRUNT_LAB_BIN" --max-runtime 900s >"$work/lab" &
pids="$pids $!"
until [ -s "$work/lab" ]; do sleep 0.1; done
url=$(sed -n 's/^listening on //p' "$work/lab")
seq 2500 | sed "s|^|$url/page/|" >"$work/urls"
"$BRUNT_BIN" run --urls "$work/urls" -r 500 -d 12m --store "$hour" -q >"$work/run.log" 2>&1 &
run=$!
pids="$pids $run"

# A .jmx of 5 MB: 5,800 samplers, of which one has a body of 600 kB.
python3 - "$work/large.jmx" <<'END'
import sys
sampler = """<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="page {n}" enabled="true">
<boolProp name="HTTPSampler.postBodyRaw">true</boolProp><elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="" elementType="HTTPArgument"><boolProp name="HTTPArgument.always_encode">false</boolProp><stringProp name="Argument.value">{body}</stringProp>
<stringProp name="Argument.metadata">=</stringProp></elementProp></collectionProp></elementProp><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
<stringProp name="HTTPSampler.path">/page/{n}</stringProp><stringProp name="HTTPSampler.method">POST</stringProp></HTTPSamplerProxy><hashTree/>
"""
samplers = "".join(sampler.format(n=n, body="x" * 600_000 if n == 100 else "x") for n in range(5800))
open(sys.argv[1], "w").write(f"""<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="large" enabled="true"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users" enabled="true"><stringProp name="ThreadGroup.num_threads">1</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp></ThreadGroup>
<hashTree>{samplers}</hashTree></hashTree></hashTree></jmeterTestPlan>
""")
END
cat >"$work/large.yaml" <<END
load: {users: 1, requests: 1}
scenario:
  steps:
  - get: $url/bytes/100000000
END

say "the pages"
"$BRUNT_BIN" studio "$hour" --no-open --listen 127.0.0.1:0 >"$work/studio" 2>&1 &
pids="$pids $!"
until grep -q '^http' "$work/studio"; do sleep 0.1; done
link=$(sed -n 's/^\(http.*\)/\1/p' "$work/studio" | tail -n 1)
until active=$("$BRUNT_BIN" runs --store "$hour" | awk '/running$/ { id = $1 } END { print id }') && [ -n "$active" ]; do sleep 0.2; done
# The first minute has few points yet.
sleep 60
code=0
(cd web-ui && node test/targets.mjs "$link" "$active" "$kept" "$work/large.yaml" "$work/large.jmx" "$run") >"$work/rows" || code=1

kill -INT "$run" && wait "$run" || true

say "the size of the feature"
all=$(stripped "$BRUNT_BIN")
CARGO_TARGET_DIR=$BUILT/without cargo build --release --locked -p brunt-cli --no-default-features \
    --features scripts,dom,grpc,http3,import,record,fleet
less=$(stripped "$BUILT/without/release/brunt")
part=$((all - less))
if [ $part -le 6000 ]; then met=yes; else met=no code=1; fi
echo "| part of the studio in the program ($((all / 1000)).$((all / 100 % 10)) MB) | $((part / 1000)).$((part / 100 % 10)) MB | 6 MB | $met |" >>"$work/rows"

{
    echo "# The studio"
    echo
    echo "Chromium, $(nproc) CPUs, $(date -u +%Y-%m-%d). Median of the results, and their range. Times begin with the navigation and end when the element is drawn."
    echo
    echo "| what | result | target | met |"
    echo "|---|---|---|---|"
    cat "$work/rows"
} >"$out"
cat "$out"
exit $code
