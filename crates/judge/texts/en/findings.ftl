### Findings, verdicts and conclusions on a run. A remedy is an attribute of its message.

## Parts of sentences

requests = { $count ->
    [one] { $count } request
   *[other] { $count } requests
}
connections = { $count ->
    [one] { $count } connection
   *[other] { $count } connections
}
blocks = { $count ->
    [one] { $count } block
   *[other] { $count } blocks
}

# An advice with the command or option that follows it.
advice-with-command = { $advice }: { $command }
progress-of-time = { $time } of { $requested }
progress-of-requests = { $done } of { $requested } in { $time }

## End and length of the run

too-short = The run lasted only { $time } and got { $replies } replies: it shows the start of the server, and the next run may differ.
    .remedy = measure for 10 s or more
    .remedy-iterations = let each user make more iterations
cut-short = The run is incomplete and not comparable with a complete one: { $reason }.
    .no-end = its event log has no end, after { $progress }
    .failed = brunt failed after { $progress } ({ $error })
    .interrupted = it was interrupted after { $progress }
    .early = it ended after { $progress }
    .remedy = repeat it to the end before a comparison

last-stage-longer = { $advice }: give the last stage of the load more time

not-steady = The run reached no steady state ({ $method }): its figures describe a transition.
    .remedy = run longer, or exclude the transition

trend = From the first to the last fifth of the run, { $changes }: the figures depend on its length.
    .rose = { $figure } rose from { $first } to { $last }
    .fell = { $figure } fell from { $first } to { $last }
    .throughput = throughput
    .remedy = look for what grows or slows down with time (memory, connections, data, throttling, other processes), then repeat the run and compare

## Replies

nothing-measured = Nothing was measured: no reply came.
    .with-failures = Nothing was measured: no reply came ({ $failures }).
    .remedy = send one request first: brunt check URL

none-good = None of { $replies } replies was good: this measures the server's errors.
    .with-failures = None of { $replies } replies was good ({ $failures }): this measures the server's errors.
    .remedy = send one request first: brunt check URL; set the expected status with --expect-status

no-reply = { $share } of the requests got no whole reply (most often: { $failure }, { $count } times): throughput and times are of the rest only.

error-replies = { $share } of the replies had an unexpected status ({ $statuses }). They count for throughput and times, but not for goodput.
    .with-times = { $share } of the replies had an unexpected status ({ $statuses }). They count for throughput and times (mean { $errors }, against { $good } of good ones), but not for goodput.

status-remedy =
    .close = look at the server's log; `--expect-status 'close 4000'` makes a close code a good outcome
    .grpc = look at the server's log; brunt run … --trace shows one call with its grpc-message
    .redirect = request their target URLs, or use --follow N
    .credentials = send credentials: --basic, --bearer or --cookie
    .not-found = check the URLs: an error page is faster than a real page
    .rate-limit = the server limits the rate of one client; lift this limit for the test
    .gateway = check the upstream of the server: it did not answer in time
    .overload = check the server's error log: it rejects overload; reduce the load
    .server-error = check the server's error log
    .method = the path does not take this method: see -X
    .other = look at a reply with curl

redirects = { $share } of the replies were redirects ({ $statuses }): the run measures redirects instead of pages.

websocket-pushes = The server sent { $pushes } WebSocket messages that no request awaited, besides { $replies } replies. A reply may be such a message: then its time is not that of an answer.
    .remedy = select the answer: --expect-body REGEX, or until: in a scenario

length-drift = The replies changed in size: { $first } each in the first third of the run, { $last } in the last.
    .remedy = check late replies with curl for error pages or empty pages; --expect-same-length counts them

## Load

think-time = The think time sets the rate ({ $throughput }), not the server: { $users } / ({ $think } of thinking + { $response } of response time) = { $explained }{ $start }. An infinitely fast server would raise it by { $gain }.
    .early = , and the first requests came without a pause
    .remedy = to find the capacity of the server, use -r RATE or a shorter --think; with these users, compare servers by response time

