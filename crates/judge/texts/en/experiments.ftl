### Findings and conclusions on searches, comparisons and sweeps. A remedy is an attribute of its message.

## Parts of sentences

at-load = { $name } at { $load }
doubts = { $first }{ $second }

## Comparisons

comparison-failed = { $reason }.
    .beyond = { $sentence }{ $loads }, which is more than { $margin }
comparison-undecided =
    .remedy-repeat = about { $all } repetitions may decide
    .remedy-longer = the difference is too small for { $all } repetitions or fewer; measure each trial for longer, or accept a larger difference as equal (--smallest)
    .remedy-resume = continue with --resume

# Which of two contenders is better. The kind is that of the figure.
comparison-better = { $winner } is { $kind ->
    [time] faster
    [throughput] higher in throughput
    [errors] more reliable
    [capacity] higher in capacity
   *[cpu] more efficient
} than { $loser }{ $loads } ({ $evidence })
    .by = { $winner } is { $size } { $kind ->
        [time] faster
        [throughput] higher in throughput
        [errors] more reliable
        [capacity] higher in capacity
       *[cpu] more efficient
    } than { $loser }{ $loads } ({ $evidence })
    .by-at-highest = { $winner } is { $kind ->
        [time] faster
        [throughput] higher in throughput
        [errors] more reliable
        [capacity] higher in capacity
       *[cpu] more efficient
    } than { $loser }{ $loads }, by { $size }{ $highest } ({ $evidence })
    .equal = { $theirs } and { $ours } are { $kind ->
        [time] equally fast
        [throughput] equal in throughput
        [errors] equally reliable
        [capacity] equal in capacity
       *[cpu] equally efficient
    }{ $loads } ({ $values })
    .at = {" "}at { $loads }
    .at-all = {" "}at all { $count } loads
    .at-some = {" "}at { $count } of { $all } loads
    .at-least = at least { $size }
    .values = { $figure } { $first } against { $second }
    .values-and-interval = { $figure } { $first } against { $second }, 95 % CI { $low } to { $high } %
    .with-tail = { $evidence }; { $tail }

# All that is undecided, in one sentence.
undecided = Undecided: { $clauses }.
    .few = { $pairs }: { $count ->
        [one] { $count } repetition is
       *[other] { $count } repetitions are
    } too few
    .many = { $pairs } pairs of contenders: { $count ->
        [one] { $count } repetition is
       *[other] { $count } repetitions are
    } too few
    .pair = { $ours } and { $theirs }
    .pair-at-loads = { $ours } or { $theirs }{ $loads }
    .pair-so-far = { $ours } or { $theirs }{ $loads } ({ $values } so far)
    .saturation = the difference of the saturation points of { $pairs }: { $count ->
        [one] { $count } repetition is
       *[other] { $count } repetitions are
    } too few
    .whether = whether { $ours } or { $theirs } is { $kind ->
        [time] faster
        [throughput] higher in throughput
        [errors] more reliable
        [capacity] higher in capacity
       *[cpu] more efficient
    }{ $loads } ({ $values }: { $reason })
    .more = { $count ->
        [one] { $count } more pair
       *[other] { $count } more pairs
    } of contenders
    .limits = the limits of { $names }, since something else than the server changed the figures of { $disturbed } of { $all }
    .remedy = measure each at least { $needed } times
    .remedy-disturbed = repeat these trials on an idle machine; their verdicts name the cause

