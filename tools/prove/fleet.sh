#!/bin/sh
# Runs fleets on a real Kubernetes of two nodes on this machine: start, refusals, lost and replaced pods, zones, a dead controller, and the places where
# a secret might be left. Fails if a target is missed.
#
# K8S_UP is the script that builds and starts the cluster (default: ../shared/k8s/k8s-up.sh); K8S_DIR is its directory, in which its
# programs stay. It needs root, containerd, runc and etcd.
set -eu
. tools/lib.sh
out=$1/fleet.md
up=${K8S_UP:-../shared/k8s/k8s-up.sh}
[ -f "$up" ] || { skipped fleet "no script $up that starts a cluster"; exit 0; }
[ "$(id -u)" = 0 ] || { skipped fleet "only root may start the nodes of a cluster"; exit 0; }
sh tools/packages.sh etcd-server etcd-client containerd runc nats-server busybox-static iptables iproute2 conntrack \
    containernetworking-plugins nginx curl
K8S_DIR=${K8S_DIR:-$BUILT/k8s}
export K8S_DIR
mkdir -p "$K8S_DIR"
K8S_DIR=$(cd "$K8S_DIR" && pwd)
KUBECONFIG=$K8S_DIR/pki/admin.conf
export KUBECONFIG
kubectl=$K8S_DIR/bin/kubectl
work=$(mktemp -d)
address=10.89.0.1
secret=planted-$(od -An -N8 -tx1 /dev/urandom | tr -d ' ')
code=0

[ -x "$K8S_DIR/bin/kube-proxy" ] ||
    bash "$up" build kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl kube-proxy
end() {
    bash "$up" down >"$work/down.log" 2>&1 || true
    if [ -f "$work/nginx.pid" ]; then kill "$(cat "$work/nginx.pid")" || true; fi
    rm -rf "$work"
}
trap end EXIT
bash "$up" up 2

# The load uses the role that brunt prints, and not the administrator's.
"$BRUNT_BIN" fleet rbac --zones | "$kubectl" apply -f -
admin=$KUBECONFIG
token=$("$kubectl" create token brunt --duration 2h)
sed -e "s/user: {client-certificate: .*}}]/user: {token: \"$token\"}}]/" "$admin" >"$work/role.conf"
chmod 600 "$work/role.conf"

# Images: brunt's own, and the server of NATS in the same form.
"$BRUNT_BIN" fleet image brunt.local/brunt:1 --output "$work/brunt.tar"
python3 "$(dirname "$up")/mkimg.py" "$(command -v nats-server)" brunt.local/nats:1 "$work/nats.tar"
bash "$up" image "$work/brunt.tar" "$work/nats.tar"

cat >"$work/nginx.conf" <<END
pid $work/nginx.pid; error_log $work/nginx.log; worker_processes 1; events {}
http { access_log off; server { listen $address:8000; location / { return 200 "ok"; } location = /count { stub_status; } } }
END
nginx -c "$work/nginx.conf"

echo "Authorization: $secret" >"$work/headers"

# received: the number of requests that the server has counted, with this one.
received() { curl -s "http://$address:8000/count" | awk 'NR == 3 { print $3 }'; }

# load WORDS…: replaces the shell by a load on three pods. Call it in a subshell or in the background.
load() {
    exec env KUBECONFIG="$work/role.conf" "$BRUNT_BIN" "http://$address:8000/" -r 300 --on k8s:3 --image-pull Never --nats-image brunt.local/nats:1 --agent-memory 128Mi \
        --allow-target "$address" --store "$work/store" --header-file "$work/headers" "$@"
}

# await_load: waits until the server has received a second and a half of the load, at most for a minute.
await_load() {
    before_load=$(received)
    for _ in $(seq 120); do
        [ $(($(received) - before_load)) -lt 600 ] || return 0
        sleep 0.5
    done
}

# begun FILE: the number of requests in a report.
begun() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["requests"]["begun"])' "$1"; }

objects() { "$kubectl" get all,secrets -o name | grep -c /brunt- || true; }

# gone SECONDS: waits until no object is left, and prints the time that it took.
gone() {
    begin=$(date +%s)
    while [ "$(objects)" != 0 ]; do
        [ $(($(date +%s) - begin)) -lt "$1" ] || { echo "more than $1"; return 1; }
        sleep 1
    done
    echo $(($(date +%s) - begin))
}

# row WHAT RESULT TARGET CONDITION: a row of the table; the condition is that of test(1).
row() {
    what=$1 result=$2 target=$3
    shift 3
    if [ "$@" ]; then met=yes; else met=no code=1; fi
    echo "| $what | $result | $target | $met |" >>"$work/rows"
}

