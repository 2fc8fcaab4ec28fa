### Findings and conclusions on searches, comparisons and sweeps. A remedy is an attribute of its message.

## Searches

trial-reason =
    .first = first trial
    .recovered = check whether the server recovered: this load met the objectives
    .quarter = a quarter of the previous load, which missed the objectives
    .up-again = the first load again: the server may have been slow at first
    .sequential = half the rate of sequential requests
    .four-times = four times the previous load
    .queued = a quarter above the previous load: requests queue
    .twice = twice the previous load
    .confirmation = confirmation run
    .shallow-overload = slightly above the achieved throughput
    .above = refine above the estimate
    .below = refine below the estimate
    .below-saturation = slightly below the achieved throughput
    .between = between a load that met the objectives and one that missed them
    .check = check at the end: does the server still meet the objectives at this load
    .recovery = recovery
    .overload = overload trial
    .requested = asked for
    .retry = retry: the previous trial was disturbed

# The capacity at objectives, in the summary of a search.
capacity-summary =
    .interval = capacity { $value } { $unit } (95 % CI { $low }–{ $high }) at { $objectives }
    .plus-minus = capacity { $value } ± { $half } { $unit } at { $objectives }
    .between = capacity between { $low } and { $high } { $unit } at { $objectives }
    .at-least = capacity at least { $low } { $unit } at { $objectives }
    .below = capacity below { $high } { $unit } at { $objectives }
    .unknown = capacity unknown at { $objectives }
    .measured = measured for { $seconds } s
    .knee = knee at { $load }
    .saturation = saturates at { $load }/s
    .collapse = throughput falls from { $load } on
    .recovers-at-once = recovers at once
    .recovers = recovers in { $seconds } s
    .no-recovery = no recovery within the observation time
    .bottleneck = limited: { $bottleneck }

# One capacity, with the reason if it is not known better.
one-capacity =
    .interval = { $value } { $unit } ({ $low } to { $high })
    .range = { $low } to { $high } { $unit }
    .at-least = at least { $low } { $unit }: { $reason }
    .below = less than { $high } { $unit }: { $reason }
    .unknown = not known: { $reason }
load-range = { $low } to { $high }