idle-users = Most virtual users were idle: of { $all }, { $waiting } at a time waited for the server, and the others were { $activity }. This is a load of { $waiting } concurrent requests, not of { $all }.
    .thinking = thinking
    .not-asking = not asking
    .pausing = pausing because their connections had failed
    .remedy-thinking = for this number of concurrent requests, leave out the think time
    .remedy-pausing = see the failures: users pause for up to 1 s after a failed connection

overload = The server fell behind: { $offered } were offered and { $completed } completed, so the queue grew until the end of the run. Response times depend on the length of the run.
    .remedy = measure below { $completed }

closed-loop = A closed loop hides queueing (coordinated omission).
    .remedy = open loop at the same throughput: { $command }

unseen-stalls = Percentiles hide stalls: { $share } of the requests took more than { $time }, { $factor } times the median or more, but { $time_share } of the users' time was spent in them. A request at a random time meets a stall that often.
    .remedy = use -r RATE: an open loop sends requests during a stall, too

## Machines

same-machine = Client and server share this machine and its CPU.
    .with-server = Client and server, { $server }, share this machine and its CPU.
    .with-agents = The server and { $agents } share a machine and its CPU.
    .remedy = to measure the server alone, run brunt on another machine
    .remedy-agents = to measure the server alone, run agents elsewhere

groups-differ = The agents of group { $slower } measure longer response times than those of { $faster }: { $slower_share } of their requests took longer than { $time }, and { $faster_share } of those of { $faster } ({ $p }).
    .remedy = compare the lag of the agents (table of agents), and their ways to the server (`brunt check`)
    .remedy-loaded = the loaded agents may make the server look slower than it is: use more agents, or a lower load

quiet-agents-too-few = The quiet agents have too few requests for a comparison with the others.
    .remedy = run longer, or with a higher rate: they get 1 % of the requests

quiet-agents-equal = No difference was found between the response times of quiet and of loaded agents ({ $p }).

agents = { $count ->
    [one] agent { $names }
   *[other] agents { $names }
}
    .and-others = agents { $names } and { $others } more

other-processes = other processes used { $used } of { $cores } cores
    .named = other processes used { $used } of { $cores } cores: { $processes }
    .server = the server used { $used } of { $cores } cores
times-as-much = { $cores } ÷ { $server } = { $factor } × as much

busy-machine = This machine was busy: { $processes }. That may have slowed down brunt's own timing.
    .same-host = This machine was busy: { $processes }. That may have slowed down the server's response times.
    .remedy = end them and measure again; if they belong to the server, read them with --probe

shared-cpu = The server is CPU-bound: it used { $server } of { $cores } cores, brunt { $brunt }. Without brunt on this machine, its capacity would be at most { $capacity }.
    .remedy = less work per page, or more cores

server-memory = The memory of { $server } grew steadily from { $first } to { $last } in { $time }: { $rate } (95 % CI { $low }–{ $high }) MB/h.{ $remaining }
    .machine = { " " }At this rate, the available memory of the machine ({ $room }) lasts { $time }.
    .group = { " " }At this rate, the memory that its control group may still use ({ $room }) lasts { $time }.
    .remedy = look for a leak; or run longer: a cache or a heap below its limit grows in the same way

server-bottleneck = The server's bottleneck: { $bottleneck }.
    .with-others = The server's bottleneck: { $bottleneck }. Also at a limit: { $others }.
    .remedy-workers = more workers, if memory and cores allow it; else less waiting per page
    .remedy-cpu = less work per page, or more cores
    .remedy-core = spread the work over more processes or threads
    .remedy-memory = fewer workers, or more memory
    .remedy-connections = raise the server's limit on connections (and on open files)
    .remedy-accept-queue = raise the listener's backlog and net.core.somaxconn; find out why connections are accepted slowly
    .remedy-disk = check which files are read and written per page: logs, sessions, files larger than memory
    .remedy-network = smaller replies, or a faster link
    .remedy-files = LimitNOFILE=, worker_rlimit_nofile

## Connections

