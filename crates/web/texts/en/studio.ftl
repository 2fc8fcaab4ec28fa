### Texts of the studio's pages. The Chinese texts are in ../zh/studio.ftl, with the same ids and arguments.

## All pages

strip-start = Start a run
strip-record = Record
strip-import = Import a plan
strip-history = History
strip-retention = Retention
search = Search
file = File
share = Share as a file
messages = Messages
list-separator = { ", " }
clause-separator = { ", " }

link-title = Studio
link-continue = Continue

## Requests that are refused, and problems

refused-host = This is not the address of the studio. Open the link that `brunt studio` has printed.
refused-proxy = The studio does not answer through the proxy of a recording. Set no proxy for its address.
refused-site = The studio answers only to its own pages. Go back, load the page again, and repeat it.
refused-token = This browser is not admitted. Open the link that `brunt studio` has printed. It works once: press Enter there for another one.
refused-link = This link does not work any more. Press Enter where `brunt studio` runs for another one.

problem-busy = Too many requests wait for slow files. Try again in a minute.
problem-title = Not shown
problem-runs = All runs
problem-no-page = There is no such page.
form-slow = The content of the request did not come in time.
form-long = The content of this request has at most { $bytes } bytes.
language-unknown = `{ $tag }`: this form has no known language; write en or zh.

## List of runs and experiments

runs-title = Runs
runs-heading = Runs and experiments
runs-count = { $count ->
    [one] { $count } item
   *[other] { $count } items
}
runs-found = { $count ->
    [one] { $found } of { $count } item
   *[other] { $found } of { $count } items
}
runs-none = Nothing is stored yet. Run { $command } in a terminal, then load this page again.
runs-compare = Compare the selected
runs-reference = The oldest one is the reference.
runs-host = Host
runs-label = Label
runs-tag = Tag
runs-verdict = Verdict
runs-any = any
runs-pinned = pinned
runs-show = Show
runs-all = all
runs-history = History of the selected
runs-select = select
runs-select-one = select { $id }
runs-column-id = id
runs-column-when = when (UTC)
runs-column-when-local = when
runs-column-what = what
runs-column-load = load
runs-column-throughput = replies/s
runs-column-p99 = p99
runs-column-errors = errors
runs-column-verdict = verdict
runs-remarks = tags and notes
runs-experiment = experiment
runs-trials = { $name }, { $done } of { $all } trials
runs-users = { $figures } users
runs-rate = { $figures }/s
runs-running = running
runs-interrupted = interrupted
runs-torn = torn
runs-verdict-and-state = { $verdict }, { $progress }
runs-protected = protected from removal
runs-pages = Pages
runs-later = later
runs-earlier = earlier
runs-page = page { $number } of { $count }

# States as in the JSON report.
verdict-state = { $state ->
    [ok] ok
    [unjudged] unjudged
    [busy_machine] busy_machine
    [unexplained] unexplained
    [limited] limited
   *[invalid] invalid
}

## A run or an experiment

item-replay = Replay
item-history = History of runs like this one
item-no-replay-yet = An active run has no replay yet.
item-no-replay = Runs have a replay, experiments have none: open one of its runs.
item-no-subset = { $id } has no figures over time for `{ $only }`.
item-experiment = its experiment
item-charts = { $kind ->
    [population] charts of population { $name }
    [agent] charts of agent { $name }
    [label] charts of label { $name }
   *[transaction] charts of transaction { $name }
}
item-whole-run = show the whole run
item-pin = Pin
item-unpin = Unpin
item-tag = Tag
item-new-tag = new tag
item-tag-example = tag
item-remove-tag = remove the tag { $tag }
item-note = note
item-save-note = Save the note
item-runs = Its runs
item-no-order = This form has no order: mark or stop.
item-no-active-trial = No trial is active at this moment. Try again when the next one has begun.
item-no-change = This form has no change: tag, untag, pin, unpin or note.

## An active run or experiment

live-running = running for { $time }
live-age = ; the newest figures are { $seconds } s old
live-silent = no figures: the studio does not answer ({ $error })
live-over = The run is over.
live-experiment-over = The experiment is over.
live-load = Load its page
live-mark = mark
live-mark-example = such as: deployed
live-mark-now = Mark this instant
live-stop = Stop the run
live-trials = { $ended } of { $planned } trials have ended.
live-trials-of-search = { $ended ->
    [one] { $ended } trial has ended.
   *[other] { $ended } trials have ended.
}
live-active-trial = The active trial
live-results = Show the results of all trials that have ended
live-stop-experiment = Stop the experiment

## Replay of a run

replay-no-time = { $field }={ $value }: write a time in seconds, such as 12.5
replay-instant = instant of the replay, in seconds
replay-show = Show
replay-speed = speed of the replay
replay-play = Play
replay-pause = Pause
replay-at = at { $time } of { $end }
replay-end = End of the run

## Comparison

