### Messages that several crates use.

## Parts of sentences

series = { $clauses }
words = { $words }
users = { $count ->
    [one] { $count } user
   *[other] { $count } users
}

## Causes of the verdict

of-run = { $run }: { $sentence }

## Conclusion of a run

limiting-resource =
    .worker = a worker thread at 100 % CPU
    .cores = the machine's cores, shared with the server
    .run-queue = waiting for a core
    .throttled = CPU throttling
    .steal = CPU time taken by the hypervisor
    .other-processes = other processes on this machine
    .stopped = a worker that did not run
    .descriptors = file descriptors
    .ports = local ports
    .nic = the network interface
    .packets = packets per second
    .conntrack = the connection tracking table
    .memory = memory
    .lag = lag
    .agent = a lost agent

## Parts of sentences

sentence = { $clause }.
of-contender = { $contender }: { $sentence }
number-of-users = { $number } users
times-failure = { $count } × { $failure }
load-unit =
    .rate = requests/s
    .users = users

measure =
    .mean = mean
    .max = max
    .errors = errors
    .throughput = throughput
    .goodput = goodput
    .server-cpu = server CPU per request
    .capacity = capacity

# What happened in trials with a verdict.
state =
    .unjudged = no good reply arrived
    .busy-machine = other processes used the machine's CPU
    .unexplained = requests were late for an unknown reason
    .limited = the generator was the limit
    .invalid = a consistency check failed

## Searches

search-end =
    .precise = the target precision was reached
    .budget = the time budget was used up
    .generator = trials at higher loads were disturbed
    .most = the highest load allowed met the objectives
    .least = the lowest useful load missed the objectives
    .damaged = the server did not recover from an overload
    .stopped = the search was stopped
    .limited = trials at higher loads were disturbed: { $limit }
    .stalls = slow or failed requests that came too rarely to be counted may exceed the objectives at every load

server-changed = the server changed during the search: it met the objectives at { $met } { $unit }, and missed them at { $missed } { $unit } later, so its capacity is not known
    .remedy = allow a pause between trials (--cooldown), or restart the server (plan file: find.between)

## Comparisons

not-alternating = The runs were not alternating: other changes between them are unknown, and no test can separate them from the contenders.
    .about = comparison of stored runs
    .restarts = It is unknown whether servers were restarted between the runs, or kept caches and connections.
    .gap = The runs are up to { $gap } apart: the machine and its load may have changed.
    .loads = no load is common to all of them, so different loads are compared: { $loads }

history-measure =
    .capacity = Capacity
    .throughput = Throughput
    .p50 = Response time p50
    .p95 = Response time p95
    .p99 = Response time p99
    .service-p50 = Service time p50
    .service-p99 = Service time p99
    .errors = Error rate

# Remarks on a run.
history-remark =
    .change = change: { $size }
    .invalid = not counted: a consistency check failed
    .no-end = not counted: the run has no end record
    .no-figure = not counted: the run has no such figure
    .unknown-plan = not counted: its plan is unknown
    .interrupted = interrupted
    .from-index = from the index: no log and no digest

# A change of the level.
history-change = { $day }, between { $before_id } and { $after_id }: { $before } → { $after }{ $size }; p = { $p }
    .better = { $day }, between { $before_id } and { $after_id }: { $before } → { $after }{ $size }; p = { $p }, better
    .worse = { $day }, between { $before_id } and { $after_id }: { $before } → { $after }{ $size }; p = { $p }, worse
    .size = , { $relative }
    .size-with-interval = , { $relative } (95 % CI { $low } to { $high })
    .facts = Changed at the same time:
    .no-facts = No known fact about data, environment, server or version changed within two runs of it.
    .fact = { $fact }: { $before } → { $after }
    .fact-between = { $fact }: { $before } → { $after } (between { $before_id } and { $after_id })

## Charts

chart-label =
    .completed = completed
    .good = good replies
    .planned = planned
    .offered = offered
    .p50 = p50
    .p99 = p99
    .max = max
    .mean = mean
    .median = median ({ $band })
    .one-value = one value
    .range = range
    .interval = 95 % CI
    .with-band = { $label }, shaded: { $bands }
    .with-range = { $label } (shaded: lowest to highest)
    .response-time = response time
    .share-of-requests = share of requests
    .other-statuses = others
    .replies = replies
    .passed-checks = passed all checks
    .share-of-replies = share of replies
    .repetition = repetition
    .users = virtual users
    .of-contender = { $contender } { $series }
    .knee = knee
    .saturation = saturation point
    .whole-run = whole run
    .whole-run-with-interval = whole run (95 % CI)
    .objective = objective { $objective }
    .at-load = at { $load }
    .percentile = percentile
    .requests = requests
    .requests-connections = requests, connections
    .errors = errors
    .in-flight = in flight
    .connections = connections
    .waiting = waiting
    .time = time since the measured time began
    .merged-time = time since the measured time began, one point per { $width }
    .lost = { $agent } lost
    .no-replies = no replies

## Verdict and steady state

verdict = Verdict
    .state-ok = OK
    .state-unjudged = NO GOOD REPLY
    .state-busy-machine = BUSY MACHINE
    .state-unexplained = UNEXPLAINED LAG
    .state-limited = LIMITED BY THE GENERATOR
    .state-invalid = INVALID
    .ok = the load generator was not the bottleneck
    .unjudged = no basis to judge the server or the generator
    .load-missing = { $cause }; discard this run
    .check-failed = consistency check failed; discard this run
    .check-failed-and-cause = consistency check failed; discard this run. In addition: { $cause }
    .checks-passed = { $count } consistency checks passed
    .unseen = not seen here: { $unseen }