reuse = Connections were reused less than requested: { $requests } needed { $connections }, { $each } each on average, because the server closed them.
    .while-idle = Connections were reused less than requested: { $requests } needed { $connections }, { $each } each on average, because the server closed them while they were idle.
    .remedy-idle = raise the server's keep-alive timeout (nginx: keepalive_timeout, Apache: KeepAliveTimeout)
    .remedy-one = let the server keep connections open: look for keepalive_timeout 0 (nginx), KeepAlive Off (Apache) or HTTP/1.0
    .remedy-hundred = raise the server's limit of requests on a connection: Apache's MaxKeepAliveRequests and Tomcat's maxKeepAliveRequests are 100 unless set
    .remedy-thousand = raise the server's limit of requests on a connection: nginx's keepalive_requests is 1000 unless set
    .remedy-other = raise the server's limit of requests on a connection

retransmissions = All programs of this machine together sent { $segments } TCP segments again, { $share } of all. It is unknown whether segments of this run were among them; each would cost its request 200 ms or more.
    .remedy = look for drops on the way: ip -s link, tc -s qdisc, nstat TcpExtListenDrops

accept-queue = The accept queue overflowed { $count } times during the run{ $backlog }: connections arrived faster than the server accepted them, and waited a second or more.
    .dropped = The listening socket dropped { $count } SYNs during the run{ $backlog }: connections arrived faster than the server accepted them, and waited a second or more.
    .backlog = {" "}(backlog { $backlog })
    .somaxconn = {" "}(net.core.somaxconn { $somaxconn })
    .both = {" "}(backlog { $backlog }, net.core.somaxconn { $somaxconn })

raise-backlog = raise the backlog of the server's listen (nginx: listen … backlog=N, Apache: ListenBacklog) and net.core.somaxconn, which bounds it; or open connections more slowly (--connect-rate)

slow-connects = SYNs were dropped: of { $connections }, { $events }. A full accept queue does this, or a firewall.
    .slow = { $slow } took 1 s or more to open, as after a SYN retransmission
    .lost = { $lost } gave up
    .both = { $slow } took 1 s or more to open, as after a SYN retransmission, and { $lost } gave up

file-limit = The server's file limit shows: { $connections } were open at a time, and a process of { $server } may open { $limit } files.
    .server = the server
    .remedy = raise it (LimitNOFILE= of its service, ulimit -n, nginx: worker_rlimit_nofile); more worker processes have a limit each

connection-limit = The server held { $peak } connections at most, { $users } users had one each, and { $share } of the requests met a closed connection: it has a limit on connections.
    .remedy = raise it (nginx: worker_connections, Apache: MaxRequestWorkers, Tomcat: maxConnections; files: ulimit -n)

link = { $link } is the bottleneck, not the server: { $rate } went over it, { $share } of { $speed }.
    .any = The link
    .of-interface = The link of { $interface }
    .likely = { $link } may be the bottleneck: { $rate } went over it, { $share } of { $speed }, and the rate did not grow further.
    .remedy = use a faster link or smaller replies (--compressed); a faster server would not help

## Samples

few-samples = { $percentile } needs { $needed } requests (have { $have }); { $reliable }.
    .autocorrelated = { $percentile } needs { $needed } independent requests (have { $have }, autocorrelated: worth { $effective }); { $reliable }.
    .highest = { $percentile } is the highest reliable percentile
    .none = no percentile is reliable
    .remedy = run longer

censored = { $share } of the requests got no reply ({ $timed_out } timed out, { $cut } cut off at the end, { $dropped } dropped): { $percentiles } are longer than all figures shown.
    .above = the true percentiles above { $percentile }
    .all = all true percentiles from the median up
    .remedy = reduce the load, or raise --timeout and --grace until all replies come

## Causes of the verdict

duration-of-run = for { $over } of { $measured }
of-agents = { $agents }: { $sentence }

limit-worker = a worker thread was busy { $worst } of its time at worst, and { $threshold } or more { $duration }: what fell due had to wait for it
    .remedy = start more threads: --threads { $threads }
    .remedy-no-core = this machine has no idle core for another thread: reduce the load, or use a larger machine or several

