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

chart-label =
    .completed = 完成
    .good = 成功的响应
    .planned = 计划
    .offered = 施加负载
    .p50 = p50
    .p99 = p99
    .max = 最大值
    .mean = 平均值
    .median = 中位数（{ $band }）
    .one-value = 单个值
    .range = 范围
    .interval = 95 % 置信区间
    .with-band = { $label }，阴影：{ $bands }
    .with-range = { $label }，阴影：最低至最高
    .response-time = 响应时间
    .share-of-requests = 请求占比
    .other-statuses = 其他
    .replies = 响应
    .passed-checks = 通过全部检查
    .share-of-replies = 占响应的比例
    .repetition = 重复
    .users = 虚拟用户
    .of-contender = { $contender } { $series }
    .knee = 拐点
    .saturation = 饱和点
    .whole-run = 整次运行
    .whole-run-with-interval = 整次运行（95 % 置信区间）
    .objective = 目标 { $objective }
    .at-load = 负载 { $load }
    .percentile = 百分位
    .requests = 请求
    .requests-connections = 请求、连接
    .errors = 错误
    .in-flight = 进行中
    .connections = 连接
    .waiting = 等待中
    .time = 测量时间
    .merged-time = 测量时间，每 { $width } 一点
    .lost = { $agent } 失联
    .no-replies = 无响应

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

tile =
    .errors-of = { $errors } / { $all }
    .iterations = 迭代
    .iterations-done = 完成 { $done }
    .iterations-of-planned = 完成 { $done } / { $planned }
    .iterations-failed = { $done }，其中失败 { $failed }

findings = 诊断结果

## Verdict and steady state

verdict = 判定
    .state-ok = OK
    .state-unjudged = 无法判定
    .state-busy-machine = 机器繁忙
    .state-unexplained = 原因不明
    .state-limited = 生成器受限
    .state-invalid = 无效
    .ok = 负载生成器不是瓶颈
    .unjudged = 无法评价服务器或负载生成器
    .load-missing = { $cause }；请舍弃本次运行
    .check-failed = 一致性检查失败；请舍弃本次运行
    .check-failed-and-cause = 一致性检查失败；请舍弃本次运行。此外：{ $cause }
    .checks-passed = { $count } 项一致性检查通过
    .unseen = 此处无法观察：{ $unseen }

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
