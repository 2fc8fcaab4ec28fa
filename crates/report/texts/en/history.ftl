### Histories of a figure.

history-column =
    .id = id
    .when = when (UTC)
    .figure = figure
    .interval = 95 % CI
    .verdict = verdict

history-chart =
    .start = Start of the run (UTC)
    .days = days since { $day }
    .run = run
    .median = median between changes
    .excluded = run that is not counted

counted-runs = { $count ->
    [one] { $count } counted run
   *[other] { $count } counted runs
}

history-conclusion = { $changes ->
    [one] { $changes } change point
   *[other] { $changes } change points
} in { $runs } (false-alarm rate with independent runs: { $level } of histories without a change).
    .no-change = No change point in { $runs } (false-alarm rate with independent runs: { $level } of histories without a change).
    .too-few-runs = Unknown whether the level changed: { $runs }, and a change point needs at least { $needed }.
    .about = { $conclusion } { $changes }
    .changes = { $first } { $next }

day = { $month ->
    [1] Jan
    [2] Feb
    [3] Mar
    [4] Apr
    [5] May
    [6] Jun
    [7] Jul
    [8] Aug
    [9] Sep
    [10] Oct
    [11] Nov
   *[12] Dec
} { $day }

# Its day is a `day`.
date = { $day }, { $year }

history-note =
    .older-runs = { $count ->
        [one] { $count } older run
       *[other] { $count } older runs
    } left out: a history has at most { $most } runs; raise the number with --last.
    .other-plans = { $count ->
        [one] { $count } run
       *[other] { $count } runs
    } of the same servers, labels and load left out: their plans differ from that of { $id }.
    .further-series = Further series in the selection: { $count }. Choose one by one of its runs, with --like ID.
    .excluded = { $count ->
        [one] { $count } run
       *[other] { $count } runs
    } shown, but not counted.
    .doubtful = { $count ->
        [one] { $count } run
       *[other] { $count } runs
    } with another verdict than { $verdict }: counted, because a selection by verdict would be one by result.
    .independent = Too few runs for an estimate of their autocorrelation: independent noise is assumed.
    .similar = Successive runs are similar (autocorrelation { $autocorrelation }): false change points are more frequent than in independent runs.
