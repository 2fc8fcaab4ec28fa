### Findings, verdicts and conclusions on a run. A remedy is an attribute of its message.

## Parts of sentences

requests = { $count } 个请求
connections = { $count } 个连接
blocks = { $count } 个区组

# An advice with the command or option that follows it.
advice-with-command = { $advice }：{ $command }
progress-of-time = { $time }（计划 { $requested }）
progress-of-requests = { $time }（计划 { $requested }，已发出 { $done } 个）

## End and length of the run

too-short = 本次运行只持续了 { $time }，收到 { $replies } 个响应：结果反映的是服务器的启动阶段，下一次运行可能不同。
    .remedy = 测量 10 s 或更长时间
    .remedy-iterations = 让每个用户执行更多次迭代
cut-short = 本次运行不完整，不能与完整的运行比较：{ $reason }。
    .no-end = 事件日志没有结尾，已运行 { $progress }
    .failed = brunt 出错（{ $error }），已运行 { $progress }
    .interrupted = 运行被中断，已运行 { $progress }
    .early = 运行提前结束，已运行 { $progress }
    .remedy = 重新完整运行一次，再作比较

last-stage-longer = { $advice }：延长负载的最后一个阶段

not-steady = 本次运行未达到稳态（{ $method }）：数据反映的是过渡阶段。
    .remedy = 延长运行时间，或排除过渡阶段

trend = 从运行的前五分之一到最后五分之一，{ $changes }：结果取决于运行时长。
    .rose = { $figure }（{ $first }）升至 { $last }
    .fell = { $figure }（{ $first }）降至 { $last }
    .throughput = 吞吐量
    .remedy = 查找随时间增长或变慢的因素（内存、连接、数据、限流、其他进程），然后重新运行并比较

## Replies

nothing-measured = 没有测量结果：未收到任何响应。
    .with-failures = 没有测量结果：未收到任何响应（{ $failures }）。
    .remedy = 先发送一个请求：brunt check URL

none-good = { $replies } 个响应中没有一个成功：测量的是服务器的错误。
    .with-failures = { $replies } 个响应中没有一个成功（{ $failures }）：测量的是服务器的错误。
    .remedy = 先发送一个请求：brunt check URL；用 --expect-status 设置预期的状态码

no-reply = { $share } 的请求没有收到完整的响应（最常见：{ $failure }，{ $count } 次）：吞吐量和时间只包括其余请求。

error-replies = { $share } 的响应状态码不符合预期（{ $statuses }）。它们计入吞吐量和时间，但不计入有效吞吐量（goodput）。
    .with-times = { $share } 的响应状态码不符合预期（{ $statuses }）。它们计入吞吐量和时间（平均 { $errors }，成功的响应为 { $good }），但不计入有效吞吐量（goodput）。

status-remedy =
    .close = 查看服务器日志；`--expect-status 'close 4000'` 将一个关闭码视为成功
    .grpc = 查看服务器日志；brunt run … --trace 显示一次调用及其 grpc-message
    .redirect = 直接请求重定向的目标 URL，或使用 --follow N
    .credentials = 发送凭据：--basic、--bearer 或 --cookie
    .not-found = 检查 URL：错误页面比真实页面快
    .rate-limit = 服务器限制单个客户端的速率；测试时取消该限制
    .gateway = 检查服务器的上游：上游没有及时响应
    .overload = 检查服务器的错误日志：服务器因过载而拒绝请求；降低负载
    .server-error = 检查服务器的错误日志
    .method = 该路径不支持此方法：见 -X
    .other = 用 curl 查看一个响应

redirects = { $share } 的响应是重定向（{ $statuses }）：测量的是重定向，而不是页面。

websocket-pushes = 除了 { $replies } 个回复，服务器还发送了 { $pushes } 条没有请求等待的 WebSocket 消息。回复可能就是这样的消息：那么其时间并不是应答的时间。
    .remedy = 选出应答：--expect-body REGEX，或场景中的 until:

length-drift = 响应的大小发生了变化：运行的前三分之一平均 { $first }，最后三分之一平均 { $last }。
    .remedy = 用 curl 检查后期的响应是否为错误页面或空页面；--expect-same-length 可统计这类响应

