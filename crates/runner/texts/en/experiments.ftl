### Findings and conclusions on searches, comparisons and sweeps. A remedy is an attribute of its message.

## Searches

no-response = No response from { $contender } in the last { $trials } of { $all } trials.
    .remedy = check the server with `brunt check URL`

capacity-disturbed = In { $count } of { $all } trials the server was not the only limit ({ $limits }): they can show that a load is met, not that it is missed.
    .of-contender = { $contender }: in { $count } of { $all } trials the server was not the only limit ({ $limits }): they can show that a load is met, not that it is missed.
    .limits-and-process = { $limits }; most CPU: { $process } cores
    .remedy = measure when nothing else uses the machine, or from another machine

capacity-imprecise =
    .budget = time budget used up before the target precision was reached.
    .remedy-budget = raise --time-budget
    .remedy-needed = a budget that confirms both ends: --time-budget { $time }
    .stopped = it was stopped before the target precision was reached.
    .remedy-stopped = continue with --resume

server-damaged = the server did not recover from an overload; trials after it are not counted.
    .remedy = restart the server before each trial (plan file: find: {"{"}between: restart{"}"})

requirement =
    .met = required { $requirement }: met; it is { $capacity }.
    .undecided = required { $requirement }: undecided; it is { $capacity }.
    .missed = required { $requirement }: missed; it is { $capacity }.

# The load of a series.
history-load =
    .search = search