limit-cores = client and server share this machine, and its cores were less than { $threshold } idle { $duration } ({ $worst } at worst): they took CPU from each other{ $used }
    .used = ; brunt used { $brunt } of { $cores } cores
    .used-with-server = ; brunt used { $brunt } of { $cores } cores, the server { $server }
    .remedy = run the server on its own machine, or reduce the load; stop other programs

limit-run-queue = a worker thread was ready but had no core for { $worst } of the time at worst, and for { $threshold } or more { $duration }
    .with-users = a worker thread was ready but had no core for { $worst } of the time at worst, and for { $threshold } or more { $duration }; { $users }
    .remedy-generator = allow brunt more cores (taskset, cpuset), or use a larger machine or several
    .remedy-server = run the server on its own machine, or keep it and brunt on different cores (taskset, cpuset)
    .remedy-unknown = see what else runs on the cores that brunt may use (taskset -p, cpuset), and end it

limit-throttled = the control group's CPU quota held brunt back { $duration }, { $worst } of a second at worst
    .with-quota = the control group's CPU quota of { $cores } cores held brunt back { $duration }, { $worst } of a second at worst
    .remedy = raise the quota (--cpus of a container, CPUQuota= of a service, limits.cpu of a pod), or lift it

limit-steal = the hypervisor gave { $worst } of this machine's CPU to others at worst, and { $threshold } or more { $duration }
    .remedy = measure from a machine with dedicated cores (a dedicated instance, or one that is not oversubscribed)

limit-other-processes = { $others }; brunt { $brunt }; no core was idle { $duration }
    .remedy = end them, or measure on another machine; if they belong to the server, read them with --probe

limit-stopped = { $subject } did not run for { $time } (from { $from })
    .all-workers = brunt (all { $workers } workers)
    .worker = worker { $number }
    .remedy = see what stopped it: a signal (SIGSTOP), a debugger, a suspended machine; then measure again

limit-descriptors = { $requests } requests could not be begun, because the limit leaves room for no more
    .with-limit = { $requests } requests could not be begun, because the limit of { $limit } open files leaves room for no more

limit-no-connection = not one connection could be opened: { $reason }

limit-ports = { $requests } requests found no free local port
    .with-range = { $requests } requests found no free local port of { $ports }

limit-nic =
    .sent = { $interface } sent { $worst } of its { $speed } Mbit/s at worst, and { $threshold } or more { $duration }
    .received = { $interface } received { $worst } of its { $speed } Mbit/s at worst, and { $threshold } or more { $duration }
    .remedy = ask for smaller replies, use a faster link, or measure from several machines

limit-packets = packets arrived faster than this machine received them, { $duration }: { $figures }
    .remedy = spread the packets over more cores (receive queues of the interface, RPS), raise net.core.netdev_max_backlog and the interface's ring, or measure from several machines

limit-conntrack = the firewall's table of connections was full { $duration }: { $worst } of { $limit } entries at worst; it then drops new connections
    .remedy = raise net.netfilter.nf_conntrack_max, exempt these connections (notrack), or reuse connections

limit-memory = this machine was short of memory { $duration }: { $available } of it available at worst, and tasks waited for memory for up to { $waited } of the time
    .remedy-brunt = use fewer connections, or a machine with more memory
    .remedy-others = stop other programs, or use a machine with more memory

limit-lag =
    .slower = requests were begun late { $duration }: without that, the response { $percentile } of { $with } would be { $without }
    .uneven = requests were begun late { $duration }: for { $share } of the time, a quarter more or fewer than planned began in a span of time
    .short = requests were begun late { $duration }: { $share } of the scheduled requests were not begun within the measured time
    .opening = { $sentence }; they waited for paced connection opening, { $rate } connections/s
    .read-late = replies were read late: read lag p99 is { $read }, the response p99 { $response }
    .remedy = see what kept brunt from running: a suspended machine, a debugger, other programs; then measure again
    .remedy-opening = raise --connect-rate (now { $rate })
    .remedy-busy = a worker was busy for more than half of its time, so arrivals waited for a connection: use more threads (--threads) or another machine; if the clients that you model share a number of connections, write it (-c)