## Load

think-time = 决定速率（{ $throughput }）的是思考时间，而不是服务器：{ $users } /（思考时间 { $think } + 响应时间 { $response }）= { $explained }{ $start }。即使服务器无限快，速率也只会提高 { $gain }。
    .early = ，并且首批请求没有停顿
    .remedy = 要测量服务器的容量，使用 -r RATE 或更短的 --think；在这些用户数下，按响应时间比较服务器

idle-users = 大多数虚拟用户处于空闲状态：{ $all } 个用户中，同时等待服务器的有 { $waiting } 个，其余用户{ $activity }。实际负载是 { $waiting } 个并发请求，而不是 { $all } 个。
    .thinking = 处于思考时间
    .not-asking = 没有发送请求
    .pausing = 因连接失败而暂停
    .remedy-thinking = 要达到这一并发请求数，去掉思考时间
    .remedy-pausing = 查看失败信息：连接失败后，用户最多暂停 1 s

overload = 服务器处理不过来：施加负载为 { $offered }，完成 { $completed }，因此队列一直增长到运行结束。响应时间取决于运行时长。
    .remedy = 在低于 { $completed } 的负载下测量

closed-loop = 闭环会掩盖排队时间（协调遗漏，coordinated omission）。
    .remedy = 以相同的吞吐量使用开环：{ $command }

unseen-stalls = 百分位掩盖了停顿：{ $share } 的请求耗时超过 { $time }，即中位数的 { $factor } 倍或更多，但用户有 { $time_share } 的时间花在这些请求上。在随机时刻发出的请求会以这一概率遇到停顿。
    .remedy = 使用 -r RATE：开环在停顿期间也会发送请求

## Machines

same-machine = 客户端与服务器共用这台机器及其 CPU。
    .with-server = 客户端与服务器（{ $server }）共用这台机器及其 CPU。
    .with-agents = 服务器与 { $agents }共用一台机器及其 CPU。
    .remedy = 要单独测量服务器，在另一台机器上运行 brunt
    .remedy-agents = 要单独测量服务器，在其他机器上运行压测代理

groups-differ = { $slower } 组的压测代理测得的响应时间比 { $faster } 组长：{ $slower } 组有 { $slower_share } 的请求耗时超过 { $time }，{ $faster } 组为 { $faster_share }（{ $p }）。
    .remedy = 比较各压测代理的滞后（压测代理表）及其到服务器的路径（`brunt check`）
    .remedy-loaded = 承担负载的压测代理可能使服务器显得比实际慢：使用更多压测代理，或降低负载

quiet-agents-too-few = 低负载压测代理的请求太少，无法与其他压测代理比较。
    .remedy = 延长运行时间，或提高速率：它们只分到 1 % 的请求

quiet-agents-equal = 低负载压测代理与承担负载的压测代理之间未发现响应时间差异（{ $p }）。

agents = { $count } 个压测代理（{ $names }）
    .and-others = { $names } 及另外 { $others } 个压测代理

other-processes = 其他进程使用了 { $cores } 核中的 { $used } 核
    .named = 其他进程使用了 { $cores } 核中的 { $used } 核：{ $processes }
    .server = 服务器使用了 { $cores } 核中的 { $used } 核
times-as-much = { $cores } ÷ { $server } = { $factor } 倍

busy-machine = 本机繁忙：{ $processes }。这可能使 brunt 自身的计时变慢。
    .same-host = 本机繁忙：{ $processes }。这可能使服务器的响应时间变长。
    .remedy = 结束这些进程后重新测量；如果它们属于服务器，用 --probe 读取其数据

shared-cpu = 服务器受 CPU 限制：{ $cores } 核中，服务器使用 { $server } 核，brunt 使用 { $brunt } 核。如果本机不运行 brunt，服务器的容量最多为当前的 { $capacity }。
    .remedy = 减少每个页面的处理量，或增加核数