compare-title = Comparison
compare-strip = comparison of { $names }
compare-active = { $id } is still running; compare it after its end.
compare-too-few = Select at least two runs or experiments in the list.
compare-differences = Why do these differ?
compare-no-facts = No known fact about data, environment, server or version differs.
compare-facts = Different facts
compare-subject = subject
compare-fact = fact
compare-plan = plan
compare-data = data
compare-environment = environment
compare-server = server
compare-version = version
compare-values = { $count ->
    [one] { $count } value of the plans
   *[other] { $count } values of the plans
}
compare-values-table = Different values of the plans
compare-place = place in the plan
compare-first-values = These are the first { $count }.
compare-excerpt = { $excerpt } ({ $count } characters)

## Start of a run

start-target = URL or plan file
start-next = Next
start-edit = Edit the plan
start-try = Try once
start-try-about = One user performs the scenario once; each request and reply is shown.
start-rate = Arrivals per second
start-rate-example = such as 500, or 0..500/30s,500/2m
start-users = Users, without a rate
start-users-example = 10
start-time = Time
start-time-example = 10s
start-requests = Requests, in place of a time
start-requests-example = { "" }
start-options = Further options, as in a terminal
start-options-example = such as -H 'Accept: text/html'
start-run = Start
leases = Leases
leases-about = These servers are being measured. A run that needs one of them is refused. End a lease only if its holder is gone.
lease-servers = Servers
lease-holder = Holder
lease-purpose = Purpose
lease-remaining = Remaining time
lease-end = End
start-no-variables = This plan has no variables.
start-several-values = several values
start-no-target = Write a URL or the path of a plan file.
start-unreadable = { $path }: { $error }; write a URL with its scheme, or a plan file
start-open-quote = The options have a quote without an end.
starting-title = Starting
starting-about = The page of the run follows as soon as it begins.


## Retention

retention-title = Retention
retention-about = Old event logs become digests, so that reports still work. Old or many runs and experiments are removed. Pinned items, baselines and active runs stay.
retention-logs-older-than = Logs older than
retention-older-than = Runs and experiments older than
retention-max-size = Maximum size of the store
retention-list = List the steps
retention-no-limit = This form has no limit.
retention-changed = The steps have changed since they were shown. Nothing was removed.
retention-nothing = Nothing to remove; the store has { $size }.
retention-frees = These steps free { $freed } of { $size }. They cannot be undone.
retention-prune = Carry out these steps
retention-freed = Freed { $freed } of { $size }.
retention-skipped = Skipped { $id }: { $reason }
retention-column-action = action
retention-column-id = id
retention-column-age = age
retention-column-size = size
retention-column-reason = reason
retention-remove-log = remove log
retention-remove-logs = remove logs
retention-remove-run = remove run
retention-remove-experiment = remove experiment
retention-log-is-older = log older than { $limit }
retention-is-older = older than { $limit }
retention-is-larger = store larger than { $limit }
retention-keep = keep
retention-baseline = baseline `{ $name }`
retention-pinned = pinned
retention-active = still being written

## Import of a plan

import-title = Import
import-formats = Formats: a recording of a browser (HAR), commands of curl, OpenAPI, a collection of Postman, a plan of JMeter, a list of URLs.
import-input = input
import-drop = drop a file here, or paste its text
import-plan-file = Plan file to create
import-unknown = The format is not known. Write HAR, commands of curl, OpenAPI, a collection of Postman, a plan of JMeter (.jmx), or a URL on each line.
import-unsaved = The plan is not saved yet. Its comments name all parts of the input that a plan cannot express.
import-secrets = Secrets were not copied. Set these environment variables before a run:
import-losses = Not imported, or different:

## Editor of plan files

edit-text = text of the plan
edit-problems = problems
edit-save = Save
edit-save-and-try = Save, and try once
edit-convert = Turn into a plan file
edit-no-plan = `{ $file }`: write the path of a plan file, such as shop.yaml
edit-large = { $file }: the editor opens at most 10 MiB
edit-encoding = { $file }: a file in the editor must be in UTF-8, and declare no other encoding
edit-unreadable = { $file } cannot be read: { $error }
edit-unwritable = { $file } cannot be written: { $error }
edit-changed = { $file } has changed on the disk since it was opened here, so it was not written. Save this text under another name, or open the file again.
edit-unsupported = brunt does not run this element: { $element }
edit-no-element = `{ $path }`: the plan has no such element
edit-forgotten = The studio does not have this text any more; send it again.
edit-users = users
edit-requests = requests/s

## A try of a plan file

try-of-file = Try { $number } of { $file }
try-no-plan = Write the path of a plan file.
try-forgotten = Try { $number } is not kept: a studio keeps its last { $count } tries.
try-again = Try again
try-compare = Compare with try { $number }
try-running = running
try-stop = Stop
try-samples = samples
try-end-of-iteration = end of the iteration
try-more = and { $count } more

## A sample of a try

