#!/bin/sh
# 100,000 users with a cookie, an extracted value and pauses each, with six labs: no error, and at most 1.5 GB of memory in all
# processes of brunt. USERS=9000 starts fewer.
set -eu
users=${USERS:-100000}
most_kilobytes=$((users * 15 > 100000 ? users * 15 : 100000))
out=$1/users
dir=$(mktemp -d)
labs=
trap 'end' EXIT INT TERM

end() {
    for pid in $labs ${brunt:-}; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$dir"
}

{
    echo "repetitions: 1"
    echo "load: {duration: 100s, connect_rate: 3000}"
    echo "populations:"
} >"$dir/plan.yaml"
for n in 0 1 2 3 4 5; do
    "$BRUNT_LAB_BIN" --header 'Set-Cookie: session=abc123; Path=/' --max-runtime 300s >"$dir/lab$n" &
    labs="$labs $!"
    until [ -s "$dir/lab$n" ]; do sleep 0.1; done
    cat >>"$dir/plan.yaml" <<PLAN
  users$n:
    load: {users: $(((users + 5) / 6))}
    scenario:
      base: $(sed -n 's/^listening on //p' "$dir/lab$n")
      steps:
      - get: /login
        extract: {session: {cookie: session}}
      - think: 20s..40s
      - get: /item/\${user()}
        name: item
      - think: 20s..40s
PLAN
done

"$BRUNT_BIN" run "$dir/plan.yaml" --no-store -o text -o "json=$out.json" >"$out.txt" 2>"$dir/told" &
brunt=$!
peak=0
while kill -0 "$brunt" 2>/dev/null; do
    sleep 5
    # brunt and its child processes.
    now=$(ps -o rss= --pid "$brunt" --ppid "$brunt" 2>/dev/null | awk '{ sum += $1 } END { print sum + 0 }')
    [ "$now" -le "$peak" ] || peak=$now
done
wait "$brunt" || code=$?
brunt=
cat "$dir/told"
echo "$users users: $((peak / 1000)) MB over all processes; at most $((most_kilobytes / 1000)) MB" | tee -a "$out.txt"
# 5: brunt calls the run doubtful. It has measured.
case ${code:-0} in 0 | 5) ;; *) exit 1 ;; esac
[ "$peak" -gt 0 ] && [ "$peak" -le "$most_kilobytes" ] && grep -q ', 0 errors' "$dir/told"