server-memory = { $server } 的内存在 { $time } 内持续增长，从 { $first } 增至 { $last }：{ $rate }（95 % 置信区间 { $low }–{ $high }）MB/h。{ $remaining }
    .machine = 按此速度，机器的可用内存（{ $room }）可维持 { $time }。
    .group = 按此速度，其控制组的剩余内存（{ $room }）可维持 { $time }。
    .remedy = 检查内存泄漏；或延长运行时间：未达到上限的缓存或堆也会这样增长

server-bottleneck = 服务器的瓶颈：{ $bottleneck }。
    .with-others = 服务器的瓶颈：{ $bottleneck }。同样达到上限的有：{ $others }。
    .remedy-workers = 如果内存和核数允许，增加工作进程或线程；否则减少每个页面的等待时间
    .remedy-cpu = 减少每个页面的处理量，或增加核数
    .remedy-core = 将工作分散到更多进程或线程
    .remedy-memory = 减少工作进程或线程，或增加内存
    .remedy-connections = 提高服务器的连接数上限（以及打开文件数上限）
    .remedy-accept-queue = 提高监听套接字的 backlog 和 net.core.somaxconn；查明接受连接缓慢的原因
    .remedy-disk = 检查每个页面读写哪些文件：日志、会话、大于内存的文件
    .remedy-network = 减小响应，或使用更快的链路
    .remedy-files = LimitNOFILE=、worker_rlimit_nofile

## Connections

reuse = 连接的复用少于计划：{ $requests }用了 { $connections }，平均每个连接 { $each } 个请求，因为服务器关闭了连接。
    .while-idle = 连接的复用少于计划：{ $requests }用了 { $connections }，平均每个连接 { $each } 个请求，因为服务器关闭了空闲的连接。
    .remedy-idle = 提高服务器的 keep-alive 超时（nginx：keepalive_timeout，Apache：KeepAliveTimeout）
    .remedy-one = 让服务器保持连接：检查是否有 keepalive_timeout 0（nginx）、KeepAlive Off（Apache）或 HTTP/1.0
    .remedy-hundred = 提高服务器对每个连接请求数的上限：Apache 的 MaxKeepAliveRequests 和 Tomcat 的 maxKeepAliveRequests 默认为 100
    .remedy-thousand = 提高服务器对每个连接请求数的上限：nginx 的 keepalive_requests 默认为 1000
    .remedy-other = 提高服务器对每个连接请求数的上限

retransmissions = 本机所有程序共重传了 { $segments } 个 TCP 段，占全部的 { $share }。其中是否有本次运行的段尚不清楚；每次重传会使相应的请求增加 200 ms 或更多。
    .remedy = 检查路径上的丢包：ip -s link、tc -s qdisc、nstat TcpExtListenDrops

accept-queue = 运行期间 accept 队列溢出 { $count } 次{ $backlog }：连接到达的速度超过服务器接受的速度，这些连接等待了一秒或更久。
    .dropped = 运行期间监听套接字丢弃了 { $count } 个 SYN{ $backlog }：连接到达的速度超过服务器接受的速度，这些连接等待了一秒或更久。
    .backlog = （backlog { $backlog }）
    .somaxconn = （net.core.somaxconn { $somaxconn }）
    .both = （backlog { $backlog }，net.core.somaxconn { $somaxconn }）

raise-backlog = 提高服务器 listen 的 backlog（nginx：listen … backlog=N，Apache：ListenBacklog）以及作为其上限的 net.core.somaxconn；或放慢打开连接的速度（--connect-rate）

slow-connects = SYN 被丢弃：{ $connections }中，{ $events }。原因可能是 accept 队列已满，也可能是防火墙。
    .slow = { $slow } 个打开用时 1 s 或更久，与 SYN 重传的情况相同
    .lost = { $lost } 个未能打开
    .both = { $slow } 个打开用时 1 s 或更久，与 SYN 重传的情况相同，{ $lost } 个未能打开

file-limit = 达到了服务器的文件数上限：同时打开了 { $connections }，而每个进程（{ $server }）最多可打开 { $limit } 个文件。
    .server = 服务器
    .remedy = 提高该上限（服务的 LimitNOFILE=，ulimit -n，nginx：worker_rlimit_nofile）；增加工作进程时，每个进程各有一份上限

