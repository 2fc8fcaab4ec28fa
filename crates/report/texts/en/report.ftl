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

labels =
    .order = Labels with
    .by = { $order ->
        [p99] the highest p99 first
        [errors] most errors first
       *[count] most requests first
    }
    .search = Search
    .show = Show

tile =
    .errors-of = { $errors } of { $all }
    .iterations = Iterations
    .iterations-done = { $done } done
    .iterations-of-planned = { $done } of { $planned } done
    .iterations-failed = { $done }, { $failed } failed

findings = Findings

## Verdict and steady state

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

## Parts of sentences

number-of-cores = { $number } cores

## Methods

# How the figures of a study were computed.
method =
    .closed-loop = Load: a closed loop of virtual users; each user waits for its reply, so queueing of further users is not visible.
    .open-loop = Load: an open loop; arrivals follow a schedule that does not wait for replies.
    .response = Response time: from the instant at which a request was due to its last byte; dropped, cut and timed-out requests count as slower than every reply.
    .capacity = Capacity: the load at which the objectives are met exactly, over all steady time; one monotone model of all trials together, with a 95 % interval. A trial limited by the generator, or by others on the server's machine, counts if it met the objective; its failures count only beyond the effect of the lag, and not at all where others had CPU that the server may have needed.
    .capacities = Capacities are compared by the figure of each search, one observation a repetition; the interval of the one search counts for nothing.
    .permutation = Comparison: one repetition is one observation, however many requests it has. All ways to exchange two contenders within each repetition are counted (permutation test); the difference is the Hodges-Lehmann estimate, its interval that of the test. Interim analyses share the error rate (alpha spending); figures behind the first do so by Holm.
    .ranks = Comparison: runs that were not made in turns, by their ranks (Mann and Whitney), a run an observation; the difference is the Hodges-Lehmann estimate. What drifted between them is in it.
    .no-test = Comparison: where runs are too few, nothing is tested.
    .band-one = One trial a step: figures have no band, and no difference can be tested.
    .band-range = Bands are the lowest and the highest trial around their median: a 95 % interval needs at least six repetitions.
    .band-within-run = Bands are 95 % intervals from blocks of a second within one run: they do not include the variation between runs.
    .band-repetitions = Bands are 95 % intervals over repetitions, around their median.
    .band-model = Bands are 95 % intervals by a model of all trials.
    .knee = Knee: where the smoothed response time bends upwards most over the measured range (Kneedle).
    .saturation = Saturation point: the throughput that does not grow any more with the load.
    .asymptotes = N*: the number of users at which the asymptotes of throughput cross, X_max · (R_min + think time).
    .kept = Load kept: the last load of which at least 99 % was achieved.
    .objectives = Objectives: the highest load up to which each holds at every step.
    .patience = 1-3-10: the highest loads whose p99 stays below 1, 3 and 10 s, Nielsen's limits of patience.
    .scalability = Scalability: { $caution }

## Consistency checks

failed-check = { $check }: { $arithmetic }