lost-processes = { $count ->
    [one] process { $names } of { $total }
   *[other] processes { $names } of { $total }
}
    .others = { $others } more

limit-agent = { $count ->
    [one] { $agents } was lost: its share is missing { $span }, { $share } of the planned load
   *[other] { $agents } were lost: their shares are missing, the first one { $span }, { $share } of the planned load
}
    .to-the-end = from { $from } of the measured time on
    .in-warm-up = during the warm-up
    .in-between = from { $from } to { $to } of the measured time
    .remedy = see the warning for the reason of the loss, and measure again

## Readings that the system does not provide

unseen =
    .no-readings = this run has no readings of the generator: only failures and lag were examined
    .too-short = the measured time of { $time } is too short for rates
    .idle = idle and stolen CPU: /proc/stat is not shown
    .throttled = throttling by a CPU quota: cpu.stat of our control group is not shown
    .memory-pressure = tasks that waited for memory: /proc/pressure is not shown (a kernel without PSI)
    .memory = available memory: /proc/meminfo is not shown
    .descriptors = the number of open descriptors (available since Linux 6.2); failures caused by missing ones are counted
    .sockets = sockets in use: /proc/net/sockstat is not shown; failures for want of a port are counted
    .ports = how many local ports there are: /proc/sys/net/ipv4/ip_local_port_range is not shown
    .packets = packets dropped by full receive queues: /proc/net/softnet_stat is not shown
    .conntrack = a firewall's table of connections: there is none here, or it is not shown
    .read-lag = how late replies were read: the kernel does not stamp them (TLS, Unix sockets, or not Linux)
    .worker-cpu = CPU time of the worker threads: /proc/self/task is not shown
    .worker-run-delay = how long worker threads waited for a core: schedstat is not shown (a kernel without CONFIG_SCHED_INFO)
    .link = the link's speed: its driver does not report it
    .link-of-interface = the link's speed ({ $interface }): its driver does not report it

## Conclusion of a run

conclusion = { $clauses }.
    .load-missing = Most of the load is missing: discard these figures.
    .invalid = A consistency check failed: discard these figures.
    .errors = { $share } errors
    .met = { $figure } is { $value }{ $load }: objective { $objective } met{ $more }
    .missed = { $figure } is { $value }{ $load }: objective { $objective } missed{ $more }
    .errors-met = { $figure } are { $value }{ $load }: objective { $objective } met{ $more }
    .errors-missed = { $figure } are { $value }{ $load }: objective { $objective } missed{ $more }
    .more-objectives = , and { $others } more
    .of-objectives = {" "}({ $missed } of { $all } objectives missed)
    .behind = { $achieved } of { $offered } were answered in time: { $times }
    .open = { $times }{ $load }
    .closed = { $throughput } requests/s{ $load }: { $times }
    .median = p50 is { $median }
    .median-and-tail = p50 is { $median }, { $percentile } { $tail }
    .at-least = at least { $value }
    .at-rate = {" "}at { $rate }
    .up-to-rate = {" "}at up to { $rate }
    .with-users = {" "}with { $users }
    .up-to-users = {" "}with up to { $users }
    .limited = the generator was the limit, so the server may do better
    .load-lost = { $share } of the planned load is missing, so the server had less to do
    .busy-machine = the machine was busy and slowed it, so the server may do better
    .unexplained = it is unknown what delayed requests, so the server may do better

## Bottleneck of the server