sample-good = good
sample-failed = failed
sample-result = { $outcome }: { $status }
sample-received = { $size } received
sample-sent = { $size } sent
sample-opening = connection opened in { $time }
sample-first-byte = first byte after { $time }
sample-summary = { $facts }; user { $user }, iteration { $iteration }
sample-summary-with-url = { $facts }; user { $user }, iteration { $iteration }; { $url }
sample-variables-before = Variables before the request
sample-variables-after = Variables after the reply
sample-variable = Variable
sample-before = Before
sample-after = After
sample-challenged = challenged
sample-part = part { $number } of { $count }
sample-evaluations = Extractors and checks
sample-kind = Kind
sample-name = Name
sample-expected = Expected, or expression
sample-found = Found
sample-outcome = Result
sample-extractor = extractor
sample-check = check
sample-script = script
sample-matched = matched
sample-no-match = no match
sample-passed = passed
sample-failed-check = failed
sample-ended = ended
sample-error = error
sample-request = Request
sample-reply = Status and headers of the reply

## Body of a reply

body-title = Body of the reply, { $size }
body-text = Text
body-tree = Tree
body-bytes = Bytes
body-large = A body of more than { $size } is shown as text only.
body-selected = Text of the body
body-propose = Propose extractors
body-found = { $count } found
body-part = bytes { $from } to { $to }
body-before = before
body-after = after
tree-no-json = The JSON cannot be shown as a tree: { $error }
tree-unknown = The body is neither JSON nor XML nor HTML: { $error }
tree-cut = The tree shows the first { $count } values.

## Proposals of extractors

extract-title = Extractors of { $text }
extract-not-in-body = The selected text is not in this body.
extract-none = No extractor finds this text first; select a whole value.
extract-by = By
extract-expression = Expression
extract-matches = Matches in all replies
extract-matching-replies = Replies with a match
extract-replies = { $count } of { $all }
extract-contained = { $count } of { $all } replies contain it
extract-add-check = Add a check that the body contains it
extract-add = Add to the plan
extract-variable = variable
extract-no-extractor = This form has no extractor.
extract-no-sample = There is no such sample.
extract-no-name = `{ $variable }`: write a name of letters, digits and _, such as token
extract-exists = { $path } has a value already; write another name, or change the text of the plan
extract-no-step = { $file } has { $count } steps with the label `{ $label }`; give the step a unique `name`, and try again

## Comparison of two tries

tries-title = Try { $ours } compared with try { $theirs }
tries-equal = Status, variables, extractors, checks and sizes are the same.
tries-count = { $count ->
    [one] { $count } difference
   *[other] { $count } differences
}
tries-sample = Sample
tries-value = Value
tries-try = Try { $number }
tries-status = status
tries-result = result
tries-body = body { $number }
tries-bytes = { $count ->
    [one] { $count } byte
   *[other] { $count } bytes
}
tries-request = request
tries-variable = variable { $name }
tries-found = found by { $name }

## Recordings

record-title = Record
record-active = Active: recording { $number } for { $file }
record-url = URL
record-source = Source
record-browser = A browser, which opens now
record-headless = A browser without a window: only the first page
record-proxy = Another program or a phone, with a proxy
record-twice = Record twice to find dynamic values: repeat the same actions in a second recording
record-file = Plan file to create
record-overwrite = Overwrite the file if it exists
record-address = Address of the proxy
record-phone = For a phone, write the address of this machine in its network, with a port.
record-start = Start the recording
record-no-url = Write the URL of the first page, such as https://shop.example/.
record-no-plan = A recording creates a plan file, such as shop.yaml.
recording-title = Recording
recording-active = Use the site as its visitors do. The plan opens here when the recording ends.
recording-twice = End the first recording, repeat the same actions, and end the second one.
recording-end = End the recording
recording-process = The recording continues without the studio. It is the process { $process }.
recording-failed = The recording failed.
recording-options = In the form, --headless is the source “{ $headless }”, and --force is “{ $overwrite }”.
recording-again = Record again
recording-saved = The plan of the recording is saved in this file.
recording-messages = Messages of the recording
recording-unknown = The studio has no recording { $number }. It keeps the last ones that it has started.

## History

history-figure = Figure
history-like = Runs like
history-latest-run = latest
history-latest = Latest
history-like-run = like { $run }
history-changes = Change points
history-runs = Runs
history-table = Runs of the history
history-remarks = remarks
history-terminal = In a terminal: { $command }
history-all-series = all series
history-compare = Compare the runs before and after it
history-compare-several = several runs of each side: { $command }
history-levels = Levels between changes
history-level-first = first run
history-level-last = last run
history-level-runs = runs
history-level-median = median
history-series = Series of this selection: { $count }
history-latest-series = These are the latest { $count }.
history-series-item = { $count ->
    [one] { $series }: { $count } run, { $first } to { $last }
   *[other] { $series }: { $count } runs, { $first } to { $last }
}

## Team

refused-permission = This token has the permission `read`, and `run` is needed here. The operator of the studio makes one: brunt studio token NAME run
refused-cookie = The API changes nothing for a cookie. Send the header `Authorization: Bearer TOKEN`, with a token of `brunt studio token NAME run`.
refused-tokens = No token is valid now, because the file of tokens cannot be used. The operator of the studio sees the reason in its messages.
strip-sign-out = Sign out
sign-in-title = Sign in
sign-in-token = Token
sign-in-hint = The operator of this studio makes tokens with { $command }.
sign-in-no-token = There is no such token.