connection-limit = 服务器最多保持了 { $peak } 个连接，{ $users } 个用户各需一个连接，{ $share } 的请求遇到连接关闭：服务器有连接数上限。
    .remedy = 提高该上限（nginx：worker_connections，Apache：MaxRequestWorkers，Tomcat：maxConnections；文件数：ulimit -n）

link = { $link }是瓶颈，而不是服务器：流量为 { $rate }，达到 { $speed } 的 { $share }。
    .any = 链路
    .of-interface = { $interface } 的链路
    .likely = { $link }可能是瓶颈：流量为 { $rate }，达到 { $speed } 的 { $share }，并且不再增长。
    .remedy = 使用更快的链路或更小的响应（--compressed）；更快的服务器没有帮助

## Samples

few-samples = { $percentile } 需要 { $needed } 个请求（现有 { $have } 个）；{ $reliable }。
    .autocorrelated = { $percentile } 需要 { $needed } 个独立的请求（现有 { $have } 个，因自相关只相当于 { $effective } 个）；{ $reliable }。
    .highest = { $percentile } 是可靠的最高百分位
    .none = 没有可靠的百分位
    .remedy = 延长运行时间

censored = { $share } 的请求没有得到响应（{ $timed_out } 个超时，{ $cut } 个在结束时被中断，{ $dropped } 个被丢弃）：{ $percentiles }大于所显示的全部数值。
    .above = { $percentile } 以上的真实百分位
    .all = 从中位数起的所有真实百分位
    .remedy = 降低负载，或提高 --timeout 和 --grace，直到收到全部响应

## Causes of the verdict

duration-of-run = { $measured } 中有 { $over }
of-agents = { $agents }：{ $sentence }

limit-worker = 一个工作线程最高有 { $worst } 的时间处于忙碌状态，{ $duration } 达到 { $threshold } 或更高：到期的任务必须等待该线程
    .remedy = 启动更多线程：--threads { $threads }
    .remedy-no-core = 本机没有空闲的核可供更多线程使用：降低负载，或使用更大的机器或多台机器

limit-cores = 客户端与服务器共用这台机器，{ $duration } CPU 空闲率低于 { $threshold }（最低 { $worst }）：两者互相争用 CPU{ $used }
    .used = ；{ $cores } 核中，brunt 使用 { $brunt } 核
    .used-with-server = ；{ $cores } 核中，brunt 使用 { $brunt } 核，服务器使用 { $server } 核
    .remedy = 在单独的机器上运行服务器，或降低负载；停止其他程序

limit-run-queue = 一个工作线程已就绪但没有可用的核，最高有 { $worst } 的时间在运行队列中等待，{ $duration } 达到 { $threshold } 或更高
    .with-users = 一个工作线程已就绪但没有可用的核，最高有 { $worst } 的时间在运行队列中等待，{ $duration } 达到 { $threshold } 或更高；{ $users }
    .remedy-generator = 允许 brunt 使用更多的核（taskset、cpuset），或使用更大的机器或多台机器
    .remedy-server = 让服务器在单独的机器上运行，或让它与 brunt 使用不同的核（taskset、cpuset）
    .remedy-unknown = 查看 brunt 可用的核上还运行着什么（taskset -p、cpuset），并将其结束

limit-throttled = { $duration } brunt 因控制组的 CPU 配额而受到限流，最严重时占一秒的 { $worst }
    .with-quota = { $duration } brunt 因控制组的 CPU 配额（{ $cores } 核）而受到限流，最严重时占一秒的 { $worst }
    .remedy = 提高配额（容器的 --cpus，服务的 CPUQuota=，pod 的 limits.cpu），或取消配额

limit-steal = 被窃取的 CPU 时间（steal）最高达到 { $worst }，{ $duration } 达到 { $threshold } 或更高：虚拟机监控程序将本机的 CPU 分给了其他虚拟机
    .remedy = 从有专用核的机器上测量（专用实例，或未超售的实例）

limit-other-processes = { $others }；brunt 使用 { $brunt } 核；{ $duration } 没有空闲的核
    .remedy = 结束这些进程，或在另一台机器上测量；如果它们属于服务器，用 --probe 读取其数据