# The result of one figure.
compared = { $figure }: { $result }
    .no-data = no data
    .zero = { $value } with both
    .undecided = undecided: { $reason }
    .same = the same for both
    .equal = equal within ±{ $margin }: { $range }
    .better-values = { $name } is better: { $theirs } against { $ours }
    .worse-values = { $name } is worse: { $theirs } against { $ours }
    .better-at-least = { $name } is better by at least { $size }
    .worse-at-least = { $name } is worse by at least { $size }
    .better-by = { $name } is better by { $size } ({ $low } to { $high })
    .worse-by = { $name } is worse by { $size } ({ $low } to { $high })
    .better-between = { $name } is better by { $low } to { $high }
    .worse-between = { $name } is worse by { $low } to { $high }
    .range = { $name } is between { $low } and { $high }
    .range-from = { $name } is { $low } at least; the upper bound is unknown
    .range-to = { $name } is { $high } at most; the lower bound is unknown
    .range-unknown = the difference of { $name } is unknown
    .lower = { $size } lower
    .higher = { $size } higher
    .too-few-blocks = { $count ->
        [one] { $count } block is
       *[other] { $count } blocks are
    } too few{ $so_far }
    .too-few-runs = { $ours } and { $theirs ->
        [one] { $theirs } run
       *[other] { $theirs } runs
    } are too few{ $so_far }
    .so-far = {" "}({ $name } is { $difference } so far)
    .unknown = { $figure }: not known for all contenders.
    .unknown-cpu = { $figure }: unknown, since no CPU time of the server was read.

cannot-decide = { $figures }: { $blocks } cannot show any difference: their smallest possible p-value is { $least } (required: { $required }). At least { $needed } are needed.
    .alone = { $figures }: { $blocks } decide only where { $first } was found to differ; by themselves they take { $needed } (at { $level }).
    .sweep = { $count ->
        [one] { $count } repetition
       *[other] { $count } repetitions
    } cannot decide which contender is better; write --repeat { $needed } (in a plan repetitions: { $needed }).
    .runs = { $figure }: too few runs to show any difference: their smallest possible p-value is { $least } (required: { $required }). At least { $needed ->
        [one] { $needed } run
       *[other] { $needed } runs
    } per side are needed.

excluded-run = A run of { $contender } is excluded: { $reason }.
    .trial = { $contender }{ $loads } in repetition { $repetition } is excluded with its block: { $reason }.
    .unknown-contender = a contender
    .load-missing = most of its load is missing
    .invalid = a consistency check failed in it
    .cut-short = it was cut short
    .capacity = The capacity of { $contender } in repetition { $repetition } is unknown: its block is excluded.
    .capacities = The capacity of { $contender } is not known in { $count } of { $all } searches: { $reason }.
    .capacities-raise-load = The capacity of { $contender } is not known in { $count } of { $all } searches: { $reason }; raise it (--max-load, in a plan find.max_load).
    .capacities-raise-time = The capacity of { $contender } is not known in { $count } of { $all } searches: { $reason }; raise it (--time-budget, in a plan find.time_budget).
    .disturbed = In { $count } of { $all } trials of { $contender }, { $state }.
    .disturbed-with-cause = In { $count } of { $all } trials of { $contender }, { $state }: { $cause }.

# Facts that differ between contenders.
fact-differs = { $fact }: { $first } has { $ours }, { $other } has { $theirs }.
    .first-unknown = { $fact }: { $other } has { $theirs }, that of { $first } is unknown.
    .other-unknown = { $fact }: { $first } has { $ours }, that of { $other } is unknown.

fact =
    .kernel = kernel
    .cpu = CPU
    .cores = cores
    .server = server
    .data-file = content of { $file }
    .limit = limit { $name }
    .setting = setting { $name }
    .place = place of the server
    .interface = interface
    .link = link, bits per second
    .packet = largest packet, bytes
    .accept-queue = accept queue
    .open-files = server's limit on open files
    .protocol = protocol
    .requests = what is asked
    .requests-per-connection = requests per connection
    .proxy = proxy
    .load = load
    .warm-up = warm-up
    .measured-time = measured time
    .timeout = timeout
    .redirects = maximum number of redirects
    .threads = threads
    .reading = reading
    .data-files = data files
    .statuses = statuses
    .reply-bytes = bytes per reply, head and body

fact-value =
    .same-machine = brunt's own machine
    .other-machine = another machine
    .no-limit = no limit
    .unlimited = unlimited
    .bytes-per-second = { $rate } bytes/s
    .none = none
    .nothing = nothing
    .and-more = { $request } and { $count } more
    .piece-every = { $request }, a piece every { $time }
    .piece-after-reply = { $request }, a piece after each reply
    .closed-loop = a closed loop
    .closed-loop-thinking = a closed loop, thinking { $seconds } s
    .open-loop = an open loop, { $spacing }
    .open-loop-with-connections = an open loop, { $spacing }, at most { $connections } connections
    .even = even
    .bursts = bursts of { $size }
    .uniform = uniform within { $share } %

