### Labels of charts and tables of a report.

## Charts

chart =
    .throughput = 吞吐量
    .goodput = 有效吞吐量
    .response-time = 响应时间
    .response-times = 响应时间
    .errors = 错误
    .in-flight = 进行中的请求与连接
    .of-response-time = { $figure } 响应时间
    .percentiles = 各百分位的响应时间
    .statuses = 状态码
    .passed-checks = 通过检查的比例
    .histogram = 响应时间直方图
    .of-trial = { $title }：{ $trial }
    .over-load = { $title }随负载变化
    .by-repetition = { $title }（各次重复）
    .over-time = { $title }随时间变化
    .over-time-of-trial = { $title }随时间变化：{ $trial }

trial-at-load = { $name }，负载 { $load }
    .repetition = { $name }，负载 { $load }，第 { $repetition } 次重复

# Text alternatives of charts.
chart-about = { $clauses }。
    .values = { $count } 个值，介于 { $low } 和 { $high } 之间。
    .more = 另有 { $count } 条曲线
    .mark = { $x } 处：{ $mark }
    .ends = { $from } 时为 { $first }，{ $to } 时为 { $last }
    .line = { $name }：{ $ends }
    .line-with-peak = { $name }：{ $ends }，最高 { $peak }

gauge =
    .cpu = 服务器的 CPU 时间
    .machine-cpu = 服务器所在机器的 CPU 时间
    .memory = 服务器的内存
    .machine-memory = 服务器所在机器的内存
    .load-average = 服务器的平均负载
    .workers = 工作进程与队列
    .connections = 服务器的连接
    .network = 服务器的网络
    .disk = 服务器的磁盘
    .trouble = 服务器的拒绝、丢弃与重传
    .generator-cpu = 生成器的 CPU 时间
    .over-source = { $source }：{ $unit }

gauge-label =
    .cpu-time = CPU 时间
    .memory = 内存
    .load-average = 平均负载
    .workers-requests = 工作进程、请求
    .connections = 连接
    .network = 网络
    .disks = 磁盘
    .events = 事件
    .in-use = 已用
    .busy = 忙碌
    .queued = 排队
    .limit = 上限
    .open = 打开
    .idle = 空闲
    .accept-queue = accept 队列
    .received = 接收
    .sent = 发送
    .read = 读取
    .written = 写入
    .accept-queue-overflows = accept 队列溢出
    .segments-sent-again = TCP 段重传
    .connections-refused = 连接被拒
    .workers-exhausted = 工作进程耗尽
    .worker = 工作线程
    .resident = 常驻内存
    .bytes-per-second = 每秒字节数
    .per-second = 每秒数量
    .share-of-time = 时间占比
    .bytes = 字节
    .shares = 比例
    .numbers = 数值
    .part = { $part } { $name }

## Tables

column =
    .populations = 用户群
    .groups = 压测代理组
    .labels = 标签
    .transactions = 事务
    .agents = 压测代理
    .clocks = 计时
    .phases = 阶段
    .count = 数量
    .completed = 完成
    .per-second = 每秒
    .requests-per-second = 请求/s
    .errors = 错误
    .ended = 结束
    .failed = 失败
    .unfinished = 未完成
    .p50 = p50
    .p75 = p75
    .p90 = p90
    .p95 = p95
    .p99 = p99
    .p999 = p99.9
    .max = 最大值
    .lag-p99 = 滞后 p99
    .clock-error = 时钟误差
    .bytes-per-second = 字节/s
    .state = 状态

table =
    .outcomes = 所有请求的结果
    .outcome = 结果
    .requests = 请求
    .share = 占比
    .meaning = 含义
    .failed-checks = 失败的检查
    .more-rows = 另有 { $count } 行

# Replies that failed a check.
failure-cause = { $count } × { $cause }
check-failure = { $label }：{ $condition }：{ $replies } 个响应中的 { $failed } 个
    .found = { $label }：{ $condition }，实际为 { $found }：{ $replies } 个响应中的 { $failed } 个
    .found-for-example = { $label }：{ $condition }，实际为（举例）{ $found }：{ $replies } 个响应中的 { $failed } 个
    .expected = 预期 { $expected }