limit-stopped = { $time } 没有运行（从 { $from } 起）：{ $subject }
    .all-workers = brunt（全部 { $workers } 个工作线程）
    .worker = 工作线程 { $number }
    .remedy = 查明停止的原因：信号（SIGSTOP）、调试器、机器挂起；然后重新测量

limit-descriptors = { $requests } 个请求无法开始，因为文件描述符已达到上限
    .with-limit = { $requests } 个请求无法开始，因为打开文件数已达到上限 { $limit }

limit-no-connection = 未能打开任何连接：{ $reason }

limit-ports = { $requests } 个请求没有可用的本地端口
    .with-range = { $requests } 个请求没有可用的本地端口（共 { $ports } 个）

limit-nic =
    .sent = { $interface } 的发送流量最高达到其 { $speed } Mbit/s 的 { $worst }，{ $duration } 达到 { $threshold } 或更高
    .received = { $interface } 的接收流量最高达到其 { $speed } Mbit/s 的 { $worst }，{ $duration } 达到 { $threshold } 或更高
    .remedy = 请求更小的响应，使用更快的链路，或从多台机器测量

limit-packets = { $duration } 数据包到达的速度超过本机接收的速度：{ $figures }
    .remedy = 将数据包分散到更多的核（网卡的接收队列、RPS），提高 net.core.netdev_max_backlog 并增大网卡的环形缓冲区，或从多台机器测量

limit-conntrack = { $duration } 防火墙的连接跟踪表已满：最高占用 { $limit } 条的 { $worst }；表满时会丢弃新连接
    .remedy = 提高 net.netfilter.nf_conntrack_max，对这些连接免除跟踪（notrack），或复用连接

limit-memory = { $duration } 本机内存不足：可用内存最低为 { $available }，任务最多有 { $waited } 的时间在等待内存
    .remedy-brunt = 减少连接，或使用内存更大的机器
    .remedy-others = 停止其他程序，或使用内存更大的机器

limit-lag =
    .slower = { $duration } 请求开始滞后：没有滞后时，响应时间 { $percentile } 为 { $without }，而不是 { $with }
    .uneven = { $duration } 请求开始滞后：在 { $share } 的时间里，一个时段内开始的请求比计划多或少四分之一
    .short = { $duration } 请求开始滞后：计划的请求中有 { $share } 未在测量时间内开始
    .opening = { $sentence }；这些请求在等待按限定速率打开连接，{ $rate } 个连接/s
    .read-late = 响应读取滞后：读取滞后的 p99 为 { $read }，响应时间的 p99 为 { $response }
    .remedy = 查明 brunt 未能运行的原因：机器挂起、调试器、其他程序；然后重新测量
    .remedy-opening = 提高 --connect-rate（当前为 { $rate }）
    .remedy-busy = 一个工作线程一半以上的时间处于繁忙状态，因此到达的请求需要等待连接：使用更多线程（--threads）或另一台机器；如果所模拟的客户端共用固定数量的连接，请写明该数量（-c）

lost-processes = { $count ->
    [1] 进程 { $names }（共 { $total } 个）
   *[other] 进程 { $names }（共 { $total } 个）
}
    .others = 另外 { $others } 个

limit-agent = { $count ->
    [1] { $agents }失联：{ $span }缺少其负载，占计划负载的 { $share }
   *[other] { $agents }失联：缺少其负载，最早的一个{ $span }缺失，合计占计划负载的 { $share }
}
    .to-the-end = 从测量时间的 { $from } 起
    .in-warm-up = 在预热期间
    .in-between = 在测量时间的 { $from } 至 { $to } 期间
    .remedy = 查看警告中的失联原因，然后重新测量

## Readings that the system does not provide