say "a load on three pods"
before=$(received)
begin=$(date +%s.%N)
load --image brunt.local/brunt:1 --agent-cpu 200m -d 10s -o json="$work/run.json" >"$work/run.txt" 2>&1 &
run=$!
sleep 8
"$kubectl" get pods,jobs,services,events -o yaml >"$work/objects.yaml"
for pod in $("$kubectl" get pods -o name); do "$kubectl" logs "$pod" >>"$work/logs" 2>&1 || true; done
ps -ef >"$work/processes"
find / -xdev -path '*/jetstream/*' -type f -exec cat {} + >"$work/jetstream" 2>/dev/null || true
ETCDCTL_API=3 etcdctl --endpoints=http://127.0.0.1:12379 get '' --prefix >"$work/etcd" 2>/dev/null || true
wait "$run" || true
took=$(awk -v begin="$begin" -v end="$(date +%s.%N)" 'BEGIN { printf "%.1f", end - begin }')
own=$(begun "$work/run.json")
theirs=$(($(received) - before - 1))
row "a load of 10 s, whole command" "$took s" "–" 1 = 1
row "requests: brunt, server" "$own, $theirs" "equal" "$own" = "$theirs"
left=$(gone 30) || true
row "objects deleted after the run" "$left s" "30 s" "$left" -le 30
for place in objects.yaml logs processes jetstream etcd; do
    found=$(grep -c "$secret" "$work/$place" || true)
    row "the secret in $place ($(wc -c <"$work/$place") B)" "$found times" "never" "$found" = 0
done

say "refusals of the cluster"
for wrong in "--image brunt.local/nothing:1 --agent-cpu 200m" "--image brunt.local/brunt:1 --agent-cpu 64"; do
    begin=$(date +%s)
    # shellcheck disable=SC2086 # several words
    (load $wrong -d 1s --start-deadline 8s) >"$work/wrong.txt" 2>&1 || true
    took=$(($(date +%s) - begin))
    reason=$(sed -n 's/^brunt-.*: \(ErrImageNeverPull\|Unschedulable\): .*/\1/p' "$work/wrong.txt" | head -1)
    row "\`$wrong\`" "${reason:-no reason}, ended after $took s" "the cluster's reason, 10 s" -n "$reason" -a "$took" -le 10
done
left=$(gone 30) || true
row "objects deleted after refusals" "$left s" "30 s" "$left" -le 30

say "a lost pod, and another one in its place"
before=$(received)
# kubectl returns when the pod is gone, which may take ten seconds.
load --image brunt.local/brunt:1 --agent-cpu 200m -d 45s --lease 3s --replace-lost -o json="$work/lost.json" -o text >"$work/lost.txt" 2>&1 &
run=$!
await_load
"$kubectl" delete --force --grace-period=0 "$("$kubectl" get pods -o name | grep -- '-1-' | head -1)" >"$work/kubectl.log" 2>&1
wait "$run" || true
named=$(grep -c 'agent pod-1 was lost' "$work/lost.txt" || true)
[ "$named" -ge 1 ] || cat "$work/kubectl.log" "$work/lost.txt"
row "a pod is deleted by force" "$(sed -n 's/^Verdict *//p' "$work/lost.txt")" "its agent is named" "$named" -ge 1
python3 - "$work/lost.json" >"$work/lost.figures" <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
agent = run["agents"][1]
lost, replaced = agent["lost_at_seconds"], agent["replaced_at_seconds"] or 0
after = sum(not check["holds"] for check in run["checks"])
print(f"{replaced - lost:.1f} {after} {run['requests']['begun']}")
END
read -r missing failed own <"$work/lost.figures"
theirs=$(($(received) - before - 1))
# The lost agent has made requests that it has not reported: at most those of a second.
row "the pod in its place goes on after; checks that fail" "$missing s, $failed" "later than the lease, none" "$failed" = 0 -a "${missing%.*}" -ge 3
row "requests: brunt, server, which also knows the unreported ones" "$own, $theirs" "at most 100 more" "$((theirs - own))" -ge 0 -a "$((theirs - own))" -le 100
gone 60 >"$work/gone" || true

say "zones"
number=0
for node in $("$kubectl" get nodes -o name); do
    "$kubectl" label "$node" "topology.kubernetes.io/zone=zone-$number" >>"$work/kubectl.log"
    number=$((number + 1))
