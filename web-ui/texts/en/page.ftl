### Texts of the report page, its charts and the dashboard. The Chinese ones are in ../zh/page.ftl, with the same ids and arguments.
### Arguments are formatted values with their units, names from data, or counts.

## Page

no-scripts = Scripts are off: charts cannot be zoomed, and the tables of trials are missing.
skip-link = To the findings
navigation = Sections
theme-switch = Light / dark
heading-trials = { $count ->
    [one] { $count } trial
   *[other] { $count } trials
}
heading-trials-of-planned = { $count } of { $planned } trials
heading-id = id { $id }
yes = yes
no = no
list-separator = ,{ " " }
clause-separator = ;{ " " }
contender-label = { $contender }:{ " " }

## Titles of sections

section-answer = Capacity
section-findings = Findings
section-comparison = Comparison
section-limits = Limits
section-by-load = By load
section-by-repetition = By repetition
section-response-time = Response time
section-over-time = Over time
section-curve = Load by load
section-trials = Trials
section-evidence = Evidence
section-plan = Plan
section-environment = Environment
section-method = Method
section-licenses = Licenses
section-information = Test and Report information
section-summary = Summary

## Heads of columns

column-number = №
column-trial = Trial
column-trials = Trials
column-contender = Contender
column-load = Load
column-loads = Loads
column-repetition = Repetition
column-throughput = Throughput
column-mean = Mean
column-max = Max
column-errors = Errors
column-verdict = Verdict
column-seconds = Seconds
column-achieved = Achieved
column-achieved-per-second = Achieved, /s
column-offered = Offered
column-objectives = Objectives
column-estimate = Running estimate
column-reason = Why
column-factors = Factors
column-server = Server
column-name = Name
column-value = Value
column-figure = Figure
column-quantile = Quantile
column-difference = Difference
column-interval = 95 % interval
column-p-value = p
column-result = Result
column-joint-band = Joint band
column-limit = Limit
column-how = How
column-reading = Reading
column-source = Source
column-threshold = Threshold
column-reached = Reached
column-count = Count
column-range = Range
column-span = From – to
column-planned = Planned
column-completed = Completed
column-band = Band

## Charts

chart-role = chart
chart-label = { $title }. Arrow keys, Home and End move along the points, + and − zoom, Escape shows all.
chart-reset = Reset zoom
chart-legend = Lines of { $title }
chart-table = In words, and as a table
chart-values = { $position }: { $values }
axis-label = { $label } ({ $unit })
axis-minimum = min
heat-requests = { $count ->
    [one] { $count } request
   *[other] { $count } requests
}
unit-cores = cores
unit-users = users

## Verdicts and findings

verdict-label = Verdict
verdict-state-ok = OK
verdict-state-unjudged = UNJUDGED
verdict-state-busy-machine = BUSY MACHINE
verdict-state-unexplained = UNEXPLAINED
verdict-state-limited = LIMITED
verdict-state-invalid = INVALID

## A verdict of one run, of all trials, or of some of them.

verdict-ok = { $scope ->
    [run] The generator was not the limit in this run: the figures are the server's.
   *[all] The generator was not the limit in any of the { $total } trials: the figures are the server's.
}
verdict-unjudged = { $scope ->
    [run] In this run no good reply arrived: there is nothing to judge the server or the generator by.
    [all] In all { $total } trials no good reply arrived: there is nothing to judge the server or the generator by.
   *[some] In { $count } of { $total } trials no good reply arrived: there is nothing to judge the server or the generator by.
}
verdict-busy-machine = { $scope ->
    [run] In this run other processes used the machine's CPU, and that changed figures.
    [all] In all { $total } trials other processes used the machine's CPU, and that changed figures.
   *[some] In { $count } of { $total } trials other processes used the machine's CPU, and that changed figures.
}
verdict-unexplained = { $scope ->
    [run] In this run requests were late for an unknown reason.
    [all] In all { $total } trials requests were late for an unknown reason.
   *[some] In { $count } of { $total } trials requests were late for an unknown reason.
}
verdict-limited = { $scope ->
    [run] In this run the generator was the limit for some of the time.
    [all] In all { $total } trials the generator was the limit for some of the time.
   *[some] In { $count } of { $total } trials the generator was the limit for some of the time.
}
verdict-invalid = { $scope ->
    [run] In this run a consistency check failed: discard these figures.
    [all] In all { $total } trials a consistency check failed: discard these figures.
   *[some] In { $count } of { $total } trials a consistency check failed: discard these figures.
}
verdict-cause-repeated = { $count ->
    [one] (and { $count } other trial like it)
   *[other] (and { $count } other trials like it)
}
failed-check = { $name }: { $arithmetic }
severity-warning = Warning:{ " " }
severity-note = Note:{ " " }
study-interrupted = { $total ->
    [one] The study was stopped after { $count } of { $total } trial: its results are incomplete.
   *[other] The study was stopped after { $count } of { $total } trials: its results are incomplete.
}