## Sweeps

incomplete =
    .remedy = complete the experiment
    .experiment = The experiment is incomplete: { $trials } of { $planned } trials.
different-loads = The contenders have different kinds of load, so their limits cannot be compared.
few-repetitions = A 95 % CI needs { $needed } repetitions (have { $have }); their range is shown.
    .one = One repetition shows no variation between runs; a 95 % CI needs { $needed }.
    .remedy = repeat more often
few-loads = { $count ->
    [one] { $count } load
   *[other] { $count } loads
} can show neither a knee nor a saturation point for sure.
    .remedy = { $needed } loads or more, from far below the limit to beyond it

sweep-limits = { $contender }: { $limits }.
    .saturation = throughput saturates at { $rate }
    .saturation-of-good = goodput saturates at { $rate }
    .saturation-with-bottleneck = throughput saturates at { $rate } ({ $bottleneck })
    .knee = the response time bends at { $load }
    .peak = throughput peaks at { $rate } at { $load }
    .holds = { $objective } holds up to { $load }
    .met = { $objective } is met at { $load }
    .missed = { $objective } is missed at { $load }
    .missed-at-lowest = { $objective } is missed at the lowest load, { $load }
    .errors = { $share } of the requests fail at { $load }
    .none = { $contender }: no limit up to { $load }.
    .remedy-excluded = { $advice }; the verdicts of these trials give the reason: brunt report ID
    .remedy = sweep further; each limit states the direction

sweep-further = sweep further
    .one-excluded = above it, 1 trial was left out: measure this load again
    .excluded = above it, { $trials } trials were left out: measure these loads again

saturation-difference = { $best } saturates at { $most }, { $other } at { $less }: they differ by { $share } ({ $test }).
    .none = { $best } saturates at { $most }, { $other } at { $less }: no significant difference ({ $test }).
    .test = p = { $p } by the ranks of { $ours } and { $theirs } repetitions

sweep-bottleneck =
    .not-found = The bottleneck of { $contender } was not found: { $bottleneck }.
    .generator = The generator was the bottleneck, not { $contender }: { $bottleneck }.
    .nearest = { $contender } has no saturation point in this range; nearest to its limit at the highest loads: { $bottleneck }.

trials = { $count ->
    [one] { $count } trial
   *[other] { $count } trials
}
trials-left-out =
    .cut-short = { $count } of { $all } excluded: they were cut short: { $places }.
    .invalid = { $count } of { $all } excluded: a consistency check failed: { $places }.
    .remedy = see the verdicts of these trials, and measure them again
    .some = { $count } of { $all } ({ $places })
    .more-steps = { $count ->
        [one] { $count } step
       *[other] { $count } steps
    } more

trials-generator-limited = The generator was the bottleneck in { $trials }. They show no limit of the server.
    .remedy = see the verdicts of these trials: each names its bottleneck
trials-busy-machine = The machine was busy in { $trials }, and that changed figures.
    .with-processes = The machine was busy with other processes in { $trials }, and that changed figures: { $processes }.
    .process = { $process } cores at most, in { $trials }
    .remedy = end them, or measure on another machine; read what belongs to the server with --probe
trials-unexplained = Requests were late in { $trials }, for an unknown reason.

sweep-idle-users = { $contender }: of { $load }, { $waiting } at a time waited for a reply, and the others were { $activity }. Pauses determine the throughput there, and the limit of the server is outside this range.
    .remedy = less think time, or an open loop at a rate

outliers = { $count } outliers. { $first } The others: { $places }.
    .remedy = repeat the trial to see whether it was chance
    .step = { $contender }: at { $load } the throughput was { $rate }, where its neighbours have { $neighbors }. Measure this step again.
    .repetition-throughput = { $contender }: in repetition { $repetition } at { $load } the throughput was { $value }, where the repetitions have { $median } in the middle. Measure it again.
    .repetition-time = { $contender }: in repetition { $repetition } at { $load } the mean response time was { $value }, where the repetitions have { $median } in the middle. Measure it again.