done
(load --image brunt.local/brunt:1 --agent-cpu 200m -d 10s --group-by zone) >"$work/zones.txt" 2>&1 || true
zones=$(sed -n 's/^\(zone-[0-9] ([0-9] agents*)\).*/\1/p' "$work/zones.txt" | paste -sd , -)
[ "$(echo "$zones" | grep -c zone-1)" = 1 ] || cat "$work/zones.txt"
row "groups by zone" "${zones:-none}" "two" "$(echo "$zones" | grep -c zone-1)" = 1
gone 60 >"$work/gone" || true

say "a controller that is replaced"
before=$(received)
load --image brunt.local/brunt:1 --agent-cpu 200m -d 20s >"$work/killed.txt" 2>&1 &
run=$!
sleep 12
kill -9 "$run"
sleep 3
id=$("$BRUNT_BIN" runs --store "$work/store" | tail -n 1 | cut -d ' ' -f 1)
for place in "$work"/store/fleets/*; do
    found=$(grep -c "$secret" "$place"/* | awk -F : '{ n += $2 } END { print n }')
    row "the secret in what the controller keeps" "$found times" "never" "$found" = 0
done
env KUBECONFIG="$work/role.conf" "$BRUNT_BIN" attach "$id" --store "$work/store" -o json="$work/attached.json" >"$work/attached.txt" 2>&1 || true
own=$(begun "$work/attached.json")
theirs=$(($(received) - before - 1))
row "requests of a run whose brunt was killed and replaced: brunt, server" "$own, $theirs" "equal" "$own" = "$theirs"
left=$(gone 30) || true
row "objects deleted after it" "$left s" "30 s" "$left" -le 30

# other_node: the node without the fleet's server of NATS.
other_node() { "$kubectl" get pods -o wide | awk '/-nats/ { print /node1/ ? 2 : 1 }'; }

say "a node that is cut off and healed"
load --image brunt.local/brunt:1 --agent-cpu 200m -d 25s -o json="$work/cut.json" -o text >"$work/cut.txt" 2>&1 &
run=$!
await_load
node=$(other_node)
bash "$up" cut "$node"
sleep 6
bash "$up" heal "$node"
wait "$run" || true
lost=$(grep -c 'ended before its time' "$work/cut.txt" || true)
failed=$(python3 -c 'import json, sys; print(sum(not check["holds"] for check in json.load(open(sys.argv[1]))["checks"]))' "$work/cut.json")
row "a node is cut off for 6 s: agents lost, consistency checks that fail" "$lost, $failed" "none" "$lost$failed" = 00
gone 60 >"$work/gone" || true

say "a node that crashes"
load --image brunt.local/brunt:1 --agent-cpu 200m -d 20s -o json="$work/crash.json" -o text >"$work/crash.txt" 2>&1 &
run=$!
await_load
node=$(other_node)
bash "$up" node-crash "$node"
wait "$run" || true
named=$(grep -c 'ended before its time' "$work/crash.txt" || true)
failed=$(python3 -c 'import json, sys; print(sum(not check["holds"] for check in json.load(open(sys.argv[1]))["checks"]))' "$work/crash.json")
row "a node crashes: $(sed -n 's/^Verdict *//p' "$work/crash.txt")" "$named agents named, $failed checks fail" "named, none" "$named" -ge 1 -a "$failed" = 0
bash "$up" node-start "$node"
left=$(gone 60) || true
row "objects deleted after the node is back" "$left s" "60 s" "$left" -le 60

say "a dead controller"
load --image brunt.local/brunt:1 --agent-cpu 200m -d 60s --fleet-deadline 30s >"$work/dead.txt" 2>&1 &
sleep 10
kill -9 $!
sleep 16
first=$(received)
sleep 3
second=$(($(received) - 1))
row "requests in 3 s, 16 s after the controller was killed (lease 15 s)" "$((second - first))" "0" "$first" = "$second"
left=$(gone 60) || true
row "objects deleted after the deadline (30 s)" "$((left + 29 - 30)) s" "30 s" "$((left + 29 - 30))" -le 30

{
    echo "# Fleets on Kubernetes"
    echo
    echo "Three agents on two nodes of $("$kubectl" version -o json | sed -n 's/.*"gitVersion": "\(.*\)".*/\1/p' | tail -1), all on one machine with $(nproc) CPUs, $(date -u +%Y-%m-%d); nginx counts the requests."
    echo "The load has a planted secret in a header field. It is searched for during the load."
    echo
    echo "| what | result | target | met |"
    echo "|---|---|---|---|"
    cat "$work/rows"
} >"$out"
cat "$out"
exit $code