bottleneck =
    .generator = the generator was limited by { $limits }
    .none = no examined resource was at its limit ({ $resources })
    .not-examined = not examined: { $resources }
    .open-files = open files
    .memory = memory
    .CPU = CPU
    .single-threads = single threads
    .disks = disks
    .network = network
    .workers = workers
    .connections = connections
    .accept-queues = accept queues
    .cpu-of-unknown = the server is not known to have used most of it
    .cpu-of-generator = the generator took { $share } of the CPU time of the machine that it shares with the server
    .core = one thread of { $process } used { $share } of a core
    .brunt = brunt itself
    .others = others
    .cpu-busy = CPU: { $share } of { $cores } cores busy
    .cores-of = { $process } { $cores } cores
    .without-brunt = without brunt on the same machine, its capacity would be at most { $capacity }
    .swap = memory: { $source } read { $rate }/s back from swap
    .memory-available = memory: { $share } of { $source } available
    .memory-waited = memory: tasks of { $source } waited for it { $share } of the time
    .disk-busy = disk { $disk } of { $source } busy { $share } of the time
    .link-sent = network: { $nic } of { $source } sent { $share } of its { $speed }
    .link-received = network: { $nic } of { $source } received { $share } of its { $speed }
    .dropped = network: { $nic } of { $source } dropped { $share } of its packets
    .files-used = { $source }: { $share } of the limit on open files used
    .workers-busy = all { $busy } { $workers } busy
    .workers-and-queue = all { $busy } { $workers } busy, { $queued } queued
    .workers-php = php-fpm children
    .workers-apache = Apache workers
    .workers-tomcat = Tomcat threads
    .workers-haproxy = connections from HAProxy to its servers
    .workers-other = workers
    .connections-open = { $source }: { $share } of { $limit } connections open
    .connections-closed = { $source } closed { $count } connections at once, because its table was full
    .accept-queue-full = { $source }: accept queue full ({ $places } entries)
    .accept-queue-overflow = { $source }: { $count } connections found the accept queue full

## Consistency checks

check =
    .planned = planned requests
    .begun = begun requests
    .over-time = counts over time
    .histograms = histograms
    .statuses = statuses
    .labels = labels
    .agents = agents
    .bytes = bytes of bodies
    .in-flight = requests in flight
    .little = Little's law
    .transactions = transactions
    .schedule = arrivals against the schedule
    .spacing = spacing of arrivals

# The arithmetic of the checks.
check-sum =
    .planned = { $planned } planned = { $begun } begun + { $dropped } dropped + { $waiting } waiting when the run ended
    .begun = { $begun } begun = { $completed } completed + { $failed } failed + { $cut } cut
    .over-time = over time as in the totals: { $counts }
    .not-over-time = { $over_time } { $name } over time, { $total } in the totals
    .histograms = { $values } values in { $histograms } histograms, as many as were counted
    .not-histograms = { $values } { $name }, of { $counted } requests that have one
    .statuses = { $counted } statuses of { $completed } whole replies
    .labels = { $summed } whole replies under labels, { $total } in the total
    .agents = requests of { $agents } agents: { $counts }
    .of-total = { $summed } { $name } of { $total }
    .bytes = { $announced } bytes of body announced in Content-Length, { $received } read after those heads
    .in-flight = { $counted } s in flight by counting, { $summed } s as the sum of the times of all requests
    .little = { $users } users; { $rate }/s × { $each } s in flight = { $busy }
    .little-with-thinking = { $users } users; { $rate }/s × { $each } s in flight = { $busy } + { $thinking } thinking = { $observed }
    .transactions = { $started } started = { $succeeded } succeeded + { $failed } failed + { $unfinished } unfinished
    .of-transaction = { $name }: { $sum }, { $times } times, { $failed } of failed ones
    .schedule = { $arrivals } arrivals; largest deviation from the schedule { $share } (threshold: { $most })
    .spacing = variance over mean of arrivals in { $seconds } s: { $planned } planned, { $begun } begun, in { $spans } spans; { $most } of difference allowed; { $displaced } of the time put aside because much was begun late

check-count =
    .planned = planned
    .begun = begun
    .completed = completed
    .good = good
    .bytes-received = bytes received
    .bytes-sent = bytes sent
    .response-times = response times
    .service-times = service times
    .first-bytes = first bytes
    .lags = lags
    .queue-waits = queue waits
    .failure-times = times of failures
    .of = { $count } { $name }