unseen =
    .no-readings = 本次运行没有负载生成器的读数：只检查了失败和滞后
    .too-short = { $time } 的测量时间太短，无法计算速率
    .idle = 空闲和被窃取的 CPU 时间：/proc/stat 不可读
    .throttled = CPU 配额造成的限流：本控制组的 cpu.stat 不可读
    .memory-pressure = 等待内存的任务：/proc/pressure 不可读（内核没有 PSI）
    .memory = 可用内存：/proc/meminfo 不可读
    .descriptors = 打开的文件描述符数量（Linux 6.2 起提供）；因描述符不足造成的失败会被统计
    .sockets = 使用中的套接字：/proc/net/sockstat 不可读；因端口不足造成的失败会被统计
    .ports = 本地端口数量：/proc/sys/net/ipv4/ip_local_port_range 不可读
    .packets = 因接收队列已满而丢弃的数据包：/proc/net/softnet_stat 不可读
    .conntrack = 防火墙的连接跟踪表：本机没有，或不可读
    .read-lag = 响应读取的滞后：内核不提供时间戳（TLS、Unix 套接字，或不是 Linux）
    .worker-cpu = 工作线程的 CPU 时间：/proc/self/task 不可读
    .worker-run-delay = 工作线程等待核的时间：schedstat 不可读（内核没有 CONFIG_SCHED_INFO）
    .link = 链路速度：驱动程序不报告
    .link-of-interface = 链路速度（{ $interface }）：驱动程序不报告

## Conclusion of a run

conclusion = { $clauses }。
    .load-missing = 大部分负载缺失：请勿使用这些数字。
    .invalid = 一致性检查失败：请勿使用这些数字。
    .errors = 错误率 { $share }
    .met = { $load }{ $figure } 为 { $value }：目标 { $objective } 达标{ $more }
    .missed = { $load }{ $figure } 为 { $value }：目标 { $objective } 未达标{ $more }
    .errors-met = { $load }{ $figure } 为 { $value }：目标 { $objective } 达标{ $more }
    .errors-missed = { $load }{ $figure } 为 { $value }：目标 { $objective } 未达标{ $more }
    .more-objectives = ，另外 { $others } 个目标也达标
    .of-objectives = （{ $all } 个目标中有 { $missed } 个未达标）
    .behind = 施加负载 { $offered }，及时得到响应的为 { $achieved }：{ $times }
    .open = { $load }{ $times }
    .closed = { $load }吞吐量为 { $throughput } 个请求/s：{ $times }
    .median = p50 为 { $median }
    .median-and-tail = p50 为 { $median }，{ $percentile } 为 { $tail }
    .at-least = ≥ { $value }
    .at-rate = 负载为 { $rate } 时，
    .up-to-rate = 负载最高为 { $rate } 时，
    .with-users = { $users }时，
    .up-to-users = 最多 { $users }时，
    .limited = 瓶颈是负载生成器，因此服务器的性能可能更高
    .load-lost = 缺少计划负载的 { $share }，因此服务器的负担较轻
    .busy-machine = 本机繁忙使其变慢，因此服务器的性能可能更高
    .unexplained = 请求延迟的原因不明，因此服务器的性能可能更高

## Bottleneck of the server