## Evidence

evidence-bottleneck = Bottleneck
evidence-outliers = Outliers
evidence-readings = Examined readings
evidence-readings-of = Examined readings of { $contender }
threshold-below = below { $value }
threshold-at-least = at least { $value }
scalability-title = Universal Scalability Law
scalability-model = Of X(N) = λN / (1 + σ(N − 1) + κN(N − 1))
scalability-lambda = λ: throughput of one, per second
scalability-sigma = σ: the share that is serial
scalability-kappa = κ: the cost of coherence
scalability-peak = N at which throughput is greatest
scalability-of = Scalability of { $contender }
scalability-fit = R² = { $share }. { $caution }

## Capacity

objectives-met = met
objectives-missed = missed
objectives-undecided = undecided
objectives-contested = contested
estimate-from = from { $low } on
estimate-below = below { $high }
trials-of = Trials of { $contender }

## Limits and loads

limits-caption = Limits side by side
limits-how = How each was found
limits-how-caption = How each limit was found
limit-met = met at all loads
limit-not-met = not met
limit-unseen = none seen
limit-not-robust = not robust
band-note = In brackets: { $meanings }.
band-range = the lowest and the highest trial, around their median
band-model = a 95 % interval by a model of all trials
band-within-run = a 95 % interval within one run, from blocks of a second
band-repetitions = a 95 % interval over repetitions
curve-caption = All trials of each load

## Comparison

measure-server-cpu = server CPU per request
measure-capacity = capacity
measure-throughput = throughput
measure-goodput = goodput
measure-mean = mean
measure-max = max
measure-errors = errors
comparison-better = better
comparison-worse = worse
comparison-equal = equal
comparison-undecided = undecided
comparison-interval = { $low } to { $high }
comparison-repetitions = { $count } of { $most } repetitions at most; one repetition is one observation.
comparison-title = { $theirs } against { $ours }
comparison-title-of-measure = { $measure }: { $theirs } against { $ours }
comparison-title-at-load = { $theirs } against { $ours } at { $load }
comparison-quantiles = Quantiles: { $title }
comparison-other = Other differences

## Trials

part-label = Charts of
part-whole = the whole run
trial-label = Trial
trial-previous = ‹ Previous
trial-next = Next ›
trial-show = Show it over time
trials-caption = All trials, in the order in which they were made
trial-option = { $number }: { $contender }, { $load }, repetition { $repetition }
trial-option-with-state = { $number }: { $contender }, { $load }, repetition { $repetition }, { $state }
trial-repetition = repetition { $repetition }
trial-start = began { $instant }
trial-run = run { $id }
trial-interrupted = cut short
trial-failed-checks = Failed checks
trial-readings = Readings: means over the measured time
trial-readings-of = Readings during a trial of { $contender }
objective-met = { $objective }: met
objective-missed = { $objective }: missed
range-measured = measured time
range-zoomed = zoomed range
range-caption = Figures of the range
range-hint = Drag across a chart to zoom. The figures of that range are summed from its seconds. Percentiles are those of their joined histograms (known to 0.8 %): of requests that completed or timed out in it.

## Plan and environment

plan-caption = Contenders
plan-source = The plan as it was written
plan-loads-users = { $loads } users
plan-loads-rate = { $loads } /s
plan-arrangement = { $repetitions ->
    [one] Each step once, order: { $order }; seed { $seed }.
   *[other] Each step { $repetitions } times, order: { $order }; seed { $seed }.
}
plan-arrangement-with-rest = { $repetitions ->
    [one] Each step once, order: { $order }; { $rest } of rest between trials; seed { $seed }.
   *[other] Each step { $repetitions } times, order: { $order }; { $rest } of rest between trials; seed { $seed }.
}
order-interleaved = interleaved
order-blocks = blocks
order-random = random
environment-caption = The machine of the generator
environment-command = Command
environment-brunt = brunt
environment-server = Server software
environment-addresses = Addresses
environment-kernel = Kernel
environment-cpu = CPU
environment-cores = Cores that brunt may use
environment-limits = Limits of the process
environment-sysctls = Kernel settings
environment-route = Route to the server
environment-same-host = Server on the same machine
environment-listener = Listener
environment-backlog = Accept queue
licenses-summary = Software in this page

## Dashboard

share-of-whole = { $name }: { $count } ({ $share })
