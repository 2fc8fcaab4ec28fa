### Labels of charts and tables of a report.

## Charts

chart =
    .throughput = Throughput
    .goodput = Goodput
    .response-time = Response time
    .response-times = Response times
    .errors = Errors
    .in-flight = Requests in flight, and connections
    .of-response-time = { $figure } of the response time
    .percentiles = Response time by percentile
    .statuses = Status codes
    .passed-checks = Passed checks
    .histogram = Histogram of response times
    .of-trial = { $title }: { $trial }
    .over-load = { $title } over load
    .by-repetition = { $title } by repetition
    .over-time = { $title } over time
    .over-time-of-trial = { $title } over time: { $trial }

trial-at-load = { $name } at { $load }
    .repetition = { $name } at { $load }, repetition { $repetition }

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

# Text alternatives of charts.
chart-about = { $clauses }.
    .values = { $count } values between { $low } and { $high }.
    .more = { $count } more
    .mark = { $mark } at { $x }
    .ends = { $first } at { $from }, { $last } at { $to }
    .line = { $name }: { $ends }
    .line-with-peak = { $name }: { $ends }, at most { $peak }

gauge =
    .cpu = CPU of the server
    .machine-cpu = CPU of the server's machine
    .memory = Memory of the server
    .machine-memory = Memory of the server's machine
    .load-average = Load average of the server
    .workers = Workers and queue
    .connections = Connections of the server
    .network = Network of the server
    .disk = Disks of the server
    .trouble = Refused, dropped and sent again by the server
    .generator-cpu = CPU of the generator
    .over-source = { $source }: { $unit }

gauge-label =
    .cpu-time = CPU time
    .memory = memory
    .load-average = load average
    .workers-requests = workers, requests
    .connections = connections
    .network = network
    .disks = disks
    .events = events
    .in-use = in use
    .busy = busy
    .queued = queued
    .limit = limit
    .open = open
    .idle = idle
    .accept-queue = accept queue
    .received = received
    .sent = sent
    .read = read
    .written = written
    .accept-queue-overflows = accept queue overflows
    .segments-sent-again = segments sent again
    .connections-refused = connections refused
    .workers-exhausted = workers exhausted
    .worker = worker
    .resident = resident
    .bytes-per-second = bytes per second
    .per-second = per second
    .share-of-time = share of the time
    .bytes = bytes
    .shares = shares
    .numbers = numbers
    .part = { $part } { $name }

## Tables

column =
    .populations = Populations
    .groups = Groups of agents
    .labels = Labels
    .transactions = Transactions
    .agents = Agents
    .clocks = Clocks
    .phases = Phases
    .count = count
    .completed = completed
    .per-second = per second
    .requests-per-second = requests/s
    .errors = errors
    .ended = ended
    .failed = failed
    .unfinished = unfinished
    .p50 = p50
    .p75 = p75
    .p90 = p90
    .p95 = p95
    .p99 = p99
    .p999 = p99.9
    .max = max
    .lag-p99 = lag p99
    .clock-error = clock error
    .bytes-per-second = bytes/s
    .state = state

table =
    .outcomes = Outcomes of all requests
    .outcome = Outcome
    .requests = Requests
    .share = Share
    .meaning = Meaning
    .failed-checks = Failed checks
    .more-rows = and { $count } more

# Replies that failed a check.
failure-cause = { $count } × { $cause }
check-failure = { $label }: { $condition }: { $failed } of { $replies } replies
    .found = { $label }: { $condition }, found { $found }: { $failed } of { $replies } replies
    .found-for-example = { $label }: { $condition }, found, for example, { $found }: { $failed } of { $replies } replies
    .expected = expected { $expected }

tile =
    .errors-of = { $errors } of { $all }
    .iterations = Iterations
    .iterations-done = { $done } done
    .iterations-of-planned = { $done } of { $planned } done
    .iterations-failed = { $done }, { $failed } failed

findings = Findings

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

# States as in the JSON report.
state-name = { $state ->
    [ok] ok
    [unjudged] unjudged
    [busy_machine] busy_machine
    [unexplained] unexplained
    [limited] limited
   *[invalid] invalid
}

# States of agents.
agent-state = { $state ->
    [ok] ok
    [unjudged] unjudged
    [busy_machine] busy machine
    [unexplained] unexplained
    [limited] limited
    [lost] lost
    [replaced] replaced
   *[invalid] invalid
}
group-of-agents = { $count ->
    [one] { $name } (1 agent)
   *[other] { $name } ({ $count } agents)
}

steady = Steady state
    .not-reached = not reached ({ $method })
    .from-beginning = from the beginning ({ $method })
    .after = after { $time } ({ $method })