labels =
    .order = 标签排序
    .by = { $order ->
        [p99] p99 最高者在前
        [errors] 错误最多者在前
       *[count] 请求最多者在前
    }
    .search = 搜索
    .show = 显示

tile =
    .errors-of = { $errors } / { $all }
    .iterations = 迭代
    .iterations-done = 完成 { $done }
    .iterations-of-planned = 完成 { $done } / { $planned }
    .iterations-failed = { $done }，其中失败 { $failed }

findings = 诊断结果

## Verdict and steady state

# States as in the JSON report.
state-name = { $state ->
    [ok] OK
    [unjudged] 无法判定
    [busy_machine] 机器繁忙
    [unexplained] 原因不明
    [limited] 生成器受限
   *[invalid] 无效
}

# States of agents.
agent-state = { $state ->
    [ok] OK
    [unjudged] 无法判定
    [busy_machine] 机器繁忙
    [unexplained] 原因不明
    [limited] 生成器受限
    [lost] 失联
    [replaced] 已接替
   *[invalid] 无效
}
group-of-agents = { $name }（{ $count } 个压测代理）

steady = 稳态
    .not-reached = 未达到（{ $method }）
    .from-beginning = 从一开始（{ $method }）
    .after = { $time } 后（{ $method }）

## Parts of sentences

number-of-cores = { $number } 核

## Methods

# How the figures of a study were computed.
method =
    .closed-loop = 负载：虚拟用户的闭环；每个用户都等待响应，因此看不到更多用户的排队。
    .open-loop = 负载：开环；请求按计划到达，不等待响应。
    .response = 响应时间：从请求的计划时刻到响应的最后一个字节；被丢弃、被中断和超时的请求视为比所有响应都慢。
    .capacity = 容量：在全部稳态时间内恰好达到目标的负载；由全部试验共同的一个单调模型得出，带 95 % 区间。受限于负载生成器或服务器所在机器上其他程序的试验，如果达到目标则计入；如果未达到，只计入超出滞后影响的部分，而当其他程序占用了服务器可能需要的 CPU 时完全不计入。
    .capacities = 比较容量时使用每次搜索得出的数值，每次重复是一个观测值；单次搜索的区间不计入。
    .permutation = 比较：一次重复是一个观测值，与其请求数无关。统计在每次重复内交换两个对比对象的所有方式（置换检验）；差异为 Hodges-Lehmann 估计值，其区间由该检验得出。期中分析共享错误率（alpha spending）；首个指标之后的指标按 Holm 方法共享。
    .ranks = 比较：这些运行不是交替进行的，按秩检验（Mann 和 Whitney），每次运行是一个观测值；差异为 Hodges-Lehmann 估计值。其间的漂移包含在内。
    .no-test = 比较：运行太少时不作检验。
    .band-one = 每个步骤一次试验：数据没有区间，无法检验差异。
    .band-range = 区间为中位数两侧最低和最高的试验：95 % 区间至少需要六次重复。
    .band-within-run = 区间为一次运行内按一秒的数据块得出的 95 % 区间：不包含各次运行之间的差异。
    .band-repetitions = 区间为各次重复之间的 95 % 区间，主值为中位数。
    .band-model = 区间为由全部试验的模型得出的 95 % 区间。
    .knee = 拐点：在测量范围内，平滑后的响应时间向上弯曲最大的位置（Kneedle）。
    .saturation = 饱和点：不再随负载增长的吞吐量。
    .asymptotes = N*：吞吐量的两条渐近线相交处的用户数，X_max ·（R_min + 思考时间）。
    .kept = 实现的负载：至少实现了 99 % 的最后一个负载。
    .objectives = 目标：直到该负载，每个步骤都达到此目标。
    .patience = 1-3-10：p99 低于 1、3 和 10 s 的最高负载，即 Nielsen 的耐心极限。
    .scalability = 可扩展性：{ $caution }

## Consistency checks

failed-check = { $check }：{ $arithmetic }