not-robust = The { $limit } of { $contender } is not robust: without the top third of the range it moves by more than a step, or disappears.
    .remedy = a sweep that goes further beyond it

throughput-falls = { $contender }: the throughput falls under overload, from { $most } at { $peak } to { $last } at { $highest }.
    .remedy = keep the load below the peak; bound the server's queues

# Definitions of limits: their names, and how each was found.
load-limit =
    .kept = 99 % achieved
    .asymptotes = users for full throughput
    .kept-how = The highest load up to which at least 99 % of the offered load is achieved.
    .errors-how = The highest load up to which fewer than 1 % of the requests fail at every load.
    .objective-how = The highest load up to which it is met at every load, in more than half of the trials.
    .nowhere = Not met at the lowest load of the sweep; sweep lower.
    .throughout = Not reached: it still holds at the highest load of the sweep, { $load }; { $advice }.
    .unknown = Not known: no trial has this figure.
    .doubt-repetitions = {" "}In { $share } of the repetitions taken alone there was none.
    .doubt-draws = {" "}In { $share } of the draws there was none.

limit-knee =
    .method = Kneedle on the logarithm of { $response }, made non-decreasing, { $range }.{ $doubts }
    .method-of-both = Kneedle on the logarithm of { $response } and of the load, made non-decreasing, { $range }.{ $doubts }
    .few-loads = Not computed: { $needed } loads with a response time are needed (have { $have }).{ $doubts }
    .flat = Not reached: at the highest load { $response } is still { $rise } times that at the lowest, { $range }; { $advice }.{ $doubts }
    .rises = None: { $response } rises { $rise } times { $range }, and nowhere more steeply than before; sweep lower loads.{ $doubts }
    .range = from { $low } to { $high } ({ $count } loads)
    .response = the response time
    .mean = the mean response time
    .not-robust = {" "}Not robust: without the top third of the range it lies elsewhere, or disappears.

limit-saturation =
    .peak = None: the throughput peaks at { $rate } at { $load } and is far lower at higher loads.{ $doubt }
    .ends = The throughput grows with the load up to { $load } and no further (least absolute deviations from min(slope · load, plateau)).{ $doubt }
    .flat = The throughput is saturated at the lowest load already, { $load }; sweep lower.{ $doubt }
    .continues = Not reached: the highest load of the sweep, { $load }, still raises the throughput (or one load alone does not); { $advice }.{ $doubt }
    .unknown = Not computed: several loads are needed.{ $doubt }
    .asymptotes = { $rate } · ({ $least } + { $think } of thinking): above it, users wait for one another.
    .asymptotes-none = None: the throughput has no plateau.
    .asymptotes-beyond = Not reached: the throughput still grows at the highest load of the sweep; { $advice }.

scalability-caution =
    .one-value = It is fitted to { $low } to { $high }, with one value each: no interval of κ is known. Do not extrapolate.
    .no-peak = It is fitted to { $low } to { $high }; κ may be 0, so no peak is known. Do not extrapolate.
    .peak-beyond = It is fitted to { $low } to { $high }; the peak may lie beyond. Do not extrapolate.
    .peak-within = It is fitted to { $low } to { $high }, and its peak lies within. Beyond them it is only a formula.

# Readings of a server that were examined for its bottleneck.
reading =
    .busy-cores = busy cores, share
    .swapped = bytes swapped in per second
    .memory-available = memory available, share
    .link-sent = { $nic } sent, share of the link's speed
    .link-received = { $nic } received, share of the link's speed
    .dropped = { $nic } dropped packets, share
    .workers = workers, share busy
    .connections = connections, share of the limit
    .accept-queue = accept queue, share filled

## Methods

method-of-run =
    .steady = MSER-5 of throughput and p50 on { $count } points, sup-Wald test of the second half, trend test
    .interval = order statistics of the effective sample size
    .interval-from-blocks = order statistics of the effective sample size from { $blocks } blocks of { $points } points
    .no-blocks = no { $needed } blocks of the run are independent of each other
    .too-short = the run is { $times } correlation times long, { $needed } are needed
    .groups = t test of the difference of shares, from { $blocks } blocks of { $intervals } intervals