bottleneck =
    .generator = 负载生成器受到限制：{ $limits }
    .none = 所检查的资源均未达到上限（{ $resources }）
    .not-examined = 未检查：{ $resources }
    .open-files = 打开文件数
    .memory = 内存
    .CPU = CPU
    .single-threads = 单个线程
    .disks = 磁盘
    .network = 网络
    .workers = 工作进程或线程
    .connections = 连接
    .accept-queues = accept 队列
    .cpu-of-unknown = 无法确定其中大部分由服务器使用
    .cpu-of-generator = 负载生成器与服务器共用一台机器，并占用了其 CPU 时间的 { $share }
    .core = { $process } 的一个线程占用了一个核的 { $share }
    .brunt = brunt 自身
    .others = 其他进程
    .cpu-busy = CPU：{ $cores } 核的使用率为 { $share }
    .cores-of = { $process } { $cores } 核
    .without-brunt = 如果同一台机器上不运行 brunt，服务器的容量最多为当前的 { $capacity }
    .swap = 内存：{ $source } 从交换区读回 { $rate }/s
    .memory-available = 内存：{ $source } 的可用内存为 { $share }
    .memory-waited = 内存：{ $source } 的任务有 { $share } 的时间在等待内存
    .disk-busy = 磁盘：{ $source } 的 { $disk } 有 { $share } 的时间处于忙碌状态
    .link-sent = 网络：{ $source } 的 { $nic } 的发送流量达到其 { $speed } 的 { $share }
    .link-received = 网络：{ $source } 的 { $nic } 的接收流量达到其 { $speed } 的 { $share }
    .dropped = 网络：{ $source } 的 { $nic } 丢弃了 { $share } 的数据包
    .files-used = { $source }：打开文件数达到上限的 { $share }
    .workers-busy = { $workers }全部忙碌（{ $busy } 个）
    .workers-and-queue = { $workers }全部忙碌（{ $busy } 个），{ $queued }在排队
    .workers-php = php-fpm 子进程
    .workers-apache = Apache 工作进程或线程
    .workers-tomcat = Tomcat 线程
    .workers-haproxy = HAProxy 到其服务器的连接
    .workers-other = 工作进程或线程
    .connections-open = { $source }：打开的连接达到上限 { $limit } 的 { $share }
    .connections-closed = { $source } 立即关闭了 { $count } 个连接，因为其连接表已满
    .accept-queue-full = { $source }：accept 队列已满（{ $places } 项）
    .accept-queue-overflow = { $source }：{ $count } 个连接遇到 accept 队列已满

## Consistency checks

check =
    .planned = 计划的请求
    .begun = 已开始的请求
    .over-time = 随时间的计数
    .histograms = 直方图
    .statuses = 状态码
    .labels = 标签
    .agents = 压测代理
    .bytes = 正文的字节数
    .in-flight = 进行中的请求
    .little = 利特尔法则
    .transactions = 事务
    .schedule = 到达与计划的对比
    .spacing = 到达的间隔

# The arithmetic of the checks.
check-sum =
    .planned = 计划 { $planned } = 开始 { $begun } + 丢弃 { $dropped } + 运行结束时等待 { $waiting }
    .begun = 开始 { $begun } = 完成 { $completed } + 失败 { $failed } + 中断 { $cut }
    .over-time = 随时间的计数与总数一致：{ $counts }
    .not-over-time = { $name }：随时间为 { $over_time }，总数为 { $total }
    .histograms = { $histograms } 个直方图共有 { $values } 个值，与计数一致
    .not-histograms = { $name }：{ $values } 个值，而有此值的请求为 { $counted } 个
    .statuses = { $completed } 个完整的响应有 { $counted } 个状态码
    .labels = 各标签共 { $summed } 个完整的响应，总数为 { $total }
    .agents = { $agents } 个压测代理的请求：{ $counts }
    .of-total = { $name } { $summed }（总数 { $total }）
    .bytes = Content-Length 声明的正文为 { $announced } 字节，在这些头部之后读取了 { $received } 字节
    .in-flight = 按计数，进行中的时间为 { $counted } s；按全部请求的时间之和为 { $summed } s
    .little = { $users } 个用户；{ $rate }/s × 进行中 { $each } s = { $busy }
    .little-with-thinking = { $users } 个用户；{ $rate }/s × 进行中 { $each } s = { $busy } + 思考 { $thinking } = { $observed }
    .transactions = 开始 { $started } = 成功 { $succeeded } + 失败 { $failed } + 未完成 { $unfinished }
    .of-transaction = { $name }：{ $sum }，{ $times } 个时间，其中失败的 { $failed } 个
    .schedule = { $arrivals } 次到达；与计划的最大偏差为 { $share }（阈值：{ $most }）
    .spacing = 每 { $seconds } s 到达数的方差与均值之比：计划 { $planned }，实际 { $begun }，共 { $spans } 个时段；允许的差异为 { $most }；{ $displaced } 的时间因大量请求开始过晚而不计入

check-count =
    .planned = 计划
    .begun = 开始
    .completed = 完成
    .good = 成功
    .bytes-received = 接收的字节
    .bytes-sent = 发送的字节
    .response-times = 响应时间
    .service-times = 服务时间
    .first-bytes = 首字节
    .lags = 滞后
    .queue-waits = 排队时间
    .failure-times = 失败的时间
    .of = { $name } { $count }
